"""The one table that one pastes: embeddings and measures with half-widths, the best set, and chance levels."""

from __future__ import annotations

from typing import Any

from dreval._check import check_one_of
from dreval.comparison.ranking import ranking
from dreval.errors import InputError
from dreval.records.results import Results
from dreval.registry import MEASURES
from dreval.report._numbers import fixed, half_width
from dreval.report.document import Best, Block, Words
from dreval.report.reading import SCALE, Column, Reading, parameter_words, read_results, scale_of
from dreval.report.render.latex import latex
from dreval.report.render.snippets import html_tables, markdown_tables
from dreval.report.render.summary import Summary

ACROSS = 5  # embeddings that stand beside each other
ROWS = ("auto", "embeddings", "measures")
ARROWS = {"higher": "↑", "lower": "↓"}
TITLE = "How well each embedding keeps the data"
CHANCE = "chance level"


def to_html(results: Results, measures: Any = None, *, rows: str = "auto") -> str:
    """See ``Results.to_html``."""
    return html_tables(Summary(TITLE, (), [value_block(results, measures, rows)]))


def to_latex(results: Results, measures: Any = None, *, rows: str = "auto", label: str | None = None) -> str:
    """See ``Results.to_latex``."""
    return latex(Summary(TITLE, (), [value_block(results, measures, rows, symbols=True)]), label)


def to_markdown(results: Results, measures: Any = None, *, rows: str = "auto") -> str:
    """See ``Results.to_markdown``."""
    return markdown_tables(Summary(TITLE, (), [value_block(results, measures, rows)])) + "\n"


def value_block(results: Results, measures: Any = None, rows: str = "auto", *, symbols: bool = False) -> Block:
    """Values with half-widths, the best set bold, chance levels, and below them what all of it means.

    With ``symbols`` measures stand as these, with a key below the table.
    """
    rows = check_one_of(rows, ROWS, "rows", aliases=True)
    reading = read_results(results)
    names, columns = reading.computed, _asked(reading, measures)
    if not columns or not names:
        raise InputError("results", "must hold a value of a measure", "none", "Run one, such as 'trustworthiness'.")
    best, scales = _best(results, columns), [scale_of(column) for column in columns]
    heads = [_head(column, column.called if symbols else column.title, reading.k) for column in columns]
    cells = [
        [_cell(column, name, (column.measure, column.parameters, name) in best) for name in names] for column in columns
    ]
    chances = [_chance(column) for column in columns]
    key = {column.called: column.named for column in columns if symbols and column.symbol}
    foot = [f"{ARROWS[side]} {side} is better" for side in ARROWS if any(c.direction == side for c in columns)]
    foot += [f"k = {reading.k}{' where no other is given' if len({*scales} - {None}) > 1 else ''}"] * (
        reading.k in scales
    )
    known = any(map(_judged, columns))
    foot += [f"± half the width of the {reading.level} interval"] if known else []
    alike = ", and those that are not distinguishable from it by this measure" if known else ""
    foot += [f"bold: the best value{alike}"] if best else []
    foot += [f"{symbol}: {said}" for symbol, said in key.items()]
    foot += [f"{name} failed" for name in reading.failed]
    said = f"{'; '.join(foot)}."
    if rows == "embeddings" or (rows == "auto" and len(names) > ACROSS):
        lines = [[name, *line] for name, line in zip(names, zip(*cells, strict=True), strict=True)]
        lines += [[CHANCE, *chances]] if any(chances) else []
        return Block("", ["", *heads], lines, foot=said)
    lines = [[head, *line, chance] for head, line, chance in zip(heads, cells, chances, strict=True)]
    return Block("", ["", *names, "chance"], lines, foot=said)


def _asked(reading: Reading, measures: Any) -> tuple[Column, ...]:
    """The columns of the measures that are asked for, in their order; all by default."""
    known = list(dict.fromkeys(column.measure for column in reading.columns))
    wanted = known if measures is None else [measures] if isinstance(measures, str) else list(measures)
    names = [MEASURES.check_run(name, known, "measures") for name in dict.fromkeys(wanted)]
    return tuple(column for name in names for column in reading.columns if column.measure == name)


def _judged(column: Column) -> bool:
    """Whether some value has an interval."""
    return any(cell.has_interval for cell in column.cells.values())


def _best(results: Results, columns: tuple[Column, ...]) -> set[tuple[str, str, str]]:
    """The best embedding of each column that has a better end, and those not distinguishable from it."""
    ranked = [column for column in columns if column.ranks and len(column.values) > 1]
    found = {(column.measure, column.parameters, name) for column in ranked for name in column.leaders}
    judged = [column.measure for column in ranked if _judged(column)]
    if judged:
        table = ranking(results, list(dict.fromkeys(judged)))
        table = table[table["in_best_set"].fillna(False)]
        found |= set(zip(table["measure"], table["parameters"], table["embedding"], strict=True))
    return found


def _head(column: Column, name: str, k: int | None) -> Words:
    """A measure, the parameters in which it differs from its card or the others, and an arrow to its better end."""
    usual = MEASURES.card(column.measure).parameters if column.measure in MEASURES else {}
    words = [word.partition("=")[::2] for word in column.parameters.split(", ") if word]
    own = [f"{key}={value}" for key, value in words if key != SCALE and str(usual.get(key)) != value]
    scale = scale_of(column)
    own = [f"{SCALE}={scale}", *own] if scale not in (k, None) else own
    said = f"({parameter_words(', '.join(own))})" if own else ""
    return Words(" ".join(filter(None, [name, said, ARROWS.get(column.direction, "")])))


def _chance(column: Column) -> str:
    """The chance level; where embeddings have their own, with as many places as they share, at least one."""
    for places in range(column.places, 0, -1):
        texts = {fixed(chance, places) for chance in column.chances}
        if len(texts) == 1:
            return texts.pop()
    return column.short_chance


def _cell(column: Column, name: str, best: bool) -> str:
    """A value and half of its interval, which need not lie in the middle of it."""
    if name not in column.values:
        return "missing"
    value, cell = column.values[name], column.cells[name]
    half = (cell.high - cell.low) / 2
    beside = f" {half_width(value, value - half, value + half, column.places)}" if cell.has_interval else ""
    return (Best if best else str)(f"{column.shown(value)}{beside}")
