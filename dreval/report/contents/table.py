"""The one table that one pastes: embeddings and measures with intervals, the best set, and chance levels."""

from __future__ import annotations

from typing import Any

import pandas as pd

from dreval._check import check_one_of
from dreval.comparison.ranking import ranking
from dreval.errors import InputError
from dreval.glossary import TARGETS
from dreval.records.results import Results
from dreval.registry import MEASURES
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
MARK = " °"


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
    """Values with intervals, the best set bold, chance levels, and below them what all of it means.

    With ``symbols`` measures stand as these, with a key below the table.
    """
    rows = check_one_of(rows, ROWS, "rows", aliases=True)
    reading = read_results(results)
    names, columns = reading.computed, _asked(reading, measures)
    if not columns or not names:
        raise InputError("results", "must hold a value of a measure", "none", "Run one, such as 'trustworthiness'.")
    best, unjudged, targets = _standing(results, columns)
    heads = [_head(column, column.called if symbols else column.title, reading.k) for column in columns]
    cells = [[_text(column, name) for name in names] for column in columns]
    for column, line in zip(columns, cells, strict=True):
        for place, name in enumerate(names):
            where = (column.measure, column.parameters, name)
            line[place] = Best(line[place]) if where in best else line[place] + MARK * (where in unjudged)
    chances, scales = [column.chance for column in columns], {scale_of(column) for column in columns} - {None}
    key = {column.called: column.named for column in columns if symbols and column.symbol}
    foot = [f"{ARROWS[side]} {side} is better" for side in ARROWS if any(c.direction == side for c in columns)]
    foot += [f"k = {reading.k}{' where no other is given' * (len(scales) > 1)}"] if reading.k in scales else []
    foot += [f"± or in parentheses: {reading.level} interval for {' or '.join(targets)}"] if targets else []
    alike = ", and those that are not distinguishable from it by this measure" if targets else ""
    foot += [f"bold: the best value{alike}"] if best else []
    foot += [f"{MARK.strip()} not comparable with the others by a test"] if unjudged else []
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


def _standing(
    results: Results, columns: tuple[Column, ...]
) -> tuple[set[tuple[str, str, str]], set[tuple[str, str, str]], list[str]]:
    """Who is best in each column that has a better end, or not distinguishable from it; who cannot be judged.

    And what the intervals are for. Where a column has no interval the best value is best.
    """
    shown = results.table["measure"].isin([column.measure for column in columns])
    rows = results.table[shown & results.table["conf_low"].notna()]
    kinds = results.recipe.get("intervals") or {}
    said = [
        kinds.get(name, one) if one == "replicates" else one
        for name, one in zip(rows["embedding"], rows["target"], strict=True)
    ]
    best, unjudged = set(), set()
    ranked = [column for column in columns if column.ranks and len(column.values) > 1]
    judged = [c.measure for c in ranked if any(cell.has_interval for cell in c.cells.values())]
    table = ranking(results, list(dict.fromkeys(judged))) if judged else None
    for column in ranked:
        if column.measure not in judged:
            top = (max if column.higher else min)(column.values.values())
            found = [name for name, value in column.values.items() if value == top]
            best |= {(column.measure, column.parameters, name) for name in found if len(found) < len(column.values)}
            continue
        mine = table[(table["measure"] == column.measure) & (table["parameters"] == column.parameters)]
        for name, kept in zip(mine["embedding"], mine["in_best_set"], strict=True):
            where = (column.measure, column.parameters, name)
            if name in column.values:
                (unjudged if kept is pd.NA else best if kept else set()).add(where)
    return best, unjudged, [TARGETS.get(one, one) for one in dict.fromkeys(said)]


def _head(column: Column, name: str, k: int | None) -> Words:
    """A measure, the parameters in which it differs from its card or the others, and an arrow to its better end."""
    usual = MEASURES.card(column.measure).parameters if column.measure in MEASURES else {}
    words = [word.partition("=")[::2] for word in column.parameters.split(", ") if word]
    own = [f"{key}={value}" for key, value in words if key != SCALE and str(usual.get(key)) != value]
    scale = scale_of(column)
    own = [f"{SCALE}={scale}", *own] if scale not in (k, None) else own
    said = f"({parameter_words(', '.join(own))})" if own else ""
    return Words(" ".join(filter(None, [name, said, ARROWS.get(column.direction, "")])))


def _text(column: Column, name: str) -> str:
    """A value and its interval."""
    if name not in column.values:
        return "missing"
    interval = column.interval(name)
    beside = interval if interval.startswith("±") else f"({interval})"
    return column.shown(column.values[name]) + (f" {beside}" if interval else "")
