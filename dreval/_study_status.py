"""How far a study is: a record that prints itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dreval.results.base import Block, Summary, format_duration
from dreval.results.study_file import STATES

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["StudyStatus"]

LINES = 40  # of a larger study only the pairs are printed that are not simply done
REASONS = 10


@dataclass(frozen=True, eq=False)
class StudyStatus:
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

    def summary(self) -> Summary:
        """The printed status; it also has ``.as_text()``, ``.as_markdown()``, ``.as_latex()``, ``.as_html()``."""
        cells = self.cells
        header = [
            ("File", self.name),
            ("Data sets", f"{cells['dataset'].nunique()}"),
            ("Methods", f"{cells['embedding'].nunique()}"),
            ("Replicates", f"{cells['replicate'].nunique()}"),
            ("Cells", f"{len(cells):,}"),
            *((state.capitalize(), f"{self.count(state):,}") for state in STATES),
            ("Computing", format_duration(self.seconds)),
        ]
        return Summary("Study", header, [self._block()] if len(cells) else [], self._notes())

    def _block(self) -> Block:
        table = self.table
        title, unsettled = "Cells of each data set and method", table[list(STATES[1:])].sum(axis=1) > 0
        if len(table) > LINES:
            hidden = int((~unsettled).sum())
            title, table = f"{title}; {hidden:,} pairs that are done are not shown", table[unsettled].head(LINES)
        rows = [
            [
                row["dataset"],
                row["embedding"],
                *(str(row[state] or "") for state in STATES),
                format_duration(row["seconds"]),
            ]
            for row in table.to_dict("records")
        ]
        return Block(title, ["data set", "method", *STATES, "computing"], rows)

    def _notes(self) -> list[str]:
        """Why cells failed, what methods warned of, and what to do next."""
        notes = []
        reasons = self.cells[self.cells["state"] == "failed"].groupby("reason", sort=False)
        for reason, failed in list(reasons)[:REASONS]:
            notes.append(f"{_counted(len(failed))} failed, {_places(failed)}: {reason}")
        if len(reasons) > REASONS:
            notes.append(f"{len(reasons) - REASONS} more reasons stand in `failures`.")
        warned = self.cells[self.cells["warnings"] != ""]
        for text, cells in list(warned.groupby("warnings", sort=False))[:REASONS]:
            notes.append(f"{_counted(len(cells))} warned, {_places(cells)}: {text}")
        same = [name for name in self.deterministic if (self.cells["embedding"] == name).any()]
        if same and self.cells["replicate"].nunique() > 1:
            notes.append(f"Seeds change nothing in {', '.join(same)}: replicates on the same points are equal.")
        if not self.complete:
            notes.append("run() continues; what is done is not computed again.")
        elif self.count("failed"):
            notes.append("run(retry_failed=True) tries again what failed.")
        return notes

    def __str__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return self.summary().as_html()


def _counted(count: int) -> str:
    return f"{count:,} cell{'' if count == 1 else 's'}"


def _places(cells: pd.DataFrame) -> str:
    """Methods and data sets of cells."""
    methods, datasets = (list(dict.fromkeys(cells[key])) for key in ("embedding", "dataset"))
    return f"{_few(methods)} on {_few(datasets)}"


def _few(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= 3 else f"{len(names)} of them"
