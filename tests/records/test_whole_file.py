"""Files are written atomically: after an error, a full disk or a kill the old file is unchanged."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from dreval.errors import InputError
from dreval.records.base import whole_file, write_atomic

posix = pytest.mark.skipif(os.name != "posix", reason="permissions and pipes of POSIX")


def test_a_new_file_has_the_content_and_the_permissions_of_any_new_file(tmp_path: Path) -> None:
    plain_file = tmp_path / "plain"
    plain_file.write_text("x")
    path = write_atomic(tmp_path / "new.txt", "é\n")
    assert path.read_bytes() == "é\n".encode()
    assert path.stat().st_mode == plain_file.stat().st_mode
    assert sorted(os.listdir(tmp_path)) == ["new.txt", "plain"]


@posix
def test_permissions_of_an_old_file_are_preserved_and_a_link_still_points_at_its_file(tmp_path: Path) -> None:
    old, link = tmp_path / "old.txt", tmp_path / "link.txt"
    old.write_text("old")
    old.chmod(0o640)
    link.symlink_to("old.txt")
    write_atomic(link, "new")
    assert link.is_symlink()
    assert old.read_text() == "new"
    assert stat.S_IMODE(old.stat().st_mode) == 0o640


@posix
def test_a_link_to_a_missing_file_creates_it(tmp_path: Path) -> None:
    link = tmp_path / "link.txt"
    link.symlink_to("made.txt")
    write_atomic(link, "new")
    assert link.is_symlink()
    assert (tmp_path / "made.txt").read_text() == "new"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_errors_while_writing_leave_the_old_file(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "good.txt"
    path.write_text("good")

    def fail() -> None:
        with whole_file(path) as file:
            file.write(b"half")
            raise error

    with pytest.raises(error):
        fail()
    assert path.read_text() == "good"
    assert os.listdir(tmp_path) == ["good.txt"]


@posix
def test_a_full_disk_is_reported_and_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "good.txt"
    path.write_text("good")
    code = (
        "import resource, signal, sys\n"
        "from dreval.records.base import write_atomic\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "write_atomic(sys.argv[1], bytes(1_000_000))\n"
    )
    ran = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    assert "InputError: `path` must be on a disk with room for it" in ran.stderr
    assert path.read_text() == "good"
    assert os.listdir(tmp_path) == ["good.txt"]


@posix
@pytest.mark.parametrize("place", ["/dev/full", "/dev/null/x", "/proc/none"])
def test_a_place_that_cannot_be_written_raises_an_error(place: str) -> None:
    with pytest.raises(InputError, match="`out` must be"):
        write_atomic(place, "x", "out")


@posix
@pytest.mark.skipif(os.name == "posix" and os.geteuid() == 0, reason="root may write everything")
def test_a_file_without_permission_to_write_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "kept.txt"
    path.write_text("kept")
    path.chmod(0o400)
    with pytest.raises(InputError, match="must be a place where a file can be written"):
        write_atomic(path, "new")
    assert path.read_text() == "kept"


def test_a_journal_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "study.journal"
    with closing(sqlite3.connect(path)) as file:
        file.execute("CREATE TABLE cells (value TEXT)")
    content = path.read_bytes()
    with pytest.raises(InputError, match="must not be the file of a study or a journal"):
        write_atomic(path, "x")
    assert path.read_bytes() == content


def test_a_folder_raises_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="must be a place where a file can be written"):
        write_atomic(tmp_path, "x")


@posix
def test_a_pipe_and_a_descriptor_are_written_plainly(tmp_path: Path) -> None:
    pipe, received = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: received.append(pipe.read_text()))
    reader.start()
    write_atomic(pipe, "through")
    reader.join()
    assert received == ["through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    code = "from dreval.records.base import write_atomic; write_atomic('/dev/stdout', 'plain\\n'); print('after')"
    target = tmp_path / "out.txt"
    with target.open("wb") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True)
    assert sorted(target.read_text().split()) == ["after", "plain"]


@posix
def test_a_killed_process_leaves_a_whole_old_or_a_whole_new_file(tmp_path: Path) -> None:
    path = tmp_path / "kept.bin"
    size = 300_000
    path.write_bytes(b"\0" * size)
    code = (
        "import sys\nfrom dreval.records.base import write_atomic\nprint('on', flush=True)\n"
        f"while True:\n    for i in range(256): write_atomic(sys.argv[1], bytes([i]) * {size})\n"
    )
    for wait in (0.001, 0.013, 0.031, 0.057):
        run = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE)
        assert run.stdout is not None
        run.stdout.readline()
        time.sleep(wait)
        run.send_signal(signal.SIGKILL)
        run.communicate()
        content = path.read_bytes()
        assert (len(content), len(set(content))) == (size, 1)
