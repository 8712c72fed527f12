"""The page of a comparison: its answers, numbers and drawings are those of its tables."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dreval
from dreval._text import without_zero
from dreval.records.comparison import Comparison
from dreval.records.frames import full_name
from dreval.report.best_sets import borderlines, measure_rankings
from dreval.report.comparison_findings import comparison_answers
from dreval.report.documents.pairs import BORDERLINE, difference_rows, mark_texts
from dreval.report.documents.paragraph import measure_paragraph
from dreval.report.figures.page import DIFFERENCE_PAD, DIFFERENCE_SIZE, DifferenceAxis
from dreval.report.render.markup import sentence
from dreval.report.result_view import read_results

NASTY = "<b>&\"' long $name_of$ an embedding"


def report_page(comparison: Comparison, folder: Path) -> str:
    return comparison.report(folder / "c.html").read_text("utf-8")


def section(page: str, name: str) -> str:
    return page.partition(f'<section id="{name}"')[2].partition("</section>")[0]


def visible_text(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", "", html.replace("<wbr>", ""))).replace("\u00a0", " ").split())


@pytest.fixture(scope="module")
def two() -> dreval.Results:
    """Two embeddings of one data set; the first one is better."""
    X = np.random.default_rng(0).normal(size=(80, 4)) * [3, 2, 1, 1]
    evaluation = dreval.Evaluation(X, {"x_1": X[:, :2], "b": X[:, 1:3]}, n_neighbors=8, random_state=0)
    return evaluation.run(["trustworthiness", "procrustes_rc", "spearman_distance"], None)


def test_the_first_screen_has_all_answers_and_maps(within: Comparison, across: Comparison, tmp_path: Path) -> None:
    """Each question has its sentences; on one data set each embedding has a small map."""
    for comparison in (within, across):
        first = section(report_page(comparison, tmp_path), "answers")
        text = visible_text(first)
        for answer in comparison_answers(comparison):
            assert f"<dt>{answer.question}</dt>" in first
            assert " ".join(sentence(answer.text).split()) in text
        assert first.count('class="map thumb"') == (3 if comparison is within else 0)


def test_two_embeddings_have_differences_with_intervals(two: dreval.Results, tmp_path: Path) -> None:
    """A row for each measure has both values, the difference with its interval, and whether it is significant."""
    comparison = two.compare()
    page = report_page(comparison, tmp_path)
    table = section(page, "measures")
    rows = re.findall(r'<tr><th scope="row".*?</tr>', table)

    assert re.search(r"<h1>x_1 against b", page)
    assert 'id="differences"' not in page
    for row in comparison.pairs.to_dict("records"):
        (line,) = [line for line in rows if f"{abs(row['difference']):.3f}"[1:] in visible_text(line)][:1]
        assert line.count("<svg") == 1
        assert ('class="sigpt"' in line) == (row["better"] != "")
        ends = sorted((1 if row["first"] == "x_1" else -1) * row[key] for key in ("conf_low", "conf_high"))
        printed = " to ".join(without_zero(f"{end:.3f}").replace("-", "−") for end in ends)
        assert printed in visible_text(line)
        assert ("not significant" in visible_text(line)) == (row["better"] == "")


def test_margins_are_the_unit_of_the_differences(two: dreval.Results, tmp_path: Path) -> None:
    """With margins a row has the margin and the verdict; the zone of the margin is drawn."""
    comparison = two.compare(margin={"trustworthiness": 0.5, "spearman_distance": 0.01})
    table = section(report_page(comparison, tmp_path), "measures")
    words = {"equivalent": "equivalent", "better": "larger than the margin", "worse": "larger than the margin"}

    assert table.count('class="zone"') == 2
    assert "±.5" in table
    for row in comparison.pairs.to_dict("records"):
        if row["equivalence"]:
            word = words.get(row["equivalence"])
            assert word in table if word else re.search("not shown|borderline", table)


@pytest.mark.parametrize("zone", [1.0, np.nan])
def test_places_of_differences_are_linear(zone: float) -> None:
    """Zero, a mark and the ends of its interval are at their places; what is beyond the axis is at its end."""
    axis = DifferenceAxis(-1.0, 3.0, zone)
    drawing = axis.row(1.5, -0.5, 99.0, significant=True, label="a < b")
    inner = DIFFERENCE_SIZE[0] - 2 * DIFFERENCE_PAD
    mark, zero = float(re.search(r'cx="([\d.]+)"', drawing)[1]), float(re.search(r'zero" d="M([\d.]+)', drawing)[1])
    low, high = map(float, re.search(r'ivl" d="M([\d.]+) [\d.]+H([\d.]+)', drawing).groups())

    assert mark - zero == pytest.approx(1.5 / (axis.high - axis.low) * inner, abs=0.2)
    assert zero - low == pytest.approx(0.5 / (axis.high - axis.low) * inner, abs=0.2)
    assert high == DIFFERENCE_SIZE[0] - DIFFERENCE_PAD
    assert ("zone" in drawing) == (zone == 1.0)
    assert "a &lt; b" in drawing


def test_several_embeddings_have_letters_and_all_pairs(within: Comparison, tmp_path: Path) -> None:
    """The table has values with letters; the folded table has every pair with its p-values, the better one first."""
    page = report_page(within, tmp_path)
    table, pairs = section(page, "measures"), section(page, "differences")

    for row in within.standing.to_dict("records"):
        assert f'data-sort="{row["value"]!r}"' in table
        assert f"<small>{row['letters']}</small>" in table
    rows = difference_rows(within)
    assert len(rows) == within.pairs["p_value"].notna().sum()
    for row in rows:
        assert row["difference"] >= 0
        assert f'data-sort="{row["p_adjusted"]!r}"' in pairs
        assert f'data-sort="{row["p_value"]!r}"' in pairs
    counts = [sum(row["mark"] == mark for row in rows) for mark in ("sig", "ns")]
    assert f"Of {len(rows)} differences: {counts[0]} significant" in visible_text(pairs)


def test_a_page_over_data_sets_has_ranks_values_and_overall_tests(across: Comparison, tmp_path: Path) -> None:
    """The page has mean ranks, wins, every value of every data set, all pairs, and the overall tests."""
    page = report_page(across, tmp_path)
    ranks = section(page, "measures")

    for rank in across.standing["mean_rank"]:
        assert f"{rank:.2f}" in ranks
    for name, family in across.families.items():
        for value in family.cells.to_numpy().ravel():
            assert f"{value:.3f}" in section(page, "ranks")
        assert int(across.wins(name).to_numpy().max()) == 7
    assert section(page, "ranks").count("<svg") == 2
    assert "Friedman" in section(page, "any")
    assert section(page, "pairs").count("<tr>") == 1 + len(across.pairs)


def test_posterior_probabilities_have_a_separate_table(tmp_path: Path) -> None:
    """Each pair has three probabilities; a pair equal in practice is labeled so, and none is "not tested"."""
    rng = np.random.default_rng(1)
    gaps = {"one": 0.0, "like one": 0.0, "better": 0.1}
    records = [(f"set {i}", name, 0.5 + gap + rng.random() / 999) for i in range(12) for name, gap in gaps.items()]
    table = pd.DataFrame(records, columns=["dataset", "embedding", "value"])
    options = {"tests": ["wilcoxon", "bayes"], "rope": 0.01, "random_state": 0}
    comparison = dreval.compare(table, direction="higher", **options)
    rows = section(report_page(comparison, tmp_path), "posterior")
    bayes = comparison.pairs[comparison.pairs["test"] == "bayes"]

    assert rows.count("<tr>") == 1 + 3
    assert "better by more than 0.01" in rows
    for row in bayes.to_dict("records"):
        assert all(f"<td>{row[key]:.3f}</td>" in rows for key in ("p_first", "p_rope", "p_second"))
    assert list(bayes["better"]) == ["", "better", "better"]
    assert rows.count("equal in practice</td>") == 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["within", "across"])
def test_the_page_is_self_contained_and_reproducible(kind: str, tmp_path: Path, request: Any) -> None:
    """The page loads no file, shows names literally, has one script, and two reports have the same bytes."""
    comparison = request.getfixturevalue(kind)
    page = report_page(comparison, tmp_path)

    assert page == report_page(comparison, tmp_path)
    assert page.count("<script") == 1
    assert not re.findall(r"(?:src|href)=\"(?!#)", page)
    assert NASTY not in page
    assert "&lt;b&gt;&amp;" in page
    assert "Conclusions that do not follow" in page


def test_the_markdown_report_has_the_same_content(within: Comparison, tmp_path: Path) -> None:
    """The Markdown report has the answers, the paragraphs, every number, and the limits."""
    text = within.report(tmp_path / "c.md").read_text("utf-8")

    assert text.startswith("# Comparison of three embeddings")
    assert measure_paragraph(within, within.measures[0], "markdown") in text
    assert "## Conclusions that do not follow" in text
    assert "probability of superiority" in text


@pytest.mark.parametrize("baseline", [None, "m4"])
def test_many_embeddings_have_the_pairs_with_the_best_and_letters(baseline: str | None, tmp_path: Path) -> None:
    """Of ten embeddings the page has the pairs with the best or the baseline, and letters for all other pairs."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4))
    embeddings = {f"m{i}": X[:, :2] + 0.2 * i * rng.normal(size=(50, 2)) for i in range(10)}
    results = dreval.Evaluation(X, embeddings, n_neighbors=5, random_state=0).run(["trustworthiness", "procrustes_rc"])
    comparison = results.compare(baseline=baseline)
    text = section(report_page(comparison, tmp_path), "differences")

    for name in comparison.measures:
        best = baseline or comparison.of(comparison.standing, name)["embedding"].iloc[0]
        pairs = comparison.of(comparison.pairs, name)
        pairs = pairs[(pairs["first"] == best) | (pairs["second"] == best)]
        assert len(pairs) == 9
        assert all(f'data-sort="{abs(difference)!r}"' in text for difference in pairs["difference"])
    assert ("All significant pairs, by letters" in text) == (baseline is None)
    for letters in comparison.standing["letters"]:
        assert baseline is not None or f">{letters}</td>" in text


def test_leads_that_answers_call_borderline_are_borderline_among_the_pairs() -> None:
    """A lead by the one-sided test of the best set that no two-sided test confirms is counted, and its mark says so."""
    X, rng = np.random.default_rng(1).normal(size=(120, 5)), np.random.default_rng(3)
    embeddings = {f"e{i}": X[:, :2] + 0.14 * i * rng.normal(size=(120, 2)) for i in range(3)}
    measures = ["trustworthiness", "continuity", "stress", "spearman_distance"]
    results = dreval.Evaluation(X, embeddings, n_neighbors=8, random_state=0).run(measures, tests=None, ci="jackknife")
    view = read_results(results)
    assert view.comparison is not None
    lines = [line for ranking in measure_rankings(view) for line in borderlines(view, ranking)]
    leads = {(full_name(x.column.measure, x.column.parameters), frozenset((x.best, x.other))) for x in lines}
    rows = difference_rows(view.comparison, leads)
    borderline = [row for row in rows if row["mark"] == BORDERLINE]
    assert leads <= {(row["name"], frozenset((row["first"], row["second"]))) for row in borderline}
    by_lead = [row for row in borderline if row["p_value"] > view.comparison.recipe["alpha"]]
    assert by_lead
    assert "one-sided" in dict(mark_texts(view.comparison, rows))[BORDERLINE]
