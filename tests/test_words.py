"""The terms of the package, its pages and its small files are those of the field; codespell checks the spelling."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SUFFIXES = {".py", ".pyi", ".md", ".rst", ".toml", ".css", ".js", ".html", ".j2", ".R", ".sh", ".txt", ".yml", ".cff"}
CHECKED = (
    "dreval",
    "vignettes",
    "data",
    ".github",
    "README.md",
    "NEWS.md",
    "SECURITY.md",
    "CONTRIBUTING.md",
    "CITATION.cff",
    "Makefile",
)

# Terms that the field does not use, each with the usual term. "_" matches spaces, line ends or underscores.
TERMS = {
    r"pictur(?:e|es|ed)": "embedding, or figure",
    r"anew": "re-run, resampled, repeated",
    r"by_chance": "chance level, null mean, value of a random embedding",
    r"t(?:old|ell|ells|elling)_apart": "significantly different, distinguishable",
    r"nought": "zero, nothing",
    r"ordered_by_(?:index|measure)": "ties are broken by row number",
    r"beside": "next to",
    r"speaks?_of": "refers to",
    r"told_from": "distinguished from",
    r"c(?:ome|omes|ame|oming)_out_again": "is reproducible",
}
# Elements of HTML, comments that mark a table of a page, and codes of notes.
ALLOWED = {
    "README.md": ["<picture>", "</picture>"],
    "vignettes/other-tools.md": ["<!-- beside: begin -->", "<!-- beside: end -->"],
    "dreval/records/notes.toml": ["rows.ids_beside"],
    "dreval/inputs/variables.py": ["rows.ids_beside"],
}
# Names that keywords, columns and functions had before.
FORMER_NAMES = (
    r"\bstore=(?!=)",
    r"(?<![\w-])--store\b",
    r"\bn_folds\b",
    r"\bn_repeats\b",
    r"\bnull_mean\b",
    r"\blist_scores\b",
    r"\bnoise_test\([^()]*\bstatistic=",
    r"\bperplexity_curve\([^()]*\bn_seeds=",
    r"[\"'`]advantage[\"'`]",
)
KNOWING_FORMER_NAMES = (
    "dreval/_check.py",
    "tests/contract/test_keywords.py",
    "tests/test_public_names.py",
    "tests/test_words.py",
    "tests/validation/published/",  # scripts with a --store of their own
)
REPORTS = "dreval/report/"  # sentences of reports are tested as a whole, by kind of document

# Participles and pronouns that do not say what a variable holds: names of variables, arguments and functions.
VAGUE_NAMES = [
    "again",
    "asked",
    "beside",
    "cure",
    "every",
    "found",
    "got",
    "here",
    "judged",
    "kept",
    "known",
    "look",
    "made",
    "mine",
    "more",
    "one",
    "own",
    "rest",
    "room",
    "said",
    "seen",
    "shown",
    "some",
    "taken",
    "theirs",
    "there",
    "told",
    "wanted",
    "way",
]
# Names of public functions that other files call.
ALLOWED_NAMES = {"vignettes/defects.py": ["judged"]}  # called in tests/validation/calibration/test_defects.py


def _pattern(term: str) -> re.Pattern[str]:
    """Return the pattern of a term as whole words in text, names and strings split over lines."""
    spaced = term.replace("_", r"[\W_]+")
    return re.compile(rf"(?<![A-Za-z])(?:{spaced})(?![a-z])", flags=re.IGNORECASE)


def findings(text: str, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield each term that is not allowed at this path, and a sentence with its line and the usual term."""
    lines = text.splitlines()
    for term, usual in TERMS.items():
        for match in _pattern(term).finditer(text):
            number = text.count("\n", 0, match.start())
            if not any(part in lines[number] for part in ALLOWED.get(path, ())):
                yield match[0], f"{path}:{number + 1}: {match[0]!r} -> {usual}: {lines[number].strip()[:100]}"


def texts() -> dict[str, str]:
    """Return the text of all files of the package, of its pages and of the top folder, by path."""
    files = [path for name in CHECKED for path in (ROOT / name, *(ROOT / name).rglob("*")) if path.is_file()]
    reference = ROOT / "vignettes" / "reference"  # written from docstrings
    return {
        path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
        for path in sorted(files)
        if (path.suffix in SUFFIXES or path.name == "Makefile")
        and not path.is_relative_to(reference)
        and "_tables" not in path.parts
    }


def assigned_names(text: str) -> Iterator[tuple[str, int]]:
    """Yield the names of variables, arguments, functions and classes that Python code defines, with their lines."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, node.lineno


def vague_names(text: str) -> list[tuple[str, int]]:
    """Return the assigned names that do not say what they hold, with their lines."""
    return [(name, line) for name, line in assigned_names(text) if name.strip("_").lower() in VAGUE_NAMES]


def test_package_and_pages_use_standard_terms() -> None:
    """No file has a term of the list, except in the allowed lines and in sentences of reports."""
    sentences = [
        sentence
        for path, text in texts().items()
        if not path.startswith(REPORTS)
        for _, sentence in findings(text, path)
    ]

    assert sentences == [], "\n".join(sentences)


@pytest.mark.slow
def test_names_say_what_they_hold() -> None:
    """No variable, argument, function or class of the package, its tests or its pages has a name of the list."""
    paths = [path for folder in ("dreval", "tests", "vignettes") for path in ROOT.glob(f"{folder}/**/*.py")]
    files = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in sorted(paths)}
    vague = {path: vague_names(text) for path, text in files.items()}

    assert [
        f"{path}:{line}: {name}"
        for path, names in vague.items()
        for name, line in names
        if name not in ALLOWED_NAMES.get(path, ())
    ] == []


def test_a_vague_name_is_found() -> None:
    """Names are found in assignments, arguments, loops, comprehensions and definitions, and not as attributes."""
    text = "def found(told, *, seen=1):\n    own = [one for one in seen.mine]\n    x.made = 2\n"

    assert {name for name, _ in vague_names(text)} == {"found", "told", "seen", "own", "one"}


def test_every_exception_is_used() -> None:
    """Each allowed part of a line occurs in its file."""
    files = texts()

    assert [(path, part) for path, parts in ALLOWED.items() for part in parts if part not in files[path]] == []
    names = {path: {name for name, _ in vague_names(files[path])} for path in ALLOWED_NAMES}
    assert names == {path: set(allowed) for path, allowed in ALLOWED_NAMES.items()}


def test_former_names_are_not_used() -> None:
    """No page, function, column or command has a former name of a keyword, and only the hints for guesses know it."""
    pattern = re.compile("|".join(FORMER_NAMES))
    tests = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in (ROOT / "tests").rglob("*.py")}
    files = {path: text for path, text in (texts() | tests).items() if not path.startswith(KNOWING_FORMER_NAMES)}

    assert [f"{path}: {match[0]}" for path, text in files.items() for match in pattern.finditer(text)] == []


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("a picture, two PICTURES, pictured, make_picture", ["picture", "PICTURES", "pictured", "picture"]),
        ("drawn anew; renewed; a new one", ["anew"]),
        ("value by\n    # chance, by_chance, 'by ' 'chance'", ["by\n    # chance", "by_chance", "by ' 'chance"]),
        ("told apart; tells apart; took apart", ["told apart", "tells apart"]),
        ("nought; ordered by index", ["nought", "ordered by index"]),
    ],
)
def test_terms_are_found_as_whole_words(text: str, terms: list[str]) -> None:
    """A term is found in any case, in names and over line ends; longer words that contain it are not."""
    assert sorted(term for term, _ in findings(text)) == sorted(terms)


def test_an_exception_holds_in_its_file_only() -> None:
    """An element of HTML is allowed in the README, and its word is not."""
    assert list(findings("<picture>", "README.md")) == []
    assert len(list(findings("<picture>", "dreval/other.py"))) == 1
    assert len(list(findings("a picture", "README.md"))) == 1


def test_all_of_the_package_is_read() -> None:
    """Code, pages, styles and the files of the top folder are among the texts."""
    files = texts()

    assert {"README.md", "NEWS.md", "CONTRIBUTING.md", "dreval/__init__.py", "vignettes/dreval.md"} <= set(files)
    assert {Path(path).suffix for path in files} >= {".py", ".md", ".css"}
    assert len(files) > 200
