"""Embeddings of one data set compared by its points: paired differences of every pair, for each index."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import check_float
from dreval.comparison._cells import wanted_names
from dreval.comparison._pairs import ahead, letters_of, only_found, pair_frame, superiority
from dreval.comparison.record import Comparison
from dreval.errors import InputError
from dreval.glossary import OVERALL_COLUMNS, STANDING_COLUMNS
from dreval.inference.adjustment import adjust_p_values, check_adjustment
from dreval.inference.intervals import (
    METHODS,
    TARGETS,
    Interval,
    anchor_interval,
    beyond_rounding,
    halves_interval,
    jackknife_interval,
    welch,
)
from dreval.results.calls import written_again
from dreval.results.table import Results, over_replicates, point_column

__all__ = ["compare_pairs", "point_differences"]

FloatArray = npt.NDArray[np.float64]
UNBOUNDED = (-math.inf, math.inf)
TEST_NAMES = {"points": "jackknife"}  # of the other kinds of interval the name is that of the kind


def compare_pairs(
    results: Results,
    names: Sequence[str] | None = None,
    *,
    index: str | Sequence[str] | None = None,
    alpha: float = 0.05,
    adjust: str | None = "holm",
) -> Comparison:
    """Which embedding of one data set is better? See ``Results.compare``."""
    alpha = check_float(alpha, "alpha", low=1e-6, high=0.5)
    adjust = check_adjustment(adjust)
    table = results.table[(results.table["test"] == "") & (results.table["index"] != "")]
    table = table[table["direction"].isin(["higher", "lower"]) & ~table["embedding"].isin(results.failed)]
    runs, table = table, over_replicates(table)
    chosen = _chosen(results, names)
    table = table[table["embedding"].isin(chosen)]
    table = table[table["index"].isin(wanted_names(index, list(dict.fromkeys(table["index"])), "index"))]
    if len(chosen) < 2:
        cure = "Add another embedding to the evaluation."
        raise InputError("names", "must name two embeddings that were computed", ", ".join(chosen) or "none", cure)
    kinds = _kinds(results)
    if not kinds:
        cure = "Run the evaluation with ci='points', or with anchors."
        raise InputError("results", "must have been run with intervals", "a result with ci=None", cure)
    settings = table.groupby(["index", "parameters"], sort=False)
    made = [
        _pair(results, at, first, second, kinds, alpha)
        for at in (_setting(results, rows, runs) for _, rows in settings)
        for first, second in itertools.combinations(at.values, 2)
    ]
    pairs = only_found(adjust_p_values(pair_frame(made, "pairs"), adjust), alpha)
    standing = [row for _, rows in settings for row in _standing(rows, pairs, alpha)]
    recipe = {"kind": "points", "alpha": alpha, "adjust": adjust or "nothing", "rope": None}
    given = {"index": index, "alpha": alpha, "adjust": adjust}
    recipe |= {
        "call": written_again("results.compare", [repr(names)] if names is not None else [], given, compare_pairs)
    }
    recipe |= {"tests": list(dict.fromkeys(pairs["test"])), "random_state": results.recipe.get("random_state")}
    recipe |= {key: results.recipe.get(key) for key in ("dataset", "n", "anchors")}
    return Comparison(
        pairs=pairs,
        overall=pd.DataFrame(columns=list(OVERALL_COLUMNS)),
        standing=pd.DataFrame(standing, columns=list(STANDING_COLUMNS)),
        results=results,
        recipe=recipe,
        notes=tuple(_notes(pairs, results)),
    )


def _chosen(results: Results, names: Any) -> list[str]:
    """The embeddings that are asked for; one that failed is refused with its reason."""
    known = [name for name in results.names if name not in results.failed]
    for name in [names] if isinstance(names, str) else names or ():
        if name in results.failed:
            cure = f"Leave it out. It failed: {results.failed[name]}"
            raise InputError("names", "must name embeddings that were computed", repr(name), cure)
    return wanted_names(names, known, "names")


def _kinds(results: Results) -> dict[str, str]:
    """The kind of interval of every embedding that has one; results saved before there were several say less."""
    said = results.recipe.get("intervals")
    if said is None:
        usual = "anchors" if results.recipe.get("anchors") else "" if results.groups.empty else "points"
        said = dict.fromkeys(results.names, usual)
    return {name: kind for name, kind in said.items() if kind}


@dataclass(frozen=True)
class _Setting:
    """All embeddings at one index and setting, their values turned so that large is good."""

    key: dict[str, str]
    n: int
    sign: float
    values: dict[str, float]
    groups: dict[str, FloatArray]
    runs: dict[str, FloatArray]


def _setting(results: Results, rows: pd.DataFrame, runs: pd.DataFrame) -> _Setting:
    """What is kept of one index and setting."""
    key = {name: str(rows[name].iloc[0]) for name in ("index", "parameters")}
    sign = 1.0 if rows["direction"].iloc[0] == "higher" else -1.0

    def kept(table: pd.DataFrame) -> dict[str, FloatArray]:
        mine = table[(table["index"] == key["index"]) & (table["parameters"] == key["parameters"])]
        return {str(name): sign * part["value"].to_numpy() for name, part in mine.groupby("embedding")}

    values = dict(zip(rows["embedding"], sign * rows["value"], strict=True))
    groups = results.groups.sort_values("group", kind="stable")
    return _Setting(key, int(rows["n"].iloc[0]), sign, values, kept(groups), kept(runs.dropna(subset="value")))


def _pair(
    results: Results, at: _Setting, first: str, second: str, kinds: Mapping[str, str], alpha: float
) -> dict[str, Any]:
    """The row of one pair at one index and setting."""
    kind = _shared_kind(kinds.get(first, ""), kinds.get(second, ""))
    row = {**at.key, "first": first, "second": second, "n": at.n, "test": TEST_NAMES.get(kind, kind)}
    missing = [name for name in (first, second) if math.isnan(at.values[name])]
    if missing:
        return {**row, "note": f"no value of {' and '.join(missing)}"}
    advantage = at.values[first] - at.values[second]
    row |= {"advantage": advantage, "better": ahead(first, second, advantage)}
    if kind == "seeds":
        single = [name for name in (first, second) if kinds.get(name) != "seeds"]
        note = f"{single[0]} is one picture, taken as it is" if single else ""
        return {**row, "note": note, **_of_runs(at.runs[first], at.runs[second], alpha)}
    differences = point_differences(results, **at.key, first=first, second=second, sign=at.sign)
    differences = None if differences is None else differences[np.isfinite(differences)]
    size = max(abs(at.values[first]), abs(at.values[second]))
    row |= _effects(advantage, differences, size)
    if not kind:
        without = [name for name in (first, second) if name not in kinds]
        reason = f"no interval of {' and '.join(without)}" if without else "their intervals speak of different targets"
        return {**row, "note": f"no test: {reason}"}
    interval: Interval | None = None
    if kind == "anchors" and differences is not None and len(differences) > 1:
        interval = anchor_interval(differences, at.n, UNBOUNDED, size)
    elif kind and first in at.groups and second in at.groups:
        gaps = at.groups[first] - at.groups[second]
        interval = (
            jackknife_interval(advantage, gaps, UNBOUNDED, size)
            if kind in ("points", "anchors")
            else halves_interval(advantage, gaps.reshape(-1, 2), at.n, UNBOUNDED, kind, size)
        )
    return {**row, **_tested(advantage, interval, alpha)}


def _shared_kind(first: str, second: str) -> str:
    """The kind by which a pair is tested: what both have.

    A drawn one needs the upper bound for both; beside runs with other seeds another picture is taken as it is.
    """
    kinds = {first, second}
    return "seeds" if "seeds" in kinds else "draws" if kinds == {"draws", "subsamples"} else first * (len(kinds) == 1)


def _of_runs(first: FloatArray, second: FloatArray, alpha: float) -> dict[str, Any]:
    """Welch's test of two sets of independent runs, their distance in standard deviations, and who wins how often."""
    spreads = [float(np.var(values, ddof=1)) for values in (first, second) if len(values) > 1]
    if not spreads:
        return {"note": "no test: fewer than two runs"}
    advantage = float(first.mean() - second.mean())
    spread = beyond_rounding(math.sqrt(float(np.mean(spreads))), first, second)
    effect = advantage / spread if spread > 0 else math.nan
    often = superiority((first[:, None] - second).ravel())
    return {"effect_size": effect, "superiority": often, **_tested(advantage, welch(first, second, UNBOUNDED), alpha)}


def point_differences(
    results: Results, index: str, parameters: str, first: str, second: str, sign: float
) -> FloatArray | None:
    """How much better the first is than the second at each point (n,), missing beside anchors; None without any."""
    column = point_column(index, parameters)
    frames = [results.points.get(name, pd.DataFrame()) for name in (first, second)]
    if any(column not in frame.columns for frame in frames):
        return None
    one, other = (frame[column].to_numpy(dtype=np.float64) for frame in frames)
    return np.asarray(sign * (one - other))


def _effects(advantage: float, differences: FloatArray | None, size: float) -> dict[str, Any]:
    """The advantage over the standard deviation of the differences of points, and the probability of superiority."""
    if differences is None or len(differences) < 2:
        return {}
    spread = beyond_rounding(float(np.std(differences, ddof=1)), differences, size)
    effect = advantage / spread if spread > 0 else math.nan
    return {"effect_size": effect, "superiority": superiority(differences)}


def _tested(advantage: float, interval: Interval | None, alpha: float) -> dict[str, Any]:
    """Standard error, interval and Student's test of the advantage, or the reason why there is none."""
    from scipy.special import stdtr, stdtrit

    if interval is None:
        return {"note": "no test: the index has no interval"}
    if interval.se == 0 and advantage == 0:
        none = {"se": 0.0, "statistic": 0.0, "p_value": 1.0, "p_kind": "asymptotic"}
        return {**none, "note": "no difference in any group of points"}
    if interval.se == 0 and interval.kind == "seeds":
        return {"se": 0.0, "note": "no test: every run of both gave the same value"}
    if interval.se == 0:
        return {"se": 0.0, "note": "no test: leaving out points changes nothing, or all of them are anchors"}
    freedom, t = interval.freedom, advantage / interval.se
    half = float(stdtrit(freedom, 1 - alpha / 2)) * interval.se
    return {
        "se": interval.se, "ci_low": advantage - half, "ci_high": advantage + half, "statistic": t,
        "p_value": float(2 * stdtr(freedom, -abs(t))), "p_kind": "asymptotic",
    }  # fmt: skip


def _standing(rows: pd.DataFrame, pairs: pd.DataFrame, alpha: float) -> list[dict[str, Any]]:
    """One row for each embedding at one index and setting, the best first, with its letters."""
    index, parameters = rows["index"].iloc[0], rows["parameters"].iloc[0]
    rows = rows.sort_values("value", ascending=rows["direction"].iloc[0] == "lower", kind="stable")
    mine = pairs[(pairs["index"] == index) & (pairs["parameters"] == parameters)]
    letters = letters_of(list(rows["embedding"][rows["value"].notna()]), mine, alpha)
    keys = {"index": index, "parameters": parameters}
    return [
        {
            **keys,
            **{name: row[name] for name in ("embedding", "n", "value")},
            "letters": letters.get(row["embedding"], ""),
        }
        for row in rows.to_dict("records")
    ]


def _notes(pairs: pd.DataFrame, results: Results) -> Iterator[str]:
    """What the tests speak of."""
    kinds = {test: kind for kind, test in TEST_NAMES.items()}
    for test in filter(None, dict.fromkeys(pairs["test"])):
        kind = kinds.get(test, test)
        if kind == "seeds":
            yield f"Differences of means over runs with other seeds, for {TARGETS[kind]}; Welch's t."
        else:
            yield f"Paired differences: {METHODS[kind]}, for {TARGETS[kind]}; Student's t."
        if kind == "points" and results.groups["group"].nunique() < results.recipe["n"]:
            yield "Groups are drawn at random: another random_state gives another partition into groups, and another p."
    for note, part in pairs[pairs["note"] != ""].groupby("note", sort=False):
        yield f"{', '.join(dict.fromkeys(part['index']))}: {note}."
