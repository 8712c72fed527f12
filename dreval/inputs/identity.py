"""Kind, parameters and code of a source: the key under which its finished runs are kept.

Not by joblib.hash or cloudpickle: they pickle functions of a user's modules by name, so that edited code would keep
its key; they fail on lambdas or differ between processes; and pickling runs code of the objects.
"""

from __future__ import annotations

import dis
import hashlib
import inspect
import re
import sys
import types
from collections.abc import Iterator, Mapping
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from typing import Any

import numpy as np

from dreval._check import FloatArray
from dreval.inputs.source_kinds import CallableSource, EstimatorSource, MethodSource, Source

DEPTH = 20  # how deep values within values are followed; code goes about three levels deeper with each call
ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")
PLAIN: tuple[Any, ...] = (str, bytes, int, float, complex, type(None))


def digest(array: Any) -> str:
    """Hash of an array: its type, shape and every bit."""
    array = np.ascontiguousarray(array)
    head = f"{array.dtype.str}{array.shape}".encode()
    body = repr(array.tolist()).encode() if array.dtype.hasobject else array.tobytes()
    return hashlib.sha256(head + body).hexdigest()


def equal_maps(one: FloatArray, other: FloatArray) -> bool:
    """Whether two embeddings are the same up to rounding, 1e-10 of their extent; none is if their shapes differ."""
    if one.shape != other.shape:
        return False
    return bool(np.abs(one - other).max(initial=0.0) <= 1e-10 * np.ptp(other, axis=0).max(initial=0.0))


def identity(source: Source) -> dict[str, str]:
    """Kind, name, parameters and version of the code of a source; outside installed packages also the code itself.

    Code outside packages is described with its closure and the global variables that it reads: values, arrays, and
    functions and classes outside packages, recursively. Files, the environment, and modules imported within a function
    are not part of the description.
    """
    if isinstance(source, MethodSource):
        return {"kind": source.kind, "what": source.what, "parameters": _describe(source.parameters)}
    if isinstance(source, EstimatorSource):
        estimator = source.estimator
        params = estimator.get_params() if hasattr(estimator, "get_params") else {}
        known = params if _version(type(estimator)) and params else {**_state(estimator), **params}
        return {"kind": source.kind, "parameters": _describe(known), **code_of(type(estimator))}
    if isinstance(source, CallableSource):
        return {"kind": source.kind, "parameters": _describe(source.options), **code_of(source.function)}
    known = {"kind": source.kind, "what": source.what, "name": source.name}
    return known if source.recording is None else {**known, "recording": source.recording.fingerprint}


def code_of(thing: Any) -> dict[str, str]:
    """Path of a function or class, version of its package, and the hash of its description."""
    code = hashlib.sha256(_describe(thing).encode()).hexdigest()
    return {"what": _path(thing), "version": _version(thing), "code": code}


def _path(thing: Any) -> str:
    return f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', type(thing).__qualname__)}"


def _version(thing: Any) -> str:
    """Version of the package of an object, of Python for the standard library; else empty."""
    module = thing.__name__ if inspect.ismodule(thing) else getattr(thing, "__module__", "") or ""
    return _package_version(module.split(".")[0])


@cache
def _package_version(package: str) -> str:
    if package in sys.stdlib_module_names and package != "__main__":
        return f"Python {sys.version_info.major}.{sys.version_info.minor}"
    for name in (package or "-", *packages_distributions().get(package, ())):
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    return ""


def _describe(value: Any) -> str:
    """A description of a value without addresses: arrays by their hash, code by its bytecode and the names it reads."""
    return _Description().of(value)


class _Description:
    """The description of a value and of all values it refers to; a repeated value is described by its number."""

    def __init__(self) -> None:
        self.seen: dict[int, tuple[int, Any]] = {}  # keeps the values: an address is reused after its value is deleted

    def of(self, value: Any, depth: int = 0) -> str:
        """One value."""
        if type(value) in PLAIN:
            return repr(value)
        if depth > DEPTH:
            return type(value).__qualname__
        if id(value) in self.seen:
            return f"again {self.seen[id(value)][0]}"
        self.seen[id(value)] = (len(self.seen), value)
        if hasattr(value, "__array__") and not inspect.isclass(value):
            return f"array {digest(value)}"
        return self._compound(value, depth + 1)

    def _compound(self, value: Any, deeper: int) -> str:
        """A value that contains others."""
        if isinstance(value, types.CodeType):
            consts = ", ".join(self.of(const, deeper) for const in value.co_consts)
            return f"code {value.co_code.hex()} {value.co_names} ({consts})"
        if isinstance(value, Mapping):
            return "{" + ", ".join(f"{key}: {self.of(value[key], deeper)}" for key in sorted(value, key=str)) + "}"
        if isinstance(value, set | frozenset):
            return f"set {[self.of(item, deeper) for item in sorted(value, key=repr)]}"
        if isinstance(value, tuple | list):
            return f"[{', '.join(self.of(item, deeper) for item in value)}]"
        if inspect.ismodule(value):
            return f"module {value.__name__} {_version(value)}"
        parts = _parts(value)
        if parts is not None:
            return f"{_path(value)} {_version(value)} " + " ".join(self.of(part, deeper) for part in parts)
        return ADDRESS.sub("", repr(value))


def _parts(value: Any) -> list[Any] | None:
    """The parts of a function, class, or object without a repr of its own; None for other values."""
    if inspect.isfunction(value):
        if _version(value):
            return [_closed_over(value)]
        return [value.__code__, value.__defaults__, value.__kwdefaults__, _closed_over(value), _read(value)]
    if inspect.ismethod(value):
        return [value.__func__, value.__self__]
    if isinstance(value, partial):
        return [value.func, value.args, value.keywords]
    if inspect.isclass(value):
        own = [cls for cls in value.__mro__ if not _version(cls)]
        return [item for cls in own for name, item in sorted(vars(cls).items()) if name not in _OF_EVERY_CLASS]
    if callable(getattr(value, "__wrapped__", None)):  # a decorated function of another type: compiled, cached
        return [value.__wrapped__]
    if isinstance(value, staticmethod | classmethod | property):
        return [getattr(value, name, None) for name in ("__func__", "fget", "fset")]
    own_class = not _version(type(value)) and (hasattr(value, "__dict__") or bool(_slots(type(value))))
    if own_class or type(value).__repr__ is object.__repr__:  # type: ignore[comparison-overlap]
        return [type(value), _state(value), *(plain.__repr__(value) for plain in PLAIN if isinstance(value, plain))]
    return None


def _state(value: Any) -> dict[str, Any]:
    """The attributes of an object: those in its dictionary, and those in the slots of its class and their bases."""
    slots = {name: getattr(value, name) for name in _slots(type(value)) if hasattr(value, name)}
    return {**slots, **getattr(value, "__dict__", {})}


def _slots(cls: type) -> list[str]:
    """Names of the slots along the bases, as attributes are found by them."""
    names = []
    for base in reversed(cls.__mro__):
        own = vars(base).get("__slots__", ())
        for name in [own] if isinstance(own, str) else own:
            hidden = name.startswith("__") and not name.endswith("__")
            names.append(f"_{base.__name__.lstrip('_')}{name}" if hidden else name)
    return [name for name in names if name not in _OF_EVERY_CLASS]


_OF_EVERY_CLASS = {"__dict__", "__weakref__", "__doc__", "__module__", "__firstlineno__", "__static_attributes__"}


def _closed_over(function: Any) -> list[Any]:
    return [cell.cell_contents for cell in function.__closure__ or () if cell != types.CellType()]


def _read(function: Any) -> dict[str, Any]:
    """The global variables that a function reads, by name; of modules outside packages the attributes it reads."""
    codes = list(_codes(function.__code__))
    loads = {i.argval for code in codes for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    found = {name: function.__globals__[name] for name in sorted(loads) if name in function.__globals__}
    names = {name for code in codes for name in code.co_names}
    for name, value in list(found.items()):
        if inspect.ismodule(value) and not _version(value):
            found |= {f"{name}.{key}": vars(value)[key] for key in sorted(names & set(vars(value)))}
    return found


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """Code and all code within it."""
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from _codes(const)
