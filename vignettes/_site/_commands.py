"""The page of the command line, read off the parser itself."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from _site._text import code, page, plain, table, title, write
from dreval.cli._main import _parser

WORDS = (
    "The same words and defaults as in Python. ``dreval`` exits with 0 when all is done, with 1 when some embedding "
    "failed (the others are still evaluated), with 2 when the input was refused, with 3 after a defect in dreval, "
    "and with 130 when it was stopped by Ctrl-C; every refusal says what was wrong, where, and what to do."
)


def write_commands(folder: Path) -> list[str]:
    """Write the page; its name below the folder."""
    pieces = [
        title("Command line"),
        WORDS,
    ]
    for parser in _leaves(_parser()):
        pieces += [title(parser.prog, "-"), plain(parser.description or "")]
        rows = [(_named(action), plain(_help(action))) for action in parser._actions if action.dest != "help"]
        pieces.append(table(["argument", "what it is"], rows, "32 68"))
        if parser.epilog:
            pieces.append(".. code-block:: sh\n\n" + "\n".join(f"    {line}" for line in parser.epilog.splitlines()))
    write(folder / "commands.rst", page(*pieces))
    return ["commands"]


def _leaves(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The parsers of single commands, below those that only choose one."""
    groups = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not groups:
        yield parser
    for group in groups:
        for below in group.choices.values():
            yield from _leaves(below)


def _named(action: argparse.Action) -> str:
    """An argument as it is typed."""
    if action.nargs == 0:
        return ", ".join(code(option) for option in action.option_strings)
    value = action.metavar or ("{" + ",".join(map(str, action.choices)) + "}" if action.choices else action.dest)
    value = value if isinstance(value, str) else " ".join(value)
    if not action.option_strings:
        return code(value)
    shown = value if action.metavar or action.choices else value.upper()
    return ", ".join(code(f"{option} {shown}") for option in action.option_strings)


def _help(action: argparse.Action) -> str:
    """What the parser says of it, its percent signs filled in."""
    return (action.help or "") % {**vars(action), "prog": "dreval"} if action.help else ""
