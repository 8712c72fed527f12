"""The store of finished work: one SQLite file of finished cells, and the leases of processes on cells in progress."""

from __future__ import annotations

import hashlib
import io
import json
import os
import secrets
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from threading import Event, RLock, Thread
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from dreval._check import check_path, describe, read_npy
from dreval.errors import DrevalError, InputError, MissingFile

FORMAT = 1
WAIT_SECONDS = 60.0  # longest wait for another process that writes
LEASE_SECONDS = 60.0  # after its last renewal, the cells of a process that has ended can be claimed by others
RENEWAL_SECONDS = 5.0  # between two renewals; compiled code that blocks all threads may delay one
BUSY_CODES = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
DISK_FULL_CODES = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}
_TABLES = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS runs (run TEXT PRIMARY KEY, key TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS cells (
    run TEXT NOT NULL, cell TEXT NOT NULL, value TEXT NOT NULL, value_sha256 TEXT NOT NULL,
    array BLOB, array_sha256 TEXT, PRIMARY KEY (run, cell)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS tasks (
    run TEXT NOT NULL, cell TEXT NOT NULL, owner TEXT, expires REAL, PRIMARY KEY (run, cell)
) WITHOUT ROWID;
"""

_ANALYZE_TABLES = """
CREATE TABLE sqlite_stat1(tbl,idx,stat);
CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample);
"""  # tables that ANALYZE of SQLite adds
_SCHEMA_QUERY = "SELECT type, name, tbl_name, sql FROM sqlite_master"
_MIN_ANSWER_BYTES = 1 << 20  # bytes that any query may return, whatever the size of the file
_RELEASE_QUERY = "UPDATE tasks SET owner = NULL, expires = NULL WHERE run = ? AND cell = ? AND owner = ?"
_LEASE_QUERY = "SELECT owner, expires FROM tasks WHERE run = ? AND cell = ?"
_RENEW_QUERY = "UPDATE tasks SET expires = ? WHERE run = ? AND cell = ? AND owner = ?"
_VALUE_COLUMNS = "value, value_sha256"
_ARRAY_COLUMNS = "array, array_sha256"
_RESTORE_HINT = "Copy the file back from a backup, or start a new one."
_CONTENT_ERRORS = (
    ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError, MemoryError, EOFError, OSError,
    SyntaxError,
)  # fmt: skip
StoredCell = tuple[dict[str, Any], npt.NDArray[Any] | None]


def key_hash(key: Mapping[str, Any]) -> str:
    """Return the hash of a key; the order of its entries does not matter.

    Examples
    --------
    >>> key_hash({"n": 3, "method": "pca"}) == key_hash({"method": "pca", "n": 3}) != key_hash({"n": 4})
    True
    """
    return hashlib.sha256(_to_json(key).encode()).hexdigest()


class Store:
    """Finished cells by run and name; each is written when it is finished, so that killing the process loses none.

    A run is identified by its key (``dreval.storage.keys.work_key``), a cell by its name in the run. Several processes
    may read and write the same file: readers never wait, writers wait for each other. A value is JSON, with all digits,
    and at most one array; nothing in the file can run code. ``Claims`` divide the cells of a run among processes.

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
    ...     with Store(pathlib.Path(folder) / "cells.journal") as store:
    ...         run = store.open_run({"method": "pca", "n": 3})
    ...         store.put(run, "1,2", {"u": 0.1})
    ...         print(store.cells(run))
    {'1,2': ({'u': 0.1}, None)}
    """

    def __init__(self, path: str | Path, argument: str = "journal", *, read_only: bool = False) -> None:
        self.path = check_path(path, argument)
        self._argument, self._lock = argument, RLock()
        if read_only and not self.path.is_file():
            hint = "Check the name; running the study creates the file."
            raise MissingFile(argument, "must be an existing file", repr(str(self.path)), hint)
        if not self.path.parent.is_dir():
            hint = "Create the folder, or choose another one."
            raise InputError(argument, "must be in an existing folder", repr(str(self.path)), hint)
        with self._path_errors(), ExitStack() as stack:
            name = _read_uri(self.path.resolve()) if read_only else str(self.path)
            options: dict[str, Any] = {"timeout": WAIT_SECONDS, "isolation_level": None, "check_same_thread": False}
            # all threads use it, under the lock
            self._db: sqlite3.Connection = sqlite3.connect(name, uri=read_only, **options)
            stack.callback(self._db.close)  # only after an error
            self._check_format(read_only)
            stack.pop_all()

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

    def _check_format(self, read_only: bool) -> None:
        """Create the tables of a new file in one transaction; raise for other databases and formats.

        A database may hold views, triggers and computed columns in addition to tables or in place of them, of any size,
        even endless, under any name: all its definitions are compared with those of a journal.
        """
        self._rows("PRAGMA trusted_schema=OFF")
        expected, optional = _journal_schema()
        definitions = _definitions(self._rows(_SCHEMA_QUERY))
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
        formats = [value for (value,) in self._rows("SELECT value FROM about WHERE name = 'format'")]
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
    def _transaction(self) -> Iterator[sqlite3.Connection]:
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

    def _rows(self, query: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
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

    @property
    def is_empty(self) -> bool:
        """Whether the file has neither runs nor cells."""
        return not any(self._rows(f"SELECT run FROM {table} LIMIT 1") for table in ("runs", "cells"))

    def open_run(self, key: Mapping[str, Any]) -> str:
        """Return the name of the run with a key, its hash; the key is written to the file for readers."""
        run = key_hash(key)
        self._rows("INSERT OR IGNORE INTO runs VALUES (?, ?)", (run, _to_json(key)))
        return run

    def put(
        self, run: str, cell: str, value: Mapping[str, Any] | None = None, array: npt.NDArray[Any] | None = None
    ) -> None:
        """Write one finished cell; an existing value is kept."""
        self._rows("INSERT OR IGNORE INTO cells VALUES (?, ?, ?, ?, ?, ?)", cell_row(run, cell, value or {}, array))

    def get(self, run: str, cell: str) -> StoredCell | None:
        """Return one finished cell, or None."""
        query = f"SELECT {_VALUE_COLUMNS}, {_ARRAY_COLUMNS} FROM cells WHERE run = ? AND cell = ?"
        rows = self._rows(query, (run, cell))
        return self._cell((run, cell), *rows[0]) if rows else None

    def cells(self, run: str) -> dict[str, StoredCell]:
        """Return all finished cells of a run, by name."""
        rows = self._rows(
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
        rows = self._rows(f"SELECT cell, {_VALUE_COLUMNS} FROM cells WHERE run = ? ORDER BY cell", (run,))
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

    def running(self, run: str) -> dict[str, bool]:
        """Return all cells of a run that are to be computed, and whether a process has a valid lease on each."""
        rows = self._rows("SELECT cell, owner, expires FROM tasks WHERE run = ? ORDER BY cell", (run,))
        return {cell: _is_valid(owner, expires) for cell, owner, expires in rows}

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
    """The leases of this process on cells of one run; leaving ``with`` releases the cells that are not finished.

    A lease is an owner and a time in the table of tasks. A thread renews the leases of its process every
    ``RENEWAL_SECONDS``. A killed process renews none, and ``LEASE_SECONDS`` after its last renewal others can claim its
    cells. A process that was suspended for longer may go on with a cell that another process has claimed since; only
    the last owner of a lease writes the value.

    Parameters
    ----------
    store : Store
        The journal.
    run : str
        The run whose cells are claimed.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder, Store(pathlib.Path(folder) / "cells.journal") as store:
    ...     with Claims(store, "run") as left, Claims(store, "run") as right:
    ...         left.add_cells(["a", "b"])
    ...         print(left.claim("a"), right.claim("a"), right.claim("b"))
    ...         print(left.finish("a", {"u": 0.1}), store.get("run", "a"), left.claim("a"))
    True False True
    True ({'u': 0.1}, None) False
    """

    def __init__(self, store: Store, run: str) -> None:
        self.store, self.run, self.owner = store, run, secrets.token_hex(8)
        self._cells: set[str] = set()
        self._closed = Event()
        self._thread = Thread(target=self._renew_until_closed, name="dreval-leases", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closed.set()
        self._thread.join()
        self.release()

    def _renew_until_closed(self) -> None:
        """Renew the leases at intervals; a renewal that fails, as on a full disk, is tried again at the next one."""
        while not self._closed.wait(RENEWAL_SECONDS):
            with suppress(InputError):
                self.renew()

    def add_cells(self, cells: Iterable[str]) -> None:
        """Record that these cells are to be computed."""
        with self.store._transaction() as db:
            db.executemany("INSERT OR IGNORE INTO tasks (run, cell) VALUES (?, ?)", [(self.run, c) for c in cells])

    def claim(self, cell: str, over: str | None = None) -> bool:
        """Claim a cell; return True if it has no value, or the value ``over`` (as text), and no valid lease."""
        with self.store._transaction() as db:
            value = db.execute("SELECT value FROM cells WHERE run = ? AND cell = ?", (self.run, cell)).fetchone()
            if value is not None and value[0] != over:
                return False
            lease = db.execute(_LEASE_QUERY, (self.run, cell)).fetchone()
            if lease is not None and _is_valid(*lease):
                return False
            self._cells.add(cell)
            new_lease = (self.run, cell, self.owner, time.time() + LEASE_SECONDS)
            db.execute("INSERT OR REPLACE INTO tasks VALUES (?, ?, ?, ?)", new_lease)
        return True

    def renew(self) -> None:
        """Extend the lease of every cell that is claimed and not finished."""
        with self.store._transaction() as db:
            expires = time.time() + LEASE_SECONDS
            db.executemany(_RENEW_QUERY, [(expires, self.run, cell, self.owner) for cell in sorted(self._cells)])

    def finish(self, cell: str, value: Mapping[str, Any], array: npt.NDArray[Any] | None = None) -> bool:
        """Write the value of a claimed cell; return False, without writing, if another process has claimed it since."""
        with self.store._transaction() as db:
            if db.execute(_RELEASE_QUERY, (self.run, cell, self.owner)).rowcount == 0:
                return False
            db.execute("INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?, ?, ?)", cell_row(self.run, cell, value, array))
        self._cells.discard(cell)
        return True

    def release(self) -> None:
        """Release every cell that was claimed and not finished, by name: a search of all tasks might not end."""
        with self.store._transaction() as db:
            db.executemany(_RELEASE_QUERY, [(self.run, cell, self.owner) for cell in sorted(self._cells)])
        self._cells.clear()

    def wait_for_others(self, cells: Iterable[str]) -> bool:
        """Wait until a lease of another process on one of the cells has ended, and return True.

        Return False, without waiting longer, if every lease has been renewed, so that all of the processes are alive.
        """
        leases = self._valid_leases(cells)
        while leases:
            time.sleep(RENEWAL_SECONDS / 10)
            current = self._valid_leases(leases)
            if len(current) < len(leases):
                return True
            leases = {cell: lease for cell, lease in leases.items() if current[cell] == lease}
        return False

    def _valid_leases(self, cells: Iterable[str]) -> dict[str, tuple[Any, ...]]:
        """Return the owner and the time of the lease of each cell that has a valid one."""
        leases = {cell: self.store._rows(_LEASE_QUERY, (self.run, cell)) for cell in cells}
        return {cell: rows[0] for cell, rows in leases.items() if rows and _is_valid(*rows[0])}


def _is_valid(owner: Any, expires: Any) -> bool:
    """Return whether a lease is valid now; one that ends later than any that dreval writes is not."""
    now = time.time()
    return isinstance(owner, str) and isinstance(expires, float) and now < expires < now + 2 * LEASE_SECONDS
