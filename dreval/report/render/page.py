"""A document as one page that needs nothing else: the template, its filters, and the colors."""

from __future__ import annotations

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
from dreval.report.document import Document, Table
from dreval.report.render.html import breakable_name, html_sentence, keep_equations, label_html, table_body
from dreval.report.render.markup import html_symbols

MAX_SPARSE_COLUMNS = 6  # columns of a table with wide margins
_TABLE_CLASSES = {"main": ("main",), "heat": ("main", "heat"), "turned": ("main", "turned")}  # by style
_FORMULA_ERRORS = (*(error for error in vars(exceptions).values() if isinstance(error, type)), LookupError, ValueError)


def html_page(document: Document) -> str:
    """Return the whole page; all inserted text is escaped, and the same document gives the same page."""
    variables = {"light": _variables(LIGHT, EMBEDDINGS_LIGHT), "dark": _variables(DARK, EMBEDDINGS_DARK)}
    page = _environment().get_template("page.html.j2").render(document=document, variables=variables)
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
    environment.filters.update(
        kind=lambda part: type(part).__name__,
        symbol=_symbol,
        sentence=lambda text: Markup(html_sentence(text)),
        small=lambda text: _symbol(keep_equations(text)),
        label=lambda label: Markup(label_html(label)),
        table=_table,
        formula=_formula,
        nobreak=keep_equations,
        breaks=lambda name: Markup(breakable_name(name)),
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


def _table(table: Table) -> Markup:
    """Return the rows of a table with their classes for the style and the script of the page."""
    is_dense = table.style in ("main", "heat") and len(table.columns) > MAX_SPARSE_COLUMNS
    classes = [*_TABLE_CLASSES.get(table.style, ()), *["sortable"] * table.sortable, *["dense"] * is_dense]
    classes += ["long"] * bool(table.visible_rows)
    style = f' style="--w:{table.name_width}ch"' if table.style else ""
    caption = f'<caption class="hidden">{_escaped(table.caption or table.title)}</caption>'
    rows = "\n".join(table_body(table))
    return Markup(f'<table class="{" ".join(classes)}"{style}>\n{caption}\n{rows}\n</table>')
