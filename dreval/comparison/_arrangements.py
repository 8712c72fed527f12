"""Friedman's test by the law of its statistic when each data set ranks the embeddings at random, ties kept."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["DRAWS", "EXACT_UP_TO", "permutation_p", "quadratic_p"]

EXACT_UP_TO = 200_000  # sums of ranks that one data set may add
DRAWS = 9_999
AT_ONCE = 2_000_000  # ranks that are drawn at once

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


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
    """The share by the law of the rank sums, one row after the other; None where it has too many values.

    The statistic and the law of the rows to come do not change when embeddings are renamed: sums are kept sorted, and
    the first row may stand as it is.
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
    step, beyond = max(AT_ONCE // doubled.size, 1), 0
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
