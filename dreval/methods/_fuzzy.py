"""Fuzzy neighborhoods of UMAP: widths, the joined graph, and the curve that stands for it in the embedding."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from dreval.geometry.neighbors import nearest
from dreval.methods._method import FloatArray
from dreval.methods._spectral import DENSE_ROWS, start_vector

__all__ = ["curve_parameters", "due_every", "fuzzy_graph", "fuzzy_weights", "spectral_start"]

IntArray = npt.NDArray[np.int64]

FLOOR = 1e-3  # least width, relative to the mean distance in the row
CURVE_POINTS = 300  # at which the curve is fitted
ROUGH = 1e-4  # tolerance of Lanczos: the embedding only starts there


def fuzzy_weights(distances: FloatArray, local: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Membership (m, k) of the neighbors at these distances (ascending), with rho and sigma (m,) of each row.

    The weight is exp(-max(0, d - rho) / sigma); rho is the smallest distance above 0 with ``local`` and else 0, and
    sigma makes the weights of a row add up to log2(k + 1).
    """
    from dreval.geometry._loops import layouts as loops

    rho = np.zeros(len(distances))
    if local:
        apart = distances > 0
        some = apart.any(axis=1)
        rho[some] = distances[some, np.argmax(apart[some], axis=1)]
    beyond = np.maximum(distances - rho[:, None], 0.0)
    sigma = np.empty(len(distances))
    loops.smooth_widths(beyond, np.log2(distances.shape[1] + 1.0), sigma)
    sigma = np.maximum(sigma, FLOOR * np.where(rho > 0, distances.mean(axis=1), distances.mean()))
    weights = np.exp(-np.divide(beyond, sigma[:, None], out=np.zeros_like(beyond), where=beyond > 0))
    return weights, rho, sigma


def fuzzy_graph(X: FloatArray, k: int) -> tuple[csr_matrix, FloatArray, FloatArray]:
    """The symmetric graph v + v' - v v' of memberships v in the neighborhoods of k points, with rho and sigma."""
    neighbors, squared = nearest(X, k)
    weights, rho, sigma = fuzzy_weights(np.sqrt(squared), local=True)
    n = len(X)
    one_way = csr_matrix((weights.ravel(), neighbors.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    other_way = one_way.T.tocsr()
    graph = (one_way + other_way - one_way.multiply(other_way)).tocsr()
    graph.eliminate_zeros()
    graph.sort_indices()
    return graph, rho, sigma


def curve_parameters(min_dist: float, spread: float) -> tuple[float, float]:
    """A and b for which 1 / (1 + a d^2b) comes nearest, in squares on (0, 3 spread), to the membership wanted.

    That is 1 up to ``min_dist`` and exp(-(d - min_dist) / spread) behind it.
    """
    from scipy.optimize import curve_fit

    d = np.linspace(0.0, 3.0 * spread, CURVE_POINTS)
    wanted = np.exp(-np.maximum(d - min_dist, 0.0) / spread)
    (a, b), _ = curve_fit(lambda x, a, b: 1.0 / (1.0 + a * (x / spread) ** (2.0 * b)), d, wanted)
    return float(a / spread ** (2.0 * b)), float(b)


def due_every(weights: FloatArray, n_epochs: int) -> tuple[npt.NDArray[np.bool_], FloatArray]:
    """Which edges are due at all within the epochs, and every how many epochs these are: largest weight over weight."""
    share = weights / weights.max()
    kept = share * n_epochs >= 1.0
    return kept, 1.0 / share[kept]


def spectral_start(graph: csr_matrix, d: int) -> FloatArray | None:
    """The d functions (n, d) after the first of the normalized Laplacian, nearly; None where Lanczos is not done."""
    from scipy.linalg import eigh
    from scipy.sparse import diags
    from scipy.sparse.linalg import ArpackNoConvergence, eigsh

    n = graph.shape[0]
    roots = diags(1.0 / np.sqrt(np.asarray(graph.sum(axis=1)).ravel()))
    smoothing: Any = roots @ graph @ roots
    if n <= DENSE_ROWS or 10 * (d + 1) >= n:
        return eigh(smoothing.toarray(), subset_by_index=(n - d - 1, n - 1))[1][:, -2::-1]
    subspace = max(2 * d + 3, int(np.sqrt(n)))
    try:
        values, vectors = eigsh(smoothing, d + 1, which="LA", v0=start_vector(n), ncv=subspace, tol=ROUGH, maxiter=20)
    except ArpackNoConvergence:
        return None
    return vectors[:, np.argsort(-values, kind="stable")[1:]]
