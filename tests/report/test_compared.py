"""The report of a comparison says in every form what the comparison says."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from dreval.errors import InputError
from dreval.report.contents.paragraph import measure_paragraph

NASTY = "<b>&\"' long $name_of$ an embedding"


class Tags(HTMLParser):
    """Tags must close in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, _: Any) -> None:
        self.open += [] if tag in ("meta", "wbr") else [tag]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.mark.parametrize("kind", [pytest.param("within", marks=pytest.mark.slow), "across"])
def test_every_form_has_words_numbers_and_figures(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """The paragraph, every number of the tables, the call and the figures; names are no markup."""
    found = request.getfixturevalue(kind)
    forms = {suffix: found.report(tmp_path / f"r{suffix}").read_text("utf-8") for suffix in (".html", ".md", ".tex")}
    tables = "".join(path.read_text("utf-8") for path in (tmp_path / "r-figures").glob("*.tex"))
    numbers = re.findall(r"\d\.\d{4}\b", found.summary().as_text())
    values = found.pairs["advantage"].dropna()
    page = Tags()
    page.feed(forms[".html"])

    assert page.open == []
    assert NASTY in "".join(page.texts)
    assert "<b>&" not in forms[".html"]
    for number in numbers:
        assert number in forms[".md"]
        assert number in tables
    assert len(values) > 0
    for value in values:
        assert f"{abs(value):.3g}" in forms[".html"]
    assert forms[".html"].count("<svg") > 0
    assert forms[".md"].count("![") == forms[".tex"].count(r"\includegraphics") > 0
    assert measure_paragraph(found, found.measures[0], "latex") in forms[".tex"]
    assert measure_paragraph(found, found.measures[0], "markdown") in forms[".md"]


def test_a_title_can_be_given_and_wrong_places_are_refused(within: Any, tmp_path: Path) -> None:
    """As for the other reports."""
    assert within.report(tmp_path / "r.md", title="Mine").read_text("utf-8").startswith("# Mine\n")
    with pytest.raises(InputError, match=r"must end in \.html, \.md or \.tex"):
        within.report(tmp_path / "r.pdf")
