"""Measure how well clusters of the data remain clusters: k-means, densities, and walks between clusters."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dreval._check import DEFAULT_NEIGHBORS, IntArray, check_int, check_width
from dreval._parallel import run_blocks
from dreval._random import stream
from dreval.geometry.blocks import View, per_view, sample_points
from dreval.geometry.distances import SharedNeighbors
from dreval.geometry.pairs import Estimate, Pairs, estimate_by_points, largest_distance_note
from dreval.geometry.view import make_view
from dreval.measures.classes import SEPARATION, members, unit
from dreval.measures.core import FloatArray, measure
from dreval.records.notes import Notes, note

# Clusters of the embedding by k-means, and their agreement with the classes.

GRID = 2.0**36  # points of size 1 are rounded to 1 / GRID, so that rounding in other units moves no tie
LLOYD_STEPS = 10  # of Lloyd's algorithm before each check whether clusters still change
MAX_LLOYD_ROUNDS = 100  # of so many steps
EQUAL_SUMS = 1e-9  # sums of squares with a smaller relative difference are equal
WIDE_SPREAD = 0.05  # of the values of a score over the starts, above which a note has their distribution


class Clusters(NamedTuple):
    """Clusters (starts, n) of each start, the best start, and the number of starts that are as good."""

    codes: npt.NDArray[np.int32]
    best: int
    equals: int


def ordered_points(view: View) -> tuple[FloatArray, IntArray]:
    """Return the points in an order that depends on neither rows nor coordinate system, and their positions.

    It is that of their distances to the mean; their size is 1, and they are rounded to the grid.
    """
    points = np.rint(unit(view.Y[view.population]) * GRID) / GRID
    order = np.lexsort((*points.T, np.rint(np.square(points).sum(axis=1) * GRID)))
    return np.ascontiguousarray(points[order]), order


@per_view
def clusters(view: View, k: int, n_init: int) -> Clusters:
    """Find clusters of the embedding by Lloyd's algorithm from ``n_init`` starts by k-means++.

    Fewer than k distinct points are clusters of their own. O(n k d) time for each of some 20 to 50 steps.
    """
    from scipy.cluster.vq import kmeans2

    points, order = ordered_points(view)
    k = min(k, len(np.unique(points, axis=0)))
    codes, sums = np.empty((n_init, len(points)), np.int32), np.empty(n_init)
    for start in range(n_init):
        rng = stream(view.seed, "kmeans", start)
        with warnings.catch_warnings():  # a cluster may lose its points; its center then stays
            warnings.simplefilter("ignore", UserWarning)
            centers, labels = kmeans2(points, k, iter=LLOYD_STEPS, minit="++", rng=rng)
            for _ in range(MAX_LLOYD_ROUNDS):
                before = labels
                centers, labels = kmeans2(points, centers, iter=LLOYD_STEPS, minit="matrix")
                if np.array_equal(before, labels):
                    break
        codes[start, order] = labels
        sums[start] = np.square(points - centers[labels]).sum()
    good = sums <= sums.min() * (1 + EQUAL_SUMS)
    return Clusters(codes, int(np.argmax(good)), int(good.sum()))


def contingency(view: View, n_clusters: int | None, n_init: int) -> tuple[list[IntArray], Clusters]:
    """Return the numbers of points of each class and cluster, (classes, clusters), for each start."""
    classes = members(view)
    c, n = len(classes.sizes), len(classes.codes)
    k = c if n_clusters is None else check_int(n_clusters, "n_clusters", low=2, high=n)
    starts = clusters(view, k, check_int(n_init, "n_init", low=2))
    k = int(starts.codes.max()) + 1
    tables = [np.bincount(classes.codes * k + codes, minlength=c * k).reshape(c, k) for codes in starts.codes]
    return tables, starts


def agreement(
    view: View, n_clusters: int | None, n_init: int, score: Callable[[IntArray], float]
) -> tuple[float, Notes]:
    """Score the agreement of classes and clusters at the best start; note a wide distribution over the starts."""
    tables, starts = contingency(view, n_clusters, n_init)
    values = np.array([score(table) for table in tables])
    starts_note = note("kmeans.starts", k=tables[starts.best].shape[1], starts=n_init, best=starts.equals)
    if np.ptp(values) <= WIDE_SPREAD:
        return float(values[starts.best]), (starts_note,)
    spread = {"low": values.min(), "high": values.max(), "mean": values.mean(), "sd": values.std(ddof=1)}
    return float(values[starts.best]), (starts_note, note("kmeans.others", **spread))


def entropy(sizes: IntArray) -> float:
    """Return the entropy of a partition with these numbers of points, in nats."""
    share = sizes[sizes > 0] / sizes.sum()
    return float(-(share * np.log(share)).sum())


def mutual_information(table: IntArray) -> float:
    """Return the mutual information of two partitions in nats; 0 up to rounding where they are independent."""
    n, (row, column) = table.sum(), np.nonzero(table)
    joint = table[row, column]
    logs = np.log(joint) + np.log(n) - np.log(table.sum(axis=1)[row]) - np.log(table.sum(axis=0)[column])
    return max(0.0, float((joint / n * logs).sum()))


def expected_information(table: IntArray) -> float:
    """Return the mean of the mutual information over all permutations of the points (Vinh et al. 2010, Eq. 24).

    The number of points in one class and one cluster has a hypergeometric distribution. O(n min(c, k)) time.
    """
    from scipy.special import gammaln

    n = int(table.sum())
    log_factorial = gammaln(np.arange(n + 2) + 0.0)[1:]  # of 0, ..., n
    total = 0.0
    rows, columns = (np.unique(table.sum(axis=axis), return_counts=True) for axis in (1, 0))
    for a, rows_of_a in zip(*rows, strict=True):
        for b, columns_of_b in zip(*columns, strict=True):
            if a * b == 0:
                continue
            m = np.arange(max(1, a + b - n), min(a, b) + 1)
            log_p = log_factorial[[a, b, n - a, n - b]].sum() - log_factorial[n]
            for cell in (m, a - m, b - m, n - a - b + m):
                log_p = log_p - log_factorial[cell]
            information = float((m / n * (np.log(m) + np.log(n) - np.log(a * b)) * np.exp(log_p)).sum())
            total += rows_of_a * columns_of_b * information
    return total


def mean_entropy(table: IntArray) -> float:
    """Return the mean of the entropies of both partitions; positive, since there are two classes at least."""
    return (entropy(table.sum(axis=1)) + entropy(table.sum(axis=0))) / 2


KMEANS: dict[str, Any] = {
    "warning": "Clusters in the embedding are not the classes",
    "goals": ("classes", "prediction"),
    "level": "global",
    "needs": ("coordinates", "labels"),
    "direction": "higher",
    "chance": "permutation",
    "invariances": frozenset({"translation", "rotation", "scale"}),
    "caution": SEPARATION,
    "cost": (
        "O(s t n k d) time for s = n_init runs of about t = 20 to 50 steps, which all measures of k-means clusters\n"
        "share; O(n s) memory."
    ),
}


def _adjusted_chance(view: View, n_clusters: int | None, n_init: int) -> float:
    contingency(view, n_clusters, n_init)  # raises where there is no value
    return 0.0


ADJUSTED: dict[str, Any] = {
    **KMEANS,
    "chance_formula": "0, exactly, whatever the sizes of classes and clusters",
    "expected": _adjusted_chance,
}


@measure(
    **ADJUSTED,
    symbol="ARI",
    title="Adjusted Rand index of k-means clusters",
    question="Does k-means in the embedding find the classes, by pairs of points?",
    bounds=(-0.5, 1.0),
    exponent=1.0,
    reference="@hubert1985, Eq. 5; lower bound: @chacon2023.",
)
def kmeans_ari(view: View, n_clusters: int | None = None, n_init: int = 10) -> tuple[float, Notes]:
    r"""Compute the adjusted Rand index of the classes and the k-means clusters of the embedding.

    .. math:: \mathrm{ARI} = \frac{S - A B / N}{(A + B) / 2 - A B / N},

    with the numbers of pairs of points in the same class (A), in the same cluster (B) and in both (S), of
    :math:`N = n (n - 1) / 2` pairs. The value is that of the clusters with the smallest sum of squares of ``n_init``
    runs; a note in a table of results has its distribution over the runs where these differ by more than 0.05. The
    data are not used. At least two classes are required, one of them with two points.

    It evaluates k-means in the embedding: k-means looks for round clusters of like size, so that classes which are
    separated but long, bent or of very different size have a low value.

    The clusters of the remaining points are computed for each group of points that the interval leaves out, and some of
    them change: it is conservative. Over 60 samples of 150 points in four classes its standard error was 1.5 to 1.8
    times the standard deviation of the values.

    See Also
    --------
    kmeans_ami, kmeans_nmi : the same clusters, compared by their mutual information.
    silhouette, neighborhood_hit : separation of the classes without a clustering.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Y = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> dreval.kmeans_ari(Y, labels=list("aaabbb"), random_state=0)
    1.0
    >>> round(dreval.kmeans_ari(Y, labels=list("aabbbb"), random_state=0), 3)
    0.324
    """
    return agreement(view, n_clusters, n_init, adjusted_rand)


def adjusted_rand(table: IntArray) -> float:
    """Return the adjusted Rand index of a table of two partitions."""
    marginals = table, table.sum(axis=1), table.sum(axis=0), table.sum(keepdims=True)
    both, a, b, n = (float((sizes * (sizes - 1) // 2).sum()) for sizes in marginals)  # pairs of points
    return (both - a * b / n) / ((a + b) / 2 - a * b / n)


@measure(
    **ADJUSTED,
    symbol="AMI",
    title="Adjusted mutual information of k-means clusters",
    question="Does k-means in the embedding find the classes, by the information that clusters give about them?",
    bounds=(-1.0, 1.0),
    exponent=1.0,
    reference="@vinh2010, with the arithmetic mean of the entropies, as in scikit-learn.",
)
def kmeans_ami(view: View, n_clusters: int | None = None, n_init: int = 10) -> tuple[float, Notes]:
    r"""Compute the adjusted mutual information of the classes and the k-means clusters of the embedding.

    .. math:: \mathrm{AMI} = \frac{I - \mathrm{E} I}{(H_{class} + H_{cluster}) / 2 - \mathrm{E} I},

    with the mutual information I of classes and clusters, their entropies H, and the mean E I of the mutual
    information over all permutations of the points, in closed form. The value is that of the clusters with the
    smallest sum of squares of ``n_init`` runs; a note in a table of results has its distribution over the runs
    where these differ by more than 0.05. The data are not used. At least two classes are required, one of them with
    two points.

    It evaluates k-means in the embedding, with the limits that ``kmeans_ari`` names. Compared with that index, small
    classes have more weight.

    See Also
    --------
    kmeans_ari : the same clusters, compared by pairs of points.
    kmeans_nmi : without the adjustment for chance.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Y = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> round(dreval.kmeans_ami(Y, labels=list("aaabbb"), random_state=0), 12)
    1.0
    >>> round(dreval.kmeans_ami(Y, labels=list("aabbbb"), random_state=0), 3)
    0.355
    """
    return agreement(view, n_clusters, n_init, _adjusted_information)


def _adjusted_information(table: IntArray) -> float:
    chance = expected_information(table)
    return (mutual_information(table) - chance) / (mean_entropy(table) - chance)


def _normalized_chance(view: View, n_clusters: int | None, n_init: int) -> float:
    """Normalize the expected mutual information: permutations change no sizes of classes and clusters."""
    tables, starts = contingency(view, n_clusters, n_init)
    return expected_information(tables[starts.best]) / mean_entropy(tables[starts.best])


@measure(
    **KMEANS,
    symbol="NMI",
    title="Normalized mutual information (V-measure) of k-means clusters",
    question="What share of the information on the classes do k-means clusters of the embedding hold?",
    bounds=(0.0, 1.0),
    chance_formula=r":math:`2 \mathrm{E} I / (H_{class} + H_{cluster})`, with E I as in ``kmeans_ami``",
    expected=_normalized_chance,
    exponent=1.0,
    reference=(
        "@strehl2002, with the arithmetic mean of the entropies, as in scikit-learn. "
        "@rosenberg2007 (V-measure, which is then the same)."
    ),
)
def kmeans_nmi(view: View, n_clusters: int | None = None, n_init: int = 10) -> tuple[float, Notes]:
    r"""Compute the normalized mutual information (V-measure) of the classes and the k-means clusters.

    .. math:: \mathrm{NMI} = \frac{I}{(H_{class} + H_{cluster}) / 2},

    with the mutual information I of classes and clusters and their entropies H. The harmonic mean of homogeneity
    (:math:`I / H_{class}`) and completeness (:math:`I / H_{cluster}`), the V-measure, is the same number. The value is
    that of the clusters with the smallest sum of squares of ``n_init`` runs; a note in a table of results has its
    distribution over the runs where these differ by more than 0.05. The data are not used. At least two classes are
    required, one of them with two points.

    The chance level is well above 0 where there are many clusters for the number of points; ``kmeans_ami`` subtracts
    it. It evaluates k-means in the embedding, with the limits that ``kmeans_ari`` names.

    See Also
    --------
    kmeans_ami : adjusted for chance.
    kmeans_ari : the same clusters, compared by pairs of points.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Y = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> round(dreval.kmeans_nmi(Y, labels=list("aaabbb"), random_state=0), 12)
    1.0
    >>> round(dreval.kmeans_nmi(Y, labels=list("aabbbb"), random_state=0), 3)
    0.479
    """
    return agreement(view, n_clusters, n_init, lambda table: mutual_information(table) / mean_entropy(table))


# Densities of the points in both spaces, by a Gaussian kernel on distances over the largest distance.

MAX_POINTS_OF_ALL_DENSITIES = 2000  # points among which all pairs are used where there are too many
DENSITIES: dict[str, Any] = {
    "warning": "Do not read densities",
    "goals": ("density",),
    "level": "pair",
    "needs": ("pairs",),
    "direction": "lower",
    "chance": "permutation",
    "invariances": frozenset({"translation", "rotation", "scale"}),
    "smooth": False,
    "jumps": "the largest distance, that of one pair, decides the unit",
    "cost": (
        "O(n^2 (p + d)) time and O(n^2) memory up to n = 5000 (450 MB there); beyond, all pairs of 2000\nrandom points."
    ),
}


def compare_densities(view: View, sigma: float, compare: Callable[[FloatArray, FloatArray], float]) -> Estimate:
    """Compare the densities of the points in the data and in the embedding, each of which sums to 1."""
    width = check_width(sigma, "sigma")

    def statistic(pairs: Pairs) -> tuple[float, Notes]:
        flat = () if pairs.y.any() else (note("density.flat"),)
        notes = (*flat, *largest_distance_note(pairs, view.n))
        return compare(_density(pairs, pairs.x, width), _density(pairs, pairs.y, width)), notes

    return estimate_by_points(view, statistic, MAX_POINTS_OF_ALL_DENSITIES)


def _density(pairs: Pairs, distances: FloatArray, width: float) -> FloatArray:
    """Return the sums of exp(-(d_ij / max d)^2 / sigma) over all j, i itself included, over the sum of these sums."""
    largest = distances.max()
    kernel = np.exp(-((distances / largest) ** 2) / width) if largest > 0 else np.ones(len(distances))
    rows = pairs.rows if pairs.ordered else pairs.points
    size = int(pairs.points[-1]) + 1  # in ascending order
    sums = np.bincount(pairs.first, kernel, size)
    if not pairs.ordered:
        sums += np.bincount(pairs.second, kernel, size)
    at_points = 1.0 + sums[rows]
    return np.asarray(at_points / at_points.sum())


@measure(
    **DENSITIES,
    symbol="D_KL",
    title="Divergence of densities",
    question="How far is the density at the points in the embedding from that in the data?",
    bounds=(0.0, math.inf),
    reference="@moor2020 (KL_sigma, as in the authors' program, sigma = 0.1). @chazal2011.",
)
def density_kl(view: View, sigma: float = 0.1) -> Estimate:
    r"""Compute the Kullback-Leibler divergence of the density in the embedding from that in the data.

    .. math:: D_{KL} = \sum_i p_i \ln \frac{p_i}{q_i}, \qquad p_i = \frac{f_i}{\sum_l f_l}, \qquad
              f_i = \sum_j \exp\left(-\frac{(x_{ij} / \max x)^2}{\sigma}\right),

    over all points j, i itself included; q is the same with the distances in the embedding.

    Each space is measured in units of its largest distance, which one outlier determines: no interval is computed. A
    small ``sigma`` compares small scales; where it is so small that each point has no neighbor within reach, both
    densities are uniform and the value is 0 for any embedding. A constant embedding has a uniform density. With anchors
    the density is computed at the anchors and the largest distance is the largest from them: the value is on average
    too high, the more so the fewer anchors there are.

    See Also
    --------
    density_l1 : the absolute difference of the same densities.
    local_radius_correlation : the order of the local densities.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> dreval.density_kl(X, 2 * X)
    0.0
    >>> bool(0.01 < dreval.density_kl(X, X[:, :1]) < 0.1)
    True
    """
    return compare_densities(view, sigma, _density_divergence)


def _density_divergence(p: FloatArray, q: FloatArray) -> float:
    """Return the sum of p log(p / q), which rounding may move below 0."""
    return max(float(np.sum(p * np.log(p / q))), 0.0)


@measure(
    **DENSITIES,
    symbol="D_1",
    title="Difference of densities",
    question="How much of the density at the points differs between embedding and data?",
    bounds=(0.0, 2.0),
    reference=(
        "@moor2020 (density measure of the authors' program, sigma = 0.1); ZADU calls it distance to a measure."
    ),
)
def density_l1(view: View, sigma: float = 0.1) -> Estimate:
    r"""Sum the absolute differences of the densities in the data and in the embedding over the points.

    .. math:: D_1 = \sum_i |p_i - q_i|,

    with the densities p and q of ``density_kl``. Half of it is the total variation distance: the share of the density
    that would have to be moved.

    Each space is measured in units of its largest distance, which one outlier determines: no interval is computed. A
    small ``sigma`` compares small scales; where it is so small that each point has no neighbor within reach, both
    densities are uniform and the value is 0 for any embedding. A constant embedding has a uniform density. With anchors
    the density is computed at the anchors and the largest distance is the largest from them: the value is on average
    too high, the more so the fewer anchors there are.

    See Also
    --------
    density_kl : the Kullback-Leibler divergence of the same densities.
    local_radius_correlation : the order of the local densities.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> dreval.density_l1(X, 2 * X)
    0.0
    >>> bool(0.1 < dreval.density_l1(X, X[:, :1]) < 0.5)
    True
    """
    return compare_densities(view, sigma, lambda p, q: float(np.abs(p - q).sum()))


# Steadiness and cohesiveness: random clusters of one space, split into density clusters of the other.

MAX_WALK_POINTS = 5000  # of more points, so many random ones are used
SHARED_NEIGHBOR_ALPHA = 0.1  # added to similarities, of which the largest is 1
WALK_STEPS = 0.3  # of a walk, per point
MIN_CLUSTER_SIZE = 5  # points of a density cluster
MAX_WALKS_FROM_A_POINT = 1000  # that gather no second point, before the next start

INTER_CLUSTER: dict[str, Any] = {
    "goals": ("arrangement",),
    "level": "global",
    "needs": ("ranks",),
    "direction": "higher",
    "bounds": (0.0, 1.0),
    "chance": "permutation",
    "quadratic": True,
    "smooth": False,
    "jumps": "where points are left out, the random clusters are different ones",
    "invariances": frozenset({"translation", "rotation", "scale", "monotone"}),
    "cost": (
        "O(n^2 (p + d)) time for the neighbors, O(n^2) for each walk; O(n k^2) memory, O(n^2) where one point is the\n"
        "neighbor of all. Beyond n = 5000 those of 5000 random points."
    ),
    "reference": "@jeon2021; the steps are those of ZADU 0.5.4.",
}


def inter_cluster(view: View, k: int, n_walks: int, false_groups: bool) -> Estimate:
    """Compute steadiness (clusters of the embedding in the data) or cohesiveness (the reverse), with notes."""
    check_int(n_walks, "n_walks", low=2)
    points = sample_points(view, MAX_WALK_POINTS)
    data, embedding = (SharedNeighbors.of(lists) for lists in _walk_neighbors(view, points, k))
    name = "steadiness" if false_groups else "cohesiveness"
    source, target = (embedding, data) if false_groups else (data, embedding)
    parts = wrong_parts(source, target, n_walks, stream(view.seed, name), view.n_jobs)
    excess, weight, flat = parts.sum(axis=0)
    sampled = len(points) < view.n
    notes = (note("points.some", drawn=len(points), total=view.n),) if sampled else ()
    notes += (note("clusters.flat", count=int(flat), walks=n_walks, least=MIN_CLUSTER_SIZE),) if flat else ()
    n_used = len(points) if sampled else None
    if weight == 0:
        return Estimate(1.0, (*notes, note("clusters.none")), n_used=n_used)
    ratio = excess / weight
    residuals = parts[:, 0] - ratio * parts[:, 1]
    se = math.sqrt(n_walks / (n_walks - 1) * float(residuals @ residuals)) / weight
    notes += (note("clusters.drawn", walks=n_walks, se=se),)
    return Estimate(max(1.0 - ratio, 0.0), notes, n_used=n_used)


def wrong_parts(
    source: SharedNeighbors, target: SharedNeighbors, n_walks: int, rng: np.random.Generator, n_jobs: int | None = None
) -> FloatArray:
    """Return for each walk the sums of share x weight and of weights over wrong pairs, and whether the walk is flat.

    A walk gathers a cluster of the ``source`` graph, which is split into density clusters of the ``target``. A pair of
    these is wrong if it is farther apart in the target; the share is its excess over the largest one of two points. All
    0 where no point is similar to a neighbor, or none is less similar in the target.
    """
    from dreval.geometry._loops import density_clusters as loops

    n, parts = len(source.near), np.zeros((n_walks, 3))
    largest = target.largest_excess(source, SHARED_NEIGHBOR_ALPHA)
    leads = (source.similar > 0).any(axis=1)
    if largest == 0 or not leads.any():
        return parts
    walks, inside, steps = [], np.zeros(n, np.bool_), max(1, int(WALK_STEPS * n))
    while len(walks) < n_walks:
        start = int(rng.integers(n))
        for _ in range(MAX_WALKS_FROM_A_POINT if leads[start] else 0):
            walk = loops.walk(source.near, source.similar, start, steps, rng, inside)
            if len(walk) > 1:
                walks.append(walk)
                break

    def add_walk(index: int) -> None:
        walk = walks[index]
        place = np.full(n, -1, np.int64)
        place[walk] = np.arange(len(walk))
        graph = target[:3]
        labels, number, flat = loops.density_clusters(*graph, walk, place, MIN_CLUSTER_SIZE, SHARED_NEIGHBOR_ALPHA)
        sums = loops.wrong_pairs(graph, source[:3], walk, place, labels, number, SHARED_NEIGHBOR_ALPHA)
        parts[index] = *sums, flat

    run_blocks(add_walk, range(n_walks), n_jobs)
    parts[:, 0] /= largest
    return parts


def _walk_neighbors(view: View, points: IntArray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the k neighbors of the points among themselves in the data and in the embedding, by their positions."""
    lists = view.nearest_data, view.nearest_embedding
    if len(points) == view.n and all(near.shape[0] == view.n and near.shape[1] >= k for near in lists):
        place = np.zeros(len(view.Y), np.int32)
        place[points] = np.arange(len(points))
        data, embedding = (place[near[:, :k]] for near in lists)
        return data, embedding
    options: dict[str, Any] = {"part": points, "n_jobs": view.n_jobs}
    options |= {"metric": view.metric, "embedding_metric": view.embedding_metric}
    among_points = make_view(view.X, view.Y[points], min(k, len(points) - 1), **options)
    return among_points.nearest_data[:, :k], among_points.nearest_embedding[:, :k]


@measure(
    **INTER_CLUSTER,
    symbol="St",
    title="Steadiness",
    question="Are clusters of the embedding clusters of the data (no false groups)?",
    warning="Clusters in the embedding may not be clusters of the data",
)
def steadiness(view: View, n_neighbors: int = DEFAULT_NEIGHBORS, n_walks: int = 150) -> Estimate:
    r"""Subtract from 1 the mean excess distance in the data between the parts of clusters of the embedding.

    .. math:: \mathrm{St} = 1 - \frac{\sum_{w} \sum_{A, B} |A||B|\, [\delta_X(A, B) - \delta_Y(A, B)]_+ / m}
              {\sum_{w} \sum_{A, B} |A||B|\, [\delta_X(A, B) > \delta_Y(A, B)]}

    A random walk w gathers up to 0.3 n points that share neighbors in the embedding, and HDBSCAN (at least 5 points;
    noise is a cluster by itself) splits them into clusters A, B, ... of the data. With s the similarity of two points
    by shared neighbors, divided by the largest, and averaged over the members of two clusters, :math:`\delta = 1 / (s +
    0.1)`; m is the largest excess of two points.

    **The mean is over wrong pairs only**: pairs of clusters that are no farther apart in the data are not counted as
    right. One wrong pair among a thousand and a thousand of them have the same value if their excess is the same. It
    measures how wrong the wrong pairs are, not how many there are; ``trustworthiness`` counts all neighbors. Where no
    pair is wrong the value is 1.

    **It needs enough neighbors.** HDBSCAN takes the points of a walk for one cluster if none of them has 5 similar ones
    in the other space, since all distances are then equal. Such a walk has no wrong pair, though nothing of it is kept:
    with k = 7 an unrelated embedding of 1000 points had the value 1, a good one 0.43. A note has the number of such
    walks. Compare with the chance level, and use more neighbors where the note appears.

    The value is random: the note of a table has the standard error of the walks, which ``n_walks`` reduces. The
    authors use the root of n as the number of neighbors. The excess of two clusters may be beyond m, since
    similarities are averaged; it is not cut off, but the value is at least 0.

    See Also
    --------
    cohesiveness : clusters of the data in the embedding (missing groups).
    trustworthiness : the same question for neighbors.
    label_trustworthiness : the same question for known classes.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> dreval.steadiness(X, X, random_state=0)
    1.0
    >>> dreval.steadiness(X, X[:, :2], random_state=0) > dreval.steadiness(X, X[::-1, :2], random_state=0)
    True
    """
    return inter_cluster(view, n_neighbors, n_walks, false_groups=True)


@measure(
    **INTER_CLUSTER,
    symbol="Co",
    title="Cohesiveness",
    question="Are clusters of the data clusters of the embedding (no missing groups)?",
    warning="Clusters of the data may be torn apart",
)
def cohesiveness(view: View, n_neighbors: int = DEFAULT_NEIGHBORS, n_walks: int = 150) -> Estimate:
    r"""Subtract from 1 the mean excess distance in the embedding between the parts of clusters of the data.

    .. math:: \mathrm{Co} = 1 - \frac{\sum_{w} \sum_{A, B} |A||B|\, [\delta_Y(A, B) - \delta_X(A, B)]_+ / m}
              {\sum_{w} \sum_{A, B} |A||B|\, [\delta_Y(A, B) > \delta_X(A, B)]}

    It is ``steadiness`` with data and embedding exchanged: random walks w gather clusters of the data, which HDBSCAN
    splits into clusters A, B, ... of the embedding. All terms are explained there.

    **The mean is over wrong pairs only**: pairs of clusters that are no farther apart in the embedding are not counted
    as right, so the value measures how wrong the wrong pairs are, not how many there are; ``continuity`` counts all
    neighbors. Where no pair is wrong the value is 1. The value is random, and it needs enough neighbors: with too few
    an unrelated embedding may have the value 1. Notes have the standard error of the walks, and the number of walks
    without similar points in the other space (see ``steadiness``).

    See Also
    --------
    steadiness : clusters of the embedding in the data (false groups).
    continuity : the same question for neighbors.
    label_continuity : the same question for known classes.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> dreval.cohesiveness(X, X, random_state=0)
    1.0
    >>> dreval.cohesiveness(X, X[:, :2], random_state=0) > dreval.cohesiveness(X, X[::-1, :2], random_state=0)
    True
    """
    return inter_cluster(view, n_neighbors, n_walks, false_groups=False)
