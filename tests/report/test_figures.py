"""Figures: their content, their errors, and no effect on the settings of matplotlib."""

from __future__ import annotations

import dataclasses
import io
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

import dreval
from dreval.errors import DrevalWarning, InputError, UnknownName
from dreval.records.tests import IndependenceTest
from dreval.report import _style
from dreval.report._svg import inline_svg
from dreval.report.best_sets import normalized_score
from dreval.report.figures._grid import CELL_INCHES, EDGE_INCHES, PanelGrid, Reading
from dreval.report.figures._panels import (
    class_colors,
    map_cells,
    place_points,
    scale_of_column,
    scale_of_maps,
    scale_of_numbers,
)
from dreval.report.figures.nulls import null_histogram
from dreval.report.plot import plot
from dreval.report.result_findings import verdict
from dreval.report.result_view import read_results

SVG = "{http://www.w3.org/2000/svg}"
PLAIN = ("scatter", "map", "curve", "shepard", "heatmap")  # kinds that a simulated result can draw


def png_bytes(figure):
    """Return the figure as PNG bytes; that drawing raises no error is part of the test."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None})
    return buffer.getvalue()


def texts(figure):
    """Return all visible texts of a figure, titles on both sides included."""
    visible = [t for t in figure.findobj(mpl.text.Text) if t.get_text() and t.get_visible()]
    return [t.get_text().replace("\n", " ") for t in visible]


@pytest.mark.parametrize("kind", PLAIN)
@pytest.mark.parametrize("count", [1, 2, 5, 8, 10])
def test_every_kind_is_drawn_for_any_number_of_embeddings(kind, count):
    """One to ten embeddings have a figure with all names; of more than eight, the first have curves."""
    names = tuple(f"embedding {i}" for i in range(count))
    results = simulated_results(names, ks=(5, 15, 60))
    figure, featured = plot(results, kind), read_results(results).featured

    assert isinstance(figure, Figure)
    assert png_bytes(figure).startswith(b"\x89PNG")
    assert set(featured if kind == "curve" else names) <= set(texts(figure))
    if kind == "curve" and count > 8:
        assert "Without a panel: 2 more embeddings" in " ".join(texts(figure))


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


@pytest.mark.parametrize("kind", PLAIN)
def test_embeddings_have_no_hue(kind):
    """Names are in ink, and every color of a figure is a gray, a class, or one of the two scales."""
    results = simulated_results(("a", "b", "c"), ks=(5, 15))
    figure = plot(results, kind)
    names = {text.get_color() for text in figure.findobj(mpl.text.Text) if text.get_text() in ("a", "b", "c")}
    scales = {*_style.CLASS_COLORS, *_style.SCALE_LIGHT, _style.PLAIN_COLOR, *_style.LIGHT.values()}
    colors = {mpl.colors.to_hex(line.get_color()) for ax in figure.axes for line in ax.lines}
    colors |= {mpl.colors.to_hex(patch.get_edgecolor()) for ax in figure.axes for patch in ax.patches}

    assert names == {_style.LIGHT["ink"]}
    assert colors - {"#000000"} <= scales


def test_beyond_eight_the_first_by_mean_rank_or_the_requested_ones_have_a_curve():
    """Of thirty embeddings eight have panels, each with the range of the others; requested ones always have a panel."""
    names = tuple(f"m{i}" for i in range(30))
    results = simulated_results(names, ks=(5, 15))
    featured = read_results(results).featured
    figure, of_worst = plot(results, "curve"), plot(results, "curve", names=[names[-1], *names[:8]])

    assert [ax.get_title(loc="left") for ax in figure.axes] == list(featured)
    assert all(len(ax.collections) == 2 for ax in figure.axes)  # the band of the embedding and the range of the others
    assert len(of_worst.axes) == 9
    assert names[-1] in texts(of_worst)


def ink_line(ax):
    """Return the line of the embedding of a panel."""
    (line,) = [line for line in ax.lines if line.get_linewidth() == 1.6]
    return line


def test_a_curve_shows_values_chance_and_intervals():
    """Each panel has its values in ink and those of the others in gray; the dashed line is the chance level."""
    names = ("a", "b", "c", "d")
    results = simulated_results(names, ks=(5, 15, 60))
    figure = plot(results, "curve", measure="neighborhood_overlap")
    table = results.table[results.table["measure"] == "neighborhood_overlap"]

    assert len(figure.axes) == 4
    for ax, name in zip(figure.axes, names, strict=True):
        np.testing.assert_array_equal(ink_line(ax).get_xdata(), [5, 15, 60])
        np.testing.assert_array_equal(ink_line(ax).get_ydata(), table[table["embedding"] == name]["value"])
        assert sum(line.get_color() == _style.LIGHT["other"] for line in ax.lines) == 3
        assert any(np.allclose(line.get_ydata(), 0.01) for line in ax.lines)
        assert len(ax.collections) == 1
    without_intervals = plot(simulated_results(ks=(5, 15), intervals=False), "curve")
    assert not any(ax.collections for ax in without_intervals.axes)


def test_a_chance_level_far_from_all_lines_is_named_and_not_drawn():
    """If the chance level would compress the lines, a text has its value instead."""
    rows = [
        measure_row("a", "trustworthiness", f"n_neighbors={k}", v, 0.5) for k, v in ((5, 0.99), (15, 0.985), (60, 0.98))
    ]
    figure = plot(make_results(rows, {"a": np.zeros((6, 2))}, n_neighbors=[5, 15, 60]), "curve")

    assert "Chance level 0.500, outside the axis." in " ".join(texts(figure))
    assert figure.axes[0].get_ylim()[0] > 0.9


@pytest.mark.parametrize("n_panels", range(1, 13))
@pytest.mark.parametrize("text", ["", "A word. " * 3, "Words that fill many lines. " * 30])
def test_panels_fill_their_rows(n_panels, text):
    """Three panels are in a row; the text is in the rest of the last row if it fits there, else below all panels."""
    grid = PanelGrid(n_panels, Reading(text))
    figure = grid.finish()
    figure.draw_without_rendering()
    corners = np.array([[ax.get_position().x0, ax.get_position().y0] for ax in grid.axes]).round(6)
    boxes = [line.get_window_extent() for line in figure.texts]
    last = grid.axes[-1].get_window_extent()

    assert len(set(corners[:, 1])) == -(-n_panels // 3)
    assert len(set(corners[:, 0])) == min(n_panels, 3)
    assert all(figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1 and box.y0 >= figure.bbox.y0 for box in boxes)
    if boxes:
        is_beside = all(box.x0 > last.x1 and box.y0 >= last.y0 for box in boxes)
        assert is_beside == (n_panels % 3 != 0) or len(text) > 100
        assert not any(box.overlaps(ax.get_window_extent()) for box in boxes for ax in grid.axes)
    paper = figure.get_figwidth() - EDGE_INCHES
    assert max(ax.get_position().x1 for ax in grid.axes) * figure.get_figwidth() <= paper + 1e-6


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
    ("measure", "chance", "ends"),
    [
        ("trustworthiness", 0.2, ("0.200\nchance level", "1.000\nperfect")),
        ("trustworthiness", 0.5, ("≤ 0.500\nchance level", "1.000\nperfect")),
        ("procrustes_rc", 0.5, ("≥ 0.500\nchance level", "0.000\nperfect")),
        ("procrustes_rc", 0.9, ("0.900\nchance level", "0.000\nperfect")),
    ],
)
def test_a_map_goes_from_chance_to_perfect(measure, chance, ends):
    """The chance level is at the left for either direction, with a sign where points are worse."""
    values = np.linspace(0.3, 0.7, 41).round(9)
    coordinates = {"a": np.column_stack([values, values])}
    points = {"a": pd.DataFrame({measure: values})}
    results = make_results([measure_row("a", measure, "n_neighbors=15", 0.75, chance)], coordinates, points=points)
    bar = plot(results, "map", measure=measure).axes[-1]
    label_positions = {t.get_text(): t.get_position()[0] for t in bar.texts}

    assert (label_positions[ends[0]], label_positions[ends[1]]) == (0, 1)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40), st.booleans())
def test_the_scale_of_maps_orders_colors_as_quality(values, higher):
    """A better value never has a worse color, and the ends of the scale show if values are beyond them."""
    values = np.array(values)
    scale = scale_of_maps([values], higher)
    levels = scale.levels(values)
    order = np.argsort(values if higher else -values)

    assert (np.diff(levels[order]) >= 0).all()
    assert levels.min() >= 0
    assert levels.max() < len(_style.SCALE_LIGHT)
    signed, first = (values, scale.first) if higher else (-values, -scale.first)
    assert scale.beyond[0] == (signed.min() < first)
    assert any(end[0] in "≤≥" for end in scale.ends()) == any(scale.beyond)


@given(st.floats(0.01, 0.99), st.floats(0, 1), st.lists(st.floats(0, 1), min_size=1, max_size=20), st.booleans())
def test_tiny_differences_have_one_color(chance, value, values, higher):
    """The scale depends on chance and perfection alone, so that values that differ little look alike."""
    near = value + 1e-9 * np.array(values)
    scale = scale_of_maps([near], higher, (0.0, 1.0), [chance])

    assert (scale.first, scale.last) == (chance, 1.0 if higher else 0.0)
    assert np.ptp(scale.levels(near)) <= 1


@pytest.mark.parametrize(
    ("value", "higher", "bounds", "chances", "ends", "level"),
    [
        (1.0, True, (0, 1), [0.5], (0.5, 1), -1),  # perfect
        (0.5, True, (0, 1), [0.5], (0.5, 1), 0),  # by chance
        (0.3, True, (0, 1), [0.5], (0.5, 1), 0),  # worse
        (0.0, True, (0, 1), [], (0, 1), 0),
        (1.0, True, (0, 1), [1.0], (0, 1), -1),  # chance is perfect: from the bound
        (0.0, False, (0, math.inf), [0.9, 0.92], (0.91, 0), -1),
        (0.9, False, (0, math.inf), [0.8, 0.8], (0.8, 0), 0),
        (0.0, False, (0, math.inf), [], (0.5, -0.5), 4),  # the worse end has no bound
        (4.0, True, (-math.inf, math.inf), [], (2, 6), 4),
    ],
)
def test_the_scale_of_one_value_goes_from_chance_to_the_best(value, higher, bounds, chances, ends, level):
    """The scale goes from the chance level or the worse bound to the better bound, with the color of the value."""
    values = np.full(5, value)
    scale = scale_of_maps([values], higher, bounds, chances)

    assert (scale.first, scale.last) == pytest.approx(ends)
    assert set(scale.levels(values)) == {level % len(_style.SCALE_LIGHT)}


@given(st.lists(st.one_of(st.floats(-1e6, 1e6), st.just(math.nan)), max_size=40))
def test_the_scale_of_numbers_covers_most_of_them(values):
    """At most a tenth of many numbers is beyond the ends, and the ends differ."""
    scale = scale_of_numbers(np.array(values))
    finite = [value for value in values if math.isfinite(value)]

    assert scale.first < scale.last
    assert sum(not scale.first <= value <= scale.last for value in finite) <= 0.1 * len(finite) + 2


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
    for theme, ramp in ((_style.LIGHT, _style.SCALE_LIGHT), (_style.DARK, _style.SCALE_DARK)):
        assert contrast(theme["ink"], theme["panel"]) > 12
        assert contrast(theme["soft"], theme["panel"]) >= 4.5
        assert all(contrast(color, theme["panel"]) >= 1.5 for color in (*_style.CLASS_COLORS, *ramp))
    assert len(_style.SCALE_LIGHT) == len(_style.SCALE_DARK)
    colors = [*_style.LIGHT.values(), *_style.SCALE_LIGHT]
    assert len(set(colors)) == len(colors)
    assert set(colors) <= _style.css_variables().keys()


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
@pytest.mark.parametrize("ramp", [_style.SCALE_LIGHT, _style.SCALE_DARK])
def test_colors_differ_under_color_vision_deficiency(view, ramp):
    """Classes differ, and the scale moves steadily from one end to the other, also for protanopes and deuteranopes."""
    classes, scale = lab_colors(_style.CLASS_COLORS, view), lab_colors(ramp, view)
    distances = np.linalg.norm(classes[:, None] - classes, axis=2)
    from_start = np.linalg.norm(scale - scale[0], axis=1)

    assert distances[np.triu_indices(len(distances), 1)].min() > 13
    assert (np.diff(from_start) > 4).all()
    assert from_start[-1] > 80


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
        scale = CELL_INCHES * 72 / 2
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
    return IndependenceTest("hsic", "HSIC of $x$", statistic, p, null, 0.3, "CKA", (0.0, 0.1))


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
    assert not any(box.overlaps(ax.get_window_extent()) for ax in figure.axes)


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


def mixing_results(measures, columns=2, **options):
    """Return a result on two batches: apart, mixed at random, and both without classes."""
    rng = np.random.default_rng(0)
    kinds, batch = np.repeat(["blood", "skin"], 60), np.tile(["first", "second"], 60)
    mixed = rng.normal(size=(120, columns)) + 6.0 * (kinds == "skin")[:, None]
    apart = mixed + 40.0 * (batch == "second")[:, None] * np.eye(columns)[0]
    data = np.column_stack([apart, rng.normal(size=(120, 3))])
    ev = dreval.Evaluation(data, {"apart": apart, "mixed": mixed}, labels=kinds, batch=batch, random_state=0)
    return ev.run(measures, tests=None, options=options)


def test_mixing_is_colored_from_the_worst_value_to_mixed_at_random():
    """The heat map, maps and bars have one scale: batches that are apart are orange, mixed ones blue."""
    results = mixing_results(["ilisi", "kbet", "clisi"])
    view = read_results(results)
    for column in (column for column in view.columns if column.aims_at_chance):
        scales = {name: scale_of_column(column, name) for name in column.values}
        levels = {name: int(scale.levels(column.values[name])) for name, scale in scales.items()}
        assert (levels["apart"], levels["mixed"]) == (0, 7)
        assert scales["mixed"].meanings == ("worst", "mixed at random")
        for name, value in column.values.items():
            scale = scales[name]
            share = (value - scale.first) / (scale.last - scale.first)
            assert share == pytest.approx(normalized_score(column, value, column.cells[name].chance))

    texts = [text.get_text() for text in results.plot("map", measure="ilisi").findobj(mpl.text.Text)]
    assert any(text.endswith("\nmixed at random") for text in texts)
    assert not any("perfect" in text or "≤" in text for text in texts)
    for measures, ends in ((["ilisi", "kbet"], ("worst", "mixed at random")), (None, ("chance level", "perfect"))):
        texts = [text.get_text() for text in results.plot("heatmap", measure=measures).findobj(mpl.text.Text)]
        assert {*ends} <= {*texts}
        assert ("Mixing of batches: from worst to mixed at random" in " ".join(texts)) == (measures is None)


def test_a_difference_of_mixing_is_a_part_of_its_scale():
    """On the way from 0 to mixed at random a difference of mixing is at most 100 %."""
    results = mixing_results(["ilisi", "kbet", "clisi"])
    columns = {column.measure: column for column in read_results(results).columns}
    chances = [columns["ilisi"].cells[name].chance for name in ("apart", "mixed")]
    assert columns["ilisi"].scale_length(["apart", "mixed"]) == pytest.approx(np.mean(chances))
    assert columns["clisi"].scale_length(["apart"]) == pytest.approx(1 - columns["clisi"].cells["apart"].chance)


def test_no_conclusion_rests_on_cosine_distances_of_a_map():
    """BRAS by cosine distances calls no map best or poor; by Euclidean ones, or in ten columns, it does."""
    cosine = mixing_results(["bras"])
    assert "bras.cosine" in set(cosine.notes["code"])
    (column,) = read_results(cosine).columns
    assert not column.ranks
    assert len(column.values) == 2
    assert not any("atch" in answer for answer in map(str, verdict(read_results(cosine), max_cautions=None)))
    assert set(cosine.table["direction"]) == {"none"}
    with pytest.raises(InputError, match="must have a better direction: got 'bras', which has none here"):
        cosine.compare(measure="bras")
    for results in (mixing_results(["bras"], bras={"embedding_distance": "euclidean"}), mixing_results(["bras"], 10)):
        assert "bras.cosine" not in set(results.notes["code"])
        assert read_results(results).columns[0].ranks
        assert any(answer.question == "Batches" for answer in verdict(read_results(results)))
