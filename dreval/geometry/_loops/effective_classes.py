"""The effective number of classes among weighted neighbors, and without each point (local inverse Simpson index)."""

from __future__ import annotations

import numpy as np

from dreval.geometry._loops import ROUNDING
from dreval.geometry._loops._jit import loop

STEPS = 200  # of Newton's method and of bisection; it ends earlier when the entropy is met
CLOSE = 1e-11  # of the entropy
FARTHEST = 2.0  # step of the logarithm of beta


@loop()
def _weigh(distances, perplexity, beta, out):
    """Weights proportional to exp(-beta d), whose perplexity is as near as can be to this one; gives beta.

    Distances ascend; those equal to the first up to rounding are that. ``beta`` is where the search begins; at 0 it
    begins at one over the mean distance beyond the first. Newton's method on the logarithm of beta, by which the
    entropy changes by minus the variance of beta d; bisection where a step leaves the known interval.
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
    for _ in range(STEPS):
        total, energy, square = float(ties), 0.0, 0.0
        for t in range(ties, distances.shape[0]):
            u = beta * (distances[t] - first)
            out[t] = np.exp(-u)
            total += out[t]
            energy += out[t] * u
            square += out[t] * u * u
        gap = np.log(total) + energy / total - entropy
        if abs(gap) < CLOSE:
            break
        low, high = (beta, high) if gap > 0.0 else (low, beta)
        variance = square / total - (energy / total) ** 2
        beta *= np.exp(min(max(gap / variance if variance > 0.0 else np.inf, -FARTHEST), FARTHEST))
        if not low < beta < high:
            beta = 2.0 * low if high == np.inf else 0.5 * (low + high)
    out /= total
    return beta


@loop()
def weigh_rows(distances, perplexity, out):
    """Weights of this perplexity of each row of ascending distances."""
    for i in range(distances.shape[0]):
        _weigh(distances[i], perplexity, 0.0, out[i])


@loop()
def _as_far(a, b):
    """Whether two distances are equal up to rounding."""
    return abs(a - b) <= ROUNDING * b


@loop()
def _effective(weights, distances, classes, tied, last, shares):
    """One over the sum of squared shares of the classes.

    Neighbors as far as ``last`` share their weight with all such points, of which ``tied`` has the number by class;
    where it counts none, each neighbor has its own.
    """
    shares[:] = 0.0
    edge, every = 0.0, tied.sum()
    for t in range(weights.shape[0]):
        if every > 0 and _as_far(distances[t], last):
            edge += weights[t]
        else:
            shares[classes[t]] += weights[t]
    total = 0.0
    for c in range(shares.shape[0]):
        if every > 0:
            shares[c] += edge * tied[c] / every
        total += shares[c] * shares[c]
    return 1.0 / total


@loop()
def effective_without(found, distances, k, perplexity, codes, indptr, far, n_classes, values, changes):
    """The effective number in each row; ``changes`` (n,) gets what their sum changes by without each point.

    Rows list more than k neighbors, nearest first, of which k count. Where the one behind these is as far as the last
    of them, or as the next, ``far[indptr[b]:indptr[b + 1]]`` are all points as far as that. Without a neighbor the one
    behind steps in; without another of the points that are as far, only the classes of these change.
    """
    weights, line, none = np.empty(k), np.empty(k), np.zeros(n_classes, np.int64)
    classes, shares, known = np.empty(k, np.int64), np.empty(n_classes), np.empty(n_classes)
    tied, inside = np.zeros(n_classes, np.int64), np.zeros(codes.shape[0], np.bool_)
    for b in range(found.shape[0]):
        row, near, last = distances[b], found[b, :k], distances[b, k]
        here, beyond = _as_far(row[k - 1], last), row.shape[0] > k + 1 and _as_far(row[k + 1], last)
        ties = far[indptr[b] : indptr[b + 1]]
        tied[:] = 0
        for j in ties:
            tied[codes[j]] += 1
        for t in range(k):
            classes[t] = codes[near[t]]
            inside[near[t]] = True
        beta = _weigh(row[:k], perplexity, 0.0, weights)
        values[b] = _effective(weights, row[:k], classes, tied if here else none, last, shares)
        known[:] = np.nan
        for j in ties:
            if here and not inside[j]:
                c = codes[j]
                if np.isnan(known[c]):
                    tied[c] -= 1
                    known[c] = _effective(weights, row[:k], classes, tied, last, shares)
                    tied[c] += 1
                changes[j] += known[c] - values[b]
        line[:] = row[1 : k + 1]
        classes[: k - 1], classes[k - 1] = classes[1:].copy(), codes[found[b, k]]
        for q in range(k):
            own = codes[near[q]]
            if q > 0:
                line[q - 1], classes[q - 1] = row[q - 1], codes[near[q - 1]]
            _weigh(line, perplexity, beta, weights)
            counted = int(_as_far(row[q], last))
            tied[own] -= counted
            changes[near[q]] += _effective(weights, line, classes, tied if beyond else none, last, shares) - values[b]
            tied[own] += counted
            inside[near[q]] = False
