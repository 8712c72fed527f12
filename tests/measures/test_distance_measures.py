"""The measures over pairs: hand counts, scipy, scikit-learn, and naive twins."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import isotonic_regression
from sklearn.isotonic import isotonic_regression as their_isotonic
from sklearn.manifold import smacof
from sklearn.neighbors import NearestNeighbors
from strategies import neighbor_counts, pairs, tie_free_pairs
from validation.oracles import pair_twins as twins
from validation.oracles.twins import joined

import dreval
from dreval.errors import UndefinedMeasure, UnknownName

LINE, EMBEDDED = np.array([0.0, 1, 3, 7]), np.array([0.0, 7, 1, 3])


def _correlation(compute, x, y):
    """Return scipy's correlation; None where it is undefined or of rounding errors."""
    spreads = [np.ptp(z) / (np.abs(z).max() or 1.0) for z in (x, y)]
    if min(spreads) < 1e-7:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compute(x, y).statistic


def test_four_points_by_hand():
    """Points at 0, 1, 3, 7 shown at 0, 7, 1, 3; pairs ab ac ad bc bd cd.

    x = 1 3 7 2 6 4, y = 7 1 3 6 4 2. x - y = -6 2 4 -4 2 2: squares 36 4 16 16 4 4, sum 80; sum x^2 = 115 = sum y^2;
    sum xy = 7 + 3 + 21 + 12 + 24 + 8 = 75. Sammon: 36 + 4/3 + 16/7 + 8 + 2/3 + 1 = 49 2/7, over sum x = 23.
    Pearson: both means 23/6, S = 115 - 529/6 = 161/6, Sxy = 75 - 529/6 = -79/6: r = -79/161.
    Ranks of x 1 3 6 2 5 4, of y 6 1 3 5 4 2: squared differences 25 4 9 9 1 4 = 52, rho = 1 - 312/210 = -17/35.
    In the order of x (1 2 3 4 6 7) y is 7 6 1 2 4 3: discordant 5 + 4 + 0 + 0 + 1 = 10 of 15, tau = -1/3.
    Ascending fit of 7 6 1 2 4 3: 7 6 1 2 pool to 4, then 4 3 to 3.5, all to 23/6: squares 115 - 529/6 = 161/6 left.
    Both distributions have mean 23/6; at 1 both have 1/6, at 2, 3, 4, 6, 7 the same: D = 0.
    """
    value = {
        "stress": math.sqrt(80 / 115),
        "stress_scale_normalized": math.sqrt(1 - (75 / 115) ** 2),
        "stress_nonmetric": math.sqrt(161 / 6 / 115),
        "sammon_stress": (36 + 4 / 3 + 16 / 7 + 8 + 2 / 3 + 1) / 23,
        "pearson_distance": -79 / 161,
        "spearman_distance": -17 / 35,
        "kendall_distance": -1 / 3,
        "ks_distance": 0.0,
    }
    for name, expected in value.items():
        assert getattr(dreval, name)(LINE, EMBEDDED) == pytest.approx(expected, abs=1e-14)
    assert dreval.stress(LINE, EMBEDDED, kind="raw") == 80
    assert dreval.stress(LINE, 2 * EMBEDDED, kind="kruskal") == pytest.approx(math.sqrt((115 + 4 * 115 - 4 * 75) / 460))


def test_triplets_and_radii_by_hand():
    """The same four points. Triplets, order in the data against the embedding (distances from the first point).

    a: x b1 c3 d7, y b7 c1 d3: bc wrong, bd wrong, cd right: 1/3. b: x a1 c2 d6, y a7 c6 d4: all wrong: 0.
    c: x a3 b2 d4, y a1 b6 d2: ab wrong, ad right, bd wrong: 1/3. d: x a7 b6 c4, y a3 b4 c2: ab wrong, ac, bc right:
    2/3.
    Nearest: x 1 1 2 4, y 1 4 1 2. Mid ranks 1.5 1.5 3 4 and 1.5 4 1.5 3, less 2.5: -1 -1 .5 1.5 and -1 1.5 -1 .5:
    products 1 - 1.5 - .5 + .75 = -.25, squares 4.5 both: rho = -1/18.
    """
    assert dreval.triplet_accuracy(LINE, EMBEDDED) == pytest.approx((1 + 0 + 1 + 2) / 12, abs=1e-15)
    assert dreval.local_radius_correlation(LINE, EMBEDDED, n_neighbors=1) == pytest.approx(-1 / 18, abs=1e-15)


def test_distance_correlation_by_hand():
    """Points 0, 1 and twice 0: x = y up to a mirror has 1; two equal points against one distant point is computed by
    hand.

    X = 0 0 1 1, Y = 0 1 0 1: X's distances are 1 between halves, row means 1/2, A = -1/2 within and 1/2 between, and
    B likewise for other halves; sum A B = (1 - 1 - 1 + 1)/4 a row = 0, so dCor = 0.
    """
    assert dreval.distance_correlation([0.0, 0, 1, 1], [0.0, 1, 0, 1]) == pytest.approx(0, abs=1e-15)
    assert dreval.distance_correlation([0.0, 0, 1, 1], [5.0, 5, 3, 3]) == pytest.approx(1, abs=1e-15)


@given(pair=pairs(min_n=5, max_n=25))
def test_correlations_are_those_of_scipy(pair):
    """Pearson, Spearman with mid ranks and Kendall's tau-b of the condensed distances, ties included."""
    x, y = (joined(twins.condensed(Z)) for Z in pair)
    for name, reference, tolerance in (
        ("pearson_distance", stats.pearsonr, 1e-7),
        ("spearman_distance", stats.spearmanr, 1e-12),
        ("kendall_distance", stats.kendalltau, 1e-12),
    ):
        expected = _correlation(reference, x, y)
        if expected is not None:
            assert getattr(dreval, name)(*pair) == pytest.approx(expected, abs=tolerance)


@given(pair=pairs(min_n=4, max_n=14))
def test_stresses_follow_their_formulas(pair):
    """Raw, normalized, at the best scale, Sammon's and Kruskal's, on every kind of cloud, 1e-8 to 1e8 in size."""
    x, y = (twins.condensed(Z) for Z in pair)
    assert dreval.stress(*pair) == pytest.approx(twins.stress(x, y), rel=1e-10, abs=1e-12)
    assert dreval.stress(*pair, kind="raw") == pytest.approx(((x - y) ** 2).sum(), rel=1e-10, abs=1e-12 * (x**2).sum())
    assert dreval.sammon_stress(*pair) == pytest.approx(twins.sammon(x, y), rel=1e-10, abs=1e-12)
    if not y.any():
        assert dreval.stress_scale_normalized(*pair) == dreval.stress_nonmetric(*pair) == 1
        return
    best = (x @ y) / (y @ y)
    assert dreval.stress_scale_normalized(*pair) == pytest.approx(twins.stress(x, best * y), rel=1e-9, abs=1e-9)
    assert dreval.stress_nonmetric(*pair) == pytest.approx(twins.nonmetric(x, y), rel=1e-7, abs=1e-7)


@given(pair=tie_free_pairs(min_n=5, max_n=25))
def test_no_other_scale_is_better(pair):
    """The scale-normalized stress is the smallest over scales, and the sine of the angle of the distances."""
    X, Y = pair
    least = dreval.stress_scale_normalized(X, Y)
    x, y = twins.condensed(X), twins.condensed(Y)
    best = (x @ y) / (y @ y)
    assert dreval.stress(X, best * Y) == pytest.approx(least, rel=1e-9)
    for factor in (0.9, 0.999, 1.001, 1.5):
        assert dreval.stress(X, factor * best * Y) > least
    assert least**2 == pytest.approx(1 - (x @ y) ** 2 / (x @ x) / (y @ y), abs=1e-12)


@given(pair=tie_free_pairs(min_n=5, max_n=30))
def test_isotonic_fits_agree(pair):
    """The fit is that of scipy and scikit-learn; the naive max-min formula of the twin is the same fit."""
    X, Y = pair
    x, y = twins.condensed(X), twins.condensed(Y)
    ordered = y[np.argsort(x)]
    for fit in (isotonic_regression(ordered).x, their_isotonic(ordered), twins.isotonic(ordered)):
        expected = math.sqrt(((ordered - fit) ** 2).sum() / (ordered**2).sum())
        assert dreval.stress_nonmetric(X, Y) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_stress_is_that_of_scikit_learn():
    """SMACOF's raw stress and its stress-1 (Kruskal's) of the embedding it returns."""
    X = np.random.default_rng(0).normal(size=(30, 4))
    D = np.zeros((30, 30))
    D[np.triu_indices(30, 1)] = twins.condensed(X)
    D += D.T
    for normalized, options in ((False, {"kind": "raw"}), (True, {"kind": "kruskal"})):
        Y, stress = smacof(D, n_init=1, random_state=0, normalized_stress=normalized, max_iter=50)
        assert dreval.stress(X, Y, **options) == pytest.approx(stress, rel=1e-9)


def test_ties_cost_nothing_in_nonmetric_stress():
    """Primary approach: two equal distances in the data may have any two distances in the embedding.

    A square with equal sides: data distances 1 1 1 1 and twice sqrt 2. A rectangle, 1 x 1.2 or 1 x 3, keeps the order,
    as its diagonals are the longest: stress 0.
    """
    square = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])
    for width in (1.2, 3.0):
        assert dreval.stress_nonmetric(square, square * [1, width]) == 0


@given(pair=pairs(min_n=4, max_n=20))
def test_distance_correlation_is_the_formula(pair):
    """The V-statistic from doubly centered matrices."""
    X, Y = pair
    assert dreval.distance_correlation(X, Y) == pytest.approx(twins.distance_correlation(X, Y), abs=1e-7)


@settings(max_examples=40)
@given(pair=pairs(min_n=4, max_n=15, kinds=("normal", "grid", "duplicates"), images=("noisy", "grid"), scales=False))
def test_triplets_are_counted(pair):
    """All triplets of each point; ties on either side as stated."""
    X, Y = (np.round(Z, 3) if (Z != np.round(Z)).any() else Z for Z in pair)
    if (X == X[0]).all():
        return
    expected = np.mean([twins.triplet_share(X, Y, i) for i in range(len(X))])
    assert dreval.triplet_accuracy(X, Y) == pytest.approx(expected, abs=1e-12)


@given(pair=tie_free_pairs(min_n=6), data=st.data())
def test_radii_are_those_of_scikit_learn(pair, data):
    """It is Spearman's correlation of the distances to the k-th neighbor."""
    k = data.draw(neighbor_counts(len(pair[0])))
    radii = [NearestNeighbors(n_neighbors=k, algorithm="kd_tree").fit(Z).kneighbors()[0][:, -1] for Z in pair]
    expected = _correlation(stats.spearmanr, *radii)
    if expected is not None:
        assert dreval.local_radius_correlation(*pair, n_neighbors=k) == pytest.approx(expected, abs=1e-12)


@given(pair=tie_free_pairs(min_n=5))
def test_distributions_of_distances_are_compared_as_in_scipy(pair):
    """The two-sample statistic of distances over their means."""
    x, y = (twins.condensed(Z) for Z in pair)
    expected = stats.ks_2samp(x / x.mean(), y / y.mean()).statistic
    assert dreval.ks_distance(*pair) == pytest.approx(expected, abs=1e-12)


@given(pair=pairs(min_n=5, images=("independent",)), factor=st.sampled_from([1e-3, 0.3, 7.1, 1e5]))
def test_a_scaled_copy_keeps_the_distribution(pair, factor):
    """Rounding does not separate tied distances: D = 0 for c X, with ties and duplicates."""
    X = pair[0]
    assert dreval.ks_distance(X, factor * X) == pytest.approx(0, abs=1e-12) or np.ptp(X) < 1e-5 * np.abs(X).max()


def test_constant_input_has_a_defined_value():
    """A constant embedding has correlation 0; four equidistant points in both spaces have 1."""
    corners = np.eye(4)
    for name in ("pearson_distance", "spearman_distance", "kendall_distance"):
        assert getattr(dreval, name)(LINE, np.zeros(4)) == 0
        assert getattr(dreval, name)(corners, LINE) == 0
        assert getattr(dreval, name)(corners, 3 * corners) == 1
        assert getattr(dreval, name)(corners, np.zeros((4, 2))) == 0
    note = dreval.Evaluation(LINE, {"e": np.zeros(4)}, n_neighbors=1).run("pearson_distance", ci=None).table["note"][0]
    assert note == "all distances in the embedding are equal: counted as 0"


def test_pairs_of_equal_points_are_counted():
    """A note has the number of pairs without weight in Sammon's stress."""
    X, Y = np.array([0.0, 0, 0, 1, 2]), np.array([0.0, 1, 0, 1, 2])
    row = dreval.Evaluation(X, {"e": Y}, n_neighbors=1).run("sammon_stress", ci=None).table.iloc[0]
    assert row["note"] == "3 pairs of equal points in the data are left out"
    # x: thrice 1, thrice 2, once 1 (3 pairs 0); gaps: point 1 is at 1: to 3 is 0 (gap 1), to 4 is 1 (gap 1)
    assert row["value"] == pytest.approx((1 / 1 + 1 / 2) / 10, abs=1e-15)


def test_an_unknown_kind_raises_an_error():
    """The function and an evaluation raise an error that lists the valid kinds."""
    with pytest.raises(UnknownName, match="Known: kruskal, normalized, raw"):
        dreval.stress(LINE, EMBEDDED, kind="metric")
    with pytest.raises(UndefinedMeasure, match='"kruskal" with a constant embedding'):
        dreval.stress(LINE, np.zeros(4), kind="kruskal")
    with pytest.raises(UnknownName, match="Known: kruskal, normalized, raw"):
        dreval.Evaluation(LINE, {"e": EMBEDDED}, n_neighbors=1).run("stress", options={"stress": {"kind": "metric"}})
