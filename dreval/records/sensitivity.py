"""How far the answer of a test depends on one of its settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from dreval.records._verbs import Record, call
from dreval.records.read_only import read_only


@read_only
@dataclass(frozen=True, eq=False)
class Sensitivity(Record):
    """A test at several values of one setting.

    Attributes
    ----------
    table : DataFrame
        One row for each value: the setting, ``statistic``, ``null_mean``, ``null_95`` (the 95 % quantile of the
        statistic under permutation), ``effect_size``, ``p_value``, ``p_kind``.
    setting : str
        Name of the column that holds the setting.
    test : str
        Name of the test.
    usual : float
        The value that the test takes by default.
    n : int
        Number of rows.
    n_resamples : int
        Number of permutations at each value.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> x = np.linspace(-1, 1, 40)
    >>> curve = dreval.kappa_curve(x, x**2, kappas=[0.01, 0.1], n_resamples=99, random_state=0)
    >>> curve.tidy()[["kappa", "p_value"]]
       kappa  p_value
    0   0.01     0.01
    1   0.10     0.01
    """

    table: pd.DataFrame
    setting: str
    test: str
    usual: float
    n: int
    n_resamples: int

    def tidy(self) -> pd.DataFrame:
        """A copy of the table."""
        return self.table.copy()

    def plot(self, ax: Any = None, figsize: Any = None) -> Any:
        """The statistic against the setting, with its mean and 95 % quantile under permutation.

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
        >>> x = np.linspace(-1, 1, 40)
        >>> dreval.kappa_curve(x, x**2, kappas=[0.01, 0.1], n_resamples=19, random_state=0).plot()
        <Figure size ...>
        """
        return call("Sensitivity.plot", self, ax, figsize)

    def __repr__(self) -> str:
        return f"Sensitivity({self.test}: {len(self.table)} values of {self.setting})"
