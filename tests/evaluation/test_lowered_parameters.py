"""Parameters that a method lowers: a note reports it, and the recipe has the value of the run."""

from __future__ import annotations

import ast
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dreval
from dreval.errors import ApproximationWarning, collect_notes, warn
from dreval.inputs.source_kinds import lowered_parameters
from dreval.records.notes import note
from dreval.registry import METHODS

CODES = {"n_affinities": "affinities.fewer", "n_neighbors": "neighbors.fewer", "perplexity": "perplexity.smaller"}
CASES = [("tsne", "perplexity"), ("umap", "n_neighbors"), ("isomap", "n_neighbors"), ("lle", "n_neighbors")]
CASES += [("linear_tsne", "n_affinities")]


def cloud(n: int) -> np.ndarray:
    return np.random.default_rng(n).normal(size=(n, 4))


def most(parameter: str, n: int) -> float:
    """The largest value that n points allow."""
    return (n - 1) / 3 if parameter == "perplexity" else n - 1


@given(case=st.sampled_from(CASES), n=st.integers(8, 16), beyond=st.integers(-2, 9), instance=st.booleans())
@settings(max_examples=12, deadline=None)
def test_the_recipe_has_the_values_of_the_run(case, n, beyond, instance):
    """Above the largest value, the largest is used, with a note on both; up to it the passed value is used without a
    note.
    """
    method, parameter = case
    expected, used = max(int(most(parameter, n)) + beyond, 2), most(parameter, n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ApproximationWarning)  # a filter hides no note
        source = METHODS.get(method)(**{parameter: expected}) if instance else method
        options = {} if instance else {parameter: expected}
        evaluation = dreval.Evaluation(cloud(n), n_neighbors=3, random_state=0).with_embedding("e", source, **options)
        results = evaluation.run("trustworthiness", None, None)
    lowered_notes = results.notes[results.notes["code"] == CODES[parameter]]
    messages = [{**row} for row in lowered_notes["values"]]

    assert messages == ([{"wanted": expected, "n": n, "used": used}] if expected > used else [])
    assert set(lowered_notes["scope"]) <= {"e"}
    assert ast.literal_eval(results.recipe["sources"]["e"]["parameters"][parameter]) == min(expected, used)


@pytest.mark.parametrize(("method", "parameter"), CASES)
def test_an_embedding_is_reproduced_by_its_parameters(method, parameter):
    """The coordinates are the same without a warning, and equal those of the passed value."""
    X = cloud(12)
    with pytest.warns(ApproximationWarning):
        output = dreval.embed(X, method, random_state=3, **{parameter: 40})
    repeated = dreval.embed(X, method, random_state=3, **output.parameters | {"n_components": 2})

    assert output.parameters[parameter] == most(parameter, 12)
    assert [entry.code for entry in output.notes].count(CODES[parameter]) == 1
    assert not [entry for entry in repeated.notes if entry.code in CODES.values()]
    np.testing.assert_array_equal(output.coordinates, repeated.coordinates)


def test_a_stored_embedding_has_its_notes(tmp_path):
    """The second run reads the embedding: it does not warn, and has the same notes."""
    evaluation = dreval.Evaluation(cloud(12), {"e": "umap"}, n_neighbors=3, random_state=0)
    with pytest.warns(ApproximationWarning, match="15 neighbors are too many for 12 points"):
        result = evaluation.run("trustworthiness", None, None, journal=tmp_path / "kept.journal")
    second = evaluation.run("trustworthiness", None, None, journal=tmp_path / "kept.journal")

    assert second.notes["text"].tolist() == result.notes["text"].tolist()
    assert second.recipe["sources"] == result.recipe["sources"]
    assert second.recipe["sources"]["e"]["parameters"]["n_neighbors"] == "11"


def test_a_page_has_the_values_of_the_run(tmp_path):
    """The parameters hold the value of the run; only the note holds the requested one."""
    with pytest.warns(ApproximationWarning):
        results = dreval.Evaluation(cloud(16), {"e": "tsne"}, n_neighbors=3, random_state=0).run(
            "trustworthiness", None, None
        )
    page = results.report(tmp_path / "page.html").read_text()
    assert "perplexity=5.0" in page
    assert "perplexity=30" not in page
    assert "A perplexity of 30 is too large for 16 points; 5 was used" in page


def test_notes_on_a_part_of_the_points_do_not_concern_parameters():
    """A part has fewer points than the data."""
    text = [note("neighbors.fewer", wanted=9, n=6, used=5), note("perplexity.smaller", wanted=30.0, n=16, used=5.0)]
    assert lowered_parameters(text, 16) == {"perplexity": 5.0}
    assert lowered_parameters(text, 6) == {"n_neighbors": 5}
    assert lowered_parameters(text, 7) == {}


def test_the_notes_that_a_block_collects():
    """Notes of the block and of nested blocks are collected, also where warnings are errors; text and other blocks are
    not.
    """
    small, large = (note("neighbors.fewer", wanted=9, n=6, used=used) for used in (5, 4))
    with warnings.catch_warnings(record=True) as records, collect_notes() as outer:
        warnings.simplefilter("always")
        with collect_notes() as inner:
            warn(ApproximationWarning(small))
        warn(ApproximationWarning(large))
        warn(ApproximationWarning("text"))
    with pytest.raises(ApproximationWarning), collect_notes() as failed:
        warn(ApproximationWarning(small))

    assert (inner, outer, failed, len(records)) == ([small], [small, large], [small], 3)
