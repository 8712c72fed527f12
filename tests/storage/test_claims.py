"""Claims on cells: one holder at a time, and leases that a process no longer renews can be taken over."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from dreval.storage import store as module
from dreval.storage.store import Claims, Store

CLAIMER = """
import os, sys
from dreval.storage.store import Claims, Store
with Store(sys.argv[1]) as store, Claims(store, "run") as claims:
    for i in range(60):
        if claims.claim(f"{i}"):
            claims.finish(f"{i}", {"by": os.getpid()})
            print(i)
"""
HOLDER = """
import sys, time
from dreval.storage import store as module
from dreval.storage.store import Claims, Store
module.LEASE_SECONDS, module.RENEWAL_SECONDS = map(float, sys.argv[2:])
with Store(sys.argv[1]) as store, Claims(store, "run") as claims:
    print(claims.claim("held"), flush=True)
    time.sleep(600)
"""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An open journal."""
    with Store(tmp_path / "cells") as store:
        yield store


def hold(path: Path, lease: float, renewal: float) -> subprocess.Popen[str]:
    """Claim the cell "held" in a process."""
    arguments = [str(path), str(lease), str(renewal)]
    process = subprocess.Popen([sys.executable, "-c", HOLDER, *arguments], stdout=subprocess.PIPE, text=True)
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
            assert store.running("run") == {"a": True, "b": False}
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


def end(process: subprocess.Popen[str]) -> None:
    """Wait for a process that was killed."""
    assert process.wait() == -signal.SIGKILL
    assert process.stdout is not None
    process.stdout.close()


@pytest.mark.slow
def test_a_killed_process_loses_its_claims_when_they_expire(store: Store) -> None:
    """They are valid while it works, longer than one lease, and for at most one lease after SIGKILL."""
    process = hold(store.path, lease=3.0, renewal=0.2)
    with Claims(store, "run") as claims:
        until = time.monotonic() + 4.0
        while time.monotonic() < until:
            assert not claims.claim("held")
            assert store.running("run") == {"held": True}
            time.sleep(0.1)
        process.kill()
        killed = time.monotonic()
        while not claims.claim("held"):
            assert time.monotonic() < killed + 20
            time.sleep(0.05)
        assert time.monotonic() > killed + 1.5
        end(process)
        assert store.running("run") == {"held": True}
    assert store.running("run") == {"held": False}


@pytest.mark.slow
def test_a_lease_is_waited_for_unless_its_process_renews_it(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wait ends with the next renewal of a working process, or with the lease of a killed one."""
    monkeypatch.setattr(module, "RENEWAL_SECONDS", 0.2)
    process = hold(store.path, lease=3.0, renewal=0.2)
    with Claims(store, "run") as claims:
        assert not claims.wait_for_others(["held", "free"])
        assert not claims.claim("held")
        process.kill()
        end(process)
        assert claims.wait_for_others(["held"])
        assert claims.claim("held")


def test_an_expired_claim_is_taken_over(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its late value is not written, and a renewal of the first owner does not take the cell back."""
    with Claims(store, "run") as left, Claims(store, "run") as right:
        monkeypatch.setattr(module, "LEASE_SECONDS", -1.0)
        assert left.claim("a")
        assert store.running("run") == {"a": False}
        monkeypatch.undo()
        assert right.claim("a")
        left.renew()
        assert not left.finish("a", {"late": True})
        assert right.finish("a", {"late": False})
    assert store.cells("run") == {"a": ({"late": False}, None)}


def clock(seconds: float) -> SimpleNamespace:
    """Return a clock that is ahead by some seconds."""
    return SimpleNamespace(time=lambda: time.time() + seconds)


def test_a_renewal_extends_the_claims_that_are_not_finished(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A finished or released cell has no lease."""
    with Claims(store, "run") as claims:
        assert all(map(claims.claim, "ab"))
        claims.finish("a", {})
        monkeypatch.setattr(module, "time", clock(50.0))
        claims.renew()
        monkeypatch.setattr(module, "time", clock(100.0))
        assert store.running("run") == {"a": False, "b": True}
        claims.release()
        assert store.running("run") == {"a": False, "b": False}


@pytest.mark.parametrize("expires", [1e300, float("inf"), "9" * 30, b"x", None])
def test_a_lease_that_dreval_does_not_write_is_not_valid(store: Store, expires: object) -> None:
    """A forged lease cannot keep a cell forever."""
    with Claims(store, "run") as claims:
        with store._transaction() as db:
            db.execute("INSERT INTO tasks VALUES ('run', 'a', 'somebody', ?)", (expires,))
        assert store.running("run") == {"a": False}
        assert claims.claim("a")


def test_claims_leave_no_file_and_no_thread(store: Store) -> None:
    """Leases are rows of the journal; the thread that renews them ends with the claims."""
    before = {*store.path.parent.iterdir()}
    with Claims(store, "run") as claims:
        assert claims.claim("a")
        assert {*store.path.parent.iterdir()} == before
        assert claims._thread.is_alive()
    assert not claims._thread.is_alive()


def test_links_lead_to_the_same_claims(store: Store, tmp_path: Path) -> None:
    """A journal that is opened by a symbolic link shares the claims of processes that use its name."""
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "link"
    link.symlink_to(store.path)
    with Store(link) as linked, Claims(store, "run") as left, Claims(linked, "run") as right:
        assert left.claim("a")
        assert not right.claim("a")
