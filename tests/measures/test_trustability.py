"""The trustability measure against scipy, hand values and methods with a known result."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.spatial import procrustes as their_procrustes

import dreval
from dreval.errors import InputError, MethodFailed, UndefinedMeasure


def cloud(seed=0, n=60, p=4):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)) * np.linspace(3, 0.5, p) + rng.normal(size=p)


def constant_method(Y):
    return lambda *_: Y


@pytest.mark.parametrize("seed", range(20))
def test_pca_has_zero(seed):
    """PCA at d = p turns the data: u = 0 to 1e-12 on 20 random data sets of any width and unit."""
    rng = np.random.default_rng(seed)
    X = cloud(seed, n=int(rng.integers(10, 120)), p=int(rng.integers(1, 9))) * 10.0 ** rng.integers(-6, 7)
    record = dreval.trustability(X, "pca")
    assert 0 <= float(record) < 1e-12
    assert record.parts["ti"] <= 1e-12 * ((X - X.mean(axis=0)) ** 2).sum()


@pytest.mark.parametrize("d", [1, 3, 4])
def test_it_is_the_formula_and_that_of_scipy(d):
    """TI = tr S_YY - nuc(S_XY)^2 / tr S_XX by its definition, TI / n is scipy's disparity times tr S_YY / n."""
    X, rng = cloud(), np.random.default_rng(1)
    Y = np.tanh(X @ rng.normal(size=(4, d))) + 0.2 * rng.normal(size=(60, d))
    record = dreval.trustability(X, constant_method(Y))
    A, B = X - X.mean(axis=0), Y - Y.mean(axis=0)
    ti = np.trace(B.T @ B) - np.linalg.svd(A.T @ B, compute_uv=False).sum() ** 2 / np.trace(A.T @ A)
    reference = their_procrustes(X, np.pad(Y, ((0, 0), (0, 4 - d))))[2]
    assert record.parts["ti"] == pytest.approx(ti, rel=1e-12)
    assert record.parts["ti_per_n"] == pytest.approx(reference * np.trace(B.T @ B) / 60, rel=1e-12)
    assert float(record) == pytest.approx(reference, abs=1e-12)
    texts = {1: "1 column was returned and counts", 3: "3 columns were returned and count"}
    assert tuple(map(str, record.notes)) == ((f"{texts[d]} as padded with zeros (4 requested).",) if d < 4 else ())


@pytest.mark.parametrize("unit", [1e-59, 1e58])
def test_extreme_units_have_no_effect(unit):
    """Data and embedding of any unit have the same u; TI has the unit."""
    X = cloud()
    left, right = (dreval.trustability(a * X, lambda Z, _, a=a: a * np.tanh(Z / a)) for a in (1.0, unit))
    assert float(right) == pytest.approx(float(left), rel=1e-9)
    assert right.parts["ti"] == pytest.approx(left.parts["ti"] * unit * unit, rel=1e-9)


def test_more_columns_than_requested_raise_an_error():
    """More columns than requested raise an error, since Definition 3 needs p columns."""
    with pytest.raises(MethodFailed, match="`source` must return at most 4 columns, its n_components: got 6 columns"):
        dreval.trustability(cloud(), constant_method(np.random.default_rng(0).normal(size=(60, 6))))


def test_the_error_of_a_method_with_few_dimensions_has_a_hint():
    """The t-SNE of scikit-learn gives at most 3 dimensions by default: the error has a hint."""
    from sklearn.manifold import TSNE

    with pytest.raises(MethodFailed, match=r"requests n_components=4, as many as.*TSNE\(method=\"exact\"\)"):
        dreval.trustability(cloud(), TSNE())


def test_translation_rotation_and_scaling_change_only_the_unit():
    """u stays under translation, rotation, reflection and scale of the output; TI goes with the square of the scale."""
    X = cloud()
    Y = np.tanh(X)
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]
    left, right = (dreval.trustability(X, constant_method(Z)) for Z in (Y, 7.0 * Y @ turn + 3.0))
    assert float(right) == pytest.approx(float(left), rel=1e-12)
    assert right.parts["ti"] == pytest.approx(49 * left.parts["ti"], rel=1e-12)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e9])
def test_a_constant_method_has_one(value):
    """All points in one place: u = 1, though the published measure is 0 there; a note says so."""
    record = dreval.trustability(cloud(), constant_method(np.full((60, 4), value)))
    assert (float(record), record.parts["ti"]) == (1.0, 0.0)
    assert "u = 1" in str(record.notes[0])


def test_a_shuffling_method_is_near_chance():
    """With permuted points u is above .95 and near the record's chance level."""
    X = cloud(n=400)
    record = dreval.trustability(X, constant_method(X[np.random.default_rng(0).permutation(400)]), random_state=0)
    assert float(record) > 0.95
    assert float(record) == pytest.approx(record.chance, abs=0.03)


def test_unavailable_dimensions():
    """With p >= n the method has n - 1 dimensions; the limit of a bundled method is noted likewise."""
    X = cloud(n=8, p=12)
    record = dreval.trustability(X, "pca")
    assert float(record) < 1e-12
    assert record.parts["n_components"] == 7
    assert "Run at d = 7, not at p = 12" in str(record.notes[0])


def test_coordinates_and_failures_have_reasons():
    """Coordinates cannot be re-run, and the error has a hint; the exception of a method is quoted."""
    X = cloud()
    with pytest.raises(UndefinedMeasure, match=r"`source` must be able to embed other data.*Pass the estimator"):
        dreval.trustability(X, X[:, :2])

    def raises(X, n_components):
        raise RuntimeError("no license")

    with pytest.raises(MethodFailed, match="RuntimeError: no license"):
        dreval.trustability(X, raises)


def test_files_with_names_of_points(tmp_path):
    """A column of names is not a feature; it matches the rows of another file."""
    X = pd.DataFrame(cloud(), columns=list("abcd"))
    cells = [f"c{i}" for i in range(len(X))]
    X.assign(kind=["x", "y"] * 30, cell=cells).to_csv(tmp_path / "data.csv", index=False)
    X.iloc[::-1, :2].assign(cell=cells[::-1]).to_csv(tmp_path / "shown.csv", index=False)
    options = {"labels": "kind", "ids": "cell", "random_state": 0}

    with pytest.raises(InputError, match="Name it as labels='cell' or ids='cell'"):
        dreval.trustability(tmp_path / "data.csv", "isomap", labels="kind")
    for measure in (dreval.trustability, partial(dreval.tractable_consistency, n_transformations=3)):
        by_name = measure(tmp_path / "data.csv", "isomap", **options)
        assert float(by_name) == pytest.approx(float(measure(X, "isomap", random_state=0)), rel=1e-9)
    with_names = dreval.reconstruction_error(tmp_path / "data.csv", tmp_path / "shown.csv", **options)
    assert float(with_names) == pytest.approx(
        float(dreval.reconstruction_error(X, X.iloc[:, :2], random_state=0)), rel=1e-9
    )


def test_it_prints_and_converts():
    """float, frame and summary agree; the printed text has no time."""
    record = dreval.trustability(cloud(), "isomap", random_state=0)
    frame = record.tidy()
    assert_allclose(frame["value"], [float(record)])
    assert list(frame) == ["measure", "value", "chance", "ti", "ti_per_n", "n_components"]
    assert "Procrustes" in str(record)
    assert str(record) == str(record.summary())
    assert "second" not in str(record)
