"""Multilayer perceptrons."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dreval._check import check_int
from dreval.methods._mappings._layers import backward, forward, initial, input_jacobian, unpack
from dreval.methods._mappings._mapping import Mapping, Pullback, mapping
from dreval.methods._method import FloatArray


@mapping(
    title="Multilayer perceptron",
    formula="f(x) = W_L tanh(... tanh(W_1 x + b_1) ...) + b_L",
    explicit=True,
    reference="van der Maaten, L. J. P. (2009). Learning a parametric embedding by preserving local structure. "
    "AISTATS, 384-391.",
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
        widths = [hidden] if isinstance(hidden, int | np.integer) else list(hidden)
        self.widths = (X.shape[1], *(check_int(width, "hidden", low=1) for width in widths), d)
        self._mean = X.mean(axis=0)
        self._size = float(np.sqrt(np.mean((X - self._mean) ** 2))) or 1.0
        self._inputs, self._first = self._normal(X), initial(self.widths, rng)

    def _normal(self, points: FloatArray) -> FloatArray:
        return (points - self._mean) / self._size

    def start(self, Y: FloatArray) -> FloatArray:
        """Random weights, and the last layer by least squares."""
        theta = self._first.copy()
        last = forward(theta, self._inputs, self.widths)[-2]
        weights, offsets = unpack(theta, self.widths)[-1]
        center = last.mean(axis=0)
        weights[:] = np.linalg.lstsq(last - center, Y - Y.mean(axis=0), rcond=1e-6)[0]
        offsets[:] = Y.mean(axis=0) - center @ weights
        return theta

    def forward(self, theta: FloatArray) -> tuple[FloatArray, Pullback]:
        """Outputs, and back-propagation."""
        values = forward(theta, self._inputs, self.widths)
        return values[-1], lambda G: backward(theta, values, G, self.widths)[0]

    def at(self, theta: FloatArray, points: FloatArray) -> FloatArray:
        """Outputs at other points."""
        return forward(theta, self._normal(points), self.widths)[-1]

    def jacobian(self, theta: FloatArray, points: FloatArray) -> FloatArray:
        """Derivatives (m, d, p)."""
        values = forward(theta, self._normal(points), self.widths)
        return input_jacobian(theta, values, self.widths) / self._size

    def compose(self, theta: FloatArray, A: FloatArray, b: FloatArray) -> FloatArray:
        """The last layer followed by the affine map."""
        theta = theta.copy()
        weights, offsets = unpack(theta, self.widths)[-1]
        weights[:], offsets[:] = weights @ A, offsets @ A + b
        return theta
