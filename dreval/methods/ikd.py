"""Inverse kernel decomposition: latent places from the correlations of the rows, taken as kernel values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from dreval._check import check_float, check_int, check_k, check_one_of, resolve_alias
from dreval.errors import ApproximationWarning, DegenerateDataWarning, InputError, warn
from dreval.geometry.graphs import IntArray, geodesics
from dreval.methods._method import FloatArray, Method, fix_signs, method
from dreval.methods._procrustes import rigid_fit
from dreval.methods._spectral import scaled_eigenvectors
from dreval.records.notes import note

INVERSE_KERNELS = ("gamma_exponential", "gaussian", "matern", "rational_quadratic")
BESSEL_TABLE = np.linspace(np.log(1e-3), np.log(800.0), 600)  # arguments of the Bessel function, as logarithms
NEWTON_STEPS = 4
MIN_SEARCHED_DECAY = 1e-8  # -ln of a correlation; smaller ones have too few digits for Newton's method


def inverse_kernel(kernel: str, alpha: float, gamma: float, nu: float) -> Callable[[FloatArray], FloatArray]:
    """Return the function from correlations above 0 and at most 1 to squared distances (Li and Wu, Table 1)."""
    shape = _check_shape(alpha, "alpha", None)
    power = 2.0 / _check_shape(gamma, "gamma", 2.0)
    order = _check_shape(nu, "nu", 50.0)
    if kernel == "rational_quadratic":
        return lambda rho: 2.0 * shape * np.expm1(-np.log(rho) / shape)
    if kernel == "gamma_exponential":
        return lambda rho: (-np.log(rho)) ** power
    if kernel == "matern":
        return lambda rho: _inverse_matern(rho, order)
    return lambda rho: -2.0 * np.log(rho)


@dataclass(frozen=True)
class Correlation:
    """A kernel of Li and Wu, Table 1, with variance 1: squared distances d to f(d) and to -2 f'(d), f of the Gaussian.

    The slope is infinite at d = 0 for powers below 2 and orders of at most 1: it is set to 0 there, because equal
    places have no direction. The Matern kernel is in closed form for the orders 1/2, 3/2 and 5/2.
    """

    kernel: str = "gaussian"
    alpha: float = 1.0
    gamma: float = 1.0
    nu: float = 1.5

    def __post_init__(self) -> None:
        for name, high in (("alpha", None), ("gamma", 2.0), ("nu", 50.0)):
            _check_shape(getattr(self, name), name, high)

    def __call__(self, d: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return both for each squared distance."""
        with np.errstate(under="ignore"):
            if self.kernel == "rational_quadratic":
                base = 1.0 + d / (2.0 * self.alpha)
                f = base**-self.alpha
                return f, f / base
            if self.kernel == "gamma_exponential":
                f = np.exp(-(d ** (self.gamma / 2.0)))
                return f, self.gamma * f * np.power(d, self.gamma / 2.0 - 1.0, out=np.zeros_like(d), where=d > 0)
            if self.kernel == "matern":
                return _matern_and_slope(d, self.nu)
            f = np.exp(-0.5 * d)
            return f, f


def _matern_and_slope(d: FloatArray, nu: float) -> tuple[FloatArray, FloatArray]:
    """Return the Matern correlation and -2 times its derivative, by Bessel functions where there is no closed form."""
    from scipy.special import kve

    t = np.sqrt(2.0 * nu * d)
    decay = np.exp(-t)
    if nu == 0.5:
        return decay, np.divide(decay, t, out=np.zeros_like(t), where=t > 0)
    if nu == 1.5:
        return (1.0 + t) * decay, 3.0 * decay
    if nu == 2.5:
        return (1.0 + t + t**2 / 3.0) * decay, 5.0 / 3.0 * (1.0 + t) * decay
    f, slope = np.ones_like(d), np.full_like(d, nu / (nu - 1.0) if nu > 1.0 else 0.0)
    apart = d > 0
    f[apart] = matern(d[apart], nu)
    slope[apart] = f[apart] * 2.0 * nu / t[apart] * kve(nu - 1.0, t[apart]) / kve(nu, t[apart])
    return f, slope


def _check_shape(value: float, argument: str, high: float | None) -> float:
    """Check a shape of a kernel: at least 0.05, below which correlations have no digits left."""
    if check_float(value, argument, high=high) < 0.05:
        hint = "Choose a number of the order of 1."
        raise InputError(argument, "must be at least 0.05", f"{value}", hint)
    return float(value)


def matern(squared: FloatArray, nu: float) -> FloatArray:
    """Return the Matern correlation at squared distances above 0, in units of the length scale."""
    return np.exp(-_decay(0.5 * np.log(2.0 * nu * squared), nu))


def _decay(u: FloatArray, nu: float) -> FloatArray:
    """Return -ln of the Matern correlation at t = exp(u), t = sqrt(2 nu d)."""
    from scipy.special import gammaln, kve

    t = np.exp(u)
    return np.asarray((nu - 1.0) * np.log(2.0) + gammaln(nu) - nu * u - np.log(kve(nu, t)) + t)


def _inverse_matern(rho: FloatArray, nu: float) -> FloatArray:
    """Invert the Matern correlation by Newton's method on logarithms, from a table; near 1 by a power law."""
    from scipy.special import kve

    decays = -np.log(rho)
    knots = _decay(BESSEL_TABLE, nu)
    usable = np.isfinite(knots) & (knots > 1e-12)
    grid, knots = BESSEL_TABLE[usable], np.log(knots[usable])
    with np.errstate(divide="ignore"):
        target = np.log(decays)
    u = np.interp(target, knots, grid)
    below, above = target < knots[0], target > knots[-1]
    u[below] = grid[0] + (target[below] - knots[0]) * (grid[1] - grid[0]) / (knots[1] - knots[0])
    u[above] = target[above]
    searched = ~above & (~below | (decays > MIN_SEARCHED_DECAY))
    for _ in range(NEWTON_STEPS):
        decay = _decay(u[searched], nu)
        t = np.exp(u[searched])
        slope = t * kve(nu - 1.0, t) / kve(nu, t)  # the derivative of the decay
        u[searched] -= (np.log(decay) - target[searched]) * decay / slope
    return np.exp(2.0 * u) / (2.0 * nu)


BoolArray = npt.NDArray[np.bool_]
PART_GAP = 1.0  # between parts that are placed side by side, in length scales


def embed_by_cliques(
    joined: BoolArray, embedding: Callable[[IntArray], FloatArray], d: int
) -> tuple[FloatArray, list[IntArray]]:
    """Return places (n, d) of all points, and the cliques in the order in which they were placed.

    ``joined`` (n, n) are the pairs that belong together; ``embedding(members)`` returns the places of a clique. The
    next seed is the point without a place that has the most neighbors with a place; its clique begins with these
    neighbors.
    """
    n = len(joined)
    joined = joined & ~np.eye(n, dtype=bool)
    degree = joined.sum(axis=1)
    Y, placed, placed_neighbors = np.zeros((n, d)), np.zeros(n, bool), np.zeros(n, np.int64)
    cliques: list[IntArray] = []
    parts, loose = 0, 0
    while not placed.all():
        seed = int(np.lexsort((-degree, -placed_neighbors, placed))[0])
        clique = _maximal_clique(joined, seed, placed, 2 * (d + 1))
        places, shared = embedding(clique), placed[clique]
        if shared.any():
            loose += int(shared.sum() <= d)
            places = rigid_fit(places[shared], Y[clique[shared]], places)
        elif placed.any():
            parts += 1
            places = places - [places[:, 0].min() - Y[placed, 0].max() - PART_GAP, *places[:, 1:].mean(axis=0)]
        new = clique[~shared]
        Y[new], placed[new] = places[~shared], True
        placed_neighbors += joined[:, new].sum(axis=1)
        cliques.append(clique)
    if parts:
        warn(ApproximationWarning(note("ikd.parts", parts=parts + 1)))
    if loose:
        warn(ApproximationWarning(note("ikd.loose", loose=loose, cliques=len(cliques), d=d)))
    return Y, cliques


def _maximal_clique(joined: BoolArray, seed: int, placed: BoolArray, n_placed: int) -> IntArray:
    """Return a clique around the seed that no point can join: up to ``n_placed`` placed points, then any points.

    The next member is the one with the most neighbors among the points that can still join.
    """
    members, joinable = [seed], joined[seed].copy()
    while joinable.any():
        allowed = joinable & placed if len(members) <= n_placed and (joinable & placed).any() else joinable
        candidates = np.flatnonzero(allowed)
        best = int(candidates[np.argmax(joined[np.ix_(candidates, np.flatnonzero(joinable))].sum(axis=1))])
        members.append(best)
        joinable &= joined[best]
    return np.sort(np.array(members, dtype=np.int64))


SOLUTIONS = ("blockwise", "geodesic", "max_product")
VARIANCES = ("each", "mean")
REFERENCES = ("mean", "point")
SCALES = ("length", "variance")
ROUNDED_LENGTH = 1e-7  # of the larger of the longest coordinate and 1: squared distances have errors of 1e-15
CHUNK_VALUES = 50_000  # evaluated at a time; Bessel functions take about 10 microseconds for each value
DEFAULT_SQUARED = 1.0  # squared distance, in length scales, if no two points are correlated


@method(
    title="Inverse kernel decomposition",
    family="kernel",
    deterministic=True,
    out_of_sample=False,
    inverse=False,
    supervised=False,
    cost="O(n^2 p) and, with e pairs above the threshold, O(n e) or where these are many O(n^3) time, O(n^2) memory",
    rotation="read",
    translation="read",
    max_components=lambda n, _p, _: n - 1,
    reference="@li2022, Algorithm 1, Table 1, Sections 2.4 and 2.5.",
)
class IKD(Method):
    r"""Inverse kernel decomposition (IKD): columns are draws of a Gaussian process on the latent places.

    If each column of the data is an independent draw of a Gaussian process with mean 0 on the latent places
    :math:`z_i`, the covariance of two rows over the columns estimates the kernel
    :math:`k(z_i, z_j) = \sigma^2 f(d_{ij})` of the squared distance :math:`d_{ij} = |z_i - z_j|^2 / l^2`. Rows are
    centered, their correlations :math:`\rho_{ij}` are read as :math:`f(d_{ij})`, and with a reference point r the
    leading eigenvectors of

    .. math:: g_{ij} = (d_{ir} + d_{rj} - d_{ij}) / 2,

    scaled by the roots of their eigenvalues, are the coordinates.

    Small correlations carry little information on the distance, so only those above a threshold are used; the other
    distances are derived from them.

    Parameters
    ----------
    n_components : int
        Number d of coordinates, at most n - 1.
    kernel : {"gaussian", "rational_quadratic", "gamma_exponential", "matern"}
        Correlation as a function of the squared distance d: exp(-d / 2); (1 + d / (2 alpha))^-alpha;
        exp(-d^(gamma / 2)); Matern of order nu, which is inverted by Newton's method.
    min_correlation : float
        Threshold s0 from 0 to below 1 (see Notes): distances of pairs with a correlation not above it are derived
        through other points.
    n_neighbors : int, optional
        If set, so are distances of pairs in which neither point is among the k points most correlated with the other.
    solution : {"geodesic", "max_product", "blockwise"}
        How these distances are derived. "geodesic": the shortest path, with the distances :math:`\sqrt{d}` of its steps
        added. "max_product": the path with the largest product of correlations, as printed in the paper; for the
        squared exponential this adds squared distances, which underestimates the distance. "blockwise": maximal cliques
        of pairs above the threshold are embedded one by one, and placed by rigid motions that fit their common points.
    variance : {"each", "mean"}
        What covariances are divided by: the standard deviations of the two rows, or the mean variance of all rows, as
        printed (what is above 1 then counts as 1).
    reference : {"point", "mean"}
        Origin of the coordinates: the point r, whose distances have the largest weight, or the mean of all points
        (classical scaling of d).
    scale : {"length", "variance"}
        Unit of the coordinates: one length scale for all, that of the kernel; or for each coordinate its own,
        ``length_scales_``, so that each has variance 1 (automatic relevance determination, ARD).
    alpha : float
        Shape of the rational quadratic kernel, at least 0.05.
    gamma : float
        Power of the gamma-exponential kernel, 0.05 to 2.
    nu : float
        Order of the Matern kernel, 0.05 to 50.
    %(unused_seed)s

    Attributes
    ----------
    embedding_ : ndarray (n, d)
        Coordinates in units of the length scale of the kernel. The reference lies at 0; in each column the entry of
        largest size is positive. With ``scale="variance"`` the mean lies at 0, and the axes are the principal ones.
    length_scales_ : ndarray (d,)
        Length scales :math:`l_m` of the kernel with ARD, :math:`d_{ij} = \sum_m (z_{im} - z_{jm})^2 / l_m^2`, for
        latent variables of variance 1 along the principal axes of the coordinates, ascending: a variable with a large
        one changes the data little. Infinite for a coordinate that is constant but for rounding.
    eigenvalues_ : ndarray (d,)
        The d largest eigenvalues of g, descending; they may be negative. Empty for "blockwise".
    correlations_ : ndarray (n, n)
        Correlations of the rows.
    squared_distances_ : ndarray (n, n)
        Squared distances d; for "blockwise" infinite where they are not read from the correlation.
    reference_point_ : int
        Row r of the reference point, the one whose largest distance is smallest; -1 for the mean, and for "blockwise",
        where cliques have their own.
    cliques_ : tuple of ndarray
        The cliques in the order in which they were placed; empty except for "blockwise".

    Raises
    ------
    InputError
        If a parameter is out of its range.
    UnknownName
        If an option is not one of those listed.

    Warns
    -----
    ApproximationWarning
        If some pairs are not joined by any path of correlations above the threshold: they get the largest distance
        of the other pairs (or, for "blockwise", their parts are placed side by side); or if cliques share too few
        points.
    DegenerateDataWarning
        If rows are constant, so that they have no correlation; or if one of the d leading eigenvalues is negative.

    See Also
    --------
    dreval.methods.GPLVM : maximum likelihood under the same model.
    dreval.methods.KernelPCA : leading functions of a kernel of the data.

    Notes
    -----
    %(cost)s

    The origin and the axes of the data matter: the method needs many columns (hundreds), each a function of the latent
    place with mean 0 over the columns, and rotated or shifted data give another embedding. The scale of the data does
    not matter. On three draws each of 500 points and 500 columns, R^2 of the latent variables was .996 to .998 for
    Gaussian processes, .9996 to .9999 for sine waves and .95 to .98 for bumps; with "max_product" .18 to .58, .003 to
    .37 and .54 to .68. With bumps a few points have no correlated points, and their places are arbitrary.

    Paths follow the points, and so unroll a latent shape that is curved: two turns of a helix in three dimensions had
    R^2 .52 with the default threshold, and .97 with .1, from 2000 columns without noise. With fewer columns a low
    threshold admits more correlations that are noise.

    The paper's text gives the threshold s0 no number; .4 is ours. The authors' program (JerrySoybean/ikd,
    ``ikd/core.py``) takes .7 - .2 log10(p) for p columns, between .3 (up to 100 columns) and .1 (from 1000). Of all
    pairs of rows above .4 are 69 % of the digits, 50 % of COIL-20, 39 % of Fashion-MNIST and 20 % of Guo's cells, above
    theirs 87, 93, 81 and 24 %. The figures of real data used other settings, as the notebooks in that repository show
    (``test/real_world``): the 7 most correlated neighbors, with the mean as reference. That is ``n_neighbors=7,
    min_correlation=0, reference="mean", solution="max_product"`` here; on the digits it separates the classes far
    better than either threshold.

    On 1500 points the processor takes about 3 seconds, whichever share of the pairs is above the threshold, and the
    call can be interrupted within a second.

    The blockwise solution embeds up to n cliques, each in O(m^3) time for its m points.

    With a length scale for each latent variable (Section 2.3 of the paper) the correlations determine
    :math:`z_{im} / l_m` only, up to a rotation. ``length_scales_`` are therefore those of variables that are
    uncorrelated and have variance 1; variables with equal length scales cannot be separated from their rotations.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> data = dreval.simulate("sine_map", n=200, n_features=300, random_state=0)
    >>> Y = dreval.methods.IKD(n_components=1).fit_transform(data.data)
    >>> bool(dreval.latent_r2(Y, latent=data.latent) > 0.98)
    True
    """

    n_components: int = 2
    _: KW_ONLY
    kernel: str = "gaussian"
    min_correlation: float = 0.4
    n_neighbors: int | None = None
    solution: str = "geodesic"
    variance: str = "each"
    reference: str = "point"
    scale: str = "length"
    alpha: float = 1.0
    gamma: float = 1.0
    nu: float = 1.5
    random_state: int | np.random.Generator | None = None

    def _fit(self, X: FloatArray) -> None:
        kernel = check_one_of(self.kernel, INVERSE_KERNELS, "kernel", aliases=True)
        solution = check_one_of(self.solution, SOLUTIONS, "solution", aliases=True)
        variance = check_one_of(self.variance, VARIANCES, "variance", aliases=True)
        check_one_of(self.reference, REFERENCES, "reference", aliases=True)
        check_one_of(self.scale, SCALES, "scale", aliases=True)
        if self.n_neighbors is not None:
            check_k(check_int(self.n_neighbors, "n_neighbors", low=1), len(X))
        if check_float(self.min_correlation, "min_correlation", low=0.0, high=1.0) == 1.0:
            hint = "Choose a number such as 0.4."
            raise InputError("min_correlation", "must be below 1, which no pair exceeds", "1", hint)
        inverse = inverse_kernel(kernel, self.alpha, self.gamma, self.nu)
        self.correlations_ = row_correlations(X, variance)
        above_threshold = self.correlations_ > self.min_correlation
        if self.n_neighbors is not None:
            near = np.eye(len(X), dtype=bool)  # pairs among the k most correlated of one of the two
            order = np.argsort(np.where(near, np.inf, -self.correlations_), axis=1, kind="stable")
            np.put_along_axis(near, order[:, : self.n_neighbors], True, axis=1)
            above_threshold &= near | near.T
        squared = np.full(above_threshold.shape, np.inf)
        squared[above_threshold] = _in_chunks(inverse, self.correlations_[above_threshold])
        self.squared_distances_ = squared
        self.cliques_: tuple[IntArray, ...] = ()
        if solution == "blockwise":
            self._fit_blockwise(above_threshold)
            self._set_length_scales()
            return
        squared[~above_threshold] = self._path_distances(above_threshold, inverse)[~above_threshold]
        missing = ~np.isfinite(squared)
        if missing.any():
            largest = float(squared[~missing].max()) or DEFAULT_SQUARED
            squared[missing] = largest
            pairs = {"missing": missing.sum() // 2, "pairs": missing.size // 2 - len(squared) // 2}
            warn(ApproximationWarning(note("ikd.unjoined", **pairs, largest=float(np.sqrt(largest)))))
        self.reference_point_ = self._reference(squared)
        self.embedding_, self.eigenvalues_ = _coordinates_of_squared(squared, self.reference_point_, self.n_components)
        self._set_length_scales()

    def _set_length_scales(self) -> None:
        """Set the length scales of variables of variance 1, and the coordinates in their units if requested."""
        centered = self.embedding_ - self.embedding_.mean(axis=0)
        _, sizes, axes = np.linalg.svd(centered, full_matrices=False)
        deviations = np.pad(sizes, (0, self.n_components - len(sizes))) / np.sqrt(len(centered))
        above_rounding = deviations > ROUNDED_LENGTH * max(deviations[0], 1.0)
        self.length_scales_ = np.divide(1.0, deviations, out=np.full(len(deviations), np.inf), where=above_rounding)
        if resolve_alias(self.scale, SCALES) == "variance":
            scores = np.pad(centered @ axes.T, ((0, 0), (0, self.n_components - len(sizes))))
            self.embedding_ = fix_signs(scores * np.where(above_rounding, self.length_scales_, 0.0))

    def _reference(self, squared: FloatArray) -> int:
        """Return the point whose largest distance (and, on ties, mean distance) is smallest; -1 for the mean."""
        if resolve_alias(self.reference, REFERENCES) == "mean":
            return -1
        return int(np.lexsort((squared.mean(axis=1), squared.max(axis=1)))[0])

    def _path_distances(
        self, above_threshold: npt.NDArray[np.bool_], inverse: Callable[[FloatArray], FloatArray]
    ) -> FloatArray:
        """Return squared distances (n, n) along paths of pairs above the threshold."""
        if resolve_alias(self.solution, SOLUTIONS) == "geodesic":
            return geodesics(_graph(np.sqrt(self.squared_distances_[above_threshold]), above_threshold)) ** 2
        product = np.exp(-geodesics(_graph(-np.log(self.correlations_[above_threshold]), above_threshold)))
        squared = np.full(above_threshold.shape, np.inf)
        squared[product > 0] = _in_chunks(inverse, product[product > 0])
        return squared

    def _fit_blockwise(self, above_threshold: npt.NDArray[np.bool_]) -> None:
        """Embed cliques of pairs above the threshold one by one; see ``embed_by_cliques``."""

        def embedding(members: IntArray) -> FloatArray:
            block = self.squared_distances_[np.ix_(members, members)]
            d = min(self.n_components, len(members) - 1)
            Y = np.zeros((len(members), self.n_components))
            if d:
                Y[:, :d] = _coordinates_of_squared(block, self._reference(block), d)[0]
            return Y

        Y, cliques = embed_by_cliques(above_threshold, embedding, self.n_components)
        self.embedding_, self.cliques_ = fix_signs(Y), tuple(cliques)
        self.reference_point_, self.eigenvalues_ = -1, np.empty(0)


def row_correlations(X: FloatArray, variance: str) -> FloatArray:
    """Return correlations (n, n) of the rows over the columns, at most 1, with 1 on the diagonal.

    ``variance`` "mean" divides all covariances by the mean variance. Constant rows have correlation 1 with each other
    and 0 with all other rows.
    """
    scaled = X / (np.abs(X).max() or 1.0)
    centered = scaled - scaled.mean(axis=1, keepdims=True)
    size = np.abs(centered).max(axis=1)
    constant = size <= 4 * np.finfo(float).eps * np.abs(scaled).max(axis=1)
    centered[constant] = 0.0
    if variance == "each":
        centered /= np.where(constant, 1.0, size)[:, None]
        lengths = np.linalg.norm(centered, axis=1)
        centered /= np.where(constant, 1.0, lengths)[:, None]
    else:
        centered /= size.max() or 1.0
        centered /= np.sqrt(np.mean(np.sum(centered**2, axis=1))) or 1.0
    correlations = np.minimum(centered @ centered.T, 1.0)
    if constant.any():
        correlations[np.ix_(constant, constant)] = 1.0
        warn(DegenerateDataWarning(note("ikd.constant", rows=constant.sum(), n=len(X))))
    np.fill_diagonal(correlations, 1.0)
    return correlations


def _in_chunks(function: Callable[[FloatArray], FloatArray], values: FloatArray) -> FloatArray:
    """Apply a function to each value; the call can be interrupted between chunks."""
    chunks = [function(values[start : start + CHUNK_VALUES]) for start in range(0, len(values), CHUNK_VALUES)]
    return np.concatenate(chunks) if chunks else values


def _graph(lengths: FloatArray, above_threshold: npt.NDArray[np.bool_]) -> csr_matrix:
    """Return the pairs above the threshold as a graph; lengths of 0 remain edges."""
    counts = np.r_[0, np.cumsum(above_threshold.sum(axis=1))]
    return csr_matrix((np.maximum(lengths, 0.0), np.nonzero(above_threshold)[1], counts), shape=above_threshold.shape)


def _coordinates_of_squared(squared: FloatArray, r: int, d: int) -> tuple[FloatArray, FloatArray]:
    """Return coordinates (m, d) about the reference point r, or the mean for -1, and the eigenvalues (d,)."""
    to_reference = squared[r] if r >= 0 else squared.mean(axis=0) - 0.5 * squared.mean()
    return scaled_eigenvectors(0.5 * (to_reference[:, None] + to_reference - squared), d, "IKD")
