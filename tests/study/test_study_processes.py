"""Several processes on one study, and processes that are killed: every cell is computed once.

The size of the claim is that of ``tests/validation/calibration/test_study_killed.py``; here it is small.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from pandas.testing import assert_frame_equal
from study_runs import Runs, call_of, calls_of, finish, kill

SIZE = (2, 3, 3)


@pytest.mark.slow
def test_a_killed_process_is_replaced_by_another(tmp_path: Path) -> None:
    """One run is killed; of two that continue together one is killed; the other does the rest, and no cell twice.

    The table is that of an undisturbed study.
    """
    uninterrupted, runs = Runs(tmp_path / "whole", *SIZE, 0.0), Runs(tmp_path / "killed", *SIZE, 0.02)
    undisturbed = uninterrupted.start()
    process = runs.start()
    runs.wait_for_calls(5, process)
    kill(process)
    after_first, done_by_first = len(runs.calls()), runs.stored()

    processes = [runs.start(together=3) for _ in range(2)]  # the first one is counted as well
    runs.wait_for_calls(after_first + 4, processes[0])
    processes[0].kill()  # and not waited for: the other one sees a dead process that its parent has not looked at
    finish(processes[1])
    kill(processes[0])
    finish(undisturbed)

    calls = Counter(calls_of(runs.calls()))
    assert len(uninterrupted.calls()) == uninterrupted.cells == 18
    assert len(done_by_first) >= 4
    assert runs.stored() == uninterrupted.stored()
    assert set(calls) == set(calls_of(uninterrupted.calls())) == set(map(call_of, runs.stored()))
    assert calls.total() <= 18 + 2  # a cell that was running when its process was killed is restarted
    assert not set(map(call_of, done_by_first)) & set(calls_of(runs.calls()[after_first:]))
    assert_frame_equal(runs.table(), uninterrupted.table())
