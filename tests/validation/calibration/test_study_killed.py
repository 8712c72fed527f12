"""A study of 4 data sets, 5 methods and 5 seeds, killed repeatedly, and run by several processes at once."""

from __future__ import annotations

import random
import time
from collections import Counter
from pathlib import Path

import pytest
from pandas.testing import assert_frame_equal
from study_runs import Runs, call_of, calls_of, finish, kill

pytestmark = pytest.mark.calibration
SIZE = (4, 5, 5)
KILLS = 5


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Return the study without interruption."""
    runs = Runs(tmp_path_factory.mktemp("study") / "whole", *SIZE, 0.0)
    finish(runs.start())
    return runs


def test_the_undisturbed_study(whole: Runs) -> None:
    """One hundred cells, each called once; those of the method that fails half of the time have their reasons."""
    assert len(whole.calls()) == len(whole.stored()) == 100
    assert set(Counter(calls_of(whole.calls())).values()) == {1}
    assert 0 < whole.table()["note"].str.contains("half of the runs fail").sum() < 2 * 20


@pytest.mark.parametrize("seed", range(4))
def test_killed_five_times_and_resumed(whole: Runs, tmp_path: Path, seed: int) -> None:
    """After SIGKILL at five random moments no cell is lost, no stored cell is re-run, and the table is the same."""
    draw, runs = random.Random(seed), Runs(tmp_path / "killed", *SIZE, 0.01)
    for _ in range(KILLS):
        before = len(runs.calls())
        done, process = runs.stored(), runs.start()
        runs.wait_for_calls(before + draw.randint(1, 17), process)
        time.sleep(draw.uniform(0.0, 0.03))
        kill(process)
        assert process.returncode == -9
        assert not set(map(call_of, done)) & set(calls_of(runs.calls()[before:]))
    before, done = len(runs.calls()), runs.stored()
    assert 5 <= len(done) < 100
    finish(runs.start())

    called = Counter(calls_of(runs.calls()))
    assert not set(map(call_of, done)) & set(calls_of(runs.calls()[before:]))
    assert set(called) == set(map(call_of, whole.stored()))
    assert called.total() <= 100 + KILLS
    assert runs.stored() == whole.stored()
    assert_frame_equal(runs.table(), whole.table())


def test_two_processes_at_once(whole: Runs, tmp_path: Path) -> None:
    """Both work, every cell is called exactly once, and the table is the same."""
    runs = Runs(tmp_path / "two", *SIZE, 0.02)
    for process in [runs.start(together=2) for _ in range(2)]:
        finish(process)

    calls = runs.calls()
    assert set(Counter(calls_of(calls)).values()) == {1}
    assert len(calls) == 100
    assert min(Counter(pid for _, _, pid in calls).values()) >= 20
    assert_frame_equal(runs.table(), whole.table())


def test_three_processes_with_two_killed(whole: Runs, tmp_path: Path) -> None:
    """The remaining process takes over the cells of the killed ones; no stored cell is re-run."""
    runs = Runs(tmp_path / "three", *SIZE, 0.02)
    three = [runs.start(together=3) for _ in range(3)]
    for victim, calls in ((0, 20), (1, 45)):
        runs.wait_for_calls(calls, three[2])
        kill(three[victim])
    finish(three[2])

    called = Counter(calls_of(runs.calls()))
    assert set(called) == set(map(call_of, whole.stored()))
    assert called.total() <= 100 + 2
    assert_frame_equal(runs.table(), whole.table())
