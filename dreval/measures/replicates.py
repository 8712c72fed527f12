"""Stability: the agreement of neighborhoods between embeddings with other seeds, or of halves of the points."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import IntArray, check_int, check_k, check_one_of, keywords_checked, keywords_of_anndata
from dreval._random import stream, stream_seed
from dreval.errors import InputError
from dreval.geometry.procrustes import (
    MIN_REPLICATES,
    Agreement,
    Aligned,
    Replicate,
    align,
    count_coincident,
    log_variation,
    neighbor_agreement,
    variance_score,
)
from dreval.geometry.view import Reads, make_views
from dreval.inference.groups import (
    MIN_HALVED_GROUPS,
    effective_count,
    few_groups_note,
    half_of_groups,
    is_few,
)
from dreval.inference.rerun_input import RerunInput, check_can_rerun, export_setting, open_case
from dreval.inference.reruns import (
    Over,
    ReplicateKey,
    ReplicateResults,
    Replicates,
    Runner,
    choose_over,
    failed_error,
    failed_note,
)
from dreval.inputs.data import Data
from dreval.inputs.source import all_equal_maps, digest
from dreval.measures.methods import is_constant, make_record, method_measure
from dreval.records.estimates import Stability
from dreval.records.frames import groups_text
from dreval.records.notes import Note, Notes, note

OVER = ("auto", "seeds", "halves", "both", "groups")
N_FIXED_POINTS = 50  # points to which distances are compared for the global variation
CONF_LEVEL = 0.95
MIN_HALVED_POINTS = 40  # for halves
SHARE_OF_SMALL_OVERLAPS = 0.001  # of the pairs of halves: those with fewer common points than k is chosen for


@method_measure(
    symbol="J",
    title="Stability",
    question="Is the embedding reproducible with other seeds, or from half of the points?",
    warning="Many neighborhoods are not reproducible",
    share="of the distance from chance level to equal neighborhoods",
    goals=("method",),
    needs=("method", "features"),
    direction="higher",
    bounds=(-0.5, 1.0),
    chance="0, the agreement of random neighborhoods, which is subtracted",
    invariances=frozenset({"translation", "rotation", "scale"}),
    caution="A reproducible embedding may be wrong: a method that always tears the data in the same place is stable.",
    cost="``n_replicates`` runs of the method (with over='both' three times as many), and O(R^2 n log n) time.",
    reference="None for the value; log distances after @sun2023, whose variance score is reported with it.",
)
@partial(keywords_checked, elsewhere=keywords_of_anndata("stability", "umap.UMAP()"))
def stability(
    X: Any,
    source: Any,
    *,
    over: str = "auto",
    n_replicates: int = 10,
    n_components: int | None = None,
    n_neighbors: Any = "auto",
    labels: Any = None,
    groups: Any = None,
    ids: Any = None,
    journal: str | Path | None = None,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> Stability:
    r"""Measure the agreement of neighborhoods in embeddings with other seeds, or of random halves of the points.

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
    over : {"auto", "seeds", "halves", "both", "groups"}
        The change between replicates. "seeds": all points, other seeds: the noise of the method. "halves": random
        halves of the points, each with another seed: the noise of sampling, and of the method. "both": both, and each
        half with two seeds, so that the share of the method is computed at one number of points. "groups": all points
        without one of the ``groups``, each with another seed; every group is left out, or ``n_replicates`` random ones.
        "auto": seeds, or halves where every seed gives the same embedding.
    n_replicates : int
        Number R of replicates of each kind, at least 3.
    n_components : int, optional
        Number of dimensions; by default that of the source, else 2.
    n_neighbors : int or "auto"
        Number k of neighbors, in the embeddings and in the data; at most half of the points that two halves share (all
        but one pair of halves in a thousand), a number that depends on n alone; a note says where it is reduced.
    labels : (n,) array, column of X by name, or path
        Class of each point, for supervised methods only.
    groups : (n,) array, column of X by name, or path, optional
        The group of each point, where points belong together (donor, patient, document). Halves are then halves of the
        groups, and ``over="groups"`` leaves each group out. Over seeds they are not used.
    ids : (n,) array or column of X by name, optional
        Names of the points; not used as a feature.
    journal : path, optional
        A file that stores each embedding as soon as it is finished; a killed run continues from it.
    random_state : int, Generator or None, default None
        Seed of the halves and of the seeds: replicate r depends on it and on r only.
    n_jobs : int, optional
        Processes (joblib); by default 1, or as an active ``joblib.parallel_config`` says. No number depends on it.
    progress : bool, optional
        Progress bar on stderr; by default after two seconds, on a terminal.

    Returns
    -------
    Stability
        ``float()`` of it is J: of "both" that of the halves. ``parts``: ``conf_low`` and ``conf_high`` (for the value
        of infinitely many replicates: jackknife over replicates, Student's t, 95 %; NaN over an effective number of
        fewer than five groups), ``local_variation``,
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
        If an argument is not valid, or there are too few points for halves.
    MethodFailed
        If fewer than three runs succeed; the message has the first reason.

    Warnings
    --------
    A reproducible embedding may be wrong: a method that always tears the data in the same place is stable.

    See Also
    --------
    noise_test : whether the embedding shows more than noise.
    trustability, tractable_consistency : other properties of a method.
    Evaluation.run : ``measures=["stability"]`` for each embedding that can be re-run.

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

    Halves differ from seeds in n: their difference is not a share of variance. ``seed_share`` compares at n / 2.

    Cost: R runs of the method (of "both" 3 R); O(R^2 n log n) time for the neighborhoods, O(R n k) time and O(R n d)
    memory, and the data neighbors, O(n^2 p). 20 halves cost what 20 embeddings of half the points cost.

    References
    ----------
    Sun, Ma and Zou (2023), Dynamic visualization of high-dimensional data, for the variance score.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(100, 5)) * [6, 5, 1, 1, 1]
    >>> record = dreval.stability(X, "pca", random_state=0)  # seeds do not matter: halves
    >>> record.recipe["parameters"]["over"], round(float(record), 2)
    ('halves', 0.98)
    """
    case = open_case(X, source, labels, ids, random_state, groups=groups)
    check_can_rerun(case)
    requested = check_one_of(over, OVER, "over", aliases=True)
    kind = choose_over(requested, case.source.reseed_reason, _other_kind_hint(case))
    _check_groups(case, kind)
    R = check_int(n_replicates, "n_replicates", low=MIN_REPLICATES)
    R = min(R, len(case.data.groups.classes)) if kind == "groups" and case.data.groups is not None else R
    ks, single = check_k(n_neighbors, case.data.n)
    if not single:
        raise InputError("n_neighbors", "must be one number", str(n_neighbors), "Pass one number.")
    if kind in ("halves", "both") and case.data.n < MIN_HALVED_POINTS:
        requirement = f"must have at least {MIN_HALVED_POINTS} points for halves, of which two share a quarter"
        hint = "Use over='seeds'." if case.source.reseed_reason is None else "Take more points."
        raise InputError("X", requirement, f"{case.data.n} points", hint)
    d = case.source.default_components if n_components is None else check_int(n_components, "n_components", low=1)
    with Runner(journal, n_jobs, progress) as runner:
        embedded = _embed(case, kind, R, d or 2, runner)
        seeds_change_nothing = embedded.equal_seeds and not is_constant(embedded.main[0].Y)
        if requested == "auto" and seeds_change_nothing and case.data.n >= MIN_HALVED_POINTS:
            _check_groups(case, "halves")
            embedded = _embed(case, "halves", R, d or 2, runner)
    k, shared = _compared_neighbors(embedded, case, ks[0])
    near = make_views(case.data.space, {"": np.zeros((case.data.n, 1))}, Reads(k, ranks=False), metric=case.data.metric)
    agreement = _replicate_agreement(embedded.main, case.data.n, k)
    pose = align(embedded.main, case.data.n)
    points = _point_columns(embedded.main, agreement, pose, near[""].nearest_data, case.root)
    value, parts = _value_and_parts(embedded, agreement, points, case.data.n, k)
    if few_groups := _few_groups(embedded.kind, case.data):
        parts |= {"conf_low": math.nan, "conf_high": math.nan}
    groups = {} if embedded.kind == "seeds" else groups_parameter(case.data)  # seeds do not use them
    record: Stability = make_record(
        stability,
        case,
        value,
        {"over": embedded.kind, "n_replicates": R, "n_components": d, "n_neighbors": k, **groups},
        kind=Stability,
        parts=parts,
        chance=0.0,
        n_runs=len(embedded.results),
        notes=(*_notes(embedded, parts, points, near[""].nearest_data, (k, ks[0], shared), case.data), *few_groups),
        points=points,
        replicates=pose.maps,
        mean=pose.mean,
    )
    return record


# The replicates: all points with other seeds, random halves of the points or of groups, and all without a group.


def _check_groups(case: RerunInput, over: str) -> None:
    """Raise if the groups of points do not fit the replicates."""
    groups = case.data.groups
    if groups is None:
        if over == "groups":
            hint = "Pass groups=, the group of each point."
            raise InputError("groups", "must be given for over='groups'", "none", hint)
        return
    if case.source.recording is not None and over != "seeds":
        hint = "Leave groups out, or pass a method that can be run here."
        raise InputError("groups", "must be left out where runs are recorded, on halves of the points", "groups", hint)
    least = {"groups": MIN_REPLICATES, "halves": MIN_HALVED_GROUPS, "both": MIN_HALVED_GROUPS}.get(over, 2)
    if len(groups.classes) < least:
        hint = "Use over='groups', which leaves out one at a time." if over != "groups" else "Use over='seeds'."
        requirement = f"must be at least {least} for over={over!r}"
        raise InputError("groups", requirement, f"{len(groups.classes)} groups", hint)


def _few_groups(over: str, data: Data) -> Notes:
    """Return the note that the groups that are left out are too few for an interval; empty if they are not."""
    if over != "groups" or data.groups is None:
        return ()
    effective = effective_count(np.bincount(data.groups.codes))
    return (few_groups_note(len(data.groups.classes), effective, "interval"),) if is_few(effective) else ()


def groups_parameter(data: Data) -> dict[str, Any]:
    """Return the entry of the parameters of a record on the groups of the points; empty without groups."""
    if data.groups is None:
        return {}
    return {"groups": groups_text({"count": len(data.groups.classes), "name": data.groups.printed_name})}


def half_points(root: int, n: int, r: int) -> IntArray:
    """Return the points of a half, ascending."""
    return np.sort(stream(root, f"half {r}").choice(n, n // 2, replace=False))


SEEDS = Over("seeds", seed=lambda root, r, _: stream_seed(root, "stability", f"seed {r}"))
HALVES = Over("halves", seed=lambda root, r, s: stream_seed(root, "stability", f"half {r}, seed {s}"), rows=half_points)
WITHOUT = Over("groups", seed=lambda root, r, _: stream_seed(root, "stability", f"group {r}"))
KINDS = {"seeds": (SEEDS,), "halves": (HALVES,), "both": (SEEDS, replace(HALVES, n_seeds=2)), "groups": (WITHOUT,)}


def _overs(data: Data, kind: str) -> tuple[Over, ...]:
    """Return the replicates of a kind; with groups of points halves are halves of the groups."""
    if data.groups is None:
        return KINDS[kind]
    codes, count = data.groups.codes, len(data.groups.classes)
    rows: dict[str, Callable[[int, int, int], IntArray]] = {
        "halves": lambda root, _, r: half_of_groups(codes, stream(root, f"half {r} of the groups")),
        "groups": lambda root, _, r: np.flatnonzero(codes != stream(root, "groups left out").permutation(count)[r]),
    }
    return tuple(replace(over, rows=rows.get(over.name)) for over in KINDS[kind])


def _other_kind_hint(case: RerunInput) -> str:
    """Return the hint for seeds that were requested and change nothing."""
    if case.source.recording is not None and not case.source.recording.settings["halves"]:
        return f"Export a new folder with {export_setting('halves', 10)}, and run the tool there."
    return "Use over='halves'."


@dataclass(frozen=True, eq=False)
class _Embedded:
    """The replicates of one kind.

    ``by_key`` has all that succeeded. ``main`` has those that are compared: halves with their first seed if there are
    halves, else seeds. ``equal_seeds`` is true if every seed gave the same embedding.
    """

    kind: str
    results: ReplicateResults
    by_key: dict[ReplicateKey, Replicate]
    main: list[Replicate]
    equal_seeds: bool


def _embed(case: RerunInput, kind: str, R: int, d: int, runner: Runner) -> _Embedded:
    """Embed the replicates of a kind; raise if too few runs succeed."""
    n, overs = case.data.n, {over.name: over for over in _overs(case.data, kind)}
    recipe = {"measure": "stability"}
    if case.data.groups is not None:  # of which halves are
        recipe["groups"] = digest(case.data.groups.codes)
    results = Replicates(case, tuple(overs.values()), R, d, recipe, runner).run()
    by_key = {}
    for key, Y in results.values.items():
        rows = overs[key.over].points(case.root, n, key)
        by_key[key] = Replicate(np.arange(n) if rows is None else rows, Y)
    compared = kind if kind in ("seeds", "groups") else "halves"
    main = [replicate for key, replicate in by_key.items() if key.over == compared and key.seed == 0]
    if len(main) < MIN_REPLICATES:
        part = {"seeds": "", "groups": "without a group "}.get(kind, "on half of the points ")
        hint = f"Run the method alone {part}with the same settings to see where."
        requirement = f"must give at least {MIN_REPLICATES} embeddings"
        raise failed_error(results.failures, case.source.argument, requirement, hint)
    equal_seeds = kind == "seeds" and all_equal_maps([replicate.Y for replicate in main])
    return _Embedded(kind, results, by_key, main, equal_seeds)


# The value, its parts, and the columns of points.


def _compared_neighbors(embedded: _Embedded, case: RerunInput, k: int) -> tuple[int, int]:
    """Return the number of neighbors that is compared, the same for all pairs, and the points that two halves share.

    With groups they are those of the two replicates that share the fewest points, but some.
    """
    from scipy.stats import hypergeom

    kind, n = embedded.kind, case.data.n
    if case.data.groups is not None and kind != "seeds":
        present = np.array([np.isin(np.arange(n), replicate.rows) for replicate in embedded.main], np.int64)
        common = (present @ present.T)[np.triu_indices(len(present), 1)]
        shared = int(common[common > 2].min(initial=n))
        return min(k, (shared - 1) // 2), shared
    shared = n if kind == "seeds" else int(hypergeom(n, n // 2, n // 2).ppf(SHARE_OF_SMALL_OVERLAPS))
    return min(k, (shared - 1) // 2), shared


def _point_columns(
    main: list[Replicate], agreement: Agreement, pose: Aligned, near: npt.NDArray[np.int64], root: int
) -> pd.DataFrame:
    """Return the table of the points."""
    n = len(near)
    fixed = np.sort(stream(root, "fixed points").choice(n, min(N_FIXED_POINTS, n), replace=False))
    counts = [np.isin(np.arange(n), replicate.rows, assume_unique=True).astype(np.int64) for replicate in main]
    return pd.DataFrame(
        {
            "agreement": agreement.points,
            "local_variation": log_variation(main, near, n),
            "global_variation": log_variation(main, np.broadcast_to(fixed, (n, len(fixed))), n),
            "radius": pose.radius(),
            "variance_score": variance_score(main, near, n),
            "n_replicates": sum(counts),
        }
    )


def _value_and_parts(
    embedded: _Embedded, agreement: Agreement, points: pd.DataFrame, n: int, k: int
) -> tuple[float, dict[str, Any]]:
    """Return J with its interval by the jackknife over replicates, and the other parts of the record."""
    from scipy.stats import t as student

    value, R, without = float(np.nanmean(agreement.points)), len(embedded.main), agreement.without
    se = float(np.sqrt((R - 1) / R * np.square(without - without.mean()).sum()))
    half = se * float(student.ppf((1 + CONF_LEVEL) / 2, R - 1))
    low, high = stability.card.bounds  # type: ignore[attr-defined]
    parts: dict[str, Any] = {"conf_low": max(value - half, low), "conf_high": min(value + half, high)}
    if embedded.kind == "both":
        whole = [replicate for key, replicate in embedded.by_key.items() if key.over == SEEDS.name]
        halves = [key for key in embedded.by_key if key.over == HALVES.name and key.seed == 0]
        second_keys = {key: replace(key, seed=1) for key in halves}
        twins = [
            (embedded.by_key[key], embedded.by_key[second])
            for key, second in second_keys.items()
            if second in embedded.by_key
        ]
        same = _same_halves(twins, n, k)
        parts["seeds"] = float(np.nanmean(_replicate_agreement(whole, n, k).points)) if len(whole) > 1 else math.nan
        parts["same_half"] = same
        apart = 1 - float(np.nanmean(agreement.pairs))
        parts["seed_share"] = (1 - same) / apart if apart > 0 else math.nan
    for name in ("local_variation", "global_variation"):
        values = points[name].dropna()
        parts[name] = float(values.median()) if len(values) else math.nan
    parts["failed"] = len(embedded.results.failures)
    return value, parts


def _replicate_agreement(replicates: list[Replicate], n: int, k: int) -> Agreement:
    """Return the agreement over all pairs of replicates."""
    return neighbor_agreement(replicates, list(combinations(range(len(replicates)), 2)), n, k)


def _same_halves(twins: list[tuple[Replicate, Replicate]], n: int, k: int) -> float:
    """Return the agreement of two seeds of the same half, on the points that it shares with each other half."""
    values = []
    for pair in combinations(twins, 2):
        common = np.intersect1d(pair[0][0].rows, pair[1][0].rows, assume_unique=True)
        if not len(common):
            continue
        parts = [Replicate(common, part.Y[np.searchsorted(part.rows, common)]) for half in pair for part in half]
        values += list(neighbor_agreement(parts, [(0, 1), (2, 3)], n, k).pairs)
    return float(np.nanmean(values)) if values else math.nan


def _notes(
    embedded: _Embedded,
    parts: dict[str, Any],
    points: pd.DataFrame,
    near: npt.NDArray[np.int64],
    neighbors: tuple[int, int, int],
    data: Data,
) -> Notes:
    """Return the notes on the replicates and on the value; ``neighbors`` are those compared, requested and shared."""
    k, requested, shared = neighbors
    n, replicates = len(near), embedded.by_key.values()
    constant = sum(is_constant(replicate.Y) for replicate in replicates)
    together = count_coincident(embedded.main, near, n)
    failures, tried = embedded.results.failures, len(embedded.results)
    notes: list[Note] = [note("stability.same_seeds")] if embedded.equal_seeds and not constant else []
    if embedded.kind == "seeds" and data.groups is not None:
        groups = groups_parameter(data)["groups"]
        notes.append(note("groups.unused", groups=groups, over="seeds", others="groups or halves"))
    elif embedded.kind == "groups" and data.groups is not None:
        notes.append(note("stability.groups", groups=len(data.groups.classes), left_out=len(embedded.main)))
    elif embedded.kind != "seeds":
        notes.append(note("stability.halved") if data.groups is None else note("stability.halved_groups"))
    notes += [note("stability.fewer", k=k, asked=requested, shared=shared)] if k < requested else []
    notes += failed_note("stability.failed", failures, tried)
    notes += [note("stability.constant", count=constant, runs=len(replicates))] if constant else []
    count = int(points["local_variation"].notna().sum())
    notes += [note("stability.few_points", known=count, n=n)] if 2 * count < n and not constant else []
    notes += [note("stability.coincident", count=together)] if together and not constant else []
    notes += [note("stability.above_one")] if parts.get("seed_share", 0.0) > 1 else []
    return tuple(notes)
