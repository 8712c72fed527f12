"""Distance correlation of data and embedding."""

from __future__ import annotations

import math

import numpy as np

from dreval.geometry.blocks import View
from dreval.geometry.pairs import Estimate, Pairs, estimate_by_points
from dreval.measures._measure import FloatArray, measure
from dreval.records.notes import ASSUMPTION, Notes, define

SOME = 2000  # points among which all pairs are used where there are too many


CONSTANT = define("distance_correlation.constant", ASSUMPTION, "the embedding is constant: counted as 0")


@measure(
    symbol="dCor",
    title="Distance correlation",
    question="Does the embedding depend on the data at all, in any form?",
    says=("The embedding depends strongly on the data", "The embedding depends weakly on the data"),
    goals=("distances",),
    level="pair",
    needs=("pairs",),
    direction="higher",
    bounds=(0.0, 1.0),
    chance="permutation",
    invariances=frozenset({"translation", "rotation", "scale"}),
    cost=(
        "O(n^2 (p + d)) time and O(n^2) memory up to n = 5000 (260 MB there); beyond, all pairs of 2000\nrandom points."
    ),
    operations=lambda s: 16 * s.pairs,
    reference="@szekely2007, Definitions 4 and 5.",
)
def distance_correlation(view: View) -> Estimate:
    r"""Distance correlation of data and embedding, from doubly centered distances (V-statistic).

    .. math:: \mathrm{dCor} = \sqrt{\frac{\mathrm{dCov}^2(X, Y)}{\sqrt{\mathrm{dCov}^2(X, X)\, \mathrm{dCov}^2(Y, Y)}}},
              \qquad \mathrm{dCov}^2(X, Y) = \frac{1}{n^2} \sum_{i, j} A_{ij} B_{ij},

    with :math:`A_{ij} = x_{ij} - \bar x_{i\cdot} - \bar x_{\cdot j} + \bar x_{\cdot\cdot}`, and B likewise from the
    distances in the embedding. The V-statistic is biased upward, by about O(1/n) in dCor^2, so an unrelated embedding
    does not have 0: compare with the chance level. A constant embedding has the value 0. With anchors the three terms
    of dCov^2 are estimated by means over the anchors; beyond 5000 points 2000 random points are used.

    See Also
    --------
    dcov_test : the test of independence.
    pearson_distance : the correlation of the distances themselves.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> round(dreval.distance_correlation(X, X), 12)
    1.0
    >>> dreval.distance_correlation(X, np.zeros((200, 2)))
    0.0
    """
    return estimate_by_points(view, _correlation, SOME)


def _correlation(pairs: Pairs) -> tuple[float, Notes]:
    """The measure from the three sums of products, whose common factor cancels."""
    aa, bb, ab = _from_anchors(pairs) if pairs.ordered else _centered(pairs)
    if aa <= 0 or bb <= 0 or (pairs.embedding.flat and pairs.y[0] == 0):
        return 0.0, (CONSTANT(),)
    return math.sqrt(min(max(ab, 0.0) / math.sqrt(aa) / math.sqrt(bb), 1.0)), ()


def _centered(pairs: Pairs) -> tuple[float, float, float]:
    """Sums over A^2, B^2 and A B; both row means and the sums run over all n places, the diagonal included."""
    from dreval.geometry._loops import pairs as loops

    n, places = len(pairs.points), _places(pairs.points)
    mean_x, mean_y = (loops.point_sums(z, pairs.first, pairs.second, places, n, False) / n for z in (pairs.x, pairs.y))
    arrays = (pairs.x, pairs.y, pairs.first, pairs.second)
    return loops.centered_products(*arrays, places, mean_x, mean_y, mean_x.mean(), mean_y.mean())


def _from_anchors(pairs: Pairs) -> tuple[float, float, float]:
    """dCov^2 = mean x_ij y_ij - 2 mean x_i. y_i. + x_.. y_.., with means over the anchors i and all points j."""
    from dreval.geometry._loops import pairs as loops

    places = _places(pairs.rows)
    m, share = len(pairs.rows), (len(pairs.points) - 1) / len(pairs.points)  # the distance to itself is 0

    def row_means(z: FloatArray) -> FloatArray:
        return share * loops.point_sums(z, pairs.first, pairs.second, places, m, True) / seen

    seen = loops.point_sums(np.ones(len(pairs.x)), pairs.first, pairs.second, places, m, True)
    a, b = row_means(pairs.x), row_means(pairs.y)

    def covariance(u: FloatArray, v: FloatArray, z: FloatArray, w: FloatArray) -> float:
        products = float(loops.products(z, w, 0.0, 0.0)[2]) / len(z) * share
        return products - 2 * float(np.mean(u * v)) + float(u.mean() * v.mean())

    x, y = pairs.x, pairs.y
    return covariance(a, a, x, x), covariance(b, b, y, y), covariance(a, b, x, y)


def _places(points: np.ndarray) -> np.ndarray:
    """Place of each point among those given, by its position among all."""
    places = np.zeros(int(points[-1]) + 1, np.int64)
    places[points] = np.arange(len(points))
    return places
