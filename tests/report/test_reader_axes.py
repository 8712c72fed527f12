"""Figures on the Axes of the user, and in the user's size, fonts and resolution."""

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
SINGLE_PANEL_OPTIONS = {
    "scatter": {"embedding": "front"},
    "map": {"embedding": "front"},
    "curve": {"embedding": "front"},
    "shepard": {"embedding": "side"},
}
SINGLE_PANEL_OPTIONS |= {"heatmap": {}, "forest": {"measure": "r_nx_auc"}, "null": {"embedding": "front"}}
SINGLE_PANEL_OPTIONS |= {
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


@pytest.mark.slow
def test_every_kind_of_one_panel_is_drawn_into_axes(results: dreval.Results, across: dreval.Comparison) -> None:
    """The figure is drawn on the Axes and returns them; no panel is added, and the other Axes stay empty."""
    assert {*SINGLE_PANEL_OPTIONS, "difference_map", "critical_difference", "wins"} == set(kinds())
    plot_functions = dict.fromkeys(("critical_difference", "wins"), across.plot)
    for kind in [*SINGLE_PANEL_OPTIONS, *plot_functions]:
        figure, axes = plt.subplots(1, 2, figsize=(9, 4))
        draw = plot_functions.get(kind, results.plot)
        returned_axes = draw(kind, ax=axes[1], **SINGLE_PANEL_OPTIONS.get(kind, {}))

        assert returned_axes is axes[1], kind
        assert axes[1].has_data() or axes[1].patches or axes[1].texts, kind
        assert not axes[0].has_data(), kind
        assert figure.axes == list(axes), kind
        figure.canvas.draw()
        plt.close(figure)


def test_tests_and_sensitivities_are_drawn_into_axes(ax: mpl.axes.Axes) -> None:
    """The records that have a figure accept and return Axes."""
    test = dreval.hsic_test(X[:, 0], X[:, 1], n_resamples=19, random_state=0)
    curve = dreval.kappa_curve(X[:, 0], X[:, 1], kappas=[0.02, 0.2], n_resamples=9, random_state=0)

    assert test.plot(ax=ax) is ax
    assert curve.plot(ax=ax) is ax
    assert np.allclose(test.plot(figsize=(3, 2)).get_size_inches(), (3, 2))


def test_numbers_of_dimensions_are_drawn_into_axes(ax: mpl.axes.Axes) -> None:
    """Axes show the line of TwoNN, local dimensions, and the scree plot."""
    dimensions = [dreval.intrinsic_dimension(X), dreval.intrinsic_dimension(X, method="mle", n_neighbors=5)]
    for record in (*dimensions, dreval.parallel_analysis(X, n_resamples=19)):
        ax.clear()
        assert record.plot(ax=ax) is ax
        assert ax.has_data()
        assert np.allclose(record.plot(figsize=(3, 2)).get_size_inches(), (3, 2))


def test_sweeps_are_drawn_into_axes(ax: mpl.axes.Axes) -> None:
    """One option is a line, two are cells, and settings of several kinds a list."""
    line, cells = {"n_neighbors": [12, 19]}, {"n_neighbors": [12, 19], "n_components": [1, 2]}
    for grid in (line, cells, [line, {"n_neighbors": [15], "disconnected": ["connect"]}]):
        sweep = dreval.sweep(X, "isomap", grid, n_replicates=3, random_state=0)
        ax.clear()
        assert sweep.plot(ax=ax) is ax
        assert ax.has_data() or ax.texts
        assert np.allclose(sweep.plot(figsize=(4, 3)).get_size_inches(), (4, 3))


def test_figures_of_several_panels_raise_an_error_for_axes(results: dreval.Results, ax: mpl.axes.Axes) -> None:
    """The error names the option for one panel; other objects than Axes, and a size with Axes, raise an error."""
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


def test_a_figure_has_the_requested_size(results: dreval.Results) -> None:
    """``figsize`` is in inches."""
    assert results.plot("scatter", figsize=(7, 3.5)).get_size_inches().tolist() == [7, 3.5]


def test_fonts_and_resolution_are_those_of_rcparams(results: dreval.Results) -> None:
    """Family, size and dpi of rcParams are used, all texts grow in one ratio, and no other setting has an effect."""
    default_figure = results.plot("scatter")
    with mpl.rc_context({"font.family": ["DejaVu Serif"], "font.size": 15.0, "figure.dpi": 90, "axes.grid": True}):
        styled = results.plot("scatter")
        curve = results.plot("curve")

    assert (default_figure.dpi, styled.dpi) == (150, 90)
    sizes = [
        [text.get_fontsize() for text in figure.findobj(mpl.text.Text) if text.get_text()]
        for figure in (default_figure, styled)
    ]
    assert np.allclose(np.array(sizes[1]), 1.5 * np.array(sizes[0]))
    assert styled.axes[0].title.get_fontname() == "DejaVu Serif"
    assert default_figure.axes[0].title.get_fontname() == "DejaVu Sans"
    assert not any(line.get_visible() for line in curve.axes[0].get_xgridlines())
    styled_sizes = [label.get_fontsize() for label in curve.axes[0].get_xticklabels()]
    default_sizes = [label.get_fontsize() for label in results.plot("curve").axes[0].get_xticklabels()]
    assert np.allclose(styled_sizes, 1.5 * np.array(default_sizes))
