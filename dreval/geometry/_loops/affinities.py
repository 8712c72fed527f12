"""Affinities of neighbors: widths by bisection, and the attraction that affinities exert in an embedding."""

from __future__ import annotations

import numpy as np

from dreval.geometry._loops._jit import loop

STEPS = 100  # of bisection; it ends earlier when the entropy is met
CLOSE = 1e-10  # of the entropy


@loop()
def _entropy(squared, beta, out):
    """Probabilities proportional to exp(-beta (s - min s)), and their entropy in nats."""
    least, total, mean = squared.min(), 0.0, 0.0
    for t in range(squared.shape[0]):
        out[t] = np.exp(-beta * (squared[t] - least))
        total += out[t]
        mean += out[t] * (squared[t] - least)
    for t in range(squared.shape[0]):
        out[t] /= total
    return np.log(total) + beta * mean / total


@loop()
def conditional(squared, entropy, out):
    """Rows of probabilities, exp(-beta_i s_ij) over their sum, whose entropies are as near as can be to ``entropy``.

    Where all distances of a row are equal its probabilities are too, whatever the entropy.
    """
    for i in range(squared.shape[0]):
        row = squared[i]
        spread = row.mean() - row.min()
        if spread == 0.0:
            out[i] = 1.0 / row.shape[0]
            continue
        low, high, beta = 0.0, np.inf, 1.0 / spread
        for _ in range(STEPS):
            gap = _entropy(row, beta, out[i]) - entropy
            if abs(gap) < CLOSE:
                break
            if gap > 0.0:
                low = beta
                beta = 2.0 * beta if high == np.inf else 0.5 * (low + high)
            else:
                high = beta
                beta = 0.5 * (low + high)


@loop()
def attraction(indptr, indices, affinities, points, dof, gradient):
    """Sum over listed pairs of p s where ``dof`` is 0, else of p (dof + 1) / 2 log(1 + s / dof).

    Points (n, d) and the gradient, to which its part is added, are by row.
    """
    d, total = points.shape[1], 0.0
    for i in range(points.shape[0]):
        for at in range(indptr[i], indptr[i + 1]):
            j, s = indices[at], 0.0
            for c in range(d):
                step = points[i, c] - points[j, c]
                s += step * step
            if dof == 0.0:
                total += affinities[at] * s
                pull = 2.0 * affinities[at]
            else:
                total += affinities[at] * 0.5 * (dof + 1.0) * np.log1p(s / dof)
                pull = affinities[at] * (dof + 1.0) / (dof + s)
            for c in range(d):
                step = pull * (points[i, c] - points[j, c])
                gradient[i, c] += step
                gradient[j, c] -= step
    return total
