"""Files as tables: .csv .tsv (also .gz) .npy .npz .parquet .mtx, and one refusal for each way to be wrong."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dreval._check import nearest_name
from dreval.errors import DrevalError, InputError, UnknownName
from dreval.inputs._binary import read_matrix_market, read_numpy, read_parquet
from dreval.inputs._paths import Located, locate
from dreval.inputs._text import read_text

__all__ = ["Table", "find_column", "has_column", "is_unnamed", "read_table"]


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
    >>> from dreval.inputs.read import read_table
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
