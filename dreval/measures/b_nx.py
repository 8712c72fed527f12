"""B_NX(K), whether an embedding is intrusive or extrusive at every K."""

from __future__ import annotations

from dreval.geometry.blocks import View
from dreval.geometry.coranking import coranking, row_curves
from dreval.measures._measure import FloatArray, measure
from dreval.measures._ranks import CURVE
from dreval.records.notes import Notes


@measure(
    **CURVE,
    symbol="B_NX",
    title="Intrusive or extrusive at every K",
    question="Does the embedding compress (positive) or tear (negative) neighborhoods of K points, for every K?",
    goals=("neighbors",),
    direction="zero",
    bounds=(-1.0, 1.0),
    chance=0.0,
    by_row=lambda view, ks: row_curves(view, ks).b_nx,
    reference=(
        "@lee2009. The sign is that of the authors' program nx_trusion.m: positive is intrusive, negative extrusive."
    ),
)
def b_nx(view: View) -> tuple[FloatArray, Notes]:
    r"""Whether neighborhoods are compressed (positive) or torn (negative), for K = 1, ..., n - 1.

    .. math:: B_{NX}(K) = \frac{1}{n K} \left(\#\{(i, j): r_{ij} < s_{ij} \le K\}
              - \#\{(i, j): s_{ij} < r_{ij} \le K\}\right),

    with :math:`r_{ij}` and :math:`s_{ij}` the ranks of j from i (the nearest has rank 1) in the data and in the
    embedding. Points that intrude into a neighborhood push the neighbors that stay in it to larger ranks, so an
    embedding that compresses has more pairs of the first kind, and one that tears has more of the second.

    Worst and best values over ties are not available: the value nearest to 0 depends on the tie breaking of all rows
    jointly.

    See Also
    --------
    q_nx : the share of common neighbors at every K.
    trustworthiness, continuity : points that enter a neighborhood, and points that leave it, at one K.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> curve = dreval.b_nx(X, X[:, :2])
    >>> bool(curve[20] > 0)
    True
    """
    found = coranking(view)
    return found.b_nx(), found.notes
