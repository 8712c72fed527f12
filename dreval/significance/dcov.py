"""Distance covariance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dreval._check import FloatArray, IntArray, check_float, check_one_of, describe
from dreval._check_arrays import check_finite, check_magnitude, check_numeric
from dreval.errors import InputError
from dreval.geometry.distances import pairwise_squared
from dreval.geometry.kernels import center, delta_codes, is_classes, unbiased_inner, varying_points
from dreval.inputs.features import check_signs
from dreval.records.notes import Notes, note
from dreval.records.tests import IndependenceTest
from dreval.significance._groups import constant_within, kernel_statistic, nested
from dreval.significance.base import (
    Pair,
    Resampling,
    Side,
    entries_by_variable,
    exact_pair,
    gather,
    make_record,
    per_variable,
    test,
)

METRICS = ("euclidean", "precomputed")
LINE_ROUNDING = 1e-12  # largest rounding error of a statistic from sorted rows, in units of its largest possible value


@test(
    title="Distance covariance",
    variables="2",
    null=("permutation",),
    statistic="dCov2",
    effect_size="dCor2 (bias-corrected)",
    needs=("distances",),
    without_matrices=lambda values, options: on_a_line(values, **options),
    reference="@szekely2007.",
)
def dcov_test(
    x: Any,
    y: Any,
    *,
    metric: str | tuple[str, str] = "euclidean",
    exponent: float = 1.0,
    permutation: str = "free",
    blocks: Any = None,
    groups: Any = None,
    n_resamples: int = 999,
    stop_after: int | None = None,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
) -> IndependenceTest:
    r"""Test whether two variables of any dimension are independent, by their distances.

    With the distance matrices D of ``x`` and E of ``y``, and the centering matrix :math:`H = I - 11'/n`, the statistic
    is the squared distance covariance

    .. math:: \mathrm{dCov}^2 = \frac{1}{n^2} \langle HDH, HEH \rangle,

    at least 0; its population value is 0 only under independence (for ``exponent`` below 2). It is HSIC with the
    kernels -D. The effect size is the bias-corrected squared distance correlation, the same from U-centered matrices:
    at most 1, larger for more dependence, with mean 0 under independence and possibly negative; NaN where the
    U-centered distances of a variable are all 0, as where a single row differs from all others.

    Parameters
    ----------
    x, y : array, DataFrame or Series
        (n,) or (n, p) numbers; (n,) classes (text, booleans, categories), with distance 0 or 1; or (n, n) distances,
        where the metric is "precomputed". The same n >= 4 rows; frames with equal row names are matched, precomputed
        ones by rows and columns.
    metric : {"euclidean", "precomputed"} or pair of these
        Distance of each variable; classes have their own.
    exponent : float
        Power of the distances, in (0, 2]; with 2 only linear dependence is detected.
    %(permutations)s
    %(draws)s

    Returns
    -------
    IndependenceTest
        ``statistic`` dCov^2; ``extra``: ``unbiased`` (the bias-corrected dCov^2), ``dcor`` (the distance correlation
        sqrt(dCov^2 / sqrt(dVar^2_x dVar^2_y)), in [0, 1], biased upward).

    Raises
    ------
    InputError
        If the variables differ in their number of rows, hold NaN, or have fewer than 4 rows; if all distances of a
        variable are equal; if a variable is equal under every permitted permutation; if a precomputed matrix is not
        one of distances.

    See Also
    --------
    hsic_test : the same statistic with kernels in place of distances.
    distance_correlation : the correlation as a measure of an embedding.

    Notes
    -----
    Null mean (chance level): :math:`\mathrm{tr}(HDH)\, \mathrm{tr}(HEH) / (n^2 (n - 1))` over all permutations, as
    0.0048 for the variables of the example below; 0 for the effect size.

    Cost: n^2 (p + q) / 2 for the distances, n^2 / 2 multiplications for each permutation. Memory: two n x n matrices of
    8-byte numbers. Two variables of one column of numbers, or of two classes, with exponent 1 need no matrix: the
    statistic of each permutation takes O(n log n) steps (a Fenwick tree over sorted rows), the memory is O(n), and the
    numbers are those of the matrices up to rounding. Permutations over groups need both matrices. The correlation does
    not change under translation, rotation and scale of a variable. The R package ``energy`` returns the square root of
    the statistic, and n times the statistic for its test.

    References
    ----------
    Szekely, Rizzo & Bakirov (2007), Measuring and testing dependence by correlation of distances, Ann. Statist. 35.
    Szekely & Rizzo (2014), Partial distance correlation with methods for dissimilarities, Ann. Statist. 42, 2382-2412.
    Huo & Szekely (2016), Fast computing for distance covariance, Technometrics 58, 435-447.

    Examples
    --------
    >>> import numpy as np
    >>> import dreval
    >>> x = np.linspace(-1, 1, 50)
    >>> result = dreval.dcov_test(x, x**2, random_state=0)
    >>> round(result.extra["dcor"], 3), result.p_value
    (0.492, 0.002)
    """
    resampling = Resampling.of(n_resamples, permutation, blocks, stop_after, random_state, n_jobs, x, groups)
    variables = gather(x, y, kind=metric, argument="metric")
    metrics = variables.kinds
    check_float(exponent, "exponent", above=0.0, high=2.0)
    resampling, group = nested(resampling, variables)
    n, has_line = variables.n, group is None and on_a_line(variables.values, metric=metrics, exponent=exponent)
    settings = zip(variables.values, variables.names, metrics, strict=True)
    group_notes: Notes = ()
    if has_line:
        pair = line_pair(*(Line.of(_on_line(*side)) for side in zip(variables.values, variables.names, strict=True)))
    else:
        a, b = (_distances(value, name, kind, exponent) for value, name, kind in settings)
        between = None if group is None else b[np.ix_(group.rows, group.rows)]
        pair = exact_pair(center(a), center(b))
    if group is None or between is None:
        scheme = resampling.scheme(n, variables.values, variables.names)
        result = resampling.run(pair.hsic, scheme, "dcov", (LINE_ROUNDING if has_line else 1e-14) * pair.size)
    else:
        statistic = kernel_statistic(group.pair_sums(pair), lambda order: between[np.ix_(order, order)], n)
        result, group_notes = group.run(statistic, "dcov", 1e-14 * pair.size)
    unbiased = unbiased_inner(result.observed * n**2, *(side.diagonal for side in pair.sides))
    variances = [unbiased_inner(side.square, side.diagonal, side.diagonal) for side in pair.sides]
    flat = [
        name
        for name, variance, side in zip("xy", variances, pair.sides, strict=True)
        if variance * n**2 <= 1e-12 * side.square
    ]
    notes = [note("dcov.flat", argument=name) for name in flat]
    return make_record(
        dcov_test.card,
        result,
        n=n,
        resampling=resampling,
        effect_size=np.nan if flat else unbiased / float(np.sqrt(variances[0]) * np.sqrt(variances[1])),
        extra={
            "dcor": float(np.sqrt(np.clip(result.observed / pair.size, 0.0, 1.0))),
            "unbiased": unbiased,
            **entries_by_variable(
                "metric", [_metric_name(v, m) for v, m in zip(variables.values, metrics, strict=True)], ("x", "y")
            ),
        },
        parameters={"metric": metric, "exponent": exponent},
        notes=(*variables.notes, *notes, *group_notes),
        labels=variables.labels,
    )


def on_a_line(
    values: Sequence[Any], *, metric: Any = "euclidean", exponent: float = 1.0, groups: Any = None, **_: Any
) -> bool:
    """Return whether the distances of both variables are those of points on a line, so that no matrix is needed.

    Permutations over groups need the matrices.
    """
    if groups is not None and constant_within(values[1], np.unique(groups, return_inverse=True)[1]).all():
        return False
    is_plain = exponent == 1.0 and all(kind == "euclidean" for kind in per_variable(metric, ("x", "y"), "metric"))
    return is_plain and all(
        len(pd.unique(np.asarray(value).ravel())) <= 2 if is_classes(value) else np.asarray(value).size == len(value)
        for value in values
    )


class Line(NamedTuple):
    """Points on a line with mean 0 and largest magnitude 1, and the means of their distances.

    ``order`` sorts the values, ``rank`` is the place of each in that order, ``means`` the mean distance of each to all
    values minus ``mean``, the mean of these means, and ``unit`` that of the values.
    """

    values: FloatArray
    order: IntArray
    rank: IntArray
    means: FloatArray
    mean: float
    unit: float

    @classmethod
    def of(cls, values: FloatArray) -> Line:
        """Sort and scale the values, and compute their mean distances from cumulative sums."""
        n, places = len(values), np.arange(len(values))
        values = values - values.mean()
        values -= values.mean()  # the mean above was rounded in the units of values far from 0
        unit = float(np.abs(values).max())
        values /= unit
        order = np.argsort(values, kind="stable")
        rank, means = np.empty(n, np.int64), np.empty(n)
        rank[order] = places
        ascending = values[order]
        before = np.cumsum(ascending) - ascending
        means[order] = (ascending * (2 * places - n) + ascending.sum() - 2 * before) / n
        mean = float(means.mean())
        return cls(values, order, rank, means - mean, mean, unit)

    def side(self) -> Side:
        """Return diagonal and sum of squares of the centered distances."""
        n, (values, _, _, means, mean, unit) = len(self.values), self
        square = 2 * n * float(values @ values - means @ means) - (n * mean) ** 2
        return Side(-(2 * means + mean) * unit, square * unit**2)


def line_pair(x: Line, y: Line) -> Pair:
    """Return the pair of the centered distances of two variables of one column, in O(n) memory.

    With x in ascending order and g_j the sum of the distances of y_j to all y_i with i < j,

        sum_ij |x_i - x_j| |y_i - y_j| = 2 sum_j x_j (2 g_j - b_j),

    where b_j is the sum of the distances of y_j to all others. The products of the row means, which centering
    subtracts, are linear in the means of y and part of the same sum. Mean 0 and magnitude 1 prevent cancellation.
    """
    from dreval.geometry._loops.permutations import permuted_line_sums

    n, ascending = len(x.values), x.values[x.order]
    weights = (ascending + x.means[x.order]) * (n / 2)

    def inner(permutations: Any) -> FloatArray:
        sums = permuted_line_sums(ascending, x.order, y.values, y.rank, weights, y.means, permutations)
        return np.asarray((4 * sums - n**2 * x.mean * y.mean) * (x.unit * y.unit))

    return Pair(inner, (x.side(), y.side()))


def _on_line(value: Any, argument: str) -> FloatArray:
    """Return a variable as points on a line: its numbers, or 0 and 1 for its two classes."""
    if is_classes(value):
        return delta_codes(value, argument).astype(np.float64)
    return varying_points(value, argument)[:, 0]


def _metric_name(value: Any, metric: str) -> str:
    """Return the printed name of the distances of a variable."""
    return "equal or not" if metric == "euclidean" and is_classes(value) else metric


def _distances(value: Any, argument: str, metric: str, exponent: float) -> FloatArray:
    """Return the matrix of distances, to a power."""
    metric = check_one_of(metric, METRICS, "metric", aliases=True)
    if metric == "precomputed":
        matrix = _precomputed(value, argument)
    elif is_classes(value):
        codes = delta_codes(value, argument)
        matrix = (codes[:, None] != codes[None, :]).astype(np.float64)
    else:
        matrix = np.sqrt(pairwise_squared(varying_points(value, argument)))
    pair_distances = matrix[np.triu_indices(len(matrix), 1)]
    if float(pair_distances.max() - pair_distances.min()) <= 1e-12 * float(pair_distances.max()):
        hint = "Give a variable whose rows differ from each other by different amounts."
        raise InputError(argument, "must have distances that vary", "equal distances", hint)
    return matrix if exponent == 1.0 else matrix**exponent


def _precomputed(value: Any, argument: str) -> FloatArray:
    """Return a copy of a symmetric matrix of distances; raise if it is not one."""
    matrix: FloatArray = check_numeric(value, argument).astype(np.float64)
    requirement = "must be a symmetric (n, n) matrix of distances, n >= 4, where its metric is 'precomputed'"
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) < 4:
        raise InputError(argument, requirement, describe(matrix), "Pass d(x_i, x_j) for all pairs of rows.")
    check_finite(matrix, argument)
    largest = float(np.max(np.abs(matrix)))
    if float(np.max(np.abs(matrix - matrix.T))) > 1e-8 * largest:
        raise InputError(argument, requirement, "a matrix that is not symmetric", "Average it with its transpose.")
    check_magnitude(largest, argument)
    if largest == 0:
        raise InputError(argument, requirement, "distances that are all 0", "Pass distances of rows that differ.")
    check_signs(matrix, argument, requirement, "Pass all pairwise distances (n, n)")
    matrix += matrix.T.copy()
    matrix /= 2
    np.fill_diagonal(matrix, 0.0)
    return np.maximum(matrix, 0.0, out=matrix)
