"""The page of a comparison: its numbers are those of its tables, on one data set and over many."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import dreval
from dreval.report.documents.paragraph import measure_paragraph

NASTY = "<b>&\"' long $name_of$ an embedding"


def report_page(comparison, folder):
    return comparison.report(folder / "c.html").read_text("utf-8")


def test_every_pair_has_its_numbers(within, tmp_path):
    """Each pair has its advantage, p-value and the better embedding; an undecided pair is marked open."""
    page = report_page(within, tmp_path)
    rows = page.partition('<section id="pairs"')[2].partition("</section>")[0]
    for row in within.pairs.to_dict("records"):
        assert f'data-sort="{row["advantage"]!r}"' in rows
        assert f'data-sort="{row["p_adjusted"]!r}"' in rows
    assert rows.count("<tr>") == 1 + len(within.pairs)
    assert page.count("Differences as parts of the way from the chance level") == 1
    assert page.index("Differences as parts of the way") < page.index("Figure of first against ")
    assert page.count('aria-label="Figure of ') == 3
    assert rows.count(">open<") == (within.pairs["better"] == "").sum()


def test_the_best_has_a_mark_and_its_letters(within, tmp_path):
    """The table of values has the letters of the ranking, and one best mark for each measure."""
    head = report_page(within, tmp_path).partition('<section id="ahead"')[2].partition("</section>")[0]

    assert head.count('class="best"') == 2
    assert re.search(r"<bdi>\w+</bdi></strong> is .*better than", head)
    for letters in within.standing["letters"]:
        assert f"<small>{letters}</small>" in head
    sentence = "do not differ significantly by paired tests at the same points, adjusted by Holm."
    assert f"Embeddings that share a letter on a measure {sentence}" in head


def test_a_page_over_data_sets_has_ranks_values_and_overall_tests(across, tmp_path):
    """The page has mean ranks, every value of every data set, and the overall tests."""
    page = report_page(across, tmp_path)

    assert re.findall(r"<h2[^>]*>(.*?)</h2>", page)[:4] == [
        "Who is ahead",
        "Is there any difference?",
        "Measure by measure",
        "Every pair",
    ]
    for rank in across.standing["mean_rank"]:
        assert f"<b>{rank:.2f}</b>" in page
    cells = across.families["trustworthiness"].cells
    for value in cells.to_numpy().ravel():
        assert f"<b>{value:.3f}</b>" in page
    assert page.count("<svg") == 2
    assert "Friedman" in page
    assert "7 data sets · level 0.05 · p adjusted by Holm" in page


def test_posterior_probabilities_have_a_separate_table(tmp_path):
    """Each pair has three probabilities; a pair equal in practice is labeled so, and none is "not tested"."""
    rng = np.random.default_rng(1)
    records = [
        {
            "dataset": f"set {i}",
            "embedding": name,
            "measure": "trustworthiness",
            "value": 0.5 + gap + rng.random() / 999,
        }
        for i in range(12)
        for name, gap in {"one": 0.0, "like one": 0.0, "better": 0.1}.items()
    ]
    comparison = dreval.compare(pd.DataFrame(records), tests=["wilcoxon", "bayes"], rope=0.01, random_state=0)
    page = report_page(comparison, tmp_path)
    rows = page.partition('<section id="posterior"')[2].partition("</section>")[0]
    bayes = comparison.pairs[comparison.pairs["test"] == "bayes"]

    assert rows.count("<tr>") == 1 + 3
    assert "better by more than 0.01" in rows
    for row in bayes.to_dict("records"):
        assert "".join(f"<td>{row[key]:.3f}</td>" for key in ("p_first", "p_rope", "p_second")) in rows
    assert list(bayes["better"]) == ["", "better", "better"]
    assert rows.count(">equal in practice<") == 1
    assert rows.count(">better</bdi></td>") == 2
    assert "not tested" not in page
    assert page.partition('<section id="pairs"')[2].partition("</section>")[0].count("<tr>") == 1 + 3


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["within", "across"])
def test_the_page_is_self_contained_and_reproducible(kind, tmp_path, request):
    """The page loads no file, shows names literally, has one script, and two reports have the same bytes."""
    comparison = request.getfixturevalue(kind)
    page = report_page(comparison, tmp_path)

    assert page == report_page(comparison, tmp_path)
    assert page.count("<script") == 1
    assert not re.findall(r"(?:src|href)=\"(?!#)", page)
    assert NASTY not in page
    assert "&lt;b&gt;&amp;&quot;&#x27; long" in page
    assert "What may not be concluded" in page


def test_the_markdown_report_has_the_same_content(within, tmp_path):
    """The Markdown report has the paragraphs and the cautions."""
    text = within.report(tmp_path / "c.md").read_text("utf-8")

    assert text.startswith("# Comparison of three embeddings of data\n")
    assert measure_paragraph(within, within.measures[0], "markdown") in text
    assert "## What may not be concluded" in text


@pytest.mark.parametrize("baseline", [None, "m4"])
def test_pairs_of_many_embeddings_are_those_with_the_best(baseline, tmp_path):
    """More than eight embeddings have only pairs with the best or the baseline; the others are counted."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4))
    embeddings = {f"m{i}": X[:, :2] + 0.2 * i * rng.normal(size=(50, 2)) for i in range(10)}
    results = dreval.Evaluation(X, embeddings, n_neighbors=5, random_state=0).run(["trustworthiness", "procrustes_rc"])
    comparison = results.compare(baseline=baseline)
    rows = report_page(comparison, tmp_path).partition('<section id="pairs"')[2].partition("</section>")[0]
    page = results.report(tmp_path / "r.html").read_text("utf-8").partition('<section id="differences"')[2]

    assert rows.count("<tr>") == 1 + 2 * 9
    assert ("72 more rows are in tidy()" in rows) == (baseline is None)
    assert "Paired differences from the best by each measure: 18 rows; 72 more in results.compare().tidy()" in page
    for name in comparison.measures:
        best = baseline or comparison.of(comparison.standing, name)["embedding"].iloc[0]
        pairs = comparison.of(comparison.pairs, name)
        pairs = pairs[(pairs["first"] == best) | (pairs["second"] == best)]
        assert len(pairs) == 9
        assert all(f'data-sort="{advantage!r}"' in rows for advantage in pairs["advantage"])


def test_a_long_table_of_values_is_folded(tmp_path):
    """Twelve of sixteen embeddings are visible, the best first, and a button shows the others; there are no letters."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) * [4, 3, 1, 1]
    embeddings = {f"e{i:02d}": X[:, :2] + 0.1 * i * rng.normal(size=(60, 2)) for i in range(16)}
    comparison = dreval.Evaluation(X, embeddings, n_neighbors=8, random_state=0).run("continuity", None).compare()
    page = comparison.report(tmp_path / "c.html").read_text("utf-8")
    table = page.partition('<section id="ahead"')[2].partition("</table>")[0]

    assert table.count('<tr class="more">') == 4
    assert "... 4 more: show all 16" in page
    assert "<small>" not in table.partition("<tbody>")[2]
    assert "share a letter" not in page.partition('<section id="measures"')[0]
