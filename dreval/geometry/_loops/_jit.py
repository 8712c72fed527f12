"""The one way in which loops are compiled: without the interpreter's lock, and kept on disk where that is possible."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core import event

PATIENCE = 2.0  # seconds of compiling after which a terminal is told why nothing happens
SAID = "dreval compiles its loops for this machine, about a minute; later runs find them on disk.\n"


class _Told(event.Listener):  # type: ignore[misc]
    """Says once, on a terminal, that loops are compiled, as soon as that has taken some time."""

    def __init__(self) -> None:
        self.spent, self.began, self.depth, self.said = 0.0, 0.0, 0, False

    def on_start(self, _: Any) -> None:
        """Begin to count, of nested compilations with the first, and say it."""
        self.depth += 1
        if self.depth == 1:
            self.began = time.perf_counter()
        if not self.said and self.spent + time.perf_counter() - self.began > PATIENCE:
            self.said = True
            if sys.stderr is not None and sys.stderr.isatty():
                sys.stderr.write(SAID)

    def on_end(self, _: Any) -> None:
        """Add what the outermost compilation took."""
        self.depth -= 1
        if self.depth == 0:
            self.spent += time.perf_counter() - self.began


event.register("numba:compile", _Told())


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
