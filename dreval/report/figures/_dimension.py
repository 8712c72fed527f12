"""Figures of the number of dimensions of data: the line of TwoNN, local dimensions, and a scree plot."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from dreval._check import FloatArray
from dreval.glossary import format_number
from dreval.records.intrinsic_dimension import IntrinsicDimension
from dreval.records.parallel_analysis import ParallelAnalysis
from dreval.report._style import LIGHT, draw_for_reader, embedding_color, one_axes

WIDTH, HEIGHT = 4.6, 3.0
MOST_POINTS = 4000  # marks of ratios, evenly spaced in their order
MOST_COMPONENTS = 40
BLUE = embedding_color(["one"], "one")


def draw_intrinsic_dimension(record: IntrinsicDimension, ax: Axes | None = None, figsize: Any = None) -> Figure | Axes:
    """Draw the ratios and the fitted line of TwoNN, or the local dimensions of maximum likelihood.

    Parameters
    ----------
    record : IntrinsicDimension
        What ``dreval.intrinsic_dimension`` gave.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    figsize : (float, float), optional
        Width and height of a new figure, in inches.

    Returns
    -------
    matplotlib Figure, or ``ax`` where it is given

    Examples
    --------
    >>> import numpy as np, dreval
    >>> found = dreval.intrinsic_dimension(np.random.default_rng(0).normal(size=(50, 2)), random_state=0)
    >>> draw_intrinsic_dimension(found).axes[0].get_ylabel()
    '−log(1 − rank / n)'
    """

    def draw() -> Figure:
        figure, ax = one_axes(WIDTH, HEIGHT, 0.6, 0.25, 0.5, 0.45)
        interval = ""
        if not math.isnan(record.se):
            low, high = (format_number(end, 2) for end in (record.conf_low, record.conf_high))
            interval = f" ({100 * record.conf_level:g} % interval {low} to {high})"
        words = f"Intrinsic dimension {format_number(record.value, 2)}{interval}"
        ax.set_title(words, loc="left", fontsize=9, color=LIGHT["ink"], pad=8)
        (_draw_ratios if record.method == "twonn" else _draw_local)(ax, record)
        return figure

    return draw_for_reader(draw, ax, figsize)


def _draw_ratios(ax: Axes, record: IntrinsicDimension) -> None:
    """Every ratio against its rank on the scales on which the distribution is a line, used and left out."""
    table = record.points.drop_duplicates("rank").sort_values("rank")
    n = record.n_used
    table = table[table["rank"] < n]  # at the last the scale is infinite
    x, y = np.log(table["ratio"].to_numpy()), -np.log1p(-table["rank"].to_numpy() / n)
    used = table["used"].to_numpy()
    few = np.unique(np.linspace(0, len(x) - 1, min(len(x), MOST_POINTS)).astype(int))
    look: dict[str, Any] = {"linestyle": "", "marker": "o", "markersize": 3, "markeredgewidth": 0}
    for part, color, words in ((used, BLUE, "used"), (~used, LIGHT["soft"], "left out")):
        shown = few[part[few]]
        if len(shown):
            ax.plot(x[shown], y[shown], color=color, label=words, **look)
    end = float(min(x[-1], y[-1] / record.value))
    slopes = [record.conf_low, record.conf_high]
    if not math.isnan(record.se):
        reach = np.array([0.0, end])
        ax.fill_between(reach, slopes[0] * reach, slopes[1] * reach, color=LIGHT["ink"], alpha=0.12, linewidth=0)
    ax.plot([0, end], [0, record.value * end], color=LIGHT["ink"], linewidth=1.4, label="slope: the dimension")
    ax.set_xlim(0, float(x[-1]) * 1.03)
    ax.set_ylim(0, float(y[-1]) * 1.05)
    ax.grid(axis="y", color=LIGHT["rule"], linewidth=0.7)
    ax.set_xlabel("log of the ratio of distances to 2nd and 1st neighbor")
    ax.set_ylabel("\N{MINUS SIGN}log(1 \N{MINUS SIGN} rank / n)")
    ax.legend(loc="upper left", frameon=False, fontsize=8.5, labelcolor=LIGHT["soft"])


def _draw_local(ax: Axes, record: IntrinsicDimension) -> None:
    """A histogram of the local dimensions, with the estimate and its interval."""
    local = record.points["local_dimension"].to_numpy()
    top = float(np.quantile(local[np.isfinite(local)], 0.995))
    inside = local[local <= top]
    ax.hist(inside, bins=min(40, max(8, int(len(inside) ** 0.5))), color=LIGHT["soft"], alpha=0.55, linewidth=0)
    ax.axvline(record.value, color=BLUE, linewidth=1.6)
    if not math.isnan(record.se):
        ax.axvspan(record.conf_low, record.conf_high, color=BLUE, alpha=0.2, linewidth=0)
    beyond = len(local) - len(inside)
    ax.set_xlabel("local dimension of a point" + (f" ({beyond:,} beyond the axis)" if beyond else ""))
    ax.set_ylabel("points")
    ax.yaxis.set_major_locator(MaxNLocator(4, integer=True))


def draw_parallel_analysis(record: ParallelAnalysis, ax: Axes | None = None, figsize: Any = None) -> Figure | Axes:
    """Draw eigenvalues over their numbers, above the range that permutation of columns gives.

    Parameters
    ----------
    record : ParallelAnalysis
        What ``dreval.parallel_analysis`` gave.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    figsize : (float, float), optional
        Width and height of a new figure, in inches.

    Returns
    -------
    matplotlib Figure, or ``ax`` where it is given

    Examples
    --------
    >>> import numpy as np, dreval
    >>> found = dreval.parallel_analysis(np.random.default_rng(0).normal(size=(50, 3)), random_state=0)
    >>> draw_parallel_analysis(found).axes[0].get_xlabel()
    'component'
    """

    def draw() -> Figure:
        figure, ax = one_axes(WIDTH, HEIGHT, 0.6, 0.25, 0.5, 0.65)
        shown = min(len(record.table), max(MOST_COMPONENTS, record.n_components + 5))
        table = record.table.head(shown)
        at, values = table["component"].to_numpy(), table["eigenvalue"].to_numpy()
        size = 5.0 if shown <= 15 else 3.5
        ax.plot(at, values, color=BLUE, linewidth=1.2)
        kept = table["kept"].to_numpy()
        look: dict[str, Any] = {"linestyle": "", "marker": "o", "markersize": size, "markeredgecolor": BLUE}
        if kept.any():
            ax.plot(at[kept], values[kept], color=BLUE, label="kept", **look)
        if not kept.all():
            ax.plot(at[~kept], values[~kept], markerfacecolor=LIGHT["paper"], label="not kept", **look)
        _draw_null(ax, at, record.null_eigenvalues[:, :shown], record.alpha)
        ax.set_xlim(0.5, shown + 0.5)
        ax.set_ylim(0, 1.06 * max(float(values.max()), float(record.null_eigenvalues.max())))
        ax.xaxis.set_major_locator(MaxNLocator(8, integer=True))
        ax.grid(axis="y", color=LIGHT["rule"], linewidth=0.7)
        rest = len(record.table) - shown
        ax.set_xlabel("component" + (f" (the first {shown} of {len(record.table):,})" if rest else ""))
        ax.set_ylabel("eigenvalue")
        words = f"{record.n_components} of {len(record.table):,} components are kept"
        box = ax.get_window_extent()
        over = box.width >= 3.5 * ax.figure.dpi
        ax.set_title(words, loc="left", fontsize=9, color=LIGHT["ink"], pad=21 if over else 8)
        look = {"handlelength": 1.2, "handletextpad": 0.5, "columnspacing": 1.2, "labelspacing": 0.3, "borderpad": 0.0}
        look |= {"borderaxespad": 0.3, "frameon": False, "fontsize": 8.5, "labelcolor": LIGHT["soft"]}
        if over:
            ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, **look)
        else:  # above the data, within narrow Axes
            ax.set_ylim(0, ax.get_ylim()[1] / (1 - min(0.6, 0.55 * ax.figure.dpi / box.height)))
            handles, labels = ax.get_legend_handles_labels()
            ax.legend(handles, [label.partition(",")[0] for label in labels], loc="upper right", **look)
        return figure

    return draw_for_reader(draw, ax, figsize)


def _draw_null(ax: Axes, at: FloatArray, null: FloatArray, alpha: float) -> None:
    """The mean of the eigenvalues under permutation, and the range up to the quantile that decides."""
    words = f"permuted columns, mean to {100 * (1 - alpha):g} %"
    mean, high = null.mean(axis=0), np.quantile(null, 1 - alpha, axis=0)
    ax.fill_between(at, mean, high, color=LIGHT["soft"], alpha=0.35, linewidth=0, label=words, zorder=1)
    ax.plot(at, mean, color=LIGHT["soft"], linewidth=1.0, zorder=1.5)
