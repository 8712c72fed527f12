"""The card of an analysis of data or of the points of an embedding, and the decorator that gives it to its function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np

from dreval._check import keywords_checked
from dreval.errors import DrevalError
from dreval.glossary import block
from dreval.inputs.data import Data
from dreval.references import Cites

P = ParamSpec("P")
R = TypeVar("R")

# what the public functions call data, embedding and method
CALLED = {"data": "X", "embeddings['Y']": "Y", "embeddings['source']": "source"}


@dataclass(frozen=True, repr=False)
class AnalysisCard(Cites):
    """What is known of an analysis of dimensions, or of a score of points, without computing it.

    Attributes
    ----------
    name, title : str
        Name in the package, name in text.
    question : str
        What it answers.
    direction : str
        Of a score: what its large values say. Empty for an estimate, of which neither large nor small values are good.
    caution : str
        What its answer does not say.
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
    """Attach the card; errors call the data ``X`` and the embedding ``Y``. The name is the function's."""

    def attach(function: Callable[P, R]) -> Callable[P, R]:
        checked = keywords_checked(function)

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return checked(*args, **kwargs)
            except DrevalError as error:
                raise error.named(CALLED) from error

        cast(Any, call).card = AnalysisCard(name=function.__name__, **fields)
        return call

    return attach


def score(**fields: Any) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Attach the card of a score of points, an analysis of data and an embedding that ``list_scores`` names."""
    return analysis(**fields)


def made_by(data: Data, parameters: dict[str, Any], root: int | None = None) -> dict[str, Any]:
    """The recipe of a record: what makes it again; ``root`` is the seed, if there is one."""
    from dreval import __version__

    versions = {"dreval": __version__, "numpy": np.__version__}
    seed = {} if root is None else {"random_state": root}
    return {"n": data.n, "p": data.p, **seed, "parameters": parameters, "versions": versions}
