"""The k nearest neighbors, against full tables of direct distances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.neighbors import NearestNeighbors
from strategies import clouds, neighbor_counts, tie_free_clouds
from validation.oracles import twins

from dreval.errors import InputError
from dreval.geometry import distances
from dreval.geometry import distances as neighbors
from dreval.geometry.distances import nearest

ANY_WIDTH = st.one_of(clouds(max_n=60, max_p=12), clouds(max_n=60, min_p=13, max_p=60))


def _twin(X, k, Q=None):
    D = twins.squared_distances(X if Q is None else Q, X)
    if Q is None:
        np.fill_diagonal(D, np.inf)
    order = twins.order_of(D)[:, :k]
    return order, np.take_along_axis(D, order, axis=1)


def _check(X, k, Q=None, n_jobs=None):
    for result, expected in zip(nearest(X, k, Q, n_jobs), _twin(X, k, Q), strict=True):
        assert_array_equal(result, expected)


@given(X=ANY_WIDTH, data=st.data())
def test_neighbors_are_those_of_the_full_table(X, data):
    """Indices and squared distances are those of a sort of direct distances, to the last bit, for every k < n."""
    _check(X, data.draw(neighbor_counts(len(X))))


@given(X=clouds(min_n=20, max_n=80, max_p=8), data=st.data())
def test_the_tree_and_the_blocks_agree_with_the_full_table(X, data):
    """With few columns and few neighbors, the result of the k-d tree is exact with ties by index, as is that of the
    blocks.
    """
    k = data.draw(st.integers(1, (len(X) - 9) // 4))
    _check(X, k)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbors, "TREE_COLUMNS", 0)
        _check(X, k)


@given(X=ANY_WIDTH, is_fitted=st.booleans(), seed=st.integers(0, 2**32 - 1), data=st.data())
def test_queries_find_every_point(X, is_fitted, seed, data):
    """Queries may be any points; points of the data find themselves at distance 0; k may be n."""
    rng = np.random.default_rng(seed)
    Q = X[rng.integers(0, len(X), 7)] if is_fitted else X.mean(axis=0) + 2 * X.std() * rng.normal(size=(7, X.shape[1]))
    _check(X, data.draw(st.integers(1, len(X))), Q)


@given(X=clouds(min_n=20, max_n=60, min_p=1, max_p=40), jobs=st.sampled_from([1, 2, 3]), rows=st.sampled_from([1, 7]))
def test_blocks_and_threads_have_no_effect(X, jobs, rows):
    """Any number of rows in a block and any number of threads give the same bits."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbors, "block_rows", lambda _: rows)
        _check(X, 5, n_jobs=jobs)
        patch.setattr(neighbors, "TREE_COLUMNS", 0)
        _check(X, 5, n_jobs=jobs)


@given(X=clouds(max_n=60, min_p=13, max_p=60), single=st.booleans(), data=st.data())
def test_the_precision_of_products_has_no_effect(X, single, data):
    """Products of single or double precision: pairs that they cannot order are ordered by direct differences."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distances, "_single_is_enough", lambda *_: single)
        _check(X, data.draw(neighbor_counts(len(X))))
        _check(X, data.draw(neighbor_counts(len(X))), X[::-1] + 0.1 * X.std())


@given(X=tie_free_clouds(min_n=10, max_p=20))
def test_neighbors_are_those_of_scikit_learn(X):
    """If no two distances are equal, scikit-learn finds the same neighbors in the same order."""
    reference = NearestNeighbors(n_neighbors=5).fit(X).kneighbors(return_distance=False)
    assert_array_equal(nearest(X, 5)[0], reference)


@pytest.mark.parametrize("p", [2, 30])
def test_many_points_and_many_neighbors(p):
    """Beyond a hundred candidates and with several blocks: a lattice with hundreds of equal distances."""
    X = np.random.default_rng(p).integers(0, 3, size=(500, p)).astype(float)
    for k in (1, 40, 130, 499):
        _check(X, k)


@pytest.mark.parametrize("p", [1, 3, 13])
def test_duplicates_keep_themselves_out_by_measure(p):
    """Of five equal points each has the four others as neighbors at distance 0, in order, and never itself."""
    X = np.vstack([np.zeros((5, p)), np.ones((30, p)) * np.arange(1, 31)[:, None]])
    indices, squared = nearest(X, 4)
    assert_array_equal(indices[:5], [[j for j in range(5) if j != i] for i in range(5)])
    assert_array_equal(squared[:5], 0)


@pytest.mark.parametrize("p", [2, 20])
def test_distances_far_from_the_origin_keep_their_digits(p):
    """A millionth of spread at an offset of a million: neighbors as direct differences see them."""
    X = 1e6 + 1e-6 * np.random.default_rng(p).normal(size=(300, p))
    _check(X, 12)


@pytest.mark.parametrize("exponent", [-65, 65])
def test_any_unit_of_measurement(exponent):
    """Near the limits of size the order does not change."""
    X = np.random.default_rng(0).normal(size=(50, 15))
    for width in (3, 15):
        neighbors = nearest(X[:, :width] * 2.0 ** (3 * exponent), 6)[0]
        assert_array_equal(neighbors, nearest(X[:, :width], 6)[0])


@pytest.mark.parametrize(("k", "queries"), [(0, None), (5, None), (6, np.zeros((2, 1)))])
def test_k_is_checked(k, queries):
    """As many neighbors as there are points is one too many without queries; none are too few."""
    with pytest.raises(InputError, match="`k` must be an integer"):
        nearest(np.arange(5.0)[:, None], k, queries)


def test_blocks_stay_small():
    """A block of rows has about eight megabytes, at least 16 rows and at most 256."""
    sizes = {n: distances.block_rows(n) for n in (4, 500, 2000, 10**6)}
    assert sizes == {4: 256, 500: 256, 2000: 256, 10**6: 16}
