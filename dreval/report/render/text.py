"""A printed result as plain text, for a terminal of 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from dreval.glossary import WIDE_MARK, pad_wide_characters, printable
from dreval.report.document import BEST_MARK, CODES, MIN_NAME_COLUMNS, TERMINAL_COLUMNS, TEXT_COLUMNS, DocumentParts
from dreval.report.format import shorten_middle, shorten_table_names
from dreval.report.render.markup import plain_symbols, sentence

CALL_LINES = 5  # of a longer call the middle is left out
WRAP_OPTIONS: Any = {"break_on_hyphens": False}


def text(content: DocumentParts) -> str:
    """Return plain text, for a terminal of 80 columns; the middle of a long call is left out.

    Names that do not fit in a table are shortened too, with a key below the tables.
    """
    pairs = [(name, value) for name, value in content.header if value]
    lines = [
        line
        for line_text in content.about
        for line in textwrap.wrap(pad_wide_characters(printable(line_text)), TEXT_COLUMNS)
    ]
    if pairs or not content.about:
        half = (len(pairs) + 1) // 2
        left, right = pairs[:half], [*pairs[half:], ("", "")][:half]
        lines += [
            *(line.center(TEXT_COLUMNS).rstrip() for line in textwrap.wrap(content.title, TEXT_COLUMNS)),
            "=" * TEXT_COLUMNS,
        ]
        lines += [f"{_header_pair(*a)}  {_header_pair(*b)}".rstrip() for a, b in zip(left, right, strict=True)]
    if content.call:
        lines += ["", "Call:", *_call_lines(content.call)]
    lines += [""] if content.findings else []
    for line_text in content.findings:
        lines += textwrap.wrap(
            pad_wide_characters(sentence(line_text, text_part=plain_symbols)), TEXT_COLUMNS, **WRAP_OPTIONS
        )
    tables, short = shorten_table_names(
        content.tables, [table.name_width(TERMINAL_COLUMNS - 2 * table.sectioned) for table in content.tables]
    )
    for table in tables:
        lines += ["", *textwrap.wrap(plain_symbols(table.title), TEXT_COLUMNS), *table.lines(TERMINAL_COLUMNS)]
        lines += ["---"] if table.foot == CODES else []
        lines += textwrap.wrap(plain_symbols(table.below(BEST_MARK)), TEXT_COLUMNS)
    lines += ["", "Names", *_key_lines(short)] if short else []
    lines += [""] if content.after else []
    for line_text in content.after:
        lines += textwrap.wrap(pad_wide_characters(printable(line_text)), TEXT_COLUMNS, **WRAP_OPTIONS)
    if content.notes:
        lines += [""] if content.about else ["", "Notes"]
        for i, note in enumerate(content.notes, 1):
            note_text = pad_wide_characters(printable(note))
            lines += textwrap.wrap(note_text, TEXT_COLUMNS, initial_indent=f"[{i}] ", subsequent_indent="    ")
    lines += textwrap.wrap(content.further, TEXT_COLUMNS, **WRAP_OPTIONS)
    return printable("\n".join(lines).replace(WIDE_MARK, ""), keep="\n")


def _call_lines(call: str) -> list[str]:
    """Return the call, indented; the middle of a long one is left out."""
    lines: list[str] = []
    for line in printable(call, keep="\n").splitlines():
        indents = {"initial_indent": "  ", "subsequent_indent": "    ", "break_on_hyphens": False}
        lines += textwrap.wrap(pad_wide_characters(line), TEXT_COLUMNS, **indents)  # type: ignore[arg-type]
    tail = CALL_LINES // 2
    return lines if len(lines) <= CALL_LINES else [*lines[: CALL_LINES - tail - 1], "    ...", *lines[-tail:]]


def _key_lines(short: Mapping[str, str]) -> Iterator[str]:
    """Yield the full name of each short form."""
    for form, name in short.items():
        key_text = pad_wide_characters(printable(f"{form}: {name}"))
        indents = {"initial_indent": "  ", "subsequent_indent": "    ", "break_on_hyphens": False}
        yield from textwrap.wrap(key_text, TEXT_COLUMNS, **indents)  # type: ignore[arg-type]


def _header_pair(name: str, value: str) -> str:
    """Return a name and its value at the two ends of half a line."""
    half = TEXT_COLUMNS // 2 - 1
    title = f"{shorten_middle(name, half - MIN_NAME_COLUMNS - 2)}:"
    columns = half - len(title) - 1
    return (
        f"{title} {pad_wide_characters(shorten_middle(printable(value), columns)):>{columns}}" if name else " " * half
    )
