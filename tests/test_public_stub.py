"""The stubs of the public names: up to date, and useful to type checkers; and the names of a star import."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import public_stub
import pytest

import dreval
from dreval.registry import METHODS

MISTAKES = """
import dreval

X = [[0.0, 1.0]]
dreval.trustworthiness(X, X, n_neighbors=3, metric="cosine")
dreval.trustworthines(X, X)
dreval.trustworthiness(X, X, n_neighbor=3)
dreval.hsic_test(X, X, X, kernel="gaussian", n_resamples=9)
dreval.hsic_test(X, X, n_resample=9)
dreval.methods.Isomap(2, n_neighbors=3).anything
dreval.methods.Isomap(n_neighbor=3)
dreval.methods.Isomp()
"""
CONSUMER = Path(__file__).parent / "consumer.py"
PYRIGHT = "1.1.407"
HEAVY = ("matplotlib", "numba", "jinja2", "joblib", "scipy.stats", "sklearn", "statsmodels")


def test_stubs_are_up_to_date() -> None:
    """The files are those that ``python tests/public_stub.py`` writes."""
    for path, text in public_stub.stubs().items():
        assert path.read_text() == text, "run python tests/public_stub.py"


def test_an_outdated_stub_fails_the_check(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """``--check`` exits with 1 and writes nothing if the text of a stub differs."""
    path = tmp_path / "__init__.pyi"
    path.write_text("def trustworthines(X: Any, Y: Any) -> Any: ...")
    monkeypatch.setattr(public_stub, "stubs", lambda: {path: "def trustworthiness(X: Any, Y: Any) -> Any: ..."})

    assert public_stub.main(["--check"]) == 1
    assert "trustworthines(" in path.read_text()
    assert public_stub.main([]) == 0
    assert public_stub.main(["--check"]) == 0


@pytest.mark.slow
def test_a_type_checker_finds_misspelled_names_and_keywords(tmp_path: Path) -> None:
    """It reports every wrong line, and no correct line."""
    file = tmp_path / "mistakes.py"
    file.write_text(MISTAKES)
    command = [sys.executable, "-m", "mypy", "--follow-imports=skip", f"--cache-dir={tmp_path / 'cache'}"]
    stubs = [str(path) for path in public_stub.stubs()]
    process = subprocess.run([*command, str(file), *stubs], capture_output=True, text=True, cwd=tmp_path)

    wrong = dict.fromkeys(re.findall(r"mistakes\.py:(\d+): error", process.stdout))
    assert list(wrong) == ["6", "7", "9", "11", "12"], process.stdout
    assert "stubs" not in process.stderr


@pytest.mark.slow
def test_a_users_script_is_typed_for_mypy(tmp_path: Path) -> None:
    """Functions have return types that a strict check accepts; what it finds in dreval itself is not the user's."""
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={tmp_path / 'cache'}"]
    command.append("--follow-imports=silent")
    process = subprocess.run([*command, str(CONSUMER)], capture_output=True, text=True, cwd=CONSUMER.parents[1])

    assert process.returncode == 0, process.stdout + process.stderr


@pytest.mark.debian
def test_a_users_script_is_typed_for_pyright(tmp_path: Path) -> None:
    """The script passes, and a misspelled name is an error."""
    text = CONSUMER.read_text()
    (tmp_path / "consumer.py").write_text(text)
    (tmp_path / "wrong.py").write_text(f"{text}\ndreval.trustworthines(X, Y)\n")
    command = ["npx", "--yes", f"pyright@{PYRIGHT}", "--outputjson", "--pythonpath", sys.executable]
    (tmp_path / "pyrightconfig.json").write_text(
        json.dumps({"typeCheckingMode": "strict", "extraPaths": [str(CONSUMER.parents[1])]})
    )
    process = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)

    files = [Path(error["file"]).name for error in json.loads(process.stdout)["generalDiagnostics"]]
    assert files
    assert set(files) == {"wrong.py"}


@pytest.mark.parametrize("path", public_stub.stubs(), ids=lambda path: path.parent.name)
def test_a_stub_exports_nothing_that_is_not_there(path: Path) -> None:
    """Each name of a stub is a name of its module, and each method of a class in it is a method of that class."""
    module = importlib.import_module(".".join(path.parent.relative_to(public_stub.PACKAGE.parent).parts))
    missing = []
    for node in ast.parse(path.read_text()).body:
        missing += [name for name in _exported(node) if not hasattr(module, name)]
        if isinstance(node, ast.ClassDef):
            methods = [line.name for line in node.body if isinstance(line, ast.FunctionDef)]
            missing += [f"{node.name}.{name}" for name in methods if not hasattr(getattr(module, node.name), name)]

    assert missing == []


def _exported(node: ast.stmt) -> list[str]:
    """Return the names that a statement of a stub exports: an import exports only what it repeats behind ``as``."""
    if isinstance(node, ast.ImportFrom):
        return [alias.name for alias in node.names if alias.name == alias.asname]
    return [node.name] if isinstance(node, ast.FunctionDef | ast.ClassDef) else []


def test_fitted_attributes_of_the_stub_are_there() -> None:
    """A method has all fitted attributes of its stub after it was fitted."""
    X = np.random.default_rng(0).normal(size=(40, 4)) * [4, 3, 2, 1]
    labels = np.arange(40) % 3
    missing = {}
    for name in ("pca", "isomap", "classical_mds", "lle", "laplacian_eigenmaps", "kernel_pca", "sir", "cca", "umap"):
        method_class = METHODS.get(name)
        fitted = method_class(2, random_state=0).fit(X, labels)
        missing[name] = {key for key in public_stub.fitted_attributes(method_class) if not hasattr(fitted, key)}

    assert missing == {name: set() for name in missing}


def test_no_public_function_returns_anything_at_all() -> None:
    """No function, method or verb has the return type Any: editors complete what it returns."""
    texts = [text for text in public_stub.stubs().values() if "-> Any" in text]
    classes = [value for name in dreval._public_names() if inspect.isclass(value := getattr(dreval, name))]
    records = {name: module for name, module in public_stub.record_modules().items() if "archive" not in module}
    classes += [getattr(importlib.import_module(module), name) for name, module in records.items()]
    functions = {f"{kind.__name__}.{name}": function for kind in classes for name, function in _verbs(kind)}

    assert texts == []
    assert [
        name for name, function in functions.items() if function.__annotations__.get("return") in ("Any", None)
    ] == []


def _verbs(kind: type[Any]) -> list[tuple[str, Any]]:
    """Return the public methods that a class of dreval defines."""
    return [(name, value) for name, value in vars(kind).items() if name[0] != "_" and inspect.isfunction(value)]


@pytest.fixture(scope="module")
def starred() -> list[str]:
    """The names of a star import in a fresh process, and the heavy packages that it loaded."""
    code = "from dreval import *; import sys; names = set(globals()); "
    code += f"print(*sorted(names)); print(*(name for name in {HEAVY} if name in sys.modules))"
    folder = Path(dreval.__path__[0]).parent
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder).stdout.split("\n")


def test_a_star_import_gives_the_public_names(starred: list[str]) -> None:
    """All of ``__all__``, and no heavy package before it is used."""
    assert set(dreval.__all__) == {name for name in dir(dreval) if not name.startswith("_")}
    assert set(dreval.__all__) <= set(starred[0].split())
    assert starred[1].split() == []
