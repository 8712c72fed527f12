"""Write the stubs of ``dreval`` and of its folders measures, methods and datasets; ``--check`` only compares them.

Run ``python tests/public_stub.py`` after a public name or its signature has changed. The public names are those of
``dreval._MODULES`` and of the registries, and nothing else lists them. The package imports its names when they are
first used, so that a type checker needs the stubs: with them it finds a misspelled name or keyword.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Callable, Collection
from functools import cache
from pathlib import Path
from typing import Any

import dreval
from dreval.registry import ANALYSES, DATASETS, MEASURES, METHODS, TESTS

PACKAGE = Path(__file__).resolve().parent.parent / "dreval"
HEADER = '''"""{title}; written by ``python tests/public_stub.py``."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

'''
STANDARD_TYPES = {"Any", "Mapping", "Sequence", "None", "bool", "dict", "float", "int", "list", "str", "tuple"}
STANDARD_TYPES |= {"np.random.Generator"}


def stubs() -> dict[Path, str]:
    """Return the text of each stub by its path."""
    texts = {
        "": _package_stub(),
        "measures": _measures_stub(),
        "methods": _methods_stub(),
        "datasets": _datasets_stub(),
    }
    return {PACKAGE / folder / "__init__.pyi": text for folder, text in texts.items()}


def _package_stub() -> str:
    """Return the stub of the package: imports of classes and functions, signatures of the entries of registries."""
    names = sorted([*TESTS.public_names(), *ANALYSES])
    functions = [_function(name, getattr(dreval, name)) for name in names]
    imports = [f"from dreval import {name} as {name}" for name in dreval._SUBMODULES]
    imports += [f"from dreval.{module} import {name} as {name}" for name, module in dreval._MODULES.items()]
    imports += [f"from dreval.measures import {name} as {name}" for name in MEASURES]
    imports += _record_imports(functions, dreval._MODULES)
    public = ",\n    ".join(f'"{name}"' for name in dreval.__all__)
    parts = [HEADER.format(title="The public names of dreval"), "\n".join(sorted(imports))]
    return f"{''.join(parts)}\n\n__all__ = [\n    {public},\n]\n__version__: str\n\n" + "\n".join(functions) + "\n"


def _record_imports(functions: list[str], imported: Collection[str] = ()) -> list[str]:
    """Return the imports of the records that functions return, except those that are imported already."""
    used = set(re.findall(r"\w+", "\n".join(functions)))
    records = record_modules().items()
    return [f"from {module} import {name}" for name, module in records if name in used and name not in imported]


def _measures_stub() -> str:
    """Return the stub of the measures: a function for each."""
    functions = [_function(name, MEASURES.get(name)) for name in MEASURES]
    imports = "\n".join(sorted(_record_imports(functions)))
    return f"{HEADER.format(title='The measures')}{imports}\n\n" + "\n".join(functions) + "\n"


def _datasets_stub() -> str:
    """Return the stub of the data sets: a function for each."""
    functions = [_function(name, getattr(dreval.datasets, name)) for name in DATASETS]
    functions = [function.replace("-> Any", "-> Dataset") for function in functions]
    imports = "from dreval.datasets._dataset import Dataset"
    return f"{HEADER.format(title='The data sets')}{imports}\n\n" + "\n".join(functions) + "\n"


def _methods_stub() -> str:
    """Return the stub of the methods: a class with its parameters for each."""
    classes = []
    for card in METHODS.cards():
        constructor = _function("__init__", METHODS.get(card.name).__init__).replace("-> Any", "-> None")
        attributes = "def __getattr__(self, name: str) -> Any: ..."
        classes.append(f"class {card.class_name}(Method):\n    {constructor}\n    {attributes}\n")
    header = HEADER.format(title="The classes of all methods")
    return f"{header}from dreval.methods._method import Method\n\n{''.join(classes)}"


@cache
def record_modules() -> dict[str, str]:
    """Return the module of each class of ``dreval.records``, which functions may return."""
    modules = [importlib.import_module(f"dreval.records.{info.name}") for info in pkgutil.iter_modules(_records())]
    return {
        name: module.__name__
        for module in modules
        for name, value in vars(module).items()
        if inspect.isclass(value) and value.__module__ == module.__name__ and not name.startswith("_")
    }


def _records() -> list[str]:
    return list(importlib.import_module("dreval.records").__path__)


def _function(name: str, function: Callable[..., Any]) -> str:
    """Return a function on one line; a default is written as ``...``."""
    signature = inspect.signature(function)
    parts, has_star = [], False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not has_star:
            parts.append("*")
        has_star |= parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        default = "" if parameter.default is parameter.empty else " = ..."
        annotation = "" if parameter.name == "self" else f": {_type(parameter.annotation)}"
        parts.append(f"{stars}{parameter.name}{annotation}{default}")
    return f"def {name}({', '.join(parts)}) -> {_type(signature.return_annotation)}: ..."


def _type(annotation: Any) -> str:
    """Return an annotation whose types the stub imports, else Any."""
    if not isinstance(annotation, str):
        return "Any"
    names = set(re.findall(r"[A-Za-z_][\w.]*", annotation))
    is_importable = names <= STANDARD_TYPES | record_modules().keys()
    return annotation if is_importable and "..." not in re.sub(r", \.\.\.\]", "", annotation) else "Any"


def main(arguments: list[str]) -> int:
    """Write the stubs, or with ``--check`` return 1 if one of them is out of date."""
    if Path(dreval.__file__).resolve().parent != PACKAGE:
        raise SystemExit(f"These are the stubs of {PACKAGE}, and another dreval is imported: set PYTHONPATH.")
    outdated = [path for path, text in stubs().items() if path.read_text() != text]
    if "--check" in arguments:
        for path in outdated:
            sys.stderr.write(f"{path} is out of date: run python tests/public_stub.py\n")
        return int(bool(outdated))
    for path in outdated:
        path.write_text(stubs()[path])
        sys.stdout.write(f"{path}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
