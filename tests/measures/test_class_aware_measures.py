"""Class-aware trustworthiness and continuity, label retrieval: slow twins, scikit-learn, identities, hand counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from measure_calls import call_measure
from numpy.testing import assert_allclose
from sklearn.metrics import roc_auc_score
from strategies import pairs, tie_free_pairs
from validation.oracles import twins

import dreval
from dreval.errors import UndefinedMeasure
from dreval.geometry.blocks import neighbor_pass, random_groups
from dreval.geometry.view import view_without_group
from dreval.measures import core
from dreval.measures.core import answer, chance_value
from dreval.records.notes import join_notes
from dreval.registry import MEASURES

SEEDS = st.integers(0, 2**32 - 1)
CLASS_AWARE = ["class_aware_trustworthiness", "class_aware_continuity"]


def _labels(n, classes, seed):
    """Classes of unequal size in any order."""
    return np.random.default_rng(seed).permutation(np.minimum(np.arange(n) % (classes + 2), classes - 1))


def _class_aware(chosen, judge, labels, k, is_member):
    """Return 1 - the sum of (rank - k) over neighbors of the same, or of other classes, over the largest sum."""
    n, R = len(labels), twins.rank_table(judge)
    worst = twins.largest_penalty(n, k)
    penalty = sum(max(R[i, j] - k, 0) for i in range(n) for j in chosen[i, :k] if (labels[i] == labels[j]) == is_member)
    return 1.0 if worst == 0 else 1.0 - penalty / worst


@given(pair=pairs(), classes=st.integers(2, 4), k=st.integers(1, 12), seed=SEEDS)
def test_class_aware_measures_are_their_definitions(pair, classes, k, seed):
    """They are sums over the neighbors of other classes, or of the same class, by ranks of a stable sort."""
    X, Y = pair
    labels, k = _labels(len(X), min(classes, len(X) - 1), seed), min(k, len(X) - 1)
    x, y = twins.orders(X), twins.orders(Y)
    options = {"labels": labels, "n_neighbors": k}
    assert dreval.class_aware_trustworthiness(X, Y, **options) == pytest.approx(_class_aware(y, x, labels, k, False))
    assert dreval.class_aware_continuity(X, Y, **options) == pytest.approx(_class_aware(x, y, labels, k, True))


@given(pair=pairs(), classes=st.integers(2, 4), k=st.integers(1, 12), seed=SEEDS)
def test_both_kinds_of_neighbors_make_up_the_whole(pair, classes, k, seed):
    """They are never below T and C; one class, or all different: one of them is undefined, the other is T or C."""
    X, Y = pair
    n, k = len(X), min(k, len(X) - 1)
    T, C = dreval.trustworthiness(X, Y, n_neighbors=k), dreval.continuity(X, Y, n_neighbors=k)

    def value(name, labels):
        return call_measure(name, X, Y, labels=labels, n_neighbors=k)

    labels = _labels(n, min(classes, n - 1), seed)
    assert value("class_aware_trustworthiness", labels) >= T - 1e-12
    assert value("class_aware_continuity", labels) >= C - 1e-12
    assert value("class_aware_continuity", np.zeros(n, int)) == pytest.approx(C)
    assert value("class_aware_trustworthiness", np.arange(n)) == pytest.approx(T)
    for name, alike in (("class_aware_trustworthiness", np.zeros(n, int)), ("class_aware_continuity", np.arange(n))):
        with pytest.raises(UndefinedMeasure, match="`labels` must have"):
            value(name, alike)


@pytest.mark.parametrize("name", CLASS_AWARE)
def test_the_chance_level_from_a_part_of_the_rows(name, monkeypatch):
    """The chance level from random rows is the mean over permuted embeddings with all rows."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(120, 3)), rng.normal(size=(120, 2))
    labels = (X[:, 0] > 0).astype(int)
    function, view = MEASURES.get(name), replace(neighbor_pass(X, {"": Y}, k=5)[""], labels=labels)
    monkeypatch.setattr(core, "MIN_RANKED_ROWS", 40)
    chance = chance_value(function, view, {"n_neighbors": 5}, 0).value
    orders = [rng.permutation(120) for _ in range(30)]
    values = [call_measure(name, X, Y[order], labels=labels, n_neighbors=5) for order in orders]
    assert abs(chance - np.mean(values)) <= 4.5 * np.std(values, ddof=1) * np.sqrt(3 / 20 + 1 / 30)


@pytest.mark.parametrize("name", [*CLASS_AWARE, "label_retrieval_auc"])
def test_a_group_can_be_left_out(name):
    """The value without a group is that of the remaining points."""
    rng = np.random.default_rng(0)
    X, Y, labels = rng.normal(size=(60, 3)), rng.normal(size=(60, 2)), _labels(60, 3, 0)
    view = replace(neighbor_pass(X, {"": Y}, k=5, groups=random_groups(60, 4, rng))[""], labels=labels)
    parameters = {"n_neighbors": 4} if name in CLASS_AWARE else {}
    for group in range(4):
        reduced = view_without_group(view, group, 4)
        stay = reduced.population
        expected = call_measure(name, X[stay], Y[stay], labels=labels[stay], **parameters)
        assert answer(MEASURES.get(name), reduced, parameters).value == pytest.approx(expected, abs=1e-12)


@given(pair=tie_free_pairs(min_n=8), classes=st.integers(2, 4), seed=SEEDS)
def test_label_retrieval_is_the_roc_area_of_scikit_learn(pair, classes, seed):
    """Each point is a query that ranks the other points by distance; points of its class are relevant."""
    _X, Y = pair
    labels = _labels(len(Y), classes, seed)
    expected = []
    for i in range(len(Y)):
        remaining = np.arange(len(Y)) != i
        in_class = labels[remaining] == labels[i]
        area = (
            roc_auc_score(in_class, -np.linalg.norm(Y[remaining] - Y[i], axis=1))
            if 0 < in_class.sum() < len(in_class)
            else 0.5
        )
        expected.append(area)
    assert dreval.label_retrieval_auc(Y, labels=labels) == pytest.approx(np.mean(expected), abs=1e-12)


def test_label_retrieval_by_hand():
    """Points at 0, 1, 2, 2, 5 of classes a a b b c.

    From 0 (a at 1; b b c at 2, 2, 5): 1. From 1 (a at 1; b b c at 1, 1, 4): two ties of three: (1/2 + 1/2 + 1) / 3.
    From the first 2 (b at 0; a a c at 2, 1, 3): 1, and so from the second. From 5: alone, one half.
    """
    Y = np.array([0.0, 1.0, 2.0, 2.0, 5.0])[:, None]
    labels = np.array([0, 0, 1, 1, 2])
    view = replace(neighbor_pass(Y, {"": Y}, k=2)[""], labels=labels)
    result = answer(MEASURES.get("label_retrieval_auc"), view, {})
    assert_allclose(result.points, [1, 2 / 3, 1, 1, 0.5])
    assert join_notes(result.notes) == "points that are alone in their class count 0.5: 1"


def test_label_retrieval_needs_two_classes():
    """One class raises an error."""
    with pytest.raises(UndefinedMeasure, match="at least 2 classes"):
        dreval.label_retrieval_auc(np.arange(5.0), labels=np.zeros(5, int))
