"""Affinities of neighbors with a given perplexity, and what the costs on them share."""

from __future__ import annotations

import math
import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix, triu
from scipy.special import xlogy

from dreval._check import check_float, check_int
from dreval.errors import ApproximationWarning
from dreval.geometry.neighbors import nearest
from dreval.methods._costs._cost import Cost, Stage
from dreval.methods._method import FloatArray

__all__ = ["Listed", "NeighborCost", "allowed_perplexity", "conditional_affinities"]

FLAT = 20  # iterations that may gain little
LEAST = 1.5  # perplexity; below, one neighbor alone would count


class Listed(NamedTuple):
    """Pairs i < j by row, with the affinities that are attached to them."""

    indptr: Any
    indices: Any
    values: FloatArray

    @classmethod
    def of(cls, affinities: csr_matrix) -> Listed:
        """The sum of both directions of each pair."""
        upper = triu(affinities + affinities.T, k=1, format="csr")
        return cls(upper.indptr.astype(np.int64), upper.indices.astype(np.int64), upper.data)

    def attract(self, Y: FloatArray, dof: float, gradient: FloatArray) -> float:
        """Sum of p s (``dof`` 0), or of p (dof + 1) / 2 log(1 + s / dof); its gradient is added to ``gradient``."""
        from dreval.geometry._loops import affinities as loops

        return float(loops.attraction(*self, np.ascontiguousarray(Y), dof, gradient))


def allowed_perplexity(perplexity: Any, n: int) -> float:
    """The perplexity, or a third of the other points where that is less, which is warned of."""
    wanted = check_float(perplexity, "perplexity", low=1.0)
    most = max((n - 1) / 3.0, LEAST)
    if wanted <= most:
        return wanted
    warnings.warn(
        f"A perplexity of {wanted:g} is too much for {n} points; {most:.4g} was taken, a third of the other points.",
        ApproximationWarning,
        stacklevel=7,  # the line that called fit
    )
    return most


def conditional_affinities(X: FloatArray, perplexity: float, n_neighbors: int | None = None) -> csr_matrix:
    r"""Rows :math:`p_{j|i} \propto \exp(-\beta_i |x_i - x_j|^2)` of the given perplexity, over nearest neighbors.

    The perplexity is the exponential of the entropy; :math:`\beta_i` is found by bisection. Only the ``n_neighbors``
    nearest neighbors have affinities, by default three times the perplexity.
    """
    from dreval.geometry._loops import affinities as loops

    n = len(X)
    k = (
        min(n - 1, math.ceil(3 * perplexity))
        if n_neighbors is None
        else min(check_int(n_neighbors, "n_affinities", low=1), n - 1)
    )
    members, squared = nearest(X, k)
    rows = np.empty_like(squared)
    loops.conditional(squared, math.log(min(perplexity, k)), rows)
    places = np.arange(n + 1, dtype=np.int64) * k
    return csr_matrix((rows.ravel(), members.ravel(), places), shape=(n, n))


class NeighborCost(Cost):
    """A cost on conditional affinities, which hold the list of attracting pairs in ``attracting``.

    The start is small, so that no point has to pass through others.
    """

    start_size: float | None = 1e-4

    def __init__(self, X: FloatArray, perplexity: float, n_affinities: int | None) -> None:
        super().__init__(X)
        self.perplexity = allowed_perplexity(perplexity, self.n)
        conditional = conditional_affinities(X, self.perplexity, n_affinities)
        self.attracting = Listed.of(conditional / self.divisor())
        self.entropy = self.negative_entropy(conditional)

    def stages(self) -> list[Stage]:
        """The cost for some iterations whatever they gain, since it is flat about a small start, then to the end."""
        return [Stage(self, FLAT, 0.0), Stage(self)]

    def divisor(self) -> float:
        """What conditional affinities are divided by: n, so that each pair i < j has p_ij + p_ji of joint ones."""
        return float(self.n)

    def negative_entropy(self, conditional: csr_matrix) -> float:
        """Sum of p log p over ordered pairs, the part of a divergence that the embedding does not change."""
        p = 0.5 * self.attracting.values
        return float(2.0 * np.sum(xlogy(p, p)))  # half of the least number above 0 is 0
