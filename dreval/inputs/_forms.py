"""Whatever holds rows and columns, brought to one form: a frame, its row names, and what came with it."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import check_numeric, check_unmasked, describe, nearest_name
from dreval.errors import InputError, UnknownName
from dreval.inputs._anndata import annotated, is_anndata, stored_anndata
from dreval.inputs._arrays import as_numpy, as_pandas, is_table
from dreval.inputs._binary import read_h5ad
from dreval.inputs._paths import has_suffix, locate, stem_of
from dreval.inputs.read import Table, find_column, is_unnamed, read_table
from dreval.inputs.sparse import as_csr, check_real, densify, is_sparse
from dreval.records.embedding import Embedding
from dreval.registry import DATASETS

__all__ = ["Raw", "counting", "is_path", "row_names", "take_column", "unpack", "unpack_table"]


@dataclass(frozen=True, eq=False)
class Raw:
    """A table as it came: ``frame`` has the columns, ``index`` the row names (None when rows are only numbered).

    ``reserve``: an index, of a frame or in a file, that only counts the rows (0, 1, 2, ... or in a file also 1, 2, 3,
    ...): names for want of better ones. Arrays and files without row names have no index at all.

    ``column``: the one column that is meant, named behind the path. The others stay until the ids are found.

    A table that stays sparse lies in ``matrix``, its names in ``names``; ``frame`` then has its rows and no column.
    """

    frame: pd.DataFrame
    named: bool = False
    index: pd.Index[Any] | None = None
    name: str = "data"
    notes: tuple[str, ...] = ()
    labels: Any = None
    latent: Any = None
    extra: pd.DataFrame | None = None
    obsm: Mapping[str, Any] = field(default_factory=dict)
    matrix: Any = None
    names: pd.Index[Any] | None = None
    reserve: pd.Index[Any] | None = None
    column: str | None = None

    @property
    def columns(self) -> pd.Index[Any]:
        """Names of the columns, or their numbers."""
        if self.matrix is None:
            return self.frame.columns
        return pd.RangeIndex(self.matrix.shape[1]) if self.names is None else self.names

    def renamed(self, names: Iterable[Any]) -> Raw:
        """The same table with other names of the columns."""
        index = pd.Index([str(name) for name in names])
        if self.matrix is not None:
            return replace(self, names=index, named=True)
        frame = self.frame.copy(deep=False)
        frame.columns = index
        return replace(self, frame=frame, named=True)

    def taken(self, name: object, argument: str, what: str) -> tuple[pd.Series[Any], Raw]:
        """A column by its name, and the table without it."""
        position = find_column(self.columns, name, argument, what)
        keep = np.arange(len(self.columns)) != position
        if self.matrix is None:
            return self.frame.iloc[:, position], replace(self, frame=self.frame.loc[:, keep])
        values = self.matrix[:, [position]].toarray().ravel()
        left = replace(self, matrix=self.matrix[:, keep], names=None if self.names is None else self.names[keep])
        return pd.Series(values, name=self.columns[position]), left

    def meant(self, argument: str) -> Raw:
        """The column that was named behind the path alone, with the row names of its table; else the whole table."""
        if self.column is None:
            return self
        keep = [str(name) == self.column for name in self.frame.columns]
        if not any(keep):
            cure = "Name the column that holds the values."
            raise InputError(argument, "must be one value per point", f"{self.column!r}, which holds the ids", cure)
        return replace(self, frame=self.frame.loc[:, keep], column=None)


def is_path(value: object) -> bool:
    """Whether a value is meant as a path: a path object, an existing file, or a name with a known suffix."""
    if isinstance(value, os.PathLike):
        return True
    return isinstance(value, str) and (has_suffix(value) or ("\0" not in value and os.path.isfile(value)))


def row_names(index: pd.Index[Any]) -> pd.Index[Any] | None:
    """The index of a frame, or None when it only counts 0, 1, 2, ..."""
    return None if counting(index) is not None else index


def counting(index: Any, starts: tuple[int, ...] = (0,)) -> pd.Index[Any] | None:
    """Row names that only count the rows, in order and from one of ``starts``; None for all others."""
    counts = [pd.RangeIndex(k, k + len(index)) for k in starts if index.dtype.kind in "iu"]
    return next((count for count in counts if np.array_equal(index, count)), None)


def unpack(value: Any, argument: str, layer: str | None = None, *, sparse: bool = False) -> Raw:
    """Rows and columns from an array, frame, sparse matrix, tensor, AnnData, data set, embedding or path.

    With ``sparse`` a sparse matrix stays one; else it is made dense.
    """
    if isinstance(value, str | os.PathLike):
        return _from_path(value, argument, layer, sparse)
    if is_anndata(value):
        return _from_anndata(value, argument, layer, sparse)
    if layer is not None:
        raise _no_layer(layer)
    if isinstance(value, Embedding):
        frame = value.to_frame()
        return Raw(frame, True, row_names(frame.index), name=value.method)
    if isinstance(value, pd.Series):
        return _from_frame(value.to_frame(), argument, named=value.name is not None, indexed=True)
    if isinstance(value, pd.DataFrame):
        return _from_frame(value, argument, indexed=True)
    if _is_dataset(value):
        return _from_dataset(value, argument, sparse)
    if is_table(value):
        table = as_pandas(value, argument)
        return _from_frame(table.to_frame() if isinstance(table, pd.Series) else table, argument)
    return _from_array(as_numpy(value, argument), argument, sparse)


def _no_layer(layer: str) -> InputError:
    """The error for a layer of what has none."""
    return InputError("layer", "is only known for AnnData", repr(layer), "Leave it out.")


def _from_path(value: str | os.PathLike[str], argument: str, layer: str | None, sparse: bool) -> Raw:
    """The table in a file; what is no file is refused, with the bundled data set of that name where there is one."""
    if isinstance(value, str) and not is_path(value) and not os.path.exists(value):
        if value in DATASETS:
            cure = f"Load it: dreval.load_dataset({value!r}) or dreval.simulate({value!r})."
            cure = f"Load it: dreval.read_raw(path, {value!r})." if value.endswith("_file") else cure
        else:
            near = nearest_name(value, DATASETS.names())
            hint = f"Did you mean the bundled data set {near!r} (dreval.load_dataset)? " if near else ""
            cure = f"{hint}Pass an array, a DataFrame, or the path of a table file."
        raise UnknownName(argument, "must be data or an existing file", repr(value), cure)
    name = stem_of(value)
    located = locate(value, argument) if stored_anndata(value) else None
    if located is not None:
        if layer is not None and located.member is not None:
            cure = f"Write either {located.member!r} behind the path or layer={layer!r}."
            raise InputError("layer", "must be named once", f"both {located.member!r} and {layer!r}", cure)
        found, notes = read_h5ad(located.path, argument)
        return replace(_from_anndata(found, argument, layer or located.member, sparse), name=name, notes=notes)
    if layer is not None:
        raise _no_layer(layer)
    return replace(unpack_table(read_table(value, argument), argument, sparse), name=name)


def unpack_table(table: Table, argument: str, sparse: bool = False) -> Raw:
    """What a file holds, with its row names, and the column that is meant; the one way by which all files are read."""
    if isinstance(table.values, pd.DataFrame):
        raw = _from_frame(table.values, argument, named=table.columns is not None, indexed=table.indexed)
    else:
        raw = _from_array(table.values, argument, sparse)
    return replace(raw, column=table.column, notes=(*table.notes, *raw.notes))  # the notes of the file come first


def _from_frame(frame: pd.DataFrame, argument: str, named: bool | None = None, indexed: bool = False) -> Raw:
    """A frame; a first column without a name (what an index becomes in a file) is taken as the row names.

    ``indexed``: the index of the frame means something, be it that it only counts the rows.
    """
    index = row_names(frame.index)
    reserve = counting(frame.index) if indexed else None
    notes: tuple[str, ...] = ()
    named = not isinstance(frame.columns, pd.RangeIndex) if named is None else named
    if index is None and frame.shape[1] > 1 and is_unnamed(frame.columns[0]):
        first = frame.iloc[:, 0]
        frame = frame.iloc[:, 1:]
        reserve = counting(first, (0, 1))
        if reserve is not None:
            notes = (f"The unnamed first column of `{argument}` only counts the rows and was left out.",)
        elif first.isna().any():
            raise InputError(
                argument,
                "must have complete row names",
                f"an unnamed first column without a value in row {int(np.flatnonzero(first.isna())[0])}",
                "Name the column, or fill it.",
            )
        else:
            index = pd.Index(first)
            notes = (f"The unnamed first column of `{argument}` was taken as row names.",)
    return Raw(frame, named, index, notes=notes, reserve=reserve)


def _from_anndata(value: Any, argument: str, layer: str | None, sparse: bool) -> Raw:
    """What is meant of an AnnData object, with its obs columns, obsm arrays and names."""
    found = annotated(value, argument, layer)
    raw = unpack(found.matrix, argument, sparse=sparse)
    if found.columns is not None:
        raw = raw.renamed(found.columns)
    elif not isinstance(found.matrix, pd.DataFrame):
        raw = replace(raw, named=False)
    return replace(raw, index=row_names(found.names), reserve=None, name="data", extra=found.obs, obsm=found.obsm)


def _is_dataset(value: Any) -> bool:
    """Whether a value looks like a data set of this package or a bunch of scikit-learn."""
    plain = isinstance(value, np.ndarray)
    return not plain and hasattr(value, "data") and (hasattr(value, "labels") or hasattr(value, "target"))


def _from_dataset(value: Any, argument: str, sparse: bool) -> Raw:
    """The data of a data set, with its labels and latent variables; of a bunch only the data are used."""
    raw = unpack(value.data, argument, sparse=sparse)
    names = getattr(value, "feature_names", None)
    if names is not None and len(names) == len(raw.columns):
        raw = raw.renamed(names)
    notes = raw.notes
    if not hasattr(value, "labels"):
        notes = (*notes, "The target of the data set was not used; pass it as `labels` where it holds classes.")
    name = getattr(getattr(value, "card", None), "name", None) or getattr(value, "name", None) or "data"
    labels, latent = getattr(value, "labels", None), getattr(value, "latent", None)
    return replace(raw, name=str(name), notes=notes, labels=labels, latent=latent)


def _from_array(value: Any, argument: str, sparse: bool = False) -> Raw:
    """Anything that numpy understands as a two-dimensional array of real numbers, or what stays sparse."""
    if sparse and is_sparse(value) and len(value.shape) == 2 and value.shape[1]:
        return Raw(pd.DataFrame(index=pd.RangeIndex(value.shape[0])), matrix=as_csr(value, argument))
    array, notes = _to_array(value, argument)
    array = check_numeric(array, argument) if array.ndim else array
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[1] == 0:
        got = describe(array) if array.ndim else describe(value)
        cure = "Pass an (n, p) array whose rows are points, a DataFrame, or a path."
        raise InputError(argument, "must be a table of rows and columns", got, cure)
    return Raw(pd.DataFrame(array), notes=notes)


def _to_array(value: Any, argument: str) -> tuple[npt.NDArray[Any], tuple[str, ...]]:
    """A numpy array and notes; sparse matrices are made dense."""
    value = check_unmasked(value, argument)
    if is_sparse(value):
        check_real(value, argument)
        dense, note = densify(value, argument)
        return dense, (note,)
    if inspect.isclass(value) or callable(value) or hasattr(value, "fit"):
        cure = "Pass an (n, p) array whose rows are points, a DataFrame, or a path."
        raise InputError(argument, "must be a table of rows and columns", describe(value), cure)
    try:
        return np.asarray(value), ()
    except (ValueError, TypeError, RuntimeError, OverflowError) as error:
        why = " ".join(str(error).split())[:100]
        cure = "Every row needs the same number of numbers."
        raise InputError(argument, "must become a numeric array", f"{describe(value)} ({why})", cure) from error


def take_column(frame: pd.DataFrame, name: object, argument: str, what: str) -> tuple[pd.Series[Any], pd.DataFrame]:
    """A column by its name, and the frame without it."""
    column, left = Raw(frame).taken(name, argument, what)
    return column, left.frame
