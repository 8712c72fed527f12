"""A diagonal and signs of distances that differ from 0 by rounding alone are accepted; other ones are refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.metrics.pairwise import cosine_similarity

import dreval
from dreval.errors import InputError
from dreval.inputs.data import as_data

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 4))
Y = X[:, :2] + 0.2 * RNG.normal(size=(40, 2))
D = squareform(pdist(X))


def first_negative(D: np.ndarray, size: float) -> np.ndarray:
    """Return the distances with one negative pair, of the size given relative to the largest distance."""
    copy = D.copy()
    copy[0, 1] = copy[1, 0] = -size * D.max()
    return copy


ROUNDED = {
    "diagonal": D + 2e-16 * np.eye(40),
    "negative diagonal": D - 2e-16 * np.eye(40),
    "edge of the rule": D + 0.9e-12 * D.max() * np.eye(40),
    "frame": pd.DataFrame(D + 2e-16 * np.eye(40)),
    "list": (D + 2e-16 * np.eye(40)).tolist(),
    "single": (D + 1e-7 * D.max() * np.eye(40)).astype(np.float32),
}
WRONG = {
    "large diagonal": D + 1e-3 * np.eye(40),
    "double precision": D + 1e-10 * D.max() * np.eye(40),
    "single precision": (D + 1e-5 * D.max() * np.eye(40)).astype(np.float32),
    "similarities": np.exp(-D),
    "negative": first_negative(D, 1e-6),
}


@pytest.mark.parametrize("case", ROUNDED)
def test_rounding_becomes_zero(case: str) -> None:
    """The stored matrix is the exact one, with a diagonal of 0, and the value is that of the exact distances."""
    table = as_data(ROUNDED[case], metric="precomputed").table
    assert not np.diagonal(table).any()
    np.testing.assert_allclose(table, D, rtol=1e-6 if case == "single" else 1e-15)
    value = dreval.trustworthiness(ROUNDED[case], Y, metric="precomputed", n_neighbors=7)
    assert value == pytest.approx(dreval.trustworthiness(X, Y, n_neighbors=7), abs=1e-12)


@pytest.mark.parametrize("case", WRONG)
def test_larger_entries_are_refused(case: str) -> None:
    """What is larger than rounding is named with its size, by data, methods and the test of independence alike."""
    what = "negative entry" if case == "negative" else "on the diagonal, in row"
    with pytest.raises(InputError, match=what):
        as_data(WRONG[case], metric="precomputed")
    with pytest.raises(InputError, match=what):
        dreval.methods.ClassicalMDS(metric="precomputed").fit(WRONG[case])
    with pytest.raises(InputError, match=what):
        dreval.dcov_test(WRONG[case], D, metric="precomputed", random_state=0)


def test_the_advice_works() -> None:
    """A diagonal set to 0 by the call that the error names is accepted."""
    wrong = WRONG["large diagonal"].copy()
    with pytest.raises(InputError, match=r"numpy\.fill_diagonal\(D, 0\)"):
        as_data(wrong, metric="precomputed")
    np.fill_diagonal(wrong, 0)
    np.testing.assert_allclose(as_data(wrong, metric="precomputed").table, D, rtol=1e-15)


def test_cosine_distances_by_products() -> None:
    """1 - cos from products has rounding on its diagonal, in both precisions; methods and tests take it too."""
    for kind in (np.float64, np.float32):
        cosine = 1 - cosine_similarity(X.astype(kind))
        cosine[0, 0] = 3 * np.finfo(kind).eps
        cosine[1, 1] = -np.finfo(kind).eps
        exact = squareform(pdist(X, "cosine"))
        np.testing.assert_allclose(as_data(cosine, metric="precomputed").table, exact, atol=5e-6)
        embedding = dreval.methods.ClassicalMDS(metric="precomputed").fit_transform(cosine)
        assert np.isfinite(embedding).all()
    exact = dreval.dcov_test(D, squareform(pdist(Y)), metric="precomputed", random_state=0)
    rounded = dreval.dcov_test(D + 2e-16 * np.eye(40), squareform(pdist(Y)), metric="precomputed", random_state=0)
    assert rounded.statistic == pytest.approx(exact.statistic, rel=1e-12)
