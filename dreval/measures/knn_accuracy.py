"""Accuracy of a nearest-neighbor classifier in the embedding."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from dreval._check import IntArray, check_int
from dreval._random import stream
from dreval.geometry._loops import ROUNDING
from dreval.geometry.blocks import View
from dreval.geometry.leave_one import without_row
from dreval.geometry.neighbors import nearest
from dreval.geometry.ranks import doubtful_rows, vote_bounds
from dreval.measures._classes import SEPARATION, members, neighbors_of
from dreval.measures._measure import FloatArray, measure

LISTED = 50_000  # points up to which all neighbor lists are kept; of more only the rows that are seen are searched
TOO_FEW, NEVER = 1e-6, 1e-12  # chance that a list holds too few points of other folds; of anchors, none is searched
SORTED = 1 << 16  # points whose classes are sorted at once
APART = 2 * ROUNDING  # a list is used up to the first distance that is nearer than this, relatively, to the next one


def _ties(view: View, n_neighbors: int, n_folds: int) -> tuple[FloatArray, FloatArray] | None:
    points, labels = view.Y[view.population], _codes(view)[view.population]
    rows, changes = _seen(view), []
    unsure = rows[~_listed(view, n_neighbors + 1, n_folds, rows)[0]]
    for test, train in _splits(view, n_folds, unsure):
        k = min(n_neighbors, len(train))
        doubtful = doubtful_rows(points, test, train, k, view.n_jobs, within=True)
        if len(doubtful):
            changes.append((doubtful, *vote_bounds(points, doubtful, train, k, labels, view.n_jobs)))
    if not changes:
        return None
    worst = _correct(view, n_neighbors, n_folds).astype(np.float64)
    best = worst.copy()
    for doubtful, never_wrong, ever_right in changes:
        worst[doubtful], best[doubtful] = never_wrong, ever_right
    return worst[rows], best[rows]


def _without(view: View, n_neighbors: int, n_folds: int) -> FloatArray:
    """Votes in which a point takes part are recounted with the next neighbor; the folds do not change."""
    labels = _codes(view)[view.population]
    correct, changes = np.zeros(len(labels)), np.zeros(len(labels))
    for test, found in _voters(view, n_neighbors + 1, n_folds, np.arange(view.n)):
        k = min(n_neighbors, found.shape[1])
        classes = labels[found]
        correct[test] = _vote(classes[:, :k]) == labels[test]
        for t in range(k):
            others = np.delete(classes, t, axis=1)
            right = _vote(others) == labels[test] if others.shape[1] else np.zeros(len(test))
            changes += np.bincount(found[:, t], right - correct[test], len(labels))
    return without_row(correct, changes)


@measure(
    symbol="A",
    title="k-NN accuracy",
    question="Can the class of a point be predicted from its neighbors in the embedding?",
    says=("Neighbors tell the class of a point", "Neighbors do not tell the class of many points"),
    share="of the points have the class that {n_neighbors} neighbors predict",
    goals=("prediction",),
    level="point",
    needs=("coordinates", "labels"),
    direction="higher",
    bounds=(0.0, 1.0),
    chance="permutation",
    invariances=frozenset({"translation", "rotation", "scale", "monotone"}),
    default=10,
    ties=_ties,
    without=_without,
    reach=lambda n, n_neighbors, n_folds: reach(n_neighbors, n_folds, n, NEVER),
    caution=SEPARATION,
    cost="O(n log n) time for d <= 8, O(n^2 d) beyond; O(n k) memory.",
    operations=lambda s, **_: (5000 * s.m if s.streamed else 6500 * s.n, 700 * s.m),
    reference="@li2022, Section 3.2 (k in {5, 10, 20}); 5-fold stratified cross-validation.",
)
def knn_accuracy(view: View, n_neighbors: int = 10, n_folds: int = 5) -> FloatArray:
    r"""Cross-validated accuracy of the majority vote of the k nearest neighbors in the embedding.

    .. math:: A(k) = \frac{1}{n} \sum_{i=1}^n [\hat c_i = c_i],

    where :math:`\hat c_i` is the majority class of the k nearest neighbors of point i outside its own fold (of all such
    points where fewer than k are left); a tied vote goes to the class of the nearer neighbor. Folds are stratified by
    class and shuffled by the seed, the same for every embedding. They are dealt out class by class, in the order of the
    classes (text by the alphabet), so that classes with other names may have other folds. The data are not used. At
    least two classes are required, and fewer than points.

    See Also
    --------
    neighborhood_hit : share of neighbors of the same class.
    label_retrieval_auc : all scales at once, without k.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Y = np.random.default_rng(0).normal(size=(200, 2))
    >>> labels = Y[:, 0] > 0
    >>> dreval.knn_accuracy(Y, Y, labels=labels, random_state=0) > 0.9
    True
    """
    check_int(n_folds, "n_folds", low=2)
    members(view)
    return _correct(view, n_neighbors, n_folds)[_seen(view)].astype(np.float64)


def _correct(view: View, n_neighbors: int, n_folds: int) -> npt.NDArray[np.bool_]:
    """Whether each point of the population is seen and classified rightly."""
    labels = view.of_population(_codes(view))
    correct = np.zeros(len(labels), np.bool_)
    for test, found in _voters(view, n_neighbors, n_folds, _seen(view)):
        correct[test] = _vote(labels[found]) == labels[test]
    return correct


def _seen(view: View) -> IntArray:
    """The points that are classified, by their places in the population.

    Of many points whose rows are permuted those that have the coordinates of the anchors, whose neighbors are known.
    """
    if not view.streamed or view.origin is None:
        return view.within(view.rows)
    found: IntArray = view.origin.inverse(view.rows)
    return found


def _voters(view: View, k: int, n_folds: int, rows: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
    """Some of the rows and their k nearest points outside their own fold, or all of these if they are fewer.

    Most are read from the lists of neighbors; the others are searched, fold by fold.
    """
    known, found = (_seen_by_anchors if view.streamed else _listed)(view, k, n_folds, rows)
    yield rows[known], found
    if known.all():
        return
    points = view.Y[view.population]
    for test, train in _splits(view, n_folds, rows[~known]):
        yield test, train[nearest(points[train], min(k, len(train)), points[test], view.n_jobs)[0]]


def reach(k: int, n_folds: int, n: int, risk: float) -> int:
    """How many neighbors hold k outside the own fold but for a chance of ``risk``; at most n - 2."""
    from scipy.special import bdtr

    size = k
    while size < n - 2 and bdtr(k - 1, size, 1.0 - 1.0 / n_folds) > risk:
        size += 1
    return size


def _seen_by_anchors(view: View, k: int, n_folds: int, rows: IntArray) -> tuple[npt.NDArray[np.bool_], IntArray]:
    """As ``_listed`` for the points with the coordinates of the anchors, from the lists of their pass."""
    anchors, every = view.once_for_embedding("lists of the anchors", lambda: (view.rows, view.nearest_embedding))
    lists = every[np.searchsorted(anchors, view.rows)]  # a chance value may be seen from some of them
    found = lists if view.origin is None else view.origin.inverse(lists)
    folds = _folds_of(view, n_folds)
    outside = folds[found] != folds[rows][:, None]
    count = np.cumsum(outside, axis=1)
    known = count[:, -1] >= k
    return known, found[known][outside[known] & (count[known] <= k)].reshape(-1, k)


def _listed(view: View, k: int, n_folds: int, rows: IntArray) -> tuple[npt.NDArray[np.bool_], IntArray]:
    """For which of some rows the list of neighbors holds k points outside the own fold, no two at one distance.

    And these k points, nearest first. Permuted rows of an embedding are other labels and folds on the same lists.
    """
    n, population = view.n, view.population
    size = -(reach(k, n_folds, n, TOO_FEW) // -8) * 8  # the same lists for k and k + 1
    if size + 1 > n - 1:
        return np.zeros(len(rows), np.bool_), np.empty((0, k), np.int64)
    place = np.arange(n) if view.origin is None else np.searchsorted(population, view.origin[population])
    here = np.empty(n, np.int64)
    here[place] = np.arange(n)
    points, folds = view.Y[population[here]], _folds_of(view, n_folds)[population[here]]  # as before the permutation

    def listed(some: IntArray) -> npt.NDArray[np.int32]:
        found, squared = neighbors_of(points, some, size + 1, view.n_jobs)
        with np.errstate(invalid="ignore"):  # between infinite distances
            apart = squared[:, 1:] - squared[:, :-1] > APART * squared[:, 1:]
        clear = np.logical_and.accumulate(apart, axis=1)
        return np.where(clear, found[:, :-1], some[:, None]).astype(np.int32)  # a point is in its own fold

    own = place[rows]
    if n <= LISTED:
        lists = view.once_for_embedding(("neighbors of all", size), lambda: listed(np.arange(n)))[own]
    else:
        lists = listed(own)
    outside = folds[lists] != folds[own][:, None]
    count = np.cumsum(outside, axis=1)
    known = count[:, -1] >= k
    chosen = outside[known] & (count[known] <= k)
    return known, here[lists[known][chosen]].reshape(-1, k)


def _splits(view: View, n_folds: int, rows: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
    """Those of some rows that are in a fold, and its training points; no fold where nothing is left to learn from."""
    folds = view.of_population(_folds_of(view, n_folds))
    for fold in range(n_folds):
        test, train = rows[folds[rows] == fold], np.flatnonzero(folds != fold)
        if len(test) and len(train):
            yield test, train


def _folds_of(view: View, n_folds: int) -> IntArray:
    """The fold of every point; a group that is left out changes none."""
    made: IntArray = view.once_for_data(
        ("folds", n_folds), lambda: _folds(_codes(view), n_folds, stream(view.seed, "folds"))
    )
    return made


def _codes(view: View) -> np.ndarray:
    if view.labels is None:
        raise RuntimeError("this view was made without labels")
    return view.labels


def _folds(labels: np.ndarray, n_folds: int, rng: np.random.Generator) -> np.ndarray:
    """Stratified folds: the shuffled points, sorted by class, are dealt out in turn."""
    n = len(labels)
    order = np.arange(n, dtype=np.int32 if n < 2**31 else np.int64)
    rng.shuffle(order)
    sizes = np.bincount(labels)
    next_of, folds = np.cumsum(sizes) - sizes, np.empty(n, np.min_scalar_type(n_folds))
    for at in range(0, n, SORTED):  # the points of each class follow each other, as if all were sorted by it
        some = order[at : at + SORTED]
        some = some[np.argsort(labels[some], kind="stable")]
        classes, first, count = np.unique(labels[some], return_index=True, return_counts=True)
        folds[some] = (np.arange(len(some)) + np.repeat(next_of[classes] - first, count)) % n_folds
        next_of[classes] += count
    return folds


def _vote(classes: np.ndarray) -> np.ndarray:
    """Majority class of each row (neighbors nearest first); among equal counts the class that comes first."""
    votes = np.zeros(classes.shape, np.int64)
    for column in classes.T:
        votes += classes == column[:, None]
    return classes[np.arange(len(classes)), np.argmax(votes, axis=1)]
