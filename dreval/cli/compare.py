"""The command ``dreval compare``, with the names and defaults of ``dreval.compare`` and ``Results.compare``."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from dreval.cli._arguments import add_arguments, pairs
from dreval.cli._main import (
    DONE,
    FIGURES,
    CommandParser,
    Printer,
    add_answer,
    add_paragraph,
    check_output,
    check_report,
    json_text,
    paragraphs,
    with_command,
    write_files,
)
from dreval.records.base import whole_file
from dreval.records.frames import plain_notes

ARGUMENTS = (
    "names", "measure", "baseline", "margin", "direction", "tests", "rope", "columns", "alpha", "adjust",
    "random_state",
)  # fmt: skip
EPILOG = """examples:
  dreval compare iris.dreval wine.dreval table.csv --rope 0.01
  dreval compare v1.dreval v2.dreval
  dreval compare wine.dreval --measure trustworthiness --plot forest.svg
  dreval compare study.journal --paragraph latex
  dreval compare study.journal --report out.html

Saved results on the same data are compared by their points. A study, files on
several data sets, or a table with the columns dataset, embedding and value are
compared across data sets.

exit codes: 0 done, 2 invalid input"""


def _directions(text: str) -> str | dict[str, str]:
    """Return one direction for all measures, or one for each."""
    return pairs(text) if "=" in text else text


def _margin(text: str) -> float | dict[str, float]:
    """Return one margin, or one for each measure."""
    try:
        return {name: float(value) for name, value in pairs(text).items()} if "=" in text else float(text)
    except ValueError:
        requirement = "must be a number with a decimal point, or NAME=NUMBER separated by commas"
        raise argparse.ArgumentTypeError(f"{requirement}: got {text!r}") from None


SHELL = {
    "measure": {"type": str, "action": "append", "metavar": "NAME", "help": "a measure; repeat for several (all)"},
    "baseline": {"metavar": "NAME"},
    "margin": {"type": _margin, "metavar": "M", "help": "one data set: margin of equivalence, or NAME=M,..."},
    "direction": {"type": _directions, "metavar": "WORD",
                  "help": "higher, lower, or NAME=lower,... (from the card of the measure)"},
    "tests": {"help": "default, all, or of: friedman, nemenyi, wilcoxon, mixed, bayes"},
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
    parser.add_argument("--report", type=Path, metavar="PATH", help="write a report (.html .md)")
    parser.add_argument("--plot", type=Path, metavar="PATH", help="write the first figure (.png .svg .pdf)")
    output = add_answer(parser, "recipe, pairs, overall, standing, notes", with_quiet=True)
    parser.add_argument("--full", action="store_true", help="print all standings and pairs, however many")
    add_paragraph(output)
    output.add_argument("--bibtex", action="store_true", help="print the works that the methods cite, for BibTeX")
    output.add_argument("--markdown", action="store_true", help="print the tables as Markdown")
    output.add_argument("--latex", action="store_true", help="print the tables as LaTeX")


def _compare(options: Any, say: Printer) -> int:
    """Compare, print the result, and write the requested files; the result is printed before a figure can fail."""
    from dreval.comparison.compare import compare

    check_report(options.report, "--report", options.results)
    check_output(options.plot, "--plot", options.results, FIGURES)
    arguments = {name: getattr(options, name) for name in ARGUMENTS}
    comparison = with_command(compare(options.results, **arguments), options)
    if options.paragraph:
        say(paragraphs(comparison, options.paragraph))
    elif options.bibtex:
        from dreval.report.documents.methods import bibtex

        say(bibtex(comparison).rstrip())
    elif options.json:
        say(_document(comparison))
    else:
        from dreval.report.documents.comparison import comparison_summary

        summary = comparison_summary(comparison, options.full, shell=True)
        say(summary.as_markdown() if options.markdown else summary.as_latex() if options.latex else str(summary))
    outputs = [
        ("--report", options.report, partial(_write, comparison), "report"),
        ("--plot", options.plot, partial(_draw, comparison), "figure"),
    ]
    write_files(outputs, say, bool(options.json or options.paragraph or options.bibtex))
    return DONE


def _write(comparison: Any, path: Path) -> None:
    """Write the report."""
    from dreval.report.write import write_comparison

    write_comparison(comparison, path)


def _draw(comparison: Any, path: Path) -> None:
    """Write the default figure."""
    from dreval.report.plot import plot_comparison

    with whole_file(path, "plot") as file:
        plot_comparison(comparison).savefig(file, format=path.suffix[1:].lower())


def _document(comparison: Any) -> str:
    """Return all tables and the recipe as one JSON document."""
    tables = {name: getattr(comparison, name) for name in ("pairs", "overall", "standing")}
    return json_text({"recipe": dict(comparison.recipe), **tables, "notes": plain_notes(comparison.notes)})
