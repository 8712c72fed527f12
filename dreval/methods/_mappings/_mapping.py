"""The card of a mapping, and what all mappings have in common.

A mapping is a family of functions f(x; theta). Made on rows X (n, p) it knows its image of them for any ``theta``, and
pulls a gradient in the image back to one in ``theta``; costs know nothing of mappings, and mappings nothing of costs.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dreval.methods._method import FloatArray

__all__ = ["FeatureMapping", "Mapping", "MappingCard", "Pullback", "mapping", "options_of"]

Pullback = Callable[[FloatArray], FloatArray]
RANK = 1e-10  # singular values of features below this, relative to the largest, are 0


@dataclass(frozen=True)
class MappingCard:
    """What is known of a mapping; ``explicit`` says whether it is defined at new points."""

    name: str
    title: str
    formula: str
    explicit: bool
    reference: str


def mapping(**fields: Any) -> Callable[[type[Any]], type[Any]]:
    """Attach the card to a class; the name is the file's name."""

    def attach(cls: type[Any]) -> type[Any]:
        cls.card = MappingCard(name=cls.__module__.rsplit(".", 1)[-1], **fields)
        return cls

    return attach


def options_of(thing: Callable[..., Any]) -> list[str]:
    """The keyword parameters of a mapping or cost, which are its options."""
    parameters = inspect.signature(thing).parameters.values()
    return [p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY]


class Mapping:
    """Functions of the rows X (n, p) with d values; a subclass has keyword options and the methods below."""

    card: ClassVar[MappingCard]

    def __init__(self, X: FloatArray, d: int, rng: np.random.Generator) -> None:
        self.X, self.d = X, d

    def start(self, Y: FloatArray) -> FloatArray:
        """Parameters whose image comes near the embedding Y (n, d)."""
        raise TypeError(f"{type(self).__name__} must define start")

    def forward(self, theta: FloatArray) -> tuple[FloatArray, Pullback]:
        """The image (n, d) of X, and the function that takes gradients in it (n, d) to gradients in ``theta``."""
        raise TypeError(f"{type(self).__name__} must define forward")

    def at(self, theta: FloatArray, points: FloatArray) -> FloatArray:
        """The image (m, d) of other points (m, p)."""
        raise TypeError(f"{type(self).__name__} must define at")

    def jacobian(self, theta: FloatArray, points: FloatArray) -> FloatArray:
        """Derivatives (m, d, p) of f at points (m, p)."""
        raise TypeError(f"{type(self).__name__} must define jacobian")

    def compose(self, theta: FloatArray, A: FloatArray, b: FloatArray) -> FloatArray:
        """Parameters of x -> f(x) A + b, with A (d, d) and b (d,)."""
        raise TypeError(f"{type(self).__name__} must define compose")


class FeatureMapping(Mapping):
    r"""A mapping that is linear in its parameters: :math:`f(x) = (\phi(x) - \bar\phi)' V S^{-1} \Gamma + b`.

    With the thin singular value decomposition :math:`U S V'` of the centered features, whose small values are left out,
    the image of X is :math:`U \Gamma + b`: parameters of one size, whatever the units and the correlation of features.
    A subclass defines ``features`` (m, q) and ``feature_jacobian`` (m, q, p), and may lower ``rank``.
    """

    rank: ClassVar[float] = RANK
    basis: FloatArray

    def features(self, points: FloatArray) -> FloatArray:
        """The features (m, q) of points (m, p)."""
        raise TypeError(f"{type(self).__name__} must define features")

    def feature_jacobian(self, points: FloatArray) -> FloatArray:
        """Derivatives (m, q, p) of the features."""
        raise TypeError(f"{type(self).__name__} must define feature_jacobian")

    def _prepare(self) -> None:
        """The orthonormal basis of the centered features; to be called at the end of ``__init__``."""
        from scipy.linalg import svd

        phi = self.features(self.X)
        self._mean = phi.mean(axis=0)
        U, values, axes = svd(phi - self._mean, full_matrices=False)
        kept = values > max(self.rank, len(phi) * np.finfo(float).eps) * values[0]
        root = np.sqrt(len(phi))
        self.basis = root * U[:, kept]
        self._weights = axes[kept].T / values[kept] * root

    def _split(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        blocks = theta.reshape(-1, self.d)
        return blocks[:-1], blocks[-1]

    def start(self, Y: FloatArray) -> FloatArray:
        """Least squares."""
        return np.vstack([self.basis.T @ Y / len(Y), Y.mean(axis=0)]).ravel()

    def forward(self, theta: FloatArray) -> tuple[FloatArray, Pullback]:
        """U Gamma + b, and its transpose."""
        gamma, b = self._split(theta)
        return self.basis @ gamma + b, lambda G: np.vstack([self.basis.T @ G, G.sum(axis=0)]).ravel()

    def coefficients(self, theta: FloatArray) -> FloatArray:
        """Coefficients (q, d) of the features."""
        return self._weights @ self._split(theta)[0]

    def at(self, theta: FloatArray, points: FloatArray) -> FloatArray:
        """The image of other points."""
        return (self.features(points) - self._mean) @ self.coefficients(theta) + self._split(theta)[1]

    def jacobian(self, theta: FloatArray, points: FloatArray) -> FloatArray:
        """Derivatives (m, d, p)."""
        return np.einsum("mqp,qd->mdp", self.feature_jacobian(points), self.coefficients(theta))

    def compose(self, theta: FloatArray, A: FloatArray, b: FloatArray) -> FloatArray:
        """Gamma A, and the offset b' A + b."""
        gamma, own = self._split(theta)
        return np.vstack([gamma @ A, own @ A + b]).ravel()
