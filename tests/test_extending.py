"""The measure, method and test of the page on extending pass all contract tests."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "vignettes" / "extending.md"
SUITES = ["measures_contract", "methods_contract", "independence_contract"]


def added_files() -> dict[str, str]:
    """Return the files that the page writes into a copy of the package, by path."""
    return dict(re.findall(r"^add\(\"([\w/.]+)\", '''\\\n(.*?)'''\)$", PAGE.read_text("utf-8"), flags=re.DOTALL | re.M))


def _hash(folder: Path) -> str:
    return hashlib.sha1(str(folder).encode()).hexdigest()


@pytest.mark.slow
def test_the_files_of_the_page_meet_their_contracts(tmp_path: Path) -> None:
    """In a copy of the package, a measure, a method and a test, one file each, pass every contract test."""
    for part in ("dreval", "tests"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("*.tmp.*", "*.pyc.*"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    compiled = "dreval/geometry/_loops"  # numba stores machine code in a folder named after that of the source
    for stored in (tmp_path / compiled).glob(f"__pycache__/*/_loops_{_hash(ROOT / compiled)}"):
        stored.rename(stored.with_name(f"_loops_{_hash(tmp_path / compiled)}"))
    files = added_files()
    for place, text in files.items():
        (tmp_path / "dreval" / place).write_text(text, "utf-8")
    suites = ["tests/test_cards.py", *(f"tests/contract/test_{suite}.py" for suite in SUITES)]
    names = [f"--name={Path(place).stem}" for place in files]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *suites, *names]

    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "DREVAL_EXAMPLES": "5"}
    process = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)

    passed = re.search(r"(\d+) passed", process.stdout)
    assert sorted(Path(place).parent.name for place in files) == ["measures", "methods", "significance"]
    assert process.returncode == 0, process.stdout[-3000:]
    assert passed is not None
    assert int(passed[1]) >= 30
