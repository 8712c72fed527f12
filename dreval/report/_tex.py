"""Templates for LaTeX: everything that is put into a document is escaped, as it is into a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from dreval.report.render.latex import latex_title
from dreval.report.render.markup import latex_text, printable

__all__ = ["tex_environment"]


def tex_environment() -> Environment:
    """Templates of this folder with delimiters that LaTeX does not use: ``<< value >>``, ``<% if %>``, ``<# #>``."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent, encoding="utf-8"),
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    environment.filters.update(words=_words, code=_code)
    return environment


def _finalize(value: Any) -> Any:
    """What is printed holds no commands of others."""
    return value if isinstance(value, Markup) else latex_text(value, breaks=True)


def _words(text: str) -> Markup:
    """Words of ours with their symbols as formulas."""
    return Markup(latex_title(printable(text), breaks=True))


def _code(text: str) -> Markup:
    """Code with its line breaks."""
    lines = (latex_text(line, breaks=True, code=True) for line in str(text).splitlines())
    return Markup("\\\\\n").join(Markup(line) for line in lines)
