"""The card of a kind of figure, and the decorator that gives it to the function that draws."""

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
    """What is known of a kind of figure without drawing one.

    Attributes
    ----------
    name : str
        The word of ``plot(kind)``.
    sentence : str
        What it shows.
    of : str
        What is drawn: "results" (its function takes a result, its reading and the names of embeddings) or
        "comparison" (a comparison; a result and a study are compared first).
    several : bool
        Whether it needs a comparison over several data sets.
    options : tuple of str
        Keywords of its own.
    aliases : tuple of str
        Other words for it.
    """

    name: str
    sentence: str
    of: str
    several: bool
    options: tuple[str, ...]
    aliases: tuple[str, ...] = ()

    def __repr__(self) -> str:
        words = {
            "name": self.name,
            "shows": self.sentence,
            "other names": ", ".join(self.aliases),
            "drawn of": "a comparison over several data sets" if self.several else f"a {self.of.removesuffix('s')}",
            "options": ", ".join(self.options) or "none of its own",
        }
        return block(f"Figure {self.name!r}", words)


def figure(
    sentence: str, of: str = "results", several: bool = False, aliases: tuple[str, ...] = ()
) -> Callable[[Callable[..., Figure]], Callable[..., Figure]]:
    """Give a drawing function its card: ``draw_map`` draws the kind "map", keyword-only arguments are its options."""

    def carded(draw: Callable[..., Figure]) -> Callable[..., Figure]:
        parameters = signature(draw).parameters.values()
        options = tuple(one.name for one in parameters if one.kind is Parameter.KEYWORD_ONLY)
        thing: Any = draw
        thing.card = FigureCard(FIGURES.name_of(draw.__name__), sentence, of, several, options, aliases)
        return draw

    return carded
