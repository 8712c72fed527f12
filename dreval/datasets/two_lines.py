"""Two long linear clusters."""

from __future__ import annotations

import numpy as np

from dreval.datasets._dataset import Draw, dataset
from dreval.datasets._shapes import add_noise, check_positive


@dataset(
    kind="simulated",
    title="Two long linear clusters",
    n=200,
    p=2,
    reference="@roy2021, Figure 16.",
)
def two_lines(
    n: int, rng: np.random.Generator, *, noise: float = 1.0, length: float = 100.0, gap: float = 10.0
) -> Draw:
    """Two long parallel clusters in the plane: a straight line between them separates the classes.

    x = (s, 0) for the first and (s, gap) for the second class, s uniform on [0, length], plus noise. The dimension
    across the clusters separates the classes, the one along them holds nearly all variance. The paper shows a figure
    only; sizes are ours.

    Parameters
    ----------
    n : int
        Number of points; the first cluster takes the odd one.
    rng : Generator
        ``simulate`` makes it from ``random_state``.
    noise : float
        Standard deviation of normal noise added to each coordinate of ``data`` (not of ``latent``).
    length : float
        Length of the clusters.
    gap : float
        Distance between their axes.

    Returns
    -------
    Draw
        ``data`` (n, 2); ``labels`` (n,) 0 and 1; ``latent`` (n, 2): the point of its axis, before the noise.

    Raises
    ------
    InputError
        If ``noise`` is negative, or ``length`` or ``gap`` is not above 0.

    See Also
    --------
    dreval.datasets.stacked_gaussians.stacked_gaussians : the same with three classes in space.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> lines = dreval.simulate("two_lines", random_state=0)
    >>> [int(lines.data[lines.labels == c, 1].mean().round()) for c in (0, 1)]
    [0, 10]
    """
    long, apart = check_positive(length, "length"), check_positive(gap, "gap")
    labels = np.sort(np.arange(n) % 2)
    axis = np.column_stack([rng.uniform(0.0, long, n), apart * labels])
    return Draw(add_noise(axis, noise, rng), labels=labels, latent=axis)
