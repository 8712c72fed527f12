"""The record of the points that a map misplaces, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval.records.base import Summary, TableRecord, read_only
from dreval.records.notes import Notes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@read_only
@dataclass(frozen=True, eq=False, repr=False)
class MisplacedPoints(TableRecord):
    """The points whose neighbors on a map are no better than random ones, as ``Results.misplaced_points`` returns them.

    Attributes
    ----------
    table : DataFrame
        One row for each misplaced point, the worst first: ``point`` (row number, -1 for new points), ``id``, ``kind``
        ("data" or "new"), ``score``, for new points ``p_value`` and ``p_adjusted``, ``like_noise`` where a noise test
        was run (not distinguished from noise), and with labels ``label``, ``class_in_data`` and ``class_on_map`` (the
        most frequent class of its neighbors in the data and on the map).
    recipe : dict
        ``n``, ``n_scored``, ``limit`` (the cut-off), ``chance``, ``direction``, ``n_new``, ``alpha`` (of new points),
        ``parameters``, ``call`` and ``versions``.
    notes : tuple of Note
        What is guaranteed of the list, and what is not.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> labels = np.repeat(list("ABC"), 30)
    >>> X = np.random.default_rng(0).normal(size=(90, 3)) + np.diag([4.0, 6.0, 9.0])[np.repeat(range(3), 30)]
    >>> ev = dreval.Evaluation(X, {"map": X[:, :2]}, labels=labels, random_state=0)
    >>> res = ev.run("neighborhood_overlap", None, None)
    >>> len(res.misplaced_points("map", cutoff=0.5)), len(res.misplaced_points("map", cutoff="chance"))
    (5, 1)
    """

    table: pd.DataFrame
    recipe: Mapping[str, Any] = field(default_factory=dict)
    notes: Notes = ()
    _coordinates: npt.NDArray[np.float64] | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.table)

    @property
    def ids(self) -> list[Any]:
        """Names of the points, the worst first."""
        return list(self.table["id"])

    @property
    def call(self) -> str:
        """The Python code that reproduces it."""
        return str(self.recipe["call"])

    @overload
    def plot(self, ax: None = None, figsize: tuple[float, float] | None = None) -> Figure: ...
    @overload
    def plot(self, *, ax: Axes) -> Axes: ...
    def plot(self, ax: Any = None, figsize: Any = None) -> Figure | Axes:
        """Draw the map with the misplaced points marked, and the names of the worst.

        Parameters
        ----------
        %(figure)s

        Examples
        --------
        >>> import numpy as np, dreval
        >>> labels = np.repeat(list("ABC"), 30)
        >>> X = np.random.default_rng(0).normal(size=(90, 3)) + np.diag([4.0, 6.0, 9.0])[np.repeat(range(3), 30)]
        >>> ev = dreval.Evaluation(X, {"map": X[:, :2]}, labels=labels, random_state=0)
        >>> res = ev.run("neighborhood_overlap", None, None)
        >>> res.misplaced_points("map", cutoff=0.5).plot()
        <Figure size ...>
        """
        from dreval.report.figures.class_distances import draw_misplaced

        return draw_misplaced(self, ax, figsize)

    def _summary(self, full: bool) -> Summary:
        """Return the printed form: how many points are misplaced, what is guaranteed, and the worst by name."""
        from dreval.report.documents.classes_and_points import misplaced_summary

        return misplaced_summary(self, full)
