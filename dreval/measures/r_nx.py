"""R_NX(K), agreement of neighborhoods beyond chance at every K."""

from __future__ import annotations

from dreval.geometry.blocks import View
from dreval.geometry.coranking import Coranking, coranking, coranking_without, row_curves
from dreval.measures._measure import FloatArray, measure
from dreval.measures._ranks import CURVE, over_ties
from dreval.records.notes import Notes


@measure(
    **CURVE,
    symbol="R_NX",
    title="Shared neighbors beyond chance at every K",
    question="How far is the embedding from chance level (0) toward a perfect copy (1), for every K?",
    goals=("neighbors",),
    direction="higher",
    bounds=(-1.0, 1.0),
    chance=0.0,
    ties=over_ties(Coranking.r_nx),
    without=lambda view, ks: coranking_without(view, ks).r_nx(),
    by_row=lambda view, ks: row_curves(view, ks).r_nx(),
    reference="@lee2013divergences.",
)
def r_nx(view: View) -> tuple[FloatArray, Notes]:
    r"""Share of common neighbors rescaled to 0 at chance level and 1 for a perfect copy, for K = 1, ..., n - 2.

    .. math:: R_{NX}(K) = \frac{(n - 1) Q_{NX}(K) - K}{n - 1 - K}.

    It is negative, at worst -1, where fewer neighbors are shared than expected for an unrelated embedding.

    See Also
    --------
    q_nx : the share itself.
    lcmc : the share minus its chance level.
    r_nx_auc : the area under this curve.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> curve = dreval.r_nx(X, X[:, :2])
    >>> curve.loc[[5, 10, 198]].round(3)
    K
    5      0.320
    10     0.398
    198    0.754
    Name: r_nx, dtype: float64
    """
    found = coranking(view)
    return found.r_nx(), found.notes
