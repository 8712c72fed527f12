"""Parameters that say how many components there can be: what is wrong with them is said of them, and with k as used."""

from __future__ import annotations

import numpy as np
import pytest
from each import each

from dreval.errors import InputError
from dreval.methods import LTSA, ConformalEigenmaps, HessianLLE, ManifoldCharting, ModifiedLLE

NO_NUMBERS = ["x", None, True, 1.5, float("nan"), float("inf"), [3], -1, 0]
LIMITS = [
    (HessianLLE, "n_neighbors", 3),
    (LTSA, "n_neighbors", 2),
    (ModifiedLLE, "n_neighbors", 2),
    (ManifoldCharting, "n_neighbors", 1),
    (ConformalEigenmaps, "n_functions", 1),
]


def _points(n):
    return np.random.default_rng(0).normal(size=(n, 6))


@each("value", NO_NUMBERS)
@each("method, name, least", LIMITS)
def test_the_parameter_is_named_that_is_wrong(method, name, least, value):
    """Not the number of components, whose limit it sets."""
    rule = f"`{name}` must be an integer >= {least}: got "
    if value is None and least > 1:
        rule = "`n_neighbors` must be a number where radius is None: got None for both"  # it may be, beside a radius
    with pytest.raises(InputError) as refused:
        method(1, **{name: value}).fit(_points(20))
    assert str(refused.value).startswith(rule)


@each("method, name, least", LIMITS)
def test_one_component_needs_the_least_number(method, name, least):
    """It has one with that many, and is refused with one less."""
    with pytest.raises(InputError, match=rf"The smallest is {least}\."):
        method(1, **{name: least - 1}).fit(_points(20))
    assert method.card.max_components(20, 6, {**method().get_params(), name: least}) == 1


# the most components that neighborhoods of n - 1 others allow: d <= k - 1, and (d + 1) (d + 2) / 2 <= k
MOST = {ModifiedLLE: {4: 2, 5: 3, 6: 4}, LTSA: {4: 2, 5: 3, 6: 4}, HessianLLE: {4: 1, 5: 1, 6: 1, 7: 2, 8: 2}}


@pytest.mark.filterwarnings("ignore:7 neighbors are too many", "ignore:HessianLLE. more than")
@pytest.mark.parametrize(("method", "n"), [(method, n) for method, most in MOST.items() for n in most])
def test_fewer_points_than_neighbors_lower_the_limit(method, n):
    """The limit is that of the n - 1 neighbors which are used, not that of the 7 asked for."""
    most = MOST[method][n]
    with pytest.raises(InputError, match=rf"`n_components` must be at most {most} for {method.__name__} on {n} points"):
        method(most + 1).fit(_points(n))
    assert np.isfinite(method(most).fit_transform(_points(n))).all()
