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
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from dreval.inputs.paths import is_path, split_member


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
