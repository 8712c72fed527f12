"""Tests of all pairs of embeddings over data sets: Nemenyi, signed ranks, and the Bayesian signed-rank test."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dreval._check import FloatArray, IntArray
from dreval._random import stream
from dreval.comparison.outcome import Outcome, better_name, index_pairs, superiority
from dreval.comparison.ranks import block_ranks, critical_difference, nemenyi
from dreval.records.comparison import Family, to_digits
from dreval.records.notes import note

MAX_EXACT_DIFFERENCES = 50  # data sets up to which sums of signed ranks are enumerated, as in scipy


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
        first, second, difference = family.names[i], family.names[j], float(means[j] - means[i])
        statistic = difference / math.sqrt(k * (k + 1) / (6 * len(complete)))
        interval = (difference - half_width, difference + half_width)
        outcome = Outcome(statistic, float(p[i, j]), "asymptotic", difference=difference, interval=interval)
        pair = {**family.key, "first": first, "second": second, "better": better_name(first, second, difference)}
        rows.append(outcome.row(test="nemenyi", n=len(complete), **pair))
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
            rows.append(Outcome(notes=(note("signed_ranks.none"),)).row(test="wilcoxon", **shared))
            continue
        shared["superiority"] = superiority(differences)
        outcome = signed_rank_test(differences, alpha)
        better = better_name(first, second, outcome.effect_size)
        rows.append(outcome.row(test="wilcoxon", better=better, **shared))
        if rope is not None:
            rng = stream(root, "bayes", family.measure, family.parameters, first, second)
            above, within, below = bayesian_signed_rank(differences, rope, rng)
            posterior = {"p_first": above, "p_rope": within, "p_second": below}
            outcome = Outcome(difference=float(np.median(walsh_averages(differences))), columns=posterior)
            rows.append(outcome.row(test="bayes", better=better_name(first, second, above - below), **shared))
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


def signed_rank_test(differences: FloatArray, alpha: float) -> Outcome:
    """Return statistic, p, rank-biserial correlation (Kerby 2014), estimate and interval of the signed ranks.

    Differences of zero are dropped from all of these. p is exact for up to 50 other differences, also with ties.
    """
    from scipy.stats import rankdata, wilcoxon

    nonzero = differences[differences != 0]
    if not len(nonzero):
        return Outcome(
            0.0,
            1.0,
            "exact",
            difference=0.0,
            interval=walsh_interval(differences, alpha),
            effect_size=0.0,
            columns={"n_used": 0},
            notes=(note("signed_ranks.equal"),),
        )
    ranks, n = rankdata(np.abs(nonzero)), len(nonzero)
    exact, tied = n <= MAX_EXACT_DIFFERENCES, len(np.unique(ranks)) < n
    test = wilcoxon(nonzero, method="exact" if exact and not tied else "asymptotic")
    statistic, p = float(test.statistic), float(test.pvalue)
    if exact and tied:
        p = min(1.0, float(_two_sided((2 * ranks).astype(np.int64))[round(2 * statistic)]))
    has_zeros = n < len(differences)
    return Outcome(
        statistic,
        p,
        "exact" if exact else "asymptotic",
        difference=float(np.median(walsh_averages(nonzero))),
        interval=walsh_interval(nonzero, alpha),
        effect_size=float(np.sum(np.sign(nonzero) * ranks) / ranks.sum()),
        columns={"n_used": n} if has_zeros else {},
        notes=(note("signed_ranks.ties"),) if has_zeros else (),
    )


POSTERIOR_DRAWS = 50_000
PRIOR = 0.5  # weight of the pseudo-observation at zero


def bayesian_signed_rank(difference: FloatArray, rope: float, rng: np.random.Generator) -> tuple[float, float, float]:
    """Return the probabilities that the first is practically better, that both are equivalent, that the second is.

    ``difference`` (N,) holds the differences over data sets. Differences below ``rope``, in the same unit, count as
    equivalent (a difference of exactly ``rope`` counts half, as in baycomp). The differences have a Dirichlet-process
    prior with a pseudo-observation at zero of weight 0.5. Each of 50,000 posterior draws is assigned to the region that
    holds most of its pairwise means (shared if two regions hold equally many).
    Benavoli, Corani, Demsar and Zaffalon (2017), J. Mach. Learn. Res. 18(77), section 4.2. O(draws N^2).

    Examples
    --------
    >>> bayesian_signed_rank(np.full(6, 0.001), 0.01, np.random.default_rng(0))
    (0.0, 1.0, 0.0)
    """
    weights = rng.dirichlet([PRIOR, *np.ones(len(difference))], POSTERIOR_DRAWS)
    shares = region_shares(difference, rope, weights)
    is_largest = shares == shares.max(axis=1, keepdims=True)
    above, within, below = (is_largest / is_largest.sum(axis=1, keepdims=True)).mean(axis=0)
    return float(above), float(within), float(below)


def region_shares(difference: FloatArray, rope: float, weights: FloatArray) -> FloatArray:
    """Return the weight of the pairwise means above, within and below the region, (m, 3), for weights (m, N + 1).

    The first weight belongs to the pseudo-observation; a mean on the edge of the region counts half to each side.
    """
    z = np.concatenate([[0.0], difference])
    sums = z[:, None] + z[None]
    above, below = (np.einsum("si,si->s", weights @ _side(side * sums, 2 * rope), weights) for side in (1.0, -1.0))
    within = np.maximum(1.0 - above - below, 0.0) if rope > 0 else np.zeros(len(weights))
    return np.stack([above, within, below], axis=1)


def _side(sums: FloatArray, edge: float) -> FloatArray:
    """Return 1 beyond the edge, 0.5 on it up to rounding, else 0."""
    beyond = sums - edge
    beyond[np.abs(beyond) <= 1e-12 * max(edge, float(np.abs(sums).max()))] = 0.0
    return np.heaviside(beyond, 0.5)
