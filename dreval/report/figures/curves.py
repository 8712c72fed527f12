"""Draw curves: of measures over neighbors, of tests over bandwidths, of dimensions, perplexities and sweeps."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

from dreval._check import FloatArray, check_int, check_one_of
from dreval._random import stream, stream_seed
from dreval._text import decimals_for, format_fixed, format_number
from dreval.errors import InputError
from dreval.records.estimates import IntrinsicDimension, ParallelAnalysis, PerplexityCurve
from dreval.records.results import Results
from dreval.records.sweep import Sweep
from dreval.registry import MEASURES
from dreval.report._style import LIGHT, SCALE_LIGHT, draw_for_reader, one_axes
from dreval.report.figures._grid import LETTER_INCHES, PanelGrid, Reading, figure_names
from dreval.report.figures._kind import figure
from dreval.report.figures._lines import (
    draw_curve_difference,
    draw_curve_panels,
    draw_sensitivity,
    family_curve,
    mark_powers,
    scale_curves,
)
from dreval.report.figures._panels import scale_of_maps, title_with_unit
from dreval.report.format import setting_text, value_text
from dreval.report.result_view import ResultView, measure_text
from dreval.significance._curves import kappa_curve

# Figures of the number of dimensions of data: the line of TwoNN, local dimensions, and a scree plot.

DIMENSION_WIDTH_INCHES = 4.6
DIMENSION_HEIGHT_INCHES = 3.0
MAX_RATIO_MARKS = 4000  # marks of ratios, evenly spaced in their order
MAX_COMPONENTS = 40


def draw_intrinsic_dimension(record: IntrinsicDimension, ax: Axes | None = None, figsize: Any = None) -> Figure | Axes:
    """Draw the ratios and the fitted line of TwoNN, or the local dimensions of maximum likelihood.

    See ``IntrinsicDimension.plot``.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> found = dreval.intrinsic_dimension(np.random.default_rng(0).normal(size=(50, 2)), random_state=0)
    >>> draw_intrinsic_dimension(found).axes[0].get_ylabel()
    '−log(1 − rank / n)'
    """

    def draw() -> Figure:
        figure, ax = one_axes(DIMENSION_WIDTH_INCHES, DIMENSION_HEIGHT_INCHES, 0.6, 0.25, 0.5, 0.45)
        interval = ""
        if not math.isnan(record.se):
            low, high = (format_number(end, 2) for end in (record.conf_low, record.conf_high))
            interval = f" ({100 * record.conf_level:g} % interval {low} to {high})"
        title = f"Intrinsic dimension {format_number(record.value, 2)}{interval}"
        ax.set_title(title, loc="left", fontsize=9, color=LIGHT["ink"], pad=8)
        (_draw_ratios if record.method == "twonn" else _draw_local)(ax, record)
        return figure

    return draw_for_reader(draw, ax, figsize)


def _draw_ratios(ax: Axes, record: IntrinsicDimension) -> None:
    """Draw every ratio against its rank, on scales where the distribution is a line, used and left out."""
    table = record.points.drop_duplicates("rank").sort_values("rank")
    n = record.n_used
    table = table[table["rank"] < n]  # at the last the scale is infinite
    x, y = np.log(table["ratio"].to_numpy()), -np.log1p(-table["rank"].to_numpy() / n)
    used = table["used"].to_numpy()
    marked_places = np.unique(np.linspace(0, len(x) - 1, min(len(x), MAX_RATIO_MARKS)).astype(int))
    style: dict[str, Any] = {"linestyle": "", "marker": "o", "markersize": 3, "markeredgewidth": 0}
    for part, color, label in ((used, LIGHT["ink"], "used"), (~used, LIGHT["soft"], "left out")):
        marked = marked_places[part[marked_places]]
        if len(marked):
            ax.plot(x[marked], y[marked], color=color, label=label, **style)
    end = float(min(x[-1], y[-1] / record.value))
    slopes = [record.conf_low, record.conf_high]
    if not math.isnan(record.se):
        ends = np.array([0.0, end])
        ax.fill_between(ends, slopes[0] * ends, slopes[1] * ends, color=LIGHT["ink"], alpha=0.12, linewidth=0)
    ax.plot([0, end], [0, record.value * end], color=LIGHT["ink"], linewidth=1.4, label="slope: the dimension")
    ax.set_xlim(0, float(x[-1]) * 1.03)
    ax.set_ylim(0, float(y[-1]) * 1.05)
    ax.grid(axis="y", color=LIGHT["rule"], linewidth=0.7)
    ax.set_xlabel("log of the ratio of distances to 2nd and 1st neighbor")
    ax.set_ylabel("\N{MINUS SIGN}log(1 \N{MINUS SIGN} rank / n)")
    ax.legend(loc="upper left", frameon=False, fontsize=8.5, labelcolor=LIGHT["soft"])


def _draw_local(ax: Axes, record: IntrinsicDimension) -> None:
    """Draw a histogram of the local dimensions, with the estimate and its interval."""
    local = record.points["local_dimension"].to_numpy()
    top = float(np.quantile(local[np.isfinite(local)], 0.995))
    within_axis = local[local <= top]
    ax.hist(
        within_axis, bins=min(40, max(8, int(len(within_axis) ** 0.5))), color=LIGHT["soft"], alpha=0.55, linewidth=0
    )
    ax.axvline(record.value, color=LIGHT["ink"], linewidth=1.6)
    if not math.isnan(record.se):
        ax.axvspan(record.conf_low, record.conf_high, color=LIGHT["ink"], alpha=0.2, linewidth=0)
    n_beyond = len(local) - len(within_axis)
    ax.set_xlabel("local dimension of a point" + (f" ({n_beyond:,} beyond the axis)" if n_beyond else ""))
    ax.set_ylabel("points")
    ax.yaxis.set_major_locator(MaxNLocator(4, integer=True))


def draw_parallel_analysis(record: ParallelAnalysis, ax: Axes | None = None, figsize: Any = None) -> Figure | Axes:
    """Draw eigenvalues over their numbers, above the range that permutation of columns gives.

    See ``ParallelAnalysis.plot``.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> found = dreval.parallel_analysis(np.random.default_rng(0).normal(size=(50, 3)), random_state=0)
    >>> draw_parallel_analysis(found).axes[0].get_xlabel()
    'component'
    """

    def draw() -> Figure:
        figure, ax = one_axes(DIMENSION_WIDTH_INCHES, DIMENSION_HEIGHT_INCHES, 0.6, 0.25, 0.5, 0.65)
        n_shown = min(len(record.table), max(MAX_COMPONENTS, record.n_components + 5))
        table = record.table.head(n_shown)
        at, values = table["component"].to_numpy(), table["eigenvalue"].to_numpy()
        size = 5.0 if n_shown <= 15 else 3.5
        ax.plot(at, values, color=LIGHT["ink"], linewidth=1.2)
        is_selected = table["kept"].to_numpy()
        style: dict[str, Any] = {"linestyle": "", "marker": "o", "markersize": size, "markeredgecolor": LIGHT["ink"]}
        if is_selected.any():
            ax.plot(at[is_selected], values[is_selected], color=LIGHT["ink"], label="kept", **style)
        if not is_selected.all():
            ax.plot(at[~is_selected], values[~is_selected], markerfacecolor=LIGHT["paper"], label="not kept", **style)
        _draw_null(ax, at, record.null_eigenvalues[:, :n_shown], record.alpha)
        ax.set_xlim(0.5, n_shown + 0.5)
        ax.set_ylim(0, 1.06 * max(float(values.max()), float(record.null_eigenvalues.max())))
        ax.xaxis.set_major_locator(MaxNLocator(8, integer=True))
        ax.grid(axis="y", color=LIGHT["rule"], linewidth=0.7)
        n_hidden = len(record.table) - n_shown
        ax.set_xlabel("component" + (f" (the first {n_shown} of {len(record.table):,})" if n_hidden else ""))
        ax.set_ylabel("eigenvalue")
        title = f"{record.n_components} of {len(record.table):,} components are kept"
        box = ax.get_window_extent()
        has_legend_above = box.width >= 3.5 * ax.figure.dpi
        ax.set_title(title, loc="left", fontsize=9, color=LIGHT["ink"], pad=21 if has_legend_above else 8)
        style = {"handlelength": 1.2, "handletextpad": 0.5, "columnspacing": 1.2, "labelspacing": 0.3, "borderpad": 0.0}
        style |= {"borderaxespad": 0.3, "frameon": False, "fontsize": 8.5, "labelcolor": LIGHT["soft"]}
        if has_legend_above:
            ax.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, **style)
        else:  # above the data, within narrow Axes
            ax.set_ylim(0, ax.get_ylim()[1] / (1 - min(0.6, 0.55 * ax.figure.dpi / box.height)))
            handles, labels = ax.get_legend_handles_labels()
            ax.legend(handles, [label.partition(",")[0] for label in labels], loc="upper right", **style)
        return figure

    return draw_for_reader(draw, ax, figsize)


def _draw_null(ax: Axes, at: FloatArray, null: FloatArray, alpha: float) -> None:
    """Draw the mean of the eigenvalues under permutation, and the range up to the quantile that decides."""
    label = f"permuted columns, mean to {100 * (1 - alpha):g} %"
    mean, high = null.mean(axis=0), np.quantile(null, 1 - alpha, axis=0)
    ax.fill_between(at, mean, high, color=LIGHT["soft"], alpha=0.35, linewidth=0, label=label, zorder=1)
    ax.plot(at, mean, color=LIGHT["soft"], linewidth=1.0, zorder=1.5)


# The figure of a perplexity curve.

PERPLEXITY_WIDTH_INCHES = 4.6
PERPLEXITY_HEIGHT_INCHES = 3.0


def draw_perplexity_curve(record: PerplexityCurve, ax: Axes | None = None, figsize: Any = None) -> Figure | Axes:
    """Draw the largest 5 % of the scores and their median over the perplexity, both axes on a log scale.

    See ``PerplexityCurve.plot``.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(90, 4))
    >>> curve = dreval.perplexity_curve(X, [15, 25], n_replicates=3, random_state=0)
    >>> draw_perplexity_curve(curve).axes[0].get_xlabel()
    'perplexity (log scale)'
    """

    def draw() -> Figure:
        figure, ax = one_axes(PERPLEXITY_WIDTH_INCHES, PERPLEXITY_HEIGHT_INCHES, 0.75, 0.25, 0.5, 0.6)
        for score, color, is_filled in (("top 5 %", LIGHT["ink"], True), ("median", LIGHT["soft"], False)):
            rows = record.table[record.table["score"] == score]
            at, value = rows["perplexity"].to_numpy(), rows["value"].to_numpy()
            ends = np.nan_to_num(np.abs(rows[["conf_low", "conf_high"]].to_numpy().T - value))
            style: dict[str, Any] = {"marker": "o", "markersize": 5, "capsize": 3, "elinewidth": 1.4, "linewidth": 1.0}
            face = color if is_filled else LIGHT["paper"]
            ax.errorbar(at, value, yerr=ends, color=color, markerfacecolor=face, label=score, **style)
        ax.set_xscale("log")
        ax.set_yscale("log")
        perplexities = sorted(set(record.table["perplexity"]))
        ax.set_xticks(perplexities, [f"{value:.3g}" for value in perplexities])
        margin = (perplexities[-1] / perplexities[0]) ** 0.1 if len(perplexities) > 1 else 1.5
        ax.set_xlim(perplexities[0] / margin, perplexities[-1] * margin)
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_minor_formatter(NullFormatter())
        low, high = ax.get_ylim()
        steps = (1.0, 2.0, 5.0) if high < 100.0 * low else (1.0,)  # with decades only there would be one number or none
        ax.yaxis.set_major_locator(LogLocator(subs=steps))
        ax.yaxis.set_major_formatter(
            FuncFormatter(lambda value, _: f"{value:,.10g}" if value < 1e6 else f"{value:.0e}")
        )
        ax.yaxis.set_minor_formatter(NullFormatter())
        for perplexity in sorted(set(perplexities) - set(record.table.dropna(subset="value")["perplexity"])):
            style = {"ha": "center", "va": "bottom", "fontsize": 8.5, "color": LIGHT["soft"], "rotation": 90}
            ax.text(perplexity, 0.03, "no map has a score", transform=ax.get_xaxis_transform(), **style)
        ax.grid(axis="y", color=LIGHT["rule"], linewidth=0.7)
        ax.set_xlabel("perplexity (log scale)")
        ax.set_ylabel("singularity score / n (log scale)")
        seeds = record.values["seed"].nunique()
        title = f"Singularity of t-SNE maps: means of {seeds} seeds, {100 * record.conf_level:g} % intervals"
        ax.set_title(title, loc="left", fontsize=9, color=LIGHT["ink"], pad=20)
        ax.tick_params(which="minor", length=0)
        _write_legend(ax)
        return figure

    return draw_for_reader(draw, ax, figsize)


# The figure of a sweep: values of settings with their intervals, and which are not distinguishable from the best.

SWEEP_HEIGHT_INCHES = 2.9
SWEEP_STEP_INCHES = 0.62  # of a setting of one option
SWEEP_MIN_INCHES = 3.2  # of all settings
SWEEP_CELL_WIDTH_INCHES = 0.78
SWEEP_CELL_HEIGHT_INCHES = 0.42
SWEEP_LINE_INCHES = 0.26  # of a setting of several options
SWEEP_OPACITY = 0.4  # of the shades of cells
SWEEP_KINDS = ("best set", "worse", "not evaluated")


def draw_sweep(sweep: Sweep, measure: str | None = None, ax: Axes | None = None, figsize: Any = None) -> Figure | Axes:
    """Draw the values of the settings by a measure: a line for one option, cells for two, a list for more.

    See ``Sweep.plot``.

    Examples
    --------
    >>> import dreval
    >>> roll = dreval.simulate("swiss_roll", 120, random_state=0)
    >>> found = dreval.sweep(roll.data, "isomap", {"n_neighbors": [8, 20, 40]}, random_state=0)
    >>> draw_sweep(found).axes[0].get_xlabel()
    'n_neighbors'
    """
    rows = sweep.of(measure)
    complete = all(set(setting) == set(sweep.options) for setting in sweep.settings)
    draw = (
        _sweep_cells
        if len(sweep.options) == 2 and complete
        else _sweep_line
        if len(sweep.options) == 1
        else _sweep_list
    )
    return draw_for_reader(lambda: draw(sweep, rows), ax, figsize)


def _sweep_kinds(rows: Any) -> list[str]:
    """Return for each setting whether it is in the best set, worse, or not evaluated."""
    in_best_set = rows["in_best_set"]
    return [
        SWEEP_KINDS[2] if unknown else SWEEP_KINDS[not is_best]
        for is_best, unknown in zip(in_best_set.fillna(False), in_best_set.isna(), strict=True)
    ]


def _sweep_order(values: list[Any]) -> list[Any]:
    """Return the different values of an option: numbers by size, others in the order of the grid."""
    unique = list(dict.fromkeys(values))
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in unique)
    return sorted(unique) if numbers else unique


def _sweep_marks(ax: Axes, at: list[int], rows: Any, kinds: list[str], horizontal: bool) -> None:
    """Draw means with their intervals: filled in the best set, hollow where worse, crosses where not evaluated."""
    values = rows["mean"].to_numpy(dtype=np.float64)
    errors = np.abs(rows[["conf_low", "conf_high"]].to_numpy(dtype=np.float64).T - values)
    places = np.array(at, dtype=np.float64)
    for kind in SWEEP_KINDS:
        chosen = np.array([setting_kind == kind for setting_kind in kinds])
        if not (chosen & np.isfinite(values)).any():
            continue
        color = LIGHT["ink" if kind == SWEEP_KINDS[0] else "soft"]
        pair = (values[chosen], places[chosen]) if horizontal else (places[chosen], values[chosen])
        style: dict[str, Any] = {
            "markerfacecolor": color if kind == SWEEP_KINDS[0] else LIGHT["paper"],
            "markersize": 6,
        }
        style |= {"marker": "X" if kind == SWEEP_KINDS[2] else "o", "linestyle": "", "color": color, "capsize": 3}
        ends = np.nan_to_num(errors[:, chosen])
        ax.errorbar(*pair, **{"xerr" if horizontal else "yerr": ends}, label=kind, elinewidth=1.4, **style)


def _sweep_title(rows: Any) -> str:
    """Return the measure of a sweep with its parameters and direction."""
    title = title_with_unit(rows["measure"].iloc[0], measure_text(rows))
    return f"{title[:1].upper()}{title[1:]}"


def _finish_sweep(ax: Axes, sweep: Sweep, horizontal: bool) -> None:
    """Add the title, the grid, the scale of values, and the legend."""
    count, level = sweep.recipe["parameters"]["n_replicates"], f"{100 * (1 - sweep.alpha):g} %"
    title = f"{sweep.recipe['source']}: means of {count} {sweep.replicates}, {level} intervals"
    ax.set_title(title, loc="left", fontsize=9, color=LIGHT["ink"], pad=20)
    ax.grid(axis="x" if horizontal else "y", color=LIGHT["rule"], linewidth=0.7)
    (ax.xaxis if horizontal else ax.yaxis).set_major_locator(MaxNLocator(5))
    _write_legend(ax, handletextpad=0.2)


def _write_legend(ax: Axes, **options: Any) -> None:
    """Write a legend in a line above the axes."""
    style: dict[str, Any] = {"frameon": False, "fontsize": 8.5, "labelcolor": LIGHT["soft"], "columnspacing": 1.2}
    ax.legend(loc="lower left", bbox_to_anchor=(-0.02, 0.99), ncols=3, borderaxespad=0.1, **{**style, **options})


def _sweep_line(sweep: Sweep, rows: Any) -> Figure:
    """Draw the values over those of one option, at even distances."""
    (name,) = sweep.options
    option_values = [setting.get(name) for setting in sweep.settings]
    try:
        order = _sweep_order(option_values)
    except TypeError:  # values that cannot be hashed are in the order of the grid
        order = option_values
    at = [order.index(value) for value in option_values]
    labels = [value_text(value) for value in order]
    slanted = max(map(len, labels)) > 8
    width = max(SWEEP_MIN_INCHES, SWEEP_STEP_INCHES * len(order))
    bottom = 0.5 + (0.72 * LETTER_INCHES * max(map(len, labels)) if slanted else 0.0)
    figure, ax = one_axes(width + 0.9, SWEEP_HEIGHT_INCHES + bottom - 0.5, 0.68, 0.22, bottom, 0.7)
    values = rows["mean"].to_numpy(dtype=np.float64)
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in order):
        tested = [h for h in np.argsort(at) if rows["in_best_set"].notna()[h]]
        ax.plot(np.array(at)[tested], values[tested], color=LIGHT["soft"], linewidth=1.0, zorder=1)
    _sweep_marks(ax, at, rows, _sweep_kinds(rows), horizontal=False)
    ax.set_xticks(range(len(order)), labels, **({"rotation": 45, "ha": "right"} if slanted else {}))
    ax.set_xlim(-0.5, len(order) - 0.5)
    ax.set_xlabel(name)
    ax.set_ylabel(textwrap.fill(_sweep_title(rows), 40))
    _finish_sweep(ax, sweep, horizontal=False)
    return figure


def _sweep_list(sweep: Sweep, rows: Any) -> Figure:
    """Draw one line for each setting, the first at the top."""
    labels = [setting_text(setting) for setting in sweep.settings]
    left = 0.3 + LETTER_INCHES * max(map(len, labels))
    figure, ax = one_axes(left + SWEEP_MIN_INCHES + 0.25, 1.3 + SWEEP_LINE_INCHES * len(labels), left, 0.25, 0.55, 0.75)
    _sweep_marks(ax, list(range(len(labels))), rows, _sweep_kinds(rows), horizontal=True)
    ax.set_yticks(range(len(labels)), labels)
    ax.set_ylim(len(labels) - 0.5, -0.5)
    ax.set_xlabel(_sweep_title(rows))
    _finish_sweep(ax, sweep, horizontal=True)
    return figure


def _sweep_cells(sweep: Sweep, rows: Any) -> Figure:
    """Draw a cell for each pair of values of two options: shaded by its mean, framed if in the best set."""
    first, second = sweep.options
    across, down = (_sweep_order([setting[name] for setting in sweep.settings]) for name in (first, second))
    labels = [[value_text(value) for value in values] for values in (across, down)]
    left = 0.75 + LETTER_INCHES * max(map(len, labels[1]))
    width, height = max(SWEEP_MIN_INCHES, SWEEP_CELL_WIDTH_INCHES * len(across)), SWEEP_CELL_HEIGHT_INCHES * len(down)
    figure, ax = one_axes(left + width + 0.2, height + 1.5, left, 0.2, 0.75, 0.75)
    values, kinds = rows["mean"].to_numpy(dtype=np.float64), _sweep_kinds(rows)
    finite = values[np.isfinite(values)]
    card: Any = MEASURES.card(rows["measure"].iloc[0])
    higher = card.direction == "higher"
    scale = scale_of_maps([finite], higher, card.bounds, [card.chance] if isinstance(card.chance, int | float) else ())
    places = decimals_for(finite)
    for setting, value, kind in zip(sweep.settings, values, kinds, strict=True):
        x, y = across.index(setting[first]), down.index(setting[second])
        if np.isfinite(value):
            style: dict[str, Any] = {"facecolor": SCALE_LIGHT[int(scale.levels(value))], "alpha": SWEEP_OPACITY}
            ax.add_patch(Rectangle((x + 0.02, y + 0.04), 0.96, 0.92, edgecolor="none", **style))
        if kind == SWEEP_KINDS[0]:
            frame: dict[str, Any] = {"fill": False, "edgecolor": LIGHT["ink"], "linewidth": 1.4}
            ax.add_patch(Rectangle((x + 0.03, y + 0.06), 0.94, 0.88, **frame))
        text = format_fixed(float(value), places) if np.isfinite(value) else "failed"
        weight = "bold" if kind == SWEEP_KINDS[0] else "normal"
        color = LIGHT["soft" if kind == SWEEP_KINDS[2] else "ink"]
        text += "?" if kind == SWEEP_KINDS[2] and np.isfinite(value) else ""
        ax.text(x + 0.5, y + 0.5, text, ha="center", va="center", fontsize=8.5, fontweight=weight, color=color)
    ax.set(xlim=(0, len(across)), ylim=(len(down), 0), xlabel=first, ylabel=second)
    ax.set_xticks(np.arange(len(across)) + 0.5, labels[0])
    ax.set_yticks(np.arange(len(down)) + 0.5, labels[1])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    count, unjudged = sweep.recipe["parameters"]["n_replicates"], "; ? not evaluated" if SWEEP_KINDS[2] in kinds else ""
    shade = " to ".join(scale.meanings)
    title = f"{_sweep_title(rows)}\n{sweep.recipe['source']}: means of {count} {sweep.replicates}; framed: best set"
    title += f"\nshade: {shade} (orange to blue)"
    ax.set_title(f"{title}{unjudged}", loc="left", fontsize=9, color=LIGHT["ink"], pad=8)
    return figure


@figure(
    "a measure against the number of neighbors, one line for each embedding, with intervals and chance",
    question="At which neighborhood size?",
    reading="Few neighbors are local structure, many global; where the dark line is above a gray one it is better.",
)
def draw_curve(
    results: Results,
    view: ResultView,
    names: list[str],
    *,
    measure: str | None = None,
    band: str | None = None,
    difference: tuple[str, str] | None = None,
) -> Figure:
    """Draw one measure against the number of neighbors, or the difference of two embeddings."""
    band = None if band is None else check_one_of(band, ("simultaneous", "pointwise"), "band", aliases=True)
    families = {family[0].measure: family for family in view.curves}
    curves = scale_curves(results, view)
    needs_curve = band == "simultaneous" or difference is not None  # what only curves over all K have
    if measure in curves or (measure is None and curves and (needs_curve or not families)):
        curve = curves[measure] if measure is not None else next(iter(curves.values()))
        if difference is not None:
            return draw_curve_difference(results, view, curve, difference)
        if band == "simultaneous" and not curve.simultaneous:
            hint = "Run with ci='points', or with 100 anchors or more of which 30 differ; or use band='pointwise'."
            raise InputError("band", "must be one that the curve has", "'simultaneous', and there is none", hint)
        return draw_curve_panels(view, curve, names, band)
    if needs_curve:
        argument, received = ("band", repr(band)) if difference is None else ("difference", repr(difference))
        hint = "Run r_nx, or another curve with a value at every K, and name it as `measure`."
        raise InputError(argument, "must be of a measure with a value at every K", received, hint)
    if measure is not None:
        MEASURES.check_run(measure, {column.measure for column in view.columns} | set(curves), "measure", curves=True)
    if not families or (measure is not None and measure not in families):
        if measure in MEASURES and "n_neighbors" not in MEASURES.card(measure).parameters:
            requirement = "must depend on the number of neighbors"
            listed = ", ".join(sorted({*families, *curves})) or "none"
            raise InputError("measure", requirement, repr(measure), f"Name one that was run at several: {listed}.")
        alternatives = f" Those that have: {', '.join(sorted({*families, *curves}))}." if families or curves else ""
        raise InputError(
            "measure",
            "must have been run at several numbers of neighbors",
            repr(measure) if measure is not None else "one number of neighbors for every measure",
            f"Pass n_neighbors=[5, 15, 50] to Evaluation.{alternatives}",
        )
    family = families[measure] if measure is not None else next(iter(families.values()))
    return draw_curve_panels(view, family_curve(family), names, band)


KAPPA_LEFT_INCHES = 0.44  # for the numbers of correlations
KAPPA_BELOW_INCHES = 0.38
MAX_KAPPA_POINTS = 1000  # of more, a random part


@figure(
    "kernel canonical correlation (KCCA) with the classes over its regularization kappa, above permutations",
    question="Is it more than chance?",
    reading="Where the line is far above the gray, the dependence is more than chance.",
    draws_map=True,
)
def draw_kappa_curve(
    results: Results,
    _view: ResultView,
    names: list[str],
    *,
    kappas: Sequence[float] | None = None,
    n_resamples: int = 99,
) -> Figure:
    """Draw the curves of all embeddings, from the same permutations."""
    check_int(n_resamples, "n_resamples", low=1)
    labels = results.labels
    if labels is None:
        hint = "Pass labels to Evaluation; for other variables use dreval.kappa_curve(x, y).plot()."
        raise InputError("results", "must hold labels for a curve over kappa", "none", hint)
    labeled, seed = (
        np.flatnonzero([label is not None for label in labels]),
        int(results.recipe.get("random_state") or 0),
    )
    n, rows = len(labeled), labeled
    if n > MAX_KAPPA_POINTS:
        rows = np.sort(stream(seed, "kappa curve").choice(labeled, MAX_KAPPA_POINTS, replace=False))
    classes = np.unique(labels.astype(str), return_inverse=True)[1].ravel()[rows]
    options = {"kappas": kappas, "n_resamples": n_resamples, "random_state": stream_seed(seed, "kappa curve")}
    curves = {
        name: kappa_curve(results.embeddings[name][rows], classes, kernel=("gaussian", "delta"), **options)
        for name in names
    }
    noun = "points" if n == len(labels) else "labeled points"
    points_text = f"all {noun}" if len(rows) == n else f"{len(rows):,} of {n:,} {noun}"
    text = (
        f"KCCA with the classes, {points_text}. Gray: mean to 95 % of {n_resamples:,} permutations; "
        "dotted: the kappa of the test. The distance from the gray counts, not the height."
    )
    short, full_names = figure_names(names)
    reading = Reading(text)
    grid = PanelGrid(len(names), reading, full_names, left=KAPPA_LEFT_INCHES, below=KAPPA_BELOW_INCHES)
    for place, name in enumerate(names):
        ax = grid.axes[place]
        draw_sensitivity(ax, curves[name])
        mark_powers(ax, curves[name].table["kappa"].to_numpy())
        ax.set(ylim=(0, 1.04))
        ax.set_xlabel("kappa (log scale)", fontsize=8, labelpad=2)
        ax.set_ylabel("canonical correlation", fontsize=8, labelpad=2)
        ax.tick_params(labelsize=8, pad=2)
        grid.name(place, short[name])
    return grid.finish()
