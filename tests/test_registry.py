"""The registry: a folder is the list, nothing is imported before it is asked for, a wrong name gets the nearest one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from each import each

from dreval import registry
from dreval._check import MANY_NAMES
from dreval.errors import UnknownName
from dreval.registry import DATASETS, MEASURES, METHODS, TESTS, Registry


def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], package: str) -> Registry:
    """A registry over a folder with these files."""
    folder = tmp_path / package
    folder.mkdir()
    for name, text in {"__init__": "", **files}.items():
        (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    return Registry(package, "thing", suffix="_x")


CARDED = "class Thing:\n    card = 'card of {0}'\n"


def test_a_file_is_a_thing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files without a leading underscore are the names, sorted; dropping one in is all it takes."""
    files = {"beta": CARDED.format("beta"), "alpha": CARDED.format("alpha"), "_private": "raise ValueError"}
    shelf = make(tmp_path, monkeypatch, files, "shelf_one")

    assert shelf.names() == list(shelf) == ["alpha", "beta"]
    assert shelf.public_names() == ["alpha_x", "beta_x"]
    assert shelf.cards() == ["card of alpha", "card of beta"]
    assert shelf.card("beta") == "card of beta"
    assert shelf.get("alpha").__module__ == "shelf_one.alpha"
    assert "alpha" in shelf
    assert "_private" not in shelf
    assert 3 not in shelf


def test_nothing_is_imported_for_a_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names come from the folder: a file that cannot be imported is still a name, and fails only when asked for."""
    shelf = make(tmp_path, monkeypatch, {"broken": "raise ValueError('broken')"}, "shelf_two")

    assert shelf.names() == ["broken"]
    with pytest.raises(ValueError, match="broken"):
        shelf.get("broken")


def test_what_was_imported_into_a_file_is_not_its_thing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file may use the thing of another one; with two of its own, or none, its author is told."""
    files = {
        "one": CARDED.format("one"),
        "user": "from shelf_three.one import Thing\n" + CARDED.format("user").replace("Thing", "Mine"),
        "two": CARDED.format("two") + CARDED.format("two").replace("Thing", "Other"),
        "none": "x = 1",
    }
    shelf = make(tmp_path, monkeypatch, files, "shelf_three")

    assert shelf.card("user") == "card of user"
    with pytest.raises(ImportError, match=r"shelf_three.two must define exactly one thing with a card, it defines 2"):
        shelf.get("two")
    with pytest.raises(ImportError, match="it defines 0"):
        shelf.get("none")


@each("shelf", [MEASURES, TESTS, METHODS, DATASETS])
def test_a_wrong_name_gets_the_nearest_one(shelf: Registry) -> None:
    """One letter too many is understood; the message names the kind of thing or the argument, and where names are."""
    name = shelf.names()[0]
    with pytest.raises(UnknownName, match=f"Did you mean '{name}'") as caught:
        shelf.get(name + "e")
    assert caught.value.argument == shelf.noun.replace(" ", "_")
    (call,) = shelf.listing
    assert getattr(registry, call.removeprefix("dreval.").removesuffix("()"))() == shelf.names()
    many = len(shelf.names()) > MANY_NAMES
    assert str(caught.value).endswith(f"{call} lists them all." if many else f"Known: {', '.join(shelf.names())}.")
    with pytest.raises(UnknownName, match="`measures` must be a known name"):
        shelf.get(name + "e", "measures")


def test_lists_are_fresh() -> None:
    """What a caller does to a list of names stays with the caller."""
    registry.list_measures().clear()

    assert "trustworthiness" in registry.list_measures()
    assert registry.card("trustworthiness").symbol == "T"
    with pytest.raises(UnknownName, match="`name` must be a known name: got 'trust'"):
        registry.card("trust")


def test_lists_import_no_numerics() -> None:
    """Asking for names loads neither numba nor any measure."""
    code = "import sys, dreval; dreval.list_measures(), dreval.list_methods(); print(sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert "'numba'" not in loaded
    assert "'dreval.measures.trustworthiness'" not in loaded
