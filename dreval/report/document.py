"""The tree of every printed result and page: sentences, tables, figures, lists and sections, before rendering."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dreval.glossary import true_minus
from dreval.report.render.markup import isolate_name

TEXT_COLUMNS = 78
TERMINAL_COLUMNS = 80  # columns of the widest table
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


MISSING_VALUE = "—"  # where there is no value
LEFT_KINDS = ("name", "text", "pair", "embedding", "note", "reason")  # kinds of cells that are left-aligned
PLAIN_STYLES = ("about", "after", "further")  # styles of paragraphs whose text is written as it is


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
    """One cell of a table.

    ``kind`` is the kind of its text: "number", "value" (the number that matters), "text" (of this package: symbols of
    measures become formulas), "name" (of users, shown unchanged), "pair" of a name and a ``second`` one, "embedding"
    with its ``label``, "note", or "reason" for a row without values; "" stands for the kind of its column. ``emphasis``
    is "best" (the best of its group, or not distinguishable from it), "small" or "soft". ``sort`` is the sort key where
    it is not the text, ``note`` the text that a page shows when a reader points at the cell. ``small`` follows the text
    in small print; ``shade`` runs from 0, the worst, to 1; ``span`` counts columns.
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
    label: EmbeddingLabel | None = None
    second: str = ""
    span: int = 1

    @property
    def main_text(self) -> str:
        """The text without its small print."""
        text = f"{self.text} − {self.second}" if self.kind == "pair" else self.text
        return f"Could not be computed: {text}" if self.kind == "reason" else text

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
    label: EmbeddingLabel | None = None
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

    The other fields are for pages, except the ``style`` "plain": a text has no rule below the headings. There are a
    ``caption`` for screen readers, and a ``style``: "" for a table that is only read and sorted, "main" for the first
    table, "heat" for a heat map and "turned" for the first table with its measures as rows. ``groups`` head columns. If
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
    groups: Sequence[tuple[str, int]] = ()
    name_width: int = 13
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
    def cells(self) -> list[tuple[Cell, ...]]:
        """The rows except their headings."""
        return [tuple(row) for row in self.rows if not self.is_heading(row)]

    @property
    def sections(self) -> list[tuple[str, list[tuple[Cell, ...]]]]:
        """The rows below each of their headings, which is "" where the first rows have none."""
        sections: list[tuple[str, list[tuple[Cell, ...]]]] = []
        for row in self.rows:
            if self.is_heading(row):
                sections.append((row[0].text, []))
            else:
                sections = sections or [("", [])]
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
    a text below tables, and "further" for where to find more. ``scripted`` describes the actions that need the script
    of the page.
    """

    text: str
    style: str = ""
    written: bool = False
    scripted: str = ""

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
    """Terms or settings, each with its meaning.

    A "header" has the settings of a record at its top, and "answers" are the questions of a verdict with sentences.
    """

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
class Panel:
    """The points of one embedding, and below them a map of the values of a measure."""

    label: EmbeddingLabel
    points: str
    map: str
    note: str = ""


@dataclass(frozen=True)
class Maps:
    """The panels of a page with their legends, and the data of the points for the script."""

    panels: Sequence[Panel]
    classes: Sequence[tuple[str, str]]
    scale: Mapping[str, Any] | None
    points: Mapping[str, Any]
    aside: str = ""
    columns: tuple[int, int] = (1, 1)


@dataclass(frozen=True)
class Card:
    """The findings on one embedding: its rank, what is preserved and what is not, and which values are missing."""

    label: EmbeddingLabel
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
    | Cards
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

    @property
    def header(self) -> list[tuple[str, str]]:
        """The settings at the top of a record, with their values."""
        headers = (part for part in self.parts if isinstance(part, Terms) and part.style == "header")
        return [(entry.term, entry.meaning) for part in headers for entry in part.entries]

    @property
    def opens_with_answer(self) -> bool:
        """Whether lines about the data, or a finding, come first; then a text has no title."""
        first = next(iter(self.parts), None)
        return bool(self.about) or (isinstance(first, Paragraph) and first.style == "finding")

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
            The prefix of the labels of these tables: ``label="wdbc"`` gives ``tab:wdbc-1`` and so on. By default it is
            the title, which is the same for every result of its kind.

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
    findings: Sequence[str | Terms] = (),
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
            case Cards():
                for card in part.cards:
                    text = " ".join(filter(None, [card.standing, *card.good, *card.poor, *card.missing]))
                    yield Section(isolate_name(card.label.name), [Paragraph(text)])
            case Section():
                yield replace(
                    part, title=", ".join(filter(None, [part.title, part.below])), parts=[*text_parts(part.parts)]
                )
            case PageFigure() | Figures() | WideFigure() | Maps():
                pass  # drawn on pages only
            case _:
                yield part
