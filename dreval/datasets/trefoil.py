"""The trefoil knot."""

from __future__ import annotations

import numpy as np

from dreval.datasets._dataset import Draw, dataset
from dreval.datasets._shapes import add_noise


@dataset(
    kind="simulated",
    title="Trefoil knot",
    n=200,
    p=3,
    reference="@roy2021, Figure 24.",
)
def trefoil(n: int, rng: np.random.Generator, *, noise: float = 0.0) -> Draw:
    r"""The trefoil knot :math:`x = (\sin t + 2 \sin 2t, \cos t - 2 \cos 2t, -\sin 3t)`.

    A closed curve that cannot be untied; t is uniform on :math:`[0, 2\pi)`. An embedding in the plane must cross itself
    or cut the curve. The paper shows a figure only.

    Parameters
    ----------
    n : int
        Number of points.
    rng : Generator
        ``simulate`` makes it from ``random_state``.
    noise : float
        Standard deviation of normal noise added to each coordinate of ``data`` (not of ``latent``).

    Returns
    -------
    Draw
        ``data`` (n, 3); ``latent`` (n, 2): cos t and sin t, in which the curve is a circle.

    Raises
    ------
    InputError
        If ``noise`` is negative or not finite.

    See Also
    --------
    dreval.datasets.linked_circles.linked_circles : two closed curves that are linked.
    dreval.datasets.spiral.spiral : an open curve in the plane.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> dreval.simulate("trefoil", random_state=0)
    <Dataset trefoil: 200 points in 3 dimensions, latent of 2 dimensions>
    """
    t = rng.uniform(0.0, 2.0 * np.pi, n)
    points = np.column_stack([np.sin(t) + 2 * np.sin(2 * t), np.cos(t) - 2 * np.cos(2 * t), -np.sin(3 * t)])
    return Draw(add_noise(points, noise, rng), latent=np.column_stack([np.cos(t), np.sin(t)]))
