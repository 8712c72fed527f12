"""Metrics of the data, against scipy's distances and scikit-learn's trustworthiness; sparse rows against dense ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.manifold import trustworthiness as oracle
from strategies import clouds

import dreval
from dreval.errors import InputError
from dreval.geometry import blocks
from dreval.geometry.blocks import neighbor_pass, random_groups
from dreval.geometry.distances import Space, gather, take, unit_rows
from dreval.geometry.procrustes import disparity
from dreval.geometry.view import view_without_group
from dreval.glossary import POINT_METRICS, TABLE_METRICS
from dreval.inputs.features import check_distances

METRIC_NAMES = list(POINT_METRICS)
SPARSE = ["euclidean", "cosine", "manhattan", "hamming"]
each_metric = pytest.mark.parametrize("metric", METRIC_NAMES)


def distances(X, metric):
    """All distances by scipy, symmetric and zero on the diagonal."""
    D = cdist(X, X, {"manhattan": "cityblock"}.get(metric, metric))
    D = (D + D.T) / 2
    np.fill_diagonal(D, 0.0)
    return D


def defined(X, metric):
    """Whether scipy's definition has no division by a rounding error in any row."""
    if metric in ("cosine", "correlation"):
        centered = X - X.mean(axis=1, keepdims=True) if metric == "correlation" else X
        return bool((np.linalg.norm(centered, axis=1) > 1e-6 * np.abs(X).max()).all())
    return True


def counts(seed=0, n=40, p=30):
    """Small whole numbers with many zeros and ties, no empty row, and columns that stay empty."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.4, (n, p)).astype(float)
    X[np.arange(n), rng.integers(0, p - 5, n)] += 1.0
    X[:, p - 3 :] = 0.0
    X[3] = X[7]
    return X, rng.normal(size=(n, 2))


def tie_free(seed=0, n=40, p=6):
    """A Gaussian cloud and a noisy embedding of it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X[:, :2] + rng.normal(size=(n, 2))


@each_metric
@given(X=st.one_of(clouds(min_p=2), clouds(min_p=13, max_p=30)))
def test_distances_are_those_of_scipy(metric, X):
    """Listed distances are the values of the metric, not only their order, in the unit of the data."""
    assume(defined(X, metric))
    space = Space.of(X, metric)
    left, right = np.triu_indices(len(X), 1)
    D = distances(X, metric)[left, right]
    slack = 1e-9 if metric in ("cosine", "correlation") else 1e-13 * max(D.max(), 1e-300)
    assert_allclose(space.listed(left, right), D, rtol=1e-11, atol=slack)


@each_metric
@given(seed=st.integers(0, 999), p=st.sampled_from([4, 20]), k=st.integers(1, 12))
def test_neighbors_and_ranks_are_those_of_sorted_distances(metric, seed, p, k):
    """Lists and cross ranks, against a sort of scipy's distances; Hamming's are tied and go by index."""
    X, Y = tie_free(seed, 30, p)
    if metric == "hamming":
        X = np.round(X)
    D = distances(X, metric)
    np.fill_diagonal(D, -1.0)
    order = np.argsort(D, axis=1, kind="stable")
    rank = np.argsort(order, axis=1)
    view = neighbor_pass(X, {"Y": Y}, k=k, metric=metric)["Y"]
    assert_array_equal(view.nearest_data, order[:, 1 : k + 1])
    assert_array_equal(view.data_rank, np.take_along_axis(rank, view.nearest_embedding.astype(int), 1))


@pytest.mark.parametrize("metric", ["cosine", "correlation", "manhattan"])
@given(seed=st.integers(0, 999))
def test_trustworthiness_is_that_of_scikit_learn(metric, seed):
    """The same value by another program, with and without precomputed distances."""
    X, Y = tie_free(seed)
    ours = dreval.trustworthiness(X, Y, metric=metric, n_neighbors=7)
    assert ours == pytest.approx(oracle(X, Y, n_neighbors=7, metric=metric), abs=1e-12)
    assert dreval.trustworthiness(distances(X, metric), Y, metric="precomputed", n_neighbors=7) == ours


@each_metric
def test_values_of_distances_are_naive_ones(metric):
    """Stress and Pearson correlation from the metric's distances, not from their squares or roots."""
    X, Y = counts(1) if metric == "hamming" else tie_free(1, p=15)
    pairs = np.triu_indices(len(X), 1)
    x, y = distances(X, metric)[pairs], distances(Y, "euclidean")[pairs]
    assert dreval.stress(X, Y, metric=metric) == pytest.approx(np.sqrt(((x - y) ** 2).sum() / (x**2).sum()), rel=1e-11)
    assert dreval.pearson_distance(X, Y, metric=metric) == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-11)


def test_multiples_of_a_row_have_cosine_distance_zero():
    """Whole multiples coincide to the last bit, so that they are ties and go by index."""
    X = np.array([[1.0, 2, 4], [3, 6, 12], [7, 14, 28], [5, 0, 1], [2, 1, 1]])
    unit = unit_rows(X)
    assert_array_equal(unit[1:3], unit[[0, 0]])
    assert_array_equal(neighbor_pass(X, {"": X}, k=2, metric="cosine")[""].nearest_data[:3], [[1, 2], [0, 2], [0, 1]])


@pytest.mark.parametrize("metric", SPARSE)
@given(seed=st.integers(0, 999), p=st.sampled_from([10, 30]), k=st.integers(1, 20))
def test_sparse_rows_are_the_dense_ones(metric, seed, p, k):
    """The same neighbors, ranks, ties and distances to the last bit, where whole numbers tie everywhere."""
    X, Y = counts(seed, p=p)
    S = sparse.csr_array(X)
    dense, sparse_view = (neighbor_pass(Z, {"Y": Y}, k=k, metric=metric)["Y"] for Z in (X, S))
    for name in ("nearest_data", "nearest_embedding", "data_rank", "embedding_rank", "has_ties"):
        assert_array_equal(getattr(sparse_view, name), getattr(dense, name))
    left, right = np.triu_indices(len(X), 1)
    assert_array_equal(Space.of(S, metric).listed(left, right), Space.of(X, metric).listed(left, right))


@given(seed=st.integers(0, 999))
def test_sparse_products_stay_within_their_promised_error(seed):
    """A product differs from the direct value by at most gamma (norm_i + norm_j)."""
    S = sparse.random_array((30, 200), density=0.1, rng=np.random.default_rng(seed), format="csr")
    space, rows = Space.of(S), np.arange(30)
    error = np.abs(space.block(rows, np.empty((30, 30))) - space.direct_block(rows))
    assert 0 < space.gamma < 1e-12
    assert (error <= space.gamma * (space.norms[:, None] + space.norms)).all()


@pytest.mark.parametrize("form", ["dense", "sparse", "precomputed"])
@pytest.mark.parametrize("metric", SPARSE)
def test_a_view_without_a_group_is_recomputed(metric, form):
    """A view without a group, from stored lists or in full, is the view of the remaining points."""
    X, Y = counts(2)
    data = {"dense": X, "sparse": sparse.csr_array(X), "precomputed": distances(X, metric)}[form]
    metric = "precomputed" if form == "precomputed" else metric
    groups = random_groups(40, 5, np.random.default_rng(0))
    view = neighbor_pass(data, {"Y": Y}, k=4, groups=groups, metric=metric)["Y"]
    for k in (4, 20):
        reduced = view_without_group(view, 1, k)
        stay = reduced.population
        recomputed = neighbor_pass(take(data, stay, metric), {"Y": Y[stay]}, k=k, metric=metric)["Y"]
        assert reduced.metric == metric
        assert_array_equal(reduced.nearest_data, stay[recomputed.nearest_data])
        assert_array_equal(reduced.data_rank, recomputed.data_rank)
        assert_array_equal(reduced.embedding_rank, recomputed.embedding_rank)


@pytest.mark.parametrize("size", [1, 7, 100])
@pytest.mark.parametrize("metric", TABLE_METRICS)
def test_blocks_of_any_size_give_the_same(metric, size, monkeypatch):
    """Dense and sparse data have the same result for any number of rows in a block."""
    X, Y = counts(3)
    forms = [distances(X, "manhattan")] if metric == "precomputed" else [X + np.eye(*X.shape)]
    forms += [sparse.csr_array(X)] if metric in SPARSE else []
    for data in forms:
        full = neighbor_pass(data, {"Y": Y}, k=9, metric=metric)["Y"]
        with monkeypatch.context() as patch:
            patch.setattr(blocks, "block_rows", lambda _: size)
            parts = neighbor_pass(data, {"Y": Y}, k=9, metric=metric)["Y"]
        assert_array_equal(parts.nearest_data, full.nearest_data)
        assert_array_equal(parts.data_rank, full.data_rank)


def test_neighborhoods_of_sparse_data_keep_their_differences():
    """Gathered groups have the columns in which they have an entry: all inner products are those of the rows."""
    X, _ = counts(4)
    members = np.random.default_rng(0).integers(0, 40, (6, 5))
    gathered = gather(sparse.csr_array(X), members)
    assert gathered.shape[2] < X.shape[1]
    assert_array_equal(gathered @ gathered.transpose(0, 2, 1), X[members] @ X[members].transpose(0, 2, 1))


@given(seed=st.integers(0, 99), offset=st.sampled_from([0.0, 1e6]))
def test_disparity_of_sparse_data_is_that_of_dense_ones(seed, offset):
    """The matrix is not centered as a whole, also where a column is far from 0."""
    X, Y = counts(seed)
    X[:, 0] += offset
    assert disparity(sparse.csr_array(X), Y) == pytest.approx(disparity(X, Y), abs=1e-9)


def test_a_matrix_of_distances_is_made_symmetric():
    """Rounding above or below the diagonal does not decide a rank."""
    D = distances(tie_free()[0], "euclidean")
    noisy = D * (1 + 1e-12 * np.triu(np.ones_like(D)))
    fitted = check_distances(noisy, "X")
    assert_array_equal(fitted, fitted.T)
    assert_allclose(fitted, D, rtol=1e-11)
    with pytest.raises(InputError, match=r"entries \(i, j\) and \(j, i\) that differ"):
        check_distances(D * (1 + 1e-6 * np.triu(np.ones_like(D))), "X")
