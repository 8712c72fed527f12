"""How each kind of source is made from what the user brings."""

from __future__ import annotations

import copy
import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from dreval._check import (
    check_finite,
    check_int,
    check_one_of,
    check_parameters,
    check_spread,
    known_names,
    nearest_name,
)
from dreval.errors import InputError, UnknownName
from dreval.inputs._align import align, own_ids
from dreval.inputs._anndata import is_anndata, stored_anndata
from dreval.inputs._forms import Raw, unpack
from dreval.inputs._notes import looks_like_ids
from dreval.inputs._numbers import frame_numbers
from dreval.inputs._output import Foreign, check_columns, embedding_notes
from dreval.inputs._paths import nearest_file, split_member
from dreval.inputs._source import Source
from dreval.inputs._sources import (
    CallableSource,
    CoordinateSource,
    EstimatorSource,
    MethodSource,
    assign,
    is_map,
    settable,
)
from dreval.inputs.data import Data
from dreval.registry import METHODS

__all__ = [
    "BUNDLED",
    "bundled_first",
    "callable_source",
    "coordinate_source",
    "estimator_source",
    "method_source",
    "no_options",
    "stored_key",
    "unknown_source",
]

BUNDLED = "method:"  # stands before the name of a bundled method, which is then looked up nowhere else


def stored_key(value: Any, data: Data) -> str | None:
    """The key of ``obsm`` that a name stands for: its own, or that with "X_" before it; None where there is none."""
    found = (key for key in (value, f"X_{value}") if key in data.obsm) if isinstance(value, str) else iter(())
    return next(found, None)


def bundled_first(value: Any) -> Any:
    """The name of a bundled method as one that is not looked up in ``obsm``, for what can be run only."""
    return f"{BUNDLED}{value}" if isinstance(value, str) and value in METHODS else value


def no_options(options: Mapping[str, Any], argument: str, what: str) -> None:
    """Refuse options where nothing will be run."""
    if options:
        listed = ", ".join(sorted(options))
        raise InputError(argument, f"takes no options for {what}", listed, "Leave them out.")


def unknown_source(value: str, data: Data, argument: str) -> UnknownName:
    """The error for a string that names nothing."""
    method, key, file = nearest_name(value, METHODS), nearest_name(value, data.obsm), nearest_file(value)
    found = [
        f"the obsm key {key!r}" if key else "",
        f"the method {method!r}" if method else "",
        f"the file {file!r}" if file else "",
    ]
    near = " or ".join(text for text in found if text)
    keys = f"Keys of obsm: {', '.join(sorted(data.obsm))}. " if data.obsm else ""
    cure = (f"Did you mean {near}? " if near else "") + keys + known_names(METHODS.names(), METHODS.listing)
    return UnknownName(argument, "must be a method, an obsm key or an existing file", repr(value), cure)


def method_source(value: str, name: str, options: Mapping[str, Any]) -> Source:
    """A bundled method by its name."""
    check_one_of(value, METHODS.names(), f"embeddings[{name!r}]", METHODS.listing)
    method = METHODS.get(value)
    check_parameters(options, inspect.signature(method).parameters, value)
    if "n_components" in options:
        check_int(options["n_components"], "n_components", low=1)
    return _with_notes(MethodSource(name, method, dict(options)), options)


def estimator_source(value: Any, name: str, argument: str, options: dict[str, Any], data: Data) -> Source:
    """An estimator, deep-copied, with its options set."""
    wanted = options.pop("supervised", None)
    with Foreign(argument, f"deepcopy of {type(value).__name__}"):
        estimator = copy.deepcopy(value)
    if options:
        check_parameters(options, settable(estimator), type(value).__name__)
        with Foreign(argument, f"{type(value).__name__}.set_params"):
            assign(estimator, options)
    labeled = bool(_demands_labels(estimator) if wanted is None else wanted)
    source = EstimatorSource(name, estimator, labeled, data.columns, notes=_fit_notes(estimator))
    return _with_notes(source, settable(estimator))


def _fit_notes(estimator: Any) -> tuple[str, ...]:
    """What is to be said of an estimator that cannot be fitted, or whose fit is not used."""
    if is_map(estimator):
        return (f"{type(estimator).__name__} is a map: it is applied as it is, and never fitted.",)
    fitted = [key for key in getattr(estimator, "__dict__", {}) if key.endswith("_") and not key.startswith("_")]
    return ("Its earlier fit is not used: a copy is fitted to the data.",) if fitted else ()


def _with_notes(source: Source, parameters: Mapping[str, Any]) -> Source:
    """The source with notes on what of its seed and number of columns is its own."""
    seeds = [value for key, value in parameters.items() if key.split("__")[-1] == "random_state"]
    notes = []
    if source.reseed_reason is None and any(seed is not None for seed in seeds):
        notes.append("Its own random_state is not used: each run has a seed from that of the evaluation.")
    estimator = getattr(source, "estimator", None)
    if estimator is not None and not hasattr(estimator, "set_params"):
        lost = [key for key in ("n_components", "random_state") if key not in parameters]
        words = f"{source.what} has no set_params and no attribute "
        notes += [f"{words}{' or '.join(lost)}: {'they stay' if lost[1:] else 'it stays'} its own."] if lost else []
    return replace(source, notes=(*source.notes, *notes))


def _demands_labels(estimator: Any) -> bool:
    """Whether ``fit`` or ``fit_transform`` cannot be called without ``y``, or the card says supervised."""
    if is_map(estimator):
        return False
    if getattr(getattr(type(estimator), "card", None), "supervised", False):
        return True
    parameters = [_parameters(getattr(estimator, verb, None)).get("y") for verb in ("fit", "fit_transform")]
    return any(parameter is not None and parameter.default is parameter.empty for parameter in parameters)


def _parameters(function: Any) -> dict[str, inspect.Parameter]:
    """Parameters of a function; none where it does not tell."""
    try:
        return dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return {}


def callable_source(value: Callable[..., Any], name: str, argument: str, options: Mapping[str, Any]) -> Source:
    """A function (X, n_components)."""
    parameters = _parameters(value)
    cure = "Pass a function: lambda X, n_components: ..."
    places = [p for p in parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(places) > 1 and places[1].name == "y":
        got = f"{getattr(value, '__name__', 'a function')}(X, y)"
        cure = "Pass the estimator itself, not its method."
        raise InputError(argument, "must accept (X, n_components)", got, cure)
    loose = any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters.values())
    if parameters and len(places) < 2 and not loose and "n_components" not in parameters:
        got = f"{getattr(value, '__name__', 'a function')}({', '.join(parameters)})"
        if inspect.ismethod(value) and hasattr(value.__self__, "transform"):
            cure = "Pass its coordinates, model.transform(X); or lambda X, n_components: model.transform(X)."
        raise InputError(argument, "must accept (X, n_components)", got, cure)
    takes_words = any(p.kind == p.VAR_KEYWORD for p in parameters.values())
    if parameters and not takes_words:
        check_parameters({k: v for k, v in options.items() if k != "n_components"}, parameters, "callable")
    accepts = {"random_state", "labels", "n_components"} & set(parameters)
    by_place = parameters.get("n_components")
    if by_place is not None and by_place.kind == by_place.POSITIONAL_ONLY:
        accepts.discard("n_components")
    if takes_words and len(places) < 2 and not any(p.kind == p.VAR_POSITIONAL for p in parameters.values()):
        accepts.add("n_components")
    return CallableSource(name, value, frozenset(accepts - (set(options) - {"n_components"})), dict(options))


def _unpacked(value: Any, argument: str, data: Data, layer: str | None) -> Raw:
    """The table of coordinates: an array of ``obsm``, what is named of an AnnData object, or whatever holds numbers."""
    if isinstance(value, str) and value in data.obsm:
        raw = unpack(data.obsm[value], argument, layer)
        return raw if raw.index is not None else replace(raw, index=data.ids)  # its rows are those of the data
    if layer is None and (is_anndata(value) or (stored_anndata(value) and split_member(os.fspath(value))[1] is None)):
        path, option = "a path 'file.h5ad:obsm:X_umap'", "layer='obsm:X_umap' as an option of `with_embedding`"
        how = path if stored_anndata(value) else option
        cure = f"Name its coordinates: {how}; those of the data themselves by their key, 'X_umap'."
        raise InputError(argument, "must name one array of an AnnData object", "the object as a whole", cure)
    return unpack(value, argument, layer)


def coordinate_source(
    value: Any, name: str, argument: str, data: Data, ids: Any = None, layer: str | None = None
) -> CoordinateSource:
    """Coordinates made elsewhere, put into the row order of the data."""
    raw = _unpacked(value, argument, data, layer)
    frame, own, given = own_ids(raw, ids, data, argument)
    notes = list(raw.notes)
    known = {*([] if data.labels is None else [data.labels.name]), *data.covariates}
    extra = [j for j, c in enumerate(frame.columns) if raw.named and str(c) in known and not str(c).isdigit()]
    if extra and len(extra) < frame.shape[1]:
        listed = ", ".join(repr(str(frame.columns[j])) for j in extra)
        notes.append(f"`{argument}` has the column {listed} of the data, which was left out.")
        frame = frame.iloc[:, [j for j in range(frame.shape[1]) if j not in extra]]
    if frame.shape[1] == 0:
        raise InputError(argument, "must have coordinates", "no column besides the ids", "Add the coordinates.")
    Y = frame_numbers(frame, argument, "Name it with ids={column!r}, or drop it.")
    check_finite(Y, argument, [str(c) for c in frame.columns] if raw.named else None)
    check_spread(Y, argument)
    for j, column in enumerate(frame.columns if raw.named else ()):
        if Y.shape[1] > 1 and looks_like_ids(column, Y[:, j]):
            cure = f"Name it with ids={str(column)!r} (also for the data, to match rows by it), or drop it."
            raise InputError(argument, "must hold coordinates only", f"row ids in column {str(column)!r}", cure)
    order, note = align(len(Y), own, data, argument, given=given, reserve=raw.reserve)
    check_columns(Y, argument)
    notes += [note] if note else []
    notes += embedding_notes(Y, argument)
    return CoordinateSource(name, Y if order is None else np.ascontiguousarray(Y[order]), notes=tuple(notes))
