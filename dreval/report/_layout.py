"""How a report is laid out where there is much of it: which way the first table lies, and what a card folds away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dreval.report.words import Verdict

__all__ = ["folded", "is_turned", "table_parts"]

TURNED_ABOVE = 9  # with more indices (these are the default ones) they are the rows of the first table
DOZEN = 12  # sentences that a card says at once: the lead, what holds, what does not, and the comparison
SAID = 8  # of one that has more, the first ones; the rest would be a wall of words
LEAST = 4  # of them at least so many on what holds and what does not


def is_turned(indices: int, embeddings: int) -> bool:
    """Whether indices are the rows of the first table, and embeddings its columns."""
    return indices > max(TURNED_ABOVE, embeddings)


def table_parts(
    heads: Sequence[Any], rows: Sequence[Mapping[str, Any]], chances: Sequence[Any], subjects: Sequence[tuple[str, int]]
) -> list[dict[str, Any]]:
    """The first table with its indices as rows: for each subject its lines, each with the cells of all embeddings."""
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


def folded(said: Verdict) -> dict[str, Any]:
    """What a card says at once of what holds, what does not and what is missing, and what it folds away."""
    besides = 1 + len(said.standing)
    whole = besides + len(said.trust) + len(said.doubt) <= DOZEN
    room = DOZEN if whole else max(SAID - besides, LEAST)
    doubts = min(len(said.doubt), max(room // 2, room - len(said.trust)))
    trusts = room - doubts
    rest = {"trust": said.trust[trusts:], "doubt": said.doubt[doubts:], "missing": () if whole else said.missing}
    shown = {"trust": said.trust[:trusts], "doubt": said.doubt[:doubts], "missing": said.missing if whole else ()}
    return {**shown, "rest": rest, "more": sum(map(len, rest.values()))}
