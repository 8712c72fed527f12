"""Class-aware trustworthiness (Colange et al.)."""

from __future__ import annotations

from dreval.geometry.blocks import View
from dreval.measures._classes import class_aware_share
from dreval.measures._measure import FloatArray, measure


@measure(
    symbol="CA-T",
    title="Class-aware trustworthiness",
    question="Are points of other classes that are shown as neighbors really close in the data?",
    level="point",
    needs=("ranks", "labels"),
    direction="higher",
    bounds=(0.0, 1.0),
    chance="permutation",
    invariances=frozenset({"translation", "rotation", "scale"}),
    cost="O(n^2 (p + d)) time, O(n k) memory.",
    reference=(
        "Colange, Peltonen, Aupetit, Dutykh & Lespinats (2020), Steering distortions to preserve classes and\n"
        "neighbors in supervised dimensionality reduction, NeurIPS 33; with the normalization of trustworthiness."
    ),
)
def class_aware_trustworthiness(view: View, n_neighbors: int = 15) -> FloatArray:
    """Trustworthiness that forgives false neighbors of the same class.

    CA-T(k) = 1 - (1/G) sum_i sum_{j in M_k(i), class(j) != class(i)} (r_ij - k)+, where M_k(i) are the k nearest
    neighbors of i in the embedding, r_ij the rank of j from i in the data, and G the largest possible sum without
    classes, as in trustworthiness. It is never below trustworthiness, equals it where every point is its own class, and
    is 1 with a single class. An embedding in which each class is shuffled within itself is not blamed.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> labels = X[:, 0] > 0
    >>> round(dreval.class_aware_trustworthiness(X, X[:, :2], labels=labels), 3)
    0.984
    >>> dreval.class_aware_trustworthiness(X, X[:, :2], labels=np.zeros(200, int))
    1.0
    """
    return class_aware_share(view, view.nearest_embedding, view.data_rank, n_neighbors, same=False)
