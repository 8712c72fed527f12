"""A document as plain text, for a terminal of 80 columns, and its tables fitted to this or another width."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

from dreval._text import WIDE_MARK, pad_wide_characters, printable, terminal_width
from dreval.report.document import (
    CODES,
    TERMINAL_COLUMNS,
    TEXT_COLUMNS,
    Answers,
    Cell,
    Code,
    Column,
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
from dreval.report.format import distinct_short_names, keep_equations, shorten_middle
from dreval.report.render.markup import plain_symbols, sentence

BEST_MARK = "*"  # behind a best cell in a terminal
CALL_LINES = 5  # of a longer call the middle is left out
COLUMN_GAP = 2  # columns of a terminal between two columns of a table
MIN_NAME_COLUMNS = 8  # columns of a terminal that a name keeps
ROW_INDENT = 2  # columns of a terminal before rows that have headings
RULE = "=" * TEXT_COLUMNS
SPLIT_NAME_COLUMNS = 24  # columns of a terminal that each name keeps where a table is in pieces
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


# Tables fitted to a width: the widths of columns, short forms of names, and tables in pieces.


def heading_text(column: Column) -> str:
    """Return the title of a column for a terminal: symbols are in letters."""
    return column.title if column.is_name else plain_symbols(column.title)


def cell_text(cell: Cell) -> str:
    """Return the text of a cell for a terminal: symbols in texts of this package are in letters."""
    text = f"{cell.main_text} {cell.small_print}" if cell.small_print else cell.main_text
    return plain_symbols(text) if cell.kind == "text" else text


def _padded(table: Table, row: Sequence[Cell]) -> list[Cell]:
    """Return a row with a cell in each column."""
    return [*row, *[Cell()] * (len(table.columns) - len(row))]


def cell_rows(table: Table) -> list[list[Cell]]:
    """Return all rows except headings, each with a cell in each column; the last row is the last one."""
    return [_padded(table, row) for row in (*table.cells, table.foot_row) if row]


def column_widths(table: Table) -> list[int]:
    """Return the columns of a terminal that each column takes; the mark of a best cell is in the gap behind it."""
    lines = [list(map(heading_text, table.columns)), *(list(map(cell_text, row)) for row in cell_rows(table))]
    return [max(map(terminal_width, column)) for column in zip(*lines, strict=True)]


def _has_end_mark(table: Table) -> bool:
    """Return whether the mark of a best cell is behind the last column."""
    return any(row[-1].emphasis == "best" for row in cell_rows(table))


def _name_places(table: Table) -> list[int]:
    return [place for place, column in enumerate(table.columns) if column.kind == "name"]


def _long_headings(table: Table) -> list[int]:
    """Return the columns whose heading is a long name."""
    titles = enumerate(column.title if column.is_name else "" for column in table.columns)
    return [place for place, title in titles if terminal_width(title) > SPLIT_NAME_COLUMNS]


def names_of(table: Table) -> list[str]:
    """Return the cells and headings that may be shortened."""
    cells = [row[i] for row in table.cells for i in _name_places(table) if row[i:]]
    headings = [table.columns[place].title for place in _long_headings(table)]
    return [*(cell.text for cell in cells if cell.kind == "name"), *headings]


def longest_name(table: Table) -> int:
    """Return the columns of a terminal of the longest name."""
    return max(map(terminal_width, names_of(table)), default=0)


def _width_by_name_size(table: Table) -> Callable[[int], int]:
    """Return the function from the columns of a terminal of the longest name to those that the table takes."""
    widths, min_widths = column_widths(table), dict[int, int]()
    names, headings = _name_places(table), _long_headings(table)
    for place in {*names, *headings}:
        cells = [row[place] for row in cell_rows(table) if place not in names or row[place].kind != "name"]
        heading = [heading_text(table.columns[place])] * (place not in headings)
        min_widths[place] = max(map(terminal_width, [*heading, *map(cell_text, cells)]), default=0)
    others = sum(wide for place, wide in enumerate(widths) if place not in min_widths)
    others += COLUMN_GAP * (len(widths) - 1) + _has_end_mark(table)
    return lambda size: others + sum(max(least, min(widths[place], size)) for place, least in min_widths.items())


def table_width(table: Table, name_columns: int | None = None) -> int:
    """Return the columns of a terminal that the table takes where names have at most ``name_columns``."""
    return _width_by_name_size(table)(longest_name(table) if name_columns is None else name_columns)


def name_width(table: Table, width: int) -> int:
    """Return the columns of each name where the table is to fit; SPLIT_NAME_COLUMNS if its numbers are too wide."""
    longest, total = longest_name(table), _width_by_name_size(table)
    sizes = (size for size in range(longest, MIN_NAME_COLUMNS - 1, -1) if total(size) <= width)
    return next(sizes, min(longest, SPLIT_NAME_COLUMNS))


def shorten_names(tables: Sequence[Table], max_columns: Sequence[int]) -> tuple[list[Table], dict[str, str]]:
    """Return the tables with names that fit, and the full name of each short form.

    The forms are computed once, from all names of all tables and for the narrowest table, so that a form stands for one
    name everywhere; a table with enough space has the full names.
    """
    is_tight = [columns < longest_name(table) for table, columns in zip(tables, max_columns, strict=True)]
    if not any(is_tight):
        return list(tables), {}
    narrowest = min(columns for columns, tight in zip(max_columns, is_tight, strict=True) if tight)
    short = distinct_short_names([name for table in tables for name in names_of(table)], narrowest)
    shortened = [_rename(table, short) if tight else table for table, tight in zip(tables, is_tight, strict=True)]
    names = dict.fromkeys(
        name for table, tight in zip(tables, is_tight, strict=True) if tight for name in names_of(table)
    )
    return shortened, {short[name]: name for name in names if short[name] != name}


def _rename(table: Table, short: Mapping[str, str]) -> Table:
    """Return the table with short forms of its names."""
    places, headings = _name_places(table), _long_headings(table)
    columns = [
        replace(column, title=short[column.title]) if i in headings else column
        for i, column in enumerate(table.columns)
    ]

    def rename(place: int, cell: Cell) -> Cell:
        return replace(cell, text=short[cell.text]) if place in places and cell.kind == "name" else cell

    rows = [
        row if table.is_heading(row) else [rename(place, cell) for place, cell in enumerate(row)] for row in table.rows
    ]
    return replace(table, columns=columns, rows=rows)


def table_pieces(table: Table, width: int) -> Iterator[Table]:
    """Yield the table; if it is wider, its columns below each other with repeated names, as R does."""
    widths = column_widths(table)
    names_width = sum(widths[: table.names]) + COLUMN_GAP * (table.names - 1) + _has_end_mark(table)
    used, begin = names_width, table.names
    for place in range(table.names, len(widths)):
        if not table.columns[place].title and place > table.names:
            continue  # a column without a heading stays with the column before it
        end = next((i for i in range(place + 1, len(widths)) if table.columns[i].title), len(widths))
        group_width = sum(widths[place:end]) + COLUMN_GAP * (end - place)
        if used + group_width > width and place > begin:
            yield _columns_between(table, begin, place)
            used, begin = names_width, place
        used += group_width
    yield _columns_between(table, begin, len(widths))


def _columns_between(table: Table, begin: int, end: int) -> Table:
    """Return the names with some of the other columns."""
    if begin == table.names and end == len(table.columns):
        return table

    def cut(row: Sequence[Cell]) -> Sequence[Cell]:
        full = _padded(table, row)
        return row if table.is_heading(row) or not row else [*full[: table.names], *full[begin:end]]

    columns = [*table.columns[: table.names], *table.columns[begin:end]]
    return replace(table, columns=columns, rows=list(map(cut, table.rows)), foot_row=cut(table.foot_row))
