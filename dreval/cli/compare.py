"""The command ``dreval compare``, with the names and defaults of ``dreval.compare`` and ``Results.compare``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dreval.cli._arguments import add_arguments, margins, names, pairs
from dreval.cli._exit import ExitCode, exit_codes
from dreval.cli._output import (
    Printer,
    add_files,
    add_formats,
    check_files,
    print_record,
    with_command,
    write_files,
)

if TYPE_CHECKING:
    from dreval.cli._main import CommandParser

ARGUMENTS = (
    "names", "measure", "baseline", "margin", "direction", "tests", "rope", "columns", "alpha", "adjust",
    "random_state",
)  # fmt: skip
EPILOG = f"""examples:
  dreval compare iris.dreval wine.dreval table.csv --rope 0.01
  dreval compare v1.dreval v2.dreval
  dreval compare wine.dreval --measures trustworthiness --plot forest.svg
  dreval compare study.journal --paragraph latex
  dreval compare study.journal --report out.html

Saved results on the same data are compared by their points. A study, files on
several data sets, or a table with the columns dataset, embedding and value are
compared across data sets.

{exit_codes()}"""


def _directions(text: str) -> str | dict[str, str]:
    """Return one direction for all measures, or one for each."""
    return pairs(text) if "=" in text else text


SHELL = {
    "measure": {"flag": "--measures", "type": names, "metavar": "NAME[,...]", "help": "measures to compare (all)"},
    "baseline": {"metavar": "NAME"},
    "margin": {"type": margins, "metavar": "M", "help": "one data set: margin of equivalence, or NAME=M,..."},
    "direction": {"type": _directions, "metavar": "WORD",
                  "help": "higher, lower, or NAME=lower,... (from the card of the measure)"},
    "tests": {"help": "default, all, or of: friedman, nemenyi, wilcoxon, mixed, bayes"},
    "alpha": {"sentence": "significance level of all tests; intervals have the level 1 - alpha"},
    "adjust": {"sentence": "adjustment of p-values, over all pairs and measures that have the same test"},
    "random_state": {"sentence": "seed of the draws of bayes and of friedman"},
    "columns": {"type": pairs, "metavar": "NAME=COLUMN,...", "help": "names of the columns of tables"},
}  # fmt: skip


def add_command(add: Callable[..., CommandParser]) -> None:
    """Add the command and its arguments to the parser."""
    parser = add("compare", _compare, "Compare embeddings on one data set, or across data sets.", EPILOG)
    parser.add_argument(
        "results", nargs="+", help="saved results (.dreval), studies (.journal), tables (.csv .tsv .parquet)"
    )
    add_arguments(parser, "dreval.comparison.compare:compare", ARGUMENTS, **SHELL)
    add_files(parser, "comparison")
    add_formats(parser, "recipe, pairs, overall, standing, notes")


def _compare(options: Any, say: Printer) -> int:
    """Compare, print the result, and write the requested files; the result is printed before a figure can fail."""
    from dreval.comparison.compare import compare

    check_files(options, options.results, "comparison")
    arguments = {name: getattr(options, name) for name in ARGUMENTS}
    comparison = with_command(compare(options.results, **arguments), options)
    print_record(comparison, options, say)
    write_files(comparison, options, say, "comparison")
    return ExitCode.OK
