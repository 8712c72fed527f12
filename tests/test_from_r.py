"""The page for users of R: its R code runs and prints the output on the page."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from page_tables import VIGNETTES


@pytest.mark.debian
def test_the_code_of_the_page_runs_in_r(tmp_path: Path) -> None:
    """R writes its data frame and embeddings, calls the command line, and reads the table back; compare reads it."""
    text = (VIGNETTES / "from-r.md").read_text("utf-8")
    code, message = re.search(
        r"^:class: run\n\n(.*?)^```\n\nwhich prints\n\n(.*?)\n\n\S", text, re.DOTALL | re.MULTILINE
    ).groups()
    (tmp_path / "page.R").write_text(code)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    ran = subprocess.run(
        ["Rscript", "page.R"], cwd=tmp_path, env=os.environ | {"PATH": path}, capture_output=True, text=True, check=True
    )
    assert [line.strip() for line in ran.stdout.splitlines()] == [line.strip() for line in message.splitlines()]
    [command, printed] = re.search(
        r"^```\{code-block\} console\n\$ (.*?)\n(.*?)^```", text, re.DOTALL | re.MULTILINE
    ).groups()
    compared = subprocess.run(
        command.split(), cwd=tmp_path, env=os.environ | {"PATH": path}, capture_output=True, text=True, check=True
    )
    assert compared.stdout == printed
    assert (tmp_path / "iris.html").stat().st_size > 10_000
