"""Tables as R writes them, each next to the R that wrote it; R 4.2.2, checked by the same calls on real output."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dreval
from dreval.errors import InputError
from dreval.inputs.data import as_data
from dreval.inputs.files import read_table

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
NAMED_LINES = [f'"n{i + 1}",{line},"{kind}"' for i, (line, kind) in enumerate(zip(LINES, "ababc", strict=True))]
FILES = {
    "csv.csv": ['"","x","y","kind"', *NAMED_LINES],
    "csv2.csv": ['"";"x";"y";"kind"', *(line.replace(",", ";").replace(".", ",") for line in NAMED_LINES)],
    "plain.csv": ['"x","y","kind"', *(line.partition(",")[2] for line in NAMED_LINES)],
    "table.tsv": ["\t".join(('"x"', '"y"', '"kind"')), *(line.replace(",", "\t") for line in NAMED_LINES)],
    "quote.tsv": ["\tx\ty\tkind", *(line.replace(",", "\t").replace('"', "") for line in NAMED_LINES)],
}


@pytest.mark.parametrize("name", FILES)
def test_data_frames(tmp_path: Path, name: str) -> None:
    """Row names, quotes, factors and decimal commas are read correctly, to the last bit."""
    (tmp_path / name).write_text("\n".join(FILES[name]) + "\n", "utf-8")
    data = as_data(tmp_path / name, labels="kind")
    assert data.columns == ("x", "y")
    assert np.array_equal(data.X, X)
    assert data.labels.values.tolist() == list("ababc")
    assert (data.ids is None) if name == "plain.csv" else (list(data.ids) == [f"n{i}" for i in range(1, 6)])
    assert ("2 columns of 'csv2.csv' had decimal commas." in [*map(str, data.notes)]) == (name == "csv2.csv")


def test_row_numbers_are_not_a_feature(tmp_path: Path) -> None:
    """Default row names of ``write.csv`` count 1, 2, 3 and are left out; NA is a missing cell, and named."""
    (tmp_path / "d.csv").write_text('"","x","y"\n"1",1,2\n"2",3,5\n"3",5,6\n"4",7,9\n')
    data = as_data(tmp_path / "d.csv")
    assert (data.columns, data.ids, data.X[1].tolist()) == (("x", "y"), None, [3, 5])
    (tmp_path / "na.csv").write_text('"","x","y"\n"a",1,2\n"b",NA,5\n"c",5,6\n"d",7,9\n')
    with pytest.raises(InputError, match="NaN in row 1, column 'x'"):
        as_data(tmp_path / "na.csv")


def test_matrices_of_distances(tmp_path: Path) -> None:
    """``write.csv(as.matrix(dist(x)))`` has 1, 2, 3 above and next to the numbers: names, not data."""
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
def test_ambiguous_commas_raise_an_error(tmp_path: Path, text: str) -> None:
    """If a comma may separate thousands, or points occur too, nothing is guessed."""
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(InputError, match=r"must have decimal points, or decimal commas next to semicolons"):
        as_data(tmp_path / "t.csv")


def test_whole_numbers_with_decimal_commas(tmp_path: Path) -> None:
    """Cells without a comma, missing cells and spaces do not prevent decimal commas; text stays text."""
    (tmp_path / "t.csv").write_text("x;y;kind\n1,5;2; u,v\n2; -3,25e2;w\n3;4;w\n4;5,125;w\n")
    data = as_data(tmp_path / "t.csv", labels="kind")
    assert data.X.tolist() == [[1.5, 2], [2, -325], [3, 4], [4, 5.125]]
    assert data.labels.classes.tolist() == ["u,v", "w"]
    (tmp_path / "gap.csv").write_text("x;y\n1,5;2\n;3\n3;4\n4;5\n")
    with pytest.raises(InputError, match="NaN in row 1, column 'x'"):
        as_data(tmp_path / "gap.csv")


# d <- data.frame(x=c(0.5,-1.25,3,4.75,2e-5,7), y=c(1.5,2,-4.25,8,16,0.125), Species=factor(c("setosa","virginica",
#   "setosa","I. versi color","virginica","setosa")))
# n <- d; rownames(n) <- paste("plant", 1:6); k <- d; rownames(k) <- c(101,205,309,400,512,7)
# u <- d; levels(u$Species)[1] <- "versicolor"; un <- u; rownames(un) <- paste0("n", 1:6)
# s <- n; names(s)[1] <- "petal length"
# f <- d; f$ok <- c(TRUE,FALSE,TRUE,NA,TRUE,FALSE); f$batch <- factor(c(1,2,1,2,1,2)); f$Species[2] <- NA
# q <- d; levels(q$Species)[2] <- 'se"to" sa'
# m <- as.matrix(d[c("x","y")]); m <- cbind(m, m[,1]*2, m[,2]/2); colnames(m) <- c(400,410,420,430)
# mn <- m; rownames(mn) <- paste0("s",1:6); rownames(m) <- NULL
# write.table(d["Species"], "factor.csv"); write.table(n["Species"], "factor_named.csv")
# write.table(u["Species"], "factor_bare.csv", quote=FALSE)
# write.table(d["Species"], "factor_alone.csv", row.names=FALSE)
# write.table(un["Species"], "factor_named_bare.tsv", sep="\t", quote=FALSE)
# write.table(d["Species"], "factor_comma.csv", sep=","); write.table(d, "mixed.csv")
# write.table(n, "mixed_named.csv")
# write.table(n, "mixed_corner.csv", col.names=NA); write.table(u, "mixed_bare.csv", quote=FALSE)
# write.table(u, "mixed_bare_alone.csv", quote=FALSE, row.names=FALSE)
# write.table(d, "mixed_alone.csv", row.names=FALSE)
# write.table(n, "mixed_tab.tsv", sep="\t"); write.csv(n, "mixed_comma.csv"); write.csv2(n, "mixed_semicolon.csv")
# write.table(n, "mixed_decimal.csv", dec=","); write.table(k, "numbered.csv"); write.table(s, "spaced_names.csv")
# write.table(f, "more.csv"); write.table(q, "quotes.csv"); write.csv(q, "quotes_comma.csv")
# write.table(mn, "matrix.csv")
# write.table(mn, "matrix_bare.csv", quote=FALSE); write.csv(mn, "matrix_comma.csv")
# write.csv2(mn, "matrix_semicolon.csv")
# write.table(m, "matrix_alone.csv", row.names=FALSE)
R_FILES = {
    "factor.csv": (
        '"Species"\n"1" "setosa"\n"2" "virginica"\n"3" "setosa"\n"4" "I. versi color"\n"5" "virginica"\n"6" "setosa"\n'
    ),
    "factor_alone.csv": ('"Species"\n"setosa"\n"virginica"\n"setosa"\n"I. versi color"\n"virginica"\n"setosa"\n'),
    "factor_bare.csv": ("Species\n1 setosa\n2 virginica\n3 setosa\n4 versicolor\n5 virginica\n6 setosa\n"),
    "factor_comma.csv": (
        '"Species"\n"1","setosa"\n"2","virginica"\n"3","setosa"\n"4","I. versi color"\n"5","virginica"\n"6","setosa"\n'
    ),
    "factor_named.csv": (
        '"Species"\n'
        '"plant 1" "setosa"\n'
        '"plant 2" "virginica"\n'
        '"plant 3" "setosa"\n'
        '"plant 4" "I. versi color"\n'
        '"plant 5" "virginica"\n'
        '"plant 6" "setosa"\n'
    ),
    "factor_named_bare.tsv": (
        "Species\nn1\tsetosa\nn2\tvirginica\nn3\tsetosa\nn4\tversicolor\nn5\tvirginica\nn6\tsetosa\n"
    ),
    "matrix.csv": (
        '"400" "410" "420" "430"\n'
        '"s1" 0.5 1.5 1 0.75\n'
        '"s2" -1.25 2 -2.5 1\n'
        '"s3" 3 -4.25 6 -2.125\n'
        '"s4" 4.75 8 9.5 4\n'
        '"s5" 2e-05 16 4e-05 8\n'
        '"s6" 7 0.125 14 0.0625\n'
    ),
    "matrix_alone.csv": (
        '"400" "410" "420" "430"\n'
        "0.5 1.5 1 0.75\n"
        "-1.25 2 -2.5 1\n"
        "3 -4.25 6 -2.125\n"
        "4.75 8 9.5 4\n"
        "2e-05 16 4e-05 8\n"
        "7 0.125 14 0.0625\n"
    ),
    "matrix_bare.csv": (
        "400 410 420 430\n"
        "s1 0.5 1.5 1 0.75\n"
        "s2 -1.25 2 -2.5 1\n"
        "s3 3 -4.25 6 -2.125\n"
        "s4 4.75 8 9.5 4\n"
        "s5 2e-05 16 4e-05 8\n"
        "s6 7 0.125 14 0.0625\n"
    ),
    "matrix_comma.csv": (
        '"","400","410","420","430"\n'
        '"s1",0.5,1.5,1,0.75\n'
        '"s2",-1.25,2,-2.5,1\n'
        '"s3",3,-4.25,6,-2.125\n'
        '"s4",4.75,8,9.5,4\n'
        '"s5",2e-05,16,4e-05,8\n'
        '"s6",7,0.125,14,0.0625\n'
    ),
    "matrix_semicolon.csv": (
        '"";"400";"410";"420";"430"\n'
        '"s1";0,5;1,5;1;0,75\n'
        '"s2";-1,25;2;-2,5;1\n'
        '"s3";3;-4,25;6;-2,125\n'
        '"s4";4,75;8;9,5;4\n'
        '"s5";2e-05;16;4e-05;8\n'
        '"s6";7;0,125;14;0,0625\n'
    ),
    "mixed.csv": (
        '"x" "y" "Species"\n'
        '"1" 0.5 1.5 "setosa"\n'
        '"2" -1.25 2 "virginica"\n'
        '"3" 3 -4.25 "setosa"\n'
        '"4" 4.75 8 "I. versi color"\n'
        '"5" 2e-05 16 "virginica"\n'
        '"6" 7 0.125 "setosa"\n'
    ),
    "mixed_alone.csv": (
        '"x" "y" "Species"\n'
        '0.5 1.5 "setosa"\n'
        '-1.25 2 "virginica"\n'
        '3 -4.25 "setosa"\n'
        '4.75 8 "I. versi color"\n'
        '2e-05 16 "virginica"\n'
        '7 0.125 "setosa"\n'
    ),
    "mixed_bare.csv": (
        "x y Species\n"
        "1 0.5 1.5 setosa\n"
        "2 -1.25 2 virginica\n"
        "3 3 -4.25 setosa\n"
        "4 4.75 8 versicolor\n"
        "5 2e-05 16 virginica\n"
        "6 7 0.125 setosa\n"
    ),
    "mixed_bare_alone.csv": (
        "x y Species\n"
        "0.5 1.5 setosa\n"
        "-1.25 2 virginica\n"
        "3 -4.25 setosa\n"
        "4.75 8 versicolor\n"
        "2e-05 16 virginica\n"
        "7 0.125 setosa\n"
    ),
    "mixed_comma.csv": (
        '"","x","y","Species"\n'
        '"plant 1",0.5,1.5,"setosa"\n'
        '"plant 2",-1.25,2,"virginica"\n'
        '"plant 3",3,-4.25,"setosa"\n'
        '"plant 4",4.75,8,"I. versi color"\n'
        '"plant 5",2e-05,16,"virginica"\n'
        '"plant 6",7,0.125,"setosa"\n'
    ),
    "mixed_corner.csv": (
        '"" "x" "y" "Species"\n'
        '"plant 1" 0.5 1.5 "setosa"\n'
        '"plant 2" -1.25 2 "virginica"\n'
        '"plant 3" 3 -4.25 "setosa"\n'
        '"plant 4" 4.75 8 "I. versi color"\n'
        '"plant 5" 2e-05 16 "virginica"\n'
        '"plant 6" 7 0.125 "setosa"\n'
    ),
    "mixed_decimal.csv": (
        '"x" "y" "Species"\n'
        '"plant 1" 0,5 1,5 "setosa"\n'
        '"plant 2" -1,25 2 "virginica"\n'
        '"plant 3" 3 -4,25 "setosa"\n'
        '"plant 4" 4,75 8 "I. versi color"\n'
        '"plant 5" 2e-05 16 "virginica"\n'
        '"plant 6" 7 0,125 "setosa"\n'
    ),
    "mixed_named.csv": (
        '"x" "y" "Species"\n'
        '"plant 1" 0.5 1.5 "setosa"\n'
        '"plant 2" -1.25 2 "virginica"\n'
        '"plant 3" 3 -4.25 "setosa"\n'
        '"plant 4" 4.75 8 "I. versi color"\n'
        '"plant 5" 2e-05 16 "virginica"\n'
        '"plant 6" 7 0.125 "setosa"\n'
    ),
    "mixed_semicolon.csv": (
        '"";"x";"y";"Species"\n'
        '"plant 1";0,5;1,5;"setosa"\n'
        '"plant 2";-1,25;2;"virginica"\n'
        '"plant 3";3;-4,25;"setosa"\n'
        '"plant 4";4,75;8;"I. versi color"\n'
        '"plant 5";2e-05;16;"virginica"\n'
        '"plant 6";7;0,125;"setosa"\n'
    ),
    "mixed_tab.tsv": (
        '"x"\t"y"\t"Species"\n'
        '"plant 1"\t0.5\t1.5\t"setosa"\n'
        '"plant 2"\t-1.25\t2\t"virginica"\n'
        '"plant 3"\t3\t-4.25\t"setosa"\n'
        '"plant 4"\t4.75\t8\t"I. versi color"\n'
        '"plant 5"\t2e-05\t16\t"virginica"\n'
        '"plant 6"\t7\t0.125\t"setosa"\n'
    ),
    "more.csv": (
        '"x" "y" "Species" "ok" "batch"\n'
        '"1" 0.5 1.5 "setosa" TRUE "1"\n'
        '"2" -1.25 2 NA FALSE "2"\n'
        '"3" 3 -4.25 "setosa" TRUE "1"\n'
        '"4" 4.75 8 "I. versi color" NA "2"\n'
        '"5" 2e-05 16 "virginica" TRUE "1"\n'
        '"6" 7 0.125 "setosa" FALSE "2"\n'
    ),
    "numbered.csv": (
        '"x" "y" "Species"\n'
        '"101" 0.5 1.5 "setosa"\n'
        '"205" -1.25 2 "virginica"\n'
        '"309" 3 -4.25 "setosa"\n'
        '"400" 4.75 8 "I. versi color"\n'
        '"512" 2e-05 16 "virginica"\n'
        '"7" 7 0.125 "setosa"\n'
    ),
    "quotes.csv": (
        '"x" "y" "Species"\n'
        '"1" 0.5 1.5 "se\\"to\\" sa"\n'
        '"2" -1.25 2 "virginica"\n'
        '"3" 3 -4.25 "se\\"to\\" sa"\n'
        '"4" 4.75 8 "I. versi color"\n'
        '"5" 2e-05 16 "virginica"\n'
        '"6" 7 0.125 "se\\"to\\" sa"\n'
    ),
    "quotes_comma.csv": (
        '"","x","y","Species"\n'
        '"1",0.5,1.5,"se""to"" sa"\n'
        '"2",-1.25,2,"virginica"\n'
        '"3",3,-4.25,"se""to"" sa"\n'
        '"4",4.75,8,"I. versi color"\n'
        '"5",2e-05,16,"virginica"\n'
        '"6",7,0.125,"se""to"" sa"\n'
    ),
    "spaced_names.csv": (
        '"petal length" "y" "Species"\n'
        '"plant 1" 0.5 1.5 "setosa"\n'
        '"plant 2" -1.25 2 "virginica"\n'
        '"plant 3" 3 -4.25 "setosa"\n'
        '"plant 4" 4.75 8 "I. versi color"\n'
        '"plant 5" 2e-05 16 "virginica"\n'
        '"plant 6" 7 0.125 "setosa"\n'
    ),
}

NUMBERS = {"x": [0.5, -1.25, 3, 4.75, 2e-5, 7], "y": [1.5, 2, -4.25, 8, 16, 0.125]}
SPECIES = ["setosa", "virginica", "setosa", "I. versi color", "virginica", "setosa"]
NAMES = {
    "named": [f"plant {i}" for i in range(1, 7)],
    "named_bare": [f"n{i}" for i in range(1, 7)],
    "numbered": [101, 205, 309, 400, 512, 7],
    "matrix": [f"s{i}" for i in range(1, 7)],
}


def expected(name: str) -> tuple[pd.DataFrame, list[object] | None]:
    """The columns, and the names of the rows if they do more than count, that R wrote into a file."""
    stem = name.partition(".")[0]
    table = pd.DataFrame({**NUMBERS, "Species": SPECIES})
    names: list[object] | None = None
    if stem in ("factor_named", "mixed_named", "mixed_corner", "mixed_tab", "mixed_comma", "mixed_semicolon"):
        names = NAMES["named"]
    if stem in ("mixed_decimal", "spaced_names"):
        names = NAMES["named"]
    if stem in NAMES or stem.startswith("matrix"):
        names = NAMES[stem.partition("_")[0]] if stem != "matrix_alone" else None
    if stem == "factor_named_bare":
        names = NAMES["named_bare"]
    if "bare" in stem:
        table["Species"] = [text.replace("I. versi color", "versicolor") for text in SPECIES]
    if stem.startswith("quotes"):
        table["Species"] = [text.replace("setosa", 'se"to" sa') for text in SPECIES]
    if stem.startswith("factor"):
        table = table[["Species"]]
    if stem.startswith("matrix"):
        x, y = (np.array(NUMBERS[column]) for column in "xy")
        table = pd.DataFrame({"400": x, "410": y, "420": x * 2, "430": y / 2})
    if stem == "spaced_names":
        table = table.rename(columns={"x": "petal length"})
    if stem == "more":
        table["Species"] = [SPECIES[0], None, *SPECIES[2:]]
        table["ok"], table["batch"] = [True, False, True, None, True, False], [1, 2, 1, 2, 1, 2]
    return table, names


@pytest.mark.parametrize("name", R_FILES)
def test_files_written_by_r_are_read(tmp_path: Path, name: str) -> None:
    """Spaces, tabs, commas and semicolons; quotes, row names, factors, decimal commas and numbers as names."""
    (tmp_path / name).write_text(R_FILES[name])
    table, names = expected(name)
    if name == "mixed_decimal.csv":
        with pytest.raises(InputError, match=r"must have decimal points, or decimal commas next to semicolons"):
            read_table(tmp_path / name)
        return
    values = read_table(tmp_path / name).values
    first_column = values.columns[0]
    if first_column == "Unnamed: 0":
        assert values[first_column].tolist() == (names or list(range(1, 7)))
        values = values.drop(columns=first_column)
    else:
        assert "alone" in name
    assert [*values.columns] == [*table.columns]
    for column in table:
        target, received = table[column], values[column]
        if target.dtype.kind == "f":
            assert received.tolist() == target.tolist()
        else:
            assert received.isna().tolist() == target.isna().tolist()
            assert received[received.notna()].tolist() == target[target.notna()].tolist()


@pytest.mark.parametrize("name", [name for name in R_FILES if name.startswith(("factor", "mixed", "numbered", "more"))])
def test_factors_of_r_are_labels(tmp_path: Path, name: str) -> None:
    """The classes of six points, by rows and by names, are correct; the silhouette equals that of scikit-learn."""
    metrics = pytest.importorskip("sklearn.metrics")
    if name == "mixed_decimal.csv":  # it is not read
        return
    (tmp_path / name).write_text(R_FILES[name])
    table, names = expected(name)
    Y = np.array(list(NUMBERS.values())).T
    order = [3, 1, 0, 2, 5, 4] if names else list(range(6))
    data = pd.DataFrame(Y[order], index=None if names is None else [names[i] for i in order])
    is_factor = name.startswith("factor")
    labels = str(tmp_path / name) if is_factor else f"{tmp_path / name}:Species"
    ev = dreval.Evaluation(data, {"u": Y[order]}, labels=labels, n_neighbors=2)
    is_known = table["Species"].notna().to_numpy()[order]
    target = table["Species"].to_numpy()[order]
    assert ev.data.labels.values[is_known].tolist() == target[is_known].tolist()
    received = ev.run("silhouette", None, None).table.value.iloc[0]
    assert received == pytest.approx(metrics.silhouette_score(Y[order][is_known], target[is_known]), rel=1e-9)


def test_text_that_may_be_one_column_stays_one(tmp_path: Path) -> None:
    """Without quotes, numbers or counted rows there is no evidence that a space separates columns."""
    for text in ("name\nAnna Smith\nBob Jones\nCleo Smith\n", "kind\nT cell\nB cell\n", '"kind"\n"T cell"\n"B cell"\n'):
        (tmp_path / "t.csv").write_text(text)
        assert read_table(tmp_path / "t.csv").values.shape[1] == 1
    (tmp_path / "t.csv").write_text("label\nsample 1 rep 2\nsample 3 rep 4\nsample 5 rep 6\n")
    assert read_table(tmp_path / "t.csv").values.shape == (3, 1)


def test_titles_above_a_table_are_still_named(tmp_path: Path) -> None:
    """A header with one name less must be above row names; titles and counts raise an error."""
    for text in ("My data\nid\tspecies\nn1\tsetosa\nn2\tsetosa\n", "3 2\na 0.5 0.1\nb 0.2 0.7\nc 0.1 0.2\n"):
        (tmp_path / "t.tsv").write_text(text)
        with pytest.raises(InputError, match="Remove line 1: a title, a count or a comment"):
            read_table(tmp_path / "t.tsv")
