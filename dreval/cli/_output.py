"""What commands print and write: the formats of a record, its output files, and the checks of their paths."""

from __future__ import annotations

import argparse
import json
import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from dreval.cli._arguments import one_of
from dreval.errors import DrevalError, InputError
from dreval.glossary import ARGUMENTS, COLUMNS, PAPER_PARTS, TEXT_FORMS, TIDY_COLUMNS
from dreval.inputs.kinds import split_member
from dreval.records.base import FixedDict, is_journal, refuse_journal, whole_file, write_atomic
from dreval.records.frames import notes_of_table, plain_notes, rows_with_notes
from dreval.records.notes import FIRST_ROW_CODES, Note, join_notes
from dreval.records.provenance import to_plain
from dreval.report.format import join_and

FIGURES = (".png", ".svg", ".pdf")
RESULT_TABLE = (
    f"write all values to this file (.csv): {len(TIDY_COLUMNS)} columns, with --full all {len(COLUMNS)} (se, "
    "statistic, effect_size and others); curves and new points to files next to it"
)
FURTHER_TABLES = ("new-points", "curves")  # ends of the names of the files that --table writes next to its own
Printer = Callable[[str], None]

# What is printed.


def add_answer(parser: argparse.ArgumentParser, document: str) -> Any:
    """Add the options ``--quiet`` and ``--json``, which exclude each other; ``document`` lists the keys of the JSON."""
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--quiet", action="store_true", help="print nothing")
    output.add_argument("--json", action="store_true", help=f"print one JSON document: {document}")
    return output


def add_formats(parser: argparse.ArgumentParser, document: str, *, has_paper: bool = True) -> None:
    """Add the formats in which ``print_record`` prints a record; ``has_paper`` says that it has texts for a paper."""
    output = add_answer(parser, document)
    if has_paper:
        output.add_argument(
            "--paragraph",
            metavar="FORMAT",
            **one_of(TEXT_FORMS),
            help=f"print the results and the methods for a paper: {', '.join(TEXT_FORMS)}",
        )
        output.add_argument("--bibtex", action="store_true", help="print the cited works for BibTeX")
    else:
        parser.set_defaults(paragraph=None, bibtex=False)
    output.add_argument("--markdown", action="store_true", help="print the tables as Markdown")
    output.add_argument("--latex", action="store_true", help="print the tables as LaTeX")
    parser.add_argument("--full", action="store_true", help="print every value, interval, test and note")


def print_record(record: Any, options: Any, say: Printer) -> None:
    """Print a record in the requested format."""
    if options.json:
        say(json_text(_document(record)))
    elif options.paragraph or options.bibtex:
        if not hasattr(record, "bibtex"):
            name, received = (
                ("--paragraph", "--bibtex")[bool(options.bibtex)],
                f"a {type(record).__name__.removeprefix('Representation').lower()}",
            )
            hint = "Leave it out; --markdown and --latex print its tables."
            raise InputError(name, "must be used on results and comparisons", received, hint)
        parts = [record.paragraph(part, options.paragraph) for part in PAPER_PARTS] if options.paragraph else []
        say("\n\n".join(parts) if parts else record.bibtex().rstrip())
    else:
        summary = shell_summary(record, options.full)
        say(summary.as_markdown() if options.markdown else summary.as_latex() if options.latex else str(summary))


def shell_summary(record: Any, full: bool) -> Any:
    """Return the printed form of a record, whose next steps are options of the command line."""
    from dreval.records.comparison import Comparison
    from dreval.records.estimates import MeasureRecord
    from dreval.records.held_out import HeldOutFidelity
    from dreval.records.out_of_sample import OutOfSample
    from dreval.records.results import Results
    from dreval.records.similarity import RepresentationSimilarity
    from dreval.records.sweep import Sweep
    from dreval.records.tests import NoiseTest

    if isinstance(record, Results):
        from dreval.report.documents.evaluation import summarize

        return summarize(record, full, shell=True)
    if isinstance(record, Comparison):
        from dreval.report.documents.comparison import comparison_summary

        return comparison_summary(record, full, shell=True)
    if isinstance(record, Sweep):
        from dreval.report.documents.sweep import sweep_summary

        return sweep_summary(record, full, shell=True)
    if isinstance(record, OutOfSample):
        from dreval.report.documents.out_of_sample import out_of_sample_summary

        return out_of_sample_summary(record, full, shell=True)
    if isinstance(record, RepresentationSimilarity):
        from dreval.report.documents.similarity import similarity_summary

        return similarity_summary(record, full, shell=True)
    if isinstance(record, HeldOutFidelity):
        from dreval.report.documents.held_out import held_out_summary

        return held_out_summary(record, full, shell=True)
    if isinstance(record, MeasureRecord):
        from dreval.report.documents.small import measure_summary

        return measure_summary(record, full, shell=True)
    if isinstance(record, NoiseTest):
        from dreval.report.documents.tests import noise_summary

        return noise_summary(record, full, shell=True)
    from dreval.report.documents.study import printed_study

    return printed_study(record, full, shell=True)


def _document(record: Any) -> dict[str, Any]:
    """Return the content of a record as a JSON document."""
    from dreval.records.comparison import Comparison
    from dreval.records.held_out import HeldOutFidelity
    from dreval.records.out_of_sample import OutOfSample
    from dreval.records.results import Results
    from dreval.records.similarity import RepresentationSimilarity
    from dreval.records.sweep import Sweep

    if isinstance(record, Results):
        new = {name: _document(part) for name, part in record._out_of_sample.items()}
        document = {"recipe": dict(record.recipe), "table": record.table, "notes": plain_notes(record.notes)}
        curves = {} if record.curves.empty else {"curves": record.curves}
        return {**document, **curves, **({"new_points": new} if new else {})}
    if isinstance(record, Comparison):
        tables = {name: getattr(record, name) for name in ("pairs", "overall", "standing")}
        return {"recipe": dict(record.recipe), **tables, "notes": plain_notes(record.notes)}
    if isinstance(record, Sweep):
        best = {name: record.best_set(name) for name in record.measures}
        return {"recipe": record.recipe, "best_set": best, "table": record.tidy(), "notes": record.notes}
    if isinstance(record, OutOfSample):
        points = record.augment()
        return {"recipe": record.recipe, "table": record.tidy(), "points": points, "notes": record.notes}
    if isinstance(record, RepresentationSimilarity):
        moved = {"moved": record.augment()} if len(record.pairs) == 1 else {}
        tables = {"table": record.tidy(), "maxima": record.maxima, "curve": record.curve, **moved}
        return {"recipe": record.recipe, **tables, "notes": record.notes}
    if isinstance(record, HeldOutFidelity):
        best = {name: record.best_set(name) for name in record.measures}
        return {"recipe": record.recipe, "best_set": best, "table": record.tidy(), "notes": record.notes}
    return study_document(record)


def study_document(study: Any) -> dict[str, Any]:
    """Return the file of a study, the number of cells in each state, and a row for each cell."""
    from dreval.storage.study_file import STATES

    status = study.status()
    counts = {state: status.count(state) for state in STATES}
    document = {"file": status.name, "cells": len(status.cells), **counts, "seconds": status.seconds}
    return {**document, "states": status.cells, "notes": status.notes}


def json_text(document: dict[str, Any]) -> str:
    """Return one strict JSON document: tables are lists of rows; missing and infinite numbers are null."""
    return json.dumps(to_plain(document, strict=True), indent=1, allow_nan=False)


# Files that are read, and output files: their options, their checks, and how they are written.


def load_saved(path: str) -> Any:
    """Return what is saved in a file: a result or another record, or the study of a journal."""
    with option("saved"):
        if not is_journal(path):
            from dreval.records.archive import load_results

            return load_results(path)
        from dreval.storage.study_file import is_study
        from dreval.study.study import Study

        if is_study(path):
            return Study.open(path)
    hint = "Repeat its command with --save out.dreval: what is finished is read from the journal."
    raise InputError("saved", "must be the journal of a study", f"{path!r}, the journal of a run", hint)


def add_files(
    parser: argparse.ArgumentParser,
    noun: str = "",
    kind: str = "KIND",
    kinds: str = "",
    table: str = "write all values to this file (.csv)",
) -> Any:
    """Add the options of output files, and return their group.

    ``noun`` is what the command computes and can save. A figure is called ``kind``; ``kinds`` says which there are.
    ``table`` is the help of the option ``--table``.
    """
    files = parser.add_argument_group("output files")
    files.add_argument("--report", type=Path, metavar="PATH", help="write a report (.html .md)")
    kinds = kinds or f"of this {kind} (dreval list figures)"
    files.add_argument(
        "--plot",
        action="extend",
        default=[],
        type=_figures,
        metavar=f"[{kind}=]PATH",
        help=f"write a figure ({' '.join(FIGURES)}) {kinds}; repeat for several",
    )
    files.add_argument("--table", type=Path, metavar="PATH", help=table)
    if noun:
        files.add_argument("--save", type=Path, metavar="PATH", help=f"save the {noun} (read by dreval show)")
    return files


def _figures(text: str) -> list[tuple[str, Path]]:
    """Return the kind ("" for the first) and the path of each figure in [KIND=]PATH, separated by commas."""
    figures = []
    for part in text.split(","):
        kind, equals, path = part.rpartition("=")
        if not path.strip() or (equals and not kind.strip()):
            raise argparse.ArgumentTypeError(f"must be PATH or KIND=PATH, separated by commas: got {text!r}")
        figures.append((kind.strip(), Path(path.strip())))
    return figures


def check_files(options: Any, read: Iterable[str | None], of: str | None = None) -> None:
    """Check, before anything is computed, the paths of all output files of a command, and the kinds of its figures.

    ``read`` are the files that the command reads; ``of`` is "results" or "comparison", whose figures are drawn.
    """
    read = list(read)
    paths = {name: getattr(options, name, None) for name in ("journal", "save", "report", "table")}
    outputs = [(f"--{name}", path) for name, path in paths.items()]
    check_different([*outputs, *(("--plot", path) for _, path in options.plot)])
    check_report(paths["report"], "--report", read)
    check_output(paths["table"], "--table", read, (".csv",))
    if paths["table"] is not None:
        for name in FURTHER_TABLES:
            check_output(_further_path(paths["table"], name), "--table", read)
    check_output(paths["save"], "--save", read)
    if paths["save"]:
        from dreval.records.archive import check_saved

        check_saved(paths["save"], "--save")
    for kind, path in options.plot:
        if kind and of:
            from dreval.report.plot import kind_card

            kind_card(kind, of if of == "comparison" else None, argument="--plot")
        check_output(path, "--plot", read, FIGURES)


def write_files(record: Any, options: Any, say: Printer, noun: str) -> None:
    """Write the requested files of a record; the paths are printed, unless another program reads the output."""
    formats = ("json", "paragraph", "bibtex", "markdown", "latex")
    report = partial(record.report, title=getattr(options, "title", None))
    outputs = [
        ("--save", getattr(options, "save", None), lambda path: record.save(path), noun),
        ("--report", getattr(options, "report", None), report, "report"),
        *(("--plot", path, partial(_draw, record, kind), "figure") for kind, path in getattr(options, "plot", ())),
        ("--table", getattr(options, "table", None), partial(_write_table, record, options), "table"),
    ]
    for argument, path, write, name in outputs:
        if path is None:
            continue
        with option(argument):
            write(path)
        if not any(getattr(options, form, None) for form in formats):
            further = _further_tables(record) if argument == "--table" else ()
            say(f"\n{name} written to {join_and([str(path), *(str(_further_path(path, part)) for part in further)])}")


def _draw(record: Any, kind: str, path: Path) -> None:
    """Write one figure of a record: the first one without a kind."""
    figure = record.plot(*([kind] if kind else []))
    with whole_file(path, "plot") as file:
        figure.savefig(file, format=path.suffix[1:].lower())


def _write_table(record: Any, options: Any, path: Path) -> None:
    """Write all values: the tidy table of a record, of a result with all columns if ``--full`` is passed.

    New points and curves of a result have a file of their own next to it.
    """
    from dreval.records.results import Results

    if isinstance(record, Results):
        table = record.tidy(getattr(options, "full", False))
    else:
        table = record.tidy() if hasattr(record, "tidy") else record.table()
    write_atomic(path, table.to_csv(index=False), "table")
    for name, further in _further_tables(record).items():
        write_atomic(_further_path(path, name), further.to_csv(index=False), "table")


def _further_tables(record: Any) -> dict[str, Any]:
    """Return the tables of a result that have other rows than its values, by the end of the name of their file.

    New points have a row for each embedding and point, curves one for each embedding, measure and number of neighbors.
    """
    tables: dict[str, Any] = {}
    new = getattr(record, "_out_of_sample", {})
    if new:
        import pandas as pd

        points = pd.concat({name: part.augment() for name, part in new.items()}, names=["embedding"])
        tables["new-points"] = points.reset_index("embedding")
    curves = getattr(record, "curves", None)
    return tables if curves is None or curves.empty else {**tables, "curves": curves}


def _further_path(path: Path, name: str) -> Path:
    """Return the file of a further table of a result, next to the table of its values."""
    return path.with_name(f"{path.stem}-{name}{path.suffix}")


def check_output(path: Path | None, argument: str, read: Iterable[str | None], suffixes: Sequence[str] = ()) -> None:
    """Check, before anything is computed, that a file can be written and is not one of the files ``read``.

    Nor may it be the file of a study or a journal. ``check_different`` compares the outputs of one command.
    """
    if path is None:
        return
    if suffixes and path.suffix.lower() not in suffixes:
        raise InputError(argument, f"must end in {' or '.join(suffixes)}", repr(str(path)), f"Write out{suffixes[0]}.")
    if not path.parent.is_dir():
        raise InputError(argument, "must be in an existing folder", repr(str(path.parent)), "Create the folder first.")
    if path.is_dir():
        raise InputError(argument, "must be a file", f"the folder {str(path)!r}", "Name a file in it.")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        requirement = "must be a place where a file can be written"
        raise InputError(argument, requirement, repr(str(path)), "Choose another path.")
    files = [split_member(text)[0] for text in read if text]
    if path.exists() and any(os.path.exists(file) and os.path.samefile(file, path) for file in files):
        raise InputError(argument, "must not be a file that is read", repr(str(path)), "Choose another path.")
    refuse_journal(path, argument)


def check_different(outputs: Iterable[tuple[str, Path | None]]) -> None:
    """Check that the output files of one command, each with its option, are different."""
    options: dict[str, str] = {}
    for argument, path in outputs:
        if path is None:
            continue
        file = os.path.realpath(path)
        if file in options:
            requirement = f"must not be a file that {options[file]} writes too"
            raise InputError(argument, requirement, repr(str(path)), "Choose another path.")
        options[file] = argument


def check_report(path: Path | None, argument: str, read: Iterable[str | None]) -> None:
    """Check the path of a report, whose suffix must be that of a report format."""
    check_output(path, argument, read)
    if path is None:
        return
    from dreval.report.write import page_target

    with option(argument):
        page_target(path)


# Names of options in place of Python arguments.


def with_option_name(note: Note, options: Any) -> Note:
    """Return a note on a variable, a file or intervals with the option in place of the Python argument."""
    name, _, reason = note.code.partition(".")
    if note.code in FIRST_ROW_CODES and "header" in options.parser.flags:
        return note.with_values(remedy=f"pass --header {'yes' if dict(note.values)['header'] else 'no'}")
    if note.code == "covariates.integers":
        return note.with_values(call=f"--covariates {dict(note.values)['column']}:class")
    if note.code == "groups.batch":
        return note.with_values(way="--groups")
    if note.code in ("new.coordinates", "new.no_transform"):
        return note.with_values(embedding=f"-e {note.scope}=FILE", way=f"--new {note.scope}=FILE")
    if note.code == "new.no_calibration":
        remedies = {
            "new": "--new 0.2",
            "new_data": "--new-data FILE",
            "calibration": "them in Python, to dreval.out_of_sample",
        }
        return note.with_values(way=remedies[dict(note.values)["argument"]])
    if note.code == "interval.coordinates":
        return note.with_values(way="--ci replicates" if "ci" in options.parser.flags else "a test over seeds")
    name = ARGUMENTS.get(name, name)
    return note.with_values(way=f"--{name}") if reason == "none" and name in options.parser.flags else note


def with_option_names(results: Any, options: Any) -> Any:
    """Return a copy of a result whose notes name options in place of Python arguments."""
    renamed = [with_option_name(note, options) for note in notes_of_table(results.notes)]
    notes = results.notes.assign(
        values=[FixedDict(note.values) for note in renamed], text=[note.text for note in renamed]
    )
    table = results.table.assign(note=[join_notes(row["notes"]) for row in rows_with_notes(results.table, notes)])
    records = {
        name: replace(record, notes=tuple(with_option_name(note, options) for note in record.notes))
        for name, record in results._out_of_sample.items()
    }
    return replace(results, table=table, notes=notes, _out_of_sample=records)


def with_command(record: Any, options: Any, *arguments: str) -> Any:
    """Return a copy of a result or comparison whose recipe holds the command line that reproduces it."""
    call = shlex.join(["dreval", *options.command, *arguments])
    return replace(record, recipe={**record.recipe, "call": call})


@contextmanager
def option(argument: str) -> Iterator[None]:
    """Rename a path in errors of a block, or the kind of a figure, to the argument of the command that has it."""
    try:
        yield
    except DrevalError as error:
        raise error.named(dict.fromkeys(("path", "journal", "plot", "kind", "measure"), argument)) from error.__cause__
