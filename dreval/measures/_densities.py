"""Densities of the points in both spaces, by a Gaussian kernel on distances over the largest one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dreval._check import FloatArray, check_width
from dreval.geometry.blocks import View
from dreval.geometry.pairs import Estimate, Pairs, estimate_by_points, largest_distance_note
from dreval.records.notes import Notes, note

SOME = 2000  # points among which all pairs are used where there are too many


def of_densities(view: View, sigma: float, compare: Callable[[FloatArray, FloatArray], float]) -> Estimate:
    """A comparison of the densities of the points in the data and in the embedding, each of which sums to 1."""
    width = check_width(sigma, "sigma")

    def statistic(pairs: Pairs) -> tuple[float, Notes]:
        flat = () if pairs.y.any() else (note("density.flat"),)
        notes = (*flat, *largest_distance_note(pairs, view.n))
        return compare(_density(pairs, pairs.x, width), _density(pairs, pairs.y, width)), notes

    return estimate_by_points(view, statistic, SOME)


def _density(pairs: Pairs, distances: FloatArray, width: float) -> FloatArray:
    """Sum of exp(-(d_ij / max d)^2 / sigma) over all j, i itself included, over the sum of these sums."""
    largest = distances.max()
    kernel = np.exp(-((distances / largest) ** 2) / width) if largest > 0 else np.ones(len(distances))
    seen = pairs.rows if pairs.ordered else pairs.points
    size = int(pairs.points[-1]) + 1  # in ascending order
    sums = np.bincount(pairs.first, kernel, size)
    if not pairs.ordered:
        sums += np.bincount(pairs.second, kernel, size)
    at_points = 1.0 + sums[seen]
    return np.asarray(at_points / at_points.sum())
