"""Maximum mean discrepancy of two samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import FloatArray
from dreval._check_arrays import check_classes, check_points
from dreval.errors import InputError
from dreval.geometry.kernels import center, gram_matrix, is_classes
from dreval.inputs.files import row_names
from dreval.records.notes import Notes
from dreval.records.tests import IndependenceTest
from dreval.significance._groups import split_statistic, whole_blocks
from dreval.significance._pooling import check_bandwidth_names, check_pooling, pooled_test, scales_of
from dreval.significance.base import (
    FRAME_TYPES,
    POOL,
    Resampling,
    class_notes,
    count_rows,
    in_own_order,
    integer_notes,
    is_pooled,
    make_record,
    matched_columns,
    matched_rows,
    test,
)


@test(
    title="Maximum mean discrepancy of two samples",
    variables="2",
    null=("permutation",),
    statistic="MMD2",
    effect_size="eta2",
    effect_is_biased=True,
    needs=("kernel",),
    reference="@gretton2012.",
    second="groups",
)
def mmd_test(
    x: Any,
    y: Any = None,
    *,
    groups: Any = None,
    kernel: str = "gaussian",
    bandwidth: float | str | None = None,
    permutation: str = "free",
    blocks: Any = None,
    n_resamples: int = 999,
    stop_after: int | None = None,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
) -> IndependenceTest:
    r"""Test whether two samples have one distribution, that is, whether a variable is independent of group membership.

    With a kernel k the statistic is the squared distance between the kernel means of the samples,

    .. math:: \mathrm{MMD}^2 = \frac{1}{m^2} \sum_{ii'} k(x_i, x_{i'}) + \frac{1}{n^2} \sum_{jj'} k(y_j, y_{j'})
              - \frac{2}{mn} \sum_{ij} k(x_i, y_j),

    at least 0; with gaussian, laplace or rational quadratic kernels its population value is 0 only for equal
    distributions. Group membership is permuted. The effect size is :math:`\eta^2`, the share of the variance in the
    kernel's feature space between the groups,

    .. math:: \eta^2 = \frac{m n}{m + n} \frac{\mathrm{MMD}^2}{\mathrm{tr}(HKH)},

    in [0, 1], larger for samples that differ more; with the linear kernel it is the classical eta squared. Both are
    biased upward at small n.

    Parameters
    ----------
    x, y : array, DataFrame or Series
        The two samples, with the same columns (of frames by name) and at least 2 rows each, 4 together; numbers or
        classes. Or ``x`` holds all rows, and ``groups`` (or ``y=None`` with ``groups``) splits them.
    groups : (n,) array of two classes, optional
        Group of each row of ``x`` (frames by row names), in place of ``y``; also with
        ``kernel="precomputed"``, where ``x`` is (n, n).
    kernel : str
        As in ``hsic_test``, of all rows together.
    bandwidth : float, "median", "pool" or None
        The length-scale sigma; by default by the median rule over all rows. "pool" takes five multiples of it in one
        test, as in ``hsic_test``: the statistic is the largest z.
    permutation : {"free", "within", "blocks"}
        Which rows may change groups: all; those of the same block; or whole blocks of any size, of which each is in one
        group (donors, of which some were treated).
    blocks : (n,) array of classes, optional
        The block of each row, for ``permutation="within"`` and "blocks": those of the rows of ``x``, then those of the
        rows of ``y``, as ``np.r_[donor[treated], donor[~treated]]``. With ``groups`` they are in the order of ``x``.
    n_resamples : int
        Number B of permutations; all splits are enumerated when there are no more.
    %(draws)s

    Returns
    -------
    IndependenceTest
        ``statistic`` MMD^2 (the V-statistic above); ``extra``: ``unbiased`` (without the terms i = i', j = j'; can be
        negative), ``n_first``, ``n_second``, ``kernel``, ``bandwidth``. With ``bandwidth="pool"`` ``statistic`` is the
        largest z, effect size and ``unbiased`` are those of the median rule, and ``bandwidth``, ``multiple``,
        ``largest_z_without_identity`` and ``n_bandwidths`` are as in ``hsic_test``.

    Raises
    ------
    InputError
        If the samples have different columns or one has fewer than two rows; if there are not two groups; if all rows
        are equal; if the groups are equal under every permitted permutation; if both ``y`` and ``groups`` are passed;
        if bandwidths are pooled of classes or a kernel without one, of an exponential or binomial kernel, with
        ``stop_after``, or with ``permutation="blocks"``.

    Warns
    -----
    %(coinciding_rows)s

    See Also
    --------
    hsic_test : dependence on more than two groups, or on a continuous variable.

    Notes
    -----
    Null mean (chance level): :math:`\frac{N}{m n (N - 1)} \mathrm{tr}(HKH)` over all permutations, with N = m + n; for
    the effect size 1 / (N - 1), as 0.0101 for N = 100.

    Cost: N^2 p / 2 for the kernel of N = m + n rows, min(m, n)^2 / 2 additions for each permutation. Memory: an N x N
    matrix; pooled bandwidths take five times both. The V-statistic is HSIC of the rows with group membership (delta
    kernel) up to the factor 2 (m n / N^2)^2.

    References
    ----------
    Gretton, Borgwardt, Rasch, Schoelkopf & Smola (2012), A kernel two-sample test, JMLR 13, 723-773.

    Examples
    --------
    >>> import numpy as np
    >>> import dreval
    >>> rng = np.random.default_rng(0)
    >>> result = dreval.mmd_test(rng.normal(size=(60, 2)), 2 * rng.normal(size=(40, 2)), random_state=0)
    >>> result.p_value
    0.001
    """
    rows, codes, notes = _pooled(x, y, groups, kernel)
    resampling = Resampling.of(
        n_resamples, permutation, blocks, stop_after, random_state, n_jobs, _pooled_rows(x, y, len(codes))
    )
    if resampling.permutation == "cyclic":
        hint = "Use 'free', or 'within' or 'blocks' with blocks."
        raise InputError("permutation", "must not be 'cyclic' for two samples", repr(permutation), hint)
    names = ("x", "y" if groups is None else "groups")
    moved = whole_blocks(resampling, codes, names[1]) if resampling.permutation == "blocks" else None
    check_bandwidth_names((bandwidth,))
    gram = gram_matrix(rows, "x", kernel, None if is_pooled(bandwidth) else bandwidth)
    if is_pooled(bandwidth):
        check_pooling((gram.kernel,), (bandwidth,), resampling)  # of classes "delta"
        if moved is not None:
            hint = "Leave `bandwidth` out for the median rule."
            raise InputError("bandwidth", f"must not be {POOL!r} where whole blocks are moved", repr(POOL), hint)
    sizes = np.bincount(codes)
    group = np.flatnonzero(codes == np.argmin(sizes))  # the smaller group
    centered = center(gram.matrix)
    between = float(sizes[0] * sizes[1]) / len(codes)
    total = float(np.trace(centered))
    scales = scales_of(bandwidth, gram.bandwidth)
    extra: dict[str, Any] = {"kernel": gram.kernel, "bandwidth": gram.bandwidth}
    resolution, scheme_notes = 1e-14 * total / between, ()
    statistic = _permuted_mmd(centered, group)
    if moved is not None:
        over_blocks = split_statistic(moved.block_sums(centered), moved.sizes, codes[moved.rows])
        result, scheme_notes = moved.run(over_blocks, "mmd", resolution, floor=0.0)
        observed = result.observed
    elif len(scales.bandwidths) > 1:
        scheme = resampling.scheme(len(codes), (rows, codes), names)
        grams = [center(gram_matrix(rows, "x", kernel, sigma).matrix) for sigma in scales.bandwidths]
        parts = [_permuted_mmd(matrix, group) for matrix in grams]
        pooled = pooled_test(
            lambda p: np.stack([part(p) for part in parts], axis=1), [scales], resampling, scheme, "mmd", group
        )
        result, scheme_notes = pooled.result, pooled.notes
        observed = max(float(statistic(np.arange(len(codes))[None])[0]), 0.0)
        extra |= {"bandwidth": pooled.bandwidths[0], "multiple": pooled.multiples[0], **pooled.extra}
    else:
        scheme = resampling.scheme(len(codes), (rows, codes), names)
        result = resampling.run(statistic, scheme, "mmd", resolution, split=group, floor=0.0)
        observed = result.observed
    return make_record(
        mmd_test.card,
        result,
        n=len(centered),
        resampling=resampling,
        effect_size=float(np.clip(between * observed / total, 0.0, 1.0)),
        extra={
            "unbiased": _unbiased(centered, group),
            "n_first": int(sizes[0]),
            "n_second": int(sizes[1]),
            **extra,
        },
        parameters={"kernel": kernel, "bandwidth": bandwidth},
        notes=(*notes, *gram.notes, *scheme_notes),
    )


def _pooled(x: Any, y: Any, groups: Any, kernel: Any) -> tuple[Any, npt.NDArray[np.int64], Notes]:
    """Return all rows, the group of each, and notes on how groups were matched."""
    for value, name in ((x, "x"), (y, "y"), (groups, "groups")):
        if value is not None or name == "x":
            count_rows(value, name)
    if (y is None) == (groups is None):
        received = "neither" if y is None else "both"
        raise InputError(
            "y",
            "must be the second sample where {groups} is not given",
            received,
            "Pass one of the two.",
            groups="groups",
        )
    if groups is not None:
        groups, notes = matched_rows(x, groups, "groups")
        hint = "Write codes of classes as whole numbers. Use hsic_test for the dependence on a continuous variable."
        codes, classes = check_classes(groups, count_rows(x, "x"), "groups", hint)
        if len(classes) != 2 or np.bincount(codes).min() < 2:
            received = f"{len(classes)} classes, the smallest with {np.bincount(codes).min()} rows"
            raise InputError("groups", "must be two classes of two rows or more", received, "Use hsic_test for more.")
        notes = (*notes, *class_notes(groups, "groups"))
        notes += integer_notes(x, "x") if kernel not in ("delta", "precomputed") else ()
        return (in_own_order(x, "x") if kernel == "precomputed" else x), codes, notes
    notes = (*integer_notes(x, "x"), *integer_notes(y, "y")) if kernel != "delta" else ()
    if is_classes(x) and is_classes(y):
        samples = [np.asarray(sample).ravel().astype(str) for sample in (x, y)]
    else:
        pairs = ((x, "x"), (matched_columns(x, y), "y"))
        samples = [check_points(v, name, columns=getattr(v, "columns", None), min_rows=2) for v, name in pairs]
        if samples[0].shape[1] != samples[1].shape[1]:
            received = f"{samples[0].shape[1]} and {samples[1].shape[1]} columns"
            raise InputError(
                "y", "must have the columns of {x}", received, "Pass two samples of the same variables.", x="x"
            )
    return np.concatenate(samples), np.repeat([0, 1], [len(sample) for sample in samples]), notes


def _pooled_rows(x: Any, y: Any, n: int) -> Any:
    """Return an object with the n rows to which blocks are matched: ``x``, or both samples, ``x`` before ``y``."""
    if y is None:
        return x
    are_frames = isinstance(x, FRAME_TYPES) and isinstance(y, FRAME_TYPES)
    if are_frames and not (row_names(x.index) is None and row_names(y.index) is None):
        return pd.Series(0, index=x.index.append(y.index))
    return np.zeros(n)  # row names that only count the rows of each sample are not unique


def _permuted_mmd(a: FloatArray, group: npt.NDArray[np.int64]) -> Any:
    """Return MMD^2 of a group of rows and the other rows, as a function of permutations.

    ``a`` is centered, so that the sums over both groups and between them are one sum up to sign.
    """
    from dreval.geometry._loops.permutations import permuted_block_sums

    n, size = len(a), len(group)
    factor = (n / (size * (n - size))) ** 2
    return lambda permutations: factor * permuted_block_sums(a, np.ascontiguousarray(permutations[:, group]))


def _unbiased(a: FloatArray, group: npt.NDArray[np.int64]) -> float:
    """Return the U-statistic: means over pairs of different rows."""
    other = np.setdiff1d(np.arange(len(a)), group)
    within = 0.0
    for rows in (group, other):
        block = a[np.ix_(rows, rows)]
        within += float(block.sum() - np.trace(block)) / (len(rows) * (len(rows) - 1))
    return within - 2 * float(a[np.ix_(group, other)].mean())
