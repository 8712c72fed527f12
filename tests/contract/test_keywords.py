"""One keyword has one meaning in all functions, record methods, methods, data sets, options and commands."""

from __future__ import annotations

import argparse
import inspect
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import dreval
from dreval.cli._main import _parser
from dreval.evaluation.plan import CI_OPTIONS
from dreval.methods._costs import COSTS
from dreval.methods._mappings import MAPPINGS
from dreval.records.comparison import Comparison
from dreval.records.points import Embedding
from dreval.registry import DATASETS, FIGURES, METHODS

# Synonyms: the first of each group is the keyword of dreval.
GROUPS = [
    ("algorithm", "solver", "optimizer"),
    ("amplitude", "amplitudes", "magnitude"),
    ("bandwidth", "length_scale", "kernel_width", "lengthscale"),
    ("conf_level", "confidence", "confidence_level", "level"),
    ("alpha", "significance", "sig_level"),
    ("dataset", "data_set"),
    ("disconnected", "components", "connect", "connectivity"),
    ("format", "form", "fmt"),
    ("ids", "row_names", "obs_names", "names_of_rows"),
    ("init", "start", "initial", "initialization", "Y0"),
    ("kernel", "x_kernel", "y_kernel", "kernels"),
    ("labels", "classes"),
    ("learning_rate", "lr", "eta", "step_size"),
    ("max_iter", "n_iter", "n_iterations", "iterations", "n_rounds", "n_steps", "max_steps"),
    ("metric", "distance", "dissimilarity"),
    ("n_charts", "n_pieces", "n_regions", "n_local_models", "n_patches"),
    ("n_components", "d", "dim", "n_dims", "ndim"),
    ("n_epochs", "epochs"),
    ("n_splits", "n_folds", "cv", "folds"),
    ("n_init", "n_starts", "n_restarts", "restarts"),
    ("n_jobs", "n_threads", "threads", "workers", "n_workers"),
    ("n_neighbors", "k", "neighbors"),
    ("n_replicates", "replicates", "n_reseeds", "n_runs", "n_repeats"),
    ("n_resamples", "n_permutations", "n_perms", "perms", "n_bootstrap"),
    ("journal", "store", "checkpoint", "resume"),
    ("path", "filename", "fname"),
    ("progress", "verbose"),
    ("random_state", "seed"),
    ("reg", "ridge", "regularization", "weight_decay", "lam"),
    ("repulsion", "repulsion_strength"),
    ("tol", "tolerance", "eps", "epsilon"),
]
# Keywords that are numbers or texts with one meaning.
NUMBERS_OR_WORDS = ("n_neighbors",)  # "auto"


def _public() -> Iterator[tuple[str, Any]]:
    """Yield every public callable with its name."""
    for name in dreval._public_names():
        function = getattr(dreval, name)
        if callable(function):
            yield name, function
    for record in (dreval.Evaluation, dreval.Results, dreval.Study, dreval.Protocol, Comparison, Embedding):
        for method in (
            attribute
            for attribute in dir(record)
            if not attribute.startswith("_") and callable(getattr(record, attribute))
        ):
            yield f"{record.__name__}.{method}", getattr(record, method)
    yield from ((f"methods.{METHODS.card(name).class_name}", METHODS.get(name)) for name in METHODS)


def keywords() -> dict[str, dict[str, Any]]:
    """Return the callables of each keyword with its defaults."""
    result: dict[str, dict[str, Any]] = defaultdict(dict)
    for name, function in _public():
        for parameter in inspect.signature(function).parameters.values():
            result[parameter.name][name] = parameter.default
    several = [(name, DATASETS.card(name).parameters) for name in DATASETS]
    several += [(f"plot {card.name}", dict.fromkeys(card.options)) for card in FIGURES.cards()]
    several += [(name, dict.fromkeys(component.card.parameters)) for name, component in {**COSTS, **MAPPINGS}.items()]
    several += [(f"options {name}", options) for name, options in CI_OPTIONS.items()]
    several += [("command line", dict.fromkeys(_flags(_parser())))]
    for name, options in several:
        for key in options:
            result[key][name] = options[key] if isinstance(options, dict) else None
    return result


def _flags(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield the options of a command and of all its subcommands."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from _flags(below)
        elif action.option_strings:
            yield action.dest


def test_a_thing_has_one_keyword() -> None:
    """Of each group of synonyms only the first is a keyword."""
    table = keywords()
    assert len(table) > 150
    assert {word: list(table[word]) for group in GROUPS for word in group[1:] if word in table} == {}
    assert {group[0] for group in GROUPS} <= table.keys()


def test_a_keyword_means_one_thing() -> None:
    """The defaults of a keyword are all numbers, all texts or all truth values."""
    kinds = {
        key: {_kind(default) for default in places.values()} - {None}
        for key, places in keywords().items()
        if key not in NUMBERS_OR_WORDS
    }
    assert {key: result for key, result in kinds.items() if len(result) > 1} == {}


def _kind(default: Any) -> str | None:
    """Return the kind of a default: number, text or truth value; None for others."""
    if isinstance(default, bool):
        return "yes or no"
    if isinstance(default, str):
        return "word"
    return "number" if isinstance(default, int | float) else None
