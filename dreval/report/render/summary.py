"""The summary of a record: one content that is written as text, Markdown, HTML or LaTeX."""

from __future__ import annotations

from dataclasses import dataclass

from dreval.report.document import DocumentParts
from dreval.report.render.html import html
from dreval.report.render.latex import latex
from dreval.report.render.markdown import markdown
from dreval.report.render.text import text


@dataclass(frozen=True, repr=False)
class Summary(DocumentParts):
    """A printed result: call, header pairs in two columns, tables, and notes.

    ``str()`` gives the text; ``as_html()``, ``as_latex()`` and ``as_markdown()`` give the same content in other forms.
    No time is printed, so that the same result prints the same text.
    """

    def as_text(self) -> str:
        """Return plain text, for a terminal of 80 columns; the middle of a long call is left out.

        Names that do not fit in a table are shortened too, with a key below the tables.
        """
        return text(self)

    def as_markdown(self) -> str:
        """Return GitHub-flavored Markdown: headings, lists and tables, with every sign of a name escaped."""
        return markdown(self)

    def as_html(self) -> str:
        """Return a part of a page: tables with captions and scoped headings, in the colors around it."""
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
        return latex(self, label)

    def __str__(self) -> str:
        return self.as_text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.as_html()
