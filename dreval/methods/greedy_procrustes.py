"""Greedy Procrustes: the embedding is built neighborhood after neighborhood."""

from __future__ import annotations

from dataclasses import KW_ONLY

import numpy as np
from scipy.sparse import csr_matrix

from dreval._check import check_float, check_int
from dreval.geometry.graphs import IntArray, neighborhoods
from dreval.methods._local import GraphMethod
from dreval.methods._method import FloatArray, method
from dreval.methods._procrustes import FarPoints, Patches, greedy_embedding, principal_axes


@method(
    title="Greedy Procrustes",
    family="local Procrustes",
    deterministic=True,
    out_of_sample=False,
    inverse=False,
    supervised=False,
    cost="O(n k^2 p + n^2) time, O(n k min(k, p)) memory",
    scale="follows",
    max_components=lambda n, p, _: min(n - 1, p),
    reference="@goldberg2009, Sections 4.1 and 4.4.",
)
class GreedyProcrustes(GraphMethod):
    """Greedy Procrustes: each neighborhood is placed by its best rigid fit to the points placed before.

    The first neighborhood is embedded by PCA. Then, repeatedly, the point with the most embedded neighbors among those
    not yet embedded is taken; the rigid motion that fits the embedded points of its neighborhood to their places
    (Procrustes) places the others. Errors accumulate; rounds of refinement, which lower R(X, Y), follow.

    Parameters
    ----------
    n_components : int
        Number d of coordinates, at most min(n - 1, p).
    %(rigid_neighborhoods)s
    %(radius)s
    %(disconnected)s
    %(rounds)s
    %(far_points)s
    %(unused_seed)s

    Attributes
    ----------
    %(rigid_embedding)s
    path_ : ndarray (rounds + 1,)
        R(X, Y) before and after each round; with ``far_penalty`` also after the search that follows.
    far_pairs_ : ndarray (q, 2)
        Pairs far along the data that are embedded close, i < j; without a fold none or few.
    penalty_ : float
        P of the embedding, 0 without such pairs.

    Raises
    ------
    %(graph_raises)s

    Warns
    -----
    %(graph_warns)s

    See Also
    --------
    dreval.methods.ProcrustesSubspacesAlignment : aligns all neighborhoods at once.
    dreval.methods.ProcrustesRefinement : the refinement from any start.
    dreval.procrustes_rn : the normalized measure of local fit.

    Notes
    -----
    %(cost)s

    The first point is the one nearest to the mean (the paper draws it at random); ties in the number of neighbors are
    broken in favor of the smaller neighborhood. Where no remaining point has more than d embedded neighbors, so that
    the rotation is not determined, the neighborhood of an embedded point is used. A fold cannot be undone later: of 24
    Swiss rolls of 1600 points two had a fold.

    The penalty is proposed in the Discussion (Section 6), since R does not see a fold: distant geodesic points are "at
    least s-distant on the neighborhood graph, with s > 1", here by the number of edges. How close is too close, and the
    form of the penalty, are left open there; see ``far_penalty`` for the choice, which is 0 at an isometric embedding
    of a convex domain. The search is L-BFGS.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> roll = dreval.simulate("swiss_roll", n=600, random_state=0)
    >>> Y = dreval.methods.GreedyProcrustes(n_components=2, n_neighbors=8).fit_transform(roll.data)
    >>> bool(dreval.procrustes_rn(roll.data, Y, n_neighbors=8) < 0.02)
    True
    """

    n_components: int = 2
    _: KW_ONLY
    n_neighbors: int | None = 10
    radius: float | None = None
    disconnected: str = "connect"
    max_iter: int = 100
    tol: float = 1e-5
    far_penalty: float = 0.0
    far_steps: int = 2
    random_state: int | np.random.Generator | None = None

    def _fit_connected(self, X: FloatArray, graph: csr_matrix, links: IntArray) -> None:
        check_int(self.max_iter, "max_iter", low=0)
        check_float(self.tol, "tol", low=0.0)
        weight = check_float(self.far_penalty, "far_penalty", low=0.0)
        far_steps = check_int(self.far_steps, "far_steps", low=2)
        patches = Patches(X, neighborhoods(X, self._near, graph, links), self.n_components)
        Y, self.path_ = patches.refine(greedy_embedding(X, patches, self.n_components), self.max_iter, self.tol)
        far = FarPoints(graph, patches.extents(), far_steps)
        if weight > 0:
            Y = far.lower(patches, Y, weight, self.max_iter, self.tol)
            self.path_ = np.r_[self.path_, patches.slope(Y)[0]]
        i, j, gaps = far.pairs(Y)
        self.far_pairs_, self.penalty_ = np.column_stack([i, j]), float(gaps @ gaps) / len(X)
        self.embedding_ = principal_axes(Y)
