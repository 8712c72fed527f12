"""Cited works: each is stored once, cited by its key, and valid for BibTeX and LaTeX."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from dataclasses import replace
from pathlib import Path

import latexcodec  # noqa: F401 - registers a codec, by which letters are read back
import pytest
from each import each
from pybtex.database import parse_string

import dreval
from dreval.errors import DrevalError
from dreval.methods._costs import COSTS
from dreval.methods._mappings import MAPPINGS
from dreval.references import INFERENCE, Citation, Reference, bibliography, reference, works
from dreval.registry import ANALYSES, DATASETS, MEASURES, METHODS, TESTS

FILE = Path(dreval.references.__file__).with_name("works.toml")
PLACES = {
    "article": "journal",
    "inproceedings": "booktitle",
    "book": "publisher",
    "phdthesis": "school",
    "mastersthesis": "school",
    "techreport": "institution",
    "misc": "howpublished",
}
each_work = each("key", list(works()))


def test_the_file_is_sorted_and_names_every_work_once() -> None:
    """Keys in alphabetical order, no two with the same title or DOI."""
    works = tomllib.loads(FILE.read_text(encoding="utf-8"))
    titles = Counter(fields["title"].lower() for fields in works.values())
    dois = Counter(fields["doi"].lower() for fields in works.values() if "doi" in fields)

    assert list(works) == sorted(works)
    assert {count for counter in (titles, dois) for count in counter.values()} == {1}


def test_every_card_of_the_package_cites_its_works_by_key() -> None:
    """All entries not defined in dreval cite a work; every work is cited by a card or a method of inference."""
    cards = [card for registry in (MEASURES, TESTS, METHODS, DATASETS, ANALYSES) for card in registry.cards()]
    component_cards = [entry.card for entry in (*COSTS.values(), *MAPPINGS.values())]
    ours = [card.name for card in (*cards, *component_cards) if not card.works]

    cited = {key for card in (*cards, *component_cards) for key in card.works} | {
        key for keys in INFERENCE.values() for key in keys
    }

    assert set(works()) == cited
    assert [card.reference.split()[0] for card in cards if card.name in ours] == ["none:"] * len(ours)


@each_work
def test_a_work_has_the_fields_of_its_kind(key: str) -> None:
    """Authors as family and initials, a year that the key repeats, and the place where the work appeared."""
    work = reference(key)

    assert getattr(work, PLACES[work.kind])
    assert all(re.fullmatch(r"[^,]+, ([^\W\d_]\.[- ]?)+", author) for author in work.authors)
    assert 1900 < work.year < 2030
    assert str(work.year) in key
    assert re.fullmatch(r"10\.\d{4,}/[^\s_&%#{}\\]+", work.doi) or not work.doi
    assert not work.title.endswith(".")


@each_work
def test_a_parser_reads_the_entries(key: str) -> None:
    """Another library reads the same authors, title, year and venue from an ASCII entry with closed braces."""
    work = reference(key)
    written = work.bibtex()
    entry = parse_string(written, "bibtex").entries[key]
    people = [str(person) for person in entry.persons["author"]]
    fields = {name: _plain_text(text) for name, text in entry.fields.items()}

    assert written.isascii()
    assert [_plain_text(name) for name in people] == list(work.authors)
    assert fields["title"] == work.title
    assert fields["year"] == str(work.year)
    assert fields[PLACES[work.kind]] == getattr(work, PLACES[work.kind])
    assert entry.fields.get("pages", "").replace("--", "-") == work.pages
    assert entry.fields.get("doi", "") == work.doi


def _plain_text(text: str) -> str:
    """Commands of LaTeX become letters."""
    return re.sub(r"[{}]", "", text.encode().decode("latex+utf-8"))


def test_capitals_are_preserved_and_signs_are_escaped() -> None:
    """Words with capitals are in braces, except at the beginning of a title; LaTeX's special characters are escaped."""
    work = Reference("a2000", "article", ("Łoś, Ł.", "van der Ø, ß."), 2000, "The ROC & 50% of t-SNE", journal="A_B #1")

    assert work.bibtex().splitlines()[1:4] == [
        r"  author = {{\L}o{\'s}, {\L}. and van der {\O}, {\ss}.},",
        r"  title = {The {ROC} \& 50\% of {t-SNE}},",
        r"  journal = {A\_B \#1},",
    ]


def test_a_list_of_works_is_sorted_and_has_each_once() -> None:
    """The order of the works does not matter."""
    citations = [reference(key) for key in ("venna2001", "bach2002", "venna2001")]

    assert re.findall(r"@\w+\{(\w+),", bibliography(citations)) == ["bach2002", "venna2001"]


def test_names_in_a_sentence() -> None:
    """One, two or more authors; a particle stays with the family name."""
    assert reference("demsar2006").names == "Demšar"
    assert reference("vandermaaten2008").names == "van der Maaten and Hinton"
    assert reference("tenenbaum2000").names == "Tenenbaum et al."


def test_texts_that_cite_have_their_works() -> None:
    """Each key is written out once; other text is unchanged, also if a card is copied."""
    card = dreval.card("trustworthiness")
    text = Citation("@sammon1969, Eq. 1; @sammon1969, Eq. 2. a@b.org")

    assert text.works == ("sammon1969",)
    assert text.count("Sammon, J. W. (1969)") == 2
    assert text.endswith("a@b.org")
    assert Citation("Voorhees (1999)").works == ()
    assert replace(card, title="T").works == card.works == ("venna2001", "venna2007")


def test_an_unknown_key_names_the_nearest() -> None:
    """The error is one of the package."""
    with pytest.raises(DrevalError, match="venna2001"):
        Citation("@venna2002, Eq. 1")
