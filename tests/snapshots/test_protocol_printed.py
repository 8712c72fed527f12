"""The wording of what the protocol prints and refuses; every way of spoiling a folder has its own error.

The wordings lie in ``protocol.txt``; ``DREVAL_UPDATE_SNAPSHOTS=1 pytest tests/snapshots`` writes them again.
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

RETURNED = Path("tool/returned/transformed-0002.csv")
BASE = Path("tool/returned/data.csv")
FULL = Path("tool/returned/full.csv")


def edited(change: Callable[[pd.DataFrame], pd.DataFrame], path: Path = RETURNED) -> Callable[[], None]:
    """A returned table that was changed."""

    def spoil() -> None:
        change(pd.read_csv(path)).to_csv(path, index=False)

    return spoil


def without_ids(path: Path) -> None:
    """As R writes a table with row names."""
    frame = pd.read_csv(path).drop(columns="id")
    frame.index = range(1, len(frame) + 1)
    frame.to_csv(path)


def cell(row: int, column: str, value: object) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """One cell of a table changed."""

    def change(frame: pd.DataFrame) -> pd.DataFrame:
        frame[column] = frame[column].astype(object)
        frame.loc[row, column] = value
        return frame

    return change


def flipped(path: str) -> Callable[[], None]:
    """A file in which one digit was changed."""

    def spoil() -> None:
        text = Path(path).read_text("utf-8")
        Path(path).write_text(re.sub(r"(\d)(\D*)$", lambda m: f"{(int(m[1]) + 1) % 10}{m[2]}", text), "utf-8")

    return spoil


SPOILED: dict[str, Callable[[], object]] = {
    "a file that has not come back": RETURNED.unlink,
    "a file under another name": lambda: RETURNED.rename(RETURNED.with_suffix(".tsv")),
    "fewer rows": edited(lambda frame: frame.iloc[:-3]),
    "more rows": edited(lambda frame: pd.concat([frame, frame.iloc[:1]])),
    "fewer columns": edited(lambda frame: frame.iloc[:, :-1]),
    "more columns": edited(lambda frame: frame.assign(y9=1.0, y10=2.0)),
    "more columns at full dimension": edited(lambda frame: frame.assign(y8=0.0, y9=1.0), FULL),
    "row names without a name": lambda: without_ids(RETURNED),
    "not a number": edited(cell(4, "y1", np.nan)),
    "infinite": edited(cell(4, "y1", np.inf)),
    "a word": edited(cell(4, "y1", "high")),
    "another id": edited(cell(4, "id", 99)),
    "an id twice": edited(cell(4, "id", 1)),
    "an empty file": lambda: RETURNED.write_text(""),
    "a ragged file": lambda: RETURNED.write_text(RETURNED.read_text() + "1,2\n"),
    "a binary file": lambda: RETURNED.write_bytes(b"PK\x03\x04\0\0"),
    "data that were altered": flipped("tool/input/data.csv"),
    "transformed data that were altered": flipped("tool/input/transformed-0003.csv"),
    "transformed data that are gone": Path("tool/input/transformed-0003.csv").unlink,
    "another embedding of the data": edited(cell(0, "y0", 0.5), BASE),
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
SNAPSHOTS = Snapshots(Path(__file__).with_name("protocol.txt"), [*SPOILED, "the words for people", *COMMANDS])


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders in every state: finished, unfinished, spoiled, of the first round."""
    place = tmp_path_factory.mktemp("protocols")
    frame = pd.DataFrame(X, columns=list("abc"))
    frame.to_csv(place / "data.csv", index=False)
    (frame + 1).to_csv(place / "other.csv", index=False)
    both_rounds(place / "tool", projection, frame)
    for name in ("half", "spoiled", "first"):
        dreval.Protocol(frame, **SETTINGS).export(place / name)
        play(place / name, projection)
        if name != "first":
            dreval.Protocol(frame).export(place / name)
            play(place / name, projection, only=lambda task: task[-1] not in "36")
    (place / "spoiled/returned/full.csv").write_text("<html>")
    return place


@pytest.fixture
def copied(built: Path, fresh_folder: Callable[[], Path], monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Work in another folder with copies of them at each call."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(built)

    def enter() -> None:
        folder = fresh_folder()
        shutil.copytree(built, folder, dirs_exist_ok=True)
        os.chdir(folder)

    return enter


def without_versions(text: str) -> str:
    """Hashes depend on the last bits of a machine, the lay-out of options in a help text on the version of Python."""
    text = re.sub(r"usage:.*?(?=^(?:steps|examples?):)", "...\n", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"sha256 [0-9a-f]{12}", "sha256 <hash>", text)


@each("case", SPOILED, items=2)
def test_a_spoiled_folder_is_refused_by_file(case: str, copied: Callable[[], None]) -> None:
    """The error names the file, the rule, what was got and the cure; ``status`` says the same, or counts it missing."""
    copied()
    SPOILED[case]()

    with pytest.raises(ProtocolError) as caught:
        dreval.Protocol.collect("tool")
    SNAPSHOTS.check(case, without_versions(str(caught.value)))
    with pytest.raises(ProtocolError):
        dreval.Protocol.collect("tool", partial="not come back" not in case and "another name" not in case)
    if "manifest" not in case:
        status = dreval.Protocol.status("tool")
        bad = status.table[status.table["state"] != "returned"]
        assert caught.value.argument in {*bad["input"], *bad["output"]}
        assert all(note in ("", str(caught.value)) for note in bad["note"])
        assert not status.complete


def test_the_words_for_people(copied: Callable[[], None]) -> None:
    """README.md of the folder, and the shell driver."""
    copied()
    SNAPSHOTS.check("the words for people", Path("tool/README.md").read_text() + Path("tool/run.sh").read_text())


@each("case", COMMANDS)
def test_commands_print(case: str, copied: Callable[[], None], capsys: pytest.CaptureFixture[str]) -> None:
    """What the command line prints, with its exit code."""
    copied()
    try:
        code = main(["protocol", *COMMANDS[case]])
    except SystemExit as stop:
        code = int(stop.code or 0)
    out, err = capsys.readouterr()

    SNAPSHOTS.check(case, without_versions(f"exit code {code}\n{out}{err}"))
