"""Independent component analysis by FastICA, and the grouping of its components into independent subspaces."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from dreval._check import check_float, check_int
from dreval._random import root_seed, stream
from dreval.errors import ApproximationWarning, InputError, warn
from dreval.geometry.kernels import center, gram_matrix
from dreval.methods._method import FloatArray, Method, fix_signs, method
from dreval.methods._supervised import whiten
from dreval.records.notes import note

MAX_HSIC_ROWS = 1000  # from which the dependence of pairs of components is estimated
GAUSSIAN_LOG_COSH = 0.37456720749143805  # mean of log cosh of a standard normal variable


@method(
    title="Independent component analysis (FastICA)",
    family="linear",
    deterministic=False,
    out_of_sample=True,
    inverse=True,
    supervised=False,
    cost="O(n p min(n, p)) time and O(n d^2) a round, O(n p) memory",
    max_components=lambda n, p, _: min(n - 1, p),
    reference="@hyvarinen1999.",
)
class FastICA(Method):
    r"""FastICA: the rotation of the whitened data whose columns are least Gaussian.

    The data are reduced to their d leading principal components and whitened, Z. The orthogonal W is a fixed point of

    .. math:: w \leftarrow E\{z\, g(w'z)\} - E\{g'(w'z)\}\, w, \qquad g = \tanh,

    for all rows at once, made orthonormal by :math:`W \leftarrow (WW')^{-1/2} W` each round. If X is a mixture of
    independent components of which at most one is Gaussian, ZW' are these components up to order and sign.

    With ``subspace_size`` m the components are grouped into subspaces of m whose members depend on each other: the
    pairwise HSIC within groups is maximized, greedily and then by swaps. This is independent subspace analysis
    under the conjecture that ISA is ICA followed by a permutation.

    Parameters
    ----------
    n_components : int
        Number d of components, at most min(n - 1, p).
    subspace_size : int, optional
        Number m of components of one subspace, a divisor of d.
    max_iter : int
        Largest number of rounds, at least 1.
    tol : float
        Rounds end when no row turns by more: largest 1 - |cosine| between rounds.
    random_state : int, Generator or None
        Seed of the first rotation.

    Attributes
    ----------
    embedding_ : ndarray (n, d)
        Components, uncorrelated with variance 1 (divisor n), the least Gaussian first (by the mean of log cosh), or
        subspace after subspace; in each column the entry of largest size is positive. Columns beyond the rank are 0.
    mixing_ : ndarray (p, d)
        X - mean_ is approximately ``embedding_ @ mixing_.T``.
    directions_ : ndarray (p, d)
        The components are (X - mean_) directions_.
    mean_ : ndarray (p,)
        Column means.
    subspaces_ : ndarray (d,) or None
        Number of the subspace of each column.
    n_iter_ : int
        Number of rounds.

    Raises
    ------
    InputError
        If a parameter is out of its range, or all points are copies of one.

    Warns
    -----
    ApproximationWarning
        If rows still turn by more than ``tol`` in the last round.

    See Also
    --------
    dreval.methods.PCA : the whitened data before the rotation, up to scale.
    dreval.hsic_test : test of independence of two sets of columns.

    Notes
    -----
    %(cost)s

    The result is invariant to rotations of the data, except that another local optimum may be found.

    References
    ----------
    %(reference)s
    Cardoso, J.-F. (1998). Multidimensional independent component analysis. *ICASSP*, 1941-1944.
    Gretton, A., et al. (2005). Measuring statistical dependence with Hilbert-Schmidt norms. *ALT*, 63-77.

    Examples
    --------
    >>> import dreval, numpy as np
    >>> S = np.random.default_rng(0).uniform(-1, 1, size=(500, 2))
    >>> Y = dreval.methods.FastICA(n_components=2, random_state=0).fit_transform(S @ [[2.0, 1.0], [1.0, 1.0]])
    >>> bool(abs(np.corrcoef(S.T, Y.T)[:2, 2:]).max(axis=0).min() > 0.98)
    True
    """

    n_components: int = 2
    _: KW_ONLY
    subspace_size: int | None = None
    max_iter: int = 200
    tol: float = 1e-6
    random_state: int | np.random.Generator | None = None

    varied = True

    def _fit(self, X: FloatArray) -> None:
        check_int(self.max_iter, "max_iter", low=1)
        check_float(self.tol, "tol", low=0.0)
        d, n = self.n_components, len(X)
        size = self.subspace_size
        if size is not None and d % check_int(size, "subspace_size", low=1, high=d):
            raise InputError("subspace_size", f"must divide n_components, {d}", str(size), "Choose a divisor.")
        white = whiten(X)
        r = min(d, len(white.sizes))
        seed = root_seed(self.random_state)
        W = self._rotation(np.sqrt(n) * white.left[:, :r], stream(seed, "fast_ica").standard_normal((r, r)))
        scores = np.sqrt(n) * white.left[:, :r] @ W.T
        log_cosh = np.logaddexp(scores, -scores) - np.log(2)  # without overflow
        order = np.argsort(-np.abs(log_cosh.mean(axis=0) - GAUSSIAN_LOG_COSH), kind="stable")
        self.subspaces_ = None
        if self.subspace_size is not None and r == d:
            order = order[_group_components(scores[:, order], self.subspace_size, stream(seed, "subspaces"))]
            self.subspaces_ = np.arange(d) // self.subspace_size
        fixed = fix_signs(scores[:, order])
        turn = W[order].T * np.where(np.any(fixed != scores[:, order], axis=0), -1.0, 1.0)
        pad = ((0, 0), (0, d - r))
        self.embedding_ = np.pad(fixed, pad)
        self.mean_ = white.mean
        self.directions_ = np.pad(np.sqrt(n) * (white.axes[:, :r] / white.sizes[:r]) @ turn, pad)
        self.mixing_ = np.pad((white.axes[:, :r] * white.sizes[:r]) @ turn / np.sqrt(n), pad)

    def _rotation(self, Z: FloatArray, start: FloatArray) -> FloatArray:
        """Return the orthogonal fixed point (r, r) that the iteration reaches from a start."""
        W = _orthonormalize(start)
        for round_ in range(1, self.max_iter + 1):
            values = np.tanh(Z @ W.T)
            new = _orthonormalize(values.T @ Z / len(Z) - (1 - values**2).mean(axis=0)[:, None] * W)
            turn = float(np.max(1 - np.abs(np.einsum("ij,ij->i", new, W))))
            W, self.n_iter_ = new, round_
            if turn <= self.tol:
                return W
        warn(ApproximationWarning(note("fast_ica.unsettled", max_iter=self.max_iter, moved=turn)))
        return W

    def transform(self, X: Any) -> FloatArray:
        """Return components (m, d) of new rows (m, p); those of the fitted rows are the embedding itself."""
        return (self._new_points(X) - self.mean_) @ self.directions_

    def inverse_transform(self, Y: Any) -> FloatArray:
        """Return the points (m, p) of the principal plane that mix the components Y (m, d)."""
        return self._scores(Y) @ self.mixing_.T + self.mean_


def _orthonormalize(W: FloatArray) -> FloatArray:
    """Return (W W')^(-1/2) W, the nearest orthogonal matrix."""
    left, _, right = np.linalg.svd(W)
    return left @ right


def _group_components(S: FloatArray, size: int, rng: np.random.Generator) -> Any:
    """Return an order of the columns in which consecutive groups of ``size`` have a large sum of pairwise HSIC."""
    rows = S if len(S) <= MAX_HSIC_ROWS else S[np.sort(rng.choice(len(S), MAX_HSIC_ROWS, replace=False))]
    grams = [center(gram_matrix(column, "S").matrix).ravel() for column in rows.T]
    dependence = np.array([[a @ b for b in grams] for a in grams])
    remaining, order = list(range(S.shape[1])), []
    while remaining:
        group = [remaining.pop(0)]
        while len(group) < size:
            group.append(remaining.pop(int(np.argmax([dependence[group, j].sum() for j in remaining]))))
        order += group
    return _swap_members(np.array(order), dependence, size)


def _swap_members(order: Any, dependence: FloatArray, size: int) -> Any:
    """Swap members of different groups as long as that raises the sum within groups."""

    def within(columns: Any) -> float:
        groups = columns.reshape(-1, size)
        return float(sum(dependence[np.ix_(group, group)].sum() for group in groups))

    best, improved = within(order), True
    while improved:
        improved = False
        for i in range(len(order)):
            for j in range((i // size + 1) * size, len(order)):
                swapped = order.copy()
                swapped[[i, j]] = swapped[[j, i]]
                value = within(swapped)
                if value > best * (1 + 1e-12):
                    order, best, improved = swapped, value, True
    return order
