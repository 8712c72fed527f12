"""A linear mixed model of the values, fitted by statsmodels: embeddings fixed, data sets and replicates random."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval.comparison._pairs import ahead, pairs_of
from dreval.records.comparison import Family

__all__ = ["fit_mixed", "mixed_rows"]

FloatArray = npt.NDArray[np.float64]
OPTIMIZERS = ("bfgs", "lbfgs", "powell")  # the last one needs no gradient: variances of zero lie on the boundary
TERMS = {"dataset": "between data sets", "cell": "of embeddings within data sets", "replicate": "between replicates"}
NOTHING = 1e-4  # share of the variance of the errors
# What is tried again, and variances near zero: these are judged in absolute units there, in those of the errors here.
HARMLESS = ("optimization", "boundary of the parameter space", "covariance is singular")
NORMAL = "normal approximation, too optimistic with few data sets"


def fit_mixed(family: Family) -> Any:
    """The fitted ``MixedLM``, by restricted maximum likelihood.

    value = mean of the embedding + data set + error. Where cells hold several replicates, two more random terms:
    replicate within data set (when embeddings share replicates), and embedding within data set, without which every
    replicate would count as new evidence on the embeddings.
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
    terms = {}
    if frame.groupby(["dataset", "embedding"]).size().max() > 1:
        terms["cell"] = "0 + C(embedding)"
        if frame.groupby(["dataset", "replicate"]).size().max() > 1:
            terms["replicate"] = "0 + C(replicate)"
    more = {"vc_formula": terms, "re_formula": "1"} if terms else {}
    return MixedLM.from_formula("value ~ 0 + C(embedding)", groups="dataset", data=frame, **more).fit(
        reml=True, method=list(OPTIMIZERS)
    )


def mixed_rows(family: Family, alpha: float) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The Wald test of equal means, and one row for each pair."""
    k = len(family.names)
    shared = {"test": "mixed", "n": len(family.cells)}
    if family.rows.groupby("dataset")["value"].nunique().max() <= 1:
        return _no_fit(family, shared, "undefined: all embeddings are equal on every data set")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            fit = fit_mixed(family)
            reason = "" if fit.converged else "the fit did not converge"
            means, covariance = np.asarray(fit.fe_params), np.asarray(fit.cov_params())[:k, :k]
        except np.linalg.LinAlgError as error:
            reason = f"no fit: {error}"
    words = dict.fromkeys(" ".join(str(one.message).split()) for one in caught)
    if not reason and not (np.isfinite(covariance).all() and (np.diag(covariance) > 0).all()):
        reason = "no fit: the standard errors are not defined"
    if reason:
        return _no_fit(family, shared, reason)
    none = _no_variance(fit)
    known = (*HARMLESS, "Hessian") if none else HARMLESS  # at the boundary it has no inverse
    said = [one.rstrip(".") for one in words if not any(word in one for word in known)]
    note = "; ".join([NORMAL, *none, *(["statsmodels says: " + "; ".join(said)] if said else [])])
    rows = [
        {**family.key, **shared, **_contrast(family, means, covariance, i, j, alpha), "note": note}
        for i, j in pairs_of(family.names)
    ]
    return {**shared, "k": k, **_wald(means, covariance), "note": note}, rows


def _no_fit(family: Family, shared: dict[str, Any], reason: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The rows of a model that could not be fitted, with the reason alone."""
    k = len(family.names)
    pairs = [(family.names[i], family.names[j]) for i, j in pairs_of(family.names)]
    empty = [{**family.key, **shared, "first": first, "second": second, "note": reason} for first, second in pairs]
    return {**shared, "k": k, "df": k - 1, "note": reason}, empty


def _no_variance(fit: Any) -> list[str]:
    """Which random terms have no variance beside that of the errors, in units of which it is judged."""
    terms = dict(zip(fit.model.exog_vc.names, fit.vcomp, strict=True)) if len(fit.vcomp) else {}
    terms = {"dataset": float(np.asarray(fit.cov_re)[0, 0]), **terms}
    none = [TERMS[name] for name, variance in terms.items() if variance < NOTHING * fit.scale]
    return [f"found no variance {' and '.join(none)}"] if none else []


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


def _wald(means: FloatArray, covariance: FloatArray) -> dict[str, Any]:
    """Chi-square of the differences to the first mean, with k - 1 degrees of freedom."""
    from scipy.special import chdtrc

    k = len(means)
    C = np.c_[-np.ones(k - 1), np.eye(k - 1)]
    b = C @ means
    value = float(b @ np.linalg.solve(C @ covariance @ C.T, b))
    return {"statistic": value, "df": k - 1, "p_value": float(chdtrc(k - 1, value)), "p_kind": "asymptotic"}
