"""Stationary kernels read backwards: which squared distance, in length scales, a correlation stands for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dreval._check import check_float
from dreval.errors import InputError
from dreval.methods._method import FloatArray

__all__ = ["INVERSE_KERNELS", "inverse_kernel", "matern"]

INVERSE_KERNELS = ("gamma_exponential", "matern", "rational_quadratic", "squared_exponential")
TABLE = np.linspace(np.log(1e-3), np.log(800.0), 600)  # arguments of the Bessel function, as logarithms
NEWTON_STEPS = 4


def inverse_kernel(kernel: str, alpha: float, gamma: float, nu: float) -> Callable[[FloatArray], FloatArray]:
    """The function that gives squared distances for correlations above 0 and at most 1 (Li and Wu, Table 1)."""
    if kernel == "rational_quadratic":
        shape = _shape(alpha, "alpha", None)
        return lambda rho: 2.0 * shape * np.expm1(-np.log(rho) / shape)
    if kernel == "gamma_exponential":
        power = 2.0 / _shape(gamma, "gamma", 2.0)
        return lambda rho: (-np.log(rho)) ** power
    if kernel == "matern":
        order = _shape(nu, "nu", 50.0)
        return lambda rho: _inverse_matern(rho, order)
    return lambda rho: -2.0 * np.log(rho)


def _shape(value: float, argument: str, high: float | None) -> float:
    """A shape of a kernel: at least 0.05, below which correlations have no digits left."""
    if check_float(value, argument, low=0.0, high=high) < 0.05:
        cure = "Choose a number of the order of 1."
        raise InputError(argument, "must be at least 0.05", f"{value}", cure)
    return float(value)


def matern(squared: FloatArray, nu: float) -> FloatArray:
    """Matern correlation at squared distances above 0, in units of the length scale."""
    return np.exp(-_decay(0.5 * np.log(2.0 * nu * squared), nu))


def _decay(u: FloatArray, nu: float) -> FloatArray:
    """-ln of the Matern correlation at t = exp(u), t = sqrt(2 nu d)."""
    from scipy.special import gammaln, kve

    t = np.exp(u)
    return np.asarray((nu - 1.0) * np.log(2.0) + gammaln(nu) - nu * u - np.log(kve(nu, t)) + t)


def _slope(u: FloatArray, nu: float) -> FloatArray:
    """Derivative of ``_decay``, t K_{nu-1}(t) / K_nu(t)."""
    from scipy.special import kve

    t = np.exp(u)
    return np.asarray(t * kve(nu - 1.0, t) / kve(nu, t))


def _inverse_matern(rho: FloatArray, nu: float) -> FloatArray:
    """Newton's method on logarithms, where the curve is nearly straight, from a table; below it a power law."""
    wanted = -np.log(rho)
    knots = _decay(TABLE, nu)
    usable = np.isfinite(knots) & (knots > 1e-12)
    grid, knots = TABLE[usable], np.log(knots[usable])
    with np.errstate(divide="ignore"):
        target = np.log(wanted)
    u = np.interp(target, knots, grid)
    inside = (target >= knots[0]) & (target <= knots[-1])
    for _ in range(NEWTON_STEPS):
        decay = _decay(u[inside], nu)
        u[inside] -= (np.log(decay) - target[inside]) * decay / _slope(u[inside], nu)
    below, above = target < knots[0], target > knots[-1]
    u[below] = grid[0] + (target[below] - knots[0]) * (grid[1] - grid[0]) / (knots[1] - knots[0])
    u[above] = target[above]
    return np.exp(2.0 * u) / (2.0 * nu)
