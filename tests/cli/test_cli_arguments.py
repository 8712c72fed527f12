"""Options of commands are made of signatures and docstrings."""

from __future__ import annotations

import argparse
import importlib
import inspect
from functools import reduce

import pytest

from dreval.cli._arguments import add_arguments, function_arguments, integer_or_word
from dreval.cli._main import _parser

PLACES = [
    "dreval.analyses.representation_similarity:representation_similarity",
    "dreval.evaluation.evaluation:Evaluation",
    "dreval.evaluation.evaluation:Evaluation.run",
    "dreval.comparison.compare:compare",
    "dreval.inputs.source:embed",
    "dreval.measures.consistency:tractable_consistency",
    "dreval.protocol.protocol:Protocol",
    "dreval.protocol.protocol:Protocol.export",
    "dreval.registry:card",
    "dreval.study.study:Study",
    "dreval.study.study:Study.run",
    "dreval.study.sweep:sweep",
]


@pytest.mark.parametrize("place", PLACES)
def test_the_source_has_the_arguments_of_the_function(place: str) -> None:
    """Names and defaults read from the source are those of the signature."""
    module, _, name = place.partition(":")
    function = reduce(getattr, name.split("."), importlib.import_module(module))
    parameters = [
        p for p in inspect.signature(function).parameters.values() if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
    ]
    expected = {p.name: None if p.default is p.empty else p.default for p in parameters}
    assert {key: argument.default for key, argument in function_arguments(place).items() if key != "self"} == {
        key: default for key, default in expected.items() if key != "self"
    }


def test_every_place_is_read() -> None:
    """The commands read no other functions than those above."""
    function_arguments.cache_clear()
    _parser()
    assert function_arguments.cache_info().currsize == len(PLACES)


def test_an_option_has_type_default_and_sentence() -> None:
    parser = argparse.ArgumentParser()
    names = ("n_replicates", "over", "n_neighbors", "alpha")
    add_arguments(parser, "dreval.study.sweep:sweep", names, alpha={"sentence": "level"}, over={"short": "-o"})
    options = parser.parse_args(["-o", "halves", "--n-neighbors", "5,10"])
    assert vars(options) == {"n_replicates": 5, "over": "halves", "n_neighbors": [5, 10], "alpha": 0.05}
    helped = {action.dest: action.help for action in parser._actions}
    assert helped["n_replicates"] == "number R of replicates, at least 3 (5)"
    assert helped["over"] == "the replicates; one of: auto, seeds, halves, split_measurements (auto)"
    assert helped["alpha"] == "level (0.05)"


def test_an_option_without_default_is_none() -> None:
    parser = argparse.ArgumentParser()
    add_arguments(parser, "dreval.study.study:Study", ("n_replicates",), defaults=False)
    assert parser.parse_args([]).n_replicates is None


@pytest.mark.parametrize(
    ("words", "message"), [(["all"], "an integer or all"), (["a", "none"], "an integer, a or none")]
)
def test_the_error_names_the_words(words: list[str], message: str) -> None:
    assert integer_or_word("7", words) == 7
    assert integer_or_word(words[-1], words) == words[-1]
    with pytest.raises(argparse.ArgumentTypeError, match=f"must be {message}: got 'some'"):
        integer_or_word("some", words)
