"""What a study is made of: its data sets and methods in normal form, and what they are, in words for its file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from dreval._check import check_one_of, check_parameters, describe
from dreval.datasets._dataset import load_dataset, simulate
from dreval.errors import DrevalError, InputError
from dreval.evaluation.recipe import check_name
from dreval.inputs.data import Data, as_data
from dreval.inputs.files import stem_of
from dreval.inputs.identity import digest, identity
from dreval.inputs.source import BUNDLED, Source, as_source
from dreval.inputs.tables import is_path
from dreval.registry import DATASETS, METHODS

__all__ = ["about_data", "about_method", "make_datasets", "make_methods"]

VARIABLES = ("labels", "latent", "covariates", "ids", "layer")


def make_datasets(given: Any, labels: Any, metric: str, root: int) -> dict[str, Data]:
    """The data sets by name, in normal form."""
    found = _named(given, "datasets", '{"mine": X}')
    labels = {} if labels is None else labels
    if not isinstance(labels, Mapping):
        cure = 'Pass {"mine": labels}, by the names of the data sets.'
        raise InputError("labels", "must be a dict of names to labels", describe(labels), cure)
    for name in labels:
        check_one_of(name, found, "labels")
    return {name: _data(name, value, labels.get(name), metric, root) for name, value in found.items()}


def make_methods(given: Any, data: Data) -> dict[str, Source]:
    """The methods by name, as sources that can be run on any data; nothing is run."""
    found = _named(given, "methods", '{"mine": estimator}')
    return {name: _method(name, value, data) for name, value in found.items()}


def about_data(data: Data) -> dict[str, Any]:
    """What the file keeps of a data set: its size and hashes."""
    return {
        "n": data.n,
        "p": data.p,
        "sha256": data.sha256(),
        "labels": None if data.labels is None else digest(data.labels.values.astype(str)),
        "latent": None if data.latent is None else digest(data.latent),
    }


def about_method(source: Source) -> dict[str, Any]:
    """What the file keeps of a method: name, parameters, version, and the hash of code of no package."""
    card = source.card
    return {**identity(source), "deterministic": bool(getattr(card, "deterministic", False))}


def _named(given: Any, argument: str, example: str) -> dict[str, Any]:
    """Things by name, each name checked: a dict, or names of things that name themselves."""
    if isinstance(given, str | os.PathLike) or hasattr(given, "card"):
        given = [given]
    if not isinstance(given, Mapping | list | tuple) or not given:
        cure = f"Pass names, or {example}."
        raise InputError(argument, "must be a list of names, or a dict", describe(given), cure)
    pairs = (
        list(given.items())
        if isinstance(given, Mapping)
        else [(_own_name(one, argument, example), one) for one in given]
    )
    found: dict[str, Any] = {}
    for name, value in pairs:
        found[_checked(name, found, argument)] = value
    return found


def _checked(name: Any, found: Mapping[str, Any], argument: str) -> str:
    """A name that no other has, refused in the words of the argument."""
    try:
        return check_name(name, found)
    except InputError as error:
        raise InputError(argument, f"must have names: each {error.rule}", error.got, "Choose other names.") from error


def _own_name(value: Any, argument: str, example: str) -> str:
    """What a thing without a name is called."""
    if isinstance(value, str | os.PathLike):
        known = DATASETS if argument == "datasets" else METHODS
        return str(value) if value in known or not is_path(value) else stem_of(value)
    card = getattr(value, "card", None)
    if card is not None:
        return str(card.name)
    got = f"the function {value.__name__}" if hasattr(value, "__name__") else describe(value)
    raise InputError(argument, "must have names", got, f"Pass a dict, as {example}.")


@contextmanager
def _called(argument: str, *inner: str) -> Iterator[None]:
    """Refusals in the words of the study: what is ``inner`` elsewhere is ``argument`` here."""
    try:
        yield
    except DrevalError as error:
        said = argument if error.argument in inner else f"{argument}: {error.argument}"
        raise type(error)(said, error.rule, error.got, error.cure) from error


def _opened(argument: str, value: Any, key: str, cure: str) -> tuple[Any, dict[str, Any]]:
    """What stands under the key of a dict, and the rest of it as options; anything else has none."""
    if not isinstance(value, Mapping):
        return value, {}
    options = dict(value)
    if key not in options:
        got = f"a dict with {', '.join(map(str, options)) or 'nothing'}"
        raise InputError(argument, f"must say its {key}", got, cure)
    return options.pop(key), options


def _data(name: str, value: Any, labels: Any, metric: str, root: int) -> Data:
    """One data set: a bundled or simulated one by its name, or whatever ``as_data`` takes."""
    argument = f"datasets[{name!r}]"
    cure = 'Write {"data": X, "labels": y}, or {"data": "swiss_roll", "n": 400}.'
    value, options = (value, {}) if hasattr(value, "data") else _opened(argument, value, "data", cure)
    own = {key: options.pop(key) for key in list(options) if key not in VARIABLES}
    if labels is not None:
        options["labels"] = labels
    with _called(argument, "data", "name"):
        if isinstance(value, str) and value in DATASETS:
            value, own = _bundled(value, own, root), {}
        check_parameters(own, VARIABLES, "data")
        return replace(
            as_data(value, name=name, metric=metric, **options), obsm={}, covariates={}
        )  # what no cell reads


def _bundled(name: str, parameters: dict[str, Any], root: int) -> Any:
    """A data set of this package; a simulation is drawn with the seed of the study, unless it is given another one."""
    if DATASETS.card(name).kind == "simulated":
        return simulate(name, **{"random_state": root, **parameters})
    check_parameters(parameters, (), name)
    return load_dataset(name)


def _method(name: str, value: Any, data: Data) -> Source:
    """One method: a bundled one by its name, an estimator or a callable, with its parameters."""
    argument = f"methods[{name!r}]"
    value, options = _opened(argument, value, "method", 'Write {"method": "isomap", "n_neighbors": 10}.')
    if "n_components" in options:
        cure = "Pass n_components to the study, for all methods."
        raise InputError(
            argument, "must leave the number of components to the study", repr(options["n_components"]), cure
        )
    if isinstance(value, str):
        value = value.removeprefix(BUNDLED)
        check_one_of(value, METHODS, argument, METHODS.listing)
    with _called(argument, f"embeddings[{name!r}]"):
        source = as_source(value, name, data, **options)
    if not source.can_embed or source.recording is not None:
        cure = "Pass the name of a bundled method, an estimator or a callable."
        raise InputError(argument, "must be something that can be run", str(source.reason or "recorded runs"), cure)
    return source
