"""Cards of analyses of data or of the points of an embedding, and the decorator that attaches them to functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from dreval.cards import Card, register, with_caller_names
from dreval.records.base import read_only

# names of data, embedding and method in the public functions
CALLER_NAMES = {"data": "X", "embeddings['Y']": "Y", "embeddings['source']": "source"}


@read_only
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class AnalysisCard(Card):
    """Description of an analysis of data, or of a score of points, besides the properties of every ``Card``.

    ``direction`` is the meaning of large values of a score. It is empty for an estimate: neither large nor small
    estimates are good.
    """

    kind: ClassVar[str] = "analysis"
    REQUIRED: ClassVar[tuple[str, ...]] = ("title", "question", "caution", "cost", "reference")

    direction: str = ""

    def lines(self) -> dict[str, str]:
        """Return the printed fields."""
        fields = ("name", "question", "direction", "caution", "cost", "reference")
        return {name: str(getattr(self, name)) for name in fields}


def _public(function: Callable[..., Any], card: AnalysisCard) -> Callable[..., Any]:  # noqa: ARG001
    """Return the function that users call: its errors call the data ``X`` and the embedding ``Y``."""
    return with_caller_names(function, lambda *_, **__: CALLER_NAMES)


analysis = register(AnalysisCard, public=_public)
