"""Compare the embeddings of one result, or of results over several data sets, and rank them.

``compare`` is ``dreval.compare``. It adjusts p-values within a family of pairs, and gives the best set of each measure.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dreval._check import FloatArray, check_float, check_names, check_one_of, describe, keywords_checked
from dreval._random import root_seed, stream
from dreval.comparison.base import (
    AT_ONCE,
    TABLES,
    ahead,
    block_ranks,
    compared_pairs,
    decisive_test,
    families,
    gather,
    letters_of,
    mixed_rows,
    names_hint,
    nemenyi_rows,
    of_measures,
    only_found,
    overall_frame,
    overall_rows,
    pair_frame,
    signed_rank_rows,
    superiority,
)
from dreval.errors import Hint, InputError
from dreval.glossary import OVERALL_COLUMNS, STANDING_COLUMNS
from dreval.inference.adjustment import adjust_p_values, check_adjustment
from dreval.inference.best_set import best_set
from dreval.inference.intervals import (
    ROUNDING,
    Interval,
    anchor_test,
    betting_p,
    beyond_rounding,
    half_share,
    halves_interval,
    jackknife_covariance,
    jackknife_interval,
    partitions_interval,
    welch,
)
from dreval.inference.ties import is_tie, scale_size, tied_ranks
from dreval.records.answers import written_again
from dreval.records.archive import load_evaluation
from dreval.records.base import is_journal
from dreval.records.comparison import Comparison, Family
from dreval.records.frames import PAIR_NOTE_KEYS, full_name, notes_frame, over_replicates, setting_names
from dreval.records.notes import Note, note
from dreval.records.results import Results
from dreval.registry import MEASURES, METHODS

# Embeddings of one data set compared by its points: paired differences of every pair, for each measure.

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
            [row for at in settings for row in _standing_in_setting(at, pairs, alpha)], columns=[*STANDING_COLUMNS]
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


def _standing_in_setting(at: Setting, pairs: pd.DataFrame, alpha: float) -> list[dict[str, Any]]:
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


# Embeddings compared across data sets and replicates, from any tidy table.

ACROSS_TESTS = ("friedman", "nemenyi", "wilcoxon", "mixed", "bayes")
DEFAULT = ("friedman", "nemenyi", "wilcoxon")


@keywords_checked
def compare(
    results: Results | pd.DataFrame | str | os.PathLike[str] | Sequence[Any],
    names: Sequence[str] | None = None,
    *,
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

    One result (or its saved file) is compared by its points, as ``Results.compare`` does. Everything else is compared
    across data sets: they are the sample, and every test refers to further data sets like these. Replicates (re-runs,
    seeds) are averaged within data set before ranks are taken, since re-runs are no new data sets; the mixed model
    keeps them.

    Parameters
    ----------
    results : DataFrame, Results, path, or list of them
        A tidy table with the columns ``dataset``, ``embedding`` and ``value``, and where there are any ``measure``,
        ``parameters``, ``replicate`` and ``direction``; a file of such a table (.csv, .tsv, .parquet) made by anyone;
        what ``Evaluation.run`` gave, or its saved file; the file of a ``Study``. Results on the same data (by hash)
        are one data set, those with another seed its replicates.
    names : list of str, optional
        The embeddings to compare. By default all; of results and studies without those that are the data, on the data
        sets where they are. A second result is no name: pass a list of results.
    measure : str or list of str, optional
        Which measures; all by default, each on its own.
    baseline : str, optional
        One embedding: all others are compared with it, and with nothing else. It is the second of every pair; p-values
        are adjusted over these pairs only, except those of Nemenyi's test, which hold for all pairs, and there are no
        letters. All pairs by default.
    margin : float or dict of measure to float, optional
        On one data set: margin of equivalence, in the unit of the measure; see ``Results.compare``.
    rope : float, optional
        Across data sets: region of practical equivalence, in the unit of the measure. Smaller differences do not count,
        and one of exactly ``rope`` counts half, as in the program baycomp of the authors of the test.
    direction : {"higher", "lower"} or dict of measure to one of them, optional
        Which way is better. By default as the table says, else as the card of the measure says.
    tests : "default", "all" or list of str
        "friedman" (chi-square corrected for ties, with the F of Iman and Davenport, and up to 30 data sets the p by all
        arrangements of the ranks, or by 9,999 random ones, which then decides; Skillings-Mack where cells are missing,
        with p by exchanges within data sets; needs three embeddings), "nemenyi" (all pairs of mean ranks), "wilcoxon"
        (signed ranks of each pair), "mixed" (a linear mixed model), "bayes" (needs ``rope``). "default" is the first
        three, and "bayes" with ``rope``.
    alpha : float
        Level of the critical difference, the letters, the intervals of differences and the words; 0.05 also for a
        result whose own intervals are at another level.
    adjust : "holm", "benjamini_hochberg" or None
        Adjustment over all pairs and measures that have the same test. Nemenyi's p-values hold for all pairs of a
        measure already, and are adjusted over measures. "BH" and "fdr_bh" are accepted for "benjamini_hochberg".
    columns : dict, optional
        What the columns of tables are called, as ``{"embedding": "algorithm", "value": "score"}``.
    random_state : int, Generator or None
        Seed of the posterior draws of "bayes", and of the arrangements of "friedman" where they are too many to count.

    Returns
    -------
    Comparison
        Verbs ``tidy``, ``glance``, ``wins``, ``summary``, ``paragraph``, ``plot``.

    Raises
    ------
    InputError
        Two values for one cell, an infinite value, a direction that is not known, fewer than two embeddings on two
        data sets; ``rope``, ``direction``, ``tests`` or ``columns`` on one data set, ``margin`` across data sets.
    UnknownName
        A measure, test or word that is not known.

    Notes
    -----
    Pairs are compared on the data sets that have both embeddings; mean ranks, Nemenyi and the critical difference use
    the data sets that have all. One test decides: letters, diagrams, forests and words go by the Wilcoxon tests where
    they are run, which unlike Nemenyi do not depend on what else is compared (Benavoli, Corani and Mangili 2016). On N
    data sets no exact Wilcoxon p is below 2 / 2^N: where after adjustment none can be up to ``alpha``, Nemenyi's test
    decides, else the mixed model, if one was run and can be significant on more measures; the recipe has its name
    (``decided_by``) and the smallest adjusted p that it can have (``attainable``), and where nothing could have been
    significant the summary begins with that. Values that agree to 12 digits are ties. The advantage beside Wilcoxon's
    test is the Hodges-Lehmann estimate, the median of the averages of any two differences (of one with itself, too),
    which lies in the test's interval; the plain median of the differences need not.
    O(N k^2) time; "bayes" O(50,000 N^2) for each pair.

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
    >>> found = dreval.compare(table, direction="higher")
    >>> found.tidy()[["first", "second", "test", "n", "advantage", "p_value"]]
      first second      test  n  advantage  p_value
    0  umap    pca  wilcoxon  5      0.175   0.0625
    """
    single = _single(results)
    if single is not None:
        across = {
            "rope": rope,
            "direction": direction,
            "columns": columns,
            "tests": None if tests == "default" else tests,
        }
        for argument, value in across.items():
            if value is not None:
                other = "; the margin of equivalence on one data set is {margin}" if argument == "rope" else ""
                cure = f"Leave it out{other}."
                got = f"{value!r} with one result"
                raise InputError(argument, "must be used across data sets only", got, cure, margin="margin")
        return compare_pairs(
            single, names, measure=measure, baseline=baseline, margin=margin, alpha=alpha, adjust=adjust
        )
    if margin is not None:
        cure = "Across data sets pass {rope}, the difference below which none counts."
        raise InputError("margin", "must be used on one data set only", f"{margin!r} with several", cure, rope="rope")
    alpha = check_float(alpha, "alpha", low=1e-6, high=0.5)
    rope = None if rope is None else check_float(rope, "rope", low=0.0)
    adjust, wanted, root = check_adjustment(adjust), _tests(tests, rope), root_seed(random_state)
    named = [] if names is None else check_names(names, "names", names_hint(names, ()))
    table, notes, metric = gather(results, columns, [*named, *([baseline] if isinstance(baseline, str) else [])])
    found = families(table, measure, direction, named or None, baseline)
    pairs, overall = [], []
    for family in found:
        whole, rows = _family_rows(family, wanted, rope if "bayes" in wanted else None, alpha, root)
        overall += whole
        pairs += [row for row in rows if baseline in (None, row["second"])]
    frame = only_found(adjust_p_values(pair_frame(pairs, alpha), adjust, AT_ONCE), alpha)
    decided = decisive_test(frame, {full_name(f.measure, f.parameters): f for f in found}, alpha, adjust)
    by = frame[frame["test"] == decided["decided_by"]]
    standing = pd.DataFrame([row for family in found for row in _standing_over_data_sets(family, by, alpha)])
    recipe = {"kind": "datasets", "alpha": alpha, "adjust": adjust or "nothing", "rope": rope}
    recipe |= {} if baseline is None else {"baseline": baseline}
    recipe |= {"metric": metric} if metric else {}
    given = {
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
    recipe |= {"call": written_again("dreval.compare", ["results"], given, compare)}
    recipe |= {"tests": [name for name in ACROSS_TESTS if name in wanted], "random_state": root, **decided}
    return Comparison(
        pairs=frame,
        overall=overall_frame(overall),
        standing=standing[list(STANDING_COLUMNS)],
        families={full_name(f.measure, f.parameters): f for f in found},
        recipe=recipe,
        notes=notes_frame(
            [{"notes": notes}, *({**f.key, "notes": f.notes} for f in found), *overall, *pairs], PAIR_NOTE_KEYS
        ),
    )


def _single(results: Any) -> Results | None:
    """The one result that is to be compared by its points, itself or from its file; None for everything else."""
    one = results[0] if isinstance(results, list | tuple) and len(results) == 1 else results
    if isinstance(one, str | os.PathLike) and not is_journal(Path(one)) and Path(one).suffix.lower() not in TABLES:
        return load_evaluation(Path(one), "results")
    return one if isinstance(one, Results) else None


def _tests(tests: Any, rope: float | None) -> tuple[str, ...]:
    """The tests that are asked for."""
    if tests == "default":
        return (*DEFAULT, *(("bayes",) if rope is not None else ()))
    given = ACROSS_TESTS if tests == "all" else [tests] if isinstance(tests, str) else list(tests)
    names = [check_one_of(name, (*ACROSS_TESTS, "default", "all"), "tests", aliases=True) for name in given]
    if "bayes" in names and rope is None:
        cure = "Pass {rope}, the difference below which none counts, in the unit of the measure."
        raise InputError("rope", "must be given for the Bayesian test", "none", cure, rope=Hint("rope", 0.01))
    return tuple(names)


def _family_rows(
    family: Family, wanted: Sequence[str], rope: float | None, alpha: float, root: int
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Overall tests and pairs of one measure."""
    rng = stream(root, "friedman", family.measure, family.parameters)
    overall = [{**family.key, **row} for row in overall_rows(family.goodness, rng)] if "friedman" in wanted else []
    pairs = nemenyi_rows(family, alpha) if "nemenyi" in wanted else []
    pairs += [row for row in signed_rank_rows(family, rope, alpha, root) if row["test"] in wanted]
    if "mixed" in wanted:
        whole, rows = mixed_rows(family, alpha)
        overall.append({**family.key, **whole})
        pairs += rows
    return overall, pairs


def _standing_over_data_sets(family: Family, pairs: pd.DataFrame, alpha: float) -> list[dict[str, Any]]:
    """One row for each embedding, the best first by mean rank, then by mean; letters by the pairs of one test."""
    whole = family.goodness[np.isfinite(family.goodness).all(axis=1)]
    k = len(family.names)
    ranks = block_ranks(whole).mean(axis=0) if len(whole) else np.full(k, np.nan)
    order = np.lexsort((tied_ranks(np.nanmean(family.goodness, axis=0)), tied_ranks(-ranks)))
    mine = pairs[(pairs["measure"] == family.measure) & (pairs["parameters"] == family.parameters)]
    names = [family.names[place] for place in order]
    letters = letters_of(names, mine, alpha)
    return [
        {
            **family.key,
            "embedding": family.names[place],
            "n": int(family.cells.iloc[:, place].notna().sum()),
            "value": float(family.cells.iloc[:, place].mean()),
            "sd": float(family.cells.iloc[:, place].std()),
            "mean_rank": float(ranks[place]),
            "letters": letters.get(family.names[place], ""),
        }
        for place in order
    ]


# Embeddings of one data set ranked by each measure, with the set that is not distinguishable from the best.

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
