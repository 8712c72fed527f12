"""Masked arrays: a number under a mask is never used as a value, in any argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dreval
from dreval._check_arrays import check_unmasked
from dreval.errors import DrevalError, InputError
from dreval.inputs.data import as_data

X = np.random.default_rng(0).normal(size=(30, 3))
Y = X[:, :2] + 0.1
PCA = dreval.methods.PCA().fit(X)
TESTS = ("hsic_test", "kcca_test", "cca_test", "dcov_test", "mmd_test")

CALLS: dict[str, Callable[[Any], Any]] = {
    "data": lambda A: dreval.Evaluation(A).data.X,
    "latent": lambda A: dreval.Evaluation(X, latent=A).data.latent,
    "X of a function": lambda A: dreval.trustworthiness(A, Y, n_neighbors=5),
    "Y of a function": lambda A: dreval.trustworthiness(X, A, n_neighbors=5),
    "embed": lambda A: np.asarray(dreval.embed(A, "pca")),
    "response": lambda A: np.asarray(dreval.embed(X, "sir", 1, response=A[:, 0])),
    "fit": lambda A: dreval.methods.PCA().fit(A).embedding_,
    "response of fit": lambda A: dreval.methods.SIR(1).fit(X, A[:, 0]).embedding_,
    "transform": lambda A: PCA.transform(A),
    "inverse_transform": lambda A: PCA.inverse_transform(A[:, :2]),
    "embedding": lambda A: found_or_raised(A),
    "callable": lambda A: found_or_raised(lambda *_: A),
    "estimator": lambda A: found_or_raised(Returns(A)),
    **{
        f"{name}, {side}": lambda A, name=name, side=side: statistic_of(name, side, A)
        for name in TESTS
        for side in ("x", "y")
    },
}


class Returns:
    """An estimator that returns its argument."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def fit_transform(self, X: Any) -> Any:
        """The value."""
        return self.value


def statistic_of(name: str, side: str, A: Any) -> float:
    """Return the statistic of a test for one argument."""
    shifted = X[::-1] + 1.0
    x, y = (A, shifted) if side == "x" else (shifted, A)
    return float(getattr(dreval, name)(x, y, n_resamples=9, random_state=0).statistic)


def found_or_raised(source: Any) -> float:
    """Return the value of an embedding in an evaluation, or raise its reason if it has none."""
    row = dreval.Evaluation(X, {"e": source}, random_state=0).run("stress", None, None).table.iloc[0]
    if row["note"].startswith("`embeddings['e']`"):
        raise InputError("e", "must have a value", row["note"], "See the note.")
    return float(row["value"])


@pytest.mark.parametrize("call", CALLS)
def test_a_masked_cell_raises_an_error_and_an_empty_mask_is_ignored(call: str) -> None:
    """A huge number under a mask is never used; an array with an empty mask gives the same result as its data."""
    poisoned = X.copy()
    poisoned[2, 0] = 1e9
    with pytest.raises(DrevalError, match=r"must have no masked cells: got 1 masked cell, the first in row 2"):
        CALLS[call](np.ma.array(poisoned, mask=poisoned == 1e9))

    expected, masked = CALLS[call](X), CALLS[call](np.ma.array(X, mask=np.zeros(X.shape, bool)))

    assert np.array_equal(expected, masked)
    assert not isinstance(masked, np.ma.MaskedArray)


@pytest.mark.parametrize("call", [call for call in CALLS if "response" not in call and "inverse" not in call])
def test_lists_of_masked_rows_raise_an_error(call: str) -> None:
    """numpy would unmask a list of masked rows, with the numbers under the masks: it raises an error before that."""
    rows = list(np.ma.masked_greater(X, 2.0))
    with pytest.raises(DrevalError, match="must have no masked cells"):
        CALLS[call](rows)


@given(st.lists(st.booleans(), min_size=6, max_size=6), st.booleans())
def test_every_mask_is_located(mask: list[bool], as_list: bool) -> None:
    """The error has the number of masked cells and the row of the first, for arrays and for lists of rows."""
    array = np.ma.array(np.arange(6.0).reshape(3, 2), mask=np.reshape(mask, (3, 2)))
    passed = list(array) if as_list else array
    if not any(mask):
        assert np.array_equal(np.asarray(check_unmasked(passed, "A")), array.data)
        return
    with pytest.raises(InputError) as error:
        check_unmasked(passed, "A")

    assert error.value.received.startswith(f"{sum(mask)} masked cell{'s' if sum(mask) > 1 else ''}, ")
    assert f"in row {mask.index(True) // 2}" in error.value.received


@pytest.mark.parametrize(
    ("cell", "message"), [(None, "complete: got 1 missing value, the first"), (np.nan, "finite: got NaN")]
)
def test_objects_with_gaps_say_where(cell: Any, message: str) -> None:
    """The error for an array of objects with a missing value has its position, and does not complain about the type."""
    objects = X.astype(object)
    objects[4, 1] = cell
    with pytest.raises(InputError, match=rf"`X` must be {message} in row 4, column 1"):
        dreval.methods.PCA().fit(objects)


def test_the_statistic_of_the_issue() -> None:
    """Distance covariance of a masked variable was 2.8e16 because of the masked number; now it raises an error."""
    x = np.random.default_rng(1).normal(size=40)
    masked = np.ma.array(np.r_[1e17, x[1:]], mask=np.arange(40) == 0)
    for left, right in ((masked, x), (x, masked)):
        with pytest.raises(InputError, match="masked"):
            dreval.dcov_test(left, right, n_resamples=9)


def test_masked_labels_and_covariates_are_gaps() -> None:
    """Masked cells have no class and no number: codes are -1, covariates NaN or None."""
    mask = np.arange(30) % 5 == 0
    labels = np.ma.array(np.arange(30) % 2, mask=mask)
    age = np.ma.array(X[:, 0], mask=mask)
    covariates = {"age": age, "kind": labels, "number": labels}
    data = as_data(X, labels=labels, covariates=covariates, covariate_types={"kind": "class"})

    assert data.labels is not None
    assert data.labels.classes.tolist() == [0, 1]
    assert np.array_equal(data.labels.has_label, ~mask)
    assert np.array_equal(np.isnan(data.covariates["age"]), mask)
    assert np.array_equal(np.isnan(data.covariates["number"]), mask)
    assert [value is None for value in data.covariates["kind"]] == mask.tolist()
