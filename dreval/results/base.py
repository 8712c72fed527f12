"""Printing: the two-block summary that R users know, in text, HTML, LaTeX and Markdown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any

from dreval.glossary import MARK, spread, terminal_width
from dreval.results.symbols import html_symbols, latex_symbols, plain_symbols

__all__ = ["Block", "Summary", "format_duration", "format_number", "format_p", "shortened", "significance_stars"]

WIDTH = 78
_LATEX = str.maketrans(
    {"\\": r"\textbackslash ", "~": r"\textasciitilde ", "^": r"\textasciicircum ", "<": r"\textless "}
    | {mark: "\\" + mark for mark in "{}"}
)  # what statsmodels does not escape itself


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


def significance_stars(p: float) -> str:
    """R's significance codes."""
    return next((mark for bound, mark in ((0.001, "***"), (0.01, "**"), (0.05, "*"), (0.1, ".")) if p <= bound), "")


@dataclass(frozen=True)
class Block:
    """One table of a summary: a heading, column names and rows of text."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def fitted(self, width: int) -> Block:
        """The same table with its first column, and others without a heading, shortened, where it is wider."""
        widths = [max(map(terminal_width, column)) for column in zip(self.columns, *self.rows, strict=True)]
        over, rooms = sum(widths) + 2 * (len(widths) - 1) - width, {}
        for place, heading in enumerate(self.columns):
            if over > 0 and (place == 0 or not heading) and widths[place] > 8:
                rooms[place] = max(widths[place] - over, 8)
                over -= widths[place] - rooms[place]
        cut = [[shortened(c, rooms[i]) if i in rooms else c for i, c in enumerate(row)] for row in self.rows]
        return replace(self, rows=cut) if rooms else self

    def simple_table(self, convert: Callable[[str], str] = str) -> Any:
        """The statsmodels table that does the lay-out, of cells that were converted (escaped)."""
        from statsmodels.iolib.table import SimpleTable

        return SimpleTable(
            [[convert(cell) for cell in row] for row in self.rows],
            headers=[convert(name) for name in self.columns],
            txt_fmt={"table_dec_above": None, "table_dec_below": None, "data_aligns": "l" + "r" * 20, "colsep": "  "},
        )


@dataclass(frozen=True)
class Summary:
    """A printed result: header pairs in two columns, tables, and notes.

    ``str()`` gives the text; ``as_html()``, ``as_latex()`` and ``as_markdown()`` the same content elsewhere. No clock
    is printed, so that the same result prints the same text.
    """

    title: str
    header: Sequence[tuple[str, str]]
    blocks: Sequence[Block]
    notes: Sequence[str] = field(default=())

    def as_text(self) -> str:
        """Plain text, for a terminal of 80 columns."""
        import textwrap

        half = (len(self.header) + 1) // 2
        left, right = list(self.header[:half]), list(self.header[half:])
        right += [("", "")] * (half - len(right))
        lines = [self.title.center(WIDTH).rstrip(), "=" * WIDTH]
        for (a, b), (c, d) in zip(left, right, strict=True):
            lines.append(f"{_pair(a, b)}  {_pair(c, d)}".rstrip())
        for block in self.blocks:
            table = str(block.fitted(WIDTH).simple_table(spread)).replace(MARK, "")
            lines += ["", plain_symbols(block.title), *(line.rstrip() for line in table.split("\n"))]
        if self.notes:
            lines += ["", "Notes"]
            for i, note in enumerate(self.notes, 1):
                lines += textwrap.wrap(spread(note), WIDTH, initial_indent=f"[{i}] ", subsequent_indent="    ")
        return "\n".join(lines).replace(MARK, "")

    def as_markdown(self) -> str:
        """GitHub-flavoured Markdown."""
        parts = [f"## {self.title}", "", *(f"- **{_md(a)}** {_md(b)}" for a, b in self.header)]
        for block in self.blocks:
            parts += [
                "",
                f"### {_md(plain_symbols(block.title))}",
                "",
                _md_row(block.columns),
                _md_row(["---"] * len(block.columns)),
            ]
            parts += [_md_row(row) for row in block.rows]
        parts += ["", *(f"{i}. {_md(note)}" for i, note in enumerate(self.notes, 1))]
        return "\n".join(parts) + "\n"

    def as_html(self) -> str:
        """HTML tables without style."""
        head = "".join(f"<tr><th>{escape(a)}</th><td>{escape(b)}</td></tr>" for a, b in self.header)
        tables = "".join(
            f"<h3>{html_symbols(escape(b.title))}</h3>{b.simple_table(escape).as_html()}" for b in self.blocks
        )
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        return f"<h2>{escape(self.title)}</h2><table>{head}</table>{tables}<ol>{notes}</ol>"

    def as_latex(self) -> str:
        """LaTeX tabular environments."""
        head = [f"% {a} {b}" for a, b in self.header]
        tables = [f"% {latex_symbols(b.title)}\n{b.simple_table(_latex).as_latex_tabular()}" for b in self.blocks]
        notes = [f"% {' '.join(note.split())}" for note in self.notes]
        return "\n\n".join(["\n".join([f"% {self.title}", *head]), *tables, *notes])

    def __str__(self) -> str:
        return self.as_text()

    def _repr_html_(self) -> str:
        return self.as_html()


def shortened(text: str, room: int) -> str:
    """The text without its middle, where it takes more columns of a terminal than there is room."""
    text = spread(text)
    tail = (room - 1) // 2
    made = text if len(text) <= room else f"{text[: room - 1 - tail]}…{text[len(text) - tail :].lstrip(MARK)}"
    return made.replace(MARK, "")


def _pair(name: str, value: str) -> str:
    """A name and its value at the two ends of half a line."""
    half = WIDTH // 2 - 1
    room = half - len(name) - 1
    return f"{name} {spread(shortened(value, room)):>{room}}" if name else " " * half


def _latex(text: str) -> str:
    """The text without characters that LaTeX reads as commands."""
    return text.translate(_LATEX)


def _md(text: str) -> str:
    """The text without characters that Markdown reads as tags or cells."""
    return " ".join(text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|").split())


def _md_row(cells: Sequence[str]) -> str:
    """One row of a table."""
    return "| " + " | ".join(map(_md, cells)) + " |"
