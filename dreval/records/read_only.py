"""Records that cannot be written to: what they hand out refuses to be written to, or leaves the record as it is."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import fields, is_dataclass
from typing import Any, NoReturn, TypeVar

import numpy as np
import numpy.typing as npt

from dreval._check import keywords_checked

Record = TypeVar("Record", bound=type)


def read_only_array(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A view of an array that cannot be written to; the array itself stays as it is."""
    view = array.view()
    view.flags.writeable = False
    return view


def read_only(record: Record) -> Record:
    """Decorate a frozen dataclass: what its public attributes hold is protected from the caller.

    Arrays are handed out as views that refuse to be written to, tables as copies that share their memory until they are
    written to, dicts of arrays and tables as mappings that refuse new items, other dicts and lists, at any depth, as
    such that refuse to be changed. An access takes the same time whatever the size. Internal attributes (with an
    underscore) stay as they are. With pandas before version 3 tables are copied as a whole, but for the names of rows.

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
    page = inspect.cleandoc(record.__doc__ or "")
    for field in fields(record):
        if not field.name.startswith("_"):
            entry = re.search(rf"^(?:\w+, )*{field.name}(?:, \w+)* : .*(?:\n    .*)*", page, re.MULTILINE)
            setattr(record, field.name, _Protected(field.name, entry[0] if entry else ""))
    record.__setstate__ = _restored  # type: ignore[attr-defined]
    return keywords_checked(record)


def _restored(record: Any, state: dict[str, Any]) -> None:
    """Fill a record that was pickled or copied."""
    vars(record).update({name: value if name.startswith("_") else _kept(value) for name, value in state.items()})


class _Protected:
    """An attribute of a record. The value itself lies in the record's ``__dict__``; a view of it is handed out."""

    def __init__(self, name: str, entry: str) -> None:
        self.name = name
        self.__doc__ = entry  # of the class docstring: what help(Record.attribute) prints

    def __get__(self, record: Any, owner: type | None = None) -> Any:
        if record is None:
            return self
        try:
            held = vars(record)[self.name]
        except KeyError:
            raise AttributeError(f"{type(record).__name__!r} object has no attribute {self.name!r}") from None
        return _handed_out(held)

    def __set__(self, record: Any, value: Any) -> None:
        """Called by ``__init__`` only: a frozen dataclass refuses everyone else."""
        vars(record)[self.name] = _kept(value)


def _kept(value: Any) -> Any:
    """A value as a record keeps it: dicts, lists and tuples are copies that cannot be changed."""
    if isinstance(value, _Items):
        return value
    if isinstance(value, Mapping):
        if any(isinstance(item, np.ndarray) or hasattr(item, "iloc") or is_dataclass(item) for item in value.values()):
            return _Items(dict(value))
        return FixedDict({key: _kept(item) for key, item in value.items()})
    if isinstance(value, list):
        return FixedList(map(_kept, value))
    if isinstance(value, tuple):
        parts = tuple(map(_kept, value))
        return type(value)(*parts) if hasattr(value, "_fields") else parts
    return _handed_out(value) if isinstance(value, np.ndarray) else value


def _handed_out(value: Any) -> Any:
    """A value as a record hands it out: whatever the caller does to it, the record stays."""
    if isinstance(value, np.ndarray):
        return read_only_array(value)
    if hasattr(value, "iloc"):
        import pandas as pd

        return value.copy(deep=int(pd.__version__.partition(".")[0]) < 3)
    if getattr(value, "format", "") in ("csr", "csc") and hasattr(value, "indptr"):
        parts = tuple(read_only_array(part) for part in (value.data, value.indices, value.indptr))
        return type(value)(parts, shape=value.shape)
    return value


class _Items(Mapping[str, Any]):
    """A dict of arrays, tables or records, each protected when it is looked up."""

    def __init__(self, own: dict[str, Any]) -> None:
        self.own = own

    def __getitem__(self, name: str) -> Any:
        value = self.own[name]
        stored = hasattr(value, "__array__") and hasattr(value, "__getitem__") and not hasattr(value, "iloc")
        if stored and not isinstance(value, np.ndarray):  # a table that is not in memory is read when it is looked at
            value = np.asarray(value)
        return _handed_out(value)

    def __iter__(self) -> Iterator[str]:
        return iter(self.own)

    def __len__(self) -> int:
        return len(self.own)

    def __repr__(self) -> str:
        return repr(self.own)


def _refuse(self: Any, *_: Any, **__: Any) -> NoReturn:
    """Refuse a change, as a tuple and a mappingproxy do."""
    raise TypeError(
        f"this {type(self).__mro__[1].__name__} belongs to a record, which cannot be changed; copy it first"
    )


class FixedDict(dict[str, Any]):
    """A dict that cannot be changed; a copy of it can."""

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> Any:
        return type(self), (dict(self),)

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        return deepcopy(dict(self), memo)


class FixedList(list[Any]):
    """A list that cannot be changed; a copy of it can."""

    __setitem__ = __delitem__ = __iadd__ = __imul__ = append = clear = extend = insert = pop = _refuse
    remove = reverse = sort = _refuse

    def __reduce__(self) -> Any:
        return type(self), (list(self),)

    def __deepcopy__(self, memo: dict[int, Any]) -> list[Any]:
        return deepcopy(list(self), memo)
