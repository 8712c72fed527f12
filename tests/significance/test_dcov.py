"""Distance covariance against R energy, dcor, naive twins, exact fractions and hand counts."""

from __future__ import annotations

import json
import tracemalloc
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.spatial.distance import cdist, pdist, squareform
from scipy.stats import ortho_group
from strategies import pairs

import dreval
from dreval.errors import InputError
from dreval.geometry._loops.permutations import permuted_line_sums, plain_line_sums
from dreval.inference.permutation import draw_permutations
from dreval.significance import dcov

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
    other_exponent = quick(*points(), exponent=0.5)
    assert other_exponent.statistic == pytest.approx(DCOR["distance_covariance_sqr of exponent 0.5"], rel=1e-11)
    line = quick(*(variable[:, 0] for variable in points()))
    assert line.statistic == pytest.approx(DCOR["distance_covariance_sqr of first columns"], rel=1e-12)
    assert line.effect_size == pytest.approx(DCOR["u_distance_correlation_sqr of first columns"], rel=1e-10)


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


LINES = {
    "normal": lambda rng, n: rng.normal(size=n),
    "heavy tails": lambda rng, n: rng.standard_cauchy(size=n),
    "integers with ties": lambda rng, n: rng.integers(0, 4, n).astype(float),
    "two values": lambda rng, n: rng.permutation(np.arange(n) % 2) * 1.7,
    "one distant row": lambda rng, n: np.r_[1e9, rng.normal(size=n - 1)],
    "large": lambda rng, n: 1e55 * rng.normal(size=n),
    "small": lambda rng, n: 1e-55 * rng.normal(size=n),
    "far from 0": lambda rng, n: 1e8 + np.round(rng.normal(size=n), 4),
    "large integers": lambda rng, n: rng.integers(0, 2**50, n),
}


def in_matrices(x, y, monkeypatch, **options):
    """The test with n x n matrices, also of two single columns."""
    with monkeypatch.context() as patch:
        patch.setattr(dcov, "on_a_line", lambda *_, **__: False)
        return dreval.dcov_test(x, y, **options)


@pytest.mark.parametrize("law", LINES)
@pytest.mark.parametrize("other_law", ["normal", "heavy tails", "two values"])
@pytest.mark.parametrize("n", [4, 5, 31, 200])
def test_two_columns_have_the_values_of_the_matrices(law, other_law, n, monkeypatch):
    """Sorted rows give every number of the n x n matrices to 1e-12 of the largest possible value."""
    rng = np.random.default_rng([n, list(LINES).index(law)])
    x, y = LINES[law](rng, n), LINES[other_law](rng, n)
    if len(np.unique(x)) < 2:
        x[0] += 1
    options = {"n_resamples": 20, "random_state": 1}
    result, expected = dreval.dcov_test(x, y, **options), in_matrices(x, y, monkeypatch, **options)
    size = expected.statistic / expected.extra["dcor"] ** 2 if expected.extra["dcor"] else expected.statistic
    size = max(size, float(expected.null_distribution.max()))
    for left, right in (
        (result.statistic, expected.statistic),
        (result.null_distribution, expected.null_distribution),
        (result.extra["unbiased"], expected.extra["unbiased"]),
    ):
        np.testing.assert_allclose(left, right, rtol=0, atol=1e-12 * size)
    assert result.p_value == expected.p_value
    assert result.extra["dcor"] ** 2 == pytest.approx(expected.extra["dcor"] ** 2, abs=1e-12)
    assert result.effect_size == pytest.approx(expected.effect_size, abs=1e-10, nan_ok=True)
    assert [str(line) for line in result.notes] == [str(line) for line in expected.notes]


@given(n=st.integers(2, 40), digits=st.integers(0, 3), seed=st.integers(0, 2**32 - 1))
def test_sums_over_sorted_rows_are_the_plain_ones(n, digits, seed):
    """With ties in both variables, in any order of equal entries."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, n)).round(digits)
    order, by_y, rank = np.argsort(x, kind="stable"), rng.permutation(n), np.empty(n, np.int64)
    rank[by_y[np.argsort(y[by_y], kind="stable")]] = np.arange(n)
    weights, means = rng.normal(size=(2, n))
    permutations = draw_permutations(n, 3, 0)
    sums = permuted_line_sums(x[order], order, y, rank, weights, means, permutations)
    plain = plain_line_sums(x[order], order, y, weights, means, permutations)
    np.testing.assert_allclose(sums, plain, rtol=0, atol=1e-12 * n**2)


@given(
    x=st.lists(st.integers(-3, 3), min_size=4, max_size=9).filter(lambda values: len(set(values)) > 1),
    seed=st.integers(0, 2**32 - 1),
)
def test_integers_by_exact_fractions(x, seed):
    """The V-statistic of integers is the sum of products of centered distances in exact fractions."""
    n, y = len(x), np.random.default_rng(seed).permutation(len(x)) ** 2
    centered = []
    for values in (x, y.tolist()):
        D = [[Fraction(abs(a - b)) for b in values] for a in values]
        means, total = [sum(row) / n for row in D], sum(map(sum, D)) / n**2
        centered.append([[D[i][j] - means[i] - means[j] + total for j in range(n)] for i in range(n)])
    expected = sum(a * b for left, right in zip(*centered, strict=True) for a, b in zip(left, right, strict=True))
    assert quick(np.array(x), y).statistic == pytest.approx(float(expected / n**2), rel=1e-12, abs=1e-13)


def test_ties_of_the_statistic_are_counted_whatever_the_rounding():
    """Of two binary variables p is the hypergeometric probability of tables at least as far from independence."""
    x, y = np.repeat([0.3, 1.1], 20), np.r_[np.repeat([0.1, 0.7], [14, 6]), np.repeat([0.1, 0.7], [6, 14])]
    result = dreval.dcov_test(x, y, n_resamples=4000, random_state=0)
    tables = stats.hypergeom(40, 20, 20).pmf(np.arange(21))
    expected = tables[np.abs(np.arange(21) - 10) >= 4].sum()
    assert abs(result.p_value - expected) < 4 * np.sqrt(expected / 4000)
    crossed = np.tile([0.1, 0.7], 20)
    assert dreval.dcov_test(x, crossed, random_state=0).p_value == 1.0


def test_two_classes_and_a_column_need_no_matrix(monkeypatch):
    """Two classes are points on a line; three are not, and neither are two columns or another exponent."""
    rng = np.random.default_rng(0)
    x, classes = rng.normal(size=50), rng.choice(list("ab"), 50)
    left, right = dreval.dcov_test(x, classes), in_matrices(x, classes, monkeypatch)
    assert left.statistic == pytest.approx(right.statistic, rel=1e-12)
    assert left.extra["metric_y"] == "equal or not"
    assert dcov.on_a_line((x, classes))
    assert dcov.on_a_line((pd.DataFrame({"a": x}), x[:, None]), metric=("euclidean", "euclidean"))
    assert not dcov.on_a_line((x, rng.choice(list("abc"), 50)))
    assert not dcov.on_a_line((x, rng.normal(size=(50, 2))))
    assert not dcov.on_a_line((x, x), exponent=0.5)
    assert not dcov.on_a_line((x, x), metric=("euclidean", "precomputed"))


def test_memory_of_two_columns_is_linear():
    """100,000 rows, whose matrices would take 160 GB, need 100 MB."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=100_000)
    dreval.dcov_test(x[:50], x[:50], n_resamples=1)  # imports and compiles
    tracemalloc.start()
    result = dreval.dcov_test(x, x**2 + rng.normal(size=100_000), n_resamples=2, random_state=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6
    assert result.p_value == 1 / 3
