"""The texts run: every cell of every vignette, the demo, and the examples of the README."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest
from readme_tables import MARKERS, README, replace_tables

VIGNETTES = sorted((README.parent / "vignettes").glob("*.md"))


def cells(text: str) -> list[str]:
    """Code of a text in the order of reading: MyST cells, or plain blocks of Python."""
    return re.findall(r"^```(?:\{code-cell\} )?python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


def run_cells(path: Path, text: str) -> None:
    """Run all cells in one namespace, as a reader would; an error names the text and the cell."""
    namespace: dict[str, Any] = {"__name__": "__vignette__"}
    for number, cell in enumerate(cells(text), 1):
        exec(compile(cell, f"{path.name}, cell {number}", "exec"), namespace)


@pytest.mark.parametrize("path", VIGNETTES, ids=lambda path: path.stem)
def test_vignettes_run_from_top_to_bottom(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A vignette has code, all of it runs without a warning, and what it says to be printed is printed."""
    monkeypatch.chdir(tmp_path)
    text = path.read_text("utf-8")

    run_cells(path, text)

    assert len(cells(text)) > 2
    assert ("print(" in text) <= bool(capsys.readouterr().out)


@pytest.mark.parametrize("path", VIGNETTES, ids=lambda path: path.stem)
def test_vignettes_are_text_without_stored_output(path: Path) -> None:
    """A vignette opens with the header that makes it a notebook, has one title, and stores no output or picture."""
    text = path.read_text("utf-8")
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)

    assert text.startswith("---\njupytext:")
    assert len(re.findall(r"^# ", prose, flags=re.MULTILINE)) == 1
    assert "base64," not in text
    assert "```{code-cell} python\n```" not in text


def test_demo_leaves_its_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The demo prints the summary of three embeddings and says where its report is."""
    demo = runpy.run_path(str(README.parent / "vignettes" / "demo.py"))

    path = demo["main"](str(tmp_path))
    said = capsys.readouterr().out

    assert path.parent == tmp_path.resolve()
    assert path.stat().st_size > 10_000
    assert str(path) in said
    assert all(name in said for name in demo["METHODS"])


def test_readme_example_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The Python of the README runs from top to bottom, and prints what the README says it prints."""
    monkeypatch.chdir(tmp_path)
    text = README.read_text("utf-8")

    assert cells(text)
    run_cells(README, text)
    said = re.split(r"which prints, among others,\n", text)[1].split("The very first run")[0]
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    printed = {line.strip() for line in capsys.readouterr().out.splitlines()}
    assert len(lines) > 8
    assert [line for line in lines if line not in printed] == []


def test_readme_tables_are_those_of_the_registries() -> None:
    """The reference tables of the README are what the cards say (``python tests/readme_tables.py`` writes them)."""
    text = README.read_text("utf-8")

    assert all(f"<!-- {kind}: begin -->" in text for kind in MARKERS)
    assert replace_tables(text) == text
