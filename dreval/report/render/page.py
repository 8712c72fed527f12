"""A report as one page that needs nothing else: the template, its filters, and the colors."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from latex2mathml import exceptions
from latex2mathml.converter import convert
from markupsafe import Markup

from dreval.glossary import printable
from dreval.report._style import DARK, EMBEDDINGS_DARK, EMBEDDINGS_LIGHT, LIGHT, QUALITY_RAMP
from dreval.report.document import Report
from dreval.report.render.html import html_sentence
from dreval.report.render.markup import html_symbols

_FORMULA_ERRORS = (*(error for error in vars(exceptions).values() if isinstance(error, type)), LookupError, ValueError)
_NAME_BREAK = re.compile(r"(?<=[\w$])([_\-/])(?=\w)")
_CELL_CLASSES = {
    "note": "w",
    "reason": "w",
    "soft": "soft",
    "words": "t",
    "name": "t name",
    "state": "t name",
}  # of cells


def html_page(report: Report) -> str:
    """Return the whole page; all inserted text is escaped, and the same report gives the same page."""
    variables = {"light": _variables(LIGHT, EMBEDDINGS_LIGHT), "dark": _variables(DARK, EMBEDDINGS_DARK)}
    page = _environment().get_template("page.html.j2").render(report=report, variables=variables)
    return f"{page.rstrip()}\n"


@cache
def _environment() -> Environment:
    """Return the templates of this folder."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent, encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    environment.globals["cell_classes"] = _CELL_CLASSES
    environment.filters.update(
        kind=lambda part: type(part).__name__,
        symbol=_symbol,
        sentence=lambda text: Markup(html_sentence(text)),
        small=lambda text: _symbol(_keep_equations(text)),
        formula=_formula,
        nobreak=_keep_equations,
        breaks=_breakable_name,
        lines=lambda code: Markup("\n").join(map(_escaped, code.splitlines())),
    )
    return environment


def _finalize(value: Any) -> Any:
    """Return printed text without control characters."""
    return value if isinstance(value, Markup) or not isinstance(value, str) else printable(value)


def _escaped(text: str) -> Markup:
    return Markup(escape(printable(text)))


def _variables(colors: Mapping[str, str], embeddings: tuple[str, ...]) -> Markup:
    """Return the declarations of the colors of a page."""
    pairs = [*colors.items(), *((f"s{i}", value) for i, value in enumerate(embeddings)), ("worse", QUALITY_RAMP[0])]
    return Markup(";".join(f"--{name}:{value}" for name, value in pairs))


def _symbol(text: str) -> Markup:
    """Return text in which symbols such as ``R_N,opt`` have subscripts."""
    return Markup(html_symbols(_escaped(text)))


def _formula(text: str) -> Markup:
    """Return a formula of a docstring as MathML."""
    try:
        return Markup(convert(text.rstrip(".,;"), display="block"))
    except _FORMULA_ERRORS:  # a measure of another package: its text is shown unchanged
        return _escaped(text)


def _keep_equations(text: str) -> str:
    """Return text whose equations, as "k = 15", do not break."""
    return text.replace(" = ", "\u00a0=\u00a0")


def _breakable_name(text: str) -> Markup:
    """Return a name that may break after its underscores and hyphens."""
    return Markup("<wbr>").join(map(_escaped, _NAME_BREAK.sub("\\1\0", printable(text)).split("\0")))
