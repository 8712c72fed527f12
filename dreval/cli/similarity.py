"""The command ``dreval similarity``, with the names and defaults of ``dreval.representation_similarity``."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dreval.cli._arguments import add_arguments, pairs
from dreval.cli._exit import ExitCode, exit_codes
from dreval.cli._output import Printer, add_files, add_formats, check_files, print_record, with_command, write_files
from dreval.errors import DrevalError, InputError
from dreval.glossary import SIMILARITY_FIGURES
from dreval.inputs.kinds import distinct_names, split_member

if TYPE_CHECKING:
    from dreval.cli._main import CommandParser

EPILOG = f"""examples:
  dreval similarity old.npy new.npy --metric cosine
  dreval similarity old.csv new.csv --ids id --plot moved.png
  dreval similarity layer1.npy layer2.npy layer3.npy --plot matrix=m.svg
  dreval similarity old.npy new.npy --table values.csv --save out.dreval

Two files are compared, or all pairs of several. The moved items, those that
moved most first, are in the report, and in Python: load_results(...).augment().

{exit_codes()}"""

ARGUMENTS = (
    "measures", "n_neighbors", "ids", "groups", "anchors", "n_resamples", "alpha", "conf_level", "random_state",
    "n_jobs",
)  # fmt: skip
FUNCTION = "dreval.analyses.representation_similarity:representation_similarity"


def _metric(text: str) -> str | tuple[str, ...] | dict[str, str]:
    """Return one metric for all files, one for each of two, or metrics by name."""
    if "=" in text:
        return pairs(text)
    metrics = tuple(part.strip() for part in text.split(","))
    return metrics[0] if len(metrics) == 1 else metrics


SHELL = {
    "measures": {"help": "all, or of: overlap, cka, rsa, procrustes, imbalance"},
    "ids": {"metavar": "COLUMN", "help": "column that has the names of the items in each file"},
    "groups": {"metavar": "GROUPS", "help": "items that belong together: a column of the first file, or a file"},
}


def add_command(add: Callable[..., CommandParser]) -> None:
    """Add the command and its arguments to the parser."""
    parser = add("similarity", _similarity, "Compare representations of the same items: which items moved?", EPILOG)
    parser.add_argument("representations", nargs="+", help="two files or more with the same items in rows")
    parser.add_argument(
        "--metric", type=_metric, default="euclidean", metavar="METRIC[,METRIC]",
        help="euclidean, cosine, correlation or precomputed; for two files also two metrics (euclidean)",
    )  # fmt: skip
    add_arguments(parser, FUNCTION, ARGUMENTS, **SHELL)
    add_files(parser, "similarity", "KIND", f"of this kind: {', '.join(SIMILARITY_FIGURES)}")
    add_formats(parser, "recipe, table, maxima, curve, moved (of two files), notes", has_paper=False)


def _similarity(options: Any, say: Printer) -> int:
    """Compare the representations, print the summary, and write the requested files."""
    from dreval.analyses.representation_similarity import representation_similarity

    paths = options.representations
    check_files(options, [*paths, options.groups])
    for kind in (kind for kind, _ in options.plot if kind):
        if kind not in SIMILARITY_FIGURES:
            raise InputError(
                "--plot", f"must be one of {', '.join(SIMILARITY_FIGURES)}", repr(kind), "Write --plot items=a.png."
            )
    if len(paths) < 2:
        hint = "Write: dreval similarity old.npy new.npy."
        raise InputError("representations", "must be two files or more", f"{len(paths)}", hint)
    arguments = {name: getattr(options, name) for name in (*ARGUMENTS, "metric")}
    progress = False if options.quiet or options.json else None
    tables = [(os.path.realpath(file), member) for file, member in map(split_member, paths)]
    if repeated := [path for path, table in zip(paths, tables, strict=True) if tables.count(table) > 1]:
        received = f"{repeated[0]!r} twice" if repeated[0] == repeated[1] else f"{repeated[0]!r} and {repeated[1]!r}"
        raise InputError("representations", "must be different files", received, "Name each file once.")
    names = distinct_names(paths)
    inputs = paths if len(paths) == 2 else [dict(zip(names, paths, strict=True))]
    labels = {f"A[{name!r}]": path for name, path in zip(names, paths, strict=True)} | {"A": paths[0], "B": paths[1]}
    try:
        record = representation_similarity(*inputs, progress=progress, **arguments)
    except DrevalError as error:
        raise error.named(labels) from error.__cause__
    notes = (item.named(labels) for item in record.notes)
    record = replace(record, notes=tuple(item.with_values(data=f"`{paths[0]}`") for item in notes))
    seed = ["--random-state", str(record.recipe["random_state"])] if options.random_state is None else []
    record = with_command(record, options, *seed)
    print_record(record, options, say)
    write_files(record, options, say, "similarity")
    return ExitCode.OK
