"""The stored experiment with known defects comes out again: three defects of two data sets, in every draw asked."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
import pytest

from dreval.measures.core import detections

DRAWS, DATA, DEFECTS = 2, ("clusters", "plane"), ("tear", "swapped places", "exaggerated classes")
SAME = 0.995  # of the letters; a p-value beside 5 % may fall on the other side with another BLAS

pytestmark = pytest.mark.calibration


@pytest.fixture
def defects():
    """The script of the experiment."""
    folder = str(Path(__file__).parents[3] / "vignettes")
    sys.path.insert(0, folder)
    import defects

    yield defects
    sys.path.remove(folder)


@pytest.mark.parametrize("data", DATA)
def test_the_stored_experiment_is_reproduced(defects, data):
    """Letter by letter what every measure finds, as ``vignettes/defects.py`` stored it."""
    names = defects.measures()
    rows = [row for draw in range(DRAWS) for row in defects.judged(data, draw, names, DEFECTS)]
    rerun = defects.by_grade(pd.DataFrame(rows)).set_index(["measure", "change", "grade"])["found"]
    stored = detections().query("data == @data").set_index(["measure", "change", "grade"])["found"]
    pairs = [
        (observed, expected)
        for key, letters in rerun.items()
        for observed, expected in zip(letters, stored[key], strict=False)
    ]

    assert len(pairs) == DRAWS * len(names) * len(DEFECTS) * 4
    assert sum(observed == expected for observed, expected in pairs) >= SAME * len(pairs)
    assert len({observed for observed, _ in pairs}) >= 4
