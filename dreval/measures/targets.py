"""Measure how well a number of each point, such as age or dose, can be read off its position in the embedding."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from dreval._check import DEFAULT_NEIGHBORS, IntArray
from dreval.errors import UndefinedMeasure
from dreval.geometry.autocorrelation import moran, moran_without, scaled_values
from dreval.geometry.blocks import View, per_view
from dreval.geometry.distances import nearest
from dreval.geometry.pairs import Estimate
from dreval.geometry.ranks import check_left_one, with_extra_neighbor
from dreval.geometry.view import make_view
from dreval.measures.core import FloatArray, measure
from dreval.records.notes import Notes, note

TARGETS: dict[str, Any] = {
    "goals": ("targets",),
    "direction": "higher",
    "chance": "permutation",
    "crossed": True,
    "counted": "edge",
}
NOT_CAUSE = (
    "It says that the number varies smoothly over the map, not why: where a batch or a donor has its own place and its "
    "own numbers, the value is high as well. Pass groups=, and compare with the same value without them."
)


class _Target(NamedTuple):
    """Numbers of the points where they are known, their places in the population, and how many points there are."""

    values: FloatArray
    places: IntArray
    n: int

    @property
    def notes(self) -> Notes:
        """The note on points without a number."""
        count = len(self.places)
        return (note("target.partly", known=count, n=self.n),) if count < self.n else ()

    def at_all(self, values: FloatArray, others: float) -> FloatArray:
        """Return values of these points for all points of the population, with another value for the others."""
        extended = np.full(self.n, others)
        extended[self.places] = values
        return extended


@per_view
def _target_of(view: View, name: str | None) -> _Target:
    """Return the numbers that are predicted; the only ones where there is no name."""
    if view.target is None:
        raise RuntimeError("this view was made without a target")
    names = list(view.target.dtype.names or ())
    if name is None and len(names) > 1:
        raise RuntimeError("this view has several targets")
    column = view.of_population(view.target)[names[0] if name is None else name]
    places = np.flatnonzero(~np.isnan(column))
    values = scaled_values(column[places]) if len(places) else column[places]
    if len(values) < 3 or not values.any():
        received = "equal values" if len(values) > 2 else f"{len(values)} known values"
        raise UndefinedMeasure(
            "target", "must have three known values or more, not all equal", received, "Pass other numbers."
        )
    return _Target(values, places, view.n)


def _check_neighbors(target: _Target, k: int) -> None:
    """Raise if the points with a number have fewer than k neighbors among each other."""
    n = len(target.places)
    if k >= n:
        requirement = "must be smaller than the number of points with a known target"
        raise UndefinedMeasure("n_neighbors", requirement, f"{k} with {n} of them", f"Choose at most {n - 1}.")


def _neighbors(view: View, name: str | None, k: int) -> IntArray:
    """Return the k nearest other points of each point with a known number, in the embedding, (n, k)."""
    target = _target_of(view, name)
    _check_neighbors(target, k)
    neighbors: IntArray = _search(view, name, k)
    return neighbors


@per_view
def _search(view: View, name: str | None, k: int) -> IntArray:
    """Return the k nearest points for ``_neighbors``, once for all measures of a view."""
    points = np.asarray(view.Y[view.population], np.float64)[_target_of(view, name).places]
    return nearest(points, k, n_jobs=view.n_jobs)[0]


def _neighbors_outside(view: View, name: str | None, k: int) -> tuple[IntArray, IntArray]:
    """Return the k nearest points of other groups, and how many there are; without groups all points are others.

    Where fewer points are in other groups, the row ends with copies of its last neighbor, which are not counted.
    """
    target = _target_of(view, name)
    if view.nested_in is None:
        neighbors = _neighbors(view, name, k)
        return neighbors, np.full(len(neighbors), k)
    points = np.asarray(view.Y[view.population], np.float64)[target.places]
    groups = view.of_population(view.nested_in)[target.places]
    neighbors, counts = np.zeros((len(points), k), np.int64), np.zeros(len(points), np.int64)
    for group in np.unique(groups):
        inside, outside = np.flatnonzero(groups == group), np.flatnonzero(groups != group)
        if not len(outside):
            requirement = "must have points with a known target in two groups or more"
            raise UndefinedMeasure("groups", requirement, "one group", "Leave the groups out.")
        size = min(k, len(outside))
        nearest_outside = outside[nearest(points[outside], size, points[inside], view.n_jobs)[0]]
        neighbors[inside, :size] = nearest_outside
        neighbors[inside, size:] = nearest_outside[:, -1:]
        counts[inside] = size
    return neighbors, counts


def _means(values: FloatArray, neighbors: IntArray, counts: IntArray) -> FloatArray:
    """Return the mean of the first neighbors of each row."""
    used = np.arange(neighbors.shape[1]) < counts[:, None]
    return np.asarray((values[neighbors] * used).sum(axis=1) / counts)


def _r2(values: FloatArray, predictions: FloatArray, center: float) -> float:
    """Return 1 minus the sum of squared errors, over the sum of squared deviations from the center."""
    return 1.0 - float(np.square(values - predictions).sum()) / float(np.square(values - center).sum())


def _r2_without(values: FloatArray, neighbors: IntArray) -> FloatArray:
    """Return R^2 without each point, from k + 1 neighbors: the last one replaces the point that is left out."""
    n, k = len(values), neighbors.shape[1] - 1
    y = values - values.mean()
    means = y[neighbors[:, :k]].mean(axis=1)
    errors = np.square(y - means)
    steps = (y[neighbors[:, k]][:, None] - y[neighbors[:, :k]]) / k
    changes = np.square((y - means)[:, None] - steps) - errors[:, None]
    sums = errors.sum() - errors + np.bincount(neighbors[:, :k].ravel(), changes.ravel(), n)
    squares = y @ y - n / (n - 1) * y**2
    return np.asarray(1.0 - np.divide(sums, squares, out=np.full(n, np.nan), where=squares > 1e-12 * (y @ y)))


def _lists_without(view: View, n_neighbors: int, target: str | None) -> IntArray:
    """Return k + 1 neighbors of each point with a known number, for the values without each point."""
    check_left_one(len(_target_of(view, target).places), n_neighbors)
    neighbors, counts = _neighbors_outside(view, target, n_neighbors + 1)
    if counts.min() <= n_neighbors:
        raise UndefinedMeasure("n_neighbors", "must leave more points in other groups", f"{n_neighbors}", "Use fewer.")
    return neighbors


def _knn_r2_chance(view: View, n_neighbors: int, target: str | None) -> float:
    """Return 1 minus the mean squared error over random neighbors, drawn from the points that may be neighbors."""
    numbers, counts = _target_of(view, target), _neighbors_outside(view, target, n_neighbors)[1]
    y, n = numbers.values - numbers.values.mean(), len(numbers.places)
    if view.nested_in is None:
        own_count, own_sum, own_squares = np.ones(n), y, y**2
    else:
        codes = np.unique(view.of_population(view.nested_in)[numbers.places], return_inverse=True)[1]
        own_count, own_sum, own_squares = (np.bincount(codes, weights)[codes] for weights in (np.ones(n), y, y**2))
    size = n - own_count
    mean = (y.sum() - own_sum) / size
    variance = np.maximum((y @ y - own_squares) / size - mean**2, 0.0)
    of_mean = variance / counts * np.divide(size - counts, size - 1, out=np.zeros(n), where=size > 1)
    return 1.0 - float((np.square(y - mean) + of_mean).sum() / (y @ y))


def _knn_r2_without(view: View, n_neighbors: int, target: str | None) -> FloatArray:
    values = _r2_without(_target_of(view, target).values, _lists_without(view, n_neighbors, target))
    return _target_of(view, target).at_all(values, _r2_of_map(view, n_neighbors, target))


def _r2_of_map(view: View, n_neighbors: int, target: str | None) -> float:
    """Return R^2 in the embedding."""
    values = _target_of(view, target).values
    return _r2(values, _means(values, *_neighbors_outside(view, target, n_neighbors)), float(values.mean()))


def _group_notes(view: View) -> Notes:
    """Return the note on neighbors from other groups."""
    return () if view.nested_in is None else (note("knn.groups"),)


@measure(
    symbol="R_kNN",
    title="k-NN R^2 of the target",
    noun="R^2 of the target",
    bar=True,
    question="Can a number of each point be predicted from its neighbors in the embedding?",
    warning="Do not read the target off the map",
    level="global",
    needs=("coordinates", "target"),
    bounds=(-math.inf, 1.0),
    chance_formula=(
        r":math:`1 - \frac{n}{n - 1} (1 + \frac{1}{k})`, below 0: the mean over random neighbors, as -0.0774 for "
        "n = 100 and k = 15; with groups lower for a number that differs between them, as -0.9 for one number for each "
        "of four donors"
    ),
    expected=_knn_r2_chance,
    invariances=frozenset({"translation", "rotation", "scale", "monotone"}),
    default=14,
    without=_knn_r2_without,
    caution=NOT_CAUSE,
    cost="O(n log n) time for d <= 8, O(n^2 d) beyond; O(n k) memory.",
    exponent=1.0,
    reference="@cover1968. Leave-one-out, as scikit-learn's KNeighborsRegressor without the point itself.",
    **TARGETS,
)
def knn_r2(view: View, n_neighbors: int = DEFAULT_NEIGHBORS, target: str | None = None) -> Estimate:
    r"""Compute the share of the variance of a number that the mean of its k nearest neighbors predicts.

    .. math:: R^2(k) = 1 - \frac{\sum_i (t_i - \frac{1}{k} \sum_{j \in M_k(i)} t_j)^2}{\sum_i (t_i - \bar t)^2},

    with :math:`t_i` the number (age, dose, pseudotime) of point i and :math:`M_k(i)` its k nearest neighbors in the
    embedding, never the point itself (leave-one-out). It has no unit, is at most 1, and is negative where the mean of
    all points predicts better. The data are not used. Points without a number are left out, as if they were not on the
    map. With ``groups=`` the neighbors are those from other groups: a number that is constant within a donor is not
    predicted from the points of that donor.

    In an evaluation the targets are the covariates that are numbers, and labels that are decimal numbers; each is a row
    with its name.

    See Also
    --------
    knn_r2_ratio : divided by the same in the data.
    morans_i : how alike neighbors are, without a prediction.
    knn_accuracy : the same for classes.
    latent_r2 : by an affine map of the whole embedding.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Y = np.random.default_rng(0).normal(size=(200, 2))
    >>> round(dreval.knn_r2(Y, target=Y[:, 0]), 3)
    0.935
    >>> dreval.knn_r2(np.arange(4.0)[:, None], target=[0, 1, 0, 1], n_neighbors=1)
    -3.0
    """
    numbers = _target_of(view, target)
    notes = (*numbers.notes, *_group_notes(view))
    return Estimate(_r2_of_map(view, n_neighbors, target), notes, n_used=len(numbers.places))


class _InData(NamedTuple):
    """Neighbors in the data: the rows (places among the points with a number) and their k nearest such points."""

    rows: IntArray
    neighbors: IntArray


@per_view
def _in_data(view: View, name: str | None, k: int) -> _InData:
    """Return the k nearest points in the data of the rows, among the points with a known number."""
    target = _target_of(view, name)
    _check_neighbors(target, k)
    if view.nested_in is not None and len(np.unique(view.nested_in)) < len(view.nested_in):
        requirement = "must be left out, since neighbors in the data are of all groups"
        raise UndefinedMeasure("groups", requirement, "groups", "Use knn_r2, with neighbors from other groups.")
    rows = np.searchsorted(target.places, view.within(view.rows))
    if len(target.places) == view.n and view.nearest_data.shape[1] >= k:
        return _InData(rows, view.within(view.nearest_data[:, :k]))
    stay = view.population[target.places]
    is_known = np.isin(view.rows, stay)
    rows = np.searchsorted(stay, view.rows[is_known])
    options: dict[str, Any] = {"metric": view.metric, "n_jobs": view.n_jobs}
    part = make_view(view.X, np.zeros((len(stay), 1)), k, ranks=False, part=stay, rows=rows, **options)
    return _InData(rows, part.nearest_data[:, :k])


def _ratio_parts(view: View, k: int, name: str | None) -> tuple[float, FloatArray, FloatArray, IntArray]:
    """Return the ratio, the contributions of the rows to both values of R^2, and the places of the rows."""
    values, data = _target_of(view, name).values, _in_data(view, name, k)
    scale = float(np.square(values - values.mean()).mean())
    near_data = values[data.neighbors].mean(axis=1)
    near_map = values[_neighbors(view, name, k)[data.rows]].mean(axis=1)
    above, below = (1.0 - np.square(values[data.rows] - near) / scale for near in (near_map, near_data))
    if below.mean() <= 0:
        requirement = "must be predicted by neighbors in the data (R^2 above 0), to which the embedding is compared"
        hint = "Use knn_r2, which does not divide by it."
        raise UndefinedMeasure("target", requirement, f"R^2 {below.mean():.3f} in the data", hint)
    return float(above.mean() / below.mean()), above, below, data.rows


def _ratio_chance(view: View, n_neighbors: int, target: str | None) -> float:
    """Return the chance level of R^2 in the embedding, divided by R^2 in the data."""
    below = float(_ratio_parts(view, n_neighbors, target)[2].mean())
    return _knn_r2_chance(replace(view, nested_in=None), n_neighbors, target) / below


def _ratio_without(view: View, n_neighbors: int, target: str | None) -> FloatArray:
    """Return the ratio of both values without each point."""
    numbers = _target_of(view, target)
    ratio = _ratio_parts(view, n_neighbors, target)[0]
    of_map = _r2_without(numbers.values, _lists_without(replace(view, nested_in=None), n_neighbors, target))
    if len(numbers.places) == view.n:
        lists = with_extra_neighbor(view, n_neighbors, ranks=False).nearest_data[:, : n_neighbors + 1]
    else:
        lists = _in_data(view, target, n_neighbors + 1).neighbors
    in_data = _r2_without(numbers.values, lists)
    if in_data.min() <= 0:
        received = f"{in_data.min():.3f} without one of them"
        requirement = "must be predicted by neighbors in the data without each point, too"
        raise UndefinedMeasure("target", requirement, received, "Use knn_r2.")
    return numbers.at_all(of_map / in_data, ratio)


@measure(
    symbol="Q_kNN",
    title="k-NN R^2 of the target relative to the data",
    noun="R^2 of the target relative to the data",
    question="How much of what neighbors in the data predict of a number do neighbors in the embedding predict?",
    level="point",
    needs=("neighbors", "coordinates", "target"),
    bounds=(-math.inf, math.inf),
    chance_formula=(
        "that of ``knn_r2`` divided by R^2 in the data, as -0.0855 for n = 100, k = 15 and an R^2 of 0.906 in the data"
    ),
    expected=_ratio_chance,
    ceiling=lambda _n, _k: 1.0,
    invariances=frozenset({"translation", "rotation", "scale", "monotone"}),
    without=_ratio_without,
    caution="Above 1 the number is easier to read off the embedding than off neighbors in the data, which noise in the "
    "other columns of the data may blur. " + NOT_CAUSE,
    cost="O(n^2 p) time for the neighbors in the data, O(n k) memory.",
    lists="neighbors",
    reference="@cover1968. The ratio of two leave-one-out values of R^2.",
    **TARGETS,
)
def knn_r2_ratio(
    view: View, n_neighbors: int = DEFAULT_NEIGHBORS, target: str | None = None
) -> tuple[FloatArray, Notes]:
    r"""Divide the leave-one-out R^2 of the k nearest neighbors in the embedding by that of those in the data.

    .. math:: \frac{R^2_Y(k)}{R^2_X(k)},

    both as in ``knn_r2``. It is missing where :math:`R^2_X` is not above 0: what the data do not predict, an embedding
    cannot keep. The note in a table of results has both values. From anchors both are means over these, and their ratio
    has the contributions :math:`c_i = q + (a_i - q b_i) / \bar b` for the ratio q of the contributions a and b to the
    two. With ``groups=`` it is missing, since neighbors in the data are of all groups.

    See Also
    --------
    knn_r2 : in the embedding alone.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> round(dreval.knn_r2_ratio(X, X[:, :2], target=X[:, 0]), 3)
    1.051
    >>> round(dreval.knn_r2_ratio(X, X[:, 1:], target=X[:, 0]), 3)
    -0.099
    """
    numbers = _target_of(view, target)
    ratio, above, below, rows = _ratio_parts(view, n_neighbors, target)
    at_rows = numbers.at_all(np.zeros(len(numbers.places)), 0.0)
    at_rows[numbers.places[rows]] = (above - ratio * below) / below.mean()
    points = ratio + at_rows[view.within(view.rows)] * (len(view.rows) / len(rows))
    parts = note("knn_r2_ratio.parts", of_map=float(above.mean()), in_data=float(below.mean()))
    return points, (parts, *numbers.notes)


def _moran_chance(view: View, _: int, target: str | None) -> float:
    """Return the mean over all permutations of the numbers over the points."""
    return -1.0 / (len(_target_of(view, target).places) - 1)


def _moran_without(view: View, n_neighbors: int, target: str | None) -> FloatArray:
    numbers = _target_of(view, target)
    check_left_one(len(numbers.places), n_neighbors)
    values = moran_without(numbers.values, _neighbors(view, target, n_neighbors + 1))
    return numbers.at_all(values, float(moran(numbers.values[None], _neighbors(view, target, n_neighbors))[0]))


@measure(
    symbol="I",
    title="Moran's I of the target",
    question="Are neighbors in the embedding alike in a number of each point?",
    level="global",
    needs=("coordinates", "target"),
    bounds=(-math.inf, math.inf),
    chance_formula=(
        r":math:`-1 / (n - 1)`, the mean over all permutations of the numbers over the points, as -0.0101 for n = 100"
    ),
    expected=_moran_chance,
    invariances=frozenset({"translation", "rotation", "scale", "monotone"}),
    without=_moran_without,
    caution=NOT_CAUSE,
    cost="O(n log n) time for d <= 8, O(n^2 d) beyond; O(n k) memory.",
    exponent=1.0,
    reference="@moran1950. With the k nearest neighbors as weights, each with the same weight.",
    **TARGETS,
)
def morans_i(view: View, n_neighbors: int = DEFAULT_NEIGHBORS, target: str | None = None) -> Estimate:
    r"""Compute the spatial autocorrelation of a number over the k nearest neighbors in the embedding.

    .. math:: I = \frac{\sum_i (t_i - \bar t) \frac{1}{k} \sum_{j \in M_k(i)} (t_j - \bar t)}{\sum_i (t_i - \bar t)^2},

    with :math:`M_k(i)` the k nearest neighbors of point i in the embedding. Being a neighbor is directed, and the
    weights are not made symmetric. A value of 1 is close to "neighbors have equal numbers"; it may be exceeded, since
    points in the middle are neighbors of many others, and is rarely below -1. The data are not used. With the spatial
    coordinates of a tissue as Y it is the spatial autocorrelation of a gene. Points without a number are left out. With
    ``groups=`` neighbors may be of one group.

    See Also
    --------
    moran_test : the p-value.
    knn_r2 : how well neighbors predict the number.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Y = np.random.default_rng(0).normal(size=(200, 2))
    >>> round(dreval.morans_i(Y, target=Y[:, 0]), 3)
    0.792
    >>> round(dreval.morans_i(np.arange(4.0)[:, None], target=[0, 1, 0, 1], n_neighbors=1), 3)
    -1.0
    """
    numbers = _target_of(view, target)
    value = float(moran(numbers.values[None], _neighbors(view, target, n_neighbors))[0])
    return Estimate(value, numbers.notes, n_used=len(numbers.places))
