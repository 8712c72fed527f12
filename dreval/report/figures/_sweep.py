"""The figure of a sweep: values of settings with their intervals, and which are not distinguishable from the best."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from dreval.records.sweep import Sweep
from dreval.registry import MEASURES
from dreval.report._numbers import decimals_for, fixed
from dreval.report._style import LIGHT, draw_for_reader, one_axes
from dreval.report.contents.sweep import measure_words, setting_words, value_words
from dreval.report.figures._lines import LETTER

HEIGHT, WIDTH = 2.9, 4.8
STEP, LEAST = 0.62, 3.2  # inches of a setting of one option, and of all of them at least
CELL, TALL = 0.78, 0.42  # of a cell of two options
LINE = 0.26  # of a setting of several options
SHADE = 0.42  # opacity of the best cell
KINDS = ("best set", "worse", "not judged")


def draw_sweep(found: Sweep, measure: str | None = None, ax: Axes | None = None, figsize: Any = None) -> Figure | Axes:
    """Draw the values of the settings by a measure: a line for one option, cells for two, a list for more.

    Parameters
    ----------
    found : Sweep
        What ``dreval.sweep`` gave.
    measure : str, optional
        One of its measures; the first by default.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    figsize : (float, float), optional
        Width and height of a new figure, in inches.

    Returns
    -------
    matplotlib Figure, or ``ax`` where it is given

    Examples
    --------
    >>> import dreval
    >>> roll = dreval.simulate("swiss_roll", 120, random_state=0)
    >>> found = dreval.sweep(roll.data, "isomap", {"n_neighbors": [8, 20, 40]}, random_state=0)
    >>> draw_sweep(found).axes[0].get_xlabel()
    'n_neighbors'
    """
    rows = found.of(measure)
    complete = all(set(one) == set(found.options) for one in found.settings)
    draw = _cells if len(found.options) == 2 and complete else _line if len(found.options) == 1 else _list
    return draw_for_reader(lambda: draw(found, rows), ax, figsize)


def _kinds(rows: Any) -> list[str]:
    """Of each setting whether it is in the best set, worse, or not judged."""
    inside = rows["in_best_set"]
    return [
        KINDS[2] if unknown else KINDS[not kept]
        for kept, unknown in zip(inside.fillna(False), inside.isna(), strict=True)
    ]


def _order(values: list[Any]) -> list[Any]:
    """The different values of an option: numbers by size, others in the order of the grid."""
    found = list(dict.fromkeys(values))
    numbers = all(isinstance(one, int | float) and not isinstance(one, bool) for one in found)
    return sorted(found) if numbers else found


def _marks(ax: Axes, at: list[int], rows: Any, kinds: list[str], lying: bool) -> None:
    """Means with their intervals: green in the best set, hollow where worse, gray where not judged."""
    values = rows["mean"].to_numpy(dtype=np.float64)
    errors = np.abs(rows[["conf_low", "conf_high"]].to_numpy(dtype=np.float64).T - values)
    places = np.array(at, dtype=np.float64)
    for kind in KINDS:
        mine = np.array([one == kind for one in kinds])
        if not (mine & np.isfinite(values)).any():
            continue
        color = LIGHT["accent"] if kind == KINDS[0] else LIGHT["soft"]
        pair = (values[mine], places[mine]) if lying else (places[mine], values[mine])
        look: dict[str, Any] = {"markerfacecolor": color if kind == KINDS[0] else LIGHT["paper"], "markersize": 6}
        look |= {"marker": "X" if kind == KINDS[2] else "o", "linestyle": "", "color": color, "capsize": 3}
        ends = np.nan_to_num(errors[:, mine])
        ax.errorbar(*pair, **{"xerr" if lying else "yerr": ends}, label=kind, elinewidth=1.4, **look)


def _finish(ax: Axes, found: Sweep, rows: Any, lying: bool) -> None:
    """The title, the grid, the scale of values, and what the marks mean."""
    name = measure_words(rows)
    level = f"{100 * (1 - found.alpha):g} %"
    count = found.recipe["parameters"]["n_replicates"]
    words = f"{name[:1].upper()}{name[1:]}\n{found.recipe['source']}: means of {count} {found.over}, {level} intervals"
    ax.set_title(words, loc="left", fontsize=9, color=LIGHT["ink"], pad=20)
    ax.grid(axis="x" if lying else "y", color=LIGHT["rule"], linewidth=0.7)
    (ax.xaxis if lying else ax.yaxis).set_major_locator(MaxNLocator(5))
    ax.legend(
        loc="lower left", bbox_to_anchor=(-0.02, 0.99), ncol=3, frameon=False, fontsize=8.5, labelcolor=LIGHT["soft"],
        handletextpad=0.2, columnspacing=1.2, borderaxespad=0.1,
    )  # fmt: skip


def _line(found: Sweep, rows: Any) -> Figure:
    """The values over those of one option, which stand at even distances."""
    (name,) = found.options
    given = [one.get(name) for one in found.settings]
    try:
        order = _order(given)
    except TypeError:  # values that cannot be hashed stand in the order of the grid
        order = given
    at = [order.index(value) for value in given]
    words = [value_words(value) for value in order]
    slanted = max(map(len, words)) > 8
    width = max(LEAST, STEP * len(order))
    bottom = 0.5 + (0.72 * LETTER * max(map(len, words)) if slanted else 0.0)
    figure, ax = one_axes(width + 0.9, HEIGHT + bottom - 0.5, 0.68, 0.22, bottom, 0.7)
    values = rows["mean"].to_numpy(dtype=np.float64)
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in order):
        judged = [h for h in np.argsort(at) if rows["in_best_set"].notna()[h]]
        ax.plot(np.array(at)[judged], values[judged], color=LIGHT["soft"], linewidth=1.0, zorder=1)
    _marks(ax, at, rows, _kinds(rows), lying=False)
    ax.set_xticks(range(len(order)), words, **({"rotation": 45, "ha": "right"} if slanted else {}))
    ax.set_xlim(-0.5, len(order) - 0.5)
    ax.set_xlabel(name)
    ax.set_ylabel(MEASURES.card(rows["measure"].iloc[0]).symbol)
    _finish(ax, found, rows, lying=False)
    return figure


def _list(found: Sweep, rows: Any) -> Figure:
    """One line for each setting, the first at the top."""
    words = [setting_words(one) for one in found.settings]
    left = 0.3 + LETTER * max(map(len, words))
    figure, ax = one_axes(left + LEAST + 0.25, 1.3 + LINE * len(words), left, 0.25, 0.55, 0.75)
    _marks(ax, list(range(len(words))), rows, _kinds(rows), lying=True)
    ax.set_yticks(range(len(words)), words)
    ax.set_ylim(len(words) - 0.5, -0.5)
    ax.set_xlabel(MEASURES.card(rows["measure"].iloc[0]).symbol)
    _finish(ax, found, rows, lying=True)
    return figure


def _cells(found: Sweep, rows: Any) -> Figure:
    """A cell for each pair of values of two options: shaded by its mean, framed if in the best set."""
    first, second = found.options
    across, down = (_order([one[name] for one in found.settings]) for name in (first, second))
    words = [[value_words(value) for value in values] for values in (across, down)]
    left = 0.75 + LETTER * max(map(len, words[1]))
    width, height = max(LEAST, CELL * len(across)), TALL * len(down)
    figure, ax = one_axes(left + width + 0.2, height + 1.35, left, 0.2, 0.75, 0.6)
    values, kinds = rows["mean"].to_numpy(dtype=np.float64), _kinds(rows)
    known = values[np.isfinite(values)]
    higher = MEASURES.card(rows["measure"].iloc[0]).direction == "higher"
    low, high = (known.min(), known.max()) if higher else (known.max(), known.min())
    places = decimals_for(known)
    for setting, value, kind in zip(found.settings, values, kinds, strict=True):
        x, y = across.index(setting[first]), down.index(setting[second])
        share = (value - low) / (high - low) if high != low and np.isfinite(value) else 0.0
        look: dict[str, Any] = {"edgecolor": "none", "facecolor": LIGHT["accent"]}
        ax.add_patch(Rectangle((x + 0.02, y + 0.04), 0.96, 0.92, alpha=SHADE * share + 0.03, **look))
        if kind == KINDS[0]:
            frame: dict[str, Any] = {"fill": False, "edgecolor": LIGHT["accent"], "linewidth": 1.8}
            ax.add_patch(Rectangle((x + 0.03, y + 0.06), 0.94, 0.88, **frame))
        said = fixed(float(value), places) if np.isfinite(value) else "failed"
        weight = "bold" if kind == KINDS[0] else "normal"
        color = LIGHT["soft" if kind == KINDS[2] else "ink"]
        said += "?" if kind == KINDS[2] and np.isfinite(value) else ""
        ax.text(x + 0.5, y + 0.5, said, ha="center", va="center", fontsize=8.5, fontweight=weight, color=color)
    ax.set(xlim=(0, len(across)), ylim=(len(down), 0), xlabel=first, ylabel=second)
    ax.set_xticks(np.arange(len(across)) + 0.5, words[0])
    ax.set_yticks(np.arange(len(down)) + 0.5, words[1])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    name, count = measure_words(rows), found.recipe["parameters"]["n_replicates"]
    unjudged = "; ? not judged" if KINDS[2] in kinds else ""
    title = f"{name[:1].upper()}{name[1:]}\n{found.recipe['source']}: means of {count} {found.over}; framed: best set"
    ax.set_title(f"{title}{unjudged}", loc="left", fontsize=9, color=LIGHT["ink"], pad=8)
    return figure
