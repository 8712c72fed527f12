"""Rank tests against scipy, scikit-posthocs, autorank and published values, and their invariances."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import wilcoxon

import dreval
from dreval.comparison.pair_tests import walsh_interval
from dreval.comparison.ranks import (
    block_ranks,
    critical_difference,
    friedman,
    nemenyi,
    permutation_p,
    skillings_mack,
    skillings_mack_p,
)
from dreval.comparison.tables import letter_display

ORACLE = json.loads(Path(__file__).parents[1].joinpath("validation", "oracles", "comparison.json").read_text("utf-8"))
NAN = math.nan

# Fourteen data sets by four embeddings in thousandths, some of them tied.
THOUSANDTHS = np.array(
    [
        [763, 768, 771, 798], [599, 591, 590, 569], [954, 971, 968, 967], [628, 661, 654, 657],
        [882, 888, 886, 898], [936, 931, 916, 931], [661, 668, 609, 685], [583, 583, 563, 625],
        [775, 838, 866, 875], [1000, 1000, 1000, 1000], [940, 962, 965, 962], [619, 666, 614, 669],
        [972, 981, 975, 975], [957, 978, 946, 970],
    ]
)  # fmt: skip

# Skillings and Mack (1981), Technometrics 23, p. 173: times of nine people (rows) by four methods of assembly.
ASSEMBLY = np.array(
    [
        [3.2, 4.1, 3.8, 4.2], [3.1, 3.9, 3.4, 4.0], [4.3, 3.5, 4.6, 4.8], [3.5, 3.6, 3.9, 4.0], [3.6, 4.2, 3.7, 3.9],
        [4.5, 4.7, 3.7, NAN], [NAN, 4.2, 3.4, NAN], [4.3, 4.6, 4.4, 4.9], [3.5, NAN, 3.7, 3.9],
    ]
)  # fmt: skip


def tidy(table, names=None):
    """A table of data sets by embeddings in long form."""
    table = np.asarray(table, dtype=float)
    names = names or [chr(97 + j) for j in range(table.shape[1])]
    return pd.DataFrame(
        [
            {"dataset": f"d{i}", "embedding": name, "value": table[i, j]}
            for i in range(len(table))
            for j, name in enumerate(names)
        ]
    )


def square(rows, column, names):
    """A column of the pairs as a symmetric matrix with ones on its diagonal."""
    table = pd.DataFrame(np.eye(len(names)), index=names, columns=names)
    for row in rows.to_dict("records"):
        table.loc[row["first"], row["second"]] = table.loc[row["second"], row["first"]] = row[column]
    return table.to_numpy()


@pytest.mark.parametrize("name", ["posthocs", "autorank"])
def test_the_tests_are_those_of_scipy_and_scikit_posthocs(name):
    """Friedman, Nemenyi, Wilcoxon and Wilcoxon with Holm on the tables of scikit-posthocs and autorank, to 1e-8."""
    oracle = ORACLE[name]
    comparison = dreval.compare(tidy(oracle["table"]), direction="lower")
    names = list(comparison.families["value"].names)
    overall = comparison.overall.set_index("test")
    by = dict(iter(comparison.pairs.groupby("test")))

    assert_allclose(overall.loc["friedman", ["statistic", "p_value"]].astype(float), oracle["friedman"], rtol=1e-8)
    assert_allclose(square(by["nemenyi"], "p_value", names), oracle["nemenyi"], atol=1e-8)
    assert_allclose(square(by["wilcoxon"], "p_value", names), oracle["wilcoxon"], atol=1e-8)
    assert_allclose(square(by["wilcoxon"], "p_adjusted", names), oracle["wilcoxon_holm"], atol=1e-8)


def test_ranks_and_critical_difference_are_those_of_autorank():
    """Mean ranks and Friedman's p of autorank to 1e-8; its critical difference to 1e-5.

    autorank takes the quantile from statsmodels' qsturng, an approximation; ours is scipy's, whose tail probability
    gives the level back to 1e-10.
    """
    oracle = ORACLE["autorank"]
    comparison = dreval.compare(tidy(oracle["table"]), direction="higher")
    ranks = comparison.standing.set_index("embedding")["mean_rank"]

    assert comparison.overall["p_value"][0] == pytest.approx(oracle["autorank_p"], rel=1e-8)
    assert critical_difference(30, 5) == pytest.approx(oracle["autorank_cd"], rel=1e-5)
    assert nemenyi(np.array([1.0, 1.0 + critical_difference(30, 5), 3, 3, 3]), 30)[0, 1] == pytest.approx(
        0.05, abs=1e-10
    )
    assert ranks.to_dict() == pytest.approx(oracle["autorank_ranks"], rel=1e-12)


def test_decimals_of_a_file_make_no_false_difference():
    """The table in thousandths as whole numbers gives the same tests as its decimals, where equal differences vary."""
    decimals = dreval.compare(tidy(THOUSANDTHS / 1000), direction="higher", rope=0.01)
    expected = dreval.compare(tidy(THOUSANDTHS), direction="higher", rope=10)
    columns = ["statistic", "p_value", "p_adjusted", "effect_size", "superiority", "p_first", "p_rope", "p_second"]

    assert_array_equal(decimals.pairs[columns], expected.pairs[columns])
    assert_array_equal(decimals.overall[["statistic", "p_value"]], expected.overall[["statistic", "p_value"]])


def test_the_rank_biserial_correlation_by_hand():
    """Differences 1, -2, 3, 4 have the ranks 1 to 4: (1 - 2 + 3 + 4) / 10, where the mean of the signs would be 1/2."""
    comparison = dreval.compare(
        tidy(np.array([[1, 0], [0, 2], [3, 0], [4, 0]]), ["a", "b"]), direction="higher", tests="wilcoxon"
    )

    assert comparison.pairs["effect_size"].tolist() == [0.6]


def test_skillings_mack_on_its_published_example():
    """15.493049 and p = 0.001440296302, as R's Skillings.Mack prints for the assembly times of the paper (15.49)."""
    test = skillings_mack(-ASSEMBLY)

    assert (round(test.statistic, 6), test.df) == (15.493049, 3)
    assert test.p_value == pytest.approx(0.001440296302, abs=1e-12)


def test_skillings_mack_is_durbins_test_on_a_balanced_incomplete_table():
    """Statistic, p and degrees of freedom of scikit-posthocs' test_durbin."""
    oracle = ORACLE["durbin"]
    table = np.array(oracle["table"], dtype=float)
    test = skillings_mack(table)

    assert_allclose([test.p_value, test.statistic, test.df], oracle["result"], rtol=1e-10)


@given(hnp.arrays(np.float64, st.tuples(st.integers(2, 8), st.integers(3, 5)), elements=st.floats(0, 1), unique=True))
def test_skillings_mack_is_friedmans_test_without_missing_cells(table):
    """Without missing cells and ties the two chi-squares are one."""
    general, special = skillings_mack(table), friedman(table)
    for name in ("statistic", "p_value", "df"):
        assert_allclose(getattr(general, name), getattr(special, name), rtol=1e-9, atol=1e-12)


@given(hnp.arrays(np.int64, st.tuples(st.integers(2, 7), st.integers(3, 4)), elements=st.integers(-9, 9)))
def test_monotone_transformations_and_names_have_no_effect_on_rank_tests(table):
    """A rising function within each data set does not change the rank tests; nor does a falling one with the other
    direction.
    """
    comparison = dreval.compare(tidy(table), direction="higher", tests=["friedman", "nemenyi"])
    risen = np.exp(table / 3.0) * np.arange(1, len(table) + 1)[:, None]
    for transformed, direction in ((risen, "higher"), (-risen, "lower")):
        result = dreval.compare(tidy(transformed), direction=direction, tests=["friedman", "nemenyi"])
        assert_allclose(result.overall["statistic"], comparison.overall["statistic"], rtol=1e-12)
        assert_allclose(result.pairs["p_value"], comparison.pairs["p_value"], rtol=1e-12)
        assert_allclose(result.standing["mean_rank"], comparison.standing["mean_rank"], rtol=1e-12)


@given(hnp.arrays(np.int64, st.tuples(st.integers(2, 7), st.just(3)), elements=st.integers(-9, 9)))
def test_swapping_embeddings_turns_the_signs_and_keeps_the_p_values(table):
    """With the columns in the other order every pair is reversed, its p is the same, and the better one is the same."""
    original = dreval.compare(tidy(table), direction="higher").pairs
    turned = dreval.compare(tidy(table[:, ::-1], ["c", "b", "a"]), direction="higher").pairs
    merged = original.merge(turned, left_on=["test", "first", "second"], right_on=["test", "second", "first"])

    assert len(merged) == len(original)
    for column in ("difference", "effect_size"):
        assert_allclose(merged[f"{column}_x"], -merged[f"{column}_y"], atol=1e-12)
    assert_allclose(merged["p_value_x"], merged["p_value_y"], rtol=1e-12)
    assert (merged["better_x"] == merged["better_y"]).all()


@given(st.integers(0, 2**32 - 1), st.integers(2, 7))
def test_letters_are_shared_by_exactly_the_pairs_that_do_not_differ(seed, count):
    """Two items share a letter if and only if their pair does not differ."""
    rng = np.random.default_rng(seed)
    differing = {(i, j) for i in range(count) for j in range(i + 1, count) if rng.random() < 0.5}
    letters = letter_display(count, differing)

    for i in range(count):
        for j in range(i + 1, count):
            assert bool(set(letters[i]) & set(letters[j])) == ((i, j) not in differing)
    assert all(letters)


def test_nemenyi_has_its_level_at_the_critical_difference():
    """Two mean ranks that differ by the critical difference have p = alpha."""
    difference = critical_difference(20, 5, 0.1)

    assert nemenyi(np.array([1.0, 1.0 + difference, 3, 3, 3]), 20)[0, 1] == pytest.approx(0.1, abs=1e-6)


def test_data_sets_that_all_agree_have_an_exact_p():
    """Four data sets with one order of three: F is infinite, and p the share of 6^4 orders in which all agree."""
    comparison = dreval.compare(tidy([[1, 2, 3]] * 4), direction="higher")
    row = comparison.overall.set_index("test").loc["iman_davenport"]

    assert math.isinf(row["statistic"])
    assert row["p_value"] == pytest.approx(6 / 6**4)


@pytest.mark.parametrize("table", [[[1, 1, 1]] * 3, [[2, 2, 2], [3, 3, 3]]])
def test_equal_embeddings_do_not_differ(table):
    """All ties: no statistic, the reason, p = 1 for each pair, one letter."""
    comparison = dreval.compare(tidy(table), direction="higher", rope=0.1)
    overall = comparison.overall.iloc[0]
    wilcoxon = comparison.pairs[comparison.pairs["test"] == "wilcoxon"]

    assert math.isnan(overall["p_value"])
    assert "equal on every data set" in overall["note"]
    assert (wilcoxon["p_value"] == 1).all()
    assert (comparison.standing["letters"] == "a").all()
    assert (comparison.pairs.loc[comparison.pairs["test"] == "bayes", "p_rope"] == 1).all()


@given(hnp.arrays(np.int64, st.tuples(st.integers(2, 4), st.just(3)), elements=st.integers(0, 3)))
def test_the_exact_p_is_the_share_of_all_arrangements(table):
    """The share over every arrangement of every row, with or without ties, of scipy's chi-square."""
    ranks = block_ranks(table.astype(float))
    test = permutation_p(ranks, np.random.default_rng(0))
    orders = [list(itertools.permutations(row)) for row in ranks]
    spread = [np.square(np.sum(rows, axis=0)).sum() for rows in itertools.product(*orders)]

    assert test.p_kind == "exact"
    assert_allclose(test.p_value, np.mean(np.array(spread) >= np.square(ranks.sum(axis=0)).sum() - 1e-9), rtol=1e-12)


def test_exact_p_values_are_those_of_published_tables():
    """Friedman's chi-square with three embeddings on three data sets: 4.667 has p = .194, 6 has p = .028."""
    values = [[0.946, 0.912, 0.862], [0.848, 0.816, 0.662], [0.948, 0.911, 0.894]]
    for table, p in ((values, 6 / 216), ([[3, 2, 1], [3, 2, 1], [3, 1, 2]], 42 / 216)):
        comparison = dreval.compare(tidy(table), direction="higher").overall.set_index("test")
        assert_allclose(comparison.loc["friedman_exact", "p_value"], p, rtol=1e-12)


def test_random_arrangements_agree_with_enumerated_ones(monkeypatch):
    """The same table by enumeration and by random draws, within four standard errors; the same seed, the same p."""
    table = np.random.default_rng(4).normal(size=(8, 4)) + 0.3 * np.arange(4)
    exact = permutation_p(block_ranks(table), np.random.default_rng(0))
    monkeypatch.setattr("dreval.comparison.ranks.MAX_EXACT_SUMS", 0)
    draws = [permutation_p(block_ranks(table), np.random.default_rng(1)) for _ in range(2)]
    p = exact.p_value

    assert (exact.p_kind, draws[0].p_kind) == ("exact", "permutation")
    assert draws[0] == draws[1]
    assert abs(draws[0].p_value - p) < 4 * math.sqrt(p * (1 - p) / 9_999) + 1e-4


def test_the_paragraph_reports_the_deciding_test():
    """Few data sets: by arrangements, where F alone would reject; more than thirty: F."""
    of_three = dreval.compare(tidy([[3, 2, 1], [3, 2, 1], [3, 1, 2]]), direction="higher").paragraph()
    of_many = dreval.compare(tidy(np.random.default_rng(0).normal(size=(31, 3))), direction="higher").paragraph()
    agreeing = dreval.compare(tidy([[3, 2, 1]] * 3), direction="higher")

    assert "By value, no significant difference overall (Friedman χ²(2) = 4.67, exact p = .194; mean" in of_three
    assert "By value, no significant difference overall (Iman-Davenport F(2, 60) = " in of_many
    assert "By value, the embeddings differ (Friedman χ²(2) = 6.00, exact p = .028; mean ranks" in agreeing.paragraph()


def test_two_embeddings_have_no_test_of_ranks_with_or_without_missing_cells():
    """The test of the pair suffices; a missing cell adds no other test."""
    for gap in (2.0, math.nan):
        comparison = dreval.compare(tidy([[1.0, 2.0], [3.0, 1.0], [1.0, gap], [2.0, 1.0]]), direction="higher").overall
        assert comparison["p_value"].isna().all()
        assert comparison["note"].str.contains("needs three embeddings").all()


def test_the_interval_of_signed_ranks_is_the_published_one():
    """Hamilton depression scores (Hollander, Wolfe and Chicken 2014, example 3.1): (-.786, -.010) at 96.1 %."""
    before = np.array([1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30])
    after = np.array([0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29])
    assert_allclose(walsh_interval(after - before, 0.05), (-0.786, -0.010), atol=5e-4)


@given(st.integers(6, 60), st.integers(0, 999), st.sampled_from([0.05, 0.1]))
def test_the_interval_of_signed_ranks_holds_values_that_the_test_does_not_reject(n, seed, alpha):
    """Just within its ends scipy's p is above alpha, just beyond it is not; on 51 data sets and more nearly so."""
    d = np.random.default_rng(seed).normal(0.3, size=n)
    low, high = walsh_interval(d, alpha)
    step = 1e-9
    slack = 0.0 if n <= 50 else 0.003
    for inside, beyond in ((low + step, low - step), (high - step, high + step)):
        assert wilcoxon(d - inside).pvalue > alpha - slack
        assert wilcoxon(d - beyond).pvalue <= alpha + slack


def test_too_few_data_sets_have_no_interval_of_signed_ranks():
    """Five at 5 %: 2 / 2^5 = .0625; six have one from end to end."""
    assert np.isnan(walsh_interval(np.arange(1.0, 6.0), 0.05)).all()
    assert walsh_interval(np.arange(1.0, 7.0), 0.05) == (1.0, 6.0)


@given(st.integers(0, 99), st.integers(2, 3), st.sampled_from([2, 9]))
def test_skillings_mack_enumerates_permutations_within_data_sets(seed, n, levels):
    """p is the share of all permutations of observed cells, each with its statistic, with or without ties."""
    rng = np.random.default_rng(seed)
    values = rng.integers(levels, size=(n, 3)).astype(float)
    values[0, rng.integers(3)] = NAN
    places = [np.flatnonzero(~np.isnan(row)) for row in values]
    orders = [
        [dict(zip(at, order, strict=True)) for order in itertools.permutations(row[at])]
        for row, at in zip(values, places, strict=True)
    ]
    statistics = []
    for rows in itertools.product(*orders):
        filled = np.array([[row.get(j, NAN) for j in range(3)] for row in rows])
        statistics.append(skillings_mack(filled).statistic)
    expected = np.mean(np.array(statistics) >= skillings_mack(values).statistic - 1e-9)
    test = skillings_mack_p(values, rng)
    assert test.p_kind == "exact"
    assert_allclose(test.p_value, expected, rtol=1e-12)


def test_skillings_mack_by_permutation_is_friedman_by_arrangements_without_missing_cells():
    """Both are enumerated with ties; if drawn, they agree within the error of 9,999 draws."""
    rng = np.random.default_rng(5)
    tied = rng.integers(3, size=(4, 3)).astype(float)
    expected = permutation_p(block_ranks(tied), rng).p_value
    assert_allclose(skillings_mack_p(tied, rng).p_value, expected, rtol=1e-12)
    continuous = rng.normal([0, 0.4, 0.8], size=(9, 3))
    drawn, exact = skillings_mack_p(continuous, rng), permutation_p(block_ranks(continuous), rng).p_value
    assert drawn.p_kind == "permutation"
    assert abs(drawn.p_value - exact) <= 4 * math.sqrt(exact * (1 - exact) / 9999) + 1e-4
