"""Blocks of rows on several threads, and progress bars."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import cache, lru_cache
from threading import Lock
from typing import Any

import numpy as np

from dreval._check import FloatArray, check_bool, check_int
from dreval._text import printable
from dreval.errors import usable_stderr

__all__ = [
    "BufferPool",
    "OrderedSum",
    "few_blas_threads",
    "limit_threads",
    "n_threads",
    "one_blas_thread",
    "open_progress",
    "run_blocks",
    "sum_over_rows",
]

MAX_PARTIAL_SUMS = 64  # blocks of rows with partial sums, and the minimal number of rows in a block
MAX_ROWS_ON_ONE_THREAD = 1000  # rows up to which a matrix product or a factorization is not faster on several threads


def n_threads(n_jobs: int | None) -> int:
    """Return the number of threads: all cores for None or -1, else ``n_jobs``."""
    return _cores() if n_jobs is None or n_jobs == -1 else check_int(n_jobs, "n_jobs", low=1)


@cache
def _cores() -> int:
    """Return the number of cores by CPU affinity and limits of a container, for which joblib reads files, once."""
    from joblib import cpu_count

    return int(cpu_count())


@lru_cache(maxsize=1)
def _controller(_n_modules: int) -> Any:
    """Return the controller of the loaded BLAS and OpenMP libraries.

    It reads the memory map of the process, which takes milliseconds, and is created again only after further modules
    were imported, which may have loaded libraries.
    """
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def limit_threads() -> AbstractContextManager[Any]:
    """Limit BLAS and OpenMP to one thread each: the last digits of a result depend on the number of threads."""
    limits: AbstractContextManager[Any] = _controller(len(sys.modules)).limit(limits=1)
    return limits


def one_blas_thread() -> AbstractContextManager[Any]:
    """Limit matrix products to one thread each while blocks run in parallel, against oversubscription."""
    limits: AbstractContextManager[Any] = _controller(len(sys.modules)).limit(limits=1, user_api="blas")
    return limits


def few_blas_threads(size: int) -> AbstractContextManager[Any]:
    """Limit linear algebra of at most 1000 rows in a loop to one thread, since synchronization would cost more."""
    return one_blas_thread() if size <= MAX_ROWS_ON_ONE_THREAD else nullcontext()


def run_blocks(
    work: Callable[[Any], None],
    blocks: Sequence[Any],
    n_jobs: int | None,
    advance: Callable[[int], Any] | None = None,
) -> None:
    """Call ``work`` on every block, on several threads; each block writes to its own memory.

    ``advance`` is called with the number of blocks finished since its last call. Each matrix product uses one thread.
    """
    threads = min(n_threads(n_jobs), len(blocks))
    if len(blocks) <= 1:
        _run_in_order(work, blocks, advance)
        return
    with one_blas_thread():
        if threads == 1:
            _run_in_order(work, blocks, advance)
            return
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(threads) as pool:
            for _ in pool.map(work, blocks):
                if advance:
                    advance(1)


def _run_in_order(work: Callable[[Any], None], blocks: Sequence[Any], advance: Callable[[int], Any] | None) -> None:
    for block in blocks:
        work(block)
        if advance:
            advance(1)


class BufferPool:
    """Memory that blocks borrow one after the other, since allocation would take as long as their matrix products."""

    def __init__(self) -> None:
        self._free: list[FloatArray] = []

    @contextmanager
    def borrow(self, *shape: int) -> Iterator[FloatArray]:
        """Yield an uninitialized array for the duration of the context; each thread has its own."""
        size = int(np.prod(shape))
        memory = np.empty(0)
        with suppress(IndexError):  # no free memory
            memory = self._free.pop()
        memory = memory if len(memory) >= size else np.empty(size)
        yield memory[:size].reshape(shape)
        self._free.append(memory)


class OrderedSum:
    """Sum of one array per block, added in the order of the blocks, so that rounding does not depend on threads."""

    def __init__(self, total: Any) -> None:
        self.total, self._next, self._waiting, self._lock = total, 0, {}, Lock()

    def add(self, number: int, part: Any) -> None:
        """Add the array of a block, after those of all earlier blocks."""
        with self._lock:
            self._waiting[number] = part
            while self._next in self._waiting:
                self.total += self._waiting.pop(self._next)
                self._next += 1


def sum_over_rows(work: Callable[[slice, Any], None], m: int, sums: Any, n_jobs: int | None) -> Any:
    """Return ``sums`` plus what ``work(rows, partial)`` adds to ``partial``, zeros like it, for each block of m rows.

    The blocks run on several threads. They are at most 64 and depend only on m, and their partial sums are added in
    order, so that the result does not depend on the threads.
    """
    size, total = max(MAX_PARTIAL_SUMS, -(m // -MAX_PARTIAL_SUMS)), OrderedSum(sums)

    def add_block(start: int) -> None:
        partial = np.zeros_like(sums)
        work(slice(start, min(start + size, m)), partial)
        total.add(start // size, partial)

    run_blocks(add_block, range(0, m, size), n_jobs)
    return total.total


@contextmanager
def open_progress(enabled: bool | None, counts: bool = True) -> Iterator[Any]:
    """Open a progress bar on stderr: by default only on a terminal or in a notebook, and only after two seconds.

    If its units are not ``counts`` of things, the bar shows only their share, and the remaining time by the mean rate.

    In a notebook the bar is a widget; without ipywidgets there is no bar, rather than a warning at every call. If
    stderr is closed, as in services, there is no bar; if it cannot be written to, no error is raised.
    """
    from importlib.util import find_spec

    if find_spec("ipywidgets"):
        from tqdm.auto import tqdm
    else:
        from tqdm import tqdm

    class TolerantStream:
        """A stream that ignores errors of writing, so that they do not stop the computation."""

        def __init__(self, stream: Any) -> None:
            self.stream = stream

        def __getattr__(self, name: str) -> Any:
            return getattr(self.stream, name)

        def write(self, text: str) -> None:
            with suppress(OSError, ValueError):
                self.stream.write(text)

        def flush(self) -> None:
            with suppress(OSError, ValueError):
                self.stream.flush()

    class Bar(tqdm):  # type: ignore[misc]
        """A bar whose description has no control characters, whatever names it contains."""

        monitor_interval = 0  # each class of bars would start its own thread, which never ends

        def set_description(self, desc: str | None = None, refresh: bool | None = True) -> None:
            super().set_description(None if desc is None else printable(desc), refresh)

    disable = None if enabled is None else not check_bool(enabled, "progress")
    settings = {} if counts else {"bar_format": "{l_bar}{bar}| {elapsed}<{remaining}", "smoothing": 0}
    with (
        usable_stderr() as is_usable,
        Bar(
            total=0,
            delay=0 if enabled else 2,
            disable=disable if is_usable else True,
            file=TolerantStream(sys.stderr),
            leave=False,
            miniters=1,
            **settings,
        ) as bar,
    ):
        yield bar
