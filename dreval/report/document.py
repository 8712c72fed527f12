"""The parts of a printed or written document before rendering: sentences, tables, figures, lists and sections."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any

from dreval.glossary import pad_wide_characters, printable, terminal_width, true_minus
from dreval.report.render.markup import plain_symbols

TEXT_COLUMNS = 78
TERMINAL_COLUMNS = 80  # columns of the widest table
MIN_NAME_COLUMNS = 8  # columns of a terminal that a name keeps
SPLIT_NAME_COLUMNS = 24  # of a table that is broken into several each name keeps so many
CODES = "Significance codes: 0 '***' 0.001 '**' 0.01 '*' 0.05 '.' 0.1 ' ' 1"


def format_duration(seconds: float) -> str:
    """Return a duration in seconds, minutes or hours.

    Examples
    --------
    >>> format_duration(3.14159), format_duration(200), format_duration(9000)
    ('3.1 s', '3 min 20 s', '2 h 30 min')
    """
    if seconds < 100:
        return f"{seconds:.1f} s"
    minutes, remainder = divmod(round(seconds), 60)
    return f"{minutes} min {remainder} s" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def same_digits(values: Sequence[float]) -> list[str]:
    """Return the numbers of a column with the decimals that give the largest four significant digits; empty for a NaN.

    Examples
    --------
    >>> same_digits([0.0009972, 0.05539, float("nan")])
    ['0.00100', '0.05539', '']
    """
    largest = max((abs(value) for value in values if value == value), default=0.0)
    power = math.floor(math.log10(largest)) if 0 < largest < math.inf else 0
    places = max(3 - power, 0)
    number_format = f".{places}f" if -6 < power < 6 else ".3e"
    return [
        ""
        if value != value
        else true_minus(f"{round(value, places) + 0.0 if -6 < power < 6 else value:{number_format}}")
        for value in values
    ]


def significance_stars(p: float) -> str:
    """Return R's significance codes."""
    return next((stars for bound, stars in ((0.001, "***"), (0.01, "**"), (0.05, "*"), (0.1, ".")) if p <= bound), "")


BEST_MARK = "*"  # behind the value of a best cell in a terminal


class BestCell(str):
    """A cell that is the best of its group, or not distinguishable from it: bold, and with a star in a terminal."""

    __slots__ = ()


class SmallCell(str):
    """A cell in small print, where there is such."""

    __slots__ = ()


def terminal_text(cell: str) -> str:
    """Return a cell for a terminal: texts of this package have their symbols in letters."""
    return plain_symbols(cell) if isinstance(cell, TextCell) else cell


class TextCell(str):
    """A text of this package, in which the symbols of measures are formulas; other cells may be names of users."""

    __slots__ = ()


@dataclass(frozen=True)
class Table:
    """One table of a summary: a heading, column names and rows of text.

    A row of one cell is a heading of the rows below it. The first ``names`` columns hold names. Names, and columns
    without a heading, are shortened where they do not fit, by one map of short forms for all tables of a summary;
    numbers are not. Below the table are ``best``, the meaning of the mark of best cells, and ``foot``.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    names: int = 1
    foot: str = ""
    best: str = ""

    def below(self, prefix: str = "bold:") -> str:
        """Return the text below the table, where best cells have this prefix."""
        return f"{prefix} {self.best}{f'; {self.foot}' if self.foot else '.'}" if self.best else self.foot

    @property
    def cells(self) -> list[Sequence[str]]:
        """The rows except their headings."""
        return [row for row in self.rows if len(row) == len(self.columns)]

    @property
    def sectioned(self) -> bool:
        """Whether rows have headings; these rows are indented."""
        return len(self.cells) < len(self.rows)

    def is_left(self, place: int) -> bool:
        """Return whether a column is left-aligned: names, texts, and columns without a heading."""
        cells = [row[place] for row in self.cells if row[place]]
        is_text = bool(cells) and not any(letter.isdigit() for cell in cells for letter in cell)
        return place < self.names or not self.columns[place] or is_text

    @property
    def free(self) -> list[int]:
        """The columns that may be shortened: those of names, and those without a heading."""
        return [i for i, heading in enumerate(self.columns) if i < self.names or not heading]

    @property
    def longest(self) -> int:
        """Columns of a terminal of the longest cell that may be shortened."""
        return max((terminal_width(cell) for cell in self.shortened), default=0)

    @property
    def shortened(self) -> list[str]:
        """The cells that may be shortened: texts of this package stay whole."""
        return [row[i] for row in self.cells for i in self.free if not isinstance(row[i], TextCell)]

    def renamed(self, short: Mapping[str, str]) -> Table:
        """Return the same table with short forms of the cells that may be shortened."""
        free = self.free
        rows = [
            row
            if len(row) < len(self.columns)
            else [short[c] if i in free and not isinstance(c, TextCell) else c for i, c in enumerate(row)]
            for row in self.rows
        ]
        return replace(self, rows=rows)

    def width(self, name_columns: int) -> int:
        """Return the columns of a terminal that the table takes where a name has at most ``name_columns``."""
        heads = [terminal_width(terminal_text(name)) for name in self.columns]
        widths, free = self._widths(), self.free
        text_widths = [
            max((terminal_width(row[i]) for row in self.cells if isinstance(row[i], TextCell)), default=0) for i in free
        ]
        min_widths = dict(zip(free, text_widths, strict=True))
        column_widths = [
            max(heads[i], min_widths[i], min(wide, name_columns)) if i in min_widths else wide
            for i, wide in enumerate(widths)
        ]
        return sum(column_widths) + 2 * (len(column_widths) - 1)

    def name_width(self, width: int) -> int:
        """Return the columns of each name where the table is to fit; SPLIT_NAME_COLUMNS if its numbers are too wide."""
        longest = self.longest
        fitting = (
            name_columns
            for name_columns in range(longest, MIN_NAME_COLUMNS - 1, -1)
            if self.width(name_columns) <= width
        )
        return next(fitting, min(longest, SPLIT_NAME_COLUMNS))

    def _widths(self) -> list[int]:
        columns = zip(self.columns, *self.starred(), strict=True)
        return [max(terminal_width(terminal_text(cell)) for cell in column) for column in columns]

    def starred(self) -> list[list[str]]:
        """Return the cells with a star after the best values, and a blank in the others of their column."""
        cells = self.cells
        best_columns = {i for row in cells for i, cell in enumerate(row) if isinstance(cell, BestCell)}
        starred_rows = []
        for row in cells:
            parts = [(cell.partition(" ±"), BEST_MARK if isinstance(cell, BestCell) else " ") for cell in row]
            marked_cells = [f"{value}{star}{sign[1:]}{remainder}" for (value, sign, remainder), star in parts]
            starred_rows.append(
                [
                    marked_cell if i in best_columns else cell
                    for i, (marked_cell, cell) in enumerate(zip(marked_cells, row, strict=True))
                ]
            )
        return starred_rows

    def pieces(self, width: int) -> Iterator[Table]:
        """Yield the table; if it is wider, its columns below each other with repeated names, as R does."""
        widths = self._widths()
        names_width = sum(widths[: self.names]) + 2 * (self.names - 1)
        groups: list[list[int]] = []  # a column without a heading stays with the column before it
        for place in range(self.names, len(widths)):
            new = not groups or bool(self.columns[place])
            groups += [[place]] if new else []
            groups[-1] += [] if new else [place]
        used, begin = names_width, self.names
        for group in groups:
            wide = sum(widths[place] + 2 for place in group)
            if used + wide > width and group[0] > begin:
                yield self._columns(begin, group[0])
                used, begin = names_width, group[0]
            used += wide
        yield self._columns(begin, len(widths))

    def _columns(self, begin: int, end: int) -> Table:
        """Return the names with some of the other columns."""

        def take_columns(row: Sequence[str]) -> Sequence[str]:
            return row if len(row) < len(self.columns) else [*row[: self.names], *row[begin:end]]

        return replace(self, columns=take_columns(self.columns), rows=[take_columns(row) for row in self.rows])

    def lines(self, width: int) -> Iterator[str]:
        """Yield the table as text, formatted by statsmodels; headings of rows are not indented."""
        from statsmodels.iolib.table import SimpleTable

        indent = 2 * self.sectioned
        for part in self.pieces(width - indent):
            sides = "".join("l" if part.is_left(place) else "r" for place in range(len(part.columns)))
            table_format = {"table_dec_above": None, "table_dec_below": None, "data_aligns": sides, "colsep": "  "}
            cells = [
                [pad_wide_characters(printable(terminal_text(cell))) for cell in row]
                for row in (part.columns, *part.starred())
            ]
            head, *rows = str(SimpleTable(cells, txt_fmt=table_format)).split("\n")
            if any(part.columns):
                yield " " * indent + head.rstrip()
            yield "-" * min(max(len(line.rstrip()) for line in (head, *rows)) + indent, width)
            for row in part.rows:
                heading_lines = textwrap.wrap(plain_symbols(row[0]), width, subsequent_indent=" " * indent)
                yield from heading_lines if len(row) < len(part.columns) else [(" " * indent + rows.pop(0)).rstrip()]


@dataclass(frozen=True)
class DocumentParts:
    """All parts of a printed result, in their order.

    ``about`` describes the computation in one or two lines, ``header`` and ``call`` in full. ``findings`` are sentences
    whose names are between direction marks. Tables follow, then the sentences ``after`` them, notes, and ``further``:
    where to find more.
    """

    title: str
    header: Sequence[tuple[str, str]]
    tables: Sequence[Table]
    notes: Sequence[Any] = field(default=())
    call: str = ""
    about: Sequence[str] = ()
    findings: Sequence[str] = ()
    after: Sequence[str] = ()
    further: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "notes", tuple(map(str, self.notes)))


MISSING_VALUE = "—"  # where there is no value


@dataclass(frozen=True)
class EmbeddingLabel:
    """The label of an embedding on a page: its short name, its color, and its place among all."""

    name: str
    short: str
    color: str
    place: int
    aside: str = ""


@dataclass(frozen=True)
class Footnote:
    """A footnote of a cell or a heading, with its letter."""

    letter: str
    text: str


@dataclass(frozen=True)
class Cell:
    """One cell of a page's table.

    ``kind`` is the kind of its text: a "value", a plain "number", "words" of this package, a "name" of users, a "pair"
    of names, an "embedding", a "note", a "reason" for a row without values, or a "state" in soft print. ``small``
    follows the text; ``shade`` runs from 0, the worst, to 1; ``sort`` is the sort key where it is not the text.
    """

    text: str = MISSING_VALUE
    kind: str = "value"
    small: Sequence[str] = ()
    best: bool = False
    shade: float = 0.0
    title: str = ""
    sort: str | None = None
    heads: bool = False
    footnote: Footnote | None = None
    ties: str = ""
    label: EmbeddingLabel | None = None
    second: str = ""
    span: int = 1


@dataclass(frozen=True)
class Head:
    """The heading of a column: texts are left-aligned, numbers right-aligned."""

    title: str
    is_text: bool = False
    below: str = ""
    question: str = ""
    higher: bool | None = None
    footnote: Footnote | None = None
    label: EmbeddingLabel | None = None
    is_name: bool = False


@dataclass(frozen=True)
class PageTable:
    """A table of a page.

    ``style`` is "" for one that is only read and sorted, "main" for the first table, "heat" for a heat map and "turned"
    for the first table with its measures as rows. ``subjects`` head groups: of columns, or of rows in a turned table.
    If ``visible_rows`` is not 0, a script hides all further rows, and a button below the table shows them. The
    ``footnotes`` of cells and headings are below the table, with their letters.
    """

    caption: str
    heads: Sequence[Head]
    rows: Sequence[Sequence[Cell]]
    label: str = ""
    style: str = ""
    sortable: bool = True
    wide: bool = True
    subjects: Sequence[tuple[str, int]] = ()
    foot: Sequence[Cell] = ()
    name_width: int = 13
    visible_rows: int = 0
    footnotes: Sequence[Footnote] = ()

    @property
    def groups(self) -> list[tuple[str, Sequence[Sequence[Cell]]]]:
        """The rows below each subject of a turned table; else all rows."""
        if self.style != "turned" or not self.subjects:
            return [("", self.rows)]
        ends = accumulate(count for _, count in self.subjects)
        return [(name, self.rows[end - count : end]) for (name, count), end in zip(self.subjects, ends, strict=True)]

    @property
    def table(self) -> CaptionedTable:
        """The same table for a text: small print has its own rows."""
        rows: list[list[str]] = []
        for row in self.rows:
            rows.append([BestCell(cell.text) if cell.best else cell.text for cell in row])
            small = [" ".join(filter(None, cell.small)) for cell in row]
            rows += [list(map(SmallCell, small))] if any(small) else []
        heads, label = [head.title for head in self.heads], self.label or self.caption
        return CaptionedTable(Table("", heads if self.style == "" else ["", *heads[1:]], rows), label, label)


@dataclass(frozen=True)
class TermEntry:
    """A term of a report, or a setting, with its meaning; for a measure also its formula and its reference."""

    term: str
    meaning: str
    formula: str = ""
    reference: str = ""
    is_name: bool = False


@dataclass(frozen=True)
class Paragraph:
    """Sentences; names of users are between direction marks, unless the text is already ``written`` in its form.

    ``style`` is "finding" for an answer, "note" for how to read a part, "said" for a text next to a figure.
    ``scripted`` describes the actions that need the script of the page.
    """

    text: str
    style: str = ""
    written: bool = False
    scripted: str = ""


@dataclass(frozen=True)
class Items:
    """A list of sentences."""

    items: Sequence[str]
    numbered: bool = False


@dataclass(frozen=True)
class Terms:
    """Terms or settings, each with its meaning."""

    entries: Sequence[TermEntry]
    style: str = ""


@dataclass(frozen=True)
class Code:
    """A call."""

    text: str


@dataclass(frozen=True)
class FigureFile:
    """A figure in the folder next to a text: its path there, its caption, and its width in inches."""

    path: str
    caption: str
    width: float


@dataclass(frozen=True)
class PageFigure:
    """A figure within a page, as SVG, with its title and the text after the title."""

    svg: str
    title: str = ""
    aside: str = ""
    label: EmbeddingLabel | None = None


@dataclass(frozen=True)
class Figures:
    """Figures side by side.

    ``style`` is "curves", "nulls", "forests", "forests lines" or "diagrams"; ``columns`` are the numbers of figures in
    a row of a wide and of a narrower page.
    """

    figures: Sequence[PageFigure]
    style: str
    columns: tuple[int, int] = (1, 1)


@dataclass(frozen=True)
class WideFigure:
    """One figure that may be wider than its page."""

    figure: PageFigure
    label: str
    style: str = ""


@dataclass(frozen=True)
class Bar:
    """A value on the way from chance (0) to perfect (1), with the ends of its interval; NaN where there is none."""

    label: str
    text: str
    share: float
    low: float = math.nan
    high: float = math.nan
    best: bool = False


@dataclass(frozen=True)
class Answers:
    """The first screen: a line of sentences for each question; next to them the ``key`` of marks and colors."""

    lines: Sequence[tuple[str, str]]
    key: bool = False
    intervals: str = ""


@dataclass(frozen=True)
class Card:
    """An embedding on the first screen: where it is best, a small map, a bar for each question, and a caution."""

    name: str
    short: str
    standing: str
    map: str
    bars: Sequence[Bar]
    caution: str


@dataclass(frozen=True)
class Cards:
    """A card for each embedding, and below them how to read them; those after ``n_open`` are folded."""

    cards: Sequence[Card]
    note: str
    n_open: int


@dataclass(frozen=True)
class Panel:
    """One drawing of a grid: an embedding with its short name, a text at the right of it, and SVG."""

    name: str
    short: str
    aside: str
    svg: str


@dataclass(frozen=True)
class Grid:
    """Drawings in rows of three, and the ``reading`` panel that explains them in the rest of the last row.

    A ``swatches`` entry is a class of the style sheet and what its line means.
    """

    panels: Sequence[Panel]
    title: str
    reading: Sequence[str] = ()
    swatches: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class Maps:
    """Maps of the points with their reading panel, and the data of the points for the script.

    ``scale`` has the value of the colors, and the texts of their ends; ``classes`` are names in the order of colors.
    """

    panels: Sequence[Panel]
    classes: Sequence[str]
    scale: tuple[str, str, str] | None
    points: Mapping[str, Any]
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class ForestRow:
    """One difference: the better and the other embedding, its place and interval from 0 to 1, and its numbers."""

    better: str
    other: str
    joint: str
    place: float
    low: float
    high: float
    mark: str
    advantage: str
    p: str


@dataclass(frozen=True)
class Forest:
    """The differences by one measure, from the largest; ``ticks`` are places from 0 to 1 with their numbers."""

    title: str
    question: str
    rows: Sequence[ForestRow]
    zero: float
    ticks: Sequence[tuple[float, str]]
    p_title: str
    more: str = ""


@dataclass(frozen=True)
class Marks:
    """The marks of significance with their meaning, and how to read the drawings below."""

    marks: Sequence[tuple[str, str]]
    note: str


@dataclass(frozen=True)
class Forests:
    """The differences by several measures, in two columns."""

    forests: Sequence[Forest]


@dataclass(frozen=True)
class CaptionedTable:
    """A table with its caption, and the name of its file where it has one."""

    table: Table
    caption: str
    name: str = ""


@dataclass(frozen=True)
class Details:
    """Parts that a reader of a page opens; those for the ``screen`` only are not printed."""

    summary: str
    parts: Sequence[Part]
    screen: bool = False
    opened: bool = False
    about: str = ""


@dataclass(frozen=True)
class Group:
    """Parts that are placed side by side if the page is wide enough."""

    parts: Sequence[Part]
    style: str = ""


@dataclass(frozen=True)
class Section:
    """A heading with the parts below it; a section without parts is left out.

    A page lists the sections with a ``short`` title at its top; the heading of those with an ``id`` only is for screen
    readers.
    """

    title: str
    parts: Sequence[Part]
    id: str = ""
    short: str = ""
    below: str = ""


Part = (
    Paragraph
    | Items
    | Terms
    | Code
    | FigureFile
    | PageFigure
    | Figures
    | WideFigure
    | Maps
    | Grid
    | Answers
    | Cards
    | Marks
    | Forests
    | CaptionedTable
    | PageTable
    | Details
    | Group
    | Section
)


@dataclass(frozen=True)
class Report:
    """A text of sections; parts before the first heading are in a section without title.

    Below the title are the question of a page, and its settings, separated by " · ".
    """

    title: str
    meta: str
    sections: Sequence[Section]
    version: str = ""
    question: str = ""


def text_parts(parts: Sequence[Part]) -> Iterator[Part]:
    """Yield the parts of a text: paragraphs, lists, code, figures in files, tables and sections."""
    for part in parts:
        match part:
            case PageTable():
                yield part.table
            case Details():
                yield Paragraph(f"{part.summary}.")
                yield from text_parts(part.parts)
            case Group():
                yield from text_parts(part.parts)
            case Answers():
                yield Items([f"{question}: {text}" for question, text in part.lines])
            case Section():
                yield replace(
                    part, title=", ".join(filter(None, [part.title, part.below])), parts=[*text_parts(part.parts)]
                )
            case _:
                yield part
