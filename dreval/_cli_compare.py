"""The verb ``dreval compare``, with the words and defaults of ``dreval.compare`` and ``Results.compare``."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dreval.errors import InputError

__all__ = ["COMPARE_OPTIONS", "add_compare"]

COMPARE_OPTIONS = ("index", "direction", "rope", "alpha", "columns")
EXAMPLE = """example:
  dreval compare iris.dreval wine.dreval table.csv --rope 0.01
  dreval compare wine.dreval --index trustworthiness --plot forest.svg
  dreval compare study.dreval --paragraph latex

One saved result is compared by its points; a study, several files, or a table with the
columns dataset, embedding and value, across data sets. exit codes: 0 done, 2 refused"""


def add_compare(
    new_verb: Callable[..., argparse.ArgumentParser], said: Callable[[Any], Any], check_output: Callable[..., None]
) -> None:
    """Add the verb to the command line."""

    def run(options: Any) -> tuple[int, str]:
        return _compare(options, check_output)

    verb = new_verb("compare", said(run), "Compare embeddings on one data set, or across data sets.", EXAMPLE)
    verb.add_argument("results", nargs="+", help="saved results and studies (.dreval), tables (.csv .tsv .parquet)")
    verb.add_argument("--index", action="append", metavar="NAME", help="an index; repeat for several (all)")
    verb.add_argument("--direction", type=_directions, help="higher, lower, or NAME=lower,... (as the index says)")
    verb.add_argument("--tests", type=_listed, help="default, all, or of: friedman, nemenyi, wilcoxon, mixed, bayes")
    verb.add_argument("--rope", type=float, metavar="R", help="differences below it do not count; adds bayes")
    verb.add_argument("--columns", type=_pairs, metavar="NAME=COLUMN,...", help="what columns of tables are called")
    verb.add_argument("--alpha", type=float, default=0.05, help="level (0.05)")
    verb.add_argument("--adjust", default="holm", help="p-values: holm, benjamini_hochberg or none")
    verb.add_argument("--random-state", type=int, metavar="SEED", help="seed of the draws of bayes (0)")
    verb.add_argument("--plot", type=Path, metavar="PATH", help="write the first figure (.png .svg .pdf)")
    output = verb.add_mutually_exclusive_group()
    output.add_argument("--paragraph", choices=("text", "markdown", "latex"), help="print the words for a paper")
    output.add_argument("--markdown", action="store_true", help="print the tables as Markdown")
    output.add_argument("--latex", action="store_true", help="print the tables as LaTeX")
    output.add_argument("--json", action="store_true", help="print one JSON document")


def _listed(text: str) -> str | list[str]:
    """Words between commas; "default" and "all" stay."""
    return text if text in ("default", "all") else [word.strip() for word in text.split(",") if word.strip()]


def _pairs(text: str) -> dict[str, str]:
    """NAME=VALUE pairs between commas."""
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(name and equals and value for name, equals, value in pairs):
        raise argparse.ArgumentTypeError(f"must be NAME=VALUE separated by commas: got {text!r}")
    return {name.strip(): value.strip() for name, _, value in pairs}


def _directions(text: str) -> str | dict[str, str]:
    """One word for all indices, or one for each."""
    return _pairs(text) if "=" in text else text


def _compare(options: Any, check_output: Callable[..., None]) -> tuple[int, str]:
    """Compare, draw, and say what is to be printed."""
    check_output(options.plot, "--plot", options.results, (".png", ".svg", ".pdf"))
    found = _found(options)
    if options.plot:
        found.plot().savefig(options.plot)
    if options.paragraph:
        return 0, found.paragraph(options.paragraph)
    if options.json:
        return 0, _json(found)
    summary = found.summary()
    return 0, summary.as_markdown() if options.markdown else summary.as_latex() if options.latex else str(summary)


def _found(options: Any) -> Any:
    """The comparison: of one saved result by its points, else across data sets."""
    from dreval.comparison._tables import TABLES
    from dreval.comparison.across import compare
    from dreval.results.archive import load_results
    from dreval.results.study_file import is_study

    results = options.results
    shared = {"index": options.index, "alpha": options.alpha, "adjust": options.adjust}
    across = {name: getattr(options, name) for name in ("direction", "tests", "rope", "columns", "random_state")}
    across = {name: value for name, value in across.items() if value is not None}
    single = len(results) == 1 and not is_study(results[0])
    if single and Path(results[0]).suffix.lower() not in TABLES:
        if across:
            name = next(iter(across)).replace("_", "-")
            cure = "Leave it out, or name results of more data sets."
            raise InputError(f"--{name}", "must be asked across data sets", "one saved result", cure)
        return load_results(results[0]).compare(**shared)
    return compare(results, **shared, **across)


def _json(found: Any) -> str:
    """All tables and the recipe as one document; missing numbers are null."""
    tables = {name: getattr(found, name).to_dict("records") for name in ("pairs", "overall", "standing")}
    plain = {
        name: [
            {
                key: None if isinstance(value, float) and not math.isfinite(value) else value
                for key, value in row.items()
            }
            for row in rows
        ]
        for name, rows in tables.items()
    }
    document = {"recipe": dict(found.recipe), **plain, "notes": list(found.notes)}
    return json.dumps(document, indent=1, default=str, allow_nan=False)
