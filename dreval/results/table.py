"""The filled table of an evaluation: three tables, their verbs, and the recipe that makes them again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dreval._check import check_one_of, check_parameters, check_path
from dreval.errors import InputError
from dreval.glossary import COLUMNS, NUMERIC_COLUMNS
from dreval.results.base import Printed
from dreval.results.value import Embedding

if TYPE_CHECKING:
    import pandas as pd

    from dreval.results.base import Summary
    from dreval.results.certified import Certificate
    from dreval.results.shepard import Shepard

__all__ = ["Results", "curves_frame", "groups_frame", "over_replicates", "point_column", "tidy_frame"]


def tidy_frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Rows as a table with the closed list of columns, in their order; what a row does not say is missing."""
    import pandas as pd

    table = pd.DataFrame(rows, columns=list(COLUMNS))
    for name in COLUMNS:
        if name in NUMERIC_COLUMNS:
            table[name] = pd.to_numeric(table[name]).astype("float64")
        else:
            table[name] = table[name].astype("object").where(table[name].notna(), "")
    whole = {"replicate": 0, "n": 0, "n_components": 0, "n_resamples": 0}
    return table.fillna(whole).astype(dict.fromkeys(whole, "int64"))


def groups_frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """The values behind intervals as a table, its types the same whether it has rows or not."""
    import pandas as pd

    kinds = {"embedding": "object", "index": "object", "parameters": "object", "group": "int64", "value": "float64"}
    return pd.DataFrame(rows, columns=list(kinds)).astype(kinds)


def curves_frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Curves over K as a table, its types the same whether it has rows or not."""
    import pandas as pd

    kinds = {"embedding": "object", "index": "object", "K": "int64", "value": "float64"} | dict.fromkeys(
        ("ci_low", "ci_high"), "float64"
    )
    return pd.DataFrame(rows, columns=list(kinds)).astype(kinds)


def over_replicates(table: pd.DataFrame) -> pd.DataFrame:
    """One row for each embedding, index and setting: the first, with the mean of the values that the replicates have.

    The intervals of replicates speak of this mean, and are the same on all their rows.
    """
    keys = ["dataset", "embedding", "index", "parameters", "test", "target"]
    if not table["replicate"].any():
        return table
    means = table.groupby(keys, sort=False)["value"].transform("mean")
    return table.assign(value=means).drop_duplicates(keys)


def point_column(index: str, parameters: str) -> str:
    """Name of the column of per-point values of an index, as ``trustworthiness(n_neighbors=15)``."""
    return f"{index}({parameters})" if parameters else index


@dataclass(frozen=True, eq=False)
class Results(Printed):
    """What an evaluation found.

    Attributes
    ----------
    table : DataFrame
        The tidy table; see ``dreval.glossary.COLUMNS``.
    points : dict of str to DataFrame
        Per-point contributions of each embedding; columns are named by index and parameters.
    groups : DataFrame
        The values behind intervals: embedding, index, parameters, group, value. Without each of 20 groups of points
        (of anchors: drawn towards the value by the finite-population factor), or, of ``ci="subsampling"`` and of
        methods run on halves, at the halves 2 s and 2 s + 1 of every split s.
    embeddings : dict of str to ndarray (n, d)
        Coordinates.
    labels : ndarray (n,) or None
        Classes of the points.
    ids : ndarray (n,) or None
        Names of the points.
    recipe : dict
        The call, seed, versions, shape and hash of the data, and notes on the data: what is needed to run it again.
    data : ndarray, sparse matrix or None
        The data, in memory only; a saved result holds their hash.
    curves : DataFrame
        Indices that have a value for every number of neighbors: embedding, index, K, value, and the ends of the
        95 % interval at each K (of each alone, not of the whole curve) up to K = n/2; see ``curve``.
    shepard : dict of str to Shepard
        Distances in each embedding against those in the data, counted in cells; where an index of pairs was run.
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
    shepard: dict[str, Shepard] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """Names of the embeddings, in the order in which they were added; failed ones too."""
        return list(dict.fromkeys([*self.table["embedding"], *self.embeddings, *self.failed]))

    @property
    def failed(self) -> dict[str, str]:
        """Embeddings that could not be computed, with the reason."""
        return dict(self.recipe.get("failed", {}))

    def tidy(self) -> pd.DataFrame:
        """One row per embedding x index x parameter, tests included; full precision."""
        return self.table.copy()

    def glance(self) -> pd.DataFrame:
        """One row per embedding: n, number of columns, the value of every index, seconds, and what failed.

        Where a method was run with several seeds the value is the mean over its runs.
        """
        import pandas as pd

        table = over_replicates(self.table[self.table["test"] == ""])
        several = table.groupby("index")["parameters"].transform("nunique") > 1
        keys = [
            point_column(i, p) if s else i for i, p, s in zip(table["index"], table["parameters"], several, strict=True)
        ]
        wide = table.assign(key=keys).drop_duplicates(["embedding", "key"])
        order = list(dict.fromkeys(keys))
        values = wide.pivot(index="embedding", columns="key", values="value")
        values = values.reindex(index=self.names, columns=order).rename_axis(columns=None)
        head = self.table.groupby("embedding")[["n", "n_components", "seconds"]].max().reindex(self.names)
        for name in head.index[head["n"].isna()]:  # curves alone have no row
            head.loc[name, ["n", "n_components"]] = self.embeddings[name].shape
        failed = pd.Series(self.failed, dtype="object").reindex(self.names).fillna("").rename("failed")
        parts = [head[["n", "n_components"]].astype("int64"), values, head[["seconds"]], failed]
        return pd.concat(parts, axis=1).rename_axis("embedding").reset_index()

    def augment(self, name: str) -> pd.DataFrame:
        """One row per point of one embedding: id, label, coordinates, and the contribution of the point to each index.

        With anchors only the anchors have contributions; the other points are missing there.
        """
        import pandas as pd

        self._check_computed(name)
        Y = self.embeddings[name]
        frame = pd.DataFrame(Y, columns=[f"y{j + 1}" for j in range(Y.shape[1])])
        if self.labels is not None:
            frame.insert(0, "label", self.labels)
        frame.insert(0, "id", self.ids if self.ids is not None else np.arange(len(Y)))
        return pd.concat([frame, self.points[name].reset_index(drop=True)], axis=1)

    def embedding(self, name: str, *, data: Any = None) -> Embedding:
        """The record of one embedding, which maps between data and picture (``embed_new``, ``reconstruct``).

        Parameters
        ----------
        name : str
            Name of the embedding.
        data : (n, p) array, optional
            The data; they are known in memory, and must be given to a loaded result.
        """
        known = self._known_data(data)
        self._check_computed(name)
        seed = self.recipe.get("random_state")
        names = self.recipe.get("columns")
        columns = None if names is None else tuple(names)
        return Embedding(self.embeddings[name], name, {}, seed, data_shape=known.shape, data=known, columns=columns)

    def embed_new(self, name: str, points: Any, *, data: Any = None, **options: Any) -> npt.NDArray[np.float64]:
        """Coordinates (m, d) of new points in one embedding, whatever made it (Theorem 2); see ``Embedding``.

        A loaded result must be given its ``data`` again.
        """
        return self.embedding(name, data=data).embed_new(points, **options)

    def reconstruct(self, name: str, points: Any, *, data: Any = None, **options: Any) -> npt.NDArray[np.float64]:
        """Data (m, p) at places (m, d) of one embedding, whatever made it; see ``Embedding``.

        A loaded result must be given its ``data`` again.
        """
        return self.embedding(name, data=data).reconstruct(points, **options)

    def certificate(self, name: str, *, data: Any = None, **options: Any) -> Certificate:
        """Whether what one embedding leaves of the data looks independent of what it shows (Definition 1).

        Parameters
        ----------
        name : str
            The embedding.
        data : array, DataFrame or path, optional
            The data of the evaluation, for results that were loaded.
        **options
            ``rule="ridge"``, ``n_resamples=199``, ``n_folds=5``, ``random_state`` (that of the evaluation, so that the
            folds are those of its ``reconstruction_error``) and ``n_jobs``: see ``dreval.certificate.certify``.

        Returns
        -------
        Certificate
            Errors, tests of residual against embedding, and ``verdict``; ``print`` shows them. O(n^3 + n_resamples n^2
            p) time and O(n^2) memory, on at most 1000 points.
        """
        certify = import_module("dreval.certificate").certify
        check_parameters(options, tuple(signature(certify).parameters)[1:], "certificate")
        made: Certificate = certify(
            self.embedding(name, data=data), **{"random_state": self.recipe.get("random_state"), **options}
        )
        return made

    def _known_data(self, data: Any) -> npt.NDArray[np.float64]:
        """The data of the evaluation: in memory, or given again and the same by their hash."""
        if data is None and self.data is None:
            cure = "Pass data=, the data of the evaluation: they are never saved."
            raise InputError("data", "must be given to a loaded result", "none", cure)
        if self.recipe.get("metric") == "precomputed":
            cure = "Evaluate the data themselves, with a metric by name."
            raise InputError("metric", "must leave the data their coordinates here", "'precomputed'", cure)
        if data is None:
            dense = self.data.toarray() if hasattr(self.data, "toarray") else self.data
            return np.asarray(dense, np.float64)
        given = import_module("dreval.inputs.data").as_data(data)
        if given.sha256() != self.recipe.get("data_sha256"):
            cure = "Pass the same rows and columns in the same order."
            raise InputError("data", "must be the data of the evaluation", "others, by their hash", cure)
        return np.asarray(given.dense(), np.float64)

    def _check_computed(self, name: str) -> None:
        """Refuse names of no embedding, and of one that failed."""
        check_one_of(name, self.names, "name")
        if name in self.failed:
            raise InputError(
                "name", "must be an embedding that was computed", repr(name), f"It failed: {self.failed[name]}"
            )

    def curve(self, index: str) -> pd.DataFrame:
        """A curve over the number of neighbors K: one row per K, one column per embedding."""
        known = list(dict.fromkeys(self.curves["index"]))
        if not known:
            cure = "Name a curve in Evaluation.run, as indices=['r_nx']."
            raise InputError("index", "must be a curve that was run", f"{index!r}, and there are none", cure)
        check_one_of(index, known, "index")
        rows = self.curves[self.curves["index"] == index]
        wide = rows.pivot(index="K", columns="embedding", values="value")
        return wide[[name for name in self.names if name in wide]].rename_axis(columns=None)

    def summary(self) -> Summary:
        """The printed result: what was evaluated, the call, the values of each index, tests, and notes.

        Returns
        -------
        dreval.results.base.Summary
            ``print`` shows it in 80 columns, with long names shortened; ``.as_html()``, ``.as_latex()`` and
            ``.as_markdown()`` give the same content with all names whole.
        """
        made: Summary = import_module("dreval.results.printing").summarise(self)
        return made

    def compare(self, names: Any = None, **options: Any) -> Any:
        """Which embedding is better here: paired differences of every pair, for each index.

        The two embeddings are judged at the same points, so their indices rise and fall together; the standard error
        is that of the difference, with the same groups of points left out of both (delete-a-group jackknife with
        recomputation), or of the differences at the anchors. Student's t with the number of groups less one (or of
        anchors less one) as degrees of freedom. The jackknife errs upwards, so the test is conservative. It speaks of
        other points for the same two pictures; for other data sets see ``dreval.compare``. After
        ``run(ci="subsampling")`` and for methods run on halves the same halves are taken of both; methods run with
        other seeds are compared by Welch's t of their runs. A pair whose intervals speak of different things has no
        test.

        Parameters
        ----------
        names : list of str, optional
            The embeddings to compare; all that were computed by default.
        index : str or list of str, optional
            Which indices; all by default.
        alpha : float
            Level of intervals, letters and words; 0.05 by default.
        adjust : "holm", "benjamini_hochberg" or None
            Adjustment over all pairs and indices of this comparison; Holm by default.

        Returns
        -------
        dreval.comparison.record.Comparison
            ``tidy()`` has one row per index and pair: ``advantage`` (how much better the first is, whichever way the
            index points), interval, p, effect size (advantage over the standard deviation of the differences of
            points) and probability of superiority (share of points at which the first is better).

        Raises
        ------
        InputError
            With fewer than two computed embeddings, or for a result without intervals (``ci=None``).

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(80, 4)) * [3, 2, 1, 1]
        >>> ev = dreval.Evaluation(X, {"first two": X[:, :2], "last two": X[:, 2:]}, n_neighbors=8, random_state=0)
        >>> found = ev.run("trustworthiness").compare()
        >>> found.tidy()[["first", "second", "advantage", "better"]].round(2)
               first    second  advantage     better
        0  first two  last two       0.31  first two
        """
        return import_module("dreval.comparison.within").compare_pairs(self, names, **options)

    def plot(self, kind: str = "embedding", **options: Any) -> Any:
        """A figure of all embeddings or of some.

        Parameters
        ----------
        kind : {"embedding", "map", "curve", "shepard"}
            Points coloured by class; points coloured by their contribution to an index; an index against the number
            of neighbors; distances in the embedding against those in the data.
        **options
            ``names`` (list of embeddings), ``index`` (name, for map and curve), ``n_neighbors`` (for map),
            ``embedding`` (name, for shepard).

        Returns
        -------
        matplotlib.figure.Figure
            Has ``savefig``; it is not registered with pyplot.
        """
        return import_module("dreval.report.figures").plot(self, kind, **options)

    def report(self, path: str | Path, *, title: str | None = None) -> Path:
        """Write one self-contained page (.html), or a text (.md, .tex) with a folder of figures beside it.

        For ``report.tex`` the folder is ``report-figures``; it also holds the tables, to be taken into
        papers. Gives the path.
        """
        return Path(import_module("dreval.report.page").write_report(self, check_path(path, "path"), title=title))

    def save(self, path: str | Path) -> Path:
        """Save everything but the data in one file (a zip of JSON and CSV); ``dreval.load_results`` reads it."""
        return Path(import_module("dreval.results.archive").save_results(self, path))

    def __repr__(self) -> str:
        n = self.recipe.get("n", 0)
        return f"Results({len(self.names)} embeddings of {n:,} points, {len(self.table)} rows)"
