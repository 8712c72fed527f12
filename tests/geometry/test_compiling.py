"""What a user is told while loops are compiled."""

from __future__ import annotations

import io

import pytest

from dreval.geometry._loops import _jit


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_is_told_once_when_compiling_takes_long(monkeypatch) -> None:
    """The outermost of nested compilations count; what is not a terminal stays clean."""
    clock, told, terminal = [0.0], _jit._Told(), Terminal()
    monkeypatch.setattr(_jit.time, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(_jit.sys, "stderr", terminal)
    for _ in range(3):
        told.on_start(None)
        told.on_start(None)
        clock[0] += 0.6
        told.on_end(None)
        clock[0] += 0.6
        told.on_end(None)
        clock[0] += 100.0  # of other work
    assert terminal.getvalue() == _jit.SAID  # after 2.4 s of compiling, not of work
    assert told.spent == pytest.approx(3 * 1.2)

    quiet = io.StringIO()
    monkeypatch.setattr(_jit.sys, "stderr", quiet)
    other = _jit._Told()
    other.spent = 10.0
    other.on_start(None)
    assert quiet.getvalue() == ""
