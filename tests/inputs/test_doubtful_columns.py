"""Columns of an embedding that are not coordinates get a note or an error, or are excluded by names behind the path."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr
from sklearn.manifold import trustworthiness

import dreval
from dreval.cli._main import main
from dreval.errors import InputError, InputWarning, MethodFailed, UnknownName
from dreval.inputs.coordinates import MIN_SPREAD_RATIO
from dreval.inputs.data import as_data
from dreval.inputs.source import as_source

N, K = 60, 15
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 4)) + np.repeat([0, 1, 2], 20)[:, None]
Y = X[:, :2] + 0.2 * RNG.normal(size=(N, 2))
COUNTS = RNG.gamma(2, 2000, N)
ORDER = RNG.permutation(N)
SHARES = np.random.default_rng(7).dirichlet([1, 1, 1], N)
IDS = RNG.permutation(9000)[:N] + 1000
DATA = pd.DataFrame(X, columns=list("abcd"))
MAP = pd.DataFrame(Y, columns=["x", "y"])


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def value_of(data: Any, embedding: Any, **settings: Any) -> float:
    """Return the trustworthiness at 15 neighbors."""
    results = dreval.Evaluation(data, {"u": embedding}, random_state=0, **settings).run("trustworthiness", None, None)
    return float(results.table["value"].iloc[0])


def doubts_of(embedding: Any, data: Any = X) -> dict[str, tuple[str, ...]]:
    """Return the columns of the note on an embedding, by the reason."""
    source = as_source(embedding, "u", as_data(data))
    result = [note for note in source.notes if note.code == "source.doubtful"]
    assert len(result) <= 1
    return {doubt.code: dict(doubt.values)["columns"] for entry in result for doubt in dict(entry.values)["doubts"]}


def returns(value: Any) -> Callable[..., Any]:
    """Return a method that returns the same value for all data."""

    def method(points: Any, n_components: int) -> Any:
        return value

    return method


def in_form(frame: pd.DataFrame, form: str) -> Any:
    """Return a frame in another container."""
    if form == "polars":
        return pytest.importorskip("polars").from_pandas(frame)
    if form == "frame":
        return frame
    if form == "parquet":
        frame.to_parquet("e.parquet")
        return "e.parquet"
    frame.to_csv(f"e.{form}", index=False, sep="\t" if "tsv" in form else ",")
    return f"e.{form}"


FORMS = ["frame", "csv", "csv.gz", "tsv", "tsv.gz", "parquet", "polars"]


@pytest.mark.parametrize("form", FORMS)
def test_a_column_of_other_spread_is_named_where_it_is_read(form: str) -> None:
    """The value uses all columns; the note is printed, and its advice gives the value of the coordinates."""
    table = MAP.assign(nCount=COUNTS)
    results = dreval.Evaluation(X, {"u": in_form(table, form)}, random_state=0).run("trustworthiness", None, None)

    expected = trustworthiness(X, table.to_numpy(), n_neighbors=K)
    assert results.table["value"].iloc[0] == pytest.approx(expected, abs=1e-12)
    ratio = COUNTS.std() / Y.std(axis=0).max()
    assert ratio > MIN_SPREAD_RATIO
    advice = "frame[['x', 'y']]" if form in ("frame", "polars") else f"'e.{form}:x,y'"
    text = " ".join(str(results).split())
    assert (
        f"'nCount' varies {ratio:,.0f} times as much as the other columns (if it holds the coordinates, leave" in text
    )
    assert f"If they are not coordinates, pass {advice}." in text
    results.report("page.html")
    assert "nCount" in Path("page.html").read_text()
    cured = f"e.{form}:x,y" if "e." in advice else table[["x", "y"]]
    assert value_of(X, cured) == pytest.approx(trustworthiness(X, Y, n_neighbors=K), abs=1e-12)
    assert doubts_of(cured) == {}


@pytest.mark.parametrize(
    ("columns", "reasons"),
    [
        ({"nCount": COUNTS, "nFeature": COUNTS / 3}, {"column.spread": ("'nCount'", "'nFeature'")}),
        ({"age": RNG.integers(20, 80, N)}, {"column.integers": ("'age'",)}),
        ({"male": RNG.integers(0, 2, N) == 1}, {"column.integers": ("'male'",)}),
        ({"barcode_key": IDS}, {"column.names_rows": ("'barcode_key'",)}),
        ({"key": np.arange(1, N + 1)}, {"column.names_rows": ("'key'",)}),
        ({"key": ORDER.astype(float)}, {"column.names_rows": ("'key'",)}),
        ({"c": X[:, 2]}, {"column.of_data": ("'c'",)}),
        ({"c": X[:, 2].round(9)}, {"column.of_data": ("'c'",)}),
        (
            {"d": X[:, 3], "key": IDS, "age": np.arange(N) // 2, "total": COUNTS},
            {
                "column.of_data": ("'d'",),
                "column.names_rows": ("'key'",),
                "column.integers": ("'age'",),
                "column.spread": ("'total'",),
            },
        ),
        ({"c": X[ORDER, 2]}, {}),  # the name alone does not make a copy
        ({"z": X[:, 2]}, {"column.copied": ("'z'",)}),  # a copy under another name
        ({"pa": SHARES[:, 0], "pb": SHARES[:, 1], "pc": SHARES[:, 2]}, {"column.shares": ("'pa'", "'pb'", "'pc'")}),
        ({"p": SHARES[:, 0].round(3), "q": 1 - SHARES[:, 0].round(3)}, {"column.shares": ("'p'", "'q'")}),
        (
            {"t": 100 * SHARES[:, 0], "u": 100 * SHARES[:, 1], "v": 100 * SHARES[:, 2], "s": SHARES[::-1, 0]},
            {"column.shares": ("'t'", "'u'", "'v'")},  # not the column with the same range
        ),
        ({"pa": SHARES[:, 0], "pb": SHARES[:, 1]}, {}),  # a part of the shares
        ({"constant": np.full(N, 7)}, {}),
        ({"z": 90 * Y[:, 0]}, {}),  # below the ratio
        ({"z": 1e-17 * RNG.normal(size=N) + 0.0158}, {}),  # constant up to rounding, as the first of a diffusion map
    ],
)
@pytest.mark.parametrize("form", ["frame", "csv"])
def test_each_reason_and_valid_columns(columns: dict[str, Any], reasons: dict[str, Any], form: str) -> None:
    """A column has the first reason that applies; valid coordinates have none."""
    assert doubts_of(in_form(MAP.assign(**columns), form), DATA) == reasons


def test_arrays_have_numbers_of_columns() -> None:
    """Columns without names are called by their numbers, and the suggested selection works."""
    table = np.column_stack([Y, COUNTS, RNG.integers(20, 80, N)])
    assert doubts_of(table) == {"column.integers": ("column 3",), "column.spread": ("column 2",)}
    source = as_source(table, "u", as_data(X))
    assert "pass array[:, [0, 1]]." in str(source.notes[0])
    np.save("e.npy", table)
    assert doubts_of("e.npy") == doubts_of(table)
    source = as_source("e.npy", "u", as_data(X))
    advice = str(source.notes[0]).split("pass ")[-1].rstrip(".")
    assert np.array_equal(eval(advice, {"numpy": np}), Y)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet"])
def test_the_hint_to_leave_columns_out_of_a_file_works(suffix: str) -> None:
    """Also for a file without header, whose columns have numbers, and next to a column of row names."""
    table = pd.DataFrame(np.column_stack([Y, COUNTS]))
    if suffix == "parquet":
        table.columns = ["x", "y", "n"]
        table.to_parquet("e.parquet")
    else:
        table.to_csv(f"e.{suffix}", index=False, header=False, sep="\t" if suffix == "tsv" else ",")
    source = as_source(f"e.{suffix}", "u", as_data(X))
    advice = str(source.notes[-1]).split("pass ")[-1].rstrip(".").strip("'")
    assert advice == ("e.parquet:x,y" if suffix == "parquet" else f"e.{suffix}:0,1")
    assert np.array_equal(as_source(advice, "u", as_data(X)).coordinates(as_data(X)), Y)


def test_no_selection_is_suggested_if_no_column_would_remain() -> None:
    """One column has the name of a variable, and the other holds integers."""
    record = as_data(X, covariates={"kind": COUNTS})
    (message,) = as_source(pd.DataFrame({"kind": Y[:, 0], "age": ORDER // 2}), "u", record).notes
    assert str(message).endswith("If they are not coordinates, pass a table of the columns that are coordinates.")


def test_a_copy_of_a_feature_is_found_in_any_order_and_form() -> None:
    """It is found by its values, in sparse features and others, after rows were matched by name or without names."""
    from scipy import sparse

    names = [f"c{i}" for i in range(N)]
    table = pd.DataFrame({"x": Y[:, 0], "gene": X[:, 1]}, names).iloc[ORDER]
    assert doubts_of(table, pd.DataFrame(X, names)) == {"column.copied": ("'gene'",)}
    assert doubts_of(np.column_stack([Y, X[:, 1]])) == {"column.copied": ("column 2",)}
    assert doubts_of(np.column_stack([Y, X[:, 1]]), sparse.csr_array(X)) == {"column.copied": ("column 2",)}
    assert doubts_of(np.column_stack([Y, X[ORDER, 1]])) == {}
    assert doubts_of(X[:, 1:3]) == {}  # columns selected from the data
    assert doubts_of(np.column_stack([X[:, 1:3], COUNTS])) == {"column.spread": ("column 2",)}
    assert doubts_of(DATA[["a", "b"]].assign(age=np.arange(N) // 2), DATA) == {"column.integers": ("'age'",)}
    assert doubts_of(SHARES) == {}  # shares alone are the embedding
    source = as_source(np.column_stack([Y, X[:, 1]]), "u", as_data(DATA))
    assert "column 2 has the values of 'b' in the data" in str(source.notes[0])


VARIABLES = {
    "numbers": (COUNTS, COUNTS, True),
    "another unit": (COUNTS, 12 * COUNTS + 3, True),
    "other numbers": (COUNTS, COUNTS[ORDER], False),
    "classes": (np.repeat(list("abc"), 20), np.repeat(["x", "y", "z"], 20), True),
    "codes of classes": (np.repeat(list("abc"), 20), np.repeat([0.5, 1.5, 2.5], 20), True),
    "a coordinate": (np.repeat(list("abc"), 20), Y[:, 1], False),
}


@pytest.mark.parametrize("case", VARIABLES)
@pytest.mark.parametrize("by_name", [False, True])
def test_a_column_of_the_name_of_a_variable_must_have_its_values(case: str, by_name: bool) -> None:
    """It is left out with a note only if it has; else it stays a coordinate, and is named as doubtful."""
    variable, column, equal = VARIABLES[case]
    names = [f"c{i}" for i in range(N)]
    order = ORDER if by_name else np.arange(N)
    table = MAP.assign(kind=column)
    table = table.set_axis(names).iloc[order] if by_name else table
    record = as_data(pd.DataFrame(X, names) if by_name else X, covariates={"kind": variable})
    source = as_source(table, "u", record)
    expected = Y if equal else np.column_stack([Y, column])
    assert np.array_equal(source.coordinates(record), expected)
    result = [note for note in source.notes if note.code.startswith("source.")]
    assert [note.code for note in result] == ["source.column" if equal else "source.doubtful"]
    if not equal:
        assert doubts_of(table, record) == {"column.of_variable": ("'kind'",)}


def test_the_error_for_columns_that_are_not_numbers_has_a_selection_that_works() -> None:
    """Names of rows, classes and both: the argument ``ids`` is named only where the data have the column."""
    names = [f"c{i}" for i in range(N)]
    for columns in ({"cell": names}, {"cell": np.repeat(list("ab"), 30)}, {"cell": names, "kind": list("ab") * 30}):
        MAP.assign(**columns).to_csv("e.csv", index=False)
        with pytest.raises(InputError, match=r"ass 'e\.csv:x,y', which leaves") as error:
            as_source("e.csv", "u", as_data(X))
        assert "ids=" not in str(error.value)
        assert ("If it names the rows, give the data the same names" in str(error.value)) == (columns["cell"] is names)
    assert np.array_equal(as_source("e.csv:x,y", "u", as_data(X)).coordinates(as_data(X)), Y)
    frame = MAP.assign(cell=names).iloc[ORDER].reset_index(drop=True)
    record = as_data(pd.DataFrame(X, names))
    assert np.array_equal(as_source(frame, "u", record).coordinates(record), Y)  # the advice of the sentence
    MAP.assign(cell=IDS).to_csv("e.csv", index=False)
    with pytest.raises(InputError, match=r"same ids, too\. Only if .* order of the data, pass 'e\.csv:x,y'"):
        as_source("e.csv", "u", as_data(X))
    with pytest.raises(InputError, match=r"row ids in column 'cell'\. Pass ids='cell' with the data"):
        as_source("e.csv", "u", as_data(DATA.assign(cell=IDS)))


def test_the_fewer_columns_of_another_spread_are_doubtful() -> None:
    """A narrow column next to two coordinates is advised to be left out, not the coordinates; both readings are named.

    A wide one next to them is doubtful, and of one each the wide one.
    """
    score = RNG.normal(0.5, 1e-4, N)
    table = MAP.assign(score=score)
    assert doubts_of(table) == {"column.narrow": ("'score'",)}
    note = next(note for note in as_source(table, "u", as_data(X)).notes if note.code == "source.doubtful")
    ratio = Y.std(axis=0).min() / score.std()
    assert f"the other columns vary {ratio:,.0f} times as much as 'score' (if it holds the coordinates, leave" in str(
        note
    )
    assert str(note).endswith("If they are not coordinates, pass frame[['x', 'y']].")
    assert doubts_of(MAP.assign(z=COUNTS)) == {"column.spread": ("'z'",)}
    assert doubts_of(MAP[["x"]].assign(score=score)) == {"column.spread": ("'x'",)}
    assert doubts_of(MAP.assign(z=Y[:, 0] / 2, score=score, other=RNG.normal(0, 1e-4, N))) == {
        "column.narrow": ("'score'", "'other'")
    }
    assert doubts_of(MAP.assign(z=Y[:, 0] / 2)) == {}


@pytest.mark.parametrize("start", [0, 1])
@pytest.mark.parametrize("form", ["frame", "csv"])
def test_row_numbers_become_the_ids_of_the_data_as_the_error_advises(form: str, start: int) -> None:
    """The advice to match rows comes first; leaving the column out is advised only for rows in order."""
    table = MAP.assign(id=np.arange(N) + start).iloc[ORDER].reset_index(drop=True)
    ids = range(start, start + N)
    hint = f"{start} to {start + 59} as a vector, or as a column with ids='id'"
    for data in (X, DATA):
        with pytest.raises(InputError) as error:
            as_source(in_form(table, form), "u", as_data(data))
        text = str(error.value)
        assert f"give the data these ids, {hint}, to match rows by it. Only if the rows are in" in text
        for record in (as_data(data, ids=ids), as_data(DATA.assign(id=[*ids]), ids="id")):
            assert np.array_equal(as_source(in_form(table, form), "u", record).coordinates(record), Y)


def test_row_numbers_of_a_returned_frame_become_its_index_as_the_error_advises() -> None:
    """A function with rows without names returns their numbers as the index, which is matched."""
    table = MAP.assign(id=np.arange(N)).iloc[ORDER].reset_index(drop=True)
    record = as_data(X)
    with pytest.raises(
        MethodFailed, match=r"return frame\.set_index\('id'\) to match rows by it\. Only if .*, return frame\["
    ):
        as_source(returns(table), "u", record).coordinates(record)
    assert np.array_equal(as_source(returns(table.set_index("id")), "u", record).coordinates(record), Y)
    names = [f"c{i}" for i in range(N)]
    with pytest.raises(MethodFailed, match=r"give the data the same names, too.* Only if the rows are in the order"):
        as_source(returns(table.assign(id=[names[i] for i in table["id"]])), "u", record).coordinates(record)


def test_valid_coordinates_have_no_note() -> None:
    """One column, a grid of integers, principal components, and columns selected from the data."""
    assert doubts_of(pd.DataFrame({"score": COUNTS})) == {}
    assert doubts_of(pd.DataFrame(RNG.integers(0, 30, (N, 2)), columns=["i", "j"])) == {}
    centered = X * [1e3, 50, 3, 0.2] - (X * [1e3, 50, 3, 0.2]).mean(axis=0)
    u, s, _ = np.linalg.svd(centered, full_matrices=False)
    assert s[0] / s[-1] > MIN_SPREAD_RATIO  # in three steps
    assert doubts_of(pd.DataFrame(u * s, columns=["PC1", "PC2", "PC3", "PC4"])) == {}
    assert doubts_of(np.column_stack([u[:, :2] * s[:2], 1e-16 * u[:, 2] * s[0]])) == {}


@pytest.mark.parametrize("form", ["frame", "csv", "parquet"])
def test_a_feature_of_different_integers_is_a_coordinate_where_columns_are_selected(form: str) -> None:
    """A map of columns of the data has all of them, without a note, and so do the data."""
    data = DATA.assign(population=IDS)
    chosen = data[["population", "a"]]
    assert doubts_of(in_form(chosen, form), data) == {}
    expected = trustworthiness(data.to_numpy(), chosen.to_numpy(), n_neighbors=K)
    assert value_of(data, in_form(chosen, form)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("form", ["csv", "tsv", "csv.gz", "parquet", "frame", "polars"])
@pytest.mark.parametrize("order", [np.arange(N), ORDER])
def test_an_id_column_in_both_tables_raises_an_error_and_its_hint_works(form: str, order: Any) -> None:
    """In any order of rows, `ids` removes it from the features and the coordinates, and matches rows."""
    data, table = DATA.assign(gene_id=IDS), MAP.assign(gene_id=IDS).iloc[order].reset_index(drop=True)
    table = in_form(table, form)
    with pytest.raises(InputError, match=r"the column 'gene_id' of the data.* pass ids='gene_id'"):
        value_of(data, table)
    expected = trustworthiness(X, Y, n_neighbors=K)
    assert value_of(data, table, ids="gene_id") == pytest.approx(expected, abs=1e-12)
    if form == "frame":
        with pytest.raises(InputError, match=r"`Y` must hold coordinates only"):
            dreval.trustworthiness(data, table)
        assert dreval.trustworthiness(data.set_index("gene_id"), table.set_index("gene_id")) == pytest.approx(expected)
        assert dreval.trustworthiness(DATA, table[["x", "y"]].iloc[np.argsort(order)].to_numpy()) == pytest.approx(
            expected
        )


def test_a_table_with_numbered_patients(shared_data: Path) -> None:
    """The ids of patients in both files, not called id, are neither feature nor coordinate: values of scikit-learn."""
    table = np.load(shared_data / "wdbc.npz", allow_pickle=False)
    raw = pd.read_csv(shared_data / "raw" / "wdbc.data", header=None)
    patients, features = raw[0].to_numpy(), raw.iloc[:, 2:].to_numpy(float)
    np.testing.assert_array_equal(features, table["X"])
    scaled = (features - features.mean(axis=0)) / features.std(axis=0)
    u, s, _ = np.linalg.svd(scaled, full_matrices=False)
    scores, order = u[:, :2] * s[:2], np.random.default_rng(1).permutation(len(raw))
    names = [f"f{j}" for j in range(30)]
    pd.DataFrame(scaled, columns=names).assign(patient_key=patients).to_csv("d.csv", index=False)
    frame = pd.DataFrame(scores, columns=["pc1", "pc2"])
    frame.insert(0, "patient_key", patients)
    frame.iloc[order].to_csv("e.csv", index=False)
    with pytest.raises(InputError, match=r"got the column 'patient_key' of the data"):
        as_source("e.csv", "u", as_data("d.csv"))
    expected = trustworthiness(scaled, scores, n_neighbors=K)
    ev = dreval.Evaluation("d.csv", {"u": "e.csv"}, ids="patient_key", random_state=0)
    result = ev.run("trustworthiness", None, None).table["value"].iloc[0]
    assert result == pytest.approx(expected, abs=1e-9)
    with_ids = trustworthiness(np.c_[scaled, patients], np.c_[scores, patients], n_neighbors=K)
    assert with_ids > 0.999 > expected  # the value with the repeated column


def test_many_notes_on_the_data_do_not_hide_the_columns() -> None:
    """The note is printed before other notes of its weight, for each of three embeddings."""
    data = pd.DataFrame({"big": 1e3 * X[:, 0], "id": IDS, "b": X[:, 1], "c": X[:, 2]})
    data["sick"] = np.arange(N) % 2 == 0
    maps = {name: MAP.assign(**{f"n_{name}": COUNTS}) for name in "uvw"}
    kinds = ["p", "p ", "q"] * 20
    results = dreval.Evaluation(data, maps, labels=kinds, random_state=0).run("trustworthiness", None, None)
    text = str(results)
    assert sum(note.severity == "limit" for note in as_data(data, labels=kinds).notes) >= 3
    assert any(f"n_{name}" in text for name in "uvw")
    assert all(f"'n_{name}' varies" in " ".join(str(results.summary(full=True)).split()) for name in "uvw")


def test_functions_without_notes_warn() -> None:
    """A function that returns a number has only warnings to report it."""
    table = MAP.assign(nCount=COUNTS)
    with pytest.warns(InputWarning, match=r"`Y` may have columns that are not coordinates.*'nCount' varies"):
        dreval.trustworthiness(X, table)
    with pytest.warns(InputWarning, match="'nCount' varies"):
        dreval.trustworthiness(X, returns(table))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dreval.trustworthiness(X, table[["x", "y"]])


def test_frames_that_functions_return_are_checked_and_estimators_are_not() -> None:
    """A function may return metadata; an estimator returns what it computed."""
    from sklearn.decomposition import PCA

    table = MAP.assign(nCount=COUNTS)
    ev = dreval.Evaluation(X, {"f": returns(table)}, random_state=0)
    results = ev.run("trustworthiness", None, None)
    assert "f: `embeddings['f']` may have columns" in " ".join(str(results).split())
    scaled = X * [1e5, 1, 1, 1]
    pca = dreval.Evaluation(scaled, {"p": PCA(2).set_output(transform="pandas")}, random_state=0)
    assert "source.doubtful" not in set(pca.run("trustworthiness", None, None).notes["code"])
    data = as_data(DATA.assign(gene_id=IDS))
    source = as_source(returns(MAP.assign(gene_id=IDS)), "f", data)
    with pytest.raises(dreval.errors.MethodFailed, match="'gene_id' of the data"):
        source.coordinates(data)


def test_the_batch_of_the_data_is_not_a_coordinate() -> None:
    """As the labels and covariates of the data, it is left out by its name, with a note."""
    batch = np.arange(N) % 3
    DATA.assign(run=batch).to_csv("d.csv", index=False)
    MAP.assign(run=batch).to_csv("e.csv", index=False)
    record = as_data("d.csv", batch="run")
    source = as_source("e.csv", "u", record)
    assert np.array_equal(source.coordinates(record), Y)
    assert [str(note) for note in source.notes if note.code == "source.column"] == [
        "`embeddings['u']` has the column 'run' of the data, which was left out."
    ]


@pytest.mark.parametrize("form", FORMS[1:6])
def test_columns_after_a_path_are_read_in_that_order(form: str) -> None:
    """The columns of an embedding, of data, of latent variables, and of covariates; spaces around names are ignored."""
    path = in_form(MAP.assign(nCount=COUNTS, kind=list("ab") * 30), form)
    record = as_data(X)
    assert np.array_equal(as_source(f"{path}:y,x", "u", record).coordinates(record), Y[:, ::-1])
    assert np.array_equal(as_source(f"{path}:x, y", "u", record).coordinates(record), Y)
    data = as_data(f"{path}:x,y", labels="kind")
    assert data.columns == ("x", "y")
    assert data.labels.values.tolist() == list("ab") * 30
    assert as_data(f"{path}:y", labels="kind").columns == ("y",)
    assert np.array_equal(as_data(X, latent=f"{path}:y,nCount").latent, np.c_[Y[:, 1], COUNTS])
    assert list(as_data(X, covariates=f"{path}:nCount,kind").covariates) == ["nCount", "kind"]
    with pytest.raises(InputError, match=r"`labels` must be one value per point: got 2 columns \(x, kind\)"):
        as_data(X, labels=f"{path}:x,kind")


def test_names_with_commas_and_wrong_names() -> None:
    """The whole text as one name takes precedence; quotes keep a comma; unknown names get the nearest one."""
    pd.DataFrame({"x,y": X[:, 0], "x": X[:, 1], "y": X[:, 2], "a, b": X[:, 3]}).to_csv("e.csv", index=False)
    record = as_data(X)

    def columns(text: str) -> list[list[float]]:
        return as_source(text, "u", record).coordinates(record).T.tolist()

    assert columns("e.csv:x,y") == [X[:, 0].tolist()]
    assert columns('e.csv:x,"x,y"') == [X[:, 1].tolist(), X[:, 0].tolist()]
    assert columns('e.csv:"a, b",y') == [X[:, 3].tolist(), X[:, 2].tolist()]
    assert columns("e.csv:y,x") == [X[:, 2].tolist(), X[:, 1].tolist()]
    pd.DataFrame({"umap_1": Y[:, 0], "umap_2": Y[:, 1]}).to_csv("u.csv", index=False)
    with pytest.raises(UnknownName, match=r"got 'umap2'\. Did you mean 'umap_2'\? Known: umap_1, umap_2\."):
        as_source("u.csv:umap_1,umap2", "u", record)
    for text in ("u.csv:umap_1,umap_1", "u.csv:umap_1,", "u.csv:,umap_1"):
        with pytest.raises(InputError, match="Name each column once"):
            as_source(text, "u", record)


def test_ids_next_to_selected_columns_match_rows() -> None:
    """The column that names the rows is found among those that are not selected, as next to one column."""
    names = [f"g{j}" for j in range(N)]
    MAP.assign(cell=names, nCount=COUNTS).iloc[ORDER].to_csv("e.csv", index=False)
    record = as_data(pd.DataFrame(X, names))
    source = as_source("e.csv:x,y", "u", record)
    assert np.array_equal(source.coordinates(record), Y)
    assert "were matched to the data by the ids in 'cell'" in str(source.notes[-1])


def test_the_command_line_selects_columns(capsys: pytest.CaptureFixture[str]) -> None:
    """The text is the same as in Python, with and without a name; an id column in both files raises an error."""
    DATA.assign(gene_id=IDS).to_csv("d.csv", index=False)
    MAP.assign(gene_id=IDS, nCount=COUNTS).iloc[ORDER].to_csv("e.csv", index=False)
    options = ["--measures", "trustworthiness", "--tests", "none", "--ci", "none", "--json", "--random-state", "0"]
    assert main(["evaluate", "d.csv", "--ids", "gene_id", "-e", "umap=e.csv:x,y", *options]) == 0
    row = json.loads(capsys.readouterr().out)["table"][0]
    assert row["embedding"] == "umap"
    assert row["value"] == pytest.approx(trustworthiness(X, Y, n_neighbors=K), abs=1e-9)
    assert main(["evaluate", "d.csv:a,b,c,d", "-e", "e.csv:x,y", *options]) == 0
    row = json.loads(capsys.readouterr().out)["table"][0]
    shuffled = trustworthiness(X, Y[ORDER], n_neighbors=K)
    assert (row["embedding"], row["value"]) == ("e", pytest.approx(shuffled, abs=1e-9))
    main(["evaluate", "d.csv", "-e", "umap=e.csv", *options])
    assert "pass --ids gene_id with the data" in capsys.readouterr().err


def test_row_numbers_become_a_column_of_ids_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    """The advice can be typed, and gives the value of rows in order."""
    DATA.to_csv("d.csv", index=False)
    DATA.assign(id=np.arange(N) + 1).to_csv("numbered.csv", index=False)
    MAP.assign(id=np.arange(N) + 1).iloc[ORDER].to_csv("e.csv", index=False)
    options = ["--measures", "trustworthiness", "--tests", "none", "--ci", "none", "--json", "--random-state", "0"]
    main(["evaluate", "d.csv", "-e", "umap=e.csv", *options])
    assert "1 to 60 as a vector, or as a column with --ids id, to match rows by it" in capsys.readouterr().err
    assert main(["evaluate", "numbered.csv", "--ids", "id", "-e", "umap=e.csv", *options]) == 0
    row = json.loads(capsys.readouterr().out)["table"][0]
    assert row["value"] == pytest.approx(trustworthiness(X, Y, n_neighbors=K), abs=1e-9)


def test_the_ratio_of_the_note_is_that_of_standard_deviations() -> None:
    """In blocks of rows, for columns far from zero, too."""
    n = 3000
    wide = np.random.default_rng(3).normal(size=(n, 2)) + 1e6
    table = np.column_stack([wide, 1e7 + 4000 * np.random.default_rng(4).normal(size=n)])
    source = as_source(table, "u", as_data(np.random.default_rng(5).normal(size=(n, 3))))
    (doubt,) = dict(source.notes[0].values)["doubts"]
    expected = table[:, 2].std() / table[:, :2].std(axis=0).max()
    assert dict(doubt.values)["ratio"] == pytest.approx(expected, rel=1e-6)
    assert spearmanr(table[:, 2], source.values[:, 2]).statistic == pytest.approx(1)


def test_copies_next_to_a_constant_are_the_coordinates() -> None:
    """Without them no column varies, so that no note advises to leave them out."""
    frame = pd.DataFrame({"x": X[:, 0], "y": X[:, 1], "const": 0.1})
    assert [note.code for note in as_source(frame, "u", as_data(X)).notes if note.code == "source.doubtful"] == []
    frame["const"] = np.random.default_rng(1).normal(size=N)
    assert "source.doubtful" in [note.code for note in as_source(frame, "u", as_data(X)).notes]
