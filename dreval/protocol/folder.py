"""Files of a protocol folder: their names, and reading and writing without following links."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

from dreval.errors import ProtocolError
from dreval.records.base import write_atomic

FORMATS = ("csv", "parquet")
MANIFEST = "manifest.json"
TASKS = "tasks.csv"
INPUTS = "input"  # folder
RETURNED = "returned"  # folder
MAX_SEED = 2**63  # exclusive; larger numbers are not read back from a table


def place_in(folder: Path, name: str, *, is_folder: bool = False) -> Path:
    """Return the path of a file (or folder) in the folder, which need not exist; every read and write calls it.

    Returned files may come from anyone: nothing is read or written through a link in the folder, and only regular
    files are read. The folder itself may be a link, since the caller named it.

    Raises
    ------
    ProtocolError
        If the file, or a folder on the way to it, is a link or of another kind.
    """
    path, parts = folder, Path(name).parts
    for depth, part in enumerate(parts, 1):
        path = path / part
        if not os.path.lexists(path):
            break
        expected = "a file" if depth == len(parts) and not is_folder else "a folder"
        mode, argument = os.lstat(path).st_mode, "/".join(parts[:depth])
        kinds = {"a file": stat.S_ISREG(mode), "a folder": stat.S_ISDIR(mode)}
        if kinds[expected]:
            continue
        requirement = f"must be {expected}"
        received = next((kind for kind, is_kind in kinds.items() if is_kind), "a pipe or a device")
        if stat.S_ISLNK(mode):
            received = f"a link to {os.readlink(path)!r}"
            if os.path.exists(path):
                requirement = "must be in the folder"
            else:
                received = f"{received}, which leads to nothing"
        hint = f"Delete it, or put {expected} itself in its place."
        if stat.S_ISLNK(mode) and expected == "a folder":
            hint += f" To keep the files on another disk, move all of {str(folder)!r} there: it may be a link itself."
        raise ProtocolError(argument, requirement, received, hint)
    return folder / name


def write_in(folder: Path, name: str, content: str | bytes) -> None:
    """Write a file of the folder."""
    path = place_in(folder, name)
    path.parent.mkdir(exist_ok=True)
    write_atomic(path, content, "folder")


def file_hash(path: Path) -> str:
    """Return the SHA-256 hash of the bytes of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
