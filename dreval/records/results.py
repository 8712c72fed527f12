"""The record of an evaluation, and its table of values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import numpy.typing as npt

from dreval._check import check_bool, check_one_of, check_path, describe, did_you_mean, keywords_checked
from dreval.errors import InputError, UnknownName
from dreval.glossary import COLUMNS, NUMERIC_COLUMNS, PAPER_PARTS, TEXT_FORMS, TIDY_COLUMNS
from dreval.records.base import Record, Summary, read_only
from dreval.records.cells import Cells, write_to_anndata
from dreval.records.evaluated import EvaluatedEmbedding
from dreval.records.frames import (
    coordinates_frame,
    curves_frame,
    differences_frame,
    notes_frame,
    notes_of_table,
    nulls_frame,
    of_whole,
    setting_names,
)
from dreval.records.notes import FAILURE, Note, join_notes
from dreval.registry import MEASURES, METHODS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dreval.records.class_distances import ClassDistances
    from dreval.records.comparison import Comparison
    from dreval.records.misplaced import MisplacedPoints
    from dreval.records.out_of_sample import OutOfSample
    from dreval.records.points import Shepard
    from dreval.records.tests import Certificate

MOST_LISTED = 5000  # largest number of points whose neighbors in the data a result stores


def tidy_frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Return rows as a table with the fixed list of columns, in their order; values that a row lacks are missing.

    The notes of a row become the text in its column ``note``.
    """
    import pandas as pd

    filled = [{**row, "note": join_notes(row["notes"])} if "notes" in row else row for row in rows]
    table = pd.DataFrame(filled, columns=list(COLUMNS))
    for name in COLUMNS:
        if name in NUMERIC_COLUMNS:
            table[name] = pd.to_numeric(table[name]).astype("float64")
        else:
            table[name] = table[name].astype("object").where(table[name].notna(), "")
    whole = dict.fromkeys(("replicate", "n", "n_components", "n_groups", "n_resamples"), 0)
    return table.fillna(whole).astype(dict.fromkeys(whole, "int64"))


def over_replicates(table: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each embedding, measure and setting: the first replicate, with the mean value of all.

    The intervals of replicates refer to this mean, and are the same on all their rows.
    """
    keys = ["dataset", "embedding", "measure", "parameters", "test", "variable"]
    if not table["replicate"].any():
        return table
    means = table.groupby(keys, sort=False)["value"].transform("mean")
    return table.assign(value=means).drop_duplicates(keys)


@read_only
@dataclass(frozen=True, eq=False)
class Results(Record):
    """Results of an evaluation: values, intervals, tests and figures.

    Attributes
    ----------
    table : DataFrame
        All columns of the tidy table; see ``dreval.glossary.COLUMNS``.
    points : dict of str to DataFrame
        Per-point contributions of each embedding; columns are named as in ``glance``, the index holds positions among
        the n points. It has all of them, or of more than 50,000 only the anchors.
    groups : DataFrame
        The values behind intervals that rest on groups: embedding, measure, parameters, partition, group, value.
        They are the values without each of 20 groups of points, for each of several random partitions (one partition of
        anchors: moved towards the value by the finite-population factor). With ``ci="subsampling"`` and for methods
        run on halves, they are the values at the halves 2 s and 2 s + 1 of every split s.
    embeddings : dict of str to ndarray (n, d)
        Coordinates, a copy in the precision in which they were passed. Coordinates of more than 256 MiB are not copied:
        they are read on access, which raises an error if they have changed.
    labels : ndarray (n,) or None
        Classes of the points.
    ids : ndarray (n,) or None
        Names of the points.
    notes : DataFrame
        Assumptions, limits and failures: a row for each note, with the keys of the row of ``table`` it belongs to (all
        empty: it belongs to the data or to all rows), ``code``, ``severity`` ("assumption", "limit" or "failure"),
        ``values``, ``scope`` (an embedding) and its ``text``.
    recipe : dict
        The call, seed, versions, and shape and hash of the data, which are needed to reproduce the result.
    data : ndarray, sparse matrix or None
        The data, in memory only; a saved result holds their hash.
    curves : DataFrame
        Measures that have a value for every number of neighbors: embedding, measure, K, value, the ends of the interval
        (at the level ``recipe["conf_level"]``) at each K alone, the ends of the band for all K together (missing where
        it has none), and the chance level; see ``curve``.
    curve_differences : DataFrame
        The difference of the curves of each pair of up to eight embeddings with the ends of its band: measure, first,
        second, K, difference, band_low, band_high; see ``curve``.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(40, 4))
    >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
    >>> res = ev.run("trustworthiness", tests=None, ci=None)
    >>> res  # doctest: +ELLIPSIS
    2 embeddings of data: 40 points, 4 -> 2 dimensions (k = 5, seed 0)
    ...
    >>> res.names, len(res.tidy())
    (['a', 'b'], 2)
    """

    table: pd.DataFrame
    points: dict[str, pd.DataFrame]
    groups: pd.DataFrame
    embeddings: dict[str, npt.NDArray[np.float64]]
    labels: npt.NDArray[Any] | None = None
    ids: npt.NDArray[Any] | None = None
    recipe: Mapping[str, Any] = field(default_factory=dict)
    data: Any = field(default=None, repr=False)
    curves: pd.DataFrame = field(default_factory=lambda: curves_frame([]))
    curve_differences: pd.DataFrame = field(default_factory=lambda: differences_frame([]))
    notes: pd.DataFrame = field(default_factory=lambda: notes_frame([]), repr=False)
    # Distances in each embedding against those in the data, counted in cells; only if a measure of pairs was run.
    _shepard: Mapping[str, Shepard] = field(default_factory=dict, repr=False)
    # The null distributions of the tests that permute, counted in up to 40 cells of equal width.
    _nulls: pd.DataFrame = field(default_factory=lambda: nulls_frame([]), repr=False)
    # For each embedding the values without each single point (delete-one jackknife), columns as in `points`. The
    # covariance of two columns, of one or two embeddings, times (n - 1)^2 / n is the covariance of the two values.
    _left_out: Mapping[str, pd.DataFrame] = field(default_factory=dict, repr=False)
    # For each embedding the influences of the points for the cross jackknife, columns as in `points`: n rows for the
    # first sample of the first partition, n for its second sample, and so on (`inference.cross_jackknife`).
    _crossed: Mapping[str, pd.DataFrame] = field(default_factory=dict, repr=False)
    # The K nearest points of each point in the data, (n, K), nearest first, ties by row number, for the largest number
    # of neighbors. None for more than MOST_LISTED points, with anchors, and if no measure reads neighbors.
    _data_neighbors: npt.NDArray[np.int32] | None = field(default=None, repr=False)
    # For each embedding whose method was re-run, values per point of noise tests and of stability; see `augment`.
    _reliability: Mapping[str, pd.DataFrame] = field(default_factory=dict, repr=False)
    # For each embedding the record of the new points on it; empty without new points.
    _out_of_sample: Mapping[str, OutOfSample] = field(default_factory=dict, repr=False)
    # Variables of the points by name, and the colors of the classes of some, for figures; in memory only.
    _variables: Mapping[str, Any] | None = field(default=None, repr=False)
    _palettes: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)

    @property
    def names(self) -> list[str]:
        """Names of the embeddings, in the order in which they were added, including failed ones."""
        return list(dict.fromkeys([*self.table["embedding"], *self.embeddings, *self.failed]))

    @property
    def failed(self) -> dict[str, str]:
        """Embeddings that could not be computed, with the reason."""
        return {note.scope: str(note.with_scope("")) for note in self.failures()}

    @property
    def reference(self) -> tuple[str, ...]:
        """Embeddings that are the data: they are shown for reference, and excluded from ranks, best sets and verdicts.

        Their tests are rows of ``tidy()`` without ``p_adjusted``: they are excluded from the adjustment and not
        counted.

        An embedding is the data if it has their number of columns, and their values or, with the Euclidean metric, a
        Procrustes disparity from them below 1e-12.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> ev = dreval.Evaluation(X, {"data": X, "a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
        >>> ev.run("trustworthiness", tests=None, ci=None).reference
        ('data',)
        """
        return tuple(self.recipe.get("reference") or ())

    def failures(self) -> list[Note]:
        """Return a note for each embedding that could not be computed; ``scope`` is its name.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
        >>> failing = ev.with_embedding("short", X[:5])
        >>> import warnings
        >>> with warnings.catch_warnings(action="ignore"):
        ...     res = failing.run("trustworthiness", None, None)
        >>> [(note.scope, note.code) for note in res.failures()]
        [('short', 'refused')]
        """
        return [note for note in notes_of_table(of_whole(self.notes)) if note.severity == FAILURE]

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def _expression_for(self, name: str) -> str:
        """Return the expression for an embedding or a measure whose name is used as an attribute."""
        names = vars(self).get("embeddings", ())
        return f"results[{name!r}]" if name in names else "tidy()" if name in MEASURES else ""

    def __getitem__(self, name: str) -> EvaluatedEmbedding:
        """Return one embedding with its scores; its maps need the data, which a loaded result does not have."""
        if name not in self.names and name in MEASURES:
            hint = "Its values are rows of tidy(); results[embedding].scores has those of one embedding."
            raise UnknownName("name", "must be the name of an embedding", f"the measure {name!r}", hint)
        self._check_computed(name)
        return self._embedding(name, None)

    def _point_values(self, name: str, argument: str) -> pd.Series[Any]:
        """Return a variable of the points, or a column of the data, by its name."""
        import pandas as pd

        if self._variables is None:
            hint = "Pass the values, as the data of the evaluation and its variables are never saved."
            raise InputError(argument, "must be values of a loaded result", repr(name), hint)
        if name in self._variables:
            values = pd.Series(self._variables[name])
            if values.isna().any():
                is_number = pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)
                values = values.astype(np.float64 if is_number else object)
                values = values if is_number else values.where(values.notna(), None)
            return values.set_axis(range(len(values))).rename(name)
        columns = list(self.recipe.get("columns") or ())
        if name in columns:
            column = self.data[:, columns.index(name)]
            column = column.toarray() if hasattr(column, "toarray") else column
            return pd.Series(np.asarray(column, np.float64).ravel(), name=name)
        listed = [*map(str, self._variables), *columns]
        hint = did_you_mean(name, listed) + f"Variables: {', '.join(map(str, self._variables)) or 'none'}."
        raise UnknownName(
            argument, "must be values, a variable of the points, or a column of the data", repr(name), hint
        )

    def _has_data(self) -> bool:
        """Return whether the data are in memory and have coordinates."""
        return self.data is not None and self.recipe.get("p") is not None

    def tidy(self, full: bool = False) -> pd.DataFrame:
        """Return one row per embedding x measure x parameter, including tests; full precision.

        Parameters
        ----------
        full : bool
            Whether to return all columns of ``dreval.glossary.COLUMNS``, among them standard errors, statistics,
            targets of the intervals and kinds of p-values; else the 14 of ``dreval.glossary.TIDY_COLUMNS``.

        Returns
        -------
        DataFrame
            A copy; ``table`` is the same as with ``full``.

        See Also
        --------
        glance : one row per embedding.
        augment : one row per point.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
        >>> res = ev.run("trustworthiness", tests=None, ci=None)
        >>> res.tidy()[["embedding", "measure", "parameters", "value"]].round(3)
          embedding          measure     parameters  value
        0         a  trustworthiness  n_neighbors=5  0.728
        1         b  trustworthiness  n_neighbors=5  0.826
        >>> res.tidy().shape, res.tidy(full=True).shape
        ((2, 14), (2, 33))
        """
        table = self.table
        return table if check_bool(full, "full") else table[[*TIDY_COLUMNS]]

    def glance(self) -> pd.DataFrame:
        """Return one row per embedding: n, number of columns, the value of every measure, seconds, and failures.

        A column is named by its measure, with the parameters behind it if the measure has several settings
        (``trustworthiness(n_neighbors=5)``); ``augment`` uses the same names. If a method was run with several seeds,
        the value is the mean over its runs.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
        >>> res = ev.run("trustworthiness", tests=None, ci=None)
        >>> res.glance().drop(columns="seconds").round(3)
          embedding   n  n_components  trustworthiness failed
        0         a  40             2            0.728
        1         b  40             2            0.826
        """
        import pandas as pd

        table = over_replicates(self.table[self.table["test"] == ""])
        names = setting_names(table)
        keys = [names[key] for key in zip(table["measure"], table["parameters"], strict=True)]
        wide = table.assign(key=keys).drop_duplicates(["embedding", "key"])
        order = list(dict.fromkeys(keys))
        values = wide.pivot(index="embedding", columns="key", values="value")
        values = values.reindex(index=self.names, columns=order).rename_axis(columns=None)
        sizes = self.table.groupby("embedding")[["n", "n_components", "seconds"]].max().reindex(self.names)
        for name in sizes.index[sizes["n"].isna()]:  # embeddings with curves only have no row
            sizes.loc[name, ["n", "n_components"]] = self.embeddings[name].shape
        failed = pd.Series(self.failed, dtype="object").reindex(self.names).fillna("").rename("failed")
        parts = [sizes[["n", "n_components"]].astype("int64"), values, sizes[["seconds"]], failed]
        return pd.concat(parts, axis=1).rename_axis("embedding").reset_index()

    def augment(self, name: str | None = None) -> pd.DataFrame:
        """Return one row per point: id, label, coordinates, and the contribution of the point to each measure.

        A point without label has NaN there, and in the measures of labels. With anchors only the anchors have
        contributions; the other points are missing there.

        Parameters
        ----------
        name : str, optional
            The embedding, in wide form: a column for each measure, named as in ``glance``, and for a method that was
            re-run its values per point: from a noise test ``noise_score``, ``noise_p_family_wise``, ``noise_q`` and
            ``like_noise`` (1: not distinguished from noise), from ``stability`` those of its record; missing where a
            point has none. By default all embeddings
            that were computed, in long form: one row per embedding, measure, parameters and point, with the columns
            ``embedding``, ``measure``, ``parameters``, ``id``, ``label`` (where there are labels), the coordinates
            ``y1``, ``y2`` and so on, and ``value``.

        Returns
        -------
        DataFrame
            A copy.

        Raises
        ------
        UnknownName
            If there is no such embedding.
        InputError
            If the embedding failed.

        See Also
        --------
        glance : one row per embedding.
        tidy : one row per value.

        Examples
        --------
        >>> import numpy as np, dreval; X = np.random.default_rng(0).normal(size=(30, 4))
        >>> res = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5).run("continuity", None, None)
        >>> list(res.augment("a")), res.augment().shape
        (['id', 'y1', 'y2', 'continuity'], (60, 7))
        """
        import pandas as pd

        if name is None:
            return self._long()
        self._check_computed(name)
        Y = self.embeddings[name]
        frame = coordinates_frame(Y)
        if self.labels is not None:
            labels = self.labels
            if labels.dtype == object:  # only object labels may have gaps
                has_label = [label is not None for label in labels]
                labels = labels if all(has_label) else np.where(has_label, labels, np.nan)
            frame.insert(0, "label", labels)
        frame.insert(0, "id", self.ids if self.ids is not None else np.arange(len(Y)))
        extra = [self._reliability[name]] if name in self._reliability else []
        return pd.concat([frame, *extra, self.of_all_points(name)], axis=1)

    def _like_noise(self, name: str) -> npt.NDArray[np.bool_] | None:
        """Return whether each point of an embedding is not distinguished from noise; None without a noise test."""
        frame = self._reliability.get(name)
        if frame is None or "like_noise" not in frame.columns:
            return None
        return np.asarray(frame["like_noise"].to_numpy() == 1.0)

    def of_all_points(self, name: str) -> pd.DataFrame:
        """Return the contributions of all points of one embedding, missing for points that are not anchors.

        Examples
        --------
        >>> import numpy as np, dreval; X = np.random.default_rng(0).normal(size=(30, 4))
        >>> ev = dreval.Evaluation(X, {"a": X[:, :2]}, n_neighbors=5, anchors=9, random_state=0)
        >>> res = ev.run("continuity", tests=None)
        >>> res.of_all_points("a").notna().sum().to_dict()
        {'continuity': 9}
        """
        return self.points[name].reindex(range(len(self.embeddings[name])))

    def _long(self) -> pd.DataFrame:
        """Return the points of all computed embeddings: one row per embedding, measure, parameters and point."""
        import pandas as pd

        parts, keys = [], {column: key for key, column in setting_names(self.table).items()}
        for name in self.embeddings:
            wide, points = self.augment(name), self.of_all_points(name)
            n_extra = len(self._reliability[name].columns) if name in self._reliability else 0
            points_only = wide.iloc[:, : wide.shape[1] - points.shape[1] - n_extra]
            for column in points:
                measure, parameters = keys[str(column)]
                key = {"embedding": name, "measure": measure, "parameters": parameters}
                parts.append(points_only.assign(**key, value=points[column].to_numpy(np.float64)))
            if points.shape[1] == 0:
                parts.append(points_only.assign(embedding=name, measure="", parameters="", value=np.nan))
        table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
        head = ["embedding", "measure", "parameters", *(name for name in ("id", "label") if name in table)]
        d = max((Y.shape[1] for Y in self.embeddings.values()), default=0)
        return table.reindex(columns=[*head, *(f"y{j + 1}" for j in range(d)), "value"])

    def embedding(self, name: str, *, data: Any = None) -> EvaluatedEmbedding:
        """Return the record of one embedding, which maps between data and embedding (``inverse_transform`` maps back).

        Parameters
        ----------
        name : str
            Name of the embedding.
        data : (n, p) array, optional
            The data; in memory by default, but they must be passed to a loaded result.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
        >>> res = ev.run("trustworthiness", tests=None, ci=None)
        >>> res.embedding("a").shape
        (40, 2)
        """
        data_in_use = self._dense_data(data)
        self._check_computed(name)
        return self._embedding(name, data_in_use)

    def _embedding(self, name: str, data: npt.NDArray[np.float64] | None) -> EvaluatedEmbedding:
        """Return the record of one computed embedding, with data or with those of the result, which it reads lazily."""
        import pandas as pd

        recipe, ids = self.recipe, None if self.ids is None else pd.Index(self.ids)
        columns = None if recipe.get("columns") is None else tuple(recipe["columns"])
        notes = [note for note in notes_of_table(of_whole(self.notes)) if note.scope == name]
        return EvaluatedEmbedding(
            self.embeddings[name],
            name,
            random_state=recipe.get("random_state"),
            ids=ids,
            data_shape=None if recipe.get("p") is None else (int(recipe["n"]), int(recipe["p"])),
            notes=tuple(notes),
            data=data,
            columns=columns,
            _results=self,
        )

    def transform(
        self, name: str, points: Any, *, data: Any = None, reg: float = 1e-6, bandwidth: float | None = None
    ) -> npt.NDArray[np.float64]:
        """Return the coordinates (m, d) of new points in one embedding, from any source; see ``Embedding``.

        A loaded result needs its ``data``.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
        >>> res = ev.run("trustworthiness", tests=None, ci=None)
        >>> res.transform("a", X[:2]).shape
        (2, 2)
        """
        return self.embedding(name, data=data).transform(points, reg=reg, bandwidth=bandwidth)

    def inverse_transform(
        self,
        name: str,
        points: Any,
        *,
        data: Any = None,
        rule: str = "ridge",
        reg: float | None = None,
        bandwidth: float | None = None,
    ) -> npt.NDArray[np.float64]:
        """Return data (m, p) at coordinates (m, d) of one embedding, from any source; see ``Embedding``.

        A loaded result needs its ``data``.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
        >>> res = ev.run("trustworthiness", tests=None, ci=None)
        >>> res.inverse_transform("a", [[0.0, 0.0]]).shape
        (1, 4)
        """
        embedding = self.embedding(name, data=data)
        return embedding.inverse_transform(points, rule=rule, reg=reg, bandwidth=bandwidth)

    def certificate(
        self,
        name: str,
        *,
        data: Any = None,
        rule: str = "ridge",
        n_resamples: int = 199,
        n_splits: int = 5,
        random_state: int | np.random.Generator | None = None,
        n_jobs: int | None = None,
    ) -> Certificate:
        """Test whether the residual of one embedding is independent of the embedding (Roy 2021, Definition 1).

        Parameters
        ----------
        name : str
            The embedding.
        data : array, DataFrame or path, optional
            The data of the evaluation, for results that were loaded.
        rule : {"ridge", "theorem3", "theorem3_printed"}
            The reconstruction of the data from the embedding; see ``Embedding.reconstruction_map``.
        n_resamples : int
            Number of bootstrap resamples.
        n_splits : int
            Number of folds of the held-out error.
        random_state : int or Generator, optional
            Seed; by default that of the evaluation, with the same folds as ``reconstruction_error``.
        n_jobs : int, optional
            Number of threads.

        Returns
        -------
        Certificate
            Errors, tests of residual against embedding, and ``verdict``; ``print`` shows them. O(n^3 + n_resamples n^2
            p) time and O(n^2) memory, on at most 1000 points.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
        >>> res = ev.run("trustworthiness", tests=None, ci=None)
        >>> print(res.certificate("a", n_resamples=19).verdict)
        Definition 1 is not rejected for a: no evidence that the residual depends on the embedding (adjusted HSIC
        p = .300 and KCCA p = .300). This does not show that the definition holds.
        """
        embedding = self.embedding(name, data=data)
        options: Any = {
            "n_resamples": n_resamples,
            "n_splits": n_splits,
            "random_state": random_state,
            "n_jobs": n_jobs,
        }
        return embedding.certificate(rule=rule, **options)

    def _dense_data(self, data: Any) -> npt.NDArray[np.float64]:
        """Return the data of the evaluation: from memory, or passed by the caller and equal by their hash."""
        if data is None and self.data is None:
            hint = "Pass data=, as results.embedding(name, data=X): the data of the evaluation are never saved."
            raise InputError("data", "must be given to a loaded result", "none", hint)
        metric = self.recipe.get("metric")
        if metric in ("precomputed", "neighbors", "gower") or (metric == "geodesic" and self.recipe.get("p") is None):
            hint = "Evaluate the data themselves, with a metric by name."
            requirement = f"must not be {metric!r} here, where the data need coordinates"
            raise InputError("metric", requirement, repr(metric), hint)
        return np.array(self._checked_data(self.data if data is None else data).dense(), np.float64)

    def _checked_data(self, data: Any) -> Any:
        """Return data in normal form; raise if they are not those of the evaluation, as after a change in place."""
        from dreval.inputs.data import as_data

        header = self.recipe.get("header")
        options = {"metric": self.recipe.get("metric", "euclidean")}
        options |= {"header": header} if isinstance(header, bool) else {}  # "auto" warns of doubtful headers
        checked = as_data(data, **options)
        if checked.sha256 != self.recipe.get("data_sha256", checked.sha256):
            hint = "Pass the same rows and columns in the same order."
            raise InputError("data", "must be the data of the evaluation", "data with another hash", hint)
        return checked

    def _held_data(self) -> Any:
        """Return the data as float64 or a sparse matrix, None for a loaded result; raise if they changed in place."""
        return None if self.data is None else self._checked_data(self.data).X

    def _check_computed(self, name: str) -> None:
        """Raise for the name of no embedding, and of an embedding that failed."""
        METHODS.check_run(name, self.names, "name")
        if name in self.failed:
            raise InputError(
                "name", "must be an embedding that was computed", repr(name), f"It failed: {self.failed[name]}"
            )

    def curve(self, measure: str, *, bands: bool = False, difference: tuple[str, str] | None = None) -> pd.DataFrame:
        """Return a curve over the number of neighbors K: one row per K, one column per embedding; or with its bands.

        Parameters
        ----------
        measure : str
            The curve, as "r_nx".
        bands : bool
            Whether to return one row per embedding and K with the value, the ends of the interval at each K alone
            (``conf_low``, ``conf_high``), those of the band for all K at once (``band_low``, ``band_high``) and the
            chance level.
        difference : (str, str), optional
            Two embeddings: return the curve of the first minus that of the second with the ends of its band, one row
            per K. If the band excludes 0 at a run of K, the two differ at all of these K together.

        Returns
        -------
        DataFrame
            A copy.

        Raises
        ------
        InputError
            If the measure is not a curve that was run, or the difference of these two was not computed, for lack of
            intervals or with more than eight embeddings.

        Notes
        -----
        A band contains the whole curve at the level of the intervals, wherever it has ends. From all points it is
        ``value ± c se`` with the standard errors of the jackknife and c the quantile of the largest deviation over K,
        which is conservative. From anchors c is that of a studentized bootstrap of the anchors, with a
        finite-population correction; it has ends from K = 5 to n / 3, with at least 100 anchors of which 30 differ from
        the most frequent contribution. Between about 60 K the ends are interpolated. The band of a difference is for
        one pair, not for all pairs at once. In 500 simulations each, bands of 95 % held the whole curve from 100 and
        300 anchors in 94 to 96 % (intervals at each K alone: in 16 to 74 %), and the mean curve from 100 and 300 points
        in 98 to 100 %.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
        >>> ev.run("r_nx", tests=None, ci=None).curve("r_nx").head(3).round(3)
               a      b
        K
        1  0.205  0.307
        2  0.170  0.368
        3  0.188  0.404
        >>> res = ev.run("r_nx", tests=None)
        >>> list(res.curve("r_nx", difference=("a", "b")).columns)
        ['difference', 'band_low', 'band_high']
        """
        curves = list(dict.fromkeys(self.curves["measure"]))
        if not curves:
            hint = "Name a curve in Evaluation.run, as measures=['r_nx']."
            raise InputError("measure", "must be a curve that was run", f"{measure!r}, and there are none", hint)
        if measure in set(self.table["measure"]) - {*curves}:
            hint = f"`tidy` has its values. Curves: {', '.join(curves)}."
            raise InputError("measure", "must have a value for every number of neighbors", repr(measure), hint)
        MEASURES.check_run(measure, curves, "measure", curves=True)
        rows = self.curves[self.curves["measure"] == measure]
        if difference is not None:
            return self._curve_difference(measure, difference)
        if check_bool(bands, "bands"):
            return rows.drop(columns="measure").reset_index(drop=True)
        wide = rows.pivot(index="K", columns="embedding", values="value")
        return wide[[name for name in self.names if name in wide]].rename_axis(columns=None)

    def _curve_difference(self, measure: str, pair: Any) -> pd.DataFrame:
        """Return the difference of the curves of two embeddings, whichever of them was added first."""
        names = list(pair) if isinstance(pair, list | tuple) else [pair]
        if len(names) != 2 or names[0] == names[1]:
            raise InputError("difference", "must be two embeddings", describe(pair), "Pass a pair, as ('umap', 'pca').")
        for name in names:
            METHODS.check_run(name, self.names, "difference")
        table = self.curve_differences[self.curve_differences["measure"] == measure]
        for sign, (first, second) in ((1.0, names), (-1.0, names[::-1])):
            rows = table[(table["first"] == first) & (table["second"] == second)].set_index("K")
            if len(rows):
                differences: pd.DataFrame = rows[["difference", "band_low", "band_high"]] * sign
                low, high = (
                    differences[["band_low", "band_high"]].min(axis=1),
                    differences[["band_low", "band_high"]].max(axis=1),
                )
                return differences.assign(band_low=low, band_high=high)
        hint = "Run with intervals (ci='points', or anchors), at most eight embeddings at a time."
        raise InputError("difference", "must be a pair whose curves were compared", repr(tuple(names)), hint)

    def class_distances(
        self,
        a: Any = None,
        b: Any = None,
        *,
        embedding: str | None = None,
        labels: Any = None,
        groups: Any = None,
        data: Any = None,
        conf_level: float = 0.95,
    ) -> ClassDistances:
        r"""Compare the distances between classes on maps with those in the data, with intervals.

        The squared distance between the centers of the classes A and B, in the data and on the map alike, is

        .. math:: D^2_{AB} = \frac{1}{n_A n_B} \sum_{i \in A, j \in B} d_{ij}^2
                  - \frac{1}{2} \overline{d^2}_A - \frac{1}{2} \overline{d^2}_B,

        with :math:`\overline{d^2}_A` the mean over pairs of different points of A. With Euclidean distances this is
        the squared distance of the centroids without the part that the spread of the points adds to it. Both sets of
        distances are divided by their geometric means over all pairs of classes that are apart in both, since a map has
        no unit; the ratio is above 1 where a pair is drawn too far apart. A pair is apart if its squared distance is
        above two standard errors. One that is apart in the data alone has an upper limit of the ratio, one that is
        apart on the map alone a lower one.

        Parameters
        ----------
        a, b : class, optional
            The classes that are asked for: both, one (with all others), or none (all pairs). The scale and the order
            are always those among all pairs.
        embedding : str, optional
            One embedding; by default all, except those that are the data.
        labels : (n,) array or str, optional
            The classes, or the name of a variable of the points, as a column of ``obs``; by default those of the
            evaluation.
        groups : (n,) array or str, optional
            The group of each point, which the intervals leave out together; by default those of the evaluation.
        data : array, DataFrame or path, optional
            The data of the evaluation, for results that were loaded.
        conf_level : float, default 0.95
            Joint level of the intervals of all pairs on one map, and of all comparisons of two pairs.

        Returns
        -------
        ClassDistances
            A row for each embedding and pair of classes, with ``tidy()`` and ``plot()``.

        Raises
        ------
        UndefinedMeasure
            If there are not 3 to 60 classes of three points or more, or the metric has no distance between any two
            points ("neighbors", "geodesic").
        UnknownName
            If there is no such class or embedding.

        See Also
        --------
        centroid_triplets : which of three classes is nearer.
        centroid_triplet_accuracy, class_angular_distortion : one number for all classes.

        Notes
        -----
        Intervals are those of the delete-one jackknife of the log ratio (with ``groups`` delete-one-group), Student's
        t with the degrees of freedom of Welch and Satterthwaite over the classes (with ``groups`` of the groups), and
        Bonferroni's level over the pairs; the points are a sample, and coordinates are fixed. The limit of a pair that
        is apart in the data or on the map alone is that of the two squared distances, each at half of this level; the
        geometric means count as known. With too few groups for intervals, points decide which pairs are apart. An
        interval that holds 1 does not show that a distance is right. A comparison of two pairs is decided where both
        differences, in the data and on the map, are significant at Bonferroni's level over all comparisons. Classes of
        fewer than three points are left out. Of a class in two parts the center lies between them: look at the map.

        Cost: O(n c (p + d)) time for c classes, with another metric than the Euclidean one O(n^2 (p + d)); memory
        O(n c + c^4). With groups as many times as there are groups, at most 50.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> labels = np.repeat(list("ABC"), 30)
        >>> X = np.random.default_rng(0).normal(size=(90, 3)) + np.diag([4.0, 6.0, 9.0])[np.repeat(range(3), 30)]
        >>> ev = dreval.Evaluation(X, {"map": X[:, :2]}, labels=labels, random_state=0)
        >>> res = ev.run("trustworthiness", None, None)
        >>> row = res.class_distances("A", "B").tidy().iloc[0]
        >>> f"{row['ratio']:.2f}", int(row["rank_data"]), int(row["rank_map"]), row["reading"]
        ('1.60', 1, 3, 'too far')
        """
        from dreval.evaluation.class_distances import class_distances

        options: Any = {"embedding": embedding, "labels": labels, "groups": groups, "data": data}
        return class_distances(self, a, b, **options, conf_level=conf_level)

    def misplaced_points(
        self,
        name: str,
        measure: str | None = None,
        *,
        n_neighbors: int | None = None,
        cutoff: float | Literal["poor", "chance"] = "poor",
    ) -> MisplacedPoints:
        """List the points that a map misplaces, by name, with a cut-off; new points with a false-discovery guarantee.

        A point of the data is listed where its contribution to a measure of neighbors is closer to the chance level
        than to the best value, as reports mark points, or at ``cutoff``. **No false-discovery rate is controlled for
        these**: there is no null hypothesis "well placed" whose distribution is known, and a test against random places
        shows the opposite, that a point is well placed. New points (``Evaluation(new_data=..., new=...)``) have
        conformal p-values; those that are flagged are listed, too, and among them the false-discovery rate is at most
        ``alpha``. Where a noise test was run, the column ``like_noise`` marks points that are not distinguished from
        noise; points that are distinguished have the guarantee of ``noise_test``.

        Parameters
        ----------
        name : str
            The embedding.
        measure : str, optional
            A measure that has a value for each point and was run: "trustworthiness" (wrong neighbors on the map),
            "continuity" (neighbors that are missing) and others. By default the first of trustworthiness, overlap and
            continuity that was run, else any.
        n_neighbors : int, optional
            The number of neighbors, where several were run; the first by default.
        cutoff : {"poor", "chance"} or float, default "poor"
            The score from which a point is misplaced. "poor": halfway between the chance level and the best value.
            "chance": the chance level: with trustworthiness its neighbors on the map are no nearer to it in the data
            than random points, with overlap hardly any of them is a neighbor in the data.

        Returns
        -------
        MisplacedPoints
            A row for each such point, the worst first, with ``tidy()`` and ``plot()``.

        Raises
        ------
        UndefinedMeasure
            If no measure with a value for each point was run.

        See Also
        --------
        augment : the values of all points.
        noise_test : which points are distinguished from noise.
        out_of_sample : new points, with p-values.

        Notes
        -----
        O(n k log n) time. From anchors only the anchors have scores.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> labels = np.repeat(list("ABC"), 30)
        >>> X = np.random.default_rng(0).normal(size=(90, 3)) + np.diag([4.0, 6.0, 9.0])[np.repeat(range(3), 30)]
        >>> ev = dreval.Evaluation(X, {"map": X[:, :2]}, labels=labels, random_state=0)
        >>> res = ev.run("neighborhood_overlap", None, None)
        >>> res.misplaced_points("map", cutoff="chance").tidy()[["id", "score", "label", "class_on_map"]]
           id  score label class_on_map
        0  73    0.0     C            A
        """
        from dreval.evaluation.misplaced_points import misplaced_points

        return misplaced_points(self, name, measure, n_neighbors=n_neighbors, cutoff=cutoff)

    def summary(self, full: bool = False) -> Summary:
        """Return the printed result: the input, the best embedding by each question, one table, tests, and notes.

        Parameters
        ----------
        full : bool
            Whether to print also the call, the ends of all intervals, values over the orders of ties, every setting of
            a measure and all notes; else the middle of a long table and minor notes are left out, and counted.

        Returns
        -------
        Summary
            ``print`` shows it in 80 columns; ``.as_html()``, ``.as_markdown()`` and ``.as_latex()`` give the same
            content elsewhere. A name that is too long for a table is shortened in print and in LaTeX, and printed in
            full below; HTML and Markdown have all names in full.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
        >>> res = ev.run("trustworthiness", tests=None, ci=None)
        >>> res.summary()  # doctest: +ELLIPSIS
        2 embeddings of data: 40 points, 4 -> 2 dimensions (k = 5, seed 0)
        ...
        """
        from dreval.report.documents.evaluation import summarize

        return summarize(self, check_bool(full, "full"))

    @keywords_checked
    def compare(
        self,
        names: Sequence[str] | None = None,
        *,
        measure: str | Sequence[str] | None = None,
        baseline: str | None = None,
        margin: float | Mapping[str, float] | None = None,
        rope: float | None = None,
        alpha: float = 0.05,
        adjust: str | None = "holm",
    ) -> Comparison:
        """Compare the embeddings: paired differences of every pair, for each measure.

        Both are evaluated at the same points, so their measures are not independent. The standard error is that of the
        difference, from the same points left out of both (cross jackknife for measures of neighbors, otherwise
        delete-one jackknife, exact or by influences; Student's t with n - 1 degrees of freedom), or from the
        differences at the anchors (their number less one). If a measure has no value without single points, 20 random
        groups are left out, and the squared errors are averaged over 8 random partitions. Where partitions of the
        points are drawn, ``p_low`` and ``p_high`` bound the p that other seeds give. The column ``conf_method`` has the
        method. The test refers to other independent points for the same embeddings; for other data sets see
        ``dreval.compare``. Halves of ``ci="subsampling"`` are the same for both. Runs with other seeds have Welch's t,
        also against an embedding that is not re-run, which counts as one fixed value. If few anchors carry a
        difference, or it is so small that points which were not drawn could outweigh it, the test is the betting test
        for the mean of bounded numbers (Waudby-Smith and Ramdas 2024), which holds for every population and detects
        small differences with many anchors only. Other pairs whose intervals have different targets have no test.

        Parameters
        ----------
        names : list of str, optional
            The embeddings to compare, in this order; by default all that were computed, without those that are the data
            (``reference``). These are compared if they are named here or as ``baseline``. To compare with a second
            result, see ``dreval.compare``.
        measure : str or list of str, optional
            Which measures; all by default.
        baseline : str, optional
            One embedding: all others are compared only with it, as the second of every pair. P-values
            are adjusted over these pairs; there are no letters. All pairs by default.
        margin : float or dict of measure to float, optional
            Margin of equivalence, in the unit of the measure: two one-sided tests ask whether the two differ by less
            (``p_equivalence``), and ``equivalence`` is the verdict: "equivalent", "better" or "worse" (of the first, by
            more than the margin), or "not shown". One number if one measure is compared.
        rope : float, optional
            Region of practical equivalence across data sets, for ``dreval.compare``; it raises an error on one data
            set; use ``margin`` there.
        alpha : float
            Level of tests, letters and sentences, and of the intervals of differences (1 - alpha); 0.05 by default,
            whatever the level of the intervals of the values, ``run(conf_level=)``. Where the two differ, the printed
            comparison states both.
        adjust : "holm", "benjamini_hochberg" or None
            Adjustment over all pairs and measures of this comparison; Holm by default. "BH" and "fdr_bh" are accepted.

        Returns
        -------
        dreval.records.comparison.Comparison
            ``tidy()`` has one row per measure and pair: ``difference`` (how much better the first is, for either
            direction of the measure), interval, p, effect size (difference over the standard deviation of the
            differences of points) and probability of superiority (share of points at which the first is better, ties as
            halves).

        Raises
        ------
        InputError
            With fewer than two computed embeddings, or for a result without intervals (``ci=None``).

        Examples
        --------
        >>> import numpy as np, dreval; X = np.random.default_rng(0).normal(size=(80, 4)) * [3, 2, 1, 1]
        >>> ev = dreval.Evaluation(X, {"first two": X[:, :2], "last two": X[:, 2:]}, n_neighbors=8, random_state=0)
        >>> comparison = ev.run("trustworthiness").compare()
        >>> comparison.tidy()[["first", "second", "difference", "better"]].round(2)
               first    second  difference     better
        0  first two  last two       0.31  first two
        """
        from dreval.comparison.compare import compare

        options: Any = {"measure": measure, "baseline": baseline, "margin": margin, "rope": rope}
        return compare(self, names=names, **options, alpha=alpha, adjust=adjust)

    def ranking(self, measure: Any = None, *, alpha: float = 0.05) -> pd.DataFrame:
        """Rank the embeddings by each measure, the best first, with the set not distinguishable from the best.

        An embedding h is in the set if no other is significantly better: ``max_l (theta_l - theta_h) / se_lh`` is at
        most the 1 - alpha quantile of its distribution if all are equally good, from the joint covariance of the values
        (multiple comparisons with the best, simultaneous over embeddings). The standard errors ``se_lh`` are those of
        ``compare``. The truly best embedding is in the set with
        probability at least 1 - alpha, for each measure alone.

        Parameters
        ----------
        measure : str or list of str, optional
            Which measures; all that have a better end by default.
        alpha : float
            One minus the level of the set; 0.05 by default, whatever the level of the intervals.

        Returns
        -------
        DataFrame
            One row per measure and embedding: ``rank`` (1 is the best; equal values share one), ``value`` with ``se``,
            ``conf_low`` and ``conf_high`` (as in ``tidy``, at the level ``conf_level``), ``difference`` (how far it is
            behind the best value, at least 0),
            ``p_adjusted`` (of "none is better", adjusted over the embeddings, not over measures; 1 for the best value),
            ``in_best_set``, and ``note`` if an embedding cannot be compared with the others: without a test of its
            differences ``p_adjusted`` and ``in_best_set`` are missing, for the best value too. Embeddings that are the
            data (``reference``) come last, without rank, difference, ``p_adjusted`` and ``in_best_set``.

        Raises
        ------
        InputError
            For a result without intervals (``ci=None``).

        Notes
        -----
        ``ranking`` decides which embedding is best; its tests are one-sided, and each measure is tested alone. If
        ``compare`` (two-sided, adjusted over all pairs and measures) does not separate an embedding outside the set
        from those in it, reports say "borderline" and print both p-values.

        Any embedding in the set may be the best; an embedding outside is significantly worse than at least one other.
        The members of the set need not be equal: two of them can differ significantly from each other. The test uses
        19,999 draws of a stream of the evaluation's seed; with fewer than 2k pairs of halves or groups, Bonferroni's
        bound. O(20,000 k^2) time for k embeddings.

        References
        ----------
        Hsu (1981), Simultaneous confidence intervals for all distances from the "best", Ann. Stat. 9, 1026-1034.

        See Also
        --------
        compare : all pairs.

        Examples
        --------
        >>> import numpy as np, dreval; X = np.random.default_rng(0).normal(size=(80, 4)) * [3, 2, 1, 1]
        >>> sources = {"last two": X[:, 2:], "first two": X[:, :2], "pca": "pca"}
        >>> res = dreval.Evaluation(X, sources, n_neighbors=8, random_state=0).run("trustworthiness")
        >>> res.ranking()[["rank", "embedding", "in_best_set"]]
           rank  embedding  in_best_set
        0     1  first two         True
        1     2        pca         True
        2     3   last two        False
        """
        from dreval.comparison.ranking import ranking

        return ranking(self, measure, alpha=alpha)

    @overload
    def plot(
        self, kind: str = "scatter", ax: None = None, figsize: tuple[float, float] | None = None, **options: Any
    ) -> Figure: ...
    @overload
    def plot(self, kind: str = "scatter", *, ax: Axes, **options: Any) -> Axes: ...
    def plot(self, kind: str = "scatter", ax: Any = None, figsize: Any = None, **options: Any) -> Figure | Axes:
        """Draw a figure of all embeddings or of some.

        Parameters
        ----------
        kind : str
            ``dreval.list_figures()`` lists the kinds, and ``dreval.card("map")`` gives the options of one. Built-in
            kinds:

            - "scatter" (or "embedding"): the points of each embedding, colored by class or by ``color``.
            - "map": the quality of a measure at each point, from the chance level (orange) to a perfect value (blue).
            - "curve": a measure against the number of neighbors, one line for each embedding, with intervals and
              chance; a panel for each embedding, with the others in gray. A measure with a value at every K (``r_nx``)
              has a log scale.
            - "shepard": distances in the embedding against those in the data, and their nearest ascending step
              function.
            - "heatmap": all embeddings by all measures: values with intervals, the best set of each measure bold, and
              chance levels; more than six embeddings are the rows, and each question has one measure.
            - "forest": paired differences with their intervals and adjusted p-values, by pair or by measure: of two or
              three embeddings a line for each measure, on the scale from chance level to perfect; of more a line for
              each pair; of more than eight for each embedding nearest to the best one or to ``baseline``.
            - "difference_map": where the first of a pair is better than the second, in both embeddings.
            - "null": the statistic of a test of independence against its values under permutation.
            - "coranking": ranks of neighbors in the data against ranks in the embedding, with the blocks up to
              ``n_neighbors``.
            - "kappa_curve": kernel canonical correlation (KCCA) with the classes over its regularization kappa, above
              permutations.
            - "centroid_triplets": whether classes that are nearer to each other than to a third one in the embedding
              are so in the data: the ratio of the two distances in both spaces, for each triple of classes.
            - "critical_difference" and "wins" need several data sets: here they raise an error that says what to do.
        ax : matplotlib Axes, optional
            Where to draw a figure of one panel. The text that explains the figure is then left out.
        figsize : (float, float), optional
            Width and height of a new figure, in inches.
        names : list of str, optional
            The embeddings to draw; all that were computed by default, for "curve" of more than eight the first by mean
            rank.
        embedding : str, optional
            The one embedding to draw, short for ``names=[embedding]``.
        measure : str, optional
            For "map", "curve", "forest", "difference_map": the measure; the first that can be drawn by default, for
            "forest" all, unless there are more than 21 pairs. For "heatmap": one or a list; all by default.
        band : {"simultaneous", "pointwise"}, optional
            For "curve" of a measure with a value at every K: the band that holds the whole curve (see ``curve``), with
            dashed lines at the ends of the interval at each K alone where it has no ends; or that interval everywhere.
            The first, where there is one, by default.
        difference : (str, str), optional
            For "curve" of a measure with a value at every K: draw the curve of the first embedding minus that of the
            second with its band, and mark at which K one of the two is better.
        n_neighbors : int, optional
            For "map": the number of neighbors of the measure; 15, the only, or the middle one by default. For
            "coranking": where the blocks end; as for "map" by default.
        color : array (n,) or str, optional
            For "scatter": what colors the points: values, or the name of a variable of the evaluation, of a column of
            ``obs`` or of the data. Strings, categories, booleans and up to 20 different integers are classes; other
            numbers are on a scale, over which the name of the variable stands. Classes of a column of ``obs`` have
            their colors in ``uns``, if there are any. The labels of the evaluation by default.
        pair : (str, str), optional
            For "forest" and "difference_map": the two embeddings; all pairs, and the first pair, by default.
        baseline, alpha, adjust : str, float, str or None
            For "forest" and "difference_map": as ``compare``.
        test, variable : str, optional
            For "null": the test, and its variable; the first with permutations by default.
        kappas : list of float, optional
            For "kappa_curve": values of kappa; 13 from 0.0002 to 2 by default.
        n_resamples : int
            For "kappa_curve": number of permutations, the same ones for all; 99 by default.

        Returns
        -------
        matplotlib.figure.Figure or matplotlib.axes.Axes
            ``ax`` if it is passed, else a figure, which has ``savefig`` and is not registered with pyplot.

        Raises
        ------
        UnknownName
            If there is no such kind, option, measure or embedding; the message suggests the nearest name.
        InputError
            If nothing was computed, or the result lacks what the kind needs: values per point ("map"), several
            numbers of neighbors ("curve"), a measure of pairs ("shepard"), two embeddings and intervals ("forest",
            "difference_map"), a test with permutations ("null"), the data in memory ("coranking",
            "centroid_triplets"), labels ("kappa_curve", "centroid_triplets"); or if ``ax`` is passed and the figure has
            several panels.

        Notes
        -----
        The family and size of fonts and ``figure.dpi`` in ``matplotlib.rcParams`` are used if they differ from the
        defaults of matplotlib; other settings are not used. Of embeddings with three and more columns the first two are
        drawn, and the title states this; one column is drawn as a strip, its height without meaning. "shepard" draws a
        table of counts of the pairs that the measures of the evaluation used, and "null" draws the histogram of the
        permutations: both are saved with the result.

        O(n) time and memory for each embedding; "coranking" O(m n (p + log n)) for m points, all up to 2000, of more
        that many drawn at random; "kappa_curve" a test of up to 1000 points for each kappa.

        "coranking" counts, for every pair of ranks, the neighbors that have the first rank in the data and the second
        in the embedding (Lee & Verleysen 2009), on log scales of both ranks and in multiples of what an unrelated
        embedding has. Neighbors below the diagonal are nearer in the embedding than in the data.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(60, 4))
        >>> res = dreval.Evaluation(X, {"pca": "pca"}, n_neighbors=[5, 10], random_state=0).run(ci=None)
        >>> res.plot("map", measure="continuity", n_neighbors=5)
        <Figure size ...>
        """
        from dreval.report.plot import plot

        return plot(self, kind, ax, figsize, **options)

    def report(self, path: str | Path, *, title: str | None = None) -> Path:
        """Write the report: answers, tables, figures, notes and settings.

        For papers, ``to_latex`` gives a table and ``paragraph`` a text.

        %(report)s

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
        >>> res = ev.run("trustworthiness", tests=None, ci=None)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = res.report(f"{folder}/page.html")
        ...     path.name, path.exists()
        ('page.html', True)
        """
        from dreval.report.write import write_report

        return write_report(self, check_path(path, "path"), title=title)

    def save(self, path: str | Path) -> Path:
        """Save everything but the data in one file (a zip of JSON and CSV); ``dreval.load_results`` reads it.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
        >>> res = ev.run("trustworthiness", tests=None, ci=None)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     dreval.load_results(res.save(f"{folder}/a.dreval")).names
        ['a', 'b']
        """
        from dreval.records.archive import save_results

        return save_results(self, path)

    def to_latex(self, measures: Any = None, *, rows: str = "auto", label: str | None = None) -> str:
        r"""Return the table for a paper: values with intervals, the best set bold, chance levels; for ``\input``.

        Parameters
        ----------
        measures : str or list of str, optional
            Which measures, in this order; all that were run by default.
        rows : {"auto", "embeddings", "measures"}
            Content of the rows; "auto": measures, if there are at most five embeddings.
        label : str, optional
            As in the ``as_latex`` of ``summary()``.

        Returns
        -------
        str
            A table for the packages booktabs and longtable. Bold marks the best value of each measure, and the values
            that are not distinguishable from it as in ``ranking``; without intervals the best value only. An interval
            that is not symmetric in print is in parentheses; a small circle marks embeddings that ``ranking`` cannot
            compare. Curves have no single value and are left out.

        Raises
        ------
        InputError
            If a measure was not run, or none has a value.

        See Also
        --------
        to_markdown, to_html : the same table in other formats.
        ranking : the best set with p-values.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
        >>> res = ev.run("trustworthiness", tests=None)
        >>> print(next(line for line in res.to_latex().splitlines() if line.startswith("Trust")))
        Trustworthiness ↑ & \textbf{.728 ± .080} & \textbf{.826 ± .074} & .523 \\
        """
        from dreval.report.documents.value_tables import to_latex

        return to_latex(self, measures, rows=rows, label=label)

    def to_markdown(self, measures: Any = None, *, rows: str = "auto") -> str:
        r"""Return the table of ``to_latex`` as GitHub-flavored Markdown.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
        >>> print(ev.run("trustworthiness", tests=None, ci=None).to_markdown().partition("\n\n")[0])
        |  | b | a | chance |
        | :-- | --: | --: | --: |
        | Trustworthiness ↑ | **.826** | .728 | .523 |
        """
        from dreval.report.documents.value_tables import to_markdown

        return to_markdown(self, measures, rows=rows)

    def to_html(self, measures: Any = None, *, rows: str = "auto") -> str:
        """Return the table of ``to_latex`` as a part of a page, in the colors around it.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
        >>> ev.run("trustworthiness", tests=None, ci=None).to_html().count("<b>")
        1
        """
        from dreval.report.documents.value_tables import to_html

        return to_html(self, measures, rows=rows)

    def paragraph(self, part: str = "results", format: str = "text") -> str:  # noqa: A002 - the keyword of Protocol.export
        r"""Write the findings in 180 words at most, or the methods in 250, with the works they cite, for a paper.

        Parameters
        ----------
        part : {"results", "methods"}
            "results": the findings of the verdict, question by question: the best embeddings with values, intervals,
            chance levels and p, then the tests of independence. It has as much detail as its limit allows. "methods":
            data, embeddings, measures, settings, intervals, tests and adjustment; it cites the works of ``bibtex()``.
        format : {"text", "markdown", "latex"}
            Format of symbols, names and citations.

        Returns
        -------
        str
            The paragraph, without line breaks.

        See Also
        --------
        bibtex : the works that are cited.
        to_latex : the table.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
        >>> res = ev.run("trustworthiness", tests=None)
        >>> res.paragraph()
        'Two embeddings were evaluated on 40 points (k = 5): a and b. For neighbors, no significant difference ...'
        >>> res.paragraph("methods", "latex")
        "Two embeddings (a and b) of 40 points in 4 dimensions were evaluated with dreval ...~\\cite{dreval}. ..."
        """
        from dreval.report.documents.paragraph import paragraph

        part = check_one_of(part, PAPER_PARTS, "part", aliases=True)
        return paragraph(self, part, check_one_of(format, TEXT_FORMS, "format", aliases=True))

    def bibtex(self) -> str:
        """Return the works behind all computed numbers, and dreval itself, as BibTeX entries.

        Returns
        -------
        str
            Entries sorted by key: of the measures, tests, intervals and adjustment, the best set, the bundled methods
            behind embeddings, and the software with its version. User-defined measures whose reference has no key have
            no entry.

        See Also
        --------
        paragraph : the methods, which cite them.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
        >>> res = ev.run("trustworthiness", tests=None)
        >>> [line for line in res.bibtex().splitlines() if line.startswith("@")][:2]
        ['@software{dreval,', '@article{efron1981,']
        """
        from dreval.report.documents.methods import bibtex

        return bibtex(self)

    def to_anndata(self, adata: Cells, key_added: str = "dreval", *, copy: bool = False) -> Cells:
        """Write the values of points into ``adata.obs`` and the tables into ``adata.uns[key_added]``.

        ``obs[f"{key_added}_{measure}_{embedding}"]`` holds the value of each cell, as in ``augment``, and for a method
        that was re-run those of ``stability`` and the noise test. A measure that was run with several settings has them
        behind the name, and a ``/`` in a name becomes ``_``. ``uns[key_added]`` holds the tidy table (``"table"``), the
        embedding and the values of each column of obs (``"columns"``) and the recipe as JSON (``"recipe"``): all of it
        can be written to a ``.h5ad`` file. Values of an earlier call under the same key are replaced.

        Parameters
        ----------
        adata : AnnData
            Cells are matched by ``obs_names``; cells that were not evaluated have missing values. Results of data
            without names are matched by position, and need as many cells.
        key_added : str
            Beginning of the columns, and key of ``uns``.
        copy : bool
            Whether to write into a copy.

        Returns
        -------
        AnnData
            The object itself, changed in place; or its copy.

        Raises
        ------
        InputError
            If the object is not an AnnData object, is a view, lacks evaluated cells, or would get equal column names.

        Notes
        -----
        O(n) time and memory for each column. A backed object is changed in memory; its ``write`` puts that into the
        file.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
        >>> res = ev.run("trustworthiness", tests=None, ci=None)
        >>> import pandas as pd
        >>> from types import SimpleNamespace  # stands in for an AnnData object
        >>> names = pd.Index([str(i) for i in range(40)])
        >>> cells = SimpleNamespace(obs=pd.DataFrame(index=names), obs_names=names, n_obs=40, uns={})
        >>> list(res.to_anndata(cells).obs)
        ['dreval_trustworthiness_a', 'dreval_trustworthiness_b']
        """
        return write_to_anndata(self, adata, key_added, copy=copy)

    def to_dict(self, *, intervals: bool = False) -> dict[str, float]:
        """Return the values as one flat mapping of text to float, for trackers such as MLflow, wandb and DVC.

        A value of a measure has the key ``"embedding/measure"``, where a measure was run with several settings
        ``"embedding/measure.n_neighbors-5"``, and a p-value ``"embedding/test.variable.p_value"``. Keys have only
        letters, digits, and ``_ - . /``: other characters become ``_``. Missing values are left out, since trackers
        and JSON have no form for them; the mean of several runs of a method is one value.

        Parameters
        ----------
        intervals : bool, default False
            Whether to add the ends of the intervals, as ``"embedding/measure.conf_low"`` and ``.conf_high``.

        Raises
        ------
        InputError
            If two values have the same key: names of embeddings that differ in other characters only.

        See Also
        --------
        glance : the same values as a table.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:]}, n_neighbors=5, random_state=0)
        >>> res = ev.run(["trustworthiness", "continuity"], tests=None, ci=None)
        >>> {key: round(value, 2) for key, value in res.to_dict().items()}
        {'a/trustworthiness': 0.73, 'a/continuity': 0.85, 'b/trustworthiness': 0.83, 'b/continuity': 0.92}
        """
        from dreval.report.exports import flat_values

        return flat_values(self, intervals)

    def to_multiqc(self, path: str | Path) -> Path:
        """Write the values as a table that MultiQC reads, a row for each embedding: custom content in JSON.

        Run ``multiqc`` on the folder of the file. Each column has the title, the question and the range of its
        measure, and a color scale whose good end is the better one. Files of several data sets are one table: a row is
        called ``"data | embedding"``, or by the embedding alone where the data have no name.

        Parameters
        ----------
        path : str or path
            A name that ends in ``_mqc.json``, by which MultiQC finds it.

        Returns
        -------
        Path
            The file, which is written atomically.

        Raises
        ------
        InputError
            If the name has another ending, or the file cannot be written.

        Examples
        --------
        >>> import numpy as np, dreval, json, tempfile, pathlib
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> res = dreval.Evaluation(X, {"a": X[:, :2]}, n_neighbors=5, random_state=0).run("continuity", None, None)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     json.loads(res.to_multiqc(pathlib.Path(folder) / "dreval_mqc.json").read_text())["data"]
        {'a': {'continuity': 0.85...}}
        """
        from dreval.report.exports import write_multiqc

        return write_multiqc(self, path)

    def to_atlas(self, path: str | Path, embedding: str | None = None, *, data: Any = None) -> Path:
        """Write one embedding as a Parquet file for Embedding Atlas: places, values of points, neighbors in the data.

        Columns are ``id`` (where the data have names), ``x`` and ``y`` (the first two columns of the embedding),
        ``label``, the values of points as in ``augment``, and ``neighbors``: for each point the row numbers ``ids``,
        from 0, of itself and its k nearest points in the data, nearest first, and their ``distances`` by the metric of
        the evaluation, of which k is the first number of neighbors. Open it with
        ``embedding-atlas map.parquet --x x --y y --neighbors neighbors``.

        Parameters
        ----------
        path : str or path
            A name that ends in ``.parquet``.
        embedding : str, optional
            The embedding; it may be left out where one was computed.
        data : optional
            The data of the evaluation, for a loaded result.

        Returns
        -------
        Path
            The file, which is written atomically.

        Raises
        ------
        InputError
            If the name has another ending, pyarrow is not installed, several embeddings were computed and none is
            named, it has fewer than two columns or only distances, or a loaded result gets no data.

        Notes
        -----
        The neighbors are exact: O(n^2 p) time, O(n k) memory.

        Examples
        --------
        >>> import numpy as np, pandas as pd, dreval, tempfile, pathlib
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> res = dreval.Evaluation(X, {"a": X[:, :2]}, n_neighbors=5, random_state=0).run("continuity", None, None)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     table = pd.read_parquet(res.to_atlas(pathlib.Path(folder) / "map.parquet"))
        >>> list(table), len(table["neighbors"][0]["ids"])
        (['x', 'y', 'continuity', 'neighbors'], 6)
        """
        from dreval.report.exports import write_atlas

        return write_atlas(self, path, embedding, data)

    def __repr__(self) -> str:
        return str(self.summary())
