"""The methods that read a record: by name, in long form, as a number; none of them can change it."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dreval
from dreval.errors import EmbeddingFailed, InputError, UnknownName
from dreval.records.estimates import MeasureRecord

X = np.random.default_rng(0).normal(size=(30, 4))
EV = dreval.Evaluation(X, {"first": X[:, :2], "wide": X[:, 1:], "bad": X[:5]}, n_neighbors=[3, 5], random_state=0)


@pytest.fixture(scope="module")
def results() -> dreval.Results:
    return EV.run(["continuity", "r_nx_auc"])


def test_results_are_read_by_name(results: dreval.Results, tmp_path: Path) -> None:
    """Names in order, their number, membership, and the record of one embedding; also of a result without its data."""
    assert list(results) == results.names == ["first", "wide", "bad"]
    assert len(results) == 3
    assert "first" in results
    assert "other" not in results
    assert np.array_equal(results["first"], X[:, :2])
    assert results["first"].transform(X[:4]).shape == (4, 2)
    with pytest.raises(UnknownName, match="Did you mean 'first'"):
        results["firts"]
    with pytest.raises(InputError, match="It failed"):
        results["bad"]
    loaded = dreval.load_results(results.save(tmp_path / "r.dreval"))["first"]
    assert np.array_equal(loaded, X[:, :2])
    with pytest.raises(InputError, match="must be given to a loaded result"):
        loaded.transform(X[:4])


def test_evaluations_are_read_by_name() -> None:
    """The same methods work on the evaluation, before anything is computed."""
    assert list(EV) == EV.names == ["first", "wide", "bad"]
    assert len(EV) == 3
    assert "wide" in EV
    assert EV["wide"].name == "wide"
    with pytest.raises(UnknownName, match="Did you mean 'wide'"):
        EV["wdie"]


def test_all_embeddings_are_one_long_table(results: dreval.Results) -> None:
    """Every value of the wide tables occurs once, with its measure and its parameters in separate columns."""
    long = results.augment()

    assert list(long) == ["embedding", "measure", "parameters", "id", "y1", "y2", "y3", "value"]
    assert set(long["embedding"]) == {"first", "wide"}
    assert set(zip(long["measure"], long["parameters"], strict=True)) == {
        ("continuity", "n_neighbors=3"),
        ("continuity", "n_neighbors=5"),
        ("r_nx_auc", ""),
    }
    for name, part in long.groupby("embedding"):
        wide = results.augment(str(name))
        for (measure, parameters), rows in part.groupby(["measure", "parameters"]):
            column = f"{measure}({parameters})" if measure == "continuity" else measure
            np.testing.assert_array_equal(rows["value"], wide[column])
            np.testing.assert_array_equal(rows["y2"], wide["y2"])
    assert long.loc[long["embedding"] == "first", "y3"].isna().all()


def test_one_value_has_one_name(results: dreval.Results) -> None:
    """The columns of contributions are columns of ``glance``; a measure with one setting has its plain name in both."""
    assert set(results.augment("first").columns[3:]) <= set(results.glance())
    single = dreval.Evaluation(X, {"e": X[:, :2]}, n_neighbors=4).run("continuity", None, None)
    assert list(single.augment("e"))[-1] == "continuity"
    assert "continuity" in single.glance()
    assert single.augment()["parameters"].unique() == ["n_neighbors=4"]


TAMPERING: dict[str, Callable[[dreval.Results], object]] = {
    "coordinates": lambda r: r.embeddings["first"].__setitem__(0, 7.0),
    "another embedding": lambda r: r.embeddings.__setitem__("new", X),
    "coordinates of the record": lambda r: r["first"].coordinates.__setitem__(0, 7.0),
    "data": lambda r: r.data.__setitem__(0, 7.0),
    "recipe": lambda r: r.recipe.__setitem__("n", 7),
    "table": lambda r: setattr(r, "table", None),
}


@pytest.mark.parametrize("name", TAMPERING)
def test_records_cannot_be_written_to(results: dreval.Results, name: str) -> None:
    """Assignment to arrays, dicts and attributes of a result raises."""
    with pytest.raises((ValueError, TypeError, AttributeError)):
        TAMPERING[name](results)
    assert np.array_equal(results.data, X)


def test_tables_are_copies_and_lists_are_read_only(results: dreval.Results) -> None:
    """Changes of a returned table do not reach the record; a list in the recipe cannot be changed."""
    original = results.table
    table, points = results.table, results.points["first"]
    table["value"] = 0.0
    points.iloc[0, 0] = 7.0
    with pytest.raises(TypeError, match="copy it first"):
        results.recipe["n_neighbors"].append("new")

    pd.testing.assert_frame_equal(results.table, original)
    assert results.points["first"].iloc[0, 0] != 7.0
    assert "new" not in results.recipe["n_neighbors"]


def test_records_can_be_copied_and_pickled(results: dreval.Results) -> None:
    """A copied or unpickled result has the same tables."""
    for copied in (copy.deepcopy(results), pickle.loads(pickle.dumps(results))):
        pd.testing.assert_frame_equal(copied.table, results.table)
        assert dict(copied.recipe) == dict(results.recipe)


def test_measures_of_methods_are_numbers() -> None:
    """They compare, add, round and print as the float of their value, and have a row."""
    low, high = MeasureRecord("trustability", "T", "u", 0.25), MeasureRecord("trustability", "T", "u", 0.5)

    assert low < high
    assert low <= 0.25 < high
    assert low == 0.25
    assert low != high
    assert len({low, 0.25}) == 1
    assert max(low, high) is high
    assert (low + high, 1 - low, high / low, -low, abs(low), low**2) == (0.75, 0.75, 2.0, -0.25, 0.25, 0.0625)
    assert np.mean([low, high]) == 0.375
    assert f"{low:.1f} {low:5.2f}" == "0.2  0.25"
    assert round(low, 1) == 0.2
    assert (low == "text") is False
    assert low.tidy()[["measure", "value"]].to_numpy().tolist() == [["trustability", 0.25]]


def test_tests_have_the_name_of_scipy() -> None:
    """``pvalue`` is ``p_value``; the row of a test has the columns of the tidy table."""
    result = dreval.hsic_test(X[:, 0], X[:, 1], n_resamples=19, random_state=0)

    assert result.pvalue == result.p_value
    row = result.tidy().iloc[0]
    assert (row["test"], row["p_value"], row["n"]) == ("hsic", result.p_value, 30)
    with pytest.raises(ValueError, match="read-only"):
        result.null_distribution[0] = 0.0


def test_a_failed_embedding_is_a_warning() -> None:
    """It states how many failed and why, and points at the line of the caller; without failures there is no warning."""
    ev = dreval.Evaluation(X, {"good": X[:, :2], "bad": X[:5]}, n_neighbors=4, random_state=0)
    with pytest.warns(EmbeddingFailed, match=r"1 of 2 embeddings failed\. bad: .*5 rows for 30 points") as records:
        res = ev.run("continuity", None, None)
    assert records[0].filename == __file__
    assert repr(res).startswith("2 embeddings of data (1 failed): 30 points")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "failed" not in repr(
            dreval.Evaluation(X, {"good": X[:, :2]}, n_neighbors=4).run("continuity", None, None)
        )
