"""Costs of spectral methods, with their constraint built in, and what solves them exactly."""

from __future__ import annotations

from typing import Any

import numpy as np

from dreval.methods._costs._cost import Cost
from dreval.methods._method import FloatArray

__all__ = ["Quotient"]

NULL = 1e-12  # weighted scatter below this, relative to the largest, is none


class Quotient(Cost):
    r"""The sum of Rayleigh quotients :math:`\mathrm{tr}\,(Y_c' D Y_c)^{-1} Y' M Y`, for M with M 1 = 0.

    :math:`Y_c` is Y less its mean as D weighs it. A spectral method minimizes tr Y'MY under Y'DY = I and Y'D1 = 0. This
    cost has the constraint in it: it does not change when Y is multiplied by an invertible matrix or shifted, and where
    the constraint holds it is the method's own. So a minimum over any mappings that stay in their class under affine
    maps of the embedding, which all here do, is the minimum under the constraint; ``normal_form`` then takes Y there.
    """

    def __init__(self, X: FloatArray, M: Any, weights: FloatArray) -> None:
        super().__init__(X)
        self.M, self.weights = M, weights

    def _centered(self, Y: FloatArray) -> FloatArray:
        return Y - self.weights @ Y / self.weights.sum()

    def __call__(self, Y: FloatArray) -> tuple[float, FloatArray]:
        """The sum of quotients and its gradient 2 (M Y - D Yc S^-1 T) S^-1; directions without scatter do not count."""
        Yc = self._centered(Y)
        weighted, pulled = self.weights[:, None] * Yc, np.asarray(self.M @ Yc)
        inverse = np.linalg.pinv(Yc.T @ weighted, rcond=NULL, hermitian=True)
        quotients = inverse @ (Yc.T @ pulled)
        return float(np.trace(quotients)), 2.0 * (pulled - weighted @ quotients) @ inverse

    def normal_form(self, Y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The affine map Y A + b to an embedding with Y'DY = sum(D) I whose columns are ordered by their quotients."""
        from scipy.linalg import eigh

        center, Yc = self.weights @ Y / self.weights.sum(), self._centered(Y)
        values, vectors = eigh(Yc.T @ (self.weights[:, None] * Yc) / self.weights.sum())
        kept = values > NULL * values[-1]
        whiten = vectors[:, kept] / np.sqrt(values[kept])
        white = Yc @ whiten
        turn = eigh(white.T @ (self.M @ white))[1]
        A = np.pad(whiten @ turn, ((0, 0), (0, Y.shape[1] - turn.shape[1])))
        return A, -center @ A

    def solve(self, basis: FloatArray | None, d: int) -> FloatArray:
        """The best embedding (n, d) of the form ``basis @ G``, or of any form: a generalized eigenproblem, exact."""
        from scipy.linalg import eigh

        if basis is None:
            basis = np.eye(self.n)[:, 1:]
        white = self._centered(basis)
        inner = white.T @ (self.weights[:, None] * white)
        found = eigh(white.T @ (self.M @ white), inner, subset_by_index=(0, min(d, white.shape[1]) - 1))[1]
        return np.pad(white @ found, ((0, 0), (0, d - found.shape[1])))
