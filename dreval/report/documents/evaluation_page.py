"""The page of an evaluation: its first screen, tables, maps, curves, differences, limits and definitions."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dreval._text import printable, true_minus
from dreval.errors import DrevalWarning, InputError
from dreval.records.frames import full_name, groups_text
from dreval.records.results import Results
from dreval.report._style import figure_style
from dreval.report.best_sets import borderlines, measure_rankings, question_columns
from dreval.report.document import (
    Answers,
    Bar,
    Card,
    Cards,
    Details,
    Document,
    FigureFile,
    Grid,
    Items,
    Panel,
    Paragraph,
    Part,
    Section,
    visible_rows,
)
from dreval.report.documents.closing import _settings, _sources, closing_sections, glossary, limits
from dreval.report.documents.comparison import pair_tables
from dreval.report.documents.evaluation import answers_of_tests, classes_at_chance, summarize
from dreval.report.documents.evaluation_curves import MAX_FAMILIES, size_parts
from dreval.report.documents.evaluation_maps import map_parts, mapped_values
from dreval.report.documents.evaluation_measures import measure_table_parts
from dreval.report.documents.evaluation_notes import printed_notes
from dreval.report.documents.held_out import held_out_parts
from dreval.report.documents.out_of_sample import new_points_lines, new_points_tables
from dreval.report.documents.pairs import Lead, difference_parts, difference_rows, difference_text
from dreval.report.documents.tests import TestGroup, method_measures_table, rejection_text, test_groups, test_page_table
from dreval.report.documents.value_tables import TITLE, best_mark_text, value_table
from dreval.report.figure_folder import FigureFolder
from dreval.report.figures._pairs import rank_correlation_text, shepard_text
from dreval.report.figures.nulls import stored_null
from dreval.report.figures.page import bar_of, distances_svg, new_points_svg, null_svg, percent_or_value, thumbnail
from dreval.report.findings import Answer, findings_text, list_names
from dreval.report.format import MAX_NAME_BREADTH, count_noun, decisive_p, join_and, number_word, short_names, test_name
from dreval.report.plot import plot
from dreval.report.render.markup import isolate_name
from dreval.report.result_findings import ALL_CAUTIONS, first_caution, standing, verdict
from dreval.report.result_view import MAX_SIDE_BY_SIDE, Column, ResultView, assumptions_text, measure_title, metric_text

MAX_OPEN_CARDS = 10
MAX_HISTOGRAMS = 24
ALL_CAUTIONS_BELOW = "see all cautions below"
LEVEL_NOTE = "Best sets (●) hold at 5 % for each measure; these tests hold at 5 % for all measures together."


def results_report(results: Results, view: ResultView, title: str | None, folder: FigureFolder | None) -> Document:
    """Return the whole report of a result, in order: of a page, or of a text with figures in a ``folder``."""
    sizes = {name: Y.shape[1] for name, Y in results.embeddings.items() if Y.shape[1]}
    dimensions = {name: sizes[name] for name in view.contenders if name in sizes}
    has_intervals = any(row["conf_method"] for row in view.rows)
    is_tested = any(view.best_set(column).tested for column in view.by_goal)
    best = best_mark_text(view, view.by_goal) if len(view.contenders) > 1 else ""
    answers = Answers(
        [
            *((answer.question, _answer_text(answer, folder is None)) for answer in verdict(view)),
            *(("Tests", text) for text in answers_of_tests(view, classes_at_chance(view))),
        ],
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
    drawn = order[:MAX_SIDE_BY_SIDE] if view.has_many else order
    cards = [embedding_cards(results, view, names, short), *_all_cautions(view)] if names else []
    yield Section("Each embedding", cards, "cards")
    has_values = bool(view.by_goal and view.computed)
    yield Section(
        "All measures", list(measure_table_parts(view, names, short)) if has_values else [], "measures", "Measures"
    )
    parts = list(map_parts(results, view, drawn, order, short))
    yield Section("Where can each map be trusted?", parts, "maps", "Maps")
    yield Section("At which neighborhood size?", list(size_parts(results, view, drawn, order, short)), "sizes", "Sizes")
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
        cards,
        _card_note(view, columns, mapped[0] if mapped and has_map else None),
        len(cards) if len(cards) <= MAX_OPEN_CARDS else MAX_OPEN_CARDS,
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


def _card_note(view: ResultView, columns: Sequence[Column], mapped: Column | None) -> str:
    """Return how to read the cards."""
    parts = []
    if len(view.computed) > 1:
        parts.append("Best first: by the number of questions with a place in a best set, then of measures.")
    if mapped:
        k = f" of their {view.k} nearest on the map" if view.k is not None else ""
        parts.append(f"Points: {mapped.title_in_sentence}{k}, from {' to '.join(mapped.scale_meanings)}.")
    if columns:
        parts.append(f"Bars: {'; '.join(column.title_in_sentence for column in columns)}.")
    return " ".join(parts)


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
        test, variable = test_name(str(row["test"])), printable(row["variable"])
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
