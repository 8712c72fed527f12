"""New points on a map: how well their neighbors among the reference points are kept, ``dreval.out_of_sample``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from dreval._check import (
    DEFAULT_NEIGHBORS,
    FloatArray,
    check_anchors,
    check_float,
    check_k,
    check_one_of,
    describe,
    keywords_checked,
)
from dreval._random import root_seed, stream
from dreval.analyses._analysis import analysis
from dreval.errors import DrevalError, InputError
from dreval.geometry._loops import ROUNDING
from dreval.geometry.blocks import View
from dreval.geometry.ranks import NeighborCurves
from dreval.geometry.streaming import anchored_spaces
from dreval.geometry.view import make_view, query_views
from dreval.glossary import TABLE_METRICS
from dreval.inference.adjustment import adjusted
from dreval.inference.conformal import conformal_p, conformal_rank, least_flagged
from dreval.inference.groups import (
    FEW_GROUPS,
    clustered_interval,
    effective_count,
    effective_text,
    few_groups_note,
    is_few,
)
from dreval.inference.intervals import MIN_CARRIERS, Interval, carrier_count, mean_interval
from dreval.inputs.data import Data, as_data
from dreval.inputs.new_points import as_new_data, matched_columns, new_coordinates
from dreval.inputs.source import as_source
from dreval.inputs.source_kinds import CoordinateSource
from dreval.inputs.variables import LabelVector
from dreval.measures.core import answer
from dreval.records.frames import coordinates_frame
from dreval.records.notes import Note, Notes, note
from dreval.records.out_of_sample import VALUE_COLUMNS, OutOfSample
from dreval.records.provenance import provenance, reproducing_call
from dreval.registry import MEASURES

RANK_MEASURES = ("trustworthiness", "continuity", "neighborhood_overlap", "mrre_false", "mrre_missing")
FLAGGED_BY = ("trustworthiness", "continuity")  # p-values and flags of new points are by the lower of these


@dataclass(frozen=True)
class NewPoints:
    """New points of one map: their neighbors among the reference points, coordinates, names and groups.

    Attributes
    ----------
    view : View
        Their neighbors and ranks, from ``geometry.view.query_views``.
    coordinates : ndarray (m, d)
        Their coordinates on the map.
    ids : sequence or None
        Their names; None for their numbers.
    groups : LabelVector or None
        The group of each new point.
    """

    view: View
    coordinates: FloatArray
    ids: Any = None
    groups: LabelVector | None = None


@analysis(
    title="New points on a map",
    question="Are the neighbors of new points on the map their neighbors in the data?",
    direction="higher is better, except for the rank errors, where 0 is perfect",
    caution="A point that is not flagged may still be of a kind that the reference lacks: a map that puts each point "
    "next to its nearest reference points keeps its neighbors, also where these are far away.",
    cost="O((m + c) (n (p + d) + k^2)) time for m new and c calibration points, O((m + c) k) memory in addition to the "
    "data; O(n^2 (p + d)) time for the values of the reference points",
    reference="@venna2001 for the rank measures; @bates2023 for the p-values.",
)
@keywords_checked
def out_of_sample(
    X: Any,
    Y: Any,
    X_new: Any,
    Y_new: Any,
    *,
    n_neighbors: int | Literal["auto"] = "auto",
    metric: str = "euclidean",
    groups: Any = None,
    calibration: tuple[Any, Any] | None = None,
    conf_level: float = 0.95,
    alpha: float = 0.1,
    random_state: int | np.random.Generator | None = None,
) -> OutOfSample:
    r"""Measure how well a map places new points: whether their neighbors on the map are their neighbors in the data.

    Each of m new points (queries) is compared alone with the n reference points: :math:`N_j` are its k nearest
    reference points in the data, :math:`M_j` those on the map, and :math:`r_{ji}`, :math:`s_{ji}` the ranks of
    reference point i from query j in the data and on the map. Every measure is that of a map of n + 1 points, for the
    query alone:

    .. math:: T_j = 1 - \frac{1}{G} \sum_{i \in M_j} \max(r_{ji} - k, 0), \qquad
              C_j = 1 - \frac{1}{G} \sum_{i \in N_j} \max(s_{ji} - k, 0), \qquad
              Q_j = \frac{|N_j \cap M_j|}{k},

    with :math:`G = k (2n - 3k + 1) / 2` for k < n/2 and :math:`(n - k)(n - k + 1) / 2` otherwise; R_NX is
    :math:`(n Q_j - k) / (n - k)`, and the relative rank errors are :math:`\frac{1}{c} \sum |r_{ji} - s_{ji}| / s_{ji}`
    over :math:`M_j` (false neighbors) and :math:`/ r_{ji}` over :math:`N_j` (missing neighbors), with :math:`c =
    \sum_{t=1}^k |n - 2t + 2| / t`.

    Parameters
    ----------
    X : (n, p) array, DataFrame, sparse matrix, AnnData or path
        The data of the reference points, which the map was fitted to; for retrieval the corpus.
    Y : (n, d) array, DataFrame or path
        Their coordinates on the map, or the reduced vectors of the corpus.
    X_new : (m, p) array, DataFrame, sparse matrix, AnnData or path
        The data of the new points; for retrieval the queries. Columns of frames are matched by name. With the metric
        "precomputed" their distances to the reference points, (m, n).
    Y_new : (m, d) array, DataFrame or path
        Their coordinates, each transformed alone.
    n_neighbors : int or "auto", default "auto"
        Number k of neighbors, below n. "auto" is 15, or fewer for fewer than 31 reference points.
    metric : str, default "euclidean"
        Distance in the data, as in ``Evaluation``.
    groups : (m,) array, column name or path, optional
        The group of each new point (donor, patient, document), whose points depend on each other. Intervals take the
        groups as independent; there are then no conformal statements.
    calibration : (X_cal, Y_cal), optional
        Further points of the reference population that were not used to fit the map, transformed as the new points.
        Points that were used to fit are kept better than others: with these, .125 of the p-values of new points are at
        most .1. Without a calibration there is no bound, and no p-value.
    conf_level : float, default 0.95
        Level of the intervals.
    alpha : float, default 0.1
        One minus the level of the conformal bound, and the false discovery rate of the flags.
    random_state : int, Generator or None, default None
        Seed of the order of equal scores, which p-values depend on, and of the drawn reference points.

    Returns
    -------
    OutOfSample
        For each measure the mean over new points, its interval and chance level, the value of the reference points, the
        generalization gap and the conformal bound; for each new point its scores, p-value and flag.

    Raises
    ------
    InputError
        If rows, columns or names do not match, values are missing or infinite, or an argument is not valid.

    Warnings
    --------
    A point that is not flagged may still be of a kind that the reference lacks: a map that puts each point next to its
    nearest reference points keeps its neighbors, also where these are far away.

    See Also
    --------
    Evaluation : evaluates the map of the reference points.
    trustworthiness, continuity, neighborhood_overlap, r_nx, mrre_false, mrre_missing : the measures.

    Notes
    -----
    *Ranges and chance.* All are at most 1; higher is better, except for the rank errors, where 0 is perfect. The chance
    level of T and C is :math:`1 - (n - k)(n - k + 1) / (n (2n - 3k + 1))` for k < n/2 and 1 - k/n otherwise, that of Q
    is k/n, and of R_NX 0. Distances (Euclidean ones squared) that differ by at
    most 1e-12 of the larger are ties, which are broken by the row number of the reference points.

    *Interval.* The mean plus or minus t standard errors :math:`s / \sqrt m`, with m - 1 degrees of freedom, cut at the
    range of the measure (Q is at least (2k - n)/k): for the population of the new points, with map and reference fixed.
    It is asymptotic in m and takes the new points as independent. With G groups the squared standard error is
    :math:`\frac{G}{G - 1} \sum_g (\sum_{j \in g} (s_j - \bar s))^2 / m^2`, with the effective number of groups minus
    one degrees.

    *Gap.* The value of the reference points minus that of the new points: a loss where it is positive, and for the rank
    errors, where lower is better, where it is negative. It is an estimate, and may have the other sign where little
    is lost. It is not 0 where nothing is overfitted: by trustworthiness, principal components of 100 points in 30
    independent columns have .026, two of the columns 0.

    *Conformal bound.* With c calibration points and :math:`l = \lfloor \alpha (c + 1) \rfloor`, a new point of the same
    population scores at least the l-th smallest calibration score with probability at least 1 - alpha, on average over
    calibrations; a rank error is at most the l-th largest.

    *p-values and flags.* With :math:`s_j = \min(T_j, C_j)`, :math:`p_j = (1 + \#\{\text{calibration} \le s_j\}) / (1 +
    c)` tests whether query j is kept as well as points of the reference population; equal scores are ordered at random.
    A linear map usually has false neighbors (low T) where it does not represent a point, and one that averages over
    neighbors tears the point from its neighbors (low C). Points that Benjamini-Hochberg rejects at ``alpha`` are
    flagged: the map does not represent them. At the smallest p they are flagged only if at least :math:`m / (\alpha (c
    + 1))` new points have it (``n_needed``).

    *Cost.* O((m + c) (n (p + d) + k^2)) time, by blocks of reference points, and O((m + c) k) memory in addition; the
    values of the reference points O(n^2 (p + d)), from 2000 random ones of more than 20,000.

    References
    ----------
    Venna, J., & Kaski, S. (2001). Neighborhood preservation in nonlinear projection methods: An experimental study.
    *ICANN*. Bates, S., Candès, E., Lei, L., Romano, Y., & Sesia, M. (2023). Testing for outliers with conformal
    p-values. *Annals of Statistics*, 51(1), 149-178.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(600, 4))
    >>> Y = X[:, :2]
    >>> held_out = X[400:], Y[400:]
    >>> record = dreval.out_of_sample(X[:300], Y[:300], X[300:400], Y[300:400], calibration=held_out, random_state=0)
    >>> record.of("trustworthiness")[["value", "conf_low", "conf_high", "in_sample", "bound"]].round(2).to_dict()
    {'value': 0.78, 'conf_low': 0.76, 'conf_high': 0.8, 'in_sample': 0.78, 'bound': 0.63}
    >>> int(record.flagged.sum()), record.n_needed
    (0, 5)
    """
    level = check_float(conf_level, "conf_level", low=0.5, high=1 - 1e-6)
    alpha = check_float(alpha, "alpha", low=1e-6, high=0.5)
    metric, seed = check_one_of(metric, TABLE_METRICS, "metric", aliases=True), root_seed(random_state)
    try:
        reference = as_data(X, metric=metric)
        source = as_source(Y, "Y", reference)
        if source.can_embed:
            hint = "Pass Y and Y_new as coordinates; Evaluation(X, method, new_data=X_new) runs a method first."
            raise InputError("Y", "must be the coordinates of the reference points", describe(Y), hint)
        coordinates, notes = source.noted_coordinates(reference)
    except DrevalError as error:
        raise error.named({"data": "X", "embeddings['Y']": "Y"}) from error.__cause__
    numbers, _ = check_k(n_neighbors, reference.n)
    if len(numbers) > 1:
        raise InputError("n_neighbors", "must be one number", describe(n_neighbors), "Call it for each number.")
    k, maps = numbers[0], {"": np.asarray(coordinates, np.float64)}
    new = as_new_data(X_new, reference, "X_new", groups=groups)
    Y_new, new_notes = read_new_coordinates(Y_new, new, source, maps[""].shape[1])
    points = compare_new_points(reference, maps, new, {"": Y_new}, k, groups=new.groups)[""]
    held_out: NewPoints | None = None
    held_out_notes: Notes = ()
    if calibration is not None:
        X_cal, Y_cal = _pair(calibration)
        cal = as_new_data(X_cal, reference, "calibration[0]")
        Y_cal, cal_notes = read_new_coordinates(Y_cal, cal, source, maps[""].shape[1], "calibration[1]")
        held_out_notes = (*cal.notes, *cal_notes)
        held_out = compare_new_points(reference, maps, cal, {"": Y_cal}, k)[""]
    names = {"data": "X", "embeddings['Y']": "Y"}
    all_notes = [item.named(names) for item in (*reference.notes, *source.notes, *notes)]
    all_notes += [*new.notes, *new_notes, *held_out_notes]
    if n_neighbors == "auto" and k != DEFAULT_NEIGHBORS:
        least = 2 * DEFAULT_NEIGHBORS + 1
        all_notes.append(note("neighbors.auto", k=k, n=reference.n, usual=DEFAULT_NEIGHBORS, least=least))
    anchors = check_anchors("auto", reference.n)
    rows = None if anchors is None else np.sort(stream(seed, "anchors").choice(reference.n, anchors, replace=False))
    settings = {"n_neighbors": n_neighbors, "metric": metric, "conf_level": level, "alpha": alpha, "random_state": seed}
    passed = ["X", "Y", "X_new", "Y_new"]
    passed += ["groups=groups"] * (groups is not None) + ["calibration=(X_cal, Y_cal)"] * (calibration is not None)
    call = reproducing_call("dreval.out_of_sample", passed, settings, out_of_sample)
    return new_points_record(
        make_view(reference.table, maps[""], k, rows=rows, metric=metric, seed=seed), points, k, calibration=held_out,
        conf_level=level, alpha=alpha, seed=seed, call=call, notes=all_notes,
    )  # fmt: skip


def read_new_coordinates(
    Y_new: Any, new: Data, source: Any, width: int, argument: str = "Y_new"
) -> tuple[FloatArray, Notes]:
    """Return coordinates of new points, (m, width), in the order of their data and of the map, and notes on them."""
    columns = source.columns if isinstance(source, CoordinateSource) else None
    coordinates = matched_columns(new_coordinates(Y_new, argument, new), columns, width, argument)
    return coordinates.values, coordinates.notes


def _pair(calibration: Any) -> tuple[Any, Any]:
    """Return the data and the coordinates of a calibration."""
    if not isinstance(calibration, tuple | list) or len(calibration) != 2:
        hint = "Pass calibration=(X_cal, Y_cal): held-out rows and their coordinates on the map."
        raise InputError("calibration", "must be a pair of data and coordinates", describe(calibration), hint)
    return calibration[0], calibration[1]


def compare_new_points(
    reference: Data,
    maps: Mapping[str, Any],
    new: Data,
    coordinates: Mapping[str, FloatArray],
    k: int,
    *,
    groups: LabelVector | None = None,
    n_jobs: int | None = None,
) -> dict[str, NewPoints]:
    """Return the new points of each map with their neighbors and ranks among the reference, all maps in one pass."""
    options: dict[str, Any] = {"metric": reference.metric, "n_jobs": n_jobs}
    views = query_views(reference.table, maps, new.table, coordinates, k, **options)
    return {name: NewPoints(view, coordinates[name], new.ids, groups) for name, view in views.items()}


def new_points_record(
    reference: View,
    new: NewPoints,
    k: int,
    *,
    calibration: NewPoints | None = None,
    conf_level: float = 0.95,
    alpha: float = 0.1,
    seed: int = 0,
    call: str = "",
    notes: Iterable[Note] = (),
) -> OutOfSample:
    """Return the record of new points.

    Parameters
    ----------
    reference : View
        The map: its rows are the reference points, or anchors among them.
    new, calibration : NewPoints
        The new points, and held-out points of the reference population; with groups the latter are not used.
    k : int
        Number of neighbors; the views have at least as many.
    conf_level, alpha, seed : float, float, int
        As in ``out_of_sample``.
    call : str
        The code that reproduces the record.
    notes : iterable of Note
        Notes on the input, which come first.
    """
    m, n = len(new.view.rows), reference.n
    scores, held_out = point_scores(new.view, k), None
    if calibration is not None and new.groups is None:
        held_out = point_scores(calibration.view, k)
    in_sample = {name: float(values.mean()) for name, values in point_scores(reference, k).items()}
    rows: list[dict[str, Any]] = []
    reasons: list[Note] = []
    for name, values in scores.items():
        card, mean = MEASURES.card(name), float(values.mean())
        bounds = card.bounds
        if name in ("neighborhood_overlap", "r_nx"):  # two sets of k of n points share 2k - n at least
            least = max(0, 2 * k - n) / k
            bounds = (least if name == "neighborhood_overlap" else (n * least - k) / (n - k), 1.0)
        interval, reason = _interval(values, new.groups, bounds, conf_level)
        reasons += reason
        rows.append({
            "measure": name, "n_neighbors": k, "value": mean, "se": interval.se, "conf_low": interval.low,
            "conf_high": interval.high, "chance": 0.0 if name == "r_nx" else card.chance(n + 1, k),
            "in_sample": in_sample[name], "gap": in_sample[name] - mean,
            "bound": _bound(held_out, name, alpha), "direction": card.direction,
        })  # fmt: skip
    points = coordinates_frame(new.coordinates)
    points.insert(0, "id", np.arange(m) if new.ids is None else np.asarray(new.ids))
    if new.groups is not None:
        points["group"] = new.groups.values
    points = points.assign(**scores)
    n_calibration, needed = 0, None
    if held_out is not None:
        lower, lower_held_out = (np.minimum(*(part[name] for name in FLAGGED_BY)) for part in (scores, held_out))
        n_calibration = len(lower_held_out)
        needed = least_flagged(m, n_calibration, alpha)
        points["p_value"] = conformal_p(lower, lower_held_out, stream(seed, "ties of new points"))
        points["p_adjusted"] = adjusted(points["p_value"].to_numpy(), "benjamini_hochberg")
        points["flagged"] = points["p_adjusted"] <= alpha * (1 + ROUNDING)
    settings = {"n_neighbors": k, "metric": reference.metric, "conf_level": conf_level, "alpha": alpha}
    facts: dict[str, Any] = {
        "n": n,
        "p": None if reference.metric == "precomputed" else int(reference.X.shape[1]),
        "n_new": m,
    }
    facts |= {"n_calibration": n_calibration, "n_needed": needed, "groups": _group_facts(new.groups), "call": call}
    recipe = provenance(settings, **facts, random_state=seed)
    if not reasons and (equal := [name for name, values in scores.items() if np.ptp(values) <= ROUNDING]):
        reasons.append(note("new.equal", names=tuple(equal), m=m))
    if new.groups is None and (few := [name for name in scores if carrier_count(scores[name]) < MIN_CARRIERS]):
        reasons.append(note("new.few_carriers", names=tuple(few), count=len(few)))
    all_notes = (*notes, *_notes(reference, new, calibration, k, alpha), *reasons)
    table = pd.DataFrame(rows).astype(VALUE_COLUMNS)
    return OutOfSample(table, points, np.asarray(reference.Y, np.float64), recipe, tuple(dict.fromkeys(all_notes)))


def point_scores(view: View, k: int) -> dict[str, FloatArray]:
    """Return the contribution of each row of a view to each measure, (m,), with k neighbors."""
    scores: dict[str, FloatArray] = {}
    for name in RANK_MEASURES:
        values = answer(MEASURES.get(name), view, {"n_neighbors": k}).points
        scores[name] = np.broadcast_to(np.asarray(values, np.float64), (len(view.rows),))
        if name == "neighborhood_overlap":
            scores["r_nx"] = NeighborCurves(view.n, np.array(k), scores[name]).r_nx()
    return scores


def _interval(
    values: FloatArray, groups: LabelVector | None, bounds: tuple[float, float], level: float
) -> tuple[Interval, Notes]:
    """Return the interval of the mean over new points, NaN where there is none, and notes on it."""
    missing = Interval(math.nan, math.nan, math.nan, "", 0, math.nan, level=level)
    if groups is not None:
        sizes = np.bincount(groups.codes)
        if is_few(effective := effective_count(sizes)):
            return missing, (few_groups_note(len(groups.classes), effective, "interval"),)
    if len(values) == 1:
        return missing, (note("new.single"),)
    if np.ptp(values) <= ROUNDING:
        return missing, ()
    if groups is not None:
        return clustered_interval(values, groups.codes, bounds, level), ()
    return mean_interval(values, bounds, level), ()


def _bound(calibration: Mapping[str, FloatArray] | None, measure: str, alpha: float) -> float:
    """Return the conformal bound of a new score: the l-th worst score of the calibration; NaN if there is none."""
    if calibration is None or not (rank := conformal_rank(len(calibration[measure]), alpha)):
        return math.nan
    scores = np.sort(calibration[measure])
    return float(scores[-rank] if MEASURES.card(measure).direction == "lower" else scores[rank - 1])


def _notes(reference: View, new: NewPoints, calibration: NewPoints | None, k: int, alpha: float) -> Iterator[Note]:
    """Yield the notes on ties, anchors, groups and the calibration."""
    n, m = reference.n, len(new.view.rows)
    if 2 * k >= n:
        yield note("neighbors.half", k=k, n=n)
    if new.view.has_ties.any():
        yield note("ties.index")
    if len(reference.rows) < n:
        yield note("new.anchors", drawn=len(reference.rows), n=n)
    if count := on_reference(new.view):
        yield note("new.on_reference", count=count, m=m)
    if new.groups is not None:
        count, effective = len(new.groups.classes), effective_count(np.bincount(new.groups.codes))
        if not is_few(effective) and effective < FEW_GROUPS:
            yield note("groups.few", groups=count, extent=effective_text(count, effective))
        yield note("new.groups")
        if calibration is not None:
            yield note("new.unused_calibration")
    elif calibration is None:
        yield note("new.no_calibration", way="calibration=(X_cal, Y_cal)", argument="calibration")
    else:
        c = len(calibration.view.rows)
        if not conformal_rank(c, alpha):
            yield note("new.few_calibration", count=c, alpha=alpha, least=math.ceil(1 / alpha - 1e-9) - 1)
        if (needed := least_flagged(m, c, alpha)) > m:
            yield note("new.no_flags", m=m, count=c, needed=needed, alpha=alpha)
        if count := on_reference(calibration.view):
            yield note("new.fitted_calibration", count=count, c=c)


def on_reference(view: View) -> int:
    """Return the number of queries that are on a reference point both in the data and on the map."""
    data, embedding = anchored_spaces(view)
    queries = np.arange(len(view.rows))
    on_both = [
        space.values(queries, nearest[:, 0].astype(np.int64)) == 0
        for space, nearest in ((data, view.nearest_data), (embedding, view.nearest_embedding))
    ]
    return int(np.logical_and(*on_both).sum())


def _group_facts(groups: LabelVector | None) -> dict[str, Any] | None:
    """Return name, number and effective number of the groups of new points."""
    if groups is None:
        return None
    effective = effective_count(np.bincount(groups.codes))
    return {"name": groups.printed_name, "count": len(groups.classes), "effective": effective}
