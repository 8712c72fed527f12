"""The card of a kind of figure, and the decorator that adds it to the drawing function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any

from matplotlib.figure import Figure

from dreval.glossary import block
from dreval.registry import FIGURES


@dataclass(frozen=True, repr=False)
class FigureCard:
    """The metadata of a kind of figure, available without drawing it.

    Attributes
    ----------
    name : str
        The name in ``plot(kind)``.
    sentence : str
        A description of the figure.
    of : str
        The record: "results" (its function takes a result, its view and the names of embeddings) or "comparison" (a
        comparison; a result and a study are compared first).
    several : bool
        Whether it needs a comparison over several data sets.
    options : tuple of str
        Its keywords.
    aliases : tuple of str
        Other names of the kind.
    """

    name: str
    sentence: str
    of: str
    several: bool
    options: tuple[str, ...]
    aliases: tuple[str, ...] = ()

    def __repr__(self) -> str:
        entries = {
            "name": self.name,
            "shows": self.sentence,
            "other names": ", ".join(self.aliases),
            "drawn of": "a comparison over several data sets" if self.several else f"a {self.of.removesuffix('s')}",
            "options": ", ".join(self.options) or "none of its own",
        }
        return block(f"Figure {self.name!r}", entries)


def figure(
    sentence: str, of: str = "results", several: bool = False, aliases: tuple[str, ...] = ()
) -> Callable[[Callable[..., Figure]], Callable[..., Figure]]:
    """Give a drawing function its card: ``draw_map`` draws the kind "map", keyword-only arguments are its options."""

    def add_card(draw: Callable[..., Figure]) -> Callable[..., Figure]:
        parameters = signature(draw).parameters.values()
        options = tuple(parameter.name for parameter in parameters if parameter.kind is Parameter.KEYWORD_ONLY)
        function: Any = draw
        function.card = FigureCard(FIGURES.name_of(draw.__name__), sentence, of, several, options, aliases)
        return draw

    return add_card
