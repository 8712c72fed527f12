"""Q_NX(K), the share of common neighbors at every K."""

from __future__ import annotations

from dreval.geometry.blocks import View
from dreval.geometry.coranking import Coranking, coranking, coranking_without, row_curves
from dreval.measures._measure import FloatArray, measure
from dreval.measures._ranks import CURVE, over_ties
from dreval.records.notes import Notes


def _chance(n: int, k: int) -> float:
    return k / (n - 1)


@measure(
    **CURVE,
    symbol="Q_NX",
    title="Shared neighbors at every K",
    question="What share of the K nearest neighbors do data and embedding have in common, for every K?",
    goals=("neighbors",),
    direction="higher",
    bounds=(0.0, 1.0),
    chance=_chance,
    chance_formula=":math:`K / (n - 1)`",
    ties=over_ties(Coranking.q_nx),
    without=lambda view, ks: coranking_without(view, ks).q_nx,
    by_row=lambda view, ks: row_curves(view, ks).q_nx,
    reference="@lee2009.",
)
def q_nx(view: View) -> tuple[FloatArray, Notes]:
    r"""Share of the K nearest neighbors that data and embedding have in common, for K = 1, ..., n - 1.

    .. math:: Q_{NX}(K) = \frac{1}{n K} \#\{(i, j): r_{ij} \le K, s_{ij} \le K\},

    with :math:`r_{ij}` and :math:`s_{ij}` the ranks of j from i (the nearest has rank 1) in the data and in the
    embedding: the sum of the co-ranking matrix over its first K rows and columns. At a single K this is
    ``neighborhood_overlap``, which also has the contribution of every point.

    See Also
    --------
    lcmc : the same minus its chance level.
    r_nx : the same rescaled to 0 at chance level and 1 for a perfect copy.
    neighborhood_overlap : the same at one K.
    q_local, q_global : its means over small and large K.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> curve = dreval.q_nx(X, X[:, :2])
    >>> curve.loc[[5, 10, 199]].round(3)
    K
    5      0.337
    10     0.428
    199    1.000
    Name: q_nx, dtype: float64
    """
    found = coranking(view)
    return found.q_nx(), found.notes
