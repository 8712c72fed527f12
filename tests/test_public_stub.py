"""The stubs of the public names: up to date, and what a type checker sees by them; and the names of a star import."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import public_stub
import pytest

import dreval

MISTAKES = """
import dreval

X = [[0.0, 1.0]]
dreval.trustworthiness(X, X, n_neighbors=3, metric="cosine")
dreval.trustworthines(X, X)
dreval.trustworthiness(X, X, n_neighbor=3)
dreval.hsic_test(X, X, X, kernel="gaussian", n_resamples=9)
dreval.hsic_test(X, X, n_resample=9)
dreval.methods.Isomap(2, n_neighbors=3).anything
dreval.methods.Isomap(n_neighbor=3)
dreval.methods.Isomp()
"""
CONSUMER = Path(__file__).parent / "consumer.py"
PYRIGHT = "1.1.407"
HEAVY = ("matplotlib", "numba", "jinja2", "joblib", "scipy.stats", "sklearn", "statsmodels")


def test_stubs_are_up_to_date() -> None:
    """They are what ``python tests/public_stub.py`` writes."""
    for path, text in public_stub.stubs().items():
        assert path.read_text() == text, "run python tests/public_stub.py"


def test_a_type_checker_sees_misspelled_names_and_keywords(tmp_path: Path) -> None:
    """Every wrong line is found, and none of the right ones."""
    file = tmp_path / "mistakes.py"
    file.write_text(MISTAKES)
    command = [sys.executable, "-m", "mypy", "--follow-imports=skip", f"--cache-dir={tmp_path / 'cache'}"]
    stubs = [str(path) for path in public_stub.stubs()]
    done = subprocess.run([*command, str(file), *stubs], capture_output=True, text=True, cwd=tmp_path)

    assert re.findall(r"mistakes\.py:(\d+): error", done.stdout) == ["6", "7", "9", "11", "12"], done.stdout
    assert "stubs" not in done.stderr


@pytest.mark.slow
def test_a_users_script_is_typed_for_mypy(tmp_path: Path) -> None:
    """Strictly: what functions return is known, where the package is installed."""
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={tmp_path / 'cache'}"]
    done = subprocess.run([*command, str(CONSUMER)], capture_output=True, text=True, cwd=CONSUMER.parents[1])

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.debian
def test_a_users_script_is_typed_for_pyright(tmp_path: Path) -> None:
    """The same for the other checker, which also sees a misspelled name."""
    text = CONSUMER.read_text()
    (tmp_path / "consumer.py").write_text(text)
    (tmp_path / "wrong.py").write_text(f"{text}\ndreval.trustworthines(X, Y)\n")
    command = ["npx", "--yes", f"pyright@{PYRIGHT}", "--outputjson", "--pythonpath", sys.executable]
    (tmp_path / "pyrightconfig.json").write_text(
        json.dumps({"typeCheckingMode": "strict", "extraPaths": [str(CONSUMER.parents[1])]})
    )
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)

    found = [Path(one["file"]).name for one in json.loads(done.stdout)["generalDiagnostics"]]
    assert found
    assert set(found) == {"wrong.py"}


@pytest.fixture(scope="module")
def starred() -> list[str]:
    """The names of a star import in a fresh process, and the heavy packages that it loaded."""
    code = "from dreval import *; import sys; names = set(globals()); "
    code += f"print(*sorted(names)); print(*(one for one in {HEAVY} if one in sys.modules))"
    where = Path(dreval.__path__[0]).parent
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=where
    ).stdout.split("\n")


def test_a_star_import_gives_the_public_names(starred: list[str]) -> None:
    """All of ``__all__``, and no heavy package before it is used."""
    assert set(dreval.__all__) == {name for name in dir(dreval) if not name.startswith("_")}
    assert set(dreval.__all__) <= set(starred[0].split())
    assert starred[1].split() == []
