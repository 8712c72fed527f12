"""Findings of comparisons: each is recomputed from the rows of pairs, and no significant pair is left out."""

from __future__ import annotations

import inspect
import itertools
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import dreval
from dreval.comparison.gate import check_gate
from dreval.comparison.tables import attainable_p
from dreval.records.comparison import Comparison
from dreval.records.frames import full_name
from dreval.report.comparison_findings import comparison_answers
from dreval.report.comparison_view import decisive_pairs, measures_by_question
from dreval.report.documents.comparison import comparison_summary
from dreval.report.findings import Finding, phrases
from dreval.report.render.markup import sentence

MEASURES = ("trustworthiness", "continuity", "spearman_distance", "knn_accuracy")
CARDLESS = ("first", "second")
VERDICT_KINDS = {
    "equivalent": {"comparison.equivalent"},
    "better": {"comparison.larger"},
    "worse": {"comparison.larger", "comparison.loss_beyond"},  # of a margin of equivalence, of a check
    "undecided": {"comparison.loss_undecided"},
    "not worse": {"comparison.loss_excluded"},
    "not shown": {"comparison.equivalence_open", "comparison.equivalence_borderline"},
}


def significant(rows: pd.DataFrame) -> set[tuple[str, str]]:
    """Return the better and the worse embedding of each significant pair."""
    p = rows["p_adjusted"].fillna(rows["p_value"])
    pairs = set()
    for row in rows[p <= 0.05].to_dict("records"):
        order = (row["first"], row["second"])
        pairs.add(order if row["difference"] > 0 else order[::-1])
    return pairs


def all_findings(comparison: Comparison) -> list[Finding]:
    return [finding for answer in comparison_answers(comparison) for finding in answer.findings]


def pairs_of_clauses(finding: Finding) -> set[tuple[str, str]]:
    return {pair for left, right in finding.clauses for pair in itertools.product(left, right)}


def check_findings(comparison: Comparison) -> set[str]:
    """Recompute every finding from the rows of pairs, and return the kinds."""
    findings, alpha = all_findings(comparison), comparison.recipe["alpha"]
    pairs = {name: decisive_pairs(comparison, name) for name in comparison.measures}
    expected = {(name, *pair) for name in comparison.measures for pair in significant(pairs[name])}
    claimed = {
        (name, *pair)
        for f in findings
        if f.kind == "comparison.better"
        for name in f.measures
        for pair in pairs_of_clauses(f)
    }
    counted = {
        (name, first, second)
        for f in findings
        if f.kind == "comparison.further_pairs"
        for name, first, second, _ in f.rows
    }

    assert claimed <= expected
    assert {(name, frozenset(pair)) for name, *pair in claimed}.isdisjoint(
        (name, frozenset(pair)) for name, *pair in counted
    )
    assert {(name, frozenset(pair)) for name, *pair in expected} == {
        (name, frozenset(pair)) for name, *pair in claimed | counted
    }
    for finding in findings:
        check_finding(comparison, finding, pairs, alpha)
    for question, names in measures_by_question(comparison_columns(comparison)).items():
        stated = {name for f in findings if f.question == question for name in f.measures}
        assert stated == {*names}, question
    return {finding.kind for finding in findings}


def comparison_columns(comparison: Comparison) -> dict[str, Any]:
    from dreval.report.comparison_view import column_of

    return {name: column_of(comparison, name) for name in comparison.measures}


def check_finding(comparison: Comparison, finding: Finding, pairs: dict[str, pd.DataFrame], alpha: float) -> None:
    """Recompute one finding."""
    text = sentence(finding.text)
    assert re.fullmatch(r"[^{}]*\.", text), text
    assert "  " not in text
    if finding.kind == "comparison.better":
        names = {name for clause in finding.clauses for part in clause for name in part}
        assert len(pairs[finding.measures[0]]) == 1 or all(name in text for name in names) or "others" in text
        assert {(key[0], frozenset(key[1:3])) for key in finding.rows} == {
            (name, frozenset(pair)) for name in finding.measures for pair in pairs_of_clauses(finding)
        }
    elif finding.kind == "comparison.no_difference":
        assert not any(significant(pairs[name]) for name in finding.measures)
        rows = pd.concat([pairs[name] for name in finding.measures])
        p = rows["p_adjusted"].fillna(rows["p_value"]).min()
        printed = re.search(r"p (?:= |< ?)(\d*\.?\d+)", text)
        assert printed is not None, text
        assert float(printed[1]) == pytest.approx(p, abs=0.0006)
    elif finding.kind == "comparison.borderline":
        (key,) = finding.rows
        rows = pairs[key[0]]
        row = rows[(rows["first"] == key[1]) & (rows["second"] == key[2])].iloc[0]
        assert row["p_value"] <= alpha < row["p_adjusted"]
        pair = key[1:3] if row["difference"] > 0 else key[2:0:-1]
        assert f"{pair[0]} over {pair[1]}" in text
    elif finding.kind == "comparison.tied":
        for name, first, second, _ in finding.rows:
            assert tie_ranges_overlap(comparison, name, first, second)
            assert {frozenset((first, second))} <= {frozenset(pair) for pair in significant(pairs[name])}
    elif finding.kind == "comparison.best_rank":
        for name in finding.measures:
            standing = comparison.of(comparison.standing, name)
            best = standing.loc[standing["mean_rank"] == standing["mean_rank"].min(), "embedding"]
            assert {*best} == {*finding.subject}
            assert f"{standing['mean_rank'].min():.2f}" in text
    elif finding.kind in ("comparison.same_map", "comparison.same_values"):
        assert len(finding.subject) > 1
    elif finding.kind in {kind for kinds in VERDICT_KINDS.values() for kind in kinds}:
        for name, first, second, test in finding.rows:
            rows = comparison.of(comparison.pairs, name)
            row = rows[(rows["first"] == first) & (rows["second"] == second) & (rows["test"] == test)].iloc[0]
            assert finding.kind in VERDICT_KINDS[row["equivalence"]]
            if row["equivalence"] == "not shown":
                assert (row["p_equivalence"] <= alpha) == (finding.kind == "comparison.equivalence_borderline")
    elif finding.kind == "comparison.powerless":
        attainable = comparison.recipe["attainable"]
        assert {*finding.measures} == {name for name, p in attainable.items() if p > alpha}
        needed = re.search(r"(\d+) data sets would be enough", text)
        adjust = None if comparison.recipe["adjust"] == "nothing" else comparison.recipe["adjust"]
        for n, enough in ((int(needed[1]), True), (int(needed[1]) - 1, False)) if needed else ():
            smallest = attainable_p(comparison.pairs, comparison.families, adjust, n)
            best = [smallest.xs(name, level="name").min() for name in finding.measures]
            assert (max(best) <= alpha) == enough or n <= 2
    elif finding.kind == "comparison.decided_by":
        assert any(p <= alpha for p in comparison.recipe["attainable"].values())
    elif finding.kind == "comparison.overall_only":
        assert not any(significant(pairs[name]) for name in finding.measures)
    elif finding.kind == "comparison.probably_better":
        for name, first, second, _ in finding.rows:
            rows = comparison.of(comparison.pairs, name)
            row = rows[
                (rows["test"] == "bayes") & rows["first"].isin([first, second]) & rows["second"].isin([first, second])
            ]
            assert row["better"].item() == first
    elif finding.kind == "comparison.probably_equal":
        for row in rows_of(comparison, finding):
            assert row["p_rope"] > 1 - alpha
    elif finding.kind == "comparison.probably_open":
        for name in finding.measures:
            rows = comparison.of(comparison.pairs, name)
            assert (rows.loc[rows["test"] == "bayes", ["p_first", "p_rope", "p_second"]] <= 1 - alpha).all().all()
    elif finding.kind == "comparison.further_pairs":
        assert f"{len(finding.rows):,} more" in text
    elif finding.kind == "comparison.no_other_pair":
        stated = {name: {frozenset(row[1:3]) for row in finding.rows if row[0] == name} for name in finding.measures}
        for name, names in stated.items():
            better = {frozenset(pair) for pair in significant(pairs[name])}
            tested = {frozenset(pair) for pair in zip(pairs[name]["first"], pairs[name]["second"], strict=True)}
            assert names == tested - better
            assert better
    elif finding.kind == "comparison.margin_counts":
        kinds = [row["equivalence"] for row in rows_of(comparison, finding)]
        inside, open_ = kinds.count("equivalent"), kinds.count("not shown")
        counts = (len(kinds), inside, len(kinds) - inside - open_, open_)
        assert [int(number.replace(",", "")) for number in re.findall(r"[\d,]*\d", text)] == [*counts]
    elif finding.kind in ("comparison.untested", "comparison.without_intervals", "comparison.overall"):
        assert not any(len(pairs[name]) for name in finding.measures)
        lacking = {name for name in finding.subject if has_no_interval(comparison, name)}
        assert lacking == {*finding.subject}
    elif finding.kind == "result.collapsed":
        assert comparison.results is not None
        maps = comparison.results.embeddings
        assert {*finding.subject} == {name for name in names_of(comparison) if np.ptp(maps[name], axis=0).max() == 0}
    else:
        assert finding.kind in CAUTIONS, finding.kind
        is_across, margin = bool(comparison.families), comparison.recipe.get("margin")
        assert (finding.kind == "comparison.datasets_sampled") <= is_across
        assert (finding.kind == "comparison.held_fixed") <= (not is_across)
        assert (finding.kind == "comparison.margin_choice") <= bool(margin)
        left = any(len(rows) > len(significant(rows)) for rows in pairs.values())
        assert (finding.kind == "comparison.no_proof") <= left


CAUTIONS = (
    *("comparison.datasets_sampled", "comparison.held_fixed", "comparison.margin_choice"),
    "comparison.no_proof",
)


def test_every_kind_of_finding_has_a_check() -> None:
    """A new sentence on a comparison needs a check that recomputes it."""
    source = inspect.getsource(check_finding)
    checked = {*re.findall(r'"(comparison\.\w+)"', source), *CAUTIONS, *itertools.chain(*VERDICT_KINDS.values())}
    assert checked == {kind for kind in phrases() if kind.startswith("comparison.")}


def rows_of(comparison: Comparison, finding: Finding) -> list[dict[str, Any]]:
    """Return the rows of pairs of a finding."""
    rows = {}
    for name in finding.measures:
        for row in comparison.of(comparison.pairs, name).to_dict("records"):
            rows[name, row["first"], row["second"], row["test"]] = row
    return [rows[key] for key in finding.rows]


def names_of(comparison: Comparison) -> set[str]:
    """Return the embeddings of a comparison."""
    return {*comparison.standing["embedding"]}


def has_no_interval(comparison: Comparison, name: str) -> bool:
    """Return whether some value of an embedding has no interval."""
    assert comparison.results is not None
    table = comparison.results.table
    return bool(table.loc[(table["embedding"] == name) & (table["test"] == ""), "conf_low"].isna().any())


def tie_ranges_overlap(comparison: Comparison, name: str, first: str, second: str) -> bool:
    """Return whether the values of two embeddings overlap over all orders of ties."""
    assert comparison.results is not None
    table = comparison.results.table
    table = table[[full_name(*key) == name for key in zip(table["measure"], table["parameters"], strict=True)]]
    rows = table.set_index("embedding")
    spans = [sorted(rows.loc[key, ["worst", "best"]].fillna(rows.loc[key, "value"])) for key in (first, second)]
    return max(span[0] for span in spans) <= min(span[1] for span in spans)


values = st.one_of(st.floats(0, 1), st.sampled_from([0.25, 0.5, 0.5, 0.75]))


@st.composite
def comparisons(draw) -> Comparison:
    """Return a comparison over data sets of any values, with ties, missing cells, and any tests."""
    k, n = draw(st.integers(2, 5)), draw(st.integers(2, 12))
    measures = draw(st.lists(st.sampled_from([*MEASURES, *CARDLESS]), min_size=1, max_size=4, unique=True))
    gap = draw(st.sampled_from([0.0, 0.2, 1.0]))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    order = {measure: rng.permutation(k) if draw(st.booleans()) else np.arange(k) for measure in measures}
    rows = []
    for measure, d, j in itertools.product(measures, range(n), range(k)):
        value = round(float(rng.random()), draw(st.sampled_from([1, 6]))) + gap * float(order[measure][j])
        if j == 0 or d < 2 or draw(st.integers(0, 30)) != 30:
            rows.append((f"set {d}", f"m{j}", measure, value))
    if draw(st.booleans()):
        rows += [(d, "copy", measure, value) for d, name, measure, value in rows if name == "m0"]
    table = pd.DataFrame(rows, columns=["dataset", "embedding", "measure", "value"])
    tests = draw(st.sampled_from(["default", ["nemenyi"], ["wilcoxon"], ["friedman"], ["bayes"], "default"]))
    return dreval.compare(
        table,
        direction="higher",
        tests=tests,
        rope=0.05 if tests == ["bayes"] or draw(st.booleans()) else None,
        adjust=draw(st.sampled_from(["holm", "holm", "benjamini_hochberg", None])),
        baseline=draw(st.sampled_from([None, None, "m1"])),
    )


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(comparisons())
def test_findings_over_data_sets_are_true_and_complete(comparison: Comparison) -> None:
    """Every significant pair is claimed or counted, every claim holds, and every measure has an answer."""
    check_findings(comparison)
    lines = str(comparison_summary(comparison)).splitlines()
    assert max(map(len, lines)) <= 80
    if comparison.pairs["p_value"].notna().any() and comparison.standing["embedding"].nunique() <= 6:
        check_letters(comparison)


@pytest.mark.parametrize(("k", "n"), [(2, 2), (3, 5), (4, 12)])
def test_findings_over_given_data_sets_are_true_and_complete(k: int, n: int) -> None:
    """The same for three tables; the test that decides is named."""
    rng = np.random.default_rng(k)
    rows = [
        (f"d{i}", f"m{j}", measure, 0.3 * j + rng.random())
        for measure in (*MEASURES, *CARDLESS)
        for i in range(n)
        for j in range(k)
    ]
    table = pd.DataFrame(rows, columns=["dataset", "embedding", "measure", "value"])
    kinds = check_findings(dreval.compare(table, direction="higher"))
    assert ("comparison.powerless" in kinds) == (n < 5)


def check_letters(comparison: Comparison) -> None:
    """The printed table has letters, which no significant pair shares, wherever a sentence only counts pairs."""
    if not any(finding.kind == "comparison.further_pairs" for finding in all_findings(comparison)):
        return
    for name in comparison.measures:
        letters = comparison.of(comparison.standing, name).set_index("embedding")["letters"]
        for better, worse in significant(decisive_pairs(comparison, name)):
            assert comparison.recipe.get("baseline") or not {*letters[better]} & {*letters[worse]}


def within(seed: int, count: int, **options: Any) -> Comparison:
    """Return a comparison of embeddings of one data set from good to bad; two are the same map."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 4)) * [3, 2, 1, 1]
    embeddings = {f"e{i}": X[:, :2] + 0.6 * i**2 * rng.normal(size=(60, 2)) for i in range(count)}
    embeddings |= {"copy": embeddings["e1"]} if count > 2 else {}
    evaluation = dreval.Evaluation(X, embeddings, labels=(X[:, 0] > 0).astype(int), n_neighbors=6, random_state=0)
    return evaluation.run(["trustworthiness", "continuity", "spearman_distance", "knn_accuracy"], None).compare(
        **options
    )


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("seed", [0, 1])
def test_findings_on_one_data_set_are_true_and_complete(seed: int, count: int) -> None:
    """The same holds on one data set, with margins, and against a baseline."""
    margin = {"trustworthiness": 0.02, "spearman_distance": 0.1}
    kinds = check_findings(within(seed, count)) | check_findings(within(seed, count, margin=margin))
    kinds |= check_findings(within(seed, count, baseline="e1"))
    assert "comparison.better" in kinds
    assert ("comparison.same_map" in kinds) == (count > 2)
    assert kinds & {
        "comparison.equivalent",
        "comparison.larger",
        "comparison.equivalence_open",
        "comparison.equivalence_borderline",
        "comparison.margin_counts",
    }


@pytest.mark.parametrize("measure", ["trustworthiness", "stress"])
def test_findings_of_a_check_state_its_verdict(measure: str) -> None:
    """Worse, undecided and not worse, for both directions of a measure, with a margin of 0 too."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) * [3, 2, 1, 1]
    embeddings = {"new": X[:, :2] + rng.normal(size=(60, 2)), "old": X[:, :2]}
    results = dreval.Evaluation(X, embeddings, n_neighbors=6, random_state=0).run(measure, None)
    pair = results.compare(["new", "old"], baseline="old").pairs.iloc[0]
    worse, undecided = -pair["conf_high"] - 1e-3, -pair["difference"]
    assert worse > 0
    cases = {0.0: "beyond", worse: "beyond", undecided: "undecided", -pair["conf_low"] + 1e-3: "excluded"}
    for margin, verdict in cases.items():
        comparison = check_gate(results, {measure: margin}, 0.95).comparison
        kinds = {kind for kind in check_findings(comparison) if kind.startswith("comparison.loss_")}
        assert kinds == {f"comparison.loss_{verdict}"}
        assert str(comparison.summary())


def test_a_printed_comparison_of_five_fits_a_screen() -> None:
    """Five embeddings by ten measures have at most thirty lines of eighty columns; the full text has the pairs."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(70, 5)) * [4, 3, 1, 1, 1]
    embeddings = {f"map {i}": X[:, :2] + 0.3 * i * rng.normal(size=(70, 2)) for i in range(5)}
    results = dreval.Evaluation(X, embeddings, labels=(X[:, 0] > 0).astype(int), n_neighbors=8, random_state=0).run(
        tests=None
    )
    comparison = results.compare()
    lines = str(comparison).splitlines()
    full = str(comparison.summary(full=True))

    assert len(comparison.measures) == 10
    assert len(lines) <= 30
    assert max(map(len, lines)) <= 80
    assert lines[1] == "Tests: independent points, coordinates treated as fixed"
    assert lines[3].startswith("Neighbors")
    assert "probability of superiority" in full
    assert len(full.splitlines()) > len(comparison.pairs)


def test_the_test_that_decides_is_named_with_the_reason() -> None:
    """On six data sets four embeddings are compared by Nemenyi's test, and on two nothing can be significant."""

    def table(n: int) -> pd.DataFrame:
        rng = np.random.default_rng(0)
        rows = [(f"d{i}", f"m{j}", 0.5 * j + 0.1 * rng.random()) for i in range(n) for j in range(4)]
        return pd.DataFrame(rows, columns=["dataset", "embedding", "value"])

    six, two = (" ".join(str(dreval.compare(table(n), direction="higher")).split()) for n in (6, 2))
    assert (
        "Nemenyi's test decides (p adjusted by Holm, 6 data sets), since Wilcoxon signed-rank tests cannot have an"
        in six
    )
    assert "adjusted p below .18 on so few." in six
    assert "m3 is better than m1 and m0" in six or "m3" in six
    assert "on 2 data sets Nemenyi's test cannot have an adjusted p below" in two
    assert re.search(r"\d data sets would be enough", two)


def test_tables_for_papers_have_the_values_of_the_comparison() -> None:
    """LaTeX, Markdown and HTML have every value of the printed table, and many embeddings are all in them."""
    comparison = within(0, 4)
    formats = [comparison.to_latex(), comparison.to_markdown(), comparison.to_html()]
    for text in formats:
        for row in comparison.standing.to_dict("records"):
            assert f"{abs(row['value']):.3f}".removeprefix("0") in text
            assert row["letters"] in text
    two = within(0, 2, margin={"trustworthiness": 0.02})
    assert "not shown" in two.to_markdown() or "yes" in two.to_markdown() or "larger" in two.to_markdown()
    assert "±.02" in two.to_latex() or "pm" in two.to_latex()


def test_settings_of_one_measure_count_once() -> None:
    """With several k, measures are counted, and k is named where a pair differs at some only."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 5))
    embeddings = {"A": X[:, :2], "B": X[:, :2] + 0.3 * rng.normal(size=(120, 2)), "R": rng.normal(size=(120, 2))}
    evaluation = dreval.Evaluation(X, embeddings, n_neighbors=[5, 10, 20], random_state=0)
    comparison = evaluation.run(["trustworthiness", "continuity"], tests=None).compare()
    check_findings(comparison)
    assert len(comparison.measures) == 6
    for finding in all_findings(comparison):
        at_every = finding.kind == "comparison.better" and len(finding.measures) == 6
        assert ("both measures at every k" in finding.text) == at_every
        assert "six measures" not in finding.text


def test_differences_that_ties_decide_are_named() -> None:
    """On binary data every difference that another order of ties may reverse is named or counted."""
    B = np.random.default_rng(0).integers(0, 2, (80, 6))
    embeddings = {"b1": B[:, :1], "b2": B[:, :2], "rb": np.random.default_rng(1).integers(0, 2, (80, 2))}
    comparison = dreval.Evaluation(B, embeddings, random_state=0).run("continuity", tests=None).compare()
    assert "comparison.tied" in check_findings(comparison)
    (tied,) = (finding for finding in all_findings(comparison) if finding.kind == "comparison.tied")
    expected = {
        pair
        for name in comparison.measures
        for pair in significant(decisive_pairs(comparison, name))
        if tie_ranges_overlap(comparison, name, *pair)
    }
    assert {frozenset(row[1:3]) for row in tied.rows} == {frozenset(pair) for pair in expected}


def test_the_legend_has_the_marks_of_the_table_and_no_others() -> None:
    """A star has a legend where the table has one, also beside letters; embeddings without intervals are named."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 5))
    embeddings = {"a": X[:, :2], "two": rng.normal(size=(120, 2)), "thr": X[:, 2:4]}
    evaluation = dreval.Evaluation(X, embeddings, labels=(X[:, 0] > 0).astype(int), random_state=0)
    results = evaluation.run(["stress", "davies_bouldin"], tests=None)
    for options in ({}, {"baseline": "a"}):
        comparison = results.compare(**options)
        assert "comparison.without_intervals" in check_findings(comparison)
        text = str(comparison)
        assert bool(re.search(r"\d\*", text)) == bool(re.search(r"^\* ", text, re.MULTILINE))


def test_a_map_in_one_place_is_named_in_a_comparison() -> None:
    """The values of a map in one place say nothing of the data; the first answer names it."""
    X = np.random.default_rng(0).normal(size=(50, 4))
    maps = {"flat": np.zeros((50, 2)), "a": X[:, :2], "b": X[:, 1:3]}
    results = dreval.Evaluation(X, maps, n_neighbors=8, random_state=0).run(["trustworthiness", "continuity"])
    comparison = results.compare()

    check_findings(comparison)
    assert "flat shows nothing of the data: all points are in one place." in " ".join(str(comparison).split())
    assert "flat shows nothing of the data" in comparison.paragraph()


def test_pairs_that_do_not_differ_are_stated_across_data_sets() -> None:
    """Next to significant pairs a sentence says that no other pair differs; not where all differ."""
    rng = np.random.default_rng(0)
    levels = {"low": 0.0, "high": 1.0, "also high": 1.0}
    rows = [(f"d{i}", name, "m", value + 0.1 * rng.normal()) for i in range(12) for name, value in levels.items()]
    table = pd.DataFrame(rows, columns=["dataset", "embedding", "measure", "value"])
    comparison = dreval.compare(table, direction="higher")
    kinds = check_findings(comparison)

    assert {"comparison.better", "comparison.no_other_pair"} <= kinds
    assert "No other pair differs significantly." in " ".join(str(comparison).split())
    table.loc[table["embedding"] == "also high", "value"] += 5
    assert "comparison.no_other_pair" not in check_findings(dreval.compare(table, direction="higher"))


PATTERN_MEASURES = ("trustworthiness", "spearman_distance", "procrustes_disparity")
PATTERN_DATA = np.random.default_rng(5).normal(size=(40, 4)) * [4, 2, 1, 1]
PATTERN_MAPS = {"front": PATTERN_DATA[:, :2], "side": PATTERN_DATA[:, 1:3], "back": PATTERN_DATA[:, 2:]}
PATTERN_MAPS["noise"] = np.random.default_rng(6).normal(size=(40, 2))
PARTS_BY_PATTERN: dict[tuple[str, tuple[str, ...]], dreval.Results] = {}


def part_of_pattern(name: str, measures: tuple[str, ...]) -> dreval.Results:
    """Return the result of one embedding by some measures, computed once."""
    if (name, measures) not in PARTS_BY_PATTERN:
        ev = dreval.Evaluation(PATTERN_DATA, {name: PATTERN_MAPS[name]}, n_neighbors=5, random_state=0)
        PARTS_BY_PATTERN[name, measures] = ev.run(list(measures), tests=None)
    return PARTS_BY_PATTERN[name, measures]


@settings(deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(PATTERN_MEASURES), min_size=1, unique=True).map(sorted), min_size=2, max_size=4),
    st.booleans(),
)
def test_every_form_of_a_comparison_without_some_values(chosen: list[list[str]], has_margin: bool) -> None:
    """Whichever embedding lacks whichever measure, all forms are written, and their findings are true."""
    results = [part_of_pattern(name, tuple(names)) for name, names in zip(PATTERN_MAPS, chosen, strict=False)]
    counts = Counter(name for names in chosen for name in names)
    shared = sorted(name for name, count in counts.items() if count > 1)
    assume(shared)
    comparison = dreval.compare(*results, margin=dict.fromkeys(shared, 0.1) if has_margin else None)
    check_findings(comparison)
    forms = [str(comparison), str(comparison.summary(full=True)), comparison.to_latex(), comparison.to_markdown()]
    forms += [comparison.to_html(), comparison.summary(full=True).as_html(), str(comparison.paragraph())]
    assert all("nan" not in re.findall(r"\w+", form.lower()) for form in forms)


def test_a_page_of_embeddings_with_other_measures(tmp_path: Path) -> None:
    """Two pairs that share one measure: the page is written."""
    chosen = [PATTERN_MEASURES, PATTERN_MEASURES, PATTERN_MEASURES[:1], PATTERN_MEASURES[:1]]
    results = [part_of_pattern(name, names) for name, names in zip(PATTERN_MAPS, chosen, strict=True)]
    assert "<html" in dreval.compare(*results).report(tmp_path / "c.html").read_text("utf-8")
