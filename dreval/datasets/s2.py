"""Setup S2: the uniform distribution on the ten-dimensional cube, which has no structure to find."""

from __future__ import annotations

import numpy as np

from dreval.datasets._dataset import Draw, dataset


@dataset(
    kind="simulated",
    title="S2: uniform on the ten-dimensional cube",
    n=200,
    p=10,
    reference="@roy2021, Tables 1 and 2, set-up S2.",
)
def s2(n: int, rng: np.random.Generator) -> Draw:
    """Independent uniform points on [0, 1]^10: density 1 on the cube.

    Parameters
    ----------
    n : int
        Number of points.
    rng : Generator
        ``simulate`` makes it from ``random_state``.

    Returns
    -------
    Draw
        ``data`` (n, 10); ``latent`` (n, 10): the data themselves, since they have no simpler latent structure.

    See Also
    --------
    dreval.datasets.s1.s1 : the first setup of the same tables.
    dreval.datasets.s3.s3 : the third setup.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> dreval.simulate("s2", random_state=0)
    <Dataset s2: 200 points in 10 dimensions, latent of 10 dimensions>
    """
    points = rng.uniform(size=(n, 10))
    return Draw(points, latent=points.copy())
