"""The card of a cost, and what all costs have in common.

A cost is made of data X (n, p), from which it takes what it needs once (distances, affinities, weights). It is then a
function of an embedding Y (n, d) that gives a number and its gradient (n, d), and knows nothing of how Y was made.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dreval.methods._method import FloatArray

__all__ = ["Cost", "CostCard", "Stage", "cost"]


class Stage(NamedTuple):
    """What is minimized, with a number of iterations and a tolerance of its own; None stands for the user's."""

    energy: Callable[[FloatArray], tuple[float, FloatArray]]
    steps: int | None = None
    tol: float | None = None


@dataclass(frozen=True)
class CostCard:
    """What is known of a cost.

    ``scale`` says whether the unit of the embedding "follows" that of the data or is "ignored" (fixed by the cost);
    ``invariance`` which maps of the embedding leave the cost as it is: "rotation" (with shifts and reflections) or
    "affine".
    """

    name: str
    title: str
    formula: str
    scale: str
    invariance: str
    reference: str


def cost(**fields: Any) -> Callable[[type[Any]], type[Any]]:
    """Attach the card to a class; the name is the file's name."""

    def attach(cls: type[Any]) -> type[Any]:
        cls.card = CostCard(name=cls.__module__.rsplit(".", 1)[-1], **fields)
        return cls

    return attach


class Cost:
    """A cost on embeddings of the rows X (n, p); a subclass has keyword options and defines ``__call__``."""

    card: ClassVar[CostCard]
    start_size: float | None = None  # root mean square of the first column to start from; None where the data say it

    def __init__(self, X: FloatArray) -> None:
        self.n = len(X)

    def __call__(self, Y: FloatArray) -> tuple[float, FloatArray]:
        """The cost of an embedding (n, d) and its gradient (n, d)."""
        raise TypeError(f"{type(self).__name__} must define __call__")

    def start(self, d: int) -> FloatArray | None:
        """An embedding (n, d) to start from that suits the cost better than principal scores; None where there is none."""
        return None

    def normal_form(self, Y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The map Y A + b, one that the cost does not see, to an embedding that is centered and along its own axes."""
        center = Y.mean(axis=0)
        _, _, axes = np.linalg.svd(Y - center, full_matrices=False)
        A = np.linalg.qr(axes.T, mode="complete")[0] if len(axes) < Y.shape[1] else axes.T
        return A, -center @ A

    def stages(self) -> list[Stage]:
        """What is minimized one after the other."""
        return [Stage(self)]
