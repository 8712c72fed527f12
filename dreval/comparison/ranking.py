"""Embeddings of one data set ranked by each measure, with the set that is not distinguishable from the best."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from dreval._check import FloatArray, check_float
from dreval._random import stream
from dreval.comparison.within import Setting, settings_of
from dreval.inference.best_set import best_set
from dreval.inference.intervals import anchor_test, half_share, jackknife_covariance
from dreval.inference.ties import is_tie
from dreval.records.frames import over_replicates
from dreval.records.notes import Note, note
from dreval.records.results import Results

COLUMNS = (  # where pandas cuts the middle out of a wide table, what it leaves says who is best
    "measure", "embedding", "value", "se", "conf_low", "conf_high", "conf_level", "difference", "p_adjusted",
    "parameters", "note", "rank", "in_best_set",
)  # fmt: skip


def ranking(results: Results, measure: Any = None, *, alpha: float = 0.05) -> pd.DataFrame:
    """See ``Results.ranking``."""
    alpha = check_float(alpha, "alpha", low=1e-6, high=0.5)
    computed = [name for name in results.names if name not in results.failed]
    rows = [row for at in settings_of(results, computed, measure) for row in _ranked(results, at, alpha)]
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    return table.astype({"rank": "Int64", "in_best_set": "boolean"})


def _ranked(results: Results, at: Setting, alpha: float) -> list[dict[str, Any]]:
    """The rows of one measure and setting, the best first; the data come last and are not ranked."""
    order = sorted(
        at.values, key=lambda name: (name in results.reference, math.isnan(at.values[name]), -at.values[name])
    )
    known = [name for name in order if not math.isnan(at.values[name]) and name not in results.reference]
    covariance, freedom, reasons = _covariance(at, known)
    judged = [name for name in known if name not in reasons]
    found: dict[str, tuple[float, Any]] = {}
    open_ones: dict[str, Note] = {}
    if judged:
        places = [known.index(name) for name in judged]
        rng = stream(int(results.recipe.get("random_state") or 0), "best set", at.key["measure"], at.key["parameters"])
        values = np.array([at.values[name] for name in judged])
        got = best_set(values, covariance[np.ix_(places, places)], freedom, alpha, rng, size=at.chance)
        few = {name: _few_carriers(at, name, judged, alpha) for name in judged}
        p_values = np.maximum(got.p_value, [p for p, _ in few.values()])
        found = {name: (float(p), bool(p > alpha)) for name, p in zip(judged, p_values, strict=True)}
        if set(judged) <= at.exact:
            found = {name: (math.nan, not _is_behind(at, name, known[0])) for name in judged}
        else:
            open_ones = {name: note("best.unbounded") for name in judged if few[name][1]}
            open_ones |= {name: note("best.no_spread") for name, one in zip(judged, got.untested, strict=True) if one}
    table = over_replicates(results.table[results.table["test"] == ""])
    mine = table[(table["measure"] == at.key["measure"]) & (table["parameters"] == at.key["parameters"])]
    intervals = mine.set_index("embedding")[["value", "se", "conf_low", "conf_high", "conf_level"]].to_dict("index")
    top = at.values[known[0]] if known else math.nan
    rows = []
    for name in order:
        p, kept = found.get(name, (math.nan, pd.NA))
        missing, reference = math.isnan(at.values[name]), name in results.reference
        behind = math.nan if reference else top - at.values[name]
        row: dict[str, Any] = {**at.key, "embedding": name, "difference": behind}
        row |= {str(key): value for key, value in intervals[name].items()}
        ahead = sum(_is_behind(at, name, other) for other in known)
        row["rank"] = pd.NA if missing or reference else 1 + ahead
        reason = note("best.no_value") if missing else reasons.get(name)
        if kept is True and any(_is_behind(at, name, other) for other in reasons):
            p, kept, reason = math.nan, pd.NA, note("best.better_untested")
        elif kept is True and name in open_ones:
            p, kept, reason = math.nan, pd.NA, open_ones[name]
        elif reference:
            reason = reason or note("best.reference")
        elif name in at.exact:
            reason = reason or note("best.exact")
        elif kept is not pd.NA and math.isnan(row["conf_low"]):
            reason = note("best.fixed")
        row |= {"p_adjusted": p, "in_best_set": kept, "note": str(reason or "")}
        rows.append(row)
    kept_ones = [row for row in rows if row["in_best_set"] is not pd.NA]
    if len(known) > 1 and len(kept_ones) == 1 and kept_ones[0]["in_best_set"]:  # beside nothing that could be tested
        kept_ones[0].update(p_adjusted=math.nan, in_best_set=pd.NA, note=str(note("best.untested")))
    return rows


def _is_behind(at: Setting, name: str, other: str) -> bool:
    """Return whether an embedding has a worse value than another one, by more than rounding."""
    first, second = at.values[name], at.values[other]
    return first < second and not is_tie(first, second, at.size)


def _few_carriers(at: Setting, name: str, names: list[str], alpha: float) -> tuple[float, bool]:
    """Where few anchors carry a difference from a better embedding: p of tests of bounded means times their number.

    Student's distribution does not hold there, and Bonferroni's bound does. 0 where it is not needed. And whether some
    such difference has no test at all, since it has no bound.
    """
    if at.kinds.get(name) != "anchors" or name not in at.points:
        return 0.0, False
    smallest, few, untested = 1.0, False, False
    for other in names:
        differences = at.points[other] - at.points[name] if other in at.points else np.zeros(0)
        differences = differences[np.isfinite(differences)]
        if not _is_behind(at, name, other) or not 1 < len(differences) < at.n:
            continue
        size = max(abs(at.values[other]), abs(at.values[name]), at.chance)
        tested = anchor_test(differences, at.n, at.limits, at.seed, 1 - alpha, size)
        few |= tested is None or tested[0].kind != "anchors"
        untested |= tested is None
        smallest = min(smallest, 1.0 if tested is None else tested[1])
    return (min(1.0, (len(names) - 1) * smallest) if few else 0.0), untested


def _covariance(at: Setting, names: list[str]) -> tuple[FloatArray, float, dict[str, Note]]:
    """Covariance of the values, its degrees of freedom, and why some embeddings cannot be judged beside the others.

    The kind of interval that most embeddings have decides, other seeds before all: others have another target.
    """
    kinds = {name: at.kinds.get(name, "") for name in names}
    there = [kind for kind in kinds.values() if kind]
    kind = "seeds" if "seeds" in there else max(there, key=there.count, default="")
    k = len(names)
    reasons = {name: note("best.target" if kinds[name] not in ("", kind) else "best.no_interval") for name in names}
    if kind == "anchors" and not any(name in at.points for name in names):
        reasons = dict.fromkeys(names, note("best.few_carry"))
    covariance, freedom = np.zeros((k, k)), math.inf

    def stacked(columns: dict[str, FloatArray]) -> tuple[list[int], FloatArray]:
        """Places of the embeddings that have such values, and these values, one column each."""
        places = [i for i, name in enumerate(names) if kinds[name] == kind and name in columns]
        for i in places:
            reasons.pop(names[i])
        return places, np.array([columns[names[i]] for i in places])

    if set(names) <= at.exact:
        return covariance, freedom, {}
    if kind == "seeds":
        sizes = [len(at.runs[name]) for name in names if kinds[name] == kind and len(at.runs.get(name, ())) > 1]
        freedom = min(sizes, default=2) - 1
        for i, name in enumerate(names):
            runs = at.runs.get(name, np.zeros(0))
            if kinds[name] == kind and len(runs) > 1:
                covariance[i, i] = float(np.var(runs, ddof=1)) / len(runs)
                reasons.pop(name)
        return covariance, freedom, reasons
    if kind == "points" and any(name in at.left_out for name in names):
        places, values = stacked(at.left_out)
        made, freedom = jackknife_covariance(values.T), values.shape[1] - 1
    elif kind == "anchors" and any(name in at.points for name in names):
        places, values = stacked(at.points)
        values = values[:, np.isfinite(values).all(axis=0)]
        m = values.shape[1]
        made, freedom = np.atleast_2d(np.cov(values)) * max(1 - m / at.n, 0.0) / m, m - 1
    elif kind not in ("", "anchors") and any(name in at.groups for name in names):
        places, values = stacked(at.groups)
        if kind in ("points", "classes"):
            made = np.mean([jackknife_covariance(part.T) for part in values.transpose(1, 0, 2)], axis=0)
            freedom = values.shape[2] - 1
        else:  # halves of the points: as halves_interval, with what embeddings share
            pairs = values.reshape(len(places), -1, 2)
            gaps = pairs[:, :, 0] - pairs[:, :, 1]
            share = half_share(kind, at.n)
            made, freedom = share * gaps @ gaps.T / (2 * gaps.shape[1]), gaps.shape[1]
    else:
        return covariance, freedom, reasons
    covariance[np.ix_(places, places)] = made
    return covariance, freedom, reasons
