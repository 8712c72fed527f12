"""Measures of neighbor lists: exact up to their length, bounds that are attained, and refusals of everything else."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

import dreval
from dreval.errors import InputError, UndefinedMeasure
from dreval.registry import MEASURES

EXACT = [card.name for card in MEASURES.cards() if card.lists == "neighbors" and "labels" not in card.needs]
CURVES = [name for name in EXACT if MEASURES.card(name).curve]
OF_TARGETS = [name for name in EXACT if "target" in MEASURES.card(name).needs]
POINTWISE = [name for name in EXACT if "n_neighbors" in MEASURES.card(name).parameters and name not in OF_TARGETS]
RANKED = [card.name for card in MEASURES.cards() if card.lists == "ranks"]


def full_lists(points: Any) -> tuple[Any, Any]:
    """Return all other points of each point by distance, then by number, and these distances."""
    D = cdist(points, points)
    np.fill_diagonal(D, np.inf)
    indices = np.argsort(D, axis=1, kind="stable")[:, :-1]
    return indices, np.take_along_axis(D, indices, axis=1)


def with_points(lists: Any) -> list[list[int]]:
    """Return lists that begin with the point itself: few short lists need not show that their numbers count from 0."""
    return [[i, *map(int, row)] for i, row in enumerate(lists)]


def places(draw: Any, n: int, d: int, largest: int) -> Any:
    """Draw n points with integer coordinates, not all equal; small ``largest`` gives many equal distances."""
    points = draw(st.lists(st.tuples(*[st.integers(0, largest)] * d), min_size=n, max_size=n).map(np.array))
    points[0] = largest + 1
    return points.astype(np.float64)


def values(name: str, X: Any, Y: Any, **options: Any) -> Any:
    """Return a measure as an array."""
    return np.asarray(getattr(dreval, name)(X, Y, **options))


@pytest.mark.slow
@given(data=st.data())
def test_full_lists_give_the_numbers_of_the_data_to_the_bit(data: st.DataObject) -> None:
    """Lists of all other points hold all ranks: every measure of ranks is equal, with equal distances as well."""
    n, largest = data.draw(st.integers(5, 14)), data.draw(st.sampled_from([2, 50]))
    X, Y = (places(data.draw, n, d, largest) for d in (3, 2))
    k, labels = data.draw(st.integers(1, n - 2)), np.arange(n) % 2
    lists = full_lists(X)
    for name in [*EXACT, *RANKED, "class_aware_continuity"]:
        card = MEASURES.card(name)
        options: dict[str, Any] = {"n_neighbors": k} if "n_neighbors" in card.parameters else {}
        options |= {"labels": labels} if "labels" in card.needs else {}
        options |= {"target": X[:, 0]} if "target" in card.needs else {}
        try:
            expected = values(name, X, Y, **options)
        except UndefinedMeasure:
            continue
        assert np.array_equal(values(name, lists, Y, metric="neighbors", **options), expected), name


@pytest.mark.slow
@given(data=st.data())
def test_shorter_lists_give_the_numbers_of_the_data(data: st.DataObject) -> None:
    """Measures of at most K neighbors are those of the data; curves are those of the data up to K."""
    n = data.draw(st.integers(6, 16))
    X, Y = (places(data.draw, n, d, 1000) for d in (3, 2))
    K = data.draw(st.integers(1, n - 2))
    k = data.draw(st.integers(1, K))
    indices, distances = full_lists(X)
    short = with_points(indices[:, :K]), np.c_[np.zeros(n), distances[:, :K]]
    for name in POINTWISE:
        expected = values(name, X, Y, n_neighbors=k)
        assert np.array_equal(values(name, short, Y, n_neighbors=k, metric="neighbors"), expected), name
    for name in CURVES:
        curve = getattr(dreval, name)(short, Y, metric="neighbors")
        assert curve.index.tolist() == list(range(1, K + 1))
        assert np.array_equal(curve, getattr(dreval, name)(X, Y).loc[:K]), name
    curve = dreval.r_nx(X, Y).loc[:K]
    area = float((curve / curve.index).sum() / np.sum(1 / np.asarray(curve.index)))
    assert math.isclose(dreval.r_nx_auc(short, Y, metric="neighbors"), area, rel_tol=0, abs_tol=1e-12)


@given(data=st.data())
def test_numbers_agree_with_a_naive_twin(data: st.DataObject) -> None:
    """Overlap, Jaccard, continuity and relative errors follow from sets and ranks, by loops over rows."""
    n = data.draw(st.integers(5, 12))
    K = data.draw(st.integers(1, n - 2))
    k = data.draw(st.integers(1, K))
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    lists = [rng.permutation([j for j in range(n) if j != i])[: K + int(rng.integers(0, 2))] for i in range(n)]
    Y = rng.normal(size=(n, 2))
    near = full_lists(Y)[0].tolist()
    shared = [len({*lists[i][:k]} & {*near[i][:k]}) for i in range(n)]
    lost = [sum(max(near[i].index(j) + 1 - k, 0) for j in lists[i][:k]) for i in range(n)]
    errors = [sum(abs(near[i].index(j) - t) / (t + 1) for t, j in enumerate(lists[i][:k])) for i in range(n)]
    worst = k * (2 * n - 3 * k - 1) / 2 if k < n / 2 else (n - k) * (n - k - 1) / 2
    norm = sum(abs(n - 2 * t + 1) / t for t in range(1, k + 1))
    expected = {
        "neighborhood_overlap": np.mean(shared) / k,
        "jaccard": np.mean([s / (2 * k - s) for s in shared]),
        "continuity": 1 - np.mean(lost) / worst if worst else 1.0,
        "mrre_missing": np.mean(errors) / norm,
    }
    for name, value in expected.items():
        result = getattr(dreval, name)(with_points(lists), Y, n_neighbors=k, metric="neighbors")
        assert math.isclose(result, value, rel_tol=0, abs_tol=1e-12), name


def completed(lists: Any, Y: Any, k: int, best: bool) -> Any:
    """Return lists of all points: behind each list the missing neighbors of the embedding come first, or last."""
    n = len(lists)
    near = full_lists(Y)[0][:, :k].tolist()
    rows = []
    for i, row in enumerate(lists):
        remaining = [j for j in range(n) if j != i and j not in row]
        rows.append([*row, *sorted(remaining, key=lambda j: (j in near[i]) != best)])
    return rows


@given(data=st.data())
def test_bounds_of_trustworthiness_are_attained(data: st.DataObject) -> None:
    """Constructed completions of the lists have the bounds as their values, and random ones lie between."""
    n = data.draw(st.integers(5, 14))
    K = data.draw(st.integers(1, n - 2))
    k = data.draw(st.integers(1, K))
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    Y = rng.normal(size=(n, 2))
    lists = [rng.permutation([j for j in range(n) if j != i])[: K + int(rng.integers(0, 2))].tolist() for i in range(n)]
    options: dict[str, Any] = {"n_neighbors": k, "metric": "neighbors"}
    bounds = dreval.trustworthiness(with_points(lists), Y, ties="bounds", **options)
    ends = {best: dreval.trustworthiness(completed(lists, Y, k, best), Y, **options) for best in (False, True)}
    assert (bounds["worst"], bounds["best"]) == (ends[False], ends[True])
    anything = [
        [*row, *rng.permutation([j for j in range(n) if j != i and j not in row])] for i, row in enumerate(lists)
    ]
    assert bounds["worst"] - 1e-12 <= dreval.trustworthiness(anything, Y, **options) <= bounds["best"] + 1e-12
    if bounds["worst"] == bounds["best"]:
        assert bounds["value"] == bounds["worst"]
    else:
        assert math.isnan(bounds["value"])
        with pytest.raises(UndefinedMeasure, match="ties='bounds'"):
            dreval.trustworthiness(with_points(lists), Y, **options)


def orders(n: int, lists: Any) -> Iterator[Any]:
    """Yield a matrix of distances for each order of all pairs in which the lists are the first of each row."""
    pairs = list(itertools.combinations(range(n), 2))
    for order in itertools.permutations(range(len(pairs))):
        D = np.full((n, n), np.inf)
        for (i, j), distance in zip(pairs, order, strict=True):
            D[i, j] = D[j, i] = distance + 1.0
        if all(np.argsort(D[i])[: len(row)].tolist() == row for i, row in enumerate(lists)):
            yield np.where(np.isinf(D), 0.0, D)


def is_acyclic(edges: set[tuple[Any, Any]]) -> bool:
    """Return whether a directed graph has no cycle, by removing nodes without an edge to them."""
    while edges:
        targets = {target for _, target in edges}
        remaining = {edge for edge in edges if edge[0] in targets}
        if len(remaining) == len(edges):
            return False
        edges = remaining
    return True


@pytest.mark.parametrize("best", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_one_symmetric_dissimilarity_attains_the_bound_where_its_orders_have_no_cycle(seed: int, best: bool) -> None:
    """All rows attain the bound together if and only if the orders of pairs that they require have no cycle.

    Of 4 points all 720 orders of the 6 distances are tried.
    """
    rng, n = np.random.default_rng(seed), 4
    Y, D = rng.normal(size=(n, 2)), np.zeros((n, n))
    upper = np.triu_indices(n, 1)
    D[upper] = rng.permutation(6) + 1.0
    D += D.T
    lists = [np.argsort(np.where(D[i] > 0, D[i], np.inf))[:1].tolist() for i in range(n)]
    near = full_lists(Y)[0][:, :1].tolist()
    required = set()
    for i, row in enumerate(completed(lists, Y, 1, best)):
        groups = [row[:1], *([j for j in row[1:] if (j in near[i]) == first] for first in (best, not best))]
        for early, late in ((groups[0], groups[1] + groups[2]), (groups[1], groups[2])):
            required |= {(frozenset((i, a)), frozenset((i, b))) for a in early for b in late}
    bound = dreval.trustworthiness(with_points(lists), Y, 1, ties="bounds", metric="neighbors")[
        "best" if best else "worst"
    ]
    sums = [dreval.trustworthiness(matrix, Y, 1, metric="precomputed") for matrix in orders(n, lists)]
    extreme = max(sums) if best else min(sums)
    assert math.isclose(extreme, bound, abs_tol=1e-12) == is_acyclic(required)


def test_a_graph_of_pairs_with_and_without_a_cycle() -> None:
    """The check for cycles itself, by hand."""
    assert is_acyclic({(1, 2), (2, 3), (1, 3)})
    assert not is_acyclic({(1, 2), (2, 3), (3, 1), (0, 1)})


X = np.random.default_rng(1).normal(size=(30, 4))
SHORT = full_lists(X)[0][:, :6]
LABELS = np.arange(30) % 3


REFUSED = [card for card in MEASURES.cards() if card.uses_metric and card.lists != "neighbors"]


@pytest.mark.parametrize("card", REFUSED, ids=lambda card: card.name)
def test_every_other_measure_is_refused_with_the_reason(card: Any) -> None:
    """Of lists that are not complete only the declared measures have a value; others say what they need."""
    options: dict[str, Any] = {"labels": LABELS} if "labels" in card.needs else {}
    needs = "ranks of points" if card.lists else "distances or coordinates"
    with pytest.raises(UndefinedMeasure, match=f"must not be 'neighbors' for measures that need {needs}"):
        getattr(dreval, card.name)(SHORT, X[:, :2], metric="neighbors", **options)


def test_more_neighbors_than_listed() -> None:
    """k is at most the length of the shortest list, and the default is below it."""
    with pytest.raises(InputError, match="at most the length of the shortest list of neighbors: got 7 with 6"):
        dreval.continuity(SHORT, X[:, :2], 7, metric="neighbors")
    expected = dreval.continuity(X, X[:, :2], 5)
    assert dreval.continuity(SHORT, X[:, :2], metric="neighbors") == expected
