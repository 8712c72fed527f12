"""R^2 of latent variables against scikit-learn's regression; energy ratio against scikit-learn's PCA."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score
from strategies import clouds, tie_free_pairs

import dreval
from dreval.errors import InputError, InputWarning, UndefinedMeasure
from dreval.geometry.blocks import neighbor_pass
from dreval.registry import MEASURES

SEEDS = st.integers(0, 2**32 - 1)


@given(pair=tie_free_pairs(min_n=8), q=st.integers(1, 4), seed=SEEDS)
def test_latent_r2_is_the_regression_of_scikit_learn(pair, q, seed):
    """An affine least-squares map, R^2 of each latent variable, their mean."""
    _X, Y = pair
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(len(Y), q)) * 10.0 ** rng.integers(-6, 7, q) + rng.normal(size=q)
    Y = Y / np.abs(Y).max()
    fitted = LinearRegression().fit(Y, Z / np.abs(Z).max(axis=0)).predict(Y)
    expected = r2_score(Z / np.abs(Z).max(axis=0), fitted, multioutput="uniform_average")
    assert dreval.latent_r2(Y, latent=Z) == pytest.approx(expected, abs=1e-9)


@given(cloud=clouds(min_n=6, kinds=("normal",)), seed=SEEDS)
def test_latent_r2_does_not_see_affine_maps(cloud, seed):
    """Affine maps of the embedding leave the value; an affine image of the latents has 1."""
    rng = np.random.default_rng(seed)
    d = min(2, cloud.shape[1])
    Z, Y = rng.normal(size=(len(cloud), d)), rng.normal(size=(len(cloud), d))
    A = np.linalg.qr(rng.normal(size=(d, d)))[0] @ np.diag([1.0, 5.0][:d]) @ np.linalg.qr(rng.normal(size=(d, d)))[0]
    transformed = Y @ A + rng.normal(size=d)
    assert dreval.latent_r2(transformed, latent=Z) == pytest.approx(dreval.latent_r2(Y, latent=Z), abs=1e-9)
    assert dreval.latent_r2(Z @ A + 3.0, latent=Z) == pytest.approx(1, abs=1e-12)


def test_latent_r2_counts_a_repeated_or_constant_column_once():
    """Redundant columns change nothing; a constant embedding has the value 0."""
    rng = np.random.default_rng(0)
    _X, Z, Y = rng.normal(size=(50, 3)), rng.normal(size=(50, 2)), rng.normal(size=(50, 1))
    value = dreval.latent_r2(Y, latent=Z)
    assert dreval.latent_r2(np.c_[Y, Y], latent=Z) == pytest.approx(value, abs=1e-12)
    assert dreval.latent_r2(np.c_[Y, np.full(50, 0.1)], latent=Z) == pytest.approx(value, abs=1e-12)
    assert dreval.latent_r2(np.full((50, 2), 0.1), latent=Z) == 0


def test_latent_r2_at_chance_level_is_d_over_n_minus_one():
    """The mean over permutations is that of a beta distribution with parameters d/2 and (n - 1 - d)/2."""
    rng = np.random.default_rng(0)
    Z, Y = rng.normal(size=(30, 1)), rng.normal(size=(30, 2))
    values = [dreval.latent_r2(Y[rng.permutation(30)], latent=Z) for _ in range(400)]
    assert np.mean(values) == pytest.approx(2 / 29, abs=4.5 * np.std(values) / 20)


def test_latent_r2_in_an_evaluation():
    """Value, interval, chance and the R^2 of each latent in the note; a frame is aligned; without latents a reason."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 4))
    Z, Y = X[:, :2], X[:, :1] + 0.1 * rng.normal(size=(80, 1))
    ev = dreval.Evaluation(X, {"e": Y}, latent=Z, random_state=0)
    row = ev.run("latent_r2", None).table.iloc[0]
    values = [dreval.latent_r2(Y, latent=z) for z in Z.T]
    assert row["value"] == pytest.approx(np.mean(values), abs=1e-12)
    assert row["note"] == f"R^2 of each latent variable: {values[0]:.3f}, {values[1]:.3f}"
    assert row["chance"] < 0.1
    assert row["conf_low"] < row["value"] < row["conf_high"]
    assert "latent=latent" in ev.run("latent_r2", None).recipe["call"]
    with pytest.warns(InputWarning, match="latent_r2: needs latent variables"):
        missing = dreval.Evaluation(X, {"e": Y}).run("latent_r2", None).table.iloc[0]
    assert np.isnan(missing["value"])
    assert missing["note"] == "needs latent variables; pass latent= to Evaluation"
    frame = pd.DataFrame(X, index=[f"p{i}" for i in range(80)])
    latent, named_embedding = pd.DataFrame(Z, index=frame.index)[::-1], pd.DataFrame(Y, index=frame.index)
    assert dreval.latent_r2(named_embedding, latent=latent) == pytest.approx(row["value"])


def test_a_simulation_has_its_latents():
    """A data set passed as the data has its latent variables; the notes of ten and more are cut short."""
    roll = dreval.simulate("swiss_roll", n=200, random_state=0)
    result = dreval.Evaluation(roll, {"truth": roll.latent}, random_state=0).run("latent_r2", None, None).table
    assert result["value"][0] == pytest.approx(1, abs=1e-12)
    s2 = dreval.simulate("s2", random_state=0)
    wide = dreval.latent_r2(s2.data[:, :2], latent=np.c_[s2.data, s2.data**2])
    assert wide == pytest.approx((2 + 2 * 15 / 16 + 16 * 2 / 199) / 20, abs=0.01)  # corr(u, u^2)^2 = 15/16


def test_latents_without_a_value_raise_an_error():
    """A constant latent variable, or none at all, raises an error."""
    Y = np.random.default_rng(0).normal(size=(10, 2))
    with pytest.raises(UndefinedMeasure, match="`latent` must vary in every column: got column 1 with one value"):
        dreval.latent_r2(Y, latent=np.c_[Y[:, 0], np.full(10, 0.1)])
    with pytest.raises(InputError, match="`latent` must be given to latent_r2: got none"):
        dreval.latent_r2(Y, latent=None)
    with pytest.raises(InputError, match="`latent` must have one row per point"):
        dreval.latent_r2(Y, latent=Y[:5])
    with pytest.raises(RuntimeError, match="without latent variables"):
        MEASURES.get("latent_r2").rule(neighbor_pass(Y, {"Y": Y}, k=1)["Y"])


@given(cloud=clouds(min_n=5, max_p=8), d=st.integers(1, 8))
def test_energy_ratio_is_that_of_scikit_learn(cloud, d):
    """Cumulative explained variance of PCA, also with more columns than rows, and the dimensions of 80 and 90 %."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ratios = np.cumsum(PCA(svd_solver="full").fit(cloud).explained_variance_ratio_)
    Y = np.zeros((len(cloud), d))
    value, (held,) = MEASURES.get("energy_ratio").rule(neighbor_pass(cloud, {"Y": Y}, k=1)["Y"])
    assert value == pytest.approx(ratios[min(d, len(ratios)) - 1], abs=1e-9)
    if d <= len(cloud):  # an embedding with more columns than rows is considered transposed
        assert value == dreval.energy_ratio(cloud, Y)
    if np.abs(ratios[:, None] - [0.8, 0.9]).min() > 1e-9:
        dims = [int(np.argmax(ratios >= share)) + 1 for share in (0.8, 0.9)]
        assert dict(held.values) == {"low": dims[0], "high": dims[1]}


def test_energy_ratio_by_hand():
    """Variances 9, 4, 1 along the axes give 9/14, 13/14, 1 at any scale; two dimensions have 80 and 90 %."""
    X = np.vstack([s * v * np.eye(3)[j] for j, v in enumerate((3, 2, 1)) for s in (1, -1)])
    for scale in (1e-50, 1.0, 1e50):
        result = [dreval.energy_ratio(X * scale, X[:, :d]) for d in (1, 2, 3)]
        assert result == pytest.approx([9 / 14, 13 / 14, 1], rel=1e-12)
    (held,) = MEASURES.get("energy_ratio").rule(neighbor_pass(X, {"Y": X[:, :1]}, k=1)["Y"])[1]
    assert dict(held.values) == {"low": 2, "high": 2}


def test_energy_ratio_of_points_that_coincide_is_undefined():
    """Points that all coincide raise an error; a single different point gives a value."""
    X = np.zeros((20, 2))
    X[3] = 1.0
    view = neighbor_pass(X, {"Y": X}, k=1)["Y"]
    with pytest.raises(UndefinedMeasure, match="must vary"):
        MEASURES.get("energy_ratio").rule(replace(view, population=np.delete(np.arange(20), 3)))
