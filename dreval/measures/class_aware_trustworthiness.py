"""Class-aware trustworthiness (Colange et al.)."""

from __future__ import annotations

from dreval.geometry.blocks import View
from dreval.measures._classes import class_aware_share
from dreval.measures._measure import FloatArray, measure
from dreval.measures._ranks import RANKS_COST


@measure(
    symbol="CA-T",
    title="Class-aware trustworthiness",
    question="Are points of other classes near a point in the embedding also close to it in the data?",
    says=(
        "Points of other classes nearby are close in the data",
        "Points of other classes nearby may be far away in the data",
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
    reference="@colange2020; with the normalization of trustworthiness.",
)
def class_aware_trustworthiness(view: View, n_neighbors: int = 15) -> FloatArray:
    r"""Trustworthiness that ignores false neighbors of the same class.

    .. math:: T_{\mathrm{class}}(k) = 1 - \frac{1}{G} \sum_{i=1}^n
              \sum_{j \in M_k(i),\, c_j \ne c_i} \max(r_{ij} - k, 0),

    where :math:`M_k(i)` are the k nearest neighbors of point i in the embedding, :math:`c_i` is the class of i,
    :math:`r_{ij}` the rank of j from i in the data, and G the largest possible sum without classes, as in
    ``trustworthiness``. It is at least ``trustworthiness``, and equal to it where every point is its own class. With a
    single class there is no value: it would be 1 for every embedding. Permuting the points within each class in the
    embedding is not penalized.

    See Also
    --------
    trustworthiness : the same without classes.
    class_aware_continuity : the same for missing neighbors.
    label_trustworthiness : classes as a whole.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> labels = X[:, 0] > 0
    >>> round(dreval.class_aware_trustworthiness(X, X[:, :2], labels=labels), 3)
    0.984
    >>> dreval.class_aware_trustworthiness(X, X[:, :2], labels=np.arange(200)) == dreval.trustworthiness(X, X[:, :2])
    True
    """
    return class_aware_share(view, view.nearest_embedding, view.data_rank, n_neighbors, same=False)
