"""The record of a graph recall: the share of the true neighbors that a graph holds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from dreval.records.base import Record, Summary, read_only
from dreval.records.estimates import Number
from dreval.records.notes import Notes, join_notes
from dreval.records.provenance import reproducing_call
from dreval.registry import ANALYSES


@read_only
@dataclass(frozen=True, eq=False, repr=False)
class GraphRecall(Number, Record):
    """The share of the true nearest neighbors in a graph; in comparisons, arithmetic and formats the number ``value``.

    Attributes
    ----------
    value : float
        The mean recall of the points, in [0, 1].
    n_neighbors : int
        Number k of true neighbors that are looked for.
    n_used : int
        Number m of points whose true neighbors were computed.
    points : DataFrame
        One row for each of these points: see ``augment``.
    chance : float
        Expected recall of lists of random points, k / (n - 1).
    se : float
        Standard error of the mean over all n points; 0 if all were used.
    conf_low, conf_high : float
        Ends of the interval at ``conf_level``, for the mean over all n points.
    conf_level : float
        Level of the interval.
    conf_method : str
        Method of the interval.
    recipe : dict
        ``n``, ``p``, ``random_state``, ``parameters`` and ``versions``: how to reproduce it.
    notes : tuple of Note
        How the graph was read.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.arange(6.0)[:, None]
    >>> result = dreval.graph_recall([[1, 2], [0, 2], [1, 5], [2, 4], [3, 5], [4, 3]], X)
    >>> result
    The graph holds 92 % of the 2 nearest neighbors of a point, on average over all 6 points (chance 40 %). ...
    >>> result > 0.9, f"{result:.2f}"
    (True, '0.92')
    """

    value: float
    n_neighbors: int
    n_used: int
    points: pd.DataFrame
    chance: float
    se: float = math.nan
    conf_low: float = math.nan
    conf_high: float = math.nan
    conf_level: float = math.nan
    conf_method: str = ""
    recipe: Mapping[str, Any] = field(default_factory=dict)
    notes: Notes = ()

    @property
    def complete(self) -> float:
        """Share of the points whose true neighbors are all in the graph."""
        return float((self.points["recall"] == 1.0).mean())

    def tidy(self) -> pd.DataFrame:
        """Return one row: the number of neighbors, the recall, its standard error and interval.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.arange(6.0)[:, None]
        >>> result = dreval.graph_recall([[1, 2], [0, 2], [1, 5], [2, 4], [3, 5], [4, 3]], X)
        >>> result.tidy()[["n_neighbors", "n", "n_used", "value"]].round(3)
           n_neighbors  n  n_used  value
        0            2  6       6  0.917
        """
        row: dict[str, Any] = {"n_neighbors": self.n_neighbors, "n": self.recipe["n"], "n_used": self.n_used}
        ends = ("value", "chance", "se", "conf_low", "conf_high", "conf_method", "conf_level")
        return pd.DataFrame([row | {name: getattr(self, name) for name in ends} | {"note": join_notes(self.notes)}])

    def glance(self) -> pd.DataFrame:
        """Return one row: the data, the recall, the share of points with all neighbors, and the lowest recall.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.arange(6.0)[:, None]
        >>> result = dreval.graph_recall([[1, 2], [0, 2], [1, 5], [2, 4], [3, 5], [4, 3]], X)
        >>> result.glance()[["n", "p", "recall", "complete", "lowest"]].round(2)
           n  p  recall  complete  lowest
        0  6  1    0.92      0.83     0.5
        """
        shared = {name: self.recipe[name] for name in ("n", "p")} | {"n_neighbors": self.n_neighbors}
        values = {"recall": self.value, "complete": self.complete, "lowest": float(self.points["recall"].min())}
        return pd.DataFrame([shared | values | {"random_state": self.recipe["random_state"]}])

    def augment(self) -> pd.DataFrame:
        """Return the recall of each point whose true neighbors were computed, with its row number and name.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.arange(6.0)[:, None]
        >>> result = dreval.graph_recall([[1, 2], [0, 2], [1, 5], [2, 4], [3, 5], [4, 3]], X)
        >>> result.augment().query("recall < 1")
           id  recall
        2   2     0.5
        """
        return self.points

    def _summary(self, full: bool) -> Summary:
        """Return the printed form: the recall with its interval, and its spread over the points."""
        from dreval.report.documents.small import graph_recall_summary

        return graph_recall_summary(self, full)

    @property
    def call(self) -> str:
        """The Python code that reproduces the recall."""
        arguments = {**self.recipe["parameters"], "random_state": self.recipe["random_state"]}
        return reproducing_call("dreval.graph_recall", ["graph", "X"], arguments, ANALYSES.get("graph_recall"))
