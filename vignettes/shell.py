"""The command line on a page: ``shell("dreval list goals")`` prints the output and returns the exit code."""

from __future__ import annotations

import shlex

from dreval.cli._main import main


def shell(command: str) -> int:
    """Run a command of dreval in this process and folder."""
    program, *arguments = shlex.split(command)
    if program != "dreval":
        raise ValueError(f"`command` must begin with dreval: got {program!r}.")
    return main(arguments)
