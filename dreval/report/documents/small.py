"""Printed forms of single records: the answer first, then its numbers, then at most three notes."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from dreval._docs import value_range
from dreval._text import format_fixed, format_number, format_p, percent, significant, true_minus, without_zero
from dreval.comparison.gate import NEW, OLD, ORDER, UNDECIDED, WORSE, Gate
from dreval.datasets._dataset import Dataset
from dreval.evaluation.evaluation import Evaluation, FailedSource
from dreval.evaluation.provenance import graph_entry
from dreval.geometry.kernels import KernelMap
from dreval.glossary import DIRECTIONS, part_texts
from dreval.measures.replicates import groups_parameter
from dreval.protocol.protocol import ProtocolStatus
from dreval.records.bound import GeneralizationBound
from dreval.records.estimates import (
    CostEstimate,
    IntrinsicDimension,
    MeasureRecord,
    ParallelAnalysis,
    PerplexityCurve,
    Stability,
)
from dreval.records.evaluated import EvaluatedEmbedding
from dreval.records.frames import notes_of_table, setting_names
from dreval.records.importance import ColumnImportance
from dreval.records.notes import ASSUMPTION, FAILURE, LIMIT, Note
from dreval.records.points import Embedding, LocalDistortion, PerturbationScore, PointScores, SingularityScore
from dreval.records.recall import GraphRecall
from dreval.records.scores import Scores
from dreval.registry import ANALYSES, MEASURES, METHODS
from dreval.report.best_sets import POOR, normalized_score
from dreval.report.document import Document, Paragraph, Part, Table, record_document
from dreval.report.findings import Finding, findings_text, list_names, record_finding
from dreval.report.format import count_noun, join_and
from dreval.report.result_view import (
    evaluation_settings,
    make_column,
    measure_phrase,
    metric_text,
    parameter_text,
    stored_text,
)

ROUNDING = 1e-9  # differences from a perfect value that are nothing but rounding
MAX_NOTES = 3  # notes of a short summary
MAX_NAMED_MEASURES = 4  # measures that a sentence names
MAX_NAMED_COLUMNS = 6  # columns that a sentence names
MAX_PRINTED_COLUMNS = 12  # rows of the printed table of columns
MAX_COLUMN_LETTERS = 22
SEVERITIES = (FAILURE, LIMIT, ASSUMPTION)  # the most important first


def record_summary(
    title: str,
    findings: Iterable[Finding],
    tables: Sequence[Table] = (),
    notes: Iterable[Note | str] = (),
    *,
    full: bool = False,
    settings: Iterable[tuple[str, Any]] = (),
    details: Sequence[Table] = (),
    call: str = "",
    answers: Sequence[Part] = (),
    after: Sequence[str] = (),
    shell: bool = False,
) -> Document:
    """Return the printed form of a record: findings, tables, and the notes that matter most.

    Parameters
    ----------
    title : str
        The title; only the full form shows it.
    findings : iterable of Finding
        The answer, in the order in which it is read.
    tables : sequence of Table
        The essential numbers.
    notes : iterable of Note or str
        All notes; the short form has the most severe ones.
    full : bool, default False
        Whether to add all notes, the settings, the details and the call.
    settings : iterable of (str, value)
        Names and values of settings; those without a value are left out.
    details : sequence of Table
        Further tables.
    call : str
        The code that reproduces the record.
    answers : sequence of Part
        Further answers, below the findings.
    after : sequence of str
        Sentences below the tables: the next step.
    shell : bool, default False
        Whether a command prints it, whose option adds the rest.
    """
    severities = {note: note.severity if isinstance(note, Note) else LIMIT for note in notes}
    ordered = sorted(severities, key=lambda note: SEVERITIES.index(severities[note]))
    texts = list(dict.fromkeys(map(str, ordered)))
    header = [(name, str(value)) for name, value in settings if value not in (None, "")]
    hidden = [count_noun(len(texts) - MAX_NOTES, "more note")] if len(texts) > MAX_NOTES else []
    hidden += ["settings"] if header or call or details else []
    step = "--full" if shell else ".summary(full=True)"
    further = f"{join_and(hidden).capitalize()}: {step}." if hidden and not full else ""
    document = record_document(
        title,
        header if full else [],
        [*tables, *(details if full else ())],
        texts if full else texts[:MAX_NOTES],
        call if full else "",
        after=after,
        further=further,
    )
    answer = Paragraph(findings_text(findings), "finding")
    return replace(document, parts=[answer, *answers, *document.parts])


def _level(conf_level: float) -> str:
    return f"{100 * conf_level:g} %"


def _parameters(recipe: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the settings of a record: those that were passed or computed, and the seed."""
    parameters = dict(recipe.get("parameters", {}))
    pairs = [(key.replace("_", " "), value) for key, value in parameters.items()]
    return [*pairs, ("Seed", recipe.get("random_state"))]


# The number of dimensions of data: an intrinsic dimension, and a parallel analysis.

DIMENSION_METHODS = {"twonn": "TwoNN", "mle": "Levina-Bickel"}
MAX_FURTHER_COMPONENTS = 5  # printed components beyond the selected ones


def intrinsic_dimension_summary(record: IntrinsicDimension, full: bool) -> Document:
    """Return the estimate with its interval, and the quantiles of local dimensions."""
    method, tables = DIMENSION_METHODS[record.method], []
    if record.method == "mle":
        local = np.quantile(record.points["local_dimension"], [0.05, 0.25, 0.5, 0.75, 0.95])
        columns = ["Points", "5 %", "25 %", "median", "75 %", "95 %"]
        cells = [format_number(float(quantile), 2) for quantile in local]
        tables.append(Table("", columns, [["local dimension", *cells]]))
    settings = [("Method", method), ("Points used", record.n_used), ("Standard error", format_number(record.se, 3))]
    settings += [("Groups left out", record.n_groups or None), *_parameters(record.recipe)]
    notes = [*record.notes, *([ANALYSES.card("intrinsic_dimension").caution] if full else [])]
    findings = intrinsic_dimension_findings(record)
    return record_summary(
        "Intrinsic dimension", findings, tables, notes, full=full, settings=settings, call=record.call
    )


def intrinsic_dimension_findings(record: IntrinsicDimension) -> list[Finding]:
    """Return the estimate with its interval, and what the interval does not cover."""
    value, p = record.value, record.recipe["p"]
    if math.isnan(record.se):
        return [record_finding("dimension.no_interval", value=value, p=p)]
    interval = {"level": _level(record.conf_level), "low": record.conf_low, "high": record.conf_high}
    return [record_finding("dimension.interval", value=value, p=p, **interval), record_finding("dimension.caution")]


def graph_recall_summary(record: GraphRecall, full: bool) -> Document:
    """Return the recall with its interval, and its spread over the points."""
    recall = record.points["recall"]
    shares = [recall.min(), *recall.quantile([0.05, 0.25, 0.5]), recall.mean()]
    cells = [format_number(float(share), 3) for share in shares]
    tables = [Table("", ["Points", "lowest", "5 %", "25 %", "median", "mean"], [["recall", *cells]])]
    settings = [("n", record.recipe["n"]), ("Standard error", format_number(record.se, 3))]
    settings += [("Interval", record.conf_method), *_parameters(record.recipe)]
    notes = [*record.notes, *([ANALYSES.card("graph_recall").caution] if full else [])]
    findings = graph_recall_findings(record)
    return record_summary("Graph recall", findings, tables, notes, full=full, settings=settings, call=record.call)


def graph_recall_findings(record: GraphRecall) -> list[Finding]:
    """Return the recall with its interval, and the share of the points with all neighbors."""
    n, m = record.recipe["n"], record.n_used
    numbers: dict[str, Any] = {"value": record.value, "k": record.n_neighbors, "n": n, "chance": record.chance}
    if m < n:
        interval = {"level": _level(record.conf_level), "low": record.conf_low, "high": record.conf_high}
        mean = record_finding("recall.anchors", m=m, **numbers, **interval)
    else:
        mean = record_finding("recall.all", **numbers)
    return [mean, record_finding("recall.complete", complete=record.complete)]


def importance_summary(record: ColumnImportance, full: bool) -> Document:
    """Return which columns the map shows and loses, and the numbers of the columns."""
    level = _level(record.conf_level)
    table = record.table if full else record.table.head(MAX_PRINTED_COLUMNS)
    numbers = ("drop", "conf_low", "conf_high", "p_value", "weight", "share")
    rows = [
        [
            row["column"]
            if len(row["column"]) <= MAX_COLUMN_LETTERS
            else f"{row['column'][: MAX_COLUMN_LETTERS - 1]}…",
            *(format_p(row[key]) if key == "p_value" else _fixed(row[key]) for key in numbers),
            "shown" if row["visible"] else "",
        ]
        for row in table.to_dict("records")
    ]
    columns = ["column", "lost", f"{level} low", "high", "p", "weight", "lost/weight", ""]
    n_further = len(record.table) - len(rows)
    foot = f"{count_noun(n_further, 'further column')} in tidy()." if n_further else ""
    settings = [("n", record.recipe["n"]), ("Points compared", len(record.rows)), *_parameters(record.recipe)]
    notes = [*record.notes, *([ANALYSES.card("column_importance").caution] if full else [])]
    tables = [Table("", columns, rows, foot=foot)]
    findings = importance_findings(record)
    return record_summary("Column importance", findings, tables, notes, full=full, settings=settings, call=record.call)


def _fixed(value: float) -> str:
    """Return a share with three decimals; an empty text for a missing one."""
    return "" if math.isnan(value) else format_fixed(value, 3)


def importance_findings(record: ColumnImportance) -> list[Finding]:
    """Return the columns that the map shows, and those that it is not known to show, by their weight."""
    visible, hidden = record.table[record.table["visible"]], record.hidden
    numbers = {"total": len(record.table), "k": record.k, "overlap": record.overlap, "chance": record.chance}
    too_few = [item for item in record.notes if item.code == "importance.resamples"]
    if too_few:
        findings = [record_finding("importance.too_few", **numbers | dict(too_few[0].values))]
    elif len(visible):
        numbers |= {"count": len(visible), "low": float(visible["drop"].min()), "high": float(visible["drop"].max())}
        kind = "importance.shown" if len(visible) > 1 else "importance.shown_one"
        findings = [record_finding(kind, names=_first_names(record.visible), **numbers)]
    else:
        findings = [record_finding("importance.none", **numbers)]
    if hidden:
        weights = record.table.set_index("column")["weight"][list(hidden)]
        ends = [_fixed(float(value)) for value in (weights.min(), weights.max())]
        span = f"weight {ends[0]}" if len(hidden) == 1 else f"weights {ends[0]} to {ends[1]}"
        findings.append(record_finding("importance.lost", count=len(hidden), weights=span, names=_first_names(hidden)))
    return findings


def _first_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the first names, and how many there are besides."""
    further = len(names) - MAX_NAMED_COLUMNS
    return (*names[:MAX_NAMED_COLUMNS], *([f"{further:,} more"] if further > 0 else []))


def parallel_analysis_summary(record: ParallelAnalysis, full: bool) -> Document:
    """Return the number of components, then eigenvalues and p-values."""
    table = record.table if full else record.table.head(record.n_components + MAX_FURTHER_COMPONENTS)
    rows = [
        [
            str(row["component"]),
            *(format_number(row[key], 3) for key in ("eigenvalue", "chance", "null_quantile")),
            f"{100 * row['share']:.1f} %",
            format_p(row["p_value"]),
            "kept" if row["kept"] else "",
        ]
        for row in table.to_dict("records")
    ]
    columns = ["component", "eigenvalue", "null mean", f"null {_level(1 - record.alpha)}", "variance", "p", ""]
    n_further = len(record.table) - len(rows)
    foot = f"{count_noun(n_further, 'further component')} in tidy()." if n_further else ""
    settings = [("Permutations", record.n_resamples), *_parameters(record.recipe)]
    notes = [*record.notes, *([ANALYSES.card("parallel_analysis").caution] if full else [])]
    tables, findings = [Table("", columns, rows, foot=foot)], parallel_analysis_findings(record)
    return record_summary("Parallel analysis", findings, tables, notes, full=full, settings=settings, call=record.call)


def parallel_analysis_findings(record: ParallelAnalysis) -> list[Finding]:
    """Return the number of components, their share of the variance, and the limit of the method."""
    n_kept, table = record.n_components, record.table
    if not n_kept:
        return [record_finding("components.none", p=float(table["p_value"].iloc[0]))]
    share = float(table["share"].head(n_kept).sum())
    selected = record_finding("components.some", kept=n_kept, count=len(table), share=share)
    return [selected, record_finding("components.caution")]


# Measures of a method.


def measure_summary(record: MeasureRecord, full: bool, *, shell: bool = False) -> Document:
    """Return the value with its chance level, and its parts."""
    rows = [[title, text or "none, see the notes"] for title, text in part_texts(record.parts.items()).items()]
    tables = [Table("", ["Parts of the value", ""], rows)] if rows else []
    settings = [("n", record.recipe.get("n")), ("p", record.recipe.get("p")), *_parameters(record.recipe)]
    findings = measure_findings(record)
    options: dict[str, Any] = {"settings": settings, "call": record.call, "shell": shell}
    return record_summary(record.title, findings, tables, record.notes, full=full, **options)


def measure_findings(record: MeasureRecord) -> list[Finding]:
    """Return the value of a measure of a method on its scale, and what it does not say."""
    parts, kind = record.parts, f"measure.{record.measure}"
    numbers: dict[str, Any] = {"source": str(record.recipe.get("source", "the method")), "value": record.value}
    numbers["scale"] = measure_scale(record)
    match record.measure:
        case "trustability" if "n_components" in parts:
            numbers["d"] = parts["n_components"]
        case "tractable_consistency" if "tried" in parts:
            numbers["tried"] = parts["tried"]
        case "reconstruction_error" if record.value < 1:
            numbers["explained"] = 1 - record.value
        case "reconstruction_error":
            kind = "measure.no_reconstruction"
        case "stability" if isinstance(record, Stability):
            over = str(record.recipe["parameters"].get("over", "runs"))
            ends = {"low": parts["conf_low"], "high": parts["conf_high"], "level": "95 %"}
            over = {"both": "seeds and halves", "groups": "runs without a group"}.get(over, over)
            groups = record.recipe["parameters"].get("groups", "")
            over += f" of {groups}" if groups and over == "halves" else f" ({groups})" if groups else ""
            numbers |= {"runs": record.n_runs, "over": over, **ends}
            kind += "_without_interval" * math.isnan(parts["conf_low"])
        case _:
            kind, numbers["title"] = "measure.other", record.title
    caution = MEASURES.card(record.measure).caution if record.measure in MEASURES else ""
    return [record_finding(kind, **numbers), *([] if caution else [record_finding("measure.method")])]


def measure_scale(record: MeasureRecord) -> str:
    """Return the ends of the scale of a value, and to which of them it is closer, for use after the value."""
    chance = record.chance
    if record.measure not in MEASURES or math.isnan(chance):
        return f" ({DIRECTIONS[record.direction]})" if record.direction else ""
    row = {"embedding": "", "value": record.value, "chance": chance, "direction": record.direction}
    column = make_column(record.measure, "", [row])
    position, perfect = normalized_score(column, record.value, chance), column.perfect
    side = "no better than chance" if position <= 0 else f"closer to {'chance' if position < POOR else 'perfect'}"
    side = "perfect" if position > 1 - ROUNDING else side
    return f" (perfect {perfect:g}, chance level {significant(chance, 2)}: {side})"


# The verdict of a gate on a new embedding.

MAX_NAMED_CHECKS = 4  # measures of one verdict that a sentence names


def gate_summary(gate: Gate, sources: tuple[str, str], fail_if: str, full: bool) -> Document:
    """Return the verdict by each measure, then values, differences and margins; ``sources`` are the new and the old."""
    rows = gate.table.to_dict("records")
    suffixes = _setting_suffixes(gate.table)
    titles = [MEASURES.card(row["measure"]).title + suffix for row, suffix in zip(rows, suffixes, strict=True)]
    cells = [[title, *_check_cells(row)] for title, row in zip(titles, rows, strict=True)]
    recipe, level = gate.comparison.recipe, gate.table["joint_conf_level"].iloc[0]
    columns = ["", NEW, OLD, "change", f"{_level(level)} interval", "margin", ""]
    facts = [f"{recipe['n']:,} points"]
    facts += [count_noun(recipe["groups"]["count"], "group")] if recipe.get("groups") else []
    facts += [] if any(suffixes) else filter(None, [parameter_text(rows[0]["parameters"])])
    facts += ["the intervals hold jointly"] if len(rows) > 1 else []
    foot = f"change: {NEW} \N{MINUS SIGN} {OLD}, positive is better; {', '.join(facts)}."
    after = []
    if gate.verdict == UNDECIDED:
        after = ["More points, or a larger margin, would decide."]
        after += ["It exits with 0; with --fail-if undecided it exits with 5."] if fail_if == WORSE else []
    details = [(NEW, sources[0]), (OLD, sources[1]), ("Data", recipe["dataset"]), *evaluation_settings(recipe)]
    details.append(("Seed", recipe["random_state"]))
    findings = gate_findings(gate.table)
    tables = [Table("", columns, cells, foot=foot)]
    notes = [item for table in gate.notes for item in notes_of_table(table)]
    return record_summary(
        "Check", findings, tables, notes, full=full, settings=details, call=recipe["call"], after=after, shell=True
    )


def gate_findings(table: pd.DataFrame) -> list[Finding]:
    """Return the measures of each verdict of a gate, the worst verdict first."""
    phrases = map(measure_phrase, table["measure"])
    named = pd.Series([phrase + suffix for phrase, suffix in zip(phrases, _setting_suffixes(table), strict=True)])
    of_verdict = {verdict: list(named[(table["verdict"] == verdict).to_numpy()]) for verdict in ORDER}
    return [
        record_finding(f"gate.{verdict.replace(' ', '_')}", measures=list_names(names, MAX_NAMED_CHECKS))
        for verdict, names in of_verdict.items()
        if names
    ]


def _setting_suffixes(table: pd.DataFrame) -> list[str]:
    """Return the parameters of each row after the name of its measure; nothing if all have the same."""
    texts = list(map(parameter_text, table["parameters"]))
    return [f" ({text})" if text and len(set(texts)) > 1 else "" for text in texts]


def _check_cells(row: Mapping[str, Any]) -> list[str]:
    """Return values, difference, interval, margin and verdict, with the decimals that the interval needs."""
    width = row["conf_high"] - row["conf_low"]
    places = min(max(3, 1 - math.floor(math.log10(width))), 8) if width > 0 else 4

    def printed(value: float) -> str:
        return without_zero(format_fixed(value, places))

    low, high = printed(row["conf_low"]), printed(row["conf_high"])
    values = [printed(row[name]) for name in (NEW, OLD, "difference")]
    margin = without_zero(f"{row['margin']:g}")
    return [*values, f"{low} to {high}" if low else "", margin, row["verdict"]]


# Embeddings, maps, methods, data sets and evaluations.


def embedding_summary(record: Embedding, full: bool) -> Document:
    """Return the method and the size, and in full the parameters and the range of each component."""
    n, d = record.shape
    columns = None if record.data_shape is None else record.data_shape[1]
    origin = f", from {count_noun(columns, 'column')}" if columns is not None else ""
    findings = [record_finding("embedding.size", method=record.method, n=n, d=d, origin=origin)]
    findings.append(record_finding("embedding.next", method=record.method))
    ranges = [
        [str(j + 1), *(format_number(float(v)) for v in (values.min(), values.max(), values.std(ddof=1)))]
        for j, values in enumerate(record.coordinates.T)
    ]
    details = [Table("", ["component", "min", "max", "sd"], ranges)]
    options = {**record.parameters, "random_state": record.random_state}
    arguments = [f"{name}={value!r}" for name, value in options.items() if value is not None]
    call = f"dreval.embed({', '.join(['data', repr(record.method), *arguments])})" if record.method in METHODS else ""
    settings = [(name.replace("_", " "), value) for name, value in options.items()]
    return record_summary(
        "Embedding", findings, (), record.notes, full=full, settings=settings, details=details, call=call
    )


def evaluated_summary(record: EvaluatedEmbedding, full: bool) -> Document:
    """Return the standing of an embedding of an evaluation, its scores, and in full its tests."""
    scores, recipe, (n, d) = record.scores, record._results.recipe, record.shape
    names = setting_names(record._results.table)
    titles = []
    for name, parameters in zip(scores["measure"], scores["parameters"], strict=True):
        setting = "" if names[name, parameters] == name else f" ({parameter_text(parameters)})"
        titles.append(f"{MEASURES.card(name).title if name in MEASURES else name}{setting}")
    columns = ["Measure", "value", "chance", f"{_level(recipe['conf_level'])} interval", "rank", "best set"]
    rows = [[title, *_score_cells(row)] for title, row in zip(titles, scores.to_dict("records"), strict=True)]
    filled = [i for i in range(len(columns)) if i < 2 or any(row[i] for row in rows)]
    tables = [Table("", [columns[i] for i in filled], [[row[i] for i in filled] for row in rows])] if rows else []
    tests = record.tidy().query("test != ''").to_dict("records")
    p_rows = [[r["test"], r["variable"], format_p(r["p_value"]), format_p(r["p_adjusted"])] for r in tests]
    details = [Table("", ["Test", "variable", "p", "adjusted p"], p_rows, names=2)] if tests else []
    settings = [("Points", n), ("Components", d), ("Data", recipe["dataset"])]
    findings = [_standing_finding(record, scores)]
    options: dict[str, Any] = {"settings": settings, "details": details, "call": recipe["call"]}
    return record_summary("Embedding", findings, tables, record.notes, full=full, **options)


def _score_cells(row: Mapping[str, Any]) -> list[str]:
    """Return the printed cells of a score: value, chance, interval, rank and membership in the best set."""
    value, chance, low, high = (
        "" if math.isnan(row[name]) else format_number(row[name])
        for name in ("value", "chance", "conf_low", "conf_high")
    )
    rank = "" if pd.isna(row["rank"]) else f"{row['rank']} of {row['n_ranked']}"
    is_best = not pd.isna(row["in_best_set"]) and row["in_best_set"]
    return [value, chance, f"{low} to {high}" if low else "", rank, "yes" if is_best else ""]


def _standing_finding(record: EvaluatedEmbedding, scores: pd.DataFrame) -> Finding:
    """Return the finding on the measures by which an embedding is in the best set."""
    results, name, total = record._results, record.method, scores["measure"].nunique()
    decided = scores.dropna(subset="in_best_set")
    if name in results.reference:
        return record_finding("evaluated.reference", name=name)
    if decided.empty:
        alone = len({*results.embeddings} - {*results.reference}) < 2
        return record_finding("evaluated.alone" if alone else "evaluated.unranked", name=name, total=total)
    best = list(decided.loc[decided["in_best_set"], "measure"].unique())
    sizes = {"name": name, "n": int(decided["n_ranked"].max()), "total": decided["measure"].nunique()}
    if not best:
        return record_finding("evaluated.worse", **sizes)
    measures = f": {join_and(list(map(measure_phrase, best)))}" if len(best) <= MAX_NAMED_MEASURES else ""
    return record_finding("evaluated.best", **sizes, best=len(best), measures=measures)


def map_summary(record: KernelMap, full: bool) -> Document:
    """Return the error of a kernel map, and in full its rule, bandwidth, ridge and conditioning."""
    n, outputs = record.weights.shape
    left_out_error = record.left_out_error
    left_out = f" (left out: {percent(left_out_error)} %)" if left_out_error == left_out_error else ""
    sizes = {"rule": record.rule, "inputs": len(record.origin), "outputs": outputs, "n": n}
    findings = [record_finding("map.error", **sizes, error=max(record.error, 0.0), left_out=left_out)]
    findings.append(record_finding("map.caution"))
    settings = [("Bandwidth", f"{record.bandwidth:.4g}"), ("Ridge", f"{record.ridge:.4g}")]
    settings += [("Condition", f"{record.condition:.3g}"), ("Relative error", f"{record.error:.4g}")]
    return record_summary("Kernel map", findings, (), record.notes, full=full, settings=settings)


def method_summary(method: Any) -> Document:
    """Return a bundled method, fitted or not, and its parameters."""
    card = method.card
    fitted = {"columns": method.n_features_in_} if method.__sklearn_is_fitted__() else {}
    finding = record_finding(f"method.{'fitted' if fitted else 'new'}", title=card.title, name=card.name, **fitted)
    rows = [[name, repr(value)] for name, value in method.get_params().items()]
    return record_summary(card.title, [finding], [Table("", ["Parameter", "value"], rows, names=2)])


def dataset_summary(dataset: Dataset, full: bool) -> Document:
    """Return the size of a data set, and its source and license."""
    card, (n, p) = dataset.card, dataset.data.shape
    variables = "" if dataset.labels is None else f", {count_noun(len(np.unique(dataset.labels)), 'class', 'classes')}"
    if dataset.latent is not None:
        variables += f", with {count_noun(dataset.latent.shape[1], 'latent variable')}"
    finding = record_finding("dataset.size", name=card.name, n=n, p=p, variables=variables, title=card.title)
    rows = [("Source", card.source), ("License", card.license), ("Reference", card.reference)]
    settings = [*rows, *((str(key), str(value)) for key, value in dataset.recipe.items())]
    return record_summary(card.title, [finding], full=full, settings=settings)


def evaluation_preview(evaluation: Evaluation) -> Document:
    """Return the data, the embeddings and their sources, before anything is computed."""
    data, anchors = evaluation.data, evaluation.anchors
    kind = "evaluation.new" if evaluation.sources else "evaluation.empty"
    size = count_noun(data.n, "point") + (f", {count_noun(data.p, 'column')}" if data.p is not None else "")
    finding = record_finding(kind, count=len(evaluation.sources), data=str(data.name), size=size)
    errors = {name: source.error for name, source in evaluation.sources.items() if isinstance(source, FailedSource)}
    rows = [
        [name, *(("not read", "") if name in errors else (source.kind, str(source.what)))]
        for name, source in evaluation.sources.items()
    ]
    tables = [Table("", ["Embedding", "from", "source"], rows, names=3)] if rows else []
    settings = [f"k = {', '.join(map(str, evaluation.n_neighbors))}"]
    recipe = {"metric": evaluation.metric, **graph_entry(data)}
    settings += [] if evaluation.metric == "euclidean" else [f"metric {metric_text(recipe)}"]
    settings += [count_noun(anchors, "anchor")] if anchors else []
    settings += groups_parameter(data).values()
    settings += [] if data.labels is None else ["labels"]
    settings += [f"covariates {join_and(list(map(str, data.covariates)))}"] if data.covariates else []
    reasons = [f"{name} cannot be evaluated: {error}" for name, error in errors.items()]
    after = [*reasons, f"{', '.join(settings)}; seed {evaluation.seed}."]
    return record_summary("Evaluation", [finding], tables, after=after)


MAX_ANSWERS = 4  # values in the first sentence of scores


def values_summary(record: Scores, full: bool) -> Document:
    """Return the values that stand for their questions, then the value of each measure with its range."""
    rows = record.table.to_dict("records")
    cards = {row["measure"]: MEASURES.card(row["measure"]) for row in rows}
    table = [
        [
            row["measure"],
            *([row["parameters"]] if full else []),
            "none" if math.isnan(row["value"]) else format_number(row["value"], 3),
            value_range(cards[row["measure"]]),
            DIRECTIONS[row["direction"]],
        ]
        for row in rows
    ]
    reasons = [f"{row['measure']}: {row['note']}" for row in rows if row["note"]]
    settings = [("n", record.n), ("k", record.n_neighbors), ("Metric", metric_text(record.recipe))]
    settings.append(("Seed", record.recipe.get("random_state")))
    columns = ["Measure", *(["parameters"] if full else []), "value", "range", ""]
    stored = stored_text(record.notes)
    return record_summary(
        "Scores",
        values_findings(record),
        [Table("", columns, table, names=1 + full)],
        [*record.notes, *reasons],
        full=full,
        settings=settings,
        after=[*([f"{stored}."] if stored else []), "Chance levels, intervals and figures: Evaluation(X, Y).run()."],
    )


def values_findings(record: Scores) -> list[Finding]:
    """Return the values of measures that stand for their questions, or of the first ones."""
    names = [name for name, value in record.items() if not math.isnan(value)]
    if not names:
        return [record_finding("scores.none", n=record.n, count=len(record))]
    chosen = [name for name in names if MEASURES.card(name).bar] or names
    parts = [f"{name} {significant(record[name], 2)}" for name in chosen[:MAX_ANSWERS]]
    return [record_finding("scores.values", parts=parts, n=record.n, k=record.n_neighbors)]


def cost_summary(record: CostEstimate, full: bool) -> Document:
    """Return the total time and memory, and the time of each kind of step."""
    numbers = {"seconds": duration_estimate(record.seconds), "memory": _two_digits(record.mebibytes)}
    findings = [record_finding("cost.total", n=record.n, threads=record.n_threads, **numbers)]
    findings += [record_finding("cost.without", names=record.not_included)] if record.not_included else []
    timed = record.table[record.table["seconds"].notna()]
    kinds = timed.groupby("step", sort=False)["seconds"].sum().sort_values(ascending=False, kind="stable")
    rows = [[str(name), _two_digits(seconds)] for name, seconds in kinds.items()]
    foot = "Memory is in addition to data and embeddings; times are for idle cores."
    return record_summary("Estimated cost", findings, [Table("", ["Step", "seconds"], rows, foot=foot)], full=full)


def duration_estimate(seconds: float) -> str:
    """Return a duration as an estimate, to two digits, in seconds, minutes or hours."""
    for unit, size in (("hour", 3600.0), ("minute", 60.0)):
        if seconds >= 2 * size:
            return f"{_two_digits(seconds / size)} {unit}s"
    return f"{_two_digits(seconds)} seconds"


def _two_digits(value: float) -> str:
    """Return a number to two digits, above ten to the next integer; an estimate is not more precise."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}" if value >= 0.01 else "< 0.01"


# Scores of points, and of maps over perplexities.


def scores_summary(record: PointScores, full: bool) -> Document:
    """Return the finding on the scores, and the spread of each score over the points."""
    rows = [
        [str(row["score"]).replace("_", " "), *(format_number(row[word]) for word in ("min", "median", "mean", "max"))]
        for row in record.tidy().to_dict("records")
    ]
    tables = [Table("", ["Score of points", "min", "median", "mean", "max"], rows)]
    numbers = [(name.replace("_", " "), format_number(getattr(record, name))) for name in record.NUMBERS]
    settings = [("n", len(record)), ("p", record.recipe.get("p")), *numbers, *_parameters(record.recipe)]
    findings = scores_findings(record)
    return record_summary(record.TITLE, findings, tables, record.notes, full=full, settings=settings)


def scores_findings(record: PointScores) -> list[Finding]:
    """Return the largest scores, compared to the median, and what they do not say."""
    match record:
        case LocalDistortion():
            area, ratio = (values[np.isfinite(values)] for values in (record.area, record.anisotropy))
            low, high = np.quantile(area, [0.05, 0.95])
            sizes = {"median": float(np.median(ratio)), "largest": float(ratio.max()), "areas": float(high / low)}
            torn = {"count": record.n_broken_edges, "points": int((record.n_broken > 0).sum())}
            edges = record_finding("scores.broken", **torn) if torn["count"] else record_finding("scores.no_broken")
            return [record_finding("scores.distortion", **sizes), edges]
        case SingularityScore():
            scores = record.per_n
            point = int(np.argmax(scores))
            numbers = {"largest": float(scores[point]), "median": float(np.median(scores))}
            return [record_finding("scores.singularity", point=point, **numbers)]
        case PerturbationScore():
            scores = record.per_width
            point, count = int(np.nanargmax(scores)), int(np.isfinite(scores).sum())
            numbers = {"largest": float(scores[point]), "median": float(np.nanmedian(scores))}
            return [record_finding("scores.perturbation", point=point, count=count, length=record.length, **numbers)]
    return []


def perplexity_summary(record: PerplexityCurve, full: bool) -> Document:
    """Return the scores at each perplexity with their intervals, and the number of maps with a score."""
    numbers = ["value", "conf_low", "conf_high"]
    sizes = [size for size in record.table[numbers].to_numpy().ravel() if size == size and size != 0]
    has_exponent = any("e" in format_number(size) for size in sizes)  # then all have one, for comparison
    rows = []
    for row in record.table.to_dict("records"):
        texts = [true_minus(f"{row[key]:.3e}") if has_exponent else format_number(row[key]) for key in numbers]
        texts = [text if row[key] == row[key] else "none" for text, key in zip(texts, numbers, strict=True)]
        maps = f"{row['n_used']} of {row['n_used'] + row['n_refused']}"
        rows.append([f"{row['perplexity']:.3g}", row["score"], *texts, maps])
    columns = ["perplexity", "score / n", "mean", f"{_level(record.conf_level)} low", "high", "maps"]
    settings = [("n", record.recipe["n"]), ("p", record.recipe["p"]), *_parameters(record.recipe)]
    findings = perplexity_findings(record)
    return record_summary(
        "Perplexity curve", findings, [Table("", columns, rows)], record.notes, full=full, settings=settings
    )


def perplexity_findings(record: PerplexityCurve) -> list[Finding]:
    """Return the perplexities with the smallest and the largest scores, and what does not follow."""
    top = record.table[record.table["score"] == record.table["score"].iloc[0]]
    top = top[top["value"].notna()]
    if top.empty:
        return [record_finding("perplexity.none")]
    row, worst = top.loc[top["value"].idxmin()], top.loc[top["value"].idxmax()]
    numbers = {"perplexity": float(row["perplexity"]), "value": float(row["value"])}
    if math.isnan(row["conf_low"]):
        finding = record_finding("perplexity.value", **numbers)
    else:
        ends = {"low": float(row["conf_low"]), "high": float(row["conf_high"]), "level": _level(record.conf_level)}
        ends |= {"worst": float(worst["perplexity"]), "largest": float(worst["value"])}
        finding = record_finding("perplexity.smallest", **numbers, **ends)
    return [finding, record_finding("perplexity.caution")]


# The folder of a protocol.


def protocol_summary(status: ProtocolStatus, full: bool, *, shell: bool = False) -> Document:
    """Return how many files are returned, what is wrong with the others, and the next step."""
    counts = {"returned": len(status.returned), "count": len(status.table)}
    wrong = f", {len(status.wrong):,} cannot be used" if status.wrong else ""
    finding = record_finding("protocol.files", round=status.round, rounds=status.rounds, wrong=wrong, **counts)
    rows = []
    for number in sorted(set(status.table["round"])):
        states = status.table.loc[status.table["round"] == number, "state"].tolist()
        counts_of_round = [len(states), *(states.count(state) for state in ("returned", "missing", "wrong"))]
        rows.append([str(number), *map(str, counts_of_round)])
    tables = [Table("", ["Round", "files", "returned", "missing", "wrong"], rows)]
    reasons = [str(note) for note in status.table.loc[status.table["state"] == "wrong", "note"]]
    missing = f"The first missing file is {status.missing[0]}. " if status.missing else ""
    return record_summary(
        "Protocol",
        [finding],
        tables,
        [*reasons, *status.notes],
        full=full,
        settings=status.header,
        after=[f"{missing}{status.next_step}"],
        shell=shell,
    )


def bound_summary(record: GeneralizationBound, full: bool) -> Document:
    """Return the bound of errors on new data, whether it says something, and its parts."""
    parts, rows = record.parts, []
    for title, bound, key in (("printed", record.value, ""), ("sharper", parts["sharper_bound"], "sharper_")):
        terms = (parts["fitted_error"], parts[f"{key}complexity"], parts[f"{key}deviation"], bound)
        rows.append([title, *(format_fixed(term, 3) for term in terms), f"{parts[f'{key}points_needed']:,}"])
    tables = [Table("", ["Bound", "fitted error", "complexity", "deviation", "sum", "below 1 from n ="], rows)]
    settings = [("n", record.recipe["n"]), ("p", record.recipe["p"])]
    settings += [(name.replace("_", " "), value) for name, value in record.recipe["parameters"].items()]
    settings.append(("Seed", record.recipe["random_state"]))
    notes = [*record.notes, *([ANALYSES.card(record.measure).caution] if full else [])]
    findings = bound_findings(record)
    return record_summary(record.title, findings, tables, notes, full=full, settings=settings, call=record.call)


def bound_findings(record: GeneralizationBound) -> list[Finding]:
    """Return the bound, or that it says nothing, and the same of the sharper bound."""
    parts, settings = record.parts, record.recipe["parameters"]
    numbers = {"d": settings["n_components"], "value": record.value, "n": record.recipe["n"]}
    numbers["fitted"] = parts["fitted_error"]
    if record.is_vacuous:
        bound = record_finding("bound.vacuous", **numbers, needed=parts["points_needed"])
    else:
        bound = record_finding("bound.holds", **numbers, level=f"{100 * settings['conf_level']:g} %")
    sharper = {"sharper": parts["sharper_bound"]}
    if sharper["sharper"] < 1.0:
        return [bound, record_finding("bound.sharper", **sharper)]
    return [bound, record_finding("bound.sharper_vacuous", **sharper, needed=parts["sharper_points_needed"])]
