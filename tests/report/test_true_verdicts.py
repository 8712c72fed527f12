"""Every sentence on which embedding is best is recomputed from the rows of ``ranking`` and ``compare``."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import dreval
from dreval.registry import MEASURES
from dreval.report.documents.comparison import outcomes
from dreval.report.findings import BEST, NONE, SPLIT, borderlines, findings, measure_ranking, standing_finding
from dreval.report.render.markup import sentence
from dreval.report.result_view import read_results

NAMES = re.compile("\u2068(.*?)\u2069")
RANKED = ["trustworthiness", "continuity", "neighborhood_overlap", "procrustes_rc", "spearman_distance",
          "procrustes_disparity"]  # fmt: skip
ALPHA = 0.05
KEYS = ["measure", "parameters"]


def random_results(seed, k, n=45, with_data=False):
    """Return results of embeddings of two random columns with noise: some alike, some not."""
    g = np.random.default_rng(seed)
    X = g.normal(size=(n, 6)) * np.linspace(2, 1, 6)
    names = ["mine", "other", "third", "fourth", "fifth"][:k]
    embeddings = {name: X[:, g.permutation(6)[:2]] + g.uniform(0.1, 1) * g.normal(size=(n, 2)) for name in names}
    embeddings |= {"data": X} if with_data else {}
    return dreval.Evaluation(X, embeddings, n_neighbors=8, random_state=seed).run(RANKED, None)


def claims_of(text):
    """Return the claims of a sentence on several measures, each with its measures."""
    return re.split(r"; |: ", text.split(" Borderline")[0])


@pytest.fixture(scope="module")
def results_list():
    """Results of two, three and five embeddings, half of them with the data as a reference."""
    cases = [(2, 0), (3, 1), (5, 2), (3, 3), (2, 4), (3, 5), (4, 6), (5, 7)]
    return [random_results(seed, k, with_data=seed % 2 == 1) for k, seed in cases]


@pytest.mark.slow
def test_the_best_of_a_sentence_is_best_by_all_its_measures(results_list):
    """The named embeddings are the best set by each column of the sentence, never an intersection of several."""
    kinds = set()
    for results in results_list:
        ranks = results.ranking()
        sets = {key: {*part.loc[part["in_best_set"].fillna(False), "embedding"]} for key, part in ranks.groupby(KEYS)}
        for finding in findings(read_results(results)):
            columns = list(dict.fromkeys(row[:2] for row in finding.rows))
            if finding.kind == BEST:
                named_embeddings = {*NAMES.findall(finding.text.split(" next ")[0].split(" Borderline")[0])}
                assert all(sets[key] == named_embeddings for key in columns), finding.text
                assert (" among the best" not in finding.text) == (len(named_embeddings) == 1)
            elif finding.kind == SPLIT:
                assert len({frozenset(sets[key]) for key in columns}) > 1
                claims = claims_of(finding.text)[1:]
                for key in columns:
                    card = MEASURES.card(key[0])
                    measure_texts = (card.title[0].lower() + card.title[1:], card.title, card.symbol)
                    (claim,) = [
                        claim_text
                        for claim_text in claims
                        if any(measure_text in claim_text.partition(" by ")[2] for measure_text in measure_texts)
                    ]
                    all_names = {
                        *ranks.loc[(ranks[KEYS] == list(key)).all(axis=1) & ranks["rank"].notna(), "embedding"]
                    }
                    expected = set() if sets[key] == all_names else sets[key]
                    assert {*NAMES.findall(claim)} == expected, (finding.text, key)
                    assert ("is best" in claim) == (len(expected) == 1)
            elif finding.kind == NONE and finding.rows:
                assert all(len(sets[key]) > 1 for key in columns)
            kinds.add(finding.kind)
    assert kinds >= {BEST, SPLIT, NONE}


def test_the_best_has_the_best_value_or_is_in_the_best_set(results_list):
    """By each measure the best is among the embeddings that are not the data; the data are in no best set."""
    for results in results_list:
        for (measure, _), part in results.ranking().groupby(KEYS):
            sign = 1 if MEASURES.card(measure).direction == "higher" else -1
            part = part.set_index("embedding")
            compared_rows = part[~part.index.isin(results.reference)]
            assert (sign * compared_rows["value"]).idxmax() == compared_rows.index[0]
            assert compared_rows["in_best_set"].iloc[0]
            assert (compared_rows["in_best_set"] == (compared_rows["p_adjusted"] > ALPHA)).all()
            assert part.loc[list(results.reference), "in_best_set"].isna().all()


@pytest.mark.slow
def test_a_best_set_that_compare_does_not_confirm_is_borderline(results_list):
    """The text has both p-values, and no difference that ``compare`` finds is called borderline."""
    n_borderline = 0
    for results in results_list:
        view, ranks = read_results(results), results.ranking()
        pairs = results.compare().tidy()
        text = " ".join(finding.text for finding in findings(view))
        for column in view.main_columns:
            finding = measure_ranking(view, column)
            rows = ranks[(ranks[KEYS] == [column.measure, column.parameters]).all(axis=1)].set_index("embedding")
            pairs_of_column = pairs[(pairs[KEYS] == [column.measure, column.parameters]).all(axis=1)]
            best_set, outside = (
                rows.index[rows["in_best_set"].fillna(False)],
                rows.index[~rows["in_best_set"].fillna(True)],
            )
            smallest = {
                name: min(
                    row["p_adjusted"]
                    for row in pairs_of_column.to_dict("records")
                    if name in (row["first"], row["second"]) and {row["first"], row["second"]} & {*best_set}
                )
                for name in outside
            }
            borderline_p = {name: p for name, p in smallest.items() if p > ALPHA}
            borderline_list = borderlines(view, finding)
            assert {pair.other: pair.p_compare for pair in borderline_list} == borderline_p
            if borderline_list:
                borderline = borderline_list[0]
                assert borderline.p_compare == max(borderline_p.values()) == smallest[borderline.other]
                assert borderline.p_ranking == rows.loc[borderline.other, "p_adjusted"] <= ALPHA
                assert re.search(rf"Borderline[^(]*\b{re.escape(column.short_title)}\b|Borderline \(", text)
                n_borderline += 1
        rankings = [finding for column in view.main_columns if (finding := measure_ranking(view, column)) is not None]
        assert ("Borderline" in text) == any(borderlines(view, finding) for finding in rankings)
        for match in re.finditer(r"two-sided and adjusted for all (\d+) tests", text):
            assert int(match[1]) == pairs["p_value"].notna().sum()
    assert n_borderline


def test_the_phrase_of_a_borderline_result():
    """Both p-values are in the sentence."""
    for seed in range(30):
        results = random_results(seed, 2)
        text = " ".join(sentence(finding.text) for finding in findings(read_results(results)))
        match = re.search(
            r"Borderline.*?\((?:by \S+, )?\w+ against \w+: p (?:= |< )(\.\d+) one-sided against the best of this "
            r"measure; not significant two-sided and adjusted for all 6 tests, p (?:= (?:\.\d+|1))(?:; also [^)]*)?\)",
            text,
        )
        if match:
            assert float(match[1]) <= ALPHA
            return
    raise AssertionError("no borderline result among thirty")


@pytest.mark.slow
def test_the_other_embedding_requires_two_embeddings(results_list):
    """ "The other" and "both others" need the right number of embeddings; the data do not count."""
    for results in results_list:
        view = read_results(results)
        texts = [sentence(finding.text) for finding in findings(view)]
        texts += [sentence(text) for text in outcomes(results.compare())]
        texts += [standing_finding(view, name).text for name in view.names]
        for text in texts:
            assert not re.search(r"\bthe other\b(?! \w)", text)
            assert "both others" not in text or len(view.contenders) == 3
            assert not re.search(r"\bOnly\b.*among the best", text)


@pytest.mark.slow
def test_every_significant_pair_is_named_or_counted(results_list):
    """The first lines of a comparison name exactly the pairs whose p by ``compare`` is at most the level."""
    for results in results_list:
        comparison = results.compare()
        text = " ".join(outcomes(comparison))
        pairs = comparison.tidy()
        significant = pairs[pairs["p_adjusted"] <= ALPHA]
        assert (pairs["better"] != "").sum() == len(significant)
        has_count = "other pairs of embeddings differ" in text
        for row in significant.to_dict("records"):
            worse_name = row["second"] if row["better"] == row["first"] else row["first"]
            claims = [
                part for part in re.split(r"(?<=[.])\s", text) if part.startswith(f"\u2068{row['better']}\u2069 is")
            ]
            is_named = any(
                worse_name in NAMES.findall(claim.partition("better than")[2].partition("not distinguishable")[0])
                or re.search(r"better than (both|all \w+) others", claim)
                for claim in claims
            )
            assert is_named or has_count, (text, row)
        for claim in re.findall(r"\u2068(\w+)\u2069 is better than \u2068(\w+)\u2069", text):
            assert (
                (significant["better"] == claim[0]) & (significant[["first", "second"]] == claim[1]).any(axis=1)
            ).any()


def values_table(values, measure="value"):
    """Return a table of values on data sets."""
    rows = [
        (f"set {i}", name, measure, v) for name, method_values in values.items() for i, v in enumerate(method_values)
    ]
    return pd.DataFrame(rows, columns=["dataset", "embedding", "measure", "value"])


def test_a_single_significant_pair_across_data_sets_is_named():
    """The best mean rank has a lead that varies; the second is always above the third and significant."""
    g = np.random.default_rng(0)
    base = g.normal(size=9)
    steady = base + 1 + 0.01 * g.normal(size=9)
    varying = np.where(np.arange(9) < 5, base + 2, base - 1)
    table = values_table({"first": varying, "second": steady, "third": base})
    comparison = dreval.compare(table, direction="higher", tests=["friedman", "wilcoxon"])
    rows = comparison.tidy()
    rows = rows[rows["p_adjusted"] <= ALPHA]

    assert rows[["first", "second", "better"]].to_numpy().tolist() == [["second", "third", "second"]]
    assert comparison.glance()["embedding"].iloc[0] in ("first", "second")
    assert "second is better than third" in sentence(" ".join(outcomes(comparison)))
    assert "the other" not in sentence(" ".join(outcomes(comparison)))


def test_a_lead_over_one_embedding_names_it():
    """Of three embeddings the worse one is named, and not counted among the two others."""
    g = np.random.default_rng(1)
    base = g.normal(size=12)
    table = values_table({"a": base + 1, "b": base + 0.99 + 0.3 * g.normal(size=12), "c": base - 1})
    comparison = dreval.compare(table, direction="higher", tests="wilcoxon")
    text = sentence(" ".join(outcomes(comparison)))

    assert not re.search("of the two others|the other", text)
    for row in comparison.tidy().to_dict("records"):
        if row["p_adjusted"] <= ALPHA:
            worse_name = row["second"] if row["better"] == row["first"] else row["first"]
            assert re.search(rf"{row['better']} is better than [^;.]*({worse_name}|both others)", text)


def test_the_note_on_missing_adjustment_over_measures_is_printed_once():
    """The note is below the table of several measures, and absent for one measure."""
    results = random_results(0, 3)
    assert str(results.summary()).replace("\n", " ").count("not adjusted over measures") == 1
    single_measure = dreval.Evaluation(*two_embeddings(), n_neighbors=8, random_state=0).run("trustworthiness", None)
    assert "adjusted over measures" not in str(single_measure.summary())


def two_embeddings():
    g = np.random.default_rng(0)
    X = g.normal(size=(45, 5))
    return X, {"a": X[:, :2], "b": g.normal(size=(45, 2))}
