"""The command line: the names and defaults of the Python functions, no numerics of its own.

Exit codes: 0 done, 1 done but something failed or is missing, 2 refused, 3 a defect in dreval, 130 stopped by Ctrl-C.
With ``--json`` stdout holds one JSON document and nothing else; errors and progress go to stderr.

A file of this folder without a leading underscore is one verb: its function ``add_verb`` adds it to the parser.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shlex
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, NoReturn

from dreval import __version__
from dreval._check import did_you_mean, known_name, nearest_name
from dreval.errors import DrevalError, DrevalWarning, EmbeddingFailed, InputError, usable_stderr
from dreval.glossary import PAPER_PARTS, TEXT_FORMS, printable
from dreval.inputs.paths import SUFFIXES, split_member
from dreval.records.base import FixedDict, refuse_journal
from dreval.records.frames import noted_rows, notes_in
from dreval.records.notes import FIRST_ROW_CODES, Note, joined
from dreval.registry import KINDS, METHODS

DONE, NOT_ALL, REFUSED, BROKEN, STOPPED = 0, 1, 2, 3, 130
DATA = f"data file, rows are points: {' '.join(suffix for suffix in SUFFIXES if not suffix.endswith('.gz'))}"
FIGURES = (".png", ".svg", ".pdf")
Say = Callable[[str], None]


class Verb(argparse.ArgumentParser):
    """The parser of a verb: help texts keep their line breaks, and errors say what to do."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        settings.setdefault("formatter_class", _Formatter)
        super().__init__(*arguments, **{**settings, "allow_abbrev": False})
        self.set_defaults(parser=self)

    def error(self, message: str) -> NoReturn:
        """Report an error; unrecognized arguments get the nearest option, or how one option takes several values."""
        stray = message.removeprefix("unrecognized arguments: ")
        first = stray.split()[0] if stray.strip() else ""
        if first in ("-e", "--embedding"):
            message += " (embeddings are given to dreval evaluate; what its --save writes is read by dreval compare)"
        elif stray != message and "embedding" in self.flags and (first in METHODS or Path(first).suffix):
            message += f" (embeddings are named by -e, as in -e {first})"
        elif stray != message and not stray.startswith("-"):
            message += " (several values of one option are separated by commas, as in --measures a,b)"
        elif stray != message:
            near = nearest_name(stray.split()[0].partition("=")[0].strip("-").replace("-", "_"), self.flags)
            message += f" (did you mean --{near.replace('_', '-')}?)" if near else ""
        super().error(printable(message))

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a word that is none of the choices, with the nearest of them."""
        choices = [str(choice) for choice in action.choices or ()]
        if choices and value not in choices and (near := did_you_mean(value, choices)):
            listed = ", ".join(map(repr, choices))
            raise argparse.ArgumentError(action, f"invalid choice: {value!r}. {near}Choose from {listed}.")
        super()._check_value(action, value)

    def _get_value(self, action: argparse.Action, text: str) -> Any:
        """Read a value; the error for what is no number says which one it must be."""
        try:
            return super()._get_value(action, text)
        except argparse.ArgumentError as error:
            rules = {int: "an integer", float: "a number with a decimal point"}
            if (rule := rules.get(action.type)) is None:  # type: ignore[call-overload]
                raise
            raise argparse.ArgumentError(action, f"must be {rule}: got {text!r}") from error

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse; the verb itself, whose options are known here, refuses what is not one of them."""
        found, stray = super().parse_known_args(args, namespace)
        if stray:
            self.error(f"unrecognized arguments: {' '.join(stray)}")
        return found, stray

    @property
    def flags(self) -> set[str]:
        """Names of the Python arguments that are options here."""
        return {action.dest for action in self._actions if action.option_strings}

    def steps(self, metavar: str) -> Callable[..., Verb]:
        """A function ``add(name, run, about, epilog)`` that adds subcommands; the verb alone prints its help."""
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


def add_answer(verb: argparse.ArgumentParser, document: str, *, with_quiet: bool = False) -> Any:
    """Add the options ``--quiet`` and ``--json``, which exclude each other; ``document`` lists the keys of the JSON.

    With ``with_quiet``, ``--quiet`` goes with any output format, and the caller adds more formats to the group.
    """
    output = verb.add_mutually_exclusive_group()
    (verb if with_quiet else output).add_argument("--quiet", action="store_true", help="print nothing")
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
    """The results and the methods for a paper."""
    from dreval.report.contents.paragraph import paragraph

    return "\n\n".join(paragraph(record, part, form) for part in PAPER_PARTS)


def names(text: str) -> str | list[str]:
    """Names separated by commas; "default" and "all" stay as they are."""
    return text if text in ("default", "all") else [word.strip() for word in text.split(",") if word.strip()]


def names_or_none(text: str) -> str | list[str] | None:
    """Names separated by commas, or None for "none"."""
    return None if text == "none" else names(text)


def integers(text: str) -> list[int]:
    """Integers separated by commas."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be integers separated by commas: got {text!r}") from None


def one_of(options: Collection[str]) -> dict[str, Any]:
    """The settings of an option with fixed words, which is understood in capitals and by usual other words too."""
    return {"type": partial(known_name, options=options), "choices": options}


def add_header(arguments: Any, default: str | None = "auto") -> None:
    """Add the option ``--header``, with the values of Python's ``header``."""
    arguments.add_argument(
        "--header", type=_header, default=default, metavar="WORD",
        help="the first row of each text file has the column names (yes), is data (no), or auto",
    )  # fmt: skip


def _header(text: str) -> bool | str:
    """Whether the first row has names: yes, no or auto."""
    words: dict[str, bool | str] = {"auto": "auto", "yes": True, "true": True, "no": False, "false": False}
    if text.lower() not in words:
        raise argparse.ArgumentTypeError(f"must be yes, no or auto: got {text!r}")
    return words[text.lower()]


def anchors(text: str) -> int | str:
    """A number of anchors, "auto" or "none"."""
    if text in ("auto", "none"):
        return text
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be an integer, auto or none: got {text!r}") from None


def neighbors(text: str) -> list[int] | str:
    """Integers separated by commas, or "auto"."""
    return text if text == "auto" else integers(text)


def pairs(text: str, form: str = "NAME=VALUE separated by commas") -> dict[str, str]:
    """NAME=VALUE pairs separated by commas, as a dict; ``form`` is what the error asks for."""
    found = [part.partition("=") for part in text.split(",")]
    if not all(name and equals and value for name, equals, value in found):
        raise argparse.ArgumentTypeError(f"must be {form}: got {text!r}")
    return {name.strip(): value.strip() for name, _, value in found}


def check_output(path: Path | None, argument: str, read: Iterable[str | None], suffixes: Sequence[str] = ()) -> None:
    """Check, before anything is computed, that a file can be written and is none of those that are ``read``.

    It must not be the file of a study or a store either; ``check_different`` compares the outputs of one command.
    """
    if path is None:
        return
    if suffixes and path.suffix.lower() not in suffixes:
        raise InputError(argument, f"must end in {' or '.join(suffixes)}", repr(str(path)), f"Write out{suffixes[0]}.")
    if not path.parent.is_dir():
        raise InputError(argument, "must be in an existing folder", repr(str(path.parent)), "Make the folder first.")
    if path.is_dir():
        raise InputError(argument, "must be a file", f"the folder {str(path)!r}", "Name a file in it.")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        rule = "must be a place where a file can be written"
        raise InputError(argument, rule, repr(str(path)), "Choose another path.")
    files = [split_member(text)[0] for text in read if text]
    if path.exists() and any(os.path.exists(file) and os.path.samefile(file, path) for file in files):
        raise InputError(argument, "must not be a file that is read", repr(str(path)), "Choose another path.")
    refuse_journal(path, argument)


def check_different(outputs: Iterable[tuple[str, Path | None]]) -> None:
    """Check that the files that one command writes, each named by its option, are different files."""
    taken: dict[str, str] = {}
    for argument, path in outputs:
        if path is None:
            continue
        place = os.path.realpath(path)
        if place in taken:
            rule = f"must not be a file that {taken[place]} writes too"
            raise InputError(argument, rule, repr(str(path)), "Choose another path.")
        taken[place] = argument


def check_report(path: Path | None, argument: str, read: Iterable[str | None]) -> None:
    """Check the path of a report, whose suffix must be that of a report format."""
    check_output(path, argument, read)
    if path is None:
        return
    from dreval.report.page import page_target

    with option(argument):
        page_target(path)


def in_flags(one: Note, options: Any) -> Note:
    """A note on a variable of the points, a file or intervals, with the option in place of Python's argument."""
    word, _, rest = one.code.partition(".")
    if one.code in FIRST_ROW_CODES and "header" in options.parser.flags:
        return one.altered(remedy=f"pass --header {'yes' if dict(one.values)['header'] else 'no'}")
    if one.code == "interval.coordinates":
        return one.altered(way="--ci replicates")
    return one.altered(way=f"--{word}") if rest == "none" and word in options.parser.flags else one


def with_flags(results: Any, options: Any) -> Any:
    """A copy of a result whose notes name options."""
    said = [in_flags(one, options) for one in notes_in(results.notes)]
    notes = results.notes.assign(values=[FixedDict(one.values) for one in said], text=[one.text for one in said])
    table = results.table.assign(note=[joined(row["notes"]) for row in noted_rows(results.table, notes)])
    return replace(results, table=table, notes=notes)


def with_command(made: Any, options: Any, *more: str) -> Any:
    """A copy of a result or comparison whose recipe holds the command line that reproduces it."""
    call = shlex.join(["dreval", *options.command, *more])
    return replace(made, recipe={**made.recipe, "call": call})


@contextmanager
def option(argument: str) -> Iterator[None]:
    """A block whose errors on the path of an output name the option that holds it."""
    try:
        yield
    except DrevalError as error:
        raise error.named(dict.fromkeys(("path", "plot"), argument)) from error


def write_files(wanted: Iterable[tuple[str, Path | None, Callable[[Path], Any], str]], say: Say, quiet: bool) -> None:
    """Write the requested files, each named by its option and written by its function, and print their paths."""
    for argument, path, write, what in wanted:
        if path is None:
            continue
        with option(argument):
            write(path)
        if not quiet:
            say(f"\n{what} written to {path}")


def json_text(document: dict[str, Any]) -> str:
    """One strict JSON document: tables are lists of rows; missing and infinite numbers are null."""
    return json.dumps(_plain(document), indent=1, default=str, allow_nan=False)


def _plain(value: Any) -> Any:
    """A value made of JSON types."""
    if hasattr(value, "to_dict") and hasattr(value, "columns"):
        return [_plain(row) for row in value.to_dict("records")]
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, Note):
        return _plain(value.plain())
    if hasattr(value, "tolist"):  # numpy's numbers and arrays
        return _plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


EPILOG = """examples:
  dreval evaluate data.csv -e umap=umap.csv -e isomap --report report.html
  dreval embed data.csv isomap isomap.csv
  dreval list methods

dreval VERB --help has examples of each verb. Exit codes: 0 done, 1 something
failed or is missing, 2 refused, 3 a defect in dreval, 130 stopped by Ctrl-C.
With DREVAL_DEBUG=1 every error has its traceback."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    options = _parser().parse_args(arguments)
    options.command = list(sys.argv[1:] if arguments is None else arguments)
    if hasattr(sys.stdout, "reconfigure"):  # a name that the terminal cannot print must not lose the result
        sys.stdout.reconfigure(errors="backslashreplace")
    if os.environ.get("DREVAL_DEBUG", "0") not in ("", "0"):
        return _run(options)
    try:
        with _Defects():
            return _run(options)
    except KeyboardInterrupt:
        more = "; the same command goes on from here" if getattr(options, "store", None) else ""
        _tell(f"stopped{more}")
        return STOPPED
    except MemoryError as error:
        _tell(f"out of memory ({' '.join(str(error).split()) or 'no details'})")
        return REFUSED
    except DrevalError as error:
        _tell(error.named(_flags(options)))
        return REFUSED
    except OSError as error:
        _tell(error)
        return REFUSED


def _flags(options: Any) -> dict[str, str]:
    """The options of a verb, and calls of the command line, by the names of Python's arguments and functions."""
    flags = {name: f"--{name.replace('_', '-')}" for name in options.parser.flags}
    flags |= {call: f"dreval list {one.plural}" for one in KINDS.values() for call in one.listing}
    return flags | {"options['replicates']['n_replicates']": "--n-replicates"}


class _Defects:
    """A block in which an internal error ends with a message and an exit code of its own instead of a traceback."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        if not isinstance(error, Exception) or isinstance(error, DrevalError | OSError | MemoryError):
            return
        why = " ".join(f"{type(error).__name__}: {error}".split())
        _tell(f"internal error of dreval, not of its input ({why})")
        _tell("set DREVAL_DEBUG=1 to see the traceback; please report it")
        raise SystemExit(BROKEN) from None


def _run(options: Any) -> int:
    """Run the verb, or print the help of a verb that needs a subcommand."""
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
        code = int(options.run(options, _discard if quiet else output.say))
    output.check()
    return code


class _Output:
    """Prints; what follows is done even if the reader of the output ended first, as in `dreval ... | head -1`.

    Where the output can not be written, what follows is done too, and ``check`` refuses then.
    """

    def __init__(self) -> None:
        self.lost: OSError | None = None

    def say(self, text: str) -> None:
        """Print a text."""
        try:
            print(printable(text, keep="\n\t"), flush=True)
        except OSError as error:
            self.lost = None if isinstance(error, BrokenPipeError) else error
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    def check(self) -> None:
        """Refuse an output that could not be written."""
        if self.lost is not None:
            got, cure = str(self.lost.strerror).lower(), "Free space there, or send the output elsewhere."
            raise InputError("stdout", "must be a place that output can be written to", got, cure) from self.lost


def _discard(_: str) -> None:
    """Print nothing."""


def _show_warning(options: Any, message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a warning as one line, without its place in the source."""
    if isinstance(message, EmbeddingFailed):
        message = message.named(_flags(options))
    said = getattr(message, "note", None)
    _tell(message if said is None else in_flags(said, options))


def _tell(message: object) -> None:
    """Print a line on stderr, which may be closed, as by services and ``2>&-``, or full."""
    with usable_stderr(), suppress(OSError):
        print(f"dreval: {printable(message)}", file=sys.stderr)


def _parser() -> Verb:
    parser = Verb(prog="dreval", description="Formal evaluation of dimensionality reduction.", epilog=EPILOG)
    parser.add_argument("--version", action="version", version=f"dreval {__version__}")
    add = parser.steps("VERB")
    for module in iter_modules([str(Path(__file__).parent)]):
        if not module.name.startswith("_"):
            import_module(f"dreval.cli.{module.name}").add_verb(add)
    return parser
