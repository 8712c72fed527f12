"""A line that begins with # at the top of a text file: names of columns, as of ``numpy.savetxt``, or an error."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dreval.errors import InputError
from dreval.inputs.files import read_table

Y = np.random.default_rng(0).normal(size=(8, 2)).round(4)
HEADERS: dict[str, tuple[str, str, str, tuple[str, ...]]] = {
    "commas": ("a.csv", ",", "x,y", ("x", "y")),
    "spaces": ("a.csv", " ", "x y", ("x", "y")),
    "tabs": ("a.tsv", "\t", "x\ty", ("x", "y")),
    "semicolons": ("a.csv", ";", "x;y", ("x", "y")),
    "spaces in tsv": ("a.tsv", " ", "x y", ("x", "y")),
    "quoted names": ("a.csv", ",", '"x, first",y', ("x, first", "y")),
}
COMMENTS = {
    "commas above spaces": (" ", "x,y"),
    "two lines": (",", "made by me\nx,y"),
    "three lines": (" ", "made by me, today\n\nx y"),
    "title": (",", "only one title"),
    "title above spaces": (" ", "one title of many words"),
    "numbers": (",", "1.5,2.5"),
}


@pytest.mark.parametrize("case", HEADERS)
def test_a_marked_header_names_the_columns(case: str, tmp_path: Path) -> None:
    """The values are those that numpy wrote."""
    name, delimiter, header, names = HEADERS[case]
    np.savetxt(tmp_path / name, Y, delimiter=delimiter, header=header)
    table = read_table(tmp_path / name)

    np.testing.assert_array_equal(np.asarray(table.values, dtype=float), Y)
    assert table.columns == names


@pytest.mark.parametrize("case", COMMENTS)
def test_other_comments_raise_an_error_whose_call_reads_the_file(case: str, tmp_path: Path) -> None:
    """The hint names the option of pandas that leaves them out."""
    delimiter, header = COMMENTS[case]
    np.savetxt(tmp_path / "a.csv", Y, delimiter=delimiter, header=header)
    with pytest.raises(
        InputError, match=r"must not have comments.*Read it with pandas and pass the frame.*comment='#'"
    ):
        read_table(tmp_path / "a.csv")
    frame = pd.read_csv(tmp_path / "a.csv", comment="#", header=None, sep=delimiter)
    np.testing.assert_allclose(frame.to_numpy(), Y, rtol=1e-15)  # pandas below 3 rounds the last digit


def test_row_names_below_a_comment_as_r_writes_them(tmp_path: Path) -> None:
    """A header of one name less than columns names all but the row names, which are text."""
    lines = ["# x,y", *(f"g{i},{a},{b}" for i, (a, b) in enumerate(Y))]
    Path(tmp_path / "r.csv").write_text("\n".join(lines) + "\n")
    values = read_table(tmp_path / "r.csv").values
    assert list(values.columns[1:]) == ["x", "y"]
    np.testing.assert_array_equal(values.iloc[:, 1:], Y)


def test_colors_are_not_comments(tmp_path: Path) -> None:
    """Cells that begin with # and no blank are values."""
    pd.DataFrame({"c": ["#ff0000", "#00ff00"] * 4}).to_csv(tmp_path / "c.csv", index=False, header=False)
    values = read_table(tmp_path / "c.csv").values
    assert len(values) + (values.columns[0] == "ff0000") == 8


def test_errors_name_the_line_of_the_file(tmp_path: Path) -> None:
    """The marked header counts."""
    Path(tmp_path / "bad.csv").write_text("# x,y\n1,2\n3,4\n5,6,7\n")
    with pytest.raises(InputError, match="3 in line 4"):
        read_table(tmp_path / "bad.csv")


def test_a_byte_order_mark_and_other_line_ends(tmp_path: Path) -> None:
    """Windows writes both."""
    Path(tmp_path / "w.csv").write_bytes(b"\xef\xbb\xbf# x,y\r\n1,2\r\n3,4\r\n")
    table = read_table(tmp_path / "w.csv")
    assert table.columns == ("x", "y")
    np.testing.assert_array_equal(table.values, [[1, 2], [3, 4]])


def test_a_file_of_comments_alone_is_not_a_table_of_comments(tmp_path: Path) -> None:
    """If no row would remain, none is left out."""
    Path(tmp_path / "only.csv").write_text("# a,b\n")
    with pytest.raises(InputError, match="header only"):
        read_table(tmp_path / "only.csv")
