"""A latent variable of two dimensions mapped to Gaussian bumps, a model of place cells."""

from __future__ import annotations

import numpy as np

from dreval._check import check_int
from dreval.datasets._dataset import Draw, dataset
from dreval.datasets._shapes import add_noise, slow_latent


@dataset(
    kind="simulated",
    title="Gaussian-bump map of a slow latent",
    n=1000,
    p=100,
    reference="@li2022, Section 3.1, Eq. 16 and 19.",
)
def bump_map(n: int, rng: np.random.Generator, *, noise: float = 0.05, n_features: int = 100) -> Draw:
    r"""A latent variable of two dimensions mapped to Gaussian bumps, a model of place cells.

    z is a stationary Gaussian process in time, :math:`\mathrm{Cov}(z_i, z_j) = 6 \exp(-|i - j| / 5)`, in both
    coordinates, and :math:`x = 20 \exp(-|z - c|^2)` with centers c drawn, with replacement, from the 100 x 100 points
    of a regular grid on [-6, 6]^2, one for every feature.

    Parameters
    ----------
    n : int
        Number of points, successive times.
    rng : Generator
        ``simulate`` makes it from ``random_state``.
    noise : float
        Standard deviation of normal noise added to each coordinate of ``data`` (not of ``latent``).
    n_features : int
        Dimension p of the space (N in the paper: 10 to 500).

    Returns
    -------
    Draw
        ``data`` (n, p); ``latent`` (n, 2): z.

    Raises
    ------
    InputError
        If ``noise`` is negative or ``n_features`` below 1.

    See Also
    --------
    dreval.datasets.gp_map.gp_map : features drawn from a Gaussian process.
    dreval.datasets.sine_map.sine_map : sine waves of a latent of one dimension.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> dreval.simulate("bump_map", n=50, random_state=0)
    <Dataset bump_map: 50 points in 100 dimensions, latent of 2 dimensions>
    """
    p = check_int(n_features, "n_features", low=1)
    latent = slow_latent(n, 2, rng)
    centers = np.linspace(-6.0, 6.0, 100)[rng.integers(0, 100, (p, 2))]
    squares = ((latent[:, None, :] - centers[None, :, :]) ** 2).sum(axis=2)
    return Draw(add_noise(20.0 * np.exp(-squares), noise, rng), latent=latent)
