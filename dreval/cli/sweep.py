"""The command ``dreval sweep``, with the names and defaults of ``dreval.sweep``."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dreval.cli._arguments import CLASSES, DATA, SPLIT, add_arguments, constant
from dreval.cli._exit import ExitCode, exit_codes
from dreval.cli._output import Printer, add_files, add_formats, check_files, print_record, write_files
from dreval.errors import InputError
from dreval.registry import MEASURES, METHODS

if TYPE_CHECKING:
    from dreval.cli._main import CommandParser

EPILOG = f"""examples:
  dreval sweep data.csv --method isomap --grid n_neighbors=10,12,15
  dreval sweep data.csv -m lle --grid n_neighbors=8,12 --grid n_components=1,2
  dreval sweep kinds.csv -m pca --grid n_components=1,2 --labels kind
  dreval sweep data.csv -m umap --grid n_neighbors=5,15 --journal sweep.journal
  dreval sweep data.csv -m tsne --grid perplexity=5,10 --report out.html
  dreval sweep data.csv -m lle --grid n_neighbors=8,9 --over split_measurements
  dreval sweep cells.h5ad --use-rep X_pca -m umap --grid min_dist=0.1,0.5

With --journal, the same command repeated continues where the last one stopped.

{exit_codes("some setting failed")}"""

EVALUATION = "dreval.evaluation.evaluation:Evaluation"
MATRIX = ("layer", "use_rep")
COLUMNS = ("labels", "groups", "ids", "header")
ARGUMENTS = (
    "measures", "over", "split", "n_replicates", "n_components", "n_neighbors", "alpha", "ids", "header", "labels",
    "groups", "metric", "random_state", "n_jobs", "journal",
)  # fmt: skip
SHELL = {
    "n_replicates": {"short": "-r"},
    "split": SPLIT,
    "labels": {"sentence": f"{CLASSES} (then not a feature)"},
    "journal": {"type": str},
}


def add_command(add: Callable[..., CommandParser]) -> None:
    """Add the command and its arguments to the parser."""
    parser = add("sweep", _sweep, "Find settings of a method not distinguishable from the best.", EPILOG)
    parser.add_argument("data", help=DATA)
    parser.add_argument(
        "-m", "--method", required=True, help=f"one of {len(METHODS.names())}, see: dreval list methods"
    )
    parser.add_argument(
        "--grid", type=_values, action="append", required=True, metavar="OPTION=VALUE[,...]",
        help="values of an option of the method; for several options every combination is run",
    )  # fmt: skip
    add_arguments(parser, "dreval.study.sweep:sweep", ARGUMENTS, **SHELL)
    add_arguments(parser, EVALUATION, MATRIX)
    add_files(parser, "sweep", "MEASURE", "of this measure")
    add_formats(parser, "recipe, best_set (of each measure), table, notes")


def _values(text: str) -> tuple[str, list[Any]]:
    """Return an option and its values: numbers, true, false and none are converted, anything else is text."""
    name, equals, values = text.partition("=")
    if not name.strip() or not equals or not values.strip():
        raise argparse.ArgumentTypeError(f"must be OPTION=VALUE[,VALUE...]: got {text!r}")
    return name.strip().replace("-", "_"), [constant(text.strip()) for text in values.split(",")]


def _sweep(options: Any, say: Printer) -> int:
    """Run the sweep, print the summary, and write the requested files."""
    check_files(options, [options.data, options.labels])
    for measure in (measure for measure, _ in options.plot if measure):
        MEASURES.get(measure, "--plot")
    METHODS.get(options.method, "method")
    repeated = [name for index, (name, _) in enumerate(options.grid) if name in dict(options.grid[:index])]
    if repeated:
        hint = f"Separate the values of one option by commas: --grid {repeated[0]}=5,15."
        raise InputError("--grid", "must name an option once", repr(repeated[0]), hint)
    from dreval.inputs.data import as_data
    from dreval.study.sweep import sweep

    arguments = {name: getattr(options, name) for name in ARGUMENTS}
    data, matrix = options.data, {name: getattr(options, name) for name in MATRIX}
    if set(matrix.values()) != {None}:  # which dreval.sweep lacks: in Python the matrix itself is passed
        data = as_data(data, **matrix, **{name: arguments[name] for name in (*COLUMNS, "metric")})
    progress = False if options.quiet or options.json else None
    result = sweep(data, options.method, dict(options.grid), progress=progress, **arguments)
    print_record(result, options, say)
    write_files(result, options, say, "sweep")
    is_incomplete = result.tidy()["n_replicates"].lt(arguments["n_replicates"]).any()
    return ExitCode.FAILED if is_incomplete else ExitCode.OK
