"""The words of the package, its pages and its small files: standard terms, in US spelling."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
SUFFIXES = {".py", ".pyi", ".md", ".rst", ".toml", ".css", ".js", ".html", ".j2", ".R", ".sh", ".txt", ".yml", ".cff"}
PLACES = (
    "dreval",
    "vignettes",
    "data",
    ".github",
    "README.md",
    "NEWS.md",
    "CONTRIBUTING.md",
    "CITATION.cff",
    "Makefile",
)

# Terms that the field does not use, each with the usual one. Words may be parted by spaces, line ends or underscores.
TERMS = {
    r"pictur(?:e|es|ed)": "embedding, or figure",
    r"anew": "re-run, resampled, repeated",
    r"by_chance": "chance level, null mean, value of a random embedding",
    r"t(?:old|ell|ells|elling)_apart": "significantly different, distinguishable",
    r"nought": "zero, nothing",
    r"ordered_by_(?:index|measure)": "ties are broken by row number",
}

# British spellings by family: stems, and the endings that make words of them.
ISE = (
    "categor central character critic diagonal discret emphas equal factor general harmon initial linear local "
    "marginal maxim memor minim normal optim organ orthogonal parametr parameter penal polar priorit quant random real "
    "recogn regular serial special stabil standard summar symmetr synchron token util vector visual"
)
OUR = "behavi col endeav fav flav harb hon hum lab neighb rum tum vap"
ELL = "cancel channel dial label level model signal total travel tunnel"
RE = "calib cent fib lit met spect theat"
FAMILIES = (
    rf"(?:{'|'.join(ISE.split())})is(?:e|ed|es|er|ers|ing|ation|ations|able)",
    rf"(?:mis)?(?:{'|'.join(OUR.split())})our(?:s|ed|ing|able|ably|ful|hoods?|ites?|less|maps?|bar)?",
    rf"(?:un)?(?:{'|'.join(ELL.split())})l(?:ed|ing|ings|er|ers)",
    rf"(?:{'|'.join(RE.split())})re(?:s|d)?|centring",
    r"(?:anal|catal|paral)ys(?:e|ed|es|er|ing)",
    r"gr(?:ey|eys|eyish|eyscale)|whilst|programmes?|judgements?|artefacts?|catalogues?|defence|licence|sceptical\w*",
)
BRITISH = "|".join(FAMILIES)


class Allowed(NamedTuple):
    """An occurrence that stays: a part of its line, and why."""

    part: str
    reason: str


ALLOWED: dict[str, list[Allowed]] = {
    "README.md": [Allowed("<picture>", "an element of HTML"), Allowed("</picture>", "its end")],
    "dreval/geometry/procrustes.py": [
        Allowed(
            'stream(root, "centres"', "the name seeds a random stream: another name would change published numbers"
        ),
    ],
    "dreval/references/works.toml": [Allowed("stochastic neighbour embedding", "the title of a published work")],
}


class Finding(NamedTuple):
    """A word that should be another one, and where it stands."""

    place: str
    line: int
    text: str
    word: str
    instead: str

    def __str__(self) -> str:
        return f"{self.place}:{self.line}: {self.word!r} -> {self.instead}: {self.text.strip()[:100]}"


def _pattern(term: str) -> re.Pattern[str]:
    """The term as whole words in text, names and strings that are parted by line ends."""
    parted = term.replace("_", r"[\W_]+")
    return re.compile(rf"(?<![A-Za-z])(?:{parted})(?![a-z])", flags=re.IGNORECASE)


RULES = [*((_pattern(term), instead) for term, instead in TERMS.items()), (_pattern(BRITISH), "US spelling")]


def findings(text: str, place: str = "") -> Iterator[Finding]:
    """Every occurrence of a word of the lists, but for those that are allowed at this place."""
    lines = text.splitlines()
    for pattern, instead in RULES:
        for found in pattern.finditer(text):
            number = text.count("\n", 0, found.start()) + 1
            line = lines[number - 1]
            if not any(allowed.part in line for allowed in ALLOWED.get(place, ())):
                yield Finding(place, number, line, found[0], instead)


def texts() -> dict[str, str]:
    """The files that are read, by their places: all text of the package, its pages and its small files."""
    files = [path for place in PLACES for path in (ROOT / place, *(ROOT / place).rglob("*")) if path.is_file()]
    files = [path for path in files if not path.is_relative_to(ROOT / "vignettes" / "reference")]  # made of docstrings
    kept = [
        path for path in files if (path.suffix in SUFFIXES or path.name == "Makefile") and "_tables" not in path.parts
    ]
    return {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in sorted(kept)}


def test_package_and_pages_use_standard_terms_and_us_spelling() -> None:
    """No file has a word of the lists, but for the allowed lines."""
    found = [finding for place, text in texts().items() for finding in findings(text, place)]

    assert found == [], "\n".join(map(str, found))


def test_every_allowed_line_is_still_there() -> None:
    """An exception that no line needs is removed."""
    read = texts()

    unused = [
        (place, entry.part) for place, found in ALLOWED.items() for entry in found if entry.part not in read[place]
    ]
    assert unused == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a picture, two PICTURES, pictured, make_picture", ["picture", "PICTURES", "pictured", "picture"]),
        ("drawn anew; renewed; a new one", ["anew"]),
        ("value by\n    # chance, by_chance, 'by ' 'chance'", ["by\n    # chance", "by_chance", "by ' 'chance"]),
        ("told apart; tells apart; took apart", ["told apart", "tells apart"]),
        ("nought; ordered by index", ["nought", "ordered by index"]),
        ("normalise visualisation optimiser Standardised", ["normalise", "visualisation", "optimiser", "Standardised"]),
        (
            "colour neighbourhoods behaviour favours tumours",
            ["colour", "neighbourhoods", "behaviour", "favours", "tumours"],
        ),
        ("labelled unlabelled modelling grey centre centred metres", 7),
        ("analyse analysed; an analysis, analyses", ["analyse", "analysed", "analyses"]),
        ("color neighborhood center optimize four hours our labels parametric raise precise normalized", []),
        ("a premise, a promise, exercise, likewise, otherwise; noise; series; more; entire; metric; central", []),
        ("level model total label cancel; leveled modeling; controlled, filled, called", []),
    ],
)
def test_the_lists_find_what_they_should(text: str, words: list[str] | int) -> None:
    """Words of the lists are found whole, in any case, in names and over line ends; words that look alike are not."""
    found = [finding.word for finding in findings(text)]

    if isinstance(words, int):
        assert len(found) == words
    else:
        assert sorted(found) == sorted(words)


def test_an_allowed_line_is_allowed_at_its_place_only() -> None:
    """The name of the random stream is allowed in its own file, and its word nowhere else."""
    place, entries = next(iter(ALLOWED.items()))

    assert list(findings(entries[0].part, place)) == []
    assert len(list(findings(entries[0].part, "dreval/other.py"))) == 1
    assert len(list(findings("the centre of a cluster", place))) == 1


def test_all_of_the_package_is_read() -> None:
    """Code, pages, templates and the files of the top level are among the texts."""
    read = texts()

    assert {"README.md", "NEWS.md", "CONTRIBUTING.md", "dreval/__init__.py", "vignettes/dreval.md"} <= set(read)
    assert {Path(place).suffix for place in read} >= {".py", ".md", ".css"}
    assert len(read) > 200
