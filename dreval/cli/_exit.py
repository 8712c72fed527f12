"""Exit codes of the command line."""

from __future__ import annotations

import textwrap
from enum import IntEnum

WIDTH = 78  # of the lines at the end of a help


class ExitCode(IntEnum):
    """What a command ended with; every command uses these numbers, and no other.

    ``OK``: all was done. ``FAILED``: something failed or is missing, and the rest was done. ``REFUSED``: the input, an
    option or a place to write to is invalid. ``DEFECT``: an error of dreval itself. ``INTERRUPTED``: stopped by Ctrl-C.
    ``WORSE`` and ``UNDECIDED`` are the verdicts of ``dreval check``; no other command ends with them.
    """

    OK = 0
    FAILED = 1
    REFUSED = 2
    DEFECT = 3
    WORSE = 4
    UNDECIDED = 5
    INTERRUPTED = 130


def exit_codes(failed: str = "", ok: str = "done", worse: str = "", undecided: str = "") -> str:
    """Return the lines of a help that list the exit codes; ``failed`` says what code 1 means, if it can occur.

    ``worse`` and ``undecided`` are the same for the verdicts of a check.

    Examples
    --------
    >>> print(exit_codes("some setting failed"))
    exit codes: 0 done, 1 some setting failed, 2 invalid input, 3 internal error,
    130 stopped by Ctrl-C
    """
    meanings = {ExitCode.OK: ok, ExitCode.FAILED: failed, ExitCode.REFUSED: "invalid input"}
    meanings |= {ExitCode.DEFECT: "internal error", ExitCode.WORSE: worse, ExitCode.UNDECIDED: undecided}
    meanings |= {ExitCode.INTERRUPTED: "stopped by Ctrl-C"}
    parts = [f"{code:d} {meaning}" for code, meaning in meanings.items() if meaning]
    listed = ", ".join(part.replace(" ", "\0", -1 if len(part) <= WIDTH // 2 else 1) for part in parts)
    return textwrap.fill(f"exit codes: {listed}", WIDTH).replace("\0", " ")
