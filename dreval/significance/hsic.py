"""Hilbert-Schmidt independence criterion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dreval._check import FloatArray, check_one_of
from dreval.errors import InputError
from dreval.geometry.kernels import TRACE_TOLERANCE, Gram, LowRank, center, gram_matrix, unbiased_inner
from dreval.inference.permutation import PermutationNull
from dreval.records.notes import Notes, note
from dreval.records.tests import IndependenceTest
from dreval.significance._groups import kernel_statistic, nested
from dreval.significance._pooling import check_bandwidth_names, check_pooling, pooled_hsic, pooled_test, scales_of
from dreval.significance.base import (
    EXACT_ROWS,
    POOL,
    Pair,
    Resampling,
    Side,
    Statistic,
    Variables,
    chosen_factors,
    entries_by_variable,
    exact_pair,
    gather,
    is_pooled,
    make_record,
    per_variable,
    permuted_product,
    test,
)

METHODS = ("auto", "exact", "lowrank", "gamma")
APPROXIMATIONS = ("hsic.factors", "hsic.all_values")  # notes on the kernels of a single bandwidth


@test(
    title="Hilbert-Schmidt independence criterion",
    variables="many",
    null=("permutation", "gamma"),
    statistic="HSIC",
    effect_size="CKA",
    effect_is_biased=True,
    needs=("kernel",),
    memory="factors",
    tolerance=TRACE_TOLERANCE,
    reference="@gretton2008.",
)
def hsic_test(
    x: Any,
    y: Any,
    *others: Any,
    kernel: str | tuple[str, ...] = "gaussian",
    bandwidth: float | str | tuple[float | str | None, ...] | None = None,
    method: str = "auto",
    permutation: str = "free",
    blocks: Any = None,
    groups: Any = None,
    n_resamples: int = 999,
    stop_after: int | None = None,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
) -> IndependenceTest:
    r"""Test whether variables, each of any dimension or kind, are independent.

    With kernel matrices K of ``x`` and L of ``y`` and the centering matrix :math:`H = I - 11'/n`, the statistic is the
    squared Hilbert-Schmidt norm of the empirical cross-covariance operator,

    .. math:: \mathrm{HSIC} = \frac{1}{n^2} \langle HKH, HLH \rangle = \frac{1}{n^2} \mathrm{tr}(K H L H).

    It is at least 0 and has no upper bound; with gaussian, laplace or rational quadratic kernels the population value
    is 0 only under independence. The effect size is the centered kernel alignment
    :math:`\mathrm{CKA} = \langle HKH, HLH \rangle / (\|HKH\| \|HLH\|)`, in [0, 1] for positive semi-definite kernels.
    Larger values mean more dependence. Both are biased upward at small n: compare them with the mean of the null
    distribution. The rows of ``y`` are permuted.

    Three and more variables are tested for joint independence by dHSIC, the squared distance between the kernel mean
    of the joint distribution and that of the product of the marginal distributions,

    .. math:: \mathrm{dHSIC} = \frac{1}{n^2} \sum_{ij} \prod_k K^k_{ij} + \prod_k \frac{1}{n^2} \sum_{ij} K^k_{ij}
              - \frac{2}{n} \sum_i \prod_k \frac{1}{n} \sum_j K^k_{ij},

    which for two variables is HSIC. All variables but ``x`` are permuted, each by its own permutation. The
    effect size is then dHSIC over the geometric mean of its values for d copies of each variable.

    Parameters
    ----------
    x, y, *others : array, DataFrame or Series
        (n,) or (n, p) numbers, or (n,) classes, the same n >= 4 rows; frames with equal row names are matched, and
        precomputed ones by rows and columns.
        Text, booleans and categories are classes and get the delta kernel; integers are numbers unless
        ``kernel="delta"``, and a note names those that may be codes of classes. With ``kernel="precomputed"`` a
        positive semi-definite (n, n) matrix of kernel values.
    kernel : str or tuple of str
        ``gaussian`` :math:`\exp(-d^2 / (2 \sigma^2))`, ``laplace`` :math:`\exp(-d / \sigma)`, ``rational_quadratic``
        :math:`1 / (1 + d^2 / (2 \sigma^2))`, ``linear``, ``exponential``, ``binomial``, ``delta`` (classes) or
        ``precomputed``; d is the Euclidean distance (``dreval.geometry.kernels.gram_matrix`` has the formulas). A tuple
        holds one kernel for each variable.
    bandwidth : float, "median", "pool", None or a tuple of these
        The length-scale :math:`\sigma`, > 0, in the units of the variable. By default each variable has its own:
        :math:`\sigma^2` is the median of its squared distances over pairs i < j. "pool" takes .088, .18, .35, .71 and
        1.4 times this bandwidth of each of two variables (of a radial kernel) in one test: for each pair of
        bandwidths b, HSIC is standardized over all B + 1 permutations, the identity included, and the statistic is the
        largest of these z. p needs no adjustment: the standardization treats all permutations alike.
    method : {"auto", "exact", "lowrank", "gamma"}
        ``exact`` holds the kernel matrices. ``lowrank`` factors each by pivoted incomplete Cholesky until a share of
        1e-4 of its trace is left; at this bandwidth the statistic is then too small by at most
        ``extra["error_bound"]``. Beyond 2000 rows the median rule uses 2000 random rows, the same ones for every
        seed, so that the bandwidth differs slightly from that of ``exact``. ``auto`` is exact up to 2000 rows, and
        beyond where the kernels have no small factor and n <= 10,000; the notes of the result name the choice.
        ``gamma`` draws no permutations: p comes from the gamma distribution with the exact mean and variance of HSIC
        over all permutations, an approximation (``p_kind`` "approximate"). Of 1000 pairs of independent normal
        variables it rejected 1.3 % and 5.8 % at the 1 % and 5 % levels for n = 30, .9 % and 5.3 % for n = 100; with
        heavy tails or outliers its p is too small. Its kernels are those of ``auto``, low rank beyond 2000 rows. Three
        and more variables are always exact.
    %(permutations)s
    %(draws)s

    Returns
    -------
    IndependenceTest
        ``statistic`` HSIC (the V-statistic above); ``p_value`` :math:`(1 + \#\{b: T_b \ge T\}) / (B + 1)`, where
        values that are equal up to rounding are equal; ``p_interval`` its 95 % Monte Carlo interval; ``effect_size``
        CKA; ``extra``: ``cka`` and
        ``unbiased`` (the U-statistic HSIC_1 of Song et al. 2012, which can be negative; two variables), ``method``,
        ``error_bound`` (low rank), ``chance`` and ``null_sd`` (of the gamma distribution), and for each variable
        ``kernel_x``, ``bandwidth_x``, ``rank_x`` (low rank), ... With ``bandwidth="pool"`` ``statistic`` is
        :math:`\max_b z_b`, and effect size and ``unbiased`` are those of the median rule; ``bandwidth_x`` and
        ``multiple_x`` (of the median distance) are those with the largest z, named from the permutations other than
        the identity, ``largest_z_without_identity`` that z, and ``n_bandwidths`` the number of pairs. A pair whose HSIC
        does not vary (its standard deviation is at most 1e-10 of its largest value) is dropped.

    Raises
    ------
    InputError
        If the variables differ in their number of rows, hold NaN, or have fewer than 4 rows; if a variable is constant
        or equal under every permitted permutation; if a precomputed matrix is not a kernel; if the blocks permit no
        permutation; if bandwidths are pooled of three variables, of kernels without a bandwidth, of an exponential or
        binomial kernel, with ``method="gamma"``, with ``stop_after``, or where ``y`` is constant within each group.

    Warns
    -----
    %(coinciding_rows)s

    See Also
    --------
    kcca_test : the largest correlation of smooth functions.
    dcov_test : HSIC with distances as kernels.
    mmd_test : the same statistic for two samples.
    bandwidth_curve : how far the result depends on the bandwidths.

    Notes
    -----
    Null mean (chance level): :math:`\mathrm{tr}(HKH)\, \mathrm{tr}(HLH) / (n^2 (n - 1))` over all permutations, which
    is of order 1/n; for ``x = np.linspace(-1, 1, 50)`` and ``x**2`` as below it is 0.0038.

    Cost: n^2 (p + q) / 2 for the kernels and n^2 / 2 multiplications for each permutation. Memory: two n x n matrices
    of 8-byte numbers and half of one more while they are made (n = 10,000: 2 GB). With factors of ranks r and s:
    n (r^2 + s^2) once, n r s for each permutation, memory n (r + s).

    Pooled bandwidths of two variables of numbers take about 4 times as long as a single one for 120 rows and 8 to 10
    times for 500 and 1000, those of numbers and classes 2 to 3 times, and five matrices for each variable of numbers.
    Two single columns of 1000 rows have factors and take 4 times as long. Beyond 2000 rows the factors have at most 100
    columns for each bandwidth, which is coarse for the smallest ones of several columns.

    The gaussian statistic does not change under translation and rotation of a variable and, with the median rule,
    under its scale. Between an embedding and the data it was computed from, dependence is certain: there the effect
    size is informative, not p.

    References
    ----------
    Gretton, Bousquet, Smola & Schoelkopf (2005), Measuring statistical dependence with Hilbert-Schmidt norms, ALT.
    Gretton, Fukumizu, Teo, Song, Schoelkopf & Smola (2008), A kernel statistical test of independence, NIPS 20.
    Song, Smola, Gretton, Bedo & Borgwardt (2012), Feature selection via dependence maximization, JMLR 13, 1393-1434.
    Pfister, Buehlmann, Schoelkopf & Peters (2018), Kernel-based tests for joint independence, JRSS B 80, 5-31.
    Kazi-Aoual, Hitier, Sabatier & Lebreton (1995), Refined approximations to permutation tests, CSDA 20, 643-656.

    Examples
    --------
    >>> import numpy as np
    >>> import dreval
    >>> x = np.linspace(-1, 1, 50)
    >>> result = dreval.hsic_test(x, x**2, random_state=0)     # uncorrelated, yet dependent
    >>> result.p_value
    0.001
    >>> result.n_resamples
    999
    >>> y = np.sin(4 * np.pi * x)                               # two periods, finer than the median distance
    >>> pooled = dreval.hsic_test(x, y, bandwidth="pool", random_state=0)
    >>> dreval.hsic_test(x, y, random_state=0).p_value > 0.05, pooled.p_value, pooled.extra["multiple_x"]
    (True, 0.001, 0.088)
    """
    resampling = Resampling.of(n_resamples, permutation, blocks, stop_after, random_state, n_jobs, x, groups)
    method = check_one_of(method, METHODS, "method", aliases=True)
    if method == "gamma":
        resampling.refuse_without_permutations(method)
    variables = gather(x, y, *others, kind=kernel)
    kernels = variables.kinds
    bandwidths = per_variable(bandwidth, variables.names, "bandwidth")
    check_bandwidth_names(bandwidths)
    settings = {"kernel": kernel, "bandwidth": bandwidth, "method": method}
    resampling, group = nested(resampling, variables)
    if any(map(is_pooled, bandwidths)):
        check_pooling(kernels, bandwidths, resampling)
        reasons = {
            "there are three variables or more": bool(others),
            "`method` is 'gamma'": method == "gamma",
            "{y} is constant within groups, over which its values are permuted": group is not None,
        }
        if what := next((reason for reason, holds in reasons.items() if holds), None):
            hint = "Leave `bandwidth` out for the median rule."
            raise InputError("bandwidth", f"must not be {POOL!r} where {what}", repr(POOL), hint, y="y")
    if others:
        return _joint(variables, kernels, bandwidths, resampling, settings)
    pair, extra, notes = _measured(variables, kernels, tuple(None if is_pooled(b) else b for b in bandwidths), method)
    chosen = [extra[f"bandwidth_{name}"] for name in variables.names]
    scales = [scales_of(*side) for side in zip(bandwidths, chosen, strict=True)]
    if any(len(side.bandwidths) > 1 for side in scales):
        statistics, approximation = pooled_hsic(variables.values, variables.names, kernels, scales, method)
        scheme = resampling.scheme(variables.n, variables.values, variables.names)
        pooled = pooled_test(statistics, scales, resampling, scheme, "hsic")
        result, observed = pooled.result, pair.observed
        extra = {key: extra[key] for key in extra if key.startswith("kernel")}
        extra |= entries_by_variable("bandwidth", pooled.bandwidths, variables.names)
        extra |= entries_by_variable("multiple", pooled.multiples, variables.names) | pooled.extra
        notes = (*(n for n in notes if n.code not in APPROXIMATIONS), *approximation, *pooled.notes)
    elif method == "gamma":
        result, moments = gamma_null(pair)
        observed, extra = result.observed, extra | moments
        notes = (*notes, note("hsic.gamma"))
    elif group is None:
        scheme = resampling.scheme(variables.n, variables.values, variables.names)
        result = resampling.run(pair.hsic, scheme, "hsic", 1e-14 * pair.size, floor=0.0)
        observed = result.observed
    else:
        kernel_of = group.kernel(variables.values[1], "y", kernels[1], bandwidths[1])
        statistic = kernel_statistic(group.pair_sums(pair), kernel_of, variables.n)
        result, group_notes = group.run(statistic, "hsic", 1e-14 * pair.size, floor=0.0)
        observed, notes = result.observed, (*notes, *group_notes)
    cka = float(np.clip(observed / pair.size, 0.0, 1.0))
    unbiased = unbiased_inner(observed * variables.n**2, *(side.diagonal for side in pair.sides))
    return make_record(
        hsic_test.card,
        result,
        n=variables.n,
        resampling=resampling,
        effect_size=cka,
        extra={"cka": cka, "unbiased": unbiased, **extra},
        parameters=settings,
        notes=(*variables.notes, *notes),
        labels=variables.labels,
    )


def _measured(
    variables: Variables, kernels: tuple[Any, ...], bandwidths: tuple[Any, ...], method: str
) -> tuple[Pair, dict[str, Any], Notes]:
    """Return the centered kernels as matrices or factors, with entries of ``extra`` and notes."""
    names, values = variables.names, variables.values
    factors = chosen_factors(values, names, kernels, bandwidths, "auto" if method == "gamma" else method)
    if factors is None:
        grams = [gram_matrix(*variable) for variable in zip(values, names, kernels, bandwidths, strict=True)]
        extra = entries_by_variable("kernel", [g.kernel for g in grams], names) | entries_by_variable(
            "bandwidth", [g.bandwidth for g in grams], names
        )
        notes = tuple(note for gram in grams for note in gram.notes)
        if variables.n > EXACT_ROWS and method != "exact":
            notes = (*notes, note("hsic.all_values", n=variables.n))
        return exact_pair(center(grams[0].matrix), center(grams[1].matrix)), extra, notes
    pair, bound = low_rank_pair(*factors)
    ranks = [factor.factor.shape[1] for factor in factors]
    extra = {"error_bound": bound, **entries_by_variable("kernel", [f.kernel for f in factors], names)}
    extra |= entries_by_variable("bandwidth", [f.bandwidth for f in factors], names) | entries_by_variable(
        "rank", ranks, names
    )
    left = [factor.left / factor.trace for factor in factors]
    approximated = note("hsic.factors", rank_x=ranks[0], rank_y=ranks[1], left_x=left[0], left_y=left[1], bound=bound)
    return pair, extra, (*(note for factor in factors for note in factor.notes), approximated)


def low_rank_pair(x: LowRank, y: LowRank) -> tuple[Pair, float]:
    """Return the pair of two centered factors, and a bound on the excess of HSIC of the full kernels over theirs.

    With K = LL' + E and M = NN' + F, E and F positive semi-definite, 0 <= <K, M> - <LL', NN'> is at most
    tr E (|NN'| + tr F) + tr F |LL'|, in spectral norms.
    """
    factors, sides, norms = (x.factor, y.factor), [], []
    for factor in factors:
        square = factor.T @ factor
        sides.append(Side(np.einsum("ij,ij->i", factor, factor), float(np.vdot(square, square))))
        norms.append(float(np.linalg.norm(square, 2)))
    product = permuted_product(x.factor, y.factor, y.codes)
    bound = x.left * (norms[1] + y.left) + y.left * norms[0]

    def inner(permutations: Any) -> FloatArray:
        products = (product(p) for p in permutations)
        return np.array([float(np.vdot(matrix, matrix)) for matrix in products])

    return Pair(inner, (sides[0], sides[1]), x.factor, factored=True), bound / len(x.factor) ** 2


def gamma_null(pair: Pair) -> tuple[PermutationNull, dict[str, float]]:
    """Return the p-value of a gamma distribution with the moments of HSIC over all permutations, and these moments.

    See Kazi-Aoual et al. (1995).
    """
    from scipy.special import gammaincc

    mean, variance = permutation_moments(pair)
    p = float(gammaincc(mean**2 / variance, pair.observed * mean / variance))
    p = max(p, np.finfo(float).tiny)
    result = PermutationNull(pair.observed, np.empty(0), p, (np.nan, np.nan), "approximate")
    return result, {"chance": mean, "null_sd": float(np.sqrt(variance))}


def permutation_moments(pair: Pair) -> tuple[float, float]:
    """Return mean and variance of HSIC over all permutations of the rows."""
    n = pair.n
    traces = [float(side.diagonal.sum()) for side in pair.sides]
    squares = [side.square for side in pair.sides]
    diagonals = [float(side.diagonal @ side.diagonal) for side in pair.sides]
    spread = [(n - 1) * s - t**2 for t, s in zip(traces, squares, strict=True)]
    shape = [n * (n + 1) * d - (n - 1) * (t**2 + 2 * s) for t, s, d in zip(traces, squares, diagonals, strict=True)]
    variance = 2 * spread[0] * spread[1] / ((n + 1) * (n - 1) ** 2 * (n - 2))
    variance += shape[0] * shape[1] / ((n + 1) * n * (n - 1) * (n - 2) * (n - 3))
    return traces[0] * traces[1] / (n - 1) / n**2, variance / n**4


def _joint(
    variables: Variables,
    kernels: tuple[Any, ...],
    bandwidths: tuple[Any, ...],
    resampling: Resampling,
    settings: dict[str, Any],
) -> IndependenceTest:
    """Return the test of three and more variables."""
    names = variables.names
    if settings["method"] in ("lowrank", "gamma"):
        hint = "Use method='exact', or test pairs of variables."
        raise InputError(
            "method", "must be 'auto' or 'exact' for more than two variables", repr(settings["method"]), hint
        )
    grams = [gram_matrix(*variable) for variable in zip(variables.values, names, kernels, bandwidths, strict=True)]
    statistic, resolution, scale = joint_hsic(grams)
    scheme = resampling.scheme(variables.n, variables.values, names)
    result = resampling.run(statistic, scheme, "hsic", resolution, factors=len(names) - 1, floor=0.0)
    extra = entries_by_variable("kernel", [g.kernel for g in grams], names) | entries_by_variable(
        "bandwidth", [g.bandwidth for g in grams], names
    )
    return make_record(
        hsic_test.card,
        result,
        n=variables.n,
        resampling=resampling,
        effect_size=result.observed / scale,
        extra=extra,
        parameters=settings,
        notes=(*variables.notes, *(note for gram in grams for note in gram.notes)),
        names=names,
        labels=variables.labels,
        effect_size_name="Normalized dHSIC",
    )


def joint_hsic(grams: Sequence[Gram]) -> tuple[Statistic, float, float]:
    """Return dHSIC of three or more kernels under permutations of all but the first, its resolution, and its scale.

    The scale is the geometric mean over the variables of dHSIC of that many copies of one of them.
    """
    from dreval.geometry._loops.permutations import permuted_products

    kernels = np.stack([gram.matrix for gram in grams])
    d, n = len(kernels), len(kernels[0])
    means = kernels.mean(axis=2)
    fixed = float(np.prod(means.mean(axis=1)))

    def statistic(permutations: Any) -> FloatArray:
        products = permuted_products(kernels, permutations) / n**2
        rows = np.broadcast_to(means[0], (len(permutations), n)).copy()
        for k in range(1, d):
            rows *= means[k][permutations[:, k - 1]]
        return products + fixed - 2 * rows.mean(axis=1)

    copies = [float(np.mean(K**d) + np.mean(m) ** d - 2 * np.mean(m**d)) for K, m in zip(kernels, means, strict=True)]
    terms = float(np.prod([np.abs(K).max() for K in kernels]))
    return statistic, 1e-14 * terms, float(np.exp(np.mean(np.log(np.maximum(copies, np.finfo(float).tiny)))))
