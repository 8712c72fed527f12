"""Coverage of the intervals of anchors, by the public functions, at n = 2000 and m = 200."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import dreval

INDICES = ["trustworthiness", "continuity", "neighborhood_overlap", "procrustes_rc"]
N, M = 2000, 200


def _roll() -> tuple[np.ndarray, np.ndarray]:
    """A Swiss roll seen from its side: layers far apart on the roll lie beside each other."""
    X = dreval.simulate("swiss_roll", n=N, random_state=0).data
    return X, X[:, :2]


def _clusters() -> tuple[np.ndarray, np.ndarray]:
    """Ten clusters in twenty dimensions and their two principal components: some clusters are shown as one."""
    rng = np.random.default_rng(1)
    X = 3 * rng.normal(size=(10, 20))[rng.integers(0, 10, size=N)] + rng.normal(size=(N, 20))
    return X, np.asarray(dreval.embed(X, "pca"))


def _sphere() -> tuple[np.ndarray, np.ndarray]:
    """A sphere pressed flat, with noise: the rim is shown well, the poles are mixed."""
    X = dreval.simulate("sphere", n=N, random_state=2).data
    return X, X[:, :2] + 0.02 * np.random.default_rng(2).normal(size=(N, 2))


DATA = {"swiss_roll": _roll, "clusters": _clusters, "sphere": _sphere}


def _exact(X, Y):
    """Values and contributions of all points."""
    found = dreval.Evaluation(X, {"Y": Y}, random_state=0).run(INDICES, tests=None, ci=None)
    return found.tidy().set_index("index")["value"], found.augment("Y")


def _draw(X, Y, seed):
    """The table of one draw of anchors."""
    return (
        dreval.Evaluation(X, {"Y": Y}, anchors=M, random_state=seed).run(INDICES, tests=None).tidy().set_index("index")
    )


@pytest.mark.calibration
@pytest.mark.parametrize("name", DATA)
def test_intervals_of_anchors_cover_the_exact_value(name, n_simulations):
    """500 draws, seeds 0 to 499: between 92 and 98 % of the 95 % intervals hold the value of all points.

    The bounds are three binomial standard errors of the number of draws that was run. The mean standard error is that
    of the draws within a tenth, or what chance leaves open where fewer are drawn.
    """
    X, Y = DATA[name]()
    exact, size = _exact(X, Y)[0], n_simulations(500)
    draws = [_draw(X, Y, seed) for seed in range(size)]
    slack = 3 * np.sqrt(0.95 * 0.05 / size)
    for index in INDICES:
        table = np.array([draw.loc[index, ["value", "se", "ci_low", "ci_high"]].to_numpy(float) for draw in draws])
        covered = np.mean((table[:, 2] <= exact[index]) & (exact[index] <= table[:, 3]))
        ratio = table[:, 1].mean() / table[:, 0].std(ddof=1)
        print(f"{name:12} {index:22} exact {exact[index]:.4f} covered {covered:.3f} se ratio {ratio:.3f}")
        assert abs(covered - 0.95) <= slack
        assert abs(ratio - 1) <= max(0.1, 3 / np.sqrt(2 * size))


@pytest.mark.parametrize("name", DATA)
def test_anchors_are_a_sample_of_the_contributions(name):
    """A draw is a simple random sample of the exact contributions: its mean, its finite-population standard error."""
    X, Y = DATA[name]()
    _, points = _exact(X, Y)
    for seed in range(2):
        ev = dreval.Evaluation(X, {"Y": Y}, anchors=M, random_state=seed).run(INDICES, tests=None)
        seen, table = ev.augment("Y"), ev.tidy().set_index("index")
        for index in INDICES:
            column = f"{index}(n_neighbors=15)"
            rows = seen[column].notna()
            assert rows.sum() == M
            assert_allclose(seen.loc[rows, column], points.loc[rows, column], atol=1e-12)
            assert table.loc[index, "value"] == pytest.approx(points.loc[rows, column].mean(), abs=1e-12)
            se = np.sqrt((1 - M / N) * points.loc[rows, column].var(ddof=1) / M)
            assert table.loc[index, "se"] == pytest.approx(se, rel=1e-9)
