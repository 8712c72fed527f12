"""The page of an evaluation: its first screen, tables, maps, curves, differences, limits and definitions."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np

from dreval.errors import DrevalWarning, InputError
from dreval.glossary import printable, true_minus
from dreval.inference.bands import better_ranges
from dreval.measures.core import GOALS
from dreval.records.frames import full_name, groups_text
from dreval.records.results import Results
from dreval.registry import MEASURES
from dreval.report._style import figure_style
from dreval.report.best_sets import borderlines, measure_rankings, question_columns
from dreval.report.document import (
    MISSING_VALUE,
    Answers,
    Bar,
    Card,
    Cards,
    Cell,
    Details,
    Document,
    FigureFile,
    Grid,
    Items,
    Maps,
    Panel,
    Paragraph,
    Part,
    Section,
    Table,
)
from dreval.report.document import Column as TableColumn
from dreval.report.documents.closing import _settings, _sources, closing_sections, glossary, limits
from dreval.report.documents.comparison import pair_tables
from dreval.report.documents.evaluation import (
    TITLE,
    new_points_lines,
    new_points_tables,
    printed_notes,
    summarize,
    value_table,
)
from dreval.report.documents.held_out import held_out_parts
from dreval.report.documents.pairs import Lead, difference_parts, difference_rows, difference_text
from dreval.report.documents.tests import TestGroup, method_measures_table, rejection_text, test_groups, test_page_table
from dreval.report.figure_folder import FigureFolder
from dreval.report.figures._lines import ScaleCurve, scale_curves
from dreval.report.figures._pairs import rank_correlation_text, shepard_text
from dreval.report.figures._panels import Classes, class_colors
from dreval.report.figures.maps import map_values, mapped_column
from dreval.report.figures.nulls import stored_null
from dreval.report.figures.page import (
    MAX_MAP_POINTS,
    MAX_NAMED_POINTS,
    bar_of,
    curve_svg,
    distances_svg,
    family_svg,
    map_svg,
    new_points_svg,
    null_svg,
    other_map,
    percent_or_value,
    point_data,
    point_levels,
    point_shares,
    thumbnail,
)
from dreval.report.findings import (
    ALL_CAUTIONS,
    Answer,
    best_mark_text,
    findings_text,
    first_caution,
    list_names,
    metric_text,
    missing_reason,
    standing,
    verdict,
)
from dreval.report.format import (
    count_noun,
    decisive_p,
    format_fixed,
    join_and,
    number_word,
    short_names,
    without_zero,
)
from dreval.report.plot import plot
from dreval.report.render.markup import isolate_name
from dreval.report.result_view import (
    DIFFERS,
    NEIGHBORS_PARAMETER,
    Column,
    ResultView,
    assumptions_text,
    measure_title,
    neighbors_of,
    parameter_text,
    title_in_sentence,
)

MAX_NAME_BREADTH = 24  # letters of average width of a name; longer ones are shortened in the middle
MAX_MEASURES_DOWN = 6  # embeddings side by side in the table of all measures; of more, embeddings are the rows
MAX_MEASURES_ACROSS = 8  # further measures in one table of many embeddings
MAX_OPEN_CARDS = 10
MAX_OPEN_ROWS = 15  # rows of the table of many embeddings that are not folded
MAX_PANELS = 8  # maps and curves; of more embeddings the first ones
MAX_FAMILIES = 9  # measures at several k that have a chart
MAX_TRUST_COUNTS = 5  # different numbers of points in a sentence
MAX_ASIDE_NAMES = 2  # names at the right of a title
MAX_HISTOGRAMS = 24
ALL_CAUTIONS_BELOW = "see all cautions below"
LEVEL_NOTE = "Best sets (●) hold at 5 % for each measure; these tests hold at 5 % for all measures together."
CURVE_AXES = {"r_nx": "kept beyond chance"}


def results_report(results: Results, view: ResultView, title: str | None, folder: FigureFolder | None) -> Document:
    """Return the whole report of a result, in order: of a page, or of a text with figures in a ``folder``."""
    sizes = {name: Y.shape[1] for name, Y in results.embeddings.items() if Y.shape[1]}
    dimensions = {name: sizes[name] for name in view.contenders if name in sizes}
    has_intervals = any(row["conf_method"] for row in view.rows)
    is_tested = any(view.best_set(column).tested for column in view.by_goal)
    best = best_mark_text(view, view.by_goal) if len(view.contenders) > 1 else ""
    answers = Answers(
        [(answer.question, _answer_text(answer, folder is None)) for answer in verdict(view)],
        key=True,
        intervals=view.level if has_intervals else "",
        best=f"{'best set: ' * is_tested}{best}",
    )
    body = _page_sections(results, view) if folder is None else _text_sections(results, view, folder)
    closing = closing_sections(
        limits(view, dimensions),
        printed_notes(results, failures=False),
        str(view.recipe.get("call") or ""),
        [*_settings(view.recipe), *_sources(view.recipe)],
        list(dict(view.recipe.get("versions") or {}).items()),
        glossary(view),
    )
    sections = [Section("Answers", [answers], "answers"), *body, *closing]
    return Document(
        title if title is not None else default_title(view),
        [section for section in sections if section.parts],
        [page_question(results, view, dimensions), headline(view)],
        str(dict(view.recipe.get("versions") or {}).get("dreval", "")),
    )


def _page_sections(results: Results, view: ResultView) -> Iterator[Section]:
    """Yield the sections of a page between the answers and the limits."""
    order = [*view.ranked]
    names = [*order, *view.failed]
    short = short_names(names, MAX_NAME_BREADTH)
    drawn = order[:MAX_PANELS] if view.has_many else order
    cards = [embedding_cards(results, view, names, short), *_all_cautions(view)] if names else []
    yield Section("Each embedding", cards, "cards")
    has_values = bool(view.by_goal and view.computed)
    yield Section(
        "All measures", list(_measure_parts(view, names, short)) if has_values else [], "measures", "Measures"
    )
    parts = list(_map_parts(results, view, drawn, order, short))
    yield Section("Where can each map be trusted?", parts, "maps", "Maps")
    yield Section(
        "At which neighborhood size?", list(_size_parts(results, view, drawn, order, short)), "sizes", "Sizes"
    )
    yield Section("Is one better than another?", list(_difference_parts(view, short)), "differences", "Differences")
    yield Section("Are new points where they belong?", list(_new_points_parts(results, short)), "new", "New points")
    methods = method_measures_table(view, "method", "One row for each embedding and measure")
    method_note = "These measures refer to the method, which was run again, not to one embedding alone."
    yield Section(
        "Is the method consistent?", [Paragraph(method_note, "lead"), methods] if methods else [], "methods", "Methods"
    )
    yield Section("Is the fidelity real, or fit to noise?", list(held_out_parts(results)), "held-out", "Held out")
    n_histograms = 0
    for group in test_groups(view):
        parts = _test_parts(results, group, MAX_HISTOGRAMS - n_histograms)
        n_histograms += sum(len(part.panels) for part in _grids(parts))
        yield Section(_test_title(group), parts, group.id, group.short)
    yield Section(
        "How are distances kept?", list(_distance_parts(results, view, drawn, short)), "distances", "Distances"
    )


def _grids(parts: Sequence[Part]) -> Iterator[Grid]:
    """Yield the grids of drawings, also the folded ones."""
    for part in parts:
        if isinstance(part, Grid):
            yield part
        elif isinstance(part, Details):
            yield from _grids(part.parts)


# First screen.


def default_title(view: ResultView) -> str:
    """Return the heading, such as "Four embeddings of digits"."""
    count = len(view.names)
    data = str(view.recipe.get("dataset") or "")
    text = f"{number_word(count)} embedding{'s' * (count != 1)}" + (f" of {data}" if data else "")
    return text[:1].upper() + text[1:]


def page_question(results: Results, view: ResultView, dimensions: Mapping[str, int]) -> str:
    """Return the question of the page, with the size of the data."""
    n, p = int(view.recipe.get("n") or 0), int(view.recipe.get("p") or 0)
    question = "How well does it keep the data?" if len(view.names) == 1 else "How well does each keep the data?"
    if not n:
        return question
    labels = results.labels
    n_classes = 0 if labels is None else len({label for label in labels.tolist() if label is not None})
    classes = f" of {count_noun(n_classes, 'class', 'classes')}" if n_classes else ""
    target = join_and([str(d) for d in sorted(set(dimensions.values()))])
    size = f", {p:,} → {target} dimensions" if p and target else ""
    groups = groups_text(view.recipe.get("groups"))
    groups = f"{',' * bool(classes)} in {groups}" if groups else ""
    return f"{question} {count_noun(n, 'point')}{classes}{groups}{size}."


def headline(view: ResultView) -> str:
    """Return the settings of the evaluation, separated by " · "."""
    recipe = view.recipe
    parts = []
    if view.k is not None:
        more_scales = f" (and {len(view.scales) - 1} more)" if len(view.scales) > 1 else ""
        parts.append(f"Neighborhoods of k = {view.k}{more_scales}")
    metric = metric_text(recipe)
    parts.append(metric[:1].upper() + metric[1:])
    if recipe.get("anchors"):
        parts.append(f"from {count_noun(int(recipe['anchors']), 'anchor')}")
    assumptions = assumptions_text(recipe, view.rows)
    parts.append(f"{view.level} intervals ({assumptions})" if assumptions else "no intervals")
    seed = recipe.get("random_state")
    parts.append("" if seed is None else f"seed {seed}")
    return " · ".join(part for part in parts if part)


def _answer_text(answer: Answer, is_page: bool) -> str:
    """Return the sentences on a question; a page has all cautions below."""
    return findings_text(
        replace(finding, numbers={**finding.numbers, "where": ALL_CAUTIONS_BELOW})
        if is_page and finding.kind == "result.more_cautions"
        else finding
        for finding in answer.findings
    )


def _all_cautions(view: ResultView) -> Iterator[Details]:
    """Yield all cautions, folded, where the answers have only the first ones."""
    printed = [finding for answer in verdict(view) for finding in answer.findings]
    if any(finding.kind == "result.more_cautions" for finding in printed):
        answers = verdict(view, max_cautions=None)
        cautions = [finding.text for answer in answers if answer.question == "Caution" for finding in answer.findings]
        yield Details(f"All {len(cautions)} cautions", [Items(cautions)])


def embedding_cards(results: Results, view: ResultView, names: Sequence[str], short: Mapping[str, str]) -> Cards:
    """Return a card for each embedding, in their order."""
    columns = [column for column in question_columns(view) if column.topic and column.ranks and column.values]
    mapped = mapped_values(results, view, [name for name in names if name in results.embeddings])
    has_map = any(Y.shape[1] for Y in results.embeddings.values())
    value = mapped[0].title_in_sentence if mapped and has_map else ""
    cards = []
    for name in names:
        if name in view.failed:
            cards.append(Card(name, short[name], "Could not be computed", "", [], view.failed[name]))
            continue
        Y = results.embeddings[name]
        levels = mapped[1][name] if mapped else np.full(len(Y), -1)
        label = f"Small map of {name}" + (f", points colored by {value}" if value else "")
        drawing = thumbnail(Y, levels, label) if Y.shape[1] else ""
        bars = [_card_bar(view, column, name) for column in columns if name in column.values]
        warning = "" if name in view.reference else _first_caution_text(view, name, is_card=True)
        cards.append(Card(name, short[name], standing(view, name).predicate, drawing, bars, warning))
    return Cards(
        cards, _card_note(view, columns, value), len(cards) if len(cards) <= MAX_OPEN_CARDS else MAX_OPEN_CARDS
    )


def _first_caution_text(view: ResultView, name: str, is_card: bool = False) -> str:
    """Return the first caution on an embedding, and how many more there are; on a card without its name."""
    findings, further = first_caution(view, name)
    texts = [finding.predicate if is_card else finding.text for finding in findings]
    where = " below" if is_card else f": {ALL_CAUTIONS}"
    return " ".join([*texts, *[f"{count_noun(further, 'more caution')}{where}."] * (further > 0)])


def _card_bar(view: ResultView, column: Column, name: str) -> Bar:
    """Return the bar of a question on a card."""
    label = column.topic + ("" if column.higher else " ↓")
    return bar_of(
        column,
        name,
        percent_or_value(column, column.values[name]),
        best=name in view.best_set(column).best,
        label=label,
    )


def _card_note(view: ResultView, columns: Sequence[Column], value: str) -> str:
    """Return how to read the cards."""
    parts = []
    if len(view.computed) > 1:
        parts.append("Best first: by the number of questions with a place in a best set, then of measures.")
    if value:
        k = f" of their {view.k} nearest on the map" if view.k is not None else ""
        parts.append(f"Points: {value}{k}, from chance to perfect.")
    if columns:
        parts.append(f"Bars: {'; '.join(column.title_in_sentence for column in columns)}.")
    return " ".join(parts)


def mapped_values(
    results: Results, view: ResultView, names: Sequence[str]
) -> tuple[Column, dict[str, Any], dict[str, Any]] | None:
    """Return the measure of the colors of points, the color levels and the values; None where none has such values."""
    try:
        column = mapped_column(results, view, None, None)
    except InputError:
        return None
    values = map_values(results, names, column)
    return column, {name: point_levels(point_shares(column, name, values[name])) for name in names}, values


# Maps.


def _map_parts(
    results: Results, view: ResultView, names: Sequence[str], order: Sequence[str], short: Mapping[str, str]
) -> Iterator[Part]:
    """Yield the maps of the points with their reading panel; of more embeddings the script shows any other one."""
    names, order = ([name for name in part if results.embeddings[name].shape[1]] for part in (names, order))
    if not names:
        return
    classes, mapped = class_colors(results.labels), mapped_values(results, view, order)
    n = len(results.embeddings[names[0]])
    step = -(-len(names) * n // MAX_MAP_POINTS)
    panels = []
    for at, name in enumerate(names):
        Y, hollow = results.embeddings[name][::step], results._like_noise(name)
        levels = mapped[1][name][::step] if mapped else np.full(len(Y), -1)
        drawn_classes = None if classes is None else Classes(classes.codes[::step], classes.names, classes.colors)
        label = f"Map {name}, {count_noun(n, 'point')}"
        drawing = map_svg(Y, levels, drawn_classes, None if hollow is None else hollow[::step], label, at)
        panels.append(Panel(name, short[name], map_aside(view, name, results.embeddings[name].shape[1]), drawing))
    column, _, values = mapped or (None, {}, {})
    notes = [f"One point in {step} is drawn."] if step > 1 else []
    has_hollow = any(results._like_noise(name) is not None for name in order)
    notes += ["Hollow: not distinguished from noise."] if has_hollow else []
    points = point_data(results, view, names, column, values)
    if len(names) < len(order):
        has_choice = bool(points) and not has_hollow and len(order) * n <= MAX_NAMED_POINTS
        plot_hint = "" if has_choice else "; results.plot(names=[…]) draws others"
        notes.append(f"The first {len(names)} of {len(order)} embeddings{plot_hint}.")
        if has_choice:
            levels = {} if mapped is None else mapped[1]
            others = [
                other_map(results, name, levels.get(name), map_aside(view, name, results.embeddings[name].shape[1]))
                for name in order[len(names) :]
            ]
            points = {**points, "others": others, "hues": None if classes is None else classes.codes.tolist()}
    text = "" if mapped is None else _trust_text(mapped[0], {name: mapped[2][name] for name in names})
    if text:
        yield Paragraph(text, "lead")
    yield Maps(
        panels,
        list(classes.names) if classes else [],
        None if column is None else scale_words(column),
        points,
        notes,
    )


def map_aside(view: ResultView, name: str, d: int) -> str:
    """Return the share of kept neighbors, and which columns are drawn."""
    overlap = view.find_column("neighborhood_overlap")
    parts = [f"{format_fixed(100 * overlap.values[name], 0)} % kept"] if overlap and name in overlap.values else []
    parts += ["all points in one place"] if name in view.collapsed else []
    parts += ["one column, as a strip"] if d == 1 else [f"columns 1 and 2 of {d}"] if d > 2 else []
    return ", ".join(parts)


def scale_words(column: Column) -> tuple[str, str, str]:
    """Return the measure of the colors and the texts of both ends of their scale."""
    perfect = column.bounds[1] if column.higher else column.bounds[0]
    chance = f"chance {without_zero(column.short_chance)}" if column.short_chance else "worst"
    return column.title_in_sentence, chance, f"perfect {perfect:g}" if math.isfinite(perfect) else "best"


def _trust_text(column: Column, values: Mapping[str, Any]) -> str:
    """Return how many points are closer to chance than to perfect on each map, in a sentence."""
    counts: dict[int, list[str]] = {}
    for name, of_points in values.items():
        shares = point_shares(column, name, of_points)
        if np.isfinite(shares).any():
            counts.setdefault(int((shares < 0.5).sum()), []).append(name)
    if not counts or not column.chance:
        return ""
    n = len(next(iter(values.values())))
    if len(counts) > MAX_TRUST_COUNTS:
        (least, lowest), (most, highest) = min(counts.items()), max(counts.items())
        ends = f"from {least:,} on {list_names(lowest)} to {most:,} of {n:,} on {list_names(highest)}"
        return f"Points whose {column.title_in_sentence} is closer to chance than to perfect: {ends}."
    texts = [
        f"{'none' if count == 0 else f'{count:,}'}{f' of {n:,}' * (place == 0 and count > 0)} on {list_names(names)}"
        for place, (count, names) in enumerate(sorted(counts.items()))
    ]
    return f"Points whose {column.title_in_sentence} is closer to chance than to perfect: {join_and(texts)}."


# Curves over neighborhood sizes.


def _size_parts(
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
            drawing = curve_svg(curve, name, others, len(order) > MAX_PANELS, view.k, title)
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
        many = count > MAX_PANELS
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


# All measures.


def _measure_parts(view: ResultView, names: Sequence[str], short: Mapping[str, str]) -> Iterator[Part]:
    """Yield the table of all measures with how to read it, and all values with their settings."""
    computed = [name for name in names if name not in view.failed]
    text = _best_counts_text(view, computed)
    if text:
        yield Paragraph(text, "lead")
    if len(computed) <= MAX_MEASURES_DOWN:
        yield _measures_down(view, computed, short)
    else:
        yield from _embeddings_down(view, computed, short)
    yield Paragraph(_score_note(view), "note")
    all_values = _all_values_table(view)
    ties = any(not math.isnan(row["worst"]) for row in view.rows)
    ties_text = f" and the {'bounds' if view.is_of_lists else 'values over all orders of ties'}" if ties else ""
    summary = f"All values: {len(all_values.cells):,} rows, with the ends of the intervals{ties_text}"
    yield Details(summary, [all_values], screen=True)


def _best_counts_text(view: ResultView, names: Sequence[str]) -> str:
    """Return of how many measures each embedding is in the best set, in a sentence."""
    best_sets = [best_set for column in view.by_goal if (best_set := view.best_set(column)).best]
    names = [name for name in names if name in view.contenders]
    if len(names) < 2 or not best_sets:
        return ""
    counts = {name: sum(name in best_set.best for best_set in best_sets) for name in names}
    groups = [(count, [n for n in names if counts[n] == count]) for count in sorted(set(counts.values()), reverse=True)]
    tested = all(best_set.tested for best_set in best_sets)
    verb = ("is in the best set", "are in the best set") if tested else ("has the best value", "have the best value")
    texts = []
    for place, (count, members) in enumerate(groups):
        is_long = view.has_many and len(members) > MAX_ASIDE_NAMES
        named = f"{len(members)} {'others' if place else 'embeddings'}" if is_long else list_names(members)
        number = "all " * (1 < count == len(best_sets)) + number_word(count) if count else "none"
        measures = f"{number}{'' if count == len(best_sets) else f' of {number_word(len(best_sets))}'} "
        measures += "measure" if len(best_sets) == 1 else "measures"
        texts.append(f"{named} {verb[len(members) > 1]} of {measures}" if place == 0 else f"{named} of {number}")
    return f"{', '.join(texts)}."


def _score_note(view: ResultView) -> str:
    """Return how to read the table of all measures."""
    parts = []
    best_sets = [best_set for column in view.by_goal if (best_set := view.best_set(column)).best]
    if any(best_set.tested for best_set in best_sets):
        parts.append("● best set, tested measure by measure, adjusted over the embeddings, not over the measures.")
    elif best_sets:
        parts.append("● best value; no test.")
    if any(column.has_any_interval for column in view.main_columns):
        parts.append(f"Small: half the {view.level} interval, or both sides where they differ.")
    parts.append("Bar: from chance to perfect; an empty bar: no better than chance. ↓ lower is better.")
    if any(" to " in column.chance for column in view.by_goal):
        parts.append("≈ differs between the embeddings.")
    if any(column.ties_matter(name) for column in view.main_columns for name in column.values):
        parts.append("“Ties”: worst and best over all orders of equal distances.")
    if any(column.bounds_text(name) for column in view.main_columns for name in view.computed):
        parts.append("Bounds: between them is the value of any data with these lists of neighbors.")
    if view.k is not None:
        parts.append(f"Neighborhoods of k = {view.k}.")
    return " ".join(parts)


def _measures_down(view: ResultView, names: Sequence[str], short: Mapping[str, str]) -> Table:
    """Return the table of few embeddings: a row for each measure, below its question."""
    rows: list[list[Any]] = []
    by_title = groupby(view.by_goal, key=lambda column: column.topic)
    for title, part in by_title:
        measures = list(part)
        rows.append([Cell(title or "Other measures", "text", note=GOALS[measures[0].goal].question if title else "")])
        for column in measures:
            term = ", ".join(filter(None, [column.term, _other_parameters(view, column)]))
            head = Cell(_down_title(column), "text", small=[term], note=column.question)
            values = [_score_cell(view, column, name) for name in names]
            rows.append([head, *values, Cell(_chance_text(column), "number", "soft", note=_chance_note(column))])
    columns = [
        TableColumn("Measure", "text"),
        *(TableColumn(short[name], "value", question=name, is_name=True) for name in names),
    ]
    return Table(
        "",
        [*columns, TableColumn("Chance", "number")],
        rows,
        caption="Table of all measures",
        style="scores",
        sortable=False,
    )


def _embeddings_down(view: ResultView, names: Sequence[str], short: Mapping[str, str]) -> Iterator[Part]:
    """Yield the table of many embeddings by one measure a question, and the remaining measures folded."""
    chosen = question_columns(view)
    remaining = [column for column in view.by_goal if column not in chosen]
    yield _embedding_rows(view, names, short, chosen, "One measure a question")
    for start in range(0, len(remaining), MAX_MEASURES_ACROSS):
        columns = remaining[start : start + MAX_MEASURES_ACROSS]
        titles = f"Other measures: {join_and([column.title_in_sentence for column in columns])}"
        yield Details(titles, [_embedding_rows(view, names, short, columns, titles)])


def _embedding_rows(
    view: ResultView, names: Sequence[str], short: Mapping[str, str], columns: Sequence[Column], caption: str
) -> Table:
    """Return values with a row for each embedding."""
    heads = [
        TableColumn(
            _down_title(column),
            "value",
            question=column.question,
            higher=column.higher,
            below=", ".join(filter(None, [column.term, _other_parameters(view, column)])),
        )
        for column in columns
    ]
    rows = [
        [Cell(short[name], "name", note=name), *(_score_cell(view, column, name) for column in columns)]
        for name in names
    ]
    chance = [Cell("Chance", "text"), *(Cell(_chance_text(c), "number", "soft", note=_chance_note(c)) for c in columns)]
    visible = MAX_OPEN_ROWS if len(rows) > MAX_OPEN_ROWS else 0
    return Table(
        "",
        [TableColumn("Embedding", "name"), *heads],
        rows,
        foot_row=chance,
        caption=caption,
        style="scores",
        visible_rows=visible,
    )


def _down_title(column: Column) -> str:
    """Return the title of a measure, with an arrow where lower is better."""
    return column.title + {"higher": "", "lower": " ↓"}.get(column.direction, f", {column.direction_text}")


def _other_parameters(view: ResultView, column: Column) -> str:
    """Return the parameters of a measure, without the number of neighbors that the page names once."""
    named = (NEIGHBORS_PARAMETER, str(view.k))
    return parameter_text(dict(setting for setting in column.settings.items() if setting != named))


def _chance_text(column: Column) -> str:
    """Return the chance level; the middle of several that differ little, with a sign."""
    if " to " not in column.chance:
        return "0" if column.chances and not any(column.chances) else without_zero(column.chance) or MISSING_VALUE
    if column.short_chance == DIFFERS:
        return DIFFERS
    middle = sum(column.chances) / len(column.chances)
    return f"≈ {without_zero(format_fixed(middle, min(column.decimals, 2)))}"


def _chance_note(column: Column) -> str:
    """Return the range of chance levels that differ."""
    return column.chance if " to " in column.chance else ""


def _score_cell(view: ResultView, column: Column, name: str) -> Cell:
    """Return the value of one embedding with its interval and its bar; a missing one has its reason."""
    cell = column.cells.get(name)
    if cell is None or cell.missing:
        bounds = column.bounds_text(name)
        reason = missing_reason(view, column, name)
        return Cell(MISSING_VALUE, "value", sort="", note=reason, small=[f"bounds {bounds}"] if bounds else [])
    ties = column.tie_range(name)
    small = _half_widths(column, name)
    return Cell(
        without_zero(column.format_value(cell.value)),
        "value",
        "best" if name in view.best_set(column).best else "",
        sort=repr(float(cell.value)),
        note=". ".join(filter(None, [cell.note, f"over all orders of equal distances: {ties}" if ties else ""])),
        small=[small] if small else [],
        ties=ties if column.ties_matter(name) else "",
        bar=bar_of(column, name),
    )


def _half_widths(column: Column, name: str) -> str:
    """Return half the interval of an embedding; both sides where they differ in print; empty without an interval."""
    cell = column.cells[name]
    if not cell.has_interval:
        return ""
    if column.is_symmetric(name):
        return column.half_text(name)
    below, above = (
        without_zero(column.format_value(abs(side))) for side in (cell.value - cell.low, cell.high - cell.value)
    )
    return f"−{below} +{above}"


def _all_values_table(view: ResultView) -> Table:
    """Return every value with the ends of its interval."""
    computed_rows = [row for row in view.rows if row["embedding"] not in view.failed]
    intervals = any(not math.isnan(row["conf_low"]) for row in view.rows)
    ties = any(not math.isnan(row["worst"]) for row in view.rows)
    columns = {(column.measure, column.parameters): column for column in view.columns}
    rows = []
    for row in computed_rows:
        column = columns[row["measure"], row["parameters"]]
        cell = column.cells[row["embedding"]]
        text = column.format_value
        ends = "" if not cell.has_interval else f"{text(cell.low)} to {text(cell.high)}"
        orders = "" if math.isnan(cell.worst) else f"{text(cell.worst)} to {text(cell.best)}"
        orders = column.bounds_text(row["embedding"]).strip("[]").replace(", ", " to ") or orders
        rows.append(
            [
                Cell(row["embedding"], "name"),
                Cell(column.title, "text"),
                Cell(parameter_text(column.parameters, full=True), "text"),
                Cell(MISSING_VALUE if cell.missing else text(cell.value), "number"),
                *[Cell(ends, "number")] * intervals,
                Cell("" if math.isnan(cell.chance) else text(cell.chance), "number"),
                *[Cell(orders, "number")] * ties,
                Cell(cell.note, "note"),
            ]
        )
    numbers = [
        "Value",
        *[f"{view.level} interval"] * intervals,
        "Chance",
        *["Bounds" if view.is_of_lists else "Ties: worst, best"] * ties,
    ]
    heads = [TableColumn("Embedding", "name"), TableColumn("Measure", "text"), TableColumn("Parameters", "text")]
    heads += [*(TableColumn(title, "number") for title in numbers), TableColumn("Note", "note")]
    return Table("All values", heads, rows, caption="One row for each embedding, measure and parameter")


# Differences.


def _difference_parts(view: ResultView, short: Mapping[str, str]) -> Iterator[Part]:
    """Yield which embeddings differ, as the page of the comparison of all of them does."""
    if view.comparison is not None:
        ordered = [*view.by_goal, *(column for column in view.columns if column not in view.main_columns)]
        columns = {full_name(column.measure, column.parameters): column for column in ordered}
        yield from _collapsed_part(view)
        has_levels = view.comparison.recipe["adjust"] != "nothing" and len(view.by_goal) > 1
        is_tested = any(view.best_set(column).tested for column in view.by_goal)
        note = LEVEL_NOTE if has_levels and is_tested else ""
        yield from difference_parts(view.comparison, columns, short, _borderline_leads(view), note)


def _borderline_leads(view: ResultView) -> set[Lead]:
    """Return the pairs that the answers call borderline."""
    lines = [line for ranking in measure_rankings(view) for line in borderlines(view, ranking)]
    return {
        (full_name(line.column.measure, line.column.parameters), frozenset((line.best, line.other))) for line in lines
    }


def _collapsed_part(view: ResultView) -> list[Part]:
    """Return that the differences are also those from embeddings in one place, which are never best."""
    names, several = list_names(view.collapsed), len(view.collapsed) > 1
    text = f"All points of {names} are in one place: {'they are' if several else 'it is'} tested here but never best."
    return [Paragraph(text)] if view.collapsed else []


def _new_points_parts(results: Results, short: Mapping[str, str]) -> Iterator[Part]:
    """Yield what each map keeps of the neighbors of new points, the maps with these points, and their values."""
    records = results._out_of_sample
    if not records:
        return
    yield from (Paragraph(text, "lead") for _, text in new_points_lines(results, isolate_name))
    panels = []
    for name, record in records.items():
        aside = count_noun(len(record), "new point")
        panels.append(Panel(name, short[name], aside, new_points_svg(record, f"Map {name} with {aside}")))
    swatches = [("rf", "points of the data"), ("nw", "new points")]
    if any(record.flagged.any() for record in records.values()):
        swatches.append(("nf", "new points that the map does not represent"))
    reading = ["Each new point is compared with the points of the data alone."]
    if (results.recipe.get("new") or {}).get("share"):
        reading.append("These maps are fits without the left-out rows, and differ from those above.")
    yield Grid(panels, "Reading the maps", reading, swatches)
    yield Details("Values of the new points", new_points_tables(results))


# Tests and distances.


def _test_title(group: TestGroup) -> str:
    """Return the question of some tests, which names the classes where only these were tested."""
    variables = {row["variable"] for row in group.tests}
    return "Do the maps depend on the classes?" if group.id == "tests" and variables == {"labels"} else group.title


def _test_parts(results: Results, group: TestGroup, max_histograms: int) -> list[Part]:
    """Return the text and the table of some tests, and their null distributions folded."""
    parts: list[Part] = [Paragraph(group.text, "lead")]
    parts += [group.errors] if group.errors else []
    n_visible = visible_rows(len(group.tests))
    parts += [replace(test_page_table(group), visible_rows=n_visible)] if group.tests else []
    with_null = [(row, null) for row in group.tests if len((null := stored_null(results, row)).counts)]
    with_null.sort(key=lambda test_and_null: (str(test_and_null[0]["variable"]), str(test_and_null[0]["test"])))
    panels = []
    for row, null in with_null[: max(max_histograms, 0)]:
        test, variable = str(row["test"]).upper(), printable(row["variable"])
        numbers = true_minus(f"null mean {row['chance']:.3g}, {decisive_p(row)}")
        label = true_minus(f"{test} of {row['embedding']} and {variable}: observed {row['statistic']:.4g}, {numbers}")
        drawing = null_svg(null.low, null.high, null.counts, float(row["statistic"]), label)
        name = printable(row["embedding"])
        panels.append(
            Panel(name, short_names([name], MAX_NAME_BREADTH)[name], f"{test}, {variable}: {numbers}", drawing)
        )
    if panels:
        of = f" of {len(with_null)}" if len(panels) < len(with_null) else ""
        reading = ["Gray: the statistic under the null hypothesis. Line: as observed."]
        reading += ['results.plot("null") draws any of them.'] if of else []
        grid = Grid(panels, "Reading the histograms", reading)
        parts.append(Details(f"Null distributions: {len(panels)}{of} histograms", [grid], screen=True))
    return parts


def _distance_parts(
    results: Results, view: ResultView, names: Sequence[str], short: Mapping[str, str]
) -> Iterator[Part]:
    """Yield the Shepard diagrams, folded."""
    drawn = [name for name in names if name in results._shepard]
    if not drawn:
        return
    panels = [
        Panel(name, short[name], rank_correlation_text(view, name), distances_svg(results._shepard[name], name))
        for name in drawn
    ]
    grid = Grid(panels, "Reading the diagrams", [shepard_text(results._shepard[drawn[0]])])
    yield Details(
        f"Shepard diagram{'s' * (len(drawn) > 1)} of {count_noun(len(drawn), 'embedding')}", [grid], screen=True
    )


# The report as a text.

FIGURE_CAPTIONS = {
    "embedding": "The points of each embedding, colored by class where there are classes",
    "map": "The quality of a measure where the points are, from worse to better",
    "curve": "{} against the number of neighbors",
    "shepard": "Distances in each embedding against those in the data",
}


def _text_sections(results: Results, view: ResultView, folder: FigureFolder) -> Iterator[Section]:
    """Yield the sections of a text between the answers and the limits."""
    all_tables = summarize(results, full=True).tables if view.computed else []
    new_titles = {table.title for table in new_points_tables(results)}
    tests = [table for table in all_tables if table.title and table.title not in new_titles]
    names = [*(name for name in view.ranked if name not in view.reference), *view.failed]
    items = [_text_card(view, name) for name in names if len(view.names) > 1 and not view.has_many]
    yield Section("Each embedding", [Items(items)] if items else [])
    has_values = bool(view.computed and view.by_goal)
    yield Section(TITLE, [value_table(results)] if has_values else [])
    curves = [*results.curves["measure"].unique(), *(family[0].measure for family in view.curves[:MAX_FAMILIES])]
    points = [("embedding", ""), ("map", "")]
    yield Section("Where can each map be trusted?", list(_figure_files(results, view, folder, points)))
    scales = [("curve", measure) for measure in dict.fromkeys(curves)]
    yield Section("At which neighborhood size?", list(_figure_files(results, view, folder, scales)))
    rows = [] if view.comparison is None else difference_rows(view.comparison, _borderline_leads(view))
    differ: list[Part] = []
    if view.comparison is not None and rows and not view.has_many:
        differ = [Paragraph(difference_text(view.comparison, rows)), *_collapsed_part(view)]
        differ += pair_tables(view.comparison)
    yield Section("Is one better than another?", differ)
    yield Section("Are new points where they belong?", list(_new_points_text(results, folder)))
    yield Section("Is the fidelity real, or fit to noise?", list(held_out_parts(results)))
    test_text = [Paragraph(rejection_text(view, view.tests))] if tests else []
    yield Section("Do the maps depend on what is known?", [*test_text, *tests])
    distances = [("shepard", "")] if results._shepard else []
    yield Section("How are distances kept?", list(_figure_files(results, view, folder, distances)))
    yield Section("All values", [table for table in all_tables if not table.title])


def _new_points_text(results: Results, folder: FigureFolder) -> Iterator[Part]:
    """Yield the map of new points on each embedding, and their values."""
    yield from (Paragraph(text) for _, text in new_points_lines(results, isolate_name))
    for (name, record), table in zip(results._out_of_sample.items(), new_points_tables(results), strict=True):
        with figure_style():
            figure: Any = record.plot()
        yield folder.figure(figure, f"new-{name}", f"New points on {name}")
        yield table


def _text_card(view: ResultView, name: str) -> str:
    """Return where an embedding is best and its first caution, in a line."""
    if name in view.failed:
        return f"{isolate_name(name)}: could not be computed: {view.failed[name]}"
    warning = _first_caution_text(view, name)
    text = " ".join(filter(None, [standing(view, name).text, warning]))
    return f"{isolate_name(name)}: {text}" if text else isolate_name(name)


def _figure_files(
    results: Results, view: ResultView, folder: FigureFolder, kinds: Sequence[tuple[str, str]]
) -> Iterator[FigureFile]:
    """Yield figures of these kinds and measures; those that the result has no values for are left out."""
    for kind, measure in kinds if view.computed else ():
        options: dict[str, Any] = {"measure": measure} if measure else {}
        if kind != "curve" and view.has_many:
            options = {**options, "names": list(view.featured)}
        with warnings.catch_warnings():  # letters without a font: SVG uses the reader's fonts
            warnings.simplefilter("ignore", DrevalWarning)
            try:
                figure = plot(results, kind, **options)
            except InputError:
                continue
            caption = FIGURE_CAPTIONS[kind].format(measure_title(measure) if measure else "")
            yield folder.figure(figure, f"{kind}-{measure}" if measure else kind, caption)


# Limits, settings and definitions.


VISIBLE_ROWS = 12  # rows of a long table that a page shows at first


def visible_rows(count: int) -> int:
    """Return how many rows of a long table a page shows at first; 0 for all."""
    return VISIBLE_ROWS if count > MAX_OPEN_ROWS else 0
