"""Records of scores that each point of one map has: of the t-SNE loss, and of the local stretch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from dreval._check import check_one_of
from dreval.records._verbs import Record, call
from dreval.records.notes import Notes
from dreval.records.read_only import read_only

if TYPE_CHECKING:
    import pandas as pd

FloatArray = npt.NDArray[np.float64]


class PointScores(Record):
    """What records of scores of points share: their three tables.

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
        """One row for each point: its number, its coordinates and its scores."""
        import pandas as pd

        Y = self.coordinates
        frame = pd.DataFrame(Y, columns=[f"y{j + 1}" for j in range(Y.shape[1])])
        frame.insert(0, "id", np.arange(len(Y)))
        return frame.assign(**{name: getattr(self, name) for name in self.COLUMNS})

    def tidy(self) -> pd.DataFrame:
        """One row for each score: its mean, minimum, median and maximum over the points that have it."""
        import pandas as pd

        numbers = {name: getattr(self, name) for name in self.COLUMNS if getattr(self, name).dtype.kind in "biuf"}
        rows = []
        for name, values in numbers.items():
            there = np.asarray(values, np.float64)[np.isfinite(values)]
            words = ("mean", np.mean), ("min", np.min), ("median", np.median), ("max", np.max)
            row: dict[str, Any] = {"score": name, "n_used": len(there)}
            rows.append(row | {word: float(of(there)) if len(there) else np.nan for word, of in words})
        return pd.DataFrame(rows)

    def glance(self) -> pd.DataFrame:
        """One row: the number of points, the settings, median and maximum of the score, and the numbers of the map."""
        import pandas as pd

        n, d = self.coordinates.shape
        score = self.tidy().iloc[0]
        row = {"n": n, "n_components": d, **self.recipe.get("parameters", {})}
        row |= {"median": score["median"], "max": score["max"]} | {name: getattr(self, name) for name in self.NUMBERS}
        return pd.DataFrame([row])

    def plot(self, score: str | None = None, ax: Any = None, figsize: Any = None) -> Any:
        """The map with the score of each point, from low (dark) to high (light); points without one are gray.

        Parameters
        ----------
        score : str, optional
            One of the scores in ``tidy``; by default the first.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        figsize : (float, float), optional
            Width and height of a new figure, in inches.

        Returns
        -------
        matplotlib.figure.Figure or matplotlib.axes.Axes
            ``ax`` where it is given, else a figure, which has ``savefig`` and is not registered with pyplot.

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
        known = self.tidy()["score"].tolist()
        name = known[0] if score is None else check_one_of(score, known, "score", aliases=True)
        return call("PointScores.plot", self, name, ax, figsize)

    def __repr__(self) -> str:
        score = self.tidy().iloc[0]
        return f"{type(self).__name__}({len(self)} points: median {score['median']:.4g}, max {score['max']:.4g})"


@read_only
@dataclass(frozen=True, eq=False, repr=False)
class SingularityScore(PointScores):
    """How soft the t-SNE loss is about the place of each point of a map.

    Attributes
    ----------
    values : ndarray (n,)
        The singularity score of each point, 1 / ``lambda_min``: large where a point could almost as well lie elsewhere.
    per_n : ndarray (n,)
        The score over n, which compares across numbers of points.
    lambda_min : ndarray (n,)
        The smallest eigenvalue of the second derivatives of the loss in the place of the point; positive.
    step_ratio : ndarray (n,)
        The point's own Newton step, in units of ``nearest_distance``: how far it is from its minimum, at most 0.001.
    moved : ndarray (n,)
        How far polishing moved the point, in the unit of the map; 0 without.
    coordinates : ndarray (n, d)
        The map that was scored: the one passed, or the polished one.
    loss, loss_decrease : float
        The loss of that map (in nats, the divergence up to a constant of the data), and by how much polishing decreased
        it.
    n_steps : int
        Number of Newton steps.
    nearest_distance : float
        Median distance in the map to the nearest other point.
    recipe : dict
        ``n``, ``p``, ``parameters`` and ``versions``.
    notes : tuple of Note
        What was assumed.

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
    """How far each point of a t-SNE map goes when it alone is moved a little in the data.

    Attributes
    ----------
    values : ndarray (n,)
        The perturbation score: the largest distance in the map over the directions; NaN for points left out.
    per_width : ndarray (n,)
        The score over the width of the map (its longest side), which compares across maps.
    direction : ndarray (n,) of text
        The direction that gave it, as "+PC1"; empty for points left out.
    coordinates : ndarray (n, d)
        The map.
    length : float
        How far points were moved, in units of the mean distance to the nearest neighbor in the data.
    unit : float
        That mean distance, in the unit of the data.
    recipe : dict
        ``n``, ``p``, ``parameters`` and ``versions``.
    notes : tuple of Note
        What was assumed.

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
        Factor of area, over its median; NaN where the points of the neighborhood coincide, as below.
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
        What was assumed.

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
