"""A returned folder: nothing is read or written through a link in it, and its README quotes its names."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from protocol_runs import SETTINGS, X, both_rounds, play, projection

import dreval
from dreval.errors import ProtocolError

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links of POSIX")

TEXT = "of somebody else\n"
FILES = ("README.md", "tasks.csv", "run.sh", "run_uwot.R", "run_rtsne.R", "manifest.json", "input/data.csv")


def state(folder: Path) -> dict[str, bytes | str]:
    """Return the contents of the files of a folder."""
    return {
        str(path.relative_to(folder)): os.readlink(path) if path.is_symlink() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


def with_link(folder: Path, outside: Path, name: str, kind: str) -> None:
    """Exchange a file for a link."""
    path = folder / name
    outside.mkdir(exist_ok=True)
    if path.exists():
        content = path.read_bytes()
        path.unlink()
    else:
        content = TEXT.encode()
    path.parent.mkdir(exist_ok=True)
    target = outside / "target"
    if kind != "to nothing":
        target.write_bytes(content if kind == "to a copy" else TEXT.encode())
    path.symlink_to(os.path.relpath(target, path.parent) if kind == "relative" else target)


@pytest.mark.parametrize("kind", ["to a copy", "to another file", "to nothing", "relative"])
@pytest.mark.parametrize("name", FILES)
def test_a_link_in_place_of_a_file(name: str, kind: str, tmp_path: Path) -> None:
    """No export writes through it: in the second round, in a repeated first one, or with an embedding."""
    folder, outside = tmp_path / "tool", tmp_path / "other"
    protocol = dreval.Protocol(X, **SETTINGS)
    protocol.export(folder)
    play(folder, projection, only=lambda task: task == "data")
    with_link(folder, outside, name, kind)
    if name != "manifest.json":  # a lost manifest is written anew
        for missing in (False, True):
            if missing:
                (folder / "manifest.json").unlink()
            before = state(outside)
            with pytest.raises(ProtocolError, match=rf"`{name}` must .*: got a link to .*Delete it"):
                protocol.export(folder)
            assert state(outside) == before
        return
    before = state(outside)
    for call in (
        lambda: protocol.export(folder),
        lambda: protocol.export(folder, embedding=X[:, :2]),
        lambda: dreval.Protocol.status(folder),
        lambda: dreval.Protocol.collect(folder),
    ):
        with pytest.raises(ProtocolError, match=r"`manifest.json` must .*: got a link to .*Delete it"):
            call()
    assert state(outside) == before


@pytest.mark.parametrize("name", ["input", "returned"])
def test_a_link_in_place_of_a_folder(name: str, tmp_path: Path) -> None:
    """Its files are neither read nor written, whether it points to a folder or to nothing."""
    protocol = dreval.Protocol(X, **SETTINGS)
    for kind in ("new", "exported", "complete", "to nothing"):
        folder, outside = tmp_path / kind / "tool", tmp_path / kind / "other"
        folder.mkdir(parents=True)
        if kind == "exported":
            protocol.export(folder)
        if kind == "complete":
            both_rounds(folder, projection)
        if kind in ("new", "to nothing"):
            (folder / name).symlink_to(outside)
            if kind == "new":
                outside.mkdir()
        else:
            (folder / name).rename(outside)
            (folder / name).symlink_to(outside)
        before = state(tmp_path / kind)
        with pytest.raises(ProtocolError, match=rf"`{name}` must .*: got a link to "):
            protocol.export(folder, embedding=X[:, :2])
        if kind == "complete":
            with pytest.raises(ProtocolError, match=rf"`{name}` must be in the folder: got a link to "):
                dreval.Protocol.collect(folder)
        assert {key: value for key, value in state(tmp_path / kind).items() if "other" in key} == {
            key: value for key, value in before.items() if "other" in key
        }


def test_the_hints_for_files_on_another_disk_work(tmp_path: Path) -> None:
    """A link of the caller raises an error too, since its origin is unknown; both hints of the error work."""
    folder, disk = tmp_path / "tool", tmp_path / "disk"
    disk.mkdir()
    both_rounds(folder, projection)
    (folder / "returned").rename(disk / "returned")
    (folder / "returned").symlink_to(disk / "returned")
    with pytest.raises(ProtocolError, match=r"put a folder itself in its place\. To keep the files on another disk"):
        dreval.Protocol.collect(folder)
    (folder / "returned").unlink()
    (disk / "returned").rename(folder / "returned")
    runs = len(dreval.Protocol.collect(folder).recording.runs)
    folder.rename(disk / "tool")
    folder.symlink_to(disk / "tool")
    assert len(dreval.Protocol.collect(folder).recording.runs) == runs > 3


def test_a_hard_link_keeps_its_content(tmp_path: Path) -> None:
    """A file is replaced, not written to: another hard link has the old content."""
    folder, outside = tmp_path / "tool", tmp_path / "other"
    protocol = dreval.Protocol(X, **SETTINGS)
    protocol.export(folder)
    play(folder, projection, only=lambda task: task == "data")
    outside.write_text(TEXT)
    for name in ("README.md", "tasks.csv"):
        (folder / name).unlink()
        os.link(outside, folder / name)
    assert protocol.export(folder).round == 2
    assert outside.read_text() == TEXT


def test_the_folder_itself_may_be_a_link(tmp_path: Path) -> None:
    """The caller named it."""
    (tmp_path / "disk" / "tool").mkdir(parents=True)
    (tmp_path / "tool").symlink_to(tmp_path / "disk" / "tool")
    both_rounds(tmp_path / "tool", projection)
    assert dreval.Protocol.status(tmp_path / "tool").complete
    assert len(dreval.Protocol.collect(tmp_path / "tool").recording.runs) > 3


def forged(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """A manifest with other content and the right hash."""
    path = folder / "manifest.json"
    body = json.loads(path.read_text())
    body.pop("sha256")
    change(body)
    text = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps({"sha256": text, **body}))


@pytest.mark.parametrize(
    "value", ["x1", "nothing", "", "9", 'x" = system("touch x"), "y', "a b", "id\x1b[31m", "x" * 10**6, "../id", "id\n"]
)
def test_another_id_column(value: str, tmp_path: Path) -> None:
    """One clear error from each verb; a returned file is not read with it."""
    both_rounds(tmp_path / "tool", projection)
    forged(tmp_path / "tool", lambda body: body.update(id_column=value))
    for call in (
        lambda: dreval.Protocol.collect(tmp_path / "tool"),
        lambda: dreval.Protocol(X, **SETTINGS).export(tmp_path / "tool"),
    ):
        with pytest.raises(ProtocolError, match=r"must (be as it was exported|have 36 rows, the id column)") as error:
            call()
        assert str(error.value).isprintable()
        assert len(str(error.value)) < 1000


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "id,x1\n1,2\n", "", "id\n", "\x00\x01", "id,id\n1,2\n"])
def test_another_input(text: str, tmp_path: Path) -> None:
    """A changed table with the right hash: too few rows, other columns, no table."""
    both_rounds(tmp_path / "tool", projection)
    (tmp_path / "tool" / "input" / "data.csv").write_text(text)
    expected = hashlib.sha256(text.encode()).hexdigest()
    forged(
        tmp_path / "tool",
        lambda body: [task.update(sha256=expected) for task in body["tasks"] if "data" in task["input"]],
    )
    with pytest.raises(dreval.errors.DrevalError, match=r"`input/data.csv` must .*: got "):
        dreval.Protocol.collect(tmp_path / "tool")


@pytest.mark.parametrize(
    "text", ["", "a,b\n1,2\n", "task,seed\ndata,1\n", "task,seed,n_components\ndata,1,2\ndata,3,4\n"]
)
def test_another_list_of_tasks(text: str, tmp_path: Path) -> None:
    """Without a manifest, an invalid list of tasks is one clear error."""
    both_rounds(tmp_path / "tool", projection)
    (tmp_path / "tool" / "manifest.json").unlink()
    (tmp_path / "tool" / "tasks.csv").write_text(text)
    with pytest.raises(dreval.errors.DrevalError, match=r"`tasks.csv` must"):
        dreval.Protocol(X, **SETTINGS).export(tmp_path / "tool")


@pytest.mark.parametrize(
    "name", ["a b", "x; touch y", "$(touch y)", "it's", '"q"', "-n", "&", "a`b`", "a\x1b[31mb", "ö"]
)
def test_commands_of_the_readme_quote_the_folder(name: str, tmp_path: Path) -> None:
    """A shell reads the folder as one argument, Python as one text; a name that does not print is not written."""
    dreval.Protocol(X, **SETTINGS).export(tmp_path / name)
    text = (tmp_path / name / "README.md").read_text()
    lines = [line for line in text.splitlines() if line.startswith("    dreval protocol") and "..." not in line]
    texts = [shlex.split(line.strip()) for line in lines]
    shown_name = name if name.isprintable() and "`" not in name else "FOLDER"
    expected = f"./{shown_name}" if shown_name.startswith("-") else shown_name
    assert texts == [["dreval", "protocol", method, expected] for method in ("status", "collect")]
    assert f"export({json.dumps(shown_name, ensure_ascii=False)})" in text
    assert all(line.isprintable() for line in text.splitlines())


def test_a_name_of_the_data_that_steers_a_terminal(tmp_path: Path) -> None:
    """It is neither in the README nor in the printed status."""
    both_rounds(tmp_path / "tool", projection)
    forged(tmp_path / "tool", lambda body: body.update(name="a\x1b[31m\u202eb\r\x9b2J", round=2))
    status = dreval.Protocol.status(tmp_path / "tool")
    assert all(line.isprintable() for line in f"{status}\n{status!r}".splitlines())
