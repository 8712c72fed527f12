"""Properties that every method of the registry declares, tested by hypothesis."""

from __future__ import annotations

import inspect
import itertools
import warnings

import numpy as np
import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from strategies import KINDS, clouds

import dreval
from dreval.errors import ApproximationWarning, DrevalWarning, InputError, UnknownName
from dreval.methods._method import Method
from dreval.registry import METHODS

NAMES = METHODS.names()
DETERMINISTIC = [name for name in NAMES if METHODS.card(name).deterministic]
SEEDED = sorted(set(NAMES) - set(DETERMINISTIC))
every_method = each("name", NAMES)
methods_in_parts = each("name", NAMES, items=4)  # where fits take their time
deterministic_in_parts = each("name", DETERMINISTIC, items=4)
# Claims about a search hold for its first steps; tests of its end use all steps.
FEW_STEPS = {"max_iter": 20, "n_epochs": 5, "n_sweeps": 5, "exaggeration_iter": 5, "n_init": 1, "n_functions": 6}
TWO_SETS = {"cca"}  # supervised methods that need a response with at least as many columns as components


def _parameters(name):
    """Parameters of the method by name, with their defaults."""
    return {p.name: p.default for p in inspect.signature(METHODS.get(name)).parameters.values()}


def _make(name, n, d=2, k=None, steps=FEW_STEPS, **extra):
    """Return the method with a legal number of neighbors, joined parts, few steps of a search, and one seed."""
    defaults = _parameters(name)
    settings = {key: value for key, value in steps.items() if key in defaults}
    settings |= {
        "n_neighbors": min(defaults.get("n_neighbors") or 1, n - 1) if k is None else k,
        "disconnected": "connect",
    }
    settings = {key: value for key, value in settings.items() if key in steps or defaults.get(key) is not None}
    settings |= {"random_state": 0} | extra
    return METHODS.get(name)(d, **settings)


def _response(method, X):
    """For a supervised method numbers that depend on the data, in several columns where it takes them; else None."""
    if not method.card.supervised:
        return None
    column = X[:, 0] - X[:, 0].min()
    noise = np.random.default_rng(0).normal(size=(len(X), 21))
    y = column / (column.max() or 1.0) + 0.1 * noise[:, 0]
    if method.card.name in TWO_SETS:
        return np.column_stack([y, noise[:, 1 : X.shape[1] + 1]])
    return y


def _fit(method, X, y=None):
    """Return the embedding; warnings on degenerate data and joined parts are expected and ignored."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DrevalWarning)
        return method.fit_transform(X, _response(method, X) if y is None else y)


def _is_unique(method):
    """Return whether the embedding of this sample is unique.

    Hessian eigenmaps have d (d + 1) / 2 conditions a neighborhood; a few points at an end can satisfy all of theirs.
    Maximum variance unfolding that leaves the three dimensions of the data has many solutions of equal variance, and
    ends at one of them: its first columns then agree to a few hundredths.
    """
    if method.card.family == "local linear" and hasattr(method, "eigenvalues_"):
        return method.eigenvalues_[0] > 1e-10
    return not hasattr(method, "accuracy_") or method.eigenvalues_[3] < 2e-3 * method.variance_


def _tolerance(method):
    """1e-6; a thousandth for a search, which ends near an optimum."""
    return 1e-3 if hasattr(method, "accuracy_") or hasattr(method, "n_iter_") else 1e-6


def _same_up_to_sign(Y, Z, tolerance=1e-6):
    signs = np.where(np.einsum("ij,ij->j", Y, Z) < 0, -1.0, 1.0)
    assert_allclose(Y * signs, Z, atol=tolerance * np.abs(Z).max())


@st.composite
def _is_plain(draw):
    """A cloud in general position, longer in each direction than in the next."""
    seed, n = draw(st.integers(0, 10**6)), draw(st.integers(25, 40))
    return np.random.default_rng(seed).uniform(-1, 1, size=(n, 3)) * [8.0, 4.0, 1.0] + 1.0


@every_method
def test_the_card_is_complete(name):
    """Title, family, cost and reference exist; name and class agree with the registry."""
    card = METHODS.card(name)
    assert card.name == name
    assert getattr(dreval.methods, card.class_name) is METHODS.get(name)
    assert all([card.title, card.family, card.cost, card.reference])
    assert issubclass(METHODS.get(name), Method)


@every_method
def test_the_card_declares_the_effect_of_moving_the_data(name):
    """Scale, rotation and translation are declared by the listed terms."""
    card = METHODS.card(name)
    assert card.translation in {"ignored", "read"}
    assert card.scale in {"follows", "ignored"}
    assert card.rotation in {"ignored", "read"}


@each("name, unit", itertools.product(NAMES, [1e-61, 1e61]))
def test_sizes_beyond_the_limits_raise_an_error(name, unit):
    """The error has the limits, and a number to divide by."""
    X = np.random.default_rng(3).uniform(-1, 1, size=(40, 3)) * [8.0, 4.0, 1.0]
    method = _make(name, 40)
    with pytest.raises(InputError, match=r"`X` must have magnitudes between 1e-60 and 1e\+60: .* Divide it by "):
        _fit(method, X * unit, _response(method, X))


@each("name, power", itertools.product(NAMES, [-199, 199]))
def test_units_up_to_the_limit(name, power):
    """At the limits of size the embedding is that of the data at size 1.

    A power of two changes no digit of the data, so that searches with several ends come to the same one.
    """
    unit = 2.0**power
    X = np.random.default_rng(3).uniform(-1, 1, size=(40, 3)) * [8.0, 4.0, 1.0] / 8.0
    X[0, 0] = 1.0
    y = _response(_make(name, 40), X)
    unscaled, scaled = (_fit(_make(name, 40), X * a, y) for a in (1.0, unit))
    assert np.isfinite(scaled).all()
    _same_up_to_sign(scaled / np.abs(scaled).max(), unscaled / np.abs(unscaled).max(), tolerance=1e-4)


@every_method
def test_parameters_go_in_and_out(name):
    """n_components is first and 2, all others are keywords; the round trip is tested by the checks of scikit-learn."""
    cls, defaults = METHODS.get(name), _parameters(name)
    kinds = [p.kind for p in inspect.signature(cls).parameters.values()]
    assert next(iter(defaults.items())) == ("n_components", 2)
    assert defaults["random_state"] is None
    assert all(kind is inspect.Parameter.KEYWORD_ONLY for kind in kinds[1:])
    with pytest.raises(UnknownName, match="Did you mean 'n_components'"):
        cls().set_params(n_component=2)


@every_method
def test_every_parameter_is_documented(name):
    """The docstring has all sections and a line for each parameter."""
    doc = inspect.getdoc(METHODS.get(name))
    for section in ("Parameters", "Attributes", "Raises", "Notes", "References", "Examples"):
        assert f"{section}\n---" in doc
    for parameter in _parameters(name):
        assert f"\n{parameter} : " in doc


@given(X=_is_plain(), d=st.integers(1, 2))
@methods_in_parts
def test_shape_and_seed(name, X, d):
    """(n, d), finite, float64; the same seed gives the same numbers; the data are not written to."""
    original = X.copy()
    Y = _fit(_make(name, len(X), d), X)
    assert Y.shape == (len(X), d)
    assert Y.dtype == np.float64
    assert np.isfinite(Y).all()
    assert_array_equal(Y, _fit(_make(name, len(X), d), X))
    assert_array_equal(X, original)


@given(X=_is_plain())
@deterministic_in_parts
def test_deterministic_methods_do_not_read_the_seed(name, X):
    """Two seeds give the same numbers."""
    assert_array_equal(_fit(_make(name, len(X)), X), _fit(_make(name, len(X), random_state=7), X))


@given(X=_is_plain(), seed=st.integers(0, 10**6))
@deterministic_in_parts
def test_order_of_rows_does_not_matter(name, X, seed):
    """Permuted rows give the permuted embedding up to sign."""
    order = np.random.default_rng(seed).permutation(len(X))
    method = _make(name, len(X), k=8)
    y = _response(method, X)
    Y = _fit(method, X, y)
    if not _is_unique(method):
        return
    _same_up_to_sign(_fit(method, X[order], None if y is None else y[order]), Y[order], _tolerance(method))


@given(X=_is_plain(), seed=st.integers(0, 10**6))
@deterministic_in_parts
def test_translation_rotation_and_reflection_do_not_matter(name, X, seed):
    """Moved data give the same embedding up to sign."""
    rng = np.random.default_rng(seed)
    turn, shift = np.linalg.qr(rng.normal(size=(3, 3)))[0], 10 * rng.normal(size=3)
    method = _make(name, len(X), k=8)
    y = _response(method, X)
    Y = _fit(method, X, y)
    if not _is_unique(method):
        return
    card = METHODS.card(name)
    if card.translation == "ignored":
        _same_up_to_sign(_fit(method, X + shift, y), Y, _tolerance(method))
    if card.rotation == "ignored":
        _same_up_to_sign(_fit(method, X @ turn + shift, y), Y, _tolerance(method))


@given(X=_is_plain(), exponent=st.integers(-20, 20))
@deterministic_in_parts
def test_scale_has_the_declared_effect(name, X, exponent):
    """The embedding of c X is c times the embedding of X, or the same embedding."""
    c = 2.0**exponent
    method = _make(name, len(X), k=8)
    y = _response(method, X)
    Y = _fit(method, X, y)
    if not _is_unique(method):
        return
    expected = c * Y if METHODS.card(name).scale == "follows" else Y
    _same_up_to_sign(_fit(method, c * X, y), expected, _tolerance(method))


@given(X=_is_plain(), exponent=st.integers(-20, 20))
@each("name", SEEDED, items=2)
def test_with_one_seed_scale_has_the_declared_effect(name, X, exponent):
    """Seeded methods: with one seed, scaling by a power of two, which is exact, gives one embedding."""
    c, method = 2.0**exponent, _make(name, len(X), k=8)
    Y = _fit(method, X)
    _same_up_to_sign(_fit(method, c * X), c * Y if METHODS.card(name).scale == "follows" else Y, 1e-4)


@each("name", SEEDED)
def test_with_one_seed_rotation_has_the_declared_effect(name):
    """Seeded methods, with one seed: turned data give the shape of the embedding as moved data do, or another one.

    Moving changes no more than the last digits, which alone lead some searches of many steps elsewhere.
    """
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 6)) * [4.0, 3.0, 2.0, 1.5, 1.0, 0.7] + 1.0
    turn, shift = np.linalg.qr(rng.normal(size=(6, 6)))[0], 5 * rng.normal(size=6)
    Y, shifted, turned = (_fit(_make(name, len(X)), data) for data in (X, X + shift, X @ turn))
    by_moving, by_turning = dreval.procrustes_disparity(Y, shifted), dreval.procrustes_disparity(Y, turned)
    card = METHODS.card(name)
    assert card.translation == "ignored"
    if card.rotation == "ignored":
        assert by_turning <= max(1e-3, 10 * by_moving)
    else:
        assert by_turning > 100 * max(1e-6, by_moving)


@settings(max_examples=2)
@given(X=_is_plain(), seed=st.integers(0, 10**6), shift=st.integers(-8, 8))
@each("name", SEEDED, items=4)
def test_with_chance_rows_place_and_rotation_keep_the_quality(name, X, seed, shift):
    """Permuted, moved and turned data meet other random numbers: embeddings may differ, their quality hardly does.

    Searches of hundreds of steps also end elsewhere by rounding alone, which moving the data changes.
    """
    rng = np.random.default_rng(seed)
    order, turn = rng.permutation(len(X)), np.linalg.qr(rng.normal(size=(3, 3)))[0]
    method = _make(name, len(X), k=8, steps={})
    reference = dreval.trustworthiness(X, _fit(method, X), n_neighbors=8)
    for transformed in (X[order] @ turn, X[order] + shift):
        assert dreval.trustworthiness(transformed, _fit(method, transformed), n_neighbors=8) == pytest.approx(
            reference, abs=0.1
        )


@given(X=clouds(min_n=4, max_n=12, min_p=1, max_p=20), d=st.integers(1, 2))
@methods_in_parts
def test_any_cloud_gives_finite_numbers(name, X, d):
    """Tiny n, n < p, duplicates, ties, constant columns, outliers, any scale: (n, d) and finite."""
    card, method = METHODS.card(name), _make(name, len(X), d)
    limit = card.max_components(*X.shape, method.get_params())
    Y = _fit(method.set_params(n_components=min(d, limit)), X)
    assert Y.shape == (len(X), min(d, limit))
    assert np.isfinite(Y).all()


@settings(max_examples=2)
@given(seed=st.integers(0, 10**6))
@each("name", NAMES, items=8)
def test_every_kind_of_cloud_gives_finite_numbers(name, seed):
    """Each kind is tested separately, with duplicates and constant columns, n > p and n < p: finite, (n, d)."""
    for kind, make in KINDS.items():
        for n, p in ((12, 3), (7, 15)):
            X = make(np.random.default_rng(seed), n, p)
            method = _make(name, n)
            d = min(2, method.card.max_components(n, p, method.get_params()))
            Y = _fit(method.set_params(n_components=d), X)
            assert Y.shape == (n, d), kind
            assert np.isfinite(Y).all(), kind


@every_method
def test_tiny_n(name):
    """From four points on there is an embedding, and it is not a single point."""
    for n in (4, 5, 6, 7, 8):
        X = np.random.default_rng(n).normal(size=(n, 3))
        assert np.ptp(_fit(_make(name, n, 1), X)) > 0, n


@settings(max_examples=5)
@given(n=st.integers(10, 16), p=st.integers(2, 8), seed=st.integers(0, 10**6))
@methods_in_parts
def test_components_are_bounded_by_the_card(name, n, p, seed):
    """The maximum of the card is valid; one more, and 0, raise an error with the valid number."""
    X = np.random.default_rng(seed).normal(size=(n, p))
    limit = METHODS.card(name).max_components(n, p, _make(name, n, k=5).get_params())
    Y = _fit(_make(name, n, limit, k=5), X)
    assert Y.shape == (n, limit)
    assert np.isfinite(Y).all()
    with pytest.raises(InputError, match=rf"`n_components` must be at most {limit} .*Choose at most {limit}[.,]"):
        _fit(_make(name, n, limit + 1, k=5), X)
    for invalid in (0, 1.5, True):
        with pytest.raises(InputError, match="`n_components` must be an integer"):
            _fit(_make(name, n, invalid, k=5), X)


@every_method
def test_illegal_data_and_seeds_raise_an_error(name):
    """Missing values, text, too few rows and strange seeds get a message in four parts."""
    X = np.random.default_rng(0).normal(size=(20, 3))
    holed = X.copy()
    holed[3, 1] = np.nan
    for invalid in (holed, X[:3], X.astype(str), X[:, :0]):
        with pytest.raises(InputError, match="`X` must"):
            _make(name, 20).fit(invalid)
    message = r"`X` must be dense, not sparse: got csr_.* of shape \(20, 3\).* Use X\.toarray\(\)\."
    with pytest.raises(InputError, match=message):
        _make(name, 20).fit(csr_array(X))
    for invalid in ("zero", np.random.RandomState(0)):
        with pytest.raises(InputError, match="random_state"):
            _fit(_make(name, 20, random_state=invalid), X)


@each("name", [name for name in NAMES if "n_neighbors" in _parameters(name)])
def test_neighbors_are_bounded_by_the_points(name):
    """With 10 points and more neighbors requested, all others are used with a warning; LSDR and IKD raise an error."""
    X = np.random.default_rng(0).normal(size=(10, 3))
    fifteen, nine = METHODS.get(name)(n_neighbors=15, random_state=0), METHODS.get(name)(n_neighbors=9, random_state=0)
    if name in ("lsdr", "ikd"):
        with pytest.raises(InputError, match=r"`n_neighbors` must be smaller .*15 with 10 points\. Choose at most 9\."):
            fifteen.fit(X)
        return
    with warnings.catch_warnings(record=True) as records:  # Hessian LLE warns that its null space is larger, too
        warnings.simplefilter("always")
        Y = fifteen.fit_transform(X)
    assert {warning.category for warning in records} == {ApproximationWarning}
    assert any(
        "15 neighbors are too many for 10 points; 9, all others, were used" in str(warning.message)
        for warning in records
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ApproximationWarning)
        np.testing.assert_array_equal(Y, nine.fit_transform(X))
    with pytest.raises(InputError):
        METHODS.get(name)(n_neighbors=0).fit(X)


def _has_warning(method, X, flat):
    """The embedding of flat data; supervised methods get the coordinates, or classes of them."""
    if not method.card.supervised:
        return _fit(method, X)
    try:
        return _fit(method, X, flat)
    except InputError:
        return _fit(method, X, np.minimum(flat * [1.0, 1.5], 2.9).astype(int) @ [3, 1])


LONG = ("gplvm", "mvu")  # of 300 points


@each("name", sorted(set(NAMES) - set(LONG)), items=6)
def test_flat_data_are_not_destroyed(name):
    """Neighborhoods keep their shape, as ``_check_flat`` asks."""
    _check_flat(name)


@pytest.mark.slow
@each("name", LONG)
def test_flat_data_are_not_destroyed_in_long_searches(name):
    """The same of methods that take more than a second."""
    _check_flat(name)


def _check_flat(name):
    """A rectangle turned into five dimensions: neighborhoods keep their shape up to scale (R_C below .3, random .9).

    To methods for which the zero of the data means something it is shown as they suppose, through waves of random
    frequency and phase.
    """
    rng = np.random.default_rng(0)
    flat = rng.uniform(size=(300, 2)) * [3.0, 2.0]
    X = flat @ np.linalg.qr(rng.normal(size=(5, 2)))[0].T
    if METHODS.card(name).translation == "read":
        X = np.cos(flat @ rng.normal(size=(2, 400)) + rng.uniform(0, 2 * np.pi, size=400))
    Y = _has_warning(_make(name, 300, steps={}), X, flat)
    assert dreval.procrustes_rc(X, Y, n_neighbors=15) < 0.3
    assert dreval.procrustes_rc(X, rng.normal(size=(300, 2)), n_neighbors=15) > 0.8


@every_method
def test_transform_and_inverse_exist_as_declared(name):
    """``transform`` and ``inverse_transform`` exist exactly where the card promises them, and have the right shape."""
    card, X = METHODS.card(name), np.random.default_rng(0).uniform(size=(60, 3))
    method = _make(name, 60)
    assert hasattr(method, "transform") == card.out_of_sample
    assert hasattr(method, "inverse_transform") == card.inverse
    Y = _fit(method, X)
    if card.out_of_sample:
        assert method.transform(X[:1]).shape == (1, 2)
        assert method.transform(X[:7] + 0.01).shape == (7, 2)
        with pytest.raises(InputError, match="must be fitted first"):
            _make(name, 60).transform(X)
        with pytest.raises(InputError, match="expecting 3 features"):
            method.transform(X[:, :2])
    if card.inverse:
        assert method.inverse_transform(Y).shape == X.shape


@every_method
def test_lists_and_small_integers_are_data_too(name):
    """A list of lists, float32 and integers give the embedding of the same numbers in float64."""
    X = np.random.default_rng(0).integers(0, 1000, size=(30, 3))
    method = _make(name, 30)
    y = _response(method, X)
    Y = _fit(method, X.astype(float), y)
    for form in (X, X.tolist(), X.astype(np.float32), np.asfortranarray(X)):
        assert_array_equal(_fit(method, form, y), Y)


@every_method
def test_copies_of_one_point_have_one_place_or_raise_an_error(name):
    """Thirty copies have a finite embedding, or an error in four parts; never another error or warning."""
    method = _make(name, 30, 1)
    X = np.full((30, 3), 7.0)
    y = np.column_stack([np.arange(30.0), np.ones(30), np.ones(30)][: 3 if name in TWO_SETS else 1])
    try:
        Y, refusal = _fit(method, X, y), ""
    except InputError as error:
        Y, refusal = np.zeros(1), str(error)
    assert np.isfinite(Y).all()
    assert refusal.startswith(("`X` must", "`bandwidth` must") if refusal else "")
    assert not method.varied or "must have two points that differ: got 30 copies of one point. Pass" in refusal


@every_method
def test_methods_that_need_a_fit_raise_an_error(name):
    """Every method, before its fit."""
    for ask in ("kernel_transform", "kernel_inverse_transform"):
        with pytest.raises(InputError, match="must be fitted first: got a method without a fit"):
            getattr(_make(name, 30), ask)(np.zeros((5, 2)))


@every_method
def test_the_tags_of_scikit_learn_are_those_of_the_card(name):
    """Also where the method ends a pipeline; the checks of scikit-learn ask for the numbers of one."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.utils import get_tags

    method = _make(name, 40)
    tags = get_tags(method)
    assert tags.target_tags.required == method.card.supervised
    assert (tags.transformer_tags is not None) == method.card.out_of_sample
    assert hasattr(make_pipeline(StandardScaler(), method), "transform") == method.card.out_of_sample
