"""One pass over a table of numbers by blocks of rows: what is refused, what is noted, and the hash of its cells."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from dreval._check import FloatArray, not_finite
from dreval.inputs.features import MAX_NAMED, described, hash_weights, is_id_name, is_sparse, looks_like_ids
from dreval.records.notes import Note, note

BLOCK_BYTES = 4_000_000  # of a block of rows as numbers of 8 bytes
FIRST_ROWS = 1024  # of a block, among which most columns of integers repeat one: only the others are read again
EXACT = 2.0**53  # up to which float64 holds every integer: all larger numbers are whole
MIN_IDS = 10  # rows from which different integers are doubtful: fewer counts or sizes often differ by themselves


def row_blocks(table: Any, part: slice | None = None) -> list[slice]:
    """The blocks of rows in which a table, or some consecutive rows of it, are read."""
    n, p = table.shape
    size = int(np.clip(BLOCK_BYTES // (8 * max(p, 1)), 1024, 1 << 16))
    start, stop = (0, n) if part is None else (part.start, part.stop)
    return [slice(at, min(at + size, stop)) for at in range(start, stop, size)]


def rows_of(table: Any, places: slice | npt.NDArray[np.int64]) -> Any:
    """Some rows of a table as an array of float64 or a sparse matrix."""
    found = table[places]
    return found if is_sparse(found) else np.asarray(found, np.float64)


@dataclass(frozen=True)
class Every:
    """The places 0, ..., n - 1 of all points, which are not held: of many points few are looked at at once."""

    n: int

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, places: Any) -> Any:
        if isinstance(places, slice):
            return np.arange(*places.indices(self.n))
        places = np.asarray(places)
        return np.flatnonzero(places) if places.dtype == np.bool_ else np.where(places < 0, places + self.n, places)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.arange(self.n, dtype=dtype)


@dataclass(frozen=True)
class Reordered:
    """A table of some rows of another one in some order, which is not copied.

    ``order`` has as many places as there are rows, and gives the rows of the other table for an array of places.
    """

    table: Any
    order: Any

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        return len(self.order), int(self.table.shape[1])

    def __len__(self) -> int:
        return len(self.order)

    def __getitem__(self, places: slice | npt.NDArray[np.int64]) -> Any:
        wanted = self.order[Every(len(self))[places]]
        rows, at = np.unique(wanted, return_inverse=True)
        return rows_of(self.table, rows)[at.reshape(wanted.shape)]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.asarray(self[:], dtype)


def read_blocks(table: Any) -> Iterator[tuple[slice, Any]]:
    """The blocks of a table, as C-ordered float64 or sparse matrices."""
    for part in row_blocks(table):
        block = table[part]
        yield part, block if is_sparse(block) else np.ascontiguousarray(block, np.float64)


def digest_of(table: Any) -> str:
    """SHA-256 of the cells as float64, row by row; of sparse rows of their places and numbers."""
    made = _Digest()
    for _, block in read_blocks(table):
        made.add(block)
    return made.hexdigest()


class _Digest:
    """A hash of the rows that are added, in blocks of any size."""

    def __init__(self) -> None:
        self.parts = [hashlib.sha256() for _ in range(3)]  # of sparse rows: counts, places and numbers
        self.sparse = False

    def add(self, block: Any) -> None:
        """Add a block of rows."""
        self.sparse = is_sparse(block)
        if not self.sparse:
            self.parts[0].update(block.data)
            return
        counts = np.diff(block.indptr).astype(np.int64)
        for made, one in zip(self.parts, (counts, block.indices.astype(np.int64), block.data), strict=True):
            made.update(np.ascontiguousarray(one).data)

    def hexdigest(self) -> str:
        """The hash of all rows."""
        digests = [made.digest() for made in self.parts]
        return hashlib.sha256(b"".join(digests)).hexdigest() if self.sparse else digests[0].hex()


def check_all_finite(table: Any, argument: str, columns: Sequence[object] | None) -> None:
    """Refuse NaN and infinity; the error names the first such cells of all blocks."""
    values, cells, count = [], [], 0
    for part, block in read_blocks(table):
        stored = block.data if is_sparse(block) else block
        bad = ~np.isfinite(stored)
        if bad.any():
            found = np.stack(block.tocoo().coords, axis=1)[bad] if is_sparse(block) else np.argwhere(bad)
            count += len(found)
            values.append(stored[bad][:3])
            cells.append(found[:3] + np.array([part.start, 0]))
    if count:
        raise not_finite(np.concatenate(values)[:3], np.concatenate(cells)[:3], count, argument, columns)


@dataclass
class Survey:
    """What one pass over the rows of a table has found; what is not finite is refused.

    Attributes
    ----------
    sha256 : str
        SHA-256 of the cells as float64.
    largest, smallest : float
        Largest absolute value, and the smallest that is not 0.
    low, high : ndarray (p,)
        Range of each column.
    empty_rows, constant_rows : ndarray of int
        Rows of zeros, and rows whose cells are all equal.
    described : bool
        Whether there may be ``notes``, for which a hash of every row is kept until then.
    """

    table: Any
    columns: tuple[str, ...] | None
    argument: str = "data"
    described: bool = True
    sha256: str = ""
    largest: float = 0.0
    smallest: float = np.inf
    low: FloatArray = field(default_factory=lambda: np.empty(0))
    high: FloatArray = field(default_factory=lambda: np.empty(0))
    empty_rows: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    constant_rows: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))

    def __post_init__(self) -> None:
        n, p = self.table.shape
        made, self.low, self.high = _Digest(), np.full(p, np.inf), np.full(p, -np.inf)
        self._keys, weights = np.empty(n if self.described else 0, np.uint64), hash_weights(p)
        self._spread, self._few, self._integers = _Spread(p), _TwoValues(p), _Integers(p)
        none = np.empty(0, np.int64)
        empty, constant = [none], [none]
        for part, block in read_blocks(self.table):
            if not np.isfinite(block).all():
                check_all_finite(self.table, self.argument, self.columns)
            made.add(block)
            size = np.abs(block)
            self.largest = max(self.largest, float(size.max()))
            self.smallest = min(self.smallest, float(size.min(initial=np.inf, where=size > 0)))
            self.low, self.high = np.minimum(self.low, block.min(axis=0)), np.maximum(self.high, block.max(axis=0))
            same = (block == block[:, :1]).all(axis=1)
            constant.append(part.start + np.flatnonzero(same))
            empty.append(part.start + np.flatnonzero(same & (block[:, 0] == 0)))
            self._spread.add(block)
            if not self.described:
                continue
            self._few.add(block)
            self._integers.add(block)
            hashed = pd.util.hash_array((block + 0.0).ravel()).reshape(block.shape)  # no negative zeros
            self._keys[part] = (hashed * weights).sum(axis=1)
        self.sha256 = made.hexdigest()
        self.empty_rows, self.constant_rows = np.concatenate(empty), np.concatenate(constant)

    @property
    def all_equal(self) -> bool:
        """Whether all rows are equal."""
        return bool((self.low == self.high).all())

    @property
    def spread(self) -> FloatArray:
        """The standard deviation of each column."""
        return self._spread.deviations()

    def notes(self) -> list[Note]:
        """Notes on constant columns, columns that carry most of the variance, like ids or labels, and repeated rows."""
        p = self.table.shape[1]
        names = self.columns or tuple(str(j) for j in range(p))
        counting = self._counting_columns()
        like_ids = [
            name
            for j, name in enumerate(names)
            if is_id_name(name) and looks_like_ids(name, np.asarray(self.table[:, j], np.float64))
        ]
        self._keys.sort()  # in place: they are of all rows
        repeated = int(np.count_nonzero(self._keys[1:] == self._keys[:-1]))
        notes = described(names, np.flatnonzero(self.low == self.high), self._spread.shares(), like_ids, repeated)
        notes += [
            note("data.counts_rows", column=names[j], first=int(self.low[j]), second=int(self.low[j]) + 1)
            for j in counting
            if names[j] not in like_ids
        ]
        naming = [repr(names[j]) for j in self._naming_columns() if j not in counting and names[j] not in like_ids]
        if naming:
            listed = naming if len(naming) <= MAX_NAMED else [*naming[:MAX_NAMED], "..."]
            notes.append(note("data.names_rows", columns=listed, count=len(naming)))
        two = self._few.two & (self.low < self.high)
        if self.columns is None and p > 2 and two[-1] and not two[:-1].any():
            notes.append(note("data.binary_last", values=[float(self.low[-1]), float(self.high[-1])]))
        return notes

    def _counting_columns(self) -> list[int]:
        """Return the columns, of several, that hold 0, 1, 2, ... or 1, 2, 3, ... in the order of the rows."""
        n, p = self.table.shape
        likely = np.flatnonzero(np.isin(self.low, (0, 1)) & (self.high == self.low + n - 1) & (p > 1)).tolist()
        return [j for j in likely if np.array_equal(self.table[:, j], np.arange(n) + self.low[j])]

    def _naming_columns(self) -> list[int]:
        """Return the columns that hold a different integer in every row, where another column has decimals."""
        n = self.table.shape[0]
        if n < MIN_IDS or self._integers.whole.all():
            return []
        exact = np.maximum(np.abs(self.low), np.abs(self.high)) <= EXACT
        likely = np.flatnonzero(
            self._integers.different & exact & (self.high / 2 - self.low / 2 >= (n - 1) / 2)
        ).tolist()
        return [j for j in likely if len(np.unique(np.asarray(self.table[:, j], np.float64))) == n]


class SparseSurvey:
    """What one pass over sparse rows has found, as ``Survey``; O(entries + columns)."""

    def __init__(self, table: Any, columns: tuple[str, ...] | None) -> None:
        n, p = table.shape
        made, self.columns, self.shape = _Digest(), columns, (n, p)
        self.largest, self.smallest = 0.0, np.inf
        self._counts, self._spread = np.zeros(p, np.int64), _Spread(p)
        self.low, self.high = np.full(p, np.inf), np.full(p, -np.inf)
        self._keys, weights, empty = np.empty(n, np.uint64), hash_weights(p), []
        for part, block in read_blocks(table):
            if not np.isfinite(block.data).all():
                check_all_finite(table, "data", columns)
            made.add(block)
            size = np.abs(block.data)
            self.largest = max(self.largest, float(size.max(initial=0.0)))
            self.smallest = min(self.smallest, float(size.min(initial=np.inf)))
            self._counts += np.bincount(block.indices, minlength=p)
            np.minimum.at(self.low, block.indices, block.data)
            np.maximum.at(self.high, block.indices, block.data)
            empty.append(part.start + np.flatnonzero(np.diff(block.indptr) == 0))
            self._spread.add_sparse(block)
            terms = pd.util.hash_array(block.data) * weights[block.indices]
            sums = np.r_[np.uint64(0), np.cumsum(terms, dtype=np.uint64)]
            self._keys[part] = sums[block.indptr[1:]] - sums[block.indptr[:-1]]
        self.sha256, self.empty_rows = made.hexdigest(), np.concatenate([np.empty(0, np.int64), *empty])
        self.constant_rows = np.empty(0, np.int64)  # asked of dense rows only

    @property
    def _constant(self) -> npt.NDArray[np.bool_]:
        """Whether each column is constant."""
        full = self._counts == self.shape[0]
        return np.asarray((full & (self.low == self.high)) | (self._counts == 0))

    @property
    def all_equal(self) -> bool:
        """Whether all rows are equal."""
        return bool(self._constant.all())

    def notes(self) -> list[Note]:
        """Notes on constant columns, a column that carries most of the variance, and repeated rows."""
        p = self.shape[1]
        names = self.columns or tuple(str(j) for j in range(p))
        self._keys.sort()  # in place: they are of all rows
        repeated = int(np.count_nonzero(self._keys[1:] == self._keys[:-1]))
        return described(names, np.flatnonzero(self._constant), self._spread.shares(), (), repeated)


class _Spread:
    """The squared differences of columns from their means, added up over blocks in a unit that fits the largest."""

    def __init__(self, p: int) -> None:
        self.count, self.unit = 0, -2000  # rows, and the exponent of the unit
        self.mean, self.squares = np.zeros(p), np.zeros(p)
        self.first = np.zeros(p)

    def add(self, block: FloatArray) -> None:
        """Add a block: its squares about its own means, and those of the steps between the means."""
        if self.count == 0:
            self.first = 0.25 * block[0]
        moved = 0.25 * block - self.first  # a quarter, so that no difference overflows
        self._fit(float(np.abs(moved).max()))
        moved = np.ldexp(moved, -self.unit)
        mean = moved.mean(axis=0)
        moved -= mean
        self._join(mean, np.einsum("ij,ij->j", moved, moved), len(block))

    def add_sparse(self, block: Any) -> None:
        """Add a block of sparse rows."""
        (m, p), places = block.shape, block.indices
        values = 0.25 * block.data
        self._fit(float(np.abs(values).max(initial=0.0)))
        values = np.ldexp(values, -self.unit)
        mean, empty = np.bincount(places, values, p) / m, m - np.bincount(places, minlength=p)
        self._join(mean, np.bincount(places, (values - mean[places]) ** 2, p) + empty * mean**2, m)

    def _fit(self, largest: float) -> None:
        """Raise the unit to that of the largest number."""
        unit = max(self.unit, int(np.frexp(largest)[1])) if largest > 0 else self.unit
        self.mean = np.ldexp(self.mean, self.unit - unit)
        self.squares = np.ldexp(self.squares, 2 * (self.unit - unit))
        self.unit = unit

    def _join(self, mean: FloatArray, squares: FloatArray, m: int) -> None:
        """Add the means of a block and its squares about them."""
        step, total = mean - self.mean, self.count + m
        self.squares += squares + step**2 * (self.count * m / total)
        self.mean += step * (m / total)
        self.count = total

    def deviations(self) -> FloatArray:
        """Return the standard deviation of each column."""
        return np.ldexp(4.0 * np.sqrt(self.squares / max(self.count, 1)), self.unit)  # of quarters of the numbers

    def shares(self) -> FloatArray:
        """The fraction of the total variance in each column."""
        total = self.squares.sum()
        return self.squares / total if total > 0 else self.squares


class _Integers:
    """Which columns hold integers alone, and which of them repeat none among the first rows of a block."""

    def __init__(self, p: int) -> None:
        self.whole, self.different = np.ones(p, np.bool_), np.ones(p, np.bool_)

    def add(self, block: FloatArray) -> None:
        """Look at a block."""
        if self.whole.any():
            self.whole &= (np.rint(block) == block).all(axis=0)
            self.different &= self.whole
        places = np.flatnonzero(self.different)
        if len(places):
            first = np.sort(block[:FIRST_ROWS, places], axis=0)
            self.different[places] = (first[1:] != first[:-1]).all(axis=0)


class _TwoValues:
    """Whether each column holds at most two different values."""

    def __init__(self, p: int) -> None:
        self.two = np.ones(p, np.bool_)
        self.values: list[FloatArray] = []

    def add(self, block: FloatArray) -> None:
        """Look at a block."""
        if not self.values:
            self.values = [block[0].copy(), block[0].copy()]
        first, second = self.values
        new = (second == first) & self.two
        other = block != first
        for j in np.flatnonzero(new & other.any(axis=0)):
            second[j] = block[np.argmax(other[:, j]), j]
        if self.two.any():
            self.two &= ~(other & (block != second)).any(axis=0)
