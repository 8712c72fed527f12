"""What the page of a comparison shows: who is ahead, every measure with its figure and words, and all pairs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from dreval.errors import InputError
from dreval.records.comparison import Comparison
from dreval.report._cautions import measure_words_of
from dreval.report._column import Cell, Column
from dreval.report._numbers import counted, fixed, probability
from dreval.report._paired import pair_rows, posterior_rows
from dreval.report._reading import make_column, parameter_words
from dreval.report._standing import ABSENT, HeatCell, leading, measure_words, rank_lines
from dreval.report._svg import inline_svg
from dreval.report._tested import ADJUSTMENTS
from dreval.report.contents.comparison import OVERALL_TITLES, direction_of, letter_words
from dreval.report.figures.forest import forest_words
from dreval.report.plot import draw_comparison

__all__ = ["comparison_page"]

FIGURES: dict[bool, tuple[str, str, dict[str, bool]]] = {
    True: ("critical_difference", "Mean ranks", {}),
    False: ("forest", "Advantages of all pairs", {"explained": False}),
}
MAX_FIGURES = 12


def comparison_page(found: Comparison) -> dict[str, Any]:
    """The parts of the page that a text does not have, by the names of its template."""
    columns = {name: _column(found, name) for name in found.measures}
    names = list(dict.fromkeys(found.standing["embedding"]))
    across = bool(found.families)
    lines = rank_lines(found, found.measures, names) if across else _value_lines(found, columns, names)
    parts = list(_parts(found, columns))
    said = leading(lines, [column.named for column in columns.values()])
    return {
        "meta": _meta(found),
        "across": across,
        "standing": {
            "heads": [{"title": column.title, "below": _below(column)} for column in columns.values()],
            "lines": lines,
            "said": said if across else said.replace("Best mean rank", "Best value"),
            "letters": letter_words(found),
        },
        "parts": parts,
        "overall": _overall(found, columns),
        "pairs": pair_rows(found),
        "posterior": posterior_rows(found),
        "rope": f"{found.recipe['rope'] or 0:g}",
        "marks": "" if across or not any(part["figure"] for part in parts) else forest_words(found),
        "glossary": [measure_words_of(column) for column in columns.values()],
    }


def _meta(found: Comparison) -> str:
    """What was compared, in one line."""
    recipe = found.recipe
    n = max((len(family.cells) for family in found.families.values()), default=0)
    size = counted(n, "data set") if n else counted(int(recipe.get("n") or 0), "point")
    adjust = recipe["adjust"]
    by = "p not adjusted" if adjust == "nothing" else f"p adjusted by {ADJUSTMENTS.get(adjust, adjust)}"
    return " · ".join([size, f"level {recipe['alpha']:g}", by])


def _column(found: Comparison, name: str) -> Column:
    """The values of one measure on one data set, or its means over several."""
    rows = found.of(found.standing, name)
    empty = {"conf_low": math.nan, "conf_high": math.nan, "chance": math.nan, "worst": math.nan, "best": math.nan}
    known = {"note": "", "direction": direction_of(found, name), "lower": math.nan, "upper": math.nan, **empty}
    made = [{**row, **known} for row in rows.to_dict("records")]
    return make_column(str(rows["measure"].iloc[0]), str(rows["parameters"].iloc[0]), made)


def _below(column: Column) -> str:
    """What stands under the title of a measure."""
    return ", ".join(filter(None, [parameter_words(column.parameters), "" if column.higher else column.better_words]))


def _value_lines(found: Comparison, columns: dict[str, Column], names: Sequence[str]) -> list[dict[str, Any]]:
    """Values on one data set: a line for each embedding, with a cell and its letters for each measure."""
    letters = {name: found.of(found.standing, name).set_index("embedding")["letters"] for name in columns}
    return [
        {"method": one, "cells": [_value_cell(c, one, letters[name].get(one, "")) for name, c in columns.items()]}
        for one in names
    ]


def _value_cell(column: Column, name: str, letters: str) -> HeatCell:
    """One value as it is printed."""
    if name not in column.values:
        return HeatCell()
    text, shade = column.shown(column.values[name]), round(column.shade(name), 3)
    return HeatCell(text, letters=str(letters), best=name in column.leaders, shade=shade)


def _parts(found: Comparison, columns: dict[str, Column]) -> Iterator[dict[str, Any]]:
    """One part for each measure: its words, its figure and, over data sets, its values."""
    for number, (name, column) in enumerate(columns.items()):
        family = found.families.get(name)
        yield {
            "title": column.title,
            "below": _below(column),
            "question": column.question,
            "words": measure_words(found, name),
            "figure": _figure(found, name, column, number) if number < MAX_FIGURES else "",
            "methods": family.names if family is not None else [],
            "lines": _dataset_lines(column, family.cells) if family is not None else [],
        }


def _figure(found: Comparison, name: str, column: Column, number: int) -> str:
    """Mean ranks over data sets, or the forest of one; nothing where the comparison has not what it takes."""
    kind, words, options = FIGURES[bool(found.families)]
    try:
        figure = draw_comparison(found, kind, measure=name, titled=False, **options)
    except InputError:
        return ""
    return inline_svg(figure, f"c{number}", f"{words} by {column.named}")


def _dataset_lines(column: Column, cells: pd.DataFrame) -> list[dict[str, Any]]:
    """One line for each data set, shaded from its worst to its best."""
    lines = []
    for dataset, values in cells.iterrows():
        own = replace(column, cells={str(name): Cell(float(value)) for name, value in values.items()})
        made = [_value_cell(own, str(name), "") for name in cells.columns]
        lines.append({"dataset": dataset, "cells": made})
    return lines


def _overall(found: Comparison, columns: dict[str, Column]) -> list[dict[str, str]]:
    """Tests of any difference, one row for each measure and test."""
    rows = []
    for name, column in columns.items():
        for row in found.of(found.overall, name).to_dict("records"):
            degrees = ", ".join(f"{row[key]:g}" for key in ("df", "df_denominator") if row[key] == row[key])
            value = float(row["statistic"])
            rows.append(
                {
                    "measure": ", ".join(filter(None, [column.title, parameter_words(column.parameters)])),
                    "test": OVERALL_TITLES[row["test"]],
                    "n": f"{int(row['n'])}",
                    "value": ABSENT if math.isnan(value) else fixed(value, 2),
                    "df": degrees,
                    "p": probability(float(row["p_value"])),
                    "p_sort": "" if math.isnan(row["p_value"]) else repr(float(row["p_value"])),
                    "note": row["note"],
                }
            )
    return rows
