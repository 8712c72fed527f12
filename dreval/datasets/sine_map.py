"""A latent of one dimension mapped to sine waves of random frequency and phase."""

from __future__ import annotations

import numpy as np

from dreval._check import check_int
from dreval.datasets._dataset import Draw, dataset
from dreval.datasets._shapes import add_noise, slow_latent


@dataset(
    kind="simulated",
    title="Sinusoidal map of a slow latent",
    n=1000,
    p=100,
    reference="@li2022, Section 3.1, Eq. 16 and 18.",
)
def sine_map(n: int, rng: np.random.Generator, *, noise: float = 0.1, n_features: int = 100) -> Draw:
    r"""A latent of one dimension mapped to sine waves of random frequency and phase.

    z is a stationary Gaussian process in time, :math:`\mathrm{Cov}(z_i, z_j) = 6 \exp(-|i - j| / 5)`, and :math:`x =
    \sin(w z + f)` with w uniform on (-1, 1) and f uniform on :math:`(-\pi, \pi)`, one of each for every feature.

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
        ``data`` (n, p); ``latent`` (n, 1): z.

    Raises
    ------
    InputError
        If ``noise`` is negative or ``n_features`` below 1.

    See Also
    --------
    dreval.datasets.bump_map.bump_map : Gaussian bumps of a latent of two dimensions.
    dreval.datasets.gp_map.gp_map : features drawn from a Gaussian process.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> dreval.simulate("sine_map", n=50, random_state=0)
    <Dataset sine_map: 50 points in 100 dimensions, latent of 1 dimensions>
    """
    p = check_int(n_features, "n_features", low=1)
    latent = slow_latent(n, 1, rng)
    frequency, phase = rng.uniform(-1.0, 1.0, (1, p)), rng.uniform(-np.pi, np.pi, p)
    return Draw(add_noise(np.sin(latent @ frequency + phase), noise, rng), latent=latent)
