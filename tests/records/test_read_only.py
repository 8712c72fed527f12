"""Records are read-only: no value that a record returns, at any depth, can be used to change it."""

from __future__ import annotations

import dataclasses
import pickle
import time
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

import dreval
from dreval.records.points import Embedding

X = np.random.default_rng(0).normal(size=(24, 3))
Y = X[:, :2].copy()
FLAT = np.random.default_rng(1).uniform(size=(40, 2))
LABELS = np.array(["a", "b", "c"] * 8)
PANDAS_3 = int(pd.__version__.partition(".")[0]) >= 3


def _results() -> dreval.Results:
    names = [f"r{i}" for i in range(24)]
    run = {"labels": LABELS, "covariates": {"age": X[:, 2]}, "ids": names, "n_neighbors": [3, 5], "random_state": 0}
    measures = ["trustworthiness", "stress", "r_nx", "knn_accuracy", "procrustes_rc"]
    return dreval.Evaluation(X, {"a": Y, "pca": "pca"}, **run).run(measures, ["hsic", "dcov"], n_resamples=19)


def _study(folder: Path) -> dreval.Study:
    data, run = {"x": X, "y": X[::-1] ** 3, "z": np.abs(X)}, {"n_neighbors": 5, "random_state": 0}
    return dreval.Study(folder / "a.journal", data, ["pca", "classical_mds"], ["stress", "continuity"], **run).run()


def records(folder: Path) -> dict[str, Any]:
    """Return every kind of record that the public functions return."""
    results, study, pca = _results(), _study(folder), dreval.embed(pd.DataFrame(X, columns=list("pqr")), "pca")
    results.save(folder / "r.dreval")
    protocol = dreval.Protocol(X, 2, n_transformations=2, n_replicates=1, random_state=0)
    return {
        "results": results,
        "loaded": dreval.load_results(folder / "r.dreval"),
        "pickled": pickle.loads(pickle.dumps(results)),
        "sparse": dreval.Evaluation(sparse.csr_array(np.abs(X)), {"a": Y}, n_neighbors=5).run("continuity", None),
        "one embedding": results["a"],
        "comparison": results.compare(),
        "across": study.compare(),
        "certificate": results.certificate("a", n_resamples=19),
        "embedding": pca,
        "map": pca.embedding_map(),
        "map back": pca.reconstruction_map(),
        "test": dreval.hsic_test(X, Y, n_resamples=19, random_state=0),
        "many": dreval.kcca_test(X, Y, X[:, 2], n_resamples=19, random_state=0),
        "kappas": dreval.kappa_curve(X, Y, n_resamples=19, random_state=0),
        "bandwidths": dreval.bandwidth_curve(X, Y, n_resamples=19, random_state=0),
        "intrinsic dimension": dreval.intrinsic_dimension(X, method="mle", n_neighbors=5, random_state=0),
        "graph recall": dreval.graph_recall(np.argsort(cdist(X, X), axis=1)[:, :4], X),
        "generalization bound": dreval.generalization_bound(X, 1),
        "columns": dreval.column_importance(X, Y, n_neighbors=3, n_resamples=19, random_state=0),
        "parallel analysis": dreval.parallel_analysis(X, n_resamples=19, random_state=0),
        "sweep": dreval.sweep(X, "pca", {"n_components": [1, 2]}, n_neighbors=3, n_replicates=3, random_state=0),
        "singularity": (soft := dreval.singularity_score(FLAT, 8 * FLAT, perplexity=12, polish=True)),
        "perturbation": dreval.perturbation_score(FLAT, soft.coordinates, perplexity=12, points=[0]),
        "perplexities": dreval.perplexity_curve(FLAT, [12], n_replicates=3, random_state=0),
        "distortion": dreval.local_distortion(X, Y, n_neighbors=5),
        "trustability": dreval.trustability(X, "pca", random_state=0),
        "consistency": dreval.tractable_consistency(X, "pca", n_transformations=3, n_replicates=0, random_state=0),
        "reconstruction": dreval.reconstruction_error(X, "pca", random_state=0),
        "data set": dreval.simulate("swiss_roll", 30, random_state=0),
        "bundled": dreval.load_dataset("wdbc"),
        "study status": study.status(),
        "protocol status": protocol.export(folder / "tool"),
        "card": dreval.card("trustworthiness"),
        "data set's card": dreval.card("swiss_roll"),
    }


def attributes(record: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Return the names of public attributes and of methods without arguments of a record."""
    for name in (field.name for field in dataclasses.fields(record) if not field.name.startswith("_")):
        yield name, lambda name=name: getattr(record, name)
    for verb in ("tidy", "glance", "augment", "ranking"):
        if hasattr(record, verb) and not (verb == "ranking" and isinstance(record, dreval.IndependenceTest)):
            yield f"{verb}()", lambda verb=verb: getattr(record, verb)()


def spoil(value: Any, depth: int = 0) -> None:
    """Write into a value and all its elements, unless that raises; not through ``Series.array``.

    That goes round the copy-on-write of pandas, as its documentation says.
    """
    if depth > 6 or isinstance(value, str | bytes | int | float | type(None)):
        return
    if isinstance(value, np.ndarray):
        _try(lambda: value.__setitem__(..., value[::-1].copy() if value.dtype.kind in "OU" else 77))
        _try(
            lambda: (
                setattr(value.flags, "writeable", True) or value.__setitem__(..., 77) if value.base is None else None
            )
        )
    elif isinstance(value, pd.DataFrame):
        for column in range(value.shape[1]):
            inside = value.iloc[:, column]
            spoil(inside.to_numpy(), depth + 1)
            for cell in inside.head(3) if inside.dtype == object else ():
                spoil(cell, depth + 1)
            _try(lambda column=column: value.isetitem(column, 77))
        if PANDAS_3:  # otherwise a deep copy shares the names of rows, which pandas considers immutable
            spoil(value.index.values, depth + 1)
        _try(lambda: value.insert(0, "new", 1))
    elif isinstance(value, pd.Index | pd.Series):
        spoil(value.to_numpy(), depth + 1)
        spoil(value.values, depth + 1)
    elif sparse.issparse(value):
        for part in (value.data, value.indices, value.indptr):
            spoil(part, depth + 1)
    elif isinstance(value, Mapping):
        for element in list(value.values()):
            spoil(element, depth + 1)
        _try(lambda: value.__setitem__("new", 1))
        _try(lambda: value.clear())
    elif isinstance(value, list | tuple | set):
        for element in list(value):
            spoil(element, depth + 1)
        _try(lambda: value.append(1))
        _try(lambda: value.clear())
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            if not field.name.startswith("_"):
                spoil(getattr(value, field.name), depth + 1)
                _try(lambda field=field: setattr(value, field.name, None))


def _try(write: Callable[[], Any]) -> None:
    """Try to write; the record shows whether it changed."""
    try:
        write()
    except (ValueError, TypeError, AttributeError, IndexError, KeyError, NotImplementedError):
        return


def plain_form(value: Any) -> Any:
    """A value as text that shows every number of it."""
    if isinstance(value, np.ndarray):
        return (value.shape, value.tolist())
    if isinstance(value, pd.DataFrame):
        return (list(value.columns), plain_form(value.index.to_numpy()), [plain_form(value[c].tolist()) for c in value])
    if isinstance(value, pd.Index | pd.Series):
        return value.tolist()
    if sparse.issparse(value):
        return plain_form(value.toarray())
    if isinstance(value, Mapping):
        return {key: plain_form(element) for key, element in value.items()}
    if isinstance(value, list | tuple):
        return [plain_form(element) for element in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: plain_form(getattr(value, field.name))
            for field in dataclasses.fields(value)
            if field.name[0] != "_"
        }
    return repr(value)


@pytest.mark.slow
def test_no_record_can_be_written_to(tmp_path: Path) -> None:
    """After writing into all that each record returns, each record returns the same values."""
    changes = {}
    for name, record in records(tmp_path).items():
        for attribute, get in attributes(record):
            original = repr(plain_form(get()))
            spoil(get())
            if repr(plain_form(get())) != original:
                changes.setdefault(name, []).append(attribute)
        with pytest.raises((AttributeError, TypeError)):
            setattr(record, dataclasses.fields(record)[0].name, None)
    assert changes == {}


@pytest.mark.slow
def test_records_are_compared_pickled_and_hashed(tmp_path: Path) -> None:
    """``==`` of a record and a copy is True or False and never an error; a pickled copy prints the same text."""
    failed = {}
    for name, record in records(tmp_path).items():
        copy = pickle.loads(pickle.dumps(record))
        if (record == record) is not True or not isinstance(record == copy, bool) or str(copy) != str(record):
            failed[name] = str(copy)[:100]
        hash(record)

    assert failed == {}


def test_cards_are_hashable_and_equal_to_a_copy() -> None:
    """A card of each kind is a key of a dict, under which a copy of it is found."""
    cards = [dreval.card(*names) for names in (("stress",), ("hsic",), ("pca",), ("digits",), ("map",), ("sweep",))]
    cards.append(dreval.card("cca", "method"))

    assert len(dict.fromkeys(cards)) == len(cards)
    assert all({card: name}[deepcopy(card)] == name for name, card in enumerate(cards))


@pytest.mark.parametrize("name", ["digits", "swiss_roll"])
def test_a_data_set_pickles(name: str) -> None:
    """Its arrays are those of the original, and comparing the two does not raise."""
    data = dreval.load_dataset(name) if name == "digits" else dreval.simulate(name, 30, random_state=0)
    copy = pickle.loads(pickle.dumps(data))

    np.testing.assert_array_equal(copy.data, data.data)
    assert (copy.card, copy.recipe, copy.feature_names) == (data.card, data.recipe, data.feature_names)
    assert isinstance(copy == data, bool)


def test_dicts_and_lists_of_a_record_are_as_any_others_but_for_changes() -> None:
    """They are equal to plain ones, and pickled; a copy is a plain one, and the error for a change names the record."""
    results = _results()
    recipe = results.recipe
    assert isinstance(recipe, dict)
    assert recipe == dict(recipe)
    assert pickle.loads(pickle.dumps(recipe)) == recipe
    for copy in (deepcopy(recipe), recipe.copy(), {**recipe}, recipe | {}):
        assert type(copy) is dict
        assert copy == recipe
    with pytest.raises(TypeError, match="this dict belongs to a record, which cannot be changed; copy it first"):
        recipe["call"] = ""
    with pytest.raises(TypeError, match="'FrozenItems' object does not support item assignment"):
        results.points["a"] = None


@pytest.mark.skipif(not PANDAS_3, reason="pandas before version 3 copies a table as a whole")
def test_tables_are_handed_out_without_copying_them() -> None:
    """A million points take no longer than twenty: no number is copied until it is written."""
    rows = 1_000_000
    frame = pd.DataFrame(np.zeros((rows, 10)))
    large = dataclasses.replace(_results(), points={"a": frame}, table=frame, recipe={"columns": ["c"] * rows})
    for get in (lambda: large.points["a"], lambda: large.table, lambda: large.recipe):
        seconds = []
        for _ in range(5):
            began = time.perf_counter()
            get()
            seconds.append(time.perf_counter() - began)
        assert min(seconds) < 1e-3


def test_arrays_are_frozen_once() -> None:
    """An attribute is the same read-only array at each access; the array that was passed can still be written to."""
    coordinates = Y.copy()
    record = Embedding(coordinates, "example")
    for copy in (record, deepcopy(record), pickle.loads(pickle.dumps(record)), dataclasses.replace(record)):
        assert copy.coordinates is copy.coordinates
        assert not copy.coordinates.flags.writeable
    coordinates[0, 0] = 77
    assert record.coordinates[0, 0] == 77


def test_a_sparse_matrix_is_handed_out_as_a_copy() -> None:
    """Other entries of the matrix of a result are not those of the result."""
    results = dreval.Evaluation(sparse.csr_array(np.abs(X)), {"a": Y}, n_neighbors=5).run("continuity", None)
    results.data.data = np.zeros(X.size)
    np.testing.assert_array_equal(results.data.toarray(), np.abs(X))
