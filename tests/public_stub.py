"""Writes the stubs ``dreval/__init__.pyi`` and ``dreval/methods/__init__.pyi`` from the registries.

Run ``python tests/public_stub.py`` where a public name or its signature has changed. The package finds its names when
they are first used, so that a type checker needs the stubs: with them it sees a misspelled name or keyword.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dreval
from dreval.registry import DIMENSIONS, MEASURES, METHODS, SCORES, TESTS

PACKAGE = Path(__file__).resolve().parent.parent / "dreval"
HEAD = '''"""{what}; written by ``python tests/public_stub.py``."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

'''
KNOWN = {"Any", "Mapping", "Sequence", "None", "bool", "dict", "float", "int", "list", "np.random.Generator", "str"}
KNOWN |= {"tuple", "IndependenceTest", "IntrinsicDimension", "LocalDistortion", "MeasureRecord", "ParallelAnalysis"}
KNOWN |= {"PerturbationScore", "SingularityScore"}


def stubs() -> dict[Path, str]:
    """The text of each stub."""
    return {PACKAGE / "__init__.pyi": _package(), PACKAGE / "methods" / "__init__.pyi": _methods()}


def _package() -> str:
    """All public names: classes and functions from their files, measures and tests with their signatures."""
    places = {**dreval._PLACES, "MeasureRecord": "records.answers"}
    places |= {
        "IntrinsicDimension": "records.answers",
        "LocalDistortion": "records.answers",
        "ParallelAnalysis": "records.answers",
        "PerturbationScore": "records.answers",
        "SingularityScore": "records.answers",
        "Sweep": "records.sweep",
    }
    lines = [f"from dreval import {name} as {name}" for name in dreval._FOLDERS]
    lines += [f"from dreval.{place} import {name} as {name}" for name, place in sorted(places.items())]
    names = [*MEASURES, *TESTS.public_names(), *DIMENSIONS, *SCORES]
    functions = [_function(name, getattr(dreval, name)) for name in sorted(names)]
    listed = ",\n    ".join(f'"{name}"' for name in dreval.__all__)
    head = HEAD.format(what="The public names of dreval")
    imports, rest = "\n".join(sorted(lines)), "\n".join(functions)
    return f"{head}{imports}\n\n__all__ = [\n    {listed},\n]\n__version__: str\n\n{rest}\n"


def _methods() -> str:
    """The classes of all methods with the parameters of each."""
    made = []
    for card in METHODS.cards():
        start = _function("__init__", METHODS.get(card.name).__init__).replace("-> Any", "-> None")
        more = "def __getattr__(self, name: str) -> Any: ..."
        made.append(f"class {card.class_name}(Method):\n    {start}\n    {more}\n")
    head = HEAD.format(what="The classes of all methods")
    return f"{head}from dreval.methods._method import Method\n\n{''.join(made)}"


def _function(name: str, function: Callable[..., Any]) -> str:
    """One function on one line: what has a default has it left out."""
    signature = inspect.signature(function)
    parts, bare = [], False
    for one in signature.parameters.values():
        if one.kind is one.KEYWORD_ONLY and not bare:
            parts += ["*"]
        bare |= one.kind in (one.KEYWORD_ONLY, one.VAR_POSITIONAL)
        star = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
        default = "" if one.default is one.empty else " = ..."
        typed = "" if one.name == "self" else f": {_type(one.annotation)}"
        parts.append(f"{star}{one.name}{typed}{default}")
    return f"def {name}({', '.join(parts)}) -> {_type(signature.return_annotation)}: ..."


def _type(annotation: Any) -> str:
    """An annotation whose words the stub knows; any other is Any."""
    if not isinstance(annotation, str):
        return "Any"
    words = re.findall(r"[A-Za-z_][\w.]*", annotation)
    return annotation if set(words) <= KNOWN and "..." not in re.sub(r", \.\.\.\]", "", annotation) else "Any"


if __name__ == "__main__":
    if Path(dreval.__file__).resolve().parent != PACKAGE:
        raise SystemExit(f"this is about {PACKAGE}, and another dreval is imported; set PYTHONPATH")
    for path, text in stubs().items():
        path.write_text(text)
        sys.stdout.write(f"{path}\n")
