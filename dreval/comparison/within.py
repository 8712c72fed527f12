"""Embeddings of one data set compared by its points: paired differences of every pair, for each measure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dreval._check import FloatArray, check_float, check_names, describe
from dreval.comparison._pairs import ahead, compared_pairs, letters_of, only_found, pair_frame, superiority
from dreval.comparison._tables import names_hint, of_measures
from dreval.errors import Hint, InputError
from dreval.glossary import OVERALL_COLUMNS, STANDING_COLUMNS
from dreval.inference.adjustment import adjust_p_values, check_adjustment
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
from dreval.records.call import written_again
from dreval.records.comparison import Comparison
from dreval.records.frames import PAIR_NOTE_KEYS, notes_frame, over_replicates, setting_names
from dreval.records.notes import note
from dreval.records.results import Results
from dreval.registry import MEASURES, METHODS

UNBOUNDED = (-math.inf, math.inf)
TEST_NAMES = {"points": "jackknife"}  # of the other kinds of interval the name is that of the kind


def compare_pairs(
    results: Results,
    names: Sequence[str] | None = None,
    *,
    measure: str | Sequence[str] | None = None,
    baseline: str | None = None,
    margin: float | Mapping[str, float] | None = None,
    alpha: float = 0.05,
    adjust: str | None = "holm",
) -> Comparison:
    """Which embedding of one data set is better? See ``Results.compare``."""
    alpha = check_float(alpha, "alpha", low=1e-6, high=0.5)
    adjust = check_adjustment(adjust)
    requested = _requested(results, names, baseline)
    left = tuple(name for name in results.reference if names is None and name not in requested)
    settings = settings_of(results, requested, measure) if requested else []
    if len(requested) < 2 or len(settings[0].values) < 2:
        cure = "Name two or more, or none for all." if names is not None else "Add another embedding to the evaluation."
        got, hints = ", ".join(settings[0].values if settings else requested) or "none", {}
        if left:
            got = f"{got}; {', '.join(left)} {'is' if len(left) == 1 else 'are'} the data"
            cure = f"{cure[:-1]}, or pass {{names}} to compare with the data."
            hints = {"names": Hint("names", [name for name in results.names if name not in results.failed])}
        raise InputError("names", "must name two embeddings that were computed", got, cure, **hints)
    if baseline is not None:
        METHODS.check_run(baseline, list(settings[0].values), "baseline")
    margins = _margins(margin, list(dict.fromkeys(at.key["measure"] for at in settings)))
    made = [
        _pair(at, first, second, alpha, margins.get(at.key["measure"]))
        for at in settings
        for first, second in compared_pairs(list(at.values), baseline)
    ]
    pairs = adjust_p_values(pair_frame(made, alpha, "pairs"), adjust)
    if margins:
        pairs = _judge_margins(pairs, [row.get("p_beyond", math.nan) for row in made], alpha, adjust)
    pairs = only_found(pairs, alpha)
    recipe = {"kind": "points", "alpha": alpha, "adjust": adjust or "nothing", "rope": None, "margin": margins}
    given = {"measure": measure, "baseline": baseline, "margin": margin, "alpha": alpha, "adjust": adjust}
    words = [repr(names if isinstance(names, list | tuple) else requested)] if names is not None else []
    recipe |= {} if baseline is None else {"baseline": baseline}
    recipe |= {"call": written_again("results.compare", words, given, compare_pairs)}
    recipe |= {"tests": list(dict.fromkeys(pairs["test"])), "random_state": results.recipe.get("random_state")}
    recipe |= {key: results.recipe.get(key) for key in ("dataset", "n", "anchors", "conf_level")}
    left_out = (note("pair.reference", names=left, count=len(left)),) if left else ()
    return Comparison(
        pairs=pairs,
        overall=pd.DataFrame(columns=list(OVERALL_COLUMNS)),
        standing=pd.DataFrame(
            [row for at in settings for row in _standing(at, pairs, alpha)], columns=[*STANDING_COLUMNS]
        ),
        results=results,
        recipe=recipe,
        notes=notes_frame([{"notes": left_out}, *made], PAIR_NOTE_KEYS),
    )


def contenders(results: Results) -> list[str]:
    """Return the embeddings that were computed and are not the data: those that are compared by default."""
    return [name for name in results.names if name not in results.failed and name not in results.reference]


def _requested(results: Results, names: Any, baseline: str | None = None) -> list[str]:
    """Return the embeddings that are compared, in the order in which they are named; one that failed is refused.

    By default those that were computed; the data, where they are among the embeddings, only if they are the baseline.
    """
    known = [name for name in results.names if name not in results.failed]
    if names is None:
        compared = contenders(results)
        return [name for name in known if name in compared or name == baseline]
    requested = check_names(names, "names", names_hint(names, known))
    for name in requested:
        if name in results.failed:
            cure = f"Leave it out. It failed: {results.failed[name]}"
            raise InputError("names", "must name embeddings that were computed", repr(name), cure)
        METHODS.check_run(name, known, "names")
    return requested


def _margins(margin: Any, measures: list[str]) -> dict[str, float]:
    """The margin of equivalence of each measure that has one, in the unit of the measure."""
    if margin is None:
        return {}
    if not isinstance(margin, Mapping):
        check_float(margin, "margin", low=0.0)
        if len(measures) > 1:
            rule, each = "must name the measure where several are compared", Hint("margin", {measures[0]: margin})
            cure = "Pass {each}, or compare one measure by {measure}."
            raise InputError("margin", rule, describe(margin), cure, each=each, measure="measure")
        margin = {measures[0]: margin}
    for name in margin:
        MEASURES.check_run(name, measures, "margin")
    given = {name: check_float(value, f"margin[{name!r}]", low=0.0) for name, value in margin.items()}
    for name, value in given.items():
        if value == 0:
            raise InputError(f"margin[{name!r}]", "must be positive", "0", "No difference at all cannot be shown.")
    return given


def _judge_margins(pairs: pd.DataFrame, beyond: Sequence[float], alpha: float, adjust: str | None) -> pd.DataFrame:
    """The p-values of equivalence adjusted over all of them, a family of its own, and a verdict on each pair.

    ``beyond`` are the p-values of an advantage or disadvantage of at most the margin, adjusted in the same way. Pairs
    without a standard error, because their difference is known, need no test.
    """

    def adjusted(p: Any) -> pd.Series[float]:
        own = pairs.assign(p_value=p, p_adjusted=math.nan, family="equivalence")
        made: pd.Series[float] = adjust_p_values(own, adjust)["p_adjusted"]
        return made

    pairs = pairs.assign(p_equivalence_adjusted=adjusted(pairs["p_equivalence"]))
    more = adjusted(np.asarray(beyond, dtype=np.float64))
    equivalent, more = pairs["p_equivalence_adjusted"], more.where(more.notna(), pd.Series(beyond, pairs.index))
    equivalent = equivalent.where(equivalent.notna(), pairs["p_equivalence"])
    known = (pairs["se"] == 0) & ((pairs["conf_low"] == pairs["conf_high"]) | (pairs["statistic"] == 0))
    size = pairs["advantage"].abs()
    side = np.where(pairs["advantage"] > 0, "better", "worse")
    judged = pairs["margin"].notna() & (known | equivalent.notna())
    verdict = np.where((more <= alpha) | (known & (size >= pairs["margin"])), side, "not shown")
    verdict = np.where((equivalent <= alpha) | (known & (size < pairs["margin"])), "equivalent", verdict)
    return pairs.assign(equivalence=np.where(judged, verdict, ""))


def _kinds(results: Results) -> dict[str, str]:
    """The kind of interval of every embedding that has one; results saved before there were several say less."""
    said = results.recipe.get("intervals")
    if said is None:
        usual = "anchors" if results.recipe.get("anchors") else "" if results.groups.empty else "points"
        said = dict.fromkeys(results.names, usual)
    return {name: kind for name, kind in said.items() if kind}


def comparable(results: Results) -> bool:
    """Whether a result can be ranked and compared: several embeddings, intervals, and a measure with a better end."""
    ranked = results.table["direction"].isin(["higher", "lower"])
    return len(contenders(results)) > 1 and bool(_kinds(results)) and bool(ranked.any())


@dataclass(frozen=True)
class Setting:
    """All embeddings at one measure and setting, everything turned so that large is good.

    Attributes
    ----------
    key : dict
        measure and parameters.
    n : int
        Number of points.
    higher : bool
        Whether high values of the measure are the good ones.
    values : dict of str to float
        The value of each embedding, the mean over its runs where there are several; NaN where there is none.
    kinds : dict of str to str
        The kind of interval of each embedding that has one.
    left_out : dict of str to ndarray (n,)
        Values without each point.
    groups : dict of str to ndarray (partitions, groups)
        Values without each group of points or anchors, or at halves of the points.
    runs : dict of str to ndarray
        Values of runs with other seeds.
    points : dict of str to ndarray (n,)
        Contributions of points, missing beside anchors.
    seed : int
        The seed of the results.
    exact : frozenset of str
        Embeddings whose value for the target of the interval is known without error.
    chance : float
        Size of the chance level, 0 where there is none: beside it values of copies that differ by rounding are equal.
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
    seed: int = 0
    exact: frozenset[str] = frozenset()
    chance: float = 0.0

    @property
    def size(self) -> float:
        """Size of the scale of the measure, beside which a difference of values near 0 may be rounding."""
        known = self.key["measure"] in MEASURES.names()
        return scale_size(MEASURES.card(self.key["measure"]).bounds if known else (), (self.chance,))

    @property
    def limits(self) -> tuple[float, float]:
        """Between what the contributions of one point to two embeddings can differ."""
        known = self.key["measure"] in MEASURES.names()
        low, high = MEASURES.card(self.key["measure"]).limits(self.n) if known else UNBOUNDED
        return low - high, high - low


def settings_of(results: Results, names: Sequence[str], measure: Any = None) -> list[Setting]:
    """What a result knows of each measure and setting that has a better end, for some embeddings that were computed."""
    table = results.table[(results.table["test"] == "") & (results.table["measure"] != "")]
    ranked, measured = table["direction"].isin(["higher", "lower"]), list(dict.fromkeys(table["measure"]))
    wanted = check_names(measure, "measure", names_hint(measure, measured)) if measure is not None else []
    for name in set(table["measure"][~ranked]) & {*wanted}:
        raise InputError(
            "measure", "must have a better end", f"{name!r}, which only describes", "Name another measure."
        )
    table = table[ranked & ~table["embedding"].isin(results.failed)]
    runs, table = table, over_replicates(table)
    table = table[table["embedding"].isin(names)]
    table = of_measures(table, wanted or None)
    kinds = _kinds(results)
    if not kinds:
        cure = "Run the evaluation with ci='points', or with anchors."
        raise InputError("results", "must have been run with intervals", "a result with ci=None", cure)
    if table.empty:
        cure = "Run a measure such as trustworthiness; dreval list measures says which way each is better."
        raise InputError("results", "must hold a measure that has a better end", "none", cure)
    made, columns_of = [], setting_names(results.table)
    for (name, parameters), rows in table.groupby(["measure", "parameters"], sort=False):
        key, higher = {"measure": str(name), "parameters": str(parameters)}, rows["direction"].iloc[0] == "higher"
        column, sign = columns_of[str(name), str(parameters)], 1.0 if higher else -1.0
        known = dict(zip(rows["embedding"], sign * rows["value"], strict=True))
        mine = runs[(runs["measure"] == name) & (runs["parameters"] == parameters)].dropna(subset="value")
        parts = results.groups[(results.groups["measure"] == name) & (results.groups["parameters"] == parameters)]
        parts = parts.sort_values(["partition", "group"], kind="stable")
        frames = {"left_out": results.left_out, "points": results.points}
        columns = {
            what: {
                e: sign * np.asarray(frame[e][column], dtype=np.float64)
                for e in names
                if e in frame and column in frame[e].columns
            }
            for what, frame in frames.items()
        }
        groups = {
            str(e): sign * part["value"].to_numpy().reshape(part["partition"].nunique(), -1)
            for e, part in parts.groupby("embedding")
        }
        seeds = {str(e): sign * part["value"].to_numpy() for e, part in mine.groupby("embedding")}
        values = {e: float(known[e]) for e in names if e in known}
        seed = int(results.recipe.get("random_state") or 0)
        n = int(rows["n"].iloc[0])
        left = key["measure"] in MEASURES and MEASURES.card(key["measure"]).without_class is not None
        own_kinds = {e: "classes" if left and kind == "points" else kind for e, kind in kinds.items()}
        whole = (results.recipe.get("anchors") or 0) >= n or (
            key["measure"] in MEASURES and MEASURES.card(key["measure"]).level == "global"
        )
        sure = whole & (rows["se"] == 0) & (rows["conf_low"] == rows["value"]) & (rows["conf_high"] == rows["value"])
        chance = float(rows["chance"].abs().max())
        more: dict[str, Any] = {"chance": 0.0 if math.isnan(chance) else chance}
        more |= {**columns, "seed": seed, "exact": frozenset(rows["embedding"][sure])}
        made.append(Setting(key, n, higher, values, own_kinds, groups=groups, runs=seeds, **more))
    return made


def _pair(at: Setting, first: str, second: str, alpha: float, margin: float | None) -> dict[str, Any]:
    """The row of one pair at one measure and setting."""
    kind = _shared_kind(at.kinds.get(first, ""), at.kinds.get(second, ""))
    row = {**at.key, "first": first, "second": second, "n": at.n, "test": TEST_NAMES.get(kind, kind)}
    row |= {} if margin is None else {"margin": margin}
    missing = [name for name in (first, second) if math.isnan(at.values[name])]
    if missing:
        return {**row, "notes": (note("pair.no_value", embeddings=missing),)}
    advantage = at.values[first] - at.values[second]
    row |= {"advantage": advantage, "better": ahead(first, second, advantage)}
    if kind == "seeds":
        single = [note("pair.one_embedding", embedding=e) for e in (first, second) if at.kinds.get(e) != "seeds"]
        made = _of_runs(at.runs[first], at.runs[second], alpha, margin, at.chance)
        return {**row, **made, "notes": (*single, *made.get("notes", ()))}
    both = first in at.points and second in at.points
    differences = at.points[first] - at.points[second] if both else np.zeros(0)
    differences = differences[np.isfinite(differences)]
    row |= {"n_used": len(differences)} if kind == "anchors" and 0 < len(differences) < at.n else {}
    size = max(abs(at.values[first]), abs(at.values[second]), at.chance)
    row |= _effects(advantage, differences, size)
    if not kind:
        without = [name for name in (first, second) if name not in at.kinds]
        reason = note("pair.no_interval", embeddings=without) if without else note("pair.targets")
        return {**row, "notes": (reason,)}
    interval: Interval | None = None
    if {first, second} <= at.exact:
        known = {"se": 0.0, "conf_low": advantage, "conf_high": advantage}
        return {**row, **known, "notes": (note("pair.exact"),)}
    if kind == "anchors" and len(differences) > 1:
        return {**row, **_of_anchors(at, advantage, differences, size, alpha, margin)}
    if kind == "points" and first in at.left_out and second in at.left_out:
        interval = jackknife_interval(advantage, at.left_out[first] - at.left_out[second], UNBOUNDED, size)
    elif kind != "anchors" and first in at.groups and second in at.groups:
        gaps = at.groups[first] - at.groups[second]
        if kind in ("points", "classes"):
            interval = partitions_interval(advantage, gaps, UNBOUNDED, size)
        else:
            interval = halves_interval(advantage, gaps.reshape(-1, 2), at.n, UNBOUNDED, kind, size)
    if interval is None and kind == "anchors" and {first, second} <= at.groups.keys():
        return {**row, "notes": (note("pair.few_carry"),)}
    if interval is None:
        held = at.left_out.keys() | at.groups.keys() | at.exact
        without = [name for name in (first, second) if name not in held] or [first, second]
        return {**row, "notes": (note("pair.no_interval", embeddings=without),)}
    return {**row, **_tested(advantage, interval, alpha, margin, size)}


def _shared_kind(first: str, second: str) -> str:
    """The kind by which a pair is tested: what both have; runs with other seeds are compared with anything."""
    return "seeds" if "seeds" in (first, second) else first * (first == second)


def _of_runs(first: FloatArray, second: FloatArray, alpha: float, margin: float | None, size: float) -> dict[str, Any]:
    """Welch's test of two sets of independent runs, their distance in standard deviations, and who wins how often."""
    spreads = [float(np.var(values, ddof=1)) for values in (first, second) if len(values) > 1]
    if not spreads:
        return {"notes": (note("pair.few_runs"),)}
    advantage = float(first.mean() - second.mean())
    spread = beyond_rounding(math.sqrt(float(np.mean(spreads))), first, second, size)
    effect = advantage / spread if spread > 0 else math.nan
    often = superiority((first[:, None] - second).ravel())
    size = max(size, float(np.abs(first).max()), float(np.abs(second).max()))
    found = _tested(advantage, welch(first, second, UNBOUNDED), alpha, margin, size)
    return {"effect_size": effect, "superiority": often, **found}


def _of_anchors(
    at: Setting, advantage: float, differences: FloatArray, size: float, alpha: float, margin: float | None
) -> dict[str, Any]:
    """Test and interval of the mean difference over all points, from the differences of those that are anchors.

    With a margin, where bets were used, the larger p of the two margins, each of both sides: conservative.
    """
    limits = at.limits
    found = anchor_test(differences, at.n, limits, at.seed, 1 - alpha, size)
    if found is None:
        return {"notes": (note("pair.unbounded"),)}
    interval, p_value = found
    if interval.kind == "anchors":
        return _tested(advantage, interval, alpha, margin, size)
    made = {
        "se": interval.se,
        "conf_low": interval.low,
        "conf_high": interval.high,
        "p_value": p_value,
        "p_kind": "bound",
    }
    if margin is not None:
        each = [betting_p(differences, at.n, *limits, at.seed, mean=sign * margin) for sign in (-1, 1)]
        usual = _tested(advantage, interval, alpha, margin, size).get("p_equivalence", 0.0)
        inside = abs(advantage) < margin
        made["p_equivalence"] = max(*each, usual) if inside else 1.0
        made["p_beyond"] = 1.0 if inside else each[int(advantage > 0)]
    return {**made, "notes": (note("pair.bets"),)}


def _effects(advantage: float, differences: FloatArray, size: float) -> dict[str, Any]:
    """The advantage over the standard deviation of the differences of points, and the probability of superiority."""
    if len(differences) < 2:
        return {}
    spread = beyond_rounding(float(np.std(differences, ddof=1)), differences, size)
    effect = advantage / spread if spread > 0 else math.nan
    return {"effect_size": effect, "superiority": superiority(differences)}


def _tested(advantage: float, interval: Interval, alpha: float, margin: float | None, size: float) -> dict[str, Any]:
    """Standard error, interval and Student's test of the advantage, or the reason why there is none.

    An advantage that is rounding beside ``size``, the size of what was subtracted, is none.

    With a margin also the two one-sided tests of equivalence on the same standard error (Schuirmann 1987,
    J. Pharmacokinet. Biopharm. 15, 657-680): the larger of the p of "worse by the margin" and of "better by it". And
    the two-sided p against the margin on the side of the advantage, small where the difference is larger than it.
    """
    from scipy.special import stdtr, stdtrit

    if interval.se == 0 and abs(advantage) <= ROUNDING * size:
        none = {"se": 0.0, "statistic": 0.0, "p_value": 1.0, "p_kind": "asymptotic"}
        return {**none, "notes": (note("pair.equal"),)}
    if interval.se == 0:
        return {"se": 0.0, "notes": (note("pair.same_runs" if interval.kind == "seeds" else "pair.fixed"),)}
    freedom, se = interval.freedom, interval.se
    half = float(stdtrit(freedom, 1 - alpha / 2)) * se

    def two_sided(error: float) -> float:
        return float(2 * stdtr(freedom, -abs(advantage / error)))

    made = {
        "se": se, "conf_low": advantage - half, "conf_high": advantage + half, "statistic": advantage / se,
        "p_value": two_sided(se), "p_kind": "asymptotic",
    }  # fmt: skip
    if interval.doubt > 0:
        made["p_low"], made["p_high"] = (two_sided(se * math.exp(sign * interval.doubt / 2)) for sign in (-1, 1))
    if margin is not None:
        made["p_equivalence"] = float(stdtr(freedom, (abs(advantage) - margin) / se))
        made["p_beyond"] = min(1.0, 2 * float(stdtr(freedom, (margin - abs(advantage)) / se)))
    return made


def _standing(at: Setting, pairs: pd.DataFrame, alpha: float) -> list[dict[str, Any]]:
    """One row for each embedding at one measure and setting, the best first, with its letters; ties as they came."""
    ranks = dict(zip(at.values, tied_ranks([*at.values.values()], at.size), strict=True))
    order = sorted(at.values, key=lambda name: (math.isnan(ranks[name]), ranks[name]))
    mine = pairs[(pairs["measure"] == at.key["measure"]) & (pairs["parameters"] == at.key["parameters"])]
    letters = letters_of([name for name in order if not math.isnan(at.values[name])], mine, alpha)
    sign = 1.0 if at.higher else -1.0
    return [
        {**at.key, "embedding": name, "n": at.n, "value": sign * at.values[name], "letters": letters.get(name, "")}
        for name in order
    ]
