"""The wording of output and errors of the protocol; each kind of damage to a folder has its own error.

``protocol.txt`` stores the wordings; ``DREVAL_UPDATE_SNAPSHOTS=1 pytest tests/snapshots`` rewrites it.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from each import each
from protocol_runs import SETTINGS, X, both_rounds, play, projection
from snapshot import Snapshots

import dreval
from dreval.cli._main import main
from dreval.errors import ProtocolError

TRANSFORMED = Path("tool/returned/transformed-0002.csv")
BASE = Path("tool/returned/data.csv")
FULL = Path("tool/returned/full.csv")


def edit_table(change: Callable[[pd.DataFrame], pd.DataFrame], path: Path = TRANSFORMED) -> Callable[[], None]:
    """Return a function that changes a returned table."""

    def damage() -> None:
        change(pd.read_csv(path)).to_csv(path, index=False)

    return damage


def name_rows(path: Path) -> None:
    """Write a table as R does with row names, which are not the ids."""
    frame = pd.read_csv(path).drop(columns="id")
    frame.index = [f"p{i}" for i in range(len(frame))]
    frame.to_csv(path)


def set_cell(row: int, column: str, value: object) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Return a function that changes one cell of a table."""

    def change(frame: pd.DataFrame) -> pd.DataFrame:
        frame[column] = frame[column].astype(object)
        frame.loc[row, column] = value
        return frame

    return change


def flip_digit(path: str) -> Callable[[], None]:
    """Return a function that changes one digit of a file."""

    def damage() -> None:
        text = Path(path).read_text("utf-8")
        Path(path).write_text(re.sub(r"(\d)(\D*)$", lambda m: f"{(int(m[1]) + 1) % 10}{m[2]}", text), "utf-8")

    return damage


DAMAGES: dict[str, Callable[[], object]] = {
    "a file that has not come back": TRANSFORMED.unlink,
    "a file under another name": lambda: TRANSFORMED.rename(TRANSFORMED.with_suffix(".tsv")),
    "fewer rows": edit_table(lambda frame: frame.iloc[:-3]),
    "more rows": edit_table(lambda frame: pd.concat([frame, frame.iloc[:1]])),
    "fewer columns": edit_table(lambda frame: frame.iloc[:, :-1]),
    "more columns": edit_table(lambda frame: frame.assign(y9=1.0, y10=2.0)),
    "more columns at full dimension": edit_table(lambda frame: frame.assign(y8=0.0, y9=1.0), FULL),
    "row names that are no ids": lambda: name_rows(TRANSFORMED),
    "not a number": edit_table(set_cell(4, "y1", np.nan)),
    "infinite": edit_table(set_cell(4, "y1", np.inf)),
    "a word": edit_table(set_cell(4, "y1", "high")),
    "another id": edit_table(set_cell(4, "id", 99)),
    "an id twice": edit_table(set_cell(4, "id", 1)),
    "an empty file": lambda: TRANSFORMED.write_text(""),
    "a ragged file": lambda: TRANSFORMED.write_text(TRANSFORMED.read_text() + "1,2\n"),
    "a binary file": lambda: TRANSFORMED.write_bytes(b"PK\x03\x04\0\0"),
    "data that were altered": flip_digit("tool/input/data.csv"),
    "transformed data that were altered": flip_digit("tool/input/transformed-0003.csv"),
    "transformed data that are gone": Path("tool/input/transformed-0003.csv").unlink,
    "another embedding of the data": edit_table(set_cell(0, "y0", 0.5), BASE),
    "a manifest that was edited": lambda: Path("tool/manifest.json").write_text(
        Path("tool/manifest.json").read_text().replace('"random_state": 4', '"random_state": 5')
    ),
    "a manifest that is none": lambda: Path("tool/manifest.json").write_text("{}"),
    "no manifest": Path("tool/manifest.json").unlink,
}
COMMANDS: dict[str, tuple[str, ...]] = {
    "help": ("--help",),
    "help of export": ("export", "--help"),
    "help of status": ("status", "--help"),
    "help of collect": ("collect", "--help"),
    "status of an unfinished folder": ("status", "half"),
    "status of a spoiled folder": ("status", "spoiled"),
    "collect": ("collect", "tool"),
    "collect an unfinished folder": ("collect", "half"),
    "collect part of a folder": ("collect", "half", "--partial"),
    "collect the first round": ("collect", "first", "--partial"),
    "export with a wrong option": ("export", "data.csv", "new", "--n-transformations", "-1"),
    "export other data": ("export", "other.csv", "tool"),
}
SNAPSHOTS = Snapshots(Path(__file__).with_name("protocol.txt"), [*DAMAGES, "the words for people", *COMMANDS])


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders in every state: finished, unfinished, damaged, of the first round."""
    root = tmp_path_factory.mktemp("protocols")
    frame = pd.DataFrame(X, columns=list("abc"))
    frame.to_csv(root / "data.csv", index=False)
    (frame + 1).to_csv(root / "other.csv", index=False)
    both_rounds(root / "tool", projection, frame)
    for name in ("half", "spoiled", "first"):
        dreval.Protocol(frame, **SETTINGS).export(root / name)
        play(root / name, projection)
        if name != "first":
            dreval.Protocol(frame).export(root / name)
            play(root / name, projection, only=lambda task: task[-1] not in "36")
    (root / "spoiled/returned/full.csv").write_text("<html>")
    return root


@pytest.fixture
def enter_copy(folders: Path, fresh_folder: Callable[[], Path], monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return a function that changes to a fresh copy of the folders."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(folders)

    def enter() -> None:
        folder = fresh_folder()
        shutil.copytree(folders, folder, dirs_exist_ok=True)
        os.chdir(folder)

    return enter


def mask_versions(text: str) -> str:
    """Mask what depends on the machine or on Python: hashes, and the layout of options in a help text."""
    text = re.sub(r"usage:.*?(?=^(?:steps|examples?):)", "...\n", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"sha256 [0-9a-f]{12}", "sha256 <hash>", text)


@each("case", DAMAGES, items=2)
def test_a_damaged_folder_raises_an_error_with_the_file(case: str, enter_copy: Callable[[], None]) -> None:
    """The error has file, requirement, input and hint; ``status`` has the same text or counts the file as missing."""
    enter_copy()
    DAMAGES[case]()

    with pytest.raises(ProtocolError) as error:
        dreval.Protocol.collect("tool")
    SNAPSHOTS.check(case, mask_versions(str(error.value)))
    with pytest.raises(ProtocolError):
        dreval.Protocol.collect("tool", partial="not come back" not in case and "another name" not in case)
    if "manifest" not in case:
        status = dreval.Protocol.status("tool")
        not_returned = status.table[status.table["state"] != "returned"]
        assert error.value.argument in {*not_returned["input"], *not_returned["output"]}
        assert all(note in ("", str(error.value)) for note in not_returned["note"])
        assert not status.complete


def test_instructions_of_the_folder(enter_copy: Callable[[], None]) -> None:
    """The README.md of the folder and the shell driver have the stored texts."""
    enter_copy()
    SNAPSHOTS.check("the words for people", Path("tool/README.md").read_text() + Path("tool/run.sh").read_text())


@each("case", COMMANDS)
def test_output_of_commands(case: str, enter_copy: Callable[[], None], capsys: pytest.CaptureFixture[str]) -> None:
    """The output of each command, with its exit code, equals the stored text."""
    enter_copy()
    try:
        code = main(["protocol", *COMMANDS[case]])
    except SystemExit as stop:
        code = int(stop.code or 0)
    out, err = capsys.readouterr()

    SNAPSHOTS.check(case, mask_versions(f"exit code {code}\n{out}{err}"))
