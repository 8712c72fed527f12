"""Neighbor lists in the forms of other tools give one table; what is no list is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.spatial.distance import cdist

from dreval.errors import InputError
from dreval.inputs.data import as_data
from dreval.inputs.neighbor_lists import list_lengths, neighbor_lists

X = np.random.default_rng(3).normal(size=(12, 3))


def searched(points: Any, k: int) -> tuple[Any, Any]:
    """Return the k nearest other points of each point and their distances, by sorting all distances."""
    D = cdist(points, points)
    np.fill_diagonal(D, np.inf)
    indices = np.argsort(D, axis=1, kind="stable")[:, :k]
    return indices, np.take_along_axis(D, indices, axis=1)


def twin(indices: Any, distances: Any = None) -> Any:
    """Return the dense table of ranks by a loop over all pairs."""
    n = len(indices)
    table = np.zeros((n, n))
    for i in range(n):
        for t, j in enumerate(indices[i]):
            if distances is None:
                table[i, j] = t + 1
            else:
                table[i, j] = 1 + sum(d < distances[i][t] * (1 - 1e-12) for d in distances[i])
    return table


INDICES, DISTANCES = searched(X, 5)
WITH_SELF = np.c_[np.arange(12), INDICES]
ZERO_FIRST = np.c_[np.zeros(12), DISTANCES]


def graph(indices: Any, distances: Any) -> Any:
    """Return the sparse matrix of distances, with stored zeros."""
    n, k = indices.shape
    return csr_matrix((distances.ravel(), indices.ravel(), np.arange(n + 1) * k), (n, n))


FORMS = {
    "indices": (INDICES, []),
    "pair": ((INDICES, DISTANCES), []),
    "list of lists": (INDICES.tolist(), []),
    "pynndescent, umap: the point itself first": ((WITH_SELF, ZERO_FIRST, object()), ["lists.self"]),
    "faiss, cuML, scikit-learn: distances first": (
        (ZERO_FIRST.astype(np.float32), WITH_SELF),
        ["lists.swapped", "lists.self"],
    ),
    "uwot: a list that counts from 1": ({"idx": WITH_SELF + 1, "dist": ZERO_FIRST}, ["lists.from_one", "lists.self"]),
    "uwot: lists by metric": ({"euclidean": {"idx": WITH_SELF + 1}}, ["lists.from_one", "lists.self"]),
    "R by numbers with decimals": ({"nn.index": INDICES + 1.0, "nn.dist": DISTANCES}, ["lists.from_one"]),
    "faiss: -1 behind the last": (
        (np.c_[INDICES, np.full(12, -1)], np.c_[DISTANCES, np.full(12, 3e38)]),
        ["lists.padded"],
    ),
    "pynndescent: -1 at inf": (
        (np.c_[INDICES, np.full(12, -1)], np.c_[DISTANCES, np.full(12, np.inf)]),
        ["lists.padded"],
    ),
    "scanpy, scikit-learn: sparse": (graph(INDICES, DISTANCES), []),
    "sparse with a diagonal": (graph(WITH_SELF, ZERO_FIRST), ["lists.self"]),
    "sparse by columns": (graph(INDICES, DISTANCES).tocsc(), []),
}


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_give_the_table_of_the_twin(form: str) -> None:
    """The same search gives the same ranks in every form, and notes say what was recognized."""
    value, codes = FORMS[form]
    lists = neighbor_lists(value)
    assert np.array_equal(lists.table.toarray(), twin(INDICES, DISTANCES))
    assert [note.code for note in lists.notes] == codes


@given(data=st.data())
def test_equal_distances_share_the_first_rank(data: st.DataObject) -> None:
    """Points of a small grid have many equal distances; the order within a list does not matter among these."""
    points = data.draw(st.lists(st.tuples(*[st.integers(0, 2)] * 2), min_size=6, max_size=12).map(np.array))
    k = data.draw(st.integers(1, len(points) - 1))
    indices, distances = searched(points, k)
    expected, n = twin(indices, distances), len(points)
    first = np.arange(n), np.zeros(n)  # the points themselves: few short lists need not show that they count from 0
    assert np.array_equal(
        neighbor_lists((np.c_[first[0], indices], np.c_[first[1], distances])).table.toarray(), expected
    )
    order = np.lexsort((-indices, distances), axis=1)
    swapped = np.take_along_axis(indices, order, 1), np.take_along_axis(distances, order, 1)
    assert np.array_equal(
        neighbor_lists((np.c_[first[0], swapped[0]], np.c_[first[1], swapped[1]])).table.toarray(), expected
    )


def test_lists_of_unequal_lengths() -> None:
    """Ragged lists, lists with the point itself in some, and sparse rows keep all of their neighbors."""
    ragged = [row[: 2 + i % 3].tolist() for i, row in enumerate(INDICES)]
    lists = neighbor_lists(ragged)
    assert list_lengths(lists.table).tolist() == [2 + i % 3 for i in range(12)]
    assert lists.notes[-1].code == "lists.unequal"
    assert dict(lists.notes[-1].values) == {"short": 2, "long": 4}
    partly = INDICES.copy()
    partly[4, 2] = 4
    lists = neighbor_lists(partly)
    assert [note.code for note in lists.notes] == ["lists.self", "lists.self_behind", "lists.unequal"]
    assert lists.table[[4]].toarray().ravel()[INDICES[4, 3]] == 3  # one place nearer without the point itself


def without_number(place: int, k: int = 5) -> tuple[Any, Any]:
    """Return lists of 40 points, and their distances, in which the point at a place is in no other list."""
    points = np.random.default_rng(3).normal(size=(40, 4))
    points[place] += 50
    return searched(points, k)


@pytest.mark.parametrize(("place", "start"), [(0, 0), (39, 1)])
@pytest.mark.parametrize("form", ["indices", "pair"])
def test_lists_without_0_and_n_count_by_the_points_in_their_own_lists(place: int, start: int, form: str) -> None:
    """Of lists without the points themselves, as of dbscan in R, the right way of counting has none behind others."""
    indices, distances = without_number(place)
    numbers = indices + start
    assert 1 <= numbers.min() <= numbers.max() <= 39
    lists = neighbor_lists(numbers if form == "indices" else (numbers, distances))
    assert np.array_equal(lists.table.toarray(), twin(indices, distances))
    selves = sum(i + 1 - start in row[1:] for i, row in enumerate(numbers.tolist()))
    values = {"start": start, "other": 1 - start, "lists": selves}
    assert [(note.code, dict(note.values)) for note in lists.notes] == [("lists.inferred", values)]


def test_lists_that_may_count_from_0_or_from_1_are_refused() -> None:
    """Where no way of counting has a point in its own list behind others, the error says how the lists can show it."""
    halves = np.array([[2, 5], [1, 4], [5, 4], [3, 5], [1, 2], [5, 1], [1, 2]])  # every second begins with its point
    with pytest.raises(InputError, match="from 0 or from 1"):
        neighbor_lists(halves)
    numbers = np.array([[2, 5], [5, 4], [5, 4], [1, 5], [1, 2], [2, 1], [1, 2]])
    with pytest.raises(InputError, match="from 0 or from 1") as error:
        neighbor_lists(numbers)
    assert "numpy.arange(n) + 1" in error.value.hint
    for start in (0, 1):
        lists = neighbor_lists(np.c_[np.arange(7) + start, numbers])
        assert np.array_equal(lists.table.toarray(), twin(numbers - start))


def test_points_first_in_most_lists_count_from_0() -> None:
    """An approximate search that misses one of the points: the others begin their lists, by one way of counting."""
    indices, _ = without_number(0, 12)
    lists = np.c_[np.arange(40), indices].astype(float)
    lists[0, 0] = np.nan
    assert np.nanmin(lists) == 1
    assert dict(neighbor_lists(lists).notes[0].values)["start"] == 0


def test_hamming_distances_before_indices() -> None:
    """Two tables of whole numbers: the one that names a neighbor twice in a row holds the distances."""
    distances = np.sort(np.random.default_rng(0).integers(0, 3, size=(12, 5)), axis=1)
    assert [note.code for note in neighbor_lists((distances, INDICES)).notes] == ["lists.swapped"]
    assert neighbor_lists((INDICES, distances)).notes == ()


def symmetric(indices: Any, distances: Any) -> Any:
    """Return the union of the edges of both directions, as connectivities have."""
    directed = graph(indices, np.exp(-distances))
    return directed.maximum(directed.T)


REFUSED = {
    "three lists": (INDICES[:3], "at least 4 lists"),
    "numbers of other points": (INDICES + 40, "by their row"),
    "from 1 with a gap and 0": (np.where(INDICES == 11, 12, INDICES), "by their row"),
    "negative": (np.where(INDICES == 11, -5, INDICES), "by their row"),
    "a point twice": (np.where(INDICES == INDICES[:, :1], INDICES[:, 1:2], INDICES), "each neighbor once"),
    "coordinates": (X, "whole numbers"),
    "shapes": ((INDICES, DISTANCES[:, :3]), "a distance for each"),
    "negative distances": ((INDICES, DISTANCES - 5), "at least 0"),
    "nan distances": ((INDICES, np.where(DISTANCES > 2, np.nan, DISTANCES)), "finite distances"),
    "similarities": ((INDICES, np.exp(-DISTANCES)), "ascending"),
    "unsorted": ((INDICES, DISTANCES[:, [1, 0, 2, 3, 4]]), "ascending"),
    "an empty list": ([[], *INDICES[1:].tolist()], "a neighbor of each point"),
    "connectivities": (symmetric(INDICES, DISTANCES), "a symmetric graph with"),
    "edges without distances": (graph(INDICES, np.ones((12, 5))), "order the neighbors"),
    "not square": (graph(INDICES, DISTANCES)[:, :11], "square"),
    "negative entries": (-graph(INDICES, DISTANCES), "at least 0"),
    "text": (np.array([["a", "b"]] * 12), "lists of nearest neighbors"),
    "a mapping of other things": ({"X": X}, "lists of nearest neighbors"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_list_is_refused(case: str) -> None:
    """Each kind of wrong input has one error, which names the argument and what to do."""
    value, text = REFUSED[case]
    with pytest.raises(InputError) as error:
        neighbor_lists(value, "graph")
    assert text in str(error.value)
    assert error.value.argument == "graph"
    assert error.value.hint


def test_similarities_have_their_own_hint() -> None:
    """Descending numbers are similarities, while numbers in no order must be sorted."""
    with pytest.raises(InputError, match="Similarities descend"):
        neighbor_lists((INDICES, np.exp(-DISTANCES)))
    with pytest.raises(InputError, match="Sort each list"):
        neighbor_lists((INDICES, DISTANCES[:, [1, 0, 2, 3, 4]]))


def test_symmetric_lists_of_equal_lengths_are_lists() -> None:
    """On a ring the two nearest of each point are mutual: equal lengths, so these are lists."""
    angles = np.arange(8) * np.pi / 4 + 0.1 * np.array([0, 0, 1, 1, 0, 1, 0, 1])
    indices, distances = searched(np.c_[np.cos(angles), np.sin(angles)], 2)
    matrix = graph(indices, distances)
    assert abs(matrix - matrix.T).max() < 1e-12
    assert list_lengths(neighbor_lists(matrix).table).tolist() == [2] * 8


POINTS = np.random.default_rng(0).normal(size=(400, 5))
NEAREST, LENGTHS = searched(POINTS, 14)
KNN = graph(NEAREST, LENGTHS)


def weighted(values: Any) -> Any:
    """Return the graph of the nearest neighbors with other entries."""
    return csr_matrix((values, KNN.indices, KNN.indptr), KNN.shape)


def test_a_gap_in_a_list_is_noted() -> None:
    """The neighbors behind a -1 move up one place, with a note; one at the end, and short lists, have no such note."""
    gap, end = INDICES.copy(), INDICES.copy()
    gap[3, 2] = end[3, 4] = -1
    lists = neighbor_lists(gap)
    assert lists.table[[3]].toarray().ravel()[INDICES[3, 3]] == 3
    assert [note.code for note in lists.notes] == ["lists.padded", "lists.gaps", "lists.unequal"]
    assert [note.code for note in neighbor_lists(end).notes] == ["lists.padded", "lists.unequal"]
    short = neighbor_lists([row[: 3 + (i > 5)] for i, row in enumerate(INDICES.tolist())])
    assert [note.code for note in short.notes] == ["lists.inferred", "lists.unequal"]
    gap = INDICES.astype(float)
    gap[3, 2], gap[5, 1] = np.nan, -1
    assert {dict(note.values)["entries"] for note in neighbor_lists(gap).notes[:2]} == {("-1", "NaN")}


@pytest.mark.parametrize("scale", [0.01, 1.0])
def test_similarities_in_a_matrix_are_refused(scale: float) -> None:
    """Points with larger entries share more neighbors; distances in the same range are read without a note."""
    with pytest.raises(InputError, match="similarities up to") as error:
        neighbor_lists(weighted(scale * np.exp(-(KNN.data**2))))
    assert "multiply all" in error.value.hint
    assert neighbor_lists(weighted(scale * KNN.data / KNN.data.max())).notes == ()


def test_entries_that_may_be_similarities_are_noted() -> None:
    """Above 1 they may be other distances; at most 1 and unrelated to shared neighbors they may be either."""
    assert [note.code for note in neighbor_lists(weighted(10 * np.exp(-(KNN.data**2)))).notes] == [
        "graph.like_similarities"
    ]
    random = np.random.default_rng(1).random(KNN.nnz)
    assert [note.code for note in neighbor_lists(weighted(random)).notes] == ["graph.smaller_nearer"]
    assert neighbor_lists(weighted(2 * random)).notes == ()


def test_removed_zeros_of_copies_are_noted() -> None:
    """A copy is the nearest neighbor while its zero is stored; without it the list is short, and a note says why."""
    points = POINTS.copy()
    points[7] = points[8]
    copies = graph(*searched(points, 14))
    assert neighbor_lists(copies).notes == ()
    copies.eliminate_zeros()
    notes = neighbor_lists(copies).notes
    assert [note.code for note in notes] == ["lists.unequal", "lists.no_zeros"]
    assert dict(notes[1].values) == {"lists": 2, "n": 400, "long": 14}


def test_the_error_for_a_symmetric_graph_names_both_causes() -> None:
    """Distances in both directions are no connectivities."""
    with pytest.raises(InputError, match="a symmetric graph with 14 to") as error:
        neighbor_lists(KNN.maximum(KNN.T))
    assert "graph.maximum(graph.T)" in error.value.hint


LISTS = {
    "lists": NEAREST,
    "with the point": np.c_[np.arange(400), NEAREST],
    "from 1": NEAREST + 1,
    "numbers with decimals": NEAREST.astype(float),
    "two": NEAREST[:, :2],
    "all others": searched(POINTS, 399)[0],
}


@pytest.mark.parametrize("metric", ["euclidean", "geodesic"])
@pytest.mark.parametrize("case", LISTS)
def test_lists_are_no_features(case: str, metric: str) -> None:
    """The error has both cures."""
    with pytest.raises(InputError, match="not lists of neighbors") as error:
        as_data(LISTS[case], metric=metric)
    assert "Pass the points" in error.value.hint
    assert "metric='neighbors'" in error.value.hint
    assert as_data(np.c_[LISTS[case], np.zeros(400)], metric=metric).n == 400


def test_lists_in_a_file_are_no_features(tmp_path: Path) -> None:
    """Read at once, and as a memory map."""
    np.save(tmp_path / "lists.npy", NEAREST)
    for value in (tmp_path / "lists.npy", np.load(tmp_path / "lists.npy", mmap_mode="r")):
        with pytest.raises(InputError, match="not lists of neighbors"):
            as_data(value)


INTEGERS = np.random.default_rng(2)
NO_LISTS = {
    "random rows": np.array([INTEGERS.permutation(400)[:14] for _ in range(400)]),
    "ranks in columns": np.array([INTEGERS.permutation(400) for _ in range(2)]).T,
    "rankings of items": np.array([INTEGERS.permutation(14) for _ in range(400)]),
    "counts": INTEGERS.poisson(5, size=(400, 14)),
    "few rows": np.array([[1, 2], [0, 2], [1, 0], [2, 1]]),
}


@pytest.mark.parametrize("case", NO_LISTS)
def test_other_integers_are_features(case: str) -> None:
    """Rows of different numbers are lists only if points are often in the list of each other."""
    assert as_data(NO_LISTS[case]).p == NO_LISTS[case].shape[1]


def test_rows_of_a_graph_are_no_features() -> None:
    """A graph that was cut in its rows only, in any order, sparse or dense, of distances or similarities."""
    rng = np.random.default_rng(0)
    mask, order = rng.random(400) < 0.5, rng.permutation(400)[:150]
    weights = weighted(np.exp(-(KNN.data**2)))
    parts = [KNN[mask], KNN[order], KNN[mask].toarray(), weights.maximum(weights.T)[mask], KNN[:399]]
    for metric in ("euclidean", "geodesic"):
        for part in parts:
            with pytest.raises(InputError, match="rows of a graph of 400 points") as error:
                as_data(part, metric=metric)
            assert "graph[mask][:, mask]" in error.value.hint
    assert as_data(KNN[mask][:, mask], metric="geodesic").n == mask.sum()
    top = rng.random((200, 400))
    top[top < np.sort(top, axis=1)[:, [-14]]] = 0.0  # as many entries in each row, as of a graph
    for features in (top, csr_matrix(top), csr_matrix(rng.poisson(0.1, size=(200, 400)) + np.eye(200, 400))):
        assert as_data(features).p == 400
