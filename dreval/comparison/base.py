"""Statistics of paired values: tests of mean ranks, pairs of embeddings, and the tables of both.

The statistics take arrays of paired values; ``compare`` decides which values belong together.
"""

from __future__ import annotations

import itertools
import math
import os
import re
import string
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import FloatArray, IntArray, check_names, check_numeric, check_one_of, describe, did_you_mean
from dreval._random import stream
from dreval.errors import Hint, InputError, UnknownName
from dreval.glossary import OVERALL_COLUMNS, PAIR_COLUMNS
from dreval.inference.adjustment import adjust_p_values
from dreval.inputs.files import read_table
from dreval.records.archive import load_evaluation
from dreval.records.base import is_journal
from dreval.records.comparison import Comparison, Family, to_digits
from dreval.records.frames import full_name
from dreval.records.notes import Note, Notes, join_notes, note
from dreval.records.results import Results
from dreval.registry import MEASURES, METHODS
from dreval.storage.study_file import KEYS as CELL_KEYS
from dreval.storage.study_file import StudyFile

# Ranks over data sets: tests of any difference, exact distributions, and letters for pairs that do not differ.

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


def friedman(goodness: FloatArray) -> tuple[float, float]:
    """Return Friedman's chi-square with its correction for ties, and p with k - 1 degrees of freedom (scipy).

    Both are NaN if all values of every row are tied.
    """
    from scipy.stats import friedmanchisquare

    if (goodness == goodness[:, :1]).all():
        return math.nan, math.nan
    result = friedmanchisquare(*(-goodness).T)
    return float(result.statistic), float(result.pvalue)


def iman_davenport(chi_square: float, n: int, k: int) -> tuple[float, float]:
    """Return F = (N - 1) chi^2 / (N (k - 1) - chi^2), and p with k - 1 and (k - 1)(N - 1) degrees of freedom.

    Iman and Davenport (1980), Commun. Stat. 9, 571-595, Eq. 2.1. F is infinite, with p = 0, if all rows agree.

    Examples
    --------
    >>> "{:.2f} {:.3f}".format(*iman_davenport(9.28, 14, 4))  # Demsar (2006), section 3.2.2: 3.69
    '3.69 0.020'
    """
    from scipy.special import fdtrc

    denominator = n * (k - 1) - chi_square
    if denominator <= 1e-9 * n * (k - 1):
        return math.inf, 0.0
    value = (n - 1) * chi_square / denominator
    return value, float(fdtrc(k - 1, (k - 1) * (n - 1), value))


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


def skillings_mack(goodness: FloatArray) -> tuple[float, float, int]:
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
    return value, float(chdtrc(rank, value)) if rank else math.nan, rank


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


def skillings_mack_p(
    goodness: FloatArray, rng: np.random.Generator, draws: int = PERMUTATION_DRAWS
) -> tuple[float, bool]:
    """Return p of Skillings and Mack's statistic by permuting the values of every row among its observed cells.

    It is valid with ties and few rows, if missingness does not depend on the values. The second result is whether all
    permutations were enumerated; see ``quadratic_p``.

    Examples
    --------
    >>> rows = np.array([[1.0, 2, 3], [1, 2, np.nan], [np.nan, 2, 3]])  # 6 of 24 permutations are as extreme
    >>> p, enumerated = skillings_mack_p(rows, np.random.default_rng(0))
    >>> round(p, 4), enumerated
    (0.25, True)
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
    chi_square, p = friedman(goodness) if k > 2 else (math.nan, math.nan)
    shared = {"n": n, "k": k, "statistic": chi_square}
    rows: list[dict[str, Any]] = [{"test": "friedman", **shared, "df": k - 1, "p_value": p}]
    if math.isnan(p):
        return [{**rows[0], "notes": (note("ranks.equal" if k > 2 else "ranks.two"),)}]
    rows[0]["p_kind"] = kind = "asymptotic"
    notes: Notes = ()
    value, p = iman_davenport(chi_square, n, k)
    if math.isinf(value):
        p, kind, notes = _agreement_probability(goodness), "exact", (note("ranks.agree"),)
    degrees = {"df": k - 1, "df_denominator": (k - 1) * (n - 1)}
    result = {"statistic": value, "p_value": p, "p_kind": kind, "notes": notes}
    rows.append({"test": "iman_davenport", **shared, **degrees, **result})
    if n <= MAX_PERMUTED_DATASETS:
        p, enumerated = permutation_p(block_ranks(goodness), rng)
        kind, p_note = (
            ("exact", note("ranks.counted"))
            if enumerated
            else ("permutation", note("ranks.drawn", draws=PERMUTATION_DRAWS))
        )
        rows.append({"test": "friedman_exact", **shared, "p_value": p, "p_kind": kind, "notes": (p_note,)})
    return rows


def _agreement_probability(goodness: FloatArray) -> float:
    """Return the probability that all rows rank alike under the null hypothesis: 1 / (orders of a row)^(N - 1)."""
    n, k = goodness.shape
    ties = np.unique(goodness[0], return_counts=True)[1]
    arrangements = math.factorial(k) / math.prod(math.factorial(int(size)) for size in ties)
    return float(arrangements ** -(n - 1.0))


def _skillings_mack_row(goodness: FloatArray, rng: np.random.Generator) -> dict[str, Any]:
    """Return the row of the test with missing cells."""
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
    p, enumerated = skillings_mack_p(goodness, rng)
    notes.append(note("ranks.exchanged"))
    kind = "exact" if enumerated else "permutation"
    return {**shared, "statistic": value, "df": rank, "p_value": p, "p_kind": kind, "notes": tuple(notes)}


def permutation_p(ranks: npt.NDArray[np.float64], rng: np.random.Generator) -> tuple[float, bool]:
    """Return the p-value of the sum of squared rank sums under permutation of each row, and whether it is exact.

    ``ranks`` is (N, k), without missing cells. Among arrangements of the same ranks, that sum orders the tables in the
    same way as Friedman's chi-square with its correction for ties and the F of Iman and Davenport, so one p holds for
    the three. If the sums of ranks are few, all arrangements are enumerated, data set by data set; else 9,999 are drawn
    and p = (b + 1) / (m + 1). Hollander, Wolfe and Chicken (2014), Nonparametric Statistical Methods, section 7.1.

    Examples
    --------
    >>> ranks = np.array([[1.0, 2, 3], [1, 2, 3], [1, 2, 3]])
    >>> p, exact = permutation_p(ranks, np.random.default_rng(0))  # 6 of 216 tables agree
    >>> round(p, 6), exact
    (0.027778, True)
    """
    doubled = np.rint(2 * ranks).astype(np.int64)  # ties are halves
    reached = int((doubled.sum(axis=0) ** 2).sum())
    share = _enumerated_share(doubled, reached)
    return (_sampled_share(doubled, reached, rng), False) if share is None else (min(share, 1.0), True)


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


def _sampled_share(doubled: IntArray, reached: int, rng: np.random.Generator) -> float:
    """Return the share among random arrangements, including the table itself."""
    chunk, exceedances = max(MAX_RANKS_IN_MEMORY // doubled.size, 1), 0
    for start in range(0, PERMUTATION_DRAWS, chunk):
        tables = np.broadcast_to(doubled, (min(chunk, PERMUTATION_DRAWS - start), *doubled.shape))
        exceedances += int(((rng.permuted(tables, axis=2).sum(axis=1) ** 2).sum(axis=1) >= reached).sum())
    return (exceedances + 1) / (PERMUTATION_DRAWS + 1)


def quadratic_p(
    scores: FloatArray, present: npt.NDArray[np.bool_], weights: FloatArray, rng: np.random.Generator, draws: int
) -> tuple[float, bool]:
    """Return the share of permutations of scores within rows, among present cells, with A' W A as large as observed.

    A (k,) is the sum of the rows of ``scores`` (N, k); ``present`` (N, k) marks the cells that have a value. At most
    200,000 permutations are enumerated, else ``draws`` are drawn and p = (b + 1) / (m + 1). The second result is
    whether they were enumerated. O(draws N k) time.
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
    return (reached / total, True) if total <= MAX_EXACT_SUMS else ((reached + 1) / (draws + 1), False)


def letter_display(count: int, differing: Iterable[tuple[int, int]]) -> list[str]:
    """Return the letters of ``count`` items, ordered from the best; ``differing`` holds the pairs that differ.

    Insert and absorb (Piepho 2004, J. Comput. Graph. Stat. 13, 456-466): every column of letters begins with all
    items; for each pair that differs, a column that holds both is split into one without the first and one without the
    second, and columns within other columns are dropped. Two items share a letter exactly if the pair does not differ.
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
            split += [column - {member} for member in pair] if column.issuperset(pair) else [column]
        columns = [
            candidate
            for i, candidate in enumerate(split)
            if not any(candidate < other or (candidate == other and i > j) for j, other in enumerate(split))
        ]
    columns.sort(key=sorted)
    return ["".join(_letter(i) for i, column in enumerate(columns) if item in column) for item in range(count)]


def _letter(position: int) -> str:
    """Return the letter of a position: a to z, then A to Z, then numbers in brackets."""
    return string.ascii_letters[position] if position < len(string.ascii_letters) else f"({position + 1})"


def single_letters(letters: str) -> list[str]:
    """Split the letters of one item.

    Examples
    --------
    >>> single_letters("ab(53)")
    ['a', 'b', '(53)']
    """
    return re.findall(r"\(\d+\)|[A-Za-z]", letters)


SIMULTANEOUS_TESTS = ("nemenyi",)  # tests whose p-values hold simultaneously for all pairs of a measure

DECISION_ORDER = ("wilcoxon", "nemenyi", "mixed")


def decisive_test(
    pairs: pd.DataFrame, families: Mapping[str, Family], alpha: float, adjust: str | None
) -> dict[str, Any]:
    """Choose the test behind letters, diagrams and sentences of a comparison, with the smallest p it can have.

    Every p-value is replaced by the smallest that the design allows (``smallest_p``), and these are adjusted in the
    same way. The test that can be significant on the most measures decides. If several are equal, it is the signed-rank
    test, which does not depend on the other embeddings, then Nemenyi's, then the mixed model. The choice does not
    depend on observed values. Returns ``decided_by`` (empty if no test has letters) and ``attainable``, the smallest
    adjusted p by measure.
    """
    table = pairs[pairs["test"].isin(DECISION_ORDER) & pairs["p_value"].notna()].copy()
    if table.empty:
        return {"decided_by": "", "attainable": {}}
    table["name"] = [full_name(*key) for key in zip(table["measure"], table["parameters"], strict=True)]
    table["p_value"] = [
        smallest_p(test, n, len(families[name].names))
        for test, n, name in zip(table["test"], table["n"], table["name"], strict=True)
    ]
    table = adjust_p_values(table.assign(p_adjusted=np.nan), adjust, SIMULTANEOUS_TESTS)
    table["smallest"] = table["p_adjusted"].where(table["p_adjusted"].notna(), table["p_value"])
    smallest = table.groupby(["test", "name"], sort=False)["smallest"].min()
    available = [test for test in DECISION_ORDER if test in set(table["test"])]
    test = max(available, key=lambda test: int((smallest[test] <= alpha).sum()))
    return {"decided_by": test, "attainable": {name: float(p) for name, p in smallest[test].items()}}


@cache
def smallest_p(test: str, n: int, k: int) -> float:
    """Return the smallest p-value of a pair that the test can have on n data sets with k embeddings.

    Signed ranks: 2 / 2^n. Nemenyi: that of mean ranks 1 and k. The mixed model: 0.

    Examples
    --------
    >>> smallest_p("wilcoxon", 6, 4), round(smallest_p("nemenyi", 6, 4), 5)
    (0.03125, 0.00033)
    """
    if test == "wilcoxon":
        return float(2.0 ** (1 - n))
    return float(nemenyi(np.array([1.0, k]), n, k)[0, 1]) if test == "nemenyi" else 0.0


def critical_level(comparison: Comparison) -> float:
    """Return the level of Nemenyi's critical difference in a comparison; NaN if Nemenyi's test does not decide.

    With Holm's adjustment over m measures it is alpha / m, beyond which every pair differs.
    """
    recipe = comparison.recipe
    blocks = len(recipe.get("attainable", {}))
    if recipe.get("decided_by") != "nemenyi" or (recipe["adjust"] == "benjamini_hochberg" and blocks > 1):
        return math.nan
    return float(recipe["alpha"] / (blocks if recipe["adjust"] == "holm" else 1))


# All pairs of embeddings over data sets: Nemenyi, signed ranks, the Bayesian signed-rank test, the mixed model.

MAX_EXACT_DIFFERENCES = 50  # data sets up to which sums of signed ranks are enumerated, as in scipy
PAIR_TEXT_COLUMNS = (
    "measure",
    "parameters",
    "first",
    "second",
    "test",
    "family",
    "p_kind",
    "equivalence",
    "better",
    "note",
)


def pair_frame(rows: list[dict[str, Any]], alpha: float, family: str | None = None) -> pd.DataFrame:
    """Return rows of pairs as a table with fixed columns; p-values are of one family, or of one for each test."""
    table = pd.DataFrame(_with_note_text(rows), columns=list(PAIR_COLUMNS))
    for name in PAIR_COLUMNS:
        if name in PAIR_TEXT_COLUMNS:
            table[name] = table[name].astype("object").where(table[name].notna(), "")
        else:
            table[name] = pd.to_numeric(table[name]).astype("float64")
    table["conf_level"] = np.where(table["conf_low"].notna(), 1 - alpha, np.nan)
    families = table["test"] if family is None else pd.Series(family, table.index)
    table["family"] = families.where(table["p_value"].notna(), "")
    return table.astype({"n": "int64"})


def overall_frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Return rows of overall tests as a table with fixed columns."""
    table = pd.DataFrame(_with_note_text(rows), columns=list(OVERALL_COLUMNS))
    text_columns = ["p_kind", "note"]
    table[text_columns] = table[text_columns].astype("object").where(table[text_columns].notna(), "")
    return table


def _with_note_text(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows with the text of their notes."""
    return [{**row, "note": join_notes(row.get("notes", ()))} for row in rows]


def index_pairs(names: list[str]) -> Iterator[tuple[int, int]]:
    """Return all pairs of positions, in order."""
    return itertools.combinations(range(len(names)), 2)


def compared_pairs(names: Sequence[str], baseline: str | None = None) -> list[tuple[str, str]]:
    """Return all pairs in order; with a baseline every other name against it.

    Examples
    --------
    >>> compared_pairs(["a", "b", "c"]), compared_pairs(["a", "b", "c"], "b")
    ([('a', 'b'), ('a', 'c'), ('b', 'c')], [('a', 'b'), ('c', 'b')])
    """
    if baseline is None:
        return list(itertools.combinations(names, 2))
    return [(name, baseline) for name in names if name != baseline]


def better_name(first: str, second: str, advantage: float) -> str:
    """Return the name that an advantage favors."""
    return first if advantage > 0 else second if advantage < 0 else ""


def keep_significant(table: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """Return the pairs with ``better`` only where the test finds a difference, by adjusted p or posterior."""
    p = table["p_adjusted"].where(table["p_adjusted"].notna(), table["p_value"])
    significant = (p <= alpha) | (table[["p_first", "p_second"]].max(axis=1) > 1 - alpha)
    return table.assign(better=table["better"].where(significant, ""))


def superiority(differences: FloatArray) -> float:
    """Return the share of positive differences, zeros counted half."""
    return float(np.mean(np.heaviside(differences, 0.5)))


def nemenyi_rows(family: Family, alpha: float) -> list[dict[str, Any]]:
    """Return one row for each pair, over the data sets that have all embeddings; no row with fewer than two of them.

    Half the width of the intervals is the critical difference: they hold simultaneously for all pairs of the measure.
    """
    complete = family.goodness[np.isfinite(family.goodness).all(axis=1)]
    if len(complete) < 2 or len(family.names) < 3:
        return []
    means = block_ranks(complete).mean(axis=0)
    p, half_width = nemenyi(means, len(complete)), critical_difference(len(complete), len(means), alpha)
    k, rows = len(means), []
    for i, j in index_pairs(family.names):
        first, second, advantage = family.names[i], family.names[j], float(means[j] - means[i])
        statistic = advantage / math.sqrt(k * (k + 1) / (6 * len(complete)))
        rows.append(
            {
                **family.key, "first": first, "second": second, "test": "nemenyi", "n": len(complete),
                "advantage": advantage, "statistic": statistic, "p_value": float(p[i, j]), "p_kind": "asymptotic",
                "conf_low": advantage - half_width, "conf_high": advantage + half_width,
                "better": better_name(first, second, advantage),
            }
        )  # fmt: skip
    return rows


def signed_rank_rows(family: Family, rope: float | None, alpha: float, root: int) -> list[dict[str, Any]]:
    """Run Wilcoxon's test of each pair over the data sets that have both, and with ``rope`` the Bayesian test."""
    goodness, rows = family.goodness, []
    for i, j in index_pairs(family.names):
        first, second = family.names[i], family.names[j]
        differences = to_digits(goodness[:, [i]] - goodness[:, [j]], family.scale)[:, 0]
        differences = differences[np.isfinite(differences)]
        shared = {**family.key, "first": first, "second": second, "n": len(differences)}
        if not len(differences):
            rows.append({**shared, "test": "wilcoxon", "notes": (note("signed_ranks.none"),)})
            continue
        shared["superiority"] = superiority(differences)
        result = _wilcoxon(differences, alpha)
        rows.append(
            {**shared, "test": "wilcoxon", **result, "better": better_name(first, second, result["effect_size"])}
        )
        if rope is not None:
            rng = stream(root, "bayes", family.measure, family.parameters, first, second)
            better, equal, worse = bayesian_signed_rank(differences, rope, rng)
            estimate = float(np.median(walsh_averages(differences)))
            posterior = {"advantage": estimate, "p_first": better, "p_rope": equal, "p_second": worse}
            rows.append({**shared, "test": "bayes", **posterior, "better": better_name(first, second, better - worse)})
    return rows


def walsh_averages(differences: FloatArray) -> FloatArray:
    """Return the averages (d_i + d_j) / 2, i <= j, in ascending order; their median is the Hodges-Lehmann estimate.

    Examples
    --------
    >>> walsh_averages(np.array([0.0, 1.0, 4.0]))
    array([0. , 0.5, 1. , 2. , 2.5, 4. ])
    """
    rows, columns = np.triu_indices(len(differences))
    return np.sort((differences[rows] + differences[columns]) / 2)


def walsh_interval(differences: FloatArray, alpha: float) -> tuple[float, float]:
    """Return the interval of the signed-rank test: the Walsh averages at ranks c and M + 1 - c of M.

    c is the largest with 2 P(T <= c - 1) <= alpha, T the sum of signed ranks of n differences; NaN if there is none,
    since 2 / 2^n > alpha. Hollander, Wolfe and Chicken (2014), Nonparametric Statistical Methods, section 3.3.

    Examples
    --------
    >>> walsh_interval(np.array([1.0, 2, 3, 4, 5, 6]), 0.05)
    (1.0, 6.0)
    """
    from scipy.special import ndtri

    n = len(differences)
    if n <= MAX_EXACT_DIFFERENCES:
        c = int(np.searchsorted(_two_sided(np.arange(1, n + 1)), alpha * (1 + 1e-12), side="right"))
    else:
        c = int(n * (n + 1) / 4 + ndtri(alpha / 2) * math.sqrt(n * (n + 1) * (2 * n + 1) / 24))
    if c == 0:
        return math.nan, math.nan
    averages = walsh_averages(differences)
    return float(averages[c - 1]), float(averages[-c])


def _two_sided(ranks: IntArray) -> FloatArray:
    """Return 2 P(T <= t) for t = 0, 1, ..., with T the sum of a random subset of the ranks."""
    counts = np.ones(1)
    for rank in ranks:
        counts = np.concatenate([counts, np.zeros(rank)]) + np.concatenate([np.zeros(rank), counts])
    return np.asarray(np.cumsum(counts) / 2.0 ** (len(ranks) - 1))


def _wilcoxon(differences: FloatArray, alpha: float) -> dict[str, Any]:
    """Return statistic, p, rank-biserial correlation (Kerby 2014), estimate and interval of the signed ranks.

    Differences of zero are dropped from all of these. p is exact for up to 50 other differences, also with ties.
    """
    from scipy.stats import rankdata, wilcoxon

    nonzero = differences[differences != 0]
    if not len(nonzero):
        result = {
            "statistic": 0.0,
            "p_value": 1.0,
            "p_kind": "exact",
            "effect_size": 0.0,
            "advantage": 0.0,
            "n_used": 0,
        }
        ends = dict(zip(("conf_low", "conf_high"), walsh_interval(differences, alpha), strict=True))
        return {**result, **ends, "notes": (note("signed_ranks.equal"),)}
    ranks, n = rankdata(np.abs(nonzero)), len(nonzero)
    exact, tied = n <= MAX_EXACT_DIFFERENCES, len(np.unique(ranks)) < n
    test = wilcoxon(nonzero, method="exact" if exact and not tied else "asymptotic")
    statistic, p = float(test.statistic), float(test.pvalue)
    if exact and tied:
        p = min(1.0, float(_two_sided((2 * ranks).astype(np.int64))[round(2 * statistic)]))
    low, high = walsh_interval(nonzero, alpha)
    ties = (note("signed_ranks.ties"),) if n < len(differences) else ()
    return {
        **({"n_used": n} if ties else {}), "advantage": float(np.median(walsh_averages(nonzero))), "conf_low": low,
        "conf_high": high, "statistic": statistic, "p_value": p, "p_kind": "exact" if exact else "asymptotic",
        "effect_size": float(np.sum(np.sign(nonzero) * ranks) / ranks.sum()), "notes": ties,
    }  # fmt: skip


def letters_of(order: list[str], rows: pd.DataFrame, alpha: float) -> dict[str, str]:
    """Return letters of embeddings, the best first, by the adjusted p-values of one test; none if a pair has no p."""
    rows = rows[rows["first"].isin(order) & rows["second"].isin(order)]
    p = rows["p_adjusted"].where(rows["p_adjusted"].notna(), rows["p_value"])
    if p.isna().any() or len(p) != len(order) * (len(order) - 1) // 2:
        return {}
    position = {name: i for i, name in enumerate(order)}
    differing = [
        (position[first], position[second])
        for first, second, value in zip(rows["first"], rows["second"], p, strict=True)
        if value <= alpha
    ]
    return dict(zip(order, letter_display(len(order), differing), strict=True))


POSTERIOR_DRAWS = 50_000
PRIOR = 0.5  # weight of the pseudo-observation at zero


def bayesian_signed_rank(advantage: FloatArray, rope: float, rng: np.random.Generator) -> tuple[float, float, float]:
    """Return the probabilities that the first is practically better, that both are equivalent, that the second is.

    ``advantage`` (N,) holds the differences over data sets. Differences below ``rope``, in the same unit, count as
    equivalent (a difference of exactly ``rope`` counts half, as in baycomp). The differences have a Dirichlet-process
    prior with a pseudo-observation at zero of weight 0.5. Each of 50,000 posterior draws is assigned to the region that
    holds most of its pairwise means (shared if two regions hold equally many).
    Benavoli, Corani, Demsar and Zaffalon (2017), J. Mach. Learn. Res. 18(77), section 4.2. O(draws N^2).

    Examples
    --------
    >>> bayesian_signed_rank(np.full(6, 0.001), 0.01, np.random.default_rng(0))
    (0.0, 1.0, 0.0)
    """
    weights = rng.dirichlet([PRIOR, *np.ones(len(advantage))], POSTERIOR_DRAWS)
    shares = region_shares(advantage, rope, weights)
    is_largest = shares == shares.max(axis=1, keepdims=True)
    above, within, below = (is_largest / is_largest.sum(axis=1, keepdims=True)).mean(axis=0)
    return float(above), float(within), float(below)


def region_shares(advantage: FloatArray, rope: float, weights: FloatArray) -> FloatArray:
    """Return the weight of the pairwise means above, within and below the region, (m, 3), for weights (m, N + 1).

    The first weight belongs to the pseudo-observation; a mean on the edge of the region counts half to each side.
    """
    z = np.concatenate([[0.0], advantage])
    sums = z[:, None] + z[None]
    above, below = (np.einsum("si,si->s", weights @ _side(side * sums, 2 * rope), weights) for side in (1.0, -1.0))
    within = np.maximum(1.0 - above - below, 0.0) if rope > 0 else np.zeros(len(weights))
    return np.stack([above, within, below], axis=1)


def _side(sums: FloatArray, edge: float) -> FloatArray:
    """Return 1 beyond the edge, 0.5 on it up to rounding, else 0."""
    beyond = sums - edge
    beyond[np.abs(beyond) <= 1e-12 * max(edge, float(np.abs(sums).max()))] = 0.0
    return np.heaviside(beyond, 0.5)


# Optimizers in this order until one converges; the last needs no gradient: variances of zero are on the boundary.
OPTIMIZERS = ("bfgs", "lbfgs", "powell")
# With several variances they stop at a lower local maximum in one of four data sets: these restart.
RESTART_OPTIMIZERS = (("nm",), ("powell",))
ROUNDING = 1e-12  # share of the largest value
SAME_MAXIMUM = 1e-4  # in units of the log-likelihood
MIN_VARIANCE_SHARE = 1e-4  # share of the variance of the errors
# Warnings of statsmodels, which has no classes for them: on fits that are repeated, and on variances near zero, which
# are checked here relative to the error variance.
HARMLESS = ("optimization", "boundary of the parameter space", "covariance is singular")


def fit_mixed(family: Family) -> tuple[Any, list[str]]:
    """Fit ``MixedLM`` by restricted maximum likelihood; return the fit and its warnings.

    value = mean of the embedding + data set + error. If cells hold several replicates, there are two more random terms:
    replicate within data set (if embeddings share replicates), and embedding within data set, without which every
    replicate would count as new evidence on the embeddings. The likelihood then has several local maxima: the fit with
    the highest likelihood is used, and among equal ones a fit that converged. Replicates that repeat one value (as
    those of methods without random numbers) count as one: without errors the likelihood has no maximum.
    """
    from statsmodels.regression.mixed_linear_model import MixedLM

    codes = {name: f"e{position:04d}" for position, name in enumerate(family.names)}
    rows = family.rows[family.rows["embedding"].isin(codes) & family.rows["dataset"].isin(family.cells.index)]
    frame = pd.DataFrame(
        {
            "value": rows["value"].to_numpy(dtype=np.float64),
            "embedding": [codes[name] for name in rows["embedding"]],
            "dataset": pd.factorize(rows["dataset"])[0],
            "replicate": [f"r{code}" for code in pd.factorize(rows["replicate"])[0]],
        }
    )
    cells = frame.groupby(["dataset", "embedding"])["value"]
    if (cells.max() - cells.min()).max() <= ROUNDING * frame["value"].abs().max():
        frame = cells.mean().reset_index()
    terms = {}
    if frame.groupby(["dataset", "embedding"]).size().max() > 1:
        terms["cell"] = "0 + C(embedding)"
        if frame.groupby(["dataset", "replicate"]).size().max() > 1:
            terms["replicate"] = "0 + C(replicate)"
    options = {"vc_formula": terms, "re_formula": "1"} if terms else {}
    model = MixedLM.from_formula("value ~ 0 + C(embedding)", groups="dataset", data=frame, **options)
    fits, errors = [], []
    for optimizers in (OPTIMIZERS, *(RESTART_OPTIMIZERS if terms else ())):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                fit = model.fit(reml=True, method=list(optimizers))
            except np.linalg.LinAlgError as error:
                errors.append(error)
                continue
        fits.append((fit, list(dict.fromkeys(" ".join(str(warning.message).split()) for warning in caught))))
    sound = [pair for pair in fits if np.isfinite(pair[0].llf) and _is_sound(mean_covariance(pair[0]))]
    fits = sound or fits[:1]
    if not fits:
        raise errors[0]
    highest = max(fit.llf for fit, _ in fits)
    best = [pair for pair in fits if not pair[0].llf < highest - SAME_MAXIMUM]
    return next((pair for pair in best if pair[0].converged), best[0])


def mean_covariance(fit: Any) -> FloatArray:
    """Return the covariance of the means of the embeddings."""
    k = len(fit.fe_params)
    return np.asarray(fit.cov_params())[:k, :k]


def _is_sound(covariance: FloatArray) -> bool:
    """Return whether the difference of any two means has a positive variance."""
    diagonal = np.diag(covariance)
    variances = (diagonal[:, None] + diagonal[None] - 2 * covariance)[np.triu_indices(len(diagonal), 1)]
    return bool(np.isfinite(variances).all() and (variances > 0).all())


def mixed_rows(family: Family, alpha: float) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the Wald test of equal means, and one row for each pair."""
    from scipy.special import chdtrc

    k = len(family.names)
    shared: dict[str, Any] = {"test": "mixed", "n": len(family.cells)}
    if family.rows.groupby("dataset")["value"].nunique().max() <= 1:
        return _no_fit(family, shared, note("ranks.equal"))
    try:
        fit, warned = fit_mixed(family)
        reason = None if fit.converged else note("mixed.unconverged")
        means, covariance = np.asarray(fit.fe_params), mean_covariance(fit)
    except np.linalg.LinAlgError as error:
        reason = note("mixed.refused", message=str(error))
    if reason is None and not _is_sound(covariance):
        reason = note("mixed.undefined")
    if reason is not None:
        return _no_fit(family, shared, reason)
    terms = dict(zip(fit.model.exog_vc.names, fit.vcomp, strict=True)) if len(fit.vcomp) else {}
    terms = {"dataset": float(np.asarray(fit.cov_re)[0, 0]), **terms}  # next to those of "cell" and "replicate"
    small = [note(f"variance.{name}") for name, variance in terms.items() if variance < MIN_VARIANCE_SHARE * fit.scale]
    harmless = (*HARMLESS, "Hessian") if small else HARMLESS  # at the boundary it has no inverse
    messages = [message.rstrip(".") for message in warned if not any(part in message for part in harmless)]
    shared["notes"] = (
        note("mixed.normal"),
        *small,
        *(note("mixed.statsmodels", message=message) for message in messages),
    )
    rows = [
        {**family.key, **shared, **_contrast(family, means, covariance, i, j, alpha)}
        for i, j in index_pairs(family.names)
    ]
    # the chi-square of the differences to the first mean, with k - 1 degrees of freedom
    contrasts = np.c_[-np.ones(k - 1), np.eye(k - 1)]
    differences = contrasts @ means
    value = float(differences @ np.linalg.solve(contrasts @ covariance @ contrasts.T, differences))
    p = float(chdtrc(k - 1, value))
    return {**shared, "k": k, "statistic": value, "df": k - 1, "p_value": p, "p_kind": "asymptotic"}, rows


def _no_fit(family: Family, shared: dict[str, Any], reason: Note) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the rows of a model that could not be fitted, with the reason only."""
    k = len(family.names)
    pairs = [(family.names[i], family.names[j]) for i, j in index_pairs(family.names)]
    shared = {**shared, "notes": (reason,)}
    rows = [{**family.key, **shared, "first": first, "second": second} for first, second in pairs]
    return {**shared, "k": k, "df": k - 1}, rows


def _contrast(
    family: Family, means: FloatArray, covariance: FloatArray, i: int, j: int, alpha: float
) -> dict[str, Any]:
    """Return the difference of two means with its normal interval and p-value."""
    from scipy.special import ndtr, ndtri

    advantage = float(means[i] - means[j]) * (1 if family.higher else -1)
    se = float(np.sqrt(covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]))
    half, z = float(ndtri(1 - alpha / 2)) * se, advantage / se
    first, second = family.names[i], family.names[j]
    return {
        "first": first, "second": second, "advantage": advantage, "se": se, "conf_low": advantage - half,
        "conf_high": advantage + half, "statistic": z, "p_value": float(2 * ndtr(-abs(z))), "p_kind": "asymptotic",
        "better": better_name(first, second, advantage),
    }  # fmt: skip


# From tables, results and files to families: a measure, its direction, a value for each data set and embedding.

KEYS = ("dataset", "embedding", "replicate", "measure", "parameters")
COLUMN_DEFAULTS: dict[str, Any] = {"replicate": 0, "measure": None, "parameters": "", "direction": ""}
TABLE_SUFFIXES = (".csv", ".tsv", ".gz", ".parquet")


@dataclass
class _DatasetRegistry:
    """Data sets and seeds registered so far, so that results of one data set become replicates of it."""

    names: dict[str, str] = field(default_factory=dict)  # name by the hash of the data
    runs: dict[tuple[str, Any, Any], int] = field(default_factory=dict)  # number by data set, seed and replicate
    notes: list[Note] = field(default_factory=list)
    metrics: set[str] = field(default_factory=set)  # metrics in the data; empty for a table without this entry
    named: set[str] = field(
        default_factory=set
    )  # embeddings that are compared even on data sets that they are equal to

    def without_data(self, table: pd.DataFrame, keys: list[str], reference: set[tuple[Any, ...]]) -> pd.DataFrame:
        """Return the rows without those of embeddings that are the data, identified by ``keys``; add a note for each.

        Keys begin with the data set and the embedding.
        """
        omitted = {key for key in reference if key[1] not in self.named}
        rows = np.array([key in omitted for key in table[keys].itertuples(index=False, name=None)], dtype=bool)
        for name, dataset in dict.fromkeys(
            table.loc[rows, ["embedding", "dataset"]].itertuples(index=False, name=None)
        ):
            self.notes.append(note("datasets.reference", name=name, dataset=dataset))
        return table[~rows]


def gather(
    results: Any, columns: Mapping[str, str] | None, named: Sequence[str] = ()
) -> tuple[pd.DataFrame, Notes, str]:
    """Return one row per data set, embedding, replicate, measure and parameters, the notes, and the metric.

    Rows have value and direction. The metric is empty if it is unknown or differs. An embedding that results and
    studies mark as equal to a data set has no rows on it, unless it is one of ``named``.
    """
    single = isinstance(results, Results | pd.DataFrame | str | os.PathLike)
    inputs = [results] if single else list(results) if isinstance(results, list | tuple) else None
    if not inputs:
        hint = "Pass a table with columns dataset, embedding and value, results, files, or a list of them."
        raise InputError("results", "must be tables or results", describe(results), hint)
    registry = _DatasetRegistry(named={*named})
    table = pd.concat([_rows_of(item, columns or {}, registry) for item in inputs], ignore_index=True)
    duplicates = table[table.duplicated(list(KEYS))]
    if len(duplicates):
        cell = ", ".join(
            f"{key} {str(value)!r}" for key, value in duplicates.iloc[0][list(KEYS)].items() if value != ""
        )
        hint = "Number re-runs of a method in a column `replicate`, and give each setting different `parameters`."
        raise InputError("results", "must have one value for each cell", f"two for {cell}", hint)
    return table, tuple(registry.notes), registry.metrics.pop() if len(registry.metrics) == 1 else ""


def _rows_of(source: Any, columns: Mapping[str, str], registry: _DatasetRegistry) -> pd.DataFrame:
    """Return the rows of one table, result or file."""
    metric = ""
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        if is_journal(path):
            with StudyFile(path) as file:
                source = file.table(split_components=True)
                metric = str(file.recipe.get("metric") or "")
                source = registry.without_data(source, list(CELL_KEYS), file.reference())
        elif path.suffix.lower() in TABLE_SUFFIXES:
            source = pd.DataFrame(read_table(path, "results").values)
        else:
            source = load_evaluation(path, "results")
    if isinstance(source, Results):
        return _of_results(source, registry)
    if isinstance(source, pd.DataFrame):
        registry.metrics.add(metric)
        return _of_frame(source, columns)
    hint = "Pass data frames, results, or names of files."
    raise InputError("results", "must be tables or results", describe(source), hint)


def _of_results(results: Results, registry: _DatasetRegistry) -> pd.DataFrame:
    """Return the rows of one evaluation; equal data hashes mean one data set, another seed is a replicate of it."""
    table = results.table[(results.table["test"] == "") & (results.table["measure"] != "")]
    label = str(results.recipe.get("dataset") or "data")
    sha = str(results.recipe.get("data_sha256", label))
    registry.metrics.add(str(results.recipe.get("metric") or ""))
    if sha not in registry.names:
        used = list(registry.names.values())
        number = next(i for i in range(1, len(used) + 2) if (f"{label} ({i})" if i > 1 else label) not in used)
        registry.names[sha] = label if number == 1 else f"{label} ({number})"
        if number > 1:
            registry.notes.append(note("datasets.renamed", name=label, called=registry.names[sha]))
    name, seed = registry.names[sha], results.recipe.get("random_state")
    runs = [
        registry.runs.setdefault((name, seed, r), sum(key[0] == name for key in registry.runs))
        for r in table["replicate"]
    ]
    table = table.assign(dataset=name, replicate=runs)[[*KEYS, "value", "direction"]]
    reference: set[tuple[Any, ...]] = {(name, embedding) for embedding in results.reference}
    return registry.without_data(table, ["dataset", "embedding"], reference).reset_index(drop=True)


def _of_frame(frame: pd.DataFrame, columns: Mapping[str, str]) -> pd.DataFrame:
    """Return the rows of a tidy table from elsewhere; ``columns`` maps standard names to its column names."""
    unknown = sorted(set(columns) - {*KEYS, "value", "direction"})
    if unknown:
        hint = f"Known: {', '.join([*KEYS, 'value', 'direction'])}."
        raise InputError("columns", "must have names of standard columns as keys", repr(unknown[0]), hint)
    if "test" in frame and "test" not in columns.values():
        frame = frame[frame["test"].isna() | (frame["test"] == "")]
    selected = {name: _column(frame, name, columns) for name in [*KEYS, "value", "direction"]}
    table = pd.DataFrame(selected, index=frame.index).reset_index(drop=True)
    table["value"] = _numbers(table["value"])
    for name in ("dataset", "embedding"):
        if table[name].isna().any():
            row = int(np.flatnonzero(table[name].isna())[0])
            raise InputError("results", f"must name the {name} of each row", f"none in row {row}", "Fill it in.")
    for name in ("dataset", "embedding", "measure", "parameters", "direction"):
        table[name] = table[name].astype("object").where(table[name].notna(), "").map(str)
    table["replicate"] = table["replicate"].where(table["replicate"].notna(), 0)
    return table


def _column(frame: pd.DataFrame, name: str, columns: Mapping[str, str]) -> Any:
    """Return one column by its standard name, or the default of a missing column."""
    column = columns.get(name, name)
    if list(frame.columns).count(column) == 1:
        return frame[column]
    if name in COLUMN_DEFAULTS and name not in columns and column not in frame.columns:
        return columns.get("value", "value") if name == "measure" else COLUMN_DEFAULTS[name]
    received = f"columns {', '.join(map(str, frame.columns[:10]))}"
    hint = "Pass {columns} for another name; first reshape a wide table to one row per value."
    if not columns and not {"dataset", "embedding", "value"} & {*map(str, frame.columns)}:
        hint += " Evaluate coordinates first, then compare the files of `Results.save` (dreval evaluate --save)."
    raise InputError(
        "results", f"must have one column {column!r}", received, hint, columns=Hint("columns", {name: "..."})
    )


def _numbers(values: pd.Series) -> pd.Series:
    """Return values as numbers; a missing value is a missing cell, an infinite value raises."""
    try:
        numbers = pd.Series(np.asarray(check_numeric(values.to_numpy(), "value"), dtype=np.float64), index=values.index)
    except InputError as error:
        hint = "Convert the column to numbers, or name another column by {columns}."
        columns = Hint("columns", {"value": "..."})
        raise InputError("value", error.requirement, describe(values.iloc[0]), hint, columns=columns) from error
    if np.isinf(numbers).any():
        row = int(np.flatnonzero(np.isinf(numbers))[0])
        hint = "Leave a cell without a value empty."
        raise InputError("value", "must be finite or missing", f"infinity in row {row}", hint)
    return numbers


DIRECTIONS = ("higher", "lower")


def families(
    table: pd.DataFrame, measure: Any, direction: Any, names: Any = None, baseline: str | None = None
) -> list[Family]:
    """Return one family for each measure and setting that can be compared; raise if there is none.

    ``names``: the embeddings, all by default. A ``baseline`` comes last, so that it is the second of its pairs.
    """
    available = list(dict.fromkeys(table["embedding"]))
    requested = list(dict.fromkeys(requested_names(names, available, "names")))
    if baseline is not None:
        METHODS.check_run(baseline, requested, "baseline")
        order = {name: name == baseline for name in requested}
        table = table.iloc[np.argsort([order.get(name, False) for name in table["embedding"]], kind="stable")]
    table = table[table["embedding"].isin(requested)]
    if measure is None and direction is None:  # measures without a better direction are compared on request only
        table = table[~table["direction"].isin(["none", "zero"])]
    table = of_measures(table, measure)
    higher = _directions(table, direction)
    results, reasons = [], []
    for (name, parameters), rows in table.groupby(["measure", "parameters"], sort=False):
        family = _family(str(name), str(parameters), higher[str(name)], rows)
        if isinstance(family, Family):
            results.append(family)
        else:
            reasons.append(family.with_scope(full_name(str(name), str(parameters))))
    if not results:
        hint = "On one data set, `results.compare()` compares embeddings by their points."
        raise InputError("results", "must hold two embeddings on two data sets", join_notes(reasons), hint)
    return results


def of_measures(table: pd.DataFrame, requested: Any) -> pd.DataFrame:
    """Return the rows of the requested measures, each by its name alone or with its parameters; all by default."""
    full = pd.Series([full_name(*key) for key in zip(table["measure"], table["parameters"], strict=True)], table.index)
    available = list(dict.fromkeys(table["measure"]))
    names = requested_names(requested, available, "measure", also=list(dict.fromkeys(full)))
    return table[table["measure"].isin(names) | full.isin(names)]


def requested_names(requested: Any, available: list[str], argument: str, also: Sequence[str] = ()) -> list[str]:
    """Return the requested names, each in ``known`` or in ``also``; all known names by default."""
    if requested is None:
        return available
    names = check_names(requested, argument, names_hint(requested, available))
    for name in names:
        if name not in also:
            (METHODS if argument == "names" else MEASURES).check_run(name, available, argument)
    return [name for name in dict.fromkeys([*available, *also]) if name in names]


_RESULTS = (Results, pd.DataFrame, Comparison, Mapping)  # types that are treated as a second result, alone or in a list


def names_hint(value: Any, available: Sequence[str]) -> str:
    """Return the hint for a value that is not a name; for a second result it says how to compare two."""
    hint = f"Known: {', '.join(available)}." if available else "Pass a list of text."
    parts = value if isinstance(value, list | tuple | set) else [value]
    if any(isinstance(part, _RESULTS) or hasattr(part, "with_embedding") for part in parts):
        hint = (
            "Put all embeddings of one data set into one Evaluation and compare its result; results on several data "
            f"sets are compared as a list, dreval.compare([first, second]). {hint}"
        )
    return hint


def _directions(table: pd.DataFrame, direction: Any) -> dict[str, bool]:
    """Return whether high is good, for each measure: from the argument, else the table, else the card."""
    names = list(dict.fromkeys(table["measure"]))
    requested = dict(direction) if isinstance(direction, Mapping) else dict.fromkeys(names, direction)
    for name in requested:
        if name not in names:
            hint = did_you_mean(name, names) + f"Known: {', '.join(names)}."
            raise UnknownName("direction", "must name measures of the table", repr(name), hint)
    return {
        name: _direction(name, requested.get(name), table.loc[table["measure"] == name, "direction"]) for name in names
    }


def _direction(name: str, requested: Any, column: pd.Series) -> bool:
    """Return whether high values of one measure are good."""
    if requested is not None:
        return check_one_of(requested, DIRECTIONS, "direction", aliases=True) == "higher"
    values = sorted(set(column) - {""})
    if not values and name in MEASURES:
        values = [MEASURES.card(name).direction]
    if len(values) == 1 and values[0] in DIRECTIONS:
        return bool(values[0] == "higher")
    received = f"{', '.join(map(repr, values)) or 'nothing'} for {name!r}"
    raise InputError(
        "direction",
        "must be known for every measure, and one of 'higher' and 'lower'",
        received,
        "Pass {all}, or {each}.",
        all=Hint("direction", "higher"),
        each=Hint("direction", {name: "lower"}),
    )


def _family(measure: str, parameters: str, higher: bool, rows: pd.DataFrame) -> Family | Note:
    """Return the family of the rows, or a note with the reason why there is none."""
    rows = rows[["dataset", "embedding", "replicate", "value"]].reset_index(drop=True)
    present = rows.dropna(subset="value")
    cells = present.groupby(["dataset", "embedding"], sort=False)["value"].mean().unstack()
    cells = cells.reindex(index=rows["dataset"].unique(), columns=rows["embedding"].unique()).astype("float64")
    used = cells.loc[cells.notna().any(axis=1), cells.notna().any(axis=0)]
    shared = int((used.notna().sum(axis=1) > 1).sum())
    if shared < 2:
        return note("datasets.few", embeddings=used.shape[1], shared=shared)
    notes = []
    for code, missing in (
        ("no_embedding", cells.columns.difference(used.columns, sort=False)),
        ("no_dataset", cells.index.difference(used.index, sort=False)),
    ):
        notes += [note(f"datasets.{code}", names=[str(name) for name in missing])] if len(missing) else []
    if rows.groupby(["dataset", "embedding"]).size().max() > 1:
        notes.append(note("datasets.replicates"))
    n_datasets, n_complete = len(used), int(used.notna().all(axis=1).sum())
    notes += [note("datasets.partly", whole=n_complete, n=n_datasets)] if n_complete < n_datasets else []
    return Family(measure, parameters, higher, used, present.reset_index(drop=True), tuple(notes))
