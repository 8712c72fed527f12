"""A latent of three dimensions mapped to each feature by a draw from a Gaussian process."""

from __future__ import annotations

import numpy as np

from dreval._check import check_int
from dreval.datasets._dataset import Draw, dataset
from dreval.datasets._shapes import add_noise, check_positive, slow_latent


@dataset(
    kind="simulated",
    title="Gaussian-process map of a slow latent",
    n=1000,
    p=100,
    reference="@li2022, Section 3.1, Eq. 1, 16 and 17.",
)
def gp_map(
    n: int, rng: np.random.Generator, *, noise: float = 0.05, n_features: int = 100, bandwidth: float = 3.0
) -> Draw:
    r"""A latent of three dimensions mapped to each feature by a draw from a Gaussian process.

    z is a stationary Gaussian process in time, :math:`\mathrm{Cov}(z_i, z_j) = 6 \exp(-|i - j| / 5)`, independent in
    its three coordinates; each feature is normal with mean 0 and covariance :math:`\exp(-|z_i - z_j|^2 / (2 l^2))` over
    the points. O(n^3) time, O(n^2) memory.

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
    bandwidth : float
        Length-scale l of the kernel of the map, in the unit of the latent.

    Returns
    -------
    Draw
        ``data`` (n, p); ``latent`` (n, 3): z.

    Raises
    ------
    InputError
        If ``noise`` is negative or ``n_features`` below 1, or ``bandwidth`` not above 0.

    See Also
    --------
    dreval.datasets.bump_map.bump_map : Gaussian bumps of a latent of two dimensions.
    dreval.datasets.sine_map.sine_map : sine waves of a latent of one dimension.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> dreval.simulate("gp_map", n=50, random_state=0)
    <Dataset gp_map: 50 points in 100 dimensions, latent of 3 dimensions>
    """
    p, scale = check_int(n_features, "n_features", low=1), check_positive(bandwidth, "bandwidth")
    latent = slow_latent(n, 3, rng)
    squares = ((latent[:, None, :] - latent[None, :, :]) ** 2).sum(axis=2)
    values, vectors = np.linalg.eigh(np.exp(-squares / (2.0 * scale**2)))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return Draw(add_noise(root @ rng.standard_normal((n, p)), noise, rng), latent=latent)
