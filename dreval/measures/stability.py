"""Stability of a method: whether its embedding comes out again, with other seeds or from half of the points."""

from __future__ import annotations

import math
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dreval._check import FloatArray, IntArray, check_int, check_k, check_one_of
from dreval._random import stream, stream_seed
from dreval.errors import InputError, MethodFailed, UndefinedMeasure
from dreval.geometry.blocks import sweep
from dreval.geometry.replicates import (
    LEAST,
    Agreement,
    Replicate,
    aligned,
    coincident,
    log_variation,
    neighbor_agreement,
    variance_score,
)
from dreval.inference.reruns import VALUES, Found, Job, Reruns, failed_runs, open_case, runnable
from dreval.inputs.identity import equal_maps
from dreval.measures._method_measure import CALLED, is_constant, make_record, method_measure
from dreval.records.notes import ASSUMPTION, LIMIT, Note, define
from dreval.records.stability import Stability

OVER = ("auto", "seeds", "halves", "both")
FIXED = 50  # points to which distances are followed for the global variation
LEVEL = 0.95
LEAST_POINTS = 40  # for halves
RARE = 0.001  # of the pairs of halves share fewer points than k is chosen for
SAME_SEEDS = define(
    "stability.same_seeds",
    LIMIT,
    "Every seed gives the same embedding: its value of 1 says nothing of other points.",
    "Use over='halves'.",
)
HALVED = define(
    "stability.halved",
    ASSUMPTION,
    "Halves speak of embeddings of n / 2 points, any two of which share a quarter of all points; the settings of the "
    "method are those for all points.",
)
FEWER = define(
    "stability.fewer",
    ASSUMPTION,
    "{k} neighbors are compared in place of {asked}: at most half of the points that two replicates share, as few as "
    "{shared}.",
    "Pass n_neighbors={k} to other data to compare.",
)
FAILED = define(
    "stability.failed",
    LIMIT,
    "{failed} of {tried} runs failed; the first: {first}",
    "See the first reason.",
)
COINCIDENT = define(
    "stability.coincident",
    LIMIT,
    "{count} pairs of near points coincide in a replicate; their distance counts as a millionth of its radius.",
)
FEW_POINTS = define(
    "stability.few_points",
    LIMIT,
    "local_variation is the median of {known} of {n} points: the others are with no neighbor in three replicates.",
    "Take more replicates.",
)
ABOVE_ONE = define(
    "stability.above_one",
    LIMIT,
    "seed_share is a ratio of two estimates; above 1 it says that sampling adds nothing that is seen beside the seeds.",
    "Take more replicates.",
)
CONSTANT = define(
    "stability.constant",
    LIMIT,
    "{count} of {runs} runs put all points in one place, and agree with none.",
    "See what the method returns.",
)


@method_measure(
    symbol="J",
    title="Stability",
    question="Would the embedding come out again: with other seeds, or from half of the points?",
    says=(
        "The neighborhoods come out again",
        "Most neighborhoods come out again",
        "Many neighborhoods do not come out again",
    ),
    share="of the way from chance to equal neighborhoods",
    goals=("method",),
    needs=("method", "features"),
    direction="higher",
    bounds=(-0.5, 1.0),
    chance="0, the agreement of random neighborhoods, which is subtracted",
    invariances=frozenset({"translation", "rotation", "scale"}),
    caution="A map that comes out again is reproducible, not right: a method that always tears the data in the same "
    "place is stable.",
    cost="``n_replicates`` runs of the method (with over='both' three times as many), and O(R^2 n log n) time.",
    reference="None for the value; log distances after @sun2023, whose variance score stands beside it.",
)
def stability(
    X: Any,
    source: Any,
    *,
    over: str = "auto",
    n_replicates: int = 10,
    n_components: int | None = None,
    n_neighbors: Any = "auto",
    labels: Any = None,
    ids: Any = None,
    store: str | Path | None = None,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Stability:
    r"""Agreement of the neighborhoods in embeddings made with other seeds, or from random halves of the points.

    For two replicates r and s and a point i of both, with :math:`N_r(i)` its k nearest neighbors in r among the points
    that both have,

    .. math:: J_{irs} = \frac{|N_r(i) \cap N_s(i)| / |N_r(i) \cup N_s(i)| - c}{1 - c}, \qquad
              J = \operatorname{mean}_i \operatorname{mean}_{r < s} J_{irs},

    where c is the expected value for random neighborhoods. Equal maps have 1, whatever their rotation, reflection and
    scale, and unrelated ones 0.

    Parameters
    ----------
    X : (n, p) array, DataFrame, sparse matrix or path
        The data; rows are points.
    source : estimator, callable (X, n_components), name of a bundled method, or Source
        The method; coordinates cannot be re-run. For tools outside Python ``dreval.Protocol.collect`` gives a Source.
    over : {"auto", "seeds", "halves", "both"}
        What is altered. "seeds": all points, other seeds: the noise of the method. "halves": random halves of the
        points, each with a seed of its own: the noise of sampling, and of the method. "both": both, and each half with
        two seeds, so that the share of the method is told at one number of points. "auto": seeds, or halves where every
        seed gives the same embedding.
    n_replicates : int
        Number R of replicates of each kind, at least 3.
    n_components : int, optional
        Number of dimensions; by default that of the source, else 2.
    n_neighbors : int or "auto"
        Number k of neighbors, in the embeddings and in the data; at most half of the points that two halves share (all
        but one pair of halves in a thousand), a number that depends on n alone; a note says where it is reduced.
    labels : (n,) array, column of X by name, or path
        Class of each point, for supervised methods only.
    ids : (n,) array or column of X by name, optional
        Names of the points; not used as a feature.
    store : path, optional
        A file in which each embedding is kept as soon as it is finished; a killed run goes on where it stopped.
    random_state : int, Generator or None, default None
        Seed of the halves and of the seeds: replicate r depends on it and on r only.
    n_jobs : int, optional
        Processes (joblib); one by default, or what an active ``joblib.parallel_config`` says. No number depends on it.
    progress : bool, optional
        Progress bar on stderr; by default after two seconds, on a terminal.

    Returns
    -------
    Stability
        ``float()`` of it is J: of "both" that of the halves. ``parts``: ``conf_low`` and ``conf_high`` (for the value
        of infinitely many replicates: jackknife over replicates, Student's t, 95 %), ``local_variation``,
        ``global_variation`` (medians over points), ``failed``; of "both" also ``seeds`` (J over seeds, all points),
        ``same_half`` (J of two seeds of one half, on the points that it shares with another half) and ``seed_share``,
        :math:`(1 - J_\text{same half}) / (1 - J)` with J as a mean over pairs of halves; a ratio of estimates,
        which may exceed 1.
        ``points``, one row each: ``agreement`` (J of the point); ``local_variation`` and ``global_variation``, the
        variance over replicates of log distances to its k nearest points in the data, and to 50 points that are the
        same for all; ``radius``, the spread of its images in aligned replicates, over the radius of the map;
        ``variance_score`` (Sun et al.: the mean of the variances over replicates of its distances to the k nearest in
        the data, over the squared mean of all such distances; it depends on the scale of the replicates);
        ``n_replicates``, how many have the point.

    Raises
    ------
    UndefinedMeasure
        If the source cannot be run on other data, or ``over="seeds"`` and seeds change nothing; of a collected source,
        if the data, ``over`` or ``random_state`` are not those that were exported.
    InputError
        If an argument breaks its rule, or there are too few points for halves.
    MethodFailed
        If fewer than three runs succeed; the first reason is given.

    Warnings
    --------
    A map that comes out again is reproducible, not right: a method that always tears the data in the same place is
    stable.

    See Also
    --------
    noise_test : is there more than noise?
    trustability, tractable_consistency : other properties of a method.
    Evaluation.run : ``measures=["stability"]`` for each embedding that can be run again.

    Notes
    -----
    Range: [-0.5, 1]; higher is better.

    Chance level: 0, since the expected agreement of random neighborhoods is subtracted; it is .0844 for k = 15 of 99
    other points.

    In ``local_variation`` the scale of each replicate is fitted on the same pairs: :math:`\log d_{ijr} = a_{ij} + b_r`
    by least squares over all pairs and replicates, so that halves, which lack points, are not mistaken for changes of
    scale; the variance is divided by the degrees of freedom that the scales leave. A pair needs three replicates. Maps
    that are equal up to similarity have 0.

    A pair of halves that shares fewer points than k was chosen for compares fewer neighbors. The medians of
    ``local_variation`` and ``global_variation`` are of skewed estimates, and grow a little with R: compare them at
    one R. The interval is too short where few replicates are drawn of a method that fails for some seeds: where one
    seed in three gives another map, it held the value in .48, .78 and .90 of 60 simulations with 3, 5 and 10
    replicates.

    Halves differ from seeds in n: their difference is no share of variance. ``seed_share`` compares at n / 2.

    Cost: R runs of the method (of "both" 3 R); O(R^2 n log n) time for the neighborhoods, O(R n k) time and O(R n d)
    memory, and the data neighbors, O(n^2 p). 20 halves cost what 20 embeddings of half the points cost.

    References
    ----------
    Sun, Ma and Zou (2023), Dynamic visualization of high-dimensional data, for the variance score.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(100, 5)) * [6, 5, 1, 1, 1]
    >>> found = dreval.stability(X, "pca", random_state=0)  # seeds do not matter: halves
    >>> found.recipe["parameters"]["over"], round(float(found), 2)
    ('halves', 0.98)
    """
    from scipy.stats import hypergeom
    from scipy.stats import t as student

    case = open_case(X, source, labels, ids, random_state)
    runnable(case)
    data, root, n = case.data, case.root, case.data.n
    asked = over = check_one_of(over, OVER, "over", aliases=True)
    if over == "auto":
        over = "seeds" if case.source.reseed_reason is None else "halves"
    elif over in ("seeds", "both") and case.source.reseed_reason is not None:
        rule, cure = f"must not be {over!r} where seeds change nothing", "Use over='halves'."
        if case.source.recording is not None and not case.source.recording.settings["halves"]:
            cure = "Export a new folder with dreval.Protocol(..., halves=10), and run the tool there."
        raise UndefinedMeasure("over", rule, str(case.source.reseed_reason), cure)
    R = check_int(n_replicates, "n_replicates", low=LEAST)
    ks, single = check_k(n_neighbors, n)
    if not single:
        raise InputError("n_neighbors", "must be one number", str(n_neighbors), "Pass one number.")
    if over != "seeds" and n < LEAST_POINTS:
        rule = f"must have at least {LEAST_POINTS} points for halves, of which two share a quarter"
        cure = "Use over='seeds'." if case.source.reseed_reason is None else "Take more points."
        raise InputError("X", rule, f"{n} points", cure)
    d = case.source.default_components if n_components is None else check_int(n_components, "n_components", low=1)

    every = np.arange(n)
    seeds, halves = replicate_names(over, R)
    rows = {name: replicate_rows(name, n, root) for name in halves} | dict.fromkeys(seeds, every)

    def job(name: str) -> Job:
        if name in seeds:
            return Job(data.X, replicate_seed(name, root))
        return Job(data.X[rows[name]], replicate_seed(name, root), rows[name])

    names = [*seeds, *halves]
    with Reruns(case, d or 2, {"measure": "stability"}, _itself, store, n_jobs, progress) as runs:
        found = dict(zip(names, runs.all("replicates", names, job), strict=True))
    failures = [one["reason"].named(CALLED) for one in found.values() if one["reason"] is not None]
    made = {name: Replicate(rows[name], one[VALUES]) for name, one in found.items() if one["reason"] is None}
    first = [name for name in halves if name.endswith("seed 0")]
    main = [made[name] for name in (first or seeds) if name in made]
    if len(main) < LEAST:
        part = "on half of the points " if halves else ""
        got, cure = failed_runs(failures, f"Run the method alone {part}with the same settings to see where.")
        raise MethodFailed(case.source.argument, f"must give at least {LEAST} embeddings", got, cure)

    alike = over == "seeds" and all(equal_maps(one.Y, main[0].Y) for one in main[1:])
    if asked == "auto" and alike and n >= LEAST_POINTS and not is_constant(main[0].Y):  # it takes a seed and has no use
        given = {"n_components": n_components, "n_neighbors": n_neighbors, "labels": labels, "ids": ids, "store": store}
        given |= {"n_replicates": R, "random_state": root, "n_jobs": n_jobs, "progress": progress}
        found_halves: Stability = stability(X, source, over="halves", **given)
        return found_halves
    fixed = np.sort(stream(root, "fixed points").choice(n, min(FIXED, n), replace=False))
    shared = n if over == "seeds" else int(hypergeom(n, n // 2, n // 2).ppf(RARE))
    k = min(ks[0], (shared - 1) // 2)  # one number for all pairs of replicates, and all that is told of neighbors
    near = sweep(data.X, {"": np.zeros((n, 1))}, k=k, ranks=False, metric=data.metric)[""].nearest_data
    agreement = _agreement(main, n, k)
    pose = aligned(main, n)
    points = pd.DataFrame(
        {
            "agreement": agreement.points,
            "local_variation": log_variation(main, near, n),
            "global_variation": log_variation(main, np.broadcast_to(fixed, (n, len(fixed))), n),
            "radius": pose.radius(),
            "variance_score": variance_score(main, near, n),
            "n_replicates": sum(np.isin(every, one.rows, assume_unique=True).astype(np.int64) for one in main),
        }
    )
    value = float(np.nanmean(agreement.points))
    R_made, without = len(main), agreement.without
    se = float(np.sqrt((R_made - 1) / R_made * np.square(without - without.mean()).sum()))
    half = se * float(student.ppf((1 + LEVEL) / 2, len(main) - 1))
    low, high = stability.card.bounds  # type: ignore[attr-defined]
    parts: dict[str, Any] = {"conf_low": max(value - half, low), "conf_high": min(value + half, high)}
    if over == "both":
        alone = [made[name] for name in seeds if name in made]
        twins = [(made[name], made.get(f"{name[:-1]}1")) for name in first if name in made]
        same = _same_halves([(one, other) for one, other in twins if other is not None], n, k)
        parts["seeds"] = float(np.nanmean(_agreement(alone, n, k).points)) if len(alone) > 1 else math.nan
        parts["same_half"] = same
        apart = 1 - float(np.nanmean(agreement.pairs))
        parts["seed_share"] = (1 - same) / apart if apart > 0 else math.nan
    for name in ("local_variation", "global_variation"):
        known = points[name].dropna()
        parts[name] = float(known.median()) if len(known) else math.nan
    parts["failed"] = len(failures)

    constant = sum(is_constant(one.Y) for one in made.values())
    together = coincident(main, near, n)
    notes: list[Note] = [SAME_SEEDS()] if alike and not constant else []
    notes += [HALVED()] if halves else []
    notes += [FEWER(k=k, asked=ks[0], shared=shared)] if k < ks[0] else []
    notes += [FAILED(failed=len(failures), tried=len(names), first=failures[0])] if failures else []
    notes += [CONSTANT(count=constant, runs=len(made))] if constant else []
    known = int(points["local_variation"].notna().sum())
    notes += [FEW_POINTS(known=known, n=n)] if 2 * known < n and not constant else []
    notes += [COINCIDENT(count=together)] if together and not constant else []
    notes += [ABOVE_ONE()] if parts.get("seed_share", 0.0) > 1 else []
    settings = {"over": over, "n_replicates": R, "n_components": d, "n_neighbors": k}
    record: Stability = make_record(
        stability,
        case,
        value,
        settings,
        kind=Stability,
        parts=parts,
        chance=0.0,
        n_resamples=len(names),
        notes=tuple(notes),
        points=points,
        replicates=pose.maps,
        mean=pose.mean,
    )
    return record


def replicate_names(over: str, R: int) -> tuple[list[str], list[str]]:
    """The names of R replicates over seeds, and over halves: of "both" with two seeds each."""
    seeds = [f"seed {r}" for r in range(R)] if over in ("seeds", "both") else []
    twice = range(2 if over == "both" else 1)
    return seeds, [] if over == "seeds" else [f"half {r}, seed {s}" for r, s in product(range(R), twice)]


def replicate_rows(name: str, n: int, root: int) -> IntArray:
    """The points of a half, ascending."""
    half = name.partition(",")[0]
    return np.sort(stream(root, half).choice(n, n // 2, replace=False))


def replicate_seed(name: str, root: int) -> int:
    """The seed of the method for a replicate."""
    return stream_seed(root, "stability", name)


def _agreement(replicates: list[Replicate], n: int, k: int) -> Agreement:
    """The agreement over all pairs of replicates."""
    return neighbor_agreement(replicates, list(combinations(range(len(replicates)), 2)), n, k)


def _same_halves(twins: list[tuple[Replicate, Replicate]], n: int, k: int) -> float:
    """The agreement of two seeds of one half, on the points that it shares with each other half."""
    values = []
    for pair in combinations(twins, 2):
        common = np.intersect1d(pair[0][0].rows, pair[1][0].rows, assume_unique=True)
        some = [Replicate(common, one.Y[np.searchsorted(one.rows, common)]) for half in pair for one in half]
        values += list(neighbor_agreement(some, [(0, 1), (2, 3)], n, k).pairs) if len(common) else []
    return float(np.nanmean(values)) if values else math.nan


def _itself(_: FloatArray, Y: FloatArray) -> Found:
    """The embedding of a run as its result."""
    return {VALUES: Y}
