"""The table of values of an evaluation for a document, in every form."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dreval._check import check_names, check_one_of
from dreval._text import without_zero
from dreval.comparison.families import names_hint
from dreval.errors import InputError
from dreval.records.frames import parameters_of
from dreval.records.results import Results
from dreval.records.tests import LEVEL
from dreval.registry import MEASURES
from dreval.report.comparison_view import is_paired
from dreval.report.document import Cell, Table, record_document
from dreval.report.document import Column as TableColumn
from dreval.report.findings import MAX_LISTED_NAMES
from dreval.report.format import distinct_short_names, join_and, number_word
from dreval.report.render.html import html_tables
from dreval.report.render.latex import latex
from dreval.report.render.markdown import markdown_table
from dreval.report.render.markup import with_code_points
from dreval.report.result_view import (
    NEIGHBORS_PARAMETER,
    Column,
    ResultView,
    interval_targets,
    neighbors_of,
    parameter_text,
    read_results,
)

MAX_EMBEDDINGS_ACROSS = 6  # embeddings side by side in a table
FEW_NAME_LETTERS = 18  # letters of a name over one of at most three columns
ROW_CHOICES = ("auto", "embeddings", "measures")
ARROWS = {"higher": "↑", "lower": "↓"}
TITLE = "How well each embedding keeps the data"
CHANCE = "chance level"
UNTESTED_MARK = " °"


def to_html(results: Results, measures: Any = None, *, rows: str = "auto") -> str:
    """See ``Results.to_html``."""
    return html_tables([value_table(results, measures, rows)])


def to_latex(results: Results, measures: Any = None, *, rows: str = "auto", label: str | None = None) -> str:
    """See ``Results.to_latex``."""
    return latex(record_document(TITLE, (), [value_table(results, measures, rows, narrow=True)]), label)


def to_markdown(results: Results, measures: Any = None, *, rows: str = "auto") -> str:
    """See ``Results.to_markdown``."""
    return markdown_table(value_table(results, measures, rows)) + "\n"


def value_table(results: Results, measures: Any = None, rows: str = "auto", *, narrow: bool = False) -> Table:
    """Return values with intervals, the best set bold, chance levels, and an explanation below them.

    Names over ``narrow`` columns are short: those of measures are symbols, with a key below the table.
    """
    rows = check_one_of(rows, ROW_CHOICES, "rows", aliases=True)
    view = read_results(results)
    names, columns = view.ranked, _requested_columns(view, measures)
    if not columns or not names:
        raise InputError("results", "must hold a value of a measure", "none", "Run one, such as 'trustworthiness'.")
    targets = interval_targets(
        results.recipe, [row for row in view.rows if row["measure"] in {c.measure for c in columns}]
    )
    is_transposed = rows == "embeddings" or (rows == "auto" and len(names) > MAX_EMBEDDINGS_ACROSS)
    symbols = narrow and is_transposed
    heads = [_measure_head(column, column.short_title if symbols else column.title, view.k) for column in columns]
    cells = [[_value_text(column, name) for name in names] for column in columns]
    best_sets = [view.best_set(column) for column in columns]
    for best_set, line in zip(best_sets, cells, strict=True):
        for place, name in enumerate(names):
            line[place] = (
                Cell(line[place], emphasis="best")
                if name in best_set.best
                else line[place] + UNTESTED_MARK * (name in best_set.unjudged)
            )
    chances, scales = (
        [without_zero(column.chance) for column in columns],
        {neighbors_of(column) for column in columns} - {None},
    )
    key = {column.short_title: column.title_in_sentence for column in columns if symbols and column.symbol}
    foot_parts = [f"{ARROWS[side]} {side} is better" for side in ARROWS if any(c.direction == side for c in columns)]
    foot_parts += [f"k = {view.k}{' where no other is given' * (len(scales) > 1)}"] if view.k in scales else []
    foot_parts += [f"± or in parentheses: {view.level} interval for {' or '.join(targets)}"] if targets else []
    foot_parts += (
        [f"{UNTESTED_MARK.strip()} not comparable with the others by a test"]
        if any(best_set.unjudged for best_set in best_sets)
        else []
    )
    foot_parts += [f"{symbol}: {foot_text}" for symbol, foot_text in key.items()]
    foot_parts += [f"{name}: the data, for reference" for name in view.reference]
    foot_parts += [f"{name} failed" for name in view.failed]
    foot_text, best = f"{'; '.join(foot_parts)}." if foot_parts else "", best_mark_text(view, columns, symbols)
    sizes = {name: results.embeddings[name].shape[1] for name in names if name in results.embeddings}
    if len(set(sizes.values())) > 1:
        names = tuple(f"{name} (d = {sizes[name]})" if name in sizes else name for name in names)
    if is_transposed:
        lines = [[name, *line] for name, line in zip(names, zip(*cells, strict=True), strict=True)]
        lines += [[CHANCE, *chances]] if any(chances) else []
        return Table("", ["", *map(TableColumn, heads)], lines, foot=foot_text, best=best)
    if narrow:
        short = distinct_short_names(list(map(with_code_points, names)), FEW_NAME_LETTERS)
        foot_text = " ".join([foot_text, *(f"{form}: {name}." for name, form in short.items() if form != name)])
        names = tuple(short.values())
    lines = [[Cell(head, "text"), *line, chance] for head, line, chance in zip(heads, cells, chances, strict=True)]
    return Table("", ["", *names, "chance"], lines, foot=foot_text, best=best)


def _requested_columns(view: ResultView, measures: Any) -> tuple[Column, ...]:
    """Return the columns of the requested measures, in the order of the request; all by default."""
    run = list(dict.fromkeys(column.measure for column in view.columns))
    requested = run if measures is None else check_names(measures, "measures", names_hint(measures, run))
    names = [MEASURES.check_run(name, run, "measures") for name in dict.fromkeys(requested)]
    return tuple(column for name in names for column in view.columns if column.measure == name)


def _measure_head(column: Column, name: str, k: int | None) -> str:
    """Return a measure, the parameters that differ from its card or the others, and an arrow to its better end."""
    defaults = MEASURES.card(column.measure).parameters if column.measure in MEASURES else {}
    parameters, scale = parameters_of(column.parameters), neighbors_of(column)
    settings: dict[str, Any] = {} if scale in (k, None) else {NEIGHBORS_PARAMETER: scale}
    settings |= {
        key: value
        for key, value in parameters.items()
        if key != NEIGHBORS_PARAMETER and str(defaults.get(key)) != value
    }
    setting_text = f"({parameter_text(settings)})" if settings else ""
    return " ".join(filter(None, [name, setting_text, ARROWS.get(column.direction, "")]))


def _value_text(column: Column, name: str) -> str:
    """Return a value and its interval."""
    if name not in column.values:
        return "missing"
    interval = column.interval(name)
    interval_text = interval if interval.startswith("±") else f"({interval})"
    return without_zero(column.format_value(column.values[name]) + (f" {interval_text}" if interval else ""))


def best_mark_text(view: ResultView, columns: Iterable[Column], symbols: bool = False) -> str:
    """Return the meaning of the mark of the best in a table of some columns; empty where none has it."""
    with_best = [column for column in columns if view.best_set(column).best]
    untested = [column for column in with_best if not view.best_set(column).tested]
    if len(untested) == len(with_best):
        return "best value, not tested" if with_best else ""
    titles = dict.fromkeys(column.short_title if symbols else column.title_in_sentence for column in untested)
    few = len(titles) <= MAX_LISTED_NAMES + 1
    names = join_and(list(titles)) if few else f"{number_word(len(titles))} measures"
    each = " a measure" * (len(with_best) > 1)
    paired = "paired, " * (view.comparison is not None and is_paired(view.comparison))
    text = f"best or not significantly worse ({paired}{100 * LEVEL:g} %{each})"
    return f"{text}; by {names} the best value, not tested" if titles else text
