"""Tables of numbers that are not in memory: files that are mapped, arrays of HDF5, zarr and dask, parquet, AnnData."""

from __future__ import annotations

import importlib
import json
import math
import threading
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

from dreval._check import IntArray, check_exact, check_unmasked, describe, did_you_mean, read_limit
from dreval._inside import check_opened
from dreval._parallel import one_blas_thread
from dreval.errors import DrevalError, InputError, UnknownName, message_of
from dreval.glossary import printable
from dreval.inputs.features import DENSE_LIMIT, as_csr, check_places, frame_numbers, is_sparse, row_blocks
from dreval.inputs.sizes import check_zarr

LARGE = 2**28  # bytes of a table from which on its file is read by blocks, where it can be
KEPT = 2**28  # bytes of a part of a file that is kept, if less than all of it was asked for
CHUNKS_BYTES = 1 << 21  # of chunks of zarr that are read at once, where one has less
GAP = 1 << 14  # bytes between wanted rows that are read rather than skipped
TASK_BYTES = 1 << 25  # of chunks that a worker takes together, where they are smaller, as numbers of 8 bytes
LEG_BYTES = 1 << 31
GRAPHS = {"distributed.admin.large-graph-warning-threshold": "10GB"}  # embeddings in memory are sent with the tasks
FEATURES = "Name it as {labels} or {ids}, or drop it."
_setting = threading.RLock()


@dataclass(frozen=True, eq=False)
class Stored:
    """A table whose rows are read when they are needed, as float64, by a slice or an array of row numbers.

    ``numpy.asarray`` reads all of it, up to 8 GiB (or DREVAL_READ_LIMIT).

    Attributes
    ----------
    reader : object
        Reads consecutive rows or single columns of the file.
    what : str
        What it is, for errors.
    argument : str
        Name of the argument, for errors.
    keep : ndarray of int, optional
        The columns of the file that belong to the table; all by default.
    """

    reader: Any
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
        """The type of its rows, whatever the type of the numbers in the file."""
        return np.dtype(np.float64)

    def truth_values(self) -> list[int]:
        """Return the positions of the columns that hold True and False; none where all columns have one type."""
        known: frozenset[int] = getattr(self.reader, "truth_values", frozenset())
        keep = range(self.shape[1]) if self.keep is None else self.keep.tolist()
        return [place for place, j in enumerate(keep) if j in known]

    @property
    def single(self) -> bool:
        """Whether the numbers in the file are of single precision."""
        return bool(getattr(getattr(self.reader, "source", None), "dtype", None) == np.float32)

    @property
    def sparse(self) -> bool:
        """Whether its rows come as a sparse matrix."""
        return bool(self.reader.sparse)

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        n, p = self.shape
        return f"Stored({printable(self.what)}: {n} rows, {p} columns)"

    def __getitem__(self, places: Any) -> Any:
        """Rows by a slice, a mask or an array of row numbers; a column as ``table[:, j]``."""
        if isinstance(places, tuple):
            rows, column = places
            return self.column(int(column)).to_numpy()[rows]
        n = len(self)
        if isinstance(places, slice):
            start, stop, step = places.indices(n)
            if step == 1:
                return self._rows(start, max(start, stop))
            places = np.arange(n)[places]
        wanted = np.asarray(places)
        wanted = np.flatnonzero(wanted) if wanted.dtype == np.bool_ else wanted.astype(np.int64)
        rows, at = np.unique(np.where(wanted < 0, wanted + n, wanted), return_inverse=True)
        found = self._picked(rows)
        return found if len(rows) == len(wanted) and (rows == wanted).all() else found[at.reshape(wanted.shape)]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        whole = self.whole
        whole = whole.toarray() if is_sparse(whole) else whole
        return np.array(whole, dtype) if copy else np.asarray(whole, dtype)

    def __deepcopy__(self, memo: dict[int, Any]) -> Stored:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.reader, self.what, self.argument, self.keep)

    @cached_property
    def whole(self) -> Any:
        """All of it as float64, an array or a sparse matrix; above 8 GiB, or DREVAL_READ_LIMIT, that is refused."""
        n, p = self.shape
        limit = max(DENSE_LIMIT, read_limit() or 0)
        if self.sparse:
            from scipy.sparse import vstack

            blocks, needed = [], 0
            for part in row_blocks(self):
                blocks.append(self[part])
                needed += 16 * blocks[-1].nnz  # a number and its place
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
        """Refuse to read so many rows at once that they take more memory than allowed."""
        needed, limit = 8 * rows * self.shape[1], max(DENSE_LIMIT, read_limit() or 0)
        if needed > limit and not self.sparse:
            raise self._too_large(needed, limit)

    def _too_large(self, needed: float, limit: float) -> InputError:
        """The error for what needs all of a large table."""
        n, p = self.shape
        return InputError(
            self.argument,
            f"must take at most {limit / 2**30:.3g} GiB where all of it is needed at once",
            f"{self.what} of {n} x {p} that needs {needed / 2**30:.1f} GiB",
            "Measures that read blocks of rows, from {anchors} among more than 50,000 points, do not need it; methods "
            "that are run do. With enough memory, set the environment variable "
            f"DREVAL_READ_LIMIT={2.0 * needed:.2g}.",
            anchors="anchors",
        )

    def column(self, place: int) -> pd.Series[Any]:
        """One column, in memory."""
        at = place if self.keep is None else int(self.keep[place])
        with self._reading():
            return pd.Series(self.reader.column(at, row_blocks(self)))

    def without(self, place: int) -> Stored:
        """The table without one column."""
        own = np.arange(self.shape[1]) if self.keep is None else self.keep
        return replace(self, keep=np.delete(own, place), _last={})

    def _picked(self, rows: IntArray) -> Any:
        """Ascending rows: consecutive ones, or ones close to each other, are read at once."""
        n, p = self.shape
        if len(rows) and (rows[0] < 0 or rows[-1] >= n):
            raise IndexError(f"row {rows[0] if rows[0] < 0 else rows[-1]} of {n}")
        if not len(rows):
            return self._rows(0, 0)
        self._check_size(len(rows))
        if hasattr(self.reader, "pick"):
            with self._reading():
                return self._normal(self.reader.pick(rows, self.keep), len(rows))
        gap = max(GAP // max(8 * p, 1), 1)
        cut = np.diff(rows) > gap
        if self.reader.edges is not None:  # what lies in one part of the file is decompressed together
            own = np.searchsorted(self.reader.edges, rows, side="right")
            cut &= np.diff(own) > 0
        size = row_blocks(self)[0].stop
        parts = []
        for run in np.split(rows, np.flatnonzero(cut) + 1):
            for some in np.split(run, np.flatnonzero(np.diff((run - run[0]) // size)) + 1):
                block = self._rows(int(some[0]), int(some[-1]) + 1)
                parts.append(block[some - some[0]])
        return joined(parts)

    def _rows(self, start: int, stop: int) -> Any:
        """Consecutive rows. Of a part of the file that is larger than a block the numbers are kept for the next one."""
        with self._reading():
            edges, (n, p) = self.reader.edges, self.shape
            self._check_size(stop - start)
            ends = np.r_[0, n] if edges is None else np.r_[0, edges, n]
            longest = int(np.diff(ends).max(initial=0))
            if stop - start >= longest or 8 * longest * p > KEPT or edges is None or not stop > start:
                return self._normal(self.reader.read(start, stop, self.keep), stop - start)
            parts = []
            for at in range(np.searchsorted(edges, start, "right"), np.searchsorted(edges, stop - 1, "right") + 1):
                first, last = int(ends[at]), int(ends[at + 1])
                if self._last.get("at") != at:
                    self._last.clear()
                    self._last.update(at=at, rows=self.reader.read(first, last, self.keep))  # as narrow as in the file
                parts.append(self._last["rows"][max(start, first) - first : min(stop, last) - first])
            return self._normal(joined(parts), stop - start)

    def _normal(self, found: Any, count: int) -> Any:
        """Rows as they were read, in normal form: real numbers that a float holds exactly."""
        if self.sparse:
            rows = as_csr(found, self.argument)
        else:
            rows = np.asarray(check_unmasked(found, self.argument))
            check_exact(rows, self.argument)
            rows = rows.astype(np.float64, copy=False) if rows.dtype.kind in "biuf" else rows
        if rows.shape != (count, self.shape[1]) or rows.dtype.kind not in "biuf":
            raise ValueError(f"{describe(rows)} where {count} rows of {self.shape[1]} numbers were asked for")
        return rows

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """One thread at a time; what the file or its library raises becomes an error of the argument."""
        with self._lock:
            try:
                yield
            except DrevalError:
                raise
            except Exception as error:
                why = " ".join(f"{type(error).__name__}: {error}".split())[:120]
                cure = "Check that the file is whole and still open, or write it again."
                raise InputError(self.argument, "must be readable", f"{self.what} ({why})", cure) from error


def joined(parts: list[Any]) -> Any:
    """Consecutive rows from several parts, all dense or all sparse."""
    if len(parts) == 1:
        return parts[0]
    if is_sparse(parts[0]):
        from scipy.sparse import vstack

        return vstack(parts, format="csr")
    return np.concatenate(parts)


class _Sliced:
    """An array of HDF5 or zarr, or a mapped file, whose rows are read by slices."""

    sparse = False

    def __init__(self, source: Any) -> None:
        self.source, self.flat = source, len(source.shape) == 1
        self.shape = (source.shape[0], 1) if self.flat else tuple(source.shape)
        chunks = getattr(source, "chunks", None)
        self.edges = np.arange(chunks[0], self.shape[0], chunks[0]) if chunks else None

    def read(self, start: int, stop: int, keep: IntArray | None) -> Any:
        """Consecutive rows."""
        rows = np.asarray(self.source[start:stop])
        return rows.reshape(len(rows), -1) if keep is None else rows.reshape(len(rows), -1)[:, keep]

    def column(self, at: int, parts: list[slice]) -> npt.NDArray[Any]:
        """One column."""
        return np.concatenate([self.read(part.start, part.stop, None)[:, at] for part in parts])


class _Zarr(_Sliced):
    """An array of zarr, of whose chunks few are decompressed at a time."""

    def read(self, start: int, stop: int, keep: IntArray | None) -> Any:
        """Consecutive rows."""
        with few_chunks(math.prod(self.source.chunks) * self.source.dtype.itemsize):
            return super().read(start, stop, keep)


@contextmanager
def few_chunks(size: float = CHUNKS_BYTES) -> Iterator[None]:
    """Let zarr read chunks of so many bytes, 2 MiB of them at once but at least one.

    It reads ten, each in a thread with memory of its own, which is not given back. No more are read than it is set to,
    and the setting is as before afterwards.
    """
    config = getattr(importlib.import_module("zarr"), "config", None)  # from version 3 on
    if config is None:
        yield
        return
    key, most = "async.concurrency", max(1, int(CHUNKS_BYTES // size))
    with _setting, config.set({key: min(config.get(key) or most, most)}):  # one thread: each leaves what it finds
        yield


class _Mapped(_Sliced):
    """An array in memory, or a file mapped to it, of which any rows are read alike."""

    def pick(self, rows: IntArray, keep: IntArray | None) -> Any:
        """Some rows."""
        found = np.asarray(self.source[rows]).reshape(len(rows), -1)
        return found if keep is None else found[:, keep]


class _Dask:
    """An array of dask; the scheduler is the one that is found."""

    def __init__(self, source: Any) -> None:
        self.source = source if len(source.shape) == 2 else source[:, None]
        self.sparse, self.shape = is_sparse(source._meta), self.source.shape
        self.edges = np.cumsum(self.source.chunks[0])[:-1]

    def read(self, start: int, stop: int, keep: IntArray | None) -> Any:
        """Consecutive rows."""
        return self._computed(self.source[start:stop], keep)

    def pick(self, rows: IntArray, keep: IntArray | None) -> Any:
        """Some rows."""
        return self._computed(self.source[rows], keep)

    @classmethod
    def _computed(cls, wanted: Any, keep: IntArray | None) -> Any:
        return cls.kept(wanted.compute(), keep)

    @staticmethod
    def kept(rows: Any, keep: IntArray | None) -> Any:
        """The columns of rows that belong to the table."""
        if is_sparse(rows):
            check_places(rows, "data")
            rows = rows.tocsr()
        return rows if keep is None else rows[:, keep]

    def column(self, at: int, parts: list[slice]) -> npt.NDArray[Any]:
        """One column."""
        blocks = [self.read(part.start, part.stop, np.array([at])) for part in parts]
        return np.concatenate([block.toarray() if is_sparse(block) else np.asarray(block) for block in blocks])[:, 0]


class _SparseRows:
    """A sparse matrix of AnnData that lies by rows in its file."""

    sparse, edges = True, None

    def __init__(self, source: Any, argument: str) -> None:
        self.source, self.shape, self.argument = source, tuple(source.shape), argument
        parts = [source.group[name] for name in ("indptr", "indices", "data")]
        _check_pointers(parts, self.shape, argument)

    def read(self, start: int, stop: int, keep: IntArray | None) -> Any:
        """Consecutive rows."""
        rows = self.source[start:stop]
        check_places(rows, self.argument)
        rows = rows.tocsr()
        return rows if keep is None else rows[:, keep]

    def column(self, at: int, parts: list[slice]) -> npt.NDArray[Any]:
        """One column."""
        blocks = [self.read(part.start, part.stop, np.array([at])).toarray() for part in parts]
        return np.concatenate(blocks)[:, 0]


def _check_pointers(parts: list[Any], shape: tuple[int, ...], argument: str) -> None:
    """Check where the rows of a sparse matrix in a file begin; their columns are checked when they are read.

    ``parts`` are indptr, indices and data.
    """
    lengths = [math.prod(part.shape) for part in parts]
    if (
        any(len(part.shape) != 1 for part in parts)
        or len(shape) != 2
        or any(p.dtype.kind not in "iu" for p in parts[:2])
    ):
        fault = "an indptr or indices that are no vectors of integers, or a shape that is none"
    elif lengths[0] != shape[0] + 1:
        fault = f"an indptr of {lengths[0]} for {shape[0]} rows"
    else:
        starts = parts[0][:]
        fault = "an indptr that does not ascend from 0" if starts[0] != 0 or (starts[1:] < starts[:-1]).any() else ""
        if not fault and starts[-1] > min(lengths[1:]):
            fault = f"an indptr up to {starts[-1]} for {lengths[1]} indices and {lengths[2]} values"
    if fault:
        rule = "must be a sparse matrix with all entries within its shape"
        raise InputError(argument, rule, f"one of shape {shape} in a file, with {fault}", "Write the file again.")


class _Parquet:
    """The columns of a parquet file, of which a block of rows is in memory at a time."""

    sparse, edges = False, None

    def __init__(self, path: Path, argument: str, columns: list[str]) -> None:
        parquet = importlib.import_module("pyarrow.parquet")
        self.file = parquet.ParquetFile(path, buffer_size=1 << 20, pre_buffer=False)
        about = self.file.metadata
        self.argument, self.columns = argument, columns
        types = {field.name: str(field.type) for field in self.file.schema_arrow}
        self.truth_values = frozenset(j for j, name in enumerate(columns) if types[name] == "bool")
        self.shape = about.num_rows, len(columns)
        self.starts = np.cumsum([0] + [about.row_group(i).num_rows for i in range(about.num_row_groups)])
        self.ahead: tuple[Any, int, Any, pd.DataFrame] | None = None  # of which columns, from which row on, and what

    def read(self, start: int, stop: int, keep: IntArray | None) -> Any:
        """Consecutive rows: those behind the last ones, or from the start of their group on."""
        names = self.columns if keep is None else [self.columns[j] for j in keep]
        key, at, batches, frame = self.ahead or (None, 0, iter(()), pd.DataFrame())
        group = int(np.searchsorted(self.starts, start, side="right")) - 1
        if key != names or start < at or self.starts[min(group, len(self.starts) - 2)] > at + len(frame):
            groups = list(range(group, len(self.starts) - 1))
            batches = self.file.iter_batches(1 << 14, row_groups=groups, columns=names)
            at, frame = int(self.starts[min(group, len(self.starts) - 1)]), pd.DataFrame(columns=names)
        made = []
        while at < stop:
            if len(frame) == 0:
                frame = next(batches).to_pandas(ignore_metadata=True)
            some = frame.iloc[max(start - at, 0) : stop - at]
            if len(some):
                made.append(frame_numbers(some, self.argument, FEATURES, "labels", "ids"))
            done = min(len(frame), stop - at)
            at, frame = at + done, frame.iloc[done:]
        self.ahead = names, at, batches, frame
        return np.concatenate(made) if made else np.empty((0, len(names)))

    def column(self, at: int, parts: list[slice]) -> Any:
        """One column, with its own type."""
        return self.series(self.columns[at])

    def series(self, name: str) -> Any:
        """One column by its name."""
        return self.file.read(columns=[name]).to_pandas(ignore_metadata=True)[name]


@dataclass(frozen=True)
class Chunk:
    """Consecutive rows of a table, from ``start`` on, that are read by their numbers in the table."""

    rows: Any
    start: int

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows up to its last one, and of columns."""
        return self.start + int(self.rows.shape[0]), int(self.rows.shape[1])

    def __getitem__(self, places: slice | IntArray) -> Any:
        if isinstance(places, slice):
            return self.rows[places.start - self.start : places.stop - self.start]
        return self.rows[places - self.start]


def is_lazy(table: Any) -> bool:
    """Whether a table is an array of dask of which the workers of a cluster have the rows."""
    return isinstance(table, Stored) and isinstance(table.reader, _Dask) and has_workers()


def has_workers() -> bool:
    """Whether the scheduler of dask is a cluster; without one, blocks that are read one by one take less memory."""
    found = importlib.import_module("dask.base").get_scheduler()
    return type(getattr(found, "__self__", None)).__name__ == "Client"


def as_lazy(table: Any, like: Stored) -> Stored:
    """A table that is no array of dask for its workers, in the chunks of one that is; files are read."""
    from_array = importlib.import_module("dask.array").from_array
    mapped = isinstance(table, Stored) and isinstance(table.reader, _Mapped)
    array = table.reader.source if mapped else np.asarray(table)
    return Stored(_Dask(from_array(array, (like.reader.source.chunks[0], -1), name=False)), "an array", like.argument)


def legs(table: Stored) -> list[slice]:
    """The rows that are sent to workers at a time: some whole chunks, by default 2 GB as numbers of 8 bytes."""
    ends = np.cumsum(table.reader.source.chunks[0]).tolist()
    found, start = [], 0
    for end, following in zip(ends, [*ends[1:], math.inf], strict=True):
        if 8 * (following - start) * table.shape[1] > LEG_BYTES:
            found.append(slice(start, end))
            start = end
    return found


def on_workers(table: Stored, part: slice, work: Callable[..., Any], *given: Any, merge: Any = None) -> Any:
    """What ``work`` gives for the chunks of some rows of an array of dask, computed where these are.

    Parameters
    ----------
    table : Stored
        The table, of dask.
    part : slice
        The rows.
    work : callable
        Called with a ``Chunk`` and with what else is ``given``, which is sent to every worker once.
    merge : callable, optional
        Called with a list of up to eight results and the first of what else is given.

    Returns
    -------
    list or object
        The results in the order of the rows; with ``merge`` the one that is left.
    """
    dask, some = importlib.import_module("dask"), table.reader.source[part]
    some = some if len(some.chunks[1]) == 1 else some.rechunk({1: -1})
    blocks, rows = some.to_delayed()[:, 0], np.array(some.chunks[0])
    tasks = np.cumsum(8 * rows * table.shape[1]) // TASK_BYTES  # small chunks are taken together
    shared = [dask.delayed(one, name=f"anchors-{uuid4().hex}", traverse=False) for one in given]
    starts = part.start + np.r_[0, np.cumsum(rows)[:-1]]
    found = [
        dask.delayed(_of_chunks, pure=False)(work, blocks[own].tolist(), int(starts[own[0]]), table.keep, *shared)
        for own in np.split(np.arange(len(rows)), np.flatnonzero(np.diff(tasks)) + 1)
    ]
    while merge is not None and len(found) > 1:
        found = [dask.delayed(merge, pure=False)(found[at : at + 8], *shared[:1]) for at in range(0, len(found), 8)]
    with table._reading(), one_blas_thread(), dask.config.set(GRAPHS):
        made = list(dask.compute(*found))
    return made if merge is None else made[0]


def blockwise(table: Any, work: Callable[..., Any], *given: Any) -> list[Any]:
    """What ``work`` gives for the table, each block of its rows and what else is given; of dask on its workers."""
    if is_lazy(table):
        found = on_workers(table, slice(0, len(table)), _blockwise_here, work, *given)
        return [one for made in found for one in made]
    return [work(table, part, *given) for part in row_blocks(table)]


def _blockwise_here(chunk: Chunk, work: Callable[..., Any], *given: Any) -> list[Any]:
    """The same for the rows that a worker has."""
    return [work(chunk, part, *given) for part in row_blocks(chunk, slice(chunk.start, chunk.shape[0]))]


def _of_chunks(work: Callable[..., Any], blocks: list[Any], start: int, keep: IntArray | None, *given: Any) -> Any:
    """The result of one task, on a worker."""
    rows = [_Dask.kept(one, keep) for one in blocks]
    rows = [as_csr(one, "data") if is_sparse(one) else np.asarray(one, np.float64) for one in rows]
    return work(Chunk(joined(rows), start), *given)


def is_stored(value: Any) -> bool:
    """Whether a value is a table that is not in memory, or a group of such."""
    library, kind = type(value).__module__.split(".")[0], type(value).__name__
    if isinstance(value, np.memmap):  # one of floats in C order is used as any other array: its rows are what is read
        return not (value.flags.c_contiguous and value.dtype in (np.float32, np.float64))
    known = {"h5py": ("Dataset", "Group", "File"), "zarr": ("Array", "Group"), "dask": ("Array",)}
    return isinstance(value, Stored) or kind in known.get(library, ()) or _is_sparse_dataset(value)


def _is_sparse_dataset(value: Any) -> bool:
    """Whether a value is a sparse matrix of AnnData that is still in its file."""
    known = type(value).__module__.split(".")[0] == "anndata"
    return known and all(hasattr(value, name) for name in ("group", "format", "to_memory"))


def as_stored(value: Any, argument: str, what: str = "") -> Any:
    """A table that is not in memory, as ``Stored``; a sparse matrix that lies by columns is read, as a scipy array."""
    if isinstance(value, Stored):
        return replace(value, argument=argument, _last={})
    check_opened(value, argument)
    if type(value).__name__ in ("Group", "File"):
        value = _only_array(value, argument)
    library = type(value).__module__.split(".")[0]
    what = what or f"{'an' if library in ('anndata', 'h5py') else 'a'} {library} array"
    _check_table(value, argument)
    if _is_sparse_dataset(value):
        if value.format == "csr":
            return Stored(_SparseRows(value, argument), what, argument)
        needed, limit = 16 * value.group["data"].shape[0], max(DENSE_LIMIT, read_limit() or 0)
        if needed > limit:
            got = f"{what} stored by columns that needs {needed / 2**30:.1f} GiB"
            cure = "Write it by rows: adata.X = adata.X.to_memory().tocsr()."
            raise InputError(argument, "must be stored by rows (csr), to be read by blocks of rows", got, cure)
        return value.to_memory()
    if library == "dask":
        return Stored(_Dask(value), what, argument)
    reader = _Mapped if isinstance(value, np.ndarray) else _Zarr if library == "zarr" else _Sliced
    return Stored(reader(value), what, argument)


def _check_table(value: Any, argument: str) -> None:
    """Refuse, before anything is read, what has not rows and columns of real numbers, or parts that fill the memory."""
    shape = tuple(value.shape)
    if any(isinstance(size, float) for size in shape):  # NaN
        got, cure = "a dask array of unknown shape", "Call its method compute_chunk_sizes() first."
        raise InputError(argument, "must have a known number of rows and columns", got, cure)
    if len(shape) not in (1, 2) or 0 in shape[1:]:
        cure = "Pass an (n, p) array whose rows are points."
        raise InputError(argument, "must be a table of rows and columns", describe(value), cure)
    if value.dtype.kind == "c":
        cure = "Pass the real and imaginary parts as separate columns."
        raise InputError(argument, "must be real", "complex numbers", cure)
    if value.dtype.kind not in "biuf":
        cure = "Convert it to a numeric array; objects are never loaded from a file."
        raise InputError(argument, "must hold numbers", describe(value), cure)
    chunks, limit = getattr(value, "chunks", None), max(DENSE_LIMIT, read_limit() or 0)
    if chunks and isinstance(chunks[0], int) and math.prod(chunks) * value.dtype.itemsize > limit:
        got = f"chunks of {' x '.join(map(str, chunks))}"
        cure = "Write it in smaller chunks, for instance of 10,000 rows."
        raise InputError(argument, f"must have chunks of at most {limit / 2**30:.3g} GiB", got, cure)


def _only_array(group: Any, argument: str, member: str | None = None) -> Any:
    """The array that ``member`` names in a group of HDF5 or zarr, or its only one; a sparse matrix of AnnData too."""
    if "encoding-type" in group.attrs and "indptr" in group:
        return importlib.import_module("anndata.io").sparse_dataset(group)
    names = sorted(group)
    if member is not None and member not in group:
        cure = did_you_mean(member, names) + f"It holds: {', '.join(names)}."
        raise UnknownName(argument, "must name an array of the file", repr(member), cure)
    if member is None and len(names) != 1:
        got = f"a group with {', '.join(names[:10]) or 'no array'}"
        cure = f"Name one of them: group[{names[0]!r}]." if names else "Write the file again."
        raise InputError(argument, "must hold one array, or name one", got, cure)
    found = group[member or names[0]]
    return _only_array(found, argument) if type(found).__name__ == "Group" else found


def open_parquet(path: Path, argument: str) -> tuple[Stored, pd.Index[Any] | None]:
    """The table in a parquet file, and the index that pandas wrote with it, if that is more than a count."""
    parquet = importlib.import_module("pyarrow.parquet")
    schema = parquet.read_schema(path)
    kept = (schema.pandas_metadata or {}).get("index_columns", [])
    index = [name for name in kept if isinstance(name, str)]
    names = [name for name in schema.names if name not in index]
    if len(set(names)) < len(names):
        got = f"{str(path)!r} with names that occur twice"
        raise InputError(argument, "must have different names of columns", got, "Rename the columns.")
    reader = _Parquet(path, argument, names)
    columns = [reader.series(name) for name in index]
    found = None if not columns else pd.Index(columns[0]) if len(columns) == 1 else pd.MultiIndex.from_arrays(columns)
    return Stored(reader, f"{str(path)!r}", argument), found


def check_obsm(group: Any, path: Path, argument: str) -> None:
    """Check that obsm of AnnData in an open file holds tables: arrays, sparse matrices and frames, not groups of them.

    AnnData does not read a file with such a group, so that none is read by blocks either.
    """
    found = group.get("obsm", {})
    for name in found if not hasattr(found, "shape") else ():
        item = found[name]
        if hasattr(item, "shape") or "indptr" in item or item.attrs.get("encoding-type", "dict") != "dict":
            continue
        held = ", ".join(map(repr, sorted(item)[:5])) or "nothing"
        got = f"{str(path)!r}, of which 'obsm/{name}' is a group with {held}"
        opened = "zarr.open_group(path)" if path.is_dir() else "h5py.File(path, 'r+')"
        cure = f"Write its arrays one by one, or leave it out: del {opened}['obsm/{name}']."
        raise InputError(argument, "must have tables of rows and columns in obsm", got, cure)


def open_cells(group: Any) -> Any:
    """AnnData in an open file of HDF5 or zarr: names and obs are read, its matrices stay in the file."""
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
    known = {"obs": obs, "obs_names": obs.index, "obsm": named("obsm"), "layers": named("layers")}
    return SimpleNamespace(X=X, var_names=names, raw=raw, **known)


def open_zarr(path: Path, argument: str, member: str | None) -> Any:
    """The array or the AnnData object in a folder of zarr; ``member`` names an array."""
    check_zarr(path, argument)
    try:
        found = _open_folder(path)
    except Exception as error:
        why = message_of(error)[:120]
        cure = "Write the folder again."
        raise InputError(argument, "must be a readable .zarr folder", f"{str(path)!r} ({why})", cure) from error
    if hasattr(found, "shape"):
        if member is None:
            return found
        cure = "Leave the name out."
        raise UnknownName(argument, "must name an array of the folder", f"{member!r} of a single array", cure)
    if "obs" not in found:
        return _only_array(found, argument, member)
    check_obsm(found, path, argument)
    with few_chunks():
        return open_cells(found)


def _open_folder(path: Path) -> Any:
    """The array or group in a folder of zarr, by the metadata of each part, which were checked.

    The path is not parsed, since text may name stores in other places, and metadata of all parts in one file are not
    used.
    """
    zarr = importlib.import_module("zarr")
    if not hasattr(zarr, "config"):  # before version 3
        return zarr.open(zarr.DirectoryStore(str(path)), mode="r")
    store = importlib.import_module("zarr.storage").LocalStore(path, read_only=True)
    if _is_array(path):
        return zarr.open_array(store, mode="r")
    return zarr.open_group(store, mode="r", use_consolidated=False)


def _is_array(path: Path) -> bool:
    """Whether the metadata in a folder of zarr are those of an array."""
    about = path / "zarr.json"
    return json.loads(about.read_bytes())["node_type"] == "array" if about.is_file() else (path / ".zarray").is_file()
