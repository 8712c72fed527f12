"""Sources of embeddings: the common interface, and its four kinds (coordinates, estimators, callables, methods)."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, ClassVar, TypeGuard

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import (
    FloatArray as FloatArray,
)
from dreval._check import (
    check_finite,
    check_int,
    check_numeric,
    check_rows,
    check_spread,
    check_unmasked,
    describe,
    function_name,
    known_name,
)
from dreval._random import root_seed, stream_seed
from dreval.errors import InputError, MethodFailed, UndefinedMeasure, heard
from dreval.glossary import METRICS, printable
from dreval.inputs._foreign import ALONE as ALONE
from dreval.inputs._foreign import Foreign as Foreign
from dreval.inputs.coordinates import returned_coordinates
from dreval.inputs.data import Data
from dreval.inputs.features import Reordered, check_places, digest_of, is_sparse, read_blocks
from dreval.inputs.files import as_numpy, as_pandas, is_anndata, is_table
from dreval.inputs.variables import HasRows, LabelVector, Rows
from dreval.records.notes import Note, Notes, note

METRIC_PARAMETERS = ("metric", "dissimilarity", "affinity")  # of estimators, for the distance in the data
NO_METRICS = ("precomputed", "nearest_neighbors", "precomputed_nearest_neighbors", "rbf", "deprecated")  # their others
ROWS_AND_COLUMNS = "Return an array with a row for each point and a column for each component."
LISTED_KEYS = 6  # keys of a result that an error names


def read_returned(
    value: Any, rows: HasRows, argument: str, what: str, call: str = "function(X, n_components)", *, check: bool = False
) -> tuple[FloatArray, Notes]:
    """Return what a method returned as (n, d) float64 coordinates in the order of its input, and notes.

    The rows of a frame are matched by their names, as ``returned_coordinates`` says. ``call`` is the Python expression
    that runs the method, for advice.
    """
    frame = value
    try:
        if is_table(value):
            frame = as_pandas(value, argument)
        if not isinstance(frame, pd.DataFrame | pd.Series):
            return check_embedding(value, rows.n, argument, what, call), ()
        check_rows(len(frame), rows.n, argument)
        values, notes = returned_coordinates(frame, rows, argument, check=check)
    except InputError as error:
        raise error.altered(MethodFailed) from error
    return check_embedding(values, rows.n, argument, what, call), notes


def check_embedding(
    value: Any, n: int, argument: str, what: str, call: str = "function(X, n_components)"
) -> FloatArray:
    """The (n, d) float64 coordinates that a method returned; invalid ones raise ``MethodFailed``.

    ``call`` is the Python expression that runs the method, for advice.
    """
    cure = f"See what {what} returns: it must be an array with a row for each point and a column for each component."
    try:
        value = check_unmasked(value, argument)
        if is_sparse(value):
            check_places(value, argument)
    except InputError as error:
        raise error.altered(MethodFailed) from error
    if (result := wrong_result(value, n, what, call)) is not None:
        raise MethodFailed(argument, "must return an array", *result)
    with Foreign(argument, what):
        array = _plain(value, argument)
    if array.ndim == 0:
        raise MethodFailed(argument, "must return an array", describe(value), cure)
    try:
        array = check_numeric(array, argument)
        array = array[:, None] if array.ndim == 1 else array
        if array.ndim != 2 or array.shape[1] == 0:
            raise InputError(argument, "must return rows and columns", describe(array), cure)
        check_rows(len(array), n, argument)
        points = np.array(array, dtype=np.float64, order="C")
        check_finite(points, argument)
        check_spread(points, argument)
        check_columns(points, argument)
    except InputError as error:
        raise error.altered(MethodFailed, hint=cure) from error
    return points


def wrong_result(value: Any, n: int, what: str, call: str) -> tuple[str, str] | None:
    """Return what a method returned, and what to do, where that is no array of n rows; None where it may be one.

    A list or a tuple of n rows may be an array. Nothing is taken out of another tuple, a list of arrays, a mapping, an
    iterator or an object: which of its parts is the embedding would be a guess.
    """
    if isinstance(value, tuple | list):
        return _wrong_sequence(value, n, call)
    if value is None:
        return "None", f"Let {what} end with a return statement that names the embedding."
    if isinstance(value, type):
        return f"the class {value.__name__}", ROWS_AND_COLUMNS
    if hasattr(value, "__array__") or hasattr(value, "toarray") or is_table(value):
        return None
    if isinstance(value, Mapping):
        keys = [key for key in value if _shape(value[key])[:1] == (n,)] or list(value)
        got = f"a {type(value).__name__} with {', '.join(map(repr, list(value)[:LISTED_KEYS])) or 'no key'}"
        return got, _taken(call, f"[{keys[0]!r}]", "one of its values") if keys else ROWS_AND_COLUMNS
    if isinstance(value, Iterator):
        kind = "generator" if isinstance(value, Generator) else type(value).__name__
        return f"a {kind}", f"Return an array of its rows: lambda X, n_components: numpy.array(list({call}))."
    if is_anndata(value):
        keys = [repr(str(key)) for key in value.obsm]
        got = f"an AnnData object with {', '.join(keys[:LISTED_KEYS]) or 'nothing'} in obsm"
        return got, _taken(call, f".obsm[{keys[-1]}]", "one of its arrays") if keys else ROWS_AND_COLUMNS
    if hasattr(value, "fit") or callable(value):
        got = f"a {type(value).__name__}"
        return got, _taken(call, ".embedding_", "its embedding") if hasattr(value, "embedding_") else ROWS_AND_COLUMNS
    return None


def _wrong_sequence(value: Sequence[Any], n: int, call: str) -> tuple[str, str] | None:
    """Return what a tuple or a list is that is no array of n rows, and what to do; None where it may be one."""
    kind, shapes = type(value).__name__, [_shape(part) for part in value]
    if kind not in ("list", "tuple"):
        kind = f"{'tuple' if isinstance(value, tuple) else 'list'} ({kind})"
    if len(value) == n and len(shapes[0]) < 2:
        return None
    got = f"a {kind} of {len(value)} part{'s' * (len(value) != 1)}"
    if shapes and all(shape == (n,) for shape in shapes):
        return got, f"Return its parts as columns: lambda X, n_components: numpy.column_stack({call})."
    places = [place for place, shape in enumerate(shapes) if len(shape) == 2 and shape[0] == n]
    if places:
        which = "its first part" if places[0] == 0 else "the part that is the embedding"
        return got, _taken(call, f"[{places[0]}]", which)
    rows = isinstance(value, list) and (any(shapes) or all(isinstance(part, Real) for part in value))
    return None if rows and len(value) else (got, ROWS_AND_COLUMNS)


def _taken(call: str, part: str, which: str) -> str:
    """Return the advice to return a part of the result of a call."""
    return f"Return {which}: lambda X, n_components: {call}{part}."


def _shape(part: Any) -> tuple[int, ...]:
    """Return the shape of a part of a result; () where it has none."""
    try:
        return tuple(getattr(part, "shape", None) or np.shape(part))
    except (ValueError, TypeError):  # ragged
        return ()


def _plain(value: Any, argument: str) -> npt.NDArray[Any]:
    """A numpy array from a frame, a sparse matrix, a tensor or any array-like."""
    value = as_numpy(as_pandas(value, argument) if is_table(value) else value, argument)
    if isinstance(value, pd.DataFrame):
        value = value.to_numpy()
    if hasattr(value, "toarray"):
        value = value.toarray()
    return np.asarray(value)


def check_columns(points: Any, argument: str) -> None:
    """Check that an embedding has at most as many columns as rows."""
    n, d = points.shape
    if d > n:
        cure = "Transpose it: rows are points, columns are components."
        raise InputError(argument, "must not have more columns than rows", f"{n} rows and {d} columns", cure)


def embedding_notes(one_place: bool, argument: str) -> Notes:
    """What a reader should know of coordinates: whether all points are in one place."""
    if one_place:
        return (note("embedding.one_place", argument=argument),)
    return ()


LOWERED = {"perplexity.smaller": "perplexity", "neighbors.fewer": "n_neighbors"}  # the parameter that a note is on


def lowered(notes: Iterable[Note], n: int) -> dict[str, Any]:
    """The parameters that a run on ``n`` points lowered, by its notes, with the values that it took.

    Notes on fewer points are on a part of the data, such as a part of a graph.
    """
    known = [(LOWERED[one.code], dict(one.values)) for one in notes if one.code in LOWERED]
    return {name: values["used"] for name, values in known if values["n"] == n}


Seed = int | np.random.Generator | None


def seed_of(random_state: Seed) -> int | None:
    """A seed below 2**31, which every tool accepts; smaller ones and None are returned unchanged."""
    if random_state is None:
        return None
    root = root_seed(random_state)
    return root if root < 2**31 else stream_seed(root, "embed")


@dataclass(frozen=True, eq=False, repr=False)
class Source:
    """The common interface of coordinates and of everything that embeds data.

    Attributes
    ----------
    name : str
        Name of the embedding.
    notes : tuple of Note
        What was assumed.
    given : mapping of str
        The options with which it was made.
    kind : str
        "coordinates", "estimator", "callable", "method" or "recorded".
    can_embed : bool
        Whether it can embed other data; ``reason`` says why not.
    reseed_reason : str or None
        Why another seed gives the same embedding; None if seeds matter.
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
    given: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    kind: ClassVar[str] = "coordinates"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}: {printable(self.what)})"

    @property
    def argument(self) -> str:
        """Its name in error messages."""
        return f"embeddings[{self.name!r}]"

    @property
    def can_embed(self) -> bool:
        """Whether it can embed other data."""
        return self.reason is None

    @property
    def reason(self) -> str | None:
        """Why it cannot embed other data; None if it can."""
        return None

    @property
    def reseed_reason(self) -> str | None:
        """Why there is no second run with another seed; None if there is."""
        return self.reason

    @property
    def own_seed(self) -> int | None:
        """Its own seed, or None."""
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
        """Default number of components: its own, else 2."""
        return self.n_components or 2

    @property
    def card(self) -> Any:
        """The card of a bundled method, else None."""
        return None

    @property
    def recording(self) -> Any:
        """The recorded runs of a source whose runs were made before; else None."""
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
        """Return the embedding of ``X`` (n, p), and notes on this run: what it warned of, and what it returned.

        ``labels`` reach supervised sources only; ``rows`` has the names of the rows of ``X``, if they have any.
        """
        if self.reason is not None:
            cure = "Pass an estimator, a callable, or the name of a bundled method."
            raise UndefinedMeasure(self.argument, "must be able to embed other data", self.reason, cure)
        if n_components is not None:
            check_int(n_components, "n_components", low=1)
        y = labels.values if isinstance(labels, LabelVector) else labels
        if self.supervised and y is None:
            cure = "Pass labels: a vector, a column of the data, or a path; `embed` takes numbers as {response}."
            rule = f"must be given, because {self.name!r} is supervised"
            raise InputError("labels", rule, "None", cure, response="response")
        if self.supervised and self.kind != "callable":
            array = np.asarray(y)
            missing = sum(label is None for label in array.tolist()) if array.dtype == object else 0
            if missing:
                cure = "Run it on the labeled points, or give the others a class of their own, such as 'unknown'."
                raise InputError(
                    "labels", f"must be complete, because {self.name!r} is supervised", f"{missing} missing", cure
                )
        with Foreign(self.argument, self.what), heard() as warned:
            own = X if self.kind == "method" else np.array(X, order="C")  # the bundled methods copy for themselves
            value = self._run(own, n_components, seed_of(random_state), y if self.supervised else None)
        known = Rows(len(X), None) if rows is None else rows
        Y, notes = read_returned(value, known, self.argument, self.what, self.call, check=self.kind == "callable")
        return Y, (*dict.fromkeys(warned), *notes)

    def with_components(self, n_components: int) -> Source:
        """The source with another number of components; one without such a parameter is returned unchanged."""
        return self

    def with_metric(self, metric: str) -> Source:
        """Return the source for data whose distances are measured by a metric.

        "precomputed" is a matrix of distances in place of features; a source that cannot read one raises an error. A
        bundled method that is named and has a ``metric`` gets the metric, unless the caller passes another one.
        Instances, callables and methods without a ``metric`` are run as they are, with a note.
        """
        return self

    def _noted(self, *notes: Note) -> Source:
        """Return the source with notes that it does not have yet."""
        return replace(self, notes=tuple(dict.fromkeys((*self.notes, *notes))))

    def _cannot_read(self, cure: str) -> UndefinedMeasure:
        """The error for a source that reads features."""
        got = f"{self.what}, which reads features"
        return UndefinedMeasure(self.argument, "must read distances where metric='precomputed'", got, cure)

    @property
    def what(self) -> str:
        """Name of the method, class or function."""
        return self.kind

    @property
    def call(self) -> str:
        """The expression that embeds X, for advice."""
        return "function(X, n_components)"

    def settings(self, n_components: int | None, seed: int | None) -> dict[str, Any]:
        """All parameters of a run with that number of components and seed, defaults included; empty for coordinates."""
        return {}

    def _run(self, X: FloatArray, n_components: int | None, seed: int | None, y: Any) -> Any:
        """Run the method and return its value unchecked."""
        return X


@dataclass(frozen=True, eq=False)
class Watched:
    """A table that stays where it is, and is refused once its numbers are no longer those of its hash."""

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

    def __getitem__(self, places: Any) -> Any:
        return self.checked()[places]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        found = np.asarray(self.checked(), dtype)
        return found.copy() if copy else found

    def checked(self) -> Any:
        """The table, if it has not changed."""
        if digest_of(self.table) != self.sha256:
            rule, got = "must stay as they were when they were passed", "coordinates that have changed since"
            raise InputError(self.argument, rule, got, "Pass a copy, or make a new Evaluation of them.")
        return self.table


OWNED = 2**28  # bytes of coordinates up to which a result keeps a copy


@dataclass(frozen=True, eq=False, repr=False)
class CoordinateSource(Source):
    """Coordinates computed elsewhere, in the row order of the data.

    Those of many points, or not in memory, are the caller's own table, with the hash (``sha256``) of what it held.
    """

    values: Any
    stored: str = ""  # the key of ``obsm`` that holds them
    sha256: str = ""

    @property
    def what(self) -> str:
        """The key in ``obsm``, if they are stored with the data."""
        return f"obsm[{self.stored!r}]" if self.stored else self.kind

    @property
    def reason(self) -> str | None:
        """Coordinates cannot be recomputed."""
        return "coordinates only, which cannot be recomputed on other data"

    @property
    def n_components(self) -> int | None:
        """Number of columns."""
        return int(self.values.shape[1])

    def coordinates(self, data: Data, *, n_components: int | None = None, random_state: Seed = None) -> FloatArray:
        """The coordinates: a new array, or the caller's own table, which cannot be written to through it."""
        check_rows(len(self.values), data.n, self.argument)
        if n_components not in (None, self.n_components):
            cure = "Leave n_components out, or pass a source that can be run."
            raise UndefinedMeasure(self.argument, f"must have {n_components} columns", str(self.n_components), cure)
        if not self.sha256:
            return np.array(self.values)
        table: FloatArray = self.watched.checked()
        return table

    def noted_coordinates(self, data: Data, **settings: Any) -> tuple[FloatArray, Notes]:
        """Return the coordinates; notes on them are those of the source."""
        return self.coordinates(data, **settings), ()

    @property
    def watched(self) -> Watched:
        """The table, which is refused once it has changed."""
        return Watched(self.values, self.sha256, self.argument)

    def kept(self) -> Any:
        """The coordinates as a result keeps them: a copy of its own, or where that is too large the table, watched.

        A copy has the precision in which they are stored.
        """
        if isinstance(self.values, np.ndarray):
            return np.array(self.values) if self.values.nbytes <= OWNED else self.watched
        under = self.values.table if isinstance(self.values, Reordered) else self.values
        own = np.float32 if getattr(under, "single", False) else np.float64
        (n, d), size = self.values.shape, np.dtype(own).itemsize
        if n * d * size > OWNED:
            return self.watched
        made = np.empty((n, d), own)
        for part, block in read_blocks(self.values):
            made[part] = block
        return made


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
        verb = "fit_transform" if callable(getattr(self.estimator, "fit_transform", None)) else "transform"
        return f"{'estimator' if verb == 'fit_transform' or is_map(self.estimator) else 'estimator.fit(X)'}.{verb}(X)"

    def with_metric(self, metric: str) -> Source:
        """Return the estimator, with a note if its own metric is another; "precomputed" must be one of its parameters.

        Its own metrics are parameters called metric, dissimilarity or affinity, also of its steps, that are texts.
        """
        if metric == "precomputed":
            return self._on_distances()
        params = {key: value for key, value in settable(self.estimator).items() if isinstance(value, str)}
        own = {key: value for key, value in params.items() if key.split("__")[-1] in METRIC_PARAMETERS}
        own = {key: value for key, value in own.items() if value not in NO_METRICS}
        other = {key: value for key, value in own.items() if _metric_name(value) != metric}
        if other:
            settings = tuple(f"{key}={value!r}" for key, value in other.items())
            return self._noted(note("source.metric_kept", what=self.what, settings=settings, metric=metric))
        if own or metric == "euclidean":
            return self
        code = "source.metric_unknown" if self.card is None else "source.metric_none"
        return self._noted(note(code, what=self.what, metric=metric))

    def _on_distances(self) -> Source:
        """Return the same estimator, if one of its parameters is "precomputed"."""
        if not any(isinstance(value, str) and value == "precomputed" for value in settable(self.estimator).values()):
            raise self._cannot_read('Set its parameter (metric, dissimilarity, affinity) to "precomputed".')
        return self

    def _components(self) -> Any:
        """The estimator's own parameter; None if it has none or leaves it unset."""
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
        """The seed of the estimator, if all its parts have the same one."""
        params = settable(self.estimator)
        own = {params[key] if _is_int(params[key]) else None for key in _seed_keys(params)}
        seed = own.pop() if len(own) == 1 and self.reseed_reason is None else None
        return None if seed is None else int(seed)

    @property
    def reseed_reason(self) -> str | None:
        """Why another seed would change nothing."""
        if getattr(self.card, "deterministic", False):
            return f"{self.what} is deterministic"
        if _seed_keys(settable(self.estimator)):
            return None
        what = "parameter" if _has_params(self.estimator) else "set_params and no attribute"
        return f"{self.what} has no {what} random_state"

    def with_components(self, n_components: int) -> Source:
        """A copy of the estimator with that number, if it has such a parameter."""
        estimator = copy.deepcopy(self.estimator)
        with Foreign(self.argument, self.what):
            assign(estimator, dict.fromkeys(_component_keys(estimator, settable(estimator)), n_components))
        return replace(self, estimator=estimator)

    def noted_embed(
        self,
        X: FloatArray,
        n_components: int | None,
        random_state: Seed = None,
        labels: Any = None,
        rows: HasRows | None = None,
    ) -> tuple[FloatArray, Notes]:
        """Return the embedding of other data; an error if its number of columns is wrong and cannot be set."""
        Y, notes = super().noted_embed(X, n_components, random_state, labels, rows)
        told = bool(_component_keys(self.estimator, settable(self.estimator)))
        if n_components is None or told or Y.shape[1] == n_components:
            return Y, notes
        rule = f"must give the {n_components} column{'s' * (n_components > 1)} asked for"
        got = f"{Y.shape[1]} from {self.what}, whose n_components cannot be set"
        cure = f"Ask for n_components={Y.shape[1]}, or give it a parameter n_components."
        raise MethodFailed(self.argument, rule, got, cure)

    def settings(self, n_components: int | None, seed: int | None) -> dict[str, Any]:
        """The estimator's parameters, including those set for a run."""
        return {**settable(self.estimator), **self._changes(n_components, seed)}

    def _changes(self, n_components: int | None, seed: int | None) -> dict[str, Any]:
        """The parameters set for a run: the number of components and the seeds."""
        params = settable(self.estimator)
        changes: dict[str, Any] = {}
        if n_components is not None:
            changes |= dict.fromkeys(_component_keys(self.estimator, params), n_components)
        if seed is not None:
            changes |= dict.fromkeys(_seed_keys(params), seed)
        return changes

    def _run(self, X: FloatArray, n_components: int | None, seed: int | None, y: Any) -> Any:
        estimator = copy.deepcopy(self.estimator)
        assign(estimator, self._changes(n_components, seed))
        named = self.columns is not None and len(self.columns) == X.shape[1] and _chooses_by_name(estimator)
        table: Any = pd.DataFrame(X, columns=self.columns) if named else X
        if callable(getattr(estimator, "fit_transform", None)):
            return estimator.fit_transform(table) if y is None else estimator.fit_transform(table, y)
        if not is_map(estimator):
            _ = estimator.fit(table) if y is None else estimator.fit(table, y)
        return estimator.transform(table)


@dataclass(frozen=True, eq=False, repr=False)
class CallableSource(Source):
    """A function ``(X, n_components)`` that may also accept ``random_state`` and ``labels``."""

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
        if metric in ("euclidean", "precomputed"):
            return self
        return self._noted(note("source.metric_unknown", what=self.what, metric=metric))

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
        """Why there is no second run with another seed."""
        if "random_state" in self.options:
            return f"{self.what} was given its random_state"
        return None if "random_state" in self.accepts else f"{self.what} does not accept random_state"

    def with_components(self, n_components: int) -> Source:
        """The function, called with that number."""
        return replace(self, options={**self.options, "n_components": n_components})

    def settings(self, n_components: int | None, seed: int | None) -> dict[str, Any]:
        """The options of the function, with the number of components and, if it accepts one, the seed."""
        seeded = {"random_state": seed} if "random_state" in self.accepts and seed is not None else {}
        d = self.n_components if n_components is None else n_components
        return {**self.options, "n_components": d, **seeded}

    def _run(self, X: FloatArray, n_components: int | None, seed: int | None, y: Any) -> Any:
        keywords = self.settings(n_components, seed)
        d = keywords.pop("n_components")
        if "labels" in self.accepts:
            keywords["labels"] = y
        if "n_components" in self.accepts:
            return self.function(X, n_components=d, **keywords)
        return self.function(X, d, **keywords)


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
        if metric == "precomputed" and not self.card.distances:
            raise self._cannot_read("Pass its coordinates, made from the data, or 'classical_mds'.")
        if metric == "precomputed":
            return replace(self, parameters={**self.parameters, "metric": metric})
        if "metric" in self.parameters:
            own = self.parameters["metric"]
            if _metric_name(own) == metric:
                return self
            settings = (f"metric={own!r}",)
            return self._noted(note("source.metric_kept", what=self.what, settings=settings, metric=metric))
        if metric == "euclidean":
            return self
        if "metric" not in inspect.signature(self.method).parameters:
            return self._noted(note("source.metric_none", what=self.what, metric=metric))
        return replace(self, parameters={**self.parameters, "metric": metric})

    @property
    def supervised(self) -> bool:
        """Whether the method uses labels."""
        return bool(self.card.supervised)

    @property
    def n_components(self) -> int | None:
        """Two, unless the parameters say otherwise."""
        return int(self.parameters.get("n_components", 2))

    @property
    def reseed_reason(self) -> str | None:
        """Why another seed would change nothing."""
        return f"{self.what} is deterministic" if self.card.deterministic else None

    @property
    def own_seed(self) -> int | None:
        """The seed among its parameters."""
        seed = self.parameters.get("random_state")
        return int(seed) if _is_int(seed) and self.reseed_reason is None else None

    def with_components(self, n_components: int) -> Source:
        """The method with that number of components."""
        return replace(self, parameters={**self.parameters, "n_components": n_components})

    def settings(self, n_components: int | None, seed: int | None) -> dict[str, Any]:
        """All parameters of the method, defaults included."""
        known = inspect.signature(self.method).parameters.values()
        defaults = {p.name: p.default for p in known if p.default is not p.empty}
        return {**defaults, **self._asked(n_components, seed)}

    def _asked(self, n_components: int | None, seed: int | None) -> dict[str, Any]:
        """The parameters passed to a run."""
        d = self.n_components if n_components is None else n_components
        seeded = seed is not None and "random_state" in inspect.signature(self.method).parameters
        return {**self.parameters, "n_components": d, **({"random_state": seed} if seeded else {})}

    def _run(self, X: FloatArray, n_components: int | None, seed: int | None, y: Any) -> Any:
        estimator = self.method(**self._asked(n_components, seed))
        return estimator.fit_transform(X) if y is None else estimator.fit_transform(X, y)


def is_map(estimator: Any) -> bool:
    """Whether there is nothing to fit: it has only ``transform``, or is a FrozenEstimator."""
    fits = any(callable(getattr(estimator, verb, None)) for verb in ("fit", "fit_transform"))
    return not fits or type(estimator).__name__ == "FrozenEstimator"


def _chooses_by_name(estimator: Any) -> bool:
    """Whether a part of it is a ``ColumnTransformer`` that selects columns by name or by a function."""
    parts = [estimator, *(estimator.get_params().values() if _has_params(estimator) else ())]
    chosen = [spec[2] for part in parts for spec in getattr(part, "transformers", None) or () if len(spec) == 3]
    lists = [columns if isinstance(columns, list | tuple) else [columns] for columns in chosen]
    return any(isinstance(column, str) or callable(column) for columns in lists for column in columns)


def settable(estimator: Any) -> dict[str, Any]:
    """The parameters of an estimator; without ``set_params`` its attributes n_components and random_state."""
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
    """Return the name of a metric by its usual other words; scikit-learn's "minkowski" is Euclidean by default."""
    return "euclidean" if value == "minkowski" else known_name(value, METRICS)


def _has_params(estimator: Any) -> bool:
    return hasattr(estimator, "get_params") and hasattr(estimator, "set_params")


def _is_int(value: Any) -> TypeGuard[int | np.integer[Any]]:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _component_keys(estimator: Any, params: Mapping[str, Any]) -> list[str]:
    """The parameter that holds the number of components; of a pipeline that of its last step."""
    steps = getattr(estimator, "steps", None)
    last = [f"{steps[-1][0]}__n_components"] if isinstance(steps, list) and steps else []
    return [name for name in ("n_components", *last) if name in params]


def _seed_keys(params: Mapping[str, Any]) -> list[str]:
    """All parameters that hold a seed, those of nested estimators included."""
    return [name for name in params if name == "random_state" or name.endswith("__random_state")]
