"""The record of a sweep: settings of a method over replicates, and those not distinguishable from the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import pandas as pd

from dreval._check import check_one_of, check_path
from dreval.records.base import Summary, TableRecord, read_only
from dreval.records.notes import Notes, join_notes
from dreval.registry import MEASURES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TABLE_COLUMNS = ("measure", "parameters", "mean", "se", "conf_low", "conf_high", "conf_level", "n_replicates",
                 "in_best_set", "p_value", "note")  # fmt: skip


def sweep_frame(rows: list[dict[str, Any]], settings: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return the table of rows and settings; an option with the name of another column gets "_" at its end."""
    names = list(dict.fromkeys(name for setting in settings for name in setting))
    table = pd.DataFrame([{key: row[key] for key in TABLE_COLUMNS} for row in rows])
    for position, name in enumerate(names, 2):
        column = pd.Series([setting.get(name) for setting in settings], dtype=object).infer_objects()
        table.insert(position, f"{name}_" if name in TABLE_COLUMNS else name, column)
    return table.astype({"in_best_set": "boolean"})


@read_only
@dataclass(frozen=True, eq=False, repr=False)
class Sweep(TableRecord):
    """Settings of a method, evaluated over replicates, with the set that is not distinguishable from the best.

    Attributes
    ----------
    settings : tuple of dict
        The settings, in the order of the grid.
    table : DataFrame
        One row per measure and setting: ``measure``, ``parameters``, a column for each option, ``mean`` over
        replicates, its standard error ``se`` and interval ``conf_low``, ``conf_high``, ``n_replicates`` (those that
        did not fail), ``in_best_set``, ``p_value`` (of the test that it is the best, adjusted for the choice among the
        settings), ``note``. A setting whose run fails is not evaluated: it has ``<NA>`` and its reason.
    values : DataFrame
        One row per measure, setting and replicate: ``measure``, ``parameters``, ``setting`` (its number), ``replicate``
        and ``value``, NaN where the run failed.
    over : str
        "seeds", "halves" or "split_measurements": what differs between replicates.
    alpha : float
        One minus the level of the sets and intervals.
    recipe : dict
        ``n``, ``p``, ``source``, ``random_state``, ``parameters``, ``call`` and ``versions``: how to reproduce it.
    notes : tuple of Note
        Assumptions and limits that affect how to read it.

    See Also
    --------
    sweep : computes it.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(60, 4)) * [4, 3, 1, 1]
    >>> result = dreval.sweep(X, "isomap", {"n_neighbors": [0, 8, 12]}, random_state=0)
    >>> result
    isomap: n_neighbors = 12 has the best mean overlap over all sizes, .696 (95 %
    interval .545 to .847); 8 is not significantly worse. n_neighbors = 0 could
    not be evaluated: see the notes. ...
    >>> result.tidy()[["n_neighbors", "in_best_set"]]
       n_neighbors  in_best_set
    0            0         <NA>
    1            8         True
    2           12         True
    """

    settings: tuple[Mapping[str, Any], ...]
    table: pd.DataFrame
    values: pd.DataFrame
    over: str
    alpha: float
    recipe: Mapping[str, Any] = field(default_factory=dict)
    notes: Notes = ()

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures, with their parameters where one has several; the first decides."""
        return tuple(self._rows())

    @property
    def replicates(self) -> str:
        """The replicates in a sentence: "seeds", "halves" or "splits"."""
        return "splits" if self.over == "split_measurements" else self.over

    @property
    def options(self) -> tuple[str, ...]:
        """The options that the settings set."""
        return tuple(dict.fromkeys(name for setting in self.settings for name in setting))

    def _rows(self) -> dict[str, pd.DataFrame]:
        """Return the rows of each measure."""
        groups = list(self.table.groupby(["measure", "parameters"], sort=False))
        duplicated = pd.Series([name for (name, _), _ in groups]).duplicated(keep=False).to_list()
        names = [
            f"{name}({parameters})" if repeated else name
            for ((name, parameters), _), repeated in zip(groups, duplicated, strict=True)
        ]
        return {str(name): rows for name, (_, rows) in zip(names, groups, strict=True)}

    def of(self, measure: str | None = None) -> pd.DataFrame:
        """Return the rows of ``tidy`` of one measure, by default of the first; the index is the number of the setting.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(60, 4)) * [4, 3, 1, 1]
        >>> result = dreval.sweep(X, "isomap", {"n_neighbors": [0, 8, 12]}, random_state=0)
        >>> len(result.of("r_nx_auc"))
        3
        """
        rows = self._rows()
        name = next(iter(rows)) if measure is None else check_one_of(measure, list(rows), "measure", aliases=True)
        return rows[name].reset_index(drop=True)

    def glance(self) -> pd.DataFrame:
        """Return one row per measure: numbers of settings and replicates, size of the best set, and the best value.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(60, 4)) * [4, 3, 1, 1]
        >>> result = dreval.sweep(X, "isomap", {"n_neighbors": [0, 8, 12]}, random_state=0)
        >>> result.glance()[["n_settings", "n_in_best_set", "over"]]
           n_settings  n_in_best_set    over
        0           3              2  halves
        """
        table = []
        for rows in self._rows().values():
            row = {name: self.recipe[name] for name in ("n", "p", "source")} | {"over": self.over}
            row |= {"measure": rows["measure"].iloc[0], "parameters": rows["parameters"].iloc[0]}
            row |= {"n_settings": len(rows), "n_replicates": self.recipe["parameters"]["n_replicates"]}
            row |= {"n_in_best_set": int(rows["in_best_set"].fillna(False).sum())}
            row |= {"n_judged": int(rows["in_best_set"].notna().sum()), "conf_level": 1 - self.alpha}
            table.append(row | {"random_state": self.recipe["random_state"], "note": join_notes(self.notes)})
        return pd.DataFrame(table)

    def order(self, measure: str | None = None) -> list[int]:
        """Return the numbers of the settings by their means, the best first; those without a mean come last.

        Settings with equal means stay in the order of the grid.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(60, 4)) * [4, 3, 1, 1]
        >>> result = dreval.sweep(X, "isomap", {"n_neighbors": [0, 8, 12]}, random_state=0)
        >>> result.order()
        [2, 1, 0]
        """
        rows = self.of(measure)
        higher = MEASURES.card(rows["measure"].iloc[0]).direction == "higher"
        ordered = rows["mean"].sort_values(ascending=not higher, kind="stable", na_position="last")
        return [int(number) for number in ordered.index]

    def best_set(self, measure: str | None = None) -> list[dict[str, Any]]:
        """Return the settings that are not distinguishable from the best by their means: the best first.

        The evaluated setting with the best mean is always among them.

        Parameters
        ----------
        measure : str, optional
            One of ``measures``; by default the first.

        Returns
        -------
        list of dict
            Options of the method, each to be passed on: ``dreval.embed(X, method, **setting)``.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(60, 4)) * [4, 3, 1, 1]
        >>> dreval.sweep(X, "isomap", {"n_neighbors": [0, 8, 12]}, random_state=0).best_set()
        [{'n_neighbors': 12}, {'n_neighbors': 8}]
        """
        in_set = self.of(measure)["in_best_set"].fillna(False)
        return [dict(self.settings[number]) for number in self.order(measure) if in_set[number]]

    @overload
    def plot(
        self, measure: str | None = None, ax: None = None, figsize: tuple[float, float] | None = None
    ) -> Figure: ...
    @overload
    def plot(self, measure: str | None = None, *, ax: Axes) -> Axes: ...
    def plot(self, measure: str | None = None, ax: Any = None, figsize: Any = None) -> Figure | Axes:
        """Draw the value of each setting with its interval; two options of numbers or words give a map of cells.

        Parameters
        ----------
        measure : str, optional
            One of ``measures``; by default the first.
        %(figure)s

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(60, 4)) * [4, 3, 1, 1]
        >>> dreval.sweep(X, "isomap", {"n_neighbors": [0, 8, 12]}, random_state=0).plot()
        <Figure size ...>
        """
        from dreval.report.figures.curves import draw_sweep

        return draw_sweep(self, measure, ax, figsize)

    def report(self, path: str | Path, *, title: str | None = None) -> Path:
        """Write the report of the sweep.

        %(report)s

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(60, 4)) * [4, 3, 1, 1]
        >>> result = dreval.sweep(X, "isomap", {"n_neighbors": [0, 8, 12]}, random_state=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = result.report(f"{folder}/page.html")
        ...     path.name, path.exists()
        ('page.html', True)
        """
        from dreval.report.write import write_sweep

        return write_sweep(self, check_path(path, "path"), title=title)

    def save(self, path: str | Path) -> Path:
        """Save everything in one file (a zip of JSON and CSV); ``dreval.load_results`` reads it.

        Values of options that are no numbers, words, truth values or lists of them, such as functions, are saved as
        text. Embeddings are not part of a sweep: those of its runs stay in ``journal=``.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(60, 4)) * [4, 3, 1, 1]
        >>> result = dreval.sweep(X, "isomap", {"n_neighbors": [0, 8, 12]}, random_state=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     dreval.load_results(result.save(f"{folder}/a.dreval")).best_set()
        [{'n_neighbors': 12}, {'n_neighbors': 8}]
        """
        from dreval.records.archive import save_sweep

        return save_sweep(self, path)

    def _summary(self, full: bool) -> Summary:
        """Return the printed form: the settings and their values, the best first."""
        from dreval.report.documents.sweep import sweep_summary

        return sweep_summary(self, full)

    @property
    def call(self) -> str:
        """The Python code that reproduces it; its names stand for the values that were passed."""
        return str(self.recipe["call"])
