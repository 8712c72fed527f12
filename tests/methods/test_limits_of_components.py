"""Parameters that limit the number of components: errors name the parameter, and limits use the k in use."""

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
def test_the_error_names_the_wrong_parameter(method, name, least, value):
    """It does not name the number of components, whose limit the parameter sets."""
    message = f"`{name}` must be an integer >= {least}: got "
    if value is None and least > 1:
        message = (
            "`n_neighbors` must be a number where radius is None: got None for both"  # None is legal with a radius
        )
    with pytest.raises(InputError) as error:
        method(1, **{name: value}).fit(_points(20))
    assert str(error.value).startswith(message)


@each("method, name, least", LIMITS)
def test_one_component_needs_the_least_number(method, name, least):
    """The method fits with this number, and raises an error with one less."""
    with pytest.raises(InputError, match=rf"The smallest is {least}\."):
        method(1, **{name: least - 1}).fit(_points(20))
    assert method.card.max_components(20, 6, {**method().get_params(), name: least}) == 1


# the most components that neighborhoods of n - 1 others allow: d <= k - 1, and (d + 1) (d + 2) / 2 <= k
MOST = {ModifiedLLE: {4: 2, 5: 3, 6: 4}, LTSA: {4: 2, 5: 3, 6: 4}, HessianLLE: {4: 1, 5: 1, 6: 1, 7: 2, 8: 2}}


@pytest.mark.filterwarnings("ignore:7 neighbors are too many", "ignore:HessianLLE. more than")
@pytest.mark.parametrize(("method", "n"), [(method, n) for method, most in MOST.items() for n in most])
def test_fewer_points_than_neighbors_lower_the_limit(method, n):
    """The limit belongs to the n - 1 neighbors that are used, not to the 7 of the default."""
    limit = MOST[method][n]
    with pytest.raises(
        InputError, match=rf"`n_components` must be at most {limit} for {method.__name__} on {n} points"
    ):
        method(limit + 1).fit(_points(n))
    assert np.isfinite(method(limit).fit_transform(_points(n))).all()
