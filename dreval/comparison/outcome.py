"""Pairs of embeddings, and the outcome of a test of a comparison."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dreval._check import FloatArray
from dreval.records.notes import Notes


@dataclass(frozen=True)
class Outcome:
    """Outcome of a test of a pair of embeddings, or of any difference between several; a missing number is NaN.

    Attributes
    ----------
    statistic, p_value : float
        Statistic and p-value.
    p_kind : {"asymptotic", "exact", "permutation", "bound", ""}
        How the p-value was computed.
    df, df_denominator : float
        Degrees of freedom.
    difference : float
        Estimate of the difference, positive if the first embedding is better.
    se : float
        Its standard error.
    interval : (float, float)
        Its confidence interval.
    effect_size : float
        The difference on a scale without unit.
    columns : dict
        Further columns of the row, which only this test has.
    notes : tuple of Note
        Assumptions, and the reason why there is no test.
    """

    statistic: float = math.nan
    p_value: float = math.nan
    p_kind: str = ""
    df: float = math.nan
    df_denominator: float = math.nan
    difference: float = math.nan
    se: float = math.nan
    interval: tuple[float, float] = (math.nan, math.nan)
    effect_size: float = math.nan
    columns: Mapping[str, Any] = field(default_factory=dict)
    notes: Notes = ()

    def row(self, **columns: Any) -> dict[str, Any]:
        """Return the row of the test in a table: the columns that were passed, then those that the test has.

        Examples
        --------
        >>> Outcome(2.0, 0.05, "exact").row(test="wilcoxon")
        {'test': 'wilcoxon', 'statistic': 2.0, 'p_value': 0.05, 'p_kind': 'exact', 'notes': ()}
        """
        names = ("statistic", "p_value", "df", "df_denominator", "difference", "se", "effect_size")
        numbers = {name: getattr(self, name) for name in names}
        numbers |= dict(zip(("conf_low", "conf_high"), self.interval, strict=True))
        row = {**columns, **{name: number for name, number in numbers.items() if not math.isnan(number)}}
        row |= {"p_kind": self.p_kind} if self.p_kind else {}
        return {**row, **self.columns, "notes": self.notes}


def index_pairs(names: list[str]) -> Iterator[tuple[int, int]]:
    """Return all pairs of positions, in order."""
    return itertools.combinations(range(len(names)), 2)


def compared_pairs(names: Sequence[str], baseline: str | None = None) -> list[tuple[str, str]]:
    """Return all pairs in order; with a baseline every other name against it.

    Examples
    --------
    >>> compared_pairs(["a", "b", "c"]), compared_pairs(["a", "b", "c"], "b")
    ([('a', 'b'), ('a', 'c'), ('b', 'c')], [('a', 'b'), ('c', 'b')])
    """
    if baseline is None:
        return list(itertools.combinations(names, 2))
    return [(name, baseline) for name in names if name != baseline]


def better_name(first: str, second: str, difference: float) -> str:
    """Return the name that a difference favors."""
    return first if difference > 0 else second if difference < 0 else ""


def superiority(differences: FloatArray) -> float:
    """Return the share of positive differences, zeros counted half."""
    return float(np.mean(np.heaviside(differences, 0.5)))
