"""The message on stderr while loops are compiled, and the folder of machine code."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from dreval.geometry._loops import _jit, ranks, rows
from dreval.geometry.blocks import neighbor_pass


def test_stderr_gets_one_message_when_compiling_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """The outermost of nested compilations count, and the message is one line, with and without a terminal."""
    clock, notice, stderr = [0.0], _jit.CompileNotice(), io.StringIO()
    monkeypatch.setenv("DREVAL_NOTICES", "1")
    monkeypatch.setattr(_jit.time, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(_jit.sys, "stderr", stderr)
    for _ in range(3):
        notice.on_start(None)
        notice.on_start(None)
        clock[0] += 0.6
        notice.on_end(None)
        clock[0] += 0.6
        notice.on_end(None)
        clock[0] += 100.0  # of other work
    assert stderr.getvalue() == f"{_jit.MESSAGE}\n"  # after 2.4 s of compiling, not of work
    assert len(_jit.MESSAGE) < 80
    assert notice.spent == pytest.approx(3 * 1.2)


def test_the_message_replaces_a_progress_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal it is written over the line of a bar."""
    notice, stderr = _jit.CompileNotice(), io.StringIO()
    stderr.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setenv("DREVAL_NOTICES", "1")
    monkeypatch.setattr(_jit.sys, "stderr", stderr)
    notice.spent = 10.0
    notice.on_start(None)
    assert stderr.getvalue() == f"\r{_jit.MESSAGE:<79}\n"


@pytest.mark.parametrize(
    ("notices", "process", "is_written"),
    [("1", "MainProcess", True), ("1", "LokyProcess-1", False), ("0", "MainProcess", False)],
)
def test_workers_and_quiet_processes_get_no_message(
    monkeypatch: pytest.MonkeyPatch, notices: str, process: str, is_written: bool
) -> None:
    """A process that another one started writes none, nor one with ``DREVAL_NOTICES=0``."""
    notice, stderr = _jit.CompileNotice(), io.StringIO()
    monkeypatch.setenv("DREVAL_NOTICES", notices)
    monkeypatch.setattr(_jit, "current_process", lambda: SimpleNamespace(name=process))
    monkeypatch.setattr(_jit.sys, "stderr", stderr)
    notice.spent = 10.0
    notice.on_start(None)
    assert bool(stderr.getvalue()) == is_written


def test_loops_are_compiled_once_whether_an_array_can_be_written_to() -> None:
    """Read-only points, as records hold them, need no second version of a loop, and have the same neighbors."""
    rng, loops = np.random.default_rng(0), (rows.select_rows, ranks.cross_rows)
    X, Y = rng.normal(size=(60, 20)), rng.normal(size=(60, 2))
    expected = neighbor_pass(X, {"Y": Y}, k=5)["Y"]
    versions = [len(loop.signatures) for loop in loops]
    for array in (X, Y):
        array.flags.writeable = False
        view = neighbor_pass(X, {"Y": Y}, k=5)["Y"]

        assert np.array_equal(view.data_rank, expected.data_rank)
        assert np.array_equal(view.embedding_rank, expected.embedding_rank)
        assert [len(loop.signatures) for loop in loops] == versions


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
