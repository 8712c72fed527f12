"""Claims on cells: one holder at a time, and claims of a process that ended can be taken over."""

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
    """Claim the cell "held" in a process."""
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "True\n"
    return process


def test_a_cell_has_one_holder_and_one_result(store: Store) -> None:
    """Claimed, released, claimed by another process, finished; then nobody can claim it."""
    with Claims(store, "run") as left:
        left.add_cells(["a", "b"])
        with Claims(store, "run") as right:
            assert left.claim("a")
            assert not right.claim("a")
            assert running(store, "run") == {"a": True, "b": False}
        assert right.claim("b")
        right.release()
        left.release()
        assert right.claim("a")
        assert not left.finish("a", {"u": 2.0})
        assert right.finish("a", {"u": 1.0})
        assert not left.claim("a")
    assert store.cells("run") == {"a": ({"u": 1.0}, None)}


def test_an_answer_may_be_claimed_over(store: Store) -> None:
    """Only exactly the text that was read can be claimed over, so that one of two processes succeeds."""
    with Claims(store, "run") as left, Claims(store, "run") as right:
        assert left.claim("a")
        assert left.finish("a", {"reason": "no luck", "attempt": 1})
        text = store.texts("run")["a"]
        assert not right.claim("a")
        assert right.claim("a", over=text)
        assert not left.claim("a", over=text)
        assert right.finish("a", {"reason": "no luck", "attempt": 2})
        assert not left.claim("a", over=text)
        assert store.cells("run")["a"][0]["attempt"] == 2


def test_four_processes_claim_every_cell_once(tmp_path: Path) -> None:
    """Each of sixty cells is finished by exactly one."""
    path = str(tmp_path / "cells")
    command = [sys.executable, "-c", CLAIMER, path]
    four = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    outputs = [process.communicate(timeout=120)[0].split() for process in four]

    assert [process.returncode for process in four] == [0] * 4
    assert sorted(int(i) for part in outputs for i in part) == list(range(60))


def test_a_killed_process_gives_its_claims_up_and_a_stopped_one_does_not(store: Store) -> None:
    """SIGSTOP changes nothing; SIGKILL frees the claims immediately, also before the parent process notices."""
    process = hold(store.path)
    with Claims(store, "run") as left:
        process.send_signal(signal.SIGSTOP)
        assert not left.claim("held")
        assert running(store, "run") == {"held": True}
        process.kill()
        until = time.monotonic() + 20
        while not left.claim("held"):
            assert time.monotonic() < until
        assert process.wait() == -signal.SIGKILL
        assert process.stdout is not None
        process.stdout.close()
        assert running(store, "run") == {"held": True}
    assert running(store, "run") == {"held": False}


def test_a_claim_without_its_lock_file_is_taken_over(store: Store) -> None:
    """A claimant whose file is missing, or not locked, does not count as working; its late value is not written."""
    with Claims(store, "run") as left, Claims(store, "run") as right:
        assert left.claim("a")
        left.lock_file.unlink()
        assert running(store, "run") == {"a": False}
        left.lock_file.touch()
        assert running(store, "run") == {"a": False}
        assert right.claim("a")
        assert not left.finish("a", {"late": True})
        assert right.finish("a", {"late": False})
    assert store.cells("run") == {"a": ({"late": False}, None)}


def test_lock_files_go_with_their_claimants(store: Store) -> None:
    """A claimant removes its lock file, and the next one that of a killed process, but not that of a working one."""
    process = hold(store.path)
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()
    assert len(list(store.path.parent.glob("*-lock-*"))) == 1
    with Claims(store, "run") as left, Claims(store, "run") as right:
        assert {*store.path.parent.glob("*-lock-*")} == {left.lock_file, right.lock_file}
    assert list(store.path.parent.glob("*-lock-*")) == []


def test_links_lead_to_the_same_locks(store: Store, tmp_path: Path) -> None:
    """A journal that is opened by a symbolic link shares the claims of processes that use its name."""
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "link"
    link.symlink_to(store.path)
    with Store(link) as linked, Claims(store, "run") as left, Claims(linked, "run") as right:
        assert left.claim("a")
        assert not right.claim("a")


def test_a_lock_that_cannot_be_read_counts_as_held(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The claims of another user whose lock file may not be opened are kept."""
    with Claims(store, "run") as left:
        assert left.claim("a")

        def refuse(*_: object) -> int:
            raise PermissionError

        monkeypatch.setattr(module.os, "open", refuse)
        assert running(store, "run") == {"a": True}
