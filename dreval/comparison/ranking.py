"""Rank the embeddings of one result by each measure, with the best set of each."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from dreval._check import FloatArray, check_float
from dreval._random import stream
from dreval.comparison.compare import NO_SPREAD, Setting, comparable, settings_of
from dreval.inference.best_set import best_set
from dreval.inference.cross_jackknife import contrast_covariance
from dreval.inference.intervals import (
    anchor_test,
    half_share,
    jackknife_covariance,
)
from dreval.inference.ties import is_tie
from dreval.records.notes import Note, note
from dreval.records.results import Results, over_replicates

COLUMNS = (  # pandas cuts the middle out of a wide table: the outer columns show the best embeddings
    "measure", "embedding", "value", "se", "conf_low", "conf_high", "conf_level", "difference", "p_adjusted",
    "parameters", "note", "rank", "in_best_set",
)  # fmt: skip
BEST_SET = "best set"  # what a note refers to, in place of "interval" or "pair"


def ranking(results: Results, measure: Any = None, *, alpha: float = 0.05) -> pd.DataFrame:
    """Rank the embeddings by each measure; see ``Results.ranking``."""
    alpha = check_float(alpha, "alpha", low=1e-6, high=0.5)
    computed = [name for name in results.names if name not in results.failed]
    rows = [
        row for setting in settings_of(results, computed, measure) for row in _ranking_rows(results, setting, alpha)
    ]
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    return table.astype({"rank": "Int64", "in_best_set": "boolean"})


SCORE_COLUMNS = ["measure", "parameters", "value", "conf_low", "conf_high", "chance"]  # of the tidy table


def scores(results: Results, name: str) -> pd.DataFrame:
    """Return the values of one embedding with its rank by each measure; see ``EvaluatedEmbedding.scores``."""
    table = over_replicates(results.table[results.table["test"] == ""])
    rows = table.loc[(table["embedding"] == name) & (table["measure"] != ""), [*SCORE_COLUMNS, "note"]]
    keys = ["measure", "parameters"]
    ranks = pd.DataFrame(columns=[*keys, "embedding", "rank", "in_best_set"])
    if comparable(results):
        ranks = ranking(results)[[*ranks.columns]]
    n_ranked = ranks.dropna(subset="rank").groupby(keys).size().rename("n_ranked").reset_index()
    standing = ranks[ranks["embedding"] == name].drop(columns="embedding").merge(n_ranked, on=keys, how="left")
    scored = rows.merge(standing, on=keys, how="left")
    scored = scored.astype({"rank": "Int64", "in_best_set": "boolean", "n_ranked": "Int64"})
    return scored[[*SCORE_COLUMNS, "rank", "n_ranked", "in_best_set", "note"]]


def _ranking_rows(results: Results, setting: Setting, alpha: float) -> list[dict[str, Any]]:
    """Return the rows of one measure and setting, the best first; the data come last and are not ranked."""
    order = sorted(
        setting.values,
        key=lambda name: (name in results.reference, math.isnan(setting.values[name]), -setting.values[name]),
    )
    ranked = [name for name in order if not math.isnan(setting.values[name]) and name not in results.reference]
    decisions, reasons = _decisions(results, setting, ranked, alpha)
    table = over_replicates(results.table[results.table["test"] == ""])
    is_setting = (table["measure"] == setting.key["measure"]) & (table["parameters"] == setting.key["parameters"])
    columns = ["value", "se", "conf_low", "conf_high", "conf_level"]
    intervals = table[is_setting].set_index("embedding")[columns].to_dict("index")
    best = setting.values[ranked[0]] if ranked else math.nan
    rows = []
    for name in order:
        p, in_set = decisions.get(name, (math.nan, pd.NA))
        is_missing, is_reference = math.isnan(setting.values[name]), name in results.reference
        difference = math.nan if is_reference else best - setting.values[name]
        row: dict[str, Any] = {**setting.key, "embedding": name, "difference": difference}
        row |= {str(key): value for key, value in intervals[name].items()}
        n_better = sum(_is_worse(setting, name, other) for other in ranked)
        row["rank"] = pd.NA if is_missing or is_reference else 1 + n_better
        reason = note("inference.no_value", embeddings=()) if is_missing else reasons.get(name)
        if is_reference:
            reason = reason or note("best.reference")
        elif name in setting.exact:
            reason = reason or note("inference.exact")
        elif in_set is not pd.NA and math.isnan(row["conf_low"]):
            reason = note("best.fixed")
        row |= {"p_adjusted": p, "in_best_set": in_set, "note": str(reason or "")}
        rows.append(row)
    decided = [row for row in rows if row["in_best_set"] is not pd.NA]
    if len(ranked) > 1 and len(decided) == 1 and decided[0]["in_best_set"]:  # no other embedding could be tested
        decided[0].update(p_adjusted=math.nan, in_best_set=pd.NA, note=str(note("best.untested")))
    return rows


def _decisions(
    results: Results, setting: Setting, ranked: list[str], alpha: float
) -> tuple[dict[str, tuple[float, bool]], dict[str, Note]]:
    """Return adjusted p and membership in the best set of the embeddings that can be tested, and the others' reasons.

    An embedding that would be in the set is undecided if a better one was not tested, or if its own test has no spread.
    """
    covariance, errors, freedom, reasons = _covariance(setting, ranked)
    tested, untested = [name for name in ranked if name not in reasons], list(reasons)
    if not tested:
        return {}, reasons
    undecided: dict[str, Note] = {}
    if set(tested) <= setting.exact:
        decisions = {name: (math.nan, not _is_worse(setting, name, ranked[0])) for name in tested}
    else:
        positions = [ranked.index(name) for name in tested]
        seed = int(results.recipe.get("random_state") or 0)
        rng = stream(seed, "best set", setting.key["measure"], setting.key["parameters"])
        values = np.array([setting.values[name] for name in tested])
        block = np.ix_(positions, positions)
        result = best_set(
            values,
            covariance[block],
            freedom,
            alpha,
            rng,
            size=setting.chance,
            errors=None if errors is None else errors[block],
        )
        carriers = {name: _few_carriers_test(setting, name, tested, alpha) for name in tested}
        p_values = np.maximum(result.p_value, [p for p, _ in carriers.values()])
        decisions = {name: (float(p), bool(p > alpha)) for name, p in zip(tested, p_values, strict=True)}
        kind = next((kind for kind in NO_SPREAD if kind in setting.kinds.values()), "")
        no_spread = note(NO_SPREAD.get(kind, "inference.fixed"), of=BEST_SET)
        undecided = {name: note("inference.unbounded", of=BEST_SET) for name in tested if carriers[name][1]}
        undecided |= {name: no_spread for name, fixed in zip(tested, result.untested, strict=True) if fixed}
    undecided |= {
        name: note("best.better_untested")
        for name in tested
        if any(_is_worse(setting, name, other) for other in untested)
    }
    undecided = {name: reason for name, reason in undecided.items() if decisions[name][1]}
    decisions = {name: decision for name, decision in decisions.items() if name not in undecided}
    return decisions, reasons | undecided


def _is_worse(setting: Setting, name: str, other: str) -> bool:
    """Return whether an embedding has a worse value than another one, by more than rounding."""
    left, right = setting.values[name], setting.values[other]
    return left < right and not is_tie(left, right, setting.size)


def _few_carriers_test(setting: Setting, name: str, names: list[str], alpha: float) -> tuple[float, bool]:
    """Return Bonferroni's p of tests of bounded means against better embeddings, if few anchors carry a difference.

    Student's distribution does not hold there, but Bonferroni's bound does. p is 0 if no difference needs it. The
    second result is whether a difference has no test because it has no bound.
    """
    if setting.kinds.get(name) != "anchors" or name not in setting.points:
        return 0.0, False
    smallest, has_few, has_untested = 1.0, False, False
    for other in names:
        differences = setting.points[other] - setting.points[name] if other in setting.points else np.zeros(0)
        differences = differences[np.isfinite(differences)]
        if not _is_worse(setting, name, other) or not 1 < len(differences) < setting.n:
            continue
        size = max(abs(setting.values[other]), abs(setting.values[name]), setting.chance)
        test = anchor_test(differences, setting.n, setting.limits, setting.seed, 1 - alpha, size)
        has_few |= test is None or test[0].kind != "anchors"
        has_untested |= test is None
        smallest = min(smallest, 1.0 if test is None else test[1])
    return (min(1.0, (len(names) - 1) * smallest) if has_few else 0.0), has_untested


def _covariance(setting: Setting, names: list[str]) -> tuple[FloatArray, FloatArray | None, float, dict[str, Note]]:
    """Return covariance, standard errors of differences, degrees of freedom, and why embeddings cannot be compared.

    The standard errors are None where they are those of the covariance. The most frequent kind of interval decides, but
    other seeds come before all: other kinds have another target.
    """
    kinds = {name: setting.kinds.get(name, "") for name in names}
    present = [kind for kind in kinds.values() if kind]
    kind = "seeds" if "seeds" in present else max(present, key=present.count, default="")
    k = len(names)
    targets = note("inference.targets", of=BEST_SET)
    no_interval = note("inference.no_interval", of=BEST_SET, embeddings=())
    reasons = {name: targets if kinds[name] not in ("", kind) else no_interval for name in names}
    if kind == "groups" and (reason := setting.few_groups(BEST_SET)) is not None:
        return np.zeros((k, k)), None, math.inf, dict.fromkeys(names, reason)
    if kind == "anchors" and not any(name in setting.points for name in names):
        reasons = dict.fromkeys(names, note("inference.missed", of=BEST_SET))
    covariance, errors, freedom = np.zeros((k, k)), None, math.inf

    def stacked(columns: dict[str, FloatArray]) -> tuple[list[int], FloatArray]:
        """Return the positions of the embeddings with these values, and the values, one row each."""
        positions = [i for i, name in enumerate(names) if kinds[name] == kind and name in columns]
        for i in positions:
            reasons.pop(names[i])
        return positions, np.array([columns[names[i]] for i in positions])

    if set(names) <= setting.exact:
        return covariance, errors, freedom, {}
    if kind == "seeds":
        sizes = [
            len(setting.runs[name]) for name in names if kinds[name] == kind and len(setting.runs.get(name, ())) > 1
        ]
        freedom = min(sizes, default=2) - 1
        for i, name in enumerate(names):
            runs = setting.runs.get(name, np.zeros(0))
            if kinds[name] == kind and len(runs) > 1:
                covariance[i, i] = float(np.var(runs, ddof=1)) / len(runs)
                reasons.pop(name)
        return covariance, errors, freedom, reasons
    if kind == "points" and any(name in setting.left_out for name in names):
        positions, values = stacked(setting.left_out)
        part_covariance, freedom = jackknife_covariance(values.T), values.shape[1] - 1
        crossed = setting.crossed_of([names[i] for i in positions])
        if crossed is not None:
            part_covariance, errors = contrast_covariance(part_covariance, crossed), np.zeros((k, k))
            for a, b in combinations(positions, 2):
                size = max(abs(setting.values[names[a]]), abs(setting.values[names[b]]), setting.chance)
                errors[a, b] = errors[b, a] = setting.interval_of_points(names[a], names[b], size).se
    elif kind == "anchors" and any(name in setting.points for name in names):
        positions, values = stacked(setting.points)
        values = values[:, np.isfinite(values).all(axis=0)]
        m = values.shape[1]
        part_covariance, freedom = np.atleast_2d(np.cov(values)) * max(1 - m / setting.n, 0.0) / m, m - 1
    elif kind not in ("", "anchors") and any(name in setting.groups for name in names):
        positions, values = stacked(setting.groups)
        if kind in ("points", "classes", "groups"):
            part_covariance = np.mean([jackknife_covariance(part.T) for part in values.transpose(1, 0, 2)], axis=0)
            freedom = setting.effective - 1 if kind == "groups" else values.shape[2] - 1
        else:  # halves of the points: as halves_interval, with covariances
            pairs = values.reshape(len(positions), -1, 2)
            differences = pairs[:, :, 0] - pairs[:, :, 1]
            share = half_share(kind, setting.n)
            part_covariance, freedom = (
                share * differences @ differences.T / (2 * differences.shape[1]),
                differences.shape[1],
            )
    else:
        return covariance, errors, freedom, reasons
    covariance[np.ix_(positions, positions)] = part_covariance
    return covariance, errors, freedom, reasons
