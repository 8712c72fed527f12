"""Short forms of long names: different names keep different ones, in tables and in figures."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from dreval.glossary import MARK, printable, spread, terminal_width
from dreval.report.document import Block

ROOM = 60  # letters of a name on a page, but in its first table


def in_short(blocks: Sequence[Block], rooms: Sequence[int]) -> tuple[list[Block], dict[str, str]]:
    """The tables with names that fit, and what each short form in them stands for.

    The forms are made once, of all names of all tables and for the tightest of them, so that a form is one name
    wherever it stands; a table that has room for its names keeps them whole.
    """
    pairs = list(zip(blocks, rooms, strict=True))
    tight = [block for block, room in pairs if room < block.longest]
    if not tight:
        return list(blocks), {}
    short = distinct_short_names(
        [cell for block in blocks for cell in block.shortened],
        min(room for block, room in pairs if room < block.longest),
    )
    shown = [block.renamed(short) if room < block.longest else block for block, room in pairs]
    seen = dict.fromkeys(cell for block in tight for cell in block.shortened)
    return shown, {short[whole]: whole for whole in seen if short[whole] != whole}


def shortened(text: str, room: int) -> str:
    """The text without its middle, where it takes more columns of a terminal than there is room."""
    text = spread(text)
    tail = (room - 1) // 2
    made = text if len(text) <= room else f"{text[: room - 1 - tail]}…{text[len(text) - tail :].lstrip(MARK)}"
    return made.replace(MARK, "")


def _abbreviated(texts: Iterable[str], room: int, size: Callable[[str], float]) -> dict[str, str] | None:
    """All texts with the words of the long ones cut to as many letters as fit, numbers whole; None where none fit."""
    texts = list(texts)
    for letters, mark in ((7, "."), (6, "."), (5, "."), (4, "."), (3, "."), (3, "")):
        short = {text: text if size(text) <= room else _cut_words(text, letters, mark) for text in texts}
        if len(set(short.values())) == len(short) and all(size(made) <= room for made in short.values()):
            return short
    return None


def _cut_words(text: str, letters: int, mark: str) -> str:
    return re.sub(rf"[^\W\d_]{{{letters + 1 + len(mark)},}}", lambda word: f"{word[0][:letters]}{mark}", text)


def distinct_short_names(texts: Sequence[str], room: int) -> dict[str, str]:
    """Short forms of all texts, no two the same: with words cut, without what they have in common, or with a number.

    Examples
    --------
    >>> list(distinct_short_names(["perplexity=30, seed=0, exact", "perplexity=50, seed=0, exact"], 24).values())
    ['perpl.=30, seed=0, exact', 'perpl.=50, seed=0, exact']
    >>> distinct_short_names(["perplexity=30, seed=0, exact", "perplexity=50, seed=0, exact"], 12)
    {'perplexity=30, seed=0, exact': '…30, s…exact', 'perplexity=50, seed=0, exact': '…50, s…exact'}
    """
    if abbreviated := _abbreviated(texts, room, terminal_width):
        return abbreviated
    short = {text: shortened(text, room) for text in texts}
    for form in _repeated(short):
        group = [text for text in short if short[text] == form]
        letters = enumerate(zip(*group, strict=False))
        begin = next((i for i, some in letters if len(set(some)) > 1), min(map(len, group)))
        short |= {text: shortened(f"…{text[begin:]}", room) for text in group}
    again = _repeated(short)
    for place, text in enumerate(short, 1):
        if short[text] in again:
            short[text] = f"{place}: {shortened(text, room - len(str(place)) - 2)}"
    return short


def _repeated(short: dict[str, str]) -> list[str]:
    """Forms that more than one text has."""
    return [form for form, count in Counter(short.values()).items() if count > 1]


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
    """Short forms of all names, no two the same: with words cut, or where only middles differ, with these."""
    names = list(names)
    whole = {name: printable(name) for name in names}
    if len(set(whole.values())) == len(whole) and (abbreviated := _abbreviated(whole.values(), room, breadth)):
        return {name: abbreviated[text] for name, text in whole.items()}
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


def _alike(texts: list[str], step: int) -> int:
    """How many letters all texts begin with alike, up to the end of a word; of texts turned round with step -1."""
    columns = enumerate(zip(*texts, strict=False))
    count = next((i for i, letters in columns if len(set(letters)) > 1), min(map(len, texts)))
    word = max(texts[0].rfind(mark, 0, count) for mark in "_- /") + 1
    return max(word - (step < 0), 0) if count - word <= 12 else count
