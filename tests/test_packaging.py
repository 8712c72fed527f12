"""Packaging: the conda recipe has the requirements of the package, and all files have the same version."""

from __future__ import annotations

import re
import tomllib

from page_tables import README

import dreval

ROOT = README.parent


def test_the_recipe_asks_for_the_same_versions() -> None:
    """Packages and lowest versions agree, except for conda's name of matplotlib without windows."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    recipe = (ROOT / ".github" / "recipe.yaml").read_text("utf-8")
    run = re.search(r"^  run:\n(.*?)\n\n", recipe, re.DOTALL | re.MULTILINE)[1]  # type: ignore[index]
    requested = [
        line.strip("- ").replace(" ", "").replace("matplotlib-base", "matplotlib") for line in run.splitlines()
    ]

    assert requested[0] == "python>=${{python_min}}"
    assert requested[1:] == project["dependencies"]
    assert [f"{name} = {place}" for name, place in project["scripts"].items()] == re.findall(
        r"entry_points:\n +- (.*)", recipe
    )


def test_one_version() -> None:
    """The package, its citation and the recipe name the same version."""
    recipe = (ROOT / ".github" / "recipe.yaml").read_text("utf-8")
    cited = (ROOT / "CITATION.cff").read_text("utf-8")

    assert re.search(r"^  version: (\S+)$", recipe, re.MULTILINE)[1] == dreval.__version__  # type: ignore[index]
    assert re.search(r"^version: (\S+)$", cited, re.MULTILINE)[1] == dreval.__version__  # type: ignore[index]


def test_news_are_files_of_a_known_kind() -> None:
    """Each file of news has a kind that towncrier collects and the README there explains, and whole sentences."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["towncrier"]
    kinds = {kind["directory"] for kind in settings["type"]}
    help_text = (ROOT / "vignettes" / "_news" / "README.md").read_text("utf-8")
    files = [path for path in (ROOT / "vignettes" / "_news").iterdir() if path.name != "README.md"]

    assert set(re.findall(r"vignettes/_news/\+short-name\.(\w+)\.md", help_text)) == kinds
    assert "<!-- towncrier release notes start -->" in (ROOT / "NEWS.md").read_text("utf-8")
    for path in files:
        assert re.fullmatch(rf"\+[a-z0-9-]+\.({'|'.join(kinds)})\.md", path.name), path.name
        assert path.read_text("utf-8").strip().endswith("."), path.name


def test_urls_of_the_project_are_addresses() -> None:
    """No address is a placeholder: there are none, or they are complete."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

    assert [url for url in project.get("urls", {}).values() if not re.match(r"https://\w[\w.-]+\.\w+/\S+", url)] == []
