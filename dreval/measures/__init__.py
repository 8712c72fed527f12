"""Layer 4: measures, each a function with a card; ``dreval.measures.trustworthiness`` is resolved lazily."""

from __future__ import annotations

from typing import Any

from dreval._check import did_you_mean
from dreval.registry import MEASURES


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return MEASURES.names()
    if name in MEASURES:
        return MEASURES.get(name)
    if name.startswith("_"):
        raise AttributeError(name)
    hint = did_you_mean(name, MEASURES) or "dreval.list_measures() lists them all."
    raise AttributeError(f"module 'dreval.measures' has no measure {name!r}. {hint}".rstrip(), name=name)


def __dir__() -> list[str]:
    return MEASURES.names()
