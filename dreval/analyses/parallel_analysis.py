"""Count the principal components of data that independent columns do not explain: parallel analysis."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from dreval._check import FloatArray, check_float, check_int
from dreval._check_arrays import SMALLEST_DIFFERENCE
from dreval._parallel import n_threads, one_blas_thread, open_progress, run_blocks
from dreval._random import root_seed, stream
from dreval.analyses._analysis import CALLER_NAMES, analysis
from dreval.errors import InputError
from dreval.inputs.data import as_data
from dreval.inputs.variables import warn_of_guesses
from dreval.records.estimates import ParallelAnalysis
from dreval.records.notes import note
from dreval.records.provenance import provenance

FLAT_RANGE = 1e-12  # a range below this share of the largest entry is rounding: the column is constant


@analysis(
    title="Parallel analysis",
    question="How many principal components have larger eigenvalues than independent columns would give?",
    caution="Components are linear: a curved surface needs more of them than it has dimensions. A weak component "
    "behind a strong one can be missed.",
    cost="O(B p min(n, p) max(n, p)) time for B permutations, O(n p + B p) memory",
    reference="@horn1965, with permutations of @buja1992.",
)
def parallel_analysis(
    X: Any,
    *,
    n_resamples: int = 199,
    alpha: float = 0.05,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> ParallelAnalysis:
    r"""Count the principal components that independent columns do not explain.

    Eigenvalue q of the correlation matrix is compared with eigenvalue q after every column was permuted independently
    of the others, which keeps the distribution of each column and leaves only random correlation:

    .. math:: p_q = \frac{1 + \#\{b: \lambda_q^{(b)} \ge \lambda_q\}}{B + 1}.

    The leading components with :math:`p_q \le \alpha` are retained, up to the first one that fails.

    Parameters
    ----------
    X : (n, p) array, DataFrame, sparse matrix, AnnData, data set or path
        Points in rows, as for ``Evaluation``. Columns are standardized; p may be larger than n.
    n_resamples : int
        Number B of permutations.
    alpha : float
        Level of each test.
    random_state : int, numpy Generator or None
        Seed; permutation b depends on the seed and b only.
    n_jobs : int, optional
        Number of threads, all cores by default; the numbers do not depend on it.
    progress : bool, optional
        Progress bar on stderr of the permutations; by default after two seconds, on a terminal.

    Returns
    -------
    ParallelAnalysis
        ``n_components``; ``tidy()`` (one row per component), ``glance()``, ``plot()``, ``summary()``.

    Raises
    ------
    InputError
        As ``Evaluation`` for the data; if a column is constant, or there are so few permutations that no p-value can
        be at most ``alpha``.

    Warnings
    --------
    Components are linear: a curved surface needs more of them than it has dimensions. A weak component behind a strong
    one can be missed.

    See Also
    --------
    intrinsic_dimension : the dimension of a curved surface, from distances to neighbors.

    Notes
    -----
    Only :math:`p_1` is exact, for columns that are independent and rows that are exchangeable (no time series). Later
    p-values are conservative: the eigenvalues of a correlation matrix have the sum p, so that a strong first component
    leaves less variance for the others than permuted columns have. Rows, not columns, must be the independent units.

    Cost: O(B p min(n, p) max(n, p)) time, O(n p + B p) memory. With p > n the n - 1 eigenvalues that are not 0 come
    from singular values of the standardized data.

    References
    ----------
    Horn (1965), A rationale and test for the number of factors in factor analysis, Psychometrika 30, 179-185.
    Buja & Eyuboglu (1992), Remarks on parallel analysis, Multivariate Behav. Res. 27, 509-540.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 2)) @ rng.normal(size=(2, 6)) + 0.5 * rng.normal(size=(100, 6))
    >>> dreval.parallel_analysis(X, random_state=0).n_components
    2
    """
    count = check_int(n_resamples, "n_resamples", low=1)
    alpha = check_float(alpha, "alpha", high=0.5, above=0.0)
    n_threads(n_jobs)
    root = root_seed(random_state)
    min_resamples = math.ceil(1 / alpha - 1e-9) - 1
    if count < min_resamples:
        requirement = f"must be at least {min_resamples} for alpha={alpha:g}"
        hint = f"Pass n_resamples={min_resamples} or more: no p-value is below 1 / (n_resamples + 1)."
        raise InputError("n_resamples", requirement, str(count), hint)
    data = as_data(X)
    warn_of_guesses(data.notes, CALLER_NAMES)
    Z = _standardized(data.dense(), data.columns)
    with one_blas_thread():
        observed = eigenvalues(Z)
    null = np.empty((count, len(observed)))

    def permute(b: int) -> None:
        null[b] = eigenvalues(stream(root, "parallel analysis", b).permuted(Z, axis=0))

    with open_progress(progress) as bar:
        bar.set_description("permutations")
        bar.reset(total=count)
        run_blocks(permute, range(count), n_jobs, bar.update)
    p = (1 + (null >= observed * (1 - 1e-12)).sum(axis=0)) / (count + 1)
    failed = np.flatnonzero(p > alpha)
    n_components = int(failed[0]) if len(failed) else len(p)
    table = pd.DataFrame(
        {
            "component": np.arange(1, len(p) + 1),
            "eigenvalue": observed,
            "share": observed / Z.shape[1],
            "chance": null.mean(axis=0),
            "null_quantile": np.quantile(null, 1 - alpha, axis=0),
            "p_value": p,
            "p_kind": "permutation",
            "kept": np.arange(len(p)) < n_components,
        }
    )
    recipe = provenance({"n_resamples": count, "alpha": alpha}, n=data.n, p=data.p, random_state=root)
    notes = tuple(note.named(CALLER_NAMES) for note in (*data.dense_notes(), note("parallel_analysis.first")))
    return ParallelAnalysis(n_components, table, null, alpha, recipe, notes)


def _standardized(points: FloatArray, names: Any) -> FloatArray:
    """Return the columns scaled to mean 0 and variance 1; raise if one is constant."""
    low, high = points.min(axis=0), points.max(axis=0)
    size = np.maximum(np.abs(low), np.abs(high))
    flat = np.flatnonzero(high - low <= np.maximum(FLAT_RANGE * size, SMALLEST_DIFFERENCE))
    if len(flat):
        column = repr(names[flat[0]]) if names else str(flat[0])
        further = f" and {len(flat) - 1} more" if len(flat) > 1 else ""
        hint = "Leave constant columns out, as by X[:, np.ptp(X, axis=0) > 0]: they have no correlation."
        raise InputError("X", "must have no constant column", f"column {column}{further}", hint)
    centered = points - points.mean(axis=0)
    return np.ascontiguousarray(centered / np.sqrt((centered**2).mean(axis=0)))


def eigenvalues(Z: FloatArray) -> FloatArray:
    """Return the min(n - 1, p) eigenvalues of the correlation matrix of standardized columns, in descending order."""
    n, p = Z.shape
    if p < n:
        return np.asarray(np.linalg.eigvalsh(Z.T @ Z / n)[::-1])
    return np.asarray(np.linalg.svd(Z, compute_uv=False)[: n - 1] ** 2 / n)
