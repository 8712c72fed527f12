"""The tables of values of an evaluation: one for a document, in every form, and the printed one."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

import numpy as np

from dreval._check import check_names, check_one_of
from dreval.comparison.families import names_hint
from dreval.errors import InputError
from dreval.measures.core import GOALS
from dreval.records.frames import parameters_of
from dreval.records.results import Results
from dreval.records.tests import LEVEL
from dreval.registry import MEASURES
from dreval.report.best_sets import question_columns
from dreval.report.comparison_view import is_paired
from dreval.report.document import TERMINAL_COLUMNS, Cell, Table, record_document
from dreval.report.document import Column as TableColumn
from dreval.report.findings import MAX_LISTED_NAMES
from dreval.report.format import count_noun, distinct_short_names, format_fixed, join_and, number_word, without_zero
from dreval.report.render.html import html_tables
from dreval.report.render.latex import latex
from dreval.report.render.markdown import markdown_table
from dreval.report.render.markup import with_code_points
from dreval.report.render.text import table_width
from dreval.report.result_view import (
    DIFFERS,
    NEIGHBORS_PARAMETER,
    Column,
    MeasuredValue,
    ResultView,
    assumptions_text,
    independent_unit,
    interval_targets,
    neighbors_of,
    parameter_text,
    read_results,
    target_text,
)

MAX_EMBEDDINGS_ACROSS = 6  # embeddings side by side in a table
MAX_UNTESTED_NAMED = 4  # values that have no test and are named
MAX_SYMBOLS_EXPLAINED = 15  # measures whose symbols are explained below the printed table
MANY_EMBEDDINGS = 30  # embeddings of which the printed table has more rows
PRINTED_EMBEDDINGS = 12  # embeddings in the printed table, where there are more than fit side by side
PRINTED_OF_MANY = 15  # embeddings in the printed table of many
NAME_LETTERS = 10  # letters of a name over a column of the printed table
FEW_NAME_LETTERS = 18  # the same for at most three columns
ROW_NAME_LETTERS = 36  # the same before a row
WIDE_HALVES = 2.5  # times the median half-width, beyond which a measure is named below the printed table
MAX_LOPSIDED = 0.1  # of the longer side of an interval, by which the other one is shorter, where only one is printed
MAX_WIDE_INTERVALS = 2  # measures with much wider intervals than the others that are named below the printed table
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


def printed_table(
    view: ResultView,
    *,
    shell: bool = False,
    has_hint: bool = True,
    has_target: bool = True,
    has_widest: bool = True,
    in_full: bool = True,
    left_out: str = "",
) -> Table:
    """Return the one table of a printed result: measures by embeddings, or many embeddings by questions.

    Half-widths of intervals are in the table where they fit, else their largest is below it. Titles of measures become
    symbols, with a key below, where they do not fit. Of many embeddings the table has the first ones, with one measure
    for each question. ``has_hint`` is whether the text below it says how to re-run the methods,
    ``has_target`` whether it says what intervals refer to, ``has_widest`` whether it names the measures with the widest
    ones; without ``in_full`` the table has one measure for each question, and fewer of many embeddings. ``left_out``
    is what the text above it leaves out.
    """
    few, full = len(view.computed) <= MAX_EMBEDDINGS_ACROSS, "--full" if shell else "summary(full=True)"
    requested = columns = view.by_goal if few and in_full else question_columns(view)
    if view.is_of_lists:  # which hold no distances
        columns = [c for c in columns if c.values or any(map(c.bounds_text, view.ranked))] or columns
    for has_titles, halves in itertools.product((True, False) if few else (False,), (True, False)):
        if few:
            table, key = _measure_rows_table(view, columns, has_titles, halves, full)
        else:
            table, key = _embedding_rows_table(view, columns, halves, in_full)
        if table_width(table) <= TERMINAL_COLUMNS:
            break
    n_further = len(view.by_goal) - len(requested)
    key += [f"{count_noun(n_further, 'more measure')}: {full}"] if few and n_further else []
    n_missing = len(requested) - len(columns)
    key += [f"{count_noun(n_missing, 'measure')} without a value: {full}"] if n_missing else []
    key += [f"{left_out}: {full}"] if left_out else []
    best = best_mark_text(view, columns, few and not has_titles)
    foot = [*_marks(view, columns, halves, shell, (has_hint, has_target, has_widest)), *key]
    return replace(table, foot=f"{'; '.join(foot)}." if foot else "", best=best)


def _measure_rows_table(
    view: ResultView, columns: Sequence[Column], titles: bool, halves: bool, full: str
) -> tuple[Table, list[str]]:
    """Return the table of few embeddings side by side, and the key of its short names and symbols.

    ``full`` is the call that prints all.
    """
    short, key = _short_heads(view.ranked)
    rows = [
        [
            Cell(_printed_head(view, column, column.title if titles else column.short_title), "text"),
            *(_narrow_value(view, column, name, halves) for name in view.ranked),
            _narrow_chance(column),
        ]
        for column in columns
    ]
    symbols = {c.short_title: c.title_in_sentence for c in columns if c.symbol and not titles}
    if len(symbols) > MAX_SYMBOLS_EXPLAINED:
        key += [f"symbols are written out in {full}"]
    else:
        key += [f"{symbol} {title}" for symbol, title in symbols.items()]
    has_chance = any(column.chances for column in columns)
    rows = rows if has_chance else [row[:-1] for row in rows]
    return Table("", ["", *short, *["chance"] * has_chance], rows, style="plain"), key


def _common_start(names: Sequence[str], max_letters: int) -> str:
    """Return what all names begin with, up to a separator, where one is longer than ``max_letters``; else nothing."""
    if len(names) < 2 or max(map(len, names)) <= max_letters:
        return ""
    letters = zip(*names, strict=False)
    start = names[0][: sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, letters))]
    start = start[: max(map(start.rfind, "_-=/ ")) + 1]
    return start if len(start) > 1 and start not in names else ""


def _short_heads(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return short forms of the names over columns, and a key of those that differ from their name."""
    max_letters = NAME_LETTERS if len(names) > 3 else FEW_NAME_LETTERS
    start = _common_start(names, max_letters)
    ends = [f"…{name[len(start) :]}" for name in names] if start else list(names)
    forms = distinct_short_names(ends, max_letters)
    short = [forms[end] for end in ends]
    key = [f"… is {start}"] if start else []
    key += [f"{form} is {name}" for form, name, end in zip(short, names, ends, strict=True) if form not in (name, end)]
    return short, key


def _embedding_rows_table(
    view: ResultView, columns: Sequence[Column], halves: bool, in_full: bool
) -> tuple[Table, list[str]]:
    """Return the table of many embeddings below each other, and what its columns are."""
    count = PRINTED_OF_MANY if len(view.computed) > MANY_EMBEDDINGS else PRINTED_EMBEDDINGS
    count = count if in_full else MAX_EMBEDDINGS_ACROSS
    names = view.ranked if len(view.computed) <= count else view.ranked[:count]
    start = _common_start(names, ROW_NAME_LETTERS)
    ends = [f"…{name[len(start) :]}" if start else name for name in names]
    rows: list[list[Any]] = [
        [end, *(_narrow_value(view, column, name, halves) for column in columns)]
        for name, end in zip(names, ends, strict=True)
    ]
    omitted = len(view.computed) - len(names)
    rows += [[Cell(f"{omitted} more", "text"), *[""] * len(columns)]] if omitted else []
    chance = [Cell("chance", "text"), *(_narrow_chance(column) for column in columns)]
    rows += [chance] if any(column.chances for column in columns) else []
    heads = [_printed_head(view, column, short_topic(column.topic) or column.short_title) for column in columns]
    key = [f"… is {start}"] if start else []
    key += [f"{short_topic(c.topic)}: {c.noun_in_sentence}" for c in columns if c.topic]
    return Table("", ["", *map(TableColumn, heads)], rows, style="plain"), key


def short_topic(topic: str) -> str:
    """Return the name of a question in a terminal."""
    return next((goal.short for goal in GOALS.values() if goal.title == topic and goal.short), topic)


def _marks(
    view: ResultView, columns: Sequence[Column], halves: bool, shell: bool, options: tuple[bool, bool, bool]
) -> list[str]:
    """Return how to read the marks and intervals of the printed table."""
    tidy = "--json" if shell else "tidy(full=True)"
    has_hint, has_target, has_widest = options
    marks = [f"{ARROWS['lower']} lower is better"] if any(c.direction == "lower" for c in columns) else []
    marks += [f"at k = {view.k} of {', '.join(map(str, view.scales))}"] if len(view.scales) > 1 else []
    intervals = _interval_marks(view, columns, halves, has_widest)
    marks += [*intervals, *_target_marks(view, has_hint, has_target)] if intervals else []
    untested = [f"{c.noun_in_sentence} of {name}" for c in columns for name in view.best_set(c).unjudged]
    if untested:
        few = len(untested) <= MAX_UNTESTED_NAMED
        marks.append(f"not tested: {join_and(untested) if few else count_noun(len(untested), 'value')}")
    has_bounds = any(column.bounds_text(name) for column in columns for name in view.ranked)
    marks += ["in brackets bounds, no value"] if has_bounds else []
    tie_texts = [
        f"{column.noun_in_sentence} of {name} {column.tie_range(name)}"
        for column in columns
        for name in view.ranked
        if name in column.values and column.ties_matter(name)
    ]
    marks += [f"by the order of ties {tie_texts[0]}"] if len(tie_texts) == 1 else []
    return marks + ([f"values depend on how ties are broken: {tidy}"] if len(tie_texts) > 1 else [])


def _interval_marks(view: ResultView, columns: Sequence[Column], halves: bool, has_widest: bool) -> list[str]:
    """Return how wide the intervals of the printed table are."""
    cells = [(c, cell) for c in columns for name, cell in c.cells.items() if name not in view.unranked]
    halves_by_title: dict[str, float] = {}
    for column, cell in cells:
        if cell.has_interval:
            title = column.title_in_sentence
            halves_by_title[title] = max((cell.high - cell.low) / 2, halves_by_title.get(title, 0.0))
    if not halves_by_title:
        return []
    if halves:
        is_symmetric = not any(_is_lopsided(column, cell) for column, cell in cells)
        text = f"± half the {view.level} interval{'' if is_symmetric else ', − and + its two sides'}"
    else:
        median = float(np.median([*halves_by_title.values()]))
        wide = {title: half for title, half in halves_by_title.items() if half > WIDE_HALVES * median}
        wide = wide if len(wide) <= MAX_WIDE_INTERVALS and has_widest else {}
        largest = max(half for title, half in halves_by_title.items() if title not in wide)
        exceptions = f" ({', '.join(f'{title} {_half_text(half)}' for title, half in wide.items())})" if wide else ""
        text = f"{view.level} half-widths up to {_half_text(largest)}{exceptions}"
    return [text]


def _is_lopsided(column: Column, cell: MeasuredValue) -> bool:
    """Return whether the two sides of an interval differ in print and by more than a tenth of the longer one."""
    below, above = cell.value - cell.low, cell.high - cell.value
    differ = column.format_value(abs(below)) != column.format_value(abs(above))
    return cell.has_interval and differ and abs(below - above) > MAX_LOPSIDED * max(below, above)


def _half_text(half: float) -> str:
    return without_zero(format_fixed(half, 3)) if half >= 0.0005 else "<.001"


def _target_marks(view: ResultView, has_hint: bool, has_target: bool) -> list[str]:
    """Return what the intervals refer to, unless the line under the headline says it, and what others there are."""
    targets = interval_targets(view.recipe, view.rows)
    unit = independent_unit(view.recipe)
    if targets in ([target_text(target, unit)] for target in ("points", "groups")):
        has_method = view.results is not None and "interval.coordinates" in set(view.results.notes["code"])
        marks = [assumptions_text(view.recipe, view.rows)] if has_target else []
        return [*marks, 'ci="replicates" re-runs the methods'] if has_method and has_hint else marks
    return [f"intervals refer to {join_and(targets)}"]


def _printed_head(view: ResultView, column: Column, name: str) -> str:
    """Return a measure of the printed table, with its number of neighbors and an arrow where lower is better."""
    defaults = MEASURES.card(column.measure).parameters if column.measure in MEASURES else {}
    scale = neighbors_of(column)
    scale_text = f"(k = {scale})" if scale not in (view.k, None, defaults.get(NEIGHBORS_PARAMETER)) else ""
    return " ".join(filter(None, [name, scale_text, ARROWS["lower"] if column.direction == "lower" else ""]))


def _narrow_chance(column: Column) -> str:
    """Return the chance level in few letters, with "≈" if it is estimated at random; of a narrow range its middle."""
    if not column.chances:
        return ""
    low, high = column.chances[0], column.chances[-1]
    if column.short_chance == DIFFERS:
        return DIFFERS
    if " to " in column.chance:
        return f"≈{without_zero(format_fixed((low + high) / 2, 2))}"
    return "0" if low == high == 0 else f"{'≈' * column.chance_is_estimated}{without_zero(column.chance)}"


def _narrow_value(view: ResultView, column: Column, name: str, halves: bool) -> Cell | str:
    """Return a value in few letters, with half of its interval on request; the best ones are marked."""
    if name not in column.values:
        return column.bounds_text(name) or "-"
    cell = column.cells[name]
    text = without_zero(column.format_value(cell.value))
    if halves and _is_lopsided(column, cell):
        below, above = cell.value - cell.low, cell.high - cell.value
        form, ends = (" −{} +{}", (below, above)) if min(below, above) >= 0 else (" [{}, {}]", (cell.low, cell.high))
        text += form.format(*(without_zero(column.format_value(end)) for end in ends))
    elif halves and cell.has_interval:
        text += f" {column.half_text(name)}"
    return Cell(text, emphasis="best") if name in view.best_set(column).best else text


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
