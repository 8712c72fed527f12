"""K_max, the scale that parts local from global."""

from __future__ import annotations

import math

from dreval.geometry.blocks import View
from dreval.geometry.coranking import coranking
from dreval.measures._measure import measure
from dreval.measures._ranks import CORANKING
from dreval.records.notes import Notes


@measure(
    **CORANKING,
    symbol="K_max",
    title="Scale of the best agreement",
    question="At how many neighbors does the embedding exceed its chance level most?",
    goals=("neighbors",),
    level="global",
    smooth=False,
    whole=True,
    direction="none",
    bounds=(1.0, math.inf),
    chance="permutation",
    reference="@lee2010.",
)
def k_max(view: View) -> tuple[float, Notes]:
    r"""The number of neighbors K in 1, ..., n - 2 with the largest LCMC(K); the smallest such K.

    .. math:: K_{\max} = \mathrm{arg\,max}_K \left(Q_{NX}(K) - \frac{K}{n - 1}\right).

    It separates local from global scales: ``q_local`` is the mean of :math:`Q_{NX}` up to it, ``q_global`` beyond. A
    perfect copy has 1, yet neither direction is better: three well separated groups put it at the size of a group, and
    noise may put it anywhere. Embeddings are therefore not ranked by it. It has no interval, because the position of a
    maximum jumps when points are left out.

    Worst and best values over ties are not available: the maximum depends on the tie breaking of all rows jointly.

    See Also
    --------
    lcmc : the curve.
    q_local, q_global : quality up to this K and beyond.

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
    return float(found.k_max()), found.notes
