"""Procrustes refinement: the iteration of Goldberg and Ritov, from any embedding."""

from __future__ import annotations

import inspect
from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from dreval._check import check_float, check_int, check_rows
from dreval._check_arrays import check_points
from dreval.errors import DegenerateDataWarning, InputError, MethodFailed, warn
from dreval.geometry.graphs import neighbor_graph, neighborhoods, reach_of
from dreval.methods._method import FloatArray, Method, method
from dreval.methods._procrustes import Patches, principal_axes
from dreval.records.notes import note
from dreval.registry import METHODS


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
