"""Costs E(Y) of an embedding of data: each class is one cost, listed by its name in ``COSTS``.

A cost computes once from the data X (n, p) what it needs (distances, affinities, weights). It is then a function of an
embedding Y (n, d) that returns a number and its gradient (n, d). It does not depend on how Y is parametrized.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.sparse import csr_matrix, diags, triu
from scipy.special import xlogy

from dreval._check import check_float, check_int, check_one_of, check_width
from dreval._check_arrays import check_numeric
from dreval.cards import Card, keyword_defaults, register
from dreval.errors import InputError
from dreval.geometry.graphs import (
    IntArray,
    Reach,
    geodesics,
    join_components,
    neighbor_graph,
    neighborhoods,
    reach_of,
)
from dreval.geometry.pairs import condensed_distances
from dreval.geometry.tsne import MOST_COLUMNS, PairList, allowed_perplexity, conditional_affinities, lattice_sum
from dreval.methods._local import barycenter_matrix
from dreval.methods._method import FloatArray
from dreval.methods._spectral import principal_coordinates
from dreval.records.base import read_only

COSTS: dict[str, type[Any]] = {}  # all costs by name


class Stage(NamedTuple):
    """A function to minimize, with its own number of iterations and tolerance; None means those of the user.

    An ``early`` stage prepares the embedding with another cost.
    """

    energy: Callable[[FloatArray], tuple[float, FloatArray]]
    steps: int | None = None
    tol: float | None = None
    early: bool = False


@read_only
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CostCard(Card):
    """Properties of a cost, besides those of every ``Card``.

    ``scale`` says whether the unit of the embedding "follows" that of the data or is "ignored" (fixed by the cost);
    ``invariance`` says which maps of the embedding do not change the cost: "rotation" (with shifts and reflections) or
    "affine".
    """

    kind: ClassVar[str] = "cost"
    REQUIRED: ClassVar[tuple[str, ...]] = ("title", "formula", "reference")
    CHOICES: ClassVar[Mapping[str, Collection[str]]] = {
        "scale": ("follows", "ignored"),
        "invariance": ("rotation", "affine"),
    }

    formula: str
    scale: str
    invariance: str


def _listed(cls: type[Any], card: CostCard) -> type[Any]:
    """Add a class to ``COSTS``."""
    COSTS[card.name] = cls
    return cls


cost = register(CostCard, public=_listed, parameters=keyword_defaults)


class Cost:
    """A cost on embeddings of the rows X (n, p); a subclass has keyword options and defines ``__call__``."""

    card: ClassVar[CostCard]
    unit: float = 1.0  # factor of the data; options that are lengths have the unit of the original data
    start_size: float | None = None  # root mean square of the first column of the start; None: that of the data

    def __init__(self, X: FloatArray) -> None:
        self.n = len(X)

    @classmethod
    def of(cls, X: FloatArray, unit: float, options: Mapping[str, Any]) -> Self:
        """Return the cost of data that were multiplied by ``unit``, a power of two."""
        cost = cls.__new__(cls)
        cost.unit = unit
        cost.__init__(X, **options)  # type: ignore[misc]
        return cost

    def __call__(self, Y: FloatArray) -> tuple[float, FloatArray]:
        """Return the cost of an embedding (n, d) and its gradient (n, d)."""
        raise TypeError(f"{type(self).__name__} must define __call__")

    def start(self, d: int) -> FloatArray | None:
        """Return an embedding (n, d) to start from that is better than principal scores, or None."""
        return None

    def normal_form(self, Y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the map Y A + b, under which the cost is invariant, to a centered embedding on principal axes."""
        center = Y.mean(axis=0)
        _, _, axes = np.linalg.svd(Y - center, full_matrices=False)
        A = np.linalg.qr(axes.T, mode="complete")[0] if len(axes) < Y.shape[1] else axes.T
        return A, -center @ A

    def stages(self) -> list[Stage]:
        """Return the functions to minimize one after the other."""
        return [Stage(self)]

    def _connected_graph(
        self, X: FloatArray, n_neighbors: int | None, radius: float | None, disconnected: str
    ) -> tuple[csr_matrix, IntArray, Reach]:
        """Return the connected graph of neighbors, lengths in the unit of X; the links of its parts; the reach."""
        data, reach = X / self.unit, reach_of(n_neighbors, radius, len(X))
        graph, links = join_components(neighbor_graph(data, reach), data, reach, disconnected)
        graph.data *= self.unit
        return graph, links, reach


def pair_weights(
    weights: Any, distances: FloatArray, n: int, *, with_self: bool = True
) -> tuple[FloatArray, FloatArray]:
    """Return the weights of all pairs in condensed order, and of each point with itself (n,).

    A function is evaluated at distance 0 too, unless ``with_self`` is False: it may be infinite there.

    Raises
    ------
    InputError
        If they are not finite, are negative or all 0; or, as an array, not symmetric (n, n).
    """
    from scipy.spatial.distance import squareform

    shape: tuple[int, ...] = (n, n)
    if callable(weights):
        arguments = np.r_[distances, np.zeros(n if with_self else 0)]
        shape, values = arguments.shape, check_numeric(weights(arguments), "weights")
    else:
        values = check_numeric(weights, "weights")
    hint = "Pass such an array, or a function that takes an array of distances and returns their weights."
    if values.shape != shape:
        raise InputError("weights", f"must have the shape {shape} for {n} points", str(values.shape), hint)
    if not np.isfinite(values).all() or (values < 0).any() or not values.any():
        received = "values that are not finite" if not np.isfinite(values).all() else "a negative one or zeros only"
        raise InputError("weights", "must be finite numbers of at least 0, not all 0", received, hint)
    values = values.astype(np.float64)
    if callable(weights):
        return values[: len(distances)], values[len(distances) :]
    if not np.array_equal(values, values.T):
        raise InputError("weights", "must be symmetric", "an asymmetric matrix", hint)
    return squareform(values, checks=False), np.diagonal(values).copy()


class Stress(Cost):
    r"""Squared misfits :math:`\frac1c \sum_{i<j} w_{ij} (\delta_{ij} - |y_i - y_j|)^2` of target distances.

    c is the weighted sum of squares of the target distances. With equal weights the cost is Kruskal's raw stress in
    units of the data; with ``inverse`` the weights are 1 / delta where delta > 0, else 0, and c is the sum of delta.
    """

    inverse: ClassVar[bool] = False

    def __init__(self, X: FloatArray, targets: FloatArray, weights: Any = None) -> None:
        super().__init__(X)
        self.targets = targets
        self._weights = None if weights is None else _off_diagonal_weights(weights, targets / self.unit, self.n)
        self._total = float(targets.sum() if self.inverse else np.sum(self._weighted(targets**2))) or 1.0

    def _weighted(self, values: FloatArray) -> FloatArray:
        return values if self._weights is None else values * self._weights

    def __call__(self, Y: FloatArray) -> tuple[float, FloatArray]:
        """Return the stress and its gradient, which is set to 0 for equal places, where it does not exist."""
        from scipy.spatial.distance import squareform

        from dreval.geometry._loops import layouts as loops

        if self._weights is not None:
            distances = condensed_distances(Y)
            misfits = distances - self.targets
            pulls = np.divide(misfits, distances, out=np.zeros_like(distances), where=distances > 0)
            matrix = squareform(2.0 * self._weighted(pulls), checks=False)
            slope = matrix.sum(axis=1)[:, None] * Y - matrix @ Y
            return float(np.sum(self._weighted(misfits**2))) / self._total, slope / self._total
        columns = np.ascontiguousarray(Y.T)
        gradient = np.zeros_like(columns)
        value = loops.stress(columns, self.targets, self.inverse, gradient)
        return value / self._total, gradient.T / self._total


def _off_diagonal_weights(weights: Any, distances: FloatArray, n: int) -> FloatArray:
    """Return the weights of pairs for a cost that ignores pairs of a point with itself."""
    values = pair_weights(weights, distances, n, with_self=False)[0]
    if not values.any():
        hint = "Weigh pairs of different points, whose distances this cost compares."
        raise InputError("weights", "must not be all 0 off the diagonal", "zeros only", hint)
    return values


@cost(
    name="metric_mds",
    title="Stress of metric scaling",
    formula="sum_{i<j} w_ij (|x_i - x_j| - |y_i - y_j|)^2 / sum_{i<j} w_ij |x_i - x_j|^2, w_ij = 1 by default",
    scale="follows",
    invariance="rotation",
    reference="@kruskal1964. @hammer2010, Section 2, for the weights.",
)
class MetricMDS(Stress):
    """All distances count alike, or by ``weights``: a symmetric array (n, n), or a function of the distances.

    The function takes an array of distances in the unit of the data and returns the weight of each; with 1 / d the cost
    is that of Sammon. A weight of 0 leaves a pair out. 4 n^2 bytes for the distances, some 40 n^2 with weights.
    """

    def __init__(self, X: FloatArray, *, weights: Any = None) -> None:
        super().__init__(X, condensed_distances(X), weights)


@cost(
    name="strain",
    title="Strain: misfit of inner products",
    formula="sum_ij w_ij (x_i'x_j - y_i'y_j)^2 / sum_ij w_ij (x_i'x_j)^2, x and y centered, w_ij = 1 by default",
    scale="follows",
    invariance="rotation",
    reference="@hammer2010, Section 2. @torgerson1952.",
)
class Strain(Cost):
    r"""Inner products of the centered points; over free points with equal weights classical scaling is the minimum.

    The sums go over all ordered pairs and i = j. ``weights`` are a symmetric array (n, n), or a function of an array of
    distances, as in "metric_mds", which is also evaluated at the distance 0 of a point to itself. O(n^2 d) time,
    24 n^2 bytes.
    """

    def __init__(self, X: FloatArray, *, weights: Any = None) -> None:
        from scipy.spatial.distance import squareform

        super().__init__(X)
        centered = X - X.mean(axis=0)
        self._gram, self._weights = centered @ centered.T, None
        if weights is not None:
            pairs, self_weights = pair_weights(weights, condensed_distances(X) / self.unit, self.n)
            self._weights = squareform(pairs) + np.diag(self_weights)
        self._total = float(np.sum(self._weighted(self._gram**2))) or 1.0

    def _weighted(self, values: FloatArray) -> FloatArray:
        return values if self._weights is None else values * self._weights

    def __call__(self, Y: FloatArray) -> tuple[float, FloatArray]:
        """Return the strain and its gradient -4 H (w * misfit) Y, H the centering."""
        centered = Y - Y.mean(axis=0)
        misfits = self._gram - centered @ centered.T
        weighted = self._weighted(misfits)
        slope = -4.0 * (weighted @ centered)
        return float(np.vdot(weighted, misfits)) / self._total, (slope - slope.mean(axis=0)) / self._total


@cost(
    name="sammon",
    title="Sammon's stress",
    formula="sum_{i<j} (|x_i - x_j| - |y_i - y_j|)^2 / |x_i - x_j| / sum_{i<j} |x_i - x_j|",
    scale="follows",
    invariance="rotation",
    reference="@sammon1969.",
)
class Sammon(Stress):
    """Small distances count more; pairs of duplicates are left out."""

    inverse: ClassVar[bool] = True

    def __init__(self, X: FloatArray) -> None:
        super().__init__(X, condensed_distances(X))


@cost(
    name="isomap",
    title="Stress of path lengths",
    formula="sum_{i<j} w_ij (g_ij - |y_i - y_j|)^2 / sum_{i<j} w_ij g_ij^2, g the shortest paths in the graph of "
    "neighbors, w_ij = 1 by default",
    scale="follows",
    invariance="rotation",
    reference="@hammer2010, Table 2. @tenenbaum2000.",
)
class Isomap(Stress):
    """Metric scaling of geodesics; of graphs of balls with ``radius`` and ``n_neighbors=None``, as in all graph costs.

    ``disconnected`` is "error" or "connect", for a graph in parts; ``weights`` as in "metric_mds", of the paths.
    """

    def __init__(
        self,
        X: FloatArray,
        *,
        n_neighbors: int | None = 7,
        radius: float | None = None,
        disconnected: str = "connect",
        weights: Any = None,
    ) -> None:
        from scipy.spatial.distance import squareform

        paths = geodesics(self._connected_graph(X, n_neighbors, radius, disconnected)[0])
        super().__init__(X, squareform(paths, checks=False), weights)

    def start(self, d: int) -> FloatArray:
        """Return the embedding of Isomap, the classical scaling of the paths."""
        from scipy.spatial.distance import squareform

        return principal_coordinates(squareform(self.targets) ** 2, d, "isomap cost")[0]


@cost(
    name="mvu",
    title="Variance, with a penalty on changed edges",
    formula="penalty sum_e (|y_i - y_j|^2 - |x_i - x_j|^2)^2 / sum_e |x_i - x_j|^4 - sum_i |y_i - mean|^2 / "
    "sum_i |x_i - mean|^2",
    scale="follows",
    invariance="rotation",
    reference="@weinberger2006aaai.",
)
class MVU(Cost):
    """Edges e of the graph of nearest neighbors keep their squared lengths up to the effect of the penalty.

    The larger ``penalty``, the less they stretch and the harder is the search. The graph must be connected; otherwise
    the cost has no minimum.
    """

    def __init__(
        self,
        X: FloatArray,
        *,
        n_neighbors: int | None = 5,
        radius: float | None = None,
        penalty: float = 100.0,
        disconnected: str = "connect",
    ) -> None:
        super().__init__(X)
        self.penalty = check_float(penalty, "penalty", low=0.0)
        self._graph = self._connected_graph(X, n_neighbors, radius, disconnected)[0]
        edges = triu(self._graph, format="coo")
        self._ends, self._targets = edges.coords, edges.data**2
        self._edges = float(np.sum(self._targets**2)) or 1.0
        self._variance = float(np.sum((X - X.mean(axis=0)) ** 2)) or 1.0

    def __call__(self, Y: FloatArray) -> tuple[float, FloatArray]:
        """Return the cost and its gradient."""
        i, j = self._ends
        steps, centered = Y[i] - Y[j], Y - Y.mean(axis=0)
        gaps = np.sum(steps**2, axis=1) - self._targets
        pulls = csr_matrix((4.0 * self.penalty / self._edges * gaps, (i, j)), shape=(self.n, self.n))
        pulls = pulls + pulls.T
        gradient = np.asarray(pulls.sum(axis=1)) * Y - pulls @ Y - 2.0 / self._variance * centered
        value = self.penalty * float(gaps @ gaps) / self._edges - float(np.sum(centered**2)) / self._variance
        return value, gradient

    def start(self, d: int) -> FloatArray:
        """Return the embedding of Isomap on the same graph."""
        return principal_coordinates(geodesics(self._graph) ** 2, d, "mvu cost")[0]


LEAST_SQUARES_RANK = 1e-10  # singular values of the embedding below this, relative to the largest, count as 0


@cost(
    name="reconstruction",
    title="Reconstruction by the best linear function of the embedding",
    formula="min_B sum_i |x_i - mean - B'(y_i - mean)|^2 / sum_i |x_i - mean|^2",
    scale="follows",
    invariance="affine",
    reference="@hammer2010, Section 4, with f^-1 linear and at its optimum.",
)
class Reconstruction(Cost):
    """A share in [0, 1]; the linear decoder is solved for, so that the cost is a function of the embedding alone.

    Over free points and over linear maps the minimum is the one of PCA.
    """

    def __init__(self, X: FloatArray) -> None:
        super().__init__(X)
        self._data = X - X.mean(axis=0)
        self._total = float(np.sum(self._data**2)) or 1.0

    def __call__(self, Y: FloatArray) -> tuple[float, FloatArray]:
        """Return the share and its gradient -2 R B' / total with the residuals R; B is optimal (envelope theorem)."""
        Yc = Y - Y.mean(axis=0)
        B = np.linalg.lstsq(Yc, self._data, rcond=LEAST_SQUARES_RANK)[0]
        residuals = self._data - Yc @ B
        return float(np.sum(residuals**2)) / self._total, -2.0 * (residuals @ B.T) / self._total

    def normal_form(self, Y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the affine map to the scores of the fitted data on their principal axes, as in PCA."""
        Yc = Y - Y.mean(axis=0)
        B = np.linalg.lstsq(Yc, self._data, rcond=LEAST_SQUARES_RANK)[0]
        axes = np.linalg.svd(Yc @ B, full_matrices=False)[2][: Y.shape[1]]
        A = np.pad(B @ axes.T, ((0, 0), (0, Y.shape[1] - len(axes))))
        return A, -Y.mean(axis=0) @ A


SCATTER_RANK = 1e-12  # weighted scatter below this, relative to the largest, counts as 0


class Quotient(Cost):
    r"""The sum of Rayleigh quotients :math:`\mathrm{tr}\,(Y_c' D Y_c)^{-1} Y' M Y`, for M with M 1 = 0.

    :math:`Y_c` is Y minus its mean with weights D. A spectral method minimizes tr Y'MY under Y'DY = I and Y'D1 = 0.
    This cost includes the constraint: it does not change when Y is multiplied by an invertible matrix or shifted, and
    where the constraint holds it equals the cost of the method. All mappings of this package stay in their class under
    affine maps of the embedding, so that the minimum over a mapping is the minimum under the constraint;
    ``normal_form`` is the map to the Y that satisfies it.
    """

    def __init__(self, X: FloatArray, M: Any, weights: FloatArray) -> None:
        super().__init__(X)
        self.M, self.weights = M, weights

    def _centered(self, Y: FloatArray) -> FloatArray:
        return Y - self.weights @ Y / self.weights.sum()

    def __call__(self, Y: FloatArray) -> tuple[float, FloatArray]:
        """Return the sum of quotients and its gradient 2 (M Y - D Yc S^-1 T) S^-1.

        Directions without scatter do not count.
        """
        Yc = self._centered(Y)
        weighted, pulled = self.weights[:, None] * Yc, np.asarray(self.M @ Yc)
        inverse = np.linalg.pinv(Yc.T @ weighted, rcond=SCATTER_RANK, hermitian=True)
        quotients = inverse @ (Yc.T @ pulled)
        return float(np.trace(quotients)), 2.0 * (pulled - weighted @ quotients) @ inverse

    def normal_form(self, Y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the affine map Y A + b to Y'DY = sum(D) I, with columns in the order of their quotients."""
        from scipy.linalg import eigh

        center, Yc = self.weights @ Y / self.weights.sum(), self._centered(Y)
        values, vectors = eigh(Yc.T @ (self.weights[:, None] * Yc) / self.weights.sum())
        above_rounding = values > SCATTER_RANK * values[-1]
        whiten = vectors[:, above_rounding] / np.sqrt(values[above_rounding])
        white = Yc @ whiten
        turn = eigh(white.T @ (self.M @ white))[1]
        A = np.pad(whiten @ turn, ((0, 0), (0, Y.shape[1] - turn.shape[1])))
        return A, -center @ A

    def solve(self, basis: FloatArray | None, d: int) -> FloatArray:
        """Return the best embedding (n, d) of the form ``basis @ G``, or of any form, by an exact eigenproblem."""
        from scipy.linalg import eigh

        if basis is None:
            basis = np.eye(self.n)[:, 1:]
        white = self._centered(basis)
        inner = white.T @ (self.weights[:, None] * white)
        coefficients = eigh(white.T @ (self.M @ white), inner, subset_by_index=(0, min(d, white.shape[1]) - 1))[1]
        return np.pad(white @ coefficients, ((0, 0), (0, d - coefficients.shape[1])))


@cost(
    name="laplacian",
    title="Variation along the edges of the graph of neighbors",
    formula="tr (Yc'DYc)^-1 Y'(D - W)Y: sum_{i<j} w_ij |y_i - y_j|^2 under Y'DY = I, Y'D1 = 0",
    scale="ignored",
    invariance="affine",
    reference="@belkin2003.",
)
class Laplacian(Quotient):
    """W is 1 on edges, or exp(-|x_i - x_j|^2 / bandwidth), in the unit of the data; D holds its row sums."""

    def __init__(
        self,
        X: FloatArray,
        *,
        n_neighbors: int | None = 7,
        radius: float | None = None,
        bandwidth: float | None = None,
        disconnected: str = "connect",
    ) -> None:
        W = self._connected_graph(X, n_neighbors, radius, disconnected)[0]
        squared = (W.data / self.unit) ** 2
        W.data = np.ones_like(squared) if bandwidth is None else np.exp(-squared / check_width(bandwidth, "bandwidth"))
        degrees = np.asarray(W.sum(axis=1)).ravel()
        super().__init__(X, (diags(degrees) - W).tocsr(), degrees)


@cost(
    name="lle",
    title="Reconstruction of points from their neighbors",
    formula="tr (Yc'Yc)^-1 Y'(I - W)'(I - W)Y: sum_i |y_i - sum_j w_ij y_j|^2 under Y'Y = I, Y'1 = 0",
    scale="ignored",
    invariance="affine",
    reference="@roweis2000.",
)
class LLE(Quotient):
    """W holds the weights, with ridge ``reg``, by which k neighbors combine to each point."""

    def __init__(
        self,
        X: FloatArray,
        *,
        n_neighbors: int | None = 7,
        radius: float | None = None,
        reg: float = 1e-3,
        disconnected: str = "connect",
    ) -> None:
        graph, links, reach = self._connected_graph(X, n_neighbors, radius, disconnected)
        M = barycenter_matrix(X, neighborhoods(X, reach, graph, links), reg)
        super().__init__(X, M, np.ones(len(X)))


FLAT_ITERATIONS = 20  # first iterations, which may gain little


class NeighborCost(Cost):
    """A cost on conditional affinities; ``attracting`` holds the list of attracting pairs.

    The start is small, so that no point has to pass through others.
    """

    start_size: float | None = 1e-4

    def __init__(self, X: FloatArray, perplexity: float, n_affinities: int | None) -> None:
        super().__init__(X)
        self.perplexity = allowed_perplexity(perplexity, self.n)
        conditional = conditional_affinities(X, self.perplexity, n_affinities)
        self.attracting = PairList.of(conditional / self.divisor())
        self.entropy = self.negative_entropy(conditional)

    def stages(self) -> list[Stage]:
        """Return the cost for some iterations of any gain, since it is flat about a small start, then to the end."""
        return [Stage(self, FLAT_ITERATIONS, 0.0), Stage(self)]

    def divisor(self) -> float:
        """Return the divisor n of conditional affinities, for which each pair i < j has the joint p_ij + p_ji."""
        return float(self.n)

    def negative_entropy(self, conditional: csr_matrix) -> float:
        """Return the sum of p log p over ordered pairs, the part of a divergence that is constant in the embedding."""
        p = 0.5 * self.attracting.values
        return float(2.0 * np.sum(xlogy(p, p)))  # half of the smallest number above 0 is 0


@cost(
    name="sne",
    title="Divergences of neighbor probabilities",
    formula="sum_i sum_j p_{j|i} log(p_{j|i} / q_{j|i}), q_{j|i} proportional to exp(-|y_i - y_j|^2)",
    scale="ignored",
    invariance="rotation",
    reference="@hinton2003.",
)
class SNE(NeighborCost):
    """The sum over points of Kullback-Leibler divergences of conditional probabilities."""

    def __init__(self, X: FloatArray, *, perplexity: float = 30.0, n_affinities: int | None = None) -> None:
        super().__init__(X, perplexity, n_affinities)

    def divisor(self) -> float:
        """Return 1, since probabilities are conditional."""
        return 1.0

    def negative_entropy(self, conditional: csr_matrix) -> float:
        """Return the sum of p_{j|i} log p_{j|i}."""
        p = conditional.data[conditional.data > 0]
        return float(np.sum(p * np.log(p)))

    def __call__(self, Y: FloatArray) -> tuple[float, FloatArray]:
        """Return the sum of divergences and its gradient."""
        from dreval.geometry._loops import layouts as loops

        columns = np.ascontiguousarray(Y.T)
        repulsion = np.zeros_like(columns)
        logs = loops.gaussian_log_sums(columns, repulsion)
        gradient = np.ascontiguousarray(repulsion.T)
        return self.entropy + self.attracting.attract(Y, 0.0, gradient) + logs, gradient


@cost(
    name="symmetric_sne",
    title="Divergence of pair probabilities, Gaussian",
    formula="sum_{i != j} p_ij log(p_ij / q_ij), q_ij proportional to exp(-|y_i - y_j|^2), sum 1 over all pairs",
    scale="ignored",
    invariance="rotation",
    reference="@vandermaaten2008, Section 3.1.",
)
class SymmetricSNE(NeighborCost):
    """One Kullback-Leibler divergence of the joint probabilities p_ij = (p_{j|i} + p_{i|j}) / 2n."""

    def __init__(self, X: FloatArray, *, perplexity: float = 30.0, n_affinities: int | None = None) -> None:
        super().__init__(X, perplexity, n_affinities)

    def __call__(self, Y: FloatArray) -> tuple[float, FloatArray]:
        """Return the divergence and its gradient."""
        from dreval.geometry._loops import layouts as loops

        columns = np.ascontiguousarray(Y.T)
        repulsion = np.zeros_like(columns)
        log_sum = loops.gaussian_log_sum(columns, repulsion) + np.log(2.0)
        gradient = np.ascontiguousarray(repulsion.T)
        return self.entropy + self.attracting.attract(Y, 0.0, gradient) + log_sum, gradient


ALGORITHMS = ("auto", "exact", "lattice")
EXAGGERATION_SCHEDULE = ((1.0, 0.5), (0.5, 0.3), (0.25, 0.2))  # powers of the exaggeration, shares of its iterations
EXAGGERATION_TOL = 1e-5  # relative gain that ends a stage with exaggeration; later steps only drive clusters apart
EXACT_POINTS = 5000  # largest number of points for which "auto" sums over all pairs
PAIRS_PER_NODE = 20.0  # pairs that cost as much time as one node: "auto" takes the cheaper of pairs and lattice
DISC_RADIUS = 6.0  # of the search, in units of the root of n
DISC_PENALTY = 1.0  # factor of the squared excess over the radius


@cost(
    name="tsne",
    title="Divergence of pair probabilities, Student's t",
    formula="sum_{i != j} p_ij log(p_ij / q_ij), q_ij proportional to (1 + |y_i - y_j|^2 / dof)^(-(dof + 1) / 2)",
    scale="ignored",
    invariance="rotation",
    reference="@vandermaaten2008.",
)
class TSNE(NeighborCost):
    """One divergence of joint probabilities, with heavy tails in the embedding.

    If affinities have separate parts, or nearly separate ones, the cost keeps falling as the embedding grows: the
    search is confined to a disc. In the first ``exaggeration_iter`` iterations the affinities, not their normalization,
    are multiplied by ``exaggeration`` (in half of the iterations), by its square root, and by the root of that: a
    search that finds the minimum under the full factor leaves clusters as points, on which no force then acts.
    ``algorithm`` is "exact", "lattice" (see ``lattice_sum``; one or two columns), or "auto": exact up to 5000 points.
    """

    def __init__(
        self,
        X: FloatArray,
        *,
        perplexity: float = 30.0,
        dof: float = 1.0,
        exaggeration: float = 12.0,
        exaggeration_iter: int = 100,
        algorithm: str = "auto",
        n_affinities: int | None = None,
    ) -> None:
        self.dof = check_float(dof, "dof", low=1e-3)
        self.exaggeration = check_float(exaggeration, "exaggeration", low=1.0)
        self.exaggeration_iter = check_int(exaggeration_iter, "exaggeration_iter", low=0)
        self.algorithm = check_one_of(algorithm, ALGORITHMS, "algorithm", aliases=True)
        super().__init__(X, perplexity, n_affinities)

    def stages(self) -> list[Stage]:
        """Return the costs with decreasing exaggeration, then without it, all confined to the disc of the search."""
        final = [stage._replace(energy=lambda Y: self._confined(Y, 1.0)) for stage in super().stages()]
        if self.exaggeration == 1.0:
            return final
        early = []
        for step, (power, share) in enumerate(EXAGGERATION_SCHEDULE):
            factor, steps = self.exaggeration**power, int(share * self.exaggeration_iter)
            flat = min(steps, FLAT_ITERATIONS) if step == 0 else 0
            plan = (flat, 0.0), (steps - flat, EXAGGERATION_TOL)
            early += [Stage(lambda Y, f=factor: self._confined(Y, f), count, tol, True) for count, tol in plan if count]
        return early + final

    def __call__(self, Y: FloatArray) -> tuple[float, FloatArray]:
        """Return the divergence and its gradient."""
        return self._value(Y, 1.0)

    def _confined(self, Y: FloatArray, factor: float) -> tuple[float, FloatArray]:
        """Return the cost plus the squared excess of points over the radius of the disc, and its gradient."""
        value, gradient = self._value(Y, factor)
        radius = DISC_RADIUS * np.sqrt(self.n)
        distance = np.sqrt(np.einsum("ij,ij->i", Y, Y))
        out = np.flatnonzero(distance > radius)
        if len(out):
            excess = distance[out] / radius - 1.0
            value += DISC_PENALTY * float(np.sum(excess**2))
            gradient[out] += (2.0 * DISC_PENALTY / radius * excess / distance[out])[:, None] * Y[out]
        return value, gradient

    def _value(self, Y: FloatArray, factor: float) -> tuple[float, FloatArray]:
        total, slope = self._repulsion(Y)
        gradient = slope / (factor * total)
        attraction = self.attracting.attract(Y, self.dof, gradient)
        return factor * (self.entropy + attraction) + np.log(2.0 * total), factor * gradient

    def _repulsion(self, Y: FloatArray) -> tuple[float, FloatArray]:
        """Return the sum over pairs of the weights of Student's t, and its gradient (n, d)."""
        from dreval.geometry._loops import layouts as loops

        affordable = self.n**2 / PAIRS_PER_NODE if self.n > EXACT_POINTS else 0.0
        max_nodes = {"exact": 0.0, "lattice": np.inf, "auto": affordable}[self.algorithm]
        if max_nodes > 0.0 and Y.shape[1] <= MOST_COLUMNS:
            approximation = lattice_sum(Y, self.dof, max_nodes)
            if approximation is not None:
                return approximation
        columns = np.ascontiguousarray(Y.T)
        gradient = np.zeros_like(columns)
        return loops.student_sum(columns, self.dof, gradient), np.ascontiguousarray(gradient.T)


FIRST_REPULSION = 1e-3  # relative to the final repulsion
STEP_ITERATIONS = 20  # of each step up to the final repulsion


@cost(
    name="elastic_embedding",
    title="Elastic embedding",
    formula="sum_{i != j} p_ij |y_i - y_j|^2 + lambda sum_{i != j} v_ij exp(-|y_i - y_j|^2), v_ij proportional to "
    "|x_i - x_j|^2 with sum 1",
    scale="ignored",
    invariance="rotation",
    reference="@carreira2010, Eq. 5.",
)
class ElasticEmbedding(NeighborCost):
    """Springs between neighbors, and a repulsion that grows with the distance of the data.

    The attracting weights are the joint affinities of t-SNE; ``repulsion`` is lambda, between weights that sum to 1.
    The repulsion is raised to lambda in steps of ten, as in the paper.
    """

    def __init__(
        self, X: FloatArray, *, perplexity: float = 30.0, repulsion: float = 100.0, n_affinities: int | None = None
    ) -> None:
        super().__init__(X, perplexity, n_affinities)
        self.repulsion = check_float(repulsion, "repulsion", low=0.0)
        weights = condensed_distances(X) ** 2
        self._weights = weights / (weights.sum() or 1.0)

    def stages(self) -> list[Stage]:
        """Return the costs with a thousandth, a hundredth, a tenth and all of the repulsion."""
        early = [self.repulsion * FIRST_REPULSION * 10.0**step for step in range(3)]
        stages = [Stage(lambda Y, share=share: self._value(Y, share), STEP_ITERATIONS, 0.0, True) for share in early]
        return [*stages, Stage(self)]

    def __call__(self, Y: FloatArray) -> tuple[float, FloatArray]:
        """Return the cost and its gradient."""
        return self._value(Y, self.repulsion)

    def _value(self, Y: FloatArray, repulsion: float) -> tuple[float, FloatArray]:
        from dreval.geometry._loops import layouts as loops

        columns = np.ascontiguousarray(Y.T)
        slope = np.zeros_like(columns)
        total = loops.weighted_gaussians(columns, self._weights, slope)
        gradient = repulsion * np.ascontiguousarray(slope.T)
        return self.attracting.attract(Y, 0.0, gradient) + repulsion * total, gradient
