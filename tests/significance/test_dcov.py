"""Distance covariance against R energy, dcor, a naive twin and hand counts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from scipy.spatial.distance import cdist, pdist, squareform
from scipy.stats import ortho_group
from strategies import pairs

import dreval
from dreval.errors import InputError

ORACLES = Path(__file__).resolve().parent.parent / "validation" / "oracles"
ENERGY = json.loads((ORACLES / "energy_dcov.json").read_text())
DCOR = json.loads((ORACLES / "dcor.json").read_text())
VARYING = ("independent", "linear", "noisy")


def points():
    """The points of tests/validation/oracles/make_energy_dcov.R and make_dcor.py."""
    i = np.arange(1, 31)
    x = np.column_stack([np.sin(i), np.cos(2 * i)])
    return x, np.column_stack([np.sin(i) ** 2 + 0.1 * np.cos(7 * i), np.cos(3 * i), i / 30])


def quick(x, y, **options):
    return dreval.dcov_test(x, y, n_resamples=1, random_state=0, **options)


def test_values_of_energy():
    """In R energy dcov is the root of our statistic, its test has n times it, and bcdcor is our effect size."""
    result = quick(*points())
    assert np.sqrt(result.statistic) == pytest.approx(ENERGY["dcov"], rel=1e-12)
    assert 30 * result.statistic == pytest.approx(ENERGY["test statistic"], rel=1e-12)
    assert result.extra["dcor"] == pytest.approx(ENERGY["dcor"], rel=1e-12)
    assert result.extra["unbiased"] == pytest.approx(ENERGY["dcovU"], rel=1e-11)
    assert result.effect_size == pytest.approx(ENERGY["bcdcor"], rel=1e-11)
    other_exponent = quick(*points(), exponent=0.5)
    assert np.sqrt(other_exponent.statistic) == pytest.approx(ENERGY["dcov of exponent 0.5"], rel=1e-12)


def test_values_of_dcor():
    """The package dcor gives the same four numbers."""
    result = quick(*points())
    assert result.statistic == pytest.approx(DCOR["distance_covariance_sqr"], rel=1e-11)
    assert result.extra["dcor"] == pytest.approx(DCOR["distance_correlation"], rel=1e-11)
    assert result.extra["unbiased"] == pytest.approx(DCOR["u_distance_covariance_sqr"], rel=1e-11)
    assert result.effect_size == pytest.approx(DCOR["u_distance_correlation_sqr"], rel=1e-10)
    permuted = quick(*points(), exponent=0.5)
    assert permuted.statistic == pytest.approx(DCOR["distance_covariance_sqr of exponent 0.5"], rel=1e-11)


@given(pair=pairs(images=VARYING, kinds=("normal", "curve", "clusters"), min_n=5))
def test_statistic_is_the_sum_over_centered_distances(pair):
    """dCov^2 is the mean product of doubly centered distances; with U-centering it is the bias-corrected form."""
    x, y = pair
    D, E = (cdist(v, v) for v in (x, y))
    n = len(x)
    a, b = (d - d.mean(axis=0) - d.mean(axis=1)[:, None] + d.mean() for d in (D, E))
    scale = np.sqrt((a**2).mean() * (b**2).mean())
    result = quick(x, y)
    assert result.statistic == pytest.approx(float((a * b).mean()), rel=1e-9, abs=1e-9 * scale)
    u, v = (
        (d - d.sum(axis=0) / (n - 2) - d.sum(axis=1)[:, None] / (n - 2) + d.sum() / ((n - 1) * (n - 2)))
        * (1 - np.eye(n))
        for d in (D, E)
    )
    expected = float((u * v).sum()) / (n * (n - 3))
    assert result.extra["unbiased"] == pytest.approx(expected, rel=1e-7, abs=1e-9 * scale)


@given(pair=pairs(images=VARYING, kinds=("normal", "curve"), scales=False, min_n=5, min_p=2))
def test_correlation_is_invariant(pair):
    """Translation, rotation and scale of a variable keep dcor and its bias-corrected square."""
    x, y = pair
    rotation = ortho_group.rvs(x.shape[1], random_state=0)
    original, transformed = quick(x, y), quick(1e3 * (x @ rotation) - 5.0, y)
    assert original.extra["dcor"] == pytest.approx(transformed.extra["dcor"], abs=1e-7)
    assert original.effect_size == pytest.approx(transformed.effect_size, abs=1e-7)


def test_a_variable_with_itself_by_hand():
    """Two classes of two rows each have dCov^2 = dVar^2 = 1/4, dcor 1."""
    result = dreval.dcov_test(list("aabb"), list("aabb"))
    assert result.statistic == pytest.approx(0.25)
    assert result.extra["dcor"] == pytest.approx(1.0)
    assert result.extra["metric_x"] == "equal or not"


def test_precomputed_distances_are_used():
    """Precomputed distances have the result of the points, for both variables or for one of them."""
    x, y = points()
    single = dreval.dcov_test(x, y, random_state=0)
    result = dreval.dcov_test(squareform(pdist(x)), y, metric=("precomputed", "euclidean"), random_state=0)
    np.testing.assert_allclose(single.null_distribution, result.null_distribution, rtol=1e-12)


@pytest.mark.parametrize(
    ("variables", "options", "message"),
    [
        ((np.ones(5), np.arange(5)), {}, "`x` must vary"),
        ((np.eye(5), np.arange(5)), {}, "`x` must have distances that vary"),
        ((np.arange(5), np.arange(5)), {"exponent": 0}, "`exponent` must be a finite number > 0.0 and <= 2.0: got 0"),
        (
            (np.arange(5), np.arange(5)),
            {"exponent": 2.5},
            "`exponent` must be a finite number > 0.0 and <= 2.0: got 2.5",
        ),
        ((np.arange(5), np.arange(5)), {"metric": "cosine"}, "`metric` must be a known name"),
        ((np.arange(5), np.arange(5)), {"metric": "precomputed"}, "must be a symmetric (n, n) matrix of distances"),
        ((np.eye(5), np.eye(5)), {"metric": "precomputed"}, "on the diagonal, in row 0"),
        ((np.triu(np.ones((5, 5)), 1), np.eye(5)), {"metric": "precomputed"}, "a matrix that is not symmetric"),
        ((np.arange(5) * 1e200, np.arange(5)), {}, "`x` must have magnitudes between 1e-60 and 1e+60"),
    ],
)
def test_errors(variables, options, message):
    """Variables without distances raise an error with their name and a hint."""
    with pytest.raises((InputError, dreval.errors.UnknownName)) as error:
        dreval.dcov_test(*variables, **options)
    assert message.replace("a distance", "a negative distance") in str(error.value)


def test_one_distant_row_is_tested_without_an_effect_size():
    """If one row differs from all others the U-centered distances are 0: there is no effect size, but a test."""
    x = np.eye(1, 12)[0]
    y = np.r_[50.0, np.arange(11.0)]
    result = dreval.dcov_test(x, y, n_resamples=199, random_state=0)
    assert np.isnan(result.effect_size)
    assert any("`x` are all 0" in str(note) for note in result.notes)
    assert result.p_value < 0.2
    assert "dCor" in str(result.summary())
    with pytest.raises(InputError, match="`x` must have distances that vary"):
        dreval.dcov_test(np.eye(12), y)
