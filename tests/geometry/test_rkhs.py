"""Maps between data and embedding, and transformations, against identities and slow twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose
from strategies import pairs

import dreval
from dreval.errors import InputError
from dreval.geometry.kernels import (
    RULES,
    KernelRidge,
    Refit,
    embedding_map,
    held_out,
    kernel_points,
    reconstruction_map,
)
from dreval.geometry.procrustes import make_transformations, transform_count


def gaussian(A, B, sigma):
    return np.exp(-((A[:, None] - B[None]) ** 2).sum(axis=-1) / (2 * sigma**2))


def median(Y):
    D = np.sqrt(((Y[:, None] - Y[None]) ** 2).sum(axis=-1))
    return float(np.sqrt(np.median(D[np.triu_indices(len(Y), 1)] ** 2)))


def cloud(n=60, p=4, d=2, seed=0):
    rng = np.random.default_rng(seed)
    Y = rng.normal(size=(n, d))
    return np.tanh(Y @ rng.normal(size=(d, p))) + 0.1 * rng.normal(size=(n, p)) + 3.0, Y


def swiss_roll(n):
    """Twice n points of a Swiss roll with their true latents, as training and test halves."""
    data = dreval.simulate("swiss_roll", n=2 * n, random_state=0)
    latent = data.latent / data.latent.std(axis=0)
    return data.data[::2], latent[::2], data.data[1::2], latent[1::2]


def test_the_embedding_map_is_its_formula_and_reproduces_fitted_points_up_to_the_ridge():
    """phi(x) = mean + (Y - mean)' (K + ridge I)^-1 K(x); at fitted points it is Y - ridge weights, and tends to Y."""
    X, Y = cloud()
    new = X[:5] + 0.1
    K = gaussian(X, X, median(X))
    errors = []
    for ridge in (1e-1, 1e-3, 1e-6):
        phi = embedding_map(X, Y, reg=ridge)
        weights = np.linalg.solve(K + ridge * np.eye(60), Y - Y.mean(axis=0))
        expected = Y.mean(axis=0) + gaussian(new, X, median(X)) @ weights
        assert_allclose(phi(new), expected, atol=1e-8)
        assert_allclose(phi(X), Y - ridge * weights, atol=1e-8)
        assert phi.error == pytest.approx(((phi(X) - Y) ** 2).sum() / ((Y - Y.mean(axis=0)) ** 2).sum(), rel=1e-6)
        assert phi.condition == pytest.approx(np.linalg.cond(K + ridge * np.eye(60)), rel=1e-6)
        errors.append(phi.error)
    assert errors[0] > 3 * errors[1] > 9 * errors[2]
    assert_allclose(phi(np.full((1, 4), 1e6)), [Y.mean(axis=0)], atol=1e-12)


@given(pair=pairs(min_n=6, max_n=20, kinds=["normal", "curve", "clusters"], images=["noisy", "linear", "independent"]))
def test_theorem_3_keeps_the_covariance(pair):
    """Cov(f(Y), Y) = Cov(X, Y) to 1e-12 of its size; as printed it is smaller by a factor of about n."""
    X, Y = (Z / np.abs(Z).max() for Z in pair)
    f = reconstruction_map(Y, X, rule="theorem3")
    if f.condition > 1e4:
        return
    centered = Y - Y.mean(axis=0)
    size = np.linalg.norm(centered) * np.linalg.norm(X - X.mean(axis=0))
    assert np.abs(centered.T @ f(Y) - centered.T @ X).max() <= 1e-12 * size * max(f.condition, 1.0)


def test_as_printed_theorem_3_collapses_to_the_mean():
    """Without its 1 / n the reconstruction explains almost nothing; corrected it has the covariance to 1e-12."""
    X, Y = cloud(n=200)
    centered = Y - Y.mean(axis=0)
    corrected, as_printed = (reconstruction_map(Y, X, rule=rule) for rule in RULES[1:])
    assert np.abs(centered.T @ (corrected(Y) - X)).max() / 200 < 1e-12
    assert as_printed.error > 0.97 > 0.7 > corrected.error


def test_left_out_errors_are_those_of_leaving_out():
    """At one ridge and bandwidth, e_i / (1 - S_ii) is the residual of a fit without point i, to 1e-9."""
    X, Y = cloud(n=25)
    points = kernel_points(Y, "Y")
    fit = KernelRidge(points.gram()).fit(X - X.mean(axis=0), 0.03)
    for i in range(25):
        stay = np.arange(25) != i
        f = reconstruction_map(Y[stay], X[stay], reg=0.03, bandwidth=points.bandwidth)
        assert_allclose(fit.left_out[i], X[i] - f(Y[[i]])[0], atol=1e-9)


def test_the_default_ridge_is_the_best_of_the_path():
    """No ridge of the path has a smaller leave-one-out error than the one that is chosen; wide data choose the same."""
    X, Y = cloud()
    best = reconstruction_map(Y, X)
    tried = [reconstruction_map(Y, X, reg=best.ridge * factor).left_out_error for factor in (0.1, 0.5, 2.0, 10.0)]
    assert best.left_out_error <= min(tried)
    wide = reconstruction_map(Y, X @ np.linalg.qr(np.random.default_rng(0).normal(size=(90, 4)))[0].T)
    assert wide.ridge == pytest.approx(best.ridge)
    assert wide.left_out_error == pytest.approx(best.left_out_error, rel=1e-9)


def test_with_true_latents_the_default_learns_and_theorem_3_does_not():
    """Swiss roll, n = 100, 200, 400: kernel ridge misses less and less, below 1e-4; Theorem 3 stays above .6."""
    errors = {rule: [] for rule in RULES}
    for n in (100, 200, 400):
        X, Y, X_new, Y_new = swiss_roll(n)
        for rule in RULES:
            missed = X_new - reconstruction_map(Y, X, rule=rule)(Y_new)
            errors[rule].append((missed**2).sum() / ((X_new - X.mean(axis=0)) ** 2).sum())
    assert errors["ridge"][0] > 3 * errors["ridge"][1] > 9 * errors["ridge"][2]
    assert errors["ridge"][2] < 1e-4
    assert min(errors["theorem3"]) > 0.6
    assert min(errors["theorem3_printed"]) > 0.95


@pytest.mark.parametrize("rule", RULES)
def test_maps_do_not_depend_on_units(rule):
    """Data and embedding in other units, moved and turned, give the same map in those units."""
    X, Y = cloud()
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(2, 2)))[0]
    default = reconstruction_map(Y, X, rule=rule)
    rescaled = reconstruction_map(1e7 * (Y @ turn + 5), 1e-6 * X, rule=rule)
    assert_allclose(rescaled(1e7 * (Y @ turn + 5)), 1e-6 * default(Y), rtol=1e-6)
    assert rescaled.bandwidth == pytest.approx(1e7 * default.bandwidth)


def test_a_constant_embedding_reconstructs_the_mean():
    """If all points are in one place every map gives the mean, with a note, and leaves all of the variance."""
    X, _ = cloud()
    for rule in RULES:
        f = reconstruction_map(np.full((60, 2), 0.1), X, rule=rule)
        assert_allclose(f(np.zeros((2, 2))), np.repeat([X.mean(axis=0)], 2, axis=0))
        assert f.error == pytest.approx(1.0)
        assert "one place" in str(f.notes[0])


def left(X, Y, rule):
    """The residuals of a map; with "ridge" at a tenth of the best ridge."""
    ridge = 0.1 * reconstruction_map(Y, X).ridge if rule == "ridge" else None
    return X - reconstruction_map(Y, X, rule=rule, reg=ridge)(Y)


def test_refits_are_fits_of_the_resampled_data():
    """A resample without its errors is f(Y), and its residuals are those of a new map."""
    X, Y = cloud(n=40)
    for rule in RULES[:2]:
        refit = Refit(Y, X, rule)
        assert_allclose(refit.residuals, left(X, Y, rule), atol=1e-9)
        rng = np.random.default_rng(5)
        resample = refit.fitted + refit.errors[np.random.default_rng(5).integers(40, size=40)]
        assert_allclose(refit.resampled(rng), left(resample, Y, rule), atol=1e-9)


def test_held_out_residuals_are_those_of_maps_without_the_fold():
    """Every point is reconstructed by a map that was fitted without it."""
    X, Y = cloud(n=30)
    result = held_out(X, Y, "theorem3", 5, 0)
    assert np.bincount(result.fold).tolist() == [6] * 5
    out = result.fold == 3
    assert_allclose(result.residuals[out], X[out] - reconstruction_map(Y[~out], X[~out], rule="theorem3")(Y[out]))


def test_transformations_are_their_formulas():
    """X + a s k(X_A, x_i) e_j, and as printed k(X_A, x_i) e_j + X - X_A, written out."""
    X, Y = cloud()
    reconstruction = reconstruction_map(Y, X, rule="theorem3")(Y)
    size = 0.5 * np.sqrt(((X - X.mean(axis=0)) ** 2).sum() / X.size)
    bump = gaussian(reconstruction, X[[7]], median(X))[:, 0]
    expected = X.copy()
    expected[:, 2] += size * bump
    transformations = make_transformations(X, Y)
    assert_allclose(transformations.data(7, 2), expected, atol=1e-12)
    residual = X - reconstruction
    residual[:, 2] += bump
    assert_allclose(make_transformations(X, Y, "definition").data(7, 2), residual, atol=1e-12)
    assert tuple(map(str, transformations.notes)) == ()
    assert_allclose(make_transformations(1e3 * X, Y).data(7, 2), 1e3 * transformations.data(7, 2), rtol=1e-12)


@pytest.mark.parametrize("kernel", ["gaussian", "laplace", "rational_quadratic"])
def test_transformations_never_fold_the_data(kernel):
    """The slope is the steepest on a fine line; with outliers the amplitude shrinks with a note, and stays below 1."""
    X, Y = cloud(n=200)
    transformations = make_transformations(X, Y, kernel=kernel)
    t = np.linspace(0, 5 * transformations.bandwidth, 200_001)
    values = {
        "gaussian": np.exp(-0.5 * (t / transformations.bandwidth) ** 2),
        "laplace": np.exp(-t / transformations.bandwidth),
        "rational_quadratic": 1 / (1 + 0.5 * (t / transformations.bandwidth) ** 2),
    }[kernel]
    assert transformations.slope == pytest.approx(
        transformations.size * np.abs(np.diff(values) / np.diff(t)).max(), rel=1e-3
    )
    assert transformations.slope < 1
    far = X.copy()
    far[:5] *= 100
    shrunk = make_transformations(far, Y, kernel=kernel)
    assert shrunk.slope == pytest.approx(0.9)
    assert shrunk.amplitude < 0.5
    assert "would fold the data" in str(shrunk.notes[0])


def test_choices_are_spread_over_columns_and_nested():
    """Columns differ by at most one, no pair occurs twice, and a longer choice begins with the shorter one."""
    X, Y = cloud(n=30)
    transformations = make_transformations(X, Y)
    chosen = transformations.choose(50, 0)
    counts = np.bincount(chosen[:, 1], minlength=4)
    assert counts.max() - counts.min() <= 1
    assert len({tuple(pair) for pair in chosen}) == 50
    assert (transformations.choose(90, 0)[:50] == chosen).all()
    assert len({tuple(pair) for pair in transformations.choose("all", 0)}) == transform_count("all", 30, 4) == 120
    assert transformations.choose(2, 0).shape == (2, 2)


INVALID = {
    "rows that differ": lambda X, Y: reconstruction_map(Y[:-1], X),
    "a rule nobody knows": lambda X, Y: reconstruction_map(Y, X, rule="theorem4"),
    "a ridge for a theorem": lambda X, Y: reconstruction_map(Y, X, rule="theorem3", reg=1.0),
    "no ridge at all": lambda X, Y: embedding_map(X, Y, reg=0.0),
    "points of other width": lambda X, Y: embedding_map(X, Y)(Y),
    "a transformation nobody knows": lambda X, Y: make_transformations(X, Y, "shift"),
    "no amplitude": lambda X, Y: make_transformations(X, Y, amplitude=0.0),
    "no transformations": lambda X, Y: make_transformations(X, Y).choose(0, 0),
}


@pytest.mark.parametrize("case", INVALID)
def test_errors(case):
    """Impossible requests raise errors with four parts."""
    X, Y = cloud()
    with pytest.raises((InputError, dreval.errors.UnknownName), match="must"):
        INVALID[case](X, Y)
