"""A diagonal and signs of distances that differ from 0 by rounding alone are accepted; others raise errors."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import pdist, squareform
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.neighbors import kneighbors_graph

import dreval
from dreval.errors import InputError
from dreval.inputs.data import as_data

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 4))
Y = X[:, :2] + 0.2 * RNG.normal(size=(40, 2))
D = squareform(pdist(X))


def first_negative(D: np.ndarray, size: float) -> np.ndarray:
    """Return the distances with one negative pair, of a size relative to the largest distance."""
    copy = D.copy()
    copy[0, 1] = copy[1, 0] = -size * D.max()
    return copy


ROUNDED = {
    "diagonal": D + 2e-16 * np.eye(40),
    "negative diagonal": D - 2e-16 * np.eye(40),
    "edge of the rule": D + 0.9e-12 * D.max() * np.eye(40),
    "frame": pd.DataFrame(D + 2e-16 * np.eye(40)),
    "list": (D + 2e-16 * np.eye(40)).tolist(),
    "single": (D + 1e-7 * D.max() * np.eye(40)).astype(np.float32),
}
WRONG = {
    "large diagonal": D + 1e-3 * np.eye(40),
    "double precision": D + 1e-10 * D.max() * np.eye(40),
    "single precision": (D + 1e-5 * D.max() * np.eye(40)).astype(np.float32),
    "similarities": np.exp(-D),
    "negative": first_negative(D, 1e-6),
}


@pytest.mark.parametrize("case", ROUNDED)
def test_rounding_becomes_zero(case: str) -> None:
    """The stored matrix is the exact one, with a diagonal of 0, and the value equals that of the exact distances."""
    table = as_data(ROUNDED[case], metric="precomputed").table
    assert not np.diagonal(table).any()
    np.testing.assert_allclose(table, D, rtol=1e-6 if case == "single" else 1e-15)
    value = dreval.trustworthiness(ROUNDED[case], Y, metric="precomputed", n_neighbors=7)
    assert value == pytest.approx(dreval.trustworthiness(X, Y, n_neighbors=7), abs=1e-12)


@pytest.mark.parametrize("case", WRONG)
def test_larger_entries_raise_an_error(case: str) -> None:
    """Data, methods and the test of independence raise an error with the size of entries larger than rounding."""
    fault = "negative entry" if case == "negative" else "on the diagonal, in row"
    with pytest.raises(InputError, match=fault):
        as_data(WRONG[case], metric="precomputed")
    with pytest.raises(InputError, match=fault):
        dreval.methods.ClassicalMDS(metric="precomputed").fit(WRONG[case])
    with pytest.raises(InputError, match=fault):
        dreval.dcov_test(WRONG[case], D, metric="precomputed", random_state=0)


def test_the_advice_works() -> None:
    """A diagonal set to 0 by the call that the error names is accepted."""
    invalid = WRONG["large diagonal"].copy()
    with pytest.raises(InputError, match=r"numpy\.fill_diagonal\(D, 0\)"):
        as_data(invalid, metric="precomputed")
    np.fill_diagonal(invalid, 0)
    np.testing.assert_allclose(as_data(invalid, metric="precomputed").table, D, rtol=1e-15)


@pytest.mark.parametrize(
    "K", [np.exp(-D), np.exp(-0.1 * D**2), np.corrcoef(X), X @ X.T], ids=["exp", "rbf", "correlations", "products"]
)
def test_similarities_become_distances_as_the_error_advises(K: np.ndarray) -> None:
    """A diagonal of 0 would make the least similar points the nearest: it is not advised, but the distances of K are.

    Those of the products are the distances of the points.
    """
    with pytest.raises(InputError, match="not similarities") as error:
        as_data(K, metric="precomputed")
    assert "fill_diagonal" not in str(error.value)
    assert "with k = numpy.diag(K), by numpy.sqrt(numpy.maximum(k[:, None] + k - 2 * K, 0))." in str(error.value)
    k = np.diag(K)
    distances = np.sqrt(np.maximum(k[:, None] + k - 2 * K, 0))
    table = as_data(distances, metric="precomputed").table
    if np.array_equal(K, X @ X.T):
        np.testing.assert_allclose(table, D, atol=1e-7)
    pairs = np.triu_indices(40, 1)
    assert (np.diag(K) != 1).any() or (np.argsort(table[pairs]) == np.argsort(-K[pairs])).all()
    with pytest.raises(InputError, match="not similarities"):
        dreval.dcov_test(K, D, metric="precomputed", random_state=0)


def test_cosine_distances_by_products() -> None:
    """1 - cos from products has rounding on its diagonal, in both precisions; methods and tests take it too."""
    for kind in (np.float64, np.float32):
        cosine = 1 - cosine_similarity(X.astype(kind))
        cosine[0, 0] = 3 * np.finfo(kind).eps
        cosine[1, 1] = -np.finfo(kind).eps
        exact = squareform(pdist(X, "cosine"))
        np.testing.assert_allclose(as_data(cosine, metric="precomputed").table, exact, atol=5e-6)
        embedding = dreval.methods.ClassicalMDS(metric="precomputed").fit_transform(cosine)
        assert np.isfinite(embedding).all()
    exact = dreval.dcov_test(D, squareform(pdist(Y)), metric="precomputed", random_state=0)
    rounded = dreval.dcov_test(D + 2e-16 * np.eye(40), squareform(pdist(Y)), metric="precomputed", random_state=0)
    assert rounded.statistic == pytest.approx(exact.statistic, rel=1e-12)


def graph_of(k: int, mode: str = "distance") -> np.ndarray:
    """Return a symmetric graph of k neighbors as a dense matrix, with 0 where there is no edge."""
    graph = kneighbors_graph(X, k, mode=mode).toarray()
    return np.maximum(graph, graph.T)


@pytest.mark.parametrize("case", ["neighbors", "connectivity", "radius", "many neighbors", "missing pairs"])
def test_pairs_without_an_edge_are_not_at_distance_0(case: str) -> None:
    """Data and methods raise an error for a dense graph; the shortest paths that the error advises are accepted."""
    missing = D.copy()
    missing[:3, 20:] = missing[20:, :3] = 0
    graph = {
        "neighbors": graph_of(6),
        "connectivity": graph_of(6, "connectivity"),
        "radius": np.where(np.quantile(D, 0.3) > D, D, 0),
        "many neighbors": graph_of(35),
        "missing pairs": missing,
    }[case]
    with pytest.raises(InputError, match=r"must have a distance for every pair .*got 0 between rows") as error:
        as_data(graph, metric="precomputed")
    with pytest.raises(InputError, match="must have a distance for every pair"):
        dreval.methods.ClassicalMDS(metric="precomputed").fit(graph)
    i, j, k = map(int, re.findall(r"rows? (\d+)(?: and (\d+), whose.*?to row (\d+))", str(error.value))[0])
    assert graph[i, j] == 0
    assert abs(graph[i, k] - graph[j, k]) > graph.max() / 2
    if case == "neighbors":
        paths = shortest_path(graph, directed=False)
        assert as_data(paths, metric="precomputed").n == 40
    with pytest.raises(InputError, match="a sparse matrix"):
        as_data(csr_array(graph), metric="precomputed")


def test_copies_and_rounding_are_at_distance_0() -> None:
    """Repeated points, few digits, classes that are equal or not, and powers and angles of distances."""
    copies = np.repeat(np.arange(10), 4)
    blocks = (copies[:, None] != copies).astype(float)
    valid = {
        "copies": D[np.ix_(copies, copies)],
        "one digit": D.round(0),
        "squares": (D**2).round(0),
        "classes": blocks,
        "angles": 1 - cosine_similarity(np.vstack([X, X * (1 + 1e-14)])),
    }
    for name, matrix in valid.items():
        record = as_data(np.abs(matrix), metric="precomputed")
        off = record.table + np.eye(record.n)
        assert (off == 0).any(), name
