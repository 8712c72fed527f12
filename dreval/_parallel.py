"""Blocks of rows on several threads, and progress bars."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import cache
from threading import Lock
from typing import Any

import numpy as np

from dreval._check import FloatArray, check_bool, check_int
from dreval.errors import usable_stderr
from dreval.glossary import printable

__all__ = [
    "Room",
    "SumInOrder",
    "few_blas_threads",
    "n_threads",
    "one_blas_thread",
    "open_progress",
    "run_blocks",
    "sum_over_rows",
]

PARTS = 64  # blocks of rows, each with sums of its own, and the least number of rows in one
SMALL = 1000  # rows, up to which threads of a matrix product or a factorization mostly wait for each other


def n_threads(n_jobs: int | None) -> int:
    """Number of threads: all cores for None or -1, else ``n_jobs``."""
    return _cores() if n_jobs is None or n_jobs == -1 else check_int(n_jobs, "n_jobs", low=1)


@cache
def _cores() -> int:
    """Number of cores, read once: joblib respects CPU affinity and a container's limits, for which it opens files."""
    from joblib import cpu_count

    return int(cpu_count())


@cache
def _controller() -> Any:
    """The controller of the loaded BLAS libraries, created once."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[Any]:
    """Limit matrix products to one thread each while blocks run in parallel, against oversubscription."""
    limits: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limits


def few_blas_threads(size: int) -> AbstractContextManager[Any]:
    """Limit linear algebra of at most 1000 rows inside a loop to one thread: synchronization would cost more."""
    return one_blas_thread() if size <= SMALL else nullcontext()


def run_blocks(
    work: Callable[[Any], None],
    blocks: Sequence[Any],
    n_jobs: int | None,
    advance: Callable[[int], Any] | None = None,
) -> None:
    """Call ``work`` on every block, on several threads; each block writes to its own memory.

    ``advance`` is called with the number of blocks finished since the last call. Matrix products run in one thread
    each.
    """
    threads = min(n_threads(n_jobs), len(blocks))
    if len(blocks) <= 1:
        _one_by_one(work, blocks, advance)
        return
    with one_blas_thread():
        if threads == 1:
            _one_by_one(work, blocks, advance)
            return
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(threads) as pool:
            for _ in pool.map(work, blocks):
                if advance:
                    advance(1)


def _one_by_one(work: Callable[[Any], None], blocks: Sequence[Any], advance: Callable[[int], Any] | None) -> None:
    for block in blocks:
        work(block)
        if advance:
            advance(1)


class Room:
    """Memory that one block after the other borrows: to get as much each time takes as long as the products in it."""

    def __init__(self) -> None:
        self._free: list[FloatArray] = []

    @contextmanager
    def lend(self, *shape: int) -> Iterator[FloatArray]:
        """An array that holds anything, for as long as the context lasts; several threads have one each."""
        size = int(np.prod(shape))
        memory = np.empty(0)
        with suppress(IndexError):  # there is none, or another thread has taken it
            memory = self._free.pop()
        memory = memory if len(memory) >= size else np.empty(size)
        yield memory[:size].reshape(shape)
        self._free.append(memory)


class SumInOrder:
    """The sum of one array per block, added in the order of the blocks, so that rounding does not depend on threads."""

    def __init__(self, total: Any) -> None:
        self.total, self._next, self._early, self._lock = total, 0, {}, Lock()

    def add(self, number: int, part: Any) -> None:
        """Add the array of a block, after those of all earlier blocks."""
        with self._lock:
            self._early[number] = part
            while self._next in self._early:
                self.total += self._early.pop(self._next)
                self._next += 1


def sum_over_rows(work: Callable[[slice, Any], None], m: int, sums: Any, n_jobs: int | None) -> Any:
    """The array ``sums`` and what ``work(part, own)`` adds to zeros like it, for blocks of m rows on several threads.

    The blocks, at most 64, depend on m only, and their sums are added in order: no digit depends on the threads.
    """
    size, total = max(PARTS, -(m // -PARTS)), SumInOrder(sums)

    def one(at: int) -> None:
        own = np.zeros_like(sums)
        work(slice(at, min(at + size, m)), own)
        total.add(at // size, own)

    run_blocks(one, range(0, m, size), n_jobs)
    return total.total


@contextmanager
def open_progress(wanted: bool | None, counts: bool = True) -> Iterator[Any]:
    """A progress bar on stderr: by default only on a terminal or in a notebook, and only after two seconds.

    Where its units are of no interest, because they are not ``counts`` of things, it shows their share only, and the
    time that remains by the mean rate so far.

    In a notebook the bar is a widget; without ipywidgets there is none, rather than a warning at every call. Where
    stderr is closed, as in services, there is none either, and one that cannot be written to is not an error.
    """
    from importlib.util import find_spec

    if find_spec("ipywidgets"):
        from tqdm.auto import tqdm
    else:
        from tqdm import tqdm

    class Lossy:
        """A stream that may be full or broken: what cannot be written is lost, the work is not."""

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
        """A bar whose description cannot steer the terminal, whatever the names in it."""

        def set_description(self, desc: str | None = None, refresh: bool | None = True) -> None:
            super().set_description(None if desc is None else printable(desc), refresh)

    disable = None if wanted is None else not check_bool(wanted, "progress")
    form = {} if counts else {"bar_format": "{l_bar}{bar}| {elapsed}<{remaining}", "smoothing": 0}
    with (
        usable_stderr() as seen,
        Bar(
            total=0,
            delay=0 if wanted else 2,
            disable=disable if seen else True,
            file=Lossy(sys.stderr),
            leave=False,
            **form,
        ) as bar,
    ):
        yield bar
