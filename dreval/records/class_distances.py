"""The record of the distances between classes: in the data, on maps, and whether their order is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

import pandas as pd

from dreval._check import check_one_of
from dreval.records.base import Summary, TableRecord, read_only
from dreval.records.notes import Notes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@read_only
@dataclass(frozen=True, eq=False, repr=False)
class ClassDistances(TableRecord):
    """The distances between classes in the data and on maps, as ``Results.class_distances`` returns them.

    Attributes
    ----------
    table : DataFrame
        One row for each embedding and pair of classes: ``embedding``, ``class_a``, ``class_b``, their sizes ``n_a`` and
        ``n_b``, ``data_distance`` and ``map_distance`` in the units of each, ``data`` and ``map`` (both divided by
        their geometric mean over the pairs that are apart in the data and on the map), their ``ratio`` with
        ``conf_low`` and ``conf_high`` (limits where a pair is apart in one of them alone), ``rank_data`` and
        ``rank_map`` (1: the nearest pair), ``order_kept`` (share of the other pairs that are on the same side of this
        one, nearer or farther, in the data and on the map), ``n_kept``, ``n_reversed`` and ``n_open`` (how many of them
        surely are, surely are not, and are not decided), ``apart_in_data`` and ``apart_on_map`` (whether the squared
        distance is above two standard errors), and ``reading``: "too far", "too near", "open", or "" without an
        interval.
    recipe : dict
        ``n``, ``n_classes``, ``embeddings``, ``groups``, ``parameters``, ``call`` and ``versions``.
    notes : tuple of Note
        Classes and pairs that are left out, and why there is no interval.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> labels = np.repeat(list("ABC"), 30)
    >>> X = np.random.default_rng(0).normal(size=(90, 3)) + np.diag([4.0, 6.0, 9.0])[np.repeat(range(3), 30)]
    >>> ev = dreval.Evaluation(X, {"map": X[:, :2]}, labels=labels, random_state=0)
    >>> res = ev.run("trustworthiness", None, None)
    >>> res.class_distances().tidy()[["class_a", "class_b", "ratio", "rank_data", "rank_map", "reading"]].round(2)
      class_a class_b  ratio  rank_data  rank_map   reading
    0       A       B   1.60          1         3   too far
    1       A       C   0.68          2         1  too near
    2       B       C   0.92          3         2      open
    """

    table: pd.DataFrame
    recipe: Mapping[str, Any] = field(default_factory=dict)
    notes: Notes = ()
    _all_pairs: pd.DataFrame = field(default_factory=pd.DataFrame, repr=False)  # also those that were not asked for

    @property
    def names(self) -> tuple[str, ...]:
        """The embeddings."""
        return tuple(dict.fromkeys(self.table["embedding"]))

    @property
    def call(self) -> str:
        """The Python code that reproduces it."""
        return str(self.recipe["call"])

    def matrix(self, embedding: str | None = None, column: str = "ratio") -> pd.DataFrame:
        """Return a column of the table as a symmetric matrix, classes x classes, of one embedding (the first).

        Examples
        --------
        >>> import numpy as np, dreval
        >>> labels = np.repeat(list("ABC"), 30)
        >>> X = np.random.default_rng(0).normal(size=(90, 3)) + np.diag([4.0, 6.0, 9.0])[np.repeat(range(3), 30)]
        >>> ev = dreval.Evaluation(X, {"map": X[:, :2]}, labels=labels, random_state=0)
        >>> res = ev.run("trustworthiness", None, None)
        >>> float(res.class_distances().matrix(column="rank_map").loc["A", "C"])
        1.0
        """
        name = self.names[0] if embedding is None else check_one_of(embedding, self.names, "embedding")
        table = self._all_pairs
        numbers = [str(key) for key in table if pd.api.types.is_numeric_dtype(table[key])]
        rows = table[table["embedding"] == name]
        values = rows[["class_a", "class_b"]].assign(value=rows[check_one_of(column, numbers, "column")])
        turned = values.rename(columns={"class_a": "class_b", "class_b": "class_a"})
        order = list(dict.fromkeys([*rows["class_a"], *rows["class_b"]]))
        both = pd.concat([values, turned]).pivot(index="class_a", columns="class_b", values="value")
        return both.reindex(index=order, columns=order).astype(float).rename_axis(index=None, columns=None)

    @overload
    def plot(
        self, embedding: str | None = None, ax: None = None, figsize: tuple[float, float] | None = None
    ) -> Figure: ...
    @overload
    def plot(self, embedding: str | None = None, *, ax: Axes) -> Axes: ...
    def plot(self, embedding: str | None = None, ax: Any = None, figsize: Any = None) -> Figure | Axes:
        """Draw a cell for each pair of classes: how many times as far apart it is drawn as in the data.

        Parameters
        ----------
        embedding : str, optional
            The embedding; the first by default.
        %(figure)s

        Raises
        ------
        UnknownName
            If there is no such embedding.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> labels = np.repeat(list("ABC"), 30)
        >>> X = np.random.default_rng(0).normal(size=(90, 3)) + np.diag([4.0, 6.0, 9.0])[np.repeat(range(3), 30)]
        >>> ev = dreval.Evaluation(X, {"map": X[:, :2]}, labels=labels, random_state=0)
        >>> res = ev.run("trustworthiness", None, None)
        >>> res.class_distances().plot()
        <Figure size ...>
        """
        from dreval.report.figures.class_distances import draw_class_distances

        name = self.names[0] if embedding is None else check_one_of(embedding, self.names, "embedding")
        return draw_class_distances(self, name, ax, figsize)

    def _summary(self, full: bool) -> Summary:
        """Return the printed form: which distances may be trusted, and the table."""
        from dreval.report.documents.classes_and_points import class_distances_summary

        return class_distances_summary(self, full)
