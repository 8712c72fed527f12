"""The effective number of classes among weighted neighbors, and without each point (local inverse Simpson index)."""

from __future__ import annotations

import numpy as np

from dreval.geometry._loops import ROUNDING
from dreval.geometry._loops._jit import loop

MAX_STEPS = 200  # of Newton's method and of bisection, which end earlier when the entropy is reached
ENTROPY_TOLERANCE = 1e-11
MAX_LOG_STEP = 2.0  # of the logarithm of beta


@loop()
def _weigh(distances, perplexity, beta, out):
    """Compute weights proportional to exp(-beta d) with a perplexity as near as possible to a target; return beta.

    Distances ascend; distances equal to the first up to rounding are replaced by it. ``beta`` is the start of the
    search; at 0 it starts at one over the mean distance beyond the first. Newton's method on the logarithm of beta, by
    which the entropy changes by minus the variance of beta d; bisection where a step leaves the bracketing interval.
    """
    first, ties, mean = distances[0], 0, 0.0
    for t in range(distances.shape[0]):
        near = distances[t] <= first * (1.0 + ROUNDING)
        ties += near
        out[t] = 1.0 if near else 0.0
        mean += 0.0 if near else (distances[t] - first) / distances.shape[0]
    if ties >= min(perplexity, distances.shape[0]):
        out /= ties
        return beta
    low, high, entropy = 0.0, np.inf, np.log(perplexity)
    beta = beta if beta > 0.0 else 1.0 / mean
    for _ in range(MAX_STEPS):
        total, energy, square = float(ties), 0.0, 0.0
        for t in range(ties, distances.shape[0]):
            u = beta * (distances[t] - first)
            out[t] = np.exp(-u)
            total += out[t]
            energy += out[t] * u
            square += out[t] * u * u
        gap = np.log(total) + energy / total - entropy
        if abs(gap) < ENTROPY_TOLERANCE:
            break
        low, high = (beta, high) if gap > 0.0 else (low, beta)
        variance = square / total - (energy / total) ** 2
        beta *= np.exp(min(max(gap / variance if variance > 0.0 else np.inf, -MAX_LOG_STEP), MAX_LOG_STEP))
        if not low < beta < high:
            beta = 2.0 * low if high == np.inf else 0.5 * (low + high)
    out /= total
    return beta


@loop()
def weigh_rows(distances, perplexity, out):
    """Compute weights with a perplexity for each row of ascending distances."""
    for i in range(distances.shape[0]):
        _weigh(distances[i], perplexity, 0.0, out[i])


@loop()
def _is_tied(a, b):
    """Return whether two distances are equal up to rounding."""
    return abs(a - b) <= ROUNDING * b


@loop()
def _effective(weights, distances, classes, tied, last, shares):
    """Return one over the sum of squared shares of the classes.

    Neighbors tied with the distance ``last`` share their weight with all points at this distance; ``tied`` is their
    number by class. Where it is 0, each neighbor has its own weight.
    """
    shares[:] = 0.0
    edge, n_tied = 0.0, tied.sum()
    for t in range(weights.shape[0]):
        if n_tied > 0 and _is_tied(distances[t], last):
            edge += weights[t]
        else:
            shares[classes[t]] += weights[t]
    total = 0.0
    for c in range(shares.shape[0]):
        if n_tied > 0:
            shares[c] += edge * tied[c] / n_tied
        total += shares[c] * shares[c]
    return 1.0 / total


@loop()
def effective_without(neighbors, distances, k, perplexity, codes, indptr, far, n_classes, values, changes):
    """Compute the effective number in each row; ``changes`` (n,) gets the changes of their sum without each point.

    Rows list more than k neighbors, nearest first; k of them count. Where the neighbor k + 1 is tied with the one
    before or after it, ``far[indptr[b]:indptr[b + 1]]`` are all points at its distance. Without a neighbor the neighbor
    k + 1 replaces it; without another of the tied points only the classes of these change.
    """
    weights, line, no_ties = np.empty(k), np.empty(k), np.zeros(n_classes, np.int64)
    classes, shares, class_values = np.empty(k, np.int64), np.empty(n_classes), np.empty(n_classes)
    tied, inside = np.zeros(n_classes, np.int64), np.zeros(codes.shape[0], np.bool_)
    for b in range(neighbors.shape[0]):
        row, near, last = distances[b], neighbors[b, :k], distances[b, k]
        tied_before, tied_after = _is_tied(row[k - 1], last), row.shape[0] > k + 1 and _is_tied(row[k + 1], last)
        ties = far[indptr[b] : indptr[b + 1]]
        tied[:] = 0
        for j in ties:
            tied[codes[j]] += 1
        for t in range(k):
            classes[t] = codes[near[t]]
            inside[near[t]] = True
        beta = _weigh(row[:k], perplexity, 0.0, weights)
        values[b] = _effective(weights, row[:k], classes, tied if tied_before else no_ties, last, shares)
        class_values[:] = np.nan
        for j in ties:
            if tied_before and not inside[j]:
                c = codes[j]
                if np.isnan(class_values[c]):
                    tied[c] -= 1
                    class_values[c] = _effective(weights, row[:k], classes, tied, last, shares)
                    tied[c] += 1
                changes[j] += class_values[c] - values[b]
        line[:] = row[1 : k + 1]
        classes[: k - 1], classes[k - 1] = classes[1:].copy(), codes[neighbors[b, k]]
        for q in range(k):
            neighbor_class = codes[near[q]]
            if q > 0:
                line[q - 1], classes[q - 1] = row[q - 1], codes[near[q - 1]]
            _weigh(line, perplexity, beta, weights)
            counted = int(_is_tied(row[q], last))
            tied[neighbor_class] -= counted
            changes[near[q]] += (
                _effective(weights, line, classes, tied if tied_after else no_ties, last, shares) - values[b]
            )
            tied[neighbor_class] += counted
            inside[near[q]] = False
