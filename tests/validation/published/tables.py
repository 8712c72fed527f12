"""Helpers of the scripts of this folder: journaled cells, the table of comparison, and printing and writing of tables.

A script has a function ``tables(options)`` that returns its tables by title. The first is ``COMPARISON``, which sets
the numbers and sentences of the paper next to ours. ``main`` prints the tables, and with ``--write FOLDER`` writes them
as Markdown.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd

from dreval.storage.store import Store, key_hash

VERSIONS = ("dreval", "numpy", "scipy", "scikit-learn")
COMPARISON = "Beside the paper"
COLUMNS = ["of", "reproduces", "paper", "ours", "difference", "tolerance", "note"]
TOOK = "seconds to find"  # the key of the processor seconds of a cell in the journal
LEFT_OUT = 3  # exit status: real data are absent, all other tables were made
Tables = dict[str, pd.DataFrame]


class Missing(LookupError):
    """Real data that may not be redistributed are absent."""


def number(of: str, paper: float, ours: float, tolerance: float | None, note: str = "", digits: int = 3) -> list[Any]:
    """Return a row of ``COMPARISON`` for a printed number; without a tolerance the row claims nothing."""
    difference = ours - paper
    holds = "not compared" if tolerance is None else "yes" if abs(difference) <= tolerance else "no"
    numbers = [f"{value:.{digits}f}" for value in (ours, difference)]
    return [of, holds, f"{paper:g}", *numbers, "" if tolerance is None else f"{tolerance:g}", note]


def claim(of: str, paper: str, ours: str, holds: bool | str, note: str = "") -> list[Any]:
    """Return a row of ``COMPARISON`` for a sentence; ``holds`` is true, false, or text such as "in part"."""
    verdict = holds if isinstance(holds, str) else "yes" if holds else "no"
    return [of, verdict, paper, ours, "", "", note]


def comparison(rows: Iterable[list[Any]]) -> pd.DataFrame:
    """Return rows by ``number`` and ``claim`` as the table of ``COLUMNS``."""
    return pd.DataFrame(list(rows), columns=COLUMNS)


def timed(make: Callable[[], Any]) -> tuple[Any, float]:
    """Return the result of a call and its processor seconds; warnings are ignored."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = process_time()
        result = make()
        return result, process_time() - start


def quiet(make: Callable[[], Any]) -> Any:
    """Return the result of a call; warnings are ignored."""
    return timed(make)[0]


def collect(
    name: str,
    cells: Iterable[Mapping[str, Any]],
    compute: Callable[..., Mapping[str, Any]],
    options: argparse.Namespace,
) -> pd.DataFrame:
    """Return one row per cell: its arguments and the values of ``compute(**arguments)``, or those of the journal.

    Cells without their real data are left out, and counted in ``options.left_out``. The processor seconds that the
    other cells took when they were computed are added to ``options.seconds``.
    """
    rows = []
    with Store(options.store or ":memory:") as journal:
        run = journal.open_run({"table": name, **{tool: version(tool) for tool in VERSIONS}})
        for arguments in cells:
            key = key_hash(arguments)
            cell = journal.get(run, key)
            if cell is None and options.found:
                continue
            if cell is None:
                start = process_time()
                try:
                    values = compute(**arguments)
                    journal.put(run, key, {**values, TOOK: process_time() - start})
                except Missing as missing:
                    options.left_out[str(missing)] = options.left_out.get(str(missing), 0) + 1
                    continue
                print(".", end="", file=sys.stderr, flush=True)
                cell = journal.get(run, key)
            value = dict(cell[0])
            options.seconds += value.pop(TOOK, 0.0)
            rows.append({**arguments, **value})
    if options.found:
        print(f"{name}: {len(rows)} cells are there")
    return pd.DataFrame(rows)


def product(**choices: Iterable[Any]) -> list[dict[str, Any]]:
    """Return cells for all combinations of choices; the last choice changes fastest."""
    cells: list[dict[str, Any]] = [{}]
    for name, values in choices.items():
        cells = [{**cell, name: value} for cell in cells for value in list(values)]
    return cells


def show(title: str, frame: pd.DataFrame, digits: int = 3) -> None:
    """Print a table as text."""
    wide = {"display.width": 250, "display.max_columns": 40, "display.max_rows": 500, "display.max_colwidth": None}
    with pd.option_context(*(part for pair in wide.items() for part in pair)):
        print(f"\n{title}\n{frame.round(digits).to_string(index=not _numbered(frame))}", flush=True)


def as_markdown(frame: pd.DataFrame, digits: int = 3) -> str:
    """Return a table as Markdown; index levels become columns (row numbers do not), column levels are joined.

    A table of ``COLUMNS`` is written without its empty columns.
    """
    ours = list(frame.columns) == COLUMNS
    flat = frame.loc[:, (frame != "").any()] if ours else frame.reset_index(drop=_numbered(frame))
    heads = [", ".join(str(part) for part in np.atleast_1d(np.array(head, object)) if str(part)) for head in flat]
    lines = [heads, ["---"] * len(heads), *([_cell(value, digits) for value in row] for row in flat.to_numpy(object))]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def _numbered(frame: pd.DataFrame) -> bool:
    """Return whether the index of a table only numbers its rows."""
    return isinstance(frame.index, pd.RangeIndex) and frame.index.name is None


def _cell(value: Any, digits: int) -> str:
    if isinstance(value, float | np.floating):
        return "" if np.isnan(value) else f"{value:.4g}" if abs(value) >= 1000 else f"{value:.{digits}f}"
    return "" if value is None else str(value).replace("|", "\\|")


def options_of(description: str | None, arguments: list[str] | None = None) -> argparse.Namespace:
    """Parse ``--small``, ``--store FILE``, ``--found`` and ``--write FOLDER``."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("--small", action="store_true", help="a small table, in a minute or so")
    parser.add_argument("--store", help="journal (SQLite); a stopped run goes on from it")
    parser.add_argument("--found", action="store_true", help="print what the journal has, compute nothing")
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="write the tables there, as Markdown and CSV")
    options = parser.parse_args(arguments)
    options.left_out, options.seconds = {}, 0.0
    return options


def main(script: str, description: str | None, tables: Callable[[argparse.Namespace], Tables]) -> None:
    """Compute, print and write the tables of a script; exit with ``LEFT_OUT`` if real data are absent."""
    options = options_of(description)
    frames = tables(options)
    for title, frame in frames.items():
        show(title, frame)
    for name, count in options.left_out.items():
        print(f"left out: {count} cells, for {name} is not in the folder of real data")
    if options.write:
        write(options.write, Path(script).stem, frames, options.left_out, options.seconds)
    sys.exit(LEFT_OUT if options.left_out else 0)


def versions_text() -> str:
    """Return the versions in one line."""
    return ", ".join([f"Python {platform.python_version()}", *(f"{tool} {version(tool)}" for tool in VERSIONS)])


def write(folder: Path, name: str, frames: Tables, left_out: Mapping[str, int], seconds: float) -> None:
    """Write ``name.md`` with all tables, and ``name.csv`` with the comparison and the seconds."""
    folder.mkdir(parents=True, exist_ok=True)
    header = [f"{versions_text()}; {seconds:.0f} processor seconds.\n"]
    header += [f"Left out, for its data are not here: {data} ({count} cells).\n" for data, count in left_out.items()]
    parts = [f"**{title}**\n\n{as_markdown(frame)}" for title, frame in frames.items() if len(frame)]
    (folder / f"{name}.md").write_text("\n".join([*header, *parts]), "utf-8")
    frames[COMPARISON].assign(seconds=f"{seconds:.0f}").to_csv(folder / f"{name}.csv", index=False)


def real(name: str) -> Mapping[str, Any]:
    """Return a real data set that may not be redistributed, from ``$DREVAL_DATA`` or ``../shared/data``."""
    folder = os.environ.get("DREVAL_DATA") or Path(__file__).resolve().parents[4] / "shared" / "data"
    path = Path(folder) / f"{name}.npz"
    if not path.exists():
        raise Missing(path.name)
    with np.load(path, allow_pickle=False) as file:
        return dict(file)


def some_rows(n: int, most: int | None) -> Any:
    """Return all of n row numbers, or a sorted random sample of them with a fixed seed."""
    if most is None or most >= n:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, most, replace=False))
