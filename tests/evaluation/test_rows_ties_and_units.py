"""Results do not depend on the order of rows, on the unit of the data, or on rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist, squareform

import dreval
from dreval.errors import DrevalError, InputError, InputWarning

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = X[:, :2] + 0.1 * RNG.normal(size=(60, 2))
NAMES = [f"p{i}" for i in range(60)]
KINDS = pd.Series(np.where(X[:, 0] > 0, "a", "b"), index=NAMES, name="kind")
LOCAL = ("procrustes_rc", "procrustes_rn", "procrustes_rn_opt", "procrustes_lower_bound", "procrustes_disparity")


def test_labels_follow_the_row_names() -> None:
    """Shuffled labels with the row names of the data give the accuracy of labels in order."""
    embedded = pd.DataFrame(Y, index=NAMES)
    in_order = dreval.knn_accuracy(embedded, labels=KINDS, random_state=0)

    assert dreval.knn_accuracy(embedded, labels=KINDS.sample(frac=1, random_state=2), random_state=0) == in_order


def test_variables_of_a_test_follow_the_row_names() -> None:
    """Frames with the same row names in another order give the statistic of frames in order, with a note."""
    x, y = pd.DataFrame(X, index=NAMES), pd.DataFrame(Y, index=NAMES)
    shuffled = dreval.hsic_test(x, y.sample(frac=1, random_state=1), random_state=0, n_resamples=19)

    assert shuffled.statistic == dreval.hsic_test(x, y, random_state=0, n_resamples=19).statistic
    assert "matched" in str(shuffled.notes[0])
    with pytest.raises(InputError, match="must have the same ids"):
        dreval.hsic_test(x, y.rename(index={"p0": "q"}))


def test_a_shuffled_counting_index_is_matched_with_a_frame() -> None:
    """An index of 0 .. n-1 in another order is matched to that of a data frame; with an array it raises an error."""
    embedded = pd.DataFrame(Y).sample(frac=1, random_state=0)
    expected = dreval.trustworthiness(X, Y)

    with pytest.warns(InputWarning, match="matched to the data by row names"):
        assert dreval.trustworthiness(pd.DataFrame(X), embedded) == expected
    for shape in (embedded, embedded.rename(index=str)):
        as_frame = dreval.trustworthiness(pd.DataFrame(X, index=map(str, range(len(X)))), shape)
        assert as_frame == expected
    for start in (0, 1):  # files written by R count from 1
        numbered = embedded.set_axis(embedded.index + start)
        with pytest.raises(InputError, match=rf"row numbers {start}, {start + 1}, .* in another order.*reset_index"):
            dreval.trustworthiness(X, numbered)
        assert dreval.trustworthiness(X, numbered.sort_index()) == expected
    assert "in another order" in dreval.Evaluation(X, {"e": embedded, "f": Y}).run(ci=None, tests=None).failed["e"]
    assert dreval.trustworthiness(X, embedded.sort_index().reset_index(drop=True)) == expected


def test_row_ids_are_not_a_coordinate() -> None:
    """A column of row ids in an embedding raises an error: it would dominate every distance."""
    table = pd.DataFrame({"id": np.arange(60), "u": Y[:, 0], "v": Y[:, 1]})
    results = dreval.Evaluation(X, {"e": table, "pca": "pca"}).run("trustworthiness", ci=None)

    assert "row ids in column 'id'" in results.failed["e"]
    assert results.table["value"].notna().tolist() == [False, True]


@pytest.mark.parametrize("classes", [1, 2, 12, 59])
def test_classes_among_the_coordinates_are_noted(classes: int) -> None:
    """Repeated integers next to decimals are used, with a note; a constant column without a note."""
    table = pd.DataFrame({"u": Y[:, 0], "cluster": np.arange(len(Y)) % classes, "v": Y[:, 1]})
    results = dreval.Evaluation(X, {"e": table}).run("trustworthiness", ci=None)
    messages = results.notes.query("code == 'source.doubtful'")

    assert results.table["value"].iloc[0] == dreval.trustworthiness(X, table.to_numpy(float))
    doubts = [
        (doubt.code, dict(doubt.values)["columns"]) for values in messages["values"] for doubt in values["doubts"]
    ]
    assert doubts == [("column.integers", ("'cluster'",))] * (classes > 1)
    result = dreval.Evaluation(X, {"e": table.round().astype(int)}).run("trustworthiness", ci=None)
    assert "source.doubtful" not in set(result.notes["code"])  # a map of integers, as of a grid


def test_ties_of_decimal_data_are_ties() -> None:
    """Data in tenths have the tie bounds of the same data in whole units, though floats round their distances."""
    integers = RNG.integers(0, 20, size=(80, 3))
    for measure in ("trustworthiness", "continuity", "neighborhood_overlap"):
        function = getattr(dreval, measure)
        exact = function(integers, integers[:, :2], n_neighbors=7, ties="bounds")
        decimal = function(integers / 10, integers[:, :2] / 10, n_neighbors=7, ties="bounds")

        assert_allclose(decimal[["worst", "best"]], exact[["worst", "best"]], rtol=1e-12)
        assert exact["worst"] <= decimal["value"] <= exact["best"]


def test_a_favorable_order_of_ties_is_noted() -> None:
    """The area of repeated rows is the best over all orders, far from the worst; an accuracy is inside its range."""
    data = np.repeat(X[:6], 5, axis=0)
    ev = dreval.Evaluation(data, {"e": data[:, :2]}, n_neighbors=4, labels=list("abc") * 10, random_state=0)
    results = ev.run(["r_nx_auc", "knn_accuracy"], None, None)
    area, accuracy = (row for _, row in results.table.iterrows())
    key = "ties are broken by row number in both spaces, which makes this value too favorable"
    assert_allclose(area["value"], area["best"], rtol=1e-12)
    assert area["best"] - area["worst"] > 0.05
    chance_note = "ties in the embedding change the chance level: it is the mean over 20 row permutations"
    assert area["note"] == f"{key} (worst, best: over all orders); {chance_note}"
    assert accuracy["value"] < accuracy["best"]
    assert accuracy["note"] == "ties are broken by row number (worst, best: over all orders)"
    assert f"{key} (worst, best: over all orders)" in " ".join(str(results.summary()).split())


@pytest.mark.parametrize("unit", [1e-58, 1e-30, 1e30, 1e58])
def test_extreme_units_have_no_effect(unit: float) -> None:
    """Relative local Procrustes measures do not depend on the unit, up to the limits of size."""
    for measure in LOCAL:
        function = getattr(dreval, measure)
        assert function(X * unit, Y * unit) == pytest.approx(function(X, Y), rel=1e-9)
    assert dreval.procrustes_rc(X, Y * unit) == pytest.approx(dreval.procrustes_rc(X, Y), rel=1e-9)


def test_integers_beyond_the_exact_ones_raise_an_error() -> None:
    """Integers that a float would round raise an error, in arrays and in frames."""
    large: Any = 2**60 + RNG.integers(0, 1000, size=(60, 3))
    for data in (large, pd.DataFrame(large), large.astype(np.uint64)):
        with pytest.raises(InputError, match=r"integers up to 2\*\*53"):
            dreval.Evaluation(data)


def test_equal_embeddings_have_equal_chance() -> None:
    """The chance value is a mean over exchanges of points that are the same for every embedding, and hardly varies."""
    embeddings = dict.fromkeys("abc", Y)
    tables = [
        dreval.Evaluation(X, embeddings, labels=KINDS.to_numpy(), random_state=seed).run(tests=None, ci=None).table
        for seed in range(12)
    ]
    accuracy = np.array([t.loc[t["measure"] == "knn_accuracy", "chance"] for t in tables])

    assert (accuracy == accuracy[:, :1]).all()
    assert accuracy[:, 0].std() < 0.025  # one exchange alone has a standard deviation near 0.06


def test_values_without_spread_have_no_interval() -> None:
    """A value that no left-out group changes has no standard error and no interval, with a note."""
    row = dreval.Evaluation(X, {"copy": X}).run("trustworthiness").table.iloc[0]

    assert row["value"] == 1
    assert np.isnan(row["se"])
    assert np.isnan(row["conf_low"])
    assert "no interval" in row["note"]


def test_none_as_text() -> None:
    """ "none" is None, for tests, intervals and adjustment."""
    evaluation = dreval.Evaluation(X, {"e": Y}, labels=KINDS.to_numpy(), random_state=0)
    spoken = evaluation.run("trustworthiness", "none", "none", adjust="none").table

    pd.testing.assert_frame_equal(
        spoken.drop(columns="seconds"),
        evaluation.run("trustworthiness", None, None, adjust=None).table.drop(columns="seconds"),
    )


def test_values_whose_squares_are_no_numbers() -> None:
    """Next to an embedding of a far larger unit, a measure that has the unit raises an error; others have values."""
    assert dreval.procrustes_r(X * 1e50, Y * 1e50) == pytest.approx(1e100 * dreval.procrustes_r(X, Y), rel=1e-9)
    for measure in ("procrustes_rn", "sammon_stress"):
        with pytest.raises(DrevalError, match="must have units in which the value of this measure is at most 1e\\+150"):
            getattr(dreval, measure)(X * 1e-58, Y * 1e58)
        row = dreval.Evaluation(X * 1e-58, {"e": Y * 1e58}).run([measure, "procrustes_rc"], ci=None).table
        assert row["value"].isna().tolist() == [True, False]
        assert "must have units" in row["note"].iloc[0]


def test_rounding_of_a_zero_distance_is_zero() -> None:
    """1 - cos of equal rows is 1e-16 in a matrix of others; such an entry is 0 and has no stress."""
    data = np.vstack([X, 3 * X[:30] / 7])
    embedding = np.vstack([Y, Y[:30] + 0.1])
    passed = pdist(data, "cosine")
    assert (passed[passed > 0]).min() < 1e-15

    value = dreval.sammon_stress(data, embedding, metric="cosine")
    assert dreval.sammon_stress(squareform(passed), embedding, metric="precomputed") == pytest.approx(value, rel=1e-9)


def test_options_of_measures_that_are_not_requested_are_checked() -> None:
    """A misspelled option raises an error whether or not its measure or test is computed."""
    evaluation = dreval.Evaluation(X, {"e": Y})
    invalid: list[Any] = [
        {"stress": {"kin": "raw"}},
        {"stress": {"kind": "rough"}},
        {"r_nx": {"every": True}},
        {"trustworthiness": {"n_neighbors": 60}},
        {"trustability": {"sizes": 3}},
        {"hsic": {"kernels": "gaussian"}},
    ]
    for options in invalid:
        with pytest.raises(DrevalError, match=r"options|kind|n_neighbors"):
            evaluation.run(measures="continuity", options=options)


def test_one_of_two_columns_always_carries_half() -> None:
    """Of two columns none is pointed out; of three the one with more than half of the variance is."""
    for data in (X, csr_array(np.round(X))):
        notes = [
            dreval.Evaluation(data[:, :p] * np.r_[2.0, np.ones(p - 1)], {"e": Y}).run("continuity", ci=None).notes
            for p in (2, 3)
        ]
        assert [bool((table["code"] == "data.one_column").any()) for table in notes] == [False, True]


def test_chance_in_closed_form_is_the_mean_of_many_permutations() -> None:
    """Neighborhood hit and R^2 of latents, over 300 permutations of the rows of an embedding; also from anchors."""
    rng = np.random.default_rng(1)
    labels, latent = rng.integers(0, 3, 40) ** 2, rng.normal(size=(40, 2))
    embedded = np.c_[Y[:40], Y[:40, 0]]  # rank 2
    evaluation = dreval.Evaluation(X[:40], {"e": embedded}, labels=labels, latent=latent, random_state=0)
    table = evaluation.run(["neighborhood_hit", "latent_r2"], ci=None).table.set_index("measure")

    assert table.loc["latent_r2", "chance"] == pytest.approx(2 / 39)
    sizes = np.bincount(labels)
    assert table.loc["neighborhood_hit", "chance"] == pytest.approx((sizes * (sizes - 1)).sum() / (40 * 39))
    draws = [rng.permutation(40) for _ in range(300)]
    hits = [dreval.neighborhood_hit(embedded[d], labels=labels) for d in draws[:100]]
    fits = [dreval.latent_r2(embedded[d], latent=latent) for d in draws]
    for name, values in (("neighborhood_hit", hits), ("latent_r2", fits)):
        limit = 4 * np.std(values) / np.sqrt(len(values))
        assert table.loc[name, "chance"] == pytest.approx(np.mean(values), abs=limit)


def test_the_effect_of_ties_and_anchors_is_noted() -> None:
    """Notes on measures without bounds over ties have the order of ties; notes on the largest distance name it."""
    integers = RNG.integers(0, 4, size=(80, 3)).astype(float)
    kinds = np.arange(80) % 3
    requested = ["procrustes_rc", "class_aware_continuity"]
    for measures in ([requested[0]], requested):
        tied = dreval.Evaluation(integers, {"e": integers[:, :2]}, labels=kinds, random_state=0).run(
            measures, tests=None
        )
        assert all("ties are broken by row number" in note for note in tied.table["note"])
    free = dreval.Evaluation(X, {"e": Y}, labels=KINDS.to_numpy(), random_state=0).run(requested, tests=None).table
    assert not free["note"].str.contains("change the chance level").any()

    evaluation = dreval.Evaluation(X, {"e": Y}, anchors=20, random_state=0)
    notes = evaluation.run(["density_kl", "density_l1", "average_local_error", "q_local", "q_global"]).table["note"]
    assert ["too high" in note for note in notes] == [True] * 3 + [False] * 2
    assert ["too low" in note for note in notes] == [False] * 3 + [True] * 2
    assert not notes.str.contains("jumps").any()
