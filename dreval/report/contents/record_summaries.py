"""Summaries of single records: embeddings, scores, dimensions, sweeps, and the progress of studies and protocols."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dreval._check import function_name
from dreval.datasets._dataset import Dataset
from dreval.evaluation.evaluation import Evaluation
from dreval.geometry.kernels import KernelMap
from dreval.glossary import DIRECTIONS, format_number, format_p, part_texts, true_minus
from dreval.protocol.protocol import ProtocolStatus
from dreval.records.estimates import CostEstimate, IntrinsicDimension, MeasureRecord, ParallelAnalysis, PerplexityCurve
from dreval.records.frames import notes_of_table
from dreval.records.notes import Note, Notes
from dreval.records.points import Embedding, PointScores
from dreval.records.sweep import Sweep
from dreval.registry import ANALYSES, MEASURES, METHODS
from dreval.report.document import BestCell, Table, format_duration, same_digits
from dreval.report.format import count_noun, join_and, p_text, percent
from dreval.report.render.summary import Summary
from dreval.report.result_view import title_in_sentence
from dreval.storage.study_file import STATES
from dreval.study.study import StudyStatus, shortened_reason

# What is printed of the number of dimensions of data: an intrinsic dimension, and a parallel analysis.

DIMENSION_METHODS = {"twonn": "TwoNN", "mle": "Levina-Bickel"}
FIT_NAMES = {"line": "line through the origin", "ml": "maximum likelihood"}
MAX_FURTHER_COMPONENTS = 12  # printed components beyond the selected ones


def intrinsic_dimension_summary(record: IntrinsicDimension) -> Summary:
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
    return Summary("Intrinsic dimension", [h for h in header if h[0]], tables, notes, record.call, answer)


def intrinsic_dimension_answer(record: IntrinsicDimension) -> str:
    """Return the estimate and its interval in one sentence."""
    text = f"The intrinsic dimension of these points is estimated as {format_number(record.value, 2)}"
    if not math.isnan(record.se):
        low, high = (format_number(end, 2) for end in (record.conf_low, record.conf_high))
        text += f" ({100 * record.conf_level:g} % interval {low} to {high})"
    return f"{text}, in {count_noun(record.recipe['p'], 'column')}."


def parallel_analysis_summary(record: ParallelAnalysis) -> Summary:
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
    return Summary("Parallel analysis", header, tables, notes, record.call, answer)


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


def measure_summary(record: MeasureRecord) -> Summary:
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
    return Summary(record.title, header, [table], record.notes, record.call)


def embedding_summary(record: Embedding) -> Summary:
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
    return Summary("Embedding", header, tables, record.notes, call)


def map_summary(record: KernelMap) -> Summary:
    """Return rule, bandwidth, ridge, conditioning and errors of a kernel map."""
    n, r = record.weights.shape
    header = [("Rule", record.rule), ("n", format_number(n)), ("Columns in", str(len(record.origin)))]
    header += [("Columns out", str(r)), ("Bandwidth", f"{record.bandwidth:.4g}"), ("Ridge", f"{record.ridge:.4g}")]
    header += [("Condition", f"{record.condition:.3g}"), ("Relative error", f"{record.error:.4g}")]
    if record.left_out_error == record.left_out_error:
        header.append(("Left-out error", f"{record.left_out_error:.4g}"))
    return Summary("Kernel map", header, [], record.notes)


def method_summary(method: Any) -> Summary:
    """Return a bundled method, fitted or not, and its parameters."""
    fitted = f"to {method.n_features_in_} columns" if method.__sklearn_is_fitted__() else "not yet"
    header = [("Method", method.card.name), ("Family", method.card.family), ("Fitted", fitted)]
    rows = [[name, repr(value)] for name, value in method.get_params().items()]
    return Summary(method.card.title, header, [Table("Parameters", ["", "value"], rows, names=2)])


def dataset_summary(dataset: Dataset) -> Summary:
    """Return source, license and size of a data set."""
    card, (n, p) = dataset.card, dataset.data.shape
    classes = "" if dataset.labels is None else f"{len(np.unique(dataset.labels)):,}"
    latent = "" if dataset.latent is None else f"{dataset.latent.shape[1]} dimensions"
    header = [("Name", card.name), ("Points n", f"{n:,}"), ("Columns p", f"{p:,}"), ("Classes", classes)]
    header += [("Latent variables", latent), ("Source", card.source), ("License", card.license)]
    header += [("Reference", card.reference), *((str(key), str(value)) for key, value in dataset.recipe.items())]
    return Summary(card.title, header, [])


def evaluation_preview(evaluation: Evaluation) -> Summary:
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
    return Summary("Evaluation", header, tables, ["Nothing is computed yet: run() gives the results."])


def cost_summary(record: CostEstimate) -> Summary:
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
    return Summary("Estimated cost", header, [table], notes)


def _two_digits(value: float) -> str:
    """Return a number to two digits, above ten to the next integer; an estimate is not more precise."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}" if value >= 0.01 else "< 0.01"


def scores_summary(record: PointScores) -> Summary:
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
    return Summary(record.TITLE, header, [table], record.notes)


def perplexity_summary(record: PerplexityCurve) -> Summary:
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
    return Summary("Perplexity curve", header, [Table("Singularity of t-SNE maps", columns, rows)], record.notes)


# What is printed of the progress of a study, and of the folder of a protocol.

MAX_STUDY_ROWS = 40  # of a larger study only the pairs are printed that are not simply done
MAX_REASONS = 10
MAX_DATA_NOTES = 20  # notes on data sets and methods that are printed


def study_summary(status: StudyStatus) -> Summary:
    """Return the numbers of cells by state, for each data set and method, and the next step."""
    cells = status.cells
    header = [
        ("File", status.name),
        ("Data sets", f"{cells['dataset'].nunique()}"),
        ("Methods", f"{cells['embedding'].nunique()}"),
        ("Replicates", f"{cells['replicate'].nunique()}"),
        ("Cells", f"{len(cells):,}"),
        *((state.capitalize(), f"{status.count(state):,}") for state in STATES),
        ("Computing", format_duration(status.seconds)),
    ]
    return Summary("Study", header, [_study_table(status)] if len(cells) else [], _study_notes(status))


def _study_table(status: StudyStatus) -> Table:
    table = status.table
    title, unsettled = "Cells of each data set and method", table[list(STATES[1:])].sum(axis=1) > 0
    if len(table) > MAX_STUDY_ROWS:
        hidden = int((~unsettled).sum())
        title, table = f"{title}; {hidden:,} pairs that are done are not shown", table[unsettled].head(MAX_STUDY_ROWS)
    rows = [
        [
            row["dataset"],
            row["embedding"],
            *(str(row[state] or "") for state in STATES),
            format_duration(row["seconds"]),
        ]
        for row in table.to_dict("records")
    ]
    return Table(title, ["data set", "method", *STATES, "computing"], rows, names=2)


def _study_notes(status: StudyStatus) -> list[str]:
    """Return why cells failed, warnings of methods, notes on the data, and the next step."""
    notes = []
    failures: dict[Any, list[int]] = {}  # failures of one argument by one rule are alike, whatever the values
    for place, (state, cell_notes) in enumerate(zip(status.cells["state"], status.cells["notes"], strict=True)):
        if state == "failed":
            values = dict(cell_notes[0].values)
            failures.setdefault((cell_notes[0].code, values.get("argument"), values.get("requirement")), []).append(
                place
            )
    for places in list(failures.values())[:MAX_REASONS]:
        failed = status.cells.iloc[places]
        reasons = [shortened_reason(reason) for reason in dict.fromkeys(failed["reason"])]
        suffix = f" (and {len(reasons) - 1} with other values)" if len(reasons) > 1 else ""
        notes.append(f"{_cell_count(len(failed))} failed, {_cell_places(failed)}: {reasons[0]}{suffix}")
    if len(failures) > MAX_REASONS:
        notes.append(f"{len(failures) - MAX_REASONS} more reasons are in `failures`.")
    notes += study_warnings(status)[:MAX_REASONS]
    data_notes = study_data_notes(status)
    notes += data_notes[:MAX_DATA_NOTES]
    if len(data_notes) > MAX_DATA_NOTES:
        notes.append(f"{len(data_notes) - MAX_DATA_NOTES} more notes are in `notes`.")
    same = [name for name in status.deterministic if (status.cells["embedding"] == name).any()]
    if same and status.cells["replicate"].nunique() > 1:
        same_text = "has the same coordinates in all replicates on the same points"
        names, random_measures = ", ".join(same), "measures that draw (folds, samples of pairs) differ"
        notes.append(f"Seeds change nothing in {names}: each {same_text}; {random_measures}.")
    if not status.complete:
        notes.append("run() continues; what is done is not computed again.")
    elif status.count("failed"):
        notes.append("run(retry_failed=True) tries again what failed.")
    return notes


def study_warnings(status: StudyStatus) -> list[str]:
    """Return the warnings of cells; cells with the same warnings are named together."""
    places_by_warnings: dict[Notes, list[int]] = {}
    for place, (state, cell_notes) in enumerate(zip(status.cells["state"], status.cells["notes"], strict=True)):
        if warnings := tuple(
            cell_notes[1:] if state == "failed" else cell_notes
        ):  # the first is the reason of the failure
            places_by_warnings.setdefault(warnings, []).append(place)
    texts = []
    for warnings, places in places_by_warnings.items():
        cells = status.cells.iloc[places]
        texts.append(f"{_cell_count(len(cells))} warned, {_cell_places(cells)}: {'; '.join(map(str, warnings))}")
    return texts


def study_data_notes(status: StudyStatus) -> list[str]:
    """Return the notes on data sets and methods; data sets with the same note are named together."""
    datasets_by_note: dict[Note, list[str]] = {}
    for dataset, note in zip(status.notes["dataset"], notes_of_table(status.notes), strict=True):
        datasets_by_note.setdefault(note, []).append(dataset)
    return [
        f"On {_names_or_count(dict.fromkeys(names), 'data sets')}: {note}" for note, names in datasets_by_note.items()
    ]


def _cell_count(count: int) -> str:
    return f"{count:,} cell{'' if count == 1 else 's'}"


def _cell_places(cells: pd.DataFrame) -> str:
    """Return methods and data sets of cells."""
    return " on ".join(_names_or_count(dict.fromkeys(cells[key]), "of them") for key in ("embedding", "dataset"))


def _names_or_count(names: Collection[str], noun: str) -> str:
    """Return up to three names, or their number."""
    return ", ".join(names) if len(names) <= 3 else f"{len(names)} {noun}"


def protocol_summary(status: ProtocolStatus) -> Summary:
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
    return Summary(
        "Protocol", header, tables, [*status.notes, *wrong[:5], *remaining, *first_missing, status.next_step]
    )


# Sweeps: the settings that are not distinguishable from the best, in a sentence, then their values.

MAX_SETTINGS = 30
MAX_NAMED_SETTINGS = 6  # settings in a sentence
VERDICTS = {True: "best set", False: "worse"}


def sweep_summary(sweep: Sweep) -> Summary:
    """Return the answer of each measure in a sentence, a table for each, and why settings are not judged."""
    recipe = sweep.recipe
    replicates = f"{recipe['parameters']['n_replicates']} {sweep.over}"
    header = [("Source", str(recipe["source"])), ("Points n", format_number(recipe["n"]))]
    header += [("Columns p", format_number(recipe["p"])), ("Settings", format_number(len(sweep.settings)))]
    header += [("Replicates", replicates), ("Level", f"{1 - sweep.alpha:g}"), ("Seed", str(recipe["random_state"]))]
    tables = [_sweep_table(sweep, name) for name in sweep.measures]
    first_rows = sweep.of()
    unjudged = [
        f"{setting_text(setting)}: {text.rstrip('.')}."
        for setting, text in zip(sweep.settings, first_rows["note"], strict=True)
        if text
    ]
    caution = "A setting in the best set is not shown to be good, or equal to the best: it is not shown to be worse."
    answers = [sweep_answer(sweep, name) for name in sweep.measures]
    return Summary("Sweep", header, tables, [*unjudged, *sweep.notes, caution], recipe["call"], answers)


def sweep_answer(sweep: Sweep, measure: str | None = None) -> str:
    """Return which settings are not distinguishable from the best by a measure, are worse, or are not judged.

    Examples
    --------
    >>> import dreval
    >>> roll = dreval.simulate("swiss_roll", 120, random_state=0)
    >>> found = dreval.sweep(roll.data, "isomap", {"n_neighbors": [4, 20, 40]}, random_state=0)
    >>> sweep_answer(found).split(" (")[0]
    'n_neighbors = 40 has the best mean'
    """
    rows, order = sweep.of(measure), sweep.order(measure)
    in_best_set = rows["in_best_set"]
    best_set, worse, unjudged = (
        [sweep.settings[h] for h in order if mask[h]]
        for mask in (in_best_set.fillna(False), ~in_best_set.fillna(True), in_best_set.isna())
    )
    by = measure_text(rows)
    if not best_set:
        return f"No setting can be judged ({by}): see the notes."
    best, *others = best_set
    if worse and not others:
        text = f"{_setting_list([best])} is the best ({by}); {_worse_text(worse, bool(unjudged), best_set)}"
    else:
        text = f"{_setting_list([best])} has the best mean ({by})"
        others_text = (
            f"{_setting_list(others, [best])} {'is' if len(others) == 1 else 'are'} not distinguishable from it"
        )
        if not worse and not unjudged:
            others_text = f"none of the {len(others):,} other settings is distinguishable from it"
            others_text = "the other setting is not distinguishable from it" if len(others) == 1 else others_text
        text += f"; {others_text}" if others else ""
        text += f"; {_worse_text(worse, bool(unjudged), best_set)}" if worse else ""
        text += _crossed_text(sweep, rows, order)
    if unjudged:
        text += (
            f"; {_setting_list(unjudged, best_set)} {'is' if len(unjudged) == 1 else 'are'} not judged, see the notes"
        )
    return f"{text}."


def _crossed_text(sweep: Sweep, rows: Any, order: Sequence[int]) -> str:
    """Return that settings are worse than the best although their mean is better than that of one in the best set.

    With few replicates standard errors differ much: the differences of the setting in the set vary more.
    """
    in_best_set = rows["in_best_set"]
    best_rows = [h for h in order if in_best_set.fillna(False)[h]]
    places = [place for place, h in enumerate(order) if not in_best_set.fillna(True)[h]]
    before = [sweep.settings[order[place]] for place in places if place < order.index(best_rows[-1])]
    if not before:
        return ""
    last, means = sweep.settings[best_rows[-1]], "mean" if len(before) == 1 else "means"
    start = f"the {means} of {_setting_list(before, [last])} {'is' if len(before) == 1 else 'are'} better than that of"
    return f"; {start} {_setting_list([last], before)}, whose differences from better settings vary more"


def _worse_text(worse: Sequence[Mapping[str, Any]], has_unjudged: bool, best_set: Sequence[Mapping[str, Any]]) -> str:
    """Return which settings are worse: a few by name, else their number."""
    verb = "is" if len(worse) == 1 else "are"
    one_option = len({name for setting in (*worse, *best_set) for name in setting}) == 1
    if len(worse) == 1 or (one_option and len(worse) <= MAX_NAMED_SETTINGS):
        return f"{_setting_list(worse, best_set)} {verb} worse"
    return f"the {len(worse):,} other settings {'that are judged ' if has_unjudged else ''}{verb} worse"


def measure_text(rows: Any) -> str:
    """Return the title of a measure with its parameters, and its direction where lower is better."""
    card: Any = MEASURES.card(rows["measure"].iloc[0])
    parameters = str(rows["parameters"].iloc[0]).replace("n_neighbors=", "k = ")
    title = title_in_sentence(card.title)
    return ", ".join(
        filter(None, [title, parameters, "" if card.direction == "higher" else DIRECTIONS[card.direction]])
    )


def setting_text(setting: Mapping[str, Any]) -> str:
    """Return one setting: "n_neighbors = 10, min_dist = 0.1"."""
    return ", ".join(f"{name} = {value_text(value)}" for name, value in setting.items()) or "defaults"


def value_text(value: Any) -> str:
    """Return a value of an option, short."""
    text = function_name(value, "") or (value if isinstance(value, str) else repr(value))
    text = f"{value:.6g}" if isinstance(value, float) and len(text) > 8 else text
    return text if len(text) <= 24 else f"{text[:23]}…"


def _setting_list(settings: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]] = ()) -> str:
    """Return settings in a sentence; a single option is named once, and not repeated after other settings."""
    names = {name for setting in (*settings, *after) for name in setting}
    listed = settings if len(settings) <= MAX_NAMED_SETTINGS else settings[: MAX_NAMED_SETTINGS - 1]
    remaining = [f"{len(settings) - len(listed):,} more"] if len(listed) < len(settings) else []
    if len(names) == 1:
        (name,) = names
        text = join_and([*(value_text(setting[name]) for setting in listed), *remaining])
        return text if after else f"{name} = {text}"
    return join_and([*(f"({setting_text(setting)})" for setting in listed), *remaining])


def _sweep_table(sweep: Sweep, measure: str) -> Table:
    """Return the settings with means, intervals, p-values and verdicts by one measure; of many the best."""
    rows = sweep.of(measure)
    if len(rows) > MAX_SETTINGS:
        higher = MEASURES.card(rows["measure"].iloc[0]).direction == "higher"
        rows = rows.sort_values("mean", ascending=not higher, kind="stable", na_position="last").head(MAX_SETTINGS)
    means, lows, highs = (same_digits(rows[key].tolist()) for key in ("mean", "conf_low", "conf_high"))
    lines = []
    for (at, row), mean, low, high in zip(rows.iterrows(), means, lows, highs, strict=True):
        is_judged = not np.isnan(row["p_value"])
        is_best = is_judged and bool(row["in_best_set"])
        lines.append(
            [
                *(value_text(sweep.settings[at].get(name, "")) for name in sweep.options),
                BestCell(mean) if is_best else mean,
                f"{low} to {high}" if low else "",
                str(row["n_replicates"]),
                format_p(row["p_value"], sweep.alpha),
                VERDICTS[is_best] if is_judged else "not judged",
            ]
        )
    level = f"{100 * (1 - sweep.alpha):g} %"
    columns = [*sweep.options, "mean", f"{level} interval", "runs", "p", "verdict"]
    n_further = len(sweep.settings) - len(lines)
    foot = f"the best {len(lines)}, {count_noun(n_further, 'further setting')} in tidy()." if n_further else ""
    title = measure_text(rows)
    best = "not distinguishable from the best" if rows["in_best_set"].any() else ""
    return Table(title[:1].upper() + title[1:], columns, lines, names=len(sweep.options), foot=foot, best=best)
