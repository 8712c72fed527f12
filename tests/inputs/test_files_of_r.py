"""Tables as R writes them, each next to the R that wrote it; R 4.2.2, checked by the same calls on real output."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dreval.errors import InputError
from dreval.inputs.data import as_data

# d <- data.frame(x = c(0.1, -2.25e-5, 3, 4.5, 5), y = c(1, 2, 4, 8, 16) / 3, kind = factor(c("a", "b", "a", "b", "c")),
#                 row.names = paste0("n", 1:5)); write.csv(d, "csv.csv"); write.csv2(d, "csv2.csv")
# write.csv(d, "plain.csv", row.names = FALSE); write.table(d, "table.tsv", sep = "\t")
# write.table(d, "quote.tsv", sep = "\t", col.names = NA, quote = FALSE)
LINES = [
    "0.1,0.333333333333333",
    "-2.25e-05,0.666666666666667",
    "3,1.33333333333333",
    "4.5,2.66666666666667",
    "5,5.33333333333333",
]
X = np.array([[float(cell) for cell in line.split(",")] for line in LINES])
NAMED = [f'"n{i + 1}",{line},"{kind}"' for i, (line, kind) in enumerate(zip(LINES, "ababc", strict=True))]
FILES = {
    "csv.csv": ['"","x","y","kind"', *NAMED],
    "csv2.csv": ['"";"x";"y";"kind"', *(line.replace(",", ";").replace(".", ",") for line in NAMED)],
    "plain.csv": ['"x","y","kind"', *(line.partition(",")[2] for line in NAMED)],
    "table.tsv": ["\t".join(('"x"', '"y"', '"kind"')), *(line.replace(",", "\t") for line in NAMED)],
    "quote.tsv": ["\tx\ty\tkind", *(line.replace(",", "\t").replace('"', "") for line in NAMED)],
}


@pytest.mark.parametrize("name", FILES)
def test_data_frames(tmp_path: Path, name: str) -> None:
    """Row names, quotes, factors and decimal commas are read as they are meant, to the last bit."""
    (tmp_path / name).write_text("\n".join(FILES[name]) + "\n", "utf-8")
    data = as_data(tmp_path / name, labels="kind")
    assert data.columns == ("x", "y")
    assert np.array_equal(data.X, X)
    assert data.labels.values.tolist() == list("ababc")
    assert (data.ids is None) if name == "plain.csv" else (list(data.ids) == [f"n{i}" for i in range(1, 6)])
    assert ("2 columns of 'csv2.csv' had decimal commas." in [*map(str, data.notes)]) == (name == "csv2.csv")


def test_row_numbers_are_no_feature(tmp_path: Path) -> None:
    """Default row names of ``write.csv`` count 1, 2, 3 and are left out; NA is a missing cell, and named."""
    (tmp_path / "d.csv").write_text('"","x","y"\n"1",1,2\n"2",3,5\n"3",5,6\n"4",7,9\n')
    data = as_data(tmp_path / "d.csv")
    assert (data.columns, data.ids, data.X[1].tolist()) == (("x", "y"), None, [3, 5])
    (tmp_path / "na.csv").write_text('"","x","y"\n"a",1,2\n"b",NA,5\n"c",5,6\n"d",7,9\n')
    with pytest.raises(InputError, match="NaN in row 1, column 'x'"):
        as_data(tmp_path / "na.csv")


def test_matrices_of_distances(tmp_path: Path) -> None:
    """``write.csv(as.matrix(dist(x)))`` has 1, 2, 3 above and beside the numbers: names, not data."""
    D = np.abs(np.subtract.outer(X[:, 0], X[:, 0]))
    rows = [",".join([f'"{i + 1}"', *map(repr, row.tolist())]) for i, row in enumerate(D)]
    (tmp_path / "d.csv").write_text("\n".join(['"",' + ",".join(f'"{j + 1}"' for j in range(5)), *rows]))
    assert np.array_equal(as_data(tmp_path / "d.csv", metric="precomputed").X, D)


@pytest.mark.parametrize(
    "text",
    [
        "x;y\n1,234;2,500\n1,222;3,000\n2,111;4\n3;5\n",  # thousands, or three digits behind the comma?
        "x;y\n1.000;2,5\n2.000;3\n3.000;4\n4.000;5,5\n",  # 1.000 may be a thousand
        "x;y\n1,5;2.5\n2;3\n3;4\n4;5\n",
    ],
)
def test_commas_with_two_readings_are_refused(tmp_path: Path, text: str) -> None:
    """Where a comma may part thousands, or points are there too, nothing is guessed."""
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(InputError, match=r"decimal commas|must hold numbers"):
        as_data(tmp_path / "t.csv")


def test_whole_numbers_beside_decimal_commas(tmp_path: Path) -> None:
    """Cells without a comma, missing cells and spaces do not hide the others; text stays text."""
    (tmp_path / "t.csv").write_text("x;y;kind\n1,5;2; u,v\n2; -3,25e2;w\n3;4;w\n4;5,125;w\n")
    data = as_data(tmp_path / "t.csv", labels="kind")
    assert data.X.tolist() == [[1.5, 2], [2, -325], [3, 4], [4, 5.125]]
    assert data.labels.classes.tolist() == ["u,v", "w"]
    (tmp_path / "gap.csv").write_text("x;y\n1,5;2\n;3\n3;4\n4;5\n")
    with pytest.raises(InputError, match="NaN in row 1, column 'x'"):
        as_data(tmp_path / "gap.csv")
