"""What must not depend on the order of rows, on the unit of the data, or on rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import dreval
from dreval.errors import InputError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = X[:, :2] + 0.1 * RNG.normal(size=(60, 2))
NAMES = [f"p{i}" for i in range(60)]
KINDS = pd.Series(np.where(X[:, 0] > 0, "a", "b"), index=NAMES, name="kind")
LOCAL = ("procrustes_rc", "procrustes_rn", "procrustes_rn_opt", "procrustes_lower_bound", "procrustes_disparity")


def test_labels_follow_the_row_names() -> None:
    """Shuffled labels with the row names of the data give the accuracy of labels in order."""
    data, shown = pd.DataFrame(X, index=NAMES), pd.DataFrame(Y, index=NAMES)
    in_order = dreval.knn_accuracy(data, shown, labels=KINDS, random_state=0)

    assert dreval.knn_accuracy(data, shown, labels=KINDS.sample(frac=1, random_state=2), random_state=0) == in_order


def test_variables_of_a_test_follow_the_row_names() -> None:
    """Frames with the same row names in another order give the statistic of frames in order, with a note."""
    x, y = pd.DataFrame(X, index=NAMES), pd.DataFrame(Y, index=NAMES)
    shuffled = dreval.hsic_test(x, y.sample(frac=1, random_state=1), random_state=0, n_resamples=19)

    assert shuffled.statistic == dreval.hsic_test(x, y, random_state=0, n_resamples=19).statistic
    assert "matched" in shuffled.notes[0]
    with pytest.raises(InputError, match="must have the same ids"):
        dreval.hsic_test(x, y.rename(index={"p0": "q"}))


def test_a_shuffled_counting_index_is_matched_with_a_frame() -> None:
    """A frame whose index is 0 .. n-1 in another order follows the index of a data frame, and an array by position."""
    shown = pd.DataFrame(Y).sample(frac=1, random_state=0)
    right = dreval.trustworthiness(X, Y)
    by_position = dreval.Evaluation(X, {"e": shown}).run("trustworthiness", ci=None)

    assert dreval.trustworthiness(pd.DataFrame(X), shown) == right
    assert by_position.tidy()["value"].iloc[0] == dreval.trustworthiness(X, shown.to_numpy())
    assert any("matched by position" in note for note in by_position.recipe["notes"])


def test_row_ids_are_no_coordinate() -> None:
    """A column of row ids in an embedding is refused: it would decide every distance."""
    table = pd.DataFrame({"id": np.arange(60), "u": Y[:, 0], "v": Y[:, 1]})
    results = dreval.Evaluation(X, {"e": table, "pca": "pca"}).run("trustworthiness", ci=None)

    assert "row ids in column 'id'" in results.failed["e"]
    assert results.tidy()["value"].notna().tolist() == [False, True]


def test_ties_of_decimal_data_are_ties() -> None:
    """Data in tenths have the tie bounds of the same data in whole units, though floats round their distances."""
    whole = RNG.integers(0, 20, size=(80, 3))
    for index in ("trustworthiness", "continuity", "neighborhood_overlap"):
        function = getattr(dreval, index)
        exact = function(whole, whole[:, :2], n_neighbors=7, ties="bounds")
        decimal = function(whole / 10, whole[:, :2] / 10, n_neighbors=7, ties="bounds")

        assert_allclose(decimal[["worst", "best"]], exact[["worst", "best"]], rtol=1e-12)
        assert exact["worst"] <= decimal["value"] <= exact["best"]


@pytest.mark.parametrize("unit", [1e-150, 1e-85, 1e80, 1e150])
def test_extreme_units_change_nothing(unit: float) -> None:
    """Relative local Procrustes measures do not depend on the unit, where squares would overflow or vanish too."""
    for index in LOCAL:
        function = getattr(dreval, index)
        assert function(X * unit, Y * unit) == pytest.approx(function(X, Y), rel=1e-9)
    assert dreval.procrustes_rc(X, Y * unit) == pytest.approx(dreval.procrustes_rc(X, Y), rel=1e-9)


def test_integers_beyond_the_exact_ones_are_refused() -> None:
    """Integers that a float would round are refused, in arrays and in frames."""
    large: Any = 2**60 + RNG.integers(0, 1000, size=(60, 3))
    for data in (large, pd.DataFrame(large), large.astype(np.uint64)):
        with pytest.raises(InputError, match=r"integers up to 2\*\*53"):
            dreval.Evaluation(data)


def test_equal_embeddings_have_equal_chance() -> None:
    """The chance value is a mean over exchanges of points that are the same for every embedding, and hardly varies."""
    embeddings = dict.fromkeys("abc", Y)
    tables = [
        dreval.Evaluation(X, embeddings, labels=KINDS.to_numpy(), random_state=seed).run(tests=None, ci=None).tidy()
        for seed in range(12)
    ]
    accuracy = np.array([t.loc[t["index"] == "knn_accuracy", "chance"] for t in tables])

    assert (accuracy == accuracy[:, :1]).all()
    assert accuracy[:, 0].std() < 0.025  # one exchange alone has a standard deviation near 0.06


def test_no_spread_is_no_certainty() -> None:
    """A value that no left-out group changes has no interval, and says so."""
    row = dreval.Evaluation(X, {"copy": X}).run("trustworthiness").tidy().iloc[0]

    assert (row["value"], row["se"]) == (1, 0)
    assert np.isnan(row["ci_low"])
    assert "no interval" in row["note"]


def test_words_for_nothing() -> None:
    """ "none" is None, for tests, intervals and adjustment."""
    evaluation = dreval.Evaluation(X, {"e": Y}, labels=KINDS.to_numpy(), random_state=0)
    spoken = evaluation.run("trustworthiness", "none", "none", adjust="none").tidy()

    pd.testing.assert_frame_equal(
        spoken.drop(columns="seconds"),
        evaluation.run("trustworthiness", None, None, adjust=None).tidy().drop(columns="seconds"),
    )
