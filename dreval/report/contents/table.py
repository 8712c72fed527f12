"""The one table that one pastes: embeddings and measures with intervals, the best set, and chance levels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import groupby, takewhile
from typing import Any

from dreval._check import check_names, check_one_of
from dreval.comparison._tables import names_hint
from dreval.errors import InputError
from dreval.records.results import Results
from dreval.registry import MEASURES
from dreval.report._numbers import counted, fixed, ordered, without_zero
from dreval.report.document import TERMINAL, Best, Block, Words
from dreval.report.names import distinct_short_names
from dreval.report.reading import DIFFERS, SCALE, Column, Reading, parameter_words, read_results, scale_of, targets_of
from dreval.report.render.html import html_tables
from dreval.report.render.latex import latex
from dreval.report.render.markdown import markdown_tables
from dreval.report.render.markup import known_letters
from dreval.report.render.summary import Summary
from dreval.report.statements import leading, mark_words

ACROSS = 5  # embeddings that stand beside each other
TOLD = 4  # values that have no test and are named
LISTED = 15  # measures whose symbols are explained below the printed table
SHOWN = 10  # embeddings in the printed table, where there are many
HEADING, WIDER = 10, 18  # letters of a name over a column of the printed table, and of three at most
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
    targets = targets_of(
        results.recipe, [row for row in reading.rows if row["measure"] in {c.measure for c in columns}]
    )
    heads = [_head(column, column.called if symbols else column.title, reading.k) for column in columns]
    cells = [[_text(column, name) for name in names] for column in columns]
    standings = [reading.standing(column) for column in columns]
    for at, line in zip(standings, cells, strict=True):
        for place, name in enumerate(names):
            line[place] = Best(line[place]) if name in at.best else line[place] + MARK * (name in at.unjudged)
    chances, scales = [column.chance for column in columns], {scale_of(column) for column in columns} - {None}
    key = {column.called: column.named for column in columns if symbols and column.symbol}
    foot = [f"{ARROWS[side]} {side} is better" for side in ARROWS if any(c.direction == side for c in columns)]
    foot += [f"k = {reading.k}{' where no other is given' * (len(scales) > 1)}"] if reading.k in scales else []
    foot += [f"± or in parentheses: {reading.level} interval for {' or '.join(targets)}"] if targets else []
    foot += [f"{MARK.strip()} not comparable with the others by a test"] if any(at.unjudged for at in standings) else []
    foot += [f"{symbol}: {said}" for symbol, said in key.items()]
    foot += [f"{name}: the data, for reference" for name in reading.reference]
    foot += [f"{name} failed" for name in reading.failed]
    said, best = f"{'; '.join(foot)}." if foot else "", mark_words(reading, columns, symbols)
    sizes = {name: results.embeddings[name].shape[1] for name in names if name in results.embeddings}
    if len(set(sizes.values())) > 1:
        names = tuple(f"{name} (d = {sizes[name]})" if name in sizes else name for name in names)
    if rows == "embeddings" or (rows == "auto" and len(names) > ACROSS):
        lines = [[name, *line] for name, line in zip(names, zip(*cells, strict=True), strict=True)]
        lines += [[CHANCE, *chances]] if any(chances) else []
        return Block("", ["", *heads], lines, foot=said, best=best)
    if symbols:  # LaTeX has no room for long names over columns
        short = distinct_short_names(list(map(known_letters, names)), WIDER)
        said = " ".join([said, *(f"{form}: {name}." for name, form in short.items() if form != name)])
        names = tuple(short.values())
    lines = [[head, *line, chance] for head, line, chance in zip(heads, cells, chances, strict=True)]
    return Block("", ["", *names, "chance"], lines, foot=said, best=best)


def _asked(reading: Reading, measures: Any) -> tuple[Column, ...]:
    """The columns of the measures that are asked for, in their order; all by default."""
    known = list(dict.fromkeys(column.measure for column in reading.columns))
    wanted = known if measures is None else check_names(measures, "measures", names_hint(measures, known))
    names = [MEASURES.check_run(name, known, "measures") for name in dict.fromkeys(wanted)]
    return tuple(column for name in names for column in reading.columns if column.measure == name)


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


def printed_block(reading: Reading, *, shell: bool = False) -> Block:
    """The one table of a printed result, narrow: measures by embeddings, or the best embeddings by measures.

    Names of measures become symbols, with a key below, where a terminal has no room for them. Of many embeddings the
    best by their mean rank are shown, by as many measures as fit, the first of each goal before others.
    """
    full, tidy = ("--full", "--json") if shell else ("summary(full=True)", "tidy()")
    columns, names = reading.by_goal, reading.computed
    shown, order, key = columns, list(names), []
    if len(names) <= ACROSS:
        begin = ""  # what all names begin with, where they are long
        room = HEADING if len(names) > 3 else WIDER
        if len(names) > 1 and max(map(len, names)) > room:
            letters = zip(*names, strict=False)
            begin = names[0][: sum(1 for _ in takewhile(lambda some: len(set(some)) == 1, letters))]
        begin = begin[: max(map(begin.rfind, "_-=/ ")) + 1]
        begin = begin if len(begin) > 1 and begin not in names else ""
        cut = [f"…{name[len(begin) :]}" for name in names] if begin else list(names)
        made = distinct_short_names(cut, room)
        short = {made[one]: name for one, name in zip(cut, names, strict=True)}
        heads = ["", *short, "chance"]
        for titles in (True, False):
            rows = [
                [_printed_head(reading, c, titles), *(_narrow(reading, c, name) for name in names), _narrow_chance(c)]
                for c in columns
            ]
            block = Block("", heads, rows)
            if block.width(block.longest) <= TERMINAL:
                break
        key += [f"… is {begin}"] if begin else []
        key += [f"{form} is {name}" for form, name in short.items() if form not in (name, f"…{name[len(begin) :]}")]
    else:
        titles, wanted = False, list(columns)
        if reading.many:  # the first measure of each goal before others
            order = list(reading.ranked[:SHOWN])
            order += [name for name in reading.reference if name not in order]
            leads = [leading(list(part)) for _, part in groupby(columns, key=lambda column: column.goal)]
            wanted = [*leads, *(column for column in columns if not any(column is lead for lead in leads))]
            key += [reading.mean_rank_words] if reading.mean_rank_words else []
        left = len(names) - len(order)

        def make(some: Sequence[Column]) -> Block:
            lines = [[name, *(_narrow(reading, column, name) for column in some)] for name in order]
            lines += [[f"... {left} more", *[""] * len(some)]] if left else []
            lines += [["chance", *map(_narrow_chance, some)]]
            return Block("", ["", *(_printed_head(reading, column, titles) for column in some)], lines)

        block = fitted(wanted, make) if reading.many else make(wanted)
        shown = wanted[: len(block.columns) - 1]
    if not titles and len(shown) > LISTED:
        key += [f"symbols are written out in {full}"]
    elif not titles:
        said = {c.called: c.named.removesuffix(c.symbol).rstrip() for c in shown if c.symbol}
        key += [f"{symbol} {words}" for symbol, words in said.items() if words]
    best, marks = mark_words(reading, shown, not titles), list[str]()
    even = all(c.is_symmetric(name) for c in shown for name in order if name in c.values)
    missed = [f"{c.called} of {name}" for c in shown for name in order if name in reading.standing(c).unjudged]
    marks += [f"not tested: {ordered(missed) if len(missed) <= TOLD else counted(len(missed), 'value')}"] * bool(missed)
    half = "± half the interval" if even else f"± half the interval, which is not symmetric for all: {full}"
    marks += [half] if any(c.has_some_intervals for c in shown) else []
    near = any(_narrow_chance(column).startswith("≈") for column in shown)
    marks += ["≈ approximate"] * near
    marks += [f"at k = {reading.k} of {', '.join(map(str, reading.scales))}"] if len(reading.scales) > 1 else []
    marks += [f"{ARROWS['lower']} lower is better"] if any(c.direction == "lower" for c in shown) else []
    tied = [
        f"{c.called} of {name} {c.ties(name)}"
        for c in shown
        for name in order
        if name in c.values and c.ties_matter(name)
    ]
    marks += [f"by the order of ties {', '.join(tied)}"] if len(tied) == 1 else [f"ties matter: {tidy}"] if tied else []
    return replace(block, foot=f"{'; '.join([*marks, *key])}." if marks or key else "", best=best)


def fitted(wanted: Sequence[Any], make: Callable[[Sequence[Any]], Block]) -> Block:
    """The table of as many of some columns, two at least, as stand beside whole names in a terminal."""
    for count in range(len(wanted), 2, -1):
        block = make(wanted[:count])
        if block.width(block.longest) <= TERMINAL:
            return block
    return make(wanted[:2])


def _printed_head(reading: Reading, column: Column, titles: bool) -> str:
    """A measure of the printed table, with a number of neighbors of its own and an arrow where lower is better."""
    scale = scale_of(column)
    own = f"(k = {scale})" if scale not in (reading.k, None) else ""
    arrow = ARROWS["lower"] if column.direction == "lower" else ""
    return Words(" ".join(filter(None, [column.title if titles else column.called, own, arrow])))


def _narrow_chance(column: Column) -> str:
    """The chance level in few letters, "≈" before one that is drawn at random; of a narrow range its middle."""
    low, high = column.chances[:1], column.chances[-1:]
    if not low:
        return ""
    if column.short_chance == DIFFERS:
        return DIFFERS
    if " to " in column.chance:
        return f"≈{without_zero(fixed((low[0] + high[0]) / 2, 2))}"
    return f"{'≈' * column.drawn_chance}{without_zero(column.chance)}"


def _narrow(reading: Reading, column: Column, name: str) -> str:
    """A value with half of its interval, in few letters; best ones are marked."""
    if name not in column.values:
        return "-"
    cell = column.cells[name]
    text = without_zero(column.shown(cell.value))
    if cell.has_interval:
        half, unit = (cell.high - cell.low) / 2, 10.0**-column.places
        seen = half >= unit / 2 or half == 0
        text += f" ±{'' if seen else '<'}{without_zero(fixed(half if seen else unit, column.places))}"
    return Best(text) if name in reading.standing(column).best else text
