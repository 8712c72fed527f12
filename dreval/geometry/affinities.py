"""Affinities of neighbors with a given perplexity, and sums of Student weights over all pairs."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix, triu

from dreval._check import FloatArray, check_float, check_int
from dreval.errors import ApproximationWarning, warn
from dreval.geometry.neighbors import nearest
from dreval.records.notes import note

LEAST = 1.5  # smallest perplexity; below it one neighbor would have nearly all of the affinity


class Listed(NamedTuple):
    """Pairs i < j by row, with their affinities."""

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
        from dreval.geometry._loops import layouts as loops

        return float(loops.attraction(*self, np.ascontiguousarray(Y), dof, gradient))


def allowed_perplexity(perplexity: Any, n: int) -> float:
    """The perplexity, or with a warning a third of the number of other points if that is less."""
    wanted = check_float(perplexity, "perplexity", low=1.0)
    most = max((n - 1) / 3.0, LEAST)
    if wanted <= most:
        return wanted
    said = note("perplexity.smaller", wanted=wanted, n=n, used=most)
    warn(ApproximationWarning(said))
    return most


def conditional_affinities(X: FloatArray, perplexity: float, n_neighbors: int | None = None) -> csr_matrix:
    r"""Rows :math:`p_{j|i} \propto \exp(-\beta_i |x_i - x_j|^2)` of the given perplexity, over nearest neighbors.

    The perplexity is the exponential of the entropy; :math:`\beta_i` is found by bisection. Only the ``n_neighbors``
    nearest neighbors have affinities, by default three times the perplexity.
    """
    from dreval.geometry._loops import layouts as loops

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


MOST_COLUMNS = 2
STEP = 0.35  # of the widest lattice; the kernel falls to half at 1
FEWEST_NODES = 48  # across an embedding, before the lattice is made finer
MARGIN = 16  # nodes between the kernel and its periodic copy
MOST_NODES = 4096  # along an axis of the padded lattice
AT_NODES = (66 / 120, 26 / 120, 1 / 120)  # the quintic spline at 0, 1, 2
ROUND_UP = 32  # lattices grow in such steps, so that the kernel's transform can be kept


def lattice_sum(Y: FloatArray, dof: float, most: float = math.inf) -> tuple[float, FloatArray] | None:
    """Sum over pairs i < j of (1 + s / dof)^(-(dof + 1) / 2), and its gradient (n, d).

    None if Y is too wide, or the lattice would have more than ``most`` nodes. The relative error is about 1e-4 in the
    sum and 4e-3 in the norm of the gradient, compared with all pairs of 2000 points.
    """
    from scipy.fft import irfft2, rfft2

    from dreval.geometry._loops import layouts as loops

    width, step = float(np.ptp(Y, axis=0).max()), STEP
    if 0.0 < width < FEWEST_NODES * STEP:
        step = float(STEP * 2.0 ** np.floor(np.log2(max(width, 1e-12) / (FEWEST_NODES * STEP))))
    places = np.zeros((len(Y), 2))
    places[:, : Y.shape[1]] = Y / step - np.floor(Y.min(axis=0) / step)
    counts = [int(-(-(2 * (np.floor(last) + 6) + MARGIN) // ROUND_UP) * ROUND_UP) for last in places.max(axis=0)]
    if max(counts) > MOST_NODES or counts[0] * counts[1] > most:
        return None
    transform = _kernel(*counts, step, dof)
    charges = np.zeros(counts)
    loops.spread(places, charges)
    potential = irfft2(rfft2(charges) * transform, s=counts)
    gradient = np.empty_like(places)
    total = loops.read(places, potential, gradient)
    return 0.5 * (total - len(Y)), gradient[:, : Y.shape[1]] / step


@lru_cache(maxsize=4)
def _kernel(rows: int, columns: int, step: float, dof: float) -> Any:
    """Transform of the kernel at the nodes, divided twice by that of the spline along each axis."""
    from scipy.fft import rfft2

    steps = [np.minimum(np.arange(m), m - np.arange(m)) * step for m in (rows, columns)]
    squared = steps[0][:, None] ** 2 + steps[1] ** 2
    waves = [2.0 * np.pi * np.arange(m) / m for m in (rows, columns)]
    spectra = [AT_NODES[0] + 2 * AT_NODES[1] * np.cos(w) + 2 * AT_NODES[2] * np.cos(2 * w) for w in waves]
    values = rfft2((1.0 + squared / dof) ** (-0.5 * (dof + 1.0)))
    return values / spectra[0][:, None] ** 2 / spectra[1][: columns // 2 + 1] ** 2
