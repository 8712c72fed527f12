"""Record how a result was made: its call, seed, sources and versions, and the notes on the run as a whole."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from dreval._check import DEFAULT_NEIGHBORS, FloatArray, is_deeply_nested
from dreval._random import stream_seed
from dreval.evaluation.grouping import design_of
from dreval.evaluation.plan import Plan
from dreval.geometry.same_map import equal_maps
from dreval.inference.adjustment import smallest_p
from dreval.inference.groups import FEW_GROUPS, effective_text
from dreval.inference.intervals import LEVEL
from dreval.inputs.data import Data
from dreval.inputs.new_points import NewPointsInput
from dreval.inputs.source import ADDRESS, BUNDLED, CoordinateSource, Source, stored_key
from dreval.inputs.source_kinds import lowered_parameters, seed_of
from dreval.records.notes import Note, note
from dreval.records.provenance import versions
from dreval.registry import TESTS

METRIC_NOTES = (
    "source.metric_kept",
    "source.metric_none",
    "source.metric_unknown",
)  # the method did not get the metric
LARGE_P = 0.05  # p-values above it are called large
RUN_DEFAULTS = {
    "measures": "default",
    "tests": "default",
    "ci": "default",
    "conf_level": LEVEL,
    "n_resamples": 999,
    "adjust": "holm",
    "options": {},
}  # of the arguments of Evaluation.run


# What was run: the call, the sources with their parameters, and the versions.


def source_text(source: Source, data: Data) -> str:
    """Return a source as Python code: the name of a bundled method, a key of ``obsm``, or a variable for its kind."""
    if source.kind == "method":
        return repr(source.what if stored_key(source.what, data) is None else f"{BUNDLED}{source.what}")
    if isinstance(source, CoordinateSource) and source.stored:
        return repr(source.stored)
    variable = re.sub(r"\W+", "_", source.name).strip("_")
    return f"{variable or 'embedding'}_{source.kind}"


class _SettingTexts(reprlib.Repr):
    """Short texts of settings; of an estimator with many nested objects, whose text takes long, only the class."""

    def repr_instance(self, x: Any, level: int) -> str:
        """Return the text of an object that is not a container of Python."""
        return f"{type(x).__name__}(...)" if is_deeply_nested(x) else super().repr_instance(x, level)


SETTING_TEXTS = _SettingTexts()


def run_entry(source: Source, root: int, n: int) -> dict[str, Any]:
    """Return the origin of an embedding of n points: its kind, what was run, and the parameters of the run.

    The parameters are those of the user and the defaults, or the smaller values that the method used instead.
    """
    seed = seed_of(stream_seed(root, "embedding", source.name))
    settings = source.settings(source.default_components, seed)
    settings |= {name: value for name, value in lowered_parameters(source.notes, n).items() if name in settings}
    texts = {name: ADDRESS.sub("", SETTING_TEXTS.repr(value)) for name, value in settings.items()}
    run: dict[str, Any] = {"kind": source.kind, "what": source.what, "parameters": texts}
    return {**run, **metric_entry(source)}


def metric_entry(source: Source) -> dict[str, bool]:
    """Return the entry of a run whose method did not get the metric; an empty dict for other runs."""
    return {"metric_passed": False} if any(note.code in METRIC_NOTES for note in source.notes) else {}


def provenance_of(
    evaluation: Any,
    arguments: Mapping[str, Any],
    plan: Plan,
    embedded: Mapping[str, FloatArray],
    reference: Collection[str],
    seconds: float,
) -> dict[str, Any]:
    """Return the provenance of a result: data, settings, sources, versions and call, from which it can be reproduced.

    ``arguments`` are those of the run, and ``reference`` the names of the embeddings that are the data.
    """
    data = evaluation.data
    return {
        "dataset": data.name,
        **({"matrix": data.matrix} if data.matrix else {}),
        "n": data.n,
        "p": data.p,
        "data_sha256": data.sha256,
        "columns": None if data.columns is None or data.p is None else list(data.columns),
        "metric": evaluation.metric,
        "header": "auto" if data.header is None else data.header,
        "n_neighbors": evaluation.n_neighbors,
        "anchors": evaluation.anchors,
        "random_state": evaluation.seed,
        "adjust": arguments["adjust"] or "nothing",
        "versions": versions("python", "numpy", "scipy", "pandas", "numba"),
        "seconds": seconds,
        "sources": {name: run_entry(source, evaluation.seed, data.n) for name, source in evaluation.sources.items()},
        "intervals": {name: kind for name, kind in plan.intervals.kinds.items() if name in embedded},
        "conf_level": arguments["conf_level"],
        "reference": list(reference),
        "equal_maps": [list(names) for names in equal_maps(embedded, evaluation.embedding_metric)],
        "call": call_text(evaluation, arguments),
        **groups_entry(data),
        **graph_entry(data),
        **embedding_metric_entry(evaluation),
        **({} if evaluation.new is None else {"new": new_entry(evaluation.new)}),
    }


def graph_entry(data: Data) -> dict[str, Any]:
    """Return the entry of a recipe on the graph of geodesic distances: its neighbors, None for a network."""
    return {"graph_neighbors": data.graph_neighbors} if data.geodesics is not None else {}


def embedding_metric_entry(evaluation: Any) -> dict[str, str]:
    """Return the entry of a recipe on the metric of the embeddings, where it is not the Euclidean one."""
    metric = evaluation.embedding_metric
    return {} if metric == "euclidean" else {"embedding_metric": metric}


def new_entry(new: NewPointsInput) -> dict[str, Any]:
    """Return the entry of a recipe on new points: their number and hash, and the share of left-out rows."""
    rows = {} if new.data is None else {"n": new.data.n, "sha256": new.data.sha256}
    return {**rows, "share": new.share, "coordinates": list(new.coordinates)}


def groups_entry(data: Data) -> dict[str, Any]:
    """Return the entry of a recipe on the groups of the points, with the effective number of all and of the labeled."""
    if data.groups is None:
        return {}
    sizes, labeled = np.bincount(data.groups.codes), design_of(data, labeled=True).effective
    entry = {"name": data.groups.printed_name, "count": len(sizes)}
    entry |= {"smallest": int(sizes.min()), "largest": int(sizes.max())}
    return {"groups": {**entry, "effective": design_of(data).effective, "effective_labeled": labeled}}


def call_text(evaluation: Any, arguments: Mapping[str, Any]) -> str:
    """Return the Python code of a run; ``data`` and other variable names stand for the objects that were passed."""
    data = evaluation.data
    sources = list(evaluation.sources.items())
    n_simple = next((at for at, (_, source) in enumerate(sources) if source.passed_options), len(sources))
    embeddings = ", ".join(f"{name!r}: {source_text(source, data)}" for name, source in sources[:n_simple])
    keywords = f"data, {{{embeddings}}}" if n_simple or data.obsm else "data"  # without it those of obsm are taken
    keywords += "".join(f", {keyword}={name!r}" for keyword, name in data.matrix.items())
    keywords += "" if data.labels is None and not data.target else ", labels=labels"
    keywords += "" if data.latent is None else ", latent=latent"
    keywords += "" if data.batch is None else ", batch=batch"
    keywords += "" if data.groups is None else ", groups=groups"
    keywords += ", covariates=covariates" if data.covariates else ""
    keywords += f", covariate_types={data.covariate_types!r}" if data.covariate_types else ""
    keywords += f", header={data.header}" if isinstance(data.header, bool) else ""
    keywords += f", n_neighbors={evaluation.n_neighbors}, random_state={evaluation.seed}"
    keywords += "" if evaluation.metric == "euclidean" else f", metric={evaluation.metric!r}"
    keywords += "" if data.graph_neighbors is None else f", graph_neighbors={data.graph_neighbors}"
    metric = evaluation.embedding_metric
    keywords += "" if metric == "euclidean" else f", embedding_metric={metric!r}"
    keywords += "" if evaluation.anchors is None else f", anchors={evaluation.anchors}"
    if evaluation.new is not None:
        keywords += "" if evaluation.new.data is None else ", new_data=new_data"
        keywords += (
            f", new={evaluation.new.share!r}"
            if evaluation.new.share
            else ", new=new" * bool(evaluation.new.coordinates)
        )
    run = ", ".join(f"{key}={value!r}" for key, value in arguments.items() if value != RUN_DEFAULTS[key])
    with_options = (", ".join(_embedding_arguments(name, source, data)) for name, source in sources[n_simple:])
    embedding_calls = "".join(f".with_embedding({text})" for text in with_options)
    return f"dreval.Evaluation({keywords}){embedding_calls}.run({run})"


def _embedding_arguments(name: str, source: Source, data: Data) -> Iterator[str]:
    """Yield the arguments of ``with_embedding`` for one embedding, including its options."""
    yield from (repr(name), source_text(source, data))
    yield from (f"{key}={ADDRESS.sub('', SETTING_TEXTS.repr(value))}" for key, value in source.passed_options.items())


# Notes on the run as a whole: on the data, the sources, and on arguments and variables that nothing uses.


def run_notes(
    evaluation: Any,
    arguments: Mapping[str, Any],
    plan: Plan,
    table: pd.DataFrame,
    failed: Mapping[str, Note],
    embedded: Mapping[str, FloatArray],
    reference: Collection[str],
) -> list[Note]:
    """Return the notes on a run: those that belong to all rows, or to all rows of an embedding.

    ``failed`` holds the reasons of embeddings without coordinates, ``embedded`` the coordinates of all others.
    """
    have_interval = set(table.loc[table["conf_low"].notna(), "embedding"])
    sources = evaluation.sources
    recorded = [name for name, source in sources.items() if source.recording is not None]
    return [
        *unread_notes(evaluation.data, plan, arguments["options"]),
        *group_notes(evaluation.data, plan),
        *unreduced_notes(evaluation.data, embedded, reference),
        *unused_settings(arguments, table),
        *(reason.with_scope(name) for name, reason in failed.items()),
        *notes_of(evaluation),
        *plan.intervals.notes({name: sources[name] for name in embedded if name in have_interval}),
        *attainable_note(table, arguments["adjust"], recorded),
    ]


def unread_notes(data: Data, plan: Plan, options: Mapping[str, Any]) -> list[Note]:
    """Return notes on options and variables that no measure, test or interval reads."""
    measures, tests = (task.name for task in plan.measures), (task.name for task in plan.tests)
    names = {*measures, *tests, *plan.intervals.option_keys}
    unused = tuple(repr(name) for name in options if name not in names)
    notes = [note("options.unused", names=unused)] if unused else []
    if data.batch is not None and plan.measures and not any("batch" in task.card.needs for task in plan.measures):
        notes.append(note("batch.unused"))
    return notes


def group_notes(data: Data, plan: Plan) -> list[Note]:
    """Return notes on groups: few, bundled or not used; without groups, on variables that are constant in batches."""
    if data.groups is None:
        return _batch_notes(data)
    design, count = design_of(data), len(data.groups.classes)
    notes = []
    if not design.few and design.effective < FEW_GROUPS:
        notes.append(note("groups.few", groups=count, extent=effective_text(count, design.effective)))
    if design.count < count < data.n:
        notes.append(note("groups.bundles", groups=count, bundles=design.count))
    methods = [task.name for task in plan.measures if task.card.level == "algorithm"]
    methods += [f"{task.name}:{task.target}" for task in plan.tests if task.kind in ("method", "residual")]
    return [*notes, note("groups.methods", names=tuple(methods), count=len(methods))] if methods else notes


def _batch_notes(data: Data) -> list[Note]:
    """Return a note on labels and covariates that are constant within each of several batches."""
    if data.batch is None or len(data.batch.classes) == data.n:
        return []
    variables: dict[str, Any] = {} if data.labels is None else {"labels": np.asarray(data.labels.values)}
    variables |= data.covariates
    names, codes = [], data.batch.codes
    for name, values in variables.items():
        has_value = ~np.asarray(pd.isna(values), np.bool_)
        pairs = pd.DataFrame({"batch": codes[has_value], "value": values[has_value].astype(str)}).drop_duplicates()
        if pairs["batch"].is_unique and pairs["value"].nunique() > 1:
            names.append(name)
    return [note("groups.batch", names=tuple(names), count=len(names), way="groups=")] if names else []


def unreduced_notes(data: Data, embedded: Mapping[str, FloatArray], reference: Collection[str]) -> list[Note]:
    """Return notes on embeddings that are the data (``reference``), or have at least as many columns."""
    notes = [note("data.reference", names=reference, count=len(reference))] if reference else []
    columns = data.p
    if columns is not None and data.embedding_metric != "precomputed":  # distances have a column for each point
        names = tuple(name for name, Y in embedded.items() if Y.shape[1] >= columns and name not in reference)
        notes += [note("data.not_reduced", names=names, count=len(names), columns=columns)] if names else []
    return notes


def unused_settings(arguments: Mapping[str, Any], table: pd.DataFrame) -> list[Note]:
    """Return notes on arguments of ``run`` that differ from their defaults but were not used."""
    unused: dict[str, list[str]] = {"no test was run": [], "no interval was asked for": []}
    if (table["test"] == "").all():
        unused["no test was run"] = ["n_resamples", "adjust"]
    if arguments["ci"] in (None, "none"):
        unused["no interval was asked for"] = ["conf_level"]
    notes = []
    for reason, keywords in unused.items():
        names = tuple(f"`{name}`" for name in keywords if arguments[name] not in (RUN_DEFAULTS[name], None))
        notes += [note("arguments.unused", names=names, count=len(names), reason=reason)] if names else []
    return notes


def attainable_note(table: Any, adjust: str | None, recorded: Collection[str] = ()) -> list[Note]:
    """Return a note if no p-value of the tests can be small, because of too few permutations for so many tests.

    The runs of ``recorded`` embeddings are as many as their protocols requested.
    """
    smallest = smallest_p(table, adjust)
    if smallest <= LARGE_P:
        return []
    tested = table[table["p_value"].notna() & (table["family"] != "")]
    n_tests, n_resamples = len(tested), int(tested["n_resamples"].max())
    label = "p" if adjust is None else "adjusted p"
    if (tested["p_kind"] == "exact").all():
        return [note("test.all_permutations", word=label, tests=n_tests, least=smallest, most=n_resamples)]
    enough = round((n_tests if adjust == "holm" else 1) / LARGE_P) - 1
    remedy, name = f"n_resamples={enough}", str(tested["test"].iloc[0])
    if TESTS.card(name.partition(":")[0]).second == "method":  # has its own family and number of resamples
        embeddings = set(tested["embedding"])
        remedies = []
        if not embeddings <= set(recorded):
            remedies.append(f"options={{{name!r}: {{'n_replicates': {enough}}}}}")
        if not embeddings.isdisjoint(recorded):
            remedies.append(f"a source collected from a new protocol with noise={enough}")
        remedy = " and ".join(remedies)
    return [note("test.attainable", word=label, tests=n_tests, least=smallest, most=n_resamples, way=remedy)]


def notes_of(evaluation: Any) -> list[Note]:
    """Return the notes on the data, the number of neighbors and each source."""
    data = evaluation.data
    notes = [*data.notes]
    if evaluation.auto_neighbors and evaluation.n_neighbors != [DEFAULT_NEIGHBORS]:
        (k,) = evaluation.n_neighbors
        if data.list_length is not None and k == data.list_length - 1:
            notes.append(note("lists.auto", k=k, length=data.list_length))
        else:
            notes.append(
                note("neighbors.auto", k=k, n=data.n, usual=DEFAULT_NEIGHBORS, least=2 * DEFAULT_NEIGHBORS + 1)
            )
    for source in evaluation.sources.values():
        dense_notes = data.dense_notes() if source.can_embed else ()
        notes += [note.with_scope(source.name) for note in (*source.notes, *dense_notes)]
    return notes
