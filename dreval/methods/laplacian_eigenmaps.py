"""Laplacian eigenmaps: the smoothest functions on the neighborhood graph."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from dreval._check import check_float, check_one_of
from dreval.errors import InputError, MethodFailed
from dreval.methods._local import GraphMethod
from dreval.methods._method import FloatArray, method
from dreval.methods._spectral import DENSE_ROWS, NORMALIZE, scale_columns, start_vector

WEIGHTS = ("connectivity", "heat")
SHIFT = -1e-5  # just below the spectrum, whose least value is 0: the shifted matrix is positive definite
MIN_SECOND_EIGENVALUE = 1e-13  # a second eigenvalue below this is 0 up to rounding


@method(
    title="Laplacian eigenmaps",
    family="spectral",
    deterministic=True,
    out_of_sample=False,
    inverse=False,
    supervised=False,
    cost="the neighbor search, and a sparse factorization of n rows with about n k entries",
    max_components=lambda n, _p, _: n - 1,
    reference="@belkin2003, Section 2.",
)
class LaplacianEigenmaps(GraphMethod):
    r"""Laplacian eigenmaps: coordinates that vary as little as possible along the edges of the neighborhood graph.

    With weights W on the graph of k nearest neighbors (an edge where either is a neighbor of the other), or of points
    no farther apart than ``radius``, degrees D and
    :math:`L = D - W`, the coordinates are the solutions of

    .. math:: L f = \lambda D f

    with the smallest eigenvalues after 0, whose solution, the constant, is left out. They minimize
    :math:`\sum_{ij} w_{ij} (f_i - f_j)^2` under :math:`f'Df = 1` and orthogonality :math:`f'Dg = 0`.

    Parameters
    ----------
    n_components : int
        Number d of coordinates, at most n - 1.
    n_neighbors : int or None
        Number k of neighbors; with fewer points all others are taken, with a warning.
    %(radius)s
    weights : {"connectivity", "heat"}
        "connectivity": 1 on every edge, so that only the graph counts, not its scale. "heat":
        :math:`\exp(-|x_i - x_j|^2 / t)`.
    bandwidth : float, optional
        t of the heat weights, a squared distance (in other methods ``bandwidth`` is a length :math:`\sigma`, and
        :math:`t = 2 \sigma^2`); by default the median squared length of the edges.
    %(disconnected)s
    normalize : {"unit", "sqrt_n"}
        Length of each column of the embedding: 1 (diagonal of Y'Y is 1) or sqrt(n).
    %(unused_seed)s

    Attributes
    ----------
    embedding_ : ndarray (n, d)
        Coordinates. Columns are orthogonal in the product that D weighs; in the ordinary one, and to the constant, only
        where all degrees are equal. In each column the entry of largest size is positive.
    eigenvalues_ : ndarray (d,)
        Their eigenvalues, ascending, in (0, 2].
    bandwidth_ : float or None
        t as used; None without heat.

    Raises
    ------
    InputError
        If a parameter is out of its range, or more than half of the edges join duplicates and there is no bandwidth.
    MethodFailed
        If the graph is not connected and ``disconnected="error"``; or heat weights are so small that it falls apart.
    UnknownName
        If ``weights``, ``disconnected`` or ``normalize`` is not one of the listed options.

    Warns
    -----
    %(graph_warns)s

    See Also
    --------
    dreval.methods.DiffusionMaps : a random walk on all points.
    dreval.methods.LLE : another sparse eigenproblem on neighbors.
    dreval.methods.UMAP : starts from such eigenvectors.

    Notes
    -----
    %(cost)s

    More neighbors make smoother functions, which keep the shape of neighborhoods better and separate distant parts
    less: over nine data sets the mean of local Procrustes R_C is .582, .574, .555, .556 with k = 5, 7, 10, 15, of
    trustworthiness .898, .902, .907, .899. scikit-learn takes n / 10 neighbors.

    The scale of the embedding is arbitrary: use measures that are invariant to scale. The solver is Lanczos in
    shift-invert mode about 0; up to 400 points a dense O(n^3) solver. With more than 7 neighbors the search for short
    cuts takes half of the time at n = 2000 and a tenth at 10,000, so that the whole takes 1.5 to 1.9 and 1.3
    times that of scikit-learn, which does not look for them.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval, numpy as np
    >>> X = dreval.simulate("s4", n=300, random_state=0).data
    >>> Y = dreval.methods.LaplacianEigenmaps(n_components=2, n_neighbors=7).fit_transform(X)
    >>> Y.shape, np.linalg.norm(Y, axis=0).round(12).tolist()
    ((300, 2), [1.0, 1.0])
    """

    n_components: int = 2
    _: KW_ONLY
    n_neighbors: int | None = 7
    radius: float | None = None
    weights: str = "connectivity"
    bandwidth: float | None = None
    disconnected: str = "connect"
    normalize: str = "unit"
    random_state: int | np.random.Generator | None = None

    def _fit_connected(self, _: FloatArray, graph: Any, __: Any) -> None:
        normalize = check_one_of(self.normalize, NORMALIZE, "normalize", aliases=True)
        weights = check_one_of(self.weights, WEIGHTS, "weights", aliases=True)
        self.bandwidth_ = self._bandwidth(graph.data, weights == "heat")
        graph.data = np.ones_like(graph.data) if self.bandwidth_ is None else np.exp(-(graph.data**2) / self.bandwidth_)
        values, functions = _bottom_functions(graph, self.n_components + 1)
        if not values[1] > MIN_SECOND_EIGENVALUE:
            raise MethodFailed(
                "bandwidth",
                "must leave the weighted graph connected",
                f"a second eigenvalue of {values[1]:.2g} with bandwidth {self.bandwidth_}",
                'Choose a larger bandwidth, or weights="connectivity".',
            )
        self.eigenvalues_ = values[1:]
        self.embedding_ = scale_columns(functions[:, 1:], normalize)

    def _bandwidth(self, lengths: FloatArray, heat: bool) -> float | None:
        """Return the bandwidth, by default the median squared length of the edges; None without heat."""
        has_value = self.bandwidth is not None
        t = check_float(self.bandwidth, "bandwidth", low=0.0) if has_value else float(np.median(lengths**2))
        if t == 0.0 and (has_value or heat):
            raise InputError(
                "bandwidth",
                "must be above 0",
                "0" if has_value else "0 (the median edge joins duplicates)",
                "Pass a positive bandwidth.",
            )
        return t if heat else None


def _bottom_functions(W: Any, count: int) -> tuple[FloatArray, FloatArray]:
    """Return the ``count`` smallest eigenvalues of L f = lambda D f, ascending, and their functions (n, count).

    The problem is solved for u = D^(1/2) f with the symmetric I - D^(-1/2) W D^(-1/2).
    """
    from scipy.linalg import eigh
    from scipy.sparse import diags
    from scipy.sparse.linalg import eigsh

    n = W.shape[0]
    degrees = np.asarray(W.sum(axis=1)).ravel()
    joined = degrees > 0  # weights may underflow; a point left alone is a component, with eigenvalue 0
    roots = np.divide(1.0, np.sqrt(degrees), out=np.zeros(n), where=joined)
    laplacian = (diags(joined.astype(float)) - diags(roots) @ W @ diags(roots)).tocsc()
    if n > DENSE_ROWS and 10 * count < n:
        values, vectors = eigsh(laplacian, k=count, sigma=SHIFT, which="LM", v0=start_vector(n))
    else:
        values, vectors = eigh(laplacian.toarray(), subset_by_index=(0, count - 1))
    order = np.argsort(values, kind="stable")
    return values[order], vectors[:, order] * roots[:, None]
