"""Ranks over data sets: tests of any difference, exact distributions, and letters for pairs that do not differ."""

from __future__ import annotations

import itertools
import math
import re
import string
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import FloatArray, IntArray
from dreval.inference.adjustment import adjust_p_values
from dreval.records.comparison import Comparison, Family
from dreval.records.frames import full_name
from dreval.records.notes import Notes, note

EXACT_UP_TO = 200_000  # sums of ranks that one data set may add
DRAWS = 9_999
DRAWN_AT_ONCE = 2_000_000  # ranks
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
    chi-square distribution with rank(S) degrees, S the covariance of A. Rows with one value say nothing and are left
    out. Without missing cells and ties it is Friedman's chi-square; ties make it conservative. Skillings and Mack
    (1981), Technometrics 23, 171-177. The degrees of freedom are below k - 1 where the rows do not link all embeddings.
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
    shared = {"n": n, "k": k, "statistic": chi_square}
    rows: list[dict[str, Any]] = [{"test": "friedman", **shared, "df": k - 1, "p_value": p}]
    if math.isnan(p):
        return [{**rows[0], "notes": (note("ranks.equal" if k > 2 else "ranks.two"),)}]
    rows[0]["p_kind"] = kind = "asymptotic"
    notes: Notes = ()
    value, p = iman_davenport(chi_square, n, k)
    if math.isinf(value):
        p, kind, notes = _agreement(goodness), "exact", (note("ranks.agree"),)
    degrees = {"df": k - 1, "df_denominator": (k - 1) * (n - 1)}
    found = {"statistic": value, "p_value": p, "p_kind": kind, "notes": notes}
    rows.append({"test": "iman_davenport", **shared, **degrees, **found})
    if n <= PERMUTED_UP_TO:
        p, counted = permutation_p(block_ranks(goodness), rng)
        kind, how = ("exact", note("ranks.counted")) if counted else ("permutation", note("ranks.drawn", draws=DRAWS))
        rows.append({"test": "friedman_exact", **shared, "p_value": p, "p_kind": kind, "notes": (how,)})
    return rows


def _agreement(goodness: FloatArray) -> float:
    """Probability that all rows rank alike under the null hypothesis: 1 / (number of arrangements of a row)^(N - 1)."""
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
        return {**shared, "statistic": math.nan, "df": k - 1, "p_value": math.nan, "notes": (note("ranks.two"),)}
    value, _, rank = skillings_mack(goodness)
    notes = [note("ranks.missing")]
    if len(rows) < len(goodness):
        notes.append(note("ranks.one_value", count=len(goodness) - len(rows)))
    if rank < k - 1:
        notes.append(note("ranks.unlinked"))
        return {**shared, "statistic": math.nan, "df": rank, "p_value": math.nan, "notes": tuple(notes)}
    p, counted = skillings_mack_p(goodness, rng)
    notes.append(note("ranks.exchanged"))
    kind = "exact" if counted else "permutation"
    return {**shared, "statistic": value, "df": rank, "p_value": p, "p_kind": kind, "notes": tuple(notes)}


def permutation_p(ranks: npt.NDArray[np.float64], rng: np.random.Generator) -> tuple[float, bool]:
    """Share of the arrangements of each row whose sum of squared rank sums reaches that of the table, and if counted.

    ``ranks`` (N, k) without missing cells. Within the arrangements of the same ranks that sum orders the tables as
    Friedman's chi-square with its correction for ties and the F of Iman and Davenport do, so one p holds for the three.
    All arrangements are counted where the sums of ranks are few, data set by data set; else 9,999 are drawn and
    p = (b + 1) / (m + 1). Hollander, Wolfe and Chicken (2014), Nonparametric Statistical Methods, section 7.1.

    Examples
    --------
    >>> ranks = np.array([[1.0, 2, 3], [1, 2, 3], [1, 2, 3]])
    >>> p, counted = permutation_p(ranks, np.random.default_rng(0))  # 6 of 216 tables agree
    >>> round(p, 6), counted
    (0.027778, True)
    """
    doubled = np.rint(2 * ranks).astype(np.int64)  # ties are halves
    reached = int((doubled.sum(axis=0) ** 2).sum())
    counted = _counted(doubled, reached)
    return (_drawn(doubled, reached, rng), False) if counted is None else (min(counted, 1.0), True)


def _counted(doubled: IntArray, reached: int) -> float | None:
    """The share by the distribution of the rank sums, one row after the other; None where it has too many values.

    The statistic and the distribution of the rows to come do not change when embeddings are renamed: sums are kept
    sorted, and the first row may stand as it is.
    """
    base = int(doubled.sum(axis=0).max()) + int(doubled.max()) * len(doubled) + 1
    k = doubled.shape[1]
    if base**k >= 2**63:
        return None
    powers = base ** np.arange(k)
    sums: IntArray = np.sort(doubled[:1], axis=1)
    share: npt.NDArray[np.float64] = np.ones(1)
    for row in doubled[1:]:
        if _arrangement_count(row) * len(sums) > EXACT_UP_TO or k > 8:
            return None
        rows = np.array(sorted(set(itertools.permutations(row.tolist()))), dtype=np.int64)
        more = np.sort((sums[:, None] + rows[None]).reshape(-1, k), axis=1)
        _, kept, place = np.unique(more @ powers, return_index=True, return_inverse=True)
        share = np.bincount(place.ravel(), np.repeat(share / len(rows), len(rows))).astype(np.float64)
        sums = more[kept]
    return float(share[(sums**2).sum(axis=1) >= reached].sum())


def _arrangement_count(row: npt.NDArray[Any]) -> int:
    """In how many orders the ranks of a row can stand."""
    ties = np.unique(row, return_counts=True)[1]
    return math.factorial(len(row)) // math.prod(math.factorial(int(t)) for t in ties)


def _drawn(doubled: IntArray, reached: int, rng: np.random.Generator) -> float:
    """The share among random arrangements, the table itself among them."""
    step, beyond = max(DRAWN_AT_ONCE // doubled.size, 1), 0
    for at in range(0, DRAWS, step):
        drawn = np.broadcast_to(doubled, (min(step, DRAWS - at), *doubled.shape))
        beyond += int(((rng.permuted(drawn, axis=2).sum(axis=1) ** 2).sum(axis=1) >= reached).sum())
    return (beyond + 1) / (DRAWS + 1)


def quadratic_p(
    scores: FloatArray, there: npt.NDArray[np.bool_], weights: FloatArray, rng: np.random.Generator, draws: int
) -> tuple[float, bool]:
    """Share of the exchanges of scores among the cells of a row that are there with A' W A as large as in the table.

    A (k,) is the sum of the rows of ``scores`` (N, k). All exchanges are counted where they are at most 200,000, else
    ``draws`` are drawn and p = (b + 1) / (m + 1). Second: whether they were counted. O(draws N k) time.
    """
    observed = scores.sum(axis=0)
    bound = float(observed @ weights @ observed) * (1 - 1e-9)
    cells = [np.flatnonzero(row) for row in there]
    total = math.prod(_arrangement_count(row[at]) for row, at in zip(scores, cells, strict=True))
    if total <= EXACT_UP_TO:
        sums = np.zeros((1, scores.shape[1]))
        for row, at in zip(scores, cells, strict=True):
            orders = np.zeros((_arrangement_count(row[at]), scores.shape[1]))
            orders[:, at] = sorted(set(itertools.permutations(row[at].tolist())))
            sums = (sums[:, None] + orders[None]).reshape(-1, scores.shape[1])
    else:
        sums = np.zeros((draws, scores.shape[1]))
        for row, at in zip(scores, cells, strict=True):
            sums[:, at] += rng.permuted(np.broadcast_to(row[at], (draws, len(at))), axis=1)
    reached = int((np.einsum("si,ij,sj->s", sums, weights, sums, optimize=True) >= bound).sum())
    return (reached / total, True) if total <= EXACT_UP_TO else ((reached + 1) / (draws + 1), False)


def letter_display(count: int, differing: Iterable[tuple[int, int]]) -> list[str]:
    """Letters of ``count`` things, in the order from the best; ``differing`` holds the pairs that differ.

    Insert and absorb (Piepho 2004, J. Comput. Graph. Stat. 13, 456-466): every column of letters begins with all
    things; for each pair that differs, a column that holds both is split into one without the first and one without the
    second, and columns within others are dropped. Two things share a letter exactly when the pair does not differ.
    O(pairs x columns x count).

    Examples
    --------
    >>> letter_display(3, [(0, 2)])
    ['a', 'ab', 'b']
    """
    columns = [frozenset(range(count))]
    for pair in differing:
        split: list[frozenset[int]] = []
        for column in columns:
            split += [column - {one} for one in pair] if column.issuperset(pair) else [column]
        columns = [c for i, c in enumerate(split) if not any(c < d or (c == d and i > j) for j, d in enumerate(split))]
    columns.sort(key=sorted)
    return ["".join(_letter(i) for i, column in enumerate(columns) if thing in column) for thing in range(count)]


def _letter(place: int) -> str:
    """Letters from a to z, then A to Z, then numbers in brackets."""
    return string.ascii_letters[place] if place < len(string.ascii_letters) else f"({place + 1})"


def single_letters(letters: str) -> list[str]:
    """The letters of one thing, apart.

    Examples
    --------
    >>> single_letters("ab(53)")
    ['a', 'b', '(53)']
    """
    return re.findall(r"\(\d+\)|[A-Za-z]", letters)


AT_ONCE = ("nemenyi",)  # whose p-values hold for all pairs of a measure at once

ORDER = ("wilcoxon", "nemenyi", "mixed")


def decisive_test(
    pairs: pd.DataFrame, families: Mapping[str, Family], alpha: float, adjust: str | None
) -> dict[str, Any]:
    """The one test that letters, diagrams and words of a comparison go by, and the smallest p that it can have.

    Every p-value is replaced by the smallest that the design allows (``smallest_p``), and these are adjusted as the
    others are. The test that can be significant on the most measures decides; of equals signed ranks, which do not
    depend on what else is compared, then Nemenyi's, then the mixed model. No value is read: what was found chooses
    nothing. Gives ``decided_by`` (empty where no test has letters) and ``attainable``: smallest adjusted p by index.
    """
    table = pairs[pairs["test"].isin(ORDER) & pairs["p_value"].notna()].copy()
    if table.empty:
        return {"decided_by": "", "attainable": {}}
    table["name"] = [full_name(*key) for key in zip(table["measure"], table["parameters"], strict=True)]
    table["p_value"] = [
        smallest_p(test, n, len(families[name].names))
        for test, n, name in zip(table["test"], table["n"], table["name"], strict=True)
    ]
    table = adjust_p_values(table.assign(p_adjusted=np.nan), adjust, AT_ONCE)
    table["least"] = table["p_adjusted"].where(table["p_adjusted"].notna(), table["p_value"])
    least = table.groupby(["test", "name"], sort=False)["least"].min()
    known = [test for test in ORDER if test in set(table["test"])]
    test = max(known, key=lambda test: int((least[test] <= alpha).sum()))
    return {"decided_by": test, "attainable": {name: float(p) for name, p in least[test].items()}}


@cache
def smallest_p(test: str, n: int, k: int) -> float:
    """The smallest p-value of a pair that the test can have on n data sets with k embeddings.

    Signed ranks: 2 / 2^n. Nemenyi: mean ranks 1 and k. The mixed model: none is too small.

    Examples
    --------
    >>> smallest_p("wilcoxon", 6, 4), round(smallest_p("nemenyi", 6, 4), 5)
    (0.03125, 0.00033)
    """
    if test == "wilcoxon":
        return float(2.0 ** (1 - n))
    return float(nemenyi(np.array([1.0, k]), n, k)[0, 1]) if test == "nemenyi" else 0.0


def critical_level(comparison: Comparison) -> float:
    """The level at which Nemenyi's critical difference parts two embeddings here; NaN where it does not decide.

    With Holm's adjustment over m measures alpha / m, beyond which every pair differs.
    """
    recipe = comparison.recipe
    blocks = len(recipe.get("attainable", {}))
    if recipe.get("decided_by") != "nemenyi" or (recipe["adjust"] == "benjamini_hochberg" and blocks > 1):
        return math.nan
    return float(recipe["alpha"] / (blocks if recipe["adjust"] == "holm" else 1))
