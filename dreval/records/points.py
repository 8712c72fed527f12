"""The records of one embedding: its coordinates with the maps to the data, scores of its points, and its pairs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, overload

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import check_one_of
from dreval.errors import InputError
from dreval.records.base import Record, Summary, read_only
from dreval.records.cells import Cells, write_scores
from dreval.records.frames import coordinates_frame
from dreval.records.notes import Notes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dreval.geometry.kernels import KernelMap

FloatArray = npt.NDArray[np.float64]


@read_only
@dataclass(frozen=True, eq=False, repr=False)
class Embedding(Record):
    """Coordinates with their recipe; numpy takes the record as the array of its coordinates.

    Attributes
    ----------
    coordinates : ndarray (n, d)
        One row per point; read-only, since the maps of the record use them (``np.array(record)`` is a copy).
    method : str
        Name of the method.
    parameters : dict
        Parameters of the method, ``n_components`` among them.
    random_state : int or None
        The seed; with the parameters it reproduces the same coordinates.
    ids : pandas.Index or None
        Names of the rows, if the data have them.
    data_shape : (int, int)
        Rows and columns of the data.
    seconds : float
        Wall time of the fit. It is never printed.
    notes : tuple of Note
        Assumptions.
    data : ndarray (n, p) or None
        The data, in memory only; the maps between data and embedding use them.
    columns : tuple of str or None
        Names of the columns of the data, if they have names.

    Examples
    --------
    >>> import numpy as np
    >>> from dreval.records.points import Embedding
    >>> record = Embedding(np.eye(4)[:, :2], "example", {"n_components": 2})
    >>> np.asarray(record).shape
    (4, 2)
    >>> list(record.to_frame())
    ['example_1', 'example_2']
    """

    coordinates: npt.NDArray[np.float64]
    method: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    random_state: int | None = None
    ids: pd.Index[Any] | None = None
    data_shape: tuple[int, int] | None = None
    seconds: float = float("nan")
    notes: Notes = ()
    data: npt.NDArray[np.float64] | None = None
    columns: tuple[str, ...] | None = None
    _map_cache: dict[Any, Any] = field(default_factory=dict, init=False)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self.coordinates, dtype=dtype, copy=copy)

    def __len__(self) -> int:
        return len(self.coordinates)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of points and of components."""
        n, d = self.coordinates.shape
        return n, d

    def to_frame(self) -> pd.DataFrame:
        """Return the coordinates as a table, with the row names of the data; a copy.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> emb = dreval.embed(X, "pca")
        >>> emb.to_frame().head(2).round(3)
           pca_1  pca_2
        0 -0.319  0.734
        1 -1.568  0.487
        """
        names = [f"{self.method}_{j + 1}" for j in range(self.shape[1])]
        return pd.DataFrame(self.coordinates.copy(), index=self.ids, columns=names)

    def embedding_map(self, *, reg: float = 1e-6, bandwidth: float | None = None) -> KernelMap:
        """Return the embedding as a function of the data (Roy 2021, Theorem 2), with ridge, bandwidth and conditioning.

        See ``dreval.geometry.kernels.embedding_map``.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> emb = dreval.embed(X, "pca")
        >>> emb.embedding_map().rule
        'theorem2'
        """
        from dreval.geometry.kernels import embedding_map

        options = {"reg": reg, "bandwidth": bandwidth}
        return self._map(embedding_map, self.known_data(), self.coordinates, self.columns, options)

    def reconstruction_map(
        self, *, rule: str = "ridge", reg: float | None = None, bandwidth: float | None = None
    ) -> KernelMap:
        """Return the data as a function of the embedding, by kernel ridge or Theorem 3 of Roy (2021), with diagnostics.

        See ``dreval.geometry.kernels.reconstruction_map``.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> emb = dreval.embed(X, "pca")
        >>> emb.reconstruction_map().rule
        'ridge'
        """
        from dreval.geometry.kernels import reconstruction_map

        options = {"rule": rule, "reg": reg, "bandwidth": bandwidth}
        return self._map(reconstruction_map, self.coordinates, self.known_data(), None, options)

    def transform(self, points: Any, *, reg: float = 1e-6, bandwidth: float | None = None) -> npt.NDArray[np.float64]:
        """Return the coordinates (m, d) of new points (m, p), by ``embedding_map``; the embedding stays.

        The columns of a frame are matched by name if the data have names: other names raise an error, their order is
        free. Columns of an array are matched by position. Points of the data get their coordinates up to the ridge.
        O(n^3) time for the first call.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> emb = dreval.embed(X, "pca")
        >>> emb.transform(X[:3]).shape
        (3, 2)
        """
        return np.asarray(self.embedding_map(reg=reg, bandwidth=bandwidth)(points))

    def inverse_transform(
        self, points: Any, *, rule: str = "ridge", reg: float | None = None, bandwidth: float | None = None
    ) -> npt.NDArray[np.float64]:
        """Return data (m, p) at coordinates (m, d) of the embedding, by ``reconstruction_map``.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> emb = dreval.embed(X, "pca")
        >>> emb.inverse_transform([[0.0, 0.0]]).shape
        (1, 4)
        """
        return np.asarray(self.reconstruction_map(rule=rule, reg=reg, bandwidth=bandwidth)(points))

    def known_data(self) -> npt.NDArray[np.float64]:
        """Return the data; raise if they are not in memory.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> emb = dreval.embed(X, "pca")
        >>> emb.known_data().shape
        (40, 4)
        """
        if self.data is None:
            hint = "Embed with dreval.embed, or give the record its data: dataclasses.replace(embedding, data=X)."
            raise InputError("data", "must be known to map between data and embedding", "none", hint)
        return self.data

    def _map(
        self, fit: Callable[..., KernelMap], inputs: Any, outputs: Any, columns: Any, options: Mapping[str, Any]
    ) -> KernelMap:
        """Return the map that a function fits; it is fitted once for the same options."""
        key = (fit.__name__, *options.items())
        if key not in self._map_cache:
            self._map_cache[key] = replace(fit(inputs, outputs, **options), columns=columns)
        result: KernelMap = self._map_cache[key]
        return result

    def _summary(self, full: bool) -> Summary:
        """Return the printed form: the method, its parameters and the range of the coordinates."""
        from dreval.report.documents.small import embedding_summary

        return embedding_summary(self, full)


class PointScores(Record):
    """The base class of records of point scores, with their three tables.

    ``COLUMNS`` are the attributes with a value for each point, the score itself first, and ``NUMBERS`` those with one
    for the map.
    """

    TITLE: ClassVar[str]
    COLUMNS: ClassVar[tuple[str, ...]]
    NUMBERS: ClassVar[tuple[str, ...]] = ()
    coordinates: FloatArray
    recipe: Mapping[str, Any]
    notes: Notes

    def __len__(self) -> int:
        return len(self.coordinates)

    def augment(self) -> pd.DataFrame:
        """Return one row for each point: its number, its coordinates and its scores."""
        frame = coordinates_frame(self.coordinates)
        frame.insert(0, "id", np.arange(len(frame)))
        return frame.assign(**{name: getattr(self, name) for name in self.COLUMNS})

    def to_anndata(self, adata: Cells, key_added: str = "dreval", *, copy: bool = False) -> Cells:
        """Write the scores into ``adata.obs``, as ``dreval_anisotropy``; see ``Results.to_anndata``.

        The record has no names of points: the cells must be those of the data, in the same order.

        Examples
        --------
        >>> import numpy as np, pandas as pd, dreval
        >>> X = np.random.default_rng(0).normal(size=(60, 2))
        >>> from types import SimpleNamespace  # stands in for an AnnData object
        >>> names = pd.Index([str(i) for i in range(60)])
        >>> cells = SimpleNamespace(obs=pd.DataFrame(index=names), obs_names=names, n_obs=60, uns={})
        >>> list(dreval.local_distortion(X, X * [2.0, 0.5]).to_anndata(cells).obs)[:2]
        ['dreval_area', 'dreval_anisotropy']
        """
        scores = pd.DataFrame(
            {name: values for name in self.tidy()["score"] if (values := getattr(self, name)).ndim == 1}
        )
        return write_scores(scores, self.recipe, adata, key_added, copy=copy)

    def tidy(self) -> pd.DataFrame:
        """Return one row for each score: its mean, minimum, median and maximum over the points that have it."""
        numbers = {name: getattr(self, name) for name in self.COLUMNS if getattr(self, name).dtype.kind in "biuf"}
        rows = []
        for name, values in numbers.items():
            finite = np.asarray(values, np.float64)[np.isfinite(values)]
            statistics = ("mean", np.mean), ("min", np.min), ("median", np.median), ("max", np.max)
            row: dict[str, Any] = {"score": name, "n_used": len(finite)}
            rows.append(
                row | {label: float(statistic(finite)) if len(finite) else np.nan for label, statistic in statistics}
            )
        return pd.DataFrame(rows)

    def glance(self) -> pd.DataFrame:
        """Return one row: number of points, settings, median and maximum of the score, and the numbers of the map."""
        n, d = self.coordinates.shape
        score = self.tidy().iloc[0]
        row = {"n": n, "n_components": d, **self.recipe.get("parameters", {})}
        row |= {"median": score["median"], "max": score["max"]} | {name: getattr(self, name) for name in self.NUMBERS}
        return pd.DataFrame([row])

    @overload
    def plot(self, score: str | None = None, ax: None = None, figsize: tuple[float, float] | None = None) -> Figure: ...
    @overload
    def plot(self, score: str | None = None, *, ax: Axes) -> Axes: ...
    def plot(self, score: str | None = None, ax: Any = None, figsize: Any = None) -> Figure | Axes:
        """Draw the map with the score of each point, from low (dark) to high (light); points without a score are gray.

        Parameters
        ----------
        score : str, optional
            One of the scores in ``tidy``; by default the first.
        %(figure)s

        Raises
        ------
        UnknownName
            If there is no such score.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(60, 2))
        >>> dreval.local_distortion(X, X * [2.0, 0.5]).plot("anisotropy")
        <Figure size ...>
        """
        from dreval.report.figures.maps import scores_map

        scores = self.tidy()["score"].tolist()
        name = scores[0] if score is None else check_one_of(score, scores, "score", aliases=True)
        return scores_map(self, name, ax, figsize)

    def _summary(self, full: bool) -> Summary:
        """Return the printed form: the settings, and the range of each score."""
        from dreval.report.documents.small import scores_summary

        return scores_summary(self, full)


@read_only
@dataclass(frozen=True, eq=False, repr=False)
class SingularityScore(PointScores):
    """How flat the t-SNE loss is around the position of each point of a map.

    Attributes
    ----------
    values : ndarray (n,)
        The singularity score of each point, 1 / ``lambda_min``: large if a point could be elsewhere at almost the same
        loss.
    per_n : ndarray (n,)
        The score over n, which compares across numbers of points.
    lambda_min : ndarray (n,)
        The smallest eigenvalue of the second derivatives of the loss at the point; positive.
    step_ratio : ndarray (n,)
        The Newton step of the point alone, in units of ``nearest_distance``: how far it is from its minimum, at most
        0.001.
    moved : ndarray (n,)
        Distance by which polishing moved the point, in the unit of the map; 0 without polishing.
    coordinates : ndarray (n, d)
        The scored map: the map that was passed, or the polished map.
    loss, loss_decrease : float
        The loss of that map (in nats, the divergence up to a constant of the data), and its decrease by polishing.
    n_steps : int
        Number of Newton steps.
    nearest_distance : float
        Median distance in the map to the nearest other point.
    recipe : dict
        ``n``, ``p``, ``parameters`` and ``versions``.
    notes : tuple of Note
        Assumptions.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(40, 4))
    >>> Y = dreval.methods.TSNE(perplexity=10, random_state=0).fit_transform(X)
    >>> dreval.singularity_score(X, Y, perplexity=10, polish=True).tidy()["score"].tolist()
    ['values', 'per_n', 'lambda_min', 'step_ratio', 'moved']
    """

    TITLE: ClassVar[str] = "Singularity score"
    COLUMNS: ClassVar[tuple[str, ...]] = ("values", "per_n", "lambda_min", "step_ratio", "moved")
    NUMBERS: ClassVar[tuple[str, ...]] = ("loss", "loss_decrease", "n_steps", "nearest_distance")

    values: FloatArray
    lambda_min: FloatArray
    step_ratio: FloatArray
    moved: FloatArray
    coordinates: FloatArray
    loss: float
    nearest_distance: float
    loss_decrease: float = 0.0
    n_steps: int = 0
    recipe: Mapping[str, Any] = field(default_factory=dict)
    notes: Notes = ()

    @property
    def per_n(self) -> FloatArray:
        """The score over n, which compares across numbers of points."""
        return np.asarray(self.values / len(self.values))


@read_only
@dataclass(frozen=True, eq=False, repr=False)
class PerturbationScore(PointScores):
    """Distance by which each point of a t-SNE map moves if this point alone is moved a little in the data.

    Attributes
    ----------
    values : ndarray (n,)
        The perturbation score: the largest distance in the map over the directions; NaN for points left out.
    per_width : ndarray (n,)
        The score over the width of the map (its longest side), which compares across maps.
    direction : ndarray (n,) of text
        The direction with the largest distance, as "+PC1"; empty for points left out.
    coordinates : ndarray (n, d)
        The map.
    length : float
        Distance by which points were moved in the data, in units of the mean distance to the nearest neighbor.
    unit : float
        That mean distance, in the unit of the data.
    recipe : dict
        ``n``, ``p``, ``parameters`` and ``versions``.
    notes : tuple of Note
        Assumptions.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(40, 4))
    >>> Y = dreval.methods.TSNE(perplexity=12, random_state=0).fit_transform(X)
    >>> Y = dreval.singularity_score(X, Y, perplexity=12, polish=True).coordinates
    >>> dreval.perturbation_score(X, Y, perplexity=12, points=[0, 1]).tidy()[["score", "n_used"]]
           score  n_used
    0     values       2
    1  per_width       2
    """

    TITLE: ClassVar[str] = "Perturbation score"
    COLUMNS: ClassVar[tuple[str, ...]] = ("values", "per_width", "direction")
    NUMBERS: ClassVar[tuple[str, ...]] = ("unit",)

    values: FloatArray
    direction: npt.NDArray[np.str_]
    coordinates: FloatArray
    length: float
    unit: float
    recipe: Mapping[str, Any] = field(default_factory=dict)
    notes: Notes = ()

    @property
    def per_width(self) -> FloatArray:
        """The score over the width of the map, which compares across maps."""
        return np.asarray(self.values / float(np.ptp(self.coordinates, axis=0).max()))


@read_only
@dataclass(frozen=True, eq=False, repr=False)
class LocalDistortion(PointScores):
    """How an embedding stretches the neighborhood of each point.

    Attributes
    ----------
    area : ndarray (n,)
        Factor of area, over its median; NaN if the points of the neighborhood coincide, as below.
    anisotropy : ndarray (n,)
        The largest over the smallest stretch, at least 1.
    outside : ndarray (n,)
        Share of the variance of the neighborhood in the data that is outside its tangent.
    r2 : ndarray (n,)
        Share of the variance of the neighborhood in the embedding that its linear map explains.
    log_area_se, log_anisotropy_se : ndarray (n,)
        Standard errors of the logarithms, by the jackknife over neighbors.
    n_broken : ndarray (n,) of int
        Number of broken edges at the point.
    coordinates : ndarray (n, d)
        The embedding.
    matrices : ndarray (n, d, d)
        H = J'J, in the unit of the embedding over that of the data: the ellipse at a point is its square root times the
        unit circle.
    broken : ndarray (b, 2) of int
        The broken edges, by the numbers of their points, the smaller one first.
    median_area : float
        The median factor of area, in the unit of the embedding over that of the data.
    recipe : dict
        ``n``, ``p`` and ``parameters``.
    notes : tuple of Note
        Assumptions.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> dreval.local_distortion(X, X * [2.0, 0.5]).glance()[["n", "n_neighbors", "n_broken_edges"]]
        n  n_neighbors  n_broken_edges
    0  60           15               0
    """

    TITLE: ClassVar[str] = "Local distortion"
    COLUMNS: ClassVar[tuple[str, ...]] = (
        "area",
        "anisotropy",
        "outside",
        "r2",
        "log_area_se",
        "log_anisotropy_se",
        "n_broken",
    )
    NUMBERS: ClassVar[tuple[str, ...]] = ("median_area", "n_broken_edges")

    area: FloatArray
    anisotropy: FloatArray
    outside: FloatArray
    r2: FloatArray
    log_area_se: FloatArray
    log_anisotropy_se: FloatArray
    n_broken: npt.NDArray[np.int64]
    coordinates: FloatArray
    matrices: FloatArray
    broken: npt.NDArray[np.int64]
    median_area: float
    recipe: Mapping[str, Any] = field(default_factory=dict)
    notes: Notes = ()

    @property
    def n_broken_edges(self) -> int:
        """Number of broken edges."""
        return len(self.broken)


@read_only
@dataclass(frozen=True, eq=False, repr=False)
class Shepard:
    """Distances in an embedding against those in the data, counted in cells.

    Attributes
    ----------
    x_edges, y_edges : ndarray (cells + 1,)
        Edges of the cells, in the unit of the data and of the embedding; both begin at 0.
    counts : ndarray (cells, cells) of int
        Number of pairs by distance in the data (rows) and in the embedding (columns).
    step_edges, steps : ndarray (m + 1,), (m,)
        The ascending step function that is nearest to the distances in the embedding (least squares), with steps
        that each hold about equally many pairs; pairs at equal distances in the data share a step.
    pairs, total : int
        Number of pairs counted and of all pairs of the points; fewer are counted if pairs were drawn at random.
    anchored : bool
        Whether they are pairs of an anchor and another point; a pair of two anchors then counts twice.
    """

    x_edges: FloatArray
    y_edges: FloatArray
    counts: npt.NDArray[np.int64]
    step_edges: FloatArray
    steps: FloatArray
    pairs: int
    total: int
    anchored: bool = False

    def __repr__(self) -> str:
        return f"Shepard({self.pairs:,} of {self.total:,} pairs in {' x '.join(map(str, self.counts.shape))} cells)"

    def plain(self) -> dict[str, Any]:
        """Return the table in types that JSON can store; floats keep every digit."""
        filled = np.flatnonzero(self.counts)
        return {
            "x_edges": self.x_edges.tolist(),
            "y_edges": self.y_edges.tolist(),
            "filled": filled.tolist(),
            "counts": self.counts.ravel()[filled].tolist(),
            "step_edges": self.step_edges.tolist(),
            "steps": self.steps.tolist(),
            "pairs": self.pairs,
            "total": self.total,
            "anchored": self.anchored,
        }

    @classmethod
    def of_plain(cls, saved: dict[str, Any]) -> Shepard:
        """Return the table that ``plain`` wrote."""
        x, y, edges, steps = (np.array(saved[key], np.float64) for key in ("x_edges", "y_edges", "step_edges", "steps"))
        counts = np.zeros((len(x) - 1, len(y) - 1), np.int64)
        counts.flat[np.array(saved["filled"], np.int64)] = saved["counts"]
        pairs, total, anchored = int(saved["pairs"]), int(saved["total"]), bool(saved["anchored"])
        return cls(x, y, counts, edges, steps, pairs, total, anchored)
