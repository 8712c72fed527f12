"""Class-aware continuity (Colange et al.)."""

from __future__ import annotations

from dreval.geometry.blocks import View
from dreval.measures._classes import class_aware_share
from dreval.measures._measure import FloatArray, measure
from dreval.measures._ranks import RANKS_COST


@measure(
    symbol="CA-C",
    title="Class-aware continuity",
    question="Are neighbors of the same class in the data still close in the embedding?",
    says=(
        "Neighbors of one class stay close in the embedding",
        "Neighbors of one class may be far apart in the embedding",
    ),
    grades=(0.8, 0.9),
    goals=("neighbors", "classes"),
    level="point",
    needs=("ranks", "labels"),
    direction="higher",
    bounds=(0.0, 1.0),
    chance="permutation",
    invariances=frozenset({"translation", "rotation", "scale", "monotone"}),
    cost=RANKS_COST,
    reference="@colange2020; with the normalization of continuity.",
)
def class_aware_continuity(view: View, n_neighbors: int = 15) -> FloatArray:
    r"""Continuity that ignores missing neighbors of other classes.

    .. math:: C_{\mathrm{class}}(k) = 1 - \frac{1}{G} \sum_{i=1}^n \sum_{j \in N_k(i),\, c_j = c_i} \max(s_{ij} - k, 0),

    where :math:`N_k(i)` are the k nearest neighbors of point i in the data, :math:`c_i` is the class of i,
    :math:`s_{ij}` the rank of j from i in the embedding, and G the largest possible sum without classes, as in
    ``continuity``. It is at least ``continuity``, and equal to it with a single class. Where every point is its own
    class there is no value: it would be 1 for every embedding. An embedding that pulls classes apart is not penalized.

    See Also
    --------
    continuity : the same without classes.
    class_aware_trustworthiness : the same for false neighbors.
    label_continuity : classes as a whole.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> labels = X[:, 0] > 0
    >>> round(dreval.class_aware_continuity(X, X[:, :2], labels=labels), 3)
    0.972
    >>> dreval.class_aware_continuity(X, X[:, :2], labels=np.zeros(200, int)) == dreval.continuity(X, X[:, :2])
    True
    """
    return class_aware_share(view, view.nearest_data, view.embedding_rank, n_neighbors, same=True)
