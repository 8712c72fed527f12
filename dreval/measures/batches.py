"""Measure how well batches mix in an embedding, and how well classes stay connected."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray, IntArray, check_float, check_int
from dreval._parallel import run_blocks, sum_over_rows
from dreval.errors import UndefinedMeasure
from dreval.geometry._loops import ROUNDING
from dreval.geometry.blocks import View, per_view
from dreval.geometry.distances import Space, power_of_two
from dreval.geometry.ranks import check_left_one, without_row
from dreval.measures.classes import SEPARATION, Members, members, neighbors_of, row_blocks, silhouette_widths
from dreval.measures.core import measure
from dreval.records.notes import ASSUMPTION, LIMIT, Notes, define

# What the measures of single-cell integration share: the nearest points with ties shared, LISI, and chance.

MIXED = (
    "mean over 20 random permutations of the rows of the embedding; of a measure of mixing it is the level of batches "
    "that are spread at random over all places, as in an embedding of noise; where batches differ in their kinds of "
    "points, complete mixing within each kind gives less"
)
NOISE = "An embedding of noise mixes batches completely: a high value says nothing without measures of the labels."
REDUCED = define("lisi.perplexity", ASSUMPTION, "perplexity {used}, which is as much as {n} points allow")


class Near(NamedTuple):
    """The k nearest others of each row, (m, k): positions, squared distances, and the rows where a tie decides who."""

    found: IntArray
    squared: FloatArray
    doubtful: npt.NDArray[np.bool_]
    points: FloatArray
    rows: IntArray

    def part(self, rows: slice) -> Near:
        """Return the neighbors of some of the rows."""
        return Near(self.found[rows], self.squared[rows], self.doubtful[rows], self.points, self.rows[rows])

    def shares(self, weights: FloatArray, classes: Members, n_jobs: int | None) -> FloatArray:
        """The weight of each class among the neighbors of each row, (m, c).

        Where others are as far as the last neighbors, these share their weight with all of them: its mean over all
        orders of ties, so that no value depends on the order of the points.
        """
        m, c = len(self.found), len(classes.sizes)
        cells = classes.codes[self.found] + c * np.arange(m)[:, None]
        total = np.bincount(cells.ravel(), weights.ravel(), m * c).reshape(m, c)
        at = np.flatnonzero(self.doubtful)
        last = self.squared[at, -1:]
        edge = _as_far(self.squared[at], last)
        certain = np.where(edge, 0.0, weights[at])
        part = classes.codes[self.found[at]] + c * np.arange(len(at))[:, None]
        total[at] = np.bincount(part.ravel(), certain.ravel(), len(at) * c).reshape(len(at), c)
        counts = np.zeros((len(at), c))

        def one(block: slice) -> None:
            i, j = self.tied(at[block])
            counts[block] = np.bincount(i * c + classes.codes[j], minlength=counts[block].size).reshape(-1, c)

        run_blocks(one, row_blocks(len(at), len(self.points)), n_jobs)
        shared = (weights[at] - certain).sum(axis=1, keepdims=True)
        total[at] += shared * counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
        return total

    def tied(self, at: IntArray) -> tuple[IntArray, IntArray]:
        """Pairs of a place in ``at`` and a point that is as far from that row as its last neighbor."""
        far = _as_far(Space.of(self.points).direct_block(self.rows[at]), self.squared[at, -1:])
        far[np.arange(len(at)), self.rows[at]] = False
        i, j = np.nonzero(far)
        return i, j


def _as_far(squared: FloatArray, last: FloatArray) -> npt.NDArray[np.bool_]:
    """Whether squared distances are equal to others up to rounding."""
    return np.asarray(np.abs(squared - last) <= 2.0 * ROUNDING * last)


@per_view
def near_points(view: View, k: int) -> Near:
    """The k nearest others of the rows in the embedding."""
    points, rows = view.Y[view.population], np.searchsorted(view.population, view.rows)
    points = points * power_of_two(points)  # so that no square overflows or vanishes
    found, squared = neighbors_of(points, rows, min(k + 1, len(points) - 1), view.n_jobs)
    doubtful = _as_far(squared[:, k:], squared[:, k - 1 : k]).any(axis=1)  # the next one is as far as the last
    return Near(found[:, :k], squared[:, :k], doubtful, points, rows)


@per_view
def _weights(view: View, perplexity: int) -> FloatArray:
    """Weights of this perplexity of the 3 perplexity - 1 neighbors of each row."""
    from dreval.geometry._loops import effective_classes as loops

    distances = np.sqrt(near_points(view, 3 * perplexity - 1).squared)
    weights = np.empty_like(distances)
    loops.weigh_rows(distances, perplexity, weights)
    return weights


def _most_perplexity(n: int, perplexity: int) -> int:
    """The perplexity, as far as n points allow it."""
    return max(min(perplexity, n // 3), 1)


def lisi(view: View, classes: Members, perplexity: int) -> tuple[FloatArray, Notes]:
    """The effective number of classes among the neighbors of each row, between 1 and their number."""
    check_int(perplexity, "perplexity", low=2)
    used = _most_perplexity(view.n, perplexity)
    near, weights = near_points(view, 3 * used - 1), _weights(view, used)
    effective = np.empty(len(near.rows))
    for part in row_blocks(len(near.rows), len(classes.sizes)):
        shares = near.part(part).shares(weights[part], classes, view.n_jobs)
        effective[part] = 1.0 / (shares**2).sum(axis=1)
    return effective, () if used == perplexity else (REDUCED(used=used, n=view.n),)


def lisi_without(view: View, classes: Members, perplexity: int) -> tuple[FloatArray, FloatArray]:
    """The mean effective number without each point, and the number of classes that are left; NaN if that is one."""
    from dreval.geometry._loops import effective_classes as loops

    check_int(perplexity, "perplexity", low=2)
    check_left_one(view.n, 1)
    n, c = view.n, len(classes.sizes)
    used = _most_perplexity(n - 1, perplexity)
    k = min(3 * used - 1, n - 2)
    near = near_points(view, min(k + 2, n - 1))
    distances, values = np.sqrt(near.squared), np.empty(n)
    unclear = _as_far(near.squared[:, k:], near.squared[:, k - 1 : -1]).any(axis=1)
    behind = near._replace(found=near.found[:, : k + 1], squared=near.squared[:, : k + 1])

    def one(part: slice, changes: FloatArray) -> None:
        for block in row_blocks(part.stop - part.start, n):
            rows = slice(part.start + block.start, part.start + block.stop)
            at = rows.start + np.flatnonzero(unclear[rows])
            i, far = behind.tied(at)
            counts = np.bincount(at[i] - rows.start, minlength=rows.stop - rows.start)
            given = (classes.codes, np.r_[0, np.cumsum(counts)], far, c, values[rows], changes)
            loops.effective_without(near.found[rows], distances[rows], k, used, *given)

    changes = sum_over_rows(one, n, np.zeros(n), view.n_jobs)
    left = np.where(classes.sizes[classes.codes] == 1, c - 1.0, float(c))
    return without_row(values, changes), np.where(left > 1, left, np.nan)


LISI: dict[str, Any] = {  # what the cards of iLISI and cLISI share
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


def _clisi_without(view: View, perplexity: int) -> FloatArray:
    """The next neighbor steps in where a point was one; a label of one point goes with it."""
    values, left = lisi_without(view, members(view), perplexity)
    return (left - values) / (left - 1.0)


@measure(
    symbol="cLISI",
    title="cLISI, purity of the labels",
    question="Do the neighbors of a point have one label?",
    says=("Most neighbors have the same label", "Neighbors have several labels"),
    goals=("classes", "batches"),
    needs=("coordinates", "labels"),
    without=_clisi_without,
    caution=SEPARATION,
    **LISI,
)
def clisi(view: View, perplexity: int = 30) -> tuple[FloatArray, Notes]:
    r"""How few labels there are among the neighbors of a point in the embedding, scaled to [0, 1]; mean over points.

    .. math:: \mathrm{cLISI} = \frac{1}{n} \sum_{i=1}^n \frac{C - L_i}{C - 1}, \qquad
              L_i = \Big(\sum_c \big(\sum_{j: c_j = c} p_{j|i}\big)^2\Big)^{-1},

    with C labels, :math:`c_j` the label of point j, and the weights :math:`p_{j|i}` of ``ilisi``: :math:`L_i` is the
    effective number of labels around point i. The data are not used. With many labels values are near 1 even where
    neighbors are mixed (four labels around each point of 100 give 0.97): compare with chance. The value depends on n,
    since the neighbors are nearer in more points. scib-metrics reports the
    median of the points (here of :math:`L_i`), dreval the mean, which has an interval; the values of points are equal.
    At least two labels are required, and fewer than points.

    See Also
    --------
    ilisi : the same of batches, which should be mixed.
    neighborhood_hit : the share of neighbors with the label of the point.
    isolated_labels : labels that few batches have.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Y = np.random.default_rng(0).normal(size=(200, 2))
    >>> round(dreval.clisi(Y, Y, labels=Y[:, 0] > 0), 3)
    0.776
    >>> round(dreval.clisi(Y, Y, labels=np.arange(200) % 2), 3)
    0.081
    """
    classes = members(view)
    values, notes = lisi(view, classes, perplexity)
    c = float(len(classes.sizes))
    return (c - values) / (c - 1.0), notes


@measure(
    symbol="GC",
    title="Connectivity of the labels",
    question="Is each label one connected piece of the graph of neighbors?",
    says=("Nearly all points of a label are connected", "Labels are split into pieces"),
    goals=("classes", "batches"),
    level="global",
    needs=("coordinates", "labels"),
    direction="higher",
    bounds=(0.0, 1.0),
    chance="permutation",
    invariances=frozenset({"translation", "rotation", "scale", "monotone"}),
    smooth=False,
    jumps="one point can join or cut a piece",
    caution="Labels that lie on top of each other do not show: read it beside measures of their separation.",
    cost="O(n log n) time for d <= 8, O(n^2 d) beyond; O(n k) memory.",
    reference="@luecken2022.",
)
def graph_connectivity(view: View, n_neighbors: int = 15) -> float:
    r"""Mean over the labels of the share of their points in the largest connected piece of the label's graph.

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
    >>> dreval.graph_connectivity(Y, Y, labels=list("aaabbb"), n_neighbors=1)
    1.0
    >>> round(dreval.graph_connectivity(Y, Y, labels=list("aabbbb"), n_neighbors=1), 3)
    0.875
    """
    classes = members(view, least=1)
    every = view if len(view.rows) == view.n else replace(view, rows=view.population, _kept={}, _of_data={})
    near = near_points(every, n_neighbors)
    ends = np.repeat(np.arange(view.n), n_neighbors), near.found.ravel()
    pieces = _connected_share(np.arange(view.n), classes.codes, *ends)
    doubtful = np.flatnonzero(near.doubtful)
    for block in row_blocks(len(doubtful), view.n):
        i, j = near.tied(doubtful[block])
        pieces = _connected_share(pieces, classes.codes, doubtful[block][i], j)
    sizes = np.bincount(pieces)[pieces]
    largest = np.zeros(len(classes.sizes))
    np.maximum.at(largest, classes.codes, sizes)
    return float(np.mean(largest / classes.sizes))


def _connected_share(pieces: IntArray, codes: IntArray, first: IntArray, second: IntArray) -> IntArray:
    """The pieces of a graph after edges within classes are added; each piece is the number of one of its points."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    inside, n = codes[first] == codes[second], len(codes)
    ends = np.r_[np.arange(n), first[inside]], np.r_[pieces, second[inside]]
    edges = coo_array((np.ones(len(ends[0]), np.int8), ends), shape=(n, n))
    found = connected_components(edges, directed=False)[1]
    return np.asarray(np.unique(found, return_index=True)[1][found])


def _ilisi_without(view: View, perplexity: int) -> FloatArray:
    """The next neighbor steps in where a point was one; a batch of one point goes with it."""
    values, left = lisi_without(view, members(view, of="batch"), perplexity)
    return (values - 1.0) / (left - 1.0)


@measure(
    symbol="iLISI",
    title="iLISI, mixing of batches",
    question="Are the batches mixed among the neighbors of a point?",
    says=("Batches are mixed", "Batches are not mixed"),
    goals=("batches",),
    needs=("coordinates", "batch"),
    chance_formula=MIXED,
    without=_ilisi_without,
    caution=NOISE,
    **LISI,
)
def ilisi(view: View, perplexity: int = 30) -> tuple[FloatArray, Notes]:
    r"""Effective number of batches among the neighbors of a point in the embedding, scaled to [0, 1]; mean over points.

    .. math:: \mathrm{iLISI} = \frac{1}{n} \sum_{i=1}^n \frac{L_i - 1}{B - 1}, \qquad
              L_i = \Big(\sum_b \big(\sum_{j: b_j = b} p_{j|i}\big)^2\Big)^{-1},

    with B batches, :math:`b_j` the batch of point j, and weights :math:`p_{j|i} \propto \exp(-\beta_i |y_i - y_j|)`
    over the 3 p - 1 nearest neighbors, where :math:`\beta_i` makes the perplexity (the exponential of the entropy) p.
    :math:`L_i` is the local inverse Simpson index. The data are not used.

    Points as far as the last neighbor share its weight, so that no order of ties matters. Batches of different sizes do
    not reach 1: compare with chance, which holds for batches with the same kinds of points; with different kinds less
    is complete. The value depends on n, since neighbors are nearer in more points. scib-metrics
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
    >>> round(dreval.ilisi(Y, Y, batch=np.arange(200) % 2), 3)
    0.919
    >>> round(dreval.ilisi(Y, Y, batch=Y[:, 0] > 0), 3)
    0.224
    """
    batches = members(view, of="batch")
    values, notes = lisi(view, batches, perplexity)
    return (values - 1.0) / (len(batches.sizes) - 1.0), notes


FEW_BATCHES = 10  # of which all subsets are tried
MIN_NEIGHBORHOODS = 10  # times that the points hold a neighborhood, below which an interval may be too short
MIN_EXPECTED = 5.0  # expected points of each batch below which the chi-squared test is a rough one
FEW = define(
    "kbet.few",
    LIMIT,
    "a neighborhood is expected to hold {least:.2g} points of the smallest batch: a rough test",
    "Choose a larger size.",
)
OVERLAP = define(
    "kbet.overlap",
    LIMIT,
    "only about {count:.0f} neighborhoods are independent: an interval may be too short",
    "Choose a smaller size.",
)


@measure(
    symbol="kBET",
    title="kBET, neighborhoods with mixed batches",
    question="In how many neighborhoods do the batches have the shares that they have among all points?",
    says=("Batches are mixed", "Batches are not mixed"),
    share="of the neighborhoods have the batches of the whole",
    goals=("batches",),
    level="point",
    needs=("coordinates", "batch"),
    direction="higher",
    bounds=(0.0, 1.0),
    chance="permutation",
    chance_formula=MIXED,
    invariances=frozenset({"translation", "rotation", "scale", "monotone"}),
    caution=f"{NOISE} Near 1 its interval is too short unless n is many times the parameter size.",
    cost="O(n log n) time for d <= 8, O(n^2 d) beyond; O(n k) memory.",
    operations=lambda s, **_: 9000 * s.n,
    reference="@buettner2019; without its adaptation of k, and at all points, as in scib-metrics.",
)
def kbet(view: View, size: int = 50, alpha: float = 0.05) -> tuple[FloatArray, Notes]:
    r"""Share of the points whose neighborhood a chi-squared test does not reject as a sample of all batches.

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
    neighborhoods are rejected shows little of the spread, and its interval is too short. Of two batches that were mixed
    at random in two dimensions, it held the mean of the values of all samples in 98 % of 150 samples of 300 points at
    ``size=25`` and in 89 % of 200 at ``size=50``; of 100 points in 79 % of 174 at ``size=25`` and 92 % of 86 at
    ``size=50`` (the other samples, of 200 each, had the value 1 whatever was left out, and so no interval). Those that
    missed it lay above it.

    See Also
    --------
    ilisi : the effective number of batches, without a test.
    silhouette_batch : mean distances within labels.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Y = np.random.default_rng(0).normal(size=(400, 2))
    >>> round(dreval.kbet(Y, Y, batch=np.arange(400) % 2), 3)
    0.948
    >>> round(dreval.kbet(Y, Y, batch=Y[:, 0] > 0), 3)
    0.113
    """
    from scipy.special import chdtrc

    if check_float(alpha, "alpha", high=1.0, above=0.0) == 1.0:
        raise UndefinedMeasure("alpha", "must be less than 1", "1", "Choose a level such as 0.05.")
    batches, size = members(view, of="batch"), check_int(size, "size", low=2)
    expected, c = size * batches.sizes / view.n, len(batches.sizes)
    if chdtrc(c - 1, _most_uneven(batches.sizes, size)) >= alpha:
        rule, cure = "must leave out enough points for a test that can reject", "Choose a smaller size."
        raise UndefinedMeasure("size", rule, f"{size} of {view.n} points", cure)
    near = near_points(view, size - 1)
    p = np.empty(len(near.rows))
    for part in row_blocks(len(near.rows), c):
        counts = near.part(part).shares(np.ones(near.found[part].shape), batches, view.n_jobs)
        counts[np.arange(len(counts)), batches.codes[batches.rows[part]]] += 1.0  # the point itself
        p[part] = chdtrc(c - 1, ((counts - expected) ** 2 / expected).sum(axis=1))
    notes = (FEW(least=float(expected.min())),) if expected.min() < MIN_EXPECTED else ()
    notes += (OVERLAP(count=view.n / size),) if view.n < MIN_NEIGHBORHOODS * size else ()
    return (p >= alpha).astype(np.float64), notes


def _most_uneven(sizes: IntArray, k: int) -> float:
    """The largest statistic that k points can have: whole batches, and a part of one; of many batches a bound."""
    n = int(sizes.sum())
    if len(sizes) > FEW_BATCHES:
        return float(n - k)
    largest = 0.0
    for b, size in enumerate(sizes):
        others = np.delete(sizes, b)
        for chosen in product((0, 1), repeat=len(others)):
            whole = int(others @ chosen)
            if 0 <= k - whole <= size:
                largest = max(largest, n / k * (whole + (k - whole) ** 2 / size) - k)
    return largest


LEFT = define(
    "silhouette_batch.left", ASSUMPTION, "labels of one batch, or with one point of each, are left out: {count}"
)


@measure(
    symbol="ASW_B",
    title="Silhouette of the batches",
    question="Within each label, do the batches overlap?",
    says=("Within labels, batches overlap", "Within labels, batches are separate"),
    goals=("batches",),
    level="global",
    needs=("coordinates", "labels", "batch"),
    direction="higher",
    bounds=(0.0, 1.0),
    chance="permutation",
    chance_formula=MIXED,
    quadratic=True,
    invariances=frozenset({"translation", "rotation", "scale"}),
    caution=NOISE,
    cost="O(sum of n_c^2 d) time for labels of n_c points; O(n) memory beside one block of rows.",
    reference="@luecken2022.",
)
def silhouette_batch(view: View) -> tuple[float, Notes]:
    r"""Mean over the labels of 1 - |s|, with s the silhouette widths of its points with the batches as clusters.

    .. math:: \mathrm{ASW}_B = \frac{1}{C} \sum_{c=1}^C \frac{1}{n_c} \sum_{i: c_i = c} (1 - |s_i|),

    with :math:`s_i` the silhouette width (``silhouette``) of point i among the points of its label, with their batches
    as clusters. 1: the batches of each label overlap; 0: they are separate. Labels that have one batch, or as
    many batches as points, are left out, with a note. The data are not used.

    A silhouette compares with the nearest other batch: where two of several batches overlap and the others lie apart,
    the value is high (Rautenstrauch & Ohler 2025). Read it beside ``ilisi``.

    See Also
    --------
    silhouette : of the labels.
    ilisi, kbet : the batches among neighbors.
    isolated_labels : labels that few batches have.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Y = np.random.default_rng(0).normal(size=(200, 2))
    >>> labels, batch = np.repeat(list("ab"), 100), np.arange(200) % 2
    >>> round(dreval.silhouette_batch(Y, Y, labels=labels, batch=batch), 3)
    0.912
    >>> round(dreval.silhouette_batch(Y, Y + 9.0 * batch[:, None], labels=labels, batch=batch), 3)
    0.139
    """
    classes, batches = (members(view, least=1, of=of, alone=True) for of in ("labels", "batch"))
    points = view.Y[view.population]
    means = []
    for own in np.split(np.argsort(classes.codes, kind="stable"), np.cumsum(classes.sizes)[:-1]):
        codes, sizes = np.unique(batches.codes[own], return_inverse=True, return_counts=True)[1:]
        if 1 < len(sizes) < len(own):
            widths = silhouette_widths(points[own], Members(codes, sizes, np.arange(len(own))), view.n_jobs)
            means.append(float(np.mean(1.0 - np.abs(widths))))
    if not means:
        cure = "Pass batches that share labels; ilisi needs no labels."
        raise UndefinedMeasure("batch", "must have a label of several batches and more points", "none", cure)
    left = len(classes.sizes) - len(means)
    return float(np.mean(means)), (LEFT(count=left),) if left else ()
