"""Arguments of the commands, from the signatures and the docstrings of the functions behind them.

An option has the name and the default of the Python argument, the type that its line of the docstring names, and the
first sentence below it as help. ``SHELL`` declares what is different in a shell: short options, placeholders, and
files and lists written as text. A function is read from its source, since an import of it would load pandas and scipy
before ``--help`` is printed.
"""

from __future__ import annotations

import argparse
import ast
import re
from ast import literal_eval
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from inspect import cleandoc
from pathlib import Path
from typing import Any, NamedTuple

from dreval._check import resolve_alias
from dreval._docs import parameter_entries
from dreval.inputs.kinds import SUFFIXES


class Argument(NamedTuple):
    """An argument of a function: its default, and the type and the first sentence of its entry in the docstring."""

    default: Any
    kind: str
    sentence: str


@cache
def function_arguments(place: str) -> dict[str, Argument]:
    """Return the arguments of a function, method or class ("module:name") by name, without an import of its module."""
    module, _, name = place.partition(":")
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"No module named {module!r}")
    tree: Any = ast.parse(Path(spec.origin).read_text("utf-8"))
    origins = {
        alias.name: node.module for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    thing = tree
    for part in name.split("."):
        thing = _definition(thing, part)
    function = _definition(thing, "__init__") if isinstance(thing, ast.ClassDef) else thing
    _, _, section = cleandoc(ast.get_docstring(thing) or "").partition("Parameters\n----------\n")
    entries = parameter_entries(re.split(r"\n\n(?=\w+\n---)", section)[0])
    arguments = {}
    for argument, default in _defaults(function.args):
        head, _, text = entries.get(argument, "").partition("\n")
        sentence = re.match(r"(.*?)(?:\.(?=\s|$)|$)", " ".join(text.split()))
        value = _constant(default, origins)
        arguments[argument] = Argument(value, head.partition(" : ")[2], sentence[1] if sentence else "")
    return arguments


def _definition(parent: Any, name: str) -> Any:
    """Return the definition of a function or class in a module or class."""
    return next(node for node in parent.body if getattr(node, "name", None) == name)


def _defaults(arguments: ast.arguments) -> Iterator[tuple[str, ast.expr | None]]:
    """Yield each argument with its default, if it has one."""
    plain = [*arguments.posonlyargs, *arguments.args]
    missing = [None] * (len(plain) - len(arguments.defaults))
    yield from ((node.arg, value) for node, value in zip(plain, [*missing, *arguments.defaults], strict=True))
    yield from ((node.arg, value) for node, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True))


def _constant(node: ast.expr | None, origins: Mapping[str, str | None]) -> Any:
    """Return the value of a default: a literal, or a constant that is imported from the module named in ``origins``."""
    if isinstance(node, ast.Name):
        return getattr(import_module(str(origins[node.id])), node.id)
    return None if node is None else ast.literal_eval(node)


# Values written as text.


def names(text: str) -> str | list[str]:
    """Return names separated by commas as a list; "default" and "all" are returned unchanged."""
    return text if text in ("default", "all") else [name.strip() for name in text.split(",") if name.strip()]


def names_or_none(text: str) -> str | list[str] | None:
    """Return names separated by commas as a list, or None for "none"."""
    return None if text == "none" else names(text)


def integers(text: str) -> list[int]:
    """Return integers separated by commas as a list."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be integers separated by commas: got {text!r}") from None


def integers_or_word(text: str, words: Collection[str]) -> list[int] | str:
    """Return integers separated by commas as a list, or one of the words."""
    return text if text in words else integers(text)


def integer_or_word(text: str, words: Collection[str]) -> int | str:
    """Return an integer, or one of the words."""
    if text in words:
        return text
    try:
        return int(text)
    except ValueError:
        choices = " or ".join([", ".join(["an integer", *list(words)[:-1]]), *list(words)[-1:]])
        raise argparse.ArgumentTypeError(f"must be {choices}: got {text!r}") from None


CONSTANTS = {"none": None, "true": True, "false": False}


def pairs(text: str, form: str = "NAME=VALUE separated by commas") -> dict[str, str]:
    """Return NAME=VALUE pairs separated by commas as a dict; the error describes the required ``form``."""
    parts = [part.partition("=") for part in text.split(",")]
    if not all(name and equals and value for name, equals, value in parts):
        raise argparse.ArgumentTypeError(f"must be {form}: got {text!r}")
    names = [name.strip() for name, _, _ in parts]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise argparse.ArgumentTypeError(f"must have each name once: got {repeated[0]!r} twice in {text!r}")
    return {name.strip(): value.strip() for name, _, value in parts}


def constant(text: str) -> Any:
    """Return a number, true, false or none; anything else is text."""
    if text.lower() in CONSTANTS:
        return CONSTANTS[text.lower()]
    try:
        value = literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return value if isinstance(value, int | float) else text


def split_options(text: str) -> dict[str, Any]:
    """Return options of a split of the measurements."""
    return {name: constant(value) for name, value in pairs(text, "NAME=VALUE, as kind=poisson").items()}


SPLIT = {
    "type": split_options,
    "metavar": "NAME=VALUE[,...]",
    "sentence": "how measurements are split: kind=poisson, or kind=gaussian,sigma=1; by default halves of the columns",
}


def margins(text: str) -> float | dict[str, float]:
    """Return one margin, or one for each measure."""
    try:
        return {name: float(value) for name, value in pairs(text).items()} if "=" in text else float(text)
    except ValueError:
        requirement = "must be a number (decimals after a point), or NAME=NUMBER separated by commas"
        raise argparse.ArgumentTypeError(f"{requirement}: got {text!r}") from None


def _header(text: str) -> bool | str:
    """Return whether the first row has names: yes, no or auto."""
    values: dict[str, bool | str] = {"auto": "auto", "yes": True, "true": True, "no": False, "false": False}
    if text.lower() not in values:
        raise argparse.ArgumentTypeError(f"must be yes, no or auto: got {text!r}")
    return values[text.lower()]


def one_of(options: Collection[str]) -> dict[str, Any]:
    """Return the settings of an option with fixed choices, which may also be written in capitals or as an alias."""
    return {"type": partial(resolve_alias, options=options), "choices": options}


class StoreOnce(argparse.Action):
    """Store the value of an option; a second value is an error, where argparse would silently take it for the first."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: Any = None) -> None:
        if self.option_strings and getattr(namespace, self.dest, self.default) is not self.default:
            raise argparse.ArgumentError(self, "must be written once")
        setattr(namespace, self.dest, values)


# Options from arguments.

DATA = f"data file, rows are points: {' '.join(suffix for suffix in SUFFIXES if not suffix.endswith('.gz'))}"
CLASSES = "classes: a column of the data, or file.csv[:column]"

# What a shell needs differently, in every command that has the argument: settings of argparse, a short option, the name
# of the option, or another sentence. A setting of ``help`` replaces the sentence with its choices and its default.
SHELL: dict[str, dict[str, Any]] = {
    "batch": {"sentence": "batch of each point: a column of the data, or file.csv[:column]"},
    "groups": {
        "sentence": "group of each point, where points belong together (donor, patient, document): a column of the "
        "data, or file.csv[:column]; intervals and tests take groups as independent, not points"
    },
    "conf_level": {"sentence": "level of the intervals, from 0.5 to 0.999999"},
    "covariates": {
        "type": names,
        "metavar": "COLUMN[:TYPE][,...]",
        "sentence": "variables to test against: columns of the data, a.csv:x,a.csv:y of a file, or a whole file; "
        "numbers are numeric and text is classes, unless :number or :class is appended to a column",
    },
    "header": {
        "type": _header,
        "metavar": "WORD",
        "help": "the first row of each text file has the column names (yes), is data (no), or auto",
    },
    "ids": {"metavar": "COLUMN", "sentence": "column with the row names, by which files are aligned"},
    "labels": {"sentence": CLASSES},
    "latent": {"metavar": "PATH"},
    "layer": {"sentence": "of a .h5ad file: a layer, or raw, in place of X"},
    "n_components": {"short": "-d"},
    "new_data": {
        "metavar": "FILE",
        "sentence": "new rows with the columns of the data; methods embed them",
    },
    "n_neighbors": {"short": "-k"},
    "random_state": {"metavar": "SEED", "sentence": "seed; by default one is drawn, and printed"},
    "journal": {
        "type": Path,
        "metavar": "PATH",
        "sentence": "file that stores all that is finished; the same command repeated continues from it",
    },
    "use_rep": {"metavar": "KEY", "sentence": "of a .h5ad file: an array of obsm, in place of X"},
}


def add_arguments(
    parser: Any, place: str, arguments: Iterable[str], *, defaults: bool = True, **shell: dict[str, Any]
) -> None:
    """Add an option for each of the arguments of a function.

    Parameters
    ----------
    parser : the parser of a command, or a group of its options
    place : the function, as "module:name"
    arguments : names of arguments
    defaults : whether the option has the default of the argument; otherwise it is None where it is not passed
    shell : further settings of single options, as in ``SHELL``
    """
    for name in arguments:
        argument = function_arguments(place)[name]
        changes = {**SHELL.get(name, {}), **shell.get(name, {})}
        argument = argument._replace(sentence=changes.pop("sentence", argument.sentence))
        flags = [changes.pop("short")] if "short" in changes else []
        flags.append(changes.pop("flag", f"--{name.replace('_', '-')}"))
        settings = {**_settings(argument), **changes}
        if settings.get("action") != "store_true":
            settings["default"] = argument.default if defaults else None
        parser.add_argument(*flags, dest=name, **settings)


def _settings(argument: Argument) -> dict[str, Any]:
    """Return the settings of an option: its type from that in the docstring, help from its sentence.

    A choice is text here: the function itself reports a wrong one, with the nearest right one.
    """
    kind = argument.kind.partition(", default")[0]
    words = re.findall(r'"(\w+)"', kind)
    words += ["none"] if words and "None" in kind else []
    has_list = "list of" in kind
    settings: dict[str, Any] = {"help": _help(argument, () if has_list or kind.startswith("int") else words)}
    if kind.startswith("bool"):
        return {**settings, "action": "store_true"}
    if has_list and "int" in kind:
        return {**settings, "type": partial(integers_or_word, words=words), "metavar": "N[,N...]"}
    if has_list:
        return {**settings, "type": names_or_none if "None" in kind else names, "metavar": "NAME[,...]"}
    if kind.startswith("int"):
        return {**settings, "type": partial(integer_or_word, words=words) if words else int, "metavar": "N"}
    if kind.startswith("float"):
        return {**settings, "type": float, "metavar": "X"}
    return {**settings, "metavar": "WORD"} if words else settings


def _help(argument: Argument, words: Collection[str]) -> str:
    """Return the sentence of an argument as help, with its choices and its default."""
    text = re.sub(r"dreval\.list_(\w+)\(\)", r"dreval list \1", argument.sentence).replace("``", "")
    text = re.sub(r"\bNone\b", "none", text[:1].lower() + text[1:])
    if any(word not in text.lower() for word in words):
        text += f"; one of: {', '.join(words)}"
    if argument.default is not None and argument.default is not False:
        text += f" ({argument.default})"
    return text.replace("%", "%%")
