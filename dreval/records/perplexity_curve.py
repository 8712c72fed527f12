"""The record of a perplexity curve: how singular t-SNE maps are at each perplexity, with intervals over seeds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from dreval.records._verbs import Record, call
from dreval.records.notes import Notes, joined
from dreval.records.read_only import read_only


@read_only
@dataclass(frozen=True, eq=False)
class PerplexityCurve(Record):
    """The singularity scores of t-SNE maps at several perplexities, over seeds.

    Attributes
    ----------
    table : DataFrame
        Two rows per perplexity: see ``tidy``.
    values : DataFrame
        One row per perplexity, score and seed: ``perplexity``, ``score``, ``seed`` and ``value``, NaN where the map was
        refused.
    conf_level : float
        Level of each interval.
    recipe : dict
        ``n``, ``p``, ``random_state``, ``parameters`` and ``versions``: what makes it again.
    notes : tuple of Note
        What must be known to read it.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(90, 4))
    >>> dreval.perplexity_curve(X, [15, 25], n_seeds=3, random_state=0)
    PerplexityCurve(2 perplexities, 3 seeds)
    """

    table: pd.DataFrame = field(repr=False)
    values: pd.DataFrame = field(repr=False)
    conf_level: float
    recipe: Mapping[str, Any] = field(default_factory=dict)
    notes: Notes = ()

    def tidy(self) -> pd.DataFrame:
        """Two rows per perplexity, of the largest 5 % of the scores over n and of their median.

        ``perplexity``, ``score`` ("top 5 %" or "median"), ``value`` (the geometric mean over seeds), ``se_log`` (the
        standard error of its logarithm), ``conf_low``, ``conf_high``, ``conf_level``, ``n_used`` and ``n_refused``
        (runs), ``note``. With fewer than three maps there is no interval.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(90, 4))
        >>> curve = dreval.perplexity_curve(X, [15, 25], n_seeds=3, random_state=0)
        >>> bool((curve.tidy()["conf_low"] <= curve.tidy()["conf_high"]).all())
        True
        """
        return self.table.copy()

    def glance(self) -> pd.DataFrame:
        """One row: the data, how many perplexities have an interval, and how many maps have no score.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(90, 4))
        >>> curve = dreval.perplexity_curve(X, [15, 25], n_seeds=3, random_state=0)
        >>> curve.glance()[["n", "n_perplexities", "n_with_interval", "n_seeds", "n_refused"]]
            n  n_perplexities  n_with_interval  n_seeds  n_refused
        0  90               2                2        3          0
        """
        top = self.table[self.table["score"] == self.table["score"].iloc[0]]
        row = {name: self.recipe[name] for name in ("n", "p")} | {"n_perplexities": len(top)}
        row |= {"n_with_interval": int(top["conf_low"].notna().sum()), "n_seeds": self.recipe["parameters"]["n_seeds"]}
        row |= {"n_refused": int(top["n_refused"].sum()), "conf_level": self.conf_level}
        return pd.DataFrame([row | {"random_state": self.recipe["random_state"], "note": joined(self.notes)}])

    def plot(self, ax: Any = None, figsize: Any = None) -> Any:
        """The values over the perplexity, with their intervals.

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
        >>> X = np.random.default_rng(0).normal(size=(90, 4))
        >>> dreval.perplexity_curve(X, [15, 25], n_seeds=3, random_state=0).plot()
        <Figure size ...>
        """
        return call("PerplexityCurve.plot", self, ax, figsize)

    def __repr__(self) -> str:
        perplexities, seeds = (self.values[name].nunique() for name in ("perplexity", "seed"))
        return f"PerplexityCurve({perplexities} perplexities, {seeds} seeds)"
