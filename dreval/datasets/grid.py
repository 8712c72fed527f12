"""A square grid."""

from __future__ import annotations

import numpy as np

from dreval.datasets._dataset import Draw, dataset
from dreval.datasets._shapes import add_noise


@dataset(
    kind="simulated",
    title="Square grid",
    n=400,
    p=2,
    reference="@roy2021, Figure 14.",
)
def grid(n: int, rng: np.random.Generator, *, noise: float = 0.05) -> Draw:
    """The points of a square grid with spacing 1, each with a small displacement.

    Rows of ceil(sqrt(n)) places, filled from the first; the last row may be short. Without noise nearly all distances
    are tied. The paper shows a figure only.

    Parameters
    ----------
    n : int
        Number of points.
    rng : Generator
        ``simulate`` makes it from ``random_state``.
    noise : float
        Standard deviation of normal noise added to each coordinate of ``data`` (not of ``latent``);
        without it every draw is the same.

    Returns
    -------
    Draw
        ``data`` (n, 2); ``latent`` (n, 2): the grid points, column and row, without the displacement.

    Raises
    ------
    InputError
        If ``noise`` is negative or not finite.

    See Also
    --------
    dreval.datasets.s2.s2 : uniform points on a cube.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> dreval.simulate("grid", n=6, random_state=0).latent.tolist()
    [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 1.0]]
    """
    side = int(np.ceil(np.sqrt(n)))
    places = np.column_stack([np.arange(n) % side, np.arange(n) // side]).astype(np.float64)
    return Draw(add_noise(places, noise, rng), latent=places)
