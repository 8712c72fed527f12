"""Mappings f(X; theta) from data to embeddings: each class is one mapping, listed by its name in ``MAPPINGS``.

A mapping is a family of functions f(x; theta). An instance holds rows X (n, p), computes their image for any ``theta``,
and turns a gradient in the image into a gradient in ``theta``. Costs and mappings do not depend on each other.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dreval._check import check_int, check_width
from dreval.cards import Card, keyword_defaults, register
from dreval.geometry.distances import pairwise_squared
from dreval.geometry.kernels import median_rule, radial_values
from dreval.methods._method import FloatArray
from dreval.methods._networks import backward, forward, initial, input_jacobian, unpack
from dreval.records.base import read_only

Pullback = Callable[[FloatArray], FloatArray]
MAPPINGS: dict[str, type[Any]] = {}  # all mappings by name
RELATIVE_RANK = 1e-10  # singular values of features below this, relative to the largest, count as 0


@read_only
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MappingCard(Card):
    """Properties of a mapping, besides those of every ``Card``; ``explicit``: whether it is defined at new points."""

    kind: ClassVar[str] = "mapping"
    REQUIRED: ClassVar[tuple[str, ...]] = ("title", "formula", "reference")

    formula: str
    explicit: bool


def _listed(cls: type[Any], card: MappingCard) -> type[Any]:
    """Add a class to ``MAPPINGS``."""
    MAPPINGS[card.name] = cls
    return cls


mapping = register(MappingCard, public=_listed, parameters=keyword_defaults)


class Mapping:
    """Functions of the rows X (n, p) with d values; a subclass has keyword options and the methods below."""

    card: ClassVar[MappingCard]

    def __init__(self, X: FloatArray, d: int, rng: np.random.Generator) -> None:
        self.X, self.d = X, d

    def start(self, Y: FloatArray) -> FloatArray:
        """Return parameters whose image is near the embedding Y (n, d)."""
        raise TypeError(f"{type(self).__name__} must define start")

    def forward(self, theta: FloatArray) -> tuple[FloatArray, Pullback]:
        """Return the image (n, d) of X, and the function from gradients in it (n, d) to gradients in ``theta``."""
        raise TypeError(f"{type(self).__name__} must define forward")

    def at(self, theta: FloatArray, points: FloatArray) -> FloatArray:
        """Return the image (m, d) of other points (m, p)."""
        raise TypeError(f"{type(self).__name__} must define at")

    def jacobian(self, theta: FloatArray, points: FloatArray) -> FloatArray:
        """Return the derivatives (m, d, p) of f at points (m, p)."""
        raise TypeError(f"{type(self).__name__} must define jacobian")

    def compose(self, theta: FloatArray, A: FloatArray, b: FloatArray) -> FloatArray:
        """Return the parameters of x -> f(x) A + b, with A (d, d) and b (d,)."""
        raise TypeError(f"{type(self).__name__} must define compose")


class FeatureMapping(Mapping):
    r"""A mapping that is linear in its parameters: :math:`f(x) = (\phi(x) - \bar\phi)' V S^{-1} \Gamma + b`.

    With the thin singular value decomposition :math:`U S V'` of the centered features, whose small values are left out,
    the image of X is :math:`U \Gamma + b`: parameters of one size, whatever the units and the correlation of features.
    A subclass defines ``features`` (m, q) and ``feature_jacobian`` (m, q, p), and may lower ``rank``.
    """

    rank: ClassVar[float] = RELATIVE_RANK
    basis: FloatArray

    def features(self, points: FloatArray) -> FloatArray:
        """Return the features (m, q) of points (m, p)."""
        raise TypeError(f"{type(self).__name__} must define features")

    def feature_jacobian(self, points: FloatArray) -> FloatArray:
        """Return the derivatives (m, q, p) of the features."""
        raise TypeError(f"{type(self).__name__} must define feature_jacobian")

    def _prepare(self) -> None:
        """Compute the orthonormal basis of the centered features; called at the end of ``__init__``."""
        from scipy.linalg import svd

        phi = self.features(self.X)
        self._mean = phi.mean(axis=0)
        U, values, axes = svd(phi - self._mean, full_matrices=False)
        above_rank = values > max(self.rank, len(phi) * np.finfo(float).eps) * values[0]
        root = np.sqrt(len(phi))
        self.basis = root * U[:, above_rank]
        self._weights = axes[above_rank].T / values[above_rank] * root

    def _split(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        blocks = theta.reshape(-1, self.d)
        return blocks[:-1], blocks[-1]

    def start(self, Y: FloatArray) -> FloatArray:
        """Return the least squares parameters."""
        return np.vstack([self.basis.T @ Y / len(Y), Y.mean(axis=0)]).ravel()

    def forward(self, theta: FloatArray) -> tuple[FloatArray, Pullback]:
        """Return U Gamma + b, and the function that applies its transpose."""
        gamma, b = self._split(theta)
        return self.basis @ gamma + b, lambda G: np.vstack([self.basis.T @ G, G.sum(axis=0)]).ravel()

    def coefficients(self, theta: FloatArray) -> FloatArray:
        """Return the coefficients (q, d) of the features."""
        return self._weights @ self._split(theta)[0]

    def at(self, theta: FloatArray, points: FloatArray) -> FloatArray:
        """Return the image of other points."""
        return (self.features(points) - self._mean) @ self.coefficients(theta) + self._split(theta)[1]

    def jacobian(self, theta: FloatArray, points: FloatArray) -> FloatArray:
        """Return the derivatives (m, d, p)."""
        return np.einsum("mqp,qd->mdp", self.feature_jacobian(points), self.coefficients(theta))

    def compose(self, theta: FloatArray, A: FloatArray, b: FloatArray) -> FloatArray:
        """Return the parameters with Gamma A and the offset b' A + b."""
        gamma, offset = self._split(theta)
        return np.vstack([gamma @ A, offset @ A + b]).ravel()


@mapping(
    name="free_points",
    title="Free points",
    formula="y_i = theta_i",
    explicit=False,
    reference="@hammer2010, Section 2.",
)
class FreePoints(Mapping):
    """Each point has its own place: n d parameters, and no function of other points."""

    def start(self, Y: FloatArray) -> FloatArray:
        """Return the embedding itself, flattened."""
        return np.array(Y, np.float64).ravel()

    def forward(self, theta: FloatArray) -> tuple[FloatArray, Pullback]:
        """Return the parameters as an embedding; gradients do not change."""
        return theta.reshape(-1, self.d), lambda G: G.ravel()

    def compose(self, theta: FloatArray, A: FloatArray, b: FloatArray) -> FloatArray:
        """Return the parameters with the map applied to each place."""
        return (theta.reshape(-1, self.d) @ A + b).ravel()


@mapping(
    name="linear",
    title="Linear map",
    formula="f(x) = A x + b",
    explicit=True,
    reference="@hammer2010, Section 3, f_W(x) = A x.",
)
class Linear(FeatureMapping):
    """d p parameters. The columns of the data are the features."""

    def __init__(self, X: FloatArray, d: int, rng: np.random.Generator) -> None:
        super().__init__(X, d, rng)
        self._prepare()

    def features(self, points: FloatArray) -> FloatArray:
        """Return the points, which are their own features."""
        return points

    def feature_jacobian(self, points: FloatArray) -> FloatArray:
        """Return the identity for each point."""
        p = points.shape[1]
        return np.broadcast_to(np.eye(p), (len(points), p, p))


@mapping(
    name="kernel_expansion",
    title="Kernel expansion",
    formula="f(x) = sum_l a_l exp(-|x - c_l|^2 / (2 sigma^2)) + b",
    explicit=True,
    reference="@gisbrecht2015.",
)
class KernelExpansion(FeatureMapping):
    """``n_centers`` rows drawn without replacement are the centers; sigma is half the median of their distances."""

    rank: ClassVar[float] = 1e-6  # directions that nearly vanish on the data would be free to explode elsewhere

    def __init__(
        self,
        X: FloatArray,
        d: int,
        rng: np.random.Generator,
        *,
        n_centers: int = 100,
        bandwidth: float | None = None,
    ) -> None:
        super().__init__(X, d, rng)
        count = min(check_int(n_centers, "n_centers", low=2), len(X))
        self.centers = X[np.sort(rng.choice(len(X), count, replace=False))]
        squared = pairwise_squared(self.centers)[np.triu_indices(len(self.centers), 1)]
        median = 0.5 * median_rule(squared, "X")[0] if bandwidth is None and squared.any() else 1.0
        self.bandwidth = median if bandwidth is None else check_width(bandwidth, "bandwidth")
        self._prepare()

    def features(self, points: FloatArray) -> FloatArray:
        """Return kernel values (m, number of centers)."""
        return radial_values(pairwise_squared(points, self.centers), "gaussian", self.bandwidth)

    def feature_jacobian(self, points: FloatArray) -> FloatArray:
        """Return each kernel value times (c_l - x) / sigma^2."""
        steps = self.centers[None] - points[:, None]
        return self.features(points)[:, :, None] * steps / self.bandwidth**2


LLOYD_ROUNDS = 100


@mapping(
    name="locally_linear",
    title="Locally linear map",
    formula="f(x) = sum_k r_k(x) (A_k V_k' (x - c_k) + b_k), r_k(x) proportional to exp(-|x - c_k|^2 / (2 s^2))",
    explicit=True,
    reference="@teh2003, Eq. 2.",
)
class LocallyLinear(FeatureMapping):
    """Affine maps of the local principal coordinates of ``n_charts`` pieces.

    The centers c_k are those of k-means, s^2 is the mean squared distance of the points to the nearest center, and V_k
    (p, q) are the ``local_components`` leading principal axes about c_k with the responsibilities r_k as weights. The
    features are r_k and r_k V_k'(x - c_k).
    """

    def __init__(
        self,
        X: FloatArray,
        d: int,
        rng: np.random.Generator,
        *,
        n_charts: int = 10,
        local_components: int | None = None,
    ) -> None:
        from scipy.cluster.vq import kmeans2

        super().__init__(X, d, rng)
        count = min(check_int(n_charts, "n_charts", low=1), max(1, len(X) // 2), len(np.unique(X, axis=0)))
        n_axes = d if local_components is None else check_int(local_components, "local_components", low=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # an empty cluster keeps its center and has a share
            self.centers, labels = kmeans2(X, count, iter=LLOYD_ROUNDS, minit="++", missing="warn", seed=rng)
        self.variance = float(np.mean(np.sum((X - self.centers[labels]) ** 2, axis=1))) or 1.0
        shares = self.responsibilities(X)
        axes = []
        for k in range(count):
            steps = (X - self.centers[k]) * np.sqrt(shares[:, k])[:, None]
            axes.append(np.linalg.eigh(steps.T @ steps)[1][:, ::-1][:, : min(n_axes, X.shape[1])])
        self.axes = np.stack(axes)
        self._prepare()

    def responsibilities(self, points: FloatArray) -> FloatArray:
        """Return the shares r_k(x) (m, number of pieces), which sum to 1."""
        from scipy.special import softmax

        return np.asarray(softmax(-0.5 * pairwise_squared(points, self.centers) / self.variance, axis=1))

    def _local(self, points: FloatArray) -> FloatArray:
        """Return coordinates (m, k, 1 + q) of points in each piece, after a 1."""
        steps = points[:, None] - self.centers
        return np.concatenate([np.ones((*steps.shape[:2], 1)), np.einsum("mkp,kpq->mkq", steps, self.axes)], axis=2)

    def features(self, points: FloatArray) -> FloatArray:
        """Return shares, and shares times local coordinates (m, k (1 + q))."""
        return (self.responsibilities(points)[:, :, None] * self._local(points)).reshape(len(points), -1)

    def feature_jacobian(self, points: FloatArray) -> FloatArray:
        """Apply the product rule; the derivative of r_k is r_k (c_k - sum_l r_l c_l) / s^2."""
        shares, local = self.responsibilities(points), self._local(points)
        pulls = shares[:, :, None] * (self.centers - (shares @ self.centers)[:, None]) / self.variance
        slopes = local[:, :, :, None] * pulls[:, :, None, :]
        slopes[:, :, 1:] += shares[:, :, None, None] * self.axes.transpose(0, 2, 1)
        return slopes.reshape(len(points), -1, points.shape[1])


@mapping(
    name="multilayer_perceptron",
    title="Multilayer perceptron",
    formula="f(x) = W_L tanh(... tanh(W_1 x + b_1) ...) + b_L",
    explicit=True,
    reference="@vandermaaten2009.",
)
class MultilayerPerceptron(Mapping):
    """Layers of ``hidden`` widths that end in tanh, then an affine one.

    Inputs are centered and divided by one number, so that their root mean square is 1. The start has random weights;
    the last layer is the least squares fit to the embedding to start from.
    """

    def __init__(
        self, X: FloatArray, d: int, rng: np.random.Generator, *, hidden: int | Sequence[int] = (50, 50)
    ) -> None:
        super().__init__(X, d, rng)
        sizes: Any = hidden.tolist() if isinstance(hidden, np.ndarray) else hidden
        widths = sizes if isinstance(sizes, Sequence) and not isinstance(sizes, str) else [sizes]
        self.widths = (X.shape[1], *(check_int(width, "hidden", low=1) for width in widths), d)
        self._mean = X.mean(axis=0)
        self._size = float(np.sqrt(np.mean((X - self._mean) ** 2))) or 1.0
        self._inputs, self._initial = self._normal(X), initial(self.widths, rng)

    def _normal(self, points: FloatArray) -> FloatArray:
        return (points - self._mean) / self._size

    def start(self, Y: FloatArray) -> FloatArray:
        """Return random weights, with the last layer fitted by least squares."""
        theta = self._initial.copy()
        outputs = forward(theta, self._inputs, self.widths)[-2]
        weights, offsets = unpack(theta, self.widths)[-1]
        center = outputs.mean(axis=0)
        weights[:] = np.linalg.lstsq(outputs - center, Y - Y.mean(axis=0), rcond=1e-6)[0]
        offsets[:] = Y.mean(axis=0) - center @ weights
        return theta

    def forward(self, theta: FloatArray) -> tuple[FloatArray, Pullback]:
        """Return the outputs, and the function that back-propagates gradients."""
        values = forward(theta, self._inputs, self.widths)
        return values[-1], lambda G: backward(theta, values, G, self.widths)[0]

    def at(self, theta: FloatArray, points: FloatArray) -> FloatArray:
        """Return the outputs at other points."""
        return forward(theta, self._normal(points), self.widths)[-1]

    def jacobian(self, theta: FloatArray, points: FloatArray) -> FloatArray:
        """Return the derivatives (m, d, p)."""
        values = forward(theta, self._normal(points), self.widths)
        return input_jacobian(theta, values, self.widths) / self._size

    def compose(self, theta: FloatArray, A: FloatArray, b: FloatArray) -> FloatArray:
        """Return the parameters with the affine map applied after the last layer."""
        theta = theta.copy()
        weights, offsets = unpack(theta, self.widths)[-1]
        weights[:], offsets[:] = weights @ A, offsets @ A + b
        return theta
