"""A printed result as HTML, for notebooks and pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from itertools import zip_longest

from dreval.glossary import printable
from dreval.report.document import Best, Block, Content, Small, Words
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


def html(summary: Content) -> str:
    """A ``div`` with everything that is printed."""
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
    parts += [f"<p>{html_sentence(text)}</p>" for text in summary.said]
    parts += list(_html_blocks(summary))
    parts += [f"<p>{_html(text)}</p>" for text in summary.after]
    if summary.notes:
        parts.append(f"<ol>{''.join(f'<li>{_html_note(note)}</li>' for note in summary.notes)}</ol>")
    parts += [f'<p class="foot">{_html(summary.more)}</p>'] if summary.more else []
    return "\n".join(filter(None, [*parts, "</div>"]))


def html_tables(summary: Content) -> str:
    """A ``div`` with the tables only."""
    return "\n".join([f'<div class="dreval">{STYLE}', *_html_blocks(summary), "</div>"])


def _html_blocks(summary: Content) -> Iterator[str]:
    for block in summary.blocks:
        yield _html_table(block) + (
            f'\n<p class="foot">{html_symbols(_html(below))}</p>' if (below := block.below()) else ""
        )


def _html(text: str) -> str:
    return escape(printable(text))


def html_sentence(text: str) -> str:
    """A sentence of ours: names stand out, symbols are formulas."""

    def words(part: str) -> str:
        return html_symbols(_html(part))

    return sentence(text, lambda name: f"<strong><bdi>{_html(name)}</bdi></strong>", words)


def _html_note(note: str) -> str:
    """A note; the argument that it speaks of, where it begins with it, is set as code."""
    return _ARGUMENT.sub(r"<code>\1</code>", _html(note))


def _html_table(block: Block) -> str:
    """One table: its title is the caption; headings say whether they head a column, a row or a group of rows."""
    caption = f"<caption>{html_symbols(_html(block.title))}</caption>" if block.title else ""
    head = "".join(
        f'<th scope="col"{_side(block, i)}>{_html_cell(name)}</th>' if name else "<td></td>"
        for i, name in enumerate(block.columns)
    )
    lines = [f"<table{' class=s' if block.sectioned else ''}>{caption}"]
    lines += [f"<thead><tr>{head}</tr></thead>"] if any(block.columns) else []
    return "\n".join([*lines, *_html_bodies(block), "</table>"])


def _html_bodies(block: Block) -> Iterator[str]:
    """The rows, in one body for each heading."""
    sections = f'<tr><th scope="rowgroup" colspan="{len(block.columns)}">%s</th></tr>'
    yield "<tbody>"
    for place, row in enumerate(block.rows):
        if len(row) == len(block.columns):
            cells = (f"<td{_side(block, i)}>{_html_cell(cell)}</td>" for i, cell in enumerate(row) if i)
            yield f'<tr><th scope="row">{_html_cell(row[0])}</th>{"".join(cells)}</tr>'
            continue
        yield from ["</tbody>", "<tbody>"] if place else []
        yield sections % html_symbols(_html(row[0]))
    yield "</tbody>"


def _html_cell(cell: str) -> str:
    text = html_symbols(_html(cell)) if isinstance(cell, Words) else _html(cell)
    mark = "strong" if isinstance(cell, Best) else "small" if isinstance(cell, Small) else ""
    return f"<{mark}>{text}</{mark}>" if mark else text


def _side(block: Block, place: int) -> str:
    return " class=l" if block.is_left(place) else ""
