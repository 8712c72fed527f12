"""Directions of rows, for cosine and correlation: unit rows in double-double precision, and nearly equal directions.

Unit rows in double precision carry errors of some 1e-16 each. If the directions of two rows differ by no more than
that, the difference of the rows has no correct digit. The rules, for directions as differences of unit rows:

- pairs that differ by at most ``SAME_DIRECTION`` differ by the rounding of the numbers alone, and count as equal;
- if all rows are within ``MIN_DIRECTION_SPREAD`` of the first, the data raise an error;
- if all rows are within ``LOW_PRECISION_SPREAD`` of the first, a note says how many correct digits remain;
- if any two rows are within about ``CELL_WIDTH`` of each other and differ by more than rounding, differences are
  computed in double-double precision, exactly for the given numbers; else in double precision, which loses less than
  1e-9.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray
from dreval.errors import InputError
from dreval.inputs.features import hash_weights, is_sparse, read_blocks, row_blocks
from dreval.records.notes import Note, note

ANGULAR = ("cosine", "correlation")  # metrics that compare directions
SAME_DIRECTION = 2.0**-50  # two roundings of an entry in each of two rows
MIN_DIRECTION_SPREAD = 2.0**-48  # four times as much
LOW_PRECISION_SPREAD = 1e-12  # rounding is at most a thousandth of it
CELL_WIDTH = 2.0**-20  # width of the cells of the grid in which near rows are searched
MAX_ROUGH_SPREAD = 1e-8  # rows this near to the first are measured in double-double precision
N_ROUGH_ROWS = 8  # rows checked first; in ordinary data they suffice
SPLIT_FACTOR = 2.0**27 + 1.0  # splits a float into two halves of 26 bits (Veltkamp)


def _sum(a: Any, b: Any) -> tuple[Any, Any]:
    """Return the rounded sum and its error (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _product(a: Any, b: Any) -> tuple[Any, Any]:
    """Return the rounded product and its error (Dekker)."""
    total = a * b
    left, right = SPLIT_FACTOR * a, SPLIT_FACTOR * b
    left, right = left - (left - a), right - (right - b)
    low_left, low_right = a - left, b - right
    return total, ((left * right - total) + left * low_right + low_left * right) + low_left * low_right


def _scaled_rows(values: FloatArray) -> tuple[FloatArray, npt.NDArray[np.int32]]:
    """Return rows times the power of two that scales their largest entry to [1/2, 1), and the exponents (m, 1)."""
    exponents = np.frexp(np.abs(values).max(axis=1, keepdims=True, initial=0.0))[1]
    return np.ldexp(values, -exponents), exponents


def precise_units(values: FloatArray, center: bool = False) -> tuple[FloatArray, FloatArray]:
    """Return unit rows as two arrays: the rounded rows, and their rounding errors.

    The sum of both is right to about 1e-31. Columns are added one after the other, so that zeros change nothing.

    Parameters
    ----------
    values : ndarray (m, p)
        Rows that are not zero (with ``center``: not constant).
    center : bool
        Whether the mean of each row is subtracted first.
    """
    rows, _ = _scaled_rows(values)
    low = np.zeros(rows.shape)
    p = rows.shape[1]
    if center:
        rows, low = _sum(rows, -rows[:, :1])
        total, residual = np.zeros(len(rows)), np.zeros(len(rows))
        for column, error_below in zip(rows.T, low.T, strict=True):
            total, error = _sum(total, column)
            residual += error + error_below
        mean = total / p
        product, error = _product(mean, float(p))
        correction = ((total - product) - error + residual) / p
        rows, error = _sum(rows, -mean[:, None])
        rows, low = _sum(rows, low + error - correction[:, None])
        rows, exponents = _scaled_rows(rows)
        low = np.ldexp(low, -exponents)
    total, residual = np.zeros(len(rows)), np.zeros(len(rows))
    for column, error_below in zip(rows.T, low.T, strict=True):
        square, square_error = _product(column, column)
        total, error = _sum(total, square)
        residual += error + (square_error + 2.0 * column * error_below)
    norm = np.sqrt(total)
    square, square_error = _product(norm, norm)
    correction = (((total - square) - square_error + residual) / (2.0 * norm))[:, None]
    norm = norm[:, None]
    quotient = rows / norm
    product, error = _product(quotient, norm)
    result: tuple[FloatArray, FloatArray] = _sum(
        quotient, (((rows - product) - error) + low - quotient * correction) / norm
    )
    return result


def precise_unit_rows(points: Any, center: bool = False) -> tuple[Any, FloatArray]:
    """Return all unit rows, dense or sparse, and the rounding errors of their entries.

    For a sparse matrix the errors are those of the stored entries, in their order.
    """
    if not is_sparse(points):
        units, low = np.empty(points.shape), np.empty(points.shape)
        for part in row_blocks(points):
            units[part], low[part] = precise_units(np.asarray(points[part], np.float64), center)
        return units, low
    units, low = points.copy(), np.empty(len(points.data))
    for part in row_blocks(points):
        counts = np.diff(points.indptr[part.start : part.stop + 1])
        stored = slice(int(points.indptr[part.start]), int(points.indptr[part.stop]))
        filled = np.arange(int(counts.max(initial=0))) < counts[:, None]  # stored entries of a row, then zeros
        padded = np.zeros(filled.shape)
        padded[filled] = points.data[stored]
        rows, residual = precise_units(padded)
        units.data[stored], low[stored] = rows[filled], residual[filled]
    return units, low


def direction_cells(units: Any) -> npt.NDArray[np.uint64]:
    """Return for each unit row a hash of its cell in a grid of width ``CELL_WIDTH``, shifted at random."""
    n, p = units.shape
    weights, shift = hash_weights(p), np.random.default_rng(1).random(p)
    keys = np.empty(n, np.uint64)
    for part in row_blocks(units):
        block = units[part]
        if is_sparse(block):
            cells = np.floor(block.data / CELL_WIDTH + shift[block.indices]).astype(np.int64).view(np.uint64)
            sums = np.r_[np.uint64(0), np.cumsum(cells * weights[block.indices], dtype=np.uint64)]
            keys[part] = sums[block.indptr[1:]] - sums[block.indptr[:-1]]
        else:
            cells = np.floor(block / CELL_WIDTH + shift).astype(np.int64).view(np.uint64)
            keys[part] = (cells * weights).sum(axis=1)
    return keys


def _differ_slightly(units: Any, rows: npt.NDArray[Any], partner_units: Any, partners: npt.NDArray[Any]) -> bool:
    """Return whether a row and its partner are within two cells of each other and differ by more than rounding."""
    for part in row_blocks(units, slice(0, len(rows))):
        steps = abs(units[rows[part]] - partner_units[partners[part]]).max(axis=1)
        steps = steps.toarray().ravel() if is_sparse(steps) else steps
        if bool(((steps > SAME_DIRECTION) & (steps <= 2 * CELL_WIDTH)).any()):
            return True
    return False


def has_near_rows(units: Any) -> bool:
    """Return whether two unit rows share a cell of the grid and differ by more than rounding."""
    keys = direction_cells(units)
    order = np.argsort(keys, kind="stable")
    starts_cell = np.r_[True, keys[order[1:]] != keys[order[:-1]]]
    representatives = order[np.flatnonzero(starts_cell)[np.cumsum(starts_cell) - 1]]
    return _differ_slightly(units, order[~starts_cell], units, representatives[~starts_cell])


def has_rows_near(units: Any, others: Any, cells: npt.NDArray[np.uint64]) -> bool:
    """Return whether a unit row shares a cell with one of the ``others`` and differs by more than rounding."""
    other_cells, representatives = np.unique(cells, return_index=True)
    keys = direction_cells(units)
    positions = np.minimum(np.searchsorted(other_cells, keys), len(other_cells) - 1)
    rows = np.flatnonzero(other_cells[positions] == keys)
    return _differ_slightly(units, rows, others, representatives[positions[rows]])


def direction_notes(table: Any, metric: str, argument: str) -> list[Note]:
    """Return a note if all rows have nearly one direction; raise if they differ by rounding alone.

    Rows are compared with the first row. For ordinary data this takes the time of a few rows.
    """
    if metric not in ANGULAR:
        return []
    center, spread = metric == "correlation", 0.0
    first_row: FloatArray | None = None
    columns: Any = None
    for _, block in read_blocks(table):
        if is_sparse(block):
            columns = block.indices[: block.indptr[1]] if columns is None else columns
            if (np.diff(block.indptr) != len(columns)).any() or (
                block.indices.reshape(-1, len(columns)) != columns
            ).any():
                return []
            block = block.data.reshape(-1, len(columns))
        rows = block if first_row is None else np.concatenate([first_row, block])
        first_row = rows[:1].copy()
        if (
            _rough_spread(rows[:N_ROUGH_ROWS], center) > MAX_ROUGH_SPREAD
            or _rough_spread(rows, center) > MAX_ROUGH_SPREAD
        ):
            return []
        units, low = precise_units(rows, center)
        steps = (units - units[0]) + (low - low[0])
        spread = max(spread, float(np.sqrt(np.einsum("ij,ij->i", steps, steps)).max()))
    if spread <= MIN_DIRECTION_SPREAD:
        requirement = f"must have rows of different directions with metric={metric!r}"
        received = f"{table.shape[0]} rows of one direction up to the rounding of their numbers"
        hint = "Use metric='euclidean', or subtract the mean of each column first."
        raise InputError(argument, requirement, received, hint)
    return [note("data.parallel", metric=metric, spread=spread)] if spread <= LOW_PRECISION_SPREAD else []


def _rough_spread(rows: FloatArray, center: bool) -> float:
    """Return the largest difference of an entry of unit rows from the entry of the first row, in double precision."""
    rows, _ = _scaled_rows(rows)
    if center:
        rows = rows - rows[:, :1]
        rows, _ = _scaled_rows(rows - rows.mean(axis=1, keepdims=True))
    units = rows / np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    return float(np.abs(units - units[0]).max())
