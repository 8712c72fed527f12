"""What a report says, apart from how: the same content becomes a page and a text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from dreval.records.results import Results
from dreval.report._card import card_lines
from dreval.report._cautions import cautions, definitions, glossary, head_line
from dreval.report._column import DIFFERS, Column
from dreval.report._layout import balanced, is_turned, table_parts
from dreval.report._names import short_names
from dreval.report._numbers import in_words
from dreval.report._paired import paired_differences
from dreval.report._reading import SCALE, Reading, parameter_words
from dreval.report._tested import asked_rows, known_tests, test_groups, test_row, tests_said
from dreval.report.contents.evaluation import failure_notes
from dreval.report.words import verdicts

__all__ = ["Footnotes", "TableCell", "content"]

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
    main = reading.by_subject if reading.computed else ()  # a table of reasons only would repeat them
    rows = [_row(reading, name, footnotes) for name in reading.names] if main else []
    differ = len(set(dimensions.values())) > 1
    turned = is_turned(len(main), len(reading.names))
    heads = [_head(column, footnotes, reading.k) for column in main]
    rows = [{**row, "d": dimensions.get(row["name"], "") if differ else ""} for row in rows]
    chances = [{"text": column.short_chance or ABSENT, "range": column.chance} for column in main]
    subjects = _subjects(main)
    paired = paired_differences(results, reading)
    count = len(reading.names)
    return {
        "title": title if title is not None else default_title(reading),
        "meta": head_line(reading, dimensions),
        "verdicts": [
            {"place": i, "said": said, "card": card_lines(reading, said, paired.tested)}
            for i, said in enumerate(verdicts(reading, paired.tested))
        ],
        "grid": {"cards": balanced(count, 5, 3), "panels": balanced(count, 5, 3), "diagrams": balanced(count, 4, 3)},
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
        "tests": [test_row(row) for row in known_tests(reading)],
        "tests_said": tests_said(reading, reading.tests),
        "test_groups": test_groups(reading),
        "tests_adjusted": any(not math.isnan(row["p_adjusted"]) for row in reading.tests),
        "notes": _notes(results, reading),
        "settings": _settings(reading.recipe),
        "versions": [(str(name), str(version)) for name, version in dict(reading.recipe.get("versions") or {}).items()],
        "call": str(reading.recipe.get("call") or ""),
        "sources": _sources(reading.recipe),
        "definitions": definitions(reading),
        "glossary": glossary(reading),
        "cautions": cautions(reading, dimensions, paired=bool(paired.rows)),
    }


def default_title(reading: Reading) -> str:
    """The heading, such as "Four embeddings of digits"."""
    count = len(reading.names)
    data = str(reading.recipe.get("dataset") or "")
    noun = "embedding" if count == 1 else "embeddings"
    return f"{in_words(count).capitalize()} {noun}" + (f" of {data}" if data else "")


def _notes(results: Results, reading: Reading) -> list[str]:
    """The notes of the summary but the reasons of failures, which cards and the first table say."""
    said = set(failure_notes(reading.failed))
    return [note for note in results.summary().notes if note not in said]


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


def _subjects(main: Sequence[Column]) -> list[tuple[str, int]]:
    """What the columns speak of, with the number of columns; nothing where it is one thing only."""
    found = [(subject, len(list(part))) for subject, part in groupby(column.subject for column in main)]
    return found if len(found) > 1 else []


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
    cells = [] if failed else [_cell(column, name, footnotes) for column in reading.by_subject]
    return {"name": name, "place": reading.names.index(name), "failed": failed, "cells": cells}


def _cell(column: Column, name: str, footnotes: Footnotes) -> TableCell:
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
        open=_ties_matter(column, name),
        best=name in column.leaders,
        shade=round(column.shade(name), 3),
        mark=footnotes.mark(note),
        note=note,
        sort=repr(float(cell.value)),
    )


def _ties_matter(column: Column, name: str) -> bool:
    """Whether the orders of equal distances leave more open than the interval does."""
    cell = column.cells[name]
    return bool(column.ties(name)) and (
        not cell.has_interval or abs(cell.best - cell.worst) > (cell.high - cell.low) / 2
    )


def _shade_note(reading: Reading, turned: bool) -> str:
    """What the shades and marks of a page mean."""
    compared = any(column.leaders for column in reading.main)
    return f"A stronger shade is better within a {'row' if turned else 'column'}, ● the best." if compared else ""


def _table_note(reading: Reading, page: bool) -> str:
    """How the first table is read; a page writes the half-width of an interval where it can."""
    parts = []
    if any(cell.has_interval for column in reading.main for cell in column.cells.values()):
        small = "In small print the half-width of the 95 % interval, or its two ends."
        parts.append(small if page else "Square brackets hold the 95 % interval.")
    tied = _ties_matter if page else Column.ties
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


def _sources(recipe: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What each embedding came from, with the parameters of its run."""
    said = []
    for name, about in (recipe.get("sources") or {}).items():
        what = "given coordinates" if about["kind"] == "coordinates" else f"{about['kind']} {about['what']}"
        parameters = ", ".join(f"{key}={value}" for key, value in about["parameters"].items())
        said.append((str(name), f"{what}: {parameters}" if parameters else what))
    return said


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
