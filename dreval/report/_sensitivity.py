"""The picture of how a test depends on one of its settings."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
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
            _, ax = one_axes(4.6, 2.7, 0.78, 0.3, 0.5, 0.62)
        at, table = curve.table[curve.setting], curve.table
        band = ax.fill_between(at, table["null_mean"], table["null_95"], color=LIGHT["soft"], alpha=0.3, linewidth=0)
        (mean,) = ax.plot(at, table["null_mean"], color=LIGHT["soft"], linewidth=1.0)
        (seen,) = ax.plot(at, table["statistic"], color=embedding_colour(1), linewidth=1.6, marker="o", markersize=3)
        usual = ax.axvline(curve.usual, color=LIGHT["soft"], linewidth=0.8, linestyle=":")
        ax.set_xscale("log")
        _mark(ax, at.to_numpy())
        ax.set_xlabel("kappa" if curve.setting == "kappa" else "bandwidth, in multiples of the median rule's")
        ax.set_ylabel("statistic")
        ax.legend(
            [seen, (band, mean), usual],
            ["observed", "permuted: mean to 95 %", "default"],
            loc="lower left",
            bbox_to_anchor=(0.0, 1.0),
            ncols=3,
            frameon=False,
            fontsize=8,
            borderpad=0.0,
            borderaxespad=0.3,
            handlelength=1.4,
            columnspacing=1.2,
        )
        ax.set_title(f"{curve.test}: sensitivity to {curve.setting}", loc="left", fontsize=9, fontweight="bold", pad=20)
        return ax


def _mark(ax: Axes, at: npt.NDArray[np.float64]) -> None:
    """Plain numbers at round places of a log axis: powers of two over a short range, else of ten."""
    low, high = float(at.min()), float(at.max())
    base = 2.0 if high / low <= 2**8 else 10.0
    first, last = math.floor(math.log(low, base) + 1e-9), math.ceil(math.log(high, base) - 1e-9)
    powers = [k for k in range(first, last + 1) if low * 0.999 <= base**k <= high * 1.001] or [first, last]
    ax.set_xticks([base**k for k in powers], [_written(base, k) for k in powers])
    ax.set_xticks([], minor=True)


def _written(base: float, power: int) -> str:
    """A power as a number, a power of two below 1 as a fraction."""
    return f"1/{base**-power:g}" if base == 2 and power < 0 else f"{base**power:g}"
