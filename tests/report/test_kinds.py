"""Every kind of figure: drawn whole for any result, and its numbers are those of the tables."""

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
from dreval._random import stream_seed
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
from dreval.report.figures.comparisons import MATRIX_CELLS, PALEST_RATIO
from dreval.report.format import format_fixed, probability
from dreval.report.plot import kinds, plot

ASKED = ["trustworthiness", "procrustes_rc", "procrustes_disparity", "spearman_distance"]
DRAWN = sorted(name for name, card in kinds().items() if not card.several)
ODD = ("a very long name of an embedding, with perplexity 30 and learning rate 200 " * 4, r"$\alpha_1$ is $x$", "c")


def evaluated(names: tuple[str, ...], n: int = 60, d: int = 2, **options: object) -> Results:
    """A small evaluation: embeddings that lose more and more of the data."""
    rng = np.random.default_rng(n + d)
    labels = rng.integers(0, 3, n)
    X = rng.normal(size=(n, 5)) * [3, 2, 1.5, 1, 1] + labels[:, None]
    sources = {name: X[:, :d] + 0.6 * place * rng.normal(size=(n, d)) for place, name in enumerate(names)}
    ev = dreval.Evaluation(X, sources, labels=labels, n_neighbors=[5, 15], random_state=0)
    return ev.run(ASKED, "hsic", n_resamples=39, **options)


@pytest.fixture(scope="module")
def three() -> Results:
    """Three embeddings of 60 points with classes."""
    return evaluated(("a", "b", "c"))


@pytest.fixture(scope="module")
def odd() -> Results:
    """Names that are long or look like mathematics, three columns, and one failure."""
    return dataclasses.replace(
        evaluated(ODD, d=3), notes=notes_frame([{"notes": (HAND_FAILURE(text="no memory").with_scope("lost"),)}])
    )


def test_every_kind_has_a_card_and_the_pages_of_plot_are_right_in_what_they_say():
    """The registry has all files; a card has a text and options; a page names no unknown kind or option."""
    cards = kinds()
    assert list(cards) == FIGURES.names()
    for name, card in cards.items():
        text = repr(dreval.card(name, "figure"))
        assert all(word in text for word in (f"name: {name}", *card.aliases, *card.options))
        assert card.sentence[0].islower()
        assert not card.sentence.endswith(".")
    for record, part in ((Results, cards), (Comparison, kinds("comparison"))):
        page = record.plot.__doc__
        named = {word for word in re.findall(r'"(\w+)"', page) if word in part}
        assert {"forest", "difference_map"} <= named
        for card in (part[name] for name in named):
            assert all(f'"{alias}"' in page for alias in card.aliases)
            if not (record is Results and card.several):
                assert all(re.search(rf"\b{option}( :|, )", page) for option in card.options)
    page = " ".join(Results.plot.__doc__.replace("`", "").split())
    for name in re.findall(r'- "(\w+)" ?(?:\(or "\w+"\))?:', page):
        assert " ".join(cards[name].sentence.replace("`", "").split()[:6]) in page


@pytest.mark.parametrize("kind", DRAWN)
@pytest.mark.parametrize("case", ["three", "odd"])
def test_no_word_is_cut_off_or_lies_on_another(kind, case, request):
    """All texts are on the paper and do not overlap, for short and odd names; every name is there."""
    figure = request.getfixturevalue(case).plot(kind)

    assert isinstance(figure, Figure)
    assert cut_off(figure) == []
    assert overlapping(figure) == []


@pytest.mark.parametrize("kind", DRAWN)
def test_every_kind_lives_in_a_page(kind, three):
    """As SVG it has no color of the light paper left, names no font, and parses."""
    text = inline_svg(three.plot(kind), "x", kind)
    ET.fromstring(text)

    assert not [color for color in _style.css_variables() if color in text]
    assert "var(--" in text
    assert "font-family" not in text


@pytest.mark.parametrize("count", [1, 12])
def test_a_heatmap_of_any_number_is_whole(count):
    """One embedding or twelve, slanted names or level ones."""
    for names in (tuple(f"m{i}" for i in range(count)), tuple(f"a longer name of {i}" for i in range(count))):
        figure = plot(simulated_results(names), "heatmap")

        assert cut_off(figure) == []
        assert overlapping(figure) == []


def test_a_scatter_has_another_word(three):
    """ "embedding" is "scatter"."""
    words = [texts(three.plot(kind)) for kind in ("embedding", "scatter")]

    assert words[0] == words[1]


def test_points_are_colored_by_numbers_or_classes(three):
    """Floats have a scale with both ends, missing ones are gray with a text; integers and strings are classes."""
    height = np.linspace(0, 1, 60)
    plain, holes = three.plot(color=height), three.plot(color=np.where(height > 0.9, np.nan, height))

    assert {"≤ 0.000", "1.000"} & set(texts(plain)) or any("1.00" in words for words in texts(plain))
    assert "gray: missing" in texts(holes)
    assert "gray: missing" not in texts(plain)
    assert {"x", "y"} <= set(texts(three.plot(color=["x", "y"] * 30)))
    with pytest.raises(InputError, match=r"`color` must"):
        three.plot(color=height[:-1])
    with pytest.raises(InputError, match="Pass one column"):
        three.plot(color=np.ones((60, 2)))


def test_a_scale_of_numbers_has_the_name_of_its_series(three):
    """The name of a series is over the bar; an array has none, and a series of strings is classes."""
    height = pd.Series(np.linspace(0, 1, 60), name="body height")
    named, bare = three.plot(color=height), three.plot(color=height.to_numpy())

    assert "body height" in texts(named)
    assert set(texts(named)) - set(texts(bare)) == {"body height"}
    assert overlapping(named) == []
    assert "body height" not in texts(three.plot(color=(height > 0.5).rename("body height")))


def test_a_map_of_one_value_stays_within_the_bounds():
    """Trustworthiness 1 at all points is best: the scale goes from the chance level to it, and no number beyond."""
    X = np.random.default_rng(0).normal(size=(50, 2))
    ev = dreval.Evaluation(X, {"same": X, "turned": X[:, ::-1]}, n_neighbors=5, random_state=0)
    results = ev.run("trustworthiness", None, None)
    figure = results.plot("map")
    chance = format_fixed(results.table["chance"].iloc[0], 3)

    assert {f"{chance} (worse)", "1.000 (better)", f"mark: chance level {chance}"} <= set(texts(figure))
    for ax in figure.axes[:2]:
        assert {patch.get_edgecolor() for patch in ax.patches} == {mpl.colors.to_rgba(_style.QUALITY_RAMP[-1])}


def test_a_heatmap_has_every_value_with_its_interval(three):
    """Printed as in the first table; the best of each measure is bold, and its cell has the deepest shade."""
    figure = three.plot("heatmap")
    ax, table = figure.axes[0], three.table[three.table["value"].notna()]
    said, bold = texts(figure), [text.get_text() for text in ax.texts if text.get_fontweight() == "bold"]

    for measure, places in (("trustworthiness", 3), ("procrustes_disparity", 3)):
        rows = table[(table["measure"] == measure) & ~table["parameters"].str.contains("=5")]
        values = [format_fixed(value, places) for value in rows["value"]]
        best = rows["value"].max() if measure == "trustworthiness" else rows["value"].min()
        assert set(values) <= set(said)
        assert format_fixed(best, places) in bold
        shades = {text: patch.get_alpha() for text, patch in zip(values, _row(ax, measure), strict=True)}
        assert max(shades, key=shades.get) == format_fixed(best, places)
    assert sum(words.startswith("±") or " to " in words for words in said) >= 10
    assert len(three.plot("heatmap", measure=["trustworthiness"]).axes[0].patches) == 3
    with pytest.raises(UnknownName, match="Did you mean 'trustworthiness'"):
        three.plot("heatmap", measure="trustworthines")


def _row(ax, measure):
    """The cells of a measure, left to right."""
    order = [text.get_text() for text in ax.texts]
    titles = {"trustworthiness": "Trustworthiness", "procrustes_disparity": "Procrustes disparity"}
    heads = [text for text in ax.texts if text.get_text() == titles[measure]]
    assert heads, order
    row = int(heads[0].get_position()[1])
    return [patch for patch in ax.patches if int(patch.get_y()) == row]


def test_what_failed_is_named_under_a_heatmap(odd):
    """Its name, and that it was not computed."""
    assert any(words.endswith("Not computed: lost.") for words in texts(odd.plot("heatmap")))


@pytest.fixture(scope="module")
def four() -> Results:
    """Four embeddings, with six pairs."""
    return evaluated(("a", "b", "c", "d"))


def test_a_forest_is_the_table_of_the_comparison(four):
    """Marks, ends of intervals and p-values are those of ``compare().tidy()``, with the color of the better one."""
    table = four.compare().tidy()
    figure = four.plot("forest")

    assert len(figure.axes) == len(ASKED)
    for ax, measure in zip(figure.axes, ASKED, strict=True):
        part = table[(table["measure"] == measure) & ~table["parameters"].str.contains("n_neighbors=5")]
        marks, bars = marks_of(ax)
        np.testing.assert_array_equal([mark.get_xdata()[0] for mark in marks], part["advantage"])
        np.testing.assert_array_equal([bar.get_xdata() for bar in bars], part[["conf_low", "conf_high"]])
        printed = [text.get_text() for text in ax.texts if text.get_position()[0] == 34]
        assert [probability(p) for p in part["p_adjusted"]] == printed
        for mark, row in zip(marks, part.to_dict("records"), strict=True):
            wanted = _style.embedding_color("abcd", row["better"]) if row["better"] else _style.LIGHT["soft"]
            assert mark.get_color() == wanted


def marks_of(ax):
    """The marks of a forest and its intervals, from the top."""
    marks = [line for line in ax.lines if line.get_marker() == "o"]
    return marks, [line for line in ax.lines if len(line.get_xdata()) == 2 and line.get_linewidth() == 1.4]


def test_measures_are_the_lines_of_few_pairs(three):
    """Each pair has a panel at one scale, from chance to perfect, filled where significant."""
    table = three.compare().tidy()
    figure = three.plot("forest")

    assert len(figure.axes) == 3
    assert len({ax.get_xlim() for ax in figure.axes}) == 1
    for ax, (first, second) in zip(figure.axes, (("a", "b"), ("a", "c"), ("b", "c")), strict=True):
        said = {text.get_text(): text for text in ax.texts}
        assert said[f"← {second} better"].get_color() == _style.embedding_color("abc", second)
        assert said[f"{first} better →"].get_color() == _style.embedding_color("abc", first)
        for measure, mark, bar in zip(ASKED, *marks_of(ax), strict=True):
            rows = table[(table["measure"] == measure) & (table["first"] == first) & (table["second"] == second)]
            row = rows[~rows["parameters"].str.contains("n_neighbors=5")].iloc[0]
            values = three.table[(three.table["measure"] == measure) & three.table["embedding"].isin([first, second])]
            values = values[values["parameters"] == row["parameters"]]
            perfect = 1.0 if measure in ("trustworthiness", "spearman_distance") else 0.0
            way = abs(perfect - values["chance"].mean())
            np.testing.assert_allclose(mark.get_xdata()[0], 100 * row["advantage"] / way)
            np.testing.assert_allclose(bar.get_xdata(), 100 * row[["conf_low", "conf_high"]].astype(float) / way)
            assert (mark.get_markerfacecolor() != _style.LIGHT["paper"]) == bool(row["better"])
            sign = "+" if row["advantage"] > 0 else ""
            ends = ", ".join(format_fixed(row[key], 3) for key in ("conf_low", "conf_high"))
            assert f"{sign}{format_fixed(row['advantage'], 3)} [{ends}]" in said
            assert probability(row["p_adjusted"]) in said


def test_a_forest_of_one_pair_turns_with_it(three):
    """With the reversed pair, every mark is on the other side."""
    marks, turned = (marks_of(three.plot("forest", pair=pair).axes[0])[0] for pair in (("a", "b"), ("b", "a")))

    assert [mark.get_xdata()[0] for mark in marks] == [-mark.get_xdata()[0] for mark in turned]
    with pytest.raises(UnknownName, match="Known: a, b, c"):
        three.plot("forest", pair=("a", "x"))


def test_measures_without_a_scale_are_drawn_in_their_unit():
    """Where no chance level is known, the pairs are the lines and the axis is that of the measure."""
    results = evaluated(("a", "b"))
    unknown = results.table.assign(chance=np.nan)
    figure = dataclasses.replace(results, table=unknown).plot("forest", measure="spearman_distance")
    row = results.compare().of(results.compare().pairs, "spearman_distance").iloc[0]

    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["a − b"]
    assert marks_of(figure.axes[0])[0][0].get_xdata()[0] == row["advantage"]


def test_a_forest_of_some_pairs_or_one_measure(three):
    """Names restrict the pairs, a measure the lines (all its settings), and level and adjustment are those given."""
    (ax,) = three.plot("forest", names=["a", "c"], measure="procrustes_rc").axes
    settings = [label.get_text().partition(", ")[2] for label in ax.get_yticklabels()]
    assert settings == ["k = 5", "k = 15"]
    figure = three.plot("forest", measure="procrustes_disparity", alpha=0.1, adjust=None)
    text = " ".join(reversed(texts(figure)))

    assert "with 90 % intervals; at the right p not adjusted. Filled" in text or "at the right p. Filled" in text
    assert "Procrustes" in text
    assert "Procrustes" not in " ".join(texts(three.plot("forest", measure="procrustes_disparity", titled=False)))
    assert "whichever way" not in " ".join(texts(three.plot("forest", measure="procrustes_disparity", explained=False)))


@pytest.mark.parametrize("baseline", [None, "m3"])
def test_many_embeddings_are_compared_with_one(baseline):
    """Beyond eight with the best by the measure, or with the baseline: its nearest ones, and how many are left."""
    many = evaluated(tuple(f"m{i}" for i in range(24)), n=30)
    comparison = many.compare(measure="trustworthiness", baseline=baseline)
    name = comparison.measures[0]
    figure = comparison.plot("forest", measure=name)
    best = comparison.of(comparison.standing, name)["embedding"].iloc[0]
    pairs = comparison.of(comparison.pairs, name)
    pairs = pairs[pairs["conf_low"].notna()]
    against = pairs[(pairs["first"] == (baseline or best)) | (pairs["second"] == (baseline or best))]
    sizes = sorted(against["advantage"].abs())[:20]
    marks = [mark.get_xdata()[0] for mark in marks_of(figure.axes[0])[0]]
    below = f"advantage over {baseline or best}", f"… {len(pairs) - 20} more pairs in compare().tidy()"

    assert figure.axes[0].get_xlabel() == "\n".join(below)
    np.testing.assert_allclose(sorted(map(abs, marks)), sizes)
    assert marks == sorted(marks, reverse=True)
    assert cut_off(figure) == []
    assert overlapping(figure) == []


def test_many_pairs_have_one_panel():
    """Of more than 21 pairs one measure is drawn by default."""
    many = evaluated(tuple("abcdefgh"), n=30)

    assert len(many.plot("forest").axes) == 1
    assert len(many.plot("forest").axes[0].get_yticklabels()) == 28


def test_a_map_of_differences_is_at_the_scale_of_the_first_table(three):
    """Without a measure: trustworthiness at 15 neighbors, not at the first scale that was run."""
    assert any("k\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}15" in words for words in texts(three.plot("difference_map")))


def test_the_permutations_behind_a_test_are_kept_and_drawn(three, tmp_path):
    """Their histogram is that of the test run by itself with the seed of the stream, and is saved."""
    row = three.table[(three.table["test"] == "hsic") & (three.table["embedding"] == "b")].iloc[0]
    alone = dreval.hsic_test(
        three.embeddings["b"],
        three.labels,
        kernel=("gaussian", "delta"),
        n_resamples=39,
        random_state=stream_seed(0, "test", "b", "hsic", "labels"),
    )
    counts, edges = np.histogram(alone.null_distribution, bins=6)
    kept = three.nulls[three.nulls["embedding"] == "b"]
    figure = three.plot("null", embedding="b")
    loaded = dreval.load_results(three.save(tmp_path / "three.dreval"))

    assert alone.statistic == pytest.approx(row["statistic"])
    np.testing.assert_array_equal([bar.get_height() for bar in figure.axes[0].patches], counts)
    np.testing.assert_allclose([bar.get_x() for bar in figure.axes[0].patches], edges[:-1])
    assert figure.axes[0].lines[0].get_xdata()[0] == row["statistic"] or "far" in " ".join(texts(figure))
    np.testing.assert_array_equal(kept["count"], counts)
    pd.testing.assert_frame_equal(loaded.nulls, three.nulls)
    assert texts(loaded.plot("null")) == texts(three.plot("null"))


def test_a_statistic_far_beyond_chance_is_pointed_at():
    """Where permutations would be one line, the axis keeps them and an arrow points to the statistic."""
    test = dreval.hsic_test(np.arange(80.0), np.arange(80.0), n_resamples=39, random_state=0)
    (ax,) = test.plot("null").axes

    assert ax.get_xlim()[1] < test.statistic
    assert any("far beyond" in text.get_text() for text in ax.texts)
    assert not [line for line in ax.lines if line.get_xdata()[0] == test.statistic]
    with pytest.raises(UnknownName, match="Known: null"):
        test.plot("scatter")


def test_tests_that_were_not_run_or_kept_have_a_cure(three):
    """No test, unknown ones, and permutations that an older file has not."""
    with pytest.raises(InputError, match=r"run\(tests='hsic'\)"):
        simulated_results(tests=False).plot("null")
    with pytest.raises(InputError, match="an older file has not kept"):
        simulated_results().plot("null")
    with pytest.raises(UnknownName, match="Did you mean 'hsic'"):
        three.plot("null", test="hsics")
    with pytest.raises(UnknownName, match="Did you mean 'labels'"):
        three.plot("null", variable="label")


def test_a_coranking_embedding_is_the_matrix(three):
    """The share that stays is Q_NX of the same view; shades rise with the counts, and empty cells are clear."""
    figure, X = three.plot("coranking", n_neighbors=7), three.data
    for name, ax in zip("abc", figure.axes, strict=False):
        kept = coranking(neighbor_pass(X, {name: three.embeddings[name]}, k=1)[name]).q_nx()[6]
        assert ax.get_title(loc="right").endswith(format_fixed(kept, 3))
        edges = rank_edges(60, MATRIX_CELLS, 7)
        counts = coranking_cells(X, three.embeddings[name], edges)
        opacity = np.asarray(ax.images[0].get_array())[..., 3]
        ends = np.log(edges) / math.log(60) * len(opacity)
        middle = ((ends[:-1] + ends[1:]) / 2).astype(int)
        shown = opacity[np.ix_(middle, middle)]
        ratio = counts * 59 / (60 * np.outer(np.diff(edges), np.diff(edges)))
        assert ((shown == 0) == (counts == 0)).all()
        order = np.argsort(ratio[ratio > PALEST_RATIO], axis=None)
        assert (np.diff(shown[ratio > PALEST_RATIO].ravel()[order]) >= -1e-12).all()
        lines = [line for line in ax.lines if line.get_color() == _style.LIGHT["ink"]]
        assert {float(value) for line in lines for value in line.get_xdata()} >= {math.log(8)}


def test_a_coranking_needs_the_data_and_says_what_it_saw(three, monkeypatch):
    """A loaded result raises an error with a hint; of many points a part is used, and the text says so."""
    with pytest.raises(InputError, match=r"dataclasses.replace\(results, data=X\)"):
        dataclasses.replace(three, data=None).plot("coranking")
    with pytest.raises(InputError, match="n_neighbors"):
        three.plot("coranking", n_neighbors=59)
    monkeypatch.setattr("dreval.report.figures.comparisons.MATRIX_ROWS", 20)
    assert any("20 of 60 points" in words for words in texts(three.plot("coranking", embedding="a")))


def test_a_coranking_of_four_points_is_the_least():
    """Fewer have no matrix worth the name."""
    Y = np.arange(8.0).reshape(4, 2) ** 2
    rows = [measure_row("a", "procrustes_disparity", "", 0.5, 1.0)]
    results = make_results(rows, {"a": Y})
    recipe = {**results.recipe, "data_sha256": as_data(Y).sha256}
    assert dataclasses.replace(results, data=Y, recipe=recipe).plot("coranking")
    with pytest.raises(InputError, match="at least 4 points"):
        dataclasses.replace(make_results(rows, {"a": Y[:3]}), data=Y[:3]).plot("coranking")


def test_a_curve_over_kappa_is_that_of_the_function(three):
    """The line of each embedding, all from the same permutations."""
    figure = three.plot("kappa_curve", kappas=[0.01, 0.1], n_resamples=9)
    for name, ax in zip("abc", figure.axes, strict=True):
        found = dreval.kappa_curve(
            three.embeddings[name], three.labels, kappas=[0.01, 0.1], n_resamples=1, kernel=("gaussian", "delta")
        )
        line = next(line for line in ax.lines if line.get_marker() == "o")
        np.testing.assert_allclose(line.get_ydata(), found.table["statistic"], rtol=1e-10)
    with pytest.raises(InputError, match="Pass labels to Evaluation"):
        simulated_results(classes=0).plot("kappa_curve")


def test_figures_over_data_sets_are_refused_for_one(three):
    """The error has a hint; following the hint draws the requested figure."""
    others = evaluated(("a", "b", "c"), n=30, ci=None)
    for kind in ("critical_difference", "wins"):
        with pytest.raises(InputError, match=rf"dreval\.compare\(\[results, others\]\)\.plot\('{kind}'\)"):
            three.plot(kind)
        comparison = dreval.compare([three, others], measure="trustworthiness")
        figure = comparison.plot(kind, measure=comparison.measures[0])
        assert cut_off(figure) == []


@pytest.mark.parametrize("k", [2, 12])
def test_titles_over_few_ranks_stay_on_the_paper(k):
    """Two embeddings or twelve, long names or short: nothing is cut off."""
    rng = np.random.default_rng(k)
    for names in ([f"m{j}" for j in range(k)], [f"{j} {ODD[0]}" for j in range(k)]):
        rows = [(f"d{i}", name, "procrustes_rn_opt", rng.random()) for i in range(9) for name in names]
        comparison = dreval.compare(pd.DataFrame(rows, columns=["dataset", "embedding", "measure", "value"]))
        for kind in ("critical_difference", "wins"):
            assert cut_off(comparison.plot(kind)) == []
            assert not [words for words in texts(comparison.plot(kind, titled=False)) if "Procrustes" in words]


def test_a_failed_embedding_is_refused_with_its_reason(odd):
    """Its name raises an error; the others are drawn without it."""
    with pytest.raises(InputError, match="It failed: no memory"):
        odd.plot("scatter", names=["lost"])


def test_colors_of_numbers_rise_in_lightness():
    """From dark to light, so that they keep their order in print."""
    parts = np.array([mpl.colors.to_rgb(color) for color in _style.NUMBER_RAMP])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)

    assert (np.diff(linear @ [0.2126, 0.7152, 0.0722]) > 0).all()


def test_a_study_takes_the_same_words(tmp_path):
    """Its figures are those of its comparison, a forest that of its deciding test; other kinds raise an error."""
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
