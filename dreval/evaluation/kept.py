"""Finished embeddings and passes of an evaluation in a journal: a run that was stopped goes on where it stopped."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray
from dreval.errors import InputError
from dreval.inputs.data import Data
from dreval.inputs.identity import digest, identity
from dreval.inputs.source_kinds import Source, check_embedding
from dreval.journal.store import Store
from dreval.records.notes import Note, Notes

ABOUT, CELL = "evaluation", "embedding"


class Kept:
    """The embeddings of one data set that are finished; without a path nothing is kept.

    A journal belongs to one data set, by its hash; with other data it is refused. It has the seed of the first
    evaluation that used it, for those that pass none.

    Parameters
    ----------
    path : str, Path or None
        The journal; it is created if it does not exist.
    data : Data
        The data.
    """

    def __init__(self, path: str | Path | None, data: Data) -> None:
        self.path, self.data = path, data
        self._stack = ExitStack()
        self._store = None if path is None else self._stack.enter_context(Store(path))
        if self._store is None:
            return
        try:
            self._sha256 = data.sha256
            stored = self._store.get(ABOUT, "data")
            if stored is None and self._store.rows("SELECT 1 FROM cells LIMIT 1"):
                rule, got = "must be a store of an evaluation", f"{str(path)!r}, the file of a study"
                raise InputError("store", rule, got, "Choose a new file.")
            if stored is not None and stored[0].get("sha256") != self._sha256:
                got = f"{str(path)!r}, which is of other data (sha256 {str(stored[0].get('sha256'))[:12]})"
                raise InputError("store", "must be of the data that are evaluated", got, "Choose a new file.")
        except BaseException:
            self._stack.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def seed(self, seed: int, drawn: bool) -> int:
        """The seed of a run: where none was passed (it was ``drawn``), that of the journal."""
        if self._store is None:
            return seed
        self._store.put(ABOUT, "data", {"sha256": self._sha256, "seed": seed})
        stored = self._store.get(ABOUT, "data")
        with self._store.as_written():
            return int(stored[0]["seed"]) if drawn and stored is not None else seed

    def embedding(
        self,
        source: Source,
        seed: int,
        make: Callable[[], tuple[FloatArray, Notes]],
        part: npt.NDArray[np.int64] | None = None,
    ) -> tuple[FloatArray, float, Notes]:
        """Return the embedding of the data (or of a ``part`` of the points), seconds and notes, kept or made now."""
        if self._store is None or not source.can_embed or source.recording is not None:
            began = time.perf_counter()
            Y, notes = make()
            return Y, time.perf_counter() - began, notes
        labels = self.data.labels if source.supervised else None
        recipe: dict[str, Any] = {
            "data": self._sha256,
            "part": None if part is None else digest(part),
            "labels": None if labels is None else digest(labels.codes),
            "source": identity(source),
            "n_components": source.default_components,
            "seed": seed,
            "versions": versions(),
        }
        run = self._store.open_run(recipe)
        kept = self._store.get(run, CELL)
        if kept is not None and kept[1] is not None:
            n = self.data.n if part is None else len(part)
            with self._store.as_written():
                notes = tuple(Note.of_plain(one) for one in kept[0].get("notes", ()))
                return check_embedding(kept[1], n, source.argument, source.what), float(kept[0]["seconds"]), notes
        began = time.perf_counter()
        Y, notes = make()
        seconds = time.perf_counter() - began
        facts = {"notes": [one.plain() for one in notes]} if notes else {}
        self._store.put(run, CELL, {"seconds": seconds, **facts}, Y)
        return Y, seconds, notes

    @property
    def passes(self) -> Passes | None:
        """Where unfinished passes over the data are kept; None without a file."""
        return None if self._store is None else Passes(self._store, self._sha256)


@dataclass(frozen=True)
class Passes:
    """Unfinished passes of anchors over all points of one data set, in a journal."""

    store: Store
    sha256: str

    def load_pass(self, recipe: Mapping[str, Any], space: str) -> tuple[int, npt.NDArray[Any]] | None:
        """What was kept of a pass over one space, and the number of rows that it is of."""
        found = self.store.get(self._run(recipe), space)
        with self.store.as_written():
            return None if found is None or found[1] is None else (int(found[0]["rows"]), found[1])

    def keep_pass(self, recipe: Mapping[str, Any], space: str, done: int, state: npt.NDArray[Any]) -> None:
        """Keep what a pass has gathered of the first rows of a space, in place of what was kept."""
        self.store.put(self._run(recipe), space, {"rows": done}, state, replace=True)

    def _run(self, recipe: Mapping[str, Any]) -> str:
        return self.store.open_run({**recipe, "data": self.sha256, "versions": versions()})


def versions() -> dict[str, str]:
    """The versions on which numbers depend."""
    from dreval import __version__

    return {"dreval": __version__, "numpy": np.__version__}
