"""Summaries of single records: embeddings, scores, dimensions, data sets, cost and protocols."""

import math
from typing import Any

import numpy as np

from dreval.datasets._dataset import Dataset
from dreval.evaluation.evaluation import Evaluation
from dreval.geometry.kernels import KernelMap
from dreval.glossary import DIRECTIONS, format_number, format_p, part_texts, true_minus
from dreval.protocol.protocol import ProtocolStatus
from dreval.records.estimates import CostEstimate, IntrinsicDimension, MeasureRecord, ParallelAnalysis, PerplexityCurve
from dreval.records.points import Embedding, PointScores
from dreval.registry import ANALYSES, METHODS
from dreval.report.document import Document, Table, record_document
from dreval.report.format import count_noun, p_text, percent

# What is printed of the number of dimensions of data: an intrinsic dimension, and a parallel analysis.

DIMENSION_METHODS = {"twonn": "TwoNN", "mle": "Levina-Bickel"}
FIT_NAMES = {"line": "line through the origin", "ml": "maximum likelihood"}
MAX_FURTHER_COMPONENTS = 12  # printed components beyond the selected ones


def intrinsic_dimension_summary(record: IntrinsicDimension) -> Document:
    """Return the estimate with its interval in a sentence, and the method."""
    recipe = record.recipe
    parameters = recipe["parameters"]
    header = [("Method", DIMENSION_METHODS[record.method]), *_data_header(recipe)]
    header += [("Fit", FIT_NAMES[parameters["fit"]])] if "fit" in parameters else []
    header += [("Left out", f"{percent(parameters['discard'])} %")] if parameters.get("discard") else []
    header += [("Neighbors k", str(parameters["n_neighbors"]))] if "n_neighbors" in parameters else []
    header += [("Groups left out", format_number(record.n_groups)) if record.n_groups else ("", "")]
    ends = [format_number(end, 3) for end in (record.se, record.conf_low, record.conf_high)]
    level = "interval" if math.isnan(record.conf_level) else f"{100 * record.conf_level:g} % interval"
    rows = [["dimension", format_number(record.value, 3), ends[0], f"{ends[1]} to {ends[2]}" if ends[1] else "none"]]
    tables = [Table("Estimate", ["", "value", "se", level], rows)]
    if record.method == "mle":
        local = record.points["local_dimension"].to_numpy()
        quantiles = [
            format_number(float(quantile), 2) for quantile in np.quantile(local, [0.05, 0.25, 0.5, 0.75, 0.95])
        ]
        columns = ["", "5 %", "25 %", "median", "75 %", "95 %"]
        tables.append(Table("Local dimensions of the points", columns, [["dimension", *quantiles]]))
    notes = [*record.notes, ANALYSES.card("intrinsic_dimension").caution]
    answer = [intrinsic_dimension_answer(record)]
    return record_document("Intrinsic dimension", [h for h in header if h[0]], tables, notes, record.call, answer)


def intrinsic_dimension_answer(record: IntrinsicDimension) -> str:
    """Return the estimate and its interval in one sentence."""
    text = f"The intrinsic dimension of these points is estimated as {format_number(record.value, 2)}"
    if not math.isnan(record.se):
        low, high = (format_number(end, 2) for end in (record.conf_low, record.conf_high))
        text += f" ({100 * record.conf_level:g} % interval {low} to {high})"
    return f"{text}, in {count_noun(record.recipe['p'], 'column')}."


def parallel_analysis_summary(record: ParallelAnalysis) -> Document:
    """Return the number of components in a sentence, then eigenvalues and p-values."""
    header = [*_data_header(record.recipe), ("Permutations", format_number(record.n_resamples))]
    header += [("Level", f"{record.alpha:g}")]
    table, n_printed = record.table, record.n_components + MAX_FURTHER_COMPONENTS
    rows = [
        [
            str(row["component"]),
            *(format_number(row[key], 3) for key in ("eigenvalue", "null_mean", "null_quantile")),
            f"{100 * row['share']:.1f} %",
            format_p(row["p_value"]),
            "kept" if row["kept"] else "",
        ]
        for row in table.head(n_printed).to_dict("records")
    ]
    quantile = f"null {100 * (1 - record.alpha):g} %"
    columns = ["component", "eigenvalue", "null mean", quantile, "variance", "p", "verdict"]
    n_further = len(table) - len(rows)
    foot = (
        f"{count_noun(n_further, 'further component')} {'is' if n_further == 1 else 'are'} in tidy()."
        if n_further
        else ""
    )
    tables = [Table("Eigenvalues of the correlation matrix", columns, rows, foot=foot)]
    notes = [*record.notes, ANALYSES.card("parallel_analysis").caution]
    answer = [parallel_analysis_answer(record)]
    return record_document("Parallel analysis", header, tables, notes, record.call, answer)


def parallel_analysis_answer(record: ParallelAnalysis) -> str:
    """Return the number of components, and their share of the variance, in one sentence."""
    n_kept, table = record.n_components, record.table
    if not n_kept:
        p = p_text(float(table["p_value"].iloc[0]))
        return f"No component has a larger eigenvalue than independent columns would give ({p} for the first)."
    share = float(table["share"].head(n_kept).sum())
    verb = "has a larger eigenvalue" if n_kept == 1 else "have larger eigenvalues"
    return (
        f"{n_kept:,} of {count_noun(len(table), 'component')} {verb} than independent columns would give; "
        f"{'it holds' if n_kept == 1 else 'they hold'} {percent(share)} % of the variance of the standardized columns."
    )


def _data_header(recipe: Any) -> list[tuple[str, str]]:
    """Return the size of the data, and the seed."""
    sizes = [("Points n", format_number(recipe["n"])), ("Columns p", format_number(recipe["p"]))]
    return [*sizes, ("Seed", str(recipe["random_state"]))]


# Summaries of single objects: a measure of a method, an embedding, a map, a method, a data set, an evaluation.


def measure_summary(record: MeasureRecord) -> Document:
    """Return the method and the data, the value with its chance level, the parts, and notes."""
    recipe = record.recipe
    header = [("Source", str(recipe.get("source", ""))), ("n", format_number(recipe.get("n")))]
    header += [("p", format_number(recipe.get("p"))), ("Seed", str(recipe.get("random_state", "")))]
    header += [(key.replace("_", " "), str(value)) for key, value in dict(recipe.get("parameters", {})).items()]
    rows = [[record.symbol, format_number(record.value)]]
    rows += [["chance level", format_number(record.chance)]] if record.chance == record.chance else []
    rows += [[title, text or "none, see the notes"] for title, text in part_texts(record.parts.items()).items()]
    better = f", {DIRECTIONS[record.direction]}" if record.direction else ""
    table = Table(f"Value ({record.symbol}{better}) and parts", ["", "value"], rows)
    return record_document(record.title, header, [table], record.notes, record.call)


def embedding_summary(record: Embedding) -> Document:
    """Return method, parameters, and the spread of each component."""
    n, d = record.shape
    p = "" if record.data_shape is None else format_number(record.data_shape[1])
    seed = "" if record.random_state is None else str(record.random_state)
    header = [("Method", record.method), ("n", format_number(n)), ("p", p), ("d", format_number(d)), ("Seed", seed)]
    Y = record.coordinates
    rows = [
        [str(j + 1), *(format_number(float(v)) for v in (Y[:, j].min(), Y[:, j].max(), Y[:, j].std(ddof=1)))]
        for j in range(d)
    ]
    tables = [Table("Components", ["component", "min", "max", "sd"], rows)]
    if record.parameters:
        pairs = [[name, repr(value)] for name, value in record.parameters.items()]
        tables.append(Table("Parameters", ["parameter", "value"], pairs, names=2))
    options = {**record.parameters, "random_state": record.random_state}
    arguments = [f"{name}={value!r}" for name, value in options.items() if value is not None]
    call = f"dreval.embed({', '.join(['data', repr(record.method), *arguments])})" if record.method in METHODS else ""
    return record_document("Embedding", header, tables, record.notes, call)


def map_summary(record: KernelMap) -> Document:
    """Return rule, bandwidth, ridge, conditioning and errors of a kernel map."""
    n, r = record.weights.shape
    header = [("Rule", record.rule), ("n", format_number(n)), ("Columns in", str(len(record.origin)))]
    header += [("Columns out", str(r)), ("Bandwidth", f"{record.bandwidth:.4g}"), ("Ridge", f"{record.ridge:.4g}")]
    header += [("Condition", f"{record.condition:.3g}"), ("Relative error", f"{record.error:.4g}")]
    if record.left_out_error == record.left_out_error:
        header.append(("Left-out error", f"{record.left_out_error:.4g}"))
    return record_document("Kernel map", header, [], record.notes)


def method_summary(method: Any) -> Document:
    """Return a bundled method, fitted or not, and its parameters."""
    fitted = f"to {method.n_features_in_} columns" if method.__sklearn_is_fitted__() else "not yet"
    header = [("Method", method.card.name), ("Family", method.card.family), ("Fitted", fitted)]
    rows = [[name, repr(value)] for name, value in method.get_params().items()]
    return record_document(method.card.title, header, [Table("Parameters", ["", "value"], rows, names=2)])


def dataset_summary(dataset: Dataset) -> Document:
    """Return source, license and size of a data set."""
    card, (n, p) = dataset.card, dataset.data.shape
    classes = "" if dataset.labels is None else f"{len(np.unique(dataset.labels)):,}"
    latent = "" if dataset.latent is None else f"{dataset.latent.shape[1]} dimensions"
    header = [("Name", card.name), ("Points n", f"{n:,}"), ("Columns p", f"{p:,}"), ("Classes", classes)]
    header += [("Latent variables", latent), ("Source", card.source), ("License", card.license)]
    header += [("Reference", card.reference), *((str(key), str(value)) for key, value in dataset.recipe.items())]
    return record_document(card.title, header, [])


def evaluation_preview(evaluation: Evaluation) -> Document:
    """Return data, settings, and the source of each embedding, before anything is computed."""
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
    tables = [Table("Embeddings", ["", "from", "source"], rows, names=3)] if rows else []
    return record_document("Evaluation", header, tables, ["Nothing is computed yet: run() gives the results."])


def cost_summary(record: CostEstimate) -> Document:
    """Return the total, one line for each kind of step, and the steps that are not included."""
    header = [
        ("Points n", f"{record.n:,}"),
        ("Threads", str(record.n_threads)),
        ("Seconds", _two_digits(record.seconds)),
        ("MiB", _two_digits(record.mebibytes)),
    ]
    timed = record.table[record.table["seconds"].notna()]
    kinds = timed.groupby("step", sort=False)["seconds"].sum()
    rows = [[str(name), _two_digits(seconds)] for name, seconds in [*kinds.items(), ("total", record.seconds)]]
    table = Table("Steps", ["", "seconds"], rows, foot="MiB are in addition to data and embeddings.")
    notes = ["Extrapolated from two small samples of the points, within a factor of about three, for idle cores."]
    if record.not_included:
        names = ", ".join(record.not_included)
        notes.append(f"Not included, because a method is not run for an estimate: the runs of {names}.")
    return record_document("Estimated cost", header, [table], notes)


def _two_digits(value: float) -> str:
    """Return a number to two digits, above ten to the next integer; an estimate is not more precise."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}" if value >= 0.01 else "< 0.01"


def scores_summary(record: PointScores) -> Document:
    """Return settings, numbers of the map, and the spread of each score over the points."""
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
    table = Table("Scores of the points", ["", "min", "median", "mean", "max"], rows)
    return record_document(record.TITLE, header, [table], record.notes)


def perplexity_summary(record: PerplexityCurve) -> Document:
    """Return the scores at each perplexity with their intervals, and the number of maps without a score."""
    recipe = record.recipe
    header = [("n", format_number(recipe["n"])), ("p", format_number(recipe["p"]))]
    header += [("Seeds", str(recipe["parameters"]["n_seeds"])), ("Seed", str(recipe["random_state"]))]
    numbers = ["value", "conf_low", "conf_high"]
    sizes = [abs(size) for size in record.table[numbers].to_numpy().ravel() if size == size and size != 0]
    has_exponent = any("e" in format_number(size) for size in sizes)  # then all have one, for comparison
    rows = []
    for row in record.table.to_dict("records"):
        numbers_text = [
            true_minus(f"{row[word]:.3e}") if has_exponent else format_number(row[word]) for word in numbers
        ]
        numbers_text = [
            text if row[word] == row[word] else "none" for text, word in zip(numbers_text, numbers, strict=True)
        ]
        maps = f"{row['n_used']} of {row['n_used'] + row['n_refused']}"
        rows.append([f"{row['perplexity']:.3g}", row["score"], *numbers_text, maps])
    columns = ["perplexity", "score / n", "mean", f"{100 * record.conf_level:g} % low", "high", "maps"]
    return record_document(
        "Perplexity curve", header, [Table("Singularity of t-SNE maps", columns, rows)], record.notes
    )


def protocol_summary(status: ProtocolStatus) -> Document:
    """Return files by round, the errors, and the next step."""
    rows = []
    for number in sorted(set(status.table["round"])):
        states = status.table.loc[status.table["round"] == number, "state"].tolist()
        counts = [len(states), *(states.count(state) for state in ("returned", "missing", "wrong"))]
        rows.append([str(number), *map(str, counts)])
    tables = [Table("Files", ["round", "expected", "returned", "missing", "wrong"], rows)]
    wrong = [str(note) for note in status.table.loc[status.table["state"] == "wrong", "note"]]
    remaining = [f"{len(wrong) - 5} more files are wrong."] if len(wrong) > 5 else []
    first_missing = [f"The first that is missing: {status.missing[0]}."] if status.missing else []
    header = [*status.header, ("Round", f"{status.round} of {status.rounds}")]
    return record_document(
        "Protocol", header, tables, [*status.notes, *wrong[:5], *remaining, *first_missing, status.next_step]
    )
