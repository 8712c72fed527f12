"""Measure how well batches mix in an embedding, what they explain of it, and how well classes stay connected."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dreval._check import DEFAULT_NEIGHBORS, FloatArray, IntArray, check_float, check_int
from dreval._parallel import run_blocks, sum_over_rows
from dreval.errors import UndefinedMeasure
from dreval.geometry._loops import ROUNDING
from dreval.geometry.blocks import View, per_view
from dreval.geometry.distances import Space
from dreval.geometry.ranks import check_left_one, without_row
from dreval.measures.classes import (
    SEPARATION,
    TINY_SQUARE,
    Members,
    class_squares,
    class_squares_without,
    members,
    neighbors_of,
    row_blocks,
    unit,
)
from dreval.measures.core import measure
from dreval.records.notes import Notes, note

# What the measures of single-cell integration share: the nearest points with ties shared, and parts of cards.

MIXING_CHANCE = (
    "mean over 20 random permutations of the rows of the embedding; of a measure of mixing it is the level of batches "
    "that are spread at random over all places, as in an embedding of noise; where batches differ in their kinds of "
    "points, complete mixing within each kind gives less"
)
MIXING_CAUTION = (
    "An embedding of noise mixes batches completely: read a high value together with measures of the labels."
)


class NearPoints(NamedTuple):
    """The k nearest other points of each row, (m, k).

    ``neighbors`` are positions, ``squared`` their squared distances. ``tied`` marks rows with another point as far as
    the last neighbor. ``rows`` are the positions of the rows among ``points``.
    """

    neighbors: IntArray
    squared: FloatArray
    tied: npt.NDArray[np.bool_]
    points: FloatArray
    rows: IntArray

    def part(self, rows: slice) -> NearPoints:
        """Return the neighbors of some of the rows."""
        return NearPoints(self.neighbors[rows], self.squared[rows], self.tied[rows], self.points, self.rows[rows])

    def shares(self, weights: FloatArray, classes: Members, n_jobs: int | None) -> FloatArray:
        """Return the weight of each class among the neighbors of each row, (m, c).

        Where other points are as far as the last neighbors, these share their weight with all of them: its mean over
        all orders of ties, so that no value depends on the order of the points.
        """
        m, c = len(self.neighbors), len(classes.sizes)
        cells = classes.codes[self.neighbors] + c * np.arange(m)[:, None]
        total = np.bincount(cells.ravel(), weights.ravel(), m * c).reshape(m, c)
        at = np.flatnonzero(self.tied)
        last = self.squared[at, -1:]
        edge = _as_far(self.squared[at], last)
        certain = np.where(edge, 0.0, weights[at])
        part = classes.codes[self.neighbors[at]] + c * np.arange(len(at))[:, None]
        total[at] = np.bincount(part.ravel(), certain.ravel(), len(at) * c).reshape(len(at), c)
        counts = np.zeros((len(at), c))

        def count_tied(block: slice) -> None:
            i, j = self.tied_pairs(at[block])
            counts[block] = np.bincount(i * c + classes.codes[j], minlength=counts[block].size).reshape(-1, c)

        run_blocks(count_tied, row_blocks(len(at), len(self.points)), n_jobs)
        shared = (weights[at] - certain).sum(axis=1, keepdims=True)
        total[at] += shared * counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
        return total

    def tied_pairs(self, at: IntArray) -> tuple[IntArray, IntArray]:
        """Return pairs of a place in ``at`` and a point that is as far from that row as its last neighbor."""
        far = _as_far(Space.of(self.points).direct_block(self.rows[at]), self.squared[at, -1:])
        far[np.arange(len(at)), self.rows[at]] = False
        i, j = np.nonzero(far)
        return i, j


def _as_far(squared: FloatArray, last: FloatArray) -> npt.NDArray[np.bool_]:
    """Return whether squared distances are equal to ``last`` up to rounding."""
    return np.asarray(np.abs(squared - last) <= 2.0 * ROUNDING * last)


@per_view
def near_points(view: View, k: int) -> NearPoints:
    """Find the k nearest other points of the rows in the embedding."""
    points, rows = view.Y[view.population], np.searchsorted(view.population, view.rows)
    neighbors, squared = neighbors_of(points, rows, min(k + 1, len(points) - 1), view.n_jobs)
    tied = _as_far(squared[:, k:], squared[:, k - 1 : k]).any(axis=1)  # the next point is as far as the last
    return NearPoints(neighbors[:, :k], squared[:, :k], tied, points, rows)


# LISI: the effective number of classes among the neighbors of a point.

LISI: dict[str, Any] = {
    "level": "point",
    "direction": "higher",
    "bounds": (0.0, 1.0),
    "chance": "permutation",
    "invariances": frozenset({"translation", "rotation", "scale"}),
    "cost": (
        "O(n log n) time for d <= 8, O(n^2 d) beyond, and O(n p^2) for an interval of the points with the perplexity "
        "p; O(n p) memory."
    ),
    "reference": "@korsunsky2019. @luecken2022 (scale).",
}


@per_view
def _weights(view: View, perplexity: int) -> FloatArray:
    """Return weights of this perplexity of the 3 perplexity - 1 neighbors of each row."""
    from dreval.geometry._loops import effective_classes as loops

    distances = np.sqrt(near_points(view, 3 * perplexity - 1).squared)
    weights = np.empty_like(distances)
    loops.weigh_rows(distances, perplexity, weights)
    return weights


def _limited_perplexity(n: int, perplexity: int) -> int:
    """Return the perplexity, or the largest that n points allow."""
    return max(min(perplexity, n // 3), 1)


def lisi(view: View, perplexity: int, of: str, scale: Callable[[Any, Any], Any]) -> tuple[FloatArray, Notes]:
    """Return the scaled effective number of classes (or batches) among the neighbors of each row.

    ``scale`` takes the effective number, between 1 and the number of classes, and the number of classes.
    """
    classes = members(view, of=of)
    check_int(perplexity, "perplexity", low=2)
    used = _limited_perplexity(view.n, perplexity)
    near, weights = near_points(view, 3 * used - 1), _weights(view, used)
    effective = np.empty(len(near.rows))
    for part in row_blocks(len(near.rows), len(classes.sizes)):
        shares = near.part(part).shares(weights[part], classes, view.n_jobs)
        effective[part] = 1.0 / (shares**2).sum(axis=1)
    notes = () if used == perplexity else (note("lisi.perplexity", used=used, n=view.n),)
    return scale(effective, float(len(classes.sizes))), notes


def lisi_without(view: View, perplexity: int, *, of: str, scale: Callable[[Any, Any], Any]) -> FloatArray:
    """Return the mean of ``lisi`` without each point, which the next neighbor replaces; NaN where one class remains."""
    from dreval.geometry._loops import effective_classes as loops

    classes = members(view, of=of)
    check_int(perplexity, "perplexity", low=2)
    check_left_one(view.n, 1)
    n, c = view.n, len(classes.sizes)
    used = _limited_perplexity(n - 1, perplexity)
    k = min(3 * used - 1, n - 2)
    near = near_points(view, min(k + 2, n - 1))
    distances, values = np.sqrt(near.squared), np.empty(n)
    unclear = _as_far(near.squared[:, k:], near.squared[:, k - 1 : -1]).any(axis=1)
    behind = near._replace(neighbors=near.neighbors[:, : k + 1], squared=near.squared[:, : k + 1])

    def add_changes(part: slice, changes: FloatArray) -> None:
        for block in row_blocks(part.stop - part.start, n):
            rows = slice(part.start + block.start, part.start + block.stop)
            at = rows.start + np.flatnonzero(unclear[rows])
            i, far = behind.tied_pairs(at)
            counts = np.bincount(at[i] - rows.start, minlength=rows.stop - rows.start)
            arguments = (classes.codes, np.r_[0, np.cumsum(counts)], far, c, values[rows], changes)
            loops.effective_without(near.neighbors[rows], distances[rows], k, used, *arguments)

    changes = sum_over_rows(add_changes, n, np.zeros(n), view.n_jobs)
    remaining = np.where(classes.sizes[classes.codes] == 1, c - 1.0, float(c))  # a class of one point goes with it
    return np.asarray(scale(without_row(values, changes), np.where(remaining > 1, remaining, np.nan)))


def mixing(effective: Any, count: Any) -> Any:
    """Scale an effective number of batches: 0 for one of them, 1 for all."""
    return (effective - 1.0) / (count - 1.0)


def _purity(effective: Any, count: Any) -> Any:
    return (count - effective) / (count - 1.0)


@measure(
    **LISI,
    symbol="iLISI",
    title="Mixing of batches",
    term="iLISI",
    bar=True,
    question="Are the batches mixed among the neighbors of a point?",
    warning="Batches are not mixed",
    goals=("batches",),
    default=11,
    needs=("coordinates", "batch"),
    chance_formula=MIXING_CHANCE,
    without=partial(lisi_without, of="batch", scale=mixing),
    caution=MIXING_CAUTION,
    exponent=1.0,
)
def ilisi(view: View, perplexity: int = 30) -> tuple[FloatArray, Notes]:
    r"""Compute the mean effective number of batches among the neighbors in the embedding, scaled to [0, 1].

    .. math:: \mathrm{iLISI} = \frac{1}{n} \sum_{i=1}^n \frac{L_i - 1}{B - 1}, \qquad
              L_i = \Big(\sum_b \big(\sum_{j: b_j = b} p_{j|i}\big)^2\Big)^{-1},

    with B batches, :math:`b_j` the batch of point j, and weights :math:`p_{j|i} \propto \exp(-\beta_i |y_i - y_j|)`
    over the 3 p - 1 nearest neighbors, where :math:`\beta_i` makes the perplexity (the exponential of the entropy) p.
    :math:`L_i` is the local inverse Simpson index. The data are not used.

    Points as far as the last neighbor share its weight, so that no order of ties matters. Batches of different sizes do
    not reach 1: compare with the chance level of batches with the same kinds of points; complete mixing of different
    kinds gives less. The value depends on n, since neighbors are nearer in more points. scib-metrics
    reports the median of the points (here of :math:`L_i`), dreval the mean, which has an interval; the values of points
    are equal. At least two batches are required, and fewer than points.

    See Also
    --------
    clisi : the same of labels, which should not be mixed.
    kbet : tests the shares of the batches in each neighborhood.
    silhouette_batch : mean distances within labels.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Y = np.random.default_rng(0).normal(size=(200, 2))
    >>> round(dreval.ilisi(Y, batch=np.arange(200) % 2), 3)
    0.919
    >>> round(dreval.ilisi(Y, batch=Y[:, 0] > 0), 3)
    0.224
    """
    return lisi(view, perplexity, "batch", mixing)


@measure(
    **LISI,
    symbol="cLISI",
    title="Purity of the labels",
    term="cLISI",
    question="Do the neighbors of a point have one label?",
    warning="Neighbors have several labels",
    goals=("classes", "batches"),
    needs=("coordinates", "labels"),
    without=partial(lisi_without, of="labels", scale=_purity),
    caution=SEPARATION,
    exponent=1.0,
)
def clisi(view: View, perplexity: int = 30) -> tuple[FloatArray, Notes]:
    r"""Measure how few labels there are among the neighbors of a point in the embedding, scaled to [0, 1].

    .. math:: \mathrm{cLISI} = \frac{1}{n} \sum_{i=1}^n \frac{C - L_i}{C - 1}, \qquad
              L_i = \Big(\sum_c \big(\sum_{j: c_j = c} p_{j|i}\big)^2\Big)^{-1},

    with C labels, :math:`c_j` the label of point j, and the weights :math:`p_{j|i}` of ``ilisi``: :math:`L_i` is the
    effective number of labels around point i. The data are not used. With many labels values are near 1 even where
    neighbors are mixed (four labels around each point of 100 give 0.97): compare with the chance level. The value
    depends on n, since the neighbors are nearer in more points. scib-metrics reports the median of the points (here of
    :math:`L_i`), dreval the mean, which has an interval; the values of points are equal. At least two labels are
    required, and fewer than points.

    See Also
    --------
    ilisi : the same of batches, which should be mixed.
    neighborhood_hit : the share of neighbors with the label of the point.
    isolated_labels : labels that few batches have.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Y = np.random.default_rng(0).normal(size=(200, 2))
    >>> round(dreval.clisi(Y, labels=Y[:, 0] > 0), 3)
    0.776
    >>> round(dreval.clisi(Y, labels=np.arange(200) % 2), 3)
    0.081
    """
    return lisi(view, perplexity, "labels", _purity)


@measure(
    symbol="GC",
    title="Connectivity of the labels",
    question="Is each label one connected piece of the graph of neighbors?",
    warning="Labels are split into pieces",
    goals=("classes", "batches"),
    level="global",
    needs=("coordinates", "labels"),
    direction="higher",
    bounds=(0.0, 1.0),
    chance="permutation",
    invariances=frozenset({"translation", "rotation", "scale", "monotone"}),
    smooth=False,
    jumps="one point can join or cut a piece",
    caution="Overlapping labels do not lower it: read it together with measures of their separation.",
    cost="O(n log n) time for d <= 8, O(n^2 d) beyond; O(n k) memory.",
    exponent=1.0,
    reference="@luecken2022.",
)
def graph_connectivity(view: View, n_neighbors: int = DEFAULT_NEIGHBORS) -> float:
    r"""Average over the labels the share of their points in the largest connected piece of the label's graph.

    .. math:: \mathrm{GC}(k) = \frac{1}{C} \sum_{c=1}^C \frac{|\mathrm{largest}(G_c)|}{n_c},

    with :math:`G_c` the graph of the :math:`n_c` points of label c in which two points are joined if one is among the k
    nearest neighbors of the other in the embedding. The data are not used. A label that batches or the method tear
    apart has a low value. Labels must be fewer than points: a label of one point is always connected.

    Points as far as the last neighbor are joined too, so that no order of ties matters. Edges have no direction, as in
    the paper. scib-metrics counts pieces in which every point can be reached from every other along directed edges,
    which gives lower values, and counts the point itself among its neighbors.

    See Also
    --------
    neighborhood_hit, silhouette : whether labels are apart.
    ilisi, silhouette_batch : whether batches are what tears a label.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Y = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> dreval.graph_connectivity(Y, labels=list("aaabbb"), n_neighbors=1)
    1.0
    >>> round(dreval.graph_connectivity(Y, labels=list("aabbbb"), n_neighbors=1), 3)
    0.875
    """
    classes = members(view, least=1)
    all_rows = view if len(view.rows) == view.n else replace(view, rows=view.population, _cache={}, _data_cache={})
    near = near_points(all_rows, n_neighbors)
    ends = np.repeat(np.arange(view.n), n_neighbors), near.neighbors.ravel()
    pieces = _joined_pieces(np.arange(view.n), classes.codes, *ends)
    tied = np.flatnonzero(near.tied)
    for block in row_blocks(len(tied), view.n):
        i, j = near.tied_pairs(tied[block])
        pieces = _joined_pieces(pieces, classes.codes, tied[block][i], j)
    sizes = np.bincount(pieces)[pieces]
    largest = np.zeros(len(classes.sizes))
    np.maximum.at(largest, classes.codes, sizes)
    return float(np.mean(largest / classes.sizes))


def _joined_pieces(pieces: IntArray, codes: IntArray, starts: IntArray, ends: IntArray) -> IntArray:
    """Return the pieces of a graph after edges within classes are added, each as the number of one of its points."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    inside, n = codes[starts] == codes[ends], len(codes)
    pairs = np.r_[np.arange(n), starts[inside]], np.r_[pieces, ends[inside]]
    edges = coo_array((np.ones(len(pairs[0]), np.int8), pairs), shape=(n, n))
    components = connected_components(edges, directed=False)[1]
    return np.asarray(np.unique(components, return_index=True)[1][components])


MAX_BATCHES_OF_ALL_SUBSETS = 10  # batches of which all subsets are tried
MIN_NEIGHBORHOODS = 10  # times that the points hold a neighborhood, below which there is no interval
MIN_EXPECTED = 5.0  # expected points of each batch below which the chi-squared test is a rough one


@measure(
    symbol="kBET",
    title="Neighborhoods with mixed batches",
    term="kBET",
    question="In how many neighborhoods do the batches have the shares that they have among all points?",
    warning="Batches are not mixed",
    share="of the neighborhoods have the batches of the whole",
    goals=("batches",),
    default=12,
    level="point",
    needs=("coordinates", "batch"),
    direction="higher",
    bounds=(0.0, 1.0),
    chance="permutation",
    chance_formula=MIXING_CHANCE,
    invariances=frozenset({"translation", "rotation", "scale", "monotone"}),
    interval_from=lambda size, **_: MIN_NEIGHBORHOODS * size,
    caution=f"{MIXING_CAUTION} Near 1 its interval is too short unless n is many times the parameter size.",
    cost="O(n log n) time for d <= 8, O(n^2 d) beyond; O(n k) memory.",
    exponent=1.0,
    reference="@buettner2019; without its adaptation of k, and at all points, as in scib-metrics.",
)
def kbet(view: View, size: int = 50, alpha: float = 0.05) -> tuple[FloatArray, Notes]:
    r"""Compute the share of points whose neighborhood a chi-squared test does not reject as a sample of all batches.

    .. math:: \mathrm{kBET} = \frac{1}{n} \sum_{i=1}^n \Big[\sum_{b=1}^B \frac{(o_{ib} - k f_b)^2}{k f_b}
              \le \chi^2_{B - 1, 1 - \alpha}\Big],

    with :math:`o_{ib}` the points of batch b among the k = ``size`` points of the neighborhood of i in the embedding
    (the point itself and its nearest neighbors), and :math:`f_b` the share of batch b among all points. The data are
    not used.

    Points as far as the last of a neighborhood count by their shares, so that no order of ties matters. No value is
    given where so many of all points are in a neighborhood that no test could reject. The value falls as n grows, since
    a neighborhood of k points then shows a smaller place: compare data sets of one size only.

    Neighborhoods are tested as if they were drawn at random, each at the level :math:`\alpha`: also batches that are
    mixed completely are rejected in some, and the chance level is the share that is accepted then. A batch whose kinds
    of points differ from those of the others is rejected however well it is placed; ``silhouette_batch`` looks within
    labels.

    Neighborhoods overlap: only about n / ``size`` are independent. Where these are few, a sample in which none or few
    neighborhoods are rejected shows little of the spread: of two batches mixed at random in two dimensions, an interval
    held the mean over samples in 98 % of 150 samples of 300 points at ``size=25``, and of 100 points in 79 % of 174.
    Below 10 ``size`` points there is no interval.

    See Also
    --------
    ilisi : the effective number of batches, without a test.
    silhouette_batch : mean distances within labels.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Y = np.random.default_rng(0).normal(size=(400, 2))
    >>> round(dreval.kbet(Y, batch=np.arange(400) % 2), 3)
    0.948
    >>> round(dreval.kbet(Y, batch=Y[:, 0] > 0), 3)
    0.113
    """
    if check_float(alpha, "alpha", high=1.0, above=0.0) == 1.0:
        raise UndefinedMeasure("alpha", "must be less than 1", "1", "Choose a level such as 0.05.")
    batches, size = members(view, of="batch"), check_int(size, "size", low=2)
    if not can_reject(tuple(batches.sizes.tolist()), size, alpha):
        requirement = "must leave out enough points for a test that can reject"
        raise UndefinedMeasure("size", requirement, f"{size} of {view.n} points", "Choose a smaller size.")
    p, least = neighborhood_tests(view, batches, size)
    notes = (note("kbet.few", least=least),) if least < MIN_EXPECTED else ()
    return (p >= alpha).astype(np.float64), notes


def neighborhood_tests(view: View, batches: Members, size: int) -> tuple[FloatArray, float]:
    """Return the p-value of the batches in the neighborhood of each row, and the expected points of the smallest one.

    A chi-squared test compares the row and its ``size`` - 1 nearest points with all points.
    """
    from scipy.special import chdtrc

    near, c = near_points(view, size - 1), len(batches.sizes)
    expected, p = size * batches.sizes / view.n, np.empty(len(near.rows))
    for part in row_blocks(len(near.rows), c):
        counts = near.part(part).shares(np.ones(near.neighbors[part].shape), batches, view.n_jobs)
        counts[np.arange(len(counts)), batches.codes[batches.rows[part]]] += 1.0  # the point itself
        p[part] = chdtrc(c - 1, ((counts - expected) ** 2 / expected).sum(axis=1))
    return p, float(expected.min())


@lru_cache(maxsize=1024)
def can_reject(sizes: tuple[int, ...], k: int, alpha: float) -> bool:
    """Return whether k points of batches of these sizes can be so uneven that the test of ``kbet`` rejects."""
    from scipy.special import chdtrc

    return bool(k < sum(sizes) and chdtrc(len(sizes) - 1, _most_uneven(np.array(sizes), k)) < alpha)


def _most_uneven(sizes: IntArray, k: int) -> float:
    """Return the largest statistic of k points: whole batches, and a part of one; of many batches a bound."""
    n = int(sizes.sum())
    if len(sizes) > MAX_BATCHES_OF_ALL_SUBSETS:
        return float(n - k)
    largest = 0.0
    for b, size in enumerate(sizes):
        other_sizes = np.delete(sizes, b)
        for chosen in product((0, 1), repeat=len(other_sizes)):
            whole = int(other_sizes @ chosen)
            if 0 <= k - whole <= size:
                largest = max(largest, n / k * (whole + (k - whole) ** 2 / size) - k)
    return largest


# The variance that the batches explain: principal-component regression on all components.


LEAST_EXPLAINED = 1e-12  # of the variance of the data, below which it is rounding


def _explained_share(within: Any, total: Any, n: int) -> Any:
    """Return the share of the squares about the mean that is between batches; NaN where all points are equal."""
    has_spread = total > n * TINY_SQUARE
    return np.where(has_spread, np.maximum(1.0 - within / np.where(has_spread, total, 1.0), 0.0), np.nan)


def _explained(points: FloatArray, batches: Members, argument: str) -> float:
    """Return the share of the variance of these points that the batches explain."""
    within, total = class_squares(unit(points), batches)
    share = float(_explained_share(within.sum(), total, len(points)))
    if math.isnan(share):
        raise UndefinedMeasure(argument, "must not have all points at one place", "no variance", "Check the table.")
    return share


def _explained_without(points: FloatArray, batches: Members) -> FloatArray:
    """Return the shares without each point (n,); NaN where one batch remains."""
    W, T = class_squares_without(points, batches)
    remaining = len(batches.sizes) - (batches.sizes[batches.codes] == 1)
    return np.where(remaining > 1, _explained_share(W, T, len(points) - 1), np.nan)


@per_view
def _explained_in_data(view: View) -> float:
    """Return the share of the variance of the data that the batches explain, computed once for all embeddings."""
    batches = members(view, of="batch")
    key = "variance that batches explain"
    return float(view.cached_per_data(key, lambda: _explained(view.features(), batches, "data")))


def _pcr_without(view: View) -> FloatArray:
    return _explained_without(view.Y[view.population], members(view, of="batch"))


def _pcr_chance(view: View) -> float:
    batches = members(view, of="batch")
    _explained(view.Y[view.population], batches, "embedding")  # raises where there is no value
    return (len(batches.sizes) - 1) / (view.n - 1)


@measure(
    symbol="PCR",
    title="Variance that the batches explain",
    term="principal-component regression",
    question="How much of the variance of the embedding lies between the batches?",
    warning="Batches have different places",
    share="of the variance lies between the batches",
    goals=("batches",),
    level="global",
    needs=("coordinates", "batch"),
    direction="lower",
    bounds=(0.0, 1.0),
    chance="permutation",
    chance_formula=(
        r":math:`(B - 1) / (n - 1)` with B batches: 0.01 for two batches of 101 points; where batches differ in their "
        "kinds of points, an embedding without a batch effect has more"
    ),
    expected=_pcr_chance,
    invariances=frozenset({"translation", "rotation", "scale"}),
    without=_pcr_without,
    caution=f"{MIXING_CAUTION} It sees where the batches lie, not how they are spread about their means.",
    cost="O(n d) time and memory.",
    exponent=1.0,
    reference="@buettner2019 (principal-component regression, of all components). @luecken2022.",
)
def pcr(view: View) -> float:
    r"""Compute the share of the variance of the embedding that lies between the batches.

    .. math:: \mathrm{PCR} = \frac{\sum_b n_b |m_b - m|^2}{\sum_i |y_i - m|^2},

    with the mean m of all points and the mean :math:`m_b` of the :math:`n_b` points of batch b. This is the regression
    of each principal component on the batches: the mean of their :math:`R^2`, weighted by the variances of the
    components, is this ratio, in which no component has to be computed. The data are not used. 0: all batches have the
    same mean; 1: each batch is one point. At least two batches are required, and fewer than points.

    It is linear: batches that are spread differently about the same mean have 0. Labels that not all batches have in
    equal shares explain a part of it. In simulations of two normal batches of 100 or 400 points in all, the intervals
    held the share of the population in 93 to 97 % of 300 samples, and always where it is 0.

    See Also
    --------
    pcr_comparison : the same, relative to the data.
    ilisi, kbet : the batches among neighbors.
    calinski_harabasz : the same sums of squares, as an F statistic of the labels.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Y = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> round(dreval.pcr(Y, batch=list("aaabbb")), 4)
    0.974
    >>> round(dreval.pcr(Y, batch=list("ababab")), 4)
    0.1082
    """
    return _explained(view.Y[view.population], members(view, of="batch"), "embedding")


def _pcr_comparison_without(view: View) -> FloatArray:
    """Return the values without each point; the interval of a value that is cut at 0 would have no length."""
    batches, data = members(view, of="batch"), _explained_in_data(view)
    if _explained(view.Y[view.population], batches, "embedding") >= data:
        requirement = "must leave the batches less of the variance than the data, for an interval"
        raise UndefinedMeasure("embedding", requirement, "as much or more", "Use pcr, which is not cut off.")
    key = "variance that batches explain without each point"
    before = view.cached_per_data(key, lambda: _explained_without(view.features(), batches))
    after = _explained_without(view.Y[view.population], batches)
    return np.maximum((before - after) / np.where(before > 0, before, np.nan), 0.0)


@measure(
    symbol="PCR_C",
    title="Removed share of the variance that the batches explain",
    term="principal-component regression comparison",
    question="How much of what the batches explain in the data is gone from the embedding?",
    warning="Batches explain half as much as in the data, or more",
    goals=("batches",),
    level="global",
    needs=("coordinates", "features", "batch"),
    direction="higher",
    bounds=(0.0, 1.0),
    chance="permutation",
    chance_formula=(
        "mean over 20 random permutations of the rows of the embedding: about 1 minus the chance level of ``pcr`` over "
        "its value in the data, since an embedding of noise has no batch effect"
    ),
    invariances=frozenset({"translation", "rotation", "scale"}),
    without=_pcr_comparison_without,
    caution=f"{MIXING_CAUTION} A value of 0 means that nothing was removed, or that the batches explain more.",
    cost="O(n (p + d)) time, again for each permutation beyond 10,000 points; O(n p) memory.",
    exponent=1.0,
    reference="@buettner2019. @luecken2022 (scale).",
)
def pcr_comparison(view: View) -> tuple[float, Notes]:
    r"""Compute the share of the variance between batches in the data that the embedding no longer has.

    .. math:: \mathrm{PCR}_C = \max\Big(0, \frac{\mathrm{PCR}(X) - \mathrm{PCR}(Y)}{\mathrm{PCR}(X)}\Big),

    with PCR the share of the variance that lies between the batches (``pcr``), of all columns of the data and of the
    embedding. 1: the batches explain nothing of the embedding; 0: as much as of the data, or more. A note in a table of
    results has both shares.

    Distances in the data are Euclidean here, whatever their metric. A map of few columns shows the directions of most
    variance, so that the batches may explain more of it than of the data although nothing was added: the value is 0
    then, and ``pcr`` has the number. Where the batches explain nothing of the data there is no value, and little means
    anything where they explain little: the note has that share.

    See Also
    --------
    pcr : the share in the embedding alone.
    ilisi, kbet : the batches among neighbors.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 3.0], [1.0, 3.0]])
    >>> round(dreval.pcr_comparison(X, X[:, :1], batch=list("aabb")), 3)
    1.0
    >>> round(dreval.pcr_comparison(X, X[:, :1] + X[:, 1:] / 3, batch=list("aabb")), 3)
    0.444
    """
    data = _explained_in_data(view)
    if data < LEAST_EXPLAINED:
        hint = "Use pcr, which does not divide by this share."
        raise UndefinedMeasure("data", "must have batches with different means", f"a share of {data:.2g}", hint)
    embedding = _explained(view.Y[view.population], members(view, of="batch"), "embedding")
    return max(0.0, (data - embedding) / data), (note("pcr.shares", data=data, embedding=embedding),)
