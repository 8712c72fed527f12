"""Cards: every entry of a registry has one complete card and a complete docstring."""

from __future__ import annotations

import dataclasses
import doctest
import importlib
import inspect
import math
import pkgutil
import re
from html import escape
from typing import Any

import pytest
from each import each

import dreval
from dreval.analyses._analysis import AnalysisCard
from dreval.cards import Card
from dreval.datasets._dataset import DatasetCard
from dreval.errors import InputError, UnknownName
from dreval.measures.core import GOALS, MeasureCard
from dreval.methods._method import MethodCard
from dreval.references import reference
from dreval.registry import ANALYSES, DATASETS, FIGURES, MEASURES, METHODS, REGISTRIES_BY_KIND, TESTS
from dreval.report.figures._kind import FigureCard
from dreval.report.result_view import make_column, title_in_sentence
from dreval.significance.base import TestCard

CARDS = (MeasureCard, MethodCard, DatasetCard, AnalysisCard, TestCard, FigureCard)
REGISTRIES = {"measures": MEASURES, "significance": TESTS, "methods": METHODS, "datasets": DATASETS}
REGISTRIES |= {"analyses": ANALYSES}
ENTRIES = [(folder, name) for folder, registry in REGISTRIES.items() for name in registry]
SECTIONS = {
    "measures": ["Parameters", "Returns", "Raises", "See Also", "Notes", "References", "Examples"],
    "significance": ["Parameters", "Returns", "Raises", "See Also", "Notes", "References", "Examples"],
    "methods": ["Parameters", "Attributes", "Notes", "References", "Examples"],
    "datasets": ["Returns", "Examples"],
    "analyses": ["Parameters", "Returns", "Raises", "Warnings", "See Also", "Notes", "References", "Examples"],
}
# A field that may be empty, with the meaning of that.
MAY_BE_EMPTY = {
    ("measures", "expected"): "the chance value has no closed form in what is seen",
    ("measures", "chance"): "the measure does not depend on how points are paired",
    ("measures", "chance_formula"): "the chance level is a mean over permutations, or none",
    ("measures", "default"): "computed on request only",
    ("measures", "warning"): "a poor value forbids nothing, or values are unbounded or describe",
    ("measures", "term"): "the title is the term of the literature",
    ("measures", "noun"): "a sentence has the title",
    ("measures", "variant"): "no other measure of its question differs from it in one respect",
    ("measures", "share"): "its value is no share of things that one counts",
    ("measures", "caution"): "a good value says what the question asks",
    ("significance", "tolerance"): "the test has no low-rank factors",
    ("significance", "without_matrices"): "the test needs its matrices for all variables, or has none",
    ("significance", "nulls"): "only a test of a method has null data",
    ("significance", "question"): "tests of variables ask their hypothesis",
    ("significance", "cost"): "tests of variables have memory",
    ("measures", "choices"): "no parameter is a word",
    ("measures", "area_of"): "it is no area under a curve",
    ("measures", "ceiling"): "the value of a perfect copy is the better bound, without a direction the lower one",
    ("measures", "ties"): "ties cannot matter, or have no exact bounds",
    ("measures", "lists"): "it reads distances or coordinates, which lists of neighbors do not hold, or no data",
    ("measures", "list_bounds"): "lists of neighbors do not bound it, or hold all that it reads",
    (
        "measures",
        "contributions",
    ): "what a point contributes has the bounds of the measure, or is no share of the value",
    ("measures", "without_class"): "its interval is over points",
    ("measures", "by_row"): "it is no curve",
    ("measures", "interval_from"): "it has an interval for every number of points",
    ("measures", "min_carriers"): "its interval holds also where few points carry it",
    ("measures", "reach"): "it reads the lists of the pass for its own k, or none",
    ("measures", "exponent"): "its time grows with the square of the number of points",
    ("measures", "growth"): "its value does not grow with the number of points",
    ("measures", "without"): "its values without each point cost more than a pass",
    ("measures", "parameters"): "the measure has no parameter",
    ("measures", "invariances"): "every change of the embedding changes the value",
    ("analyses", "direction"): "an estimate is neither good nor bad",
    ("significance", "caution"): "the docstring has it",
    ("methods", "question"): "a method has none",
    ("methods", "caution"): "the docstring has it",
    ("datasets", "question"): "a data set has none",
    ("datasets", "caution"): "a data set has none",
    ("datasets", "cost"): "data are small",
    ("datasets", "parameters"): "bundled, a file, or a simulation without parameters",
    ("datasets", "files"): "no loader of files",
}

each_thing = each("folder, name", ENTRIES)
each_measure = each("name", list(MEASURES))


def entry_of(folder: str, name: str) -> Any:
    """Return the function or class of a registered entry."""
    return REGISTRIES[folder].get(name)


@each("folder", REGISTRIES)
def test_registries_know_every_card(folder: str) -> None:
    """The names of a registry are those of all cards in its modules, which are not empty."""
    modules = [module for package in REGISTRIES[folder].packages for module in modules_of(package)]
    defined = {
        value.card.name: value
        for module in modules
        for value in vars(module).values()
        if isinstance(getattr(value, "__dict__", {}).get("card"), CARDS) and value.__module__ == module.__name__
    }

    assert REGISTRIES[folder].names() == sorted(defined)
    assert all(REGISTRIES[folder].get(name) is defined[name] for name in REGISTRIES[folder])
    assert REGISTRIES[folder].names()


def modules_of(name: str) -> list[Any]:
    """Return a module, and those in its folder if it is a package."""
    package = importlib.import_module(name)
    below = [f"{name}.{module.name}" for module in pkgutil.iter_modules(getattr(package, "__path__", []))]
    return [package, *map(importlib.import_module, below)]


@each_thing
def test_cards_are_complete(folder: str, name: str) -> None:
    """Every field of a card has a value, unless an empty value has a stated meaning."""
    card = entry_of(folder, name).card
    values = {field.name: getattr(card, field.name) for field in dataclasses.fields(card)}
    empty = {key for key, value in values.items() if value is None or (not isinstance(value, bool) and not value)}

    assert empty <= {key for kind, key in MAY_BE_EMPTY if kind == folder}


@each("card_class", CARDS)
def test_a_card_with_a_wrong_field_raises_an_error(card_class: type[Card]) -> None:
    """A value outside the closed ones of a field, and a required text that is empty, raise an error with its name."""
    registries = {registry.cards()[0].__class__: registry for registry in [*REGISTRIES.values(), FIGURES]}
    card = registries[card_class].cards()[0]
    assert {*card_class.CHOICES, *card_class.REQUIRED} <= {field.name for field in dataclasses.fields(card)}
    for name in card_class.CHOICES:
        wrong = "nowhere" if isinstance(getattr(card, name), str) else ("nowhere",)
        with pytest.raises(UnknownName, match=f"`{name}` must be a known name: got 'nowhere'"):
            dataclasses.replace(card, **{name: wrong})
    for name in set(card_class.REQUIRED) - {"source", "license"}:
        with pytest.raises(InputError, match=f"`{name}` must be text on the card of a {card_class.kind}"):
            dataclasses.replace(card, **{name: ""})


@each_measure
def test_goals_are_those_of_recommend(name: str) -> None:
    """Each goal of a measure is one of ``recommend``."""
    assert set(MEASURES.card(name).goals) <= {*GOALS}


@each_measure
def test_a_title_that_begins_with_its_question_ends_with_the_variant(name: str) -> None:
    """A sentence names a variant with "with", in the words of the title after the question, and others with "by"."""
    card, column = MEASURES.card(name), make_column(name, "", [])
    question, separator, ending = card.title.partition(", ")

    is_variant = bool(separator) and question == column.topic
    assert card.variant == (ending if is_variant else "")
    assert column.by_text == (f"with {ending}" if is_variant else f"by {title_in_sentence(card.noun or card.title)}")


@each_thing
def test_references_can_be_found(folder: str, name: str) -> None:
    """A reference names a year and its works, or states that the entry is defined in dreval."""
    card = entry_of(folder, name).card

    assert re.search(r"\b(19|20)\d\d\b|^none\b", card.reference)
    assert all(str(reference(key)) in card.reference for key in card.works)
    assert "@" not in card.reference


@each_thing
def test_pages_have_all_sections(folder: str, name: str) -> None:
    """The docstring has a summary of one sentence and the sections of its kind, in numpydoc's order."""
    page = inspect.getdoc(entry_of(folder, name)) or ""
    result = re.findall(r"^(\w[\w ]*)\n-+$", page, flags=re.MULTILINE)

    assert page.splitlines()[0].endswith((".", "?"))
    assert [section for section in SECTIONS[folder] if section not in result] == []
    assert [section for section in result if section in SECTIONS[folder]] == SECTIONS[folder]


@each_thing
def test_pages_name_every_parameter(folder: str, name: str) -> None:
    """Every parameter of the signature is in the docstring."""
    entry = entry_of(folder, name)
    page = inspect.getdoc(entry) or ""
    _, _, remaining = page.partition("Parameters\n----------\n")
    described = re.split(r"\n\n\w[\w ]*\n-+\n", remaining)[0]
    entries = re.findall(r"^(\*\*\w+$|[\w*, ]+?(?= :))", described, re.MULTILINE)
    documented = {word for entry in entries for word in entry.split(", ")}

    assert set(inspect.signature(entry).parameters) - {word.lstrip("*") for word in documented} == set()


@each_thing
def test_the_examples_of_a_page_are_run(folder: str, name: str) -> None:
    """pytest finds the doctests of an entry in its file."""
    entry = entry_of(folder, name)
    module = importlib.import_module(entry.__module__)
    result = [test for test in doctest.DocTestFinder().find(module) if test.examples]

    assert any(test.name.split(".")[-1] == entry.__name__ for test in result)


@each_measure
def test_measures_that_do_not_read_the_data_have_a_caution(name: str) -> None:
    """Measures that do not read the data have a caution, on the card and in the docstring."""
    card = MEASURES.card(name)
    needs_coordinates_only = {"labels", "batch", "target", "coordinates"} >= set(card.needs) >= {"coordinates"} and len(
        card.needs
    ) > 1
    needs_coordinates_only |= name in (
        "class_angular_distortion",
        "knn_r2_ratio",
        "pcr_comparison",
        "stability",
        "held_out_fidelity",
    )  # a defect may improve it; its maps are compared alone; it reads noisy data
    text, page = (" ".join(text.split()) for text in (str(card), inspect.getdoc(getattr(dreval, name)) or ""))

    assert bool(card.caution) == needs_coordinates_only
    assert f"caution: {card.caution}" * needs_coordinates_only in text
    assert f"Warnings -------- {card.caution}" * needs_coordinates_only in page
    mixing = ("ilisi", "cilisi", "kbet", "kbet_per_label", "silhouette_batch", "bras", "pcr", "pcr_comparison")
    assert ("noise mixes batches completely" in card.caution) == (name in mixing)


def test_the_warning_on_a_page_is_the_caution_of_the_card() -> None:
    """The caution of an analysis is the same on its card and in its docstring."""
    for folder, name in [("analyses", name) for name in ANALYSES]:
        page = " ".join((inspect.getdoc(entry_of(folder, name)) or "").split())

        assert f"Warnings -------- {entry_of(folder, name).card.caution}" in page


def test_no_other_function_has_a_card() -> None:
    """Only entries of the registries have a card, and ``card`` finds them all."""
    having = {
        name for name in dreval._public_names() if hasattr(getattr(getattr(dreval, name), "card", None), "reference")
    }
    entries = {name for registry in (MEASURES, TESTS, ANALYSES) for name in registry.public_names()}

    assert having == entries


@each_measure
def test_questions_are_questions_or_sentences(name: str) -> None:
    """The question of a measure is one complete sentence."""
    question = MEASURES.card(name).question

    assert question[0].isupper()
    assert question.endswith((".", "?"))


@each_measure
def test_bounds_are_an_interval_with_chance_inside(name: str) -> None:
    """The lower bound is below the upper, and finite where there is a direction; chance lies between for any n, k.

    R^2 of a prediction, which is better the higher it is, has no lower bound.
    """
    card = MEASURES.card(name)
    low, high = card.bounds
    if callable(card.chance):
        values = [card.chance(n, k) for n in (4, 10, 200, 10_000) for k in {1, 2, 3, n // 2, n - 1} if k < n]
    else:
        values = [card.chance] if isinstance(card.chance, float) else []

    assert math.isfinite(low) or card.direction == "none" or "target" in card.needs
    assert low < high
    assert all(low <= value <= high for value in values)
    in_words = card.level == "algorithm" and isinstance(card.chance, str)  # their records contain the value
    assert card.chance is None or callable(card.chance) or values or card.chance == "permutation" or in_words


@each_measure
def test_the_parameters_on_the_card_are_those_of_the_function(name: str) -> None:
    """The parameters and defaults on the card are those of the public function, which takes a variable itself."""
    signature = inspect.signature(getattr(dreval, name))
    defaults = {key: p.default for key, p in signature.parameters.items() if p.default is not p.empty}

    card = MEASURES.card(name)
    assert {
        key: value for key, value in card.parameters.items() if key not in card.variables
    }.items() <= defaults.items()


@each_measure
def test_only_curves_are_best_at_zero(name: str) -> None:
    """The table of results has only higher and lower as directions."""
    card = MEASURES.card(name)

    assert card.direction != "zero" or card.curve
    assert not (card.curve and (card.parameters or card.default or "full_ranks" not in card.needs))


@each_measure
def test_a_measure_without_direction_has_no_bounds(name: str) -> None:
    """A measure without a direction has no worst or best over ties and is not a default."""
    card = MEASURES.card(name)

    assert card.direction != "none" or (card.ties is None and card.default is None)


def test_default_measures_have_an_order_without_gaps_in_meaning() -> None:
    """No two measures have the same place among the defaults."""
    places = [card.default for card in MEASURES.cards() if card.default is not None]

    assert len(places) == len(set(places))
    assert places


@each("name", list(METHODS))
def test_max_components_is_a_count(name: str) -> None:
    """The largest number of components is a positive integer for ordinary data and the default parameters."""
    entry = METHODS.get(name)
    most = entry.card.max_components(100, 5, entry().get_params())

    assert isinstance(most, int)
    assert most >= 1
    assert entry.card.class_name == entry.__name__


@each("folder, name", [t for t in ENTRIES if t[0] != "datasets"])
def test_a_card_is_printed_as_a_block_of_lines(folder: str, name: str) -> None:
    """A printed card is its title and lines ``name: text``, without the repr of Python objects."""
    card = entry_of(folder, name).card
    title, *lines = str(card).split("\n")

    assert repr(card) == str(card)
    assert title.startswith(card.title)
    assert lines[0] == f"  name: {card.name}"
    assert all(len(line) <= 80 for line in lines)
    assert all(re.match(r"  \w[\w -]*: \S|      \S", line) for line in lines)
    assert " at 0x" not in str(card)
    assert "frozenset" not in str(card)


def test_a_notebook_shows_a_card_as_a_table() -> None:
    """Each card, and each list of ``recommend``, has a row for each printed text; markup in texts is escaped."""
    cards = [card for registry in REGISTRIES_BY_KIND.values() for card in registry.cards()]
    for thing in (*cards, dreval.recommend(), dreval.recommend("neighbors")):
        html, texts = thing._repr_html_(), [text for text in thing.lines().values() if text]
        assert html.count("<tr>") == html.count("</td></tr>") == len(texts)
        assert html.startswith("<table><caption ")
        assert all(escape(text) in html for text in texts)
        assert max(map(len, repr(thing).splitlines())) <= 80
        assert repr(thing).split("\n  ")[0].replace("\n", " ") == thing.heading()
