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

from dreval._check import check_numeric, describe, nearest_name
from dreval.errors import InputError, UnknownName
from dreval.inputs._anndata import annotated, is_anndata, stored_anndata
from dreval.inputs._arrays import as_numpy, as_pandas, is_table
from dreval.inputs._binary import read_h5ad
from dreval.inputs._paths import has_suffix, locate, stem_of
from dreval.inputs.read import find_column, read_table
from dreval.inputs.sparse import as_csr, check_real, densify, is_sparse
from dreval.registry import DATASETS
from dreval.results.value import Embedding

__all__ = ["Raw", "is_path", "row_names", "take_column", "unpack"]


@dataclass(frozen=True, eq=False)
class Raw:
    """A table as it came: ``frame`` has the columns, ``index`` the row names (None when rows are only numbered).

    ``counted``: a frame was given, and its index only counts the rows; arrays and plain files have no index at all.

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
    counted: bool = False

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


def is_path(value: object) -> bool:
    """Whether a value is meant as a path: a path object, an existing file, or a name with a known suffix."""
    if isinstance(value, os.PathLike):
        return True
    return isinstance(value, str) and (has_suffix(value) or ("\0" not in value and os.path.isfile(value)))


def row_names(index: pd.Index[Any]) -> pd.Index[Any] | None:
    """The index of a frame, or None when it only counts 0, 1, 2, ..."""
    if isinstance(index, pd.RangeIndex):
        counts = index.start == 0 and index.step == 1
    else:
        counts = index.dtype.kind in "iu" and bool(np.array_equal(index.to_numpy(), np.arange(len(index))))
    return None if counts else index


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
        raw = _from_frame(value.to_frame(), argument, named=value.name is not None)
        return replace(raw, counted=raw.index is None)
    if isinstance(value, pd.DataFrame):
        raw = _from_frame(value, argument)
        return replace(raw, counted=raw.index is None)
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
    table = read_table(value, argument)
    if isinstance(table.values, pd.DataFrame):
        frame = table.values if table.column is None else table.values[[table.column]]
        raw = _from_frame(frame, argument, named=table.columns is not None)
    else:
        raw = _from_array(table.values, argument, sparse)
    return replace(raw, name=name, notes=(*table.notes, *raw.notes))  # the notes of the file come first


def _from_frame(frame: pd.DataFrame, argument: str, named: bool | None = None) -> Raw:
    """A frame; a first column without a name (what an index becomes in a file) is taken as the row names."""
    index = row_names(frame.index)
    notes: tuple[str, ...] = ()
    named = not isinstance(frame.columns, pd.RangeIndex) if named is None else named
    if index is None and frame.shape[1] > 1 and str(frame.columns[0]) in ("", "Unnamed: 0"):
        first = frame.iloc[:, 0]
        frame = frame.iloc[:, 1:]
        if first.dtype.kind in "iu" and any(np.array_equal(first, np.arange(k, k + len(first))) for k in (0, 1)):
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
    return Raw(frame, named, index, notes=notes)


def _from_anndata(value: Any, argument: str, layer: str | None, sparse: bool) -> Raw:
    """What is meant of an AnnData object, with its obs columns, obsm arrays and names."""
    found = annotated(value, argument, layer)
    raw = unpack(found.matrix, argument, sparse=sparse)
    if found.columns is not None:
        raw = raw.renamed(found.columns)
    elif not isinstance(found.matrix, pd.DataFrame):
        raw = replace(raw, named=False)
    return replace(raw, index=row_names(found.names), counted=False, name="data", extra=found.obs, obsm=found.obsm)


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
    """A numpy array and notes; sparse matrices are made dense, masked cells become NaN."""
    if is_sparse(value):
        check_real(value, argument)
        dense, note = densify(value, argument)
        return dense, (note,)
    if inspect.isclass(value) or callable(value) or hasattr(value, "fit"):
        cure = "Pass an (n, p) array whose rows are points, a DataFrame, or a path."
        raise InputError(argument, "must be a table of rows and columns", describe(value), cure)
    try:
        if isinstance(value, np.ma.MaskedArray) and np.ma.getmaskarray(value).any():
            value = np.ma.filled(value.astype(np.float64), np.nan)
        return np.asarray(value), ()
    except (ValueError, TypeError, RuntimeError, OverflowError) as error:
        why = " ".join(str(error).split())[:100]
        cure = "Every row needs the same number of numbers."
        raise InputError(argument, "must become a numeric array", f"{describe(value)} ({why})", cure) from error


def take_column(frame: pd.DataFrame, name: object, argument: str, what: str) -> tuple[pd.Series[Any], pd.DataFrame]:
    """A column by its name, and the frame without it."""
    column, left = Raw(frame).taken(name, argument, what)
    return column, left.frame
