"""Pairs of variables that depend on each other in many shapes, for the power of tests of independence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dreval._check import FloatArray, check_one_of
from dreval.datasets._dataset import Draw, dataset
from dreval.datasets._shapes import add_noise

Shape = Callable[[FloatArray, np.random.Generator], tuple[FloatArray, FloatArray]]  # of u uniform on [-1, 1]


def _sign(u: FloatArray, rng: np.random.Generator) -> FloatArray:
    return rng.choice([-1.0, 1.0], len(u))


def _square(u: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Uniform on a square that stands on its corner: uncorrelated, and not independent."""
    v = rng.uniform(-1.0, 1.0, len(u))
    return (u - v) / 2, (u + v) / 2


def _spiral(u: FloatArray, _: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    r = (u + 1) / 2
    return r * np.cos(4 * np.pi * r), r * np.sin(4 * np.pi * r)


SHAPES: dict[str, Shape] = {
    "independent": lambda u, rng: (u, rng.uniform(-1.0, 1.0, len(u))),
    "linear": lambda u, _: (u, u),
    "step": lambda u, _: (u, np.sign(u)),
    "quadratic": lambda u, _: (u, 2 * u**2 - 1),
    "cubic": lambda u, _: (u, 4 * u**3 - 3 * u),
    "w": lambda u, _: (u, 8 * u**4 - 8 * u**2 + 1),
    "sine": lambda u, _: (u, np.sin(4 * np.pi * u)),
    "absolute": lambda u, _: (u, 2 * np.abs(u) - 1),
    "circle": lambda u, _: (np.cos(np.pi * u), np.sin(np.pi * u)),
    "cross": lambda u, rng: (u, u * _sign(u, rng)),
    "square": _square,
    "spiral": _spiral,
    "two_parabolas": lambda u, rng: (u, u**2 * _sign(u, rng)),
    "variance": lambda u, rng: (u, np.abs(u) * rng.standard_normal(len(u))),
    "four_clouds": lambda u, rng: (np.sign(u), _sign(u, rng)),
}


@dataset(
    kind="simulated",
    title="Dependence of two variables in one of many shapes",
    n=200,
    p=2,
    reference="@vogelstein2019; scales are ours.",
)
def dependence(n: int, rng: np.random.Generator, *, shape: Any = "circle", noise: float = 0.1) -> Draw:
    """Two variables (x, y) that lie on a curve or in a region, plus noise.

    The shapes, with u uniform on [-1, 1]: "linear" (u, u), "step" (u, sign u), "quadratic" (u, 2u^2 - 1), "cubic" (u,
    4u^3 - 3u), "w" (u, 8u^4 - 8u^2 + 1), "sine" (u, sin 4 pi u), "absolute" (u, 2|u| - 1), "circle" (cos pi u, sin pi
    u), "cross" (u, +-u), "square" (uniform on a square rotated by 45 degrees), "spiral" (two turns), "two_parabolas"
    (u, +-u^2), "variance" (u, |u| times a normal variable). "independent" and "four_clouds" (the corners of a square)
    are independent.

    Parameters
    ----------
    n : int
        Number of points.
    rng : Generator
        ``simulate`` makes it from ``random_state``.
    shape : str
        Name of the shape, as above.
    noise : float
        Standard deviation of normal noise added to x and to y (not to ``latent``).

    Returns
    -------
    Draw
        ``data`` (n, 2): x and y, the columns ``x`` and ``y``; ``latent`` (n, 1): u.

    Raises
    ------
    InputError
        If ``noise`` is negative or not finite.
    UnknownName
        If ``shape`` is not one of these names.

    See Also
    --------
    dreval.hsic_test : a test of independence of two variables.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> pair = dreval.simulate("dependence", n=500, random_state=0, shape="quadratic", noise=0.0)
    >>> x, y = pair.data.T
    >>> bool(abs(y - 2 * x**2 + 1).max() < 1e-12)
    True
    """
    make = SHAPES[check_one_of(shape, SHAPES, "shape", aliases=True)]
    u = rng.uniform(-1.0, 1.0, n)
    points = np.column_stack(make(u, rng))
    return Draw(add_noise(points, noise, rng), latent=u[:, None], feature_names=("x", "y"))
