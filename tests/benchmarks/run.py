"""``make bench``: every ``bench_*.py`` of this folder in one run, printed as one table. Nothing here is asserted.

A benchmark is a file with a function ``rows()`` that gives dictionaries with the keys ``case``, ``tool``, ``seconds``
and whatever else it measures. ``make bench ARGS=ranks`` runs ``bench_ranks.py`` only.
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
    """A cell: numbers to three or four significant digits."""
    if isinstance(value, float):
        return "" if value != value else f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return str(value)


def show(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print rows as tables, one for each case in a row, with its own columns."""
    for case, group in groupby(rows, key=lambda row: row.get("case")):
        here = list(group)
        columns = list(dict.fromkeys(key for row in here for key in row if key != "case"))
        cells = [[text(row.get(column, "")) for column in columns] for row in here]
        widths = [max(len(name), *(len(line[i]) for line in cells)) for i, name in enumerate(columns)]
        print(f"\n{case}")
        for line in (columns, *cells):
            print(f"  {aligned(line, widths)}")


def aligned(cells: Iterable[str], widths: Sequence[int]) -> str:
    """First cell to the left, the others to the right."""
    first, *others = zip(cells, widths, strict=True)
    return "  ".join([f"{first[0]:<{first[1]}}", *(f"{cell:>{width}}" for cell, width in others)]).rstrip()


def versions() -> str:
    """What was compared, and on what."""
    found = []
    for name in TOOLS:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"{name} (not installed)")
    return f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}; {', '.join(found)}"


def main(wanted: Sequence[str]) -> int:
    """Run the wanted benchmarks, all by default."""
    names = sorted(path.stem for path in FOLDER.glob("bench_*.py"))
    chosen = [f"bench_{name.removeprefix('bench_')}" for name in wanted] or names
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
