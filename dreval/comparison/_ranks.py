"""Tests on ranks within data sets: Friedman, Iman-Davenport, Nemenyi, and Skillings-Mack where cells are missing.

``goodness`` is (N, k), a row for each data set and a column for each embedding; large is good, NaN is missing.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from dreval.comparison._arrangements import DRAWS, permutation_p, quadratic_p

__all__ = [
    "block_ranks",
    "critical_difference",
    "friedman",
    "iman_davenport",
    "nemenyi",
    "overall_rows",
    "skillings_mack",
    "skillings_mack_p",
]

FloatArray = npt.NDArray[np.float64]
TWO = "needs three embeddings; see the test of the pair"
PERMUTED_UP_TO = 30  # data sets; with more the approximations hold


def block_ranks(goodness: FloatArray) -> FloatArray:
    """Ranks within each row, 1 for the best, ties averaged; missing cells stay missing.

    Examples
    --------
    >>> block_ranks(np.array([[0.9, 0.5, 0.9], [0.1, np.nan, 0.2]]))
    array([[1.5, 3. , 1.5],
           [2. , nan, 1. ]])
    """
    from scipy.stats import rankdata

    return np.asarray(rankdata(-goodness, axis=1, nan_policy="omit"), dtype=np.float64)


def friedman(goodness: FloatArray) -> tuple[float, float]:
    """Friedman's chi-square with its correction for ties, and p with k - 1 degrees of freedom (scipy).

    NaN where every row is one tie.
    """
    from scipy.stats import friedmanchisquare

    if (goodness == goodness[:, :1]).all():
        return math.nan, math.nan
    found = friedmanchisquare(*(-goodness).T)
    return float(found.statistic), float(found.pvalue)


def iman_davenport(chi_square: float, n: int, k: int) -> tuple[float, float]:
    """F = (N - 1) chi^2 / (N (k - 1) - chi^2), and p with k - 1 and (k - 1)(N - 1) degrees of freedom.

    Iman and Davenport (1980), Commun. Stat. 9, 571-595, Eq. 2.1. Infinite, with p = 0, where all rows agree.

    Examples
    --------
    >>> "{:.2f} {:.3f}".format(*iman_davenport(9.28, 14, 4))  # Demsar (2006), section 3.2.2: 3.69
    '3.69 0.020'
    """
    from scipy.special import fdtrc

    below = n * (k - 1) - chi_square
    if below <= 1e-9 * n * (k - 1):
        return math.inf, 0.0
    value = (n - 1) * chi_square / below
    return value, float(fdtrc(k - 1, (k - 1) * (n - 1), value))


def nemenyi(mean_ranks: FloatArray, n: int, k: int | None = None) -> FloatArray:
    """p-values of all pairs of k mean ranks: |R_i - R_j| / sqrt(k (k + 1) / (12 N)) against the studentized range.

    Nemenyi (1963); Demsar (2006), J. Mach. Learn. Res. 7, 1-30, section 3.2.2. They hold for all pairs at once.
    """
    from scipy.stats import studentized_range

    k = len(mean_ranks) if k is None else k
    distances = np.abs(mean_ranks[:, None] - mean_ranks[None]) / math.sqrt(k * (k + 1) / (12 * n))
    p = np.ones(distances.shape)
    upper = np.triu_indices(len(p), 1)
    p[upper] = np.clip(studentized_range.sf(distances[upper], k, np.inf), 0.0, 1.0)
    return np.minimum(p, p.T)


@cache
def critical_difference(n: int, k: int, alpha: float = 0.05) -> float:
    """The difference of mean ranks from which two embeddings differ by the Nemenyi test at level alpha.

    Examples
    --------
    >>> round(critical_difference(14, 4), 2)  # Demsar (2006), section 3.2.2: 1.25
    1.25
    """
    from scipy.stats import studentized_range

    return float(studentized_range.ppf(1 - alpha, k, np.inf)) * math.sqrt(k * (k + 1) / (12 * n))


def skillings_mack(goodness: FloatArray) -> tuple[float, float, int]:
    """Friedman's test with missing cells: statistic, p, degrees of freedom.

    A_j = sum_i sqrt(12 / (k_i + 1)) (r_ij - (k_i + 1) / 2) over the rows that hold embedding j, and A' S^- A against a
    chi-square law with rank(S) degrees, S the covariance of A. Rows with one value say nothing and are left out.
    Without missing cells and ties it is Friedman's chi-square; ties make it conservative. Skillings and Mack (1981),
    Technometrics 23, 171-177. The degrees of freedom are below k - 1 where the rows do not link all embeddings.
    """
    from scipy.special import chdtrc

    goodness = goodness[np.isfinite(goodness).sum(axis=1) > 1]
    centered, inverse, rank = _skillings_mack_parts(goodness)
    sums = centered.sum(axis=0)
    value = float(sums @ inverse @ sums)
    return value, float(chdtrc(rank, value)) if rank else math.nan, rank


def _skillings_mack_parts(goodness: FloatArray) -> tuple[FloatArray, FloatArray, int]:
    """The weighted centered ranks of every row, of which A is the sum, S^-, and the rank of S."""
    there = np.isfinite(goodness)
    sizes = there.sum(axis=1, keepdims=True)
    ranks = block_ranks(goodness)
    centered = np.where(there, np.sqrt(12 / (sizes + 1)) * (ranks - (sizes + 1) / 2), 0.0)
    together = there.astype(np.float64).T @ there
    covariance = np.diag(together.sum(axis=1)) - together
    inverse = np.asarray(np.linalg.pinv(covariance, hermitian=True))
    return centered, inverse, int(np.linalg.matrix_rank(covariance))


def skillings_mack_p(goodness: FloatArray, rng: np.random.Generator, draws: int = DRAWS) -> tuple[float, bool]:
    """P of Skillings and Mack's statistic when the values of every row are exchanged among its observed cells.

    Valid with ties and few rows, where which cells are missing has nothing to do with their values. Second: whether all
    exchanges were counted; see ``quadratic_p``.

    Examples
    --------
    >>> rows = np.array([[1.0, 2, 3], [1, 2, np.nan], [np.nan, 2, 3]])  # of 24 exchanges 6 are as far out
    >>> p, counted = skillings_mack_p(rows, np.random.default_rng(0))
    >>> round(p, 4), counted
    (0.25, True)
    """
    goodness = goodness[np.isfinite(goodness).sum(axis=1) > 1]
    centered, inverse, _ = _skillings_mack_parts(goodness)
    return quadratic_p(centered, np.isfinite(goodness), inverse, rng, draws)


def overall_rows(goodness: FloatArray, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Is there any difference? Friedman and Iman-Davenport where every cell is there, else Skillings-Mack.

    Up to 30 data sets Friedman's test by arrangements is one more row: there the chi-square errs towards no difference
    and F towards one (three embeddings on three data sets: F at the 5 % level rejects 19 % of equal ones).
    """
    n, k = goodness.shape
    if np.isnan(goodness).any():
        return [_skillings_mack_row(goodness, rng)]
    chi_square, p = friedman(goodness) if k > 2 else (math.nan, math.nan)
    note = "" if k > 2 else TWO
    if k > 2 and math.isnan(p):
        note = "undefined: all embeddings are equal on every data set"
    shared = {"n": n, "k": k, "statistic": chi_square}
    rows = [{"test": "friedman", **shared, "df": k - 1, "p_value": p, "note": note}]
    if math.isnan(p):
        return rows
    rows[0]["p_kind"] = kind = "asymptotic"
    value, p = iman_davenport(chi_square, n, k)
    if math.isinf(value):
        p, kind = _agreement(goodness), "exact"
        note = "F is infinite, since all data sets agree; p is exact, by counting"
    degrees = {"df": k - 1, "df_denominator": (k - 1) * (n - 1)}
    found = {"statistic": value, "p_value": p, "p_kind": kind, "note": note}
    rows.append({"test": "iman_davenport", **shared, **degrees, **found})
    if n <= PERMUTED_UP_TO:
        p, counted = permutation_p(block_ranks(goodness), rng)
        note = "p by counting all arrangements of the ranks" if counted else f"p by {DRAWS:,} arrangements of the ranks"
        kind = "exact" if counted else "permutation"
        rows.append({"test": "friedman_exact", **shared, "p_value": p, "p_kind": kind, "note": note})
    return rows


def _agreement(goodness: FloatArray) -> float:
    """Probability that all rows rank alike by chance: 1 / (number of arrangements of a row)^(N - 1)."""
    n, k = goodness.shape
    ties = np.unique(goodness[0], return_counts=True)[1]
    arrangements = math.factorial(k) / math.prod(math.factorial(int(t)) for t in ties)
    return float(arrangements ** -(n - 1.0))


def _skillings_mack_row(goodness: FloatArray, rng: np.random.Generator) -> dict[str, Any]:
    """The row of the test with missing cells."""
    k = goodness.shape[1]
    rows = goodness[np.isfinite(goodness).sum(axis=1) > 1]
    shared = {"test": "skillings_mack", "n": len(rows), "k": k}
    if k < 3:
        return {**shared, "statistic": math.nan, "df": k - 1, "p_value": math.nan, "note": TWO}
    value, _, rank = skillings_mack(goodness)
    notes = ["some data sets have no value of some embeddings"]
    if len(rows) < len(goodness):
        notes.append(f"{len(goodness) - len(rows)} with one value left out")
    if rank < k - 1:
        notes.append("undefined: the data sets do not link all embeddings")
        return {**shared, "statistic": math.nan, "df": rank, "p_value": math.nan, "note": "; ".join(notes)}
    p, counted = skillings_mack_p(goodness, rng)
    notes.append("p by exchanging the values of a data set, as if what is missing did not depend on its value")
    kind = "exact" if counted else "permutation"
    return {**shared, "statistic": value, "df": rank, "p_value": p, "p_kind": kind, "note": "; ".join(notes)}
