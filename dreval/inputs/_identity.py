"""What a source is, in words that change when it changes: the key under which its finished runs are kept."""

from __future__ import annotations

import hashlib
import inspect
import re
import types
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from dreval.inputs._source import Source
from dreval.inputs._sources import CallableSource, EstimatorSource, MethodSource

__all__ = ["digest", "identity"]


def digest(array: Any) -> str:
    """Hash of an array: its type, shape and every bit."""
    array = np.ascontiguousarray(array)
    head = f"{array.dtype.str}{array.shape}".encode()
    body = repr(array.tolist()).encode() if array.dtype.hasobject else array.tobytes()
    return hashlib.sha256(head + body).hexdigest()


def identity(source: Source) -> dict[str, str]:
    """Kind, name, parameters and version of what a source runs; for a function its code as well.

    What a function reads from outside (global variables, files) is not seen.
    """
    if isinstance(source, MethodSource):
        return {"kind": source.kind, "what": source.what, "parameters": _mapping(source.parameters)}
    if isinstance(source, EstimatorSource):
        cls = type(source.estimator)
        params = source.estimator.get_params() if hasattr(source.estimator, "get_params") else vars(source.estimator)
        return {"kind": source.kind, "what": _path(cls), "parameters": _mapping(params), "version": _version(cls)}
    if isinstance(source, CallableSource):
        function = source.function
        return {
            "kind": source.kind,
            "what": _path(function),
            "parameters": _mapping(source.options),
            "version": _version(function),
            "code": hashlib.sha256(_describe(function).encode()).hexdigest(),
        }
    return {"kind": source.kind, "what": source.what, "name": source.name}


def _path(thing: Any) -> str:
    return f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', type(thing).__qualname__)}"


def _version(thing: Any) -> str:
    package = (getattr(thing, "__module__", "") or "").split(".")[0]
    try:
        return version({"sklearn": "scikit-learn", "umap": "umap-learn"}.get(package, package or "-"))
    except PackageNotFoundError:
        return ""


def _mapping(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={_describe(values[name])}" for name in sorted(values))


def _describe(value: Any, depth: int = 0) -> str:
    """A value in words without addresses; arrays by their hash, functions by their code, what they close over."""
    if isinstance(value, np.ndarray):
        return f"array {digest(value)}"
    if isinstance(value, types.CodeType):
        consts = ", ".join(_describe(const, depth + 1) for const in value.co_consts)
        return f"code {value.co_code.hex()} {value.co_names} ({consts})"
    if inspect.isfunction(value) and depth < 4:
        cells = [cell.cell_contents for cell in value.__closure__ or () if cell != types.CellType()]
        parts = [value.__code__, value.__defaults__, value.__kwdefaults__, *cells]
        return f"function {value.__qualname__} " + " ".join(_describe(part, depth + 1) for part in parts)
    if isinstance(value, tuple | list):
        return f"[{', '.join(_describe(item, depth) for item in value)}]"
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))
