"""The command ``dreval protocol``: export, status and collect, with the names and defaults of ``dreval.Protocol``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dreval.cli._arguments import DATA, SPLIT, add_arguments
from dreval.cli._exit import ExitCode, exit_codes
from dreval.cli._output import Printer, add_answer, json_text, shell_summary
from dreval.errors import DrevalError
from dreval.records.notes import note_from_error
from dreval.registry import MEASURES, TESTS

if TYPE_CHECKING:
    from dreval.cli._main import CommandParser

PROTOCOL = "dreval.protocol.protocol:Protocol"
TRANSFORMED = ("transformation", "amplitude", "n_transformations", "kernel", "n_replicates")
RERUNS = ("noise", "null", "seeds", "halves", "splits", "split")
SETTINGS = (*RERUNS, "labels", "ids", "header", "new_data", "random_state")
SHELL = {
    "amplitude": {"sentence": "size of the transformations"},
    "n_transformations": {"sentence": "number of transformed data sets, or all"},
    "kernel": {"sentence": "kernel of the transformations"},
    "labels": {"sentence": "column of the data that is not a feature"},
    "ids": {"sentence": "column with the row names, by which returned rows are matched"},
    "seeds": {"sentence": "runs with other seeds, for stability; none by default"},
    "halves": {"sentence": "runs on random halves of the points, for stability; none by default"},
    "splits": {"sentence": "splits of the measurements, for held-out fidelity; none by default"},
    "split": SPLIT,
    "new_data": {"metavar": "FILE", "sentence": "new points, which the tool places on the map by the fit of the data"},
    "embedding": {"metavar": "FILE", "sentence": "embedding of the data, if it exists already"},
    "random_state": {"sentence": "seed; by default one is drawn, and stored in the folder"},
}
FULL = "print all notes and settings"
KEYS = "folder, round, complete, returned, missing, wrong, tasks, notes"
COLLECTED = (
    "trustability",
    "tractable_consistency",
    "stability",
    "noise",
    "held_out_fidelity",
)  # each if its runs were exported
OF_HALVES = "stability_halves"  # the name of a second stability, over halves, where seeds were exported too

ABOUT = "Run a method outside Python, for measures that re-run it."
STEPS = f"""steps:
  dreval protocol export data.csv umap --n-transformations 50
  Rscript umap/run_uwot.R   # or sh umap/run.sh ./my_tool; see umap/README.md
  dreval protocol export data.csv umap       # repeated: the second round
  Rscript umap/run_uwot.R
  dreval protocol status umap
  dreval protocol collect umap

{exit_codes("something is missing")}"""
EXPORT = f"""examples:
  dreval protocol export cells.csv umap --ids cell --n-transformations 50
  dreval protocol export data.csv umap --embedding umap.csv  # both rounds

{exit_codes()}"""
STATUS = f"""examples:
  dreval protocol status umap
  dreval protocol status umap --json

{exit_codes("some are missing or wrong", "all files returned")}"""
COLLECT = f"""examples:
  dreval protocol collect umap
  dreval protocol collect umap --partial --json

{exit_codes("some measure has no value or some run is missing (--partial)")}"""


def add_command(add: Callable[..., CommandParser]) -> None:
    """Add the command and its arguments to the parser."""
    step = add("protocol", None, ABOUT, STEPS).steps("STEP")
    parser = step("export", _export, "Write the input files of the next round.", EXPORT)
    parser.add_argument("data", help=DATA)
    parser.add_argument("folder", type=Path, help="new folder, or one with the returned embedding (second round)")
    add_arguments(parser, PROTOCOL, ("n_components",))
    add_arguments(parser, "dreval.measures.consistency:tractable_consistency", TRANSFORMED, defaults=False, **SHELL)
    add_arguments(parser, PROTOCOL, SETTINGS, **SHELL)
    add_arguments(parser, f"{PROTOCOL}.export", ("format", "embedding"), **SHELL)
    add_answer(parser, KEYS)
    parser.add_argument("--full", action="store_true", help=FULL)
    parser = step("status", _status, "Print which files have been returned, and what to do next.", STATUS)
    parser.add_argument("folder", type=Path, help="folder of an export")
    add_answer(parser, KEYS)
    parser.add_argument("--full", action="store_true", help=FULL)
    parser = step("collect", _collect, "Check the returned files and compute the measures.", COLLECT)
    parser.add_argument("folder", type=Path, help="folder of an export")
    parser.add_argument(
        "--partial", action="store_true", help="accept missing files; measures count them as failed runs"
    )
    add_answer(parser, "tool, notes, measures (value, chance, parts, recipe, notes), tests (p_value, notes, ...)")
    parser.add_argument("--full", action="store_true", help=FULL)


def _export(options: Any, say: Printer) -> int:
    from dreval.protocol.protocol import Protocol
    from dreval.report.documents.small import protocol_summary

    settings = {name: getattr(options, name) for name in ("n_components", *TRANSFORMED, *SETTINGS)}
    protocol = Protocol(options.data, **settings)
    status = protocol.export(options.folder, format=options.format, embedding=options.embedding)
    say(_status_document(status) if options.json else str(protocol_summary(status, options.full, shell=True)))
    return ExitCode.OK


def _status(options: Any, say: Printer) -> int:
    from dreval.protocol.protocol import Protocol
    from dreval.report.documents.small import protocol_summary

    status = Protocol.status(options.folder)
    say(_status_document(status) if options.json else str(protocol_summary(status, options.full, shell=True)))
    return ExitCode.OK if status.complete else ExitCode.FAILED


def _status_document(status: Any) -> str:
    """Return the status as a JSON document."""
    counts = {state: len(getattr(status, state)) for state in ("returned", "missing", "wrong")}
    header = {"folder": str(status.folder), "round": status.round, "complete": status.complete, **counts}
    return json_text({**header, "tasks": status.table, "notes": list(status.notes)})


@dataclass
class _NoValue:
    """A measure without a value, with the error that is the reason."""

    name: str
    error: DrevalError

    def __str__(self) -> str:
        return f"{(MEASURES if self.name in MEASURES else TESTS).card(self.name).title}: no value. {self.error}"


def _collect(options: Any, say: Printer) -> int:
    from dreval.protocol.protocol import Protocol

    source = Protocol.collect(options.folder, partial=options.partial)
    settings = source.recording.settings
    counts = (1, settings["n_transformations"], settings["seeds"] + settings["halves"], settings["noise"])
    counts = (*counts, settings.get("splits", 0))
    split = {"held_out_fidelity": settings.get("split", {})}
    requested = [name for name, count in zip(COLLECTED, counts, strict=True) if count != 0]
    results = {name: _compute(name, source, **split.get(name, {})) for name in requested}
    if settings["seeds"] and settings["halves"] and _over(results["stability"]) != "halves":
        results[OF_HALVES] = _compute("stability", source, over="halves")
    is_incomplete = any(run.values is None for run in source.recording.runs)
    is_incomplete |= any(isinstance(result, _NoValue) for result in results.values())
    printed = [
        result if isinstance(result, _NoValue) else shell_summary(result, options.full) for result in results.values()
    ]
    say(_document(source, results) if options.json else "\n\n".join(map(str, [*printed, *source.notes])))
    return ExitCode.FAILED if is_incomplete else ExitCode.OK


def _compute(name: str, source: Any, **options: Any) -> Any:
    try:
        return (MEASURES if name in MEASURES else TESTS).get(name)(source.data, source, **options)
    except DrevalError as error:
        return _NoValue(name, error)


def _over(result: Any) -> str | None:
    """Return which runs a stability compares: "seeds", "halves", or None without a value."""
    return None if isinstance(result, _NoValue) else result.recipe["parameters"]["over"]


def _document(source: Any, results: dict[str, Any]) -> str:
    """Return a JSON document with value, chance level, parts and notes of each measure; missing values are null."""
    document: dict[str, Any] = {"tool": source.name, "notes": list(source.notes), "measures": {}, "tests": {}}
    for name, result in results.items():
        failed = isinstance(result, _NoValue)
        notes = [note_from_error(result.error)] if failed else result.notes
        if name in TESTS:
            row = {"p_value": None} if failed else result.glance().iloc[0].to_dict()
            document["tests"][name] = {**row, "notes": notes}
        elif failed:
            document["measures"][name] = {"value": None, "chance": None, "recipe": None, "notes": notes}
        else:
            values = {"value": result.value, "chance": result.chance, **dict(result.parts)}
            document["measures"][name] = {**values, "recipe": result.recipe, "notes": notes}
    return json_text(document)
