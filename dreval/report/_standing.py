"""Who is ahead: the table of mean ranks over data sets that the reports of studies and comparisons share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dreval.records.comparison import Comparison
from dreval.report._numbers import in_words, ordered

__all__ = ["ABSENT", "HeatCell", "leading", "measure_words", "rank_lines"]

ABSENT = "—"


@dataclass(frozen=True)
class HeatCell:
    """One cell of a heat map as it is printed; ``shade`` runs from 0, the worst, to 1."""

    text: str = ABSENT
    sd: str = ""
    letters: str = ""
    best: bool = False
    shade: float = 0.0
    note: str = ""


def rank_lines(found: Comparison, names: Sequence[str], methods: Sequence[str]) -> list[dict[str, Any]]:
    """Mean ranks over data sets: a line for each method, the best first, with a cell for each measure."""
    lines = []
    for method in methods:
        ranks = [_mean_rank(found, name, method) for name in names]
        known = [rank for rank in ranks if not math.isnan(rank)]
        cells = [_rank_cell(found, name, method, rank) for name, rank in zip(names, ranks, strict=True)]
        lines.append({"method": method, "cells": cells, "mean": sum(known) / len(known) if known else math.inf})
    lines.sort(key=lambda line: line["mean"])
    return lines


def _mean_rank(found: Comparison, name: str, method: str) -> float:
    """The mean rank of one method by one measure; NaN where there is none."""
    standing = found.of(found.standing, name)
    mine = standing.loc[standing["embedding"] == method, "mean_rank"]
    return float(mine.iloc[0]) if len(mine) else math.nan


def _rank_cell(found: Comparison, name: str, method: str, rank: float) -> HeatCell:
    """The mean rank as it is printed, with the letters of the method."""
    if math.isnan(rank):
        return HeatCell()
    standing = found.of(found.standing, name)
    k, letters = len(standing), standing.loc[standing["embedding"] == method, "letters"].iloc[0]
    shade = round((k - rank) / (k - 1), 3) if k > 1 else 0.0
    return HeatCell(f"{rank:.2f}", letters=str(letters), best=rank == standing["mean_rank"].min(), shade=shade)


def leading(lines: Sequence[dict[str, Any]], measures: Sequence[str]) -> str:
    """Who has the best mean rank by how many measures, in a sentence."""
    ahead = {}
    for line in lines:
        names = [measure for measure, cell in zip(measures, line["cells"], strict=True) if cell.best]
        if names:
            ahead[line["method"]] = names[0] if len(names) == 1 else f"{in_words(len(names))} measures"
    if not ahead:
        return ""
    return f"Best mean rank: {ordered([f'{name} on {what}' for name, what in ahead.items()])}."


def measure_words(found: Comparison, name: str) -> str:
    """The paragraph on one measure."""
    return found.paragraph().split("\n\n")[found.measures.index(name)]
