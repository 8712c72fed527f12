"""Sources of embeddings: the common interface, and its four kinds (coordinates, estimators, callables, methods)."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, ClassVar, NamedTuple, TypeGuard

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import FloatArray as FloatArray
from dreval._check import check_int, check_rows, describe, function_name, resolve_alias
from dreval._check_arrays import check_finite, check_numeric, check_spread, check_unmasked
from dreval._random import root_seed, stream_seed
from dreval._text import printable
from dreval.errors import DrevalError, InputError, MethodFailed, UndefinedMeasure, UserCode, collect_notes
from dreval.glossary import METRICS
from dreval.inputs.coordinates import returned_coordinates
from dreval.inputs.data import Data
from dreval.inputs.directions import ANGULAR
from dreval.inputs.features import (
    DistanceTable,
    PermutedRows,
    check_defined,
    check_places,
    digest_of,
    is_sparse,
    read_blocks,
)
from dreval.inputs.files import as_numpy, as_pandas
from dreval.inputs.kinds import Kind, kind_of, library_of
from dreval.inputs.variables import HasRows, LabelVector, Rows
from dreval.records.notes import Note, Notes, note

PRECOMPUTED_HINT = "Pass its coordinates, computed from the data, or 'classical_mds'."
METRIC_PARAMETERS = ("metric", "dissimilarity", "affinity")  # of estimators, for the metric in the data
# Values of these parameters that are not metrics.
NOT_METRICS = ("precomputed", "nearest_neighbors", "precomputed_nearest_neighbors", "rbf", "deprecated")
SHAPE_HINT = "Return an array with a row for each point and a column for each component."
MAX_LISTED_KEYS = 6  # largest number of keys of a result in an error


def read_returned(
    value: Any,
    rows: HasRows,
    argument: str,
    what: str,
    call: str = "function(X, n_components)",
    *,
    check: bool = False,
    may_be_wide: bool = False,
) -> tuple[FloatArray, Notes]:
    """Return the result of a method as (n, d) float64 coordinates in the order of its input, and notes.

    The rows of a frame are matched by their names, see ``returned_coordinates``. ``call`` is the Python expression that
    runs the method, for advice. ``may_be_wide`` results of few new points may have more columns than rows.
    """
    try:
        match kind_of(value):
            case Kind.FRAME | Kind.SERIES:
                frame = value
            case Kind.FOREIGN_TABLE | Kind.QUERY:
                frame = as_pandas(value, argument)
            case _:
                return check_embedding(value, rows.n, argument, what, call, may_be_wide=may_be_wide), ()
        check_rows(len(frame), rows.n, argument)
        values, notes = returned_coordinates(frame, rows, argument, check=check)
    except InputError as error:
        raise error.altered(MethodFailed) from error.__cause__
    return check_embedding(values, rows.n, argument, what, call, may_be_wide=may_be_wide), notes


def check_embedding(
    value: Any,
    n: int,
    argument: str,
    what: str,
    call: str = "function(X, n_components)",
    *,
    may_be_wide: bool = False,
) -> FloatArray:
    """Return the (n, d) float64 coordinates that a method returned; invalid ones raise ``MethodFailed``.

    ``call`` is the Python expression that runs the method, for advice. ``may_be_wide`` results may have more columns
    than rows.
    """
    hint = f"See what {what} returns: it must be an array with a row for each point and a column for each component."
    try:
        value = check_unmasked(value, argument)
        if is_sparse(value):
            check_places(value, argument)
    except InputError as error:
        raise error.altered(MethodFailed) from error.__cause__
    if (result := wrong_result(value, n, what, call)) is not None:
        raise MethodFailed(argument, "must return an array", *result)
    with UserCode(argument, what):
        is_table = kind_of(value) in (Kind.FOREIGN_TABLE, Kind.QUERY)
        table = as_pandas(value, argument) if is_table else as_numpy(value, argument)
        array = np.asarray(table.toarray() if is_sparse(table) else table)
    if array.ndim == 0:
        raise MethodFailed(argument, "must return an array", describe(value), hint)
    try:
        array = check_numeric(array, argument)
        array = array[:, None] if array.ndim == 1 else array
        if array.ndim != 2 or array.shape[1] == 0:
            raise InputError(argument, "must return rows and columns", describe(array), hint)
        check_rows(len(array), n, argument)
        points = np.array(array, dtype=np.float64, order="C")
        check_finite(points, argument)
        check_spread(points, argument)
        if not may_be_wide:
            check_columns(points, argument)
    except InputError as error:
        raise error.altered(MethodFailed, hint=hint) from error.__cause__
    return points


def wrong_result(value: Any, n: int, what: str, call: str) -> tuple[str, str] | None:
    """Describe a result that is not an array of n rows, with a hint; None for a result that may be one.

    A list or a tuple of n rows may be an array. No part is taken from another tuple, a list of arrays, a mapping, an
    iterator or an object: it would be a guess which part is the embedding.
    """
    if value is None:
        return "None", f"Let {what} end with a return statement that names the embedding."
    match kind_of(value):
        case Kind.LIST:
            return _wrong_sequence(value, n, call)
        case Kind.CLASS:
            return f"the class {value.__name__}", SHAPE_HINT
        case Kind.MAPPING | Kind.DATASET if isinstance(value, Mapping):
            keys = [key for key in value if _shape(value[key])[:1] == (n,)] or list(value)
            listed = ", ".join(map(repr, list(value)[:MAX_LISTED_KEYS])) or "no key"
            hint = _part_hint(call, f"[{keys[0]!r}]", "one of its values") if keys else SHAPE_HINT
            return f"a {type(value).__name__} with {listed}", hint
        case Kind.ITERATOR:
            kind = "generator" if isinstance(value, Generator) else type(value).__name__
            return f"a {kind}", f"Return an array of its rows: lambda X, n_components: numpy.array(list({call}))."
        case Kind.ANNDATA:
            names = [repr(str(key)) for key in value.obsm]
            received = f"an AnnData object with {', '.join(names[:MAX_LISTED_KEYS]) or 'nothing'} in obsm"
            return received, _part_hint(call, f".obsm[{names[-1]}]", "one of its arrays") if names else SHAPE_HINT
        case Kind.ESTIMATOR | Kind.MODEL | Kind.FUNCTION:
            has_embedding = hasattr(value, "embedding_")
            hint = _part_hint(call, ".embedding_", "its embedding") if has_embedding else SHAPE_HINT
            return f"a {type(value).__name__}", hint
    return None


def _wrong_sequence(value: Sequence[Any], n: int, call: str) -> tuple[str, str] | None:
    """Describe a tuple or a list that is not an array of n rows, with a hint; None for one that may be an array."""
    kind, shapes = type(value).__name__, [_shape(part) for part in value]
    if kind not in ("list", "tuple"):
        kind = f"{'tuple' if isinstance(value, tuple) else 'list'} ({kind})"
    if len(value) == n and len(shapes[0]) < 2:
        return None
    received = f"a {kind} of {len(value)} part{'s' * (len(value) != 1)}"
    if shapes and all(shape == (n,) for shape in shapes):
        return received, f"Return its parts as columns: lambda X, n_components: numpy.column_stack({call})."
    positions = [position for position, shape in enumerate(shapes) if len(shape) == 2 and shape[0] == n]
    if positions:
        part_name = "its first part" if positions[0] == 0 else "the part that is the embedding"
        return received, _part_hint(call, f"[{positions[0]}]", part_name)
    rows = isinstance(value, list) and (any(shapes) or all(isinstance(part, Real) for part in value))
    return None if rows and len(value) else (received, SHAPE_HINT)


def _part_hint(call: str, part: str, part_name: str) -> str:
    """Return the advice to return a part of the result of a call."""
    return f"Return {part_name}: lambda X, n_components: {call}{part}."


def _shape(part: Any) -> tuple[int, ...]:
    """Return the shape of a part of a result; () where it has none."""
    try:
        return tuple(getattr(part, "shape", None) or np.shape(part))
    except (ValueError, TypeError):  # ragged
        return ()


def check_columns(points: Any, argument: str) -> None:
    """Check that an embedding has at most as many columns as rows."""
    n, d = points.shape
    if d > n:
        hint = (
            "Transpose it: rows are points, columns are components. Vectors with more columns, as those of texts, need "
        )
        hint += "another embedding_metric, such as 'cosine'."
        raise InputError(argument, "must not have more columns than rows", f"{n} rows and {d} columns", hint)


def check_metric_of_embedding(Y: Any, metric: str, argument: str) -> None:
    """Raise an error for an embedding with rows for which the metric of the embeddings is not defined."""
    if metric in ANGULAR:
        for _, block in read_blocks(Y):
            check_defined(block, metric, argument, "embedding_metric")


def for_views(embedded: Mapping[str, Any], metric: str) -> dict[str, Any]:
    """Return embeddings as views read them by the metric of the embeddings."""
    return {name: DistanceTable.of(Y) if metric == "precomputed" else Y for name, Y in embedded.items()}


def embedding_notes(one_place: bool, argument: str) -> Notes:
    """Return a note if all points are in one place."""
    if one_place:
        return (note("embedding.one_place", argument=argument),)
    return ()


LOWERED_PARAMETERS = {  # note code: parameter
    "affinities.fewer": "n_affinities",
    "neighbors.fewer": "n_neighbors",
    "perplexity.smaller": "perplexity",
}


def lowered_parameters(notes: Iterable[Note], n: int) -> dict[str, Any]:
    """Return the parameters that a run on ``n`` points lowered, by its notes, with the values that it used.

    Notes on fewer points refer to a part of the data, such as a part of a graph.
    """
    parameters = [
        (LOWERED_PARAMETERS[item.code], dict(item.values)) for item in notes if item.code in LOWERED_PARAMETERS
    ]
    return {name: values["used"] for name, values in parameters if values["n"] == n}


Seed = int | np.random.Generator | None


def seed_of(random_state: Seed) -> int | None:
    """Return a seed below 2**31, which every tool accepts; smaller seeds and None are returned unchanged."""
    if random_state is None:
        return None
    root = root_seed(random_state)
    return root if root < 2**31 else stream_seed(root, "embed")


class FittedEmbedding(NamedTuple):
    """Coordinates of the data and of new points by one fit, with notes; ``new`` is the error of a failed transform."""

    Y: FloatArray
    new: FloatArray | DrevalError
    notes: Notes


Run = tuple[Any, Callable[[], Any]]  # the value of a run, and a function that embeds the new points; both unchecked


@dataclass(frozen=True, eq=False, repr=False)
class Source:
    """Common interface of coordinates and of everything that embeds data.

    Attributes
    ----------
    name : str
        Name of the embedding.
    notes : tuple of Note
        Assumptions.
    passed_options : mapping of str
        The options that the caller passed.
    kind : str
        "coordinates", "estimator", "callable", "method" or "recorded".
    can_embed : bool
        Whether it can embed other data; ``reason`` is the reason if not.
    reseed_reason : str or None
        Why another seed gives the same embedding; None if seeds matter.
    transform_reason : str or None
        Why a fit cannot embed new points; None if it can.
    own_seed : int or None
        Its own seed, used if the caller passes none.
    supervised : bool
        Whether it uses the labels.
    n_components : int or None
        Number of components if it is known before the run.
    card : MethodCard or None
        The card of a bundled method, else None.
    """

    name: str
    notes: Notes = field(default=(), kw_only=True)
    passed_options: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    kind: ClassVar[str] = "coordinates"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}: {printable(self.what)})"

    @property
    def argument(self) -> str:
        """Name of the source in error messages."""
        return f"embeddings[{self.name!r}]"

    @property
    def can_embed(self) -> bool:
        """Whether it can embed other data."""
        return self.reason is None

    @property
    def reason(self) -> str | None:
        """Reason why it cannot embed other data; None if it can."""
        return None

    @property
    def reseed_reason(self) -> str | None:
        """Reason why there is no second run with another seed; None if there is one."""
        return self.reason

    @property
    def transform_reason(self) -> str | None:
        """Reason why a fit cannot embed new points; None if it can."""
        return self.reason

    @property
    def own_seed(self) -> int | None:
        """Seed of the source, or None."""
        return None

    @property
    def supervised(self) -> bool:
        """Whether it uses the labels."""
        return False

    @property
    def n_components(self) -> int | None:
        """Number of components if it is known before the run."""
        return None

    @property
    def default_components(self) -> int | None:
        """Default number of components: that of the source, else 2."""
        return self.n_components or 2

    @property
    def card(self) -> Any:
        """The card of a bundled method, else None."""
        return None

    @property
    def recording(self) -> Any:
        """Recorded runs of a source whose runs were finished before; else None."""
        return None

    def coordinates(self, data: Data, *, n_components: int | None = None, random_state: Seed = None) -> FloatArray:
        """Return the embedding of the data, (n, d); a new array."""
        return self.noted_coordinates(data, n_components=n_components, random_state=random_state)[0]

    def noted_coordinates(
        self, data: Data, *, n_components: int | None = None, random_state: Seed = None
    ) -> tuple[FloatArray, Notes]:
        """Return the embedding of the data, and notes on what this run returned."""
        return self.noted_embed(data.dense(), n_components or self.n_components, random_state, data.labels, data)

    def embed(
        self,
        X: FloatArray,
        n_components: int | None,
        random_state: Seed = None,
        labels: Any = None,
        rows: HasRows | None = None,
    ) -> FloatArray:
        """Return the embedding of other data ``X`` (n, p), as an (n, d) array; arguments as of ``noted_embed``."""
        return self.noted_embed(X, n_components, random_state, labels, rows)[0]

    def noted_embed(
        self,
        X: FloatArray,
        n_components: int | None,
        random_state: Seed = None,
        labels: Any = None,
        rows: HasRows | None = None,
    ) -> tuple[FloatArray, Notes]:
        """Return the embedding of ``X`` (n, p), and notes on this run: its warnings, and its result.

        ``labels`` reach supervised sources only; ``rows`` has the names of the rows of ``X``, if they have any.
        """
        y = self._check_run(n_components, labels)
        with UserCode(self.argument, self.what), collect_notes() as warnings:
            value, _ = self._run(self._input(X), n_components, seed_of(random_state), y)
        Y, notes = self._read_run(value, len(X), n_components, rows)
        return Y, (*dict.fromkeys(warnings), *notes)

    def embed_with_new(
        self,
        X: FloatArray,
        X_new: FloatArray,
        n_components: int | None,
        random_state: Seed = None,
        labels: Any = None,
        rows: HasRows | None = None,
    ) -> FittedEmbedding:
        """Return the embedding of ``X`` (n, p) and of new points ``X_new`` (m, p) by the same fit; see ``noted_embed``.

        The points of ``X_new`` are embedded in one call. Where this fails, the embedding of ``X`` is not lost.
        """
        if self.transform_reason is not None:
            hint = 'Pass their coordinates: new={"' + self.name + '": Y_new}.'
            raise UndefinedMeasure(self.argument, "must be able to embed new points", self.transform_reason, hint)
        y, new = self._check_run(n_components, labels), self._input(X_new)
        with collect_notes() as warnings:
            with UserCode(self.argument, self.what):
                value, transform = self._run(self._input(X), n_components, seed_of(random_state), y, new)
            Y, notes = self._read_run(value, len(X), n_components, rows)
            try:
                with UserCode(self.argument, self.what):
                    new_value = transform()
                return_name = f"transform of {self.argument}"
                Y_new, _ = read_returned(new_value, Rows(len(X_new), None), return_name, self.what, may_be_wide=True)
                if Y_new.shape[1] != Y.shape[1]:
                    requirement = f"must return the {Y.shape[1]} column{'s' * (Y.shape[1] > 1)} of the embedding"
                    hint = "See what its transform returns."
                    raise MethodFailed(return_name, requirement, str(Y_new.shape[1]), hint)
            except DrevalError as error:
                return FittedEmbedding(Y, error, (*dict.fromkeys(warnings), *notes))
        return FittedEmbedding(Y, Y_new, (*dict.fromkeys(warnings), *notes))

    def _check_run(self, n_components: int | None, labels: Any) -> Any:
        """Check that the source can be run, and return the labels if it uses them."""
        if self.reason is not None:
            hint = "Pass an estimator, a callable, or the name of a bundled method."
            raise UndefinedMeasure(self.argument, "must be able to embed other data", self.reason, hint)
        if n_components is not None:
            check_int(n_components, "n_components", low=1)
        y = labels.values if isinstance(labels, LabelVector) else labels
        if self.supervised and y is None:
            hint = "Pass labels: a vector, a column of the data, or a path; `embed` takes numbers as {response}."
            requirement = f"must be passed, because {self.name!r} is supervised"
            raise InputError("labels", requirement, "None", hint, response="response")
        if self.supervised and self.kind != "callable":
            array = np.asarray(y)
            missing = sum(label is None for label in array.tolist()) if array.dtype == object else 0
            if missing:
                hint = "Run it on the labeled points, or assign a class such as 'unknown' to the other points."
                raise InputError(
                    "labels", f"must be complete, because {self.name!r} is supervised", f"{missing} missing", hint
                )
        return y if self.supervised else None

    def _input(self, X: FloatArray) -> FloatArray:
        """Return what the code of the user gets: a copy. The bundled methods make their own."""
        return X if self.kind == "method" else np.array(X, order="C")

    def _read_run(self, value: Any, n: int, n_components: int | None, rows: HasRows | None) -> tuple[FloatArray, Notes]:
        """Return the coordinates that a run returned, checked, and notes on them."""
        row_info = Rows(n, None) if rows is None else rows
        return read_returned(value, row_info, self.argument, self.what, self.call, check=self.kind == "callable")

    def with_components(self, n_components: int) -> Source:
        """Return the source with another number of components; unchanged if it has no such parameter."""
        return self

    def with_metric(self, metric: str) -> Source:
        """Return the source for data with a metric.

        "precomputed" is a matrix of distances in place of features; a source that cannot read one raises an error. A
        bundled method that is named and has a ``metric`` gets the metric, unless the caller passes another one.
        Instances, callables and methods without a ``metric`` are run unchanged, with a note.
        """
        return self

    def _with_notes(self, *notes: Note) -> Source:
        """Return the source with notes that it does not have yet."""
        return replace(self, notes=tuple(dict.fromkeys((*self.notes, *notes))))

    def _no_lists(self) -> UndefinedMeasure:
        """Return the error for a source that is run, where the data are lists of neighbors."""
        hint = "Compute its coordinates from the data, and pass these."
        requirement = "must be coordinates where metric='neighbors'"
        return UndefinedMeasure(self.argument, requirement, f"{self.what}, which is run on the data", hint)

    def _cannot_read(self, hint: str) -> UndefinedMeasure:
        """Return the error for a source that reads features."""
        received = f"{self.what}, which reads features"
        return UndefinedMeasure(self.argument, "must read distances where metric='precomputed'", received, hint)

    @property
    def what(self) -> str:
        """Name of the method, class or function."""
        return self.kind

    @property
    def call(self) -> str:
        """Python expression that embeds X, for advice."""
        return "function(X, n_components)"

    def settings(self, n_components: int | None, seed: int | None) -> dict[str, Any]:
        """Return all parameters of a run with these components and seed, defaults included; empty for coordinates."""
        return {}

    def _run(
        self, X: FloatArray, n_components: int | None, seed: int | None, y: Any, X_new: FloatArray | None = None
    ) -> Run:
        """Run the method; return its value, and a function that embeds the new points by this fit."""
        return X, lambda: X_new


@dataclass(frozen=True, eq=False)
class ChecksummedTable:
    """A table that is not copied; reading it raises an error once its numbers differ from its hash."""

    table: Any
    sha256: str
    argument: str

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        n, d = self.table.shape
        return int(n), int(d)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Any) -> Any:
        return self.checked()[index]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        array = np.asarray(self.checked(), dtype)
        return array.copy() if copy else array

    def checked(self) -> Any:
        """Return the table, if it has not changed."""
        if digest_of(self.table) != self.sha256:
            requirement, received = (
                "must stay as they were when they were passed",
                "coordinates that have changed since",
            )
            raise InputError(self.argument, requirement, received, "Pass a copy, or make a new Evaluation of them.")
        return self.table


MAX_COPIED_BYTES = 2**28  # bytes of coordinates up to which a result stores a copy


@dataclass(frozen=True, eq=False, repr=False)
class CoordinateSource(Source):
    """Coordinates computed elsewhere, in the row order of the data.

    Coordinates of many points, or not in memory, are the caller's own table, with the hash (``sha256``) of its content.
    """

    values: Any
    stored: str = ""  # the key of ``obsm`` that holds them
    method: str = ""  # the bundled method of the same name, with its prefix
    sha256: str = ""
    columns: tuple[str, ...] | None = None  # names of the columns, if they have any

    @property
    def what(self) -> str:
        """Key in ``obsm``, if they are stored with the data."""
        return f"obsm[{self.stored!r}]" if self.stored else self.kind

    @property
    def reason(self) -> str | None:
        """Reason why other data cannot be embedded."""
        if self.method:
            name = self.method.partition(":")[2]
            return f"{name!r} is read as the stored coordinates obsm[{self.stored!r}]; {self.method!r} runs the method"
        return "coordinates only, which cannot be recomputed on other data"

    @property
    def n_components(self) -> int | None:
        """Number of columns."""
        return int(self.values.shape[1])

    def coordinates(self, data: Data, *, n_components: int | None = None, random_state: Seed = None) -> FloatArray:
        """Return the coordinates: a new array, or the caller's own table, protected from writing."""
        check_rows(len(self.values), data.n, self.argument)
        if n_components not in (None, self.n_components):
            hint = "Leave n_components out, or pass a source that can be run."
            raise UndefinedMeasure(self.argument, f"must have {n_components} columns", str(self.n_components), hint)
        if not self.sha256:
            return np.array(self.values)
        table: FloatArray = self.checksummed.checked()
        return table

    def noted_coordinates(self, data: Data, **settings: Any) -> tuple[FloatArray, Notes]:
        """Return the coordinates; notes on them are those of the source."""
        return self.coordinates(data, **settings), ()

    @property
    def checksummed(self) -> ChecksummedTable:
        """Table that raises an error once it has changed."""
        return ChecksummedTable(self.values, self.sha256, self.argument)

    def values_to_store(self) -> Any:
        """Return the coordinates for a result: a copy, or the table with its checksum if a copy is too large.

        A copy has the precision in which the coordinates are stored.
        """
        if isinstance(self.values, np.ndarray):
            return np.array(self.values) if self.values.nbytes <= MAX_COPIED_BYTES else self.checksummed
        base = self.values.table if isinstance(self.values, PermutedRows) else self.values
        dtype = np.float32 if getattr(base, "single", False) else np.float64
        (n, d), size = self.values.shape, np.dtype(dtype).itemsize
        if n * d * size > MAX_COPIED_BYTES:
            return self.checksummed
        array = np.empty((n, d), dtype)
        for part, block in read_blocks(self.values):
            array[part] = block
        return array


@dataclass(frozen=True, eq=False, repr=False)
class EstimatorSource(Source):
    """An estimator with the interface of scikit-learn; each run works on a deep copy.

    Without ``set_params``, the attributes ``n_components`` and ``random_state`` are set, if there are any. It is run by
    ``fit_transform``, else by ``fit`` and ``transform``; with ``transform`` alone it is applied as a fixed map.
    ``columns``, the names of the features, are passed to an estimator that selects columns by name.
    """

    estimator: Any
    labeled: bool = False
    columns: tuple[str, ...] | None = None
    kind: ClassVar[str] = "estimator"

    @property
    def what(self) -> str:
        """Class of the estimator."""
        return type(self.estimator).__name__

    @property
    def card(self) -> Any:
        """The card, if the estimator is a bundled method."""
        return getattr(type(self.estimator), "card", None)

    @property
    def supervised(self) -> bool:
        """Whether labels are part of its fit."""
        return self.labeled

    @property
    def call(self) -> str:
        """Its ``fit_transform``, or its ``transform`` alone."""
        method = "fit_transform" if callable(getattr(self.estimator, "fit_transform", None)) else "transform"
        return (
            f"{'estimator' if method == 'fit_transform' or is_map(self.estimator) else 'estimator.fit(X)'}.{method}(X)"
        )

    def with_metric(self, metric: str) -> Source:
        """Return the estimator, with a note if its own metric is another; "precomputed" must be one of its parameters.

        Its own metrics are parameters called metric, dissimilarity or affinity, also of its steps, that are texts.
        """
        if metric == "neighbors":
            raise self._no_lists()
        params = {key: value for key, value in settable(self.estimator).items() if isinstance(value, str)}
        if metric == "precomputed":
            if "precomputed" not in params.values():
                names = [key for key in settable(self.estimator) if key.split("__")[-1] in METRIC_PARAMETERS]
                hint = f'Set its parameter {names[0]} to "precomputed".' if names else PRECOMPUTED_HINT
                raise self._cannot_read(hint)
            return self
        if metric == "geodesic":
            return self._with_notes(note("source.metric_unknown", what=self.what, metric=metric))
        metrics = {key: value for key, value in params.items() if key.split("__")[-1] in METRIC_PARAMETERS}
        metrics = {key: value for key, value in metrics.items() if value not in NOT_METRICS}
        other_metrics = {key: value for key, value in metrics.items() if _metric_name(value) != metric}
        if other_metrics:
            settings = tuple(f"{key}={value!r}" for key, value in other_metrics.items())
            return self._with_notes(note("source.metric_kept", what=self.what, settings=settings, metric=metric))
        if metrics or metric == "euclidean":
            return self
        code = "source.metric_unknown" if self.card is None else "source.metric_none"
        return self._with_notes(note(code, what=self.what, metric=metric))

    def _components(self) -> Any:
        """Return the parameter of the estimator; None if it does not have it or leaves it unset."""
        params = settable(self.estimator)
        return next((params[key] for key in _component_keys(self.estimator, params)), None)

    @property
    def n_components(self) -> int | None:
        """The estimator's own parameter, if it is a number."""
        value = self._components()
        return int(value) if _is_int(value) else None

    @property
    def default_components(self) -> int | None:
        """Its own number, else 2; None if it has no such parameter, or a rule such as ``"mle"``."""
        free = bool(_component_keys(self.estimator, settable(self.estimator))) and self._components() is None
        return self.n_components or (2 if free else None)

    @property
    def own_seed(self) -> int | None:
        """Seed of the estimator, if all its parts have the same seed."""
        params = settable(self.estimator)
        seeds = {params[key] if _is_int(params[key]) else None for key in _seed_keys(params)}
        seed = seeds.pop() if len(seeds) == 1 and self.reseed_reason is None else None
        return None if seed is None else int(seed)

    @property
    def reseed_reason(self) -> str | None:
        """Reason why another seed would change nothing; None if it would."""
        if getattr(self.card, "deterministic", False):
            return f"{self.what} is deterministic"
        if _seed_keys(settable(self.estimator)):
            return None
        what = "parameter" if _has_params(self.estimator) else "set_params and no attribute"
        return f"{self.what} has no {what} random_state"

    def with_components(self, n_components: int) -> Source:
        """Return a copy of the estimator with that number of components, if it has such a parameter."""
        estimator = copy.deepcopy(self.estimator)
        with UserCode(self.argument, self.what):
            assign(estimator, dict.fromkeys(_component_keys(estimator, settable(estimator)), n_components))
        return replace(self, estimator=estimator)

    @property
    def transform_reason(self) -> str | None:
        """Reason why a fit cannot embed new points; None if it can."""
        return None if callable(getattr(self.estimator, "transform", None)) else f"{self.what} has no transform"

    def _read_run(self, value: Any, n: int, n_components: int | None, rows: HasRows | None) -> tuple[FloatArray, Notes]:
        """Return the checked coordinates; an error if their number of columns is wrong and cannot be set."""
        Y, notes = super()._read_run(value, n, n_components, rows)
        is_settable = bool(_component_keys(self.estimator, settable(self.estimator)))
        if n_components is None or is_settable or Y.shape[1] == n_components:
            return Y, notes
        requirement = f"must give the {n_components} column{'s' * (n_components > 1)} requested"
        received = f"{Y.shape[1]} from {self.what}, whose n_components cannot be set"
        hint = f"Ask for n_components={Y.shape[1]}, or give it a parameter n_components."
        raise MethodFailed(self.argument, requirement, received, hint)

    def settings(self, n_components: int | None, seed: int | None) -> dict[str, Any]:
        """Return the parameters of the estimator, including those set for a run."""
        return {**settable(self.estimator), **self._changes(n_components, seed)}

    def _changes(self, n_components: int | None, seed: int | None) -> dict[str, Any]:
        """Return the parameters that are set for a run: the number of components and the seeds."""
        params = settable(self.estimator)
        changes: dict[str, Any] = {}
        if n_components is not None:
            changes |= dict.fromkeys(_component_keys(self.estimator, params), n_components)
        if seed is not None:
            changes |= dict.fromkeys(_seed_keys(params), seed)
        return changes

    def _run(
        self, X: FloatArray, n_components: int | None, seed: int | None, y: Any, X_new: FloatArray | None = None
    ) -> Run:
        estimator = copy.deepcopy(self.estimator)
        assign(estimator, self._changes(n_components, seed))
        named = self.columns is not None and len(self.columns) == X.shape[1] and _chooses_by_name(estimator)

        def table(points: Any) -> Any:
            return pd.DataFrame(points, columns=self.columns) if named else points

        def transform() -> Any:
            return estimator.transform(table(X_new))

        target = () if y is None else (y,)
        if callable(getattr(estimator, "fit_transform", None)):
            return estimator.fit_transform(table(X), *target), transform
        if not is_map(estimator):
            _ = estimator.fit(table(X), *target)
        return estimator.transform(table(X)), transform


@dataclass(frozen=True, eq=False, repr=False)
class CallableSource(Source):
    """A function ``(X, n_components)`` that may also accept ``random_state``, ``labels`` and ``X_new``.

    With new points ``X_new`` it returns a pair: the coordinates of ``X``, and those of ``X_new``.
    """

    function: Callable[..., Any]
    accepts: frozenset[str] = frozenset()
    options: Mapping[str, Any] = field(default_factory=dict)
    kind: ClassVar[str] = "callable"

    @property
    def what(self) -> str:
        """Name of the function."""
        return function_name(self.function, type(self.function).__name__)

    def with_metric(self, metric: str) -> Source:
        """Return the function, with a note that it does not get the metric; it gets a matrix of distances."""
        if metric == "neighbors":
            raise self._no_lists()
        if metric in ("euclidean", "precomputed"):
            return self
        return self._with_notes(note("source.metric_unknown", what=self.what, metric=metric))

    @property
    def call(self) -> str:
        """A call of the function by its name, if it has one."""
        return f"{self.what if self.what.isidentifier() else 'function'}(X, n_components)"

    @property
    def supervised(self) -> bool:
        """Whether it accepts labels."""
        return "labels" in self.accepts

    @property
    def n_components(self) -> int | None:
        """Two, unless the options say otherwise."""
        return int(self.options.get("n_components", 2))

    @property
    def reseed_reason(self) -> str | None:
        """Reason why there is no second run with another seed; None if there is one."""
        if "random_state" in self.options:
            return f"{self.what} already has a random_state"
        return None if "random_state" in self.accepts else f"{self.what} does not accept random_state"

    @property
    def transform_reason(self) -> str | None:
        """Reason why a run cannot embed new points; None if it can."""
        return None if "X_new" in self.accepts else f"{self.what} does not accept X_new"

    def with_components(self, n_components: int) -> Source:
        """Return the function with another number of components."""
        return replace(self, options={**self.options, "n_components": n_components})

    def settings(self, n_components: int | None, seed: int | None) -> dict[str, Any]:
        """Return the options of the function, with the number of components and, if it accepts a seed, the seed."""
        seeded = {"random_state": seed} if "random_state" in self.accepts and seed is not None else {}
        d = self.n_components if n_components is None else n_components
        return {**self.options, "n_components": d, **seeded}

    def _run(
        self, X: FloatArray, n_components: int | None, seed: int | None, y: Any, X_new: FloatArray | None = None
    ) -> Run:
        keywords = self.settings(n_components, seed)
        d = keywords.pop("n_components")
        if "labels" in self.accepts:
            keywords["labels"] = y
        if X_new is not None:
            keywords["X_new"] = X_new
        named = "n_components" in self.accepts
        value = self.function(X, n_components=d, **keywords) if named else self.function(X, d, **keywords)
        if X_new is None:
            return value, lambda: None
        if not (isinstance(value, tuple) and len(value) == 2):
            requirement = "must return a pair where it gets X_new: the coordinates of X, and those of X_new"
            hint = "Let it end with: return Y, Y_new."
            raise MethodFailed(self.argument, requirement, describe(value), hint)
        return value[0], lambda: value[1]


@dataclass(frozen=True, eq=False, repr=False)
class MethodSource(Source):
    """A bundled method with its parameters."""

    method: Any
    parameters: Mapping[str, Any] = field(default_factory=dict)
    kind: ClassVar[str] = "method"

    @property
    def what(self) -> str:
        """Name of the method."""
        return str(self.card.name)

    @property
    def card(self) -> Any:
        """The card of the method."""
        return self.method.card

    def with_metric(self, metric: str) -> Source:
        """Return the method with the metric as its parameter; a metric among its options stays, with a note."""
        if metric == "neighbors":
            raise self._no_lists()
        if metric == "precomputed" and not self.card.distances:
            raise self._cannot_read(PRECOMPUTED_HINT)
        if metric == "precomputed":
            return replace(self, parameters={**self.parameters, "metric": metric})
        if metric == "geodesic":
            return self._with_notes(note("source.metric_unknown", what=self.what, metric=metric))
        if "metric" in self.parameters:
            own_metric = self.parameters["metric"]
            if _metric_name(own_metric) == metric:
                return self
            settings = (f"metric={own_metric!r}",)
            return self._with_notes(note("source.metric_kept", what=self.what, settings=settings, metric=metric))
        if metric == "euclidean":
            return self
        if "metric" not in inspect.signature(self.method).parameters:
            return self._with_notes(note("source.metric_none", what=self.what, metric=metric))
        return replace(self, parameters={**self.parameters, "metric": metric})

    @property
    def supervised(self) -> bool:
        """Whether the method uses labels, with these parameters."""
        return bool(getattr(self.method(**self.parameters), "requires_y", self.card.supervised))

    @property
    def n_components(self) -> int | None:
        """Two, unless the parameters say otherwise."""
        return int(self.parameters.get("n_components", 2))

    @property
    def reseed_reason(self) -> str | None:
        """Reason why another seed would change nothing; None if it would."""
        return f"{self.what} is deterministic" if self.card.deterministic else None

    @property
    def transform_reason(self) -> str | None:
        """Reason why a fit cannot embed new points; None if it can."""
        return None if callable(getattr(self.method, "transform", None)) else f"{self.what} has no transform"

    @property
    def own_seed(self) -> int | None:
        """The seed among its parameters."""
        seed = self.parameters.get("random_state")
        return int(seed) if _is_int(seed) and self.reseed_reason is None else None

    def with_components(self, n_components: int) -> Source:
        """Return the method with another number of components."""
        return replace(self, parameters={**self.parameters, "n_components": n_components})

    def settings(self, n_components: int | None, seed: int | None) -> dict[str, Any]:
        """Return all parameters of the method, defaults included."""
        parameters = inspect.signature(self.method).parameters.values()
        defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
        return {**defaults, **self._run_parameters(n_components, seed)}

    def _run_parameters(self, n_components: int | None, seed: int | None) -> dict[str, Any]:
        """Return the parameters that are passed to a run."""
        d = self.n_components if n_components is None else n_components
        seeded = seed is not None and "random_state" in inspect.signature(self.method).parameters
        return {**self.parameters, "n_components": d, **({"random_state": seed} if seeded else {})}

    def _run(
        self, X: FloatArray, n_components: int | None, seed: int | None, y: Any, X_new: FloatArray | None = None
    ) -> Run:
        estimator = self.method(**self._run_parameters(n_components, seed))
        Y = estimator.fit_transform(X) if y is None else estimator.fit_transform(X, y)
        return Y, lambda: estimator.transform(X_new)


def is_map(estimator: Any) -> bool:
    """Check whether there is nothing to fit: it has only ``transform``, or is a FrozenEstimator."""
    fits = any(callable(getattr(estimator, name, None)) for name in ("fit", "fit_transform"))
    return not fits or type(estimator).__name__ == "FrozenEstimator"


def pipeline_steps(estimator: Any) -> list[Any]:
    """Return the steps of a pipeline without those that pass the data through; of other estimators the estimator."""
    steps = getattr(estimator, "steps", None)
    if not isinstance(steps, list):
        return [estimator]
    return [step for _, step in steps if step is not None and not isinstance(step, str)]


SCALERS = {  # classes of sklearn.preprocessing that change the scale of columns, and the parameter that prevents it
    "MaxAbsScaler": "",
    "MinMaxScaler": "",
    "PowerTransformer": "",
    "QuantileTransformer": "",
    "RobustScaler": "with_scaling",
    "StandardScaler": "with_std",
}


def rescaled_note(estimator: Any) -> Notes:
    """Return a note on a pipeline whose first step is a scaler of scikit-learn, which changes the scale of columns."""
    scaler, *others = pipeline_steps(estimator) or [None]
    name = type(scaler).__name__
    if not others or name not in SCALERS or library_of(type(scaler)) != "sklearn":
        return ()
    rescales = getattr(scaler, SCALERS[name], True)
    return (note("source.rescaled", what=type(estimator).__name__, scaler=name),) if rescales else ()


def _chooses_by_name(estimator: Any) -> bool:
    """Check whether a part of it is a ``ColumnTransformer`` that selects columns by name or by a function."""
    parts = [estimator, *(estimator.get_params().values() if _has_params(estimator) else ())]
    selections = [spec[2] for part in parts for spec in getattr(part, "transformers", None) or () if len(spec) == 3]
    lists = [columns if isinstance(columns, list | tuple) else [columns] for columns in selections]
    return any(isinstance(column, str) or callable(column) for columns in lists for column in columns)


def settable(estimator: Any) -> dict[str, Any]:
    """Return the parameters of an estimator; without ``set_params`` its attributes n_components and random_state."""
    if _has_params(estimator):
        return dict(estimator.get_params())
    return {name: getattr(estimator, name) for name in ("n_components", "random_state") if hasattr(estimator, name)}


def assign(estimator: Any, values: Mapping[str, Any]) -> None:
    """Set parameters, or attributes."""
    if values and _has_params(estimator):
        estimator.set_params(**values)
        return
    for name, value in values.items():
        setattr(estimator, name, value)


def _metric_name(value: Any) -> Any:
    """Return the standard name of a metric; scikit-learn's "minkowski" is Euclidean by default."""
    return "euclidean" if value == "minkowski" else resolve_alias(value, METRICS)


def _has_params(estimator: Any) -> bool:
    return hasattr(estimator, "get_params") and hasattr(estimator, "set_params")


def _is_int(value: Any) -> TypeGuard[int | np.integer[Any]]:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _component_keys(estimator: Any, params: Mapping[str, Any]) -> list[str]:
    """Return the parameter with the number of components; for a pipeline that of its last step."""
    steps = getattr(estimator, "steps", None)
    last = [f"{steps[-1][0]}__n_components"] if isinstance(steps, list) and steps else []
    return [name for name in ("n_components", *last) if name in params]


def _seed_keys(params: Mapping[str, Any]) -> list[str]:
    """Return all parameters that hold a seed, including those of nested estimators."""
    return [name for name in params if name == "random_state" or name.endswith("__random_state")]
