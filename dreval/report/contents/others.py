"""Write the summaries of single records: embeddings, scores, dimensions, sweeps, and the state of studies."""

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
from dreval.glossary import DIRECTIONS, format_number, format_p, part_words, true_minus
from dreval.journal.study import STATES
from dreval.protocol.protocol import ProtocolStatus
from dreval.records.answers import (
    CostEstimate,
    Embedding,
    IntrinsicDimension,
    MeasureRecord,
    ParallelAnalysis,
    PerplexityCurve,
    PointScores,
)
from dreval.records.frames import notes_in
from dreval.records.notes import Note, Notes
from dreval.records.sweep import Sweep
from dreval.registry import DIMENSIONS, MEASURES, METHODS
from dreval.report.document import Best, Block, format_duration, same_digits
from dreval.report.format import counted, of_hundred, ordered, p_words
from dreval.report.reading import title_within
from dreval.report.render.summary import Summary
from dreval.study.study import StudyStatus, shortened_reason

# What is printed of the number of dimensions of data: an intrinsic dimension, and a parallel analysis.

NAMES = {"twonn": "TwoNN", "mle": "Levina-Bickel"}
FITS = {"line": "line through the origin", "ml": "maximum likelihood"}
MOST_COMPONENTS = 12  # components that are printed beyond those that are kept


def intrinsic_dimension_summary(record: IntrinsicDimension) -> Summary:
    """The estimate with its interval in a sentence, then how it was made."""
    recipe = record.recipe
    parameters = recipe["parameters"]
    header = [("Method", NAMES[record.method]), *_of_data(recipe)]
    header += [("Fit", FITS[parameters["fit"]])] if "fit" in parameters else []
    header += [("Left out", f"{of_hundred(parameters['discard'])} %")] if parameters.get("discard") else []
    header += [("Neighbors k", str(parameters["n_neighbors"]))] if "n_neighbors" in parameters else []
    header += [("Groups left out", format_number(record.n_groups)) if record.n_groups else ("", "")]
    ends = [format_number(end, 3) for end in (record.se, record.conf_low, record.conf_high)]
    level = "interval" if math.isnan(record.conf_level) else f"{100 * record.conf_level:g} % interval"
    rows = [["dimension", format_number(record.value, 3), ends[0], f"{ends[1]} to {ends[2]}" if ends[1] else "none"]]
    blocks = [Block("Estimate", ["", "value", "se", level], rows)]
    if record.method == "mle":
        local = record.points["local_dimension"].to_numpy()
        cuts = [format_number(float(cut), 2) for cut in np.quantile(local, [0.05, 0.25, 0.5, 0.75, 0.95])]
        columns = ["", "5 %", "25 %", "median", "75 %", "95 %"]
        blocks.append(Block("Local dimensions of the points", columns, [["dimension", *cuts]]))
    notes = [*record.notes, DIMENSIONS.card("intrinsic_dimension").caution]
    answer = [intrinsic_dimension_answer(record)]
    return Summary("Intrinsic dimension", [h for h in header if h[0]], blocks, notes, record.call, answer)


def intrinsic_dimension_answer(record: IntrinsicDimension) -> str:
    """The estimate and its interval in one sentence."""
    said = f"The intrinsic dimension of these points is estimated as {format_number(record.value, 2)}"
    if not math.isnan(record.se):
        low, high = (format_number(end, 2) for end in (record.conf_low, record.conf_high))
        said += f" ({100 * record.conf_level:g} % interval {low} to {high})"
    return f"{said}, in {counted(record.recipe['p'], 'column')}."


def parallel_analysis_summary(record: ParallelAnalysis) -> Summary:
    """How many components are kept in a sentence, then eigenvalues and p-values."""
    header = [*_of_data(record.recipe), ("Permutations", format_number(record.n_resamples))]
    header += [("Level", f"{record.alpha:g}")]
    table, shown = record.table, record.n_components + MOST_COMPONENTS
    rows = [
        [
            str(row["component"]),
            *(format_number(row[key], 3) for key in ("eigenvalue", "null_mean", "null_quantile")),
            f"{100 * row['share']:.1f} %",
            format_p(row["p_value"]),
            "kept" if row["kept"] else "",
        ]
        for row in table.head(shown).to_dict("records")
    ]
    quantile = f"null {100 * (1 - record.alpha):g} %"
    columns = ["component", "eigenvalue", "null mean", quantile, "variance", "p", "verdict"]
    rest = len(table) - len(rows)
    foot = f"{counted(rest, 'further component')} {'is' if rest == 1 else 'are'} in tidy()." if rest else ""
    blocks = [Block("Eigenvalues of the correlation matrix", columns, rows, foot=foot)]
    notes = [*record.notes, DIMENSIONS.card("parallel_analysis").caution]
    answer = [parallel_analysis_answer(record)]
    return Summary("Parallel analysis", header, blocks, notes, record.call, answer)


def parallel_analysis_answer(record: ParallelAnalysis) -> str:
    """The number of components that are kept, and their share of the variance, in one sentence."""
    kept, table = record.n_components, record.table
    if not kept:
        p = p_words(float(table["p_value"].iloc[0]))
        return f"No component has a larger eigenvalue than independent columns would give ({p} for the first)."
    share = float(table["share"].head(kept).sum())
    verb = "has a larger eigenvalue" if kept == 1 else "have larger eigenvalues"
    return (
        f"{kept:,} of {counted(len(table), 'component')} {verb} than independent columns would give; "
        f"{'it holds' if kept == 1 else 'they hold'} {of_hundred(share)} % of the variance of the standardized columns."
    )


def _of_data(recipe: Any) -> list[tuple[str, str]]:
    """Size of the data, and the seed."""
    sizes = [("Points n", format_number(recipe["n"])), ("Columns p", format_number(recipe["p"]))]
    return [*sizes, ("Seed", str(recipe["random_state"]))]


# What is printed of one thing: a measure of a method, an embedding, a map, a method, a data set, an evaluation.


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


# What is printed of the progress of a study, and of the folder of a protocol.

LINES = 40  # of a larger study only the pairs are printed that are not simply done
REASONS = 10
KNOWN = 20  # notes on data sets and methods that are printed


def study_summary(status: StudyStatus) -> Summary:
    """Numbers of cells by state, for each data set and method, and what to do next."""
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
    return Summary("Study", header, [_cells(status)] if len(cells) else [], _study_notes(status))


def _cells(status: StudyStatus) -> Block:
    table = status.table
    title, unsettled = "Cells of each data set and method", table[list(STATES[1:])].sum(axis=1) > 0
    if len(table) > LINES:
        hidden = int((~unsettled).sum())
        title, table = f"{title}; {hidden:,} pairs that are done are not shown", table[unsettled].head(LINES)
    rows = [
        [
            row["dataset"],
            row["embedding"],
            *(str(row[state] or "") for state in STATES),
            format_duration(row["seconds"]),
        ]
        for row in table.to_dict("records")
    ]
    return Block(title, ["data set", "method", *STATES, "computing"], rows, names=2)


def _study_notes(status: StudyStatus) -> list[str]:
    """Why cells failed, what methods warned of, what must be known of the data, and what to do next."""
    notes = []
    failures: dict[Any, list[int]] = {}  # those of one argument that broke one rule, whatever the values, are alike
    for place, (state, found) in enumerate(zip(status.cells["state"], status.cells["notes"], strict=True)):
        if state == "failed":
            values = dict(found[0].values)
            failures.setdefault((found[0].code, values.get("argument"), values.get("rule")), []).append(place)
    for places in list(failures.values())[:REASONS]:
        failed = status.cells.iloc[places]
        said = [shortened_reason(reason) for reason in dict.fromkeys(failed["reason"])]
        more = f" (and {len(said) - 1} with other values)" if len(said) > 1 else ""
        notes.append(f"{_cell_count(len(failed))} failed, {_places(failed)}: {said[0]}{more}")
    if len(failures) > REASONS:
        notes.append(f"{len(failures) - REASONS} more reasons are in `failures`.")
    notes += study_warnings(status)[:REASONS]
    known = study_known(status)
    notes += known[:KNOWN]
    if len(known) > KNOWN:
        notes.append(f"{len(known) - KNOWN} more notes are in `notes`.")
    same = [name for name in status.deterministic if (status.cells["embedding"] == name).any()]
    if same and status.cells["replicate"].nunique() > 1:
        what = "has the same coordinates in all replicates on the same points"
        names, draws = ", ".join(same), "measures that draw (folds, samples of pairs) differ"
        notes.append(f"Seeds change nothing in {names}: each {what}; {draws}.")
    if not status.complete:
        notes.append("run() continues; what is done is not computed again.")
    elif status.count("failed"):
        notes.append("run(retry_failed=True) tries again what failed.")
    return notes


def study_warnings(status: StudyStatus) -> list[str]:
    """What cells warned of; cells that warned of the same are named together."""
    warned: dict[Notes, list[int]] = {}
    for place, (state, found) in enumerate(zip(status.cells["state"], status.cells["notes"], strict=True)):
        if said := tuple(found[1:] if state == "failed" else found):  # the first is the reason of the failure
            warned.setdefault(said, []).append(place)
    texts = []
    for said, places in warned.items():
        cells = status.cells.iloc[places]
        texts.append(f"{_cell_count(len(cells))} warned, {_places(cells)}: {'; '.join(map(str, said))}")
    return texts


def study_known(status: StudyStatus) -> list[str]:
    """What must be known of data sets and methods; data sets of which the same is known are named together."""
    found: dict[Note, list[str]] = {}
    for dataset, one in zip(status.notes["dataset"], notes_in(status.notes), strict=True):
        found.setdefault(one, []).append(dataset)
    return [f"On {_some(dict.fromkeys(names), 'data sets')}: {one}" for one, names in found.items()]


def _cell_count(count: int) -> str:
    return f"{count:,} cell{'' if count == 1 else 's'}"


def _places(cells: pd.DataFrame) -> str:
    """Methods and data sets of cells."""
    return " on ".join(_some(dict.fromkeys(cells[key]), "of them") for key in ("embedding", "dataset"))


def _some(names: Collection[str], what: str) -> str:
    """Up to three names, else their number."""
    return ", ".join(names) if len(names) <= 3 else f"{len(names)} {what}"


def protocol_summary(status: ProtocolStatus) -> Summary:
    """Files by round, what is wrong, and what to do now."""
    rows = []
    for number in sorted(set(status.table["round"])):
        states = status.table.loc[status.table["round"] == number, "state"].tolist()
        counts = [len(states), *(states.count(state) for state in ("returned", "missing", "wrong"))]
        rows.append([str(number), *map(str, counts)])
    blocks = [Block("Files", ["round", "expected", "returned", "missing", "wrong"], rows)]
    wrong = [str(note) for note in status.table.loc[status.table["state"] == "wrong", "note"]]
    more = [f"{len(wrong) - 5} more files are wrong."] if len(wrong) > 5 else []
    first = [f"The first that is missing: {status.missing[0]}."] if status.missing else []
    header = [*status.header, ("Round", f"{status.round} of {status.rounds}")]
    return Summary("Protocol", header, blocks, [*status.notes, *wrong[:5], *more, *first, status.next_step])


# What is said of a sweep: which settings are not distinguishable from the best, in a sentence, then their values.

MOST_SETTINGS = 30
MOST_NAMED = 6  # settings in a sentence
VERDICTS = {True: "best set", False: "worse"}


def sweep_summary(found: Sweep) -> Summary:
    """The answer of each measure in a sentence, a table for each, and why settings are not judged."""
    recipe = found.recipe
    replicates = f"{recipe['parameters']['n_replicates']} {found.over}"
    header = [("Source", str(recipe["source"])), ("Points n", format_number(recipe["n"]))]
    header += [("Columns p", format_number(recipe["p"])), ("Settings", format_number(len(found.settings)))]
    header += [("Replicates", replicates), ("Level", f"{1 - found.alpha:g}"), ("Seed", str(recipe["random_state"]))]
    blocks = [_table(found, name) for name in found.measures]
    first = found.of()
    unjudged = [
        f"{setting_words(setting)}: {text.rstrip('.')}."
        for setting, text in zip(found.settings, first["note"], strict=True)
        if text
    ]
    caution = "A setting in the best set is not shown to be good, or equal to the best: it is not shown to be worse."
    answers = [sweep_answer(found, name) for name in found.measures]
    return Summary("Sweep", header, blocks, [*unjudged, *found.notes, caution], recipe["call"], answers)


def sweep_answer(found: Sweep, measure: str | None = None) -> str:
    """Which settings are not distinguishable from the best by a measure, which are worse, which are not judged.

    Examples
    --------
    >>> import dreval
    >>> roll = dreval.simulate("swiss_roll", 120, random_state=0)
    >>> found = dreval.sweep(roll.data, "isomap", {"n_neighbors": [4, 20, 40]}, random_state=0)
    >>> sweep_answer(found).split(" (")[0]
    'n_neighbors = 40 has the best mean'
    """
    rows, order = found.of(measure), found.order(measure)
    inside = rows["in_best_set"]
    kept, worse, unjudged = (
        [found.settings[h] for h in order if which[h]]
        for which in (inside.fillna(False), ~inside.fillna(True), inside.isna())
    )
    by = measure_words(rows)
    if not kept:
        return f"No setting can be judged ({by}): see the notes."
    best, *others = kept
    if worse and not others:
        text = f"{_listed([best])} is the best ({by}); {_worse(worse, bool(unjudged), kept)}"
    else:
        text = f"{_listed([best])} has the best mean ({by})"
        alike = f"{_listed(others, [best])} {'is' if len(others) == 1 else 'are'} not distinguishable from it"
        if not worse and not unjudged:
            alike = f"none of the {len(others):,} other settings is distinguishable from it"
            alike = "the other setting is not distinguishable from it" if len(others) == 1 else alike
        text += f"; {alike}" if others else ""
        text += f"; {_worse(worse, bool(unjudged), kept)}" if worse else ""
        text += _crossed(found, rows, order)
    if unjudged:
        text += f"; {_listed(unjudged, kept)} {'is' if len(unjudged) == 1 else 'are'} not judged, see the notes"
    return f"{text}."


def _crossed(found: Sweep, rows: Any, order: Sequence[int]) -> str:
    """Return that settings are worse than the best although their mean is better than that of one in the best set.

    With few replicates standard errors differ much: the differences of the one in the set vary more.
    """
    inside = rows["in_best_set"]
    kept = [h for h in order if inside.fillna(False)[h]]
    places = [place for place, h in enumerate(order) if not inside.fillna(True)[h]]
    before = [found.settings[order[place]] for place in places if place < order.index(kept[-1])]
    if not before:
        return ""
    last, means = found.settings[kept[-1]], "mean" if len(before) == 1 else "means"
    whose = f"the {means} of {_listed(before, [last])} {'is' if len(before) == 1 else 'are'} better than that of"
    return f"; {whose} {_listed([last], before)}, whose differences from better settings vary more"


def _worse(worse: Sequence[Mapping[str, Any]], some: bool, kept: Sequence[Mapping[str, Any]]) -> str:
    """That settings are worse: a few values of one option by name, else the others that are judged."""
    are = "is" if len(worse) == 1 else "are"
    one_option = len({name for setting in (*worse, *kept) for name in setting}) == 1
    if len(worse) == 1 or (one_option and len(worse) <= MOST_NAMED):
        return f"{_listed(worse, kept)} {are} worse"
    return f"the {len(worse):,} other settings {'that are judged ' if some else ''}{are} worse"


def measure_words(rows: Any) -> str:
    """The measure of some rows by its title, with its parameters, and which end is better where it is the lower."""
    card: Any = MEASURES.card(rows["measure"].iloc[0])
    words = str(rows["parameters"].iloc[0]).replace("n_neighbors=", "k = ")
    title = title_within(card.title)
    return ", ".join(filter(None, [title, words, "" if card.direction == "higher" else DIRECTIONS[card.direction]]))


def setting_words(setting: Mapping[str, Any]) -> str:
    """One setting: "n_neighbors = 10, min_dist = 0.1"."""
    return ", ".join(f"{name} = {value_words(value)}" for name, value in setting.items()) or "defaults"


def value_words(value: Any) -> str:
    """A value of an option, short."""
    text = function_name(value, "") or (value if isinstance(value, str) else repr(value))
    text = f"{value:.6g}" if isinstance(value, float) and len(text) > 8 else text
    return text if len(text) <= 24 else f"{text[:23]}…"


def _listed(settings: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]] = ()) -> str:
    """Settings in a sentence; where only one option is set its name stands once, and not again after others."""
    names = {name for one in (*settings, *after) for name in one}
    shown = settings if len(settings) <= MOST_NAMED else settings[: MOST_NAMED - 1]
    rest = [f"{len(settings) - len(shown):,} more"] if len(shown) < len(settings) else []
    if len(names) == 1:
        (name,) = names
        said = ordered([*(value_words(one[name]) for one in shown), *rest])
        return said if after else f"{name} = {said}"
    return ordered([*(f"({setting_words(one)})" for one in shown), *rest])


def _table(found: Sweep, measure: str) -> Block:
    """The settings with means, intervals, p-values and verdicts by one measure; the best of many."""
    rows = found.of(measure)
    if len(rows) > MOST_SETTINGS:
        higher = MEASURES.card(rows["measure"].iloc[0]).direction == "higher"
        rows = rows.sort_values("mean", ascending=not higher, kind="stable", na_position="last").head(MOST_SETTINGS)
    means, lows, highs = (same_digits(rows[key].tolist()) for key in ("mean", "conf_low", "conf_high"))
    lines = []
    for (at, row), mean, low, high in zip(rows.iterrows(), means, lows, highs, strict=True):
        judged = not np.isnan(row["p_value"])
        inside = judged and bool(row["in_best_set"])
        lines.append(
            [
                *(value_words(found.settings[at].get(name, "")) for name in found.options),
                Best(mean) if inside else mean,
                f"{low} to {high}" if low else "",
                str(row["n_replicates"]),
                format_p(row["p_value"], found.alpha),
                VERDICTS[inside] if judged else "not judged",
            ]
        )
    level = f"{100 * (1 - found.alpha):g} %"
    columns = [*found.options, "mean", f"{level} interval", "runs", "p", "verdict"]
    rest = len(found.settings) - len(lines)
    foot = f"the best {len(lines)}, {counted(rest, 'further setting')} in tidy()." if rest else ""
    title = measure_words(rows)
    best = "not distinguishable from the best" if rows["in_best_set"].any() else ""
    return Block(title[:1].upper() + title[1:], columns, lines, names=len(found.options), foot=foot, best=best)
