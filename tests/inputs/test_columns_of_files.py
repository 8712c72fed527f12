"""A column of a file keeps its row names, and a file has the same result as its frame."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dreval
from dreval.errors import InputError, InputWarning, UnknownName
from dreval.inputs import files, variables
from dreval.inputs.data import as_data
from dreval.inputs.source import as_source

N = 12
RNG = np.random.default_rng(7)
X = RNG.normal(size=(N, 3))
AGE = RNG.normal(size=N)
SIZE = RNG.normal(size=N)
KINDS = np.array(["a", "b", "c"] * 4)
NAMES = [f"cell{i}" for i in range(N)]
ORDER = np.random.default_rng(8).permutation(N)
MATCHED = "Rows of `{}` were matched to the data by row names."
BY_COUNT = (
    "Rows of `{}` were matched to the data by row names; {} only count the rows. If row i is the same point in both, "
    "pass arrays."
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with data with row names, and variables of the same rows in another order."""
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(X, NAMES, list("xyz")).to_csv("log.csv")
    variables = pd.DataFrame({"age": AGE, "size": SIZE, "kind": KINDS}, NAMES).iloc[ORDER]
    variables.to_csv("meta.csv")
    variables.rename_axis("cell").to_csv("cells.csv")
    variables[["age"]].to_csv("age.csv")
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "value",
    [
        "meta.csv:age",
        ["meta.csv:age"],
        Path("meta.csv:age"),
        {"age": "meta.csv:age"},
        {"age": "age.csv"},
        "age.csv",
        ["meta.csv:age", "meta.csv:size"],
        pd.Series(AGE, NAMES, name="age").iloc[ORDER],
        pd.DataFrame({"age": AGE}, NAMES).iloc[ORDER],
    ],
)
def test_covariates_are_matched_in_whatever_form_they_come(value: Any) -> None:
    """A path, a list, a dict, a series and a frame of the same shuffled column are one variable, with its name."""
    record = as_data("log.csv", covariates=value)
    assert record.covariates["age"].tolist() == AGE.tolist()
    assert any("were matched to the data by row names." in str(note) for note in record.notes)
    assert not any("has none" in str(note) for note in record.notes)


@pytest.mark.usefixtures("folder")
def test_one_column_keeps_the_names_of_its_rows() -> None:
    """Latent variables, labels, embeddings and data of one column of a file follow its row names, with a note."""
    record = as_data("log.csv", labels="meta.csv:kind", latent="meta.csv:age")
    assert record.labels.values.tolist() == KINDS.tolist()
    assert record.latent[:, 0].tolist() == AGE.tolist()
    for argument in ("labels", "latent"):
        assert {f"The unnamed first column of `{argument}` was used as row names.", MATCHED.format(argument)} <= {
            *map(str, record.notes)
        }
    source = as_source("meta.csv:age", "e", record)
    assert source.coordinates(record)[:, 0].tolist() == AGE.tolist()
    data = as_data("meta.csv:age", labels=pd.Series(KINDS, NAMES))
    assert (data.columns, list(data.ids)) == (("age",), [NAMES[i] for i in ORDER])
    assert data.labels.values.tolist() == KINDS[ORDER].tolist()


@pytest.mark.usefixtures("folder")
def test_one_column_is_matched_by_the_ids_next_to_it() -> None:
    """A column of ids in the same file matches the selected one, as for labels."""
    pd.DataFrame(X, columns=list("xyz")).assign(cell=NAMES).to_csv("data.csv", index=False)
    record = as_data("data.csv", ids="cell", covariates="cells.csv:age", latent="cells.csv:size")
    assert record.covariates["age"].tolist() == AGE.tolist()
    assert record.latent[:, 0].tolist() == SIZE.tolist()
    assert as_source("cells.csv:age", "e", record).coordinates(record)[:, 0].tolist() == AGE.tolist()
    assert as_data("cells.csv:age", ids="cell").ids.tolist() == [NAMES[i] for i in ORDER]
    for argument, run in {
        "labels": lambda: as_data("data.csv", ids="cell", labels="cells.csv:cell"),
        "covariates": lambda: as_data("data.csv", ids="cell", covariates="cells.csv:cell"),
    }.items():
        with pytest.raises(InputError, match=f"`{argument}` must be one value per point: got 'cell', which holds"):
            run()


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("names", [NAMES, [7 * j + 100 for j in range(N)]])
@pytest.mark.parametrize("by", ["ids", "row names"])
def test_ids_of_another_name_next_to_one_column_are_used(names: list[Any], by: str) -> None:
    """A column with the ids of the data matches the rows under any name; a partial match raises an error."""
    data = pd.DataFrame(X, columns=list("xyz"), index=pd.Index(names, name="id"))
    table = pd.DataFrame({"barcode": names, "kind": KINDS, "age": AGE}).iloc[ORDER]
    table.to_csv("other.csv", index=False)
    passed = {"ids": "id"} if by == "ids" else {}
    data = data.reset_index() if by == "ids" else data
    record = as_data(data, labels="other.csv:kind", covariates="other.csv:age", **passed)
    assert record.labels.values.tolist() == KINDS.tolist()
    assert record.covariates["age"].tolist() == AGE.tolist()
    assert "Rows of `labels` were matched to the data by the ids in 'barcode'." in [*map(str, record.notes)]
    assert "has none" not in " ".join(map(str, record.notes))
    if isinstance(names[0], str):
        table.assign(barcode=["new", *table["barcode"][1:]]).to_csv("other.csv", index=False)
        with pytest.raises(InputError, match="`labels` must have the same ids as the data, in any order"):
            as_data(data, labels="other.csv:kind", **passed)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("column", "names", "is_noted", "is_error"),
    [
        ("barcode", NAMES, True, True),
        ("id", [j + 1 for j in range(N)], True, True),
        ("rank", [j + 1 for j in range(N)], True, False),  # a number of each row, which may be no name
        ("weight", [j * j for j in range(N)], False, False),
        ("age", [j / 7 for j in range(N)], False, False),
    ],
)
@pytest.mark.parametrize("ids_known", [False, True])
def test_names_next_to_one_column_that_the_data_lack_are_noted(
    column: str, names: list[Any], is_noted: bool, is_error: bool, ids_known: bool
) -> None:
    """Rows in another order would be matched to the wrong points; counted rows in their order are not names.

    Next to data with other names they raise an error, except counts under a name that is not a name of ids.
    """
    table = pd.DataFrame({column: names, "kind": KINDS})
    table.iloc[ORDER].to_csv("other.csv", index=False)
    data = pd.DataFrame(X, index=[f"other{j}" for j in range(N)]) if ids_known else X
    if ids_known and is_error:
        with pytest.raises(InputError, match=rf"0 of {N} ids of the data found in the column '{column}'"):
            as_data(data, labels="other.csv:kind")
        return
    result = [note for note in as_data(data, labels="other.csv:kind").notes if note.code == "rows.ids_beside"]
    assert [note.severity for note in result] == ["limit"] * is_noted
    if column == "id":
        table.to_csv("other.csv", index=False)
        notes = as_data(data, labels="other.csv:kind").notes
        assert "rows.ids_beside" not in [note.code for note in notes]


@pytest.mark.usefixtures("folder")
def test_an_id_column_that_permutes_the_counts_of_the_data_is_used() -> None:
    pd.DataFrame({"id": range(N), "kind": KINDS}).iloc[ORDER].to_csv("other.csv", index=False)
    record = as_data(pd.DataFrame(X), labels="other.csv:kind")
    assert record.labels.values.tolist() == KINDS.tolist()


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("argument", ["covariates", "latent", "labels"])
def test_fewer_rows_raise_an_error_with_their_names(argument: str) -> None:
    """Both sides have names: the error names the missing row, and does not advise to pass ids."""
    pd.DataFrame({"age": [1, 2, 1]}, NAMES[:3]).to_csv("few.csv")
    with pytest.raises(InputError, match=rf"`{argument}` must have the same ids .* 3 of {N} ids .*'cell3' only in"):
        as_data("log.csv", **{argument: "few.csv:age"})


@pytest.mark.usefixtures("folder")
def test_columns_of_files_are_called_by_their_names() -> None:
    """By the column; by the path where two columns would share a name, or one would be called labels."""
    pd.DataFrame({"age": SIZE, "labels": AGE}, NAMES).to_csv("other.csv")
    form_name = {
        ("meta.csv:age", "meta.csv:size"): ["age", "size"],
        ("meta.csv:age", "other.csv:age", "meta.csv:size"): ["meta.csv:age", "other.csv:age", "size"],
        ("x", "meta.csv:age"): ["x", "age"],
        ("meta.csv:age", "other.csv:labels"): ["age", "other.csv:labels"],
    }
    for passed, names in form_name.items():
        assert list(as_data("log.csv", covariates=list(passed)).covariates) == names


@pytest.mark.usefixtures("folder")
def test_wrong_names_of_columns_are_answered_with_right_ones() -> None:
    """The error suggests a column of the named file, but no file by mere similarity, and not the row names."""
    np.save("saze.npy", X)
    with pytest.raises(UnknownName, match=r"got 'size'\. Did you mean 'meta\.csv:size'\? Columns: x, y, z\."):
        as_data("log.csv", covariates=["meta.csv:age", "size"])
    np.save("tsne.npy", X)
    with pytest.raises(UnknownName, match=r"got 'time'\. Columns: x, y, z\."):
        as_data("log.csv", covariates=["meta.csv:age", "time"])
    with pytest.raises(UnknownName, match=r"got 'agee'\. Did you mean 'age'\? Known: age, size, kind\."):
        as_data("log.csv", labels="meta.csv:agee")
    with pytest.raises(UnknownName, match=r"Known: age, size, kind\."):
        as_data("log.csv", covariates="meta.csv:Unnamed: 1")


def write_frame(frame: pd.DataFrame, form: str, name: str) -> Any:
    """Return a frame unchanged, or in a file: as pandas writes it, as R does, or in a binary form of pandas."""
    if form == "frame":
        return frame
    if form == "parquet":
        frame.to_parquet(f"{name}.parquet")
        return f"{name}.parquet"
    base = 1 if form == "R" else 0
    frame.set_axis(frame.index + base).to_csv(f"{name}.csv")
    return f"{name}.csv"


PAIRS = [("csv", "csv"), ("R", "R"), ("csv", "frame"), ("frame", "csv"), ("parquet", "parquet"), ("parquet", "csv")]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("forms", PAIRS)
def test_files_that_count_their_rows_equal_their_frames(forms: tuple[str, str]) -> None:
    """A frame, and the same rows in another order: one value, whichever of them is a file, and whichever the data."""
    data, embedding = pd.DataFrame(X, columns=list("xyz")), pd.DataFrame(X[:, :2] ** 2, columns=["u", "v"])
    value = dreval.trustworthiness(X, X[:, :2] ** 2, n_neighbors=3)
    left, second = write_frame(data, forms[0], "a"), write_frame(embedding.iloc[ORDER], forms[1], "b")
    with pytest.warns(InputWarning, match="those of the data only count the rows"):
        assert dreval.trustworthiness(left, second, n_neighbors=3) == value
    record = as_data(left)
    source = as_source(second, "e", record)
    assert BY_COUNT.format("embeddings['e']", "those of the data") in [*map(str, source.notes)]
    assert np.array_equal(source.coordinates(record), X[:, :2] ** 2)
    left, second = write_frame(data.iloc[ORDER], forms[0], "a"), write_frame(embedding, forms[1], "b")
    with pytest.warns(InputWarning, match="its row names only count the rows"):
        reordered = dreval.trustworthiness(left, second, n_neighbors=3)
    assert reordered == pytest.approx(value, rel=1e-12)  # sums in other order
    assert BY_COUNT.format("embeddings['e']", "its row names") in [
        *map(str, as_source(second, "e", as_data(left)).notes)
    ]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("form", ["csv", "R"])
def test_variables_of_files_that_count_follow_too(form: str) -> None:
    """Labels, covariates and latent variables of the same rows in another order."""
    data = write_frame(pd.DataFrame(X, columns=list("xyz")), form, "a")
    variables = write_frame(pd.DataFrame({"age": AGE, "kind": KINDS}).iloc[ORDER], form, "b")
    record = as_data(data, labels=f"{variables}:kind", covariates=f"{variables}:age", latent=f"{variables}:age")
    assert record.labels.values.tolist() == KINDS.tolist()
    assert record.covariates["age"].tolist() == record.latent[:, 0].tolist() == AGE.tolist()
    for argument in ("labels", "covariates", "latent"):
        assert BY_COUNT.format(argument, "those of the data") in [*map(str, record.notes)]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("forms", [("csv", "R"), ("R", "csv"), ("frame", "R"), ("R", "frame"), ("csv", "csv")])
def test_two_counts_go_by_position(forms: tuple[str, str]) -> None:
    """If both sides only count, from 0 or from 1, rows keep their order, and no note mentions names."""
    left, second = (write_frame(pd.DataFrame(X), form, name) for form, name in zip(forms, "ab", strict=True))
    source = as_source(second, "e", as_data(left))
    assert np.array_equal(source.coordinates(as_data(left)), X)
    assert not any("Row" in str(note) for note in source.notes)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("forms", [("csv", "R"), ("R", "csv"), ("R", "frame")])
def test_names_that_are_counts_of_another_base_raise_an_error(forms: tuple[str, str]) -> None:
    """0..n-1 in another order next to 1..n is ambiguous."""
    left = write_frame(pd.DataFrame(X), forms[0], "a")
    second = write_frame(pd.DataFrame(X).iloc[ORDER], forms[1], "b")
    with pytest.raises(InputError, match=rf"got {N - 1} of {N} ids .* \(write files without row names\)"):
        as_source(second, "e", as_data(left))


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("form", ["csv", "R", "frame"])
def test_a_part_of_counted_rows_raises_the_error_of_named_ones(form: str) -> None:
    """With fewer rows, whose names are among the count, the missing rows are named."""
    left = write_frame(pd.DataFrame(X), form, "a")
    second = write_frame(pd.DataFrame(X).iloc[3:8], form, "b")
    with pytest.raises(InputError, match=rf"must have the same ids .* 5 of {N} ids of the data found"):
        as_source(second, "e", as_data(left))
    with pytest.raises(InputError, match="must have the same ids"):
        as_source(left, "e", as_data(second))


@pytest.mark.usefixtures("folder")
def test_files_without_row_names_have_none_in_reserve() -> None:
    """Next to a plain file, or a parquet file without index, shuffled row numbers raise an error."""
    pd.DataFrame(X, columns=list("xyz")).to_csv("plain.csv", index=False)
    pd.DataFrame(X, columns=list("xyz")).to_parquet("plain.parquet", index=False)
    shuffled = write_frame(pd.DataFrame(X).iloc[ORDER], "csv", "b")
    for path in ("plain.csv", "plain.parquet"):
        record = as_data(path)
        with pytest.raises(InputError, match=r"0, 1, ... in another order"):
            as_source(shuffled, "e", record)


@pytest.mark.usefixtures("folder")
def test_requested_ids_next_to_a_count() -> None:
    """Ids of a table match the rows that the data count; counts of a table are not matched to ids of the data."""
    counted_rows = write_frame(pd.DataFrame(X, columns=list("xyz")), "csv", "a")
    embedding = pd.DataFrame(X[:, :2], columns=["u", "v"]).assign(id=range(N)).iloc[ORDER].reset_index(drop=True)
    record = as_data(counted_rows)
    source = as_source(embedding, "e", record, ids="id")
    assert np.array_equal(source.coordinates(record), X[:, :2])
    assert "by ids; the row names of the data only count the rows." in str(source.notes[-1])
    strange = as_source(embedding.assign(id=range(1, N + 1)), "e", record, ids="id")
    assert str(strange.notes[-1]) == "`embeddings['e']` has ids and the data have none: rows were matched by position."
    named_rows = pd.DataFrame(X, columns=list("xyz")).assign(id=ORDER)
    named_rows.to_csv("named.csv", index=False)
    for kinds in (pd.Series(KINDS), write_frame(pd.DataFrame({"kind": KINDS}), "csv", "k")):
        record = as_data("named.csv", ids="id", labels=kinds)
        assert record.labels.values.tolist() == KINDS.tolist()
        assert "The data have ids and `labels` has none: rows were matched by position." in [*map(str, record.notes)]


def test_columns_of_distances_follow_rows_that_only_count() -> None:
    """Names above a matrix of distances are reordered to the count of its rows."""
    D = np.abs(np.subtract.outer(AGE, AGE))
    record = as_data(pd.DataFrame(D).iloc[:, ORDER], metric="precomputed")
    assert np.array_equal(record.X, D)
    assert "Columns of the distances were put into the order of the rows, by name." in [*map(str, record.notes)]


def test_default_names_of_anndata_are_a_count() -> None:
    """Text "0", "1", ... next to 1, 2, ... of R: both only count, with a note that names were not used."""
    record = as_data(pd.DataFrame(X, [str(i) for i in range(N)]))
    frame = pd.DataFrame(X, columns=list("xyz"))
    frame.insert(0, "Unnamed: 0", range(1, N + 1))
    source = as_source(frame, "e", record)
    assert np.array_equal(source.coordinates(record), X)
    assert str(source.notes[-1]).endswith("has none: rows were matched by position.")


def test_row_names_that_pandas_makes_of_too_many_fields() -> None:
    """A header that was not split raises an error with its separator; levels without names get a note."""
    table = "p;q\n" + "".join(f"{j},5;{j * j},25\n" for j in range(12))
    with pytest.raises(InputError, match=r"must be read with the separator.*sep=';'"):
        as_data(pd.read_csv(io.StringIO(table)))
    frame = pd.read_csv(io.StringIO(table.replace(";", ",")))
    assert frame.index.nlevels == 2
    assert [note.severity for note in as_data(frame).notes if note.code == "data.levels"] == ["limit"]
    frame.index.names = ["block", "plot"]
    assert "data.levels" not in [note.code for note in as_data(frame).notes]


def test_classes_that_differ_in_spaces_are_noted() -> None:
    record = as_data(X, labels=[["a", "a ", "b"][j % 3] for j in range(N)])
    result = [note for note in record.notes if note.code == "labels.spaces"]
    assert [(note.severity, dict(note.values)["values"]) for note in result] == [("assumption", ("'a '",))]
    assert record.labels.classes.tolist() == ["a", "b"]
    assert "labels.spaces" not in [note.code for note in as_data(X, labels=["a b", "b"] * (N // 2)).notes]


def test_the_ids_in_a_whole_table_are_not_a_variable() -> None:
    """A column with the ids of the data, under any name, aligns covariates, latent variables and coordinates."""
    rng = np.random.default_rng(0)
    X, names = rng.normal(size=(12, 2)), [f"g{i}" for i in range(12)]
    data = pd.DataFrame({"id": names, "a": X[:, 0], "b": X[:, 1]})
    order = rng.permutation(12)
    shuffled = pd.DataFrame({"cell": names, "u": X[:, 0], "v": X[:, 1]}).iloc[order].reset_index(drop=True)
    ev = dreval.Evaluation(data, {"e": shuffled}, ids="id", covariates=shuffled, latent=shuffled, n_neighbors=2)
    assert list(ev.data.covariates) == ["u", "v"]
    for result in (np.c_[ev.data.covariates["u"], ev.data.covariates["v"]], ev.data.latent):
        np.testing.assert_array_equal(result, X)
    np.testing.assert_array_equal(ev.sources["e"].coordinates(ev.data), X)
    numbered = pd.DataFrame({"nr": order, "u": X[order, 0], "v": X[order, 1]})
    ev = dreval.Evaluation(data.assign(id=range(12)), {"e": numbered}, ids="id", n_neighbors=2)
    np.testing.assert_array_equal(ev.sources["e"].coordinates(ev.data), X)


WIDE = pd.DataFrame(
    {
        "first": AGE,
        "second": SIZE > 0,
        "kind": KINDS,
        "cell": NAMES,
        "number": np.arange(N) * 7 + 3,
        "weight": AGE + 20.5,
        **{f"f{j}": RNG.normal(size=N) for j in range(5)},
        "flag": SIZE > 1,
    }
)


@pytest.mark.parametrize(
    ("ids", "index"),
    [
        (None, None),
        ("cell", None),
        ("number", None),
        ("weight", None),
        (None, "cell"),
        (None, "weight"),
        ("cell", "number"),
    ],
)
@pytest.mark.parametrize("name", ["kind", "number", "f3"])
def test_a_column_of_a_parquet_file_is_as_if_all_columns_were_read(
    name: str, ids: str | None, index: str | None, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows in another order are matched by an index or by a column that is not the one meant."""
    frame = WIDE.iloc[ORDER]
    (frame.reset_index(drop=True) if index is None else frame.set_index(index)).to_parquet("wide.parquet")
    points = pd.DataFrame(X, columns=list("xyz"), index=pd.Index(WIDE[ids or index or "cell"]))
    passed = (points.reset_index(), {"ids": ids}) if ids else (points, {})

    def covariate() -> Any:
        try:
            data = as_data(passed[0], covariates={"c": f"wide.parquet:{name}"}, **passed[1])
        except (InputError, UnknownName) as error:
            return str(error), None
        return [str(note) for note in data.notes], data.covariates["c"].tolist()

    def evaluate_file(path: Any, argument: str, id_columns: Any = None, **settings: Any) -> Any:
        return files.read_table(path, argument, **settings)

    result = covariate()
    monkeypatch.setattr(variables, "read_table", evaluate_file)
    assert result == covariate()
    if result[1] is not None:
        assert result[1] == WIDE[name].tolist()


def test_unrequested_numbers_of_a_parquet_file_are_not_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fractions and truth values are not read, except for the first two columns; an unknown name lists all."""
    WIDE.to_parquet("wide.parquet")
    recorded = []

    def recording_read(path: Any, argument: str, id_columns: Any = None, **settings: Any) -> Any:
        recorded.append(files.read_table(path, argument, id_columns, **settings))
        return recorded[-1]

    monkeypatch.setattr(variables, "read_table", recording_read)
    as_data(X, labels="wide.parquet:kind")
    as_data(X, covariates={"c": "wide.parquet:f3"})
    assert recorded[0].columns == ("first", "second", "kind", "cell", "number")
    assert recorded[1].columns == ("first", "second", "kind", "cell", "number", "f3")
    with pytest.raises(UnknownName, match=r"Known: first, second, kind, .* f3 and 2 more"):
        as_data(X, labels="wide.parquet:nothing")


@pytest.mark.usefixtures("folder")
def test_row_names_that_repeat_or_have_no_header_are_the_stated_cause() -> None:
    """One name twice in the unnamed first column; names in a file without column names."""
    table = pd.DataFrame(X[:, :2], columns=["u", "v"], index=["c0", *(f"c{i}" for i in range(N - 1))])
    table.to_csv("twice.csv")
    record = as_data(X)
    with pytest.raises(InputError, match=r"must have different row names, .* got 'c0' in rows 0 and 1 \(rows count"):
        as_source("twice.csv", "e", record)
    table.to_csv("headless.csv", header=False)
    with pytest.raises(InputError, match=r"text .* in column '0'\. Pass 'headless\.csv:1,2', which leaves it out\."):
        as_source("headless.csv", "e", record)


def _headless(frame: pd.DataFrame, file: str) -> None:
    """Write the rows of a table in another order, with its index and without names of columns."""
    frame.iloc[ORDER].to_csv(file, header=False)


@pytest.mark.usefixtures("folder")
def test_row_numbers_of_a_file_without_header_are_noted_where_the_data_have_none() -> None:
    """Row numbers next to a selected column are not used with plain arrays, and a note says so.

    It does not for rows in their order, nor for a number that repeats.
    """
    _headless(pd.DataFrame({"kind": KINDS}), "numbered.csv")
    _headless(pd.DataFrame({"kind": KINDS}, index=np.arange(N) ** 2 + 7), "squares.csv")
    pd.DataFrame({"kind": KINDS}).to_csv("in_order.csv", header=False)
    _headless(pd.DataFrame({"kind": KINDS}, index=np.arange(N) // 2), "pairs.csv")
    for file, is_noted in {"numbered": True, "squares": True, "in_order": False, "pairs": False}.items():
        record = as_data(X, labels=f"{file}.csv:1")
        assert ("rows.ids_beside" in [note.code for note in record.notes]) == is_noted
        assert record.labels.values.tolist() == (KINDS if file == "in_order" else KINDS[ORDER]).tolist()
    _headless(pd.DataFrame(X[:, :2]), "map.csv")
    record = as_data(X)
    source = as_source("map.csv:1,2", "e", record)
    assert [note.code for note in source.notes] == ["rows.ids_beside"]
    assert np.array_equal(source.coordinates(record), X[ORDER, :2])


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "index", [NAMES, [*range(N)], [3 * j + 5 for j in range(N)]], ids=["text", "counts", "numbers"]
)
@pytest.mark.parametrize("ids", [True, False])
def test_ids_of_a_file_without_header_are_matched_to_those_of_the_data(index: list[Any], ids: bool) -> None:
    """The first column of files without names of columns has the ids of both, whole or next to selected columns.

    Row numbers of a frame alone are used next to selected columns; a whole table of coordinates needs ids.
    """
    data = pd.DataFrame(X, index=index, columns=list("xyz"))
    pd.DataFrame(X, index=index).to_csv("data.csv", header=False)
    record = as_data("data.csv", ids="0") if ids else as_data(data)
    _headless(pd.DataFrame(X[:, :2], index=index), "map.csv")
    for path in ["map.csv:1,2", *(["map.csv"] if ids or index[0] != 0 else [])]:
        source = as_source(path, "e", record)
        assert np.array_equal(source.coordinates(record), X[:, :2])
        codes = [note.code for note in source.notes if note.code.startswith("rows.")]
        assert codes == ["rows.counted" if index[0] == 0 and not ids else "rows.matched"]
    _headless(pd.DataFrame({"kind": KINDS, "age": AGE}, index=index), "known.csv")
    variables = as_data(
        "data.csv" if ids else data,
        ids="0" if ids else None,
        labels="known.csv:1",
        covariates={"age": "known.csv:2"},
    )
    assert variables.labels.values.tolist() == KINDS.tolist()
    assert variables.covariates["age"].tolist() == AGE.tolist()


@pytest.mark.parametrize("form", [np.array, pd.DataFrame])
def test_columns_of_integers_without_names_stay_coordinates(form: Any) -> None:
    """An integer array has no ids if its first column has other values than the ids of the data."""
    data = pd.DataFrame(np.column_stack([np.arange(100, 100 + N), X]))
    coordinates = np.column_stack([np.arange(N)[::-1] ** 2, np.arange(N)])
    record = as_data(data, ids=0)
    assert np.array_equal(as_source(form(coordinates), "e", record).coordinates(record), coordinates)


@pytest.mark.parametrize("index", [ORDER, ORDER + 100, [f"row{i}" for i in ORDER]], ids=["counts", "numbers", "text"])
def test_a_column_with_all_names_of_the_data_is_used_where_the_index_has_none(index: Any) -> None:
    """Sorted frames have their former row numbers as an index; their column of names is used."""
    data = pd.DataFrame(X, index=NAMES, columns=list("xyz"))
    table = pd.DataFrame({"id": NAMES, "x": X[:, 0], "y": X[:, 1]}).iloc[ORDER].set_axis(index)
    variables = pd.DataFrame({"id": NAMES, "kind": KINDS, "age": AGE}).iloc[ORDER].set_axis(index)
    record = as_data(data, labels=variables[["id", "kind"]], covariates=variables[["id", "age"]], latent=table)
    assert record.labels.values.tolist() == KINDS.tolist()
    assert {name: column.tolist() for name, column in record.covariates.items()} == {"age": AGE.tolist()}
    assert np.array_equal(record.latent, X[:, :2])
    source = as_source(table, "e", record)
    assert np.array_equal(source.coordinates(record), X[:, :2])
    assert "by the ids in 'id'" in " ".join(map(str, source.notes))


def test_an_index_with_names_of_the_data_precedes_a_column() -> None:
    """The index decides if it has the names of the data; a column with a part of them is not used."""
    data = pd.DataFrame(X, index=NAMES, columns=list("xyz"))
    table = pd.DataFrame({"id": NAMES[::-1], "kind": KINDS}, index=NAMES).iloc[ORDER]
    assert as_data(data, covariates=table).covariates["kind"].tolist() == KINDS.tolist()
    part = pd.DataFrame({"id": ["new", *NAMES[1:]], "kind": KINDS}).iloc[ORDER]
    with pytest.raises(
        InputError, match=r"if both have the same rows in the same order, call reset_index\(drop=True\)"
    ):
        as_data(data, labels=part["kind"])


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("separator", [",", "\t"])
def test_a_first_row_with_the_name_of_a_point_is_not_a_header(separator: str) -> None:
    """Texts without a header would lose a point; the data have a header, and a note tells the difference."""
    file = "known.csv" if separator == "," else "known.tsv"
    variables = pd.DataFrame({"kind": KINDS, "site": [f"site {kind}" for kind in KINDS]}, NAMES)
    variables.iloc[ORDER].drop(columns="site").to_csv(file, sep=separator, header=False)
    record = as_data("log.csv", labels=file)
    assert record.labels.values.tolist() == KINDS.tolist()
    assert [note.code for note in record.notes if note.code.startswith("file.")] == [
        "file.names_column",
        "file.first_value",
    ]
    assert as_data("log.csv", labels=f"{file}:1").labels.values.tolist() == KINDS.tolist()
    variables.iloc[ORDER].to_csv(file, sep=separator, header=False)
    covariates = as_data("log.csv", covariates=file).covariates
    assert [column.tolist() for column in covariates.values()] == [
        variables["kind"].tolist(),
        variables["site"].tolist(),
    ]


@pytest.mark.usefixtures("folder")
def test_a_header_with_a_word_that_names_a_point_stays_a_header() -> None:
    """It is a row only above names of other points, all different."""
    data = pd.DataFrame(X, index=["kind", *NAMES[1:]], columns=list("xyz"))
    pd.DataFrame({"cell": data.index, "kind": KINDS}).iloc[ORDER].to_csv("known.csv", index=False)
    assert as_data(data, labels="known.csv:kind").labels.values.tolist() == KINDS.tolist()
    frame = pd.DataFrame({"kind": data.index, "other": KINDS}).iloc[ORDER]  # the word is a name below, too
    frame.to_csv("known.csv", index=False)
    assert as_data(data, labels="known.csv:other").labels.values.tolist() == KINDS.tolist()


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("index_col", [None, 0])
def test_a_header_that_is_a_row_is_the_stated_cause(index_col: int | None) -> None:
    """A frame, or a file that the caller says has a header, lacks the point of its first row."""
    pd.DataFrame({"kind": KINDS}, NAMES).iloc[ORDER].to_csv("known.csv", header=False)
    cause = r"'cell\d+' above them\. The first row of `labels` was read as names of columns"
    with pytest.raises(InputError, match=cause):
        as_data("log.csv", labels=pd.read_csv("known.csv", index_col=index_col))
    with pytest.raises(InputError, match=cause):
        as_data("log.csv", labels="known.csv", header=True)
    frame = pd.read_csv("known.csv", header=None, index_col=index_col)
    assert as_data("log.csv", labels=frame).labels.values.tolist() == KINDS.tolist()
