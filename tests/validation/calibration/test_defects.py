"""The stored experiment with known defects is reproduced: three defects of two data sets, in each draw."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
import pytest

from dreval.measures.core import detections

DRAWS, DATA, DEFECTS = 2, ("clusters", "plane"), ("tear", "swapped places", "exaggerated classes")
SAME = 0.995  # share of equal letters; with another BLAS a p-value near 5 % may cross it

pytestmark = pytest.mark.calibration


@pytest.fixture
def defects():
    """Return the script of the experiment."""
    folder = str(Path(__file__).parents[3] / "vignettes")
    sys.path.insert(0, folder)
    import defects

    yield defects
    sys.path.remove(folder)


@pytest.mark.parametrize("data", DATA)
def test_the_stored_experiment_is_reproduced(defects, data):
    """The letters of each measure are those that ``vignettes/defects.py`` stored."""
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
