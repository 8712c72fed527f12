"""Generative topographic mapping."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from dreval._check import check_float, check_int
from dreval._parallel import few_blas_threads
from dreval.errors import ApproximationWarning, InputError, warn
from dreval.geometry.distances import pairwise_squared
from dreval.geometry.kernels import radial_values
from dreval.methods._latent import Scaled, lattice, on_plane, per_axis, principal_scores
from dreval.methods._method import FloatArray, Method, method
from dreval.records.notes import note

MIN_NOISE_VARIANCE = 1e-6  # of the noise, in mean variances of a column


@method(
    title="Generative topographic mapping",
    family="probabilistic",
    deterministic=True,
    out_of_sample=True,
    inverse=True,
    supervised=False,
    cost="O(n p q) time a round with q nodes, O(n q) memory",
    max_components=lambda n, p, _: min(n - 1, p, 3),
    reference="@bishop1998, Sections 2 and 3.",
)
class GTM(Method):
    r"""GTM: a smooth sheet through the data, with a mixture of Gaussians on it.

    The latent variable is uniform on the q nodes :math:`u_k` of a grid on :math:`[-1, 1]^d`, which go to :math:`W'
    \phi(u_k)` with Gaussian basis functions and a constant :math:`\phi`; rows scatter about these points with variance
    :math:`1 / \beta` in all directions. EM makes the penalized log-likelihood

    .. math:: \sum_i \log \frac1q \sum_k N(x_i \mid W' \phi(u_k), \beta^{-1} I) - \tfrac{\alpha}{2} \|W\|^2

    as large as possible, starting from the principal plane; it never decreases. The coordinates are the posterior means
    :math:`\sum_k r_{ki} u_k`.

    Parameters
    ----------
    n_components : int
        Number d of latent variables, at most min(n - 1, p, 3).
    n_nodes : int
        About how many nodes q; the same number on each axis, at least 2.
    n_basis : int
        About how many Gaussian basis functions; the same number on each axis, at least 2.
    basis_width : float
        Their standard deviation, in distances between their centers; 0.1 to 10.
    reg : float
        :math:`\alpha`, for data scaled to mean column variance 1; larger values give a stiffer sheet.
    max_iter : int
        Largest number of rounds.
    tol : float
        Rounds end when the penalized log-likelihood of a row rises by less.
    %(unused_seed)s

    Attributes
    ----------
    embedding_ : ndarray (n, d)
        Posterior means, within [-1, 1].
    modes_ : ndarray (n, d)
        Nodes of largest posterior probability.
    nodes_ : ndarray (q, d)
        The grid.
    centers_ : ndarray (q, p)
        Their points in the space of the data.
    noise_variance_ : float
        1 / beta in squared units of the data.
    log_likelihood_ : float
        Log-likelihood of the data under the fitted model, in the units of the data.
    path_ : ndarray (n_iter_ + 1,)
        Penalized log-likelihood at the start and after each round, for data in units in which the mean variance of a
        column is 1; it rises.
    n_iter_ : int
        Number of rounds.

    Raises
    ------
    InputError
        If a parameter is out of its range.

    Warns
    -----
    ApproximationWarning
        If the likelihood still rose by more than ``tol`` in the last round.

    See Also
    --------
    dreval.methods.SOM : the algorithm that GTM replaces by a model.
    dreval.methods.GPLVM : a Gaussian process in place of basis functions.

    Notes
    -----
    %(cost)s

    The number of nodes grows as a power of d, hence at most three latent variables. The sheet starts on the principal
    plane, with the noise of the next component or half the squared distance of neighboring nodes, whichever is larger.
    The penalty is on all weights, including that of the constant; the data are centered first, so that it pulls the
    sheet to their mean. The noise variance is kept above a millionth of the mean variance of a column.

    References
    ----------
    %(reference)s

    Examples
    --------
    >>> import dreval, numpy as np
    >>> X = dreval.simulate("s4", n=100, random_state=0).data
    >>> gtm = dreval.methods.GTM(n_components=2).fit(X)
    >>> bool((np.diff(gtm.path_) > 0).all()), gtm.inverse_transform(gtm.embedding_).shape
    (True, (100, 3))
    """

    n_components: int = 2
    _: KW_ONLY
    n_nodes: int = 400
    n_basis: int = 25
    basis_width: float = 1.0
    reg: float = 0.1
    max_iter: int = 500
    tol: float = 1e-5
    random_state: int | np.random.Generator | None = None

    def _fit(self, X: FloatArray) -> None:
        d = self.n_components
        check_int(self.n_nodes, "n_nodes", low=2)
        check_int(self.n_basis, "n_basis", low=2)
        check_float(self.basis_width, "basis_width", low=0.1, high=10.0)
        check_int(self.max_iter, "max_iter", low=1)
        check_float(self.tol, "tol", low=0.0)
        if check_float(self.reg, "reg", low=0.0) == 0.0:
            hint = "Choose a small positive number, such as 0.001."
            raise InputError("reg", "must be above 0, or weights have no unique value", "0", hint)
        self._scaled = Scaled.of(X)
        data = self._scaled.to(X)
        self.nodes_ = _grid(per_axis(self.n_nodes, d), d)
        basis = self._basis(self.nodes_)
        self._start(data, basis)
        with few_blas_threads(len(data)):
            self._rounds(data, basis)
        self.centers_ = self._scaled.back(basis @ self._weights)
        self.noise_variance_ = self._variance * self._scaled.unit**2
        posterior = self._posterior(data)[0]
        self.modes_ = self.nodes_[np.argmax(posterior, axis=0)]
        self.embedding_ = posterior.T @ self.nodes_

    def _basis(self, places: FloatArray) -> FloatArray:
        """Return basis functions (m, b + 1) at places (m, d), the constant last."""
        count = per_axis(self.n_basis, self.n_components)
        width = self.basis_width * 2.0 / (count - 1)
        squared = pairwise_squared(places, _grid(count, self.n_components))
        return np.column_stack([radial_values(squared, "gaussian", width), np.ones(len(places))])

    def _start(self, data: FloatArray, basis: FloatArray) -> None:
        """Set the sheet to the principal plane, and the noise."""
        d = self.n_components
        scores, axes = principal_scores(data, min(d + 1, *data.shape))
        sizes = np.sqrt((scores**2).mean(axis=0))
        plane = on_plane(self.nodes_, sizes[:d], axes[:, :d])
        ridge = basis.T @ basis + 1e-9 * len(basis) * np.eye(basis.shape[1])
        self._weights = np.linalg.solve(ridge, basis.T @ plane)
        gaps = pairwise_squared(plane)
        np.fill_diagonal(gaps, np.inf)
        beyond = sizes[d] ** 2 if len(sizes) > d else 0.0
        self._variance = max(beyond, 0.5 * float(gaps.min(axis=1).mean()), MIN_NOISE_VARIANCE)

    def _rounds(self, data: FloatArray, basis: FloatArray) -> None:
        """Run EM until the likelihood settles."""
        n, p = data.shape
        squares = pairwise_squared(basis @ self._weights, data)
        posterior, value = self._posterior(data, squares)
        values = [value]
        for _ in range(self.max_iter):
            weighted = basis * posterior.sum(axis=1)[:, None]
            ridge = self.reg * self._variance * np.eye(basis.shape[1])
            self._weights = np.linalg.solve(basis.T @ weighted + ridge, basis.T @ (posterior @ data))
            squares = pairwise_squared(basis @ self._weights, data)
            self._variance = max(float(np.sum(posterior * squares)) / (n * p), MIN_NOISE_VARIANCE)
            posterior, value = self._posterior(data, squares)
            values.append(value)
            if values[-1] - values[-2] <= self.tol * n:
                break
        self.path_, self.n_iter_ = np.array(values), len(values) - 1
        penalty = 0.5 * self.reg * float(np.sum(self._weights**2))
        self.log_likelihood_ = values[-1] + penalty - n * p * math.log(self._scaled.unit)
        if values[-1] - values[-2] > self.tol * n:
            gain = (values[-1] - values[-2]) / n
            warn(ApproximationWarning(note("gtm.unsettled", max_iter=self.max_iter, gain=gain)))

    def _posterior(self, data: FloatArray, squares: FloatArray | None = None) -> tuple[FloatArray, float]:
        """Return posterior probabilities of the nodes (q, n), and the penalized log-likelihood."""
        if squares is None:
            squares = pairwise_squared(self._basis(self.nodes_) @ self._weights, data)
        logs = -0.5 * squares / self._variance
        highest = logs.max(axis=0)
        densities = np.exp(logs - highest)
        total = densities.sum(axis=0)
        constant = np.log(len(squares)) + 0.5 * data.shape[1] * np.log(2.0 * np.pi * self._variance)
        value = np.sum(np.log(total) + highest - constant) - 0.5 * self.reg * np.sum(self._weights**2)
        return densities / total, float(value)

    def transform(self, X: Any) -> FloatArray:
        """Return posterior means (m, d) of new rows (m, p); for the fitted rows the embedding. O(m q p) time."""
        points = self._new_points(X)
        return self._posterior(self._scaled.to(points))[0].T @ self.nodes_

    def inverse_transform(self, Y: Any) -> FloatArray:
        """Return the points (m, p) of the sheet at places Y (m, d)."""
        places = self._scores(Y)
        return self._scaled.back(self._basis(places) @ self._weights)


def _grid(count: int, d: int) -> FloatArray:
    """Return a grid with ``count`` nodes on each axis of [-1, 1]^d."""
    return 2.0 * lattice((count,) * d) / (count - 1) - 1.0
