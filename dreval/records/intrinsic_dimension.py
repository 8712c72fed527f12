"""The record of an intrinsic dimension: an estimate with its interval, and what it reads off each point."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from dreval.records._verbs import Record, call
from dreval.records.call import written_again
from dreval.records.notes import Notes, joined
from dreval.records.number import Number
from dreval.records.read_only import read_only
from dreval.registry import DIMENSIONS


@read_only
@dataclass(frozen=True, eq=False)
class IntrinsicDimension(Number, Record):
    """An estimate of the intrinsic dimension; in comparisons, arithmetic and formats it is the number ``value``.

    Attributes
    ----------
    method : str
        "twonn" or "mle".
    value : float
        The estimate.
    n_used : int
        Number of different points.
    points : DataFrame
        One row per row of the data: see ``augment``.
    se : float
        Standard error; NaN where there is none, and a note says why.
    conf_low, conf_high : float
        Ends of the interval at ``conf_level``. It covers the sampling of points, not the bias of the estimator.
    conf_level : float
        Level of the interval; NaN without one.
    conf_method : str
        How the interval was made.
    n_groups : int
        Number of groups that were left out, over all partitions.
    recipe : dict
        ``n``, ``p``, ``random_state``, ``parameters`` and ``versions``: what makes it again.
    notes : tuple of Note
        What must be known to read it.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> t = np.random.default_rng(0).uniform(size=300)
    >>> found = dreval.intrinsic_dimension(np.c_[np.cos(t), np.sin(t), t], random_state=0)
    >>> found
    IntrinsicDimension(twonn: 0.883)
    >>> found < 2, round(found), f"{found:.1f}"
    (True, 1, '0.9')
    """

    method: str
    value: float
    n_used: int
    points: pd.DataFrame = field(repr=False)
    se: float = math.nan
    conf_low: float = math.nan
    conf_high: float = math.nan
    conf_level: float = math.nan
    conf_method: str = ""
    n_groups: int = 0
    recipe: Mapping[str, Any] = field(default_factory=dict)
    notes: Notes = ()

    def tidy(self) -> pd.DataFrame:
        """One row: the method with its parameters, the estimate, its standard error and interval.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(100, 2))
        >>> found = dreval.intrinsic_dimension(X, method="mle", random_state=0)
        >>> found.tidy()[["method", "parameters", "value"]].round(2)
          method      parameters  value
        0    mle  n_neighbors=20   2.02
        """
        own = {key: value for key, value in self.recipe["parameters"].items() if key not in ("method", "conf_level")}
        row: dict[str, Any] = {
            "method": self.method,
            "parameters": ", ".join(f"{key}={value}" for key, value in own.items()),
        }
        row |= {"n": self.recipe["n"], "n_used": self.n_used}
        ends = ("value", "se", "conf_low", "conf_high", "conf_method", "conf_level", "n_groups")
        return pd.DataFrame([row | {name: getattr(self, name) for name in ends} | {"note": joined(self.notes)}])

    def glance(self) -> pd.DataFrame:
        """One row: the data, the estimate as a whole number of dimensions, and the whole numbers in its interval.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(100, 2))
        >>> dreval.intrinsic_dimension(X, random_state=0).glance()[["n", "p", "dimension", "lowest", "highest"]]
             n  p  dimension  lowest  highest
        0  100  2          2       1        3
        """
        low, high = (self.value, self.value) if math.isnan(self.se) else (self.conf_low, self.conf_high)
        whole = {"dimension": max(round(self.value), 1), "lowest": max(round(low), 1), "highest": max(round(high), 1)}
        shared = {name: self.recipe[name] for name in ("n", "p")} | {"method": self.method}
        return pd.DataFrame([shared | whole | {"random_state": self.recipe["random_state"]}])

    def augment(self) -> pd.DataFrame:
        """One row per point of the data; repeated rows have the values of the first of them.

        Of "mle" the local dimension; its harmonic mean over the different points is the estimate. Of "twonn" the ratio
        of the distances to the second and the first neighbor, its rank, and whether the fit uses it.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(100, 2))
        >>> dreval.intrinsic_dimension(X, method="mle", random_state=0).augment().head(2).round(2)
           id  local_dimension
        0   0             2.16
        1   1             1.79
        """
        return self.points

    def plot(self, ax: Any = None, figsize: Any = None) -> Any:
        """Of "twonn" the fitted line with the ratios, used and left out; of "mle" the local dimensions.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        figsize : (float, float), optional
            Width and height of a new figure, in inches.

        Returns
        -------
        matplotlib.figure.Figure or matplotlib.axes.Axes
            ``ax`` where it is given, else a figure, which has ``savefig`` and is not registered with pyplot.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> dreval.intrinsic_dimension(np.random.default_rng(0).normal(size=(50, 2)), random_state=0).plot()
        <Figure size ...>
        """
        return call("IntrinsicDimension.plot", self, ax, figsize)

    @property
    def call(self) -> str:
        """The Python that makes the estimate again."""
        given = {**self.recipe["parameters"], "random_state": self.recipe["random_state"]}
        return written_again("dreval.intrinsic_dimension", ["X"], given, DIMENSIONS.get("intrinsic_dimension"))

    def __repr__(self) -> str:
        return f"IntrinsicDimension({self.method}: {self.value:.3f})"
