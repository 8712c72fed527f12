"""The command line: the Python functions with the same names and defaults.

Each file of this folder without a leading underscore is a command, which its function ``add_command`` adds. With
``--json`` stdout is one JSON document; errors, notices and progress go to stderr. ``ExitCode`` lists the exit codes.
"""

from __future__ import annotations

import argparse
import os
import sys
import textwrap
import traceback
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, NoReturn

from dreval import __version__
from dreval._check import did_you_mean, nearest_name
from dreval._text import printable
from dreval.cli._arguments import StoreOnce
from dreval.cli._exit import ExitCode, exit_codes
from dreval.cli._output import Printer, with_option_name
from dreval.errors import DrevalError, DrevalWarning, EmbeddingFailed, InputError, usable_stderr
from dreval.registry import METHODS, REGISTRIES_BY_KIND

COMMAND_WIDTH = 13  # of the longest command with its indentation, which argparse does not add


class CommandParser(argparse.ArgumentParser):
    """The parser of a command: help texts keep their line breaks, and errors say what to do."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        settings.setdefault("formatter_class", _Formatter)
        super().__init__(*arguments, **{**settings, "allow_abbrev": False})
        self.register("action", None, StoreOnce)
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
            names = {flag.removeprefix("--").replace("-", "_"): flag for flag in self.flags.values()}
            nearest = nearest_name(argument.partition("=")[0].strip("-").replace("-", "_"), names)
            message += f" (did you mean {names[nearest]}?)" if nearest else ""
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
            kinds = {int: "an integer", float: "a number (decimals after a point)"}
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
    def flags(self) -> dict[str, str]:
        """The options of this command by the names of the Python arguments."""
        return {action.dest: max(action.option_strings, key=len) for action in self._actions if action.option_strings}

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
        self._action_max_length = COMMAND_WIDTH

    def _format_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None) -> str:
        """Return the usage with the required arguments only; the others are listed below it."""
        required = [action for action in actions if action.required or not action.option_strings]
        text = super()._format_usage(usage, required, [], prefix)
        return text if len(required) == len(actions) else text.replace(self._prog, f"{self._prog} [options]", 1)

    def _split_lines(self, text: str, width: int) -> list[str]:
        """Return the lines of the help of an option, which may have a line for each choice."""
        if "\n" not in text:
            return super()._split_lines(text, width)
        return [part for line in text.splitlines() for part in textwrap.wrap(line, width, subsequent_indent="  ")]


EPILOG = f"""examples:
  dreval evaluate data.csv -e umap=umap.csv -e isomap --save out.dreval
  dreval show out.dreval --full
  dreval list

dreval COMMAND --help has examples of each command.

{exit_codes("something failed or is missing")}
With DREVAL_DEBUG=1 every error has its traceback; DREVAL_NOTICES=0 hides the
notice that loops are compiled."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    options = _parser().parse_args(arguments)
    options.command = list(sys.argv[1:] if arguments is None else arguments)
    if hasattr(sys.stdout, "reconfigure"):  # a name that the terminal cannot encode must not stop the output
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        with _InternalErrors():
            return _run(options)
    except KeyboardInterrupt:
        hint = "; the same command continues from here" if getattr(options, "journal", None) else ""
        _print_error(f"stopped{hint}")
        return ExitCode.INTERRUPTED
    except MemoryError as error:
        _print_error(f"out of memory ({' '.join(str(error).split()) or 'no details'})")
        return ExitCode.REFUSED
    except DrevalError as error:
        _print_error(error.named(_flags(options), shell=True))
        return ExitCode.REFUSED
    except OSError as error:
        _print_error(error)
        return ExitCode.REFUSED


def _flags(options: Any) -> dict[str, str]:
    """Return the options of a command, and commands that list names, by the Python arguments and functions."""
    calls = {
        call: f"dreval list {registry.plural}" for registry in REGISTRIES_BY_KIND.values() for call in registry.listing
    }
    calls |= {"dreval.Evaluation": "dreval evaluate", "`save` of a result": "--save"}
    positional = {"X": "data", "journal": "file"}  # by their names in Python; a command may have one as an option
    return positional | options.parser.flags | calls | {"options['replicates']['n_replicates']": "--n-replicates"}


class _InternalErrors:
    """A context in which an internal error ends with a message and its exit code instead of a traceback.

    With DREVAL_DEBUG=1 the traceback of every error is printed first; the exit code is the same.
    """

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        debugs = os.environ.get("DREVAL_DEBUG", "0") not in ("", "0")
        if debugs and error is not None and not isinstance(error, SystemExit):
            with usable_stderr(), suppress(OSError):
                traceback.print_exception(error)
        if not isinstance(error, Exception) or isinstance(error, DrevalError | OSError | MemoryError):
            return
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        _print_error(f"internal error of dreval, not of its input ({reason})")
        _print_error("please report it" if debugs else "set DREVAL_DEBUG=1 to see the traceback; please report it")
        raise SystemExit(ExitCode.DEFECT) from None


def _run(options: Any) -> int:
    """Run the command, or print the help of a command that needs a subcommand."""
    output = _Output()
    if options.run is None:
        output.say(options.parser.format_help().rstrip())
        output.check()
        return ExitCode.OK
    quiet = getattr(options, "quiet", False)
    if quiet:
        os.environ["DREVAL_NOTICES"] = "0"
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
        message = message.named(_flags(options), shell=True)
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
