"""The registry: a folder of files with one entry each, found by file name and imported when first used."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Collection, Iterator
from functools import cached_property
from typing import Any

from dreval._check import check_one_of, keywords_checked, known_name
from dreval.errors import InputError

__all__ = [
    "DATASETS",
    "DIMENSIONS",
    "FIGURES",
    "MEASURES",
    "METHODS",
    "SCORES",
    "TESTS",
    "Registry",
    "card",
    "list_datasets",
    "list_figures",
    "list_measures",
    "list_methods",
    "list_scores",
    "list_tests",
]


class Registry:
    """The entries of one kind: one file holds one entry, and its name is the file's name.

    Nothing is imported until an entry is used, so that a list of names costs a directory listing.

    Parameters
    ----------
    package : str
        Dotted name of the folder.
    noun : str
        Name of an entry in error messages.
    plural : str
        Plural of the noun: ``dreval.list_<plural>()`` lists the names. Empty if there is no such function.
    suffix : str
        Suffix of the public function's name after the file's name.
    """

    def __init__(self, package: str, noun: str, plural: str = "", suffix: str = "") -> None:
        self.package, self.noun, self.plural, self.suffix = package, noun, plural, suffix

    @cached_property
    def _names(self) -> tuple[str, ...]:
        folder = importlib.import_module(self.package)
        return tuple(sorted(m.name for m in pkgutil.iter_modules(folder.__path__) if not m.name.startswith("_")))

    def names(self) -> list[str]:
        """Names of all entries, sorted."""
        return list(self._names)

    @property
    def listing(self) -> tuple[str, ...]:
        """The call that lists the names, if there is one."""
        return (f"dreval.list_{self.plural}()",) if self.plural else ()

    def public_names(self) -> list[str]:
        """Names of the entries at the top of the package."""
        return [name + self.suffix for name in self._names]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def get(self, name: str, argument: str | None = None) -> Any:
        """The entry, an object with an attribute ``card``; the error for an unknown name suggests the nearest."""
        name = check_one_of(name, self._names, argument or self.noun.replace(" ", "_"), self.listing, aliases=True)
        module = importlib.import_module(f"{self.package}.{name}")
        things = [v for v in vars(module).values() if getattr(v, "card", None) and v.__module__ == module.__name__]
        if len(things) != 1:
            raise ImportError(f"{module.__name__} must define exactly one thing with a card, it defines {len(things)}")
        return things[0]

    def check_run(self, name: Any, found: Collection[str], argument: str, *, curves: bool = False) -> str:
        """One of the names ``found`` in a result; the error for another entry says how to run it.

        A measure that is a curve has no value in a table; ``curves`` says that there may be some among the names. A
        table made elsewhere, whose measures are all unknown here, was not run.
        """
        short = name.partition("(")[0] if isinstance(name, str) else name
        if short != name and short in found:
            raise InputError(argument, "must be a name without parameters", repr(name), f"Pass {short!r}.")
        foreign = self is MEASURES and not any(one.partition("(")[0] in self for one in found)
        if not foreign and known_name(name, found) not in found and known_name(name, self._names) in self:
            if self is MEASURES and not curves and self.card(name).curve:
                got, cure = f"{name!r}, a curve", f"{{curve}} has its values. Known: {', '.join(sorted(found))}."
                raise InputError(argument, "must have one value", got, cure, curve="Results.curve")
            where, call = ("embeddings", "Evaluation") if self is METHODS else (self.plural, "run")
            cure = f"Add it to {{{where}}} of `{call}`. Those that were run: {', '.join(sorted(found)) or 'none'}."
            raise InputError(argument, "must be one that was run", repr(name), cure, **{where: where})
        return check_one_of(name, found, argument)

    def card(self, name: str, argument: str | None = None) -> Any:
        """The card of one entry."""
        return self.get(name, argument).card

    def cards(self) -> list[Any]:
        """The cards of all entries, sorted by name."""
        return [self.card(name) for name in self._names]


MEASURES = Registry("dreval.measures", "measure", "measures")
TESTS = Registry("dreval.significance", "test", "tests", suffix="_test")
METHODS = Registry("dreval.methods", "method", "methods")
DATASETS = Registry("dreval.datasets", "data set", "datasets")
FIGURES = Registry("dreval.report.figures", "kind", "figures")
DIMENSIONS = Registry("dreval.dimension", "analysis of dimensions")
SCORES = Registry("dreval.scores", "score of points", "scores")


@keywords_checked
def list_measures() -> list[str]:
    """Names of all measures, as ``Evaluation.run(measures=...)`` takes them.

    Examples
    --------
    >>> import dreval
    >>> "trustworthiness" in dreval.list_measures()
    True
    """
    return MEASURES.names()


@keywords_checked
def list_tests() -> list[str]:
    """Names of all independence tests, as ``Evaluation.run(tests=...)`` takes them.

    Examples
    --------
    >>> import dreval
    >>> "hsic" in dreval.list_tests()
    True
    """
    return TESTS.names()


@keywords_checked
def list_methods() -> list[str]:
    """Names of all bundled methods, as ``Evaluation(embeddings=...)`` and ``embed`` take them.

    Examples
    --------
    >>> import dreval
    >>> "isomap" in dreval.list_methods()
    True
    """
    return METHODS.names()


@keywords_checked
def list_datasets() -> list[str]:
    """Names of all data sets: bundled and loaders of files (``load_dataset``), and simulated (``simulate``).

    Examples
    --------
    >>> import dreval
    >>> "digits" in dreval.list_datasets()
    True
    """
    return DATASETS.names()


@keywords_checked
def list_figures() -> list[str]:
    """Names of all kinds of figures, as ``Results.plot`` and ``Comparison.plot`` take them.

    Examples
    --------
    >>> import dreval
    >>> "map" in dreval.list_figures()
    True
    """
    return FIGURES.names()


@keywords_checked
def list_scores() -> list[str]:
    """Names of all scores of points: functions of data and one embedding that give a table of the points.

    Examples
    --------
    >>> import dreval
    >>> "singularity_score" in dreval.list_scores()
    True
    """
    return SCORES.names()


KINDS = {"measure": MEASURES, "test": TESTS, "method": METHODS, "dataset": DATASETS, "figure": FIGURES}
KINDS |= {"dimension": DIMENSIONS, "score": SCORES}
ALONE = {"perplexity_curve": "dreval.scores._perplexity", "sweep": "dreval.study.sweep"}  # functions that have a card


@keywords_checked
def card(name: str, kind: str | None = None) -> Any:
    """Card of a measure, test, method, data set, figure, analysis of dimensions or score: its declared properties.

    Parameters
    ----------
    name : str
        A name from one of the lists, or of a function ("hsic_test", "intrinsic_dimension", "sweep").
    kind : {"measure", "test", "method", "dataset", "figure", "dimension", "score"}, optional
        What it is the name of; needed for names of several things, such as "cca" (a test and a method).

    Returns
    -------
    MeasureCard, TestCard, MethodCard, DatasetCard, FigureCard or AnalysisCard
        A frozen record. That of a measure has its question, direction, bounds, chance level, invariances, parameters
        and reference.

    Raises
    ------
    UnknownName
        If nothing has that name; the nearest right one is given.
    InputError
        If several things have that name and ``kind`` is not given.

    See Also
    --------
    list_measures, list_tests, list_methods, list_datasets, list_figures, list_scores : the names.

    Examples
    --------
    >>> import dreval
    >>> dreval.card("trustworthiness").direction, dreval.card("cca", "method").title
    ('higher', 'Canonical correlation analysis')
    """
    if kind is not None:
        return KINDS[check_one_of(kind, KINDS, "kind", aliases=True)].card(name, "name")
    if name in TESTS.public_names():
        return TESTS.card(name.removesuffix(TESTS.suffix))
    if name in ALONE:
        return getattr(importlib.import_module(ALONE[name]), name).card
    having = [word for word, registry in KINDS.items() if known_name(name, registry.names()) in registry]
    if len(having) > 1:
        cure = f"Pass kind={having[0]!r} or kind={having[1]!r}."
        raise InputError("name", "must name one thing", f"{name!r}, a {' and a '.join(having)}", cure)
    names = [*ALONE, *(one for registry in KINDS.values() for one in registry)]
    listing = tuple(call for registry in KINDS.values() for call in registry.listing)
    if not having:
        check_one_of(name, dict.fromkeys(names), "name", listing)
    return KINDS[having[0]].card(name)
