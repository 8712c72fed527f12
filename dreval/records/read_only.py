"""Records that cannot be written to: arrays are handed out as read-only views, tables and dicts as copies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import fields, is_dataclass
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from dreval._check import keywords_checked

__all__ = ["read_only", "read_only_array"]

Record = TypeVar("Record", bound=type)


def read_only_array(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A view of an array that cannot be written to; the array itself stays as it is."""
    view = array.view()
    view.flags.writeable = False
    return view


def read_only(record: Record) -> Record:
    """Decorate a frozen dataclass: what its public attributes hold is protected from the caller.

    Arrays come as views that refuse to be written to, tables as copies, dicts of arrays and tables as mappings that
    refuse new items, other dicts as read-only copies. Internal attributes (with an underscore) stay as they are.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @read_only
    ... @dataclass(frozen=True)
    ... class Example:
    ...     values: np.ndarray
    >>> Example(np.zeros(2)).values[0] = 1
    Traceback (most recent call last):
    ...
    ValueError: assignment destination is read-only
    """
    for field in fields(record):
        if not field.name.startswith("_"):
            setattr(record, field.name, _Protected(field.name))
    return keywords_checked(record)


class _Protected:
    """An attribute of a record. The value itself lies in the record's ``__dict__``; a copy or view is handed out."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, record: Any, owner: type | None = None) -> Any:
        if record is None:
            return self
        try:
            return _protected(vars(record)[self.name])
        except KeyError:
            raise AttributeError(f"{type(record).__name__!r} object has no attribute {self.name!r}") from None

    def __set__(self, record: Any, value: Any) -> None:
        """Called by ``__init__`` only: a frozen dataclass refuses everyone else."""
        if isinstance(value, _Items):
            value = value.own
        vars(record)[self.name] = dict(value) if isinstance(value, MappingProxyType) else value


class _Items(Mapping[str, Any]):
    """A dict of arrays, tables or records, each protected when it is looked up."""

    def __init__(self, own: dict[str, Any]) -> None:
        self.own = own

    def __getitem__(self, name: str) -> Any:
        return _protected(self.own[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.own)

    def __len__(self) -> int:
        return len(self.own)

    def __repr__(self) -> str:
        return repr(self.own)


def _protected(value: Any) -> Any:
    """The value in a form that leaves the record as it is, whatever the caller does to it."""
    if isinstance(value, np.ndarray):
        return read_only_array(value)
    if hasattr(value, "iloc"):
        return value.copy()
    if isinstance(value, dict):
        held = (isinstance(item, np.ndarray) or hasattr(item, "iloc") or is_dataclass(item) for item in value.values())
        return _Items(value) if any(held) else MappingProxyType(deepcopy(value))
    if getattr(value, "format", "") in ("csr", "csc") and hasattr(value, "indptr"):
        parts = tuple(read_only_array(part) for part in (value.data, value.indices, value.indptr))
        return type(value)(parts, shape=value.shape)
    return value
