"""Cards: the declared properties of an entry of a registry, and the decorators that attach them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, ClassVar, ParamSpec, Protocol, TypeVar

from dreval._check import check_one_of
from dreval.errors import DrevalError, InputError
from dreval.glossary import Described
from dreval.references import Citation

P = ParamSpec("P")
R = TypeVar("R")
Thing = TypeVar("Thing", bound=Callable[..., Any])  # a function or a class


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Card(Described):
    """The declared properties of an entry; a subclass adds those of one kind.

    Lists, tables, reports, the command line, the site and contract tests read them.

    Attributes
    ----------
    name, title : str
        Name in the package, name in text.
    question : str
        One sentence: the question that it answers.
    caution : str
        The limits of its answer, in sentences.
    cost : str
        Time and memory in n and p.
    reference : str
        Source; ``@key`` cites a work of ``dreval.references``, and ``works`` has the keys.
    parameters : dict
        Parameters and their defaults.
    """

    kind: ClassVar[str] = ""  # "measure", "test", ...
    REQUIRED: ClassVar[tuple[str, ...]] = ("title", "reference")  # texts that may not be empty
    CHOICES: ClassVar[Mapping[str, Collection[str]]] = {}  # the valid values of a field, or of the items of a field

    name: str
    title: str
    question: str = ""
    caution: str = ""
    cost: str = ""
    reference: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check the fields; raise an error that names the wrong one."""
        object.__setattr__(self, "reference", Citation(self.reference))
        for name in self.REQUIRED:
            if not getattr(self, name):
                hint = f"Pass {name}= to the decorator of {self.name}."
                raise InputError(name, f"must be text on the card of a {self.kind}", "none", hint)
        for name, choices in self.CHOICES.items():
            value = getattr(self, name)
            for item in (value,) if isinstance(value, str) else value:
                check_one_of(item, choices, name)

    @property
    def works(self) -> tuple[str, ...]:
        """Keys of the works that the reference cites; see ``dreval.references``."""
        return self.reference.works if isinstance(self.reference, Citation) else ()

    def heading(self) -> str:
        """Return the first printed line."""
        return self.title

    def lines(self) -> dict[str, str]:
        """Return the printed fields by their names in print; empty ones are left out."""
        fields = ("name", "question", "caution", "cost", "reference")
        return {name: str(getattr(self, name)) for name in fields}

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self.kind, self.name))


class Decorator(Protocol):
    """A decorator that takes the fields of a card."""

    def __call__(self, **fields: Any) -> Callable[[Thing], Thing]:
        """Return the decorator of the function or class that the card describes."""


def defaults(thing: Callable[..., Any]) -> dict[str, Any]:
    """Return the parameters of a function or class that have a default, with it."""
    parameters = inspect.signature(thing).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not p.empty}


def keyword_defaults(thing: Callable[..., Any]) -> dict[str, Any]:
    """Return the keyword-only parameters of a function or class, with their defaults."""
    parameters = inspect.signature(thing).parameters.values()
    return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}


def register(
    card_class: type[Card],
    name_of: Callable[[str], str] = str,
    public: Callable[[Any, Any], Any] | None = None,
    parameters: Callable[[Any], Mapping[str, Any]] = defaults,
    **common_fields: Any,
) -> Decorator:
    """Return the decorator of one kind of entries, as ``figure = register(FigureCard, FIGURES.name_of)``.

    Parameters
    ----------
    card_class : type
        The class of the cards.
    name_of : function
        Returns the name of an entry from that of its function or class.
    public : function of a function or class and its card, optional
        Returns what users call in its place.
    parameters : function
        Returns the parameters of a function or class, with their defaults.
    **common_fields
        Fields that all cards of this decorator have in common.
    """

    def decorator(**fields: Any) -> Callable[[Thing], Thing]:
        def attach(thing: Thing) -> Thing:
            derived = {"name": name_of(thing.__name__), "parameters": parameters(thing)}
            card = card_class(**{**derived, **common_fields, **fields})
            entry: Any = thing if public is None else public(thing, card)
            entry.card = card
            return entry  # type: ignore[no-any-return]

        return attach

    return decorator


def with_caller_names(function: Callable[P, R], names: Callable[P, Mapping[str, str]]) -> Callable[P, R]:
    """Return a function whose errors name the arguments as its caller does; ``names`` returns the names of a call."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except DrevalError as error:
            raise error.named(names(*args, **kwargs)) from error.__cause__

    return call
