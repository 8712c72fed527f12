"""What methods on barycenter weights share: the matrix (I - W)'(I - W), and new points from their neighbors."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, identity

from dreval._check import check_float
from dreval.errors import InputError
from dreval.geometry.neighbors import nearest
from dreval.methods._local import Groups, LocalMethod, barycenter_weights, blocks_of
from dreval.methods._method import FloatArray

__all__ = ["BarycenterMethod", "barycenter_matrix", "check_reg"]


def check_reg(value: Any) -> float:
    """A positive ridge."""
    if check_float(value, "reg", low=0.0) == 0.0:
        cure = "Choose a small positive number, such as 1e-3."
        raise InputError("reg", "must be above 0, since weights are not unique where k > p", "0", cure)
    return float(value)


def barycenter_matrix(X: FloatArray, groups: Groups, reg: Any) -> csr_matrix:
    """(I - W)'(I - W), W the weights with ridge ``reg`` by which neighbors combine to their points."""
    n, reg = len(X), check_reg(reg)
    rows, columns, values = [], [], []
    for own, members in blocks_of(X, groups):
        rows.append(np.repeat(own, members.shape[1]))
        columns.append(members.ravel())
        values.append(barycenter_weights(X[members] - X[own, None], reg).ravel())
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    missed = identity(n, format="csr") - csr_matrix(entries, shape=(n, n))
    return (missed.T @ missed).tocsr()


class BarycenterMethod(LocalMethod):
    """A method on the weights that combine neighbors to their points, with the ridge ``reg``."""

    reg: float

    def _matrix(self, X: FloatArray, groups: Groups) -> csr_matrix:
        return barycenter_matrix(X, groups, self.reg)

    def transform(self, X: Any) -> FloatArray:
        """Coordinates (m, d) of new rows (m, p), combined from those of their k nearest fitted points."""

        def place(fitted: Any, points: FloatArray) -> FloatArray:
            neighbors = nearest(fitted._points, fitted.n_neighbors, points)[0]
            weights = barycenter_weights(fitted._points[neighbors] - points[:, None], fitted.reg)
            return np.einsum("mk,mkd->md", weights, fitted.embedding_[neighbors])

        return self._place(X, place)
