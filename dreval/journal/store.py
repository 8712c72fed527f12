"""The one store of finished work (SQLite), and the claims of processes on its cells."""

from __future__ import annotations

import hashlib
import io
import json
import os
import platform
import secrets
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Event, RLock, Thread
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from dreval._check import check_path
from dreval.errors import InputError

__all__ = [
    "BEAT_SECONDS",
    "LEASE_SECONDS",
    "Cell",
    "Claims",
    "Owner",
    "Store",
    "cell_key",
    "cell_row",
    "is_journal",
    "running",
]

FORMAT = 1
WAIT_SECONDS = 60.0  # how long one process waits for another one that writes
BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_MAGIC = b"SQLite format 3\0"
_TABLES = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS runs (run TEXT PRIMARY KEY, recipe TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS cells (
    run TEXT NOT NULL, cell TEXT NOT NULL, value TEXT NOT NULL, array BLOB, PRIMARY KEY (run, cell)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS tasks (
    run TEXT NOT NULL, cell TEXT NOT NULL, owner TEXT, host TEXT, pid INTEGER, born TEXT, beat REAL,
    PRIMARY KEY (run, cell)
) WITHOUT ROWID;
"""

Cell = tuple[dict[str, Any], npt.NDArray[Any] | None]


def is_journal(path: str | Path) -> bool:
    """Whether a file is a journal by its first bytes."""
    path = Path(path)
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


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
    argument : str
        How errors call the path.
    read_only : bool
        Nothing is written, and a file that is not there is refused.

    Raises
    ------
    InputError
        If the file is no journal, was made by a later version, or cannot be written.

    Notes
    -----
    Write-ahead logging: beside the file lie ``-wal`` and ``-shm`` while it is open. It must lie on a local disk.
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
            cure = "Check the name; a file is made by running."
            raise InputError(argument, "must be an existing file", repr(str(self.path)), cure)
        if not self.path.parent.is_dir():
            cure = "Make the folder first, or choose another one."
            raise InputError(argument, "must lie in a folder that is there", repr(str(self.path)), cure)
        with self._refused(), ExitStack() as stack:
            self._db = self._connect(read_only)
            stack.callback(self._db.close)  # unless all goes well
            self._check_format(read_only)
            stack.pop_all()

    @contextmanager
    def _refused(self) -> Iterator[None]:
        """What SQLite says against the file, as a refusal of the file."""
        try:
            yield
        except sqlite3.Error as error:
            rule = "must be a file that dreval can use as a journal"
            raise InputError(self._argument, rule, f"{str(self.path)!r} ({error})", "Choose a new file.") from error

    def _connect(self, read_only: bool) -> sqlite3.Connection:
        """The open file; a lock makes it safe for threads, of which SQLite itself allows one."""
        name = _reading(self.path.resolve()) if read_only else str(self.path)
        options: dict[str, Any] = {"timeout": WAIT_SECONDS, "isolation_level": None, "check_same_thread": False}
        db: sqlite3.Connection = sqlite3.connect(name, uri=read_only, **options)
        return db

    def _check_format(self, read_only: bool) -> None:
        """Make the tables of a new file, all or none; refuse other databases, and those of a later version."""
        tables = [name for (name,) in self.rows("SELECT name FROM sqlite_master WHERE type = 'table'")]
        if "about" not in tables and (tables or read_only):
            got = f"{str(self.path)!r}, {'another database' if tables else 'which is empty'}"
            raise InputError(self._argument, "must be a journal of dreval", got, "Choose a new file.")
        if not read_only:
            self._write_ahead()
            begun = f"INSERT OR IGNORE INTO about VALUES ('format', '{FORMAT}')"
            self._db.executescript(f"BEGIN IMMEDIATE; {_TABLES} {begun}; COMMIT;")
        found = self.rows("SELECT value FROM about WHERE name = 'format'")[0][0]
        if found != str(FORMAT):
            rule = f"must have been made with format {FORMAT}"
            raise InputError(self._argument, rule, f"format {found}", "Choose a new file, or update dreval.")

    def _write_ahead(self) -> None:
        """Switch to write-ahead logging; for this SQLite itself does not wait where another process is at it."""
        until = time.monotonic() + WAIT_SECONDS
        while True:
            try:
                self._db.execute("PRAGMA journal_mode=WAL")
                break
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF not in BUSY or time.monotonic() > until:
                    raise
                time.sleep(0.01)
        self._db.execute("PRAGMA synchronous=NORMAL")

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All that is written within is written at once, or not at all; other processes wait."""
        with self._lock, self._refused():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def rows(self, query: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        with self._lock, self._refused(), closing(self._db.execute(query, values)) as rows:
            return rows.fetchall()

    def open_run(self, recipe: Mapping[str, Any]) -> str:
        """The key of a run; its recipe is kept in the file, to be read by people."""
        run = cell_key(recipe)
        self.rows("INSERT OR IGNORE INTO runs VALUES (?, ?)", (run, _text(recipe)))
        return run

    def put(
        self, run: str, cell: str, value: Mapping[str, Any] | None = None, array: npt.NDArray[Any] | None = None
    ) -> None:
        """Write one finished cell; what was there before stays, so that the first answer is the answer."""
        self.rows("INSERT OR IGNORE INTO cells VALUES (?, ?, ?, ?)", cell_row(run, cell, value or {}, array))

    def get(self, run: str, cell: str) -> Cell | None:
        """One finished cell, or None."""
        rows = self.rows("SELECT value, array FROM cells WHERE run = ? AND cell = ?", (run, cell))
        return _cell(*rows[0]) if rows else None

    def cells(self, run: str) -> dict[str, Cell]:
        """All finished cells of a run, by name."""
        rows = self.rows("SELECT cell, value, array FROM cells WHERE run = ? ORDER BY cell", (run,))
        return {cell: _cell(value, blob) for cell, value, blob in rows}

    def texts(self, run: str) -> dict[str, str]:
        """The values of all finished cells as they are written in the file, without their arrays."""
        return dict(self.rows("SELECT cell, value FROM cells WHERE run = ? ORDER BY cell", (run,)))

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


def _reading(path: Path) -> str:
    """How SQLite opens a file to be read: who may write tidies up on closing, and a log beside the file is read too."""
    if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
        return f"{path.as_uri()}?mode=rw"
    log = path.with_name(f"{path.name}-wal")
    return f"{path.as_uri()}?mode=ro" + ("" if log.exists() else "&immutable=1")


def cell_row(
    run: str, cell: str, value: Mapping[str, Any], array: npt.NDArray[Any] | None
) -> tuple[str, str, str, bytes | None]:
    """A cell as the file has it: its value as JSON, its array in numpy's own format."""
    if array is None:
        return run, cell, _text(value), None
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return run, cell, _text(value), buffer.getvalue()


def _text(value: Mapping[str, Any]) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _cell(value: str, blob: bytes | None) -> Cell:
    array = None if blob is None else np.load(io.BytesIO(blob), allow_pickle=False)
    return json.loads(value), array


BEAT_SECONDS = 10.0
LEASE_SECONDS = 120.0  # a claim from where processes cannot be seen holds so long after the last beat
_DEAD_STATES = ("Z", "X", "x")  # ended, though its parent has not yet asked how


@dataclass(frozen=True)
class Owner:
    """Who holds a claim.

    Attributes
    ----------
    token : str
        A name that no other has.
    host : str
        The machine since its last start, with the space that numbers its processes.
    pid : int
        Number of the process.
    born : str
        When the process was started, in ticks of that machine; empty where this is not known.
    """

    token: str
    host: str
    pid: int
    born: str

    @classmethod
    def here(cls) -> Owner:
        """The process that asks."""
        pid = os.getpid()
        return cls(secrets.token_hex(8), _host(), pid, _born(pid) or "")

    def is_gone(self, beat: float, now: float) -> bool:
        """Whether its process is known to be gone, or has not been heard of for longer than the lease."""
        if self.host == _host():
            alive = _is_alive(self.pid, self.born)
            if alive is not None:
                return not alive
        return now - beat > LEASE_SECONDS


@cache
def _host() -> str:
    """Name and last start of this machine, and the space in which process numbers count."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        return f"{platform.node()} {boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return platform.node()


def _born(pid: int) -> str | None:
    """When a process was started, empty where the system does not tell; None for one that has ended."""
    try:
        state, *rest = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except (OSError, ValueError):
        return _unseen(pid)
    return None if state in _DEAD_STATES else rest[18]


def _unseen(pid: int) -> str | None:
    """The same of a process that the system does not show; asking by a signal is safe on POSIX systems only."""
    if os.name != "posix":
        return ""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:  # it runs, and belongs to somebody else
        return ""
    return ""


def _is_alive(pid: int, born: str) -> bool | None:
    """Whether that very process of this machine runs; None where this cannot be known."""
    now = _born(pid)
    if now is None:
        return False
    return now == born if now and born else None


class Claims:
    """The claims of this process on the cells of one run; within ``with`` its heart beats.

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
    ...     with Claims(store, "run") as mine, Claims(store, "run") as others:
    ...         mine.ask(["a", "b"])
    ...         print(mine.claim("a"), others.claim("a"), others.claim("b"))
    ...         print(mine.finish("a", {"u": 0.1}), store.get("run", "a"), mine.claim("a"))
    True False True
    True ({'u': 0.1}, None) False
    """

    def __init__(self, store: Store, run: str) -> None:
        self.store, self.run, self.owner = store, run, Owner.here()
        self._stop = Event()
        self._heart = Thread(target=self._beat, name="dreval claims", daemon=True)

    def ask(self, cells: Iterable[str]) -> None:
        """Write down that these cells are to be computed."""
        with self.store.transaction() as db:
            db.executemany("INSERT OR IGNORE INTO tasks (run, cell) VALUES (?, ?)", [(self.run, c) for c in cells])

    def claim(self, cell: str, over: str | None = None) -> bool:
        """Take a cell: True where it has no answer, or the answer ``over`` (as written), and nobody else is at it."""
        place, me = (self.run, cell), self.owner
        with self.store.transaction() as db:
            known = db.execute("SELECT value FROM cells WHERE run = ? AND cell = ?", place).fetchone()
            if known is not None and known[0] != over:
                return False
            held = db.execute(f"SELECT {_HELD} FROM tasks WHERE run = ? AND cell = ?", place).fetchone()
            if held is not None and _is_held(held):
                return False
            row = (*place, me.token, me.host, me.pid, me.born, time.time())
            db.execute("INSERT OR REPLACE INTO tasks VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        return True

    def finish(self, cell: str, value: Mapping[str, Any], array: npt.NDArray[Any] | None = None) -> bool:
        """Write the answer of a claimed cell; False, and nothing is written, where the claim has been taken over."""
        with self.store.transaction() as db:
            query = "UPDATE tasks SET owner = NULL WHERE run = ? AND cell = ? AND owner = ?"
            if db.execute(query, (self.run, cell, self.owner.token)).rowcount == 0:
                return False
            db.execute("INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?)", cell_row(self.run, cell, value, array))
        return True

    def release(self) -> None:
        """Give back every cell that was claimed and not finished."""
        self.store.rows("UPDATE tasks SET owner = NULL WHERE owner = ?", (self.owner.token,))

    def _beat(self) -> None:
        while not self._stop.wait(BEAT_SECONDS):
            self.store.rows("UPDATE tasks SET beat = ? WHERE owner = ?", (time.time(), self.owner.token))

    def __enter__(self) -> Self:
        self._heart.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._heart.join()
        self.release()


_HELD = "owner, host, pid, born, beat"


def _is_held(row: tuple[Any, ...]) -> bool:
    """Whether the holder of a task is at work."""
    token, host, pid, born, beat = row
    return token is not None and not Owner(token, host, pid, born).is_gone(beat, time.time())


def running(store: Store, run: str) -> dict[str, bool]:
    """All cells that were asked for, and whether somebody is at work on each."""
    rows = store.rows(f"SELECT cell, {_HELD} FROM tasks WHERE run = ? ORDER BY cell", (run,))
    alive: dict[tuple[Any, ...], bool] = {}
    return {cell: alive.setdefault(held, _is_held(held)) for cell, *rest in rows if (held := tuple(rest))}
