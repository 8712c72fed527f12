"""By which test the letters of a comparison go, and the sentence that says so."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from dreval.comparison._pairs import signed_ranks_can_tell

if TYPE_CHECKING:
    from dreval.comparison.record import Comparison

__all__ = ["letter_test", "letter_words"]

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
    "draws": HALVES,
}
FEW = "too few for signed ranks to tell any apart"


def letter_test(tests: Collection[str], n: int, alpha: float) -> str:
    """The test of those that were run that the letters over ``n`` data sets go by; empty where none has letters.

    Signed ranks, which do not depend on what else is compared; Nemenyi's test, then the mixed model, where no
    signed-rank test can be significant with so few data sets, or none was run.

    Examples
    --------
    >>> letter_test(["nemenyi", "wilcoxon"], 9, 0.05), letter_test(["nemenyi", "wilcoxon"], 5, 0.05)
    ('wilcoxon', 'nemenyi')
    """
    others = ("nemenyi", "mixed")
    order = ("wilcoxon", *others) if signed_ranks_can_tell(n, alpha) else (*others, "wilcoxon")
    return next((test for test in order if test in tests), "")


def letter_words(comparison: Comparison, things: str = "Embeddings") -> str:
    """How letters are read and by which test they go, in a sentence; empty where there are none."""
    found: dict[str, list[str]] = {}
    for name in comparison.indices:
        if (comparison.of(comparison.standing, name)["letters"] != "").any():
            found.setdefault(_spoken(comparison, name), []).append(name)
    if not found:
        return ""
    said = list(found)
    if len(found) > 1:
        said = [f"{test} ({', '.join(names)})" for test, names in found.items()]
    where = " on an index" if len(comparison.indices) > 1 else ""
    return f"{things} that share a letter{where} do not differ significantly by {'; by '.join(said)}."


def _spoken(comparison: Comparison, name: str) -> str:
    """The test behind the letters of one index in words, with how its p was adjusted."""
    tests = set(comparison.of(comparison.pairs, name)["test"])
    few = ""
    if comparison.families:
        n, alpha = len(comparison.families[name].cells), comparison.recipe["alpha"]
        few = f" ({FEW})" if "wilcoxon" in tests and not signed_ranks_can_tell(n, alpha) else ""
        tests = {letter_test(tests, n, alpha)}
    said = " and ".join(dict.fromkeys(SPOKEN[test] for test in sorted(tests)))
    adjust = comparison.recipe["adjust"]
    how = "not adjusted" if adjust == "nothing" else f"adjusted by {adjust.title().replace('_', '-')}"
    return said + few + ("" if tests == {"nemenyi"} else f", {how}")
