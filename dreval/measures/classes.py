"""Measure how well classes are separated and arranged in an embedding."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dreval._check import IntArray, check_int
from dreval._parallel import run_blocks, sum_over_rows
from dreval._random import stream
from dreval.errors import UndefinedMeasure
from dreval.geometry._loops import ROUNDING
from dreval.geometry.blocks import View, per_view
from dreval.geometry.distances import Space, block_rows, nearest, pairwise_squared
from dreval.geometry.pairs import MAX_TRIPLETS_USED
from dreval.geometry.ranks import CANCELLATION
from dreval.inputs.data import as_data
from dreval.measures.core import FloatArray, measure, named_view
from dreval.records.notes import Notes, note

# What the measures of classes share: codes of the classes, their centroids, silhouette widths, and a caution.

SEPARATION = (
    "It evaluates the classes in the embedding, not whether they are as separate in the data: an embedding that "
    "separates classes which overlap in the data has a good value."
)
MAX_SUMMED_POINTS = 7  # points of a class that numpy adds in order; more are added in groups


class Members(NamedTuple):
    """Classes 0..c-1 of the points (n,), their sizes (c,), and the positions of the view's rows among the points."""

    codes: IntArray
    sizes: IntArray
    rows: IntArray


def members(view: View, least: int = 2, of: str = "labels", *, alone: bool = False) -> Members:
    """Return the classes (or the batches) of the points of the view.

    Fewer than ``least`` of them raise an error, and so do as many as points, unless ``alone``: where each point is a
    class of its own, or all points are one class, most measures have one value for every embedding.
    """
    labels = view.variables(view.population)[of]
    if labels is None:
        raise RuntimeError(f"this view was made without {of}")
    codes = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    sizes = np.bincount(codes)
    noun, plural = ("class", "classes") if of == "labels" else ("batch", "batches")
    if len(sizes) < least:
        requirement = f"must have at least {least} {plural if least > 1 else noun}"
        raise UndefinedMeasure(of, requirement, f"{len(sizes)}", f"Pass {of} with more of them.")
    if not alone and len(sizes) == len(codes):
        received = f"{len(sizes)} {plural} for {len(codes)} points, so that each point is a {noun} of its own"
        raise UndefinedMeasure(of, f"must have a {noun} with at least 2 points", received, f"Pass {of} that repeat.")
    return Members(codes, sizes, np.searchsorted(view.population, view.rows))


def neighbors_of(points: FloatArray, rows: IntArray, k: int, n_jobs: int | None) -> tuple[IntArray, FloatArray]:
    """Return the k nearest other points of some rows and their squared distances, (m, k) each."""
    n = len(points)
    if len(rows) == n:
        return nearest(points, k, n_jobs=n_jobs)
    neighbors, squared = nearest(points, k + 1, points[rows], n_jobs)
    itself = neighbors == rows[:, None]
    itself[~itself.any(axis=1), -1] = True  # hidden behind its own duplicates: the last is one too many
    return neighbors[~itself].reshape(len(rows), k), squared[~itself].reshape(len(rows), k)


def row_blocks(m: int, n: int) -> list[slice]:
    """Return blocks of m rows of distances to n points."""
    size = block_rows(n)
    return [slice(a, min(a + size, m)) for a in range(0, m, size)]


def silhouette_widths(points: FloatArray, classes: Members, n_jobs: int | None) -> FloatArray:
    """Return the silhouette widths of the rows among all points; 0 for the only point of a class, and for a = b = 0."""
    order = np.lexsort((classes.codes, classes.sizes[classes.codes]))  # stable; classes of one size side by side
    space, n = Space.of(points[order]), len(order)
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    codes, at = classes.codes[classes.rows], place[classes.rows]
    widths = np.empty(len(at))

    by_size = np.argsort(classes.sizes, kind="stable")
    column = np.empty(len(by_size), np.int64)
    column[by_size] = np.arange(len(by_size))

    def fill_widths(part: slice) -> None:
        D = np.sqrt(space.direct_block(at[part]))
        widths[part] = _widths(D, column[codes[part]], classes.sizes[by_size])

    run_blocks(fill_widths, row_blocks(len(at), n), n_jobs)
    return widths


def _widths(D: FloatArray, codes: IntArray, sizes: IntArray) -> FloatArray:
    """Return silhouette widths from distances to all points, which are sorted by class, classes ascending by size.

    All classes of one size are summed at once: different sizes are few, at most the root of twice the points.
    """
    sums, (kinds, counts) = np.empty((len(D), len(sizes))), np.unique(sizes, return_counts=True)
    point, column = 0, 0
    for size, count in zip(kinds, counts, strict=True):
        block = D[:, point : point + size * count].reshape(len(D), count, size)
        total = sums[:, column : column + count]
        if size <= MAX_SUMMED_POINTS:  # the same sums, without a loop of its own for each class
            total[:] = block[:, :, 0]
            for member in range(1, size):
                total += block[:, :, member]
        else:
            np.sum(block, axis=2, out=total)
        point, column = point + size * count, column + count
    i = np.arange(len(codes))
    alone = sizes[codes] == 1
    a = sums[i, codes] / np.maximum(sizes[codes] - 1, 1)
    means = sums / sizes
    means[i, codes] = np.inf
    b = means.min(axis=1)
    larger = np.maximum(a, b)
    return np.where(alone | (larger == 0), 0.0, (b - a) / np.where(larger == 0, 1.0, larger))


def centroids(points: FloatArray, classes: Members) -> FloatArray:
    """Return the mean of each class, (c, p)."""
    order = np.argsort(classes.codes, kind="stable")
    starts = np.r_[0, np.cumsum(classes.sizes)[:-1]]
    return np.asarray(np.add.reduceat(points[order], starts, axis=0) / classes.sizes[:, None])


def unit(points: FloatArray) -> FloatArray:
    """Center points and divide them by their largest coordinate, so that limits of rounding are shares of it."""
    largest = float(np.abs(points).max())
    near = points / largest if largest > 0 else points
    centered = near - near.mean(axis=0)
    spread = float(np.abs(centered).max())
    return np.asarray(centered / spread if spread > 0 else centered)


def as_near(a: FloatArray, b: FloatArray) -> Any:
    """Return whether squared distances of points of size 1 are equal up to rounding; those below 1e-28 are 0."""
    return np.abs(a - b) <= ROUNDING * np.maximum(a, b) + 1e-28


TINY_SQUARE = 1e-28  # smaller squares, of points of size 1, are 0


def class_squares_without(points: FloatArray, classes: Members) -> tuple[FloatArray, FloatArray]:
    """Return the sums of squares within the classes and about the mean (n,), each without one of the points.

    Means and sums of squares change by a term of rank one. Where little remains of a sum, as without a far outlier,
    both are recomputed from the other points.
    """
    scaled = unit(points)
    within, total = class_squares(scaled, classes)
    n, size = len(points), classes.sizes[classes.codes].astype(np.float64)
    squares = np.square(scaled - centroids(scaled, classes)[classes.codes]).sum(axis=1)
    W = within.sum() - np.where(size > 1, size / np.maximum(size - 1, 1) * squares, 0.0)
    T = total - n / (n - 1) * np.square(scaled - scaled.mean(axis=0)).sum(axis=1)
    for h in np.flatnonzero((W < CANCELLATION * within.sum()) | (T < CANCELLATION * total)):
        codes, sizes = np.unique(np.delete(classes.codes, h), return_inverse=True, return_counts=True)[1:]
        points_without = unit(np.delete(points, h, axis=0))
        within_without, T[h] = class_squares(points_without, classes._replace(codes=codes, sizes=sizes))
        W[h] = within_without.sum()
    return W, T


def _calinski_harabasz_without(view: View) -> FloatArray:
    """Return exact values without each point."""
    classes = members(view)
    W, T = class_squares_without(view.Y[view.population], classes)
    n, counts = len(W), len(classes.sizes) - (classes.sizes[classes.codes] == 1)
    return np.array([_variance_ratio(w, t, n - 1, c) for w, t, c in zip(W, T, counts, strict=True)])


@measure(
    symbol="CH",
    title="Calinski-Harabasz index of the classes",
    question="Are the centroids of the classes far apart in the embedding, compared with the spread of the classes?",
    goals=("classes",),
    level="global",
    needs=("coordinates", "labels"),
    direction="higher",
    bounds=(0.0, math.inf),
    chance="permutation",
    chance_formula="about 1 (as an F statistic), mean over 20 random permutations of the embedding's rows",
    invariances=frozenset({"translation", "rotation", "scale"}),
    without=_calinski_harabasz_without,
    growth=1,
    caution=SEPARATION,
    cost="O(n d) time and memory.",
    exponent=1.0,
    reference="@calinski1974.",
)
def calinski_harabasz(view: View) -> float:
    r"""Divide the spread between the classes by the spread within them, as in an F statistic.

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
    >>> round(dreval.calinski_harabasz(Y, labels=list("aaabbb")), 3)
    150.0
    >>> round(dreval.calinski_harabasz(Y, labels=list("ababab")), 3)
    0.485
    """
    classes = members(view)
    within, total = class_squares(unit(view.Y[view.population]), classes)
    value = _variance_ratio(float(within.sum()), total, len(classes.codes), len(classes.sizes))
    if math.isnan(value):
        requirement, hint = "must not have each class in a single point", "Use silhouette, which is 1 there."
        raise UndefinedMeasure("embedding", requirement, f"{len(classes.sizes)} points", hint)
    return value


def class_squares(points: FloatArray, classes: Members) -> tuple[FloatArray, float]:
    """Return the sums of squares about the centroid of each class, and about the mean."""
    squares = np.square(points - centroids(points, classes)[classes.codes]).sum(axis=1)
    return np.bincount(classes.codes, squares), float(np.square(points - points.mean(axis=0)).sum())


def _variance_ratio(within: float, total: float, n: int, c: int) -> float:
    """Compute the index from sums of squares; NaN where it is not defined."""
    if c < 2 or n <= c:
        return math.nan
    between, floor = max(total - within, 0.0), n * TINY_SQUARE
    if within <= floor:
        return math.nan if between > floor else 0.0
    return between / (c - 1) / (within / (n - c))


@per_view
def _centroid_distances(view: View) -> tuple[FloatArray, FloatArray]:
    """Return squared distances (c, c) between the centroids of the classes, in the data and in the embedding."""
    classes = members(view, least=3, alone=True)
    centers = (centroids(unit(points), classes) for points in (view.features(), view.Y[view.population]))
    data, embedding = (pairwise_squared(points, points) for points in centers)
    return data, embedding


def _triplets_agree(data: FloatArray, embedding: FloatArray) -> float:
    """Return the share of the pairs of distances with the same order; 1 where all distances in the data are equal."""
    from dreval.geometry._loops.pairs import kendall_counts

    pairs = np.triu_indices(len(data), 1)
    x, y = (_distance_levels(squares[pairs]) for squares in (data, embedding))
    order = np.lexsort((y, x))
    count, tied_x, tied_y, tied_both, discordant = kendall_counts(x[order], y[order], len(y))
    ordered, half = count - tied_x, tied_y - tied_both
    return float((ordered - discordant - half / 2) / ordered) if ordered else 1.0


def _distance_levels(squares: FloatArray) -> np.ndarray:
    """Return the rank of each squared distance, the same for those that are equal up to rounding."""
    order = np.argsort(squares, kind="stable")
    near = squares[order]
    level = np.empty(len(near), np.int64)
    level[order] = np.cumsum(np.r_[False, ~as_near(near[:-1], near[1:])])
    return level


def _triplets_without_class(view: View) -> FloatArray:
    """Return the values (c,) without each class."""
    data, embedding = _centroid_distances(view)
    c = len(data)
    if c < 4:
        hint = "Use ci='subsampling', whose interval is for other points of the same classes."
        raise UndefinedMeasure("labels", "must have at least 4 classes for a jackknife over classes", f"{c}", hint)
    remaining = [np.delete(np.arange(c), left_out) for left_out in range(c)]
    return np.array([_triplets_agree(data[np.ix_(at, at)], embedding[np.ix_(at, at)]) for at in remaining])


@measure(
    symbol="A_C",
    title="Centroid triplet accuracy",
    question="Are classes that are nearer to each other in the embedding nearer in the data, too?",
    warning="Do not read which classes are near each other",
    share="of triplets of classes keep their order",
    goals=("arrangement",),
    level="global",
    needs=("coordinates", "features", "labels"),
    direction="higher",
    bounds=(0.0, 1.0),
    chance="permutation",
    chance_formula="about 1/2, and 1/2 for classes of equal size; mean over 20 random permutations of the rows",
    invariances=frozenset({"translation", "rotation", "scale"}),
    without_class=_triplets_without_class,
    cost="O(n (p + d) + c^2 (p + d + c log c)) time with c classes, O(n p + c^2) memory.",
    exponent=1.0,
    reference="@wang2021 (centroid triplet accuracy of the authors' program). @kendall1938 (tau).",
)
def centroid_triplet_accuracy(view: View) -> float:
    r"""Compute the share of pairs of distances between class centroids with the same order in both spaces.

    .. math:: A_C = \frac{\tau + 1}{2} = \frac{1}{|P|} \sum_{(s, t) \in P}
              [\mathrm{sign}(x_s - x_t) = \mathrm{sign}(y_s - y_t)],

    where s and t are two pairs of classes, :math:`x_s` and :math:`y_s` the distance between the two centroids in the
    data and in the embedding, and P all such (s, t) whose distances in the data differ. Equal distances in the
    embedding count one half. (The authors' program also counts equal distances in the data, as in the same order if the
    embedding has the first one not larger; without ties both are the same number.) Where all distances in the data are
    equal the value is 1. At least three classes are required. ``centroid_triplets`` lists the triples of classes.

    The centroid of a class is a good summary of a compact class only. An embedding may order the centroids rightly and
    tear every class; a class that is bent around another has its centroid within that one. With few classes the value
    has few steps: three classes give 0, 1/3, 2/3 or 1.

    The interval of ``ci="points"`` leaves out one class at a time: it refers to other classes of the same kind, of
    which those at hand are taken as a sample. It needs four classes, and is rough for fewer than about ten.

    See Also
    --------
    triplet_accuracy : triplets of points.
    label_trustworthiness : whether classes that are separated in the data stay separated.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.repeat([[0.0], [1.0], [3.0]], 2, axis=0)
    >>> dreval.centroid_triplet_accuracy(X, X, labels=list("aabbcc"))
    1.0
    >>> Y = np.repeat([[0.0], [4.0], [3.0]], 2, axis=0)
    >>> round(dreval.centroid_triplet_accuracy(X, Y, labels=list("aabbcc")), 3)
    0.333
    """
    return _triplets_agree(*_centroid_distances(view))


def centroid_triplets(X: Any, Y: Any, *, labels: Any) -> pd.DataFrame:
    """Tabulate the triples of classes: which of two is nearer to a third, in the embedding and in the data.

    Parameters
    ----------
    X : (n, p) array, DataFrame, sparse matrix or path
        The data; rows are points.
    Y : (n, d) array, DataFrame or path
        The embedding of the same points, as in ``centroid_triplet_accuracy``.
    labels : (n,) array of text, booleans or integers, column of X by name, or path
        Class of each point, at least three classes; points without label are left out, with a warning.

    Returns
    -------
    DataFrame
        A row for each class and each pair of other classes, c (c - 1) (c - 2) / 2 of c classes: ``class`` (A),
        ``nearer`` (B) and ``farther`` (C) by the distance of the centroids in the embedding; ``embedding_ratio`` and
        ``data_ratio``, the distance from A to B over that from A to C in each space; and ``same``: 1.0 where the data
        have the same order (``data_ratio`` below 1), 0.0 where they have the opposite one, 0.5 where the distances are
        equal in the embedding, NaN where they are in the data. The rows that mislead most (the largest ``data_ratio``)
        come first. A ratio is infinite where C has the centroid of A in the data.

    Raises
    ------
    InputError
        If the rows do not match, or values are missing or infinite.
    UndefinedMeasure
        If there are fewer than three classes.

    See Also
    --------
    centroid_triplet_accuracy : one number, with an interval and a chance level, also of pairs that share no class.

    Notes
    -----
    O(n (p + d) + c^3) time and O(n p + c^3) memory. ``results.plot("centroid_triplets")`` draws the table.

    References
    ----------
    Wang, Huang, Rudin & Shaposhnik (2021), Understanding how dimension reduction tools work, JMLR 22(201), 1-73.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X, Y = (np.repeat(line, 2)[:, None] for line in ([0.0, 1.0, 3.0], [0.0, 4.0, 3.0]))
    >>> dreval.centroid_triplets(X, Y, labels=list("aabbcc")).round(2)
      class nearer farther  embedding_ratio  data_ratio  same
    0     a      c       b             0.75        3.00   0.0
    1     b      c       a             0.25        2.00   0.0
    2     c      b       a             0.33        0.67   1.0
    """
    view = named_view(centroid_triplet_accuracy.card, {"X": X, "Y": Y, "labels": labels})
    data_labels = as_data(X, labels=labels).labels
    return triplets_of(view, data_labels.classes[np.unique(view.labels)])


def triplets_of(view: View, names: Any) -> pd.DataFrame:
    """Return the table of ``centroid_triplets``, with the names of the classes in the order of their codes."""
    x, y = _centroid_distances(view)
    c = len(x)
    b, f = np.triu_indices(c, 1)
    a = np.repeat(np.arange(c), len(b))
    b, f = np.tile(b, c), np.tile(f, c)
    apart = (a != b) & (a != f)
    a, b, f = a[apart], b[apart], f[apart]
    turned = y[a, b] > y[a, f] * (1 + ROUNDING)
    b, f = np.where(turned, f, b), np.where(turned, b, f)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = [np.where(as_near(z[a, b], z[a, f]), 1.0, np.sqrt(z[a, b] / z[a, f])) for z in (y, x)]
    same = np.where(ratios[0] == 1, 0.5, np.where(ratios[1] < 1, 1.0, 0.0))
    same[ratios[1] == 1] = np.nan
    columns = {"class": names[a], "nearer": names[b], "farther": names[f]}
    table = pd.DataFrame({**columns, "embedding_ratio": ratios[0], "data_ratio": ratios[1], "same": same})
    return table.sort_values("data_ratio", ascending=False, kind="stable", ignore_index=True)


def _class_angular_distortion_without(view: View, n_triplets: int) -> FloatArray:
    """Average the angles of the other rows without each point, weighted by the remaining classes.

    NaN where these are fewer than two, or all of one point.
    """
    angles = _angles(view, check_int(n_triplets, "n_triplets", low=2))
    sizes, codes = angles.classes.sizes, angles.classes.codes
    several, size = sizes >= 2, sizes[codes].astype(np.float64)
    sums = np.bincount(codes, angles.means) / sizes
    c, v = len(sizes) - (size == 1), several.sum() - (size == 2)
    total = (v - (size > 2)) * (size * sums[codes] - angles.means) / np.maximum(size - 1, 1)  # the rows of its class
    for kind in (0, 1):  # the rows of other classes with one point, and with more
        other_sums = sums[several == kind].sum() - np.where(several[codes] == kind, sums[codes], 0.0)
        total += (v - kind) * (other_sums + angles.changes[kind])
    return np.divide(total, v * (c - 1), out=np.full(view.n, np.nan), where=(c > 1) & (v > 0))


@measure(
    symbol="CADI",
    title="Class angular distortion",
    question="Do the members of a class span the same angles as in the data, seen from the points of other classes?",
    warning="Do not read the arrangement of the classes",
    goals=("arrangement",),
    level="point",
    needs=("coordinates", "features", "labels"),
    direction="lower",
    bounds=(0.0, 1.0),
    chance="permutation",
    caution=(
        "Classes that overlap in the embedding appear too wide, and shrinking them can bring the angles nearer to "
        "those of the data: a better value is not better separation."
    ),
    quadratic=True,
    contributions=(0.0, math.inf),
    without=_class_angular_distortion_without,
    invariances=frozenset({"translation", "rotation", "scale"}),
    cost="O(n t (p + d)) time for t triplets a point, at most 20,000 where all are used; O(n (p + d)) memory.",
    exponent=1.0,
    reference=(
        "@gunaratne2026, weighted as in ZADU 0.5.4; with all triplets of small data in place of 10 n random ones."
    ),
)
def class_angular_distortion(view: View, n_triplets: int = 200) -> tuple[FloatArray, Notes]:
    r"""Average the squared change of the cosine of the angle at a point between two members of another class, over 4.

    .. math:: \mathrm{CADI} = \frac{1}{v (c - 1)} \sum_{A \ne B} \frac{1}{n_A} \sum_{i \in A}
              \frac{2}{n_B (n_B - 1)} \sum_{\{j, l\} \subset B}
              \frac{(\cos \angle^X_{j i l} - \cos \angle^Y_{j i l})^2}{4},

    over the c classes A and the v classes B with two members or more; :math:`\angle^X_{jil}` is the angle at i between
    j and l in the data. Every ordered pair of classes has the same weight, whatever its sizes, so the contribution of a
    point is its own mean times :math:`n` over the size of its class (and times the share of such B): contributions
    average to the value, and may exceed 1. An angle at a point that coincides with j or l has the cosine 0, as in ZADU.

    All triplets are used where a point has at most 20,000 (or ``n_triplets``) of them, else ``n_triplets`` random ones
    for each point, the same for every embedding. ZADU draws 10 n triplets in all.

    It compares how wide classes appear and how they are arranged, so distances and separation do not count: a class
    that is moved farther away appears narrower, but classes that overlap in both spaces cost nothing. The cosine moves
    little at angles near 0, so narrow classes that are far apart have values near 0 for almost any embedding, and for
    many columns angles of unrelated points are near 90 degrees: compare with the chance level.

    See Also
    --------
    label_trustworthiness, label_continuity : separation of pairs of classes.
    triplet_accuracy : the order of the distances in triplets, without classes.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [4.0, 0.0], [4.0, 4.0]])
    >>> labels = list("aabb")
    >>> dreval.class_angular_distortion(X, 2 * X, labels=labels)
    0.0
    >>> round(dreval.class_angular_distortion(X, X[:, :1], labels=labels), 4)
    0.014
    """
    angles = _angles(view, check_int(n_triplets, "n_triplets", low=2))
    sizes = angles.classes.sizes
    several = sizes >= 2
    c, v = len(sizes), int(several.sum())
    weights = view.n * (v - several) / (v * (c - 1) * sizes)
    codes = angles.classes.codes[angles.classes.rows]
    return weights[codes] * angles.means, (
        note("class_angular_distortion.drawn", triplets=n_triplets),
    ) if angles.drawn else ()


class _Angles(NamedTuple):
    """The mean of each row, the changes of their sums without each point, whether triplets were drawn, and classes."""

    means: FloatArray
    changes: FloatArray
    drawn: bool
    classes: Members


@per_view
def _angles(view: View, n_triplets: int) -> _Angles:
    """Compare the angles at the rows between members of other classes, also without each point: see ``all_angles``."""
    from dreval.geometry._loops import angles as loops

    classes = members(view)
    X, Y = np.zeros((len(view.Y), view.X.shape[1])), np.zeros(view.Y.shape)
    for points, coordinates in ((X, view.features()), (Y, view.Y[view.population])):
        points[view.population] = coordinates
    stay = np.zeros(len(Y), np.bool_)
    stay[view.population] = True
    labels = np.asarray(view.labels)
    codes, counts = np.unique(labels, return_inverse=True)[1], np.bincount(labels)
    order, starts = np.argsort(codes, kind="stable"), np.r_[0, np.cumsum(counts[counts > 0])]
    means = np.zeros(len(view.rows))
    drawn = int(np.sum(counts * (counts - 1) // 2)) > max(n_triplets, MAX_TRIPLETS_USED)
    key = stream(view.seed, "angles").integers(2**64, dtype=np.uint64)

    def add_changes(part: slice, changes: FloatArray) -> None:
        if drawn:
            draws = (key, n_triplets, means[part], changes)
            loops.sampled_angles(X, Y, view.rows[part], codes, order, starts, stay, *draws)
        else:
            loops.all_angles(X, Y, view.rows[part], codes, order, starts, stay, means[part], changes)

    changes = sum_over_rows(add_changes, len(view.rows), np.zeros((2, len(Y))), view.n_jobs)
    return _Angles(means, changes[:, view.population], drawn, classes)


TINY_GAP = 1e-14  # centroids at a smaller distance, as a share of the largest coordinate of their points, are equal
EXACT_UP_TO = 2000  # points of a class up to which values without each of them are exact
PAIRS = 2**21  # of classes that are compared at once
MIN_ERRORS = 5.0  # standard errors between two centroids below which there is no interval


class _ClassParts(NamedTuple):
    """Classes of the points, differences and distances to their centroids, and the largest ratios of each class.

    ``worst`` is the class with which the ratio is ``largest``, ``second`` the largest ratio with another class.
    ``nearest`` is the smallest distance of two centroids in its standard errors, after what noise adds to its square,
    and ``near`` the number of pairs for which it is small.
    """

    codes: IntArray
    sizes: IntArray
    gaps: FloatArray
    lengths: FloatArray
    centers: FloatArray
    spread: FloatArray
    worst: IntArray
    largest: FloatArray
    second: FloatArray
    nearest: float
    near: int


@per_view
def _class_parts(view: View) -> _ClassParts:
    """Compute the parts of the Davies-Bouldin index.

    The origin is the median, which no outlier moves, so that the other points keep their digits next to the largest
    coordinate. Pairs of classes are compared in blocks, of which no table is kept.
    """
    classes = members(view)
    points = view.Y[view.population]
    points = points - np.median(points, axis=0)
    codes, sizes, c = classes.codes, classes.sizes, len(classes.sizes)
    centers, reach = centroids(points, classes), np.zeros(c)
    gaps = points - centers[codes]
    lengths = np.sqrt(np.square(gaps).sum(axis=1))
    spread = np.bincount(codes, lengths) / sizes
    np.maximum.at(reach, codes, np.abs(points).max(axis=1))
    size = max(1, PAIRS // c)
    blocks = [slice(at, min(at + size, c)) for at in range(0, c, size)]
    worst, largest, second, equal = np.empty(c, np.int64), np.empty(c), np.empty(c), 0
    for a in blocks:
        apart, rows = _apart(centers, a), np.arange(a.stop - a.start)
        equal += int((apart <= TINY_GAP * np.maximum(reach[a, None], reach)).sum())
        ratio = np.divide(spread[a, None] + spread, apart, out=np.zeros_like(apart), where=apart > 0)
        worst[a] = ratio.argmax(axis=1)
        largest[a] = ratio[rows, worst[a]]
        ratio[rows, worst[a]] = -np.inf
        second[a] = ratio.max(axis=1)
    if equal:
        requirement = (
            f"must not have two classes with the same centroid, up to {TINY_GAP:g} of their points' distance to the "
            "median"
        )
        hint = "Use silhouette, which is defined there too."
        raise UndefinedMeasure("embedding", requirement, f"{equal // 2} such pairs of classes", hint)
    nearest, near = _separation(classes, gaps, lengths, centers, blocks)
    return _ClassParts(codes, sizes, gaps, lengths, centers, spread, worst, largest, second, nearest, near)


def _apart(centers: FloatArray, a: slice) -> FloatArray:
    """Return the distances of some centroids to all; infinite to themselves."""
    apart = np.sqrt(pairwise_squared(centers[a], centers))
    apart[np.arange(a.stop - a.start), np.arange(a.start, a.stop)] = np.inf
    return apart


def _separation(
    classes: Members, gaps: FloatArray, lengths: FloatArray, centers: FloatArray, blocks: list[slice]
) -> tuple[float, int]:
    """Return the smallest distance of two centroids in its standard errors, and the number of pairs below the limit."""
    codes, sizes, c = classes.codes, classes.sizes, len(centers)
    ends, sorted_gaps = np.r_[0, np.cumsum(sizes)], gaps[np.argsort(codes, kind="stable")]
    freedom = sizes * np.maximum(sizes - 1.0, 1.0)
    added, nearest, near = np.bincount(codes, lengths**2) / freedom, np.inf, 0

    def noise(a: int, targets: slice, apart: FloatArray) -> FloatArray:
        along = sorted_gaps[ends[a] : ends[a + 1]] @ ((centers[a] - centers[targets]) / apart[:, None]).T
        return np.asarray(np.square(along).sum(axis=0) / freedom[a])

    for block in blocks:
        apart = _apart(centers, block)
        signal = np.maximum(apart**2 - added[block, None] - added, 0.0)
        error = np.stack([noise(a, slice(0, c), apart[i]) for i, a in enumerate(range(block.start, block.stop))])
        if len(blocks) == 1:
            error = error + error.T
        else:
            for b in range(c):
                error[:, b] += noise(b, block, apart[:, b])
        apart = np.sqrt(np.divide(signal, error, out=np.full(error.shape, np.inf), where=error > 0))
        nearest, near = min(nearest, float(apart.min())), near + int((apart < MIN_ERRORS).sum())
    return nearest, near // 2


def _davies_bouldin_without(view: View) -> FloatArray:
    """Return the values without each point; spreads of large classes change to first order in 1 / n only."""
    codes, sizes, gaps, lengths, centers, spread, worst, largest, second, nearest, _ = _class_parts(view)
    if nearest < MIN_ERRORS:
        requirement = f"must have centroids of classes that are {MIN_ERRORS:g} standard errors apart"
        raise UndefinedMeasure("embedding", requirement, f"{nearest:.2g}", "Use silhouette, which is bounded.")
    values = np.full(len(codes), np.nan)
    toward = np.divide(gaps, lengths[:, None], out=np.zeros_like(gaps), where=lengths[:, None] > 0)
    for a, size in enumerate(sizes):
        at = np.flatnonzero(codes == a)
        without_a = np.where(worst == a, second, largest)  # the largest of each class without class a
        if size == 1:
            values[at] = np.delete(without_a, a).mean() if len(sizes) > 2 else np.nan
            continue
        moved = gaps[at] / (size - 1)
        if size <= EXACT_UP_TO:
            far = np.sqrt(pairwise_squared(gaps[at], -moved))
            spread_of_a = (far.sum(axis=0) - np.diag(far)) / (size - 1)
        else:
            change = ((toward[at].sum(axis=0) - toward[at]) * moved).sum(axis=1)
            spread_of_a = (lengths[at].sum() - lengths[at] + change) / (size - 1)
        apart = np.sqrt(pairwise_squared(centers[a] - moved, centers))
        apart[:, a] = np.inf
        ratios_of_a = (spread_of_a[:, None] + spread) / apart
        top = np.maximum(ratios_of_a, without_a)
        top[:, a] = ratios_of_a.max(axis=1)
        values[at] = top.mean(axis=1)
    return values


@measure(
    symbol="DB",
    title="Davies-Bouldin index of the classes",
    question="Is each class separated in the embedding from the class that is most like it?",
    goals=("classes",),
    level="global",
    needs=("coordinates", "labels"),
    direction="lower",
    bounds=(0.0, math.inf),
    chance="permutation",
    chance_formula=(
        "mean over 20 random permutations of the rows of the embedding that have a value; a rough one, since centroids "
        "of classes in random order can be arbitrarily close to each other"
    ),
    invariances=frozenset({"translation", "rotation", "scale"}),
    without=_davies_bouldin_without,
    caution=SEPARATION,
    cost=(
        "O(n c d) time with c classes, O(n d) memory plus a block of pairs of classes; its interval O(m^2 d) time\n"
        "for each class of m <= 2000 points."
    ),
    exponent=1.0,
    reference="@davies1979.",
)
def davies_bouldin(view: View) -> tuple[float, Notes]:
    r"""Average over the classes the largest ratio of spread to separation with another class.

    .. math:: \mathrm{DB} = \frac{1}{c} \sum_a \max_{b \ne a} \frac{s_a + s_b}{|m_a - m_b|},

    with the centroids :math:`m_a` of the classes in the embedding and the mean distance :math:`s_a` of their points to
    them. The data are not used. At least two classes are required, and fewer than points.

    It has no upper bound, and is not defined where two classes have the same centroid: the ratio is infinite
    (scikit-learn leaves such pairs out, and returns 0, the best value, where there are no others). A class of one point
    has no spread, which makes it look separated.

    Where two centroids of the population coincide, as of classes in an embedding of noise, the index is infinite there,
    and no interval of the finite value of a sample holds it. So there is none where two centroids are less than 5
    standard errors apart (of their distance, after what noise adds to its square is subtracted), and a note. In
    simulations of two normal classes of 30 points, whose centroids were 6 standard errors apart, the intervals that
    there were held the value of the population in 88 to 93 % of 400 samples, at 12 in 92 to 96 %; of three classes of
    100 points in 94 to 99 % and 96 to 97 %.

    See Also
    --------
    calinski_harabasz : all classes at once.
    silhouette : bounded, and by distances of points.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Y = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> round(dreval.davies_bouldin(Y, labels=list("aaabbb")), 3)
    0.133
    >>> round(dreval.davies_bouldin(Y, labels=list("ababab")), 3)
    2.667
    """
    parts = _class_parts(view)
    return float(parts.largest.mean()), (note("davies_bouldin.near", pairs=parts.near),) if parts.near else ()


@measure(
    symbol="DSC",
    title="Distance consistency",
    question="Is each point nearest to the centroid of its own class in the embedding?",
    warning="Classes overlap",
    share="of the points are nearest to the centroid of their own class",
    goals=("classes",),
    level="point",
    needs=("coordinates", "labels"),
    direction="higher",
    bounds=(0.0, 1.0),
    chance="permutation",
    invariances=frozenset({"translation", "rotation", "scale"}),
    caution=SEPARATION,
    cost="O(n c d) time with c classes, O(n) memory.",
    exponent=1.0,
    reference="@sips2009.",
)
def distance_consistency(view: View) -> FloatArray:
    r"""Compute the share of the points that are nearer to the centroid of their own class than to any other.

    .. math:: \mathrm{DSC} = \frac{1}{n} \sum_{i=1}^n
              [\,|y_i - m_{c_i}| < |y_i - m_c| \text{ for all classes } c \ne c_i\,],

    with :math:`m_c` the mean of class c in the embedding. A point at the same distance from t centroids, its own among
    them, counts 1/t: a constant embedding has 1 / (number of classes). The data are not used. At least two classes are
    required, and fewer than points: a point alone in its class is its centroid.

    Points near the border of two classes change sides when others are left out, so the interval of ``ci="points"`` is
    conservative: over 80 samples of 100 points in three classes its standard error was 1.4 times the standard deviation
    of the values, for random labels more than 2 times (see ``Evaluation.run``).

    See Also
    --------
    silhouette : mean distances in place of centroids.
    neighborhood_hit, knn_accuracy : classes of the nearest neighbors.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Y = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> dreval.distance_consistency(Y, labels=list("aaabbb"))
    1.0
    >>> round(dreval.distance_consistency(Y, labels=list("aabaab")), 3)
    0.5
    """
    classes, points = members(view), unit(view.Y[view.population])
    centers, contributions = centroids(points, classes), np.empty(len(classes.rows))
    for part in row_blocks(len(classes.rows), len(centers)):
        rows = classes.rows[part]
        D = pairwise_squared(points[rows], centers)
        nearest = as_near(D.min(axis=1, keepdims=True), D)
        contributions[part] = nearest[np.arange(len(rows)), classes.codes[rows]] / nearest.sum(axis=1)
    return contributions


@measure(
    symbol="IL",
    title="Isolated labels",
    question="Are the labels that occur in the fewest batches separate from the others?",
    warning="The labels in the fewest batches are mixed with other labels",
    goals=("classes", "batches"),
    level="global",
    needs=("coordinates", "labels", "batch"),
    direction="higher",
    bounds=(0.0, 1.0),
    chance="permutation",
    quadratic=True,
    invariances=frozenset({"translation", "rotation", "scale"}),
    caution=SEPARATION,
    cost="O(n^2 d) time; O(n) memory plus one block of rows.",
    reference="@luecken2022. In its form with silhouettes, as in scib-metrics.",
)
def isolated_labels(view: View) -> tuple[float, Notes]:
    r"""Average (1 + s) / 2 over the isolated labels, with s the mean silhouette width of the label.

    .. math:: \mathrm{IL} = \frac{1}{|I|} \sum_{c \in I} \frac{1}{n_c} \sum_{i: c_i = c} \frac{1 + s_i}{2},

    with I the labels that occur in the fewest batches, and :math:`s_i` the silhouette width of point i in the
    embedding, with the labels as clusters. A method that removes differences between batches may also remove a kind of
    point that few batches have. The data are not used. Where all labels are in the same number of batches all of them
    count. At least two labels and two batches are required, and fewer than points.

    See Also
    --------
    silhouette : of all labels.
    clisi : neighbors in place of mean distances.
    silhouette_batch, ilisi : whether batches are mixed.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Y = np.array([[0.0], [1.0], [2.0], [3.0], [9.0], [10.0]])
    >>> round(dreval.isolated_labels(Y, labels=list("aaaabb"), batch=[0, 1, 0, 1, 1, 1]), 3)
    0.937
    """
    classes, batches = members(view), members(view, of="batch")
    pairs = np.unique(np.c_[classes.codes, batches.codes], axis=0)
    present = np.bincount(pairs[:, 0])
    isolated = np.flatnonzero(present == present.min())
    widths = silhouette_widths(view.Y[view.population], classes._replace(rows=np.arange(view.n)), view.n_jobs)
    means = np.bincount(classes.codes, (1.0 + widths) / 2.0) / classes.sizes
    counts = {"labels": len(present), "least": int(present.min()), "batches": len(batches.sizes)}
    return float(np.mean(means[isolated])), (note("isolated_labels.which", count=len(isolated), **counts),)


@measure(
    symbol="SIL",
    title="Silhouette of the classes",
    question="Are the classes compact and separated in the embedding?",
    goals=("classes",),
    level="point",
    needs=("coordinates", "labels"),
    direction="higher",
    bounds=(-1.0, 1.0),
    chance="permutation",
    quadratic=True,
    invariances=frozenset({"translation", "rotation", "scale"}),
    caution=SEPARATION,
    cost="O(n^2 d) time; O(n) memory plus one block of rows.",
    reference="@rousseeuw1987.",
)
def silhouette(view: View) -> FloatArray:
    r"""Average the silhouette widths of the points in the embedding, with the classes as clusters.

    .. math:: s_i = \frac{b_i - a_i}{\max(a_i, b_i)},

    with :math:`a_i` the mean distance of point i to the others of its class and :math:`b_i` the smallest mean distance
    to the points of another class. The only point of a class, and a point with :math:`a_i = b_i = 0`, contribute 0. The
    data are not used. At least two classes are required, and fewer than points.

    See Also
    --------
    distance_consistency : nearest class centroid.
    neighborhood_hit : classes of the nearest neighbors.
    label_trustworthiness, label_continuity : compare the separation of classes with that in the data.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Y = np.array([[0.0], [1.0], [10.0], [11.0]])
    >>> round(dreval.silhouette(Y, labels=list("aabb")), 3)
    0.9
    """
    return silhouette_widths(view.Y[view.population], members(view), view.n_jobs)
