"""A working folder and a call of the command line for every test of it; a file may have a folder of its own."""

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
    """Run the command line, the verb that a file names as ``VERB`` first; gives exit code, stdout and stderr."""
    verb = getattr(request.module, "VERB", None)
    return partial(call, capfd, *([verb] if verb else []))
