"""Neighbor lists as data: ``neighbor_lists`` reads the forms in which other tools return them into one sparse table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray, IntArray, describe
from dreval._check_arrays import MIN_POINTS
from dreval.errors import InputError
from dreval.inputs.features import check_places, check_real, rows_of
from dreval.inputs.files import as_numpy
from dreval.inputs.kinds import Kind, kind_of
from dreval.inputs.networks import POINTS_HINT, similarity_notes
from dreval.records.notes import Note, Notes, note

INDEX_KEYS = ("indices", "idx", "index", "nn.index", "nn.idx", "nn_index")  # of uwot, BiocNeighbors, FNN, RANN, dbscan
DISTANCE_KEYS = ("distances", "dist", "distance", "nn.dist", "nn.dists", "nn_dist")
TIED = 1e-12  # relative difference up to which distances are equal but for rounding
MAX_DECREASE = 1e-6  # relative decrease of sorted distances that is rounding in single precision
MAX_ASYMMETRY = 1e-6  # relative difference of (i, j) and (j, i) in a symmetric matrix
NO_ENTRY = -np.inf  # behind the end of a list in a table of lists of unequal lengths
MIN_LISTS = 10  # rows from which on a table of integers may be recognized as lists
MIN_MUTUAL = 0.1  # excess of mutual neighbors over chance, of what chance leaves, from which integers may be lists
MIN_MUTUAL_SCORE = 4.0  # the same in standard errors of random lists
REQUIREMENT = "must be lists of nearest neighbors"
SYMMETRIC_HINT = (
    "Edges in both directions, as of 'connectivities' and of graph.maximum(graph.T), join points that are not the "
    "nearest. Pass the distances of the nearest neighbors, of scanpy obsp['distances'], or (indices, distances). The "
    "points themselves, as obsm['X_pca'], answer more questions."
)


class NeighborLists(NamedTuple):
    """Lists in normal form: entry (i, j) of the sparse ``table`` (n, n) is the rank of j among the neighbors of i.

    Ranks begin with 1. Neighbors at equal distances have the rank of the first of them. No point is its own neighbor.
    """

    table: Any
    notes: Notes = ()


def neighbor_lists(value: Any, argument: str = "data") -> NeighborLists:
    """Read lists of nearest neighbors, one list for each of n points.

    Parameters
    ----------
    value : (n, K) array, list of lists, pair, mapping or sparse matrix
        Numbers of the neighbors, nearest first: an array, or lists of unequal lengths. A pair of these and their
        distances in either order, as of pynndescent, faiss, cuML and scikit-learn; or a mapping with them, as "idx" and
        "dist" of uwot. Or a sparse matrix (n, n) of distances with the neighbors of i in row i, as
        ``obsp["distances"]`` of scanpy and ``kneighbors_graph(mode="distance")``.
    argument : str
        Name of the argument in errors.

    Returns
    -------
    NeighborLists
        The table of ranks, and notes on what was recognized: the point itself in its list, entries of -1, numbers that
        count from 1 (also where neither 0 nor n is among them, by the lists that would hold the point itself), swapped
        pairs, lists of unequal lengths, distances that may be similarities, and distances of 0
        that may be missing.

    Raises
    ------
    InputError
        Fewer than 4 lists, an empty list, numbers of no point or that may count from 0 or from 1, a neighbor twice in a
        list, distances that are negative, missing or not ascending, similarities, weights of edges
        (``connectivities``), or edges without distances.

    Notes
    -----
    O(E log E) time and O(E) memory for E neighbors in all lists.

    Examples
    --------
    >>> lists = neighbor_lists([[1, 2], [0, 2], [1, 0], [2, 1]])
    >>> lists.table.toarray().astype(int).tolist()
    [[0, 1, 2, 0], [1, 0, 2, 0], [2, 1, 0, 0], [0, 2, 1, 0]]
    >>> neighbor_lists(([[0, 1], [1, 0], [2, 1], [3, 2]], [[0.0, 2.0], [0, 2], [0, 3], [0, 1]])).notes[0].code
    'lists.self'
    """
    kind = kind_of(value)
    if kind is Kind.SPARSE:
        return _of_matrix(value, argument)
    if kind is Kind.SPARSE_FILE:
        return _of_matrix(value.to_memory(), argument)
    if kind is Kind.MAPPING:
        value = _pair_of_mapping(value, argument)
    swapped: Notes = ()
    distances = None
    if isinstance(value, list | tuple) and len(value) in (2, 3) and all(map(_is_table, value[:2])):
        indices, distances = (_rectangle(part, argument) for part in value[:2])
        if indices.shape != distances.shape:
            received = f"tables of shapes {indices.shape} and {distances.shape}"
            raise InputError(argument, "must have a distance for each neighbor", received, "Pass both of one search.")
        if _is_distance(indices, distances):
            indices, distances, swapped = distances, indices, (note("lists.swapped"),)
    else:
        indices = _rectangle(value, argument)
    lists = _of_arrays(indices, distances, argument)
    _check_not_empty(lists.table, argument)
    return lists._replace(notes=(*swapped, *lists.notes))


def list_lengths(table: Any) -> IntArray:
    """Return the number of neighbors of each point in a table of ranks."""
    return np.asarray(np.diff(table.indptr), np.int64)


def _is_table(value: Any) -> bool:
    """Return whether a value has two dimensions: an array, or a list of lists."""
    shape = getattr(value, "shape", None)
    if shape is not None:
        return len(shape) == 2
    return isinstance(value, list | tuple) and len(value) > 0 and all(hasattr(row, "__len__") for row in value)


def _pair_of_mapping(value: Mapping[Any, Any], argument: str) -> Any:
    """Return indices, and distances if there are any, by the names that tools give them."""
    if len(value) == 1 and isinstance(next(iter(value.values())), Mapping):  # of uwot by metric
        value = next(iter(value.values()))
    names = {str(key).lower(): key for key in value}
    indices = [names[key] for key in INDEX_KEYS if key in names]
    distances = [names[key] for key in DISTANCE_KEYS if key in names]
    if not indices:
        hint = "Pass (indices, distances), or a mapping with these names."
        raise InputError(argument, REQUIREMENT, f"a mapping with {', '.join(map(str, value)) or 'nothing'}", hint)
    return (value[indices[0]], value[distances[0]]) if distances else value[indices[0]]


def _rectangle(value: Any, argument: str) -> FloatArray:
    """Return a table as an array of float64, with ``NO_ENTRY`` behind the shorter ones of lists of unequal lengths."""
    is_ragged = isinstance(value, list | tuple) and _is_table(value) and len({len(row) for row in value}) > 1
    if is_ragged:
        width = max(map(len, value))
        value = [[*row, *[NO_ENTRY] * (width - len(row))] for row in value]
    array = np.asarray(as_numpy(value, argument))
    if array.ndim != 2 or array.dtype.kind not in "iuf" or array.size == 0:
        hint = (
            "Pass an (n, K) array of the numbers of neighbors, (indices, distances), or a sparse matrix of distances."
        )
        raise InputError(argument, REQUIREMENT, describe(value), hint)
    return array.astype(np.float64)


def _is_distance(first: FloatArray, second: FloatArray) -> bool:
    """Return whether the first of two tables holds distances: only the second has whole numbers, or points in order.

    Two tables of whole numbers, as of Hamming distances, differ in repeated numbers: no list of neighbors has
    the same point twice.
    """
    whole = [bool((part[np.isfinite(part)] % 1 == 0).all()) for part in (first, second)]
    if whole[0] != whole[1]:
        return whole[1]
    repeats = [_repeated_row(part) >= 0 for part in (first, second)]
    return repeats[0] and not repeats[1]


def _repeated_row(indices: npt.NDArray[Any]) -> int:
    """Return the first row in which a number of 0 or more occurs twice; -1 if there is none."""
    ordered = np.sort(indices, axis=1)
    repeats = ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any(axis=1)
    return int(np.argmax(repeats)) if repeats.any() else -1


def _of_arrays(numbers: FloatArray, distances: FloatArray | None, argument: str) -> NeighborLists:
    """Return the lists of an (n, K) array of numbers of neighbors, nearest first, and their distances."""
    n = len(numbers)
    is_listed = np.isfinite(numbers) & (numbers != -1)
    _check_numbers(numbers, is_listed, argument)
    notes: list[Note] = []
    points = np.where(is_listed, numbers, -1).astype(np.int64)
    start, counting = _first_number(points, argument)
    points[is_listed] -= start
    notes += counting
    if (row := _repeated_row(points)) >= 0:
        received = f"a point twice in list {row}, counted from 0"
        raise InputError(argument, "must name each neighbor once", received, "Remove repeated neighbors.")
    is_empty = ~is_listed & (numbers != NO_ENTRY)
    entries = tuple(f"{value:g}".replace("nan", "NaN") for value in np.unique(numbers[is_empty]))
    if padded := int(is_empty.any(axis=1).sum()):
        notes.append(note("lists.padded", lists=padded, n=n, entries=entries))
    if gaps := int((is_listed[:, 1:] & ~is_listed[:, :-1]).any(axis=1).sum()):
        notes.append(note("lists.gaps", lists=gaps, n=n, entries=entries))
    is_self = points == np.arange(n)[:, None]
    is_behind = is_self[:, 1:] if distances is None else is_self[:, 1:] & (distances[:, 1:] > 0)
    is_listed &= ~is_self
    rows, columns = np.nonzero(is_listed)
    if distances is None:
        ranks = np.cumsum(is_listed, axis=1)[is_listed].astype(np.float64)
        lists = _table(rows, points[rows, columns], ranks, n)
    else:
        _check_ascending(rows, distances[is_listed], argument)
        lists = _ranked(rows, points[rows, columns], distances[is_listed], n)
    if is_self.any():
        notes.append(note("lists.self", lists=int(is_self.sum()), n=n))
    if is_behind.any():
        notes.append(note("lists.self_behind", lists=int(is_behind.sum()), n=n))
    return lists._replace(notes=(*notes, *lists.notes))


def _first_number(points: IntArray, argument: str) -> tuple[int, Notes]:
    """Return whether the numbers of points (-1 for none) count from 0 or from 1, with a note where it was inferred.

    The number 0 or n decides. Without both, points in their own lists do: a list can have the point itself only in
    first place. If this holds for one of the two ways of counting alone, it is that one; else an error is raised.
    """
    n, least, largest = len(points), int(points[points >= 0].min(initial=len(points))), int(points.max())
    if largest > n or (largest == n and least == 0):
        row = int(np.argmax((points >= n).any(axis=1)))
        received = f"the number {int(points[row].max())} in list {row} of {n} lists, counted from 0"
        hint = "Pass one list for each point, with neighbors among these points."
        raise InputError(argument, "must name neighbors by their row, from 0 on", received, hint)
    if largest == n:
        return 1, (note("lists.from_one"),)
    if least == 0 or largest < 0:
        return 0, ()
    behind = [int((points[:, 1:] == np.arange(n)[:, None] + start).sum()) for start in (0, 1)]
    if (behind[0] == 0) != (behind[1] == 0):
        start = int(behind[1] == 0)
        return start, (note("lists.inferred", start=start, other=1 - start, lists=behind[1 - start]),)
    received = f"numbers from {least} to {largest} of {n} lists"
    hint = (
        "Begin each list with the point itself, which is not counted: numpy.arange(n) where numbers count from 0, and "
        "numpy.arange(n) + 1 where they count from 1."
    )
    raise InputError(argument, "must show whether its numbers count from 0 or from 1", received, hint)


def _check_numbers(numbers: FloatArray, is_listed: npt.NDArray[np.bool_], argument: str) -> None:
    """Raise unless the listed numbers are those of points, in at least four lists."""
    n, width = numbers.shape
    if n < MIN_POINTS:
        hint = "Each row is the list of a point; transpose the array if columns are."
        raise InputError(argument, f"must have at least {MIN_POINTS} lists", f"{n} rows", hint)
    used = numbers[is_listed]
    if not (used % 1 == 0).all():
        example = used[used % 1 != 0][0]
        hint = "Pass indices, or (indices, distances)."
        if n == width:
            hint += " All pairwise distances are data for metric='precomputed'."
        raise InputError(argument, "must name neighbors by whole numbers", f"{example:g}", hint)
    if (used < -1).any():
        raise InputError(
            argument, "must name neighbors by their row, from 0 on", f"{used.min():g}", "Use -1 for a missing neighbor."
        )


def _check_ascending(rows: IntArray, distances: FloatArray, argument: str) -> None:
    """Raise unless the distances of each list are numbers of at least 0 that do not decrease."""
    _check_distances(rows, distances, argument)
    steps, same = np.diff(distances), rows[1:] == rows[:-1]
    decreasing = same & (steps < -MAX_DECREASE * distances[:-1])
    if decreasing.any():
        at = int(np.argmax(decreasing))
        received = f"{distances[at]:g} before {distances[at + 1]:g} in list {rows[at]}, counted from 0"
        hint = "Sort each list by distance."
        if not (same & (steps > MAX_DECREASE * distances[:-1])).any():
            hint = "Similarities descend: pass the indices alone, nearest first, or distances such as 1 - similarity."
        raise InputError(argument, "must have ascending distances in each list", received, hint)


def _check_distances(rows: IntArray, distances: FloatArray, argument: str) -> None:
    """Raise for distances that are missing, infinite or negative."""
    wrong = ~np.isfinite(distances) | (distances < 0)
    if wrong.any():
        at = int(np.argmax(wrong))
        received = f"{distances[at]:g} in list {rows[at]}, counted from 0"
        hint = "Use -1 as the number of a missing neighbor. Negative similarities are no distances."
        raise InputError(argument, "must have finite distances of at least 0", received, hint)


def _of_matrix(matrix: Any, argument: str) -> NeighborLists:
    """Return the lists of a sparse matrix of distances, with the neighbors of point i in row i; zeros may be stored."""
    from scipy.sparse import csr_array

    check_real(matrix, argument)
    n, width = matrix.shape
    if n != width:
        hint = "Pass one row and one column for each point, or (indices, distances)."
        raise InputError(argument, "must be a square matrix of the neighbors", f"shape {n, width}", hint)
    if n < MIN_POINTS:
        raise InputError(argument, f"must have at least {MIN_POINTS} lists", f"{n} rows", "Rows are points.")
    check_places(matrix, argument)
    entries = csr_array(matrix, dtype=np.float64)
    check_places(entries, argument)
    rows = np.repeat(np.arange(n), np.diff(entries.indptr))
    points, distances = entries.indices.astype(np.int64), np.asarray(entries.data)
    if len(np.unique(rows * n + points)) < len(rows):
        raise InputError(argument, "must name each neighbor once", "repeated entries", "Call sum_duplicates() on it.")
    is_self = rows == points
    selves = (note("lists.self", lists=int(is_self.sum()), n=n),) if is_self.any() else ()
    rows, points, distances = rows[~is_self], points[~is_self], distances[~is_self]
    _check_distances(rows, distances, argument)
    lists = _ranked(rows, points, distances, n)
    entries = csr_array((distances, (rows, points)), (n, n))
    doubts: Notes = ()
    if not np.array_equal(entries.data, lists.table.data):  # a table of ranks was checked when it was made
        _check_no_weights(entries, argument)
        doubts = similarity_notes(entries, argument, REQUIREMENT)
    counts = list_lengths(lists.table)
    if 0 < counts.min() < counts.max() and not doubts and distances.min() > 0:
        doubts = (note("lists.no_zeros", lists=int((counts < counts.max()).sum()), n=n, long=int(counts.max())),)
    _check_not_empty(lists.table, argument)
    if list_lengths(lists.table).max() > 1 and (lists.table.data == 1).all():
        hint = "Pass distances, of scikit-learn by kneighbors_graph(mode='distance'), or indices, nearest first."
        received = f"edges that are all {distances[0]:g}" if np.ptp(distances) == 0 else "equal distances in each row"
        raise InputError(argument, "must order the neighbors", received, hint)
    return lists._replace(notes=(*selves, *lists.notes, *doubts))


def check_no_lists(table: Any, argument: str) -> None:
    """Raise for a dense table of features (n, K) that holds lists of neighbors, by their row numbers.

    They are whole numbers of rows, from 0 or from 1 on, none twice in a row, with the row itself first in all lists or
    in none. Two points are then often in the list of each other: more often than random ones, by ``MIN_MUTUAL`` of what
    chance leaves and ``MIN_MUTUAL_SCORE`` standard errors, unless a list has half of the points.
    """
    n, width = table.shape
    if n < MIN_LISTS or not 2 <= width <= n:
        return
    for stop in (MIN_POINTS, n):  # most tables are decided by their first rows
        lists = rows_of(table, slice(0, stop))
        is_whole = bool((lists % 1 == 0).all()) and bool(((lists >= 0) & (lists <= n)).all())
        if not is_whole or _repeated_row(lists) >= 0:
            return
    low, high = lists.min(), lists.max()
    if (low, high) not in ((0, n - 1), (1, n)):
        return
    is_self = lists - low == np.arange(n)[:, None]
    has_self = bool(is_self[:, 0].all())
    if is_self[:, int(has_self) :].any():
        return
    numbers = (lists - low)[:, int(has_self) :].astype(np.int64)
    width = numbers.shape[1]
    if width < 2:
        return
    if 2 * width < n:
        rows = np.repeat(np.arange(n), width)
        chance = width / (n - 1)
        excess = float(np.isin(numbers.ravel() * n + rows, rows * n + numbers.ravel()).mean()) - chance
        error = np.sqrt(2 * chance * (1 - chance) / len(rows))  # edges count in pairs
        if excess < max(MIN_MUTUAL * (1 - chance), MIN_MUTUAL_SCORE * error):
            return
    received = f"lists of the {width} nearest rows of each row"
    hint = (
        f"{POINTS_HINT} To evaluate by the lists themselves: metric='neighbors'. If the numbers are features, append a "
        "column of zeros."
    )
    raise InputError(argument, "must hold features, not lists of neighbors", received, hint)


def _check_not_empty(table: Any, argument: str) -> None:
    """Raise for a point without a neighbor."""
    counts = list_lengths(table)
    if counts.min() == 0:
        received = f"an empty list of point {int(np.argmin(counts))}, counted from 0"
        raise InputError(argument, "must have a neighbor of each point", received, "Search more neighbors.")


def _check_no_weights(entries: Any, argument: str) -> None:
    """Raise for a symmetric graph, as ``connectivities``.

    Lists of neighbors are symmetric by coincidence only; those of equal lengths may be, as on a regular grid.
    """
    counts = np.diff(entries.indptr)
    if counts.min() < counts.max():
        difference = abs(entries - entries.T)
        if difference.nnz == 0 or difference.max() <= MAX_ASYMMETRY * entries.data.max():
            received = f"a symmetric graph with {counts.min()} to {counts.max()} edges of a point"
            raise InputError(argument, REQUIREMENT, received, SYMMETRIC_HINT)


def _ranked(rows: IntArray, points: IntArray, distances: FloatArray, n: int) -> NeighborLists:
    """Return the table of lists with distances; of equal distances the first rank."""
    order = np.lexsort((points, distances, rows))
    rows, points, distances = rows[order], points[order], distances[order]
    starts = np.searchsorted(rows, np.arange(n))
    positions = np.arange(len(rows)) - starts[rows]
    is_new = np.ones(len(rows), np.bool_)
    is_new[1:] = (rows[1:] != rows[:-1]) | (np.diff(distances) > TIED * distances[1:])
    first = np.maximum.accumulate(np.where(is_new, np.arange(len(rows)), 0))
    return _table(rows, points, positions[first] + 1.0, n)


def _table(rows: IntArray, points: IntArray, ranks: npt.NDArray[Any], n: int) -> NeighborLists:
    """Return the sparse table of ranks, with a note where lists have unequal lengths."""
    from scipy.sparse import csr_array

    counts = np.bincount(rows, minlength=n)
    order = np.lexsort((points, rows))
    starts = np.r_[0, np.cumsum(counts)].astype(np.int64)
    table = csr_array((ranks[order], points[order], starts), (n, n))
    short, long = int(counts.min()), int(counts.max())
    return NeighborLists(table, (note("lists.unequal", short=short, long=long),) if short < long else ())
