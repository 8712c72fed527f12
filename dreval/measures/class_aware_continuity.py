"""Class-aware continuity (Colange et al.)."""

from __future__ import annotations

from dreval.geometry.blocks import View
from dreval.measures._classes import class_aware_share
from dreval.measures._measure import FloatArray, measure


@measure(
    symbol="CA-C",
    title="Class-aware continuity",
    question="Are neighbors of the same class in the data still close in the embedding?",
    level="point",
    needs=("ranks", "labels"),
    direction="higher",
    bounds=(0.0, 1.0),
    chance="permutation",
    invariances=frozenset({"translation", "rotation", "scale"}),
    cost="O(n^2 (p + d)) time, O(n k) memory.",
    reference=(
        "Colange, Peltonen, Aupetit, Dutykh & Lespinats (2020), Steering distortions to preserve classes and\n"
        "neighbors in supervised dimensionality reduction, NeurIPS 33; with the normalization of continuity."
    ),
)
def class_aware_continuity(view: View, n_neighbors: int = 15) -> FloatArray:
    """Continuity that forgives missing neighbors of other classes.

    CA-C(k) = 1 - (1/G) sum_i sum_{j in N_k(i), class(j) = class(i)} (s_ij - k)+, where N_k(i) are the k nearest
    neighbors of i in the data, s_ij the rank of j from i in the embedding, and G the largest possible sum without
    classes, as in continuity. It is never below continuity, equals it with a single class, and is 1 where every point
    is its own class. An embedding that pulls the classes apart is not blamed.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> labels = X[:, 0] > 0
    >>> round(dreval.class_aware_continuity(X, X[:, :2], labels=labels), 3)
    0.972
    >>> dreval.class_aware_continuity(X, X[:, :2], labels=np.arange(200))
    1.0
    """
    return class_aware_share(view, view.nearest_data, view.embedding_rank, n_neighbors, same=True)
