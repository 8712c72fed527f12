"""The one driver: a cost of embeddings, minimized over the parameters of a mapping by L-BFGS."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dreval.methods._costs._cost import Cost
from dreval.methods._mappings._mapping import Mapping
from dreval.methods._method import FloatArray

__all__ = ["Descent", "descend"]

MEMORY = 20  # past steps from which L-BFGS makes its matrix
USED_UP = 1  # status of a search that ran out of iterations or evaluations; 2: no step lowers the cost any more
TRIES = 2  # evaluations allowed per iteration, on average


class Descent(NamedTuple):
    """Parameters, their embedding (n, d), its cost, iterations over all stages, and whether the last one converged."""

    theta: FloatArray
    embedding: FloatArray
    value: float
    n_iter: int
    converged: bool


def descend(cost: Cost, mapping: Mapping, theta: FloatArray, max_iter: int, tol: float) -> Descent:
    """Minimize the cost of the mapping's embedding from ``theta``.

    A stage ends when an iteration lowers the cost by less than ``tol``, or its own tolerance, times the larger of its
    size and 1, or no step along the gradient lowers it at all; or after ``max_iter`` iterations, or a number of its
    own.
    """
    from scipy.optimize import minimize

    total, converged = 0, False
    for energy, own, close in cost.stages():

        def value(at: FloatArray, energy=energy) -> tuple[float, FloatArray]:  # type: ignore[no-untyped-def]
            embedding, pullback = mapping.forward(at)
            number, gradient = energy(embedding)
            return number, pullback(gradient)

        steps = max_iter if own is None else min(own, max_iter)
        options = {"maxiter": steps, "maxfun": TRIES * steps + 20, "maxcor": MEMORY, "gtol": 0.0}
        options["ftol"] = tol if close is None else close
        found = minimize(value, theta, jac=True, method="L-BFGS-B", options=options)
        theta, total = np.asarray(found.x), total + int(found.nit)
        converged = found.status != USED_UP and bool(np.isfinite(found.fun))
    embedding = np.array(mapping.forward(theta)[0])
    return Descent(theta, embedding, cost(embedding)[0], total, converged)
