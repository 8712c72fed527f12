"""Tables of mixed columns and Gower's distance: R's daisy, a naive twin, kinds of columns, and refusals."""

from __future__ import annotations

import io
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import dreval
from dreval.errors import InputError, UndefinedMeasure, UnknownName
from dreval.geometry.distances import Space
from dreval.inputs.data import as_data

TABLE = """age,bmi,stage,sex,site,smokes
60.0,25.4,III,m,a,False
,22.8,III,m,c,True
21.0,21.9,,m,b,False
68.0,28.0,II,,,True
48.0,31.5,II,f,b,True
50.0,26.1,II,m,c,True
,20.1,,f,c,False
37.0,21.2,III,f,c,True
78.0,31.4,II,,a,True
23.0,25.8,I,m,a,False
"""
# R 4.2.2, cluster 2.1.4: x <- read.csv(file, na.strings = "", stringsAsFactors = TRUE)
# x$stage <- factor(x$stage, levels = c("I", "II", "III", "IV"), ordered = TRUE); x$smokes <- factor(x$smokes)
# daisy(x, metric = "gower")
DAISY = """
0.4456140351, 0.3982456140, 0.4671052632, 0.7076023392, 0.4561403509, 0.6162280702, 0.6286549708, 0.4684210526,
0.2807017544, 0.5197368421, 0.3187134503, 0.6526315789, 0.1578947368, 0.5592105263, 0.2280701754, 0.5635964912,
0.6526315789, 0.7865497076, 0.6631578947, 0.5754385965, 0.5394736842, 0.6684210526, 0.9583333333, 0.2754385965,
0.1644736842, 0.1206140351, 0.8464912281, 0.4100877193, 0.1184210526, 0.6206140351, 0.4181286550, 0.7500000000,
0.4327485380, 0.3070175439, 0.7397660819, 0.6315789474, 0.3596491228, 0.3912280702, 0.5000000000, 0.2741228070,
0.9970760234, 0.6250000000, 0.6228070175, 0.7748538012, 0.5912280702
"""
STAGES = pd.CategoricalDtype(["I", "II", "III", "IV"], ordered=True)


def patients() -> pd.DataFrame:
    """Return the table with its types."""
    return pd.read_csv(io.StringIO(TABLE)).astype({"stage": STAGES})


def distances(frame) -> np.ndarray:
    """Return all distances of a table."""
    table = as_data(frame, metric="gower").table
    return Space.of(table, "gower").direct_block(np.arange(len(table)))


def naive(frame: pd.DataFrame) -> np.ndarray:
    """Return Gower's distances by their definition, cell by cell."""
    D = np.zeros((len(frame), len(frame)))
    for i in range(len(frame)):
        for j in range(len(frame)):
            terms = []
            for column in (frame[name] for name in frame):
                x, y = column.iloc[i], column.iloc[j]
                if pd.isna(x) or pd.isna(y):
                    continue
                if isinstance(column.dtype, pd.CategoricalDtype) and column.cat.ordered:
                    codes = column.cat.codes[column.notna()]
                    x, y, spread = column.cat.codes.iloc[i], column.cat.codes.iloc[j], codes.max() - codes.min()
                elif pd.api.types.is_float_dtype(column.dtype):
                    spread = column.max() - column.min()
                else:
                    terms.append(float(x != y))
                    continue
                terms.append(abs(float(x) - float(y)) / spread if spread else 0.0)
            D[i, j] = math.fsum(terms) / len(terms)
    return D


def test_distances_are_those_of_daisy() -> None:
    """Of numbers, ordered categories, classes and missing cells, by R's package cluster."""
    upper = np.triu_indices(10, 1)
    np.testing.assert_allclose(distances(patients())[upper], np.array(DAISY.split(","), float), atol=5.1e-11)


@given(seed=st.integers(0, 10**6), n=st.integers(4, 14), gaps=st.sampled_from([0.0, 0.2, 0.4]))
def test_distances_are_those_of_a_naive_twin(seed: int, n: int, gaps: float) -> None:
    """Of any columns with missing cells, in rows of values and as listed pairs, with the same bits."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"whole": rng.normal(size=n), "x": 1e6 * rng.normal(size=n), "y": np.round(rng.normal(size=n))}
    )
    frame["class"] = pd.Categorical(["a", "a", *rng.choice(list("abc"), n - 2)], list("abc"))  # repeats
    frame["flag"] = ["no", "no", *rng.choice(["no", "yes"], n - 2)]
    frame["stage"] = pd.Series(rng.choice(["I", "II", "III"], n)).astype(STAGES)
    for name in ("x", "class", "stage"):
        frame.loc[np.flatnonzero(rng.random(n) < gaps)[2:], name] = None
    space = Space.of(as_data(frame, metric="gower").table, "gower")
    D = space.direct_block(np.arange(n))
    np.testing.assert_allclose(D, naive(frame), atol=1e-12)
    i, j = np.divmod(np.arange(n * n), n)
    np.testing.assert_array_equal(space.listed(i, j).reshape(n, n), D)


def test_measures_and_anchors_read_mixed_tables() -> None:
    """Values, anchors and the jackknife are those of the distances passed as they are."""
    rng = np.random.default_rng(0)
    frame = pd.concat([patients()] * 6, ignore_index=True)
    frame["bmi"] += rng.normal(size=len(frame)).round(3)
    Y, D = rng.normal(size=(len(frame), 2)), distances(frame)
    measures = ["trustworthiness", "continuity", "neighborhood_overlap", "spearman_distance", "r_nx_auc"]
    for options in ({}, {"anchors": 20}):
        mixed, precomputed = (
            dreval.Evaluation(data, {"map": Y}, metric=metric, random_state=0, n_neighbors=5, **options).run(measures)
            for data, metric in ((frame, "gower"), (D, "precomputed"))
        )
        columns = ["value", "conf_low", "conf_high", "chance"]
        np.testing.assert_allclose(mixed.table[columns], precomputed.table[columns], atol=1e-10)
    assert mixed.recipe["metric"] == "gower"
    lists = np.argsort(D + np.eye(len(D)) * 9, axis=1, kind="stable")[:, :5]
    assert dreval.graph_recall(lists, frame, metric="gower").value == 1.0


def test_notes_say_what_each_column_was_taken_for() -> None:
    """Numbers, ordered categories and classes by name; integers that may be codes; missing cells."""
    frame = patients().assign(grade=[1, 2, 3, 1, 2, 3, 1, 2, 3, 1])
    notes = {item.code: item for item in as_data(frame, metric="gower").notes}
    assert dict(notes["gower.numbers"].values)["columns"] == ("'age'", "'bmi'", "'grade'")
    assert dict(notes["gower.ordered"].values)["columns"] == ("'stage'",)
    assert dict(notes["gower.classes"].values)["columns"] == ("'sex'", "'site'", "'smokes'")
    assert dict(notes["gower.integers"].values)["columns"] == ("'grade'",)
    assert dict(notes["gower.missing"].values) == {"cells": 7, "rows": 5}
    results = dreval.Evaluation(frame, {"map": np.random.default_rng(0).normal(size=(10, 2))}, metric="gower").run()
    assert "Gower's distance uses 'stage' as ordered categories" in " ".join(str(results.summary(full=True)).split())


def test_files_are_read_as_frames(tmp_path) -> None:
    """Text in a file is classes, and empty cells are missing; there are no ordered categories."""
    path = tmp_path / "patients.csv"
    path.write_text(TABLE)
    expected = pd.read_csv(path)
    np.testing.assert_array_equal(as_data(path, metric="gower").table, as_data(expected, metric="gower").table)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"site": pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(10), "D")}, "dates or times in column 'site'"),
        ({"site": [f"p{i}" for i in range(10)]}, "10 different values in 10 rows of column 'site'"),
        ({"site": [None] * 10}, "no value in column 'site'"),
        ({"age": [np.nan] * 10}, "no value in column 'age'"),
        ({"age": ["60", "?", *map(str, range(8))]}, "'\\?' in row 1 of column 'age'"),
        ({"age": [f"{i},5" for i in range(10)]}, "a number in another notation"),
        ({"bmi": [np.inf] + [1.0] * 9}, "must be finite"),
        ({"bmi": [[1, 2]] * 10}, "column 'bmi'"),
    ],
)
def test_columns_without_a_meaning_are_refused(changes, message) -> None:
    """Dates, names of rows, columns without a value, numbers with stray text, infinity, vectors."""
    with pytest.raises(InputError, match=message):
        as_data(patients().assign(**changes), metric="gower")


def test_pairs_without_a_common_cell_are_refused() -> None:
    """Two rows, or a row without any value, have no distance."""
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, None, 5.0], "y": [None, 1.0, 2.0, 3.0, 4.0]})
    with pytest.raises(InputError, match="rows 0 and 3 without a common one"):
        as_data(frame, metric="gower")
    with pytest.raises(InputError, match="row 1 without a value"):
        as_data(frame.assign(x=[1.0, None, 3.0, 1.0, 5.0], y=[1.0, None, 2.0, None, 4.0]), metric="gower")
    with pytest.raises(InputError, match="a sparse matrix"):
        as_data(csr_array(np.eye(6)), metric="gower")
    with pytest.raises(InputError, match="all equal"):
        as_data(pd.DataFrame({"x": [1.0] * 5, "y": ["a"] * 5}), metric="gower")


def test_what_needs_coordinates_is_refused() -> None:
    """Measures of features, embeddings by Gower's distance, and new points."""
    frame, Y = patients(), np.random.default_rng(0).normal(size=(10, 2))
    with pytest.raises(UndefinedMeasure, match="needs the coordinates of the data"):
        dreval.procrustes_rc(frame, Y, metric="gower", n_neighbors=3)
    with pytest.raises(UnknownName, match="embedding_metric"):
        dreval.Evaluation(frame, {"map": Y}, metric="gower", embedding_metric="gower")
    with pytest.raises(InputError, match="must be a distance between rows of a table with new points"):
        dreval.Evaluation(frame, {"map": Y}, metric="gower", new=0.2)
