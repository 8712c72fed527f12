"""Printing: the two-block summary that R users know, as text; ``snippets`` and ``latex`` write the other forms."""

from __future__ import annotations

import math
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

from dreval.glossary import MARK, spread, terminal_width
from dreval.report.render.markup import printable
from dreval.report.render.short import in_short, shortened
from dreval.report.render.symbols import plain_symbols

__all__ = [
    "CODES",
    "Best",
    "Block",
    "Printed",
    "Small",
    "Summary",
    "format_duration",
    "format_number",
    "format_p",
    "same_digits",
    "significance_stars",
]

WIDTH = 78
TERMINAL = 80  # columns, all of which a table may take
LEAST = 8  # columns of a terminal that a name keeps
WIDE = 24  # of a table that is broken into several each name keeps so many
CALL_LINES = 5  # of a longer call the middle is left out
CODES = "Significance codes: 0 '***' 0.001 '**' 0.01 '*' 0.05 '.' 0.1 ' ' 1"


def format_number(value: Any, digits: int = 4) -> str:
    """A number as it is printed: ``digits`` significant places behind the point, scientific only when it must be."""
    if value is None or value != value:
        return ""
    if isinstance(value, int):
        return f"{value:,}"
    size = abs(value)
    if size != 0 and (size >= 1e6 or size < 10.0**-digits):
        return f"{value:.{max(digits - 1, 1)}e}"
    return f"{value:.{digits}f}"


def format_p(p: float) -> str:
    """A p-value as it is printed; small ones as a bound, never as 0."""
    if p != p:
        return ""
    return "<.001" if p < 0.001 else f"{p:.3f}"


def format_duration(seconds: float) -> str:
    """Seconds, minutes or hours.

    Examples
    --------
    >>> format_duration(3.14159), format_duration(200), format_duration(9000)
    ('3.1 s', '3 min 20 s', '2 h 30 min')
    """
    if seconds < 100:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def same_digits(values: Sequence[float]) -> list[str]:
    """Numbers of one column with as many places as give the largest four significant digits; nothing for a NaN.

    Examples
    --------
    >>> same_digits([0.0009972, 0.05539, float("nan")])
    ['0.00100', '0.05539', '']
    """
    largest = max((abs(value) for value in values if value == value), default=0.0)
    power = math.floor(math.log10(largest)) if 0 < largest < math.inf else 0
    places = max(3 - power, 0)
    written = f".{places}f" if -6 < power < 6 else ".3e"
    return [
        "" if value != value else f"{round(value, places) + 0.0 if -6 < power < 6 else value:{written}}"
        for value in values
    ]


def significance_stars(p: float) -> str:
    """R's significance codes."""
    return next((mark for bound, mark in ((0.001, "***"), (0.01, "**"), (0.05, "*"), (0.1, ".")) if p <= bound), "")


class Best(str):
    """A cell that is the best of its group: bold where there is bold."""

    __slots__ = ()


class Small(str):
    """A cell in small print, where there is such."""

    __slots__ = ()


@dataclass(frozen=True)
class Block:
    """One table of a summary: a heading, column names and rows of text.

    A row of one cell is a heading of the rows below it. The first ``names`` columns hold names, which are shortened
    where there is no room, as are columns without a heading, by one map of short forms for all tables of a summary;
    numbers never are. ``foot`` stands below the table.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    names: int = 1
    foot: str = ""

    @property
    def cells(self) -> list[Sequence[str]]:
        """The rows but their headings."""
        return [row for row in self.rows if len(row) == len(self.columns)]

    @property
    def sectioned(self) -> bool:
        """Whether rows have headings; these rows are indented."""
        return len(self.cells) < len(self.rows)

    def is_left(self, place: int) -> bool:
        """Whether a column stands at the left: names, words, and what has no heading."""
        cells = [row[place] for row in self.cells if row[place]]
        words = bool(cells) and not any(letter.isdigit() for cell in cells for letter in cell)
        return place < self.names or not self.columns[place] or words

    @property
    def free(self) -> list[int]:
        """The columns that may be shortened: those of names, and those without a heading."""
        return [i for i, heading in enumerate(self.columns) if i < self.names or not heading]

    @property
    def longest(self) -> int:
        """Columns of a terminal that the longest cell takes that may be shortened."""
        return max((terminal_width(row[i]) for row in self.cells for i in self.free), default=0)

    def renamed(self, short: Mapping[str, str]) -> Block:
        """The same table with the short forms of what may be shortened."""
        free = self.free
        rows = [
            row if len(row) < len(self.columns) else [short[c] if i in free else c for i, c in enumerate(row)]
            for row in self.rows
        ]
        return replace(self, rows=rows)

    def width(self, room: int) -> int:
        """Columns of a terminal that the table takes where a name has so many at most."""
        heads, widths, free = list(map(terminal_width, self.columns)), self._widths(), self.free
        cut = [max(heads[i], min(wide, room)) if i in free else wide for i, wide in enumerate(widths)]
        return sum(cut) + 2 * (len(cut) - 1)

    def room(self, width: int) -> int:
        """Columns that each name has where the table is to fit; WIDE where its numbers alone are wider."""
        longest = self.longest
        fitting = (room for room in range(longest, LEAST - 1, -1) if self.width(room) <= width)
        return next(fitting, min(longest, WIDE))

    def _widths(self) -> list[int]:
        columns = zip(self.columns, *self.cells, strict=True)
        return [max(map(terminal_width, column)) for column in columns]

    def pieces(self, width: int) -> Iterator[Block]:
        """The table; where it is wider its columns below each other, names repeated, as R does."""
        widths = self._widths()
        first = sum(widths[: self.names]) + 2 * (self.names - 1)
        groups: list[list[int]] = []  # a column without a heading stays with the one before it
        for place in range(self.names, len(widths)):
            new = not groups or bool(self.columns[place])
            groups += [[place]] if new else []
            groups[-1] += [] if new else [place]
        used, begin = first, self.names
        for group in groups:
            wide = sum(widths[place] + 2 for place in group)
            if used + wide > width and group[0] > begin:
                yield self._columns(begin, group[0])
                used, begin = first, group[0]
            used += wide
        yield self._columns(begin, len(widths))

    def _columns(self, begin: int, end: int) -> Block:
        """The names with some of the other columns."""

        def taken(row: Sequence[str]) -> Sequence[str]:
            return row if len(row) < len(self.columns) else [*row[: self.names], *row[begin:end]]

        return replace(self, columns=taken(self.columns), rows=[taken(row) for row in self.rows])

    def lines(self, width: int) -> Iterator[str]:
        """The table as text, laid out by statsmodels; headings of rows stand out to the left."""
        from statsmodels.iolib.table import SimpleTable

        indent = 2 * self.sectioned
        for part in self.pieces(width - indent):
            sides = "".join("l" if part.is_left(place) else "r" for place in range(len(part.columns)))
            look = {"table_dec_above": None, "table_dec_below": None, "data_aligns": sides, "colsep": "  "}
            cells = [[spread(printable(cell)) for cell in row] for row in (part.columns, *part.cells)]
            head, *rows = str(SimpleTable(cells, txt_fmt=look)).split("\n")
            if any(part.columns):
                yield " " * indent + head.rstrip()
            yield "-" * min(max(len(line.rstrip()) for line in (head, *rows)) + indent, width)
            for row in part.rows:
                said = textwrap.wrap(plain_symbols(row[0]), width, subsequent_indent=" " * indent)
                yield from said if len(row) < len(part.columns) else [(" " * indent + rows.pop(0)).rstrip()]


@dataclass(frozen=True)
class Summary:
    """A printed result: call, header pairs in two columns, tables, and notes.

    ``str()`` gives the text; ``as_html()``, ``as_latex()`` and ``as_markdown()`` the same content elsewhere. No clock
    is printed, so that the same result prints the same text.
    """

    title: str
    header: Sequence[tuple[str, str]]
    blocks: Sequence[Block]
    notes: Sequence[str] = field(default=())
    call: str = ""

    def as_text(self) -> str:
        """Plain text, for a terminal of 80 columns; of a long call the middle is left out.

        So it is of names where a table has no room for them; what they stand for is said below the tables.
        """
        pairs = [(name, value) for name, value in self.header if value]
        half = (len(pairs) + 1) // 2
        left, right = pairs[:half], [*pairs[half:], ("", "")][:half]
        lines = [*(line.center(WIDTH).rstrip() for line in textwrap.wrap(self.title, WIDTH)), "=" * WIDTH]
        lines += [f"{_pair(*a)}  {_pair(*b)}".rstrip() for a, b in zip(left, right, strict=True)]
        if self.call:
            lines += ["", "Call:", *_call_lines(self.call)]
        blocks, short = in_short(self.blocks, [block.room(TERMINAL - 2 * block.sectioned) for block in self.blocks])
        for block in blocks:
            lines += ["", *textwrap.wrap(plain_symbols(block.title), WIDTH), *block.lines(TERMINAL)]
            lines += ["---", *textwrap.wrap(block.foot, WIDTH)] if block.foot else []
        lines += ["", "Names", *_key_lines(short)] if short else []
        if self.notes:
            lines += ["", "Notes"]
            for i, note in enumerate(self.notes, 1):
                said = spread(printable(note))
                lines += textwrap.wrap(said, WIDTH, initial_indent=f"[{i}] ", subsequent_indent="    ")
        return "\n".join(lines).replace(MARK, "")

    def as_markdown(self) -> str:
        """GitHub-flavoured Markdown: headings, lists and tables, with every sign of a name escaped."""
        return str(import_module("dreval.report.render.snippets").markdown(self))

    def as_html(self) -> str:
        """A part of a page: tables with captions and headings that say what they head, in the colors around it."""
        return str(import_module("dreval.report.render.snippets").html(self))

    def as_latex(self, label: str | None = None) -> str:
        r"""Tables with captions and labels for ``\input``; needs the packages booktabs and longtable.

        Letters that pdfLaTeX does not know by itself are set by XeLaTeX and LuaLaTeX; pdfLaTeX shows their code
        points, as U+5D4C. A name for which a line has no room is shortened, in all tables alike, and stands in full
        below the table.

        Parameters
        ----------
        label : str, optional
            What tells these tables from others of the document: ``label="wdbc"`` gives ``tab:wdbc-1`` and so on. The
            words of the title by default, which are the same for every result of its kind.

        Raises
        ------
        InputError
            For a label with other signs than letters, digits, ``.``, ``:`` and ``-``.
        """
        return str(import_module("dreval.report.render.latex").latex(self, label))

    def __str__(self) -> str:
        return self.as_text()

    def _repr_html_(self) -> str:
        return self.as_html()


class Printed(ABC):
    """A record with a summary: ``print`` shows it, and a notebook shows it as HTML."""

    @abstractmethod
    def summary(self) -> Summary:
        """The printed record."""

    def __str__(self) -> str:
        return str(self.summary())

    def _repr_html_(self) -> str:
        return self.summary().as_html()


def _call_lines(call: str) -> list[str]:
    """The call, indented; of a long one the middle is left out."""
    lines: list[str] = []
    for line in printable(call, keep="\n").splitlines():
        look = {"initial_indent": "  ", "subsequent_indent": "    ", "break_on_hyphens": False}
        lines += textwrap.wrap(spread(line), WIDTH, **look)  # type: ignore[arg-type]
    tail = CALL_LINES // 2
    return lines if len(lines) <= CALL_LINES else [*lines[: CALL_LINES - tail - 1], "    ...", *lines[-tail:]]


def _key_lines(short: Mapping[str, str]) -> Iterator[str]:
    """What each short form stands for."""
    for form, whole in short.items():
        said = spread(printable(f"{form}: {whole}"))
        look = {"initial_indent": "  ", "subsequent_indent": "    ", "break_on_hyphens": False}
        yield from textwrap.wrap(said, WIDTH, **look)  # type: ignore[arg-type]


def _pair(name: str, value: str) -> str:
    """A name and its value at the two ends of half a line."""
    half = WIDTH // 2 - 1
    said = f"{shortened(name, half - LEAST - 2)}:"
    room = half - len(said) - 1
    return f"{said} {spread(shortened(printable(value), room)):>{room}}" if name else " " * half
