"""Names of embeddings where there is little room: short, and still told apart."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable
from typing import Any

from dreval.glossary import terminal_width
from dreval.report.render.markup import printable
from dreval.report.render.short import shortened

__all__ = ["breadth", "short_name", "short_names"]

_BROAD = frozenset("MWmw@%—…")


def breadth(text: str) -> float:
    """How much room a text takes, in letters of average width."""
    wide = sum(0.7 for c in text if unicodedata.east_asian_width(c) in "WF")
    return len(text) + wide + sum(0.4 for c in text if c in _BROAD or c.isupper())


def short_name(name: Any, room: int = 22) -> str:
    """A name that takes the room of ``room`` letters of average width at most; its middle is left out."""
    text = printable(name)
    made = text
    for length in range(min(terminal_width(text), room), 4, -1):
        made = shortened(text, length)
        if breadth(made) <= room:
            break
    return made


def short_names(names: Iterable[str], room: int = 22) -> dict[str, str]:
    """Short forms of all names, no two the same: where only their middles differ, the middles are shown."""
    short = {name: short_name(name, room) for name in names}
    for form in _repeated(short):
        group = [name for name in short if short[name] == form]
        whole = {name: printable(name) for name in group}
        start = _alike(list(whole.values()), 1)
        end = min(_alike([text[::-1] for text in whole.values()], -1), min(map(len, whole.values())) - start)
        head = min(room // 4, start)
        for name, text in whole.items():
            middle = short_name(text[start : len(text) - end], room - head - 2)
            before = f"{text[:head]}…" if start > head else text[:start]
            short[name] = f"{before}{middle}{'…' if end and middle else ''}"
    for text in _repeated(short):
        for place, name in enumerate(short):
            if short[name] == text:
                short[name] = f"{place + 1}: {short_name(name, room - 4)}"
    return short


def _repeated(short: dict[str, str]) -> list[str]:
    """Forms that more than one name has."""
    return [text for text, count in Counter(short.values()).items() if count > 1]


def _alike(texts: list[str], step: int) -> int:
    """How many letters all texts begin with alike, up to the end of a word; of texts turned round with step -1."""
    columns = enumerate(zip(*texts, strict=False))
    count = next((i for i, letters in columns if len(set(letters)) > 1), min(map(len, texts)))
    word = max(texts[0].rfind(mark, 0, count) for mark in "_- /") + 1
    return max(word - (step < 0), 0) if count - word <= 12 else count
