"""Call any measure with data and embedding: those that do not read the data get the embedding only."""

from __future__ import annotations

from typing import Any

import dreval
from dreval.registry import MEASURES


def call_measure(name: str, X: Any, Y: Any, **options: Any) -> Any:
    """Return the value of the measure of this name."""
    arguments = (X, Y) if MEASURES.card(name).reads_data else (Y,)
    return getattr(dreval, name)(*arguments, **options)
