"""Rows are matched by the column of a file that names them, and by the names of the frame that a function returns."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.manifold import trustworthiness
from sklearn.metrics import silhouette_score

import dreval
from dreval.cli._main import main
from dreval.errors import InputError, InputWarning, MethodFailed
from dreval.inputs.data import Data, as_data
from dreval.inputs.source import as_source

N = 60
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 4)) + np.repeat([0, 1, 2], 20)[:, None]
Y = X[:, :2] + 0.2 * RNG.normal(size=(N, 2))
KINDS = np.repeat(list("abc"), 20)
AGE = RNG.normal(size=N)
NAMES = [f"c{j}-1" for j in range(N)]
BARE = [f"c{j}" for j in range(N)]
ORDER = RNG.permutation(N)
CELLS = pd.DataFrame(X, NAMES, columns=list("abcd"))


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(names: Any, form: str = "csv", column: str = "Barcode", rows: Any = ORDER, **columns: Any) -> str:
    """Write names, kinds, ages and coordinates of the points in ``rows``, in this order."""
    table = pd.DataFrame({column: names, "ct": KINDS, "age": AGE, "x": Y[:, 0], "y": Y[:, 1], **columns}).iloc[rows]
    path = f"l.{form}"
    if form == "parquet":
        table.to_parquet(path, index=False)
    else:
        table.to_csv(path, index=False, sep="\t" if "tsv" in form else ",")
    return path


READERS: dict[str, Callable[[Any, str], Any]] = {
    "labels": lambda data, path: as_data(data, labels=f"{path}:ct").labels.values,
    "batch": lambda data, path: as_data(data, batch=f"{path}:ct").batch.values,
    "covariate": lambda data, path: as_data(data, covariates=f"{path}:ct").covariates["ct"],
    "covariates": lambda data, path: as_data(data, covariates=path).covariates["ct"],
    "latent": lambda data, path: KINDS[
        [AGE.tolist().index(a) for a in as_data(data, latent=f"{path}:age").latent[:, 0]]
    ],
    "embedding": lambda data, path: KINDS[
        [Y[:, 0].tolist().index(x) for x in coordinates(f"{path}:x,y", as_data(data))[:, 0]]
    ],
}


def coordinates(value: Any, data: Data) -> Any:
    """Return the coordinates of an embedding in the order of the data."""
    return as_source(value, "u", data).coordinates(data)


def returns(value: Any) -> Callable[..., Any]:
    """Return a method that returns the same value for all data."""

    def method(points: Any, n_components: int) -> Any:
        return value

    return method


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("form", ["csv", "tsv", "csv.gz", "parquet"])
def test_names_of_other_rows_raise_an_error(reader: str, form: str) -> None:
    """With a lost suffix no name matches, and by position rows would be shuffled. The error has a name of each side."""
    path = write(BARE, form)
    with pytest.raises(InputError, match="got 0 of 60 ids of the data found in the column 'Barcode', 'c0-1' only in"):
        READERS[reader](CELLS, path)
    assert READERS[reader](CELLS, write(NAMES, form)).tolist() == KINDS.tolist()


def test_the_hints_lead_to_the_silhouette_of_scikit_learn() -> None:
    """The same names, or a file without the column whose rows are in the order of the data."""
    CELLS.to_csv("x.csv")
    expected = silhouette_score(Y, KINDS)

    def value(labels: Any) -> float:
        ev = dreval.Evaluation("x.csv", {"u": Y}, labels=labels, random_state=0)
        return float(ev.run("silhouette", None, None).table["value"].iloc[0])

    with pytest.raises(
        InputError, match=r"'c0-1' only in the data, 'c\d+' only in `labels`.*drop the column 'Barcode'"
    ):
        value(f"{write(BARE)}:ct")
    assert value(f"{write(NAMES)}:ct") == pytest.approx(expected, abs=1e-12)
    pd.DataFrame({"ct": KINDS, "age": AGE}).to_csv("l.csv", index=False)
    assert value("l.csv:ct") == pytest.approx(expected, abs=1e-12)
    assert value(pd.read_csv("l.csv")["ct"].to_numpy()) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("share", [1, 12, 29, 30, 31, 59])
@pytest.mark.parametrize("reader", READERS)
def test_names_that_match_in_part_raise_an_error_whatever_their_share(share: int, reader: str) -> None:
    """One common name is as invalid as all but one."""
    path = write([*NAMES[:share], *BARE[share:]])
    with pytest.raises(InputError, match=rf"got {share} of 60 ids of the data found in the column 'Barcode'"):
        READERS[reader](CELLS, path)


@pytest.mark.parametrize("reader", ["labels", "batch", "covariate", "covariates", "latent"])
@pytest.mark.parametrize("names", [NAMES, [7 * j + 100 for j in range(N)]])
def test_variables_of_more_rows_are_matched_by_their_names(reader: str, names: list[Any]) -> None:
    """Labels of all cells are matched to data of some cells, and a note counts the others."""
    path = write(names, column="cell")
    part = np.sort(RNG.permutation(N)[:40])
    data = pd.DataFrame(X[part], pd.Index(np.array(names)[part]))
    assert READERS[reader](data, path).tolist() == KINDS[part].tolist()
    (unused,) = [note for note in as_data(data, labels=f"{path}:ct").notes if note.code == "rows.unused"]
    assert str(unused) == "20 of 60 rows of `labels` have names that the data lack, and were not used."
    with pytest.raises(InputError, match="must have the same ids as the data"):
        READERS["embedding"](data, path)


def test_series_and_frames_of_more_rows_are_matched_too() -> None:
    """As in pandas after rows were dropped; not where the data only count their rows."""
    part = np.flatnonzero(np.arange(N) % 5)
    labels = pd.Series(KINDS)
    data = pd.DataFrame(X).iloc[part]
    assert as_data(data, labels=labels).labels.values.tolist() == KINDS[part].tolist()
    record = as_data(data, covariates=pd.DataFrame({"age": AGE}))
    assert record.covariates["age"].tolist() == AGE[part].tolist()
    matched = as_data(CELLS.iloc[part], labels=pd.Series(KINDS, NAMES).iloc[ORDER])
    assert matched.labels.values.tolist() == KINDS[part].tolist()
    with pytest.raises(InputError, match="got 60 rows for 48 points"):
        as_data(data.reset_index(drop=True), labels=labels)
    with pytest.raises(InputError, match="59 of 60 ids"):
        as_data(CELLS, labels=pd.Series(KINDS, NAMES).drop(NAMES[3]))


@pytest.mark.parametrize(
    ("data", "names"),
    [
        (X, NAMES),
        (pd.DataFrame(X), NAMES),
        (pd.DataFrame(X, [str(j) for j in range(N)]), NAMES),  # the names of AnnData by default
        (pd.DataFrame(X, [str(j + 1) for j in range(N)]), NAMES),
    ],
)
def test_names_next_to_rows_that_only_count_are_noted(data: Any, names: Any) -> None:
    """Rows are matched by position, and the note names the column."""
    record = as_data(data, labels=f"{write(names)}:ct")
    assert record.labels.values.tolist() == KINDS[ORDER].tolist()
    assert [dict(note.values)["column"] for note in record.notes if note.code == "rows.ids_beside"] == ["Barcode"]
    covariates = as_data(data, covariates=write(names))
    assert "rows.ids_beside" in [note.code for note in covariates.notes]


@pytest.mark.parametrize(
    "columns",
    [
        {"rank": np.argsort(ORDER) // 2},  # a number that repeats
        {"age2": AGE / 7},
        {"site": np.array(["in", "out"] * 30)},
        {"comment": [*(f"seen {j}" for j in range(N - 1)), None]},  # text with gaps names no rows
    ],
)
def test_other_columns_name_no_rows(columns: dict[str, Any]) -> None:
    """A file without names is matched by position to data with names, with the note on the data alone."""
    pd.DataFrame({"ct": KINDS, **columns}).to_csv("l.csv", index=False)
    record = as_data(CELLS, labels="l.csv:ct")
    assert record.labels.values.tolist() == KINDS.tolist()
    assert [note.code for note in record.notes if note.code.startswith("rows.")] == ["rows.data_alone"]


def test_the_names_are_used_next_to_other_text_of_all_rows() -> None:
    """A comment on each row, or a second name, does not prevent a match by the names of the data."""
    comments = [f"comment {j}" for j in range(N)]
    for column in ("A", "Z"):  # before and behind the names
        path = write(comments, column=column, cell=NAMES)
        assert as_data(CELLS, labels=f"{path}:ct").labels.values.tolist() == KINDS.tolist()


@pytest.mark.parametrize(("row", "name"), [(5, "c6-1"), (5, None)])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_names_with_a_repeated_or_missing_one_raise_an_error(row: int, name: str | None, form: str) -> None:
    """They are names of the data, and one of them is wrong."""
    names = [*NAMES[:row], name, *NAMES[row + 1 :]]
    with pytest.raises(InputError, match=r"must be (different in every row|complete)"):
        as_data(CELLS, labels=f"{write(names, form)}:ct")


def test_categories_are_names_too() -> None:
    """A .parquet file may hold names as categories."""
    path = write(pd.Categorical(NAMES), "parquet")
    assert as_data(CELLS, labels=f"{path}:ct").labels.values.tolist() == KINDS.tolist()
    path = write(pd.Categorical(BARE), "parquet")
    with pytest.raises(InputError, match="got 0 of 60"):
        as_data(CELLS, labels=f"{path}:ct")


def test_ids_that_were_passed_follow_the_same_rule() -> None:
    """They hold for text and integers, if none or a part of them match."""
    data = CELLS.reset_index(names="cell")
    for names in (BARE, [*NAMES[:20], *BARE[20:]]):
        with pytest.raises(InputError, match="ids of the data found in the column 'Barcode'"):
            as_data(data, ids="cell", labels=f"{write(names)}:ct")
    numbered = CELLS.reset_index(drop=True).assign(nr=np.arange(N) * 3 + 50)
    with pytest.raises(InputError, match="0 of 60 ids of the data found in the column 'id'"):
        as_data(numbered, ids="nr", labels=f"{write(np.arange(N) * 3 + 51, column='id')}:ct")
    with pytest.raises(InputError, match="45 of 60 ids of the data found in the column 'patient'"):
        as_data(numbered, ids="nr", labels=f"{write(np.arange(N) * 3 + 95, column='patient')}:ct")


def value_of(data: Any, source: Any) -> float:
    """Return the trustworthiness at 15 neighbors."""
    results = dreval.Evaluation(data, {"u": source}, random_state=0).run("trustworthiness", None, None)
    return float(results.table["value"].iloc[0])


class Frames:
    """An estimator that returns a frame."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        return self.frame


SHUFFLED = pd.DataFrame(Y, NAMES, columns=["x", "y"]).iloc[ORDER]
COUNTED_FRAME = pd.DataFrame(Y, columns=["x", "y"])


@pytest.mark.parametrize("make", [returns, Frames])
@pytest.mark.parametrize(
    ("data", "frame", "code"),
    [
        (CELLS, SHUFFLED, "rows.matched"),
        (CELLS, COUNTED_FRAME, None),
        (CELLS, COUNTED_FRAME.set_axis(range(1, N + 1)), None),
        (CELLS, COUNTED_FRAME.iloc[ORDER], "rows.counted"),
        (X, COUNTED_FRAME.iloc[ORDER], "rows.counted"),
        (pd.DataFrame(X), COUNTED_FRAME.iloc[ORDER], "rows.counted"),
        (pd.DataFrame(X, [j * 3 for j in range(N)]), COUNTED_FRAME, None),  # an array is passed, which has no names
        (
            pd.DataFrame(X, [j * 3 for j in range(N)]),
            COUNTED_FRAME.set_axis([j * 3 for j in range(N)]).iloc[ORDER],
            "rows.matched",
        ),
        (pd.DataFrame(X, ORDER), COUNTED_FRAME.set_axis(ORDER), None),
        (X, SHUFFLED.iloc[np.argsort(ORDER)], "rows.names_unused"),
        (CELLS, SHUFFLED.reset_index(names="cell"), "rows.matched"),
    ],
)
def test_the_frame_that_is_returned_is_matched_as_one_that_is_passed(
    make: Any, data: Any, frame: Any, code: Any
) -> None:
    """The value is that of scikit-learn on the ordered rows, and the results have the note."""
    source = make(frame)
    results = dreval.Evaluation(data, {"u": source}, random_state=0).run("trustworthiness", None, None)
    assert results.table["value"].iloc[0] == pytest.approx(trustworthiness(X, Y, n_neighbors=15), abs=1e-12)
    codes = [code for code in results.notes["code"] if code.startswith("rows.")]
    assert codes == ([] if code is None else [code])
    warnings = {"rows.names_unused": "not used", "rows.counted": "only count the rows"}
    with pytest.warns(InputWarning, match=warnings[code]) if code in warnings else nullcontext():
        assert dreval.trustworthiness(data, source) == pytest.approx(results.table["value"].iloc[0])


@pytest.mark.parametrize("data", [X, pd.DataFrame(X)])
@pytest.mark.parametrize(
    "call",
    [
        lambda data, frame: dreval.trustworthiness(data, frame),
        lambda data, frame: dreval.local_distortion(data, frame).area.sum(),
        lambda data, frame: float(dreval.reconstruction_error(data, frame, random_state=0)),
        lambda data, frame: dreval.silhouette(data, labels=(frame["x"] > 0).astype(str)),
    ],
)
def test_functions_warn_of_the_row_names_that_an_evaluation_notes(call: Any, data: Any) -> None:
    """Names next to data without names are ignored, and row numbers in another order are matched, with a warning.

    Row numbers in another order next to an array raise an error.
    """
    expected = call(data, pd.DataFrame(SHUFFLED.to_numpy(), columns=["x", "y"]))
    with pytest.warns(InputWarning, match="Row names of `(Y|source|labels)` were not used, since the data have none"):
        assert call(data, SHUFFLED) == expected
    if data is X:
        with pytest.raises(InputError, match="in another order, and no row names in the data"):
            call(data, COUNTED_FRAME.iloc[ORDER])
        return
    with pytest.warns(
        InputWarning, match="Rows of `(Y|embeddings.*|source|labels)` were matched .* only count the rows"
    ):
        value = call(data, COUNTED_FRAME.iloc[ORDER])
    assert value == pytest.approx(call(data, COUNTED_FRAME), rel=1e-9)


@pytest.mark.parametrize(
    ("data", "frame", "why"),
    [
        (CELLS, SHUFFLED.set_axis(BARE), "0 of 60 ids"),
        (CELLS, SHUFFLED.rename({NAMES[0]: "new"}), "59 of 60 ids"),
        (CELLS, SHUFFLED.rename({NAMES[0]: NAMES[1]}), "must have different row names"),
        (pd.DataFrame(X, ORDER), COUNTED_FRAME.iloc[ORDER[::-1]], "which are names in the data, too"),
        (X, COUNTED_FRAME.set_axis(range(1, N + 1)).iloc[ORDER], "in another order"),
        (CELLS, SHUFFLED.iloc[:-1], "59"),
    ],
)
def test_a_returned_frame_raises_the_errors_of_a_passed_one(data: Any, frame: Any, why: str) -> None:
    """Names that match in part or not at all, that repeat, or that could be either names or row numbers."""
    record = as_data(data)
    with pytest.raises(MethodFailed, match=why):
        as_source(returns(frame), "u", record).coordinates(record)


def test_other_forms_of_returned_values() -> None:
    """A series, a table of polars with a column of names, a frame of scikit-learn, and arrays."""
    record = as_data(CELLS)
    series = pd.Series(Y[:, 0], NAMES).iloc[ORDER]
    assert coordinates(returns(series), record)[:, 0].tolist() == Y[:, 0].tolist()
    table = pytest.importorskip("polars").from_pandas(SHUFFLED.reset_index(names="cell"))
    assert np.array_equal(coordinates(returns(table), record), Y)
    array_estimator, framed = PCA(2, random_state=0), PCA(2, random_state=0).set_output(transform="pandas")
    assert np.array_equal(coordinates(array_estimator, record), coordinates(framed, record))
    assert np.array_equal(coordinates(returns(Y[ORDER]), record), Y[ORDER])


def test_re_runs_are_matched_too(tmp_path: Path) -> None:
    """Further seeds, halves, a journal that is read a second time, and `embed` have the rows of the first run."""

    def method(points: Any, d: int, random_state: Any = None) -> Any:
        rng = np.random.default_rng(random_state)
        names = [NAMES[[*map(tuple, X)].index(tuple(row))] for row in np.asarray(points)]
        result = pd.DataFrame(np.asarray(points)[:, :d] + 1e-9 * rng.normal(size=(len(points), d)), names)
        return result.iloc[rng.permutation(len(points))]

    ev = dreval.Evaluation(CELLS, {"u": method}, random_state=0)
    store = tmp_path / "run.journal"
    expected = trustworthiness(X, X[:, :2], n_neighbors=15)
    for _ in range(2):
        options = {"replicates": {"n_replicates": 3}}
        results = ev.run("trustworthiness", None, "replicates", options=options, journal=store)
        values = results.table["value"].to_numpy()
        assert len(values) == 3
        assert values == pytest.approx(expected, abs=1e-6)
        assert [code for code in results.notes["code"] if code.startswith("rows.")] == ["rows.matched"]
    embedding = dreval.embed(CELLS, method, random_state=1)
    assert np.asarray(embedding) == pytest.approx(X[:, :2], abs=1e-6)
    assert "rows.matched" in [note.code for note in embedding.notes]
    stable = dreval.stability(CELLS, method, n_replicates=3, over="halves", n_neighbors=5, random_state=0)
    assert stable.value > 0.99


def test_a_failed_match_of_one_embedding_affects_no_other() -> None:
    """The other embeddings have values, and the row has the reason."""
    ev = dreval.Evaluation(CELLS, {"bad": returns(SHUFFLED.set_axis(BARE)), "good": Y}, random_state=0)
    with pytest.warns(dreval.errors.EmbeddingFailed, match="bad: .*0 of 60 ids of the data found"):
        results = ev.run("trustworthiness", None, None)
    assert results.table["value"].isna().tolist() == [True, False]


@pytest.mark.parametrize("names", [1000 + 7 * np.arange(178), [f"W{i:03d}" for i in range(178)], np.arange(1, 179)])
def test_a_public_table_with_an_id_column_of_another_name(names: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """Wines in three files in different orders: the values of scikit-learn, in Python and on the command line."""
    wine = load_wine()
    scaled = (wine.data - wine.data.mean(axis=0)) / wine.data.std(axis=0)
    scores, kinds = PCA(2).fit_transform(scaled), np.array(["barolo", "grignolino", "barbera"])[wine.target]
    rng, features = np.random.default_rng(4), [name.replace("/", "_") for name in wine.feature_names]
    data = pd.DataFrame(scaled, columns=features).assign(bottle=names)
    table = pd.DataFrame({"bottle": names, "PC1": scores[:, 0], "PC2": scores[:, 1], "cultivar": kinds})
    data.to_csv("d.csv", index=False)
    table.iloc[rng.permutation(178)].to_csv("e.csv", index=False)
    table[["bottle", "cultivar"]].iloc[rng.permutation(178)].to_csv("l.csv", index=False)
    expected = [trustworthiness(scaled, scores, n_neighbors=15), silhouette_score(scores, kinds)]
    measures = ["trustworthiness", "silhouette"]
    ev = dreval.Evaluation("d.csv", {"pca": "e.csv"}, labels="l.csv:cultivar", ids="bottle", random_state=0)
    result = ev.run(measures, None, None).table.set_index("measure")["value"]
    assert result[measures].tolist() == pytest.approx(expected, abs=1e-9)
    call = ["evaluate", "d.csv", "-e", "pca=e.csv", "--labels", "l.csv:cultivar", "--ids", "bottle"]
    options = ["--measures", ",".join(measures), "--tests", "none", "--ci", "none", "--json", "--random-state", "0"]
    assert main([*call, *options]) == 0
    rows = {row["measure"]: row["value"] for row in json.loads(capsys.readouterr().out)["table"]}
    assert [rows[name] for name in measures] == pytest.approx(expected, abs=1e-9)
