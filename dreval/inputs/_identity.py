"""What a source is, in words that change when it changes: the key under which its finished runs are kept."""

from __future__ import annotations

import hashlib
import inspect
import types
from collections.abc import Mapping
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from dreval.inputs._source import Source
from dreval.inputs._sources import CallableSource, EstimatorSource, MethodSource

__all__ = ["digest", "identity"]

DEPTH = 6  # how deep code within code is followed


def digest(array: Any) -> str:
    """Hash of an array: its type, shape and every bit."""
    array = np.ascontiguousarray(array)
    head = f"{array.dtype.str}{array.shape}".encode()
    body = repr(array.tolist()).encode() if array.dtype.hasobject else array.tobytes()
    return hashlib.sha256(head + body).hexdigest()


def identity(source: Source) -> dict[str, str]:
    """Kind, name, parameters and version of what a source runs; for code of no installed package also the code.

    What code reads from outside (global variables, files) is not seen.
    """
    if isinstance(source, MethodSource):
        return {"kind": source.kind, "what": source.what, "parameters": _describe(source.parameters)}
    if isinstance(source, EstimatorSource):
        estimator = source.estimator
        params = estimator.get_params() if hasattr(estimator, "get_params") else vars(estimator)
        return {"kind": source.kind, "parameters": _describe(params), **_code(type(estimator))}
    if isinstance(source, CallableSource):
        return {"kind": source.kind, "parameters": _describe(source.options), **_code(source.function)}
    known = {"kind": source.kind, "what": source.what, "name": source.name}
    return known if source.recording is None else {**known, "recording": source.recording.fingerprint}


def _code(thing: Any) -> dict[str, str]:
    """Where a function or class is from, its package's version, or the hash of its code where it is of no package."""
    known = _version(thing)
    found = {"what": _path(thing), "version": known}
    return found if known else {**found, "code": hashlib.sha256(_describe(thing).encode()).hexdigest()}


def _path(thing: Any) -> str:
    return f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', type(thing).__qualname__)}"


def _version(thing: Any) -> str:
    package = (getattr(thing, "__module__", "") or "").split(".")[0]
    try:
        return version({"sklearn": "scikit-learn", "umap": "umap-learn"}.get(package, package or "-"))
    except PackageNotFoundError:
        return ""


def _describe(value: Any, depth: int = 0) -> str:
    """A value in words without addresses: arrays by their hash, code by what it does and what it closes over."""
    deeper = depth + 1
    if depth > DEPTH:
        return type(value).__qualname__
    if hasattr(value, "__array__") and not inspect.isclass(value):
        return f"array {digest(value)}"
    if isinstance(value, types.CodeType):
        consts = ", ".join(_describe(const, deeper) for const in value.co_consts)
        return f"code {value.co_code.hex()} {value.co_names} ({consts})"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_describe(value[key], deeper)}" for key in sorted(value, key=str)) + "}"
    if isinstance(value, tuple | list):
        return f"[{', '.join(_describe(item, deeper) for item in value)}]"
    parts = _parts(value)
    if parts is not None:
        return f"{_path(value)} " + " ".join(_describe(part, deeper) for part in parts)
    return repr(value)


def _parts(value: Any) -> list[Any] | None:
    """What a function, class or object without words of its own is made of; None for everything else."""
    if inspect.isfunction(value):
        cells = [cell.cell_contents for cell in value.__closure__ or () if cell != types.CellType()]
        return [value.__code__, value.__defaults__, value.__kwdefaults__, *cells]
    if inspect.ismethod(value):
        return [value.__func__, value.__self__]
    if isinstance(value, partial):
        return [value.func, value.args, value.keywords]
    if inspect.isclass(value):
        own = [cls for cls in value.__mro__ if not _version(cls) and cls.__module__ != "builtins"]
        return [method for cls in own for name, method in sorted(vars(cls).items()) if inspect.isfunction(method)]
    if type(value).__repr__ is object.__repr__:  # type: ignore[comparison-overlap]
        return [type(value), getattr(value, "__dict__", {})]
    return None
