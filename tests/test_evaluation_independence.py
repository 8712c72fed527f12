"""Tests of independence inside an evaluation: which run, against what, and that rows are those of the functions."""

from __future__ import annotations

import numpy as np
import pytest

import dreval
from dreval.errors import InputError, UnknownName

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = X[:, :2] + 0.1 * RNG.normal(size=(60, 2))
TWO = np.where(X[:, 0] > 0, "up", "down")
THREE = np.arange(60) % 3
AGE = X[:, 2] + RNG.normal(size=60)


def evaluation(**options):
    return dreval.Evaluation(X, {"e": Y}, n_neighbors=5, random_state=0, **{"labels": TWO, **options})


def rows(tests, ev=None, **options):
    table = (ev or evaluation()).run(None, tests, n_resamples=49, **options).tidy()
    return table[["test", "target", "statistic", "p_value", "effect_size", "note"]].set_index(["test", "target"])


def test_default_is_hsic_and_kcca():
    """Embedding against labels and every covariate, by HSIC and KCCA."""
    found = rows("default", evaluation(covariates={"age": AGE}))
    assert list(found.index) == [("hsic", "labels"), ("hsic", "age"), ("kcca", "labels"), ("kcca", "age")]


def test_all_are_those_that_can_answer():
    """MMD is asked where there are two classes, and not where there are three or numbers."""
    two = rows("all", evaluation(covariates={"age": AGE}))
    assert [target for test, target in two.index if test == "mmd"] == ["labels"]
    assert {test for test, _ in two.index} == set(dreval.list_tests())
    assert two["note"].eq("").all()
    three = rows("all", evaluation(labels=THREE))
    assert "mmd" not in {test for test, _ in three.index}
    asked = rows("mmd", evaluation(labels=THREE))
    assert np.isnan(asked["p_value"].iloc[0])
    assert "`labels` must be two classes" in asked["note"].iloc[0]


@pytest.mark.parametrize("labels", [TWO, (TWO == "up").astype(int)])
def test_rows_are_those_of_the_functions(labels):
    """Statistic and effect are the plain functions', with labels as classes also where their codes are integers."""
    found = rows("all", evaluation(labels=labels))
    words = TWO
    for name, other in {
        "cca": dreval.cca_test(Y, words, n_resamples=1),
        "dcov": dreval.dcov_test(Y, words, n_resamples=1),
        "hsic": dreval.hsic_test(Y, words, n_resamples=1),
        "mmd": dreval.mmd_test(Y[words == "up"], Y[words == "down"], n_resamples=1),
        "kcca": dreval.kcca_test(Y, words, n_resamples=1),
    }.items():
        assert found["statistic"][name, "labels"] == pytest.approx(other.statistic, rel=1e-10)
        if name != "kcca":  # whose effect is measured from the permuted mean
            assert found["effect_size"][name, "labels"] == pytest.approx(other.effect_size, rel=1e-10)


def test_a_target_is_named_behind_a_colon():
    """ "hsic:age" is that variable only; what is named twice is one row."""
    ev = evaluation(covariates={"age": AGE})
    assert list(rows(["hsic:age", "cca:labels", "hsic:age"], ev).index) == [("hsic", "age"), ("cca", "labels")]
    with pytest.raises(UnknownName, match="Did you mean 'age'"):
        rows("hsic:aga", ev)


def test_data_against_embedding_is_asked_by_name_and_cautioned():
    """The row has the effect size of the plain function, and says first that p means little there."""
    found = rows("hsic:data", evaluation(labels=None))
    other = dreval.hsic_test(Y, X, n_resamples=1)
    assert list(found.index) == [("hsic", "data")]
    assert found["effect_size"].iloc[0] == pytest.approx(other.effect_size)
    assert found["note"].iloc[0].startswith("read the effect size: an embedding is computed from the data")
    with pytest.raises(InputError, match="no labels and no covariates"):
        rows("hsic", evaluation(labels=None))


def test_restricted_permutations_reach_the_tests():
    """Blocks given as options are those of the plain function."""
    blocks = np.arange(60) // 10
    found = rows("hsic", options={"hsic": {"permutation": "within", "blocks": blocks}})
    assert "within their blocks" in found["note"].iloc[0]


def test_rows_hold_the_null_mean_and_name_their_effect():
    """``chance`` is the mean of the statistic by chance, of permutations or of the law in their place."""
    table = evaluation().run(None, ["hsic", "cca", "mmd"], n_resamples=99).tidy().set_index("test")
    assert table["parameters"].to_dict() == {
        "hsic": "effect_size=CKA",
        "cca": "effect_size=rho",
        "mmd": "effect_size=eta2",
    }
    assert (table["chance"] < table["statistic"]).all()
    law = evaluation().run(None, "cca", options={"cca": {"method": "chi2"}}).tidy()
    assert law["chance"].tolist() == [2.0]  # the mean of the chi-square law with 2 x 1 degrees of freedom


def test_too_few_permutations_for_so_many_tests_are_said():
    """Holm multiplies the smallest p, 1 / 50, by the number of tests: from three of them on none can be below .05."""
    ev = evaluation(covariates={"age": AGE})
    words = "No adjusted p of these 4 tests can be below 0.08, with 49 permutations each"
    few = ev.run(None, "default", n_resamples=49)
    assert words in " ".join(few.recipe["notes"])
    assert "Pass n_resamples=79 or more." in " ".join(few.recipe["notes"])
    assert few.tidy()["p_adjusted"].min() >= 0.08 - 1e-12
    for quiet in (
        ev.run(None, "default", n_resamples=79),
        ev.run(None, "default", n_resamples=49, adjust=None),
        ev.run(None, "default", n_resamples=49, adjust="benjamini_hochberg"),
    ):
        assert "can be below" not in " ".join(quiet.recipe["notes"])


def test_a_covariate_is_no_pair_of_samples():
    """MMD on numbers is sent to a test for numbers, not to ``covariates``, where they are already."""
    note = rows("mmd:age", evaluation(covariates={"age": AGE}))["note"].iloc[0]
    assert "`covariates['age']` must be classes" in note
    assert "Use hsic_test" in note
