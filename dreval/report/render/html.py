"""A document as a part of an HTML page, for notebooks, and the one writer of HTML tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import zip_longest

from dreval._text import printable
from dreval.report.document import (
    MISSING_VALUE,
    Answers,
    Bar,
    Cell,
    Code,
    Column,
    Document,
    Footnote,
    Items,
    Paragraph,
    Part,
    Section,
    Table,
    Terms,
    text_parts,
)
from dreval.report.format import keep_equations
from dreval.report.render.markup import html_symbols, sentence

_ARGUMENT = re.compile(r"^`([A-Za-z_]\w*)`")  # at the beginning only: elsewhere it may be part of a name
_NAME_BREAK = re.compile(r"(?<=[\w$])([_\-/])(?=\w)")

# No color but those around it, so that it looks right on light and dark ground.
STYLE = """<style>
.dreval{overflow-x:auto}
.dreval table{border-collapse:collapse;margin:.8em 0;font-variant-numeric:tabular-nums;border:0}
.dreval caption{caption-side:top;text-align:left;font-weight:600;padding:.2em 0;color:inherit}
.dreval th,.dreval td{background:none;color:inherit;border:0;padding:.15em .7em .15em 0;text-align:right;
vertical-align:baseline;font-weight:400;white-space:nowrap}
.dreval th[scope=row],.dreval .t,.dreval .w{text-align:left;white-space:normal;overflow-wrap:break-word;min-width:8em;
max-width:26em}
.dreval thead th,.dreval thead td{border-bottom:1px solid currentColor;font-weight:600}
.dreval td:not(.best) b{font-weight:400}
.dreval .soft{opacity:.7}.dreval .hidden{display:none}.dreval small{margin-left:.4em}
.dreval dt{font-weight:600}.dreval dd{margin:0 0 .3em 1.2em}
.dreval tfoot :is(th,td){border-top:1px solid currentColor}
.dreval tbody th[scope=rowgroup]{text-align:left;font-style:italic;padding-top:.5em;white-space:normal}
.dreval .s th[scope=row]{padding-left:1.2em}
.dreval pre{white-space:pre-wrap;overflow-wrap:anywhere;background:none;color:inherit;margin:.4em 0}
.dreval .foot,.dreval ol{font-size:.9em;margin:.3em 0}
</style>"""


def html(document: Document) -> str:
    """Return a ``div`` with the whole content."""
    parts = [f"<h3>{_html(document.title)}</h3>", *(f"<p>{_html(text)}</p>" for text in document.about)]
    return _division([*parts, *_parts(text_parts(document.parts), 4)])


def html_tables(tables: Sequence[Table]) -> str:
    """Return a ``div`` with tables only."""
    return _division(map(_captioned_table, tables))


def _division(parts: Iterable[str]) -> str:
    return "\n".join(filter(None, [f'<div class="dreval">{STYLE}', *parts, "</div>"]))


def _parts(parts: Iterable[Part], level: int) -> Iterator[str]:
    """Yield the parts of a ``div``; headings of sections have this level."""
    for part in parts:
        match part:
            case Section():
                yield f"<h{level}>{html_sentence(part.title)}</h{level}>" if part.title else ""
                yield from _parts(part.parts, min(level + 1, 6))
            case Table():
                yield _captioned_table(part)
            case Paragraph():
                style = ' class="foot"' if part.style == "further" else ""
                yield f"<p{style}>{(_html if part.is_plain else html_sentence)(part.text)}</p>"
            case Items():
                kind, write = ("ol", _html_note) if part.numbered else ("ul", html_sentence)
                yield f"<{kind}>{''.join(f'<li>{write(item)}</li>' for item in part.items)}</{kind}>"
            case Answers():
                lines = [f"<dt>{_html(question)}</dt><dd>{html_sentence(text)}</dd>" for question, text in part.lines]
                yield f"<dl>{''.join(lines)}</dl>"
            case Terms():
                cells = [
                    f'<th scope="row">{_html(e.term)}</th><td class="t">{_html(e.meaning)}</td>' for e in part.entries
                ]
                half = (len(cells) + 1) // 2
                rows = zip_longest(cells[:half], cells[half:], fillvalue="")
                yield f"<table><tbody>{''.join(f'<tr>{left}{right}</tr>' for left, right in rows)}</tbody></table>"
            case Code():
                yield f"<pre>{escape(printable(part.text, keep=chr(10)))}</pre>"


def _captioned_table(table: Table) -> str:
    """Return a table of a ``div``, with its title above it and the text below it."""
    caption = f"<caption>{_symbols(table.heading)}</caption>" if table.heading else ""
    below = [f'<p class="foot">{_symbols(text)}</p>' for text in [table.text_below()] if text]
    below += [f'<p class="foot"><sup>{note.letter}</sup> {_html(note.text)}</p>' for note in table.footnotes]
    return "\n".join([f"<table{' class=s' * table.has_headings}>{caption}", *table_body(table), "</table>", *below])


def _html(text: str) -> str:
    return escape(printable(text))


def _symbols(text: str) -> str:
    return html_symbols(_html(text))


def html_sentence(text: str) -> str:
    """Return a sentence of this package: names stand out, symbols are formulas."""
    return sentence(keep_equations(text), lambda name: f"<strong><bdi>{_html(name)}</bdi></strong>", _symbols)


def _html_note(note: str) -> str:
    """Return a note; an argument at its beginning is set as code."""
    return _ARGUMENT.sub(r"<code>\1</code>", _html(note))


# The rows of every table, of a notebook and of a page.

_CELL_CLASSES = {"drawing": "drawing", "note": "w", "text": "t", "name": "t name", "pair": "t name"}  # by kind
N_SCALE_COLORS = 8  # colors of a page from chance to perfect, --q0 to --q7


def table_body(table: Table) -> Iterator[str]:
    """Yield headings, rows, and the last row; headings have the scope of a column, a row, or a group of rows."""
    if any(column.title for column in table.columns):
        headings = (_heading(column, table.is_left(place)) for place, column in enumerate(table.columns))
        yield f"<thead><tr>{''.join(headings)}</tr></thead>"
    for heading, rows in table.sections:
        yield "<tbody>"
        if heading:
            note = f" <span>{_html(heading.note)}</span>" if heading.note else ""
            title = _element("th", _symbols(heading.text) + note, scope="rowgroup", colspan=len(table.columns))
            yield f'<tr class="group">{title}</tr>'
        yield from (_row(table, row, 0 < table.visible_rows <= number) for number, row in enumerate(rows))
        yield "</tbody>"
    if table.foot_row:
        yield f"<tfoot>{_row(table, table.foot_row)}</tfoot>"


def _element(tag: str, content: str, **attributes: object) -> str:
    """Return an element with its attributes; those that are None are left out, and "_" stands for "-"."""
    names = {name: name.rstrip("_").replace("_", "-") for name in attributes}
    pairs = [f' {names[name]}="{_html(str(value))}"' for name, value in attributes.items() if value is not None]
    return f"<{tag}{''.join(pairs)}>{content}</{tag}>"


def breakable_name(name: str) -> str:
    """Return a name that may break after its underscores and hyphens."""
    return "<wbr>".join(map(_html, _NAME_BREAK.sub("\\1\0", printable(name)).split("\0")))


def _small(text: str) -> str:
    return f"<small>{_symbols(keep_equations(text))}</small>"


def _footnote_mark(footnote: Footnote | None) -> str:
    return "" if footnote is None else f"&#8288;<sup>{_element('abbr', footnote.letter, title=footnote.text)}</sup>"


def _heading(column: Column, is_left: bool) -> str:
    """Return the heading of a column."""
    if column.kind == "drawing":  # what its two ends are
        ends = "".join(f"<span>{_html(end)}</span>" for end in (column.title, column.below))
        return _element("th", f'<span class="ends">{ends}</span>', class_="drawing", scope="col")
    title = f"<bdi>{breakable_name(column.title)}</bdi>" if column.is_name else _symbols(column.title)
    label = f'<span class="label">{title}{_footnote_mark(column.footnote)}</span>' if column.title else ""
    return _element(
        "th" if column.title else "td",
        label + (_small(column.below) if column.below else ""),
        class_="t" if is_left else "n",
        scope="col" if column.title else None,
        data_higher=None if column.higher is None else int(column.higher),
        title=column.question or None,
    )


def _row(table: Table, row: Sequence[Cell], is_hidden: bool = False) -> str:
    """Return one row; the hidden ones are shown by a button of the page."""
    cells = [_cell(cell, place == table.header, table.is_left(place)) for place, cell in enumerate(row)]
    return _element("tr", "".join(cells), class_="more" if is_hidden else None)


def _cell(cell: Cell, is_header: bool, is_left: bool) -> str:
    """Return one cell with its text, its footnote and its small print."""
    is_name = cell.kind in ("name", "pair")
    kind = "name" * is_name if is_header else _CELL_CLASSES.get(cell.kind, "t" * is_left)
    small = "".join(f" {_small(text)}" for text in cell.small if text)
    small += f' <small class="ties">ties {_html(cell.ties)}</small>' if cell.ties else ""
    small += f'<span class="hidden"> ({_html(cell.note)})</span>' if cell.note and cell.text == MISSING_VALUE else ""
    bar = track_html(cell.bar, "track mini") if cell.bar and cell.bar.share == cell.bar.share else ""
    return _element(
        "th" if is_header else "td",
        f"{_cell_text(cell)}{_footnote_mark(cell.footnote)}{small}{bar}",
        scope="row" if is_header else None,
        class_=" ".join(filter(None, [cell.emphasis, kind])) or None,
        style=f"--q:{cell.shade}" if cell.shade else None,
        data_sort=cell.sort,
        title=None if is_name else cell.note or None,
    )


def percent_length(share: float) -> str:
    """Return a share as a length of the style sheet."""
    return f"{100 * share:.1f}%"


def scale_color(share: float) -> str:
    """Return the color of a share from chance (0) to perfect (1), between two colors of the scale."""
    place = share * (N_SCALE_COLORS - 1)
    low = min(int(place), N_SCALE_COLORS - 2)
    return f"color-mix(in srgb,var(--q{low + 1}) {100 * (place - low):.0f}%,var(--q{low}))"


def track_html(bar: Bar, style: str = "track") -> str:
    """Return a bar from chance to perfect, with its interval unless it is "mini"."""
    fill = f"width:{percent_length(bar.share)};background:{scale_color(bar.share)}"
    parts = [f'<i class="fill" style="{fill}"></i>'] if bar.share > 0 else []
    if bar.low == bar.low and style == "track":
        ends = f"left:{percent_length(bar.low)};width:{percent_length(bar.high - bar.low)}"
        parts.append(f'<i class="ci" style="{ends}"></i>')
    return f'<span class="{style}" aria-hidden="true">{"".join(parts)}</span>'


def _cell_text(cell: Cell) -> str:
    if cell.kind == "drawing":
        return cell.text
    if cell.kind == "pair":
        first, second = (f"<bdi>{breakable_name(name)}</bdi>" for name in (cell.text, cell.second))
        return _element("span", f"{first} − {second}", class_="clamp", title=cell.note)
    if cell.kind == "name" and cell.text:
        return _element("bdi", breakable_name(cell.text), class_="clamp", title=cell.note or cell.text)
    text = _symbols(cell.text) if cell.kind == "text" else _html(cell.text)
    if cell.emphasis == "small":
        return f"<small>{text}</small>"
    return f"<b>{text}</b>" if cell.emphasis == "best" or cell.kind == "value" else text
