"""Cards of analyses of data or of the points of an embedding, and the decorator that attaches them to functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

from dreval.errors import DrevalError
from dreval.glossary import block
from dreval.references import Cites

P = ParamSpec("P")
R = TypeVar("R")

# names of data, embedding and method in the public functions
CALLER_NAMES = {"data": "X", "embeddings['Y']": "Y", "embeddings['source']": "source"}


@dataclass(frozen=True, repr=False)
class AnalysisCard(Cites):
    """Description of an analysis of dimensions, or of a score of points.

    Attributes
    ----------
    name, title : str
        Name in the package, name in text.
    question : str
        The question that it answers.
    direction : str
        The meaning of large values of a score. Empty for an estimate: neither large nor small estimates are good.
    caution : str
        The limits of its answer.
    cost : str
        Time and memory in n and p.
    reference : str
        Source; ``@key`` cites a work of ``dreval.references``, and ``works`` has the keys.
    """

    name: str
    title: str
    question: str
    caution: str
    cost: str
    reference: str
    direction: str = ""

    def __repr__(self) -> str:
        fields = ("name", "question", "direction", "caution", "cost", "reference")
        return block(self.title, {field: str(getattr(self, field)) for field in fields})


def analysis(**fields: Any) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Attach a card to a function; errors call the data ``X`` and the embedding ``Y``.

    The name on the card is the name of the function.
    """

    def attach(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return function(*args, **kwargs)
            except DrevalError as error:
                raise error.named(CALLER_NAMES) from error

        cast(Any, call).card = AnalysisCard(name=function.__name__, **fields)
        return call

    return attach


def score(**fields: Any) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Attach the card of a score of points, an analysis of data and an embedding that ``list_scores`` names."""
    return analysis(**fields)
