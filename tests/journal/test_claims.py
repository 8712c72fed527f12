"""Claims on cells: one holder at a time, and those of a process that is gone are taken over."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dreval.journal import study as module
from dreval.journal.study import Claims, Store, running

CLAIMER = """
import os, sys
from dreval.journal.study import Claims, Store
with Store(sys.argv[1]) as store, Claims(store, "run") as claims:
    for i in range(60):
        if claims.claim(f"{i}"):
            claims.finish(f"{i}", {"by": os.getpid()})
            print(i)
"""
HOLDER = """
import sys, time
from dreval.journal.study import Claims, Store
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
        mine.add_cells(["a", "b"])
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


def test_a_claim_without_its_lock_file_is_taken_over(store: Store) -> None:
    """Whoever's file is not there, or not locked, is not at work; its late value is not written."""
    with Claims(store, "run") as mine, Claims(store, "run") as others:
        assert mine.claim("a")
        mine.lock_file.unlink()
        assert running(store, "run") == {"a": False}
        mine.lock_file.touch()
        assert running(store, "run") == {"a": False}
        assert others.claim("a")
        assert not mine.finish("a", {"late": True})
        assert others.finish("a", {"late": False})
    assert store.cells("run") == {"a": ({"late": False}, None)}


def test_lock_files_go_with_their_claimants(store: Store) -> None:
    """A claimant removes its own, and the next one that of a process that was killed, but none of one at work."""
    process = hold(store.path)
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()
    assert len(list(store.path.parent.glob("*-lock-*"))) == 1
    with Claims(store, "run") as mine, Claims(store, "run") as others:
        assert {*store.path.parent.glob("*-lock-*")} == {mine.lock_file, others.lock_file}
    assert list(store.path.parent.glob("*-lock-*")) == []


def test_links_lead_to_the_same_locks(store: Store, tmp_path: Path) -> None:
    """A journal that is opened by a symbolic link in another folder sees the claims of those who use its own name."""
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "link"
    link.symlink_to(store.path)
    with Store(link) as other, Claims(store, "run") as mine, Claims(other, "run") as others:
        assert mine.claim("a")
        assert not others.claim("a")


def test_a_lock_that_cannot_be_read_counts_as_held(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The claims of another user whose lock file may not be opened are kept."""
    with Claims(store, "run") as mine:
        assert mine.claim("a")

        def refuse(*_: object) -> int:
            raise PermissionError

        monkeypatch.setattr(module.os, "open", refuse)
        assert running(store, "run") == {"a": True}
