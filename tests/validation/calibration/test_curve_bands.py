"""Coverage of simultaneous bands of curves, for the curve of all points and for the mean curve."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dreval
from dreval.geometry.blocks import neighbor_pass
from dreval.geometry.ranks import row_curves
from dreval.inference.bands import anchor_band, covered_by_anchors

N, LEVEL = 1000, 0.95


def _roll(n: int, seed: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return a Swiss roll and its side view."""
    t, h = np.random.default_rng(seed).uniform(size=(2, n))
    t = 1.5 * np.pi * (1 + 2 * t)
    X = np.c_[t * np.cos(t), 21 * h, t * np.sin(t)]
    return X, X[:, :2]


def _clusters(n: int, seed: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return ten clusters in twenty dimensions and their projection on two fixed directions."""
    fixed, rng = np.random.default_rng(1), np.random.default_rng(seed)
    centers, directions = 3 * fixed.normal(size=(10, 20)), fixed.normal(size=(20, 2))
    X = centers[rng.integers(0, 10, size=n)] + rng.normal(size=(n, 20))
    return X, X @ directions


def _folded(n: int, seed: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return a slightly folded sheet with noise, and its own coordinates, which are a nearly perfect embedding."""
    rng = np.random.default_rng(seed)
    U = rng.uniform(size=(n, 2))
    return np.c_[U, 0.2 * np.sin(3 * U[:, 0])] + 0.002 * rng.normal(size=(n, 3)), U


MAPS: dict[str, Callable[[int, Any], tuple[np.ndarray, np.ndarray]]] = {
    "roll": _roll,
    "clusters": _clusters,
    "folded": _folded,
}


@pytest.mark.calibration
@pytest.mark.parametrize("name", MAPS)
def test_bands_of_anchors_cover_the_curve_of_all_points(name: str, n_simulations: Any) -> None:
    """500 draws of 100 and of 300 anchors: at least 95 % - 3 SE of bands hold R_NX at every K that they cover.

    The same holds for the difference from another map. Pointwise intervals hold the whole curve far less often; the
    test prints how often.
    """
    X, Y = MAPS[name](N, 0)
    noisy_map = X[:, :2] + np.random.default_rng(5).normal(size=(N, 2)) * X[:, :2].std(axis=0) / 4
    views = neighbor_pass(X, {"one": Y, "other": noisy_map}, k=15)
    ks = np.unique(np.rint(np.geomspace(1, N - 2, 75)).astype(np.int64))
    curves = [row_curves(view, ks).r_nx() for view in views.values()]
    size = n_simulations(500)
    for m in (100, 300):
        for label, rows, bounds in (
            ("R_NX", curves[0], (-1.0, 1.0)),
            ("difference", curves[0] - curves[1], (-2.0, 2.0)),
        ):
            true, outcomes = rows.mean(axis=0), []
            for seed in range(size):
                rng = np.random.default_rng([seed, m])
                sample = rows[rng.choice(N, m, replace=False)]
                band = anchor_band(sample, ks, N, rng, bounds, LEVEL)
                is_covered = covered_by_anchors(sample, ks, N)
                se = np.sqrt((1 - m / N) * sample.var(axis=0, ddof=1) / m)
                alone = np.abs(sample.mean(axis=0) - true)[is_covered] <= 1.98 * se[is_covered]
                inside = (band.low[is_covered] <= true[is_covered]) & (true[is_covered] <= band.high[is_covered])
                outcomes.append((inside.all(), alone.all(), is_covered.sum(), band.critical))
            covered, pointwise, count, critical = np.array(outcomes, float).T
            print(
                f"{name:9}{label:11} m {m:4} covered {covered.mean():.3f}, pointwise {pointwise.mean():.3f}, "
                f"{count.mean():.1f} K, critical {np.nanmedian(critical):.2f} (largest {np.nanmax(critical):.2f})"
            )
            assert covered.mean() >= LEVEL - 3 * math.sqrt(LEVEL * (1 - LEVEL) / size), (label, m)


@pytest.mark.calibration
@pytest.mark.parametrize("n", [100, 300])
@pytest.mark.parametrize("name", MAPS)
def test_bands_of_all_points_cover_the_mean_curve(name: str, n: int, n_simulations: Any) -> None:
    """500 samples of a fixed map: at least 95 % - 3 SE of bands hold the mean of R_NX over samples, at every K.

    The claim is for K from 5, as with anchors; the test prints the coverage from K = 1.
    """
    size, curves = n_simulations(500), []
    for seed in range(size):
        X, Y = MAPS[name](n, [seed, n])
        res = dreval.Evaluation(X, {"e": Y}, n_neighbors=5, random_state=seed).run("r_nx", tests=None)
        curves.append(res.curve("r_nx", bands=True).set_index("K"))
    mean = np.mean([curve["value"] for curve in curves], axis=0)
    ks = curves[0].index.to_numpy()
    covered = {}
    for kind in ("band", "conf"):
        low, high = (np.array([curve[f"{kind}_{end}"] for curve in curves]) for end in ("low", "high"))
        inside = (low <= mean) & (mean <= high) | np.isnan(low)
        covered[kind] = [float(inside[:, ks >= least].all(axis=1).mean()) for least in (5, 1)]
    print(f"{name:9} n {n}: from K = 5 and from 1, bands {covered['band']}, pointwise {covered['conf']}")
    assert covered["band"][0] >= LEVEL - 3 * math.sqrt(LEVEL * (1 - LEVEL) / size)
