"""Rows of an embedding are frozen: notes and intervals make new rows, from which the cells of the table are derived."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from dreval.evaluation.rows import EmbeddingOutcome, GroupValues, MeasureRow
from dreval.inference.intervals import METHODS, Interval
from dreval.records.frames import parameters_of, parameters_text
from dreval.records.results import tidy_frame

ROW = MeasureRow("e", "trustworthiness", {"n_neighbors": 5}, value=0.9, chance=0.5)


def test_a_row_is_not_changed_by_notes_and_intervals():
    """Each returns a new row; a row cannot be changed."""
    noted = ROW.with_note("interval.large_k").with_interval(
        Interval(0.1, 0.7, 1.0, "points", 20, 19), "interval.large_k"
    )
    assert (ROW.notes, ROW.interval) == ((), None)
    assert ([note.code for note in noted.notes], noted.interval.n_groups) == (["interval.large_k"], 20)
    with pytest.raises(FrozenInstanceError):
        ROW.value = 1.0


def test_an_interval_without_spread_is_a_note_unless_it_is_exact():
    """An error of 0 says nothing where points were resampled, and is exact where all points were used."""
    fixed = ROW.with_interval(Interval(0.0, 0.9, 0.9, "points", 20, 19), "interval.large_k")
    exact = ROW.with_interval(Interval(0.0, 0.9, 0.9, "exact", 20, np.inf), "interval.large_k")
    assert (fixed.interval, [note.code for note in fixed.notes]) == (None, ["interval.large_k"])
    assert (exact.interval.kind, exact.notes) == ("exact", ())


def test_cells_are_columns_of_the_table():
    """The text of the parameters, the card and the interval fill the columns; what a row lacks is missing."""
    row = ROW.with_interval(Interval(0.1, 0.7, 1.0, "anchor_groups", 20, 19), "interval.large_k")
    table = tidy_frame([ROW.cells(), row.cells()])
    assert table["parameters"].tolist() == ["n_neighbors=5", "n_neighbors=5"]
    assert table["direction"].tolist() == ["higher", "higher"]
    assert (table[["lower", "upper"]] == [0.0, 1.0]).all(axis=None)
    assert table["conf_low"].isna().tolist() == [True, False]
    assert table["conf_method"].tolist() == ["", METHODS["anchor_groups"]]
    assert table["target"].tolist() == ["", "anchors"]


def test_parameters_are_text_in_one_form():
    """The text of parameters has their values, without those that are None."""
    parameters = {"n_neighbors": 5, "n_clusters": None, "null": ("a", "b")}
    assert parameters_text(parameters) == "n_neighbors=5, null=('a', 'b')"
    assert parameters_of(parameters_text(parameters)) == {"n_neighbors": "5", "null": "('a', 'b')"}
    assert (parameters_text({}), parameters_of("")) == ("", {})


def test_outcomes_are_joined_and_rows_replaced_by_their_key():
    """Joining keeps the order of rows; a row is replaced by one of the same measure and parameters."""
    other = MeasureRow("e", "trustworthiness", {"n_neighbors": 7})
    outcome = EmbeddingOutcome(rows=(ROW,), groups=(GroupValues.of(ROW, np.arange(2.0)),))
    joined = outcome.joined(EmbeddingOutcome(rows=(other,), groups=(GroupValues.of(other, np.ones((2, 3))),)))
    noted = joined.with_rows({other.key: other.with_note("interval.large_k")})
    assert [row.parameters["n_neighbors"] for row in noted.rows] == [5, 7]
    assert [len(row.notes) for row in noted.rows] == [0, 1]
    assert [len(group.cells()) for group in joined.groups] == [2, 6]
    assert joined.groups[1].cells()[-1] == {
        "embedding": "e", "measure": "trustworthiness", "parameters": "n_neighbors=7", "partition": 1, "group": 2,
        "value": 1.0,
    }  # fmt: skip
