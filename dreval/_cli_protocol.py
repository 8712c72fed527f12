"""The verb ``dreval protocol``: export, status and collect, with the words and defaults of ``dreval.Protocol``."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dreval.errors import DrevalError
from dreval.registry import INDICES

__all__ = ["add_protocol"]

Answer = tuple[int, str]
DONE, SOME_MISSING = 0, 1
METHOD_INDICES = ("trustability_index", "tractable_consistency_index")

ABOUT = "Ask a method outside Python the two questions that only a method can answer, by way of files."
STEPS = """steps:
  dreval protocol export data.csv umap --n-transformations 50 --random-state 0
  Rscript umap/run_uwot.R            # or: sh umap/run.sh ./my_tool, or by hand: see umap/README.md
  dreval protocol export data.csv umap    # the same again: the second round
  Rscript umap/run_uwot.R
  dreval protocol status umap
  dreval protocol collect umap

exit codes: 0 done, 1 something is missing, 2 refused"""
EXPORT = """examples:
  dreval protocol export data.csv umap --ids cell --n-transformations 50 --random-state 0
  dreval protocol export data.csv umap --embedding umap.csv     # both rounds at once

exit codes: 0 done, 2 refused"""
STATUS = (
    "example:\n  dreval protocol status umap\n\nexit codes: 0 all is back, 1 something is missing or wrong, 2 refused"
)
COLLECT = """examples:
  dreval protocol collect umap
  dreval protocol collect umap --partial --json

exit codes: 0 done, 1 some index could not be computed or some run has not come back (--partial), 2 refused"""


def add_protocol(
    add: Callable[..., argparse.ArgumentParser], say: Callable[[Callable[[Any], Answer]], Callable[[Any], int]]
) -> None:
    """Add the verb; ``add`` makes a parser of it, ``say`` prints what a step answers."""
    verb = add(None, "protocol", None, ABOUT, STEPS)
    steps = verb.add_subparsers(metavar="step", required=True)
    _add_export(add(steps, "export", say(_export), "Write what the tool is to be run on next.", EXPORT))
    step = add(steps, "status", say(_status), "Say what has come back, and what to do next.", STATUS)
    step.add_argument("folder", type=Path, help="folder of an export")
    step = add(steps, "collect", say(_collect), "Check what came back and compute the method indices.", COLLECT)
    step.add_argument("folder", type=Path, help="folder of an export")
    step.add_argument("--partial", action="store_true", help="take what is there; the indices say how many failed")
    output = step.add_mutually_exclusive_group()
    output.add_argument("--quiet", action="store_true", help="print nothing")
    output.add_argument("--json", action="store_true", help="print one JSON document")


def _add_export(step: argparse.ArgumentParser) -> None:
    step.add_argument("data", help="data file: .csv .tsv .npy .npz .parquet .mtx .h5ad; rows are points")
    step.add_argument("folder", type=Path, help="new folder; or one where the embedding has come back: second round")
    step.add_argument("-d", "--n-components", type=int, metavar="D", help="columns of the picture (2)")
    step.add_argument("--transformation", help="perturbation or definition (perturbation)")
    step.add_argument("--amplitude", type=float, metavar="A", help="size of the transformations (0.5)")
    step.add_argument(
        "--n-transformations", type=_count, metavar="M", help="transformed data sets, or all (200)"
    )  # fmt: skip
    step.add_argument("--kernel", help="gaussian, laplace or rational_quadratic (gaussian)")
    step.add_argument("--n-reseeds", type=int, metavar="R", help="runs with other seeds (5)")
    step.add_argument("--labels", help="column of the data that is no feature")
    step.add_argument("--ids", help="column with the names of the points, by which rows that come back are matched")
    step.add_argument("--random-state", type=int, metavar="SEED", help="seed (drawn, and kept in the folder)")
    step.add_argument("--format", help="csv or parquet (csv)")
    step.add_argument("--embedding", metavar="FILE", help="the embedding of the data, where it is already there")


def _count(text: str) -> int | str:
    return text if text == "all" else int(text)


def _export(options: Any) -> Answer:
    from dreval.protocol import Protocol

    words = ("n_components", "transformation", "amplitude", "n_transformations", "kernel", "n_reseeds")
    settings = {word: getattr(options, word) for word in (*words, "labels", "ids", "random_state")}
    status = Protocol(options.data, **settings).export(
        options.folder, format=options.format, embedding=options.embedding
    )
    return DONE, str(status)


def _status(options: Any) -> Answer:
    from dreval.protocol import Protocol

    status = Protocol.status(options.folder)
    return DONE if status.complete else SOME_MISSING, str(status)


@dataclass
class _Refused:
    """An index that has no value here, with the reason."""

    name: str
    error: DrevalError

    def __str__(self) -> str:
        return f"{INDICES.card(self.name).title}: no value. {self.error}"


def _collect(options: Any) -> Answer:
    from dreval.protocol import Protocol

    source = Protocol.collect(options.folder, partial=options.partial)
    found = [_ask(name, source) for name in METHOD_INDICES]
    lost = any(run.values is None for run in source.recording.runs)
    failed = lost or any(isinstance(one, _Refused) for one in found)
    text = "" if options.quiet else "\n\n".join([*map(str, found), *source.notes])
    return SOME_MISSING if failed else DONE, _json(source, found) if options.json else text


def _ask(name: str, source: Any) -> Any:
    try:
        return INDICES.get(name)(source.data, source)
    except DrevalError as error:
        return _Refused(name, error)


def _json(source: Any, found: list[Any]) -> str:
    """One document: value, chance, parts and notes of each index; what is missing is null."""
    body: dict[str, Any] = {"tool": source.name, "notes": list(source.notes), "indices": {}}
    for name, one in zip(METHOD_INDICES, found, strict=True):
        refused = isinstance(one, _Refused)
        parts = {} if refused else dict(one.parts)
        numbers = {"value": None, "chance": None} if refused else {"value": one.value, "chance": one.chance}
        rest = {"recipe": None, "notes": [str(one.error)]} if refused else {"recipe": one.recipe, "notes": one.notes}
        body["indices"][name] = {key: _plain(value) for key, value in {**numbers, **parts}.items()} | rest
    return json.dumps(body, indent=1, default=str, allow_nan=False)


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
