"""What a study has found, in the form that its report reads: every measure as a heat map of data sets and methods."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dreval.records.results import point_column
from dreval.report._column import Column
from dreval.report._numbers import fixed, half_width
from dreval.report._reading import make_column, parameter_words, without
from dreval.report._standing import HeatCell

__all__ = ["Family", "StudyReading", "read_study"]

ROUNDING = 1e-12  # what is smaller is 0: values, and the spread of replicates beside them
COMPONENTS = "n_components"


@dataclass(frozen=True)
class Family:
    """One measure at one setting: its words, and a row for each data set."""

    key: str
    column: Column
    components: str
    rows: tuple[dict[str, Any], ...]

    @property
    def below(self) -> str:
        """What stands under its title."""
        better = "" if self.column.higher and self.column.ranks else self.column.better_words
        said = [parameter_words(self.column.parameters), self.components, better]
        return ", ".join(filter(None, said))


@dataclass(frozen=True)
class StudyReading:
    """A study, read: its methods in order, and its measures."""

    methods: tuple[str, ...]
    families: tuple[Family, ...]


def read_study(table: pd.DataFrame, recipe: Mapping[str, Any]) -> StudyReading:
    """Means over replicates of every measure, data set and method; failures keep their reasons."""
    methods = tuple(name for name in recipe["methods"] if (table["embedding"] == name).any())
    table = table[(table["test"] == "") & (table["measure"] != "")]
    families = []
    for (measure, parameters), rows in table.groupby(["measure", "parameters"], sort=False):
        families.append(_family(str(measure), str(parameters), rows, methods, list(recipe["datasets"])))
    return StudyReading(methods, tuple(families))


def _family(
    measure: str, parameters: str, rows: pd.DataFrame, methods: Sequence[str], datasets: Sequence[str]
) -> Family:
    """One measure over all data sets."""
    means = [row for row in rows.to_dict("records") if math.isfinite(row["value"])]
    shown = [{**row, "embedding": i, "value": _settled(row["value"])} for i, row in enumerate(means)]
    whole = make_column(measure, without(parameters, COMPONENTS), shown)
    made = [
        _dataset_line(whole, name, rows[rows["dataset"] == name], methods)
        for name in datasets
        if (rows["dataset"] == name).any()
    ]
    said = [part.strip() for part in parameters.split(",") if part.strip().startswith(f"{COMPONENTS}=")]
    components = said[0].replace(f"{COMPONENTS}=", "d = ") if said else ""
    return Family(point_column(measure, parameters), whole, components, tuple(made))


def _settled(value: float) -> float:
    """The value, where it is more than what rounding leaves of 0; this would take more places than there is room."""
    return value if abs(value) > ROUNDING else 0.0


def _dataset_line(whole: Column, dataset: str, rows: pd.DataFrame, methods: Sequence[str]) -> dict[str, Any]:
    """One data set: a cell for each method, shaded from its worst to its best."""
    means = rows.groupby("embedding")["value"].mean()
    spread = rows.groupby("embedding")["value"].std()
    notes = rows[rows["value"].isna()].groupby("embedding")["note"].first()
    known = rows.drop_duplicates("embedding").assign(value=lambda frame: frame["embedding"].map(means))
    column = make_column(
        whole.measure, whole.parameters, known.assign(conf_low=math.nan, conf_high=math.nan).to_dict("records")
    )
    cells = []
    for method in methods:
        value, sd = float(means.get(method, math.nan)), float(spread.get(method, math.nan))
        if math.isnan(value):
            cells.append(HeatCell(note=str(notes.get(method, ""))))
            continue
        said = half_width(value, value - sd, value + sd, whole.places) if sd > abs(value) * ROUNDING else ""
        best, shade = _is_best(column, whole, means, value), round(column.shade(method), 3)
        cells.append(HeatCell(fixed(value, whole.places), said, best=best, shade=shade))
    return {"dataset": dataset, "cells": cells, "sd": any(cell.sd for cell in cells)}


def _is_best(column: Column, whole: Column, means: Any, value: float) -> bool:
    """Whether a value prints as the best of its data set, where not all print alike."""
    printed = {fixed(float(mean), whole.places) for mean in means.dropna()}
    if math.isnan(value) or not column.ranks or len(printed) < 2:
        return False
    top = means.max() if column.higher else means.min()
    return fixed(value, whole.places) == fixed(float(top), whole.places)
