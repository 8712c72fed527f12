"""The mixed model of values of embeddings on data sets, with replicates: its fit and its tests."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from dreval._check import FloatArray
from dreval.comparison.outcome import Outcome, better_name, compared_pairs, index_pairs
from dreval.records.comparison import Family
from dreval.records.notes import Note, note

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
    notes = (
        note("mixed.normal"),
        *small,
        *(note("mixed.statsmodels", message=message) for message in messages),
    )
    rows = []
    for i, j in index_pairs(family.names):
        outcome = replace(_contrast(family, means, covariance, i, j, alpha), notes=notes)
        first, second = family.names[i], family.names[j]
        better = better_name(first, second, outcome.difference)
        rows.append(outcome.row(**family.key, **shared, first=first, second=second, better=better))
    # the chi-square of the differences to the first mean, with k - 1 degrees of freedom
    contrasts = np.c_[-np.ones(k - 1), np.eye(k - 1)]
    differences = contrasts @ means
    value = float(differences @ np.linalg.solve(contrasts @ covariance @ contrasts.T, differences))
    outcome = Outcome(value, float(chdtrc(k - 1, value)), "asymptotic", k - 1, notes=notes)
    return outcome.row(**shared, k=k), rows


def _no_fit(family: Family, shared: dict[str, Any], reason: Note) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the rows of a model that could not be fitted, with the reason only."""
    k = len(family.names)
    outcome = Outcome(notes=(reason,))
    rows = [
        outcome.row(**family.key, **shared, first=first, second=second)
        for first, second in compared_pairs(family.names)
    ]
    return replace(outcome, df=k - 1).row(**shared, k=k), rows


def _contrast(family: Family, means: FloatArray, covariance: FloatArray, i: int, j: int, alpha: float) -> Outcome:
    """Return the difference of two means with its normal interval and p-value."""
    from scipy.special import ndtr, ndtri

    difference = float(means[i] - means[j]) * (1 if family.higher else -1)
    se = float(np.sqrt(covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]))
    half, z = float(ndtri(1 - alpha / 2)) * se, difference / se
    interval = (difference - half, difference + half)
    return Outcome(z, float(2 * ndtr(-abs(z))), "asymptotic", difference=difference, se=se, interval=interval)
