"""Comparison across data sets: accepted input, errors, missing cells, replicates, the two models, sentences."""

from __future__ import annotations

import itertools
import json
import math
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose
from scipy import stats

import dreval
from dreval.comparison.pair_tests import bayesian_signed_rank, region_shares
from dreval.errors import InputError, UnknownName
from dreval.glossary import OVERALL_COLUMNS, PAIR_COLUMNS, STANDING_COLUMNS
from dreval.records.frames import PAIR_NOTE_KEYS, notes_by_row, notes_of_table
from dreval.records.notes import join_notes
from dreval.report.documents.comparison import letter_text

ORACLE = json.loads(Path(__file__).parents[1].joinpath("validation", "oracles", "comparison.json").read_text("utf-8"))


def table(n=8, k=3, seed=0, replicates=1, gain=0.05):
    """Return values that rise with the position of the embedding, on data sets of different difficulty."""
    rng = np.random.default_rng(seed)
    hard, cell = rng.normal(size=n), 0.02 * rng.normal(size=(n, k))
    return pd.DataFrame(
        [
            {
                "dataset": f"data {i}", "embedding": f"m{j}", "replicate": r, "measure": "accuracy",
                "value": 0.5 + 0.1 * hard[i] + gain * j + cell[i, j] + 0.02 * rng.normal(),
            }
            for i in range(n) for j in range(k) for r in range(replicates)
        ]
    )  # fmt: skip


def compared(frame, **options):
    return dreval.compare(frame, **{"direction": "higher", **options})


def small(seed=0, rows=60, **options):
    """A small evaluation of two embeddings."""
    X = np.random.default_rng(seed).normal(size=(rows, 4))
    ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, **{"random_state": 0, **options})
    return ev.run(["trustworthiness", "procrustes_rc"], ci=None)


def test_tables_have_the_closed_columns():
    """The three tables have the columns of the glossary, in their order."""
    comparison = compared(table(), tests="all", rope=0.01)

    assert list(comparison.tidy()) == list(PAIR_COLUMNS)
    assert list(comparison.overall) == list(OVERALL_COLUMNS)
    assert list(comparison.glance()) == list(STANDING_COLUMNS)
    assert dict(comparison.pairs["test"].value_counts()) == dict.fromkeys(["nemenyi", "wilcoxon", "bayes", "mixed"], 3)


@pytest.mark.slow
def test_results_files_and_frames_are_one_table(tmp_path):
    """Results, their saved files and their tidy tables give the same comparison; the card has the direction."""
    results = [small(seed) for seed in range(3)]
    files = [result.save(tmp_path / f"{i}.dreval") for i, result in enumerate(results)]
    frames = [result.table.assign(dataset=f"data {i}") for i, result in enumerate(results)]
    pd.concat(frames).to_csv(tmp_path / "all.csv", index=False)
    expected = dreval.compare(results).pairs

    for source in (files, frames, pd.concat(frames), str(tmp_path / "all.csv"), [results[0], files[1], frames[2]]):
        pd.testing.assert_frame_equal(dreval.compare(source).pairs, expected, check_exact=True)
    assert dreval.compare(results).families["procrustes_rc(n_neighbors=5)"].higher is False


def test_the_same_data_with_another_seed_is_a_replicate():
    """By the hash of the data, another seed is averaged with the first; the same seed raises an error."""
    results = [small(0), small(0, random_state=1), small(1)]
    comparison = dreval.compare(results, measure="trustworthiness")
    family = next(iter(comparison.families.values()))

    assert list(family.cells.index) == ["data", "data (2)"]
    assert sorted(family.rows["replicate"].unique()) == [0, 1]
    assert "datasets.replicates" in set(comparison.notes["code"])
    with pytest.raises(InputError, match="must have one value for each cell"):
        dreval.compare([small(0), small(0), small(1)])


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda t: t.drop(columns="dataset"), {}, "must have one column 'dataset'"),
        (lambda t: pd.concat([t, t]), {}, "must have one value for each cell: got two for dataset 'data 0'"),
        (lambda t: t.assign(value=np.inf), {}, "must be finite or missing: got infinity in row 0"),
        (lambda t: t.assign(value="x"), {}, "must hold numbers"),
        (lambda t: t, {"direction": None}, "must be known for every measure"),
        (lambda t: t, {"direction": {"acuracy": "higher"}}, "Did you mean 'accuracy'"),
        (lambda t: t, {"direction": "up"}, "must be a known name"),
        (lambda t: t, {"tests": ["wilcoxn"]}, "Did you mean 'wilcoxon'"),
        (lambda t: t, {"tests": "bayes"}, "must be given for the Bayesian test"),
        (lambda t: t, {"rope": -1}, "must be a finite number >= 0"),
        (lambda t: t, {"measure": "acuracy"}, "Did you mean 'accuracy'"),
        (lambda t: t, {"columns": {"method": "m"}}, "must have names of standard columns as keys"),
        (lambda t: t[t["dataset"] == "data 0"], {}, "must hold two embeddings on two data sets"),
        (lambda t: t[t["embedding"] == "m0"], {}, "must hold two embeddings on two data sets"),
        (lambda t: t.assign(embedding=t["embedding"].where(t.index > 0)), {}, "must name the embedding of each row"),
        (lambda _: [], {}, "must be tables or results"),
        (lambda _: [3], {}, "must be tables or results"),
    ],
)
def test_invalid_comparisons_raise_an_error(change, options, message):
    """Each invalid input has its own error message."""
    with pytest.raises((InputError, UnknownName), match=message):
        compared(change(table()), **options)


def test_columns_may_have_other_names():
    """A table of another program, with other column names and no measure, has the same numbers."""
    scores = table()[["dataset", "embedding", "value"]]
    renamed = scores.rename(columns={"dataset": "problem", "embedding": "algorithm", "value": "score"})
    names = {"dataset": "problem", "embedding": "algorithm", "value": "score"}
    comparison = compared(renamed, columns=names)

    assert comparison.measures == ["score"]
    pd.testing.assert_frame_equal(
        comparison.pairs.drop(columns="measure"), compared(scores).pairs.drop(columns="measure")
    )


@settings(max_examples=5)
@given(st.sets(st.tuples(st.integers(0, 7), st.integers(0, 2)), max_size=6))
def test_each_pair_uses_the_data_sets_that_have_both(gone):
    """A missing cell removes its data set from its pairs only; Skillings-Mack replaces Friedman."""
    full = table()
    missing_cells = [
        (f"data {i}", f"m{j}") in {(f"data {a}", f"m{b}") for a, b in gone} for i in range(8) for j in range(3)
    ]
    missing = full.assign(value=full["value"].mask(missing_cells))
    comparison = compared(missing, tests=["friedman", "wilcoxon"])
    separate = {
        pair: compared(missing[missing["embedding"].isin(pair)], tests="wilcoxon", adjust=None).pairs.iloc[0]
        for pair in (("m0", "m1"), ("m0", "m2"), ("m1", "m2"))
    }

    absent = compared(missing.dropna(), tests="friedman")
    assert_allclose(absent.overall["statistic"], comparison.overall["statistic"], rtol=1e-12)
    assert ("skillings_mack" in set(comparison.overall["test"])) == bool(gone)
    for row in comparison.pairs.to_dict("records"):
        assert row["n"] == separate[row["first"], row["second"]]["n"]
        assert row["p_value"] == separate[row["first"], row["second"]]["p_value"]


def test_data_sets_that_do_not_link_all_embeddings_are_noted():
    """Two separate halves: no overall test and no test of pairs without a common data set, with the reasons."""
    rows = [("p", "a", 1), ("p", "b", 2), ("q", "a", 1), ("q", "b", 3), ("r", "c", 1), ("r", "d", 2), ("s", "c", 4),
            ("s", "d", 3)]  # fmt: skip
    comparison = compared(pd.DataFrame(rows, columns=["dataset", "embedding", "value"]))

    assert "do not link all embeddings" in comparison.overall["note"][0]
    assert math.isnan(comparison.overall["p_value"][0])
    assert (comparison.pairs.loc[comparison.pairs["n"] == 0, "note"] == "no data set has both").all()
    assert "could not be tested" in comparison.paragraph()


@given(hnp.arrays(np.float64, st.integers(1, 40), elements=st.floats(-9, 9).map(lambda v: round(v, 1))))
def test_the_estimate_for_wilcoxon_is_that_of_hodges_and_lehmann(differences):
    """The estimate is the median of all pairwise averages, by naive loops; it is in the interval and has its sign."""
    frame = pd.DataFrame(
        [(f"d{i}", name, value) for i, d in enumerate(differences) for name, value in (("a", d), ("b", 0.0))],
        columns=["dataset", "embedding", "value"],
    )
    frame.loc[len(frame)] = ["e", "a", 1.0]
    frame.loc[len(frame)] = ["e", "b", 1.0]
    row = compared(frame, tests=["wilcoxon"]).pairs.iloc[0]
    d = [value for value in differences if value] or [0.0]
    naive = np.median([(d[i] + d[j]) / 2 for i in range(len(d)) for j in range(i, len(d))])
    assert_allclose(row["difference"], naive, atol=1e-9)
    assert math.isnan(row["conf_low"]) or row["conf_low"] <= row["difference"] <= row["conf_high"]
    assert row["difference"] * row["effect_size"] >= 0


@pytest.mark.parametrize(
    "differences", [[0.0] * 9 + [1, 2, 3, 4, 5], [0.0] * 30 + [2.0] * 6, [1, 1, 2, -1, 3, 3, 3, -2, 5, 5, 5, 5, 6, 7]]
)
def test_signed_ranks_with_ties_are_exact(differences):
    """p is the share of all signs of the nonzero differences with a sum of ranks as far from the middle."""
    frame = pd.DataFrame(
        [(f"d{i}", name, value) for i, d in enumerate(differences) for name, value in (("a", d), ("b", 0.0))],
        columns=["dataset", "embedding", "value"],
    )
    row = compared(frame, tests=["wilcoxon"]).pairs.iloc[0]
    nonzero = np.array([d for d in differences if d])
    ranks = stats.rankdata(abs(nonzero))
    signs = np.array(list(itertools.product([0, 1], repeat=len(nonzero))))
    sums = signs @ ranks
    far = np.abs(sums - ranks.sum() / 2) >= abs(ranks[nonzero > 0].sum() - ranks.sum() / 2) - 1e-9
    assert row["p_value"] == pytest.approx(far.mean(), rel=1e-12)
    assert (row["p_kind"], row["better"]) == ("exact", "a" if far.mean() <= 0.05 else "")


def test_signed_ranks_of_many_data_sets_are_called_asymptotic():
    """Beyond 50 data sets p is scipy's normal approximation, and ``p_kind`` states it."""
    d = np.random.default_rng(0).normal(0.3, 1, size=60)
    frame = pd.DataFrame({"dataset": [*range(60)] * 2, "embedding": ["a"] * 60 + ["b"] * 60, "value": [*d, *(0 * d)]})
    row = compared(frame, tests=["wilcoxon"]).pairs.iloc[0]
    assert row["p_kind"] == "asymptotic"
    assert row["p_value"] == pytest.approx(stats.wilcoxon(d, method="asymptotic").pvalue, rel=1e-12)


@pytest.mark.parametrize("seed", [0, 14, 15, 26])
def test_the_mixed_model_of_balanced_replicates_is_the_analysis_of_variance(seed):
    """Where cells vary more than errors, the variance of a contrast is 2 MS(data set x embedding) / values of each."""
    n, k, r = 6 + seed % 7, 2 + seed % 3, 2 + seed % 2
    frame = table(n=n, k=k, seed=seed, replicates=r)
    comparison = compared(frame, tests="mixed")
    values = frame["value"].to_numpy().reshape(n, k, r)
    cells = values.mean(axis=2)
    inside = cells - cells.mean(axis=0) - cells.mean(axis=1)[:, None] + cells.mean()
    square = r * (inside**2).sum() / ((n - 1) * (k - 1))
    errors = values - cells[:, :, None]
    assert square > (errors**2).sum() / (n * k * (r - 1))  # else the variance of cells is at its boundary
    assert_allclose(comparison.pairs["se"], np.sqrt(2 * square / (n * r)), rtol=1e-3)
    difference = [cells.mean(axis=0)[int(row.first[1:])] - cells.mean(axis=0)[int(row.second[1:])]
                 for row in comparison.pairs.itertuples()]  # fmt: skip
    assert_allclose(comparison.pairs["difference"], difference, rtol=1e-8)


def test_replicates_that_repeat_one_value_are_one_in_the_mixed_model():
    """Methods without random numbers: the model of one value for each cell, which is the analysis of variance."""
    scores = table(n=5)
    frame = pd.concat([scores, scores.assign(replicate=1)])
    columns = ["difference", "se", "conf_low", "conf_high", "statistic", "p_value"]
    repeated, single = (compared(cells, tests="mixed").pairs[columns] for cells in (frame, scores))
    pd.testing.assert_frame_equal(repeated, single, rtol=1e-9)
    cells = scores["value"].to_numpy().reshape(5, 3)
    inside = cells - cells.mean(axis=0) - cells.mean(axis=1)[:, None] + cells.mean()
    assert_allclose(repeated["se"], np.sqrt(2 * (inside**2).sum() / (4 * 2) / 5), rtol=1e-3)


def test_the_mixed_model_is_that_of_statsmodels():
    """Means, standard errors, z and p of a direct fit of the stated formula, with and without replicates."""
    import statsmodels.formula.api as smf

    for replicates, terms in ((1, {}), (3, {"cell": "0 + C(embedding)", "replicate": "0 + C(replicate)"})):
        frame = table(n=12, replicates=replicates)
        comparison = compared(frame, tests="mixed")
        options = {"vc_formula": terms, "re_formula": "1"} if terms else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = smf.mixedlm("value ~ 0 + C(embedding)", frame, groups="dataset", **options)
            fits = [
                model.fit(reml=True, method=optimizer) for optimizer in (["bfgs", "lbfgs", "powell"], "nm", "powell")
            ]
        fit = max(fits, key=lambda candidate: round(candidate.llf, 3))
        names = [f"C(embedding)[m{j}]" for j in range(3)]
        for row in comparison.pairs.to_dict("records"):
            contrast = [float(n == f"C(embedding)[{row['first']}]") - float(n == f"C(embedding)[{row['second']}]")
                        for n in fit.fe_params.index]  # fmt: skip
            direct = fit.t_test(np.array([contrast]))
            assert_allclose(row["difference"], direct.effect[0], rtol=1e-8)
            # the optimizers' path depends on the names: a maximum is found to five digits
            assert_allclose(row["se"], direct.sd[0, 0], rtol=2e-5)
            assert_allclose(row["statistic"], direct.tvalue, rtol=2e-5)
            assert_allclose(row["p_value"], 2 * stats.norm.sf(abs(row["statistic"])), rtol=1e-8)
            assert_allclose([row["conf_low"], row["conf_high"]], direct.conf_int()[0], rtol=1e-4)
        D = np.array([[1.0, -1.0, 0.0], [1.0, 0.0, -1.0]])
        means, covariance = fit.fe_params[names].to_numpy(), fit.cov_params().loc[names, names].to_numpy()
        wald = means @ D.T @ np.linalg.inv(D @ covariance @ D.T) @ D @ means
        assert_allclose(comparison.overall["statistic"][0], wald, rtol=5e-5)


def test_replicates_are_not_new_data_sets():
    """With twenty re-runs instead of one, the standard error of a difference is still that of eight data sets."""
    one_run, many = (compared(table(replicates=r), tests="mixed").pairs["se"].mean() for r in (2, 20))

    assert many > 0.6 * one_run


def test_the_bayesian_test_is_that_of_baycomp():
    """Shares of the three regions for baycomp's own draws of weights, draw by draw."""
    oracle, values = ORACLE["baycomp"], np.array(ORACLE["autorank"]["table"])
    difference = values[:, 3] - values[:, 1]
    weights = np.random.RandomState(oracle["seed"]).dirichlet([0.5, *np.ones(len(difference))], 2000)
    shares = region_shares(difference, oracle["rope"], weights)[:, ::-1]

    assert_allclose(shares[:5], oracle["first"], atol=1e-12)
    assert_allclose(shares.mean(axis=0), oracle["mean"], atol=1e-12)


@given(
    hnp.arrays(np.float64, st.integers(1, 6), elements=st.sampled_from([-2.0, -1, -0.5, 0, 0.5, 1, 3])),
    st.sampled_from([0.0, 0.25, 0.5, 1.0, 1.25, 2.0]),
)
def test_regions_are_those_of_a_slow_count(difference, rope):
    """Shares of the pairwise means equal a naive count; they add to one if the region is not empty."""
    rng = np.random.default_rng(1)
    weights = rng.dirichlet([0.5, *np.ones(len(difference))], 3)
    z = [0.0, *difference]
    slow = np.zeros((3, 2))
    for s in range(3):
        for i, a in enumerate(z):
            for j, b in enumerate(z):
                share = weights[s, i] * weights[s, j]
                mean = (a + b) / 2
                slow[s, 0] += share * (1 if mean > rope else 0.5 if mean == rope else 0)
                slow[s, 1] += share * (1 if -mean > rope else 0.5 if -mean == rope else 0)
    comparison = region_shares(difference, rope, weights)

    assert_allclose(comparison[:, [0, 2]], slow, atol=1e-9)
    assert_allclose(comparison.sum(axis=1), 1.0, atol=1e-9)


def test_posterior_probabilities_turn_with_the_pair_and_repeat_with_the_seed():
    """The reversed pair has the reversed probabilities up to the error of the draws; the same seed, equal ones."""
    differences = np.array([0.03, 0.02, -0.01, 0.04, 0.0, 0.05])
    posterior = bayesian_signed_rank(differences, 0.01, np.random.default_rng(0))
    turned = bayesian_signed_rank(-differences, 0.01, np.random.default_rng(1))
    tables = [compared(table(), rope=0.02, random_state=3).pairs for _ in range(2)]

    assert_allclose(posterior, turned[::-1], atol=4 * math.sqrt(0.25 / 50_000))
    assert sum(posterior) == pytest.approx(1)
    pd.testing.assert_frame_equal(*tables, check_exact=True)


def test_wins_are_counted_in_either_direction():
    """By hand on three data sets; lower-is-better is the transpose."""
    frame = pd.DataFrame({"dataset": list("ppqqrr"), "embedding": ["a", "b"] * 3, "value": [2.0, 1, 3, 3, 5, 4]})
    higher, lower = (dreval.compare(frame, direction=d).wins() for d in ("higher", "lower"))

    assert higher.to_numpy().tolist() == [[0, 2], [0, 0]]
    assert lower.to_numpy().tolist() == higher.to_numpy().T.tolist()


def test_holm_runs_over_all_pairs_and_measures_of_a_test():
    """Two measures: adjusted p-values are Holm's over all six, as counted by hand; Nemenyi's over the measures."""
    frame = pd.concat([table(seed=0), table(seed=1).assign(measure="recall")])
    comparison = compared(frame).pairs
    p = comparison.loc[comparison["test"] == "wilcoxon", "p_value"].to_numpy()
    order = np.argsort(p)
    holm = np.empty(6)
    holm[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(6, 0, -1)), 1)

    assert_allclose(comparison.loc[comparison["test"] == "wilcoxon", "p_adjusted"], holm, rtol=1e-12)
    nemenyi = comparison[comparison["test"] == "nemenyi"]
    least = nemenyi.groupby("measure")["p_value"].transform("min")
    lowest = nemenyi["p_value"] == nemenyi["p_value"].min()
    assert_allclose(nemenyi.loc[lowest, "p_adjusted"], 2 * least[lowest])
    assert (nemenyi["p_adjusted"] >= nemenyi["p_value"]).all()
    assert compared(frame, adjust=None).pairs["p_adjusted"].isna().all()
    separate = compared(table(seed=0)).pairs.query("test == 'nemenyi'")
    assert (separate["p_adjusted"] == separate["p_value"]).all()


def test_a_measure_has_a_name_with_or_without_parameters():
    """The name alone suffices if it is unique; two settings of one measure need their parameters."""
    frame = pd.concat([table().assign(parameters=f"k={k}") for k in (5, 15)])
    comparison = compared(frame)

    assert comparison.named("accuracy(k=5)") == "accuracy(k=5)"
    with pytest.raises(InputError, match=r"Choose one of accuracy\(k=5\), accuracy\(k=15\)"):
        comparison.wins("accuracy")
    with pytest.raises(UnknownName, match="Did you mean"):
        comparison.wins("acuracy(k=5)")


@pytest.mark.parametrize("form", ["text", "markdown", "latex"])
def test_the_paragraph_has_the_numbers_of_the_tables(form):
    """Friedman, mean ranks, critical difference and the pairs that differ, in each format; names are not markup."""
    frame = table(n=14, gain=0.025)
    frame["embedding"] = frame["embedding"].replace({"m2": "t_s#n&e*"})
    comparison = compared(frame)
    text = comparison.paragraph(format=form)
    overall = comparison.overall.set_index("test")
    name = {"text": "t_s#n&e*", "markdown": r"t\_s\#n&amp;e\*", "latex": r"t\_s\#n\&e*"}[form]

    assert f"{overall.loc['friedman', 'statistic']:.2f}" in text
    assert f"{name} is better than " in text
    assert all(f"{rank:.2f}" in text for rank in comparison.standing["mean_rank"])
    with pytest.raises(UnknownName, match="Did you mean 'latex'"):
        comparison.paragraph(format="latx")


def test_summaries_fit_the_terminal():
    """No line is wider than 80 columns with names of any width; Markdown, LaTeX and HTML are written."""
    frame = table(k=4)
    frame["embedding"] = "a rather long name of an embedding " + frame["embedding"]
    summary = compared(frame, tests="all", rope=0.01).summary()

    assert max(map(len, str(summary).splitlines())) <= 80
    assert "| " in summary.as_markdown()
    assert "tabular" in summary.as_latex()
    assert "<table>" in summary.as_html()


def test_descriptive_measures_are_left_out_unless_requested():
    """A measure without a direction does not prevent the comparison of others; by name it needs a direction."""
    rows = [
        {"dataset": d, "embedding": e, "measure": name, "value": i + j, "direction": direction}
        for i, d in enumerate("abcde")
        for j, e in enumerate(["one", "two"])
        for name, direction in (("trustworthiness", "higher"), ("k_max", "none"))
    ]
    table = pd.DataFrame(rows)
    assert set(dreval.compare(table).standing["measure"]) == {"trustworthiness"}
    with pytest.raises(InputError, match="`direction` must be known"):
        dreval.compare(table, measure="k_max")


def equal(n=5):
    """Three embeddings that are the same on every data set."""
    return pd.DataFrame([{"dataset": f"d{i}", "embedding": e, "value": i / 7} for i in range(n) for e in "abc"])


def test_equal_embeddings_have_no_mixed_model_and_one_reason():
    """There is no table without numbers; one plain note replaces the warnings of libraries."""
    comparison = compared(equal(), tests="mixed")

    assert (comparison.pairs["note"] == "undefined: all embeddings are equal on every data set").all()
    assert "Pairs: mixed model" not in str(comparison.summary(full=True))
    assert " ".join(str(comparison).split()).count("undefined: all embeddings are equal") == 1


def test_a_fit_within_the_parameters_issues_no_boundary_warning():
    """Values of the size of a measure, whose variances are small numbers, give no warning; a variance of 0 does."""
    inside = compared(table(n=8, gain=0.02), tests="mixed").overall["note"][0]
    rng = np.random.default_rng(2)
    rows = [
        {"dataset": f"d{i}", "embedding": e, "value": v}
        for i in range(6)
        for e, v in zip("ab", rng.permutation([0, 1.0]), strict=True)
    ]
    outside = compared(pd.DataFrame(rows), tests="mixed").overall["note"][0]

    assert inside == "normal approximation, too optimistic with few data sets"
    assert outside.endswith("found no variance between data sets")


def test_notes_are_records_with_the_row_that_they_belong_to():
    """Notes of the comparison, of measures and of rows have their keys; the column is their text."""
    part = table(n=6)
    replicates = pd.concat([part.assign(replicate=r) for r in (0, 1)])
    gap = replicates[(replicates["dataset"] != "data 0") | (replicates["embedding"] != "m0")]
    comparison = compared(gap, tests=["friedman", "wilcoxon", "mixed"])
    codes = comparison.notes.groupby(["test", "first"])["code"].agg(list)

    assert codes["", ""] == ["datasets.replicates", "datasets.partly"]
    assert dict(notes_of_table(comparison.notes)[1].values) == {"whole": 5, "n": 6}
    assert codes["skillings_mack", ""] == ["ranks.missing", "ranks.exchanged"]
    assert codes["mixed", "m1"][0] == "mixed.normal"
    by_row = notes_by_row(comparison.notes)
    for row in comparison.pairs.to_dict("records"):
        assert row["note"] == join_notes(by_row.get(tuple(row[key] for key in PAIR_NOTE_KEYS), ()))
    for row in comparison.overall.to_dict("records"):
        assert row["note"] == join_notes(by_row.get((row["measure"], row["parameters"], "", "", row["test"]), ()))
    assert "5 of 6 data sets have a value of every embedding" in " ".join(str(comparison.summary()).split())


def test_better_is_set_where_a_test_is_significant():
    """``better`` needs p up to alpha or a posterior beyond 1 - alpha; otherwise only the difference has the sign."""
    comparison = compared(table(n=8, gain=0.01), tests="all", rope=0.001).pairs
    p = comparison["p_adjusted"].fillna(comparison["p_value"])
    is_named = np.where(
        comparison["test"] == "bayes", comparison[["p_first", "p_second"]].max(axis=1) > 0.95, p <= 0.05
    )

    assert ((comparison["better"] != "") == is_named).all()
    assert 0 < is_named.sum() < len(is_named)


def test_the_paragraph_notes_too_few_data_sets_for_signed_ranks():
    """If no other test was run, the paragraph has the limit."""
    sentence = "No difference could have been significant: on 4 data sets Wilcoxon signed-rank tests cannot have an "
    comparison = compared(table(n=4), tests=["friedman", "wilcoxon"])
    assert f"{sentence}adjusted p below .37" in comparison.paragraph()  # three pairs, 3 * 2 / 2^4
    for larger in (compared(table(n=8), tests="wilcoxon"), compared(table(n=4))):
        assert "could have been" not in larger.paragraph() + str(larger.summary())


def test_letters_are_explained_where_they_occur():
    """A pair without a common data set has no test: no column of letters, and a reason instead of the explanation."""
    frame = table(n=6)
    is_odd = frame["dataset"].isin(["data 1", "data 3", "data 5"])
    frame = frame[(is_odd & (frame["embedding"] != "m0")) | (~is_odd & (frame["embedding"] != "m1"))]
    without, explained = (str(compared(t).summary(full=True)) for t in (frame, table()))

    assert "share a letter" in explained
    assert "share a letter" not in without
    assert "accuracy: no letters, since not every pair was tested." in " ".join(without.split())
    assert not any("letters" in line and "mean rank" in line for line in without.splitlines())


@pytest.mark.parametrize("tests", ["friedman", [], "nemenyi", ["mixed"]])
def test_any_choice_of_tests_is_printed(tests):
    """Without tests of pairs, or of any difference, the other results are printed in every format."""
    comparison = dreval.compare(table(), direction="higher", tests=tests)
    summary = comparison.summary(full=True)
    assert "mean rank" in str(comparison).lower()
    assert "mean rank" in str(summary)
    assert "mean ranks" in comparison.paragraph()
    assert all((summary.as_markdown(), summary.as_html(), summary.as_latex()))
    assert ("Any difference" in str(summary)) == (tests in ("friedman", ["mixed"]))
    assert set(comparison.pairs["test"]) == ({"nemenyi"} & {tests} if isinstance(tests, str) else set(tests))


def test_letters_go_by_a_test_that_can_tell():
    """With too few data sets for signed ranks, letters use Nemenyi's test, and a note and a sentence state it."""
    five_sets, nine_sets = compared(table(n=5)), compared(table(n=9))
    for comparison, by in ((five_sets, "nemenyi"), (nine_sets, "wilcoxon")):
        rows = comparison.pairs[comparison.pairs["test"] == by]
        letters = comparison.standing.set_index("embedding")["letters"]
        for row in rows.to_dict("records"):
            shared = bool(set(letters[row["first"]]) & set(letters[row["second"]]))
            assert shared == (row["p_adjusted"] > 0.05)

    assert letter_text(five_sets) == (
        "Embeddings that share a letter do not differ significantly by Nemenyi's test across data sets (the data sets "
        "are too few for signed ranks), adjusted by Holm."
    )
    assert letter_text(nine_sets, "Methods") == (
        "Methods that share a letter do not differ significantly by Wilcoxon signed-rank tests across data sets, "
        "adjusted by Holm."
    )


def test_letters_separate_the_pairs_of_nemenyi_on_four_data_sets():
    """The same order on four data sets: signed ranks have p = 1/8 at best, Nemenyi separates the first and the last."""
    rows = [(f"data {i}", f"m{j}", 0.9 - j / 10 - i / 100) for i in range(4) for j in range(4)]
    comparison = compared(pd.DataFrame(rows, columns=["dataset", "embedding", "value"]).assign(measure="accuracy"))
    letters = comparison.standing.set_index("embedding")["letters"]

    assert (comparison.pairs.loc[comparison.pairs["test"] == "wilcoxon", "p_value"] == 0.125).all()
    assert letters.to_dict() == {"m0": "a", "m1": "ab", "m2": "ab", "m3": "b"}


@pytest.mark.parametrize(
    ("tests", "adjust", "text"),
    [
        (
            "wilcoxon",
            "holm",
            "by Wilcoxon signed-rank tests across data sets, adjusted by Holm.",
        ),
        ("nemenyi", "holm", "by Nemenyi's test across data sets, adjusted by Holm."),
        ("mixed", None, "by the mixed model across data sets, not adjusted."),
        (
            ["wilcoxon", "mixed"],
            "benjamini_hochberg",
            "by the mixed model across data sets (the data sets are too few for signed ranks), ",
        ),
    ],
)
def test_letters_name_the_test_that_was_run(tests, adjust, text):
    """If one test was requested, letters use it, or the one of its tests that can be significant."""
    assert text in letter_text(compared(table(n=5), tests=tests, adjust=adjust))


def test_letters_of_several_measures_go_by_one_test():
    """One measure has five data sets and one nine: Nemenyi's test can be significant on both, signed ranks on one."""
    frame = pd.concat([table(n=5).assign(measure="few"), table(n=9).assign(measure="many")])
    comparison = compared(frame)
    sentences = letter_text(comparison)

    assert comparison.recipe["decided_by"] == "nemenyi"
    assert "share a letter on a measure" in sentences
    assert sentences.endswith(
        "by Nemenyi's test across data sets (the data sets are too few for signed ranks), adjusted by Holm."
    )


def test_the_attainable_p_is_computed_after_adjustment():
    """Four methods on six data sets: the smallest Holm-adjusted signed-rank p is 6 * 2 / 2^6 = .19, so Nemenyi decides.

    The smallest p-values of the design are those of data sets that all agree.
    """
    rows = [(f"d{i}", f"m{j}", 0.9 - j / 10 - i / 100) for i in range(6) for j in range(4)]
    frame = pd.DataFrame(rows, columns=["dataset", "embedding", "value"]).assign(measure="accuracy")
    for test, least in (("wilcoxon", 6 * 2 / 2**6), ("nemenyi", None)):
        comparison = compared(frame, tests=test)
        smallest = comparison.pairs["p_adjusted"].min()
        assert_allclose(list(comparison.recipe["attainable"].values()), [smallest], rtol=1e-9)
        assert least is None or smallest == least
    assert compared(frame).recipe["decided_by"] == "nemenyi"
    assert compared(frame, adjust=None).recipe["decided_by"] == "wilcoxon"  # 2 / 2^6 = .03


def test_a_smallest_possible_p_near_the_level_is_in_the_answer():
    """Eight data sets, 2 x 3 signed-rank tests: none below 6 * 2 / 2^8 = .047; of twelve data sets it is not named."""
    frame = pd.concat([table(gain=0.0), table(seed=1, gain=0.0).assign(measure="recall")])
    comparison = compared(frame)
    text = " ".join(str(comparison.summary()).split())

    assert comparison.recipe["decided_by"] == "wilcoxon"
    assert re.search(r"No significant difference by either measure \(smallest adjusted p = [.\d]+; smallest ", text)
    assert "; smallest possible .047)." in text
    notes = " ".join(str(comparison.summary(full=True)).split())
    assert "within this table and test; Nemenyi's, which holds for all pairs of a measure, over the measures" in notes
    assert "Nemenyi" not in str(compared(frame, tests="wilcoxon").summary(full=True))
    assert "smallest possible" not in str(compared(table(n=12, gain=0.0)).summary())


def test_a_difference_without_a_significant_pair_is_noted():
    """The text names both tests where Friedman's rejects and the signed ranks of no pair do."""
    n, k, rng = 12, 4, np.random.default_rng(3)
    values = np.round(rng.normal(0.8, 0.05, (n, 1)) + np.array([0.02, 0.03, 0, 0.01]) + rng.normal(0, 0.03, (n, k)), 2)
    cells = [(f"d{i}", name, values[i, j]) for i in range(n) for j, name in enumerate("abcd")]
    comparison = dreval.compare(pd.DataFrame(cells, columns=["dataset", "embedding", "value"]), direction="higher")
    tests = comparison.overall.set_index("test")["p_value"]

    assert tests["friedman_exact"] < 0.05
    assert stats.friedmanchisquare(*values.T).pvalue == pytest.approx(tests["friedman"])
    assert (comparison.pairs["better"][comparison.pairs["test"] == "wilcoxon"] == "").all()
    text = " ".join(str(comparison).split())
    assert re.search(r"A test of any difference rejects \(Friedman.*\), although no pair differs significantly", text)
    far = dreval.compare(
        pd.DataFrame(cells, columns=["dataset", "embedding", "value"]).query("embedding in ('b', 'd')"),
        direction="higher",
    )
    assert "No pair differs significantly" not in str(far)
