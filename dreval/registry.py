"""Registries of functions and classes with a card, found by their decorators and imported when first used."""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Collection, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from dreval._check import check_one_of, resolve_alias
from dreval.errors import Hint, InputError

__all__ = [
    "ANALYSES",
    "DATASETS",
    "FIGURES",
    "MEASURES",
    "METHODS",
    "TESTS",
    "Registry",
    "card",
    "list_analyses",
    "list_datasets",
    "list_figures",
    "list_measures",
    "list_methods",
    "list_tests",
]


DEFINITION = re.compile(r"^@(\w+)|^(?:def|class) (\w+)", re.MULTILINE)  # at the top of a module
WORD_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")  # in the name of a class


class Registry:
    """The entries of one kind: functions or classes that have a card by a decorator of this kind.

    A file may have any number of entries, and no list names them. The source is searched for the decorators; a module
    is imported when one of its entries is used, so that a list of names imports neither numba nor matplotlib.

    Parameters
    ----------
    packages : str
        Dotted names of folders and modules, separated by a blank.
    noun : str
        Name of an entry in error messages.
    plural : str
        Plural of the noun: ``dreval.list_<plural>()`` lists the names. Empty if there is no such function.
    decorators : tuple of str
        Names of the decorators that attach a card.
    prefix, suffix : str
        Parts of the name of a function before and after the name of its entry: ``hsic_test`` is "hsic".
    """

    def __init__(
        self,
        packages: str,
        noun: str,
        plural: str = "",
        *,
        decorators: tuple[str, ...],
        prefix: str = "",
        suffix: str = "",
    ) -> None:
        self.packages, self.noun, self.plural = packages.split(), noun, plural
        self.decorators, self.prefix, self.suffix = decorators, prefix, suffix

    def name_of(self, thing: str) -> str:
        """Return the name of the entry whose function or class is called ``thing``.

        Examples
        --------
        >>> TESTS.name_of("hsic_test"), METHODS.name_of("FastICA")
        ('hsic', 'fast_ica')
        """
        return WORD_BOUNDARY.sub("_", thing.removeprefix(self.prefix).removesuffix(self.suffix)).lower()

    @cached_property
    def _places(self) -> dict[str, tuple[str, str]]:
        """Module and function or class of each entry, sorted by name."""
        places: dict[str, tuple[str, str]] = {}
        for module, file in self._files():
            for thing in _decorated(file.read_text("utf-8"), self.decorators):
                name = self.name_of(thing)
                if name in places:
                    raise ImportError(f"{places[name][0]} and {module} both define the {self.noun} {name!r}")
                places[name] = module, thing
        return dict(sorted(places.items()))

    def _files(self) -> Iterator[tuple[str, Path]]:
        """Yield the modules with their files, without importing them."""
        for package in self.packages:
            spec = importlib.util.find_spec(package)
            if spec is None or spec.origin is None:
                raise ModuleNotFoundError(f"No module named {package!r}")
            if spec.submodule_search_locations is None:
                yield package, Path(spec.origin)
            for folder in spec.submodule_search_locations or ():
                yield from ((f"{package}.{file.stem}", file) for file in sorted(Path(folder).glob("*.py")))

    def names(self) -> list[str]:
        """Return the names of all entries, sorted."""
        return list(self._places)

    @property
    def listing(self) -> tuple[str, ...]:
        """The call that lists the names, if there is one."""
        return (f"dreval.list_{self.plural}()",) if self.plural else ()

    def public_names(self) -> list[str]:
        """Return the names of the entries as functions of the package."""
        return [name + self.suffix for name in self._places]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def get(self, name: str, argument: str | None = None) -> Any:
        """Return the entry, which has an attribute ``card``; the error for an unknown name suggests the nearest."""
        name = check_one_of(name, self._places, argument or self.noun.replace(" ", "_"), self.listing, aliases=True)
        module, thing = self._places[name]
        return getattr(importlib.import_module(module), thing)

    def check_run(self, name: Any, available: Collection[str], argument: str, *, curves: bool = False) -> str:
        """Check that a name is available in a result; the error for another entry says how to run it.

        A measure that is a curve has no value in a table; ``curves`` says that ``available`` may contain curves. If all
        measures of a table are unknown here, it was made elsewhere, and no error suggests to run them.
        """
        for run_name in available if isinstance(name, str) else ():
            if name.startswith(f"{run_name}("):
                raise InputError(argument, "must be a name without parameters", repr(name), f"Pass {run_name!r}.")
        is_foreign = self is MEASURES and not any(measure in self for measure in available)
        if is_foreign or resolve_alias(name, available) in available or resolve_alias(name, self._places) not in self:
            return check_one_of(name, available, argument)
        names = ", ".join(sorted(available))
        if self is MEASURES and not curves and self.card(name).curve:
            hint = f"{{curve}} has its values. Known: {names}."
            raise InputError(argument, "must have one value", f"{name!r}, a curve", hint, curve="Results.curve")
        option, call = ("embeddings", "Evaluation") if self is METHODS else (self.plural, "run")
        hint = f"Add it to {{{option}}} of `{call}`. Those that were run: {names or 'none'}."
        raise InputError(argument, "must be one that was run", repr(name), hint, **{option: option})

    def thing_of(self, name: str) -> str:
        """Return the name of the function or class of an entry, without importing it."""
        return self._places[name][1]

    def card(self, name: str, argument: str | None = None) -> Any:
        """Return the card of one entry."""
        return self.get(name, argument).card

    def cards(self) -> list[Any]:
        """Return the cards of all entries, sorted by name."""
        return [self.card(name) for name in self._places]


def _decorated(source: str, decorators: tuple[str, ...]) -> Iterator[str]:
    """Yield the names of the functions and classes at the top of a module that have one of the decorators."""
    is_entry = False
    for match in DEFINITION.finditer(source):
        decorator, thing = match.groups()
        if decorator:
            is_entry |= decorator in decorators
        elif is_entry:
            yield thing
            is_entry = False


MEASURES = Registry(
    "dreval.measures dreval.study.held_out", "measure", "measures", decorators=("measure", "method_measure")
)
TESTS = Registry("dreval.significance", "test", "tests", decorators=("test",), suffix="_test")
METHODS = Registry("dreval.methods", "method", "methods", decorators=("method",))
DATASETS = Registry("dreval.datasets", "data set", "datasets", decorators=("dataset",))
FIGURES = Registry("dreval.report.figures", "kind", "figures", decorators=("figure",), prefix="draw_")
ANALYSES = Registry(
    "dreval.analyses dreval.evaluation.out_of_sample dreval.study.sweep",
    "analysis",
    "analyses",
    decorators=("analysis",),
)


def list_measures() -> list[str]:
    """Return the names of all measures, as ``Evaluation.run(measures=...)`` takes them.

    Examples
    --------
    >>> import dreval
    >>> "trustworthiness" in dreval.list_measures()
    True
    """
    return MEASURES.names()


def list_tests() -> list[str]:
    """Return the names of all independence tests, as ``Evaluation.run(tests=...)`` takes them.

    Examples
    --------
    >>> import dreval
    >>> "hsic" in dreval.list_tests()
    True
    """
    return TESTS.names()


def list_methods() -> list[str]:
    """Return the names of all bundled methods, as ``Evaluation(embeddings=...)`` and ``embed`` take them.

    Examples
    --------
    >>> import dreval
    >>> "isomap" in dreval.list_methods()
    True
    """
    return METHODS.names()


def list_datasets() -> list[str]:
    """Return the names of all data sets: bundled and loaders of files (``load_dataset``), and simulated (``simulate``).

    Examples
    --------
    >>> import dreval
    >>> "digits" in dreval.list_datasets()
    True
    """
    return DATASETS.names()


def list_figures() -> list[str]:
    """Return the names of all kinds of figures, as ``Results.plot`` and ``Comparison.plot`` take them.

    Examples
    --------
    >>> import dreval
    >>> "map" in dreval.list_figures()
    True
    """
    return FIGURES.names()


def list_analyses() -> list[str]:
    """Return the names of all analyses: functions of the data, of a method, or of the points of one embedding.

    Examples
    --------
    >>> import dreval
    >>> dreval.list_analyses()  # doctest: +NORMALIZE_WHITESPACE
    ['column_importance', 'generalization_bound', 'graph_recall', 'intrinsic_dimension', 'local_distortion',
     'out_of_sample', 'parallel_analysis', 'perplexity_curve', 'perturbation_score', 'representation_similarity',
     'singularity_score', 'sweep']
    """
    return ANALYSES.names()


REGISTRIES_BY_KIND = {"measure": MEASURES, "test": TESTS, "method": METHODS, "dataset": DATASETS, "figure": FIGURES}
REGISTRIES_BY_KIND |= {"analysis": ANALYSES}


def card(name: str, kind: str | None = None) -> Any:
    """Return the card of a measure, test, method, data set, figure or analysis: its declared properties.

    Parameters
    ----------
    name : str
        A name from one of the lists, or of a function ("hsic_test", "intrinsic_dimension", "sweep").
    kind : {"measure", "test", "method", "dataset", "figure", "analysis"}, optional
        Needed for a name of several kinds, such as "cca" (a test and a method).

    Returns
    -------
    MeasureCard, TestCard, MethodCard, DatasetCard, FigureCard or AnalysisCard
        A frozen record. The card of a measure has its question, direction, bounds, chance level, invariances,
        parameters and reference.

    Raises
    ------
    UnknownName
        If nothing has that name; the error suggests the nearest name.
    InputError
        If several kinds have that name and ``kind`` is not given.

    See Also
    --------
    list_measures, list_tests, list_methods, list_datasets, list_figures, list_analyses : the names.

    Examples
    --------
    >>> import dreval
    >>> dreval.card("trustworthiness").direction, dreval.card("cca", "method").title
    ('higher', 'Canonical correlation analysis')
    """
    if kind is not None:
        return REGISTRIES_BY_KIND[check_one_of(kind, REGISTRIES_BY_KIND, "kind", aliases=True)].card(name, "name")
    if name in TESTS.public_names():
        return TESTS.card(name.removesuffix(TESTS.suffix))
    kinds = [key for key, registry in REGISTRIES_BY_KIND.items() if resolve_alias(name, registry.names()) in registry]
    if len(kinds) > 1:
        received, hints = f"{name!r}, a {' and a '.join(kinds)}", [Hint("kind", kind) for kind in kinds[:2]]
        raise InputError("name", "must name one thing", received, "Pass {one} or {two}.", one=hints[0], two=hints[1])
    if not kinds:
        names = [entry for registry in REGISTRIES_BY_KIND.values() for entry in registry]
        listing = tuple(call for registry in REGISTRIES_BY_KIND.values() for call in registry.listing)
        check_one_of(name, dict.fromkeys(names), "name", listing)
    return REGISTRIES_BY_KIND[kinds[0]].card(name)
