"""Files written whole: whoever reads one finds the old content or the new one, never a part of it."""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from dreval.errors import DrevalError, InputError

NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
OWN = re.compile(r"/(?:dev/fd|proc/self/fd|dev)/(\d+|stdout|stderr)")  # a descriptor of this process, by its path
STANDARD = {"stdout": 1, "stderr": 2}
BINARY = getattr(os, "O_BINARY", 0)  # only Windows has it
_MAGIC = b"SQLite format 3\0"


def is_journal(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a journal (a study, or a store of a run) by its first bytes."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def refuse_journal(path: str | os.PathLike[str], argument: str) -> None:
    """Raise an error for the file of a study or a store: finished work is not overwritten by what is made of it."""
    if is_journal(path):
        got = f"{os.fspath(path)!r}, which holds the finished work of a study or a run"
        raise InputError(argument, "must not be the file of a study or a store", got, "Choose another path.")


def write_whole(path: str | os.PathLike[str], content: str | bytes, argument: str = "path") -> Path:
    """Write a file whole, text as UTF-8; see ``whole_file``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(pathlib.Path(folder) / "a.txt", "good").read_text()
    'good'
    """
    with whole_file(path, argument) as file:
        file.write(content.encode("utf-8") if isinstance(content, str) else content)
    return Path(path)


@contextmanager
def whole_file(path: str | os.PathLike[str], argument: str = "path") -> Iterator[BinaryIO]:
    """A file open for writing that takes the place of ``path`` when the block ends, and only then.

    The content goes to a temporary file in the same folder (``.NAME.XXXX.part``, which a killed process leaves behind
    and which may be deleted), is forced to the disk, and is renamed. An error, an interrupt or a full disk leaves what
    was there. The file of a study or a store is not replaced. A link keeps pointing at its file, whose permissions are
    kept; another hard link to it keeps the old content. ``/dev/stdout``, a pipe and a device are written as they are.

    Raises
    ------
    InputError
        If the file cannot be written, or is that of a study or a store.
    """
    target = Path(os.path.realpath(path))
    try:
        old = target.stat() if target.exists() else None
        if (own := OWN.fullmatch(os.path.abspath(path))) is not None:
            with open(os.dup(STANDARD.get(own[1]) or int(own[1])), "wb") as file:
                yield file
            return
        if old is not None and not (stat.S_ISREG(old.st_mode) or stat.S_ISDIR(old.st_mode)):
            with open(target, "wb") as file:
                yield file
            return
        if old is not None and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        refuse_journal(target, argument)
        part = target.with_name(f".{target.name[:40]}.{secrets.token_hex(4)}.part")
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | BINARY, 0o666)
        try:
            with open(descriptor, "wb") as file:
                if old is not None:
                    _keep_owner(descriptor, old)
                yield file
                file.flush()
                os.fsync(descriptor)
            os.replace(part, target)
        except BaseException:
            with suppress(FileNotFoundError):
                part.unlink()
            raise
        _sync_folder(target.parent)
    except DrevalError:
        raise
    except OSError as cause:
        reason = cause.strerror or str(cause)
        rule, cure = "must be a place where a file can be written", "Choose another path."
        if cause.errno in NO_ROOM:
            rule, cure = "must be on a disk with room for it", "Free some space, or choose another disk."
        raise InputError(argument, rule, f"{os.fspath(path)!r} ({reason})", cure) from cause


def _keep_owner(descriptor: int, old: os.stat_result) -> None:
    """Give the new file the permissions of the old one, and its owner where that is allowed."""
    if hasattr(os, "fchmod"):
        with suppress(PermissionError):
            os.fchown(descriptor, old.st_uid, old.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(old.st_mode))


def _sync_folder(folder: Path) -> None:
    """Force the new name to the disk, where folders can be opened."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
