"""Files as tables: paths as users write them, and one refusal for each way in which a file can be wrong."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import struct
import tokenize
import warnings
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd

from dreval._check import nearest_name
from dreval.errors import DrevalError, InputError, UnknownName
from dreval.inputs._text import read_text

__all__ = [
    "SUFFIXES",
    "Located",
    "Table",
    "find_column",
    "has_column",
    "has_suffix",
    "is_unnamed",
    "locate",
    "nearest_file",
    "read_h5ad",
    "read_matrix_market",
    "read_numpy",
    "read_parquet",
    "read_table",
    "split_member",
]

SUFFIXES = (".csv", ".csv.gz", ".h5ad", ".mtx", ".npy", ".npz", ".parquet", ".tsv", ".tsv.gz")
_MEMBER = re.compile(
    r"(?P<path>.+?\.(?:csv\.gz|tsv\.gz|csv|tsv|npz|parquet|npy|mtx|h5ad)):(?P<member>[^/\\].*)", re.I | re.S
)
ALIKE = 0.7  # of a word that need not be meant as a file at all: one letter of four may differ
_WEB = re.compile(r"[a-z][a-z0-9+.-]+://", re.I)


@dataclass(frozen=True)
class Located:
    """An existing file, its suffix in small letters, and what was named within it."""

    path: Path
    suffix: str
    member: str | None


def split_member(path: str) -> tuple[str, str | None]:
    """``"labels.csv:species"`` as file and column; a drive letter or a file that has this very name is not split."""
    found = None if os.path.exists(path) else _MEMBER.fullmatch(path)
    return (found["path"], found["member"]) if found else (path, None)


def suffix_of(path: str) -> str:
    """The known suffix of a path in small letters, or whatever its last suffix is."""
    small = path.lower()
    known = [suffix for suffix in SUFFIXES if small.endswith(suffix)]
    return max(known, key=len) if known else os.path.splitext(small)[1]


def stem_of(path: str | os.PathLike[str]) -> str:
    """The file's name without folder, member and known suffix: ``"a/my.v2.csv.gz"`` is ``my.v2``."""
    name = os.path.basename(split_member(os.fspath(path))[0])
    return name[: len(name) - len(suffix_of(name))] or name


def has_suffix(text: str) -> bool:
    """Whether a string is written like a table file (with or without a member)."""
    return suffix_of(split_member(text)[0]) in SUFFIXES


def nearest_file(path: str) -> str | None:
    """The existing name in the same folder that is most like the path's (with or without its suffix), or None."""
    folder, name = os.path.split(path)
    try:
        entries = sorted(os.listdir(folder or "."))
    except (OSError, ValueError):
        return None
    if has_suffix(name):
        return nearest_name(name, entries)
    stems = {entry.split(".")[0]: entry for entry in entries if has_suffix(entry)}
    return stems.get(nearest_name(name, stems, ALIKE) or "")


def locate(path: str | os.PathLike[str], argument: str) -> Located:
    """The file meant, or the reason why there is none."""
    text = os.path.expanduser(os.fspath(path))
    if _WEB.match(text):
        raise InputError(
            argument, "must be a local file", repr(text), "Download it first and pass the path of the copy."
        )
    if "\0" in text:
        raise InputError(argument, "must be a path", repr(text), "Remove the null character.")
    name, member = split_member(text)
    if not os.path.exists(name):
        raise _missing(name, argument)
    if os.path.isdir(name):
        raise InputError(argument, "must be a file", f"the folder {name!r}", "Name a file within it.")
    suffix = suffix_of(name)
    if suffix not in SUFFIXES:
        listed = ", ".join(SUFFIXES)
        cure = f"Known: {listed}. Save the table as one of them, or load it yourself and pass the array."
        raise InputError(argument, "must be a table file of a known kind", f"{name!r}", cure)
    if os.path.getsize(name) == 0:
        raise InputError(argument, "must not be empty", f"{name!r} of 0 bytes", "Write the file again.")
    return Located(Path(name), suffix, member)


def _missing(name: str, argument: str) -> UnknownName:
    """The error for a file that does not exist."""
    folder = os.path.dirname(name)
    near = nearest_file(name)
    if folder and not os.path.isdir(folder):
        cure = f"The folder {folder!r} does not exist either."
    elif near:
        cure = f"Did you mean {os.path.join(folder, near)!r}?"
    else:
        cure = f"No file in {folder or os.curdir!r} has a similar name."
    return UnknownName(argument, "must be an existing file", repr(name), cure)


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


@dataclass(frozen=True, eq=False)
class Table:
    """What a file holds.

    Attributes
    ----------
    values : DataFrame, ndarray or sparse matrix
        The whole table; of a ``.npz`` file the array that was meant.
    columns : tuple of str or None
        Column names; None when the file has none.
    path : str
        The file.
    column : str or None
        The column named behind the path (``"labels.csv:species"``).
    notes : tuple of str
        What was assumed in reading it.
    indexed : bool
        Whether the index of ``values`` was written to the file by pandas (.parquet) and is not only counted anew.
    """

    values: Any
    columns: tuple[str, ...] | None
    path: str
    column: str | None = None
    notes: tuple[str, ...] = ()
    indexed: bool = False


def read_table(path: str | os.PathLike[str], argument: str = "path") -> Table:
    r"""Read a file of rows and columns.

    Text files may be separated by commas, tabs or semicolons and carry a byte-order mark. A first row of numbers is
    data, any other first row is the header; the numbers 0, 1, 2, ... that pandas writes above unnamed columns are a
    header too. Numbers are read to the last bit. Pickled objects are never loaded.

    Parameters
    ----------
    path : str or path-like
        A file ending in .csv, .tsv, .csv.gz, .tsv.gz, .npy, .npz, .parquet or .mtx. ``"file.csv:column"`` names a
        column, ``"file.npz:name"`` an array.
    argument : str
        Name of the argument for error messages.

    Returns
    -------
    Table
        Values, column names, path, the column named, and notes.

    Raises
    ------
    UnknownName
        The file, the column or the array does not exist; the nearest right name is given.
    InputError
        A folder, an empty file, a web page saved under the name of a table, ragged rows, binary or broken content,
        pickled objects, several arrays without a name, an unknown suffix, or a reader that is not installed.

    Notes
    -----
    Time and memory are linear in the size of the file; a text file is held once as bytes beside the table.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from dreval.inputs.files import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "points.csv")
    ...     _ = file.write_text("x,y\n0.5,1\n2,3\n")
    ...     table = read_table(file)
    >>> table.columns
    ('x', 'y')
    >>> table.values.to_numpy()
    array([[0.5, 1. ],
           [2. , 3. ]])
    """
    found = locate(path, argument)
    if found.suffix in (".npy", ".npz"):
        return Table(read_numpy(found.path, argument, found.member), None, str(found.path))
    if found.suffix == ".mtx":
        return Table(read_matrix_market(found.path, argument), None, str(found.path))
    if found.suffix == ".h5ad":
        cure = "Pass it as `data`; its obs columns and obsm keys can then be used by name."
        raise InputError(argument, "must be a file with one table", repr(str(found.path)), cure)
    return _frame_table(found, argument)


def _frame_table(found: Located, argument: str) -> Table:
    """The table of a file with named columns."""
    notes: tuple[str, ...] = ()
    indexed = False
    if found.suffix == ".parquet":
        named = True
        frame, indexed = read_parquet(found.path, argument)
    else:
        frame, named, notes = read_text(found.path, found.suffix, argument)
    column = None
    if found.member is not None:
        position = find_column(frame.columns, found.member, argument, f"a column of {str(found.path)!r}")
        column = str(frame.columns[position])
    names = tuple(str(name) for name in frame.columns) if named else None
    return Table(frame, names, str(found.path), column, notes, indexed)


def has_column(path: str, name: str) -> bool:
    """Whether a file is a table that has a column of this name."""
    try:
        return name in (read_table(path).columns or ())
    except DrevalError:
        return False


def is_unnamed(name: object) -> bool:
    """Whether the first column has no name of its own: what row names become in a file."""
    return str(name) in ("", "Unnamed: 0")


def find_column(columns: pd.Index[Any], name: object, argument: str, what: str) -> int:
    """Position of a column by its name (``3`` and ``"3"`` are one name); unknown and repeated names are refused."""
    names = [str(column) for column in columns]
    if (times := names.count(str(name))) == 1:
        return names.index(str(name))
    if times > 1:
        cure = "Rename the columns so that each name occurs once."
        raise InputError(argument, f"must name {what}", f"{name!r}, the name of {times} columns", cure)
    names = names[1:] if len(names) > 1 and is_unnamed(names[0]) else names  # row names are no column to choose
    near = nearest_name(str(name), names)
    listed = ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
    cure = (f"Did you mean {near!r}? " if near else "") + f"Known: {listed}."
    raise UnknownName(argument, f"must name {what}", repr(name), cure)
