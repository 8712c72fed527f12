"""Files as tables: .csv .tsv (also .gz) .npy .npz .parquet .mtx .h5ad .zarr, and one error for each way to be wrong."""

from __future__ import annotations

import csv
import importlib
import importlib.util
import os
import warnings
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd

from dreval._check import check_npy, did_you_mean
from dreval.errors import DrevalError, InputError, UnknownName, usable_stderr
from dreval.inputs._header import AUTO, Reading
from dreval.inputs._sizes import check_hdf5, check_mtx, check_npz, check_parquet, check_sparse
from dreval.inputs._text import read_text
from dreval.inputs.features import COLUMN_SOURCE
from dreval.inputs.paths import locate
from dreval.inputs.stored import LARGE, Stored, as_stored, check_obsm, open_cells, open_parquet, open_zarr
from dreval.records.notes import Notes, note

_PREFERRED = ("X", "data", "Y", "embedding")


def _unreadable(path: Path, argument: str, kind: str, why: object) -> InputError:
    """The error for a file whose content does not fit its suffix."""
    text = " ".join(str(why).split())[:120]
    return InputError(argument, f"must be a readable {kind} file", f"{str(path)!r} ({text})", "Write the file again.")


def _pickled(path: Path, argument: str) -> InputError:
    """The error for pickled objects, which are never loaded because loading can run code."""
    save = "savez(path, name=" if path.suffix.lower() == ".npz" else "save(path, "
    cure = f"Save numbers as numpy.{save}array.astype(float)), classes as numpy.{save}array.astype(str))."
    return InputError(
        argument, "must hold plain numbers or text", f"{str(path)!r} with pickled objects, which are never loaded", cure
    )


def read_numpy(path: Path, argument: str, member: str | None) -> Any:
    """The array in a .npy file, or the selected array or sparse matrix in a .npz file."""
    kind = path.suffix.lower()
    try:
        with path.open("rb") as file:
            return _load(file, path, argument, member)
    except DrevalError:
        raise
    except Exception as error:  # of numpy, scipy, zipfile and each of its ways to compress
        raise _unreadable(path, argument, kind, error) from error


def _load(file: BinaryIO, path: Path, argument: str, member: str | None) -> Any:
    """The content of an open .npy or .npz file."""
    start = file.read(6)
    if start.startswith(b"\x80"):
        raise _pickled(path, argument)
    if not start.startswith((b"\x93NUMPY", b"PK")):
        raise _unreadable(path, argument, path.suffix.lower(), "its first bytes are not those of numpy")
    file.seek(0)
    if start.startswith(b"\x93NUMPY"):
        if check_npy(file, path.stat().st_size):
            raise _pickled(path, argument)
        if path.stat().st_size > LARGE:
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
            cure = did_you_mean(member, names) + f"It holds: {', '.join(sorted(names))}."
            raise UnknownName(argument, f"must name an array of {str(path)!r}", repr(member), cure)
        wanted = [member] if member is not None else names if len(names) == 1 else [n for n in _PREFERRED if n in names]
        if len(wanted) != 1:
            example = f"Name one of them: '{path.name}:{names[0]}'." if names else "Write the file again."
            got = f"{str(path)!r} with {', '.join(sorted(names)) or 'no array'}"
            raise InputError(argument, "must hold one array, or name one", got, example)
        if check_npz(path, argument, set(wanted)):
            raise _pickled(path, argument)
        return np.asarray(loaded[wanted[0]])


def read_parquet(
    path: Path, argument: str, member: str | None = None, beside: Collection[str] | None = None
) -> tuple[pd.DataFrame, bool]:
    """The table in a .parquet file, and whether pandas wrote an index with it; it needs pyarrow.

    With ``beside`` only ``member`` is read, and columns that may name the rows: the index, the first two, those in
    ``beside``, and all but fractions and truth values.
    """
    _require("pyarrow", "parquet", "a .parquet file", path, argument)
    parquet = importlib.import_module("pyarrow.parquet")
    try:
        with parquet.ParquetFile(path) as file:
            check_parquet(file, path, argument)
            fields, types = list(file.schema_arrow), importlib.import_module("pyarrow.types")
            index = (file.schema_arrow.pandas_metadata or {}).get("index_columns", [])
            columns = None
            if beside is not None and member not in index and member in [field.name for field in fields]:
                wanted = {member, *beside, *(field.name for field in fields[:2])}
                numbers = [types.is_floating(field.type) or types.is_boolean(field.type) for field in fields]
                names = (f.name for f, number in zip(fields, numbers, strict=True) if f.name in wanted or not number)
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


def stored_parquet(path: Path, argument: str) -> tuple[Stored, pd.Index[Any] | None] | None:
    """The table in a large .parquet file, which is read when it is needed, and its index; None for a small one."""
    _require("pyarrow", "parquet", "a .parquet file", path, argument)
    parquet = importlib.import_module("pyarrow.parquet")
    try:
        with parquet.ParquetFile(path) as file:
            if check_parquet(file, path, argument) <= LARGE:
                return None
        return open_parquet(path, argument)
    except DrevalError:
        raise
    except Exception as error:  # of pyarrow and pandas
        raise _unreadable(path, argument, ".parquet", error) from error


def read_zarr(path: Path, argument: str, member: str | None) -> Any:
    """The array, or the AnnData object whose matrices stay in the file, in a .zarr folder."""
    _require("zarr", "zarr", "a .zarr folder", path, argument)
    try:
        if not path.is_dir():
            raise InputError(argument, "must be a .zarr folder", f"the file {str(path)!r}", "Name the folder.")
        return open_zarr(path, argument, member)
    except DrevalError:
        raise
    except Exception as error:  # the reader of another library, whose errors are of any kind
        raise _unreadable(path, argument, ".zarr", error) from error


def read_matrix_market(path: Path, argument: str) -> Any:
    """The matrix in a .mtx file (Matrix Market): an array, or a sparse matrix."""
    from scipy.io import mmread

    try:
        check_mtx(path, argument)
        return mmread(path, spmatrix=False)
    except DrevalError:
        raise
    except Exception as error:  # of scipy
        raise _unreadable(path, argument, ".mtx", error) from error


def read_h5ad(path: Path, argument: str) -> tuple[Any, Notes]:
    """The AnnData object in a .h5ad file, and a note where the file has an old layout; it needs anndata.

    The matrices of a large file stay in it.
    """
    _require("anndata", "anndata", "a .h5ad file", path, argument)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found, size = None, check_hdf5(path, argument)
            with importlib.import_module("h5py").File(path, "r") as file:
                check_obsm(file, path, argument)
            if size > LARGE:
                file = importlib.import_module("h5py").File(path, "r")
                found = open_cells(file) if "encoding-type" in file["obs"].attrs else None
            if found is None:
                found = importlib.import_module("anndata").read_h5ad(path)
        except DrevalError:
            raise
        except Exception as error:  # the reader of another library, whose errors are of any kind
            raise _unreadable(path, argument, ".h5ad", error) from error
    others = [one for one in caught if one.category.__name__ != "OldFormatWarning"]
    with usable_stderr():
        for one in others:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    return found, (note("file.old_anndata", file=path.name),) if len(others) < len(caught) else ()


def _require(package: str, extra: str, what: str, path: Path, argument: str) -> None:
    """Raise an error if the reader of a file is not installed."""
    if importlib.util.find_spec(package) is None:
        cure = f'Run: pip install "dreval[{extra}]"'
        raise InputError(
            argument, f"needs {package} to read {what}", f"{str(path)!r} without {package} installed", cure
        )


@dataclass(frozen=True, eq=False)
class Table:
    """The content of a table file.

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
        What was assumed in reading it.
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
    beside: Collection[str] | None = None,
    reading: Reading = AUTO,
) -> Table:
    r"""Read a file of rows and columns.

    Text files may be separated by commas, tabs, semicolons or spaces and start with a byte-order mark. A first row of
    text is the header; a first row with numbers is compared with the rows below, by the rule that
    ``dreval.inputs._header.first_row`` states, unless ``reading`` says what it is. Every bit of a number is kept.
    Decimal commas, and points between thousands, are read where they can mean nothing else. Pickled objects are never
    loaded.

    Parameters
    ----------
    path : str or path-like
        A file ending in .csv, .tsv, .csv.gz, .tsv.gz, .npy, .npz, .parquet or .mtx, or a .zarr folder.
        ``"file.csv:column"`` names a column, ``"file.csv:x,y"`` several, ``"file.npz:name"`` an array.
    argument : str
        Name of the argument for error messages.
    beside : collection of str, optional
        If given, a .parquet file of which a column is named is not read as a whole: only that column, those of these
        names, and those that may be names of the rows.
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
        A folder, an empty file, a web page saved under the name of a table, ragged rows, a line of more than 2**20
        fields, a quote that is never closed, binary or broken content, pickled objects, several arrays without a name,
        an unknown suffix, or a reader that is not installed.

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
    found = locate(path, argument)
    if found.suffix in (".npy", ".npz"):
        return Table(read_numpy(found.path, argument, found.member), None, str(found.path))
    if found.suffix == ".mtx":
        return Table(read_matrix_market(found.path, argument), None, str(found.path))
    stored = read_zarr(found.path, argument, found.member) if found.suffix == ".zarr" else None
    if stored is not None and not hasattr(stored, "obs"):
        return Table(as_stored(stored, argument, repr(str(found.path))), None, str(found.path))
    if found.suffix in (".h5ad", ".zarr"):
        cure = "Pass it as {data}; its obs columns and obsm keys can then be used by name."
        raise InputError(argument, "must be a file with one table", repr(str(found.path)), cure, data="data")
    notes: Notes = ()
    indexed = False
    if found.suffix == ".parquet":
        named = True
        frame, indexed = read_parquet(found.path, argument, found.member, beside)
    else:
        frame, named, notes = read_text(found.path, found.suffix, argument, reading)
        if named:
            separator = frame.attrs["separator"]
            options = "" if separator == "," else f", sep={separator!r}"
            frame.attrs[COLUMN_SOURCE] = f"pandas.read_csv({str(found.path)!r}{options})[{{column}}]"
    selected: tuple[str, ...] = ()
    if found.member is not None:
        positions = find_columns(frame.columns, found.member, argument, f"a column of {str(found.path)!r}")
        selected = tuple(str(frame.columns[position]) for position in positions)
    names = tuple(str(name) for name in frame.columns) if named else None
    return Table(frame, names, str(found.path), selected, notes, indexed)


def has_column(path: str, name: str) -> bool:
    """Whether a file is a table that has a column of this name."""
    try:
        return name in (read_table(path, reading=Reading(header=True)).columns or ())
    except DrevalError:
        return False


def is_unnamed(name: object) -> bool:
    """Whether a column name is that of row names in a file: empty, or pandas' "Unnamed: 0"."""
    return str(name) in ("", "Unnamed: 0")


def find_columns(columns: pd.Index[Any], text: str, argument: str, what: str) -> list[int]:
    """Return the positions of the columns that are named behind a path.

    A column with exactly this name takes precedence; else the names stand between commas, and one that contains a
    comma stands in double quotes, as in a .csv file. Spaces around a name count only where a column has them.
    """
    names = [str(column) for column in columns]
    if text in names or "," not in text:
        return [find_column(columns, text, argument, what)]
    parts = [part if part in names else part.strip() for part in next(csv.reader([text], skipinitialspace=True))]
    if "" in parts or len(set(parts)) < len(parts):
        cure = "Name each column once, with a comma between two names."
        raise InputError(argument, f"must name {what} between commas", repr(text), cure)
    return [find_column(columns, part, argument, what) for part in parts]


def find_column(columns: pd.Index[Any], name: object, argument: str, what: str) -> int:
    """Position of a column by name (``3`` and ``"3"`` are the same); unknown and repeated names raise an error."""
    names = [str(column) for column in columns]
    if (times := names.count(str(name))) == 1:
        return names.index(str(name))
    if times > 1:
        cure = "Rename the columns so that each name occurs once."
        raise InputError(argument, f"must name {what}", f"{name!r}, the name of {times} columns", cure)
    names = names[1:] if len(names) > 1 and is_unnamed(names[0]) else names  # row names cannot be selected
    listed = ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
    cure = did_you_mean(str(name), names) + f"Known: {listed}."
    raise UnknownName(argument, f"must name {what}", repr(name), cure)
