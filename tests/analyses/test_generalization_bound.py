"""The bound on new data against its formulas by hand, exact suprema over maps, and simulated populations."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import dreval
from dreval._random import stream
from dreval.errors import InputError

SIDES = np.array([3.0, 2.0, 1.0, 0.5])  # of a box about 0, whose points have the variances sides^2 / 3
RADIUS = float(np.linalg.norm(SIDES))


def box(seed: int, n: int = 200) -> np.ndarray:
    """Points of the box, independent and uniform."""
    return np.random.default_rng(seed).uniform(-1, 1, size=(n, 4)) * SIDES


def of_box(X: np.ndarray, d: int = 2, **options: Any) -> Any:
    """The bound with the center and the radius that are known."""
    return dreval.generalization_bound(X, d, center=np.zeros(4), radius=RADIUS, random_state=0, **options)


@pytest.mark.parametrize(("d", "level"), [(1, 0.95), (2, 0.99), (3, 0.9)])
def test_the_bound_is_its_formula(d: int, level: float) -> None:
    """Each term by hand, in units of the variance about the mean; the rank beyond d gives the fitted error."""
    X = box(0) + 0.3  # off the center of the ball
    result = dreval.generalization_bound(X, d, center=np.zeros(4), radius=5.0, conf_level=level, random_state=0)
    variance = ((X - X.mean(axis=0)) ** 2).sum() / 200
    values = np.linalg.eigvalsh(X.T @ X / 200)  # about the center 0
    complexity = 2 / math.sqrt(200) * 25 * min(1 + math.sqrt(d), math.sqrt(4 - d))
    deviation = 25 * math.sqrt(8 * math.log(2 / (1 - level)) / 200)
    fitted = values[: 4 - d].sum()

    assert result.parts["fitted_error"] == pytest.approx(fitted / variance, rel=1e-10)
    assert result.parts["complexity"] == pytest.approx(complexity / variance, rel=1e-12)
    assert result.parts["deviation"] == pytest.approx(deviation / variance, rel=1e-12)
    assert float(result) == pytest.approx((fitted + complexity + deviation) / variance, rel=1e-10)
    constants = (3 + 4 / 10) * math.sqrt(math.log(3 / (1 - level)) / 400)
    assert result.parts["sharper_deviation"] == pytest.approx(25 * constants / variance, rel=1e-12)
    sharper = sum(result.parts[key] for key in ("fitted_error", "sharper_complexity", "sharper_deviation"))
    assert result.parts["sharper_bound"] == pytest.approx(sharper, rel=1e-12)


def test_the_drawn_complexity_is_the_largest_over_all_maps() -> None:
    """Two columns, one dimension: for each draw of signs the largest of 20,000 directions, and none above it."""
    X = box(1, 60)[:, :2]
    result = dreval.generalization_bound(X, 1, center=[0, 0], radius=4.0, n_resamples=20, random_state=3)
    angles = np.linspace(0, np.pi, 20_001)
    scores = X @ np.vstack([np.cos(angles), np.sin(angles)])
    losses = (X**2).sum(axis=1)[:, None] - scores**2
    largest = [(2 / 60 * stream(3, "signs", b).choice([-1.0, 1.0], 60) @ losses).max() for b in range(20)]
    variance = ((X - X.mean(axis=0)) ** 2).sum() / 60

    assert_allclose(result.parts["sharper_complexity"], np.mean(largest) / variance, rtol=1e-6)


def test_more_columns_than_points_change_no_number() -> None:
    """Columns of zeros beyond the fourth, more of them than points: the drawn terms are the same at n - 1 and below."""
    X = box(2, 30)
    parts = [
        dict(dreval.generalization_bound(np.pad(X, ((0, 0), (0, zeros))), 2, random_state=0).parts) for zeros in (6, 46)
    ]
    for key in ("fitted_error", "deviation", "sharper_complexity", "sharper_bound"):
        assert parts[0][key] == pytest.approx(parts[1][key], rel=1e-9)


@pytest.mark.parametrize("d", [1, 4, 7])
def test_with_more_columns_than_points_eigenvalues_are_those_of_all_columns(d: int) -> None:
    """Six points in ten columns: the p - d largest of the ten eigenvalues of the signed sum, four or more of them 0."""
    X = np.random.default_rng(4).normal(size=(6, 10))
    result = dreval.generalization_bound(X, d, n_resamples=15, random_state=2)
    x = X - X.mean(axis=0)
    sums = [(x * stream(2, "signs", b).choice([-1.0, 1.0], 6)[:, None]).T @ x for b in range(15)]
    expected = 2 / 6 * np.mean([np.linalg.eigvalsh(M)[d:].sum() for M in sums]) / ((x**2).sum() / 6)
    assert result.parts["sharper_complexity"] == pytest.approx(expected, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_error_of_every_map_is_within_its_terms(d: int) -> None:
    """The largest excess of the error over the fitted one, over all maps: an eigenvalue sum, as the box is known.

    It exceeds neither pair of terms in any of 200 samples; the sharper pair is the smaller one in all of them.
    """
    covariance = np.diag(SIDES**2 / 3)
    for seed in range(200):
        X = box(seed, 300)
        parts = of_box(X, d, n_resamples=20).parts
        variance = ((X - X.mean(axis=0)) ** 2).sum() / 300
        excess = np.linalg.eigvalsh(covariance - X.T @ X / 300)[d:].sum() / variance
        sharper = parts["sharper_complexity"] + parts["sharper_deviation"]
        assert excess <= sharper < parts["complexity"] + parts["deviation"]


def test_the_mean_excess_is_below_the_complexity() -> None:
    """Symmetrization: the mean over samples of the largest excess is at most the drawn complexity, and half of it."""
    covariance, excess, drawn = np.diag(SIDES**2 / 3), [], []
    for seed in range(100):
        X = box(seed, 100)
        excess.append(np.linalg.eigvalsh(covariance - X.T @ X / 100)[2:].sum())
        parts = of_box(X, n_resamples=10).parts
        drawn.append(parts["sharper_complexity"] * ((X - X.mean(axis=0)) ** 2).sum() / 100)
    assert 0.4 * np.mean(drawn) < np.mean(excess) < np.mean(drawn)


def test_points_needed_is_the_first_number_below_one() -> None:
    """With the same error, radius and variance; both added terms fall with the root of n."""
    for result in (of_box(box(0, 60)), of_box(box(0, 6000))):
        for key, added in (
            ("", ("complexity", "deviation")),
            ("sharper_", ("sharper_complexity", "sharper_deviation")),
        ):
            parts, n = result.parts, result.recipe["n"]
            needed, root = parts[f"{key}points_needed"], sum(parts[name] for name in added) * math.sqrt(n)
            assert parts["fitted_error"] + root / math.sqrt(needed) < 1
            assert parts["fitted_error"] + root / math.sqrt(needed - 1) >= 1
        for value, is_vacuous in ((0.999, False), (1.0, True), (1.5, True)):
            assert replace(result, value=value).is_vacuous == is_vacuous
    assert of_box(box(0, 60)).is_vacuous
    assert not of_box(box(0, 6000)).is_vacuous


def test_about_a_far_center_the_fitted_error_is_at_most_that_of_the_mean() -> None:
    """One dimension can run through the center and the mean; where it must, nearly no number of points suffices."""
    X = box(0) * [1, 1, 0, 0]
    far = dreval.generalization_bound(X, 1, center=[0, 0, 90, 0], radius=180, random_state=0)
    assert far.parts["fitted_error"] == pytest.approx(1.0, abs=1e-3)
    assert far.parts["points_needed"] > 10**9
    aside = dreval.generalization_bound(X, 1, center=[90, 0, 0, 0], radius=180, random_state=0)
    near = dreval.generalization_bound(X, 1, radius=180, random_state=0)
    assert near.parts["fitted_error"] < aside.parts["fitted_error"] < 0.5


def test_units_and_places_have_no_effect() -> None:
    """Another unit and origin, with the ball moved as well; a frame is as good as an array."""
    X = box(3)
    expected = of_box(X)
    moved = dreval.generalization_bound(
        pd.DataFrame(1e3 * X + 7, columns=list("abcd")), 2, center=np.full(4, 7.0), radius=1e3 * RADIUS, random_state=0
    )
    for key, value in expected.parts.items():
        assert moved.parts[key] == pytest.approx(value, rel=1e-9)


def test_a_ball_of_the_sample_is_noted() -> None:
    """Without center or radius a note says so; the call that reproduces the bound has all arguments."""
    X = box(0)
    alone = dreval.generalization_bound(X, random_state=0)
    assert [item.code for item in alone.notes] == ["generalization_bound.ball"]
    assert [item.code for item in dreval.generalization_bound(X, radius=9.0).notes] == ["generalization_bound.ball"]
    assert not of_box(X).notes
    assert "dreval.generalization_bound(X" in of_box(X).call
    assert float(of_box(X, n_resamples=5)) == float(of_box(X))
    assert alone.tidy().loc[0, "value"] == float(alone)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"radius": 1.0}, "`radius` must be at least"),
        ({"center": [0, 0]}, "`center` must be 4 finite numbers"),
        ({"center": [0, 0, 0, np.nan]}, "`center` must be 4 finite numbers"),
        ({"n_components": 4}, "`n_components` must be"),
        ({"conf_level": 95}, "`conf_level` must be"),
        ({"n_resamples": 0}, "`n_resamples` must be"),
        ({"center": [1e200, 0, 0, 0]}, "`center` must leave a ball with a radius of at most 1e"),
        ({"radius": 1e300}, "`radius` must leave a ball"),
        ({"radius": 0.0}, "`radius` must be a finite number > 0.0: got"),
    ],
)
def test_illegal_arguments_raise_an_error(options: dict[str, Any], message: str) -> None:
    """The argument is named."""
    with pytest.raises(InputError, match=message):
        dreval.generalization_bound(box(0), **options)


def test_a_single_column_has_no_bound() -> None:
    """Its map to one dimension is the identity, whose error is 0."""
    with pytest.raises(InputError, match="`X` must have two columns or more: got 1 column"):
        dreval.generalization_bound(box(0)[:, :1], 1)
