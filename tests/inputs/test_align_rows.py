"""Rows are matched by their names, and a match by position is never silent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dreval
from dreval.errors import InputError
from dreval.inputs.data import as_data
from dreval.inputs.source import as_source

X = np.random.default_rng(5).normal(size=(6, 3))
Y = np.random.default_rng(6).normal(size=(6, 2))
NAMES = [f"cell{i}" for i in range(6)]


@given(
    order=st.permutations(range(6)), names=st.sampled_from([NAMES, [11, 7, 5, 3, 2, 1], [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]])
)
def test_equal_row_names_in_any_order_give_the_same_numbers(order: list[int], names: list[Any]) -> None:
    """Shuffled frames, label series and covariate frames with the same row names come back in the data's order."""
    data = pd.DataFrame(X, index=names)
    labels = pd.Series(list("abcabc"), index=names).iloc[order]
    covariates = pd.DataFrame({"age": np.arange(6.0)}, index=names).iloc[order]
    record = as_data(data, labels=labels, covariates=covariates)
    source = as_source(pd.DataFrame(Y, index=names).iloc[order], "e", record)
    assert np.array_equal(source.coordinates(record), Y)
    assert record.labels.values.tolist() == list("abcabc")
    assert record.covariates["age"].tolist() == list(range(6))
    is_reordered = order != sorted(order)
    assert (
        "Rows of `embeddings['e']` were matched to the data by row names." in [*map(str, source.notes)]
    ) == is_reordered


@given(order=st.permutations(range(6)))
def test_an_id_column_on_both_sides_decides(order: list[int]) -> None:
    """With ids='cell' a column of that name in an embedding or label file matches the rows for any type."""
    data = pd.DataFrame(X, columns=list("xyz")).assign(cell=NAMES)
    shuffled = pd.DataFrame(Y, columns=["u", "v"]).assign(cell=NAMES).iloc[order].reset_index(drop=True)
    record = as_data(data, ids="cell")
    source = as_source(shuffled, "e", record)
    assert np.array_equal(source.coordinates(record), Y)
    renamed = as_source(shuffled.rename(columns={"cell": "barcode"}), "e", record, ids="barcode")
    assert np.array_equal(renamed.coordinates(record), Y)
    vector = as_source(Y[order], "e", record, ids=np.array(NAMES)[order])
    assert np.array_equal(vector.coordinates(record), Y)


def test_files_are_matched_by_their_id_column(tmp_path: Path) -> None:
    """Data, embedding and labels in three files in three orders."""
    order, other_order = [3, 1, 5, 0, 4, 2], [5, 4, 3, 2, 1, 0]
    pd.DataFrame(X, columns=list("xyz")).assign(cell=range(100, 106)).to_csv(tmp_path / "data.csv", index=False)
    pd.DataFrame(Y).assign(cell=range(100, 106)).iloc[order].to_csv(tmp_path / "e.csv", index=False)
    kinds = pd.DataFrame({"cell": range(100, 106), "kind": list("abcdef")}).iloc[other_order]
    kinds.to_csv(tmp_path / "labels.tsv", index=False, sep="\t")
    for path in ("labels.tsv", "labels.tsv:kind"):
        record = as_data(tmp_path / "data.csv", ids="cell", labels=str(tmp_path / path))
        assert record.labels.values.tolist() == list("abcdef")
        assert "Rows of `labels` were matched to the data by the ids in 'cell'." in [*map(str, record.notes)]
    source = as_source(str(tmp_path / "e.csv"), "e", record)
    assert np.array_equal(source.coordinates(record), Y)
    assert "Rows of `embeddings['e']` were matched to the data by the ids in 'cell'." in [*map(str, source.notes)]


def test_whole_floats_and_text_are_the_same_ids() -> None:
    """7, 7.0 and "7" are one id, since files cannot distinguish them."""
    record = as_data(X, ids=[1, 2, 3, 4, 5, 6])
    for ids in ([6.0, 5.0, 4.0, 3.0, 2.0, 1.0], list("654321")):
        assert np.array_equal(as_source(Y[::-1], "e", record, ids=ids).coordinates(record), Y)


@pytest.mark.parametrize(
    ("index", "embedding", "notes"),
    [
        (None, None, 0),
        (None, NAMES, 1),
        (NAMES, None, 1),
        (NAMES, NAMES, 0),
        (NAMES, [1, 2, 3, 4, 5, 6], 1),
        ([12, 13, 15, 17, 18, 19], None, 1),
        (None, [12, 13, 15, 17, 18, 19], 1),
    ],
)
def test_all_other_rows_are_matched_by_position(index: Any, embedding: Any, notes: int) -> None:
    """Default indexes, names on one side, and names next to row numbers do not change the order."""
    record = as_data(pd.DataFrame(X, index=index))
    source = as_source(pd.DataFrame(Y, index=embedding), "e", record)
    assert np.array_equal(source.coordinates(record), Y)
    assert len(source.notes) == notes


@pytest.mark.parametrize("embedding", [[9, 8, 7, 6, 5, 4], [2, 1, 3, 4, 5, 6], list("uvwxyz")])
def test_names_without_a_common_one_raise_an_error(embedding: list[Any]) -> None:
    """By position each row would get the name of another row."""
    with pytest.raises(InputError, match="0 of 6 ids of the data found"):
        as_source(pd.DataFrame(Y, index=embedding), "e", as_data(pd.DataFrame(X, index=NAMES)))


SHIFTED = [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("index", [SHIFTED, [0, 1, 2, 3, 5, 6], [2.0, 3.0, 4.0, 5.0, 6.0, 7.0]])
@pytest.mark.parametrize("side", ["data", "embedding", "labels", "latent", "covariates", "function"])
def test_rows_dropped_on_one_side_raise_an_error(index: list[Any], side: str) -> None:
    """A frame with dropped rows and a frame that counts its rows: by position all rows would be shifted."""
    named_rows, counted_rows = pd.DataFrame(X, index=index), pd.DataFrame(Y)
    left, second = (counted_rows, named_rows) if side == "embedding" else (named_rows, counted_rows)
    run = {
        "labels": lambda: as_data(named_rows, labels=pd.Series(list("abcabc"))),
        "latent": lambda: as_data(named_rows, latent=counted_rows),
        "covariates": lambda: as_data(named_rows, covariates={"age": pd.Series(np.arange(6.0))}),
        "function": lambda: dreval.trustworthiness(named_rows, counted_rows, n_neighbors=2),
    }.get(side, lambda: as_source(second, "e", as_data(left)))
    with pytest.raises(
        InputError, match=r"must have the same ids .* in the same order, call reset_index\(drop=True\) on both frames"
    ):
        run()


def test_the_hints_on_dropped_rows_give_the_numbers_of_arrays() -> None:
    """reset_index, the common rows and arrays are all accepted, and the common rows are matched by name."""
    named_rows, counted_rows = pd.DataFrame(X, index=SHIFTED), pd.DataFrame(Y)
    expected = dreval.trustworthiness(X, Y, n_neighbors=2)
    assert dreval.trustworthiness(named_rows.reset_index(drop=True), counted_rows, n_neighbors=2) == expected
    assert (
        dreval.trustworthiness(named_rows, Y, n_neighbors=2)
        == dreval.trustworthiness(X, counted_rows, n_neighbors=2)
        == expected
    )
    common = dreval.trustworthiness(named_rows.drop(6), counted_rows.drop(0)[::-1], n_neighbors=1)
    assert common == dreval.trustworthiness(X[:5], Y[1:], n_neighbors=1)


@given(order=st.permutations(range(6)))
def test_row_numbers_in_another_order_are_matched_on_either_side(order: list[int]) -> None:
    """A shuffled and an unshuffled frame have the same rows, whichever of them is the data."""
    data, embedding = pd.DataFrame(X), pd.DataFrame(Y)
    assert np.array_equal(as_source(embedding.iloc[order], "e", as_data(data)).coordinates(as_data(data)), Y)
    shuffled = as_data(data.iloc[order])
    assert np.array_equal(as_source(embedding, "e", shuffled).coordinates(shuffled), Y[order])


def test_ids_on_one_side_are_noted() -> None:
    """Ids that only one side has are not used, and the note names the side."""
    assert tuple(map(str, as_source(Y, "e", as_data(X, ids=NAMES)).notes)) == (
        "The data have ids and `embeddings['e']` has none: rows were matched by position.",
    )
    named_rows = pd.DataFrame(Y).assign(cell=NAMES)
    assert tuple(map(str, as_source(named_rows, "e", as_data(X), ids="cell").notes)) == (
        "`embeddings['e']` has ids and the data have none: rows were matched by position.",
    )
    assert tuple(map(str, as_source(pd.DataFrame(Y, index=NAMES), "e", as_data(X)).notes)) == (
        "Row names of `embeddings['e']` were not used, since the data have none: rows were matched by position.",
    )


@pytest.mark.parametrize("form", [list, np.array, pd.Series, pd.Index])
def test_names_that_only_the_data_have_are_noted_once_for_each_input(form: Any, tmp_path: Path) -> None:
    """Labels, covariates, latent variables and embeddings without row names go by position, each with one note."""
    np.save(tmp_path / "y.npy", Y)
    np.save(tmp_path / "kinds.npy", np.array([0, 1, 0, 1, 0, 1]))
    data = pd.DataFrame(X, index=NAMES)
    template = "The data have row names and `{}` has none: rows were matched by position."
    record = as_data(data, labels=form(list("abcabc")), covariates={"age": form(np.arange(6.0))}, latent=Y)
    names = ("labels", "covariates['age']", "latent")
    message = [str(note) for note in record.notes if note.code != "covariates.names_rows"]
    assert tuple(message[:3]) == tuple(template.format(name) for name in names)
    for embedding in (Y, pd.DataFrame(Y), str(tmp_path / "y.npy")):
        assert tuple(map(str, as_source(embedding, "e", record).notes)) == (template.format("embeddings['e']"),)
    assert template.format("labels") in [*map(str, as_data(data, labels=str(tmp_path / "kinds.npy")).notes)]
    column = as_data(data.assign(kind=list("abcabc")), labels="kind")
    assert not any("has none" in str(note) for note in (*column.notes, *as_source("pca", "p", record).notes))


@pytest.mark.parametrize("index", [NAMES[:5], [*NAMES[:5], "new"], [*NAMES, "new"], [*NAMES[:5], NAMES[0]]])
def test_partly_matching_names_raise_an_error(index: list[str]) -> None:
    """Row names that match in part, or occur twice, cannot be put in order."""
    values = np.random.default_rng(0).normal(size=(len(index), 2))
    with pytest.raises(InputError, match=r"must have the same ids|must have different row names"):
        as_source(pd.DataFrame(values, index=index), "e", as_data(pd.DataFrame(X, index=NAMES)))


def test_the_label_column_of_the_data_is_not_a_coordinate() -> None:
    """A coordinate file that repeats the labels of the data has them left out, with a note."""
    record = as_data(pd.DataFrame(X, columns=list("xyz")).assign(kind=[0, 1] * 3), labels="kind")
    source = as_source(pd.DataFrame(Y, columns=["u", "v"]).assign(kind=[0, 1] * 3), "e", record)
    assert np.array_equal(source.coordinates(record), Y)
    assert tuple(map(str, source.notes)) == (
        "`embeddings['e']` has the column 'kind' of the data, which was left out.",
    )


def test_another_order_of_bytes_has_no_effect() -> None:
    """Arrays, frames, series and ids as other machines write them, and as files of HDF5 and FITS hold them."""
    g = np.random.default_rng(0)
    X, labels, ids = g.normal(size=(40, 4)), np.repeat([0, 1], 20), g.permutation(40)
    Y, table = (100 * X[:, :2]).astype(int), pd.DataFrame({"a": g.integers(0, 9, 40), "id": ids})

    def values(order: str) -> list[float]:
        """Return the values with integers in this order of bytes."""
        frame = table.astype(f"{order}i8")
        ev = dreval.Evaluation(
            pd.DataFrame(X.astype(f"{order}f8")),
            {"u": pd.DataFrame(Y.astype(f"{order}i4")), "v": Y.astype(f"{order}i4")},
            covariates=frame,
            labels=labels.astype(f"{order}i2"),
            batch=frame["a"],
            ids=np.arange(40).astype(f"{order}i4"),
        )
        test = dreval.hsic_test(X[:, 0], labels.astype(f"{order}f4"), random_state=0)
        return [*ev.run(["trustworthiness", "silhouette"], None, None).table["value"], test.p_value]

    assert values(">") == values("<")
