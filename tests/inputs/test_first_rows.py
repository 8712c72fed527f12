"""A first row of numbers: names of columns or a point, by the rule, by ``header=``, and never silently."""

from __future__ import annotations

import gzip
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.spatial import procrustes

import dreval
from dreval.cli._main import main
from dreval.errors import InputError, InputWarning
from dreval.inputs.data import as_data
from dreval.inputs.files import read_table
from dreval.inputs.text_tables import HeaderOptions, Reason, TextTable, first_row
from dreval.records import notes as note_table
from dreval.records.notes import note

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4)).round(3) + np.repeat([0, 1, 2], 20)[:, None]
IDS = [f"s{i}" for i in range(60)]
BODY = pd.DataFrame(X).to_csv(index=False, header=False)
NAMED_TEXT = "".join(f"{name},{line}\n" for name, line in zip(IDS, BODY.splitlines(), strict=True))
HEADERS = {
    "equal steps": "400,410,420,430",
    "other steps": "400,412,431,499",
    "decreasing": "9000,3000,1000,100",
    "fractions": "400.13,402.02,431.88,499.07",
    "from 1": "1,2,3,4",
    "not sorted": "412,400,499,431",
}


def disparity(A: np.ndarray, d: int = 2) -> float:
    """Procrustes disparity of the first principal components, by scipy and numpy's SVD."""
    U, s, _ = np.linalg.svd(A - A.mean(0), full_matrices=False)
    Y = np.hstack([U[:, :d] * s[:d], np.zeros((len(A), A.shape[1] - d))])
    return float(procrustes(A, Y)[2])


def value(data: Any, embedding: Any = "pca", **settings: Any) -> float:
    """Procrustes disparity of an embedding by ``Evaluation``."""
    ev = dreval.Evaluation(data, {"u": embedding}, random_state=0, **settings)
    return float(ev.run("procrustes_disparity", None, None).table.value.iloc[0])


def codes(notes: Any) -> list[str]:
    return [note.code for note in notes if note.code.startswith(("file.header", "file.row", "file.first"))]


@pytest.mark.parametrize("name", HEADERS)
@pytest.mark.parametrize(("separator", "suffix"), [(",", ".csv"), (";", ".csv"), ("\t", ".tsv.gz"), (" ", ".csv.gz")])
def test_numbers_unlike_the_rows_below_are_names(tmp_path: Path, name: str, separator: str, suffix: str) -> None:
    """Wavelengths above fractions, in any text file; the note prints the row, and both remedies work."""
    text = f"{HEADERS[name]}\n{BODY}".replace(",", separator).encode()
    path = tmp_path / f"h{suffix}"
    path.write_bytes(gzip.compress(text) if suffix.endswith(".gz") else text)
    ev = dreval.Evaluation(path, {"pca": "pca"})
    assert (ev.data.n, ev.data.columns) == (60, tuple(HEADERS[name].split(",")))
    assert value(path) == pytest.approx(disparity(X), rel=1e-9)
    (message,) = [note for note in ev.data.notes if note.code == "file.header_compared"]
    top_row = ", ".join(HEADERS[name].split(",")[:3])
    assert f"({top_row}, ... (4 values)) was read as column names" in str(message)
    assert "If it is data, pass header=False." in str(message)
    data = dreval.Evaluation(path, header=False).data
    assert (data.n, data.columns, codes(data.notes)) == (61, None, [])
    assert data.X[0].tolist() == [float(cell) for cell in HEADERS[name].split(",")]
    assert codes(dreval.Evaluation(path, header=True).data.notes) == []


@pytest.mark.parametrize("corner", ["id", "sample", "", "strain"])
@pytest.mark.parametrize("numbers", ["400,410,420,430", "400.5,401.5,402.5,403.5", "0.1,0.2,0.3,0.4", "7,3,9,1"])
def test_names_of_rows_next_to_names_of_numbers(tmp_path: Path, corner: str, numbers: str) -> None:
    """With the name of the ids, or an empty cell, in the corner the file can be used."""
    (tmp_path / "h.csv").write_text(f"{corner},{numbers}\n{NAMED_TEXT}")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ev = dreval.Evaluation(tmp_path / "h.csv", {"pca": "pca"}, ids=corner or None)
    if corner == "strain" and numbers == "0.1,0.2,0.3,0.4":
        assert codes(ev.data.notes) == ["file.header_compared"]
    assert (ev.data.columns, list(ev.data.ids)) == (tuple(numbers.split(",")), IDS)
    assert value(tmp_path / "h.csv", ids=corner or None) == pytest.approx(disparity(X), rel=1e-9)


@pytest.mark.parametrize(
    ("top", "rows"),
    [
        ("0.13,0.52", "fractions"),  # an embedding of two columns
        ("0.13,0.52,0.9", "fractions"),
        ("400,410", "counts"),
        ("0.3,0.12,0.2,0.4", "fractions"),
        ("3,5,5,8", "counts"),  # a number that repeats is not a name
        ("0,0,0,0", "fractions"),  # a curve may begin at 0
        ("401,417,422,439", "counts"),  # sorted at random
        ("7.5,-3.21,4.4,6.1", "fractions"),  # far from the others
    ],
)
def test_rows_like_the_others_are_data_without_a_note(top: str, rows: str) -> None:
    """Such rows are not doubtful."""
    p = len(top.split(","))
    below = X[:, [0, 1, 2, 3][:p]].round(2) if rows == "fractions" else RNG.poisson(400, (60, p))
    table = TextTable(top.split(","), [list(map(str, row)) for row in below.tolist()], ",")
    assert (first_row(table).header, first_row(table).doubtful) == (False, False)


@pytest.mark.parametrize(
    ("top", "below"),
    [
        ("400,410", X[:, :2]),  # two numbers are never names by themselves
        ("1,2", X[:, :2]),
        ("400,410,420,430", RNG.poisson(400, (60, 4))),
        ("400,407,423,430,431,444", RNG.poisson(400, (60, 6))),
        ("4000.5,-321.25,981.125,7000.5", X),  # an outlier, or names
    ],
)
def test_doubtful_rows_are_data_with_a_note(tmp_path: Path, top: str, below: np.ndarray) -> None:
    """The note names the row and a remedy that works; functions without ``header`` warn, with another remedy."""
    path = tmp_path / "d.csv"
    path.write_text(f"{top}\n" + pd.DataFrame(below).to_csv(index=False, header=False))
    data = dreval.Evaluation(path).data
    assert (data.n, codes(data.notes)) == (61, ["file.row"])
    (message,) = [str(note) for note in data.notes if note.code == "file.row"]
    assert ", ".join(top.split(",")[:3]) in message
    assert message.endswith("If it has the names of the columns, pass header=True.")
    assert dreval.Evaluation(path, header=True).data.columns == tuple(top.split(","))
    with pytest.warns(InputWarning, match=r"read it with pandas\.read_csv\(path\) and pass the frame"):
        as_data(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert as_data(pd.read_csv(path)).n == 60


@pytest.mark.parametrize(
    "make",
    [
        lambda g, n, p: g.normal(size=(n, p)).round(3),
        lambda g, n, p: g.poisson(3, (n, p)),
        lambda g, n, p: g.poisson(300, (n, p)),
        lambda g, n, p: g.integers(1, 6, (n, p)),
        lambda g, n, p: g.normal(size=(n, p)).cumsum(0).round(2),  # rows with a trend
        lambda g, n, p: np.sort(g.normal(size=(n, p)), 1),  # rows that are all sorted
        lambda g, n, p: g.normal(size=(n, p)) * 10.0 ** np.arange(p),  # columns of other sizes
        lambda g, n, p: g.poisson(5, (n, p)).cumsum(1),
        lambda g, n, p: (g.integers(9) + np.arange(n * p)).reshape(n, p) / 7,
    ],
)
def test_first_rows_of_data_are_seldom_read_as_names(make: Any) -> None:
    """Of 300 tables without header none loses a row; at most two are doubtful, except rows that count."""
    doubtful = 0
    for seed in range(50):
        g = np.random.default_rng(seed)
        for p in (2, 3, 4, 6, 9, 20):
            rows = [list(map(str, row)) for row in make(g, int(g.integers(5, 80)), p).tolist()]
            decision = first_row(TextTable(rows[0], rows[1:], ","))
            assert not decision.header, rows[:3]
            counts = rows[0] in [[str(start + j) for j in range(p)] for start in (0, 1)]
            doubtful += decision.doubtful and not counts
    assert doubtful <= 2


def test_a_sorted_row_above_some_sorted_rows_is_data() -> None:
    """Two of ten rows below are sorted: a sorted header would not differ from a third such row of any length."""
    g = np.random.default_rng(0)
    rows = g.permuted(np.cumsum(g.uniform(1, 2, (11, 20)), 1), axis=1).round(3)
    rows[[0, 4, 7]] = np.sort(rows[[0, 4, 7]])
    top_row, *below = [list(map(str, row)) for row in rows.tolist()]

    assert not first_row(TextTable(top_row, below, ",")).header
    assert first_row(TextTable(top_row, below[:3] + below[4:6], ",")).header


def test_masses_above_counts_are_names() -> None:
    """Sorted numbers of the size of the counts below: chance does not explain ten of them, and may explain seven."""
    counts = [list(map(str, row)) for row in RNG.poisson(150, (60, 10)).tolist()]
    masses = ["89", "139", "141", "142", "144", "146", "147", "151", "153", "156"]
    assert first_row(TextTable(masses, counts, ",")).header
    for p in (5, 7):
        assert not first_row(TextTable(masses[:p], [row[:p] for row in counts], ",")).header


def test_the_number_of_points_decides(tmp_path: Path) -> None:
    """An embedding of two columns below 1, 2 has one row too many, unless these are names; one of 60 rows has not."""
    Y = X[:, :2]
    text = pd.DataFrame(Y).to_csv(index=False, header=False)
    (tmp_path / "named.csv").write_text("1,2\n" + text)
    (tmp_path / "bare.csv").write_text("1,2\n" + text.partition("\n")[2])
    ev = dreval.Evaluation(X, {"named": tmp_path / "named.csv", "bare": tmp_path / "bare.csv"})
    assert np.array_equal(ev["named"].coordinates(ev.data), Y)
    assert ev["bare"].coordinates(ev.data)[0].tolist() == [1, 2]
    assert codes(ev["named"].notes) == ["file.header"]
    assert codes(ev["bare"].notes) == []
    with pytest.raises(InputError, match="rows"):
        dreval.Evaluation(X, {"bare": tmp_path / "bare.csv"}, header=True)["bare"].coordinates(ev.data)


def test_header_reaches_every_text_file_of_a_call(tmp_path: Path) -> None:
    """Data, embeddings, labels, batches, covariates and latent variables; ``with_embedding`` too."""
    for name, columns, values in [
        ("data", ["11", "12", "13", "14"], X),
        ("map", ["5", "6"], X[:, :2]),
        ("labels", ["3"], np.repeat([1, 2, 3], 20)),
        ("batch", ["2"], np.tile([1, 2], 30)),
        ("covariate", ["0.5"], X[:, 3]),
        ("latent", ["1", "2"], X[:, 2:]),
    ]:
        pd.DataFrame(values, columns=columns).to_csv(tmp_path / f"{name}.csv", index=False)
    files = {name: str(tmp_path / f"{name}.csv") for name in ("labels", "batch", "latent")}
    ev = dreval.Evaluation(
        tmp_path / "data.csv",
        {"map": tmp_path / "map.csv"},
        covariates=str(tmp_path / "covariate.csv"),
        header=True,
        **files,
    ).with_embedding("again", str(tmp_path / "map.csv"))
    assert ev.data.columns == ("11", "12", "13", "14")
    assert (ev.data.labels.name, ev.data.batch.name, list(ev.data.covariates)) == ("3", "2", ["0.5"])
    assert np.array_equal(ev.data.latent, X[:, 2:])
    for name in ("map", "again"):
        assert np.array_equal(ev[name].coordinates(ev.data), X[:, :2])
    bare = tmp_path / "bare.csv"
    bare.write_text("a\n" * 20 + "b\n" * 40)
    assert dreval.Evaluation(X, labels=str(bare), header=False).data.labels.values.tolist() == ["a"] * 20 + ["b"] * 40


def test_header_is_checked() -> None:
    """Other values, and names read as data, raise errors with a remedy."""
    for invalid in ("yes", 1, None, 0.0, ["auto"]):
        with pytest.raises(InputError, match=r"`header` must be 'auto', True or False: .* Pass header=True if"):
            dreval.Evaluation(X, header=invalid) if invalid is not None else dreval.Study(
                "s", {"a": X}, "pca", header=invalid
            )


def test_names_of_text_are_not_read_as_data(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x,y\n" + pd.DataFrame(X[:, :2]).to_csv(index=False, header=False))
    with pytest.raises(InputError, match=r"`header` must not be False .*got 'x' above numbers .*pass header=True"):
        dreval.Evaluation(tmp_path / "t.csv", header=False)


def test_other_entry_points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``embed``, ``sweep``, ``Study`` and ``Protocol`` take ``header``; plain functions warn."""
    monkeypatch.chdir(tmp_path)
    Path("h.csv").write_text(f"{HEADERS['equal steps']}\n{BODY}")
    Path("t.csv").write_text("x,y\n" + pd.DataFrame(X[:, :2]).to_csv(index=False, header=False))
    assert dreval.embed("h.csv", "pca").shape == (60, 2)
    assert dreval.embed("h.csv", "pca", header=False).shape == (61, 2)
    with pytest.warns(InputWarning, match=r"400, 410, 420, .* was read as column names"):
        received = dreval.procrustes_disparity("h.csv", X[:, :2])
    assert received == pytest.approx(procrustes(X, np.hstack([X[:, :2], np.zeros((60, 2))]))[2], rel=1e-9)
    with pytest.warns(InputWarning, match=r"header=False"):
        assert dreval.Protocol("h.csv", n_transformations=2).data.n == 60
    assert dreval.Protocol("h.csv", n_transformations=2, header=False).data.n == 61
    for datasets, header, n in (({"h": {"data": "h.csv", "header": False}}, "auto", 61), ({"h": "h.csv"}, True, 60)):
        study = dreval.Study(f"s{n}.journal", datasets, {"pca": "pca"}, header=header)
        assert study.datasets["h"].n == n
    for header, n in ((True, 60), (False, 61)):
        result = dreval.sweep("h.csv", "pca", {"n_components": [1, 2]}, over="halves", header=header, random_state=0)
        assert result.recipe["n"] == n


def test_the_command_line_has_the_option(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Notes name ``--header``, and following them works."""
    monkeypatch.chdir(tmp_path)
    Path("h.csv").write_text(f"{HEADERS['equal steps']}\n{BODY}")
    Path("d.csv").write_text("400,410\n" + pd.DataFrame(X[:, :2]).to_csv(index=False, header=False))
    call = ["evaluate", "h.csv", "-e", "pca", "--measures", "trustworthiness", "--ci", "none", "--random-state", "0"]
    assert main(call) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "If it is data, pass --header no." in out
    assert ": 60 points" in out
    assert main([*call, "--header", "no"]) == 0
    assert ": 61 points" in capsys.readouterr().out
    assert main(["embed", "d.csv", "pca", "y.csv", "-d", "1"]) == 0
    out = capsys.readouterr().out
    assert "61 points" in out
    assert "pass --header yes." in out
    assert main(["embed", "d.csv", "pca", "y.csv", "-d", "1", "--header", "yes"]) == 0
    assert "60 points" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main([*call, "--header", "maybe"])
    assert "must be yes, no or auto" in capsys.readouterr().err


def test_semicolons_without_header_lose_no_row(tmp_path: Path) -> None:
    """Numbers with decimal commas are numbers: such a first row is a point, or wavelengths by the same rule."""
    text = BODY.replace(",", ";").replace(".", ",")
    (tmp_path / "bare.csv").write_text(text)
    (tmp_path / "named.csv").write_text("400,5;401,5;402,5;403,5\n" + text)
    assert np.array_equal(as_data(tmp_path / "bare.csv").X, X)
    data = as_data(tmp_path / "named.csv", header="auto")
    assert np.array_equal(data.X, X)
    assert codes(data.notes) == ["file.header_compared"]
    with pytest.warns(InputWarning, match=r"pandas\.read_csv\(path, sep=';', decimal=',', header=None\)"):
        assert as_data(tmp_path / "named.csv").n == 60
    frame = pd.read_csv(tmp_path / "named.csv", sep=";", decimal=",", header=None)
    assert as_data(frame).X[0].tolist() == [400.5, 401.5, 402.5, 403.5]


@pytest.mark.parametrize(
    ("text", "header", "code"),
    [
        ("a,5,3\nb,2,4\na,1,1\nb,7,8\na,2,9\n", False, "file.first_value"),  # the class "a" occurs below
        ("5.1,3.5,a\n4.9,3.0,a\n1.5,2.5,b\n3.5,9.5,b\n2.5,2.0,a\n", False, None),
        ("s0,5,3\ns1,2,4\ns2,1,1\ns3,7,8\ns4,2,9\n", False, "file.row"),  # "s0" is one of the ids
        ("gene,5,3\ns1,2,4\ns2,1,1\ns3,7,8\ns4,2,9\n", True, "file.header_compared"),
        ('"5","3","8"\n1,2,4\n3,1,1\n2,7,8\n8,2,9\n', True, "file.header"),  # quoted names, as R writes them
        ("5,6,7\n0.5,0.1,a\n0.7,0.2,b\n0.1,0.3,a\n0.3,0.4,b\n", True, "file.header_compared"),  # a number above text
    ],
)
def test_text_next_to_numbers(tmp_path: Path, text: str, header: bool, code: str | None) -> None:
    """Text that repeats below, or has the form of the ids, is not a name."""
    (tmp_path / "t.csv").write_text(text)
    table = read_table(tmp_path / "t.csv", reading=HeaderOptions("auto"))
    assert (table.columns is not None) == header
    assert codes(table.notes) == ([code] if code else [])


@pytest.mark.parametrize("high", [2, 9, 500, 0])
@pytest.mark.parametrize("header", ["400,400,401,402", "0,1,2", "1,2,3", "0,1", "1,2", "0"])
def test_a_header_that_could_be_a_point_is_never_silent(tmp_path: Path, header: str, high: int) -> None:
    """Numbers that repeat above fractions, and a count of up to three columns above integers: data, with a note."""
    rng = np.random.default_rng(2)
    p = header.count(",") + 1
    if (high == 0) != (p == 4):
        return
    values = rng.integers(0, high, (60, p)) if high else rng.normal(size=(60, p)).round(4)
    (tmp_path / "t.csv").write_text(header + "\n" + pd.DataFrame(values).to_csv(index=False, header=False))
    data = as_data(tmp_path / "t.csv", header="auto")
    assert data.n == 61
    assert "file.row" in codes(data.notes)
    if "400,400" in header:
        with pytest.raises(InputError, match="must have different column names"):
            as_data(tmp_path / "t.csv", header=True)
        return
    assert as_data(tmp_path / "t.csv", header=True).n == 60


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_a_frame_without_names_loses_no_point(tmp_path: Path, columns: int) -> None:
    """pandas writes 0, 1, 2 above them; the number of points of the data distinguishes this row from a point."""
    values = np.random.default_rng(3).integers(0, 50, (60, columns))
    pd.DataFrame(values).to_csv(tmp_path / "e.csv", index=False)
    pd.DataFrame(values).to_csv(tmp_path / "bare.csv", index=False, header=False)
    ev = dreval.Evaluation(X, {"e": tmp_path / "e.csv", "bare": tmp_path / "bare.csv"})
    for name, code in (("e", ["file.header"]), ("bare", [])):
        assert np.array_equal(ev[name].coordinates(ev.data), values)
        assert codes(ev[name].notes) == code


@pytest.mark.parametrize("top", ["400,,420,430", "1,,3,4", ",410,420,430", "400,,430"])
def test_a_header_of_numbers_with_an_empty_name(tmp_path: Path, top: str) -> None:
    """An empty cell above a complete column, next to numbers unlike those below: names of columns, with a note."""
    p = top.count(",") + 1
    (tmp_path / "h.csv").write_text(top + "\n" + pd.DataFrame(X[:, :p]).to_csv(index=False, header=False))
    if top.startswith(","):  # the first column has the row names, with values that repeat
        with pytest.raises(InputError, match="column 'Unnamed: 0'"):
            as_data(tmp_path / "h.csv", header="auto")
        return
    data = as_data(tmp_path / "h.csv", header="auto")
    assert np.array_equal(data.X, X[:, :p])
    assert [cell for cell in top.split(",") if cell] == [name for name in data.columns if "Unnamed" not in name]
    assert codes(data.notes) == ["file.header_compared"]


def test_an_empty_cell_of_data_is_not_a_name(tmp_path: Path) -> None:
    """Below other empty cells, and as the only reason, it is data: of labels, where a value may be missing."""
    kinds = ["", *list("ab") * 10]
    (tmp_path / "l.csv").write_text("".join(f"{i % 3},{kind}\n" for i, kind in enumerate(kinds)))
    table = read_table(tmp_path / "l.csv", reading=HeaderOptions("auto", 21))
    assert (table.columns, len(table.values)) == (None, 21)


def test_the_reasons_are_codes_of_notes() -> None:
    """The texts of the reasons are in the table of notes."""
    assert {str(note(reason.value)) for reason in Reason} == {
        note_table.codes()[reason.value].sentence for reason in Reason
    }


@pytest.mark.parametrize("role", ["embedding", "labels", "latent", "covariates"])
@pytest.mark.parametrize("missing", [False, True])
def test_one_row_more_or_less_names_the_header(tmp_path: Path, role: str, missing: bool) -> None:
    """If the first row of the file was misread, the advice of the error gives as many rows as the data have."""
    values = np.random.default_rng(5).integers(10, 40, (60, 2))
    values[0] = [17, 23]
    rows = values.tolist() if missing else [[17, 23], *values.tolist()]
    path = tmp_path / "t.csv"
    path.write_text("".join(f"{a},{b}\n" if role != "labels" else f"{a}\n" for a, b in rows))
    wrong, right = missing, not missing

    def use(header: Any) -> Any:
        if role != "embedding":
            return dreval.Evaluation(X, header=header, **{role: str(path)})
        ev = dreval.Evaluation(X, {"e": path}, header=header)
        return ev["e"].coordinates(ev.data)

    with pytest.raises(InputError, match=rf"{59 if missing else 61} rows for 60 points.*'t\.csv' has.*header={right}"):
        use(wrong)
    use(right)


def test_the_hint_names_the_header_of_the_data_if_it_explains_the_rows(tmp_path: Path) -> None:
    """One row more in the data than in the embedding; text above numbers cannot be data, and is not."""
    (tmp_path / "d.csv").write_text("17,23,19\n" + pd.DataFrame(X[:, :3] + 20).to_csv(index=False, header=False))
    for header, remedy in (("auto", "pass header=True"), (True, None)):
        ev = dreval.Evaluation(tmp_path / "d.csv", {"e": X[:, :2]}, header=header)
        if remedy is None:
            assert np.array_equal(ev["e"].coordinates(ev.data), X[:, :2])
            continue
        with pytest.raises(InputError, match=r"If the first row of the file of the data has the names"):
            ev["e"].coordinates(ev.data)
    with (
        pytest.warns(InputWarning, match="17, 23, 19"),
        pytest.raises(InputError, match=r"read it with pandas\.read_csv\(path\) and pass the frame"),
    ):
        dreval.trustworthiness(tmp_path / "d.csv", X[:, :2])
    pd.DataFrame(X[1:, :2], columns=["x", "y"]).to_csv(tmp_path / "e.csv", index=False)
    ev = dreval.Evaluation(X, {"e": tmp_path / "e.csv"})
    with pytest.raises(InputError, match="59 rows for 60 points") as error:
        ev["e"].coordinates(ev.data)
    assert "first row" not in str(error.value)


@pytest.mark.parametrize(("header", "n"), [("auto", 60), (False, 61), (True, 60)])
def test_the_recipe_has_the_header(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, header: Any, n: int) -> None:
    """The call that reproduces a result has the header, and a loaded result reads the file like the evaluation."""
    monkeypatch.chdir(tmp_path)
    Path("h.csv").write_text(f"{HEADERS['equal steps']}\n{BODY}")
    data = dreval.Evaluation("h.csv", header=header).data
    results = dreval.Evaluation("h.csv", {"e": data.X[:, :2]}, header=header, random_state=0).run("stress", None, None)
    assert (results.recipe["header"], results.recipe["n"]) == (header, n)
    assert (f"header={header}" in results.recipe["call"]) == isinstance(header, bool)
    results.save("r.dreval")
    loaded = dreval.load_results("r.dreval")
    assert loaded.recipe["header"] == header
    with warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always")
        certificate = loaded.certificate("e", data="h.csv", n_resamples=19)
    assert [warning.category for warning in records] == ([InputWarning] if header == "auto" else [])
    assert certificate.held_out == results.certificate("e", n_resamples=19).held_out


def test_a_sweep_reads_the_file_consistently(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if seeds have no effect, and it continues with halves; the call names the header."""
    monkeypatch.chdir(tmp_path)
    Path("h.csv").write_text(f"{HEADERS['equal steps']}\n{BODY}")

    def method(X: Any, n_components: int, scale: float = 1.0, random_state: Any = None) -> Any:
        return X[:, :n_components] * [1, scale]

    for header, n in (("auto", 60), (False, 61)):
        result = dreval.sweep("h.csv", method, {"scale": [1.0, 5.0]}, n_replicates=3, header=header, random_state=0)
        assert (result.over, result.recipe["n"]) == ("halves", n)
        assert ("header=False" in result.recipe["call"]) == (header is False)


def test_names_that_look_like_the_values_below_are_a_point(tmp_path: Path) -> None:
    """Gene numbers above integers of thousands are read as data without a note; a number of rows shows the header."""
    rng = np.random.default_rng(0)
    values = np.rint(np.cumsum(rng.normal(size=(60, 5)), 0) * 1000).astype(int)
    path = tmp_path / "genes.csv"
    pd.DataFrame(values, columns=[7157, 672, 675, 1956, 5290]).to_csv(path, index=False)
    record = as_data(path)
    assert record.n == 61
    assert not [note for note in record.notes if note.code.startswith("file.")]
    with pytest.raises(
        InputError, match=r"If the first row of the file of the data has the names of its columns, pass"
    ):
        dreval.Evaluation(path, labels=np.arange(60) // 20)
    with pytest.raises(
        InputError, match=r"If the first row of the file of the data has the names of its columns, pass"
    ):
        dreval.Evaluation(path, {"e": values[:, :2]})["e"].coordinates(dreval.Evaluation(path).data)
    record = as_data(path, header=True)
    assert np.array_equal(record.X, values)
    assert record.columns == ("7157", "672", "675", "1956", "5290")
