"""How far the answer of a test depends on one of its settings."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import pandas as pd

from dreval.records.read_only import read_only
from dreval.report.render.summary import CODES, Block, Printed, Summary, format_number, format_p, significance_stars

__all__ = ["Sensitivity"]


@read_only
@dataclass(frozen=True, eq=False)
class Sensitivity(Printed):
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

    def summary(self) -> Summary:
        """The printed table.

        Returns
        -------
        Summary
            ``str()`` of it is text for 80 columns; ``as_html()``, ``as_latex()``, ``as_markdown()`` give the rest.
        """
        header = [
            ("n", format_number(self.n)),
            ("Permutations", format_number(self.n_resamples)),
            ("Test", self.test),
            ("Default", f"{self.usual:g}"),
        ]
        rows = [
            [
                f"{row[self.setting]:.3g}",
                *(format_number(row[name]) for name in ("statistic", "null_mean", "null_95", "effect_size")),
                format_p(row["p_value"]),
                significance_stars(row["p_value"]),
            ]
            for row in self.table.to_dict("records")
        ]
        words = [self.setting, "statistic", "null mean", "null 95 %", "effect", "p", ""]
        foot = CODES if any(row[-1] for row in rows) else ""
        note = "The p-values are not adjusted: a setting chosen because its p is small gives no test."
        return Summary(f"Sensitivity to {self.setting}", header, [Block("", words, rows, foot=foot)], [note])

    def plot(self, *, ax: Any = None) -> Any:
        """The statistic against the setting, with its mean and 95 % quantile under permutation.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib.figure.Figure
            Has ``savefig``; it is not registered with pyplot.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> x = np.linspace(-1, 1, 40)
        >>> dreval.kappa_curve(x, x**2, kappas=[0.01, 0.1], n_resamples=19, random_state=0).plot()
        <Figure size ...>
        """
        return import_module("dreval.report._sensitivity").sensitivity_curve(self, ax=ax).figure

    def __repr__(self) -> str:
        return f"Sensitivity({self.test}: {len(self.table)} values of {self.setting})"
