"""The stubs of the public names: up to date, and useful to type checkers; and the names of a star import."""

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
    """The files are those that ``python tests/public_stub.py`` writes."""
    for path, text in public_stub.stubs().items():
        assert path.read_text() == text, "run python tests/public_stub.py"


def test_an_outdated_stub_fails_the_check(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """``--check`` exits with 1 and writes nothing if the text of a stub differs."""
    path = tmp_path / "__init__.pyi"
    path.write_text("def trustworthines(X: Any, Y: Any) -> Any: ...")
    monkeypatch.setattr(public_stub, "stubs", lambda: {path: "def trustworthiness(X: Any, Y: Any) -> Any: ..."})

    assert public_stub.main(["--check"]) == 1
    assert "trustworthines(" in path.read_text()
    assert public_stub.main([]) == 0
    assert public_stub.main(["--check"]) == 0


@pytest.mark.slow
def test_a_type_checker_finds_misspelled_names_and_keywords(tmp_path: Path) -> None:
    """It reports every wrong line, and no correct line."""
    file = tmp_path / "mistakes.py"
    file.write_text(MISTAKES)
    command = [sys.executable, "-m", "mypy", "--follow-imports=skip", f"--cache-dir={tmp_path / 'cache'}"]
    stubs = [str(path) for path in public_stub.stubs()]
    process = subprocess.run([*command, str(file), *stubs], capture_output=True, text=True, cwd=tmp_path)

    assert re.findall(r"mistakes\.py:(\d+): error", process.stdout) == ["6", "7", "9", "11", "12"], process.stdout
    assert "stubs" not in process.stderr


@pytest.mark.slow
def test_a_users_script_is_typed_for_mypy(tmp_path: Path) -> None:
    """Functions have return types that a strict check accepts."""
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={tmp_path / 'cache'}"]
    process = subprocess.run([*command, str(CONSUMER)], capture_output=True, text=True, cwd=CONSUMER.parents[1])

    assert process.returncode == 0, process.stdout + process.stderr


@pytest.mark.debian
def test_a_users_script_is_typed_for_pyright(tmp_path: Path) -> None:
    """The script passes, and a misspelled name is an error."""
    text = CONSUMER.read_text()
    (tmp_path / "consumer.py").write_text(text)
    (tmp_path / "wrong.py").write_text(f"{text}\ndreval.trustworthines(X, Y)\n")
    command = ["npx", "--yes", f"pyright@{PYRIGHT}", "--outputjson", "--pythonpath", sys.executable]
    (tmp_path / "pyrightconfig.json").write_text(
        json.dumps({"typeCheckingMode": "strict", "extraPaths": [str(CONSUMER.parents[1])]})
    )
    process = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)

    files = [Path(error["file"]).name for error in json.loads(process.stdout)["generalDiagnostics"]]
    assert files
    assert set(files) == {"wrong.py"}


@pytest.fixture(scope="module")
def starred() -> list[str]:
    """The names of a star import in a fresh process, and the heavy packages that it loaded."""
    code = "from dreval import *; import sys; names = set(globals()); "
    code += f"print(*sorted(names)); print(*(name for name in {HEAVY} if name in sys.modules))"
    folder = Path(dreval.__path__[0]).parent
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder).stdout.split("\n")


def test_a_star_import_gives_the_public_names(starred: list[str]) -> None:
    """All of ``__all__``, and no heavy package before it is used."""
    assert set(dreval.__all__) == {name for name in dir(dreval) if not name.startswith("_")}
    assert set(dreval.__all__) <= set(starred[0].split())
    assert starred[1].split() == []
