"""What every method on the neighborhood graph does when the graph is not connected: one meaning of ``disconnected``."""

from __future__ import annotations

import copy
import pickle
import warnings
from itertools import pairwise

import numpy as np
import pytest
from each import each
from numpy.testing import assert_allclose, assert_array_equal

from dreval.errors import ApproximationWarning, MethodFailed, UnknownName
from dreval.methods import LLE, Isomap, LandmarkIsomap, LocallyLinearCoordination, ManifoldCharting
from dreval.methods._local import GraphMethod
from dreval.registry import METHODS

NAMES = [name for name in METHODS if issubclass(METHODS.get(name), GraphMethod)]
every_method = each("name", NAMES)


def _parts():
    """Three flat clusters of 40, 30 and 20 points, far from each other, in mixed order."""
    rng = np.random.default_rng(0)
    part = np.repeat([0, 1, 2], [30, 40, 20])
    X = np.column_stack([rng.uniform(size=(90, 2)) * [2, 1], np.zeros(90)]) + 100 * part[:, None]
    order = rng.permutation(90)
    return X[order], part[order]


@every_method
def test_error_has_a_hint(name):
    """The error has the sizes, the parameter and a hint; by default the parts are joined."""
    X, _ = _parts()
    with pytest.raises(MethodFailed, match=r'3 components of 40, 30, 20 points .* or disconnected="connect"'):
        METHODS.get(name)(2, n_neighbors=8, disconnected="error").fit(X)
    assert METHODS.get(name)().disconnected == "connect"


@every_method
@each("option", ["connect", "largest", "separate"])
def test_every_other_option_warns_and_embeds_all_rows(name, option):
    """There is one warning with the sizes, and all rows are finite."""
    X, _ = _parts()
    with pytest.warns(ApproximationWarning, match="3 components of 40, 30, 20 points"):
        Y = METHODS.get(name)(2, n_neighbors=8, disconnected=option).fit_transform(X)
    assert Y.shape == (90, 2)
    assert np.isfinite(Y).all()


@every_method
def test_parts_are_embedded_as_if_alone(name):
    """largest: the largest part has the embedding it has alone. separate: each part has, up to its place."""
    X, part = _parts()
    cls = METHODS.get(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ApproximationWarning)
        largest = cls(2, n_neighbors=8, disconnected="largest", random_state=0).fit(X)
        separate = cls(2, n_neighbors=8, disconnected="separate", random_state=0).fit(X)
    assert_array_equal(separate.part_, np.array([1, 0, 2])[part])
    by_part = [cls(2, n_neighbors=8, random_state=0).fit(X[part == c]).embedding_ for c in range(3)]
    assert_array_equal(largest.embedding_[part == 1], by_part[1])
    for c in range(3):
        steps = separate.embedding_[part == c] - by_part[c]
        assert_allclose(steps, np.tile(steps[0], (len(steps), 1)), atol=1e-12)
    ends = [(Y[:, 0].min(), Y[:, 0].max()) for Y in (separate.embedding_[part == c] for c in (1, 0, 2))]
    assert all(a[1] < b[0] for a, b in pairwise(ends))


def test_points_outside_the_largest_part_go_to_its_nearest_point():
    """Each other point is at the image of the nearest point of the largest part."""
    X, part = _parts()
    with pytest.warns(ApproximationWarning, match="the other 50 points got the coordinates of their nearest point"):
        Y = Isomap(2, n_neighbors=8, disconnected="largest").fit_transform(X)
    inside = np.flatnonzero(part == 1)
    for i in np.flatnonzero(part != 1):
        j = inside[((X[inside] - X[i]) ** 2).sum(axis=1).argmin()]
        assert_array_equal(Y[i], Y[j])


@pytest.mark.parametrize("cls", [Isomap, LandmarkIsomap, LLE, ManifoldCharting])
def test_new_points_are_set_as_those_left_out(cls):
    """largest: rows left out keep their places, new rows near them get these places, other rows those of the part."""
    X, part = _parts()
    with pytest.warns(ApproximationWarning):
        method = cls(2, n_neighbors=8, disconnected="largest").fit(X)
    assert_array_equal(method.part_, np.where(part == 1, 0, -1))
    inside = X[part == 1]
    assert_array_equal(method.transform(inside), cls(2, n_neighbors=8).fit(inside).transform(inside))
    assert_array_equal(method.transform(X[part != 1]), method.embedding_[part != 1])
    assert_array_equal(method.transform(X[part != 1] + 1e-9), method.embedding_[part != 1])


@pytest.mark.parametrize("option", ["largest", "separate"])
def test_attributes_of_parts_are_named_in_the_error(option):
    """An attribute of the parts raises an error with its place, an unknown one the usual error; copies work."""
    X, _ = _parts()
    with pytest.warns(ApproximationWarning):
        method = Isomap(2, n_neighbors=8, disconnected=option).fit(X)
    with pytest.raises(
        AttributeError, match=rf"disconnected='{option}' and a graph in parts: see parts_\[0\].geodesics_"
    ):
        _ = method.geodesics_
    with pytest.raises(AttributeError, match=r"object has no attribute 'nonsense_'$"):
        _ = method.nonsense_
    assert_array_equal(pickle.loads(pickle.dumps(copy.deepcopy(method))).embedding_, method.embedding_)
    with pytest.raises(AttributeError, match=r"object has no attribute 'geodesics_'$"):
        _ = Isomap().geodesics_


@pytest.mark.parametrize("option", ["bogus", "largest", "separate"])
@pytest.mark.parametrize("k", [8, 40])
def test_options_of_disconnected_that_a_cost_lacks_raise_an_error(option, k):
    """Locally linear coordination raises or connects; other options raise an error, with and without parts."""
    X, _ = _parts()
    with pytest.raises(UnknownName, match=f"`disconnected` must be .*got '{option}'.*connect, error"):
        LocallyLinearCoordination(2, n_neighbors=k, disconnected=option, random_state=0).fit(X)
    if k == 8:
        with pytest.raises(MethodFailed, match="3 components of 40, 30, 20 points"):
            LocallyLinearCoordination(2, n_neighbors=k, disconnected="error").fit(X)
        with pytest.warns(ApproximationWarning, match="They were joined by 3 links"):
            LocallyLinearCoordination(2, n_neighbors=k, disconnected="connect", random_state=0).fit(X)


@pytest.mark.parametrize("cls", [Isomap, LandmarkIsomap])
def test_new_points_follow_their_part(cls):
    """With parts, fitted rows keep their places in transform, and rows near a part land in it."""
    X, _ = _parts()
    with pytest.warns(ApproximationWarning):
        method = cls(2, n_neighbors=8, disconnected="separate").fit(X)
    assert_allclose(method.transform(X), method.embedding_, atol=1e-7)
    assert_allclose(method.transform(X + 1e-9), method.embedding_, atol=1e-6)


def test_small_parts_are_padded_and_options_are_checked():
    """A part too small for d coordinates has zeros; an unknown option raises an error with the known ones."""
    line = np.column_stack([np.arange(20.0), np.zeros(20), np.zeros(20)])
    X = np.vstack([line, [[99.0, 0, 0], [99.5, 0, 0], [99, 1, 0]]])
    with pytest.warns(ApproximationWarning, match="2 components of 20, 3 points"):
        Y = Isomap(2, n_neighbors=2, disconnected="separate").fit_transform(X)
    assert_array_equal(Y[20:], np.tile(Y[20], (3, 1)))
    assert Y[20, 0] > Y[:20, 0].max()
    with pytest.raises(UnknownName, match="connect, error, largest, separate"):
        Isomap(2, n_neighbors=2, disconnected="largst").fit(X)
