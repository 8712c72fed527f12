"""What a study on the command line is of: its data sets, methods and settings, from options or from a .toml."""

from __future__ import annotations

import tomllib
from inspect import signature
from pathlib import Path
from typing import Any

from dreval._check import check_one_of
from dreval.cli._arguments import Verb, numbers, words
from dreval.errors import InputError
from dreval.inputs.features import METRICS
from dreval.registry import MEASURES, METHODS

__all__ = ["add_plan", "planned"]


def add_plan(verb: Verb) -> None:
    """The arguments that say what the study is of."""
    verb.add_argument("file", type=Path, help="file of the study (made where there is none), or its .toml")
    given = verb.add_argument_group("the study, where there is no .toml")
    given.add_argument("-x", "--datasets", action="append", metavar="[NAME=]DATA", help="a data file, or a bundled set")
    given.add_argument(
        "-m", "--methods", action="append", metavar="[NAME=]METHOD",
        help=f"one of {len(METHODS.names())}, see: dreval list methods",
    )  # fmt: skip
    given.add_argument("--labels", action="append", metavar="NAME=LABELS", help="a column, or file.csv[:column]")
    given.add_argument(
        "--measures",
        type=words,
        metavar="INDEX[,...]",
        help=f"default, all, or of {len(MEASURES.names())}: see dreval list measures",
    )
    given.add_argument("-r", "--replicates", type=int, metavar="R", help="runs of each method on each data set (1)")
    given.add_argument("-d", "--n-components", type=numbers, metavar="D[,D...]", help="columns of embeddings (2)")
    given.add_argument("-k", "--n-neighbors", type=numbers, metavar="K[,K...]", help="numbers of neighbors (15)")
    given.add_argument("--subsample", type=float, metavar="S", help="share of the points that each replicate sees")
    given.add_argument(
        "--metric", choices=METRICS, metavar="METRIC",
        help=f"distance in the data ({METRICS[0]}), one of: {', '.join(METRICS)}",
    )  # fmt: skip
    given.add_argument("--anchors", type=int, metavar="M", help="see from M points drawn at random (large data)")
    given.add_argument("--random-state", type=int, metavar="SEED", help="seed (drawn, and kept in the file)")


GIVEN = (
    "datasets",
    "methods",
    "labels",
    "measures",
    "replicates",
    "n_components",
    "n_neighbors",
    "subsample",
    "metric",
    "anchors",
    "random_state",
)


def planned(options: Any) -> tuple[Path, dict[str, Any]]:
    """The file of the study and the arguments of ``Study``, from the command line or from a .toml."""
    given = {name: getattr(options, name) for name in GIVEN if getattr(options, name) is not None}
    if options.file.suffix.lower() == ".toml":
        if given:
            name = next(iter(given)).replace("_", "-")
            cure = f"Write it into {options.file.name}."
            raise InputError(f"--{name}", "must stand in the .toml where there is one", "both", cure)
        return _read_toml(options.file)
    for name, example in (("datasets", "-x wdbc"), ("methods", "-m pca")):
        if name not in given:
            raise InputError(f"--{name}", "must be given", "none", f"Add {example}, or name a .toml.")
        given[name] = _pairs(given[name])
    if "labels" in given:
        given["labels"] = _labels(given["labels"])
    return options.file, given


def _pairs(texts: list[str]) -> Any:
    """NAME=VALUE by name, and values that name themselves."""
    if not any("=" in text for text in texts):
        return texts
    made: dict[str, str] = {}
    for text in texts:
        name, _, value = text.rpartition("=")
        name = name or Path(value).name.partition(".")[0]
        if name in made:
            raise InputError("NAME=", "must be new", f"{name!r}, which is taken", "Choose another name.")
        made[name] = value
    return made


def _labels(texts: list[str]) -> dict[str, str]:
    """Labels by the name of their data set."""
    for text in texts:
        if not all(text.partition("=")):
            raise InputError("--labels", "must be NAME=LABELS", repr(text), "Write --labels mine=kind.")
    return {name: value for name, _, value in (text.partition("=") for text in texts)}


def _read_toml(path: Path) -> tuple[Path, dict[str, Any]]:
    """The arguments of ``Study`` in a .toml; the file of the study has its name unless it says another."""
    from dreval.study.study import Study

    if not path.is_file():
        raise InputError("file", "must be an existing file", repr(str(path)), "Check the name.")
    try:
        found = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        got = f"{str(path)!r} ({error})"
        raise InputError("file", "must be TOML", got, "See dreval study run --help for an example.") from error
    known = list(signature(Study).parameters)
    for name in found:
        check_one_of(name, known, str(path))
    for name in ("datasets", "methods"):
        if name not in found:
            raise InputError(str(path), f"must have {name}", "none", f'Write {name} = ["..."].')
    return Path(found.pop("path", path.with_suffix(".dreval"))), found
