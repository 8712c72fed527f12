"""Data and embeddings near the limits of size: the value that the card demands, or a reason; beyond them an error."""

from __future__ import annotations

import itertools
import math
import re
from inspect import signature

import numpy as np
import pytest
from each import each
from measure_calls import call_measure
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist

import dreval
from dreval._check_arrays import LARGEST_MAGNITUDE, SMALLEST_MAGNITUDE
from dreval.errors import DrevalError, InputError, UndefinedMeasure
from dreval.registry import MEASURES, TESTS

N, K = 24, 5
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3)) * [2.0, 1.0, 0.5]
Y = X[:, :2] + 0.2 * RNG.normal(size=(N, 2))
LABELS, LATENT, BATCH = np.arange(N) % 3, X[:, :1].copy(), np.arange(N) // 3 % 2
EXPONENTS = (-197, 196)  # of two: near the limits of size
DEGREES = {"procrustes_r": 2, "procrustes_rpca": 2, "stress-raw": 2}  # log2 of the factor when both spaces are doubled
each_power = each("power", EXPONENTS)
OF_NEIGHBORS = {name for name in MEASURES if {"ranks", "neighbors"} & set(MEASURES.card(name).needs)}
OF_NEIGHBORS -= {"topographic_product"}  # reads how far they are
Long = np.longdouble  # 15 bits of exponent: the naive formulas below neither overflow nor vanish
LIMITS = r"must have magnitudes between 1e-60 and 1e\+60: got a largest absolute value of"


def _cases():
    """Yield every measure of embeddings with every choice of its parameters."""
    for name in MEASURES:
        card = MEASURES.card(name)
        for kind in card.choices.get("kind", (None,)) if card.level != "algorithm" else ():
            options = {} if kind is None else {"kind": kind}
            yield name, options


each_measure = each("name, options", list(_cases()))
measures_in_parts = each("name, options", list(_cases()), items=3)


def _numbers(name, data, embedding, **options):
    card = MEASURES.card(name)
    options |= {"n_neighbors": K} if "n_neighbors" in card.parameters else {}
    options |= {"labels": LABELS} if "labels" in card.needs else {}
    options |= {"latent": LATENT} if "latent" in card.needs else {}
    options |= {"batch": BATCH} if "batch" in card.needs else {}
    options |= {"target": LATENT[:, 0]} if "target" in card.needs else {}
    options |= {"size": 8} if name == "kbet" else {}  # so that a test can reject
    options |= {"labels": 0 * LABELS} if "min_points" in card.parameters else {}  # one label of enough points
    measure = getattr(dreval, name)
    options |= (
        {"random_state": 0} if card.level != "algorithm" and "random_state" in signature(measure).parameters else {}
    )
    return np.atleast_1d(call_measure(name, data, embedding, **options))


def _refused_beyond(expected, compute):
    """Check the value if a float can store its square, and check that there is an error otherwise."""
    if abs(expected) < 1e150:
        assert_allclose(compute(), [float(expected)], rtol=1e-12)
    else:
        with pytest.raises(UndefinedMeasure, match="must have units in which the value of this measure is at most 1e"):
            compute()


@pytest.mark.parametrize("power", EXPONENTS)
@each_measure
def test_both_spaces_in_another_unit(name, options, power):
    """The bits are the same, or for measures in the unit of the data the value times its power of the unit."""
    base, unit = _numbers(name, X, Y, **options), 2.0**power
    degree = DEGREES.get("-".join([name, *options.values()]), 0)
    if degree == 0:
        assert_array_equal(_numbers(name, X * unit, Y * unit, **options), base)
    else:
        _refused_beyond(
            Long(base[0]) * Long(2) ** (degree * power), lambda: _numbers(name, X * unit, Y * unit, **options)
        )


@pytest.mark.parametrize("power", EXPONENTS)
@each_measure
def test_one_space_in_another_unit(name, options, power):
    """Measures that do not depend on the unit of the embedding have the same bits."""
    if "scale" not in MEASURES.card(name).invariances:
        return
    base, unit = _numbers(name, X, Y, **options), 2.0**power
    assert_array_equal(_numbers(name, X, Y * unit, **options), base)
    assert_array_equal(_numbers(name, X * unit, Y, **options), base)


def _naive_stress(kind, a, b):
    """Compute Kruskal's and Sammon's formulas term by term."""
    x, y = (pdist(points).astype(Long) * Long(2) ** power for points, power in ((X, a), (Y, b)))
    raw = np.sum((x - y) ** 2)
    values = {
        "raw": raw,
        "normalized": np.sqrt(raw / np.sum(x**2)),
        "kruskal": np.sqrt(raw / np.sum(y**2)),
        "sammon": np.sum((x - y) ** 2 / x) / np.sum(x),
    }
    return values[kind]


def _naive_procrustes(kind, a, b):
    """Goldberg and Ritov's sums over neighborhoods, from the parts at size 1: a^2 |HX|^2 + b^2 |HY|^2 - 2 a b s."""
    order = np.argsort(((X[:, None] - X) ** 2).sum(axis=2), axis=1)[:, : K + 1]
    a, b, total = Long(2) ** a, Long(2) ** b, Long(0)
    for members in order:
        ours, image = X[members] - X[members].mean(axis=0), Y[members] - Y[members].mean(axis=0)
        size = np.sum(ours**2)
        if kind == "rpca":
            left, sizes, axes = np.linalg.svd(ours, full_matrices=False)
            ours = (left[:, :2] * sizes[:2]) @ axes[:2]
        nuclear = np.linalg.svd(ours.T @ image, compute_uv=False).sum()
        part = a**2 * Long(np.sum(ours**2)) + b**2 * Long(np.sum(image**2)) - 2 * a * b * Long(nuclear)
        total += part / (a**2 * Long(size)) if kind == "rn" else part
    return total / N


UNITS = list(itertools.product((-197, -150, -90, 0, 90, 150, 196), repeat=2))


@each("kind", ["raw", "normalized", "kruskal", "sammon"])
def test_stresses_of_any_two_units(kind):
    """Every combination of units gives the naive value in 15 bits of exponent, or the required error."""
    name, options = ("sammon_stress", {}) if kind == "sammon" else ("stress", {"kind": kind})
    for a, b in UNITS:
        compute = lambda a=a, b=b: _numbers(name, X * 2.0**a, Y * 2.0**b, **options)  # noqa: E731
        _refused_beyond(_naive_stress(kind, a, b), compute)


@each("kind", ["r", "rn", "rpca"])
def test_local_procrustes_of_any_two_units(kind):
    """The same holds as for the stresses."""
    for a, b in UNITS:
        compute = lambda a=a, b=b: _numbers(f"procrustes_{kind}", X * 2.0**a, Y * 2.0**b)  # noqa: E731
        _refused_beyond(_naive_procrustes(kind, a, b), compute)


@pytest.mark.parametrize("size", [0.99 * SMALLEST_MAGNITUDE, 1.01 * LARGEST_MAGNITUDE, 2.0**-1060, 1e308])
@measures_in_parts
def test_sizes_beyond_the_limits_raise_an_error(name, options, size):
    """The error names the space, the limits, the largest absolute value, and a number to divide by, which helps."""
    unit = {"X": size / np.abs(X).max(), "Y": size / np.abs(Y).max()}
    for argument, spaces in (("X", (X * unit["X"], Y)), ("Y", (X, Y * unit["Y"]))):
        if argument == "X" and not MEASURES.card(name).reads_data:
            continue
        with pytest.raises(InputError, match=f"`{argument}` {LIMITS}") as error:
            _numbers(name, *spaces, **options)
        factor = float(re.search("Divide it by ([-+.e0-9]+),", error.value.hint)[1])
        assert 1.0 <= size / factor < 10.0 or size < 1e-300


def _value_or_reason(compute):
    """Return the value, or None and the reason."""
    try:
        return compute(), None
    except DrevalError as reason:
        return np.empty(0), str(reason)


@pytest.mark.parametrize("power", [60, 190])
@measures_in_parts
def test_one_huge_coordinate(name, options, power):
    """With one huge entry in the data or the embedding, a measure is finite or has a reason."""
    for space in (0, 1):
        spaces = [X.copy(), Y.copy()]
        spaces[space][3, 1] = 2.0**power
        values, reason = _value_or_reason(lambda: _numbers(name, *spaces, **options))  # noqa: B023
        assert np.isfinite(values).all()
        if reason is not None:
            coincide = name == "davies_bouldin" and "two classes with the same centroid" in reason
            assert coincide or "must have units in which" in reason
            continue
        if name in OF_NEIGHBORS and not {"features", "coordinates"} & set(MEASURES.card(name).needs):
            spaces[space][3, 1] = 2.0**52  # the same order of all distances
            assert_array_equal(values, _numbers(name, *spaces, **options))


@each_measure
def test_rows_that_would_count_as_copies_raise_an_error(name, options):
    """The squares of differences below 1e-160 underflow: an error of the check, for data and embedding."""
    for space, argument in ((0, "X"), (1, "Y")):
        if argument == "X" and not MEASURES.card(name).reads_data:
            continue
        spaces = [X.copy(), Y.copy()]
        spaces[space] *= 1e-160
        spaces[space][3, 1] = 1.0
        with pytest.raises(InputError, match=f"`{argument}` must have rows that differ by more than 3e-151"):
            _numbers(name, *spaces, **options)


def test_negligible_small_entries_are_data():
    """Numbers near 0 next to larger ones are accepted, dense and sparse, if the rows differ in other columns, too."""
    small = np.c_[X, np.where(LABELS == 0, 1e-300, 0.0)]
    assert dreval.trustworthiness(small, Y, n_neighbors=K) == dreval.trustworthiness(X, Y, n_neighbors=K)
    assert dreval.trustworthiness(csr_array(small), Y, n_neighbors=K) == pytest.approx(
        dreval.trustworthiness(X, Y, n_neighbors=K), abs=1e-12
    )
    with pytest.raises(InputError, match="got 22 rows that differ by less"):
        dreval.trustworthiness(csr_array(np.c_[np.arange(N) * 1e-300, np.arange(N) == 0]), Y, n_neighbors=K)


@each("shift", [-(2.0**40)])
@each_measure
def test_far_from_the_origin(name, options, shift):
    """Rounded to the remaining digits, both spaces have the value of the same numbers moved back, to 1e-9."""
    of_map = shift * ("translation" in MEASURES.card(name).invariances)
    data, embedding = X + shift, Y + of_map
    expected = _numbers(name, data - shift, embedding - of_map, **options)
    assert_allclose(_numbers(name, data, embedding, **options), expected, rtol=1e-9, atol=1e-9)


OF_EMBEDDINGS = [
    name for name in MEASURES if MEASURES.card(name).level != "algorithm" and not MEASURES.card(name).curve
]
FEW_MEASURES = ["trustworthiness", "stress", "procrustes_r", "procrustes_rc", "pearson_distance", "knn_accuracy"]


@pytest.mark.parametrize(
    "names", [pytest.param(FEW_MEASURES, id="few"), pytest.param(OF_EMBEDDINGS, marks=pytest.mark.slow, id="all")]
)
def test_an_evaluation_at_extreme_units(names):
    """Values, intervals and chance levels: no infinite cell, a row without a value has its reason."""
    base = _table(0, 0, names)
    unitless = [name for name in base.index.unique("measure") if "scale" in MEASURES.card(name).invariances]
    for a, b in ((-196, 196), (196, 0)):
        table = _table(a, b, names)
        assert not np.isinf(table.select_dtypes("number").to_numpy(float)).any()
        assert (table["note"] != "")[table["value"].isna()].all()
        for column in ("value", "chance", "se"):  # values without each point are those of the same numbers, too
            left, right = (table.loc["Y"].loc[unitless, column].astype(float) for table in (table, base))
            assert_allclose(left, right, rtol=1e-9, atol=1e-12, err_msg=column)


def _table(a, b, names):
    variables = {"labels": LABELS, "latent": LATENT, "batch": BATCH}
    variables["covariates"] = {"target": LATENT[:, 0]}
    ev = dreval.Evaluation(X * 2.0**a, {"Y": Y * 2.0**b, "pca": "pca"}, **variables, n_neighbors=K, random_state=0)
    return ev.run(names, None, ci="points").table.set_index(["embedding", "measure"])


@each_power
@each("name", [name for name in TESTS if TESTS.card(name).second != "method"])
def test_tests_of_independence(name, power):
    """The p-value and effect size are the same in every unit within the limits; beyond them there is an error."""
    test, unit = TESTS.get(name), 2.0**power
    second = Y[:, :1] if test.card.second == "number" else Y
    pairs = [(X, second), (X * unit, second), (X, second * unit), (X * unit, second * unit)]
    if test.card.second == "groups":
        pairs = [(X[LABELS > 0] + 0.5, X[LABELS == 0]), ((X[LABELS > 0] + 0.5) * unit, X[LABELS == 0] * unit)]
    expected = test(*pairs[0], n_resamples=19, random_state=0)
    for data, other_data in pairs[1:]:
        result = test(data, other_data, n_resamples=19, random_state=0)
        assert result.p_value == expected.p_value
        assert math.isfinite(result.statistic)
        assert result.effect_size == pytest.approx(expected.effect_size, rel=1e-12)
    for beyond in (1e-61, 1e61):
        with pytest.raises(InputError, match=LIMITS):
            test(pairs[0][0] * beyond, pairs[0][1], n_resamples=19, random_state=0)
