"""The permutations and null data of tests in words, and the smallest p-value that their number allows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from dreval._text import p_text, probability
from dreval.records.frames import of_method
from dreval.records.tests import LEVEL
from dreval.report.findings import Finding, record_finding
from dreval.report.format import count_noun, join_and, test_name
from dreval.report.result_view import ResultView

RESIDUAL = "residual"  # the variable of tests of the residual of the data given the embedding
NULL_DATA_NAMES = {"columns": "independent columns", "gaussian": "one Gaussian cloud"}
MAX_NAMED = 4  # variables or tests that are named; more are counted
SCHEMES = {  # the hypothesis of restricted permutations, for use after the names of the variables
    "within": " within blocks",
    "groups": " between groups",
    "within_groups": " within groups",
    "blocks": " (with whole blocks of rows exchangeable)",
    "cyclic": " (as stationary series)",
}


def scheme_text(view: ResultView, rows: Iterable[Mapping[str, Any]], name: Callable[[str], str] = str) -> str:
    """Return the restriction of the permutations of some tests, for use after the name of their variable.

    Where tests or else variables differ, those with a restriction are named: " (HSIC within blocks)". A variable whose
    name has the restriction ("dose (within groups)") is not followed by it. ``name`` marks up a variable.
    """
    tests: dict[str, dict[str, None]] = {}
    variables: dict[str, dict[str, None]] = {}
    for row in rows:
        scheme, variable = SCHEMES.get(view.scheme(row), ""), str(row["variable"])
        scheme = "" if variable.endswith(f"({scheme.strip()})") else scheme
        tests.setdefault(scheme, {})[test_name(str(row["test"]))] = None
        variables.setdefault(scheme, {})[name(variable)] = None
    if len(tests) == 1:
        return next(iter(tests))
    is_by_test = sum(map(len, tests.values())) == len({*chain(*tests.values())})
    noun, restricted = ("test", tests) if is_by_test else ("variable", variables)
    parts = [
        f"{join_and(list(names)) if len(names) <= MAX_NAMED else count_noun(len(names), noun)}{scheme}"
        for scheme, names in restricted.items()
        if scheme
    ]
    return f" ({'; '.join(parts)})" if parts else ""


def resample_noun(row: Mapping[str, Any], scheme: str = "free") -> str:
    """Return the noun for the resamples of the null distribution of a test."""
    if of_method(row["test"]):
        return "null data set"
    if row["variable"] == RESIDUAL:
        return "bootstrap resample"
    return "cyclic shift" if scheme == "cyclic" else "permutation"


def is_smallest(row: Mapping[str, Any]) -> bool:
    """Return whether p is the smallest possible: no statistic of the resamples reaches the observed one."""
    return bool(row["n_resamples"] and row["p_value"] * (row["n_resamples"] + 1) < 1.5)


def limit_text(row: Mapping[str, Any], scheme: str = "free") -> str:
    """Return the limit of p by the resamples of a test, if p is at it or it is above the level; else "".

    The share of all permutations is at least that of one of them, and larger where several have the same statistic.
    """
    count = int(row["n_resamples"])
    least = 1 / (count if row.get("p_kind") == "exact" else count + 1) if count else 0.0
    if is_smallest(row):
        return f"{p_text(row['p_value'])} is the smallest that {count_noun(count, resample_noun(row, scheme))} can give"
    if least > LEVEL:
        return f"{count_noun(count, resample_noun(row, scheme))} can give no p below {probability(least)}"
    return ""


def smallest_p_text(view: ResultView, tests: Iterable[Mapping[str, Any]]) -> str:
    """Return the limit that the number of resamples sets to p, where a p is at it, in words; else an empty text."""
    return "; ".join(filter(None, dict.fromkeys(limit_text(row, view.scheme(row)) for row in tests)))


def noise_limit(null_count: int, like_noise: npt.NDArray[np.bool_]) -> list[Finding]:
    """Return how many points the null data sets can distinguish from noise, if that bounds their number."""
    most, unlike = null_count + 1, int((~like_noise).sum())
    return [record_finding("noise.limit", count=null_count, most=most)] if most <= unlike < len(like_noise) else []
