"""Q_local, the share of common neighbors at local scales."""

from __future__ import annotations

from dreval.geometry.blocks import View
from dreval.geometry.coranking import coranking
from dreval.measures._measure import measure
from dreval.measures._ranks import CORANKING, note_of


@measure(
    **CORANKING,
    symbol="Q_local",
    title="Local quality",
    question="What share of neighbors is kept at local scales, up to K_max?",
    level="global",
    direction="higher",
    bounds=(0.0, 1.0),
    chance="permutation",
    reference=(
        "Lee & Verleysen (2010), Scale-independent quality criteria for dimensionality reduction, Pattern Recognition\n"
        "Letters 31."
    ),
)
def q_local(view: View) -> tuple[float, str]:
    """Mean of Q_NX(K) over K = 1, ..., K_max.

    K_max is the K with the largest excess over chance, see ``k_max``; it belongs to the embedding, so that embeddings
    with different K_max are judged at different scales.

    Equal distances are ordered by index. No bounds over their orders are offered: K_max depends on the orders of all
    rows at once. From anchors K_max is the best of fewer rows, and the value on average a little low.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> dreval.q_local(X, X)
    1.0
    >>> round(dreval.q_local(X, X[:, :2]), 3)
    0.473
    """
    found = coranking(view)
    return float(found.q_nx()[: found.k_max()].mean()), note_of(found, view)
