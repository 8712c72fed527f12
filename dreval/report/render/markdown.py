"""A printed result and a report as GitHub-flavored Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dreval.glossary import printable
from dreval.report.document import (
    BestCell,
    CaptionedTable,
    Code,
    DocumentParts,
    FigureFile,
    Items,
    Paragraph,
    Part,
    Report,
    Section,
    SmallCell,
    Table,
    TermEntry,
    Terms,
    TextCell,
    text_parts,
)
from dreval.report.render.markup import markdown_text, plain_symbols, sentence


def markdown_sentence(text: str) -> str:
    """Return a sentence of this package in Markdown."""
    return sentence(text, lambda name: f"**{_inline(name)}**", lambda text_part: _inline(plain_symbols(text_part)))


def _inline(text: str) -> str:
    """Return text within a line: blanks at its ends stay."""
    return f"{' ' * text[:1].isspace()}{markdown_text(text)}{' ' * (text[-1:].isspace() and bool(text.strip()))}"


def markdown(summary: DocumentParts) -> str:
    """Return the whole content as GitHub-flavored Markdown."""
    parts = [f"## {markdown_text(summary.title)}"]
    pairs = [(markdown_text(a), markdown_text(b)) for a, b in summary.header if b]
    parts += ["\n".join(f"- **{a}:** {b}" for a, b in pairs)] if pairs else []
    parts += ["  \n".join(map(markdown_text, summary.about))] if summary.about else []
    parts += [markdown_call(summary.call)] if summary.call else []
    parts += map(markdown_sentence, summary.findings)
    parts += [markdown_tables(summary)] if summary.tables else []
    parts += map(markdown_text, summary.after)
    notes = [f"{i}. {markdown_text(note)}" for i, note in enumerate(summary.notes, 1)]
    further = [markdown_text(summary.further)] if summary.further else []
    return "\n\n".join([*parts, *(["\n".join(notes)] if notes else []), *further]) + "\n"


def markdown_tables(summary: DocumentParts) -> str:
    """Return the tables only, each with its title as a heading."""
    parts: list[str] = []
    for table in summary.tables:
        parts += [f"### {markdown_text(plain_symbols(table.title))}"] if table.title else []
        parts += [
            "\n".join(_markdown_rows(table)),
            *([markdown_text(plain_symbols(below))] if (below := table.below()) else []),
        ]
    return "\n\n".join(parts)


def markdown_report(report: Report) -> str:
    """Return a text of sections as GitHub-flavored Markdown."""
    parts = [f"# {markdown_text(report.title)}", markdown_text(report.meta)]
    for section in text_parts(report.sections):
        parts += _markdown_section(section, 2)
    return "\n\n".join(filter(None, parts)) + "\n"


def _markdown_section(section: Section, level: int) -> Iterator[str]:
    if section.title and (section.short or not section.id):
        yield f"{'#' * level} {sentence(section.title, _inline, lambda text_part: _inline(plain_symbols(text_part)))}"
    for part in section.parts:
        if isinstance(part, Section):
            yield from _markdown_section(part, level + 1)
        else:
            yield _markdown_part(part)


def _markdown_part(part: Part) -> str:
    match part:
        case Paragraph():
            return part.text if part.written else markdown_sentence(part.text)
        case Items():
            items = map(markdown_sentence, part.items)
            return "\n".join(f"{i}. {item}" if part.numbered else f"- {item}" for i, item in enumerate(items, 1))
        case Terms():
            pairs = [(_term(word), markdown_text(plain_symbols(word.meaning))) for word in part.entries]
            return "\n".join(f"- **{a}**: {b}" for a, b in pairs)
        case Code():
            return markdown_call(part.text)
        case FigureFile():
            return f"![{markdown_text(plain_symbols(part.caption))}]({part.path})"
        case CaptionedTable():
            foot = [markdown_text(plain_symbols(below))] if (below := part.table.below()) else []
            return "\n\n".join(["\n".join(_markdown_rows(part.table)), *foot])
    raise TypeError(f"no part of a text: {part!r}")


def _term(word: TermEntry) -> str:
    return markdown_text(word.term if word.is_name else plain_symbols(word.term))


def markdown_call(call: str) -> str:
    """Return a call, of the command line or of Python, as a block of code that its content cannot end."""
    language = "sh" if call.startswith("dreval ") else "python"
    text = "\n".join(printable(line) for line in call.splitlines())
    longest = max((len(run) for run in "".join(c if c == "`" else " " for c in text).split()), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _markdown_rows(table: Table) -> Iterator[str]:
    """Yield the rows of a table; headings of rows are bold rows of one cell."""
    yield _markdown_row([_markdown_cell(name) for name in table.columns])
    yield _markdown_row([":--" if table.is_left(i) else "--:" for i in range(len(table.columns))])
    small = [all(isinstance(cell, SmallCell) or not cell for cell in row) for row in table.rows]
    for row, below, is_small in zip(
        table.rows, [*zip(table.rows[1:], small[1:], strict=True), ((), False)], small, strict=True
    ):
        if is_small:  # it is part of the row above
            continue
        if len(row) == len(table.columns):
            small_cells = below[0] if below[1] else [""] * len(row)
            pairs = zip(map(_markdown_cell, row), map(_markdown_cell, small_cells), strict=True)
            yield _markdown_row([" ".join(filter(None, pair)) for pair in pairs])
        else:
            heading = f"**{markdown_text(plain_symbols(row[0]))}**"
            yield _markdown_row([heading, *[""] * (len(table.columns) - 1)])


def _markdown_cell(cell: str) -> str:
    text = markdown_text(plain_symbols(cell) if isinstance(cell, TextCell) else cell)
    return f"**{text}**" if isinstance(cell, BestCell) else text


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
