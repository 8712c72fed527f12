"""Layer 4: reference methods, each a class with a card; ``dreval.methods.Isomap`` is resolved lazily."""

from __future__ import annotations

from typing import Any

from dreval._check import nearest_name
from dreval.registry import METHODS


def _class_names() -> dict[str, str]:
    return {card.class_name: card.name for card in METHODS.cards()}


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    classes = _class_names()
    if name not in classes:
        near = nearest_name(name, classes)
        hint = f"Did you mean {near!r}?" if near else f"Known: {', '.join(sorted(classes))}."
        raise AttributeError(f"module 'dreval.methods' has no class {name!r}. {hint}")
    return METHODS.get(classes[name])


def __dir__() -> list[str]:
    return sorted(_class_names())
