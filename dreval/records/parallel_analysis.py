"""The record of a parallel analysis: eigenvalues, their values under permutation, and the components that are kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval.records._verbs import Record, call
from dreval.records.call import written_again
from dreval.records.notes import Notes, joined
from dreval.records.read_only import read_only
from dreval.registry import DIMENSIONS


@read_only
@dataclass(frozen=True, eq=False)
class ParallelAnalysis(Record):
    """Which principal components have larger eigenvalues than columns that are permuted independently.

    Attributes
    ----------
    n_components : int
        Number of leading components with ``p_value <= alpha``, before the first without.
    table : DataFrame
        One row per component: see ``tidy``.
    null_eigenvalues : ndarray (B, q)
        Eigenvalues of each permutation, in descending order.
    alpha : float
        Level of each test.
    recipe : dict
        ``n``, ``p``, ``random_state``, ``parameters`` and ``versions``: what makes it again.
    notes : tuple of Note
        What must be known to read it.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 2)) @ rng.normal(size=(2, 6)) + 0.5 * rng.normal(size=(100, 6))
    >>> dreval.parallel_analysis(X, random_state=0)
    ParallelAnalysis(2 of 6 components)
    """

    n_components: int
    table: pd.DataFrame = field(repr=False)
    null_eigenvalues: npt.NDArray[np.float64] = field(repr=False)
    alpha: float
    recipe: Mapping[str, Any] = field(default_factory=dict)
    notes: Notes = ()

    @property
    def n_resamples(self) -> int:
        """Number of permutations."""
        return len(self.null_eigenvalues)

    def tidy(self) -> pd.DataFrame:
        """One row per component.

        ``component`` (1, 2, ...), ``eigenvalue``, ``share`` of the variance, ``null_mean`` and ``null_quantile`` (1 -
        alpha) of the eigenvalues of the same place under permutation, ``p_value``, ``p_kind`` ("permutation") and
        ``kept``.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(100, 1)) + 0.5 * rng.normal(size=(100, 4))
        >>> dreval.parallel_analysis(X, random_state=0).tidy()[["component", "eigenvalue", "p_value", "kept"]].round(3)
           component  eigenvalue  p_value   kept
        0          1       3.371    0.005   True
        1          2       0.258    1.000  False
        2          3       0.197    1.000  False
        3          4       0.174    1.000  False
        """
        return self.table.copy()

    def glance(self) -> pd.DataFrame:
        """One row: the data, the number of components kept and their share of the variance.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(100, 4))
        >>> dreval.parallel_analysis(X, random_state=0).glance()[["n", "p", "n_components", "share"]]
             n  p  n_components  share
        0  100  4             0    0.0
        """
        row = {name: self.recipe[name] for name in ("n", "p")} | {"n_components": self.n_components}
        row |= {"share": float(self.table["share"].head(self.n_components).sum()), "alpha": self.alpha}
        row |= {"n_resamples": self.n_resamples, "random_state": self.recipe["random_state"]}
        return pd.DataFrame([row | {"note": joined(self.notes)}])

    def plot(self, ax: Any = None, figsize: Any = None) -> Any:
        """The eigenvalues over their numbers, with the range that permutation gives.

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
        >>> dreval.parallel_analysis(np.random.default_rng(0).normal(size=(50, 3)), random_state=0).plot()
        <Figure size ...>
        """
        return call("ParallelAnalysis.plot", self, ax, figsize)

    @property
    def call(self) -> str:
        """The Python that makes the analysis again."""
        given = {**self.recipe["parameters"], "random_state": self.recipe["random_state"]}
        return written_again("dreval.parallel_analysis", ["X"], given, DIMENSIONS.get("parallel_analysis"))

    def __repr__(self) -> str:
        return f"ParallelAnalysis({self.n_components} of {len(self.table)} components)"
