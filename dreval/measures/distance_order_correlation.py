"""Correlation of a point's embedding distances, in the order of the data, with themselves in ascending order."""

from __future__ import annotations

import math

import numpy as np

from dreval._check import check_float
from dreval._parallel import run_blocks
from dreval.errors import UndefinedMeasure
from dreval.geometry.blocks import View
from dreval.geometry.distances import Space
from dreval.geometry.ranks import rows_with_ties
from dreval.measures._classes import row_blocks
from dreval.measures._measure import FloatArray, measure

EQUAL = 1e-12  # spread of distances over the largest of them that is rounding
SELF = -1.0  # the squared distance of a point to itself, so that it comes first


@measure(
    symbol="rho_o",
    title="Correlation of ordered distances",
    question="Do a point's distances in the embedding grow in the order of its neighbors in the data?",
    says=("Near points in the data are near in the embedding, in this order", "The order of near points is lost"),
    goals=("neighbors", "distances"),
    level="point",
    needs=("neighbors", "coordinates"),
    direction="higher",
    bounds=(-1.0, 1.0),
    chance="permutation",
    quadratic=True,
    invariances=frozenset({"translation", "rotation", "scale"}),
    cost="O(n^2 (p + d + log n)) time; O(n) memory beside one block of rows.",
    operations=lambda s, **_: s.m * s.n * (200 + 2 * s.p),
    reference="@xia2024 (scDEED's reliability score).",
)
def distance_order_correlation(view: View, share: float = 0.5) -> FloatArray:
    r"""Mean over points of the correlation of embedding distances in the order of the data with their own order.

    With :math:`e_{i1}, \dots, e_{im}` the distances in the embedding from point i to its nearest points in the data,
    nearest first, and :math:`e_{i(1)} \le \dots \le e_{i(m)}` its m smallest distances in the embedding,

    .. math:: \rho_i = \mathrm{corr}_l(e_{il}, e_{i(l)}), \qquad m = \lfloor s n \rfloor,

    with s = ``share``, and m at most n - 1. Pearson's correlation; 0 where distances are equal.

    See Also
    --------
    noise_test : with ``statistic="distance_order_correlation"`` the question of scDEED, with a p-value.
    spearman_distance : the correlation of all distances.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> round(dreval.distance_order_correlation(X, X), 12)
    1.0
    """
    check_float(share, "share", above=0.0, high=1.0)
    if view.streamed:
        rule, cure = (
            "must be all points, or of at most 50,000, for distance_order_correlation",
            "Use a subset of points.",
        )
        raise UndefinedMeasure("anchors", rule, f"{len(view.rows)} of {view.n} points", cure)
    data, embedding = view.data_space(view.population), Space.of(view.Y[view.population])
    at = view.within(view.rows)
    n, found = view.n, np.zeros(len(view.rows))
    m = min(n - 1, max(2, math.floor(share * n)))

    def one(part: slice) -> None:
        rows = at[part]
        own = rows[:, None] == np.arange(n)
        order = np.argsort(rows_with_ties(data, rows, own, SELF)[0], axis=1, kind="stable")[:, 1 : m + 1]
        E = np.sqrt(np.maximum(embedding.direct_block(rows), 0.0))
        by_data = np.take_along_axis(E, order, axis=1)
        E[own] = SELF
        by_embedding = np.sort(E, axis=1)[:, 1 : m + 1]
        parts = []
        for D in (by_data, by_embedding):
            largest = D.max(axis=1, keepdims=True)  # so that no square overflows or vanishes
            D = np.divide(D, largest, out=np.zeros_like(D), where=largest > 0)
            parts.append(D - D.mean(axis=1, keepdims=True))
        (a, b), spread = parts, [np.sqrt((centered * centered).sum(axis=1)) for centered in parts]
        apart = (spread[0] > EQUAL * math.sqrt(m)) & (spread[1] > EQUAL * math.sqrt(m))
        np.divide((a * b).sum(axis=1), spread[0] * spread[1], out=found[part], where=apart)

    run_blocks(one, row_blocks(len(at), n), view.n_jobs)
    return np.clip(found, -1.0, 1.0)
