"""Diffusion maps: coordinates whose Euclidean distances are those of a random walk on the data."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from dreval._check import check_float, check_int
from dreval.errors import DegenerateDataWarning, InputError, warn
from dreval.geometry.distances import nearest, pairwise_squared
from dreval.methods._method import FloatArray, Method, fix_signs, method
from dreval.methods._spectral import top_eigenpairs
from dreval.records.notes import note

ROUNDINGS_PER_ENTRY = 4  # of the kernel: those of the entry and of the sums and roots that scale it
CONFINED_GAP = 1e-10  # a walk whose second eigenvalue is this near to 1 does not leave a part of the data


@method(
    title="Diffusion maps",
    family="spectral",
    deterministic=True,
    out_of_sample=True,
    inverse=False,
    supervised=False,
    cost="O(n^2 (p + d)) time, O(n^2) memory",
    max_components=lambda n, _p, _: n - 1,
    reference="@coifman2006.",
)
class DiffusionMaps(Method):
    r"""Diffusion maps: the slowest functions of a random walk that steps to near points.

    With :math:`k_{ij} = \exp(-|x_i - x_j|^2 / (2\sigma^2))` and :math:`q_i = \sum_j k_{ij}` the walk has the weights
    :math:`w_{ij} = k_{ij} / (q_i q_j)^\alpha`, degrees :math:`D_i = \sum_j w_{ij}` and transitions
    :math:`P = D^{-1} W`. With :math:`P \psi_j = \lambda_j \psi_j`, scaled to
    :math:`\sum_i D_i \psi_{ij}^2 = \sum_i D_i`, the coordinates are :math:`y_{ij} = \lambda_j^t \psi_{ij}`, the
    constant left out.

    Parameters
    ----------
    n_components : int
        Number d of coordinates, at most n - 1.
    bandwidth : float, optional
        :math:`\sigma`, a length in the unit of the data, not a squared one; by default the median distance to the 15th
        nearest neighbor (the last one where there are fewer).
    alpha : float
        Power of the density estimate that is divided out, 0 to 1: with 0 the sampling density has its full effect, with
        1 only the shape of the data counts.
    diffusion_time : int
        Number t of steps, at least 0.
    %(unused_seed)s

    Attributes
    ----------
    embedding_ : ndarray (n, d)
        Coordinates. With d = n - 1 their distances are the diffusion distances. In each column the entry of largest
        size is positive.
    eigenvalues_ : ndarray (d,)
        :math:`\lambda_1 \ge \dots \ge \lambda_d`, in [0, 1]; 0 where they are not above rounding.
    bandwidth_ : float
        :math:`\sigma` as used.

    Raises
    ------
    InputError
        If a parameter is out of its range, the data are constant, or the bandwidth is so large that the kernel is.

    Warns
    -----
    DegenerateDataWarning
        If the walk cannot leave a part of the data: the first coordinates then only separate such parts.

    See Also
    --------
    dreval.methods.LaplacianEigenmaps : eigenvectors of a sparse neighborhood graph.
    dreval.methods.KernelPCA : leading functions of a kernel without the normalization.

    Notes
    -----
    %(cost)s

    All pairs of points are connected. New points are placed by the Nyström formula :math:`\psi(x) = \lambda^{-1} \sum_j
    p(x, x_j) \psi_j`, which is exact at fitted points. A coordinate with eigenvalue 0 is 0.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval
    >>> X = dreval.simulate("spiral", n=200, random_state=0).data
    >>> maps = dreval.methods.DiffusionMaps(n_components=2).fit(X)
    >>> maps.embedding_.shape, bool(maps.eigenvalues_[0] < 1)
    ((200, 2), True)
    """

    n_components: int = 2
    _: KW_ONLY
    bandwidth: float | None = None
    alpha: float = 1.0
    diffusion_time: int = 1
    random_state: int | np.random.Generator | None = None

    def _fit(self, X: FloatArray) -> None:
        check_float(self.alpha, "alpha", low=0.0, high=1.0)
        check_int(self.diffusion_time, "diffusion_time", low=0)
        self._points, self.bandwidth_ = X, self._bandwidth(X)
        kernel = self._kernel(X)
        self._density = kernel.sum(axis=1) ** self.alpha
        kernel /= self._density[:, None] * self._density
        degrees = kernel.sum(axis=1)
        roots = np.sqrt(degrees / degrees.sum())
        kernel /= np.sqrt(degrees)[:, None] * np.sqrt(degrees)
        rounding = ROUNDINGS_PER_ENTRY * len(X) * np.finfo(float).eps * float(kernel.max())
        kernel -= roots[:, None] * roots  # removes the constant, whose eigenvalue is 1
        values, vectors = top_eigenpairs(kernel, self.n_components)
        if values[0] > 1 - CONFINED_GAP:
            warn(DegenerateDataWarning(note("diffusion_maps.stuck", bandwidth=self.bandwidth_)))
        if not values[0] > rounding:
            received = f"{self.bandwidth_:.4g}, with which the kernel does not vary beyond rounding"
            requirement = "must be of the order of the distances in the data"
            raise InputError("bandwidth", requirement, received, "Choose a smaller one.")
        self.eigenvalues_ = np.where(values > rounding, np.minimum(values, 1.0), 0.0)
        vectors -= roots[:, None] * (roots @ vectors)
        self._functions = fix_signs(vectors / roots[:, None]) * (values > rounding)
        self.embedding_ = self._functions * self.eigenvalues_**self.diffusion_time

    def _bandwidth(self, X: FloatArray) -> float:
        """Return the bandwidth; by default the median distance to the 15th neighbor."""
        if self.bandwidth is not None:
            if check_float(self.bandwidth, "bandwidth", low=0.0) == 0.0:
                raise InputError("bandwidth", "must be above 0", "0", "Leave it out, or pass a positive number.")
            return float(self.bandwidth)
        lengths = np.sqrt(nearest(X, min(15, len(X) - 1))[1][:, -1])
        if (X == X[0]).all():
            received, hint = f"{len(X)} copies of one point", "Pass data that vary."
            raise InputError("X", "must have two points that differ, to determine the bandwidth", received, hint)
        if not lengths.any():
            raise InputError("bandwidth", "must be above 0", "0 (points with 15 copies)", "Pass a positive bandwidth.")
        return float(np.median(lengths) or lengths[lengths > 0].min())

    def _kernel(self, X: FloatArray) -> FloatArray:
        """Return kernel values (m, n) between rows and fitted points."""
        scaled = (X - self._points[0]) / self.bandwidth_, (self._points - self._points[0]) / self.bandwidth_
        squared = pairwise_squared(*scaled)
        squared *= -0.5
        return np.exp(squared, out=squared)

    def transform(self, X: Any) -> FloatArray:
        """Return coordinates (m, d) of new rows (m, p) by the Nyström formula; O(m n (p + d)) time."""
        kernel = self._kernel(self._new_points(X))
        kernel /= self._density
        degrees = kernel.sum(axis=1, keepdims=True)
        kernel /= np.where(degrees > 0, degrees, 1.0)  # a point far from all others goes to the origin
        scale = np.where(self.eigenvalues_ > 0, self.eigenvalues_, np.inf)
        return (kernel @ self._functions) * (self.eigenvalues_**self.diffusion_time / scale)
