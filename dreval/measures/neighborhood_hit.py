"""Neighborhood hit."""

from __future__ import annotations

import numpy as np

from dreval.geometry.blocks import View
from dreval.geometry.leave_one import check_left_one, without_row
from dreval.geometry.neighbors import nearest
from dreval.geometry.ranks import doubtful_rows, hit_bounds
from dreval.measures._classes import SEPARATION, members, neighbors_of
from dreval.measures._measure import FloatArray, measure


def _ties(view: View, k: int) -> tuple[FloatArray, FloatArray] | None:
    classes, points = members(view), view.Y[view.population]
    doubtful = doubtful_rows(points, classes.rows, np.arange(len(points)), k, view.n_jobs, within=False)
    if not len(doubtful):
        return None
    worst, place = neighborhood_hit.rule(view, k), np.isin(classes.rows, doubtful)  # type: ignore[attr-defined]
    best = worst.copy()
    fewest, most = hit_bounds(points, doubtful, k, classes.codes, view.n_jobs)
    worst[place], best[place] = fewest / k, most / k
    return worst, best


def _chance_level(view: View, _: int) -> float:
    """The share of other points with the class of a point, averaged over the points seen."""
    classes = members(view)
    return float(np.mean((classes.sizes[classes.codes[classes.rows]] - 1) / (view.n - 1)))


def _without(view: View, n_neighbors: int) -> FloatArray:
    """Where a point is a neighbor the next one steps in."""
    check_left_one(view.n, n_neighbors)
    classes = members(view)
    found = nearest(view.Y[view.population], n_neighbors + 1, n_jobs=view.n_jobs)[0]
    same = (classes.codes[found] == classes.codes[:, None]).astype(np.float64)
    hits, near = same[:, :n_neighbors].sum(axis=1), found[:, :n_neighbors]
    changes = np.bincount(near.ravel(), (same[:, n_neighbors:] - same[:, :n_neighbors]).ravel(), view.n)
    return without_row(hits, changes) / n_neighbors


@measure(
    symbol="NH",
    title="Neighborhood hit",
    question="Do points of one class lie together in the embedding?",
    says=("Classes lie together", "Classes are mixed"),
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
    expected=_chance_level,
    counted="edge",
    invariances=frozenset({"translation", "rotation", "scale", "monotone"}),
    ties=_ties,
    without=_without,
    caution=SEPARATION,
    cost="O(n log n) time for d <= 8, O(n^2 d) beyond; O(n k) memory.",
    reference="@paulovich2008.",
)
def neighborhood_hit(view: View, n_neighbors: int = 15) -> FloatArray:
    r"""Mean share of the k nearest neighbors of a point in the embedding that have its class.

    .. math:: \mathrm{NH}(k) = \frac{1}{n k} \sum_{i=1}^n |\{j \in M_k(i): c_j = c_i\}|,

    with :math:`c_i` the class of point i and :math:`M_k(i)` its k nearest neighbors in the embedding. The data are not
    used. There is no cross-validation. At least two classes are required, and fewer than points.

    See Also
    --------
    knn_accuracy : cross-validated classification.
    label_retrieval_auc : all scales at once, without k.
    silhouette : mean distances.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Y = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.5]])
    >>> dreval.neighborhood_hit(Y, Y, labels=list("aaabbb"), n_neighbors=2)
    1.0
    >>> round(dreval.neighborhood_hit(Y, Y, labels=list("aabbbb"), n_neighbors=2), 3)
    0.667
    """
    classes, points = members(view), view.Y[view.population]
    found = neighbors_of(points, classes.rows, n_neighbors, view.n_jobs)[0]
    same = classes.codes[found] == classes.codes[classes.rows][:, None]
    return np.asarray(same.mean(axis=1))
