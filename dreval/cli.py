"""The command line: the words and defaults of the Python names, no numerics of its own.

Exit codes: 0 done, 1 done but some embedding failed, 2 refused.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import shlex
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from dreval import __version__
from dreval._cli_compare import COMPARE_OPTIONS, add_compare
from dreval._cli_protocol import add_protocol
from dreval._cli_study import STUDY_OPTIONS, add_study
from dreval.errors import DrevalError, DrevalWarning, InputError
from dreval.glossary import REPORT_FORMS
from dreval.inference.intervals import CI_WORDS
from dreval.inputs._paths import split_member
from dreval.inputs.metric import METRICS
from dreval.registry import DATASETS, INDICES, METHODS, TESTS

__all__ = ["main"]

REGISTRIES = {"indices": INDICES, "methods": METHODS, "tests": TESTS, "datasets": DATASETS}
DONE, SOME_FAILED, REFUSED = 0, 1, 2
OPTIONS = (
    "labels",
    "response",
    "covariates",
    "ids",
    "n_neighbors",
    "metric",
    "indices",
    "tests",
    "ci",
    "anchors",
    "n_resamples",
    "adjust",
    "random_state",
    "n_jobs",
    "n_components",
    "transformation",
    "amplitude",
    "n_transformations",
    "kernel",
    "n_reseeds",
    "format",
    *COMPARE_OPTIONS,
    *STUDY_OPTIONS,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and give its exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    options.words = list(sys.argv[1:] if arguments is None else arguments)
    if hasattr(sys.stdout, "reconfigure"):  # a name that the terminal cannot show must not lose the result
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore" if getattr(options, "quiet", False) else "default", DrevalWarning)
            warnings.showwarning = _show_warning
            code = int(options.verb(options))
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader of the output has gone, as in `dreval list indices | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except (DrevalError, OSError) as error:
        print(f"dreval: {_as_options(str(error))}", file=sys.stderr)
        return REFUSED


def _as_options(message: str) -> str:
    """A refusal in the words of the command line: `labels` is --labels, labels='kind' is --labels kind."""
    message = message.replace("`options['replicates']['n_resamples']`", "`--n-replicates`")
    message = re.sub(f"`({'|'.join(OPTIONS)})`", lambda found: f"`--{found[1].replace('_', '-')}`", message)
    message = re.sub(r"\bdirection=\{'([^']*)': '(\w+)'\}", r"--direction \1=\2", message)
    message = re.sub(r"\bcolumns=\{'(\w+)': '\.\.\.'\}", r"--columns \1=NAME", message)
    message = re.sub(r"\brope=([0-9.]+[0-9])", r"--rope \1", message)
    named = r"\b(labels|covariates|ids|direction)='([^']*)'"
    return re.sub(named, lambda found: f"--{found[1]} {shlex.quote(found[2])}", message)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """One line without the place in the source where it was raised."""
    print(f"dreval: {message}", file=sys.stderr)


class _Parser(argparse.ArgumentParser):
    """A parser that says, of words it cannot place, how several words are given to one option."""

    def error(self, message: str) -> NoReturn:
        """Refuse, with the cure."""
        stray = message.removeprefix("unrecognized arguments: ")
        if stray != message and not stray.startswith("-"):
            message += " (several words of one option are separated by commas, as in --indices a,b)"
        super().error(message)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="dreval", description="Formal evaluation of dimensionality reduction.", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"dreval {__version__}")
    verbs = parser.add_subparsers(metavar="verb", required=True)
    _add_evaluate(verbs)
    _add_embed(verbs)
    add_compare(lambda *words: _verb(verbs, *words), _said, _check_output)
    add_study(lambda place, *words: _verb(place or verbs, *words), _said, _check_output)
    _add_list(verbs)
    add_protocol(lambda place, *words: _verb(place or verbs, *words), _said)
    return parser


def _said(step: Callable[[Any], tuple[int, str]]) -> Callable[[Any], int]:
    """A step that gives its exit code and what is to be printed, as one that prints it."""

    def run(options: Any) -> int:
        code, text = step(options)
        if text:
            print(text)
        return code

    return run


def _verb(
    verbs: Any, name: str, run: Callable[[Any], int] | None, words: str, epilog: str = ""
) -> argparse.ArgumentParser:
    verb: argparse.ArgumentParser = verbs.add_parser(
        name,
        help=words,
        description=words,
        epilog=epilog,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verb.set_defaults(verb=run)
    return verb


def _add_evaluate(verbs: Any) -> None:
    example = (
        "example:\n  dreval evaluate data.csv -e umap=umap.csv -e tsne=tsne.npy -e isomap --labels labels.csv \\\n"
        "      --report out.html --save out.dreval\n\nexit codes: 0 done, 1 some embedding failed, 2 refused"
    )
    verb = _verb(verbs, "evaluate", _evaluate, "Judge embeddings of a data file.", example)
    verb.add_argument("data", help="data file: .csv .tsv .npy .npz .parquet .mtx .h5ad; rows are points")
    verb.add_argument(
        "-e", "--embedding", action="append", default=[], metavar="[NAME=]SOURCE",
        help="a file of coordinates, a bundled method, or a key of obsm; repeat for several",
    )  # fmt: skip
    verb.add_argument("--labels", help="classes: a column of the data, or file.csv[:column]")
    verb.add_argument("--covariates", type=_words, help="columns of the data to test against, separated by commas")
    verb.add_argument("--ids", help="column with the names of the points, by which files are aligned")
    verb.add_argument(
        "-k", "--n-neighbors", type=_whole_numbers, default=[15], metavar="K[,K...]", help="numbers of neighbors (15)"
    )
    verb.add_argument("--metric", choices=METRICS, default=METRICS[0], help="distance in the data (euclidean)")
    verb.add_argument("--indices", type=_words, default="default", help=f"default, all, or of: {', '.join(INDICES)}")
    verb.add_argument("--tests", type=_words, default="default", help=f"default, all, none, or of: {', '.join(TESTS)}")
    verb.add_argument("--ci", default="default", help=f"intervals, one of: {', '.join(CI_WORDS)}")
    verb.add_argument("--n-replicates", type=int, metavar="R", help="runs anew of each method, for replicates (10)")
    verb.add_argument("--anchors", type=int, metavar="M", help="see from M points drawn at random (large data)")
    verb.add_argument("--n-resamples", type=int, default=999, metavar="B", help="permutations of a test (999)")
    verb.add_argument("--adjust", default="holm", help="p-values: holm, benjamini_hochberg or none")
    verb.add_argument("--random-state", type=int, metavar="SEED", help="seed (drawn, and printed)")
    verb.add_argument("--n-jobs", type=int, metavar="J", help="threads (all cores)")
    verb.add_argument(
        "--report",
        type=Path,
        metavar="PATH",
        help="write a page (.html), or a text (.md, .tex) with a folder of figures",
    )
    verb.add_argument("--save", type=Path, metavar="PATH", help="save the result (read by dreval.load_results)")
    output = verb.add_mutually_exclusive_group()
    output.add_argument("--quiet", action="store_true", help="print nothing")
    output.add_argument("--json", action="store_true", help="print one JSON document")


def _add_embed(verbs: Any) -> None:
    verb = _verb(verbs, "embed", _embed, "Embed a data file by a bundled method.")
    verb.add_argument("data", help="data file: .csv .tsv .npy .npz .parquet .mtx .h5ad; rows are points")
    verb.add_argument("method", help=f"one of: {', '.join(METHODS)}")
    verb.add_argument("output", type=Path, help="where the coordinates go: .csv or .npy")
    verb.add_argument("-d", "--n-components", type=int, default=2, metavar="D", help="columns of the embedding (2)")
    verb.add_argument("-k", "--n-neighbors", type=int, metavar="K", help="neighbors, for methods on graphs")
    verb.add_argument("--ids", help="column with the names of the points; kept in a .csv")
    verb.add_argument(
        "--labels", help="classes, for supervised methods: a column of the data (no feature then), or file.csv[:column]"
    )
    verb.add_argument(
        "--response", type=_words, metavar="COLUMNS",
        help="numbers, for supervised methods: columns of the data separated by commas, or a file",
    )  # fmt: skip
    verb.add_argument("--random-state", type=int, metavar="SEED", help="seed (drawn, and printed)")


def _add_list(verbs: Any) -> None:
    verb = _verb(verbs, "list", _list, "List what there is.")
    verb.add_argument("kind", choices=sorted(REGISTRIES), help="what to list")
    verb.add_argument("--markdown", action="store_true", help="as a Markdown table")


def _words(text: str) -> str | list[str] | None:
    """Read words between commas: "default" and "all" stay; "none" is None."""
    if text in ("default", "all"):
        return text
    return None if text == "none" else [word.strip() for word in text.split(",") if word.strip()]


def _whole_numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be whole numbers separated by commas: got {text!r}") from None


def _named_source(text: str) -> tuple[str, str]:
    """NAME=SOURCE, or a source that gives its own name (a method's, or a file's without its ending)."""
    name, equals, source = text.partition("=")
    if equals and name and source and not os.path.exists(split_member(text)[0]):
        return name, source
    if equals and not (name and source):
        raise InputError("--embedding", "must be NAME=SOURCE or SOURCE", repr(text), "Write -e umap=umap.csv.")
    file = Path(split_member(text)[0])
    if file.is_dir():
        raise InputError("--embedding", "must be a file or a method", f"the folder {text}", "Name a file in it.")
    return (text if text in METHODS else Path(file.name.removesuffix(".gz")).stem), text


def _check_output(path: Path | None, argument: str, read: Iterable[str | None], suffixes: tuple[str, ...] = ()) -> None:
    """Refuse before anything is computed a place where nothing can be written, or where a file that is read lies."""
    if path is None:
        return
    if suffixes and path.suffix.lower() not in suffixes:
        raise InputError(argument, f"must end in {' or '.join(suffixes)}", repr(str(path)), f"Write out{suffixes[0]}.")
    if not path.parent.is_dir():
        raise InputError(argument, "must be in an existing folder", repr(str(path.parent)), "Make the folder first.")
    if path.is_dir():
        raise InputError(argument, "must be a file", f"the folder {str(path)!r}", "Give the name of a file in it.")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise InputError(
            argument, "must be a place where a file can be written", repr(str(path)), "Choose another path."
        )
    files = [split_member(text)[0] for text in read if text]
    if path.exists() and any(os.path.exists(file) and os.path.samefile(file, path) for file in files):
        raise InputError(argument, "must not be a file that is read", repr(str(path)), "Choose another path.")


def _evaluate(options: Any) -> int:
    from dreval.evaluation import Evaluation

    sources = [_named_source(text) for text in options.embedding]
    if not sources:
        raise InputError("--embedding", "must be given", "none", "Add -e umap=umap.csv, or -e isomap.")
    read = [options.data, options.labels, *(source for _, source in sources)]
    _check_output(options.report, "--report", read, tuple(REPORT_FORMS))
    _check_output(options.save, "--save", read)
    evaluation = Evaluation(
        options.data,
        labels=options.labels,
        covariates=options.covariates,
        ids=options.ids,
        n_neighbors=options.n_neighbors,
        metric=options.metric,
        anchors=options.anchors,
        random_state=options.random_state,
        n_jobs=options.n_jobs,
    )
    for name, source in sources:
        evaluation = evaluation.add(name, source)
    results = evaluation.run(
        options.indices,
        options.tests,
        None if options.ci == "none" else options.ci,
        n_resamples=options.n_resamples,
        adjust=None if options.adjust == "none" else options.adjust,
        options={"replicates": {"n_resamples": options.n_replicates}} if options.n_replicates is not None else None,
        progress=False if options.quiet else None,
    )
    results = _with_command(results, options)
    printed = not options.json and not options.quiet
    if options.json:
        print(_json(results))
    elif printed:
        print(results.summary())
    for path, write, what in ((options.save, results.save, "result"), (options.report, results.report, "report")):
        if path:
            write(path)
        if path and printed:
            print(f"\n{what} written to {path}")
    return SOME_FAILED if results.failed else DONE


def _with_command(results: Any, options: Any) -> Any:
    """The result with the command line that makes it again, the seed included."""
    words = ["dreval", *options.words]
    if options.random_state is None:
        words += ["--random-state", str(results.recipe["random_state"])]
    return replace(results, recipe={**results.recipe, "call": shlex.join(words)})


def _json(results: Any) -> str:
    """The tidy table and the recipe as one document; missing numbers are null."""
    rows = [
        {key: None if isinstance(value, float) and not math.isfinite(value) else value for key, value in row.items()}
        for row in results.tidy().to_dict("records")
    ]
    return json.dumps({"recipe": dict(results.recipe), "table": rows}, indent=1, default=str, allow_nan=False)


def _embed(options: Any) -> int:
    import numpy as np
    import pandas as pd

    from dreval.inputs.source import data_and_response, embed

    _check_output(options.output, "output", [options.data, options.labels], (".csv", ".npy"))
    data, y = data_and_response(options.data, options.response, ids=options.ids, labels=options.labels)
    more = {} if options.n_neighbors is None else {"n_neighbors": options.n_neighbors}
    METHODS.get(options.method, "method")
    more |= {"labels": data.labels, "response": y, "random_state": options.random_state}
    made = embed(data.X, options.method, options.n_components, **more)
    Y = np.asarray(made)
    if options.output.suffix.lower() == ".npy":
        np.save(options.output, Y, allow_pickle=False)
    else:
        frame = pd.DataFrame(Y, columns=[f"y{j + 1}" for j in range(Y.shape[1])])
        if options.ids is not None and data.ids is not None:
            frame.insert(0, options.ids, data.ids.to_numpy())
        frame.to_csv(options.output, index=False)
    return DONE


def _list(options: Any) -> int:
    registry = REGISTRIES[options.kind]
    cards = registry.cards()
    words = [getattr(card, "question", card.title) for card in cards]
    names = registry.names()
    if options.markdown:
        print("| name | what |\n| --- | --- |")
        print("\n".join(f"| `{name}` | {text} |" for name, text in zip(names, words, strict=True)))
        return DONE
    width = max(map(len, names))
    print("\n".join(f"{name:<{width}}  {text}" for name, text in zip(names, words, strict=True)))
    return DONE
