"""The tables of all measures on the page of an evaluation: few embeddings side by side, many below each other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from dreval._text import format_fixed, without_zero
from dreval.measures.core import GOALS
from dreval.report.best_sets import question_columns
from dreval.report.document import MAX_OPEN_ROWS, MISSING_VALUE, Cell, Details, Paragraph, Part, Table
from dreval.report.document import Column as TableColumn
from dreval.report.figures.page import bar_of
from dreval.report.findings import list_names
from dreval.report.format import join_and, number_word
from dreval.report.result_findings import missing_reason
from dreval.report.result_view import (
    DIFFERS,
    MIXING_SCALE,
    NEIGHBORS_PARAMETER,
    TARGET_PARAMETER,
    Column,
    ResultView,
    parameter_text,
)

MAX_MEASURES_DOWN = 6  # embeddings side by side in the table of all measures; of more, embeddings are the rows
MAX_MEASURES_ACROSS = 8  # further measures in one table of many embeddings
MAX_NAMED_ALIKE = 2  # embeddings that are best by the same number of measures, of which a sentence on many names all


def measure_table_parts(view: ResultView, names: Sequence[str], short: Mapping[str, str]) -> Iterator[Part]:
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
        is_long = view.has_many and len(members) > MAX_NAMED_ALIKE
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
    parts += [MIXING_SCALE] if any(column.aims_at_chance for column in view.main_columns) else []
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
    """Return the parameters of a measure that the page names nowhere else: not the number of neighbors, or a target."""
    named = (NEIGHBORS_PARAMETER, str(view.k)), (TARGET_PARAMETER, str(column.target))
    return parameter_text(dict(setting for setting in column.settings.items() if setting not in named))


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
