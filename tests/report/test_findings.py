"""Every finding is recomputed from its rows, by rules that are implemented independently in this file."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_cases import make_results, measure_row, result_views, simulated_results
from scipy.spatial import procrustes

import dreval
from dreval.registry import MEASURES
from dreval.report.documents.evaluation import printed_table
from dreval.report.findings import (
    BEST,
    CHANCE,
    EQUAL,
    FAILED,
    FAILS,
    HOLDS,
    MISSING,
    MOSTLY,
    NONE,
    OPEN,
    SPLIT,
    STANDS,
    TIED,
    WORSE,
    embedding_findings,
    findings,
    grade_definitions,
    main_findings,
    missing_findings,
    shared_findings,
    shared_sentences,
    standing_finding,
)
from dreval.report.render.markup import plain_symbols, sentence
from dreval.report.result_view import read_results

NAMES = re.compile("\u2068(.*?)\u2069")
NUMBER = re.compile(r"−?\d[\d,]*(?:\.\d+)?(?:e[-+−]\d+)?")
GRADES = (HOLDS, MOSTLY, FAILS, CHANCE, WORSE, OPEN)


def expected_grade(row):
    """Return the grade of a row of the table, from the row and the card alone."""
    card = MEASURES.card(row["measure"])
    ends = [row["value"]] + ([] if math.isnan(row["worst"]) else [row["worst"], row["best"]])
    side = 1.0 if card.direction == "higher" else -1.0
    better_end = row["conf_high"] if side > 0 else row["conf_low"]  # the better end of the interval
    if card.goals[:1] == ("batches",):  # from the worst value to the chance level
        worst = card.bounds[0] if side > 0 else card.bounds[1]
        share = (row["value"] - worst) / (row["chance"] - worst)
        return FAILS if share < card.grades[0] else HOLDS if share >= card.grades[1] else ""
    perfect = card.bounds[1] if side > 0 else card.bounds[0]
    grades = set()
    for end in ends:
        edge = end - row["value"] + (row["conf_low"] if side > 0 else row["conf_high"])
        reached = end if math.isnan(edge) else edge
        if side * min(side * reached, side * end) * side <= side * row["chance"] * 1.0:
            grades.add(WORSE if side * (better_end + end - row["value"]) < side * row["chance"] else CHANCE)
            continue
        share = (end - row["chance"]) / (perfect - row["chance"]) if math.isfinite(perfect) else math.nan
        low, high = card.grades
        middle = MOSTLY if len(card.says) != 2 else ""
        grades.add("" if math.isnan(share) else FAILS if share < low else HOLDS if share >= high else middle)
    return grades.pop() if len(grades) == 1 else OPEN


def check_finding(statement, results):
    """Check one finding against the rows that it names."""
    text, rows = sentence(statement.text), table_rows(results, statement.rows)
    if statement.kind in GRADES:
        kinds = {expected_grade(row) for row in rows}
        assert kinds == {statement.kind}, (text, kinds)
        if len({row["embedding"] for row in rows}) == 1:
            for row in rows:
                numbers = [float(number.replace("−", "-").replace(",", "")) for number in re.findall(NUMBER, text)]
                ends = [row["value"]] if statement.kind != OPEN else [row["worst"], row["best"]]
                for end in ends:
                    difference = min(min(abs(end - number), abs(100 * end - number) / 100) for number in numbers)
                    assert difference <= (0.01 if " than " in text else 0.0051), (text, end)
        if statement.kind not in (CHANCE, WORSE, OPEN):
            card_sentences = {MEASURES.card(row["measure"]).says for row in rows}
            index = {HOLDS: 0, MOSTLY: 1, FAILS: -1}[statement.kind]
            assert all(not sentences or sentences[index].lower() in text.lower() for sentences in card_sentences)
    elif statement.kind in (BEST, NONE, SPLIT, STANDS):
        if not rows:
            assert results.table["conf_low"].isna().all()
            return
        check_best(statement, results)
    elif statement.kind == TIED:
        for measure in {row["measure"] for row in rows}:
            rows_of_measure = [row for row in rows if row["measure"] == measure]
            spans = [
                (np.nanmin([r["value"], r["worst"], r["best"]]), np.nanmax([r["value"], r["worst"], r["best"]]))
                for r in rows_of_measure
            ]
            higher_is_better = MEASURES.card(measure).direction == "higher"
            best_index = max(
                range(len(rows_of_measure)), key=lambda i: (1 if higher_is_better else -1) * rows_of_measure[i]["value"]
            )
            overlaps = [
                low <= spans[best_index][1] and spans[best_index][0] <= high_end
                for i, (low, high_end) in enumerate(spans)
                if i != best_index
            ]
            assert any(overlaps)
    elif statement.kind == MISSING:
        assert all(math.isnan(row["value"]) for row in rows)
        assert all(row["note"] in text for row in rows)
    elif statement.kind == EQUAL:
        first_name, *other_names = NAMES.findall(statement.text)
        assert other_names
        maps = [results.embeddings[name] for name in (first_name, *other_names)]
        copies = all(np.array_equal(maps[0], Y) for Y in maps)
        assert copies == ("have the same coordinates" in text)
        assert copies or all(procrustes(maps[0], Y)[2] < 1e-12 for Y in maps)
    else:
        assert statement.kind == FAILED


def best_sets(results, keys):
    """Return the best set of each measure and setting, from ``ranking`` if there are intervals, else by value."""
    sets = {}
    table = results.table[results.table["test"] == ""]
    for measure, parameters in dict.fromkeys(key[:2] for key in keys):
        rows = table[(table["measure"] == measure) & (table["parameters"] == parameters) & table["value"].notna()]
        best_set = set()
        if results.recipe.get("intervals"):
            ranks = results.ranking(measure)
            ranks = ranks[ranks["parameters"] == parameters]
            best_set = set(ranks.loc[ranks["in_best_set"].fillna(False), "embedding"])
        if best_set:
            sets[measure, parameters] = best_set
        else:
            sign = 1 if MEASURES.card(measure).direction == "higher" else -1
            top = (sign * rows["value"]).max()
            sets[measure, parameters] = set(rows.loc[(sign * rows["value"] - top).abs() < 0.0001, "embedding"])
    return sets


def table_rows(results, keys):
    """Return the rows of the table with these keys."""
    table = results.table[results.table["test"] == ""].set_index(["measure", "parameters", "embedding"])
    return [{**table.loc[key].to_dict(), "measure": key[0], "embedding": key[2]} for key in keys]


def check_best(statement, results):
    """Check that embeddings called best are in the best sets, and alone if the text says so."""
    varying = {name for name, Y in results.embeddings.items() if not (Y == Y[:1]).all()}
    sets = {key: best_set & varying for key, best_set in best_sets(results, statement.rows).items()}
    text = re.sub(r"(, and behind it only|,) borderline by [\w -]+\.$", ".", sentence(statement.text))
    text = re.sub(r", borderline by \w+\.$", ".", text)
    if statement.kind == STANDS:
        name = next(name for name in results.names if standing_finding(read_results(results), name) == statement)
        n_alone = sum(best_set == {name} for best_set in sets.values())
        n_among = sum(name in best_set and len(best_set) > 1 for best_set in sets.values())
        number_words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
        if len(sets) == 1 and "value" not in text:
            assert text == (
                "Best."
                if n_alone
                else "Not distinguishable from the best."
                if n_among
                else "Significantly behind the best."
            )
            return
        all_measures = "both measures" if len(sets) == 2 else f"all {number_words[len(sets)]} measures"
        if "value" not in text and len(sets) in (n_alone, n_among):
            assert text == f"{'Best' if n_alone else 'Not distinguishable from the best'} by {all_measures}."
            return
        openings = (
            f"Significantly behind the best by {all_measures}.",
            f"Behind the best by {all_measures}: significantly by ",
        )
        assert "value" in text or n_alone or n_among or text.startswith(openings)
        assert n_alone == n_among == 0 or (
            f"of {number_words[len(sets)]} measures" in text
            or f"all {number_words[len(sets)]} measures" in text
            or "value" in text
        )
        for count, phrase in (
            (n_alone, f"est by {number_words[n_alone]} "),
            (n_among, f"from the best by {number_words[n_among]} "),
        ):
            if "value" not in text:
                assert (phrase in f"{text[:-1]} of") == bool(count), (text, n_alone, n_among)
        assert ("behind" in text.lower()) == (n_alone == n_among == 0 and "value" not in text)
        return
    in_all_sets = set.intersection(*sets.values())
    claim, _, next_text = statement.text.partition(" Borderline")[0].partition(" next ")
    named_embeddings = set(NAMES.findall(claim))
    assert not next_text or in_all_sets in sets.values()  # they are the best set by the measure in the text
    kinds = {expected_grade(row) for row in table_rows(results, statement.rows) if row["embedding"] in in_all_sets}
    if "Even the best" in text:
        assert statement.kind == BEST
        assert {FAILS, CHANCE, WORSE} & kinds
        assert not {HOLDS, MOSTLY} & kinds
    else:
        assert statement.kind != BEST or not kinds <= {FAILS, CHANCE, WORSE}
    further_match = re.search(r"and (\d+|\w+) more", text)
    if statement.kind == BEST:
        assert named_embeddings <= in_all_sets
        assert len(in_all_sets) == len(named_embeddings) + (int(further_match[1]) if further_match else 0)
        is_untested = results.table["conf_low"].isna().all()
        assert is_untested == bool(re.search(r" (has|have) the best values? at ", text))
        assert all(best_set == in_all_sets for best_set in sets.values())
        is_same_map = any(in_all_sets <= {*group} for group in read_results(results).same_maps)
        assert is_untested or (len(in_all_sets) == 1 or is_same_map) == ("among the best" not in text)
    elif statement.kind == NONE:
        assert not named_embeddings or "intervals" in text
    else:
        assert len({frozenset(best_set) for best_set in sets.values()}) > 1
        assert named_embeddings <= set.union(*sets.values())


@pytest.fixture(scope="module")
def real_results():
    """Results of real evaluations: ties and duplicates, labels, and embeddings that are good, alike and noise."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(90, 4)) * [4, 3, 1, 1], 1)
    X[:9] = X[9:18]
    labels = (X[:, 0] > 0).astype(int)
    embeddings = {"pca": "pca", "near": X[:, :2] + 0.1 * rng.normal(size=(90, 2)), "noise": rng.normal(size=(90, 2))}
    embeddings |= {"grid": np.round(X[:, :2] / 3), "point": np.zeros((90, 2))}
    all_measures = dreval.Evaluation(X, embeddings, labels=labels, n_neighbors=8, random_state=0).run(tests=None)
    single_embedding = dreval.Evaluation(X, {"pca": "pca"}, n_neighbors=8, random_state=0).run(
        ["stress", "trustworthiness"], None
    )
    without_intervals = dreval.Evaluation(X, embeddings, labels=labels, n_neighbors=[5, 15]).run(
        ["continuity", "silhouette"], None, None
    )
    measures = ["jaccard", "kmeans_ari", "distance_consistency", "mrre_false", "sammon_stress", "k_max"]
    further_measures = dreval.Evaluation(X, embeddings, labels=labels, n_neighbors=8, random_state=0).run(
        measures, None
    )
    return {"full": all_measures, "one": single_embedding, "bare": without_intervals, "more": further_measures}


def statements(results):
    """Return all findings on a result."""
    view = read_results(results)
    texts = [*main_findings(view), *shared_findings(view)]
    for name in view.names:
        texts += [standing_finding(view, name), *embedding_findings(view, name), *missing_findings(view, name)]
    return [finding for finding in texts if finding.text]


@pytest.mark.parametrize(
    "case", ["bare", *(pytest.param(case, marks=pytest.mark.slow) for case in ("full", "one", "more"))]
)
def test_every_statement_of_a_real_result_is_recomputed_from_its_rows(real_results, case):
    """Grades follow from the rows and cards, the best from ``ranking``; missing values are named."""
    results_findings = statements(real_results[case])

    assert len(results_findings) >= 2
    for finding in results_findings:
        assert finding.rows or finding.kind in (FAILED, NONE, EQUAL)
        check_finding(finding, real_results[case])
    if case == "full":
        assert {BEST, STANDS, FAILED, FAILS} <= {finding.kind for finding in results_findings}


@given(result_views())
def test_every_statement_of_any_values_is_recomputed_from_its_rows(view):
    """The findings on any values are correct, and none contains nan."""
    for finding in statements(view.results):
        if finding.kind not in (BEST, NONE, SPLIT, STANDS):
            check_finding(finding, view.results)
        assert "nan" not in finding.text.split()


@given(result_views())
def test_shared_findings_and_findings_of_cards_are_disjoint_and_complete(view):
    """The findings of a card and the shared ones together have the rows of all findings, each once."""
    shared = shared_findings(view)
    shared_rows = [row for finding in shared for row in finding.rows]
    for name in view.computed:
        card_rows = [row for finding in embedding_findings(view, name, without=shared) for row in finding.rows]
        all_rows = [row for finding in embedding_findings(view, name) for row in finding.rows]
        assert sorted(card_rows + [row for row in shared_rows if row[2] == name]) == sorted(all_rows)
    assert not shared or len(view.computed) > 1


def test_members_of_a_best_set_have_equal_sentences():
    """Two copies with a little noise between them are both not distinguishable, whichever has the better value."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 5)) * [4, 3, 1, 1, 1]
    embeddings = {f"copy {i}": X[:, :2] + 0.02 * rng.normal(size=(80, 2)) for i in range(3)} | {"noise": X[::-1, 3:]}
    results = dreval.Evaluation(X, embeddings, n_neighbors=8, random_state=0).run(["trustworthiness", "continuity"])
    view = read_results(results)
    standings = {name: standing_finding(view, name).text for name in view.names}

    assert standings["copy 0"] == standings["copy 1"] == standings["copy 2"]
    assert standings["copy 0"] == "Not distinguishable from the best by both measures."
    assert standings["noise"] == "Significantly behind the best by both measures."
    (finding,) = findings(view)
    assert sentence(finding.text).startswith(
        "copy 0, copy 1 and copy 2 are among the best at keeping neighbors by both"
    )


@pytest.fixture(scope="module")
def anchored_results():
    """A hundred anchors: all, some or no differences between embeddings are tested."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    embeddings = {"a": X[:, :2], "near": X[:, :2] + 0.1 * rng.normal(size=(300, 2)), "noise": rng.normal(size=(300, 2))}
    ev = dreval.Evaluation(X, embeddings, n_neighbors=10, random_state=0, anchors=100)
    return ev.run(["trustworthiness", "procrustes_rn_opt", "spearman_distance"], None)


def test_table_statements_and_ranking_agree_where_not_everything_is_tested(anchored_results):
    """Stars mark the best set and, without tests, the best value; no embedding is best if another is untested."""
    view, ranks = (
        read_results(anchored_results),
        anchored_results.ranking().set_index(["measure", "embedding"])["in_best_set"],
    )
    block = printed_table(view)
    starred = {row[0].text: [cell.emphasis == "best" for cell in row[1:4]] for row in block.rows}
    texts = [sentence(finding.text) for finding in findings(view)]

    assert starred["T"] == ranks["trustworthiness"][["a", "near", "noise"]].tolist() == [True, True, False]
    assert starred["R_N,opt ↓"] == [True, False, False] == ranks["procrustes_rn_opt"].fillna(False).tolist()
    assert ranks["spearman_distance"].isna().all()
    assert starred["rho_D"] == [True, False, False]
    assert "best or not distinguishable from it (by rho_D the best value, not tested)" in block.best
    assert "not tested: R_N,opt of near" in block.foot
    assert texts[1].startswith("a is among the best at keeping local shapes")
    assert texts[1].endswith("; near could not be tested. Even the best is poor.")
    assert not any("distances" in finding for finding in texts)
    assert standing_finding(view, "a").text == "Not distinguishable from the best by both measures."
    assert standing_finding(view, "near").text == "Not distinguishable from the best."


def test_equal_values_without_a_test_share_the_best_value():
    """Two copies both have the best value, and neither is called among the best."""
    X = np.random.default_rng(0).normal(size=(60, 5)) * [3, 2, 1, 1, 1]
    embeddings = {"a": X[:, :2], "copy": X[:, :2].copy(), "c": X[:, 2:4]}
    results = dreval.Evaluation(X, embeddings, n_neighbors=5).run(["trustworthiness", "continuity"], None, None)
    text = sentence(findings(read_results(results))[0].text)

    assert text.startswith("a and copy have the best values at keeping neighbors by both measures (")


def test_an_order_that_depends_on_ties_has_no_best():
    """The best value is not called best if another order of equal distances makes it worse."""

    def sentences_for(worst):
        rows = [
            measure_row("a", "neighborhood_overlap", "n_neighbors=15", 0.24, 0.1, worst=worst, best=0.6),
            measure_row("b", "neighborhood_overlap", "n_neighbors=15", 0.05, 0.1),
        ]
        results = make_results(rows, {"a": np.eye(5)[:, :2], "b": np.eye(5)[:, :2]})
        return [sentence(finding.text) for finding in main_findings(read_results(results))]

    assert sentences_for(0.01)[0] == "Equal distances leave open which embedding is best at keeping neighbors by Q."
    assert sentences_for(0.2)[0] == (
        "a has the best value at keeping neighbors (24 % of the 15 nearest are kept; next b 5 %; chance level 10 %)."
    )


def test_disagreeing_measures_are_named():
    """If no embedding is best by all measures of a goal, each is named with its measures."""
    values = {"trustworthiness": (0.9, 0.8), "continuity": (0.8, 0.9)}
    rows = [
        measure_row(name, measure, "n_neighbors=15", value, 0.5)
        for measure, pair in values.items()
        for name, value in zip("ab", pair, strict=True)
    ]
    finding = findings(read_results(make_results(rows, {name: np.eye(5)[:, :2] for name in "ab"})))[0]

    assert finding.kind == SPLIT
    assert sentence(finding.text) == (
        "Measures disagree on which is best at keeping neighbors: a has the best value by trustworthiness; b has the "
        "best value by continuity."
    )


# rounded, since values that differ by rounding only are equal for the grades and different for this oracle
@given(
    st.tuples(*[st.floats(0, 1).map(lambda value: round(value, 6))] * 3),
    st.floats(0, 0.9).map(lambda value: round(value, 6)),
)
def test_a_grade_holds_for_every_order_of_equal_distances(values, chance):
    """If the worst or best value has another grade than the value, the finding is open, with both ends."""
    worst, value, best = sorted(values)
    row = measure_row("a", "trustworthiness", "n_neighbors=5", value, chance, worst=worst, best=best)
    results = make_results([row], {"a": np.eye(5)[:, :2]})
    card_findings = embedding_findings(read_results(results), "a")
    table_row = results.table.iloc[0]
    row_values = [value, chance, worst, best]

    assert [finding.kind for finding in card_findings] == (
        [] if min(row_values) > 1 - 1e-9 else [expected_grade({**table_row, "measure": "trustworthiness"})]
    )


@pytest.mark.slow
def test_sentences_of_a_measure_come_from_its_card():
    """A perfect value holds and one near chance fails, in the sentences of the card, for every measure with grades."""
    for card in MEASURES.cards():
        if card.direction not in ("higher", "lower") or card.curve or card.level == "algorithm":
            continue
        if card.goals[:1] == ("batches",):  # good at chance
            continue
        perfect = card.bounds[1] if card.direction == "higher" else card.bounds[0]
        if not math.isfinite(perfect):
            continue
        chance = perfect - 0.5 if card.direction == "higher" else perfect + 0.5
        for share, index in ((0.99, 0), (0.05, -1)):
            row = measure_row("a", card.name, "n_neighbors=15", chance + share * (perfect - chance), chance)
            (finding,) = embedding_findings(read_results(make_results([row], {"a": np.eye(5)[:, :2]})), "a")
            assert finding.kind == (HOLDS if index == 0 else FAILS)
            start = card.says[index] if card.says else card.title
            assert finding.text.startswith(start), finding.text


def test_measures_with_equal_findings_share_one_sentence():
    """Both correlations of distances have one sentence, with both values."""
    rows = [
        measure_row("a", name, "", value, 0.0)
        for name, value in (("spearman_distance", 0.3), ("pearson_distance", 0.2))
    ]
    texts = [
        plain_symbols(finding.text)
        for finding in embedding_findings(read_results(make_results(rows, {"a": np.eye(5)[:, :2]})), "a")
    ]

    assert texts == ["Do not read distances between groups (ρ_D\u00a00.300, r_D\u00a00.200)."]


def test_a_perfect_value_at_the_chance_level_has_no_finding():
    """If an unrelated embedding is perfect, too, a perfect value has no finding."""

    def kinds(value):
        rows = [measure_row("a", "label_continuity", "", value, 1.0)]
        return [
            finding.kind
            for finding in embedding_findings(read_results(make_results(rows, {"a": np.eye(5)[:, :2]})), "a")
        ]

    assert kinds(1.0) == []
    assert kinds(0.9) == [CHANCE]


def test_failures_and_constant_embeddings_have_one_finding():
    """Failed and constant embeddings have no other finding, and do not count."""
    view = read_results(simulated_results(("a", "b"), failed={"broken": "no memory"}))
    assert [sentence(finding.text) for finding in embedding_findings(view, "broken")] == [
        "Could not be computed: no memory"
    ]
    assert standing_finding(view, "broken").text == ""

    row = measure_row("a", "trustworthiness", "n_neighbors=15", 0.99, 0.5)
    (constant_finding,) = embedding_findings(read_results(make_results([row], {"a": np.ones((6, 2))})), "a")
    assert constant_finding.text == "All points lie in one place: this embedding shows nothing of the data."


def test_a_constant_embedding_does_not_affect_the_ranking_of_others():
    """Noise stays noise next to a constant embedding, and the ties of the latter do not affect the comparisons."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 8))
    embeddings = {"random": rng.normal(size=(100, 2)), "constant": np.ones((100, 2))}
    constant_sentence = "constant shows nothing of the data: all its points lie in one place."
    for further_embeddings, expected_start in (
        ({}, "No embedding is told from chance by any measure."),
        ({"pca": "pca"}, "pca keeps neighbors"),
    ):
        ev = dreval.Evaluation(X, {**embeddings, **further_embeddings}, n_neighbors=8, random_state=0)
        texts = [
            sentence(finding.text)
            for finding in findings(read_results(ev.run(["trustworthiness", "neighborhood_overlap"])))
        ]
        assert texts[0].startswith(expected_start)
        assert texts[1:] == [constant_sentence]


def test_without_tests_nothing_is_called_significant():
    """The best values are named, and one sentence says that there were no tests."""
    view = read_results(simulated_results(intervals=False))
    text = " ".join(
        sentence(finding.text) for finding in [*main_findings(view), *(standing_finding(view, n) for n in view.names)]
    )

    assert "ignificant" not in text
    assert text.count("These are values without intervals") == 1
    assert standing_finding(view, "tsne").text == "Best value by all six measures."
    assert standing_finding(view, "pca").text == "Best value by no measure."


def test_the_glossary_has_the_grades_of_the_cards():
    """Each pair of grades is listed once, with the symbols of its measures."""
    definition = dict(grade_definitions(read_results(simulated_results())))["sentences"]

    assert "from 90 % on for the good sentence, and below 80 % for the poor one (T, C)" in definition
    assert "from 50 % on for the good sentence, and below 50 % for the poor one (Q)" in definition


def test_shared_sentences_name_all_measures_and_no_embedding():
    """Shared findings are one sentence for the good and one for the poor ones."""
    rows = [measure_row(n, "continuity", "n_neighbors=15", v, 0.5) for n, v in (("a", 0.97), ("b", 0.98), ("c", 0.96))]
    rows += [measure_row(n, "procrustes_rc", "n_neighbors=15", 0.8, 0.9) for n in "abc"]
    view = read_results(make_results(rows, {name: np.eye(5)[:, :2] for name in "abc"}))
    good_finding, poor_finding = shared_sentences(view)

    assert good_finding.text == "All three embeddings: neighbors in the data stay close in the embedding (C)."
    assert poor_finding.text == "All three embeddings: neighborhoods lose their shape (R_C)."


def test_noise_has_one_sentence_and_no_best():
    """If no value is better than chance, one sentence says so, and no embedding is called best."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 6))
    embeddings = {name: rng.normal(size=(80, 2)) for name in "abc"}
    results = dreval.Evaluation(X, embeddings, n_neighbors=8, random_state=0).run(["trustworthiness", "continuity"])
    texts = [sentence(finding.text) for finding in main_findings(read_results(results))]

    assert texts == ["No embedding is told from chance by any measure."]


def test_a_measure_without_values_above_chance_has_no_best():
    """Each embedding has its own chance level of stress, so a lower value than that of noise may be chance, too."""
    X = np.random.default_rng(3).normal(size=(150, 30))
    ev = dreval.Evaluation(
        X, {"pca": "pca", "wide": 4 * np.random.default_rng(1).normal(size=(150, 2))}, random_state=0
    )
    view = read_results(ev.run(["stress", "spearman_distance"], tests=None))
    texts = [sentence(finding.text) for finding in findings(view)]

    assert texts[0].startswith("pca keeps distances best (rho_D")
    assert texts[1:] == ["No embedding is told from chance by S."]


def test_failed_equal_and_scaled_embeddings_are_named():
    """Failures and equal maps are named; with several k the sentence names its k."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(80, 5)) * [4, 3, 1, 1, 1]
    embeddings = {"a": X[:, :2], "twin": X[:, :2].copy(), "noise": rng.normal(size=(80, 2))}
    ev = dreval.Evaluation(X, embeddings, n_neighbors=[5, 20], random_state=0)
    texts = [
        sentence(finding.text) for finding in findings(read_results(ev.run(["trustworthiness", "spearman_distance"])))
    ]

    assert texts[0].startswith("a and twin keep neighbors best at k = 20 (T")
    assert texts[1].startswith("a and twin keep distances best (rho_D")
    assert texts[2] == "a and twin have the same coordinates."
    rows = [measure_row("a", "trustworthiness", "n_neighbors=15", 0.99, 0.5)]
    single_result = make_results(rows, {"a": X[:, :2]}, failed={"lost": "no memory", "too": "no time"})
    assert [sentence(finding.text) for finding in findings(read_results(single_result))] == [
        "a: neighbors in the embedding are close in the data (T\u00a00.990).",
        "lost and too could not be computed.",
    ]


def test_the_next_embedding_is_outside_the_best_set():
    """A value that is better than that of the best, or not distinguishable from it, is never named as the next."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(100, 6)) * [4, 3, 2, 1, 1, 1]
    near_copy = X[:, :2] + 0.3 * rng.normal(size=(100, 2))
    embeddings = {"a": X[:, :2], "near": near_copy, "bent": np.c_[X[:, 0], X[:, 1] ** 3 / 20]}
    results = dreval.Evaluation(X, embeddings, n_neighbors=10, random_state=0).run(tests=None)
    ranks = results.ranking()
    for finding in findings(read_results(results)):
        claim, _, next_text = finding.text.partition("; next ")
        if finding.kind == BEST and next_text:
            names = {*NAMES.findall(claim)}
            keys = {row[:2] for row in finding.rows}
            sets = [
                {*part.loc[part["in_best_set"].fillna(False), "embedding"]}
                for key, part in ranks.groupby(["measure", "parameters"])
                if key in keys
            ]
            assert names in sets


def test_batches_at_the_chance_level_are_mixed():
    """Values of mixed batches near the chance level are good, those near the worst value poor."""
    rng = np.random.default_rng(0)
    X, batch = rng.normal(size=(120, 5)), rng.integers(0, 2, 120)
    embeddings = {"mixed": X[:, :2], "apart": X[:, :2] + 9.0 * batch[:, None]}
    results = dreval.Evaluation(X, embeddings, batch=batch, n_neighbors=8, random_state=0).run(
        ["ilisi", "kbet"], tests=None
    )
    view = read_results(results)
    card_findings = {
        name: [(finding.kind, sentence(finding.text)) for finding in embedding_findings(view, name)]
        for name in embeddings
    }

    assert [kind for kind, _ in card_findings["mixed"]] == [HOLDS]
    assert card_findings["mixed"][0][1].startswith("Batches are mixed (iLISI")
    assert [kind for kind, _ in card_findings["apart"]] == [FAILS]
    assert card_findings["apart"][0][1].startswith("Batches are not mixed (iLISI")


def test_an_interval_below_chance_is_worse_than_chance():
    """Neighbors that are far apart in the data are worse than chance, not noise."""
    X = np.linspace(0.0, 1.0, 80)[:, None] * np.ones(3)
    X[:, 1] = np.arange(80) % 2
    embedding = np.c_[np.argsort(np.argsort((np.arange(80) * 31) % 80)), np.zeros(80)]
    results = dreval.Evaluation(X, {"far": embedding}, n_neighbors=5, random_state=0).run("trustworthiness", tests=None)
    (row,) = results.tidy().to_dict("records")
    (main_finding,) = findings(read_results(results))

    assert row["conf_high"] < row["chance"] or main_finding.kind != WORSE
    worse_results = make_results(
        [measure_row("a", "trustworthiness", "n_neighbors=15", 0.3, 0.5, conf_low=0.2, conf_high=0.4)],
        {"a": np.eye(6)[:, :2]},
    )
    assert [sentence(finding.text) for finding in findings(read_results(worse_results))] == [
        "Worse than chance: T\u00a00.300."
    ]


def test_the_best_set_has_no_next_embedding_within_its_range():
    """If another embedding has a better value than one in the best set, only the values of the set are given."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 8)) * np.array([5, 4, 3, 2, 1, 1, 1, 1])
    embeddings = {"a": X[:, :2], "b": X[:, 1:3], "c": X[:, :2] + 0.2 * rng.normal(size=(120, 2))}
    results = dreval.Evaluation(X, embeddings, random_state=0).run("procrustes_rc", tests=None)
    ranks = results.ranking().set_index("embedding")
    (finding, *_) = findings(read_results(results))

    assert ranks.loc[["a", "b"], "in_best_set"].all()
    assert not ranks.loc["c", "in_best_set"]
    assert ranks.loc["c", "value"] < ranks.loc["b", "value"]
    assert " next " not in finding.text


def test_the_next_value_has_enough_decimals_to_differ_from_the_best():
    """Values that are equal as printed in the table have more decimals in the sentence."""
    rows = [
        measure_row(name, measure, parameters, value, 0.5)
        for measure, parameters, pair in (
            ("triplet_accuracy", "n_triplets=200", (0.68312, 0.68049)),
            ("continuity", "n_neighbors=15", (0.97012, 0.97001)),
            ("trustworthiness", "n_neighbors=15", (0.97012, 0.96)),
        )
        for name, value in zip("ab", pair, strict=True)
    ]
    results = make_results(rows, {"a": np.eye(6)[:, :2], "b": np.eye(6)[:, 1:3]})
    texts = [sentence(finding.text) for finding in findings(read_results(results))]
    assert "68.3 % of triplets keep their order; next b 68.0 %" in texts[1]
    poor_row = measure_row("c", "continuity", "n_neighbors=15", 0.9, 0.5)
    triplet = make_results([*rows[2:4], poor_row], {name: np.eye(6)[:, i : i + 2] for i, name in enumerate("abc")})
    assert "(C\u00a00.9701; next b 0.9700; chance" in sentence(findings(read_results(triplet))[0].text)


def test_the_best_is_called_poor_only_if_every_measure_of_the_goal_is_poor():
    """The best by triplets is called poor if the correlation of distances is poor, too, and not if it is good."""
    embeddings = {"a": np.eye(6)[:, :2], "b": np.eye(6)[:, 1:3]}
    for rho, is_poor in ((0.99, False), (0.05, True)):
        rows = [measure_row("a", "triplet_accuracy", "n_triplets=200", 0.52, 0.5)]
        rows += [measure_row("b", "triplet_accuracy", "n_triplets=200", 0.51, 0.5)]
        rows += [measure_row("a", "spearman_distance", "", rho, 0.0)]
        rows += [measure_row("b", "spearman_distance", "", rho / 2, 0.0)]
        (finding, *_) = findings(read_results(make_results(rows, embeddings)))
        assert finding.kind == BEST
        assert finding.text.endswith("Even the best is poor.") == is_poor
