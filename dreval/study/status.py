"""How far a study is: a record that prints itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dreval.journal.study_file import STATES
from dreval.records._verbs import Record

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["StudyStatus", "shortened_reason", "why_missing"]

LONGEST = 280  # characters of a reason that are printed


@dataclass(frozen=True, eq=False, repr=False)
class StudyStatus(Record):
    """The state of every cell of a study.

    Attributes
    ----------
    name : str
        Name of the file.
    cells : DataFrame
        One row for each cell: ``dataset``, ``embedding``, ``n_components``, ``replicate``, ``state`` ("done",
        "failed", "running", "waiting"), ``seconds`` of computing, the ``reason`` of a failure, and ``warnings``.
    deterministic : tuple of str
        Methods that give the same on the same data, by their cards.
    """

    name: str
    cells: pd.DataFrame = field(repr=False)
    deterministic: tuple[str, ...] = ()

    @property
    def table(self) -> pd.DataFrame:
        """Numbers of cells by state, and seconds, for each data set and method."""
        counts = self.cells.assign(**{state: (self.cells["state"] == state).astype("int64") for state in STATES})
        keys = ["dataset", "embedding"]
        return counts.groupby(keys, sort=False)[[*STATES, "seconds"]].sum().reset_index()

    def count(self, state: str) -> int:
        """Number of cells in a state."""
        return int((self.cells["state"] == state).sum())

    @property
    def complete(self) -> bool:
        """Whether no cell is running or waiting."""
        return self.count("running") + self.count("waiting") == 0

    @property
    def failures(self) -> pd.DataFrame:
        """The cells that failed, with their reasons."""
        failed = self.cells[self.cells["state"] == "failed"]
        return failed.drop(columns=["state", "warnings"]).reset_index(drop=True)

    @property
    def seconds(self) -> float:
        """Seconds of computing so far, over all processes."""
        return float(self.cells["seconds"].sum())

    def __repr__(self) -> str:
        counts = ", ".join(f"{self.count(state)} {state}" for state in STATES)
        return f"StudyStatus({self.name!r}: {len(self.cells)} cells, {counts})"


def shortened_reason(reason: str) -> str:
    """A reason, its middle left out where it is long; the whole one stands in ``failures``."""
    return reason if len(reason) <= LONGEST else f"{reason[:170]} [...] {reason[-90:]}"


def why_missing(cells: pd.DataFrame, what: str, key: tuple[str, str, int, int]) -> tuple[str, str]:
    """What became of a cell without coordinates, and what to do: it is unknown, not done, failed, or was not kept."""
    places = ["dataset", "embedding", "n_components", "replicate"]
    mine = cells[(cells[places].astype(object) == list(key)).all(axis=1)]
    if mine.empty:
        known = cells[(cells["dataset"] == key[0]) & (cells["embedding"] == key[1])]
        words = (f"{name} {', '.join(map(str, sorted(set(known[name]))))}" for name in ("replicate", "n_components"))
        return f"{what}, which is no cell of the study", f"Known: {'; '.join(words)}."
    state = mine["state"].iloc[0]
    if state == "failed":
        return f"{what}, which failed", f"It failed: {shortened_reason(mine['reason'].iloc[0])}"
    if state != "done":
        return f"{what}, which is {state}", "Call run() first; see status() for what is done."
    return what, "It was not kept; make a new study with keep_embeddings=True."
