"""What the scripts of this folder share: cells that are journaled as they are found, so that a stopped run goes on."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd

from dreval.results.store import Store, cell_key

VERSIONS = ("dreval", "numpy", "scipy", "scikit-learn")


def timed(make: Callable[[], Any]) -> tuple[Any, float]:
    """What a call gives, and the seconds of processor time it took; its warnings are not shown."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = process_time()
        made = make()
        return made, process_time() - start


def collect(
    name: str, wanted: Iterable[Mapping[str, Any]], one: Callable[..., Mapping[str, Any]], options: argparse.Namespace
) -> pd.DataFrame:
    """One row per wanted cell: its words and what ``one(**words)`` found; what the journal has is not found again."""
    rows = []
    with Store(options.store or ":memory:") as journal:
        run = journal.open_run({"table": name, **{tool: version(tool) for tool in VERSIONS}})
        for words in wanted:
            key = cell_key(words)
            cell = journal.get(run, key)
            if cell is None and options.found:
                continue
            if cell is None:
                journal.put(run, key, one(**words))
                print(".", end="", file=sys.stderr, flush=True)
                cell = journal.get(run, key)
            rows.append({**words, **cell[0]})
    if options.found:
        print(f"{name}: {len(rows)} cells are there")
    return pd.DataFrame(rows)


def show(title: str, frame: pd.DataFrame, digits: int = 3) -> None:
    """A table as text."""
    with pd.option_context("display.width", 200, "display.max_columns", 40, "display.max_rows", 500):
        print(f"\n{title}\n{frame.round(digits).to_string()}", flush=True)


def arguments(description: str | None) -> argparse.Namespace:
    """``--store FILE``, ``--found`` and ``--small``."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("--store", help="journal (SQLite); a stopped run goes on from it")
    parser.add_argument("--found", action="store_true", help="print what the journal has, compute nothing")
    parser.add_argument("--small", action="store_true", help="a small table, in a minute or so")
    return parser.parse_args()


def real(name: str) -> Mapping[str, Any]:
    """A real data set that may not be redistributed, from ``$DREVAL_DATA`` or ``../shared/data``."""
    import os

    folder = os.environ.get("DREVAL_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data"
    with np.load(Path(folder) / f"{name}.npz", allow_pickle=False) as found:
        return dict(found)
