"""Lines that begin with # at the top of a text file, as ``numpy.savetxt`` writes a header."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dreval.errors import InputError
from dreval.inputs.files import read_table

Y = np.random.default_rng(0).normal(size=(8, 2)).round(4)
CASES: dict[str, tuple[str, str, str, tuple[str, ...] | None, int]] = {
    "commas": ("a.csv", ",", "x,y", ("x", "y"), 0),
    "spaces": ("a.csv", " ", "x y", ("x", "y"), 0),
    "tabs": ("a.tsv", "\t", "x\ty", ("x", "y"), 0),
    "semicolons": ("a.csv", ";", "x;y", ("x", "y"), 0),
    "spaces in tsv": ("a.tsv", " ", "x y", ("x", "y"), 0),
    "commas above spaces": ("a.csv", " ", "x,y", ("x", "y"), 0),
    "two lines": ("a.csv", ",", "made by me\nx,y", ("x", "y"), 1),
    "three lines": ("a.csv", " ", "made by me, today\n\nx y", ("x", "y"), 2),
    "title": ("a.csv", ",", "only one title", None, 1),
    "title above spaces": ("a.csv", " ", "one title of many words", None, 1),
    "numbers": ("a.csv", ",", "1.5,2.5", None, 1),
    "quoted names": ("a.csv", ",", '"x, first",y', ("x, first", "y"), 0),
}


@pytest.mark.parametrize("case", CASES)
def test_every_number_is_read_and_the_header_names_the_columns(case: str, tmp_path: Path) -> None:
    """The values are those that numpy wrote; a note counts the lines that are not the header."""
    name, delimiter, header, names, left_out = CASES[case]
    np.savetxt(tmp_path / name, Y, delimiter=delimiter, header=header)
    table = read_table(tmp_path / name)

    np.testing.assert_array_equal(np.asarray(table.values, dtype=float), Y)
    assert table.columns == names
    notes = {note.code: dict(note.values) for note in table.notes}
    assert notes.get("file.comments", {}).get("lines", 0) == left_out


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
    """Lines that were left out count."""
    Path(tmp_path / "bad.csv").write_text("# made by me\n# x,y\n1,2\n3,4\n5,6,7\n")
    with pytest.raises(InputError, match="3 in line 5"):
        read_table(tmp_path / "bad.csv")


def test_a_byte_order_mark_and_other_line_ends(tmp_path: Path) -> None:
    """Windows writes both."""
    Path(tmp_path / "w.csv").write_bytes(b"\xef\xbb\xbf# made by me\r\n# x,y\r\n1,2\r\n3,4\r\n")
    table = read_table(tmp_path / "w.csv")
    assert table.columns == ("x", "y")
    np.testing.assert_array_equal(table.values, [[1, 2], [3, 4]])


def test_a_file_of_comments_alone_is_not_a_table_of_comments(tmp_path: Path) -> None:
    """If no row would remain, none is left out."""
    Path(tmp_path / "only.csv").write_text("# a,b\n")
    with pytest.raises(InputError, match="header only"):
        read_table(tmp_path / "only.csv")
