"""The command ``dreval study``: run, status and report, with the names and defaults of ``dreval.Study``."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

from dreval._check import check_one_of
from dreval.cli._arguments import add_arguments
from dreval.cli._main import (
    DONE,
    INCOMPLETE,
    INTERRUPTED,
    CommandParser,
    Printer,
    add_answer,
    check_output,
    check_report,
    json_text,
    option,
)
from dreval.errors import InputError, MissingFile
from dreval.records.base import write_atomic
from dreval.registry import METHODS

ABOUT = "Run methods on data sets, with replicates, into one resumable file."
CODES = "exit codes: 0 all cells done, 1 some failed or are not done, 2 invalid input"
COUNTS = "file, cells, done, failed, running, waiting, seconds"
STEPS = f"""steps:
  dreval study run study.journal -x wdbc -x data.csv -m pca -m isomap -r 5
  dreval study status study.journal
  dreval study report study.journal report.html
  dreval compare study.journal --rope 0.01

{CODES},
130 stopped by Ctrl-C"""
RUN = f"""examples:
  dreval study run study.journal -x wdbc -x data.csv -m pca -m isomap -r 5
  dreval study run study.journal -x mine=kinds.csv --labels mine=kind -m pca
  dreval study run study.toml --n-jobs 4

The same command repeated continues where the last one stopped; several
processes may run on one file at the same time. study.toml holds the arguments
of dreval.Study; its paths are relative to the working folder:

  journal = "study.journal"        # default: the name of the .toml
  datasets = ["wdbc", "mine.csv"]
  n_replicates = 5
  random_state = 0
  [methods]
  pca = "pca"
  isomap10 = {{ method = "isomap", n_neighbors = 10 }}

{CODES},
130 stopped by Ctrl-C"""
STATUS = f"""examples:
  dreval study status study.journal
  dreval study status study.journal --table values.csv

{CODES}"""
REPORT = """examples:
  dreval study report study.journal report.html
  dreval study report study.journal report.md --title "Two methods"

exit codes: 0 done, 2 invalid input"""

STUDY = "dreval.study.study:Study"
ARGUMENTS = (
    "datasets", "methods", "labels", "measures", "n_replicates", "n_components", "n_neighbors", "subsample", "metric",
    "header", "anchors", "random_state",
)  # fmt: skip
SHELL = {
    "labels": {"action": "append", "metavar": "NAME=LABELS", "help": "a column, or file.csv[:column]"},
    "n_replicates": {"short": "-r"},
    "random_state": {"sentence": "seed; by default one is drawn, and stored in the file"},
}


def add_command(add: Callable[..., CommandParser]) -> None:
    """Add the command and its arguments to the parser."""
    step = add("study", None, ABOUT, STEPS).steps("STEP")
    parser = step("run", _run, "Compute the cells that are missing.", RUN)
    parser.add_argument("file", type=Path, help="file of the study (created if missing), or a .toml")
    arguments = parser.add_argument_group("arguments of the study, without a .toml")
    arguments.add_argument(
        "-x", "--datasets", action="append", metavar="[NAME=]DATA", help="a data file, or a bundled set"
    )
    arguments.add_argument(
        "-m", "--methods", action="append", metavar="[NAME=]METHOD",
        help=f"one of {len(METHODS.names())}, see: dreval list methods",
    )  # fmt: skip
    add_arguments(arguments, STUDY, ARGUMENTS[2:], defaults=False, **SHELL)
    add_arguments(parser, f"{STUDY}.run", ("n_jobs", "limit", "retry_failed"))
    add_answer(parser, f"{COUNTS}, states (a row for each cell)")
    parser = step("status", _status, "Print the state of all cells.", STATUS)
    parser.add_argument("file", type=Path, help="file of a study")
    parser.add_argument("--table", type=Path, metavar="PATH", help="write all values to this file (.csv)")
    add_answer(parser, f"{COUNTS}, states (a row for each cell)")
    parser = step("report", _report, "Write a report of the results.", REPORT)
    parser.add_argument("file", type=Path, help="file of a study")
    parser.add_argument("report", type=Path, help="path of the report (.html .md)")
    parser.add_argument("--title", help="heading of the report")
    add_answer(parser, f"report, {COUNTS}")


def _run(options: Any, say: Printer) -> int:
    from dreval.study.study import Study

    path, arguments = _study_arguments(options)
    study = Study(path, **arguments)
    progress = False if options.quiet or options.json else None
    try:
        study.run(n_jobs=options.n_jobs, progress=progress, limit=options.limit, retry_failed=options.retry_failed)
    except KeyboardInterrupt:
        _print_status(study, options, say)
        if not options.json:
            say("\nstopped; the same command continues from here")
        return INTERRUPTED
    return _print_status(study, options, say)


def _status(options: Any, say: Printer) -> int:
    from dreval.study.study import Study

    check_output(options.table, "--table", [str(options.file)], (".csv",))
    study = Study.open(options.file)
    if options.table:
        write_atomic(options.table, study.table().to_csv(index=False), "table")
    return _print_status(study, options, say)


def _report(options: Any, say: Printer) -> int:
    from dreval.report.write import write_study
    from dreval.study.study import Study

    check_report(options.report, "report", [str(options.file)])
    study = Study.open(options.file)
    with option("report"):
        path = write_study(study, options.report, title=options.title)
    document = {"report": str(path), **_counts(study.status())}
    say(json_text(document) if options.json else f"report written to {path}")
    return DONE


def _print_status(study: Any, options: Any, say: Printer) -> int:
    """Print the state of the study and its answers, and return the exit code."""
    status = study.status()
    say(json_text({**_counts(status), "states": status.cells, "notes": status.notes}) if options.json else str(study))
    return DONE if status.complete and not status.count("failed") else INCOMPLETE


def _counts(status: Any) -> dict[str, Any]:
    """Return the file and the number of cells in each state."""
    from dreval.storage.study_file import STATES

    counts = {state: status.count(state) for state in STATES}
    return {"file": status.name, "cells": len(status.cells), **counts, "seconds": status.seconds}


def _study_arguments(options: Any) -> tuple[Path, dict[str, Any]]:
    """Return the file of the study and the arguments of ``Study``, from the command line or from a .toml."""
    arguments = {name: getattr(options, name) for name in ARGUMENTS if getattr(options, name) is not None}
    if options.file.suffix.lower() == ".toml":
        if arguments:
            name = next(iter(arguments)).replace("_", "-")
            hint = f"Write it into {options.file.name}."
            raise InputError(f"--{name}", "must be set in the .toml, if there is one", "both", hint)
        return _read_toml(options.file)
    for name, example in (("datasets", "-x wdbc"), ("methods", "-m pca")):
        if name not in arguments:
            raise InputError(f"--{name}", "must be given", "none", f"Add {example}, or name a .toml.")
        arguments[name] = _pairs(arguments[name])
    if "labels" in arguments:
        labels = {text: text.partition("=") for text in arguments["labels"]}
        for text, parts in labels.items():
            if not all(parts):
                raise InputError("--labels", "must be NAME=LABELS", repr(text), "Write --labels mine=kind.")
        arguments["labels"] = {name: value for name, _, value in labels.values()}
    return options.file, arguments


def _pairs(texts: list[str]) -> Any:
    """Return NAME=VALUE pairs as a dict; a list if no value has a name."""
    if not any("=" in text for text in texts):
        return texts
    values: dict[str, str] = {}
    for text in texts:
        name, _, value = text.rpartition("=")
        name = name or Path(value).name.partition(".")[0]
        if name in values:
            raise InputError("NAME=", "must be unique", f"{name!r} twice", "Choose another name.")
        values[name] = value
    return values


def _read_toml(path: Path) -> tuple[Path, dict[str, Any]]:
    """Return the file and the arguments of ``Study`` in a .toml; ``journal`` defaults to the name of the .toml."""
    from dreval.study.study import Study

    if not path.is_file():
        raise MissingFile("file", "must be an existing file", repr(str(path)), "Check the name.")
    try:
        arguments = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        received = f"{str(path)!r} ({error})"
        raise InputError("file", "must be TOML", received, "See dreval study run --help for an example.") from error
    parameters = list(signature(Study).parameters)
    for name in arguments:
        check_one_of(name, parameters, str(path))
    for name in ("datasets", "methods"):
        if name not in arguments:
            raise InputError(str(path), f"must have {name}", "none", f'Write {name} = ["..."].')
    return Path(arguments.pop("journal", path.with_suffix(".journal"))), arguments
