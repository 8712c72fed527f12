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
from dreval.report._style import DARK, EMBEDDINGS_DARK, EMBEDDINGS_LIGHT, LIGHT, RAMP
from dreval.report.document import Report
from dreval.report.render.html import html_sentence
from dreval.report.render.markup import html_symbols

_NO_FORMULA = (*(one for one in vars(exceptions).values() if isinstance(one, type)), LookupError, ValueError)
_BREAK = re.compile(r"(?<=[\w$])([_\-/])(?=\w)")
_LOOKS = {"note": "w", "reason": "w", "soft": "soft", "words": "t", "name": "t name", "state": "t name"}  # of cells


def html_page(report: Report) -> str:
    """The whole page; everything that is put into it is escaped, and the same report gives the same page."""
    variables = {"light": _variables(LIGHT, EMBEDDINGS_LIGHT), "dark": _variables(DARK, EMBEDDINGS_DARK)}
    page = _environment().get_template("page.html.j2").render(report=report, variables=variables)
    return f"{page.rstrip()}\n"


@cache
def _environment() -> Environment:
    """Templates of this folder."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent, encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    environment.globals["looks"] = _LOOKS
    environment.filters.update(
        kind=lambda part: type(part).__name__,
        symbol=_symbol,
        said=lambda text: Markup(html_sentence(text)),
        small=lambda text: _symbol(_nobreak(text)),
        formula=_formula,
        nobreak=_nobreak,
        breaks=_breaks,
        lines=lambda code: Markup("\n").join(map(_escaped, code.splitlines())),
    )
    return environment


def _finalize(value: Any) -> Any:
    """What is printed holds no control characters."""
    return value if isinstance(value, Markup) or not isinstance(value, str) else printable(value)


def _escaped(text: str) -> Markup:
    return Markup(escape(printable(text)))


def _variables(colors: Mapping[str, str], embeddings: tuple[str, ...]) -> Markup:
    """Declarations of the colors of a page."""
    pairs = [*colors.items(), *((f"s{i}", value) for i, value in enumerate(embeddings)), ("worse", RAMP[0])]
    return Markup(";".join(f"--{name}:{value}" for name, value in pairs))


def _symbol(text: str) -> Markup:
    """Text in which symbols such as ``R_N,opt`` have their measure set low."""
    return Markup(html_symbols(_escaped(text)))


def _formula(text: str) -> Markup:
    """A formula of a docstring, which browsers set."""
    try:
        return Markup(convert(text.rstrip(".,;"), display="block"))
    except _NO_FORMULA:  # of a measure of somebody else: it is shown as it is
        return _escaped(text)


def _nobreak(text: str) -> str:
    """Text whose first space does not break, as in "k = 15"."""
    return text.replace(" = ", "\u00a0=\u00a0")


def _breaks(text: str) -> Markup:
    """A name that may break behind its underscores and hyphens."""
    return Markup("<wbr>").join(map(_escaped, _BREAK.sub("\\1\0", printable(text)).split("\0")))
