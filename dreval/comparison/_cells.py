"""From one tidy table to families: a measure, its direction, and a value for each data set and embedding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from dreval._check import check_one_of, describe, nearest_name
from dreval.errors import InputError, UnknownName
from dreval.records.comparison import Family
from dreval.records.results import point_column
from dreval.registry import MEASURES

__all__ = ["families", "wanted_names"]

DIRECTIONS = ("higher", "lower")


def families(
    table: pd.DataFrame, measure: Any, direction: Any, names: Any = None, baseline: str | None = None
) -> list[Family]:
    """One family for each measure and setting that can be compared; refused when there is none.

    ``names``: the embeddings, all by default. A ``baseline`` comes last, so that it is the second of its pairs.
    """
    known = list(dict.fromkeys(table["embedding"]))
    wanted = list(dict.fromkeys(wanted_names(names, known, "names")))
    if baseline is not None:
        check_one_of(baseline, wanted, "baseline")
        order = {name: name == baseline for name in wanted}
        table = table.iloc[np.argsort([order.get(name, False) for name in table["embedding"]], kind="stable")]
    table = table[table["embedding"].isin(wanted)]
    if measure is None and direction is None:  # what only describes has no better end, and is compared on request
        table = table[~table["direction"].isin(["none", "zero"])]
    table = table[table["measure"].isin(wanted_names(measure, list(dict.fromkeys(table["measure"])), "measure"))]
    higher = _directions(table, direction)
    made, reasons = [], []
    for (name, parameters), rows in table.groupby(["measure", "parameters"], sort=False):
        family, reason = _family(str(name), str(parameters), higher[str(name)], rows)
        if family is not None:
            made.append(family)
        reasons.append(f"{point_column(str(name), str(parameters))}: {reason}")
    if not made:
        cure = "On one data set, `results.compare()` compares embeddings by their points."
        raise InputError("results", "must hold two embeddings on two data sets", "; ".join(reasons), cure)
    return made


def wanted_names(wanted: Any, known: list[str], argument: str) -> list[str]:
    """The names that are asked for, each known; all by default."""
    if wanted is None:
        return known
    if not isinstance(wanted, Iterable):
        raise InputError(argument, "must be names", describe(wanted), f"Known: {', '.join(known)}.")
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    for name in names:
        check_one_of(name, known, argument)
    if not names:
        raise InputError(argument, "must name something", "an empty list", "Leave it out for all.")
    return [name for name in known if name in names]


def _directions(table: pd.DataFrame, direction: Any) -> dict[str, bool]:
    """Whether high is good, for each measure: as given, else as the table says, else as the card says."""
    names = list(dict.fromkeys(table["measure"]))
    given = dict(direction) if isinstance(direction, Mapping) else dict.fromkeys(names, direction)
    for name in given:
        if name not in names:
            near = nearest_name(name, names)
            cure = (f"Did you mean {near!r}? " if near else "") + f"Known: {', '.join(names)}."
            raise UnknownName("direction", "must speak of a measure of the table", repr(name), cure)
    return {name: _direction(name, given.get(name), table.loc[table["measure"] == name, "direction"]) for name in names}


def _direction(name: str, given: Any, said: pd.Series) -> bool:
    """Whether high values of one measure are the good ones."""
    if given is not None:
        return check_one_of(given, DIRECTIONS, "direction") == "higher"
    words = sorted(set(said) - {""})
    if not words and name in MEASURES:
        words = [MEASURES.card(name).direction]
    if len(words) == 1 and words[0] in DIRECTIONS:
        return bool(words[0] == "higher")
    cure = f"Pass direction='higher', or direction={{{name!r}: 'lower'}}."
    got = f"{', '.join(map(repr, words)) or 'nothing'} for {name!r}"
    raise InputError("direction", "must be known for every measure, and one of 'higher' and 'lower'", got, cure)


def _family(measure: str, parameters: str, higher: bool, rows: pd.DataFrame) -> tuple[Family | None, str]:
    """The family of these rows, or the reason why there is none."""
    rows = rows[["dataset", "embedding", "replicate", "value"]].reset_index(drop=True)
    there = rows.dropna(subset="value")
    cells = there.groupby(["dataset", "embedding"], sort=False)["value"].mean().unstack()
    cells = cells.reindex(index=rows["dataset"].unique(), columns=rows["embedding"].unique()).astype("float64")
    notes = list(_left_out(cells, rows))
    cells = cells.loc[cells.notna().any(axis=1), cells.notna().any(axis=0)]
    shared = int((cells.notna().sum(axis=1) > 1).sum())
    if shared < 2:
        return None, f"{cells.shape[1]} embeddings, {shared or 'no'} data set{'s' * (shared != 1)} with two values"
    return Family(measure, parameters, higher, cells, there.reset_index(drop=True), tuple(notes)), ""


def _left_out(cells: pd.DataFrame, rows: pd.DataFrame) -> Iterator[str]:
    """What has no value at all, and that replicates were averaged."""
    for axis, what in ((0, "embedding"), (1, "data set")):
        empty = cells.columns[cells.isna().all(axis=0)] if axis == 0 else cells.index[cells.isna().all(axis=1)]
        if len(empty):
            yield f"no value at all of {what} {', '.join(map(str, empty))}, left out"
    if rows.groupby(["dataset", "embedding"]).size().max() > 1:
        yield "replicates are averaged within data sets before ranks are taken"
