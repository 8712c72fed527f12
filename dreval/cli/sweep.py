"""The command ``dreval sweep``, with the names and defaults of ``dreval.sweep``."""

from __future__ import annotations

import argparse
from ast import literal_eval
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dreval.cli._arguments import CLASSES, DATA, add_arguments
from dreval.cli._main import (
    DONE,
    FIGURES,
    INCOMPLETE,
    CommandParser,
    Printer,
    add_answer,
    check_different,
    check_output,
    check_report,
    json_text,
    write_files,
)
from dreval.errors import InputError
from dreval.records.base import write_atomic
from dreval.registry import METHODS

CODES = "exit codes: 0 done, 1 some setting failed, 2 invalid input,\n130 stopped by Ctrl-C"
EPILOG = f"""examples:
  dreval sweep data.csv --method isomap --grid n_neighbors=10,12,15
  dreval sweep data.csv -m lle --grid n_neighbors=8,12 --grid n_components=1,2
  dreval sweep kinds.csv -m pca --grid n_components=1,2 --labels kind
  dreval sweep data.csv -m umap --grid n_neighbors=5,15 --journal sweep.journal
  dreval sweep data.csv -m tsne --grid perplexity=5,10 --report out.html

With --journal, the same command repeated continues where the last one stopped.

{CODES}"""
if TYPE_CHECKING:
    from dreval.records.sweep import Sweep

ARGUMENTS = (
    "measures", "over", "n_replicates", "n_components", "n_neighbors", "alpha", "ids", "header", "labels", "metric",
    "random_state", "n_jobs", "journal",
)  # fmt: skip
SHELL = {
    "n_replicates": {"short": "-r"},
    "labels": {"sentence": f"{CLASSES} (then not a feature)"},
    "journal": {"type": str},
}
CONSTANTS = {"none": None, "true": True, "false": False}


def add_command(add: Callable[..., CommandParser]) -> None:
    """Add the command and its arguments to the parser."""
    parser = add("sweep", _sweep, "Find the settings of a method that are not distinguishable from the best.", EPILOG)
    parser.add_argument("data", help=DATA)
    parser.add_argument(
        "-m", "--method", required=True, help=f"one of {len(METHODS.names())}, see: dreval list methods"
    )
    parser.add_argument(
        "--grid", type=_values, action="append", required=True, metavar="OPTION=VALUE[,...]",
        help="values of an option of the method; for several options every combination is run",
    )  # fmt: skip
    add_arguments(parser, "dreval.study.sweep:sweep", ARGUMENTS, **SHELL)
    parser.add_argument("--report", type=Path, metavar="PATH", help="write a report (.html .md)")
    parser.add_argument("--save", type=Path, metavar="PATH", help="save the sweep (read by dreval.load_results)")
    parser.add_argument("--table", type=Path, metavar="PATH", help="write all values to this file (.csv)")
    parser.add_argument(
        "--plot", type=Path, metavar="PATH", help=f"draw the first measure into this file ({' '.join(FIGURES)})"
    )
    add_answer(parser, "recipe, best_set (of each measure), table, notes")


def _values(text: str) -> tuple[str, list[Any]]:
    """Return an option and its values: numbers, true, false and none are converted, anything else is text."""
    name, equals, values = text.partition("=")
    if not name.strip() or not equals or not values.strip():
        raise argparse.ArgumentTypeError(f"must be OPTION=VALUE[,VALUE...]: got {text!r}")
    return name.strip().replace("-", "_"), [_value(text.strip()) for text in values.split(",")]


def _value(text: str) -> Any:
    if text.lower() in CONSTANTS:
        return CONSTANTS[text.lower()]
    try:
        value = literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return value if isinstance(value, int | float) else text


def _sweep(options: Any, say: Printer) -> int:
    """Run the sweep, write the requested files, and print the summary."""
    check_output(options.table, "--table", [options.data, options.labels], (".csv",))
    check_output(options.plot, "--plot", [options.data, options.labels], FIGURES)
    check_report(options.report, "--report", [options.data, options.labels])
    check_output(options.save, "--save", [options.data, options.labels])
    outputs = [(f"--{name}", getattr(options, name)) for name in ("journal", "table", "plot", "report", "save")]
    check_different(outputs)
    METHODS.get(options.method, "method")
    repeated = [name for index, (name, _) in enumerate(options.grid) if name in dict(options.grid[:index])]
    if repeated:
        hint = f"Separate the values of one option by commas: --grid {repeated[0]}=5,15."
        raise InputError("--grid", "must name an option once", repr(repeated[0]), hint)
    from dreval.records.archive import check_saved, save_sweep
    from dreval.study.sweep import sweep

    if options.save:
        check_saved(options.save, "--save")

    arguments = {name: getattr(options, name) for name in ARGUMENTS}
    progress = False if options.quiet or options.json else None
    result = sweep(options.data, options.method, dict(options.grid), progress=progress, **arguments)
    if options.json:
        best = {name: result.best_set(name) for name in result.measures}
        say(json_text({"recipe": result.recipe, "best_set": best, "table": result.tidy(), "notes": result.notes}))
    else:
        say(str(result))
    write_files(
        [
            (
                "--table",
                options.table,
                lambda path: write_atomic(path, result.tidy().to_csv(index=False), "table"),
                "table",
            ),
            ("--plot", options.plot, lambda path: result.plot().savefig(path), "figure"),
            ("--save", options.save, lambda path: save_sweep(result, path), "sweep"),
            ("--report", options.report, partial(_report, result), "report"),
        ],
        say,
        options.quiet or options.json,
    )
    return INCOMPLETE if result.tidy()["n_replicates"].lt(arguments["n_replicates"]).any() else DONE


def _report(result: Sweep, path: Path) -> None:
    """Write the report of a sweep."""
    from dreval.report.write import write_sweep

    write_sweep(result, path)
