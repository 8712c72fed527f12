"""Measure how well labels or latent variables are predicted from the embedding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from dreval._check import DEFAULT_NEIGHBORS, IntArray, check_int
from dreval._parallel import run_blocks
from dreval._random import stream
from dreval.errors import UndefinedMeasure
from dreval.geometry._loops import ROUNDING
from dreval.geometry.blocks import View, per_view
from dreval.geometry.distances import Space, nearest, pairwise_squared
from dreval.geometry.ranks import check_left_one, doubtful_rows, hit_bounds, vote_bounds, without_row
from dreval.measures.classes import SEPARATION, Members, as_near, centroids, members, neighbors_of, row_blocks, unit
from dreval.measures.core import FloatArray, measure
from dreval.records.notes import Notes, note

# k-NN accuracy: votes of the nearest other points or points of other folds, mostly from lists of neighbors.

MAX_LISTED_POINTS = 50_000  # points up to which all neighbor lists are kept; of more only the requested rows
MAX_LIST_RISK = 1e-6  # probability that a list holds too few points of other folds
MAX_ANCHOR_RISK = 1e-12  # the same for lists of anchors, which are never searched again
SORTED_AT_ONCE = 1 << 16  # points whose classes are sorted at once
APART = 2 * ROUNDING  # a list ends before the first distance that is relatively nearer than this to the next distance


def _knn_accuracy_ties(view: View, n_neighbors: int, n_splits: int | None) -> tuple[FloatArray, FloatArray] | None:
    points, labels = view.Y[view.population], _codes(view)[view.population]
    n_splits = _fold_count(view, n_splits)
    rows, changes = _classified(view), []
    unlisted = rows[~_listed(view, n_neighbors + 1, n_splits, rows)[0]]
    for test, train in _splits(view, n_splits, unlisted):
        k = min(n_neighbors, len(train))
        doubtful = doubtful_rows(points, test, train, k, view.n_jobs, within=True)
        if len(doubtful):
            changes.append((doubtful, *vote_bounds(points, doubtful, train, k, labels, view.n_jobs)))
    if not changes:
        return None
    worst = _correct(view, n_neighbors, n_splits).astype(np.float64)
    best = worst.copy()
    for doubtful, always_right, ever_right in changes:
        worst[doubtful], best[doubtful] = always_right, ever_right
    return worst[rows], best[rows]


def _knn_accuracy_without(view: View, n_neighbors: int, n_splits: int | None) -> FloatArray:
    """Recount the votes of each point with the next neighbor; the folds do not change."""
    labels = _codes(view)[view.population]
    n_splits = _fold_count(view, n_splits)
    correct, changes = np.zeros(len(labels)), np.zeros(len(labels))
    for test, neighbors in _voters(view, n_neighbors + 1, n_splits, np.arange(view.n)):
        k = min(n_neighbors, neighbors.shape[1])
        classes = labels[neighbors]
        correct[test] = _vote(classes[:, :k]) == labels[test]
        for t in range(k):
            remaining = np.delete(classes, t, axis=1)
            right = _vote(remaining) == labels[test] if remaining.shape[1] else np.zeros(len(test))
            changes += np.bincount(neighbors[:, t], right - correct[test], len(labels))
    return without_row(correct, changes)


@measure(
    symbol="A",
    title="Class accuracy",
    term="k-NN accuracy",
    noun="accuracy",
    bar=True,
    question="Can the class of a point be predicted from its neighbors in the embedding?",
    warning="Neighbors do not predict the class of many points",
    share="of the points have the class that {n_neighbors} neighbors predict",
    goals=("prediction",),
    level="point",
    needs=("coordinates", "labels"),
    direction="higher",
    bounds=(0.0, 1.0),
    chance="permutation",
    invariances=frozenset({"translation", "rotation", "scale", "monotone"}),
    default=10,
    ties=_knn_accuracy_ties,
    without=_knn_accuracy_without,
    crossed=True,
    reach=lambda n, n_neighbors, n_splits: reach(n_neighbors, n_splits, n, MAX_ANCHOR_RISK),
    caution=SEPARATION,
    cost="O(n log n) time for d <= 8, O(n^2 d) beyond; O(n k) memory.",
    exponent=1.0,
    reference="@li2022, Section 3.2 (k in {5, 10, 20}); leave-one-out, or stratified folds.",
)
def knn_accuracy(
    view: View, n_neighbors: int = 10, n_splits: int | None = None
) -> FloatArray | tuple[FloatArray, Notes]:
    r"""Compute the accuracy of the majority vote of the k nearest neighbors in the embedding, leaving out one point.

    .. math:: A(k) = \frac{1}{n} \sum_{i=1}^n [\hat c_i = c_i],

    where :math:`\hat c_i` is the majority class of the k nearest neighbors of point i, which has no vote itself
    (leave-one-out); a tied vote goes to the class of the nearer neighbor. Nothing is random. The data are not used. At
    least two classes are required, and fewer than points.

    With ``n_splits`` the neighbors are the nearest points outside the fold of the point (all such points where fewer
    than k are left). Folds are stratified by class and shuffled by the seed, the same for every embedding. They are
    dealt out class by class, in the order of the classes (text by the alphabet), so that classes with other names may
    have other folds. Values and p-values then depend on the seed. In an evaluation with ``groups=`` the folds are the
    groups: neighbors are those from other groups, since cells of one donor or pages of one document resemble each
    other.

    See Also
    --------
    neighborhood_hit : share of neighbors of the same class.
    label_retrieval_auc : all scales at once, without k.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Y = np.random.default_rng(0).normal(size=(200, 2))
    >>> labels = Y[:, 0] > 0
    >>> dreval.knn_accuracy(Y, labels=labels) > 0.9
    True
    """
    if n_splits is not None:
        check_int(n_splits, "n_splits", low=2)
    members(view)
    values = _correct(view, n_neighbors, _fold_count(view, n_splits))[_classified(view)].astype(np.float64)
    return values if view.nested_in is None else (values, (note("knn.groups"),))


def _correct(view: View, n_neighbors: int, n_splits: int | None) -> npt.NDArray[np.bool_]:
    """Return whether each point of the population is classified, and rightly."""
    labels = view.of_population(_codes(view))
    correct = np.zeros(len(labels), np.bool_)
    for test, neighbors in _voters(view, n_neighbors, n_splits, _classified(view)):
        correct[test] = _vote(labels[neighbors]) == labels[test]
    return correct


def _classified(view: View) -> IntArray:
    """Return the points that are classified, by their places in the population.

    Of many points whose rows are permuted these are the points with the coordinates of the anchors, whose neighbors are
    in lists.
    """
    if not view.streamed or view.origin is None:
        return view.within(view.rows)
    points: IntArray = view.origin.inverse(view.rows)
    return points


def _voters(view: View, k: int, n_splits: int | None, rows: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield parts of the rows and their k nearest points outside their own fold, or all of these if they are fewer.

    Without folds these are the k nearest other points. Most are read from the lists of neighbors; the others are
    searched, fold by fold.
    """
    in_lists, neighbors = (_listed_by_anchors if view.streamed else _listed)(view, k, n_splits, rows)
    yield rows[in_lists], neighbors
    if in_lists.all():
        return
    points = view.Y[view.population]
    if n_splits is None:
        unlisted = rows[~in_lists]
        yield unlisted, neighbors_of(points, unlisted, min(k, len(points) - 1), view.n_jobs)[0]
        return
    for test, train in _splits(view, n_splits, rows[~in_lists]):
        yield test, train[nearest(points[train], min(k, len(train)), points[test], view.n_jobs)[0]]


def reach(k: int, n_splits: int | None, n: int, risk: float) -> int:
    """Return how many neighbors hold k outside the own fold, except with probability ``risk``; at most n - 2."""
    from scipy.special import bdtr

    size = k
    if n_splits is None:
        return size
    while size < n - 2 and bdtr(k - 1, size, 1.0 - 1.0 / n_splits) > risk:
        size += 1
    return size


def _first_outside(outside: npt.NDArray[np.bool_], k: int) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Return which lists hold k points outside the own fold, and in these lists the places of the first k of them."""
    count = np.cumsum(outside, axis=1)
    in_lists = count[:, -1] >= k
    return in_lists, outside[in_lists] & (count[in_lists] <= k)


def _listed_by_anchors(
    view: View, k: int, n_splits: int | None, rows: IntArray
) -> tuple[npt.NDArray[np.bool_], IntArray]:
    """Do the same as ``_listed`` for the points with the coordinates of the anchors, from the lists of their pass."""
    anchors, of_anchors = view.cached_per_embedding("lists of the anchors", lambda: (view.rows, view.nearest_embedding))
    lists = of_anchors[np.searchsorted(anchors, view.rows)]  # a chance value may use some of them
    neighbors = lists if view.origin is None else view.origin.inverse(lists)
    folds = _folds_of(view, n_splits)
    in_lists, places = _first_outside(folds[neighbors] != folds[rows][:, None], k)
    return in_lists, neighbors[in_lists][places].reshape(-1, k)


def _listed(view: View, k: int, n_splits: int | None, rows: IntArray) -> tuple[npt.NDArray[np.bool_], IntArray]:
    """Return whose list of neighbors holds k points outside the own fold, no two at one distance; and these k points.

    They are sorted, the nearest first. Permuted rows of an embedding are other labels and folds on the same lists.
    """
    n, population = view.n, view.population
    size = -(reach(k, n_splits, n, MAX_LIST_RISK) // -8) * 8  # the same lists for k and k + 1
    if size + 1 > n - 1:
        return np.zeros(len(rows), np.bool_), np.empty((0, k), np.int64)
    place = np.arange(n) if view.origin is None else np.searchsorted(population, view.origin[population])
    at_place = np.empty(n, np.int64)
    at_place[place] = np.arange(n)
    original = population[at_place]  # as before the permutation
    points, folds = view.Y[original], _folds_of(view, n_splits)[original]

    def clear_lists(at: IntArray) -> npt.NDArray[np.int32]:
        neighbors, squared = neighbors_of(points, at, size + 1, view.n_jobs)
        with np.errstate(invalid="ignore"):  # between infinite distances
            apart = squared[:, 1:] - squared[:, :-1] > APART * squared[:, 1:]
        clear = np.logical_and.accumulate(apart, axis=1)
        return np.where(clear, neighbors[:, :-1], at[:, None]).astype(np.int32)  # a point is in its own fold

    row_places = place[rows]
    if n <= MAX_LISTED_POINTS:
        lists = view.cached_per_embedding(("neighbors of all", size), lambda: clear_lists(np.arange(n)))[row_places]
    else:
        lists = clear_lists(row_places)
    in_lists, places = _first_outside(folds[lists] != folds[row_places][:, None], k)
    return in_lists, at_place[lists[in_lists][places]].reshape(-1, k)


def _splits(view: View, n_splits: int | None, rows: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield the rows that are in a fold, and its training points; no fold without rows or without training points.

    Without folds all rows are one part, and all points, the row itself included, are its training points.
    """
    if n_splits is None:
        yield rows, np.arange(view.n)
        return
    folds = view.of_population(_folds_of(view, n_splits))
    for fold in range(n_splits):
        test, train = rows[folds[rows] == fold], np.flatnonzero(folds != fold)
        if len(test) and len(train):
            yield test, train


def _fold_count(view: View, n_splits: int | None) -> int | None:
    """Return the number of folds: the groups of points that belong together, if there are any; None for each point."""
    return n_splits if view.nested_in is None else int(view.nested_in.max()) + 1


def _folds_of(view: View, n_splits: int | None) -> IntArray:
    """Return the fold of every point: its group, where points belong together, and without folds the point itself."""
    if view.nested_in is not None:
        return view.nested_in
    if n_splits is None:
        return np.arange(len(_codes(view)))
    folds: IntArray = view.cached_per_data(
        ("folds", n_splits), lambda: _folds(_codes(view), n_splits, stream(view.seed, "folds"))
    )
    return folds


def _codes(view: View) -> np.ndarray:
    if view.labels is None:
        raise RuntimeError("this view was made without labels")
    return view.labels


def _folds(labels: np.ndarray, n_splits: int, rng: np.random.Generator) -> np.ndarray:
    """Return stratified folds: the shuffled points, sorted by class, are dealt out in turn."""
    n = len(labels)
    order = np.arange(n, dtype=np.int32 if n < 2**31 else np.int64)
    rng.shuffle(order)
    sizes = np.bincount(labels)
    next_of, folds = np.cumsum(sizes) - sizes, np.empty(n, np.min_scalar_type(n_splits))
    for at in range(0, n, SORTED_AT_ONCE):  # the points of each class follow each other, as if all were sorted by it
        part = order[at : at + SORTED_AT_ONCE]
        part = part[np.argsort(labels[part], kind="stable")]
        classes, starts, count = np.unique(labels[part], return_index=True, return_counts=True)
        folds[part] = (np.arange(len(part)) + np.repeat(next_of[classes] - starts, count)) % n_splits
        next_of[classes] += count
    return folds


def _vote(classes: np.ndarray) -> np.ndarray:
    """Return the majority class of each row (neighbors nearest first); a tie goes to the class that comes first."""
    votes = np.zeros(classes.shape, np.int64)
    for column in classes.T:
        votes += classes == column[:, None]
    return classes[np.arange(len(classes)), np.argmax(votes, axis=1)]


# Label-trustworthiness and label-continuity: the separation of pairs of classes by their centroids in both spaces.

TILE = 1024  # classes that are compared with as many other classes at once
PAIRS_OF_CLASSES: dict[str, Any] = {
    "goals": ("classes", "arrangement"),
    "level": "global",
    "needs": ("coordinates", "features", "labels"),
    "direction": "higher",
    "bounds": (-1.0, 1.0),
    "chance": "permutation",
    "invariances": frozenset({"translation", "rotation", "scale"}),
    "cost": (
        "O(n c (p + d)) time with c classes, for each point with each centroid, which both measures share;\n"
        "O(n (p + d)) memory plus the pairs of 1024 classes with as many."
    ),
    "reference": (
        "@jeon2024, with distance consistency as the measure of class-label matching, rescaled to 2 s - 1 as in the "
        "authors' program (ZADU leaves the rescaling out)."
    ),
}


class _SortedClasses:
    """Points of size 1, sorted by class, and the centroids of the classes.

    ``to_center`` holds the squared distances of the points to the centroid of their class, as soon as their class was
    compared with itself.
    """

    def __init__(self, points: FloatArray, classes: Members) -> None:
        points = unit(points)
        self.points = points[np.argsort(classes.codes, kind="stable")]
        self.centers, self.starts = centroids(points, classes), np.r_[0, np.cumsum(classes.sizes)]
        self.codes, self.to_center = np.repeat(np.arange(len(classes.sizes)), classes.sizes), np.empty(len(points))

    def nearer(self, a: slice, b: slice) -> FloatArray:
        """Count the points of each class of ``a`` that are nearer to its centroid than to each centroid of ``b``.

        A point at the same distance from both counts one half.
        """
        counts, start = np.zeros((a.stop - a.start, b.stop - b.start)), int(self.starts[a.start])
        for part in row_blocks(int(self.starts[a.stop]) - start, b.stop - b.start):
            rows = slice(start + part.start, start + part.stop)
            D, codes = pairwise_squared(self.points[rows], self.centers[b]), self.codes[rows] - a.start
            if a == b:
                self.to_center[rows] = D[np.arange(len(D)), codes]
            to_center = self.to_center[rows, None]
            nearer = np.where(as_near(to_center, D), 0.5, to_center < D)
            present, starts = np.unique(codes, return_index=True)
            counts[present] += np.add.reduceat(nearer, starts, axis=0)
        return counts


@per_view
def compressions(view: View) -> tuple[float, float]:
    """Return how much better centroids separate pairs of classes in the data, and in the embedding; means over pairs.

    It is the difference of 2 s - 1 in both, 0 where it is negative; s is the share of the points of two classes that
    are nearer to the centroid of their own. Each pair is compared in both spaces before the next ones are, so that no
    table of all pairs is kept.
    """
    classes = members(view)
    spaces = [_SortedClasses(points, classes) for points in (view.features(), view.Y[view.population])]
    c, sizes, sums, count = len(classes.sizes), classes.sizes, np.zeros(2), 0
    tiles = [slice(at, min(at + TILE, c)) for at in range(0, c, TILE)]
    pairs = [(a, a) for a in tiles] + [(a, b) for i, a in enumerate(tiles) for b in tiles[i + 1 :]]
    for a, b in pairs:
        total, matchings = sizes[a, None] + sizes[b], []
        for space in spaces:
            nearer = space.nearer(a, b)
            matchings.append(2.0 * ((nearer + (nearer if a == b else space.nearer(b, a)).T) / total) - 1.0)
        if a == b:
            upper = np.triu_indices(len(total), 1)
            matchings = [matching[upper] for matching in matchings]
        gap = matchings[0] - matchings[1]
        sums += np.maximum(gap, 0.0).sum(), np.maximum(-gap, 0.0).sum()
        count += gap.size
    data, embedding = (sums / count).tolist()
    return data, embedding


@measure(
    **PAIRS_OF_CLASSES,
    symbol="LT",
    title="Label-trustworthiness",
    question="Are classes that are separated in the data separated in the embedding?",
    warning="Classes that are separate in the data may be mixed",
)
def label_trustworthiness(view: View) -> float:
    r"""Measure how little the embedding compresses pairs of classes, compared with the data.

    .. math:: \mathrm{LT} = 1 - \frac{2}{C (C - 1)} \sum_{a < b} \max(M_X(a, b) - M_Y(a, b), 0),

    where :math:`M(a, b) = 2 s - 1` and s is the share of the points of classes a and b that are nearer to the centroid
    of their own class, in the data for :math:`M_X` and in the embedding for :math:`M_Y`; a point at the same distance
    from both centroids counts one half, and C is the number of classes. M is 1 for classes that centroids separate, 0
    for mixed ones, and negative only where most points are nearer to the wrong centroid; without such pairs of classes
    the value is at least 0. At least two classes are required. An embedding that separates classes which overlap in the
    data does not gain by it.

    See Also
    --------
    label_continuity : the same for classes that the embedding pulls apart.
    class_aware_trustworthiness : neighborhoods of points.
    distance_consistency : the embedding alone.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> apart = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> mixed = np.array([[0.0], [10.0], [2.0], [1.0], [11.0], [12.0]])
    >>> round(dreval.label_trustworthiness(apart, mixed, labels=list("aaabbb")), 3)
    0.333
    """
    return 1.0 - compressions(view)[0]


@measure(
    **PAIRS_OF_CLASSES,
    symbol="LC",
    title="Label-continuity",
    question="Do classes that overlap in the data overlap in the embedding as well?",
    warning="Classes that are mixed in the data may be separate",
)
def label_continuity(view: View) -> float:
    r"""Measure how little the embedding stretches pairs of classes, compared with the data.

    .. math:: \mathrm{LC} = 1 - \frac{2}{C (C - 1)} \sum_{a < b} \max(M_Y(a, b) - M_X(a, b), 0),

    where :math:`M(a, b) = 2 s - 1` and s is the share of the points of classes a and b that are nearer to the centroid
    of their own class, in the data for :math:`M_X` and in the embedding for :math:`M_Y`; a point at the same distance
    from both centroids counts one half, and C is the number of classes. M is 1 for classes that centroids separate, 0
    for mixed ones, and negative only where most points are nearer to the wrong centroid; without such pairs of classes
    the value is at least 0. At least two classes are required. An embedding that separates classes which overlap in the
    data has a low value.

    See Also
    --------
    label_trustworthiness : the same for classes that the embedding compresses.
    class_aware_continuity : neighborhoods of points.
    distance_consistency : the embedding alone.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> apart = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> mixed = np.array([[0.0], [10.0], [2.0], [1.0], [11.0], [12.0]])
    >>> round(dreval.label_continuity(mixed, apart, labels=list("aaabbb")), 3)
    0.333
    """
    return 1.0 - compressions(view)[1]


@measure(
    symbol="AUC_L",
    title="Label retrieval",
    question="Are the points of the same class nearer to a point of the embedding than the others, at every scale?",
    warning="Classes are mixed",
    goals=("classes", "prediction"),
    level="point",
    needs=("coordinates", "labels"),
    direction="higher",
    bounds=(0.0, 1.0),
    chance=0.5,
    invariances=frozenset({"translation", "rotation", "scale", "monotone"}),
    caution=SEPARATION,
    cost="O(n^2 (d + log n)) time; O(n) memory plus one block of rows.",
    reference="@hanley1982; with each point as a query, averaged over points, as in the R package quadra (roc_auc).",
)
def label_retrieval_auc(view: View) -> tuple[FloatArray, Notes]:
    r"""Average the area under the ROC curve of retrieving the class of a point by distance in the embedding.

    .. math:: \mathrm{AUC}_L = \frac{1}{n} \sum_{i=1}^n \frac{1}{|P_i|} \sum_{(j, l) \in P_i}
              \left([y_{ij} < y_{il}] + \tfrac{1}{2} [y_{ij} = y_{il}]\right),

    where :math:`P_i` are the pairs of another point j of the class of i and a point l of another class. There is no k:
    all points of the class are used. The data are not used. The only point of a class contributes one half. At least
    two classes are required, and fewer than points.

    See Also
    --------
    neighborhood_hit, knn_accuracy : the k nearest neighbors only.
    silhouette : mean distances.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Y = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> dreval.label_retrieval_auc(Y, labels=list("aaabbb"))
    1.0
    >>> round(dreval.label_retrieval_auc(Y, labels=list("aababb")), 3)
    0.528
    """
    from dreval.geometry._loops import orders as loops

    classes = members(view)
    space, n = Space.of(view.Y[view.population]), view.n
    rows = classes.rows
    areas = np.empty(len(rows))

    def fill_areas(part: slice) -> None:
        block = space.direct_block(rows[part])
        loops.retrieval_areas(block, block.view(np.int64), rows[part], classes.codes, areas[part])

    run_blocks(fill_areas, row_blocks(len(rows), n), view.n_jobs)
    alone = int(np.count_nonzero(classes.sizes[classes.codes[rows]] == 1))
    return areas, (note("label_retrieval_auc.alone", count=alone),) if alone else ()


MAX_NAMED_LATENTS = 10  # latent variables whose R^2 the note names


def _latent_r2_chance(view: View) -> float:
    """Return the rank of the centered embedding over n - 1: the mean of R^2 over all permutations of rows."""
    return _latent_basis(_unit_columns(view.Y[view.population])).shape[1] / (view.n - 1)


@measure(
    symbol="R2",
    title="R^2 of the latent variables",
    question="Can the true latent variables be recovered from the embedding by an affine map?",
    warning="Do not read off the latent variables",
    goals=("latent",),
    level="global",
    needs=("coordinates", "latent"),
    direction="higher",
    bounds=(0.0, 1.0),
    chance="permutation",
    chance_formula=r":math:`\mathrm{rank}(Y) / (n - 1)`, as 0.0202 for a centered embedding of rank 2 and n = 100",
    expected=_latent_r2_chance,
    invariances=frozenset({"translation", "rotation", "scale"}),
    cost="O(n d (d + q)) time with q latent variables, O(n (d + q)) memory.",
    exponent=1.0,
    reference="@li2022, Section 3.1: affine alignment, mean R^2 of the latents.",
)
def latent_r2(view: View) -> tuple[float, Notes]:
    r"""Average over the latent variables R^2 after the best affine map of the embedding onto them.

    .. math:: R^2 = \frac{1}{q} \sum_{m=1}^q \left(1 - \frac{|z_m - (Y A + 1 b')_m|^2}{|z_m - \bar z_m|^2}\right),

    with :math:`z_m` the q latent variables and A and b from least squares. The note in a table of results holds R^2 of
    each latent variable. The map is fitted to the points on which it is evaluated, so the chance level is not 0, and it
    is 1 for d >= n - 1. Latent variables on a circle (angles) are not affine images of useful coordinates; pass their
    sine and cosine.

    See Also
    --------
    procrustes_disparity : compares with the data, up to rotation and scale.
    reconstruction_error : how much of the data the embedding determines.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Z = np.random.default_rng(0).normal(size=(100, 2))
    >>> Y = Z @ [[2.0, 1.0], [0.0, 3.0]] + 5.0
    >>> round(dreval.latent_r2(Y, latent=Z), 12)
    1.0
    >>> round(dreval.latent_r2(Y[:, :1], latent=Z), 3)
    0.51
    """
    if view.latent is None:
        raise RuntimeError("this view was made without latent variables")
    Y, Z = view.Y[view.population], view.latent[view.population]
    constant = np.flatnonzero((Z == Z[0]).all(axis=0))
    if len(constant):
        hint = "Drop the columns that do not vary."
        raise UndefinedMeasure("latent", "must vary in every column", f"column {constant[0]} with one value", hint)
    Y, Z = _unit_columns(Y), _unit_columns(Z)
    basis = _latent_basis(Y)
    residual = Z - basis @ (basis.T @ Z)
    each = np.asarray(np.clip(1.0 - (residual**2).sum(axis=0) / (Z**2).sum(axis=0), 0.0, 1.0))
    named = [*each[:MAX_NAMED_LATENTS].tolist(), *(["..."] if len(each) > MAX_NAMED_LATENTS else [])]
    return float(np.mean(each)), (note("latent_r2.each", values=named),) if len(each) > 1 else ()


def _latent_basis(Y: FloatArray) -> FloatArray:
    """Return orthonormal columns that span those of Y; none for a constant embedding."""
    basis, size, _ = np.linalg.svd(Y, full_matrices=False)
    return np.asarray(basis[:, size > size[0] * max(Y.shape) * np.finfo(np.float64).eps])


def _unit_columns(columns: FloatArray) -> FloatArray:
    """Center columns and divide them by their length; variation by rounding only becomes 0."""
    moved = columns - columns[0]  # before the mean, so that columns far from 0 keep their digits
    centered = moved - moved.mean(axis=0)
    length = np.sqrt((centered**2).sum(axis=0))
    return np.asarray(centered / np.where(length > 0, length, 1.0))


def _neighborhood_hit_ties(view: View, k: int) -> tuple[FloatArray, FloatArray] | None:
    classes, points = members(view), view.Y[view.population]
    doubtful = doubtful_rows(points, classes.rows, np.arange(len(points)), k, view.n_jobs, within=False)
    if not len(doubtful):
        return None
    worst, place = neighborhood_hit.rule(view, k), np.isin(classes.rows, doubtful)  # type: ignore[attr-defined]
    best = worst.copy()
    fewest, most = hit_bounds(points, doubtful, k, classes.codes, view.n_jobs)
    worst[place], best[place] = fewest / k, most / k
    return worst, best


def _neighborhood_hit_chance(view: View, _: int) -> float:
    """Return the share of other points with the class of a point, averaged over the rows."""
    classes = members(view)
    return float(np.mean((classes.sizes[classes.codes[classes.rows]] - 1) / (view.n - 1)))


def _neighborhood_hit_without(view: View, n_neighbors: int) -> FloatArray:
    """Replace each point by the next neighbor of those that it is a neighbor of."""
    check_left_one(view.n, n_neighbors)
    classes = members(view)
    neighbors = nearest(view.Y[view.population], n_neighbors + 1, n_jobs=view.n_jobs)[0]
    same = (classes.codes[neighbors] == classes.codes[:, None]).astype(np.float64)
    hits, near = same[:, :n_neighbors].sum(axis=1), neighbors[:, :n_neighbors]
    changes = np.bincount(near.ravel(), (same[:, n_neighbors:] - same[:, :n_neighbors]).ravel(), view.n)
    return without_row(hits, changes) / n_neighbors


@measure(
    symbol="NH",
    title="Neighborhood hit",
    question="Are points of one class near each other in the embedding?",
    warning="Classes are mixed",
    share="of the {n_neighbors} nearest neighbors have the class of the point",
    goals=("classes", "prediction"),
    level="point",
    needs=("coordinates", "labels"),
    direction="higher",
    bounds=(0.0, 1.0),
    chance="permutation",
    chance_formula=(
        r":math:`\sum_c n_c (n_c - 1) / (n (n - 1))` with :math:`n_c` points in class c, as 0.495 for two classes of 50"
        " points; where ties in the embedding change it, mean over 20 random permutations of its rows"
    ),
    expected=_neighborhood_hit_chance,
    counted="edge",
    invariances=frozenset({"translation", "rotation", "scale", "monotone"}),
    ties=_neighborhood_hit_ties,
    without=_neighborhood_hit_without,
    crossed=True,
    caution=SEPARATION,
    cost="O(n log n) time for d <= 8, O(n^2 d) beyond; O(n k) memory.",
    exponent=1.0,
    reference="@paulovich2008.",
)
def neighborhood_hit(view: View, n_neighbors: int = DEFAULT_NEIGHBORS) -> FloatArray:
    r"""Compute the mean share of the k nearest neighbors of a point in the embedding that have its class.

    .. math:: \mathrm{NH}(k) = \frac{1}{n k} \sum_{i=1}^n |\{j \in M_k(i): c_j = c_i\}|,

    with :math:`c_i` the class of point i and :math:`M_k(i)` its k nearest neighbors in the embedding. The data are not
    used. At least two classes are required, and fewer than points.

    See Also
    --------
    knn_accuracy : classification by the votes of neighbors.
    label_retrieval_auc : all scales at once, without k.
    silhouette : mean distances.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Y = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.5]])
    >>> dreval.neighborhood_hit(Y, labels=list("aaabbb"), n_neighbors=2)
    1.0
    >>> round(dreval.neighborhood_hit(Y, labels=list("aabbbb"), n_neighbors=2), 3)
    0.667
    """
    classes, points = members(view), view.Y[view.population]
    neighbors = neighbors_of(points, classes.rows, n_neighbors, view.n_jobs)[0]
    same = classes.codes[neighbors] == classes.codes[classes.rows][:, None]
    return np.asarray(same.mean(axis=1))
