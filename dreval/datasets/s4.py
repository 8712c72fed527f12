"""Set-up S4: points near a Swiss roll."""

from __future__ import annotations

import numpy as np

from dreval.datasets._dataset import Draw, dataset
from dreval.datasets._shapes import add_noise, roll


@dataset(
    kind="simulated",
    title="S4: near a Swiss roll",
    n=200,
    p=3,
    reference="@roy2021, Tables 1 and 2, set-up S4.",
)
def s4(n: int, rng: np.random.Generator, *, noise: float = 0.2) -> Draw:
    """The Swiss roll, uniform in arc length and height, plus normal noise.

    The paper says "approximately on a swiss roll" only; the noise is ours, the roll is that of ``swiss_roll``.

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
        ``data`` (n, 3); ``latent`` (n, 2): arc length and height before the noise.

    Raises
    ------
    InputError
        If ``noise`` is negative or not finite.

    See Also
    --------
    dreval.datasets.swiss_roll.swiss_roll : the same surface without noise.
    dreval.datasets.s3.s3 : the third setup of the same tables.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> dreval.simulate("s4", random_state=0)
    <Dataset s4: 200 points in 3 dimensions, latent of 2 dimensions>
    """
    points, latent = roll(n, "arc", rng)
    return Draw(add_noise(points, noise, rng), latent=latent)
