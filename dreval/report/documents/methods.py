"""The paragraph on the methods for a paper, with its references."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd

from dreval._text import format_p
from dreval.inference import intervals
from dreval.records.comparison import Comparison
from dreval.records.frames import groups_text, independence_rows, notes_of_table, of_method, parameters_of
from dreval.records.provenance import versions
from dreval.records.results import Results
from dreval.references import INFERENCE, Reference, bibliography, reference
from dreval.registry import MEASURES, METHODS, TESTS
from dreval.report.comparison_view import performed_tests, test_assumptions
from dreval.report.format import count_noun, join_and, number_word, test_name
from dreval.report.render.latex import latex_title
from dreval.report.render.markup import isolate_name, latex_text, markdown_text, plain_symbols, sentence
from dreval.report.resamples import NULL_DATA_NAMES, SCHEMES
from dreval.report.result_view import (
    NEIGHBORS_PARAMETER,
    ResultView,
    interval_targets,
    is_metric_passed,
    measure_title,
    read_results,
    title_in_sentence,
)

# How the paragraphs for a paper are written as text, Markdown and LaTeX.


def _markdown_title(title: str) -> str:
    return markdown_text(plain_symbols(title))


P_SYMBOL = re.compile(r"\bp(?= (?:[=<≤≥]|&lt;|\\)|:)")  # the symbol of a p-value, before its number or its name


@dataclass(frozen=True)
class ParagraphMarkup:
    """The markup of names, statistics, percents, citations and code in one kind of text."""

    name: Callable[[str], str]
    title: Callable[[str], str]
    open_math: str
    close_math: str
    chi: str
    percent: str
    code: str = "{}"
    cites: str = ""
    minus: str = "\N{MINUS SIGN}"
    text: Callable[[str], str] = str

    def sentence(self, text: str) -> str:
        """Return a sentence of ``report.findings`` with its names, symbols and p marked up."""

        def text_part(part: str) -> str:
            blanks = " " * (part[:1] == " "), " " * (part[-1:] == " " != part)
            return P_SYMBOL.sub(self.math("p", "").replace("\\", "\\\\"), self.text(part.strip())).join(blanks)

        return sentence(text, name=self.name, text_part=text_part)

    def math(self, symbol: str, remainder: str) -> str:
        """Return a symbol with the text after it, as ``p = .02`` or ``F(3, 39) = 3.69``."""
        if self.open_math == "$":
            return f"${symbol}{remainder}$"
        return f"{self.open_math}{symbol}{self.close_math}{remainder}"

    def p(self, value: float, adjusted: bool = False, alpha: float = 0.05) -> str:
        """Return a p-value within a sentence, as ``format_p`` writes it next to its level."""
        text = format_p(value, alpha)
        comparison = f" < {text[1:]}" if text.startswith("<") else f" = {text}"
        return ("adjusted " if adjusted else "") + self.math("p", comparison)

    def cite(self, *keys: str) -> str:
        """Return the citation of works: names and years, or the command of LaTeX; empty without works."""
        if not keys:
            return ""
        if self.cites:
            return f"~\\{self.cites}{{{','.join(keys)}}}"
        works = [reference(key) for key in keys if key != "dreval"]
        citations = "; ".join(self.title(f"{work.names}, {work.year}") for work in works)
        return f" ({citations})" if citations else ""


MARKUPS = {
    "text": ParagraphMarkup(str, plain_symbols, "", "", "χ²", " %", text=plain_symbols),
    "markdown": ParagraphMarkup(markdown_text, _markdown_title, "*", "*", "χ²", " %", "`{}`", text=_markdown_title),
    "latex": ParagraphMarkup(
        partial(latex_text, breaks=True), latex_title, "$", "$", r"\chi^2", r"\,\%", r"\texttt{{{}}}", "cite",
        r"\ensuremath{-}", latex_title,
    ),
    "page": ParagraphMarkup(isolate_name, str, "", "", "χ²", " %"),
}  # fmt: skip


# How a result was made, in sentences for a paper, and the works that it rests on.

MAX_NAMED_MEASURES = 12  # measures that are named
SOFTWARE_KEY = "dreval"  # the key of this package
ADJUSTMENT_PHRASES = {"holm": "Holm's adjustment", "benjamini_hochberg": "Benjamini and Hochberg's adjustment"}
INTERVAL_KINDS = {words: kind for kind, words in intervals.METHODS.items()}
PAIR_TEST_PHRASES = {
    "jackknife": "jackknife standard errors",
    "group_jackknife": "standard errors from groups left out",
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
OVERALL_TEST_PHRASES = {
    "friedman": "the Friedman test",
    "friedman_exact": "the Friedman test by arrangements",
    "iman_davenport": "the Iman-Davenport test",
    "skillings_mack": "the Skillings-Mack test",
    "mixed": "a mixed model",
}


def methods(
    record: Results | Comparison, markup: ParagraphMarkup, listed: int, view: ResultView | None
) -> Iterator[str]:
    """Yield the data, measures, intervals, tests, adjustments and software of a result, in sentences.

    Parameters
    ----------
    record : the result or comparison
    markup : names, citations and formulas in one form
    listed : number of items that a sentence lists
    view : of a result, the view of ``read_results``
    """
    results = record if isinstance(record, Results) else record.results
    measures, settings = _measure_names(record), {}
    if isinstance(record, Comparison) and results is None:
        scales = {parameters_of(text).get(NEIGHBORS_PARAMETER, "") for text in record.standing["parameters"]}
        settings = {"n_neighbors": sorted(int(k) for k in scales if k.isdigit())}
        settings |= {"metric": record.recipe.get("metric")}
        data_sets = {name for family in record.families.values() for name in family.cells.index}
        word = number_word(record.standing["embedding"].nunique())
        subject = f"{word[:1].upper()}{word[1:]} embeddings on {len(data_sets)} data sets"
    elif results is not None:
        settings = results.recipe
        data = [name for name in results.reference if name in results.embeddings]
        names = [markup.name(name) for name in results.embeddings if name not in data]
        names, data = (names, data) if names else ([markup.name(name) for name in data], [])
        count, word = len(names), number_word(len(names))
        subject = f"{word[:1].upper()}{word[1:]} embeddings" if count != 1 else f"The embedding {names[0]}"
        subject += f" ({join_and(names)})" if 1 < count <= min(5, listed) else ""
        subject += f" of {settings['n']:,} points" + (f" in {settings['p']:,} dimensions" if settings.get("p") else "")
        subject += (
            f", and for reference the data ({_first_items([markup.name(name) for name in data], 3, 'name')})"
            * bool(data)
        )
    verb = "was" if subject.startswith("The ") and "for reference" not in subject else "were"
    version = _version(record)
    yield f"{subject} {verb} evaluated with dreval {version}{markup.cite(SOFTWARE_KEY)}."
    yield from _method_sentence(results, markup, listed)
    yield from _setting_sentences(measures, settings, markup, listed)
    yield from _group_sentences(results, markup, listed)
    if isinstance(record, Results) and view is not None:
        yield from _uncertainty_sentences(record, view, markup)
    elif isinstance(record, Comparison):
        yield from _comparison_sentences(record, markup)


def _method_sentence(results: Results | None, markup: ParagraphMarkup, listed: int) -> Iterator[str]:
    """Yield the methods of this package that computed embeddings."""
    names = _method_names(results)
    titles = [f"{markup.title(METHODS.card(name).title)}{markup.cite(*METHODS.card(name).works[:1])}" for name in names]
    titles = _first_items(titles, min(listed, 5), "method")
    if titles:
        yield f"Methods of dreval: {titles}."


def _setting_sentences(
    measures: Sequence[str], settings: Mapping[str, Any], markup: ParagraphMarkup, listed: int
) -> Iterator[str]:
    """Yield the measures, and the neighbors, distances, points and seed with which they were computed."""
    named, groups = measures[: max(min(listed, MAX_NAMED_MEASURES), 0)], dict[tuple[str, ...], list[str]]()
    for name in named:
        card = MEASURES.card(name) if name in MEASURES else None
        titles = groups.setdefault(card.works[:1] if card else (), [])
        term = f" ({card.term})" if card and card.term else ""
        titles.append(markup.title(f"{title_in_sentence(card.title)}{term}" if card else name))
    items = [join_and(titles) + markup.cite(*works) for works, titles in groups.items()]
    left = len(measures) - len(named)
    items += [f"{left} {'further ' if named else ''}measure{'s' * (left > 1)}"] if left else []
    ks = [str(k) for k in settings.get("n_neighbors") or ()]
    if measures:
        yield f"Measures: {', '.join(items)}."
    texts = [markup.math("k", f" = {_first_items(ks, 5, 'scale')}")] if ks and measures else []
    metric = str(settings.get("metric") or "")
    neighbors = settings.get("graph_neighbors")
    graph = f" (shortest paths over the graph of {neighbors} neighbors)" if neighbors else ""
    texts += [f"{metric.replace('euclidean', 'Euclidean')} distances in the data{graph}"] if metric else []
    texts += [f"{markup.name(name)} as the data" for name in (settings.get("matrix") or {}).values()]
    metric_not_passed = [
        markup.name(name) for name, source in (settings.get("sources") or {}).items() if not is_metric_passed(source)
    ]
    texts += (
        [f"methods of {_first_items(metric_not_passed, 3, 'embedding')} run without this metric"]
        if metric_not_passed
        else []
    )
    texts += [f"{settings['anchors']:,} anchors drawn at random"] if isinstance(settings.get("anchors"), int) else []
    texts += [groups_text(settings["groups"])] if settings.get("groups") else []
    texts += [f"random seed {settings['random_state']}"] if settings.get("random_state") is not None else []
    if texts:
        yield f"Settings: {', '.join(texts)}."


def _group_sentences(results: Results | None, markup: ParagraphMarkup, listed: int) -> Iterator[str]:
    """Yield which measures read neighbors from other groups, and that the groups are too few for inference."""
    if results is None:
        return
    notes = results.notes
    measures = dict.fromkeys(notes.loc[notes["code"] == "knn.groups", "measure"])
    titles = [markup.title(title_in_sentence(MEASURES.card(name).title)) for name in measures if name in MEASURES]
    if titles:
        yield f"Neighbors from other groups: for {_first_items(titles, listed, 'measure')}."
    few = [dict(note.values) for note in notes_of_table(notes[notes["code"] == "interval.few_groups"])]
    if few and results.table["conf_low"].isna().all():
        groups, least = f"{few[0]['groups']} groups{few[0]['extent']}", number_word(few[0]["least"])
        yield f"No intervals and no tests of differences: {groups}, and at least {least} are needed."


def _first_items(items: Sequence[str], max_items: int, noun: str) -> str:
    """Return the first items in a sentence, and the number of the others."""
    left = len(items) - max_items
    if left > 0:
        further = "further " if max_items > 0 else ""
        items = [*items[: max(max_items, 0)], f"{left} {further}{noun}{'s' * (left > 1)}"]
    return join_and(list(items)) if items else ""


def _uncertainty_sentences(results: Results, view: ResultView, markup: ParagraphMarkup) -> Iterator[str]:
    """Yield intervals and their target, tests and their p-values, and the best set."""
    rows = results.table[results.table["test"] == ""]
    parts = list(rows[rows["conf_method"].fillna("") != ""].groupby(["conf_method", "target"], sort=False))
    for (method, _), part in parts[:2]:
        level = f"{100 * float(part['conf_level'].iloc[0]):g}{markup.percent}"
        count = part[["measure", "parameters"]].drop_duplicates().shape[0]
        named = [markup.name(str(name)) for name in dict.fromkeys(part["embedding"])]
        scope = f" of {count_noun(int(count), 'measure')}" if len(parts) > 1 else ""
        if len(named) < rows["embedding"].nunique():  # embeddings of several kinds: some are re-run by their methods
            scope = f" of {_first_items(named, 3, 'embedding')}"
        works = markup.cite(*INFERENCE.get(INTERVAL_KINDS.get(method, "anchors"), ()))
        target = join_and(interval_targets(results.recipe, part.to_dict("records")))
        yield f"Intervals{scope} ({level}): {method}{works}; for {target}."
    if len(parts) > 2:
        left = len(parts) - 2
        yield f"{left} further kind{'s of intervals are' if left > 1 else ' of interval is'} named in the table."
    yield from _test_sentence(results, markup)
    yield from _noise_sentences(results, markup)
    if has_best_sets(view):
        works = markup.cite(*INFERENCE["best set"])
        scope = f"one-sided at 5{markup.percent}, each measure by itself, not adjusted over measures"
        yield f"Best embeddings: multiple comparisons with the best{works}, {scope}."
    comparison = view.comparison
    if comparison is not None:
        yield from _comparison_sentences(comparison, markup, {_adjustment(results), *performed_tests(comparison)})


def has_best_sets(view: ResultView) -> bool:
    """Return whether embeddings were compared with the best by some measure."""
    return any(view.best_set(column).tested for column in view.columns if column.ranks)


def _test_sentence(results: Results, markup: ParagraphMarkup) -> Iterator[str]:
    """Yield the tests of independence, their number of permutations, and the adjustment."""
    rows = independence_rows(results.table)
    rows = rows[rows["p_value"].notna()]
    if rows.empty:
        return
    cards = [TESTS.card(name) for name in dict.fromkeys(rows["test"]) if name in TESTS]
    by = join_and([f"{markup.title(card.title)}{markup.cite(*card.works[:1])}" for card in cards])
    against = _first_items([markup.name(str(name)) for name in dict.fromkeys(rows["variable"]) if name], 2, "variable")
    text = f"Tests of independence{f' of {against}' if against else ''}: {by}"
    permuted = rows[rows["p_kind"].isin(["permutation", "exact"])]
    if len(permuted):
        text += f", with {_permutations(read_results(results), permuted, markup)}"
    if "bandwidth.pooled" in set(results.notes["code"]):
        text += ", by the largest z over multiples of the bandwidth of the median rule"
    adjust = _adjustment(results)
    yield text + (f" and {ADJUSTMENT_PHRASES[adjust]}{markup.cite(*INFERENCE[adjust])}." if adjust else ".")


def _permutations(view: ResultView, rows: pd.DataFrame, markup: ParagraphMarkup) -> str:
    """Return the number and the kind of the permutations of tests; where they differ, of which variables or tests."""
    kinds = rows.assign(scheme=[SCHEMES.get(view.scheme(row), "") for row in rows.to_dict("records")])
    parts = [part for _, part in kinds.groupby(["p_kind", "scheme"], sort=False)]
    is_by_variable = sum(part["variable"].nunique() for part in parts) == rows["variable"].nunique()
    clauses = []
    for part in parts:
        clause = "all " * (part["p_kind"].iloc[0] == "exact") + f"{int(part['n_resamples'].max()):,} permutations"
        clause += f"{part['scheme'].iloc[0]}{'' if clauses else markup.cite(*INFERENCE['permutation'])}"
        names, noun = (
            (part["variable"].map(markup.name), "variable") if is_by_variable else (part["test"].map(test_name), "test")
        )
        clauses.append(clause + f" for {_first_items(list(names.unique()), 2, noun)}" * (len(parts) > 1))
    return join_and(clauses)


def _noise_sentences(results: Results, markup: ParagraphMarkup) -> Iterator[str]:
    """Yield the number and the kind of null data sets on which methods were re-run."""
    rows = results.table[results.table["test"].map(of_method) & results.table["p_value"].notna()]
    for (test, null), part in rows.groupby(["test", "variable"], sort=False):
        card = TESTS.card(str(test))
        null_name = NULL_DATA_NAMES.get(str(null), markup.name(str(null)))
        runs = f"{int(part['n_resamples'].max()):,} null data sets ({null_name})"
        yield f"{card.title}{markup.cite(*card.works[:2])}: each method was re-run on {runs}."


def _comparison_sentences(comparison: Comparison, markup: ParagraphMarkup, cited: Container[str] = ()) -> Iterator[str]:
    """Yield the tests of a comparison, the test that decides, and its level; some have been cited before."""

    def cite(key: str) -> str:
        return "" if key in cited else markup.cite(*INFERENCE[key])

    recipe = comparison.recipe
    tests = [name for name in dict.fromkeys(comparison.overall["test"]) if name in OVERALL_TEST_PHRASES]
    if tests:
        phrases = [OVERALL_TEST_PHRASES[name] + cite(name) for name in tests]
        yield f"Equality was tested by {join_and(phrases)}."
    pairs = [name for name in performed_tests(comparison) if name in PAIR_TEST_PHRASES]
    level, adjust = f"{100 * recipe['alpha']:g}{markup.percent}", _adjustment(comparison)
    if pairs:
        kind = "Pairs were compared by" if comparison.families else "Paired differences were tested two-sided with"
        phrases = [PAIR_TEST_PHRASES[name] + cite(name) for name in pairs]
        assumptions = test_assumptions(comparison)
        text = f"{kind} {join_and(phrases)}{f' ({assumptions})' if assumptions else ''}, at {level}"
        yield text + (f", with {ADJUSTMENT_PHRASES[adjust]}{cite(adjust)}." if adjust else ".")
    by = str(recipe.get("decided_by") or "")
    if by and len(pairs) > 1:
        yield f"Significance of a difference: by {PAIR_TEST_PHRASES[by]}."
    if recipe.get("rope") is not None:
        yield f"Differences below {recipe['rope']:g} count as none."
    if recipe.get("margin"):
        margins = [f"{value:g} for {measure_title(name)}" for name, value in dict(recipe["margin"]).items()]
        by = f"Equivalence: two one-sided tests{cite('margin')}"
        by = "Verdicts of the check: by the intervals" if "verdict" in recipe else by
        yield f"{by}, with margin{'s' * (len(margins) > 1)} {_first_items(margins, 4, 'margin')}."


def bibtex(record: Results | Comparison) -> str:
    """Return the works that a result rests on, and this package, as BibTeX entries."""
    cards = [MEASURES.card(name) for name in _measure_names(record) if name in MEASURES]
    results = record if isinstance(record, Results) else record.results
    cards += [METHODS.card(name) for name in _method_names(results)]
    inference_keys: list[str] = [_adjustment(record)]
    view = read_results(record) if isinstance(record, Results) else None
    comparison = view.comparison if view is not None else record
    if comparison is not None:
        inference_keys += [_adjustment(comparison), *comparison.overall["test"], *performed_tests(comparison)]
        inference_keys += ["margin"] if comparison.recipe.get("margin") and "verdict" not in comparison.recipe else []
    if view is not None:
        table = record.table
        cards += [TESTS.card(name) for name in dict.fromkeys(table["test"]) if name in TESTS]
        how = [name for name in dict.fromkeys(table["conf_method"].fillna("")) if name]
        inference_keys += [INTERVAL_KINDS.get(name, "anchors") for name in how]
        inference_keys += ["best set"] if has_best_sets(view) else []
        inference_keys += ["permutation"] if (table["p_kind"] == "permutation").any() else []
    keys = [key for card in cards for key in card.works]
    keys += [key for inference_key in inference_keys for key in INFERENCE.get(inference_key, ())]
    return bibliography([software_reference(_version(record)), *map(reference, keys)])


def software_reference(version: str) -> Reference:
    """Return the reference of this package, which the site shows as well."""
    title = "dreval: formal evaluation of dimensionality reduction"
    return Reference(
        SOFTWARE_KEY, "software", ("dreval developers",), 2026, title, note=f"Python package, version {version}"
    )


def _measure_names(record: Results | Comparison) -> list[str]:
    """Return the measures, including curves, each once."""
    if isinstance(record, Comparison):
        return list(dict.fromkeys(record.standing["measure"]))
    keys = [*record.table.loc[record.table["test"] == "", "measure"], *record.curves["measure"]]
    return [name for name in dict.fromkeys(keys) if name]


def _method_names(results: Results | None) -> list[str]:
    """Return the bundled methods of the embeddings, given by name or as an estimator of this package."""
    sources = {} if results is None else results.recipe.get("sources") or {}
    used = [source for name, source in sources.items() if results is not None and name in results.embeddings]
    names = [source["what"] for source in used if source["kind"] == "method" and source["what"] in METHODS]
    cards = METHODS.cards() if any(source["kind"] == "estimator" for source in used) else []
    names_by_class = {card.class_name: card.name for card in cards}
    for source in used:
        name = names_by_class.get(source["what"], "") if source["kind"] == "estimator" else ""
        if name and {*source["parameters"]} == {
            *METHODS.get(name)().get_params()
        }:  # other packages have classes of that name
            names.append(name)
    return list(dict.fromkeys(names))


def _adjustment(record: Results | Comparison) -> str:
    """Return the adjustment of p-values; empty where none was adjusted."""
    table = record.table if isinstance(record, Results) else record.pairs
    adjust = str(record.recipe.get("adjust") or "")
    return adjust if adjust in ADJUSTMENT_PHRASES and bool(table["p_adjusted"].notna().any()) else ""


def _version(record: Results | Comparison) -> str:
    """Return the version that computed the result, or the current one."""
    results = record if isinstance(record, Results) else record.results
    recorded = {} if results is None else results.recipe.get("versions") or {}
    return str(recorded.get("dreval") or versions()["dreval"])
