"""The parts of a study, checked before anything is computed: data sets, methods, and settings of all cells."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from dreval._check import (
    MIN_POINTS,
    check_anchors,
    check_float,
    check_k,
    check_one_of,
    check_parameters,
    describe,
    function_name,
)
from dreval.datasets._dataset import simulate
from dreval.datasets._raw import load_dataset
from dreval.errors import DrevalError, Hint, InputError
from dreval.evaluation.plan import listed, plan_measures
from dreval.evaluation.recipe import check_name, check_options, metric_entry
from dreval.inputs._text import warn_of_first_rows
from dreval.inputs.data import Data, as_data
from dreval.inputs.identity import digest, identity
from dreval.inputs.paths import stem_of
from dreval.inputs.source import BUNDLED, Source, as_source
from dreval.inputs.tables import is_path
from dreval.registry import DATASETS, MEASURES, METHODS

VARIABLES = ("labels", "latent", "batch", "covariates", "covariate_types", "ids", "layer", "use_rep", "header")


def make_datasets(given: Any, labels: Any, metric: str, header: Any, root: int) -> dict[str, Data]:
    """The data sets by name, in normal form."""
    found = _named(given, "datasets", '{"mine": X}')
    labels = {} if labels is None else labels
    if not isinstance(labels, Mapping):
        cure = 'Pass {"mine": labels}, by the names of the data sets.'
        raise InputError("labels", "must be a dict of names to labels", describe(labels), cure)
    for name in labels:
        check_one_of(name, found, "labels")
    return {name: _data(name, value, labels.get(name), metric, header, root) for name, value in found.items()}


def make_methods(given: Any, data: Data) -> dict[str, Source]:
    """The methods by name, as sources that can be run on any data; nothing is run."""
    found = _named(given, "methods", '{"mine": estimator}')
    return {name: _method(name, value, data) for name, value in found.items()}


def about_data(data: Data) -> dict[str, Any]:
    """The description of a data set in the file: its size and hashes."""
    return {
        "n": data.n,
        "p": data.p,
        "sha256": data.sha256,
        "labels": None if data.labels is None else digest(data.labels.values.astype(str)),
        "latent": None if data.latent is None else digest(data.latent),
        "batch": None if data.batch is None else digest(data.batch.values.astype(str)),
    }


def about_method(source: Source) -> dict[str, Any]:
    """The description of a method in the file: name, parameters, version, and a hash of code outside packages."""
    card = source.card
    deterministic = bool(getattr(card, "deterministic", False))
    return {**identity(source), "deterministic": deterministic, **metric_entry(source)}


def _named(given: Any, argument: str, example: str) -> dict[str, Any]:
    """A dict from names to values, from a dict or from a list of values that have names; each name is checked."""
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
    """A unique name; errors refer to the argument."""
    try:
        return check_name(name, found)
    except InputError as error:
        rule = f"must have names: each {error.rule}"
        raise error.altered(InputError, argument=argument, rule=rule, cure="Choose other names.") from error


def _own_name(value: Any, argument: str, example: str) -> str:
    """The name of a value that is not in a dict: its own, that of its card, or of its file."""
    if isinstance(value, str | os.PathLike):
        known = DATASETS if argument == "datasets" else METHODS
        return str(value) if value in known or not is_path(value) else stem_of(value)
    card = getattr(value, "card", None)
    if card is not None:
        return str(card.name)
    got = f"the function {name}" if (name := function_name(value, "")) else describe(value)
    raise InputError(argument, "must have names", got, f"Pass a dict, as {example}.")


@contextmanager
def _called(argument: str, *inner: str) -> Iterator[None]:
    """Errors with the argument of the study in place of ``inner``, the argument of the function called."""
    try:
        yield
    except DrevalError as error:
        said = argument if error.argument in inner else f"{argument}: {error.argument}"
        raise error.altered(argument=said) from error


def _opened(argument: str, value: Any, key: str, cure: str) -> tuple[Any, dict[str, Any]]:
    """The value of a key of a dict, and the other entries as options; other values have no options."""
    if not isinstance(value, Mapping):
        return value, {}
    options = dict(value)
    if key not in options:
        got = f"a dict with {', '.join(map(str, options)) or 'nothing'}"
        raise InputError(argument, f"must have the key {key!r}", got, cure)
    return options.pop(key), options


def _data(name: str, value: Any, labels: Any, metric: str, header: Any, root: int) -> Data:
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
        made = as_data(value, name=name, metric=metric, **{"header": header, **options})
        warn_of_first_rows(made.notes)
        return replace(made.owned(), obsm={}, covariates={})  # not used by any cell


def _bundled(name: str, parameters: dict[str, Any], root: int) -> Any:
    """A bundled or simulated data set; a simulation uses the seed of the study unless it has its own."""
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
        value = check_one_of(value, METHODS.names(), argument, METHODS.listing, aliases=True)
    with _called(argument, f"embeddings[{name!r}]"):
        source = as_source(value, name, data, **options)
    if not source.can_embed or source.recording is not None:
        cure = "Pass the name of a bundled method, an estimator or a callable."
        raise InputError(argument, "must be a method that can be run", str(source.reason or "recorded runs"), cure)
    return source


MANY = 2**31  # more points than any data set has


@dataclass(frozen=True)
class Settings:
    """The settings of every cell."""

    measures: Any
    n_neighbors: list[int]
    metric: str
    anchors: int | str | None
    ci: str | None
    options: dict[str, dict[str, Any]]
    subsample: float | None
    random_state: int


def make_settings(
    measures: Any, n_neighbors: Any, metric: str, *, anchors: Any, ci: Any, options: Any, subsample: Any, root: int
) -> Settings:
    """The settings in normal form."""
    wanted = listed(measures)
    names = [wanted] if isinstance(wanted, str) and wanted not in ("default", "all") else wanted
    for name in names if isinstance(names, list) else ():
        if isinstance(name, str) and name in MEASURES and MEASURES.card(name).curve:
            cure = "Use r_nx_auc, q_local, q_global or k_max in place of a curve."
            raise InputError("measures", "must have one value for each embedding", f"the curve {name!r}", cure)
    checked = check_options(options)
    try:
        json.dumps(checked, allow_nan=False)
    except (TypeError, ValueError) as error:
        cure = "Pass numbers, text, lists and dicts, which the file can hold."
        raise InputError("options", "must be plain values", f"{describe(options)} ({error})", cure) from error
    anchors = anchors if isinstance(anchors, str) and anchors == "auto" else check_anchors(anchors, MANY)
    return Settings(
        measures=names,
        n_neighbors=check_k(n_neighbors, MANY)[0],
        metric=metric,
        anchors=anchors,
        ci=_interval_kind(ci, anchors),
        options=checked,
        subsample=None if subsample is None else check_float(subsample, "subsample", above=0.0, high=1.0),
        random_state=root,
    )


def points_per_replicate(settings: Settings, n: int) -> int:
    """Number of points of a data set in each replicate."""
    return n if settings.subsample is None else round(settings.subsample * n)


def check_fit(settings: Settings, name: str, data: Data) -> None:
    """Check settings against a data set: numbers of neighbors and anchors, options of measures."""
    n = points_per_replicate(settings, data.n)
    if n < MIN_POINTS:
        rule, got = f"must leave at least {MIN_POINTS} points", f"{settings.subsample} of {data.n} (data set {name!r})"
        raise InputError("subsample", rule, got, "Choose a larger share, or leave it out.")
    try:
        check_k(settings.n_neighbors, n)
        check_anchors(settings.anchors, n)
        plan = plan_measures(settings.measures, settings.n_neighbors, n, data.variables(), settings.options)
    except DrevalError as error:
        raise error.altered(got=f"{error.got} (data set {name!r})") from error
    if not [task for task in plan if not task.card.curve]:
        cure, rule = "Pass {default}, or names from {listing}.", "must name at least one measure"
        hints = {"default": Hint("measures", "default"), "listing": Hint("dreval.list_measures()")}
        raise InputError("measures", rule, repr(settings.measures), cure, **hints)


def _interval_kind(ci: Any, anchors: Any) -> str | None:
    """Intervals within a cell, or none."""
    if ci in (None, "none"):
        return None
    ci = check_one_of(ci, ("default", "points", "anchors", "none"), "ci", aliases=True)
    fits = {"points": anchors in (None, "auto"), "anchors": anchors not in (None, "auto")}
    if not fits.get(str(ci), True):
        cure = "Pass anchors=m as well." if ci == "anchors" else "Use ci='anchors', or anchors=None for all points."
        raise InputError("ci", "must match the anchors", f"{ci!r} with anchors={anchors}", cure)
    return str(ci)
