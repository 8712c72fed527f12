"""Blocks of rows over threads, with a progress bar."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from dreval._check import check_int

__all__ = ["n_threads", "run_blocks"]


def n_threads(n_jobs: int | None) -> int:
    """Number of threads: all cores for None or -1, else as asked for."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    if n_jobs is None or n_jobs == -1:
        return cores
    return check_int(n_jobs, "n_jobs", low=1)


def run_blocks(
    work: Callable[[Any], None],
    blocks: Sequence[Any],
    n_jobs: int | None,
    advance: Callable[[int], Any] | None = None,
) -> None:
    """Call ``work`` on every block, in threads; blocks write to places of their own, so the order does not matter.

    ``advance`` is called with the number of finished blocks since the last call.
    """
    threads = min(n_threads(n_jobs), len(blocks))
    if threads <= 1:
        for block in blocks:
            work(block)
            if advance:
                advance(1)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(work, blocks):
            if advance:
                advance(1)
