"""B_NX(K), whether an embedding is intrusive or extrusive at every K."""

from __future__ import annotations

from dreval.geometry.blocks import View
from dreval.geometry.coranking import coranking
from dreval.measures._measure import FloatArray, measure
from dreval.measures._ranks import CURVE


@measure(
    **CURVE,
    symbol="B_NX",
    title="Intrusive or extrusive at every K",
    question="Does the embedding crush (positive) or tear (negative) neighborhoods of K points, for every K?",
    direction="zero",
    bounds=(-1.0, 1.0),
    chance=0.0,
    reference=(
        "Lee & Verleysen (2009), Quality assessment of dimensionality reduction: rank-based criteria,\n"
        "Neurocomputing 72."
        "\nThe sign is that of the authors' program nx_trusion.m: positive is intrusive, negative extrusive."
    ),
)
def b_nx(view: View) -> tuple[FloatArray, str]:
    """Whether neighborhoods are crushed (intrusive, positive) or torn (extrusive, negative), for K = 1, ..., n - 1.

    B_NX(K) = (1 / (n K)) (#{(i, j): r_ij < s_ij <= K} - #{(i, j): s_ij < r_ij <= K}), with r_ij and s_ij the ranks of
    j from i in the data and in the embedding. Points that intrude into a neighborhood push the neighbors that stay in
    it outwards, to larger ranks: an embedding that crushes has more of the first, one that tears more of the second.

    Equal distances are ordered by index. No bounds over their orders are offered: the value nearest to 0 depends on the
    orders of all rows at once.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> curve = dreval.b_nx(X, X[:, :2])
    >>> bool(curve[20] > 0)
    True
    """
    found = coranking(view)
    return found.b_nx(), found.note()
