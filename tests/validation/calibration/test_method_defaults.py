"""Defaults of methods that were chosen by simulation: the ridge of GSAVE, and the neighborhoods of Hessian eigenmaps.

Both compare the default with the choice that it replaced, or could be replaced by, on eight designs.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.spatial import cKDTree
from scipy.stats import spearmanr
from sklearn.manifold import LocallyLinearEmbedding

import dreval
from dreval.geometry.kernels import cross_gram, gram_matrix
from dreval.methods import GSAVE, GSIR, HessianLLE

pytestmark = pytest.mark.calibration

LINKS = {  # the response as a function of X, and the number of leading columns that it depends on
    "linear": (lambda X, noise: X[:, 0] + 0.2 * noise, 1),
    "exponential": (lambda X, noise: np.exp(X[:, 0]) + 0.2 * noise, 1),
    "square": (lambda X, noise: X[:, 0] ** 2 + 0.2 * noise, 1),
    "sine": (lambda X, noise: np.sin(2 * X[:, 0]) + 0.2 * noise, 1),
    "sum": (lambda X, noise: X[:, 0] + X[:, 1] + 0.5 * noise, 2),
    "radius": (lambda X, noise: np.hypot(X[:, 0], X[:, 1]) + 0.2 * noise, 2),
    "variance": (lambda X, noise: X[:, 0] * noise, 1),
    "classes": (lambda X, noise: np.where(X[:, 0] + 0.3 * noise > 0, "above", "below"), 1),
}


CHOICES = ("reg .01", "default", "GSIR")


def explained(values, columns, k=15):
    """Return the share of the variance of ``values`` that is a function of ``columns``: means of k neighbors."""
    neighbors = cKDTree(columns).query(columns, k + 1)[1][:, 1:]
    return 1 - np.mean((values - values[neighbors].mean(axis=1)) ** 2) / values.var() / (1 + 1 / k)


@pytest.mark.parametrize(("n", "p", "least"), [(100, 3, 0.82), (300, 3, 0.93), (300, 10, 0.75)])
def test_default_ridge_of_gsave_on_eight_links(n, p, least, n_simulations):
    """The first function at 1500 new rows is one of the columns that y depends on; with .01 it mostly is not."""
    runs, table = n_simulations(12), {}
    for name, (link, columns) in LINKS.items():
        shares = []
        for run in range(runs):
            rng = np.random.default_rng([run, n, p])
            X, noise, new = rng.normal(size=(n, p)), rng.normal(size=n), rng.normal(size=(1500, p))
            methods = (GSAVE(1, reg=0.01), GSAVE(1), GSIR(1))
            fits = (method.fit(X, link(X, noise)).transform(new)[:, 0] for method in methods)
            shares.append([explained(values, new[:, :columns]) for values in fits])
        table[name] = np.mean(shares, axis=0)
        values = ", ".join(f"{label} {value:.2f}" for label, value in zip(CHOICES, table[name], strict=True))
        print(f"n = {n}, p = {p}, {name}: {values}")
    before, after, gsir = np.mean(list(table.values()), axis=0)
    print(f"n = {n}, p = {p}, mean: reg .01 {before:.2f}, default {after:.2f}, GSIR {gsir:.2f}; {8 * runs} simulations")
    assert before < 0.6 < least < after
    assert all(values[1] > values[0] for values in table.values())


@pytest.mark.parametrize(("n", "p"), [(100, 1), (300, 1), (1000, 1), (300, 2), (1000, 2), (1000, 3)])
def test_default_ridge_of_gsave_with_few_columns(n, p, n_simulations):
    """Rank correlation with x_1 at new rows, y linear: features up to the quadratic ones, and as slices alone bear.

    The share of the test above is 1 by construction where y depends on all columns. A kernel matrix has no few columns.
    """
    runs = n_simulations(4)
    correlations = []
    for run in range(runs):
        rng = np.random.default_rng([run, n, p])
        X, noise, new = rng.normal(size=(n, p)), rng.normal(size=n), rng.normal(size=(1500, p))
        y, gram = LINKS["linear"][0](X, noise), gram_matrix(X, "X")
        rows = cross_gram(new, X, "gaussian", gram.bandwidth)
        by_slices = GSAVE(1, kernel="precomputed").fit(gram.matrix, y).transform(rows)[:, 0]
        values = (by_slices, *(method.fit(X, y).transform(new)[:, 0] for method in (GSAVE(1), GSIR(1))))
        correlations.append([abs(spearmanr(column, new[:, 0])[0]) for column in values])
    before, default, gsir = np.mean(correlations, axis=0)
    print(f"n = {n}, p = {p}: slices alone {before:.2f}, default {default:.2f}, GSIR {gsir:.2f}; {runs} simulations")
    assert before < 0.7 < 0.9 < default


def _roll(n, seed, noise=0.0):
    roll = dreval.simulate("swiss_roll", n=n, random_state=seed)
    return roll.data + noise * np.random.default_rng(seed).normal(size=roll.data.shape), roll.latent


def _roll_with_a_hole(n, seed):
    """Return a strip of length 21 and width 10, without the middle, rolled up without stretching."""
    strip = np.random.default_rng(seed).uniform(size=(3 * n, 2)) * [21, 10]
    strip = strip[(np.abs(strip[:, 0] - 10) >= 4) | (np.abs(strip[:, 1] - 5) >= 2.5)][:n]
    turn = np.linspace(1.5 * np.pi, 4.5 * np.pi, 4000)
    spiral = turn[:, None] * np.column_stack([np.cos(turn), np.sin(turn)])
    length = np.r_[0, np.cumsum(np.linalg.norm(np.diff(spiral, axis=0), axis=1))]
    at = np.interp(strip[:, 0] / 21 * length[-1], length, turn)
    X = np.column_stack([at * np.cos(at), 2.1 * strip[:, 1], at * np.sin(at)])
    return X, np.column_stack([np.interp(at, turn, length), 2.1 * strip[:, 1]])


def _bent(n, seed, bend):
    """Return points of a rectangle and their images under ``bend``."""
    places = np.random.default_rng(seed).uniform(size=(n, 2))
    return bend(places), places


SURFACES = {
    "roll of 500": lambda seed: _roll(500, seed),
    "roll of 1000": lambda seed: _roll(1000, seed),
    "noisy roll of 1000": lambda seed: _roll(1000, seed, 0.3),
    "roll with a hole": lambda seed: _roll_with_a_hole(800, seed),
    "S curve": lambda seed: _bent(
        500,
        seed,
        lambda U: np.column_stack(
            [
                np.sin(3 * np.pi * (U[:, 0] - 0.5)),
                2 * U[:, 1],
                np.sign(U[:, 0] - 0.5) * (np.cos(3 * np.pi * (U[:, 0] - 0.5)) - 1),
            ]
        ),
    ),
    "half a cylinder": lambda seed: _bent(
        400, seed, lambda U: np.column_stack([np.cos(np.pi * U[:, 0]), np.sin(np.pi * U[:, 0]), 2 * U[:, 1]])
    ),
    "flat strip with noise": lambda seed: _bent(
        400, seed, lambda U: np.c_[U * [3, 1], 0.02 * np.random.default_rng([seed, 1]).normal(size=(len(U), 2))]
    ),
    "saddle": lambda seed: _bent(
        500, seed, lambda U: np.c_[2 * U - 1, (2 * U[:, 0] - 1) ** 2 - (2 * U[:, 1] - 1) ** 2]
    ),
}


@pytest.mark.parametrize("k", [7, 12])
def test_hessian_eigenmaps_with_and_without_the_point_on_eight_surfaces(k, n_simulations):
    """R^2 of the latent variables: with k = 7, the default, higher with the point itself, with 12 about the same."""
    runs, table = n_simulations(8), {}
    for name, draw in SURFACES.items():
        scores = []
        for run in range(runs):
            X, latent = draw(run)
            oracle = LocallyLinearEmbedding(n_neighbors=k, n_components=2, method="hessian", eigen_solver="dense")
            methods = [HessianLLE(2, n_neighbors=k, include_self=include) for include in (True, False)]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", dreval.errors.ApproximationWarning)
                Y = [method.fit_transform(X) for method in methods]
            Y += [oracle.fit_transform(X)] if run < 3 else [np.full((len(X), 2), np.nan)]
            scores.append([np.nan if np.isnan(Z).any() else float(dreval.latent_r2(Z, latent=latent)) for Z in Y])
        table[name] = np.array(scores)
        means = np.nanmean(table[name], axis=0)
        print(f"k = {k}, {name}: with {means[0]:.3f}, without {means[1]:.3f}, scikit-learn {means[2]:.3f}")
    R2 = np.array(list(table.values()))
    with_it, without = R2[:, :, :2].mean(axis=(0, 1))
    below = (R2[:, :, :2] < 0.6).sum(axis=(0, 1))
    print(f"k = {k}, mean: with {with_it:.3f}, without {without:.3f}; below .6: {below} of {8 * runs}")
    assert with_it > without + 0.05 if k == 7 else abs(with_it - without) < 0.05
    if k == 7:
        assert (R2[:, :, 0].mean(axis=1) > R2[:, :, 1].mean(axis=1)).all()
