"""The command ``dreval check``: fail a build when a new embedding is worse than an old one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dreval.cli._arguments import DATA, add_arguments, margins, names
from dreval.cli._exit import ExitCode, exit_codes
from dreval.cli._output import (
    Printer,
    add_answer,
    add_files,
    check_files,
    json_text,
    with_command,
    with_option_names,
    write_files,
)
from dreval.errors import AllFailed, DrevalError, EmbeddingFailed, InputError, warn
from dreval.registry import MEASURES

if TYPE_CHECKING:
    from dreval.cli._main import CommandParser

CODES = exit_codes(
    "something failed, or there is no interval",
    "not worse, or undecided",
    "worse by more than the margin",
    "undecided, with --fail-if undecided",
)
EPILOG = f"""examples:
  dreval check new.npy --data data.csv --against old.npy --margin 0.01
  dreval check new.npy --data data.csv --against old.npy --margin stress=0.1
  dreval check umap.csv --data data.csv --against pca --margin continuity=0.05
  dreval check new.npy --data data.csv --against old.npy --margin 0.01 --json

The change is new - old, positive if new is better, whatever the direction of
the measure. With its interval [low, high] new is

  not worse    if low >= -margin
  worse        if high < -margin
  undecided    otherwise: the data do not decide

With several measures (--margin trustworthiness=0.01,stress=0.05) new is worse
if it is by any of them, and not worse if it is by all; their intervals hold
jointly.

All this refers to these two embeddings. To compare two methods over their
seeds, use dreval.testing.assert_not_worse in a test suite.

{CODES}"""

EVALUATION = "dreval.evaluation.evaluation:Evaluation"
VARIABLES = ("labels", "batch", "groups", "latent", "ids", "header", "layer", "use_rep")
SETTINGS = ("n_neighbors", "metric", "graph_neighbors", "embedding_metric", "anchors", "random_state", "n_jobs")
DEFAULT_MEASURE = "trustworthiness"
SEED = 0  # a gate gives the same verdict whenever it is repeated


def add_command(add: Callable[..., CommandParser]) -> None:
    """Add the command and its arguments to the parser."""
    parser = add("check", _check, "Fail if a new embedding is worse than an old one by more than a margin.", EPILOG)
    source = "a file of coordinates (of its columns x and y: file.csv:x,y), a bundled method, or a key of obsm"
    parser.add_argument("new", help=f"the new embedding: {source}")
    required = parser.add_argument_group("required options")
    required.add_argument("--data", required=True, help=DATA)
    required.add_argument("--against", required=True, metavar="OLD", help="the old embedding of the same points")
    required.add_argument(
        "--margin", required=True, type=margins, metavar="M", help="tolerated loss, in the unit of the measure, "
        "or NAME=M,... for several measures"
    )  # fmt: skip
    decision = parser.add_argument_group("measures and decision")
    decision.add_argument(
        "--measure", type=names, metavar="NAME[,...]",
        help="measures with a better direction, see: dreval list measures (those of --margin, else trustworthiness)",
    )  # fmt: skip
    decision.add_argument(
        "--fail-if", choices=("worse", "undecided"), default="worse",
        help="what fails the build: worse alone, or undecided too, with exit code 5 (worse)",
    )  # fmt: skip
    level = {"sentence": "level of the intervals, jointly over all measures, from 0.5 to 0.9999"}
    add_arguments(decision, f"{EVALUATION}.run", ("conf_level",), conf_level=level)
    add_arguments(decision, EVALUATION, SETTINGS, random_state={"sentence": f"seed of all that is drawn ({SEED})"})
    parser.set_defaults(random_state=SEED)
    add_arguments(parser.add_argument_group("variables of the points"), EVALUATION, VARIABLES)
    add_files(parser, "comparison")
    add_answer(parser, "verdict, checks (a row for each measure), recipe, notes")
    parser.add_argument("--full", action="store_true", help="print all notes and settings")


def _check(options: Any, say: Printer) -> int:
    """Evaluate both embeddings, print the verdict, and write the requested files."""
    from dreval.comparison.gate import MISSING, NEW, OLD, UNDECIDED, WORSE, check_gate
    from dreval.evaluation.evaluation import Evaluation
    from dreval.records.frames import plain_notes
    from dreval.records.notes import note_from_error
    from dreval.report.documents.small import gate_summary

    variables = {name: getattr(options, name) for name in VARIABLES}
    settings = {name: getattr(options, name) for name in SETTINGS}
    read = [options.data, options.new, options.against, options.labels, options.batch, options.groups, options.latent]
    check_files(options, read, "comparison")
    measures, margin = _measures_and_margins(options)
    argument_names = {f"embeddings[{NEW!r}]": "new", f"embeddings[{OLD!r}]": "--against"}
    try:
        evaluation = Evaluation(options.data, {}, **variables, **settings)
        for name, source in ((NEW, options.new), (OLD, options.against)):
            evaluation = evaluation.with_embedding(name, source)
        progress = False if options.quiet or options.json else None
        results = with_option_names(evaluation.run(measures, None, progress=progress), options)
    except AllFailed as error:
        errors = {name: reason.named(argument_names) for name, reason in error.errors.items()}
        warn(EmbeddingFailed(errors, len(errors)))
        reasons = [{"embedding": name, **note_from_error(reason).plain()} for name, reason in errors.items()]
        return _no_verdict(options, say, errors, {}, reasons)
    except DrevalError as error:
        raise error.named(argument_names) from error.__cause__
    if results.failed:
        return _no_verdict(options, say, results.failed, results.recipe, plain_notes(results.notes))
    gate = check_gate(results, margin, options.conf_level)
    gate = replace(gate, comparison=with_command(gate.comparison, options))
    if options.json:
        notes = [row for table in gate.notes for row in plain_notes(table)]
        document = {"verdict": gate.verdict, "checks": gate.table, "recipe": gate.comparison.recipe, "notes": notes}
        say(json_text(document))
    else:
        say(str(gate_summary(gate, (options.new, options.against), options.fail_if, options.full)))
    write_files(gate.comparison, options, say, "comparison")
    codes = {WORSE: ExitCode.WORSE, MISSING: ExitCode.FAILED}
    codes |= {UNDECIDED: ExitCode.UNDECIDED} if options.fail_if == UNDECIDED else {}
    return codes.get(gate.verdict, ExitCode.OK)


def _no_verdict(options: Any, say: Printer, failed: Iterable[str], recipe: Any, notes: list[dict[str, Any]]) -> int:
    """Print that embeddings could not be computed, and return the exit code."""
    document = {"verdict": "missing", "checks": [], "recipe": recipe, "notes": notes}
    say(json_text(document) if options.json else f"No verdict: {' and '.join(failed)} could not be computed.")
    return ExitCode.FAILED


def _measures_and_margins(options: Any) -> tuple[list[str], dict[str, float]]:
    """Return the measures and their margins; raise, before anything is computed, if one cannot be compared."""
    from dreval.comparison.compare import margins_by_measure

    argument = "--margin" if options.measure is None else "--measure"
    named = list(options.margin) if isinstance(options.margin, dict) else [DEFAULT_MEASURE]
    requested = named if options.measure is None else options.measure
    if isinstance(requested, str):
        hint = "Name one measure, or several as in --measure trustworthiness,stress."
        raise InputError("--measure", "must name measures", repr(requested), hint)
    cards = [MEASURES.card(name, argument) for name in requested]
    for card in cards:
        if card.direction not in ("higher", "lower"):
            received = f"{card.name!r}, which is descriptive"
            raise InputError(argument, "must have a better direction", received, "Name another measure.")
        if card.curve or card.level == "algorithm":
            received = f"{card.name!r}, {'a curve' if card.curve else 'which runs the method itself'}"
            raise InputError(argument, "must have one value for an embedding", received, "Name another measure.")
    measures = list(dict.fromkeys(card.name for card in cards))
    margin = options.margin
    if isinstance(margin, dict):
        cards_of_margins = [MEASURES.card(name, "--margin").name for name in margin]
        if len(names := {*cards_of_margins}) < len(margin):
            received = f"{' and '.join(margin)}, which are {', '.join(sorted(names))}"
            raise InputError("--margin", "must have each measure once", received, "Write one margin for it.")
        margin = dict(zip(cards_of_margins, margin.values(), strict=True))
        if {*measures} != names:
            requirement = f"must have a margin for {' and '.join(measures)} of --measure, and for no other measure"
            hint = "Leave --measure out: the margins name the measures."
            raise InputError("--margin", requirement, ", ".join(margin), hint)
    try:
        return measures, margins_by_measure(margin, measures)
    except DrevalError as error:
        raise error.named({f"margin[{name!r}]": "--margin" for name in measures}) from error.__cause__
