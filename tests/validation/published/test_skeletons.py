"""Roy (2021), Trustworthy Dimensionality Reduction: LSDR where the paper has embeddings or NA, at reduced size.

``skeletons.py`` of this folder prints the full tables.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from skeletons import ratios_of_single_maps

import dreval
from dreval.methods import LSDR

# tests/methods/test_lsdr.py tests these warnings: all points on the boundary; a start by scaling of lower rank.
pytestmark = [
    pytest.mark.filterwarnings("ignore::dreval.errors.ApproximationWarning"),
    pytest.mark.filterwarnings("ignore::dreval.errors.DegenerateDataWarning"),
]


def _correlations(noise, draws):
    values = []
    for draw in range(draws):
        data = dreval.simulate("spiral", n=300, noise=noise, random_state=draw)
        values.append(abs(np.corrcoef(LSDR(1).fit_transform(data.data)[:, 0], data.latent[:, 0])[0, 1]))
    return values


@pytest.mark.calibration
def test_clean_spirals_are_unrolled_and_noisy_ones_are_not():
    """Figure 11: the median of 20 draws is above .99 without noise, below .7 with noise of a twelfth of the gap."""
    assert np.median(_correlations(0.0, 20)) > 0.99
    assert np.median(_correlations(0.5, 20)) < 0.7


def test_gaps_of_the_three_clusters():
    """Figure 12: clusters at 0, 10 and 50, five draws: the second gap is about four times the first."""
    ratios = []
    for draw in range(5):
        data = dreval.simulate("three_clusters", n=150, random_state=draw)
        Y = LSDR(1).fit_transform(data.data)[:, 0]
        gaps = np.abs(np.diff([Y[data.labels == c].mean() for c in (0, 1, 2)]))
        ratios.append(gaps[1] / gaps[0])
    assert np.median(ratios) == pytest.approx(4, abs=0.5)


@pytest.mark.parametrize(("name", "rows"), [("sonar", 208), ("wdbc", 150), ("coil2000", 150)])
def test_cells_that_the_paper_could_not_fill(shared_data, name, rows):
    """LSDR embeds every transformation of real data by the Gabriel graph, where Table 2 prints NA."""
    with np.load(shared_data / f"{name}.npz", allow_pickle=False) as file:
        X = np.asarray(file["X"], float)
    X = X[np.sort(np.random.default_rng(0).choice(len(X), rows, replace=False))]
    measure = dreval.tractable_consistency(X, LSDR(2, graph="gabriel"), n_transformations=5, random_state=0)
    assert measure.parts["tried"] == 5
    assert measure.parts["failed"] == 0
    assert 0 < measure.parts["median"] <= float(measure) < 1
    assert np.isfinite(measure.parts["s_per_n"])
    assert 0 < float(dreval.trustability(X, LSDR(2, graph="gabriel"))) < 1


def test_single_maps_count_as_equidistant_from_one_half_to_two():
    """Two of four maps are; their quartiles are those of numpy."""
    ratios = [0.4, 0.5, 2.0, 9.0]
    row = ratios_of_single_maps(pd.DataFrame({"method": "UMAP", "ratio": ratios})).loc["UMAP"]
    assert row["1/2 to 2"] == 0.5
    assert row[["min", "25%", "50%", "75%", "max"]].tolist() == np.quantile(ratios, [0, 0.25, 0.5, 0.75, 1]).tolist()
