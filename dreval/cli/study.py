"""The verb ``dreval study``: run, status and report, with the names and defaults of ``dreval.Study``."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

from dreval._check import check_one_of
from dreval.cli._main import (
    DONE,
    NOT_ALL,
    STOPPED,
    Say,
    Verb,
    add_answer,
    add_header,
    anchors,
    check_output,
    check_report,
    integers,
    json_text,
    names,
    one_of,
    option,
)
from dreval.errors import InputError, MissingFile
from dreval.glossary import METRICS
from dreval.records.base import write_whole
from dreval.registry import MEASURES, METHODS

ABOUT = "Run methods on data sets, with replicates, into one resumable file."
CODES = "exit codes: 0 all cells done, 1 some failed or are not done, 2 refused"
COUNTS = "file, cells, done, failed, running, waiting, seconds"
STEPS = f"""steps:
  dreval study run study.dreval -x wdbc -x data.csv -m pca -m isomap -r 5
  dreval study status study.dreval
  dreval study report study.dreval report.html
  dreval compare study.dreval --rope 0.01

{CODES},
130 stopped by Ctrl-C"""
RUN = f"""examples:
  dreval study run study.dreval -x wdbc -x data.csv -m pca -m isomap -r 5
  dreval study run study.dreval -x mine=kinds.csv --labels mine=kind -m pca
  dreval study run study.toml --n-jobs 4

The same command repeated continues where the last one stopped; several
processes may run on one file at the same time. study.toml holds the arguments
of dreval.Study; its paths are relative to the working folder:

  path = "study.dreval"            # this name, where it is left out
  datasets = ["wdbc", "mine.csv"]
  n_replicates = 5
  random_state = 0
  [methods]
  pca = "pca"
  isomap10 = {{ method = "isomap", n_neighbors = 10 }}

{CODES},
130 stopped by Ctrl-C"""
STATUS = f"""examples:
  dreval study status study.dreval
  dreval study status study.dreval --table values.csv

{CODES}"""
REPORT = """examples:
  dreval study report study.dreval report.html
  dreval study report study.dreval report.md --title "Two methods"

exit codes: 0 done, 2 refused"""


def add_verb(add: Callable[..., Verb]) -> None:
    """Add the verb to the command line."""
    step = add("study", None, ABOUT, STEPS).steps("STEP")
    verb = step("run", _run, "Compute the cells that are missing.", RUN)
    _add_arguments(verb)
    verb.add_argument("--n-jobs", type=int, metavar="J", help="processes (1)")
    verb.add_argument("--limit", type=int, metavar="N", help="stop after that many cells")
    verb.add_argument("--retry-failed", action="store_true", help="compute failed cells again")
    add_answer(verb, f"{COUNTS}, states (a row for each cell)")
    verb = step("status", _status, "Print the state of all cells.", STATUS)
    verb.add_argument("file", type=Path, help="file of a study")
    verb.add_argument("--table", type=Path, metavar="PATH", help="write all values to this file (.csv)")
    add_answer(verb, f"{COUNTS}, states (a row for each cell)")
    verb = step("report", _report, "Write a report of the results.", REPORT)
    verb.add_argument("file", type=Path, help="file of a study")
    verb.add_argument("report", type=Path, help="path of the report (.html .md .tex)")
    verb.add_argument("--title", help="heading of the report")
    add_answer(verb, f"report, {COUNTS}")


def _run(options: Any, say: Say) -> int:
    from dreval.study.study import Study

    path, arguments = _study_arguments(options)
    study = Study(path, **arguments)
    progress = False if options.quiet or options.json else None
    try:
        study.run(n_jobs=options.n_jobs, progress=progress, limit=options.limit, retry_failed=options.retry_failed)
    except KeyboardInterrupt:
        _print_status(study.status(), options, say)
        if not options.json:
            say("\nstopped; the same command continues from here")
        return STOPPED
    return _print_status(study.status(), options, say)


def _status(options: Any, say: Say) -> int:
    from dreval.study.study import Study

    check_output(options.table, "--table", [str(options.file)], (".csv",))
    study = Study.open(options.file)
    if options.table:
        write_whole(options.table, study.table().to_csv(index=False), "table")
    return _print_status(study.status(), options, say)


def _report(options: Any, say: Say) -> int:
    from dreval.report.others import write_study
    from dreval.study.study import Study

    check_report(options.report, "report", [str(options.file)])
    study = Study.open(options.file)
    with option("report"):
        path = write_study(study, options.report, title=options.title)
    document = {"report": str(path), **_counts(study.status())}
    say(json_text(document) if options.json else f"report written to {path}")
    return DONE


def _print_status(status: Any, options: Any, say: Say) -> int:
    """Print the state of the study and return the exit code."""
    say(json_text({**_counts(status), "states": status.cells, "notes": status.notes}) if options.json else str(status))
    return DONE if status.complete and not status.count("failed") else NOT_ALL


def _counts(status: Any) -> dict[str, Any]:
    """The file, and the number of cells in each state."""
    from dreval.journal.study import STATES

    counts = {state: status.count(state) for state in STATES}
    return {"file": status.name, "cells": len(status.cells), **counts, "seconds": status.seconds}


def _add_arguments(verb: Verb) -> None:
    """Add the arguments of ``Study``."""
    verb.add_argument("file", type=Path, help="file of the study (created if missing), or a .toml")
    arguments = verb.add_argument_group("arguments of the study, without a .toml")
    arguments.add_argument(
        "-x", "--datasets", action="append", metavar="[NAME=]DATA", help="a data file, or a bundled set"
    )
    arguments.add_argument(
        "-m", "--methods", action="append", metavar="[NAME=]METHOD",
        help=f"one of {len(METHODS.names())}, see: dreval list methods",
    )  # fmt: skip
    arguments.add_argument("--labels", action="append", metavar="NAME=LABELS", help="a column, or file.csv[:column]")
    arguments.add_argument(
        "--measures",
        type=names,
        metavar="MEASURE[,...]",
        help=f"default, all, or of {len(MEASURES.names())}: see dreval list measures",
    )
    arguments.add_argument("-r", "--n-replicates", type=int, metavar="R", help="runs of a method on a data set (1)")
    arguments.add_argument("-d", "--n-components", type=integers, metavar="D[,D...]", help="columns of embeddings (2)")
    arguments.add_argument("-k", "--n-neighbors", type=integers, metavar="K[,K...]", help="numbers of neighbors (15)")
    arguments.add_argument("--subsample", type=float, metavar="S", help="share of the points that each replicate sees")
    arguments.add_argument(
        "--metric", **one_of(METRICS), metavar="METRIC",
        help=f"distance in the data ({METRICS[0]}), one of: {', '.join(METRICS)}",
    )  # fmt: skip
    add_header(arguments, default=None)
    arguments.add_argument(
        "--anchors", type=anchors, metavar="M",
        help="evaluate at M random points, against all points; auto (default): 2000 beyond 20,000 points; none: all",
    )  # fmt: skip
    arguments.add_argument("--random-state", type=int, metavar="SEED", help="seed (drawn, and kept in the file)")


ARGUMENTS = (
    "datasets",
    "methods",
    "labels",
    "measures",
    "n_replicates",
    "n_components",
    "n_neighbors",
    "subsample",
    "metric",
    "header",
    "anchors",
    "random_state",
)


def _study_arguments(options: Any) -> tuple[Path, dict[str, Any]]:
    """The file of the study, and the arguments of ``Study``, from the command line or from a .toml."""
    given = {name: getattr(options, name) for name in ARGUMENTS if getattr(options, name) is not None}
    if options.file.suffix.lower() == ".toml":
        if given:
            name = next(iter(given)).replace("_", "-")
            cure = f"Write it into {options.file.name}."
            raise InputError(f"--{name}", "must be set in the .toml, if there is one", "both", cure)
        return _read_toml(options.file)
    for name, example in (("datasets", "-x wdbc"), ("methods", "-m pca")):
        if name not in given:
            raise InputError(f"--{name}", "must be given", "none", f"Add {example}, or name a .toml.")
        given[name] = _pairs(given[name])
    if "labels" in given:
        given["labels"] = _labels(given["labels"])
    return options.file, given


def _pairs(texts: list[str]) -> Any:
    """A dict of NAME=VALUE pairs; a list where no value has a name."""
    if not any("=" in text for text in texts):
        return texts
    made: dict[str, str] = {}
    for text in texts:
        name, _, value = text.rpartition("=")
        name = name or Path(value).name.partition(".")[0]
        if name in made:
            raise InputError("NAME=", "must be new", f"{name!r}, which is taken", "Choose another name.")
        made[name] = value
    return made


def _labels(texts: list[str]) -> dict[str, str]:
    """A dict of data set names to labels."""
    for text in texts:
        if not all(text.partition("=")):
            raise InputError("--labels", "must be NAME=LABELS", repr(text), "Write --labels mine=kind.")
    return {name: value for name, _, value in (text.partition("=") for text in texts)}


def _read_toml(path: Path) -> tuple[Path, dict[str, Any]]:
    """The arguments of ``Study`` in a .toml; ``path`` defaults to the name of the .toml."""
    from dreval.study.study import Study

    if not path.is_file():
        raise MissingFile("file", "must be an existing file", repr(str(path)), "Check the name.")
    try:
        found = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        got = f"{str(path)!r} ({error})"
        raise InputError("file", "must be TOML", got, "See dreval study run --help for an example.") from error
    known = list(signature(Study).parameters)
    for name in found:
        check_one_of(name, known, str(path))
    for name in ("datasets", "methods"):
        if name not in found:
            raise InputError(str(path), f"must have {name}", "none", f'Write {name} = ["..."].')
    return Path(found.pop("path", path.with_suffix(".dreval"))), found
