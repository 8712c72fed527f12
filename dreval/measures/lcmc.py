"""The local continuity meta-criterion at every K."""

from __future__ import annotations

from dreval.geometry.blocks import View
from dreval.geometry.coranking import Coranking, coranking, coranking_without, row_curves
from dreval.measures._measure import FloatArray, measure
from dreval.measures._ranks import CURVE, over_ties
from dreval.records.notes import Notes


def _ceiling(n: int, k: int) -> float:
    return 1.0 - k / (n - 1)


@measure(
    **CURVE,
    symbol="LCMC",
    title="Local continuity meta-criterion at every K",
    question="How many more of the K nearest neighbors are shared than expected at random, for every K?",
    goals=("neighbors",),
    direction="higher",
    bounds=(-1.0, 1.0),
    chance=0.0,
    ties=over_ties(Coranking.lcmc),
    without=lambda view, ks: coranking_without(view, ks).lcmc(),
    ceiling=_ceiling,
    by_row=lambda view, ks: row_curves(view, ks).lcmc(),
    reference="@chen2009. @lee2009 (as a sum of the co-ranking matrix).",
)
def lcmc(view: View) -> tuple[FloatArray, Notes]:
    r"""Share of common neighbors minus its chance level, for K = 1, ..., n - 1.

    .. math:: \mathrm{LCMC}(K) = Q_{NX}(K) - \frac{K}{n - 1}.

    A perfect copy has :math:`1 - K / (n - 1)`. The K with the largest value separates local from global scales, see
    ``k_max``.

    See Also
    --------
    q_nx : the share itself.
    r_nx : rescaled, so that a perfect copy has 1 at every K.
    k_max : the K with the largest value.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> curve = dreval.lcmc(X, X[:, :2])
    >>> int(curve.idxmax()) == dreval.k_max(X, X[:, :2])
    True
    """
    found = coranking(view)
    return found.lcmc(), found.notes
