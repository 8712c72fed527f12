"""The figure of a perplexity curve."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from dreval.records.perplexity_curve import PerplexityCurve
from dreval.report._style import LIGHT, draw_for_reader, one_axes

WIDTH, HEIGHT = 4.6, 3.0


def draw_perplexity_curve(record: PerplexityCurve, ax: Axes | None = None, figsize: Any = None) -> Figure | Axes:
    """Draw the largest 5 % of the scores and their median over the perplexity, both axes on a log scale.

    Parameters
    ----------
    record : PerplexityCurve
        What ``dreval.perplexity_curve`` gave.
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
    >>> X = np.random.default_rng(0).normal(size=(90, 4))
    >>> curve = dreval.perplexity_curve(X, [15, 25], n_seeds=3, random_state=0)
    >>> draw_perplexity_curve(curve).axes[0].get_xlabel()
    'perplexity'
    """

    def draw() -> Figure:
        figure, ax = one_axes(WIDTH, HEIGHT, 0.75, 0.25, 0.5, 0.6)
        for score, color, filled in (("top 5 %", LIGHT["accent"], True), ("median", LIGHT["soft"], False)):
            rows = record.table[record.table["score"] == score]
            at, value = rows["perplexity"].to_numpy(), rows["value"].to_numpy()
            ends = np.nan_to_num(np.abs(rows[["conf_low", "conf_high"]].to_numpy().T - value))
            look: dict[str, Any] = {"marker": "o", "markersize": 5, "capsize": 3, "elinewidth": 1.4, "linewidth": 1.0}
            face = color if filled else LIGHT["paper"]
            ax.errorbar(at, value, yerr=ends, color=color, markerfacecolor=face, label=score, **look)
        ax.set_xscale("log")
        ax.set_yscale("log")
        every = sorted(set(record.table["perplexity"]))
        ax.set_xticks(every, [f"{value:.3g}" for value in every])
        beside = (every[-1] / every[0]) ** 0.1 if len(every) > 1 else 1.5
        ax.set_xlim(every[0] / beside, every[-1] * beside)
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_minor_formatter(NullFormatter())
        low, high = ax.get_ylim()
        steps = (1.0, 2.0, 5.0) if high < 100.0 * low else (1.0,)  # a decade alone would have one number or none
        ax.yaxis.set_major_locator(LogLocator(subs=steps))
        ax.yaxis.set_major_formatter(
            FuncFormatter(lambda value, _: f"{value:,.10g}" if value < 1e6 else f"{value:.0e}")
        )
        ax.yaxis.set_minor_formatter(NullFormatter())
        for perplexity in sorted(set(every) - set(record.table.dropna(subset="value")["perplexity"])):
            look = {"ha": "center", "va": "bottom", "fontsize": 8.5, "color": LIGHT["soft"], "rotation": 90}
            ax.text(perplexity, 0.03, "no map has a score", transform=ax.get_xaxis_transform(), **look)
        ax.grid(axis="y", color=LIGHT["rule"], linewidth=0.7)
        ax.set_xlabel("perplexity")
        ax.set_ylabel("singularity score / n")
        seeds = record.values["seed"].nunique()
        words = f"Singularity of t-SNE maps\nmeans of {seeds} seeds, {100 * record.conf_level:g} % intervals"
        ax.set_title(words, loc="left", fontsize=9, color=LIGHT["ink"], pad=8)
        ax.legend(frameon=False, fontsize=8.5, labelcolor=LIGHT["soft"])
        return figure

    return draw_for_reader(draw, ax, figsize)
