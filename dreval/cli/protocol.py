"""The verb ``dreval protocol``: export, status and collect, with the words and defaults of ``dreval.Protocol``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dreval.cli._main import DATA, DONE, NOT_ALL, Say, Verb, add_answer, add_header, json_text
from dreval.errors import DrevalError
from dreval.records.notes import refusal
from dreval.registry import MEASURES, TESTS

KEYS = "folder, round, complete, returned, missing, wrong, tasks, notes"
ASKED = ("trustability", "tractable_consistency", "stability", "noise")  # each where its runs were exported

ABOUT = "Run a method outside Python, by exchanging files, for measures that re-run it."
STEPS = """steps:
  dreval protocol export data.csv umap --n-transformations 50
  Rscript umap/run_uwot.R   # or sh umap/run.sh ./my_tool; see umap/README.md
  dreval protocol export data.csv umap       # repeated: the second round
  Rscript umap/run_uwot.R
  dreval protocol status umap
  dreval protocol collect umap

exit codes: 0 done, 1 something is missing, 2 refused"""
EXPORT = """examples:
  dreval protocol export cells.csv umap --ids cell --n-transformations 50
  dreval protocol export data.csv umap --embedding umap.csv  # both rounds

exit codes: 0 done, 2 refused"""
STATUS = """examples:
  dreval protocol status umap
  dreval protocol status umap --json

exit codes: 0 all files returned, 1 some are missing or wrong, 2 refused"""
COLLECT = """examples:
  dreval protocol collect umap
  dreval protocol collect umap --partial --json

exit codes: 0 done, 1 some measure has no value or some run is missing
(--partial), 2 refused"""


def add_verb(add: Callable[..., Verb]) -> None:
    """Add the verb to the command line."""
    step = add("protocol", None, ABOUT, STEPS).steps("STEP")
    _add_export(step("export", _export, "Write the input files of the next round.", EXPORT))
    verb = step("status", _status, "Print which files have been returned, and what to do next.", STATUS)
    verb.add_argument("folder", type=Path, help="folder of an export")
    add_answer(verb, KEYS)
    verb = step("collect", _collect, "Check the returned files and compute the measures.", COLLECT)
    verb.add_argument("folder", type=Path, help="folder of an export")
    verb.add_argument("--partial", action="store_true", help="accept missing files; the measures count them as failed")
    add_answer(verb, "tool, notes, measures (value, chance, parts, recipe, notes), tests (p_value, notes, ...)")


def _add_export(step: Verb) -> None:
    step.add_argument("data", help=DATA)
    step.add_argument("folder", type=Path, help="new folder, or one with the returned embedding (second round)")
    step.add_argument("-d", "--n-components", type=int, metavar="D", help="columns of the embedding (2)")
    step.add_argument("--transformation", help="perturbation or definition (perturbation)")
    step.add_argument("--amplitude", type=float, metavar="A", help="size of the transformations (0.5)")
    step.add_argument("--n-transformations", type=_count, metavar="M", help="transformed data sets, or all (200)")
    step.add_argument("--kernel", help="gaussian, laplace or rational_quadratic (gaussian)")
    step.add_argument("--n-replicates", type=int, metavar="R", help="runs with other seeds (5)")
    step.add_argument("--noise", type=int, metavar="R", help="null data sets, for the noise test (0)")
    step.add_argument("--null", help="columns or gaussian: the null data (columns)")
    step.add_argument("--seeds", type=int, metavar="R", help="runs with other seeds, for stability (0)")
    step.add_argument("--halves", type=int, metavar="R", help="runs on random halves of the points, for stability (0)")
    step.add_argument("--labels", help="column of the data that is not a feature")
    step.add_argument("--ids", help="column with the row names, by which returned rows are matched")
    add_header(step)
    step.add_argument("--random-state", type=int, metavar="SEED", help="seed (drawn, and kept in the folder)")
    step.add_argument("--format", help="csv or parquet (csv)")
    step.add_argument("--embedding", metavar="FILE", help="embedding of the data, if it exists already")
    add_answer(step, KEYS)


def _count(text: str) -> int | str:
    return text if text == "all" else int(text)


def _export(options: Any, say: Say) -> int:
    from dreval.protocol.protocol import Protocol

    names = ("n_components", "transformation", "amplitude", "n_transformations", "kernel", "n_replicates")
    names += ("noise", "null", "seeds", "halves")
    settings = {name: getattr(options, name) for name in (*names, "labels", "ids", "header", "random_state")}
    made = Protocol(options.data, **settings).export(options.folder, format=options.format, embedding=options.embedding)
    say(_document_of_status(made) if options.json else str(made))
    return DONE


def _status(options: Any, say: Say) -> int:
    from dreval.protocol.protocol import Protocol

    status = Protocol.status(options.folder)
    say(_document_of_status(status) if options.json else str(status))
    return DONE if status.complete else NOT_ALL


def _document_of_status(status: Any) -> str:
    """The status as a JSON document."""
    counts = {state: len(getattr(status, state)) for state in ("returned", "missing", "wrong")}
    known = {"folder": str(status.folder), "round": status.round, "complete": status.complete, **counts}
    return json_text({**known, "tasks": status.table, "notes": list(status.notes)})


@dataclass
class _NoValue:
    """A measure without a value, and the error that says why."""

    name: str
    error: DrevalError

    def __str__(self) -> str:
        return f"{(MEASURES if self.name in MEASURES else TESTS).card(self.name).title}: no value. {self.error}"


def _collect(options: Any, say: Say) -> int:
    from dreval.protocol.protocol import Protocol

    source = Protocol.collect(options.folder, partial=options.partial)
    settings = source.recording.settings
    counts = (1, settings["n_transformations"], settings["seeds"] + settings["halves"], settings["noise"])
    found = {name: _compute(name, source) for name, count in zip(ASKED, counts, strict=True) if count != 0}
    lost = any(run.values is None for run in source.recording.runs)
    failed = lost or any(isinstance(one, _NoValue) for one in found.values())
    say(_document(source, found) if options.json else "\n\n".join(map(str, [*found.values(), *source.notes])))
    return NOT_ALL if failed else DONE


def _compute(name: str, source: Any) -> Any:
    try:
        return (MEASURES if name in MEASURES else TESTS).get(name)(source.data, source)
    except DrevalError as error:
        return _NoValue(name, error)


def _document(source: Any, found: dict[str, Any]) -> str:
    """A JSON document with value, chance level, parts and notes of each measure; missing ones are null."""
    body: dict[str, Any] = {"tool": source.name, "notes": list(source.notes), "measures": {}, "tests": {}}
    for name, one in found.items():
        refused = isinstance(one, _NoValue)
        if name in TESTS:
            numbers = {"p_value": None} if refused else one.glance().iloc[0].to_dict()
            body["tests"][name] = {**numbers, "notes": [refusal(one.error)] if refused else one.notes}
            continue
        parts = {} if refused else dict(one.parts)
        numbers = {"value": None, "chance": None} if refused else {"value": one.value, "chance": one.chance}
        rest = (
            {"recipe": None, "notes": [refusal(one.error)]} if refused else {"recipe": one.recipe, "notes": one.notes}
        )
        body["measures"][name] = {**numbers, **parts, **rest}
    return json_text(body)
