"""How a report is laid out: which way the first table lies, and how many cards or embeddings stand in a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["balanced", "is_turned", "table_parts"]

TURNED_ABOVE = 9  # with more measures (these are the default ones) they are the rows of the first table


def is_turned(measures: int, embeddings: int) -> bool:
    """Whether measures are the rows of the first table, and embeddings its columns."""
    return measures > max(TURNED_ABOVE, embeddings)


def table_parts(
    heads: Sequence[Any], rows: Sequence[Mapping[str, Any]], chances: Sequence[Any], subjects: Sequence[tuple[str, int]]
) -> list[dict[str, Any]]:
    """The first table with its measures as rows: for each subject its lines, each with the cells of all embeddings."""
    columns = [row["cells"] or [None] * len(heads) for row in rows]
    lines = [
        {"head": head, "chance": chance, "cells": cells}
        for head, chance, *cells in zip(heads, chances, *columns, strict=True)
    ]
    parts, begin = [], 0
    for subject, count in subjects or [("", len(lines))]:
        parts.append({"subject": subject, "lines": lines[begin : begin + count]})
        begin += count
    return parts


def balanced(count: int, wide: int, mid: int) -> dict[str, int]:
    """How many of ``count`` things stand in a row of a wide and of a narrower page, so that rows are nearly full.

    Examples
    --------
    >>> balanced(5, 5, 3), balanced(6, 5, 3), balanced(7, 5, 3)
    ({'wide': 5, 'mid': 3}, {'wide': 3, 'mid': 3}, {'wide': 4, 'mid': 3})
    """
    return {"wide": _columns(count, wide), "mid": _columns(count, mid)}


def _columns(count: int, most: int) -> int:
    """The fewest columns that need no more rows than ``most`` columns do."""
    rows = -(-max(count, 1) // most)
    return -(-max(count, 1) // rows)
