"""The record of new points on a map: how well their neighbors among the points of the map are kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import check_one_of, check_path
from dreval.records.base import Summary, TableRecord, read_only
from dreval.records.notes import Notes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

VALUE_COLUMNS = {
    "measure": "object", "n_neighbors": "int64", "value": "float64", "se": "float64", "conf_low": "float64",
    "conf_high": "float64", "chance": "float64", "in_sample": "float64", "gap": "float64", "bound": "float64",
    "direction": "object",
}  # fmt: skip


@read_only
@dataclass(frozen=True, eq=False, repr=False)
class OutOfSample(TableRecord):
    """How a map treats new points: their neighbors among the reference points, in the data and on the map.

    Attributes
    ----------
    table : DataFrame
        One row for each measure: ``measure``, ``n_neighbors``, its mean over the new points ``value`` with standard
        error ``se`` and interval ``conf_low``, ``conf_high``, ``chance``, the value ``in_sample`` of the reference
        points, ``gap`` (in-sample minus new: a loss is positive, and negative where lower is better), the conformal
        ``bound`` that a new point is at least as good as (NaN without calibration), and ``direction``.
    points : DataFrame
        One row for each new point: ``id``, the coordinates ``y1``, ``y2``, ..., its ``group`` if there are groups, its
        score by each measure, and with a calibration ``p_value``, ``p_adjusted`` and ``flagged``.
    reference : ndarray (n, d)
        The map: coordinates of the reference points.
    recipe : dict
        ``n``, ``p``, ``n_new``, ``n_calibration``, ``n_needed``, ``groups``, ``random_state``, ``parameters``,
        ``call`` and ``versions``.
    notes : tuple of Note
        Assumptions, limits, and why something is missing.

    See Also
    --------
    out_of_sample : computes it.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(400, 4))
    >>> record = dreval.out_of_sample(X[:200], X[:200, :2], X[200:], X[200:, :2])
    >>> record.tidy()[["measure", "value", "in_sample"]].round(2).head(3)
                    measure  value  in_sample
    0       trustworthiness   0.78       0.77
    1            continuity   0.91       0.90
    2  neighborhood_overlap   0.36       0.34
    """

    table: pd.DataFrame
    points: pd.DataFrame
    reference: npt.NDArray[np.float64]
    recipe: Mapping[str, Any] = field(default_factory=dict)
    notes: Notes = ()

    def __len__(self) -> int:
        return len(self.points)

    @property
    def coordinates(self) -> npt.NDArray[np.float64]:
        """The coordinates of the new points, (m, d)."""
        names = [f"y{j + 1}" for j in range(self.reference.shape[1])]
        return np.asarray(self.points[names], np.float64)

    @property
    def has_conformal(self) -> bool:
        """Whether new points have p-values, from a calibration."""
        return "p_value" in self.points

    @property
    def flagged(self) -> npt.NDArray[np.bool_]:
        """Which new points the map does not represent, (m,); none without a calibration."""
        points = self.points
        return np.asarray(points["flagged"] if "flagged" in points else np.zeros(len(points), np.bool_), np.bool_)

    @property
    def n_needed(self) -> int | None:
        """How many new points must have the smallest p for any to be flagged at it; None without a calibration."""
        needed = self.recipe.get("n_needed")
        return None if needed is None else int(needed)

    @property
    def call(self) -> str:
        """The Python code that reproduces it; its names stand for the values that were passed."""
        return str(self.recipe.get("call", ""))

    def tidy(self) -> pd.DataFrame:
        """Return the table, a row for each measure; changes of it have no effect on the record.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(400, 4))
        >>> record = dreval.out_of_sample(X[:200], X[:200, :2], X[200:], X[200:, :2])
        >>> record.tidy()[["measure", "value", "gap", "direction"]].round(3).tail(2)
                measure  value    gap direction
        4    mrre_false  0.238  0.009     lower
        5  mrre_missing  0.088  0.001     lower
        """
        return self.table

    def of(self, measure: str) -> pd.Series[Any]:
        """Return the row of one measure.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(400, 4))
        >>> record = dreval.out_of_sample(X[:200], X[:200, :2], X[200:], X[200:, :2])
        >>> record.of("continuity")[["value", "in_sample", "gap"]].astype(float).round(3).to_dict()
        {'value': 0.91, 'in_sample': 0.903, 'gap': -0.007}
        """
        names = self.table["measure"].tolist()
        name = check_one_of(measure, names, "measure", aliases=True)
        return self.table.drop(columns="measure").iloc[names.index(name)].rename(name)

    def augment(self) -> pd.DataFrame:
        """Return one row for each new point: id, coordinates, scores, and with a calibration p-values and flags.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(500, 4))
        >>> new, held_out = (X[200:300], X[200:300, :2]), (X[300:], X[300:, :2])
        >>> record = dreval.out_of_sample(X[:200], X[:200, :2], *new, calibration=held_out, random_state=0)
        >>> list(record.augment())[-4:]
        ['mrre_missing', 'p_value', 'p_adjusted', 'flagged']
        """
        return self.points

    @overload
    def plot(
        self, measure: str | None = None, ax: None = None, figsize: tuple[float, float] | None = None
    ) -> Figure: ...
    @overload
    def plot(self, measure: str | None = None, *, ax: Axes) -> Axes: ...
    def plot(self, measure: str | None = None, ax: Any = None, figsize: Any = None) -> Figure | Axes:
        """Draw the map: reference points in soft gray, new points above them, those that it does not represent marked.

        Parameters
        ----------
        measure : str, optional
            A measure, to color the new points by their scores, from low (dark) to high (light).
        %(figure)s

        Raises
        ------
        UnknownName
            If there is no such measure.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(300, 4))
        >>> dreval.out_of_sample(X[:200], X[:200, :2], X[200:], X[200:, :2]).plot("trustworthiness")
        <Figure size ...>
        """
        from dreval.report.figures.maps import out_of_sample_map

        names = self.table["measure"].tolist()
        name = None if measure is None else check_one_of(measure, names, "measure", aliases=True)
        return out_of_sample_map(self, name, ax, figsize)

    def report(self, path: str | Path, *, title: str | None = None) -> Path:
        """Write the report of the new points.

        %(report)s

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(300, 4))
        >>> record = dreval.out_of_sample(X[:200], X[:200, :2], X[200:], X[200:, :2])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     record.report(f"{folder}/new.md").read_text("utf-8").splitlines()[0]
        '# New points on a map'
        """
        from dreval.report.write import write_out_of_sample

        return write_out_of_sample(self, check_path(path, "path"), title=title)

    def save(self, path: str | Path) -> Path:
        """Save everything but the data in one file (a zip of JSON and CSV); ``dreval.load_results`` reads it.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(300, 4))
        >>> record = dreval.out_of_sample(X[:200], X[:200, :2], X[200:], X[200:, :2])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     len(dreval.load_results(record.save(f"{folder}/new.dreval")))
        100
        """
        from dreval.records.archive import save_out_of_sample

        return save_out_of_sample(self, path)

    def _summary(self, full: bool) -> Summary:
        """Return the printed form: what is kept of the neighbors of new points, and which points are flagged."""
        from dreval.report.documents.out_of_sample import out_of_sample_summary

        return out_of_sample_summary(self, full)
