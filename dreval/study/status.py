"""How far a study is: a record that prints itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dreval.journal.study_file import STATES
from dreval.report.render.summary import Block, Printed, Summary, format_duration

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["StudyStatus", "why_missing"]

LINES = 40  # of a larger study only the pairs are printed that are not simply done
REASONS = 10
LONGEST = 280  # characters of a reason that are printed
NUMBER = r"[-+]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"


@dataclass(frozen=True, eq=False, repr=False)
class StudyStatus(Printed):
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
        return Block(title, ["data set", "method", *STATES, "computing"], rows, names=2)

    def _notes(self) -> list[str]:
        """Why cells failed, what methods warned of, and what to do next."""
        notes = []
        failures = self.cells[self.cells["state"] == "failed"]
        alike = failures["reason"].str.replace(NUMBER, "#", regex=True).rename("alike")  # but for their numbers
        reasons = failures.groupby(alike, sort=False)
        for _, failed in list(reasons)[:REASONS]:
            said = [_short(reason) for reason in dict.fromkeys(failed["reason"])]
            more = f" (and {len(said) - 1} that differ in numbers only)" if len(said) > 1 else ""
            notes.append(f"{_counted(len(failed))} failed, {_places(failed)}: {said[0]}{more}")
        if len(reasons) > REASONS:
            notes.append(f"{len(reasons) - REASONS} more reasons stand in `failures`.")
        warned = self.cells[self.cells["warnings"] != ""]
        for text, cells in list(warned.groupby("warnings", sort=False))[:REASONS]:
            notes.append(f"{_counted(len(cells))} warned, {_places(cells)}: {text}")
        same = [name for name in self.deterministic if (self.cells["embedding"] == name).any()]
        if same and self.cells["replicate"].nunique() > 1:
            what = "has the same coordinates in all replicates on the same points"
            names, draws = ", ".join(same), "measures that draw (folds, samples of pairs) differ"
            notes.append(f"Seeds change nothing in {names}: each {what}; {draws}.")
        if not self.complete:
            notes.append("run() continues; what is done is not computed again.")
        elif self.count("failed"):
            notes.append("run(retry_failed=True) tries again what failed.")
        return notes

    def __repr__(self) -> str:
        counts = ", ".join(f"{self.count(state)} {state}" for state in STATES)
        return f"StudyStatus({self.name!r}: {len(self.cells)} cells, {counts})"


def _short(reason: str) -> str:
    """A reason, its middle left out where it is long; the whole one stands in ``failures``."""
    return reason if len(reason) <= LONGEST else f"{reason[:170]} [...] {reason[-90:]}"


def _counted(count: int) -> str:
    return f"{count:,} cell{'' if count == 1 else 's'}"


def _places(cells: pd.DataFrame) -> str:
    """Methods and data sets of cells."""
    methods, datasets = (list(dict.fromkeys(cells[key])) for key in ("embedding", "dataset"))
    return f"{_few(methods)} on {_few(datasets)}"


def _few(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= 3 else f"{len(names)} of them"


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
        return f"{what}, which failed", f"It failed: {_short(mine['reason'].iloc[0])}"
    if state != "done":
        return f"{what}, which is {state}", "Call run() first; see status() for what is done."
    return what, "It was not kept; make a new study with keep_embeddings=True."
