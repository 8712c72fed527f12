"""Figures in the reader's hands: drawn into their Axes, at their size, in their fonts and resolution."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import dreval
from dreval.errors import InputError
from dreval.report.plot import kinds

X = np.random.default_rng(0).normal(size=(40, 4)) * [4, 2, 1, 1]
SOURCES = {"front": X[:, :2], "side": X[:, 1:3]}
ONE = {"scatter": {"embedding": "front"}, "map": {"embedding": "front"}, "curve": {}, "shepard": {"embedding": "side"}}
ONE |= {"heatmap": {}, "forest": {"measure": "r_nx_auc"}, "null": {"embedding": "front"}}
ONE |= {
    "coranking": {"embedding": "front"},
    "centroid_triplets": {"embedding": "front"},
    "ellipses": {"embedding": "front"},
    "kappa_curve": {"embedding": "front", "kappas": [0.02], "n_resamples": 9},
}


@pytest.fixture(scope="module")
def results() -> dreval.Results:
    ev = dreval.Evaluation(X, SOURCES, labels=np.repeat(["a", "b", "c", "d"], 10), n_neighbors=[3, 6], random_state=0)
    return ev.run(["continuity", "r_nx_auc", "spearman_distance"], "hsic", n_resamples=19)


@pytest.fixture(scope="module")
def across() -> dreval.Comparison:
    rng = np.random.default_rng(1)
    cells = [(f"d{i}", name, value) for i in range(6) for name, value in zip("abc", rng.normal(size=3), strict=True)]
    return dreval.compare(pd.DataFrame(cells, columns=["dataset", "embedding", "value"]), direction="higher")


@pytest.fixture
def ax() -> Iterator[mpl.axes.Axes]:
    figure, axes = plt.subplots(1, 2, figsize=(9, 4))
    yield axes[1]
    plt.close(figure)


def test_every_kind_of_one_panel_is_drawn_into_axes(results: dreval.Results, across: dreval.Comparison) -> None:
    """The Axes come back with something in them, no panel joins the figure, and the other one stays empty."""
    assert {*ONE, "difference_map", "critical_difference", "wins"} == set(kinds())
    several = dict.fromkeys(("critical_difference", "wins"), across.plot)
    for kind in [*ONE, *several]:
        figure, axes = plt.subplots(1, 2, figsize=(9, 4))
        draw = several.get(kind, results.plot)
        made = draw(kind, ax=axes[1], **ONE.get(kind, {}))

        assert made is axes[1], kind
        assert axes[1].has_data() or axes[1].patches or axes[1].texts, kind
        assert not axes[0].has_data(), kind
        assert figure.axes == list(axes), kind
        figure.canvas.draw()
        plt.close(figure)


def test_tests_and_sensitivities_are_drawn_into_axes(ax: mpl.axes.Axes) -> None:
    """The records with a figure of their own take and give Axes too."""
    found = dreval.hsic_test(X[:, 0], X[:, 1], n_resamples=19, random_state=0)
    curve = dreval.kappa_curve(X[:, 0], X[:, 1], kappas=[0.02, 0.2], n_resamples=9, random_state=0)

    assert found.plot(ax=ax) is ax
    assert curve.plot(ax=ax) is ax
    assert np.allclose(found.plot(figsize=(3, 2)).get_size_inches(), (3, 2))


def test_numbers_of_dimensions_are_drawn_into_axes(ax: mpl.axes.Axes) -> None:
    """The line of TwoNN, local dimensions, and the scree plot."""
    found = [dreval.intrinsic_dimension(X), dreval.intrinsic_dimension(X, method="mle", n_neighbors=5)]
    for one in (*found, dreval.parallel_analysis(X, n_resamples=19)):
        ax.clear()
        assert one.plot(ax=ax) is ax
        assert ax.has_data()
        assert np.allclose(one.plot(figsize=(3, 2)).get_size_inches(), (3, 2))


def test_sweeps_are_drawn_into_axes(ax: mpl.axes.Axes) -> None:
    """A line for one option, cells for two, a list for settings of several kinds."""
    line, cells = {"n_neighbors": [12, 19]}, {"n_neighbors": [12, 19], "n_components": [1, 2]}
    for grid in (line, cells, [line, {"n_neighbors": [15], "disconnected": ["connect"]}]):
        found = dreval.sweep(X, "isomap", grid, n_replicates=3, random_state=0)
        ax.clear()
        assert found.plot(ax=ax) is ax
        assert ax.has_data() or ax.texts
        assert np.allclose(found.plot(figsize=(4, 3)).get_size_inches(), (4, 3))


def test_figures_of_several_panels_refuse_axes(results: dreval.Results, ax: mpl.axes.Axes) -> None:
    """The error says how one panel is drawn; what is not Axes, and a size beside them, are refused."""
    for kind in ("scatter", "map", "shepard", "difference_map", "null", "coranking"):
        with pytest.raises(InputError, match=r"`ax` must be left out where a figure has several panels.*embedding="):
            results.plot(kind, ax=ax)
    with pytest.raises(InputError, match=r"`ax` must be matplotlib Axes.*plt\.subplots"):
        results.plot(ax=plt)
    with pytest.raises(InputError, match="`figsize` must be left out with ax"):
        results.plot("heatmap", ax=ax, figsize=(3, 3))
    with pytest.raises(InputError, match="`figsize` must be a finite number"):
        results.plot("heatmap", figsize=(0, 3))
    assert isinstance(results.plot("scatter"), mpl.figure.Figure)


def test_a_figure_has_the_size_that_is_passed(results: dreval.Results) -> None:
    """``figsize`` is in inches."""
    assert results.plot("scatter", figsize=(7, 3.5)).get_size_inches().tolist() == [7, 3.5]


def test_fonts_and_resolution_are_the_readers(results: dreval.Results) -> None:
    """A changed family, size and dpi is used, all texts grow in one ratio, and nothing else of rcParams counts."""
    plain = results.plot("scatter")
    with mpl.rc_context({"font.family": ["DejaVu Serif"], "font.size": 15.0, "figure.dpi": 90, "axes.grid": True}):
        own = results.plot("scatter")
        drawn = results.plot("curve")

    assert (plain.dpi, own.dpi) == (150, 90)
    sizes = [[text.get_fontsize() for text in made.findobj(mpl.text.Text) if text.get_text()] for made in (plain, own)]
    assert np.allclose(np.array(sizes[1]), 1.5 * np.array(sizes[0]))
    assert own.axes[0].title.get_fontname() == "DejaVu Serif"
    assert plain.axes[0].title.get_fontname() == "DejaVu Sans"
    assert not any(line.get_visible() for line in drawn.axes[0].get_xgridlines())
    ticks = [label.get_fontsize() for label in drawn.axes[0].get_xticklabels()]
    usual = [label.get_fontsize() for label in results.plot("curve").axes[0].get_xticklabels()]
    assert np.allclose(ticks, 1.5 * np.array(usual))
