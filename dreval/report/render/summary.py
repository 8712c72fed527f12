"""Printing: the two-block summary that R users know, as text; ``snippets`` and ``latex`` write the other forms."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dreval.glossary import MARK, spread
from dreval.report.document import LEAST, TERMINAL, WIDTH, Content
from dreval.report.names import in_short, shortened
from dreval.report.render.latex import latex
from dreval.report.render.markup import plain_symbols, printable
from dreval.report.render.snippets import html, markdown

CALL_LINES = 5  # of a longer call the middle is left out


@dataclass(frozen=True)
class Summary(Content):
    """A printed result: call, header pairs in two columns, tables, and notes.

    ``str()`` gives the text; ``as_html()``, ``as_latex()`` and ``as_markdown()`` the same content elsewhere. No clock
    is printed, so that the same result prints the same text.
    """

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
        """GitHub-flavored Markdown: headings, lists and tables, with every sign of a name escaped."""
        return markdown(self)

    def as_html(self) -> str:
        """A part of a page: tables with captions and headings that say what they head, in the colors around it."""
        return html(self)

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
        return latex(self, label)

    def __str__(self) -> str:
        return self.as_text()

    def _repr_html_(self) -> str:
        return self.as_html()


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
