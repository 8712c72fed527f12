"""Whole evaluations with anchors among many points, at a low limit: the values are those of the pass in memory."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

import dreval
from dreval.evaluation import evaluation, rows
from dreval.geometry import blocks
from dreval.measures import coranking

N, M = 1200, 120
NUMBERS = ["value", "se", "conf_low", "conf_high", "n_used", "n_groups"]
SAMPLED = ["r_nx_auc"]  # from lists and sampled points
NEED_ALL_RANKS = ["k_max", "q_local", "q_global"]  # need all ranks
UNSAMPLED = ["stress", "stress_nonmetric", "distance_correlation", "density_kl", "silhouette", "clisi", "cohesiveness"]
CURVES = ["q_nx", "b_nx", "r_nx", "lcmc"]


def clouds() -> tuple[np.ndarray, dict[str, np.ndarray], np.ndarray]:
    """Return four clusters, a map with noise, one with ties and an unrelated one."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, N)
    X = 2 * rng.normal(size=(4, 6))[labels] + rng.normal(size=(N, 6))
    maps = {"some": X[:, :2] + 0.1 * rng.normal(size=(N, 2)), "tied": np.round(2 * X[:, :2]) / 2}
    return X, {**maps, "none": rng.normal(size=(N, 2))}, labels


def table(measures: Any, limit: int | None, seed: int = 0, tests: Any = None, **options: Any) -> Any:
    """The result, with this number of points up to which all ranks are computed."""
    X, embeddings, labels = clouds()
    with pytest.MonkeyPatch.context() as patch:
        for place in (blocks, rows, coranking) if limit is not None else ():
            patch.setattr(place, "ALL_RANKS", limit, raising=False)
        return dreval.Evaluation(X, embeddings, labels=labels, anchors=M, random_state=seed).run(
            measures, tests, **options
        )


def by_measure(result: Any) -> pd.DataFrame:
    """Numbers of each embedding and measure."""
    return result.table.set_index(["embedding", "measure"])


@pytest.mark.slow
@pytest.mark.parametrize("measures", ["default", pytest.param(UNSAMPLED, marks=pytest.mark.slow)])
def test_values_are_those_of_the_pass_in_memory(measures: Any) -> None:
    """Values, errors and intervals exactly, and stated chance levels; those of tied maps are stated too."""
    limited, unlimited = by_measure(table(measures, 1000)), by_measure(table(measures, None))
    assert_array_equal(limited.index, unlimited.index)
    exact = ~limited.index.get_level_values("measure").isin(SAMPLED)
    columns = [column for column in NUMBERS if column in unlimited]
    pd.testing.assert_frame_equal(limited.loc[exact, columns], unlimited.loc[exact, columns], check_exact=True)
    tied = unlimited["worst"].notna() & exact if "worst" in unlimited else ~exact & exact
    assert limited.loc[tied, "note"].str.contains("row number").all()  # in place of bounds over all orders of ties
    closed = [name for name in unlimited.index if dreval.card(name[1]).chance != "permutation"]
    distinct = [name for name in closed if name[0] != "tied"]
    assert_array_equal(limited.loc[distinct, "chance"], unlimited.loc[distinct, "chance"])
    np.testing.assert_allclose(
        limited.loc[closed, "chance"], unlimited.loc[closed, "chance"], atol=0.005
    )  # that without ties


@pytest.mark.slow
def test_chance_levels_are_those_of_random_pairings() -> None:
    """Means of chance levels over seeds differ by at most 4 standard errors, since the permutations differ."""
    names, n_seeds = ["knn_accuracy", "procrustes_rc", "stress", "silhouette"], 5
    limited, unlimited = (
        np.array([by_measure(table(names, limit, seed, ci=None))["chance"].to_numpy() for seed in range(n_seeds)])
        for limit in (1000, None)
    )
    error = np.sqrt((limited.var(axis=0, ddof=1) + unlimited.var(axis=0, ddof=1)) / n_seeds)
    assert (np.abs(limited.mean(axis=0) - unlimited.mean(axis=0)) < 4 * error + 1e-9).all()


def test_areas_and_curves_are_those_of_all_ranks_within_their_error() -> None:
    """The interval of the area from sampled ranks covers the area from all ranks, and both are close."""
    expected = [*SAMPLED, *CURVES]
    limited, unlimited = table(expected, 1000), table(expected, None)
    sampled, is_known = by_measure(limited), by_measure(unlimited)
    assert (sampled["conf_low"] <= is_known["value"]).all()
    assert (is_known["value"] <= sampled["conf_high"]).all()
    assert (np.abs(sampled["value"] - is_known["value"]) < sampled["se"]).all()
    assert sampled["note"].str.contains("drawn with more weight on near points").all()
    keys = ["embedding", "measure", "K"]
    pairs = limited.curves.merge(unlimited.curves, on=keys, suffixes=("", "_known"))
    assert len(pairs) >= 0.9 * len(limited.curves)
    near = pairs["K"] <= 64  # as far as the lists reach
    assert_array_equal(sorted(set(pairs["measure"])), sorted(CURVES))
    np.testing.assert_allclose(pairs.loc[near, "value"], pairs.loc[near, "value_known"], atol=1e-12)
    inside = pairs[near & pairs["band_low"].notna()]  # the contributions of anchors are the same, and so is their band
    assert len(inside) > 100
    for end in ("band_low", "band_high"):
        np.testing.assert_allclose(inside[end], inside[f"{end}_known"], atol=0.02)
    middle = (limited.curves["band_low"] + limited.curves["band_high"]) / 2
    free = (
        (limited.curves["band_low"] > -0.5) & (limited.curves["band_high"] < 1) & (limited.curves["measure"] == "r_nx")
    )
    np.testing.assert_allclose(middle[free], limited.curves["value"][free], atol=1e-12)
    bounded = pairs["K"] < 0.9 * N  # R_NX has no scale at the end
    np.testing.assert_allclose(pairs.loc[bounded, "value"], pairs.loc[bounded, "value_known"], atol=0.06)


def test_measures_that_need_all_ranks_raise_an_error_by_name() -> None:
    """The row has the reason, and all other measures have values."""
    result = by_measure(table([*NEED_ALL_RANKS, "trustworthiness"], 1000))
    assert result.loc[(slice(None), NEED_ALL_RANKS), "value"].isna().all()
    assert result.loc[(slice(None), NEED_ALL_RANKS), "note"].str.contains("needs all ranks").all()
    assert result.loc[(slice(None), ["trustworthiness"]), "value"].notna().all()


@pytest.mark.slow
def test_tests_of_permuted_embeddings_run() -> None:
    """Statistics are those of the pass in memory, and p-values of an unrelated map are not small."""
    requested = ["kcca", "hsic"]
    limited, unlimited = (table(["stress"], limit, tests=requested, n_resamples=99).table for limit in (1000, None))
    limited, unlimited = limited[limited["test"] != ""], unlimited[unlimited["test"] != ""]
    assert_array_equal(limited["test"], unlimited["test"])
    assert sorted(set(limited["test"])) == sorted(requested)
    np.testing.assert_allclose(limited["statistic"], unlimited["statistic"], rtol=1e-9)
    np.testing.assert_allclose(limited["p_value"], unlimited["p_value"], atol=0.2)


def test_chance_levels_may_use_a_part_of_many_anchors(monkeypatch: Any) -> None:
    """If there are more anchors than a draw of the chance level needs, it reads the lists of those that it draws."""
    from dreval.measures import core

    monkeypatch.setattr(core, "POINTS", 40 * core.DRAWS)
    chance = by_measure(table(["knn_accuracy", "procrustes_rc"], 1000))["chance"]
    assert chance["none", "knn_accuracy"] == pytest.approx(0.25, abs=0.15)
    assert chance["none", "procrustes_rc"] > 0.5


def test_an_embedding_is_freed_before_the_next_one_is_measured() -> None:
    """The anchored view of an embedding is freed: shared objects, such as the pairs of the data, do not hold it."""
    observed: dict[str, Any] = {}
    alive = []
    evaluate = evaluation.evaluate_where_labeled

    def measured(name: str, view: Any, *arguments: Any) -> Any:
        alive.append([value for value, expected in observed.items() if expected() is not None])
        observed[name] = weakref.ref(view)
        return evaluate(name, view, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluation, "evaluate_where_labeled", measured)
        table("default", 1000, tests="hsic", n_resamples=9)
    assert list(observed) == ["some", "tied", "none"]
    assert alive == [[], [], []]
