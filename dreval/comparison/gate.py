"""The gate: whether a new embedding is worse than an old one by more than a margin, measure by measure.

The paired difference new - old, positive if the new one is better, and its interval are those of ``compare``. With
[low, high] the interval, the new embedding is not worse if low >= -margin, worse if high < -margin, and otherwise the
data do not decide. The intervals of several measures hold jointly (Bonferroni).

An end that is below -margin by at most 1e-10 of the larger value counts as equal to -margin: .94 - .95 is -.01 up to
rounding, and with a margin of .01 rounding would decide otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from dreval._check import check_float
from dreval.comparison.compare import compare_pairs, settings_of
from dreval.errors import InputError
from dreval.inference.intervals import ROUNDING
from dreval.records.comparison import Comparison
from dreval.records.notes import note
from dreval.records.results import Results

NEW, OLD = "new", "old"  # names of the two embeddings
NOT_WORSE = "not worse"
WORSE = "worse"
UNDECIDED = "undecided"
MISSING = "missing"  # no value, or no standard error
ORDER = (WORSE, MISSING, UNDECIDED, NOT_WORSE)  # the verdict of several measures is the first of theirs
COLUMNS = (
    "measure", "parameters", "new", "old", "difference", "se", "conf_low", "conf_high", "conf_level",
    "joint_conf_level", "margin", "verdict", "note",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Gate:
    """The comparison of a new embedding with an old one, and a row with the verdict on each measure and setting."""

    comparison: Comparison
    table: pd.DataFrame

    @property
    def verdict(self) -> str:
        """The verdict on all measures: worse if by any of them, not worse if by none and all are decided."""
        verdicts = set(self.table["verdict"])
        return next(verdict for verdict in ORDER if verdict in verdicts)

    @property
    def notes(self) -> list[pd.DataFrame]:
        """The tables of notes of the comparison, and of both embeddings and the data."""
        results = self.comparison.results
        return [self.comparison.notes, *([] if results is None else [results.notes])]


def check_gate(results: Results, margins: Mapping[str, float], conf_level: float) -> Gate:
    """Return the verdict on each measure of the embeddings ``new`` and ``old`` of a result.

    Parameters
    ----------
    results : Results
        The result, in which both were computed.
    margins : mapping of str to float
        The tolerated loss by each measure, in its unit, at least 0.
    conf_level : float
        Level of the intervals, jointly over all measures: an embedding worse by exactly the margin is called worse, or
        not worse, with probability (1 - conf_level) / 2 each.
    """
    conf_level = check_float(conf_level, "conf_level", low=0.5, high=0.9999)
    names, measures = [NEW, OLD], list(margins)
    settings = settings_of(results, names, measures)
    if missing := [name for name in measures if name not in {setting.key["measure"] for setting in settings}]:
        raise InputError("margin", "must name measures that were computed", missing[0], "Leave it out.")
    alpha = round(1 - conf_level, 12) / len(settings)
    sizes = {name: results.embeddings[name].shape[1] for name in names}
    notes = () if sizes[NEW] == sizes[OLD] else (note("pair.components", **sizes),)
    comparison = compare_pairs(results, names, measure=measures, baseline=OLD, alpha=alpha, adjust=None, notes=notes)
    rows = []
    for setting, pair in zip(settings, comparison.pairs.to_dict("records"), strict=True):
        sign = 1.0 if setting.higher else -1.0
        row: dict[str, Any] = {str(key): value for key, value in pair.items()}
        row |= {name: sign * setting.values[name] for name in names}
        row |= {"margin": margins[setting.key["measure"]], "joint_conf_level": conf_level}
        if row["se"] == 0 and row["statistic"] == 0:  # equal values, whichever point is left out
            row |= {"conf_low": row["difference"], "conf_high": row["difference"], "conf_level": 1 - alpha}
        rows.append({**row, "verdict": _verdict(row)})
    gate = Gate(comparison, pd.DataFrame(rows, columns=list(COLUMNS)))
    verdicts = gate.table["verdict"].replace(MISSING, "")
    pairs = comparison.pairs.assign(margin=gate.table["margin"], equivalence=verdicts)
    recipe = {**comparison.recipe, "margin": dict(margins), "verdict": gate.verdict}
    return replace(gate, comparison=replace(comparison, pairs=pairs, recipe=recipe))


def _verdict(row: Mapping[str, Any]) -> str:
    """Return the verdict on one measure; an end below -margin by rounding is equal to it (``ROUNDING``)."""
    tolerance = ROUNDING * max(abs(row["new"]), abs(row["old"]))
    if math.isnan(row["conf_low"]):
        return MISSING
    if row["conf_low"] >= -row["margin"] - tolerance:
        return NOT_WORSE
    return WORSE if row["conf_high"] < -row["margin"] - tolerance else UNDECIDED
