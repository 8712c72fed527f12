"""Low-rank factors L L' of kernel matrices: pivoted incomplete Cholesky, one column of the kernel at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray, IntArray, check_points
from dreval._random import stream
from dreval.geometry.kernels import delta_codes, gram_matrix, is_classes, length_scale, radial_columns
from dreval.records.notes import Notes, note

TRACE_TOLERANCE = 1e-4  # share of the trace that factors may leave
MEDIAN_ROWS = 2000  # of more rows the median of distances is computed from so many, the same ones for every seed


@dataclass(frozen=True)
class LowRank:
    """A centered low-rank approximation L L' of a kernel matrix K.

    Attributes
    ----------
    factor : ndarray (n, r)
        L with column means 0, so that its product is H L L' H.
    left : float
        Trace of K - L L', a positive semi-definite matrix.
    trace : float
        Trace of K.
    kernel, bandwidth, notes
        As in ``Gram``.
    codes : ndarray (n,), optional
        The classes of the delta kernel: rows of one class are equal.
    """

    factor: FloatArray
    left: float
    trace: float
    kernel: str
    bandwidth: float | None
    notes: Notes = ()
    codes: IntArray | None = None


def pivoted_cholesky(
    diagonal: FloatArray, column: Callable[[int], FloatArray], tolerance: float, most: int
) -> tuple[FloatArray, float]:
    """L (n, r) with K - L L' positive semi-definite and of trace at most ``tolerance`` times that of K.

    Parameters
    ----------
    diagonal : ndarray (n,)
        Diagonal of K.
    column : callable
        Returns column i of K.
    tolerance : float
        Share of the trace that L L' may leave.
    most : int
        Largest number r of columns; when it is reached, L L' leaves more.

    Returns
    -------
    (ndarray (n, r), float)
        L, and the trace of K - L L'.

    Notes
    -----
    Each step takes the column with the largest remaining diagonal entry. O(n r^2) time, O(n r) memory.

    References
    ----------
    Fine & Scheinberg (2001), Efficient SVM training using low-rank kernel representations, JMLR 2, 243-264.

    Examples
    --------
    >>> import numpy as np
    >>> K = np.outer([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    >>> L, left = pivoted_cholesky(K.diagonal(), lambda i: K[i], 1e-4, 3)
    >>> L.ravel(), left
    (array([1., 2., 3.]), 0.0)
    """
    left = diagonal.astype(np.float64)
    bound = tolerance * float(left.sum())
    rows = np.empty((0, len(left)))
    r = 0
    while r < most and float(left.sum()) > bound:
        if r == len(rows):
            rows = np.concatenate([rows, np.empty((max(32, r), len(left)))])
        pivot = int(np.argmax(left))
        new = rows[r]
        new[:] = column(pivot)
        new -= rows[:r, pivot] @ rows[:r]
        new /= np.sqrt(left[pivot])
        left -= new**2
        np.maximum(left, 0.0, out=left)
        left[pivot] = 0.0
        r += 1
    return np.ascontiguousarray(rows[:r].T), float(left.sum())


def low_rank_kernel(
    value: Any,
    argument: str,
    kernel: str = "gaussian",
    bandwidth: float | str | None = None,
    *,
    tolerance: float = TRACE_TOLERANCE,
    most: int | None = None,
) -> LowRank:
    """The centered low-rank factor of one variable's kernel; parameters as in ``gram_matrix``.

    For Gaussian, Laplace and rational quadratic kernels the matrix is never in memory: O(n r) memory, O(n r (r + p))
    time. The delta kernel has one column for each class, the linear one those of the data. Other kernels are factored
    from their matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from dreval.geometry.kernels import center
    >>> x = np.linspace(0, 1, 50)
    >>> found = low_rank_kernel(x, "x")
    >>> exact = center(gram_matrix(x, "x").matrix)
    >>> found.factor.shape[1] < 10, bool(np.abs(found.factor @ found.factor.T - exact).max() < 1e-2)
    (True, True)
    """
    n = len(value)
    most = n if most is None else min(most, n)
    if kernel == "delta" or is_classes(value):
        codes, used = delta_codes(value, argument), "delta"
        factor, left = pivoted_cholesky(np.ones(n), lambda i: (codes == codes[i]).astype(np.float64), 0.0, most)
        return LowRank(factor - factor.mean(axis=0), left, float(n), used, None, codes=codes)
    radial = radial_columns(kernel)
    if radial is None and kernel != "linear":
        gram = gram_matrix(value, argument, kernel, bandwidth)
        diagonal = gram.matrix.diagonal().copy()
        factor, left = pivoted_cholesky(diagonal, lambda i: gram.matrix[i], tolerance, most)
        factor -= factor.mean(axis=0)
        return LowRank(factor, left, float(diagonal.sum()), gram.kernel, gram.bandwidth, gram.notes)
    points = check_points(value, argument, columns=getattr(value, "columns", None))
    if radial is None:
        gram_matrix(points[some_rows(n)], argument, kernel, bandwidth)  # its checks
        centered = points - points.mean(axis=0)
        return LowRank(centered, 0.0, float(np.vdot(centered, centered)), kernel, None)
    sigma, notes = length_scale(points[some_rows(n)], argument, kernel, bandwidth)
    if n > MEDIAN_ROWS and bandwidth in (None, "median"):
        notes = (*notes, note("bandwidth.drawn", argument=argument, rows=MEDIAN_ROWS))
    scaled = (points - points.mean(axis=0)) / sigma
    factor, left = pivoted_cholesky(np.ones(n), lambda i: radial(scaled, scaled[i]), tolerance, most)
    factor -= factor.mean(axis=0)
    return LowRank(factor, left, float(n), kernel, sigma, notes)


def some_rows(n: int) -> npt.NDArray[np.int64]:
    """All rows, or ``MEDIAN_ROWS`` of them, the same ones for every seed."""
    if n <= MEDIAN_ROWS:
        return np.arange(n)
    return np.sort(stream(0, "rows of the median rule", n).choice(n, MEDIAN_ROWS, replace=False))
