"""Simulated data with their true latent coordinates; each function draws one shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray, check_float, check_int, check_one_of
from dreval.datasets._dataset import Draw, dataset
from dreval.errors import InputError

ROLL_ANGLES = (1.5 * np.pi, 4.5 * np.pi)
ROLL_HEIGHT = 21.0


def check_positive(value: Any, argument: str) -> float:
    """Return a finite number above 0."""
    number = check_float(value, argument, low=0.0)
    if number == 0.0:
        raise InputError(argument, "must be above 0", "0", "Choose a positive number, such as 1.")
    return number


def add_noise(points: FloatArray, noise: Any, rng: np.random.Generator) -> FloatArray:
    """Return points plus independent normal noise of this standard deviation in each coordinate."""
    sd = check_float(noise, "noise", low=0.0)
    return points + sd * rng.standard_normal(points.shape)


def _arc_length(t: FloatArray | float) -> Any:
    """Return the length of the spiral (t cos t, t sin t) from 0 to t: (t sqrt(1 + t^2) + asinh t) / 2."""
    return 0.5 * (t * np.sqrt(1.0 + np.square(t)) + np.arcsinh(t))


def _angle_at(arc: FloatArray) -> FloatArray:
    """Return the angle at which the spiral has this length, by Newton's method (it converges: the length is convex)."""
    t = np.sqrt(2.0 * arc)
    for _ in range(50):
        step = (_arc_length(t) - arc) / np.sqrt(1.0 + np.square(t))
        t = np.maximum(t - step, 0.0)
        if np.all(np.abs(step) <= 1e-14 * (1.0 + t)):
            break
    return t


def spiral_angles(
    n: int, low: float, high: float, spacing: Any, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Draw angles in [low, high], uniform in arc length ("arc") or angle ("t"), and return them with arc lengths."""
    start, u = _arc_length(low), rng.uniform(size=n)
    if check_one_of(spacing, ("arc", "t"), "spacing", aliases=True) == "t":
        t = low + (high - low) * u
        return t, _arc_length(t) - start
    arc = u * (_arc_length(high) - start)
    return _angle_at(start + arc), arc


def roll(n: int, spacing: Any, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Draw points of the Swiss roll (n, 3) and their isometric coordinates (n, 2): arc length and height."""
    t, arc = spiral_angles(n, *ROLL_ANGLES, spacing, rng)
    height = rng.uniform(0.0, ROLL_HEIGHT, n)
    return np.column_stack([t * np.cos(t), height, t * np.sin(t)]), np.column_stack([arc, height])


def directions(n: int, p: int, rng: np.random.Generator) -> FloatArray:
    """Draw points uniform on the unit sphere of R^p."""
    normal = rng.standard_normal((n, p))
    return normal / np.linalg.norm(normal, axis=1, keepdims=True)


def clusters(centers: FloatArray, n: int, rng: np.random.Generator) -> tuple[FloatArray, npt.NDArray[np.int64]]:
    """Draw normal points of unit covariance about the centers (c, p), and classes whose sizes differ by at most 1."""
    labels = np.sort(np.arange(n) % len(centers))
    return centers[labels] + rng.standard_normal((n, centers.shape[1])), labels


def two_circles(n: int, apart: float, rng: np.random.Generator) -> tuple[FloatArray, npt.NDArray[np.int64], FloatArray]:
    """Draw unit circles in z = 0 about 0 and in y = 0 about (apart, 0, 0); return points, classes, cosine and sine."""
    labels = np.sort(np.arange(n) % 2)
    angle = rng.uniform(0.0, 2.0 * np.pi, n)
    c, s, is_second = np.cos(angle), np.sin(angle), labels == 1
    points = np.column_stack([c + apart * labels, np.where(is_second, 0.0, s), np.where(is_second, s, 0.0)])
    return points, labels, np.column_stack([c, s])


def slow_latent(n: int, q: int, rng: np.random.Generator) -> FloatArray:
    """Draw a stationary Gaussian series (n, q) with covariance 6 exp(-|i - j| / 5), as a first-order autoregression."""
    keep = np.exp(-1.0 / 5.0)
    series = np.sqrt(6.0) * rng.standard_normal((n, q))
    for i in range(1, n):
        series[i] = keep * series[i - 1] + np.sqrt(1.0 - keep**2) * series[i]
    return series


@dataset(
    origin="simulated",
    title="Gaussian-bump map of a slow latent",
    n=1000,
    p=100,
    reference="@li2022, Section 3.1, Eq. 16 and 19.",
)
def bump_map(n: int, rng: np.random.Generator, *, noise: float = 0.05, n_features: int = 100) -> Draw:
    r"""Draw a latent variable of two dimensions mapped to Gaussian bumps, a model of place cells.

    z is a stationary Gaussian process in time, :math:`\mathrm{Cov}(z_i, z_j) = 6 \exp(-|i - j| / 5)`, in both
    coordinates, and :math:`x = 20 \exp(-|z - c|^2)` with centers c drawn, with replacement, from the 100 x 100 points
    of a regular grid on [-6, 6]^2, one for every feature.

    Parameters
    ----------
    n : int
        Number of points, successive times.
    rng : Generator
        ``simulate`` creates it from ``random_state``.
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
    dreval.datasets.simulated.gp_map : features drawn from a Gaussian process.
    dreval.datasets.simulated.sine_map : sine waves of a latent of one dimension.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> dreval.simulate("bump_map", n=50, random_state=0)
    bump_map: 50 points in 100 columns, with 2 latent variables. ...
    """
    p = check_int(n_features, "n_features", low=1)
    latent = slow_latent(n, 2, rng)
    centers = np.linspace(-6.0, 6.0, 100)[rng.integers(0, 100, (p, 2))]
    squares = ((latent[:, None, :] - centers[None, :, :]) ** 2).sum(axis=2)
    return Draw(add_noise(20.0 * np.exp(-squares), noise, rng), latent=latent)


@dataset(
    origin="simulated",
    title="Clusters around a circle",
    n=400,
    p=3,
    reference="@roy2021, Figure 22.",
)
def circular_clusters(n: int, rng: np.random.Generator, *, n_clusters: int = 8, radius: float = 10.0) -> Draw:
    """Draw normal clusters of unit covariance with centers evenly spaced on a circle in space.

    All neighboring clusters have the same distance, so that an embedding that opens the circle tears two of them apart.
    The paper shows a figure only; number, radius and spread are ours.

    Parameters
    ----------
    n : int
        Number of points. The sizes of the clusters differ by at most 1.
    rng : Generator
        ``simulate`` creates it from ``random_state``.
    n_clusters : int
        Number of clusters.
    radius : float
        Radius of the circle, in standard deviations of a cluster.

    Returns
    -------
    Draw
        ``data`` (n, 3), cluster after cluster; ``labels`` (n,); ``latent`` (n, 2): the center of the point's
        cluster in the plane of the circle.

    Raises
    ------
    InputError
        If ``n_clusters`` is below 2 or ``radius`` is not above 0.

    See Also
    --------
    dreval.datasets.simulated.three_clusters : clusters on a line.
    dreval.datasets.simulated.localized_clusters : small clusters in a cube.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> dreval.simulate("circular_clusters", n=80, random_state=0)
    circular_clusters: 80 points in 3 columns, 8 classes, with 2 latent variables. ...
    """
    count, r = check_int(n_clusters, "n_clusters", low=2), check_positive(radius, "radius")
    angle = 2.0 * np.pi * np.arange(count) / count
    centers = r * np.column_stack([np.cos(angle), np.sin(angle), np.zeros(count)])
    points, labels = clusters(centers, n, rng)
    return Draw(points, labels=labels, latent=centers[labels, :2])


@dataset(
    origin="simulated",
    title="Cylinder",
    n=800,
    p=3,
    reference="@goldberg2009, Table 1.",
)
def cylinder(n: int, rng: np.random.Generator, *, noise: float = 0.0, radius: float = 1.0, height: float = 2.0) -> Draw:
    r"""Draw the lateral surface :math:`x = (r \cos a, r \sin a, h)` of a cylinder, uniform in area.

    Locally isometric to the plane, but closed: an embedding in the plane must cut it open or stretch one rim. The paper
    does not state radius and height, on which unscaled measures depend.

    Parameters
    ----------
    n : int
        Number of points.
    rng : Generator
        ``simulate`` creates it from ``random_state``.
    noise : float
        Standard deviation of normal noise added to each coordinate of ``data`` (not of ``latent``).
    radius : float
        Radius r; the angle a is uniform on [0, 2 pi).
    height : float
        Height; h is uniform on [0, height].

    Returns
    -------
    Draw
        ``data`` (n, 3); ``latent`` (n, 2): arc r a and height h. The arc is circular: 0 and 2 pi r are the same line.

    Raises
    ------
    InputError
        If ``noise`` is negative, or ``radius`` or ``height`` is not above 0.

    See Also
    --------
    dreval.datasets.simulated.swiss_roll : a flat surface with borders.
    dreval.datasets.simulated.hemisphere : a curved surface.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> data = dreval.simulate("cylinder", n=500, random_state=0).data
    >>> float((data[:, :2] ** 2).sum(axis=1).mean().round(12))
    1.0
    """
    r, tall = check_positive(radius, "radius"), check_positive(height, "height")
    angle, h = rng.uniform(0.0, 2.0 * np.pi, n), rng.uniform(0.0, tall, n)
    points = np.column_stack([r * np.cos(angle), r * np.sin(angle), h])
    return Draw(add_noise(points, noise, rng), latent=np.column_stack([r * angle, h]))


Shape = Callable[[FloatArray, np.random.Generator], tuple[FloatArray, FloatArray]]  # of (u, rng), u uniform on [-1, 1]


def _random_sign(u: FloatArray, rng: np.random.Generator) -> FloatArray:
    return rng.choice([-1.0, 1.0], len(u))


def _rotated_square(u: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return points uniform on a square with its corners on the axes: uncorrelated, but dependent."""
    v = rng.uniform(-1.0, 1.0, len(u))
    return (u - v) / 2, (u + v) / 2


def _spiral_curve(u: FloatArray, _: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    r = (u + 1) / 2
    return r * np.cos(4 * np.pi * r), r * np.sin(4 * np.pi * r)


DEPENDENCE_SHAPES: dict[str, Shape] = {
    "independent": lambda u, rng: (u, rng.uniform(-1.0, 1.0, len(u))),
    "linear": lambda u, _: (u, u),
    "step": lambda u, _: (u, np.sign(u)),
    "quadratic": lambda u, _: (u, 2 * u**2 - 1),
    "cubic": lambda u, _: (u, 4 * u**3 - 3 * u),
    "w": lambda u, _: (u, 8 * u**4 - 8 * u**2 + 1),
    "sine": lambda u, _: (u, np.sin(4 * np.pi * u)),
    "absolute": lambda u, _: (u, 2 * np.abs(u) - 1),
    "circle": lambda u, _: (np.cos(np.pi * u), np.sin(np.pi * u)),
    "cross": lambda u, rng: (u, u * _random_sign(u, rng)),
    "square": _rotated_square,
    "spiral": _spiral_curve,
    "two_parabolas": lambda u, rng: (u, u**2 * _random_sign(u, rng)),
    "variance": lambda u, rng: (u, np.abs(u) * rng.standard_normal(len(u))),
    "four_clouds": lambda u, rng: (np.sign(u), _random_sign(u, rng)),
}


@dataset(
    origin="simulated",
    title="Dependence of two variables in one of many shapes",
    n=200,
    p=2,
    reference="@vogelstein2019; scales are ours.",
)
def dependence(n: int, rng: np.random.Generator, *, shape: Any = "circle", noise: float = 0.1) -> Draw:
    """Draw two variables (x, y) that lie on a curve or in a region, plus noise.

    The shapes, with u uniform on [-1, 1]: "linear" (u, u), "step" (u, sign u), "quadratic" (u, 2u^2 - 1), "cubic" (u,
    4u^3 - 3u), "w" (u, 8u^4 - 8u^2 + 1), "sine" (u, sin 4 pi u), "absolute" (u, 2|u| - 1), "circle" (cos pi u, sin pi
    u), "cross" (u, +-u), "square" (uniform on a square rotated by 45 degrees), "spiral" (two turns), "two_parabolas"
    (u, +-u^2), "variance" (u, |u| times a normal variable). "independent" and "four_clouds" (the corners of a square)
    are independent.

    Parameters
    ----------
    n : int
        Number of points.
    rng : Generator
        ``simulate`` creates it from ``random_state``.
    shape : str
        Name of the shape, as above.
    noise : float
        Standard deviation of normal noise added to x and to y (not to ``latent``).

    Returns
    -------
    Draw
        ``data`` (n, 2): x and y, the columns ``x`` and ``y``; ``latent`` (n, 1): u.

    Raises
    ------
    InputError
        If ``noise`` is negative or not finite.
    UnknownName
        If ``shape`` is not one of these names.

    See Also
    --------
    dreval.hsic_test : a test of independence of two variables.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> pair = dreval.simulate("dependence", n=500, random_state=0, shape="quadratic", noise=0.0)
    >>> x, y = pair.data.T
    >>> bool(abs(y - 2 * x**2 + 1).max() < 1e-12)
    True
    """
    make = DEPENDENCE_SHAPES[check_one_of(shape, DEPENDENCE_SHAPES, "shape", aliases=True)]
    u = rng.uniform(-1.0, 1.0, n)
    points = np.column_stack(make(u, rng))
    return Draw(add_noise(points, noise, rng), latent=u[:, None], feature_names=("x", "y"))


@dataset(
    origin="simulated",
    title="Gaussian-process map of a slow latent",
    n=1000,
    p=100,
    reference="@li2022, Section 3.1, Eq. 1, 16 and 17.",
)
def gp_map(
    n: int, rng: np.random.Generator, *, noise: float = 0.05, n_features: int = 100, bandwidth: float = 3.0
) -> Draw:
    r"""Draw a latent of three dimensions mapped to each feature by a draw from a Gaussian process.

    z is a stationary Gaussian process in time, :math:`\mathrm{Cov}(z_i, z_j) = 6 \exp(-|i - j| / 5)`, independent in
    its three coordinates; each feature is normal with mean 0 and covariance :math:`\exp(-|z_i - z_j|^2 / (2 l^2))` over
    the points. O(n^3) time, O(n^2) memory.

    Parameters
    ----------
    n : int
        Number of points, successive times.
    rng : Generator
        ``simulate`` creates it from ``random_state``.
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
    dreval.datasets.simulated.bump_map : Gaussian bumps of a latent of two dimensions.
    dreval.datasets.simulated.sine_map : sine waves of a latent of one dimension.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> dreval.simulate("gp_map", n=50, random_state=0)
    gp_map: 50 points in 100 columns, with 3 latent variables. ...
    """
    p, scale = check_int(n_features, "n_features", low=1), check_positive(bandwidth, "bandwidth")
    latent = slow_latent(n, 3, rng)
    squares = ((latent[:, None, :] - latent[None, :, :]) ** 2).sum(axis=2)
    values, vectors = np.linalg.eigh(np.exp(-squares / (2.0 * scale**2)))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return Draw(add_noise(root @ rng.standard_normal((n, p)), noise, rng), latent=latent)


@dataset(
    origin="simulated",
    title="Square grid",
    n=400,
    p=2,
    reference="@roy2021, Figure 14.",
)
def grid(n: int, rng: np.random.Generator, *, noise: float = 0.05) -> Draw:
    """Draw the points of a square grid with spacing 1, each with a small displacement.

    Rows of ceil(sqrt(n)) places, filled from the first; the last row may be short. Without noise nearly all distances
    are tied. The paper shows a figure only.

    Parameters
    ----------
    n : int
        Number of points.
    rng : Generator
        ``simulate`` creates it from ``random_state``.
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
    dreval.datasets.simulated.s2 : uniform points on a cube.

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


@dataset(
    origin="simulated",
    title="Hemisphere",
    n=2500,
    p=3,
    reference="@goldberg2009, Table 1.",
)
def hemisphere(n: int, rng: np.random.Generator, *, noise: float = 0.0, radius: float = 1.0) -> Draw:
    """Draw the half z >= 0 of a sphere, uniform in area.

    One chart covers it, but none is isometric: even the best embedding in the plane distorts. The paper does not state
    the radius, on which unscaled measures depend.

    Parameters
    ----------
    n : int
        Number of points.
    rng : Generator
        ``simulate`` creates it from ``random_state``.
    noise : float
        Standard deviation of normal noise added to each coordinate of ``data`` (not of ``latent``).
    radius : float
        Radius r of the sphere. By Archimedes' theorem the height z is uniform on [0, r] and the longitude on
        [0, 2 pi), so the density of a point is 1 / (2 pi r^2) everywhere.

    Returns
    -------
    Draw
        ``data`` (n, 3); ``latent`` (n, 2): the azimuthal equidistant chart, r a (cos l, sin l) for a point at angle a
        from the pole and longitude l; its distance from the origin is the geodesic distance from the pole.

    Raises
    ------
    InputError
        If ``noise`` is negative or ``radius`` is not above 0.

    See Also
    --------
    dreval.datasets.simulated.sphere : the whole sphere, in any dimension.
    dreval.datasets.simulated.cylinder : a closed surface that is locally flat.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> data = dreval.simulate("hemisphere", n=500, random_state=0, radius=2).data
    >>> float((data**2).sum(axis=1).mean().round(12)), bool((data[:, 2] >= 0).all())
    (4.0, True)
    """
    r = check_positive(radius, "radius")
    z, longitude = rng.uniform(size=n), rng.uniform(0.0, 2.0 * np.pi, n)
    around = np.column_stack([np.cos(longitude), np.sin(longitude)])
    points = r * np.column_stack([np.sqrt(1.0 - z**2)[:, None] * around, z])
    return Draw(add_noise(points, noise, rng), latent=r * np.arccos(z)[:, None] * around)


@dataset(
    origin="simulated",
    title="Two linked circles",
    n=200,
    p=3,
    reference="@roy2021, Figure 18.",
)
def linked_circles(n: int, rng: np.random.Generator, *, noise: float = 0.0) -> Draw:
    r"""Draw two linked unit circles in space: neither can be pulled off the other without cutting it.

    The circles :math:`(\cos a, \sin a, 0)` and :math:`(1 + \cos a, 0, \sin a)`; each passes through the other's center.
    No embedding in the plane shows both without a crossing or a cut. The paper shows a figure only; sizes are ours.

    Parameters
    ----------
    n : int
        Number of points; the first circle takes the odd one.
    rng : Generator
        ``simulate`` creates it from ``random_state``.
    noise : float
        Standard deviation of normal noise added to each coordinate of ``data`` (not of ``latent``).

    Returns
    -------
    Draw
        ``data`` (n, 3); ``labels`` (n,) 0 and 1, the circle; ``latent`` (n, 2): the cosine and sine of the angle on the
        point's own circle.

    Raises
    ------
    InputError
        If ``noise`` is negative or not finite.

    See Also
    --------
    dreval.datasets.simulated.unlinked_circles : the same circles apart from each other.
    dreval.datasets.simulated.trefoil : one closed curve with a knot.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> circles = dreval.simulate("linked_circles", n=100, random_state=0)
    >>> circles
    linked_circles: 100 points in 3 columns, 2 classes, with 2 latent variables. ...
    """
    points, labels, latent = two_circles(n, 1.0, rng)
    return Draw(add_noise(points, noise, rng), labels=labels, latent=latent)


@dataset(
    origin="simulated",
    title="Localized clusters in a cube",
    n=500,
    p=3,
    reference="none: defined here; the opposite of a manifold, structure that is local only.",
)
def localized_clusters(
    n: int, rng: np.random.Generator, *, n_clusters: int = 10, n_features: int = 3, spread: float = 0.02
) -> Draw:
    """Draw small normal clusters about centers that are uniform in the unit cube.

    Within a cluster there is no structure, between clusters only that of the centers, so that local and global measures
    assess different things in these data.

    Parameters
    ----------
    n : int
        Number of points. The sizes of the clusters differ by at most 1.
    rng : Generator
        ``simulate`` creates it from ``random_state``.
    n_clusters : int
        Number of clusters.
    n_features : int
        Dimension p of the cube.
    spread : float
        Standard deviation of a cluster in each coordinate.

    Returns
    -------
    Draw
        ``data`` (n, p), cluster after cluster; ``labels`` (n,); ``latent`` (n, p): the center of the point's cluster.

    Raises
    ------
    InputError
        If ``n_clusters`` is below 2, ``n_features`` below 1, or ``spread`` not above 0.

    See Also
    --------
    dreval.datasets.simulated.s1 : clusters of unit covariance with random centers.
    dreval.datasets.simulated.circular_clusters : clusters on a circle.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> dreval.simulate("localized_clusters", n=100, random_state=0)
    localized_clusters: 100 points in 3 columns, 10 classes, with 3 latent variables. ...
    """
    count, p = check_int(n_clusters, "n_clusters", low=2), check_int(n_features, "n_features", low=1)
    sd, centers = check_positive(spread, "spread"), rng.uniform(size=(count, p))
    points, labels = clusters(centers / sd, n, rng)
    return Draw(sd * points, labels=labels, latent=centers[labels])


@dataset(
    origin="simulated",
    title="S1: three Gaussian clusters in ten dimensions",
    n=200,
    p=10,
    reference="@roy2021, Tables 1 and 2, set-up S1.",
)
def s1(n: int, rng: np.random.Generator) -> Draw:
    """Draw three normal clusters of unit covariance in R^10 whose centers are drawn from N(0, 25 I).

    The paper says "different location and common covariance matrix" only; the numbers are ours.

    Parameters
    ----------
    n : int
        Number of points. The clusters have n / 3 points each; the first ones take the remainder.
    rng : Generator
        ``simulate`` creates it from ``random_state``; each seed draws other centers.

    Returns
    -------
    Draw
        ``data`` (n, 10), cluster after cluster; ``labels`` (n,) 0, 1, 2; ``latent`` (n, 10): the center of the point's
        cluster.

    See Also
    --------
    dreval.datasets.simulated.s2 : the second setup of the same tables.
    dreval.datasets.simulated.three_clusters : clusters with fixed centers.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> dreval.simulate("s1", random_state=0)
    s1: 200 points in 10 columns, 3 classes, with 10 latent variables. ...
    """
    centers = 5.0 * rng.standard_normal((3, 10))
    points, labels = clusters(centers, n, rng)
    return Draw(points, labels=labels, latent=centers[labels])


@dataset(
    origin="simulated",
    title="S2: uniform on the ten-dimensional cube",
    n=200,
    p=10,
    reference="@roy2021, Tables 1 and 2, set-up S2.",
)
def s2(n: int, rng: np.random.Generator) -> Draw:
    """Draw independent uniform points on [0, 1]^10: density 1 on the cube.

    Parameters
    ----------
    n : int
        Number of points.
    rng : Generator
        ``simulate`` creates it from ``random_state``.

    Returns
    -------
    Draw
        ``data`` (n, 10); ``latent`` (n, 10): the data themselves, since they have no simpler latent structure.

    See Also
    --------
    dreval.datasets.simulated.s1 : the first setup of the same tables.
    dreval.datasets.simulated.s3 : the third setup.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> dreval.simulate("s2", random_state=0)
    s2: 200 points in 10 columns, with 10 latent variables. ...
    """
    points = rng.uniform(size=(n, 10))
    return Draw(points, latent=points.copy())


@dataset(
    origin="simulated",
    title="S3: near the unit sphere",
    n=200,
    p=3,
    reference="@roy2021, Tables 1 and 2, set-up S3.",
)
def s3(n: int, rng: np.random.Generator, *, noise: float = 0.05) -> Draw:
    """Draw uniform points of the unit sphere in R^3 plus normal noise.

    The paper says "approximately on the surface of the unit sphere" only; the noise is ours.

    Parameters
    ----------
    n : int
        Number of points.
    rng : Generator
        ``simulate`` creates it from ``random_state``.
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
    dreval.datasets.simulated.sphere : the sphere without noise, in any dimension.
    dreval.datasets.simulated.s4 : the fourth setup of the same tables.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> dreval.simulate("s3", random_state=0)
    s3: 200 points in 3 columns, with 3 latent variables. ...
    """
    unit = directions(n, 3, rng)
    return Draw(add_noise(unit, noise, rng), latent=unit)


@dataset(
    origin="simulated",
    title="S4: near a Swiss roll",
    n=200,
    p=3,
    reference="@roy2021, Tables 1 and 2, set-up S4.",
)
def s4(n: int, rng: np.random.Generator, *, noise: float = 0.2) -> Draw:
    """Draw the Swiss roll, uniform in arc length and height, plus normal noise.

    The paper says "approximately on a swiss roll" only; the noise is ours, the roll is that of ``swiss_roll``.

    Parameters
    ----------
    n : int
        Number of points.
    rng : Generator
        ``simulate`` creates it from ``random_state``.
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
    dreval.datasets.simulated.swiss_roll : the same surface without noise.
    dreval.datasets.simulated.s3 : the third setup of the same tables.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> dreval.simulate("s4", random_state=0)
    s4: 200 points in 3 columns, with 2 latent variables. ...
    """
    points, latent = roll(n, "arc", rng)
    return Draw(add_noise(points, noise, rng), latent=latent)


@dataset(
    origin="simulated",
    title="Sinusoidal map of a slow latent",
    n=1000,
    p=100,
    reference="@li2022, Section 3.1, Eq. 16 and 18.",
)
def sine_map(n: int, rng: np.random.Generator, *, noise: float = 0.1, n_features: int = 100) -> Draw:
    r"""Draw a latent of one dimension mapped to sine waves of random frequency and phase.

    z is a stationary Gaussian process in time, :math:`\mathrm{Cov}(z_i, z_j) = 6 \exp(-|i - j| / 5)`, and :math:`x =
    \sin(w z + f)` with w uniform on (-1, 1) and f uniform on :math:`(-\pi, \pi)`, one of each for every feature.

    Parameters
    ----------
    n : int
        Number of points, successive times.
    rng : Generator
        ``simulate`` creates it from ``random_state``.
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
    dreval.datasets.simulated.bump_map : Gaussian bumps of a latent of two dimensions.
    dreval.datasets.simulated.gp_map : features drawn from a Gaussian process.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> dreval.simulate("sine_map", n=50, random_state=0)
    sine_map: 50 points in 100 columns, with 1 latent variable. ...
    """
    p = check_int(n_features, "n_features", low=1)
    latent = slow_latent(n, 1, rng)
    frequency, phase = rng.uniform(-1.0, 1.0, (1, p)), rng.uniform(-np.pi, np.pi, p)
    return Draw(add_noise(np.sin(latent @ frequency + phase), noise, rng), latent=latent)


@dataset(
    origin="simulated",
    title="Sphere",
    n=1000,
    p=3,
    reference="@muller1959.",
)
def sphere(n: int, rng: np.random.Generator, *, noise: float = 0.0, radius: float = 1.0, n_features: int = 3) -> Draw:
    r"""Draw the sphere of radius r in R^p, uniform: normal vectors scaled to length r.

    No single chart covers a sphere, so every embedding with p - 1 dimensions tears it.

    Parameters
    ----------
    n : int
        Number of points.
    rng : Generator
        ``simulate`` creates it from ``random_state``.
    noise : float
        Standard deviation of normal noise added to each coordinate of ``data`` (not of ``latent``).
    radius : float
        Radius r.
    n_features : int
        Dimension p of the space, at least 2.

    Returns
    -------
    Draw
        ``data`` (n, p); ``latent`` (n, p): the unit vectors, that is the noise-free points divided by r. The geodesic
        distance of two points is :math:`r \arccos(u'v)` for unit vectors u, v.

    Raises
    ------
    InputError
        If ``noise`` is negative, ``radius`` is not above 0 or ``n_features`` is below 2.

    See Also
    --------
    dreval.datasets.simulated.hemisphere : half of the sphere in space, which one chart covers.
    dreval.datasets.simulated.s3 : the sphere in space with noise.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> data = dreval.simulate("sphere", n=500, random_state=0).data
    >>> float((data**2).sum(axis=1).mean().round(12))
    1.0
    """
    unit = directions(n, check_int(n_features, "n_features", low=2), rng)
    return Draw(add_noise(check_positive(radius, "radius") * unit, noise, rng), latent=unit)


@dataset(
    origin="simulated",
    title="Spiral in the plane",
    n=300,
    p=2,
    reference="@roy2021, Figure 11.",
)
def spiral(n: int, rng: np.random.Generator, *, noise: float = 0.0, spacing: Any = "arc", turns: float = 3.0) -> Draw:
    r"""Draw the spiral :math:`x = (t \cos t, t \sin t)`, t from 0 to :math:`2\pi` ``turns``: a line rolled up.

    The paper states neither range nor density; these are ours.

    Parameters
    ----------
    n : int
        Number of points.
    rng : Generator
        ``simulate`` creates it from ``random_state``.
    noise : float
        Standard deviation of normal noise added to each coordinate of ``data`` (not of ``latent``).
    spacing : {"arc", "t"}
        "arc": uniform in arc length. "t": uniform in the angle, so that the density along the curve is proportional to
        :math:`1/\sqrt{1+t^2}`, highest in the middle.
    turns : float
        Number of turns, which are :math:`2\pi` apart.

    Returns
    -------
    Draw
        ``data`` (n, 2); ``latent`` (n, 1): the arc length :math:`(t\sqrt{1+t^2} + \operatorname{asinh} t)/2`, which
        grows with the angle t. Without noise, t is the distance from the origin.

    Raises
    ------
    InputError
        If ``noise`` is negative or ``turns`` is not above 0.
    UnknownName
        If ``spacing`` is another word.

    See Also
    --------
    dreval.datasets.simulated.swiss_roll : the surface over the spiral.
    dreval.datasets.simulated.trefoil : a closed curve in space.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> data = dreval.simulate("spiral", n=200, random_state=0, spacing="t", turns=2)
    >>> data.data.shape, data.latent.shape
    ((200, 2), (200, 1))
    """
    t, arc = spiral_angles(n, 0.0, 2.0 * np.pi * check_positive(turns, "turns"), spacing, rng)
    points = np.column_stack([t * np.cos(t), t * np.sin(t)])
    return Draw(add_noise(points, noise, rng), latent=arc[:, None])


STACKED_SPREADS = np.array([0.5, 4.0, 10.0])  # standard deviations across the stack, and along the clusters


@dataset(
    origin="simulated",
    title="Three stacked Gaussian clusters",
    n=300,
    p=3,
    reference="@hammer2010, Figure 1.",
)
def stacked_gaussians(n: int, rng: np.random.Generator, *, gap: float = 4.0) -> Draw:
    """Draw three flat normal clusters one above the other: the largest components project them onto each other.

    Centers 0, gap and 2 gap on the first axis; standard deviations 0.5, 4 and 10 along the three axes. With the default
    gap the first axis holds 9 % of the variance, yet it alone separates the classes. The paper gives no numbers; these
    are ours.

    Parameters
    ----------
    n : int
        Number of points. The sizes of the clusters differ by at most 1.
    rng : Generator
        ``simulate`` creates it from ``random_state``.
    gap : float
        Distance between neighboring centers.

    Returns
    -------
    Draw
        ``data`` (n, 3), cluster after cluster; ``labels`` (n,) 0, 1, 2; ``latent`` (n, 1): the center of the
        point's cluster on the first axis.

    Raises
    ------
    InputError
        If ``gap`` is not above 0.

    See Also
    --------
    dreval.datasets.simulated.two_lines : the same with two classes in the plane.
    dreval.datasets.simulated.three_clusters : round clusters on a line.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> stack = dreval.simulate("stacked_gaussians", random_state=0)
    >>> [int(stack.data[stack.labels == c, 0].mean().round()) for c in (0, 1, 2)]
    [0, 4, 8]
    """
    centers = np.zeros((3, 3))
    centers[:, 0] = check_positive(gap, "gap") * np.arange(3)
    points, labels = clusters(centers / STACKED_SPREADS, n, rng)
    return Draw(STACKED_SPREADS * points, labels=labels, latent=centers[labels, :1])


@dataset(
    origin="simulated",
    title="Swiss roll",
    n=1600,
    p=3,
    reference="@goldberg2009, Table 1.",
)
def swiss_roll(n: int, rng: np.random.Generator, *, noise: float = 0.0, spacing: Any = "arc") -> Draw:
    r"""Draw the Swiss roll :math:`(t \cos t, h, t \sin t)`, t from :math:`3\pi/2` to :math:`9\pi/2`, h from 0 to 21.

    A rectangle of about 90 by 21 rolled up without stretching: straight-line distances are misleading between the
    turns, which are :math:`2\pi` apart, and a good embedding unrolls it.

    Parameters
    ----------
    n : int
        Number of points.
    rng : Generator
        ``simulate`` creates it from ``random_state``.
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
    dreval.datasets.simulated.s4 : the same surface with noise.
    dreval.datasets.simulated.spiral : the curve in the plane.
    dreval.datasets.simulated.cylinder : a flat surface that is closed.

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


THREE_CENTERS = np.array([0.0, 10.0, 50.0])


@dataset(
    origin="simulated",
    title="Three clusters at 0, 10 and 50",
    n=150,
    p=2,
    reference="@wattenberg2016.",
)
def three_clusters(n: int, rng: np.random.Generator, *, n_features: int = 2) -> Draw:
    """Draw three normal clusters of unit covariance with centers 0, 10 and 50 on the first axis.

    In an embedding that keeps global structure one gap is four times as wide as the other.

    Parameters
    ----------
    n : int
        Number of points. The clusters have n / 3 points each; the first ones take the remainder.
    rng : Generator
        ``simulate`` creates it from ``random_state``.
    n_features : int
        Dimension p of the space; 2 and 50 are used in the reference.

    Returns
    -------
    Draw
        ``data`` (n, p), cluster after cluster; ``labels`` (n,) 0, 1, 2; ``latent`` (n, 1): the center of the point's
        cluster on the first axis.

    Raises
    ------
    InputError
        If ``n_features`` is below 1.

    See Also
    --------
    dreval.datasets.simulated.circular_clusters : clusters on a circle.
    dreval.datasets.simulated.stacked_gaussians : flat clusters that PCA projects onto each other.
    dreval.datasets.simulated.s1 : clusters with random centers.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> data = dreval.simulate("three_clusters", n=150, random_state=0)
    >>> [int(data.data[data.labels == c, 0].mean().round()) for c in (0, 1, 2)]
    [0, 10, 50]
    """
    centers = np.zeros((3, check_int(n_features, "n_features", low=1)))
    centers[:, 0] = THREE_CENTERS
    points, labels = clusters(centers, n, rng)
    return Draw(points, labels=labels, latent=THREE_CENTERS[labels][:, None])


@dataset(
    origin="simulated",
    title="Trefoil knot",
    n=200,
    p=3,
    reference="@roy2021, Figure 24.",
)
def trefoil(n: int, rng: np.random.Generator, *, noise: float = 0.0) -> Draw:
    r"""Draw the trefoil knot :math:`x = (\sin t + 2 \sin 2t, \cos t - 2 \cos 2t, -\sin 3t)`.

    A closed curve that cannot be untied; t is uniform on :math:`[0, 2\pi)`. An embedding in the plane must cross itself
    or cut the curve. The paper shows a figure only.

    Parameters
    ----------
    n : int
        Number of points.
    rng : Generator
        ``simulate`` creates it from ``random_state``.
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
    dreval.datasets.simulated.linked_circles : two closed curves that are linked.
    dreval.datasets.simulated.spiral : an open curve in the plane.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> dreval.simulate("trefoil", random_state=0)
    trefoil: 200 points in 3 columns, with 2 latent variables. ...
    """
    t = rng.uniform(0.0, 2.0 * np.pi, n)
    points = np.column_stack([np.sin(t) + 2 * np.sin(2 * t), np.cos(t) - 2 * np.cos(2 * t), -np.sin(3 * t)])
    return Draw(add_noise(points, noise, rng), latent=np.column_stack([np.cos(t), np.sin(t)]))


@dataset(
    origin="simulated",
    title="Two long linear clusters",
    n=200,
    p=2,
    reference="@roy2021, Figure 16.",
)
def two_lines(
    n: int, rng: np.random.Generator, *, noise: float = 1.0, length: float = 100.0, gap: float = 10.0
) -> Draw:
    """Draw two long parallel clusters in the plane: a straight line between them separates the classes.

    x = (s, 0) for the first and (s, gap) for the second class, s uniform on [0, length], plus noise. The dimension
    across the clusters separates the classes, the one along them holds nearly all variance. The paper shows a figure
    only; sizes are ours.

    Parameters
    ----------
    n : int
        Number of points; the first cluster takes the odd one.
    rng : Generator
        ``simulate`` creates it from ``random_state``.
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
    dreval.datasets.simulated.stacked_gaussians : the same with three classes in space.

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


@dataset(
    origin="simulated",
    title="Two unlinked circles",
    n=200,
    p=3,
    reference="@roy2021, Figure 20.",
)
def unlinked_circles(n: int, rng: np.random.Generator, *, noise: float = 0.0) -> Draw:
    r"""Draw two unit circles in space, at right angles and apart from each other.

    The circles :math:`(\cos a, \sin a, 0)` and :math:`(3 + \cos a, 0, \sin a)`; an embedding in the plane can show both
    whole. The paper shows a figure only; sizes are ours.

    Parameters
    ----------
    n : int
        Number of points; the first circle takes the odd one.
    rng : Generator
        ``simulate`` creates it from ``random_state``.
    noise : float
        Standard deviation of normal noise added to each coordinate of ``data`` (not of ``latent``).

    Returns
    -------
    Draw
        ``data`` (n, 3); ``labels`` (n,) 0 and 1, the circle; ``latent`` (n, 2): the cosine and sine of the angle on the
        point's own circle.

    Raises
    ------
    InputError
        If ``noise`` is negative or not finite.

    See Also
    --------
    dreval.datasets.simulated.linked_circles : the same circles, each through the center of the other.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> circles = dreval.simulate("unlinked_circles", n=100, random_state=0)
    >>> circles
    unlinked_circles: 100 points in 3 columns, 2 classes, with 2 latent variables. ...
    """
    points, labels, latent = two_circles(n, 3.0, rng)
    return Draw(add_noise(points, noise, rng), labels=labels, latent=latent)
