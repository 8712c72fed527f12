"""A folder survives a killed export and a damaged manifest, and a manifest cannot lead out of its folder."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from protocol_runs import SETTINGS, X, both_rounds, play, projection

import dreval
from dreval.errors import InputError, ProtocolError
from dreval.protocol import folder as folders

Body = dict[str, Any]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the path of a folder that does not exist yet."""
    return tmp_path / "tool"


class Killed(BaseException):
    """Represent the end of a process."""


def written_until(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """Let so many files be written, and end the process before the next."""
    left, write = [count], folders.write_atomic

    def limited(path: Path, content: str | bytes, argument: str) -> Path:
        left[0] -= 1
        if left[0] < 0:
            raise Killed
        return write(path, content, argument)

    monkeypatch.setattr(folders, "write_atomic", limited)


def exported(folder: Path) -> dict[str, bytes]:
    """Return the files of an export."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.parent.name != folders.RETURNED]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_an_export_that_was_killed_anywhere_continues(tmp_path: Path) -> None:
    """In both rounds, killed before each of the files: a second export gives the files of an uninterrupted one."""
    protocol = dreval.Protocol(X, **SETTINGS)
    for round_ in (1, 2):
        uninterrupted = tmp_path / f"whole-{round_}" / "tool"
        for _ in range(round_):
            protocol.export(uninterrupted)
            play(uninterrupted, projection, only=lambda task: task == "data")
        count = len(exported(uninterrupted)) - (len(exported(tmp_path / "whole-1" / "tool")) - 3 if round_ == 2 else 0)
        for stop in range(count):
            interrupted = tmp_path / f"broken-{round_}-{stop}" / "tool"
            if round_ == 2:
                protocol.export(interrupted)
                play(interrupted, projection, only=lambda task: task == "data")
            with pytest.MonkeyPatch.context() as patch:
                written_until(patch, stop)
                with pytest.raises(Killed):
                    protocol.export(interrupted)
            protocol.export(interrupted)
            assert exported(interrupted) == exported(uninterrupted), (round_, stop)


@pytest.mark.parametrize("damage", ["", "{", '{"sha256": "0"}', "[]", "\0", "[" * 100_000])
def test_a_damaged_manifest_is_reported_and_written_anew(damage: str, folder: Path) -> None:
    """Status and collect name the remedy; a second export gives the same manifest and keeps all returned files."""
    both_rounds(folder, projection)
    manifest = folder / "manifest.json"
    good, fingerprint = manifest.read_bytes(), dreval.Protocol.collect(folder).recording.fingerprint
    manifest.write_text(damage)
    for method in (dreval.Protocol.status, dreval.Protocol.collect):
        with pytest.raises(ProtocolError, match=r"must be as it was exported.*Or export again"):
            method(folder)
    assert dreval.Protocol(X, **SETTINGS).export(folder).complete
    assert manifest.read_bytes() == good
    assert dreval.Protocol.collect(folder).recording.fingerprint == fingerprint


@pytest.mark.parametrize(
    "change",
    [{"random_state": 5}, {"random_state": None}, {"amplitude": 0.7}, {"n_components": 1}, {"kernel": "laplace"}],
)
def test_returned_files_are_not_attributed_to_another_export(change: Body, folder: Path) -> None:
    """Without a manifest, settings other than those of the returned files raise an error."""
    both_rounds(folder, projection)
    (folder / "manifest.json").unlink()
    inputs = exported(folder / "input")
    with pytest.raises(ProtocolError, match="random_state"):
        dreval.Protocol(X, **{**SETTINGS, **change}).export(folder)
    with pytest.raises(ProtocolError, match="must be that of the export for which files were returned"):
        dreval.Protocol(X + 1, **SETTINGS).export(folder)
    assert exported(folder / "input") == inputs


PLACES: dict[str, Callable[[Path, Path], object]] = {
    "a folder": lambda path, _: path.mkdir(),
    "a pipe or a device": lambda path, _: os.mkfifo(path),
    "a link to 'data.csvx', which leads to nothing": lambda path, _: path.symlink_to("data.csvx"),
    "a link to 'reseed-00.csv', which leads to nothing": lambda path, _: path.symlink_to(path.name),
    "a link to '/dev/null'": lambda path, _: path.symlink_to("/dev/null"),
    "a link to '.*other.csv'": lambda path, target: path.symlink_to(target),
}


@pytest.mark.skipif(os.name != "posix", reason="links and pipes of POSIX")
@pytest.mark.parametrize("received", PLACES)
def test_entries_that_are_not_files_of_the_folder_are_reported(received: str, folder: Path, tmp_path: Path) -> None:
    """They are neither missing nor suggested, and nothing is read or written through a link."""
    both_rounds(folder, projection)
    path = sorted((folder / folders.RETURNED).glob("reseed*"))[0]
    target = tmp_path / "other.csv"
    path.rename(target)
    PLACES[received](path, target)
    expected = received.replace("reseed-00.csv", path.name)
    for partial in (False, True):
        with pytest.raises(
            ProtocolError, match=rf"`returned/{path.name}` must (be a file|be in the folder): got {expected}"
        ):
            dreval.Protocol.collect(folder, partial=partial)
    assert dreval.Protocol.status(folder).wrong == [f"returned/{path.name}"]


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_an_embedding_is_not_written_through_a_link(folder: Path, tmp_path: Path) -> None:
    protocol = dreval.Protocol(X, **SETTINGS)
    protocol.export(folder)
    (folder / folders.RETURNED).mkdir(exist_ok=True)
    (folder / folders.RETURNED / "data.csv").symlink_to(tmp_path / "secret.csv")
    with pytest.raises(ProtocolError, match="which leads to nothing"):
        protocol.export(folder, embedding=X[:, :2])
    assert not (tmp_path / "secret.csv").exists()


def test_an_extra_row_does_not_mean_a_stopped_tool(folder: Path) -> None:
    both_rounds(folder, projection)
    path = sorted((folder / folders.RETURNED).glob("reseed*"))[0]
    lines = path.read_text().splitlines()
    for altered_lines, cause in (([*lines, lines[-1]], "written twice"), (lines[:-1], "stopped while it wrote")):
        path.write_text("\n".join(altered_lines) + "\n")
        with pytest.raises(ProtocolError, match=cause):
            dreval.Protocol.collect(folder)


def test_a_huge_coordinate_raises_an_error(folder: Path) -> None:
    """All other rows are equal to it up to rounding, as in coordinates that are passed to an evaluation."""
    both_rounds(folder, projection)
    path = sorted((folder / folders.RETURNED).glob("reseed*"))[0]
    frame = pd.read_csv(path)
    frame.iloc[3, 1] = 1e308
    frame.to_csv(path, index=False)
    with pytest.raises(ProtocolError, match=rf"`returned/{path.name}` must have magnitudes"):
        dreval.Protocol.collect(folder)


def task(**fields: Any) -> Callable[[Body], None]:
    """A change of the first task."""
    return lambda body: body["tasks"][0].update(fields)


HOSTILE: dict[str, Callable[[Body], None]] = {
    "output above": task(output="../secret.csv"),
    "input above": task(input="../secret.csv"),
    "hidden above": task(input="input/../../secret.csv"),
    "absolute": task(output="/etc/passwd"),
    "other folder": task(output="input/data.csv"),
    "backslashes": task(output="returned\\..\\..\\secret.csv"),
    "name above": task(task="../secret", output="returned/../secret.csv"),
    "zero byte": task(input="input/a\0.csv"),
    "a member": task(input="input/data.csv:x.csv"),
    "no text": task(output=3),
    "no count": task(n_components="2"),
    "columns": task(columns=[1]),
    "place": task(place=[0]),
    "sketch": task(sketch=["a"]),
    "no list of columns": task(columns=None),
    "another field": task(more=1),
    "a field is missing": lambda body: body.pop("own_ids"),
    "a field of a task is missing": lambda body: body["tasks"][0].pop("seed"),
    "a field of the manifest more": lambda body: body.update(more=1),
    "no truth value": lambda body: body.update(own_ids="yes"),
    "versions": lambda body: body.update(versions=["1"]),
    "hash of the base": lambda body: body.update(base_sha256=1),
    "hash of a task": task(sha256=1),
    "rows": task(rows=[3, 2]),
    "rows beyond": task(rows=[10**6]),
    "settings of a list": lambda body: body.update(settings=[]),
    "a list as setting": lambda body: body["settings"].update(kernel=[]),
    "an id column of code": lambda body: body.update(id_column="x');system('"),
    "no tasks": lambda body: body.update(tasks=[]),
    "tasks of text": lambda body: body.update(tasks="ab"),
    "format": lambda body: body.update(format="pickle"),
    "round": lambda body: body.update(round=3),
    "ids": lambda body: body.update(ids=[1, 2]),
    "no ids": lambda body: body.update(ids=None),
    "settings": lambda body: body.update(settings={}),
    "a setting": lambda body: body["settings"].update(n_components=10**9),
    "more settings": lambda body: body["settings"].update(more=1),
    "seed": lambda body: body.update(random_state="x"),
    "a huge seed": lambda body: body.update(random_state=10**400),
    "a huge seed of a task": task(seed=10**400),
    "huge columns": task(columns=[1, 10**400]),
    "a negative seed": task(seed=-1),
    "transformations of text": lambda body: body["settings"].update(n_transformations="x"),
    "negative transformations": lambda body: body["settings"].update(n_transformations=-1),
    "replicates without tasks": lambda body: body["settings"].update(n_replicates=10**12),
    "noise without tasks": lambda body: body["settings"].update(noise=10**9),
    "halves without tasks": lambda body: body["settings"].update(halves=10**9),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_manifest_of_anyone_stays_in_its_folder(case: str, folder: Path, tmp_path: Path) -> None:
    """A manifest with other content and the right hash raises an error everywhere; no file outside is touched."""
    dreval.Protocol(X, **SETTINGS).export(folder)
    path = folder / "manifest.json"
    body = json.loads(path.read_text())
    body.pop("sha256")
    HOSTILE[case](body)
    text = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps({"sha256": text, **body}))
    (tmp_path / "secret.csv").write_text("x,y\n" + "1,2\n" * 36)
    for method in (dreval.Protocol.status, dreval.Protocol.collect):
        with pytest.raises(ProtocolError, match="must be as it was exported"):
            method(folder)
    with contextlib.suppress(ProtocolError):  # an unreadable manifest is written anew
        dreval.Protocol(X, **SETTINGS).export(folder, embedding=X[:, :2])
    assert sorted(tmp_path.iterdir()) == [tmp_path / "secret.csv", folder]
    assert (tmp_path / "secret.csv").read_text().startswith("x,y\n1,2\n")


@pytest.mark.parametrize("seed", [2**63, 10**400])
def test_a_seed_that_no_tool_can_use(seed: int) -> None:
    """It would be written into the table of tasks."""
    with pytest.raises(InputError, match=r"`random_state` must be below 2\*\*63"):
        dreval.Protocol(X, random_state=seed)
    assert dreval.Protocol(X, random_state=2**63 - 1).seed == 2**63 - 1
