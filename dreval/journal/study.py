"""One SQLite file of finished work: the store of runs, the claims of processes, and the file of a study."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import secrets
import sqlite3
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from dreval._check import check_path, describe, read_npy
from dreval.errors import DrevalError, InputError, MissingFile
from dreval.records.base import is_journal
from dreval.records.frames import notes_frame, tidy_frame
from dreval.records.notes import Note, Notes

if TYPE_CHECKING:
    import pandas as pd

# The store of finished work, an SQLite file, and the claims of processes on its cells.

FORMAT = 1
WAIT_SECONDS = 60.0  # longest wait for another process that writes
BUSY_CODES = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
TOKEN_PATTERN = re.compile("[0-9a-f]{16}")  # token of a claimant; the name of its lock file ends with it
DISK_FULL_CODES = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}
_TABLES = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS runs (run TEXT PRIMARY KEY, recipe TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS cells (
    run TEXT NOT NULL, cell TEXT NOT NULL, value TEXT NOT NULL, value_sha256 TEXT NOT NULL,
    array BLOB, array_sha256 TEXT, PRIMARY KEY (run, cell)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS tasks (
    run TEXT NOT NULL, cell TEXT NOT NULL, owner TEXT, PRIMARY KEY (run, cell)
) WITHOUT ROWID;
"""

_ANALYZE_TABLES = """
CREATE TABLE sqlite_stat1(tbl,idx,stat);
CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample);
"""  # tables that ANALYZE of SQLite adds
_SCHEMA_QUERY = "SELECT type, name, tbl_name, sql FROM sqlite_master"
_MIN_ANSWER_BYTES = 1 << 20  # bytes that any query may return, whatever the size of the file
_RELEASE_QUERY = "UPDATE tasks SET owner = NULL WHERE run = ? AND cell = ? AND owner = ?"
_VALUE_COLUMNS = "value, value_sha256"
_ARRAY_COLUMNS = "array, array_sha256"
_RESTORE_HINT = "Copy the file back from a backup, or start a new one."
_CONTENT_ERRORS = (
    ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError, MemoryError, EOFError, OSError,
    SyntaxError,
)  # fmt: skip
StoredCell = tuple[dict[str, Any], npt.NDArray[Any] | None]


def cell_key(recipe: Mapping[str, Any]) -> str:
    """Return the hash of a recipe; the order of its entries does not matter.

    Examples
    --------
    >>> cell_key({"n": 3, "method": "pca"}) == cell_key({"method": "pca", "n": 3}) != cell_key({"n": 4})
    True
    """
    return hashlib.sha256(_to_json(recipe).encode()).hexdigest()


class Store:
    """Finished cells by run and name; each is written when it is finished, so that killing the process loses none.

    A run is described by its recipe (data, method, parameters, seed, versions), a cell by its name in the run. Several
    processes may read and write the same file: readers never wait, writers wait for each other. A value is JSON, with
    all digits, and at most one array; nothing in the file can run code.

    Parameters
    ----------
    path : str or path
        The file; it is created if it does not exist.
    argument : str
        Name of the path in error messages.
    read_only : bool
        Whether nothing is written; the file must then exist.

    Raises
    ------
    InputError
        If the file is not a journal, is of another format, or cannot be written.

    Notes
    -----
    With write-ahead logging, files ``-wal`` and ``-shm`` exist next to it while it is open. It must be on a local disk.
    Writing a cell costs one transaction, well below a millisecond. Any thread of the process may use an open journal.

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

    def __init__(self, path: str | Path, argument: str = "store", *, read_only: bool = False) -> None:
        self.path = check_path(path, argument)
        self._argument, self._lock = argument, RLock()
        if read_only and not self.path.is_file():
            hint = "Check the name; the file is created by run()."
            raise MissingFile(argument, "must be an existing file", repr(str(self.path)), hint)
        if not self.path.parent.is_dir():
            hint = "Create the folder, or choose another one."
            raise InputError(argument, "must be in an existing folder", repr(str(self.path)), hint)
        with self._path_errors(), ExitStack() as stack:
            self._db = self._connect(read_only)
            stack.callback(self._db.close)  # only after an error
            self._check_format(read_only)
            stack.pop_all()
        self.lock_prefix = f"{self.path.resolve()}-lock-"  # one name for one file, whatever links lead to it

    @contextmanager
    def _path_errors(self) -> Iterator[None]:
        """Raise errors of SQLite as errors of the path."""
        try:
            yield
        except sqlite3.Error as error:
            requirement, hint = "must be a file that dreval can use as a journal", "Choose a new file."
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in DISK_FULL_CODES:
                requirement = "must be on a disk with room for it, which can be written"
                hint = "Free some space and run it again: finished work is kept."
            raise InputError(self._argument, requirement, f"{str(self.path)!r} ({error})", hint) from error

    def _connect(self, read_only: bool) -> sqlite3.Connection:
        """Return the open database, usable from all threads under the lock of the store."""
        name = _read_uri(self.path.resolve()) if read_only else str(self.path)
        options: dict[str, Any] = {"timeout": WAIT_SECONDS, "isolation_level": None, "check_same_thread": False}
        db: sqlite3.Connection = sqlite3.connect(name, uri=read_only, **options)
        return db

    def _check_format(self, read_only: bool) -> None:
        """Create the tables of a new file in one transaction; raise for other databases and formats.

        A database may hold views, triggers and computed columns in addition to tables or in place of them, of any size,
        even endless, under any name: all its definitions are compared with those of a journal.
        """
        self.rows("PRAGMA trusted_schema=OFF")
        expected, optional = _journal_schema()
        definitions = _definitions(self.rows(_SCHEMA_QUERY))
        required = sorted(definition for definition in definitions if definition not in optional)
        about = [definition for definition in definitions if definition[1].casefold() == "about"]
        if about == [definition for definition in expected if definition[1] == "about"]:
            self._check_version()
        if required != expected and (definitions or read_only):
            received = f"{str(self.path)!r}, {'another database' if definitions else 'which is empty'}"
            raise InputError(self._argument, "must be a journal of dreval", received, "Choose a new file.")
        if not read_only:
            self._write_ahead()
            insert_format = f"INSERT OR IGNORE INTO about VALUES ('format', '{FORMAT}')"
            self._db.executescript(f"BEGIN IMMEDIATE; {_TABLES} {insert_format}; COMMIT;")
        self._check_version()

    def _check_version(self) -> None:
        """Raise for a journal of another format."""
        formats = [value for (value,) in self.rows("SELECT value FROM about WHERE name = 'format'")]
        if formats != [str(FORMAT)]:
            requirement, received = f"must have format {FORMAT}", f"format {', '.join(map(str, formats)) or 'unknown'}"
            raise InputError(self._argument, requirement, received, "Choose a new file, or update dreval.")

    def _write_ahead(self) -> None:
        """Switch to write-ahead logging; SQLite itself does not wait while another process does the same."""
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            try:
                self._db.execute("PRAGMA journal_mode=WAL")
                break
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF not in BUSY_CODES or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
        self._db.execute("PRAGMA synchronous=NORMAL")

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction: all of its writes are kept, or none; other processes wait."""
        with self._lock, self._path_errors():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:  # a full disk has ended it already
                    self._db.execute("ROLLBACK")
                raise

    def rows(self, query: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query; raise if they have more content than the file.

        A file in which many entries point to the same page returns rows without end.
        """
        rows, size, limit = [], 0, _MIN_ANSWER_BYTES
        with self._lock, self._path_errors(), closing(self._db.execute(query, values)) as cursor:
            for row in cursor:
                size += 1 + sum(len(value) for value in row if isinstance(value, str | bytes))
                if size > limit and size > (limit := max(limit, self._file_bytes())):
                    received = f"{str(self.path)!r}, which returns the same rows repeatedly"
                    raise InputError(self._argument, "must be as dreval wrote it", received, _RESTORE_HINT)
                rows.append(row)
        return rows

    def _file_bytes(self) -> int:
        """Return the bytes of the file and of its log; the log is read first, since it may be merged into the file."""
        log = self.path.with_name(f"{self.path.name}-wal")
        return (log.stat().st_size if log.exists() else 0) + self.path.stat().st_size

    def _by_cell(self, rows: list[tuple[Any, ...]]) -> dict[Any, tuple[Any, ...]]:
        """Return rows by their first value, the name of a cell; raise if a name occurs twice."""
        by_cell = {cell: tuple(stored) for cell, *stored in rows}
        if len(by_cell) < len(rows):
            received = f"{str(self.path)!r}, with several rows of one cell"
            raise InputError(self._argument, "must be as dreval wrote it", received, _RESTORE_HINT)
        return by_cell

    def open_run(self, recipe: Mapping[str, Any]) -> str:
        """Return the key of a run; its recipe is written to the file for readers."""
        run = cell_key(recipe)
        self.rows("INSERT OR IGNORE INTO runs VALUES (?, ?)", (run, _to_json(recipe)))
        return run

    def put(
        self, run: str, cell: str, value: Mapping[str, Any] | None = None, array: npt.NDArray[Any] | None = None
    ) -> None:
        """Write one finished cell; an existing value is kept."""
        self.rows("INSERT OR IGNORE INTO cells VALUES (?, ?, ?, ?, ?, ?)", cell_row(run, cell, value or {}, array))

    def get(self, run: str, cell: str) -> StoredCell | None:
        """Return one finished cell, or None."""
        query = f"SELECT {_VALUE_COLUMNS}, {_ARRAY_COLUMNS} FROM cells WHERE run = ? AND cell = ?"
        rows = self.rows(query, (run, cell))
        return self._cell((run, cell), *rows[0]) if rows else None

    def cells(self, run: str) -> dict[str, StoredCell]:
        """Return all finished cells of a run, by name."""
        rows = self.rows(
            f"SELECT cell, {_VALUE_COLUMNS}, {_ARRAY_COLUMNS} FROM cells WHERE run = ? ORDER BY cell", (run,)
        )
        return {cell: self._cell((run, cell), *stored) for cell, stored in self._by_cell(rows).items()}

    @contextmanager
    def as_written(self) -> Iterator[None]:
        """Raise errors from content that dreval does not write, which may come from anyone, as an error of the file."""
        try:
            yield
        except DrevalError:
            raise
        except _CONTENT_ERRORS as error:
            received = f"{str(self.path)!r}, with other content ({' '.join(str(error).split())[:80]})"
            raise InputError(self._argument, "must be as dreval wrote it", received, _RESTORE_HINT) from error

    def texts(self, run: str) -> dict[str, str]:
        """Return the values of all finished cells as JSON text, without their arrays."""
        rows = self.rows(f"SELECT cell, {_VALUE_COLUMNS} FROM cells WHERE run = ? ORDER BY cell", (run,))
        return {cell: self._value((run, cell), *stored) for cell, stored in self._by_cell(rows).items()}

    def _value(self, key: tuple[str, str], value: Any, checksum: Any) -> str:
        """Return the text of a value; raise if its checksum is not that of the run, cell and value."""
        if not all(isinstance(part, str) for part in (*key, value)) or _sha256(*key, value) != checksum:
            raise self._changed_error(key[1])
        return str(value)

    def _cell(self, key: tuple[str, str], value: Any, checksum: Any, blob: Any, blob_checksum: Any) -> StoredCell:
        """Return value and array of a cell; raise if a checksum is not that of the run, cell and content."""
        text = self._value(key, value, checksum)
        if (blob is not None or blob_checksum is not None) and (
            not isinstance(blob, bytes) or _sha256(*key, blob) != blob_checksum
        ):
            raise self._changed_error(key[1])
        with self.as_written():
            content = json.loads(text)
            if not isinstance(content, dict):
                raise TypeError(f"the value of {describe(key[1])} is not a mapping")
            return content, None if blob is None else read_npy(blob)

    def _changed_error(self, cell: str) -> InputError:
        """Return the error for a cell that another program has changed."""
        received = f"{str(self.path)!r}, whose cell {describe(cell)} was changed after it was written"
        return InputError(self._argument, "must be as dreval wrote it", received, _RESTORE_HINT)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


Definition = tuple[str, str, str, str]


def _definitions(rows: Iterable[tuple[Any, ...]]) -> list[Definition]:
    """Return all definitions of a database: type, name, table, and SQL text with single spaces."""
    return [(str(kind), str(name), str(table), " ".join(str(text).split())) for kind, name, table, text in rows]


@cache
def _journal_schema() -> tuple[list[Definition], list[Definition]]:
    """Return the definitions of a journal, sorted, and those that SQLite may add."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(_TABLES)
        definitions = sorted(_definitions(db.execute(_SCHEMA_QUERY)))
    statements = [statement.strip() for statement in _ANALYZE_TABLES.split(";") if statement.strip()]
    names = [statement.split()[2].partition("(")[0] for statement in statements]
    return definitions, [("table", name, name, text) for name, text in zip(names, statements, strict=True)]


def _read_uri(path: Path) -> str:
    """Return the URI for reading a file: a writable log is merged on closing, else the log is read, if any."""
    if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
        return f"{path.as_uri()}?mode=rw"
    log = path.with_name(f"{path.name}-wal")
    return f"{path.as_uri()}?mode=ro" + ("" if log.exists() else "&immutable=1")


def cell_row(
    run: str, cell: str, value: Mapping[str, Any], array: npt.NDArray[Any] | None
) -> tuple[str, str, str, str, bytes | None, str | None]:
    """Return a row of the table of cells: the value as JSON, the array in the .npy format, each with its checksum."""
    text = _to_json(value)
    row = (run, cell, text, _sha256(run, cell, text))
    if array is None:
        return *row, None, None
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return *row, buffer.getvalue(), _sha256(run, cell, buffer.getvalue())


def _to_json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _sha256(*parts: str | bytes) -> str:
    """Return the hash of texts and bytes, each with its length, so that content cannot move from one to the next."""
    digest = hashlib.sha256()
    for part in parts:
        content = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(len(content).to_bytes(8, "big") + content)
    return digest.hexdigest()


class Claims:
    """The claims of this process on the cells of one run; leaving ``with`` releases those that are not finished.

    Each claimant locks a separate file next to the journal while it works. The operating system releases the lock when
    the process ends for any reason. The claims of a killed process can therefore be taken over at once, and those of a
    slow or stopped process stay valid.

    Parameters
    ----------
    store : Store
        The journal.
    run : str
        The run whose cells are claimed.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder, Store(pathlib.Path(folder) / "cells") as store:
    ...     with Claims(store, "run") as left, Claims(store, "run") as right:
    ...         left.add_cells(["a", "b"])
    ...         print(left.claim("a"), right.claim("a"), right.claim("b"))
    ...         print(left.finish("a", {"u": 0.1}), store.get("run", "a"), left.claim("a"))
    True False True
    True ({'u': 0.1}, None) False
    """

    def __init__(self, store: Store, run: str) -> None:
        self.store, self.run, self.token = store, run, secrets.token_hex(8)
        self._claimed: set[str] = set()
        self.lock_file = Path(store.lock_prefix + self.token)

    def __enter__(self) -> Self:
        with (
            self.store.transaction()
        ):  # one process at a time: no other process is between creating and locking its file
            for path in [
                path for path in self.lock_file.parent.iterdir() if str(path).startswith(self.store.lock_prefix)
            ]:
                if not _is_claimed(self.store, str(path).removeprefix(self.store.lock_prefix)):
                    path.unlink(missing_ok=True)
            self._descriptor = os.open(self.lock_file, os.O_RDWR | os.O_CREAT, 0o666)
            if not _lock(self._descriptor, shared=False):
                os.close(self._descriptor)
                hint = "Put the journal on a local disk."
                raise InputError("path", "must be on a disk with file locks", repr(str(self.store.path)), hint)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.release()
        finally:
            os.close(self._descriptor)
            self.lock_file.unlink(missing_ok=True)

    def add_cells(self, cells: Iterable[str]) -> None:
        """Record that these cells are to be computed."""
        with self.store.transaction() as db:
            db.executemany("INSERT OR IGNORE INTO tasks (run, cell) VALUES (?, ?)", [(self.run, c) for c in cells])

    def claim(self, cell: str, over: str | None = None) -> bool:
        """Claim a cell; return True if it has no value, or the value ``over`` (as text), and no process works on it."""
        key = (self.run, cell)
        with self.store.transaction() as db:
            value = db.execute("SELECT value FROM cells WHERE run = ? AND cell = ?", key).fetchone()
            if value is not None and value[0] != over:
                return False
            task = db.execute("SELECT owner FROM tasks WHERE run = ? AND cell = ?", key).fetchone()
            if task is not None and _is_claimed(self.store, task[0]):
                return False
            self._claimed.add(cell)
            db.execute("INSERT OR REPLACE INTO tasks VALUES (?, ?, ?)", (*key, self.token))
        return True

    def finish(self, cell: str, value: Mapping[str, Any], array: npt.NDArray[Any] | None = None) -> bool:
        """Write the value of a claimed cell; return False, without writing, if another process has taken it over."""
        with self.store.transaction() as db:
            if db.execute(_RELEASE_QUERY, (self.run, cell, self.token)).rowcount == 0:
                return False
            db.execute("INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?, ?, ?)", cell_row(self.run, cell, value, array))
        self._claimed.discard(cell)
        return True

    def release(self) -> None:
        """Release every cell that was claimed and not finished, by name: a search of all tasks might not end."""
        with self.store.transaction() as db:
            db.executemany(_RELEASE_QUERY, [(self.run, cell, self.token) for cell in sorted(self._claimed)])
        self._claimed.clear()


def running(store: Store, run: str) -> dict[str, bool]:
    """Return all cells of a run that are to be computed, and whether a process works on each."""
    rows = store.rows("SELECT cell, owner FROM tasks WHERE run = ? ORDER BY cell", (run,))
    claimed = {owner: _is_claimed(store, owner) for owner in {owner for _, owner in rows}}
    return {cell: claimed[owner] for cell, owner in rows}


def _is_claimed(store: Store, token: str | None) -> bool:
    """Return whether a claimant holds its lock; a lock file of another user that cannot be read counts as held."""
    if not isinstance(token, str) or not TOKEN_PATTERN.fullmatch(token):
        return False
    try:
        descriptor = os.open(store.lock_prefix + token, os.O_RDONLY)
    except FileNotFoundError:
        return False
    except PermissionError:
        return True
    try:
        return not _lock(descriptor, shared=True)
    finally:
        os.close(descriptor)


def _lock(descriptor: int, *, shared: bool) -> bool:
    """Lock an open file without waiting; return False if another descriptor holds its lock."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


# A study in its journal: the recipe, the data sets and methods, and one result for each cell.
#
# ``Study`` writes it; the table and the states of the cells can be read without the data and methods.

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
        with Store(path, "path", read_only=True) as store:
            return not any(store.rows(f"SELECT run FROM {table} LIMIT 1") for table in ("runs", "cells"))
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
        self.store = Store(path, "path", read_only=recipe is None)
        try:
            stored = self.store.get(STUDY_ABOUT, "recipe")
            if stored is None and (recipe is None or self.store.rows("SELECT run FROM runs LIMIT 1")):
                hint = "Name the file of a study, or choose a new file."
                raise InputError(
                    "path", "must hold a study", f"the journal {str(self.store.path)!r} without a study", hint
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
        _check_same(self.recipe, recipe, "path", "must hold a study with the same settings", "start a new file")

    @property
    def recipe(self) -> dict[str, Any]:
        """The settings of all cells."""
        stored = self.store.get(STUDY_ABOUT, "recipe")
        with self._as_written():
            return {} if stored is None else {**stored[0]}

    @contextmanager
    def _as_written(self) -> Iterator[None]:
        """Raise errors from content that no study writes, which may come from anyone, as an error of the file."""
        try:
            yield
        except DrevalError:
            raise
        except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError) as error:
            received = f"{str(self.store.path)!r}, with other content ({' '.join(str(error).split())[:80]})"
            raise InputError("path", "must hold a study as dreval wrote it", received, _RESTORE_HINT) from error

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
        with self._as_written():
            parts = {name: json.loads(text) for name, text in self.store.texts(kind).items()}
            order = sorted(parts, key=lambda name: (int(parts[name]["place"]), name))
            return {name: {**parts[name]["about"]} for name in order}

    def claims(self) -> Claims:
        """Return the claims of this process on the cells."""
        return Claims(self.store, STUDY_CELLS)

    def results(self) -> dict[Cell, dict[str, Any]]:
        """Return the results by cell, ordered by data set, method, components and replicate."""
        with self._as_written():
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
        with self._as_written():
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
        with self._as_written():
            for cell, result in self.results().items():
                for note in map(Note.of_plain, result["notes"]):
                    notes.setdefault((cell.dataset, cell.method if note.scope == cell.method else ""), {})[note] = None
        rows = [{**dict(zip(NOTE_KEYS, key, strict=True)), "notes": (*unique,)} for key, unique in notes.items()]
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
        """Return one row for each cell: its keys, state, seconds, reason of a failure, warnings, and notes."""
        import pandas as pd

        results, claimed = self.results(), running(self.store, STUDY_CELLS)
        with self._as_written():
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
