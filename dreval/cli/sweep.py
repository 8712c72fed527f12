"""The verb ``dreval sweep``, with the names and defaults of ``dreval.sweep``."""

from __future__ import annotations

import argparse
from ast import literal_eval
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dreval.cli._main import (
    DATA,
    DONE,
    FIGURES,
    NOT_ALL,
    Say,
    Verb,
    add_answer,
    add_header,
    check_different,
    check_output,
    check_report,
    json_text,
    names,
    neighbors,
    one_of,
    write_files,
)
from dreval.errors import InputError
from dreval.glossary import METRICS
from dreval.records.base import write_whole
from dreval.registry import MEASURES, METHODS

CODES = "exit codes: 0 done, 1 some setting failed, 2 refused, 130 stopped by Ctrl-C"
EPILOG = f"""examples:
  dreval sweep data.csv --method isomap --grid n_neighbors=10,12,15
  dreval sweep data.csv -m lle --grid n_neighbors=8,12 --grid n_components=1,2
  dreval sweep kinds.csv -m pca --grid n_components=1,2 --labels kind
  dreval sweep data.csv -m umap --grid n_neighbors=5,15 --store sweep.journal
  dreval sweep data.csv -m tsne --grid perplexity=5,10 --report out.html

With --store the same command repeated goes on where the last one stopped.

{CODES}"""
if TYPE_CHECKING:
    from dreval.records.sweep import Sweep

WORDS = {"none": None, "true": True, "false": False}


def add_verb(add: Callable[..., Verb]) -> None:
    """Add the verb to the command line."""
    verb = add("sweep", _sweep, "Find the settings of a method not distinguishable from the best.", EPILOG)
    verb.add_argument("data", help=DATA)
    verb.add_argument("-m", "--method", required=True, help=f"one of {len(METHODS.names())}, see: dreval list methods")
    verb.add_argument(
        "--grid", type=_values, action="append", required=True, metavar="OPTION=VALUE[,...]",
        help="values of an option of the method; of several options every combination is run",
    )  # fmt: skip
    verb.add_argument(
        "--measures", type=names, default="r_nx_auc", metavar="MEASURE[,...]",
        help=f"the first decides (r_nx_auc), of {len(MEASURES.names())}: see dreval list measures",
    )  # fmt: skip
    verb.add_argument(
        "--over", **one_of(("auto", "seeds", "halves")), default="auto",
        help="replicates: other seeds, halves of the points, or auto: seeds where they matter",
    )  # fmt: skip
    verb.add_argument("-r", "--n-replicates", type=int, default=5, metavar="R", help="runs at each setting (5)")
    verb.add_argument("-d", "--n-components", type=int, metavar="D", help="columns of the embeddings (2)")
    verb.add_argument(
        "-k", "--n-neighbors", type=neighbors, default="auto", metavar="K[,K...]",
        help="numbers of neighbors of the measures (15, or fewer of few points)",
    )  # fmt: skip
    verb.add_argument("--alpha", type=float, default=0.05, help="one minus the level of the best set (0.05)")
    verb.add_argument("--ids", metavar="COLUMN", help="column with the row names")
    add_header(verb)
    verb.add_argument("--labels", help="classes: a column of the data (no feature then), or file.csv[:column]")
    verb.add_argument(
        "--metric", **one_of(METRICS), default=METRICS[0], metavar="METRIC", help=f"distance in the data ({METRICS[0]})"
    )
    verb.add_argument("--random-state", type=int, metavar="SEED", help="seed (drawn, and printed)")
    verb.add_argument("--n-jobs", type=int, metavar="J", help="processes (1)")
    verb.add_argument("--store", metavar="PATH", help="keep finished runs in this file, and go on from it")
    verb.add_argument("--report", type=Path, metavar="PATH", help="write a report (.html .md .tex)")
    verb.add_argument("--save", type=Path, metavar="PATH", help="save the sweep (read by dreval.load_results)")
    verb.add_argument("--table", type=Path, metavar="PATH", help="write all values to this file (.csv)")
    verb.add_argument(
        "--plot", type=Path, metavar="PATH", help=f"draw the first measure into this file ({' '.join(FIGURES)})"
    )
    add_answer(verb, "recipe, best_set (of each measure), table, notes")


def _values(text: str) -> tuple[str, list[Any]]:
    """An option and its values: numbers, true, false and none are what they say, everything else is a word."""
    name, equals, values = text.partition("=")
    if not name.strip() or not equals or not values.strip():
        raise argparse.ArgumentTypeError(f"must be OPTION=VALUE[,VALUE...]: got {text!r}")
    return name.strip().replace("-", "_"), [_value(word.strip()) for word in values.split(",")]


def _value(word: str) -> Any:
    if word.lower() in WORDS:
        return WORDS[word.lower()]
    try:
        found = literal_eval(word)
    except (ValueError, SyntaxError):
        return word
    return found if isinstance(found, int | float) else word


def _sweep(options: Any, say: Say) -> int:
    """Run the sweep, write what was asked for, and print the summary."""
    check_output(options.table, "--table", [options.data, options.labels], (".csv",))
    check_output(options.plot, "--plot", [options.data, options.labels], FIGURES)
    check_report(options.report, "--report", [options.data, options.labels])
    check_output(options.save, "--save", [options.data, options.labels])
    outputs = [(f"--{name}", getattr(options, name)) for name in ("store", "table", "plot", "report", "save")]
    check_different(outputs)
    METHODS.get(options.method, "method")
    twice = [name for at, (name, _) in enumerate(options.grid) if name in dict(options.grid[:at])]
    if twice:
        cure = f"Separate the values of one option by commas: --grid {twice[0]}=5,15."
        raise InputError("--grid", "must name an option once", repr(twice[0]), cure)
    from dreval.records.archive import check_saved, save_sweep
    from dreval.study.sweep import sweep

    if options.save:
        check_saved(options.save, "--save")

    given = {
        name: getattr(options, name)
        for name in (
            "measures", "over", "n_replicates", "n_components", "n_neighbors", "alpha", "ids", "labels", "metric",
            "header",
            "random_state", "n_jobs", "store",
        )
    }  # fmt: skip
    progress = False if options.quiet or options.json else None
    found = sweep(options.data, options.method, dict(options.grid), progress=progress, **given)
    if options.json:
        best = {name: found.best_set(name) for name in found.measures}
        say(json_text({"recipe": found.recipe, "best_set": best, "table": found.tidy(), "notes": found.notes}))
    else:
        say(str(found))
    write_files(
        [
            (
                "--table",
                options.table,
                lambda path: write_whole(path, found.tidy().to_csv(index=False), "table"),
                "table",
            ),
            ("--plot", options.plot, lambda path: found.plot().savefig(path), "figure"),
            ("--save", options.save, lambda path: save_sweep(found, path), "sweep"),
            ("--report", options.report, partial(_report, found), "report"),
        ],
        say,
        options.quiet or options.json,
    )
    return NOT_ALL if found.tidy()["n_replicates"].lt(given["n_replicates"]).any() else DONE


def _report(found: Sweep, path: Path) -> None:
    """Write the report of a sweep."""
    from dreval.report.others import write_sweep

    write_sweep(found, path)
