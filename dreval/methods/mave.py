"""Minimum average variance estimation."""

from __future__ import annotations

from dataclasses import KW_ONLY

import numpy as np

from dreval._check import check_int
from dreval._parallel import few_blas_threads
from dreval.geometry.distances import pairwise_squared
from dreval.geometry.kernels import radial_values
from dreval.methods._method import FloatArray, method
from dreval.methods._supervised import LinearScores, whiten

RIDGE = 1e-6  # of local fits, on data of variance 1
BANDWIDTH_FACTOR = 2.34  # the bandwidth is this times n^(-1 / (m + 6)) in m directions of variance 1


@method(
    title="Minimum average variance estimation",
    family="sufficient dimension reduction",
    deterministic=True,
    out_of_sample=True,
    inverse=False,
    supervised=True,
    cost="O(n^2 p^2) time a round, O(n^2 + n p^2) memory",
    max_components=lambda n, p, _: min(n - 1, p),
    reference="@xia2002, Section 3.",
)
class MAVE(LinearScores):
    r"""Minimum average variance estimation: directions for which local linear fits of the response err least.

    On whitened data z the orthonormal B (r x d) minimizes, over B and all local fits :math:`(a_j, b_j)`,

    .. math:: \sum_j \sum_i w_{ij} (y_i - a_j - b_j' B'(z_i - z_j))^2

    with Gaussian weights :math:`w_{ij}` of the distances in the current directions, which sum to 1 over i. It starts
    from the outer products of the gradients of local fits in all directions, and solves for the fits and for B in turn.
    It needs no condition on the distribution of X, and also detects symmetric dependence.

    Parameters
    ----------
    n_components : int
        Number d of directions, at most min(n - 1, p).
    max_iter : int
        Largest number of rounds, at least 1.
    %(unused_seed)s

    Attributes
    ----------
    %(response_scores)s
    directions_ : ndarray (p, d)
        The scores are (X - mean_) directions_.
    mean_ : ndarray (p,)
        Column means.
    n_iter_ : int
        Number of rounds.

    Raises
    ------
    %(response_raises)s

    Warns
    -----
    %(response_warns)s

    See Also
    --------
    dreval.methods.SIR : directions from first moments of slices; faster.
    dreval.methods.SAVE : directions from second moments of slices.

    Notes
    -----
    %(cost)s

    Squares are summed over the columns of the response, classes count as indicator columns. The bandwidth is
    :math:`2.34\, n^{-1/(m + 6)}` with m the number of directions in use, d at least. Directions are ordered by the size
    of the fitted slopes along them. Unchanged by invertible affine maps of X up to rounding.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval, numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> mave = dreval.methods.MAVE(n_components=1).fit(X, X[:, 2] ** 2)
    >>> int(np.argmax(abs(mave.directions_[:, 0])))
    2
    """

    n_components: int = 2
    _: KW_ONLY
    max_iter: int = 20
    random_state: int | np.random.Generator | None = None

    varied = True

    def _fit(self, X: FloatArray) -> None:
        check_int(self.max_iter, "max_iter", low=1)
        white = whiten(X)
        Z, y = white.left * np.sqrt(len(X)), self._response.columns
        y = (y - y.mean(axis=0)) / max(float(y.std()), np.finfo(float).tiny)
        d = min(self.n_components, Z.shape[1])
        slopes = _local_slopes(Z, y, _weights(Z))
        B = _leading_directions(slopes.reshape(-1, Z.shape[1]), d)
        with few_blas_threads(len(Z)):
            for rounds in range(1, self.max_iter + 1):
                self.n_iter_, weights, before = rounds, _weights(Z @ B), B
                B = _leading_directions(
                    _local_slopes(Z @ B, y, weights).reshape(-1, d) @ _directions(Z, y, B, weights).T, d
                )
                if np.linalg.norm(B - before @ (before.T @ B)) < 1e-6:
                    break
            self._set_directions(white, B)


def _weights(V: FloatArray) -> FloatArray:
    """Return Gaussian weights (n, n) of the distances of rows, each row with sum 1."""
    n, m = V.shape
    kernel = radial_values(pairwise_squared(V), "gaussian", BANDWIDTH_FACTOR * n ** (-1 / (m + 6)))
    return kernel / kernel.sum(axis=1, keepdims=True)


def _moments(V: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return weighted means (n, m) and second moments (n, m, m) of the steps from each row to the others."""
    n, m = V.shape
    means = weights @ V - V
    squares = (weights @ (V[:, :, None] * V[:, None, :]).reshape(n, m * m)).reshape(n, m, m)
    cross = (means + V)[:, :, None] * V[:, None, :]
    return means, squares - cross - cross.transpose(0, 2, 1) + V[:, :, None] * V[:, None, :]


def _local_slopes(V: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
    """Return slopes (n, q, m) of the weighted linear fits of y about each row of V."""
    means, squares = _moments(V, weights)
    centered = squares - means[:, :, None] * means[:, None, :] + RIDGE * np.eye(V.shape[1])
    fitted = weights @ y
    cross = np.stack([weights @ (V * y[:, [c]]) - (means + V) * fitted[:, [c]] for c in range(y.shape[1])], axis=2)
    return np.linalg.solve(centered, cross).transpose(0, 2, 1)


def _directions(Z: FloatArray, y: FloatArray, B: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the B (r, d), not orthonormal, that minimizes the sum for the local fits in the current directions."""
    r, d = B.shape
    means, squares = _moments(Z, weights)
    slopes = _local_slopes(Z @ B, y, weights)
    centered = squares - means[:, :, None] * means[:, None, :] + RIDGE * np.eye(r)
    normal, right = np.zeros((r * d, r * d)), np.zeros((r, d))
    fitted = weights @ y
    for c in range(y.shape[1]):
        b = slopes[:, c]
        outer = np.einsum("jab,jc,je->acbe", centered, b, b, optimize=True)
        normal += outer.reshape(r * d, r * d)
        right += (weights @ (Z * y[:, [c]]) - (means + Z) * fitted[:, [c]]).T @ b
    normal += RIDGE * (np.trace(normal) / len(normal) + np.finfo(float).tiny) * np.eye(r * d)
    return np.linalg.solve(normal, right.ravel()).reshape(r, d)


def _leading_directions(slopes: FloatArray, d: int) -> FloatArray:
    """Return the d orthonormal directions (r, d) in which the slopes (m, r) are largest."""
    return np.linalg.eigh(slopes.T @ slopes)[1][:, ::-1][:, :d]
