"""Hessian eigenmaps, also called Hessian LLE."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from dreval.geometry.graphs import IntArray
from dreval.methods._local import Groups, TangentMethod, alignment_matrix, max_neighbors, tangents
from dreval.methods._method import FloatArray, method


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
