"""The command ``dreval evaluate``, with the names and defaults of ``dreval.Evaluation``."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from dreval.cli._arguments import DATA, add_arguments, pairs
from dreval.cli._main import (
    DONE,
    FIGURES,
    INCOMPLETE,
    CommandParser,
    Printer,
    add_answer,
    add_paragraph,
    check_different,
    check_output,
    check_report,
    json_text,
    paragraphs,
    with_command,
    with_option_names,
    write_files,
)
from dreval.errors import InputError
from dreval.inputs.kinds import split_member
from dreval.records.base import whole_file
from dreval.records.frames import plain_notes
from dreval.registry import MEASURES, METHODS, TESTS

EPILOG = """examples:
  dreval evaluate data.csv -e umap=umap.csv -e pca --labels labels.csv
  dreval evaluate data.csv -e umap.csv -k 5,15 --measures stress,r_nx_auc
  dreval evaluate data.csv -e umap.csv --report out.html --save out.dreval
  dreval evaluate data.csv -e umap.csv --plot map=map.png --ci none
  dreval evaluate data.csv -e umap.csv --estimate-cost
  dreval evaluate cells.h5ad --use-rep X_pca -e X_umap --labels kind

Saved results are read by dreval compare and by dreval.load_results.

exit codes: 0 done, 1 some embedding failed, or no embedding has a value of a
measure or test that was requested by name, 2 invalid input"""

EVALUATION = "dreval.evaluation.evaluation:Evaluation"
VARIABLES = ("labels", "batch", "latent", "covariates", "ids", "header", "layer", "use_rep")
SETTINGS = ("n_neighbors", "metric", "anchors", "random_state", "n_jobs")
REQUESTED = ("measures", "tests", "ci", "conf_level", "n_resamples", "adjust")
SHELL = {
    "measures": {"help": f"default, all, none, or of: {', '.join(MEASURES)}"},
    "tests": {
        "help": f"default, all, none, or of: {', '.join(TESTS)}; each with :labels, :data or :COVARIATE appended, "
        "noise with :columns or :gaussian"
    },
}


def add_command(add: Callable[..., CommandParser]) -> None:
    """Add the command and its arguments to the parser."""
    parser = add("evaluate", _evaluate, "Evaluate embeddings of a data file.", EPILOG)
    parser.add_argument("data", help=DATA)
    parser.add_argument(
        "-e", "--embedding", action="append", default=[], metavar="[NAME=]SOURCE",
        help="a file of coordinates (of its columns x and y: file.csv:x,y), a bundled method, or a key of obsm; "
        "repeat for several",
    )  # fmt: skip
    add_arguments(parser.add_argument_group("variables of the points"), EVALUATION, VARIABLES)
    analysis = parser.add_argument_group("measures, tests and intervals")
    add_arguments(analysis, EVALUATION, SETTINGS)
    add_arguments(analysis, f"{EVALUATION}.run", REQUESTED, **SHELL)
    analysis.add_argument(
        "--n-replicates", type=int, metavar="R", help="re-runs of each method with --ci replicates (10)"
    )
    analysis.add_argument(
        "--estimate-cost",
        action="store_true",
        help="only estimate seconds and MiB of this evaluation; no method is run",
    )
    files = parser.add_argument_group("output files")
    files.add_argument("--report", type=Path, metavar="PATH", help="write a report (.html .md)")
    files.add_argument(
        "--plot", action="append", default=[], type=partial(pairs, form="KIND=PATH"), metavar="KIND=PATH",
        help="write a figure, as scatter=map.png (kinds: dreval list figures); repeat for several",
    )  # fmt: skip
    files.add_argument("--save", type=Path, metavar="PATH", help="save the result (read by dreval.load_results)")
    add_arguments(files, f"{EVALUATION}.run", ("journal",))
    output = add_answer(parser, "recipe, table (the columns of Results.tidy(full=True)), notes")
    output.add_argument("--full", action="store_true", help="print every value, interval, test and note")
    add_paragraph(output)


def _named_source(text: str) -> tuple[str, str]:
    """Return the name and the source in NAME=SOURCE; without a name that of the method, or of the file."""
    from dreval.inputs.source import BUNDLED

    name, equals, source = text.partition("=")
    if equals and name and source and not os.path.exists(split_member(text)[0]):
        return name, source
    if equals and not (name and source):
        raise InputError("--embedding", "must be NAME=SOURCE or SOURCE", repr(text), "Write -e umap=umap.csv.")
    if text.startswith(BUNDLED):
        return text.removeprefix(BUNDLED), text
    file = Path(split_member(text)[0])
    if file.is_dir():
        raise InputError("--embedding", "must be a file or a method", f"the folder {text}", "Name a file in it.")
    return (text if text in METHODS else Path(file.name.removesuffix(".gz")).stem), text


def _evaluate(options: Any, say: Printer) -> int:
    """Evaluate, print the summary, and write the requested files."""
    sources = [_named_source(text) for text in options.embedding]
    if not sources:
        raise InputError("--embedding", "must be given", "none", "Add -e umap=umap.csv, or -e isomap.")
    names = [name for name, _ in sources]
    if repeated := [name for name in names if names.count(name) > 1]:
        hint = f"Write -e NAME={sources[names.index(repeated[0])][1]}."
        raise InputError("--embedding", "must have different names", f"{repeated[0]!r} twice", hint)
    read = [options.data, options.labels, options.batch, options.latent, *(source for _, source in sources)]
    from dreval.records.archive import check_saved, save_results

    plots = [(kind, Path(path)) for pair in options.plot for kind, path in pair.items()]
    outputs = [("--journal", options.journal), ("--save", options.save), ("--report", options.report)]
    check_different([*outputs, *(("--plot", path) for _, path in plots)])
    check_report(options.report, "--report", read)
    check_output(options.save, "--save", read)
    if options.save:
        check_saved(options.save, "--save")
    _check_plots(plots, read)
    evaluation, requested = _evaluation(options, sources)
    if options.estimate_cost:
        estimate = evaluation.estimate_cost(**requested)
        totals = ("seconds", "mebibytes", "not_included")
        document = {**{name: getattr(estimate, name) for name in totals}, "table": estimate.tidy()}
        say(json_text(document) if options.json else str(estimate))
        return DONE
    results = evaluation.run(
        **requested,
        conf_level=options.conf_level,
        adjust=None if options.adjust == "none" else options.adjust,
        journal=options.journal,
        progress=False if options.quiet else None,
    )
    seed = ["--random-state", str(results.recipe["random_state"])] if options.random_state is None else []
    results = with_command(with_option_names(results, options), options, *seed)
    if options.json:
        say(json_text({"recipe": dict(results.recipe), "table": results.table, "notes": plain_notes(results.notes)}))
    elif options.paragraph:
        say(paragraphs(results, options.paragraph))
    else:
        from dreval.report.documents.evaluation import summarize

        say(str(summarize(results, options.full, shell=True)))
    saved = ("--save", options.save, partial(save_results, results), "result")
    report = ("--report", options.report, partial(_write, results), "report")
    figures = [("--plot", path, partial(_draw, results, kind), "figure") for kind, path in plots]
    write_files([saved, report, *figures], say, bool(options.json or options.paragraph))
    table = results.table
    has_value = table[["value", "p_value"]].notna().any(axis=1)
    by_name = [column for column in ("measure", "test") if isinstance(getattr(options, f"{column}s"), list)]
    complete = all(has_value.groupby(table[column].mask(table[column] == "")).any().all() for column in by_name)
    return DONE if complete and not results.failed else INCOMPLETE


def _check_plots(figures: list[tuple[str, Path]], read: list[str | None]) -> None:
    """Check the kinds and paths of the requested figures."""
    if figures:
        from dreval.report.plot import kind_card

        for kind, path in figures:
            kind_card(kind, argument="--plot")
            check_output(path, "--plot", read, FIGURES)


def _write(results: Any, path: Path) -> None:
    """Write the report."""
    from dreval.report.write import write_report

    write_report(results, path)


def _draw(results: Any, kind: str, path: Path) -> None:
    """Write one figure."""
    from dreval.report.plot import plot

    with whole_file(path, "plot") as file:
        plot(results, kind).savefig(file, format=path.suffix[1:].lower())


def _evaluation(options: Any, sources: list[tuple[str, str]]) -> tuple[Any, dict[str, Any]]:
    """Return the evaluation of these options, and the requested measures, tests and intervals."""
    from dreval.evaluation.evaluation import Evaluation

    evaluation = Evaluation(options.data, {}, **{name: getattr(options, name) for name in (*VARIABLES, *SETTINGS)})
    for name, source in sources:
        evaluation = evaluation.with_embedding(name, source)
    replicates = {"replicates": {"n_replicates": options.n_replicates}} if options.n_replicates is not None else None
    requested = {
        "measures": options.measures,
        "tests": options.tests,
        "ci": None if options.ci == "none" else options.ci,
        "n_resamples": options.n_resamples,
        "options": replicates,
    }
    return evaluation, requested
