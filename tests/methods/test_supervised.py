"""Supervised projections against scikit-learn, statsmodels, sliced, the problems they solve, and known models."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigh
from scipy.stats import spearmanr
from sklearn import cross_decomposition
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from statsmodels.multivariate.cancorr import CanCorr

import dreval
from dreval.errors import DegenerateDataWarning, InputError
from dreval.geometry.kernels import center, gram_matrix
from dreval.methods import CCA, GSAVE, GSIR, MAVE, SAVE, SIR, KernelCCA
from dreval.methods._supervised import Response, slices

SLICED = json.loads((Path(__file__).parent.parent / "validation" / "oracles" / "sliced.json").read_text())["cases"]


def _apart(A, B):
    """Largest sine of the angles between two column spaces."""
    A, B = np.linalg.qr(A)[0], np.linalg.qr(B)[0]
    return np.linalg.norm(A - B @ (B.T @ A), 2)


def _two_sets(kind):
    rng = np.random.default_rng(0)
    if kind == "wdbc":
        X = np.asarray(dreval.load_dataset("wdbc").data)
        return X[:, :5], X[:, 5:10]
    common = rng.normal(size=(300, 2))
    if kind == "nonnormal":
        common = np.exp(common)
    X = np.column_stack([common + 0.5 * rng.normal(size=(300, 2)), rng.normal(size=(300, 2))])
    return X, np.column_stack([common @ [[1, 1], [1, -1]] + rng.normal(size=(300, 2)), rng.normal(size=300)])


def _unit(V, like):
    """Columns of variance 1 with the signs of another matrix."""
    V = (V - V.mean(axis=0)) / V.std(axis=0)
    return V * np.sign(np.einsum("ij,ij->j", V, like))


@pytest.mark.parametrize("kind", ["normal", "nonnormal", "wdbc"])
def test_cca_equals_statsmodels_and_scikit_learn(kind):
    """Variates of both sets to 1e-6 of statsmodels, and to 1e-4 of scikit-learn, whose power iteration ends earlier."""
    X, Y = _two_sets(kind)
    result, exact = CCA(2).fit(X, Y), CanCorr(Y, X)
    reference_scores = cross_decomposition.CCA(2, scale=False, max_iter=100_000, tol=1e-15).fit(X, Y).transform(X, Y)
    order = np.argsort(-exact.cancorr)[:2]
    pairs = ((result.embedding_, X @ exact.x_cancoef[:, order]), (result.response_, Y @ exact.y_cancoef[:, order]))
    for (variates, reference), third in zip(pairs, reference_scores, strict=True):
        assert_allclose(variates, _unit(reference, variates), atol=1e-6)
        assert_allclose(variates, _unit(third, variates), atol=1e-4)
    assert_allclose(result.correlations_, exact.cancorr[order], rtol=1e-8)
    assert_allclose((result.embedding_ * result.response_).mean(axis=0), result.correlations_, rtol=1e-9)
    assert_allclose(result.transform(X), result.embedding_, atol=1e-7)


@pytest.mark.parametrize("cls", [CCA, SIR])
def test_classes_give_linear_discriminant_analysis(cls):
    """With classes both span the discriminant directions of scikit-learn."""
    digits = dreval.load_dataset("digits")
    keep = np.asarray(digits.labels).astype(int) < 4
    X, y = np.asarray(digits.data, float)[keep], np.asarray(digits.labels).astype(int)[keep]
    X = X[:, X.std(axis=0) > 1]
    lda = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    for labels in (y, y.astype(str)):
        assert _apart(cls(3).fit(X, labels).directions_, lda.scalings_[:, :3]) < 1e-6


@given(st.integers(0, 10**6), st.sampled_from([SIR, SAVE]), st.integers(2, 6))
def test_sliced_methods_equal_naive_twins(seed, cls, n_slices):
    """Eigenvectors of M on whitened data, with slices by sorting; scores are uncorrelated with variance 1."""
    rng = np.random.default_rng(seed)
    n, p = 60, 4
    X = rng.normal(size=(n, p)) @ rng.normal(size=(p, p))
    y = X[:, 0] + rng.normal(size=n)
    result = cls(1, n_slices=n_slices).fit(X, y)
    centered = X - X.mean(axis=0)
    values, vectors = np.linalg.eigh(centered.T @ centered / n)
    root = vectors @ np.diag(values**-0.5) @ vectors.T
    Z, M = centered @ root, np.zeros((p, p))
    slice_of = np.empty(n, int)
    slice_of[np.argsort(y)] = [i * n_slices // n for i in range(n)]
    for h in range(n_slices):
        rows = Z[slice_of == h]
        mean = rows.mean(axis=0)
        difference = np.eye(p) - np.cov(rows.T, bias=True)
        M += len(rows) / n * (np.outer(mean, mean) if cls is SIR else difference @ difference)
    top, directions = np.linalg.eigh(M)
    assert result.eigenvalues_[0] == pytest.approx(top[-1], rel=1e-8)
    assert _apart(result.directions_, root @ directions[:, -1:]) < 1e-6
    assert_allclose(result.embedding_.T @ result.embedding_ / n, np.eye(1), atol=1e-9)
    assert_allclose(result.transform(X), result.embedding_, atol=1e-9)


@pytest.mark.parametrize("case", SLICED, ids=lambda case: f"{case['method']}-{case['sample']}")
def test_sliced_methods_equal_the_package_sliced(case):
    """The planes of SIR and SAVE are those of the Python package that follows R's dr, to 1e-9."""
    cls = SIR if case["method"] == "sir" else SAVE
    result = cls(2, n_slices=case["n_slices"]).fit(np.array(case["X"]), np.array(case["y"]))
    assert _apart(result.directions_, np.array(case["directions"])) < 1e-9


def test_the_linear_model_of_li():
    """Li (1991), model 6.1: y = x1 + x2 + x3 + x4 + e, p = 5, n = 100, H = 10, over 100 simulated samples.

    The mean of the unit directions is within .03 of (1, 1, 1, 1, 0) / 2 in each coordinate: its own error over 100
    samples is near .007, and the estimates shrink by a few per cent.
    """
    rng, result = np.random.default_rng(0), []
    for _ in range(100):
        X = rng.normal(size=(100, 5))
        b = SIR(1).fit(X, X[:, :4].sum(axis=1) + rng.normal(size=100)).directions_[:, 0]
        result.append(b / np.linalg.norm(b) * np.sign(b[:4].sum()))
    assert_allclose(np.mean(result, axis=0), [0.5, 0.5, 0.5, 0.5, 0.0], atol=0.03)


MODELS = {
    "monotone": lambda X, e: np.exp(0.5 * X[:, 0]) + 0.1 * e,
    "symmetric": lambda X, e: X[:, 0] ** 2 + 0.1 * e,
    "product": lambda X, e: X[:, 0] * (X[:, 0] + X[:, 1] + 1) + 0.2 * e,
}
SEES = [
    ("monotone", SIR, 1),
    ("monotone", MAVE, 1),
    ("symmetric", SAVE, 1),
    ("symmetric", MAVE, 1),
    ("product", MAVE, 2),
]


@pytest.mark.parametrize(("model", "cls", "d"), SEES)
def test_directions_of_known_models_are_recovered(model, cls, d):
    """n = 400, p = 6: the space is found to a sine of .25 (a random direction has about .9)."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6)) @ np.diag([1, 2, 3, 1, 2, 3])
    Z = X / [1, 2, 3, 1, 2, 3]
    y = MODELS[model](Z, rng.normal(size=400))
    keywords = {"n_slices": 5} if cls is SAVE else {}
    directions = cls(d, **keywords).fit(X, y).directions_ * np.array([[1], [2], [3], [1], [2], [3]])
    assert _apart(directions, np.eye(6)[:, :d]) < 0.25


def test_sir_does_not_detect_symmetric_dependence():
    """With y = x^2 the slice means are 0, so that the direction is far from the truth, a known limit."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    assert _apart(SIR(1).fit(X, X[:, 0] ** 2).directions_, np.eye(6)[:, :1]) > 0.5


def test_mave_lowers_the_local_variance():
    """More rounds leave less variance of local fits than the first outer product of gradients, on a product model."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 5))
    y = MODELS["product"](X, rng.normal(size=200))
    after_one, after_many = (_apart(MAVE(2, max_iter=m).fit(X, y).directions_, np.eye(5)[:, :2]) for m in (1, 20))
    assert after_many <= after_one + 0.02


@given(st.integers(0, 10**6))
def test_kernel_cca_solves_the_generalized_problem(seed):
    """Correlations are those of a'GxGy b over the regularized norms, as a generalized eigenproblem; scores fit them."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(20, 2)), rng.normal(size=(20, 1))
    result = KernelCCA(2, kappa=0.1).fit(X, y)
    Gx, Gy = center(gram_matrix(X, "X").matrix), center(gram_matrix(y, "y").matrix)
    ridge = 20 * 0.1 / 2 * np.eye(20)
    zero = np.zeros((20, 20))
    cross = np.block([[zero, Gx @ Gy], [Gy @ Gx, zero]])
    right = np.block([[(Gx + ridge) @ (Gx + ridge), zero], [zero, (Gy + ridge) @ (Gy + ridge)]])
    assert_allclose(result.correlations_, eigh(cross, right, eigvals_only=True)[::-1][:2], atol=1e-9)
    assert_allclose(result.transform(X), result.embedding_, atol=1e-8)
    assert (np.sum(result.embedding_ * result.response_, axis=0) > 0).all()


@pytest.mark.parametrize("classes", [False, True])
def test_the_functions_of_y_are_those_of_the_generalized_problem(classes):
    """Both parts of its eigenvectors, scaled to variance 1; new rows by kernels to the fitted ones, centered."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(25, 2)), rng.normal(size=25)
    y = np.array(["a", "b", "c"])[rng.integers(0, 3, 25)] if classes else y + X[:, 0] ** 2
    result = KernelCCA(2, kappa=0.1).fit(X, y)

    def kernel_of_y(rows):
        if classes:
            return 1.0 * (rows[:, None] == y)
        return np.exp(-0.5 * (rows[:, None] - y) ** 2 / result.response_bandwidth_**2)

    H, k = np.eye(25) - 1 / 25, 25 * 0.1 / 2
    squared = ((X[:, None] - X) ** 2).sum(axis=2)
    G, L = H @ np.exp(-0.5 * squared / result.bandwidth_**2) @ H, H @ kernel_of_y(y) @ H
    zero, ridge = np.zeros((25, 25)), k * np.eye(25)
    left = np.block([[zero, G @ L], [L @ G, zero]])
    right = np.block([[(G + ridge) @ (G + ridge), zero], [zero, (L + ridge) @ (L + ridge)]])
    values, vectors = eigh(left, right)
    for j in range(2):
        a, b = np.split(vectors[:, -1 - j], 2)
        f, g = G @ a, L @ b
        sign = np.sign(f @ result.embedding_[:, j])
        assert values[-1 - j] == pytest.approx(result.correlations_[j], rel=1e-8)
        assert_allclose(sign * f / f.std(), result.embedding_[:, j], atol=1e-6)
        assert_allclose(sign * g / g.std(), result.response_[:, j], atol=1e-6)
        new = np.array(["b", "a"]) if classes else np.array([0.3, -1.2])
        rows = (kernel_of_y(new) - kernel_of_y(y).mean(axis=0)) @ H
        assert_allclose(result.transform(X[:2], new)[1][:, j], sign * rows @ b / g.std(), atol=1e-6)
    assert_allclose(result.transform(X, y)[0], result.embedding_, atol=1e-8)
    assert_allclose(result.transform(X, y)[1], result.response_, atol=1e-8)


def test_kernel_cca_with_linear_kernels_and_without_a_ridge_is_cca():
    """kappa near 0: the first variate of X is that of CCA (two classes have one function on either way)."""
    X, Y = _two_sets("normal")
    y = Y[:, :1]
    w, U = np.linalg.eigh(center(gram_matrix(X, "X", "linear").matrix))
    result, cca = KernelCCA(1, kernel="linear", kappa=1e-9).fit(X, (y > 0)[:, 0]), CCA(1).fit(X, (y > 0)[:, 0])
    assert_allclose(np.abs(result.embedding_), np.abs(cca.embedding_), atol=1e-5)
    assert result.correlations_[0] == pytest.approx(cca.correlations_[0], abs=1e-5)
    assert len(w) == len(U)


@given(st.integers(0, 10**6), st.floats(0.01, 0.5))
def test_gsir_equals_a_naive_twin(seed, reg):
    """Leading eigenvector of S Gy S with the smoother S = Gx (Gx + k)^-1, written out; values S v, variance 1."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(20, 2)), rng.normal(size=(20, 1))
    result = GSIR(1, reg=reg).fit(X, y)
    Gx, Gy = center(gram_matrix(X, "X").matrix), center(gram_matrix(y, "y").matrix)
    smoother = Gx @ np.linalg.inv(Gx + reg * np.linalg.eigvalsh(Gx)[-1] * np.eye(20))
    values, vectors = np.linalg.eigh(smoother @ Gy @ smoother)
    assert result.eigenvalues_[0] == pytest.approx(values[-1], rel=1e-8)
    assert_allclose(result.embedding_, _unit(smoother @ vectors[:, -1:], result.embedding_), atol=1e-6)
    assert_allclose(result.transform(X), result.embedding_, atol=1e-8)
    assert result.reg_ == reg


@given(st.integers(0, 10**6))
def test_the_ridge_of_gsir_has_the_least_error_left_out(seed):
    """Leave-one-out: no ridge ten times larger or smaller predicts the features of y better."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(25, 2))
    y = X[:, :1] + 0.5 * rng.normal(size=(25, 1))
    Gx, Gy = gram_matrix(X, "X").matrix, center(gram_matrix(y, "y").matrix)
    values, vectors = np.linalg.eigh(Gy)
    features = vectors * np.sqrt(np.maximum(values, 0))
    chosen, largest = GSIR(1).fit(X, y).reg_, np.linalg.eigvalsh(center(Gx.copy()))[-1]

    def error(ridge):
        total = 0.0
        for i in range(25):
            train = np.delete(np.arange(25), i)
            # least squares with a free constant: the bordered system of kernel ridge regression
            system = np.block(
                [[Gx[np.ix_(train, train)] + ridge * np.eye(24), np.ones((24, 1))], [np.ones((1, 24)), 0.0]]
            )
            result = np.linalg.solve(system, np.vstack([features[train], np.zeros((1, 25))]))
            total += np.sum((features[i] - Gx[i, train] @ result[:-1] - result[-1]) ** 2)
        return total

    at_best = error(chosen * largest)
    assert at_best <= error(10 * chosen * largest) * (1 + 1e-9)
    assert at_best <= error(0.1 * chosen * largest) * (1 + 1e-9)


GSIR_MODELS = {
    "radius": lambda X: np.hypot(X[:, 0], X[:, 1]),
    "linear": lambda X: X[:, 0],
    "wave": lambda X: np.sin(X[:, 0] + X[:, 1]),
    "ratio": lambda X: X[:, 0] / (1 + (X[:, 1] + 1) ** 2),
}


@pytest.mark.parametrize("seed", [11, 12, 13])
@pytest.mark.parametrize("model", GSIR_MODELS)
def test_gsir_recovers_the_function_that_determines_the_response(model, seed):
    """Five columns, 250 points, noise: the first function has a rank correlation above .85 with what y depends on."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(250, 5))
    f = GSIR_MODELS[model](X)
    Y = GSIR(1).fit_transform(X, f + 0.2 * rng.normal(size=250))
    assert abs(spearmanr(Y[:, 0], f)[0]) > 0.85


@pytest.mark.parametrize("cls", [GSIR, KernelCCA])
def test_kernel_methods_see_a_circle(cls):
    """y depends on the radius only: the first function is a function of the radius (rank correlation above .95)."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(250, 2))
    radius = np.linalg.norm(X, axis=1)
    Y = cls(1).fit_transform(X, radius + 0.1 * rng.normal(size=250))
    ranks = np.argsort(np.argsort(Y[:, 0])), np.argsort(np.argsort(radius))
    assert abs(np.corrcoef(*ranks)[0, 1]) > 0.95


@example(0, 4, 4, 3)  # more functions than the slices bear
@example(0, 40, 1, 1)  # more than one column has linear and quadratic functions
@given(st.integers(0, 10**6), st.integers(2, 40), st.integers(1, 4), st.integers(1, 4))
def test_the_ridge_of_gsave_leaves_as_many_features_as_slices_bear(seed, points, d, p):
    """The effective features are the root of the points of a slice, at most 2, 5, 9 and 14 for 1 to 4 columns, or d."""
    rng = np.random.default_rng(seed)
    n = 4 * points
    X, y = rng.normal(size=(n, p)), rng.normal(size=n)
    gsave = GSAVE(d, n_slices=4).fit(X, y)
    values = np.linalg.eigvalsh(center(gram_matrix(X, "X").matrix))
    features = np.sum(np.maximum(values, 0) / (values + gsave.reg_ * values[-1]))
    assert features == pytest.approx(max(min(np.sqrt(points), [2, 5, 9, 14][p - 1]), d), rel=1e-6)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize(("n", "p"), [(300, 1), (300, 2), (500, 2)])
def test_gsave_with_few_columns_does_not_collapse_as_rows_are_added(n, p, scale):
    """Rank correlation of the first function with x_1, of which y is a linear function with noise, at new rows."""
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(n, p)), rng.normal(size=(400, p))
    function = GSAVE(1).fit(scale * X, X[:, 0] + 0.2 * rng.normal(size=n)).transform(scale * new)[:, 0]
    assert abs(spearmanr(function, new[:, 0])[0]) > 0.9


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("n", [100, 300])
@pytest.mark.parametrize("link", [lambda t: t, np.exp, lambda t: np.tanh(2 * t)], ids=["linear", "exp", "tanh"])
def test_gsave_finds_the_direction_by_default_and_not_with_the_old_ridge(link, n, scale):
    """Three columns, noise .2: rank correlation of the first function with the first column, at new rows."""
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(n, 3)), rng.normal(size=(400, 3))
    y = link(X[:, 0]) + 0.2 * rng.normal(size=n)
    old, default = (
        abs(spearmanr(GSAVE(1, reg=reg).fit(scale * X, y).transform(scale * new)[:, 0], new[:, 0])[0])
        for reg in (0.01, None)
    )
    assert old < 0.4
    assert default > 0.9


def test_gsave_by_default_finds_a_column_of_small_variance_with_a_linear_kernel():
    """With few columns the default does not shrink, and the unit of a column does not matter; a ridge of .3 does."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)) * [0.05, 1, 1]
    y = X[:, 0] ** 2
    default, shrunk = (GSAVE(1, kernel="linear", reg=reg).fit_transform(X, y)[:, 0] for reg in (None, 0.3))
    assert abs(spearmanr(default, X[:, 0])[0]) > 0.99
    assert abs(spearmanr(shrunk, X[:, 0])[0]) < 0.3


@given(st.integers(0, 10**6))
def test_gsave_with_a_linear_kernel_is_save(seed):
    """With a small ridge the features are the whitened data, and the space is that of SAVE."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 3, size=60)
    X[y == 0] *= [3, 1, 1]
    kernel, save = GSAVE(1, kernel="linear", reg=1e-10).fit(X, y), SAVE(1).fit(X, y)
    assert_allclose(np.abs(kernel.embedding_), np.abs(save.embedding_), atol=1e-5)
    assert_allclose(kernel.transform(X), kernel.embedding_, atol=1e-7)


@pytest.mark.parametrize(
    ("columns", "settings", "zero"),
    [(1, {"kernel": "linear"}, 2), (2, {"kernel": "linear"}, 1), (3, {"reg": 1000.0}, 3)],
    ids=["one_direction", "two_directions", "a_ridge_above_all"],
)
def test_gsave_warns_of_columns_that_are_zero(columns, settings, zero):
    """With fewer features than columns, because of the kernel or the ridge, a warning has their number."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, columns)), rng.normal(size=60)
    with pytest.warns(DegenerateDataWarning, match=f"{zero} of the 3 columns of the embedding are 0"):
        gsave = GSAVE(3, **settings).fit(X, y)
    assert_array_equal((gsave.embedding_ == 0).all(axis=0), np.arange(3) >= 3 - zero)
    assert_array_equal(gsave.transform(X)[:, 3 - zero :], 0.0)


@pytest.mark.parametrize("cls", [CCA, KernelCCA, SIR, SAVE, GSIR, GSAVE, MAVE])
def test_responses_are_checked(cls):
    """None, a constant, another length and missing values raise an error that names the argument."""
    X = np.random.default_rng(0).normal(size=(30, 3))
    for invalid in (None, np.ones(30), np.zeros(30, int), np.ones(29) * np.arange(29), np.r_[np.nan, np.arange(29.0)]):
        with pytest.raises(InputError, match="`y` must"):
            cls(1).fit(X, invalid)


@pytest.mark.parametrize("cls", [CCA, KernelCCA, SIR, SAVE, GSIR, GSAVE, MAVE])
def test_object_columns_have_the_type_of_their_entries(cls):
    """Objects that are floats are numbers; integers, booleans and text are classes; missing values raise an error."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    numbers = np.round(X[:, 0] + X[:, 1] ** 2)
    for y in (numbers, np.abs(numbers).astype(int) % 3, numbers > 0, np.where(numbers > 0, "a", "b")):
        expected = cls(1).fit(X, y)
        for response in (y.astype(object), pd.Series(y.tolist(), dtype=object), pd.DataFrame({"y": y}, dtype=object)):
            if response.ndim == 1 or y.dtype.kind != "i":  # a table of integers is numbers
                assert_array_equal(cls(1).fit(X, response).embedding_, expected.embedding_)
        for gap in (None, np.nan, pd.NA):
            holed = y.astype(object)
            holed[5] = gap
            with pytest.raises(InputError, match=r"`y` must be (complete|finite)"):
                cls(1).fit(X, holed)


@pytest.mark.parametrize("cls", [CCA, KernelCCA, SIR, SAVE, GSIR, GSAVE, MAVE])
@pytest.mark.parametrize("power", [-190, 190])
def test_the_unit_of_the_response_does_not_matter(cls, power):
    """Responses near the limits of size give the same embedding as responses of size 1, without a warning."""
    X = np.random.default_rng(0).normal(size=(60, 4))
    y = X[:, 0] + X[:, 1] ** 2
    expected = cls(1).fit_transform(X, y)
    assert_allclose(cls(1).fit_transform(X, np.ldexp(y, power)), expected, rtol=1e-12)


def test_numbers_of_directions_are_bounded_by_the_response():
    """SIR, CCA, kernel CCA: classes less 1, and columns of 0 beyond, with a warning; sliced methods take one column."""
    X = np.random.default_rng(0).normal(size=(30, 4))
    y = np.arange(30) % 3
    for cls in (SIR, CCA, KernelCCA):
        with pytest.warns(DegenerateDataWarning, match="1 of the 3 columns of the embedding are 0"):
            Y = cls(3).fit_transform(X, y)
        np.testing.assert_array_equal(Y[:, 2], 0.0)
        np.testing.assert_allclose(Y[:, :2], cls(2).fit_transform(X, y), atol=1e-12)
        np.testing.assert_allclose(Y[:, :2].T @ Y[:, :2] / 30, np.eye(2), atol=0.1)
    with pytest.raises(InputError, match="must be one column of numbers, or classes"):
        SAVE(1).fit(X, X[:, :2])


def test_supervised_methods_in_an_evaluation():
    """The labels of an evaluation reach a supervised method: the embedding is that of the method itself."""
    data = dreval.load_dataset("wdbc")
    X, labels = np.asarray(data.data)[:150], np.asarray(data.labels)[:150]
    table = dreval.Evaluation(X, {"save": "save"}, labels=labels).run(["procrustes_disparity"], tests=[], ci=None).table
    expected = dreval.procrustes_disparity(X, SAVE(2).fit_transform(X, labels))
    assert table["value"].tolist() == pytest.approx([expected])


@pytest.mark.parametrize("cls", [SIR, SAVE, GSAVE])
def test_slices_have_two_points_at_least(cls):
    """Fewer than two slices and more than n / 2 raise an error about slices; n / 2 is the default for few points."""
    X, y = np.random.default_rng(0).normal(size=(90, 4)), np.linspace(0.0, 1.0, 90)
    for value in (1, "5", 2.5):
        with pytest.raises(InputError, match="`n_slices` must be an integer >= 2"):
            cls(1, n_slices=value).fit(X, y)
    with pytest.raises(InputError, match=r"`n_slices` must be at most half .* 500 with 90 points\. Choose at most 45;"):
        cls(1, n_slices=500).fit(X, y)
    cls(1, n_slices=45).fit(X, y)
    small = cls(1).fit_transform(X[:8], y[:8])
    assert_array_equal(small, cls(1, n_slices=4).fit_transform(X[:8], y[:8]))


def test_slices_are_runs_of_the_sorted_response():
    """They have nearly equal size for any order of the points; equal responses are in one slice."""
    y = np.array([5.0, 1.0, 2.0, 6.0, 4.0, 3.0, 7.0])
    assert slices(Response(y[:, None], None), 3).tolist() == [1, 0, 0, 2, 1, 0, 2]
    assert slices(Response(np.array([[1.0], [1.0], [1.0], [2.0]]), None), 2).tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize("cls", [CCA, GSAVE, GSIR, KernelCCA, MAVE, SAVE, SIR])
def test_integers_are_classes_with_a_warning(cls):
    """More classes than n / 2 raise an error with a hint, many integers cause a warning, floats are numbers."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 4))
    y = np.argsort(np.argsort(X[:, 0] + 0.1 * rng.normal(size=100)))
    with pytest.raises(InputError, match=r"100 integers, which are classes, on 100 points. Pass floats .*astype"):
        cls(1).fit(X, y)
    with pytest.raises(InputError, match="got 100 classes on 100 points"):
        cls(1).fit(X, y.astype(str))
    assert cls(1).fit(X, y.astype(float))._response.codes is None
    with pytest.warns(DegenerateDataWarning, match="The 34 integers in `y` were used as classes; pass floats"):
        cls(1).fit(X, y // 3)
    assert len(np.unique(cls(1).fit(X, y // 10)._response.codes)) == 10


def test_a_response_without_values_is_called_missing():
    """A column of None is not one class."""
    X = np.random.default_rng(0).normal(size=(20, 2))
    for y, received in (([None] * 20, "missing values only"), (["a"] * 20, "one class")):
        with pytest.raises(InputError, match=f"at least two classes: got {received}"):
            dreval.methods.CCA(1).fit(X, y)
