"""Who is at work on which cell: several processes share one journal, and none does what another one is doing.

A process claims a cell before it computes it. A claim of a process that is gone is taken over: on the same machine
this is known from the process itself (its number and the time of its start), elsewhere (another container, another
system) from its heart, which beats into the file. A process that is merely slow or stopped keeps its claims.
"""

from __future__ import annotations

import os
import platform
import secrets
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Event, Thread
from types import TracebackType
from typing import Any, Self

import numpy.typing as npt

from dreval.journal.store import Store, cell_row

__all__ = ["BEAT_SECONDS", "LEASE_SECONDS", "Claims", "Owner", "running"]

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
