"""Files come back as they were written, however they were written."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.io import mmwrite

from dreval.errors import DrevalError, InputError
from dreval.inputs.data import as_data
from dreval.inputs.files import read_table
from dreval.inputs.kinds import split_member
from dreval.inputs.text_tables import MIN_COLUMNS_FOR_HEADER, HeaderOptions

NUMBERS = st.floats(allow_nan=False, allow_infinity=False, width=64)
TABLES = arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 4)), elements=NUMBERS)


def write(folder: Path, name: str, text: str, encoding: str = "utf-8") -> Path:
    """A text file."""
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".tsv.gz", ".npy", ".npz", ".parquet"])
@given(X=TABLES)
def test_round_trips_are_exact(X: np.ndarray, suffix: str) -> None:
    """Any finite table is equal to the last bit after each kind of file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table" + suffix)
        frame = pd.DataFrame(X, columns=[f"v{j}" for j in range(X.shape[1])])
        if suffix == ".npy":
            np.save(path, X)
        elif suffix == ".npz":
            np.savez(path, X=X, other=np.arange(3))
        elif suffix == ".parquet":
            frame.to_parquet(path)
        else:
            frame.to_csv(path, index=False, sep="\t" if "tsv" in suffix else ",")
        table = read_table(path)
        back = np.asarray(table.values)
        assert back.shape == X.shape
        assert np.array_equal(back.astype(np.float64), X)
        assert table.columns == (None if suffix in (".npy", ".npz") else tuple(frame.columns))


@given(X=TABLES)
def test_a_file_without_header_loses_no_row(X: np.ndarray) -> None:
    """With ``header=False`` no row is lost; without it a row unlike all others is lost only with a note."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "bare.csv")
        np.savetxt(path, X, delimiter=",", fmt="%.17e")
        table = read_table(path, reading=HeaderOptions(header=False))
        assert table.columns is None
        assert np.array_equal(np.asarray(table.values, dtype=np.float64), X)
        table = read_table(path, reading=HeaderOptions(header="auto"))
        is_header = X.shape[1] >= MIN_COLUMNS_FOR_HEADER and table.columns is not None
        assert [note.code for note in table.notes if note.code != "file.row"] == ["file.header_compared"] * is_header
        assert np.array_equal(np.asarray(table.values, dtype=np.float64), X[int(is_header) :])


def test_the_counting_header_of_pandas_is_a_header(tmp_path: Path) -> None:
    """pandas writes 0, 1, 2 above unnamed columns; they are names, not a point."""
    X = np.random.default_rng(0).normal(size=(5, 3))
    pd.DataFrame(X).to_csv(tmp_path / "a.csv", index=False)
    table = read_table(tmp_path / "a.csv")
    assert table.columns == ("0", "1", "2")
    assert np.array_equal(table.values, X)
    (message,) = map(str, table.notes)
    assert message.startswith(
        "The first row of 'a.csv' (0, 1, 2) was read as column names. If it is data, read it with"
    )
    assert message.endswith("pandas.read_csv(path, header=None) and pass the frame.")


def test_small_whole_numbers_that_count_are_data(tmp_path: Path) -> None:
    """A binary table whose first row is 0, 1 keeps that row."""
    table = read_table(write(tmp_path, "b.csv", "0,1\n1,1\n1,0\n"))
    assert table.columns is None
    assert np.array_equal(table.values, [[0, 1], [1, 1], [1, 0]])


@pytest.mark.parametrize(
    ("text", "columns", "values"),
    [
        ("x,y\n1,2\n3,4\n", ("x", "y"), [[1, 2], [3, 4]]),
        ("\ufeffx,y\r\n1,2\r\n3,4\r\n", ("x", "y"), [[1, 2], [3, 4]]),
        ("\n\nx, y\n1, 2\n\n3, 4\n", ("x", "y"), [[1, 2], [3, 4]]),
        ("# x,y\n1,2\n3,4\n", ("x", "y"), [[1, 2], [3, 4]]),
        ("x;y\n1;2\n3;4\n", ("x", "y"), [[1, 2], [3, 4]]),
        ("x\ty\n1\t2\n3\t4\n", ("x", "y"), [[1, 2], [3, 4]]),
        ('"x,1",y\n1,2\n3,4\n', ("x,1", "y"), [[1, 2], [3, 4]]),
        ('"x\n1",y\n1,2\n3,4\n', ("x\n1", "y"), [[1, 2], [3, 4]]),
        ("x,x\n1,2\n3,4\n", ("x", "x"), [[1, 2], [3, 4]]),
        ("5\n7\n6\n", None, [[5], [7], [6]]),
        ("1,2", None, [[1, 2]]),
    ],
)
def test_ways_of_writing_the_same_table(
    tmp_path: Path, text: str, columns: tuple[str, ...] | None, values: list
) -> None:
    """Byte-order marks, line ends, blank lines, separators and quotes are understood."""
    table = read_table(write(tmp_path, "t.csv", text))
    assert table.columns == columns
    assert np.array_equal(table.values, values)


@given(X=arrays(np.float64, st.tuples(st.integers(2, 25), st.integers(2, 4)), elements=NUMBERS), data=st.data())
def test_columns_of_numbers_may_be_separated_by_spaces(X: np.ndarray, data: st.DataObject) -> None:
    """Any number of spaces, also at the ends of lines, with or without a header: a note, and no bit is lost."""
    spaces = st.integers(1, 3).map(" ".__mul__)
    lines = ["".join(f"{data.draw(spaces)}{value!r}" for value in row) + " " for row in X.tolist()]
    has_names = data.draw(st.booleans())
    lines = [" ".join(f"v{j}" for j in range(X.shape[1]))] * has_names + lines
    with tempfile.TemporaryDirectory() as folder:
        table = read_table(write(Path(folder), "t.csv", "\n".join(lines)), reading=HeaderOptions(header=has_names))
    assert [note.code for note in table.notes] == ["file.separator"]
    assert (table.columns is not None) == has_names
    np.testing.assert_array_equal(np.asarray(table.values, dtype=float), X)


@pytest.mark.parametrize(
    "text", ["kind of cell\nT cell\nB cell\n", "sample\nsample 1\nsample 2\nsample 3\n", "1\n2\n3\n", "a\n1 2\nb c\n"]
)
def test_one_column_of_text_with_spaces_stays_one(tmp_path: Path, text: str) -> None:
    """Labels of several words are one column."""
    assert read_table(write(tmp_path, "t.csv", text)).values.shape[1] == 1


@pytest.mark.parametrize(
    ("top", "lines"), [("3\n", "line 1:"), ("3\n2\n# made by x\n", "lines 1 to 3:"), ("My data\nx,y\n", "line 1:")]
)
def test_lines_above_a_table_are_named(tmp_path: Path, top: str, lines: str) -> None:
    """Neither the first nor the last row of the table is named."""
    with pytest.raises(InputError) as error:
        read_table(write(tmp_path, "t.csv", top + "1.5,2\n3,4\n5,6\n"))
    assert "1 in line 1" in str(error.value)
    assert f"Remove {lines}" in str(error.value)


def test_a_first_row_that_is_too_long_is_the_one_at_fault(tmp_path: Path) -> None:
    """Not the others; and compressed text without its suffix is named as such."""
    with pytest.raises(InputError, match=r"got 4 in line 2 of .*, 3 before"):
        read_table(write(tmp_path, "t.csv", "a,b,c\n1,2,3,9\n0,0,0\n5,6,7\n"))
    (tmp_path / "z.csv").write_bytes(gzip.compress(b"a,b\n1,2\n"))
    with pytest.raises(InputError, match=r"compressed by gzip\)?\. Name it 'z\.csv\.gz'"):
        read_table(tmp_path / "z.csv")


def test_an_unnamed_first_column_of_repeated_labels_reaches_the_labels(tmp_path: Path) -> None:
    """They do not name rows: as features they raise an error with the name that selects them as labels."""
    rows = "".join(f"{label},{j}.5,{j * j}\n" for j, label in enumerate("xyzxyz"))
    path = write(tmp_path, "t.csv", ",a,b\n" + rows)
    with pytest.raises(InputError, match="Name it as labels='Unnamed: 0'"):
        as_data(path)
    data = as_data(path, labels="Unnamed: 0")
    assert list(data.labels.values) == list("xyzxyz")
    assert data.columns == ("a", "b")
    with pytest.raises(InputError, match="If they are classes, pass them as labels='Unnamed: 0'"):
        as_data(path, ids="Unnamed: 0")


@pytest.mark.parametrize("header", ["x,y,", "x,y", "1,2,"])
def test_a_separator_at_the_end_of_each_row_raises_an_error(tmp_path: Path, header: str) -> None:
    """With or without an empty name above it; with names, the call in the hint reads the table."""
    path = write(tmp_path, "t.csv", f"{header}\n1,2,\n3,4,\n5,7,\n1,1,\n")
    with pytest.raises(InputError, match=r"must not have a separator at the end of its rows.*index_col=False"):
        as_data(path)
    if header == "x,y,":
        assert pd.read_csv(path, index_col=False).iloc[:, :2].to_numpy().tolist() == [[1, 2], [3, 4], [5, 7], [1, 1]]


def test_a_named_column_without_a_value_is_no_separator(tmp_path: Path) -> None:
    """Other columns of the file can be used."""
    path = write(tmp_path, "t.csv", "kind,comment\na,\nb,\na,\nb,\n")
    assert list(as_data(np.eye(4), labels=f"{path}:kind").labels.values) == list("abab")


@given(X=arrays(np.float64, (5, 3), elements=st.integers(-(10**9), 10**9).map(lambda k: k / 1000)))
def test_numbers_with_points_between_thousands_raise_an_error(X: np.ndarray) -> None:
    """They are never read as fractions; without the points, decimal commas next to semicolons are read, to the bit."""
    X = np.vstack([X, [1234.5, 2345678.0, 0.25]])
    for mark in (".", ""):
        rows = [[f"{x:,.3f}".translate(str.maketrans({",": mark, ".": ","})) for x in row] for row in X]
        with tempfile.TemporaryDirectory() as folder:
            path = write(Path(folder), "t.csv", "\n".join(";".join(row) for row in [["a", "b", "c"], *rows]))
            if mark:
                with pytest.raises(InputError, match=r"Read it with pandas and pass .* decimal=',', thousands='\.'\)"):
                    read_table(f"{path}:a")
                continue
            table = read_table(path)
        assert np.array_equal(table.values.to_numpy(dtype=float), X)
        assert "file.commas" in [note.code for note in table.notes]


@pytest.mark.parametrize(
    ("separator", "rows", "cell", "call"),
    [
        (",", ['"1,000",2', '"1,017",3'], "1,000", r"(path, decimal=','), or thousands=',' in place of"),
        (",", ['"1,25",2', '"1,5",3'], "1,25", "(path, decimal=',')."),
        (";", ["1,234;2,500", "1,222;3,000"], "1,234", "(path, sep=';', decimal=','), or thousands=','"),
        (";", ["1,5;2.5", "2;3"], "1,5", "(path, sep=';', decimal=',')."),
        (";", ["1.234,5;2.5", "2;3"], "1.234,5", "(path, sep=';', decimal=',', thousands='.')."),
        (";", ["1.234.567;2", "2;3"], "1.234.567", "(path, sep=';', decimal=',', thousands='.')."),
        ("\t", ["1,5\t2", "2\t3"], "1,5", r"(path, sep='\t', decimal=',')."),
    ],
)
def test_commas_that_are_not_read_raise_an_error(
    tmp_path: Path, separator: str, rows: list[str], cell: str, call: str
) -> None:
    """The error shows the first such cell and the call that reads it; as text, it could become a class."""
    path = write(tmp_path, "t.csv", "\n".join([f"a{separator}b", *rows, *rows]))
    for use in (lambda: as_data(path), lambda: as_data(np.eye(4), covariates=f"{path}:a")):
        with pytest.raises(InputError) as error:
            use()
        assert f"got the number '{cell}' in" in str(error.value)
        assert f"Read it with pandas and pass the frame: pandas.read_csv{call}" in str(error.value)


def test_decimal_commas_that_commas_separate(tmp_path: Path) -> None:
    """Fields beyond the names raise an error; a line below the names is not advised to be removed."""
    for last in ("5,25,6,5", "5,6,5"):
        with pytest.raises(InputError, match=r"must have the same number of fields in every row"):
            read_table(write(tmp_path, "t.csv", f"x,y\n1,5,2,25\n-3,5,4,75\n{last}\n"))


@pytest.mark.parametrize("line", [2, 5, 40])
def test_an_unclosed_quote_is_located(tmp_path: Path, line: int) -> None:
    rows = [f"{j}.5,{j},b{j}" for j in range(60)]
    rows[line - 2] = '"' + rows[line - 2]
    with pytest.raises(InputError, match=rf"got a quote in line {line} of"):
        read_table(write(tmp_path, "t.csv", "\n".join(["x,y,z", *rows])))
    rows[line - 2] = f'1.5,2,{5 + line}" tall'  # a mark of inches does not open a quote
    assert len(read_table(write(tmp_path, "t.csv", "\n".join(["x,y,z", *rows]))).values) == 60


@pytest.mark.parametrize(
    ("cells", "received"),
    [
        ([f"{j}.5" for j in range(5)] + [f"\u2212{j}.5" for j in range(7)], r"got '\u22120\.5' in row 5.*notation, 7"),
        ([f"{j}.5%" for j in range(12)], r"got '0\.5%' in row 0 of column 'x', a number in another notation, 12 such"),
        ([*"12345678901", "1 000"], r"got '1 000' in row 11"),
    ],
)
def test_numbers_with_marks_are_not_labels(tmp_path: Path, cells: list[str], received: str) -> None:
    """The error shows the faulty cell and its fault; it does not offer a column of numbers as labels."""
    rows = "".join(f"{cell},{j}\n" for j, cell in enumerate(cells))
    with pytest.raises(InputError, match=received) as error:
        as_data(write(tmp_path, "t.csv", "x,y\n" + rows))
    assert "labels" not in str(error.value)


def test_the_error_for_a_damaged_gz_does_not_suggest_an_encoding(tmp_path: Path) -> None:
    content = gzip.compress(b"a,b\n1,2\n" * 10)
    for name, raw in (("cut", content[:-6]), ("sum", content[:-8] + b"\1\2\3\4" + content[-4:])):
        (tmp_path / f"{name}.csv.gz").write_bytes(raw)
        with pytest.raises(InputError, match=r"must be a complete \.gz file: got .* Copy or compress it again"):
            read_table(tmp_path / f"{name}.csv.gz")
    (tmp_path / "plain.csv.gz").write_bytes(b"a,b\n1,2\n")
    with pytest.raises(InputError, match=r"must be a \.gz file.* Name it 'plain\.csv'"):
        read_table(tmp_path / "plain.csv.gz")


@pytest.mark.parametrize(
    ("last", "columns", "is_noted"), [([0, 1], None, True), ([0, 1, 2], None, False), ([0, 1], list("abc"), False)]
)
def test_a_last_column_of_two_values_without_a_name_is_noted(last: list[int], columns: Any, is_noted: bool) -> None:
    """It may hold labels; not if it has a name, nor if other columns have two values as well."""
    X = np.random.default_rng(0).normal(size=(12, 3))
    X[:, 2] = np.resize(last, 12)
    codes = {note.code for note in as_data(pd.DataFrame(X, columns=columns)).notes}
    assert ("data.binary_last" in codes) == is_noted
    X[:, 1] = np.resize([1, 0, 0], 12)
    assert "data.binary_last" not in {note.code for note in as_data(X).notes}


def test_row_names_of_r_are_a_column_without_name(tmp_path: Path) -> None:
    """A header that is one name short, as R writes it, belongs to the columns behind the row names."""
    table = read_table(write(tmp_path, "r.csv", "x,y\na,1,2\nb,3,4\n"))
    assert table.columns == ("Unnamed: 0", "x", "y")
    assert list(table.values["x"]) == [1, 3]


def test_raw_files_of_repositories_keep_their_first_row(tmp_path: Path) -> None:
    """Decimal fractions next to a class that repeats below are data and not a header."""
    table = read_table(write(tmp_path, "iris.csv", "5.1,3.5,setosa\n4.9,3.0,setosa\n"))
    assert table.columns is None
    assert table.values.shape == (2, 3)


def test_parts_of_files_follow_a_colon(tmp_path: Path) -> None:
    """A column of a table and an array of an archive."""
    path = write(tmp_path, "labels.csv", "id,species\n1,a\n2,b\n")
    assert read_table(f"{path}:species").selected == ("species",)
    assert read_table(f"{path}:species,id").selected == ("species", "id")
    np.savez(tmp_path / "z.npz", a=np.zeros((2, 2)), b=np.ones((3, 2)))
    assert read_table(f"{tmp_path / 'z.npz'}:b").values.shape == (3, 2)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (r"C:\data\x.csv", (r"C:\data\x.csv", None)),
        (r"C:\data\x.csv:species", (r"C:\data\x.csv", "species")),
        ("C:x.npz:Y", ("C:x.npz", "Y")),
        ("a/b.csv.gz:a:b", ("a/b.csv.gz", "a:b")),
        ("plain.csv", ("plain.csv", None)),
        ("folder.csv:/x.npy", ("folder.csv:/x.npy", None)),
    ],
)
def test_drive_letters_are_not_columns(text: str, parts: tuple[str, str | None]) -> None:
    """Only text after a known suffix names a part of a file."""
    assert split_member(text) == parts


def test_sparse_files_are_one_matrix(tmp_path: Path) -> None:
    """scipy's .npz and Matrix Market hold the same matrix, which stays sparse; its parts are not mistaken for data."""
    S = sparse.random_array((6, 4), density=0.5, rng=np.random.default_rng(0), format="csr")
    sparse.save_npz(tmp_path / "s.npz", S)
    mmwrite(tmp_path / "s.mtx", S)
    for name in ("s.npz", "s.mtx"):
        table = read_table(tmp_path / name)
        assert sparse.issparse(table.values)
        assert np.allclose(table.values.toarray(), S.toarray(), rtol=1e-15, atol=0)
        assert tuple(map(str, table.notes)) == ()


MAGIC = [b"", b"\x93NUMPY\x01\x00", b"PK\x03\x04", b"PAR1", b"%%MatrixMarket matrix array real general\n"]
JUNK = st.one_of(
    st.binary(max_size=200), *(st.text(c, max_size=50).map(str.encode) for c in ("1,\n\"x;. \t'", "é0\r,"))
)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".npy", ".npz", ".parquet", ".csv.gz", ".mtx"])
@pytest.mark.parametrize("head", MAGIC)
@given(raw=JUNK)
def test_no_bytes_break_the_reader(raw: bytes, suffix: str, head: bytes) -> None:
    """Any file is a table or raises an error with four parts."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "junk" + suffix)
        path.write_bytes(gzip.compress(raw) if suffix.endswith(".gz") and not head else head + raw)
        try:
            table = read_table(path)
        except DrevalError:
            return
        assert table.values is not None


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".parquet", ".csv.gz"])
@given(data=st.data())
def test_damaged_files_are_read_or_raise_an_error(data: st.DataObject, suffix: str) -> None:
    """A good file with some bytes overwritten, or truncated, raises only errors of dreval."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "good" + suffix)
        X = np.arange(12.0).reshape(4, 3)
        if suffix == ".npy":
            np.save(path, X)
        elif suffix == ".npz":
            np.savez_compressed(path, X=X)
        elif suffix == ".parquet":
            pd.DataFrame(X, columns=list("abc")).to_parquet(path)
        else:
            pd.DataFrame(X).to_csv(path)
        raw = bytearray(path.read_bytes())
        for _ in range(data.draw(st.integers(0, 4))):
            raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
        path.write_bytes(bytes(raw[: data.draw(st.integers(1, len(raw)))] if data.draw(st.booleans()) else raw))
        try:
            table = read_table(path)
        except DrevalError:
            return
        assert len(table.values) > 0


def test_byte_order_marks_within_a_file(tmp_path: Path) -> None:
    """Marks of joined files and in cells are removed, with a note: a class with a mark would be a different class."""
    path = tmp_path / "x.csv"
    lines = ["x,y,kind", *(f"{i},{i * i},{'ab'[i % 2]}" for i in range(12))]
    text = "\n".join(lines) + "\n"
    path.write_text("\ufeff" + text, encoding="utf-8")
    assert "file.marks" not in [note.code for note in read_table(path).notes]
    expected = read_table(path)
    lines[3], lines[5] = f"\ufeff{lines[3]}", lines[5].replace(",b", ",\ufeffb").replace(",a", ",a\ufeff")
    for start in ("", "\ufeff", "\ufeff\ufeff"):
        path.write_text(start + "\n".join(lines) + "\n", encoding="utf-8")
        result = read_table(path)
        assert result.columns == expected.columns
        assert result.values.equals(expected.values)
        count = 2 + (len(start) == 2)
        assert f"{count} invisible byte-order marks within 'x.csv' were left out." in map(str, result.notes)
