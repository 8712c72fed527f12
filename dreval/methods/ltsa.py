"""Local tangent space alignment."""

from __future__ import annotations

from dataclasses import KW_ONLY

import numpy as np
from scipy.sparse import csr_matrix

from dreval.geometry.graphs import IntArray
from dreval.methods._local import Groups, TangentMethod, alignment_matrix, max_neighbors, tangents
from dreval.methods._method import FloatArray, method


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
