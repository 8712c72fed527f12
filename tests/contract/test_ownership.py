"""Fitted and constructed objects own their data: the caller's arrays, and returned ones, may change."""

from __future__ import annotations

import inspect
import tracemalloc
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from each import each
from numpy.testing import assert_array_equal

import dreval
from dreval.errors import DrevalError, DrevalWarning
from dreval.methods._method import Method
from dreval.registry import METHODS
from dreval.significance._certificate import certify

N = 40
ROWS = np.random.default_rng(1).normal(size=(5, 3))
PLACES = np.random.default_rng(2).normal(size=(5, 2)) / 4
PARTS = np.r_[np.zeros(25), np.full(15, 100.0)]  # two clusters with a disconnected graph of neighbors
FITS = {"fit", "fit_transform", "get_params", "set_params", "set_output", "card", "generalization_curve"}  # no response


def _variants():
    """Yield every method with joined parts, and if supported also with separate parts, distances and a start."""
    for name in METHODS.names():
        parameters = inspect.signature(METHODS.get(name)).parameters
        settings = {"random_state": 0}
        settings |= {"max_iter": 30} if "max_iter" in parameters else {}
        settings |= (
            {"n_neighbors": 8} if "n_neighbors" in parameters and parameters["n_neighbors"].default is not None else {}
        )
        ways = ["connect", "separate", "largest"] if "disconnected" in parameters else [None]
        for option in ways[: 1 if name == "locally_linear_coordination" else 3]:
            settings_of_parts = {} if option is None else {"disconnected": option}
            yield name, settings | settings_of_parts
        if "init" in parameters and name not in ("tsne", "umap", "linear_tsne", "parametric_tsne", "sne"):
            yield name, settings | {"init": "array"}
    yield "classical_mds", {"metric": "precomputed"}
    yield "kernel_pca", {"kernel": "precomputed"}


every_variant = each("name, settings", _variants(), items=3)


def _data(settings):
    """Return new arrays: data (n, 3), or an (n, n) matrix, and a response."""
    X = np.random.default_rng(0).normal(size=(N, 3)) * [3.0, 2.0, 1.0]
    y = np.column_stack([X[:, 0] + 0.1 * X[:, 1] ** 2, X[:, 1] - X[:, 2]])
    if settings.get("disconnected") in ("separate", "largest"):
        X[:, 0] += PARTS
    if settings.get("metric") == "precomputed":
        X = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    if settings.get("kernel") == "precomputed":
        X = X @ X.T
    return X, y


def _fitted(name, settings, X, y):
    """Return the fitted method and its start."""
    starts = {key: X[:, :2].copy() for key, value in settings.items() if isinstance(value, str) and value == "array"}
    method = METHODS.get(name)(2, **settings | starts)
    columns = y if name == "cca" else y[:, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DrevalWarning)
        method.fit(X, columns if method.card.supervised else None)
    return method, starts


def _answers(method):
    """Return the result or error of every public method, and the public attributes of the fit."""
    rows = ROWS if method.n_features_in_ == 3 else np.tile(ROWS @ ROWS.T, N // 5) + 1.0
    arguments = {"inverse_transform": PLACES, "kernel_inverse_transform": PLACES, "fitted_turns": PLACES}
    result = {name: value for name, value in vars(method).items() if name.endswith("_")}
    for verb, function in inspect.getmembers(method, callable):
        if verb.startswith("_") or verb in FITS:
            continue
        takes = len(inspect.signature(function).parameters) > 0
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DrevalWarning)
                result[verb] = function(arguments.get(verb, rows)) if takes else function()
        except DrevalError as refusal:
            result[verb] = str(refusal)
    return result


def _assert_same(left, right, name):
    """Return whether two results are bitwise equal at any depth; parts of a graph are methods themselves."""
    if isinstance(left, Method):
        _assert_same(_answers(left), _answers(right), name)
    elif isinstance(left, dict):
        assert left.keys() == right.keys(), name
        for key, value in left.items():
            _assert_same(value, right[key], f"{name}.{key}")
    elif isinstance(left, tuple | list):
        assert len(left) == len(right), name
        for left_part, right_part in zip(left, right, strict=True):
            _assert_same(left_part, right_part, name)
    elif isinstance(left, pd.DataFrame):
        pd.testing.assert_frame_equal(left, right)
    elif hasattr(left, "toarray"):
        assert_array_equal(left.toarray(), right.toarray(), err_msg=name)
    else:
        assert left is None or isinstance(left, np.ndarray | float | int | str | bool | np.generic), name
        assert_array_equal(left, right, err_msg=name)


def _overwrite(value):
    """Write into every writable array of a result."""
    for array in value if isinstance(value, tuple | list) else [value]:
        if isinstance(array, np.ndarray) and array.flags.writeable and array.dtype.kind in "fi":
            array += 13


@every_variant
def test_a_fit_holds_no_arrays_of_the_caller(name, settings):
    """Data, response and start are not written to, may be read-only, and may be overwritten after the fit."""
    (X, y), (kept_X, kept_y) = _data(settings), _data(settings)
    for stored in (kept_X, kept_y):
        stored.flags.writeable = False
    (method, starts), (twin, _) = _fitted(name, settings, X, y), _fitted(name, settings, kept_X, kept_y)
    assert_array_equal(X, kept_X)
    assert_array_equal(y, kept_y)
    X[:], y[:] = X[::-1] * 7.0 - 3.0, -y
    for start in starts.values():
        start[:] = start[::-1]
    _assert_same(method, twin, name)


@every_variant
def test_a_method_returns_copies_of_its_arrays(name, settings):
    """Fitted arrays are read-only; results and arguments of a method may be overwritten without an effect on it."""
    X, y = _data(settings)
    (method, _), (twin, _) = _fitted(name, settings, X, y), _fitted(name, settings, X, y)
    rows = X[:5].copy()
    for value in _answers(method).values():
        _overwrite(value)
    for attribute, value in vars(method).items():
        if attribute.endswith("_") and isinstance(value, np.ndarray):
            assert not value.flags.writeable, attribute
    for verb in ("transform", "kernel_transform"):
        if hasattr(method, verb):
            _overwrite(getattr(method, verb)(rows))
            assert_array_equal(rows, X[:5])
            rows[:] = 0.0
            rows[:] = X[:5]
    _assert_same(method, twin, name)


def test_the_embedding_of_fit_transform_belongs_to_the_caller():
    """The embedding is writable, and not a view of arrays of the method."""
    X = _data({})[0]
    method = dreval.methods.KernelPCA(2)
    Y = method.fit_transform(X)
    Y -= 5.0
    assert np.abs(method.embedding_ - Y).min() > 4.0
    assert not np.shares_memory(Y, method.embedding_)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_fit_keeps_one_copy_of_the_data(dtype):
    """Only one float64 copy of a large array is stored, for any type."""
    X = np.random.default_rng(0).normal(size=(20_000, 50)).astype(dtype)
    dreval.methods.PCA(2).fit(X[:50])
    tracemalloc.start()
    method = dreval.methods.PCA(2).fit(X)
    stored, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    size = 8 * X.size
    assert size <= stored <= 1.2 * size
    assert method.embedding_.shape == (20_000, 2)


def _evaluation_inputs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    return {
        "data": X,
        "Y": X[:, :2] + 0.1 * rng.normal(size=(60, 2)),
        "start": X[:, 1:3].copy(),
        "labels": np.arange(60) % 3,
        "latent": X[:, :1].copy(),
        "batch": np.arange(60) // 3 % 2,
        "age": rng.normal(size=60),
        "ids": np.array([f"r{i}" for i in range(60)], dtype=object),
        "numbers": np.arange(60) + 100,
    }


def _evaluation(arrays, ids):
    """Return an evaluation of coordinates, a method with a start, an estimator and a function."""
    ev = dreval.Evaluation(
        arrays["data"],
        {"Y": arrays["Y"], "f": lambda X, n_components: X[:, :n_components]},
        labels=arrays["labels"],
        latent=arrays["latent"],
        batch=arrays["batch"],
        covariates={"age": arrays["age"]},
        ids=arrays[ids],
        n_neighbors=5,
        random_state=0,
    )
    return ev.with_embedding("metric_mds", "metric_mds", init=arrays["start"]).with_embedding(
        "pca", dreval.methods.PCA(2)
    )


@pytest.mark.parametrize(("ids", "frame"), [("ids", False), ("numbers", True)])
def test_an_evaluation_owns_its_input(ids, frame):
    """Arrays changed between construction and run do not change the numbers; changed data raise an error."""
    arguments, stored = _evaluation_inputs(), _evaluation_inputs()
    buffer = arguments["data"]
    if frame:
        arguments["data"], stored["data"] = pd.DataFrame(buffer, copy=False), pd.DataFrame(stored["data"])
    ev, twin = _evaluation(arguments, ids), _evaluation(stored, ids)
    for array in (buffer, *(arguments[name] for name in arguments if name != "data")):
        array[:] = array[::-1].copy()
    with pytest.raises(DrevalError, match="must stay as they were when they were passed"):
        ev.run("trustworthiness", None, None)
    buffer[:] = buffer[::-1].copy()
    run = {"measures": ["trustworthiness", "stress", "knn_accuracy", "latent_r2"], "tests": "dcov", "ci": None}
    res, expected = (evaluation.run(**run, n_resamples=19) for evaluation in (ev, twin))
    pd.testing.assert_frame_equal(res.table.drop(columns="seconds"), expected.table.drop(columns="seconds"))
    for name in expected.names:
        pd.testing.assert_frame_equal(res.augment(name), expected.augment(name))
    assert res.recipe["data_sha256"] == expected.recipe["data_sha256"]


def test_an_embedding_record_and_its_certificate_have_copies_of_their_data():
    """The data may change after ``embed``; the coordinates are read-only, and their maps and certificate stay."""
    X = _data({})[0]
    stored = X.copy()
    record, twin = dreval.embed(X, "pca"), dreval.embed(stored, "pca")
    X[:] = 0.0
    with pytest.raises(ValueError, match="read-only"):
        record.coordinates[0, 0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        record.data[0, 0] = 1.0
    frame = record.to_frame()
    frame.iloc[0, 0] = 1e6
    np.array(record)[0, 0] = 1e6
    assert_array_equal(record.transform(ROWS), twin.transform(ROWS))
    assert_array_equal(record.inverse_transform(PLACES), twin.inverse_transform(PLACES))
    certificate, second = (certify(embedded, n_resamples=19, random_state=0, n_jobs=1) for embedded in (record, twin))
    assert repr(certificate) == repr(second)


def test_a_record_with_other_data_computes_new_maps():
    """A copy of a record with other data does not have the maps of the first data."""
    X = _data({})[0]
    record = dreval.embed(X, "pca")
    record.transform(ROWS)
    with_other_data = replace(record, data=X[::-1])
    assert np.abs(with_other_data.transform(ROWS) - record.transform(ROWS)).max() > 1e-6


def test_a_protocol_owns_its_data(tmp_path):
    """The exported data are those at the construction of the protocol."""
    X = _data({})[0]
    stored = X.copy()
    protocol = dreval.Protocol(X, random_state=0)
    X[:] = 0.0
    folders = tmp_path / "a", tmp_path / "b"
    protocol.export(folders[0])
    dreval.Protocol(stored, random_state=0).export(folders[1])
    tables = [sorted(path.relative_to(folder) for path in folder.rglob("*.csv")) for folder in folders]
    assert tables[0] == tables[1] != []
    for name in tables[0]:
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes(), name
