"""Claims on cells: one holder at a time, and those of a process that is gone are taken over."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dreval.journal import store as module
from dreval.journal.store import BEAT_SECONDS, LEASE_SECONDS, Claims, Owner, Store, running

CLAIMER = """
import sys
from dreval.journal.store import Claims
from dreval.journal.store import Store
with Store(sys.argv[1]) as store, Claims(store, "run") as claims:
    for i in range(60):
        if claims.claim(f"{i}"):
            claims.finish(f"{i}", {"by": claims.owner.pid})
            print(i)
"""
HOLDER = """
import sys, time
from dreval.journal.store import Claims
from dreval.journal.store import Store
with Store(sys.argv[1]) as store, Claims(store, "run") as claims:
    print(claims.claim("held"), flush=True)
    time.sleep(600)
"""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An open journal."""
    with Store(tmp_path / "cells") as store:
        yield store


def hold(path: Path) -> subprocess.Popen[str]:
    """A process that holds the cell "held"."""
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "True\n"
    return process


def test_a_cell_has_one_holder_and_one_answer(store: Store) -> None:
    """Claimed, released, claimed by another one, finished; then it is nobody's any more."""
    with Claims(store, "run") as mine:
        mine.ask(["a", "b"])
        with Claims(store, "run") as others:
            assert mine.claim("a")
            assert not others.claim("a")
            assert running(store, "run") == {"a": True, "b": False}
        assert others.claim("b")
        others.release()
        mine.release()
        assert others.claim("a")
        assert not mine.finish("a", {"u": 2.0})
        assert others.finish("a", {"u": 1.0})
        assert not mine.claim("a")
    assert store.cells("run") == {"a": ({"u": 1.0}, None)}


def test_an_answer_may_be_claimed_over(store: Store) -> None:
    """Only the very answer that was seen, so that of two who try again one does."""
    with Claims(store, "run") as mine, Claims(store, "run") as others:
        assert mine.claim("a")
        assert mine.finish("a", {"reason": "no luck", "attempt": 1})
        seen = store.texts("run")["a"]
        assert not others.claim("a")
        assert others.claim("a", over=seen)
        assert not mine.claim("a", over=seen)
        assert others.finish("a", {"reason": "no luck", "attempt": 2})
        assert not mine.claim("a", over=seen)
        assert store.cells("run")["a"][0]["attempt"] == 2


def test_four_processes_claim_every_cell_once(tmp_path: Path) -> None:
    """Each of sixty cells is finished by exactly one."""
    path = str(tmp_path / "cells")
    command = [sys.executable, "-c", CLAIMER, path]
    four = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    said = [process.communicate(timeout=120)[0].split() for process in four]

    assert [process.returncode for process in four] == [0] * 4
    assert sorted(int(i) for part in said for i in part) == list(range(60))


def test_a_killed_process_gives_its_claims_up_and_a_stopped_one_does_not(store: Store) -> None:
    """SIGSTOP changes nothing; SIGKILL at once, also before its parent has looked."""
    process = hold(store.path)
    with Claims(store, "run") as mine:
        process.send_signal(signal.SIGSTOP)
        assert not mine.claim("held")
        assert running(store, "run") == {"held": True}
        process.kill()
        until = time.monotonic() + 20
        while not mine.claim("held"):
            assert time.monotonic() < until
        assert process.wait() == -signal.SIGKILL
        assert process.stdout is not None
        process.stdout.close()
        assert running(store, "run") == {"held": True}
    assert running(store, "run") == {"held": False}


def test_who_is_gone() -> None:
    """On this machine the process itself tells; elsewhere its last beat."""
    now, me = time.time(), Owner.here()
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()

    assert not me.is_gone(0.0, now)
    assert replace(me, born="1").is_gone(now, now)  # the number of the process has been given to another one
    assert replace(me, pid=child.pid).is_gone(now, now)
    elsewhere = replace(me, host="elsewhere", pid=child.pid)
    assert not elsewhere.is_gone(now - LEASE_SECONDS + 1, now)
    assert elsewhere.is_gone(now - LEASE_SECONDS - 1, now)
    assert 5 * BEAT_SECONDS < LEASE_SECONDS


def test_where_the_system_shows_no_processes_a_signal_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that is not there is gone; of one that is there, whoever it is, the beat decides."""
    monkeypatch.setattr(module, "Path", lambda _: Path("/nowhere"))
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    now, me = time.time(), Owner.here()

    assert me.born == ""
    assert replace(me, pid=child.pid).is_gone(now, now)
    assert not me.is_gone(now, now)
    assert me.is_gone(0.0, now)
    monkeypatch.setattr(os, "kill", lambda *_: (_ for _ in ()).throw(PermissionError))
    assert not replace(me, pid=child.pid).is_gone(now, now)


def test_the_heart_beats(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """While cells are held the time of the last beat moves on."""
    monkeypatch.setattr(module, "BEAT_SECONDS", 0.01)
    with Claims(store, "run") as mine:
        assert mine.claim("a")
        store.rows("UPDATE tasks SET beat = 0")
        until = time.monotonic() + 20
        while store.rows("SELECT beat FROM tasks") == [(0.0,)]:
            assert time.monotonic() < until
            time.sleep(0.005)
    assert abs(store.rows("SELECT beat FROM tasks")[0][0] - time.time()) < 60
