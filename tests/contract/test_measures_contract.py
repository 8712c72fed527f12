"""The properties that the card of every measure declares, tested for each of the registry."""

from __future__ import annotations

import doctest
import importlib
import inspect
import itertools
import math
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st
from measure_calls import call_measure
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import pdist, squareform
from strategies import is_tie_free, neighbor_counts, pairs, tie_free_pairs

import dreval
from dreval.errors import InputError
from dreval.geometry.blocks import VARIABLES, neighbor_pass
from dreval.measures.core import answer, chance_value
from dreval.registry import MEASURES

CURVES = [
    name for name in MEASURES if MEASURES.card(name).curve
]  # tests/measures/test_coranking_measures.py tests their blocks
METHODS = [name for name in MEASURES if MEASURES.card(name).level == "algorithm"]  # test_method_measures_contract.py
NAMES = [name for name in MEASURES if name not in CURVES and name not in METHODS]
BY_ROW = {"steadiness", "cohesiveness"}  # random clusters begin at random rows: tests/measures/test_inter_cluster.py
STRETCH = {"local_anisotropy", "local_area_spread"}  # regressions, which need more neighbors than dimensions
# Of batches, that neither data nor embedding decide.
MIXING = {"ilisi", "cilisi", "kbet", "kbet_per_label", "silhouette_batch", "bras", "pcr", "pcr_comparison"}
BIASED = {"procrustes_rn_opt", "knn_r2_ratio"}  # from anchors, of order 1/m: a scale, or a ratio of two means
NOISY = {"knn_r2", "morans_i"}  # of a target, that the data do not decide; test_targets.py has perfect values
OWN_SCALE = {"k_max", "q_local", "q_global"}  # the scale depends on the rows, which may be any
BLOCKS = ("BLOCK_BYTES", "CHUNK_BYTES")  # the constants by which work is cut into blocks
every_measure = each("name", NAMES)
every_with_curves = each("name", NAMES + CURVES)
measures_in_parts = each("name", NAMES, items=4)
with_curves_in_parts = each("name", NAMES + CURVES, items=4)
ANY_PAIR = st.one_of(pairs(min_n=7), pairs(min_n=20, min_p=13, max_p=20))  # no more columns than rows: X serves as Y
ANY_PAIR_AND_K = ANY_PAIR.flatmap(lambda pair: st.tuples(st.just(pair), neighbor_counts(len(pair[0]))))


@every_measure
def test_required_labels_latents_and_batches_must_be_passed(name):
    """A missing variable and None raise the same error."""
    X = np.random.default_rng(0).normal(size=(12, 3))
    needed = {*VARIABLES} & {*_card(name).needs}
    for missing in needed:
        options = {need: _options(name, X)[need] for need in needed - {missing}}
        for given_none in (options, {**options, missing: None}):
            with pytest.raises(InputError, match=f"`{missing}` must be given to {name}: got none"):
                call_measure(name, X, X[:, :2], **given_none)


def _card(name):
    return MEASURES.card(name)


def _options(name, X, k=None):
    """A legal k, and labels, latents and batches where they are needed."""
    card, n, options = _card(name), len(X), {}
    if "n_neighbors" in card.parameters:
        options["n_neighbors"] = min(5, n - 1) if k is None else k
    if "labels" in card.needs:
        options["labels"] = _labels(n)
    if "latent" in card.needs:
        options["latent"] = _latent(X)
    if "batch" in card.needs:
        options["batch"] = _batch(n)
    if "target" in card.needs:
        options["target"] = _latent(X)[:, 0]
    if n < 7 and "batch" in options:  # a label with several batches and more points
        options |= {"batch": np.arange(n) % 2} | ({"labels": np.arange(n) == n - 1} if "labels" in options else {})
    if "size" in card.parameters:
        options |= {"size": min(10, max(2, n // 3)), "alpha": 0.2}  # so that a test can reject
    if "min_points" in card.parameters:  # one label, so that it has enough points
        options |= {"min_points": 3, "labels": np.zeros(n, int)}
    if "random_state" in inspect.signature(getattr(dreval, name)).parameters:
        options["random_state"] = 0
    return options


def _labels(n):
    """Return three classes, some pairs of which are nearer in an embedding and others farther apart."""
    return np.arange(n) % 3


def _is_defined(name, Y, labels=None, X=None):
    """Return whether ratios have a denominator: different centroids of the classes, a class of different points.

    The other measures always have a value.
    """
    Y, codes = np.asarray(Y, float), _labels(len(Y)) if labels is None else labels
    if name == "knn_r2_ratio":  # neighbors in arbitrary data predict nothing; tests/measures/test_targets.py has others
        return False
    classes = [Y[codes == code] for code in np.unique(codes)]
    size = np.ptp(Y, axis=0).max()
    if name == "davies_bouldin":
        centers = [points.mean(axis=0) for points in classes]
        return all(np.linalg.norm(a - b) > 1e-12 * size for a, b in itertools.combinations(centers, 2))
    if name == "bras":
        return bool(np.square(Y).sum(axis=1).all())
    if name in ("pcr", "pcr_comparison"):
        batch = _options(name, Y)["batch"]
        means = [] if X is None else [np.asarray(X, float)[batch == b].mean(axis=0) for b in (0, 1)]
        return bool(size > 0) and (not means or np.abs(means[0] - means[1]).max() > 1e-6 * np.ptp(X, axis=0).max())
    return name != "calinski_harabasz" or any(np.ptp(points, axis=0).max() > 1e-12 * size for points in classes)


def _has_tangent_planes(X, k=5):
    """Return whether two directions of each neighborhood have more variance than the third, up to rounding."""
    neighborhoods = [X[np.argsort(((X - point) ** 2).sum(axis=1), kind="stable")[: k + 1]] for point in X]
    values = np.array([np.linalg.svd(points - points.mean(axis=0), compute_uv=False) for points in neighborhoods])
    return bool((values[:, 1] - values[:, 2] > 1e-6 * values[:, 0]).all())


def _batch(n):
    """Two batches, which all labels have."""
    return np.arange(n) // 3 % 2


def _latent(X):
    """The column of the data that varies most."""
    X = np.asarray(X, float)
    return X[:, [np.argmax(np.ptp(X, axis=0))]]


def _value(name, X, Y, **options):
    return call_measure(name, X, Y, **_options(name, X) | options)


def _numbers(name, X, Y, **options):
    """The value, or those of a curve, as an array."""
    return np.atleast_1d(_value(name, X, Y, **options))


def _view(name, X, Y, rows=None, k=5):
    """A view that every measure can read, and the parameters of this one."""
    options = _options(name, X)
    view = neighbor_pass(X, {"Y": Y}, k=min(k, len(X) - 1), rows=rows)["Y"]
    parameters = {key: options.get(key, default) for key, default in _card(name).parameters.items()}
    parameters |= {"target": None} if "target" in parameters else {}  # the only one of the view
    variables = {"labels": options.get("labels", _labels(len(X))), "latent": _latent(X), "batch": _batch(len(X))}
    return replace(view, **variables, target=_latent(X)[:, 0].astype([("target", float)])), parameters


def _points(name, X, Y, rows=None):
    view, parameters = _view(name, X, Y, rows)
    return answer(MEASURES.get(name), view, parameters)


def _cloud(n=60, p=3, seed=0):
    """Data and a noisy embedding of it, in general position."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * np.linspace(2, 0.5, p)
    return X, X[:, :2] + 0.2 * rng.normal(size=(n, 2))


@given(example=ANY_PAIR_AND_K)
@measures_in_parts
def test_values_lie_within_the_bounds(name, example):
    """For any data, any embedding, any k: a float within the card's bounds, to rounding."""
    (X, Y), k = example
    options = {"n_neighbors": k} if "n_neighbors" in _card(name).parameters else {}
    if not _is_defined(name, Y, X=X):
        return
    value = _value(name, X, Y, **options)
    low, high = _card(name).bounds
    assert type(value) is float
    assert low - 1e-12 <= value <= high + 1e-12


@given(pair=ANY_PAIR)
@measures_in_parts
def test_a_perfect_copy_is_best(name, pair):
    """Y = X has the ceiling of the card or the best end of the bounds (without direction the lower), with ties too."""
    X, card = pair[0], _card(name)
    if name in MIXING | NOISY:  # tests/measures/test_batch_measures.py defines the best of batches
        return
    best = card.ceiling(len(X), 5) if card.ceiling else card.bounds[1 if card.direction == "higher" else 0]
    labels = {"labels": np.arange(len(X)) * 3 // len(X)} if "labels" in card.needs else {}
    if labels:  # classes that the data themselves separate
        X = np.ascontiguousarray(X / np.abs(X).max() + 10.0 * labels["labels"][:, None])
        labels |= {key: value for key, value in _options(name, X, k=1).items() if key != "labels"}
        if name in {
            "silhouette",
            "isolated_labels",
            "davies_bouldin",
        }:  # the best is reached by classes that are points
            X = np.repeat(10.0 * labels["labels"][:, None], 2, axis=1)
        if name == "calinski_harabasz":  # no end is the best
            return
        inside = {"n_neighbors": max(len(X) // 3 - 1, 1)}  # all in the class of the point
        labels |= {"graph_connectivity": {"n_neighbors": len(X) // 2 - 1}, "clisi": {"perplexity": 2}}.get(name, {})
        labels |= inside if name.startswith("leiden") else {}
        if len(X) < (12 if name == "clisi" else 6):
            return
    unit = np.ptp(X) ** 2 if math.isinf(card.bounds[1]) else 1.0
    # Neighborhoods of local_area_spread may be nearly on a line; clisi has small weights of points of other classes.
    error = 1e-8 if name in {"local_area_spread", "clisi"} else 1e-12
    assert _value(name, X, X, **labels) == pytest.approx(best, abs=error * max(unit, 1.0))


@measures_in_parts
def test_an_unrelated_embedding_is_at_chance(name):
    """Permuted embeddings average to the chance level; without a chance level all have the same value."""
    X, Y = _cloud(n=80)
    rng, B = np.random.default_rng(1), 20
    # with 5 neighbors such an embedding may seem perfect, or good
    extra = {"n_neighbors": 15} if name in BY_ROW | STRETCH else {}
    values = np.array([_value(name, X, Y[rng.permutation(80)], **extra) for _ in range(B)])
    view, parameters = _view(name, X, Y, k=extra.get("n_neighbors", 5))
    parameters |= extra
    chance = chance_value(MEASURES.get(name), view, parameters, 0).value
    if _card(name).chance is None:
        assert math.isnan(chance)
        assert_allclose(values, values[0], rtol=1e-12)
        return
    single_draw = 1.0 if _card(name).chance == "permutation" else 0.0  # a permutation value is one draw
    assert abs(chance - values.mean()) <= 4.5 * values.std(ddof=1) * math.sqrt(single_draw + 1 / B)
    if name in OWN_SCALE or _card(name).direction == "none":
        return
    better = _value(name, X, Y, **extra) - chance
    above = better if _card(name).direction == "higher" else -better
    assert above > 4.5 * values.std(ddof=1) or {"labels", "batch"} & {*_card(name).needs}


@each("name", [name for name in NAMES if callable(_card(name).chance)], items=2)
def test_a_stated_chance_is_the_mean_over_all_pairings(name):
    """The mean over all 120 orders of five points is the formula of the card, exactly, for every k."""
    X, Y = _cloud(n=5)
    orders = [list(order) for order in itertools.permutations(range(5))]
    table = pd.concat([_value(name, X, Y[order], n_neighbors=[1, 2, 3, 4]) for order in orders], axis=1)
    assert_allclose(table.mean(axis=1), [_card(name).chance(5, k) for k in (1, 2, 3, 4)], atol=1e-13)


CHANGES = {
    "translation": lambda Y, rng: Y + rng.normal(size=Y.shape[1]),
    "rotation": lambda Y, rng: Y @ _reflected(np.linalg.qr(rng.normal(size=(Y.shape[1], Y.shape[1])))[0]),
    "scale": lambda Y, _: 3.7 * Y,
    "monotone": lambda Y, _: _in_order(Y),
}


def _in_order(Y):
    """Return points whose distances are the square roots of those of Y (Schoenberg 1938), in n - 1 dimensions."""
    squares = squareform(pdist(Y))
    inner = -(squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()) / 2
    values, vectors = np.linalg.eigh(inner)
    return vectors[:, 1:] * np.sqrt(np.maximum(values[1:], 0.0))


def _reflected(Q):
    """The same turn with a reflection."""
    return Q if np.linalg.det(Q) < 0 else Q * np.r_[-1.0, np.ones(len(Q) - 1)]


@settings(max_examples=5)
@given(pair=tie_free_pairs(min_n=7), seed=st.integers(0, 99))
@with_curves_in_parts
def test_declared_invariances_hold(name, pair, seed):
    """Translation, rotation with reflection, and scaling change nothing where the card declares it."""
    X, Y = (Z / np.abs(Z).max() for Z in pair)
    for change in CHANGES.keys() & _card(name).invariances:
        Z = CHANGES[change](Y, np.random.default_rng(seed))
        if is_tie_free(Y) and is_tie_free(Z):
            assert_allclose(_numbers(name, X, Z), _numbers(name, X, Y), rtol=1e-9, atol=1e-9, err_msg=change)


@settings(max_examples=5)
@given(
    seed=st.integers(0, 999), n=st.integers(20, 50), unit=st.sampled_from([0.1, 0.3, 1e-5]), p=st.sampled_from([3, 15])
)
@with_curves_in_parts
def test_equal_distances_stay_equal_in_other_units(name, seed, n, unit, p):
    """Ties of integers in tenths, moved by 5, are broken as those of integers."""
    if not {"translation", "scale"} <= _card(name).invariances:
        return
    rng = np.random.default_rng(seed)
    X, Y = rng.integers(0, 4, size=(n, p)).astype(float), rng.integers(0, 4, size=(n, 2)).astype(float)
    if not _is_defined(name, Y, X=X) or (name in STRETCH and not _has_tangent_planes(X)):
        return
    expected = _numbers(name, X, Y)
    for shift in (0.0, 5.0 * unit):
        assert_allclose(_numbers(name, X * unit + shift, Y * unit + shift), expected, rtol=1e-9, atol=1e-9)


@every_with_curves
def test_other_changes_are_detected(name):
    """A change that the card does not declare changes the value."""
    X, Y = _cloud()
    rng = np.random.default_rng(0)
    extra = {"labels": np.arange(60) % 9} if "labels" in _card(name).needs else {}  # classes that are not separate
    for change in CHANGES.keys() - _card(name).invariances:
        transformed = CHANGES[change](Y, rng)
        assert np.abs(_numbers(name, X, transformed, **extra) - _numbers(name, X, Y, **extra)).max() > 1e-3, change


@every_with_curves
def test_changes_that_every_measure_must_detect(name):
    """Bending the embedding changes every value, except bound and energy ratio, which use the number of columns."""
    X, Y = _cloud()
    bent = np.c_[np.exp(Y[:, 0]), Y[:, 1] ** 3]
    extra = {"labels": np.arange(60) % 9} if _card(name).without_class else {}  # the order of few classes may stay
    is_equal = np.abs(_numbers(name, X, bent, **extra) - _numbers(name, X, Y, **extra)).max() < 1e-9
    assert is_equal == (name in {"procrustes_lower_bound", "energy_ratio"})


@given(pair=tie_free_pairs(min_n=7), seed=st.integers(0, 99))
@each("name", [name for name in NAMES if name not in BY_ROW])
def test_permuted_rows_permute_the_contributions(name, pair, seed):
    """The order of points does not matter: each has the same contribution, and the value is the same."""
    X, Y = (Z / np.abs(Z).max() for Z in pair)
    if not _is_defined(name, Y):
        return
    order = np.random.default_rng(seed).permutation(len(X))
    view, parameters = _view(name, X, Y)
    left = answer(MEASURES.get(name), view, parameters)
    codes = {key: getattr(view, key)[order] for key in ("labels", "batch")}
    view, _ = _view(name, X[order], Y[order])
    expected = answer(MEASURES.get(name), replace(view, **codes), parameters)
    assert expected.value == pytest.approx(left.value, abs=1e-10)
    if left.points is not None:
        assert_allclose(expected.points, left.points[order], atol=1e-10)


@given(pair=pairs(min_n=7))
@measures_in_parts
def test_contributions_average_to_the_value(name, pair):
    """The mean of the contributions is the value; a global measure has none."""
    X, Y = pair
    if not _is_defined(name, Y, X=X):
        return
    result = _points(name, X, Y)
    assert (result.points is None) == (_card(name).level in {"global", "pair"})
    if result.points is not None:
        assert result.points.shape == (len(X),)
        assert result.value == result.points.mean()
    assert result.value == pytest.approx(_value(name, X, Y), rel=1e-14)


@every_with_curves
def test_inputs_are_not_written(name):
    """Read-only arrays are accepted and unchanged; a frame and a list of lists give the same."""
    X, Y = _cloud()
    originals = X.copy(), Y.copy()
    X.setflags(write=False)
    Y.setflags(write=False)
    value = _numbers(name, X, Y)
    assert_array_equal(X, originals[0])
    assert_array_equal(Y, originals[1])
    assert_array_equal(_numbers(name, pd.DataFrame(X), Y.tolist()), value)
    assert_array_equal(_numbers(name, np.asfortranarray(X), Y[:, ::-1][:, ::-1]), value)


@given(pair=pairs(kinds=["normal", "grid", "curve"], scales=False))
@with_curves_in_parts
def test_single_precision_is_read_exactly(name, pair):
    """float32 arrays give the very value of the same numbers in float64."""
    X, Y = (Z.astype(np.float32) for Z in pair)
    if not _is_defined(name, Y, X=X) or (X == X[0]).all():
        return
    assert_array_equal(_numbers(name, X, Y), _numbers(name, X.astype(float), Y.astype(float)))


@given(pair=pairs(min_n=4, max_n=4))
@with_curves_in_parts
def test_four_points_suffice(name, pair):
    """n = 4 works for every k from 1 to 3."""
    if not _is_defined(name, pair[1], X=pair[0]):
        return
    for k in (1, 2, 3) if "n_neighbors" in _card(name).parameters else (None,):
        assert np.isfinite(call_measure(name, *pair, **_options(name, pair[0], k))).all()


@every_measure
def test_a_list_of_k_is_single_values(name):
    """A list is sorted without repeats, and each value is that of a single k; an invalid k raises an error."""
    X, Y = _cloud()
    if "n_neighbors" not in _card(name).parameters:
        with pytest.raises(TypeError, match="n_neighbors"):
            call_measure(name, X, Y, **_options(name, X), n_neighbors=5)
        return
    table = _value(name, X, Y, n_neighbors=[20, 3, 7, 3])
    assert table.name == name
    assert list(table.index) == [3, 7, 20]
    assert table.to_dict() == {k: _value(name, X, Y, n_neighbors=k) for k in (3, 7, 20)}
    for k in (0, 60, 2.5, [5, 60], []):
        with pytest.raises(InputError, match="`n_neighbors`"):
            _value(name, X, Y, n_neighbors=k)


@with_curves_in_parts
@pytest.mark.parametrize("p", [3, 15])
def test_threads_and_blocks_have_no_effect(name, p, monkeypatch):
    """Blocks of any size give the same value and any number of threads the same bits; also with ties in the embedding.

    Sums over blocks may be added up in another order, so 1e-12 is left to the size of blocks.
    """
    X, Y = _cloud(n=100, p=p)
    for embedding in (Y, np.round(2 * Y)):
        if not _is_defined(name, embedding):
            continue
        expected = _numbers(name, X, embedding)
        with monkeypatch.context() as patch:
            _small_blocks(patch)
            value = _numbers(name, X, embedding)
            assert_allclose(value, expected, rtol=1e-12, atol=1e-12)
            if "n_jobs" in inspect.signature(getattr(dreval, name)).parameters:
                for n_jobs in (1, 3):
                    assert_array_equal(_numbers(name, X, embedding, n_jobs=n_jobs), value)


def _small_blocks(patch):
    """Use blocks of the smallest size for all work."""
    patches = [
        (module, constant)
        for path, module in sys.modules.items()
        for constant in BLOCKS
        if path.startswith("dreval.") and constant in vars(module)
    ]
    assert {constant for _, constant in patches} == set(BLOCKS)
    for module, constant in patches:
        patch.setattr(module, constant, 7)


@pytest.mark.parametrize("ties", [False, True])
def test_all_points_as_anchors_are_exact(ties):
    """``anchors = n`` is the evaluation of all points: every value, chance, curve and bound, for every measure."""
    X, Y = _cloud(n=40)
    variables = {"labels": _labels(40), "latent": _latent(X), "batch": _batch(40), "n_neighbors": 5, "random_state": 0}
    variables["covariates"] = {"target": _latent(X)[:, 0]}
    embeddings = {"Y": np.round(Y) if ties else Y}
    exact = dreval.Evaluation(X, embeddings, **variables).run("all", None, None)
    anchored = dreval.Evaluation(X, embeddings, anchors=40, **variables).run("all", None)
    assert sorted(exact.table["measure"]) == sorted(NAMES + METHODS)
    assert sorted(set(exact.curves["measure"])) == CURVES
    for column in ("value", "chance", "worst", "best"):
        assert_allclose(anchored.table[column], exact.table[column], rtol=1e-12, atol=1e-12)
    pd.testing.assert_frame_equal(anchored.curves, exact.curves, rtol=1e-12, atol=1e-12)
    sampled = anchored.table.set_index("measure")["se"].dropna()
    assert (sampled < 1e-12).all()  # no point is left out, so the value is exact


@measures_in_parts
def test_anchors_estimate_the_value_of_all_points(name):
    """Contributions of anchors are rows of the whole (all rows: the whole), so their mean is unbiased for the value.

    At the best global scale the rows choose the scale, and a statistic of pairs is not a mean: there the mean of many
    draws is compared, within 4.5 standard errors and the bias of order 1/m of a ratio.
    """
    X, Y = _cloud(n=120)
    expected, rng = _points(name, X, Y), np.random.default_rng(0)
    if _card(name).level == "global":
        assert _points(name, X, Y, np.arange(120 if name in OWN_SCALE else 30)).value == expected.value
        return
    if _card(name).level == "pair":
        draws = [_points(name, X, Y, np.sort(rng.choice(120, 40, replace=False))).value for _ in range(30)]
        spread = np.std(draws, ddof=1)
        assert abs(np.mean(draws) - expected.value) <= 4.5 * spread / math.sqrt(30) + spread / 2
        return
    assert_array_equal(_points(name, X, Y, np.arange(120)).points, expected.points)
    draws = []
    for _ in range(30):
        rows = rng.choice(120, 40, replace=False)
        result = _points(name, X, Y, rows)
        draws.append(result.value)
        if name not in BIASED:
            assert_array_equal(result.points, expected.points[rows])
    spread = np.std(draws, ddof=1)
    assert abs(np.mean(draws) - expected.value) <= 4.5 * spread / math.sqrt(30) + spread / 4 * (name in BIASED)


@each("name", list(MEASURES))
def test_the_function_matches_its_card(name):
    """Data and embedding are positional, the rest are keywords; name, docstring and module are set."""
    function = getattr(dreval, name)
    parameters = list(inspect.signature(function).parameters.values())
    positional = [p.name for p in parameters if p.kind is not p.KEYWORD_ONLY]
    of_embedding = ["X", "Y"] if _card(name).reads_data else ["Y"]
    neighbors = ["n_neighbors"] * ("n_neighbors" in positional)
    of_method = ["X", "source", *["kind"] * ("kind" in positional)]
    assert positional == (of_method if name in METHODS else [*of_embedding, *neighbors])
    assert ("labels" in [p.name for p in parameters]) == ("labels" in _card(name).needs or name in METHODS)
    assert ("ties" in [p.name for p in parameters]) == (_card(name).ties is not None)
    assert function.__name__ == name == _card(name).name
    assert getattr(importlib.import_module(function.__module__), name) is function


@each("name", list(MEASURES), items=2)
def test_the_examples_are_right(name):
    """Every example of the docstring is run here, since doctest does not find functions created by a decorator."""
    function = getattr(dreval, name)
    test = doctest.DocTestParser().get_doctest(inspect.getdoc(function), {}, name, None, None)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS, verbose=False)
    failed, tried = runner.run(test)
    assert tried >= 2
    assert failed == 0
