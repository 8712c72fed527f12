"""The house keeps its shape: imports go one way, files and functions stay small, the package opens fast and light.

All of it is read from the syntax tree, imports inside functions and under TYPE_CHECKING included; what is reached by
name on call (``importlib.import_module("dreval...")``) is exempt on purpose.
"""

from __future__ import annotations

import ast
import copy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "dreval"

# Layer by layer; the names of one string may import each other, those of another string of the same layer never.
LAYERS = [
    ["errors glossary registry _check _random _parallel"],
    ["records"],
    ["journal"],
    ["inputs"],
    ["geometry"],
    ["inference"],
    ["measures", "methods", "datasets"],
    ["significance"],
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
ONLY_IN = {
    "matplotlib": ("dreval.report",),
    "jinja2": ("dreval.report",),
    "numba": ("dreval.geometry._loops",),
}
HEAVY = ("numba", "statsmodels", "matplotlib", "scipy.stats", "sklearn", "jinja2")

Source = dict[str, ast.Module]


def read_package() -> Source:
    """Syntax trees of all modules by dotted name."""
    trees = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        trees[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = ast.parse(path.read_text("utf-8"))
    return trees


@pytest.fixture(scope="module")
def trees() -> Source:
    """The package as it is."""
    return read_package()


def imports(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Dotted names that a module imports, at any depth, with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            dots = "." * node.level
            yield from ((f"{dots}{node.module or ''}.{alias.name}", node.lineno) for alias in node.names)


def resolve(name: str, modules: Source) -> str:
    """The module that an imported dotted name lies in (``dreval.errors.InputError`` lies in ``dreval.errors``)."""
    while name not in modules and "." in name:
        name = name.rpartition(".")[0]
    return name


def place(module: str) -> tuple[int, int]:
    """Layer and room of a module; private modules beside ``evaluation`` and its like belong to it."""
    head = module.split(".")[1]
    room = head if head in PLACES else head.lstrip("_").split("_")[0]
    if room not in PLACES:
        raise KeyError(f"{module} has no place in the house: give `{head}` a layer in DESIGN and in LAYERS")
    return PLACES[room]


def forbidden_imports(trees: Source) -> list[str]:
    """Every import that breaks a rule, as a sentence."""
    found = []
    for module, tree in trees.items():
        for name, line in imports(tree):
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
    return judge_place(module, target)


def judge_place(module: str, target: str) -> str | None:
    """Why a module of the package may not import another one, or None."""
    (layer, room), (other_layer, other_room) = place(module), place(target)
    if other_layer > layer:
        return f"layer {layer} may not import from layer {other_layer}"
    if other_layer == layer and other_room != room:
        return "siblings of one layer never import each other"
    folder, _, leaf = target.rpartition(".")
    if module.startswith(f"{folder}.") and folder.split(".")[-1] in CARD_FOLDERS and not leaf.startswith("_"):
        return "beside a card only private siblings are imported"
    return None


def test_imports_go_only_downwards(trees: Source) -> None:
    """Every import of every module is allowed by the layers of the house."""
    assert forbidden_imports(trees) == []


@pytest.mark.parametrize(
    ("module", "line", "reason"),
    [
        ("dreval._check", "from dreval.report.render.summary import Summary", "layer 0 may not import from layer 1"),
        (
            "dreval.measures.overlap",
            "def f():\n    import dreval.evaluation.evaluation",
            "layer 4 may not import from layer 6",
        ),
        ("dreval.measures.overlap", "from dreval.inference import bootstrap", "siblings of one layer"),
        ("dreval.evaluation.evaluation", "from dreval import protocol", "siblings of one layer"),
        ("dreval.measures.overlap", "from dreval.measures.other import g", "only private siblings"),
        ("dreval.methods.b", "from dreval.methods import other", "only private siblings"),
        ("dreval.inputs.data", "import dreval", "never imports the roof"),
        ("dreval.inputs.data", "from dreval import Evaluation", "never imports the roof"),
        (
            "dreval.inputs.data",
            "if TYPE_CHECKING:\n    from dreval.cli._main import main",
            "layer 2 may not import from layer 9",
        ),
        ("dreval.report.render.summary", "from . import table", "imports are absolute"),
        ("dreval.evaluation.evaluation", "from matplotlib import pyplot", "only in dreval.report"),
        ("dreval.geometry.ranks", "import numba", "only in dreval.geometry._loops"),
        ("dreval.geometry._loops.ranks", "from numba import njit", None),
        ("dreval.report.plot", "import matplotlib.pyplot as plt", None),
        ("dreval.measures.overlap", "from dreval.measures._measure import measure", None),
        ("dreval._evaluation_steps", "from dreval.evaluation.evaluation import Evaluation", None),
        ("dreval.report.render.summary", "from dreval import __version__", None),
    ],
)
def test_a_wrong_import_is_seen(trees: Source, module: str, line: str, reason: str | None) -> None:
    """The rule that stands guard notices each kind of wrong import, at any depth, and lets right ones pass."""
    known = (
        "dreval.evaluation.evaluation",
        "dreval.protocol.protocol",
        "dreval.cli._main",
        "dreval.measures.other",
        "dreval.methods.other",
    )
    sample = {**trees, **dict.fromkeys(known, ast.Module([], [])), module: ast.parse(line)}
    found = [row for row in forbidden_imports(sample) if row.startswith(f"{module}:")]

    assert len(found) == (reason is not None)
    assert all(reason in row for row in found if reason)


def test_a_module_without_a_place_is_seen() -> None:
    """A new top-level module must be given a layer before it can be imported or import."""
    with pytest.raises(KeyError, match="no place"):
        place("dreval.helpers.thing")


def import_graph(trees: Source) -> dict[str, set[str]]:
    """Modules that each module imports when it runs, late imports included, those for type annotations only not."""
    edges = {}
    for module, tree in trees.items():
        runtime = WithoutTyping().visit(copy.deepcopy(tree))
        names = [name for name, _ in imports(runtime) if name.startswith("dreval.")]
        edges[module] = {resolve(name, trees) for name in names} - {module, "dreval"}
    return edges


class WithoutTyping(ast.NodeTransformer):
    """Takes what stands under ``if TYPE_CHECKING`` out of a tree."""

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        """Leave the other branch."""
        self.generic_visit(node)
        return node.orelse if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING" else node


def cycles(trees: Source) -> dict[str, set[str]]:
    """What is left of the import graph when leaves are taken off again and again: its cycles, and who leads to them."""
    edges = import_graph(trees)
    while leaves := [module for module, targets in edges.items() if not targets & edges.keys()]:
        for module in leaves:
            del edges[module]
    return edges


def test_there_is_no_import_cycle(trees: Source) -> None:
    """No module imports itself through others, not even late; what is reached by name on call is no import."""
    assert cycles(trees) == {}


def test_an_import_cycle_is_seen(trees: Source) -> None:
    """A cycle through a late import is noticed; one that only annotations make is none."""
    first = ast.parse("def f():\n    from dreval.records.loop_b import g")
    late = {**trees, "dreval.records.loop_a": first, "dreval.records.loop_b": ast.parse("import dreval.records.loop_a")}
    typing = ast.parse("if TYPE_CHECKING:\n    import dreval.records.loop_a")

    assert {"dreval.records.loop_a", "dreval.records.loop_b"} <= cycles(late).keys()
    assert "dreval.records.loop_a" not in cycles({**late, "dreval.records.loop_b": typing})


def test_nothing_is_asserted_or_printed(trees: Source) -> None:
    """The library refuses through ``_check`` and speaks through its results: no assert, and print only in the cli."""
    nodes = [(module, node) for module, tree in trees.items() for node in ast.walk(tree)]
    asserts = [f"{module}:{node.lineno}" for module, node in nodes if isinstance(node, ast.Assert)]
    prints = [
        f"{module}:{node.lineno}"
        for module, node in nodes
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
        for node in ast.walk(tree)
        if isinstance(node, ast.ExceptHandler) and is_broad(node) and not isinstance(node.body[-1], ast.Raise)
    ]

    assert len(swallowing) <= 1
    assert all(place(module) == PLACES["evaluation"] for module in swallowing)


@pytest.mark.parametrize(
    "statement", ["import dreval", "import dreval; dreval.Evaluation", "import dreval; dir(dreval)"]
)
def test_the_package_opens_light(statement: str) -> None:
    """Heavy packages are not imported before something needs them."""
    code = f"import sys; {statement}; print(*sorted(set(sys.modules) & set({HEAVY!r})))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=PACKAGE.parent, check=True)

    assert done.stdout.split() == []
