"""The file of a study: its settings, data sets and methods, and one result for each cell.

``Study`` writes it; the table and the states of the cells can be read without the data and methods.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy.typing as npt

from dreval.errors import InputError
from dreval.records.base import is_journal
from dreval.records.frames import notes_frame
from dreval.records.notes import Note, Notes
from dreval.records.results import tidy_frame
from dreval.storage.store import Claims, Store

if TYPE_CHECKING:
    import pandas as pd

STUDY_ABOUT = "study"
STUDY_DATASETS = "study data sets"
STUDY_METHODS = "study methods"
STUDY_CELLS = "study cells"
STATES = ("done", "failed", "running", "waiting")
HASH_LENGTH = 15  # characters of a hash in an error
SETTING_LENGTH = 60  # characters of another setting in an error
KEYS = ("dataset", "embedding", "n_components", "replicate")
NOTE_KEYS = ("dataset", "embedding")  # subject of a note of a study; an empty embedding means the data set


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
        """Return the cell of a name; raise ValueError if the name is not that of a cell."""
        cell = cls(*json.loads(name))
        kinds = [type(part) for part in (cell.dataset, cell.method, cell.n_components, cell.replicate)]
        if kinds != [str, str, int, int]:
            raise ValueError(f"{name} is not a cell")
        return cell


def is_study(path: str | Path) -> bool:
    """Return whether a file holds a study."""
    if not is_journal(path):
        return False
    try:
        with StudyFile(path):
            return True
    except InputError:
        return False


def is_new(path: str | Path) -> bool:
    """Return whether a file has no content yet: it is missing, or its process ended before writing the recipe."""
    path = Path(path)
    if not path.exists() or (path.is_file() and path.stat().st_size == 0):
        return True
    if not is_journal(path):
        return False
    try:
        with Store(path, "journal", read_only=True) as store:
            return store.is_empty
    except InputError:
        return False


def read_study_table(path: str | Path) -> pd.DataFrame:
    """Return the table of the finished cells of a study, in the form that ``dreval.compare`` uses."""
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
        If the file does not exist, or does not hold a study with this recipe.
    """

    def __init__(self, path: str | Path, recipe: Mapping[str, Any] | None = None) -> None:
        self.store = Store(path, "journal", read_only=recipe is None)
        try:
            is_empty = self.store.is_empty  # read first: another process may begin the same study now
            stored = self.store.get(STUDY_ABOUT, "recipe")
            if stored is None and (recipe is None or not is_empty):
                hint = "Name the file of a study, or choose a new file."
                raise InputError(
                    "journal", "must hold a study", f"the journal {str(self.store.path)!r} without a study", hint
                )
            _ = self.recipe  # raises for other content
            if recipe is not None:
                # if two processes start at the same time, the first recipe is kept
                self.store.put(STUDY_ABOUT, "recipe", recipe)
                self.check_recipe(recipe)
        except BaseException:
            self.store.close()
            raise

    def check_recipe(self, recipe: Mapping[str, Any]) -> None:
        """Raise if a recipe differs from the recipe of the file."""
        _check_same(self.recipe, recipe, "journal", "must hold a study with the same settings", "start a new file")

    @property
    def recipe(self) -> dict[str, Any]:
        """The settings of all cells."""
        stored = self.store.get(STUDY_ABOUT, "recipe")
        with self.store.as_written():
            return {} if stored is None else {**stored[0]}

    def add_part(self, kind: str, name: str, about: Mapping[str, Any]) -> None:
        """Add a data set or method, unless its name exists."""
        self.store.put(kind, name, {"about": about, "place": len(self.store.texts(kind))})

    def check_part(self, kind: str, name: str, about: Mapping[str, Any], argument: str) -> None:
        """Raise if a data set or method differs from the one in the file under this name."""
        stored = self.parts(kind).get(name)
        if stored is not None:
            _check_same(stored, about, argument, "must be the same as in the file", "give it another name")

    def parts(self, kind: str) -> dict[str, dict[str, Any]]:
        """Return the data sets or methods in the order in which they were added."""
        with self.store.as_written():
            parts = {name: json.loads(text) for name, text in self.store.texts(kind).items()}
            order = sorted(parts, key=lambda name: (int(parts[name]["place"]), name))
            return {name: {**parts[name]["about"]} for name in order}

    def claims(self) -> Claims:
        """Return the claims of this process on the cells."""
        return Claims(self.store, STUDY_CELLS)

    def results(self) -> dict[Cell, dict[str, Any]]:
        """Return the results by cell, ordered by data set, method, components and replicate."""
        with self.store.as_written():
            results = {Cell.of(name): json.loads(text) for name, text in self.store.texts(STUDY_CELLS).items()}
            for result in results.values():
                _state(result, False)
                [*map(dict, result["rows"])]
            return {cell: results[cell] for cell in self._sorted_cells(results)}

    def texts(self) -> dict[str, str]:
        """Return the results as JSON text, by name of the cell."""
        return self.store.texts(STUDY_CELLS)

    def failed_texts(self) -> dict[str, str]:
        """Return the results of failed cells, as JSON text."""
        return {name: text for name, text in self.texts().items() if json.loads(text)["reason"]}

    def _sorted_cells(self, cells: Any) -> list[Cell]:
        """Return cells ordered by their data sets and methods, as these were added."""
        datasets, methods = (
            {name: i for i, name in enumerate(self.parts(kind))} for kind in (STUDY_DATASETS, STUDY_METHODS)
        )

        def position(cell: Cell) -> tuple[int, ...]:
            return datasets.get(cell.dataset, -1), methods.get(cell.method, -1), cell.n_components, cell.replicate

        return sorted(cells, key=position)

    def array(self, cell: Cell) -> npt.NDArray[Any] | None:
        """Return the embedding of a cell; None if it was not stored."""
        stored = self.store.get(STUDY_CELLS, cell.name)
        return None if stored is None else stored[1]

    def table(self, split_components: bool = False) -> pd.DataFrame:
        """Return the tidy table of all cells that are done or failed.

        ``split_components`` adds the number of components to the parameters of the measures if there are several, so
        that embeddings are compared at equal numbers only.
        """
        with self.store.as_written():
            return tidy_frame(list(self._rows(self.results(), split_components)))

    def _rows(self, results: Mapping[Cell, Mapping[str, Any]], split: bool) -> Iterator[dict[str, Any]]:
        split = split and len({cell.n_components for cell in results}) > 1
        for cell, result in results.items():
            for row in result["rows"]:
                parts = [row.get("parameters", ""), f"n_components={cell.n_components}" if split else ""]
                notes = tuple(map(Note.of_plain, row.get("notes", ())))
                yield {**row, "notes": notes, "parameters": ", ".join(filter(None, parts)), **self._cell_columns(cell)}

    @staticmethod
    def _cell_columns(cell: Cell) -> dict[str, Any]:
        """Return the columns that identify a cell."""
        return {"dataset": cell.dataset, "embedding": cell.method, "replicate": cell.replicate}

    def notes(self) -> pd.DataFrame:
        """Return the notes on each data set and on each method on it, every note once.

        Notes on single values are in their rows, and warnings and failures in the states of the cells.
        """
        notes: dict[tuple[str, str], dict[Note, None]] = {}
        with self.store.as_written():
            for cell, result in self.results().items():
                for note in map(Note.of_plain, result["notes"]):
                    notes.setdefault((cell.dataset, cell.method if note.scope == cell.method else ""), {})[note] = None
        rows = [{**dict(zip(NOTE_KEYS, key, strict=True)), "notes": (*unique,)} for key, unique in notes.items()]
        return notes_frame(rows, NOTE_KEYS)

    def reference(self) -> set[tuple[Any, ...]]:
        """Return the cells whose embedding is the data, by the columns of the table that ``KEYS`` names."""
        with self.store.as_written():
            return {
                (cell.dataset, cell.method, row.get("n_components", cell.n_components), cell.replicate)
                for cell, result in self.results().items()
                if result.get("reference")
                for row in result["rows"]
            }

    def states(self) -> pd.DataFrame:
        """Return one row for each cell: its keys, state, seconds, reason of a failure, warnings, and notes."""
        import pandas as pd

        results, claimed = self.results(), self.store.running(STUDY_CELLS)
        with self.store.as_written():
            cells = self._sorted_cells({*map(Cell.of, claimed), *results})
        rows = [
            (
                cell.dataset,
                cell.method,
                cell.n_components,
                cell.replicate,
                *_state(results.get(cell), claimed.get(cell.name, False)),
            )
            for cell in cells
        ]
        return no_states() if not rows else pd.DataFrame(rows, columns=list(no_states().columns))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.store.close()


def no_states() -> pd.DataFrame:
    """Return the table of states without rows."""
    import pandas as pd

    kinds = dict.fromkeys(("dataset", "embedding", "state", "reason", "warnings", "notes"), "object")
    kinds |= {"n_components": "int64", "replicate": "int64", "seconds": "float64"}
    return pd.DataFrame(columns=[*KEYS, "state", "seconds", "reason", "warnings", "notes"]).astype(kinds)


def with_waiting(states: pd.DataFrame, cells: Iterable[Cell]) -> pd.DataFrame:
    """Return the table of states with the cells that no run has added yet."""
    import pandas as pd

    added = set(states[list(KEYS)].itertuples(index=False, name=None))
    keys = [(cell.dataset, cell.method, cell.n_components, cell.replicate) for cell in cells]
    rows = [(*key, *_state(None, False)) for key in keys if key not in added]
    waiting = pd.DataFrame(rows, columns=list(states.columns)).astype(states.dtypes)
    return states if waiting.empty else waiting if states.empty else pd.concat([states, waiting], ignore_index=True)


def _state(result: Mapping[str, Any] | None, is_running: bool) -> tuple[str, float, str, str, Notes]:
    """Return state, seconds, reason, warnings and notes of one cell; a cell that is being recomputed is running."""
    if is_running or result is None:
        return "running" if is_running else "waiting", 0.0, "", "", ()
    reason = (Note.of_plain(result["reason"]),) if result["reason"] else ()
    warned = tuple(map(Note.of_plain, result["warnings"]))
    state, seconds = "failed" if reason else "done", float(result["seconds"])
    return state, seconds, "".join(map(str, reason)), "; ".join(map(str, warned)), (*reason, *warned)


def _check_same(
    stored: Mapping[str, Any], current: Mapping[str, Any], argument: str, requirement: str, hint: str
) -> None:
    """Compare two descriptions; the error names every difference."""
    normalized = json.loads(json.dumps(current))
    differ = [key for key in {**stored, **normalized} if stored.get(key) != normalized.get(key)]
    if differ:
        differences = "; ".join(
            f"{key} {_shorten(stored.get(key))} in the file and {_shorten(normalized.get(key))} here" for key in differ
        )
        raise InputError(
            argument, requirement, differences, f"Pass the settings with which the file was started, or {hint}."
        )


def _shorten(value: Any) -> str:
    """Return a setting in a few characters; of a hash its first characters."""
    text = value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
    length = HASH_LENGTH if len(text) == 64 and " " not in text else SETTING_LENGTH
    return text if len(text) <= length else f"{text[: length - 3]}..."
