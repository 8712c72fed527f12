"""The journal of an evaluation: its finished embeddings, so that an interrupted run can resume."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

import numpy as np

from dreval._check import FloatArray
from dreval.errors import DrevalError, InputError
from dreval.inputs.data import Data
from dreval.inputs.source_kinds import FittedEmbedding, Source, check_embedding
from dreval.records.notes import Note, Notes
from dreval.storage.keys import work_key
from dreval.storage.store import Store

RUN = "evaluation"  # run of the journal that holds the data and the seed
EMBEDDING = "embedding"  # cell of a run that holds an embedding


class EmbeddingCache:
    """Journal of the finished embeddings of one data set; without a path nothing is stored.

    A journal belongs to one data set, which is identified by its hash; other data raise an error. It holds the seed of
    the first evaluation that used it, for evaluations without a seed.

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
            is_empty = self._store.is_empty  # read first: another process may begin the same run now
            stored = self._store.get(RUN, "data")
            if stored is None and not is_empty:
                received = f"{str(path)!r}, the file of a study"
                raise InputError("journal", "must be the journal of an evaluation", received, "Choose a new file.")
            if stored is not None and stored[0].get("sha256") != data.sha256:
                received = f"{str(path)!r}, which is of other data (sha256 {str(stored[0].get('sha256'))[:12]})"
                raise InputError("journal", "must be of the data that are evaluated", received, "Choose a new file.")
        except BaseException:
            self._stack.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def seed(self, seed: int, is_random: bool) -> int:
        """Return the seed of a run: that of the journal if the user passed none (``seed`` is random)."""
        if self._store is None:
            return seed
        self._store.put(RUN, "data", {"sha256": self.data.sha256, "seed": seed})
        stored = self._store.get(RUN, "data")
        with self._store.as_written():
            return int(stored[0]["seed"]) if is_random and stored is not None else seed

    def embedding(
        self, source: Source, seed: int, embed: Callable[[], tuple[FloatArray, Notes]]
    ) -> tuple[FloatArray, float, Notes]:
        """Return the embedding of the data, its seconds and its notes.

        They are read from the journal if they are stored there; otherwise ``embed`` is called, and its result stored.
        """
        run = self._open(source, seed, {})
        stored = self._stored(run, source, self.data.n)
        if stored is not None:
            return stored
        start = time.perf_counter()
        Y, notes = embed()
        seconds = time.perf_counter() - start
        self._put(run, Y, seconds, notes)
        return Y, seconds, notes

    def embedding_with_new(
        self,
        source: Source,
        seed: int,
        sizes: tuple[int, int],
        key: Mapping[str, Any],
        fit: Callable[[], FittedEmbedding],
    ) -> tuple[FittedEmbedding, float]:
        """Return the embedding of data and of new points by one fit, and its seconds.

        ``sizes`` are the numbers of their rows. ``key`` identifies the new points, and the rows of the data that are
        fitted. Both are read from the journal, or ``fit`` is called; a fit whose transform failed is not stored.
        """
        n, m = sizes
        run = self._open(source, seed, key)
        stored = self._stored(run, source, n + m)
        if stored is not None:
            Y, seconds, notes = stored
            return FittedEmbedding(Y[:n], Y[n:], notes), seconds
        start = time.perf_counter()
        fitted = fit()
        seconds = time.perf_counter() - start
        if not isinstance(fitted.new, DrevalError):
            self._put(run, np.vstack([fitted.Y, fitted.new]), seconds, fitted.notes)
        return fitted, seconds

    def _open(self, source: Source, seed: int, key: Mapping[str, Any]) -> str | None:
        """Return the run that holds the embedding of a source; None without a journal, and for one that is not run."""
        if self._store is None or not source.can_embed or source.recording is not None:
            return None
        return self._store.open_run(work_key(self.data, source, source.default_components, seed, key))

    def _stored(self, run: str | None, source: Source, rows: int) -> tuple[FloatArray, float, Notes] | None:
        """Return stored coordinates with their seconds and notes; None if there are none."""
        stored = None if self._store is None or run is None else self._store.get(run, EMBEDDING)
        if self._store is None or stored is None or stored[1] is None:
            return None
        with self._store.as_written():
            notes = tuple(Note.of_plain(note) for note in stored[0].get("notes", ()))
            Y = check_embedding(stored[1], rows, source.argument, source.what)
            return Y, float(stored[0]["seconds"]), notes

    def _put(self, run: str | None, Y: FloatArray, seconds: float, notes: Notes) -> None:
        """Store coordinates; without a run nothing is stored."""
        if self._store is not None and run is not None:
            facts = {"notes": [note.plain() for note in notes]} if notes else {}
            self._store.put(run, EMBEDDING, {"seconds": seconds, **facts}, Y)
