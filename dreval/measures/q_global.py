"""Q_global, the share of common neighbors at global scales."""

from __future__ import annotations

from dreval.geometry.blocks import View
from dreval.geometry.coranking import coranking
from dreval.measures._measure import measure
from dreval.measures._ranks import CORANKING, notes_of
from dreval.records.notes import ASSUMPTION, Notes, define

NO_SCALE = define("q_global.none", ASSUMPTION, "K_max is n - 2: no larger scale is left")


@measure(
    **CORANKING,
    symbol="Q_global",
    title="Global quality",
    question="What share of neighbors is kept at global scales, beyond K_max?",
    says=("Large neighborhoods are largely kept", "Large neighborhoods are largely lost"),
    grades=(0.45, 0.55),
    goals=("distances", "arrangement"),
    level="global",
    direction="higher",
    bounds=(0.0, 1.0),
    chance="permutation",
    reference="@lee2010.",
)
def q_global(view: View) -> tuple[float, Notes]:
    r"""Mean of Q_NX(K) over K = K_max + 1, ..., n - 2.

    .. math:: Q_{\mathrm{global}} = \frac{1}{n - 2 - K_{\max}} \sum_{K=K_{\max}+1}^{n-2} Q_{NX}(K).

    Large neighborhoods share about :math:`K / (n - 1)` of their points in any embedding, so compare with the chance
    level. Where :math:`K_{\max} = n - 2` no larger scale is left and the value is 1.

    Worst and best values over ties are not available: K_max depends on the tie breaking of all rows jointly. With
    anchors, K_max is the maximum over fewer rows, and the value is on average slightly too low.

    See Also
    --------
    q_local : the mean up to K_max.
    k_max : the scale that separates the two.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> dreval.q_global(X, X)
    1.0
    >>> round(dreval.q_global(X, X[:, :2]), 3)
    0.827
    """
    found = coranking(view)
    beyond = found.q_nx()[found.k_max() : -1]
    if len(beyond) == 0:
        return 1.0, (*notes_of(found, view), NO_SCALE())
    return float(beyond.mean()), notes_of(found, view)
