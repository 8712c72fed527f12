"""Modified locally linear embedding, with several weight vectors for each neighborhood."""

from __future__ import annotations

from dataclasses import KW_ONLY

import numpy as np
from scipy.sparse import csr_matrix

from dreval.geometry.graphs import IntArray
from dreval.methods._local import Groups, LocalMethod, alignment_matrix, max_neighbors, neighborhood_chunks
from dreval.methods._method import FloatArray, method

RIDGE = 1e-3  # of the weights, relative to the trace, as in the paper and in scikit-learn


@method(
    title="Modified locally linear embedding",
    family="local linear",
    deterministic=True,
    out_of_sample=False,
    inverse=False,
    supervised=False,
    cost="O(n k^2 (p + k)) time and a sparse factorization of n rows with about n k^2 entries",
    max_components=lambda n, _p, parameters: max_neighbors(n, parameters, 2) - 1,
    reference="@zhang2006.",
)
class ModifiedLLE(LocalMethod):
    r"""Modified locally linear embedding: all weights that nearly reconstruct a point, not only one choice.

    Where k > p many weights combine the neighbors to their point. Let :math:`V_i` (k x s_i) span the directions in
    which the Gram matrix of the steps to the neighbors nearly vanishes, :math:`w_i` be the weights of ordinary LLE, and
    :math:`W_i = (1 - \alpha_i) w_i 1' + V_i H_i`, where the Householder matrix :math:`H_i` makes each of the s_i
    columns sum to 1. The embedding minimizes

    .. math:: \sum_i |y_i 1' - Y_i' W_i|^2 = \mathrm{tr}\, Y' M Y

    under :math:`Y'Y = I` and orthogonality to the constant. :math:`s_i \le k - d` is the largest number of directions
    whose share of the variance stays below the median, over points, of the variance beyond d relative to that within.

    Parameters
    ----------
    n_components : int
        Number d of coordinates, at most min(n - 2, k - 1); with a radius every point needs d + 1 neighbors.
    %(n_neighbors)s
    %(radius)s
    %(disconnected)s
    %(normalize)s
    %(unused_seed)s

    Attributes
    ----------
    %(null_space)s

    Raises
    ------
    %(graph_raises)s

    Warns
    -----
    %(graph_warns)s
        %(null_space_warns)s

    See Also
    --------
    dreval.methods.LLE : one weight vector for each neighborhood.
    dreval.methods.LTSA : tangent coordinates in place of weights.

    Notes
    -----
    %(cost)s

    With k = 7 both trustworthiness and local Procrustes R_C are better than with 5, the default of scikit-learn, in the
    mean over nine data sets (.870 and .525, with 5 .867 and .585), but not for each of them.

    The ridge of the weights lifts eigenvalues a little above 0 (2e-8 to 2e-5 on 12 flat samples of 200 points), so that
    a part of the data that shares too few points with the rest is not found by its eigenvalue; ``ltsa`` warns of it.

    Only :math:`P_i = V_i V_i'` is needed: :math:`W_i W_i' = P_i + (1 - \alpha_i)(w_i u_i' + u_i w_i')
    + (1 - \alpha_i)^2 s_i w_i w_i'` with :math:`u_i = P_i 1 / \alpha_i`, :math:`\alpha_i = |P_i 1| / \sqrt{s_i}`. At
    least one direction is kept in each neighborhood. scikit-learn does not bound :math:`s_i` by k - d: embeddings
    differ where a neighborhood is nearly of fewer than d dimensions.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> X = dreval.simulate("swiss_roll", n=600, random_state=0).data
    >>> dreval.methods.ModifiedLLE(n_components=2, n_neighbors=12).fit_transform(X).shape
    (600, 2)
    """

    n_components: int = 2
    _: KW_ONLY
    n_neighbors: int | None = 7
    radius: float | None = None
    disconnected: str = "connect"
    normalize: str = "unit"
    random_state: int | np.random.Generator | None = None

    def _min_neighbors(self) -> int:
        """Return d + 1, so that at least one direction is kept."""
        return self.n_components + 1

    def _matrix(self, X: FloatArray, groups: Groups) -> csr_matrix:
        d = self.n_components
        shares = [_variance_ratio(_spectrum(X, *block)[0], d) for block in neighborhood_chunks(X, groups)]
        threshold = float(np.median(np.concatenate(shares)))

        def local(centers: IntArray, members: IntArray) -> tuple[IntArray, FloatArray]:
            values, vectors = _spectrum(X, centers, members)
            count = _null_dimensions(values, d, threshold, X.shape[1])
            blocks = _blocks(_weights(values, vectors), vectors, count)
            return np.concatenate([centers[:, None], members], axis=1), blocks

        return alignment_matrix(X, groups, local)


def _spectrum(X: FloatArray, centers: IntArray, members: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return eigenvalues (m, k), descending, and vectors of the Gram matrices of the steps; negative ones are 0."""
    steps = X[members] - X[centers, None]
    values, vectors = np.linalg.eigh(steps @ steps.transpose(0, 2, 1))
    values = np.maximum(values[:, ::-1], 0.0)
    values[:, X.shape[1] :] = 0.0
    return values, vectors[:, :, ::-1]


def _variance_ratio(values: FloatArray, d: int) -> FloatArray:
    """Return the variance beyond d directions over the variance within them; 0 without variance within."""
    within = values[:, :d].sum(axis=1)
    return np.divide(values[:, d:].sum(axis=1), within, out=np.zeros(len(values)), where=within > 0)


def _null_dimensions(values: FloatArray, d: int, threshold: float, p: int) -> IntArray:
    """Return s_i, the largest s <= k - d with the last s eigenvalues below ``threshold`` times the others, or 1."""
    k = values.shape[1]
    before = np.cumsum(values, axis=1)[:, :-1]
    total = values.sum(axis=1, keepdims=True)
    share = np.divide(total, before, out=np.ones_like(before), where=before > 0) - 1  # of the last k - 1, ..., 1
    fits = share < threshold * (1 - 1e-9)  # the median itself is one of the shares, up to rounding
    fits[:, p - 1 :] = True  # there is no variance beyond p directions
    return np.clip(fits.sum(axis=1), 1, k - d)


def _weights(values: FloatArray, vectors: FloatArray) -> FloatArray:
    """Return the weights (m, k) of ordinary LLE, from the spectrum."""
    total = values.sum(axis=1, keepdims=True)
    ridge = np.where(total > 0, RIDGE * total, RIDGE)
    weights = np.einsum("mkj,mj->mk", vectors, vectors.sum(axis=1) / (values + ridge))
    return weights / weights.sum(axis=1, keepdims=True)


def _blocks(weights: FloatArray, vectors: FloatArray, count: IntArray) -> FloatArray:
    """Return matrices (m, k + 1, k + 1) of |y_i 1' - Y_i' W_i|^2, the point itself first."""
    m, k = weights.shape
    in_null_space = np.arange(k) >= k - count[:, None]
    null = vectors * in_null_space[:, None, :]
    P = null @ null.transpose(0, 2, 1)
    ones = P.sum(axis=2)
    alpha = np.linalg.norm(ones, axis=1) / np.sqrt(count)
    u = np.divide(ones, alpha[:, None], out=np.zeros_like(ones), where=alpha[:, None] > 1e-12)
    beta = (1 - alpha)[:, None]
    cross = (beta * weights)[:, :, None] * u[:, None, :]
    total = u + beta * count[:, None] * weights
    out = np.empty((m, k + 1, k + 1))
    out[:, 1:, 1:] = P + cross + cross.transpose(0, 2, 1)
    out[:, 1:, 1:] += (beta**2 * count[:, None] * weights)[:, :, None] * weights[:, None, :]
    out[:, 0, 1:] = out[:, 1:, 0] = -total
    out[:, 0, 0] = count
    return out
