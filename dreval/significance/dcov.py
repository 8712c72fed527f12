"""Distance covariance."""

from __future__ import annotations

from typing import Any

import numpy as np

from dreval._check import FloatArray, check_float, check_one_of, describe
from dreval._check_arrays import check_finite, check_magnitude, check_numeric
from dreval.errors import InputError
from dreval.geometry.distances import pairwise_squared
from dreval.geometry.kernels import center, delta_codes, is_classes, varying_points
from dreval.inputs.features import check_signs
from dreval.records.notes import Notes, note
from dreval.records.tests import IndependenceTest
from dreval.significance._groups import kernel_statistic, nested
from dreval.significance.base import (
    Resampling,
    entries_by_variable,
    exact_pair,
    gather,
    make_record,
    test,
    unbiased_inner,
)

METRICS = ("euclidean", "precomputed")


@test(
    title="Distance covariance",
    variables="2",
    null=("permutation",),
    statistic="dCov2",
    effect_size="dCor2 (bias-corrected)",
    needs=("distances",),
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
        variable are equal; if a precomputed matrix is not one of distances.

    See Also
    --------
    hsic_test : the same statistic with kernels in place of distances.
    distance_correlation : the correlation as a measure of an embedding.

    Notes
    -----
    Null mean (chance level): :math:`\mathrm{tr}(HDH)\, \mathrm{tr}(HEH) / (n^2 (n - 1))` over all permutations, as
    0.0048 for the variables of the example below; 0 for the effect size.

    Cost: n^2 (p + q) / 2 for the distances, n^2 / 2 multiplications for each permutation. Memory: two n x n matrices of
    8-byte numbers. The correlation does not change under translation, rotation and scale of a variable. The R package
    ``energy`` returns the square root of the statistic, and n times the statistic for its test.

    References
    ----------
    Szekely, Rizzo & Bakirov (2007), Measuring and testing dependence by correlation of distances, Ann. Statist. 35.
    Szekely & Rizzo (2014), Partial distance correlation with methods for dissimilarities, Ann. Statist. 42, 2382-2412.

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
    settings = zip(variables.values, variables.names, metrics, strict=True)
    a, b = (_distances(value, name, kind, exponent) for value, name, kind in settings)
    between = None if group is None else b[np.ix_(group.rows, group.rows)]
    pair, n = exact_pair(center(a), center(b)), variables.n
    group_notes: Notes = ()
    if group is None or between is None:
        scheme = resampling.scheme(n, variables.values, variables.names)
        result = resampling.run(pair.hsic, scheme, "dcov", 1e-14 * pair.size)
    else:
        statistic = kernel_statistic(group.pair_sums(pair), lambda order: between[np.ix_(order, order)], n)
        result, group_notes = group.run(statistic, "dcov", 1e-14 * pair.size)
    sides = [(side, side) for side in pair.sides]
    unbiased = unbiased_inner(result.observed * n**2, pair.sides)
    variances = [unbiased_inner(side[0].square, side) for side in sides]
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
