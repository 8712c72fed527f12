"""Compilation of loops: without the interpreter's lock, and with machine code stored on disk where that is possible."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing import current_process
from pathlib import Path
from typing import Any

import numba
from numba import config, njit
from numba.core import event
from numba.misc.appdirs import AppDirs

NOTICE_DELAY_SECONDS = 2.0  # of compiling, after which a message is written
MESSAGE = "dreval compiles its loops for this machine, once; this takes up to a minute."


class CompileNotice(event.Listener):  # type: ignore[misc]
    """Write a message to stderr, once, as soon as the compilation of loops has taken some time.

    Processes that another one started, as for the runs of a study, write none; nor does any process if the environment
    variable ``DREVAL_NOTICES`` is 0.
    """

    def __init__(self) -> None:
        """Start with no compilation."""
        self.spent, self.began, self.depth, self.is_written = 0.0, 0.0, 0, False

    def on_start(self, _: Any) -> None:
        """Start the clock at the outermost compilation, and write the message when it is due."""
        self.depth += 1
        if self.depth == 1:
            self.began = time.perf_counter()
        if not self.is_written and self.spent + time.perf_counter() - self.began > NOTICE_DELAY_SECONDS:
            self.is_written = True
            is_wanted = os.environ.get("DREVAL_NOTICES") != "0" and current_process().name == "MainProcess"
            with contextlib.suppress(OSError, ValueError):  # a stream that is closed or broken
                if is_wanted and sys.stderr is not None:
                    is_terminal = sys.stderr.isatty()  # which may show a progress bar on this line
                    sys.stderr.write(f"\r{MESSAGE:<79}\n" if is_terminal else f"{MESSAGE}\n")
                    sys.stderr.flush()

    def on_end(self, _: Any) -> None:
        """Add the duration of the outermost compilation."""
        self.depth -= 1
        if self.depth == 0:
            self.spent += time.perf_counter() - self.began


event.register("numba:compile", CompileNotice())


MAX_AGE_SECONDS = 30 * 24 * 3600.0  # after which machine code of other versions of the loops is removed


def _folder() -> str:
    """Return the folder of the machine code of these loops and this numba; "" where no folder can be written to.

    numba itself detects a change of a loop's own file, but not a change of a file whose loops it calls: after an
    upgrade it would run the old ones. So the name of the folder has a hash of all files; later versions of the package
    with the same loops use the same folder.
    """
    source_folder, content_hash = Path(__file__).parent, hashlib.sha256(numba.__version__.encode())
    for file in sorted(source_folder.glob("*.py")):
        content_hash.update(file.read_bytes())
    package_cache = source_folder / "__pycache__"
    for parent in [config.CACHE_DIR] if config.CACHE_DIR else [package_cache, AppDirs("numba", False).user_cache_dir]:
        folder = Path(parent) / f"dreval-{content_hash.hexdigest()[:8]}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError:
            continue
        for other_folder in package_cache.glob("dreval-*"):
            with contextlib.suppress(FileNotFoundError):  # another process removes it, too
                if other_folder != folder and other_folder.stat().st_mtime < time.time() - MAX_AGE_SECONDS:
                    shutil.rmtree(other_folder, ignore_errors=True)
        return str(folder)
    return ""


FOLDER = _folder()


def loop(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a loop when it is first called.

    A loop whose name begins with an underscore is called by other loops only: it gets no entry from Python, which would
    take a part of the time of its compilation. A part of one other loop has ``inline="always"``: it is compiled with
    that loop, not before it by itself.
    The machine code is stored next to the package or in the user's cache folder (or ``NUMBA_CACHE_DIR``). Where no
    folder can be written to, as in some containers, each process compiles it.
    """

    def compiled(function: Callable[..., Any]) -> Any:
        settings = {"no_cpython_wrapper": function.__name__.startswith("_"), "no_cfunc_wrapper": True, **options}
        numba_cache_dir, config.CACHE_DIR = config.CACHE_DIR, FOLDER
        try:
            return njit(cache=bool(FOLDER), nogil=True, **settings)(function)
        finally:
            config.CACHE_DIR = numba_cache_dir

    return compiled
