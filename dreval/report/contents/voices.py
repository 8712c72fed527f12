"""How the paragraphs for a paper are written as text, Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from dreval.glossary import format_p
from dreval.references import reference
from dreval.report.render.latex import latex_title
from dreval.report.render.markup import latex_text, markdown_text, marked, plain_symbols, sentence


def _markdown_title(title: str) -> str:
    return markdown_text(plain_symbols(title))


@dataclass(frozen=True)
class Voice:
    """How one kind of text writes names, statistics, percents, citations and code."""

    name: Callable[[str], str]
    title: Callable[[str], str]
    open_math: str
    close_math: str
    chi: str
    percent: str
    code: str = "{}"
    cites: str = ""
    minus: str = "\N{MINUS SIGN}"

    def sentence(self, text: str) -> str:
        """A sentence of ``report.statements`` with its names."""
        return sentence(text, name=self.name)

    def math(self, symbol: str, rest: str) -> str:
        """A symbol with what follows it, as ``p = .02`` or ``F(3, 39) = 3.69``."""
        if self.open_math == "$":
            return f"${symbol}{rest}$"
        return f"{self.open_math}{symbol}{self.close_math}{rest}"

    def p(self, value: float, adjusted: bool = False, alpha: float = 0.05) -> str:
        """A p-value in a sentence, as ``format_p`` writes it beside its level."""
        text = format_p(value, alpha)
        said = f" < {text[1:]}" if text.startswith("<") else f" = {text}"
        return ("adjusted " if adjusted else "") + self.math("p", said)

    def cite(self, *keys: str) -> str:
        """Works behind a word: names and years, or the command of LaTeX; nothing without works."""
        if not keys:
            return ""
        if self.cites:
            return f"~\\{self.cites}{{{','.join(keys)}}}"
        works = [reference(key) for key in keys if key != "dreval"]
        said = "; ".join(self.title(f"{work.names}, {work.year}") for work in works)
        return f" ({said})" if said else ""


VOICES = {
    "text": Voice(str, plain_symbols, "", "", "χ²", " %"),
    "markdown": Voice(markdown_text, _markdown_title, "*", "*", "χ²", " %", "`{}`"),
    "latex": Voice(
        partial(latex_text, breaks=True), latex_title, "$", "$", r"\chi^2", r"\,\%", r"\texttt{{{}}}", "cite",
        r"\ensuremath{-}",
    ),
    "page": Voice(marked, str, "", "", "χ²", " %"),
}  # fmt: skip
