"""Wasserstein distance of the distributions of distances."""

from __future__ import annotations

import numpy as np

from dreval.geometry.blocks import View
from dreval.geometry.pairs import Estimate, Pairs, estimate
from dreval.indices._index import FloatArray, index


@index(
    symbol="D_W",
    title="Wasserstein distance",
    question="How far must distances of the picture be moved to have the distribution of those in the data?",
    level="pair",
    needs=("pairs",),
    direction="lower",
    bounds=(0.0, 1.0),
    chance=None,
    invariances=frozenset({"translation", "rotation", "scale"}),
    smooth=False,
    cost=(
        "O(n^2 (p + d + log n)) time and O(n^2) memory up to n = 5000 (500 MB there); beyond, 2,000,000 random pairs."
    ),
    reference=(
        "Heiser & Lau (2020), A quantitative framework for evaluating single-cell data structure preservation by\n"
        "dimensionality reduction techniques, Cell Reports 31(5) (earth mover's distance)."
    ),
)
def wasserstein_distance(view: View) -> Estimate:
    """Mean move between the ordered distances of the data and of the embedding, each space scaled to [0, 1].

    (1/N) sum_t |x_(t) - y_(t)| over the N = n(n-1)/2 distances in ascending order, after (z - min z) / (max z - min z)
    in each space: the 1-Wasserstein (earth mover's) distance of the two samples. It does not look at which pair has
    which distance: an embedding whose points are exchanged has the same value. One outlier decides the scale: no
    interval is made. Distances that are all equal count as 0.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> round(dreval.wasserstein_distance(X, 2 * X), 12)
    0.0
    >>> round(dreval.wasserstein_distance(np.array([0.0, 1, 3, 7]), np.arange(4.0)), 3)
    0.139
    """
    return estimate(view, _mean_move)


def _mean_move(pairs: Pairs) -> tuple[float, str]:
    return float(np.abs(_scaled(pairs.x) - _scaled(np.sort(pairs.y))).mean()), ""


def _scaled(ascending: FloatArray) -> FloatArray:
    """From 0 to 1; distances that are equal up to rounding to 0."""
    low, high = ascending[0], ascending[-1]
    if high - low <= 1e-12 * high:
        return np.zeros(len(ascending))
    return np.asarray((ascending - low) / (high - low))
