"""What the page of a result says: tables, cards, cautions and definitions, apart from how they look."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from dreval.glossary import COLUMNS
from dreval.measures._recommendation import GOALS
from dreval.records.results import Results
from dreval.registry import MEASURES
from dreval.report._numbers import ADJUSTMENTS, counted, in_words, ordered
from dreval.report.contents.evaluation import printed_notes
from dreval.report.contents.pairs import paired_differences
from dreval.report.contents.tests import asked_rows, known_tests, test_groups, test_row, tests_said
from dreval.report.names import short_names
from dreval.report.reading import DIFFERS, SCALE, Column, Reading, parameter_words, targets_of
from dreval.report.statements import (
    HOLDS,
    MOSTLY,
    Statement,
    findings,
    grade_words,
    missing_of,
    shared,
    shared_lines,
    standing_of,
    statements_of,
)

ABSENT = "—"
NAME_ROOM = 30


@dataclass
class Footnotes:
    """Remarks under a table: the same remark has one letter wherever it is made."""

    marks: dict[str, str] = field(default_factory=dict)

    def mark(self, text: str) -> str:
        """The letter of a remark; empty for none."""
        if not text:
            return ""
        return self.marks.setdefault(text, _letter(len(self.marks)))


@dataclass(frozen=True)
class TableCell:
    """One cell of the first table as it is printed."""

    text: str
    interval: str = ""
    ends: str = ""
    ties: str = ""
    open: bool = False
    best: bool = False
    shade: float = 0.0
    mark: str = ""
    note: str = ""
    sort: str = ""


def content(results: Results, reading: Reading, title: str | None) -> dict[str, Any]:
    """Everything that a report says, in its order."""
    dimensions = {name: results.embeddings[name].shape[1] for name in reading.computed if name in results.embeddings}
    footnotes = Footnotes()
    main = reading.by_goal if reading.computed else ()  # a table of reasons only would repeat them
    names = [*reading.ranked, *reading.failed] if reading.many else reading.names
    rows = [_row(reading, name, footnotes) for name in names] if main else []
    differ = len(set(dimensions.values())) > 1
    turned = is_turned(len(main), len(reading.names))
    heads = [_head(column, footnotes, reading.k) for column in main]
    rows = [{**row, "d": dimensions.get(row["name"], "") if differ else ""} for row in rows]
    chances = [{"text": column.short_chance or ABSENT, "range": column.chance} for column in main]
    found = [
        (subject, len(list(part))) for subject, part in groupby(GOALS[c.goal].title if c.goal else "" for c in main)
    ]
    subjects = found if len(found) > 1 else []
    paired = paired_differences(results, reading)
    count, drawn = len(reading.names), len(reading.featured)
    sources = []
    for source, about in (reading.recipe.get("sources") or {}).items():
        what = "given coordinates" if about["kind"] == "coordinates" else f"{about['kind']} {about['what']}"
        parameters = ", ".join(f"{key}={value}" for key, value in about["parameters"].items())
        sources.append((str(source), f"{what}: {parameters}" if parameters else what))
    return {
        "title": title if title is not None else default_title(reading),
        "meta": head_line(reading, dimensions),
        "findings": findings(reading),
        "shared": shared_lines(reading),
        "cards": cards(reading),
        "many": reading.many,
        "grid": {"cards": balanced(count, 5, 3), "panels": balanced(drawn, 5, 3), "diagrams": balanced(drawn, 4, 3)},
        "paired": paired,
        "methods": asked_rows(reading, "method"),
        "subjects": subjects,
        "heads": heads,
        "turned": turned,
        "rows": rows,
        "parts": table_parts(heads, rows, chances, subjects) if turned else [],
        "short": (short := short_names(reading.names, NAME_ROOM)),
        "name_width": min(max(map(len, short.values()), default=0), 13),
        "sortable": len(reading.computed) > 1 and not turned,
        "chances": chances,
        "footnotes": [(letter, text) for text, letter in footnotes.marks.items()],
        "table_note": " ".join(filter(None, [_shade_note(reading, turned), _table_note(reading, page=True)])),
        "md_note": " ".join(
            filter(None, [f"The best of a {'row' if turned else 'column'} is bold.", _table_note(reading, page=False)])
        ),
        "all_rows": [_full_row(reading, row) for row in reading.rows if row["embedding"] not in reading.failed],
        "ties": any(not math.isnan(row["worst"]) for row in reading.rows),
        "intervals": any(not math.isnan(row["conf_low"]) for row in reading.rows),
        "level": reading.level,
        "tests": [test_row(row) for row in known_tests(reading)],
        "tests_said": tests_said(reading, reading.tests),
        "test_groups": test_groups(reading),
        "tests_adjusted": any(not math.isnan(row["p_adjusted"]) for row in reading.tests),
        "notes": printed_notes(results, failures=False),
        "settings": _settings(reading.recipe),
        "versions": [(str(name), str(version)) for name, version in dict(reading.recipe.get("versions") or {}).items()],
        "call": str(reading.recipe.get("call") or ""),
        "sources": sources,
        "definitions": definitions(reading),
        "glossary": glossary(reading),
        "cautions": cautions(reading, dimensions, paired=bool(paired.rows)),
    }


def default_title(reading: Reading) -> str:
    """The heading, such as "Evaluation of four embeddings of digits"."""
    count = len(reading.names)
    data = str(reading.recipe.get("dataset") or "")
    noun = "embedding" if count == 1 else "embeddings"
    return f"Evaluation of {in_words(count)} {noun}" + (f" of {data}" if data else "")


def _letter(place: int) -> str:
    """a, b, ..., z, aa, ab, ..."""
    text = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        text = chr(97 + rest) + text
    return text


def _shared_note(column: Column) -> str:
    """The remark that every value of a column carries."""
    notes = {cell.note for cell in column.cells.values() if not cell.missing}
    return notes.pop() if len(notes) == 1 and len(column.values) > 1 else ""


def _head(column: Column, footnotes: Footnotes, k: int | None) -> dict[str, Any]:
    """Title, symbol, parameters and direction of a column."""
    note = _shared_note(column)
    symbol = "" if column.title.endswith(column.symbol) else column.symbol
    shared = f"{SCALE}={k}"  # said once, above the table
    parameters = parameter_words(", ".join(p for p in column.parameters.split(", ") if p != shared))
    below = [symbol, parameters, "" if column.higher else column.better_words]
    return {
        "title": column.title,
        "below": ", ".join(filter(None, below)),
        "question": column.question,
        "mark": footnotes.mark(note),
        "note": note,
        "higher": column.higher,
    }


def _row(reading: Reading, name: str, footnotes: Footnotes) -> dict[str, Any]:
    """One embedding in the first table."""
    failed = reading.failed.get(name, "")
    cells = [] if failed else [_cell(reading, column, name, footnotes) for column in reading.by_goal]
    return {"name": name, "place": reading.names.index(name), "failed": failed, "cells": cells}


def _cell(reading: Reading, column: Column, name: str, footnotes: Footnotes) -> TableCell:
    cell = column.cells.get(name)
    if cell is None or cell.missing:
        reason = "not asked for" if cell is None else cell.note
        return TableCell(ABSENT, mark=footnotes.mark(reason), note=reason)
    note = "" if cell.note == _shared_note(column) else cell.note
    return TableCell(
        text=column.shown(cell.value),
        interval=column.interval(name),
        ends=column.ends(name),
        ties=column.ties(name),
        open=column.ties_matter(name),
        best=name in reading.standing(column).best,
        shade=round(column.shade(name), 3),
        mark=footnotes.mark(note),
        note=note,
        sort=repr(float(cell.value)),
    )


def _shade_note(reading: Reading, turned: bool) -> str:
    """What the shades and marks of a page mean."""
    standings = [reading.standing(column) for column in reading.main]
    if not any(at.best for at in standings):
        return ""
    best = "the best or not distinguishable from it" if any(at.tested for at in standings) else "the best value"
    order = "Embeddings by their mean rank over these measures. " if reading.many else ""
    return f"{order}A stronger shade is better within a {'row' if turned else 'column'}; ● {best}."


def _table_note(reading: Reading, page: bool) -> str:
    """How the first table is read; a page writes the half-width of an interval where it can."""
    parts = []
    if any(cell.has_interval for column in reading.main for cell in column.cells.values()):
        small = f"In small print the half-width of the {reading.level} interval, or its two ends."
        parts.append(small if page else f"Square brackets hold the {reading.level} interval.")
    tied = Column.ties_matter if page else Column.ties
    if any(tied(column, name) for column in reading.main for name in column.values):
        parts.append("“Ties” are worst and best over all orders of equal distances.")
    if any(column.short_chance == DIFFERS for column in reading.main):
        parts.append("Where chance “differs”, each embedding has its own; they stand below.")
    if reading.k is not None:
        more = "; all values stand below" if len(reading.scales) > 1 else ""
        parts.append(f"Neighborhoods at k = {reading.k}{more}.")
    return " ".join(filter(None, parts))


def _full_row(reading: Reading, row: Mapping[str, Any]) -> dict[str, str]:
    """One row of the table of all values."""
    column = next(c for c in reading.columns if c.measure == row["measure"] and c.parameters == row["parameters"])
    cell = column.cells[row["embedding"]]
    ends = "" if not cell.has_interval else f"{column.shown(cell.low)} to {column.shown(cell.high)}"
    ties = "" if math.isnan(cell.worst) else f"{column.shown(cell.worst)} to {column.shown(cell.best)}"
    return {
        "embedding": row["embedding"],
        "measure": column.title,
        "parameters": parameter_words(column.parameters),
        "value": ABSENT if cell.missing else column.shown(cell.value),
        "interval": ends,
        "chance": "" if math.isnan(cell.chance) else column.shown(cell.chance),
        "ties": ties,
        "note": cell.note,
    }


def _settings(recipe: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The settings of the run; no time, so that the same result gives the same report."""
    ks = recipe.get("n_neighbors")
    shown = ", ".join(map(str, ks)) if isinstance(ks, list | tuple) else "" if ks is None else str(ks)
    anchors = recipe.get("anchors")
    pairs = [
        ("Data", str(recipe.get("dataset") or "")),
        ("Points n", f"{int(recipe['n']):,}" if recipe.get("n") else ""),
        ("Columns p", f"{int(recipe['p']):,}" if recipe.get("p") else ""),
        ("Metric", str(recipe.get("metric") or "")),
        ("Neighbors k", shown),
        ("Anchors", f"{int(anchors):,}" if anchors else "all points"),
        ("Seed", "" if recipe.get("random_state") is None else str(recipe["random_state"])),
        ("Adjustment of p", str(recipe.get("adjust") or "")),
        ("SHA-256 of the data", str(recipe.get("data_sha256") or "")),
    ]
    return [(name, value) for name, value in pairs if value]


_MARKUP = re.compile(r":math:|\*|`|\.\. math::")


@dataclass(frozen=True)
class Word:
    """A word of the report: what it means and, of a measure, its formula and where it is from."""

    term: str
    meaning: str
    formula: str = ""
    reference: str = ""


def cautions(reading: Reading, dimensions: dict[str, int], paired: bool = False) -> list[str]:
    """Sentences on what does not follow; each stands only where it applies."""
    cells = [cell for column in reading.main for cell in column.cells.values() if not cell.missing]
    several = len(reading.computed) > 1
    shown = ordered([str(d) for d in sorted(set(dimensions.values()))])
    more = "More columns can keep more of the data, so the order is not one of the methods alone."
    rules = [
        (
            several,
            "“Best” goes measure by measure: another measure, another number of neighbors or other points may bring "
            "another embedding to the top."
            if any(reading.standing(column).tested for column in reading.main)
            else "“Best” means the best value in this table. Nothing here tests whether two embeddings differ.",
        ),
        (
            paired,
            "Paired tests refer to other points for the same embeddings, not to other runs of the methods or data.",
        ),
        (several and len(set(dimensions.values())) > 1, f"The embeddings have {shown} columns. {more}"),
        (
            bool(cells) and len(reading.scales) == 1,
            f"Neighborhoods are those of k = {reading.k}."
            + (" At another scale the order of the embeddings may be another." if several else ""),
        ),
        *(_interval_cautions(reading, [c.has_interval for c in cells]) if cells else ()),
        (
            bool(reading.recipe.get("anchors")),
            "Neighborhoods were seen from a random part of the points only; maps show those points.",
        ),
        (
            bool(reading.computed),
            (
                "Each embedding was judged as it came, once. A method that starts at random may give another embedding "
                "on another run."
            ),
        ),
        (
            any(d > 2 for d in dimensions.values()),
            "Embeddings of more than two columns are judged in all of them; embeddings show the first two.",
        ),
        (
            any(c.measure == "knn_accuracy" and c.values for c in reading.main),
            (
                "Classes that lie apart in an embedding are no proof that the embedding keeps the data: k-NN accuracy "
                "judges labels, not distances."
            ),
        ),
        *_test_cautions(reading),
        (
            bool(cells),
            "Better than chance is a low bar: chance means an embedding that has nothing to do with the data.",
        ),
    ]
    return [sentence for applies, sentence in rules if applies]


def _interval_cautions(reading: Reading, having: list[bool]) -> list[tuple[bool, str]]:
    """What intervals do not say, or what their absence means."""
    some, every = any(having), all(having)
    difference = " They are no intervals for the difference of two embeddings, which share their points."
    targets = ordered(targets_of(reading.recipe, reading.rows))
    return [
        (not some, "Values have no intervals: nothing here says how much they would change with other points."),
        (
            some,
            f"Intervals speak of {targets or 'their target'}, one value at a time."
            + (difference if len(reading.computed) > 1 else ""),
        ),
        (some and not every, "Values without an interval are not more certain than those with one."),
    ]


def _test_cautions(reading: Reading) -> list[tuple[bool, str]]:
    """What tests do not say."""
    return [
        (
            bool(reading.tests),
            (
                "A small p says that embedding and variable depend on each other, not how much (the effect size does) "
                "and not why. A large p is no proof of independence."
            ),
        )
    ]


def glossary(reading: Reading) -> list[Word]:
    """The words of ``definitions``; measures with formula and reference, as their cards and pages say them."""
    measures = {_term(column): column for column in reading.main}
    words = definitions(reading)
    return [measure_words_of(measures[term]) if term in measures else Word(term, meaning) for term, meaning in words]


def measure_words_of(column: Column) -> Word:
    """What a measure means, its formula and its reference, as its card and its page say them."""
    return Word(_term(column), _meaning(column), *_source(column.measure if column.measure in MEASURES else ""))


def _source(measure: str) -> tuple[str, str]:
    """The formula that the page of a measure states, and its reference."""
    if not measure:
        return "", ""
    page = (MEASURES.get(measure).__doc__ or "").partition("\n\n")[2].partition("Parameters\n")[0]
    parts = [" ".join(part.split()) for part in page.split("\n\n")]
    formulas = [part for part in parts if " = " in part]
    said = _MARKUP.sub("", formulas[0]).strip() if formulas else ""
    return said, " ".join(MEASURES.card(measure).reference.split())


def definitions(reading: Reading) -> list[tuple[str, str]]:
    """Every term of the report with its meaning: measures, then the columns of tables, then the verdicts."""
    words = [(_term(column), _meaning(column)) for column in reading.main]
    words.append(("chance level", _sentence(COLUMNS["chance"])))
    if reading.scales:
        words.append(("k", "Number of nearest neighbors that make a neighborhood."))
    if any(row["conf_method"] for row in reading.rows):
        methods = ordered(sorted({row["conf_method"] for row in reading.rows if row["conf_method"]}))
        words.append((f"{reading.level} interval", f"Interval for the value, by {methods}."))
    if any(not math.isnan(row["worst"]) for row in reading.rows):
        ties = "Equal distances can be ordered in several ways; worst and best are over all of them."
        words.append(("ties", f"{ties} A verdict stands only where it holds for both."))
    if reading.tests:
        adjustment = ADJUSTMENTS.get(reading.recipe.get("adjust"), "nothing")
        words += [
            ("p", _sentence(COLUMNS["p_value"])),
            ("adjusted p", _sentence(f"{COLUMNS['p_adjusted']}, by {adjustment}")),
            ("effect size", _sentence(COLUMNS["effect_size"])),
        ]
    return [*words, *grade_words(reading)]


def _term(column: Column) -> str:
    return column.title if column.title.endswith(column.symbol) else f"{column.title} {column.symbol}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _meaning(column: Column) -> str:
    """Question, direction, range and chance of a measure."""
    low, high = column.bounds
    if math.isfinite(low) and math.isfinite(high):
        span = f"from {low:g} to {high:g}"
    else:
        span = f"from {low:g} up" if math.isfinite(low) else "without bounds"
    chance = f"; chance level {column.chance}" if column.chance else ""
    return f"{column.question} {column.better_words.capitalize()}, {span}{chance}.".strip()


def head_line(reading: Reading, dimensions: dict[str, int]) -> str:
    """What was evaluated, in one line."""
    recipe = reading.recipe
    shown = ordered([str(d) for d in sorted(set(dimensions.values()))])
    size = counted(int(recipe.get("n") or 0), "point") + f" in {counted(int(recipe.get('p') or 0), 'dimension')}"
    parts = [size + (f", shown in {shown}" if shown else "")]
    if reading.k is not None:
        more = f" (and {len(reading.scales) - 1} more)" if len(reading.scales) > 1 else ""
        parts.append(f"k = {reading.k}{more}")
    parts.append(str(recipe.get("metric") or ""))
    if recipe.get("anchors"):
        parts.append(f"seen from {counted(int(recipe['anchors']), 'anchor')}")
    some = any(row["conf_method"] for row in reading.rows)
    parts.append(f"{reading.level} intervals" if some else "no intervals")
    seed = recipe.get("random_state")
    parts.append("" if seed is None else f"seed {seed}")
    return " · ".join(part for part in parts if part)


@dataclass(frozen=True)
class Card:
    """What is said of one embedding: how it stands, what holds and what does not, and what has no value."""

    name: str
    place: int
    standing: str
    good: tuple[Statement, ...]
    poor: tuple[Statement, ...]
    missing: tuple[Statement, ...]


def cards(reading: Reading) -> list[Card]:
    """A card for each embedding, with what not all of them share; none where there is one only."""
    alike, made = shared(reading), []
    for place, name in enumerate(reading.names if len(reading.names) > 1 else ()):
        said = statements_of(reading, name, without=alike)
        good = tuple(one for one in said if one.kind in (HOLDS, MOSTLY))
        poor = tuple(one for one in said if one not in good)
        made.append(Card(name, place, standing_of(reading, name).text, good, poor, tuple(missing_of(reading, name))))
    return made


TURNED_ABOVE = 10  # with more measures (these are the default ones) they are the rows of the first table


def is_turned(measures: int, embeddings: int) -> bool:
    """Whether measures are the rows of the first table, and embeddings its columns."""
    return measures > max(TURNED_ABOVE, embeddings)


def table_parts(
    heads: Sequence[Any], rows: Sequence[Mapping[str, Any]], chances: Sequence[Any], subjects: Sequence[tuple[str, int]]
) -> list[dict[str, Any]]:
    """The first table with its measures as rows: for each subject its lines, each with the cells of all embeddings."""
    columns = [row["cells"] or [None] * len(heads) for row in rows]
    lines = [
        {"head": head, "chance": chance, "cells": cells}
        for head, chance, *cells in zip(heads, chances, *columns, strict=True)
    ]
    parts, begin = [], 0
    for subject, count in subjects or [("", len(lines))]:
        parts.append({"subject": subject, "lines": lines[begin : begin + count]})
        begin += count
    return parts


def balanced(count: int, wide: int, mid: int) -> dict[str, int]:
    """How many of ``count`` things stand in a row of a wide and of a narrower page, so that rows are nearly full.

    Examples
    --------
    >>> balanced(5, 5, 3), balanced(6, 5, 3), balanced(7, 5, 3)
    ({'wide': 5, 'mid': 3}, {'wide': 3, 'mid': 3}, {'wide': 4, 'mid': 3})
    """
    return {"wide": _columns(count, wide), "mid": _columns(count, mid)}


def _columns(count: int, most: int) -> int:
    """The fewest columns that need no more rows than ``most`` columns do."""
    rows = -(-max(count, 1) // most)
    return -(-max(count, 1) // rows)
