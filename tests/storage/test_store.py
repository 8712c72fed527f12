"""The journal of finished cells: written values stay, in every digit, for every process."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from dreval.errors import InputError
from dreval.records.base import is_journal
from dreval.storage.store import Store, key_hash

RECIPE = {"method": "pca", "n": 3}
WRITER = """
import sys
from dreval.storage.store import Store
with Store(sys.argv[1]) as store:
    run = store.open_run({"method": "pca", "n": 3})
    for i in range(100):
        store.put(run, f"{sys.argv[2]} {i}", {"u": i / 7})
        store.put(run, f"shared {i}", {"u": i / 7})
"""


def test_cells_come_back_in_every_digit(tmp_path: Path) -> None:
    """Numbers and arrays are the same bits after closing and opening; a missing cell is None."""
    value = {"u": 0.1 + 0.2, "reason": "", "tiny": 5e-324, "large": 1.7976931348623157e308}
    array = np.random.default_rng(0).normal(size=(5, 2))
    with Store(tmp_path / "cells") as store:
        run = store.open_run(RECIPE)
        store.put(run, "a", value, array)
        store.put(run, "b", {"u": 1.0})
    with Store(tmp_path / "cells") as store:
        run = store.open_run(dict(reversed(RECIPE.items())))
        stored = store.get(run, "a")
        assert stored is not None
        assert stored[0] == value
        assert stored[1] is not None
        assert stored[1].tobytes() == array.tobytes()
        assert store.get(run, "c") is None
        assert store.cells(run).keys() == {"a", "b"}


def test_runs_are_separate_and_the_first_result_stays(tmp_path: Path) -> None:
    """Another recipe is another run; an existing cell is not overwritten."""
    with Store(tmp_path / "cells") as store:
        run, other_run = store.open_run(RECIPE), store.open_run({**RECIPE, "n": 4})
        store.put(run, "a", {"u": 1.0})
        store.put(run, "a", {"u": 2.0})
        assert store.cells(run) == {"a": ({"u": 1.0}, None)}
        assert store.cells(other_run) == {}
        assert run == key_hash(RECIPE) != other_run


def test_four_processes_write_at_once(tmp_path: Path) -> None:
    """Nothing is lost and nothing fails if several processes write the same file, including the same cells."""
    path = str(tmp_path / "cells")
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, path, str(i)]) for i in range(4)]
    assert [writer.wait() for writer in writers] == [0] * 4
    with Store(path) as store:
        cells = store.cells(store.open_run(RECIPE))
    assert len(cells) == 500
    assert cells["3 99"] == ({"u": 99 / 7}, None)


def test_a_file_that_another_process_is_making_is_waited_for(tmp_path: Path) -> None:
    """SQLite rejects a new file while another process creates its log; the journal waits."""
    path = tmp_path / "cells"
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other_connection:
        other_connection.execute("BEGIN IMMEDIATE")
        with closing(sqlite3.connect(path)) as connection, pytest.raises(sqlite3.OperationalError, match="locked"):
            connection.execute("PRAGMA journal_mode=WAL")
        release = threading.Timer(0.2, other_connection.execute, ["COMMIT"])
        release.start()
        with Store(path) as store:
            store.put(store.open_run(RECIPE), "a")
            assert store.cells(store.open_run(RECIPE)).keys() == {"a"}
        release.join()


def test_a_damaged_file_raises_an_error_with_its_name(tmp_path: Path) -> None:
    """If pages are overwritten the error names the file, whether it opens or not."""
    path = tmp_path / "cells"
    with Store(path) as store:
        run = store.open_run(RECIPE)
        for i in range(200):
            store.put(run, str(i), {"u": i / 7}, np.zeros(200))
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2] + b"\xff" * (len(content) - len(content) // 2))
    with pytest.raises(InputError, match=r"`journal` must be a file .*cells"), Store(path) as store:
        store.cells(run)


def test_other_files_raise_an_error(tmp_path: Path) -> None:
    """The error for a text, a folder, a file in a missing folder and a journal of a later format names it."""
    (tmp_path / "text").write_text("no journal at all, but long enough to be read as one" * 40)
    with Store(tmp_path / "later"):
        pass
    with closing(sqlite3.connect(tmp_path / "later")) as db, db:
        db.execute("UPDATE about SET value = '99'")
    with pytest.raises(InputError, match=r"`journal` must be in an existing folder: got '.*missing"):
        Store(tmp_path / "missing" / "cells")
    for name in ("text", "later", "."):
        with pytest.raises(InputError, match="`journal` must"):
            Store(tmp_path / name)


def test_a_journal_is_read_without_being_changed(tmp_path: Path) -> None:
    """Reading creates no file and writes nothing; it works in a folder that is not writable."""
    path = tmp_path / "cells"
    with pytest.raises(InputError, match="must be an existing file"):
        Store(path, read_only=True)
    with Store(path) as store:
        store.put("run", "a", {"u": 1.0})
        with Store(path, read_only=True) as reader:  # while it is written
            assert reader.texts("run") == {"a": '{"u": 1.0}'}
    before = path.read_bytes()
    with Store(path, read_only=True) as reader:
        assert reader.get("run", "a") == ({"u": 1.0}, None)
    assert path.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["cells"]


def test_a_transaction_is_atomic(tmp_path: Path) -> None:
    """Writes before an error within a transaction are not kept."""

    def write_and_fail(store: Store) -> None:
        with store._transaction() as db:
            db.execute("INSERT INTO runs VALUES ('a', 'b')")
            raise ZeroDivisionError

    with Store(tmp_path / "cells") as store:
        with pytest.raises(ZeroDivisionError):
            write_and_fail(store)
        assert store._rows("SELECT * FROM runs") == []


def test_a_journal_is_recognized_by_its_first_bytes(tmp_path: Path) -> None:
    """Texts, folders and missing files are not journals."""
    with Store(tmp_path / "cells"):
        pass
    (tmp_path / "text").write_text("SQLite")
    assert [is_journal(tmp_path / name) for name in ("cells", "text", ".", "nowhere")] == [True, False, False, False]


def test_other_databases_are_left_alone(tmp_path: Path) -> None:
    """A database of another program is rejected, for reading or writing, and no table is added to it."""
    path = tmp_path / "places"
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE pages (name TEXT)")
    before = path.read_bytes()
    for read_only in (True, False):
        with pytest.raises(InputError, match="must be a journal of dreval"):
            Store(path, read_only=read_only)
    assert path.read_bytes() == before


@pytest.mark.slow
def test_many_processes_begin_a_file_at_once(tmp_path: Path) -> None:
    """The first process creates the file; no process fails because another one is creating it."""
    code = (
        "import sys, time; from dreval.storage.store import Store; time.sleep(max(0, float(sys.argv[2]) - time.time()))"
    )
    code += "\nfor i in range(40):\n    with Store(f'{sys.argv[1]}{i}') as store: store.put('run', sys.argv[3], {})"
    at = str(time.time() + 3)
    command = [sys.executable, "-c", code, str(tmp_path / "cells"), at]
    six = [subprocess.Popen([*command, str(i)], stderr=subprocess.PIPE, text=True) for i in range(6)]
    outputs = [process.communicate(timeout=120)[1] for process in six]

    assert outputs == [""] * 6
    for i in range(40):
        with Store(tmp_path / f"cells{i}") as store:
            assert list(store.texts("run")) == list("012345")
