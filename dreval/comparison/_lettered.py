"""By which test the letters of a comparison go, and the sentence that says so."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dreval.comparison._cells import Family
from dreval.comparison._ranks import nemenyi
from dreval.inference.adjustment import adjust_p_values
from dreval.records.results import point_column

if TYPE_CHECKING:
    from dreval.comparison.record import Comparison

__all__ = ["AT_ONCE", "SHORT", "cannot_tell", "critical_level", "decisive_test", "letter_words", "smallest_p"]

AT_ONCE = ("nemenyi",)  # whose p-values hold for all pairs of a measure at once
SHORT = {"wilcoxon": "Wilcoxon signed-rank tests", "nemenyi": "Nemenyi's test", "mixed": "the mixed model"}

PAIRED = "paired tests at the same points"
HALVES = "paired tests of runs on halves of the points"
SPOKEN = {
    "wilcoxon": "Wilcoxon signed-rank tests across data sets",
    "nemenyi": "Nemenyi's test across data sets",
    "mixed": "the mixed model across data sets",
    "jackknife": PAIRED,
    "anchors": PAIRED,
    "subsampling": PAIRED,
    "seeds": "tests over runs with other seeds",
    "subsamples": HALVES,
}
FEW = " (the data sets are too few for signed ranks)"
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


def cannot_tell(comparison: Comparison, name: str) -> str:
    """That no pair of a measure could have been significant, in a sentence; empty where one could."""
    recipe = comparison.recipe
    least = recipe.get("attainable", {}).get(name, 0.0)
    if least <= recipe["alpha"]:
        return ""
    n = len(comparison.families[name].cells)
    p = "p" if recipe["adjust"] == "nothing" else "adjusted p"
    by = SHORT[recipe["decided_by"]]
    return f"No difference could have been significant here: on {n} data sets {by} can have no {p} below {least:.2g}."


def critical_level(comparison: Comparison) -> float:
    """The level at which Nemenyi's critical difference parts two embeddings here; NaN where it does not decide.

    With Holm's adjustment over m measures alpha / m, beyond which every pair differs.
    """
    recipe = comparison.recipe
    blocks = len(recipe.get("attainable", {}))
    if recipe.get("decided_by") != "nemenyi" or (recipe["adjust"] == "benjamini_hochberg" and blocks > 1):
        return math.nan
    return float(recipe["alpha"] / (blocks if recipe["adjust"] == "holm" else 1))


def letter_words(comparison: Comparison, things: str = "Embeddings") -> str:
    """How letters are read and by which test they go, in a sentence; empty where there are none."""
    found: dict[str, list[str]] = {}
    for name in comparison.measures:
        if (comparison.of(comparison.standing, name)["letters"] != "").any():
            found.setdefault(_spoken(comparison, name), []).append(name)
    if not found:
        return ""
    said = list(found)
    if len(found) > 1:
        said = [f"{test} ({', '.join(names)})" for test, names in found.items()]
    where = " on a measure" if len(comparison.measures) > 1 else ""
    return f"{things} that share a letter{where} do not differ significantly by {'; by '.join(said)}."


def _spoken(comparison: Comparison, name: str) -> str:
    """The test behind the letters of one measure in words, with how its p was adjusted."""
    tests = (
        {comparison.recipe["decided_by"]} if comparison.families else set(comparison.of(comparison.pairs, name)["test"])
    )
    said = " and ".join(dict.fromkeys(SPOKEN[test] for test in sorted(tests)))
    adjust = comparison.recipe["adjust"]
    how = "not adjusted" if adjust == "nothing" else f"adjusted by {adjust.title().replace('_', '-')}"
    few = comparison.families and tests != {"wilcoxon"} and "wilcoxon" in set(comparison.pairs["test"])
    return f"{said}{FEW if few else ''}, {how}"
