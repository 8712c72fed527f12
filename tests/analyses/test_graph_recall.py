"""Recall of a graph: a naive twin, forms of the graph, ties, and the coverage of its interval."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix, save_npz
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors, kneighbors_graph
from strategies import clouds

import dreval
from dreval.errors import InputError, UnknownName

X = np.random.default_rng(0).normal(size=(400, 4))
TRUE = np.argsort(cdist(X, X), axis=1, kind="stable")[:, 1:]


def damaged(share: float, k: int = 10, seed: int = 1) -> np.ndarray:
    """Return lists of k neighbors in which a share of the true ones, drawn at random, is replaced by far points."""
    rng = np.random.default_rng(seed)
    lists = TRUE[:, :k].copy()
    lost = rng.random(lists.shape) < share
    lists[lost] = TRUE[:, -k:][lost]
    return lists


def naive_recall(lists: np.ndarray, points: np.ndarray, metric: str, k: int) -> np.ndarray:
    """Count for each point the listed neighbors that are no farther than the k-th true one."""
    D = cdist(points, points, metric)
    recall = []
    for i, listed in enumerate(lists):
        others = sorted(D[i, j] for j in range(len(points)) if j != i)
        limit = others[k - 1]
        recall.append(sum(D[i, j] <= limit * (1 + 1e-11) + 1e-300 for j in listed[:k]) / k)
    return np.array(recall)


@given(
    points=clouds(min_n=6, max_n=30, kinds=["normal", "duplicates", "grid", "clusters"], scales=False),
    metric=st.sampled_from(["euclidean", "manhattan"]),
    data=st.data(),
)
def test_the_recall_is_that_of_a_naive_twin(points: np.ndarray, metric: str, data: st.DataObject) -> None:
    """Of any lists, with ties and duplicates, for every k up to the length of the lists."""
    n = len(points)
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    length = data.draw(st.integers(1, n - 1))
    lists = np.array([rng.permutation([j for j in range(n) if j != i])[:length] for i in range(n)])
    k = data.draw(st.integers(1, length))
    with_self = np.c_[np.arange(n), lists]  # few lists need not show that they count from 0
    result = dreval.graph_recall(with_self, points, n_neighbors=k, metric=metric)
    expected = naive_recall(lists, points, {"manhattan": "cityblock"}.get(metric, metric), k)
    np.testing.assert_allclose(result.augment()["recall"], expected, atol=1e-12)
    assert result.value == pytest.approx(expected.mean(), abs=1e-12)
    assert result.chance == pytest.approx(k / (n - 1))


def test_exact_neighbors_have_recall_one_in_every_form() -> None:
    """Lists, pairs and sparse matrices of scikit-learn, also of points that occur twice."""
    repeated = np.repeat(X[:60], 2, axis=0)
    for points in (X, repeated):
        distances, indices = NearestNeighbors(n_neighbors=7).fit(points).kneighbors()
        forms = [indices, (indices, distances), (distances, indices), {"idx": indices, "dist": distances}]
        forms += [kneighbors_graph(points, 7, mode="distance")]
        for graph in forms:
            result = dreval.graph_recall(graph, points)
            assert (result.value, result.n_neighbors, result.complete) == (1.0, 7, 1.0)
            assert (result.conf_low, result.conf_high, result.se) == (1.0, 1.0, 0.0)


@pytest.mark.parametrize("metric", ["cosine", "precomputed"])
def test_the_metric_is_that_of_the_graph(metric: str) -> None:
    """True neighbors by another metric are other points."""
    D = cdist(X, X, "cosine" if metric == "cosine" else "cityblock")
    lists = np.argsort(D, axis=1, kind="stable")[:, 1:9]
    assert dreval.graph_recall(lists, X if metric == "cosine" else D, metric=metric).value == 1.0
    assert dreval.graph_recall(lists, X).value < 0.95


def test_anchors_are_a_sample_of_the_points() -> None:
    """They have the recall of the census and depend on the seed; the interval has the finite-population correction."""
    lists = damaged(0.2)
    census = dreval.graph_recall(lists, X)
    sample = dreval.graph_recall(lists, X, anchors=80, random_state=3)
    assert sample.n_used == len(sample.points) == 80
    assert (sample.points["recall"] == census.points["recall"].loc[sample.points.index]).all()
    assert sample.points.equals(dreval.graph_recall(lists, X, anchors=80, random_state=3, n_jobs=1).points)
    assert not sample.points.equals(dreval.graph_recall(lists, X, anchors=80, random_state=4).points)
    expected = sample.points["recall"].std(ddof=1) / np.sqrt(80) * np.sqrt(1 - 80 / 400)
    assert sample.se == pytest.approx(expected, rel=1e-9)
    assert census.conf_low == census.value == census.conf_high


def test_the_interval_of_a_perfect_sample_allows_for_others() -> None:
    """If all anchors are perfect, points that were not drawn may be worse."""
    result = dreval.graph_recall(TRUE[:, :10], X, anchors=50)
    assert result.value == result.conf_high == 1.0
    assert 0.9 < result.conf_low < 1.0


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.02, 0.3])
def test_the_interval_covers_the_recall_of_all_points(share: float) -> None:
    """Over 200 samples of 60 of 400 points."""
    lists = damaged(share)
    truth = dreval.graph_recall(lists, X).value
    results = [dreval.graph_recall(lists, X, anchors=60, random_state=seed) for seed in range(200)]
    assert np.mean([r.conf_low <= truth <= r.conf_high for r in results]) >= 0.91
    assert np.mean([r.value for r in results]) == pytest.approx(truth, abs=0.005)


def test_it_prints_its_value_and_reproduces_itself() -> None:
    """First the recall with its interval; the call of the recipe gives the same record."""
    result = dreval.graph_recall(damaged(0.2), X, anchors=80, random_state=3)
    text = " ".join(str(result).split())
    assert text.startswith(
        f"The graph holds {round(100 * result.value):d} % of the 10 nearest neighbors of a point (95 %"
    )
    assert "from 80 of 400 points" in text
    assert eval(result.call, {"dreval": dreval, "graph": damaged(0.2), "X": X}).value == result.value
    assert result.tidy().loc[0, "value"] == result.value == result.glance().loc[0, "recall"]


def test_the_names_of_rows_are_kept() -> None:
    """``augment`` has the names of the points."""
    names = [f"cell {i}" for i in range(400)]
    result = dreval.graph_recall(damaged(0.2), pd.DataFrame(X, index=names), anchors=10)
    assert result.augment()["id"].tolist() == [names[i] for i in result.points.index]


BAD: dict[str, tuple[Any, dict[str, Any], str]] = {
    "fewer lists": ([[(i + 1) % 50, (i + 2) % 50] for i in range(50)], {}, "a graph of 50 points with 400 rows of X"),
    "points as graph": (X, {}, "must name neighbors by whole numbers"),
    "too many": (TRUE[:, :5], {"n_neighbors": 6}, "`n_neighbors` must be an integer"),
    "unweighted": (kneighbors_graph(X, 5), {}, "`graph`"),
    "memberships": (csr_matrix(np.maximum(kneighbors_graph(X, 5).toarray() * 0.5, 0)), {}, "`graph`"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_graphs_are_refused(name: str) -> None:
    """One error each, that names the graph."""
    graph, options, message = BAD[name]
    with pytest.raises(InputError, match=message):
        dreval.graph_recall(graph, X, **options)


def test_graphs_in_files_and_anndata_have_their_recall(tmp_path: Path) -> None:
    """A sparse matrix and numbers in files, and obsp["distances"] of an object with the attributes of AnnData."""
    matrix = kneighbors_graph(X, 9, mode="distance")
    save_npz(tmp_path / "graph.npz", matrix)
    np.save(tmp_path / "numbers.npy", TRUE[:, :9])
    np.savetxt(tmp_path / "numbers.csv", TRUE[:, :9], fmt="%d", delimiter=",")
    for name in ("graph.npz", "numbers.npy", "numbers.csv"):
        assert dreval.graph_recall(tmp_path / name, X).value == 1.0
        assert dreval.graph_recall(str(tmp_path / name), X).n_neighbors == 9
    names = pd.Index([f"cell{i}" for i in range(400)])
    parts: dict[str, Any] = {"obs": pd.DataFrame(index=names), "obs_names": names, "var_names": None, "layers": {}}
    cells = SimpleNamespace(X=X, obsm={}, obsp={"distances": matrix}, uns={}, **parts)
    assert dreval.graph_recall(cells, cells).value == 1.0
    with pytest.raises(UnknownName, match="`graph` must be a key of obsp with lists"):
        dreval.graph_recall(SimpleNamespace(X=X, obsm={}, obsp={}, uns={}, **parts), X)
    with pytest.raises(InputError, match="`graph`") as error:
        dreval.graph_recall({"a": TRUE[:, :9]}, X)
    assert "metric" not in str(error.value)


def test_geodesic_neighbors_are_not_true_neighbors() -> None:
    """The true neighbors are those of a metric of the points."""
    with pytest.raises(UnknownName, match="metric"):
        dreval.graph_recall(TRUE[:, :5], X, metric="geodesic")


NAMES = pd.Index([f"p{i}" for i in range(400)])
SHUFFLED = np.random.default_rng(5).permutation(400)


def test_rows_are_matched_by_names() -> None:
    """Lists count the rows of their own table, in which order the points may be; a sparse graph has names of cells."""
    lists, named = pd.DataFrame(damaged(0.2), index=NAMES), pd.DataFrame(X, index=NAMES)
    expected = dreval.graph_recall(damaged(0.2), X)
    result = dreval.graph_recall(lists, named.iloc[SHUFFLED])
    assert result.value == expected.value < 1
    assert result.augment().set_index("id")["recall"].loc[NAMES].tolist() == expected.augment()["recall"].tolist()
    assert "rows.matched" in [note.code for note in result.notes]
    cells = SimpleNamespace(
        X=X, obs=pd.DataFrame(index=NAMES), obsm={}, obsp={"distances": kneighbors_graph(X, 10, mode="distance")},
        obs_names=NAMES, var_names=None, layers={}, uns={},
    )  # fmt: skip
    assert dreval.graph_recall(cells, named.iloc[SHUFFLED]).value == 1.0


def test_numbers_that_may_count_the_rows_of_the_points_are_refused() -> None:
    """Lists whose rows were reordered, but not their numbers, are refused, and so are other names."""
    lists, named = pd.DataFrame(TRUE[:, :10], index=NAMES), pd.DataFrame(X, index=NAMES)
    with pytest.raises(InputError, match="`graph` must have its rows in the order of X"):
        dreval.graph_recall(lists.iloc[SHUFFLED], named)
    assert dreval.graph_recall(lists.iloc[SHUFFLED].loc[named.index], named).value == 1.0
    with pytest.raises(InputError, match="graph"):
        dreval.graph_recall(lists, named.rename(index={"p0": "q0"}))
