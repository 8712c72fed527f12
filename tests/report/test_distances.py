"""Shepard diagrams as figures: their cells and steps equal those of the table, and the text names the pairs."""

from __future__ import annotations

import re
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from report_cases import make_results, measure_row, simulated_results, simulated_shepard

import dreval
from dreval.errors import InputError, UnknownName
from dreval.registry import MEASURES
from dreval.report import _style
from dreval.report.figures._pairs import shepard_text
from dreval.report.figures.page import DISTANCE_BOX, distances_svg
from dreval.report.write import write_report

NAMES = ("tsne", "umap", "isomap", "pca")


def texts(figure):
    """Return every visible text of a figure."""
    return [t.get_text() for t in figure.findobj(mpl.text.Text) if t.get_text() and t.get_visible()]


def test_cells_and_steps_are_those_of_the_table():
    """Empty cells are transparent, the others darker in the order of their counts; the line follows the steps."""
    results = simulated_results(NAMES)
    for ax, (name, table) in zip(results.plot("shepard").axes, results._shepard.items(), strict=True):
        image, counts = ax.images[0], table.counts.T
        opacity = image.get_array()[..., 3]
        edges, steps = ax.patches[0].get_data().edges, ax.patches[0].get_data().values

        assert image.origin == "lower"
        assert image.get_extent() == [0, table.x_edges[-1], 0, table.y_edges[-1]]
        assert (opacity[counts == 0] == 0).all()
        assert opacity[counts > 0].min() >= 0.1
        assert (np.diff(opacity[np.unravel_index(np.argsort(counts, axis=None), counts.shape)]) >= 0).all()
        np.testing.assert_array_equal(edges, table.step_edges)
        np.testing.assert_array_equal(steps, table.steps)
        assert ax.get_title(loc="left") == name
        assert ax.patches[0].get_edgecolor()[:3] == mpl.colors.to_rgb(_style.LIGHT["ink"])


def test_both_axes_share_one_zero():
    """Both axes begin at one common zero."""
    figure = simulated_results(NAMES).plot("shepard")
    figure.canvas.draw()
    for ax in figure.axes:
        ticks = [label.get_text() for axis in (ax.xaxis, ax.yaxis) for label in axis.get_ticklabels()]
        assert len(ticks) >= 4
        assert all(float(tick.replace(",", "")) > 0 for tick in ticks)
        assert [text.get_text() for text in ax.texts] == ["0"]


def test_the_rank_correlation_is_that_of_the_table():
    """It is below the name if it was computed, else absent."""
    rows = [measure_row("a", "spearman_distance", "", 0.8125, 0.0)]
    results = make_results(rows, {"a": np.eye(9)[:, :2]}, shepard={"a": simulated_shepard(0)})
    ax = results.plot("shepard", embedding="a").axes[0]

    aside = " ".join(text.get_text() for text in reversed(ax.texts) if text.get_text() != "0")
    assert aside == f"{MEASURES.card('spearman_distance').title} 0.813"
    assert [text.get_text() for text in simulated_results(("a",)).plot("shepard").axes[0].texts] == ["0"]


def test_a_diagram_is_drawn_for_the_requested_embeddings():
    """``embedding`` selects one name; both options at once, and an unknown name, raise an error."""
    results = simulated_results(NAMES)
    assert len(results.plot("shepard", embedding="umap").axes) == 1
    assert len(results.plot("shepard", names=["umap", "pca"]).axes) == 2
    with pytest.raises(UnknownName, match="Did you mean 'umap'"):
        results.plot("shepard", embedding="umpa")
    with pytest.raises(InputError, match="must stand alone"):
        results.plot("shepard", embedding="umap", names=["pca"])


def test_without_pairs_the_error_has_a_hint():
    """If no measure of pairs was run, the error names one."""
    with pytest.raises(InputError, match="Run a measure of pairs, such as spearman_distance"):
        make_results([], {"a": np.eye(5)[:, :2]}).plot("shepard")


def test_the_text_names_the_pairs():
    """The pairs are all pairs, a random part, or those of anchors."""
    table = simulated_shepard(0)
    assert f"all {table.total:,} pairs" in shepard_text(table)
    assert f"{table.pairs:,} of 9,999 pairs" in shepard_text(replace(table, total=9999))
    assert "pairs seen from the anchors" in shepard_text(replace(table, anchored=True))


@pytest.mark.parametrize("count", [1, 2, 5])
def test_all_text_is_inside_the_figure(count):
    """All text is inside the figure, for any number of panels."""
    figure = simulated_results(tuple(f"embedding {i}" for i in range(count))).plot("shepard")
    figure.canvas.draw()
    for text in figure.findobj(mpl.text.Text):
        if text.get_text() and text.get_visible():
            box = text.get_window_extent()
            assert box.x0 >= -1, text
            assert box.x1 <= figure.bbox.x1 + 1, text
            assert box.y0 >= -1, text


def test_a_perfect_copy_is_a_straight_line():
    """For a copy of the data every pair is in a cell of the diagonal, and the steps ascend along it."""
    X = np.random.default_rng(0).normal(size=(40, 2))
    results = dreval.Evaluation(X, {"copy": 3 * X}, n_neighbors=3, random_state=0).run("spearman_distance", ci=None)
    table = results._shepard["copy"]

    assert np.abs(np.subtract(*np.nonzero(table.counts))).max() <= 1
    assert (table.steps >= 3 * table.step_edges[:-1] * (1 - 1e-9)).all()
    assert (table.steps <= 3 * table.step_edges[1:] * (1 + 1e-9)).all()


def test_a_page_has_one_diagram_per_embedding(tmp_path):
    """Each embedding has one folded diagram, a failed one has none; without pairs there is no section."""
    page = write_report(simulated_results(NAMES, failed={"x": "why"}), tmp_path / "a.html").read_text("utf-8")
    page_without_pairs = write_report(make_results([], {"a": np.eye(5)[:, :2]}), tmp_path / "b.html").read_text("utf-8")

    assert page.count('distances on the map against those in the data"') == 4
    assert page.count(">distance on the map</text>") == page.count(">distance in the data</text>") == 4
    assert "How are distances kept?" in page
    assert "How are distances kept?" not in page_without_pairs


@pytest.mark.parametrize("seed", range(4))
def test_a_diagram_on_a_page_shades_the_filled_cells(seed):
    """The area of each shade is that of the cells with its counts, and the steps are in their order."""
    table = simulated_shepard(seed)
    drawing = distances_svg(table, "a")
    left, top, right, bottom = DISTANCE_BOX
    scale = re.search(rf'transform="translate\({left} {bottom}\) scale\(([\d.]+) -([\d.]+)\)"', drawing)
    assert scale is not None
    runs = re.findall(r"M(\d+) (\d+)v(\d+)h1v-\3z", drawing)
    filled = {(int(x), y) for x, first, length, *_ in runs for y in range(int(first), int(first) + int(length))}

    assert filled == {*zip(*np.nonzero(table.counts > 0), strict=True)}
    assert float(scale[1]) * table.counts.shape[0] == pytest.approx(right - left, abs=0.01)
    assert float(scale[2]) * table.counts.shape[1] == pytest.approx(bottom - top, abs=0.01)
    assert drawing.count('class="own"') == 1
    assert drawing.partition('class="own"')[2].partition("/>")[0].count("H") == len(table.steps)


def test_axes_are_labeled():
    """Both axes of a diagram have labels."""
    (ax,) = simulated_results(("a",)).plot("shepard").axes

    assert (ax.get_xlabel(), ax.get_ylabel()) == ("distance in the data", "distance in the embedding")
