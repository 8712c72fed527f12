"""Compare embeddings pair by pair and all at once: paired differences, mean ranks, and the tables of both.

The statistics here take arrays of paired values; ``compare`` decides which values belong together.
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
from dreval.journal.study import KEYS as CELL_KEYS
from dreval.journal.study import StudyFile
from dreval.records.archive import load_evaluation
from dreval.records.base import is_journal
from dreval.records.comparison import Comparison, Family, to_digits
from dreval.records.frames import full_name
from dreval.records.notes import Note, Notes, joined, note
from dreval.records.results import Results
from dreval.registry import MEASURES, METHODS

# Ranks over data sets: tests of any difference, exact distributions, and letters for pairs that do not differ.

EXACT_UP_TO = 200_000  # sums of ranks that one data set may add
PERMUTATION_DRAWS = 9_999
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


def skillings_mack_p(
    goodness: FloatArray, rng: np.random.Generator, draws: int = PERMUTATION_DRAWS
) -> tuple[float, bool]:
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
        kind, how = (
            ("exact", note("ranks.counted"))
            if counted
            else ("permutation", note("ranks.drawn", draws=PERMUTATION_DRAWS))
        )
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
    for at in range(0, PERMUTATION_DRAWS, step):
        drawn = np.broadcast_to(doubled, (min(step, PERMUTATION_DRAWS - at), *doubled.shape))
        beyond += int(((rng.permuted(drawn, axis=2).sum(axis=1) ** 2).sum(axis=1) >= reached).sum())
    return (beyond + 1) / (PERMUTATION_DRAWS + 1)


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


# All pairs of embeddings over data sets: Nemenyi, signed ranks, the Bayesian signed-rank test, the mixed model.

EXACT_SUMS = 50  # data sets up to which sums of signed ranks are counted, as scipy does
PAIR_TEXT = ("measure", "parameters", "first", "second", "test", "family", "p_kind", "equivalence", "better", "note")


def pair_frame(rows: list[dict[str, Any]], alpha: float, family: str | None = None) -> pd.DataFrame:
    """Rows of pairs as a table with the closed list of columns; p-values are of one family, or of one for each test."""
    table = pd.DataFrame(_written(rows), columns=list(PAIR_COLUMNS))
    for name in PAIR_COLUMNS:
        if name in PAIR_TEXT:
            table[name] = table[name].astype("object").where(table[name].notna(), "")
        else:
            table[name] = pd.to_numeric(table[name]).astype("float64")
    table["conf_level"] = np.where(table["conf_low"].notna(), 1 - alpha, np.nan)
    families = table["test"] if family is None else pd.Series(family, table.index)
    table["family"] = families.where(table["p_value"].notna(), "")
    return table.astype({"n": "int64"})


def overall_frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Rows of overall tests as a table with the closed list of columns."""
    table = pd.DataFrame(_written(rows), columns=list(OVERALL_COLUMNS))
    text = ["p_kind", "note"]
    table[text] = table[text].astype("object").where(table[text].notna(), "")
    return table


def _written(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows with the text of their notes."""
    return [{**row, "note": joined(row.get("notes", ()))} for row in rows]


def pairs_of(names: list[str]) -> Iterator[tuple[int, int]]:
    """All pairs of places, in order."""
    return itertools.combinations(range(len(names)), 2)


def compared_pairs(names: Sequence[str], baseline: str | None = None) -> list[tuple[str, str]]:
    """All pairs in order; with a baseline every other name against it.

    Examples
    --------
    >>> compared_pairs(["a", "b", "c"]), compared_pairs(["a", "b", "c"], "b")
    ([('a', 'b'), ('a', 'c'), ('b', 'c')], [('a', 'b'), ('c', 'b')])
    """
    if baseline is None:
        return list(itertools.combinations(names, 2))
    return [(name, baseline) for name in names if name != baseline]


def ahead(first: str, second: str, advantage: float) -> str:
    """Whom an advantage favors."""
    return first if advantage > 0 else second if advantage < 0 else ""


def only_found(table: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """Pairs with ``better`` where the test finds a difference: p, adjusted if it is, or a posterior probability."""
    p = table["p_adjusted"].where(table["p_adjusted"].notna(), table["p_value"])
    found = (p <= alpha) | (table[["p_first", "p_second"]].max(axis=1) > 1 - alpha)
    return table.assign(better=table["better"].where(found, ""))


def superiority(differences: FloatArray) -> float:
    """Share of positive differences, zeros counted half."""
    return float(np.mean(np.heaviside(differences, 0.5)))


def nemenyi_rows(family: Family, alpha: float) -> list[dict[str, Any]]:
    """One row for each pair, over the data sets that have all embeddings; nothing with fewer than two of them.

    The intervals reach as far as the critical difference, and hold for all pairs of the measure at once.
    """
    whole = family.goodness[np.isfinite(family.goodness).all(axis=1)]
    if len(whole) < 2 or len(family.names) < 3:
        return []
    means = block_ranks(whole).mean(axis=0)
    p, reach = nemenyi(means, len(whole)), critical_difference(len(whole), len(means), alpha)
    k, rows = len(means), []
    for i, j in pairs_of(family.names):
        first, second, advantage = family.names[i], family.names[j], float(means[j] - means[i])
        statistic = advantage / math.sqrt(k * (k + 1) / (6 * len(whole)))
        rows.append(
            {
                **family.key, "first": first, "second": second, "test": "nemenyi", "n": len(whole),
                "advantage": advantage, "statistic": statistic, "p_value": float(p[i, j]), "p_kind": "asymptotic",
                "conf_low": advantage - reach, "conf_high": advantage + reach,
                "better": ahead(first, second, advantage),
            }
        )  # fmt: skip
    return rows


def signed_rank_rows(family: Family, rope: float | None, alpha: float, root: int) -> list[dict[str, Any]]:
    """Wilcoxon's test of each pair over the data sets that have both, and with ``rope`` the Bayesian one."""
    goodness, rows = family.goodness, []
    for i, j in pairs_of(family.names):
        first, second = family.names[i], family.names[j]
        differences = to_digits(goodness[:, [i]] - goodness[:, [j]], family.scale)[:, 0]
        differences = differences[np.isfinite(differences)]
        shared = {**family.key, "first": first, "second": second, "n": len(differences)}
        if not len(differences):
            rows.append({**shared, "test": "wilcoxon", "notes": (note("signed_ranks.none"),)})
            continue
        shared["superiority"] = superiority(differences)
        tested = _wilcoxon(differences, alpha)
        rows.append({**shared, "test": "wilcoxon", **tested, "better": ahead(first, second, tested["effect_size"])})
        if rope is not None:
            rng = stream(root, "bayes", family.measure, family.parameters, first, second)
            better, equal, worse = bayesian_signed_rank(differences, rope, rng)
            typical = float(np.median(walsh_averages(differences)))
            posterior = {"advantage": typical, "p_first": better, "p_rope": equal, "p_second": worse}
            rows.append({**shared, "test": "bayes", **posterior, "better": ahead(first, second, better - worse)})
    return rows


def walsh_averages(differences: FloatArray) -> FloatArray:
    """The averages (d_i + d_j) / 2, i <= j, in ascending order; their median is the Hodges-Lehmann estimate.

    Examples
    --------
    >>> walsh_averages(np.array([0.0, 1.0, 4.0]))
    array([0. , 0.5, 1. , 2. , 2.5, 4. ])
    """
    rows, columns = np.triu_indices(len(differences))
    return np.sort((differences[rows] + differences[columns]) / 2)


def walsh_interval(differences: FloatArray, alpha: float) -> tuple[float, float]:
    """The interval of the signed-rank test: the Walsh averages at ranks c and M + 1 - c of M.

    c is the largest with 2 P(T <= c - 1) <= alpha, T the sum of signed ranks of n differences; NaN where there is
    none, since 2 / 2^n > alpha. Hollander, Wolfe and Chicken (2014), Nonparametric Statistical Methods, section 3.3.

    Examples
    --------
    >>> walsh_interval(np.array([1.0, 2, 3, 4, 5, 6]), 0.05)
    (1.0, 6.0)
    """
    from scipy.special import ndtri

    n = len(differences)
    if n <= EXACT_SUMS:
        c = int(np.searchsorted(_two_sided(np.arange(1, n + 1)), alpha * (1 + 1e-12), side="right"))
    else:
        c = int(n * (n + 1) / 4 + ndtri(alpha / 2) * math.sqrt(n * (n + 1) * (2 * n + 1) / 24))
    if c == 0:
        return math.nan, math.nan
    averages = walsh_averages(differences)
    return float(averages[c - 1]), float(averages[-c])


def _two_sided(ranks: IntArray) -> FloatArray:
    """2 P(T <= t) for t = 0, 1, ..., with T the sum of the ranks that a fair coin picks."""
    counts = np.ones(1)
    for rank in ranks:
        counts = np.concatenate([counts, np.zeros(rank)]) + np.concatenate([np.zeros(rank), counts])
    return np.asarray(np.cumsum(counts) / 2.0 ** (len(ranks) - 1))


def _wilcoxon(differences: FloatArray, alpha: float) -> dict[str, Any]:
    """Statistic, p, rank-biserial correlation (Kerby 2014), estimate and interval of the signed ranks.

    Differences of zero are dropped from all of them. p is exact up to 50 others, given the ties among their sizes.
    """
    from scipy.stats import rankdata, wilcoxon

    kept = differences[differences != 0]
    if not len(kept):
        shown = {"statistic": 0.0, "p_value": 1.0, "p_kind": "exact", "effect_size": 0.0, "advantage": 0.0, "n_used": 0}
        ends = dict(zip(("conf_low", "conf_high"), walsh_interval(differences, alpha), strict=True))
        return {**shown, **ends, "notes": (note("signed_ranks.equal"),)}
    ranks, n = rankdata(np.abs(kept)), len(kept)
    exact, tied = n <= EXACT_SUMS, len(np.unique(ranks)) < n
    found = wilcoxon(kept, method="exact" if exact and not tied else "asymptotic")
    statistic, p = float(found.statistic), float(found.pvalue)
    if exact and tied:
        p = min(1.0, float(_two_sided((2 * ranks).astype(np.int64))[round(2 * statistic)]))
    low, high = walsh_interval(kept, alpha)
    ties = (note("signed_ranks.ties"),) if n < len(differences) else ()
    return {
        **({"n_used": n} if ties else {}), "advantage": float(np.median(walsh_averages(kept))), "conf_low": low,
        "conf_high": high, "statistic": statistic, "p_value": p, "p_kind": "exact" if exact else "asymptotic",
        "effect_size": float(np.sum(np.sign(kept) * ranks) / ranks.sum()), "notes": ties,
    }  # fmt: skip


def letters_of(order: list[str], rows: pd.DataFrame, alpha: float) -> dict[str, str]:
    """Letters of embeddings, given from the best, by the adjusted p-values of one test; none where a pair has none."""
    rows = rows[rows["first"].isin(order) & rows["second"].isin(order)]
    p = rows["p_adjusted"].where(rows["p_adjusted"].notna(), rows["p_value"])
    if p.isna().any() or len(p) != len(order) * (len(order) - 1) // 2:
        return {}
    place = {name: i for i, name in enumerate(order)}
    differing = [
        (place[first], place[second])
        for first, second, value in zip(rows["first"], rows["second"], p, strict=True)
        if value <= alpha
    ]
    return dict(zip(order, letter_display(len(order), differing), strict=True))


POSTERIOR_DRAWS = 50_000
PRIOR = 0.5  # weight of the pseudo-observation at zero


def bayesian_signed_rank(advantage: FloatArray, rope: float, rng: np.random.Generator) -> tuple[float, float, float]:
    """Probabilities that the first is practically better, that both are equivalent, that the second is better.

    ``advantage`` (N,) holds the differences over data sets, ``rope`` the one below which none counts, in the same unit
    (one of exactly ``rope`` counts half, as in baycomp). The differences have a Dirichlet-process prior with a
    pseudo-observation at zero of weight 0.5; of 50,000 posterior draws each is given to the region that holds most of
    its pairwise means (shared where two hold the same).
    Benavoli, Corani, Demsar and Zaffalon (2017), J. Mach. Learn. Res. 18(77), section 4.2. O(draws N^2).

    Examples
    --------
    >>> bayesian_signed_rank(np.full(6, 0.001), 0.01, np.random.default_rng(0))
    (0.0, 1.0, 0.0)
    """
    weights = rng.dirichlet([PRIOR, *np.ones(len(advantage))], POSTERIOR_DRAWS)
    shares = region_shares(advantage, rope, weights)
    most = shares == shares.max(axis=1, keepdims=True)
    first, between, second = (most / most.sum(axis=1, keepdims=True)).mean(axis=0)
    return float(first), float(between), float(second)


def region_shares(advantage: FloatArray, rope: float, weights: FloatArray) -> FloatArray:
    """Weight of the pairwise means above, within and below the region, (m, 3), for draws of weights (m, N + 1).

    The first weight is that of the pseudo-observation; a mean on the edge of the region counts half to each side.
    """
    z = np.concatenate([[0.0], advantage])
    sums = z[:, None] + z[None]
    above, below = (np.einsum("si,si->s", weights @ _side(side * sums, 2 * rope), weights) for side in (1.0, -1.0))
    within = np.maximum(1.0 - above - below, 0.0) if rope > 0 else np.zeros(len(weights))
    return np.stack([above, within, below], axis=1)


def _side(sums: FloatArray, edge: float) -> FloatArray:
    """1 beyond the edge, 0.5 on it up to rounding, else 0."""
    beyond = sums - edge
    beyond[np.abs(beyond) <= 1e-12 * max(edge, float(np.abs(sums).max()))] = 0.0
    return np.heaviside(beyond, 0.5)


# Tried in this order until one converges; the last one needs no gradient: variances of zero lie on the boundary.
OPTIMIZERS = ("bfgs", "lbfgs", "powell")
# With several variances they stop at a lower maximum of the likelihood in one of four data sets: these begin afresh.
MORE_OPTIMIZERS = (("nm",), ("powell",))
ROUNDING = 1e-12  # of the largest value
SAME_MAXIMUM = 1e-4  # in units of the log-likelihood
NOTHING = 1e-4  # share of the variance of the errors
# Warnings of statsmodels, which has no classes for them: what is tried again, and variances near zero, which are judged
# in absolute units there, in those of the errors here.
HARMLESS = ("optimization", "boundary of the parameter space", "covariance is singular")


def fit_mixed(family: Family) -> tuple[Any, list[str]]:
    """The fitted ``MixedLM``, by restricted maximum likelihood, and the warnings of its fit.

    value = mean of the embedding + data set + error. Where cells hold several replicates, two more random terms:
    replicate within data set (when embeddings share replicates), and embedding within data set, without which every
    replicate would count as new evidence on the embeddings. The likelihood then has several local maxima: the highest
    that was found counts, and of equal ones one that converged. Replicates that repeat one value (as those of methods
    without random numbers) are one: there would be no error, and the likelihood no maximum.
    """
    from statsmodels.regression.mixed_linear_model import MixedLM

    codes = {name: f"e{place:04d}" for place, name in enumerate(family.names)}
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
    more = {"vc_formula": terms, "re_formula": "1"} if terms else {}
    model = MixedLM.from_formula("value ~ 0 + C(embedding)", groups="dataset", data=frame, **more)
    found, refusals = [], []
    for optimizers in (OPTIMIZERS, *(MORE_OPTIMIZERS if terms else ())):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                fit = model.fit(reml=True, method=list(optimizers))
            except np.linalg.LinAlgError as error:
                refusals.append(error)
                continue
        found.append((fit, list(dict.fromkeys(" ".join(str(one.message).split()) for one in caught))))
    found = [one for one in found if np.isfinite(one[0].llf) and _is_sound(mean_covariance(one[0]))] or found[:1]
    if not found:
        raise refusals[0]
    highest = max(fit.llf for fit, _ in found)
    best = [one for one in found if not one[0].llf < highest - SAME_MAXIMUM]
    return next((one for one in best if one[0].converged), best[0])


def mean_covariance(fit: Any) -> FloatArray:
    """The covariance of the means of the embeddings."""
    k = len(fit.fe_params)
    return np.asarray(fit.cov_params())[:k, :k]


def _is_sound(covariance: FloatArray) -> bool:
    """Whether the difference of any two means has a positive variance."""
    own = np.diag(covariance)
    variances = (own[:, None] + own[None] - 2 * covariance)[np.triu_indices(len(own), 1)]
    return bool(np.isfinite(variances).all() and (variances > 0).all())


def mixed_rows(family: Family, alpha: float) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The Wald test of equal means, and one row for each pair."""
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
    terms = {"dataset": float(np.asarray(fit.cov_re)[0, 0]), **terms}  # beside those of "cell" and "replicate"
    none = [note(f"variance.{name}") for name, variance in terms.items() if variance < NOTHING * fit.scale]
    known = (*HARMLESS, "Hessian") if none else HARMLESS  # at the boundary it has no inverse
    messages = [one.rstrip(".") for one in warned if not any(word in one for word in known)]
    shared["notes"] = (note("mixed.normal"), *none, *(note("mixed.statsmodels", message=one) for one in messages))
    rows = [
        {**family.key, **shared, **_contrast(family, means, covariance, i, j, alpha)} for i, j in pairs_of(family.names)
    ]
    # the chi-square of the differences to the first mean, with k - 1 degrees of freedom
    C = np.c_[-np.ones(k - 1), np.eye(k - 1)]
    b = C @ means
    value = float(b @ np.linalg.solve(C @ covariance @ C.T, b))
    p = float(chdtrc(k - 1, value))
    return {**shared, "k": k, "statistic": value, "df": k - 1, "p_value": p, "p_kind": "asymptotic"}, rows


def _no_fit(family: Family, shared: dict[str, Any], reason: Note) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The rows of a model that could not be fitted, with the reason alone."""
    k = len(family.names)
    pairs = [(family.names[i], family.names[j]) for i, j in pairs_of(family.names)]
    shared = {**shared, "notes": (reason,)}
    empty = [{**family.key, **shared, "first": first, "second": second} for first, second in pairs]
    return {**shared, "k": k, "df": k - 1}, empty


def _contrast(
    family: Family, means: FloatArray, covariance: FloatArray, i: int, j: int, alpha: float
) -> dict[str, Any]:
    """Difference of two means with its normal interval and p-value."""
    from scipy.special import ndtr, ndtri

    advantage = float(means[i] - means[j]) * (1 if family.higher else -1)
    se = float(np.sqrt(covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]))
    half, z = float(ndtri(1 - alpha / 2)) * se, advantage / se
    first, second = family.names[i], family.names[j]
    return {
        "first": first, "second": second, "advantage": advantage, "se": se, "conf_low": advantage - half,
        "conf_high": advantage + half, "statistic": z, "p_value": float(2 * ndtr(-abs(z))), "p_kind": "asymptotic",
        "better": ahead(first, second, advantage),
    }  # fmt: skip


# From tables, results and files to families: a measure, its direction, a value for each data set and embedding.

KEYS = ("dataset", "embedding", "replicate", "measure", "parameters")
DEFAULTS: dict[str, Any] = {"replicate": 0, "measure": None, "parameters": "", "direction": ""}
TABLES = (".csv", ".tsv", ".gz", ".parquet")


@dataclass
class _Known:
    """Data sets and seeds seen so far, so that results of one data set become replicates of it."""

    names: dict[str, str] = field(default_factory=dict)  # name by the hash of the data
    runs: dict[tuple[str, Any, Any], int] = field(default_factory=dict)  # number by data set, seed and replicate
    notes: list[Note] = field(default_factory=list)
    metrics: set[str] = field(default_factory=set)  # in the data; empty of a table that does not say
    named: set[str] = field(default_factory=set)  # embeddings that are compared also where they are the data

    def without_data(self, table: pd.DataFrame, keys: list[str], reference: set[tuple[Any, ...]]) -> pd.DataFrame:
        """Return the rows but those of embeddings that are the data, given by ``keys``; a note says which are left out.

        Keys begin with the data set and the embedding.
        """
        left = {key for key in reference if key[1] not in self.named}
        rows = np.array([key in left for key in table[keys].itertuples(index=False, name=None)], dtype=bool)
        for name, dataset in dict.fromkeys(
            table.loc[rows, ["embedding", "dataset"]].itertuples(index=False, name=None)
        ):
            self.notes.append(note("datasets.reference", name=name, dataset=dataset))
        return table[~rows]


def gather(
    results: Any, columns: Mapping[str, str] | None, named: Sequence[str] = ()
) -> tuple[pd.DataFrame, Notes, str]:
    """One row per data set, embedding, replicate, measure and parameters, with value and direction; and notes.

    And the metric in the data, empty where it is not known or not the same for all. An embedding has no rows on a data
    set that it is equal to, as results and studies know it, unless it is one of those ``named``.
    """
    single = isinstance(results, Results | pd.DataFrame | str | os.PathLike)
    given = [results] if single else list(results) if isinstance(results, list | tuple) else None
    if not given:
        cure = "Pass a table with columns dataset, embedding and value, results, files, or a list of them."
        raise InputError("results", "must be tables or results", describe(results), cure)
    known = _Known(named={*named})
    table = pd.concat([_part(one, columns or {}, known) for one in given], ignore_index=True)
    twice = table[table.duplicated(list(KEYS))]
    if len(twice):
        first = ", ".join(f"{key} {str(value)!r}" for key, value in twice.iloc[0][list(KEYS)].items() if value != "")
        cure = "Number re-runs of a method in a column `replicate`, and give each setting its own `parameters`."
        raise InputError("results", "must have one value for each cell", f"two for {first}", cure)
    return table, tuple(known.notes), known.metrics.pop() if len(known.metrics) == 1 else ""


def _part(one: Any, columns: Mapping[str, str], known: _Known) -> pd.DataFrame:
    """The rows of one table, result or file."""
    metric = ""
    if isinstance(one, str | os.PathLike):
        path = Path(one)
        if is_journal(path):
            with StudyFile(path) as file:
                one = file.table(split_components=True)
                metric = str(file.recipe.get("metric") or "")
                one = known.without_data(one, list(CELL_KEYS), file.reference())
        elif path.suffix.lower() in TABLES:
            one = pd.DataFrame(read_table(path, "results").values)
        else:
            one = load_evaluation(path, "results")
    if isinstance(one, Results):
        return _of_results(one, known)
    if isinstance(one, pd.DataFrame):
        known.metrics.add(metric)
        return _of_frame(one, columns)
    cure = "Pass data frames, results, or names of files."
    raise InputError("results", "must be tables or results", describe(one), cure)


def _of_results(results: Results, known: _Known) -> pd.DataFrame:
    """The rows of one evaluation; data with the same hash are one data set, another seed is a replicate of it."""
    table = results.table[(results.table["test"] == "") & (results.table["measure"] != "")]
    said = str(results.recipe.get("dataset") or "data")
    sha = str(results.recipe.get("data_sha256", said))
    known.metrics.add(str(results.recipe.get("metric") or ""))
    if sha not in known.names:
        taken = list(known.names.values())
        number = next(i for i in range(1, len(taken) + 2) if (f"{said} ({i})" if i > 1 else said) not in taken)
        known.names[sha] = said if number == 1 else f"{said} ({number})"
        if number > 1:
            known.notes.append(note("datasets.renamed", name=said, called=known.names[sha]))
    name, seed = known.names[sha], results.recipe.get("random_state")
    runs = [known.runs.setdefault((name, seed, r), sum(k[0] == name for k in known.runs)) for r in table["replicate"]]
    table = table.assign(dataset=name, replicate=runs)[[*KEYS, "value", "direction"]]
    reference: set[tuple[Any, ...]] = {(name, one) for one in results.reference}
    return known.without_data(table, ["dataset", "embedding"], reference).reset_index(drop=True)


def _of_frame(frame: pd.DataFrame, columns: Mapping[str, str]) -> pd.DataFrame:
    """The rows of a tidy table made elsewhere; ``columns`` says what its columns are called."""
    wrong = sorted(set(columns) - {*KEYS, "value", "direction"})
    if wrong:
        cure = f"Known: {', '.join([*KEYS, 'value', 'direction'])}."
        raise InputError("columns", "must rename known columns", repr(wrong[0]), cure)
    if "test" in frame and "test" not in columns.values():
        frame = frame[frame["test"].isna() | (frame["test"] == "")]
    made = {name: _column(frame, name, columns) for name in [*KEYS, "value", "direction"]}
    table = pd.DataFrame(made, index=frame.index).reset_index(drop=True)
    table["value"] = _numbers(table["value"])
    for name in ("dataset", "embedding"):
        if table[name].isna().any():
            place = int(np.flatnonzero(table[name].isna())[0])
            raise InputError("results", f"must name the {name} of each row", f"none in row {place}", "Fill it in.")
    for name in ("dataset", "embedding", "measure", "parameters", "direction"):
        table[name] = table[name].astype("object").where(table[name].notna(), "").map(str)
    table["replicate"] = table["replicate"].where(table["replicate"].notna(), 0)
    return table


def _column(frame: pd.DataFrame, name: str, columns: Mapping[str, str]) -> Any:
    """One column by the name it has here, or what stands for one that is not there."""
    called = columns.get(name, name)
    if list(frame.columns).count(called) == 1:
        return frame[called]
    if name in DEFAULTS and name not in columns and called not in frame.columns:
        return columns.get("value", "value") if name == "measure" else DEFAULTS[name]
    got = f"columns {', '.join(map(str, frame.columns[:10]))}"
    cure = "Say {columns} for another name; a wide table is made long (one row per value) first."
    if not columns and not {"dataset", "embedding", "value"} & {*map(str, frame.columns)}:
        cure += (
            " Coordinates are evaluated first, and what `Results.save` (or dreval evaluate --save) wrote is compared."
        )
    raise InputError("results", f"must have one column {called!r}", got, cure, columns=Hint("columns", {name: "..."}))


def _numbers(values: pd.Series) -> pd.Series:
    """Values as numbers; a missing one is a missing cell, an infinite one is refused."""
    try:
        numbers = pd.Series(np.asarray(check_numeric(values.to_numpy(), "value"), dtype=np.float64), index=values.index)
    except InputError as error:
        cure = "Convert the column to numbers, or name another one by {columns}."
        columns = Hint("columns", {"value": "..."})
        raise InputError("value", error.requirement, describe(values.iloc[0]), cure, columns=columns) from error
    if np.isinf(numbers).any():
        place = int(np.flatnonzero(np.isinf(numbers))[0])
        cure = "Leave the cell empty where there is no value."
        raise InputError("value", "must be finite or missing", f"infinity in row {place}", cure)
    return numbers


DIRECTIONS = ("higher", "lower")


def families(
    table: pd.DataFrame, measure: Any, direction: Any, names: Any = None, baseline: str | None = None
) -> list[Family]:
    """One family for each measure and setting that can be compared; refused when there is none.

    ``names``: the embeddings, all by default. A ``baseline`` comes last, so that it is the second of its pairs.
    """
    known = list(dict.fromkeys(table["embedding"]))
    wanted = list(dict.fromkeys(wanted_names(names, known, "names")))
    if baseline is not None:
        METHODS.check_run(baseline, wanted, "baseline")
        order = {name: name == baseline for name in wanted}
        table = table.iloc[np.argsort([order.get(name, False) for name in table["embedding"]], kind="stable")]
    table = table[table["embedding"].isin(wanted)]
    if measure is None and direction is None:  # what only describes has no better end, and is compared on request
        table = table[~table["direction"].isin(["none", "zero"])]
    table = of_measures(table, measure)
    higher = _directions(table, direction)
    made, reasons = [], []
    for (name, parameters), rows in table.groupby(["measure", "parameters"], sort=False):
        found = _family(str(name), str(parameters), higher[str(name)], rows)
        if isinstance(found, Family):
            made.append(found)
        else:
            reasons.append(found.within(full_name(str(name), str(parameters))))
    if not made:
        cure = "On one data set, `results.compare()` compares embeddings by their points."
        raise InputError("results", "must hold two embeddings on two data sets", joined(reasons), cure)
    return made


def of_measures(table: pd.DataFrame, wanted: Any) -> pd.DataFrame:
    """The rows of the measures that are asked for, each by its name alone or with its parameters; all by default."""
    full = pd.Series([full_name(*one) for one in zip(table["measure"], table["parameters"], strict=True)], table.index)
    known = list(dict.fromkeys(table["measure"]))
    names = wanted_names(wanted, known, "measure", also=list(dict.fromkeys(full)))
    return table[table["measure"].isin(names) | full.isin(names)]


def wanted_names(wanted: Any, known: list[str], argument: str, also: Sequence[str] = ()) -> list[str]:
    """The names that are asked for, each known, or one of ``also``; all known ones by default."""
    if wanted is None:
        return known
    names = check_names(wanted, argument, names_hint(wanted, known))
    for name in names:
        if name not in also:
            (METHODS if argument == "names" else MEASURES).check_run(name, known, argument)
    return [name for name in dict.fromkeys([*known, *also]) if name in names]


_RESULTS = (Results, pd.DataFrame, Comparison, Mapping)  # what is taken for a second result, alone or in a list


def names_hint(value: Any, known: Sequence[str]) -> str:
    """Return what to do about a value that is no name: of a second result, how two are compared."""
    hint = f"Known: {', '.join(known)}." if known else "Pass a list of text."
    parts = value if isinstance(value, list | tuple | set) else [value]
    if any(isinstance(one, _RESULTS) or hasattr(one, "with_embedding") for one in parts):
        hint = (
            "Put all embeddings of one data set into one Evaluation and compare its result; results on several data "
            f"sets are compared as a list, dreval.compare([first, second]). {hint}"
        )
    return hint


def _directions(table: pd.DataFrame, direction: Any) -> dict[str, bool]:
    """Whether high is good, for each measure: as given, else as the table says, else as the card says."""
    names = list(dict.fromkeys(table["measure"]))
    given = dict(direction) if isinstance(direction, Mapping) else dict.fromkeys(names, direction)
    for name in given:
        if name not in names:
            cure = did_you_mean(name, names) + f"Known: {', '.join(names)}."
            raise UnknownName("direction", "must speak of a measure of the table", repr(name), cure)
    return {name: _direction(name, given.get(name), table.loc[table["measure"] == name, "direction"]) for name in names}


def _direction(name: str, given: Any, said: pd.Series) -> bool:
    """Whether high values of one measure are the good ones."""
    if given is not None:
        return check_one_of(given, DIRECTIONS, "direction", aliases=True) == "higher"
    words = sorted(set(said) - {""})
    if not words and name in MEASURES:
        words = [MEASURES.card(name).direction]
    if len(words) == 1 and words[0] in DIRECTIONS:
        return bool(words[0] == "higher")
    got = f"{', '.join(map(repr, words)) or 'nothing'} for {name!r}"
    raise InputError(
        "direction",
        "must be known for every measure, and one of 'higher' and 'lower'",
        got,
        "Pass {all}, or {each}.",
        all=Hint("direction", "higher"),
        each=Hint("direction", {name: "lower"}),
    )


def _family(measure: str, parameters: str, higher: bool, rows: pd.DataFrame) -> Family | Note:
    """The family of these rows, or the reason why there is none."""
    rows = rows[["dataset", "embedding", "replicate", "value"]].reset_index(drop=True)
    there = rows.dropna(subset="value")
    cells = there.groupby(["dataset", "embedding"], sort=False)["value"].mean().unstack()
    cells = cells.reindex(index=rows["dataset"].unique(), columns=rows["embedding"].unique()).astype("float64")
    kept = cells.loc[cells.notna().any(axis=1), cells.notna().any(axis=0)]
    shared = int((kept.notna().sum(axis=1) > 1).sum())
    if shared < 2:
        return note("datasets.few", embeddings=kept.shape[1], shared=shared)
    notes = []
    for code, left_out in (
        ("no_embedding", cells.columns.difference(kept.columns, sort=False)),
        ("no_dataset", cells.index.difference(kept.index, sort=False)),
    ):
        notes += [note(f"datasets.{code}", names=[str(name) for name in left_out])] if len(left_out) else []
    if rows.groupby(["dataset", "embedding"]).size().max() > 1:
        notes.append(note("datasets.replicates"))
    n, whole = len(kept), int(kept.notna().all(axis=1).sum())
    notes += [note("datasets.partly", whole=whole, n=n)] if whole < n else []
    return Family(measure, parameters, higher, kept, there.reset_index(drop=True), tuple(notes))
