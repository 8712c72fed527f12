"""The Swiss roll: a rectangle rolled up, isometric to the plane."""

from __future__ import annotations

from typing import Any

import numpy as np

from dreval.datasets._dataset import Draw, dataset
from dreval.datasets._shapes import add_noise, roll


@dataset(
    kind="simulated",
    title="Swiss roll",
    n=1600,
    p=3,
    reference="@goldberg2009, Table 1.",
)
def swiss_roll(n: int, rng: np.random.Generator, *, noise: float = 0.0, spacing: Any = "arc") -> Draw:
    r"""The Swiss roll :math:`x = (t \cos t, h, t \sin t)`, t from :math:`3\pi/2` to :math:`9\pi/2`, h from 0 to 21.

    A rectangle of about 90 by 21 rolled up without stretching: straight-line distances are misleading between the
    turns, which are :math:`2\pi` apart, and a good embedding unrolls it.

    Parameters
    ----------
    n : int
        Number of points.
    rng : Generator
        ``simulate`` makes it from ``random_state``.
    noise : float
        Standard deviation of normal noise added to each coordinate of ``data`` (not of ``latent``).
    spacing : {"arc", "t"}
        "arc": uniform in arc length, so uniform on the surface (the density of a point is 1 / area everywhere).
        "t": uniform in the angle t, as most tools draw it: the outer turns are sparser, density proportional to
        :math:`1/\sqrt{1+t^2}`, and graphs of 12 or more neighbors may join turns.

    Returns
    -------
    Draw
        ``data`` (n, 3); ``latent`` (n, 2): arc length from the inner edge,
        :math:`s(t) - s(3\pi/2)` with :math:`s(t) = (t\sqrt{1+t^2} + \operatorname{asinh} t)/2`, and height. Distances
        along the noise-free surface are Euclidean distances of ``latent``.

    Raises
    ------
    InputError
        If ``noise`` is negative or not finite.
    UnknownName
        If ``spacing`` is another word.

    See Also
    --------
    dreval.datasets.s4.s4 : the same surface with noise.
    dreval.datasets.spiral.spiral : the curve in the plane.
    dreval.datasets.cylinder.cylinder : a flat surface that is closed.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> roll = dreval.simulate("swiss_roll", n=1600, random_state=0)
    >>> roll.latent.max(axis=0).round(1)
    array([89.4, 21. ])
    """
    points, latent = roll(n, spacing, rng)
    return Draw(add_noise(points, noise, rng), latent=latent)
