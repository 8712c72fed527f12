"""The registry: decorators define the entries, modules are imported when used, and errors suggest names."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from each import each

from dreval import registry
from dreval._check import MAX_LISTED_NAMES
from dreval.errors import UnknownName
from dreval.registry import DATASETS, MEASURES, METHODS, TESTS, Registry


def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], package: str) -> Registry:
    """Return a registry of a folder with these files."""
    folder = tmp_path / package
    folder.mkdir()
    for name, text in {"__init__": "", **files}.items():
        (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    return Registry(package, "thing", decorators=("carded", "also"), prefix="make_", suffix="_x")


CARDED = """
def carded(title):
    def attach(thing):
        thing.card = f"card of {title}"
        return thing
    return attach


also = carded
"""


def test_an_entry_has_a_decorator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Decorated functions and classes of any file are entries; they are not listed elsewhere."""
    files = {
        "family": "from shelf_one._carded import also, carded\n\n\n@carded(\n    title=1,\n)\ndef beta_x(): ...\n\n\n"
        "def plain(): ...\n\n\n@also(2)\nclass FastICA:\n    @carded(3)\n    def inner(self): ...\n",
        "_private": "from shelf_one._carded import carded\n@carded(4)\n@carded(5)\ndef make_alpha_x(): ...\n",
        "_carded": CARDED,
    }
    shelf = make(tmp_path, monkeypatch, files, "shelf_one")

    assert shelf.names() == list(shelf) == ["alpha", "beta", "fast_ica"]
    assert shelf.public_names() == ["alpha_x", "beta_x", "fast_ica_x"]
    assert shelf.card("beta") == "card of 1"
    assert shelf.get("fast_ica").__name__ == "FastICA"
    assert shelf.get("beta").__module__ == "shelf_one.family"
    assert "alpha" in shelf
    assert "plain" not in shelf
    assert "inner" not in shelf
    assert 3 not in shelf


def test_a_registry_may_be_one_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package of one module is searched like a folder."""
    (tmp_path / "shelf_alone.py").write_text(CARDED + "@carded(5)\ndef alpha(): ...\n")
    monkeypatch.syspath_prepend(tmp_path)
    shelf = Registry("shelf_alone", "thing", decorators=("carded",))

    assert shelf.names() == ["alpha"]
    assert "shelf_alone" not in sys.modules
    assert shelf.card("alpha") == "card of 5"
    with pytest.raises(ModuleNotFoundError, match="shelf_that_does_not_exist"):
        Registry("shelf_that_does_not_exist", "thing", decorators=("carded",)).names()


def test_a_list_imports_no_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names are read from the source: a file that cannot be imported has names, and fails when they are used."""
    source = "raise ValueError('broken')\n@carded(1)\ndef broken(): ...\n"
    shelf = make(tmp_path, monkeypatch, {"broken": source}, "shelf_two")

    assert shelf.names() == ["broken"]
    with pytest.raises(ValueError, match="broken"):
        shelf.get("broken")


def test_one_name_for_two_entries_raises_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Imported functions are not entries of a file; a name that two files define raises an error."""
    source = "@carded(1)\ndef one(): ...\n"
    shelf = make(tmp_path, monkeypatch, {"a": source, "b": "from shelf_three.a import one\n"}, "shelf_three")
    assert shelf.names() == ["one"]

    twice = make(tmp_path, monkeypatch, {"a": source, "b": source}, "shelf_four")
    with pytest.raises(ImportError, match=r"shelf_four.a and shelf_four.b both define the thing 'one'"):
        twice.names()


@each("shelf", [MEASURES, TESTS, METHODS, DATASETS])
def test_a_wrong_name_gets_the_nearest_one(shelf: Registry) -> None:
    """The error suggests the nearest name, and names the argument and the call that lists the names."""
    name = shelf.names()[0]
    with pytest.raises(UnknownName, match=f"Did you mean '{name}'") as error:
        shelf.get(name + "e")
    assert error.value.argument == shelf.noun.replace(" ", "_")
    (call,) = shelf.listing
    assert getattr(registry, call.removeprefix("dreval.").removesuffix("()"))() == shelf.names()
    is_long = len(shelf.names()) > MAX_LISTED_NAMES
    assert str(error.value).endswith(f"{call} lists them all." if is_long else f"Known: {', '.join(shelf.names())}.")
    with pytest.raises(UnknownName, match="`measures` must be a known name"):
        shelf.get(name + "e", "measures")


def test_lists_are_fresh() -> None:
    """A caller can modify a list of names without an effect on the registry."""
    registry.list_measures().clear()

    assert "trustworthiness" in registry.list_measures()
    assert registry.card("trustworthiness").symbol == "T"
    with pytest.raises(UnknownName, match="`name` must be a known name: got 'trust'"):
        registry.card("trust")


def test_lists_import_no_numerics() -> None:
    """Listing names imports neither numba nor a measure."""
    code = "import sys, dreval; dreval.list_measures(), dreval.list_methods(); print(sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert "'numba'" not in loaded
    assert "'dreval.measures" not in loaded
