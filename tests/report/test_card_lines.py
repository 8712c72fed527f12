"""The short verdict of a card: few words, chosen by the rules of the full text, and by tests where there are any."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_cases import make_results, measure_row, readings

import dreval
from dreval.report.contents.page import DOUBTED, MOST_WORDS, TRUSTED, balanced, card_lines
from dreval.report.contents.pairs import paired_differences
from dreval.report.reading import read_results
from dreval.report.statements import CHANCE, FAIR, GOOD, POOR, RULES, Decided, grade, verdicts


@given(readings())
def test_a_card_has_few_words(reading):
    """At most 45 with the name, whatever the values; a line is never empty."""
    for said in verdicts(reading):
        lines = card_lines(reading, said, Decided())
        assert all(words for _, words in lines)
        assert 1 + len(" ".join([said.lead, *(f"{tag} {words}" for tag, words in lines)]).split()) <= MOST_WORDS


@given(readings())
def test_what_is_trusted_holds_and_what_is_distrusted_does_not(reading):
    """Every topic named stands where the grade of its measure puts it, and nothing at chance is trusted."""
    for said in verdicts(reading):
        lines = dict(card_lines(reading, said, Decided()))
        for column in reading.main:
            cell = column.cells[said.name]
            if cell.missing or column.measure == "neighborhood_overlap":
                continue
            judged, topic = grade(column, cell), RULES[column.measure].topic
            if topic in lines.get(TRUSTED, ""):
                assert judged in (GOOD, FAIR)
                assert (f"{topic} (mostly)" in lines[TRUSTED]) == (judged == FAIR)
            if topic in lines.get(DOUBTED, ""):
                assert judged in (POOR, CHANCE)
                assert (f"{topic} (chance)" in lines[DOUBTED]) == (judged == CHANCE)


def test_a_grade_must_hold_for_every_order_of_ties():
    """A value that holds, with ties down to one that does not, is neither trusted nor distrusted."""
    rows = [measure_row("a", "trustworthiness", "", 0.96, 0.5, worst=0.6, best=0.97)]
    column = read_results(make_results(rows, {"a": np.eye(5)[:, :2]})).main[0]

    assert grade(column, column.cells["a"]) == ""
    rows[0]["worst"] = 0.955
    column = read_results(make_results(rows, {"a": np.eye(5)[:, :2]})).main[0]
    assert grade(column, column.cells["a"]) == GOOD


@pytest.fixture(scope="module")
def results():
    """Three embeddings of one cloud: by the bundled linear method, the same with a little noise, and noise alone."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4)) * [4, 3, 1, 1]
    near = X[:, :2] + 0.7 * rng.normal(size=(150, 2))
    made = {"linear": "pca", "near": near, "noise": rng.normal(size=(150, 2))}
    return dreval.Evaluation(X, made, n_neighbors=8, random_state=0).run(["trustworthiness", "continuity"])


def test_clearly_best_is_better_than_all_others_by_the_paired_tests(results):
    """What a card calls clear is what ``compare`` finds, measure by index."""
    reading = read_results(results)
    paired = paired_differences(results, reading)
    pairs = results.compare().pairs
    for measure in ("trustworthiness", "continuity"):
        better = pairs.loc[pairs["measure"] == measure, "better"]
        clear = [name for name in results.names if (better == name).sum() == 2]
        assert clear == [name for name in results.names if paired.tested.clear[name][measure]]
    assert paired.tested.clear["linear"] == {"trustworthiness": True, "continuity": True}
    assert f"{(pairs['better'] != '').sum()} differences of 6 with adjusted p (Holm) ≤ 0.05" in paired.said


def test_the_baseline_is_the_bundled_linear_method(results):
    """Cards of the others count where they beat it, by the same tests; its own does not."""
    reading = read_results(results)
    tested = paired_differences(results, reading).tested
    cards = {said.name: dict(card_lines(reading, said, tested)) for said in verdicts(reading, tested)}

    assert tested.baseline == "linear"
    assert tested.beaten == {"near": (0, 2), "noise": (0, 2)}
    assert "Never beats linear." in cards["near"][""]
    assert "linear" not in cards["linear"][""]
    assert cards["linear"][""] == "Best on both measures, clearly."


def test_a_result_without_groups_is_not_compared(results):
    """Without intervals nothing is tested, and cards go by the values."""
    bare = dreval.Evaluation(results.data, {name: results.embeddings[name] for name in ("near", "noise")})
    found = bare.run("continuity", ci=None)

    assert paired_differences(found, read_results(found)).rows == ()
    assert paired_differences(found, read_results(found)).tested.clear is None


@given(st.integers(1, 60), st.integers(1, 6))
def test_rows_are_as_full_as_they_can_be(count, most):
    """No more columns than asked, no more rows than needed, and fewer columns would need another row."""
    columns = balanced(count, most, 2)["wide"]
    rows = -(-count // columns)

    assert columns <= most
    assert rows == -(-count // most)
    assert columns == 1 or -(-count // (columns - 1)) > rows
