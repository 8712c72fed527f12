"""What each metric makes of the data: points whose direct values decide the order, and the distance of such a value.

euclidean      squared differences; the distance is the root
cosine         squared differences of rows of norm 1: |u - v|^2 = 2 (1 - cos), so the distance is a half of it;
               exactly 1 where the inner product is exactly 0
correlation    as cosine, of rows less their means
manhattan      sums of absolute differences
hamming        numbers of differing columns; the distance is their share
precomputed    the distances themselves

All values are the definitions of ``scipy.spatial.distance``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dreval.errors import UndefinedMeasure
from dreval.inputs.features import is_sparse

__all__ = ["compact", "gather", "group_width", "held", "power_of_two", "scaled", "spread", "take", "unit_rows"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
HELD = 500  # powers of two whose squares floats hold


def power_of_two(points: Any) -> float:
    """The power of two that brings the largest entry to [1/2, 1), so that scaling rounds nothing; 1 for all zeros."""
    largest = float(np.max(np.abs(points.data if is_sparse(points) else points), initial=0.0))
    return 2.0 ** -int(np.clip(np.frexp(largest)[1], -1000, 1000)) if largest > 0 else 1.0


def held(values: Any, exponent: int) -> Any:
    """A number, or numbers that are averaged, times 2 ** exponent; refused where no float holds the square of it.

    Without this an index that depends on the unit would be infinite for large data, and a perfect 0 for small ones; and
    of a value whose square is no number there is no standard error.
    """
    with np.errstate(over="ignore", under="ignore"):
        found = np.ldexp(values, exponent)
        total, before = float(np.sum(found)), float(np.sum(values))
    if exponent and before and not 2.0**-HELD <= abs(total) <= 2.0**HELD:
        rule = f"must have a unit in which the value of this index lies between 2 ** -{HELD} and 2 ** {HELD}"
        cure = "Multiply data and embedding by one number, or use an index that does not depend on the unit."
        raise UndefinedMeasure("data", rule, f"about 2 ** {int(np.frexp(before)[1]) + exponent}", cure)
    return found if isinstance(values, np.ndarray) else float(found)


def scaled(points: Any, metric: str) -> tuple[Any, float]:
    """The points as their values are taken from them, and the factor from distances of the data to theirs."""
    if metric in ("cosine", "correlation"):
        return unit_rows(points, metric == "correlation"), 1.0
    if metric == "hamming":
        return points, 1.0
    scale = power_of_two(points)
    points = points * scale
    if metric == "precomputed":
        points += 0.0  # -0.0, which is sorted by its bits, becomes 0
    return points, scale


def unit_rows(points: Any, center: bool = False) -> Any:
    """Rows of norm 1, less their means before if asked for."""
    from dreval.geometry._loops import direct as loops

    if is_sparse(points):
        points = points.copy()
        loops.unit_rows(points.data, points.indptr)
        return points
    out = np.array(points, order="C")
    if center:
        out *= power_of_two(out)
        out -= out[:, :1].copy()  # before the mean, so that rows far from 0 keep their digits
        out -= out.mean(axis=1, keepdims=True)
    n, p = out.shape
    loops.unit_rows(out.reshape(-1), np.arange(n + 1) * p)
    return out


def take(X: Any, places: IntArray, metric: str) -> Any:
    """The data of some points only."""
    return X[np.ix_(places, places)] if metric == "precomputed" else X[places]


def compact(X: Any) -> Any:
    """A sparse matrix without its empty columns, which no difference needs; the others stay in order."""
    from scipy.sparse import csr_array

    used, columns = np.unique(X.indices, return_inverse=True)
    return csr_array((X.data, columns.astype(np.int64), X.indptr.astype(np.int64)), (X.shape[0], max(len(used), 1)))


def gather(X: Any, members: IntArray) -> FloatArray:
    """Coordinates (m, k, w) of m groups of k points; of sparse data only columns in which a group has an entry.

    What is left out is zero in the whole group, so that differences, norms and products within it are the same.
    """
    if not is_sparse(X):
        return np.asarray(X[members])
    m, k = members.shape
    few = X[members.reshape(-1)]
    row = np.repeat(np.arange(m * k), np.diff(few.indptr))
    group = row // k
    keys, place = np.unique(group * np.int64(X.shape[1]) + few.indices, return_inverse=True)
    starts = np.searchsorted(keys, np.arange(m + 1) * np.int64(X.shape[1]))  # where the columns of a group begin
    out = np.zeros((m, k, max(int(np.diff(starts).max(initial=0)), 1)))
    out[group, row % k, place - starts[group]] = few.data
    return out


def group_width(X: Any, k: int) -> int:
    """The most columns that ``gather`` can give groups of k points."""
    p = int(X.shape[1])
    return min(p, k * int(np.diff(X.indptr).max())) if is_sparse(X) else p


def spread(X: Any) -> tuple[Any, FloatArray, float]:
    """The parts of centered sparse data: stored cells less their columns' means, these means, and the squared norm.

    Columns without a zero need no mean beside their cells; theirs is given as 0.
    """
    n, p = X.shape
    counts = np.bincount(X.indices, minlength=p)
    means = np.bincount(X.indices, X.data, p) / n
    moved = X.copy()
    moved.data = X.data - means[X.indices]
    rest = np.where(counts == n, 0.0, means)
    return moved, rest, float(moved.data @ moved.data + (n - counts) @ rest**2)
