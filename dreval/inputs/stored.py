"""Read the rows of tables that are not in memory: mapped files, arrays of HDF5, zarr and dask, parquet, AnnData.

``RowReader`` is the interface to a library, with one implementation for each. ``LazyTable`` is its only caller: it
limits memory, allows one thread at a time, caches large parts of a file, and checks types, widths and places of all
rows that were read. ``read_blocks`` (``dreval.inputs.features``) reads any table by blocks of its rows.
"""

from __future__ import annotations

import importlib
import json
import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import IntArray, describe, did_you_mean
from dreval._check_arrays import check_exact, check_unmasked
from dreval._inside import check_opened
from dreval._parallel import one_blas_thread
from dreval._text import printable
from dreval.errors import DrevalError, InputError, UnknownName, message_of
from dreval.inputs.features import as_csr, check_places, frame_numbers, is_sparse, memory_limit, row_blocks
from dreval.inputs.kinds import Kind, kind_of, library_of
from dreval.inputs.sizes import check_zarr

MIN_BLOCKWISE_BYTES = 2**28  # size of a table above which its file is read by blocks, if possible
MAX_CACHED_PART_BYTES = 2**28  # largest part of a file that is cached if only some of its rows were requested
MAX_CHUNKS_BYTES = 1 << 21  # chunks of zarr that are read at once, unless one chunk is larger
MAX_GAP_BYTES = 1 << 14  # bytes between requested rows that are read rather than skipped
MAX_TASK_BYTES = 1 << 25  # chunks that a worker processes together, as numbers of 8 bytes
MAX_LEG_BYTES = 1 << 31  # rows that are sent to the workers at a time, as numbers of 8 bytes
# Embeddings in memory are sent with the tasks.
DASK_SETTINGS = {"distributed.admin.large-graph-warning-threshold": "10GB"}
NOT_NUMERIC_HINT = "Name it as {labels} or {ids}, or drop it."
MIXED_HINT = f"{NOT_NUMERIC_HINT[:-1]}; {{metric}} compares mixed columns."
_config_lock = threading.RLock()


@dataclass(frozen=True, eq=False)
class LazyTable:
    """A table whose rows are read when they are needed, as float64, by a slice or an array of row numbers.

    ``numpy.asarray`` reads all of it, up to 8 GiB (or DREVAL_READ_LIMIT).

    Attributes
    ----------
    reader : RowReader
        Reads the rows of the file.
    what : str
        Description of the table, for errors.
    argument : str
        Name of the argument, for errors.
    keep : ndarray of int, optional
        The columns of the file that belong to the table; all by default.
    """

    reader: RowReader
    what: str
    argument: str
    keep: IntArray | None = None
    _last: dict[str, Any] = field(default_factory=dict, repr=False)
    _lock: Any = field(default_factory=threading.RLock, repr=False)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        n, p = self.reader.shape
        return int(n), int(p) if self.keep is None else len(self.keep)

    @property
    def dtype(self) -> np.dtype[np.float64]:
        """Type of its rows, independent of the type of the numbers in the file."""
        return np.dtype(np.float64)

    def truth_values(self) -> list[int]:
        """Return the positions of the columns that hold True and False; none if all columns have one type."""
        columns = range(self.shape[1]) if self.keep is None else self.keep.tolist()
        return [position for position, j in enumerate(columns) if j in self.reader.boolean_columns]

    @property
    def single(self) -> bool:
        """Whether the numbers in the file are of single precision."""
        return bool(self.reader.dtype == np.float32)

    @property
    def sparse(self) -> bool:
        """Whether its rows come as a sparse matrix."""
        return self.reader.sparse

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        n, p = self.shape
        return f"Stored({printable(self.what)}: {n} rows, {p} columns)"

    def __getitem__(self, index: Any) -> Any:
        """Return rows by a slice, a mask or an array of row numbers; a column as ``table[:, j]``."""
        if isinstance(index, tuple):
            rows, column = index
            return self.column(int(column)).to_numpy()[rows]
        n = len(self)
        if isinstance(index, slice):
            start, stop, step = index.indices(n)
            if step == 1:
                return self._rows(start, max(start, stop))
            index = np.arange(n)[index]
        requested = np.asarray(index)
        requested = np.flatnonzero(requested) if requested.dtype == np.bool_ else requested.astype(np.int64)
        rows, inverse = np.unique(np.where(requested < 0, requested + n, requested), return_inverse=True)
        block = self._picked(rows)
        if len(rows) == len(requested) and (rows == requested).all():
            return block
        return block[inverse.reshape(requested.shape)]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        whole = self.whole
        whole = whole.toarray() if is_sparse(whole) else whole
        return np.array(whole, dtype) if copy else np.asarray(whole, dtype)

    def __deepcopy__(self, memo: dict[int, Any]) -> LazyTable:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.reader, self.what, self.argument, self.keep)

    @cached_property
    def whole(self) -> Any:
        """The whole table as float64, an array or a sparse matrix; above 8 GiB, or DREVAL_READ_LIMIT, an error."""
        n, p = self.shape
        limit = memory_limit()
        if self.sparse:
            from scipy.sparse import vstack

            blocks, needed = [], 0
            for part in row_blocks(self):
                blocks.append(self[part])
                needed += 16 * blocks[-1].nnz  # a number and its column
                if needed > limit:
                    raise self._too_large(needed * n / part.stop, limit)
            return as_csr(vstack(blocks, format="csr"), self.argument)
        self._check_size(n)
        whole = np.empty((n, p))
        for part in row_blocks(self):
            whole[part] = self[part]
        whole.flags.writeable = False
        return whole

    def _check_size(self, rows: int) -> None:
        """Raise an error if so many rows take more memory than allowed."""
        needed, limit = 8 * rows * self.shape[1], memory_limit()
        if needed > limit and not self.sparse:
            raise self._too_large(needed, limit)

    def _too_large(self, needed: float, limit: float) -> InputError:
        """Return the error for loading a whole table that exceeds the memory limit."""
        n, p = self.shape
        return InputError(
            self.argument,
            f"must take at most {limit / 2**30:.3g} GiB where all of it is needed at once",
            f"{self.what} of {n} x {p} that needs {needed / 2**30:.1f} GiB",
            "Measures that read blocks of rows (with more than 50,000 points, from {anchors}) work without it; methods "
            "do not. With enough memory, set the environment variable "
            f"DREVAL_READ_LIMIT={2.0 * needed:.2g}.",
            anchors="anchors",
        )

    def column(self, position: int) -> pd.Series[Any]:
        """Return one column, in memory."""
        stored_position = position if self.keep is None else int(self.keep[position])
        with self._reading():
            return pd.Series(self.reader.column(stored_position))

    def without(self, position: int) -> LazyTable:
        """Return the table without one column."""
        columns = np.arange(self.shape[1]) if self.keep is None else self.keep
        return replace(self, keep=np.delete(columns, position), _last={})

    def _picked(self, rows: IntArray) -> Any:
        """Return ascending rows; consecutive rows, and rows close to each other, are read at once."""
        n, p = self.shape
        if len(rows) and (rows[0] < 0 or rows[-1] >= n):
            raise IndexError(f"row {rows[0] if rows[0] < 0 else rows[-1]} of {n}")
        if not len(rows):
            return self._rows(0, 0)
        self._check_size(len(rows))
        with self._reading():
            block = self.reader.take(rows, self.keep)
            if block is not None:
                return self._normal(block, len(rows))
        max_gap_rows = max(MAX_GAP_BYTES // max(8 * p, 1), 1)
        is_gap = np.diff(rows) > max_gap_rows
        if self.reader.edges is not None:  # the rows of one part of the file are decompressed together
            part_numbers = np.searchsorted(self.reader.edges, rows, side="right")
            is_gap &= np.diff(part_numbers) > 0
        size = row_blocks(self)[0].stop
        parts = []
        for run in np.split(rows, np.flatnonzero(is_gap) + 1):
            for group in np.split(run, np.flatnonzero(np.diff((run - run[0]) // size)) + 1):
                block = self._rows(int(group[0]), int(group[-1]) + 1)
                parts.append(block[group - group[0]])
        return concatenate_rows(parts)

    def _rows(self, start: int, stop: int) -> Any:
        """Return consecutive rows.

        If a part of the file is larger than a block, its numbers are cached for the next block.
        """
        with self._reading():
            edges, (n, p) = self.reader.edges, self.shape
            self._check_size(stop - start)
            ends = np.r_[0, n] if edges is None else np.r_[0, edges, n]
            longest = int(np.diff(ends).max(initial=0))
            if stop - start >= longest or 8 * longest * p > MAX_CACHED_PART_BYTES or edges is None or not stop > start:
                return self._normal(self.reader.rows(start, stop, self.keep), stop - start)
            parts = []
            for part in range(np.searchsorted(edges, start, "right"), np.searchsorted(edges, stop - 1, "right") + 1):
                part_start, part_stop = int(ends[part]), int(ends[part + 1])
                if self._last.get("at") != part:
                    self._last.clear()
                    rows = self.reader.rows(part_start, part_stop, self.keep)  # with the type in the file
                    self._last.update(at=part, rows=rows)
                first, last = max(start, part_start) - part_start, min(stop, part_stop) - part_start
                parts.append(self._last["rows"][first:last])
            return self._normal(concatenate_rows(parts), stop - start)

    def _normal(self, values: Any, count: int) -> Any:
        """Convert rows that were read to normal form: real numbers that a float holds exactly."""
        if self.sparse:
            rows = as_csr(values, self.argument)
        else:
            rows = np.asarray(check_unmasked(values, self.argument))
            check_exact(rows, self.argument)
            rows = rows.astype(np.float64, copy=False) if rows.dtype.kind in "biuf" else rows
        if rows.shape != (count, self.shape[1]) or rows.dtype.kind not in "biuf":
            raise ValueError(f"{describe(rows)} where {count} rows of {self.shape[1]} numbers were requested")
        return rows

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Allow one thread at a time, and raise errors of the file or its library as errors of the argument."""
        with self._lock:
            try:
                yield
            except DrevalError:
                raise
            except Exception as error:
                reason = " ".join(f"{type(error).__name__}: {error}".split())[:120]
                hint = "Check that the file is complete and still open, or write it again."
                raise InputError(self.argument, "must be readable", f"{self.what} ({reason})", hint) from error


def concatenate_rows(parts: list[Any]) -> Any:
    """Concatenate consecutive rows from several parts, all dense or all sparse."""
    if len(parts) == 1:
        return parts[0]
    if is_sparse(parts[0]):
        from scipy.sparse import vstack

        return vstack(parts, format="csr")
    return np.concatenate(parts)


class RowReader(ABC):
    """Rows of numbers in a file, or in an object of another library, that are read when they are needed.

    Attributes
    ----------
    shape : (int, int)
        Number of rows and columns.
    dtype : numpy.dtype or None
        Type of the numbers; None if columns may have several types.
    sparse : bool
        Whether rows come as a sparse matrix.
    edges : ndarray of int or None
        First rows, apart from row 0, of the parts whose rows are decompressed together; None without such parts.
    boolean_columns : frozenset of int
        Columns that hold True and False; empty if all columns have one type.
    """

    shape: tuple[int, int]
    dtype: Any = None
    sparse: bool = False
    edges: IntArray | None = None
    boolean_columns: frozenset[int] = frozenset()

    @abstractmethod
    def rows(self, start: int, stop: int, columns: IntArray | None = None) -> Any:
        """Return consecutive rows, with all columns or some."""

    def take(self, indices: IntArray, columns: IntArray | None = None) -> Any:
        """Return ascending rows, with all columns or some; None if only consecutive rows are read fast."""
        return None

    def column(self, position: int) -> Any:
        """Return one column, in memory."""
        columns = np.array([position])
        blocks = [self.rows(part.start, part.stop, columns) for part in row_blocks(self)]
        return np.concatenate([block.toarray() if is_sparse(block) else np.asarray(block) for block in blocks])[:, 0]


def select_columns(rows: Any, columns: IntArray | None, argument: str) -> Any:
    """Return all columns of rows, or some; sparse rows are checked first, since compiled code does not check them."""
    if is_sparse(rows):
        check_places(rows, argument)
        rows = rows.tocsr()
    return rows if columns is None else rows[:, columns]


class SliceReader(RowReader):
    """An array of HDF5, whose rows are read by slices."""

    def __init__(self, source: Any) -> None:
        self.source, self.dtype = source, source.dtype
        self.shape = (source.shape[0], 1) if len(source.shape) == 1 else tuple(source.shape)
        chunks = getattr(source, "chunks", None)
        self.edges = np.arange(chunks[0], self.shape[0], chunks[0]) if chunks else None

    def rows(self, start: int, stop: int, columns: IntArray | None = None) -> Any:
        """Return consecutive rows, with all columns or some."""
        return self._as_table(self.source[start:stop], columns)

    @staticmethod
    def _as_table(values: Any, columns: IntArray | None) -> Any:
        """Return rows that were read as a table, also those of a vector."""
        rows = np.asarray(values)
        rows = rows.reshape(len(rows), -1)
        return rows if columns is None else rows[:, columns]


class ZarrReader(SliceReader):
    """An array of zarr that decompresses few chunks at a time."""

    def rows(self, start: int, stop: int, columns: IntArray | None = None) -> Any:
        """Return consecutive rows, with all columns or some."""
        with few_chunks(math.prod(self.source.chunks) * self.source.dtype.itemsize):
            return super().rows(start, stop, columns)


class ArrayReader(SliceReader):
    """An array in memory, or a file mapped to it; any rows can be read directly."""

    def take(self, indices: IntArray, columns: IntArray | None = None) -> Any:
        """Return ascending rows, with all columns or some."""
        return self._as_table(self.source[indices], columns)


class DaskReader(RowReader):
    """An array of dask; the current scheduler computes it."""

    def __init__(self, source: Any) -> None:
        self.source = source if len(source.shape) == 2 else source[:, None]
        self.sparse, self.shape, self.dtype = is_sparse(source._meta), self.source.shape, source.dtype
        self.edges = np.cumsum(self.source.chunks[0])[:-1]

    def rows(self, start: int, stop: int, columns: IntArray | None = None) -> Any:
        """Return consecutive rows, with all columns or some."""
        return select_columns(self.source[start:stop].compute(), columns, "data")

    def take(self, indices: IntArray, columns: IntArray | None = None) -> Any:
        """Return ascending rows, with all columns or some."""
        return select_columns(self.source[indices].compute(), columns, "data")


class SparseFileReader(RowReader):
    """A sparse matrix of AnnData that is stored by rows in its file."""

    sparse = True

    def __init__(self, source: Any, argument: str) -> None:
        self.source, self.shape, self.argument = source, tuple(source.shape), argument
        self.dtype = source.dtype
        parts = [source.group[name] for name in ("indptr", "indices", "data")]
        _check_pointers(parts, self.shape, argument)

    def rows(self, start: int, stop: int, columns: IntArray | None = None) -> Any:
        """Return consecutive rows, with all columns or some."""
        return select_columns(self.source[start:stop], columns, self.argument)


class ParquetReader(RowReader):
    """The columns of a parquet file; one block of rows is in memory at a time."""

    def __init__(self, path: Path, argument: str, columns: list[str]) -> None:
        parquet = importlib.import_module("pyarrow.parquet")
        self.file = parquet.ParquetFile(path, buffer_size=1 << 20, pre_buffer=False)
        metadata = self.file.metadata
        self.argument, self.columns = argument, columns
        types = {field.name: str(field.type) for field in self.file.schema_arrow}
        self.boolean_columns = frozenset(j for j, name in enumerate(columns) if types[name] == "bool")
        self.shape = metadata.num_rows, len(columns)
        self.starts = np.cumsum([0] + [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)])
        self.ahead: tuple[Any, int, Any, pd.DataFrame] | None = None  # columns, next row, batches, rows read ahead

    def rows(self, start: int, stop: int, columns: IntArray | None = None) -> Any:
        """Return consecutive rows: from the last position on, or else from the start of their group on."""
        names = self.columns if columns is None else [self.columns[j] for j in columns]
        key, position, batches, frame = self.ahead or (None, 0, iter(()), pd.DataFrame())
        group = int(np.searchsorted(self.starts, start, side="right")) - 1
        if key != names or start < position or self.starts[min(group, len(self.starts) - 2)] > position + len(frame):
            groups = list(range(group, len(self.starts) - 1))
            batches = self.file.iter_batches(1 << 14, row_groups=groups, columns=names)
            position, frame = int(self.starts[min(group, len(self.starts) - 1)]), pd.DataFrame(columns=names)
        blocks = []
        while position < stop:
            if len(frame) == 0:
                frame = next(batches).to_pandas(ignore_metadata=True)
            rows = frame.iloc[max(start - position, 0) : stop - position]
            if len(rows):
                blocks.append(frame_numbers(rows, self.argument, MIXED_HINT, "labels", "ids"))
            n_used = min(len(frame), stop - position)
            position, frame = position + n_used, frame.iloc[n_used:]
        self.ahead = names, position, batches, frame
        return np.concatenate(blocks) if blocks else np.empty((0, len(names)))

    def column(self, position: int) -> Any:
        """Return one column, with its own type."""
        return self.series(self.columns[position])

    def series(self, name: str) -> Any:
        """Return one column by its name."""
        return self.file.read(columns=[name]).to_pandas(ignore_metadata=True)[name]


@contextmanager
def few_chunks(size: float = MAX_CHUNKS_BYTES) -> Iterator[None]:
    """Limit the chunks that zarr reads at once to 2 MiB, but at least one chunk, of ``size`` bytes each.

    By default it reads ten, each in a thread with memory that is not freed. A lower limit of the user remains, and the
    setting is restored afterwards.
    """
    config = getattr(importlib.import_module("zarr"), "config", None)  # from version 3 on
    if config is None:
        yield
        return
    key, max_chunks = "async.concurrency", max(1, int(MAX_CHUNKS_BYTES // size))
    # One thread at a time, so that each restores the setting.
    with _config_lock, config.set({key: min(config.get(key) or max_chunks, max_chunks)}):
        yield


def _check_pointers(parts: list[Any], shape: tuple[int, ...], argument: str) -> None:
    """Check the row pointers of a sparse matrix in a file; the columns are checked when rows are read.

    ``parts`` are indptr, indices and data.
    """
    lengths = [math.prod(part.shape) for part in parts]
    if (
        any(len(part.shape) != 1 for part in parts)
        or len(shape) != 2
        or any(p.dtype.kind not in "iu" for p in parts[:2])
    ):
        fault = "an indptr or indices that are not vectors of integers, or an invalid shape"
    elif lengths[0] != shape[0] + 1:
        fault = f"an indptr of {lengths[0]} for {shape[0]} rows"
    else:
        starts = parts[0][:]
        fault = "an indptr that does not ascend from 0" if starts[0] != 0 or (starts[1:] < starts[:-1]).any() else ""
        if not fault and starts[-1] > min(lengths[1:]):
            fault = f"an indptr up to {starts[-1]} for {lengths[1]} indices and {lengths[2]} values"
    if fault:
        requirement = "must be a sparse matrix with all entries within its shape"
        raise InputError(
            argument, requirement, f"one of shape {shape} in a file, with {fault}", "Write the file again."
        )


@dataclass(frozen=True)
class Chunk:
    """Consecutive rows of a table, from ``start`` on, that are indexed by their numbers in the table."""

    rows: Any
    start: int

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows up to its last one, and of columns."""
        return self.start + int(self.rows.shape[0]), int(self.rows.shape[1])

    def __getitem__(self, index: slice | IntArray) -> Any:
        if isinstance(index, slice):
            return self.rows[index.start - self.start : index.stop - self.start]
        return self.rows[index - self.start]


def is_lazy(table: Any) -> bool:
    """Check whether a table is an array of dask whose rows the workers of a cluster hold."""
    return isinstance(table, LazyTable) and isinstance(table.reader, DaskReader) and has_workers()


def has_workers() -> bool:
    """Check whether the scheduler of dask is a cluster; without one, reading block by block takes less memory."""
    scheduler = importlib.import_module("dask.base").get_scheduler()
    return type(getattr(scheduler, "__self__", None)).__name__ == "Client"


def as_lazy(table: Any, like: LazyTable) -> LazyTable:
    """Convert a table for the workers of dask, in the chunks of another one; files are read."""
    from_array = importlib.import_module("dask.array").from_array
    reader = table.reader if isinstance(table, LazyTable) else None
    array = reader.source if isinstance(reader, ArrayReader) else np.asarray(table)
    return LazyTable(
        DaskReader(from_array(array, (_dask_array(like).chunks[0], -1), name=False)), "an array", like.argument
    )


def _dask_array(table: LazyTable) -> Any:
    """Return the array of dask of a table that ``is_lazy``."""
    reader: Any = table.reader
    return reader.source


def worker_slices(table: LazyTable) -> list[slice]:
    """Return the slices of rows that are sent to workers at a time: whole chunks, by default 2 GB of 8-byte numbers."""
    ends = np.cumsum(_dask_array(table).chunks[0]).tolist()
    slices, start = [], 0
    for end, next_end in zip(ends, [*ends[1:], math.inf], strict=True):
        if 8 * (next_end - start) * table.shape[1] > MAX_LEG_BYTES:
            slices.append(slice(start, end))
            start = end
    return slices


def on_workers(table: LazyTable, part: slice, work: Callable[..., Any], *arguments: Any, merge: Any = None) -> Any:
    """Compute ``work`` for the chunks of some rows of an array of dask, on the workers that hold them.

    Parameters
    ----------
    table : Stored
        The table, of dask.
    part : slice
        The rows.
    work : callable
        Called with a ``Chunk`` and the further arguments, which are sent to every worker once.
    *arguments
        Further arguments of ``work``.
    merge : callable, optional
        Called with a list of up to eight results and the first further argument.

    Returns
    -------
    list or object
        The results in the order of the rows; with ``merge`` the merged result.
    """
    dask, array = importlib.import_module("dask"), _dask_array(table)[part]
    array = array if len(array.chunks[1]) == 1 else array.rechunk({1: -1})
    blocks, rows = array.to_delayed()[:, 0], np.array(array.chunks[0])
    tasks = np.cumsum(8 * rows * table.shape[1]) // MAX_TASK_BYTES  # small chunks are taken together
    shared = [dask.delayed(argument, name=f"anchors-{uuid4().hex}", traverse=False) for argument in arguments]
    starts = part.start + np.r_[0, np.cumsum(rows)[:-1]]
    delayed = [
        dask.delayed(_of_chunks, pure=False)(
            work, blocks[indices].tolist(), int(starts[indices[0]]), table.keep, *shared
        )
        for indices in np.split(np.arange(len(rows)), np.flatnonzero(np.diff(tasks)) + 1)
    ]
    while merge is not None and len(delayed) > 1:
        delayed = [dask.delayed(merge, pure=False)(delayed[k : k + 8], *shared[:1]) for k in range(0, len(delayed), 8)]
    with table._reading(), one_blas_thread(), dask.config.set(DASK_SETTINGS):
        results = list(dask.compute(*delayed))
    return results if merge is None else results[0]


def blockwise(table: Any, work: Callable[..., Any], *arguments: Any) -> list[Any]:
    """Compute ``work`` for the table, each block of its rows and the further arguments; for dask on the workers."""
    if is_lazy(table):
        results = on_workers(table, slice(0, len(table)), _blockwise_on_worker, work, *arguments)
        return [result for chunk_results in results for result in chunk_results]
    return [work(table, part, *arguments) for part in row_blocks(table)]


def _blockwise_on_worker(chunk: Chunk, work: Callable[..., Any], *arguments: Any) -> list[Any]:
    """Compute the same for the rows that a worker holds."""
    return [work(chunk, part, *arguments) for part in row_blocks(chunk, slice(chunk.start, chunk.shape[0]))]


def _of_chunks(work: Callable[..., Any], blocks: list[Any], start: int, keep: IntArray | None, *arguments: Any) -> Any:
    """Compute the result of one task, on a worker."""
    rows = [select_columns(block, keep, "data") for block in blocks]
    rows = [as_csr(block, "data") if is_sparse(block) else np.asarray(block, np.float64) for block in rows]
    return work(Chunk(concatenate_rows(rows), start), *arguments)


def as_stored(value: Any, argument: str, what: str = "") -> Any:
    """Return a table that is not in memory as ``LazyTable``; an array in memory too.

    A sparse matrix that is stored by columns is read, as a scipy array.
    """
    kind = kind_of(value)
    if kind is Kind.LAZY_TABLE:
        return replace(value, argument=argument, _last={})
    check_opened(value, argument)
    if kind is Kind.GROUP:
        value = _only_array(value, argument)
        kind = kind_of(value)
    library = library_of(type(value))
    what = what or f"{'an' if library in ('anndata', 'h5py') else 'a'} {library} array"
    _check_table(value, argument)
    match kind:
        case Kind.SPARSE_FILE if value.format == "csr":
            reader: RowReader = SparseFileReader(value, argument)
        case Kind.SPARSE_FILE:
            return _read_by_columns(value, argument, what)
        case Kind.DASK_ARRAY:
            reader = DaskReader(value)
        case Kind.ZARR_ARRAY:
            reader = ZarrReader(value)
        case Kind.HDF5_ARRAY:
            reader = SliceReader(value)
        case _:
            reader = ArrayReader(value)
    return LazyTable(reader, what, argument)


def _read_by_columns(value: Any, argument: str, what: str) -> Any:
    """Return a sparse matrix of AnnData that is stored by columns, in memory; a large one raises an error."""
    needed, limit = 16 * value.group["data"].shape[0], memory_limit()
    if needed > limit:
        received = f"{what} stored by columns that needs {needed / 2**30:.1f} GiB"
        hint = "Write it by rows: adata.X = adata.X.to_memory().tocsr()."
        raise InputError(argument, "must be stored by rows (csr), to be read by blocks of rows", received, hint)
    return value.to_memory()


def _check_table(value: Any, argument: str) -> None:
    """Check, before anything is read, for rows and columns of real numbers, and for chunks that fit in memory."""
    shape = tuple(value.shape)
    if any(isinstance(size, float) for size in shape):  # NaN
        received, hint = "a dask array of unknown shape", "Call its method compute_chunk_sizes() first."
        raise InputError(argument, "must have a known number of rows and columns", received, hint)
    if len(shape) not in (1, 2) or 0 in shape[1:]:
        hint = "Pass an (n, p) array whose rows are points."
        raise InputError(argument, "must be a table of rows and columns", describe(value), hint)
    if value.dtype.kind == "c":
        hint = "Pass the real and imaginary parts as separate columns."
        raise InputError(argument, "must be real", "complex numbers", hint)
    if value.dtype.kind not in "biuf":
        hint = "Convert it to a numeric array; objects are never loaded from a file."
        raise InputError(argument, "must hold numbers", describe(value), hint)
    chunks, limit = getattr(value, "chunks", None), memory_limit()
    if chunks and isinstance(chunks[0], int) and math.prod(chunks) * value.dtype.itemsize > limit:
        received = f"chunks of {' x '.join(map(str, chunks))}"
        hint = "Write it in smaller chunks, for instance of 10,000 rows."
        raise InputError(argument, f"must have chunks of at most {limit / 2**30:.3g} GiB", received, hint)


def _only_array(group: Any, argument: str, member: str | None = None) -> Any:
    """Return the array that ``member`` names in a group of HDF5 or zarr, or its only array or sparse AnnData matrix."""
    if "encoding-type" in group.attrs and "indptr" in group:
        return importlib.import_module("anndata.io").sparse_dataset(group)
    names = sorted(group)
    if member is not None and member not in group:
        hint = did_you_mean(member, names) + f"It holds: {', '.join(names)}."
        raise UnknownName(argument, "must name an array of the file", repr(member), hint)
    if member is None and len(names) != 1:
        received = f"a group with {', '.join(names[:10]) or 'no array'}"
        hint = f"Name one of them: group[{names[0]!r}]." if names else "Write the file again."
        raise InputError(argument, "must hold one array, or name one", received, hint)
    array = group[member or names[0]]
    return _only_array(array, argument) if kind_of(array) is Kind.GROUP else array


def open_parquet(path: Path, argument: str) -> tuple[LazyTable, pd.Index[Any], pd.Index[Any] | None]:
    """Return the table in a parquet file, its names of columns, and the index that pandas wrote, unless that counts."""
    parquet = importlib.import_module("pyarrow.parquet")
    schema = parquet.read_schema(path)
    index_columns = (schema.pandas_metadata or {}).get("index_columns", [])
    index = [name for name in index_columns if isinstance(name, str)]
    names = [name for name in schema.names if name not in index]
    if len(set(names)) < len(names):
        received = f"{str(path)!r} with names that occur twice"
        raise InputError(argument, "must have different names of columns", received, "Rename the columns.")
    reader = ParquetReader(path, argument, names)
    columns = [reader.series(name) for name in index]
    index_values = (
        None if not columns else pd.Index(columns[0]) if len(columns) == 1 else pd.MultiIndex.from_arrays(columns)
    )
    return LazyTable(reader, f"{str(path)!r}", argument), pd.Index(names), index_values


def check_obsm(group: Any, path: Path, argument: str) -> None:
    """Check that obsm of AnnData in an open file holds arrays, sparse matrices and frames, not groups of them.

    AnnData does not read a file with such a group; therefore dreval does not read it by blocks either.
    """
    obsm = group.get("obsm", {})
    for name in obsm if not hasattr(obsm, "shape") else ():
        item = obsm[name]
        if hasattr(item, "shape") or "indptr" in item or item.attrs.get("encoding-type", "dict") != "dict":
            continue
        members = ", ".join(map(repr, sorted(item)[:5])) or "nothing"
        received = f"{str(path)!r}, where 'obsm/{name}' is a group with {members}"
        open_call = "zarr.open_group(path)" if path.is_dir() else "h5py.File(path, 'r+')"
        hint = f"Write its arrays one by one, or leave it out: del {open_call}['obsm/{name}']."
        raise InputError(argument, "must have tables of rows and columns in obsm", received, hint)


COLORS_SUFFIX = "_colors"  # of keys of uns of AnnData, after the name of a column of obs
MAX_COLORS = 10_000  # of the classes of a variable, read from a file


def open_cells(group: Any) -> Any:
    """Return AnnData in an open file of HDF5 or zarr: names and obs are read, its matrices stay in the file."""
    read = importlib.import_module("anndata.io").read_elem
    sparse_dataset = importlib.import_module("anndata.io").sparse_dataset

    def element(item: Any) -> Any:
        if hasattr(item, "shape"):
            return item if item.shape else None  # AnnData writes None as an array without a shape
        return sparse_dataset(item) if "indptr" in item else read(item)

    def named(key: str) -> Mapping[str, Any]:
        return {name: element(group[key][name]) for name in group[key]} if key in group else {}

    obs, raw = read(group["obs"]), None
    if "raw" in group and not hasattr(group["raw"], "shape"):
        raw = SimpleNamespace(X=element(group["raw"]["X"]), var_names=read(group["raw"]["var"]).index)
    names = read(group["var"]).index if "var" in group else None
    X = element(group["X"]) if "X" in group else None
    stored = group.get("uns", {})
    colors = {key: stored[key] for key in (f"{name}{COLORS_SUFFIX}" for name in obs.columns) if key in stored}
    uns = {key: read(item) for key, item in colors.items() if 0 < np.prod(getattr(item, "shape", (0,))) <= MAX_COLORS}
    fields = {"obs": obs, "obs_names": obs.index, "obsm": named("obsm"), "layers": named("layers"), "uns": uns}
    return SimpleNamespace(X=X, var_names=names, raw=raw, **fields)


def open_zarr(path: Path, argument: str, member: str | None) -> Any:
    """Return the array or the AnnData object in a zarr folder; ``member`` names an array."""
    check_zarr(path, argument)
    try:
        content = _open_folder(path)
    except Exception as error:
        reason = message_of(error)[:120]
        hint = "Write the folder again."
        raise InputError(argument, "must be a readable .zarr folder", f"{str(path)!r} ({reason})", hint) from error
    if hasattr(content, "shape"):
        if member is None:
            return content
        hint = "Leave the name out."
        raise UnknownName(argument, "must name an array of the folder", f"{member!r} of a single array", hint)
    if "obs" not in content:
        return _only_array(content, argument, member)
    check_obsm(content, path, argument)
    with few_chunks():
        return open_cells(content)


def _open_folder(path: Path) -> Any:
    """Open the array or group in a zarr folder by the metadata of each part, which were checked.

    The path is not parsed, since text may name stores in other locations. Consolidated metadata are not used.
    """
    zarr = importlib.import_module("zarr")
    if not hasattr(zarr, "config"):  # before version 3
        return zarr.open(zarr.DirectoryStore(str(path)), mode="r")
    store = importlib.import_module("zarr.storage").LocalStore(path, read_only=True)
    if _is_array(path):
        return zarr.open_array(store, mode="r")
    return zarr.open_group(store, mode="r", use_consolidated=False)


def _is_array(path: Path) -> bool:
    """Check whether the metadata in a zarr folder describe an array."""
    metadata_file = path / "zarr.json"
    if not metadata_file.is_file():
        return (path / ".zarray").is_file()
    return bool(json.loads(metadata_file.read_bytes())["node_type"] == "array")
