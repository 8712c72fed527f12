"""The curves over neighborhood sizes on the page of an evaluation, and at which sizes one embedding is better."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from dreval._text import without_zero
from dreval.inference.bands import better_ranges
from dreval.records.results import Results
from dreval.registry import MEASURES
from dreval.report.document import Grid, Panel, Paragraph, Part
from dreval.report.figures._lines import ScaleCurve, scale_curves
from dreval.report.figures.page import curve_svg, family_svg
from dreval.report.findings import list_names
from dreval.report.format import MAX_NAME_BREADTH, join_and, number_word, short_names
from dreval.report.result_view import MAX_SIDE_BY_SIDE, Column, ResultView, neighbors_of, title_in_sentence

MAX_FAMILIES = 9  # measures at several k that have a chart
MAX_ASIDE_NAMES = 2  # names at the right of a title
CURVE_AXES = {"r_nx": "kept beyond chance"}


def size_parts(
    results: Results, view: ResultView, names: Sequence[str], order: Sequence[str], short: Mapping[str, str]
) -> Iterator[Part]:
    """Yield the curves over every K, and the measures at several k."""
    for place, curve in enumerate(scale_curves(results, view).values()):
        text = _range_text(view, results, curve, order) if place == 0 else f"{curve.title}."
        if text:
            yield Paragraph(text, "lead")
        drawn = [name for name in names if name in curve.values]
        panels = []
        for name in drawn:
            others = [other for other in order if other != name and other in curve.values]
            area = f"area {without_zero(f'{curve.areas[name]:.3f}')}" if name in curve.areas else ""
            title = CURVE_AXES.get(curve.measure, title_in_sentence(curve.title))
            drawing = curve_svg(curve, name, others, len(order) > MAX_SIDE_BY_SIDE, view.k, title)
            panels.append(Panel(name, short[name], area, drawing))
        yield Grid(panels, "Reading the curves", *_curve_reading(view, curve, len(order)))
    if view.curves:
        names = list(order)
        panels = [_family_panel(view, family, names) for family in view.curves[:MAX_FAMILIES]]
        omitted = len(view.curves) - len(panels)
        notes = ["Each measure against the number of neighbors k."]
        notes += [f'{omitted} more can be drawn with results.plot("curve", measure=…).'] if omitted else []
        swatches = [("own", f"the best set at k = {view.k}"), ("oth", "the other embeddings")]
        yield Grid(panels, "Several numbers of neighbors", notes, swatches if len(names) > 1 else [])


def _family_panel(view: ResultView, family: Sequence[Column], names: Sequence[str]) -> Panel:
    """Return a measure at several numbers of neighbors."""
    main = next((column for column in family if column in view.main_columns), family[0])
    inked = view.best_set(main).best if len(names) > 1 else names
    ks = [neighbors_of(column) or 1 for column in family]
    title = main.title + ("" if main.higher else " ↓")
    best = short_names(inked, MAX_NAME_BREADTH).values() if 0 < len(inked) < len(names) else []
    aside = f"best: {', '.join(best)}" if 0 < len(best) <= MAX_ASIDE_NAMES else ""
    return Panel(title, title, aside, family_svg(family, ks, names, inked, neighbors_of(main) or 1))


def _curve_reading(view: ResultView, curve: ScaleCurve, count: int) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the paragraphs and the swatches that explain a curve."""
    card = MEASURES.card(curve.measure) if curve.measure in MEASURES else None
    symbol = f" ({curve.symbol})" if curve.symbol and not curve.title.endswith(curve.symbol) else ""
    ends = " 0 is chance, 1 is perfect." if np.isfinite(curve.chance).all() and not curve.chance.any() else ""
    question = f" {card.question}" if card else ""
    texts = [f"{curve.title}{symbol}.{question}{ends}"]
    bands = np.array([curve.band_low[name] for name in curve.values])
    band = ""
    if np.isfinite(bands).any():
        last = int(curve.ks[np.isfinite(bands).any(axis=0)].max())
        band = f" with its {view.level} band for all K at once"
        band += f" (to K = {last:,})" if last < curve.ks[-1] else ""
    elif curve.has_intervals:
        band = f" with its {view.level} interval at each K alone"
    swatches = [("own", f"this embedding{band}")]
    if count > 1:
        many = count > MAX_SIDE_BY_SIDE
        swatches.append(
            ("all", "all other embeddings, from the lowest to the highest")
            if many
            else ("oth", "the other embedding" if count == 2 else f"the other {number_word(count - 1)}")
        )
    if curve.areas:
        texts.append("Area: the mean over all K with weight 1/K.")
    if view.results is not None and len(view.results.curve_differences):
        texts.append(f"Significant: the {view.level} band of each difference excludes 0.")
    return texts, swatches


def _range_text(view: ResultView, results: Results, curve: ScaleCurve, order: Sequence[str]) -> str:
    """Return at which sizes an embedding is significantly better than all that are not the same map, in a sentence."""
    table = results.curve_differences
    table = table[table["measure"] == curve.measure]
    if not len(table) or curve.direction not in ("higher", "lower"):
        return ""
    sign = 1.0 if curve.direction == "higher" else -1.0
    groups, order = _same_map_groups(view), [name for name in order if name in view.contenders]
    bands = {}
    for (first, second), rows in table.groupby(["first", "second"], sort=False):
        low, high = sign * rows["band_low"].to_numpy(), sign * rows["band_high"].to_numpy()
        low, high = np.fmin(low, high), np.fmax(low, high)
        bands[first, second], bands[second, first] = low, -high
    ks = next(iter(table.groupby(["first", "second"])))[1]["K"].to_numpy()
    places_by_names: dict[str, list[str]] = {}
    for name in order:
        others = [other for other in order if other not in groups[name]]
        lows = [bands[name, other] for other in others if (name, other) in bands]
        if groups[name][0] != name or not others or len(lows) < len(others) or len({len(low) for low in lows}) != 1:
            continue
        least = np.array(lows).min(axis=0)  # missing where one of the bands is
        for run_sign, first_k, last_k in better_ranges(least, np.full(len(ks), math.inf), ks):
            if run_sign > 0:
                at = f"{first_k:,} to {last_k:,}" if first_k < last_k else f"{first_k:,}"
                places_by_names.setdefault(list_names(groups[name]), []).append(at)
    texts = [f"{names} at K = {join_and(places)}" for names, places in places_by_names.items()]
    if not texts:
        return "At no neighborhood size is one embedding significantly better than all others."
    others_text = "the other" if len({groups[name] for name in order}) == 2 else "all other maps"
    return f"Significantly better than {others_text}: {'; '.join(texts)}."


def _same_map_groups(view: ResultView) -> dict[str, tuple[str, ...]]:
    """Return for each embedding those that are the same map, with itself, in the order of the page."""
    order = view.ranked
    groups: dict[str, tuple[str, ...]] = {name: (name,) for name in view.names}
    for names in view.same_maps:
        members = tuple(sorted((name for name in names if name in order), key=order.index))
        groups.update(dict.fromkeys(members, members))
    return groups
