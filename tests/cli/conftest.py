"""A working folder and a call of the command line for each test."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from cli_runs import call, fill


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with data, embeddings and labels."""
    fill(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], request: pytest.FixtureRequest) -> Any:
    """Return a function that runs the command line (``COMMAND`` of the file first) and returns code and output."""
    command = getattr(request.module, "COMMAND", None)
    return partial(call, capfd, *([command] if command else []))
