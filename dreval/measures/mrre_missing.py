"""Mean relative rank error of the neighbors in the data."""

from __future__ import annotations

from dreval.geometry.blocks import View
from dreval.measures._measure import FloatArray, measure
from dreval.measures._ranks import RELATIVE_ERROR, relative_errors


@measure(
    symbol="MRRE_M",
    title="Relative rank error of neighbors in the data",
    question="How far are the ranks of neighbors in the data from their ranks in the embedding, near ones first?",
    says=(
        "Neighbors in the data stay close in the embedding",
        "Neighbors in the data mostly stay close in the embedding",
        "Neighbors in the data may be far apart in the embedding",
    ),
    grades=(0.8, 0.9),
    goals=("neighbors",),
    **RELATIVE_ERROR,
)
def mrre_missing(view: View, n_neighbors: int = 15) -> FloatArray:
    r"""Mean rank error of the neighbors in the data, relative to their rank in the data.

    .. math:: \mathrm{MRRE}(k) = \frac{1}{n c} \sum_{i=1}^n \sum_{j \in N_k(i)} \frac{|r_{ij} - s_{ij}|}{r_{ij}},
              \qquad c = \sum_{t=1}^k \frac{|n - 2t + 1|}{t},

    where :math:`N_k(i)` are the k nearest neighbors of point i in the data, and :math:`r_{ij}` and :math:`s_{ij}` are
    the ranks of j from i in the data and in the embedding. The upper bound 1 is not attained: ranks in reverse order
    have :math:`|n - 2t|` in place of :math:`|n - 2t + 1|`.

    Worst and best values over ties are not available: with ties in both spaces the extremes of a row are an assignment
    problem.

    See Also
    --------
    mrre_false : the same for the neighbors in the embedding.
    continuity : rank errors of missing neighbors only.

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
