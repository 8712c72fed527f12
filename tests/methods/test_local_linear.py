"""LLE, modified LLE, Hessian eigenmaps and LTSA against scikit-learn, naive twins, and flat data."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.manifold import LocallyLinearEmbedding as Oracle

import dreval
from dreval.errors import ApproximationWarning, InputError
from dreval.geometry.distances import nearest
from dreval.methods import LLE, LTSA, HessianLLE, ModifiedLLE

DATA = {
    "swiss_roll": lambda: dreval.simulate("swiss_roll", n=800, random_state=2, noise=0.05).data,
    "s4": lambda: dreval.simulate("s4", n=300, random_state=0).data,
    "hemisphere": lambda: dreval.simulate("hemisphere", n=500, random_state=0).data,
}
# scikit-learn keeps k - d - 1 columns in its Hessian where the paper keeps d (d + 1) / 2: the same for k = 6, d = 2.
METHODS = {"standard": (LLE, 12), "modified": (ModifiedLLE, 12), "hessian": (HessianLLE, 6), "ltsa": (LTSA, 12)}


def _apart(Y, Z):
    """Largest sine of the angles between the column spaces."""
    Y, Z = np.linalg.qr(Y)[0], np.linalg.qr(Z)[0]
    return np.linalg.norm(Y - Z @ (Z.T @ Y), 2)


@pytest.mark.filterwarnings("ignore:The graph of 12 nearest neighbors probably has shortcuts")
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("method", METHODS)
def test_spans_equal_those_of_scikit_learn(data, method):
    """The planes of both embeddings agree to 1e-6."""
    cls, k = METHODS[method]
    X = DATA[data]()
    reference = Oracle(n_neighbors=k, n_components=2, method=method, eigen_solver="dense").fit_transform(X)
    without = {"include_self": False} if cls in (LTSA, HessianLLE) else {}
    assert _apart(cls(2, n_neighbors=k, **without).fit_transform(X), reference) < 1e-6


@pytest.mark.parametrize("cls", [LTSA, HessianLLE])
def test_an_outlier_is_fixed_by_its_neighborhood(cls):
    """Without itself in its neighborhood an outlier adds an eigenvalue 0; by default it does not."""
    X = np.vstack([dreval.simulate("s4", n=200, random_state=0).data, [[60.0, 60.0, 60.0]]])
    loose, constrained = (cls(2, n_neighbors=12, include_self=include).fit(X) for include in (False, True))
    assert loose.eigenvalues_[0] < 1e-12
    assert abs(loose.embedding_[-1, 0]) > 0.99
    assert constrained.eigenvalues_[0] > 1e-8


def test_hessian_eigenmaps_need_the_point_itself_on_small_neighborhoods():
    """k = 7 on rolls of 500 points: R^2 of the latent variables falls below .6 less often with the point than without.

    Over 40 rolls 2 times and 11 times; with k = 15, where the graph has short cuts, both fail.
    """
    failed = {}
    for include in (True, False):
        result = []
        for seed in range(10):
            roll = dreval.simulate("swiss_roll", n=500, random_state=seed)
            Y = np.c_[np.ones(500), HessianLLE(2, n_neighbors=7, include_self=include).fit_transform(roll.data)]
            latent = (roll.latent - roll.latent.mean(axis=0)) / roll.latent.std(axis=0)
            result.append(1 - np.mean((latent - Y @ np.linalg.lstsq(Y, latent, rcond=None)[0]) ** 2))
        failed[include] = sum(value < 0.6 for value in result)
    assert failed[True] <= 1 < 3 <= failed[False]
    assert HessianLLE().include_self is min(failed, key=lambda include: failed[include])


@pytest.mark.filterwarnings("ignore:The graph of 12 nearest neighbors probably has shortcuts")
def test_lle_places_new_points_like_scikit_learn():
    """Barycenters of the nearest fitted points, by the same weights."""
    X, new = DATA["s4"](), dreval.simulate("s4", n=40, random_state=1).data
    result = LLE(2, n_neighbors=12).fit(X)
    reference = Oracle(n_neighbors=12, n_components=2, eigen_solver="dense").fit(X)
    signs = np.sign(np.einsum("ij,ij->j", result.embedding_, reference.embedding_))
    assert_allclose(result.transform(new) * signs, reference.transform(new), atol=1e-6)


def _naive_hessian(X, k, d):
    """Donoho and Grimes, one neighborhood after the other, by Gram-Schmidt in plain loops."""
    n, neighbors = len(X), nearest(X, k)[0]
    M = np.zeros((n, n))
    for i in range(n):
        members = np.r_[i, neighbors[i]]
        rows = X[members] - X[members].mean(axis=0)
        U = np.linalg.svd(rows)[0][:, :d]
        columns = [np.ones(k + 1), *U.T] + [U[:, a] * U[:, b] for a in range(d) for b in range(a, d)]
        basis = []
        for column in columns:
            for _ in range(2):
                for unit in basis:
                    column = column - unit * (unit @ column)
            basis.append(column / np.linalg.norm(column))
        W = np.array(basis[d + 1 :]).T
        M[np.ix_(members, members)] += W @ W.T
    return M


def _naive_modified(X, k, d):
    """Zhang and Wang, with the Householder matrix written out."""
    n, neighbors = len(X), nearest(X, k)[0]
    spectra = []
    for i in range(n):
        values, vectors = np.linalg.eigh((X[neighbors[i]] - X[i]) @ (X[neighbors[i]] - X[i]).T)
        values = np.where(np.arange(k)[::-1] < X.shape[1], values, 0.0)
        spectra.append((values[::-1], vectors[:, ::-1]))
    eta = np.median([values[d:].sum() / values[:d].sum() for values, _ in spectra])
    M = np.zeros((n, n))
    for i, (values, vectors) in enumerate(spectra):
        fits = [s for s in range(1, k - d + 1) if values[k - s :].sum() / values[: k - s].sum() < eta]
        s = max(fits, default=1)
        gram = vectors @ np.diag(values) @ vectors.T + 1e-3 * values.sum() * np.eye(k)
        w = np.linalg.solve(gram, np.ones(k))
        w /= w.sum()
        V = vectors[:, k - s :]
        alpha = np.linalg.norm(V.sum(axis=0)) / np.sqrt(s)
        h = alpha - V.sum(axis=0)
        h = h / np.linalg.norm(h) if np.linalg.norm(h) > 1e-12 else 0 * h
        W = np.vstack([-np.ones(s), (1 - alpha) * w[:, None] + V @ (np.eye(s) - 2 * np.outer(h, h))])
        members = np.r_[i, neighbors[i]]
        M[np.ix_(members, members)] += W @ W.T
    return M


TWINS = {"hessian": (HessianLLE, _naive_hessian), "modified": (ModifiedLLE, _naive_modified)}


ARBITRARY = "eigenvalues? (is|are) 0 up to rounding, besides that of the constant: the choice of eigenvectors"


def _fitted(method, X):
    """Return the fitted method, and whether it warned that its null space is larger than its embedding."""
    with warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always")
        method.fit(X)
    messages = [str(warning.message) for warning in records]
    assert all("neighbors are too many" in warning or re.search(ARBITRARY, warning) for warning in messages)
    return method, any(re.search(ARBITRARY, warning) for warning in messages)


@given(st.sampled_from(sorted(TWINS)), st.integers(0, 10**6), st.integers(1, 2))
def test_matrices_equal_naive_twins(name, seed, d):
    """Eigenvalues and vectors are those of the matrix written out point by point (k = 8), the next one also."""
    cls, naive = TWINS[name]
    X = np.random.default_rng(seed).uniform(size=(30, 3)) * [4, 2, 1]
    result, arbitrary = _fitted(cls(d, n_neighbors=8), X)
    M = naive(X, 8, d)
    assert arbitrary == (np.linalg.eigvalsh(M)[d + 1] < 1e-12)
    assert_allclose(M @ np.ones(30), 0, atol=1e-9)
    assert_allclose(M @ result.embedding_, result.embedding_ * result.eigenvalues_, atol=1e-9)
    assert_allclose(result.eigenvalues_, np.linalg.eigvalsh(M)[1 : d + 1], atol=1e-9)


@pytest.mark.parametrize("n", [200, 900])
@pytest.mark.parametrize("cls", [LTSA, HessianLLE])
def test_flat_data_come_back_up_to_an_affine_map(cls, n):
    """A strip in four dimensions is in the null space: both solvers find it, the constant kept out of the mixture."""
    rng = np.random.default_rng(0)
    flat = rng.uniform(size=(n, 2)) * [3, 1]
    method = cls(2, n_neighbors=10).fit(flat @ rng.normal(size=(2, 4)))
    assert _apart(method.embedding_, flat - flat.mean(axis=0)) < 1e-6
    assert_allclose(method.embedding_.sum(axis=0), 0, atol=1e-9)
    assert method.eigenvalues_.max() < 1e-10


def test_flat_data_in_modified_lle():
    """The ridge of the weights (1e-3) leaves an affine map only up to about its size."""
    rng = np.random.default_rng(0)
    flat = rng.uniform(size=(300, 2)) * [3, 1]
    assert (
        _apart(ModifiedLLE(2, n_neighbors=10).fit_transform(flat @ rng.normal(size=(2, 4))), flat - flat.mean(0)) < 0.01
    )


@given(st.integers(0, 10**6))
def test_lle_solves_its_problem(seed):
    """(I - W)'(I - W) Y = Y diag(eigenvalues), weights by plain least squares; Y'Y = I or n I, mean 0."""
    X = np.random.default_rng(seed).normal(size=(25, 3))
    lle, neighbors = LLE(2, n_neighbors=7, normalize="sqrt_n", disconnected="connect").fit(X), nearest(X, 7)[0]
    W = np.zeros((25, 25))
    for i, row in enumerate(neighbors):
        steps = X[row] - X[i]
        w = np.linalg.solve(steps @ steps.T + 1e-3 * (steps**2).sum() * np.eye(7), np.ones(7))
        W[i, row] = w / w.sum()
    M = (np.eye(25) - W).T @ (np.eye(25) - W)
    Y = lle.embedding_
    assert_allclose(M @ Y, Y * lle.eigenvalues_, atol=1e-8)
    assert_allclose(Y.T @ Y, 25 * np.eye(2), atol=1e-8)
    assert_allclose(Y.mean(axis=0), 0, atol=1e-9)


def test_a_ridge_of_zero_raises_an_error():
    """Weights are not unique without a ridge."""
    with pytest.raises(InputError, match="`reg` must be above 0"):
        LLE(2, n_neighbors=8, reg=0.0).fit(DATA["s4"]())


def _flat(seed, n=200):
    """Uniform points of a square, and their images under a linear map to three dimensions."""
    rng = np.random.default_rng(seed)
    U = rng.uniform(size=(n, 2))
    return U, U @ rng.normal(size=(2, 3))


def _relative_residual(U, Y):
    """Least share of the variance of a column of U that affine functions of Y explain."""
    U, A = U - U.mean(axis=0), np.c_[np.ones(len(Y)), Y]
    return (1 - np.sum((U - A @ np.linalg.lstsq(A, U, rcond=None)[0]) ** 2, axis=0) / np.sum(U**2, axis=0)).min()


@pytest.mark.parametrize("cls", [LTSA, HessianLLE])
@pytest.mark.parametrize("seed", range(8))
def test_flat_data_are_recovered_or_a_warning_reports_the_loss(cls, seed):
    """The first of these samples has a part that can rotate freely; with k = 10 it is fixed."""
    U, X = _flat(seed)
    method, arbitrary = _fitted(cls(2, n_neighbors=7), X)
    assert arbitrary == (seed == 0)
    assert arbitrary == (_relative_residual(U, method.embedding_) < 1 - 1e-6)
    held, arbitrary = _fitted(cls(2, n_neighbors=10), X)
    assert not arbitrary
    assert _relative_residual(U, held.embedding_) > 1 - 1e-6


@given(st.integers(0, 10**6), st.integers(4, 12), st.integers(1, 2))
def test_hessian_eigenmaps_of_few_points_are_arbitrary_if_their_matrix_is_singular(seed, n, d):
    """The rank of the matrix, written out, decides; with n <= k + 1 and so at most d (d + 1) / 2 it is too low."""
    X = np.random.default_rng(seed).normal(size=(n, 3))
    k = min(7, n - 1)
    if (d + 1) * (d + 2) / 2 > k:
        with pytest.raises(InputError, match="`n_components` must be at most 1 for HessianLLE"):
            HessianLLE(d).fit(X)
        return
    arbitrary = _fitted(HessianLLE(d), X)[1]
    assert arbitrary == (n - np.linalg.matrix_rank(_naive_hessian(X, k, d), tol=1e-9) > d + 1)
    assert arbitrary or n > k + 1 or n - d * (d + 1) // 2 == d + 1


@pytest.mark.parametrize("cls", [LLE, LTSA, HessianLLE, ModifiedLLE])
@pytest.mark.parametrize("data", ["digits", "iris", "wdbc", "swiss_roll", "s4", "hemisphere", "normal"])
@pytest.mark.filterwarnings("ignore:The graph of 7 nearest neighbors has")
def test_ordinary_data_do_not_seem_arbitrary(cls, data):
    """Two coordinates with the default neighborhoods: there is no warning (warnings are errors)."""
    tables = {"digits": load_digits, "iris": load_iris, "wdbc": load_breast_cancer}
    if data in tables:
        X = tables[data]().data[:800]
    else:
        X = np.random.default_rng(0).normal(size=(60, 4)) if data == "normal" else DATA[data]()
    assert cls().fit(X).embedding_.shape == (len(X), 2)


@pytest.mark.parametrize("cls", [LLE, LTSA, HessianLLE, ModifiedLLE])
def test_copies_leave_an_arbitrary_embedding(cls):
    """Forty points three times: the place of each group of three is arbitrary at no cost."""
    X = np.repeat(np.random.default_rng(0).normal(size=(40, 3)), 3, axis=0)
    with pytest.warns(ApproximationWarning, match=ARBITRARY) as records:
        cls().fit(X)
    assert records[0].message.note.code == "null_space.larger"


def test_with_all_coordinates_no_choice_is_arbitrary():
    """With d = n - 1 no eigenvector is left out, for any eigenvalues."""
    X = np.repeat(np.random.default_rng(0).normal(size=(4, 3)), 2, axis=0)
    assert LLE(7, n_neighbors=5).fit(X).embedding_.shape == (8, 7)
