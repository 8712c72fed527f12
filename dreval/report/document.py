"""The tree of every printed result and page: sentences, tables, figures, lists and sections, before rendering."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dreval._text import true_minus

TEXT_COLUMNS = 78
TERMINAL_COLUMNS = 80  # columns of the widest table
MAX_OPEN_ROWS = 15  # rows of the table of many embeddings that are not folded
VISIBLE_ROWS = 12  # rows of a long table that a page shows at first
CODES = "Codes of p, adjusted where it is: 0 '***' 0.001 '**' 0.01 '*' 0.05 '.' 0.1 ' ' 1"


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


MISSING_VALUE = "—"  # where there is no value
LEFT_KINDS = ("name", "text", "pair", "note")  # kinds of cells that are left-aligned
PLAIN_STYLES = ("about", "after", "further")  # styles of paragraphs whose text is written as it is


@dataclass(frozen=True)
class Footnote:
    """A footnote of a cell or a heading, with its letter."""

    letter: str
    text: str


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
class Cell:
    """One cell of a table.

    ``kind`` is the kind of its text: "number", "value" (the number that matters), "text" (of this package: symbols
    of measures become formulas), "name" (of users, shown unchanged), "pair" of a name and a ``second`` one, "note", or
    "drawing" (SVG, for pages); "" stands for the kind of its column. ``emphasis`` is "best" (the best of its group, or
    not distinguishable from it), "small" or "soft". ``sort`` is the sort key where it is not the text, ``note`` the
    text that a page shows when a reader points at the cell. ``small`` follows the text in small print; ``shade`` runs
    from 0, the worst, to 1. A page draws the ``bar`` below the text.
    """

    text: str = ""
    kind: str = ""
    emphasis: str = ""
    sort: str | None = None
    note: str = ""
    small: Sequence[str] = ()
    shade: float = 0.0
    footnote: Footnote | None = None
    ties: str = ""
    second: str = ""
    bar: Bar | None = None

    @property
    def main_text(self) -> str:
        """The text without its small print."""
        return f"{self.text} − {self.second}" if self.kind == "pair" else self.text

    @property
    def small_print(self) -> str:
        """The small print and the mark of the footnote after the text."""
        mark = f"({self.footnote.letter})" if self.footnote else ""
        return " ".join(filter(None, [mark, *self.small, self.ties and f"ties {self.ties}"]))


@dataclass(frozen=True)
class Column:
    """The heading of a column, and the ``kind`` of its cells.

    ``is_name`` is whether the title is a name of users, shown unchanged. Only a page has what is ``below`` the title,
    the ``question`` that a reader sees when pointing at it, and whether a ``higher`` value is better, for sorting.
    """

    title: str = ""
    kind: str = ""
    below: str = ""
    question: str = ""
    higher: bool | None = None
    footnote: Footnote | None = None
    is_name: bool = False


@dataclass(frozen=True)
class Table:
    """One table: a title, columns, and rows of cells.

    A plain string is a cell of the kind of its column; a plain string as a column is a heading that is shown unchanged.
    A row of one cell is a heading of the rows below it. By default the first ``names`` columns, and those without a
    heading, hold names, and the others numbers. Names are shortened where they do not fit, by one map of short forms
    for all tables of a document; texts and numbers are not. ``header`` is the place of the cell that names its row.
    Below the table are ``best``, the meaning of the mark of best cells, ``foot``, and the ``footnotes`` of cells and
    headings with their letters. ``foot_row`` is the last row, below a rule.

    ``style`` is "" for a table that is only read and sorted, "plain" for one without a rule below its headings,
    "scores" for values with bars, "differences" for drawn intervals, and "heat" for a heat map. The other fields are
    for pages. With a ``caption`` for screen readers the title is a label only, since the section heads the table. If
    ``visible_rows`` is not 0, a script hides all further rows, and a button shows them.
    """

    title: str
    columns: Sequence[Any]  # strings or Columns; Columns only, once the table is made
    rows: Sequence[Sequence[Any]]  # strings or Cells; Cells only, once the table is made
    names: int = 1
    foot: str = ""
    best: str = ""
    header: int = 0
    footnotes: Sequence[Footnote] = ()
    foot_row: Sequence[Any] = ()
    caption: str = ""
    style: str = ""
    sortable: bool = True
    wide: bool = True
    visible_rows: int = 0

    def __post_init__(self) -> None:
        columns = [column if isinstance(column, Column) else Column(column, is_name=True) for column in self.columns]
        columns = [
            column if column.kind else replace(column, kind="name" if i < self.names or not column.title else "number")
            for i, column in enumerate(columns)
        ]

        def make_cells(row: Sequence[Any]) -> tuple[Cell, ...]:
            kinds = ["text"] if self.is_heading(row) else [column.kind for column in columns]
            return tuple(_make_cell(cell, kind) for cell, kind in zip(row, kinds, strict=False))

        object.__setattr__(self, "columns", tuple(columns))
        object.__setattr__(self, "rows", tuple(map(make_cells, self.rows)))
        object.__setattr__(self, "foot_row", make_cells(self.foot_row))

    def is_heading(self, row: Sequence[Any]) -> bool:
        """Return whether a row is a heading of the rows below it."""
        return len(row) == 1 < len(self.columns)

    @property
    def heading(self) -> str:
        """The title above the table; a table with a ``caption`` is headed by its section."""
        return "" if self.caption else self.title

    @property
    def cells(self) -> list[tuple[Cell, ...]]:
        """The rows except their headings."""
        return [tuple(row) for row in self.rows if not self.is_heading(row)]

    @property
    def sections(self) -> list[tuple[Cell | None, list[tuple[Cell, ...]]]]:
        """The rows below each of their headings; the first rows may have none."""
        sections: list[tuple[Cell | None, list[tuple[Cell, ...]]]] = []
        for row in self.rows:
            if self.is_heading(row):
                sections.append((row[0], []))
            else:
                sections = sections or [(None, [])]
                sections[-1][1].append(tuple(row))
        return sections

    @property
    def has_headings(self) -> bool:
        """Whether rows have headings."""
        return any(map(self.is_heading, self.rows))

    def is_left(self, place: int) -> bool:
        """Return whether a column is left-aligned: names and texts, also where only the cells show that they are."""
        texts = [row[place].text for row in self.cells if place < len(row) and row[place].text]
        has_digits = any(letter.isdigit() for text in texts for letter in text)
        return self.columns[place].kind in LEFT_KINDS or (bool(texts) and not has_digits)

    def text_below(self, mark: str = "bold:") -> str:
        """Return the text below the table, where best cells have this mark."""
        return f"{mark} {self.best}{f'; {self.foot}' if self.foot else '.'}" if self.best else self.foot


def _make_cell(cell: Cell | str, kind: str) -> Cell:
    """Return a cell with a kind: its own, or that of its column."""
    if isinstance(cell, str):
        return Cell(cell, kind)
    return cell if cell.kind else replace(cell, kind=kind)


def visible_rows(count: int) -> int:
    """Return how many rows of a long table a page shows at first; 0 for all."""
    return VISIBLE_ROWS if count > MAX_OPEN_ROWS else 0


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

    ``style`` is "finding" for an answer, "note" for how to read a part, "said" for a text next to a figure, "after" for
    a text below tables, and "further" for where to find more.
    """

    text: str
    style: str = ""
    written: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether the text is written as it is: nothing in it is a symbol or a marked name."""
        return self.style in PLAIN_STYLES


@dataclass(frozen=True)
class Items:
    """A list of sentences; ``numbered`` ones are notes, whose text is written as it is."""

    items: Sequence[str]
    numbered: bool = False


@dataclass(frozen=True)
class Terms:
    """Terms or settings, each with its meaning; a "header" has the settings of a record at its top."""

    entries: Sequence[TermEntry]
    style: str = ""


@dataclass(frozen=True)
class Code:
    """A call."""

    text: str


@dataclass(frozen=True)
class FigureFile:
    """A figure in the folder next to a text: its path there, and its caption."""

    path: str
    caption: str


@dataclass(frozen=True)
class PageFigure:
    """A figure within a page, as SVG, with its title and the text after the title."""

    svg: str
    title: str = ""
    aside: str = ""


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
class Answers:
    """The verdict: a line of sentences for each question; a page has the ``key`` of marks and colors next to them.

    The key has the meaning of the mark of the ``best``, if there is one.
    Instead of a key there may be ``panels``, small maps, with the ``scale`` of their colors as in ``Maps``.
    """

    lines: Sequence[tuple[str, str]]
    key: bool = False
    intervals: str = ""
    best: str = ""
    panels: Sequence[Panel] = ()
    scale: tuple[str, str, str] | None = None


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
    difference: str
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
    more_text: str = ""


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
    | Table
    | Details
    | Group
    | Section
)


@dataclass(frozen=True, repr=False)
class Document:
    """A printed result or a page: its title, the lines ``about`` its data and settings, and its parts in their order.

    ``str()`` gives the text; ``as_html()``, ``as_latex()`` and ``as_markdown()`` give the same content in other forms.
    No time is printed, so that the same result prints the same text.
    """

    title: str
    parts: Sequence[Part] = ()
    about: Sequence[str] = ()
    version: str = ""
    is_dense: bool = False  # no blank line follows ``about`` in a text

    @property
    def header(self) -> list[tuple[str, str]]:
        """The settings at the top of a record, with their values."""
        headers = (part for part in self.parts if isinstance(part, Terms) and part.style == "header")
        return [(entry.term, entry.meaning) for part in headers for entry in part.entries]

    @property
    def opens_with_answer(self) -> bool:
        """Whether lines about the data, or a finding, come first; then a text has no title."""
        first = next(iter(self.parts), None)
        is_answer = isinstance(first, Answers) or (isinstance(first, Paragraph) and first.style == "finding")
        return bool(self.about) or is_answer

    @property
    def tables(self) -> list[Table]:
        """All tables in their order."""
        return [part for part in all_parts(self.parts) if isinstance(part, Table)]

    @property
    def findings(self) -> list[str]:
        """The answers."""
        return [p.text for p in all_parts(self.parts) if isinstance(p, Paragraph) and p.style == "finding"]

    @property
    def notes(self) -> list[str]:
        """The numbered notes."""
        return [item for p in all_parts(self.parts) if isinstance(p, Items) and p.numbered for item in p.items]

    @property
    def call(self) -> str:
        """The first call."""
        return next((part.text for part in all_parts(self.parts) if isinstance(part, Code)), "")

    def as_text(self) -> str:
        """Return plain text, for a terminal of 80 columns; the middle of a long call is left out.

        Names that do not fit in a table are shortened too, with a key below the tables.
        """
        from dreval.report.render.text import text

        return text(self)

    def as_markdown(self) -> str:
        """Return GitHub-flavored Markdown: headings, lists and tables, with every sign of a name escaped."""
        from dreval.report.render.markdown import markdown

        return markdown(self)

    def as_html(self) -> str:
        """Return a part of a page: tables with captions and scoped headings, in the colors around it."""
        from dreval.report.render.html import html

        return html(self)

    def as_latex(self, label: str | None = None) -> str:
        r"""Return tables with captions and labels for ``\input``; needs the packages booktabs and longtable.

        Letters that pdfLaTeX does not know by itself are set by XeLaTeX and LuaLaTeX; pdfLaTeX shows their code
        points, as U+5D4C. A name for which a line has no room is shortened, in all tables alike, and stands in full
        below the table.

        Parameters
        ----------
        label : str, optional
            The label of the first table, as it is; further tables have ``-2`` and so on after it: ``label="tab:wdbc"``
            gives ``tab:wdbc`` and ``tab:wdbc-2``. By default the labels are made from the title (``tab:...-1``), which
            is the same for every result of its kind.

        Raises
        ------
        InputError
            For a label with other signs than letters, digits, ``.``, ``:`` and ``-``.
        """
        from dreval.report.render.latex import latex

        return latex(self, label)

    def __str__(self) -> str:
        return self.as_text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.as_html()


def record_document(
    title: str,
    header: Sequence[tuple[str, str]],
    tables: Sequence[Table],
    notes: Sequence[Any] = (),
    call: str = "",
    findings: Sequence[str | Answers] = (),
    *,
    about: Sequence[str] = (),
    after: Sequence[str] = (),
    further: str = "",
) -> Document:
    """Return a record as a document, its parts in the order of all records.

    ``about`` describes the computation in one or two lines, ``header`` and ``call`` in full. Tables follow the
    findings, then sentences ``after`` them, notes, and ``further``: where to find more.
    """
    entries = [TermEntry(name, value, is_name=True) for name, value in header if value]
    parts: list[Part] = [Terms(entries, "header")] if entries else []
    parts += [Code(call)] if call else []
    parts += [Paragraph(finding, "finding") if isinstance(finding, str) else finding for finding in findings]
    parts += tables
    parts += [Paragraph(text, "after") for text in after]
    parts += [Items([str(note) for note in notes], numbered=True)] if notes else []
    parts += [Paragraph(further, "further")] if further else []
    return Document(title, parts, about)


def all_parts(parts: Sequence[Part]) -> Iterator[Part]:
    """Yield the parts, those of sections, groups and details in their place."""
    for part in parts:
        if isinstance(part, Section | Group | Details):
            yield from all_parts(part.parts)
        else:
            yield part


def text_parts(parts: Sequence[Part]) -> Iterator[Part]:
    """Yield the parts of a text: paragraphs, lists, code, figures in files, tables and sections."""
    for part in parts:
        match part:
            case Details():
                yield Paragraph(f"{part.summary}.")
                yield from text_parts(part.parts)
            case Group():
                yield from text_parts(part.parts)
            case Section():
                yield replace(
                    part, title=", ".join(filter(None, [part.title, part.below])), parts=[*text_parts(part.parts)]
                )
            case PageFigure() | Figures() | WideFigure() | Maps() | Grid() | Cards() | Marks() | Forests():
                pass  # drawn on pages only
            case _:
                yield part
