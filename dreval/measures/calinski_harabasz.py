"""Calinski-Harabasz index of the classes."""

from __future__ import annotations

import math

import numpy as np

from dreval.errors import UndefinedMeasure
from dreval.geometry.blocks import View
from dreval.geometry.leave_one import CANCELLATION
from dreval.measures._classes import SEPARATION, Members, centroids, members, unit
from dreval.measures._measure import FloatArray, measure

TINY = 1e-28  # squares that are smaller, of points of size 1, are 0


def _without(view: View) -> FloatArray:
    """Exact values without each point: means and sums of squares change by a term of rank one.

    Where little is left of a sum, as without a far outlier, both are computed again from the other points.
    """
    classes, given = members(view), view.Y[view.population]
    points = unit(given)
    within, total = _squares(points, classes)
    n, size = len(points), classes.sizes[classes.codes].astype(np.float64)
    own = np.square(points - centroids(points, classes)[classes.codes]).sum(axis=1)
    W = within.sum() - np.where(size > 1, size / np.maximum(size - 1, 1) * own, 0.0)
    T = total - n / (n - 1) * np.square(points - points.mean(axis=0)).sum(axis=1)
    for h in np.flatnonzero((W < CANCELLATION * within.sum()) | (T < CANCELLATION * total)):
        codes, sizes = np.unique(np.delete(classes.codes, h), return_inverse=True, return_counts=True)[1:]
        left, T[h] = _squares(unit(np.delete(given, h, axis=0)), classes._replace(codes=codes, sizes=sizes))
        W[h] = left.sum()
    return np.array([_ratio(w, t, n - 1, c) for w, t, c in zip(W, T, len(classes.sizes) - (size == 1), strict=True)])


@measure(
    symbol="CH",
    title="Calinski-Harabasz index of the classes",
    question="Are the centroids of the classes far apart in the embedding, compared with the spread of the classes?",
    goals=("classes",),
    level="global",
    needs=("coordinates", "labels"),
    direction="higher",
    bounds=(0.0, float("inf")),
    chance="permutation",
    chance_formula="about 1 (as an F statistic), mean over 20 random permutations of the embedding's rows",
    invariances=frozenset({"translation", "rotation", "scale"}),
    without=_without,
    growth=1,
    caution=SEPARATION,
    cost="O(n d) time and memory.",
    reference="@calinski1974.",
)
def calinski_harabasz(view: View) -> float:
    r"""Spread between the classes over spread within them in the embedding, as in an F statistic.

    .. math:: \mathrm{CH} = \frac{B / (c - 1)}{W / (n - c)},

    with the sum B over all points of the squared distance of the centroid of their class to the mean, and the sum W of
    the squared distance of each point to the centroid of its class. The data are not used. At least two classes are
    required, and fewer than points.

    It has no upper bound and grows with n: the share :math:`B / (B + W)` at a fixed value of CH is smaller for more
    points, so values of data sets of different size cannot be compared. Where every class is one point of the embedding
    the ratio is infinite, and there is no value (scikit-learn returns 1); where all these are the same point it is 0.

    See Also
    --------
    davies_bouldin : each class against the one that is most like it.
    silhouette : bounded, and by distances of points.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Y = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> round(dreval.calinski_harabasz(Y, Y, labels=list("aaabbb")), 3)
    150.0
    >>> round(dreval.calinski_harabasz(Y, Y, labels=list("ababab")), 3)
    0.485
    """
    classes = members(view)
    within, total = _squares(unit(view.Y[view.population]), classes)
    value = _ratio(float(within.sum()), total, len(classes.codes), len(classes.sizes))
    if math.isnan(value):
        rule, cure = "must not have each class in a single point", "Use silhouette, which is 1 there."
        raise UndefinedMeasure("embedding", rule, f"{len(classes.sizes)} points", cure)
    return value


def _squares(points: FloatArray, classes: Members) -> tuple[FloatArray, float]:
    """Sums of squares about the centroid of each class, and about the mean."""
    own = np.square(points - centroids(points, classes)[classes.codes]).sum(axis=1)
    return np.bincount(classes.codes, own), float(np.square(points - points.mean(axis=0)).sum())


def _ratio(within: float, total: float, n: int, c: int) -> float:
    """The index of sums of squares; NaN where it is not defined."""
    if c < 2 or n <= c:
        return math.nan
    between, floor = max(total - within, 0.0), n * TINY
    if within <= floor:
        return math.nan if between > floor else 0.0
    return between / (c - 1) / (within / (n - c))
