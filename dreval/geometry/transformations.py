"""The transformations of the data on which tractable consistency is measured (Roy 2021, Definitions 4 and 5)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dreval._check import FloatArray, IntArray, check_float, check_int, check_one_of
from dreval._random import stream
from dreval.errors import InputError
from dreval.geometry.distances import pairwise_squared
from dreval.geometry.kernels import RADIAL_KERNELS, radial_values
from dreval.geometry.rkhs import Scaled, reconstruction_map, scaled_points
from dreval.records.notes import Notes, note

TRANSFORMATIONS = ("perturbation", "definition")
# Steepest slope of each kernel against the distance, for a bandwidth of 1.
_SLOPES = {"gaussian": np.exp(-0.5), "laplace": 1.0, "rational_quadratic": 3 * np.sqrt(6) / 16}
_SHRUNK = 0.9  # slope that replaces one of 1 or more, which would fold the data


@dataclass(frozen=True, eq=False)
class Transformations:
    """The n p transformed data sets X~ = base + size k(X_A, x_i) e_j, made one at a time.

    Attributes
    ----------
    X : ndarray (n, p)
        The data.
    reconstruction : ndarray (n, p)
        X_A, their reconstruction from the embedding.
    kind, kernel : str
        Kind of transformation; the kernel.
    bandwidth : float
        Its length-scale, in the unit of the data.
    amplitude : float
        The factor a that is used: smaller than the argument if that would not give an invertible transformation.
    size : float
        Factor of the kernel: a s, or 1 by the printed definition.
    slope : float
        Steepest slope of the added term; below 1 the transformation is invertible, as Definition 4 requires.
    notes : tuple of Note
        Assumptions.
    """

    X: FloatArray
    reconstruction: FloatArray
    kind: str
    kernel: str
    bandwidth: float
    amplitude: float
    size: float
    slope: float
    notes: Notes
    scaled: Scaled = field(repr=False)

    @property
    def base(self) -> FloatArray:
        """The data before the bump is added: X, or by the printed definition X - X_A."""
        return self.X if self.kind == "perturbation" else self.X - self.reconstruction

    def bump(self, i: int) -> FloatArray:
        """Size k(X_A, x_i), (n,)."""
        moved = (self.reconstruction - self.X[0]) * self.scaled.scale
        squared = pairwise_squared(moved, self.scaled.points[[i]])[:, 0]
        return self.size * radial_values(squared, self.kernel, self.scaled.bandwidth)

    def data(self, i: int, j: int) -> FloatArray:
        """The transformed data (n, p) of center i and column j; a new array."""
        made = np.array(self.base)
        made[:, j] += self.bump(i)
        return made

    def choose(self, count: int | str, root: int) -> IntArray:
        """Centers and columns (m, 2), spread evenly over the columns; a longer choice begins with a shorter one."""
        n, p = self.X.shape
        count = transform_count(count, n, p)
        columns = stream(root, "columns").permutation(p)[:count]
        rounds = -(-count // p)
        orders = {j: stream(root, "centres", int(j)).permutation(n)[:rounds] for j in columns}
        pairs = [(orders[j][r], j) for r in range(rounds) for j in columns]
        return np.array(pairs[:count], dtype=np.int64)


def transform_count(count: int | str, n: int, p: int) -> int:
    """Number of transformations: "all" is n p, and there are no more."""
    if isinstance(count, str):
        if count != "all":
            cure = f'Pass their number, or "all" for {n * p:,}.'
            raise InputError("n_transformations", 'must be an integer or "all"', repr(count), cure)
        return n * p
    return min(check_int(count, "n_transformations", low=1), n * p)


def check_amplitude(value: Any) -> float:
    """The factor a of the transformations: positive."""
    amplitude = check_float(value, "amplitude")
    if amplitude <= 0:
        raise InputError("amplitude", "must be positive", repr(amplitude), "Leave it out for 0.5.")
    return amplitude


def make_transformations(
    X: FloatArray, Y: FloatArray, kind: str = "perturbation", amplitude: float = 0.5, kernel: str = "gaussian"
) -> Transformations:
    """The n p transformations of the data on which tractable consistency is measured.

    Parameters
    ----------
    X : (n, p) array
        The data.
    Y : (n, d) array
        The embedding of the data by the method.
    kind : {"perturbation", "definition"}
        "perturbation": X~ = X + a s k(X_A, x_i) e_j, with s^2 = tr S_XX / (n p). "definition": X~ = k(X_A, x_i) e_j +
        (X - X_A). X_A is the reconstruction of the data from Y by Theorem 3 (corrected).
    amplitude : float
        The factor a > 0, for "perturbation".
    kernel : {"gaussian", "laplace", "rational_quadratic"}
        k on the data at distance r and length-scale sigma: exp(-r^2 / (2 sigma^2)), exp(-r / sigma) and
        1 / (1 + r^2 / (2 sigma^2)); sigma by the median rule, sqrt(median of the squared distances of all pairs).

    Returns
    -------
    Transformations
        ``data(i, j)`` is one transformed data set, ``choose(count, root)`` a sample stratified over columns.

    References
    ----------
    Roy (2021), Trustworthy Dimensionality Reduction, Definitions 4 and 5, Theorem 5.
    """
    kind = check_one_of(kind, TRANSFORMATIONS, "transformation", aliases=True)
    kernel = check_one_of(kernel, RADIAL_KERNELS, "kernel", aliases=True)
    amplitude = check_amplitude(amplitude)
    fit, scaled = reconstruction_map(Y, X, rule="theorem3"), scaled_points(X, "X")
    reconstruction, notes = fit(Y), (*fit.notes, *scaled.notes)
    bandwidth = scaled.bandwidth / scaled.scale
    steepest = float(_SLOPES[kernel]) / bandwidth
    if kind == "definition":
        return Transformations(X, reconstruction, kind, kernel, bandwidth, amplitude, 1.0, steepest, notes, scaled)
    spread = float(np.sqrt(np.mean((scaled.points - scaled.points.mean(axis=0)) ** 2))) / scaled.scale
    if amplitude * spread * steepest >= 1.0:
        requested, amplitude = amplitude, _SHRUNK / (spread * steepest)
        outliers = spread * steepest >= 1.0  # without them the bandwidth is above the spread
        notes += (note("amplitude.smaller", asked=requested, used=amplitude, outliers=outliers),)
    size = amplitude * spread
    return Transformations(X, reconstruction, kind, kernel, bandwidth, amplitude, size, size * steepest, notes, scaled)
