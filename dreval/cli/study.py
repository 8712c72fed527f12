"""The verb ``dreval study``: run, status and report, with the words and defaults of ``dreval.Study``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from dreval.cli._arguments import (
    DONE,
    NOT_ALL,
    STOPPED,
    Say,
    Verb,
    add_answer,
    check_output,
    check_report,
    json_text,
)
from dreval.cli._study_plan import add_plan, planned

__all__ = ["add_study"]

ABOUT = "Many methods on many data sets, many times: each cell once, kept in one file."
CODES = "exit codes: 0 all is done, 1 some cell failed or is not done, 2 refused"
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

The same command again goes on where the last one stopped; several may run on
one file at the same time. In study.toml stand the arguments of dreval.Study,
paths as seen from the working folder:

  path = "study.dreval"            # this name, where it is left out
  datasets = ["wdbc", "mine.csv"]
  replicates = 5
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


def add_study(add: Callable[..., Verb]) -> None:
    """Add the verb to the command line."""
    step = add("study", None, ABOUT, STEPS).steps("STEP")
    verb = step("run", _run, "Compute the cells that are not there yet.", RUN)
    add_plan(verb)
    verb.add_argument("--n-jobs", type=int, metavar="J", help="processes (1)")
    verb.add_argument("--limit", type=int, metavar="N", help="stop after that many cells")
    verb.add_argument("--retry-failed", action="store_true", help="compute again what failed")
    add_answer(verb, f"{COUNTS}, states (a row for each cell)")
    verb = step("status", _status, "Say how far a study is.", STATUS)
    verb.add_argument("file", type=Path, help="file of a study")
    verb.add_argument("--table", type=Path, metavar="PATH", help="write all values there (.csv)")
    add_answer(verb, f"{COUNTS}, states (a row for each cell)")
    verb = step("report", _report, "Write what came out as a page or a text.", REPORT)
    verb.add_argument("file", type=Path, help="file of a study")
    verb.add_argument("report", type=Path, help="where the report goes; the suffix says its form, as .html")
    verb.add_argument("--title", help="heading of the report")
    add_answer(verb, f"report, {COUNTS}")


def _run(options: Any, say: Say) -> int:
    from dreval.study.study import Study

    path, arguments = planned(options)
    study = Study(path, **arguments)
    progress = False if options.quiet or options.json else None
    try:
        study.run(n_jobs=options.n_jobs, progress=progress, limit=options.limit, retry_failed=options.retry_failed)
    except KeyboardInterrupt:
        _tell(study.status(), options, say)
        if not options.json:
            say("\nstopped; the same command goes on from here")
        return STOPPED
    return _tell(study.status(), options, say)


def _status(options: Any, say: Say) -> int:
    from dreval.study.study import Study

    check_output(options.table, "--table", [str(options.file)], (".csv",))
    study = Study.open(options.file)
    if options.table:
        study.table().to_csv(options.table, index=False)
    return _tell(study.status(), options, say)


def _report(options: Any, say: Say) -> int:
    from dreval.study.study import Study

    check_report(options.report, "report", [str(options.file)])
    study = Study.open(options.file)
    path = study.report(options.report, title=options.title)
    document = {"report": str(path), **_counts(study.status())}
    say(json_text(document) if options.json else f"report written to {path}")
    return DONE


def _tell(status: Any, options: Any, say: Say) -> int:
    """Say how far the study is, and give the code of that."""
    say(json_text({**_counts(status), "states": status.cells}) if options.json else str(status))
    return DONE if status.complete and not status.count("failed") else NOT_ALL


def _counts(status: Any) -> dict[str, Any]:
    """The file, and how many cells there are in each state."""
    from dreval.journal.study_file import STATES

    counts = {state: status.count(state) for state in STATES}
    return {"file": status.name, "cells": len(status.cells), **counts, "seconds": status.seconds}
