"""Figures of a result. Each is a matplotlib Figure of its own: no global state is read or changed."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dreval._check import check_one_of
from dreval.errors import DrevalWarning, InputError
from dreval.report._distances import shepard_figure
from dreval.report._lines import LETTER, draw_curves
from dreval.report._maps import chance_mark, map_values, mapped_column
from dreval.report._names import breadth, short_name, short_names
from dreval.report._numbers import p_words
from dreval.report._panels import (
    Classes,
    class_colours,
    class_handles,
    colour_bar,
    draw_map,
    draw_points,
    map_cells,
    scale_of_maps,
)
from dreval.report._reading import Reading, parameter_words, read_results
from dreval.report._scales import draw_scales, scale_curves
from dreval.report._style import (
    LIGHT,
    drawing,
    embedding_colour,
    grid,
    grid_width,
    math_words,
    one_axes,
    unknown_letters,
)
from dreval.results.table import Results
from dreval.results.test import IndependenceTest

__all__ = ["KINDS", "null_histogram", "plot"]

PANEL = 2.3
MARK = 0.32  # inches that a dot of a legend takes with the gaps beside it


def plot(results: Results, kind: str = "embedding", **options: Any) -> Figure:
    """Draw a result.

    Parameters
    ----------
    results : Results
        What ``Evaluation.run`` gave.
    kind : {"embedding", "map", "curve", "shepard"}
        "embedding": the points of each embedding, coloured by label. "map": the quality of an index where the points
        lie (each point, or cell means of many), on one colour scale from bad (orange) to good (blue) with a mark at
        the value by chance. "curve": an index against the number of neighbors, one line for each embedding, with its
        intervals where there are any and the value by chance; an index that has a value at every K (``r_nx``) with K
        on a log scale, where the area under the line of ``r_nx`` is ``r_nx_auc``, and with the value of a perfect
        copy. "shepard": distances in the embedding against those in the data, their nearest ascending step function,
        and their rank correlation where ``spearman_distance`` was run.
    index : str, optional
        For "map" and "curve": the index; the first that can be drawn by default.
    embedding : str, optional
        For "shepard": the one embedding to draw, short for ``names=[embedding]``.
    n_neighbors : int, optional
        For "map": the number of neighbors; 15, the only, or the middle one by default.
    names : list of str, optional
        The embeddings to draw; all that were computed by default. Colours do not depend on it.

    Returns
    -------
    matplotlib Figure
        Save it with ``figure.savefig(path)``.

    Raises
    ------
    UnknownName
        If there is no such kind, option, index or embedding; the nearest right name is given.
    InputError
        If nothing was computed, an index has no values per point ("map"), was run at one number of neighbors only
        ("curve"), or no index of pairs was run ("shepard").

    Notes
    -----
    Of embeddings with three and more columns the first two are shown, and the title says so; one column is drawn as a
    strip, its height without meaning. O(n) time and memory for each embedding.

    "shepard" draws a table of counts (60 x 60 cells) that the evaluation made of the pairs which its indices had
    measured anyway, all up to 5000 points, else a random sample or those of the anchors. So it needs no data, costs
    O(N) once for N pairs, is saved with the result, and shows the very pairs of the printed indices; with the data
    at hand all pairs would be measured and sorted again for the same picture. Bands of a curve are intervals at each
    K alone, not for the whole curve.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> res = dreval.Evaluation(X, {"pca": "pca"}, n_neighbors=[5, 10], random_state=0).run(ci=None)
    >>> plot(res, "map", index="continuity", n_neighbors=5)
    <Figure size ...>
    """
    check_one_of(kind, KINDS, "kind")
    draw, allowed = KINDS[kind]
    for option in options:
        check_one_of(option, allowed, "options")
    reading = read_results(results)
    if not reading.computed:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in reading.failed.items())
        raise InputError("results", "must hold an embedding that was computed", "none", f"All failed. {reasons}")
    if options.get("embedding") is not None and options.get("names") is not None:
        raise InputError("embedding", "must stand alone", "names as well", "Pass one of the two.")
    one = options.pop("embedding", None)
    argument = "names" if one is None else "embedding"
    names = _names(reading, options.pop("names", one), argument)
    _note_letters(names, class_colours(results.labels) if kind == "embedding" else None)
    with drawing():
        return draw(results, reading, names, **options)


def _note_letters(names: Sequence[str], classes: Classes | None) -> None:
    """Say once which letters of names no font here has."""
    letters = unknown_letters([*names, *(classes.names if classes else ())])
    if letters:
        said = f"no font here has {', '.join(map(repr, letters[:3]))}{' and others' if len(letters) > 3 else ''}"
        cure = "Install a font that has them, such as Noto Sans CJK, or rename."
        warnings.warn(f"{said}, which figures show as boxes. {cure}", DrevalWarning, stacklevel=4)


def _names(reading: Reading, names: Sequence[str] | str | None, argument: str) -> list[str]:
    """The embeddings to draw, in the result's order; what is refused is called as it was passed."""
    wanted = list(reading.computed) if names is None else [names] if isinstance(names, str) else list(names)
    for name in wanted:
        check_one_of(name, reading.computed, argument)
    if not wanted:
        raise InputError("names", "must name an embedding", "an empty list", "Leave it out to draw all.")
    return [name for name in reading.computed if name in wanted]


def _embedding_figure(results: Results, reading: Reading, names: list[str]) -> Figure:
    """Small multiples of the embeddings with one row of class names below."""
    classes = class_colours(results.labels)
    shown = [] if classes is None else list(short_names(classes.names, 18).values())
    columns = _legend_columns(shown, grid_width(len(names), PANEL))
    rows = -(-len(shown) // columns)
    figure, axes = grid(len(names), PANEL, 0.0, 0.1 + 0.2 * rows if rows else 0.0)
    for ax, name in zip(axes, names, strict=True):
        draw_points(ax, results.embeddings[name], classes)
        _panel_title(ax, reading, name, results.embeddings)
    if classes is not None:
        handles = [
            Line2D([], [], linestyle="", marker="o", markersize=5, markeredgewidth=0, color=colour)
            for _, colour in class_handles(classes)
        ]
        figure.legend(
            handles,
            shown,
            loc="lower left",
            bbox_to_anchor=(axes[-1].figure.axes[0].get_position().x0, 0.03 / figure.get_figheight()),
            ncols=columns,
            frameon=False,
            handletextpad=0.1,
            columnspacing=1.2,
            borderpad=0.0,
            borderaxespad=0.0,
        )
    return figure


def _legend_columns(names: Sequence[str], width: float) -> int:
    """How many names of classes stand beside each other in so many inches, beginning at the first panel."""
    widest = MARK + LETTER * max(map(breadth, names), default=0.0)
    return max(1, min(len(names), int(width / widest), 8))


def _panel_title(ax: Axes, reading: Reading, name: str, embeddings: Mapping[str, Any]) -> None:
    """Name of the embedding in its colour, and what is not shown of it."""
    d = embeddings[name].shape[1]
    wide = [n for n in reading.computed if embeddings[n].shape[1] != 2]
    short = short_names(reading.computed, 13 if wide else 24)
    colour = embedding_colour(reading.names.index(name))
    shown = {1: "one column"}.get(d, f"columns 1 and 2 of {d}" if d > 2 else "")
    ax.set_title(short[name], loc="left", fontsize=10, fontweight="bold", color=colour, pad=5)
    if shown:
        ax.set_title(shown, loc="right", fontsize=8, color=LIGHT["soft"], pad=5)


def _map_figure(
    results: Results, reading: Reading, names: list[str], index: str | None = None, n_neighbors: int | None = None
) -> Figure:
    """Small multiples of the quality of an index, with one colour scale below."""
    column = mapped_column(results, reading, index, n_neighbors)
    values = map_values(results, reading.computed, column)
    shown = [map_cells(results.embeddings[name], values[name])[1] for name in reading.computed]
    scale = scale_of_maps(shown, column.higher)
    figure, axes = grid(len(names), PANEL, 0.0, 0.8)
    for ax, name in zip(axes, names, strict=True):
        draw_map(ax, results.embeddings[name], values[name], scale)
        _panel_title(ax, reading, name, results.embeddings)
    bar = colour_bar(figure, axes[0], PANEL)
    worst, best = scale.ends()
    bar.text(0, -0.5, f"{worst} (bad)", ha="left", va="top", fontsize=8, color=LIGHT["soft"], transform=bar.transAxes)
    bar.text(1, -0.5, f"{best} (good)", ha="right", va="top", fontsize=8, color=LIGHT["soft"], transform=bar.transAxes)
    at, chance = chance_mark(column, scale)
    if at is not None:
        bar.plot([at, at], [-0.35, 1.35], color=LIGHT["ink"], linewidth=1.2, clip_on=False, transform=bar.transAxes)
    bar.text(0, -1.9, chance, ha="left", va="top", fontsize=8, color=LIGHT["soft"], transform=bar.transAxes)
    words = f"{column.title}, {parameter_words(column.parameters)}" if column.parameters else column.title
    said = math_words(words, bool(column.symbol))
    bar.text(0, 1.5, said.pop("label"), ha="left", va="bottom", fontsize=8.5, transform=bar.transAxes, **said)
    return figure


def _curve_figure(results: Results, reading: Reading, names: list[str], index: str | None = None) -> Figure:
    """One index against the number of neighbors."""
    places = {name: reading.names.index(name) for name in names}
    families = {family[0].index: family for family in reading.curves}
    whole = scale_curves(results, reading)
    if index in whole or (index is None and whole and not families):
        return draw_scales(whole[index] if index is not None else next(iter(whole.values())), places)
    ran = {column.index for column in reading.columns} | set(whole)
    if index is not None:
        check_one_of(index, ran, "index")
    if not families or (index is not None and index not in families):
        have = f" Those that have: {', '.join(sorted({*families, *whole}))}." if families or whole else ""
        raise InputError(
            "index",
            "must have been run at several numbers of neighbors",
            repr(index) if index is not None else "one number of neighbors for every index",
            f"Pass n_neighbors=[5, 15, 50] to Evaluation.{have}",
        )
    family = families[index] if index is not None else next(iter(families.values()))
    return draw_curves(family, places)


KINDS: dict[str, tuple[Callable[..., Figure], tuple[str, ...]]] = {
    "embedding": (_embedding_figure, ("names",)),
    "map": (_map_figure, ("names", "index", "n_neighbors")),
    "curve": (_curve_figure, ("names", "index")),
    "shepard": (shepard_figure, ("names", "embedding")),
}


def null_histogram(test: IndependenceTest, ax: Axes | None = None) -> Axes:
    """Draw the null distribution of a test as a histogram, and the observed statistic as a line.

    Parameters
    ----------
    test : IndependenceTest
        What a test gave.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default (``ax.figure``).

    Returns
    -------
    matplotlib Axes

    Notes
    -----
    Of a test without resampling the gamma or chi-square law that stands for it is drawn. O(m) time and
    memory for m resamples.

    Examples
    --------
    >>> import numpy as np
    >>> null = np.array([0.1, 0.3, 0.2])
    >>> test = IndependenceTest("hsic", "HSIC", 0.4, 0.25, null, 3, 0.5, "CKA", (0.0, 0.71))
    >>> null_histogram(test).get_xlabel()
    'statistic of 3 permutations'
    """
    with drawing():
        if ax is None:
            _, ax = one_axes(4.6, 2.5, 0.55, 0.3, 0.5, 0.42)
        null = np.asarray(test.null_distribution, dtype=np.float64)
        if len(null):
            ax.hist(null, bins=min(40, max(5, int(len(null) ** 0.5))), color=LIGHT["soft"], alpha=0.55, linewidth=0)
        ax.axvline(test.statistic, color=embedding_colour(1), linewidth=1.6)
        law = () if len(null) else _law(test)
        if len(law):
            ax.fill_between(law[0], law[1], color=LIGHT["soft"], alpha=0.55, linewidth=0)
            ax.set_ylim(0, 1.05 * float(law[1].max()))
        ends = [*(law[0] if len(law) else null), test.statistic]
        low, high = float(min(ends)), float(max(ends))
        pad = 0.04 * (high - low) or abs(high) or 1.0
        ax.set_xlim(low - pad, high + pad)
        right = test.statistic > (low + high) / 2
        ax.annotate(
            f"observed {test.statistic:.4g}, {p_words(test.p_value)}",
            (test.statistic, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(0 if len(null) else 4, 4),
            textcoords="offset points",
            ha="right" if right else "left",
            va="bottom",
            color=embedding_colour(1),
            fontsize=8.5,
        )
        ax.set_ylabel("permutations" if len(null) else "density by chance" if len(law) else "")
        ax.set_xlabel(f"statistic of {len(null):,} permutations" if len(null) else "statistic")
        ax.set_title(short_name(test.title, 60), loc="left", fontsize=9, fontweight="bold", pad=18)
        return ax


def _law(test: IndependenceTest) -> tuple[Any, ...]:
    """The gamma law with the mean and standard deviation that a test gives: values and density; else nothing."""
    from scipy.stats import gamma

    mean, sd = test.extra.get("null_mean", np.nan), test.extra.get("null_sd", np.nan)
    if not (mean > 0 and sd > 0):
        return ()
    law = gamma((mean / sd) ** 2, scale=sd**2 / mean)
    at = np.linspace(law.ppf(1e-3), law.ppf(0.9995), 300)
    top = np.inf if mean > sd else law.pdf(law.ppf(0.1))  # the density has a pole at 0
    return at, np.minimum(law.pdf(at), top)
