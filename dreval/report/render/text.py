"""A document as plain text, for a terminal of 80 columns."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest

from dreval.glossary import WIDE_MARK, pad_wide_characters, printable
from dreval.report.document import (
    CODES,
    TERMINAL_COLUMNS,
    TEXT_COLUMNS,
    Answers,
    Cell,
    Code,
    Document,
    FigureFile,
    Items,
    Paragraph,
    Part,
    Section,
    Table,
    TermEntry,
    Terms,
    text_parts,
)
from dreval.report.format import keep_equations, shorten_middle
from dreval.report.render.layout import (
    BEST_MARK,
    COLUMN_GAP,
    MIN_NAME_COLUMNS,
    cell_rows,
    cell_text,
    column_widths,
    heading_text,
    name_width,
    shorten_names,
    table_pieces,
)
from dreval.report.render.markup import plain_symbols, sentence

CALL_LINES = 5  # of a longer call the middle is left out
ROW_INDENT = 2  # columns of a terminal before rows that have headings
RULE = "=" * TEXT_COLUMNS


FIXED_BLANK = "\x01"  # at which no line breaks
SETTINGS = re.compile(r"\(k\x01=\x01\d+, [^()]{1,24}\)")  # of the first line, as "(k = 15, seed 0)"


def wrap(text: str, width: int = TEXT_COLUMNS, **indents: str) -> list[str]:
    """Return a text in lines, padded as ``pad_wide_characters`` does; equations such as "k = 10" are not broken."""
    text = keep_equations(pad_wide_characters(text), FIXED_BLANK)
    text = SETTINGS.sub(lambda match: match[0].replace(" ", FIXED_BLANK), text)
    lines = textwrap.wrap(text, width, break_on_hyphens=False, **indents)
    return [line.replace(FIXED_BLANK, " ") for line in lines]


def text(document: Document) -> str:
    """Return plain text, for a terminal of 80 columns; the middle of a long call is left out.

    Names that do not fit in a table are shortened too, with a key below the tables.
    """
    tables = document.tables
    widths = [name_width(table, TERMINAL_COLUMNS - ROW_INDENT * table.has_headings) for table in tables]
    tables, short = shorten_names(tables, widths)
    lines = [line for about in document.about for line in wrap(printable(about))]
    if not document.opens_with_answer or (document.about and document.header):
        lines += [*(line.center(TEXT_COLUMNS).rstrip() for line in wrap(printable(document.title))), RULE]
    notes_heading = [] if document.opens_with_answer else ["Notes"]
    body = list(_lines(list(text_parts(document.parts)), tables, short, notes_heading))
    lines += body if lines and not document.is_dense else body[1:]  # without the blank line before the first part
    return printable("\n".join(line.replace(WIDE_MARK, "").rstrip() for line in lines), keep="\n")


def _lines(
    parts: Sequence[Part], tables: list[Table], short: Mapping[str, str], notes_heading: Sequence[str]
) -> Iterator[str]:
    """Yield the lines of the parts, and the key of short names below the last table; written tables are removed."""
    previous: Part | None = None
    for part in parts:
        yield from [] if _joins(previous, part) else [""]
        previous = part
        match part:
            case Section():
                yield from wrap(sentence(part.title, text_part=plain_symbols))
                yield from _lines(part.parts, tables, short, notes_heading)
            case Table():
                yield from _table(tables.pop(0))
                yield from [] if tables or not short else ["", "Names"]
                yield from [] if tables else _indented(f"{form}: {name}" for form, name in short.items())
            case Items(numbered=True):
                yield from notes_heading
                yield from _marked((f"[{i}] ", printable(note)) for i, note in enumerate(part.items, 1))
            case Items():
                yield from _marked(("- ", sentence(item, text_part=plain_symbols)) for item in part.items)
            case Terms(style="header"):
                yield from _header_lines(part.entries)
            case Answers():
                yield from _answers(part.lines)
            case Terms():
                yield from _indented(f"{entry.term}: {plain_symbols(entry.meaning)}" for entry in part.entries)
            case Code():
                yield "Call:"
                lines = list(_indented(part.text.splitlines()))
                tail = CALL_LINES // 2
                yield from lines if len(lines) <= CALL_LINES else lines[: CALL_LINES - tail - 1]
                yield from [] if len(lines) <= CALL_LINES else ["    ...", *lines[-tail:]]
            case Paragraph():
                is_written = part.is_plain or part.written
                paragraph = printable(part.text) if is_written else sentence(part.text, text_part=plain_symbols)
                yield from wrap(paragraph)
            case FigureFile():
                yield from wrap(f"Figure: {plain_symbols(part.caption)}")


def _joins(previous: Part | None, part: Part) -> bool:
    """Return whether a part follows the one before it without a blank line."""
    if isinstance(part, Terms):
        return part.style == "header" and previous is None
    if not isinstance(part, Paragraph):
        return False
    return part.style == "further" or (isinstance(previous, Paragraph) and previous.style == part.style)


def _table(table: Table) -> Iterator[str]:
    """Yield a table with its title and the text below it."""
    yield from wrap(plain_symbols(table.heading))
    indent = ROW_INDENT * table.has_headings
    for piece in table_pieces(table, TERMINAL_COLUMNS - indent):
        titles = [Cell(heading_text(column)) for column in piece.columns]
        widths = column_widths(piece)
        sides = [str.ljust if piece.is_left(place) else str.rjust for place in range(len(widths))]
        head, *lines = (
            (" " * indent + " ".join(map(_cell, row, widths, sides))).rstrip() for row in [titles, *cell_rows(piece)]
        )
        rule = "-" * min(max(map(len, (head, *lines))), TERMINAL_COLUMNS)
        yield from [head] * bool(head) + [rule] * (table.style != "plain")
        for heading, section in piece.sections:
            yield from wrap(cell_text(heading) if heading else "", width=TERMINAL_COLUMNS, subsequent_indent="  ")
            yield from lines[: len(section)]
            lines = lines[len(section) :]
        yield from [rule, *lines] if lines else []
    yield from ["---"] if table.foot == CODES else []
    yield from wrap(plain_symbols(table.text_below(BEST_MARK)))
    yield from wrap("; ".join(f"({footnote.letter}) {footnote.text}" for footnote in table.footnotes))


def _cell(cell: Cell, width: int, side: Callable[[str, int], str]) -> str:
    """Return one cell in the width of its column, and one more for the mark of a best cell."""
    text = pad_wide_characters(printable(cell_text(cell)))
    mark = BEST_MARK if cell.emphasis == "best" else " "
    return side(text + mark, width + 1)


def _header_lines(entries: Sequence[TermEntry]) -> Iterator[str]:
    """Yield pairs of a name and its value in two columns, at the two ends of each."""
    cells, half = [_header_pair(entry.term, entry.meaning) for entry in entries], (len(entries) + 1) // 2
    for left, right in zip_longest(cells[:half], cells[half:], fillvalue=""):
        yield f"{left}  {right}".rstrip()


def _header_pair(name: str, value: str) -> str:
    columns = TEXT_COLUMNS // 2 - 1
    title = f"{shorten_middle(name, columns - MIN_NAME_COLUMNS - 2)}:"
    value_columns = columns - len(title) - 1
    return f"{title} {pad_wide_characters(shorten_middle(printable(value), value_columns)):>{value_columns}}"


def _answers(lines: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield questions, and next to each its answer, with a hanging indent."""
    indent = max((len(question) for question, _ in lines), default=0) + COLUMN_GAP
    for question, text in lines:
        answer = sentence(text, text_part=plain_symbols)
        start = question.ljust(indent)
        yield from wrap(answer, width=TERMINAL_COLUMNS, initial_indent=start, subsequent_indent=" " * indent)


def _indented(lines: Iterable[str]) -> Iterator[str]:
    """Yield indented lines; what continues a line is indented further."""
    for line in lines:
        yield from wrap(printable(line), initial_indent="  ", subsequent_indent="    ")


def _marked(items: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the lines of items, each after its mark."""
    for mark, item in items:
        yield from wrap(item, initial_indent=mark, subsequent_indent=" " * min(len(mark), 4))
