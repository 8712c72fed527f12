"""``make bench``: every ``bench_*.py`` of this folder in one run, printed as one table, without assertions.

A benchmark is a file with a function ``rows()`` that gives dictionaries with the keys ``case``, ``tool``, ``seconds``
and its other numbers. ``make bench ARGS=ranks`` runs ``bench_ranks.py`` only.
"""

from __future__ import annotations

import importlib
import os
import platform
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from itertools import groupby
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
TOOLS = ("dreval", "numpy", "scipy", "numba", "scikit-learn", "zadu", "hyppo", "dcor")


def text(value: Any) -> str:
    """Return a cell: numbers to three or four significant digits."""
    if isinstance(value, float):
        return "" if value != value else f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return str(value)


def show(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print rows as tables, one for each case in a row, with its own columns."""
    for case, group in groupby(rows, key=lambda row: row.get("case")):
        lines = list(group)
        columns = list(dict.fromkeys(key for row in lines for key in row if key != "case"))
        cells = [[text(row.get(column, "")) for column in columns] for row in lines]
        widths = [max(len(name), *(len(line[i]) for line in cells)) for i, name in enumerate(columns)]
        print(f"\n{case}")
        for line in (columns, *cells):
            print(f"  {aligned(line, widths)}")


def aligned(cells: Iterable[str], widths: Sequence[int]) -> str:
    """Return a line with the first cell on the left and the others on the right."""
    label, *numbers = zip(cells, widths, strict=True)
    return "  ".join([f"{label[0]:<{label[1]}}", *(f"{cell:>{width}}" for cell, width in numbers)]).rstrip()


def versions() -> str:
    """Return machine and versions."""
    texts = []
    for name in TOOLS:
        try:
            texts.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            texts.append(f"{name} (not installed)")
    return f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}; {', '.join(texts)}"


def main(requested: Sequence[str]) -> int:
    """Run the requested benchmarks, all by default."""
    names = sorted(path.stem for path in FOLDER.glob("bench_*.py"))
    chosen = [f"bench_{name.removeprefix('bench_')}" for name in requested] or names
    unknown = [name for name in chosen if name not in names]
    if unknown:
        print(f"no such benchmark: {', '.join(unknown)}; there are: {', '.join(names)}", file=sys.stderr)
        return 2
    print(versions())
    for name in chosen:
        show(importlib.import_module(name).rows())
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
