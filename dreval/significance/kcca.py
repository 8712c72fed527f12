"""Kernel canonical correlation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dreval._check import FloatArray, IntArray, check_float, check_one_of
from dreval.errors import InputError
from dreval.geometry.kernels import MEDIAN_ROWS, Gram, LowRank, center, gram_matrix
from dreval.records.notes import Notes, note
from dreval.records.tests import IndependenceTest
from dreval.significance.base import (
    MAX_EXACT_ROWS,
    Resampling,
    Variables,
    chosen_factors,
    entries_by_variable,
    gather,
    make_record,
    per_variable,
    permuted_product,
    test,
)

EXACT_ROWS = 300  # rows up to which the kernel matrices are decomposed
TRACE_TOLERANCE = 1e-6  # of low-rank factors; the rest of the trace over n kappa / 2 bounds the error of rho
MAX_DIRECTIONS = 128  # leading directions of each variable that the permutations use
MIN_SHARE = 1e-6  # directions with a smaller w / (w + k) add less than its square over rho
PAIRWISE = ", against pairwise dependence"


@test(
    title="Kernel canonical correlation",
    variables="many",
    null=("permutation",),
    statistic="rho",
    effect_size="rho above chance",
    needs=("kernel",),
    memory="factors",
    tolerance=TRACE_TOLERANCE,
    reference="@bach2002.",
)
def kcca_test(
    x: Any,
    y: Any,
    *others: Any,
    kernel: str | tuple[str, ...] = "gaussian",
    bandwidth: float | str | tuple[float | str | None, ...] | None = None,
    kappa: float = 0.02,
    method: str = "auto",
    permutation: str = "free",
    blocks: Any = None,
    n_resamples: int = 999,
    stop_after: int | None = None,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
) -> IndependenceTest:
    r"""Test whether variables are independent by the largest correlation of smooth functions of them.

    The statistic is the regularized kernel canonical correlation

    .. math:: \rho = \max_{f, g} \frac{\mathrm{cov}(f(x), g(y))}{\sqrt{\mathrm{var} f(x) + c_f}
              \sqrt{\mathrm{var} g(y) + c_g}},

    the largest singular value of :math:`F_x' F_y`: with the centered kernel matrix :math:`G = U \mathrm{diag}(w) U'` of
    a variable, :math:`F = U \mathrm{diag}(w / (w + k))` and :math:`k = n \kappa / 2`. This is :math:`\lambda_{\max} -
    1` of the generalized eigenproblem with diagonal blocks :math:`(G + k I)^2` and off-diagonal blocks :math:`G_x G_y`.
    For M variables the statistic is :math:`(\lambda_{\max} - 1) / (M - 1)`, which uses their pairs only: to detect
    joint dependence without pairwise dependence (as of z on the sign of x y) use ``hsic_test``. It lies in [0, 1]; with
    linear kernels and :math:`\kappa \to 0` it is the first classical canonical correlation.

    rho is biased upward, far above 0 also under independence: compare it with the mean :math:`\bar\rho_0` of the null
    distribution. The effect size is :math:`(\rho - \bar\rho_0) / (1 - \bar\rho_0)`, at most 1, with mean 0 under
    independence. ``dreval.kappa_curve`` shows how far the result depends on kappa.

    Parameters
    ----------
    x, y, *others : array, DataFrame or Series
        (n,) or (n, p) numbers, (n,) classes or (n, n) kernel values, as in ``hsic_test``; the same n >= 4 rows.
    kernel : str or tuple of str
        As in ``hsic_test``; a tuple gives each variable its own.
    bandwidth : float, "median", None or a tuple of these
        The length-scale sigma; by default each variable has its own, by the median rule.
    kappa : float
        Regularization :math:`\kappa` > 0. It is multiplied by n / 2: with a fixed k power does not grow with n.
    method : {"auto", "exact", "lowrank"}
        ``exact`` decomposes the kernel matrices. ``lowrank`` takes the singular vectors of incomplete Cholesky factors
        that leave 1e-6 of the trace; the error of rho is then at most ``extra["error_bound"]`` at this bandwidth
        (beyond 2000 rows the median rule uses 2000 random rows, the same ones for every seed). ``auto`` is exact up to
        300 rows, and beyond where the factors would have more than n / 2 columns and n <= 10,000.
    %(permutations)s
    %(draws)s

    Returns
    -------
    IndependenceTest
        ``statistic`` rho; ``extra``: ``chance``, ``kappa``, ``error_bound`` (low rank), ``truncation`` (what rho
        loses in the permutations where a variable has more than 128 directions) and for each variable ``kernel_x``,
        ``bandwidth_x``, ``directions_x``, ...

    Raises
    ------
    InputError
        As ``hsic_test``; if ``kappa`` is not positive, or so large that no direction of a variable is left.

    Warns
    -----
    %(coinciding_rows)s

    See Also
    --------
    hsic_test : sums over all directions, and detects joint dependence of three and more variables.
    cca_test : the classical correlation of linear functions.
    kappa_curve, bandwidth_curve : how far the result depends on the settings.

    Notes
    -----
    Null mean (chance level): the mean of rho over the permutations, ``extra["chance"]``; it has no closed form and
    depends on n, the kernels and kappa, as 0.25 in the example below.

    Cost: n^3 once, or n r^2 with factors of rank r; n r s + min(r, s)^3 for each permutation, where r and s count the
    directions with w / (w + k) above 1e-6, of which the permutations (and the observed value they are compared with)
    use the 128 leading ones: p stays valid, and rho itself is computed from all. Memory: a matrix n x n a variable.

    Szabo's lecture slides print the kernel matrix of the first variable in the lower right block as well, and two of
    them differ in kappa by the factor n / 2; the form above is that of Bach and Jordan.

    References
    ----------
    Bach & Jordan (2002), Kernel independent component analysis, JMLR 3, 1-48.
    Fukumizu, Bach & Gretton (2007), Statistical consistency of kernel canonical correlation analysis, JMLR 8, 361-383.

    Examples
    --------
    >>> import numpy as np
    >>> import dreval
    >>> x = np.linspace(-1, 1, 60)
    >>> result = dreval.kcca_test(x, x**2, n_resamples=199, random_state=0)
    >>> round(result.statistic, 3), result.p_value
    (0.877, 0.005)
    """
    resampling = Resampling.of(n_resamples, permutation, blocks, stop_after, random_state, n_jobs, x)
    method = check_one_of(method, ("auto", "exact", "lowrank"), "method", aliases=True)
    if check_float(kappa, "kappa") <= 0:
        raise InputError("kappa", "must be a positive number", repr(kappa), "Choose 0.02, or see kappa_curve.")
    variables = gather(x, y, *others, kind=kernel)
    names, ridge = variables.names, variables.n * kappa / 2
    scheme = resampling.scheme(variables.n, variables.values, names)
    spectra, extra = _spectra(variables, variables.kinds, per_variable(bandwidth, names, "bandwidth"), method, ridge)
    leading = [spectrum.leading(MAX_DIRECTIONS) for spectrum in spectra]
    for spectrum, name in zip(spectra, names, strict=True):
        if not spectrum.factor.shape[1]:
            received = f"{kappa:g}, which leaves no direction of {{variable}}"
            hint = "Choose a smaller kappa (0.02 is usual), or rescale a variable with a linear kernel."
            requirement = "must be small relative to the kernel's eigenvalues over n"
            raise InputError("kappa", requirement, received, hint, variable=name)
    full, permuted = canonical_statistic(spectra), canonical_statistic(leading)
    result = resampling.run(permuted, scheme, "kcca", 1e-13, factors=len(names) - 1)
    notes = (*variables.notes, *(note for spectrum in spectra for note in spectrum.notes))
    if others:
        notes = (*notes, note("kcca.pairwise"))
    if "error_bound" in extra and variables.n > MEDIAN_ROWS:
        notes = (*notes, note("kcca.factors", bound=extra["error_bound"]))
    if leading != spectra:
        rho = float(full(np.tile(np.arange(variables.n), (1, len(names) - 1, 1)))[0])
        extra["truncation"] = rho - result.observed
        notes = (*notes, note("kcca.leading", directions=MAX_DIRECTIONS, lower=rho - result.observed))
        result = replace(result, observed=rho)
    mean = float(result.null.mean())
    return make_record(
        kcca_test.card,
        result,
        n=variables.n,
        resampling=resampling,
        effect_size=(result.observed - mean) / (1 - mean),
        extra={"kappa": kappa, "chance": mean, **extra},
        parameters={"kernel": kernel, "bandwidth": bandwidth, "kappa": kappa, "method": method},
        notes=notes,
        names=names,
        labels=variables.labels,
        alternative=PAIRWISE if others else "",
    )


def _spectra(
    variables: Variables, kernels: tuple[Any, ...], bandwidths: tuple[Any, ...], method: str, ridge: float
) -> tuple[list[Spectrum], dict[str, Any]]:
    """Return the directions of each variable, with entries of ``extra``."""
    names, extra = variables.names, {}
    max_rank = variables.n // 2 if variables.n <= MAX_EXACT_ROWS else None  # beyond, n^3 is no more than n r^2
    factors = chosen_factors(
        variables.values,
        names,
        kernels,
        bandwidths,
        method,
        tolerance=TRACE_TOLERANCE,
        exact_rows=EXACT_ROWS,
        max_rank=max_rank,
    )
    if factors is None:
        settings = zip(variables.values, names, kernels, bandwidths, strict=True)
        spectra = [spectrum_of_matrix(gram_matrix(*variable), ridge) for variable in settings]
    else:
        spectra = [spectrum_of_factor(factor, ridge) for factor in factors]
        extra["error_bound"] = sum(factor.left for factor in factors) / ridge
    extra |= entries_by_variable("kernel", [spectrum.kernel for spectrum in spectra], names)
    extra |= entries_by_variable("bandwidth", [spectrum.bandwidth for spectrum in spectra], names)
    return spectra, extra | entries_by_variable("directions", [spectrum.factor.shape[1] for spectrum in spectra], names)


@dataclass(frozen=True, eq=False)
class Spectrum:
    """F = U diag(w / (w + k)) of one variable, largest w first; a factor of classes also has their codes."""

    factor: FloatArray
    kernel: str
    bandwidth: float | None
    notes: Notes
    codes: IntArray | None = None

    def leading(self, max_directions: int) -> Spectrum:
        """Return the same variable with at most so many directions."""
        if self.factor.shape[1] <= max_directions:
            return self
        return replace(self, factor=self.factor[:, :max_directions])


def spectrum_of_matrix(gram: Gram, ridge: float) -> Spectrum:
    """Return the spectrum of a kernel matrix, which is centered in place."""
    values, vectors = np.linalg.eigh(center(gram.matrix))
    return _leading_spectrum(values, vectors, ridge, gram)


def spectrum_of_factor(low: LowRank, ridge: float) -> Spectrum:
    """Return the spectrum of a centered factor, from its singular vectors."""
    vectors, singular, _ = np.linalg.svd(low.factor, full_matrices=False)
    return replace(_leading_spectrum(singular[::-1] ** 2, vectors[:, ::-1], ridge, low), codes=low.codes)


def _leading_spectrum(values: FloatArray, vectors: FloatArray, ridge: float, kernel: Gram | LowRank) -> Spectrum:
    """Return the directions beyond rounding and ``MIN_SHARE``, from eigenvalues in ascending order."""
    scale = values[::-1] / (values[::-1] + ridge)
    rounding = len(vectors) * np.finfo(float).eps * float(values[-1])
    count = int(np.count_nonzero(values > max(MIN_SHARE * ridge, rounding)))
    factor = vectors[:, ::-1][:, :count] * scale[:count]
    return Spectrum(np.ascontiguousarray(factor), kernel.kernel, kernel.bandwidth, kernel.notes)


def canonical_statistic(spectra: Sequence[Spectrum]) -> Callable[[Any], FloatArray]:
    """Return (lambda_max - 1) / (M - 1) as a function of permutations of all variables but the first.

    The permutations have the shape (m, n), or (m, M - 1, n).
    """
    fixed, *moved = (spectrum.factor for spectrum in spectra)
    n = len(fixed)
    product = permuted_product(fixed, moved[0], spectra[1].codes)

    def of_two(permutations: Any) -> FloatArray:
        return np.array([_largest_singular(product(p)) for p in np.asarray(permutations).reshape(-1, n)])

    def of_many(permutations: Any) -> FloatArray:
        sets = np.asarray(permutations).reshape(-1, len(moved), n)
        return np.array(
            [_largest([fixed, *(factor[p] for factor, p in zip(moved, orders, strict=True))]) for orders in sets]
        )

    return of_two if len(moved) == 1 else of_many


def _largest_singular(product: FloatArray) -> float:
    """Return the largest singular value of F_1' F_2, which is lambda_max - 1 of two variables."""
    square = product @ product.T if product.shape[0] <= product.shape[1] else product.T @ product
    return float(np.sqrt(_largest_eigenvalue(square)))


def _largest(factors: Sequence[FloatArray]) -> float:
    """Return the largest eigenvalue of the matrix with blocks F_i' F_j off the diagonal and 0 on it, over M - 1."""
    factor_columns = np.concatenate(factors, axis=1)
    square = factor_columns.T @ factor_columns
    start = 0
    for factor in factors:
        stop = start + factor.shape[1]
        square[start:stop, start:stop] = 0.0
        start = stop
    return _largest_eigenvalue(square) / (len(factors) - 1)


def _largest_eigenvalue(square: FloatArray) -> float:
    """Return the largest eigenvalue of a symmetric matrix; 0 if it is negative."""
    from scipy.linalg import eigh

    last = len(square) - 1
    return max(float(eigh(square, eigvals_only=True, subset_by_index=[last, last], check_finite=False)[0]), 0.0)
