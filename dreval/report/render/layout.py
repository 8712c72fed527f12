"""Fit tables into a width: the widths of columns, short forms of names, and tables in pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from dreval.glossary import terminal_width
from dreval.report.document import Cell, Column, Table
from dreval.report.format import distinct_short_names
from dreval.report.render.markup import plain_symbols

BEST_MARK = "*"  # behind a best cell in a terminal
COLUMN_GAP = 2  # columns of a terminal between two columns of a table
MIN_NAME_COLUMNS = 8  # columns of a terminal that a name keeps
SPLIT_NAME_COLUMNS = 24  # columns of a terminal that each name keeps where a table is in pieces


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
