"""Figures: their content, their errors, and no effect on the settings of matplotlib."""

from __future__ import annotations

import dataclasses
import io
import itertools
import math
from xml.etree import ElementTree as ET

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from report_cases import make_results, measure_row, simulated_results

from dreval.errors import DrevalWarning, InputError, UnknownName
from dreval.records.tests import IndependenceTest
from dreval.report import _style
from dreval.report._svg import inline_svg
from dreval.report.figures._lines import spread_labels
from dreval.report.figures._panels import class_colors, map_cells, place_points, scale_of_maps
from dreval.report.figures.maps import PANEL_INCHES
from dreval.report.figures.nulls import null_histogram
from dreval.report.plot import plot
from dreval.report.result_view import MAX_SIDE_BY_SIDE, colored_embeddings, read_results

SVG = "{http://www.w3.org/2000/svg}"
PLAIN = ("scatter", "map", "curve", "shepard", "heatmap")  # kinds that a simulated result can draw


def png_bytes(figure):
    """Return the figure as PNG bytes; that drawing raises no error is part of the test."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None})
    return buffer.getvalue()


def texts(figure):
    """Return all visible texts of a figure, titles on both sides included."""
    return [t.get_text() for t in figure.findobj(mpl.text.Text) if t.get_text() and t.get_visible()]


@pytest.mark.parametrize("kind", PLAIN)
@pytest.mark.parametrize("count", [1, 2, 5, 8, 10])
def test_every_kind_is_drawn_for_any_number_of_embeddings(kind, count):
    """One to ten embeddings have a figure with all names; of more than eight, lines name those in color."""
    names = tuple(f"embedding {i}" for i in range(count))
    results = simulated_results(names, ks=(5, 15, 60))
    figure, colored = plot(results, kind), read_results(results).colored

    assert isinstance(figure, Figure)
    assert png_bytes(figure).startswith(b"\x89PNG")
    assert set(colored if kind == "curve" else names) <= set(texts(figure))
    if kind == "curve" and count > 8:
        assert any(f"gray: {count - len(colored)} other embeddings" in text for text in texts(figure))


@pytest.mark.parametrize("d", [1, 2, 3, 7])
@pytest.mark.parametrize("classes", [0, 1, 3, 12, 30])
def test_embeddings_of_any_width_and_number_of_classes_are_drawn(d, classes):
    """One column is a strip, further columns are mentioned; more than twelve classes become 'other'."""
    figure = plot(simulated_results(("a", "b"), d=d, classes=classes, n=300), "embedding")
    text = " ".join(texts(figure))
    png_bytes(figure)

    assert ("one column" in text) == (d == 1)
    assert (f"columns 1 and 2 of {d}" in text) == (d > 2)
    assert ("other (19 classes)" in text) == (classes == 30)


def test_settings_of_matplotlib_are_unchanged_and_no_figure_is_registered():
    """Settings before and after are equal, and pyplot has no new figure."""
    import matplotlib.pyplot as plt

    settings, figures = dict(mpl.rcParams), plt.get_fignums()
    for kind in PLAIN:
        png_bytes(plot(simulated_results(ks=(5, 15)), kind))

    assert dict(mpl.rcParams) == settings
    assert plt.get_fignums() == figures


@pytest.mark.parametrize("kind", ["scatter", "map", "shepard"])
@pytest.mark.parametrize("count", [3, 5, 8, 20])
def test_panels_are_as_wide_as_paper(kind, count):
    """At a line of 6.3 inches, figures of panels keep 7 of their 8 points; no text is smaller than 8 points."""
    figure = plot(simulated_results(tuple(f"m{i}" for i in range(count))), kind)
    png_bytes(figure)

    assert figure.get_figwidth() <= 6.3 * 8 / 7
    assert min(t.get_fontsize() for t in figure.findobj(mpl.text.Text) if t.get_text() and t.get_visible()) >= 8


def test_a_figure_has_an_image_for_notebooks():
    """The image is as wide as the inches of the figure on a page."""
    figure = plot(simulated_results())
    image, metadata = figure._repr_png_()
    assert image.startswith(b"\x89PNG")
    assert metadata == {"width": round(96 * figure.get_figwidth())}


def test_only_fonts_and_resolution_of_the_user_affect_a_figure():
    """Colors and lines do not depend on the style of the user; the fonts do."""
    default_image = png_bytes(plot(simulated_results(), "map"))
    with mpl.rc_context({"axes.facecolor": "red", "text.parse_math": True, "axes.spines.left": True}):
        assert png_bytes(plot(simulated_results(), "map")) == default_image
    with mpl.rc_context({"font.size": 30}):
        assert png_bytes(plot(simulated_results(), "map")) != default_image


def test_names_are_shown_literally():
    """Dollar signs, underscores, markup and control characters have no effect."""
    names = ("$x_1$", r"\frac{a}{b}", "<b>&", "two\nlines", "naïve λ")
    figure = plot(simulated_results(names, ks=(5, 15)), "curve")
    png_bytes(figure)

    assert {"$x_1$", r"\frac{a}{b}", "<b>&", "two lines", "naïve λ"} <= set(texts(figure))


def test_unknown_names_raise_an_error_with_the_nearest_name():
    """The error suggests the nearest kind, option, measure or embedding."""
    results = simulated_results(ks=(5, 15))
    with pytest.raises(UnknownName, match="Did you mean 'curve'"):
        plot(results, "curves")
    with pytest.raises(UnknownName, match="Did you mean 'measure'"):
        plot(results, "map", mesure="continuity")
    with pytest.raises(UnknownName, match="Did you mean 'trustworthiness'"):
        plot(results, "map", measure="trustworthyness")
    with pytest.raises(UnknownName, match="Did you mean 'continuity'"):
        plot(results, "curve", measure="continuty")
    with pytest.raises(UnknownName, match="Did you mean 'isomap'"):
        plot(results, "embedding", names=["isomp"])


def test_a_curve_needs_several_numbers_of_neighbors():
    """The message has a hint; a measure without neighbors raises an error that names those with a curve."""
    with pytest.raises(InputError, match=r"n_neighbors=\[5, 15, 50\]"):
        plot(simulated_results(), "curve")
    with pytest.raises(InputError, match=r"run at several: .*trustworthiness"):
        plot(simulated_results(ks=(5, 15)), "curve", measure="procrustes_disparity")


def test_a_map_needs_values_of_points():
    """A measure without point values, or a k that was not run, raises an error with the alternatives."""
    results = simulated_results(ks=(5, 15))
    with pytest.raises(InputError, match=r"Those that have: .*continuity"):
        plot(results, "map", measure="procrustes_disparity")
    with pytest.raises(InputError, match="was run at: 5, 15"):
        plot(results, "map", measure="continuity", n_neighbors=7)
    results_without_points = make_results(
        [measure_row("a", "procrustes_disparity", "", 0.5, 1.0)], {"a": np.eye(5)[:, :2]}
    )
    with pytest.raises(InputError, match="values for single points"):
        plot(results_without_points, "map")


def test_a_figure_of_failures_only_raises_an_error():
    """The error has the reason of each failure."""
    with pytest.raises(InputError, match="broken: no memory"):
        plot(make_results([], {}, failed={"broken": "no memory"}), "embedding")


def test_one_color_per_embedding_throughout():
    """An embedding keeps its color if others are not requested or fail."""
    results = simulated_results(("a", "b", "c"), ks=(5, 15), failed={"d": "x"})
    for kind in ("embedding", "map", "curve"):
        for names in (["b"], ["a", "b"], None):
            figure = plot(results, kind, names=names)
            colors = {t.get_color() for t in figure.findobj(mpl.text.Text) if t.get_text() == "b"}
            assert colors == {_style.EMBEDDINGS_LIGHT[1]}


def test_beyond_eight_no_two_embeddings_share_a_color():
    """The first by mean rank have a color each, the others are gray; requested ones always have a color."""
    names = tuple(f"m{i}" for i in range(30))
    results = simulated_results(names, ks=(5, 15))
    featured = read_results(results).featured
    title_colors = {ax.get_title(loc="left"): ax._left_title.get_color() for ax in plot(results, "map").axes[:30]}
    colored = {name: color for name, color in title_colors.items() if color != _style.LIGHT["other"]}
    worst = next(name for name in reversed(names) if name not in featured)
    figure = plot(results, "curve", names=[worst, *sorted(colored)[:1]])

    assert set(colored) == set(featured)
    assert len(set(colored.values())) == len(colored) == 8
    assert set(colored.values()) <= set(_style.EMBEDDINGS_LIGHT)
    text_colors = {text.get_text(): text.get_color() for text in figure.findobj(mpl.text.Text)}
    assert text_colors[sorted(colored)[0]] == colored[sorted(colored)[0]]
    assert text_colors[worst] in _style.EMBEDDINGS_LIGHT
    assert text_colors[worst] != text_colors[sorted(colored)[0]]


@pytest.mark.parametrize(
    ("names", "ranked", "requested", "expected"),
    [
        ("abc", "", "", "abc"),
        ("abcdefgh", "h", "", "abcdefgh"),
        ("abcdefghi", "bac", "", "bac"),
        ("abcdefghi", "ihgfedcba", "", "ihgfedcb"),
        ("abcdefghi", "abcdefgh", "i", "abcdefgi"),
        ("abcdefghi", "abcdefgh", "hi", "abcdefih"),
        ("abcdefghi", "ab", "abcdefghi", "ab"),
    ],
)
def test_colored_embeddings_are_the_first_and_the_requested_ones(names, ranked, requested, expected):
    """All of few embeddings have a color; of many the first, and the requested ones, which replace the last."""
    assert colored_embeddings(names, ranked, requested) == tuple(expected)


def test_a_curve_shows_values_chance_and_intervals():
    """The lines have the values, the dashed line is the chance level, and bands need intervals."""
    names = ("a", "b", "c", "d")
    results = simulated_results(names, ks=(5, 15, 60))
    figure = plot(results, "curve", measure="neighborhood_overlap")
    table = results.table[results.table["measure"] == "neighborhood_overlap"]
    lines = [line for line in figure.axes[0].lines if len(line.get_xdata()) == 3]

    for line, name in zip(lines, names, strict=False):
        np.testing.assert_array_equal(line.get_xdata(), [5, 15, 60])
        np.testing.assert_array_equal(line.get_ydata(), table[table["embedding"] == name]["value"])
    assert np.allclose(lines[-1].get_ydata(), 0.01)
    assert len(figure.axes[0].collections) == 4
    assert not plot(simulated_results(ks=(5, 15), intervals=False), "curve").axes[0].collections


def test_a_chance_level_far_from_all_lines_is_named_and_not_drawn():
    """If the chance level would compress the lines, a text has its value instead."""
    rows = [
        measure_row("a", "trustworthiness", f"n_neighbors={k}", v, 0.5) for k, v in ((5, 0.99), (15, 0.985), (60, 0.98))
    ]
    figure = plot(make_results(rows, {"a": np.zeros((6, 2))}, n_neighbors=[5, 15, 60]), "curve")

    assert any("chance level 0.500, outside the axis" in text for text in texts(figure))
    assert "chance level" not in texts(figure)
    assert figure.axes[0].get_ylim()[0] > 0.9


@given(st.lists(st.floats(0, 3), min_size=1, max_size=10))
def test_labels_do_not_overlap_and_keep_their_order(positions):
    """Labels are a gap apart, in the order of their lines, inside the axis if they fit, else from its top."""
    label_positions = spread_labels(positions, 0.16, 0.0, 3.0)
    order = sorted(range(len(positions)), key=lambda i: positions[i])
    for low, high in itertools.pairwise(order):
        assert label_positions[high] - label_positions[low] >= 0.16 - 1e-9
    assert max(label_positions) <= 3.0 + 1e-9
    assert min(label_positions) >= -1e-9
    if all(b - a >= 0.16 for a, b in itertools.pairwise(sorted(positions))):
        assert label_positions == pytest.approx(positions)


@given(
    st.integers(1, 3).flatmap(
        lambda d: st.lists(st.tuples(*[st.floats(-1e300, 1e300)] * d), min_size=1, max_size=20).map(np.array)
    )
)
def test_points_are_placed_inside_the_panel_at_one_scale(Y):
    """All points are in the square for any size, and both columns have the same scale."""
    positions = place_points(Y)

    assert positions.shape == (len(Y), 2)
    assert np.abs(positions).max() <= 1
    assert not np.isnan(positions).any()
    if Y.shape[1] > 1:
        spans = np.ptp(Y[:, :2] / 4, axis=0)
        if spans.min() > 1e-280:
            ratio = np.ptp(positions, axis=0)
            np.testing.assert_allclose(ratio[0] * spans[1], ratio[1] * spans[0], rtol=1e-6, atol=1e-6 * spans.max())


@pytest.mark.parametrize(
    ("measure", "chance", "label", "share"),
    [
        ("trustworthiness", 0.2, "chance level 0.200, beyond the worse end", None),
        ("trustworthiness", 0.5, "mark: chance level 0.500", 0.5),
        ("procrustes_rc", 0.5, "mark: chance level 0.500", 0.5),
        ("procrustes_rc", 0.41, "mark: chance level 0.410", 0.75),
        ("procrustes_rc", 0.9, "chance level 0.900, beyond the worse end", None),
    ],
)
def test_a_map_labels_its_worse_end_and_the_chance_level(measure, chance, label, share):
    """The worse end of the bar is at the left for either direction; the chance level is marked if in reach."""
    values = np.linspace(0.3, 0.7, 41).round(9)
    coordinates = {"a": np.column_stack([values, values])}
    points = {"a": pd.DataFrame({measure: values})}
    results = make_results([measure_row("a", measure, "n_neighbors=15", 0.75, chance)], coordinates, points=points)
    figure = plot(results, "map", measure=measure)
    bar = figure.axes[-1]
    worse_text, better_text = ("≤ 0.320", "≥ 0.680") if measure == "trustworthiness" else ("≥ 0.680", "≤ 0.320")
    label_positions = {t.get_text(): t.get_position()[0] for t in bar.texts}

    assert label in label_positions
    assert label_positions[f"{worse_text} (worse)"] < label_positions[f"{better_text} (better)"]
    assert len(bar.lines) == (share is not None)
    if share is not None:
        np.testing.assert_allclose(bar.lines[0].get_xdata(), share, atol=0.02)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40), st.booleans())
def test_the_scale_of_maps_orders_colors_as_quality(values, higher):
    """A better value never has a worse color, and the ends of the scale show if values are beyond them."""
    values = np.array(values)
    scale = scale_of_maps([values], higher)
    levels = scale.levels(values)
    order = np.argsort(values if higher else -values)

    assert (np.diff(levels[order]) >= 0).all()
    assert levels.min() >= 0
    assert levels.max() < len(_style.QUALITY_RAMP)
    assert scale.clipped_low == (values.min() < scale.low)
    assert ("or less" in "".join(scale.ends())) == scale.clipped_low


@pytest.mark.parametrize(
    ("value", "higher", "bounds", "chances", "ends", "level"),
    [
        (1.0, True, (0, 1), [0.5], (0.5, 1), -1),  # perfect
        (0.5, True, (0, 1), [0.5], (0.5, 1), 0),  # by chance
        (0.3, True, (0, 1), [0.5], (0.3, 1), 0),  # worse
        (0.0, True, (0, 1), [], (0, 1), 0),
        (1.0, True, (0, 1), [1.0], (0, 1), -1),  # chance is perfect: from the bound
        (0.0, False, (0, math.inf), [0.9, 0.95], (0, 0.95), -1),
        (0.9, False, (0, math.inf), [0.8, 0.85], (0, 0.9), 0),
        (0.0, False, (0, math.inf), [], (0, 0.5), -1),  # the worse end has no bound
        (4.0, True, (-math.inf, math.inf), [], (2, 6), 8),
    ],
)
def test_the_scale_of_one_value_goes_from_chance_to_the_best(value, higher, bounds, chances, ends, level):
    """The scale goes from the chance level or the worse bound to the better bound, with the color of the value."""
    values = np.full(5, value)
    scale = scale_of_maps([values], higher, bounds, chances)

    assert (scale.low, scale.high) == ends
    assert (scale.clipped_low, scale.clipped_high) == (False, False)
    assert set(scale.levels(values)) == {level % len(_style.QUALITY_RAMP)}


def test_a_map_of_many_points_shows_the_mean_of_each_cell():
    """Every cell with a point is drawn once, with the mean of its points, as a loop computes it."""
    rng = np.random.default_rng(0)
    Y, values = rng.normal(size=(900, 2)), rng.random(900)
    values[:100] = math.nan
    centers, means = map_cells(Y, values)
    cells = {}
    for (x, y), value in zip(place_points(Y), values, strict=True):
        if not math.isnan(value):
            cells.setdefault((int((x + 1) * 15), int((y + 1) * 15)), []).append(value)

    assert len(centers) == len(cells)
    for (x, y), mean in zip(centers, means, strict=True):
        assert mean == pytest.approx(np.mean(cells[round((x + 1) * 15 - 0.5), round((y + 1) * 15 - 0.5)]))


def test_classes_beyond_twelve_are_the_largest_and_other():
    """The eleven largest classes have a color, in sorted order; the others share the last one."""
    labels = np.repeat(np.arange(20), np.arange(1, 21))
    classes = class_colors(labels)

    assert classes.names == (*map(str, range(9, 20)), "other (9 classes)")
    assert classes.colors == _style.CLASS_COLORS
    np.testing.assert_array_equal(classes.codes[labels == 9], 0)
    np.testing.assert_array_equal(classes.codes[labels == 3], 11)


def luminance(color):
    """Return the relative luminance of a color (WCAG 2.2)."""
    parts = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(a, b):
    """Return the contrast of two colors (WCAG 2.2)."""
    low, high = sorted([luminance(a), luminance(b)])
    return (high + 0.05) / (low + 0.05)


def test_colors_have_enough_contrast_and_are_distinct():
    """Text colors have a contrast of 4.5 with the paper, points 1.5, and all variables have distinct colors."""
    assert len(_style.EMBEDDINGS_LIGHT) == len(_style.EMBEDDINGS_DARK) == MAX_SIDE_BY_SIDE
    for theme, embeddings in ((_style.LIGHT, _style.EMBEDDINGS_LIGHT), (_style.DARK, _style.EMBEDDINGS_DARK)):
        assert contrast(theme["ink"], theme["panel"]) > 12
        assert contrast(theme["soft"], theme["panel"]) >= 4.5
        assert all(contrast(color, theme["paper"]) >= 4.5 for color in (*embeddings, theme["other"]))
        assert all(contrast(color, theme["panel"]) >= 1.5 for color in (*_style.CLASS_COLORS, *_style.QUALITY_RAMP))
    colors = [*_style.LIGHT.values(), *_style.EMBEDDINGS_LIGHT]
    assert len(set(colors)) == len(colors) == len(_style.css_variables())
    light = [luminance(color) for color in _style.QUALITY_RAMP]
    assert light == sorted(light, reverse=True)


# Machado, Oliveira & Fernandes (2009), severity 1.
PROTANOPIA = [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
DEUTERANOPIA = [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]


def lab_colors(colors, view):
    """Return colors in CIELAB (1976) under simulated color vision."""
    parts = np.array([[int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)] for c in colors])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    linear = np.clip(linear @ np.array(view).T, 0, 1)
    to_xyz = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
    xyz = linear @ np.array(to_xyz).T / [0.95047, 1.0, 1.08883]
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz * (29 / 6) ** 2 / 3 + 4 / 29)
    return np.column_stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])])


@pytest.mark.parametrize("view", [np.eye(3), PROTANOPIA, DEUTERANOPIA])
@pytest.mark.parametrize("embeddings", [_style.EMBEDDINGS_LIGHT, _style.EMBEDDINGS_DARK])
def test_colors_differ_under_color_vision_deficiency(view, embeddings):
    """Distances within and between sets of colors have a minimum, also for protanopes and deuteranopes."""
    sets = {"embeddings": embeddings, "classes": _style.CLASS_COLORS, "scale": _style.QUALITY_RAMP}
    lab = {name: lab_colors(colors, view) for name, colors in sets.items()}

    def nearest(left, right):
        distances = np.linalg.norm(lab[left][:, None] - lab[right], axis=2)
        return distances[np.triu_indices(len(distances), 1)].min() if left == right else distances.min()

    assert nearest("embeddings", "embeddings") > 20
    assert nearest("classes", "classes") > 13
    assert nearest("embeddings", "classes") > 12
    assert nearest("embeddings", "scale") > 11


@pytest.mark.slow
def test_a_drawing_for_a_page_has_only_its_colors_ids_and_fonts():
    """The SVG has a description, variables as text colors and prefixed ids, and no font, style sheet or date."""
    results = simulated_results(("a", "b"), ks=(5, 15))
    for kind in PLAIN:
        text = inline_svg(plot(results, kind), "f7", 'a <label> & "more"')
        root = ET.fromstring(text)
        ids = [element.attrib["id"] for element in root.iter() if "id" in element.attrib]

        assert root.tag == f"{SVG}svg"
        assert root.attrib["role"] == "img"
        assert root.attrib["aria-label"] == 'a <label> & "more"'
        assert len(set(ids)) == len(ids)
        assert all(name.startswith("f7-") for name in ids)
        assert "var(--" in text
        assert not any(color in text for color in _style.css_variables())
        assert not any(word in text for word in ("font-family", "DejaVu", "<style", "metadata", "<!", "NaN", "nan"))
        assert all("font:" not in element.attrib.get("style", "") for element in root.iter(f"{SVG}text"))
        assert inline_svg(plot(results, kind), "f7", 'a <label> & "more"') == text


def test_the_dots_of_a_drawing_are_the_points():
    """Each point is one dot of the drawing, at its position to a hundredth of a point, with the color of its class."""
    results = simulated_results(("a",), n=50, classes=3)
    root = ET.fromstring(inline_svg(plot(results, "embedding"), "f", "x"))
    dots = {}
    for group in root.iter(f"{SVG}g"):
        if "data-class" in group.attrib:
            for path in group.iter(f"{SVG}path"):
                pairs = [move.split("h0")[0].split() for move in path.attrib["d"].split("M")[1:]]
                dots.setdefault(int(group.attrib["data-class"]), []).extend((float(x), float(y)) for x, y in pairs)
    positions = place_points(results.embeddings["a"])
    for code in range(3):
        expected = positions[results.labels == code]
        dots_of_class = np.array(sorted(dots[code]))
        scale = PANEL_INCHES * 72 / 2
        expected_x = np.array(sorted((expected[:, 0] * scale).tolist()))
        np.testing.assert_allclose(
            dots_of_class[:, 0] - dots_of_class[:, 0].mean(), expected_x - expected_x.mean(), atol=0.02
        )
        assert len(dots_of_class) == len(expected)


def test_dense_panels_are_pixels_inside_the_drawing():
    """More than 4000 points become one embedded image, and the drawing is small."""
    rng = np.random.default_rng(0)
    rows = [measure_row("a", "trustworthiness", "n_neighbors=15", 0.9, 0.5)]
    Y = rng.normal(size=(6000, 2))
    points = {"a": pd.DataFrame({"trustworthiness": rng.random(6000)})}
    results = make_results(rows, {"a": Y}, rng.integers(0, 3, 6000), points=points)
    text = inline_svg(plot(results, "embedding"), "f", "x")

    assert "data:image/png;base64," in text
    assert len(text) < 400_000
    ET.fromstring(text)


def independence_test(null, statistic=0.5, p=0.04):
    """Return the result of a test with this null distribution."""
    null = np.array(null, dtype=float)
    return IndependenceTest("hsic", "HSIC of $x$", statistic, p, null, len(null), 0.3, "CKA", (0.0, 0.1))


def test_the_null_histogram_shows_every_permutation_and_the_statistic():
    """The bars count all permutations, the line is at the statistic, and both are inside the axis."""
    rng = np.random.default_rng(0)
    null = rng.gamma(2, 0.05, 999)
    (ax,) = null_histogram(independence_test(null)).axes
    png_bytes(ax.figure)

    assert sum(bar.get_height() for bar in ax.patches) == 999
    assert ax.lines[0].get_xdata()[0] == 0.5
    low, high = ax.get_xlim()
    assert low <= null.min()
    assert high >= 0.5
    assert any("p = .040" in text for text in texts(ax.figure))


@pytest.mark.parametrize(("null", "statistic"), [([], 0.5), ([0.5, 0.5], 0.5), ([0.0], 0.0), ([1e-9, 2e-9], 3e-9)])
def test_degenerate_null_distributions_are_drawn(null, statistic):
    """Null distributions with no permutation, equal ones, zeros and tiny ones have a figure."""
    (ax,) = null_histogram(independence_test(null, statistic)).axes

    assert png_bytes(ax.figure)


def test_the_null_histogram_draws_on_the_axes_of_the_caller():
    """The histogram is drawn on the Axes that are passed, and these are returned."""
    figure = Figure()
    ax = figure.subplots()

    assert null_histogram(independence_test([0.1, 0.2]), ax) is ax


@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_legend_of_many_classes_stays_on_the_paper_in_natural_order(count):
    """Class names with numbers are in numerical order, and no name is outside the figure."""
    labels = np.array([f"class{i}" for i in range(75)] * 4 + [f"class{i}" for i in range(11)])
    results = simulated_results(tuple("abcde"[:count]), n=len(labels), classes=2)
    figure = plot(dataclasses.replace(results, labels=labels), "embedding")
    png_bytes(figure)
    legend = figure.legends[0]
    box, paper = legend.get_window_extent(), figure.bbox

    assert [text.get_text() for text in legend.get_texts()] == [*(f"class{i}" for i in range(11)), "other (64 classes)"]
    assert 0 <= box.x0
    assert box.x1 <= paper.x1
    assert 0 <= box.y0
    assert box.y1 <= figure.axes[-1].get_window_extent().y0


def test_an_error_names_the_argument_of_the_caller():
    """The error names ``embedding`` or ``names``, as the caller passed it."""
    with pytest.raises(UnknownName, match=r"^`embedding` must be a known name: got 'zzz'"):
        plot(simulated_results(), "shepard", embedding="zzz")
    with pytest.raises(UnknownName, match=r"^`names` must be a known name: got 'zzz'"):
        plot(simulated_results(), "shepard", names=["zzz"])


def test_letters_without_a_font_warn_once(tmp_path):
    """There is one warning when a figure is made, none when it is drawn or saved, and none for letters with a font."""
    unknown = "\U0001e900"  # Adlam, for which no fallback font has letters
    results = simulated_results((unknown, "naïve λ"))
    with pytest.warns(DrevalWarning, match="no font here has '\U0001e900', which figures show as boxes") as warnings:
        figure = plot(results, "embedding")
    assert len(warnings) == 1
    figure.savefig(tmp_path / "a.png", bbox_inches="tight")
    figure.savefig(tmp_path / "a.svg")
    results.report(tmp_path / "a.html")
    assert repr(figure).startswith("<Figure size")
    assert _style.letters_without_glyph(["naïve λ", "one two"]) == ""
