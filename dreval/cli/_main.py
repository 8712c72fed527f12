"""The command line: the Python functions with the same names and defaults.

Exit codes: 0 done, 1 something failed or is missing, 2 invalid input, 3 an internal error, 130 stopped by Ctrl-C. With
``--json`` stdout is one JSON document; errors and progress go to stderr.

Each file of this folder without a leading underscore is a command, which its function ``add_command`` adds.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, NoReturn

from dreval import __version__
from dreval._check import did_you_mean, nearest_name
from dreval.cli._arguments import one_of
from dreval.errors import DrevalError, DrevalWarning, EmbeddingFailed, InputError, usable_stderr
from dreval.glossary import PAPER_PARTS, TEXT_FORMS, printable
from dreval.inputs.kinds import split_member
from dreval.records.base import FixedDict, refuse_journal
from dreval.records.frames import notes_of_table, rows_with_notes
from dreval.records.notes import FIRST_ROW_CODES, Note, join_notes
from dreval.records.provenance import to_plain
from dreval.registry import METHODS, REGISTRIES_BY_KIND

DONE = 0  # exit codes
INCOMPLETE = 1
INVALID_INPUT = 2
INTERNAL_ERROR = 3
INTERRUPTED = 130
FIGURES = (".png", ".svg", ".pdf")
Printer = Callable[[str], None]


class CommandParser(argparse.ArgumentParser):
    """The parser of a command: help texts keep their line breaks, and errors say what to do."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        settings.setdefault("formatter_class", _Formatter)
        super().__init__(*arguments, **{**settings, "allow_abbrev": False})
        self.set_defaults(parser=self)

    def error(self, message: str) -> NoReturn:
        """Report an error; for unrecognized arguments, suggest the nearest option or the right form of the argument."""
        unrecognized = message.removeprefix("unrecognized arguments: ")
        argument = unrecognized.split()[0] if unrecognized.strip() else ""
        if argument in ("-e", "--embedding"):
            message += " (pass embeddings to dreval evaluate; dreval compare reads the results that its --save writes)"
        elif unrecognized != message and "embedding" in self.flags and (argument in METHODS or Path(argument).suffix):
            message += f" (embeddings are named by -e, as in -e {argument})"
        elif unrecognized != message and not unrecognized.startswith("-"):
            message += " (several values of one option are separated by commas, as in --measures a,b)"
        elif unrecognized != message:
            nearest = nearest_name(argument.partition("=")[0].strip("-").replace("-", "_"), self.flags)
            message += f" (did you mean --{nearest.replace('_', '-')}?)" if nearest else ""
        super().error(printable(message))

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Check that a value is one of the choices; the error suggests the nearest."""
        choices = [str(choice) for choice in action.choices or ()]
        if choices and value not in choices and (question := did_you_mean(value, choices)):
            options = ", ".join(map(repr, choices))
            raise argparse.ArgumentError(action, f"invalid choice: {value!r}. {question}Choose from {options}.")
        super()._check_value(action, value)

    def _get_value(self, action: argparse.Action, text: str) -> Any:
        """Convert a value; the error for an invalid number says which kind of number is required."""
        try:
            return super()._get_value(action, text)
        except argparse.ArgumentError as error:
            kinds = {int: "an integer", float: "a number with a decimal point"}
            if (kind := kinds.get(action.type)) is None:  # type: ignore[call-overload]
                raise
            raise argparse.ArgumentError(action, f"must be {kind}: got {text!r}") from error

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the arguments; report those that this parser does not have, since it has the nearest options."""
        options, unrecognized = super().parse_known_args(args, namespace)
        if unrecognized:
            self.error(f"unrecognized arguments: {' '.join(unrecognized)}")
        return options, unrecognized

    @property
    def flags(self) -> set[str]:
        """Names of the Python arguments that are options of this command."""
        return {action.dest for action in self._actions if action.option_strings}

    def steps(self, metavar: str) -> Callable[..., CommandParser]:
        """Return a function ``add(name, run, about, epilog)`` that adds subcommands; without one, print the help."""
        subparsers = self.add_subparsers(metavar=metavar, parser_class=CommandParser)
        self.set_defaults(run=None)

        def add(name: str, run: Callable[[Any, Printer], int] | None, about: str, epilog: str = "") -> CommandParser:
            parser: CommandParser = subparsers.add_parser(name, help=about, description=about, epilog=epilog)
            parser.set_defaults(run=run)
            return parser

        return add


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Formatter of help texts of at most 80 columns."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=min(int(os.environ.get("COLUMNS") or 80), 80))


def add_answer(parser: argparse.ArgumentParser, document: str, *, with_quiet: bool = False) -> Any:
    """Add the options ``--quiet`` and ``--json``, which exclude each other; ``document`` lists the keys of the JSON.

    With ``with_quiet``, ``--quiet`` goes with any output format, and the caller adds more formats to the group.
    """
    output = parser.add_mutually_exclusive_group()
    (parser if with_quiet else output).add_argument("--quiet", action="store_true", help="print nothing")
    output.add_argument("--json", action="store_true", help=f"print one JSON document: {document}")
    return output


def add_paragraph(output: Any) -> None:
    """Add the option ``--paragraph`` to the formats of the output."""
    output.add_argument(
        "--paragraph",
        metavar="FORMAT",
        **one_of(TEXT_FORMS),
        help=f"print the results and the methods for a paper: {', '.join(TEXT_FORMS)}",
    )


def paragraphs(record: Any, form: str) -> str:
    """Return the results and the methods as paragraphs for a paper."""
    from dreval.report.documents.paragraph import paragraph

    return "\n\n".join(paragraph(record, part, form) for part in PAPER_PARTS)


def check_output(path: Path | None, argument: str, read: Iterable[str | None], suffixes: Sequence[str] = ()) -> None:
    """Check, before anything is computed, that a file can be written and is not one of the files ``read``.

    Nor may it be the file of a study or a journal. ``check_different`` compares the outputs of one command.
    """
    if path is None:
        return
    if suffixes and path.suffix.lower() not in suffixes:
        raise InputError(argument, f"must end in {' or '.join(suffixes)}", repr(str(path)), f"Write out{suffixes[0]}.")
    if not path.parent.is_dir():
        raise InputError(argument, "must be in an existing folder", repr(str(path.parent)), "Create the folder first.")
    if path.is_dir():
        raise InputError(argument, "must be a file", f"the folder {str(path)!r}", "Name a file in it.")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        requirement = "must be a place where a file can be written"
        raise InputError(argument, requirement, repr(str(path)), "Choose another path.")
    files = [split_member(text)[0] for text in read if text]
    if path.exists() and any(os.path.exists(file) and os.path.samefile(file, path) for file in files):
        raise InputError(argument, "must not be a file that is read", repr(str(path)), "Choose another path.")
    refuse_journal(path, argument)


def check_different(outputs: Iterable[tuple[str, Path | None]]) -> None:
    """Check that the output files of one command, each with its option, are different."""
    options: dict[str, str] = {}
    for argument, path in outputs:
        if path is None:
            continue
        file = os.path.realpath(path)
        if file in options:
            requirement = f"must not be a file that {options[file]} writes too"
            raise InputError(argument, requirement, repr(str(path)), "Choose another path.")
        options[file] = argument


def check_report(path: Path | None, argument: str, read: Iterable[str | None]) -> None:
    """Check the path of a report, whose suffix must be that of a report format."""
    check_output(path, argument, read)
    if path is None:
        return
    from dreval.report.write import page_target

    with option(argument):
        page_target(path)


def with_option_name(note: Note, options: Any) -> Note:
    """Return a note on a variable, a file or intervals with the option in place of the Python argument."""
    name, _, reason = note.code.partition(".")
    if note.code in FIRST_ROW_CODES and "header" in options.parser.flags:
        return note.with_values(remedy=f"pass --header {'yes' if dict(note.values)['header'] else 'no'}")
    if note.code == "interval.coordinates":
        return note.with_values(way="--ci replicates")
    return note.with_values(way=f"--{name}") if reason == "none" and name in options.parser.flags else note


def with_option_names(results: Any, options: Any) -> Any:
    """Return a copy of a result whose notes name options in place of Python arguments."""
    renamed = [with_option_name(note, options) for note in notes_of_table(results.notes)]
    notes = results.notes.assign(
        values=[FixedDict(note.values) for note in renamed], text=[note.text for note in renamed]
    )
    table = results.table.assign(note=[join_notes(row["notes"]) for row in rows_with_notes(results.table, notes)])
    return replace(results, table=table, notes=notes)


def with_command(record: Any, options: Any, *arguments: str) -> Any:
    """Return a copy of a result or comparison whose recipe holds the command line that reproduces it."""
    call = shlex.join(["dreval", *options.command, *arguments])
    return replace(record, recipe={**record.recipe, "call": call})


@contextmanager
def option(argument: str) -> Iterator[None]:
    """Rename the path of an output in errors of a block to the option that has it."""
    try:
        yield
    except DrevalError as error:
        raise error.named(dict.fromkeys(("path", "plot"), argument)) from error


def write_files(
    outputs: Iterable[tuple[str, Path | None, Callable[[Path], Any], str]], say: Printer, quiet: bool
) -> None:
    """Write the requested files and print their paths; an output is its option, path, function and noun."""
    for argument, path, write, noun in outputs:
        if path is None:
            continue
        with option(argument):
            write(path)
        if not quiet:
            say(f"\n{noun} written to {path}")


def json_text(document: dict[str, Any]) -> str:
    """Return one strict JSON document: tables are lists of rows; missing and infinite numbers are null."""
    return json.dumps(to_plain(document, strict=True), indent=1, allow_nan=False)


EPILOG = """examples:
  dreval evaluate data.csv -e umap=umap.csv -e isomap --report report.html
  dreval embed data.csv isomap isomap.csv
  dreval list methods

dreval COMMAND --help has examples of each command. Exit codes: 0 done,
1 something failed or is missing, 2 invalid input, 3 internal error of dreval,
130 stopped by Ctrl-C. With DREVAL_DEBUG=1 every error has its traceback."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    options = _parser().parse_args(arguments)
    options.command = list(sys.argv[1:] if arguments is None else arguments)
    if hasattr(sys.stdout, "reconfigure"):  # a name that the terminal cannot encode must not stop the output
        sys.stdout.reconfigure(errors="backslashreplace")
    if os.environ.get("DREVAL_DEBUG", "0") not in ("", "0"):
        return _run(options)
    try:
        with _InternalErrors():
            return _run(options)
    except KeyboardInterrupt:
        hint = "; the same command continues from here" if getattr(options, "journal", None) else ""
        _print_error(f"stopped{hint}")
        return INTERRUPTED
    except MemoryError as error:
        _print_error(f"out of memory ({' '.join(str(error).split()) or 'no details'})")
        return INVALID_INPUT
    except DrevalError as error:
        _print_error(error.named(_flags(options)))
        return INVALID_INPUT
    except OSError as error:
        _print_error(error)
        return INVALID_INPUT


def _flags(options: Any) -> dict[str, str]:
    """Return the options of a command, and commands that list names, by the Python arguments and functions."""
    flags = {name: f"--{name.replace('_', '-')}" for name in options.parser.flags}
    flags |= {
        call: f"dreval list {registry.plural}" for registry in REGISTRIES_BY_KIND.values() for call in registry.listing
    }
    return flags | {"options['replicates']['n_replicates']": "--n-replicates"}


class _InternalErrors:
    """A context in which an internal error ends with a message and its exit code instead of a traceback."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        if not isinstance(error, Exception) or isinstance(error, DrevalError | OSError | MemoryError):
            return
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        _print_error(f"internal error of dreval, not of its input ({reason})")
        _print_error("set DREVAL_DEBUG=1 to see the traceback; please report it")
        raise SystemExit(INTERNAL_ERROR) from None


def _run(options: Any) -> int:
    """Run the command, or print the help of a command that needs a subcommand."""
    output = _Output()
    if options.run is None:
        output.say(options.parser.format_help().rstrip())
        output.check()
        return DONE
    quiet = getattr(options, "quiet", False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if quiet else "default", DrevalWarning)
        warnings.simplefilter("default", EmbeddingFailed)
        warnings.showwarning = partial(_show_warning, options)
        code = int(options.run(options, (lambda _: None) if quiet else output.say))
    output.check()
    return code


class _Output:
    """The output on stdout. If it cannot be written, the command continues, and ``check`` raises the error at its end.

    It is no error that the reader of the output ended first, as in `dreval ... | head -1`.
    """

    def __init__(self) -> None:
        self.error: OSError | None = None

    def say(self, text: str) -> None:
        """Print a text."""
        try:
            print(printable(text, keep="\n\t"), flush=True)
        except OSError as error:
            self.error = None if isinstance(error, BrokenPipeError) else error
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    def check(self) -> None:
        """Raise an error if the output could not be written."""
        if self.error is not None:
            received, hint = str(self.error.strerror).lower(), "Free space there, or send the output elsewhere."
            raise InputError("stdout", "must be a place that output can be written to", received, hint) from self.error


def _show_warning(options: Any, message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a warning as one line, without its place in the source."""
    if isinstance(message, EmbeddingFailed):
        message = message.named(_flags(options))
    note = getattr(message, "note", None)
    _print_error(message if note is None else with_option_name(note, options))


def _print_error(message: object) -> None:
    """Print a line on stderr, which may be closed (by services and ``2>&-``) or full."""
    with usable_stderr(), suppress(OSError):
        print(f"dreval: {printable(message)}", file=sys.stderr)


def _parser() -> CommandParser:
    parser = CommandParser(prog="dreval", description="Formal evaluation of dimensionality reduction.", epilog=EPILOG)
    parser.add_argument("--version", action="version", version=f"dreval {__version__}")
    add = parser.steps("COMMAND")
    for module in iter_modules([str(Path(__file__).parent)]):
        if not module.name.startswith("_"):
            import_module(f"dreval.cli.{module.name}").add_command(add)
    return parser
