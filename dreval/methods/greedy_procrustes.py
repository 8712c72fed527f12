"""Rigid neighborhoods: an embedding built one after the other (greedy Procrustes), and its refinement."""

from __future__ import annotations

import inspect
from dataclasses import KW_ONLY
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from dreval._check import check_float, check_int, check_rows
from dreval._check_arrays import check_points
from dreval.errors import DegenerateDataWarning, InputError, MethodFailed, warn
from dreval.geometry.graphs import IntArray, neighbor_graph, neighborhoods, reach_of
from dreval.methods._local import GraphMethod
from dreval.methods._method import FloatArray, Method, method
from dreval.methods._procrustes import FarPoints, Patches, greedy_embedding, principal_axes
from dreval.records.notes import note
from dreval.registry import METHODS


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


@method(
    title="Procrustes refinement",
    family="local Procrustes",
    deterministic=False,
    out_of_sample=False,
    inverse=False,
    supervised=False,
    cost="O(n k d min(k, p)) time a round, O(n k min(k, p)) memory",
    scale="follows",
    max_components=lambda n, p, _: min(n - 1, p),
    reference="@goldberg2009, Section 4.4.",
)
class ProcrustesRefinement(Method):
    r"""Procrustes refinement: any embedding, changed step by step so that neighborhoods keep their shape and size.

    A round computes for each neighborhood the rigid motion :math:`(A_i, b_i)` that fits its embedding best to the data
    (Eq. 12), and then moves every point to the mean of its places predicted by its neighborhoods (Eq. 13).
    Each half of a round minimizes :math:`\sum_i \sum_j |x_j - A_i y_j - b_i|^2` over its own unknowns, so R(X, Y) never
    rises.

    Parameters
    ----------
    n_components : int
        Number d of coordinates, at most min(n - 1, p).
    init : str or array (n, d)
        Name of a bundled method, which gets ``n_neighbors`` or ``radius`` if it has these parameters, and the seed; or
        an embedding.
    %(rigid_neighborhoods)s
    %(radius)s
    %(rounds)s
    random_state : int, Generator or None
        Seed of the method to start from.

    Attributes
    ----------
    %(rigid_embedding)s
    path_ : ndarray (rounds + 1,)
        R(X, Y) of the start at its best scale, and after each round; it never rises.

    Raises
    ------
    InputError
        If a parameter is out of its range, or the start has another shape.
    MethodFailed
        If every neighborhood holds copies of one point only.
    UnknownName
        If ``init`` is not the name of a bundled method.

    Warns
    -----
    ApproximationWarning
        If there are not as many other points as neighbors.
    DegenerateDataWarning
        If some neighborhoods hold copies of one point only.

    See Also
    --------
    dreval.methods.GreedyProcrustes : an embedding built by the same motions.
    dreval.methods.ProcrustesSubspacesAlignment : aligns all neighborhoods at once.
    dreval.procrustes_r : the measure that this method lowers.

    Notes
    -----
    %(cost)s

    The start is first multiplied by the factor that minimizes R, so that its scale does not matter. The iteration ends
    in a local minimum. The graph need not be connected. The seed affects the start only.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> roll = dreval.simulate("swiss_roll", n=400, random_state=0)
    >>> refined = dreval.methods.ProcrustesRefinement(init="isomap", n_neighbors=7).fit(roll.data)
    >>> bool(refined.path_[-1] < refined.path_[0])
    True
    """

    n_components: int = 2
    _: KW_ONLY
    init: Any = "pca"
    n_neighbors: int | None = 7
    radius: float | None = None
    max_iter: int = 200
    tol: float = 1e-5
    random_state: int | np.random.Generator | None = None

    varied = True

    def _fit(self, X: FloatArray) -> None:
        check_int(self.max_iter, "max_iter", low=0)
        check_float(self.tol, "tol", low=0.0)
        reach = reach_of(self.n_neighbors, self.radius, len(X))
        groups = neighborhoods(X, reach, neighbor_graph(X, reach), np.empty((0, 2), np.int64))
        patches = Patches(X, groups, self.n_components)
        if patches.flat == len(X):
            received = f"{len(X)} neighborhoods that hold copies of one point each"
            larger = {"n_neighbors": "n_neighbors (at least the number of copies of any point)"}
            hint = f"Choose a larger {larger.get(reach.argument, 'radius')}, or leave copies out."
            raise MethodFailed(reach.argument, "must give every neighborhood points that differ", received, hint)
        if patches.flat:
            warn(DegenerateDataWarning(note("neighborhoods.copies", flat=patches.flat, n=len(X))))
        start = self._start(X)
        Y, self.path_ = patches.refine(patches.best_scale(start) * start, self.max_iter, self.tol)
        self.embedding_ = principal_axes(Y)

    def _start(self, X: FloatArray) -> FloatArray:
        """Return the embedding to start from, at size 1."""
        if isinstance(self.init, str):
            cls = METHODS.get(self.init, "init")
            parameters = inspect.signature(cls).parameters
            options: dict[str, Any] = {"random_state": self.random_state}
            # with a radius, a method without balls keeps its default number of neighbors
            if self.radius is None or "radius" in parameters:
                options |= {"n_neighbors": self.n_neighbors, "radius": self.radius}
            options = {key: value for key, value in options.items() if key in parameters}
            Y = cls(self.n_components, **options).fit(X).embedding_
        else:
            Y = check_points(self.init, "init")
            check_rows(len(Y), len(X), "init")
        if Y.shape[1] != self.n_components:
            hint = "Set n_components to the number of columns of the start."
            raise InputError("init", f"must have n_components = {self.n_components} columns", str(Y.shape[1]), hint)
        Y = Y - Y.mean(axis=0)
        return Y / (np.abs(Y).max() or 1.0)
