"""A study in its journal: the recipe, the data sets and methods, and one result for each cell.

``Study`` writes it; the table and the states of the cells can be read without the data and methods.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy.typing as npt

from dreval.errors import DrevalError, InputError
from dreval.journal.store import Claims, Store, running
from dreval.records.frames import notes_frame, tidy_frame
from dreval.records.notes import Note, Notes
from dreval.records.whole_file import is_journal

if TYPE_CHECKING:
    import pandas as pd

ABOUT, DATASETS, METHODS, CELLS = "study", "study data sets", "study methods", "study cells"
STATES = ("done", "failed", "running", "waiting")
HASH, ROOM = 15, 60  # characters of a hash, and of another setting, in an error
KEYS = ("dataset", "embedding", "n_components", "replicate")
NOTE_KEYS = ("dataset", "embedding")  # what a note of a study speaks of; no embedding: the data set


@dataclass(frozen=True, order=True)
class Cell:
    """One cell: a method on a data set, with a number of components, in a replicate."""

    dataset: str
    method: str
    n_components: int
    replicate: int

    @property
    def name(self) -> str:
        """Name of the cell in the file."""
        return json.dumps([self.dataset, self.method, self.n_components, self.replicate], ensure_ascii=False)

    @classmethod
    def of(cls, name: str) -> Cell:
        """The cell of that name; ValueError where it is none."""
        made = cls(*json.loads(name))
        if [type(part) for part in (made.dataset, made.method, made.n_components, made.replicate)] != [
            str,
            str,
            int,
            int,
        ]:
            raise ValueError(f"{name} is no cell")
        return made


def is_study(path: str | Path) -> bool:
    """Whether a file holds a study."""
    if not is_journal(path):
        return False
    try:
        with StudyFile(path):
            return True
    except InputError:
        return False


def is_new(path: str | Path) -> bool:
    """Whether nothing was written yet: no file, or one of a process that ended before it wrote the recipe."""
    path = Path(path)
    if not path.exists() or (path.is_file() and path.stat().st_size == 0):
        return True
    if not is_journal(path):
        return False
    try:
        with Store(path, "path", read_only=True) as store:
            return not any(store.rows(f"SELECT run FROM {table} LIMIT 1") for table in ("runs", "cells"))
    except InputError:
        return False


def read_study_table(path: str | Path) -> pd.DataFrame:
    """The table of the finished cells of a study, in the form that ``dreval.compare`` uses."""
    with StudyFile(path) as file:
        return file.table(split_components=True)


class StudyFile:
    """An open study.

    Parameters
    ----------
    path : str or Path
        The file.
    recipe : mapping, optional
        The settings of all cells. With it the file is opened for writing, and created if it does not exist; a file with
        another recipe raises an error. Without it the file is opened for reading.

    Raises
    ------
    InputError
        If the file does not exist, holds no study, or one with another recipe.
    """

    def __init__(self, path: str | Path, recipe: Mapping[str, Any] | None = None) -> None:
        self.store = Store(path, "path", read_only=recipe is None)
        try:
            stored = self.store.get(ABOUT, "recipe")
            if stored is None and (recipe is None or self.store.rows("SELECT run FROM runs LIMIT 1")):
                cure = "Name the file of a study, or choose a new file."
                raise InputError(
                    "path", "must hold a study", f"the journal {str(self.store.path)!r} of something else", cure
                )
            _ = self.recipe  # one that is none is refused
            if recipe is not None:
                self.store.put(ABOUT, "recipe", recipe)  # of two processes that begin at once the first one's is kept
                self.check_recipe(recipe)
        except BaseException:
            self.store.close()
            raise

    def check_recipe(self, recipe: Mapping[str, Any]) -> None:
        """Check that a recipe is that of the file."""
        _check_same(self.recipe, recipe, "path", "must hold a study with the same settings", "begin a new file")

    @property
    def recipe(self) -> dict[str, Any]:
        """The settings of all cells."""
        found = self.store.get(ABOUT, "recipe")
        with self._as_written():
            return {} if found is None else {**found[0]}

    @contextmanager
    def _as_written(self) -> Iterator[None]:
        """Content that no study writes, which may come from anyone, as an error of the file."""
        try:
            yield
        except DrevalError:
            raise
        except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError) as error:
            got = f"{str(self.store.path)!r}, with other content ({' '.join(str(error).split())[:80]})"
            cure = "Copy the file back from where it is whole, or begin a new one."
            raise InputError("path", "must hold a study as dreval wrote it", got, cure) from error

    def add_part(self, kind: str, name: str, about: Mapping[str, Any]) -> None:
        """Add a data set or method, unless its name exists."""
        self.store.put(kind, name, {"about": about, "place": len(self.store.texts(kind))})

    def check_part(self, kind: str, name: str, about: Mapping[str, Any], argument: str) -> None:
        """Check that a data set or method is the one that the file has under this name."""
        stored = self.parts(kind).get(name)
        if stored is not None:
            _check_same(stored, about, argument, "must be the same as in the file", "give it another name")

    def parts(self, kind: str) -> dict[str, dict[str, Any]]:
        """Data sets or methods in the order in which they were added."""
        with self._as_written():
            parts = {name: json.loads(text) for name, text in self.store.texts(kind).items()}
            order = sorted(parts, key=lambda name: (int(parts[name]["place"]), name))
            return {name: {**parts[name]["about"]} for name in order}

    def claims(self) -> Claims:
        """The claims of this process on the cells."""
        return Claims(self.store, CELLS)

    def results(self) -> dict[Cell, dict[str, Any]]:
        """The results by cell, ordered by data set, method, components and replicate."""
        with self._as_written():
            found = {Cell.of(name): json.loads(text) for name, text in self.store.texts(CELLS).items()}
            for result in found.values():
                _state(result, False)
                [*map(dict, result["rows"])]
            return {cell: found[cell] for cell in self._ordered(found)}

    def texts(self) -> dict[str, str]:
        """The results as JSON text, by name of the cell."""
        return self.store.texts(CELLS)

    def failed_texts(self) -> dict[str, str]:
        """The results of failed cells, as JSON text."""
        return {name: text for name, text in self.texts().items() if json.loads(text)["reason"]}

    def _ordered(self, cells: Any) -> list[Cell]:
        """Cells ordered by their data sets and methods, as these were added."""
        datasets, methods = ({name: i for i, name in enumerate(self.parts(kind))} for kind in (DATASETS, METHODS))

        def place(cell: Cell) -> tuple[int, ...]:
            return datasets.get(cell.dataset, -1), methods.get(cell.method, -1), cell.n_components, cell.replicate

        return sorted(cells, key=place)

    def array(self, cell: Cell) -> npt.NDArray[Any] | None:
        """The embedding of a cell; None if it was not kept."""
        found = self.store.get(CELLS, cell.name)
        return None if found is None else found[1]

    def table(self, split_components: bool = False) -> pd.DataFrame:
        """The tidy table of all cells that are done or failed.

        ``split_components`` adds the number of components to the parameters of the measures if there are several, so
        that embeddings are compared at equal numbers only.
        """
        with self._as_written():
            return tidy_frame(list(self._rows(self.results(), split_components)))

    def _rows(self, results: Mapping[Cell, Mapping[str, Any]], split: bool) -> Iterator[dict[str, Any]]:
        split = split and len({cell.n_components for cell in results}) > 1
        for cell, result in results.items():
            for row in result["rows"]:
                parts = [row.get("parameters", ""), f"n_components={cell.n_components}" if split else ""]
                notes = tuple(map(Note.of_plain, row.get("notes", ())))
                yield {**row, "notes": notes, "parameters": ", ".join(filter(None, parts)), **self._own(cell)}

    @staticmethod
    def _own(cell: Cell) -> dict[str, Any]:
        """The columns that identify a cell."""
        return {"dataset": cell.dataset, "embedding": cell.method, "replicate": cell.replicate}

    def notes(self) -> pd.DataFrame:
        """What must be known of each data set and of each method on it: every note once, with its data set and method.

        Notes on single values are in their rows, and warnings and failures in the states of the cells.
        """
        found: dict[tuple[str, str], dict[Note, None]] = {}
        with self._as_written():
            for cell, result in self.results().items():
                for one in map(Note.of_plain, result["notes"]):
                    found.setdefault((cell.dataset, cell.method if one.scope == cell.method else ""), {})[one] = None
        rows = [{**dict(zip(NOTE_KEYS, key, strict=True)), "notes": (*notes,)} for key, notes in found.items()]
        return notes_frame(rows, NOTE_KEYS)

    def reference(self) -> set[tuple[Any, ...]]:
        """Return the cells whose embedding is the data, by the columns of the table that ``KEYS`` names."""
        with self._as_written():
            return {
                (cell.dataset, cell.method, row.get("n_components", cell.n_components), cell.replicate)
                for cell, result in self.results().items()
                if result.get("reference")
                for row in result["rows"]
            }

    def states(self) -> pd.DataFrame:
        """One row for each cell of a run: its keys, state, seconds, the reason of a failure, warnings, and notes."""
        import pandas as pd

        results, at_work = self.results(), running(self.store, CELLS)
        with self._as_written():
            cells = self._ordered({*map(Cell.of, at_work), *results})
        rows = [
            (c.dataset, c.method, c.n_components, c.replicate, *_state(results.get(c), at_work.get(c.name, False)))
            for c in cells
        ]
        return no_states() if not rows else pd.DataFrame(rows, columns=list(no_states().columns))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.store.close()


def no_states() -> pd.DataFrame:
    """The table of states without a row."""
    import pandas as pd

    kinds = dict.fromkeys(("dataset", "embedding", "state", "reason", "warnings", "notes"), "object")
    kinds |= {"n_components": "int64", "replicate": "int64", "seconds": "float64"}
    return pd.DataFrame(columns=[*KEYS, "state", "seconds", "reason", "warnings", "notes"]).astype(kinds)


def with_waiting(states: pd.DataFrame, cells: Iterable[Cell]) -> pd.DataFrame:
    """The table of states with the cells that no run has added yet."""
    import pandas as pd

    added = set(states[list(KEYS)].itertuples(index=False, name=None))
    keys = [(c.dataset, c.method, c.n_components, c.replicate) for c in cells]
    rows = [(*key, *_state(None, False)) for key in keys if key not in added]
    more = pd.DataFrame(rows, columns=list(states.columns)).astype(states.dtypes)
    return states if more.empty else more if states.empty else pd.concat([states, more], ignore_index=True)


def _state(result: Mapping[str, Any] | None, is_running: bool) -> tuple[str, float, str, str, Notes]:
    """State, seconds, reason, warnings and notes of one cell; a cell that is recomputed is running."""
    if is_running or result is None:
        return "running" if is_running else "waiting", 0.0, "", "", ()
    reason = (Note.of_plain(result["reason"]),) if result["reason"] else ()
    warned = tuple(map(Note.of_plain, result["warnings"]))
    state, seconds = "failed" if reason else "done", float(result["seconds"])
    return state, seconds, "".join(map(str, reason)), "; ".join(map(str, warned)), (*reason, *warned)


def _check_same(stored: Mapping[str, Any], current: Mapping[str, Any], argument: str, rule: str, cure: str) -> None:
    """Compare two descriptions; an error names every difference."""
    plain = json.loads(json.dumps(current))
    differ = [key for key in {**stored, **plain} if stored.get(key) != plain.get(key)]
    if differ:
        parts = "; ".join(
            f"{key} {_short(stored.get(key))} in the file and {_short(plain.get(key))} here" for key in differ
        )
        raise InputError(argument, rule, parts, f"Pass what the file was begun with, or {cure}.")


def _short(value: Any) -> str:
    """A setting in a few characters; the beginning of a hash."""
    text = value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
    room = HASH if len(text) == 64 and " " not in text else ROOM
    return text if len(text) <= room else f"{text[: room - 3]}..."
