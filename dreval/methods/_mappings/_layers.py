"""Layers of a multilayer perceptron: values, the backward pass, and derivatives by the inputs.

A network is given by its widths ``(p, h_1, ..., d)`` and one vector ``theta`` that holds, layer by layer, the weights
(width_in, width_out) and then the offsets (width_out,). Hidden layers end in tanh, the last layer is affine. Everything
here is a pure function of arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

__all__ = ["backward", "forward", "initial", "input_jacobian", "n_parameters", "unpack"]

FloatArray = npt.NDArray[np.float64]


def n_parameters(widths: Sequence[int]) -> int:
    """Number of weights and offsets.

    Examples
    --------
    >>> n_parameters((3, 5, 2))
    32
    """
    return sum((a + 1) * b for a, b in pairwise(widths))


def initial(widths: Sequence[int], rng: np.random.Generator) -> FloatArray:
    """Random weights of variance 2 / (width_in + width_out) (Glorot and Bengio, 2010, Eq. 16), and offsets 0."""
    parts = []
    for a, b in pairwise(widths):
        parts += [rng.normal(0.0, np.sqrt(2.0 / (a + b)), size=a * b), np.zeros(b)]
    return np.concatenate(parts)


def unpack(theta: FloatArray, widths: Sequence[int]) -> list[tuple[FloatArray, FloatArray]]:
    """Views of the weights (a, b) and offsets (b,) of each layer."""
    layers, at = [], 0
    for a, b in pairwise(widths):
        layers.append((theta[at : at + a * b].reshape(a, b), theta[at + a * b : at + (a + 1) * b]))
        at += (a + 1) * b
    return layers


def forward(theta: FloatArray, X: FloatArray, widths: Sequence[int]) -> list[FloatArray]:
    """Inputs (n, p), what each hidden layer gives, and the outputs (n, d), which come last."""
    layers = unpack(theta, widths)
    values = [X]
    for weights, offsets in layers[:-1]:
        values.append(np.tanh(values[-1] @ weights + offsets))
    weights, offsets = layers[-1]
    return [*values, values[-1] @ weights + offsets]


def backward(
    theta: FloatArray, values: Sequence[FloatArray], G: FloatArray, widths: Sequence[int]
) -> tuple[FloatArray, FloatArray]:
    """Vector-Jacobian products of the network at what ``forward`` gave.

    ``G`` (n, d) is the gradient of a number in the outputs; its gradients in ``theta`` and in the inputs (n, p) come
    back. O(n x number of weights) time, twice that of ``forward``.
    """
    layers, out = unpack(theta, widths), np.empty_like(theta)
    slopes = unpack(out, widths)
    for at in range(len(layers) - 1, -1, -1):
        slopes[at][0][:] = values[at].T @ G
        slopes[at][1][:] = G.sum(axis=0)
        G = G @ layers[at][0].T
        if at > 0:
            G *= 1.0 - values[at] ** 2
    return out, G


def input_jacobian(theta: FloatArray, values: Sequence[FloatArray], widths: Sequence[int]) -> FloatArray:
    """Derivatives (n, d, p) of the outputs by the inputs."""
    layers = unpack(theta, widths)
    J = np.broadcast_to(layers[-1][0].T, (len(values[0]), *layers[-1][0].T.shape))
    for at in range(len(layers) - 2, -1, -1):
        J = (J * (1.0 - values[at + 1] ** 2)[:, None, :]) @ layers[at][0].T
    return np.ascontiguousarray(J)
