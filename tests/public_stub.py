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
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Any, get_overloads

import dreval
from dreval.cards import Card
from dreval.methods._method import Method
from dreval.registry import ANALYSES, DATASETS, MEASURES, METHODS, REGISTRIES_BY_KIND, TESTS

PACKAGE = Path(__file__).resolve().parent.parent / "dreval"
HEADER = '''"""{title}; written by ``python tests/public_stub.py``."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self, overload

import numpy as np
import numpy.typing as npt
import pandas as pd

'''
STANDARD_TYPES = {"Any", "Literal", "Mapping", "Sequence", "None", "bool", "dict", "float", "int", "list", "str"}
STANDARD_TYPES |= {"tuple", "Self", "np.float64", "np.integer", "np.random.Generator", "npt.NDArray"}
STANDARD_TYPES |= {"pd.DataFrame", "pd.Series"}
FLOATS = "npt.NDArray[np.float64]"  # the type that the package calls FloatArray

# The types of common parameters of measures, and of their results by those of ``n_neighbors`` and ``ties``: one number
# of neighbors or several, the value or its bounds over ties.
MEASURE_PARAMETERS = {
    **dict.fromkeys(("metric", "embedding_metric"), "str"),
    "n_jobs": "int | None",
    "random_state": "int | np.random.Generator | None",
}
ONE_NUMBER = "int | np.integer[Any] | Literal['auto']"
SEVERAL_NUMBERS = "Sequence[int] | npt.NDArray[np.integer[Any]]"
RESULTS = {
    (ONE_NUMBER, "index"): "float",
    (SEVERAL_NUMBERS, "index"): "pd.Series[float]",
    (ONE_NUMBER, "bounds"): "pd.Series[float]",
    (SEVERAL_NUMBERS, "bounds"): "pd.DataFrame",
}
FITTED_TYPES = {"ndarray": "npt.NDArray[Any]", "int": "int", "float": "float", "bool": "bool"}  # by the first word


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
    functions += _card_overloads()
    imports = [f"from dreval import {name} as {name}" for name in dreval._SUBMODULES]
    modules = {name: module for name, module in dreval._MODULES.items() if name != "card"}
    imports += [f"from dreval.{module} import {name} as {name}" for name, module in modules.items()]
    imports += [f"from dreval.measures import {name} as {name}" for name in MEASURES]
    imports += [f"from {kind.__module__} import {kind.__name__}" for kind in (Card, *_card_classes().values())]
    imports += _record_imports(functions, dreval._MODULES)
    public = ",\n    ".join(f'"{name}"' for name in dreval.__all__)
    parts = [HEADER.format(title="The public names of dreval"), "\n".join(sorted(imports))]
    return f"{''.join(parts)}\n\n__all__ = [\n    {public},\n]\n__version__: str\n\n" + "\n".join(functions) + "\n"


def _card_classes() -> dict[str, type[Card]]:
    """Return the class of the cards of each kind."""
    return {kind: type(registry.cards()[0]) for kind, registry in REGISTRIES_BY_KIND.items()}


def _card_overloads() -> list[str]:
    """Return the signatures of ``card``: names of one kind only, the kinds, and other names."""
    counts = Counter(name for registry in REGISTRIES_BY_KIND.values() for name in registry)
    signatures = []
    for kind, card_class in _card_classes().items():
        registry = REGISTRIES_BY_KIND[kind]
        names = [name for name in registry if counts[name] == 1]
        names += [name for name in registry.public_names() if name not in counts]
        literals = ", ".join(f'"{name}"' for name in sorted(names))
        signatures += [f"name: Literal[{literals}], kind: None = ...) -> {card_class.__name__}: ..."]
        signatures += [f'name: str, kind: Literal["{kind}"]) -> {card_class.__name__}: ...']
    signatures.append("name: str, kind: str | None = ...) -> Card: ...")
    return [f"@overload\ndef card({signature}" for signature in signatures]


def _record_imports(functions: list[str], imported: Collection[str] = ()) -> list[str]:
    """Return the imports of the records that functions return, except those that are imported already."""
    used = set(re.findall(r"\w+", "\n".join(functions)))
    records = record_modules().items()
    return [f"from {module} import {name}" for name, module in records if name in used and name not in imported]


def _measures_stub() -> str:
    """Return the stub of the measures: a function for each."""
    functions = [_measure(name, MEASURES.get(name)) for name in MEASURES]
    imports = "\n".join(sorted(_record_imports(functions)))
    return f"{HEADER.format(title='The measures')}{imports}\n\n" + "\n".join(functions) + "\n"


def _measure(name: str, function: Callable[..., Any]) -> str:
    """Return a measure: a float, and by its keywords a value for each number of neighbors or bounds over ties."""
    signature, card = inspect.signature(function), MEASURES.card(name)
    if signature.return_annotation is not signature.empty:
        return _function(name, function)
    numbers = [ONE_NUMBER, SEVERAL_NUMBERS] if "n_neighbors" in card.parameters else [ONE_NUMBER]
    several = SEVERAL_NUMBERS if card.curve else None  # a curve has a value for each number of neighbors
    overloads = []
    for ties in ("index", "bounds") if "ties" in signature.parameters else ("index",):
        for number in numbers:
            types = MEASURE_PARAMETERS | {"n_neighbors": number, "ties": f'Literal["{ties}"]'}
            required = ["ties"] * (ties == "bounds") + ["n_neighbors"] * (number == SEVERAL_NUMBERS)
            overloads.append((types, required, RESULTS[several or number, ties]))
    lines = [_typed_function(name, signature, *overload) for overload in overloads]
    return "\n".join(f"@overload\n{line}" for line in lines) if len(lines) > 1 else lines[0]


def _typed_function(
    name: str, signature: inspect.Signature, types: Mapping[str, str], required: Collection[str], result: str
) -> str:
    """Return a function with these types of parameters; the required ones have no default, and then go by name."""
    parameters = [
        parameter.replace(
            annotation=types.get(parameter.name, "Any"),
            default=parameter.empty if parameter.name in required else parameter.default,
        )
        for parameter in signature.parameters.values()
    ]
    return _function(name, signature.replace(parameters=parameters, return_annotation=result))


def _datasets_stub() -> str:
    """Return the stub of the data sets: a function for each."""
    functions = [_function(name, getattr(dreval.datasets, name)) for name in DATASETS]
    functions = [function.replace("-> Any", "-> Dataset") for function in functions]
    imports = "from dreval.datasets._dataset import Dataset"
    return f"{HEADER.format(title='The data sets')}{imports}\n\n" + "\n".join(functions) + "\n"


def _methods_stub() -> str:
    """Return the stub of the methods: a class with its parameters, fitted attributes and further methods for each."""
    classes = []
    for card in METHODS.cards():
        method_class = METHODS.get(card.name)
        lines = [_function("__init__", method_class.__init__).replace("-> Any", "-> None")]
        parameters = inspect.signature(method_class).parameters.values()
        further = [parameter for parameter in parameters if parameter.name not in vars(Method)["__annotations__"]]
        lines += [f"{parameter.name}: {_type(parameter.annotation)}" for parameter in further]
        lines += [f"{name}: {kind}" for name, kind in fitted_attributes(method_class).items() if name != "embedding_"]
        functions = [(name, getattr(method_class, name)) for name in further_methods(method_class)]
        lines += [line for name, function in functions for line in _overloads(name, function)]
        classes.append(f"class {card.class_name}(Method):\n    " + "\n    ".join(lines) + "\n")
    header = HEADER.format(title="The classes of all methods")
    return f"{header}from dreval.methods._method import Method\n\n{''.join(classes)}"


def fitted_attributes(method_class: type[Any]) -> dict[str, str]:
    """Return the fitted attributes of a method with their types, from its docstring."""
    section = re.search(r"Attributes\n-+\n(.*?)(?=\n\n\w[^\n]*\n---|\Z)", inspect.getdoc(method_class) or "", re.DOTALL)
    entries = re.findall(r"^(\w+(?:, \w+)*) : (\w+)", section[1], re.MULTILINE) if section else []
    return {name: FITTED_TYPES.get(kind, "Any") for names, kind in entries for name in names.split(", ")}


def _overloads(name: str, function: Callable[..., Any]) -> list[str]:
    """Return the lines of a function that may have several signatures."""
    variants = get_overloads(function)
    lines = [["@overload", _function(name, variant)] for variant in variants] or [[_function(name, function)]]
    return [line for pair in lines for line in pair]


def further_methods(method_class: type[Any]) -> list[str]:
    """Return the public functions of a method that ``Method`` does not have or that it overrides."""
    classes = [base for base in method_class.__mro__ if issubclass(base, Method) and base is not Method]
    attributes = [attribute for base in classes for attribute in vars(base).items()]
    return sorted({name for name, value in attributes if name[0] != "_" and inspect.isfunction(value)})


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


def _function(name: str, function: Callable[..., Any] | inspect.Signature) -> str:
    """Return a function, or its signature, on one line; a default is written as ``...``."""
    signature = function if isinstance(function, inspect.Signature) else inspect.signature(function)
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
    annotation = re.sub(r"\bFloatArray\b", FLOATS, annotation)
    names = set(re.findall(r"[A-Za-z_][\w.]*", re.sub(r"(['\"]).*?\1", "", annotation)))
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
