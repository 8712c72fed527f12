"""Principal components of transformed data from one decomposition of the covariance: no run over the points.

A transformation adds one column's bump, X~ = B + k e_j', so that its covariance is that of B plus a matrix of rank 2,
S~ = B'B + (B'k) e_j' + e_j (B'k)' + (k'k) e_j e_j', and the product with the first embedding Y = XV is
Y'Y~ = V'(X'B + (X'k) e_j') V~. All of it is p x p, whatever the number of points is.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dreval.geometry.metrics import power_of_two
from dreval.geometry.rkhs import Transformations

__all__ = ["pca_disparities"]

FloatArray = npt.NDArray[np.float64]
BATCH_BYTES = 8_000_000


def pca_disparities(made: Transformations, pairs: npt.NDArray[np.int64], d: int) -> tuple[FloatArray, FloatArray]:
    """Disparity u and size tr S_Y~Y~ of the principal components of every transformed data set; O(p^3) time each."""
    from threadpoolctl import threadpool_limits

    X, base = (points - points.mean(axis=0) for points in (made.X, made.base))
    unit = power_of_two(X)  # no product of them overflows or vanishes
    X, base = X * unit, base * unit
    products = {int(i): _bump_products(made.bump(int(i)) * unit, X, base) for i in np.unique(pairs[:, 0])}
    cross, own = X.T @ base, base.T @ base
    values, axes = np.linalg.eigh(X.T @ X)
    V, size = axes[:, -d:], float(values[-d:].sum())
    step = max(1, BATCH_BYTES // (8 * own.size))
    with threadpool_limits(limits=1):  # threads on matrices this small wait for each other: 28 times the time, measured
        parts = [_batch(pairs[at : at + step], products, cross, own, V, size) for at in range(0, len(pairs), step)]
    with np.errstate(over="ignore", under="ignore"):  # a size is in squares of the data's unit, which may have none
        return np.concatenate([u for u, _ in parts]), np.concatenate([s for _, s in parts]) / unit / unit


def _bump_products(bump: FloatArray, X: FloatArray, base: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """X'k, B'k and k'k of one bump k, centered."""
    bump = bump - bump.mean()
    return X.T @ bump, base.T @ bump, float(bump @ bump)


def _batch(
    pairs: npt.NDArray[np.int64],
    products: dict[int, tuple[FloatArray, FloatArray, float]],
    cross: FloatArray,
    own: FloatArray,
    V: FloatArray,
    size: float,
) -> tuple[FloatArray, FloatArray]:
    """Disparities and sizes of some transformations at once."""
    m, every = len(pairs), np.arange(len(pairs))
    mixed, inner, squares = (np.array(part) for part in zip(*(products[int(i)] for i in pairs[:, 0]), strict=True))
    column = pairs[:, 1]
    covariance = np.repeat(own[None], m, axis=0)
    covariance[every, :, column] += inner
    covariance[every, column, :] += inner
    covariance[every, column, column] += squares
    values, axes = np.linalg.eigh(covariance)
    W, sizes = axes[:, :, -V.shape[1] :], np.maximum(values[:, -V.shape[1] :], 0.0).sum(axis=1)
    together = V.T @ cross @ W + (mixed @ V)[:, :, None] * W[every, column][:, None, :]
    nuclear = np.linalg.svd(together, compute_uv=False).sum(axis=1)
    return np.clip(1.0 - nuclear**2 / (size * sizes), 0.0, 1.0), sizes
