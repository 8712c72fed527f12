"""Tables in binary files: .npy, .npz, .parquet and .mtx. Nothing that could run code (a pickle) is ever loaded."""

from __future__ import annotations

import importlib
import importlib.util
import struct
import tokenize
import warnings
import zipfile
import zlib
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd

from dreval._check import nearest_name
from dreval.errors import InputError, UnknownName

__all__ = ["read_h5ad", "read_matrix_market", "read_numpy", "read_parquet"]

_PREFERRED = ("X", "data", "Y", "embedding")
_BROKEN = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    OSError,
    EOFError,
    MemoryError,
    OverflowError,
    RuntimeError,
    SyntaxError,
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    tokenize.TokenError,
)


def _unreadable(path: Path, argument: str, kind: str, why: object) -> InputError:
    """The error for a file that is not what its suffix says."""
    text = " ".join(str(why).split())[:120]
    return InputError(argument, f"must be a readable {kind} file", f"{str(path)!r} ({text})", "Write the file again.")


def _pickled(path: Path, argument: str) -> InputError:
    """The error for objects, which are never loaded because loading them can run code."""
    cure = "Save plain numbers: numpy.save(path, array.astype(float))."
    return InputError(
        argument, "must hold plain numbers", f"{str(path)!r} with pickled objects, which are never loaded", cure
    )


def read_numpy(path: Path, argument: str, member: str | None) -> Any:
    """The array in a .npy file, or the array or sparse matrix meant in a .npz file."""
    kind = path.suffix.lower()
    try:
        with path.open("rb") as file:
            return _load(file, path, argument, member)
    except _BROKEN as error:
        if isinstance(error, InputError | UnknownName):
            raise
        if "allow_pickle" in str(error):
            raise _pickled(path, argument) from error
        raise _unreadable(path, argument, kind, error) from error


def _load(file: BinaryIO, path: Path, argument: str, member: str | None) -> Any:
    """What numpy reads from an open file."""
    start = file.read(6)
    if start.startswith(b"\x80"):
        raise _pickled(path, argument)
    if not start.startswith((b"\x93NUMPY", b"PK")):
        raise _unreadable(path, argument, path.suffix.lower(), "its first bytes are not those of numpy")
    file.seek(0)
    loaded = np.load(file, allow_pickle=False)
    if isinstance(loaded, np.ndarray):
        return loaded
    with loaded:
        return _member(loaded, path, argument, member)


def _member(archive: Any, path: Path, argument: str, member: str | None) -> Any:
    """The array that is meant among those of a .npz file; a scipy.sparse file is one matrix."""
    names = list(archive.files)
    if {"format", "shape", "data"} <= set(names) and member is None:
        from scipy.sparse import load_npz

        return load_npz(path)
    if member is not None and member not in names:
        near = nearest_name(member, names)
        cure = (f"Did you mean {near!r}? " if near else "") + f"It holds: {', '.join(sorted(names))}."
        raise UnknownName(argument, f"must name an array of {str(path)!r}", repr(member), cure)
    wanted = [member] if member is not None else names if len(names) == 1 else [n for n in _PREFERRED if n in names]
    if len(wanted) != 1:
        example = f"Name one of them: '{path.name}:{names[0]}'." if names else "Write the file again."
        got = f"{str(path)!r} with {', '.join(sorted(names)) or 'no array'}"
        raise InputError(argument, "must hold one array, or name one", got, example)
    return np.asarray(archive[wanted[0]])


def read_parquet(path: Path, argument: str) -> tuple[pd.DataFrame, bool]:
    """The table in a .parquet file, and whether pandas wrote an index with it; it needs pyarrow."""
    _require("pyarrow", "parquet", "a .parquet file", path, argument)
    parquet = importlib.import_module("pyarrow.parquet")
    try:
        with parquet.ParquetFile(path) as file:
            table = file.read()
            frame: pd.DataFrame = table.to_pandas()
            indexed = bool((table.schema.pandas_metadata or {}).get("index_columns"))
    except (*_BROKEN, importlib.import_module("pyarrow").ArrowException) as error:
        raise _unreadable(path, argument, ".parquet", error) from error
    return frame, indexed


def read_matrix_market(path: Path, argument: str) -> Any:
    """The matrix in a .mtx file (Matrix Market): an array, or a sparse matrix."""
    from scipy.io import mmread

    try:
        return mmread(path)
    except _BROKEN as error:
        raise _unreadable(path, argument, ".mtx", error) from error


def read_h5ad(path: Path, argument: str) -> tuple[Any, tuple[str, ...]]:
    """The AnnData object in a .h5ad file, and a note where the file has an old layout; it needs anndata."""
    _require("anndata", "anndata", "a .h5ad file", path, argument)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = importlib.import_module("anndata").read_h5ad(path)
        except (*_BROKEN, ImportError) as error:
            raise _unreadable(path, argument, ".h5ad", error) from error
    others = [one for one in caught if one.category.__name__ != "OldFormatWarning"]
    for one in others:
        warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    old = f"'{path.name}' has the layout of an old AnnData, which is read all the same; writing it again renews it."
    return found, (old,) if len(others) < len(caught) else ()


def _require(package: str, extra: str, what: str, path: Path, argument: str) -> None:
    """Refuse a file whose reader is not installed."""
    if importlib.util.find_spec(package) is None:
        cure = f'Run: pip install "dreval[{extra}]"'
        raise InputError(
            argument, f"needs {package} to read {what}", f"{str(path)!r} without {package} installed", cure
        )
