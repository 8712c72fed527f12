"""The picture of how a test depends on one of its settings."""

from __future__ import annotations

from matplotlib.axes import Axes

from dreval.report._style import LIGHT, drawing, embedding_colour, one_axes
from dreval.results.sensitivity import Sensitivity

__all__ = ["sensitivity_curve"]


def sensitivity_curve(curve: Sensitivity, ax: Axes | None = None) -> Axes:
    """Draw the statistic of a test over a setting on a log scale, above what permutation gives.

    Parameters
    ----------
    curve : Sensitivity
        What ``kappa_curve`` or ``bandwidth_curve`` gave.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default (``ax.figure``).

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np, dreval
    >>> x = np.linspace(-1, 1, 40)
    >>> curve = dreval.kappa_curve(x, x**2, kappas=[0.01, 0.1], n_resamples=19, random_state=0)
    >>> sensitivity_curve(curve).get_xlabel()
    'kappa'
    """
    with drawing():
        if ax is None:
            _, ax = one_axes(4.6, 2.5, 0.55, 0.3, 0.5, 0.42)
        at, table = curve.table[curve.setting], curve.table
        ax.fill_between(at, table["null_mean"], table["null_95"], color=LIGHT["soft"], alpha=0.3, linewidth=0)
        ax.plot(at, table["null_mean"], color=LIGHT["soft"], linewidth=1.0)
        ax.plot(at, table["statistic"], color=embedding_colour(1), linewidth=1.6, marker="o", markersize=3)
        ax.axvline(curve.usual, color=LIGHT["soft"], linewidth=0.8, linestyle=":")
        ax.set_xscale("log")
        ax.set_xlabel(curve.setting)
        ax.set_ylabel("statistic")
        last = table.iloc[-1]
        for value, words, colour in (
            (last["statistic"], "observed", embedding_colour(1)),
            (last["null_mean"], "permuted: mean to 95 %", LIGHT["soft"]),
        ):
            ax.annotate(
                words,
                (last[curve.setting], value),
                xytext=(0, 5),
                textcoords="offset points",
                ha="right",
                va="bottom",
                fontsize=8,
                color=colour,
            )
        ax.set_title(f"{curve.test}: sensitivity to {curve.setting}", loc="left", fontsize=9, fontweight="bold")
        return ax
