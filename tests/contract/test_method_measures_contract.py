"""The properties that the cards of measures of methods declare, tested for each of the registry."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from each import each
from hypothesis import given
from numpy.testing import assert_array_equal
from strategies import pairs

import dreval
from dreval.errors import MethodFailed
from dreval.records.estimates import MeasureRecord
from dreval.records.frames import notes_of_table
from dreval.registry import MEASURES

NAMES = [name for name in MEASURES if MEASURES.card(name).level == "algorithm"]
FEW_RUNS = {"tractable_consistency": {"n_transformations": 5, "n_replicates": 1}}
COMPARING = [name for name in NAMES if MEASURES.card(name).direction == "lower"]  # data and embedding, or reruns
every_measure = each("name", NAMES)
every_comparing = each("name", COMPARING)


def value(name, X, source, **options):
    return getattr(dreval, name)(X, source, **{"random_state": 0, **FEW_RUNS.get(name, {}), **options})


def cloud(n=40, p=3):
    return np.random.default_rng(0).normal(size=(n, p)) * np.linspace(2, 0.5, p)


def bent(X, n_components):
    """Return a smooth embedding of the data, with the requested number of columns."""
    return np.tanh(X - X.mean(axis=0))[:, :n_components]


def test_the_five_measures_of_methods():
    """These are all; stability compares embeddings, held-out fidelity reads other data: both have separate tests."""
    assert NAMES == ["held_out_fidelity", "reconstruction_error", "stability", "tractable_consistency", "trustability"]
    assert set(NAMES) - set(COMPARING) == {"held_out_fidelity", "stability"}


@given(pair=pairs(min_n=6, max_n=20))
@every_comparing
def test_values_lie_within_the_bounds(name, pair):
    """Any data and embedding give a record within the card's bounds; too many columns raise an error."""
    X, Y = pair
    low, high = MEASURES.card(name).bounds
    if Y.shape[1] > 2 and name == "tractable_consistency":
        with pytest.raises(MethodFailed, match="must return at most 2 columns, its n_components"):
            value(name, X, lambda *_: Y)
    record = value(name, X, lambda _, n_components: Y[:, :n_components])
    assert isinstance(record, MeasureRecord)
    assert low <= float(record) <= high


@every_comparing
def test_a_perfect_method_is_best_and_a_random_one_worse(name):
    """PCA at full width is next to the best value, and permuted embeddings are far from it."""
    X, rng = cloud(n=80), np.random.default_rng(0)
    best = float(value(name, X, dreval.methods.PCA(n_components=3)))
    assert best < 0.06
    assert float(value(name, X, lambda X, d: rng.permutation(X)[:, :d])) > 0.8


@every_measure
def test_declared_invariances_hold(name):
    """Translation, rotation with reflection, and scaling of every embedding have no effect."""
    X = cloud()
    left = float(value(name, X, bent))

    def transformed(X, n_components):
        Y = bent(X, n_components)
        turn = np.linalg.qr(np.random.default_rng(1).normal(size=(Y.shape[1], Y.shape[1])))[0]
        return 1e5 * (Y @ turn + 3.0)

    assert MEASURES.card(name).invariances == {"translation", "rotation", "scale"}
    assert float(value(name, X, transformed)) == pytest.approx(left, rel=1e-5)


@every_measure
def test_inputs_are_not_written_and_frames_are_arrays(name):
    """Read-only data are unchanged; a frame, single precision and a Fortran array give the same."""
    X = cloud().astype(np.float32).astype(float)
    original = X.copy()
    X.setflags(write=False)
    record = value(name, X, "isomap")
    assert_array_equal(X, original)
    for form in (pd.DataFrame(X), np.asfortranarray(X), X.astype(np.float32)):
        assert float(value(name, form, "isomap")) == float(record)


@every_measure
def test_a_seed_is_a_seed(name):
    """The same seed gives the same number for a random method."""

    def random_method(X, n_components, random_state=0):
        return X[:, :n_components] + np.random.default_rng(random_state).normal(size=(len(X), n_components))

    X = cloud()
    original, repeated, different = (float(value(name, X, random_method, random_state=seed)) for seed in (3, 3, 4))
    assert original == repeated != different


@every_comparing
def test_supervised_sources_get_the_labels(name):
    """A function that accepts labels receives them."""
    X, received = cloud(), []

    def supervised(X, n_components, labels):
        received.append(list(labels))
        return X[:, :n_components]

    value(name, X, supervised, labels=list("ab") * 20)
    assert received[0] == list("ab") * 20


@every_measure
def test_an_evaluation_has_the_same_number(name):
    """A row of an evaluation has the value of the function with the same seed; the note has the parts."""
    X = cloud()
    options = {name: FEW_RUNS[name]} if name in FEW_RUNS else None
    ev = dreval.Evaluation(X, {"iso": "isomap", "xy": X[:, :2]}, n_neighbors=5, random_state=7)
    results = ev.run(["trustworthiness", name], ci=None, options=options)
    table = results.table.set_index(["measure", "embedding"])
    expected = value(name, X, "isomap", random_state=7)
    row = table.loc[(name, "iso")]
    assert (row["value"], row["chance"]) == (float(expected), expected.chance)
    values = notes_of_table(results.notes.query("measure == @name and embedding == 'iso' and code == 'parts'"))[0]
    assert row["note"].startswith(str(values))
    parts = {key: part for key, part in expected.parts.items() if part == part and part != ""}
    assert dict(dict(values.values)["parts"]) == parts
    other_row = table.loc[(name, "xy")]
    if "method" in MEASURES.card(name).needs:
        assert np.isnan(other_row["value"])
        assert "coordinates only" in other_row["note"]
        assert "Pass the estimator" in other_row["note"]
    else:
        assert other_row["value"] > 0
    assert list(table.index.get_level_values("measure")) == ["trustworthiness", name] * 2


@every_measure
def test_one_method_has_one_number_in_a_table(name):
    """A method under two names has the same numbers: transformations, folds and permutations are shared."""
    X = cloud()
    options = {name: FEW_RUNS[name]} if name in FEW_RUNS else None
    table = dreval.Evaluation(X, {"p1": "pca", "p2": "pca"}, n_neighbors=5, random_state=3).run(
        name, ci=None, options=options
    )
    row, second = (table.table.query("embedding == @name").iloc[0] for name in ("p1", "p2"))
    assert (row["value"], row["chance"], row["note"]) == (second["value"], second["chance"], second["note"])
    assert row["value"] == float(value(name, X, "pca", random_state=3))


def test_they_are_never_computed_by_default():
    """Default measures re-run nothing; "all" has every measure, also where it can only give the reason."""
    X = cloud()
    calls = []

    def method(X, n_components):
        calls.append(1)
        return X[:, :n_components]

    ev = dreval.Evaluation(X, {"m": method}, n_neighbors=5, random_state=0)
    assert not set(NAMES) & set(ev.run(ci=None).table["measure"])
    assert len(calls) == 1
    result = ev.run("all", ci=None, options=FEW_RUNS).table
    assert set(NAMES) <= set(result["measure"])


def test_options_are_checked_before_anything_runs():
    """Unknown names and values raise errors; a journal is accepted."""
    ev = dreval.Evaluation(cloud(), {"pca": "pca"}, n_neighbors=5, random_state=0)
    for invalid in ({"n_transformation": 3}, {"transformation": "shift"}, {"random_state": 3}):
        with pytest.raises(dreval.errors.UnknownName, match="must be a known name"):
            ev.run("tractable_consistency", options={"tractable_consistency": invalid})
    with pytest.raises(dreval.errors.InputError, match="`amplitude`"):
        ev.run("tractable_consistency", options={"tractable_consistency": {"amplitude": -1.0}})
