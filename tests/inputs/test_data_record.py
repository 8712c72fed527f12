"""The data in normal form are the same for every container of the numbers."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.datasets import load_iris
from strategies import clouds

from dreval.errors import DrevalError, InputError
from dreval.inputs.data import as_data

DTYPES = ["bool", "int8", "uint8", "int16", "int32", "int64", "uint64", "float16", "float32", "float64", "longdouble"]


class Tensor:
    """Stand in for a tensor on another device with a gradient."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def detach(self) -> Tensor:
        return self

    def cpu(self) -> Tensor:
        return self

    def numpy(self) -> np.ndarray:
        return self.array


def anndata(X: Any, **fields: Any) -> SimpleNamespace:
    """Looks like an AnnData object."""
    n, p = X.shape
    base = {
        "X": X,
        "obs": pd.DataFrame({"kind": list("ab" * n)[:n], "depth": np.arange(n) / 2.0}),
        "obsm": {"X_two": np.arange(2.0 * n).reshape(n, 2)},
        "obs_names": pd.Index([f"cell{i}" for i in range(n)]),
        "var_names": pd.Index([f"gene{j}" for j in range(p)]),
        "layers": {},
    }
    return SimpleNamespace(**{**base, **fields})


FORMS = {
    "array": lambda X: X,
    "Fortran order": np.asfortranarray,
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "read only": lambda X: np.frombuffer(X.tobytes(), dtype=X.dtype).reshape(X.shape),
    "list": lambda X: X.tolist(),
    "frame": pd.DataFrame,
    "masked": np.ma.MaskedArray,
    "tensor": Tensor,
    "AnnData": anndata,
    "data set": lambda X: SimpleNamespace(data=X, labels=None),
    "columns of objects": lambda X: pd.DataFrame(X.astype(object)),
}


@pytest.mark.parametrize("dtype", DTYPES)
@given(data=st.data())
def test_dtype_and_form_do_not_matter(dtype: str, data: st.DataObject) -> None:
    """Every real dtype in every container gives the float64 values of its cells, C-ordered.

    Only a C-ordered array of floats is used directly, and never written to; everything else is copied.
    """
    shape = st.tuples(st.integers(5, 7), st.integers(1, 4))  # not square: a symmetric matrix raises a warning
    kind = np.dtype(dtype)
    cells: Any = st.integers(0, 100).map(float) if kind.kind == "f" else None
    if kind.itemsize == 8 and kind.kind in "iu":
        cells = st.integers(0 if kind.kind == "u" else -(2**53), 2**53)  # larger ones raise an error
    X = data.draw(arrays(kind, shape, elements=cells))
    assume(not (X == X[0]).all())
    expected = X.astype(np.float64)
    for name, form in FORMS.items():
        value = form(X)
        record = as_data(value)
        assert record.X.dtype == np.float64, name
        assert record.X.flags.c_contiguous, name
        assert np.array_equal(record.X, expected), name
        assert not (record.X.flags.writeable and np.may_share_memory(record.X, X)), name


@given(X=clouds())
def test_valid_data_are_unchanged(X: np.ndarray) -> None:
    """Real clouds of any scale, with ties and duplicates, pass unchanged; frames and sparse matrices hold the same.

    A sparse matrix stays sparse, with the notes of the dense one; numbers in them agree to the digits that are printed,
    since its zeros are summed in another order.
    """
    original = X.copy()
    for value in (X, pd.DataFrame(X), sparse.csr_array(X), sparse.coo_matrix(X)):
        record = as_data(value)
        assert np.array_equal(record.dense(), X)
        assert record.sparse == sparse.issparse(value)
        assert [(note.code, str(note)) for note in record.notes] == [
            (note.code, str(note)) for note in as_data(X).notes
        ]
    assert np.array_equal(X, original)


def test_nullable_and_arrow_columns_are_numbers() -> None:
    """Int64, Float64, boolean, arrow, sparse and decimal columns without gaps are features."""
    frame = pd.DataFrame(
        {
            "a": pd.array([1, 2, 3, 4], dtype="Int64"),
            "b": pd.array([True, False, True, True], dtype="boolean"),
            "c": pd.array([0.5, 1, 2, 3], dtype="Float64"),
            "d": pd.array([1, 0, 0, 2], dtype=pd.SparseDtype("float64", 0.0)),
            "e": pd.array([1.5, 2, 3, 4], dtype="double[pyarrow]"),
            "f": [Decimal("1.5"), Decimal(2), Decimal(3), Decimal(4)],
            "g": [True, False, True, False],
            7: [1, 2, 3, 4],
        }
    )
    record = as_data(frame)
    assert record.columns == ("a", "b", "c", "d", "e", "f", "g", "7")
    assert record.X[0].tolist() == [1, 1, 0.5, 1, 1.5, 1.5, 1, 1]


FRAME = pd.DataFrame({"x": [1.0, 2, 3, 5], "y": [2.0, 1, 0, 1], "k": [3, 1, 3, 1], "t": list("baba"), 4: [0, 1, 1, 0]})


@pytest.mark.parametrize(
    ("labels", "codes", "classes"),
    [
        (["b", "a", "b", "a"], [1, 0, 1, 0], ["a", "b"]),
        (np.array([3, 1, 3, 1], dtype=np.uint8), [1, 0, 1, 0], [1, 3]),
        ([True, False, True, False], [1, 0, 1, 0], [False, True]),
        (pd.Series(["b", "a", "b", "a"]), [1, 0, 1, 0], ["a", "b"]),
        (pd.Categorical(["b", "a", "b", "a"], categories=["b", "a", "c"]), [1, 0, 1, 0], ["a", "b"]),
        (pd.Series(pd.Categorical([10, 9, 10, 9])), [1, 0, 1, 0], [9, 10]),
        (pd.array([10, 9, 10, 9], dtype="Int64"), [1, 0, 1, 0], [9, 10]),
        (pd.Series([True, False, True, False], dtype="boolean"), [1, 0, 1, 0], [False, True]),
        (np.array(["b", "a", "b", "a"], dtype=object), [1, 0, 1, 0], ["a", "b"]),
        (np.array([10, 9, 10, 9], dtype=object), [1, 0, 1, 0], [9, 10]),
        (np.array([[1], [0], [1], [0]]), [1, 0, 1, 0], [0, 1]),
        (pd.DataFrame({"z": ["b", "a", "b", "a"]}), [1, 0, 1, 0], ["a", "b"]),
        ("t", [1, 0, 1, 0], ["a", "b"]),
        ("k", [1, 0, 1, 0], [1, 3]),
        (4, [0, 1, 1, 0], [0, 1]),
        ("4", [0, 1, 1, 0], [0, 1]),
    ],
)
def test_labels_of_every_kind(labels: Any, codes: list[int], classes: list[Any]) -> None:
    """Text, truth values and integers in any container are classes in sorted order; whole numbers sort as numbers."""
    data = FRAME[["x", "y"]]
    if isinstance(labels, str | int):
        data = FRAME if labels == "t" else FRAME.drop(columns="t")
    record = as_data(data, labels=labels)
    assert record.labels is not None
    assert record.labels.codes.tolist() == codes
    assert record.labels.classes.tolist() == classes
    assert np.array_equal(np.asarray(record.labels), np.asarray(record.labels.classes)[codes])


def test_named_columns_are_not_features() -> None:
    """Label, id and covariate columns leave the features; the user's frame keeps them."""
    record = as_data(FRAME.assign(id=list("wxyz")), labels="t", ids="id", covariates=["k", "y"])
    assert record.columns == ("x", "4")
    assert record.labels is not None
    assert record.labels.name == "t"
    assert list(record.ids) == list("wxyz")
    assert record.ids_given
    assert record.covariates["k"].tolist() == [3, 1, 3, 1]
    assert list(FRAME.columns) == ["x", "y", "k", "t", 4]


def test_covariates_are_numbers_or_text() -> None:
    """Numbers are float64, integers too; text, truth values and categories are text."""
    X = np.random.default_rng(0).normal(size=(4, 2))
    given_ = {
        "age": [1, 2, 3, 4],
        "sex": list("mfmf"),
        "old": [True, False, True, True],
        "c": pd.Categorical(list("xyxy")),
    }
    covariates = as_data(X, covariates=given_).covariates
    assert {name: v.dtype.kind for name, v in covariates.items()} == {"age": "f", "sex": "U", "old": "U", "c": "U"}
    frame = as_data(X, covariates=pd.DataFrame({"age": [1, 2, 3, 4], "sex": list("mfmf")})).covariates
    assert list(frame) == ["age", "sex"]
    assert list(as_data(X, covariates=np.eye(4)[:, :2]).covariates) == ["covariate_1", "covariate_2"]


def test_labels_and_covariates_from_files(tmp_path: Path) -> None:
    """A file of one column, with or without its name, and a column of a wider file."""
    X = np.random.default_rng(0).normal(size=(4, 2))
    for name, text in {"one": "kind\na\nb\na\nb\n", "bare": "a\nb\na\nb\n", "whole": "1\n0\n1\n0\n"}.items():
        (tmp_path / f"{name}.csv").write_text(text)
    (tmp_path / "wide.csv").write_text("kind,age\na,1\nb,2\na,3\nb,4\n")
    labels = as_data(X, labels=tmp_path / "one.csv").labels
    bare = as_data(X, labels=tmp_path / "bare.csv")
    assert labels is not None
    assert bare.labels is not None
    assert labels.name == "kind"
    assert labels.codes.tolist() == bare.labels.codes.tolist() == [0, 1, 0, 1]
    assert "The first row 'a' of 'bare.csv' was read as a value, not as a name." in [*map(str, bare.notes)]
    assert as_data(X, labels=tmp_path / "whole.csv").labels.classes.tolist() == [0, 1]
    assert as_data(X, labels=f"{tmp_path / 'wide.csv'}:kind").labels.codes.tolist() == [0, 1, 0, 1]
    assert as_data(X, covariates=f"{tmp_path / 'wide.csv'}:age").covariates["age"].tolist() == [1, 2, 3, 4]
    np.save(tmp_path / "labels.npy", np.array([0, 1, 0, 1]))
    assert as_data(X, labels=tmp_path / "labels.npy").labels.codes.tolist() == [0, 1, 0, 1]


def test_latent_variables_are_a_table() -> None:
    """A vector is one latent variable; a frame follows the row names of the data."""
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(5, 2)), index=list("vwxyz"))
    latent = pd.Series(np.arange(5.0), index=list("vwxyz"), name="t")
    assert np.array_equal(as_data(X, latent=latent.iloc[::-1]).latent, np.arange(5.0)[:, None])
    assert as_data(X, latent=np.arange(5)).latent.shape == (5, 1)


def test_anndata_gives_names_columns_and_layers() -> None:
    """Names, obs columns, layers and obsm are read; sparse X stays sparse, and a gene can be a covariate."""
    X = np.arange(12.0).reshape(4, 3) ** 2
    record = as_data(anndata(sparse.csr_matrix(X), layers={"counts": X + 1}), labels="kind", covariates="depth")
    assert record.columns == ("gene0", "gene1", "gene2")
    assert list(record.ids) == ["cell0", "cell1", "cell2", "cell3"]
    assert record.labels.classes.tolist() == ["a", "b"]
    assert record.covariates["depth"].tolist() == [0, 0.5, 1, 1.5]
    assert np.array_equal(record.X.toarray(), X)
    assert as_data(anndata(sparse.csr_matrix(X)), covariates="gene1").columns == ("gene0", "gene2")
    assert np.array_equal(as_data(anndata(X, layers={"counts": X + 1}), layer="counts").X, X + 1)


def test_data_sets_bring_their_labels() -> None:
    """A data set's labels and latent variables are used; a bunch of scikit-learn brings its data and names only."""
    X = np.random.default_rng(0).normal(size=(4, 2))
    card = SimpleNamespace(name="roll")
    record = as_data(SimpleNamespace(data=X, labels=list("abab"), latent=X[:, 0], feature_names=["u", "v"], card=card))
    assert (record.name, record.columns, record.latent.shape) == ("roll", ("u", "v"), (4, 1))
    assert record.labels.codes.tolist() == [0, 1, 0, 1]
    iris = as_data(load_iris())
    assert iris.columns[0] == "sepal length (cm)"
    assert iris.labels is None
    assert str(iris.notes[0]).startswith("The target of the data set was not used")


def test_notes_describe_unusual_data() -> None:
    """Notes on constant columns, a dominating column, repeated rows and columns like ids have hand-counted numbers."""
    frame = pd.DataFrame({"id": [4, 1, 2, 9, 7], "x": [0.0, 1, 0, 1, 0], "c": [5] * 5})
    record = as_data(pd.concat([frame, frame.iloc[:1]], ignore_index=True).assign(y=0.25))
    share = record.X.var(axis=0) / record.X.var(axis=0).sum()
    assert tuple(map(str, record.notes)) == (
        "2 of 4 columns are constant ('c', 'y').",
        f"Column 'id' carries {100 * share[0]:.1f} % of the total variance; data are never scaled.",
        "1 row repeats an earlier one: copies count as separate points, so intervals may be too short.",
    )
    assert any(str(note).startswith("Column 'id' looks like row ids") for note in as_data(frame).notes)


@given(X=clouds())
def test_repeated_rows_are_counted(X: np.ndarray) -> None:
    """The note has numpy's count of repeated rows."""
    repeats = len(X) - len(np.unique(X + 0.0, axis=0))
    notes = [note for note in as_data(X).notes if note.code == "data.repeated"]
    assert [dict(note.values)["rows"] for note in notes] == ([repeats] if repeats else [])


@pytest.mark.parametrize("scale", [1e-59, 1e59])
def test_any_scale_is_described(scale: float) -> None:
    """Variance shares neither overflow nor underflow, up to the limits of size."""
    record = as_data(np.array([[0.0, 0, 0], [1, 0.1, 0.1], [0, 0.2, 0], [1, 0, 0.1]]) * scale)
    assert [dict(note.values)["column"] for note in record.notes if note.code == "data.one_column"] == ["0"]


@pytest.mark.parametrize("size", [1e-61, 1e61, 1e308])
@pytest.mark.parametrize("argument", ["data", "latent", "covariates"])
def test_sizes_beyond_the_limits_raise_an_error(argument: str, size: float) -> None:
    """The error names the table, the limits, and a number to divide by."""
    tables = {"data": np.arange(12.0).reshape(6, 2), "latent": np.arange(6.0), "covariates": np.arange(6.0)}
    tables[argument] = tables[argument] * (size / tables[argument].max())
    with pytest.raises(InputError, match="must have magnitudes between 1e-60 and") as error:
        as_data(tables["data"], latent=tables["latent"], covariates={"a": tables["covariates"]})
    assert argument in error.value.argument
    assert error.value.hint == f"Divide it by {size:.0e}, which moves all points alike."


def test_measure_columns_of_files_are_row_names(tmp_path: Path) -> None:
    """pandas' unnamed index column never becomes a feature: counts are left out, names become row names."""
    X = np.random.default_rng(0).normal(size=(5, 2))
    pd.DataFrame(X, columns=["a", "b"]).to_csv(tmp_path / "count.csv")
    pd.DataFrame(X, columns=["a", "b"], index=list("vwxyz")).to_csv(tmp_path / "names.csv")
    count, names = as_data(tmp_path / "count.csv"), as_data(str(tmp_path / "names.csv"))
    assert count.columns == names.columns == ("a", "b")
    assert np.array_equal(count.X, X)
    assert count.ids is None
    assert list(names.ids) == list("vwxyz")
    assert as_data(pd.read_csv(tmp_path / "count.csv")).columns == ("a", "b")
    assert (count.name, names.name) == ("count", "names")


def test_normal_form_stays(tmp_path: Path) -> None:
    """Data in normal form are returned as the same record, and take no further arguments."""
    record = as_data(np.eye(4))
    assert as_data(record) is record
    with pytest.raises(InputError, match="must be passed once"):
        as_data(record, labels=[0, 1, 0, 1])


CELLS = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.floats(width=16), st.text("ab1,;.-", max_size=3), st.dates()
)


@given(columns=st.lists(st.lists(CELLS, min_size=6, max_size=6), min_size=1, max_size=4), names=st.data())
def test_any_frame_is_accepted_or_raises_an_error(columns: list[list[Any]], names: st.DataObject) -> None:
    """Columns of anything, used as data, labels, ids, covariates and latent variables, raise only errors of dreval."""
    keys = names.draw(
        st.lists(st.sampled_from(["a", "b", "", 0, 1, "id", "Unnamed: 0", ("a", 1)]), min_size=4, max_size=4)
    )
    frame = pd.DataFrame(dict(enumerate(columns)))
    frame.columns = pd.Index(keys[: len(columns)], tupleize_cols=False)
    X = np.arange(12.0).reshape(6, 2)
    for use in (
        lambda: as_data(frame),
        lambda: as_data(frame, labels="a", ids="id", covariates=["b"]),
        lambda: as_data(frame.set_axis(columns[0], axis=0)),
        lambda: as_data(X, labels=frame.iloc[:, 0]),
        lambda: as_data(X, labels=columns[0]),
        lambda: as_data(X, ids=columns[0]),
        lambda: as_data(X, covariates=frame),
        lambda: as_data(X, covariates={"c": columns[0]}),
        lambda: as_data(X, latent=frame),
        lambda: as_data(columns),
    ):
        with suppress(DrevalError):
            assert np.isfinite(use().X).all()


@given(text=st.lists(st.lists(st.sampled_from(["1", "2.5", "a", "", "NA", "0", '"x"', "1,5"]), max_size=4), max_size=7))
def test_any_text_file_is_accepted_or_raises_an_error(text: list[list[str]]) -> None:
    """Text files of any content, as data, labels and covariates, raise only errors of dreval."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.csv")
        path.write_text("\n".join(",".join(row) for row in text))
        for use in (
            lambda: as_data(path),
            lambda: as_data(np.eye(5), labels=path),
            lambda: as_data(np.eye(5), covariates=path, ids=list("abcde")),
            lambda: as_data(path, labels="a"),
        ):
            with suppress(DrevalError):
                assert np.isfinite(use().X).all()


def test_the_column_of_the_labels_may_be_another_variable_too() -> None:
    """As with arrays and columns of obs, labels, batch and a covariate may be one column, which is not a feature."""
    frame = FRAME.assign(u=[0.5, 1.5, 3.5, 2.5])
    record = as_data(frame, labels="t", batch="t", covariates=["t:class", "u"])
    assert record.labels is not None
    assert record.batch is not None
    values = frame["t"].astype(str).tolist()
    assert [str(value) for value in record.labels.values] == [str(value) for value in record.batch.values] == values
    assert {name: list(column) for name, column in record.covariates.items()} == {
        "t": values,
        "u": [0.5, 1.5, 3.5, 2.5],
    }
    assert record.columns == ("x", "y", "k", "4")
    assert list(as_data(frame, labels="t", covariates="t").covariates["t"]) == values
