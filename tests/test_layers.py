"""Imports: methods forward by one statement, and heavy packages are imported late and in few folders.

The layers of the folders are in ``pyproject.toml`` (``tool.importlinter``) and ``make lint`` checks them.
"""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from each import each

PACKAGE = Path(__file__).resolve().parent.parent / "dreval"
FOLDERS_OF = {"matplotlib": "dreval.report", "jinja2": "dreval.report", "numba": "dreval.geometry._loops"}
TYPES = "TYPE_CHECKING"
HEAVY = ("numba", "statsmodels", "matplotlib", "scipy.stats", "sklearn", "jinja2")

Modules = dict[str, ast.Module]


@pytest.fixture(scope="module")
def modules() -> Modules:
    """Return the syntax trees of modules that forward and of modules that name a heavy package, by dotted name."""
    trees = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        text = path.read_text("utf-8")
        if parts[1] == "records" or name in forwarding_modules() or any(package in text for package in FOLDERS_OF):
            trees[name] = ast.parse(text)
    return trees


@cache
def contract() -> dict[str, list[str]]:
    """Return the contract of the layers."""
    settings = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text("utf-8"))
    return next(row for row in settings["tool"]["importlinter"]["contracts"] if row["type"] == "layers")


def forwarding_modules() -> set[str]:
    """Return the modules that are allowed to import from higher folders."""
    return {line.partition(" -> ")[0] for line in contract()["ignore_imports"]}


def higher_folders(module: str) -> set[str]:
    """Return the folders and modules of the layers above that of a module."""
    layers = [set(line.replace("|", " ").replace(":", " ").split()) for line in contract()["layers"]]
    folder = module.split(".")[1]
    return set().union(*layers[: next(row for row, layer in enumerate(layers) if folder in layer)])


def imported_names(node: ast.AST) -> list[str]:
    """Return the dotted names that one statement or one call of ``import_module`` imports."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.Call) and "import_module" in (getattr(node.func, key, "") for key in ("id", "attr")):
        return [part.value for part in node.args[:1] if isinstance(part, ast.Constant)]
    return []


def forwards(tree: ast.Module) -> Iterator[ast.ImportFrom]:
    """Yield the import of every method whose body imports from dreval in exactly one statement."""
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    for method in (node for kind in classes for node in kind.body if isinstance(node, ast.FunctionDef)):
        imports = [node for node in method.body if isinstance(node, ast.ImportFrom) and node.module[:6] == "dreval"]
        if len(imports) == 1:
            yield imports[0]


def typing_imports(tree: ast.Module) -> set[ast.AST]:
    """Return the statements below ``if TYPE_CHECKING:``, which name types and import nothing."""
    tests = [node for node in ast.walk(tree) if isinstance(node, ast.If) and getattr(node.test, "id", "") == TYPES]
    return {statement for node in tests for statement in ast.walk(node)}


def upward_imports(modules: Modules) -> list[str]:
    """Return the imports of a forwarding module from a higher folder that are not the forward of one method.

    It may also name the type that a forward returns; import-linter checks that it is one of a module it forwards to.
    """
    wrong = []
    for module in (name for name in modules if name.startswith("dreval.records") or name in forwarding_modules()):
        allowed, higher = {*forwards(modules[module]), *typing_imports(modules[module])}, higher_folders(module)
        for node in ast.walk(modules[module]):
            upward = [name for name in imported_names(node) if f"{name}..".split(".")[1] in higher]
            wrong += [f"{module}:{node.lineno} imports {name}" for name in upward if node not in allowed]
    return wrong


def misplaced_imports(modules: Modules) -> list[str]:
    """Return the imports of matplotlib, jinja2 and numba outside their folders, except of types."""
    return [
        f"{module}:{node.lineno} imports {name}"
        for module, tree in modules.items()
        for typed in [typing_imports(tree)]
        for node in ast.walk(tree)
        for name in imported_names(node)
        if node not in typed
        and (folder := FOLDERS_OF.get(name.split(".")[0]))
        and not f"{module}.".startswith(f"{folder}.")
    ]


def test_modules_import_upward_only_to_forward(modules: Modules) -> None:
    """A record, or another object that prints itself, imports from above only in one statement of a method."""
    assert forwarding_modules() <= modules.keys()
    assert upward_imports(modules) == []


@each(
    "code",
    [
        "from dreval.report import write",
        "import dreval.report.write",
        "def plot():\n    from dreval.report import write",
        "class A:\n    def plot(self):\n        if self:\n            from dreval.report import write",
        "class A:\n    def plot(self):\n        from dreval.report import plot\n        from dreval.inputs import data",
        "import_module('dreval.report.write')",
    ],
)
def test_any_other_upward_import_is_an_error(code: str) -> None:
    """An import at the top, in a function, in a branch, by name, or one of two in a method is reported."""
    for module in ("dreval.records.results", "dreval.study.study"):
        assert upward_imports({module: ast.parse(code)}) != []


def test_a_forward_is_allowed() -> None:
    """One import statement in the body of a method passes."""
    code = "class A:\n    def plot(self):\n        from dreval.report.write import plot\n        return plot(self)"

    assert upward_imports({"dreval.records.results": ast.parse(code)}) == []


def test_heavy_packages_are_imported_in_their_folders(modules: Modules) -> None:
    """Matplotlib and jinja2 are imported only in report/, numba only in geometry/_loops/."""
    assert misplaced_imports(modules) == []


@each(
    "module, code",
    [("dreval.evaluation.rows", "def f():\n    from matplotlib import pyplot"), ("dreval", "import numba")],
)
def test_a_misplaced_import_is_an_error(module: str, code: str) -> None:
    """A heavy package is reported at any depth."""
    assert misplaced_imports({module: ast.parse(code)}) != []


@each("statement", ["import dreval", "import dreval; dreval.Evaluation", "import dreval; dir(dreval)"])
def test_importing_the_package_is_light(statement: str) -> None:
    """No heavy package is imported before it is needed."""
    code = f"import sys; {statement}; print(*sorted(set(sys.modules) & set({HEAVY!r})))"
    command = [sys.executable, "-c", code]
    process = subprocess.run(command, capture_output=True, text=True, cwd=PACKAGE.parent, check=True)

    assert process.stdout.split() == []


@pytest.mark.slow
def test_printing_a_result_needs_no_figures() -> None:
    """What prints a result imports neither matplotlib nor jinja2."""
    code = "import sys, dreval.report.documents.evaluation; print(*{'matplotlib', 'jinja2'} & set(sys.modules))"
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=PACKAGE.parent, check=True
    )

    assert process.stdout.split() == []
