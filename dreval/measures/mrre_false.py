"""Mean relative rank error of the neighbors in the embedding."""

from __future__ import annotations

from dreval.geometry.blocks import View
from dreval.measures._measure import FloatArray, measure
from dreval.measures._ranks import RELATIVE_ERROR, relative_errors


@measure(
    symbol="MRRE_F",
    title="Relative rank error of neighbors in the embedding",
    question="How far are the ranks of neighbors in the embedding from their ranks in the data, near ones first?",
    says=(
        "Neighbors in the embedding are close in the data",
        "Neighbors in the embedding are mostly close in the data",
        "Neighbors in the embedding may be far apart in the data",
    ),
    grades=(0.8, 0.9),
    goals=("neighbors",),
    **RELATIVE_ERROR,
    counted="first",
)
def mrre_false(view: View, n_neighbors: int = 15) -> FloatArray:
    r"""Mean rank error of the neighbors in the embedding, relative to their rank in the embedding.

    .. math:: \mathrm{MRRE}(k) = \frac{1}{n c} \sum_{i=1}^n \sum_{j \in M_k(i)} \frac{|r_{ij} - s_{ij}|}{s_{ij}},
              \qquad c = \sum_{t=1}^k \frac{|n - 2t + 1|}{t},

    where :math:`M_k(i)` are the k nearest neighbors of point i in the embedding, and :math:`r_{ij}` and :math:`s_{ij}`
    are the ranks of j from i in the data and in the embedding. The upper bound 1 is not attained: ranks in reverse
    order have :math:`|n - 2t|` in place of :math:`|n - 2t + 1|`.

    Worst and best values over ties are not available: with ties in both spaces the extremes of a row are an assignment
    problem.

    See Also
    --------
    mrre_missing : the same for the neighbors in the data.
    trustworthiness : rank errors of false neighbors only.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> dreval.mrre_false(X, X)
    0.0
    >>> round(dreval.mrre_false(X, X[:, :2], n_neighbors=10), 3)
    0.176
    """
    return relative_errors(view.data_rank, view.n, n_neighbors)
