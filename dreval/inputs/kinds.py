"""Decide what kind of value the user passed: an array, a frame, a file, an estimator, and so on.

Only ``kind_of`` looks at the types and attributes of foreign objects. Data, variables, coordinates and sources have one
branch for each kind that they accept.

No foreign library is imported. A class is recognized by its name and the name of its library, also among its bases, or
else by attributes. The first row of this table that applies decides.

==================  ==================================================================================================
kind                recognized by
==================  ==================================================================================================
CLASS               a type
ANNDATA_FILE        a path or text that ends in .h5ad, or in .zarr where the folder has an entry ``obs``
PATH                another path object; text that ends like the path of a table, or names an existing file
TEXT                other text
SOURCE              ``Source`` of dreval
LAZY_TABLE          ``LazyTable`` of dreval
EMBEDDING           ``Embedding`` of dreval
LABELS              ``LabelVector`` of dreval
DATA_COLUMN         ``DataColumn`` of dreval
FRAME, SERIES       ``DataFrame`` and ``Series`` of pandas
VECTOR              ``Index`` and ``ExtensionArray`` of pandas
MEMORY_MAP          ``memmap`` of numpy; floats in C order are an ARRAY
ARRAY               ``ndarray`` of numpy
HDF5_ARRAY          ``Dataset`` of h5py
ZARR_ARRAY          ``Array`` of zarr
DASK_ARRAY          ``Array`` of dask
GROUP               ``Group`` and ``File`` of h5py, ``Group`` of zarr
QUERY               ``LazyFrame`` of polars
ANNDATA             the attributes X, obs, obsm and obs_names
SPARSE_FILE         a class of anndata with group, format and to_memory: a sparse matrix in a file
FRAME_FILE          a class of anndata with to_memory: a frame in a file
SPARSE              tocsr and toarray
ESTIMATOR           fit_transform, or fit and transform, without ``__array__``
MODEL               fit, without transform and ``__array__``
DATASET             data, and labels or target
FOREIGN_TABLE       to_pandas: tables and columns of polars and Arrow
TENSOR              detach and numpy: torch
DLPACK_ARRAY        ``__dlpack_device__``
ESTIMATOR           transform, without ``__array__``: a map that is not fitted
FUNCTION            can be called, without ``__array__``
LIST                a list or a tuple
MAPPING             a mapping
ITERATOR            an iterator
OTHER               anything else, which numpy may convert
==================  ==================================================================================================
"""

from __future__ import annotations

import enum
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dreval._check import nearest_name, resolve_alias
from dreval.errors import InputError, MissingFile, UnknownName


class Kind(enum.Enum):
    """A kind of value; the docstring of this module has the rule for each."""

    CLASS = enum.auto()
    ANNDATA_FILE = enum.auto()
    PATH = enum.auto()
    TEXT = enum.auto()
    SOURCE = enum.auto()
    LAZY_TABLE = enum.auto()
    EMBEDDING = enum.auto()
    LABELS = enum.auto()
    DATA_COLUMN = enum.auto()
    FRAME = enum.auto()
    SERIES = enum.auto()
    VECTOR = enum.auto()
    MEMORY_MAP = enum.auto()
    ARRAY = enum.auto()
    HDF5_ARRAY = enum.auto()
    ZARR_ARRAY = enum.auto()
    DASK_ARRAY = enum.auto()
    GROUP = enum.auto()
    QUERY = enum.auto()
    ANNDATA = enum.auto()
    SPARSE_FILE = enum.auto()
    FRAME_FILE = enum.auto()
    SPARSE = enum.auto()
    ESTIMATOR = enum.auto()
    MODEL = enum.auto()
    DATASET = enum.auto()
    FOREIGN_TABLE = enum.auto()
    TENSOR = enum.auto()
    DLPACK_ARRAY = enum.auto()
    FUNCTION = enum.auto()
    LIST = enum.auto()
    MAPPING = enum.auto()
    ITERATOR = enum.auto()
    OTHER = enum.auto()


PATHS = frozenset({Kind.PATH, Kind.ANNDATA_FILE})
NOT_IN_MEMORY = frozenset(
    {
        *(Kind.LAZY_TABLE, Kind.MEMORY_MAP, Kind.HDF5_ARRAY, Kind.ZARR_ARRAY, Kind.DASK_ARRAY),
        *(Kind.GROUP, Kind.SPARSE_FILE),
    }
)
CLASSES = {  # kinds by the name of a library and of a class
    ("dreval", "Source"): Kind.SOURCE,
    ("dreval", "LazyTable"): Kind.LAZY_TABLE,
    ("dreval", "Embedding"): Kind.EMBEDDING,
    ("dreval", "LabelVector"): Kind.LABELS,
    ("dreval", "DataColumn"): Kind.DATA_COLUMN,
    ("pandas", "DataFrame"): Kind.FRAME,
    ("pandas", "Series"): Kind.SERIES,
    ("pandas", "Index"): Kind.VECTOR,
    ("pandas", "ExtensionArray"): Kind.VECTOR,
    ("numpy", "memmap"): Kind.MEMORY_MAP,
    ("numpy", "ndarray"): Kind.ARRAY,
    ("h5py", "Dataset"): Kind.HDF5_ARRAY,
    ("zarr", "Array"): Kind.ZARR_ARRAY,
    ("dask", "Array"): Kind.DASK_ARRAY,
    ("h5py", "Group"): Kind.GROUP,
    ("zarr", "Group"): Kind.GROUP,
    ("polars", "LazyFrame"): Kind.QUERY,
}


def library_of(cls: type) -> str:
    """Return the name of the library of a class."""
    return str(cls.__module__).partition(".")[0]


def is_sparse(value: Any) -> bool:
    """Check whether a value is a scipy sparse matrix or array, or has the same methods."""
    return hasattr(value, "tocsr") and hasattr(value, "toarray")


def kind_of(value: Any) -> Kind:
    """Return the kind of a value, by the table in the docstring of this module.

    Examples
    --------
    >>> import numpy as np
    >>> [kind_of(value).name for value in (np.eye(3), "map.csv", "pca", [[1, 2]], len, int)]
    ['ARRAY', 'PATH', 'TEXT', 'LIST', 'FUNCTION', 'CLASS']
    """
    if isinstance(value, type):
        return Kind.CLASS
    if isinstance(value, str | os.PathLike):
        return _kind_of_text(value)
    for cls in type(value).__mro__:
        kind = CLASSES.get((library_of(cls), cls.__name__))
        if kind is Kind.MEMORY_MAP and value.flags.c_contiguous and value.dtype in (np.float32, np.float64):
            return Kind.ARRAY  # it is used like any other array, row by row
        if kind is not None:
            return kind
    return _kind_by_attributes(value)


def _kind_of_text(value: str | os.PathLike[str]) -> Kind:
    """Return the kind of a path or a text."""
    if not is_path(value):
        return Kind.TEXT
    path = split_member(os.fspath(value))[0]
    is_anndata = path.lower().endswith(".h5ad") or (path.lower().endswith(".zarr") and os.path.isdir(f"{path}/obs"))
    return Kind.ANNDATA_FILE if is_anndata else Kind.PATH


def _kind_by_attributes(value: Any) -> Kind:
    """Return the kind of an object of a class that is not in ``CLASSES``."""

    def has(*names: str) -> bool:
        return all(hasattr(value, name) for name in names)

    def does(name: str) -> bool:
        return callable(getattr(value, name, None))

    if has("X", "obs", "obsm", "obs_names"):
        return Kind.ANNDATA
    if library_of(type(value)) == "anndata" and has("to_memory"):
        return Kind.SPARSE_FILE if has("group", "format") else Kind.FRAME_FILE
    if is_sparse(value):
        return Kind.SPARSE
    is_array = has("__array__")
    if not is_array and does("fit_transform"):
        return Kind.ESTIMATOR
    if not is_array and has("fit"):
        return Kind.ESTIMATOR if does("transform") else Kind.MODEL
    if (has("labels") or has("target")) and has("data"):  # data last, since a column of Arrow warns if it is accessed
        return Kind.DATASET
    if has("to_pandas"):
        return Kind.FOREIGN_TABLE
    if has("detach", "numpy"):
        return Kind.TENSOR
    if has("__dlpack_device__"):
        return Kind.DLPACK_ARRAY
    if not is_array and does("transform"):
        return Kind.ESTIMATOR
    if not is_array and callable(value):
        return Kind.FUNCTION
    if isinstance(value, list | tuple):
        return Kind.LIST
    if isinstance(value, Mapping):
        return Kind.MAPPING
    return Kind.ITERATOR if isinstance(value, Iterator) else Kind.OTHER


# Paths as users write them: ``file.csv``, ``file.csv:column``, ``file.npz:name``, with or without a drive letter.

SUFFIXES = (".csv", ".csv.gz", ".h5ad", ".mtx", ".npy", ".npz", ".parquet", ".tsv", ".tsv.gz", ".zarr")
_MEMBER = re.compile(
    r"(?P<path>.+?\.(?:csv\.gz|tsv\.gz|csv|tsv|npz|parquet|npy|mtx|h5ad|zarr)):(?P<member>[^/\\].*)", re.I | re.S
)
_WEB = re.compile(r"[a-z][a-z0-9+.-]+://", re.I)


@dataclass(frozen=True)
class Located:
    """An existing file, its suffix in lower case, and the column or array named after it."""

    path: Path
    suffix: str
    member: str | None


def split_member(path: str) -> tuple[str, str | None]:
    """Split ``"labels.csv:species"`` into file and column.

    A drive letter is not split off, and neither is a part of an existing file that has this very name.
    """
    match = None if os.path.exists(path) else _MEMBER.fullmatch(path)
    return (match["path"], match["member"]) if match else (path, None)


def suffix_of(path: str) -> str:
    """Return the known suffix of a path in lower case, else its last suffix."""
    lower = path.lower()
    matching = [suffix for suffix in SUFFIXES if lower.endswith(suffix)]
    return max(matching, key=len) if matching else os.path.splitext(lower)[1]


def stem_of(path: str | os.PathLike[str]) -> str:
    """Return the name of a file without folder, member and known suffix: ``"a/my.v2.csv.gz"`` is ``my.v2``."""
    name = os.path.basename(split_member(os.fspath(path))[0])
    return name[: len(name) - len(suffix_of(name))] or name


def distinct_names(paths: Sequence[str | os.PathLike[str]]) -> list[str]:
    """Return names of files: their stems, or where two are equal the paths below the folder that they share.

    Examples
    --------
    >>> distinct_names(["old/a.npy", "old/b.npy"]), distinct_names(["runs/v1/emb.npy", "runs/v2/emb.npy"])
    (['a', 'b'], ['v1/emb.npy', 'v2/emb.npy'])
    """
    stems = [stem_of(path) for path in paths]
    if len({*stems}) == len(stems):
        return stems
    absolute = [os.path.abspath(os.fspath(path)) for path in paths]
    if len({os.path.splitdrive(path)[0] for path in absolute}) > 1:
        return absolute
    folder = os.path.commonpath([os.path.dirname(path) for path in absolute])
    return [os.path.relpath(path, folder).replace(os.sep, "/") for path in absolute]


def has_suffix(text: str) -> bool:
    """Check whether a string ends like the path of a table file (with or without a member)."""
    return suffix_of(split_member(text)[0]) in SUFFIXES


def is_path(value: object) -> bool:
    """Check whether a value is a path: a path object, an existing file, or a name with a known suffix."""
    if isinstance(value, os.PathLike):
        return True
    return isinstance(value, str) and (has_suffix(value) or ("\0" not in value and os.path.isfile(value)))


def nearest_file(path: str) -> str | None:
    """Return the most similar name of a file in its folder, or None; without a suffix, the file of that name."""
    folder, name = os.path.split(path)
    try:
        entries = sorted(os.listdir(folder or "."))
    except (OSError, ValueError):
        return None
    if os.path.splitext(name)[1]:
        return nearest_name(name, entries if has_suffix(name) else filter(has_suffix, entries))
    stems = {entry.split(".")[0]: entry for entry in entries if has_suffix(entry)}
    near = nearest_name(name, stems) if folder else resolve_alias(name, stems)
    return stems.get(near or "")


def locate(path: str | os.PathLike[str], argument: str) -> Located:
    """Return the file that a path names; an error says why there is none."""
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
    suffix = suffix_of(name)
    if os.path.isdir(name) and suffix != ".zarr":
        raise InputError(argument, "must be a file", f"the folder {name!r}", "Name a file within it.")
    if suffix not in SUFFIXES:
        listed = ", ".join(SUFFIXES)
        array = f'open it by h5py and pass an array of it, h5py.File({name!r})["name"]'
        alternative = array if suffix in (".h5", ".hdf5") else "load it yourself and pass the array"
        if suffix in (".txt", ".dat"):
            alternative = "rename it, to .tsv where tabs separate its columns, else to .csv (also if spaces do)"
        if suffix in (".rds", ".rda", ".rdata"):
            alternative = "write it in R: write.csv(x, 'x.csv')"
        hint = f"Known: {listed}. Save the table as one of them, or {alternative}."
        raise InputError(argument, "must be a table file of a known kind", f"{name!r}", hint)
    if os.path.getsize(name) == 0:
        raise InputError(argument, "must not be empty", f"{name!r} of 0 bytes", "Write the file again.")
    return Located(Path(name), suffix, member)


def _missing(name: str, argument: str) -> UnknownName:
    """Return the error for a file that does not exist."""
    folder = os.path.dirname(name)
    near = nearest_file(name)
    if folder and not os.path.isdir(folder):
        hint = f"The folder {folder!r} does not exist either."
    elif near:
        hint = f"Did you mean {os.path.join(folder, near)!r}?"
    else:
        hint = f"No file in {folder or os.curdir!r} has a similar name."
    return MissingFile(argument, "must be an existing file", repr(name), hint)
