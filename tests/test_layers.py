"""The house keeps its shape: imports go one way, the root is small, the package opens fast and light.

All of it is read from the syntax tree. Every import counts: inside functions, under TYPE_CHECKING, and
``import_module("dreval...")`` with a literal. One file is exempt: ``records/base.py``; its table is checked instead.

``python tests/test_layers.py [FOLDER]`` prints the counts of the import graph, of this package or of another copy.
"""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from each import each

PACKAGE = Path(__file__).resolve().parent.parent / "dreval"

# Layer by layer; the names of one string may import each other, those of another string of the same layer never.
LAYERS = [
    ["errors glossary references registry _inside _check _random _parallel"],
    ["records"],
    ["journal"],
    ["inputs"],
    ["geometry"],
    ["inference"],
    ["measures", "methods", "datasets", "dimension"],
    ["significance", "scores"],
    ["comparison", "protocol"],
    ["evaluation"],
    ["study"],
    ["report"],
    ["cli __main__"],
]
PLACES = {
    name: (layer, room)
    for layer, rooms in enumerate(LAYERS)
    for room, names in enumerate(rooms)
    for name in names.split()
}
CARD_FOLDERS = ("measures", "methods", "datasets", "significance")
DECORATORS = {"dataset", "measure", "method", "method_measure", "test"}  # that give an entry of these its card
EXEMPT = "dreval.records.base"
ROOT_FILES = 13
ONLY_IN = {
    "matplotlib": ("dreval.report",),
    "jinja2": ("dreval.report",),
    "numba": ("dreval.geometry._loops",),
}
HEAVY = ("numba", "statsmodels", "matplotlib", "scipy.stats", "sklearn", "jinja2")

Source = dict[str, ast.Module]


def read_package(package: Path = PACKAGE) -> Source:
    """Syntax trees of all modules by dotted name."""
    trees = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        trees[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = ast.parse(path.read_text("utf-8"))
    return trees


@pytest.fixture(scope="module")
def trees() -> Source:
    """The package as it is."""
    return read_package()


@cache
def nodes(tree: ast.Module) -> tuple[ast.AST, ...]:
    """All nodes of a module, walked once for all tests."""
    return tuple(ast.walk(tree))


@cache
def imports(tree: ast.Module) -> tuple[tuple[str, int], ...]:
    """Dotted names that a module imports, at any depth and in any way that a reader can see, with their lines."""
    return tuple(_imports(tree))


def _imports(tree: ast.Module) -> Iterator[tuple[str, int]]:
    for node in nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            dots = "." * node.level
            yield from ((f"{dots}{node.module or ''}.{alias.name}", node.lineno) for alias in node.names)
        elif isinstance(node, ast.Call) and "import_module" in (getattr(node.func, key, "") for key in ("id", "attr")):
            names = (part.value for part in node.args[:1] if isinstance(part, ast.Constant))
            yield from ((str(name), node.lineno) for name in names)


def resolve(name: str, modules: Source) -> str:
    """The module that an imported dotted name lies in (``dreval.errors.InputError`` lies in ``dreval.errors``)."""
    while name not in modules and "." in name:
        name = name.rpartition(".")[0]
    return name


def place(module: str) -> tuple[int, int]:
    """Layer and room of a module."""
    head = module.split(".")[1]
    if head not in PLACES:
        raise KeyError(f"{module} has no place in the house: give `{head}` a layer in LAYERS")
    return PLACES[head]


def forbidden_imports(trees: Source) -> list[str]:
    """Every import that breaks a rule, as a sentence."""
    found = []
    for module, tree in trees.items():
        for name, line in imports(tree) if module != EXEMPT else ():
            reason = judge(module, name, trees)
            if reason:
                found.append(f"{module}:{line} imports {name}: {reason}")
    return found


def judge(module: str, name: str, trees: Source) -> str | None:
    """Why this module may not import this name, or None."""
    if name.startswith("."):
        return "imports are absolute"
    for outside, homes in ONLY_IN.items():
        if name.split(".")[0] == outside and not any(f"{module}.".startswith(f"{home}.") for home in homes):
            return f"{outside} is imported only in {', '.join(homes)}"
    if name.split(".")[0] != "dreval" or module == "dreval" or name == "dreval.__version__":
        return None
    target = resolve(name, trees)
    if target == "dreval":
        return "a leaf never imports the roof"
    return judge_place(module, target) or judge_entry(module, target, name, trees)


def judge_place(module: str, target: str) -> str | None:
    """Why a module of the package may not import another one, or None."""
    (layer, room), (other_layer, other_room) = place(module), place(target)
    if other_layer > layer:
        return f"layer {layer} may not import from layer {other_layer}"
    if other_layer == layer and other_room != room:
        return "siblings of one layer never import each other"
    return None


@cache
def entries(tree: ast.Module) -> frozenset[str]:
    """Functions and classes at the top of a module that have a card of their own."""
    return frozenset(
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and any(isinstance(one, ast.Call) and getattr(one.func, "id", "") in DECORATORS for one in node.decorator_list)
    )


def judge_entry(module: str, target: str, name: str, trees: Source) -> str | None:
    """Why a module beside an entry of a registry may not import it, or None: what entries share is no entry."""
    folder = target.rpartition(".")[0]
    if not module.startswith(f"{folder}.") or folder.split(".")[-1] not in CARD_FOLDERS:
        return None
    having = entries(trees[target])
    if name.removeprefix(f"{target}.") in having or (name == target and having):
        return "an entry of a registry is not imported by its siblings"
    return None


def test_imports_go_only_downwards(trees: Source) -> None:
    """Every import of every module is allowed by the layers of the house."""
    assert forbidden_imports(trees) == []


@each(
    "module, line, reason",
    [
        ("dreval._check", "from dreval.records.results import Results", "layer 0 may not import from layer 1"),
        (
            "dreval.measures.overlap",
            "def f():\n    import dreval.evaluation.rows",
            "layer 6 may not import from layer 9",
        ),
        ("dreval.measures.overlap", "from dreval.methods.pca import PCA", "siblings of one layer"),
        ("dreval.comparison.compare", "from dreval.protocol import folder", "siblings of one layer"),
        ("dreval.measures.overlap", "from dreval.measures.other import g", "not imported by its siblings"),
        ("dreval.measures.overlap", "from dreval.measures.other import SHARED", None),
        ("dreval.methods.b", "from dreval.methods import other", "not imported by its siblings"),
        ("dreval.inputs.data", "import dreval", "never imports the roof"),
        ("dreval.inputs.data", "from dreval import Evaluation", "never imports the roof"),
        ("dreval.inputs.data", "if TYPE_CHECKING:\n    from dreval.cli._main import main", "from layer 12"),
        (
            "dreval.records.results",
            "import_module('dreval.report.page').write()",
            "layer 1 may not import from layer 11",
        ),
        ("dreval.records.results", "importlib.import_module('dreval.report.page')", "from layer 11"),
        ("dreval.records.results", "from . import frames", "imports are absolute"),
        ("dreval.evaluation.rows", "from matplotlib import pyplot", "only in dreval.report"),
        ("dreval.geometry.ranks", "import numba", "only in dreval.geometry._loops"),
        ("dreval.geometry._loops.ranks", "from numba import njit", None),
        ("dreval.report.plot", "import matplotlib.pyplot as plt", None),
        ("dreval.measures.overlap", "from dreval.measures.core import measure", None),
        ("dreval.evaluation.rows", "from dreval.evaluation.plan import MeasureTask", None),
        ("dreval.records.results", "from dreval import __version__", None),
        ("dreval.records.base", "import_module('dreval.report.page')", None),
    ],
)
def test_a_wrong_import_is_seen(trees: Source, module: str, line: str, reason: str | None) -> None:
    """The rule that stands guard notices each kind of wrong import, at any depth, and lets right ones pass."""
    others = ("dreval.measures.other", "dreval.methods.other", "dreval.protocol.folder")
    other = ast.parse("SHARED = 1\n@measure(title='g')\ndef g(view): ...")
    sample = {**trees, **dict.fromkeys(others, other), module: ast.parse(line)}
    found = [row for row in forbidden_imports(sample) if row.startswith(f"{module}:")]

    assert len(found) == (reason is not None)
    assert all(reason in row for row in found if reason)


def test_a_module_without_a_place_is_seen() -> None:
    """A new top-level module must be given a layer before it can be imported or import."""
    with pytest.raises(KeyError, match="no place"):
        place("dreval.helpers.thing")


def import_graph(trees: Source) -> dict[str, set[str]]:
    """Modules of the package that each module imports, in any way."""
    edges = {}
    for module, tree in trees.items():
        names = [name for name, _ in imports(tree) if name.startswith("dreval.") and module != EXEMPT]
        edges[module] = {resolve(name, trees) for name in names} - {module, "dreval"}
    return edges


def cycles(trees: Source) -> list[set[str]]:
    """The sets of modules that import each other, directly or through others (strongly connected components)."""
    edges = import_graph(trees)
    reached: dict[str, set[str]] = {}
    for start in edges:
        seen, open_ones = set(), [start]
        while open_ones:
            for target in edges.get(open_ones.pop(), set()) - seen:
                seen.add(target)
                open_ones.append(target)
        reached[start] = seen
    found: dict[str, set[str]] = {}
    for module, seen in reached.items():
        if module in seen:
            circle = {other for other in seen if module in reached[other]}
            found[min(circle)] = circle
    return list(found.values())


def test_there_is_no_import_cycle(trees: Source) -> None:
    """No module imports itself through others, not even late or for annotations."""
    assert cycles(trees) == []


@each(
    "line",
    [
        "def f():\n    from dreval.records.loop_b import g",
        "if TYPE_CHECKING:\n    import dreval.records.loop_b",
        "import importlib\nimportlib.import_module('dreval.records.loop_b')",
    ],
)
def test_an_import_cycle_is_seen(trees: Source, line: str) -> None:
    """A cycle through a late import, one for annotations, or one by name is noticed."""
    sample = {
        **trees,
        "dreval.records.loop_a": ast.parse(line),
        "dreval.records.loop_b": ast.parse("import dreval.records.loop_a"),
    }

    assert cycles(sample) == [{"dreval.records.loop_a", "dreval.records.loop_b"}]


def test_the_verbs_of_records_are_functions_higher_up() -> None:
    """The one exempt table names functions that exist, each above the records or beside them."""
    verbs = importlib.import_module(EXEMPT).VERBS
    for verb, target in verbs.items():
        module, _, name = target.partition(":")
        assert callable(getattr(importlib.import_module(module), name)), verb
        assert place(module) >= PLACES["records"], verb


def test_the_root_is_small() -> None:
    """Folders are the rooms; the root holds what all of them use."""
    files = [path.name for path in PACKAGE.iterdir() if path.is_file()]

    assert len(files) <= ROOT_FILES, sorted(files)


def test_nothing_is_asserted_or_printed(trees: Source) -> None:
    """The library refuses through ``_check`` and speaks through its results: no assert, and print only in the cli."""
    found = [(module, node) for module, tree in trees.items() for node in nodes(tree)]
    asserts = [f"{module}:{node.lineno}" for module, node in found if isinstance(node, ast.Assert)]
    prints = [
        f"{module}:{node.lineno}"
        for module, node in found
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]

    assert asserts == []
    assert [where for where in prints if not where.startswith("dreval.cli._main:")] == []


def is_broad(handler: ast.ExceptHandler) -> bool:
    """Whether a handler catches everything."""
    names = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(name is None or getattr(name, "id", "") in {"Exception", "BaseException"} for name in names)


def test_no_error_is_swallowed(trees: Source) -> None:
    """A broad except either translates (ends in a raise), or is the one place that keeps the other embeddings."""
    swallowing = [
        module
        for module, tree in trees.items()
        for node in nodes(tree)
        if isinstance(node, ast.ExceptHandler) and is_broad(node) and not isinstance(node.body[-1], ast.Raise)
    ]

    assert len(swallowing) <= 1
    assert all(place(module) == PLACES["evaluation"] for module in swallowing)


@each("statement", ["import dreval", "import dreval; dreval.Evaluation", "import dreval; dir(dreval)"])
def test_the_package_opens_light(statement: str) -> None:
    """Heavy packages are not imported before something needs them."""
    code = f"import sys; {statement}; print(*sorted(set(sys.modules) & set({HEAVY!r})))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=PACKAGE.parent, check=True)

    assert done.stdout.split() == []


if __name__ == "__main__":
    copy = read_package(Path(sys.argv[1]) if len(sys.argv) > 1 else PACKAGE)
    arrows = import_graph(copy)
    rooms = {module.split(".")[1] for module in copy if module.count(".") > 1}
    circles = cycles(copy)
    print(f"files {len(copy)}, rooms {len(rooms)}, arrows {sum(map(len, arrows.values()))}, ", end="")
    print(f"cycles {len(circles)} with {sum(map(len, circles))} files")
