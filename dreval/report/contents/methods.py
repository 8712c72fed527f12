"""Write how a result was made, in sentences for a paper, with the works that it rests on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from dreval.evaluation.evaluation import versions
from dreval.glossary import format_p
from dreval.inference import intervals
from dreval.records.comparison import Comparison
from dreval.records.frames import independence_rows, of_method
from dreval.records.results import Results
from dreval.references import INFERENCE, Reference, bibliography, reference
from dreval.registry import MEASURES, METHODS, TESTS
from dreval.report.contents.evaluation import measure_title
from dreval.report.format import counted, ordered
from dreval.report.reading import SCALE, parameter, read_results, targets_of
from dreval.report.render.latex import latex_title
from dreval.report.render.markup import latex_text, markdown_text, marked, plain_symbols, sentence
from dreval.report.statements import NULL_WORDS, passed

# How the paragraphs for a paper are written as text, Markdown and LaTeX.


def _markdown_title(title: str) -> str:
    return markdown_text(plain_symbols(title))


@dataclass(frozen=True)
class Voice:
    """How one kind of text writes names, statistics, percents, citations and code."""

    name: Callable[[str], str]
    title: Callable[[str], str]
    open_math: str
    close_math: str
    chi: str
    percent: str
    code: str = "{}"
    cites: str = ""
    minus: str = "\N{MINUS SIGN}"

    def sentence(self, text: str) -> str:
        """A sentence of ``report.statements`` with its names."""
        return sentence(text, name=self.name)

    def math(self, symbol: str, rest: str) -> str:
        """A symbol with what follows it, as ``p = .02`` or ``F(3, 39) = 3.69``."""
        if self.open_math == "$":
            return f"${symbol}{rest}$"
        return f"{self.open_math}{symbol}{self.close_math}{rest}"

    def p(self, value: float, adjusted: bool = False, alpha: float = 0.05) -> str:
        """A p-value in a sentence, as ``format_p`` writes it beside its level."""
        text = format_p(value, alpha)
        said = f" < {text[1:]}" if text.startswith("<") else f" = {text}"
        return ("adjusted " if adjusted else "") + self.math("p", said)

    def cite(self, *keys: str) -> str:
        """Works behind a word: names and years, or the command of LaTeX; nothing without works."""
        if not keys:
            return ""
        if self.cites:
            return f"~\\{self.cites}{{{','.join(keys)}}}"
        works = [reference(key) for key in keys if key != "dreval"]
        said = "; ".join(self.title(f"{work.names}, {work.year}") for work in works)
        return f" ({said})" if said else ""


VOICES = {
    "text": Voice(str, plain_symbols, "", "", "χ²", " %"),
    "markdown": Voice(markdown_text, _markdown_title, "*", "*", "χ²", " %", "`{}`"),
    "latex": Voice(
        partial(latex_text, breaks=True), latex_title, "$", "$", r"\chi^2", r"\,\%", r"\texttt{{{}}}", "cite",
        r"\ensuremath{-}",
    ),
    "page": Voice(marked, str, "", "", "χ²", " %"),
}  # fmt: skip


# How a result was made, in sentences for a paper, and the works that it rests on.

NAMED = 10  # measures that are named
SOFTWARE = "dreval"  # the key of this package
ADJUSTED = {"holm": "Holm's adjustment", "benjamini_hochberg": "Benjamini and Hochberg's adjustment"}
KINDS = {words: kind for kind, words in intervals.METHODS.items()}
PAIRS = {
    "jackknife": "jackknife standard errors",
    "classes": "jackknife standard errors over the classes",
    "anchors": "standard errors from the anchors",
    "subsampling": "standard errors from random halves of the points",
    "seeds": "Welch's standard errors over runs with other seeds",
    "subsamples": "standard errors from runs on random halves of the points",
    "nemenyi": "Nemenyi's test",
    "wilcoxon": "Wilcoxon signed-rank tests",
    "mixed": "Wald tests of a mixed model",
    "bayes": "Bayesian signed-rank tests",
}
OVERALL = {
    "friedman": "the Friedman test",
    "friedman_exact": "the Friedman test by arrangements",
    "iman_davenport": "the Iman-Davenport test",
    "skillings_mack": "the Skillings-Mack test",
    "mixed": "a mixed model",
}


def methods(record: Results | Comparison, voice: Voice, listed: int) -> Iterator[str]:
    """What was computed of what, by which measures, intervals, tests and adjustments, and with which software."""
    results = record if isinstance(record, Results) else record.results
    measures, known = _measures(record), {}
    if isinstance(record, Comparison) and results is None:
        found = [parameter(parameters, SCALE) for parameters in dict.fromkeys(record.standing["parameters"])]
        known = {"n_neighbors": sorted({int(k) for k in found if k and k.isdigit()})}
        known |= {"metric": record.recipe.get("metric")}
        over = {name for family in record.families.values() for name in family.cells.index}
        what = f"{record.standing['embedding'].nunique()} embeddings on {len(over)} data sets"
    elif results is not None:
        known = results.recipe
        data = [name for name in results.reference if name in results.embeddings]
        names = [voice.name(name) for name in results.embeddings if name not in data]
        names, data = (names, data) if names else ([voice.name(name) for name in data], [])
        count = len(names)
        what = f"{count} embeddings" if count != 1 else f"The embedding {names[0]}"
        what += f" ({ordered(names)})" if 1 < count <= min(5, listed) else ""
        what += f" of {known['n']:,} points" + (f" in {known['p']:,} dimensions" if known.get("p") else "")
        what += f", and for reference the data ({_first_items([voice.name(name) for name in data], 3, 'name')})" * bool(
            data
        )
    verb = "was" if what.startswith("The ") and "for reference" not in what else "were"
    version = _version(record)
    yield f"{what} {verb} evaluated with dreval {version}{voice.cite(SOFTWARE)}."
    yield from _bundled(results, voice, listed)
    yield from _setting(measures, known, voice, listed)
    if isinstance(record, Results):
        yield from _uncertainty(record, voice)
    else:
        yield from _comparing(record, voice)


def _bundled(results: Results | None, voice: Voice, listed: int) -> Iterator[str]:
    """Embeddings that methods of this package made."""
    made = _methods(results)
    shown = [f"{voice.title(METHODS.card(name).title)}{voice.cite(*METHODS.card(name).works[:1])}" for name in made]
    shown = _first_items(shown, min(listed, 5), "method")
    if shown:
        yield f"Embeddings were made by {shown}, as in dreval."


def _setting(measures: Sequence[str], known: Mapping[str, Any], voice: Voice, listed: int) -> Iterator[str]:
    """The measures, and with which neighbors, distances, points and seed they were computed."""
    named, groups = measures[: max(min(listed, NAMED), 0)], dict[tuple[str, ...], list[str]]()
    for name in named:
        card = MEASURES.card(name) if name in MEASURES else None
        titles = groups.setdefault(card.works[:1] if card else (), [])
        titles.append(voice.title(card.title if card else name))
    shown = [ordered(titles) + voice.cite(*works) for works, titles in groups.items()]
    left = len(measures) - len(named)
    shown += [f"{left} {'further ' if named else ''}measure{'s' * (left > 1)}"] if left else []
    ks = [str(k) for k in known.get("n_neighbors") or ()]
    if measures:
        yield f"Measures: {', '.join(shown)}."
    said = [voice.math("k", f" = {_first_items(ks, 5, 'scale')}")] if ks and measures else []
    metric = str(known.get("metric") or "")
    said += [f"{metric.replace('euclidean', 'Euclidean')} distances in the data"] if metric else []
    apart = [voice.name(name) for name, about in (known.get("sources") or {}).items() if not passed(about)]
    said += [f"methods of {_first_items(apart, 3, 'embedding')} run without this metric"] if apart else []
    said += [f"{known['anchors']:,} anchors drawn at random"] if isinstance(known.get("anchors"), int) else []
    said += [f"random seed {known['random_state']}"] if known.get("random_state") is not None else []
    if said:
        yield f"Settings: {', '.join(said)}."


def _first_items(items: Sequence[str], most: int, what: str) -> str:
    """The first items in a sentence, the others counted."""
    left = len(items) - most
    if left > 0:
        more = "further " if most > 0 else ""
        items = [*items[: max(most, 0)], f"{left} {more}{what}{'s' * (left > 1)}"]
    return ordered(list(items)) if items else ""


def _uncertainty(results: Results, voice: Voice) -> Iterator[str]:
    """Intervals and their target, tests and their p-values, and the best set."""
    rows = results.table[results.table["test"] == ""]
    parts = list(rows[rows["conf_method"].fillna("") != ""].groupby(["conf_method", "target"], sort=False))
    for (how, _), part in parts[:2]:
        level = f"{100 * float(part['conf_level'].iloc[0]):g}{voice.percent}"
        count = part[["measure", "parameters"]].drop_duplicates().shape[0]
        named = [voice.name(str(name)) for name in dict.fromkeys(part["embedding"])]
        whose = f" of {counted(int(count), 'measure')}" if len(parts) > 1 else ""
        if len(named) < rows["embedding"].nunique():  # embeddings of several kinds: some are re-run by their methods
            whose = f" of {_first_items(named, 3, 'embedding')}"
        works = voice.cite(*INFERENCE.get(KINDS.get(how, "anchors"), ()))
        target = ordered(targets_of(results.recipe, part.to_dict("records")))
        yield f"Intervals{whose} ({level}): {how}{works}; for {target}."
    if len(parts) > 2:
        left = len(parts) - 2
        yield f"{left} further kind{'s of intervals are' if left > 1 else ' of interval is'} named in the table."
    yield from _tests(results, voice)
    yield from _noise(results, voice)
    if has_best_sets(results):
        works = voice.cite(*INFERENCE["best set"])
        yield f"Best sets: multiple comparisons with the best{works}, at 5{voice.percent}."


def has_best_sets(results: Results) -> bool:
    """Whether embeddings were compared with the best by some measure."""
    reading = read_results(results)
    return any(reading.standing(column).tested for column in reading.columns if column.ranks)


def _tests(results: Results, voice: Voice) -> Iterator[str]:
    """The tests of independence, how many permutations they draw, and the adjustment."""
    rows = independence_rows(results.table)
    rows = rows[rows["p_value"].notna()]
    if rows.empty:
        return
    cards = [TESTS.card(name) for name in dict.fromkeys(rows["test"]) if name in TESTS]
    by = ordered([f"{voice.title(card.title)}{voice.cite(*card.works[:1])}" for card in cards])
    against = _first_items([voice.name(str(name)) for name in dict.fromkeys(rows["variable"]) if name], 2, "variable")
    said = f"Tests of independence{f' of {against}' if against else ''}: {by}"
    drawn = rows[rows["p_kind"] == "permutation"]
    if len(drawn):
        said += f", with {int(drawn['n_resamples'].max()):,} permutations{voice.cite(*INFERENCE['permutation'])}"
    adjust = _adjustment(results)
    yield said + (f" and {ADJUSTED[adjust]}{voice.cite(*INFERENCE[adjust])}." if adjust else ".")


def _noise(results: Results, voice: Voice) -> Iterator[str]:
    """How often methods were run on null data, and on which."""
    rows = results.table[results.table["test"].map(of_method) & results.table["p_value"].notna()]
    for (test, null), part in rows.groupby(["test", "variable"], sort=False):
        card = TESTS.card(str(test))
        runs = f"{int(part['n_resamples'].max()):,} null data sets ({NULL_WORDS.get(str(null), voice.name(str(null)))})"
        yield f"{card.title}{voice.cite(*card.works[:2])}: each method was run again on {runs}."


def _comparing(comparison: Comparison, voice: Voice) -> Iterator[str]:
    """The tests of a comparison, which one decides, and at which level."""
    recipe = comparison.recipe
    tests = [name for name in dict.fromkeys(comparison.overall["test"]) if name in OVERALL]
    if tests:
        yield f"Equality was tested by {ordered([OVERALL[name] + voice.cite(*INFERENCE[name]) for name in tests])}."
    pairs = [name for name in dict.fromkeys(comparison.pairs["test"]) if name in PAIRS]
    level, adjust = f"{100 * recipe['alpha']:g}{voice.percent}", _adjustment(comparison)
    if pairs:
        kind = "Pairs were compared by" if comparison.families else "Paired differences were judged by"
        said = f"{kind} {ordered([PAIRS[name] + voice.cite(*INFERENCE[name]) for name in pairs])}, at {level}"
        yield said + (f", with {ADJUSTED[adjust]}{voice.cite(*INFERENCE[adjust])}." if adjust else ".")
    by = str(recipe.get("decided_by") or "")
    if by and len(pairs) > 1:
        yield f"Differences are called by {PAIRS[by]}."
    if recipe.get("rope") is not None:
        yield f"Differences below {recipe['rope']:g} count as none."
    if recipe.get("margin"):
        margins = [f"{value:g} for {measure_title(name)}" for name, value in dict(recipe["margin"]).items()]
        yield (
            f"Equivalence: two one-sided tests{voice.cite(*INFERENCE['margin'])}, with "
            f"margin{'s' * (len(margins) > 1)} {_first_items(margins, 4, 'margin')}."
        )


def bibtex(record: Results | Comparison) -> str:
    """The works that a result rests on, and this package, as entries for BibTeX."""
    cards = [MEASURES.card(name) for name in _measures(record) if name in MEASURES]
    results = record if isinstance(record, Results) else record.results
    cards += [METHODS.card(name) for name in _methods(results)]
    words: list[str] = [_adjustment(record)]
    if isinstance(record, Results):
        table = record.table
        cards += [TESTS.card(name) for name in dict.fromkeys(table["test"]) if name in TESTS]
        how = [name for name in dict.fromkeys(table["conf_method"].fillna("")) if name]
        words += [KINDS.get(name, "anchors") for name in how]
        words += ["best set"] if has_best_sets(record) else []
        words += ["permutation"] if (table["p_kind"] == "permutation").any() else []
    else:
        words += [*record.overall["test"], *record.pairs["test"], "margin" if record.recipe.get("margin") else ""]
    keys = [key for card in cards for key in card.works]
    keys += [key for word in words for key in INFERENCE.get(word, ())]
    return bibliography([software(_version(record)), *map(reference, keys)])


def software(version: str) -> Reference:
    """The entry of this package."""
    title = "dreval: formal evaluation of dimensionality reduction"
    return Reference(
        SOFTWARE, "software", ("dreval developers",), 2026, title, note=f"Python package, version {version}"
    )


def _measures(record: Results | Comparison) -> list[str]:
    """The measures, curves too, each once."""
    if isinstance(record, Comparison):
        return list(dict.fromkeys(record.standing["measure"]))
    keys = [*record.table.loc[record.table["test"] == "", "measure"], *record.curves["measure"]]
    return [name for name in dict.fromkeys(keys) if name]


def _methods(results: Results | None) -> list[str]:
    """The bundled methods that made embeddings, given by name or as an estimator of this package."""
    sources = {} if results is None else results.recipe.get("sources") or {}
    used = [one for name, one in sources.items() if results is not None and name in results.embeddings]
    made = [one["what"] for one in used if one["kind"] == "method" and one["what"] in METHODS]
    cards = METHODS.cards() if any(one["kind"] == "estimator" for one in used) else []
    ours = {card.class_name: card.name for card in cards}
    for one in used:
        name = ours.get(one["what"], "") if one["kind"] == "estimator" else ""
        if name and {*one["parameters"]} == {*METHODS.get(name)().get_params()}:  # others have classes of that name
            made.append(name)
    return list(dict.fromkeys(made))


def _adjustment(record: Results | Comparison) -> str:
    """How p-values were adjusted; empty where none was."""
    table = record.table if isinstance(record, Results) else record.pairs
    adjust = str(record.recipe.get("adjust") or "")
    return adjust if adjust in ADJUSTED and bool(table["p_adjusted"].notna().any()) else ""


def _version(record: Results | Comparison) -> str:
    """The version that computed the result, or this one."""
    results = record if isinstance(record, Results) else record.results
    known = {} if results is None else results.recipe.get("versions") or {}
    return str(known.get("dreval") or versions()["dreval"])
