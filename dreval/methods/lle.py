"""Local linear methods: LLE, with several weights, Hessian LLE, and alignment of tangent spaces (LTSA)."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from dreval.geometry.graphs import IntArray
from dreval.methods._local import (
    BarycenterMethod,
    Groups,
    LocalMethod,
    TangentMethod,
    alignment_matrix,
    max_neighbors,
    neighborhood_chunks,
    tangents,
)
from dreval.methods._method import FloatArray, method


@method(
    title="Locally linear embedding",
    family="local linear",
    deterministic=True,
    out_of_sample=True,
    inverse=False,
    supervised=False,
    cost="O(n k^2 (p + k)) time and a sparse factorization of n rows with about n k^2 entries",
    max_components=lambda n, _p, _: n - 1,
    reference="@roweis2000.",
)
class LLE(BarycenterMethod):
    r"""Locally linear embedding: each point keeps the weights that reconstruct it from its neighbors.

    Weights with :math:`\sum_j w_{ij} = 1` over the k neighbors of each point minimize
    :math:`|x_i - \sum_j w_{ij} x_j|^2 + r_i |w_i|^2`, where :math:`r_i` is ``reg`` times the sum of squared distances
    to the neighbors. The embedding minimizes

    .. math:: \sum_i |y_i - \sum_j w_{ij} y_j|^2 = \mathrm{tr}\, Y' (I - W)' (I - W) Y

    under :math:`Y'Y = I` and orthogonality to the constant.

    Parameters
    ----------
    n_components : int
        Number d of coordinates, at most n - 1.
    reg : float
        Ridge of the weights, above 0, relative to the trace of the local Gram matrix; without it the weights are not
        unique where k > p.
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
    dreval.methods.ModifiedLLE : several weight vectors for each neighborhood.
    dreval.methods.LTSA : tangent coordinates in place of weights.
    dreval.methods.HessianLLE : second derivatives in place of weights.

    Notes
    -----
    %(cost)s

    The scale of the embedding is arbitrary, and embeddings change with ``reg``. With k = 7 neighborhoods keep their
    shape better than with 5, the default of scikit-learn (means over nine data sets: local Procrustes R_C .561 and
    .658, trustworthiness .849 and .841); with 10 they are .511 and .865. For some data sets fewer neighbors are better.
    Several eigenvalues near 0 can belong to one coordinate (its powers), so that directions are lost; ``modified_lle``
    and ``ltsa`` avoid this. The ridge keeps all but a few eigenvalues above 0: those of groups of points whose
    neighbors are all of the group, such as copies. New points are combined from the fitted points near them (Saul and
    Roweis, 2003, Section 6.1).

    References
    ----------
    %(reference)s
    Saul, L. K., Roweis, S. T. (2003). Think globally, fit locally: unsupervised learning of low dimensional manifolds.
    *Journal of Machine Learning Research* 4, 119-155.

    Examples
    --------
    >>> import dreval
    >>> X = dreval.simulate("swiss_roll", n=600, random_state=0).data
    >>> dreval.methods.LLE(n_components=2, n_neighbors=10).fit_transform(X).shape
    (600, 2)
    """

    n_components: int = 2
    _: KW_ONLY
    n_neighbors: int | None = 7
    radius: float | None = None
    reg: float = 1e-3
    disconnected: str = "connect"
    normalize: str = "unit"
    random_state: int | np.random.Generator | None = None


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


def _max_components(n: int, p: int, parameters: dict[str, Any]) -> int:
    """Return the largest d whose quadratic forms fit on k points: (d + 1) (d + 2) / 2 <= k."""
    return min(n - 1, p, int(np.sqrt(2 * max_neighbors(n, parameters, 3) + 0.25) - 1.5))


@method(
    title="Hessian eigenmaps (Hessian LLE)",
    family="local linear",
    deterministic=True,
    out_of_sample=False,
    inverse=False,
    supervised=False,
    cost="O(n k (p min(k, p) + d^4)) time and a sparse factorization of n rows with about n k^2 entries",
    max_components=_max_components,
    reference="@donoho2003.",
)
class HessianLLE(TangentMethod):
    r"""Hessian eigenmaps: functions on the data whose second derivatives vanish as nearly as possible.

    On each neighborhood the functions 1, the d tangent coordinates and their d (d + 1) / 2 products are made
    orthonormal in this order. The last ones, :math:`W_i` (k x d (d + 1) / 2), give the Hessian of a function from its
    values at the neighbors, and the embedding minimizes

    .. math:: \sum_i |W_i' Y_i|^2 = \mathrm{tr}\, Y' M Y

    under :math:`Y'Y = I` and orthogonality to the constant. On a surface that can be flattened without stretching, even
    one with holes, the null space of M consists of the constant and its isometric coordinates, as long as neighborhoods
    are small, overlap enough, and differ: each sets only d (d + 1) / 2 conditions.

    Parameters
    ----------
    n_components : int
        Number d of coordinates: at most min(n - 1, p), and (d + 1) (d + 2) / 2 <= min(k, n - 1); with a radius every
        point needs as many neighbors.
    %(n_neighbors)s
    %(radius)s
    %(include_self)s
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
    dreval.methods.LTSA : tangent coordinates in place of second derivatives.
    dreval.methods.LLE : reconstruction weights in place of second derivatives.

    Notes
    -----
    %(cost)s

    The point itself belongs to its neighborhood by default, which helps where neighborhoods are small and flat, and
    harms where they reach across to another part of the surface. R^2 of the latent variables (0 to 1) on 40 swiss rolls
    of 500 points without noise:

    =====  ==============  ============  ==============  ===============
      k     include_self    median R^2    R^2 below .6    higher of two
    =====  ==============  ============  ==============  ===============
      7     True            .998           2             25
      7     False           .978          11              5
     12     True            .746          10             12
     12     False           .778           6             27
     15     True            .480          36              4
     15     False           .607          19             36
    =====  ==============  ============  ==============  ===============

    On eight surfaces (rolls of 500 and 1000 points, a noisy roll, one with a hole, an S curve, half a cylinder, a flat
    strip with noise, a saddle; 8 samples each, scikit-learn 3) the means of R^2 are, with the point, without it, and by
    scikit-learn: k = 7 .877, .758 and .820, and for each surface the first is above the second; k = 12 .959, .967 and
    .965. So the point is part of its neighborhood by default, for the default k.

    Rolls of 300 points are too sparse: on 40 of them the median R^2 is .776 for k = 7 and .302 for k = 12, with the
    point, and R^2 is below .6 on 5 and 39.

    With k = 12 and more the graph of so few points has short cuts between the turns, and no choice helps. With False,
    rolls on which one point is not a neighbor of any other lose a coordinate to it.

    Two coordinates need at least 6 neighbors. Trustworthiness and local Procrustes R_C (lower is better), means over
    nine data sets (a swiss roll, digits, iris, wdbc, S1 to S4, a mammoth), are .874 and .562 with k = 6, .870 and .550
    with 7, .872 and .546 with 10, .834 and .653 with 15; 7 is the largest that unrolls most rolls. Graphs in parts are
    connected by default: R_C of iris and S1, in two and three parts, is .562 and .801 (with links by a spanning tree
    only .562 and .842), with "largest" .683 and .887. With "separate" it is .497 and .779, but the positions of
    the parts have no meaning.

    The null space is larger, and the embedding an arbitrary part of it, where many neighborhoods hold the same points,
    which then set their conditions once: with n <= k + 1 all do (8 points and k = 7), and at the ends of a curve some
    do. With d = 1, where a neighborhood sets a single condition, it was larger for each of 6 swiss rolls, 6 samples
    of s4 and 12 flat ones, with k = 7 and with 12. A warning reports it; ``ltsa`` sets k - d conditions in its place.

    The coordinates are orthonormal; the paper's last step, a linear map that makes one neighborhood orthonormal, is
    omitted. Up to version 1.9 scikit-learn keeps not the d (d + 1) / 2 columns of the paper but all k - d - 1 that are
    orthogonal to the tangent coordinates, which is local tangent space alignment; the two agree where k = (d + 1) (d +
    2) / 2.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> X = dreval.simulate("swiss_roll", n=600, random_state=0).data
    >>> dreval.methods.HessianLLE(n_components=2, n_neighbors=12).fit_transform(X).shape
    (600, 2)
    """

    n_components: int = 2
    _: KW_ONLY
    n_neighbors: int | None = 7
    radius: float | None = None
    include_self: bool = True
    disconnected: str = "connect"
    normalize: str = "unit"
    random_state: int | np.random.Generator | None = None

    _hint = "Use another number of neighbors, or LTSA, whose neighborhoods set more conditions."

    def _min_neighbors(self) -> int:
        """Return the number of quadratic functions of d coordinates."""
        return (self.n_components + 1) * (self.n_components + 2) // 2

    def _matrix(self, X: FloatArray, groups: Groups) -> csr_matrix:
        d = self.n_components
        rows, columns = np.triu_indices(d)

        def local(centers: IntArray, members: IntArray) -> tuple[IntArray, FloatArray]:
            points = self._patch(centers, members)
            linear = tangents(X, points, d)
            products = linear[:, :, 1 + rows] * linear[:, :, 1 + columns] * points.shape[1]
            hessian = np.linalg.qr(np.concatenate([linear, products], axis=2))[0][:, :, d + 1 :]
            return points, hessian @ hessian.transpose(0, 2, 1)

        return alignment_matrix(X, groups, local)


@method(
    title="Local tangent space alignment",
    family="local linear",
    deterministic=True,
    out_of_sample=False,
    inverse=False,
    supervised=False,
    cost="O(n k p min(k, p)) time and a sparse factorization of n rows with about n k^2 entries",
    max_components=lambda n, p, parameters: min(p, max_neighbors(n, parameters, 2) - 1),
    reference="@zhang2004, Section 5.",
)
class LTSA(TangentMethod):
    r"""Local tangent space alignment: coordinates that are affine in the tangent coordinates of each neighborhood.

    The tangent coordinates of a neighborhood are its d leading principal scores. With :math:`Q_i` an orthonormal basis
    of the constant and these scores on the k neighbors of point i, the embedding minimizes

    .. math:: \sum_i |(I - Q_i Q_i') Y_i|^2 = \mathrm{tr}\, Y' M Y

    under :math:`Y'Y = I` and orthogonality to the constant, :math:`Y_i` the rows of Y at the neighbors of i.

    Parameters
    ----------
    n_components : int
        Number d of coordinates, at most min(n - 2, p, k - 1); with a radius every point needs d + 1 neighbors.
    %(n_neighbors)s
    %(radius)s
    %(include_self)s
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
    dreval.methods.HessianLLE : second derivatives in place of tangent coordinates.
    dreval.methods.ModifiedLLE : weight vectors in place of tangent coordinates.

    Notes
    -----
    %(cost)s

    On sparse samples of strongly curved data fewer neighbors are better: for 500 points of a Swiss roll trustworthiness
    is 0.98 with k = 5, the default of scikit-learn, and 0.94 with 7, whose neighborhoods bend. Leaving out the point
    itself, as scikit-learn does, is neither better nor worse in the mean (k = 7: 0.868, with it 0.872).

    Where a part of the data shares fewer than d + 1 points in general position with the rest, it can turn about them
    as about a hinge, at no cost: of 12 samples of 200 points of a flat square one has such a part with k = 7, none with
    10. A warning reports it.

    Where the data are flat, any affine embedding of them is a minimum: the scale of the embedding is arbitrary. As in
    the paper, the point itself belongs to its neighborhood.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> X = dreval.simulate("swiss_roll", n=600, random_state=0).data
    >>> dreval.methods.LTSA(n_components=2, n_neighbors=10).fit_transform(X).shape
    (600, 2)
    """

    n_components: int = 2
    _: KW_ONLY
    n_neighbors: int | None = 7
    radius: float | None = None
    include_self: bool = True
    disconnected: str = "connect"
    normalize: str = "unit"
    random_state: int | np.random.Generator | None = None

    def _min_neighbors(self) -> int:
        """Return d + 1: an affine function of d coordinates fits d points at any places."""
        return self.n_components + 1

    def _matrix(self, X: FloatArray, groups: Groups) -> csr_matrix:
        def local(centers: IntArray, members: IntArray) -> tuple[IntArray, FloatArray]:
            points = self._patch(centers, members)
            basis = tangents(X, points, self.n_components)
            return points, np.eye(points.shape[1]) - basis @ basis.transpose(0, 2, 1)

        return alignment_matrix(X, groups, local)
