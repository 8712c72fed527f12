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
def test_killed_and_taken_over_by_another_process(tmp_path: Path) -> None:
    """One run is killed; of two that go on together one is killed; the other does the rest, and no cell twice.

    The table is that of a study that nobody disturbed.
    """
    whole, runs = Runs(tmp_path / "whole", *SIZE, 0.0), Runs(tmp_path / "killed", *SIZE, 0.02)
    undisturbed = whole.start()
    first = runs.start()
    runs.wait_for_calls(5, first)
    kill(first)
    after_first, done_by_first = len(runs.calls()), runs.stored()

    two = [runs.start(together=3) for _ in range(2)]  # the first one is counted as well
    runs.wait_for_calls(after_first + 4, two[0])
    two[0].kill()  # and not waited for: the other one sees a dead process that its parent has not looked at
    finish(two[1])
    kill(two[0])
    finish(undisturbed)

    called = Counter(calls_of(runs.calls()))
    assert len(whole.calls()) == whole.cells == 18
    assert len(done_by_first) >= 4
    assert runs.stored() == whole.stored()
    assert set(called) == set(calls_of(whole.calls())) == set(map(call_of, runs.stored()))
    assert called.total() <= 18 + 2  # a cell that was under way when its process was killed is begun again
    assert not set(map(call_of, done_by_first)) & set(calls_of(runs.calls()[after_first:]))
    assert_frame_equal(runs.table(), whole.table())
