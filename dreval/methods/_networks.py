"""Multilayer perceptrons: values, the backward pass, derivatives, and the training of autoencoders by Adam.

A network is defined by its widths ``(p, h_1, ..., d)`` and one vector ``theta`` that holds, layer by layer, the weights
(width_in, width_out) and then the offsets (width_out,). Hidden layers end in tanh, the last layer is affine.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from dreval._check import check_float, check_int
from dreval._parallel import few_blas_threads
from dreval._random import root_seed, stream
from dreval.errors import InputError, MethodFailed
from dreval.methods._latent import Scaled
from dreval.methods._method import FloatArray, Method


def n_parameters(widths: Sequence[int]) -> int:
    """Return the number of weights and offsets.

    Examples
    --------
    >>> n_parameters((3, 5, 2))
    32
    """
    return sum((a + 1) * b for a, b in pairwise(widths))


def initial(widths: Sequence[int], rng: np.random.Generator) -> FloatArray:
    """Draw weights of variance 2 / (width_in + width_out) (Glorot and Bengio, 2010, Eq. 16), and set offsets to 0."""
    parts = []
    for a, b in pairwise(widths):
        parts += [rng.normal(0.0, np.sqrt(2.0 / (a + b)), size=a * b), np.zeros(b)]
    return np.concatenate(parts)


def unpack(theta: FloatArray, widths: Sequence[int]) -> list[tuple[FloatArray, FloatArray]]:
    """Return views of the weights (a, b) and offsets (b,) of each layer."""
    layers, start = [], 0
    for a, b in pairwise(widths):
        layers.append((theta[start : start + a * b].reshape(a, b), theta[start + a * b : start + (a + 1) * b]))
        start += (a + 1) * b
    return layers


def forward(theta: FloatArray, X: FloatArray, widths: Sequence[int]) -> list[FloatArray]:
    """Return the inputs (n, p), the outputs of each hidden layer, and last the outputs (n, d) of the network."""
    layers = unpack(theta, widths)
    values = [X]
    for weights, offsets in layers[:-1]:
        values.append(np.tanh(values[-1] @ weights + offsets))
    weights, offsets = layers[-1]
    return [*values, values[-1] @ weights + offsets]


def backward(
    theta: FloatArray, values: Sequence[FloatArray], G: FloatArray, widths: Sequence[int]
) -> tuple[FloatArray, FloatArray]:
    """Compute vector-Jacobian products of the network at the ``values`` of ``forward``.

    ``G`` (n, d) is the gradient of a number in the outputs; the function returns its gradients in ``theta`` and in the
    inputs (n, p). O(n x number of weights) time, twice that of ``forward``.
    """
    layers, out = unpack(theta, widths), np.empty_like(theta)
    slopes = unpack(out, widths)
    for layer in range(len(layers) - 1, -1, -1):
        slopes[layer][0][:] = values[layer].T @ G
        slopes[layer][1][:] = G.sum(axis=0)
        G = G @ layers[layer][0].T
        if layer > 0:
            G *= 1.0 - values[layer] ** 2
    return out, G


def input_jacobian(theta: FloatArray, values: Sequence[FloatArray], widths: Sequence[int]) -> FloatArray:
    """Compute the derivatives (n, d, p) of the outputs in the inputs."""
    layers = unpack(theta, widths)
    J = np.broadcast_to(layers[-1][0].T, (len(values[0]), *layers[-1][0].T.shape))
    for layer in range(len(layers) - 2, -1, -1):
        J = (J * (1.0 - values[layer + 1] ** 2)[:, None, :]) @ layers[layer][0].T
    return np.ascontiguousarray(J)


DECAYS = (0.9, 0.999)  # of the means of gradients and of their squares
ADAM_EPSILON = 1e-8  # added to the root of the mean square
DEFAULT_STEPS = 3000
EPOCH_RANGE = (100, 600)  # the default number of rounds, for about DEFAULT_STEPS steps, is in this range


def adam_step(theta: FloatArray, slope: FloatArray, means: FloatArray, count: int, rate: float) -> None:
    """Apply step ``count`` (from 1) of Adam down a slope, in place; ``means`` (2, size) are its running means."""
    for mean, decay, value in zip(means, DECAYS, (slope, slope**2), strict=True):
        mean *= decay
        mean += (1.0 - decay) * value
    mean_slope, mean_square = (mean / (1.0 - decay**count) for mean, decay in zip(means, DECAYS, strict=True))
    theta -= rate * mean_slope / (np.sqrt(mean_square) + ADAM_EPSILON)


class Encoder(Method):
    """A method with an encoder (p, hidden, codes) and a decoder (d, hidden reversed, p).

    A subclass has the parameters below and defines ``_loss(theta, rows, rng)``: the value and the gradient in
    ``theta``, the parameters of both networks and ``_extra`` further numbers. The encoder gives ``_codes`` numbers for
    each of the d components; the embedding is the first d of its outputs.
    """

    n_epochs_: int
    hidden: Sequence[int]
    n_epochs: int | None
    batch_size: int
    learning_rate: float
    _codes = 1
    _extra: tuple[float, ...] = ()

    def _loss(self, theta: FloatArray, rows: FloatArray, rng: np.random.Generator) -> tuple[float, FloatArray]:
        raise TypeError(f"{type(self).__name__} must define _loss")

    def _fit(self, X: FloatArray) -> None:
        if not isinstance(self.hidden, list | tuple):
            hint = "Pass widths such as (64, 32), or () for no hidden layer."
            raise InputError("hidden", "must be a list of integers", repr(self.hidden), hint)
        hidden = tuple(check_int(width, "hidden", low=1) for width in self.hidden)
        batches = -(-len(X) // check_int(self.batch_size, "batch_size", low=1))
        default = int(np.clip(DEFAULT_STEPS // batches, *EPOCH_RANGE))
        self.n_epochs_ = default if self.n_epochs is None else check_int(self.n_epochs, "n_epochs", low=1)
        if check_float(self.learning_rate, "learning_rate", low=0.0) == 0.0:
            raise InputError("learning_rate", "must be above 0", "0", "Choose a positive number, such as 0.01.")
        self._scaled = Scaled.of(X)
        p, d = X.shape[1], self.n_components
        self._widths = ((p, *hidden, self._codes * d), (d, *hidden[::-1], p))
        self._n_encoder = n_parameters(self._widths[0])
        with few_blas_threads(-(-len(X) // batches)):
            self._train(self._scaled.to(X), batches)
        self.embedding_ = self._encode(self._scaled.to(X))

    def _train(self, data: FloatArray, batches: int) -> None:
        """Train in rounds over the rows in random batches, with steps that shrink to 0 along half a cosine."""
        seed, name = root_seed(self.random_state), self.card.name
        weights = [initial(widths, stream(seed, name, "start", str(widths))) for widths in self._widths]
        theta = np.concatenate([*weights, self._extra])
        rng, means, count = stream(seed, name, "rounds"), np.zeros((2, len(theta))), 0
        self.loss_ = np.zeros(self.n_epochs_)
        for epoch in range(self.n_epochs_):
            rate = self.learning_rate * 0.5 * (1.0 + np.cos(np.pi * epoch / self.n_epochs_))
            for rows in np.array_split(rng.permutation(len(data)), batches):
                value, slope = self._loss(theta, data[rows], rng)
                count += 1
                adam_step(theta, slope, means, count, rate)
                self.loss_[epoch] += value * len(rows) / len(data)
        if not (np.isfinite(theta).all() and np.isfinite(self.loss_).all()):
            received = f"numbers that are not finite with learning_rate {self.learning_rate}"
            requirement = "must be small enough for the training to converge"
            raise MethodFailed("learning_rate", requirement, received, "Choose a smaller one.")
        self._theta = theta

    def _parts(self, theta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the parameters of the encoder, those of the decoder, and the further numbers."""
        end = len(theta) - len(self._extra)
        return theta[: self._n_encoder], theta[self._n_encoder : end], theta[end:]

    def _encode(self, rows: FloatArray) -> FloatArray:
        """Return the first d outputs of the encoder."""
        outputs = forward(self._parts(self._theta)[0], rows, self._widths[0])[-1]
        return np.ascontiguousarray(outputs[:, : self.n_components])

    def transform(self, X: Any) -> FloatArray:
        """Return the codes (m, d) of new rows (m, p); for the fitted rows they are the embedding itself."""
        points = self._new_points(X)
        return self._encode(self._scaled.to(points))

    def inverse_transform(self, Y: Any) -> FloatArray:
        """Return the outputs (m, p) of the decoder for places Y (m, d)."""
        places = self._scores(Y)
        decoded = forward(self._parts(self._theta)[1], places, self._widths[1])[-1]
        return self._scaled.back(decoded)
