"""The one test that letters, diagrams and sentences of a comparison rest on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from dreval.comparison._ranks import nemenyi
from dreval.inference.adjustment import adjust_p_values
from dreval.records.comparison import Comparison, Family
from dreval.records.results import point_column

__all__ = ["AT_ONCE", "critical_level", "decisive_test", "smallest_p"]

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
    table["name"] = [point_column(*key) for key in zip(table["measure"], table["parameters"], strict=True)]
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
