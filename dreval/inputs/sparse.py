"""Sparse data: one normal form, what a reader should know of them, and the dense copy for what cannot do without."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import check_exact, describe
from dreval.errors import InputError

__all__ = ["DENSE_LIMIT", "as_csr", "densify", "describe_sparse", "is_sparse"]

FloatArray = npt.NDArray[np.float64]
DENSE_LIMIT = 8 * 2**30


def is_sparse(value: Any) -> bool:
    """Whether a value is a sparse matrix or array in the manner of scipy."""
    return hasattr(value, "tocsr") and hasattr(value, "toarray")


def densify(matrix: Any, argument: str) -> tuple[npt.NDArray[Any], str]:
    """A sparse matrix as a dense array, with a note; one that needs more than 8 GiB is refused."""
    rows, columns = matrix.shape
    needed = rows * columns * 8
    size = f"{needed / 2**30:.1f} GiB" if needed >= 2**30 else f"{max(needed / 2**20, 0.1):.1f} MiB"
    if needed > DENSE_LIMIT:
        raise InputError(
            argument,
            "must fit into memory when made dense",
            f"a sparse matrix of {rows} x {columns} that needs {size}",
            "Select columns or reduce the data first, for instance to 50 principal components.",
        )
    return np.asarray(matrix.toarray()), f"A sparse matrix of {rows} x {columns} was made dense."


def check_real(matrix: Any, argument: str) -> None:
    """Refuse a sparse matrix that does not hold real numbers."""
    if matrix.dtype.kind not in "biuf":
        raise InputError(argument, "must hold real numbers", describe(matrix), "Convert it with .astype(float).")


def as_csr(matrix: Any, argument: str) -> Any:
    """A float64 ``csr_array`` of its own, columns in order, each cell once, no zero stored."""
    from scipy.sparse import csr_array

    check_real(matrix, argument)
    check_exact(np.asarray(matrix.data if hasattr(matrix, "indptr") else matrix.tocoo().data), argument)
    own = csr_array(matrix, dtype=np.float64, copy=True)
    own.sum_duplicates()
    own.eliminate_zeros()
    own.sort_indices()
    return own


def describe_sparse(X: Any, columns: tuple[str, ...] | None) -> list[str]:
    """Notes on constant columns, a column that carries most of the variance, and repeated rows; O(entries + p)."""
    n, p = X.shape
    notes = []
    counts = np.bincount(X.indices, minlength=p)
    constant = np.flatnonzero((counts == 0) | _full_and_equal(X, counts))
    if len(constant):
        shown = ", ".join(repr(columns[j] if columns else str(j)) for j in constant[:3])
        notes.append(f"{len(constant)} of {p} columns are constant ({shown}{', ...' if len(constant) > 3 else ''}).")
    share = _variance_shares(X, counts)
    top = int(np.argmax(share))
    if p > 2 and share[top] > 0.5 + 1e-9:
        name = columns[top] if columns else str(top)
        notes.append(f"Column {name!r} carries {100 * share[top]:.1f} % of the total variance; data are never scaled.")
    repeated = n - _distinct_rows(X)
    if repeated:
        notes.append(f"{repeated} row{'s repeat' if repeated > 1 else ' repeats'} an earlier one.")
    return notes


def _full_and_equal(X: Any, counts: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Columns without a zero whose cells are all equal."""
    low, high = np.full(X.shape[1], np.inf), np.full(X.shape[1], -np.inf)
    np.minimum.at(low, X.indices, X.data)
    np.maximum.at(high, X.indices, X.data)
    return np.asarray((counts == X.shape[0]) & (low == high))


def _variance_shares(X: Any, counts: npt.NDArray[Any]) -> FloatArray:
    """The part of the total variance in each column: stored cells and zeros around the column's mean."""
    n, p = X.shape
    values = X.data / (np.abs(X.data).max(initial=0.0) or 1.0)
    means = np.bincount(X.indices, values, p) / n
    variance = np.bincount(X.indices, (values - means[X.indices]) ** 2, p) + (n - counts) * means**2
    return np.asarray(variance / (variance.sum() or 1.0))


def _distinct_rows(X: Any) -> int:
    """Number of different rows, by a 64-bit hash of the stored cells of each."""
    weights = np.random.default_rng(0).integers(2**63, size=X.shape[1], dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    terms = pd.util.hash_array(X.data) * weights[X.indices]
    sums = np.r_[np.uint64(0), np.cumsum(terms, dtype=np.uint64)]
    return len(np.unique(sums[X.indptr[1:]] - sums[X.indptr[:-1]]))
