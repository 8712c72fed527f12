"""Level and power of the noise test, on data for which each null hypothesis holds, and on data for which none does.

The null of independent columns is exact: the global and the family-wise size at 5 % and 1 % are at most nominal, up to
the error of the simulation. The Gaussian null is a parametric bootstrap: the tests only bound its size.
"""

from __future__ import annotations

import math
from contextlib import nullcontext

import numpy as np
import pytest

import dreval

pytestmark = pytest.mark.calibration

REPLICATES = 99
DESIGNS = {
    "normal": lambda rng: rng.normal(size=(24, 4)),
    "heavy tails": lambda rng: rng.standard_t(1.5, size=(24, 4)),
    "discrete": lambda rng: rng.integers(0, 3, size=(24, 4)).astype(float),
    "more columns than points": lambda rng: rng.normal(size=(16, 40)) * rng.uniform(1, 9, size=40),
}


def principal(X, n_components):
    """Return the scores of the first principal components."""
    X = X - X.mean(axis=0)
    u, s, _ = np.linalg.svd(X, full_matrices=False)
    return u[:, :n_components] * s[:n_components]


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """Skip the limit of threads, whose search for libraries would double the time of thousands of short runs."""
    monkeypatch.setattr("threadpoolctl.threadpool_limits", lambda **_: nullcontext())


def nearness(X, Y):
    """Return a score without ties: data distance of the nearest embedding neighbor over the mean distance, negated."""
    D, E = (np.sqrt(np.square(Z[:, None] - Z).sum(axis=2)) for Z in (X, Y))
    np.fill_diagonal(E, np.inf)
    return -D[np.arange(len(D)), E.argmin(axis=1)] / D.mean() + 1e-6 * E.min(axis=1)


@pytest.mark.parametrize("statistic", ["auto", nearness], ids=["overlap", "score without ties"])
@pytest.mark.parametrize("design", DESIGNS)
def test_level_of_independent_columns(design, statistic, n_simulations):
    runs = n_simulations(1000)
    p_values, options = [], {"measure": statistic, "n_neighbors": 4, "n_replicates": REPLICATES}
    for run in range(runs):
        X = DESIGNS[design](np.random.default_rng([run, len(design)]))
        test = dreval.noise_test(X, principal, random_state=run, **options)
        p_values.append((test.p_value, test.points["p_family_wise"].min()))
    for p, kind in zip(np.array(p_values).T, ("global", "family-wise"), strict=True):
        for level in (0.05, 0.01):
            size = float(np.mean(p <= level))
            print(f"{design}, {'overlap' if statistic == 'auto' else 'nearness'}, {kind}, {level}: {size:.3f}")
            assert size <= level + 3 * math.sqrt(level * (1 - level) / runs)


def test_level_of_the_gaussian_null_with_clusters(n_simulations):
    """For one correlated Gaussian cloud and the silhouette of two clusters in it the size is near nominal."""
    runs, p = n_simulations(300), []
    for run in range(runs):
        rng = np.random.default_rng(run)
        X = rng.normal(size=(60, 6)) @ rng.normal(size=(6, 6))
        p.append(dreval.noise_test(X, principal, n_clusters=2, n_replicates=19, random_state=run).p_value)
    size = float(np.mean(np.array(p) <= 0.05))
    print(f"Gaussian null, two clusters, 0.05: {size:.3f}")
    assert size <= 0.10 + 3 * math.sqrt(0.1 * 0.9 / runs)


def _two_clusters(rng):
    return rng.normal(size=(80, 6)) + 3.0 * (np.arange(80) % 2)[:, None]


def _three_clusters(rng):
    """Return three far clusters of 50 points around random centers, without structure inside."""
    return 6 * rng.normal(size=(3, 10))[np.arange(150) % 3] + rng.normal(size=(150, 10))


def _circle(rng, turned=True):
    """Return a circle with noise in four more columns; rotated, so that columns are dependent, or along two columns."""
    angle = rng.uniform(0, 2 * np.pi, size=80)
    X = np.c_[3 * np.cos(angle), 3 * np.sin(angle), 0.3 * rng.normal(size=(80, 4))]
    return X @ np.linalg.qr(rng.normal(size=(6, 6)))[0] if turned else X


def _flat_circle(rng):
    return _circle(rng, turned=False)


def _roll(rng):
    t = 1.5 * np.pi * (1 + 2 * rng.uniform(size=240))
    return np.c_[t * np.cos(t), 21 * rng.uniform(size=240), t * np.sin(t)]


def _power(make, source, **options):
    """Return the share of 40 data sets in which the test rejects at 5 %."""
    p = [
        dreval.noise_test(
            make(np.random.default_rng(run)), source, n_replicates=19, random_state=run, **options
        ).p_value
        for run in range(40)
    ]
    power = float(np.mean(np.array(p) <= 0.05))
    print(f"{make.__name__} {options}: {power:.3f}")
    return power


@pytest.mark.parametrize(
    ("make", "source", "options"),
    [
        (_two_clusters, principal, {"n_clusters": 2}),
        (_two_clusters, principal, {}),
        (_circle, principal, {}),
        (_roll, principal, {}),
        (_three_clusters, "tsne", {"n_clusters": 3}),
    ],
    ids=["two clusters", "two clusters, columns", "circle", "roll", "three clusters"],
)
def test_power(make, source, options):
    assert _power(make, source, **options) >= 0.5


@pytest.mark.parametrize(
    ("make", "source"),
    [(_flat_circle, principal), (_roll, "isomap"), (_three_clusters, "tsne"), (_three_clusters, principal)],
    ids=["circle", "roll", "three clusters", "three clusters, PCA"],
)
def test_structure_without_power_of_the_overlap(make, source):
    """The overlap has little power if two columns hold nearly all variance, on a filled roll, and for far clusters."""
    assert _power(make, source) <= 0.5


def _mixture(rng, share, structure):
    """Return 100 points in six columns, a share of them structured and the rest independent normal, and a mask."""
    structured = np.arange(100) < round(100 * share)
    X = rng.normal(size=(100, 6))
    if structure == "turned circle":
        angle = rng.uniform(0, 2 * np.pi, size=100)
        X[structured] = 0.3 * X[structured] + 2 * np.c_[np.cos(angle), np.sin(angle)][structured] @ TURN
    elif structure == "tight cluster":
        X[structured] = 0.2 * X[structured] + 3
    return X, structured


TURN = np.linalg.qr(np.random.default_rng(0).normal(size=(6, 6)))[0][:2]


@pytest.mark.parametrize("share", [0.5, 0.2])
@pytest.mark.parametrize(
    ("structure", "options"),
    [
        ("turned circle", {}),
        ("tight cluster", {}),
        ("tight cluster", {"n_clusters": 2}),
        ("tight cluster", {"n_clusters": 2, "null": "columns", "statistic": "silhouette"}),
    ],
    ids=["circle, overlap", "cluster, overlap", "cluster, silhouette, gaussian", "cluster, silhouette, columns"],
)
def test_noise_among_the_points_distinguished(structure, options, share, n_simulations):
    """Points in data with a part of noise, by e-values and by the plug-in q: how many are noise, and found.

    The e-values find no more points than the plug-in q.
    """
    runs, rejected, shares, recalls = n_simulations(500) // 5, 0, {"e": [], "q": []}, {"e": [], "q": []}
    for run in range(runs):
        X, structured = _mixture(np.random.default_rng([run, 7]), share, structure)
        test = dreval.noise_test(X, principal, n_replicates=99, random_state=run, **options)
        rejected += test.p_value <= 0.05
        for kind, flagged in (("e", ~test.like_noise), ("q", (test.points["q"] <= 0.05).to_numpy())):
            if flagged.any():
                shares[kind].append(np.mean(~structured[flagged]))
                recalls[kind].append(flagged[structured].mean())
    for kind in ("e", "q"):
        print(
            f"{structure}, {options}, {share} structured, {kind}: p <= .05 in {rejected} of {runs}; some stand out in "
            f"{len(shares[kind])}; of those points noise {np.mean(shares[kind] or [np.nan]):.3f}, of the structured "
            f"points found {np.mean(recalls[kind] or [np.nan]):.3f}"
        )
    assert rejected >= 0.4 * runs
    assert sum(recalls["e"]) <= sum(recalls["q"]) + 1e-9


def closeness(X, Y):
    """Return the distance to the fifth neighbor in the embedding, negated: large inside a tight cluster."""
    return -np.sort(np.sqrt(np.square(Y[:, None] - Y).sum(axis=2)), axis=1)[:, 5]


def test_power_of_the_points_distinguished_from_noise(n_simulations):
    """Of the points of a tight cluster e-values find at least .8, and the plug-in q more, with more noise."""
    runs, recalls, shares = n_simulations(100), {"e": [], "q": []}, {"e": [], "q": []}
    for run in range(runs):
        X, structured = _mixture(np.random.default_rng([run, 7]), 0.3, "tight cluster")
        test = dreval.noise_test(X, principal, measure=closeness, n_replicates=99, random_state=run)
        for kind, flagged in (("e", ~test.like_noise), ("q", (test.points["q"] <= 0.05).to_numpy())):
            recalls[kind].append(flagged[structured].mean())
            shares[kind].append(np.mean(~structured[flagged]) if flagged.any() else 0.0)
    for kind in ("e", "q"):
        print(f"tight cluster, {kind}: found {np.mean(recalls[kind]):.3f}, noise {np.mean(shares[kind]):.3f}")
    assert 0.8 <= np.mean(recalls["e"]) <= np.mean(recalls["q"])
    assert np.mean(shares["e"]) <= np.mean(shares["q"])


@pytest.mark.parametrize("statistic", [nearness, "auto"], ids=["score without ties", "overlap"])
def test_level_of_the_points_distinguished_from_noise(statistic, n_simulations):
    """In independent columns any point is distinguished in at most 5 % of data sets, whatever the global p."""
    runs, flagged, by_q = n_simulations(1000), 0, 0
    for run in range(runs):
        X = np.random.default_rng([run, 11]).normal(size=(60, 5))
        test = dreval.noise_test(X, principal, random_state=run, measure=statistic, n_neighbors=6, n_replicates=39)
        e_values = test.points["e_value"]
        flagged += e_values.sum() >= len(X) / 0.05  # without the condition on p, which only lowers it
        by_q += (test.points["q"] <= 0.05).any()
    print(f"any point distinguished: by e-values {flagged / runs:.3f}, by the plug-in q {by_q / runs:.3f}")
    assert flagged / runs <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)
