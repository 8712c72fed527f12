"""A printed result as HTML, for notebooks and pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from itertools import zip_longest

from dreval.glossary import printable
from dreval.report.document import BestCell, DocumentParts, SmallCell, Table, TextCell
from dreval.report.render.markup import html_symbols, sentence

_ARGUMENT = re.compile(r"^`([A-Za-z_]\w*)`")  # at the beginning only: elsewhere it may be part of a name

# No color but those around it, so that it looks right on light and dark ground.
STYLE = """<style>
.dreval{overflow-x:auto}
.dreval table{border-collapse:collapse;margin:.8em 0;font-variant-numeric:tabular-nums;border:0}
.dreval caption{caption-side:top;text-align:left;font-weight:600;padding:.2em 0;color:inherit}
.dreval th,.dreval td{background:none;color:inherit;border:0;padding:.15em .7em .15em 0;text-align:right;
vertical-align:baseline;font-weight:400;white-space:nowrap}
.dreval th[scope=row],.dreval .l{text-align:left;white-space:normal;overflow-wrap:break-word;min-width:8em;
max-width:26em}
.dreval thead th,.dreval thead td{border-bottom:1px solid currentColor;font-weight:600}
.dreval tbody th[scope=rowgroup]{text-align:left;font-style:italic;padding-top:.5em;white-space:normal}
.dreval .s th[scope=row]{padding-left:1.2em}
.dreval pre{white-space:pre-wrap;overflow-wrap:anywhere;background:none;color:inherit;margin:.4em 0}
.dreval .foot,.dreval ol{font-size:.9em;margin:.3em 0}
</style>"""


def html(summary: DocumentParts) -> str:
    """Return a ``div`` with the whole content."""
    parts = [f'<div class="dreval">{STYLE}', f"<h3>{_html(summary.title)}</h3>"]
    parts += [f"<p>{_html(text)}</p>" for text in summary.about]
    pairs = [(name, value) for name, value in summary.header if value]
    if pairs:
        cells = [f'<th scope="row">{_html(a)}</th><td class="l">{_html(b)}</td>' for a, b in pairs]
        half = (len(cells) + 1) // 2
        rows = zip_longest(cells[:half], cells[half:], fillvalue="")
        parts.append(f"<table><tbody>{''.join(f'<tr>{a}{b}</tr>' for a, b in rows)}</tbody></table>")
    if summary.call:
        parts.append(f"<pre>{escape(printable(summary.call, keep=chr(10)))}</pre>")
    parts += [f"<p>{html_sentence(text)}</p>" for text in summary.findings]
    parts += list(_html_tables(summary))
    parts += [f"<p>{_html(text)}</p>" for text in summary.after]
    if summary.notes:
        parts.append(f"<ol>{''.join(f'<li>{_html_note(note)}</li>' for note in summary.notes)}</ol>")
    parts += [f'<p class="foot">{_html(summary.further)}</p>'] if summary.further else []
    return "\n".join(filter(None, [*parts, "</div>"]))


def html_tables(summary: DocumentParts) -> str:
    """Return a ``div`` with the tables only."""
    return "\n".join([f'<div class="dreval">{STYLE}', *_html_tables(summary), "</div>"])


def _html_tables(summary: DocumentParts) -> Iterator[str]:
    for table in summary.tables:
        yield _html_table(table) + (
            f'\n<p class="foot">{html_symbols(_html(below))}</p>' if (below := table.below()) else ""
        )


def _html(text: str) -> str:
    return escape(printable(text))


def html_sentence(text: str) -> str:
    """Return a sentence of this package: names stand out, symbols are formulas."""

    def text_part(part: str) -> str:
        return html_symbols(_html(part))

    return sentence(text, lambda name: f"<strong><bdi>{_html(name)}</bdi></strong>", text_part)


def _html_note(note: str) -> str:
    """Return a note; an argument at its beginning is set as code."""
    return _ARGUMENT.sub(r"<code>\1</code>", _html(note))


def _html_table(table: Table) -> str:
    """Return one table with its caption; headings have the scope of a column, a row or a group of rows."""
    caption = f"<caption>{html_symbols(_html(table.title))}</caption>" if table.title else ""
    head = "".join(
        f'<th scope="col"{_side_class(table, i)}>{_html_cell(name)}</th>' if name else "<td></td>"
        for i, name in enumerate(table.columns)
    )
    lines = [f"<table{' class=s' if table.sectioned else ''}>{caption}"]
    lines += [f"<thead><tr>{head}</tr></thead>"] if any(table.columns) else []
    return "\n".join([*lines, *_html_bodies(table), "</table>"])


def _html_bodies(table: Table) -> Iterator[str]:
    """Yield the rows, in one body for each heading."""
    sections = f'<tr><th scope="rowgroup" colspan="{len(table.columns)}">%s</th></tr>'
    yield "<tbody>"
    for place, row in enumerate(table.rows):
        if len(row) == len(table.columns):
            cells = (f"<td{_side_class(table, i)}>{_html_cell(cell)}</td>" for i, cell in enumerate(row) if i)
            yield f'<tr><th scope="row">{_html_cell(row[0])}</th>{"".join(cells)}</tr>'
            continue
        yield from ["</tbody>", "<tbody>"] if place else []
        yield sections % html_symbols(_html(row[0]))
    yield "</tbody>"


def _html_cell(cell: str) -> str:
    text = html_symbols(_html(cell)) if isinstance(cell, TextCell) else _html(cell)
    label = "strong" if isinstance(cell, BestCell) else "small" if isinstance(cell, SmallCell) else ""
    return f"<{label}>{text}</{label}>" if label else text


def _side_class(table: Table, place: int) -> str:
    return " class=l" if table.is_left(place) else ""
