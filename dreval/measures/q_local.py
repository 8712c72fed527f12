"""Q_local, the share of common neighbors at local scales."""

from __future__ import annotations

from dreval.geometry.blocks import View
from dreval.geometry.coranking import coranking
from dreval.measures._measure import measure
from dreval.measures._ranks import CORANKING, notes_of
from dreval.records.notes import Notes


@measure(
    **CORANKING,
    symbol="Q_local",
    title="Local quality",
    question="What share of neighbors is kept at local scales, up to K_max?",
    says=("Small neighborhoods are largely kept", "Small neighborhoods are largely lost"),
    grades=(0.45, 0.55),
    goals=("neighbors",),
    level="global",
    direction="higher",
    bounds=(0.0, 1.0),
    chance="permutation",
    reference="@lee2010.",
)
def q_local(view: View) -> tuple[float, Notes]:
    r"""Mean of Q_NX(K) over K = 1, ..., K_max.

    .. math:: Q_{\mathrm{local}} = \frac{1}{K_{\max}} \sum_{K=1}^{K_{\max}} Q_{NX}(K).

    :math:`K_{\max}` (see ``k_max``) is a property of each embedding, so embeddings with different K_max are evaluated
    at different scales.

    Worst and best values over ties are not available: K_max depends on the tie breaking of all rows jointly. With
    anchors, K_max is the maximum over fewer rows, and the value is on average slightly too low.

    See Also
    --------
    q_global : the mean beyond K_max.
    k_max : the scale that separates the two.
    r_nx_auc : a summary over all K that needs no such scale.

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
    return float(found.q_nx()[: found.k_max()].mean()), notes_of(found, view)
