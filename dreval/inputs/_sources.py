"""The four kinds of source: coordinates, estimators, callables, and bundled methods."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, TypeGuard

import numpy as np
import pandas as pd

from dreval._check import check_rows
from dreval.errors import MethodFailed, UndefinedMeasure
from dreval.inputs._output import Foreign
from dreval.inputs._source import FloatArray, Seed, Source
from dreval.inputs.data import Data

__all__ = [
    "CallableSource",
    "CoordinateSource",
    "EstimatorSource",
    "MethodSource",
    "assign",
    "is_map",
    "settable",
]


@dataclass(frozen=True, eq=False, repr=False)
class CoordinateSource(Source):
    """Coordinates made elsewhere, in the row order of the data."""

    values: FloatArray
    stored: str = ""  # the key of ``obsm`` that holds them

    @property
    def what(self) -> str:
        """Where they were stored, if with the data."""
        return f"obsm[{self.stored!r}]" if self.stored else self.kind

    @property
    def reason(self) -> str | None:
        """Coordinates cannot be made again."""
        return "coordinates only, which cannot be made again on other data"

    @property
    def n_components(self) -> int | None:
        """Number of columns."""
        return int(self.values.shape[1])

    def coordinates(self, data: Data, *, n_components: int | None = None, random_state: Seed = None) -> FloatArray:
        """The coordinates; a fresh array."""
        check_rows(len(self.values), data.n, self.argument)
        if n_components not in (None, self.n_components):
            cure = "Leave n_components out, or pass a source that can be run."
            raise UndefinedMeasure(self.argument, f"must have {n_components} columns", str(self.n_components), cure)
        return self.values.copy()


@dataclass(frozen=True, eq=False, repr=False)
class EstimatorSource(Source):
    """An estimator in the scikit-learn manner; each run works on a deep copy.

    Where it has no ``set_params``, its attributes ``n_components`` and ``random_state`` are set, if it has them. It is
    run by ``fit_transform``, else by ``fit`` and ``transform``; one with ``transform`` alone is a map that is applied.
    ``columns``, the names of the features, reach an estimator that chooses columns by name.
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
        """The card, where the estimator is a bundled method."""
        return getattr(type(self.estimator), "card", None)

    @property
    def supervised(self) -> bool:
        """Whether labels are part of its fit."""
        return self.labeled

    def on_distances(self) -> Source:
        """The estimator as it is, if one of its parameters is set to "precomputed"."""
        if not any(isinstance(value, str) and value == "precomputed" for value in settable(self.estimator).values()):
            raise self._cannot_read('Set its parameter (metric, dissimilarity, affinity) to "precomputed".')
        return self

    def _components(self) -> Any:
        """The estimator's own parameter; None where it has none or does not set it."""
        params = settable(self.estimator)
        return next((params[key] for key in _component_keys(self.estimator, params)), None)

    @property
    def n_components(self) -> int | None:
        """What the estimator's own parameter says, where it is a number."""
        value = self._components()
        return int(value) if _is_int(value) else None

    @property
    def default_components(self) -> int | None:
        """Its own number, else 2; None where it has no such parameter, or a rule (``"mle"``) that stays."""
        free = bool(_component_keys(self.estimator, settable(self.estimator))) and self._components() is None
        return self.n_components or (2 if free else None)

    @property
    def own_seed(self) -> int | None:
        """The seed of the estimator, where all its parts have the same number."""
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

    def embed(
        self, X: FloatArray, n_components: int | None, random_state: Seed = None, labels: Any = None
    ) -> FloatArray:
        """The embedding of other data; refused where the estimator cannot be told a number and gives another one."""
        Y = super().embed(X, n_components, random_state, labels)
        told = bool(_component_keys(self.estimator, settable(self.estimator)))
        if n_components is None or told or Y.shape[1] == n_components:
            return Y
        rule = f"must give the {n_components} column{'s' * (n_components > 1)} asked for"
        got = f"{Y.shape[1]} from {self.what}, whose n_components cannot be set"
        cure = f"Ask for n_components={Y.shape[1]}, or give it a parameter n_components."
        raise MethodFailed(self.argument, rule, got, cure)

    def settings(self, n_components: int | None, seed: int | None) -> dict[str, Any]:
        """The estimator's parameters, with those that a run sets."""
        return {**settable(self.estimator), **self._changes(n_components, seed)}

    def _changes(self, n_components: int | None, seed: int | None) -> dict[str, Any]:
        """What a run sets: the number of components, and the seeds."""
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
        return _run_estimator(estimator, pd.DataFrame(X, columns=self.columns) if named else X, y)


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
        return str(getattr(self.function, "__name__", type(self.function).__name__))

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
        """The options of the function, with the number of components and, where it accepts one, the seed."""
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

    def on_distances(self) -> Source:
        """The method with metric="precomputed", if its card says that it knows this."""
        if not self.card.distances:
            raise self._cannot_read("Pass its coordinates, made from the data, or 'classical_mds'.")
        return replace(self, parameters={**self.parameters, "metric": "precomputed"})

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
        """The method with that number among its parameters."""
        return replace(self, parameters={**self.parameters, "n_components": n_components})

    def settings(self, n_components: int | None, seed: int | None) -> dict[str, Any]:
        """Every parameter of the method, those by default included."""
        known = inspect.signature(self.method).parameters.values()
        defaults = {p.name: p.default for p in known if p.default is not p.empty}
        return {**defaults, **self._asked(n_components, seed)}

    def _asked(self, n_components: int | None, seed: int | None) -> dict[str, Any]:
        """The parameters that a run is given."""
        d = self.n_components if n_components is None else n_components
        seeded = seed is not None and "random_state" in inspect.signature(self.method).parameters
        return {**self.parameters, "n_components": d, **({"random_state": seed} if seeded else {})}

    def _run(self, X: FloatArray, n_components: int | None, seed: int | None, y: Any) -> Any:
        estimator = self.method(**self._asked(n_components, seed))
        return estimator.fit_transform(X) if y is None else estimator.fit_transform(X, y)


def _run_estimator(estimator: Any, X: Any, y: Any) -> Any:
    """The embedding by whatever verbs the estimator has."""
    if callable(getattr(estimator, "fit_transform", None)):
        return estimator.fit_transform(X) if y is None else estimator.fit_transform(X, y)
    if not is_map(estimator):
        _ = estimator.fit(X) if y is None else estimator.fit(X, y)
    return estimator.transform(X)


def is_map(estimator: Any) -> bool:
    """Whether there is nothing to fit: it has ``transform`` alone, or was frozen."""
    fits = any(callable(getattr(estimator, verb, None)) for verb in ("fit", "fit_transform"))
    return not fits or type(estimator).__name__ == "FrozenEstimator"


def _chooses_by_name(estimator: Any) -> bool:
    """Whether a part of it is a ``ColumnTransformer`` whose columns are given by name, or by a rule on names."""
    parts = [estimator, *(estimator.get_params().values() if _has_params(estimator) else ())]
    chosen = [spec[2] for part in parts for spec in getattr(part, "transformers", None) or () if len(spec) == 3]
    lists = [columns if isinstance(columns, list | tuple) else [columns] for columns in chosen]
    return any(isinstance(column, str) or callable(column) for columns in lists for column in columns)


def settable(estimator: Any) -> dict[str, Any]:
    """What can be set of an estimator, by name: its parameters, or the two attributes of one without ``set_params``."""
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
