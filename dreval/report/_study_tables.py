"""The tables of a study for LaTeX: mean ranks, every measure on every data set, and how far it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dreval.report._beside import Beside
from dreval.report.document import Best, Block, Small

__all__ = ["study_tables"]


def study_tables(page: Mapping[str, Any], beside: Beside) -> dict[str, Any]:
    """The tables of a report, saved beside it."""
    standing = page["standing"]
    ranks = beside.table(_standing(standing), "mean-ranks", "Mean ranks over the data sets") if standing else ""
    parts = [beside.table(_part(part), part["title"], _title(part)) for part in page["parts"]]
    names = page["state_names"]
    rows = [[row["dataset"], row["method"], *map(str, row["counts"]), row["seconds"]] for row in page["states"]]
    states = Block("", ["data set", "method", *names, "computing"], rows, names=2)
    return {"standing": ranks, "parts": parts, "states": beside.table(states, "cells", "Cells of the study")}


def _title(part: Mapping[str, Any]) -> str:
    return ", ".join(filter(None, [part["title"], part["below"]]))


def _standing(standing: Mapping[str, Any]) -> Block:
    """Measures down, methods across: there are more of those."""
    rows: list[list[str]] = []
    for place, head in enumerate(standing["heads"]):
        cells = [line["cells"][place] for line in standing["lines"]]
        rows.append([head["title"], *map(_cell, cells)])
        small = [head["below"], *(cell.letters for cell in cells)]
        rows += [[Small(text) for text in small]] if any(small) else []
    return Block("", ["", *(line["method"] for line in standing["lines"])], rows)


def _part(part: Mapping[str, Any]) -> Block:
    """One measure: data sets down, methods across, with the standard deviations in small print."""
    rows: list[list[str]] = []
    for line in part["lines"]:
        rows.append([line["dataset"], *map(_cell, line["cells"])])
        rows += [["", *(Small(cell.sd) for cell in line["cells"])]] if line["sd"] else []
    return Block("", ["", *part["methods"]], rows)


def _cell(cell: Any) -> str:
    return Best(cell.text) if cell.best else str(cell.text)
