"""The command ``dreval evaluate``, with the names and defaults of ``dreval.Evaluation``."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dreval.cli._arguments import DATA, add_arguments
from dreval.cli._exit import ExitCode, exit_codes
from dreval.cli._output import (
    RESULT_TABLE,
    Printer,
    add_files,
    add_formats,
    check_files,
    json_text,
    print_record,
    with_command,
    with_option_names,
    write_files,
)
from dreval.errors import DrevalError, InputError
from dreval.inputs.kinds import Kind, is_path, kind_of, split_member
from dreval.registry import METHODS, TESTS

if TYPE_CHECKING:
    from dreval.cli._main import CommandParser
    from dreval.evaluation.evaluation import Evaluation
    from dreval.inputs.data import Data

EPILOG = f"""examples:
  dreval evaluate data.csv -e umap=umap.csv -e pca --labels labels.csv
  dreval evaluate data.csv -e umap.csv -k 5,15 --measures stress,r_nx_auc
  dreval evaluate data.csv -e umap.csv --report out.html --save out.dreval
  dreval evaluate data.csv -e umap.csv --plot map=map.png --ci none
  dreval evaluate data.csv -e umap.csv --estimate-cost
  dreval evaluate cells.h5ad --use-rep X_pca -e X_umap --labels kind
  dreval evaluate cells.h5ad --batch donor   # all maps in obsm
  dreval evaluate data.csv -e umap.csv --new-data query.csv --new umap=new.csv

Saved results are read by dreval show, report and compare, and in Python by
dreval.load_results.

{exit_codes("some embedding failed, or has no value of a measure or test that was requested by name")}"""

EVALUATION = "dreval.evaluation.evaluation:Evaluation"
VARIABLES = ("labels", "batch", "groups", "latent", "covariates", "ids", "header", "layer", "use_rep")
SETTINGS = ("n_neighbors", "metric", "graph_neighbors", "embedding_metric", "anchors", "random_state", "n_jobs")
REQUESTED = ("measures", "tests", "ci", "conf_level", "n_resamples", "adjust")
INTERVALS = {  # what intervals of each kind refer to
    "default": "anchors if there are any, else points",
    "points": "other points of the population, map fixed",
    "jackknife": "the same, by leaving out each point",
    "subsampling": "the same, from random halves of the points",
    "replicates": "further runs of the method",
    "anchors": "all points, from the anchors",
    "none": "no intervals",
}
SHELL = {
    "measures": {"help": "default, all, none, or names from dreval list measures"},
    "tests": {
        "help": f"default, all, none, or of: {', '.join(TESTS)}; each with :labels, :data or :COVARIATE appended, "
        "noise with :columns or :gaussian"
    },
    "ci": {
        "help": "\n".join(
            ["what intervals refer to (default)", *(f"{name + ':':<13}{text}" for name, text in INTERVALS.items())]
        )
    },
}


def add_command(add: Callable[..., CommandParser]) -> None:
    """Add the command and its arguments to the parser."""
    parser = add("evaluate", _evaluate, "Evaluate embeddings of a data file.", EPILOG)
    parser.add_argument("data", help=DATA)
    parser.add_argument(
        "-e", "--embedding", action="append", default=[], metavar="[NAME=]SOURCE",
        help="a file of coordinates (of its columns x and y: file.csv:x,y), a bundled method, or a key of obsm; "
        "repeat for several (of a .h5ad file all maps in obsm)",
    )  # fmt: skip
    new = parser.add_argument_group("new points")
    add_arguments(new, EVALUATION, ("new_data",))
    new.add_argument(
        "--new", action="append", metavar="NAME=FILE", help="their coordinates in an embedding; repeat for several. Or "
        "a share, as 0.2: rows that a further fit of each method leaves out",
    )  # fmt: skip
    add_arguments(parser.add_argument_group("variables of the points"), EVALUATION, VARIABLES)
    analysis = parser.add_argument_group("measures, tests and intervals")
    add_arguments(analysis, EVALUATION, SETTINGS)
    add_arguments(analysis, f"{EVALUATION}.run", REQUESTED, **SHELL)
    analysis.add_argument(
        "--n-replicates", type=int, metavar="R", help="re-runs of each method with --ci replicates (10)"
    )
    analysis.add_argument(
        "--blocks",
        metavar="BLOCKS",
        help="tests permute within these blocks: a column of the data, or file.csv[:column]",
    )
    analysis.add_argument(
        "--estimate-cost",
        action="store_true",
        help="only estimate seconds and MiB of this evaluation; no method is run",
    )
    files = add_files(parser, "result", table=RESULT_TABLE)
    add_arguments(files, f"{EVALUATION}.run", ("journal",))
    add_formats(parser, "recipe, table (the columns of Results.tidy(full=True)), notes, curves, new_points")


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
    if not sources and kind_of(options.data) is not Kind.ANNDATA_FILE:
        raise InputError("--embedding", "must be given", "none", "Add -e umap=umap.csv, or -e isomap.")
    names = [name for name, _ in sources]
    if repeated := [name for name in names if names.count(name) > 1]:
        hint = f"Write -e NAME={sources[names.index(repeated[0])][1]}."
        raise InputError("--embedding", "must have different names", f"{repeated[0]!r} twice", hint)
    read = [options.data, options.labels, options.batch, options.groups, options.latent, options.blocks]
    new = _new_coordinates(options.new)
    read += [options.new_data, *(new.values() if isinstance(new, dict) else ())]
    check_files(options, [*read, *(source for _, source in sources)], "results")
    evaluation, further = _evaluation(options, sources, new)
    requested = {
        "measures": options.measures,
        "tests": options.tests,
        "ci": None if options.ci == "none" else options.ci,
        "n_resamples": options.n_resamples,
        "options": further,
        "progress": False if options.quiet else None,
    }
    if options.estimate_cost:
        estimate = evaluation.estimate_cost(**requested)
        totals = ("seconds", "mebibytes", "not_included")
        document = {**{name: getattr(estimate, name) for name in totals}, "table": estimate.tidy()}
        say(json_text(document) if options.json else str(estimate))
        return ExitCode.OK
    results = evaluation.run(
        **requested,
        conf_level=options.conf_level,
        adjust=None if options.adjust == "none" else options.adjust,
        journal=options.journal,
    )
    seed = ["--random-state", str(results.recipe["random_state"])] if options.random_state is None else []
    results = with_command(with_option_names(results, options), options, *seed)
    print_record(results, options, say)
    write_files(results, options, say, "result")
    table = results.table
    has_value = table[["value", "p_value"]].notna().any(axis=1)
    by_name = [column for column in ("measure", "test") if isinstance(getattr(options, f"{column}s"), list)]
    complete = all(has_value.groupby(table[column].mask(table[column] == "")).any().all() for column in by_name)
    return ExitCode.OK if complete and not results.failed else ExitCode.FAILED


def _new_coordinates(texts: list[str] | None) -> dict[str, str] | float | None:
    """Return the files of ``--new`` by name of the embedding, or the share of rows."""
    if not texts:
        return None
    parts = [text.partition("=") for text in texts]
    if len(texts) == 1 and _is_number(texts[0]):
        return float(texts[0])
    wrong = next((text for text, part in zip(texts, parts, strict=True) if not all(part)), None)
    if wrong is not None:
        if len(texts) > 1 and _is_number(wrong):
            hint = "Leave one out: a share is for methods that the run fits, files are for maps that were passed."
            raise InputError("--new", "must be files or one share, not both", " and ".join(map(repr, texts)), hint)
        raise InputError("--new", "must be NAME=FILE, or one share", repr(wrong), "Write --new umap=new.csv.")
    names = [name for name, _, _ in parts]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise InputError("--new", "must name each embedding once", f"{repeated[0]!r} twice", "Leave one out.")
    return {name: file for name, _, file in parts}


def _is_number(text: str) -> bool:
    """Return whether a text is a number."""
    with suppress(ValueError):
        float(text)
        return True
    return False


def _evaluation(
    options: Any, sources: list[tuple[str, str]], new: dict[str, str] | float | None
) -> tuple[Evaluation, dict[str, dict[str, Any]]]:
    """Return the evaluation of these options, and the options of its intervals and tests."""
    from dreval.evaluation.evaluation import Evaluation

    variables = {name: getattr(options, name) for name in VARIABLES}
    settings = {name: getattr(options, name) for name in SETTINGS}
    settings |= {"new_data": options.new_data, "new": new}
    further = {"replicates": {"n_replicates": options.n_replicates}} if options.n_replicates is not None else {}
    embeddings = {} if sources else None  # without sources those of an AnnData file
    if options.blocks is None:
        evaluation = Evaluation(options.data, embeddings, **variables, **settings)
    else:
        data, blocks = _data_and_blocks(options, variables)
        further |= _options_of_blocks(options, data, blocks)
        evaluation = Evaluation(data, embeddings, **settings)
    for name, source in sources:
        evaluation = evaluation.with_embedding(name, source)
    return evaluation, further


def _data_and_blocks(options: Any, variables: dict[str, Any]) -> tuple[Data, Any]:
    """Return the data and the blocks, from a file or, like a covariate, a column of the data, which is no feature."""
    import pandas as pd

    from dreval.inputs.data import as_data
    from dreval.inputs.variables import COVARIATE_TYPES, as_label_vector

    listed = options.covariates or []
    if is_path(options.blocks):
        data = as_data(options.data, **variables, metric=options.metric)
        blocks = as_label_vector(options.blocks, data, "blocks")[0].values
    else:
        is_listed = bool({options.blocks, *(f"{options.blocks}:{kind}" for kind in COVARIATE_TYPES)} & {*listed})
        listed = listed if is_listed else [*listed, f"{options.blocks}:class"]
        try:
            data = as_data(options.data, **{**variables, "covariates": listed}, metric=options.metric)
        except DrevalError as error:
            if options.covariates:
                raise
            raise error.named({"covariates": "blocks"}) from error.__cause__
        covariates = dict(data.covariates)
        blocks = covariates[options.blocks] if is_listed else covariates.pop(list(covariates)[-1])
        data = replace(data, covariates=covariates)
    if data.ids is not None:  # so that they are matched by name, as all else
        blocks = pd.Series(blocks, data.ids)
    return data, blocks


def _options_of_blocks(options: Any, data: Data, blocks: Any) -> dict[str, dict[str, Any]]:
    """Return the options of the requested tests that can permute within blocks; raise if there is none."""
    from dreval.evaluation.plan import as_list, plan_tests

    tasks = plan_tests(as_list(options.tests), data, options.n_resamples, {})
    names = dict.fromkeys(task.name for task in tasks if "blocks" in TESTS.card(task.name).parameters)
    if not names:
        hint = "Add --labels or --covariates, and a test, as --tests hsic."
        raise InputError("--blocks", "must be used with a test against a variable", "none", hint)
    return {name: {"permutation": "within", "blocks": blocks} for name in names}
