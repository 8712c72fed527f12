"""Embeddings of one data set compared by its points: paired differences of every pair, for each index."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import check_float
from dreval.comparison._cells import wanted_names
from dreval.comparison._pairs import ahead, letters_of, pair_frame, pairs_of, superiority
from dreval.comparison.record import Comparison
from dreval.errors import InputError
from dreval.glossary import OVERALL_COLUMNS, STANDING_COLUMNS
from dreval.inference.adjustment import adjust_p_values, check_adjustment
from dreval.inference.intervals import METHODS, TARGETS, Interval, anchor_interval, jackknife_interval
from dreval.results.table import Results, point_column

__all__ = ["compare_pairs", "point_differences"]

FloatArray = npt.NDArray[np.float64]
UNBOUNDED = (-math.inf, math.inf)


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
    chosen = wanted_names(names, [n for n in results.names if n not in results.failed], "names")
    table = table[table["embedding"].isin(chosen)]
    table = table[table["index"].isin(wanted_names(index, list(dict.fromkeys(table["index"])), "index"))]
    if len(chosen) < 2:
        cure = "Add another embedding to the evaluation."
        raise InputError("names", "must name two embeddings that were computed", ", ".join(chosen) or "none", cure)
    if results.groups.empty and not results.recipe.get("anchors"):
        cure = "Run the evaluation with ci='points', or with anchors."
        raise InputError("results", "must have been run with intervals", "a result with ci=None", cure)
    settings = table.groupby(["index", "parameters"], sort=False)
    made = [row for _, rows in settings for row in _rows(results, rows, alpha)]
    pairs = adjust_p_values(pair_frame(made), adjust)
    standing = [row for _, rows in settings for row in _standing(rows, pairs, alpha)]
    recipe = {"kind": "points", "alpha": alpha, "adjust": adjust or "nothing", "rope": None}
    recipe |= {"tests": list(dict.fromkeys(pairs["test"])), "random_state": results.recipe.get("random_state")}
    recipe |= {key: results.recipe.get(key) for key in ("dataset", "n", "anchors")}
    return Comparison(
        pairs=pairs,
        overall=pd.DataFrame(columns=list(OVERALL_COLUMNS)),
        standing=pd.DataFrame(standing, columns=list(STANDING_COLUMNS)),
        results=results,
        recipe=recipe,
        notes=tuple(_notes(pairs)),
    )


def _rows(results: Results, rows: pd.DataFrame, alpha: float) -> Iterator[dict[str, Any]]:
    """One row for each pair of embeddings at one index and setting."""
    names = list(rows["embedding"])
    values = dict(zip(names, rows["value"], strict=True))
    index, parameters = str(rows["index"].iloc[0]), str(rows["parameters"].iloc[0])
    sign = 1.0 if rows["direction"].iloc[0] == "higher" else -1.0
    kept = results.groups[(results.groups["index"] == index) & (results.groups["parameters"] == parameters)]
    groups = {name: part.sort_values("group")["value"].to_numpy() for name, part in kept.groupby("embedding")}
    for i, j in pairs_of(names):
        first, second = names[i], names[j]
        row = {"index": index, "parameters": parameters, "first": first, "second": second}
        row |= {"test": "anchors" if results.recipe.get("anchors") else "jackknife", "n": int(rows["n"].iloc[0])}
        advantage = sign * (values[first] - values[second])
        differences = point_differences(results, index, parameters, first, second, sign)
        differences = None if differences is None else differences[np.isfinite(differences)]
        missing = [name for name in (first, second) if math.isnan(values[name])]
        if missing:
            yield {**row, "note": f"no value of {' and '.join(missing)}"}
            continue
        row |= {"advantage": advantage, "better": ahead(first, second, advantage), **_effects(advantage, differences)}
        interval: Interval | None = None
        if results.recipe.get("anchors") and differences is not None and len(differences) > 1:
            interval = anchor_interval(differences, int(rows["n"].iloc[0]), UNBOUNDED)
        elif first in groups and second in groups:
            interval = jackknife_interval(advantage, sign * (groups[first] - groups[second]), UNBOUNDED)
        yield {**row, **_tested(advantage, interval, alpha)}


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


def _effects(advantage: float, differences: FloatArray | None) -> dict[str, Any]:
    """The advantage over the standard deviation of the differences of points, and the probability of superiority."""
    if differences is None or len(differences) < 2:
        return {}
    spread = float(np.std(differences, ddof=1))
    effect = advantage / spread if spread > 0 else math.nan
    return {"effect_size": effect, "superiority": superiority(differences)}


def _tested(advantage: float, interval: Interval | None, alpha: float) -> dict[str, Any]:
    """Standard error, interval and Student's test of the advantage, or the reason why there is none."""
    from scipy.special import stdtr, stdtrit

    if interval is None:
        return {"note": "no test: the index has no interval"}
    if interval.se == 0 and advantage == 0:
        return {"se": 0.0, "statistic": 0.0, "p_value": 1.0, "note": "no difference in any group of points"}
    if interval.se == 0:
        return {"se": 0.0, "note": "no test: leaving out points changes nothing, or all of them are anchors"}
    freedom, t = interval.n_resamples - 1, advantage / interval.se
    half = float(stdtrit(freedom, 1 - alpha / 2)) * interval.se
    return {
        "se": interval.se, "ci_low": advantage - half, "ci_high": advantage + half, "statistic": t,
        "p_value": float(2 * stdtr(freedom, -abs(t))),
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


def _notes(pairs: pd.DataFrame) -> Iterator[str]:
    """What the tests speak of."""
    kinds = {"jackknife": "points", "anchors": "anchors"}
    for test in dict.fromkeys(pairs["test"]):
        kind = kinds[test]
        yield f"Paired differences: {METHODS[kind]}, for {TARGETS[kind]}; Student's t."
    for note, part in pairs[pairs["note"] != ""].groupby("note", sort=False):
        yield f"{', '.join(dict.fromkeys(part['index']))}: {note}."
