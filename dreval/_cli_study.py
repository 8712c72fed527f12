"""The verb ``dreval study``: run, status and report, with the words and defaults of ``dreval.Study``."""

from __future__ import annotations

import argparse
import json
import math
import tomllib
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

from dreval._check import check_one_of
from dreval.errors import InputError
from dreval.glossary import REPORT_FORMS
from dreval.inputs.metric import METRICS
from dreval.registry import INDICES, METHODS

__all__ = ["STUDY_OPTIONS", "add_study"]

Answer = tuple[int, str]
DONE, NOT_ALL, STOPPED = 0, 1, 130
STUDY_OPTIONS = ("replicates", "subsample", "limit")

ABOUT = "Many methods on many data sets, many times: each cell is computed once and kept in one file."
STEPS = """steps:
  dreval study run study.dreval -x wdbc -x digits -m pca -m isomap --replicates 5 --random-state 0
  dreval study status study.dreval
  dreval study report study.dreval report.html
  dreval compare study.dreval --rope 0.01

exit codes: 0 all is done, 1 some cell failed or is not done, 2 refused, 130 stopped by Ctrl-C"""
RUN = """examples:
  dreval study run study.dreval -x wdbc -x mine=mine.csv --labels mine=kind -m pca -m isomap -r 5
  dreval study run study.toml --n-jobs 4

The same command again goes on where the last one stopped; several may run on one file at the same time.
In study.toml stand the arguments of dreval.Study, paths as seen from the working folder:

  path = "study.dreval"                # this name, where it is left out
  datasets = ["wdbc", "mine.csv"]
  replicates = 5
  random_state = 0
  [methods]
  pca = "pca"
  isomap10 = { method = "isomap", n_neighbors = 10 }

exit codes: 0 all is done, 1 some cell failed or is not done, 2 refused, 130 stopped by Ctrl-C"""
STATUS = """examples:
  dreval study status study.dreval
  dreval study status study.dreval --table values.csv

exit codes: 0 all is done, 1 some cell failed or is not done, 2 refused"""
REPORT = """example:
  dreval study report study.dreval report.html

exit codes: 0 done, 2 refused"""


def add_study(
    add: Callable[..., argparse.ArgumentParser],
    say: Callable[[Callable[[Any], Answer]], Callable[[Any], int]],
    check_output: Callable[..., None],
) -> None:
    """Add the verb; ``add`` makes a parser of it, ``say`` prints what a step answers."""
    verb = add(None, "study", None, ABOUT, STEPS)
    steps = verb.add_subparsers(metavar="step", required=True)
    _add_run(add(steps, "run", say(_run), "Compute the cells that are not there yet.", RUN))

    def status(options: Any) -> Answer:
        check_output(options.table, "--table", [str(options.file)], (".csv",))
        return _status(options)

    def report(options: Any) -> Answer:
        check_output(options.report, "report", [str(options.file)], tuple(REPORT_FORMS))
        return _report(options)

    step = add(steps, "status", say(status), "Say how far a study is.", STATUS)
    step.add_argument("file", type=Path, help="file of a study")
    step.add_argument("--table", type=Path, metavar="PATH", help="write all values there (.csv)")
    _add_output(step)
    step = add(steps, "report", say(report), "Write what came out as a page or a text.", REPORT)
    step.add_argument("file", type=Path, help="file of a study")
    step.add_argument("report", type=Path, help="where the report goes: .html, .md or .tex")
    step.add_argument("--title", help="heading of the report")
    _add_output(step)


def _add_output(step: argparse.ArgumentParser) -> None:
    output = step.add_mutually_exclusive_group()
    output.add_argument("--quiet", action="store_true", help="print nothing")
    output.add_argument("--json", action="store_true", help="print one JSON document")


def _add_run(step: argparse.ArgumentParser) -> None:
    step.add_argument("file", type=Path, help="file of the study (made where there is none), or its .toml")
    given = step.add_argument_group("the study, where there is no .toml")
    given.add_argument("-x", "--datasets", action="append", metavar="[NAME=]DATA", help="a data file, or a bundled set")
    given.add_argument(
        "-m", "--methods", action="append", metavar="[NAME=]METHOD", help=f"one of: {', '.join(METHODS)}"
    )
    given.add_argument("--labels", action="append", metavar="NAME=LABELS", help="a column, or file.csv[:column]")
    given.add_argument("--indices", type=_words, help=f"default, all, or of: {', '.join(INDICES)}")
    given.add_argument("-r", "--replicates", type=int, metavar="R", help="runs of each method on each data set (1)")
    given.add_argument("-d", "--n-components", type=_numbers, metavar="D[,D...]", help="columns of embeddings (2)")
    given.add_argument("-k", "--n-neighbors", type=_numbers, metavar="K[,K...]", help="numbers of neighbors (15)")
    given.add_argument("--subsample", type=float, metavar="S", help="share of the points that each replicate sees")
    given.add_argument("--metric", choices=METRICS, help="distance in the data (euclidean)")
    given.add_argument("--anchors", type=int, metavar="M", help="see from M points drawn at random (large data)")
    given.add_argument("--random-state", type=int, metavar="SEED", help="seed (drawn, and kept in the file)")
    step.add_argument("--n-jobs", type=int, metavar="J", help="processes (1)")
    step.add_argument("--limit", type=int, metavar="N", help="stop after that many cells")
    step.add_argument("--retry-failed", action="store_true", help="compute again what failed")
    _add_output(step)


GIVEN = (
    "datasets",
    "methods",
    "labels",
    "indices",
    "replicates",
    "n_components",
    "n_neighbors",
    "subsample",
    "metric",
    "anchors",
    "random_state",
)


def _words(text: str) -> str | list[str]:
    """Words between commas; "default" and "all" stay."""
    return text if text in ("default", "all") else [word.strip() for word in text.split(",") if word.strip()]


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be whole numbers separated by commas: got {text!r}") from None


def _run(options: Any) -> Answer:
    from dreval.study import Study

    path, arguments = _arguments(options)
    study = Study(path, **arguments)
    progress = False if options.quiet or options.json else None
    try:
        study.run(n_jobs=options.n_jobs, progress=progress, limit=options.limit, retry_failed=options.retry_failed)
    except KeyboardInterrupt:
        return STOPPED, "" if options.quiet else f"{study.status()}\n\nstopped; the same command goes on from here"
    return _said(study.status(), options)


def _arguments(options: Any) -> tuple[Path, dict[str, Any]]:
    """The file of the study and the arguments of ``Study``, from the command line or from a .toml."""
    given = {name: getattr(options, name) for name in GIVEN if getattr(options, name) is not None}
    if options.file.suffix.lower() == ".toml":
        if given:
            name = next(iter(given)).replace("_", "-")
            cure = f"Write it into {options.file.name}."
            raise InputError(f"--{name}", "must stand in the .toml where there is one", "both", cure)
        return _read_toml(options.file)
    for name, example in (("datasets", "-x wdbc"), ("methods", "-m pca")):
        if name not in given:
            raise InputError(f"--{name}", "must be given", "none", f"Add {example}, or name a .toml.")
        given[name] = _pairs(given[name])
    if "labels" in given:
        given["labels"] = _labels(given["labels"])
    return options.file, given


def _pairs(texts: list[str]) -> Any:
    """NAME=VALUE by name, and values that name themselves."""
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
    """Labels by the name of their data set."""
    for text in texts:
        if not all(text.partition("=")):
            raise InputError("--labels", "must be NAME=LABELS", repr(text), "Write --labels mine=kind.")
    return {name: value for name, _, value in (text.partition("=") for text in texts)}


def _read_toml(path: Path) -> tuple[Path, dict[str, Any]]:
    """The arguments of ``Study`` in a .toml; the file of the study has its name unless it says another."""
    from dreval.study import Study

    if not path.is_file():
        raise InputError("file", "must be an existing file", repr(str(path)), "Check the name.")
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


def _status(options: Any) -> Answer:
    from dreval.study import Study

    study = Study.open(options.file)
    if options.table:
        study.table().to_csv(options.table, index=False)
    return _said(study.status(), options)


def _report(options: Any) -> Answer:
    from dreval.study import Study

    study = Study.open(options.file)
    path = study.report(options.report, title=options.title)
    if options.json:
        return DONE, json.dumps({"report": str(path), **_counts(study.status())}, indent=1)
    return DONE, "" if options.quiet else f"report written to {path}"


def _said(status: Any, options: Any) -> Answer:
    """Exit code and text of a status."""
    code = DONE if status.complete and not status.count("failed") else NOT_ALL
    if options.json:
        return code, _json(status)
    return code, "" if options.quiet else str(status)


def _counts(status: Any) -> dict[str, Any]:
    from dreval.results.study_file import STATES

    counts = {state: status.count(state) for state in STATES}
    return {"file": status.name, "cells": len(status.cells), **counts, "seconds": status.seconds}


def _json(status: Any) -> str:
    """The status as one document: counts, and every cell."""
    cells = [
        {key: None if isinstance(value, float) and not math.isfinite(value) else value for key, value in row.items()}
        for row in status.cells.to_dict("records")
    ]
    return json.dumps({**_counts(status), "states": cells}, indent=1, allow_nan=False)
