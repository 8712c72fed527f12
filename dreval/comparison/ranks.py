"""Ranks over data sets: mean ranks, tests of any difference, and their exact and permutation distributions."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray, IntArray
from dreval.comparison.outcome import Outcome
from dreval.records.notes import note

MAX_EXACT_SUMS = 200_000  # sums of ranks that are enumerated
PERMUTATION_DRAWS = 9_999
MAX_RANKS_IN_MEMORY = 2_000_000
MAX_PERMUTED_DATASETS = 30  # with more data sets the approximations hold


def block_ranks(goodness: FloatArray) -> FloatArray:
    """Return the ranks within each row, 1 for the best, ties averaged; missing cells stay missing.

    Examples
    --------
    >>> block_ranks(np.array([[0.9, 0.5, 0.9], [0.1, np.nan, 0.2]]))
    array([[1.5, 3. , 1.5],
           [2. , nan, 1. ]])
    """
    from scipy.stats import rankdata

    return np.asarray(rankdata(-goodness, axis=1, nan_policy="omit"), dtype=np.float64)


def friedman(goodness: FloatArray) -> Outcome:
    """Return Friedman's chi-square with its correction for ties, and p with k - 1 degrees of freedom (scipy).

    Statistic and p are NaN if all values of every row are tied.
    """
    from scipy.stats import friedmanchisquare

    df = goodness.shape[1] - 1
    if (goodness == goodness[:, :1]).all():
        return Outcome(df=df)
    result = friedmanchisquare(*(-goodness).T)
    return Outcome(float(result.statistic), float(result.pvalue), "asymptotic", df)


def iman_davenport(chi_square: float, n: int, k: int) -> Outcome:
    """Return F = (N - 1) chi^2 / (N (k - 1) - chi^2), and p with k - 1 and (k - 1)(N - 1) degrees of freedom.

    Iman and Davenport (1980), Commun. Stat. 9, 571-595, Eq. 2.1. F is infinite, with p = 0, if all rows agree.

    Examples
    --------
    >>> test = iman_davenport(9.28, 14, 4)
    >>> f"{test.statistic:.2f} {test.p_value:.3f}"  # Demsar (2006), section 3.2.2: 3.69
    '3.69 0.020'
    """
    from scipy.special import fdtrc

    denominator, degrees = n * (k - 1) - chi_square, (k - 1, (k - 1) * (n - 1))
    if denominator <= 1e-9 * n * (k - 1):
        return Outcome(math.inf, 0.0, "asymptotic", *degrees)
    value = (n - 1) * chi_square / denominator
    return Outcome(value, float(fdtrc(*degrees, value)), "asymptotic", *degrees)


def nemenyi(mean_ranks: FloatArray, n: int, k: int | None = None) -> FloatArray:
    """Return p-values of all pairs of k mean ranks: |R_i - R_j| / sqrt(k (k + 1) / (12 N)), studentized range.

    Nemenyi (1963); Demsar (2006), J. Mach. Learn. Res. 7, 1-30, section 3.2.2. They hold simultaneously for all pairs.
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
    """Return the smallest difference of mean ranks that the Nemenyi test finds significant at level alpha.

    Examples
    --------
    >>> round(critical_difference(14, 4), 2)  # Demsar (2006), section 3.2.2: 1.25
    1.25
    """
    from scipy.stats import studentized_range

    return float(studentized_range.ppf(1 - alpha, k, np.inf)) * math.sqrt(k * (k + 1) / (12 * n))


def skillings_mack(goodness: FloatArray) -> Outcome:
    """Return the statistic, p and degrees of freedom of Friedman's test with missing cells.

    A_j = sum_i sqrt(12 / (k_i + 1)) (r_ij - (k_i + 1) / 2) over the rows with a value of embedding j. A' S^- A is
    compared with a chi-square distribution with rank(S) degrees, S the covariance of A. Rows with one value carry no
    information and are left out. Without missing cells and ties it is Friedman's chi-square; ties make it conservative.
    Skillings and Mack (1981), Technometrics 23, 171-177. The degrees of freedom are below k - 1 if the rows do not link
    all embeddings.
    """
    from scipy.special import chdtrc

    goodness = goodness[np.isfinite(goodness).sum(axis=1) > 1]
    centered, inverse, rank = _skillings_mack_parts(goodness)
    sums = centered.sum(axis=0)
    value = float(sums @ inverse @ sums)
    return Outcome(value, float(chdtrc(rank, value)) if rank else math.nan, "asymptotic", rank)


def _skillings_mack_parts(goodness: FloatArray) -> tuple[FloatArray, FloatArray, int]:
    """Return the weighted centered ranks of every row (A is their sum), S^-, and the rank of S."""
    present = np.isfinite(goodness)
    sizes = present.sum(axis=1, keepdims=True)
    ranks = block_ranks(goodness)
    centered = np.where(present, np.sqrt(12 / (sizes + 1)) * (ranks - (sizes + 1) / 2), 0.0)
    pair_counts = present.astype(np.float64).T @ present
    covariance = np.diag(pair_counts.sum(axis=1)) - pair_counts
    inverse = np.asarray(np.linalg.pinv(covariance, hermitian=True))
    return centered, inverse, int(np.linalg.matrix_rank(covariance))


def skillings_mack_p(goodness: FloatArray, rng: np.random.Generator, draws: int = PERMUTATION_DRAWS) -> Outcome:
    """Return p of Skillings and Mack's statistic by permuting the values of every row among its observed cells.

    It is valid with ties and few rows, if missingness does not depend on the values; see ``quadratic_p``.

    Examples
    --------
    >>> rows = np.array([[1.0, 2, 3], [1, 2, np.nan], [np.nan, 2, 3]])  # 6 of 24 permutations are as extreme
    >>> test = skillings_mack_p(rows, np.random.default_rng(0))
    >>> round(test.p_value, 4), test.p_kind
    (0.25, 'exact')
    """
    goodness = goodness[np.isfinite(goodness).sum(axis=1) > 1]
    centered, inverse, _ = _skillings_mack_parts(goodness)
    return quadratic_p(centered, np.isfinite(goodness), inverse, rng, draws)


def overall_rows(goodness: FloatArray, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Test for any difference: Friedman and Iman-Davenport if no cell is missing, else Skillings-Mack.

    Up to 30 data sets Friedman's test by permutation of the ranks is one more row: there the chi-square is conservative
    and F is liberal (for three equal embeddings on three data sets, F at the 5 % level rejects 19 %).
    """
    n, k = goodness.shape
    if np.isnan(goodness).any():
        return [_skillings_mack_row(goodness, rng)]
    chi_square = friedman(goodness) if k > 2 else Outcome(df=k - 1)
    if math.isnan(chi_square.p_value):
        chi_square = replace(chi_square, notes=(note("ranks.equal" if k > 2 else "ranks.two"),))
        return [chi_square.row(test="friedman", n=n, k=k)]
    ratio = iman_davenport(chi_square.statistic, n, k)
    if math.isinf(ratio.statistic):  # all rows rank alike: 1 / (orders of a row)^(N - 1)
        ties = np.unique(goodness[0], return_counts=True)[1].tolist()
        orders = math.factorial(k) / math.prod(map(math.factorial, ties))
        ratio = replace(ratio, p_value=float(orders ** -(n - 1.0)), p_kind="exact", notes=(note("ranks.agree"),))
    tests = {"friedman": chi_square, "iman_davenport": ratio}
    if n <= MAX_PERMUTED_DATASETS:
        exact = permutation_p(block_ranks(goodness), rng)
        is_exact = exact.p_kind == "exact"
        p_note = note("ranks.counted") if is_exact else note("ranks.drawn", draws=PERMUTATION_DRAWS)
        tests["friedman_exact"] = replace(exact, statistic=chi_square.statistic, notes=(p_note,))
    return [test.row(test=name, n=n, k=k) for name, test in tests.items()]


def _skillings_mack_row(goodness: FloatArray, rng: np.random.Generator) -> dict[str, Any]:
    """Return the row of the test with missing cells."""
    k = goodness.shape[1]
    rows = goodness[np.isfinite(goodness).sum(axis=1) > 1]
    shared = {"test": "skillings_mack", "n": len(rows), "k": k}
    if k < 3:
        return Outcome(df=k - 1, notes=(note("ranks.two"),)).row(**shared)
    chi_square = skillings_mack(goodness)
    notes = [note("ranks.missing")]
    if len(rows) < len(goodness):
        notes.append(note("ranks.one_value", count=len(goodness) - len(rows)))
    if chi_square.df < k - 1:
        notes.append(note("ranks.unlinked"))
        return Outcome(df=chi_square.df, notes=tuple(notes)).row(**shared)
    notes.append(note("ranks.exchanged"))
    permuted = skillings_mack_p(goodness, rng)
    return replace(permuted, statistic=chi_square.statistic, df=chi_square.df, notes=tuple(notes)).row(**shared)


def permutation_p(ranks: npt.NDArray[np.float64], rng: np.random.Generator) -> Outcome:
    """Return the p-value of the sum of squared rank sums under permutation of each row, "exact" or by permutations.

    ``ranks`` is (N, k), without missing cells. Among arrangements of the same ranks, that sum orders the tables in the
    same way as Friedman's chi-square with its correction for ties and the F of Iman and Davenport, so one p holds for
    the three. If the sums of ranks are few, all arrangements are enumerated, data set by data set; else 9,999 are drawn
    and p = (b + 1) / (m + 1). Hollander, Wolfe and Chicken (2014), Nonparametric Statistical Methods, section 7.1.

    Examples
    --------
    >>> ranks = np.array([[1.0, 2, 3], [1, 2, 3], [1, 2, 3]])
    >>> test = permutation_p(ranks, np.random.default_rng(0))  # 6 of 216 tables agree
    >>> round(test.p_value, 6), test.p_kind
    (0.027778, 'exact')
    """
    doubled = np.rint(2 * ranks).astype(np.int64)  # ties are halves
    reached = int((doubled.sum(axis=0) ** 2).sum())
    share = _enumerated_share(doubled, reached)
    if share is None:
        chunk, exceedances = max(MAX_RANKS_IN_MEMORY // doubled.size, 1), 0
        for start in range(0, PERMUTATION_DRAWS, chunk):
            tables = np.broadcast_to(doubled, (min(chunk, PERMUTATION_DRAWS - start), *doubled.shape))
            exceedances += int(((rng.permuted(tables, axis=2).sum(axis=1) ** 2).sum(axis=1) >= reached).sum())
        return Outcome(p_value=(exceedances + 1) / (PERMUTATION_DRAWS + 1), p_kind="permutation")
    return Outcome(p_value=min(share, 1.0), p_kind="exact")


def _enumerated_share(doubled: IntArray, reached: int) -> float | None:
    """Return the share from the distribution of the rank sums, built row by row; None if it has too many values.

    The statistic and the distribution of the remaining rows do not change if embeddings are permuted: sums are sorted,
    and the first row need not be permuted.
    """
    base = int(doubled.sum(axis=0).max()) + int(doubled.max()) * len(doubled) + 1
    k = doubled.shape[1]
    if base**k >= 2**63:
        return None
    powers = base ** np.arange(k)
    sums: IntArray = np.sort(doubled[:1], axis=1)
    share: npt.NDArray[np.float64] = np.ones(1)
    for row in doubled[1:]:
        if _n_arrangements(row) * len(sums) > MAX_EXACT_SUMS or k > 8:
            return None
        rows = np.array(sorted(set(itertools.permutations(row.tolist()))), dtype=np.int64)
        extended = np.sort((sums[:, None] + rows[None]).reshape(-1, k), axis=1)
        _, first_index, inverse = np.unique(extended @ powers, return_index=True, return_inverse=True)
        share = np.bincount(inverse.ravel(), np.repeat(share / len(rows), len(rows))).astype(np.float64)
        sums = extended[first_index]
    return float(share[(sums**2).sum(axis=1) >= reached].sum())


def _n_arrangements(row: npt.NDArray[Any]) -> int:
    """Return the number of different orders of the ranks of a row."""
    ties = np.unique(row, return_counts=True)[1]
    return math.factorial(len(row)) // math.prod(math.factorial(int(size)) for size in ties)


def quadratic_p(
    scores: FloatArray, present: npt.NDArray[np.bool_], weights: FloatArray, rng: np.random.Generator, draws: int
) -> Outcome:
    """Return the share of permutations of scores within rows, among present cells, with A' W A as large as observed.

    A (k,) is the sum of the rows of ``scores`` (N, k); ``present`` (N, k) marks the cells that have a value. At most
    200,000 permutations are enumerated ("exact"); else ``draws`` are drawn, p = (b + 1) / (m + 1). O(draws N k) time.
    """
    observed = scores.sum(axis=0)
    bound = float(observed @ weights @ observed) * (1 - 1e-9)
    cells = [np.flatnonzero(row) for row in present]
    total = math.prod(_n_arrangements(row[columns]) for row, columns in zip(scores, cells, strict=True))
    if total <= MAX_EXACT_SUMS:
        sums = np.zeros((1, scores.shape[1]))
        for row, columns in zip(scores, cells, strict=True):
            orders = np.zeros((_n_arrangements(row[columns]), scores.shape[1]))
            orders[:, columns] = sorted(set(itertools.permutations(row[columns].tolist())))
            sums = (sums[:, None] + orders[None]).reshape(-1, scores.shape[1])
    else:
        sums = np.zeros((draws, scores.shape[1]))
        for row, columns in zip(scores, cells, strict=True):
            sums[:, columns] += rng.permuted(np.broadcast_to(row[columns], (draws, len(columns))), axis=1)
    reached = int((np.einsum("si,ij,sj->s", sums, weights, sums, optimize=True) >= bound).sum())
    if total <= MAX_EXACT_SUMS:
        return Outcome(p_value=reached / total, p_kind="exact")
    return Outcome(p_value=(reached + 1) / (draws + 1), p_kind="permutation")
