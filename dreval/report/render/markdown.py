"""A printed result and a report as GitHub-flavored Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dreval.glossary import printable
from dreval.report.document import (
    Best,
    Block,
    Code,
    Content,
    Drawing,
    Items,
    Paragraph,
    Part,
    Report,
    Section,
    Small,
    Table,
    Terms,
    Word,
    Words,
    in_text,
)
from dreval.report.render.markup import markdown_text, plain_symbols, sentence


def markdown_sentence(text: str) -> str:
    """A sentence of ours in Markdown."""
    return sentence(text, lambda name: f"**{_inline(name)}**", lambda words: _inline(plain_symbols(words)))


def _inline(text: str) -> str:
    """Text within a line: the blanks at its ends stay."""
    return f"{' ' * text[:1].isspace()}{markdown_text(text)}{' ' * (text[-1:].isspace() and bool(text.strip()))}"


def markdown(summary: Content) -> str:
    """Everything that is printed, as GitHub-flavored Markdown."""
    parts = [f"## {markdown_text(summary.title)}"]
    pairs = [(markdown_text(a), markdown_text(b)) for a, b in summary.header if b]
    parts += ["\n".join(f"- **{a}:** {b}" for a, b in pairs)] if pairs else []
    parts += ["  \n".join(map(markdown_text, summary.about))] if summary.about else []
    parts += [markdown_call(summary.call)] if summary.call else []
    parts += map(markdown_sentence, summary.said)
    parts += [markdown_tables(summary)] if summary.blocks else []
    parts += map(markdown_text, summary.after)
    notes = [f"{i}. {markdown_text(note)}" for i, note in enumerate(summary.notes, 1)]
    more = [markdown_text(summary.more)] if summary.more else []
    return "\n\n".join([*parts, *(["\n".join(notes)] if notes else []), *more]) + "\n"


def markdown_tables(summary: Content) -> str:
    """The tables only, each with its title as a heading."""
    parts: list[str] = []
    for block in summary.blocks:
        parts += [f"### {markdown_text(plain_symbols(block.title))}"] if block.title else []
        parts += [
            "\n".join(_markdown_rows(block)),
            *([markdown_text(plain_symbols(below))] if (below := block.below()) else []),
        ]
    return "\n\n".join(parts)


def markdown_report(report: Report) -> str:
    """A text of sections as GitHub-flavored Markdown."""
    parts = [f"# {markdown_text(report.title)}", markdown_text(report.meta)]
    for section in in_text(report.sections):
        parts += _markdown_section(section, 2)
    return "\n\n".join(filter(None, parts)) + "\n"


def _markdown_section(section: Section, level: int) -> Iterator[str]:
    if section.title and (section.short or not section.id):
        yield f"{'#' * level} {sentence(section.title, _inline, lambda words: _inline(plain_symbols(words)))}"
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
            pairs = [(_term(word), markdown_text(plain_symbols(word.meaning))) for word in part.words]
            return "\n".join(f"- **{a}**: {b}" for a, b in pairs)
        case Code():
            return markdown_call(part.text)
        case Drawing():
            return f"![{markdown_text(plain_symbols(part.words))}]({part.path})"
        case Table():
            foot = [markdown_text(plain_symbols(below))] if (below := part.block.below()) else []
            return "\n\n".join(["\n".join(_markdown_rows(part.block)), *foot])
    raise TypeError(f"no part of a text: {part!r}")


def _term(word: Word) -> str:
    return markdown_text(word.term if word.is_name else plain_symbols(word.term))


def markdown_call(call: str) -> str:
    """A call, of the command line or of Python, as a block of code that its content cannot end."""
    language = "sh" if call.startswith("dreval ") else "python"
    text = "\n".join(printable(line) for line in call.splitlines())
    longest = max((len(run) for run in "".join(c if c == "`" else " " for c in text).split()), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _markdown_rows(block: Block) -> Iterator[str]:
    """A table; headings of rows are bold rows of one cell."""
    yield _markdown_row([_markdown_cell(name) for name in block.columns])
    yield _markdown_row([":--" if block.is_left(i) else "--:" for i in range(len(block.columns))])
    small = [all(isinstance(cell, Small) or not cell for cell in row) for row in block.rows]
    for row, below, left_out in zip(
        block.rows, [*zip(block.rows[1:], small[1:], strict=True), ((), False)], small, strict=True
    ):
        if left_out:  # it stands in the row above
            continue
        if len(row) == len(block.columns):
            more = below[0] if below[1] else [""] * len(row)
            pairs = zip(map(_markdown_cell, row), map(_markdown_cell, more), strict=True)
            yield _markdown_row([" ".join(filter(None, pair)) for pair in pairs])
        else:
            heading = f"**{markdown_text(plain_symbols(row[0]))}**"
            yield _markdown_row([heading, *[""] * (len(block.columns) - 1)])


def _markdown_cell(cell: str) -> str:
    text = markdown_text(plain_symbols(cell) if isinstance(cell, Words) else cell)
    return f"**{text}**" if isinstance(cell, Best) else text


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
