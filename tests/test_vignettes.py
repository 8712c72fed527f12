"""The texts: vignettes are built, the demo and the examples of the README run, and links have targets.

The vignettes themselves are executed by ``make site``, and there only; ``pytest -m vignettes`` does it without sphinx.
"""

from __future__ import annotations

import ast
import importlib
import re
import runpy
from pathlib import Path
from typing import Any

import pytest
from each import each
from page_tables import BEGIN, END, OTHER_TOOLS, README, comparison_table

SOURCES = README.parent / "vignettes"
VIGNETTES = [path for path in sorted(SOURCES.rglob("*.md")) if path.read_text("utf-8").startswith("---\njupytext:")]
PAGES = [README, *VIGNETTES, *(path for path in SOURCES.glob("*.md") if path not in VIGNETTES)]
LAST_SECTION = "Conclusions that do not follow"
# Imports without a link: these pages show other calls of the same code, or draw what a stored run left.
NOT_LINKED = {"data-formats": {"shell.py"}, "gate": {"shell.py"}, "benchmark": {"benchmark.py"}}
PUBLIC = {"dreval", "dreval.datasets", "dreval.errors", "dreval.measures", "dreval.methods", "dreval.testing"}
TASK_SECTIONS = ("evaluate", "reliability", "tests", "data")
USER_PAGES = [path for path in VIGNETTES if path.stem != "extending" and not path.stem.startswith("papers")]
TASK_PAGES = [
    path
    for path in VIGNETTES
    if re.search(rf"^dreval: .section: ({'|'.join(TASK_SECTIONS)}),", path.read_text("utf-8"), re.M)
]


def cells(text: str) -> list[str]:
    """Return the code of a text in order: MyST cells, or plain blocks of Python."""
    return re.findall(
        r"^```(?:\{code-cell\} )?python\n(?::\w+:[^\n]*\n)*(.*?)^```", text, flags=re.DOTALL | re.MULTILINE
    )


def prose(text: str) -> str:
    """Return the text without its blocks of code."""
    return re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)


def run_cells(path: Path, text: str) -> None:
    """Run all cells in one namespace, as a reader would; an error names the text and the cell."""
    namespace: dict[str, Any] = {"__name__": "__vignette__"}
    for number, cell in enumerate(cells(text), 1):
        exec(compile(cell, f"{path.name}, cell {number}", "exec"), namespace)


@pytest.mark.vignettes
@pytest.mark.parametrize("path", VIGNETTES, ids=lambda path: path.stem)
def test_vignettes_run_from_top_to_bottom(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A vignette has code, which runs without a warning, prints, and gives each number in a sentence."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(SOURCES))  # where the site runs them
    text, names = path.read_text("utf-8"), []
    monkeypatch.setattr(importlib.import_module("prose"), "number", lambda name, *_: names.append(name))

    run_cells(path, text)

    assert ("print(" in text) <= bool(capsys.readouterr().out)
    assert len(set(names)) == len(names)
    assert set(re.findall(r"\{glue:text\}`([^`]+)`", prose(text))) <= set(names)


@each("path", VIGNETTES)
def test_vignettes_are_text_without_stored_output(path: Path) -> None:
    """A vignette has one title and code, and stores no output or embedding."""
    text = path.read_text("utf-8")

    assert len(re.findall(r"^# ", prose(text), flags=re.MULTILINE)) == 1
    assert len(cells(text)) > 2
    assert "base64," not in text
    assert "```{code-cell} python\n```" not in text


@each("path", VIGNETTES)
def test_vignettes_end_with_conclusions_that_do_not_follow(path: Path) -> None:
    """The last section of a vignette lists conclusions that do not follow, in more than a line."""
    sections = re.split(r"^## ", prose(path.read_text("utf-8")), flags=re.MULTILINE)

    title, _, body = sections[-1].partition("\n")
    assert title == LAST_SECTION
    assert len(body.split()) > 20


@each("path", VIGNETTES)
def test_no_sentence_of_a_page_is_a_comment(path: Path) -> None:
    """A line of prose that begins with a percent sign would be missing on the site: MyST takes it for a comment."""
    assert re.findall(r"^ *%.*", prose(path.read_text("utf-8")), flags=re.MULTILINE) == []


@each("path", VIGNETTES)
def test_files_that_a_page_imports_are_linked_on_it(path: Path) -> None:
    """Who copies the code of a page can save what it imports from the folder of the pages."""
    text = path.read_text("utf-8")
    visible = re.sub(
        r"^```\{code-cell\} python\n:tags: \[remove-cell\]\n.*?^```", "", text, flags=re.DOTALL | re.MULTILINE
    )
    files = {f"{name}.py" for cell in cells(visible) for name in imported_modules(cell)}
    local = {name for name in files if (SOURCES / name).is_file()}

    assert {name for name in local if f"]({name})" not in text} <= NOT_LINKED.get(path.stem, set())


def imported_modules(code: str) -> set[str]:
    """Return the modules from which Python code imports."""
    nodes = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Import | ast.ImportFrom)]
    return {
        name
        for node in nodes
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])
    }


@each("path", USER_PAGES)
def test_user_pages_import_nothing_private(path: Path) -> None:
    """Pages for users need public modules of the package only, and do not wrap what it prints."""
    modules = {name for cell in cells(path.read_text("utf-8")) for name in imported_modules(cell)}

    assert {name for name in modules if name.split(".")[0] == "dreval"} <= PUBLIC
    assert "textwrap" not in modules


def test_private_imports_are_found() -> None:
    """Imports are found in all forms, also within functions."""
    code = "import dreval.cli._main\ndef f():\n    from dreval.geometry import graphs\n    import textwrap as t\n"

    assert imported_modules(code) == {"dreval.cli._main", "dreval.geometry", "textwrap"}


@each("path", PAGES)
def test_links_between_texts_lead_to_files(path: Path) -> None:
    """Every relative link of a text leads to a file of the repository, or to a page that the site makes."""
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", prose(path.read_text("utf-8")))
    inside = [link for link in links if "://" not in link and not link.startswith("mailto:")]

    assert [link for link in inside if not link.startswith("reference/") and not (path.parent / link).is_file()] == []


@pytest.mark.slow
def test_demo_leaves_its_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The demo prints the summary of three embeddings and the path of its report."""
    demo = runpy.run_path(str(README.parent / "vignettes" / "demo.py"))

    path = demo["main"](str(tmp_path))
    text = capsys.readouterr().out

    assert path.parent == tmp_path.resolve()
    assert path.stat().st_size > 10_000
    assert str(path) in text
    assert all(name in text for name in demo["METHODS"])


def test_readme_example_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The Python of the README runs from top to bottom, and prints the output in the README."""
    monkeypatch.chdir(tmp_path)
    text = README.read_text("utf-8")

    assert cells(text)
    run_cells(README, text)
    message = re.split(r"which prints\n", text)[1].split("An embedding is")[0]
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    printed_lines = {line.strip() for line in capsys.readouterr().out.splitlines()}
    assert len(lines) > 8
    assert [line for line in lines if line not in printed_lines] == []


def test_readme_is_short_and_shows_what_it_says() -> None:
    """The README has at most 500 words, opens with its question, and its figure is there on light and dark paper."""
    text = README.read_text("utf-8")
    images = re.findall(r'(?:src|srcset)="([^"]+)"', text)

    assert len(text.split()) <= 500
    assert text.split("\n\n")[1].startswith("**Is your UMAP or t-SNE map faithful, or just pretty?**")
    assert [Path(image).name for image in images] == ["maps-dark.svg", "maps-light.svg"]
    [words] = re.findall(r'<img alt="([^"]*)"', text)
    for image in images:
        svg = (README.parent / image).read_text("utf-8")
        assert 5_000 < len(svg) < 30_000
        assert [number for number in re.findall(r"\d+ %", words) if number not in svg] == []


def test_first_page_of_the_site_shows_the_figure_of_the_readme() -> None:
    """The first image of the site, on light and on dark paper, is that of the README, with the same words."""
    [words] = re.findall(r'<img alt="([^"]*)"', README.read_text("utf-8"))
    images = re.findall(
        r"^```\{image\} (\S+)\n:alt: (.*)\n:class: (\S+) ", (SOURCES / "index.md").read_text("utf-8"), flags=re.M
    )

    assert images[:2] == [(f"_static/maps-{paper}.svg", words, f"only-{paper}") for paper in ("light", "dark")]


def test_counts_of_other_tools_are_those_of_their_page() -> None:
    """The counts are those of ``python tests/page_tables.py``."""
    assert f"{BEGIN}{comparison_table()}{END}" in OTHER_TOOLS.read_text("utf-8")


@each("path", TASK_PAGES)
def test_task_pages_name_a_call_in_their_first_screen(path: Path) -> None:
    """A page that answers a question says within its first 170 words which call or argument does."""
    text = path.read_text("utf-8")
    words = text[text.index("\n# ") :].split()[:170]

    assert re.search(r"dreval(?:\.| )\w+|`[\w.]+[(=]", " ".join(words)), path.name
