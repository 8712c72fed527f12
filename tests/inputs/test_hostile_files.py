"""Malicious files raise errors with four parts, before memory is allocated."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

import dreval
from dreval.errors import InputError
from dreval.inputs.data import as_data
from dreval.inputs.features import densify
from dreval.inputs.sizes import _parquet_column, _parquet_text

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="memory is measured as POSIX does")


@pytest.mark.slow
def test_no_file_takes_memory_or_raises_a_raw_error(tmp_path: Path) -> None:
    """Bombs, headers with false sizes, places outside the matrix, pickles: an InputError, within the limit."""
    import hostile

    result = hostile.measure(tmp_path)

    assert [name for name, *_ in result] == list(hostile.FILES)
    assert {kind for _, kind, _, _ in result} == {"InputError"}
    assert all("`data` must" in text and ": got " in text for _, _, text, _ in result)
    assert {name: memory for name, _, _, memory in result if memory > 300} == {}


def test_the_limit_can_be_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the variable and a value with which the file is read; an invalid value raises an error."""
    path = tmp_path / "zeros.npz"
    np.savez_compressed(path, X=np.eye(40))
    monkeypatch.setenv("DREVAL_READ_LIMIT", "1000")
    with pytest.raises(InputError, match=r"must unpack to at most 1e\+03 bytes.*DREVAL_READ_LIMIT=") as error:
        as_data(path)
    monkeypatch.setenv("DREVAL_READ_LIMIT", error.value.hint.rpartition("=")[2].rstrip("."))
    assert as_data(path).n == 40
    monkeypatch.setenv("DREVAL_READ_LIMIT", "much")
    with pytest.raises(InputError, match="`DREVAL_READ_LIMIT` must be a number of bytes"):
        as_data(path)


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
@pytest.mark.parametrize("line", [b"1" * 3000, b"," * 200])
def test_an_oversized_line_raises_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, line: bytes
) -> None:
    """Too many fields or bytes in a line raise an error during reading; the value in the error allows to read it."""
    monkeypatch.setattr("dreval.inputs.text_tables.MAX_LINE_FIELDS", 40)
    path = tmp_path / f"wide{suffix}"
    path.write_bytes(gzip.compress(b"a\n1\n" + line) if suffix.endswith(".gz") else b"a\n1\n" + line)
    with pytest.raises(InputError, match="must have at most 40 fields in a line") as error:
        as_data(path)
    monkeypatch.setenv("DREVAL_READ_LIMIT", error.value.hint.rpartition("=")[2].rstrip("."))
    with pytest.raises(InputError) as read_error:  # it is still not a table
        as_data(path)
    assert "in a line" not in str(read_error.value)


def test_the_limit_of_dense_data_can_be_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the limit in the error, sparse data are converted to dense data."""
    monkeypatch.setattr("dreval.inputs.features.DENSE_LIMIT", 100)
    matrix = scipy.sparse.eye_array(30, format="csr")
    with pytest.raises(InputError, match=r"must take at most .* GiB when made dense") as error:
        densify(matrix, "data")
    monkeypatch.setenv("DREVAL_READ_LIMIT", error.value.hint.rpartition("=")[2].rstrip("."))
    assert np.array_equal(densify(matrix, "data")[0], np.eye(30))


@pytest.mark.parametrize("name", ["a\0b.csv", f"{'x' * 300}.csv", f"{'é' * 200}.npy"])
def test_names_that_no_file_can_have(name: str, tmp_path: Path) -> None:
    """A zero byte or a name that is too long raises an error wherever a path is passed."""
    path = str(tmp_path / name)
    X = np.random.default_rng(0).normal(size=(30, 3))
    for call in (
        lambda: as_data(path),
        lambda: dreval.load_results(path),
        lambda: dreval.trustworthiness(X, path),
        lambda: dreval.Protocol(X).export(path),
        lambda: dreval.Study(path, {"a": X}, ["pca"]),
        lambda: dreval.Evaluation(X, {"a": X[:, :2]}).run(["trustworthiness"], None, None).save(path),
        lambda: dreval.Evaluation(X, {"a": X[:, :2]}).run(["trustworthiness"], None, None).report(f"{path}.html"),
    ):
        with pytest.raises(InputError, match="must"):
            call()


@pytest.mark.parametrize("rows", [[[1, 2], [3]], [[1, [2]], [3, 4]], [[1, "a"], [2, "b"]], [{}, {}], 3.0, None])
def test_ragged_and_other_lists(rows: object) -> None:
    """The error for values that are not a table names the argument."""
    with pytest.raises(InputError, match=r"`data` must"):
        as_data(rows)


def test_texts_of_parquet_that_repeat_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that labels have, in columns and in lists, are counted and read."""
    import pyarrow as pa
    from pyarrow import parquet

    monkeypatch.setattr("dreval.inputs.sizes.MIN_UNPACKED_LIMIT_BYTES", 1000)
    rng, path = np.random.default_rng(0), tmp_path / "x.parquet"
    labels = rng.choice(["first class", "second", "ß"], 400)
    table = pa.table({"x": rng.normal(size=400), "y": rng.normal(size=400), "label": labels})
    parquet.write_table(table, path, row_group_size=150)
    assert sum(_parquet_text(path, i, "label") for i in range(3)) == sum(len(text.encode()) for text in labels)
    data = as_data(path, labels="label")
    assert data.labels is not None
    assert data.labels.values.tolist() == labels.tolist()
    parquet.write_table(pa.table({"list": [["ab", "ab"], [], None, ["c"]]}), path)
    assert _parquet_text(path, 0, "list.list.element") == 5


def test_a_shape_that_the_file_cannot_fill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty rows are read while the file has as many bytes as the matrix has rows and columns, or there are few."""
    path = tmp_path / "x.mtx"
    entries = "".join(f"{i} {i % 3 + 1} {i / 7}\n" for i in range(1, 41))
    path.write_text(f"%%MatrixMarket matrix coordinate real general\n45 4 40\n{entries}")
    assert as_data(path).n == 45
    path.write_text(f"%%MatrixMarket matrix coordinate real general\n4500 4 40\n{entries}")
    assert as_data(path).n == 4500
    monkeypatch.setattr("dreval.inputs.sizes.MAX_SPARSE_SHAPE", 100)
    requirement = r"must have at most 919 rows and columns together: got .* 919 bytes of a matrix of 4,500 x 4\."
    with pytest.raises(InputError, match=requirement) as error:
        as_data(path)
    monkeypatch.setenv("DREVAL_READ_LIMIT", error.value.hint.rpartition("=")[2].rstrip("."))
    assert as_data(path).n == 4500


@pytest.mark.parametrize("symmetry", ["symmetric", "skew-symmetric"])
def test_a_symmetric_matrix_is_square(tmp_path: Path, symmetry: str) -> None:
    path = tmp_path / "x.mtx"
    path.write_text(f"%%MatrixMarket matrix coordinate real {symmetry}\n6 4 1\n2 1 1.5\n")
    with pytest.raises(InputError, match=rf"must be a readable \.mtx file: got .*a {symmetry} matrix of 6 rows and 4"):
        as_data(path)


def test_the_estimated_memory_of_a_parquet_column(tmp_path: Path) -> None:
    """Objects and lists are counted as such, numbers of any name by 8 bytes, and values of one length by it."""
    import pyarrow as pa
    from pyarrow import parquet

    n, numbers = 100, pa.array(np.arange(100.0))
    fields = pa.StructArray.from_arrays([numbers, numbers], ["x", "y"])
    columns = {
        "plain": (numbers, 8),
        "Sepal.Length": (numbers, 8),
        "half": (pa.array(np.zeros(n, np.float16)), 8),
        "wide": (pa.array([bytes(300)] * n, pa.binary(300)), 300),
        "date": (pa.array(np.zeros(n, np.int32)).cast(pa.date32()), 158),
        "time": (pa.array(np.zeros(n, np.int64)).cast(pa.time64("us")), 158),
        "decimal": (pa.array(np.zeros(n, np.int64)).cast(pa.decimal128(38, 0)), 166),
        "list": (pa.ListArray.from_arrays(np.arange(n + 1, dtype=np.int32) * 20, np.zeros(20 * n)), 310),
        "struct": (fields, 158),
        "list of structs": (pa.ListArray.from_arrays(np.arange(n + 1, dtype=np.int32), fields), 158),
    }
    path = tmp_path / "x.parquet"
    parquet.write_table(pa.table({name: column for name, (column, _) in columns.items()}), path)
    with parquet.ParquetFile(path) as file:
        group = file.metadata.row_group(0)
        for j in range(group.num_columns):
            column = file.schema.column(j)
            name = column.path if column.path in columns else column.path.partition(".")[0]
            assert _parquet_column(column, n, group.column(j).num_values) == n * columns[name][1], name
