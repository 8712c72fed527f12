"""The properties of every measure of the registry under metrics of the data and for sparse data."""

from __future__ import annotations

import inspect
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from each import each
from measure_calls import call_measure
from scipy import sparse
from scipy.spatial.distance import cdist

import dreval
from dreval._random import stream
from dreval.cli._main import main
from dreval.errors import UndefinedMeasure
from dreval.geometry.blocks import random_groups
from dreval.glossary import TABLE_METRICS
from dreval.registry import MEASURES

METHODS = [name for name in MEASURES if MEASURES.card(name).level == "algorithm"]
NAMES = [name for name in MEASURES if name not in METHODS]
MEASURING = [name for name in NAMES if MEASURES.card(name).uses_metric]
DISTANCE_ONLY = [name for name in MEASURING if "features" not in MEASURES.card(name).needs]
LABELS = np.arange(40) % 3


def _cloud(seed=0):
    """Return sparse continuous data in general position, and an embedding of them."""
    rng = np.random.default_rng(seed)
    X = rng.gamma(1.0, size=(40, 25)) * (rng.random((40, 25)) < 0.4)
    X[np.arange(40), rng.integers(0, 25, 40)] += 0.5
    return X, X[:, :2] + 0.3 * rng.normal(size=(40, 2))


def _distances(X, metric):
    scaled = X / np.ptp(X, axis=0) / X.shape[1] if metric == "gower" else X
    D = cdist(scaled, scaled, {"manhattan": "cityblock", "gower": "cityblock"}.get(metric, metric))
    D = (D + D.T) / 2
    np.fill_diagonal(D, 0.0)
    return D


def _value(name, X, Y, **options):
    """Return the value of a measure as an array; NaN where the data predict nothing of a target."""
    expected = {"labels": LABELS, "latent": Y[:, 0] + 1, "batch": np.arange(X.shape[0]) // 3 % 2}
    expected |= {"target": Y[:, 0] + 1, "random_state": 0, "n_neighbors": 6, "size": 10 if name == "kbet" else 4}
    accepted = inspect.signature(getattr(dreval, name)).parameters
    chosen = {key: value for key, value in expected.items() if key in accepted}
    try:
        return np.asarray(call_measure(name, X, Y, **chosen, **options))
    except UndefinedMeasure:
        if name != "knn_r2_ratio" or options.get("metric") == "neighbors":
            raise
        return np.array(np.nan)


@pytest.mark.parametrize("metric", ["correlation", "manhattan", "gower"])
@each("name", DISTANCE_ONLY)
def test_precomputed_distances_are_the_metric(name, metric):
    """Precomputed distances give the same value as their metric, for every measure that needs no coordinates."""
    X, Y = _cloud()
    expected = _value(name, X, Y, metric=metric)
    np.testing.assert_allclose(_value(name, _distances(X, metric), Y, metric="precomputed"), expected, atol=1e-10)


@pytest.mark.parametrize("metric", ["cosine", "hamming"])
@each("name", NAMES, items=2)
def test_sparse_data_have_the_values_of_dense_data(name, metric):
    """Values agree exactly if only distances are read; else up to rounding of products."""
    X, Y = _cloud(1)
    options = {"metric": metric} if name in MEASURING else {}
    dense, from_sparse = (_value(name, Z, Y, **options) for Z in (X, sparse.csc_array(X)))
    if name in DISTANCE_ONLY:
        np.testing.assert_array_equal(from_sparse, dense)
    np.testing.assert_allclose(from_sparse, dense, atol=1e-10)


@each("name", NAMES, items=2)
def test_the_metric_is_a_parameter_where_it_matters(name):
    """Measures of data distances have ``metric`` and depend on it; measures of coordinates reject precomputed ones."""
    X, Y = _cloud(2)
    assert ("metric" in inspect.signature(getattr(dreval, name)).parameters) == (name in MEASURING)
    if name in MEASURING and name not in {"k_max"}:  # a whole number, which may stay
        assert not np.array_equal(_value(name, X, Y, metric="cosine"), _value(name, X, Y))
    if name in MEASURING and name not in DISTANCE_ONLY:
        with pytest.raises(UndefinedMeasure, match="`metric` must not be 'precomputed'"):
            _value(name, _distances(X, "cosine"), Y, metric="precomputed")


@pytest.mark.parametrize(
    ("metric", "intervals"),
    [
        *((metric, {"ci": None}) for metric in (*TABLE_METRICS, "geodesic", "gower")),
        pytest.param("correlation", {}, marks=pytest.mark.slow),
    ],
)
def test_an_evaluation_has_the_values_of_the_functions(metric, intervals):
    """All measures under each metric: the plain function's value, or missing with the reason; intervals recompute."""
    X, Y = _cloud(3)
    data = _distances(X, "euclidean") if metric == "precomputed" else X
    ev = dreval.Evaluation(data, {"e": Y}, metric=metric, labels=LABELS, n_neighbors=6, random_state=0)
    results = ev.run("all", None, options={"knn_accuracy": {"n_neighbors": 6}}, **intervals)
    assert results.recipe["metric"] == metric
    assert f"Metric: {metric}" in " ".join(str(results.summary(full=True)).split())
    assert (
        (f", metric {metric}" in repr(ev))
        == (metric != "euclidean")
        == (f"metric={metric!r}" in results.recipe["call"])
    )
    rows = results.table.drop_duplicates("measure").set_index("measure")
    for name, row in rows.iterrows():
        needs_features = "features" in MEASURES.card(name).needs
        if metric in ("precomputed", "geodesic", "gower") and needs_features:
            assert pd.isna(row["value"])
            assert "needs the coordinates of the data" in row["note"]
            continue
        if name in METHODS and "method" in MEASURES.card(name).needs:
            assert "able to embed other data" in row["note"]
            continue
        assert ("the coordinates of the data" in row["note"]) == (needs_features and metric != "euclidean")
        if name in MEASURING:
            assert row["value"] == pytest.approx(float(_value(name, data, Y, metric=metric)), abs=1e-12)


@each("name", METHODS)
def test_measures_of_methods_read_sparse_data_but_not_distances(name):
    """Sparse data become dense for a method; precomputed distances have no coordinates to change."""
    X, _ = _cloud(6)
    options = {"n_transformations": 5} if "n_transformations" in MEASURES.card(name).parameters else {}
    dense, from_sparse = (getattr(dreval, name)(Z, "pca", random_state=0, **options) for Z in (X, sparse.csr_array(X)))
    assert float(from_sparse) == pytest.approx(float(dense), abs=1e-10)
    ev = dreval.Evaluation(_distances(X, "cosine"), {"e": "classical_mds"}, metric="precomputed", random_state=0)
    row = ev.run(name, None).table.iloc[0]
    assert pd.isna(row["value"])
    assert "needs the coordinates of the data" in row["note"]


def test_left_out_points_are_recomputed_under_a_metric():
    """The jackknife's values are those of the plain function on the remaining points, without points or groups."""
    X, Y = _cloud(4)
    ev = dreval.Evaluation(sparse.csr_array(X), {"e": Y}, metric="cosine", n_neighbors=6, random_state=0)
    results = ev.run(["trustworthiness", "stress", "r_nx_auc", "procrustes_rc", "mrre_false", "q_local"], None)
    stay = np.arange(40) != 3
    for column, values in results._left_out["e"].items():
        name = str(column).partition("(")[0]
        assert values[3] == pytest.approx(float(_value(name, X[stay], Y[stay], metric="cosine")), abs=1e-12)
    stay = random_groups(40, 20, stream(0, "groups", 2)).codes != 3
    groups = results.groups[(results.groups["partition"] == 2) & (results.groups["group"] == 3)]
    assert len(groups)
    for name, value in groups.set_index("measure")["value"].items():
        assert value == pytest.approx(float(_value(name, X[stay], Y[stay], metric="cosine")), abs=1e-12)


def test_methods_on_distances():
    """Classical scaling reads the matrix; a callable gets it; anchors see the same distances."""
    X, Y = _cloud(5)
    D = _distances(X, "euclidean")
    sources = {"mds": "classical_mds", "rows": lambda M, n_components: M[:, :n_components]}
    ev = dreval.Evaluation(D, sources, metric="precomputed", n_neighbors=6, random_state=0)
    results = ev.run(["trustworthiness", "stress"], None)
    from_points = dreval.Evaluation(X, {"mds": "classical_mds"}, n_neighbors=6, random_state=0).run(
        ["trustworthiness", "stress"], None
    )
    assert results.failed == {}
    np.testing.assert_allclose(results.table["value"][:2], from_points.table["value"], atol=1e-9)
    assert results.recipe["p"] is None
    sampled = dreval.Evaluation(D, {"e": Y}, metric="precomputed", n_neighbors=6, anchors=40, random_state=0)
    assert sampled.run("trustworthiness", None).table["value"][0] == _value("trustworthiness", X, Y)


@pytest.mark.slow
def test_sparse_data_beyond_memory():
    """300 x 5,000,000 numbers, 11 GiB if dense, are evaluated in less than 1 GiB; other measures have a reason."""
    n, p, rng = 300, 5_000_000, np.random.default_rng(0)
    places = np.repeat(np.arange(n), 20), rng.integers(0, p, 20 * n)
    data = sparse.csr_array((rng.gamma(1.0, size=20 * n), places), (n, p))
    used = np.unique(data.indices)
    Y = rng.normal(size=(n, 2))
    measures = ["trustworthiness", "procrustes_rc", "r_nx_auc", "stress", "energy_ratio", "procrustes_disparity"]
    tracemalloc.start()
    ev = dreval.Evaluation(data, {"e": Y, "pca": "pca"}, random_state=0)
    results = ev.run(measures, None, None)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**30
    table = results.table.set_index(["embedding", "measure"])
    assert "GiB when made dense: got" in table.loc[("e", "energy_ratio"), "note"]
    assert "GiB when made dense: got" in results.failed["pca"]
    dense = data[:, used].toarray()
    for name in ("trustworthiness", "r_nx_auc", "stress"):
        assert table.loc[("e", name), "value"] == getattr(dreval, name)(dense, Y)
    for name in ("procrustes_rc", "procrustes_disparity"):
        assert table.loc[("e", name), "value"] == pytest.approx(getattr(dreval, name)(dense, Y), abs=1e-12)


def test_a_dense_copy_is_noted():
    """A method that is run on sparse data gets a dense copy, with a note in the result."""
    X, _ = _cloud(6)
    results = dreval.Evaluation(sparse.coo_array(X), {"pca": "pca"}, n_neighbors=6).run("trustworthiness", None, None)
    assert "pca: A sparse matrix of 40 x 25 was converted to a dense one." in set(results.notes["text"])


def test_the_command_line_takes_the_metric(tmp_path, capsys):
    """``--metric`` is the keyword; the choices are the same list."""
    X, Y = _cloud(7)
    np.savetxt(tmp_path / "data.csv", X, delimiter=",")
    np.savetxt(tmp_path / "e.csv", Y, delimiter=",")
    arguments = [
        "evaluate",
        str(tmp_path / "data.csv"),
        "-e",
        str(tmp_path / "e.csv"),
        "-k",
        "6",
        "--random-state",
        "0",
    ]
    assert main([*arguments, "--metric", "manhattan", "--measures", "trustworthiness"]) == 0
    assert "manhattan" in capsys.readouterr().out
    assert main([*arguments, "--metric", "chebyshev"]) == 2
    assert "`--metric` must be a known name: got 'chebyshev'" in capsys.readouterr().err
