"""Roy (2021): the parts of the simulations of Theorems 1, 4 and 5 against closed forms; Goldberg and Ritov: seconds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from local_procrustes_speed import exponent
from local_procrustes_speed import rows_of as rows_of_speed
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.spatial import procrustes
from scipy.spatial.distance import pdist, squareform
from trustability_theorems import (
    CASES,
    angle_at,
    combinations_of_kernels,
    curve,
    figure_11,
    least_loss,
    residual,
    spiral,
    theorem_1,
    theorem_4,
    theorem_5,
    transformed_losses,
    two_reconstructions,
)

import dreval
from dreval.geometry.kernels import reconstruction_map


def test_the_angle_of_an_arc_length_is_that_of_the_spiral():
    """Without noise the angle is the distance from the center."""
    data = dreval.simulate("spiral", n=50, random_state=1)
    assert_allclose(angle_at(data.latent[:, 0]), np.linalg.norm(data.data, axis=1), atol=1e-3)


def test_the_residual_is_the_least_over_rotations_scales_and_shifts():
    """A search over the angle, with the best scale and shift, in the plane; reflections, too."""
    rng = np.random.default_rng(0)
    Y, Z = rng.normal(size=(20, 2)), rng.normal(size=(20, 2))
    Y = Y @ [[1.0, 0.2], [0.1, -0.5]] + 0.1 * Z

    def misfit(parameters, mirror):
        angle, scale, *shift = parameters
        c, s = np.cos(angle), np.sin(angle)
        return np.sum((Y - scale * Z * [1, mirror] @ [[c, -s], [s, c]] - shift) ** 2)

    starts = [(angle, mirror) for angle in (0, 2, 4) for mirror in (1, -1)]
    least = min(minimize(misfit, [angle, 1, 0, 0], args=(mirror,)).fun for angle, mirror in starts)
    assert residual(Y, Z) == pytest.approx(least, rel=1e-6)


def test_two_reconstructions_approach_each_other_and_the_curve():
    """Three draws: the difference falls, both errors fall, and a line and a square stay apart."""
    assert_allclose(curve(np.array([0.0, 1.5])), [[0, 0, 0], [1.5, np.sin(3.0), 2.25]])
    table = pd.DataFrame([{"points": n, "draw": d, **two_reconstructions(n, d)} for n in (100, 800) for d in range(3)])
    mean = table.groupby("points").mean()
    falling = ["difference", "ridge", "neighbors"]
    assert (mean.loc[800, falling] < mean.loc[100, falling]).all()
    assert mean.loc[800, "uncorrelated"] == pytest.approx(0.4, abs=0.1)
    assert [row[1] for row in theorem_1(table)] == ["yes", "yes"]
    assert [row[1] for row in theorem_1(table.assign(difference=0.03, uncorrelated=0.0))] == ["no", "no"]


@pytest.mark.parametrize("case", CASES)
def test_the_least_loss_changes_only_without_a_condition(case):
    """Theorem 4: closed functions and the same errors have the same least loss to 1e-12."""
    changes = [transformed_losses(case, draw)["change"] for draw in range(3)]
    assert (max(changes) < 1e-12) == CASES[case]
    assert (min(changes) > 1e-4) != CASES[case]
    verdicts = [row[1] for row in theorem_4(pd.DataFrame({"case": case, "change": changes}))]
    assert verdicts == ["yes"]
    assert [row[1] for row in theorem_4(pd.DataFrame({"case": case, "change": [1e-3 if CASES[case] else 0.0]}))] == [
        "no"
    ]


def test_quadratic_functions_have_a_lower_loss_than_affine_ones():
    """The targets have a product of coordinates, which only quadratic functions reach."""
    affine, quadratic = (
        transformed_losses(f"{name} functions, affine T", 0)["loss"] for name in ("affine", "quadratic")
    )
    assert quadratic < 0.6 * affine


def test_the_least_loss_is_that_of_a_regression():
    """Affine and quadratic functions by numpy's polynomials, in one column."""
    x, y = np.random.default_rng(0).normal(size=(2, 30))
    for degree in (1, 2):
        fitted = np.polyval(np.polyfit(x, y, degree), x)
        assert least_loss(x[:, None], y, degree) == pytest.approx(np.mean((y - fitted) ** 2))


def test_no_combination_is_above_the_kernel_functions():
    """Theorem 5: 200 combinations of one sample for each method, and the verdicts of its rows."""
    for name in ("identity, d = 2", "PCA, d = 1"):
        values = combinations_of_kernels(name, 0, points=15, count=200)
        assert 0 < values["combinations"] < values["kernels"]
        rows = theorem_5(pd.DataFrame([{"algorithm": name, "draw": 0, **values}]))
        assert [row[1] for row in rows] == ["yes"]
    assert 0 < combinations_of_kernels("PCA, d = 1", 0, points=15, count=100)["midpoints above"] < 0.6
    above = {"algorithm": "a", "draw": 0, "kernels": 1.0, "combinations": 1.1, "midpoints above": 0.2}
    assert theorem_5(pd.DataFrame([above]))[0][1] == "no"


def test_the_largest_residual_of_kernel_functions_is_that_of_a_loop():
    """Definition 4 for the identity, kernel function by kernel function, with the residual of scipy."""
    rng = np.random.default_rng([5, 1])
    X = np.column_stack([rng.normal(size=9), 0.4 * rng.normal(size=9)])
    Y = X - X.mean(axis=0)
    base = reconstruction_map(Y, X, rule="theorem3")(Y)
    squared = squareform(pdist(base, "sqeuclidean"))
    residuals = []
    for i in range(9):
        for j in range(2):
            changed = X - base
            changed[:, j] += np.exp(-squared[:, i] / (2 * np.median(pdist(base, "sqeuclidean"))))
            centered = changed - changed.mean(axis=0)
            residuals.append(procrustes(changed, Y)[2] * np.sum(centered**2))
    values = combinations_of_kernels("identity, d = 2", 1, points=9, count=5)
    assert values["kernels"] == pytest.approx(max(residuals), rel=1e-8)


def test_verdicts_on_the_angle_and_its_tail():
    """Severely weaker at an end, weaker, or not, where there is noise; and a whole correlation of .98 is in part."""
    values = {"draw": 0, "angle": 0.98, "arc length": 1.0, "between": 0.97, "inner end": 0.98, "skeletal": 0.7}
    values |= {"slope, inner end": 1.0, "slope, outer end": 0.6}
    verdicts = []
    for end in (0.3, 0.9, 0.98):
        rows = [{"noise": noise, **values, "outer end": end if noise else 0.1} for noise in (0.0, 0.1)]
        verdicts.append([row[1] for row in figure_11(pd.DataFrame(rows))])
    assert verdicts == [["in part", "yes"], ["in part", "in part"], ["in part", "no"]]


def test_ends_and_slopes_of_a_spiral():
    """Without noise all points are skeletal and the slopes of the ends are those between; with noise they are lower."""
    clean, noisy = spiral(0.0, 1), spiral(0.1, 1)
    assert clean["skeletal"] == 1.0 > noisy["skeletal"]
    assert clean["slope, outer end"] == pytest.approx(1.0, abs=0.1)
    assert min(noisy["slope, inner end"], noisy["slope, outer end"]) < 0.8
    data = dreval.simulate("spiral", n=300, noise=0.1, random_state=1)
    arc, y = data.latent[:, 0], dreval.methods.LSDR(1).fit_transform(data.data)[:, 0]
    parts = np.argsort(arc).reshape(20, 15)
    slopes = [abs(np.cov(arc[part], y[part])[0, 1] / np.var(arc[part], ddof=1)) for part in parts]
    assert noisy["slope, outer end"] == pytest.approx(slopes[-1] / np.median(slopes), rel=1e-8)


def test_verdicts_on_seconds():
    """The power by least squares of logarithms; linear, linear without the search, and neither; an hour at most."""
    n = np.array([1000, 10_000, 100_000])
    assert exponent(n, 3e-7 * n**1.7) == pytest.approx(1.7)
    verdicts = []
    for seconds, search in ((1e-4 * n, 0 * n), (1e-4 * n + 1e-7 * n**2, 1e-7 * n**2), (1e-6 * n**2, 0 * n)):
        table = pd.DataFrame({"seconds": seconds, "neighbor search": search}, index=n)
        verdicts.append([row[1] for row in rows_of_speed(table)])
    assert verdicts == [["yes", "yes"], ["in part", "yes"], ["no", "no"]]
