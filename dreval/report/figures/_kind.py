"""The card of a kind of figure, and the decorator that adds it to the drawing function."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from dreval.cards import Card, Thing, keyword_defaults, register
from dreval.records.base import read_only
from dreval.registry import FIGURES

# The questions of users that figures answer, in the order in which they are asked.
QUESTIONS = (
    "What do the maps show?",
    "Where can I trust this map?",
    "Which embedding is better?",
    "At which neighborhood size?",
    "Are distances and arrangement kept?",
    "Is it more than chance?",
    "Which method is better over many data sets?",
)


@read_only
@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class FigureCard(Card):
    """The metadata of a kind of figure, besides those of every ``Card``, available without drawing it.

    Attributes
    ----------
    question : str
        The question of a user that it answers, one of ``QUESTIONS``.
    reading : str
        One sentence: how to read it.
    of : str
        The record: "results" (its function takes a result, its view and the names of embeddings) or "comparison" (a
        comparison; a result and a study are compared first).
    several : bool
        Whether it needs a comparison over several data sets.
    draws_map : bool
        Whether it reads the coordinates of embeddings, which are missing where these are distances.
    aliases : tuple of str
        Other names of the kind.
    """

    kind: ClassVar[str] = "figure"
    REQUIRED: ClassVar[tuple[str, ...]] = ("title", "question", "reading")
    CHOICES: ClassVar[Mapping[str, Collection[str]]] = {"of": ("results", "comparison"), "question": QUESTIONS}

    reading: str = ""
    of: str = "results"
    several: bool = False
    draws_map: bool = False
    aliases: tuple[str, ...] = ()

    @property
    def options(self) -> tuple[str, ...]:
        """The keywords of the figure."""
        return tuple(self.parameters)

    def heading(self) -> str:
        """Return the first printed line."""
        return f"Figure {self.name!r}"

    def lines(self) -> dict[str, str]:
        """Return the printed fields."""
        return {
            "name": self.name,
            "shows": self.title,
            "question": self.question,
            "reading": self.reading,
            "other names": ", ".join(self.aliases),
            "drawn of": "a comparison over several data sets" if self.several else f"a {self.of.removesuffix('s')}",
            "options": ", ".join(self.options) or "none of its own",
        }


def figure(title: str, **fields: Any) -> Callable[[Thing], Thing]:
    """Give a drawing function its card: ``draw_map`` draws the kind "map"; ``title`` says what the figure shows."""
    return register(FigureCard, FIGURES.name_of, parameters=keyword_defaults)(title=title, **fields)
