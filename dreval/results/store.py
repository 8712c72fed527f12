"""The journal of finished cells: one SQLite file, so that a run that was killed continues where it stopped."""

from __future__ import annotations

import hashlib
import io
import json
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from dreval._check import check_path
from dreval.errors import InputError

__all__ = ["Cell", "Store", "cell_key"]

FORMAT = 1
WAIT_SECONDS = 60.0  # how long one process waits for another one that writes
BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_TABLES = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS runs (run TEXT PRIMARY KEY, recipe TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS cells (
    run TEXT NOT NULL, cell TEXT NOT NULL, value TEXT NOT NULL, array BLOB, PRIMARY KEY (run, cell)
) WITHOUT ROWID;
"""

Cell = tuple[dict[str, Any], npt.NDArray[Any] | None]


def cell_key(recipe: Mapping[str, Any]) -> str:
    """The key of what a recipe describes: equal recipes have equal keys, whatever the order of their entries.

    Examples
    --------
    >>> cell_key({"n": 3, "method": "pca"}) == cell_key({"method": "pca", "n": 3}) != cell_key({"n": 4})
    True
    """
    return hashlib.sha256(_text(recipe).encode()).hexdigest()


class Store:
    """Finished cells by run and name; each is written at once and is never lost by killing the process.

    A run is described by its recipe (data, method, parameters, seed, versions), a cell by its name in the run. Several
    processes may read and write the same file: readers never wait, writers wait for each other. Values are JSON, with
    every digit, and one array; nothing in the file can run code.

    Parameters
    ----------
    path : str or path
        The file; it is made where there is none.

    Raises
    ------
    InputError
        If the folder is missing, or the file is no journal, was made by a later version, is damaged, or cannot be
        written.

    Notes
    -----
    Write-ahead logging: beside the file lie ``-wal`` and ``-shm`` while it is open. It must lie on a local disk.
    Writing a cell costs one transaction, well below a millisecond.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Store(pathlib.Path(folder) / "cells.sqlite") as store:
    ...         run = store.open_run({"method": "pca", "n": 3})
    ...         store.put(run, "1,2", {"u": 0.1})
    ...         print(store.cells(run))
    {'1,2': ({'u': 0.1}, None)}
    """

    def __init__(self, path: str | Path) -> None:
        self.path = check_path(path, "store")
        if not self.path.parent.is_dir():
            rule = "must lie in a folder that is there"
            raise InputError("store", rule, f"{str(self.path)!r}", "Make the folder first, or choose another one.")
        with self._refused():
            self._db = sqlite3.connect(self.path, timeout=WAIT_SECONDS, isolation_level=None)
        try:
            with self._refused():
                self._log_ahead()
                self._db.execute("PRAGMA synchronous=NORMAL")
                self._db.executescript(f"BEGIN IMMEDIATE; {_TABLES} COMMIT;")
                self._check_format()
        except BaseException:
            self._db.close()
            raise

    @contextmanager
    def _refused(self) -> Iterator[None]:
        """What SQLite says against the file, as a refusal of the file."""
        try:
            yield
        except sqlite3.Error as error:
            rule = "must be a file that dreval can use as a journal"
            raise InputError("store", rule, f"{str(self.path)!r} ({error})", "Choose a new file.") from error

    def _log_ahead(self) -> None:
        """Turn on write-ahead logging; where several processes do so at once SQLite refuses some without waiting."""
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            try:
                self._db.execute("PRAGMA journal_mode=WAL")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF not in BUSY or time.monotonic() > deadline:
                    raise
            time.sleep(0.01)

    def _check_format(self) -> None:
        self._db.execute("INSERT OR IGNORE INTO about VALUES ('format', ?)", (str(FORMAT),))
        found = self._db.execute("SELECT value FROM about WHERE name = 'format'").fetchone()[0]
        if found != str(FORMAT):
            rule = f"must have been made with format {FORMAT}"
            raise InputError("store", rule, f"format {found}", "Choose a new file, or update dreval.")

    def open_run(self, recipe: Mapping[str, Any]) -> str:
        """The key of a run; its recipe is kept in the file, to be read by people."""
        run = cell_key(recipe)
        with self._refused():
            self._db.execute("INSERT OR IGNORE INTO runs VALUES (?, ?)", (run, _text(recipe)))
        return run

    def put(
        self, run: str, cell: str, value: Mapping[str, Any] | None = None, array: npt.NDArray[Any] | None = None
    ) -> None:
        """Write one finished cell; what was there before stays, so that the first answer is the answer."""
        blob = None
        if array is not None:
            buffer = io.BytesIO()
            np.save(buffer, array, allow_pickle=False)
            blob = buffer.getvalue()
        row = (run, cell, _text(value or {}), blob)
        with self._refused():
            self._db.execute("INSERT OR IGNORE INTO cells VALUES (?, ?, ?, ?)", row)

    def get(self, run: str, cell: str) -> Cell | None:
        """One finished cell, or None."""
        query = "SELECT value, array FROM cells WHERE run = ? AND cell = ?"
        with self._refused(), closing(self._db.execute(query, (run, cell))) as rows:
            row = rows.fetchone()
        return None if row is None else _cell(*row)

    def cells(self, run: str) -> dict[str, Cell]:
        """All finished cells of a run, by name."""
        query = "SELECT cell, value, array FROM cells WHERE run = ? ORDER BY cell"
        with self._refused(), closing(self._db.execute(query, (run,))) as rows:
            return {cell: _cell(value, blob) for cell, value, blob in rows}

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _text(value: Mapping[str, Any]) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _cell(value: str, blob: bytes | None) -> Cell:
    array = None if blob is None else np.load(io.BytesIO(blob), allow_pickle=False)
    return json.loads(value), array
