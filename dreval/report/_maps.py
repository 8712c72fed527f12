"""Which values a map shows: a measure at one number of neighbors, point by point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dreval._check import check_int, check_one_of
from dreval.errors import InputError
from dreval.records.results import Results, point_column
from dreval.report._column import Column
from dreval.report._panels import Scale
from dreval.report._reading import Reading, parameter

__all__ = ["chance_mark", "map_values", "mapped_column"]


def mapped_column(results: Results, reading: Reading, measure: str | None, n_neighbors: int | None) -> Column:
    """The column whose values per point a map shows."""
    having = [
        c for c in reading.columns if any(_point_values(results, c, name) is not None for name in reading.computed)
    ]
    if not having:
        raise InputError(
            "measure", "must have values for single points", "none", "Run a measure such as trustworthiness."
        )
    if measure is None:
        measure = "trustworthiness" if any(c.measure == "trustworthiness" for c in having) else having[0].measure
    elif any(c.measure == measure for c in reading.columns) and not any(c.measure == measure for c in having):
        listed = ", ".join(sorted({c.measure for c in having}))
        raise InputError("measure", "must have values for single points", repr(measure), f"Those that have: {listed}.")
    check_one_of(measure, {c.measure for c in having}, "measure")
    family = [c for c in having if c.measure == measure]
    if n_neighbors is None:
        main = [c for c in family if c in reading.main]
        return (main or family)[0]
    wanted = str(check_int(n_neighbors, "n_neighbors", low=1))
    found = [c for c in family if parameter(c.parameters, "n_neighbors") == wanted]
    if not found:
        ran = ", ".join(parameter(c.parameters, "n_neighbors") or "none" for c in family)
        raise InputError("n_neighbors", "must be one that was run", wanted, f"{measure} was run at: {ran}.")
    return found[0]


def chance_mark(column: Column, scale: Scale) -> tuple[float | None, str]:
    """Where the value by chance lies on the bar of a map (0 the worse end, 1 the better), and the words beside it."""
    if not column.chance:
        return None, ""
    low, high = column.chances[0], column.chances[-1]
    if not scale.low <= low <= high <= scale.high:
        side = "worse" if column.better(scale.low if column.higher else scale.high, (low + high) / 2) else "better"
        beyond = high < scale.low or low > scale.high
        return None, f"by chance {column.chance}" + (f", beyond the {side} end" if beyond else "")
    share = ((low + high) / 2 - scale.low) / (scale.high - scale.low)
    return (share if scale.higher else 1.0 - share), f"mark: by chance {column.chance}"


def _point_values(results: Results, column: Column, name: str) -> Any:
    """Values of the points of one embedding, or None."""
    frame = results.points.get(name)
    key = point_column(column.measure, column.parameters)
    if frame is None or key not in frame.columns or len(frame) != len(results.embeddings.get(name, ())):
        return None
    return frame[key].to_numpy(dtype=np.float64)


def map_values(results: Results, names: Sequence[str], column: Column) -> dict[str, Any]:
    """Values of the points of each embedding; missing ones where an embedding has none."""
    found = {name: _point_values(results, column, name) for name in names}
    return {
        name: np.full(len(results.embeddings[name]), np.nan) if values is None else values
        for name, values in found.items()
    }
