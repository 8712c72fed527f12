"""All pairs of embeddings over data sets: Nemenyi, signed ranks, the Bayesian signed-rank test, the mixed model."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dreval._check import FloatArray, IntArray
from dreval._random import stream
from dreval.comparison._ranks import block_ranks, critical_difference, letter_display, nemenyi
from dreval.glossary import OVERALL_COLUMNS, PAIR_COLUMNS
from dreval.records.comparison import Family, to_digits
from dreval.records.notes import Note, joined, note

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


DRAWS = 50_000
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
    weights = rng.dirichlet([PRIOR, *np.ones(len(advantage))], DRAWS)
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
