"""Read a network: a square sparse matrix of the lengths of edges between the points."""

from __future__ import annotations

from typing import Any

import numpy as np

from dreval._check import FloatArray, IntArray
from dreval._check_arrays import MIN_POINTS, ROWS_FROM_ZERO, check_magnitude
from dreval.errors import InputError
from dreval.inputs.features import check_all_finite, check_places, check_real
from dreval.records.notes import Notes, note

REQUIREMENT = "must hold the lengths of the edges of a network"
MAX_LENGTH_GAP = 1e-6  # relative difference of the lengths of an edge in both directions; graphs may be float32
MIN_SHARE_OF_MEMBERSHIPS = 0.9  # of rows whose largest entry is exactly 1: fuzzy memberships, not lengths


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
        If edges are stored in one direction only.

    Raises
    ------
    InputError
        If entries are missing, infinite or negative, if the diagonal is not 0, if the directions of an edge differ in
        length, if there is no edge, or if the entries are the memberships of UMAP (``obsp["connectivities"]``).

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
    return graph, ((note("geodesic.one_way", count=one_way, edges=len(low)),) if one_way else ())


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
        received = f"{shortest[differs][0]:.4g} and {longest[differs][0]:.4g} between rows {low[at]} and {high[at]}"
        hint = "Give each edge one length in both directions, for example graph.maximum(graph.T)."
        raise InputError(argument, REQUIREMENT, f"{received}{ROWS_FROM_ZERO}", hint)
    return low[starts], high[starts], shortest


def _check_no_memberships(n: int, rows: IntArray, values: FloatArray, argument: str) -> None:
    """Raise if the entries are memberships of a fuzzy graph: at most 1, and exactly 1 for the nearest of a point."""
    if values.max() != 1.0 or (values == 1.0).all():
        return
    largest = np.zeros(n)
    np.maximum.at(largest, rows, values)
    if (largest[largest > 0] == 1.0).mean() >= MIN_SHARE_OF_MEMBERSHIPS:
        received = "similarities up to 1, as those of UMAP"
        hint = 'Pass the distances of the neighbors, obsp["distances"] in place of obsp["connectivities"].'
        raise InputError(argument, REQUIREMENT, received, hint)
