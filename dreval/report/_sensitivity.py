"""The picture of how a test depends on one of its settings."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from dreval.records.sweep import Sensitivity
from dreval.report._heads import SOFT
from dreval.report._lines import LETTER, spread_labels
from dreval.report._style import LIGHT, drawing, embedding_color, one_axes

__all__ = ["draw_sensitivity", "mark_powers", "sensitivity_curve"]

WIDTH, HEIGHT, LINE = 4.6, 2.5, 0.16


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
        words = ("observed", "permuted, 95 %", "permuted, mean")
        if ax is None:
            right = 0.2 + LETTER * max(map(len, words))
            _, ax = one_axes(WIDTH + right, HEIGHT, 0.78, right, 0.5, 0.42)
        draw_sensitivity(ax, curve, embedding_color(1))
        mark_powers(ax, curve.table[curve.setting].to_numpy())
        ax.set_xlabel("kappa" if curve.setting == "kappa" else "bandwidth, in multiples of the median rule's")
        ax.set_ylabel("statistic")
        last = curve.table.iloc[-1]
        _label(ax, [float(last[key]) for key in ("statistic", "null_95", "null_mean")], words)
        ax.set_title(f"{curve.test}: sensitivity to {curve.setting}", loc="left", fontsize=9, fontweight="bold", pad=16)
        look = {"ha": "center", "va": "bottom", **SOFT}
        ax.annotate(
            "default",
            (curve.usual, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(0, 2),
            textcoords="offset points",
            **look,  # type: ignore[arg-type]
        )
        return ax


def draw_sensitivity(ax: Axes, curve: Sensitivity, color: str) -> None:
    """The statistic as a line with marks, its mean and 95 % under permutation in gray, and the usual setting."""
    at, table = curve.table[curve.setting], curve.table
    ax.fill_between(at, table["null_mean"], table["null_95"], color=LIGHT["soft"], alpha=0.3, linewidth=0)
    ax.plot(at, table["null_mean"], color=LIGHT["soft"], linewidth=1.0)
    ax.plot(at, table["statistic"], color=color, linewidth=1.6, marker="o", markersize=3)
    ax.axvline(curve.usual, color=LIGHT["soft"], linewidth=0.8, linestyle=":")
    ax.set_xscale("log")


def _label(ax: Axes, ends: list[float], words: tuple[str, ...]) -> None:
    """The names of the lines behind their ends, apart from each other."""
    height = ax.get_position().height * float(ax.figure.get_figheight())  # type: ignore[union-attr]
    low, high = ax.get_ylim()
    placed = spread_labels([(end - low) / (high - low) * height for end in ends], LINE, 0.0, height)
    for text, place, color in zip(words, placed, (embedding_color(1), LIGHT["soft"], LIGHT["soft"]), strict=True):
        ax.annotate(
            text,
            (1.0, place / height),
            xycoords="axes fraction",
            xytext=(6, 0),
            textcoords="offset points",
            va="center_baseline",
            fontsize=8.5,
            color=color,
        )


def mark_powers(ax: Axes, at: npt.NDArray[np.float64]) -> None:
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
