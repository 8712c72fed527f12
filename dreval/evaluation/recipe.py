"""Small parts of an evaluation: what is refused at its door, the progress bar, versions, adjustment of p-values."""

from __future__ import annotations

import platform
import re
import reprlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dreval._check import AUTO, check_one_of, describe, is_deeply_nested
from dreval._random import stream_seed
from dreval.errors import DrevalError, InputError
from dreval.evaluation.plan import CI_OPTIONS
from dreval.inference.adjustment import smallest_p
from dreval.inference.intervals import LEVEL
from dreval.inputs.data import Data
from dreval.inputs.identity import ADDRESS
from dreval.inputs.source import BUNDLED, CoordinateSource, Source, stored_key
from dreval.inputs.source_kinds import lowered, seed_of
from dreval.records.notes import Note, note
from dreval.registry import MEASURES, TESTS

if TYPE_CHECKING:
    import pandas as pd

METRIC_NOTES = ("source.metric_kept", "source.metric_none", "source.metric_unknown")  # it does not reach the method
ALPHA = 0.05  # p-values above it are called large
USUAL = {
    "measures": "default",
    "tests": "default",
    "ci": "default",
    "conf_level": LEVEL,
    "n_resamples": 999,
    "adjust": "holm",
    "options": {},
}  # the arguments of Evaluation.run


@dataclass(frozen=True, eq=False)
class Refused(Source):
    """An embedding that could not be read; the reason is kept for its row."""

    error: DrevalError

    def coordinates(self, *_: Any, **__: Any) -> npt.NDArray[np.float64]:
        """Raise what was found when it was read."""
        raise self.error

    def noted_coordinates(self, *_: Any, **__: Any) -> Any:
        """Raise what was found when it was read."""
        raise self.error


def describe_source(source: Source, data: Data) -> str:
    """A source in Python: a bundled method by its name, a key of ``obsm``, anything else by a name of what it is."""
    if source.kind == "method":
        return repr(source.what if stored_key(source.what, data) is None else f"{BUNDLED}{source.what}")
    if isinstance(source, CoordinateSource) and source.stored:
        return repr(source.stored)
    words = re.sub(r"\W+", "_", source.name).strip("_")
    return f"{words or 'embedding'}_{source.kind}"


class _Texts(reprlib.Repr):
    """Short texts of settings; of an estimator in which many are nested, which would take long, the class alone."""

    def repr_instance(self, x: Any, level: int) -> str:
        """Return the text of an object that is none of Python's containers."""
        return f"{type(x).__name__}(...)" if is_deeply_nested(x) else super().repr_instance(x, level)


TEXTS = _Texts()


def as_run(source: Source, root: int, n: int) -> dict[str, Any]:
    """What an embedding of n points came from, with the parameters of its run, and its seed.

    They are those given and those by default, or what the method took in their place.
    """
    seed = seed_of(stream_seed(root, "embedding", source.name))
    settings = source.settings(source.default_components, seed)
    settings |= {name: value for name, value in lowered(source.notes, n).items() if name in settings}
    words = {name: ADDRESS.sub("", TEXTS.repr(value)) for name, value in settings.items()}
    run: dict[str, Any] = {"kind": source.kind, "what": source.what, "parameters": words}
    return {**run, **metric_entry(source)}


def metric_entry(source: Source) -> dict[str, bool]:
    """Return the entry of a run that says that the metric did not reach its method; none where it did."""
    return {"metric_passed": False} if any(one.code in METRIC_NOTES for one in source.notes) else {}


def check_name(name: Any, taken: Mapping[str, Any]) -> str:
    """A printable name that no other embedding has."""
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        cure = 'Name the embedding in one line, as "umap".'
        raise InputError("name", "must be a non-empty, printable text", describe(name), cure)
    if name in taken:
        raise InputError("name", "must be new", f"{name!r}, which is taken", "Choose another name.")
    return name


def check_options(options: Any) -> dict[str, dict[str, Any]]:
    """Parameters by the name of their measure or test, or the word of an interval."""
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        cure = 'Pass {"knn_accuracy": {"n_neighbors": 10}}.'
        raise InputError("options", "must be a dict of names to dicts", describe(options), cure)
    for name, value in options.items():
        check_one_of(
            name, [*MEASURES.names(), *TESTS.names(), *CI_OPTIONS], "options", (*MEASURES.listing, *TESTS.listing)
        )
        if not isinstance(value, Mapping):
            raise InputError(f"options[{name!r}]", "must be a dict", describe(value), 'Pass {"n_neighbors": 10}.')
    return {name: dict(value) for name, value in options.items()}


def unused_settings(asked: Mapping[str, Any], table: pd.DataFrame) -> list[Note]:
    """That arguments of ``run`` other than the usual were not used: nothing was tested, or has an interval."""
    lost: dict[str, list[str]] = {"no test was run": [], "no interval was asked for": []}
    if (table["test"] == "").all():
        lost["no test was run"] = ["n_resamples", "adjust"]
    if asked["ci"] in (None, "none"):
        lost["no interval was asked for"] = ["conf_level"]
    notes = []
    for reason, arguments in lost.items():
        names = tuple(f"`{name}`" for name in arguments if asked[name] not in (USUAL[name], None))
        notes += [note("arguments.unused", names=names, count=len(names), reason=reason)] if names else []
    return notes


def attainable_note(table: Any, adjust: str | None, recorded: Collection[str] = ()) -> list[Note]:
    """That no p of the tests can be small, where there are too few permutations for so many tests.

    The runs of ``recorded`` embeddings are as many as their protocols asked for.
    """
    least = smallest_p(table, adjust)
    if least <= ALPHA:
        return []
    tested = table[table["p_value"].notna() & (table["family"] != "")]
    m, most = len(tested), int(tested["n_resamples"].max())
    word = "p" if adjust is None else "adjusted p"
    enough = round((m if adjust == "holm" else 1) / ALPHA) - 1
    way, name = f"n_resamples={enough}", str(tested["test"].iloc[0])
    if TESTS.card(name.partition(":")[0]).second == "method":  # it has a number of its own, and a family
        of = set(tested["embedding"])
        ways = [] if of <= set(recorded) else [f"options={{{name!r}: {{'n_replicates': {enough}}}}}"]
        ways += [] if of.isdisjoint(recorded) else [f"a source collected from a new protocol with noise={enough}"]
        way = " and ".join(ways)
    return [note("test.attainable", word=word, tests=m, least=least, most=most, way=way)]


def plain_ids(ids: pd.Index[Any]) -> npt.NDArray[Any]:
    """Names of points as numbers or text, so that they can be saved: dates and tuples become text."""
    values = ids.to_numpy()
    return values if values.dtype.kind in "iuf" else np.array([str(name) for name in ids], dtype=object)


@cache
def _version(name: str) -> str:
    """Version of a package; looking it up parses a file."""
    from importlib.metadata import version

    return version(name)


def versions() -> dict[str, str]:
    """Versions of what the numbers depend on."""
    from dreval import __version__

    names = ("numpy", "scipy", "pandas", "numba")
    return {"dreval": __version__, "python": platform.python_version(), **{name: _version(name) for name in names}}


def recipe_of(evaluation: Any, adjust: str | None, seconds: float) -> dict[str, Any]:
    """What a result was made of and how: what is needed to make it again, and what must be known to read it."""
    data = evaluation.data
    return {
        "dataset": data.name,
        "n": data.n,
        "p": data.p,
        "data_sha256": data.sha256,
        "columns": None if data.columns is None or data.p is None else list(data.columns),
        "metric": evaluation.metric,
        "header": "auto" if data.header is None else data.header,
        "n_neighbors": evaluation.n_neighbors,
        "anchors": evaluation.anchors,
        "random_state": evaluation.seed,
        "adjust": adjust or "nothing",
        "versions": versions(),
        "seconds": seconds,
        "sources": {name: as_run(source, evaluation.seed, data.n) for name, source in evaluation.sources.items()},
    }


def notes_of(evaluation: Any) -> list[Note]:
    """What must be known of the data and of each embedding."""
    data = evaluation.data
    notes = [*data.notes]
    if evaluation.auto and evaluation.n_neighbors != [AUTO]:
        (k,) = evaluation.n_neighbors
        notes.append(note("neighbors.auto", k=k, n=data.n, usual=AUTO, least=2 * AUTO + 1))
    for source in evaluation.sources.values():
        made_dense = data.dense_notes() if source.can_embed else ()
        notes += [one.within(source.name) for one in (*source.notes, *made_dense)]
    return notes


def written_call(evaluation: Any, asked: Mapping[str, Any]) -> str:
    """The Python that makes a result again, where ``data`` and the other names stand for what was passed."""
    data = evaluation.data
    sources = list(evaluation.sources.items())
    first = next((place for place, (_, source) in enumerate(sources) if source.given), len(sources))
    made = ", ".join(f"{name!r}: {describe_source(source, data)}" for name, source in sources[:first])
    head = f"data, {{{made}}}" if first else "data"
    head += "" if data.labels is None else ", labels=labels"
    head += "" if data.latent is None else ", latent=latent"
    head += "" if data.batch is None else ", batch=batch"
    head += ", covariates=covariates" if data.covariates else ""
    head += f", covariate_types={data.covariate_types!r}" if data.covariate_types else ""
    head += f", header={data.header}" if isinstance(data.header, bool) else ""
    head += f", n_neighbors={evaluation.n_neighbors}, random_state={evaluation.seed}"
    head += "" if evaluation.metric == "euclidean" else f", metric={evaluation.metric!r}"
    head += "" if evaluation.anchors is None else f", anchors={evaluation.anchors}"
    run = ", ".join(f"{key}={value!r}" for key, value in asked.items() if value != USUAL[key])
    added = "".join(f".with_embedding({', '.join(_added(name, source, data))})" for name, source in sources[first:])
    return f"dreval.Evaluation({head}){added}.run({run})"


def _added(name: str, source: Source, data: Data) -> Iterator[str]:
    """The arguments by which one embedding is added, its options with it."""
    yield from (repr(name), describe_source(source, data))
    yield from (f"{key}={ADDRESS.sub('', TEXTS.repr(value))}" for key, value in source.given.items())
