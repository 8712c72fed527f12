"""Costs of an embedding over all pairs of its points, with their gradients: stress, and the repulsions of neighbor costs.

Embeddings come by column (d, n), so that the inner loops run over points that lie side by side; gradients are written
in the same form. Each function goes over the pairs i < j, point by point: squared distances to the points behind, what
the cost makes of them, and the pull that follows. Sums are taken in order: with permission to reorder them, code that
was just compiled and the same code from the cache gave numbers that differ in the last digits, and a search ends elsewhere.
"""

from __future__ import annotations

import numpy as np

from dreval.geometry._loops._jit import loop


@loop()
def _squares(columns, i, line):
    """Squared distances of point i to the points behind it."""
    for c in range(columns.shape[0]):
        own, others = columns[c, i], columns[c, i + 1 :]
        if c == 0:
            for t in range(line.shape[0]):
                line[t] = (own - others[t]) ** 2
        else:
            for t in range(line.shape[0]):
                line[t] += (own - others[t]) ** 2


@loop()
def _pull(columns, i, line, gradient):
    """Add line[t] (y_i - y_j) to the gradient at i, and take it from that at the points j behind it."""
    for c in range(columns.shape[0]):
        own, others, theirs = columns[c, i], columns[c, i + 1 :], gradient[c, i + 1 :]
        total = 0.0
        for t in range(line.shape[0]):
            step = line[t] * (own - others[t])
            total += step
            theirs[t] -= step
        gradient[c, i] += total


@loop()
def _misfit(line, wanted, inverse):
    """Weighted sum of squared misfits of a line; the line becomes what they pull with."""
    total = 0.0
    for t in range(line.shape[0]):
        length, target = np.sqrt(line[t]), wanted[t]
        gap = length - target
        weight = 1.0
        if inverse:
            weight = 1.0 / target if target > 0.0 else 0.0
        total += weight * gap * gap
        line[t] = 2.0 * weight * gap / length if length > 0.0 else 0.0
    return total


@loop()
def stress(columns, wanted, inverse, gradient):
    """Sum over pairs of w (d - delta)^2 with w = 1, or 1 / delta where delta > 0; ``wanted`` is in condensed order."""
    n, total, at = columns.shape[1], 0.0, 0
    line = np.empty(n)
    for i in range(n - 1):
        part = line[: n - 1 - i]
        _squares(columns, i, part)
        total += _misfit(part, wanted[at : at + n - 1 - i], inverse)
        _pull(columns, i, part, gradient)
        at += n - 1 - i
    return total


@loop()
def _student(line, dof):
    """Sum of w = (1 + s / dof)^(-(dof + 1) / 2) over a line, which becomes w / (1 + s / dof)."""
    total = 0.0
    if dof == 1.0:
        for t in range(line.shape[0]):
            near = 1.0 / (1.0 + line[t])
            total += near
            line[t] = near * near
        return total
    power = 0.5 * (dof + 1.0)
    for t in range(line.shape[0]):
        near = 1.0 / (1.0 + line[t] / dof)
        weight = near**power
        total += weight
        line[t] = weight * near
    return total


@loop()
def student_sum(columns, dof, gradient):
    """Sum over pairs of (1 + s / dof)^(-(dof + 1) / 2)."""
    n, total = columns.shape[1], 0.0
    line = np.empty(n)
    for i in range(n - 1):
        part = line[: n - 1 - i]
        _squares(columns, i, part)
        total += _student(part, dof)
        part *= -(dof + 1.0) / dof
        _pull(columns, i, part, gradient)
    return total


@loop()
def weighted_gaussians(columns, weights, gradient):
    """Sum over pairs of w exp(-s); ``weights`` in condensed order."""
    n, total, at = columns.shape[1], 0.0, 0
    line = np.empty(n)
    for i in range(n - 1):
        part = line[: n - 1 - i]
        _squares(columns, i, part)
        for t in range(part.shape[0]):
            value = weights[at + t] * np.exp(-part[t])
            total += value
            part[t] = -2.0 * value
        _pull(columns, i, part, gradient)
        at += part.shape[0]
    return total


@loop()
def gaussian_log_sum(columns, gradient):
    """Logarithm of the sum over pairs of exp(-s), free of underflow."""
    n = columns.shape[1]
    line, least = np.empty(n), np.inf
    for i in range(n - 1):
        part = line[: n - 1 - i]
        _squares(columns, i, part)
        least = min(least, part.min())
    total = 0.0
    for i in range(n - 1):
        part = line[: n - 1 - i]
        _squares(columns, i, part)
        for t in range(part.shape[0]):
            part[t] = np.exp(least - part[t])
            total += part[t]
        _pull(columns, i, part, gradient)
    gradient *= -2.0 / total
    return np.log(total) - least


@loop()
def gaussian_log_sums(columns, gradient):
    """Sum over points i of log sum_{j != i} exp(-s_ij), free of underflow."""
    n = columns.shape[1]
    line, logs, least = np.empty(n), np.zeros(n), np.full(n, np.inf)
    for i in range(n - 1):
        part = line[: n - 1 - i]
        _squares(columns, i, part)
        for t in range(part.shape[0]):
            least[i] = min(least[i], part[t])
            least[i + 1 + t] = min(least[i + 1 + t], part[t])
    for i in range(n - 1):
        part = line[: n - 1 - i]
        _squares(columns, i, part)
        for t in range(part.shape[0]):
            logs[i] += np.exp(least[i] - part[t])
            logs[i + 1 + t] += np.exp(least[i + 1 + t] - part[t])
    logs = np.log(logs) - least
    for i in range(n - 1):
        part = line[: n - 1 - i]
        _squares(columns, i, part)
        for t in range(part.shape[0]):
            part[t] = -2.0 * (np.exp(-part[t] - logs[i]) + np.exp(-part[t] - logs[i + 1 + t]))
        _pull(columns, i, part, gradient)
    return logs.sum()
