"""The self-organizing map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Any

import numpy as np
import numpy.typing as npt

from dreval._check import check_float, check_int, check_one_of
from dreval._random import root_seed, stream
from dreval.errors import InputError
from dreval.geometry.distances import block_rows, pairwise_squared
from dreval.methods._latent import Scaled, lattice, on_plane, principal_scores, sides
from dreval.methods._method import FloatArray, Method, method

GRIDS = ("rectangular", "hexagonal")
ALGORITHMS = ("batch", "online")
LEARNING_RATES = (0.5, 0.01)  # of online learning: at the start and at the end
NEIGHBOR_DISTANCE = {"rectangular": 1.5, "hexagonal": 1.1}  # nearer units are neighbors: 8, or 6 (d = 2)


@method(
    title="Self-organizing map",
    family="quantization",
    deterministic=False,
    out_of_sample=True,
    inverse=True,
    supervised=False,
    cost="O(n p u) time a round with u units, O(n + u p + u^2) memory",
    max_components=lambda n, p, _: min(n - 1, p, 3),
    reference="@kohonen2001, Chapter 3.",
)
class SOM(Method):
    r"""SOM: units on a lattice that spread over the data, near units over near parts of it.

    Unit u has a place :math:`g_u` on the lattice and a prototype :math:`w_u` among the data. A row belongs to its best
    unit b, whose prototype is nearest. In a round of the batch algorithm every prototype becomes the weighted mean

    .. math:: w_u = \frac{\sum_i h_{u b(i)}\, x_i}{\sum_i h_{u b(i)}}, \qquad
        h_{uv} = \exp(-|g_u - g_v|^2 / (2 r^2)),

    while the radius r falls; the online algorithm moves :math:`w_u` by :math:`a\, h_{u b(i)} (x_i - w_u)` for one row
    after the other, with a rate a that falls. The coordinates of a row are the place of its best unit: rows of one unit
    share one place.

    Parameters
    ----------
    n_components : int
        Dimension d of the lattice, at most min(n - 1, p, 3).
    shape : tuple of int, optional
        Units along each axis of the lattice, at least 2; by default about 5 sqrt(n) in all, in proportion to the
        deviations along the principal components.
    grid : {"rectangular", "hexagonal"}
        Lattice; a hexagonal one has two dimensions.
    algorithm : {"batch", "online"}
        Rounds over all rows at once, or Kohonen's rule row by row.
    n_epochs : int
        Rounds over the rows, in which the radius falls linearly.
    radius : tuple of float, optional
        First and last radius, in distances of neighboring units, each at least 0; by default from half the longest side
        to 0.5. With radius 0 every unit learns by itself, and the batch algorithm is k-means.
    random_state : int, Generator or None
        Seed of the order of rows; not used by the batch algorithm.

    Attributes
    ----------
    embedding_ : ndarray (n, d)
        Place of the best unit, in distances of neighboring units.
    best_units_ : ndarray (n,)
        Number of the best unit.
    units_ : ndarray (u, d)
        Places of the units.
    prototypes_ : ndarray (u, p)
        Prototypes of the units.
    quantization_errors_ : ndarray (n_epochs + 1,)
        Root of the mean squared distance of a row to the prototype of its best unit, at the start and after each round
        (with the online algorithm at the start and at the end). While the radius is 0 it never rises.
    topographic_error_ : float
        Share of the rows whose two best units are not neighbors on the lattice. On a rectangular one units across the
        diagonal of a square are neighbors too: each has up to eight in two dimensions.

    Raises
    ------
    InputError
        If a parameter is out of its range.
    UnknownName
        If ``grid`` or ``algorithm`` is not one of the listed options.

    See Also
    --------
    dreval.methods.GTM : a probabilistic model of such a map.
    dreval.methods.LocalizedPCA : regions with a principal plane each.

    Notes
    -----
    %(cost)s

    Prototypes start on the principal plane, as wide as the data. With a radius above 0 the error need not fall in every
    round.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> X = dreval.simulate("s4", n=200, random_state=0).data
    >>> som = dreval.methods.SOM(n_components=2, shape=(10, 6)).fit(X)
    >>> bool(som.quantization_errors_[-1] < som.quantization_errors_[0]), som.units_.shape
    (True, (60, 2))
    """

    n_components: int = 2
    _: KW_ONLY
    shape: Sequence[int] | None = None
    grid: str = "rectangular"
    algorithm: str = "batch"
    n_epochs: int = 50
    radius: Sequence[float] | None = None
    random_state: int | np.random.Generator | None = None

    def _fit(self, X: FloatArray) -> None:
        algorithm = check_one_of(self.algorithm, ALGORITHMS, "algorithm", aliases=True)
        check_int(self.n_epochs, "n_epochs", low=1)
        grid = check_one_of(self.grid, GRIDS, "grid", aliases=True)
        if grid == "hexagonal" and self.n_components != 2:
            received, hint = f"n_components={self.n_components}", 'Pass n_components=2, or grid="rectangular".'
            raise InputError("grid", "must be rectangular unless n_components is 2", received, hint)
        self._scaled = Scaled.of(X)
        data = self._scaled.to(X)
        scores, axes = principal_scores(data, self.n_components)
        sizes = np.sqrt((scores**2).mean(axis=0))
        shape = self._check_shape(5.0 * np.sqrt(len(X)), sizes)
        radii = self._check_radius(max(shape))
        self.units_ = lattice(shape, grid == "hexagonal")
        self._prototypes = on_plane(self.units_, sizes, axes)
        learn = self._learn_batch if algorithm == "batch" else self._learn_online
        errors = learn(data, pairwise_squared(self.units_), radii)
        self.best_units_, squared, second = self._best(data)
        self.quantization_errors_ = self._scaled.unit * np.sqrt([*errors, squared.mean()])
        steps = np.linalg.norm(self.units_[self.best_units_] - self.units_[second], axis=1)
        self.topographic_error_ = float(np.mean(steps > NEIGHBOR_DISTANCE[grid]))
        self.prototypes_ = self._scaled.back(self._prototypes)
        self.embedding_ = self.units_[self.best_units_]

    def _check_shape(self, count: float, sizes: FloatArray) -> tuple[int, ...]:
        """Check and return the sides of the lattice."""
        if self.shape is None:
            return sides(count, sizes)
        if not isinstance(self.shape, list | tuple) or len(self.shape) != self.n_components:
            hint = "Pass one side for each component, such as (10, 6)."
            raise InputError("shape", f"must have {self.n_components} sides", repr(self.shape), hint)
        return tuple(check_int(side, "shape", low=2) for side in self.shape)

    def _check_radius(self, longest: int) -> tuple[float, float]:
        """Check and return the first and the last radius."""
        if self.radius is None:
            return max(longest / 2.0, 0.5), 0.5
        if not isinstance(self.radius, list | tuple) or len(self.radius) != 2:
            raise InputError("radius", "must be two numbers", repr(self.radius), "Pass the first and the last radius.")
        start, end = (check_float(value, "radius", low=0.0) for value in self.radius)
        return start, end

    def _learn_batch(self, data: FloatArray, squared_distances: FloatArray, radii: tuple[float, float]) -> list[float]:
        """Run rounds of weighted means; return the mean squared distance before each."""
        errors = []
        for radius in np.linspace(*radii, self.n_epochs):
            best, squared, _ = self._best(data)
            errors.append(float(squared.mean()))
            counts = np.bincount(best, minlength=len(squared_distances)).astype(float)
            sums = np.zeros_like(self._prototypes)
            np.add.at(sums, best, data)
            if radius > 0:
                weights = np.exp(-0.5 * squared_distances / radius**2)
                counts, sums = weights @ counts, weights @ sums
            nonempty = counts > 0
            self._prototypes[nonempty] = sums[nonempty] / counts[nonempty, None]
        return errors

    def _learn_online(self, data: FloatArray, squared_distances: FloatArray, radii: tuple[float, float]) -> list[float]:
        """Apply Kohonen's rule to rows in random order; return the mean squared distance before it."""
        from dreval.geometry._loops import rows as loops

        errors = [float(self._best(data)[1].mean())]
        rng = stream(root_seed(self.random_state), "order of som")
        order = np.concatenate([rng.permutation(len(data)) for _ in range(self.n_epochs)])
        loops.learn_rows(np.ascontiguousarray(data), self._prototypes, order, squared_distances, radii, LEARNING_RATES)
        return errors

    def _best(self, data: FloatArray) -> tuple[npt.NDArray[np.int64], FloatArray, npt.NDArray[np.int64]]:
        """Return the best unit (n,) of each row, the squared distance to it, and the second best unit."""
        n, size = len(data), block_rows(len(self._prototypes))
        best, squared, second = np.empty(n, np.int64), np.empty(n), np.empty(n, np.int64)
        for start in range(0, n, size):
            part, rows = slice(start, start + size), np.arange(len(data[start : start + size]))
            block = pairwise_squared(data[part], self._prototypes)
            best[part] = np.argmin(block, axis=1)
            squared[part] = block[rows, best[part]]
            block[rows, best[part]] = np.inf
            second[part] = np.argmin(block, axis=1)
        return best, squared, second

    def transform(self, X: Any) -> FloatArray:
        """Return places (m, d) of the best units of new rows (m, p); for the fitted rows the embedding itself."""
        points = self._new_points(X)
        return self.units_[self._best(self._scaled.to(points))[0]]

    def inverse_transform(self, Y: Any) -> FloatArray:
        """Return prototypes (m, p) of the units nearest to the places Y (m, d)."""
        places = self._scores(Y)
        return self.prototypes_[np.argmin(pairwise_squared(places, self.units_), axis=1)]
