"""The one way in which loops are compiled: without the interpreter's lock, and kept on disk where that is possible."""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba import config, njit
from numba.core import event
from numba.misc.appdirs import AppDirs

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
            with contextlib.suppress(OSError, ValueError):  # a stream that is closed or broken
                if sys.stderr is not None and sys.stderr.isatty():
                    sys.stderr.write(SAID)

    def on_end(self, _: Any) -> None:
        """Add what the outermost compilation took."""
        self.depth -= 1
        if self.depth == 0:
            self.spent += time.perf_counter() - self.began


event.register("numba:compile", _Told())


OLD = 30 * 24 * 3600.0  # seconds after which machine code of other loops, beside the package, is removed


def _folder() -> str:
    """Where machine code is kept, of these loops and this numba alone; "" where no folder can be written to.

    numba itself notices that the file of a loop has changed, and not that another has, whose loops it calls: it would
    run the old ones after an upgrade. So the folder bears a hash of all files; the same loops find it again in later
    versions of the package.
    """
    here, own = Path(__file__).parent, hashlib.sha256(numba.__version__.encode())
    for file in sorted(here.glob("*.py")):
        own.update(file.read_bytes())
    beside = here / "__pycache__"
    for place in [config.CACHE_DIR] if config.CACHE_DIR else [beside, AppDirs("numba", False).user_cache_dir]:
        folder = Path(place) / f"dreval-{own.hexdigest()[:8]}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError:
            continue
        for other in beside.glob("dreval-*"):
            with contextlib.suppress(FileNotFoundError):  # another process removes it, too
                if other != folder and other.stat().st_mtime < time.time() - OLD:
                    shutil.rmtree(other, ignore_errors=True)
        return str(folder)
    return ""


FOLDER = _folder()


def loop(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a loop when it is first called.

    The machine code is kept beside the package or in the user's cache folder (or ``NUMBA_CACHE_DIR``). Where no folder
    can be written to, as in some containers, it is compiled again in each process.
    """

    def compiled(function: Callable[..., Any]) -> Any:
        given, config.CACHE_DIR = config.CACHE_DIR, FOLDER
        try:
            return njit(cache=bool(FOLDER), nogil=True, **options)(function)
        finally:
            config.CACHE_DIR = given

    return compiled
