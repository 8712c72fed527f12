"""Draw held-out, train and usual values of the settings of a method."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from dreval.records.held_out import HeldOutFidelity
from dreval.report._style import CLASS_COLORS, LIGHT, draw_for_reader, one_axes
from dreval.report.figures._grid import LETTER_INCHES
from dreval.report.figures._panels import title_with_unit
from dreval.report.format import setting_text, value_text
from dreval.report.result_view import measure_text

WIDTH_INCHES = 4.2
STEP_INCHES = 0.55
HEIGHT_INCHES = 2.9
SERIES = {  # label and marker of each column
    "usual": ("usual: all measurements", "s"),
    "train": ("shown: first part", "^"),
    "held_out": ("held out: second part", "o"),
}


def draw_held_out(
    record: HeldOutFidelity, measure: str | None = None, ax: Axes | None = None, figsize: Any = None
) -> Figure | Axes:
    """Draw the values of each setting; see ``HeldOutFidelity.plot``.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(60, 10))
    >>> draw_held_out(dreval.held_out_fidelity(X, "pca", random_state=0)).axes[0].get_ylabel()
    'Overlap over all sizes'
    """
    return draw_for_reader(lambda: _draw(record, measure), ax, figsize)


def _draw(record: HeldOutFidelity, measure: str | None) -> Figure:
    """Draw a mark for each value of each setting, and the interval of the held-out one; members of a set are filled."""
    rows = record.of(measure)
    names = list(dict.fromkeys(name for setting in record.settings for name in setting))
    labels = [
        value_text(setting[names[0]]) if len(names) == 1 else setting_text(setting) or str(record.recipe["source"])
        for setting in record.settings
    ]
    is_slanted = max(map(len, labels)) > 8 and len(labels) > 1
    width = max(WIDTH_INCHES, STEP_INCHES * len(labels))
    bottom = 0.5 + (0.72 * LETTER_INCHES * max(map(len, labels)) if is_slanted else 0.0)
    figure, ax = one_axes(width + 0.9, HEIGHT_INCHES + bottom - 0.5, 0.68, 0.22, bottom, 0.95)
    places = np.arange(len(rows))
    memberships = {"usual": "in_usual_set", "held_out": "in_best_set"}
    for color, (column, (label, marker)) in zip(CLASS_COLORS, SERIES.items(), strict=False):
        values = rows[column].to_numpy(dtype=np.float64)
        ax.plot(places, values, color=color, linewidth=1.2, label=label, marker=marker, markersize=0.1, zorder=2)
        is_member = np.ones(len(rows), np.bool_)
        if column in memberships and len(rows) > 1:
            is_member = rows[memberships[column]].fillna(False).to_numpy(dtype=np.bool_)
        for filled in (True, False):
            chosen = is_member == filled
            face = color if filled else LIGHT["paper"]
            style: dict[str, Any] = {"marker": marker, "markersize": 5.5, "markerfacecolor": face, "linestyle": ""}
            ax.plot(places[chosen], values[chosen], color=color, zorder=3, **style)
    held = rows["held_out"].to_numpy(dtype=np.float64)
    ends = np.abs(rows[["conf_low", "conf_high"]].to_numpy(dtype=np.float64).T - held)
    style = {"color": CLASS_COLORS[2], "linestyle": "", "capsize": 3, "elinewidth": 1.4}
    ax.errorbar(places, held, yerr=np.nan_to_num(ends), **style)
    chances = rows["chance"].to_numpy(dtype=np.float64)
    if np.isfinite(chances).any():  # a step for each setting: the chance level of some measures depends on the map
        edges, levels = np.append(places - 0.5, places[-1] + 0.5), np.append(chances, chances[-1])
        ax.step(edges, levels, where="post", color=LIGHT["soft"], linewidth=1.0, zorder=1)
        ax.annotate("chance", (1.0, chances[-1]), (-2, 2), xycoords=("axes fraction", "data"),
                    textcoords="offset points", ha="right", fontsize=8, color=LIGHT["soft"])  # fmt: skip
    ax.set_xticks(places, labels, **({"rotation": 45, "ha": "right"} if is_slanted else {}))
    ax.set_xlim(-0.5, len(rows) - 0.5)
    ax.set_xlabel(names[0] if len(names) == 1 else "")
    title = title_with_unit(rows["measure"].iloc[0], measure_text(rows))
    ax.set_ylabel(textwrap.fill(f"{title[:1].upper()}{title[1:]}", 40))
    ax.yaxis.set_major_locator(MaxNLocator(5))
    ax.grid(axis="y", color=LIGHT["rule"], linewidth=0.7)
    splits = record.recipe["parameters"]["n_splits"]
    heading = f"{record.recipe['source']}: means of {splits} splits" + "; filled: in the best set" * (len(rows) > 1)
    ax.set_title(heading, loc="left", fontsize=9, color=LIGHT["ink"], pad=36)
    handles, texts = ax.get_legend_handles_labels()
    for handle, (_, marker) in zip(handles, SERIES.values(), strict=False):
        handle.set_markersize(5.5)
        handle.set_marker(marker)
    style = {"frameon": False, "fontsize": 8.5, "labelcolor": LIGHT["soft"], "columnspacing": 1.2}
    ax.legend(handles, texts, loc="lower left", bbox_to_anchor=(-0.02, 0.99), ncols=2, borderaxespad=0.1, **style)
    return figure
