"""The chance level with ties in the embedding; ``tests/validation/calibration`` has long runs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from measure_calls import call_measure
from numpy.testing import assert_allclose

import dreval
from dreval.geometry.blocks import neighbor_pass
from dreval.measures.core import chance_value, ties_of
from dreval.measures.ranks import chance_rank_measure
from dreval.registry import MEASURES

RANKS = ["trustworthiness", "continuity", "neighborhood_overlap", "jaccard", "mrre_false", "mrre_missing"]
CHANCE_NOTE = "ties in the embedding change the chance level: it is the mean over 20 row permutations"


def _binary(seed=0, n=80):
    """Binary data in three columns and an unrelated embedding that is rounded."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, 2, size=(n, 3)).astype(float), np.round(rng.normal(size=(n, 2)))


def _table(X, Y, **options):
    ev = dreval.Evaluation(X, {"a": Y, "b": Y.copy()}, n_neighbors=10, **{"random_state": 0, **options})
    return ev.run(["trustworthiness", "continuity", "r_nx_auc", "r_nx"], None, None)


def test_an_unrelated_map_of_binary_data_is_not_above_chance():
    """n = 80, k = 10: the closed form is .526, the mean over 100 permutations near .565; the latter is reported."""
    X, Y = _binary()
    rng, row = np.random.default_rng(1), _table(X, Y).table.set_index(["embedding", "measure"])
    orders = [rng.permutation(80) for _ in range(100)]
    values = {
        "trustworthiness": [dreval.trustworthiness(X, Y[order], n_neighbors=10) for order in orders],
        "r_nx_auc": [dreval.r_nx_auc(X, Y[order]) for order in orders],
    }
    for name, closed in (("trustworthiness", chance_rank_measure(80, 10)), ("r_nx_auc", 0.0)):
        mean, spread = np.mean(values[name]), np.std(values[name], ddof=1)
        chance = row.loc[("a", name), "chance"]
        assert abs(chance - mean) <= 4 * spread * np.sqrt(1 / 20 + 1 / 100)
        assert min(chance, mean) - closed > 4 * spread * np.sqrt(1 / 20)
        assert CHANCE_NOTE in row.loc[("a", name), "note"]
    assert chance_rank_measure(80, 10) == pytest.approx(0.526, abs=5e-4)
    assert np.mean(values["trustworthiness"]) == pytest.approx(0.565, abs=0.01)


def test_chance_is_the_mean_of_all_pairings():
    """The closed form is the mean without ties in the embedding, also for tied data; with ties permutations are drawn.

    Five points in 120 orders; of six points with two places 15 orders differ, and stand for 720. The draws are within 4
    standard errors of the mean of all pairings by the public functions; the closed form is off by more than .01, with
    no chance in it.
    """
    data = np.array([0.0, 1, 2, 3, 4, 5])[:, None]  # tied from every inner point
    free = np.array([0.0, 0.3, 1.1, 2.7, 4.2, 7.9])[:, None]
    tied = np.array([0.0, 0.0, 0.0, 0.0, 1.0, 1.0])[:, None]
    for X, Y, permuted in ((data[:5], free[:5], False), (data, tied, True)):
        orders = {Y[list(order)].tobytes(): list(order) for order in itertools.permutations(range(len(X)))}
        view = neighbor_pass(X, {"": Y}, k=2)[""]
        for name in ("trustworthiness", "r_nx_auc"):
            options = {"n_neighbors": 2} if name in RANKS else {}
            values = [call_measure(name, X, Y[order], **options) for order in orders.values()]
            levels = [chance_value(MEASURES.get(name), view, options, root) for root in range(10)]
            mean, error = np.mean(values), np.std(values) / np.sqrt(200)
            assert {level.draws for level in levels} == {20 * permuted}
            assert abs(np.mean([level.value for level in levels]) - mean) <= (4 * error if permuted else 1e-12)
            if permuted:
                closed = chance_rank_measure(6, 2) if options else 0.0
                assert abs(closed - mean) > 0.01
                assert np.sqrt(np.mean([level.se**2 for level in levels])) == pytest.approx(
                    error * np.sqrt(10), rel=0.25
                )


@pytest.mark.parametrize("name", RANKS)
def test_only_counted_ties_put_the_closed_form_out_of_use(name):
    """A tie of the ranks 3 and 4 changes the first 3 neighbors, but not the first 2."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(5, 2)), np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.7], [-2.5, 0.0], [0.0, -2.5]])
    view = neighbor_pass(X, {"": Y}, k=3)[""]
    draws = {k: chance_value(MEASURES.get(name), view, {"n_neighbors": k}, 0).draws for k in (1, 2, 3)}
    reads_all = name in ("continuity", "mrre_missing")
    assert draws[3] == 20
    assert draws[1] == 20 * reads_all


def test_equal_embeddings_seeds_and_threads():
    """Equal embeddings have equal chance levels for any number of threads; seeds change it by sampling error only."""
    X, Y = _binary(3)
    table = _table(X, Y, n_jobs=1)
    chance = table.table.pivot(index="measure", columns="embedding", values="chance")
    assert_allclose(chance["a"], chance["b"], rtol=0, atol=0)
    repeated = _table(X, Y, n_jobs=2)
    assert_allclose(repeated.table["chance"], table.table["chance"], rtol=0, atol=0)
    assert_allclose(repeated.curves["chance"], table.curves["chance"], rtol=0, atol=0)
    view = neighbor_pass(X, {"": Y}, k=10)[""]
    levels = [chance_value(dreval.trustworthiness, view, {"n_neighbors": 10}, root) for root in range(12)]
    typical = np.sqrt(np.mean([level.se**2 for level in levels]))
    assert len({level.value for level in levels}) == 12
    assert np.ptp([level.value for level in levels]) <= 7 * typical


def test_the_curve_and_its_area_have_one_chance():
    """The mean of the chance curve of R_NX with weights 1/K is the chance level of the area, from the same draws."""
    X, Y = _binary(4)
    results = dreval.Evaluation(X, {"a": Y}, random_state=0).run(
        ["r_nx", "r_nx_auc"], None, None, options={"r_nx": {"all_k": True}}
    )
    curve, row = results.curves, results.table.iloc[0]
    assert np.average(curve["chance"], weights=1 / curve["K"]) == pytest.approx(row["chance"], abs=1e-12)
    assert row["chance"] > 0.01


def test_values_of_one_for_every_permutation():
    """Equal distances in both spaces, or no triplet with an order: value and chance level are 1."""
    X = np.eye(6)
    table = dreval.Evaluation(X, {"e": X}, n_neighbors=2, random_state=0).run(
        ["pearson_distance", "spearman_distance", "kendall_distance", "local_radius_correlation", "triplet_accuracy"],
        None,
        None,
    )
    assert_allclose(table.table["value"], 1.0)
    assert_allclose(table.table["chance"], 1.0)
    Y = np.random.default_rng(0).normal(size=(6, 2))
    table = dreval.Evaluation(X, {"e": Y}, n_neighbors=2, random_state=0).run(["pearson_distance"], None, None)
    assert (table.table[["value", "chance"]] == 0.0).all(axis=None)


def test_a_tie_by_accident_leaves_the_closed_form():
    """One tie at one of 600 points changes no chance level that is printed; ties at all points do."""
    rng = np.random.default_rng(0)
    X, Y, k = rng.normal(size=(600, 4)), rng.normal(size=(600, 2)), 10
    drawn, ties = [], []
    for row in range(12):  # ties are searched at a third of the points
        far, near = Y[(row + 1) % 600], Y.copy()
        near[(row + 2) % 600] = Y[row] + (far - Y[row]) @ [[0.0, 1.0], [-1.0, 0.0]]  # turned about the point
        view = neighbor_pass(X, {"": near}, k=k)[""]
        drawn.append(chance_value(MEASURES.get("trustworthiness"), view, {"n_neighbors": k}, 0).draws)
        ties.append(int(ties_of(view).sum()))
    assert set(drawn) == {0}
    assert set(ties) == {0, 1}
    rounded = neighbor_pass(X, {"": np.round(Y, 1)}, k=k)[""]
    assert chance_value(MEASURES.get("trustworthiness"), rounded, {"n_neighbors": k}, 0).draws == 20
