"""The Hilbert-Schmidt independence criterion."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dreval._check import check_int
from dreval._random import root_seed
from dreval.geometry.kernels import center, gram_matrix
from dreval.independence._test import check_same_rows, make_record, matched_rows, pair_of, test
from dreval.inference.permutation import permutation_null
from dreval.results.test import IndependenceTest

FloatArray = npt.NDArray[np.float64]


@test(
    title="Hilbert-Schmidt independence criterion",
    variables="2",
    null=("permutation",),
    statistic="HSIC",
    effect_size="CKA",
    needs=("kernel",),
    reference="Gretton et al. (2008), A kernel statistical test of independence, NIPS 20, 585-592",
)
def hsic_test(
    x: Any,
    y: Any,
    *,
    kernel: str | tuple[str, str] = "gaussian",
    bandwidth: float | str | tuple[float | str | None, float | str | None] | None = None,
    n_resamples: int = 999,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
) -> IndependenceTest:
    r"""Test whether two variables, each of any dimension or kind, are independent.

    With kernel matrices K of ``x`` and L of ``y`` and H = I - 11'/n the statistic is the squared Hilbert-Schmidt norm
    of the empirical cross-covariance operator,

    .. math:: \mathrm{HSIC} = \frac{1}{n^2} \langle HKH, HLH \rangle = \frac{1}{n^2} \mathrm{tr}(K H L H).

    It is 0 when the two look independent to the kernels and has no upper bound of its own; with gaussian, laplace or
    rational quadratic kernels the population value is 0 only under independence. The effect size is the centred kernel
    alignment CKA = <HKH, HLH> / (\|HKH\| \|HLH\|), in [0, 1] for positive semi-definite kernels. CKA and HSIC are
    biased upward at small n: read them beside the mean of the null distribution. The rows of ``y`` are permuted.

    Parameters
    ----------
    x, y : array, DataFrame or Series
        (n,) or (n, p) numbers, or (n,) classes, the same n >= 4 rows; frames with equal row names are matched.
        Text, booleans and categories are classes and get the delta kernel; integers are numbers unless
        ``kernel="delta"``. With ``kernel="precomputed"`` an (n, n) matrix of kernel values.
    kernel : str or pair of str
        ``gaussian`` exp(-d^2 / (2 sigma^2)), ``laplace`` exp(-d / sigma), ``rational_quadratic``
        1 / (1 + d^2 / (2 sigma^2)), ``linear``, ``delta`` (classes) or ``precomputed``; d is the Euclidean distance.
        A pair gives x and y their own.
    bandwidth : float, "median", None or a pair of these
        The length-scale sigma, in the units of the variable. By default each variable has its own: sigma^2 is the
        median of its squared distances over pairs i < j.
    n_resamples : int
        Number B of permutations. When n! <= B all of them are enumerated and p is exact.
    random_state : int, numpy Generator or None
        Seed; permutation b depends on the seed and b only.
    n_jobs : int, optional
        Number of threads, all cores by default; the numbers do not depend on it.

    Returns
    -------
    IndependenceTest
        ``statistic`` HSIC (the V-statistic above); ``p_value`` = (1 + #{T_b >= T}) / (B + 1), equal up to rounding
        counting as equal; ``p_interval`` its 95 % Monte Carlo interval; ``effect_size`` CKA; ``extra``: ``cka``,
        ``unbiased`` (the U-statistic HSIC_1 of Song et al. 2012, which can be negative), ``kernel_x``, ``kernel_y``,
        ``bandwidth_x``, ``bandwidth_y``.

    Raises
    ------
    InputError
        Different numbers of rows, NaN, fewer than 4 rows, a variable that is constant or looks the same under every
        permutation, a precomputed matrix that is no kernel.

    Warns
    -----
    DegenerateDataWarning
        More than half of the pairs of rows coincide, so that the median of the distances is 0.

    Notes
    -----
    Cost: n^2 (p + q) / 2 for the kernels and n^2 / 2 multiplications for each permutation. Memory: two n x n matrices
    of 8-byte numbers and half of one more while they are made (n = 10,000: 2 GB).

    The gaussian statistic does not change under translation and rotation of a variable and, with the median rule,
    under its scale. Between an embedding and the data it was computed from, dependence is certain: there the effect
    size is informative, not p.

    References
    ----------
    Gretton, Bousquet, Smola & Schoelkopf (2005), Measuring statistical dependence with Hilbert-Schmidt norms, ALT.
    Gretton, Fukumizu, Teo, Song, Schoelkopf & Smola (2008), A kernel statistical test of independence, NIPS 20.
    Song, Smola, Gretton, Bedo & Borgwardt (2012), Feature selection via dependence maximization, JMLR 13, 1393-1434.

    Examples
    --------
    >>> import numpy as np
    >>> import dreval
    >>> x = np.linspace(-1, 1, 50)
    >>> found = dreval.hsic_test(x, x**2, random_state=0)     # uncorrelated, yet dependent
    >>> found.p_value
    0.001
    >>> found.n_resamples
    999
    """
    check_int(n_resamples, "n_resamples", low=1)
    root = root_seed(random_state)
    n = check_same_rows(x, y)
    y, matched = matched_rows(x, y)
    kernels, bandwidths = pair_of(kernel, "kernel"), pair_of(bandwidth, "bandwidth")
    gram_x = gram_matrix(x, "x", kernels[0], bandwidths[0])
    gram_y = gram_matrix(y, "y", kernels[1], bandwidths[1])
    a, b = center(gram_x.matrix), center(gram_y.matrix)
    size = float(np.linalg.norm(a)) * float(np.linalg.norm(b)) / n**2
    found = permutation_null(_permuted_hsic(a, b), n, n_resamples, root, "hsic", resolution=1e-14 * size, n_jobs=n_jobs)
    cka = float(np.clip(found.observed / size, -1.0, 1.0))
    return make_record(
        hsic_test.card,
        found,
        n=n,
        root=root,
        effect_size=cka,
        extra={
            "cka": cka,
            "unbiased": _unbiased_hsic(a, b),
            "kernel_x": gram_x.kernel,
            "kernel_y": gram_y.kernel,
            "bandwidth_x": gram_x.bandwidth,
            "bandwidth_y": gram_y.bandwidth,
        },
        parameters={"kernel": kernel, "bandwidth": bandwidth, "n_resamples": n_resamples},
        notes=(*matched, *gram_x.notes, *gram_y.notes),
    )


def _permuted_hsic(a: FloatArray, b: FloatArray) -> Any:
    """HSIC of centred kernels as a function of rows of permutations of the second one."""
    from dreval.geometry._loops.permutations import permuted_inner_products

    return lambda permutations: permuted_inner_products(a, b, permutations) / len(a) ** 2


def _unbiased_hsic(a: FloatArray, b: FloatArray) -> float:
    """HSIC_1 of Song et al. (2012); adding r_i + r_j off the diagonal cancels, so centred kernels give the same."""
    n = len(a)
    diag_a, diag_b = np.diagonal(a), np.diagonal(b)
    rows_a, rows_b = a.sum(axis=0) - diag_a, b.sum(axis=0) - diag_b
    product = float(np.vdot(a, b) - diag_a @ diag_b)
    total = float(rows_a.sum() * rows_b.sum()) / ((n - 1) * (n - 2))
    return (product + total - 2 / (n - 2) * float(rows_a @ rows_b)) / (n * (n - 3))
