"""A document as GitHub-flavored Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dreval._text import printable
from dreval.report.document import (
    Answers,
    Cell,
    Code,
    Document,
    FigureFile,
    Items,
    Paragraph,
    Part,
    Section,
    Table,
    TermEntry,
    Terms,
    text_parts,
)
from dreval.report.render.markup import markdown_text, plain_symbols, sentence


def markdown_sentence(text: str) -> str:
    """Return a sentence of this package in Markdown."""
    return sentence(text, lambda name: f"**{_inline(name)}**", lambda text_part: _inline(plain_symbols(text_part)))


def _inline(text: str) -> str:
    """Return text within a line: blanks at its ends stay."""
    return f"{' ' * text[:1].isspace()}{markdown_text(text)}{' ' * (text[-1:].isspace() and bool(text.strip()))}"


def markdown(document: Document) -> str:
    """Return the whole content as GitHub-flavored Markdown."""
    level = 1 if any(isinstance(part, Section) for part in document.parts) else 2
    parts = [f"{'#' * level} {markdown_text(document.title)}", "  \n".join(map(markdown_text, document.about))]
    parts += _parts(text_parts(document.parts), level + 1)
    return "\n\n".join(filter(None, parts)) + "\n"


def markdown_table(table: Table, level: int = 3) -> str:
    """Return one table with its title as a heading, and the text below it."""
    title = f"{'#' * level} {markdown_text(plain_symbols(table.heading))}" if table.heading else ""
    below = [markdown_text(plain_symbols(table.text_below()))]
    below += [f"({footnote.letter}) {markdown_text(footnote.text)}" for footnote in table.footnotes]
    return "\n\n".join(filter(None, [title, "\n".join(_rows(table)), "  \n".join(filter(None, below))]))


def _parts(parts: Iterable[Part], level: int) -> Iterator[str]:
    """Yield the parts; headings of sections and tables have this level."""
    for part in parts:
        match part:
            case Section():
                title = sentence(part.title, _inline, lambda text_part: _inline(plain_symbols(text_part)))
                yield f"{'#' * level} {title}" if part.title and (part.short or not part.id) else ""
                yield from _parts(part.parts, level + 1)
            case Table():
                yield markdown_table(part, level)
            case Paragraph():
                is_plain = part.is_plain
                yield part.text if part.written else (markdown_text if is_plain else markdown_sentence)(part.text)
            case Items():
                write = markdown_text if part.numbered else markdown_sentence
                items = map(write, part.items)
                yield "\n".join(f"{i}. {item}" if part.numbered else f"- {item}" for i, item in enumerate(items, 1))
            case Answers():
                pairs = [(markdown_text(question), markdown_sentence(text)) for question, text in part.lines]
                yield "\n".join(f"- **{question}:** {answer}" for question, answer in pairs)
            case Terms():
                is_header = part.style == "header"
                pairs = [(_term(entry), _escape(entry.meaning, not is_header)) for entry in part.entries]
                yield "\n".join(f"- **{term}{':** ' if is_header else '**: '}{meaning}" for term, meaning in pairs)
            case Code():
                yield markdown_call(part.text)
            case FigureFile():
                yield f"![{markdown_text(plain_symbols(part.caption))}]({part.path})"


def _term(entry: TermEntry) -> str:
    return _escape(entry.term, not entry.is_name)


def markdown_call(call: str) -> str:
    """Return a call, of the command line or of Python, as a block of code that its content cannot end."""
    language = "sh" if call.startswith("dreval ") else "python"
    text = "\n".join(printable(line) for line in call.splitlines())
    longest = max((len(run) for run in "".join(c if c == "`" else " " for c in text).split()), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _rows(table: Table) -> Iterator[str]:
    """Yield the rows of a table; headings of rows are bold rows of one cell."""
    n_columns = len(table.columns)
    yield _row([_escape(column.title, not column.is_name) for column in table.columns], n_columns)
    yield _row([":--" if table.is_left(i) else "--:" for i in range(n_columns)], n_columns)
    for heading, rows in table.sections:
        if heading:
            yield _row([f"**{_cell(heading)}**"], n_columns)
        yield from (_row(list(map(_cell, row)), n_columns) for row in rows)
    if table.foot_row:
        yield _row(list(map(_cell, table.foot_row)), n_columns)


def _escape(text: str, has_symbols: bool) -> str:
    return markdown_text(plain_symbols(text) if has_symbols else text)


def _cell(cell: Cell) -> str:
    text, small = (_escape(text, cell.kind == "text") for text in (cell.main_text, cell.small_print))
    return " ".join(filter(None, [f"**{text}**" if cell.emphasis == "best" else text, small]))


def _row(cells: Sequence[str], n_columns: int) -> str:
    return f"| {' | '.join([*cells, *[''] * (n_columns - len(cells))])} |"
