"""Paths as users write them: ``file.csv``, ``file.csv:column``, ``file.npz:name``, with or without a drive letter."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from dreval._check import nearest_name, resolve_alias
from dreval.errors import InputError, MissingFile, UnknownName

SUFFIXES = (".csv", ".csv.gz", ".h5ad", ".mtx", ".npy", ".npz", ".parquet", ".tsv", ".tsv.gz", ".zarr")
_MEMBER = re.compile(
    r"(?P<path>.+?\.(?:csv\.gz|tsv\.gz|csv|tsv|npz|parquet|npy|mtx|h5ad|zarr)):(?P<member>[^/\\].*)", re.I | re.S
)
_WEB = re.compile(r"[a-z][a-z0-9+.-]+://", re.I)


@dataclass(frozen=True)
class Located:
    """An existing file, its suffix in lower case, and the column or array named after it."""

    path: Path
    suffix: str
    member: str | None


def split_member(path: str) -> tuple[str, str | None]:
    """Split ``"labels.csv:species"`` into file and column.

    A drive letter is not split off, and neither is a part of an existing file that has this very name.
    """
    match = None if os.path.exists(path) else _MEMBER.fullmatch(path)
    return (match["path"], match["member"]) if match else (path, None)


def suffix_of(path: str) -> str:
    """Return the known suffix of a path in lower case, else its last suffix."""
    lower = path.lower()
    matching = [suffix for suffix in SUFFIXES if lower.endswith(suffix)]
    return max(matching, key=len) if matching else os.path.splitext(lower)[1]


def stem_of(path: str | os.PathLike[str]) -> str:
    """Return the name of a file without folder, member and known suffix: ``"a/my.v2.csv.gz"`` is ``my.v2``."""
    name = os.path.basename(split_member(os.fspath(path))[0])
    return name[: len(name) - len(suffix_of(name))] or name


def has_suffix(text: str) -> bool:
    """Check whether a string ends like the path of a table file (with or without a member)."""
    return suffix_of(split_member(text)[0]) in SUFFIXES


def is_path(value: object) -> bool:
    """Check whether a value is a path: a path object, an existing file, or a name with a known suffix."""
    if isinstance(value, os.PathLike):
        return True
    return isinstance(value, str) and (has_suffix(value) or ("\0" not in value and os.path.isfile(value)))


def nearest_file(path: str) -> str | None:
    """Return the most similar name of a file in its folder, or None; without a suffix, the file of that name."""
    folder, name = os.path.split(path)
    try:
        entries = sorted(os.listdir(folder or "."))
    except (OSError, ValueError):
        return None
    if os.path.splitext(name)[1]:
        return nearest_name(name, entries if has_suffix(name) else filter(has_suffix, entries))
    stems = {entry.split(".")[0]: entry for entry in entries if has_suffix(entry)}
    near = nearest_name(name, stems) if folder else resolve_alias(name, stems)
    return stems.get(near or "")


def locate(path: str | os.PathLike[str], argument: str) -> Located:
    """Return the file that a path names; an error says why there is none."""
    text = os.path.expanduser(os.fspath(path))
    if _WEB.match(text):
        raise InputError(
            argument, "must be a local file", repr(text), "Download it first and pass the path of the copy."
        )
    if "\0" in text:
        raise InputError(argument, "must be a path", repr(text), "Remove the null character.")
    name, member = split_member(text)
    if not os.path.exists(name):
        raise _missing(name, argument)
    suffix = suffix_of(name)
    if os.path.isdir(name) and suffix != ".zarr":
        raise InputError(argument, "must be a file", f"the folder {name!r}", "Name a file within it.")
    if suffix not in SUFFIXES:
        listed = ", ".join(SUFFIXES)
        array = f'open it by h5py and pass an array of it, h5py.File({name!r})["name"]'
        alternative = array if suffix in (".h5", ".hdf5") else "load it yourself and pass the array"
        if suffix in (".txt", ".dat"):
            alternative = "rename it, to .tsv where tabs separate its columns"
        hint = f"Known: {listed}. Save the table as one of them, or {alternative}."
        raise InputError(argument, "must be a table file of a known kind", f"{name!r}", hint)
    if os.path.getsize(name) == 0:
        raise InputError(argument, "must not be empty", f"{name!r} of 0 bytes", "Write the file again.")
    return Located(Path(name), suffix, member)


def _missing(name: str, argument: str) -> UnknownName:
    """Return the error for a file that does not exist."""
    folder = os.path.dirname(name)
    near = nearest_file(name)
    if folder and not os.path.isdir(folder):
        hint = f"The folder {folder!r} does not exist either."
    elif near:
        hint = f"Did you mean {os.path.join(folder, near)!r}?"
    else:
        hint = f"No file in {folder or os.curdir!r} has a similar name."
    return MissingFile(argument, "must be an existing file", repr(name), hint)
