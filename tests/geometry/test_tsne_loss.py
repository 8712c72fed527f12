"""The loss of t-SNE at a map: derivatives against differences and dense twins, affinities, Newton steps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist, pdist, squareform

from dreval.geometry.tsne import (
    MAX_RELATIVE_STEP,
    ListedAffinities,
    PairAffinities,
    conditional_affinities,
    hessian_times,
    loss_parts,
    move_to_minimum,
    nearest_image,
)

LINE = np.arange(1, 9.0)
MAP = np.column_stack([3 * np.cos(1.3 * LINE) + 0.2 * LINE, 2 * np.sin(0.7 * LINE) - 0.1 * LINE])


def banded() -> np.ndarray:
    """Affinities that fall off along a line."""
    P = np.exp(-((LINE[:, None] - LINE) ** 2) / 6)
    np.fill_diagonal(P, 0.0)
    return P / P.sum()


def dense_loss(P: np.ndarray, Y: np.ndarray) -> float:
    """The loss, straight from its definition."""
    w = 1 / (1 + cdist(Y, Y, "sqeuclidean"))
    return float(-(P * np.log(w)).sum() + np.log(w.sum() - len(Y)))


def dense_parts(P: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gradient and blocks of the Hessian by the published formulas, all pairs at once."""
    d = Y[:, None] - Y
    q = 1 / (1 + (d**2).sum(axis=2))
    np.fill_diagonal(q, 0.0)
    Z = q.sum()
    g = np.einsum("ij,ijc->ic", q**2, d)
    G = 4 * np.einsum("ij,ijc->ic", P * q, d) - 4 / Z * g
    H = np.einsum("ij,ce->ice", 4 * P * q - 4 / Z * q**2, np.eye(Y.shape[1]))
    H -= np.einsum("ij,ijc,ije->ice", 8 * P * q**2 - 16 / Z * q**3, d, d)
    return G, H - 16 / Z**2 * g[:, :, None] * g[:, None, :]


def test_values_without_random_numbers() -> None:
    """Gradient, Hessian and score of the first point, to all digits."""
    parts = loss_parts(ListedAffinities(csr_array(banded())), MAP)

    assert_allclose(parts.gradient[0], [0.08799443701631, -0.07856413235290], rtol=0, atol=1e-14)
    assert_allclose(
        parts.blocks[0].ravel()[[0, 1, 3]], [0.05887231256581, -0.0636551962623, 0.0339025333853], atol=1e-13
    )
    assert_allclose(1 / parts.spectra[0][0, 0], -54.11088586184, rtol=1e-12)
    assert np.isinf(parts.own_steps[0])


@st.composite
def maps(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Symmetric affinities of sum 1, some of them 0, and a map in 1 to 3 dimensions."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(4, 12)), draw(st.integers(1, 3))
    P = rng.exponential(size=(n, n)) * (rng.uniform(size=(n, n)) < draw(st.sampled_from([0.4, 1.0])))
    P[0, 1] = 1.0
    P = np.triu(P, 1)
    return (P + P.T) / (2 * P.sum()), rng.normal(size=(n, d)) * draw(st.sampled_from([0.3, 1.0, 10.0]))


@given(maps())
def test_derivatives_are_those_of_the_loss(case: tuple[np.ndarray, np.ndarray]) -> None:
    """Gradient, Hessian and its products with directions: central differences (of order 4) and the dense formulas."""
    P, Y = case
    affinities = ListedAffinities(csr_array(P))
    parts, step = loss_parts(affinities, Y), 1e-3

    assert_allclose(parts.value, dense_loss(P, Y), rtol=1e-13)
    G, H = dense_parts(P, Y)
    assert_allclose(parts.gradient, G, rtol=0, atol=1e-14)
    assert_allclose(parts.blocks, H, rtol=0, atol=1e-14)
    size = np.abs(H).max()
    hessian = np.empty((Y.size, Y.size))
    for at in range(Y.size):
        move = np.zeros_like(Y)
        move.flat[at] = 1.0
        maps = [Y + side * step * move for side in (-2, -1, 1, 2)]
        weights = np.array([1, -8, 8, -1]) / (12 * step)
        slope = weights @ [dense_loss(P, moved_map) for moved_map in maps]
        assert_allclose(parts.gradient.flat[at], slope, rtol=0, atol=1e-8 * np.abs(G).max())
        hessian[at] = np.tensordot(weights, [dense_parts(P, moved_map)[0] for moved_map in maps], 1).ravel()
        product = hessian_times(affinities, Y, parts, move).ravel()
        assert_allclose(product, hessian[at], rtol=0, atol=1e-8 * size)
    d = Y.shape[1]
    for i in range(len(Y)):
        coordinates = slice(i * d, i * d + d)
        assert_allclose(parts.blocks[i], hessian[coordinates, coordinates], rtol=0, atol=1e-8 * size)


@pytest.mark.parametrize("p", [3, 20])
@pytest.mark.parametrize("perplexity", [5.0, 20.0])
def test_affinities_of_pairs_are_those_of_the_bundled_method(p: int, perplexity: float) -> None:
    """Computed row by row they are the symmetrized conditional affinities over all other points."""
    X = np.random.default_rng(0).normal(size=(150, p)) + 7
    conditional = conditional_affinities(X, perplexity, n_neighbors=149).toarray()
    affinities = PairAffinities(X, perplexity)

    P = np.concatenate([affinities.rows(rows) for rows in affinities.parts()])
    assert_allclose(P, (conditional + conditional.T) / 300, rtol=1e-8, atol=1e-18)
    assert_allclose(P.sum(), 1.0, rtol=1e-13)


@pytest.mark.parametrize("metric", ["cosine", "manhattan", "precomputed"])
def test_affinities_take_squared_distances_of_a_metric(metric: str) -> None:
    """Rows have the perplexity under the squared distances of the metric in any unit."""
    X = np.random.default_rng(0).normal(size=(60, 15))
    D = squareform(pdist(X, {"manhattan": "cityblock", "precomputed": "chebyshev"}.get(metric, metric)))
    affinities = PairAffinities(D if metric == "precomputed" else X, 10.0, metric)

    beta, least, total = affinities.bandwidths
    unit = np.sqrt(affinities.squared(np.arange(2))[0, 1]) / D[0, 1]
    P = np.exp(-beta[:, None] * ((unit * D) ** 2 - least[:, None])) / total[:, None]
    np.fill_diagonal(P, 0.0)
    assert_allclose(P.sum(axis=1), 1.0, rtol=1e-9)
    entropies = -(P * np.log(np.where(P > 0, P, 1.0))).sum(axis=1)
    assert_allclose(np.exp(entropies), 10.0, rtol=1e-8)


def test_more_duplicates_than_the_perplexity_share_all_affinity() -> None:
    """Among 40 equal points each has affinities with these only, for any rounding of products of 30 columns."""
    rng = np.random.default_rng(0)
    X = np.concatenate([np.repeat(1e3 * rng.normal(size=(1, 30)), 40, axis=0), 1e3 * rng.normal(size=(40, 30))])
    P = PairAffinities(X, 10.0).rows(np.arange(80))

    off = ~np.eye(40, dtype=bool)
    assert_allclose(P[:40, :40][off], P[0, 1], rtol=1e-9)
    assert P[:40, :40].sum() > 0.99 / 2


def test_blocks_and_threads_change_no_digit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Affinities that are stored or recomputed, small blocks or large, one thread or two: the same numbers."""
    import dreval.geometry.tsne as module

    X = np.random.default_rng(0).normal(size=(90, 4))
    Y = X[:, :2]
    expected = loss_parts(PairAffinities(X, 8.0, n_jobs=1), Y)
    monkeypatch.setattr(module, "MAX_STORED_POINTS", 0)
    monkeypatch.setattr(module, "block_rows", lambda _: 17)
    recomputed = loss_parts(PairAffinities(X, 8.0, n_jobs=2), Y)

    assert expected.value == recomputed.value
    assert_array_equal(expected.gradient, recomputed.gradient)
    assert_array_equal(expected.blocks, recomputed.blocks)


def test_newton_steps_decrease_the_loss_to_a_minimum() -> None:
    """From a random start the loss falls, and the end is a minimum that scipy's search does not improve."""
    from scipy.optimize import minimize

    rng = np.random.default_rng(1)
    X = rng.uniform(size=(40, 2))
    affinities = PairAffinities(X, 12.0)
    start = 8 * X + 0.2 * rng.normal(size=(40, 2))
    near = nearest_image(start)
    Y, parts, steps, reason = move_to_minimum(affinities, start)

    assert reason == "minimum"
    assert steps > 1
    assert parts.value < loss_parts(affinities, start).value
    assert parts.own_steps.max() <= MAX_RELATIVE_STEP * near
    P = affinities.rows(np.arange(40))
    end = minimize(
        lambda y: dense_loss(P, y.reshape(-1, 2)),
        Y.ravel(),
        jac=lambda y: dense_parts(P, y.reshape(-1, 2))[0].ravel(),
        options={"gtol": 1e-10},
    )
    assert parts.value - end.fun < 1e-7
    assert np.linalg.norm(end.x.reshape(-1, 2) - Y, axis=1).max() < 0.2 * near


def test_steps_end_where_the_map_only_expands() -> None:
    """Two parts without affinities between them drift apart: the search ends, and there is no minimum."""
    P = np.kron(np.eye(2), 1 - np.eye(10)) / 180
    start = np.random.default_rng(0).normal(size=(20, 2))
    near = nearest_image(start)
    Y, parts, steps, reason = move_to_minimum(ListedAffinities(csr_array(P)), start)

    assert reason == "wide"
    assert steps < 100
    assert parts.own_steps.max() > MAX_RELATIVE_STEP * near
    assert 1.9 < Y.std(axis=0).max() / start.std(axis=0).max() < 20


def test_gradient_hessian_and_singularity_are_those_of_the_authors() -> None:
    """neMDBD, run in R on a map that is not a minimum, agrees, as do its affinities up to the tolerance of its
    bandwidths.
    """
    oracle = pd.read_csv(Path(__file__).parents[1] / "validation" / "oracles" / "nemdbd.csv")
    Y, P = oracle[["y1", "y2"]].to_numpy(), oracle.filter(regex="^p").to_numpy()
    parts = loss_parts(ListedAffinities(csr_array(P)), Y)

    assert_allclose(parts.gradient, oracle[["g1", "g2"]], atol=1e-15)
    assert_allclose(parts.blocks.reshape(len(Y), -1)[:, [0, 1, -1]], oracle[["h11", "h12", "h22"]], atol=1e-15)
    assert_allclose(1 / np.linalg.eigvalsh(parts.blocks)[:, 0], oracle["s"], rtol=1e-10)
    rows = PairAffinities(oracle.filter(regex="^x").to_numpy(), 6.0).rows(np.arange(len(Y)))
    assert_allclose(rows / rows.sum(), P, atol=1e-5 * P.max())
