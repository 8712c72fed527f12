"""Measure how well distances between points are preserved, as numbers, as an order, or as a distribution."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from dreval._check import DEFAULT_NEIGHBORS, check_float, check_int
from dreval._parallel import run_blocks
from dreval.errors import UndefinedMeasure
from dreval.geometry.blocks import View, sample_points
from dreval.geometry.graphs import spanning_tree
from dreval.geometry.pairs import (
    Estimate,
    Pairs,
    correlation,
    correlation_chance,
    estimate,
    estimate_by_points,
    left_out_anchors,
    pairs_of,
    spearman,
    triplets,
)
from dreval.geometry.ranks import (
    cancels,
    pair_counts_without,
    point_sums,
    recomputed_without,
    rows_with_ties,
    spearman_without,
    without_row,
)
from dreval.measures.classes import row_blocks
from dreval.measures.core import FloatArray, measure
from dreval.records.notes import Notes, note

MAX_POINTS_OF_ALL_PAIRS = 2000  # points among which all pairs are used where there are too many


@measure(
    symbol="dCor",
    title="Distance correlation",
    question="Does the embedding depend on the data at all, in any form?",
    warning="The embedding depends weakly on the data",
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
    reference="@szekely2007, Definitions 4 and 5.",
)
def distance_correlation(view: View) -> Estimate:
    r"""Compute the distance correlation of data and embedding, from doubly centered distances (V-statistic).

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
    return estimate_by_points(view, _correlation, MAX_POINTS_OF_ALL_PAIRS)


def _correlation(pairs: Pairs) -> tuple[float, Notes]:
    """Compute the measure from the three sums of products, whose common factor cancels."""
    aa, bb, ab = _correlation_from_anchors(pairs) if pairs.ordered else _double_centered(pairs)
    if aa <= 0 or bb <= 0 or (pairs.embedding.flat and pairs.y[0] == 0):
        return 0.0, (note("distance_correlation.constant"),)
    return math.sqrt(min(max(ab, 0.0) / math.sqrt(aa) / math.sqrt(bb), 1.0)), ()


def _double_centered(pairs: Pairs) -> tuple[float, float, float]:
    """Return sums over A^2, B^2 and A B; row means and sums run over all n places, the diagonal included."""
    from dreval.geometry._loops import pairs as loops

    n, places = len(pairs.points), _anchor_places(pairs.points)
    mean_x, mean_y = (loops.point_sums(z, pairs.first, pairs.second, places, n, False) / n for z in (pairs.x, pairs.y))
    arrays = (pairs.x, pairs.y, pairs.first, pairs.second)
    return loops.centered_products(*arrays, places, mean_x, mean_y, mean_x.mean(), mean_y.mean())


def _correlation_from_anchors(pairs: Pairs) -> tuple[float, float, float]:
    """Return dCov^2 = mean x_ij y_ij - 2 mean x_i. y_i. + x_.. y_.., with means over the anchors i and all points j."""
    from dreval.geometry._loops import pairs as loops

    places = _anchor_places(pairs.rows)
    m, share = len(pairs.rows), (len(pairs.points) - 1) / len(pairs.points)  # the distance to itself is 0

    def row_means(z: FloatArray) -> FloatArray:
        return share * loops.point_sums(z, pairs.first, pairs.second, places, m, True) / counts

    counts = loops.point_sums(np.ones(len(pairs.x)), pairs.first, pairs.second, places, m, True)
    a, b = row_means(pairs.x), row_means(pairs.y)

    def covariance(u: FloatArray, v: FloatArray, z: FloatArray, w: FloatArray) -> float:
        products = float(loops.products(z, w, 0.0, 0.0)[2]) / len(z) * share
        return products - 2 * float(np.mean(u * v)) + float(u.mean() * v.mean())

    x, y = pairs.x, pairs.y
    return covariance(a, a, x, x), covariance(b, b, y, y), covariance(a, b, x, y)


def _anchor_places(points: np.ndarray) -> np.ndarray:
    """Return the place of each point among ``points``, by its position among all."""
    places = np.zeros(int(points[-1]) + 1, np.int64)
    places[points] = np.arange(len(points))
    return places


EQUAL_SPREAD = 1e-12  # spread of distances over the largest of them that is rounding
SELF_PAIRS = -1.0  # the squared distance of a point to itself, so that it comes first


@measure(
    symbol="rho_o",
    title="Correlation of ordered distances",
    question="Do a point's distances in the embedding grow in the order of its neighbors in the data?",
    warning="The order of near points is lost",
    goals=("neighbors", "distances"),
    level="point",
    needs=("neighbors", "coordinates"),
    direction="higher",
    bounds=(-1.0, 1.0),
    chance="permutation",
    quadratic=True,
    invariances=frozenset({"translation", "rotation", "scale"}),
    cost="O(n^2 (p + d + log n)) time; O(n) memory plus one block of rows.",
    reference="@xia2024 (scDEED's reliability score).",
)
def distance_order_correlation(view: View, share: float = 0.5) -> FloatArray:
    r"""Correlate embedding distances in the order of the data with their own order; mean over points.

    With :math:`e_{i1}, \dots, e_{im}` the distances in the embedding from point i to its nearest points in the data,
    nearest first, and :math:`e_{i(1)} \le \dots \le e_{i(m)}` its m smallest distances in the embedding,

    .. math:: \rho_i = \mathrm{corr}_l(e_{il}, e_{i(l)}), \qquad m = \lfloor s n \rfloor,

    with s = ``share``, and m at most n - 1. Pearson's correlation; 0 where distances are equal.

    See Also
    --------
    noise_test : with ``measure="distance_order_correlation"`` the question of scDEED, with a p-value.
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
        requirement = "must be all points, or of at most 50,000, for distance_order_correlation"
        received = f"{len(view.rows)} of {view.n} points"
        raise UndefinedMeasure("anchors", requirement, received, "Use a subset of points.")
    data, embedding = view.data_space(view.population), view.embedding_space(view.population)
    at = view.within(view.rows)
    n, correlations = view.n, np.zeros(len(view.rows))
    m = min(n - 1, max(2, math.floor(share * n)))

    def fill_correlations(part: slice) -> None:
        rows = at[part]
        itself = rows[:, None] == np.arange(n)
        order = np.argsort(rows_with_ties(data, rows, itself, SELF_PAIRS)[0], axis=1, kind="stable")[:, 1 : m + 1]
        E = np.sqrt(np.maximum(embedding.direct_block(rows), 0.0))
        by_data = np.take_along_axis(E, order, axis=1)
        E[itself] = SELF_PAIRS
        by_embedding = np.sort(E, axis=1)[:, 1 : m + 1]
        parts = []
        for D in (by_data, by_embedding):
            largest = D.max(axis=1, keepdims=True)  # so that no square overflows or vanishes
            D = np.divide(D, largest, out=np.zeros_like(D), where=largest > 0)
            parts.append(D - D.mean(axis=1, keepdims=True))
        (a, b), spread = parts, [np.sqrt((centered * centered).sum(axis=1)) for centered in parts]
        apart = (spread[0] > EQUAL_SPREAD * math.sqrt(m)) & (spread[1] > EQUAL_SPREAD * math.sqrt(m))
        np.divide((a * b).sum(axis=1), spread[0] * spread[1], out=correlations[part], where=apart)

    run_blocks(fill_correlations, row_blocks(len(at), n), view.n_jobs)
    return np.clip(correlations, -1.0, 1.0)


HELD_SHARES = (0.8, 0.9)


@measure(
    symbol="R(d)",
    title="Energy ratio of the data",
    question="How much of the variance of the data can a linear embedding of this dimension hold?",
    goals=("distances", "reconstruction"),
    level="global",
    needs=("coordinates", "features"),
    direction="higher",
    bounds=(0.0, 1.0),
    chance=None,
    invariances=frozenset({"translation", "rotation", "scale"}),
    cost="O(n p min(n, p)) time, O(n p + min(n, p)^2) memory.",
    exponent=1.0,
    reference="@szabo2019, energy preserved using d components; @jolliffe2002, Section 6.1.1.",
)
def energy_ratio(view: View) -> tuple[float, Notes]:
    r"""Return the share of the variance of the data in their first d principal components, for d embedding columns.

    .. math:: R(d) = \frac{\sum_{i \le d} \lambda_i}{\sum_i \lambda_i},

    with :math:`\lambda_1 \ge \lambda_2 \ge \dots` the eigenvalues of the covariance of the unscaled data. It is a
    property of the data and of the number d alone, a reference value for linear embeddings. The note in a table of
    results holds the smallest numbers of dimensions with R >= 0.8 and R >= 0.9. Scale the data first where their
    columns have different units.

    See Also
    --------
    procrustes_lower_bound : the same within neighborhoods.
    reconstruction_error : how much of the data the embedding itself determines.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.array([[3.0, 0, 0], [-3, 0, 0], [0, 2, 0], [0, -2, 0], [0, 0, 1], [0, 0, -1]])
    >>> [round(dreval.energy_ratio(X, X[:, :d]), 4) for d in (1, 2, 3)]
    [0.6429, 0.9286, 1.0]
    """
    X = view.features()
    scaled = X / (np.abs(X).max() or 1.0)
    centered = scaled - scaled.mean(axis=0)
    spread = float(np.abs(centered).max())
    if spread == 0.0 or bool((X == X[0]).all()):
        raise UndefinedMeasure("X", "must vary", f"{len(X)} rows that are all equal", "Check how the data were read.")
    centered /= spread
    is_wide = X.shape[1] > len(X)
    eigenvalues = np.linalg.eigvalsh(centered @ centered.T if is_wide else centered.T @ centered)
    total = np.cumsum(np.maximum(eigenvalues[::-1], 0.0))
    ratio = total / total[-1]  # ends in exactly 1
    value = float(ratio[min(view.Y.shape[1], len(ratio)) - 1])
    low, high = (int(np.searchsorted(ratio, share * (1.0 - 1e-12))) + 1 for share in HELD_SHARES)
    return value, (note("energy_ratio.held", low=low, high=high),)


CORRELATION: dict[str, Any] = {  # of the distances of all pairs
    "goals": ("distances", "arrangement"),
    "level": "pair",
    "needs": ("pairs",),
    "direction": "higher",
    "bounds": (-1.0, 1.0),
    "chance": 0.0,
    "chance_formula": "0; 1 where all distances are equal in both spaces",
    "expected": correlation_chance,
}


@measure(
    **CORRELATION,
    symbol="tau_D",
    title="Kendall correlation of distances",
    question="Of two pairs of points, is the pair that is farther apart in the data farther apart in the embedding?",
    warning="Do not read distances between clusters",
    warns_first=True,
    invariances=frozenset({"translation", "rotation", "scale", "monotone"}),
    cost=(
        "O(n^2 (p + d + log n)) time and O(n^2) memory up to n = 5000 (410 MB there); beyond, 2,000,000 random pairs."
    ),
    reference="@kendall1945. @knight1966 (algorithm).",
)
def kendall_distance(view: View) -> Estimate:
    r"""Compute Kendall's tau-b of the n(n-1)/2 distances in the data with those in the embedding.

    .. math:: \tau_b = \frac{C - D}{\sqrt{(N_0 - N_x)(N_0 - N_y)}}

    over the :math:`N_0` pairs of distances, C of them in the same and D in the opposite order, :math:`N_x` tied in the
    data and :math:`N_y` tied in the embedding. Computed exactly in O(N log N) for N distances. Where all distances of
    one space are equal the value is 0, where those of both are it is 1. Pairs share points, so the textbook standard
    error and p-value of a correlation do not hold.

    See Also
    --------
    spearman_distance : another correlation of the order.
    pearson_distance : the linear correlation.
    triplet_accuracy : the same question for pairs that share a point.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.arange(4.0)
    >>> round(dreval.kendall_distance(X, X), 12)
    1.0
    >>> dreval.kendall_distance([0.0, 1, 3, 7], [0.0, 7, 1, 3]) < 0
    True
    """
    return estimate(view, _tau_b)


def _tau_b(pairs: Pairs) -> tuple[float, Notes]:
    """Divide concordant less discordant pairs by the geometric mean of the numbers untied in each space."""
    from dreval.geometry._loops.pairs import kendall_counts

    order, total = pairs.order(), len(pairs)
    x, y = (side.ranks[order] for side in (pairs.data, pairs.embedding))
    count, tied_x, tied_y, tied_both, discordant = kendall_counts(x, (y + total) >> 1, total)
    return correlation(pairs, count - tied_x, count - tied_y, count - tied_x - tied_y + tied_both - 2 * discordant)


KS_TOLERANCE = 1e-10  # division by the mean rounds; equal distances must stay equal
DISTRIBUTION: dict[str, Any] = {  # of the distances of all pairs, over their mean
    "goals": ("distances",),
    "level": "pair",
    "needs": ("pairs",),
    "direction": "lower",
    "chance": None,
    "invariances": frozenset({"translation", "rotation", "scale"}),
    "cost": (
        "O(n^2 (p + d + log n)) time and O(n^2) memory up to n = 5000 (310 MB there); beyond, 2,000,000 random pairs."
    ),
}


@measure(
    **DISTRIBUTION,
    symbol="D_KS",
    title="Kolmogorov-Smirnov distance",
    question="Do distances in the embedding have the same distribution as in the data, up to the unit?",
    bounds=(0.0, 1.0),
    reference="none: the two-sample Kolmogorov-Smirnov statistic of distances over their means. @smirnov1939.",
)
def ks_distance(view: View) -> Estimate:
    r"""Compute the largest difference of the distribution functions of the distances in data and embedding.

    .. math:: D_{KS} = \sup_t |F_x(t) - F_y(t)|,

    with :math:`F_x` and :math:`F_y` the distribution functions of the n(n-1)/2 distances in each space, divided by
    their mean, so that the unit does not matter. Distances within a relative 1e-10 are equal. The value does not depend
    on which pair has which distance: permuting the rows of the embedding does not change it.

    See Also
    --------
    wasserstein_distance : the mean difference of the two distributions.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> dreval.ks_distance(X, 2 * X)
    0.0
    >>> dreval.ks_distance(X, np.zeros((200, 2)))
    1.0
    """
    return estimate(view, _largest_gap)


def _largest_gap(pairs: Pairs) -> tuple[float, Notes]:
    """Sort both samples, divide them by their means (a mean of 0 stays), and compare them."""
    from dreval.geometry._loops.pairs import largest_gap

    x, y = (side.sorted_by_mean() for side in (pairs.data, pairs.embedding))
    return float(largest_gap(x, y, KS_TOLERANCE)), ()


def _pearson_distance_without(view: View) -> FloatArray:
    """Compute the correlations without each point from sums around the means of all pairs."""
    from dreval.geometry._loops.pair_groups import point_products

    table, count = pairs_of(view), pair_counts_without(view)
    total, sums_without = point_sums(view, point_products, 5, table.x.mean(), table.y.mean())
    u, v, uu, vv, uv = sums_without.T
    xx, yy, xy = uu - u * u / count, vv - v * v / count, uv - u * v / count
    flat = table.data.flat, table.embedding.flat
    doubtful = (cancels(total[2], xx) & (not flat[0])) | (cancels(total[3], yy) & (not flat[1]))
    if any(flat):
        values = np.full(view.n, _pearson(table)[0])
    else:
        size = np.sqrt(np.maximum(xx, 0.0)) * np.sqrt(np.maximum(yy, 0.0))
        values = np.clip(np.divide(xy, size, out=np.zeros(view.n), where=size > 0), -1.0, 1.0)
    return recomputed_without(view, _pearson, doubtful, values)


@measure(
    **CORRELATION,
    symbol="r_D",
    title="Pearson correlation of distances",
    question="Are distances in the embedding a linear function of those in the data?",
    warning="Do not read distances between clusters",
    warns_first=True,
    invariances=frozenset({"translation", "rotation", "scale"}),
    without=_pearson_distance_without,
    cost=("O(n^2 (p + d)) time and O(n^2) memory up to n = 5000 (210 MB there); beyond, 2,000,000 random pairs."),
    reference="@geng2005; @mantel1967.",
)
def pearson_distance(view: View) -> Estimate:
    r"""Compute the Pearson correlation of the n(n-1)/2 distances in the data with those in the embedding.

    .. math:: r_D = \frac{\sum_{i<j} (x_{ij} - \bar x)(y_{ij} - \bar y)}
              {\sqrt{\sum_{i<j} (x_{ij} - \bar x)^2 \sum_{i<j} (y_{ij} - \bar y)^2}},

    with :math:`x_{ij}` and :math:`y_{ij}` the distances in the data and in the embedding. It is Mantel's statistic.
    Where all distances of one space are equal the value is 0, where those of both are it is 1. Pairs share points, so
    the textbook standard error and p-value of a correlation do not hold.

    See Also
    --------
    spearman_distance, kendall_distance : correlations of the order of the distances.
    stress_scale_normalized : the error at the best scale.
    distance_correlation : sees dependence of any form.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> round(dreval.pearson_distance(X, 2 * X), 12)
    1.0
    >>> dreval.pearson_distance(X, np.zeros((200, 2)))
    0.0
    """
    return estimate(view, _pearson)


def _pearson(pairs: Pairs) -> tuple[float, Notes]:
    """Compute the correlation from sums around the means."""
    from dreval.geometry._loops.pairs import products

    return correlation(pairs, *products(pairs.x, pairs.y, pairs.x.mean(), pairs.y.mean()))


def _sammon_stress_without(view: View) -> FloatArray:
    from dreval.geometry._loops.pair_groups import point_sammon

    total, sums_without = point_sums(view, point_sammon, 2)
    top, bottom = np.maximum(sums_without, 0.0).T
    values = np.divide(top, bottom, out=np.zeros(view.n), where=bottom > 0)
    return recomputed_without(view, _sammon_weighted, cancels(total[0], top) | cancels(total[1], bottom), values)


@measure(
    symbol="E",
    title="Sammon stress",
    question="How far are the distances in the embedding from those in the data, near pairs weighing most?",
    warning="Distances are far from those in the data",
    goals=("distances",),
    level="pair",
    needs=("pairs",),
    direction="lower",
    bounds=(0.0, math.inf),
    chance="permutation",
    invariances=frozenset({"translation", "rotation"}),
    without=_sammon_stress_without,
    cost=("O(n^2 (p + d)) time and O(n^2) memory up to n = 5000 (210 MB there); beyond, 2,000,000 random pairs."),
    reference="@sammon1969, Eq. 1.",
)
def sammon_stress(view: View) -> Estimate:
    r"""Sum the squared errors of the distances, each divided by the distance in the data.

    .. math:: E = \frac{1}{\sum x_{ij}} \sum \frac{(x_{ij} - y_{ij})^2}{x_{ij}}

    over the pairs i < j with :math:`x_{ij} > 0`. Pairs of equal points in the data, whose weight 1/0 is undefined, are
    left out and counted in the note. E depends on the unit of the embedding. A constant embedding has 1, and worse
    embeddings exist.

    See Also
    --------
    stress : all pairs weigh alike.
    stress_scale_normalized : independent of the unit of the embedding.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> dreval.sammon_stress(X, X)
    0.0
    >>> round(dreval.sammon_stress(X, 0.9 * X), 12)
    0.01
    """
    return estimate(view, _sammon_weighted)


def _sammon_weighted(pairs: Pairs) -> tuple[float, Notes]:
    """Return the sum over pairs with x > 0, and note how many other pairs there are."""
    from dreval.geometry._loops.pairs import sammon_sums

    top, bottom, zeros = sammon_sums(pairs.x, pairs.y)
    notes = (note("sammon_stress.equal", count=zeros),) if zeros else ()
    return float(top / bottom) if bottom > 0 else 0.0, notes


MAX_TREE_POINTS = 5000  # of more points, the trees of so many random ones are compared


@measure(
    symbol="D_T",
    title="Distance of the spanning trees",
    question="Are the gaps between points and between clusters as unequal in the embedding as in the data?",
    goals=("distances",),
    level="global",
    needs=("pairs",),
    direction="lower",
    bounds=(0.0, 2.0),
    chance=None,
    invariances=frozenset({"translation", "rotation", "scale"}),
    cost="O(n^2 (p + d)) time, O(n) memory; beyond n = 5000 those of 5000 random points.",
    reference=(
        "@rieck2015, for the comparison of persistence diagrams; here those of dimension 0, with lengths over their "
        "means in place of data scaled beforehand, matched in order."
    ),
)
def spanning_tree_distance(view: View) -> Estimate:
    r"""Compare the sorted edge lengths of the minimum spanning trees, each over its mean length.

    .. math:: D_T = \frac{1}{n - 1} \sum_{t=1}^{n-1} |x_{(t)} - y_{(t)}|

    over the n - 1 edges in ascending order, divided by their mean in each space: 0.1 means that edges must be stretched
    or shortened by a tenth of the mean edge. The lengths are the heights at which single-linkage clustering merges
    clusters, and the deaths of the components in the persistent homology of dimension 0, so the sum is the Wasserstein
    distance of these diagrams. Tied distances do not matter: all minimum spanning trees have the same lengths.
    Duplicates have edges of length 0, and a constant embedding has 1.

    Only the lengths are compared. Which points an edge joins does not count: permuting the rows of the embedding does
    not change the value, and neither does swapping two clusters that have the same gap to a third.

    Most edges join neighbors. A long edge between two clusters is one of n - 1, so that a few large gaps move the value
    little; ``label_trustworthiness`` and ``class_angular_distortion`` compare known clusters.

    The interval of ``ci="points"`` is conservative: over 60 samples of 100 points, in three clusters or in one, its
    standard error was 1.3 times the standard deviation of the values.

    See Also
    --------
    wasserstein_distance : the same for the distances of all pairs.
    local_radius_correlation : compares dense and sparse regions point by point.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.array([[0.0], [1.0], [2.0], [10.0]])
    >>> dreval.spanning_tree_distance(X, 3 * X)
    0.0
    >>> dreval.spanning_tree_distance(X, np.arange(4.0))
    0.9333333333333332
    """
    chosen = sample_points(view, MAX_TREE_POINTS)
    value = _tree_difference(view, chosen)
    if len(view.Y) <= MAX_TREE_POINTS:
        return Estimate(value)

    def left_out() -> FloatArray:
        return left_out_anchors(replace(view, rows=chosen), value, lambda stay: _tree_difference(view, chosen[stay]))

    return Estimate(value, (note("points.some", drawn=len(chosen), total=view.n),), left_out, n_used=len(chosen))


def _tree_difference(view: View, points: np.ndarray) -> float:
    """Return the mean absolute difference for some points; lengths that are all 0 stay 0."""
    x, y = (np.sort(spanning_tree(space)[1]) for space in (view.data_space(points), view.embedding_space(points)))
    return float(np.abs(x / (x.mean() or 1.0) - y / (y.mean() or 1.0)).mean())


@measure(
    **CORRELATION,
    symbol="rho_D",
    title="Correlation of distances",
    term="Spearman, all pairs",
    noun="correlation",
    bar=True,
    question="Are pairs of points that are far apart in the data far apart in the embedding?",
    warning="Do not read distances between clusters",
    warns_first=True,
    invariances=frozenset({"translation", "rotation", "scale", "monotone"}),
    default=8,
    without=lambda view: spearman_without(view),
    cost=(
        "O(n^2 (p + d + log n)) time and O(n^2) memory up to n = 5000 (210 MB there); beyond, 2,000,000 random pairs."
    ),
    reference="@espadoto2021, Section 3 (Shepard goodness).",
)
def spearman_distance(view: View) -> Estimate:
    r"""Compute the Spearman correlation of the n(n-1)/2 distances in data and embedding: Shepard goodness.

    .. math:: \rho_D = \mathrm{corr}(\mathrm{rank}\, x_{ij}, \mathrm{rank}\, y_{ij}) \quad \text{over } i < j,

    with :math:`x_{ij}` and :math:`y_{ij}` the distances in the data and in the embedding; equal distances have the mean
    of their ranks. Where all distances of one space are equal the value is 0, where those of both are it is 1. Pairs
    share points, so the textbook standard error and p-value of a correlation do not hold.

    See Also
    --------
    kendall_distance : another correlation of the order.
    pearson_distance : the linear correlation.
    stress_nonmetric : the error of an isotonic fit.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.arange(4.0)
    >>> round(dreval.spearman_distance(X, X), 12)
    1.0
    >>> dreval.spearman_distance(X, np.zeros(4))
    0.0
    """
    return estimate(view, spearman)


def _stress_without(view: View, kind: str) -> FloatArray:
    """Compute the stress without each point from sums over all pairs less those of the point."""
    from dreval.geometry._loops.pair_groups import point_gaps

    table, formula = pairs_of(view), _STRESS_FORMULAS[kind]
    total, sums_without = point_sums(view, point_gaps, 4, 1.0)
    doubtful = cancels(total[0], sums_without[:, 0])
    gap = np.maximum(sums_without[:, 0], 0.0)
    if kind == "raw":
        pairs = (view.n - 1) * (view.n - 2) / 2 / pair_counts_without(view)
        return recomputed_without(view, _stress_with_notes(formula), doubtful, gap * pairs)
    at = 2 if kind == "normalized" else 3
    if total[at] == 0.0:
        return np.full(view.n, formula(table))
    doubtful |= cancels(total[at], sums_without[:, at])
    ratio = np.divide(gap, sums_without[:, at], out=np.zeros(view.n), where=~doubtful)
    return recomputed_without(view, _stress_with_notes(formula), doubtful, np.sqrt(ratio))


@measure(
    symbol="S",
    title="Stress",
    question="How far are the distances in the embedding from those in the data, in the same unit?",
    warning="Distances are far from those in the data",
    goals=("distances",),
    level="pair",
    needs=("pairs",),
    direction="lower",
    bounds=(0.0, math.inf),
    chance="permutation",
    invariances=frozenset({"translation", "rotation"}),
    without=_stress_without,
    choices={"kind": ("normalized", "kruskal", "raw")},
    cost=("O(n^2 (p + d)) time and O(n^2) memory up to n = 5000 (210 MB there); beyond, 2,000,000 random pairs."),
    reference="@kruskal1964; @espadoto2021 (normalized stress).",
)
def stress(view: View, kind: str = "normalized") -> Estimate:
    r"""Measure how far the distances of all pairs in the embedding are from those in the data.

    With :math:`x_{ij}` in the data and :math:`y_{ij}` in the embedding, over the pairs i < j,

    .. math:: S_{\mathrm{raw}} = \sum (x_{ij} - y_{ij})^2, \qquad
              S_{\mathrm{normalized}} = \sqrt{S_{\mathrm{raw}} / \textstyle\sum x_{ij}^2}, \qquad
              S_{\mathrm{kruskal}} = \sqrt{S_{\mathrm{raw}} / \textstyle\sum y_{ij}^2}.

    "kruskal" is Kruskal's stress-1 with the distances in the data as disparities; it is undefined for a constant
    embedding. All three depend on the unit of the embedding: Y and 0.5 Y differ. A constant embedding has "normalized"
    1, and worse embeddings exist. From a sample of pairs, or with anchors, "raw" is extrapolated to all pairs.

    See Also
    --------
    stress_scale_normalized : independent of the unit of the embedding.
    stress_nonmetric : only the order of the distances in the data counts.
    sammon_stress : small distances weigh most.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> dreval.stress(X, X)
    0.0
    >>> round(dreval.stress(X, 0.5 * X), 12)
    0.5
    >>> round(dreval.stress(X, 0.5 * X, kind="kruskal"), 12)
    1.0
    >>> dreval.stress(np.arange(4.0), np.zeros(4), kind="raw")
    20.0
    """
    return estimate(view, _stress_with_notes(_STRESS_FORMULAS[kind]))


def _stress_with_notes(formula: Callable[[Pairs], float]) -> Callable[[Pairs], tuple[float, Notes]]:
    """Return the formula with an empty tuple of notes."""
    return lambda pairs: (formula(pairs), ())


def _raw_stress(pairs: Pairs) -> float:
    """Extrapolate the sum over the pairs to all pairs."""
    return pairs.gap() * (pairs.total / len(pairs.x))


def _normalized_stress(pairs: Pairs) -> float:
    """Return the root of the sum over that of the data; 0 where neither space has a distance."""
    from dreval.geometry._loops.pairs import products

    size = float(products(pairs.x, pairs.x, 0.0, 0.0)[0])
    return math.sqrt(pairs.gap() / size) if size > 0 else 0.0


def _kruskal_stress(pairs: Pairs) -> float:
    """Return the root of the sum over that of the embedding."""
    from dreval.geometry._loops.pairs import products

    size = float(products(pairs.y, pairs.y, 0.0, 0.0)[0])
    if size == 0.0:
        hint = 'Use kind="normalized", which divides by the distances in the data.'
        raise UndefinedMeasure("kind", "must fit the embedding", '"kruskal" with a constant embedding', hint)
    return math.sqrt(pairs.gap() / size)


_STRESS_FORMULAS = {"normalized": _normalized_stress, "kruskal": _kruskal_stress, "raw": _raw_stress}


@measure(
    symbol="S_0",
    title="Nonmetric stress",
    question="How far are the distances in the embedding from an isotonic fit on the order of those in the data?",
    warning="Do not read distances between clusters",
    warns_first=True,
    goals=("distances",),
    level="pair",
    needs=("pairs",),
    direction="lower",
    bounds=(0.0, 1.0),
    chance="permutation",
    invariances=frozenset({"translation", "rotation", "scale"}),
    cost=(
        "O(n^2 (p + d + log n)) time and O(n^2) memory up to n = 5000 (310 MB there); beyond, 2,000,000 random pairs."
    ),
    reference="@kruskal1964 (stress-1, primary approach to ties).",
)
def stress_nonmetric(view: View) -> Estimate:
    r"""Compute Kruskal's stress-1: embedding distances against their isotonic fit on the order of the data.

    .. math:: S_0 = \sqrt{\frac{\sum (y_{ij} - f_{ij})^2}{\sum y_{ij}^2}},

    where the disparities :math:`f_{ij}` are the isotonic (least squares, increasing) regression of the distances in the
    embedding on the order of the distances in the data, over the pairs i < j. Ties follow Kruskal's primary approach:
    pairs with equal distances in the data may have different distances in the embedding at no cost. A constant
    embedding (0/0) has the value 1.

    See Also
    --------
    stress : the distances themselves.
    spearman_distance : the correlation of the two orders.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.arange(20.0) ** 2
    >>> dreval.stress_nonmetric(X, X)
    0.0
    >>> dreval.stress_nonmetric(X, np.log(X + 1)) > 0.05
    True
    """
    return estimate(view, _to_ascending)


def _to_ascending(pairs: Pairs) -> tuple[float, Notes]:
    """Fit the distances of the embedding in the order of x, then of y, as the primary approach requires."""
    from dreval.geometry._loops.pairs import ascending_gap, products

    size = float(products(pairs.y, pairs.y, 0.0, 0.0)[0])
    if size == 0.0:
        return 1.0, (note("stress_nonmetric.zero"),)
    gap = float(ascending_gap(pairs.y[pairs.order()]))
    return min(math.sqrt(gap / size), 1.0), ()


def _stress_scale_normalized_without(view: View) -> FloatArray:
    """Subtract from the residual at the best scale of all pairs what the best scale without the point saves.

    This loses fewer digits than 1 - cosine^2.
    """
    from dreval.geometry._loops.pair_groups import point_gaps
    from dreval.geometry._loops.pairs import products

    table = pairs_of(view)
    _, yy, xy = products(table.x, table.y, 0.0, 0.0)
    total, sums_without = point_sums(view, point_gaps, 4, xy / yy if yy > 0 else 0.0)
    gap, moved, squares_x, squares_y = sums_without.T
    saved = np.divide(moved * moved, squares_y, out=np.zeros(view.n), where=squares_y > 0)
    gap = np.maximum(gap - saved, 0.0)
    doubtful = cancels(total[0], gap) | cancels(total[2], squares_x) | cancels(total[3], squares_y)
    ratio = np.divide(gap, squares_x, out=np.zeros(view.n), where=squares_x > 0)
    return recomputed_without(view, _best_scale, doubtful, np.minimum(np.sqrt(ratio), 1.0))


@measure(
    symbol="S_N",
    title="Scale-normalized stress",
    question="How far are the distances in the embedding from those in the data, at the best scale of the embedding?",
    warning="Distances are far from those in the data",
    goals=("distances", "classes"),
    level="pair",
    needs=("pairs",),
    direction="lower",
    bounds=(0.0, 1.0),
    chance="permutation",
    invariances=frozenset({"translation", "rotation", "scale"}),
    without=_stress_scale_normalized_without,
    cost=("O(n^2 (p + d)) time and O(n^2) memory up to n = 5000 (210 MB there); beyond, 2,000,000 random pairs."),
    reference="@smelser2024; @borg2005, Section 11.1.",
)
def stress_scale_normalized(view: View) -> Estimate:
    r"""Compute the stress at the best scale of the embedding.

    .. math:: S_N = \min_{a \ge 0} \sqrt{\frac{\sum (x_{ij} - a y_{ij})^2}{\sum x_{ij}^2}},

    attained at :math:`a = \sum x_{ij} y_{ij} / \sum y_{ij}^2`, over the pairs i < j. It is the sine of the angle
    between the two vectors of distances. A constant embedding has 1.

    See Also
    --------
    stress : in the unit of the embedding.
    stress_nonmetric : at the best monotone transformation.
    procrustes_disparity : the error of the coordinates at the best scale.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> dreval.stress_scale_normalized(X, 100 * X) < 1e-12
    True
    >>> dreval.stress_scale_normalized(X, np.zeros((200, 2)))
    1.0
    """
    return estimate(view, _best_scale)


def _best_scale(pairs: Pairs) -> tuple[float, Notes]:
    """Sum the residual at the best scale, since 1 - cosine^2 would lose half the digits of a small one."""
    from dreval.geometry._loops.pairs import products, squared_gap

    xx, yy, xy = products(pairs.x, pairs.y, 0.0, 0.0)
    if xx == 0.0:
        return 0.0, ()
    gap = float(squared_gap(pairs.x, pairs.y, xy / yy if yy > 0 else 0.0))
    return min(math.sqrt(gap / xx), 1.0), ()


@measure(
    symbol="P",
    title="Topographic product",
    question="Has the embedding too few dimensions for the data (negative) or too many (positive)?",
    goals=("distances",),
    level="point",
    needs=("ranks",),
    direction="none",
    bounds=(-math.inf, math.inf),
    chance="permutation",
    ceiling=lambda _n, _k: 0.0,
    invariances=frozenset({"translation", "rotation", "scale"}),
    cost="O(n^2 (p + d)) time for the neighbors, O(n k) memory.",
    exponent=1.0,
    reference="@bauer1992, Eqs. 2 to 9, with k neighbors in place of all n - 1.",
)
def topographic_product(view: View, n_neighbors: int = DEFAULT_NEIGHBORS) -> tuple[FloatArray, Notes]:
    r"""Average the logarithm of how much farther the neighbors of one space are in the other, over points and l <= k.

    .. math:: P = \frac{1}{n k} \sum_{i=1}^n \sum_{l=1}^k \frac{1}{2 l} \sum_{m=1}^l
              \log \frac{x_{i, n^Y_m(i)}}{x_{i, n^X_m(i)}} \, \frac{y_{i, n^Y_m(i)}}{y_{i, n^X_m(i)}},

    with :math:`n^X_m(i)` and :math:`n^Y_m(i)` the m-th neighbors of i in the data and in the embedding, and x and y the
    distances there. The product of the first ratios over m <= l is at least 1 (the neighbors in the embedding are not
    the nearest in the data), that of the second at most 1. P is 0 where both spaces have the same neighbors in the same
    order. A negative value means that the second ratios outweigh: the embedding has too few dimensions and is folded; a
    positive one that it has too many.

    0 is no proof of quality, since the two ratios also balance for an unrelated embedding: with as many dimensions as
    the data it has about 0. Embeddings are therefore not ranked by it. ``trustworthiness`` and
    ``continuity`` measure the two errors one by one.

    A distance of 0 (duplicates) has no logarithm. It counts as the smallest positive distance from the point to the
    neighbors in that space, or as 1 if there is none, with a note; ZADU raises an error.

    See Also
    --------
    trustworthiness, continuity : errors of neighbors by rank.
    local_radius_correlation : compares the distances to the neighbors of each space.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> dreval.topographic_product(X, X)
    0.0
    >>> round(dreval.topographic_product(X, X[:, :1]), 2)  # folded
    -0.98
    >>> round(dreval.topographic_product(X[:, :1], X), 2)
    0.98
    """
    k = n_neighbors
    total, coincide = np.zeros((len(view.rows), k)), np.zeros(len(view.rows), bool)
    rows = np.repeat(view.rows, k)
    for space in (view.data_space(), view.embedding_space()):
        lists = (view.nearest_embedding[:, :k], view.nearest_data[:, :k])
        D = np.hstack([space.listed(rows, near.reshape(-1), view.n_jobs).reshape(-1, k) for near in lists])
        zero = D == 0
        smallest = np.where(zero, np.inf, D).min(axis=1, keepdims=True)
        D = np.where(zero, np.where(np.isinf(smallest), 1.0, smallest), D)
        total += np.log(D[:, :k] / D[:, k:])
        coincide |= zero.any(axis=1)
    means = np.cumsum(total, axis=1) / (2.0 * np.arange(1, k + 1))  # over the nearest 1, ..., k
    notes = (note("topographic_product.zero", count=int(coincide.sum())),) if coincide.any() else ()
    return means.mean(axis=1), notes


def _triplet_accuracy_chance(view: View, n_triplets: int) -> float:
    """Average 1/2 at points with triplets, of which an unrelated embedding orders half, and 1 at other points."""
    return float(np.mean(np.where(triplets(view, n_triplets).used == 0, 1.0, 0.5)))


def _triplet_accuracy_without(view: View, n_triplets: int) -> FloatArray:
    """Average the shares of the triplets of other points that do not hold the point; the triplets stay the same."""
    sample = triplets(view, check_int(n_triplets, "n_triplets", low=2))
    return without_row(sample.share, sample.changes)


@measure(
    symbol="A_3",
    title="Triplet accuracy",
    question="Of two other points, is the one that is nearer in the data nearer in the embedding?",
    warning="Do not read distances between clusters",
    warns_first=True,
    share="of triplets keep their order",
    goals=("distances", "classes", "arrangement"),
    level="point",
    needs=("pairs",),
    direction="higher",
    bounds=(0.0, 1.0),
    default=9,
    chance=0.5,
    chance_formula="1/2 at points with triplets that have an order in the data, 1 at the others",
    expected=_triplet_accuracy_chance,
    without=_triplet_accuracy_without,
    invariances=frozenset({"translation", "rotation", "scale", "monotone"}),
    cost="O(n t (p + d)) time for t triplets a point, at least 20,000 where there are no more; O(n) memory.",
    exponent=1.0,
    reference="@wang2021, Section 2 (random triplet accuracy).",
)
def triplet_accuracy(view: View, n_triplets: int = 200) -> tuple[FloatArray, Notes]:
    r"""Compute the share of triplets (i, j, l) whose distances from i to j and to l have the same order in both spaces.

    .. math:: A_3 = \frac{1}{n} \sum_{i=1}^n \frac{1}{|P_i|} \sum_{(j, l) \in P_i}
              [\mathrm{sign}(x_{ij} - x_{il}) = \mathrm{sign}(y_{ij} - y_{il})],

    where :math:`P_i` are pairs of other points: all of them where a point has at most 20,000 (n <= 201) or
    ``n_triplets``, else ``n_triplets`` random ones, the same for every embedding. Triplets with equal distances in the
    data have no order and are left out; equal distances in the embedding count one half. A point without any such
    triplet contributes 1.

    See Also
    --------
    kendall_distance : the same for any two pairs of points.
    spearman_distance : the correlation of all distances.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> dreval.triplet_accuracy(X, X)
    1.0
    >>> dreval.triplet_accuracy(X, np.zeros((100, 2)))
    0.5
    """
    sample = triplets(view, check_int(n_triplets, "n_triplets", low=2))
    notes = [note("triplet_accuracy.drawn", triplets=n_triplets)] if sample.drawn else []
    empty = int(np.count_nonzero(sample.used == 0))
    notes += [note("triplet_accuracy.empty", count=empty)] if empty else []
    return sample.share, tuple(notes)


@measure(
    **DISTRIBUTION,
    symbol="D_W",
    title="Wasserstein distance",
    question="How far must the distances in the embedding be moved to have the distribution of those in the data?",
    bounds=(0.0, 2.0),
    reference=(
        "@heiser2020 (earth mover's distance); with distances over their means in place of a scale from the "
        "smallest to the largest, which one outlier decides."
    ),
)
def wasserstein_distance(view: View) -> Estimate:
    r"""Average the absolute difference of the sorted distances of data and embedding, each over its mean distance.

    .. math:: D_W = \frac{1}{N} \sum_{t=1}^N |x_{(t)} - y_{(t)}|

    over the N = n(n-1)/2 distances in ascending order, divided by their mean in each space: 0.1 means that distances
    must be moved by a tenth of the mean distance. A constant embedding has 1. The value does not depend on which pair
    has which distance: permuting the rows of the embedding does not change it.

    See Also
    --------
    ks_distance : the largest difference of the two distribution functions.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> round(dreval.wasserstein_distance(X, 2 * X), 12)
    0.0
    >>> dreval.wasserstein_distance(X, np.zeros((200, 2)))
    1.0
    """
    return estimate(view, _mean_move)


def _mean_move(pairs: Pairs) -> tuple[float, Notes]:
    """Sort both samples, divide them by their means (a mean of 0 stays), and average their differences."""
    x, y = (side.sorted_by_mean() for side in (pairs.data, pairs.embedding))
    x -= y
    return float(np.abs(x, out=x).mean()), ()
