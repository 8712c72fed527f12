"""Short forms of long names: different names keep different ones, and all tables of a summary have the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dreval.glossary import MARK, spread
from dreval.report.document import Block

__all__ = ["in_short", "shortened", "told_apart"]


def in_short(blocks: Sequence[Block], rooms: Sequence[int]) -> tuple[list[Block], dict[str, str]]:
    """The tables with names that fit, and what each short form in them stands for.

    The forms are made once, of all names of all tables and for the tightest of them, so that a form is one name
    wherever it stands; a table that has room for its names keeps them whole.
    """
    pairs = list(zip(blocks, rooms, strict=True))
    tight = [block for block, room in pairs if room < block.longest]
    if not tight:
        return list(blocks), {}
    short = told_apart(_free(blocks), min(room for block, room in pairs if room < block.longest))
    shown = [block.renamed(short) if room < block.longest else block for block, room in pairs]
    return shown, {short[whole]: whole for whole in dict.fromkeys(_free(tight)) if short[whole] != whole}


def _free(blocks: Sequence[Block]) -> list[str]:
    """The cells that may be shortened."""
    return [row[i] for block in blocks for row in block.cells for i in block.free]


def shortened(text: str, room: int) -> str:
    """The text without its middle, where it takes more columns of a terminal than there is room."""
    text = spread(text)
    tail = (room - 1) // 2
    made = text if len(text) <= room else f"{text[: room - 1 - tail]}…{text[len(text) - tail :].lstrip(MARK)}"
    return made.replace(MARK, "")


def told_apart(texts: Sequence[str], room: int) -> dict[str, str]:
    """Short forms of all texts, no two the same: where only middles differ these are shown, or a number.

    Examples
    --------
    >>> told_apart(["perplexity=30, seed=0, exact", "perplexity=50, seed=0, exact", "pca"], 12)
    {'perplexity=30, seed=0, exact': '…30, s…exact', 'perplexity=50, seed=0, exact': '…50, s…exact', 'pca': 'pca'}
    """
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
