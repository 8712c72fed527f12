"""Seconds of ``import dreval`` and of ``import numpy, pandas``: the best of five fresh processes each."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

STATEMENTS = {
    "import numpy, pandas": "numpy, pandas",
    "import dreval": "dreval",
    "import dreval; dreval.Evaluation": "dreval.evaluation.evaluation",
}


def seconds(modules: str) -> float:
    """Return the seconds of one import in a fresh process, without the start of Python itself."""
    code = f"from time import perf_counter as t; s = t(); import {modules}; print(t() - s)"
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True)
    return float(done.stdout)


def rows() -> list[dict[str, Any]]:
    """Return one row per statement; the first is the reference."""
    best = {name: min(seconds(modules) for _ in range(5)) for name, modules in STATEMENTS.items()}
    return [{"case": "import, best of 5", "tool": name, "seconds": value} for name, value in best.items()]


if __name__ == "__main__":
    from run import show

    show(rows())
