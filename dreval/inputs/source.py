"""Turn embeddings passed by the user into sources, and identify sources across runs.

Coordinates, estimators, functions, names of methods and recorded runs have one interface. ``embed`` runs a method once.
Finished runs are stored under the identity of their source.
"""

from __future__ import annotations

import copy
import dis
import hashlib
import inspect
import os
import re
import sys
import time
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from dreval._check import (
    calls,
    check_int,
    check_one_of,
    check_parameters,
    check_random_state,
    describe,
    function_name,
    list_names,
    resolve_alias,
    suggestions,
)
from dreval._random import root_seed, stream
from dreval.errors import (
    DrevalError,
    Hint,
    InputError,
    InputWarning,
    ProtocolError,
    UndefinedMeasure,
    UnknownName,
    UserCode,
    warn,
)
from dreval.inputs.coordinates import read_coordinates, read_distances
from dreval.inputs.data import Data, as_data
from dreval.inputs.files import UnpackedTable, chosen_layer, unpack
from dreval.inputs.kinds import Kind, kind_of, nearest_file, split_member
from dreval.inputs.source_kinds import (
    CallableSource,
    CoordinateSource,
    EstimatorSource,
    FittedEmbedding,
    FloatArray,
    MethodSource,
    Seed,
    Source,
    assign,
    check_columns,
    embedding_notes,
    is_map,
    lowered_parameters,
    pipeline_steps,
    rescaled_note,
    seed_of,
    settable,
)
from dreval.inputs.variables import HasRows, reading_for
from dreval.records.notes import Note, Notes, note
from dreval.records.points import Embedding
from dreval.registry import METHODS

# Kind, parameters and code of a source: the key under which its finished runs are stored.
#
# joblib.hash and cloudpickle are not used: they pickle functions of a user's modules by name, so that edited code would
# keep its key; they fail on lambdas or differ between processes; and pickling runs code of the objects.

MAX_DEPTH = 20  # levels of nested values that are described; each call adds about three levels
ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")
PLAIN_TYPES: tuple[Any, ...] = (str, bytes, int, float, complex, type(None))


def digest(array: Any) -> str:
    """Return the hash of an array: its type, shape and every bit."""
    array = np.ascontiguousarray(array)
    head = f"{array.dtype.str}{array.shape}".encode()
    body = repr(array.tolist()).encode() if array.dtype.hasobject else array.tobytes()
    return hashlib.sha256(head + body).hexdigest()


def equal_maps(left: FloatArray, right: FloatArray) -> bool:
    """Check whether two embeddings are equal up to 1e-10 of their extent; False if their shapes differ."""
    if left.shape != right.shape:
        return False
    return bool(np.abs(left - right).max(initial=0.0) <= 1e-10 * np.ptp(right, axis=0).max(initial=0.0))


def all_equal_maps(maps: Sequence[FloatArray]) -> bool:
    """Check whether all embeddings equal the first one: those of one method with several seeds, which change nothing.

    Examples
    --------
    >>> X = np.eye(3)
    >>> all_equal_maps([X, X + 1e-15, X]), all_equal_maps([X, X[:, ::-1]])
    (True, False)
    """
    return all(equal_maps(Y, maps[0]) for Y in maps[1:])


def identity(source: Source) -> dict[str, str]:
    """Return kind, name, parameters and version of the code of a source; outside packages also the code itself.

    Code outside packages is described with its closure and the global variables that it reads: values, arrays, and
    functions and classes outside packages, recursively. Files, the environment, and modules imported within a function
    are not part of the description.
    """
    if isinstance(source, MethodSource):
        return {"kind": source.kind, "what": source.what, "parameters": _describe(source.parameters)}
    if isinstance(source, EstimatorSource):
        estimator = source.estimator
        params = estimator.get_params() if hasattr(estimator, "get_params") else {}
        state = params if _version(type(estimator)) and params else {**_state(estimator), **params}
        return {"kind": source.kind, "parameters": _describe(state), **code_of(type(estimator))}
    if isinstance(source, CallableSource):
        return {"kind": source.kind, "parameters": _describe(source.options), **code_of(source.function)}
    facts = {"kind": source.kind, "what": source.what, "name": source.name}
    return facts if source.recording is None else {**facts, "recording": source.recording.fingerprint}


def code_of(thing: Any) -> dict[str, str]:
    """Return the path of a function or class, the version of its package, and the hash of its description."""
    code = hashlib.sha256(_describe(thing).encode()).hexdigest()
    return {"what": _path(thing), "version": _version(thing), "code": code}


def _path(thing: Any) -> str:
    return f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', type(thing).__qualname__)}"


def _version(thing: Any) -> str:
    """Return the version of the package of an object, of Python for the standard library; else an empty text."""
    module = thing.__name__ if inspect.ismodule(thing) else getattr(thing, "__module__", "") or ""
    return _package_version(module.split(".")[0])


@cache
def _package_version(package: str) -> str:
    if package in sys.stdlib_module_names and package != "__main__":
        return f"Python {sys.version_info.major}.{sys.version_info.minor}"
    for name in (package or "-", *packages_distributions().get(package, ())):
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    return ""


def _describe(value: Any) -> str:
    """Describe a value without addresses: arrays by their hash, code by its bytecode and the names it reads."""
    return _Description().of(value)


class _Description:
    """Description of a value and of all values it refers to; a repeated value is described by its number."""

    def __init__(self) -> None:
        # By address; the values are held, since the address of a deleted value is reused.
        self.numbers: dict[int, tuple[int, Any]] = {}

    def of(self, value: Any, depth: int = 0) -> str:
        """Describe one value."""
        if type(value) in PLAIN_TYPES:
            return repr(value)
        if depth > MAX_DEPTH:
            return type(value).__qualname__
        if id(value) in self.numbers:
            return f"again {self.numbers[id(value)][0]}"
        self.numbers[id(value)] = (len(self.numbers), value)
        if hasattr(value, "__array__") and not inspect.isclass(value):
            return f"array {digest(value)}"
        return self._compound(value, depth + 1)

    def _compound(self, value: Any, depth: int) -> str:
        """Describe a value that contains other values."""
        if isinstance(value, types.CodeType):
            consts = ", ".join(self.of(const, depth) for const in value.co_consts)
            return f"code {value.co_code.hex()} {value.co_names} ({consts})"
        if isinstance(value, Mapping):
            return "{" + ", ".join(f"{key}: {self.of(value[key], depth)}" for key in sorted(value, key=str)) + "}"
        if isinstance(value, set | frozenset):
            return f"set {[self.of(item, depth) for item in sorted(value, key=repr)]}"
        if isinstance(value, tuple | list):
            return f"[{', '.join(self.of(item, depth) for item in value)}]"
        if inspect.ismodule(value):
            return f"module {value.__name__} {_version(value)}"
        parts = _parts(value)
        if parts is not None:
            return f"{_path(value)} {_version(value)} " + " ".join(self.of(part, depth) for part in parts)
        return ADDRESS.sub("", repr(value))


def _parts(value: Any) -> list[Any] | None:
    """Return the parts of a function, a class, or an object without its own repr; None for other values."""
    if inspect.isfunction(value):
        if _version(value):
            return [_closed_over(value)]
        return [value.__code__, value.__defaults__, value.__kwdefaults__, _closed_over(value), _globals_read(value)]
    if inspect.ismethod(value):
        return [value.__func__, value.__self__]
    if isinstance(value, partial):
        return [value.func, value.args, value.keywords]
    if inspect.isclass(value):
        unversioned = [cls for cls in value.__mro__ if not _version(cls)]
        return [
            item for cls in unversioned for name, item in sorted(vars(cls).items()) if name not in _STANDARD_ATTRIBUTES
        ]
    if callable(getattr(value, "__wrapped__", None)):  # a decorated function of another type: compiled, cached
        return [value.__wrapped__]
    if isinstance(value, staticmethod | classmethod | property):
        return [getattr(value, name, None) for name in ("__func__", "fget", "fset")]
    is_user_class = not _version(type(value)) and (hasattr(value, "__dict__") or bool(_slots(type(value))))
    if is_user_class or type(value).__repr__ is object.__repr__:  # type: ignore[comparison-overlap]
        return [
            type(value),
            _state(value),
            *(plain.__repr__(value) for plain in PLAIN_TYPES if isinstance(value, plain)),
        ]
    return None


def _state(value: Any) -> dict[str, Any]:
    """Return the attributes of an object: those in its dictionary, and those in the slots of its class and bases."""
    slots = {name: getattr(value, name) for name in _slots(type(value)) if hasattr(value, name)}
    return {**slots, **getattr(value, "__dict__", {})}


def _slots(cls: type) -> list[str]:
    """Return the names of the slots along the bases, as Python finds the attributes."""
    names = []
    for base in reversed(cls.__mro__):
        slots = vars(base).get("__slots__", ())
        for name in [slots] if isinstance(slots, str) else slots:
            is_private = name.startswith("__") and not name.endswith("__")
            names.append(f"_{base.__name__.lstrip('_')}{name}" if is_private else name)
    return [name for name in names if name not in _STANDARD_ATTRIBUTES]


_STANDARD_ATTRIBUTES = {"__dict__", "__weakref__", "__doc__", "__module__", "__firstlineno__", "__static_attributes__"}


def _closed_over(function: Any) -> list[Any]:
    return [cell.cell_contents for cell in function.__closure__ or () if cell != types.CellType()]


def _globals_read(function: Any) -> dict[str, Any]:
    """Return the global variables that a function reads, by name, and the attributes it reads of user modules."""
    codes = list(_codes(function.__code__))
    loads = {i.argval for code in codes for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    variables = {name: function.__globals__[name] for name in sorted(loads) if name in function.__globals__}
    names = {name for code in codes for name in code.co_names}
    for name, value in list(variables.items()):
        if inspect.ismodule(value) and not _version(value):
            variables |= {f"{name}.{key}": vars(value)[key] for key in sorted(names & set(vars(value)))}
    return variables


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield code and all code within it."""
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from _codes(const)


# A source whose runs were made by a tool outside Python and recorded.

N_SKETCHES = 4
MAX_SKETCH_GAP = 1e-6  # relative to the size of a change; far above rounding, far below a real difference
EXPORT_HINT = "Use the data and the settings that were exported, or export a protocol for these."


def sketch(X: FloatArray, center: FloatArray) -> FloatArray:
    """Compute a few numbers that identify ``X`` up to rounding: a'(X - center) b for random a and b."""
    rng = stream(0, "sketch", *X.shape)
    left, right = rng.standard_normal((N_SKETCHES, len(X))), rng.standard_normal((N_SKETCHES, X.shape[1]))
    return np.asarray(np.einsum("ln,np,lp->l", left, X - center, right, optimize=True))


@dataclass(frozen=True, eq=False)
class RecordedRun:
    """A recorded run: hash and sketch of the input, number of columns, seed, and the returned embedding.

    ``values`` is None if nothing was returned; ``file`` is the path of the output.
    """

    file: str
    digest: str
    sketch: FloatArray
    n_components: int
    seed: int
    values: FloatArray | None


@dataclass(frozen=True, eq=False)
class RecordedRuns:
    """The exported runs of a tool, and the embeddings it returned.

    Attributes
    ----------
    data : Data
        The data.
    runs : tuple of Run
        The runs; the first is that of the data themselves.
    settings : mapping
        Parameters of the measures for which the runs were exported; the defaults of a measure of this source.
    root : int
        Seed of all random draws.
    n_components : int
        Columns of the embedding.
    unexported : mapping
        What was received, and the hint, by name of the measures for which no run has been exported.
    new_data : Data or None
        The new points that were exported.
    new : ndarray (m, d) or None
        Their embedding by the run of the data; None if it was not returned.
    """

    data: Data
    runs: tuple[RecordedRun, ...]
    settings: Mapping[str, Any]
    root: int
    n_components: int
    unexported: Mapping[str, tuple[str, str]]
    new_data: Data | None = None
    new: FloatArray | None = None

    @cached_property
    def reseed_reason(self) -> str | None:
        """Reason why there is no baseline of other seeds; None if there is one."""
        key, first_run = self.runs[0].digest, self.runs[0]
        reseeded = [run for run in self.runs[1:] if run.digest == key and run.seed != first_run.seed]
        returned = [run.values for run in reseeded if run.values is not None]
        if not returned:
            return (
                f"none of {len(reseeded)} runs with other seeds has been returned" if reseeded else "none was exported"
            )
        if first_run.values is not None and all_equal_maps([first_run.values, *returned]):
            return "the tool gives the same embedding for every seed"
        return None

    def settings_of(self, analysis: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings of the runs, by the names of the arguments of a measure or of the noise test.

        For stability these are the settings of the replicates in ``arguments["over"]``, if these were exported.
        """
        special = ("noise", "null", "seeds", "halves", "splits", "split")
        settings = {name: value for name, value in self.settings.items() if name not in special}
        if analysis == "noise":
            return {**settings, "n_replicates": self.settings["noise"], "null": self.settings["null"], "n_seeds": 1}
        if analysis == "held_out_fidelity":
            return {**settings, "n_splits": self.settings.get("splits", 0), **self.settings.get("split", {})}
        if analysis == "stability":
            requested = arguments.get("over")
            seeds = self.settings["seeds"] and not (self.reseed_reason and self.settings["halves"])
            over = requested if requested in ("seeds", "halves") else "seeds" if seeds else "halves"
            return {**settings, "over": over, "n_replicates": self.settings[over]}
        return settings

    @cached_property
    def fingerprint(self) -> str:
        """Hash of all tasks and returned embeddings."""
        parts = [
            (run.digest, run.n_components, run.seed, "" if run.values is None else digest(run.values))
            for run in self.runs
        ]
        parts += [] if self.new is None else [("new", 0, 0, digest(self.new))]
        return hashlib.sha256(repr((sorted(self.settings.items()), self.root, parts)).encode()).hexdigest()

    def other_data(self, argument: str) -> UndefinedMeasure:
        """Return the error for data that were not exported."""
        requirement, received = "must have been run on these data", "data that were not exported"
        return UndefinedMeasure(argument, requirement, received, EXPORT_HINT)

    def of_input(self, X: FloatArray) -> list[RecordedRun]:
        """Return the runs on these data: equal in every bit, else equal up to rounding."""
        key = digest(X)
        same = [run for run in self.runs if run.digest == key]
        if same or X.shape != self.data.X.shape:
            return same
        input_sketch = sketch(X, self.data.X)
        # Runs on a part of the points have no sketch.
        runs = [run for run in self.runs if run.sketch.shape == input_sketch.shape]
        gaps = np.array([np.abs(run.sketch - input_sketch).max() for run in runs])
        smallest_gap = gaps.min(initial=np.inf)
        change = float(np.linalg.norm(X - self.data.X))
        return [run for run, gap in zip(runs, gaps, strict=True) if gap == smallest_gap <= MAX_SKETCH_GAP * change]


@dataclass(frozen=True, eq=False, repr=False)
class RecordedSource(Source):
    """Runs of a tool outside Python, collected by ``dreval.Protocol``."""

    recorded: RecordedRuns
    kind: ClassVar[str] = "recorded"

    def __repr__(self) -> str:
        runs, (n, p) = self.recorded.runs, self.recorded.data.X.shape
        n_returned = sum(run.values is not None for run in runs)
        return f"RecordedSource({self.name!r}: {n_returned} of {len(runs)} runs on {n} points, {p} columns)"

    @property
    def recording(self) -> RecordedRuns:
        """The recorded runs."""
        return self.recorded

    @property
    def data(self) -> Data:
        """The data that were exported."""
        return self.recorded.data

    @property
    def new_data(self) -> Data | None:
        """The new points that were exported; None without any."""
        return self.recorded.new_data

    @property
    def transform_reason(self) -> str | None:
        """Reason why there is no embedding of new points; None if there is one."""
        if self.recorded.new_data is None:
            return "its protocol was exported without new_data"
        return "the embedding of its new points was not returned" if self.recorded.new is None else None

    def embed_with_new(
        self,
        X: FloatArray,
        X_new: FloatArray,
        n_components: int | None,
        random_state: Seed = None,
        labels: Any = None,
        rows: HasRows | None = None,
    ) -> FittedEmbedding:
        """Return the recorded embedding of the exported data and new points; other new points are an error."""
        Y, _ = self.noted_embed(X, n_components, self.recorded.runs[0].seed)
        new, new_data = self.recorded.new, self.recorded.new_data
        if new is None or new_data is None or digest(new_data.dense()) != digest(X_new):
            requirement, received = "must have embedded these new points", "new points that were not exported"
            error = UndefinedMeasure(self.argument, requirement, received, "Pass new_data=source.new_data.")
            return FittedEmbedding(Y, error, ())
        return FittedEmbedding(Y, new.copy(), ())

    @property
    def what(self) -> str:
        """Name of the tool."""
        return self.name

    @property
    def n_components(self) -> int | None:
        """Columns of the embedding."""
        return self.recorded.n_components

    @property
    def reseed_reason(self) -> str | None:
        """Reason why there is no baseline of other seeds; None if there is one."""
        return self.recorded.reseed_reason

    @property
    def own_seed(self) -> int | None:
        """The seed of the recorded embedding."""
        return self.recorded.runs[0].seed

    def coordinates(self, data: Data, *, n_components: int | None = None, random_state: Seed = None) -> FloatArray:
        """Return the embedding of the exported data as a new array, with the seed of the recording."""
        return self.embed(data.X, n_components, self.recorded.runs[0].seed)

    def noted_coordinates(self, data: Data, **settings: Any) -> tuple[FloatArray, Notes]:
        """Return the recorded embedding; rows were matched when it was collected."""
        return self.coordinates(data, **settings), ()

    def noted_embed(
        self,
        X: FloatArray,
        n_components: int | None,
        random_state: Seed = None,
        labels: Any = None,
        rows: HasRows | None = None,
    ) -> tuple[FloatArray, Notes]:
        """Return the recorded embedding of data ``X`` (n, p); a new array."""
        runs = self.recorded.of_input(np.asarray(X))
        if not runs:
            raise self.recorded.other_data(self.argument)
        d = self.n_components if n_components is None else n_components
        seed = self.recorded.runs[0].seed if random_state is None else seed_of(random_state)
        recorded_run = next((run for run in runs if (run.n_components, run.seed) == (d, seed)), None)
        if recorded_run is None:
            available = ", ".join(f"({run.n_components}, {run.seed})" for run in runs)
            requirement = f"must have been run with n_components={d} and random_state={seed}"
            raise UndefinedMeasure(self.argument, requirement, f"runs with {available}", EXPORT_HINT)
        if recorded_run.values is None:
            raise ProtocolError(
                recorded_run.file, "must have been returned", "no such file", "Run the tool on its input."
            )
        return recorded_run.values.copy(), ()


# Wrap coordinates, estimators, callables and names in a common Source interface; ``embed`` runs a method once.

__all__ = [
    "BUNDLED",
    "CallableSource",
    "CoordinateSource",
    "EstimatorSource",
    "MethodSource",
    "Source",
    "as_source",
    "bundled_first",
    "callable_source",
    "coordinate_source",
    "data_and_response",
    "embed",
    "estimator_source",
    "method_source",
    "named_sources",
    "no_options",
    "stored_key",
    "unknown_source",
    "warn_of_columns",
    "width_notes",
]

BUNDLED = "method:"  # prefix of the name of a bundled method, which is then not looked up in obsm


def stored_key(value: Any, data: Data) -> str | None:
    """Return the key of ``obsm`` for a name: the name itself, or with the prefix "X_"; None if there is no key."""
    keys = (key for key in (value, f"X_{value}") if key in data.obsm) if isinstance(value, str) else iter(())
    return next(keys, None)


def bundled_first(value: Any) -> Any:
    """Return the name of a bundled method with the prefix, so that it is not looked up in ``obsm``."""
    return f"{BUNDLED}{value}" if isinstance(value, str) and resolve_alias(value, METHODS.names()) in METHODS else value


def no_options(options: Mapping[str, Any], argument: str, what: str) -> None:
    """Raise an error for options of a source that is not run."""
    if options:
        listed = ", ".join(sorted(options))
        raise InputError(argument, f"takes no options for {what}", listed, "Leave them out.")


def unknown_source(value: str, data: Data, argument: str) -> UnknownName:
    """Return the error for an unknown name."""
    file = nearest_file(value)
    candidates = [f"the obsm key {key!r}" for key in suggestions(value, data.obsm)]
    candidates += [f"the method {method!r}" for method in suggestions(value, METHODS)]
    suggestion = " or ".join([*candidates, f"the file {file!r}"] if file else candidates)
    keys = f"Keys of obsm: {', '.join(sorted(data.obsm))}. " if data.obsm else ""
    hint = (f"Did you mean {suggestion}? " if suggestion else "") + keys + list_names(METHODS.names(), METHODS.listing)
    requirement = "must be a method, an obsm key or an existing file"
    return UnknownName(argument, requirement, repr(value), hint, **calls(METHODS.listing))


def method_source(value: str, name: str, options: Mapping[str, Any]) -> Source:
    """Return a bundled method by its name."""
    value = check_one_of(value, METHODS.names(), f"embeddings[{name!r}]", METHODS.listing, aliases=True)
    method = METHODS.get(value)
    check_parameters(options, inspect.signature(method).parameters, value)
    if "n_components" in options:
        check_int(options["n_components"], "n_components", low=1)
    return _with_notes(MethodSource(name, method, dict(options)), options)


def estimator_source(value: Any, name: str, argument: str, options: dict[str, Any], data: Data) -> Source:
    """Return an estimator, deep-copied, with its options set."""
    supervised = options.pop("supervised", None)
    with UserCode(argument, f"deepcopy of {type(value).__name__}"):
        estimator = copy.deepcopy(value)
    if options:
        check_parameters(options, settable(estimator), type(value).__name__)
        with UserCode(argument, f"{type(value).__name__}.set_params"):
            assign(estimator, options)
    labeled = bool(_requires_labels(estimator) if supervised is None else supervised)
    source = EstimatorSource(name, estimator, labeled, data.columns, notes=_fit_notes(estimator))
    return _with_notes(source, settable(estimator))


def _fit_notes(estimator: Any) -> Notes:
    """Return notes on an estimator that cannot be fitted, whose earlier fit is not used, or that rescales columns."""
    if is_map(estimator):
        return (note("source.map", what=type(estimator).__name__),)
    parts = [part for part in (estimator, *pipeline_steps(estimator)) if not is_map(part)]
    attributes = [key for part in parts for key in getattr(part, "__dict__", {})]
    is_fitted = any(key.endswith("_") and not key.startswith("_") for key in attributes)
    return (*((note("source.refitted"),) if is_fitted else ()), *rescaled_note(estimator))


def _with_notes(source: Source, parameters: Mapping[str, Any]) -> Source:
    """Return the source with notes on its own seed and number of components."""
    seeds = [value for key, value in parameters.items() if key.split("__")[-1] == "random_state"]
    notes = []
    if source.reseed_reason is None and any(seed is not None for seed in seeds):
        notes.append(note("source.seed"))
    estimator = getattr(source, "estimator", None)
    if estimator is not None and not hasattr(estimator, "set_params"):
        missing = [key for key in ("n_components", "random_state") if key not in parameters]
        notes += (
            [note("source.own", what=source.what, lost=" or ".join(missing), count=len(missing))] if missing else []
        )
    return replace(source, notes=(*source.notes, *notes))


def _requires_labels(estimator: Any) -> bool:
    """Check whether ``fit`` or ``fit_transform`` requires ``y``, or a method with a card says that it does."""
    if is_map(estimator):
        return False
    if hasattr(type(estimator), "card"):
        return bool(getattr(estimator, "requires_y", getattr(estimator.card, "supervised", False)))
    parameters = [_parameters(getattr(estimator, name, None)).get("y") for name in ("fit", "fit_transform")]
    return any(parameter is not None and parameter.default is parameter.empty for parameter in parameters)


def _parameters(function: Any) -> dict[str, inspect.Parameter]:
    """Return the parameters of a function; empty if it has no signature."""
    with suppress(Exception):  # raised without a signature, or by code of a class
        return dict(inspect.signature(function).parameters)
    return {}


def callable_source(value: Callable[..., Any], name: str, argument: str, options: Mapping[str, Any]) -> Source:
    """Return a function (X, n_components) as a source."""
    parameters = _parameters(value)
    hint = "Pass a function: lambda X, n_components: ..."
    positional = [p for p in parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(positional) > 1 and positional[1].name == "y":
        received = f"{function_name(value, 'a function')}(X, y)"
        hint = "Pass the estimator itself, not its method."
        raise InputError(argument, "must accept (X, n_components)", received, hint)
    has_variadic = any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters.values())
    if parameters and len(positional) < 2 and not has_variadic and "n_components" not in parameters:
        received = f"{function_name(value, 'a function')}({', '.join(parameters)})"
        if inspect.ismethod(value) and hasattr(value.__self__, "transform"):
            hint = "Pass its coordinates, model.transform(X); or lambda X, n_components: model.transform(X)."
        raise InputError(argument, "must accept (X, n_components)", received, hint)
    takes_keywords = any(p.kind == p.VAR_KEYWORD for p in parameters.values())
    if parameters and not takes_keywords:
        check_parameters({k: v for k, v in options.items() if k != "n_components"}, parameters, "callable")
    accepts = {"random_state", "labels", "n_components", "X_new"} & set(parameters)
    parameter = parameters.get("n_components")
    if parameter is not None and parameter.kind == parameter.POSITIONAL_ONLY:
        accepts.discard("n_components")
    if takes_keywords and len(positional) < 2 and not any(p.kind == p.VAR_POSITIONAL for p in parameters.values()):
        accepts.add("n_components")
    return CallableSource(name, value, frozenset(accepts - (set(options) - {"n_components"})), dict(options))


def coordinate_table(value: Any, argument: str, data: Data, layer: str | None) -> UnpackedTable:
    """Return a table of coordinates: an array of ``obsm``, a named array of an AnnData object, or any other table."""
    if isinstance(value, str) and value in data.obsm:
        raw = unpack(data.obsm[value], argument, layer)
        return raw if raw.index is not None else replace(raw, index=data.ids)  # its rows are the rows of the data
    kind = kind_of(value)
    is_file = kind is Kind.ANNDATA_FILE and split_member(os.fspath(value))[1] is None
    if layer is None and (kind is Kind.ANNDATA or is_file):
        path, option = "a path 'file.h5ad:obsm:X_umap'", "{use_rep} as an option of `with_embedding`"
        form = path if is_file else option
        hint = f"Name its coordinates: {form}; coordinates within the data by their key, 'X_umap'."
        requirement, use_rep = "must name one array of an AnnData object", Hint("use_rep", "X_umap")
        raise InputError(argument, requirement, "the object as a whole", hint, use_rep=use_rep)
    return unpack(value, argument, layer, reading=reading_for(data))


def coordinate_source(
    value: Any, name: str, argument: str, data: Data, ids: Any = None, layer: str | None = None
) -> CoordinateSource:
    """Return coordinates computed elsewhere as a source, in the row order of the data."""
    table = coordinate_table(value, argument, data, layer)
    if data.embedding_metric == "precomputed":
        distances = read_distances(table, data, argument, ids)
        return CoordinateSource(name, distances.values, notes=distances.notes)
    coordinates = read_coordinates(table, data, argument, ids)
    if data.embedding_metric == "euclidean":  # vectors of text and the like may have more columns
        check_columns(coordinates.values, argument)
    notes = (*coordinates.notes, *embedding_notes(coordinates.one_place, argument))
    return CoordinateSource(
        name, coordinates.values, sha256=coordinates.sha256, notes=notes, columns=coordinates.columns
    )


def warn_of_columns(notes: Iterable[Note], names: Mapping[str, str]) -> None:
    """Warn of columns, for results that are numbers without notes: of data and embedding, compared by them.

    These are named columns that may not be coordinates, and columns of the data that a pipeline rescales. Columns of an
    array were put together by the caller, and have no names.
    """
    for item in notes:
        is_doubtful = item.code == "source.doubtful" and dict(item.values)["named"]
        if is_doubtful or item.code == "source.rescaled":
            warn(InputWarning(item.named(names)))


def width_notes(data: Data, Y: FloatArray) -> Notes:
    """Return a note on an embedding with more columns than the data, of functions of (X, Y): likely exchanged."""
    if data.p is None or data.embedding_metric == "precomputed" or Y.shape[1] <= data.p:
        return ()
    return (note("data.not_reduced", names=("Y",), count=1, columns=data.p),)


DEFAULT_NAME = "embedding"  # of one embedding that is passed without a name
STORED_PREFIX = "X_"  # of the keys of obsm that hold representations
NOT_EMBEDDINGS = frozenset({"X_spatial"})  # keys of obsm with the prefix that hold positions in a tissue
STORED_DIMENSIONS = (2, 3)  # columns of an array of obsm that is an embedding


def named_sources(value: Any, data: Data) -> tuple[dict[str, Any], Notes]:
    """Return the embeddings that a user passed by their names, and a note where they were chosen.

    A mapping has names. Without embeddings these are the arrays of ``obsm`` whose key begins with "X_", except
    "X_spatial", and that have two or three columns; a note lists them. A list holds keys of ``obsm`` and names of
    methods, which are the names of the embeddings. One table of coordinates, estimator or function is called
    "embedding".

    Raises
    ------
    InputError
        A list of arrays, or a single column, which may be labels.
    """
    kind = Kind.MAPPING if value is None else kind_of(value)
    if value is None:
        keys = [key for key in data.obsm if _is_stored_embedding(key, data.obsm[key])]
        return {key: key for key in keys}, (note("embeddings.stored", names=tuple(keys)),) if keys else ()
    if kind is Kind.MAPPING:
        return dict(value), ()
    if kind is Kind.TEXT:
        return {value: value}, ()
    if kind in (Kind.OTHER, Kind.ITERATOR, Kind.CLASS, Kind.LABELS, Kind.DATA_COLUMN):
        requirement = "must be coordinates, or a dict of names to sources"
        raise InputError("embeddings", requirement, describe(value), 'Pass {"umap": Y}.')
    if kind is Kind.LIST and not (value and all(isinstance(row, list | tuple) for row in value)):
        return _listed_sources(value), ()
    if kind is not Kind.LIST and len(getattr(value, "shape", (1, 1))) == 1:
        requirement = "must be coordinates, not a single column, which may be labels"
        hint = "Pass classes as {labels}, and one coordinate of each point as a table of one column, values[:, None]."
        raise InputError("embeddings", requirement, describe(value), hint, labels=Hint("labels"))
    return {DEFAULT_NAME: value}, ()


def _is_stored_embedding(key: str, array: Any) -> bool:
    """Return whether an array of ``obsm`` is an embedding, by its key and its number of columns."""
    shape: tuple[int, ...] = getattr(array, "shape", ())
    is_representation = key.startswith(STORED_PREFIX) and key not in NOT_EMBEDDINGS
    return is_representation and len(shape) == 2 and shape[1] in STORED_DIMENSIONS


def _listed_sources(names: Sequence[Any]) -> dict[str, Any]:
    """Return the sources of a list of names: keys of ``obsm`` and names of methods."""
    unnamed = next((item for item in names if not isinstance(item, str)), None)
    if unnamed is not None:
        requirement = "must be a dict of names to sources, or a list of obsm keys and names of methods"
        hint = 'Name each embedding: {"umap": Y, "pca": "pca"}.'
        raise InputError("embeddings", requirement, f"a list with {describe(unnamed)}", hint)
    repeated = next((name for name in names if list(names).count(name) > 1), None)
    if repeated is not None:
        hint = 'Pass a dict with a name for each: {"first": "tsne", "second": "tsne"}.'
        raise InputError("embeddings", "must have different names", f"{repeated!r} twice", hint)
    return {name: name for name in names}


def as_source(value: Any, name: str, data: Data, *, ids: Any = None, **options: Any) -> Source:
    """Wrap coordinates, estimators and callables in a common Source interface.

    Parameters
    ----------
    value : array-like, DataFrame, path, str, estimator, callable or Source
        (n, d) coordinates; a table file, or columns of it as ``"file.csv:x,y"``; the key of an ``obsm`` array of the
        data; another AnnData object with the option ``use_rep="key"``, or ``"file.h5ad:obsm:key"``, matched by
        ``obs_names``; the name of a bundled method; an estimator with ``fit_transform``, with ``fit`` and
        ``transform``, or a map with ``transform`` alone; or a function ``(X, n_components)`` that may also accept
        ``random_state`` and ``labels``.
        ``n_components`` and ``random_state`` of estimators are set by ``set_params``, else as attributes; a note names
        those that cannot be set.
        A name is looked up in obsm first, "umap" as "umap" and as "X_umap", with a note; then among the methods, then
        as a file. ``"method:umap"`` is always the bundled method.
    name : str
        Name of the embedding.
    data : Data
        The data, from ``as_data``.
    ids : str or array-like, optional
        Names of the rows of coordinates, or the column that holds them.
    **options
        Parameters of a bundled method, an estimator or a callable. ``supervised=True`` passes the labels to an
        estimator; by default they are passed if its ``fit`` requires ``y``.

    Returns
    -------
    Source
        A frozen record with a deep copy of the estimator, or the coordinates in the row order of the data.

    Raises
    ------
    InputError
        A method or an estimator that cannot read distances, if the data are precomputed distances; coordinates that are
        not finite, do not match the rows of the data or have more columns than rows; a class in place of an instance; a
        callable that does not accept ``(X, n_components)``.
    UnknownName
        A string that is neither key, method nor file, or an unknown parameter; the message suggests the nearest name.

    Notes
    -----
    No method is run. Coordinates cost O(n d) time and memory.

    Examples
    --------
    >>> import numpy as np
    >>> from dreval.inputs.data import as_data
    >>> from dreval.inputs.source import as_source
    >>> data = as_data(np.random.default_rng(0).normal(size=(20, 3)))
    >>> source = as_source(data.X[:, :2], "first two", data)
    >>> source.kind, source.can_embed, source.coordinates(data).shape
    ('coordinates', False, (20, 2))
    >>> as_source(lambda X, n_components: X[:, :n_components], "f", data).coordinates(data, n_components=1).shape
    (20, 1)
    """
    argument = f"embeddings[{name!r}]"
    options = {key: option.copy() if isinstance(option, np.ndarray) else option for key, option in options.items()}
    with UserCode(argument, f"an attribute of {type(value).__name__}", "be coordinates, an estimator or a function"):
        source = _source_of(value, name, data, argument, ids, dict(options))
    source = replace(source, passed_options=options) if options else source
    if (data.network is not None or data.metric == "gower") and source.can_embed and source.recording is None:
        what = "where the data are a network" if data.network is not None else "with metric='gower'"
        hint = "Pass the coordinates of its embedding."
        raise UndefinedMeasure(argument, f"must be coordinates {what}", source.what, hint)
    if data.embedding_metric == "precomputed" and not isinstance(source, CoordinateSource):
        requirement = "must be a matrix of distances with embedding_metric='precomputed'"
        hint = "Pass the distances (n, n) of its coordinates, or leave embedding_metric out."
        raise InputError(argument, requirement, source.what, hint)
    return source.with_metric(data.metric) if source.can_embed and source.recording is None else source


def _source_of(value: Any, name: str, data: Data, argument: str, ids: Any, options: dict[str, Any]) -> Source:
    """Return the source, by the kind of the value."""
    stored = stored_key(value, data)
    match kind_of(value):
        case Kind.SOURCE:
            no_options(options, argument, "an existing source")
            source: Source = replace(value, name=name)
            return source
        case Kind.TEXT if value.startswith(BUNDLED):
            return method_source(value.removeprefix(BUNDLED), name, options)
        case Kind.TEXT if stored is None:
            if resolve_alias(value, METHODS.names()) in METHODS:
                return method_source(value, name, options)
            raise unknown_source(value, data, argument)
        case Kind.CLASS:
            hint = f"Pass an instance: {value.__name__}(n_components=2)."
            raise InputError(argument, "must be an estimator, not its class", f"the class {value.__name__}", hint)
        case Kind.ESTIMATOR:
            return estimator_source(value, name, argument, dict(options), data)
        case Kind.MODEL:
            hint = "Wrap it in a function (X, n_components) that returns the coordinates."
            received = f"an instance of {type(value).__name__}"
            raise InputError(argument, "must have fit_transform or transform", received, hint)
        case Kind.FUNCTION:
            return callable_source(value, name, argument, options)
    layer = chosen_layer(options.pop("layer", None), options.pop("use_rep", None))
    if stored is None:
        no_options(options, argument, "coordinates")
        return coordinate_source(value, name, argument, data, ids, layer)
    method = BUNDLED + value if value in METHODS else ""
    stored_note = note("source.stored_too" if method else "source.stored", key=stored, method=method)
    no_options(options, argument, str(stored_note).rstrip("."))
    source = coordinate_source(stored, name, argument, data, ids, layer)
    return replace(source, stored=stored, method=method, notes=(stored_note, *source.notes))


def embed(
    X: Any,
    method: Any,
    n_components: int = 2,
    *,
    labels: Any = None,
    response: Any = None,
    layer: str | None = None,
    use_rep: str | None = None,
    header: bool | Literal["auto"] = "auto",
    random_state: int | np.random.Generator | None = None,
    **parameters: Any,
) -> Embedding:
    """Embed data with a bundled method, an estimator or a callable.

    Parameters
    ----------
    X : array-like, DataFrame, sparse matrix, AnnData, data set or path
        Data (n, p), rows are points; at least 4, all finite. They are not scaled.
    method : str, estimator or callable
        Name of a bundled method (``dreval.list_methods()``; other usual names, such as "t-SNE" or "mds", are accepted),
        an estimator with ``fit_transform``, or a function ``(X, n_components)``.
    n_components : int
        Number d of components.
    labels : array-like or str, optional
        Classes, for supervised methods only.
    response : array-like, DataFrame, str or list of str, optional
        Response of a supervised method, in place of ``labels``: numbers (n,) or (n, q), including integers, or one
        column of classes. Strings name columns of the data, which then are not features, or a file.
    layer : str, optional
        The layer of an AnnData object to embed in place of ``X``, as in ``Evaluation``.
    use_rep : str, optional
        The array of ``obsm`` to embed in place of ``X``, as in ``Evaluation``.
    header : "auto", True or False
        Whether the first row of a text file has the names of its columns, as in ``Evaluation``.
    random_state : int, Generator or None
        Seed. None uses the seed of an estimator or of recorded runs, else draws a seed; the result stores it.
        ``Evaluation`` derives a different seed for each name of an embedding from the same number.
    **parameters
        Parameters of the method.

    Returns
    -------
    Embedding
        Coordinates (n, d) with their recipe; ``numpy.asarray`` returns the coordinates.

    Raises
    ------
    InputError
        Invalid data or parameters, or coordinates in place of a method.
    UnknownName
        An unknown method or parameter; the message suggests the nearest name.
    MethodFailed
        The method raised an exception, which is chained, or did not return an embedding.

    Notes
    -----
    The cost is the cost of the method (see its card) and one copy of the data; sparse data are made dense, up to 8 GiB.

    See Also
    --------
    list_methods : Names of all bundled methods.
    Evaluation : Evaluates embeddings, and runs methods itself.
    Study : Runs methods on several data sets, with replicates.

    Examples
    --------
    >>> import numpy as np
    >>> import dreval
    >>> X = np.random.default_rng(0).normal(size=(30, 5))
    >>> embedding = dreval.embed(X, "pca")
    >>> embedding
    pca embedded 30 points in 2 dimensions, from 5 columns. ...
    >>> np.asarray(embedding).shape
    (30, 2)
    >>> np.asarray(dreval.embed(X, "sir", 1, response=X[:, 0] ** 3)).shape
    (30, 1)
    """
    check_int(n_components, "n_components", low=1)
    pairs = _reads_pairs(method, parameters)
    data, y = data_and_response(X, response, labels=labels, layer=layer, use_rep=use_rep, header=header, pairs=pairs)
    name = method if isinstance(method, str) else function_name(method, type(method).__name__)
    name = str(resolve_alias(str(name).removeprefix(BUNDLED), METHODS.names()))
    argument_names = {f"embeddings[{name!r}]": "method"}
    try:
        source = as_source(bundled_first(method), name, data, **parameters)
    except DrevalError as error:
        raise error.named(argument_names) from error.__cause__
    if not source.can_embed:
        hint = "Pass the name of a bundled method, an estimator or a callable."
        raise InputError("method", "must be a method that can be run", str(source.reason), hint)
    check_random_state(random_state)
    seed = source.own_seed if random_state is None else None
    if seed is None and source.reseed_reason is None:  # without a seed if seeds change nothing
        seed = seed_of(root_seed(random_state))
    start = time.perf_counter()
    if y is not None and not source.supervised:
        hint = "Leave it out, or choose a supervised method, as 'sir'."
        raise InputError("response", "must be left out for a method that is not supervised", name, hint)
    unused_notes = () if labels is None or source.supervised else (note("source.labels", what=name),)
    unused_notes = unused_notes if labels is None or y is None else (note("source.response"),)
    try:
        Y, run_notes = source.noted_embed(data.dense(), n_components, seed, data.labels if y is None else y, data)
    except DrevalError as error:
        raise error.named(argument_names) from error.__cause__
    seconds = time.perf_counter() - start
    recipe = {"n_components": n_components, **parameters, **lowered_parameters(run_notes, data.n)}
    returned = (
        *(item.named(argument_names) for item in run_notes),
        *embedding_notes(bool((Y == Y[0]).all()), "method"),
    )
    notes = (*data.notes, *unused_notes, *data.dense_notes(), *returned)
    shape = (data.n, data.X.shape[1])
    return Embedding(Y, name, recipe, seed, data.ids, shape, seconds, notes, np.array(data.dense()), data.columns)


def _reads_pairs(method: Any, parameters: Mapping[str, Any]) -> bool:
    """Check whether a method is set to read a matrix of distances or of kernel values."""
    with UserCode("method", f"an attribute of {type(method).__name__}", "be coordinates, an estimator or a function"):
        own_parameters = {} if inspect.isclass(method) else settable(method)
    values = {**own_parameters, **parameters}.values()
    return any(isinstance(value, str) and resolve_alias(value, ("precomputed",)) == "precomputed" for value in values)


def data_and_response(X: Any, response: Any, **options: Any) -> tuple[Data, Any]:
    """Return the data by ``as_data`` without the columns that ``response`` names, and the response (n, q), or None."""
    if response is None:
        return as_data(X, **options), None
    data = as_data(X, covariates=response, covariates_name="response", **options)
    for name, column in data.covariates.items():
        missing = int(pd.isna(column).sum())
        if missing:
            hint = "Drop these rows, or fill them: a method is fitted to all rows."
            raise InputError("response", "must be complete", f"{name!r} without a value at {missing} points", hint)
    columns = [*data.covariates.values()]
    return data, columns[0] if len(columns) == 1 else np.column_stack(columns)
