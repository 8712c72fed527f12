"""Where embeddings come from: ``as_source`` gives whatever the user brings one face; ``embed`` runs a method once."""

from __future__ import annotations

import inspect
import os
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from dreval._check import check_int, check_random_state
from dreval._random import root_seed
from dreval.errors import DrevalError, InputError
from dreval.inputs._forms import is_path
from dreval.inputs._makers import (
    BUNDLED,
    bundled_first,
    callable_source,
    coordinate_source,
    estimator_source,
    method_source,
    no_options,
    stored_key,
    unknown_source,
)
from dreval.inputs._output import embedding_notes
from dreval.inputs._source import Seed, Source, seed_of
from dreval.inputs._sources import CallableSource, CoordinateSource, EstimatorSource, MethodSource
from dreval.inputs.data import Data, as_data
from dreval.records.embedding import Embedding
from dreval.registry import METHODS

__all__ = [
    "CallableSource",
    "CoordinateSource",
    "EstimatorSource",
    "MethodSource",
    "Source",
    "as_source",
    "data_and_response",
    "embed",
]


def as_source(value: Any, name: str, data: Data, *, ids: Any = None, **options: Any) -> Source:
    """Give anything that embeds, or has embedded, one face.

    Parameters
    ----------
    value : array-like, DataFrame, path, str, estimator, callable or Source
        (n, d) coordinates; a table file; the key of an ``obsm`` array of the data; another AnnData object with the
        option ``layer="obsm:key"``, or ``"file.h5ad:obsm:key"``, matched by ``obs_names``; the name of a bundled
        method; an estimator with ``fit_transform``, with ``fit`` and ``transform``, or a map with ``transform`` alone;
        or a function ``(X, n_components)`` that may also accept ``random_state`` and ``labels``.
        Estimators are given ``n_components`` and ``random_state`` by ``set_params``, those without it by their
        attributes of that name; what cannot be set is noted.
        A name is looked up in obsm first, "umap" as "umap" and as "X_umap", which a note says; then it is a method,
        then a file. ``"method:umap"`` is the bundled method in any case.
    name : str
        Name of the embedding.
    data : Data
        The data, from ``as_data``.
    ids : str or array-like, optional
        Names of the rows of coordinates, or the column that holds them.
    **options
        Parameters of a bundled method, an estimator or a callable. ``supervised=True`` gives an estimator the labels;
        without it they go to estimators whose ``fit`` demands ``y``.

    Returns
    -------
    Source
        Frozen; the estimator in it is a deep copy, the coordinates are in the row order of the data.

    Raises
    ------
    InputError
        A method or an estimator that cannot read precomputed distances where the data are such; coordinates that are
        not finite, have other rows than the data or more columns than rows, a class in place of an
        instance, a callable that cannot take ``(X, n_components)``.
    UnknownName
        A string that is neither key, method nor file, or an unknown parameter; the nearest right name is given.

    Notes
    -----
    Nothing is run. Coordinates cost O(n d) time and memory.

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
    made = _made(value, name, data, argument, ids, dict(options))
    made = replace(made, given=options) if options else made
    return made.on_distances() if data.metric == "precomputed" and made.can_embed else made


def _made(value: Any, name: str, data: Data, argument: str, ids: Any, options: dict[str, Any]) -> Source:
    """The source of whatever kind."""
    if isinstance(value, Source):
        no_options(options, argument, "a source that is already made")
        return replace(value, name=name)
    stored = stored_key(value, data)
    if isinstance(value, str) and value.startswith(BUNDLED):
        return method_source(value.removeprefix(BUNDLED), name, options)
    if stored is None and isinstance(value, str):
        if value in METHODS:
            return method_source(value, name, options)
        if not is_path(value) and not os.path.exists(value):
            raise unknown_source(value, data, argument)
    elif inspect.isclass(value):
        cure = f"Pass an instance: {value.__name__}(n_components=2)."
        raise InputError(argument, "must be an estimator, not its class", f"the class {value.__name__}", cure)
    elif _transforms(value):
        return estimator_source(value, name, argument, dict(options), data)
    elif hasattr(value, "fit"):
        cure = "Wrap it in a function (X, n_components) that returns the coordinates."
        got = f"an instance of {type(value).__name__}"
        raise InputError(argument, "must have fit_transform or transform", got, cure)
    elif callable(value) and not hasattr(value, "__array__"):
        return callable_source(value, name, argument, options)
    layer = options.pop("layer", None)
    if stored is None:
        no_options(options, argument, "coordinates")
        return coordinate_source(value, name, argument, data, ids, layer)
    where = f"coordinates stored in obsm[{stored!r}]"
    bundled = f"; the bundled method is {BUNDLED + value!r}" if value in METHODS else ""
    no_options(options, argument, where + bundled)
    source = coordinate_source(stored, name, argument, data, ids, layer)
    return replace(source, stored=stored, notes=(f"{where}{bundled}.", *source.notes))


def _transforms(value: Any) -> bool:
    """Whether a value is an estimator or a map (frames have a ``transform`` of their own)."""
    verbs = ("fit_transform", "transform")
    return not hasattr(value, "__array__") and any(callable(getattr(value, verb, None)) for verb in verbs)


def embed(
    X: Any,
    method: Any,
    n_components: int = 2,
    *,
    labels: Any = None,
    response: Any = None,
    layer: str | None = None,
    random_state: int | np.random.Generator | None = None,
    **parameters: Any,
) -> Embedding:
    """Embed data with a bundled method, an estimator or a callable.

    Parameters
    ----------
    X : array-like, DataFrame, sparse matrix, AnnData, data set or path
        Data (n, p), rows are points; at least 4, all finite. They are not scaled.
    method : str, estimator or callable
        Name of a bundled method (``dreval.list_methods()``), or anything that can be run.
    n_components : int
        Number d of components.
    labels : array-like or str, optional
        Classes, for supervised methods only.
    response : array-like, DataFrame, str or list of str, optional
        What a supervised method regresses on, in place of ``labels``: numbers (n,) or (n, q), integers among them, or
        one column of classes. Strings name columns of the data, which then are no features, or a file.
    layer : str, optional
        What of an AnnData object is embedded in place of ``X``, as in ``Evaluation``.
    random_state : int, Generator or None
        Seed. None keeps that of an estimator or of recorded runs, else draws a fresh one; it is kept in the result.
    **parameters
        Parameters of the method.

    Returns
    -------
    Embedding
        Coordinates (n, d) with their recipe; numpy takes the record as an array.

    Raises
    ------
    InputError
        Data or parameters that are not what they must be, or coordinates in place of a method.
    UnknownName
        An unknown method or parameter; the nearest right name is given.
    MethodFailed
        The method raised, or returned what is no embedding; the cause is chained.

    Notes
    -----
    Cost is that of the method (its card says it), and one copy of the data; sparse data are made dense, up to 8 GiB.

    Examples
    --------
    >>> import numpy as np
    >>> import dreval
    >>> X = np.random.default_rng(0).normal(size=(30, 5))
    >>> embedding = dreval.embed(X, "pca")
    >>> embedding
    Embedding(pca: 30 points, 2 components)
    >>> np.asarray(embedding).shape
    (30, 2)
    >>> np.asarray(dreval.embed(X, "sir", 1, response=X[:, 0] ** 3)).shape
    (30, 1)
    """
    check_int(n_components, "n_components", low=1)
    data, y = data_and_response(X, response, labels=labels, layer=layer)
    name = method if isinstance(method, str) else getattr(method, "__name__", type(method).__name__)
    name = str(name).removeprefix(BUNDLED)
    source = as_source(bundled_first(method), name, data, **parameters)
    if not source.can_embed:
        cure = "Pass the name of a bundled method, an estimator or a callable."
        raise InputError("method", "must be something that can be run", str(source.reason), cure)
    check_random_state(random_state)
    seed = _seed_to_use(source, random_state)
    start = time.perf_counter()
    Y = source.embed(data.dense(), n_components, seed, data.labels if y is None else y)
    seconds = time.perf_counter() - start
    recipe = {"n_components": n_components, **parameters}
    notes = (*data.notes, *data.dense_notes(), *embedding_notes(Y, "method"))
    shape = (data.n, data.X.shape[1])
    return Embedding(Y, name, recipe, seed, data.ids, shape, seconds, notes, data.dense(), data.columns)


def _seed_to_use(source: Source, random_state: Seed) -> int | None:
    """The caller's seed, else that of the source, else a fresh one; None where seeds change nothing."""
    if random_state is None and source.own_seed is not None:
        return source.own_seed
    return None if source.reseed_reason is not None else seed_of(root_seed(random_state))


def data_and_response(X: Any, response: Any, **others: Any) -> tuple[Data, Any]:
    """The data by ``as_data`` without the columns that ``response`` names, and the response (n, q), or None."""
    if response is None:
        return as_data(X, **others), None
    try:
        data = as_data(X, covariates=response, **others)
    except DrevalError as error:
        argument = error.argument.replace("covariates", "response")
        raise type(error)(argument, error.rule, error.got, error.cure.replace("covariates", "response")) from None
    for name, column in data.covariates.items():
        missing = int(pd.isna(column).sum())
        if missing:
            cure = "Drop these rows, or fill them: a method is fitted to every row."
            raise InputError("response", "must be complete", f"{name!r} without a value at {missing} points", cure)
    columns = [column.astype(float) if column.dtype.kind in "iu" else column for column in data.covariates.values()]
    return data, columns[0] if len(columns) == 1 else np.column_stack(columns)
