"""The points of all embeddings of a page, so that its script can name the one that is pointed at."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dreval.records.results import Results
from dreval.report._column import Column
from dreval.report._panels import UNLABELED, place_points
from dreval.report._reading import Reading
from dreval.report.render.markup import printable

__all__ = ["point_data"]

MOST = 60_000  # points of all embeddings together; beyond, names would make the page heavy
STEPS = 1000  # of a side of an embedding
DIGITS = 3


def point_data(results: Results, reading: Reading, column: Column | None, values: Mapping[str, Any]) -> dict[str, Any]:
    """Names and classes of the points, and of each embedding their places and values; empty where there are too many."""
    names = list(reading.computed)
    if not names or len(names) * len(results.embeddings[names[0]]) > MOST:
        return {}
    classes, codes = _classes(results.labels)
    return {
        "ids": None if results.ids is None else [printable(one) for one in results.ids],
        "classes": classes,
        "codes": codes,
        "value": column.named.split("^")[0] if column else "",
        "panels": [
            {
                "name": printable(name),
                "place": reading.names.index(name),
                **_places(results.embeddings[name]),
                "v": _rounded(values[name]) if name in values else None,
            }
            for name in names
        ],
    }


def _classes(labels: Any) -> tuple[Sequence[str], Sequence[int] | None]:
    """The classes in the order of their first points, and the class of each point."""
    if labels is None:
        return [], None
    seen: dict[Any, int] = {}
    codes = [seen.setdefault(label, len(seen)) for label in labels.tolist()]
    return [UNLABELED if label is None else printable(label) for label in seen], codes


def _places(Y: Any) -> dict[str, list[int]]:
    """Where points lie, in steps from the upper left corner."""
    placed = place_points(Y)
    across, down = (placed[:, 0] + 1) / 2, (1 - placed[:, 1]) / 2
    return {key: np.rint(STEPS * part).astype(int).tolist() for key, part in (("x", across), ("y", down))}


def _rounded(values: Any) -> list[float | None]:
    """Values with three significant digits behind the first, to be short; None where there are none."""
    return [None if not math.isfinite(v) else float(f"{v:.{DIGITS}g}") for v in values.tolist()]
