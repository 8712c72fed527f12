"""The area under R_NX."""

from __future__ import annotations

import numpy as np

from dreval.geometry.blocks import ALL_RANKS, View
from dreval.geometry.coranking import coranking, coranking_without
from dreval.measures._measure import FloatArray, measure
from dreval.measures._ranks import CORANKING, over_ties
from dreval.records.notes import Notes


def _limits(n: int) -> tuple[float, float]:
    """Least and greatest area of one point: that of the reversed order of the others, and 1.

    Of K neighbors in each space at least 2K - (n - 1) of n - 1 others are common, and of the reversed order no more.
    """
    if n > ALL_RANKS:  # with anchors estimates, which may be lower
        return -1.0, 1.0
    ks = np.arange(1, n - 1, dtype=np.float64)
    kept = np.maximum(2 * ks - (n - 1), 0) / ks
    curve = ((n - 1) * kept - ks) / (n - 1 - ks)
    return float(np.sum(curve / ks) / np.sum(1 / ks)) if n > 2 else -1.0, 1.0


@measure(
    **CORANKING,
    symbol="AUC",
    title="Area under R_NX",
    question="How far are neighborhoods of all sizes kept, with most weight on small ones?",
    says=("Over all sizes, neighborhoods are largely kept", "Over all sizes, neighborhoods are largely lost"),
    grades=(0.45, 0.55),
    goals=("neighbors", "distances"),
    level="point",
    direction="higher",
    bounds=(-1.0, 1.0),
    contributions=_limits,
    chance=0.0,
    default=4,
    area_of="r_nx",
    ties=over_ties(lambda found: found.areas),
    without=lambda view: coranking_without(view).areas,
    reference="@lee2015 (mean of R_NX with weights 1/K).",
)
def r_nx_auc(view: View) -> tuple[FloatArray, Notes]:
    r"""Mean of R_NX(K) over all K with weights 1/K: the area under the curve with K on a log scale.

    .. math:: \mathrm{AUC} = \sum_{K=1}^{n-2} \frac{R_{NX}(K)}{K} \Big/ \sum_{K=1}^{n-2} \frac{1}{K}.

    The contribution of a point is the same area for its own common neighbors. No K has to be chosen; a perfect copy has
    1. Seen from anchors among more than 50,000 points it is an estimate without bias: of each anchor the 64 nearest
    points in both spaces and 64 drawn ones, with their exact ranks among all points; the interval covers the draw.

    See Also
    --------
    r_nx : the curve.
    q_local, q_global : other summaries over K.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> round(dreval.r_nx_auc(X, X), 12)
    1.0
    >>> round(dreval.r_nx_auc(X, X[:, :2]), 3)
    0.414
    """
    found = coranking(view)
    return found.areas, found.notes if view.streamed else ()
