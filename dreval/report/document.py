"""What is printed or written, before it has a form: sentences, tables, figures, lists, in sections."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any

from dreval.glossary import printable, spread, terminal_width, true_minus
from dreval.report.render.markup import marked, plain_symbols

WIDTH = 78
TERMINAL = 80  # columns, all of which a table may take
LEAST = 8  # columns of a terminal that a name keeps
WIDE = 24  # of a table that is broken into several each name keeps so many
CODES = "Significance codes: 0 '***' 0.001 '**' 0.01 '*' 0.05 '.' 0.1 ' ' 1"


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
        "" if value != value else true_minus(f"{round(value, places) + 0.0 if -6 < power < 6 else value:{written}}")
        for value in values
    ]


def significance_stars(p: float) -> str:
    """R's significance codes."""
    return next((mark for bound, mark in ((0.001, "***"), (0.01, "**"), (0.05, "*"), (0.1, ".")) if p <= bound), "")


STAR = "*"  # behind the value of a best cell in a terminal


class Best(str):
    """A cell that is the best of its group, or not distinguishable from it: bold, and with a star in a terminal."""

    __slots__ = ()


class Small(str):
    """A cell in small print, where there is such."""

    __slots__ = ()


def shown(cell: str) -> str:
    """A cell in a terminal: words of ours have their symbols in letters."""
    return plain_symbols(cell) if isinstance(cell, Words) else cell


class Words(str):
    """Words of ours, in which the symbols of measures are formulas; other cells may be names of users."""

    __slots__ = ()


@dataclass(frozen=True)
class Block:
    """One table of a summary: a heading, column names and rows of text.

    A row of one cell is a heading of the rows below it. The first ``names`` columns hold names, which are shortened
    where there is no room, as are columns without a heading, by one map of short forms for all tables of a summary;
    numbers never are. Below the table stands what the mark of its best cells means, ``best``, and ``foot``.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    names: int = 1
    foot: str = ""
    best: str = ""

    def below(self, mark: str = "bold:") -> str:
        """What stands below the table, where best cells have this mark."""
        return f"{mark} {self.best}{f'; {self.foot}' if self.foot else '.'}" if self.best else self.foot

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
        return max((terminal_width(cell) for cell in self.shortened), default=0)

    @property
    def shortened(self) -> list[str]:
        """The cells that may be shortened: words of ours stay whole."""
        return [row[i] for row in self.cells for i in self.free if not isinstance(row[i], Words)]

    def renamed(self, short: Mapping[str, str]) -> Block:
        """The same table with the short forms of what may be shortened."""
        free = self.free
        rows = [
            row
            if len(row) < len(self.columns)
            else [short[c] if i in free and not isinstance(c, Words) else c for i, c in enumerate(row)]
            for row in self.rows
        ]
        return replace(self, rows=rows)

    def width(self, room: int) -> int:
        """Columns of a terminal that the table takes where a name has so many at most."""
        heads = [terminal_width(shown(name)) for name in self.columns]
        widths, free = self._widths(), self.free
        whole = [
            max((terminal_width(row[i]) for row in self.cells if isinstance(row[i], Words)), default=0) for i in free
        ]
        kept = dict(zip(free, whole, strict=True))
        cut = [max(heads[i], kept[i], min(wide, room)) if i in kept else wide for i, wide in enumerate(widths)]
        return sum(cut) + 2 * (len(cut) - 1)

    def room(self, width: int) -> int:
        """Columns that each name has where the table is to fit; WIDE where its numbers alone are wider."""
        longest = self.longest
        fitting = (room for room in range(longest, LEAST - 1, -1) if self.width(room) <= width)
        return next(fitting, min(longest, WIDE))

    def _widths(self) -> list[int]:
        columns = zip(self.columns, *self.starred(), strict=True)
        return [max(terminal_width(shown(cell)) for cell in column) for column in columns]

    def starred(self) -> list[list[str]]:
        """The cells with a star behind the values of the best ones, and room for it in the others of their column."""
        cells = self.cells
        places = {i for row in cells for i, cell in enumerate(row) if isinstance(cell, Best)}
        made = []
        for row in cells:
            parts = [(cell.partition(" ±"), STAR if isinstance(cell, Best) else " ") for cell in row]
            marked = [f"{value}{mark}{sign[1:]}{rest}" for (value, sign, rest), mark in parts]
            made.append([new if i in places else cell for i, (new, cell) in enumerate(zip(marked, row, strict=True))])
        return made

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
            cells = [[spread(printable(shown(cell))) for cell in row] for row in (part.columns, *part.starred())]
            head, *rows = str(SimpleTable(cells, txt_fmt=look)).split("\n")
            if any(part.columns):
                yield " " * indent + head.rstrip()
            yield "-" * min(max(len(line.rstrip()) for line in (head, *rows)) + indent, width)
            for row in part.rows:
                said = textwrap.wrap(plain_symbols(row[0]), width, subsequent_indent=" " * indent)
                yield from said if len(row) < len(part.columns) else [(" " * indent + rows.pop(0)).rstrip()]


@dataclass(frozen=True)
class Content:
    """All that a printed result holds, in its order.

    ``about`` says in a line or two what was computed, ``header`` and ``call`` say it at length; ``said`` are the
    findings, in sentences whose names stand between marks; then tables, what is said ``after`` them, notes, and what
    ``more`` there is.
    """

    title: str
    header: Sequence[tuple[str, str]]
    blocks: Sequence[Block]
    notes: Sequence[Any] = field(default=())
    call: str = ""
    about: Sequence[str] = ()
    said: Sequence[str] = ()
    after: Sequence[str] = ()
    more: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "notes", tuple(map(str, self.notes)))


ABSENT = "—"  # where there is no value


@dataclass(frozen=True)
class Tag:
    """An embedding as a page names it: its short name, its color, and its place among all."""

    name: str
    short: str
    color: str
    place: int
    aside: str = ""


@dataclass(frozen=True)
class Remark:
    """A remark on a cell or a heading, by the letter under which it stands below the table."""

    letter: str
    text: str


@dataclass(frozen=True)
class Cell:
    """One cell of a page's table.

    ``kind`` says what its text is: a "value", a plain "number", "words" of ours, a "name" of users, a "pair" of names,
    an "embedding", a "note", a "reason" why a row has no values, or a "state" in soft print. ``small`` stands behind
    it; ``shade`` runs from 0, the worst, to 1; ``sort`` is what a column is sorted by where that is not the text.
    """

    text: str = ABSENT
    kind: str = "value"
    small: Sequence[str] = ()
    best: bool = False
    shade: float = 0.0
    title: str = ""
    sort: str | None = None
    heads: bool = False
    remark: Remark | None = None
    ties: str = ""
    tag: Tag | None = None
    second: str = ""
    span: int = 1


@dataclass(frozen=True)
class Head:
    """The heading of a column: ``words`` stand at the left, numbers at the right."""

    title: str
    words: bool = False
    below: str = ""
    question: str = ""
    higher: bool | None = None
    remark: Remark | None = None
    tag: Tag | None = None
    is_name: bool = False


@dataclass(frozen=True)
class Sheet:
    """A table of a page.

    ``look`` is "" for one that is only read and sorted, "main" for the first table, "heat" for a heat map and "turned"
    for the first table with its measures as rows. ``subjects`` head groups: of columns, or of rows in a turned table.
    Where ``shown`` is not 0 a script hides the rows beyond so many, and a button below the table shows all. Below
    it stand the ``remarks`` that cells and headings name by their letters.
    """

    caption: str
    heads: Sequence[Head]
    rows: Sequence[Sequence[Cell]]
    label: str = ""
    look: str = ""
    sortable: bool = True
    wide: bool = True
    subjects: Sequence[tuple[str, int]] = ()
    foot: Sequence[Cell] = ()
    name_width: int = 13
    shown: int = 0
    remarks: Sequence[Remark] = ()

    @property
    def groups(self) -> list[tuple[str, Sequence[Sequence[Cell]]]]:
        """The rows below each subject of a turned table; all of them else."""
        if self.look != "turned" or not self.subjects:
            return [("", self.rows)]
        ends = accumulate(count for _, count in self.subjects)
        return [(name, self.rows[end - count : end]) for (name, count), end in zip(self.subjects, ends, strict=True)]

    @property
    def table(self) -> Table:
        """The same table for a text: small print in rows of its own."""
        rows: list[list[str]] = []
        for row in self.rows:
            rows.append([Best(cell.text) if cell.best else cell.text for cell in row])
            small = [" ".join(filter(None, cell.small)) for cell in row]
            rows += [list(map(Small, small))] if any(small) else []
        heads, label = [head.title for head in self.heads], self.label or self.caption
        return Table(Block("", heads if self.look == "" else ["", *heads[1:]], rows), label, label)


@dataclass(frozen=True)
class Word:
    """A word of a report, or a setting: what it means and, of a measure, its formula and where it is from."""

    term: str
    meaning: str
    formula: str = ""
    reference: str = ""
    is_name: bool = False


@dataclass(frozen=True)
class Paragraph:
    """Sentences; names of users stand between marks, unless the text is ``written`` in its form already.

    ``look`` is "finding" for an answer, "note" for how something is read, "said" for a text beside a figure. What a
    page can do only where its script runs is said by ``scripted``.
    """

    text: str
    look: str = ""
    written: bool = False
    scripted: str = ""


@dataclass(frozen=True)
class Items:
    """A list of sentences."""

    items: Sequence[str]
    numbered: bool = False


@dataclass(frozen=True)
class Terms:
    """Words or settings, each with what is said of it."""

    words: Sequence[Word]


@dataclass(frozen=True)
class Code:
    """A call."""

    text: str


@dataclass(frozen=True)
class Drawing:
    """A figure in the folder beside a text: its path there, what it shows, and its width in inches."""

    path: str
    words: str
    width: float


@dataclass(frozen=True)
class Figure:
    """A figure within a page, as SVG, with its title and what stands behind it."""

    svg: str
    title: str = ""
    aside: str = ""
    tag: Tag | None = None


@dataclass(frozen=True)
class Figures:
    """Figures side by side.

    ``look`` is "curves", "nulls", "forests", "forests lines" or "diagrams"; a row of a wide and of a narrower page has
    as many as ``columns``.
    """

    figures: Sequence[Figure]
    look: str
    columns: tuple[int, int] = (1, 1)


@dataclass(frozen=True)
class Scroll:
    """One figure that may be wider than its page."""

    figure: Figure
    label: str
    look: str = ""


@dataclass(frozen=True)
class Panel:
    """The points of one embedding, and below them the values of a measure where they lie."""

    tag: Tag
    points: str
    map: str
    note: str = ""


@dataclass(frozen=True)
class Maps:
    """The panels of a page with their legends, and what a script needs to know of the points."""

    panels: Sequence[Panel]
    classes: Sequence[tuple[str, str]]
    scale: Mapping[str, Any] | None
    points: Mapping[str, Any]
    aside: str = ""
    columns: tuple[int, int] = (1, 1)


@dataclass(frozen=True)
class Card:
    """What is said of one embedding: how it stands, what holds and what does not, and what has no value."""

    tag: Tag
    title: str
    standing: str
    good: Sequence[str]
    poor: Sequence[str]
    missing: Sequence[str]


@dataclass(frozen=True)
class Cards:
    """A card for each embedding."""

    cards: Sequence[Card]
    columns: tuple[int, int]


@dataclass(frozen=True)
class Table:
    """A table with its caption, and the name of its file where it has one."""

    block: Block
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
    """Parts side by side where there is room."""

    parts: Sequence[Part]
    look: str = ""


@dataclass(frozen=True)
class Section:
    """A heading with what stands below it; one without parts is left out.

    A page lists those with a ``short`` title at its top; the heading of those with an ``id`` only is for readers who
    cannot see.
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
    | Drawing
    | Figure
    | Figures
    | Scroll
    | Maps
    | Cards
    | Table
    | Sheet
    | Details
    | Group
    | Section
)


@dataclass(frozen=True)
class Report:
    """A text of sections; what comes before the first has a section without title."""

    title: str
    meta: str
    sections: Sequence[Section]
    version: str = ""


def in_text(parts: Sequence[Part]) -> Iterator[Part]:
    """The parts as a text has them: paragraphs, lists, code, figures in files, tables and sections."""
    for part in parts:
        match part:
            case Sheet():
                yield part.table
            case Details():
                yield Paragraph(f"{part.summary}.")
                yield from in_text(part.parts)
            case Group():
                yield from in_text(part.parts)
            case Cards():
                for card in part.cards:
                    said = " ".join(filter(None, [card.standing, *card.good, *card.poor, *card.missing]))
                    yield Section(marked(card.tag.name), [Paragraph(said)])
            case Section():
                yield replace(
                    part, title=", ".join(filter(None, [part.title, part.below])), parts=[*in_text(part.parts)]
                )
            case _:
                yield part
