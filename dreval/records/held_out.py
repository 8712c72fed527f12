"""The records of held-out fidelity, and of the test of clusters on measurements that the map has not seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import check_one_of, check_path
from dreval.records.base import Summary, TableRecord, read_only
from dreval.records.estimates import MeasureRecord
from dreval.records.frames import coordinates_frame
from dreval.records.notes import Notes, join_notes
from dreval.registry import MEASURES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TABLE_COLUMNS = ("measure", "parameters", "held_out", "se", "conf_low", "conf_high", "conf_level", "se_points", "train",
                 "optimism", "optimism_se", "optimism_se_points", "usual", "chance", "p_value", "in_best_set", "p_best",
                 "in_population_set", "in_usual_set", "n_splits", "note")  # fmt: skip
PARTS = ("train", "optimism", "optimism_se", "se", "se_points", "usual")
MEMBERSHIPS = ("in_best_set", "in_population_set", "in_usual_set")


def held_out_frame(rows: list[dict[str, Any]], settings: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return the table of rows and settings; an option with the name of another column gets "_" at its end."""
    table = pd.DataFrame([{key: row[key] for key in TABLE_COLUMNS} for row in rows])
    for position, name in enumerate(dict.fromkeys(name for setting in settings for name in setting), 2):
        column = pd.Series([setting.get(name) for setting in settings], dtype=object).infer_objects()
        table.insert(position, f"{name}_" if name in TABLE_COLUMNS else name, column)
    return table.astype(dict.fromkeys(MEMBERSHIPS, "boolean"))


def best_setting(rows: pd.DataFrame) -> int:
    """Return the number of the setting with the best held-out value, from rows of one measure; 0 if none has one."""
    held = rows["held_out"].to_numpy(dtype=np.float64)
    sign = 1.0 if MEASURES.card(rows["measure"].iloc[0]).direction == "higher" else -1.0
    return int(np.nanargmax(sign * held)) if np.isfinite(held).any() else 0


def values_of_best(rows: pd.DataFrame) -> dict[str, Any]:
    """Return the fields ``value``, ``chance`` and ``parts`` of a record, from the rows of its first measure."""
    row = rows.iloc[best_setting(rows)]
    parts: dict[str, Any] = {name: float(row[name]) for name in PARTS}
    parts |= {"p_chance": float(row["p_value"]), "measure": str(row["measure"])}
    return {"value": float(row["held_out"]), "chance": float(row["chance"]), "parts": parts}


@read_only
@dataclass(frozen=True, eq=False, repr=False)
class HeldOutFidelity(MeasureRecord):
    """Fidelity of embeddings to measurements that they have not seen; it has the attributes of ``MeasureRecord``.

    Attributes
    ----------
    table : DataFrame
        One row per measure and setting: ``measure``, ``parameters``, a column for each option of the grid;
        ``held_out``, the mean over splits, with standard error ``se`` and interval over splits (for these data), and
        ``se_points``, the standard error over points (for their population, embeddings held fixed); ``train``, the
        value on the part that the embedding shows; ``optimism``, by how much that is better, with both standard errors;
        ``usual``, the value of embeddings of all measurements on these; ``chance`` level on the second part of the
        first split, and ``p_value`` of the held-out value there against it; ``in_best_set`` and ``p_best`` (held out,
        for these data), ``in_population_set`` (held out, for the population), ``in_usual_set``; ``n_splits`` that did
        not fail, ``note``.
    values : DataFrame
        One row per measure, setting and split: ``train`` and ``held_out``.
    settings : tuple of dict
        The settings, in the order of the grid.
    left_out : ndarray (n,)
        The mean held-out value of the best setting without each point, with the embeddings held fixed; NaN without.
    maps : dict of str to tuple of ndarray (n, d)
        The embedding of the first part in each split, by the number of the setting; None where a run failed. A saved
        record has no embeddings.

    See Also
    --------
    held_out_fidelity : computes it, and explains each number.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 2)) @ rng.normal(size=(2, 30)) + rng.normal(size=(80, 30))
    >>> result = dreval.held_out_fidelity(X, "pca", random_state=0)
    >>> result.parts["optimism"] > 0
    True
    """

    values: pd.DataFrame = field(default_factory=pd.DataFrame)
    settings: tuple[Mapping[str, Any], ...] = ()
    maps: Mapping[str, tuple[npt.NDArray[np.float64] | None, ...]] = field(default_factory=dict)
    left_out: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    _call: str = ""
    _splits: Any = None

    @property
    def call(self) -> str:
        """The Python code that reproduces it; its names stand for the values that were passed."""
        return self._call

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures; the first one decides."""
        return tuple(dict.fromkeys(self.tidy()["measure"]))

    def tidy(self) -> pd.DataFrame:
        """Return the table: one row per measure and setting.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(60, 10))
        >>> dreval.held_out_fidelity(X, "pca", random_state=0).tidy()[["held_out", "p_value"]].round(2)
           held_out  p_value
        0     -0.02     0.94
        """
        return pd.DataFrame() if self.table is None else self.table

    def of(self, measure: str | None = None) -> pd.DataFrame:
        """Return the rows of one measure, by default of the first; the index is the number of the setting.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(60, 10))
        >>> grid = {"n_neighbors": [5, 15]}
        >>> len(dreval.held_out_fidelity(X, "isomap", param_grid=grid, n_splits=3, random_state=0).of())
        2
        """
        table = self.tidy()
        name = self.measures[0] if measure is None else check_one_of(measure, self.measures, "measure", aliases=True)
        rows = table[table["measure"] == name]
        first: pd.DataFrame = rows[rows["parameters"] == rows["parameters"].iloc[0]].reset_index(drop=True)
        return first

    def best_set(self, measure: str | None = None) -> list[dict[str, Any]]:
        """Return the settings whose held-out value is not significantly below that of another, the best first.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(60, 4)) * [4, 3, 1, 1]
        >>> grid = {"n_neighbors": [4, 8, 12]}
        >>> result = dreval.held_out_fidelity(X, "isomap", "gaussian", sigma=0.5, param_grid=grid, random_state=0)
        >>> result.best_set()[0]
        {'n_neighbors': 12}
        """
        rows = self.of(measure)
        is_higher = MEASURES.card(rows["measure"].iloc[0]).direction == "higher"
        order = rows["held_out"].sort_values(ascending=not is_higher, kind="stable").index
        in_set = rows["in_best_set"].fillna(False)
        return [dict(self.settings[number]) for number in order if in_set[number]]

    def glance(self) -> pd.DataFrame:
        """Return one row: data, split, and the values of the best setting by the first measure.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(60, 10))
        >>> dreval.held_out_fidelity(X, "pca", random_state=0).glance()[["n", "kind", "n_splits"]]
            n     kind  n_splits
        0  60  columns        10
        """
        row = {name: self.recipe[name] for name in ("n", "p", "source")}
        row |= {name: self.recipe["parameters"][name] for name in ("kind", "fraction", "n_splits")}
        row |= {"measure": self.measures[0], "held_out": self.value, **self.parts}
        return pd.DataFrame([row | {"random_state": self.recipe["random_state"], "note": join_notes(self.notes)}])

    def test_clusters(
        self,
        rule: int | Callable[[npt.NDArray[np.float64]], Any],
        *,
        split: int = 0,
        setting: int = 0,
        n_resamples: int = 999,
        alpha: float = 0.05,
    ) -> ClusterTest:
        """Test clusters that were chosen on the map of the first part, on the second part.

        Tests after clustering the same numbers find differences in pure noise, since the clusters were made of it.
        Here the clusters come from the map of the first part, and the second part, whose noise is independent, is
        tested. Two questions:

        - *Do the clusters differ by more than measurement noise?* For each pair of clusters the points are permuted
          between both; p of a column is that of the largest absolute t statistic over the columns, adjusted by Holm
          over pairs. A gradient that is cut in two differs by more than noise as well.
        - *Is there a gap between them?* The dip test of unimodality for the second part along the line between the two
          centers that was found on the first part (with "columns" on a random half of the points, and tested on the
          other half). With more than two clusters all points near the segment between both centers are tested.

        Parameters
        ----------
        rule : int or callable
            A number of clusters, by k-means on the map; or a function of the map (n, d) that returns the cluster of
            each point, or True for selected points. Points of the cluster -1, None or NaN are left out. It must not
            return labels that were made from all measurements, such as clusters of the map of all data: these have
            seen the second part, and the test then finds clusters in noise. The function is called again with the
            points in another order, and a note says so if it gives the same clusters.
        split : int, default 0
            Number of the split whose map is used.
        setting : int, default 0
            Number of the setting.
        n_resamples : int, default 999
            Permutations, and samples of the dip test.
        alpha : float, default 0.05
            Level of the sentences.

        Returns
        -------
        ClusterTest

        Raises
        ------
        InputError
            If the rule gives fewer than two clusters of two points, the run of the split failed, or the record was
            loaded: a file has neither embeddings nor measurements.

        Notes
        -----
        The permutation test is exact where the rows of both clusters have the same distribution of the second part.
        The dip test compares with uniform samples, so that it rejects a single rounded cloud hardly ever. It refers to
        the straight line between the centers: the ends of a bent, connected shape have a gap along it. Simulated, at
        5 %, 1000 data sets each (100 points, 20 columns, noise 1, Gaussian splits, 2-means on principal components):
        pure noise differs in .047 and has a gap in 0; one cloud with a signal of the size of the noise in one direction
        in .103 and .004, in each column in 1 and 0; two groups 4 and 6 standard deviations apart in .991 and .050, and
        in 1 and .914.

        References
        ----------
        Hartigan and Hartigan (1985), The dip test of unimodality, *Ann. Stat.* 13, 70-84. Neufeld, Dharamshi, Gao and
        Witten (2024), *JMLR* 25.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(100, 20)) + 2.5 * (np.arange(100)[:, None] < 50)
        >>> result = dreval.held_out_fidelity(X, "pca", "gaussian", sigma=1.0, random_state=0)
        >>> result.test_clusters(2).tidy()[["p_value", "dip_p_value"]]
           p_value  dip_p_value
        0    0.001        0.001
        """
        from dreval.study.cluster_test import cluster_test

        return cluster_test(self, rule, split, setting, n_resamples, alpha)

    @overload
    def plot(
        self, measure: str | None = None, ax: None = None, figsize: tuple[float, float] | None = None
    ) -> Figure: ...
    @overload
    def plot(self, measure: str | None = None, *, ax: Axes) -> Axes: ...
    def plot(self, measure: str | None = None, ax: Any = None, figsize: Any = None) -> Figure | Axes:
        """Draw held-out, train and usual values of each setting, the held-out ones with their intervals over splits.

        Parameters
        ----------
        measure : str, optional
            One of ``measures``; by default the first.
        %(figure)s

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(60, 10))
        >>> dreval.held_out_fidelity(X, "pca", random_state=0).plot()
        <Figure size ...>
        """
        from dreval.report.figures.held_out import draw_held_out

        return draw_held_out(self, measure, ax, figsize)

    def report(self, path: str | Path, *, title: str | None = None) -> Path:
        """Write the report of held-out fidelity.

        %(report)s

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(60, 10))
        >>> result = dreval.held_out_fidelity(X, "pca", random_state=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = result.report(f"{folder}/page.html")
        ...     path.name, path.exists()
        ('page.html', True)
        """
        from dreval.report.write import write_held_out

        return write_held_out(self, check_path(path, "path"), title=title)

    def save(self, path: str | Path) -> Path:
        """Save all values in one file (a zip of JSON and CSV); ``dreval.load_results`` reads it.

        Values of options that are no numbers, words, truth values or lists of them are saved as text. Neither
        embeddings nor measurements are part of the file, so that ``test_clusters`` needs the record itself; embeddings
        of its runs stay in ``journal=``.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(60, 10))
        >>> result = dreval.held_out_fidelity(X, "pca", random_state=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     float(dreval.load_results(result.save(f"{folder}/a.dreval"))) == float(result)
        True
        """
        from dreval.records.archive import save_held_out

        return save_held_out(self, path)

    def _summary(self, full: bool) -> Summary:
        """Return the printed form: held-out value, optimism, and both best sets."""
        from dreval.report.documents.held_out import held_out_summary

        return held_out_summary(self, full)


@read_only
@dataclass(frozen=True, eq=False, repr=False)
class ClusterTest(TableRecord):
    """Whether clusters of a map differ by more than measurement noise, and whether there is a gap between them.

    Attributes
    ----------
    table : DataFrame
        One row for each pair of clusters: ``first``, ``second``, ``n_first``, ``n_second``; ``column``, the column of
        the second part with the largest t statistic in absolute value, ``statistic``; ``p_value`` and ``p_adjusted``
        (Holm over pairs) that the clusters differ in some column; ``n_columns`` that differ at the level ``alpha``;
        ``dip``, ``dip_p_value`` and ``dip_p_adjusted`` (Holm) that there is a gap between them; ``n_dip``, the
        points of the dip test.
    columns : DataFrame
        One row for each pair and column of the second part: ``first``, ``second``, ``column``, ``difference`` (first
        minus second), ``statistic``, and ``p_adjusted`` for all columns and pairs.
    clusters : ndarray (n,)
        The cluster of each point, as numbers from 0 in the order of their names; -1 for points that are left out.
    map : ndarray (n, d)
        The map of the first part.
    alpha : float
        The level.
    recipe : dict
        ``parameters`` and ``random_state``: how to reproduce it.
    notes : tuple of Note
        What the tests do not say.

    See Also
    --------
    HeldOutFidelity.test_clusters : computes it.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(100, 20))
    >>> result = dreval.held_out_fidelity(X, "pca", "gaussian", sigma=1.0, random_state=0).test_clusters(2)
    >>> bool(result.tidy()["p_value"][0] > 0.05)
    True
    """

    table: pd.DataFrame
    columns: pd.DataFrame
    clusters: npt.NDArray[np.int64]
    map: npt.NDArray[np.float64]
    alpha: float
    recipe: Mapping[str, Any] = field(default_factory=dict)
    notes: Notes = ()

    def augment(self) -> pd.DataFrame:
        """Return one row per point: its coordinates ``y1``, ``y2``, ... on the map, and its ``cluster``.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(100, 20))
        >>> result = dreval.held_out_fidelity(X, "pca", "gaussian", sigma=1.0, random_state=0).test_clusters(2)
        >>> list(result.augment())
        ['y1', 'y2', 'cluster']
        """
        return coordinates_frame(self.map).assign(cluster=self.clusters)

    def _summary(self, full: bool) -> Summary:
        """Return the printed form: one sentence for each question, and a row for each pair."""
        from dreval.report.documents.held_out import cluster_test_summary

        return cluster_test_summary(self, full)
