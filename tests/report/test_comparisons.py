"""Figures of comparisons: their content and their errors."""

from __future__ import annotations

import re
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex, to_rgb
from matplotlib.text import Text

import dreval
from dreval._text import probability
from dreval.comparison.tables import letter_display
from dreval.errors import InputError, UnknownName
from dreval.report import _style
from dreval.report._svg import inline_svg
from dreval.report.comparison_findings import TEST, comparison_answers
from dreval.report.documents.comparison import letter_text
from dreval.report.figures._panels import ramp_between
from dreval.report.figures.comparisons import shared_letters
from dreval.report.plot import kinds, plot_study

X = np.random.default_rng(0).normal(size=(70, 4)) * [3, 2, 1, 1]


@pytest.fixture(scope="module")
def within():
    """Three embeddings of one data set."""
    sources = {"x_1": X[:, :2], "$b$": X[:, 2:], "c": X[:, [0, 2]]}
    ev = dreval.Evaluation(X, sources, n_neighbors=5, random_state=0)
    return ev.run(["trustworthiness", "procrustes_rc", "procrustes_disparity"], None).compare()


def across(k=4, n=9, **options):
    """Return a comparison of embeddings on data sets."""
    rng = np.random.default_rng(k)
    rows = [(f"d{i}", f"m{j}", j / 9 + rng.normal()) for i in range(n) for j in range(k)]
    frame = pd.DataFrame(rows, columns=["dataset", "embedding", "value"])
    return dreval.compare(frame, direction="higher", **options)


def texts(figure):
    figure.canvas.draw()
    return [t.get_text().strip() for t in figure.findobj(Text) if t.get_text().strip()]


@pytest.mark.parametrize("k", [2, 3, 4, 11])
def test_critical_difference_has_every_embedding_and_its_rank(k):
    """Names, mean ranks, number of data sets and test are shown; the critical difference only if its test decides."""
    comparison = across(k)
    text = " ".join(texts(comparison.plot("critical_difference")))

    for row in comparison.standing.to_dict("records"):
        assert row["embedding"] in text
        assert f"{row['mean_rank']:.2f}" in text
    assert "over 9 data sets" in text
    test = comparison.recipe["decided_by"]
    assert test == ("wilcoxon" if k < 11 else "nemenyi")  # 6 pairs on 9 data sets: 6 * 2 / 2^9 = .023; 55 pairs: .21
    assert ("critical difference" in text) == (test == "nemenyi")
    assert {"wilcoxon": "Wilcoxon", "nemenyi": "Nemenyi"}[test] in text


def test_names_of_critical_differences_are_apart_from_their_lines():
    """There is space between a name with its rank and its line, on either side."""
    figure = across(k=5).plot("critical_difference")
    figure.draw_without_rendering()
    ax = figure.axes[0]
    leaders = [line.get_window_extent() for line in ax.lines if len(line.get_xdata()) == 3]
    labels = [text.get_window_extent() for text in ax.texts if re.search(r"\d\.\d\d", text.get_text())][-5:]

    assert len(leaders) == len(labels) == 5
    for line, label in zip(leaders, labels, strict=True):
        gap = max(line.x0 - label.x1, label.x0 - line.x1) * 72 / figure.dpi
        assert 3 <= gap <= 8


@given(st.integers(1, 7).flatmap(lambda k: st.tuples(st.just(k), st.sets(st.sampled_from(range(49))))))
def test_bars_join_exactly_the_pairs_that_do_not_differ(case):
    """A bar covers two embeddings if and only if their pair does not differ; no bar is within another."""
    k, codes = case
    differing = [(i, j) for i in range(k) for j in range(i + 1, k) if 7 * i + j in codes]
    groups = shared_letters(letter_display(k, differing))

    for i in range(k):
        for j in range(i + 1, k):
            assert any({i, j} <= set(group) for group in groups) == ((i, j) not in differing)
    assert not [g for g in groups for h in groups if g is not h and set(g) <= set(h)]


@pytest.mark.parametrize("n", [4, 9])
def test_figures_and_text_of_a_comparison_name_the_same_test(n):
    """Letters, both figures and the paragraph use one test, also where signed ranks cannot be significant."""
    comparison = across(4, n)
    test = {"wilcoxon": "Wilcoxon", "nemenyi": "Nemenyi"}[comparison.recipe["decided_by"]]
    excluded_test = {"Wilcoxon": "Nemenyi", "Nemenyi": "Wilcoxon"}[test]
    for text in (
        " ".join(texts(comparison.plot("critical_difference"))),
        " ".join(texts(comparison.plot("forest"))),
        letter_text(comparison),
    ):
        assert test in text
        assert excluded_test not in text
    decision = next(answer.text for answer in comparison_answers(comparison) if answer.question == TEST)
    assert test in decision.partition(" decide")[0]


@pytest.mark.parametrize("n", [4, 9])
def test_the_forest_of_a_study_uses_the_test_of_its_report(n):
    """Its p-values are the adjusted ones of the test that ``compare`` and the report use."""
    study = SimpleNamespace(compare=lambda **options: across(4, n, **options))
    comparison = study.compare()
    rows = comparison.pairs[comparison.pairs["test"] == comparison.recipe["decided_by"]]
    labels = texts(plot_study(study, "forest"))
    for p in rows["p_adjusted"]:
        assert probability(p) in labels


def test_a_forest_has_every_pair_of_every_measure(within):
    """Each of three pairs has a panel with the measures as lines; one measure has the pairs as lines."""
    figure = within.plot()
    labels = texts(figure)
    figure_of_measure = within.plot("forest", measure="procrustes_rc")

    assert len(figure.axes) == 3
    assert {"← c better", "$b$ better →", "x_1 better →"} <= set(labels)
    assert figure.axes[0].get_yticklabels()[0].get_text() == "Trustworthiness"
    assert len(figure_of_measure.axes) == 1
    rows = within.of(within.pairs, "procrustes_rc")
    better = {(a, b) if value > 0 else (b, a) for a, b, value in rows[["first", "second", "difference"]].to_numpy()}
    labels = {label.get_text() for label in figure_of_measure.axes[0].get_yticklabels()}
    assert labels == {f"{left} over {right}" for left, right in better}
    assert len(across(tests="mixed").plot("forest").axes) == 1


@pytest.mark.parametrize("measure", ["trustworthiness", "procrustes_rc"])
def test_a_difference_map_has_the_color_of_the_better_one(within, measure):
    """The scale is symmetric around 0 with a neutral middle; swapping the pair swaps what its ends mean."""
    figure = within.plot("difference_map", measure=measure, pair=("$b$", "c"))
    labels, reversed_labels = texts(figure), texts(within.plot("difference_map", measure=measure, pair=("c", "$b$")))
    ends = [t.lstrip("≤≥ ") for t in labels if t.lstrip("≤≥ ")[0] in "−0123456789" and t != "0"]
    ramp = list(ramp_between(_style.SECOND_BETTER_COLOR, _style.FIRST_BETTER_COLOR))

    assert "Purple: c is better. Green: $b$ is better." in " ".join(labels)
    assert "Purple: $b$ is better. Green: c is better." in " ".join(reversed_labels)
    assert ends[0] == f"−{ends[1]}"
    bar = np.asarray(figure.axes[-1].images[0].get_array())[0]
    assert [to_hex(color) for color in bar] == ramp
    colors = {to_hex(patch.get_edgecolor()) for ax in figure.axes[:2] for patch in ax.patches}
    assert colors <= set(ramp)


def test_a_ramp_between_two_colors_passes_through_a_light_gray():
    """Ends are the colors, the middle is lighter and without a hue."""
    ramp = np.array([to_rgb(color) for color in ramp_between("#0b62a4", "#c2410c")])
    middle = ramp[len(ramp) // 2]
    assert [to_hex(ramp[0]), to_hex(ramp[-1])] == ["#0b62a4", "#c2410c"]
    assert np.ptp(middle) < 0.06
    assert middle.sum() >= ramp.sum(axis=1).max() - 0.15


@pytest.mark.parametrize("k", [2, 5])
def test_wins_are_counted_in_every_cell(k):
    """Every pair has the two counts of the win matrix; rows and columns have the order of the ranking."""
    comparison = across(k)
    table, order = comparison.wins(), list(comparison.standing["embedding"])
    figure = comparison.plot("wins")
    numbers = [text.get_text() for text in figure.axes[0].texts]

    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == order
    assert numbers == [str(table.loc[a, b]) for a in order for b in order if a != b]
    assert "wins of the row on 9 data sets" in " ".join(texts(figure))


def test_figures_that_cannot_be_drawn_raise_an_error(within):
    """Unknown names, figures for another kind of comparison, and measures without point values raise an error."""
    with pytest.raises(UnknownName, match="Did you mean 'forest'"):
        within.plot("forrest")
    with pytest.raises(UnknownName, match="Did you mean 'pair'"):
        within.plot("difference_map", pairs=("c", "x_1"))
    with pytest.raises(UnknownName, match="Known"):
        within.plot("difference_map", pair=("c", "d"))
    with pytest.raises(InputError, match="must have values for single points"):
        within.plot("difference_map", measure="procrustes_disparity")
    with pytest.raises(InputError, match="of one data set"):
        within.plot("critical_difference")
    with pytest.raises(InputError, match="over several data sets"):
        across().plot("difference_map")
    with pytest.raises(InputError, match="without intervals"):
        across(n=3, tests="wilcoxon").plot("forest")
    assert set(kinds("comparison")) == {"critical_difference", "forest", "difference_map", "wins"}


@pytest.mark.parametrize("kind", ["critical_difference", "wins"])
def test_symbols_of_titles_have_subscripts_in_a_page(kind):
    """The symbol in the title has subscripts, and no markup of mathematics remains."""
    rng = np.random.default_rng(0)
    rows = [(f"d{i}", name, "procrustes_rn", rng.uniform()) for i in range(8) for name in "abc"]
    comparison = dreval.compare(pd.DataFrame(rows, columns=["dataset", "embedding", "measure", "value"]))
    root = ET.fromstring(inline_svg(comparison.plot(kind), "x", "ranks"))
    labels = ["".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")]
    subscripts = [span for span in root.iter("{http://www.w3.org/2000/svg}tspan") if span.text == "N"]

    assert any(label == "Local Procrustes RN, lower is better" for label in labels)
    assert len(subscripts) == 1
    assert float(subscripts[0].get("dy")) > 0
    assert all(labels)
    assert "$" not in "".join(labels)
    assert not any(span.get("x") for span in root.iter("{http://www.w3.org/2000/svg}tspan"))


def test_the_table_has_the_number_of_data_sets_of_a_difference():
    """A tied data set is excluded from the difference, and the table has the number of data sets that differ."""
    rows = [("d1", "a", 0.9), ("d1", "b", 0.8), ("d1", "c", 0.7), ("d2", "a", 0.9), ("d2", "b", 0.9), ("d2", "c", 0.7)]
    comparison = dreval.compare(pd.DataFrame(rows, columns=["dataset", "embedding", "value"]), direction="higher")
    pairs = comparison.pairs[comparison.pairs["test"] == "wilcoxon"].set_index(["first", "second"])
    assert pairs.loc[("a", "b"), ["n", "n_used", "difference"]].tolist() == pytest.approx([2, 1, 0.1])
    text = str(comparison.summary(full=True))
    assert re.search(r"first +second +data sets +that differ +difference", text)
    assert re.search(r"a +b +2 +1 +0\.1000", text)
    assert re.search(r"a +c +2 +2 +0\.2000", text)
    assert "data sets with equal values are left out, also from the difference" in " ".join(text.split())
    rows = [(name, embedding, 1.0) for name in ("d1", "d2") for embedding in "abc"]
    equal = dreval.compare(pd.DataFrame(rows, columns=["dataset", "embedding", "value"]), direction="higher")
    assert equal.pairs.loc[equal.pairs["test"] == "wilcoxon", "n_used"].eq(0).all()
