"""Estimate the intrinsic dimension of data from the distances to nearest neighbors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from dreval._check import FloatArray, IntArray, check_float, check_int, check_one_of
from dreval._parallel import n_threads
from dreval._random import root_seed, stream
from dreval.analyses._analysis import CALLER_NAMES, analysis
from dreval.errors import InputError, UndefinedMeasure
from dreval.geometry.blocks import Groups, extra_neighbors, random_groups
from dreval.geometry.distances import first_outside, nearest
from dreval.inference.intervals import METHODS, partitions_interval
from dreval.inputs.data import Data, as_data
from dreval.inputs.variables import warn_of_guesses
from dreval.records.estimates import IntrinsicDimension
from dreval.records.notes import Note, note
from dreval.records.provenance import provenance

JACKKNIFE_GROUPS = 20  # as in evaluations
JACKKNIFE_PARTITIONS = 8  # as in evaluations
ROUNDING = 1e-12  # logarithms of ratios up to this are 0


@analysis(
    title="Intrinsic dimension",
    question="How many dimensions has the surface on which the points lie, at the scale of nearest neighbors?",
    caution="The interval covers the sampling of points, not the bias of the estimator: noise and curvature raise the "
    "estimate where their size is that of the distances between neighbors; edges lower it, in a cube of 5 dimensions "
    "by about a tenth, of 10 by a fifth.",
    cost="one search for nearest neighbors: about O(n log n) time up to 8 columns, O(n^2 p) beyond; O(n k) memory; "
    "for the standard error O(160 n k) more, without another search",
    reference="@facco2017; @levina2004 with the harmonic mean of @mackay2005.",
)
def intrinsic_dimension(
    X: Any,
    *,
    method: str = "twonn",
    fit: str = "line",
    discard: float = 0.1,
    n_neighbors: int = 20,
    conf_level: float = 0.95,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
) -> IntrinsicDimension:
    r"""Estimate the intrinsic dimension of data, with an interval.

    If the density around a point is constant over its nearest neighbors, the ratio :math:`\mu = r_2 / r_1` of its
    distances to the second and to the first neighbor has the distribution :math:`F(\mu) = 1 - \mu^{-d}`, where d is
    the dimension of the surface on which the points lie. TwoNN sorts the ratios of all n points and fits d as the slope
    of a line through the origin,

    .. math:: -\log(1 - i/n) \approx d \log \mu_{(i)},

    without the largest 10 %; ``fit="ml"`` is the maximum-likelihood estimate :math:`n / \sum_i \log \mu_i` instead.
    ``method="mle"`` (Levina and Bickel) reads k neighbors,

    .. math:: \frac{1}{d_i} = \frac{1}{k - 1} \sum_{j=1}^{k-1} \log \frac{r_k(i)}{r_j(i)},
       \qquad \frac{1}{d} = \frac{1}{n} \sum_i \frac{1}{d_i},

    the harmonic mean over the points (MacKay and Ghahramani), and gives a value for each point.

    Parameters
    ----------
    X : (n, p) array, DataFrame, sparse matrix, AnnData, data set or path
        Points in rows, as for ``Evaluation``; distances are Euclidean, and columns are not scaled. Repeated rows are
        merged, with a note: at distance 0 there is no ratio.
    method : {"twonn", "mle"}
        TwoNN reads two neighbors, the smallest scale; "mle" reads ``n_neighbors``, which is less variable and more
        biased.
    fit : {"line", "ml"}
        Of TwoNN: the line through the origin, or maximum likelihood, which uses all ratios.
    discard : float
        Of the line: the share of largest ratios that is left out, from 0 to 0.5.
    n_neighbors : int
        Of "mle": the number of neighbors k, at least 2.
    conf_level : float
        Level of the interval.
    random_state : int, numpy Generator or None
        Seed of the groups of the jackknife; the estimate does not depend on it.
    n_jobs : int, optional
        Number of threads, all cores by default; the numbers do not depend on it.

    Returns
    -------
    IntrinsicDimension
        Behaves as the float ``value``; ``se``, ``conf_low`` and ``conf_high``; ``tidy()``, ``glance()``, ``augment()``
        (of "mle" with the local dimension of each point), ``plot()``, ``summary()``.

    Raises
    ------
    InputError
        As ``Evaluation`` for the data; fewer than four different points; no more points than neighbors.
    UndefinedMeasure
        If all ratios of distances are 1, as on a grid.

    Warnings
    --------
    The interval covers the sampling of points, not the bias of the estimator: noise and curvature raise the estimate
    where their size is that of the distances between neighbors; edges lower it, in a cube of 5 dimensions by about a
    tenth, of 10 by a fifth.

    See Also
    --------
    parallel_analysis : the number of components with more variance than independent columns have.

    Notes
    -----
    The standard error is that of the delete-a-group jackknife: 20 random groups of points are left out in turn and the
    neighbors among the other points are recomputed, averaged over 8 random partitions (up to 20 points each group is a
    point); the interval is Student's with 19 degrees of freedom. The formula :math:`d / \sqrt n` of independent ratios
    is too small, because neighbors share ratios. In simulations of 300 samples of 100 and of 400 points on a torus and
    in cubes of 3, 5 and 10 dimensions the 95 % intervals held the mean of the estimator in 99 to 100 %: they are
    conservative, the standard error 1.3 to 1.8 times the true one. The intervals of "mle" are narrower than its bias
    and seldom hold the true dimension: in 0 to 77 % of these samples, those of TwoNN up to 5 dimensions in 96 to 100 %.

    Cost: one search for nearest neighbors, about O(n log n) time up to 8 columns and O(n^2 p) beyond, O(n k) memory;
    for the standard error O(160 n k) time more, without another search.

    References
    ----------
    Facco, d'Errico, Rodriguez & Laio (2017), Estimating the intrinsic dimension of datasets by a minimal neighborhood
    information, Sci. Rep. 7, 12140.
    Levina & Bickel (2004), Maximum likelihood estimation of intrinsic dimension, NIPS 17, 777-784.
    MacKay & Ghahramani (2005), Comments on "Maximum likelihood estimation of intrinsic dimension".

    Examples
    --------
    >>> import dreval
    >>> roll = dreval.simulate("swiss_roll", n=500, random_state=0).data
    >>> result = dreval.intrinsic_dimension(roll, random_state=0)
    >>> bool(result.conf_low < 2 < result.conf_high), 1.7 < result < 2.3
    (True, True)
    """
    method = check_one_of(method, ("twonn", "mle"), "method", aliases=True)
    fit = check_one_of(fit, ("line", "ml"), "fit", aliases=True)
    discard = check_float(discard, "discard", low=0.0, high=0.5)
    k = check_int(n_neighbors, "n_neighbors", low=2) if method == "mle" else 2
    level = check_float(conf_level, "conf_level", high=1 - 1e-6, above=0.0)
    n_threads(n_jobs)
    root = root_seed(random_state)
    data = as_data(X)
    warn_of_guesses(data.notes, CALLER_NAMES)
    points, places = _different_points(data.dense())
    n = len(points)
    if n < max(4, k + 1):
        received = f"{n} different rows" + (f" with n_neighbors={k}" if method == "mle" else "")
        hint = "Pass more points, or a smaller n_neighbors." if method == "mle" else "Pass more points."
        raise InputError("X", f"must have at least {max(4, k + 1)} different rows", received, hint)
    partitions = _partitions(n, root)
    min_remaining = n - max(groups.largest() for groups in partitions)
    list_length = min(n - 1, k + max(extra_neighbors(k, groups, n) for groups in partitions))
    indices, squared = nearest(points, list_length, n_jobs=n_jobs)
    logs = np.log(squared) / 2
    value = _estimate_dimension(logs[:, :k], method, fit, discard)
    if not math.isfinite(value):
        requirement, hint = "must have neighbors at different distances", "Use values that are not rounded to a grid."
        raise UndefinedMeasure("X", requirement, "nearest neighbors that are all equally far", hint)
    notes: list[Note] = [*data.dense_notes()]
    if n < data.n:
        notes.append(note("intrinsic_dimension.merged", merged=data.n - n, n=data.n, used=n))
    tied = int(np.count_nonzero(logs[:, 1] - logs[:, 0] <= ROUNDING))
    if tied and method == "twonn":
        notes.append(note("intrinsic_dimension.tied", tied=tied, n=n))
    estimates = None
    if k < min_remaining:
        settings = (method, fit, discard)
        estimates = np.array(
            [_estimates_left_out(points, indices, logs, groups, k, settings, n_jobs) for groups in partitions]
        )
    ends, reasons = _interval(value, estimates, level)
    notes += reasons
    parameters: dict[str, Any] = {"n_neighbors": k} if method == "mle" else {"fit": fit}
    parameters |= {"discard": discard} if (method, fit) == ("twonn", "line") else {}
    return IntrinsicDimension(
        method=method,
        value=value,
        n_used=n,
        points=_points_estimate(data, logs[:, :k], places, method, discard if fit == "line" else 0.0),
        recipe=provenance({"method": method, **parameters, "conf_level": level}, n=data.n, p=data.p, random_state=root),
        notes=tuple(note.named(CALLER_NAMES) for note in notes),
        **ends,
    )


def _interval(value: float, estimates: FloatArray | None, level: float) -> tuple[dict[str, Any], list[Note]]:
    """Return the fields of the interval from the estimates without each group, or the reason why it has none."""
    if estimates is None:
        return {}, [note("interval.large_k")]
    if not np.isfinite(estimates).all():
        return {}, [note("interval.undefined")]
    interval = partitions_interval(value, estimates, (0.0, math.inf), level=level)
    if interval.se == 0:
        return {}, [note("inference.fixed", of="interval")]
    ends = {"se": interval.se, "conf_low": interval.low, "conf_high": interval.high, "conf_level": level}
    return {**ends, "n_groups": interval.n_groups, "conf_method": METHODS[interval.kind]}, []


def _different_points(points: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the different rows in order of occurrence, and the place of each row."""
    points = points + 0.0  # -0.0 becomes 0.0
    _, first_rows, inverse = np.unique(points, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first_rows)
    rank = np.empty(len(first_rows), np.int64)
    rank[order] = np.arange(len(first_rows))
    return np.ascontiguousarray(points[first_rows[order]]), rank[inverse.reshape(-1)]


def _partitions(n: int, root: int) -> list[Groups]:
    """Return random partitions of the points; of few points only the partition into single points."""
    count = min(JACKKNIFE_GROUPS, n)
    return [
        random_groups(n, count, stream(root, "groups", b)) for b in range(1 if count == n else JACKKNIFE_PARTITIONS)
    ]


def smallest_ratios(logs: FloatArray, discard: float) -> tuple[FloatArray, FloatArray]:
    """Return the logarithms of the ratios in ascending order, without the largest, and -log(1 - i/n) of each.

    The largest ratio, at which this is infinite, is left out even with ``discard`` 0.
    """
    ratios = np.sort(logs[:, 1] - logs[:, 0])
    n = len(ratios)
    count = min(int(n * (1 - discard) + 1e-9), n - 1)
    return ratios[:count], -np.log1p(-np.arange(1, count + 1) / n)


def _estimate_dimension(logs: FloatArray, method: str, fit: str, discard: float) -> float:
    """Return the estimate from the logarithms (n, k) of distances to neighbors; infinite where these do not differ."""
    if method == "twonn" and fit == "line":
        x, y = smallest_ratios(logs, discard)
        return float(x @ y) / float(x @ x) if x[-1] > ROUNDING else math.inf
    inverse = float(inverse_dimensions(logs).mean())
    return 1 / inverse if inverse > ROUNDING else math.inf


def inverse_dimensions(logs: FloatArray) -> FloatArray:
    """Return the mean over the nearer neighbors of log(r_k / r_j), the inverse of the local dimension of a point."""
    return np.asarray((logs[:, -1:] - logs[:, :-1]).mean(axis=1))


def _estimates_left_out(
    points: FloatArray,
    indices: IntArray,
    logs: FloatArray,
    groups: Groups,
    k: int,
    settings: tuple[str, str, float],
    n_jobs: int | None,
) -> list[float]:
    """Return the estimates without each group, from the neighbors among the other points."""
    members, values = groups.codes[indices], []
    for group in range(groups.count):
        other_points = groups.codes != group
        group_logs = first_outside(logs[other_points], members[other_points] == group, k)
        if group_logs is None:  # a list of neighbors is too short
            group_logs = np.log(nearest(np.ascontiguousarray(points[other_points]), k, n_jobs=n_jobs)[1]) / 2
        values.append(_estimate_dimension(group_logs, *settings))
    return values


def _points_estimate(data: Data, logs: FloatArray, places: IntArray, method: str, discard: float) -> pd.DataFrame:
    """Return the values of each point that the estimate uses, in row order; repeated rows have equal values."""
    columns: dict[str, Any] = {"id": np.arange(data.n) if data.ids is None else np.asarray(data.ids)}
    if method == "mle":
        with np.errstate(divide="ignore"):
            return pd.DataFrame(columns | {"local_dimension": (1 / inverse_dimensions(logs))[places]})
    ratios = logs[:, 1] - logs[:, 0]
    ranks = np.empty(len(ratios), np.int64)
    ranks[np.argsort(ratios, kind="stable")] = np.arange(1, len(ratios) + 1)
    used = ranks <= (len(smallest_ratios(logs, discard)[0]) if discard else len(ratios))
    return pd.DataFrame(columns | {"ratio": np.exp(ratios)[places], "rank": ranks[places], "used": used[places]})
