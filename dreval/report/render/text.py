"""A printed result as plain text, for a terminal of 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from dreval.glossary import MARK, printable, spread
from dreval.report.document import CODES, LEAST, STAR, TERMINAL, WIDTH, Content
from dreval.report.format import in_short, shortened
from dreval.report.render.markup import plain_symbols, sentence

CALL_LINES = 5  # of a longer call the middle is left out
SAID: Any = {"break_on_hyphens": False}


def text(content: Content) -> str:
    """Plain text, for a terminal of 80 columns; of a long call the middle is left out.

    So it is of names where a table has no room for them; what they stand for is said below the tables.
    """
    pairs = [(name, value) for name, value in content.header if value]
    lines = [line for one in content.about for line in textwrap.wrap(spread(printable(one)), WIDTH)]
    if pairs or not content.about:
        half = (len(pairs) + 1) // 2
        left, right = pairs[:half], [*pairs[half:], ("", "")][:half]
        lines += [*(line.center(WIDTH).rstrip() for line in textwrap.wrap(content.title, WIDTH)), "=" * WIDTH]
        lines += [f"{_pair(*a)}  {_pair(*b)}".rstrip() for a, b in zip(left, right, strict=True)]
    if content.call:
        lines += ["", "Call:", *_call_lines(content.call)]
    lines += [""] if content.said else []
    for one in content.said:
        lines += textwrap.wrap(spread(sentence(one, words=plain_symbols)), WIDTH, **SAID)
    blocks, short = in_short(content.blocks, [block.room(TERMINAL - 2 * block.sectioned) for block in content.blocks])
    for block in blocks:
        lines += ["", *textwrap.wrap(plain_symbols(block.title), WIDTH), *block.lines(TERMINAL)]
        lines += ["---"] if block.foot == CODES else []
        lines += textwrap.wrap(plain_symbols(block.below(STAR)), WIDTH)
    lines += ["", "Names", *_key_lines(short)] if short else []
    lines += [""] if content.after else []
    for one in content.after:
        lines += textwrap.wrap(spread(printable(one)), WIDTH, **SAID)
    if content.notes:
        lines += [""] if content.about else ["", "Notes"]
        for i, note in enumerate(content.notes, 1):
            said = spread(printable(note))
            lines += textwrap.wrap(said, WIDTH, initial_indent=f"[{i}] ", subsequent_indent="    ")
    lines += textwrap.wrap(content.more, WIDTH, **SAID)
    return printable("\n".join(lines).replace(MARK, ""), keep="\n")


def _call_lines(call: str) -> list[str]:
    """The call, indented; of a long one the middle is left out."""
    lines: list[str] = []
    for line in printable(call, keep="\n").splitlines():
        look = {"initial_indent": "  ", "subsequent_indent": "    ", "break_on_hyphens": False}
        lines += textwrap.wrap(spread(line), WIDTH, **look)  # type: ignore[arg-type]
    tail = CALL_LINES // 2
    return lines if len(lines) <= CALL_LINES else [*lines[: CALL_LINES - tail - 1], "    ...", *lines[-tail:]]


def _key_lines(short: Mapping[str, str]) -> Iterator[str]:
    """What each short form stands for."""
    for form, whole in short.items():
        said = spread(printable(f"{form}: {whole}"))
        look = {"initial_indent": "  ", "subsequent_indent": "    ", "break_on_hyphens": False}
        yield from textwrap.wrap(said, WIDTH, **look)  # type: ignore[arg-type]


def _pair(name: str, value: str) -> str:
    """A name and its value at the two ends of half a line."""
    half = WIDTH // 2 - 1
    said = f"{shortened(name, half - LEAST - 2)}:"
    room = half - len(said) - 1
    return f"{said} {spread(shortened(printable(value), room)):>{room}}" if name else " " * half
