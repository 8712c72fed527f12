"""Communities of a graph: the partition with the largest modularity that the Leiden algorithm finds."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from dreval._check import IntArray

RANDOMNESS = 0.01  # of the largest weight: gains that differ by less are as probable in the refinement
MIN_INCREASE = 1e-10  # of the modularity in a further round, above which there is another one


def modularity(graph: csr_matrix, codes: IntArray, resolution: float) -> float:
    """Return sum over communities of w(C) / 2m - resolution (K_C / 2m)^2, of a symmetric graph of weights.

    w(C) counts the weight of each edge inside from both ends, K_C sums the weights of all edges from their points, and
    2m is the sum of all weights.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_matrix
    >>> two_pairs = csr_matrix([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    >>> modularity(two_pairs, np.array([0, 0, 1, 1]), 1.0)
    0.5
    """
    edges, strength = graph.tocoo(), np.asarray(graph.sum(axis=1)).ravel()
    total = strength.sum()
    inside = edges.data[codes[edges.row] == codes[edges.col]].sum()
    return float(inside / total - resolution * np.square(np.bincount(codes, strength) / total).sum())


def leiden(graph: csr_matrix, resolution: float, rng: np.random.Generator) -> IntArray:
    """Return communities (n,), codes from 0, for which the modularity at this resolution is large.

    Parameters
    ----------
    graph : csr_matrix (n, n)
        Symmetric weights above 0, without a diagonal.
    resolution : float
        The larger, the more communities.
    rng : Generator
        Random numbers: the order of the points, and ties in the refinement.

    Returns
    -------
    ndarray (n,)
        Codes of the communities. Each is a connected part of the graph, and no point gains by joining another one.

    Notes
    -----
    The Leiden algorithm (Traag, Waltman and van Eck 2019): points move to the community where they gain most;
    communities are refined into well-connected parts; the parts are the points of a smaller graph, where it goes on.
    Rounds begin with the result of the last one, and end when the modularity no longer grows. Some O(edges) time for
    each of few steps; O(edges) memory.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_matrix
    >>> two_pairs = csr_matrix([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    >>> leiden(two_pairs, 1.0, np.random.default_rng(0)).tolist()
    [0, 0, 1, 1]
    """
    from dreval.geometry._loops import communities as loops

    strength = np.asarray(graph.sum(axis=1), np.float64).ravel()
    arrays = graph.indptr.astype(np.int64), graph.indices.astype(np.int64), graph.data.astype(np.float64), strength
    rate, spread = resolution / strength.sum(), RANDOMNESS * graph.data.max()
    codes, quality = np.arange(graph.shape[0]), -np.inf
    while True:
        codes = loops.one_round(*arrays, rate, spread, rng, codes)
        before, quality = quality, modularity(graph, codes, resolution)
        if quality <= before + MIN_INCREASE:
            return codes
