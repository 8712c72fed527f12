"""A linear mixed model of the values, fitted by statsmodels: embeddings fixed, data sets and replicates random."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval.comparison._cells import Family
from dreval.comparison._pairs import ahead, pairs_of

__all__ = ["fit_mixed", "mixed_rows"]

FloatArray = npt.NDArray[np.float64]
OPTIMIZERS = ("bfgs", "lbfgs", "powell")  # the last one needs no gradient: variances of zero lie on the boundary
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
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            fit = fit_mixed(family)
            reason = "" if fit.converged else "the fit did not converge"
            means, covariance = np.asarray(fit.fe_params), np.asarray(fit.cov_params())[:k, :k]
        except np.linalg.LinAlgError as error:
            reason = f"no fit: {error}"
    words = dict.fromkeys(" ".join(str(one.message).split()) for one in caught)
    said = "; ".join(one for one in words if reason or "optimization" not in one)
    if not reason and not (np.isfinite(covariance).all() and (np.diag(covariance) > 0).all()):
        reason = "no fit: the standard errors are not defined"
    if reason:
        note = "; ".join(filter(None, [reason, said]))
        empty = [{**family.key, **shared, "first": family.names[i], "second": family.names[j], "note": note}
                 for i, j in pairs_of(family.names)]  # fmt: skip
        return {**shared, "k": k, "df": k - 1, "note": note}, empty
    note = "; ".join(filter(None, [NORMAL, f"statsmodels says: {said}" if said else ""]))
    rows = [
        {**family.key, **shared, **_contrast(family, means, covariance, i, j, alpha), "note": note}
        for i, j in pairs_of(family.names)
    ]
    return {**shared, "k": k, **_wald(means, covariance), "note": note}, rows


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
        "first": first, "second": second, "advantage": advantage, "se": se, "ci_low": advantage - half,
        "ci_high": advantage + half, "statistic": z, "p_value": float(2 * ndtr(-abs(z))),
        "better": ahead(first, second, advantage),
    }  # fmt: skip


def _wald(means: FloatArray, covariance: FloatArray) -> dict[str, Any]:
    """Chi-square of the differences to the first mean, with k - 1 degrees of freedom."""
    from scipy.special import chdtrc

    k = len(means)
    C = np.c_[-np.ones(k - 1), np.eye(k - 1)]
    b = C @ means
    value = float(b @ np.linalg.solve(C @ covariance @ C.T, b))
    return {"statistic": value, "df": k - 1, "p_value": float(chdtrc(k - 1, value))}
