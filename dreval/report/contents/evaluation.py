"""Write the summary of an evaluation and its one table, in every form."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, takewhile
from typing import Any

from dreval._check import check_names, check_one_of
from dreval.comparison.base import names_hint
from dreval.comparison.compare import comparable
from dreval.errors import InputError
from dreval.glossary import DIRECTIONS, format_number, format_p
from dreval.records.answers import LEVEL
from dreval.records.frames import independence_rows, notes_in, of_whole, over_replicates
from dreval.records.notes import ASSUMPTION, FAILURE, LIMIT, Note
from dreval.records.results import Results
from dreval.registry import MEASURES, TESTS
from dreval.report.document import CODES, TERMINAL, Best, Block, Words, same_digits, significance_stars
from dreval.report.format import (
    adjusted_by,
    counted,
    distinct_short_names,
    fixed,
    in_words,
    ordered,
    p_words,
    without_zero,
)
from dreval.report.reading import DIFFERS, SCALE, Column, Reading, parameter_words, read_results, scale_of, targets_of
from dreval.report.render.html import html_tables
from dreval.report.render.latex import latex
from dreval.report.render.markdown import markdown_tables
from dreval.report.render.markup import known_letters
from dreval.report.render.summary import Summary
from dreval.report.statements import (
    NULL_WORDS,
    leading,
    mark_words,
    metric_words,
    noise_said,
    other_settings,
    smallest_words,
    verdict,
)

# The one table that one pastes: embeddings and measures with intervals, the best set, and chance levels.

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


# The printed summary of an evaluation.

COUNTED = ("n_transformations", "n_folds")  # parameters of which ``n_resamples`` is what was run
FEW = 8  # names that a note lists before it counts
NOTES = 3  # of a printed result; fewer where it would be longer than so many lines
LINES = 40
IN_VERDICT = ("data.reference",)  # codes of notes that the verdict of a printed result says
WEIGHTS = (ASSUMPTION, LIMIT, FAILURE)
FOREMOST = ("source.doubtful",)  # notes on which all values depend: printed before others of their weight


def summarize(results: Results, full: bool = False, *, shell: bool = False) -> Summary:
    """What was evaluated, the verdict, one table, tests, and the notes that weigh most.

    In ``full`` the header, the call, each value with the ends of its interval, every test and all notes.
    """
    recipe, reading = results.recipe, read_results(results)
    said = [one.text for one in verdict(reading)]
    if full:
        table = results.table[~results.table["embedding"].isin(results.failed)]  # whose reasons are notes
        rows = over_replicates(table[table["test"] == ""])
        rows = rows[(rows["measure"] != "") & ~rows["measure"].map(_is_curve).astype(bool)]
        tests = independence_rows(table)
        blocks = [_value_block(rows, reading)] if len(rows) else []
        blocks += [_test_block(tests)] if len(tests) else []
        blocks += [_noise_block(reading, results)] if reading.of_methods else []
        call, notes = str(recipe.get("call") or ""), printed_notes(results)
        return Summary("Evaluation of embeddings", _header(results), blocks, notes, call, said=said)
    blocks = [printed_block(reading, shell=shell)] if reading.computed and reading.main else []
    asked = _noted(results, failures=len(reading.names) > 1, without=IN_VERDICT)  # why a lone one failed is the answer
    first = {str(one) for one in notes_in(of_whole(results.notes)) if one.code in FOREMOST}
    noted = [text for _, text in sorted(asked, key=lambda one: (-one[0], one[1] not in first))]
    ways = ["--full", "--report page.html"] if shell else [".summary(full=True)", ".report(path)"]
    if not shell and comparable(results):
        ways += [".compare()", ".ranking()"]
    ways += [f".curve({name!r})" for name in results.curves["measure"].unique()] if not reading.main else []

    def made(count: int) -> Summary:
        left = len(noted) - count
        more = f"{in_words(left).capitalize()} more note{'s' * (left > 1)}" if left > 0 else "More"
        about = _about(results, reading)
        after = [
            *other_settings(reading),
            *tests_in_words(reading),
            *dict.fromkeys(noise_said(row, results) for row in reading.of_methods),
        ]
        shown = {"about": about, "said": said, "after": after, "more": f"{more}: {', '.join(ways)}."}
        return Summary("Evaluation of embeddings", (), blocks, noted[:count], **shown)

    short = (made(count) for count in range(min(NOTES, len(noted)), 0, -1))
    return next((one for one in short if len(str(one).splitlines()) <= LINES), made(min(1, len(noted))))


def _about(results: Results, reading: Reading) -> list[str]:
    """What was evaluated and how, in two lines."""
    recipe, counted_in = results.recipe, {Y.shape[1] for Y in results.embeddings.values()}
    data = str(recipe.get("dataset") or "")
    failed = f" ({format_number(len(results.failed))} failed)" if results.failed else ""
    names = counted(len(results.names), "embedding")
    columns = f", {counted(int(recipe['p']), 'column')}" if recipe.get("p") else ""
    size = f"{format_number(recipe.get('n'))} points{columns}"
    components = (
        f"; {ordered(list(map(str, sorted(counted_in))))} component{'' if counted_in == {1} else 's'}"
        if counted_in
        else ""
    )
    first = f"Evaluation of {names}{failed}{f' of {data}' if data else ''} ({size}{components})"
    anchors, seed, metric = recipe.get("anchors"), recipe.get("random_state"), metric_words(recipe)
    targets = targets_of(recipe, reading.rows)
    parts = [f"k = {', '.join(map(str, reading.scales))}"] if reading.scales else []
    parts += [metric] if metric and metric != "euclidean" else []
    parts += [counted(int(anchors), "anchor")] if anchors else []
    told = " or ".join(target.partition(",")[0] for target in targets)  # the rest is in the notes
    parts += [f"{reading.level} intervals for {told}" if targets else "no intervals"]
    parts += [] if seed is None else [f"seed {seed}"]
    return [first, "; ".join(parts)]


def tests_in_words(reading: Reading) -> list[str]:
    """The tests of a printed result, for each variable: of each test the effect sizes, and the p-values."""
    found: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
    for row in reading.tests:
        if row["p_value"] == row["p_value"]:
            found.setdefault(row["variable"], {}).setdefault(row["test"], []).append(row)
    said = []
    for variable, tests in found.items():
        names: list[str] = []
        each, every = [], [row for rows in tests.values() for row in rows if row["embedding"] not in reading.reference]
        if not every:
            continue
        adjusted = all(row["p_adjusted"] == row["p_adjusted"] for row in every)
        column, kind = ("p_adjusted", "adjusted p") if adjusted else ("p_value", "p")
        least = smallest_words(reading, every)
        for test, rows in tests.items():
            order = sorted(rows, key=lambda row: row["effect_size"])
            named = [row["embedding"] for row in rows] != names
            names = [row["embedding"] for row in rows]
            effects = [f"{row['embedding']} {_effect(row)}" if named else _effect(row) for row in rows]
            ends = [f"{_effect(row)} ({row['embedding']})" for row in (order[0], order[-1])]
            title = f"{test} ({TESTS.card(test).effect_size})" if test in TESTS else test
            each.append(f"{title} {' to '.join(ends) if len(rows) > FEW else ', '.join(effects)}")
        low, high = (pick(row[column] for row in every) for pick in (min, max))
        few = sum(row[column] <= LEVEL for row in every)
        p = (
            f"{kind} {p_words(low)[2:]}"
            if format_p(low) == format_p(high)
            else f"{kind} {format_p(low)} to {format_p(high)}, {few} of {len(every)} at most .05"
        )
        alike = "all " * (len(every) > 1 and format_p(low) == format_p(high))
        tested = {row["embedding"] for rows in tests.values() for row in rows}
        shown = [name for name in reading.reference if name in tested]
        each += [f"without p of {ordered(shown)}, shown for reference"] if shown else []
        said.append(f"Dependence on {variable} ({alike}{p}{f'; {least}' if least else ''}): {'; '.join(each)}.")
    return said


def _effect(row: Mapping[str, Any]) -> str:
    return without_zero(fixed(row["effect_size"], 2)) or "-"


def _header(results: Results) -> list[tuple[str, str]]:
    recipe = results.recipe
    counted = format_number(len(results.names) - len(results.failed))
    if results.failed:
        counted += f" of {format_number(len(results.names))} ({format_number(len(results.failed))} failed)"
    anchors, sizes = recipe.get("anchors"), {Y.shape[1] for Y in results.embeddings.values()}
    return [
        ("Data", str(recipe.get("dataset") or "(array)")),
        ("Points n", format_number(recipe.get("n"))),
        ("Columns p", format_number(recipe.get("p"))),
        ("Metric", metric_words(recipe, short=True)),
        ("Anchors", format_number(anchors) if anchors else "all points"),
        ("Embeddings", counted),
        ("Components d", ", ".join(map(str, sorted(sizes)))),
        ("Seed", str(recipe.get("random_state", ""))),
        ("dreval", str(recipe.get("versions", {}).get("dreval", ""))),
    ]


def _is_curve(name: str) -> bool:
    """Whether a measure has no single value; where it could not be computed a note says why."""
    return name in MEASURES and bool(MEASURES.card(name).curve)


def _value_block(rows: Any, reading: Reading) -> Block:
    """Values of all measures, each below its heading; columns that no measure has are left out."""
    interval = rows["conf_low"].notna().any()
    lines, several, ties, starred = [], False, False, False
    for name, part in rows.groupby("measure", sort=False):
        heading, found = _measure_rows(str(name), part, reading)
        several |= any(line[1] for line in found)
        ties |= any(line[-1] for line in found)
        starred |= any(isinstance(line[2], Best) for line in found)
        lines += [[heading], *found]
    shown = (True, several, True, interval, True, ties)
    columns = [*itertools.compress(("", "", "value", f"{reading.level} interval", "chance", "worst, best"), shown)]
    rows = [[*itertools.compress(line, shown)] if len(line) > 1 else line for line in lines]
    return Block("", columns, rows, best=mark_words(reading, reading.columns) if starred else "")


def _measure_rows(name: str, rows: Any, reading: Reading) -> tuple[str, list[list[str]]]:
    """The heading of one measure and its rows: embedding, setting, value, interval, chance, and ends over ties."""
    card = MEASURES.card(name) if name in MEASURES else None
    heading = f"{measure_title(name)}, {DIRECTIONS[card.direction]}" if card else name
    settings, common = _settings(rows, card is not None and card.level == "algorithm")
    words = "" if card is not None and card.level == "algorithm" else short_parameters(common)
    values = [format_number(_whole_value(card, value)) or "missing" for value in rows["value"]]
    best = {
        (column.parameters, one)
        for column in reading.columns
        if column.measure == name
        for one in reading.standing(column).best
    }
    lines = [
        [
            row["embedding"],
            short_parameters(setting),
            Best(value) if (row["parameters"], row["embedding"]) in best else value,
            _interval(row["conf_low"], row["conf_high"]),
            format_number(row["chance"]),
            _interval(row["worst"], row["best"]) if format_number(row["worst"]) != format_number(row["best"]) else "",
        ]
        for row, setting, value in zip(rows.to_dict("records"), settings, values, strict=True)
    ]
    return ", ".join(filter(None, [heading, words])), lines


def _settings(rows: Any, runs: bool) -> tuple[list[str], str]:
    """What each row has of parameters that differ between rows, and the parameters that all rows have.

    Where a measure is made of ``runs`` and more were asked for than there are, what was run is said.
    """
    every = [re.split(r", (?=\w+=)", words) for words in rows["parameters"]]
    if runs:
        every = [[_run_of(word, ran) for word in words] for words, ran in zip(every, rows["n_resamples"], strict=True)]
    common = [word for word in every[0] if all(word in words for words in every)]
    return [", ".join(word for word in words if word not in common) for words in every], ", ".join(common)


def _run_of(word: str, ran: float) -> str:
    """A parameter as it was run: not more transformations or folds than there were."""
    name, _, asked = word.partition("=")
    return f"{name}={ran:.0f}" if name in COUNTED and asked.isdigit() and 0 < ran < int(asked) else word


def _whole_value(card: Any, value: float) -> float:
    """The value of a measure whose values are whole numbers as one."""
    return int(value) if card is not None and card.whole and float(value).is_integer() else value


def measure_title(name: str) -> str:
    """A measure in words with its symbol, where it is not among them; a name that no card has stays."""
    card = MEASURES.card(name) if name in MEASURES else None
    if card is None or card.title.endswith(f" {card.symbol}"):
        return card.title if card else name
    return f"{card.title} ({card.symbol})"


def short_parameters(parameters: str) -> str:
    """Parameters as they are printed beside a title."""
    return parameters.replace("n_neighbors=", "k = ").replace("n_folds=", "folds = ")


def _interval(low: float, high: float) -> str:
    return f"[{format_number(low)}, {format_number(high)}]" if low == low else ""


def _test_block(rows: Any) -> Block:
    """Tests, each kind below its heading, which names its effect size."""
    lines: list[list[str]] = []
    for test, part in rows.groupby("test", sort=False):
        card = TESTS.card(test) if test in TESTS else None
        lines.append([str(test) if card is None else f"{card.title} ({test}), effect: {card.effect_size}"])
        digits = same_digits([*part["statistic"], *part["chance"]])
        statistics, chances = digits[: len(part)], digits[len(part) :]
        lines += [
            [
                row["embedding"],
                row["variable"],
                statistic or "missing",
                chance,
                format_number(row["effect_size"]),
                format_p(row["p_value"]),
                format_p(row["p_adjusted"]),
                _codes(row),
            ]
            for row, statistic, chance in zip(part.to_dict("records"), statistics, chances, strict=True)
        ]
    columns = ["", "against", "statistic", "chance", "effect", "p", "p adj.", ""]
    foot = CODES if any(line[-1] for line in lines if len(line) > 1) else ""
    return Block("Tests of independence", columns, lines, 2, foot)


def _noise_block(reading: Reading, results: Results) -> Block:
    """The noise tests: a row for each embedding and null, with the number of points like noise.

    An embedding that could not be computed has no result, nor has one whose test was refused: the notes say why.
    """
    rows: list[list[str]] = []
    lost: list[str] = []
    for row in reading.of_methods:
        if row["p_value"] != row["p_value"]:
            rows.append([row["embedding"], "no result", *[""] * 6])
            lost.append(row["embedding"])
            continue
        flags, null = results.like_noise(row["embedding"]), row["variable"]
        values = [*same_digits([row["statistic"], row["chance"]]), format_number(row["effect_size"])]
        few = "" if flags is None else f"{int(flags.sum()):,}"
        drawn = f"{int(row['n_resamples'] or 0):,} of {NULL_WORDS.get(null, null)}"
        p = [format_p(row["p_value"]), format_p(row["p_adjusted"])]
        rows.append([row["embedding"], drawn, *values, *p, few])
    columns = ["", "null data", "score", "null mean", "z", "p", "p adj.", "noise"]
    foot = f"No result of {ordered(list(dict.fromkeys(lost)))}: the notes say why." if lost else ""
    return Block("Noise tests", columns, rows, 2, foot)


def _codes(row: Any) -> str:
    """Significance codes; none for what is in no family of tests, since its dependence is certain."""
    if not row["family"]:
        return ""
    return significance_stars(row["p_adjusted"] if row["p_adjusted"] == row["p_adjusted"] else row["p_value"])


def _replicate_notes(table: Any) -> Iterator[str]:
    """Whose values are means over runs, and what is not."""
    runs = table[table["test"] == ""].groupby("embedding", sort=False)["replicate"].max() + 1
    runs = runs[runs > 1]
    if len(runs):
        counts = ", ".join(f"{name} ({count})" for name, count in runs.items())
        yield f"Values are means over runs of the method: {counts}. All else speaks of the first run."


def printed_notes(results: Results, *, failures: bool = True) -> list[str]:
    """Notes on the data first, then those of rows, each once with what it concerns, then how to read."""
    recipe, table = results.recipe, results.table
    found = [text for _, text in _noted(results, failures=failures)]
    methods = list(table[table["conf_method"] != ""].groupby("conf_method", sort=False))
    for method, part in methods:
        of = f" of {', '.join(dict.fromkeys(part['measure']))}" if len(methods) > 1 else ""
        targets = ordered(targets_of(recipe, part.to_dict("records")))
        found.append(f"{100 * part['conf_level'].iloc[0]:g} % intervals{of}: {method}, for {targets}.")
    if table["p_value"].notna().any():
        found.append(f"p {adjusted_by(recipe.get('adjust'))}; chance of a test: null mean of its statistic.")
    names = list(dict.fromkeys(results.curves["measure"]))
    said = "Curves over the number of neighbors K: {}; see results.curve({!r})."
    return list(dict.fromkeys([*found, *([said.format(", ".join(names), names[0])] if names else [])]))


def _noted(results: Results, *, failures: bool = True, without: Sequence[str] = ()) -> list[tuple[int, str]]:
    """What must be known, each once: how much it weighs, and its sentence; not notes ``without`` these codes."""
    noted = results.notes[~results.notes["embedding"].isin(results.failed)]
    whole = [one for one in notes_in(of_whole(results.notes)) if one.code not in without]
    found = [(WEIGHTS.index(one.severity), str(one)) for one in whole if one.severity != FAILURE]
    found += [(WEIGHTS.index(FAILURE), text) for text in _failure_notes(results)] if failures else []
    found += [(WEIGHTS.index(ASSUMPTION), text) for text in _replicate_notes(results.table)]
    for severity in dict.fromkeys(noted["severity"]):
        part = noted[noted["severity"] == severity]
        said = [*_measure_notes(part[part["measure"] != ""], results), *_test_notes(part[part["test"] != ""])]
        found += [(WEIGHTS.index(severity), text) for text in said]
    return list(dict.fromkeys(found))


def _nameless(one: Note, name: str) -> Note:
    """A note of one embedding as it would be of every other one."""
    return one.within("").named({f"embeddings[{name!r}]": "embeddings[...]"})


def _failure_notes(results: Results) -> list[str]:
    """Which embeddings failed and why; reasons that differ in the name only are one."""
    reasons: dict[Note, list[Note]] = {}
    for one in results.failures():
        reasons.setdefault(_nameless(one, one.scope), []).append(one)
    return [
        f"{_listed([one.scope for one in some])} failed: {some[0].within('') if len(some) == 1 else why}"
        for why, some in reasons.items()
    ]


def _measure_notes(noted: Any, results: Results) -> Iterator[str]:
    """What is said of measures, each once, with the measures of the embeddings that it is said of."""
    said: dict[Note, dict[str, dict[str, Note]]] = {}
    for name, measure, one in zip(noted["embedding"], noted["measure"], notes_in(noted), strict=True):
        said.setdefault(_nameless(one, name), {}).setdefault(name, {})[measure] = one
    computed = [name for name in results.names if name not in results.failed]
    measures = list(dict.fromkeys(results.table.loc[results.table["test"] == "", "measure"]))
    for alike, where in said.items():
        groups: dict[tuple[str, ...], list[str]] = {}
        for name, found in where.items():
            groups.setdefault(tuple(found), []).append(name)
        places = [
            f"{_all_or(what, measures, 'all measures')} of {_all_or(who, computed, 'all embeddings')}"
            for what, who in groups.items()
        ]
        one = next(iter(next(iter(where.values())).values())) if len(where) == 1 else alike
        yield f"{'; '.join(places)}: {str(one).rstrip('.')}."


def _all_or(some: Sequence[str], every: Sequence[str], words: str) -> str:
    """Names with commas, or words for all of them where there are more than two."""
    return words if len(every) > 2 and set(some) == set(every) else _listed(some)


def _test_notes(noted: Any) -> list[str]:
    """What is said of tests, once for all embeddings, variables and tests that it is said of."""
    places: dict[Note, list[tuple[str, str, str, Note]]] = {}
    cells = zip(noted["embedding"], noted["variable"], noted["test"], notes_in(noted), strict=True)
    for name, variable, test, one in cells:
        places.setdefault(_nameless(one, name), []).append((name, variable, test, one))
    found = []
    for alike, some in places.items():
        said: dict[tuple[str, str], list[str]] = {}
        for variable in dict.fromkeys(place[1] for place in some):
            who: dict[str, list[str]] = {}
            for name, there, test, _ in some:
                who.setdefault(test, []).extend([name] if there == variable else [])
            tests: dict[str, list[str]] = {}
            for test, names in who.items():
                tests.setdefault(_listed(names), []).extend([test] if names else [])
            for names, some_tests in tests.items():
                if names:
                    said.setdefault((names, _listed(some_tests)), []).append(variable)
        words = some[0][3] if len({place[0] for place in some}) == 1 else alike
        for (names, tests_said), variables in said.items():
            found.append(f"{names} ~ {_listed(variables)} ({tests_said}): {str(words).rstrip('.')}.")
    return found


def _listed(names: Any) -> str:
    """Names, each once, with commas; of more than a few the first ones."""
    every = list(dict.fromkeys(names))
    if len(every) <= FEW + 1:
        return ", ".join(every)
    return f"{', '.join(every[:FEW])} and {len(every) - FEW} more"
