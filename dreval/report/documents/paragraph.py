"""The paragraph of a result for a paper, as text, Markdown or LaTeX, with a limited number of words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from dreval.comparison.compare import comparable
from dreval.comparison.ranks import critical_difference
from dreval.comparison.tables import critical_level
from dreval.glossary import true_minus
from dreval.inference.adjustment import ADJUSTMENTS, smallest_p
from dreval.inference.ties import is_tie
from dreval.records.comparison import Comparison
from dreval.records.frames import independence_rows, setting_names
from dreval.records.results import Results
from dreval.registry import TESTS
from dreval.report.comparison_view import TEST_TITLES, column_of, equal_maps, measure_heading
from dreval.report.documents.comparison import equivalences, powerless_text
from dreval.report.documents.methods import MARKUPS, ParagraphMarkup, methods
from dreval.report.findings import (
    best_set_text,
    is_tied,
    measure_ranking,
    noise_text,
    reaches_chance,
    smallest_p_text,
)
from dreval.report.format import count_noun, distinct_short_names, format_fixed, join_and, p_text, shorten_middle
from dreval.report.result_view import Column, measure_title, parameter_text, read_results

MAX_WORDS = 150  # of a paragraph
MAX_METHODS_WORDS = 250  # of what was computed, with its settings and works
MAX_LISTED = 12  # things that a paragraph lists at most
MAX_NAME_COLUMNS = 40  # columns of a terminal
MAX_TITLE_COLUMNS = 80  # columns of a terminal
ALPHA = 0.05  # level of the tests of independence


OVERALL_NAMES = {
    "friedman": "Friedman test",
    "iman_davenport": "Iman-Davenport test",
    "skillings_mack": "Skillings-Mack test",
    "mixed": "mixed model",
}

DECISIVE_NAMES = {
    "friedman_exact": "Friedman test",
    **{key: OVERALL_NAMES[key] for key in OVERALL_NAMES if key != "friedman"},
}


def paragraph(record: Results | Comparison, part: str, form: str) -> str:
    """Return the findings ("results") or the "methods" of a result or a comparison."""
    names = record.names if isinstance(record, Results) else list(dict.fromkeys(record.standing["embedding"]))
    if part == "methods":
        return _fit_paragraph(
            lambda markup, listed: " ".join(methods(record, markup, listed)), form, names, MAX_METHODS_WORDS
        )
    if isinstance(record, Results):
        make_sentences = _result_sentences(record)
    elif len(record.measures) == 1:
        return measure_paragraph(record, record.measures[0], form)
    else:
        make_sentences = _comparison_sentences(record)
    return _fit_paragraph(lambda markup, listed: " ".join(make_sentences(markup, listed)), form, names)


def measure_paragraph(comparison: Comparison, name: str, form: str = "text") -> str:
    """Return the paragraph on one measure of a comparison."""
    make_sentences = _sentences_across_data_sets if comparison.families else _sentences_within_data_set
    names = list(dict.fromkeys(comparison.standing["embedding"]))
    return _fit_paragraph(
        lambda markup, listed: " ".join(make_sentences(comparison, name, markup, listed)), form, names
    )


def _fit_paragraph(
    make: Callable[[ParagraphMarkup, int], str], form: str, names: Sequence[str], max_words: int = MAX_WORDS
) -> str:
    """Return the longest paragraph of at most ``max_words`` words; it lists the same number of items in every form."""
    short = distinct_short_names(names, MAX_NAME_COLUMNS)

    def with_short_names(base: ParagraphMarkup) -> ParagraphMarkup:
        return replace(
            base,
            name=lambda name: base.name(short.get(name, name)),
            title=lambda title: base.title(shorten_middle(title, MAX_TITLE_COLUMNS)),
        )

    markups = [with_short_names(base) for base in MARKUPS.values()]
    fitting = (
        n for n in range(MAX_LISTED, 0, -1) if all(len(make(markup, n).split()) <= max_words for markup in markups)
    )
    text = make(with_short_names(MARKUPS[form]), next(fitting, 0))
    return text.replace("\N{MINUS SIGN}", MARKUPS[form].minus)


def _number(value: float) -> str:
    """Return a number within a sentence, with three or four significant digits."""
    return true_minus(f"{value:.3g}" if abs(value) < 1e4 else f"{value:.4g}")


def _number_writer(width: float) -> Callable[[float], str]:
    """Return a function that writes numbers to two significant digits of half the width of their interval.

    Examples
    --------
    >>> write = _number_writer(0.0125)
    >>> write(0.01386), write(0.0201)
    ('0.0139', '0.0201')
    """
    half = width / 2
    if not (math.isfinite(half) and 1e-9 < half < 1e4):
        return _number
    decimals = max(1 - math.floor(math.log10(half)), 0)
    return lambda value: format_fixed(value, decimals)


def _leader_sentence(best: Sequence[Sequence[str]], total: str, markup: ParagraphMarkup) -> str:
    """Return which embeddings have the best value by how many measures; four are named, and equal ones all count."""
    m, shared = len(best), any(len(names) > 1 for names in best)
    common = [name for name in best[0] if all(name in names for names in best)]
    if common and len(common) == max(map(len, best)):
        by = "" if m == 1 else f" by {'both' if m == 2 else f'all {m}'} measures,"
        names_text = join_and(_names_and_count([markup.name(name) for name in common], "others"))
        return f"{names_text} {'have' if len(common) > 1 else 'has'} the best value{by} of {total}."
    count = Counter(name for names in best for name in names).most_common()
    by_each = [
        f"{markup.name(name)} by {n}{f' of {m} measures' * (not place)}" for place, (name, n) in enumerate(count)
    ]
    if len(by_each) > 4:
        other_names = {name for name, _ in count[3:]}
        by_each = [*by_each[:3], f"others by {sum(bool(other_names.intersection(names)) for names in best)}"]
    equal = "; equal values count for each" if shared else ""
    return f"Of {total}, the best value is that of {join_and(by_each)}{equal}."


def _names_and_count(names: list[str], noun: str) -> list[str]:
    """Return four names at most, and the number of the others."""
    return names if len(names) <= 4 else [*names[:3], f"{len(names) - 3} {noun}"]


def _result_sentences(results: Results) -> Callable[[ParagraphMarkup, int], Iterator[str]]:
    """Return a function that yields sentences on a result: the best embeddings, each measure, the tests, the pairs."""
    view = read_results(results)
    columns = [column for column in view.columns if column.ranks and column.values]
    computed, n = len(view.contenders or view.computed), int(results.recipe.get("n") or 0)
    titles = _titles(results.table)
    intervals = any(cell.has_interval for column in columns for cell in column.cells.values())

    def top(column: Column) -> list[str]:
        """Return the embeddings with the best value; not those in one place and the data, where there are others."""
        candidates = [name for name in column.values if name not in view.unranked] or list(column.values)
        best = (max if column.higher else min)(candidates, key=column.values.__getitem__)
        return [name for name in candidates if column.is_tie(column.values[name], column.values[best])]

    def value(column: Column, markup: ParagraphMarkup, named: bool) -> str:
        name, *equal = top(column)
        cell, details = column.cells[name], []
        same_intervals = len({column.interval_ends(embedding) for embedding in (name, *equal)}) == 1
        details += (
            [f"{column.format_value(cell.low)} to {column.format_value(cell.high)}"]
            if cell.has_interval and same_intervals
            else []
        )
        about_text = "about " * column.chance_is_estimated
        details += [f"chance {about_text}{column.format_value(cell.chance)}"] if _is_number(cell.chance) else []
        details_text = f" ({'; '.join(details)})" if details else ""
        names_text = (
            f"{join_and(_names_and_count([markup.name(embedding) for embedding in (name, *equal)], 'others'))} "
            if named
            else ""
        )
        title = markup.title(titles[column.measure, column.parameters])
        return f"{title}: {names_text}{column.format_value(cell.value)}{details_text}"

    def missing(markup: ParagraphMarkup) -> Iterator[str]:
        """Yield measures that have no value of some embeddings, or of any."""
        columns_by_names: dict[tuple[str, ...], list[Column]] = {}
        for column in view.columns:
            without_value = tuple(name for name in view.computed if name in column.cells and name not in column.values)
            if without_value:
                columns_by_names.setdefault(without_value, []).append(column)
        for without_value, measured in columns_by_names.items():
            named = [markup.title(titles[column.measure, column.parameters]) for column in measured]
            names_text = join_and(_names_and_count([markup.name(name) for name in without_value], "others"))
            scope = f" of {names_text}" if len(without_value) < len(view.computed) or len(view.computed) == 1 else ""
            yield f"No value{scope} by {join_and(_names_and_count(named, 'further measures'))}."

    def sentences(markup: ParagraphMarkup, listed: int) -> Iterator[str]:
        level = view.level.replace(" %", markup.percent)
        total = f"{computed} embeddings of {n:,} points"
        if not computed:
            yield "No embedding could be computed."
            return
        if computed == 1:
            name = (view.contenders or view.computed)[0]
            subject = f"{markup.name(name)}, an embedding of {n:,} points,"
            yield _above_chance_sentence(columns, subject, level, view.reference if name in view.contenders else ())
        elif columns:
            yield _leader_sentence([top(column) for column in columns], total, markup)
            tested = [
                ranking
                for column in columns
                if (ranking := measure_ranking(view, column)) is not None and ranking.tested
            ]
            clear = [ranking.clear and not is_tied(view, ranking.column) for ranking in tested]
            yield from _clear_best_sentence([len(ranking.best) for ranking in tested], clear, len(columns))
        if view.reference and view.contenders:
            names = _names_and_count([markup.name(name) for name in view.reference], "others")
            yield f"{join_and(names)} {'is' if len(names) == 1 else 'are'} the data, and not ranked."
        if view.failed:
            names = _names_and_count([markup.name(name) for name in view.failed], "others")
            yield f"{join_and(names)} could not be computed."
        yield from missing(markup)
        groups: dict[str, list[str]] = {}
        for column in columns[:listed]:
            lead = "" if computed == 1 else f"{markup.sentence(best_set_text(view, column))}, by "
            ranking = measure_ranking(view, column)
            unnamed = ranking is not None and not is_tied(view, column) and {*ranking.best} == {*top(column)}
            groups.setdefault(lead, []).append(value(column, markup, computed > 1 and not unnamed))
        if groups and intervals:
            yield f"In parentheses: {level} interval and chance level."
        yield from (f"{lead}{', '.join(values)}." for lead, values in groups.items())
        yield from _left_out_sentence(len(columns) - listed, listed)
        yield from _test_sentences(results, markup)
        method_tests = [row for row in view.method_tests if row["embedding"] in results.embeddings]
        yield from (noise_text(row, results, markup.name(row["embedding"])) for row in method_tests)
        if columns and comparable(results):
            yield f"Pairs: {markup.code.format('compare().tidy()')}."

    return sentences


def _above_chance_sentence(columns: Sequence[Column], lead: str, level: str, reference: Sequence[str]) -> str:
    """Return by how many measures one embedding is better than chance, where the measures have intervals."""
    cells = [
        (column, cell)
        for column in columns
        for name, cell in column.cells.items()
        if not cell.missing and name not in reference
    ]
    with_interval = [(column, cell) for column, cell in cells if cell.has_interval and _is_number(cell.chance)]
    with_interval = [(column, cell) for column, cell in with_interval if not column.aims_at_chance]
    if not with_interval:
        return f"{lead} has values of {len(cells)} measure{'s' * (len(cells) != 1)}."
    above = sum(not reaches_chance(column, cell) for column, cell in with_interval)
    of = count_noun(len(with_interval), "measure")
    return f"{lead} is better than chance by {above} of {of} with intervals at {level}."


def _clear_best_sentence(
    sizes: Sequence[int], clear: Sequence[bool], m: int, set_text: str = "the best set holds", tests_text: str = "tests"
) -> Iterator[str]:
    """Yield by how many of the tested measures, of all m, the best is distinguishable from all others."""
    if sizes:
        largest = max((size for size, is_clear in zip(sizes, clear, strict=True) if not is_clear), default=1)
        most = f"; else {set_text} up to {largest} embeddings" if largest > 1 else ""
        tests = f" with {tests_text}" if len(sizes) < m else ""
        of = count_noun(len(sizes), "measure")
        yield f"The best is distinguishable from all others by {sum(clear)} of {of}{tests}{most}."


def _left_out_sentence(n_left_out: int, listed: int) -> Iterator[str]:
    """Yield how many measures are not listed."""
    if n_left_out > 0:
        yield f"{n_left_out} {'further ' if listed else ''}measure{'s are' if n_left_out > 1 else ' is'} left out here."


def _titles(table: pd.DataFrame) -> dict[tuple[str, str], str]:
    """Return measures in words, with parameters where there are several settings of one."""
    names = setting_names(table if "test" in table else table.assign(test=""))
    several = {key for key, name in names.items() if name != key[0]}
    return {key: measure_title(key[0]) + f", {parameter_text(key[1])}" * (key in several) for key in names}


def _test_sentences(results: Results, markup: ParagraphMarkup) -> Iterator[str]:
    """Yield for how many embeddings the tests reject independence; tests with the same result are one sentence.

    Each has the largest p that rejects, or the smallest p if none does. If the resamples are too few for a small p,
    the sentence says so.
    """
    rows = independence_rows(results.table)
    adjust = str(results.recipe.get("adjust"))
    smallest = smallest_p(rows, adjust if adjust in ADJUSTMENTS else None)
    rows = rows.assign(p=rows["p_adjusted"].where(rows["p_adjusted"].notna(), rows["p_value"]))
    tested = [name for name in results.embeddings if name not in results.reference]
    rows = rows[rows["p"].notna() & rows["embedding"].isin(tested)]
    if smallest > ALPHA:
        in_family = rows[rows["family"] != ""]
        kind = f"{'adjusted ' * bool(in_family['p_adjusted'].notna().any())}p"
        of = f"{len(in_family)} tests of independence" if len(in_family) > 1 else "the test of independence"
        most = f"{int(in_family['n_resamples'].max()):,} permutations"
        yield f"{most[:1].upper()}{most[1:]} are too few for {of}: no {kind} can be below {p_text(smallest)[4:]}."
        rows = rows[rows["family"] == ""]
    tests_by_text: dict[str, list[str]] = {}
    for (test, variable), part in rows.groupby(["test", "variable"], sort=False):
        below = part.loc[part["p"] <= ALPHA, "p"]
        rejected, shown_p = len(below), float(below.max() if len(below) else part["p"].min())
        against = f" of {markup.name(str(variable))}" if variable else ""
        many = f"{rejected} of {len(part)} embeddings" if len(part) > 1 else ("the embedding" if rejected else "none")
        adjusted = bool(part["p_adjusted"].notna().any())
        p_kind = ("" if len(part) == 1 else "smallest " if not rejected else "largest ") + markup.p(shown_p, adjusted)
        text = f"independence{against} for {many} ({p_kind}{' of these' * (0 < rejected < len(part))})"
        tests_by_text.setdefault(text, []).append(str(test).upper() if test in TESTS else markup.name(str(test)))
    for text, tests in list(tests_by_text.items())[:2]:
        yield f"{join_and(tests)} reject{'s' * (len(tests) == 1)} {text}."
    if len(tests_by_text) > 2:
        yield f"{len(tests_by_text) - 2} further findings of tests are left out here."
    least_words = smallest_p_text(read_results(results), rows.to_dict("records"))
    if tests_by_text and least_words:
        yield f"{markup.sentence(least_words)}."


def _comparison_sentences(comparison: Comparison) -> Callable[[ParagraphMarkup, int], Iterator[str]]:
    """Return a function that yields sentences on a comparison of several measures."""
    recipe, alpha = comparison.recipe, comparison.recipe["alpha"]
    tables = {name: comparison.of(comparison.standing, name).to_dict("records") for name in comparison.measures}
    tests = {name: _decisive_pairs(comparison, name) for name in comparison.measures}
    untested = sum(int(pairs["p"].isna().sum()) for pairs in tests.values())
    tests = {name: pairs[pairs["p"].notna()] for name, pairs in tests.items()}
    names = comparison.standing["embedding"].nunique()
    data_sets = {name for family in comparison.families.values() for name in family.cells.index}
    total = f"{names} embeddings " + (f"on {len(data_sets)} data sets" if data_sets else f"of {recipe['n']:,} points")
    adjusted, titles = recipe["adjust"] != "nothing", _titles(comparison.standing)
    sizes = {name: 0.0 if data_sets else column_of(comparison, name).scale_size for name in comparison.measures}
    same_maps = equal_maps(comparison)

    def clause(name: str, markup: ParagraphMarkup) -> str:
        rows, pairs, details = tables[name], tests[name], []
        if data_sets:
            overall = comparison.of(comparison.overall, name)
            rows_by_test = {row["test"]: row for row in overall[overall["p_value"].notna()].to_dict("records")}
            test = next((key for key in DECISIVE_NAMES if key in rows_by_test), "")
            kind = f"{rows_by_test[test]['p_kind']} " if test in ("friedman_exact", "skillings_mack") else ""
            details += (
                [f"{DECISIVE_NAMES[test]} {kind}{markup.p(rows_by_test[test]['p_value'], alpha=alpha)}"] if test else []
            )
            if _is_number(rows[0]["mean_rank"]) and _is_number(rows[-1]["mean_rank"]):
                ends = [f"{markup.name(row['embedding'])} {row['mean_rank']:.2f}" for row in (rows[0], rows[-1])]
                cells, level = comparison.families[name].cells, critical_level(comparison)
                n_complete = int(cells.notna().all(axis=1).sum())
                difference = critical_difference(n_complete, len(rows), level) if math.isfinite(level) else math.nan
                difference_text = f" (critical difference {difference:.2f})" if _is_number(difference) else ""
                details.append(f"mean ranks {ends[0]} to {ends[1]}{difference_text}")
        differ = pairs[pairs["p"] <= alpha]
        if len(differ):
            largest = _pair_text(
                differ.loc[differ["advantage"].abs().idxmax()].to_dict(), markup, adjusted, alpha, brief=True
            )
            verb = "differs," if len(differ) == 1 else "differ, most"
            count = f"{len(differ):,} of {len(pairs):,} pairs {verb} " if len(pairs) > 1 else ""
            details.append(count + largest)
        elif len(pairs):
            among, least = (f" in {len(pairs):,} pairs", "smallest ") if len(pairs) > 1 else ("", "")
            details.append(
                f"no significant difference{among} ({least}{markup.p(float(pairs['p'].min()), adjusted, alpha)})"
            )
        title = markup.title(titles[rows[0]["measure"], rows[0]["parameters"]])
        return f"{title}: {'; '.join(details) or 'not tested'}."

    def sentences(markup: ParagraphMarkup, listed: int) -> Iterator[str]:
        powerless = sum(bool(data_sets) and bool(powerless_text(comparison, name)) for name in comparison.measures)
        if powerless:
            yield f"No difference could have been significant by {powerless} of {len(tables)} measures."
        best = {
            name: rows for name, rows in tables.items() if _is_number(rows[0]["mean_rank" if data_sets else "value"])
        }
        if best:
            key = "mean_rank" if data_sets else "value"
            equal = [
                [row for row in rows if is_tie(row[key], rows[0][key], sizes[place])] for place, rows in best.items()
            ]
            yield _leader_sentence([[str(row["embedding"]) for row in rows] for rows in equal], total, markup)
            lettered = [rows for rows in best.values() if rows[0]["letters"]]
            sharing = [
                {str(row["embedding"]) for row in rows if {*row["letters"]} & {*rows[0]["letters"]}}
                for rows in lettered
            ]
            alone = [
                len(names) == 1 or (len(names) < len(rows) and any(names <= group for group in same_maps))
                for names, rows in zip(sharing, lettered, strict=True)
            ]
            yield from _clear_best_sentence(
                [*map(len, sharing)], alone, len(best), "its letters are those of", "all pairs tested"
            )
        tested, differ = (
            sum(map(len, tests.values())),
            sum(int((pairs["p"] <= alpha).sum()) for pairs in tests.values()),
        )
        level = f"{100 * alpha:g}{markup.percent}"
        if tested:
            adjustments = {"holm": "Holm's adjustment", "benjamini_hochberg": "Benjamini and Hochberg's adjustment"}
            adjustment_text = f" after {adjustments[recipe['adjust']]}" if recipe["adjust"] in adjustments else ""
            verb = "is" if differ == 1 else "are"
            yield f"{differ:,} of {count_noun(tested, 'difference')} {verb} significant at {level}{adjustment_text}."
        if untested:
            yield f"{count_noun(untested, 'difference')} could not be tested."
        yield from equivalences(comparison, comparison.measures, markup.name)
        yield from (clause(name, markup) for name in comparison.measures[:listed])
        yield from _left_out_sentence(len(comparison.measures) - listed, listed)

    return sentences


def _is_number(value: Any) -> bool:
    return bool(value == value)


def _decisive_pairs(comparison: Comparison, name: str) -> pd.DataFrame:
    """Return the pairs of one measure by the test that decides, with ``p``, adjusted where it can be."""
    rows = comparison.of(comparison.pairs, name)
    rows = rows[rows["test"] == str(comparison.recipe.get("decided_by", ""))] if comparison.families else rows
    return rows.assign(p=rows["p_adjusted"].where(rows["p_adjusted"].notna(), rows["p_value"]))


def _sentences_across_data_sets(
    comparison: Comparison, name: str, markup: ParagraphMarkup, listed: int
) -> Iterator[str]:
    """Yield sentences on one measure over many data sets."""
    family = comparison.families[name]
    n, k = family.cells.shape
    powerless = powerless_text(comparison, name)
    yield f"{markup.title(measure_heading(comparison, name))}: {k} embeddings were compared on {n} data sets."
    if powerless:
        yield powerless
    alpha, level = comparison.recipe["alpha"], critical_level(comparison)
    yield from _overall_sentences(comparison.of(comparison.overall, name), markup, alpha)
    standing, pairs = comparison.of(comparison.standing, name), comparison.of(comparison.pairs, name)
    if standing["mean_rank"].notna().all():
        ranks = [f"{markup.name(r['embedding'])} {r['mean_rank']:.2f}" for r in standing.to_dict("records")]
        left = len(ranks) - max(listed, 1) - 1
        ranks = [*ranks[: max(listed, 1)], f"{left} others", ranks[-1]] if left > 1 else ranks
        text = f"Mean ranks, 1 being the best: {', '.join(ranks)}"
        n_complete = int(family.cells.notna().all(axis=1).sum())
        if math.isfinite(level):
            percent = f"{100 * level:.3g}{markup.percent}"
            text += f"; critical difference {critical_difference(n_complete, k, level):.2f} (Nemenyi, {percent})"
        yield text + (f"; over the {n_complete} data sets with all embeddings." if n_complete < n else ".")
    by = str(comparison.recipe.get("decided_by", ""))
    if by:
        adjustments = {
            "holm": " with Holm's adjustment",
            "benjamini_hochberg": " with Benjamini and Hochberg's adjustment",
        }
        lead = f"By {TEST_TITLES[by]}{adjustments.get(comparison.recipe['adjust'], '')}"
        yield from _pair_sentences(pairs[pairs["test"] == by], markup, comparison.recipe, lead, listed)
    yield from _bayes_sentence(pairs[pairs["test"] == "bayes"], markup, comparison.recipe["rope"], listed)


def _overall_sentences(rows: pd.DataFrame, markup: ParagraphMarkup, alpha: float) -> Iterator[str]:
    """Yield whether there is any difference."""
    tested = rows[rows["p_value"].notna()].to_dict("records")
    rows_by_test: dict[str, dict[str, Any]] = {row["test"]: {str(key): row[key] for key in row} for row in tested}
    level = f"{100 * alpha:g}{markup.percent}"
    for test in ("friedman", "skillings_mack", "mixed"):
        if test not in rows_by_test:
            continue
        title, row = OVERALL_NAMES[test], rows_by_test[test]
        value = f"({row['df']:g}) = {format_fixed(row['statistic'], 2)}"
        details = [f"{markup.math(markup.chi, value)}, {markup.p(row['p_value'], alpha=alpha)}"]
        if test == "skillings_mack":
            details = [f"{row['p_kind']} {markup.p(row['p_value'], alpha=alpha)}", markup.math(markup.chi, value)]
        if test == "friedman":
            title, row, details = _friedman_parts(rows_by_test, markup, details, alpha)
        verb = "rejects" if row["p_value"] <= alpha else "does not reject"
        yield f"The {title} {verb} equality of the embeddings at the {level} level ({'; '.join(details)})."


def _friedman_parts(
    rows_by_test: dict[str, dict[str, Any]], markup: ParagraphMarkup, details: list[str], alpha: float
) -> tuple[str, dict[str, Any], list[str]]:
    """Return the test that decides on equal ranks, its row, and the text of all: by arrangements, else F."""
    iman_davenport = rows_by_test["iman_davenport"]
    value = f"{format_fixed(iman_davenport['statistic'], 2)}" if math.isfinite(iman_davenport["statistic"]) else "∞"
    value = value if markup.open_math != "$" else value.replace("∞", r"\infty")
    degrees = f"({iman_davenport['df']:g}, {iman_davenport['df_denominator']:g}) = {value}"
    exact = rows_by_test.get("friedman_exact")
    if exact is None:
        details = [
            f"{markup.math('F', degrees)}, {markup.p(iman_davenport['p_value'], alpha=alpha)}",
            f"Friedman {details[0]}",
        ]
        return OVERALL_NAMES["iman_davenport"], iman_davenport, details
    kind = exact["p_kind"]
    details = [f"{kind} {markup.p(exact['p_value'], alpha=alpha)}", f"by approximation {details[0]}"]
    details.append(f"Iman-Davenport {markup.math('F', degrees)}, {markup.p(iman_davenport['p_value'], alpha=alpha)}")
    return OVERALL_NAMES["friedman"], exact, details


def _pair_sentences(rows: pd.DataFrame, markup: ParagraphMarkup, recipe: Any, lead: str, listed: int) -> Iterator[str]:
    """Yield the pairs that differ, with size and p, the largest first, and how many more do or do not."""
    rows = rows.assign(p=rows["p_adjusted"].where(rows["p_adjusted"].notna(), rows["p_value"]))
    tested = rows[rows["p"].notna()]
    differ = tested[tested["p"] <= recipe["alpha"]]
    largest = differ.loc[(-differ["advantage"].abs()).sort_values(kind="stable").index]
    adjusted, alpha = recipe["adjust"] != "nothing", recipe["alpha"]
    sentences = [_pair_text(row, markup, adjusted, alpha) for row in largest.head(listed).to_dict("records")]
    n_undecided, n_further = len(tested) - len(differ), len(differ) - len(sentences)
    if n_further:
        sentences.append(f"{n_further} {'more ' if sentences else ''}pair{'s differ' if n_further > 1 else ' differs'}")
    if sentences:
        undecided_text = (
            f"; no significant difference in {count_noun(n_undecided, 'other pair')}" if n_undecided else ""
        )
        yield f"{lead}, {'; '.join(sentences)}{undecided_text}."
    elif len(tested):
        p = markup.p(float(tested["p"].min()), recipe["adjust"] != "nothing", recipe["alpha"])
        among, least = (f" in {len(tested):,} pairs", "smallest ") if len(tested) > 1 else ("", "")
        yield f"{lead}, no significant difference{among} ({least}{p})."
    if len(tested) < len(rows):
        untested = len(rows) - len(tested)
        yield f"{count_noun(untested, 'pair')} could not be tested."


def _pair_text(row: dict[str, Any], markup: ParagraphMarkup, adjusted: bool, alpha: float, brief: bool = False) -> str:
    """Return one pair that differs: the better one first, with the size; ``brief`` leaves out other sizes."""
    ranked, ranks = row["test"] == "wilcoxon", row["test"] == "nemenyi"
    sign = -1.0 if row["better"] == row["second"] else 1.0
    names = (row["first"], row["second"]) if sign > 0 else (row["second"], row["first"])
    subject = f"{markup.name(names[0])} is better than {markup.name(names[1])}"
    if brief:
        subject = f"{markup.name(names[0])} over {markup.name(names[1])}"
    details = [f"Hodges-Lehmann difference {_number(sign * row['advantage'])}", f"n = {row['n']}"] if ranked else []
    write: Callable[[float], str] = _number
    if row["conf_low"] == row["conf_low"] and not (ranked or ranks):
        ends = sorted((sign * row["conf_low"], sign * row["conf_high"]))
        write = _number_writer(ends[1] - ends[0])
        details.append(f"{'' if brief else 'interval '}{write(ends[0])} to {write(ends[1])}")
    details.append(markup.p(row["p"], adjusted, alpha))
    if row["effect_size"] == row["effect_size"] and not brief:
        details.append(
            f"{'rank-biserial correlation' if ranked else 'effect size'} {format_fixed(sign * row['effect_size'], 2)}"
        )
    if row["superiority"] == row["superiority"] and not (ranked or brief):
        share = row["superiority"] if sign > 0 else 1 - row["superiority"]
        details.append(f"probability of superiority {share:.2f}")
    by = "" if ranked else f" by {write(sign * row['advantage'])}" + " mean ranks" * ranks
    return f"{subject}{by} ({', '.join(details)})"


def _bayes_sentence(rows: pd.DataFrame, markup: ParagraphMarkup, rope: float | None, listed: int) -> Iterator[str]:
    """Yield the posterior probabilities of each pair, the larger of the two sides first."""
    if not len(rows):
        return
    items = []
    for row in rows.head(max(listed, 1)).to_dict("records"):
        first, second = row["first"], row["second"]
        better, equal, worse = row["p_first"], row["p_rope"], row["p_second"]
        if worse > better:
            first, second, better, worse = second, first, worse, better
        items.append(
            f"{markup.name(first)} over {markup.name(second)} {better:.3f} (equivalent {equal:.3f}, worse {worse:.3f})"
        )
    left = len(rows) - len(items)
    items += [f"{left} more pair{'s' * (left > 1)}"] if left else []
    lead = f"Counting differences below {rope:g} as none, the Bayesian signed-rank test gives the probabilities"
    yield f"{lead} {'; '.join(items)}."


PAIR_METHOD_PHRASES = {
    "jackknife": "paired differences with jackknife standard errors",
    "classes": "paired differences with jackknife standard errors over the classes",
    "anchors": "paired differences with anchor standard errors",
    "subsampling": "paired differences with standard errors from random halves of the points",
    "seeds": "differences of means over runs with other seeds, with Welch's standard errors",
    "subsamples": "paired differences with standard errors from runs on random halves of the points",
}


def _sentences_within_data_set(
    comparison: Comparison, name: str, markup: ParagraphMarkup, listed: int
) -> Iterator[str]:
    """Yield sentences on one measure of one data set."""
    pairs, recipe = comparison.of(comparison.pairs, name), comparison.recipe
    names = comparison.of(comparison.standing, name)["embedding"].nunique()
    title = markup.title(measure_heading(comparison, name))
    yield f"{title}: {names} embeddings of {recipe['n']:,} points were compared in pairs."
    adjustments = {
        "holm": ", with Holm's adjustment",
        "benjamini_hochberg": ", with Benjamini and Hochberg's adjustment",
    }
    level = f"{100 * (1 - recipe['alpha']):g}{markup.percent}"
    for test, part in pairs.groupby("test", sort=False):
        lead = (
            f"By {PAIR_METHOD_PHRASES[str(test)]} (intervals at {level}){adjustments.get(recipe['adjust'], '')}"
            if test
            else ""
        )
        yield from _pair_sentences(part, markup, recipe, lead, listed)
    yield from equivalences(comparison, [name], markup.name)
