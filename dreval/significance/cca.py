"""Classical canonical correlation."""

from __future__ import annotations

from typing import Any

import numpy as np

from dreval._check import FloatArray, check_one_of
from dreval.errors import InputError
from dreval.geometry.kernels import delta_codes, is_classes, varying_points
from dreval.inference.permutation import PermutationNull
from dreval.records.notes import Notes, note
from dreval.records.tests import IndependenceTest
from dreval.significance._groups import linear_product, nested
from dreval.significance.base import Resampling, entries_by_variable, gather, make_record, test


@test(
    title="Canonical correlation",
    variables="2",
    null=("permutation", "chi2"),
    statistic="chi2",
    effect_size="rho",
    effect_is_biased=True,
    needs=("coordinates",),
    memory="columns",
    reference="@bartlett1941.",
)
def cca_test(
    x: Any,
    y: Any,
    *,
    method: str = "permutation",
    permutation: str = "free",
    blocks: Any = None,
    groups: Any = None,
    n_resamples: int = 999,
    stop_after: int | None = None,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
) -> IndependenceTest:
    r"""Test whether two variables are linearly independent.

    With canonical correlations :math:`\rho_1 \ge \rho_2 \ge \dots` (singular values of :math:`Q_x' Q_y`, Q an
    orthonormal basis of the centered columns) of variables of ranks p and q, the statistic is Bartlett's form of Wilks'
    lambda,

    .. math:: \chi^2 = -\left(n - 1 - \frac{p + q + 1}{2}\right) \sum_i \ln(1 - \rho_i^2),

    which is 0 without linear dependence; values of :math:`1 - \rho^2` below 1e-15 are replaced by 1e-15. The effect
    size is :math:`\rho_1`, in [0, 1], larger for more dependence and biased upward at small n. Only linear dependence
    is detected: x and x^2 on a symmetric interval have :math:`\rho_1 = 0`.

    Parameters
    ----------
    x, y : array, DataFrame or Series
        (n,) or (n, p) numbers, or (n,) classes (text, booleans, categories), which become indicator columns; the same
        n rows, n > p + q + 1. Frames with equal row names are matched.
    method : {"permutation", "chi2"}
        How p is computed: by permutations of the rows of ``y``, or by the chi-square distribution with p q degrees of
        freedom, an approximation for normal variables. The latter draws no permutations: ``permutation``, ``blocks``
        and ``stop_after`` then raise an error.
    %(permutations)s
    %(draws)s

    Returns
    -------
    IndependenceTest
        ``statistic`` chi-square; ``effect_size`` rho_1; ``extra``: ``correlations`` (all of them), ``wilks``,
        ``degrees_of_freedom``, ``p_chi2``, ``chance`` and ``null_sd`` (of the chi-square distribution) and
        ``rank_x``, ``rank_y``.

    Raises
    ------
    InputError
        If the variables differ in their number of rows, hold NaN, or are constant; if a variable is equal under
        every permitted permutation; if there are so few rows that any two variables correlate perfectly (n <= p + q +
        1).

    See Also
    --------
    kcca_test : correlations of smooth functions.
    hsic_test, dcov_test : dependence of any form.

    Notes
    -----
    Null mean (chance level): p q, that of the chi-square distribution, as 2 for variables of 2 columns and 1 column;
    the mean over permutations is close to it.

    Cost: n (p^2 + q^2) once, n p q for each permutation; memory n (p + q). Invariant to invertible linear maps and
    shifts of either variable. Directions with a singular value below 1e-10 of the largest are dropped.

    References
    ----------
    Hotelling (1936), Relations between two sets of variates, Biometrika 28, 321-377.
    Bartlett (1941), The statistical significance of canonical correlations, Biometrika 32, 29-37.

    Examples
    --------
    >>> import numpy as np
    >>> import dreval
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(50, 2))
    >>> result = dreval.cca_test(x, x[:, 0] + 0.1 * rng.normal(size=50), random_state=0)
    >>> round(result.effect_size, 3), result.p_value
    (0.995, 0.001)
    """
    from scipy.special import gammaincc

    resampling = Resampling.of(n_resamples, permutation, blocks, stop_after, random_state, n_jobs, x, groups)
    method = check_one_of(method, ("permutation", "chi2"), "method", aliases=True)
    if method == "chi2":
        resampling.refuse_without_permutations(method)
    variables = gather(x, y)
    n = variables.n
    resampling, group = nested(resampling, variables)
    scheme = resampling.scheme(n, variables.values, variables.names) if group is None else None
    bases = [_basis(value, name) for value, name in zip(variables.values, variables.names, strict=True)]
    p, q = (basis.shape[1] for basis in bases)
    if n <= p + q + 1:
        hint = "Use fewer columns, or hsic_test, which needs no more rows than columns."
        raise InputError("x", "must have more rows than both variables have columns, plus one", f"{n} rows", hint)
    factor = n - 1 - (p + q + 1) / 2
    left, right = np.ascontiguousarray(bases[0].T), bases[1]

    def statistic(permutations: Any) -> FloatArray:
        return factor * np.array([_minus_log_wilks(left @ right[order]) for order in permutations])

    identity = np.arange(n)
    correlations = np.clip(np.linalg.svd(left @ right, compute_uv=False), 0.0, 1.0)
    observed = float(statistic(identity[None])[0])
    p_chi2 = max(float(gammaincc(p * q / 2, max(observed, 0.0) / 2)), np.finfo(float).tiny)
    if method == "chi2":
        result = PermutationNull(observed, np.empty(0), p_chi2, (np.nan, np.nan), "asymptotic")
        moments = {"chance": float(p * q), "null_sd": float(np.sqrt(2 * p * q))}
        notes: Notes = (note("cca.chi2", freedom=p * q),)
    elif group is None or scheme is not None:
        result, notes, moments = resampling.run(statistic, scheme, "cca", 1e-12 * n), (), {}
    else:
        product = linear_product(group, bases[0], _columns(variables.values[1], "y")[group.rows])
        over_groups = lambda orders: factor * np.array([_minus_log_wilks(product(order)) for order in orders])  # noqa: E731
        (result, notes), moments = group.run(over_groups, "cca", 1e-12 * n), {}
    return make_record(
        cca_test.card,
        result,
        n=n,
        resampling=resampling,
        effect_size=float(correlations[0]),
        extra={
            "correlations": tuple(correlations.tolist()),
            "wilks": float(np.exp(-observed / factor)),
            "degrees_of_freedom": p * q,
            "p_chi2": p_chi2,
            **moments,
            **entries_by_variable("rank", [p, q], variables.names),
        },
        parameters={"method": method},
        notes=(*variables.notes, *notes),
        labels=variables.labels,
    )


def _basis(value: Any, argument: str) -> FloatArray:
    """Return an orthonormal basis (n, rank) of the centered columns; of classes, of their indicators."""
    points = _columns(value, argument)
    centered = points - points.mean(axis=0)
    sizes = np.linalg.norm(centered, axis=0)
    varies = sizes > 1e-14 * np.abs(points - points[0]).max()
    centered = centered[:, varies] / sizes[varies]
    vectors, singular, _ = np.linalg.svd(centered, full_matrices=False)
    return vectors[:, singular > 1e-10 * singular[0]]


def _columns(value: Any, argument: str) -> FloatArray:
    """Return the columns of a variable; of classes, their indicators."""
    if not is_classes(value):
        return varying_points(value, argument)
    codes = delta_codes(value, argument)
    return (codes[:, None] == np.unique(codes)).astype(np.float64)


def _minus_log_wilks(product: FloatArray) -> float:
    """Return -sum ln(1 - rho^2) over the singular values of Q_x' Q_y; 1 - rho^2 is at least 1e-15."""
    singular = np.linalg.svd(product, compute_uv=False)
    return -float(np.log(np.maximum((1 - singular) * (1 + singular), 1e-15)).sum())
