"""Text reports have their figures in a folder next to them."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from report_cases import simulated_results

from dreval.errors import InputError


def test_figures_of_a_markdown_text_are_in_a_folder_next_to_it(tmp_path: Path) -> None:
    """Each image of the text is a file of the folder, with a description."""
    text = simulated_results(("tsne", "pca"), ks=(5, 15)).report(tmp_path / "r.md").read_text("utf-8")
    images = re.findall(r"^!\[([^\]]+)\]\((r-figures/[^)]+\.svg)\)$", text, re.M)

    assert [Path(path).stem.partition("-")[0] for _, path in images][:2] == ["embedding", "map"]
    assert {path for _, path in images} == {f"r-figures/{file.name}" for file in (tmp_path / "r-figures").iterdir()}
    for description, path in images:
        assert len(description) > 20
        assert ET.parse(tmp_path / path).getroot().tag.endswith("svg")


def test_a_file_with_the_name_of_the_folder_raises_an_error(tmp_path: Path) -> None:
    """The report overwrites no file, and writes none before the error."""
    (tmp_path / "r-figures").write_text("mine")
    with pytest.raises(InputError, match="must leave a folder for figures: got the file"):
        simulated_results(("a",)).report(tmp_path / "r.md")

    assert [path.name for path in tmp_path.iterdir()] == ["r-figures"]


def test_a_page_has_no_folder(tmp_path: Path) -> None:
    """A page contains its figures."""
    simulated_results(("a",)).report(tmp_path / "r.html")

    assert [path.name for path in tmp_path.iterdir()] == ["r.html"]
