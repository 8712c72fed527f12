"""Moran's I as a test: values and moments of other programs, exact p-values, groups, and refusals."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import dreval
from dreval.errors import InputError
from dreval.geometry.autocorrelation import moran, moran_moments

I = np.arange(1, 41, dtype=float)  # noqa: E741 - the row numbers of the oracle
PLACES = np.c_[np.sin(I * 1.7) * I, np.cos(I * 0.9) * 10 + np.sqrt(I)]
NUMBERS = np.sin(I / 5) + (I % 7) / 10


@pytest.mark.parametrize(("k", "value", "variance", "z"), [
    (3, -0.005636470204234802, 0.0134244171156725, 0.17265580533297045),
    (8, -0.005483336795279651, 0.004137385929951914, 0.31338465015395034),
])  # fmt: skip
def test_value_and_moments_are_those_of_esda(k: int, value: float, variance: float, z: float) -> None:
    """``esda.Moran(t, libpysal.weights.KNN.from_array(Y, k=k))``: I, VI_rand and z_rand of esda 2.9.0."""
    result = dreval.moran_test(PLACES, NUMBERS, n_neighbors=k, n_resamples=9, random_state=0)

    assert result.statistic == result.effect_size == pytest.approx(value, rel=1e-12)
    assert result.extra["expected"] == -1 / 39
    assert (result.extra["variance"], result.extra["z"]) == pytest.approx((variance, z), rel=1e-12)


def test_moments_and_p_value_are_those_of_all_permutations() -> None:
    """At six points mean, variance and p are those of all 720 orders of the numbers."""
    points, t = PLACES[:6], np.array([0.0, 1.0, 3.0, 3.5, 8.0, -2.0])
    D = ((points[:, None] - points) ** 2).sum(axis=2) + np.diag(np.full(6, np.inf))
    neighbors = np.argsort(D, axis=1)[:, :2]
    values = moran(t[np.array(list(itertools.permutations(range(6))))], neighbors)
    result = dreval.moran_test(points, t, n_neighbors=2, n_resamples=999, random_state=0)

    assert moran_moments(t, neighbors) == pytest.approx((values.mean(), values.var()), rel=1e-10)
    assert result.p_value == pytest.approx(np.mean(values >= result.statistic - 1e-9))


def test_directed_neighbors_stay_directed() -> None:
    """Weights that were made symmetric would have another value."""
    neighbors = np.array([[1], [0], [1], [2]])  # a chain: point 2 is a neighbor of 3, 3 of none
    W = np.zeros((4, 4))
    W[np.arange(4), neighbors[:, 0]] = 1
    z = np.array([0.0, 2.0, 3.0, 9.0]) - 3.5
    symmetric = np.maximum(W, W.T)  # neighbors of either; the mean of W and W' has the same I

    assert moran(z[None], neighbors)[0] == pytest.approx(z @ W @ z / (z @ z))
    assert moran(z[None], neighbors)[0] != pytest.approx(4 / symmetric.sum() * (z @ symmetric @ z) / (z @ z))


def test_numbers_that_are_constant_within_groups_move_with_them() -> None:
    """The null distribution is that of whole groups: p is not small because points of a group are near each other."""
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(10), 6)
    places = np.repeat(rng.normal(size=(10, 2)), 6, axis=0) + 0.01 * rng.normal(size=(60, 2))
    t = rng.normal(size=10)[groups]
    plain, grouped = (dreval.moran_test(places, t, groups=g, n_neighbors=4, random_state=0) for g in (None, groups))

    assert plain.statistic == grouped.statistic > 0.9
    assert plain.p_value == 0.001 < 0.05 < grouped.p_value
    assert "permutation.groups" in {note.code for note in grouped.notes}


def test_it_is_a_test_of_an_evaluation() -> None:
    """ "all" has it for numbers, and not for classes; the row is that of the function."""
    covariates = {"t": NUMBERS, "kind": list("ab") * 20}
    data = np.c_[PLACES, NUMBERS]
    ev = dreval.Evaluation(data, {"e": PLACES}, covariates=covariates, random_state=0)
    table = ev.run(None, "all", n_resamples=9).table
    rows = table[table["test"] == "moran"]

    assert rows["variable"].tolist() == ["t"]
    assert rows["statistic"].iloc[0] == dreval.moran_test(PLACES, NUMBERS, n_resamples=9).statistic
    text = str(ev.run(None, ["moran"], n_resamples=9))
    assert "Moran's I" in text
    assert "MORAN" not in text


def test_classes_and_several_columns_are_refused() -> None:
    """It needs one column of numbers."""
    for y, message in ((list("ab") * 20, "must be numbers"), (PLACES, "must be one number per row")):
        with pytest.raises(InputError, match=message):
            dreval.moran_test(PLACES, y)
    with pytest.raises(InputError, match="n_neighbors"):
        dreval.moran_test(PLACES, NUMBERS, n_neighbors=40)
