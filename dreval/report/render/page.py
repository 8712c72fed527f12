"""A document as one page that needs nothing else: the template, its filters, and the colors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from latex2mathml import exceptions
from latex2mathml.converter import convert
from markupsafe import Markup

from dreval._text import printable
from dreval.report._style import (
    CLASS_COLORS,
    DARK,
    LIGHT,
    PAGE_DARK,
    PAGE_LIGHT,
    SCALE_DARK,
    SCALE_LIGHT,
)
from dreval.report.document import Answers, Document, Table, all_parts
from dreval.report.format import keep_equations
from dreval.report.render.html import (
    N_SCALE_COLORS,
    breakable_name,
    html_sentence,
    percent_length,
    scale_color,
    table_body,
    track_html,
)
from dreval.report.render.markup import html_symbols

MIN_TIGHT_VALUES = 7  # columns of values that need narrow margins
MAX_WHOLE_ROWS = 15  # rows of a table that is printed on one page
MIN_WIDE_VALUES = 3  # columns of values that fill the width of a page
_FORMULA_ERRORS = (*(error for error in vars(exceptions).values() if isinstance(error, type)), LookupError, ValueError)


def html_page(document: Document) -> str:
    """Return the whole page; all inserted text is escaped, and the same document gives the same page."""
    variables = {
        "light": _variables({**LIGHT, **PAGE_LIGHT}, q=SCALE_LIGHT, k=CLASS_COLORS),
        "dark": _variables({**DARK, **PAGE_DARK}, q=SCALE_DARK, k=CLASS_COLORS),
    }
    has_key = any(isinstance(part, Answers) and part.key for part in all_parts(document.parts))
    template = _environment().get_template("page.html.j2")
    page = template.render(document=document, variables=variables, has_key=has_key)
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
    environment.globals.update(n_colors=N_SCALE_COLORS)
    environment.filters.update(
        kind=lambda part: type(part).__name__,
        symbol=_symbol,
        scale_color=scale_color,
        percent=percent_length,
        sentence=lambda text: Markup(html_sentence(text)),
        small=lambda text: _symbol(keep_equations(text)),
        table=_table,
        track=lambda bar: Markup(track_html(bar)),
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


def _variables(colors: Mapping[str, str], **series: Sequence[str]) -> Markup:
    """Return the declarations of the colors of a page; those of a series are numbered."""
    numbered = [(f"{name}{i}", value) for name, values in series.items() for i, value in enumerate(values)]
    return Markup(";".join(f"--{name}:{value}" for name, value in [*colors.items(), *numbered]))


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
    """Return a table with its classes and widths for the style and the script of the page."""
    n_values, has_chance = len(table.columns) - 1, table.columns[-1].kind == "number"
    classes = [table.style or "plain", *["sortable"] * (table.sortable and len(table.cells) > 1)]
    classes += ["short"] * (len(table.rows) <= MAX_WHOLE_ROWS)
    style = columns = ""
    if table.style == "scores":
        classes += ["down"] * (not has_chance) + ["tight"] * (n_values >= MIN_TIGHT_VALUES)
        max_width = f";max-width:{420 + 170 * n_values}px" if n_values < MIN_WIDE_VALUES else ""
        width = ";--w:134px" * (not has_chance and not table.columns[1].is_name)
        style = f' style="--c:{n_values}{width}{max_width}"'
        last = '<col class="cc">' if has_chance else "<col>"
        columns = f'<colgroup><col class="c1">{"<col>" * (n_values - 1)}{last}</colgroup>'
    caption = f'<caption class="hidden">{_escaped(table.caption or table.title)}</caption>'
    rows = "\n".join(table_body(table))
    return Markup(f'<table class="{" ".join(classes)}"{style}>\n{caption}\n{columns}{rows}\n</table>')
