"""Stand in for the findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from dreval.report.document import EmbeddingLabel, Footnote

MISSING_VALUE = "—"
LEFT_KINDS = ("name", "text", "pair", "embedding", "note", "reason")


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
    bar: Any = None

    @property
    def full_text(self) -> str:
        """The text with its small print."""
        text = f"{self.text} − {self.second}" if self.kind == "pair" else self.text
        text = f"Could not be computed: {text}" if self.kind == "reason" else text
        return " ".join(filter(None, [text, *self.small, self.ties and f"ties {self.ties}"]))


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

    The other fields are for pages: a ``caption`` for screen readers, and a ``style``: "" for a table that is only read
    and sorted, "main" for the first table, "heat" for a heat map and "turned" for the first table with its measures as
    rows. ``groups`` head columns. If ``visible_rows`` is not 0, a script hides all further rows, and a button shows
    them.
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
