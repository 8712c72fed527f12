"""Compare the distances between classes in the data and on maps: which pairs are drawn too near, or too far apart."""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import FloatArray, IntArray, check_float, check_one_of
from dreval.errors import InputError, UndefinedMeasure, UnknownName
from dreval.geometry.distances import block_rows, distance_matrix, pairwise_squared
from dreval.inference.groups import GroupDesign, few_groups_note
from dreval.inference.intervals import LEVEL
from dreval.inputs.data import Data
from dreval.inputs.variables import Rows, as_label_vector
from dreval.records.class_distances import ClassDistances
from dreval.records.notes import Note, note
from dreval.records.provenance import provenance, reproducing_call
from dreval.records.results import Results

MIN_MEMBERS = 3  # points of a class, so that it has a spread without each of them
MIN_CLASSES = 3  # two classes have one distance, which cannot be compared with others
MIN_ERRORS = 2.0  # standard errors of a squared distance below which the logarithm has no useful error
MAX_CLASSES = 60  # classes whose pairs are compared with each other in memory
METRICS = ("euclidean", "cosine", "correlation", "manhattan", "hamming", "precomputed")


class _Part(NamedTuple):
    """Squared distances of all pairs of classes (M,), and the same without each unit: of a class, or of all classes.

    ``left_out`` has for each class the squared distances to all classes without each of its points (n_A, c); with
    groups a single array (G, M) of all pairs without each group.
    """

    squares: FloatArray
    left_out: list[FloatArray]


def class_distances(
    results: Results,
    a: Any = None,
    b: Any = None,
    *,
    embedding: str | None = None,
    labels: Any = None,
    groups: Any = None,
    data: Any = None,
    conf_level: float = LEVEL,
) -> ClassDistances:
    """Compute ``Results.class_distances``, which documents it."""
    level = check_float(conf_level, "conf_level", low=0.5, high=1 - 1e-6)
    names = _embeddings(results, embedding)
    checked = _data_of(results, data)
    codes, classes, notes = _classes(results, labels, checked)
    requested = [
        _class_named(value, argument, classes) for value, argument in ((a, "a"), (b, "b")) if value is not None
    ]
    if len(set(requested)) < len(requested):
        raise InputError("b", "must be another class than `a`", repr(str(b)), "Pass two classes, one, or none.")
    used = codes >= 0
    design, group_notes = _design(results, groups, checked, used)
    members = codes[used]
    space = checked.table if checked.metric == "precomputed" else checked.dense()
    in_data = _squares(space, checked.metric, used, members, len(classes), design)
    tables, of_map = [], str(results.recipe.get("embedding_metric", "euclidean"))
    for name in names:
        Y = np.asarray(results.embeddings[name], np.float64)
        on_map = _squares(Y, of_map, used, members, len(classes), design)
        table = _compare(in_data, on_map, np.bincount(members), design, level)
        tables.append(_named(table, name, classes, np.bincount(members)))
        notes += _coinciding(tables[-1], name)
    pairs = pd.concat(tables, ignore_index=True)
    ends = zip(pairs["class_a"], pairs["class_b"], strict=True)
    table = pairs[[{*requested} <= {first, second} for first, second in ends]].reset_index(drop=True)
    parameters = {"a": a, "b": b, "embedding": embedding, "conf_level": level}
    counts = {"n_classes": len(classes), "n": int(used.sum()), "asked": tuple(requested)}
    n_groups = None if design is None else design.count
    recipe = provenance(parameters, **counts, embeddings=tuple(names), groups=n_groups, random_state=None)
    call = reproducing_call("results.class_distances", [], parameters, class_distances)
    return ClassDistances(table, {**recipe, "call": call}, (*notes, *group_notes), pairs)


def _embeddings(results: Results, embedding: str | None) -> list[str]:
    """Return the embeddings that are compared: one by name, or all that were computed and are not the data."""
    if embedding is not None:
        results._check_computed(embedding)
        return [embedding]
    names = [name for name in results.embeddings if name not in results.reference]
    if not names:
        raise InputError("embedding", "must be an embedding that was computed", "none", "Name one of `results.names`.")
    return names


def _data_of(results: Results, data: Any) -> Data:
    """Return the data of the evaluation; raise without them, and for a metric without distances of all pairs."""
    metric = str(results.recipe.get("metric", "euclidean"))
    of_map = str(results.recipe.get("embedding_metric", "euclidean"))
    if metric not in METRICS or of_map == "precomputed":
        requirement = "must be a distance between any two points, for distances between classes"
        argument, received = ("metric", metric) if metric not in METRICS else ("embedding_metric", of_map)
        raise UndefinedMeasure(argument, requirement, repr(received), "Evaluate the points themselves.")
    if data is None and results.data is None:
        hint = "Pass data=, as results.class_distances(data=X): the data of the evaluation are never saved."
        raise InputError("data", "must be given to a loaded result", "none", hint)
    checked: Data = results._checked_data(results.data if data is None else data)
    return checked


def _classes(results: Results, labels: Any, data: Data) -> tuple[IntArray, npt.NDArray[Any], list[Note]]:
    """Return codes of the classes with three points or more (-1: other points), their names, and notes."""
    rows = _rows(results, labels, data.n)
    if labels is None:
        labels = results.labels
    elif isinstance(labels, str):
        labels = results._point_values(labels, "labels")
    if labels is None:
        hint = "Pass labels= to Evaluation, or here: a vector, or the name of a variable of the points."
        raise InputError("labels", "must be given for distances between classes", "none", hint)
    vector, notes = as_label_vector(labels, rows)
    codes, sizes = vector.codes.copy(), np.bincount(vector.codes[vector.codes >= 0], minlength=len(vector.classes))
    small = sizes < MIN_MEMBERS
    codes[(codes >= 0) & small[codes]] = -1
    if small.any():
        left = tuple(str(name) for name in vector.classes[small])
        notes = (*notes, note("class_distances.small", classes=left, count=len(left), least=MIN_MEMBERS))
    large = np.flatnonzero(~small)
    if not MIN_CLASSES <= len(large) <= MAX_CLASSES:
        requirement = f"must have {MIN_CLASSES} to {MAX_CLASSES} classes of {MIN_MEMBERS} points or more"
        hint = "Two classes have one distance, which cannot be compared with others."
        hint = hint if len(large) < MIN_CLASSES else "Pass labels= with fewer classes."
        raise UndefinedMeasure("labels", requirement, f"{len(large)}", hint)
    place = np.full(len(small), -1)
    place[large] = np.arange(len(large))
    codes[codes >= 0] = place[codes[codes >= 0]]
    return codes, vector.classes[large], list(notes)


def _rows(results: Results, values: Any, n: int) -> Rows:
    """Return the rows of a variable: with their names if its values were passed, and not if the result has them."""
    has_values = values is None or isinstance(values, str)
    return Rows(n, None if has_values or results.ids is None else pd.Index(results.ids))


def _class_named(value: Any, argument: str, classes: npt.NDArray[Any]) -> str:
    """Return the name of a class that was asked for."""
    names = [str(name) for name in classes]
    if str(value) not in names:
        check_one_of(str(value), names, argument)
        raise UnknownName(argument, "must be a class of three points or more", repr(value), ", ".join(names))
    return str(value)


def _design(
    results: Results, groups: Any, data: Data, used: npt.NDArray[np.bool_]
) -> tuple[GroupDesign | None, list[Note]]:
    """Return the groups that the jackknife leaves out, None for single points, and a note where they are too few."""
    recorded, rows = results.recipe.get("groups"), _rows(results, groups, data.n)
    if groups is None:
        if recorded is None:
            return None, []
        name = str(recorded.get("name") or "groups")
        if results._variables is None or name not in results._variables:
            hint = "Pass groups=, the group of each point: groups are never saved."
            raise InputError("groups", "must be given to a loaded result with groups", "none", hint)
        groups = name
    if isinstance(groups, str):
        groups = results._point_values(groups, "groups")
    vector, notes = as_label_vector(groups, rows, "groups")
    if (vector.codes < 0).any():
        raise InputError("groups", "must be known at each point", "missing groups", "Leave out these points.")
    if len(vector.classes) == data.n:
        return None, list(notes)
    design = GroupDesign.of(np.unique(vector.codes[used], return_inverse=True)[1])
    if design.few:
        return design, [*notes, few_groups_note(len(vector.classes), design.effective, "interval")]
    return design, list(notes)


def _squares(
    points: Any, metric: str, used: npt.NDArray[np.bool_], codes: IntArray, c: int, design: GroupDesign | None
) -> _Part:
    """Return the squared distances between the centers of classes, and those without each point, or each group."""
    table = points[np.ix_(used, used)] if metric == "precomputed" else points[used]
    sums = _sums_to_classes(table, metric, codes, c)
    sizes, pairs = np.bincount(codes, minlength=c).astype(np.float64), np.triu_indices(c, 1)
    between, within = _means(sums, codes, sizes)
    squares = _between_centers(between, within)[pairs]
    if design is not None and not design.few:
        without = [_without_part(table, metric, codes, c, design, part) for part in design.parts]
        return _Part(squares, [np.array(without).reshape(-1, len(squares))])
    totals, left_out = np.zeros((c, c)), []
    np.add.at(totals, codes, sums)
    for a in range(c):
        of_class, n_a = sums[codes == a], sizes[a]
        across = (totals[a] - of_class) / ((n_a - 1) * sizes)
        inside = (totals[a, a] - 2 * of_class[:, a]) / ((n_a - 1) * (n_a - 2))
        left_out.append(across - inside[:, None] / 2 - within / 2)
    return _Part(squares, left_out)


def _sums_to_classes(points: Any, metric: str, codes: IntArray, c: int) -> FloatArray:
    """Return the sum of squared distances from each point to all points of each class, (n, c)."""
    n, sizes = len(codes), np.bincount(codes, minlength=c)
    if metric == "euclidean":
        X = np.asarray(points, np.float64)
        X = X - X.mean(axis=0)
        centers = np.array([X[codes == a].mean(axis=0) for a in range(c)])
        to_centers = pairwise_squared(X, centers)
        spread = np.bincount(codes, to_centers[np.arange(n), codes], c)
        return np.asarray(sizes * to_centers + spread)
    sums, is_member = np.empty((n, c)), (codes[:, None] == np.arange(c)).astype(np.float64)
    size = block_rows(n)
    for at in range(0, n, size):
        rows = slice(at, at + size)
        D = points[rows] if metric == "precomputed" else distance_matrix(points, metric, points[rows])
        sums[rows] = np.square(D) @ is_member
    return sums


def _means(sums: FloatArray, codes: IntArray, sizes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean squared distance between the points of each two classes, and of different points of each."""
    totals = np.zeros((len(sizes), len(sizes)))
    np.add.at(totals, codes, sums)
    return totals / np.outer(sizes, sizes), np.diag(totals) / (sizes * (sizes - 1))


def _between_centers(between: FloatArray, within: FloatArray) -> FloatArray:
    """Return squared distances between centers: what the spread within classes adds to mean distances is subtracted."""
    return np.asarray(between - within / 2 - within[:, None] / 2)


def _without_part(points: Any, metric: str, codes: IntArray, c: int, design: GroupDesign, part: int) -> FloatArray:
    """Return the squared distances of all pairs of classes without one group; NaN where a class is too small then."""
    stay = np.flatnonzero(design.codes != part)
    sizes = np.bincount(codes[stay], minlength=c).astype(np.float64)
    if sizes.min() < MIN_MEMBERS - 1:
        return np.full(c * (c - 1) // 2, np.nan)
    table = points[np.ix_(stay, stay)] if metric == "precomputed" else points[stay]
    means = _means(_sums_to_classes(table, metric, codes[stay], c), codes[stay], sizes)
    return np.asarray(_between_centers(*means)[np.triu_indices(c, 1)])


class _Errors(NamedTuple):
    """Logarithms of distances of the pairs (M,), and the covariance of their errors (M, M); NaN without an interval.

    ``freedom`` is that of each pair, for ratios over their geometric mean; None where groups are left out.
    """

    values: FloatArray
    covariance: FloatArray
    freedom: FloatArray | None = None


def _compare(data: _Part, on_map: _Part, sizes: IntArray, design: GroupDesign | None, level: float) -> pd.DataFrame:
    """Return a row for each pair of classes: distances, their ratio with its interval, and the order of the pairs.

    Pairs that are apart in the data and on the map have ratios over their geometric mean. A pair that is apart in one
    of them alone has a limit of its ratio.
    """
    from scipy.special import stdtrit

    M, c = len(data.squares), len(sizes)
    apart = [np.array([_is_apart(part, c, p) for p in range(M)]) for part in (data, on_map)]
    valid, has_limit = apart[0] & apart[1], apart[0] ^ apart[1]
    logs = [_log_errors(part, sizes, valid, design) for part in (data, on_map)]
    ratio = _ratio_errors(data, on_map, sizes, valid, design)
    freedom = int(sizes.sum()) - 1 if design is None else design.freedom
    count = int(valid.sum())
    center = np.eye(count) - 1.0 / max(count, 1)
    u, covariance = ratio.values[valid], ratio.covariance[np.ix_(valid, valid)]
    se = np.sqrt(np.maximum(np.diag(center @ covariance @ center), 0.0))
    tail = (1 - level) / 2 / max(int((valid | has_limit).sum()), 1)
    half = -stdtrit(freedom if ratio.freedom is None else ratio.freedom, tail) * se
    table = pd.DataFrame(
        {
            "data_distance": np.sqrt(np.maximum(data.squares, 0.0)),
            "map_distance": np.sqrt(np.maximum(on_map.squares, 0.0)),
            **{name: np.full(M, np.nan) for name in ("data", "map", "ratio", "conf_low", "conf_high")},
        }
    )
    if count > 1:  # a single pair is its own unit
        units = [np.exp(log.values[valid].mean()) for log in logs]
        for name, unit in zip(("data", "map"), units, strict=True):
            table.loc[valid | has_limit, name] = table[f"{name}_distance"] / unit
        table.loc[apart[0], "ratio"] = table["map"] / table["data"]
        table.loc[valid, "conf_low"] = np.exp(u - u.mean() - half)
        table.loc[valid, "conf_high"] = np.exp(u - u.mean() + half)
        for p in np.flatnonzero(has_limit & (design is None or not design.few)).tolist():
            limits = [_limits(part, p, sizes, tail, design) for part in (data, on_map)]
            if apart[0][p] and limits[0][0] > 0:
                table.loc[p, ["conf_low", "conf_high"]] = 0.0, limits[1][1] / limits[0][0] * units[0] / units[1]
            elif apart[1][p] and limits[1][0] > 0:
                table.loc[p, "conf_low"] = limits[1][0] / limits[0][1] * units[0] / units[1]
    for name, distance in (("rank_data", "data_distance"), ("rank_map", "map_distance")):
        table[name] = table[distance].rank(method="min").astype(np.int64)
    order = _orders([data.squares, on_map.squares], logs, valid, freedom, level)
    return table.assign(**order, apart_in_data=apart[0], apart_on_map=apart[1])


def _limits(part: _Part, p: int, sizes: IntArray, tail: float, design: GroupDesign | None) -> tuple[float, float]:
    """Return limits of the distance of a pair of classes from its squared distance and the error of that."""
    from scipy.special import stdtrit

    smaller = min(int(sizes[ends[p]]) for ends in np.triu_indices(len(sizes), 1))
    freedom = smaller - 1 if design is None else design.freedom
    half = -stdtrit(freedom, tail) * _standard_error(part, len(sizes), p)
    return math.sqrt(max(part.squares[p] - half, 0.0)), math.sqrt(max(part.squares[p] + half, 0.0))


def _is_apart(part: _Part, c: int, p: int) -> bool:
    """Return whether the squared distance of a pair of classes is above 0 by two standard errors, and ever above 0."""
    left_out = _squares_without(part, c, p)[0]
    return bool((left_out > 0).all() and part.squares[p] > MIN_ERRORS * _standard_error(part, c, p))


def _squares_without(part: _Part, c: int, p: int) -> tuple[FloatArray, int]:
    """Return the squared distances of a pair of classes without each unit that changes it, and the number of units."""
    if len(part.left_out) == 1:
        return part.left_out[0][:, p], len(part.left_out[0])
    a, b = (int(ends[p]) for ends in np.triu_indices(c, 1))
    return np.r_[part.left_out[a][:, b], part.left_out[b][:, a]], sum(map(len, part.left_out))


def _standard_error(part: _Part, c: int, p: int) -> float:
    """Return the standard error of the squared distance of a pair of classes; 0 where no unit is left out."""
    left_out, n = _squares_without(part, c, p)
    changes = left_out - part.squares[p]  # 0 without a point of another class
    variance = (n - 1) / max(n, 1) * (float(changes @ changes) - float(changes.sum()) ** 2 / max(n, 1))
    return math.sqrt(max(variance, 0.0))


def _deviations(part: _Part, sizes: IntArray, valid: npt.NDArray[np.bool_]) -> list[tuple[IntArray, FloatArray]]:
    """Return for each class (or for all groups) its pairs, and the change of their log distances without each unit."""
    c = len(sizes)
    index = np.zeros((c, c), np.int64)
    index[np.triu_indices(c, 1)] = np.arange(len(part.squares))
    index += index.T
    if len(part.left_out) == 1:
        pairs = np.flatnonzero(valid)
        return [(pairs, 0.5 * np.log(part.left_out[0][:, pairs] / part.squares[pairs]))]
    changes = []
    for a in range(c):
        partners = np.array([b for b in range(c) if b != a and valid[index[a, b]]], np.int64)
        pairs = index[a, partners]
        changes.append((pairs, 0.5 * np.log(part.left_out[a][:, partners] / part.squares[pairs])))
    return changes


def _covariance(changes: list[tuple[IntArray, FloatArray]], M: int) -> FloatArray:
    """Return the jackknife covariance of the values whose changes without each unit are given."""
    products, sums, n = np.zeros((M, M)), np.zeros(M), sum(len(change) for _, change in changes)
    for pairs, change in changes:
        products[np.ix_(pairs, pairs)] += change.T @ change
        sums[pairs] += change.sum(axis=0)
    if n < 2:
        return np.full((M, M), np.nan)
    return np.asarray((n - 1) / n * (products - np.outer(sums, sums) / n))


def _log_errors(part: _Part, sizes: IntArray, valid: npt.NDArray[np.bool_], design: GroupDesign | None) -> _Errors:
    """Return log distances and the covariance of their errors."""
    M, values = len(valid), np.full(len(valid), np.nan)
    values[valid] = 0.5 * np.log(part.squares[valid])
    if design is not None and design.few:
        return _Errors(values, np.full((M, M), np.nan))
    return _Errors(values, _covariance(_deviations(part, sizes, valid), M))


def _ratio_errors(
    data: _Part, on_map: _Part, sizes: IntArray, valid: npt.NDArray[np.bool_], design: GroupDesign | None
) -> _Errors:
    """Return the log of the distance on the map over that in the data, and the covariance of the errors."""
    M, values = len(valid), np.full(len(valid), np.nan)
    values[valid] = 0.5 * np.log(on_map.squares[valid] / data.squares[valid])
    if design is not None and design.few:
        return _Errors(values, np.full((M, M), np.nan))
    both = zip(_deviations(data, sizes, valid), _deviations(on_map, sizes, valid), strict=True)
    changes = [(pairs, change - of_data) for (pairs, of_data), (_, change) in both]
    freedom = _freedom(changes, sizes, valid) if design is None else None
    return _Errors(values, _covariance(changes, M), freedom)


def _freedom(changes: list[tuple[IntArray, FloatArray]], sizes: IntArray, valid: npt.NDArray[np.bool_]) -> FloatArray:
    """Return the degrees of freedom of the ratio of each valid pair over the geometric mean (Welch and Satterthwaite).

    A class of few points has most of the variance of its pairs, and few degrees of freedom.
    """
    parts = np.zeros((len(sizes), len(valid)))  # of the variance, by class
    for a, (pairs, change) in enumerate(changes):
        deviations = change - change.mean(axis=0)
        of_mean = deviations.sum(axis=1) / max(valid.sum(), 1)
        parts[a] = of_mean @ of_mean
        parts[a, pairs] = np.square(deviations - of_mean[:, None]).sum(axis=0)
    variance, inverse = parts.sum(axis=0), (parts**2 / (sizes[:, None] - 1.0)).sum(axis=0)
    most = np.full(len(valid), sizes.sum() - 1.0)
    return np.asarray(np.divide(variance**2, inverse, out=most, where=inverse > 0)[valid])


def _orders(
    squares: list[FloatArray], logs: list[_Errors], valid: npt.NDArray[np.bool_], freedom: float, level: float
) -> dict[str, FloatArray | IntArray]:
    """Return for each pair the share of the other pairs in the same order, and how many surely are, or are reversed.

    Comparisons with a pair whose centers are not apart are not decided.
    """
    from scipy.special import stdtrit

    M, count = len(valid), int(valid.sum())
    comparisons = count * (count - 1) // 2
    signs, sure = [np.sign(values[:, None] - values) for values in squares], valid[:, None] & valid
    for log in logs:
        difference, variance = log.values[:, None] - log.values, np.diag(log.covariance)[:, None]
        limit = -stdtrit(freedom, (1 - level) / 2 / max(comparisons, 1))
        with np.errstate(invalid="ignore"):
            error = np.sqrt(np.maximum(variance + np.diag(log.covariance) - 2 * log.covariance, 0.0))
            sure &= np.abs(difference) > limit * error
    other = ~np.eye(M, dtype=bool)
    same, sure = (signs[0] == signs[1]) & other, sure & other
    columns: dict[str, FloatArray | IntArray] = {"order_kept": same.sum(axis=1) / (M - 1)}
    for name, which in (("n_kept", sure & same), ("n_reversed", sure & ~same), ("n_open", other & ~sure)):
        columns[name] = which.sum(axis=1)
    return columns


def _named(table: pd.DataFrame, name: str, classes: npt.NDArray[Any], sizes: IntArray) -> pd.DataFrame:
    """Return the rows of one embedding with the names and sizes of the classes, and what the interval says."""
    pairs = np.array(list(itertools.combinations(range(len(classes)), 2)))
    names = np.array([str(value) for value in classes], dtype=object)
    reading = np.full(len(table), "open", dtype=object)
    reading[table["conf_low"] > 1] = "too far"
    reading[table["conf_high"] < 1] = "too near"
    reading[table["conf_low"].isna()] = ""
    head = {"embedding": name, "class_a": names[pairs[:, 0]], "class_b": names[pairs[:, 1]]}
    head |= {"n_a": sizes[pairs[:, 0]], "n_b": sizes[pairs[:, 1]]}
    return pd.concat([pd.DataFrame(head), table], axis=1).assign(reading=reading)


def _coinciding(table: pd.DataFrame, embedding: str) -> list[Note]:
    """Return notes on the pairs of classes whose centers are not distinguishable, in the data or on a map."""
    in_data, on_map = table["apart_in_data"], table["apart_on_map"]
    notes = []
    for code, chosen in (("both", ~in_data & ~on_map), ("map", in_data & ~on_map), ("data", ~in_data & on_map)):
        rows = table[chosen]
        if len(rows):
            pairs = tuple(f"{a} and {b}" for a, b in zip(rows["class_a"], rows["class_b"], strict=True))
            numbers = {"embedding": embedding, "pairs": pairs[:3], "count": len(pairs)}
            notes.append(note(f"coincide.{code}", **numbers))
    return notes
