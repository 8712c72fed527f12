"""What is printed of one thing: a measure of a method, an embedding, a map, a method, a data set, an evaluation."""

from __future__ import annotations

from typing import Any

import numpy as np

from dreval.datasets._dataset import Dataset
from dreval.evaluation.evaluation import Evaluation
from dreval.geometry.rkhs import KernelMap
from dreval.glossary import DIRECTIONS, format_number, part_words, true_minus
from dreval.records.cost_estimate import CostEstimate
from dreval.records.embedding import Embedding
from dreval.records.measure_record import MeasureRecord
from dreval.records.perplexity_curve import PerplexityCurve
from dreval.records.point_scores import PointScores
from dreval.registry import METHODS
from dreval.report.document import Block
from dreval.report.render.summary import Summary


def measure_summary(record: MeasureRecord) -> Summary:
    """The method and the data, the value beside its chance level, the parts, and notes."""
    recipe = record.recipe
    header = [("Source", str(recipe.get("source", ""))), ("n", format_number(recipe.get("n")))]
    header += [("p", format_number(recipe.get("p"))), ("Seed", str(recipe.get("random_state", "")))]
    header += [(key.replace("_", " "), str(value)) for key, value in dict(recipe.get("parameters", {})).items()]
    rows = [[record.symbol, format_number(record.value)]]
    rows += [["chance level", format_number(record.chance)]] if record.chance == record.chance else []
    rows += [[title, text or "none, see the notes"] for title, text in part_words(record.parts.items()).items()]
    better = f", {DIRECTIONS[record.direction]}" if record.direction else ""
    block = Block(f"Value ({record.symbol}{better}) and parts", ["", "value"], rows)
    return Summary(record.title, header, [block], record.notes, record.call)


def embedding_summary(record: Embedding) -> Summary:
    """Method, parameters, and the spread of each component."""
    n, d = record.shape
    p = "" if record.data_shape is None else format_number(record.data_shape[1])
    seed = "" if record.random_state is None else str(record.random_state)
    header = [("Method", record.method), ("n", format_number(n)), ("p", p), ("d", format_number(d)), ("Seed", seed)]
    Y = record.coordinates
    rows = [
        [str(j + 1), *(format_number(float(v)) for v in (Y[:, j].min(), Y[:, j].max(), Y[:, j].std(ddof=1)))]
        for j in range(d)
    ]
    blocks = [Block("Components", ["component", "min", "max", "sd"], rows)]
    if record.parameters:
        pairs = [[name, repr(value)] for name, value in record.parameters.items()]
        blocks.append(Block("Parameters", ["parameter", "value"], pairs, names=2))
    given = {**record.parameters, "random_state": record.random_state}
    words = [f"{name}={value!r}" for name, value in given.items() if value is not None]
    call = f"dreval.embed({', '.join(['data', repr(record.method), *words])})" if record.method in METHODS else ""
    return Summary("Embedding", header, blocks, record.notes, call)


def map_summary(record: KernelMap) -> Summary:
    """Rule, bandwidth, ridge, conditioning and errors of a kernel map."""
    n, r = record.weights.shape
    header = [("Rule", record.rule), ("n", format_number(n)), ("Columns in", str(len(record.origin)))]
    header += [("Columns out", str(r)), ("Bandwidth", f"{record.bandwidth:.4g}"), ("Ridge", f"{record.ridge:.4g}")]
    header += [("Condition", f"{record.condition:.3g}"), ("Relative error", f"{record.error:.4g}")]
    if record.left_out_error == record.left_out_error:
        header.append(("Left-out error", f"{record.left_out_error:.4g}"))
    return Summary("Kernel map", header, [], record.notes)


def method_summary(method: Any) -> Summary:
    """A bundled method, fitted or not, and its parameters."""
    fitted = f"to {method.n_features_in_} columns" if method.__sklearn_is_fitted__() else "not yet"
    header = [("Method", method.card.name), ("Family", method.card.family), ("Fitted", fitted)]
    rows = [[name, repr(value)] for name, value in method.get_params().items()]
    return Summary(method.card.title, header, [Block("Parameters", ["", "value"], rows, names=2)])


def dataset_summary(dataset: Dataset) -> Summary:
    """Source, license and size of a data set."""
    card, (n, p) = dataset.card, dataset.data.shape
    classes = "" if dataset.labels is None else f"{len(np.unique(dataset.labels)):,}"
    latent = "" if dataset.latent is None else f"{dataset.latent.shape[1]} dimensions"
    header = [("Name", card.name), ("Points n", f"{n:,}"), ("Columns p", f"{p:,}"), ("Classes", classes)]
    header += [("Latent variables", latent), ("Source", card.source), ("License", card.license)]
    header += [("Reference", card.reference), *((str(key), str(value)) for key, value in dataset.recipe.items())]
    return Summary(card.title, header, [])


def evaluation_preview(evaluation: Evaluation) -> Summary:
    """Data, settings, and the source of each embedding, before anything is computed."""
    data, anchors = evaluation.data, evaluation.anchors
    header = [
        ("Data", str(data.name)),
        ("Points n", f"{data.n:,}"),
        ("Columns p", f"{data.p:,}"),
        ("Metric", evaluation.metric),
        ("Neighbors k", ", ".join(map(str, evaluation.n_neighbors))),
        ("Anchors", f"{anchors:,}" if anchors else "all points"),
        ("Labels", "" if data.labels is None else "yes"),
        ("Covariates", ", ".join(map(str, data.covariates))),
        ("Seed", str(evaluation.seed)),
    ]
    rows = [[name, source.kind, str(source.what)] for name, source in evaluation.sources.items()]
    blocks = [Block("Embeddings", ["", "from", "source"], rows, names=3)] if rows else []
    return Summary("Evaluation", header, blocks, ["Nothing is computed yet: run() gives the results."])


def cost_summary(record: CostEstimate) -> Summary:
    """The total, one line for each kind of step, and what is not included."""
    header = [
        ("Points n", f"{record.n:,}"),
        ("Threads", str(record.n_threads)),
        ("Seconds", _two_digits(record.seconds)),
        ("MiB", _two_digits(record.mebibytes)),
    ]
    known = record.table[record.table["seconds"].notna()]
    kinds = known.groupby("step", sort=False)[["seconds", "processor_seconds", "mebibytes"]]
    figures = kinds.agg({"seconds": "sum", "processor_seconds": "sum", "mebibytes": "max"})
    total = [record.seconds, record.processor_seconds, record.mebibytes]
    lines = [*zip(figures.index, figures.to_numpy().tolist(), strict=True), ("total", total)]
    rows = [[str(name), *map(_two_digits, line)] for name, line in lines]
    foot = "In the total, MiB are those of the largest step, in addition to data and embeddings."
    block = Block("Steps", ["", "seconds", "processor seconds", "MiB"], rows, foot=foot)
    notes = [
        "Times are for cores that do nothing else: within a factor of two for default measures, rougher for others."
    ]
    if record.not_included:
        names = ", ".join(record.not_included)
        notes.append(f"Not included, because a method is not run for an estimate: the runs of {names}.")
    return Summary("Estimated cost", header, [block], notes)


def _two_digits(value: float) -> str:
    """A number to two digits, above ten to the next whole number; an estimate has no more."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}" if value >= 0.01 else "< 0.01"


def scores_summary(record: PointScores) -> Summary:
    """Settings, numbers of the map, and the spread of each score over the points."""
    n, d = record.coordinates.shape
    header = [("n", format_number(n)), ("p", format_number(record.recipe.get("p"))), ("d", format_number(d))]
    settings = dict(record.recipe.get("parameters", {}))
    header += [(key.replace("_", " "), str(value)) for key, value in settings.items() if value is not None]
    numbers = {name: getattr(record, name) for name in record.NUMBERS}
    header += [(key.replace("_", " "), format_number(value)) for key, value in numbers.items()]
    rows = [
        [str(row["score"]).replace("_", " "), *(format_number(row[word]) for word in ("min", "median", "mean", "max"))]
        for row in record.tidy().to_dict("records")
    ]
    block = Block("Scores of the points", ["", "min", "median", "mean", "max"], rows)
    return Summary(record.TITLE, header, [block], record.notes)


def perplexity_summary(record: PerplexityCurve) -> Summary:
    """The scores at each perplexity with their intervals, and how many maps have none."""
    recipe = record.recipe
    header = [("n", format_number(recipe["n"])), ("p", format_number(recipe["p"]))]
    header += [("Seeds", str(recipe["parameters"]["n_seeds"])), ("Seed", str(recipe["random_state"]))]
    numbers = ["value", "conf_low", "conf_high"]
    known = [abs(size) for size in record.table[numbers].to_numpy().ravel() if size == size and size != 0]
    power = any("e" in format_number(size) for size in known)  # then all have one, to be read one below the other
    rows = []
    for row in record.table.to_dict("records"):
        said = [true_minus(f"{row[word]:.3e}") if power else format_number(row[word]) for word in numbers]
        said = [text if row[word] == row[word] else "none" for text, word in zip(said, numbers, strict=True)]
        maps = f"{row['n_used']} of {row['n_used'] + row['n_refused']}"
        rows.append([f"{row['perplexity']:.3g}", row["score"], *said, maps])
    columns = ["perplexity", "score / n", "mean", f"{100 * record.conf_level:g} % low", "high", "maps"]
    return Summary("Perplexity curve", header, [Block("Singularity of t-SNE maps", columns, rows)], record.notes)
