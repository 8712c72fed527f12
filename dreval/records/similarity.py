"""The record of how similar representations of the same items are, and which items moved."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import check_one_of, check_path
from dreval.errors import InputError
from dreval.glossary import SIMILARITY_FIGURES
from dreval.records.base import Summary, TableRecord, read_only
from dreval.records.notes import Notes, join_notes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PERFECT = {"overlap": 1.0, "cka": 1.0, "rsa": 1.0, "procrustes": 0.0}  # values of equal representations


@read_only
@dataclass(frozen=True, eq=False, repr=False)
class RepresentationSimilarity(TableRecord):
    """How similar representations of the same items are, whether that is more than chance, and which items moved.

    Attributes
    ----------
    table : DataFrame
        One row for each pair and measure, ``first`` and ``second`` being the names of the representations; of the
        information imbalance one for each direction (``first`` predicts ``second``). ``measure``, ``parameters``,
        ``n_used`` (the items, or anchors, behind the value), ``value``, ``direction``, ``chance`` (the expected value
        of permuted items), ``p_value``, ``p_adjusted`` (for all pairs by the measure), ``p_kind``, ``threshold`` (a
        value that permuted items pass with probability alpha at most), ``calibrated`` (0 for a value that is not
        significant, 1 for equal representations, of imbalance less, since its best value is 2/n), ``se``, ``conf_low``,
        ``conf_high``, ``conf_level``, ``note``.
    maxima : DataFrame
        One row for each measure: the most similar pair of all, with ``p_value``, ``threshold`` and ``calibrated`` of
        the maximum over ``n_pairs`` pairs.
    curve : DataFrame
        One row for each pair and number of neighbors: ``first``, ``second``, ``n_neighbors``, ``overlap``, ``chance``.
    rows, columns : tuple of str
        Names of the representations that are compared: each of ``rows`` with each of ``columns``; all pairs where both
        are the same.
    neighbors : dict of str to ndarray (n, k)
        The k nearest neighbors of each item in each representation, nearest first.
    ids : ndarray (n,) or None
        Names of the items.
    recipe : dict
        ``n``, ``random_state``, ``parameters``, ``call`` and ``versions``: how to reproduce it.
    notes : tuple of Note
        Assumptions and limits that affect how to read it.

    See Also
    --------
    representation_similarity : computes it, and explains each number.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> rng = np.random.default_rng(0)
    >>> old = rng.normal(size=(80, 6))
    >>> result = dreval.representation_similarity(old, old + 0.3 * rng.normal(size=(80, 6)), random_state=0)
    >>> result.names, result.k
    (('A', 'B'), 15)
    """

    table: pd.DataFrame
    maxima: pd.DataFrame
    curve: pd.DataFrame
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    neighbors: Mapping[str, npt.NDArray[np.int32]]
    ids: npt.NDArray[Any] | None = None
    recipe: Mapping[str, Any] = field(default_factory=dict)
    notes: Notes = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all representations."""
        return tuple(dict.fromkeys((*self.rows, *self.columns)))

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The pairs that are compared."""
        if self.rows == self.columns:
            return [(a, b) for i, a in enumerate(self.rows) for b in self.rows[i + 1 :]]
        return [(a, b) for a in self.rows for b in self.columns]

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures, in the order of the table."""
        return tuple(dict.fromkeys(self.table["measure"]))

    @property
    def n(self) -> int:
        """Number of items."""
        return int(self.recipe["n"])

    @property
    def k(self) -> int:
        """Number of neighbors of each item."""
        return int(self.recipe["parameters"]["n_neighbors"])

    @property
    def alpha(self) -> float:
        """The level of the thresholds and of the calibrated scores."""
        return float(self.recipe["parameters"]["alpha"])

    @property
    def call(self) -> str:
        """The Python code that reproduces it; its names stand for the values that were passed."""
        return str(self.recipe["call"])

    def of(self, measure: str, first: str, second: str) -> pd.Series[Any]:
        """Return the row of a measure of two representations.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(60, 4))
        >>> result = dreval.representation_similarity(X, X[:, :3], random_state=0)
        >>> round(float(result.of("overlap", "A", "B")["value"]), 2)
        0.7
        """
        check_one_of(measure, self.measures, "measure")
        of_measure = self.table[self.table["measure"] == measure]
        for row in (first, second), (second, first):
            is_pair = (of_measure["first"] == row[0]) & (of_measure["second"] == row[1])
            if is_pair.any():
                return of_measure[is_pair].iloc[0]
        requirement, names = "must be two representations that were compared", f"{first!r} and {second!r}"
        raise InputError("first", requirement, names, f"Pass two of {', '.join(self.names)}.")

    def matrix(self, measure: str | None = None, *, calibrated: bool = False) -> pd.DataFrame:
        """Return the values of a measure for all representations, or their calibrated scores.

        Rows and columns are the representations; of the information imbalance the row predicts the column. By default
        it is the first measure that was computed. The diagonal has the value of equal representations; NaN for the
        calibrated score of imbalance, which depends on the permutations.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(60, 4))
        >>> layers = {"first": X, "second": X[:, :3], "third": X[:, :2]}
        >>> dreval.representation_similarity(layers, random_state=0).matrix("cka").round(2)
                first  second  third
        first    1.00    0.79   0.57
        second   0.79    1.00   0.73
        third    0.57    0.73   1.00
        """
        measure = check_one_of(self.measures[0] if measure is None else measure, self.measures, "measure")
        equal = PERFECT.get(measure, 2 / self.n)
        if calibrated:
            equal = 1.0 if measure in PERFECT else math.nan
        cells = [
            [
                equal if a == b else float(self.of(measure, a, b)["calibrated" if calibrated else "value"])
                for b in self.columns
            ]
            for a in self.rows
        ]
        return pd.DataFrame(cells, index=list(self.rows), columns=list(self.columns))

    def glance(self) -> pd.DataFrame:
        """Return one row: numbers of items, representations and pairs, settings, and how many pairs beat chance.

        ``n_significant`` counts the pairs with an adjusted p-value of at most alpha by the first measure.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(60, 4))
        >>> dreval.representation_similarity(X, X[:, :3], random_state=0).glance()[["n", "n_pairs", "n_significant"]]
            n  n_pairs  n_significant
        0  60        1              1
        """
        first = self.table[self.table["measure"] == self.measures[0]]
        row: dict[str, Any] = {"n": self.n, "n_representations": len(self.names), "n_pairs": len(self.pairs)}
        row |= {"measure": self.measures[0], "n_significant": int((first["p_adjusted"] <= self.alpha).sum())}
        parameters = self.recipe["parameters"]
        row |= {key: parameters[key] for key in ("n_neighbors", "anchors", "n_resamples", "alpha", "conf_level")}
        return pd.DataFrame([row | {"random_state": self.recipe["random_state"], "note": join_notes(self.notes)}])

    def to_dict(self, *, intervals: bool = False) -> dict[str, float]:
        """Return the table as one flat mapping of text to float, for trackers such as MLflow, wandb and DVC.

        A value has the key ``"first/second/measure"``, with ``.calibrated``, ``.p_value`` and ``.p_adjusted`` for the
        calibrated score and the p-values. Keys have only letters, digits, and ``_ - . /``: other characters become
        ``_``. Missing values are left out, as in ``Results.to_dict``.

        Parameters
        ----------
        intervals : bool, default False
            Whether to add the ends of the intervals, with ``.conf_low`` and ``.conf_high``.

        Raises
        ------
        InputError
            If two values have the same key: names of representations that differ in other characters only.

        See Also
        --------
        tidy : the same values as a table.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(60, 4))
        >>> result = dreval.representation_similarity(X, X[:, :3], measures="overlap", random_state=0)
        >>> {key: round(value, 2) for key, value in result.to_dict().items() if "p_" not in key}
        {'A/B/overlap': 0.7, 'A/B/overlap.calibrated': 0.58}
        """
        from dreval.report.exports import flat_similarities

        return flat_similarities(self, intervals)

    def augment(self, first: str | None = None, second: str | None = None) -> pd.DataFrame:
        """Return how far each item moved: one row for each item, those that moved most first.

        Parameters
        ----------
        first, second : str, optional
            Names of two representations; by default the first pair.

        Returns
        -------
        DataFrame
            The index is the number of the item. ``id``, its name or number; ``moved``, the share of its k neighbors in
            the first representation that are not among those in the second; ``moved_order``, 1 minus the mean over
            j = 1, ..., k of the share of common neighbors among the j nearest, which orders items with equal ``moved``;
            ``n_changed``; and ``left`` and ``joined``, the neighbors only in the first and only in the second, nearest
            first, separated by spaces (by ", " if some name has a space).

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(60, 4))
        >>> Z = X.copy()
        >>> Z[7] += 5
        >>> dreval.representation_similarity(X, Z, n_neighbors=3, random_state=0).augment().head(1)
           id  moved  moved_order  n_changed      left    joined
        7   7    1.0          1.0          3  13 14 40  29 42 52
        """
        from dreval.geometry.similarity import moved_items

        return moved_items(self.neighbors, self.pair(first, second), self.ids)

    def pair(self, first: str | None = None, second: str | None = None) -> tuple[str, str]:
        """Return the names of two representations: those that are passed, by default the first pair.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(60, 4))
        >>> dreval.representation_similarity(X, X[:, :3], random_state=0).pair()
        ('A', 'B')
        """
        default = self.pairs[0]
        a = default[0] if first is None else check_one_of(first, self.names, "first")
        b = next(name for name in (default[1], *self.names) if name != a) if second is None else second
        b = check_one_of(b, self.names, "second")
        if a == b:
            raise InputError("second", "must be another representation", repr(b), "Pass two different names.")
        return a, b

    @overload
    def plot(
        self,
        kind: str | None = None,
        ax: None = None,
        figsize: tuple[float, float] | None = None,
        *,
        measure: str | None = None,
        first: str | None = None,
        second: str | None = None,
    ) -> Figure: ...
    @overload
    def plot(
        self,
        kind: str | None = None,
        *,
        ax: Axes,
        measure: str | None = None,
        first: str | None = None,
        second: str | None = None,
    ) -> Axes: ...
    def plot(
        self,
        kind: str | None = None,
        ax: Any = None,
        figsize: Any = None,
        *,
        measure: str | None = None,
        first: str | None = None,
        second: str | None = None,
    ) -> Figure | Axes:
        """Draw the similarity of all pairs, the items by how far they moved, or the overlap by neighborhood size.

        Parameters
        ----------
        kind : {"matrix", "items", "curve"}, optional
            "matrix": the values of a measure for all representations, shaded by their calibrated scores. "items": how
            many items have how many changed neighbors. "curve": common neighbors by the number of neighbors. By default
            "items" for one pair, else "matrix".
        %(figure)s

        Other Parameters
        ----------------
        measure : str, optional
            Of "matrix"; by default the first measure.
        first, second : str, optional
            Of "items": names of two representations; by default the first pair.

        Raises
        ------
        UnknownName
            If there is no such kind, measure or representation.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(60, 4))
        >>> dreval.representation_similarity(X, X[:, :3], random_state=0).plot()
        <Figure size ...>
        """
        from dreval.report.figures.similarity import draw_similarity

        kind = ("items" if len(self.pairs) == 1 else "matrix") if kind is None else kind
        kind = check_one_of(kind, SIMILARITY_FIGURES, "kind", aliases=True)
        measure = check_one_of(self.measures[0] if measure is None else measure, self.measures, "measure")
        return draw_similarity(self, kind, measure, self.pair(first, second), ax, figsize)

    def report(self, path: str | Path, *, title: str | None = None) -> Path:
        """Write the report of the similarity.

        %(report)s

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(60, 4))
        >>> result = dreval.representation_similarity(X, X[:, :3], random_state=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = result.report(f"{folder}/page.html")
        ...     path.name, path.exists()
        ('page.html', True)
        """
        from dreval.report.write import write_similarity

        return write_similarity(self, check_path(path, "path"), title=title)

    def save(self, path: str | Path) -> Path:
        """Save everything but the data in one file (a zip of JSON and arrays); ``dreval.load_results`` reads it.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(60, 4))
        >>> result = dreval.representation_similarity(X, X[:, :3], random_state=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     dreval.load_results(result.save(f"{folder}/a.dreval")).names
        ('A', 'B')
        """
        from dreval.records.archive import save_similarity

        return save_similarity(self, path)

    def _summary(self, full: bool) -> Summary:
        """Return the printed form: how similar, whether more than chance, and which items moved."""
        from dreval.report.documents.similarity import similarity_summary

        return similarity_summary(self, full)


def similarity_table(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return the table of rows, with its columns and their types.

    Examples
    --------
    >>> similarity_table([]).dtypes["value"].name
    'float64'
    """
    return pd.DataFrame(rows, columns=list(TABLE_TYPES)).astype(TABLE_TYPES)


TABLE_TYPES = {
    **dict.fromkeys(("first", "second", "measure", "parameters"), "object"),
    "n_used": "int64",
    "value": "float64",
    "direction": "object",
    **dict.fromkeys(("chance", "p_value", "p_adjusted"), "float64"),
    "p_kind": "object",
    **dict.fromkeys(("threshold", "calibrated", "se", "conf_low", "conf_high", "conf_level"), "float64"),
    "note": "object",
}
