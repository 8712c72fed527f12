"""The record of the columns that a map shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import check_one_of
from dreval.glossary import IMPORTANCE_FIGURES
from dreval.records.base import Summary, TableRecord, read_only
from dreval.records.notes import Notes, join_notes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@read_only
@dataclass(frozen=True, eq=False, repr=False)
class ColumnImportance(TableRecord):
    """Which columns of the data a map shows, and which it loses.

    Attributes
    ----------
    table : DataFrame
        One row for each column, or for columns that were permuted jointly; the largest ``drop`` first. ``column``, its
        name; ``members``, the names of all its columns; ``n_columns``; ``drop``, the loss of the share of common
        neighbors; ``se``, ``conf_low``, ``conf_high`` (intervals hold for all rows together); ``p_value``,
        ``p_adjusted``; ``weight``, the share of the neighbors in the data that depend on it; ``share``, drop over
        weight; ``visible``, whether p and interval say that the map shows it.
    contributions : ndarray (m, c)
        The drop of each point whose neighborhood was compared, in the order of the rows of ``table``.
    rows : ndarray (m,)
        The numbers of these points.
    coordinates : ndarray (n, d)
        The map.
    overlap : float
        Share of the k nearest neighbors that data and map have in common.
    chance : float
        Its expected value for a map without connection to the data, k / (n - 1).
    ids : ndarray (n,) or None
        Names of the points.
    recipe : dict
        ``n``, ``p``, ``random_state``, ``parameters``, ``call`` and ``versions``: how to reproduce it.
    notes : tuple of Note
        Assumptions and limits that affect how to read it.

    See Also
    --------
    column_importance : computes it, and explains each number.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> result = dreval.column_importance(X, X[:, :2], random_state=0)
    >>> result.visible, result.hidden
    (('0', '1'), ('2',))
    """

    table: pd.DataFrame
    contributions: npt.NDArray[np.float64]
    rows: npt.NDArray[np.int64]
    coordinates: npt.NDArray[np.float64]
    overlap: float
    chance: float
    ids: npt.NDArray[Any] | None = None
    recipe: Mapping[str, Any] = field(default_factory=dict)
    notes: Notes = ()

    @property
    def n(self) -> int:
        """Number of points."""
        return int(self.recipe["n"])

    @property
    def k(self) -> int:
        """Number of neighbors of each point."""
        return int(self.recipe["parameters"]["n_neighbors"])

    @property
    def conf_level(self) -> float:
        """Level of the intervals, for all columns together."""
        return float(self.recipe["parameters"]["conf_level"])

    @property
    def visible(self) -> tuple[str, ...]:
        """The columns that the map shows, those with the largest drop first."""
        return tuple(self.table.loc[self.table["visible"], "column"])

    @property
    def hidden(self) -> tuple[str, ...]:
        """The columns that the map is not known to show, those with the largest weight first."""
        rows = self.table[~self.table["visible"] & self.table["drop"].notna()]
        return tuple(rows.sort_values("weight", ascending=False, kind="stable")["column"])

    @property
    def call(self) -> str:
        """The Python code that reproduces it; its names stand for the values that were passed."""
        return str(self.recipe["call"])

    def glance(self) -> pd.DataFrame:
        """Return one row: numbers of points and columns, the overlap, how many columns are shown, and settings.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(100, 3))
        >>> dreval.column_importance(X, X[:, :2], random_state=0).glance()[["n", "n_columns", "n_visible"]]
             n  n_columns  n_visible
        0  100          3        2
        """
        row: dict[str, Any] = {"n": self.n, "n_used": len(self.rows), "n_columns": len(self.table)}
        row |= {"n_visible": len(self.visible), "overlap": self.overlap, "chance": self.chance}
        row |= {key: self.recipe["parameters"][key] for key in ("n_neighbors", "metric", "n_resamples", "conf_level")}
        return pd.DataFrame([row | {"random_state": self.recipe["random_state"], "note": join_notes(self.notes)}])

    def augment(self) -> pd.DataFrame:
        """Return what each point loses: one row for each point whose neighborhood was compared.

        Returns
        -------
        DataFrame
            The index is the number of the point. ``id``, its name or number; ``leading``, the shown column with the
            largest drop at the point, "" where none is positive; ``leading_drop``, that drop; and the drop of each
            column, by its name.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(100, 3))
        >>> result = dreval.column_importance(X, X[:, :2], random_state=0)
        >>> result.augment()[["leading", "leading_drop"]].head(2).round(2)
          leading  leading_drop
        0       0          0.19
        1       0          0.23
        """
        names = self.table["column"].tolist()
        visible = self.table["visible"].to_numpy()
        drops = np.where(visible, np.nan_to_num(self.contributions), -np.inf)
        best = drops.argmax(axis=1)
        largest = drops[np.arange(len(drops)), best]
        is_led = largest > 0
        ids = np.arange(self.n) if self.ids is None else self.ids
        frame = pd.DataFrame({"id": ids[self.rows]}, index=self.rows)
        frame["leading"] = np.where(is_led, np.array(names, object)[best], "")
        frame["leading_drop"] = np.where(is_led, largest, np.nan)
        return pd.concat([frame, pd.DataFrame(self.contributions, self.rows, names)], axis=1)

    @overload
    def plot(self, kind: str = "bars", ax: None = None, figsize: tuple[float, float] | None = None) -> Figure: ...
    @overload
    def plot(self, kind: str = "bars", *, ax: Axes) -> Axes: ...
    def plot(self, kind: str = "bars", ax: Any = None, figsize: Any = None) -> Figure | Axes:
        """Draw the drop of each column with its interval, or the map colored by the leading column of each point.

        Parameters
        ----------
        kind : {"bars", "map"}, default "bars"
            "bars": the drops in front of the weights, with their intervals. "map": the map, each point in the color of
            its leading column.
        %(figure)s

        Raises
        ------
        UnknownName
            If there is no such kind.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(100, 3))
        >>> dreval.column_importance(X, X[:, :2], random_state=0).plot()
        <Figure size ...>
        """
        from dreval.report.figures.importance import draw_importance

        return draw_importance(self, check_one_of(kind, IMPORTANCE_FIGURES, "kind", aliases=True), ax, figsize)

    def _summary(self, full: bool) -> Summary:
        """Return the printed form: which columns the map shows and loses, and their numbers."""
        from dreval.report.documents.small import importance_summary

        return importance_summary(self, full)
