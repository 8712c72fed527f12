"""The record of a measure that has parts: a value, what it is made of, and a table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dreval.records._verbs import Record
from dreval.records.call import written_again
from dreval.records.notes import Notes
from dreval.records.number import Number
from dreval.records.read_only import read_only
from dreval.registry import MEASURES, METHODS

if TYPE_CHECKING:
    import pandas as pd


@read_only
@dataclass(frozen=True, eq=False)
class MeasureRecord(Number, Record):
    """Value of a measure with its parts; in comparisons, arithmetic and formats it is the number ``value``.

    Attributes
    ----------
    measure, title, symbol : str
        Name of the measure, in words and in formulas.
    value : float
        The value.
    parts : dict
        What stands beside it: numbers by name, in the order in which they are printed.
    chance : float
        Value that an embedding unrelated to the data would have; NaN where it is not known.
    table : DataFrame or None
        One row per transformation, fold or run.
    n_resamples : int
        Number of runs the value is made of.
    recipe : dict
        ``source``, ``n``, ``p``, ``random_state``, ``parameters`` and ``versions``: what makes it again.
    notes : tuple of Note
        What must be known to read it.
    direction : str
        Whether "higher" or "lower" is better.

    Examples
    --------
    >>> record = MeasureRecord("trustability", "Trustability measure", "u", 0.25, {"ti_per_n": 2.0})
    >>> float(record), record.parts["ti_per_n"], record
    (0.25, 2.0, MeasureRecord(trustability: 0.25))
    >>> record < 0.3, round(record * 2, 2), f"{record:.3f}"
    (True, 0.5, '0.250')
    """

    measure: str
    title: str
    symbol: str
    value: float
    parts: Mapping[str, Any] = field(default_factory=dict)
    chance: float = float("nan")
    table: pd.DataFrame | None = None
    n_resamples: int = 0
    recipe: Mapping[str, Any] = field(default_factory=dict)
    notes: Notes = ()
    direction: str = ""

    def tidy(self) -> pd.DataFrame:
        """One row: the measure, its value, its chance value and its parts.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> dreval.reconstruction_error(X, X[:, :2], random_state=0).tidy()[["measure", "value"]].round(3)
                        measure  value
        0  reconstruction_error  0.701
        """
        import pandas as pd

        return pd.DataFrame([{"measure": self.measure, "value": self.value, "chance": self.chance, **self.parts}])

    @property
    def call(self) -> str:
        """The Python that makes the value again, where the words are what was passed."""
        if self.measure not in MEASURES:
            return ""
        source = str(self.recipe.get("source", ""))
        words = ["data", repr(source) if source in METHODS.names() else re.sub(r"\W+", "_", source) or "source"]
        given = {**dict(self.recipe.get("parameters", {})), "random_state": self.recipe.get("random_state")}
        return written_again(f"dreval.{self.measure}", words, given, MEASURES.get(self.measure))

    def __repr__(self) -> str:
        return f"MeasureRecord({self.measure}: {self.value:.6g})"
