"""The record of an evaluation: its three tables, and the methods that read them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import dreval
from dreval.errors import InputError, UnknownName
from dreval.glossary import COLUMNS, TEXT_COLUMNS
from dreval.records.frames import full_name, groups_frame
from dreval.records.results import tidy_frame
from dreval.registry import MEASURES

X = np.random.default_rng(0).normal(size=(30, 4))
Y = X[:, :2] + 0.1
LABELS = np.array(["a", "b", "c"] * 10)
IDS = [f"p{i}" for i in range(30)]


@pytest.fixture(scope="module")
def results() -> dreval.Results:
    ev = dreval.Evaluation(X, {"e": Y}, labels=LABELS, ids=IDS, n_neighbors=[3, 5], random_state=0)
    return (
        ev.with_embedding("flat", X[:, :1])
        .with_embedding("bad", Y[:5])
        .run("all", options={"points": {"n_partitions": 2}})
    )


@pytest.mark.slow
def test_glance_has_one_row_for_each_embedding(results: dreval.Results) -> None:
    """One row per embedding, failed ones too; every measure at every parameter is a column with the table's values."""
    wide, table = results.glance(), results.table

    assert wide["embedding"].tolist() == ["e", "flat", "bad"]
    assert wide["n"].tolist() == [30, 30, 30]
    assert wide["n_components"].tolist() == [2, 1, 0]
    assert wide.columns[-2:].tolist() == ["seconds", "failed"]
    for row in table[table["test"] == ""].to_dict("records"):
        shares = MEASURES.card(row["measure"]).shares_neighbors
        column = full_name(row["measure"], row["parameters"]) if shares else row["measure"]
        cell = wide.set_index("embedding").loc[row["embedding"], column]
        assert cell == row["value"] or (np.isnan(cell) and np.isnan(row["value"]))


def test_augment_has_one_row_for_each_point(results: dreval.Results) -> None:
    """One row per point: id, label, coordinates, and contributions whose mean is the value."""
    points = results.augment("e")
    value = results.table.query("embedding == 'e' and test == ''")

    assert points.columns[:4].tolist() == ["id", "label", "y1", "y2"]
    assert points["id"].tolist() == IDS
    assert points["label"].tolist() == LABELS.tolist()
    assert (points[["y1", "y2"]].to_numpy() == Y).all()
    checked = 0
    for row in value.to_dict("records"):
        if MEASURES.card(row["measure"]).level == "point":
            column = full_name(row["measure"], row["parameters"])
            column = column if column in results.glance() else row["measure"]
            assert points[column].mean() == pytest.approx(row["value"], abs=1e-14)
            checked += 1
    assert points.shape == (30, 4 + checked)
    assert results.augment("flat").columns[:3].tolist() == ["id", "label", "y1"]


def test_a_value_has_one_name_in_all_wide_tables(results: dreval.Results) -> None:
    """Columns of points and of values without each point are columns of glance and augment, of the same numbers."""
    glance, augmented, points = set(results.glance()), results.augment("e"), results.points["e"]
    assert "knn_accuracy" in points  # one setting, though it has two parameters
    assert {*points, *results._left_out["e"]} <= glance
    pd.testing.assert_frame_equal(augmented[list(points)], points)


def test_rows_without_names_are_numbered() -> None:
    """Without ids and labels the points are numbered from 0 and there is no column of labels."""
    points = dreval.Evaluation(X, {"e": Y}, n_neighbors=3).run("continuity", None, None).augment("e")

    assert points.columns.tolist() == ["id", "y1", "y2", "continuity"]
    assert points["id"].tolist() == list(range(30))


def test_ids_of_every_kind_are_names() -> None:
    """Row names of a MultiIndex, dates and numbers are carried to the points, as numbers or text."""
    kinds: dict[str, tuple[pd.Index, object]] = {
        "pairs": (pd.MultiIndex.from_product([list("abcde"), range(6)]), "('a', 0)"),
        "dates": (pd.date_range("2020-01-01", periods=30), "2020-01-01 00:00:00"),
        "dates in nanoseconds": (pd.date_range("2020-01-01", periods=30, unit="ns"), "2020-01-01 00:00:00"),
        "numbers": (pd.Index(range(100, 130)), 100),
        "text and numbers": (pd.Index(["x", *range(29)]), "x"),
    }
    for kind, (index, expected_first) in kinds.items():
        shuffled = pd.DataFrame(Y, index=index).sample(frac=1, random_state=0)
        ev = dreval.Evaluation(pd.DataFrame(X, index=index), {"e": shuffled}, n_neighbors=3)
        points = ev.run("continuity", None, None).augment("e")

        assert (points[["y1", "y2"]].to_numpy() == Y).all(), kind
        assert points["id"].iloc[0] == expected_first, kind


def test_verbs_give_copies(results: dreval.Results) -> None:
    """Changes of a returned table do not reach the record."""
    for verb in (results.tidy, results.glance, lambda: results.augment("e")):
        original, altered = verb(), verb()
        altered["n_components" if "n_components" in altered else "y1"] = -1
        altered["new"] = 1
        pd.testing.assert_frame_equal(verb(), original)


def test_tidy_has_the_columns_people_use_and_all_on_request(results: dreval.Results) -> None:
    """``tidy()`` has fourteen columns in this order, ``tidy(full=True)`` all of ``table``."""
    columns = ["dataset", "embedding", "measure", "parameters", "value", "conf_low", "conf_high", "chance", "p_value"]
    columns += ["p_adjusted", "test", "variable", "n", "note"]

    table = results.tidy()

    assert list(table) == columns
    assert list(results.tidy(full=True)) == list(COLUMNS)
    pd.testing.assert_frame_equal(results.tidy(full=True), results.table)
    pd.testing.assert_frame_equal(table, results.table[columns])
    with pytest.raises(InputError, match="full"):
        results.tidy("all")  # type: ignore[arg-type]


def test_unknown_embeddings_have_no_points(results: dreval.Results) -> None:
    """A wrong name raises an error with the nearest name; a failed embedding one with its reason."""
    with pytest.raises(UnknownName, match="Did you mean 'flat'"):
        results.augment("flaat")
    with pytest.raises(InputError, match=r"It failed: .*got 5 rows for 30 points"):
        results.augment("bad")


def test_results_are_records() -> None:
    """A result is equal to itself only, can be a key, cannot be changed, and prints its size."""
    ev = dreval.Evaluation(X, {"e": Y, "flat": X[:, :1], "bad": Y[:5]}, n_neighbors=5, random_state=0)
    results = ev.run("trustworthiness", None, None)
    assert results == results
    assert len({results, results}) == 1
    with pytest.raises(AttributeError):
        results.recipe = {}  # type: ignore[misc]
    assert repr(results) == str(results) == str(results.summary())
    assert str(results).startswith("3 embeddings of data (1 failed): 30 points, 4 -> 1 to 2 dimensions")
    assert "<table" in results._repr_html_()


def test_tables_have_their_types_without_rows() -> None:
    """The tidy table and the groups have the same columns and types with and without rows."""
    tidy = tidy_frame([])
    row = tidy_frame([{"embedding": "e", "value": 1, "n": 4}])

    assert list(tidy.columns) == list(COLUMNS)
    pd.testing.assert_series_equal(tidy.dtypes, row.dtypes)
    assert (row[list(TEXT_COLUMNS)].iloc[0] == "").sum() == len(TEXT_COLUMNS) - 1
    groups = groups_frame([{"embedding": "e", "measure": "i", "parameters": "", "group": 0, "value": 1}])
    pd.testing.assert_series_equal(groups_frame([]).dtypes, groups.dtypes)


def test_tests_alone_make_a_result() -> None:
    """With tests and no measure all methods still work."""
    results = dreval.Evaluation(X, {"e": Y, "bad": Y[:3]}, labels=LABELS, random_state=0).run(None, "hsic")

    assert results.glance().columns.tolist() == ["embedding", "n", "n_components", "seconds", "failed"]
    assert results.augment("e").columns.tolist() == ["id", "label", "y1", "y2"]
    assert "labels" in str(results.summary())
    assert "Tests of independence" in str(results.summary(full=True))
