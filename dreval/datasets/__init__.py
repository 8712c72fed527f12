"""Layer 4: data sets, each a function with a card; ``dreval.datasets.digits()`` is resolved lazily."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from dreval._check import did_you_mean
from dreval.registry import DATASETS


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return DATASETS.names()
    if name in DATASETS:
        return _function(name)
    if name.startswith("_"):
        raise AttributeError(name)
    hint = did_you_mean(name, DATASETS) or "dreval.list_datasets() lists them all."
    raise AttributeError(f"module 'dreval.datasets' has no data set {name!r}. {hint}".rstrip(), name=name)


def __dir__() -> list[str]:
    return DATASETS.names()


def _function(name: str) -> Callable[..., Any]:
    """Return the function of a data set: ``simulate`` or ``load_dataset`` with this name."""
    from dreval.datasets._dataset import simulate
    from dreval.datasets.files import load_dataset

    make = DATASETS.get(name)
    load: Callable[..., Any] = simulate if make.card.origin == "simulated" else load_dataset

    def call(*arguments: Any, **options: Any) -> Any:
        return load(name, *arguments, **options)

    function: Any = call
    function.__name__ = function.__qualname__ = name
    function.__doc__ = make.__doc__
    function.__signature__ = _signature(load, make.card)
    function.card = make.card
    return call


def _signature(load: Callable[..., Any], card: Any) -> inspect.Signature:
    """Return the signature of the function of a data set; a loader needs a path, and a bundled set takes nothing."""
    signature = inspect.signature(load)
    parameters = [parameter for parameter in signature.parameters.values() if parameter.name != "name"]
    if card.origin == "bundled":
        parameters = []
    elif card.origin == "loader":
        parameters[0] = parameters[0].replace(default=inspect.Parameter.empty)
    return signature.replace(parameters=parameters)
