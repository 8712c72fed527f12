"""The journal of finished cells: what is written stays, in every digit, for every process."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from dreval.errors import InputError
from dreval.results.store import Store, cell_key

RECIPE = {"method": "pca", "n": 3}
WRITER = """
import sys
from dreval.results.store import Store
with Store(sys.argv[1]) as store:
    run = store.open_run({"method": "pca", "n": 3})
    for i in range(100):
        store.put(run, f"{sys.argv[2]} {i}", {"u": i / 7})
        store.put(run, f"shared {i}", {"u": i / 7})
"""


def test_cells_come_back_in_every_digit(tmp_path: Path) -> None:
    """Numbers and arrays are the same bits after closing and opening; what is not there is None."""
    value = {"u": 0.1 + 0.2, "reason": "", "tiny": 5e-324, "large": 1.7976931348623157e308}
    array = np.random.default_rng(0).normal(size=(5, 2))
    with Store(tmp_path / "cells") as store:
        run = store.open_run(RECIPE)
        store.put(run, "a", value, array)
        store.put(run, "b", {"u": 1.0})
    with Store(tmp_path / "cells") as store:
        run = store.open_run(dict(reversed(RECIPE.items())))
        kept = store.get(run, "a")
        assert kept is not None
        assert kept[0] == value
        assert kept[1] is not None
        assert kept[1].tobytes() == array.tobytes()
        assert store.get(run, "c") is None
        assert store.cells(run).keys() == {"a", "b"}


def test_runs_are_apart_and_the_first_answer_stays(tmp_path: Path) -> None:
    """Another recipe is another run; a cell that is there is not written over."""
    with Store(tmp_path / "cells") as store:
        one, other = store.open_run(RECIPE), store.open_run({**RECIPE, "n": 4})
        store.put(one, "a", {"u": 1.0})
        store.put(one, "a", {"u": 2.0})
        assert store.cells(one) == {"a": ({"u": 1.0}, None)}
        assert store.cells(other) == {}
        assert one == cell_key(RECIPE) != other


def test_four_processes_write_at_once(tmp_path: Path) -> None:
    """Nothing is lost and nothing fails when several processes write the same file, cells in common included."""
    path = str(tmp_path / "cells")
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, path, str(i)]) for i in range(4)]
    assert [writer.wait() for writer in writers] == [0] * 4
    with Store(path) as store:
        cells = store.cells(store.open_run(RECIPE))
    assert len(cells) == 500
    assert cells["3 99"] == ({"u": 99 / 7}, None)


def test_a_file_that_another_process_is_making_is_waited_for(tmp_path: Path) -> None:
    """Before a new file is a log, SQLite refuses it at once while another process writes; the journal waits."""
    path = tmp_path / "cells"
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        with closing(sqlite3.connect(path)) as alone, pytest.raises(sqlite3.OperationalError, match="locked"):
            alone.execute("PRAGMA journal_mode=WAL")
        release = threading.Timer(0.2, other.execute, ["COMMIT"])
        release.start()
        with Store(path) as store:
            store.put(store.open_run(RECIPE), "a")
            assert store.cells(store.open_run(RECIPE)).keys() == {"a"}
        release.join()


def test_a_damaged_file_is_refused_by_name(tmp_path: Path) -> None:
    """Where pages are overwritten the refusal names the file, whether it opens or not."""
    path = tmp_path / "cells"
    with Store(path) as store:
        run = store.open_run(RECIPE)
        for i in range(200):
            store.put(run, str(i), {"u": i / 7}, np.zeros(200))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] + b"\xff" * (len(whole) - len(whole) // 2))
    with pytest.raises(InputError, match=r"`store` must be a file .*cells"), Store(path) as store:
        store.cells(run)


def test_other_files_are_refused(tmp_path: Path) -> None:
    """A text, a folder, a file in no folder and a journal of a later format are refused by name."""
    (tmp_path / "text").write_text("no journal at all, but long enough to be read as one" * 40)
    with Store(tmp_path / "later"):
        pass
    with sqlite3.connect(tmp_path / "later") as db:
        db.execute("UPDATE about SET value = '99'")
    db.close()
    with pytest.raises(InputError, match=r"`store` must lie in a folder that is there: got '.*missing"):
        Store(tmp_path / "missing" / "cells")
    for name in ("text", "later", "."):
        with pytest.raises(InputError, match="`store` must"):
            Store(tmp_path / name)
