"""Kernel PCA against scikit-learn, R kernlab, PCA, and the optimization problem of a pre-image."""

from __future__ import annotations

from decimal import Decimal, localcontext
from io import StringIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.decomposition import KernelPCA as Oracle

import dreval
from dreval.errors import InputError
from dreval.methods import PCA, KernelPCA

DATA = {
    "swiss_roll": lambda: dreval.simulate("swiss_roll", n=300, random_state=0).data,
    "s1": lambda: dreval.simulate("s1", n=120, random_state=0).data,
    "wdbc": lambda: np.asarray(dreval.load_dataset("wdbc").data)[:450],
}


def _same_up_to_sign(Y, Z, tolerance=1e-6):
    signs = np.sign(np.einsum("ij,ij->j", Y, Z))
    assert_allclose(Y * signs, Z, atol=tolerance * np.abs(Z).max())


@pytest.mark.parametrize("name", DATA)
def test_equals_scikit_learn(name):
    """Scores of the data and of new rows, column by column up to sign, at the same gamma."""
    X = DATA[name]()
    result = KernelPCA(3).fit(X)
    reference = Oracle(3, kernel="rbf", gamma=0.5 / result.bandwidth_**2, eigen_solver="dense").fit(X)
    _same_up_to_sign(result.embedding_, reference.transform(X))
    _same_up_to_sign(result.transform(X[:30] * 1.01), reference.transform(X[:30] * 1.01))
    assert_allclose(result.eigenvalues_, reference.eigenvalues_, rtol=1e-8)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize(
    ("kernel", "sklearn_kernel"), [("polynomial", "poly"), ("sigmoid", "sigmoid"), ("cosine", "cosine")]
)
@pytest.mark.parametrize("sigma", [None, 40.0])
def test_kernels_of_inner_products_equal_those_of_scikit_learn(name, kernel, sklearn_kernel, sigma):
    """Polynomial of degree 3, sigmoid and cosine, with the default width and another one."""
    X = DATA[name]()
    X = (X - X.mean(axis=0)) / X.std(axis=0) if name == "wdbc" else X
    p = X.shape[1]
    result = KernelPCA(3, kernel=kernel, bandwidth=sigma).fit(X)
    gamma = 1 / p if sigma is None else 1 / sigma**2
    reference = Oracle(3, kernel=sklearn_kernel, gamma=gamma, degree=3, coef0=1.0, eigen_solver="dense").fit(X)
    assert_allclose(result.eigenvalues_, reference.eigenvalues_, rtol=1e-7, atol=1e-9 * result.eigenvalues_[0])
    clear = result.eigenvalues_ > 1e-6 * result.eigenvalues_[0]
    _same_up_to_sign(result.embedding_[:, clear], reference.transform(X)[:, clear])
    _same_up_to_sign(result.transform(X[:30] * 1.01)[:, clear], reference.transform(X[:30] * 1.01)[:, clear])


def test_errors_of_kernels_of_inner_products():
    """Rows of zeros have no angle, numbers overflow, and a kernel may not vary."""
    X = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(InputError, match=r"row of zeros.*row 3"):
        KernelPCA(kernel="cosine").fit(np.where(np.arange(20)[:, None] == 3, 0.0, X))
    with pytest.raises(InputError, match="overflows"):
        KernelPCA(kernel="polynomial", degree=200).fit(100 * X)
    with pytest.raises(InputError, match="must vary"):
        KernelPCA(kernel="sigmoid", offset=0.0, bandwidth=1.0).fit(1e3 + X)
    with pytest.raises(InputError, match="degree"):
        KernelPCA(kernel="polynomial", degree=0).fit(X)
    result = KernelPCA(kernel="cosine").fit(X).embedding_
    assert_allclose(KernelPCA(kernel="cosine").fit(X * 1e50).embedding_, result, atol=1e-12)


def _exact_eigenvalues(X, kernel, degree, d):
    """Return the d largest eigenvalues of the centered matrix, whose entries have 60 digits until they are centered."""
    with localcontext(prec=60):
        Z = [[Decimal(float(entry)) for entry in row] for row in X]
        inner = np.array([[sum(a * b for a, b in zip(u, v, strict=True)) for v in Z] for u in Z], dtype=object)
        arguments = inner / X.shape[1] + 1
        if kernel == "sigmoid":
            gram = np.array([[1 - 2 / ((2 * entry).exp() + 1) for entry in row] for row in arguments], dtype=object)
        else:
            gram = arguments**degree
        means = gram.sum(axis=0) / len(X)
        centered = gram - means[:, None] - means + means.sum() / len(X)
        largest = np.abs(centered).max()
        return np.linalg.eigvalsh((centered / largest).astype(float))[::-1][:d] * float(largest)


@pytest.mark.parametrize(
    ("kernel", "degree"), [("polynomial", 1), ("polynomial", 3), ("polynomial", 10), ("sigmoid", 1)]
)
@pytest.mark.parametrize("shift", [0.0, 100.0])
def test_components_of_nearly_constant_kernels_are_above_rounding(kernel, degree, shift):
    """On small data kernel values are near that of 0: eigenvalues are right to a fiftieth, or 0, or there is an error.

    The true eigenvalues are those of entries with 60 digits.
    """
    cloud, ranks = shift + np.random.default_rng(0).normal(size=(20, 3)), []
    for size in 10.0 ** np.arange(-9.5, -3.9, 0.5):
        kpca = KernelPCA(5, kernel=kernel, degree=degree)
        try:
            kpca.fit(cloud * size)
        except InputError:
            ranks.append(0)
            continue
        above = kpca.eigenvalues_ > 0
        ranks.append(int(above.sum()))
        assert_allclose(kpca.eigenvalues_[above], _exact_eigenvalues(cloud * size, kernel, degree, 5)[above], rtol=0.02)
        assert_allclose(kpca.transform(cloud * size), kpca.embedding_, atol=1e-10 * np.abs(kpca.embedding_).max())
        assert not kpca.embedding_[:, ~above].any()
    assert ranks == sorted(ranks)
    assert ranks[0] == 0
    assert ranks[-1] >= 3


@pytest.mark.parametrize("kernel", ["polynomial", "sigmoid"])
def test_rounding_does_not_grow_with_the_points(kernel):
    """A kernel of 600 points that is constant up to rounding raises an error."""
    X = np.random.default_rng(0).normal(size=(600, 4))
    with pytest.raises(InputError, match="`X` must vary under kernel"):
        KernelPCA(kernel=kernel).fit(1e-9 * X)
    assert KernelPCA(kernel=kernel).fit(1e-6 * X).eigenvalues_.all()


def test_equals_kernlab(root):
    """R kernlab's kpca with rbfdot: its scores are sqrt(n) times ours, since it divides the kernel matrix by n."""
    text = (root / "tests" / "validation" / "oracles" / "kernlab_kpca.csv").read_text("utf-8")
    table = np.loadtxt(StringIO(text), delimiter=",", skiprows=2)
    X, reference = table[:, :3], table[:, 3:]
    result = KernelPCA(3, bandwidth=np.sqrt(2.0)).fit(X)  # sigma 0.25 = 1 / (2 * 2)
    _same_up_to_sign(result.embedding_ * np.sqrt(len(X)), reference, 1e-10)


def test_linear_kernel_is_pca():
    """Scores, new rows and reconstructions are those of PCA."""
    X = DATA["s1"]()
    kernel, pca = KernelPCA(2, kernel="linear").fit(X), PCA(2).fit(X)
    assert_allclose(kernel.embedding_, pca.embedding_, atol=1e-8)
    assert_allclose(kernel.transform(X[:5] + 1), pca.transform(X[:5] + 1), atol=1e-8)
    back = pca.inverse_transform(pca.embedding_)
    assert_allclose(kernel.inverse_transform(kernel.embedding_), back, atol=1e-8)
    assert_allclose(kernel.denoise(X), back, atol=1e-8)


def test_precomputed_is_the_same():
    """A precomputed kernel matrix gives the result of its kernel."""
    X = DATA["s1"]()
    result = KernelPCA(2).fit(X)
    squared = ((X[:, None] - X[None]) ** 2).sum(-1)
    K = np.exp(-0.5 * squared / result.bandwidth_**2)
    precomputed = KernelPCA(2, kernel="precomputed").fit(K)
    assert_allclose(precomputed.embedding_, result.embedding_, atol=1e-9)
    assert_allclose(precomputed.transform(K[:4]), result.embedding_[:4], atol=1e-9)


@given(st.integers(0, 10**6), st.integers(1, 4))
def test_transform_of_the_fitted_rows_is_the_embedding(seed, d):
    """The empirical kernel map of a fitted row gives its own score."""
    X = np.random.default_rng(seed).normal(size=(20, 3))
    kpca = KernelPCA(d).fit(X)
    assert_allclose(kpca.transform(X), kpca.embedding_, atol=1e-9)


def _distance(kpca, X, points, scores):
    """Squared distance in the kernel's space between images and projections, up to a constant of the projection."""
    n, a = len(X), kpca.embedding_ / kpca.eigenvalues_
    weights = scores @ a.T
    weights += (1 - weights.sum(axis=1, keepdims=True)) / n
    kernel = np.exp(-0.5 * ((points[:, None] - X[None]) ** 2).sum(-1) / kpca.bandwidth_**2)
    return 1 - 2 * (weights * kernel).sum(axis=1)


@given(st.integers(0, 10**6))
def test_pre_images_are_never_farther_and_cannot_be_bettered_nearby(seed):
    """The distance to the projection does not grow from the start, and small steps from the result do not lower it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 2))
    kpca = KernelPCA(3).fit(X)
    scores, result = kpca.embedding_, kpca.denoise(X)
    reached = _distance(kpca, X, result, scores)
    assert (reached <= _distance(kpca, X, X, scores) + 1e-12).all()
    for step in 1e-3 * np.array([[1, 0], [-1, 0], [0, 1], [0, -1]]):
        assert (_distance(kpca, X, result + step, scores) >= reached - 1e-7).all()


def test_denoising_a_circle():
    """A noisy circle is mapped back to it: less than half of the squared noise is left, unlike PCA."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 300)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    noisy = circle + 0.15 * rng.normal(size=circle.shape)

    def off(P):
        return ((np.linalg.norm(P, axis=1) - 1) ** 2).mean()

    kpca = KernelPCA(4, bandwidth=1.0).fit(noisy)
    assert off(kpca.denoise(noisy)) < 0.5 * off(noisy)
    back = kpca.inverse_transform(kpca.transform(noisy))
    assert off(back) < 0.5 * off(noisy)


def test_pre_images_need_a_kernel_that_has_them():
    """Only the Gaussian and the linear kernel have them, and the message names these."""
    X = DATA["s1"]()
    kpca = KernelPCA(2, kernel="laplace").fit(X)
    with pytest.raises(InputError, match="must be 'gaussian' or 'linear' for pre-images"):
        kpca.denoise(X)
