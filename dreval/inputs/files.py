"""Read a table from a file or any Python object: values, row names and column names in one form."""

from __future__ import annotations

import csv
import importlib.util
import os
import re
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd

from dreval._check import check_npy, describe, did_you_mean, nearest_name
from dreval._check_arrays import ROWS_FROM_ZERO, check_numeric, check_unmasked
from dreval.errors import DrevalError, Hint, InputError, UnknownName, UserCode, message_of, usable_stderr
from dreval.inputs.features import COLUMN_SOURCE, ROW_NAMES, as_csr, check_real, densify, is_numeric, native
from dreval.inputs.kinds import NOT_IN_MEMORY, PATHS, SUFFIXES, Kind, is_path, is_sparse, kind_of, locate, stem_of
from dreval.inputs.sizes import check_hdf5, check_mtx, check_npz, check_parquet, check_sparse
from dreval.inputs.stored import (
    COLORS_SUFFIX,
    MIN_BLOCKWISE_BYTES,
    LazyTable,
    as_stored,
    check_obsm,
    open_cells,
    open_parquet,
    open_zarr,
)
from dreval.inputs.text_tables import AUTO, HeaderOptions, read_text
from dreval.records.notes import Notes, note
from dreval.registry import DATASETS

# Files as tables: .csv .tsv (also .gz) .npy .npz .parquet .mtx .h5ad .zarr, and an error for each kind of fault.

_PREFERRED = ("X", "data", "Y", "embedding")


def _unreadable(path: Path, argument: str, kind: str, why: object) -> InputError:
    """Return the error for a file whose content does not fit its suffix."""
    text = " ".join(str(why).split())[:120]
    return InputError(argument, f"must be a readable {kind} file", f"{str(path)!r} ({text})", "Write the file again.")


def _pickled(path: Path, argument: str) -> InputError:
    """Return the error for pickled objects, which are never loaded because loading can run code."""
    save = "savez(path, name=" if path.suffix.lower() == ".npz" else "save(path, "
    hint = f"Save numbers as numpy.{save}array.astype(float)), classes as numpy.{save}array.astype(str))."
    return InputError(
        argument, "must hold plain numbers or text", f"{str(path)!r} with pickled objects, which are never loaded", hint
    )


def read_numpy(path: Path, argument: str, member: str | None) -> Any:
    """Return the array in a .npy file, or the selected array or sparse matrix in a .npz file."""
    kind = path.suffix.lower()
    try:
        with path.open("rb") as file:
            return _load(file, path, argument, member)
    except DrevalError:
        raise
    except Exception as error:  # of numpy, scipy, zipfile and its compression formats
        raise _unreadable(path, argument, kind, error) from error


def _load(file: BinaryIO, path: Path, argument: str, member: str | None) -> Any:
    """Return the content of an open .npy or .npz file."""
    magic = file.read(6)
    if magic.startswith(b"\x80"):
        raise _pickled(path, argument)
    if not magic.startswith((b"\x93NUMPY", b"PK")):
        raise _unreadable(path, argument, path.suffix.lower(), "its first bytes are not those of a numpy file")
    file.seek(0)
    if magic.startswith(b"\x93NUMPY"):
        if check_npy(file, path.stat().st_size):
            raise _pickled(path, argument)
        if path.stat().st_size > MIN_BLOCKWISE_BYTES:
            return np.load(path, mmap_mode="r", allow_pickle=False)
        file.seek(0)
    loaded = np.load(file, allow_pickle=False)
    if isinstance(loaded, np.ndarray):
        return loaded
    with loaded:
        names = list(loaded.files)
        if {"format", "shape", "data"} <= set(names) and member is None:
            from scipy.sparse import load_npz

            if check_npz(path, argument, set(names)):
                raise _pickled(path, argument)
            return check_sparse(load_npz(path), path, argument)
        if member is not None and member not in names:
            hint = did_you_mean(member, names) + f"It holds: {', '.join(sorted(names))}."
            raise UnknownName(argument, f"must name an array of {str(path)!r}", repr(member), hint)
        candidates = (
            [member] if member is not None else names if len(names) == 1 else [n for n in _PREFERRED if n in names]
        )
        if len(candidates) != 1:
            example = f"Name one of them: '{path.name}:{names[0]}'." if names else "Write the file again."
            received = f"{str(path)!r} with {', '.join(sorted(names)) or 'no array'}"
            raise InputError(argument, "must hold one array, or name one", received, example)
        if check_npz(path, argument, set(candidates)):
            raise _pickled(path, argument)
        return np.asarray(loaded[candidates[0]])


def read_parquet(
    path: Path, argument: str, member: str | None = None, id_columns: Collection[str] | None = None
) -> tuple[pd.DataFrame, bool]:
    """Return the table in a .parquet file, and whether pandas wrote an index with it; this requires pyarrow.

    With ``id_columns`` only ``member`` is read, and the columns that may name the rows: the index, the first two
    columns, the columns in ``id_columns``, and all columns except fractions and truth values.
    """
    _require("pyarrow", "parquet", "a .parquet file", path, argument)
    parquet = importlib.import_module("pyarrow.parquet")
    try:
        with parquet.ParquetFile(path) as file:
            check_parquet(file, path, argument)
            fields, types = list(file.schema_arrow), importlib.import_module("pyarrow.types")
            index = (file.schema_arrow.pandas_metadata or {}).get("index_columns", [])
            columns = None
            if id_columns is not None and member not in index and member in [field.name for field in fields]:
                selected = {member, *id_columns, *(field.name for field in fields[:2])}
                are_numbers = [types.is_floating(field.type) or types.is_boolean(field.type) for field in fields]
                names = (
                    f.name for f, number in zip(fields, are_numbers, strict=True) if f.name in selected or not number
                )
                columns = list(dict.fromkeys(names))
            table = file.read(columns, use_pandas_metadata=True)
            frame: pd.DataFrame = table.to_pandas()
            frame.attrs[COLUMN_SOURCE] = f"pandas.read_parquet({str(path)!r})[{{column}}]"
            indexed = bool(index)
    except DrevalError:
        raise
    except Exception as error:  # of pyarrow and pandas
        raise _unreadable(path, argument, ".parquet", error) from error
    return frame, indexed


def stored_parquet(path: Path, argument: str) -> tuple[LazyTable, pd.Index[Any], pd.Index[Any] | None] | None:
    """Return the table in a large .parquet file, read when needed, its columns and index; None for a small file."""
    _require("pyarrow", "parquet", "a .parquet file", path, argument)
    parquet = importlib.import_module("pyarrow.parquet")
    try:
        with parquet.ParquetFile(path) as file:
            if check_parquet(file, path, argument) <= MIN_BLOCKWISE_BYTES:
                return None
        return open_parquet(path, argument)
    except DrevalError:
        raise
    except Exception as error:  # of pyarrow and pandas
        raise _unreadable(path, argument, ".parquet", error) from error


def read_zarr(path: Path, argument: str, member: str | None) -> Any:
    """Return the array, or the AnnData object whose matrices stay in the file, in a .zarr folder."""
    _require("zarr", "zarr", "a .zarr folder", path, argument)
    try:
        if not path.is_dir():
            raise InputError(argument, "must be a .zarr folder", f"the file {str(path)!r}", "Name the folder.")
        return open_zarr(path, argument, member)
    except DrevalError:
        raise
    except Exception as error:  # other libraries raise errors of any kind
        raise _unreadable(path, argument, ".zarr", error) from error


def read_matrix_market(path: Path, argument: str) -> Any:
    """Return the matrix in a .mtx file (Matrix Market): an array, or a sparse matrix."""
    from scipy.io import mmread

    try:
        check_mtx(path, argument)
        return mmread(path, spmatrix=False)
    except DrevalError:
        raise
    except Exception as error:  # of scipy
        raise _unreadable(path, argument, ".mtx", error) from error


def read_h5ad(path: Path, argument: str) -> tuple[Any, Notes]:
    """Return the AnnData object in a .h5ad file, and a note if the file has an old layout; this requires anndata.

    The matrices of a large file stay in it.
    """
    _require("anndata", "anndata", "a .h5ad file", path, argument)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            cells, size = None, check_hdf5(path, argument)
            with importlib.import_module("h5py").File(path, "r") as file:
                check_obsm(file, path, argument)
            if size > MIN_BLOCKWISE_BYTES:
                file = importlib.import_module("h5py").File(path, "r")
                cells = open_cells(file) if "encoding-type" in file["obs"].attrs else None
            if cells is None:
                cells = importlib.import_module("anndata").read_h5ad(path)
        except DrevalError:
            raise
        except Exception as error:  # other libraries raise errors of any kind
            raise _unreadable(path, argument, ".h5ad", error) from error
    other_warnings = [warning for warning in caught if warning.category.__name__ != "OldFormatWarning"]
    with usable_stderr():
        for warning in other_warnings:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return cells, (note("file.old_anndata", file=path.name),) if len(other_warnings) < len(caught) else ()


def _require(package: str, extra: str, what: str, path: Path, argument: str) -> None:
    """Raise an error if the package that reads a file is not installed."""
    if importlib.util.find_spec(package) is None:
        hint = f'Run: pip install "dreval[{extra}]"'
        raise InputError(
            argument, f"needs {package} to read {what}", f"{str(path)!r} without {package} installed", hint
        )


@dataclass(frozen=True, eq=False)
class Table:
    """Content of a table file.

    Attributes
    ----------
    values : DataFrame, ndarray or sparse matrix
        The whole table; for a ``.npz`` file the selected array.
    columns : tuple of str or None
        Column names, or None.
    path : str
        The file.
    selected : tuple of str
        The columns named behind the path (``"labels.csv:species"``, ``"map.csv:x,y"``), in that order.
    notes : tuple of Note
        Assumptions made in reading it.
    indexed : bool
        Whether pandas wrote the index of ``values`` to the file (.parquet).
    """

    values: Any
    columns: tuple[str, ...] | None
    path: str
    selected: tuple[str, ...] = ()
    notes: Notes = ()
    indexed: bool = False


def read_table(
    path: str | os.PathLike[str],
    argument: str = "path",
    id_columns: Collection[str] | None = None,
    reading: HeaderOptions = AUTO,
) -> Table:
    r"""Read a file of rows and columns.

    Text files may be separated by commas, tabs, semicolons or spaces and start with a byte-order mark. A first row of
    text is the header; a first row with numbers is compared with the rows below, by the rule of
    ``dreval.inputs.text_tables.first_row``, unless ``reading`` decides. Every bit of a number is kept. Next to
    semicolons, decimal commas are read where no other meaning is possible. Pickled objects are never loaded.

    Parameters
    ----------
    path : str or path-like
        A file ending in .csv, .tsv, .csv.gz, .tsv.gz, .npy, .npz, .parquet or .mtx, or a .zarr folder.
        ``"file.csv:column"`` names a column, ``"file.csv:x,y"`` several, ``"file.npz:name"`` an array.
    argument : str
        Name of the argument for error messages.
    id_columns : collection of str, optional
        If passed, only some columns of a .parquet file are read when ``path`` names a column: this column, the columns
        with these names, and the columns that may name the rows.
    reading : Reading, optional
        For text files: whether the first row has the names of the columns, and the number of rows if it is known.

    Returns
    -------
    Table
        Values, column names, path, selected column, and notes.

    Raises
    ------
    UnknownName
        The file, the column or the array does not exist; the message suggests the nearest name.
    InputError
        A folder, an empty file, a web page saved under the name of a table, comments, ragged rows, a line of more than
        2**20 fields, a quote that is never closed, binary or broken content, pickled objects, several arrays without a
        name, an unknown suffix, or a reader that is not installed.

    Warns
    -----
    InputWarning
        A first row of numbers that may be a header or data: the warning says which it was read as.

    Notes
    -----
    Time and memory are linear in the size of the file; the bytes of a text file are held in addition to the table.

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
    location = locate(path, argument)
    if location.suffix in (".npy", ".npz"):
        return Table(read_numpy(location.path, argument, location.member), None, str(location.path))
    if location.suffix == ".mtx":
        return Table(read_matrix_market(location.path, argument), None, str(location.path))
    stored = read_zarr(location.path, argument, location.member) if location.suffix == ".zarr" else None
    if stored is not None and not hasattr(stored, "obs"):
        return Table(as_stored(stored, argument, repr(str(location.path))), None, str(location.path))
    if location.suffix in (".h5ad", ".zarr"):
        hint = "Pass it as {data}; its obs columns and obsm keys can then be used by name."
        raise InputError(argument, "must be a file with one table", repr(str(location.path)), hint, data="data")
    notes: Notes = ()
    indexed = False
    if location.suffix == ".parquet":
        named = True
        frame, indexed = read_parquet(location.path, argument, location.member, id_columns)
    else:
        frame, named, notes = read_text(location.path, location.suffix, argument, reading)
        if named:
            separator = frame.attrs["separator"]
            options = "" if separator == "," else f", sep={separator!r}"
            frame.attrs[COLUMN_SOURCE] = f"pandas.read_csv({str(location.path)!r}{options})[{{column}}]"
    selected: tuple[str, ...] = ()
    if location.member is not None:
        positions = find_columns(frame.columns, location.member, argument, f"a column of {str(location.path)!r}")
        selected = tuple(str(frame.columns[position]) for position in positions)
    names = tuple(str(name) for name in frame.columns) if named else None
    return Table(frame, names, str(location.path), selected, notes, indexed)


def has_column(path: str, name: str) -> bool:
    """Check whether a file is a table that has a column of this name."""
    try:
        return name in (read_table(path, reading=HeaderOptions(header=True)).columns or ())
    except DrevalError:
        return False


def is_unnamed(name: object) -> bool:
    """Check whether a column name marks row names in a file: it is empty, or pandas' "Unnamed: 0"."""
    return str(name) in ("", "Unnamed: 0")


def find_columns(columns: pd.Index[Any], text: str, argument: str, what: str) -> list[int]:
    """Return the positions of the columns that are named behind a path.

    A column with exactly this name takes precedence. Else the names are separated by commas, and a name that contains a
    comma is in double quotes, as in a .csv file. Spaces around a name count only where a column has them.
    """
    names = [str(column) for column in columns]
    if text in names or "," not in text:
        return [find_column(columns, text, argument, what)]
    parts = [part if part in names else part.strip() for part in next(csv.reader([text], skipinitialspace=True))]
    if "" in parts or len(set(parts)) < len(parts):
        hint = "Name each column once, with a comma between two names."
        raise InputError(argument, f"must name {what} between commas", repr(text), hint)
    return [find_column(columns, part, argument, what) for part in parts]


def find_column(columns: pd.Index[Any], name: object, argument: str, what: str) -> int:
    """Return the position of a column by name (``3`` and ``"3"`` are equal), which must exist and be unique."""
    names = [str(column) for column in columns]
    if (times := names.count(str(name))) == 1:
        return names.index(str(name))
    if times > 1:
        hint = "Rename the columns so that each name occurs once."
        raise InputError(argument, f"must name {what}", f"{name!r}, the name of {times} columns", hint)
    names = names[1:] if len(names) > 1 and is_unnamed(names[0]) else names  # row names cannot be selected
    listed = ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
    hint = did_you_mean(str(name), names) + f"Known: {listed}."
    raise UnknownName(argument, f"must name {what}", repr(name), hint)


# Convert arrays, frames, tensors, sparse matrices, AnnData, data sets and files to a frame with row names.

# DLPack devices that numpy reads: main memory, and memory of CUDA and ROCm on the host.
MAIN_MEMORY_DEVICES = (1, 3, 11, 13)
TEXT_SUFFIXES = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
TABLE_HINT = "Pass an (n, p) array whose rows are points, a DataFrame, or a path."
_CONVERSION_ERRORS = (TypeError, ValueError, RuntimeError, NotImplementedError, BufferError, AttributeError)


def as_numpy(value: Any, argument: str) -> Any:
    """Convert a tensor or array of another library to a numpy array, a sparse tensor to a scipy array.

    Other values are returned unchanged.

    Gradients are detached, torch tensors are copied from their device, and bfloat16 and float8 are widened exactly.
    An array that cannot be copied to main memory raises an error.
    """
    try:
        match kind_of(value):
            case Kind.TENSOR:
                return _from_tensor(value)
            case Kind.DLPACK_ARRAY:
                return _from_dlpack(value)
    except _CONVERSION_ERRORS as error:
        why = message_of(error)[:100]
        hint = "Copy it to main memory as a plain array first, for instance with .cpu() or .to_dense()."
        raise InputError(argument, "must become an array of numpy", f"{describe(value)} ({why})", hint) from error
    return value


def _from_tensor(value: Any) -> Any:
    """Convert a tensor of torch."""
    value = value.detach()
    if getattr(value, "is_quantized", False):
        value = value.dequantize()
    if getattr(value, "is_sparse", False) or str(getattr(value, "layout", "")).startswith("torch.sparse"):
        from scipy.sparse import coo_array

        value = value.to_sparse().coalesce()
        places = tuple(_from_tensor(value.indices()))
        return coo_array((_from_tensor(value.values()), places), shape=tuple(value.shape))
    value = value.cpu()
    for view in ("resolve_conj", "resolve_neg"):
        value = getattr(value, view)() if hasattr(value, view) else value
    narrow = "float8" in str(getattr(value, "dtype", "")) or "bfloat16" in str(getattr(value, "dtype", ""))
    return (value.float() if narrow else value).numpy()


def _from_dlpack(value: Any) -> Any:
    """Convert an array by its own conversion to numpy, else by DLPack."""
    device = int(value.__dlpack_device__()[0])
    if device not in MAIN_MEMORY_DEVICES:
        raise BufferError(f"it is on a device of DLPack's type {device}, not in main memory")
    array = np.asarray(value) if hasattr(value, "__array__") else np.from_dlpack(value)
    return array.astype(np.float32) if array.dtype.kind == "V" and "float" in array.dtype.name else array


def as_pandas(value: Any, argument: str) -> Any:
    """Convert a table of polars or Arrow to a pandas frame, a column to a series; both require pyarrow."""
    if kind_of(value) is Kind.QUERY:
        raise InputError(argument, "must be a table", "a query that has not been run", "Pass frame.collect().")
    try:
        converted = value.to_pandas()
        if isinstance(converted, pd.Series):
            converted.attrs[COLUMN_SOURCE] = "series.to_pandas()"
        elif isinstance(converted, pd.DataFrame):
            converted.attrs[COLUMN_SOURCE] = "frame.to_pandas()[{column}]"
        return converted
    except ImportError as error:
        received, hint = f"{type(value).__name__} without pyarrow installed", 'Run: pip install "dreval[parquet]"'
        raise InputError(argument, "needs pyarrow to read such a table", received, hint) from error
    except (TypeError, ValueError) as error:
        why = message_of(error)[:100]
        hint = "Pass an array or a DataFrame with a row for each point."
        raise InputError(argument, "must be a table of rows and columns", f"{describe(value)} ({why})", hint) from error


Palettes = Mapping[str, Mapping[str, str]]  # the color of each class of a variable
SparseOption = bool | Callable[[Any, str], tuple[Any, Notes]]  # whether a matrix stays sparse, or what reads it
OBSM_PREFIX = "obsm:"
OBSP_PREFIX = "obsp:"
PCA_KEY = "X_pca"  # the array of obsm that most tools compute neighbors from


@dataclass(frozen=True, eq=False)
class Annotated:
    """Matrix of an AnnData object, with the names of its columns and rows, its obs and obsm, and colors of classes."""

    matrix: Any
    columns: Any
    names: pd.Index[Any]
    obs: pd.DataFrame
    obsm: Mapping[str, Any]
    palettes: Palettes


def annotated(value: Any, argument: str, layer: str | None) -> Annotated:
    """Return the matrix that ``layer`` names, with its names.

    None means X, "raw" means ``raw.X``, "obsm:key" an array of obsm, "obsp:key" one of obsp; other names are layers.
    """
    matrix, columns = _select_matrix(value, argument, layer)
    kind = kind_of(matrix)
    if kind in NOT_IN_MEMORY:
        matrix = as_stored(matrix, argument)
    elif kind is Kind.FRAME_FILE:
        matrix = matrix.to_memory()
    elif kind not in (Kind.FRAME, Kind.SPARSE):
        matrix = np.asarray(check_unmasked(matrix, argument))  # views too
    obs = value.obs.to_memory() if kind_of(value.obs) is Kind.FRAME_FILE else pd.DataFrame(value.obs)
    return Annotated(matrix, columns, pd.Index(value.obs_names), obs, dict(value.obsm), _palettes(value, obs))


def _palettes(value: Any, obs: pd.DataFrame) -> Palettes:
    """Return the colors of the classes of columns of obs: ``uns["<column>_colors"]``, in the order of the classes."""
    palettes, uns = {}, getattr(value, "uns", None) or {}
    for name in obs.columns:
        colors = uns.get(f"{name}{COLORS_SUFFIX}")
        if isinstance(obs[name].dtype, pd.CategoricalDtype) and not isinstance(colors, Mapping | None):
            classes = map(str, obs[name].cat.categories)
            palettes[str(name)] = dict(zip(classes, map(str, np.atleast_1d(colors)), strict=False))
    return palettes


def _select_matrix(value: Any, argument: str, layer: str | None) -> tuple[Any, Any]:
    """Return the selected matrix, and the names of its columns if it has any."""
    layers, raw = dict(getattr(value, "layers", None) or {}), getattr(value, "raw", None)
    names = getattr(value, "var_names", None)
    if layer is None and value.X is None:
        listed, fields = _selectable(value, layers)
        raise InputError(
            argument, "must have values in X", "an AnnData object without X", f"Name one: {listed}.", **fields
        )
    if layer is None or layer in layers:
        return (value.X if layer is None else layers[layer]), names
    if layer == "raw" and raw is not None:
        return raw.X, raw.var_names
    if layer.startswith(OBSM_PREFIX) and layer.removeprefix(OBSM_PREFIX) in value.obsm:
        return value.obsm[layer.removeprefix(OBSM_PREFIX)], None
    if layer.startswith(OBSP_PREFIX):
        return _select_pairs(value, layer.removeprefix(OBSP_PREFIX), argument), None
    raise _unknown_layer(value, layers, layer)


def _part_name(value: Any, layer: str | None) -> str:
    """Return the name of the selected matrix, as it is written in Python."""
    if layer is None:
        return "X"
    if layer in (getattr(value, "layers", None) or {}):
        return f"layers[{layer!r}]"
    return "raw.X" if layer == "raw" else f"obsm[{layer.removeprefix(OBSM_PREFIX)!r}]"


def _select_pairs(value: Any, key: str, argument: str) -> Any:
    """Return the matrix of obsp of a key, in memory."""
    if key not in value.obsp:
        listed = ", ".join(sorted(value.obsp)) or "none"
        hint = f"{did_you_mean(key, value.obsp)}Keys of obsp: {listed}. scanpy.pp.neighbors writes 'distances'."
        keyword = "use_rep" if argument == "data" else argument
        raise UnknownName(keyword, "must be a key of obsp with lists of neighbors", repr(key), hint)
    matrix = value.obsp[key]
    return matrix.to_memory() if kind_of(matrix) is Kind.SPARSE_FILE else matrix


def chosen_layer(layer: str | None, use_rep: str | None, prefix: str = OBSM_PREFIX) -> str | None:
    """Return a layer, or an array of obsm (or obsp) by ``use_rep``, as the text that can follow the path of a file."""
    if use_rep is None:
        if isinstance(layer, str) and layer.startswith(OBSM_PREFIX):
            hint = "Pass {use_rep} for an array of obsm."
            raise InputError("layer", "must be a layer or 'raw'", repr(layer), hint, use_rep=_keyword(layer))
        return layer
    if not isinstance(use_rep, str):
        raise InputError("use_rep", "must be a key of obsm", describe(use_rep), "Pass text such as 'X_pca'.")
    if layer is not None:
        hint = "Name the one that holds the data."
        received = f"{use_rep!r} with {{layer}}"
        raise InputError("use_rep", "must be left out with {name}", received, hint, layer=_keyword(layer), name="layer")
    return prefix + use_rep


def _keyword(name: str) -> Hint:
    """Return the keyword that selects a matrix of an AnnData object."""
    return Hint("use_rep", name.removeprefix(OBSM_PREFIX)) if name.startswith(OBSM_PREFIX) else Hint("layer", name)


def _selectable(value: Any, layers: Mapping[str, Any]) -> tuple[str, dict[str, Hint]]:
    """List all valid values of ``layer`` and ``use_rep``: as text with fields of an error, and as these fields."""
    names = [*sorted(layers), *(["raw"] if getattr(value, "raw", None) is not None else [])]
    names += [f"{OBSM_PREFIX}{key}" for key in sorted(value.obsm)]
    return ", ".join(f"{{{name}}}" for name in names) or "none", {name: _keyword(name) for name in names}


def _unknown_layer(value: Any, layers: Mapping[str, Any], layer: str) -> UnknownName:
    """Return the error for a name of no matrix; keys of obsm are written with their prefix."""
    options = [*layers, *(f"{OBSM_PREFIX}{key}" for key in value.obsm)]
    suggestion = f"{OBSM_PREFIX}{layer}" if layer in value.obsm else nearest_name(layer, options)
    listed, fields = _selectable(value, layers)
    fields |= {"near": _keyword(suggestion)} if suggestion else {}
    hint = ("Did you mean {near}? " if suggestion else "") + f"Known: {listed}."
    if layer.startswith(OBSM_PREFIX):
        return UnknownName("use_rep", "must be a key of obsm", repr(layer.removeprefix(OBSM_PREFIX)), hint, **fields)
    return UnknownName("layer", "must be a layer of the AnnData object, or 'raw'", repr(layer), hint, **fields)


@dataclass(frozen=True, eq=False)
class UnpackedTable:
    """A table before checks: ``frame`` has the columns, ``index`` the row names (None if rows are only numbered).

    ``reserve`` is an index, of a frame or in a file, that only counts the rows (0, 1, 2, ... or in a file also 1, 2, 3,
    ...). Arrays and files without row names have neither.

    ``selected`` are the columns named after the path, in that order. The other columns remain until the ids are found.
    ``file`` is the path of a text or .parquet file.

    A sparse table, or a table that is not in memory, is in ``matrix``, with column names in ``names``; ``frame`` then
    has its rows and no columns. ``stored`` is a sparse matrix as it was passed, with the zeros that it stores.

    Of AnnData ``part`` names the matrix that is used, and ``obsp`` has the keys of its graphs.
    """

    frame: pd.DataFrame
    named: bool = False
    index: pd.Index[Any] | None = None
    name: str = "data"
    notes: Notes = ()
    labels: Any = None
    latent: Any = None
    extra: pd.DataFrame | None = None
    obsm: Mapping[str, Any] = field(default_factory=dict)
    palettes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    matrix: Any = None
    stored: Any = None
    names: pd.Index[Any] | None = None
    reserve: pd.Index[Any] | None = None
    selected: tuple[str, ...] = ()
    file: str = ""
    part: str = ""
    obsp: tuple[str, ...] = ()

    @property
    def other_header(self) -> bool | None:
        """The other value of ``header`` by which a text file could be read; None if there is none."""
        if not self.file.lower().endswith(TEXT_SUFFIXES):
            return None
        columns = range(self.frame.shape[1]) if self.named else ()
        texts = [j for j in columns if re.search(r"[^\W\d_]", str(self.frame.columns[j]))]
        return None if any(is_numeric(self.frame.iloc[:, j]) for j in texts) else not self.named

    @property
    def columns(self) -> pd.Index[Any]:
        """Names of the columns, or their numbers."""
        if self.matrix is None:
            return self.frame.columns
        return pd.RangeIndex(self.matrix.shape[1]) if self.names is None else self.names

    def renamed(self, names: Iterable[Any]) -> UnpackedTable:
        """Return the same table with other column names."""
        index = pd.Index([str(name) for name in names])
        if self.matrix is not None:
            return replace(self, names=index, named=True)
        frame = self.frame.copy(deep=False)
        frame.columns = index
        return replace(self, frame=frame, named=True)

    def split_column(self, name: object, argument: str, what: str) -> tuple[pd.Series[Any], UnpackedTable]:
        """Return a column by its name, and the table without it."""
        position = find_column(self.columns, name, argument, what)
        keep = np.arange(len(self.columns)) != position
        if self.matrix is None:
            return self.frame.iloc[:, position], replace(self, frame=self.frame.loc[:, keep])
        names = None if self.names is None else self.names[keep]
        if isinstance(self.matrix, LazyTable):
            series = self.matrix.column(position).rename(self.columns[position])
            return series, replace(self, matrix=self.matrix.without(position), names=names)
        values = self.matrix[:, [position]].toarray().ravel()
        return pd.Series(values, name=self.columns[position]), replace(self, matrix=self.matrix[:, keep], names=names)

    def selected_columns(self, argument: str, holds: str = "the ids") -> UnpackedTable:
        """Return the table with only the columns named after the path, if there are any; else the whole table."""
        if not self.selected:
            return self
        names = [str(name) for name in self.frame.columns]
        if removed := [name for name in self.selected if name not in names]:
            hint = "Name the column that holds the values."
            raise InputError(argument, "must be one value per point", f"{removed[0]!r}, which holds {holds}", hint)
        return replace(self, frame=self.frame.iloc[:, [names.index(name) for name in self.selected]], selected=())


def check_column_names(names: Iterable[Any], argument: str) -> None:
    """Raise an error for columns of the same name, which could not be selected by name."""
    name, count = next(iter(Counter(map(str, names)).most_common(1)), ("", 0))
    if count > 1:
        received = f"{name!r}, the name of {count} columns"
        hint = "Rename the columns so that each name occurs once, or drop one."
        raise InputError(argument, "must have different column names", received, hint)


def row_names(index: pd.Index[Any]) -> pd.Index[Any] | None:
    """Return the index of a frame, or None if it is 0, 1, 2, ..."""
    return None if counting(index) is not None else index


def counting(index: Any, starts: tuple[int, ...] = (0,)) -> pd.Index[Any] | None:
    """Return row names that only count the rows, from one of ``starts``; None for all others."""
    counts = [pd.RangeIndex(k, k + len(index)) for k in starts if index.dtype.kind in "iu"]
    return next((count for count in counts if np.array_equal(index, count)), None)


def unpack(
    value: Any, argument: str, layer: str | None = None, *, sparse: SparseOption = False, reading: HeaderOptions = AUTO
) -> UnpackedTable:
    """Return rows and columns of an array, frame, sparse matrix, tensor, AnnData, data set, embedding or path.

    With ``sparse`` a sparse matrix stays sparse; else it is made dense. A function reads it as it is, and also lists,
    tuples and mappings. ``reading`` has the options for text files.
    """
    kind = kind_of(value)
    if layer is not None and kind not in (*PATHS, Kind.TEXT, Kind.ANNDATA):
        raise _no_layer(layer)
    match kind:
        case Kind.ANNDATA_FILE:
            return _from_anndata_file(value, argument, layer, sparse)
        case Kind.PATH | Kind.TEXT:
            return _from_path(value, argument, layer, sparse, reading)
        case Kind.ANNDATA:
            return _from_anndata(value, argument, layer, sparse)
        case Kind.EMBEDDING:
            frame = value.to_frame()
            return UnpackedTable(frame, True, row_names(frame.index), name=value.method)
        case Kind.SERIES:
            return _from_frame(_series_frame(value), argument, named=value.name is not None, indexed=True)
        case Kind.FRAME:
            return _from_frame(value, argument, indexed=True)
        case Kind.FRAME_FILE:
            return _from_frame(value.to_memory(), argument, indexed=True)
        case Kind.FOREIGN_TABLE | Kind.QUERY:
            table = as_pandas(value, argument)
            return _from_frame(_series_frame(table) if isinstance(table, pd.Series) else table, argument)
        case Kind.DATASET:
            return _from_dataset(value, argument, sparse)
        case Kind.CLASS | Kind.ESTIMATOR | Kind.MODEL | Kind.FUNCTION:
            raise InputError(argument, "must be a table of rows and columns", describe(value), TABLE_HINT)
        case _ if kind in NOT_IN_MEMORY:
            return _from_stored(as_stored(value, argument), argument, sparse)
        case Kind.SPARSE:
            return _from_sparse(value, argument, sparse)
        case Kind.LIST | Kind.MAPPING if callable(sparse):
            return _from_sparse(value, argument, sparse)
        case _:
            return _from_array(as_numpy(value, argument), argument, sparse)


def _series_frame(series: pd.Series[Any]) -> pd.DataFrame:
    """Return a series as a frame of one column."""
    frame = series.to_frame()
    frame.attrs = {COLUMN_SOURCE: "series", **series.attrs}
    return frame


def _no_layer(layer: str) -> InputError:
    """Return the error for ``layer`` with data other than AnnData."""
    return InputError("layer", "is only valid for AnnData", repr(layer), "Leave it out.")


def _from_path(
    value: str | os.PathLike[str], argument: str, layer: str | None, sparse: SparseOption, reading: HeaderOptions
) -> UnpackedTable:
    """Return the table in a file; the error for a missing file suggests a bundled data set of that name."""
    if isinstance(value, str) and not is_path(value) and not os.path.exists(value):
        if value in DATASETS:
            hint = f"Load it: dreval.load_dataset({value!r}) or dreval.simulate({value!r})."
            hint = f"Load it: dreval.load_dataset({value!r}, path)." if value.endswith("_file") else hint
        else:
            near = nearest_name(value, DATASETS.names())
            suggestion = f"Did you mean the data set {near!r}? " if near else ""
            ending = (
                f": {', '.join(SUFFIXES)}."
                if os.path.splitext(value)[1]
                else ". `dreval list datasets` lists bundled data sets."
            )
            hint = f"{suggestion}Pass an array, a DataFrame, or the path of a table file{ending}"
        raise UnknownName(argument, "must be data or an existing file", repr(value), hint)
    if layer is not None:
        raise _no_layer(layer)
    name, located = stem_of(value), locate(value, argument)
    stored = stored_parquet(located.path, argument) if located.suffix == ".parquet" and not located.member else None
    if stored is not None:
        table, names, index = stored
        raw = _from_stored(table, argument, sparse)
        reserve = None if index is None else counting(index)
        index = None if index is None else row_names(index)
        return replace(raw, names=names, named=True, index=index, reserve=reserve, name=name)
    return replace(unpack_table(read_table(value, argument, reading=reading), argument, sparse), name=name)


def _from_anndata_file(
    value: str | os.PathLike[str], argument: str, layer: str | None, sparse: SparseOption
) -> UnpackedTable:
    """Return the matrix of AnnData in a file that ``layer``, or the text behind the path, names."""
    located = locate(value, argument)
    if layer is not None and located.member is not None:
        hint = f"Write either {located.member!r} behind the path or {{layer}}."
        received = f"both {located.member!r} and {layer!r}"
        raise InputError("layer", "must be named once", received, hint, layer=_keyword(layer))
    if located.suffix == ".h5ad":
        cells, notes = read_h5ad(located.path, argument)
    else:
        cells, notes = read_zarr(located.path, argument, None), ()
    raw = _from_anndata(cells, argument, layer or located.member, sparse)
    return replace(raw, name=stem_of(value), notes=(*notes, *raw.notes))


def unpack_table(table: Table, argument: str, sparse: SparseOption = False) -> UnpackedTable:
    """Return the content of a file with its row names and selected column."""
    if isinstance(table.values, pd.DataFrame):
        raw = _from_frame(table.values, argument, named=table.columns is not None, indexed=table.indexed)
    else:
        raw = unpack(table.values, argument, sparse=sparse)
    notes = (*table.notes, *raw.notes)  # the notes of the file come first
    return replace(raw, selected=table.selected, file=table.path, notes=notes)


def _from_frame(frame: pd.DataFrame, argument: str, named: bool | None = None, indexed: bool = False) -> UnpackedTable:
    """Convert a frame; an unnamed first column (an index written to a file) becomes the row names.

    Names that occur more than once cannot name rows: such a column stays, as classes, which are labels and not
    features. The index of a frame must not have such names; in a file they would not be matched to anything. With
    ``indexed`` the index of the frame is meaningful even if it only counts the rows.
    """
    if any(isinstance(dtype, np.dtype) and not dtype.isnative for dtype in set(frame.dtypes)):
        frame = pd.concat([native(frame.iloc[:, j]) for j in range(frame.shape[1])], axis=1)
    index = row_names(native(frame.index))
    if index is not None and not index.is_unique:
        repeated = index[index.duplicated()][0]
        rows = " and ".join(map(str, np.flatnonzero(index == repeated)[:2]))
        hint = (
            "Call reset_index(drop=True) where the names mean nothing; remove repeated rows; or pass classes as "
            "labels=frame.index."
        )
        raise InputError(
            argument,
            "must have different row names",
            f"{str(repeated)!r} in rows {rows} of its index{ROWS_FROM_ZERO}",
            hint,
        )
    reserve = counting(frame.index) if indexed else None
    notes: Notes = ()
    named = not isinstance(frame.columns, pd.RangeIndex) if named is None else named
    if isinstance(frame.index, pd.MultiIndex) and not any(frame.index.names):
        parts = [str(name) for name in frame.columns if re.search("[;\t]", str(name))]
        if parts:
            separator = "\t" if "\t" in parts[0] else ";"
            hint = f"Read the file with pandas.read_csv(path, sep={separator!r}), or pass its path."
            received = f"the column {parts[0]!r} next to row names of {frame.index.nlevels} parts"
            raise InputError(argument, "must be read with the separator of its file", received, hint)
        notes = (note("data.levels", argument=argument, levels=frame.index.nlevels),)
    names_first = frame.shape[1] > 1 and (is_unnamed(frame.columns[0]) or frame.attrs.get(ROW_NAMES, False))
    if index is None and names_first:
        first_column = frame.iloc[:, 0]
        if first_column.notna().all() and first_column.duplicated().any():
            if 2 * first_column.nunique() > len(first_column) and pd.api.types.infer_dtype(first_column) == "string":
                repeated = first_column[first_column.duplicated()].iloc[0]
                rows = " and ".join(map(str, np.flatnonzero(first_column == repeated)[:2]))
                raise InputError(
                    argument,
                    "must have different row names, in its unnamed first column",
                    f"{str(repeated)!r} in rows {rows}{ROWS_FROM_ZERO}",
                    "Remove the repeated rows, or drop the column.",
                )
            labels = first_column.astype("category").rename("Unnamed: 0")
            return UnpackedTable(pd.concat([labels, frame.iloc[:, 1:]], axis=1), named, None, reserve=reserve)
        frame = frame.iloc[:, 1:]
        reserve = counting(first_column, (0, 1))
        if reserve is not None:
            notes = (note("file.counting_column", argument=argument),)
        elif first_column.isna().any():
            raise InputError(
                argument,
                "must have complete row names",
                f"an unnamed first column without a value in row {int(np.flatnonzero(first_column.isna())[0])}",
                "Name the column, or fill it.",
            )
        else:
            index = pd.Index(first_column)
            notes = (note("file.names_column", argument=argument),)
    return UnpackedTable(frame, named, index, notes=notes, reserve=reserve)


def _from_anndata(value: Any, argument: str, layer: str | None, sparse: SparseOption) -> UnpackedTable:
    """Return the selected matrix of an AnnData object, with its obs columns, obsm arrays and names."""
    cells = annotated(value, argument, layer)
    raw = unpack(cells.matrix, argument, sparse=sparse)
    if cells.columns is not None:
        raw = raw.renamed(cells.columns)
    elif not isinstance(cells.matrix, pd.DataFrame):
        raw = replace(raw, named=False)
    unused = argument == "data" and layer is None and PCA_KEY in cells.obsm
    notes = (*raw.notes, note("data.pca_unused", key=PCA_KEY)) if unused else raw.notes
    index = row_names(cells.names)
    parts: dict[str, Any] = {"extra": cells.obs, "obsm": cells.obsm, "palettes": cells.palettes}
    parts |= {"part": _part_name(value, layer), "obsp": tuple(getattr(value, "obsp", None) or ())}
    return replace(raw, index=index, reserve=None, name="data", notes=notes, **parts)


def _from_dataset(value: Any, argument: str, sparse: SparseOption) -> UnpackedTable:
    """Return the data of a data set, with its labels and latent variables; only the data of a Bunch."""
    raw = unpack(value.data, argument, sparse=sparse)
    names = getattr(value, "feature_names", None)
    if names is not None and len(names) == len(raw.columns):
        raw = raw.renamed(names)
    notes = raw.notes
    if not hasattr(value, "labels"):
        notes = (*notes, note("data.target_unused"))
    name = getattr(getattr(value, "card", None), "name", None) or getattr(value, "name", None) or "data"
    labels, latent = getattr(value, "labels", None), getattr(value, "latent", None)
    return replace(raw, name=str(name), notes=notes, labels=labels, latent=latent)


def _from_stored(table: Any, argument: str, sparse: SparseOption) -> UnpackedTable:
    """Convert a table that is not in memory; sparse rows are read and made dense where they must not stay sparse."""
    if not isinstance(table, LazyTable):  # a matrix by columns, which was read
        return _from_sparse(table, argument, sparse)
    if table.sparse and (not sparse or callable(sparse)):
        return _from_sparse(table.whole, argument, sparse)
    return UnpackedTable(pd.DataFrame(index=pd.RangeIndex(len(table))), matrix=table)


def _from_sparse(matrix: Any, argument: str, sparse: SparseOption) -> UnpackedTable:
    """Convert a sparse matrix to normal form, by a function, or to a dense one with a note."""
    if callable(sparse):
        table, notes = sparse(matrix, argument)
        return UnpackedTable(pd.DataFrame(index=pd.RangeIndex(table.shape[0])), matrix=table, notes=notes)
    if sparse and len(matrix.shape) == 2 and matrix.shape[1]:
        frame = pd.DataFrame(index=pd.RangeIndex(matrix.shape[0]))
        return UnpackedTable(frame, matrix=as_csr(matrix, argument), stored=matrix)
    check_real(matrix, argument)
    dense, dense_note = densify(matrix, argument)
    return replace(_from_array(dense, argument, sparse), notes=(dense_note,))


def _from_array(value: Any, argument: str, sparse: SparseOption = False) -> UnpackedTable:
    """Convert a two-dimensional array of real numbers, or anything that numpy converts to one."""
    if is_sparse(value):  # a sparse tensor that was converted
        return _from_sparse(value, argument, sparse)
    value = check_unmasked(value, argument)
    with UserCode(argument, type(value).__name__, "become a numeric array"):
        try:
            array = np.asarray(value)
        except (ValueError, TypeError, RuntimeError, OverflowError) as error:
            why = message_of(error)[:100]
            hint = "Every row needs the same number of numbers."
            raise InputError(argument, "must become a numeric array", f"{describe(value)} ({why})", hint) from error
    array = check_numeric(array, argument) if array.ndim else array
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[1] == 0:
        received = describe(array) if array.ndim else describe(value)
        raise InputError(argument, "must be a table of rows and columns", received, TABLE_HINT)
    return UnpackedTable(pd.DataFrame(native(array), copy=False))


def take_column(frame: pd.DataFrame, name: object, argument: str, what: str) -> tuple[pd.Series[Any], pd.DataFrame]:
    """Return a column by its name, and the frame without it."""
    column, remaining = UnpackedTable(frame).split_column(name, argument, what)
    return column, remaining.frame
