"""Set-up S3: points near the unit sphere."""

from __future__ import annotations

import numpy as np

from dreval.datasets._dataset import Draw, dataset
from dreval.datasets._shapes import add_noise, directions


@dataset(
    kind="simulated",
    title="S3: near the unit sphere",
    n=200,
    p=3,
    reference="@roy2021, Tables 1 and 2, set-up S3.",
)
def s3(n: int, rng: np.random.Generator, *, noise: float = 0.05) -> Draw:
    """Uniform points of the unit sphere in R^3 plus normal noise.

    The paper says "approximately on the surface of the unit sphere" only; the noise is ours.

    Parameters
    ----------
    n : int
        Number of points.
    rng : Generator
        ``simulate`` makes it from ``random_state``.
    noise : float
        Standard deviation of the noise in each coordinate of ``data`` (not of ``latent``).

    Returns
    -------
    Draw
        ``data`` (n, 3); ``latent`` (n, 3): the points of the sphere before the noise.

    Raises
    ------
    InputError
        If ``noise`` is negative or not finite.

    See Also
    --------
    dreval.datasets.sphere.sphere : the sphere without noise, in any dimension.
    dreval.datasets.s4.s4 : the fourth setup of the same tables.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> dreval.simulate("s3", random_state=0)
    <Dataset s3: 200 points in 3 dimensions, latent of 3 dimensions>
    """
    unit = directions(n, 3, rng)
    return Draw(add_noise(unit, noise, rng), latent=unit)
