"""The base class of records, their read-only attributes, and atomic writes of files."""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
from abc import ABCMeta
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from dreval._check import attribute_error
from dreval._docs import fill_docstring
from dreval.errors import DrevalError, InputError

if TYPE_CHECKING:
    import pandas as pd


class Summary(Protocol):
    """A printed result: ``str()`` gives text for 80 columns, the other methods the same content in other formats."""

    def as_text(self) -> str:
        """Return plain text, for a terminal of 80 columns."""
        ...

    def as_markdown(self) -> str:
        """Return Markdown, with the tables of GitHub."""
        ...

    def as_html(self) -> str:
        """Return a part of a page."""
        ...

    def as_latex(self, label: str | None = None) -> str:
        """Return tables with captions and labels, for a LaTeX document."""
        ...


class RecordType(ABCMeta):
    """The type of the classes of records: a missing attribute, as ``Results.load``, gets the hint of an instance."""

    if not TYPE_CHECKING:

        def __getattr__(cls, name: str) -> Any:
            raise attribute_error(cls, name)


class Record(metaclass=RecordType):
    """A computed result: ``print`` and a bare expression show its summary, and a notebook shows it as HTML."""

    def summary(self, full: bool = False) -> Summary:
        """Return the printed form of the record: the answer first, then its numbers.

        Parameters
        ----------
        full : bool, default False
            Whether to add all notes, the settings, the call that reproduces the record, and its further tables.

        Returns
        -------
        Summary
            ``str()`` of it is text for 80 columns; ``as_html()``, ``as_latex()``, ``as_markdown()`` give other formats.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> X = np.random.default_rng(0).normal(size=(40, 4))
        >>> print(dreval.embed(X, "pca").summary())
        pca embedded 40 points in 2 dimensions, from 4 columns. ...
        """
        return self._summary(full)

    def _summary(self, full: bool) -> Summary:
        """Return the printed form; each record forwards to its function in ``report/``."""
        raise NotImplementedError

    if not TYPE_CHECKING:  # type checkers should still report missing attributes

        def __getattr__(self, name: str) -> Any:
            raise attribute_error(self, name, "" if name.startswith("_") else self._expression_for(name))

    def _expression_for(self, name: str) -> str:
        """Return the expression that has what users expect of an attribute; empty if there is none."""
        return ""

    def __str__(self) -> str:
        return str(self.summary())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.summary().as_html()

    def __init_subclass__(cls, **options: Any) -> None:
        """Fill the entries that the docstrings of ``plot`` and of ``report`` share."""
        super().__init_subclass__(**options)
        for name in ("plot", "report"):
            if name in vars(cls):
                vars(cls)[name].__doc__ = fill_docstring(vars(cls)[name].__doc__)


class TableRecord(Record):
    """A record whose content is one table; the class documents its columns under ``table``."""

    table: pd.DataFrame

    def tidy(self) -> pd.DataFrame:
        """Return the table, a row for each observation; changes of it have no effect on the record.

        Examples
        --------
        >>> import numpy as np, dreval
        >>> x = np.linspace(-1, 1, 40)
        >>> curve = dreval.kappa_curve(x, x**2, kappas=[0.01, 0.1], n_resamples=99, random_state=0)
        >>> curve.tidy()[["kappa", "p_value"]]
           kappa  p_value
        0   0.01     0.01
        1   0.10     0.01
        """
        return self.table


# Records that cannot be changed: arrays are frozen once, at construction, and frames are handed out as copies.

RecordClass = TypeVar("RecordClass", bound=type)


def read_only(record: RecordClass) -> RecordClass:
    """Decorate a frozen dataclass so that the caller cannot change the contents of its public attributes.

    At construction arrays become read-only views, and dicts and lists read-only copies, at any depth. Frames and sparse
    matrices are handed out as copies that share their memory until they are written to (with pandas before version 3 as
    full copies). Internal attributes (with an underscore) are not protected.

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
    initialize = record.__init__  # type: ignore[misc]

    @wraps(initialize)
    def initialize_frozen(self: Any, *arguments: Any, **options: Any) -> None:
        initialize(self, *arguments, **options)
        _set_frozen(self, vars(self))

    record.__init__ = initialize_frozen  # type: ignore[misc]
    record.__setstate__ = _set_frozen  # type: ignore[attr-defined]
    for field in fields(record):
        kind = str(field.type)
        if kind == "Any" or ("DataFrame" in kind and not kind.startswith(("dict", "Mapping"))):
            setattr(record, field.name, CopiedAttribute(field.name))
    return record


def _set_frozen(record: Any, state: dict[str, Any]) -> None:
    """Set the attributes of a new, copied or unpickled record."""
    vars(record).update({name: value if name.startswith("_") else freeze(value) for name, value in state.items()})


class CopiedAttribute:
    """An attribute that may be a frame or a sparse matrix, and hands out a copy."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.__doc__ = None  # the docstring of the record describes its attributes

    def __get__(self, record: Any, owner: type | None = None) -> Any:
        if record is None:
            return self
        try:
            return handed_out(vars(record)[self.name])
        except KeyError:
            raise AttributeError(f"{type(record).__name__!r} object has no attribute {self.name!r}") from None

    def __set__(self, record: Any, value: Any) -> None:
        """Set the value. Only ``__init__`` calls this: a frozen dataclass refuses all other assignments."""
        vars(record)[self.name] = value


def handed_out(value: Any) -> Any:
    """Return a copy of a frame or a sparse matrix that shares its memory until it is written to; else the value."""
    if hasattr(value, "iloc"):
        import pandas as pd

        return value.copy(deep=int(pd.__version__.partition(".")[0]) < 3)
    return _sparse_matrix(value, value.data, value.indices, value.indptr) if _is_sparse(value) else value


def freeze(value: Any) -> Any:
    """Return a value as a record stores it: arrays are read-only, and dicts and lists copies that cannot be changed."""
    if isinstance(value, np.ndarray):
        return read_only_array(value)
    if _is_sparse(value):
        return _sparse_matrix(value, *map(read_only_array, (value.data, value.indices, value.indptr)))
    if isinstance(value, FrozenItems):
        return value
    if isinstance(value, Mapping):
        if any(isinstance(item, np.ndarray) or hasattr(item, "iloc") or is_dataclass(item) for item in value.values()):
            return FrozenItems(value)
        return FixedDict({key: freeze(item) for key, item in value.items()})
    if isinstance(value, list):
        return FixedList(map(freeze, value))
    if isinstance(value, tuple):
        parts = tuple(map(freeze, value))
        return type(value)(*parts) if hasattr(value, "_fields") else parts
    return value


def read_only_array(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a view of an array that cannot be written to; the array itself does not change."""
    view = array.view()
    view.flags.writeable = False
    return view


def _is_sparse(value: Any) -> bool:
    """Return whether a value is a sparse matrix in compressed form."""
    return getattr(value, "format", "") in ("csr", "csc") and hasattr(value, "indptr")


def _sparse_matrix(matrix: Any, *parts: npt.NDArray[Any]) -> Any:
    """Return a sparse matrix like another one with these arrays of its data."""
    return type(matrix)(parts, shape=matrix.shape)


class FrozenItems(Mapping[str, Any]):
    """A dict of arrays, frames or records that cannot be changed; tables that are not in memory are read on access."""

    def __init__(self, items: Mapping[str, Any]) -> None:
        self._values = {name: freeze(value) for name, value in items.items()}

    def __getitem__(self, name: str) -> Any:
        value = self._values[name]
        is_lazy = hasattr(value, "__array__") and hasattr(value, "__getitem__") and not hasattr(value, "iloc")
        return read_only_array(np.asarray(value)) if is_lazy else handed_out(value)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return repr(self._values)


def _refuse_change(self: Any, *_: Any, **__: Any) -> NoReturn:
    """Raise for a change, as a tuple and a mappingproxy do."""
    raise TypeError(
        f"this {type(self).__mro__[1].__name__} belongs to a record, which cannot be changed; copy it first"
    )


class FixedDict(dict[str, Any]):
    """A dict that cannot be changed; a copy of it can."""

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse_change

    def __reduce__(self) -> Any:
        return type(self), (dict(self),)

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        return deepcopy(dict(self), memo)


class FixedList(list[Any]):
    """A list that cannot be changed; a copy of it can."""

    __setitem__ = __delitem__ = __iadd__ = __imul__ = append = clear = extend = insert = pop = _refuse_change
    remove = reverse = sort = _refuse_change

    def __reduce__(self) -> Any:
        return type(self), (list(self),)

    def __deepcopy__(self, memo: dict[int, Any]) -> list[Any]:
        return deepcopy(list(self), memo)


# Atomic writes: a reader finds the old content or the new content, never a part of it.

DISK_FULL_CODES = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
DESCRIPTOR_PATH = re.compile(
    r"/(?:dev/fd|proc/self/fd|dev)/(\d+|stdout|stderr)"
)  # a descriptor of this process, by its path
STANDARD_DESCRIPTORS = {"stdout": 1, "stderr": 2}
BINARY_FLAG = getattr(os, "O_BINARY", 0)  # exists only on Windows
_MAGIC = b"SQLite format 3\0"


def is_journal(path: str | os.PathLike[str]) -> bool:
    """Return whether the first bytes of a file are those of a journal (a study, or a store of a run)."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def refuse_journal(path: str | os.PathLike[str], argument: str) -> None:
    """Raise if a file is that of a study or a journal: results must not overwrite finished work."""
    if is_journal(path):
        received = f"{os.fspath(path)!r}, which holds the finished work of a study or a run"
        raise InputError(argument, "must not be the file of a study or a journal", received, "Choose another path.")


def write_atomic(path: str | os.PathLike[str], content: str | bytes, argument: str = "path") -> Path:
    """Write a file atomically, text as UTF-8; see ``whole_file``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomic(pathlib.Path(folder) / "a.txt", "good").read_text()
    'good'
    """
    with whole_file(path, argument) as file:
        file.write(content.encode("utf-8") if isinstance(content, str) else content)
    return Path(path)


@contextmanager
def whole_file(path: str | os.PathLike[str], argument: str = "path") -> Iterator[BinaryIO]:
    """Open a file for writing that replaces ``path`` when the block ends without an error.

    The content goes to a temporary file in the same folder (``.NAME.XXXX.part``, which a killed process leaves behind
    and which may be deleted), is forced to the disk, and is renamed. After an error, an interrupt or a full disk the
    old file is unchanged. The file of a study or a journal is not replaced. A link keeps pointing at its file, which
    keeps its permissions; another hard link to it keeps the old content. ``/dev/stdout``, a pipe and a device are
    written directly.

    Raises
    ------
    InputError
        If the file cannot be written, or is that of a study or a journal.
    """
    target = Path(os.path.realpath(path))
    try:
        old = target.stat() if target.exists() else None
        if (descriptor_path := DESCRIPTOR_PATH.fullmatch(os.path.abspath(path))) is not None:
            number = descriptor_path[1]
            with open(os.dup(STANDARD_DESCRIPTORS.get(number) or int(number)), "wb") as file:
                yield file
            return
        if old is not None and not (stat.S_ISREG(old.st_mode) or stat.S_ISDIR(old.st_mode)):
            with open(target, "wb") as file:
                yield file
            return
        if old is not None and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        refuse_journal(target, argument)
        part = target.with_name(f".{target.name[:40]}.{secrets.token_hex(4)}.part")
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | BINARY_FLAG, 0o666)
        try:
            with open(descriptor, "wb") as file:
                if old is not None:
                    _keep_owner(descriptor, old)
                yield file
                file.flush()
                os.fsync(descriptor)
            os.replace(part, target)
        except BaseException:
            with suppress(FileNotFoundError):
                part.unlink()
            raise
        _sync_folder(target.parent)
    except DrevalError:
        raise
    except OSError as cause:
        reason = cause.strerror or str(cause)
        requirement, hint = "must be a place where a file can be written", "Choose another path."
        if cause.errno in DISK_FULL_CODES:
            requirement, hint = "must be on a disk with room for it", "Free some space, or choose another disk."
        raise InputError(argument, requirement, f"{os.fspath(path)!r} ({reason})", hint) from cause


def _keep_owner(descriptor: int, old: os.stat_result) -> None:
    """Give the new file the permissions of the old one, and its owner where that is allowed."""
    if hasattr(os, "fchmod"):
        with suppress(PermissionError):
            os.fchown(descriptor, old.st_uid, old.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(old.st_mode))


def _sync_folder(folder: Path) -> None:
    """Force the new name to the disk, if folders can be opened."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
