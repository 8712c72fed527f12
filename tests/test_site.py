"""The pages that the site writes from registries and texts, tested without sphinx."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import re
import shlex
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from each import each
from page_tables import VIGNETTES, site_module

import dreval.records.results
from dreval import glossary
from dreval.records.base import Record
from dreval.registry import FIGURES, MEASURES, METHODS, TESTS

DRAWING, SEARCH, TEXT, SECTIONS, SHEETS = map(site_module, ("_drawing", "_search", "_text", "_vignettes", "_sheets"))
CARDS = [*MEASURES.cards(), *METHODS.cards(), *TESTS.cards()]


@each("card", CARDS)
def test_card_fields_have_the_printed_text_of_the_card(card: object) -> None:
    """Every name on a card is a field, and all its text is on the page, except for markup and line breaks."""
    result = TEXT.card_fields(card)

    text = " ".join(" ".join(repr(card).splitlines()[1:]).split())
    assert " ".join(f"{name}: {text}" for name, text in result.items()).replace("\\", "") == text
    assert "reference" in result


@pytest.mark.parametrize(
    ("code", "description"),
    [
        (
            "x = 1\nresults.plot(\n    'map', measure='continuity'\n)",
            f"Figure drawn by results.plot('map', measure='continuity'): {FIGURES.card('map').title}",
        ),
        (
            "figure = a.plot('wins')\nfigure.savefig('f.pdf')\nfigure",
            "Figure drawn by a.plot('wins'): on how many data sets the embedding of a row beats that of a column",
        ),
        ("distances.plot()", ""),
        ("axes.scatter('map')", ""),
        ("for ax in axes:\n    ax.plot(x)", ""),
        ("figure", ""),
        ("!ls", ""),
        ("", ""),
    ],
)
def test_figures_are_described_by_the_call_that_drew_them(code: str, description: str) -> None:
    """A figure is the last one shown, or its call, with the content of its kind; any other has no words."""
    assert TEXT.figure_words(code) == description


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("r_ij", [("", "r"), ("low", "ij")]),
        ("R_N,opt of x", [("", "R"), ("low", "N,opt"), ("", " of x")]),
        ("O(n^2 (p + d))", [("", "O(n"), ("high", "2"), ("", " (p + d))")]),
        ("sum_{j in M_k(i)} k", [("", "∑"), ("low", "j ∈ M_k(i)"), ("", " k")]),
        ("k >= n/2", [("", "k "), ("", "≥"), ("", " n/2")]),
        ("the sum of the co-ranking matrix", [("", "the sum of the co-ranking matrix")]),
        ("m_class(i)", [("", "m"), ("low", "class"), ("", "(i)")]),
    ],
)
def test_formulas_are_set(text: str, pieces: list[tuple[str, str]]) -> None:
    """Subscripts, powers and signs are converted, and nothing else changes, such as the word sum."""
    assert TEXT.formula_pieces(text) == pieces


@each("name", [*MEASURES, *METHODS, *TESTS.public_names(), *glossary.COLUMNS, "n_neighbors", "mean_"])
def test_names_are_not_formulas(name: str) -> None:
    """Names of the package with an underscore are unchanged."""
    assert TEXT.formula_pieces(name) == [("", name)]


def test_docstrings_keep_examples_and_formulas() -> None:
    """Bars and trailing underscores are escaped in text, and nowhere else."""
    lines = [
        "|a & b| of mean_ and ``|c|``",
        ".. math:: |x_i|",
        "   |y|",
        "",
        "Then |d|.",
        ">>> a | b_",
        "| c |",
        "",
        "e_",
    ]

    TEXT.keep_plain("autodoc", lines)

    assert lines == [
        r"\|a & b\| of mean\_ and ``|c|``", ".. math:: |x_i|", "   |y|", "", r"Then \|d\|.", ">>> a | b_", "| c |", "",
        r"e\_",
    ]  # fmt: skip


@pytest.mark.parametrize("columns", [1, 2, 3, 5])
def test_scatter_draws_every_point_within_the_drawing(columns: int) -> None:
    """A drawing has one mark for each point, in its color, and is valid XML with a description."""
    points = np.random.default_rng(0).normal(size=(30, columns)) * 1e6
    colors = ["#111111"] * 10 + ["#222222"] * 20

    root = ET.fromstring(DRAWING.scatter(points, colors, 'a "label" & more'))

    paths = {path.get("stroke"): path.get("d") for path in root.iter("path")}
    marks = {color: re.findall(r"M(\S+) (\S+)h0", d) for color, d in paths.items()}
    assert {color: len(result) for color, result in marks.items()} == {"#111111": 10, "#222222": 20}
    assert all(0 <= float(number) <= DRAWING.SIDE for result in marks.values() for mark in result for number in mark)
    assert root.get("aria-label") == 'a "label" & more'


def test_colors_run_from_chance_to_perfect() -> None:
    """A value by chance has the first color and a perfect one the last, for any direction; a missing one has none."""
    values = np.array([0.0, 0.5, 1.0, np.nan])

    higher, lower = (DRAWING.from_chance_to_perfect(values, *ends) for ends in ((0.0, 1.0), (1.0, 0.0)))

    assert lower[:3] == ["var(--q7)", "var(--q4)", "var(--q0)"]
    assert higher[0] == "var(--q0)"
    assert higher[2] == "var(--q7)"
    assert "--q" not in higher[3]


def test_family_has_a_perfect_copy_and_one_without_relation() -> None:
    """The six embeddings have the points of the sheet: the first is the data, the last has permuted rows."""
    family = site_module("_measures")

    data, latent, labels = family.sheet()
    result = family.embeddings()

    assert list(result) == list(family.EMBEDDINGS)
    assert np.array_equal(result["copy"], data)
    assert np.array_equal(np.sort(result["random"], axis=0), np.sort(latent, axis=0))
    assert all(len(points) == len(labels) for points in result.values())


def test_every_kind_of_test_and_variable_is_simulated() -> None:
    """The pages of tests have cases for the second argument of each, those of measures a variable for each need."""
    pages = site_module("_tests")

    assert {card.second for card in TESTS.cards()} <= set(pages.CASES) == set(pages.RESAMPLES)
    assert all(len(cases) > 2 for cases in pages.CASES.values())
    needs = {need for card in MEASURES.cards() for need in card.needs} & {"labels", "latent", "batch", "target"}
    assert {name if name != "target" else "covariates" for name in needs} == set(site_module("_measures").variables())


def test_every_public_name_has_a_place_in_the_reference() -> None:
    """The groups are complete and have no entry twice."""
    reference = site_module("_reference")
    placed = [name for _, names in reference.GROUPS.values() for name in names.split()]
    assert sorted(placed) == sorted(reference.public_things())


def test_command_page_has_every_option_of_the_parser() -> None:
    """Every command and every option of the command line is on its page."""
    commands = site_module("_reference")
    text = commands._commands()

    leaves = list(commands._leaves(commands._parser()))
    assert len(leaves) > 8
    for parser in leaves:
        assert f"\n{parser.prog}\n---" in text
        options = [option for action in parser._actions for option in action.option_strings if action.dest != "help"]
        assert [option for option in options if not re.search(rf"``{option}[` ]", text)] == []
        assert not any(isinstance(action, argparse._SubParsersAction) for action in parser._actions)


def test_glossary_has_every_term_target_measure_and_test() -> None:
    """Each has its meaning in a line below it."""
    lines = SHEETS.glossary_page().splitlines()
    cards = [*MEASURES.cards(), *TESTS.cards()]
    terms = [*glossary.TERMS, *map(TEXT.code, glossary.TARGETS), *(card.title for card in cards)]

    for term in terms:
        meaning = lines[lines.index(term if term.startswith("`") else TEXT.plain(term)) + 1]
        assert meaning.startswith("    ")
        assert len(meaning.split()) > 2


def test_calls_of_the_cheat_sheet_exist() -> None:
    """Functions and methods exist, commands have these options, and kinds of figures are listed."""
    parser = site_module("_reference")._parser()
    calls = [call for entries in SHEETS.WAYS_IN.values() for call in entries]

    assert len(calls) > 20
    for call in calls:
        if call.startswith("dreval "):
            for command in call.split("; "):
                parser.parse_args(shlex.split(command)[1:])
        else:
            assert all(hasattr(dreval, name) for name in re.findall(r"dreval\.(\w+)", call)), call
            assert all(hasattr(dreval.records.results.Results, name) for name in re.findall(r"res\.(\w+)", call)), call
    assert set(SHEETS.FIGURES) <= set(dreval.list_figures())


def test_cheat_sheet_has_the_measures_of_a_run() -> None:
    """Every default measure has a row, with its chance level where that is a number."""
    text = SHEETS.cheat_sheet()

    for card in (card for card in MEASURES.cards() if card.default):
        assert f"<measures/{card.name}>`" in text
    rows = {row[0].split("<measures/")[1].split(">")[0]: row[2] for row in SHEETS._measure_rows()}
    assert float(rows["trustworthiness"]) == pytest.approx(0.503, abs=5e-4)
    assert (rows["triplet_accuracy"], rows["procrustes_rc"]) == ("0.5", "\u2248")


def _vignette(folder: Path, name: str, line: str = "", body: str = "# Title\n\nFirst. Second? Third.\n") -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"---\njupytext:\n  x: y\n{line}---\n\n{body}")
    return path


def test_vignettes_are_ordered_by_their_line(tmp_path: Path) -> None:
    """The section of a vignette is in its front matter; the default is evaluate, or papers in the folder `papers`."""
    _vignette(tmp_path, "b.md", "dreval: {section: data, order: 1}\n")
    _vignette(tmp_path, "a.md", "dreval: {section: data, order: 2}\n")
    _vignette(tmp_path, "c.md")
    _vignette(tmp_path, "papers/d.md")
    _vignette(tmp_path, "_site/e.md")
    (tmp_path / "index.md").write_text("# No notebook\n")

    names = {section: [text.name for text in SECTIONS.vignettes(tmp_path, section)] for section in SECTIONS.SECTIONS}

    result = {section: section_names for section, section_names in names.items() if section_names}
    assert result == {"data": ["b", "a"], "evaluate": ["c"], "papers": ["papers/d"]}


def test_vignette_gives_its_title_and_first_sentences(tmp_path: Path) -> None:
    """Headings in code are not titles, and a list shows two sentences."""
    body = "```{code-cell} python\n# a comment\n```\n\n# The title\n\nOne is\nfirst. Is two second? Three.\n"

    result = SECTIONS.read_vignette(_vignette(tmp_path, "a.md", body=body), tmp_path)

    assert (result.title, result.opening) == ("The title", "One is first. Is two second?")


def test_unknown_section_raises_an_error(tmp_path: Path) -> None:
    """The error for a wrong word in the front matter names the valid ones."""
    path = _vignette(tmp_path, "a.md", "dreval: {section: tasks}\n")

    with pytest.raises(ValueError, match=r"must be one of start, coming, evaluate, .*, papers: got 'tasks'"):
        SECTIONS.read_vignette(path, tmp_path)


def test_sections_of_the_vignettes_have_no_ties() -> None:
    """Every vignette has a section, and no two of a section have the same order."""
    for section in SECTIONS.SECTIONS:
        orders = [text.order for text in SECTIONS.vignettes(VIGNETTES, section)]
        assert orders
        assert len(set(orders)) == len(orders)
        assert max(orders) < SECTIONS.LAST


def test_broken_links_are_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Links to missing files and anchors and to files outside are reported; valid and external links are not."""
    check = site_module("check_links")
    (tmp_path / "sub").mkdir()
    (tmp_path / "_static").mkdir()
    (tmp_path / "_static" / "template.html").write_text('<a href="{{ x }}">x</a>')
    (tmp_path / "index.html").write_text(
        '<h1 id="a">x</h1><a href="#a">1</a><a href="sub/b.html#c%20d">2</a><a href="https://x.org/y">3</a>'
        '<a href="sub/">no index</a><a href="#b">no place</a><img src="gone.png" alt="A map">'
        '<a href="../outside.html">out</a>'
    )
    (tmp_path / "sub" / "b.html").write_text('<p id="c d"></p><a href="../index.html">up</a>')
    (tmp_path.parent / "outside.html").write_text("")

    assert check.main(str(tmp_path)) == 1
    assert capsys.readouterr().out.splitlines() == [
        "index.html: sub/ leads to no file",
        "index.html: #b leads to no place on its page",
        "index.html: gone.png leads to no file",
        "index.html: ../outside.html leads to no file",
    ]


def test_undescribed_figures_are_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A figure without words, or with its file name only, is reported; one that is hidden from readers is not."""
    check = site_module("check_links")
    (tmp_path / "map.png").write_text("")
    (tmp_path / "index.html").write_text(
        '<img src="map.png" alt="A map"><svg role="img" aria-label="Points"></svg><svg aria-hidden="true"></svg>'
        '<img src="map.png"><img src="map.png" alt=" "><img src="map.png" alt="_images/map.png"><svg class="map"></svg>'
    )

    assert check.main(str(tmp_path)) == 1
    reported = capsys.readouterr().out.splitlines()
    sentence = "has no words for readers who cannot see it"
    assert reported == [f"index.html: {name} {sentence}" for name in ("map.png", "map.png", "map.png", "map")]


@each("path", sorted(VIGNETTES.rglob("*.md")))
def test_images_of_pages_have_words(path: Path) -> None:
    """An image that a page includes has a description, in Markdown and in a directive."""
    text = path.read_text("utf-8")

    assert re.findall(r"!\[\s*\]\(", text) == []
    for block in re.findall(r"^(`{3,}|:{3,})\{(?:image|figure)\}(.*?)^\1$", text, flags=re.DOTALL | re.MULTILINE):
        assert re.search(r"^:alt: .{20,}", block[1], flags=re.MULTILINE), f"{path.name}: {block[1].split()[0]}"


def test_list_of_pages_has_every_page_of_the_site() -> None:
    """llms.txt links to each vignette and to the page of each measure, method and test, with words about it."""
    text = SEARCH.llms_text(VIGNETTES)
    links = dict(re.findall(r"^- \[.+\]\((\S+)\.html\): (.+)$", text, flags=re.MULTILINE))

    names = {page.name for section in SECTIONS.SECTIONS for page in SECTIONS.vignettes(VIGNETTES, section)}
    names |= {f"reference/measures/{card.name}" for card in MEASURES.cards()}
    names |= {f"reference/methods/{card.name}" for card in METHODS.cards()}
    names |= {f"reference/tests/{name}" for name in TESTS.public_names()}
    assert set(links) == names
    assert text.startswith("# dreval\n\n> ")
    assert min(map(len, links.values())) > 3


@each("page, words", SEARCH.WORDS.items())
def test_search_words_are_those_that_a_page_lacks(page: str, words: str) -> None:
    """Each page exists, and does not have the words that the search takes for it in addition."""
    text = (VIGNETTES / f"{page}.md").read_text("utf-8").lower()

    assert [word for word in words.split() if re.search(rf"\b{word}\b", text)] == []
    assert SEARCH.search_words(page) == words.split()


def test_pages_are_found_by_names_of_other_programs() -> None:
    """An alias that the package understands finds the page of what it means, as a whole and by its words."""
    assert SEARCH.search_words("reference/methods/laplacian_eigenmaps")[0] == "spectral_embedding"
    assert "spectral" in SEARCH.search_words("reference/methods/laplacian_eigenmaps")
    assert SEARCH.search_words("reference/tests/cca_test")[0] == "canonical_correlation"
    assert SEARCH.search_words("index") == []


def test_site_without_pages_is_not_a_success(tmp_path: Path) -> None:
    """The check of an empty folder fails although it has no broken link."""
    assert site_module("check_links").main(str(tmp_path)) == 1


def leaf_classes(parent: type) -> set[type]:
    """Return the classes below a class that have no further ones below them."""
    children = parent.__subclasses__()
    return set.union(*(leaf_classes(child) or {child} for child in children)) if children else set()


def test_every_record_has_a_page() -> None:
    """All records that functions return have a page among the records, or are public names with a page."""
    for module in pkgutil.walk_packages(dreval.__path__, "dreval."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    reference = site_module("_reference")
    public = {thing for _, thing in reference.public_things().values() if isinstance(thing, type)}

    names = {f"{record.__module__}.{record.__name__}" for record in leaf_classes(Record) - public}

    assert {name for name in names if name.startswith("dreval.")} <= set(reference.RECORDS)
    assert len(names) > 20
