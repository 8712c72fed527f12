"""Mean relative rank error of the neighbors in the data."""

from __future__ import annotations

from dreval.geometry.blocks import View
from dreval.measures._measure import FloatArray, measure
from dreval.measures._ranks import RELATIVE_ERROR, relative_errors


@measure(
    symbol="MRRE_M",
    title="Relative rank error, neighbors in the data",
    question="How far are the ranks of the data's neighbors from those in the embedding, near ones first?",
    **RELATIVE_ERROR,
)
def mrre_missing(view: View, n_neighbors: int = 15) -> FloatArray:
    """How far the ranks of the neighbors in the data are from those in the embedding, relative to the rank in the data.

    MRRE = (1/n) sum_i (1/c) sum_{j in N(i)} |r_ij - s_ij| / r_ij, where N(i) are the k nearest neighbors of i in
    the data, r_ij and s_ij the ranks of j from i in the data and in the embedding, and
    c = sum_{t<=k} |n - 2t + 1|/t. The largest error, 1, is not attained: ranks in reverse order have |n - 2t|.

    Equal distances are ordered by index. No bounds over their orders are offered: with ties in both spaces the extremes
    of a row are an assignment problem of its own.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> dreval.mrre_missing(X, X)
    0.0
    >>> round(dreval.mrre_missing(X, X[:, :2], n_neighbors=10), 3)
    0.038
    """
    return relative_errors(view.embedding_rank, view.n, n_neighbors)
