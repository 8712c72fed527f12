"""Printing: the two-block summary that R users know, as text; ``snippets`` and ``latex`` write the other forms."""

from __future__ import annotations

import math
import textwrap
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

from dreval.glossary import MARK, spread, terminal_width
from dreval.results.markup import printable
from dreval.results.symbols import plain_symbols

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
    "shortened",
    "significance_stars",
    "told_apart",
]

WIDTH = 78
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
    where there is no room, as are columns without a heading; numbers never are. ``foot`` stands below the table.
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

    def cut(self, rooms: dict[int, int]) -> Block:
        """The same table with the cells of these columns shortened to their rooms, different names kept apart."""
        short = {i: told_apart([row[i] for row in self.cells], room) for i, room in rooms.items()}
        rows = [
            row if len(row) < len(self.columns) else [short[i][c] if i in short else c for i, c in enumerate(row)]
            for row in self.rows
        ]
        return replace(self, rows=rows)

    def fitted(self, width: int) -> Block:
        """The same table with names shortened, the widest column first, where it is wider."""
        widths = self._widths()
        free = [i for i, heading in enumerate(self.columns) if i < self.names or not heading]
        rooms = {i: widths[i] for i in free}
        over = sum(widths) + 2 * (len(widths) - 1) - width
        for _ in range(max(over, 0)):
            widest = max(rooms, key=lambda i: rooms[i])
            rooms[widest] -= rooms[widest] > LEAST
        return self.cut({i: room for i, room in rooms.items() if room < widths[i]})

    @property
    def width(self) -> int:
        """Columns of a terminal that the cells of a row take, without the gaps between them."""
        return sum(self._widths())

    def _widths(self) -> list[int]:
        columns = zip(self.columns, *self.cells, strict=True)
        return [max(map(terminal_width, column)) for column in columns]

    def pieces(self, width: int) -> Iterator[Block]:
        """The table, fitted; where numbers alone are wider its columns below each other, names repeated, as R does."""
        fitted = self.fitted(width)
        if fitted.width + 2 * (len(self.columns) - 1) > width:
            fitted = self.cut(dict.fromkeys(range(self.names), WIDE))
        widths = fitted._widths()
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
                yield fitted._columns(begin, group[0])
                used, begin = first, group[0]
            used += wide
        yield fitted._columns(begin, len(widths))

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
        """Plain text, for a terminal of 80 columns; of a long call the middle, and of long names, is left out."""
        pairs = [(name, value) for name, value in self.header if value]
        half = (len(pairs) + 1) // 2
        left, right = pairs[:half], [*pairs[half:], ("", "")][:half]
        lines = [*(line.center(WIDTH).rstrip() for line in textwrap.wrap(self.title, WIDTH)), "=" * WIDTH]
        lines += [f"{_pair(*a)}  {_pair(*b)}".rstrip() for a, b in zip(left, right, strict=True)]
        if self.call:
            lines += ["", "Call:", *_call_lines(self.call)]
        for block in self.blocks:
            lines += ["", *textwrap.wrap(plain_symbols(block.title), WIDTH), *block.lines(WIDTH)]
            lines += ["---", *textwrap.wrap(block.foot, WIDTH)] if block.foot else []
        if self.notes:
            lines += ["", "Notes"]
            for i, note in enumerate(self.notes, 1):
                said = spread(printable(note))
                lines += textwrap.wrap(said, WIDTH, initial_indent=f"[{i}] ", subsequent_indent="    ")
        return "\n".join(lines).replace(MARK, "")

    def as_markdown(self) -> str:
        """GitHub-flavoured Markdown: headings, lists and tables, with every sign of a name escaped."""
        return str(import_module("dreval.results.snippets").markdown(self))

    def as_html(self) -> str:
        """A part of a page: tables with captions and headings that say what they head, in the colours around it."""
        return str(import_module("dreval.results.snippets").html(self))

    def as_latex(self) -> str:
        r"""Tables with captions and labels for ``\input``; needs the packages booktabs and longtable.

        Letters that pdfLaTeX does not know by itself are set by XeLaTeX and LuaLaTeX; pdfLaTeX shows their code
        points, as U+5D4C. Long names are shortened in the tables and stand in full below them.
        """
        return str(import_module("dreval.results.latex").latex(self))

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


def shortened(text: str, room: int) -> str:
    """The text without its middle, where it takes more columns of a terminal than there is room."""
    text = spread(text)
    tail = (room - 1) // 2
    made = text if len(text) <= room else f"{text[: room - 1 - tail]}…{text[len(text) - tail :].lstrip(MARK)}"
    return made.replace(MARK, "")


def told_apart(texts: Sequence[str], room: int) -> dict[str, str]:
    """Short forms of all texts, no two the same: where only middles differ these are shown, or a number.

    Examples
    --------
    >>> told_apart(["perplexity=30, seed=0, exact", "perplexity=50, seed=0, exact", "pca"], 12)
    {'perplexity=30, seed=0, exact': '…30, s…exact', 'perplexity=50, seed=0, exact': '…50, s…exact', 'pca': 'pca'}
    """
    short = {text: shortened(text, room) for text in texts}
    for form in _repeated(short):
        group = [text for text in short if short[text] == form]
        letters = enumerate(zip(*group, strict=False))
        begin = next((i for i, some in letters if len(set(some)) > 1), min(map(len, group)))
        short |= {text: shortened(f"…{text[begin:]}", room) for text in group}
    again = _repeated(short)
    for place, text in enumerate(short, 1):
        if short[text] in again:
            short[text] = f"{place}: {shortened(text, room - len(str(place)) - 2)}"
    return short


def _repeated(short: dict[str, str]) -> list[str]:
    """Forms that more than one text has."""
    return [form for form, count in Counter(short.values()).items() if count > 1]


def _call_lines(call: str) -> list[str]:
    """The call, indented; of a long one the middle is left out."""
    lines: list[str] = []
    for line in printable(call, keep="\n").splitlines():
        look = {"initial_indent": "  ", "subsequent_indent": "    ", "break_on_hyphens": False}
        lines += textwrap.wrap(spread(line), WIDTH, **look)  # type: ignore[arg-type]
    tail = CALL_LINES // 2
    return lines if len(lines) <= CALL_LINES else [*lines[: CALL_LINES - tail - 1], "    ...", *lines[-tail:]]


def _pair(name: str, value: str) -> str:
    """A name and its value at the two ends of half a line."""
    half = WIDTH // 2 - 1
    said = f"{shortened(name, half - LEAST - 2)}:"
    room = half - len(said) - 1
    return f"{said} {spread(shortened(printable(value), room)):>{room}}" if name else " " * half
