"""Read a network: a square sparse matrix of the lengths of edges between the points."""

from __future__ import annotations

from typing import Any

import numpy as np

from dreval._check import FloatArray, IntArray
from dreval._check_arrays import MIN_POINTS, ROWS_FROM_ZERO, check_magnitude
from dreval.errors import InputError
from dreval.inputs.features import check_all_finite, check_places, check_real, is_sparse
from dreval.records.notes import Notes, note

REQUIREMENT = "must hold the lengths of the edges of a network"
MAX_LENGTH_GAP = 1e-6  # relative difference of the lengths of an edge in both directions; graphs may be float32
MIN_SHARE_OF_MEMBERSHIPS = 0.9  # of rows whose largest entry is exactly 1: fuzzy memberships, not lengths
POINTS_HINT = "Pass the points, X or an obsm array."
MAX_ROWS_COMPARED = 1000  # rows of a graph whose entries are compared with the neighbors that two points share
MIN_CORRELATION = 0.1  # from which on larger entries belong to points that share more, or fewer, neighbors
MIN_CORRELATION_SCORE = 4.0  # the same in standard errors of unrelated entries
MIN_PAIRED_ENTRIES = 20  # values that occur twice and name two rows, from which on a part of a graph is recognized
MIN_SHARE_OF_PAIRED = 0.9  # of such values that name the same point for a row
N_VALUES_CHECKED = 100_000  # first entries: in a graph of distances at least half of them differ


def is_network(matrix: Any) -> bool:
    """Return whether a value is a square sparse matrix in memory, which ``metric="geodesic"`` reads as a network."""
    return hasattr(matrix, "tocoo") and len(matrix.shape) == 2 and matrix.shape[0] == matrix.shape[1]


def as_network(matrix: Any, argument: str) -> tuple[Any, Notes]:
    """Return the lengths of the edges, and notes.

    Parameters
    ----------
    matrix : sparse matrix (n, n)
        Lengths of edges, at least 0; an entry that is stored is an edge, also a 0 between copies of a point. Edges may
        be stored in one direction or in both, with one length.
    argument : str
        The argument that errors name.

    Returns
    -------
    graph : csr_matrix (n, n) of float64
        Both directions of each edge, with sorted indices and without a diagonal.
    notes : tuple of Note
        If edges are stored in one direction only, if all have the same length, and if the entries may be similarities.

    Raises
    ------
    InputError
        If entries are missing, infinite or negative, if the diagonal is not 0, if the directions of an edge differ in
        length, if there is no edge, or if the entries are the memberships of UMAP (``obsp["connectivities"]``) or other
        similarities of at most 1.

    Examples
    --------
    >>> from scipy.sparse import coo_array
    >>> graph, notes = as_network(coo_array(([2.0, 3.0, 1.0], ([0, 2, 2], [1, 1, 3])), shape=(4, 4)), "data")
    >>> graph.toarray()[1].tolist(), notes[0].code
    ([2.0, 0.0, 3.0, 0.0], 'geodesic.one_way')
    """
    from scipy.sparse import csr_matrix

    check_real(matrix, argument)
    check_places(matrix, argument)
    if matrix.shape[0] < MIN_POINTS:
        received = f"{matrix.shape[0]} points"
        raise InputError(argument, f"must have at least {MIN_POINTS} points", received, "Pass the whole network.")
    edges = matrix.tocoo()
    n, lengths = int(matrix.shape[0]), np.asarray(edges.data, np.float64)
    rows, columns = (np.asarray(ends, np.int64) for ends in (edges.row, edges.col))
    if not np.isfinite(lengths).all():
        check_all_finite(csr_matrix((lengths, (rows, columns)), shape=(n, n)), argument, None)
    check_magnitude(float(lengths.max(initial=0.0)), argument)
    if (lengths < 0).any():
        hint = "Pass lengths: larger ones for points that are farther apart."
        raise InputError(argument, REQUIREMENT, f"a negative entry ({lengths.min():.3g})", hint)
    on_diagonal = rows == columns
    if lengths[on_diagonal].any():
        at = int(rows[on_diagonal & (lengths > 0)][0])
        received = f"{lengths[on_diagonal].max():.3g} on the diagonal, in row {at}{ROWS_FROM_ZERO}"
        hint = "Set the diagonal to 0. If the rows are features of points, pass a dense array."
        raise InputError(argument, REQUIREMENT, received, hint)
    rows, columns, lengths = rows[~on_diagonal], columns[~on_diagonal], lengths[~on_diagonal]
    if not len(rows):
        raise InputError(argument, REQUIREMENT, "a sparse matrix without an edge", "Check how the graph was made.")
    _check_no_memberships(n, rows, lengths, argument)
    low, high, shortest = _undirected(rows, columns, lengths, argument)
    ends = np.r_[low, high], np.r_[high, low]
    graph = csr_matrix((np.r_[shortest, shortest], ends), shape=(n, n))
    graph.sort_indices()
    one_way = int(2 * len(low) - len(np.unique(rows * n + columns)))
    doubts = similarity_notes(graph, argument, REQUIREMENT)
    hops = (note("geodesic.hops", length=float(shortest[0])),) if len(shortest) > 1 and np.ptp(shortest) == 0 else ()
    return graph, (*((note("geodesic.one_way", count=one_way, edges=len(low)),) if one_way else ()), *hops, *doubts)


def similarity_notes(graph: Any, argument: str, requirement: str) -> Notes:
    """Raise for entries of at most 1 that are similarities; return a note on entries that may be.

    Points that are nearer to each other share more neighbors. In each row the ranks of the entries are therefore
    negatively correlated with the numbers of shared neighbors if the entries are distances, and positively if they are
    similarities; in data of very many dimensions the correlation may vanish.

    Parameters
    ----------
    graph : csr_array or csr_matrix (n, n)
        Entries of at least 0 that are read as distances, none on the diagonal.
    argument, requirement : str
        The argument and its requirement in the error.
    """
    values = graph.data
    if not len(values) or np.ptp(values) == 0:
        return ()
    correlation, limit = _correlation_with_shared(graph)
    largest, smallest = float(values.max()), float(values.min())
    if largest <= 1.0 and correlation > limit:
        received = f"similarities up to {largest:.3g}: points with larger entries share more neighbors"
        hint = (
            'Pass distances, smaller for nearer points: obsp["distances"] in place of obsp["connectivities"], or '
            "1 - similarity. If they are distances, multiply all by one number, so that some exceed 1: the ranks of "
            "the points stay the same."
        )
        raise InputError(argument, requirement, received, hint)
    if correlation > limit:
        return (note("graph.like_similarities", smallest=smallest, largest=largest),)
    is_clear = largest > 1.0 or correlation < -limit
    return () if is_clear else (note("graph.smaller_nearer", smallest=smallest, largest=largest),)


def _correlation_with_shared(graph: Any) -> tuple[float, float]:
    """Return the mean correlation of entries and shared neighbors within rows, and the limit of chance; 0 if undefined.

    Up to ``MAX_ROWS_COMPARED`` rows, in O(k^2) time and memory each for k entries in a row.
    """
    from scipy.sparse import csr_array

    n = graph.shape[0]
    whole = csr_array((np.ones(len(graph.data)), graph.indices, graph.indptr), shape=(n, n))
    counts = np.diff(whole.indptr)
    chosen = np.unique(np.linspace(0, n - 1, min(n, MAX_ROWS_COMPARED)).astype(np.int64))
    part = whole[chosen]
    shared = ((part @ whole.T).multiply(part) + part).tocsr()  # 1 is added, since a sum of 0 would not be stored
    entries = csr_array(graph)[chosen]
    entries.data = entries.data + 1.0
    shared.sort_indices()
    entries.sort_indices()
    rows = np.repeat(np.arange(len(chosen)), np.diff(entries.indptr))
    order, ranks = np.lexsort((entries.data, rows)), np.empty(len(rows))
    ranks[order] = np.arange(len(rows))
    common = (shared.data - 1.0) / np.sqrt(np.maximum(counts[shared.indices], 1))
    sizes = np.maximum(np.bincount(rows, minlength=len(chosen)), 1)
    first, second = (part - (np.bincount(rows, part, len(chosen)) / sizes)[rows] for part in (ranks, common))
    scale = np.sqrt((first @ first) * (second @ second))
    limit = max(MIN_CORRELATION, MIN_CORRELATION_SCORE / np.sqrt(max(len(rows), 1)))
    return (float(first @ second / scale) if scale > 0 else 0.0), limit


def check_no_part_of_graph(matrix: Any, argument: str) -> None:
    """Raise for some rows of a graph of points, as ``graph[mask]``: a matrix (m, n) with m < n, sparse or dense.

    If points a and b are neighbors of each other, their distance is in the row of a at column b, and in that of b at
    column a. A value that occurs twice thereby names the points of two rows; in a graph all such values name the same
    point for a row. O(E log E) time for E entries, and constant for most other data, whose numbers repeat.
    """
    from scipy.sparse import csr_matrix

    if not is_sparse(matrix):
        top = matrix[:MAX_ROWS_COMPARED]
        if 2 * np.count_nonzero(top) > top.size:
            return
        matrix = csr_matrix(matrix)
    values = np.asarray(matrix.data)
    top = values[:N_VALUES_CHECKED]
    if not len(top) or top.min() < 0 or 2 * len(np.unique(top)) < len(top):
        return
    rows, order = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), np.argsort(values, kind="stable")
    columns, ordered = np.asarray(matrix.indices, np.int64)[order], values[order]
    rows = rows[order]
    m, n = matrix.shape
    if n == m + 1 and columns.max() < m:  # a column of zeros marks the rows of a square matrix as features
        return
    is_equal = ordered[1:] == ordered[:-1]
    is_pair = is_equal & ~np.r_[False, is_equal[:-1]] & ~np.r_[is_equal[1:], False]
    first = np.flatnonzero(is_pair)
    first = first[(rows[first] != rows[first + 1]) & (columns[first] != columns[first + 1])]
    if len(first) < MIN_PAIRED_ENTRIES:
        return
    named, times = np.unique(
        np.r_[rows[first], rows[first + 1]] * n + np.r_[columns[first + 1], columns[first]], return_counts=True
    )
    most, several = np.zeros(m, np.int64), np.bincount(named // n, times, m)
    np.maximum.at(most, named // n, times)
    is_several = several >= 2
    if several[is_several].sum() < MIN_PAIRED_ENTRIES:
        return
    if most[is_several].sum() < MIN_SHARE_OF_PAIRED * several[is_several].sum():
        return
    received = f"{m} rows of a graph of {n} points"
    hint = (
        f"{POINTS_HINT} To evaluate by the graph itself, with metric='neighbors' or 'geodesic', cut rows and columns: "
        "graph[mask][:, mask]."
    )
    raise InputError(argument, "must hold features, not a graph", received, hint)


def _undirected(
    rows: IntArray, columns: IntArray, lengths: FloatArray, argument: str
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the two points of each edge and its length; raise if its stored lengths differ by more than rounding."""
    low, high = np.minimum(rows, columns), np.maximum(rows, columns)
    order = np.lexsort((lengths, high, low))
    low, high, lengths = low[order], high[order], lengths[order]
    starts = np.flatnonzero(np.r_[True, (low[1:] != low[:-1]) | (high[1:] != high[:-1])])
    stops = np.r_[starts[1:], len(low)] - 1
    shortest, longest = lengths[starts], lengths[stops]
    differs = longest - shortest > MAX_LENGTH_GAP * longest
    if differs.any():
        at = starts[differs][0]
        pair = float(shortest[differs][0]), float(longest[differs][0])
        texts = next(
            texts for digits in range(4, 18) if len(texts := {f"{length:.{digits}g}": 0 for length in pair}) > 1
        )
        received = f"{' and '.join(texts)} between rows {low[at]} and {high[at]}"
        hint = "Give each edge one length in both directions, for example graph.maximum(graph.T)."
        raise InputError(argument, REQUIREMENT, f"{received}{ROWS_FROM_ZERO}", hint)
    return low[starts], high[starts], shortest


def _check_no_memberships(n: int, rows: IntArray, values: FloatArray, argument: str) -> None:
    """Raise if the entries are memberships of a fuzzy graph: at most 1, and exactly 1 for the nearest of a point."""
    if values.max() != 1.0 or values.min() in (0.0, 1.0):  # a stored 0 is the length between copies of a point
        return
    largest = np.zeros(n)
    np.maximum.at(largest, rows, values)
    if (largest[largest > 0] == 1.0).mean() >= MIN_SHARE_OF_MEMBERSHIPS:
        received = "similarities up to 1, as those of UMAP"
        hint = 'Pass the distances of the neighbors, obsp["distances"] in place of obsp["connectivities"].'
        raise InputError(argument, REQUIREMENT, received, hint)
