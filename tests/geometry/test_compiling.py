"""The message on a terminal while loops are compiled, and the folder of machine code."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dreval.geometry._loops import _jit


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_one_message_when_compiling_takes_long(monkeypatch) -> None:
    """The outermost of nested compilations count; a stream that is not a terminal gets no message."""
    clock, notice, terminal = [0.0], _jit.CompileNotice(), Terminal()
    monkeypatch.setattr(_jit.time, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(_jit.sys, "stderr", terminal)
    for _ in range(3):
        notice.on_start(None)
        notice.on_start(None)
        clock[0] += 0.6
        notice.on_end(None)
        clock[0] += 0.6
        notice.on_end(None)
        clock[0] += 100.0  # of other work
    assert terminal.getvalue() == _jit.MESSAGE  # after 2.4 s of compiling, not of work
    assert notice.spent == pytest.approx(3 * 1.2)

    quiet = io.StringIO()
    monkeypatch.setattr(_jit.sys, "stderr", quiet)
    second_notice = _jit.CompileNotice()
    second_notice.spent = 10.0
    second_notice.on_start(None)
    assert quiet.getvalue() == ""


@pytest.mark.slow
def test_the_cache_belongs_to_all_loops(tmp_path: Path) -> None:
    """A loop is recompiled if a loop that it calls has changed in another file, and loaded from disk if not.

    Files of other loops next to the package that are a month old are removed.
    """
    package, cache = tmp_path / "toy", tmp_path / "toy" / "__pycache__"
    package.mkdir()
    shutil.copy(_jit.__file__, package)
    (package / "outer.py").write_text(
        "from toy._jit import loop\nfrom toy.inner import inner\n\n@loop()\ndef outer(x):\n    return 2 * inner(x)\n"
    )
    code = "from toy.outer import outer; print(outer(1), sum(outer.stats.cache_hits.values()))"
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}

    def run(added: int) -> str:
        (package / "inner.py").write_text(
            f"from toy._jit import loop\n\n@loop()\ndef inner(x):\n    return x + {added}\n"
        )
        variables = {**environment, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.check_output([sys.executable, "-c", code], env=variables, text=True).strip()

    assert run(1) == "4 0"
    assert run(2) == "6 0"  # numba's cache finds outer.py unchanged, and returns 4
    assert run(1) == "4 1"
    for folder in cache.glob("dreval-*"):
        os.utime(folder, (0, time.time() - _jit.MAX_AGE_SECONDS - 60))
    assert run(2) == "6 1"
    assert len(list(cache.glob("dreval-*"))) == 1
