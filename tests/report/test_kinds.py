"""Every kind of figure: complete for any result, with the numbers of the tables."""

from __future__ import annotations

import dataclasses
import math
import re
from xml.etree import ElementTree as ET

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from figure_reading import cut_off, overlapping, texts
from matplotlib.figure import Figure
from report_cases import HAND_FAILURE, make_results, measure_row, simulated_results

import dreval
from dreval import registry
from dreval._random import stream_seed
from dreval._text import format_fixed, percent, probability
from dreval.errors import InputError, UnknownName
from dreval.geometry.blocks import neighbor_pass
from dreval.geometry.ranks import coranking, coranking_cells, rank_edges
from dreval.inputs.data import as_data
from dreval.records.comparison import Comparison
from dreval.records.frames import notes_frame
from dreval.records.results import Results
from dreval.registry import FIGURES
from dreval.report import _style
from dreval.report._svg import inline_svg
from dreval.report.figures._grid import MAX_FIGURE_INCHES
from dreval.report.figures._kind import QUESTIONS
from dreval.report.figures._panels import class_colors
from dreval.report.figures.pairs import MATRIX_CELLS, PALEST_RATIO
from dreval.report.plot import kinds, plot
from dreval.report.result_view import read_results

MEASURES = ["trustworthiness", "procrustes_rc", "procrustes_disparity", "spearman_distance"]
SINGLE_KINDS = sorted(name for name, card in kinds().items() if not card.several)
ODD_NAMES = (
    "a very long name of an embedding, with perplexity 30 and learning rate 200 " * 4,
    r"$\alpha_1$ is $x$",
    "c",
)


def evaluated(names: tuple[str, ...], n: int = 60, d: int = 2, **options: object) -> Results:
    """Return a small evaluation of embeddings that lose more and more of the data."""
    rng = np.random.default_rng(n + d)
    labels = rng.integers(0, 3, n)
    X = rng.normal(size=(n, 5)) * [3, 2, 1.5, 1, 1] + labels[:, None]
    sources = {name: X[:, :d] + 0.6 * index * rng.normal(size=(n, d)) for index, name in enumerate(names)}
    ev = dreval.Evaluation(X, sources, labels=labels, n_neighbors=[5, 15], random_state=0)
    return ev.run(MEASURES, "hsic", n_resamples=39, **options)


@pytest.fixture(scope="module")
def three_embeddings() -> Results:
    """Three embeddings of 60 points with classes."""
    return evaluated(("a", "b", "c"))


@pytest.fixture(scope="module")
def odd_results() -> Results:
    """Names that are long or resemble mathematics, three columns, and one failure."""
    return dataclasses.replace(
        evaluated(ODD_NAMES, d=3), notes=notes_frame([{"notes": (HAND_FAILURE(text="no memory").with_scope("lost"),)}])
    )


def test_every_kind_has_a_card_and_the_pages_of_plot_agree_with_it():
    """The registry has all files; a card has a text and options; a page names no unknown kind or option."""
    cards = kinds()
    assert list(cards) == FIGURES.names()
    for name, card in cards.items():
        text = repr(dreval.card(name, "figure"))
        assert all(name_or_key in text for name_or_key in (f"name: {name}", *card.aliases, *card.options))
        assert card.title[0].islower()
        assert card.reading[0].isupper()
        assert card.reading.endswith(".")
        assert not card.title.endswith(".")
    assert {card.question for card in cards.values()} == set(QUESTIONS)
    for record, part in ((Results, cards), (Comparison, kinds("comparison"))):
        page = record.plot.__doc__
        kind_names = {name_or_key for name_or_key in re.findall(r'"(\w+)"', page) if name_or_key in part}
        assert {"forest", "difference_map"} <= kind_names
        for card in (part[name] for name in kind_names):
            assert all(f'"{alias}"' in page for alias in card.aliases)
            if not (record is Results and card.several):
                assert all(re.search(rf"\b{option}( :|, )", page) for option in card.options)
    page = " ".join(Results.plot.__doc__.replace("`", "").split())
    for name in re.findall(r'- "(\w+)" ?(?:\(or "\w+"\))?:', page):
        assert " ".join(cards[name].title.replace("`", "").split()[:6]) in page


@pytest.mark.parametrize("kind", SINGLE_KINDS)
@pytest.mark.parametrize("case", ["three_embeddings", "odd_results"])
def test_no_text_is_cut_off_or_overlaps(kind, case, request):
    """All texts are inside the figure and do not overlap, for short and odd names."""
    figure = request.getfixturevalue(case).plot(kind)

    assert isinstance(figure, Figure)
    assert cut_off(figure) == []
    assert overlapping(figure) == []


@pytest.mark.parametrize("kind", SINGLE_KINDS)
@pytest.mark.parametrize("case", ["three_embeddings", "odd_results"])
def test_axes_have_titles_and_figures_fit_on_paper(kind, case, request):
    """Axes with numbers have titles, no text has a parameter but k, and no figure is wider than a page."""
    figure = request.getfixturevalue(case).plot(kind)
    labels = texts(figure)

    assert figure.get_figwidth() <= MAX_FIGURE_INCHES + 1e-9
    assert not [label for label in labels if re.search(r"[a-z]_[a-z]+ ?=", label) and "very long" not in label]
    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            has_numbers = any(re.fullmatch(r"[\d.,−]+", tick.get_text()) for tick in axis.get_ticklabels())
            is_titled_above = (
                kind == "curve" and axis is ax.yaxis and any("worthiness" in t.get_text() for t in ax.texts)
            )
            assert not has_numbers or axis.get_label_text() or is_titled_above


@pytest.mark.parametrize("kind", ["scatter", "map", "curve", "shepard", "heatmap", "forest", "null"])
def test_shortened_names_are_listed_in_full(kind, odd_results):
    """A name that a figure shortens in the middle is below it in full, with its short form."""
    text = " ".join(texts(odd_results.plot(kind))).replace("\n", " ")

    assert "…" in text
    assert " ".join(ODD_NAMES[0].split()) in " ".join(text.split())


@pytest.mark.parametrize("kind", SINGLE_KINDS)
def test_every_kind_fits_in_a_page(kind, three_embeddings):
    """The SVG parses, and has no color of the light theme and no font."""
    text = inline_svg(three_embeddings.plot(kind), "x", kind)
    ET.fromstring(text)

    assert not [color for color in _style.css_variables() if color in text]
    assert "var(--" in text
    assert "font-family" not in text


@pytest.mark.parametrize("count", [1, 2, 5, 6, 7, 12, 57])
def test_a_heatmap_of_any_number_of_embeddings_is_not_cut_off(count):
    """A heatmap of one embedding or twelve has all names and fits on a page."""
    for names in (tuple(f"m{i}" for i in range(count)), tuple(f"a longer name of {i}" for i in range(count))):
        figure = plot(simulated_results(names), "heatmap")

        assert figure.get_figwidth() <= MAX_FIGURE_INCHES + 1e-9
        assert cut_off(figure) == []
        assert overlapping(figure) == []


def test_scatter_is_an_alias_of_embedding(three_embeddings):
    """Kinds "embedding" and "scatter" draw the same figure."""
    labels = [texts(three_embeddings.plot(kind)) for kind in ("embedding", "scatter")]

    assert labels[0] == labels[1]


def test_points_are_colored_by_numbers_or_classes(three_embeddings):
    """Floats have a scale with both ends, missing values are gray with a text; integers and strings are classes."""
    height = np.linspace(0, 1, 60)
    figure, figure_with_missing = (
        three_embeddings.plot(color=height),
        three_embeddings.plot(color=np.where(height > 0.9, np.nan, height)),
    )

    assert {"≤ 0.000", "1.000"} & set(texts(figure)) or any("1.00" in label for label in texts(figure))
    assert "gray: missing" in texts(figure_with_missing)
    assert "gray: missing" not in texts(figure)
    assert {"x", "y"} <= set(texts(three_embeddings.plot(color=["x", "y"] * 30)))
    with pytest.raises(InputError, match=r"`color` must"):
        three_embeddings.plot(color=height[:-1])
    with pytest.raises(InputError, match="Pass one column"):
        three_embeddings.plot(color=np.ones((60, 2)))


def test_a_scale_of_numbers_has_the_name_of_its_series(three_embeddings):
    """The name of a series is over the bar, an array has no title, and a series of strings is classes."""
    height = pd.Series(np.linspace(0, 1, 60), name="body height")
    figure_of_series, figure_of_array = (
        three_embeddings.plot(color=height),
        three_embeddings.plot(color=height.to_numpy()),
    )

    assert "body height" in texts(figure_of_series)
    assert set(texts(figure_of_series)) - set(texts(figure_of_array)) == {"body height"}
    assert overlapping(figure_of_series) == []
    assert "body height" not in texts(three_embeddings.plot(color=(height > 0.5).rename("body height")))


def test_points_are_colored_by_the_name_of_a_variable(tmp_path):
    """Labels, covariates, batches and columns of the data by name; up to 20 integers are classes, more are numbers."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 3)), columns=["x", "y", "z"])
    covariates = {"age": rng.normal(size=60), "site": ["s", "t", "u"] * 20}
    variables = {"labels": ["a", "b"] * 30, "batch": [1, 2, 3] * 20, "covariates": covariates}
    results = dreval.Evaluation(X, {"e": X[["x", "y"]].to_numpy()}, random_state=0, **variables).run(
        "stress", None, None
    )
    for name, column in (
        ("z", X["z"]),
        ("age", pd.Series(covariates["age"], name="age")),
        ("site", ["s", "t", "u"] * 20),
    ):
        assert texts(results.plot(color=name)) == texts(results.plot(color=column))
        assert texts(results["e"].plot(color=name)) == texts(results.plot(color=column))
    assert texts(results.plot(color="labels")) == texts(results.plot())
    assert {"1", "2", "3"} <= set(texts(results.plot(color="batch")))
    counts = pd.Series(np.arange(60), name="counts")
    assert "counts" in texts(results.plot(color=counts))
    assert "other (9 classes)" in texts(results.plot(color=counts % 20))
    with pytest.raises(UnknownName, match=r"got 'aeg'\. Did you mean 'age'\? Variables: age, site, labels, batch\."):
        results.plot(color="aeg")
    with pytest.raises(InputError, match=r"`color` must be values of a loaded result: got 'age'"):
        dreval.load_results(results.save(tmp_path / "r.dreval")).plot(color="age")


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        *((kind, [1, None, 2]) for kind in ("Int64", "Float32", "float64")),
        *((kind, ["a", None, "b"]) for kind in ("category", "string", "object", "str")),
        ("boolean", [True, None, False]),
    ],
)
def test_missing_values_of_a_variable_are_gray(three_embeddings, kind, values):
    """Columns of every type of pandas, as those of ``obs``: numbers on a scale, else classes."""
    column = pd.Series([*values] * 20, dtype=kind)
    labels = texts(dataclasses.replace(three_embeddings, _variables={"v": column}).plot(color="v"))
    assert "gray: missing" in labels or "unlabeled" in labels
    assert ("gray: missing" in labels) == (kind in ("Int64", "Float32", "float64"))


def test_an_embedding_is_no_kind_of_figure(three_embeddings):
    """The error says how to draw the figure of one embedding."""
    with pytest.raises(UnknownName, match=r"got 'a', an embedding\. Pass embedding='a', or write results\['a'\]"):
        three_embeddings.plot("a")


def test_a_palette_colors_its_classes():
    """Colors of all classes are used in their order, for any number of them; a class without a valid color: none."""
    labels = np.array([*map(str, range(15)), None] * 2, dtype=object)
    palette = {str(i): f"#0000{i:02x}" for i in reversed(range(15))}
    classes = class_colors(labels, palette)
    assert classes.names == (*(str(i) for i in reversed(range(15))), "unlabeled")
    assert classes.colors[:-1] == tuple(palette.values())
    assert [classes.names[code] for code in classes.codes[:15]] == [str(i) for i in range(15)]
    for wrong in ({**palette, "3": "no color"}, {"0": "#000000"}, {}):
        assert class_colors(labels, wrong).colors == class_colors(labels).colors


def test_a_map_of_one_value_stays_within_the_bounds():
    """Trustworthiness 1 at all points is best: the scale ends at 1 and starts at the chance level."""
    X = np.random.default_rng(0).normal(size=(50, 2))
    ev = dreval.Evaluation(X, {"same": X, "turned": X[:, ::-1]}, n_neighbors=5, random_state=0)
    results = ev.run("trustworthiness", None, None)
    figure = results.plot("map")
    chance = format_fixed(results.table["chance"].iloc[0], 3)

    assert {f"{chance}\nchance level", "1.000\nperfect"} <= set(texts(figure))
    for ax in figure.axes[:2]:
        assert {patch.get_edgecolor() for patch in ax.patches} == {mpl.colors.to_rgba(_style.SCALE_LIGHT[-1])}


def test_a_heatmap_has_every_value_with_its_interval(three_embeddings):
    """Values are those of the first table; bold is the best set, and the shade the way from chance to perfect."""
    view, figure = read_results(three_embeddings), three_embeddings.plot("heatmap")
    ax, labels = figure.axes[0], texts(figure)
    texts_by_place = {tuple(text.get_position()): text for text in ax.texts}
    cells = {(int(patch.get_x()), int(patch.get_y())): patch for patch in ax.patches}

    for y, column in enumerate(view.by_goal):
        for x, name in enumerate("abc"):
            text = texts_by_place[x + 0.5, y + 0.33]
            assert text.get_text() == column.format_value(column.values[name])
            assert (text.get_fontweight() == "bold") == (name in view.best_set(column).best)
            perfect, chance = column.bounds[1 if column.higher else 0], column.cells[name].chance
            level = np.clip((column.values[name] - chance) / (perfect - chance) * 8, 0, 7.5)
            expected_color = mpl.colors.to_rgb(_style.SCALE_LIGHT[int(level)])
            assert cells[x, y].get_facecolor()[:3] == pytest.approx(expected_color)
    assert sum(label.startswith("±") or "–" in label for label in labels) >= 10
    assert len(three_embeddings.plot("heatmap", measure=["trustworthiness"]).axes[0].patches) == 3
    with pytest.raises(UnknownName, match="Did you mean 'trustworthiness'"):
        three_embeddings.plot("heatmap", measure="trustworthines")


def test_many_embeddings_are_the_rows_of_a_heatmap():
    """More than six embeddings are the rows, and there is one measure for each question unless some are requested."""
    results = simulated_results(tuple(f"m{i}" for i in range(7)))
    ax, requested = (
        results.plot("heatmap", **options).axes[0] for options in ({}, {"measure": ["trustworthiness", "continuity"]})
    )
    goals = {column.goal for column in read_results(results).main_columns}

    assert [patch.get_y() for patch in requested.patches] == pytest.approx(np.tile(np.arange(7) + 0.04, 2).tolist())
    assert len(ax.patches) == 7 * len(goals)


def test_failed_embeddings_are_named_under_a_heatmap(odd_results):
    """A text under the heatmap names the embeddings that were not computed."""
    assert "Not computed: lost." in " ".join(texts(odd_results.plot("heatmap")))


@pytest.fixture(scope="module")
def four_embeddings() -> Results:
    """Four embeddings, with six pairs."""
    return evaluated(("a", "b", "c", "d"))


def test_a_forest_is_the_table_of_the_comparison(four_embeddings):
    """Marks, intervals and p-values equal those of ``compare().tidy()``, the better one first and sorted."""
    table = four_embeddings.compare().tidy()
    figure = four_embeddings.plot("forest")

    assert len(figure.axes) == len(MEASURES)
    for ax, measure in zip(figure.axes, MEASURES, strict=True):
        part = table[(table["measure"] == measure) & ~table["parameters"].str.contains("n_neighbors=5")]
        part = part.sort_values("difference", key=lambda difference: -difference.abs(), kind="stable")
        marks, bars = marks_and_bars(ax)
        np.testing.assert_array_equal([mark.get_xdata()[0] for mark in marks], part["difference"].abs())
        sign = np.where(part["difference"] < 0, -1, 1)[:, None]
        np.testing.assert_allclose(
            np.sort([bar.get_xdata() for bar in bars], axis=1), np.sort(sign * part[["conf_low", "conf_high"]], axis=1)
        )
        p_labels = [text.get_text() for text in ax.texts if text.get_position()[0] == 28 and text.get_text() != "p"]
        assert [probability(p) for p in part["p_adjusted"]] == p_labels
        labels = [label.get_text() for label in ax.get_yticklabels()]
        fills = {"full": "filled", "left": "half", "none": "hollow"}
        for mark, row, label in zip(marks, part.to_dict("records"), labels, strict=True):
            pair = (row["first"], row["second"]) if row["difference"] >= 0 else (row["second"], row["first"])
            assert label == " over ".join(pair)
            significant = row["p_adjusted"] <= 0.05
            expected_fill = "filled" if significant else "half" if row["p_value"] <= 0.05 else "hollow"
            assert fills[mark.get_fillstyle()] == expected_fill


def marks_and_bars(ax):
    """Return the marks of a forest and its intervals, from the top."""
    marks = [line for line in ax.lines if line.get_marker() == "o" and line.get_markeredgewidth()]
    return marks, [line for line in ax.lines if len(line.get_xdata()) == 2 and line.get_linewidth() == 1.4]


def test_measures_are_the_rows_of_few_pairs(three_embeddings):
    """Each pair has a panel at one scale, from chance to perfect, with filled marks for significant differences."""
    table = three_embeddings.compare().tidy()
    figure = three_embeddings.plot("forest")

    assert len(figure.axes) == 3
    assert len({ax.get_xlim() for ax in figure.axes}) == 1
    for ax, (left, right) in zip(figure.axes, (("a", "b"), ("a", "c"), ("b", "c")), strict=True):
        labels = {text.get_text(): text for text in ax.texts}
        assert {f"← {right} better", f"{left} better →"} <= labels.keys()
        for measure, mark, bar in zip(MEASURES, *marks_and_bars(ax), strict=True):
            rows = table[(table["measure"] == measure) & (table["first"] == left) & (table["second"] == right)]
            row = rows[~rows["parameters"].str.contains("n_neighbors=5")].iloc[0]
            values = three_embeddings.table[
                (three_embeddings.table["measure"] == measure) & three_embeddings.table["embedding"].isin([left, right])
            ]
            values = values[values["parameters"] == row["parameters"]]
            perfect = 1.0 if measure in ("trustworthiness", "spearman_distance") else 0.0
            full_distance = abs(perfect - values["chance"].mean())
            np.testing.assert_allclose(mark.get_xdata()[0], 100 * row["difference"] / full_distance)
            np.testing.assert_allclose(
                bar.get_xdata(), 100 * row[["conf_low", "conf_high"]].astype(float) / full_distance
            )
            assert (mark.get_fillstyle() == "full") == bool(row["better"])
            sign = "+" if row["difference"] > 0 else ""
            ends = ", ".join(format_fixed(row[key], 3) for key in ("conf_low", "conf_high"))
            assert f"{sign}{format_fixed(row['difference'], 3)} [{ends}]" in labels
            assert probability(row["p_adjusted"]) in labels


def test_a_forest_of_a_reversed_pair_is_mirrored(three_embeddings):
    """With the reversed pair, every mark is on the other side."""
    marks, reversed_marks = (
        marks_and_bars(three_embeddings.plot("forest", pair=pair).axes[0])[0] for pair in (("a", "b"), ("b", "a"))
    )

    assert [mark.get_xdata()[0] for mark in marks] == [-mark.get_xdata()[0] for mark in reversed_marks]
    with pytest.raises(UnknownName, match="Known: a, b, c"):
        three_embeddings.plot("forest", pair=("a", "x"))


def test_measures_without_a_scale_are_drawn_in_their_unit():
    """Without a chance level, the pairs are the rows and the axis has the unit of the measure."""
    results = evaluated(("a", "b"))
    unknown = results.table.assign(chance=np.nan)
    figure = dataclasses.replace(results, table=unknown).plot("forest", measure="spearman_distance")
    row = results.compare().of(results.compare().pairs, "spearman_distance").iloc[0]

    better, worse = ("a", "b") if row["difference"] > 0 else ("b", "a")
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == [f"{better} over {worse}"]
    assert marks_and_bars(figure.axes[0])[0][0].get_xdata()[0] == abs(row["difference"])


def test_a_forest_is_restricted_to_pairs_or_a_measure(three_embeddings):
    """Names restrict the pairs, a measure the rows (all its settings); level and adjustment are those passed."""
    (ax,) = three_embeddings.plot("forest", names=["a", "c"], measure="procrustes_rc").axes
    settings = [
        label.get_text().partition(" (")[2].replace("\N{NO-BREAK SPACE}", " ") for label in ax.get_yticklabels()
    ]
    assert settings == ["k = 5)", "k = 15)"]
    figure = three_embeddings.plot("forest", measure="procrustes_disparity", alpha=0.1, adjust=None)
    text = " ".join(texts(figure))

    assert "with 90 % intervals; at the right p not adjusted. Filled" in text or "at the right p. Filled" in text
    title = registry.MEASURES.card("procrustes_disparity").title
    assert title in text


@pytest.mark.parametrize("baseline", [None, "m3"])
def test_many_embeddings_are_compared_with_the_best_or_the_baseline(baseline):
    """More than eight embeddings are compared with the best by the measure or the baseline; other pairs are counted."""
    many = evaluated(tuple(f"m{i}" for i in range(24)), n=30)
    comparison = many.compare(measure="trustworthiness", baseline=baseline)
    name = comparison.measures[0]
    figure = comparison.plot("forest", measure=name)
    best = comparison.of(comparison.standing, name)["embedding"].iloc[0]
    pairs = comparison.of(comparison.pairs, name)
    pairs = pairs[pairs["conf_low"].notna()]
    against = pairs[(pairs["first"] == (baseline or best)) | (pairs["second"] == (baseline or best))]
    sizes = sorted(against["difference"].abs())[:20]
    marks = [mark.get_xdata()[0] for mark in marks_and_bars(figure.axes[0])[0]]

    assert figure.axes[0].get_xlabel() == f"difference from {baseline or best}"
    assert f"{len(pairs) - 20} more pairs in compare().tidy()." in texts(figure)
    np.testing.assert_allclose(sorted(map(abs, marks)), sizes)
    assert marks == sorted(marks, reverse=True)
    assert cut_off(figure) == []
    assert overlapping(figure) == []


def test_many_pairs_have_one_panel():
    """If there are more than 21 pairs, one measure is drawn by default."""
    many = evaluated(tuple("abcdefgh"), n=30)

    assert len(many.plot("forest").axes) == 1
    assert len(many.plot("forest").axes[0].get_yticklabels()) == 28


def test_a_map_of_differences_is_at_the_scale_of_the_first_table(three_embeddings):
    """Without a measure the map shows trustworthiness at 15 neighbors, not at the first k."""
    assert any(
        "k\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}15" in label for label in texts(three_embeddings.plot("difference_map"))
    )


def test_the_permutations_of_a_test_are_stored_and_drawn(three_embeddings, tmp_path):
    """The stored histogram equals that of a separate test with the seed of the stream, and is saved."""
    row = three_embeddings.table[
        (three_embeddings.table["test"] == "hsic") & (three_embeddings.table["embedding"] == "b")
    ].iloc[0]
    test = dreval.hsic_test(
        three_embeddings.embeddings["b"],
        three_embeddings.labels,
        kernel=("gaussian", "delta"),
        n_resamples=39,
        random_state=stream_seed(0, "test", "b", "hsic", "labels"),
    )
    counts, edges = np.histogram(test.null_distribution, bins=6)
    stored = three_embeddings._nulls[three_embeddings._nulls["embedding"] == "b"]
    figure = three_embeddings.plot("null", embedding="b")
    loaded = dreval.load_results(three_embeddings.save(tmp_path / "three.dreval"))

    assert test.statistic == pytest.approx(row["statistic"])
    np.testing.assert_array_equal([bar.get_height() for bar in figure.axes[0].patches], counts)
    np.testing.assert_allclose([bar.get_x() for bar in figure.axes[0].patches], edges[:-1])
    assert figure.axes[0].lines[0].get_xdata()[0] == row["statistic"] or "far" in " ".join(texts(figure))
    np.testing.assert_array_equal(stored["count"], counts)
    pd.testing.assert_frame_equal(loaded._nulls, three_embeddings._nulls)
    assert texts(loaded.plot("null")) == texts(three_embeddings.plot("null"))


def test_a_statistic_far_beyond_chance_has_an_arrow():
    """If the permutations would be one line, the axis fits them and an arrow points to the statistic."""
    test = dreval.hsic_test(np.arange(80.0), np.arange(80.0), n_resamples=39, random_state=0)
    (ax,) = test.plot("null").axes

    assert ax.get_xlim()[1] < test.statistic
    assert any("far beyond" in text.get_text() for text in ax.texts)
    assert not [line for line in ax.lines if line.get_xdata()[0] == test.statistic]
    with pytest.raises(UnknownName, match="Known: null"):
        test.plot("scatter")


def test_without_a_test_or_its_permutations_the_error_has_a_hint(three_embeddings):
    """A missing test, an unknown one, and missing permutations of an older file raise an error with a hint."""
    with pytest.raises(InputError, match=r"run\(tests='hsic'\)"):
        simulated_results(tests=False).plot("null")
    with pytest.raises(InputError, match="an older file has not kept"):
        simulated_results().plot("null")
    with pytest.raises(UnknownName, match="Did you mean 'hsic'"):
        three_embeddings.plot("null", test="hsics")
    with pytest.raises(UnknownName, match="Did you mean 'labels'"):
        three_embeddings.plot("null", variable="label")


@pytest.mark.slow
def test_a_coranking_embedding_is_the_matrix(three_embeddings):
    """The share in the title is Q_NX of the same view; shades rise with the counts, and empty cells are clear."""
    figure, X = three_embeddings.plot("coranking", n_neighbors=7), three_embeddings.data
    for name, ax in zip("abc", figure.axes, strict=False):
        q_nx = coranking(neighbor_pass(X, {name: three_embeddings.embeddings[name]}, k=1)[name]).curves.q_nx[6]
        assert f"{percent(q_nx)} % of the 7 nearest are kept" in [text.get_text() for text in ax.texts]
        edges = rank_edges(60, MATRIX_CELLS, 7)
        counts = coranking_cells(X, three_embeddings.embeddings[name], edges)
        opacity = np.asarray(ax.images[0].get_array())[..., 3]
        ends = np.log(edges) / math.log(60) * len(opacity)
        middle = ((ends[:-1] + ends[1:]) / 2).astype(int)
        cell_opacity = opacity[np.ix_(middle, middle)]
        ratio = counts * 59 / (60 * np.outer(np.diff(edges), np.diff(edges)))
        assert ((cell_opacity == 0) == (counts == 0)).all()
        order = np.argsort(ratio[ratio > PALEST_RATIO], axis=None)
        assert (np.diff(cell_opacity[ratio > PALEST_RATIO].ravel()[order]) >= -1e-12).all()
        lines = [line for line in ax.lines if line.get_color() == _style.LIGHT["ink"]]
        assert {float(value) for line in lines for value in line.get_xdata()} >= {math.log(8)}


def test_a_coranking_needs_the_data_and_names_the_points(three_embeddings, monkeypatch):
    """A loaded result raises an error with a hint; if only a part of many points is used, the text says so."""
    with pytest.raises(InputError, match=r"dataclasses.replace\(results, data=X\)"):
        dataclasses.replace(three_embeddings, data=None).plot("coranking")
    with pytest.raises(InputError, match="n_neighbors"):
        three_embeddings.plot("coranking", n_neighbors=59)
    monkeypatch.setattr("dreval.report.figures.pairs.MATRIX_ROWS", 20)
    assert any("20 of 60 points" in label for label in texts(three_embeddings.plot("coranking", embedding="a")))


def test_a_coranking_needs_four_points():
    """Fewer than four points raise an error."""
    Y = np.arange(8.0).reshape(4, 2) ** 2
    rows = [measure_row("a", "procrustes_disparity", "", 0.5, 1.0)]
    results = make_results(rows, {"a": Y})
    recipe = {**results.recipe, "data_sha256": as_data(Y).sha256}
    assert dataclasses.replace(results, data=Y, recipe=recipe).plot("coranking")
    with pytest.raises(InputError, match="at least 4 points"):
        dataclasses.replace(make_results(rows, {"a": Y[:3]}), data=Y[:3]).plot("coranking")


def test_a_curve_over_kappa_is_that_of_the_function(three_embeddings):
    """The line of each embedding has the statistics of ``kappa_curve``."""
    figure = three_embeddings.plot("kappa_curve", kappas=[0.01, 0.1], n_resamples=9)
    for name, ax in zip("abc", figure.axes, strict=True):
        curve = dreval.kappa_curve(
            three_embeddings.embeddings[name],
            three_embeddings.labels,
            kappas=[0.01, 0.1],
            n_resamples=1,
            kernel=("gaussian", "delta"),
        )
        line = next(line for line in ax.lines if line.get_marker() == "o")
        np.testing.assert_allclose(line.get_ydata(), curve.table["statistic"], rtol=1e-10)
    with pytest.raises(InputError, match="Pass labels to Evaluation"):
        simulated_results(classes=0).plot("kappa_curve")


def test_figures_over_data_sets_raise_an_error_for_a_result(three_embeddings):
    """The error has a hint, which draws the requested figure."""
    other_results = evaluated(("a", "b", "c"), n=30, ci=None)
    for kind in ("critical_difference", "wins"):
        with pytest.raises(InputError, match=rf"dreval\.compare\(\[results, others\]\)\.plot\('{kind}'\)"):
            three_embeddings.plot(kind)
        comparison = dreval.compare([three_embeddings, other_results], measure="trustworthiness")
        figure = comparison.plot(kind, measure=comparison.measures[0])
        assert cut_off(figure) == []


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 12])
def test_titles_over_few_ranks_stay_on_the_paper(k):
    """For two or twelve embeddings, long names or short, no text is cut off."""
    rng = np.random.default_rng(k)
    for names in ([f"m{j}" for j in range(k)], [f"{j} {ODD_NAMES[0]}" for j in range(k)]):
        rows = [(f"d{i}", name, "procrustes_rn_opt", rng.random()) for i in range(9) for name in names]
        comparison = dreval.compare(pd.DataFrame(rows, columns=["dataset", "embedding", "measure", "value"]))
        for kind in ("critical_difference", "wins"):
            assert cut_off(comparison.plot(kind)) == []
            assert not [label for label in texts(comparison.plot(kind, titled=False)) if "Procrustes" in label]


def test_a_failed_embedding_raises_an_error_with_its_reason(odd_results):
    """The name of a failed embedding raises an error with its reason."""
    with pytest.raises(InputError, match="It failed: no memory"):
        odd_results.plot("scatter", names=["lost"])


def test_colors_of_numbers_rise_in_lightness():
    """The ramp goes from dark to light, so that colors keep their order in print."""
    parts = np.array([mpl.colors.to_rgb(color) for color in _style.NUMBER_RAMP])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)

    assert (np.diff(linear @ [0.2126, 0.7152, 0.0722]) > 0).all()


def test_a_study_has_the_figures_of_its_comparison(tmp_path):
    """Its figures equal those of its comparison; a forest without intervals and unknown kinds raise an error."""
    data = {f"set {i}": np.random.default_rng(i).normal(size=(20, 4)) * [3, 2, 1, 1] for i in range(4)}
    methods = {"first": "pca", "last": lambda X, n_components: X[:, -n_components:]}
    study = dreval.Study(
        tmp_path / "s.dreval", data, methods, measures="trustworthiness", n_neighbors=4, random_state=0
    )
    study.run()

    assert texts(study.plot()) == texts(study.compare().plot("critical_difference"))
    assert texts(study.plot("wins", titled=False)) == texts(study.compare().plot("wins", titled=False))
    with pytest.raises(InputError, match="'forest' without intervals"):  # four data sets are too few for signed ranks
        study.plot("forest")
    with pytest.raises(UnknownName, match="Known: critical_difference, difference_map, forest, wins"):
        study.plot("heatmap")
