"""A forged, truncated or foreign study file raises one clear error; a full disk leaves the file unchanged."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from each import each

import dreval
from dreval.errors import DrevalError, InputError
from dreval.storage.store import cell_row

X = np.random.default_rng(0).normal(size=(40, 4))


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a finished study."""
    path = tmp_path_factory.mktemp("whole") / "s.journal"
    study = dreval.Study(path, {"a": X, "b": X + 1}, ["pca", "isomap"], measures=["trustworthiness"], random_state=0)
    study.run(progress=False)
    return path.read_bytes()


def verbs(path: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Return the functions that read a study file."""
    yield "open", lambda: dreval.Study.open(path)
    yield "table", lambda: dreval.Study.open(path).table()
    yield "status", lambda: repr(dreval.Study.open(path).status())
    yield "compare", lambda: dreval.compare(path)


def readers_errors(path: Path) -> dict[str, str]:
    """Return the errors of each reader of a file; any other error than those of dreval is raised."""
    results = {}
    for name, method in verbs(path):
        try:
            method()
        except DrevalError as error:
            results[name] = str(error)
    return results


def write_changed(saved: bytes, path: Path, *statements: tuple[str, tuple[Any, ...]]) -> Path:
    """The file after some statements of SQL."""
    path.write_bytes(saved)
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        for statement, values in statements:
            db.execute(statement, values)
    return path


def test_a_changed_value_raises_an_error_by_its_checksum(saved: bytes, tmp_path: Path) -> None:
    """One changed digit, a value from another place, or the checksum of another: the cell is named."""
    for statement in (
        "UPDATE cells SET value = replace(value, '\"seconds\": ', '\"seconds\": 1')",
        "UPDATE cells SET value = '{}' WHERE run = 'study'",
        "UPDATE cells SET value_sha256 = 'x'",
        "UPDATE cells SET run = 'study cells', cell = '[\"a\", \"pca\", 2, 7]' WHERE run = 'study'",
        "UPDATE cells SET value = x'00' WHERE run = 'study methods'",
    ):
        path = write_changed(saved, tmp_path / "s.journal", (statement, ()))
        result = readers_errors(path)
        assert result.keys() >= {"table", "compare"}, statement
        assert {
            text for text in result.values() if not re.search("was changed after it was|must hold a study", text)
        } == set()


FORGED: list[Any] = [None, 3, "x", [], {}, [[1]], {"about": 3, "place": "x"}, {"rows": 3}, {"rows": [{"value": "x"}]}]


@each("value, run", itertools.product(FORGED, ["study", "study data sets", "study methods", "study cells"]), items=2)
def test_a_forged_value_raises_an_error(saved: bytes, fresh_folder: Callable[[], Path], run: str, value: Any) -> None:
    """Also with the right checksum, all errors are errors of dreval."""
    path = write_changed(saved, fresh_folder() / "s.journal")
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        (cell,) = db.execute("SELECT cell FROM cells WHERE run = ? ORDER BY cell", (run,)).fetchone()
        db.execute("INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?, ?, ?)", cell_row(run, cell, value, None))
    assert readers_errors(path) or (run, type(value)) == ("study", dict)  # settings that are not read


@each("name", ["", "{", "3", "[]", '["a"]', '["a", "pca", "2", 1]', '[["a"], "pca", 2, 1]', "\ud800"])
def test_a_forged_name_of_a_cell_raises_an_error(saved: bytes, fresh_folder: Callable[[], Path], name: str) -> None:
    """The name of the cell is invalid."""
    path = write_changed(saved, fresh_folder() / "s.journal")
    with contextlib.suppress(UnicodeEncodeError), contextlib.closing(sqlite3.connect(path)) as db, db:
        db.execute("INSERT INTO cells VALUES (?, ?, ?, ?, ?, ?)", cell_row("study cells", name, {"rows": []}, None))
    assert name == "\ud800" or readers_errors(path)


@each(
    "statement",
    [
        "DROP TABLE cells",
        "DROP TABLE tasks",
        "DROP TABLE about",
        "DELETE FROM cells",
        "DELETE FROM cells WHERE run = 'study methods'",
        "DELETE FROM about",
        "ALTER TABLE cells DROP COLUMN array_sha256",
        "UPDATE about SET value = 'x'",
        "UPDATE tasks SET cell = 'x' WHERE cell = (SELECT min(cell) FROM tasks)",
        "UPDATE tasks SET owner = '../../../etc/passwd'",
        "UPDATE tasks SET owner = x'00'",
    ],
)
def test_another_layout_is_read_or_raises_an_error(saved: bytes, tmp_path: Path, statement: str) -> None:
    """All errors are errors of dreval, whichever tables are missing."""
    readers_errors(write_changed(saved, tmp_path / "s.journal", (statement, ())))


def test_a_truncated_file_is_whole_or_raises_an_error(saved: bytes, tmp_path: Path) -> None:
    """At many lengths a cut file raises an error, or has every value."""
    path = tmp_path / "s.journal"
    path.write_bytes(saved)
    table = dreval.Study.open(path).table()
    for length in [0, 1, 15, 16, 100, 4095, 4096, *range(5000, len(saved), 9973)]:
        path.write_bytes(saved[:length])
        if not readers_errors(path):
            assert dreval.Study.open(path).table().equals(table)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")
def test_a_full_disk_is_reported_and_the_study_continues_later(tmp_path: Path) -> None:
    """If the file may not grow the error says so; finished cells are stored, and the run continues."""
    code = (
        "import resource, signal, sys\nimport numpy as np\nimport dreval\n"
        "X = np.random.default_rng(0).normal(size=(400, 4))\n"
        "study = dreval.Study(sys.argv[1], {'a': X, 'b': X + 1}, ['pca', 'isomap'], measures=['trustworthiness'],\n"
        "                     random_state=0, keep_embeddings=True)\n"
    )
    limit = "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\nresource.setrlimit(resource.RLIMIT_FSIZE, (60000, 60000))\n"
    path, other_path = tmp_path / "s.journal", tmp_path / "other.journal"
    command = [sys.executable, "-c", f"{code}{limit}study.run(progress=False)", path]
    full = subprocess.run(command, capture_output=True, text=True, check=False)
    assert full.returncode == 1
    assert "InputError: `journal` must be on a disk with room for it" in full.stderr, full.stderr[-2000:]
    for file in (path, other_path):
        current: dict[str, Any] = {"sys": SimpleNamespace(argv=["", file])}
        exec(code.replace("import resource, signal, sys\n", ""), current)
        current["study"].run(progress=False)
    tables = [dreval.Study.open(file).table().drop(columns="seconds") for file in (path, other_path)]
    assert tables[0].equals(tables[1])


def test_the_error_names_the_file_and_the_hint(saved: bytes, tmp_path: Path) -> None:
    """The error has four parts."""
    path = write_changed(saved, tmp_path / "s.journal", ("UPDATE cells SET value = '{}'", ()))
    with pytest.raises(
        InputError, match=r"`journal` must be as dreval wrote it: got '.*s\.journal'.*Copy the file back"
    ):
        dreval.Study.open(path).table()
