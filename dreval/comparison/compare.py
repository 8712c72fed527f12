"""Compare the embeddings of one result, or of results over several data sets.

``compare`` is ``dreval.compare``; it adjusts p-values within a family of pairs.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dreval._check import FloatArray, IntArray, check_float, check_names, check_one_of, describe, keywords_checked
from dreval._random import root_seed, stream
from dreval.comparison.combine import combined, on_same_data
from dreval.comparison.families import TABLE_SUFFIXES, families, gather, names_hint, of_measures
from dreval.comparison.mixed import mixed_rows
from dreval.comparison.outcome import Outcome, better_name, compared_pairs, superiority
from dreval.comparison.pair_tests import nemenyi_rows, signed_rank_rows
from dreval.comparison.ranks import block_ranks, overall_rows
from dreval.comparison.tables import (
    SIMULTANEOUS_TESTS,
    decisive_test,
    keep_significant,
    letters_of,
    overall_frame,
    pair_frame,
)
from dreval.errors import Hint, InputError
from dreval.glossary import OVERALL_COLUMNS, STANDING_COLUMNS
from dreval.inference.adjustment import adjusted_p_values, check_adjustment
from dreval.inference.groups import few_groups_note, group_interval, is_few
from dreval.inference.intervals import METHODS as METHODS_OF_INTERVALS
from dreval.inference.intervals import (
    ROUNDING,
    Interval,
    anchor_test,
    betting_p,
    beyond_rounding,
    halves_interval,
    jackknife_interval,
    partitions_interval,
    welch,
)
from dreval.inference.ties import scale_size, tied_ranks
from dreval.records.archive import load_evaluation
from dreval.records.base import is_journal
from dreval.records.comparison import Comparison, Family
from dreval.records.frames import PAIR_NOTE_KEYS, full_name, notes_frame, setting_names
from dreval.records.notes import Note, note
from dreval.records.provenance import reproducing_call
from dreval.records.results import Results, over_replicates
from dreval.registry import MEASURES, METHODS

# Embeddings of one data set compared by its points: paired differences of every pair, for each measure.

UNBOUNDED = (-math.inf, math.inf)
TEST_NAMES = {
    "points": "jackknife",
    "groups": "group_jackknife",
}  # names of tests by kind of interval; other kinds keep their name
PAIR_METHODS = {**METHODS_OF_INTERVALS, "seeds": "means over runs with other seeds, Welch's t"}  # by kind of interval
NO_SPREAD = {  # codes of notes on differences without spread by kind of interval; other kinds have "inference.fixed"
    "seeds": "inference.same_runs",
    **dict.fromkeys(("subsampling", "subsamples"), "inference.same_halves"),
}

SETTINGS = ("n_neighbors", "metric", "graph_neighbors", "embedding_metric")  # of the evaluation, in the recipe


def compare_pairs(
    results: Results,
    names: Sequence[str] | None = None,
    *,
    measure: str | Sequence[str] | None = None,
    baseline: str | None = None,
    margin: float | Mapping[str, float] | None = None,
    alpha: float = 0.05,
    adjust: str | None = "holm",
    notes: Sequence[Note] = (),
    several: bool = False,
) -> Comparison:
    """Compare the embeddings of one data set; see ``Results.compare``.

    ``several``: whether ``results`` were combined from several, with ``notes``.
    """
    alpha = check_float(alpha, "alpha", low=1e-6, high=0.5)
    adjust = check_adjustment(adjust)
    requested = _compared_names(results, names, baseline)
    omitted = tuple(name for name in results.reference if names is None and name not in requested)
    settings = settings_of(results, requested, measure) if requested else []
    alone = [full_name(*setting.key.values()) for setting in settings if len(setting.values) == 1]
    if 0 < len(alone) < len(settings):
        settings = [setting for setting in settings if len(setting.values) > 1]
        notes = (*notes, note("combined.alone", measures=alone, count=len(alone)))
    if len(requested) < 2 or len(settings[0].values) < 2:
        hint = "Name two or more, or none for all." if names is not None else "Add another embedding to the evaluation."
        received, hints = ", ".join(settings[0].values if settings else requested) or "none", {}
        if omitted:
            received = f"{received}; {', '.join(omitted)} {'is' if len(omitted) == 1 else 'are'} the data"
            hint = f"{hint[:-1]}, or pass {{names}} to compare with the data."
            hints = {"names": Hint("names", [name for name in results.names if name not in results.failed])}
        raise InputError("names", "must name two embeddings that were computed", received, hint, **hints)
    if baseline is not None:
        METHODS.check_run(baseline, list(settings[0].values), "baseline")
    margins = {} if margin is None else margins_by_measure(margin, [setting.key["measure"] for setting in settings])
    for name in (name for name, value in margins.items() if value == 0):
        hint = "Pass a positive margin: no test can show a difference of 0."
        raise InputError(f"margin[{name!r}]", "must be positive", "0", hint)
    rows = [
        _pair(setting, first, second, alpha, margins.get(setting.key["measure"]))
        for setting in settings
        for first, second in compared_pairs(list(setting.values), baseline)
    ]
    groups = results.recipe.get("equal_maps") or ()
    pairs = _adjust_distinct(pair_frame(rows, alpha, "pairs"), groups, adjust)
    if margins:
        pairs = _test_margins(pairs, [row.get("p_beyond", math.nan) for row in rows], alpha, groups, adjust)
    pairs = keep_significant(pairs, alpha)
    recipe = {"kind": "points", "alpha": alpha, "adjust": adjust or "nothing", "rope": None, "margin": margins}
    arguments = {"measure": measure, "baseline": baseline, "margin": margin, "alpha": alpha, "adjust": adjust}
    named = None if names is None else list(names) if isinstance(names, list | tuple) else requested
    if several:
        function, positional, arguments = "dreval.compare", ["*results"], {"names": named, **arguments}
    else:
        function, positional = "results.compare", [] if named is None else [repr(named)]
    recipe |= {} if baseline is None else {"baseline": baseline}
    recipe |= {"call": reproducing_call(function, positional, arguments, compare_pairs)}
    recipe |= {"tests": list(dict.fromkeys(pairs["test"])), "random_state": results.recipe.get("random_state")}
    recipe |= {key: results.recipe.get(key) for key in ("dataset", "n", "anchors", "groups", "conf_level")}
    recipe |= {"matrix": results.recipe["matrix"]} if "matrix" in results.recipe else {}
    recipe |= {key: results.recipe[key] for key in SETTINGS if key in results.recipe}
    omission_notes = (note("pair.reference", names=omitted, count=len(omitted)),) if omitted else ()
    return Comparison(
        pairs=pairs,
        overall=pd.DataFrame(columns=list(OVERALL_COLUMNS)),
        standing=pd.DataFrame(
            [row for setting in settings for row in _standing_rows(setting, pairs, alpha)], columns=[*STANDING_COLUMNS]
        ),
        results=results,
        recipe=recipe,
        notes=notes_frame([{"notes": (*notes, *omission_notes)}, *rows], PAIR_NOTE_KEYS),
    )


def contenders(results: Results) -> list[str]:
    """Return the embeddings that were computed and are not the data: those that are compared by default."""
    return [name for name in results.names if name not in results.failed and name not in results.reference]


def _compared_names(results: Results, names: Any, baseline: str | None = None) -> list[str]:
    """Return the names of the compared embeddings, in the requested order; raise for an embedding that failed.

    By default all computed embeddings, without those that are the data unless one of them is the baseline.
    """
    computed = [name for name in results.names if name not in results.failed]
    if names is None:
        compared = contenders(results)
        return [name for name in computed if name in compared or name == baseline]
    requested = check_names(names, "names", names_hint(names, computed))
    for name in requested:
        if name in results.failed:
            hint = f"Leave it out. It failed: {results.failed[name]}"
            raise InputError("names", "must name embeddings that were computed", repr(name), hint)
        METHODS.check_run(name, computed, "names")
    return requested


def margins_by_measure(margin: float | Mapping[str, float], measures: Sequence[str]) -> dict[str, float]:
    """Return the margin of each measure that has one, in the unit of the measure."""
    measures = list(dict.fromkeys(measures))
    if not isinstance(margin, Mapping):
        check_float(margin, "margin", low=0.0)
        if len(measures) > 1:
            requirement = "must name the measure where several are compared"
            by_measure = Hint("margin", {measures[0]: margin})
            hint = "Pass {each}, or compare one measure by {measure}."
            raise InputError("margin", requirement, describe(margin), hint, each=by_measure, measure="measure")
        margin = {measures[0]: margin}
    for name in margin:
        MEASURES.check_run(name, measures, "margin")
    margins = {name: check_float(value, f"margin[{name!r}]", low=0.0) for name, value in margin.items()}
    for name in (name for name in margins if name in MEASURES):  # a file may have measures of another version
        MEASURES.card(name).check_margin(margins[name], f"margin[{name!r}]")
    return margins


def _map_pairs(pairs: pd.DataFrame, groups: Sequence[Sequence[str]]) -> list[tuple[str, str]]:
    """Return the two maps of each pair: copies of a map, which ``groups`` lists, have the name of the first of them."""
    copied = {name: names[0] for names in groups for name in names}
    first, second = (pairs[side].map(lambda name: copied.get(name, name)) for side in ("first", "second"))
    return list(zip(first, second, strict=True))


def lead_places(pairs: pd.DataFrame, groups: Sequence[Sequence[str]]) -> IntArray:
    """Return for each pair the place of the first pair that tests the same hypothesis.

    These are pairs of the copies of one map, which ``groups`` lists, with the same third map, whose p-values agree up
    to rounding.
    """
    places: dict[tuple[str, str, frozenset[str]], int] = {}
    keys = zip(pairs["measure"], pairs["parameters"], map(frozenset, _map_pairs(pairs, groups)), strict=True)
    leads = np.array([places.setdefault(key, place) for place, key in enumerate(keys)], dtype=np.int64)
    p = pairs["p_value"].to_numpy()
    return np.where(np.isclose(p, p[leads], rtol=1e-6, atol=0.0), leads, np.arange(len(pairs)))


def count_tests(pairs: pd.DataFrame, groups: Sequence[Sequence[str]]) -> int:
    """Return over how many tests of pairs p-values are adjusted."""
    is_lead = lead_places(pairs, groups) == np.arange(len(pairs))
    return int((is_lead & pairs["p_value"].notna() & (pairs["family"] != "")).sum())


def _adjust_distinct(pairs: pd.DataFrame, groups: Sequence[Sequence[str]], adjust: str | None) -> pd.DataFrame:
    """Return the pairs with adjusted p-values, to which the copies of one map contribute once.

    A pair of two copies has no difference to test, so it belongs to no family. Of pairs that test the same hypothesis
    the first is adjusted, and all have its adjusted p.
    """
    differ = [first != second for first, second in _map_pairs(pairs, groups)]
    pairs = pairs.assign(family=pairs["family"].where(np.array(differ, np.bool_), ""))
    leads = lead_places(pairs, groups)
    table = pairs.assign(family=pairs["family"].where(leads == np.arange(len(pairs)), ""))
    return pairs.assign(p_adjusted=adjusted_p_values(table, adjust).to_numpy()[leads])


def _test_margins(
    pairs: pd.DataFrame, beyond: Sequence[float], alpha: float, groups: Sequence[Sequence[str]], adjust: str | None
) -> pd.DataFrame:
    """Return the pairs with adjusted p-values of equivalence, a separate family, and a verdict on each pair.

    ``beyond`` are the p-values of a difference of at most the margin in either direction, adjusted in the same way.
    Pairs without a standard error need no test: their difference is known.
    """

    def adjusted(p: Any) -> pd.Series[float]:
        equivalence_rows = pairs.assign(p_value=p, family="equivalence")
        p_adjusted: pd.Series[float] = _adjust_distinct(equivalence_rows, groups, adjust)["p_adjusted"]
        return p_adjusted

    pairs = pairs.assign(p_equivalence_adjusted=adjusted(pairs["p_equivalence"]))
    beyond_adjusted = adjusted(np.asarray(beyond, dtype=np.float64))
    beyond_adjusted = beyond_adjusted.where(beyond_adjusted.notna(), pd.Series(beyond, pairs.index))
    equivalent = pairs["p_equivalence_adjusted"]
    equivalent = equivalent.where(equivalent.notna(), pairs["p_equivalence"])
    exact = (pairs["se"] == 0) & ((pairs["conf_low"] == pairs["conf_high"]) | (pairs["statistic"] == 0))
    size = pairs["difference"].abs()
    direction = np.where(pairs["difference"] > 0, "better", "worse")
    has_verdict = pairs["margin"].notna() & (exact | equivalent.notna())
    verdict = np.where((beyond_adjusted <= alpha) | (exact & (size >= pairs["margin"])), direction, "not shown")
    verdict = np.where((equivalent <= alpha) | (exact & (size < pairs["margin"])), "equivalent", verdict)
    return pairs.assign(equivalence=np.where(has_verdict, verdict, ""))


def _kinds(results: Results) -> dict[str, str]:
    """Return the kind of interval of every embedding that has one; files of early versions have one kind for all."""
    kinds = results.recipe.get("intervals")
    if kinds is None:
        default = "anchors" if results.recipe.get("anchors") else "" if results.groups.empty else "points"
        kinds = dict.fromkeys(results.names, default)
    return {name: kind for name, kind in kinds.items() if kind}


def comparable(results: Results) -> bool:
    """Return whether a result can be ranked and compared: several embeddings, intervals, a measure with a direction."""
    ranked = results.table["direction"].isin(["higher", "lower"])
    return len(contenders(results)) > 1 and bool(_kinds(results)) and bool(ranked.any())


@dataclass(frozen=True)
class Setting:
    """All embeddings at one measure and setting, with signs that make large values good.

    Attributes
    ----------
    key : dict
        measure and parameters.
    n : int
        Number of points.
    higher : bool
        Whether high values of the measure are good.
    values : dict of str to float
        The value of each embedding, or the mean over several runs; NaN without a value.
    kinds : dict of str to str
        The kind of interval of each embedding that has one.
    left_out : dict of str to ndarray (n,)
        Values without each point.
    crossed : dict of str to ndarray (partitions, 2, n)
        Influences of the points on two samples of each partition, for the cross jackknife.
    groups : dict of str to ndarray (partitions, groups)
        Values without each group of points or anchors, or at halves of the points.
    runs : dict of str to ndarray
        Values of runs with other seeds.
    points : dict of str to ndarray (n,)
        Contributions of points; with anchors, those of other points are missing.
    seed : int
        The seed of the results.
    exact : frozenset of str
        Embeddings whose value is exact for the target of the interval.
    effective, n_groups : float, int
        Effective number of groups of points, and their number, where these are left out.
    chance : float
        Size of the chance level, 0 without one; relative to it, values of copies that differ by rounding are equal.
    """

    key: dict[str, str]
    n: int
    higher: bool
    values: dict[str, float]
    kinds: dict[str, str]
    left_out: dict[str, FloatArray]
    groups: dict[str, FloatArray]
    runs: dict[str, FloatArray]
    points: dict[str, FloatArray]
    crossed: dict[str, FloatArray] = field(default_factory=dict)
    seed: int = 0
    exact: frozenset[str] = frozenset()
    chance: float = 0.0
    effective: float = math.inf
    n_groups: int = 0

    def few_groups(self, of: str) -> Note | None:
        """Return why there is no pair or best set (``of``) over groups of points, if there are too few."""
        return few_groups_note(self.n_groups, self.effective, of) if is_few(self.effective) else None

    @property
    def size(self) -> float:
        """Size of the scale of the measure, relative to which a difference of values near 0 may be rounding."""
        is_registered = self.key["measure"] in MEASURES.names()
        return scale_size(MEASURES.card(self.key["measure"]).bounds if is_registered else (), (self.chance,))

    @property
    def limits(self) -> tuple[float, float]:
        """Limits of the difference of the contributions of one point to two embeddings."""
        is_registered = self.key["measure"] in MEASURES.names()
        low, high = MEASURES.card(self.key["measure"]).limits(self.n) if is_registered else UNBOUNDED
        return low - high, high - low

    def crossed_of(self, names: Sequence[str]) -> FloatArray | None:
        """Return the influences (e, P, 2, n) on some embeddings in the partitions that all have; None without them."""
        if not all(name in self.crossed for name in names):
            return None
        partitions = min(len(self.crossed[name]) for name in names)
        return np.stack([self.crossed[name][:partitions] for name in names])

    def interval_of_points(self, first: str, second: str, size: float) -> Interval:
        """Return the jackknife interval of the difference of the first of two embeddings over the second."""
        crossed = self.crossed_of([first, second])
        return jackknife_interval(
            self.values[first] - self.values[second],
            self.left_out[first] - self.left_out[second],
            UNBOUNDED,
            size,
            crossed=None if crossed is None else crossed[0] - crossed[1],
        )


def settings_of(results: Results, names: Sequence[str], measure: Any = None) -> list[Setting]:
    """Return all computed numbers for each measure and setting that has a better direction, for these embeddings."""
    table = results.table[(results.table["test"] == "") & (results.table["measure"] != "")]
    table = table[table["embedding"].isin(names)]
    measured = list(dict.fromkeys(table["measure"]))
    keys = table["measure"] + " " + table["parameters"]
    ranked = ~keys.isin(keys[~table["direction"].isin(["higher", "lower"])])
    requested = check_names(measure, "measure", names_hint(measure, measured)) if measure is not None else []
    for name in set(table["measure"][~ranked]) & {*requested}:
        hint = "Name another measure; the notes of the result may say why."
        raise InputError("measure", "must have a better direction", f"{name!r}, which has none here", hint)
    table = table[ranked & ~table["embedding"].isin(results.failed)]
    runs, table = table, over_replicates(table)
    table = of_measures(table, requested or None)
    kinds = _kinds(results)
    if not kinds:
        hint = "Run the evaluation with ci='points', or with anchors."
        raise InputError("results", "must have been run with intervals", "a result with ci=None", hint)
    if table.empty:
        hint = "Run a measure such as trustworthiness; `dreval list measures` has the direction of each."
        raise InputError("results", "must hold a measure that has a better direction", "none", hint)
    columns = setting_names(results.table)
    settings = []
    for (measure_name, parameters), rows in table.groupby(["measure", "parameters"], sort=False):
        own_runs = runs[(runs["measure"] == measure_name) & (runs["parameters"] == parameters)]
        column = columns[str(measure_name), str(parameters)]
        settings.append(_setting(results, names, rows, own_runs.dropna(subset="value"), column, kinds))
    return settings


def _setting(
    results: Results, names: Sequence[str], rows: pd.DataFrame, runs: pd.DataFrame, column: str, kinds: dict[str, str]
) -> Setting:
    """Return the numbers of one measure and setting: signed so that higher is better.

    ``rows`` has its values, ``runs`` those of each run, and ``column`` is its name in tables of points.
    """
    name, parameters = str(rows["measure"].iloc[0]), str(rows["parameters"].iloc[0])
    card = MEASURES.card(name) if name in MEASURES else None
    n, higher = int(rows["n"].iloc[0]), rows["direction"].iloc[0] == "higher"
    sign = 1.0 if higher else -1.0
    values = dict(zip(rows["embedding"], sign * rows["value"], strict=True))
    groups = results.groups[(results.groups["measure"] == name) & (results.groups["parameters"] == parameters)]
    groups = groups.sort_values(["partition", "group"], kind="stable")
    over_classes = card is not None and card.without_class is not None
    is_exact = (results.recipe.get("anchors") or 0) >= n or (card is not None and card.level == "global")
    has_no_width = (rows["se"] == 0) & (rows["conf_low"] == rows["value"]) & (rows["conf_high"] == rows["value"])
    chance = float(rows["chance"].abs().max())

    def of_points(frames: Mapping[str, pd.DataFrame]) -> dict[str, FloatArray]:
        return {
            embedding: sign * np.asarray(frames[embedding][column], dtype=np.float64)
            for embedding in names
            if embedding in frames and column in frames[embedding].columns
        }

    return Setting(
        {"measure": name, "parameters": parameters},
        n,
        higher,
        {embedding: float(values[embedding]) for embedding in names if embedding in values},
        {e: "classes" if over_classes and kind == "points" else kind for e, kind in kinds.items()},
        left_out=of_points(results._left_out),
        points=of_points(results.points),
        crossed={name: values.reshape(-1, 2, n) for name, values in of_points(results._crossed).items()},
        groups={
            str(embedding): sign * part["value"].to_numpy().reshape(part["partition"].nunique(), -1)
            for embedding, part in groups.groupby("embedding")
        },
        runs={str(embedding): sign * part["value"].to_numpy() for embedding, part in runs.groupby("embedding")},
        chance=0.0 if math.isnan(chance) else chance,
        **_groups_of(results, card),
        seed=int(results.recipe.get("random_state") or 0),
        exact=frozenset(rows["embedding"][is_exact & has_no_width]),
    )


def _groups_of(results: Results, card: Any) -> dict[str, Any]:
    """Return the numbers of groups of a measure, for ``Setting``; none where points are left out one by one."""
    groups = results.recipe.get("groups")
    if groups is None or "groups" not in _kinds(results).values():
        return {}
    labeled = card is not None and "labels" in card.needs
    return {"effective": groups["effective_labeled" if labeled else "effective"], "n_groups": groups["count"]}


def _pair(setting: Setting, first: str, second: str, alpha: float, margin: float | None) -> dict[str, Any]:
    """Return the row of one pair at one measure and setting."""
    kinds = {setting.kinds.get(first, ""), setting.kinds.get(second, "")}
    kind = "seeds" if "seeds" in kinds else kinds.pop() if len(kinds) == 1 else ""  # other seeds go with any kind
    row = {**setting.key, "first": first, "second": second, "n": setting.n, "test": TEST_NAMES.get(kind, kind)}
    row |= {} if margin is None else {"margin": margin}
    missing = [name for name in (first, second) if math.isnan(setting.values[name])]
    if missing:
        return Outcome(notes=(note("inference.no_value", embeddings=missing),)).row(**row)
    difference = setting.values[first] - setting.values[second]
    row |= {"difference": difference, "better": better_name(first, second, difference)}
    if kind == "seeds":
        single = [
            note("pair.one_embedding", embedding=embedding)
            for embedding in (first, second)
            if setting.kinds.get(embedding) != "seeds"
        ]
        outcome = _test_runs(setting.runs[first], setting.runs[second], alpha, margin, setting.chance)
        return replace(outcome, notes=(*single, *outcome.notes)).row(**row)
    both = first in setting.points and second in setting.points
    differences = setting.points[first] - setting.points[second] if both else np.zeros(0)
    differences = differences[np.isfinite(differences)]
    row |= {"n_used": len(differences)} if kind == "anchors" and 0 < len(differences) < setting.n else {}
    size = max(abs(setting.values[first]), abs(setting.values[second]), setting.chance)
    row |= _effects(difference, differences, size)
    if not kind:
        lacking = [name for name in (first, second) if name not in setting.kinds]
        targets = note("inference.targets", of="pair")
        reason = note("inference.no_interval", of="pair", embeddings=lacking) if lacking else targets
        return Outcome(notes=(reason,)).row(**row)
    interval: Interval | None = None
    if kind == "groups" and (few_groups := setting.few_groups("pair")) is not None:
        return Outcome(notes=(few_groups,)).row(**row)
    if {first, second} <= setting.exact:
        return Outcome(se=0.0, interval=(difference, difference), notes=(note("inference.exact"),)).row(**row)
    if kind == "anchors" and len(differences) > 1:
        return _test_anchors(setting, difference, differences, size, alpha, margin).row(**row)
    if kind == "points" and first in setting.left_out and second in setting.left_out:
        interval = setting.interval_of_points(first, second, size)
    elif kind != "anchors" and first in setting.groups and second in setting.groups:
        differences_of_groups = setting.groups[first] - setting.groups[second]
        if kind == "groups":
            freedom = setting.effective - 1
            interval = group_interval(difference, differences_of_groups[0], freedom, UNBOUNDED, size)
        elif kind in ("points", "classes"):
            interval = partitions_interval(difference, differences_of_groups, UNBOUNDED, size)
        else:
            interval = halves_interval(
                difference, differences_of_groups.reshape(-1, 2), setting.n, UNBOUNDED, kind, size
            )
    if interval is None and kind == "anchors" and {first, second} <= setting.groups.keys():
        return Outcome(notes=(note("inference.missed", of="pair"),)).row(**row)
    if interval is None:
        available = setting.left_out.keys() | setting.groups.keys() | setting.exact
        lacking = [name for name in (first, second) if name not in available] or [first, second]
        return Outcome(notes=(note("inference.no_interval", of="pair", embeddings=lacking),)).row(**row)
    return _student_test(difference, interval, alpha, margin, size).row(**row)


def _test_runs(left: FloatArray, right: FloatArray, alpha: float, margin: float | None, size: float) -> Outcome:
    """Return Welch's test of two sets of independent runs, the standardized difference, and the superiority."""
    spreads = [float(np.var(values, ddof=1)) for values in (left, right) if len(values) > 1]
    if not spreads:
        return Outcome(notes=(note("inference.few_runs", of="pair"),))
    difference = float(left.mean() - right.mean())
    spread = beyond_rounding(math.sqrt(float(np.mean(spreads))), left, right, size)
    effect = difference / spread if spread > 0 else math.nan
    probability = superiority((left[:, None] - right).ravel())
    size = max(size, float(np.abs(left).max()), float(np.abs(right).max()))
    outcome = _student_test(difference, welch(left, right, UNBOUNDED), alpha, margin, size)
    return replace(outcome, effect_size=effect, columns={"superiority": probability, **outcome.columns})


def _test_anchors(
    setting: Setting, difference: float, differences: FloatArray, size: float, alpha: float, margin: float | None
) -> Outcome:
    """Return test and interval of the mean difference over all points, from the differences at the anchors.

    With a margin, the betting test uses the larger p of the two margins, each two-sided, which is conservative.
    """
    limits = setting.limits
    test = anchor_test(differences, setting.n, limits, setting.seed, 1 - alpha, size)
    if test is None:
        return Outcome(notes=(note("inference.unbounded", of="pair"),))
    interval, p_value = test
    if interval.kind == "anchors":
        return _student_test(difference, interval, alpha, margin, size)
    columns: dict[str, Any] = {"conf_method": PAIR_METHODS[interval.kind]}
    if margin is not None:
        each = [betting_p(differences, setting.n, *limits, setting.seed, mean=sign * margin) for sign in (-1, 1)]
        student = _student_test(difference, interval, alpha, margin, size).columns.get("p_equivalence", 0.0)
        inside = abs(difference) < margin
        columns["p_equivalence"] = max(*each, student) if inside else 1.0
        columns["p_beyond"] = 1.0 if inside else each[int(difference > 0)]
    ends = (interval.low, interval.high)
    return Outcome(
        math.nan, p_value, "bound", se=interval.se, interval=ends, columns=columns, notes=(note("pair.bets"),)
    )


def _effects(difference: float, differences: FloatArray, size: float) -> dict[str, Any]:
    """Return the difference over the standard deviation of the differences of points, and the superiority."""
    if len(differences) < 2:
        return {}
    spread = beyond_rounding(float(np.std(differences, ddof=1)), differences, size)
    effect = difference / spread if spread > 0 else math.nan
    beyond = np.where(np.abs(differences) <= ROUNDING * max(size, 1.0), 0.0, differences)
    return {"effect_size": effect, "superiority": superiority(beyond)}


def _student_test(difference: float, interval: Interval, alpha: float, margin: float | None, size: float) -> Outcome:
    """Return standard error, interval and Student's test of the difference, or the reason why there is none.

    A difference within rounding of ``size``, the size of the subtracted values, counts as 0.

    With a margin, the result has the two one-sided tests of equivalence on the same standard error (Schuirmann 1987,
    J. Pharmacokinet. Biopharm. 15, 657-680), with the larger of the two p-values. It also has the two-sided p against
    the margin on the side of the difference, which is small if the difference exceeds the margin.
    """
    from scipy.special import stdtr, stdtrit

    if interval.se == 0 and abs(difference) <= ROUNDING * size:
        return Outcome(0.0, 1.0, "asymptotic", se=0.0, notes=(note("pair.equal"),))
    if interval.se == 0:
        return Outcome(se=0.0, notes=(note(NO_SPREAD.get(interval.kind, "inference.fixed"), of="pair"),))
    freedom, se = interval.freedom, interval.se
    half_width = float(stdtrit(freedom, 1 - alpha / 2)) * se

    def two_sided(error: float) -> float:
        return float(2 * stdtr(freedom, -abs(difference / error))) if error > 0 else 0.0

    columns: dict[str, Any] = {"conf_method": PAIR_METHODS[interval.kind]}
    if interval.errors is not None:
        columns["p_low"], columns["p_high"] = (two_sided(error) for error in interval.errors)
    if margin is not None:
        columns["p_equivalence"] = float(stdtr(freedom, (abs(difference) - margin) / se))
        columns["p_beyond"] = min(1.0, 2 * float(stdtr(freedom, (margin - abs(difference)) / se)))
    ends = (difference - half_width, difference + half_width)
    return Outcome(difference / se, two_sided(se), "asymptotic", se=se, interval=ends, columns=columns)


def _standing_rows(setting: Setting, pairs: pd.DataFrame, alpha: float) -> list[dict[str, Any]]:
    """Return one row for each embedding at one measure and setting, the best first, with letters; ties in order."""
    ranks = dict(zip(setting.values, tied_ranks([*setting.values.values()], setting.size), strict=True))
    order = sorted(setting.values, key=lambda name: (math.isnan(ranks[name]), ranks[name]))
    rows = pairs[(pairs["measure"] == setting.key["measure"]) & (pairs["parameters"] == setting.key["parameters"])]
    letters = letters_of([name for name in order if not math.isnan(setting.values[name])], rows, alpha)
    sign = 1.0 if setting.higher else -1.0
    return [
        {
            **setting.key,
            "embedding": name,
            "n": setting.n,
            "value": sign * setting.values[name],
            "letters": letters.get(name, ""),
        }
        for name in order
    ]


# Embeddings compared across data sets and replicates, from any tidy table.

ACROSS_TESTS = ("friedman", "nemenyi", "wilcoxon", "mixed", "bayes")
DEFAULT_TESTS = ("friedman", "nemenyi", "wilcoxon")


@keywords_checked
def compare(
    *results: Results | pd.DataFrame | str | os.PathLike[str] | Sequence[Any],
    names: Sequence[str] | None = None,
    measure: str | Sequence[str] | None = None,
    baseline: str | None = None,
    margin: float | Mapping[str, float] | None = None,
    rope: float | None = None,
    direction: str | Mapping[str, str] | None = None,
    tests: str | Sequence[str] = "default",
    alpha: float = 0.05,
    adjust: str | None = "holm",
    columns: Mapping[str, str] | None = None,
    random_state: int | np.random.Generator | None = 0,
) -> Comparison:
    """Compare embeddings on one data set, or across data sets and replicates.

    The embeddings of one result (or its saved file), and of several results on the same data (by hash), are compared by
    their points, as by ``Results.compare``. All other input is compared across data sets: these are the sample, and
    every test refers to further data sets like these.
    Replicates (re-runs, seeds) are averaged within data set before ranking, since re-runs are not new data sets; the
    mixed model uses them separately.

    Parameters
    ----------
    *results : DataFrame, Results or path, or one list of them
        A tidy table with the columns ``dataset``, ``embedding`` and ``value``, and optionally ``measure``,
        ``parameters``, ``replicate`` and ``direction``; a file of such a table (.csv, .tsv, .parquet) from any program;
        the result of ``Evaluation.run``, or its saved file; the file of a ``Study``. Of results on the same data, the
        same points are paired: metric, anchors and level of the intervals must agree, and a name that several of them
        have gets the stem of the file, or the position, as a prefix. Next to results on other data they are one data
        set, those with another seed its replicates.
    names : list of str, optional
        The embeddings to compare; all by default. Embeddings that results and studies mark as equal to a data set are
        left out on it by default.
    measure : str or list of str, optional
        Which measures; all by default, each separately.
    baseline : str, optional
        One embedding: all others are compared only with it. It is the second of every pair; p-values
        are adjusted over these pairs only, except those of Nemenyi's test, which hold for all pairs, and there are no
        letters. All pairs by default.
    margin : float or dict of measure to float, optional
        On one data set: margin of equivalence, in the unit of the measure; see ``Results.compare``.
    rope : float, optional
        Across data sets: region of practical equivalence, in the unit of the measure. Smaller differences count as
        equivalent, and a difference of exactly ``rope`` counts half, as in baycomp, the program of the test's authors.
    direction : {"higher", "lower"} or dict of measure to one of them, optional
        Which direction is better. By default that of the table, else that of the card of the measure.
    tests : "default", "all" or list of str
        "friedman" (chi-square corrected for ties, with the F of Iman and Davenport, and up to 30 data sets the p from
        all arrangements of the ranks, or from 9,999 random ones, which then decides; Skillings-Mack if cells are
        missing, with p by permutation within data sets; needs three embeddings), "nemenyi" (all pairs of mean ranks),
        "wilcoxon" (signed ranks of each pair), "mixed" (a linear mixed model), "bayes" (needs ``rope``). "default" is
        the first three, and "bayes" with ``rope``.
    alpha : float
        Level of the critical difference, the letters, the intervals of differences and the sentences; 0.05 also for a
        result whose intervals have another level.
    adjust : "holm", "benjamini_hochberg" or None
        Adjustment over all pairs and measures that have the same test. Nemenyi's p-values hold for all pairs of a
        measure already, and are adjusted over measures. "BH" and "fdr_bh" are accepted for "benjamini_hochberg".
    columns : dict, optional
        Column names of the tables, as ``{"embedding": "algorithm", "value": "score"}``.
    random_state : int, Generator or None
        Seed of the posterior draws of "bayes", and of the arrangements of "friedman" if they are too many to enumerate.

    Returns
    -------
    Comparison
        Methods ``tidy``, ``glance``, ``wins``, ``summary``, ``paragraph``, ``plot``.

    Raises
    ------
    InputError
        For two values of one cell, an infinite value, an unknown direction, fewer than two embeddings on two data sets;
        for ``rope``, ``direction``, ``tests`` or ``columns`` on one data set, and ``margin`` across data sets; for
        results on the same data that differ in metric, anchors or level.
    UnknownName
        For an unknown measure, test or choice.

    Notes
    -----
    Pairs are compared on the data sets that have both embeddings; mean ranks, Nemenyi and the critical difference use
    the data sets that have all. One test decides letters, diagrams, forests and sentences. It is the Wilcoxon tests if
    they are run, which unlike Nemenyi's do not depend on the other embeddings (Benavoli, Corani and Mangili 2016). On N
    data sets no exact Wilcoxon p is below 2 / 2^N: if after adjustment none can reach ``alpha``, Nemenyi's test
    decides, else the mixed model, if one was run and can be significant on more measures. The recipe has the name of
    the test (``decided_by``) and the smallest adjusted p that it can have (``attainable``). The summary names the test,
    the smallest adjusted p that a test before it could have had, and, where no difference could have been significant,
    how many data sets would be enough. Values that agree to 12 digits are ties. The difference next to Wilcoxon's test
    is the Hodges-Lehmann estimate, the median of the averages of any two differences (including each with itself),
    which is always in the interval of the test, unlike the median of the differences. O(N k^2) time; "bayes" O(50,000
    N^2) for each pair.

    References
    ----------
    Demsar (2006), Statistical comparisons of classifiers over multiple data sets, J. Mach. Learn. Res. 7, 1-30.
    Iman and Davenport (1980), Commun. Stat. 9, 571-595. Skillings and Mack (1981), Technometrics 23, 171-177.
    Benavoli, Corani, Demsar and Zaffalon (2017), J. Mach. Learn. Res. 18(77), 1-36.

    Examples
    --------
    >>> import pandas as pd, dreval
    >>> table = pd.DataFrame({"dataset": list("aabbccddee"), "embedding": ["umap", "pca"] * 5,
    ...                       "value": [0.9, 0.8, 0.8, 0.6, 0.95, 0.7, 0.7, 0.65, 0.9, 0.6]})
    >>> comparison = dreval.compare(table, direction="higher")
    >>> comparison.tidy()[["first", "second", "test", "n", "difference", "p_value"]]
      first second      test  n  difference  p_value
    0  umap    pca  wilcoxon  5      0.175   0.0625
    """
    inputs, labels = _inputs(results)
    if on_same_data(inputs):
        _check_left_out(rope=rope, direction=direction, columns=columns, tests=None if tests == "default" else tests)
        result, notes = combined(inputs, labels)
        options: dict[str, Any] = {"measure": measure, "baseline": baseline, "margin": margin, "alpha": alpha}
        return compare_pairs(result, names, **options, adjust=adjust, notes=notes, several=len(inputs) > 1)
    if margin is not None:
        hint = "Across data sets pass {rope}: differences below it count as equivalent."
        raise InputError("margin", "must be used on one data set only", f"{margin!r} with several", hint, rope="rope")
    alpha = check_float(alpha, "alpha", low=1e-6, high=0.5)
    rope = None if rope is None else check_float(rope, "rope", low=0.0)
    adjust, requested, root = check_adjustment(adjust), _requested_tests(tests, rope), root_seed(random_state)
    named = [] if names is None else check_names(names, "names", names_hint(names, ()))
    table, notes, metric = gather(inputs, columns, [*named, *([baseline] if isinstance(baseline, str) else [])])
    compared = families(table, measure, direction, named or None, baseline)
    rows = [_family_rows(family, requested, rope if "bayes" in requested else None, alpha, root) for family in compared]
    overall = [row for overall_of_family, _ in rows for row in overall_of_family]
    pairs = [row for _, pairs_of_family in rows for row in pairs_of_family if baseline in (None, row["second"])]
    frame = pair_frame(pairs, alpha)
    frame["p_adjusted"] = adjusted_p_values(frame, adjust, SIMULTANEOUS_TESTS)
    frame = keep_significant(frame, alpha)
    families_by_name = {full_name(family.measure, family.parameters): family for family in compared}
    decided = decisive_test(frame, families_by_name, alpha, adjust)
    deciding = frame[frame["test"] == decided["decided_by"]]
    standing = pd.DataFrame([row for family in compared for row in _standing_rows_across(family, deciding, alpha)])
    arguments = {
        "names": names,
        "measure": measure,
        "baseline": baseline,
        "direction": direction,
        "tests": tests,
        "rope": rope,
        "columns": columns,
        "alpha": alpha,
        "adjust": adjust,
        "random_state": root,
    }
    return Comparison(
        pairs=frame,
        overall=overall_frame(overall),
        standing=standing[list(STANDING_COLUMNS)],
        families=families_by_name,
        recipe=_recipe(arguments, metric, requested, decided),
        notes=notes_frame(
            [{"notes": notes}, *({**f.key, "notes": f.notes} for f in compared), *overall, *pairs], PAIR_NOTE_KEYS
        ),
    )


def _recipe(
    arguments: Mapping[str, Any], metric: str | None, tests: Collection[str], decided: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what a comparison across data sets was made with, and the call that repeats it."""
    recipe = {"kind": "datasets", "alpha": arguments["alpha"], "adjust": arguments["adjust"] or "nothing"}
    recipe |= {"rope": arguments["rope"]}
    recipe |= {name: value for name, value in (("baseline", arguments["baseline"]), ("metric", metric)) if value}
    recipe |= {"call": reproducing_call("dreval.compare", ["results"], arguments, compare)}
    recipe |= {"tests": [name for name in ACROSS_TESTS if name in tests], "random_state": arguments["random_state"]}
    return {**recipe, **decided}


def _check_left_out(**across: Any) -> None:
    """Raise for an argument of comparisons across data sets where there is one result."""
    for argument, value in across.items():
        if value is not None:
            addition = "; the margin of equivalence on one data set is {margin}" if argument == "rope" else ""
            hint, received = f"Leave it out{addition}.", f"{value!r} with one result"
            raise InputError(argument, "must be used across data sets only", received, hint, margin="margin")


def _inputs(results: tuple[Any, ...]) -> tuple[list[Any], list[str]]:
    """Return the results, tables and files, with saved results loaded, and the name of each: its file or position."""
    items = list(results[0]) if len(results) == 1 and isinstance(results[0], list | tuple) else list(results)
    compared = {name for item in items if isinstance(item, Results) for name in item.names}
    if names := [item for item in items if isinstance(item, str) and item in compared and not os.path.exists(item)]:
        requirement, received = "must be results, tables or their files", f"{names[0]!r}, the name of an embedding"
        raise InputError("results", requirement, received, "Pass {names}.", names=Hint("names", names))
    inputs = [load_evaluation(Path(item), "results") if _is_saved_result(item) else item for item in items]
    stems = [Path(item).stem if isinstance(item, str | os.PathLike) else "" for item in items]
    labels = [stem if stem and stems.count(stem) == 1 else str(i + 1) for i, stem in enumerate(stems)]
    return inputs, labels


def _is_saved_result(item: Any) -> bool:
    """Return whether an input is the path of a saved result, not of a table or a study."""
    is_path = isinstance(item, str | os.PathLike)
    return is_path and not is_journal(Path(item)) and Path(item).suffix.lower() not in TABLE_SUFFIXES


def _requested_tests(tests: Any, rope: float | None) -> tuple[str, ...]:
    """Return the requested tests."""
    if tests == "default":
        return (*DEFAULT_TESTS, *(("bayes",) if rope is not None else ()))
    requested = ACROSS_TESTS if tests == "all" else [tests] if isinstance(tests, str) else list(tests)
    names = [check_one_of(name, (*ACROSS_TESTS, "default", "all"), "tests", aliases=True) for name in requested]
    if "bayes" in names and rope is None:
        hint = "Pass {rope}: differences below it count as equivalent, in the unit of the measure."
        raise InputError("rope", "must be given for the Bayesian test", "none", hint, rope=Hint("rope", 0.01))
    return tuple(names)


def _family_rows(
    family: Family, requested: Sequence[str], rope: float | None, alpha: float, root: int
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the overall tests and pairs of one measure."""
    rng = stream(root, "friedman", family.measure, family.parameters)
    overall = [{**family.key, **row} for row in overall_rows(family.goodness, rng)] if "friedman" in requested else []
    pairs = nemenyi_rows(family, alpha) if "nemenyi" in requested else []
    pairs += [row for row in signed_rank_rows(family, rope, alpha, root) if row["test"] in requested]
    if "mixed" in requested:
        overall_row, rows = mixed_rows(family, alpha)
        overall.append({**family.key, **overall_row})
        pairs += rows
    return overall, pairs


def _standing_rows_across(family: Family, pairs: pd.DataFrame, alpha: float) -> list[dict[str, Any]]:
    """Return one row for each embedding, the best first by mean rank, then mean; letters by the pairs of one test."""
    complete = family.goodness[np.isfinite(family.goodness).all(axis=1)]
    k = len(family.names)
    ranks = block_ranks(complete).mean(axis=0) if len(complete) else np.full(k, np.nan)
    order = np.lexsort((tied_ranks(np.nanmean(family.goodness, axis=0)), tied_ranks(-ranks)))
    rows = pairs[(pairs["measure"] == family.measure) & (pairs["parameters"] == family.parameters)]
    names = [family.names[index] for index in order]
    letters = letters_of(names, rows, alpha)
    return [
        {
            **family.key,
            "embedding": family.names[index],
            "n": int(family.cells.iloc[:, index].notna().sum()),
            "value": float(family.cells.iloc[:, index].mean()),
            "sd": float(family.cells.iloc[:, index].std()),
            "mean_rank": float(ranks[index]),
            "letters": letters.get(family.names[index], ""),
        }
        for index in order
    ]
