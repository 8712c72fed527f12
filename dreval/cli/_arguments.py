"""What all verbs of the command line share: their parser, their words, what is checked first, and how they answer."""

from __future__ import annotations

import argparse
import json
import math
import os
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from dreval.errors import InputError
from dreval.inputs.files import SUFFIXES, split_member

__all__ = [
    "BROKEN",
    "DATA",
    "DONE",
    "FIGURES",
    "NOT_ALL",
    "REFUSED",
    "STOPPED",
    "Say",
    "Verb",
    "add_answer",
    "check_output",
    "check_report",
    "json_text",
    "numbers",
    "pairs",
    "with_command",
    "words",
    "words_or_none",
    "write_files",
]

DONE, NOT_ALL, REFUSED, BROKEN, STOPPED = 0, 1, 2, 3, 130
DATA = f"data file, rows are points: {' '.join(suffix for suffix in SUFFIXES if not suffix.endswith('.gz'))}"
FIGURES = (".png", ".svg", ".pdf")
Say = Callable[[str], None]


class Verb(argparse.ArgumentParser):
    """The parser of a verb: help that stays as it was written, and refusals with their cure."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        settings.setdefault("formatter_class", _Formatter)
        super().__init__(*arguments, **{**settings, "allow_abbrev": False})
        self.set_defaults(parser=self)

    def error(self, message: str) -> NoReturn:
        """Refuse; of words that cannot be placed say how several words are given to one option."""
        stray = message.removeprefix("unrecognized arguments: ")
        if stray != message and not stray.startswith("-"):
            message += " (several words of one option are separated by commas, as in --measures a,b)"
        super().error(message)

    @property
    def flags(self) -> set[str]:
        """Names of the Python arguments that are options here."""
        return {action.dest for action in self._actions if action.option_strings}

    def steps(self, metavar: str) -> Callable[..., Verb]:
        """What adds a verb below this one: ``add(name, run, about, epilog)``; without a verb the help is shown."""
        below = self.add_subparsers(metavar=metavar, parser_class=Verb)
        self.set_defaults(run=None)

        def add(name: str, run: Callable[[Any, Say], int] | None, about: str, epilog: str = "") -> Verb:
            verb: Verb = below.add_parser(name, help=about, description=about, epilog=epilog)
            verb.set_defaults(run=run)
            return verb

        return add


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Help of 80 columns at most."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=min(int(os.environ.get("COLUMNS") or 80), 80))


def add_answer(verb: argparse.ArgumentParser, document: str, *, apart: bool = False) -> Any:
    """``--quiet`` and ``--json``, of which one may be given; ``document`` names the keys of the latter.

    ``apart``: other forms of the answer exclude ``--json``, and ``--quiet`` goes with any of them.
    """
    output = verb.add_mutually_exclusive_group()
    (verb if apart else output).add_argument("--quiet", action="store_true", help="print nothing")
    output.add_argument("--json", action="store_true", help=f"print one JSON document: {document}")
    return output


def words(text: str) -> str | list[str]:
    """Words between commas; "default" and "all" stay."""
    return text if text in ("default", "all") else [word.strip() for word in text.split(",") if word.strip()]


def words_or_none(text: str) -> str | list[str] | None:
    """The same, where "none" is a word too."""
    return None if text == "none" else words(text)


def numbers(text: str) -> list[int]:
    """Whole numbers between commas."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be whole numbers separated by commas: got {text!r}") from None


def neighbors(text: str) -> list[int] | str:
    """Whole numbers between commas, or "auto"."""
    return text if text == "auto" else numbers(text)


def pairs(text: str) -> dict[str, str]:
    """NAME=VALUE pairs between commas."""
    found = [part.partition("=") for part in text.split(",")]
    if not all(name and equals and value for name, equals, value in found):
        raise argparse.ArgumentTypeError(f"must be NAME=VALUE separated by commas: got {text!r}")
    return {name.strip(): value.strip() for name, _, value in found}


def check_output(path: Path | None, argument: str, read: Iterable[str | None], suffixes: Sequence[str] = ()) -> None:
    """Refuse before anything is computed a place where nothing can be written, or where a file that is read lies."""
    if path is None:
        return
    if suffixes and path.suffix.lower() not in suffixes:
        raise InputError(argument, f"must end in {' or '.join(suffixes)}", repr(str(path)), f"Write out{suffixes[0]}.")
    if not path.parent.is_dir():
        raise InputError(argument, "must be in an existing folder", repr(str(path.parent)), "Make the folder first.")
    if path.is_dir():
        raise InputError(argument, "must be a file", f"the folder {str(path)!r}", "Give the name of a file in it.")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        rule = "must be a place where a file can be written"
        raise InputError(argument, rule, repr(str(path)), "Choose another path.")
    files = [split_member(text)[0] for text in read if text]
    if path.exists() and any(os.path.exists(file) and os.path.samefile(file, path) for file in files):
        raise InputError(argument, "must not be a file that is read", repr(str(path)), "Choose another path.")


def check_report(path: Path | None, argument: str, read: Iterable[str | None]) -> None:
    """The same of a report, whose forms the reports know."""
    check_output(path, argument, read)
    if path is None:
        return
    from dreval.report.page import page_target

    try:
        page_target(path)
    except InputError as error:
        raise InputError(argument, error.rule, error.got, error.cure) from error


def with_command(made: Any, options: Any, *more: str) -> Any:
    """A result or comparison whose recipe holds the command line that makes it again."""
    call = shlex.join(["dreval", *options.words, *more])
    return replace(made, recipe={**made.recipe, "call": call})


def write_files(wanted: Iterable[tuple[Path | None, Callable[[Path], Any], str]], say: Say, quiet: bool) -> None:
    """Write the files that were asked for, each by its function, and say where it lies."""
    for path, write, what in wanted:
        if path:
            write(path)
        if path and not quiet:
            say(f"\n{what} written to {path}")


def json_text(document: dict[str, Any]) -> str:
    """One strict JSON document: tables are lists of rows, and numbers that are missing or infinite are null."""
    return json.dumps(_plain(document), indent=1, default=str, allow_nan=False)


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if hasattr(value, "to_dict") and hasattr(value, "columns"):
        return [_plain(row) for row in value.to_dict("records")]
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if hasattr(value, "tolist"):  # numpy's numbers and arrays
        return _plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value
