"""Results for other programs: flat values for trackers, a table for MultiQC, a Parquet file for Embedding Atlas.

The table was read by MultiQC 1.35 (``multiqc FOLDER``, which found a row for each embedding of three files, with these
values), and the neighbors have the form that embedding-atlas 0.26 states for ``--neighbors``, with the point itself
among its neighbors as in the lists that it computes.
"""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

import dreval
from dreval.errors import InputError, UnknownName

X = np.random.default_rng(0).normal(size=(40, 4))
NAMES = [f"p{i}" for i in range(40)]


def _results(embeddings=None, measures=("trustworthiness", "r_nx_auc"), data=X, tests=("hsic",), **options):
    embeddings = embeddings or {"a": X[:, :2], "b": X[:, 2:]}
    settings = {"n_neighbors": 5, "random_state": 0, "labels": np.arange(40) % 3} | options
    return dreval.Evaluation(data, embeddings, **settings).run(list(measures), list(tests), n_resamples=19)


def _noisy(table, n_components, random_state):
    """Return the first columns with noise that depends on the seed."""
    noise = np.random.default_rng(random_state).normal(size=(len(table), n_components))
    return np.asarray(table)[:, :n_components] + 0.3 * noise


def test_flat_values_are_those_of_the_table():
    """A key for each value and p-value; the ends of intervals on request; all are plain floats that JSON can hold."""
    res = _results()
    values, glance = res.to_dict(), res.glance().set_index("embedding")
    rows = res.tidy().set_index(["embedding", "measure"])

    for name in ("a", "b"):
        for measure in ("trustworthiness", "r_nx_auc"):
            assert values[f"{name}/{measure}"] == glance.loc[name, measure]
    tests = res.tidy()[res.tidy()["test"] == "hsic"].set_index("embedding")
    assert values["a/hsic.labels.p_value"] == tests.loc["a", "p_value"]
    assert values["b/hsic.labels.p_adjusted"] == tests.loc["b", "p_adjusted"]
    assert len(values) == 8
    wider = res.to_dict(intervals=True)
    assert wider["a/trustworthiness.conf_low"] == rows.loc[("a", "trustworthiness"), "conf_low"]
    assert {key: wider[key] for key in values} == values
    assert len(wider) == 16
    assert all(type(value) is float and math.isfinite(value) for value in wider.values())
    assert all(re.fullmatch(r"[A-Za-z0-9_./-]+", key) for key in wider)


def test_keys_name_settings_and_replace_what_trackers_refuse():
    """Several settings are in the key; other characters become _; missing values and failed embeddings have no key."""
    embeddings = {"UMAP (2)": X[:, :2], "broken": X[:7, :2]}
    with pytest.warns(dreval.errors.EmbeddingFailed):
        res = _results(embeddings, ["trustworthiness", "stability"], tests=(), n_neighbors=[3, 5])
    assert res.table["value"].isna().any()
    assert list(res.to_dict()) == ["UMAP_2_/trustworthiness.n_neighbors-3", "UMAP_2_/trustworthiness.n_neighbors-5"]
    with pytest.raises(InputError, match="must have a different key for each value: got 'a_b/"):
        _results({"a b": X[:, :2], "a_b": X[:, 2:]}).to_dict()


def test_similarities_of_representations_are_flat_values_too():
    """A key for each pair, measure and direction, equal to the cells of the table; ends of intervals on request."""
    layers = {"layer 1": X, "layer/2": X[:, :3], "last": X[:, 2:]}
    similarity = dreval.representation_similarity(layers, n_neighbors=5, n_resamples=19, random_state=0)
    values, wider, table = similarity.to_dict(), similarity.to_dict(intervals=True), similarity.tidy()

    keys = {"layer 1": "layer_1", "layer/2": "layer_2", "last": "last"}
    columns = {"": "value", **{f".{name}": name for name in ("calibrated", "p_value", "p_adjusted")}}
    expected = {
        f"{keys[row['first']]}/{keys[row['second']]}/{row['measure']}{end}": row[name]
        for row in table.to_dict("records")
        for end, name in columns.items()
    }
    assert {"layer_1/layer_2/cka", "layer_1/last/imbalance", "last/layer_1/imbalance.p_value"} <= set(values)
    assert values == {key: value for key, value in expected.items() if math.isfinite(value)}
    assert wider["layer_1/last/cka.conf_high"] == similarity.of("cka", "layer 1", "last")["conf_high"]
    assert {key: wider[key] for key in values} == values
    assert len(wider) == len(values) + 2 * table["conf_low"].notna().sum()
    assert all(type(value) is float for value in wider.values())
    assert json.loads(json.dumps(wider, allow_nan=False)) == wider
    with pytest.raises(InputError, match="`representations` must have a different key for each value: got 'a_b/"):
        dreval.representation_similarity({"a b": X, "a_b": X[:, :3], "c": X}, n_resamples=19, random_state=0).to_dict()


def test_runs_of_a_method_are_one_value():
    """The mean of the replicates, as in ``glance``."""
    ev = dreval.Evaluation(X, {"noisy": _noisy}, n_neighbors=5, random_state=0)
    res = ev.run("trustworthiness", None, "replicates", options={"replicates": {"n_replicates": 3}})
    assert res.table["value"].nunique() == 3
    assert res.to_dict() == {"noisy/trustworthiness": pytest.approx(res.table["value"].mean(), abs=1e-15)}


def test_the_multiqc_table_has_the_values_and_the_cards(tmp_path):
    """A row for each embedding under the name of the data; title, question, range and scale are those of the cards."""
    data = dreval.load_dataset("wdbc")
    ev = dreval.Evaluation(data, {"pca": "pca", "x/y": "classical_mds"}, n_neighbors=[4, 9], random_state=0)
    res = ev.run(["trustworthiness", "stress", "k_max"], None, None)
    content = json.loads(res.to_multiqc(tmp_path / "dreval_mqc.json").read_text("utf-8"))

    assert (content["id"], content["plot_type"]) == ("dreval", "table")
    assert list(content["data"]) == ["wdbc | pca", "wdbc | x_y"]
    glance = res.glance().set_index("embedding")
    for sample, name in zip(content["data"], ("pca", "x/y"), strict=True):
        assert content["data"][sample] == {key: glance.loc[name, key] for key in content["headers"]}
    headers = content["headers"]
    assert list(headers) == ["trustworthiness(n_neighbors=4)", "trustworthiness(n_neighbors=9)", "stress", "k_max"]
    card = dreval.card("stress")
    assert headers["stress"]["title"] == card.title
    assert headers["stress"]["description"] == card.question
    assert headers["stress"]["scale"] == "RdYlGn-rev"
    assert headers["trustworthiness(n_neighbors=9)"] == {
        "title": "Trustworthiness (n_neighbors=9)",
        "description": dreval.card("trustworthiness").question,
        "format": "{:,.3f}",
        "scale": "RdYlGn",
        "min": 0.0,
        "max": 1.0,
    }
    assert (headers["k_max"]["format"], headers["k_max"]["scale"]) == ("{:,.0f}", False)


def test_a_file_that_multiqc_would_not_find_is_refused(tmp_path):
    """The ending is checked before anything is written; equal rows are refused."""
    with pytest.raises(InputError, match=r"must end in _mqc\.json: got 'dreval\.json'"):
        _results().to_multiqc(tmp_path / "dreval.json")
    with pytest.raises(InputError, match="a different row for each embedding"):
        _results({"a/b": X[:, :2], "a_b": X[:, 2:]}).to_multiqc(tmp_path / "x_mqc.json")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "precomputed"])
def test_the_atlas_has_places_values_and_exact_neighbors(tmp_path, metric):
    """Neighbors and distances are those of scipy; the point itself is first; ids are row numbers from 0."""
    D = cdist(X, X, "cityblock" if metric == "manhattan" else "euclidean")
    data = pd.DataFrame(D if metric == "precomputed" else X, index=NAMES)
    data = data.set_axis(NAMES, axis=1) if metric == "precomputed" else data
    res = _results(data=data, metric=metric)
    table = pd.read_parquet(res.to_atlas(tmp_path / "map.parquet", "b"))

    assert list(table) == ["id", "x", "y", "label", "trustworthiness", "r_nx_auc", "neighbors"]
    assert table["id"].tolist() == NAMES
    assert_array_equal(table[["x", "y"]], X[:, 2:])
    assert_array_equal(table["r_nx_auc"], res.augment("b")["r_nx_auc"])
    for i, near in enumerate(table["neighbors"]):
        expected = np.argsort(np.where(np.arange(40) == i, -1.0, D[i]), kind="stable")[:6]
        assert_array_equal(near["ids"], expected)
        assert_allclose(near["distances"], D[i, expected], rtol=1e-12, atol=1e-15)


def test_a_loaded_result_needs_the_data_for_its_neighbors(tmp_path):
    """With the data it writes the same file; other data, and none, raise an error."""
    res = _results()
    expected = res.to_atlas(tmp_path / "a.parquet", "a").read_bytes()
    loaded = dreval.load_results(res.save(tmp_path / "a.dreval"))
    with pytest.raises(InputError, match="`data` must be given to a loaded result"):
        loaded.to_atlas(tmp_path / "b.parquet", "a")
    with pytest.raises(InputError, match="must be the data of the evaluation"):
        loaded.to_atlas(tmp_path / "b.parquet", "a", data=X + 1)
    assert not (tmp_path / "b.parquet").exists()
    assert loaded.to_atlas(tmp_path / "b.parquet", "a", data=X).read_bytes() == expected


def test_what_the_atlas_cannot_draw_is_refused(tmp_path, monkeypatch):
    """Several embeddings without a name, one column, an unknown name, and no pyarrow: one error each, and no file."""
    res = _results({"a": X[:, :2], "line": X[:, :1]})
    with pytest.raises(InputError, match="must name one of several: got none of 2"):
        res.to_atlas(tmp_path / "map.parquet")
    with pytest.raises(InputError, match=r"`path` must end in \.parquet: got 'map.csv'"):
        res.to_atlas(tmp_path / "map.csv", "a")
    with pytest.raises(InputError, match="must have two columns: got 'line' with 1"):
        res.to_atlas(tmp_path / "map.parquet", "line")
    with pytest.raises(UnknownName, match="`embedding` must be a known name: got 'c'"):
        res.to_atlas(tmp_path / "map.parquet", "c")
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(InputError, match=r'needs pyarrow.*pip install "dreval\[parquet\]"'):
        res.to_atlas(tmp_path / "map.parquet", "a")
    assert not list(tmp_path.iterdir())


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    """Both files are replaced as a whole: after an error the old content is there, and no part of the new one."""
    import pyarrow.parquet

    res, path = _results({"a": X[:, :2]}), tmp_path / "map.parquet"
    path.write_bytes(b"old")

    def broken(_table, file):
        file.write(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(pyarrow.parquet, "write_table", broken)
    with pytest.raises((OSError, InputError)):
        res.to_atlas(path)
    assert path.read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["map.parquet"]
