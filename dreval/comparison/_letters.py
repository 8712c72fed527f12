"""Compact letter display: embeddings that share a letter do not differ significantly."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable

__all__ = ["letter_display", "single_letters"]


def letter_display(count: int, differing: Iterable[tuple[int, int]]) -> list[str]:
    """Letters of ``count`` things, in the order from the best; ``differing`` holds the pairs that differ.

    Insert and absorb (Piepho 2004, J. Comput. Graph. Stat. 13, 456-466): every column of letters begins with all
    things; for each pair that differs, a column that holds both is split into one without the first and one without the
    second, and columns within others are dropped. Two things share a letter exactly when the pair does not differ.
    O(pairs x columns x count).

    Examples
    --------
    >>> letter_display(3, [(0, 2)])
    ['a', 'ab', 'b']
    """
    columns = [frozenset(range(count))]
    for pair in differing:
        split: list[frozenset[int]] = []
        for column in columns:
            split += [column - {one} for one in pair] if column.issuperset(pair) else [column]
        columns = [c for i, c in enumerate(split) if not any(c < d or (c == d and i > j) for j, d in enumerate(split))]
    columns.sort(key=sorted)
    return ["".join(_letter(i) for i, column in enumerate(columns) if thing in column) for thing in range(count)]


def _letter(place: int) -> str:
    """Letters from a to z, then A to Z, then numbers in brackets."""
    return string.ascii_letters[place] if place < len(string.ascii_letters) else f"({place + 1})"


def single_letters(letters: str) -> list[str]:
    """The letters of one thing, apart.

    Examples
    --------
    >>> single_letters("ab(53)")
    ['a', 'b', '(53)']
    """
    return re.findall(r"\(\d+\)|[A-Za-z]", letters)
