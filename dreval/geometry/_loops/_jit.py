"""The one way in which loops are compiled: without the interpreter's lock, and kept on disk where that is possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit


def loop(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a loop when it is first called.

    The machine code is kept beside the package or in the user's cache folder (or ``NUMBA_CACHE_DIR``). Where no folder
    can be written to, as in some containers, it is compiled again in each process.
    """

    def compiled(function: Callable[..., Any]) -> Any:
        try:
            return njit(cache=True, nogil=True, **options)(function)
        except RuntimeError:  # numba found no place for its cache
            return njit(nogil=True, **options)(function)

    return compiled
