"""Every pair of embeddings over data sets: Nemenyi, Wilcoxon signed-rank, and the Bayesian signed-rank test."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._random import stream
from dreval.comparison._bayes import bayesian_signed_rank
from dreval.comparison._letters import letter_display
from dreval.comparison._ranks import block_ranks, critical_difference, nemenyi
from dreval.glossary import OVERALL_COLUMNS, PAIR_COLUMNS
from dreval.records.comparison import Family, to_digits

__all__ = [
    "ahead",
    "compared_pairs",
    "letters_of",
    "nemenyi_rows",
    "only_found",
    "overall_frame",
    "pair_frame",
    "pairs_of",
    "signed_rank_rows",
    "superiority",
    "walsh_interval",
]

FloatArray = npt.NDArray[np.float64]
EXACT_SUMS = 50  # data sets up to which sums of signed ranks are counted, as scipy does
PAIR_TEXT = ("measure", "parameters", "first", "second", "test", "family", "p_kind", "better", "note")


def pair_frame(rows: list[dict[str, Any]], family: str | None = None) -> pd.DataFrame:
    """Rows of pairs as a table with the closed list of columns; p-values are of one family, or of one for each test."""
    table = pd.DataFrame(rows, columns=list(PAIR_COLUMNS))
    for name in PAIR_COLUMNS:
        if name in PAIR_TEXT:
            table[name] = table[name].astype("object").where(table[name].notna(), "")
        else:
            table[name] = pd.to_numeric(table[name]).astype("float64")
    families = table["test"] if family is None else pd.Series(family, table.index)
    table["family"] = families.where(table["p_value"].notna(), "")
    return table.astype({"n": "int64"})


def overall_frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Rows of overall tests as a table with the closed list of columns."""
    table = pd.DataFrame(rows, columns=list(OVERALL_COLUMNS))
    text = ["p_kind", "note"]
    table[text] = table[text].astype("object").where(table[text].notna(), "")
    return table


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
                "conf_low": advantage - reach, "conf_high": advantage + reach, "better": ahead(first, second, advantage),
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
            rows.append({**shared, "test": "wilcoxon", "note": "no data set has both"})
            continue
        shared["advantage"] = float(np.median(differences))
        shared["superiority"] = superiority(differences)
        tested = _wilcoxon(differences) | dict(
            zip(("conf_low", "conf_high"), walsh_interval(differences, alpha), strict=True)
        )
        rows.append({**shared, "test": "wilcoxon", **tested, "better": ahead(first, second, tested["effect_size"])})
        if rope is not None:
            rng = stream(root, "bayes", family.measure, family.parameters, first, second)
            better, equal, worse = bayesian_signed_rank(differences, rope, rng)
            posterior = {"p_first": better, "p_rope": equal, "p_second": worse}
            rows.append({**shared, "test": "bayes", **posterior, "better": ahead(first, second, better - worse)})
    return rows


def walsh_interval(differences: FloatArray, alpha: float) -> tuple[float, float]:
    """The interval of the signed-rank test: Walsh averages (d_i + d_j) / 2, i <= j, at ranks c and M + 1 - c of M.

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
        counts = np.ones(1)
        for rank in range(1, n + 1):
            counts = np.concatenate([counts, np.zeros(rank)]) + np.concatenate([np.zeros(rank), counts])
        c = int(np.searchsorted(np.cumsum(counts) / 2.0 ** (n - 1), alpha * (1 + 1e-12), side="right"))
    else:
        c = int(n * (n + 1) / 4 + ndtri(alpha / 2) * math.sqrt(n * (n + 1) * (2 * n + 1) / 24))
    if c == 0:
        return math.nan, math.nan
    rows, columns = np.triu_indices(n)
    averages = np.sort((differences[rows] + differences[columns]) / 2)
    return float(averages[c - 1]), float(averages[-c])


def _wilcoxon(differences: FloatArray) -> dict[str, Any]:
    """Statistic, p and rank-biserial correlation (Kerby 2014) of the signed ranks; scipy's defaults, zeros dropped."""
    from scipy.stats import rankdata, wilcoxon

    kept = differences[differences != 0]
    if not len(kept):
        shown = {"statistic": 0.0, "p_value": 1.0, "p_kind": "exact", "effect_size": 0.0}
        return {**shown, "note": "equal on every data set"}
    ranks = rankdata(np.abs(kept))
    effect = float(np.sum(np.sign(kept) * ranks) / ranks.sum())
    found = wilcoxon(differences)
    kind = "asymptotic" if hasattr(found, "zstatistic") else "exact"
    note = "data sets with equal values are left out" if len(kept) < len(differences) else ""
    return {
        "statistic": float(found.statistic), "p_value": float(found.pvalue), "p_kind": kind, "effect_size": effect,
        "note": note,
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
