"""K_max, the scale that parts local from global."""

from __future__ import annotations

import math

from dreval.geometry.blocks import View
from dreval.geometry.coranking import coranking
from dreval.measures._measure import measure
from dreval.measures._ranks import CORANKING


@measure(
    **CORANKING,
    symbol="K_max",
    title="Scale of the best agreement",
    question="At how many neighbors does the embedding exceed chance most? It parts local from global scales.",
    level="global",
    smooth=False,
    whole=True,
    direction="none",
    bounds=(1.0, math.inf),
    chance="permutation",
    reference=(
        "Lee & Verleysen (2010), Scale-independent quality criteria for dimensionality reduction, Pattern Recognition\n"
        "Letters 31."
    ),
)
def k_max(view: View) -> tuple[float, str]:
    """The number of neighbors K in 1, ..., n - 2 with the largest LCMC(K), the smallest of several.

    It parts local from global scales: ``q_local`` is the mean of Q_NX up to it, ``q_global`` beyond. A perfect copy
    has 1, yet neither way is better: three far groups that are kept as such put it at the size of a group, and noise
    anywhere. So it ranks no embeddings; ``q_local`` and ``q_global`` do. It has no interval, since the place of a
    largest value moves in jumps when points are left out.

    Equal distances are ordered by index. No bounds over their orders are offered: K_max depends on the orders of all
    rows at once.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> dreval.k_max(X, X)
    1.0
    >>> dreval.k_max(X, X[:, :2])
    31.0
    """
    found = coranking(view)
    return float(found.k_max()), found.note()
