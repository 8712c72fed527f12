"""The report of a comparison has the same content in every format."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dreval.errors import InputError
from dreval.report.documents.paragraph import measure_paragraph

NASTY = "<b>&\"' long $name_of$ an embedding"


class Tags(HTMLParser):
    """A parser that checks that tags close in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, _: Any) -> None:
        self.open += [] if tag in ("meta", "wbr", "br", "col", "input") else [tag]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [pytest.param("within", marks=pytest.mark.slow), "across"])
def test_every_format_has_text_numbers_and_figures(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """A report has the paragraph, every number of the tables and the figures; names have no effect as markup."""
    comparison = request.getfixturevalue(kind)
    formats = {suffix: comparison.report(tmp_path / f"r{suffix}").read_text("utf-8") for suffix in (".html", ".md")}
    latex = comparison.summary(full=True).as_latex()
    numbers = re.findall(r"\d\.\d{4}\b", comparison.summary(full=True).as_text())
    values = comparison.pairs["difference"].dropna()
    page = Tags()
    page.feed(formats[".html"])

    assert page.open == []
    assert NASTY in "".join(page.texts)
    assert "<b>&" not in formats[".html"]
    for number in numbers:
        assert number in formats[".md"]
        assert number in latex
    assert len(values) > 0
    sort_keys = re.findall(r'data-sort="(-?[\d.]+(?:e-?\d+)?)"', formats[".html"])
    sorted_by = np.abs([float(key) for key in sort_keys])
    for value in values:
        assert np.isclose(np.abs(sorted_by), abs(value), rtol=1e-9).any()
    assert formats[".html"].count("<svg") > 0
    assert formats[".md"].count("![") > 0
    assert measure_paragraph(comparison, comparison.measures[0], "markdown") in formats[".md"]


def test_a_title_is_used_and_wrong_paths_raise_an_error(within: Any, tmp_path: Path) -> None:
    """A title is the first heading, and an unknown suffix raises an error."""
    assert within.report(tmp_path / "r.md", title="Mine").read_text("utf-8").startswith("# Mine\n")
    with pytest.raises(InputError, match=r"must end in \.html or \.md"):
        within.report(tmp_path / "r.pdf")
