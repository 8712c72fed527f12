"""What a paper would print, as text, Markdown or LaTeX: the findings and the methods, in so many words at most."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from dreval.comparison.base import critical_difference, critical_level
from dreval.comparison.compare import comparable
from dreval.glossary import true_minus
from dreval.inference.adjustment import ADJUSTMENTS, smallest_p
from dreval.inference.ties import is_tie
from dreval.records.comparison import Comparison
from dreval.records.frames import independence_rows, setting_names
from dreval.records.results import Results
from dreval.registry import TESTS
from dreval.report.contents.comparison import SHORT, cannot_tell, column_of, equal_maps, equivalences, heading
from dreval.report.contents.evaluation import measure_title, short_parameters
from dreval.report.contents.methods import VOICES, Voice, methods
from dreval.report.format import counted, distinct_short_names, fixed, ordered, p_words, shortened
from dreval.report.reading import Column, read_results
from dreval.report.statements import (
    at_chance,
    contest,
    in_chance,
    is_tied,
    noise_said,
    smallest_words,
    standing_words,
)

WORDS = 150  # of a paragraph
METHODS_WORDS = 250  # of what was computed, with its settings and works
LISTED = 12  # things that a paragraph lists at most
NAME, TITLE = 40, 80  # columns of a terminal that a name and a title may take
ALPHA = 0.05  # level of the tests of independence


OVERALL = {
    "friedman": "Friedman test",
    "iman_davenport": "Iman-Davenport test",
    "skillings_mack": "Skillings-Mack test",
    "mixed": "mixed model",
}

DECIDES = {"friedman_exact": "Friedman test", **{key: OVERALL[key] for key in OVERALL if key != "friedman"}}


def paragraph(record: Results | Comparison, part: str, form: str) -> str:
    """The findings ("results") or the "methods" of a result or a comparison."""
    names = record.names if isinstance(record, Results) else list(dict.fromkeys(record.standing["embedding"]))
    if part == "methods":
        return _fitted(lambda voice, listed: " ".join(methods(record, voice, listed)), form, names, METHODS_WORDS)
    if isinstance(record, Results):
        said = _findings(record)
    elif len(record.measures) == 1:
        return measure_paragraph(record, record.measures[0], form)
    else:
        said = _compared(record)
    return _fitted(lambda voice, listed: " ".join(said(voice, listed)), form, names)


def measure_paragraph(comparison: Comparison, name: str, form: str = "text") -> str:
    """The paragraph on one measure of a comparison."""
    speak = _across if comparison.families else _within
    names = list(dict.fromkeys(comparison.standing["embedding"]))
    return _fitted(lambda voice, listed: " ".join(speak(comparison, name, voice, listed)), form, names)


def _fitted(make: Callable[[Voice, int], str], form: str, names: Sequence[str], most: int = WORDS) -> str:
    """The fullest paragraph of so many words, the same in every form; it lists as many things as it is told."""
    short = distinct_short_names(names, NAME)

    def voiced(kind: Voice) -> Voice:
        return replace(
            kind,
            name=lambda name: kind.name(short.get(name, name)),
            title=lambda title: kind.title(shortened(title, TITLE)),
        )

    voices = [voiced(kind) for kind in VOICES.values()]
    fits = (n for n in range(LISTED, 0, -1) if all(len(make(voice, n).split()) <= most for voice in voices))
    made = make(voiced(VOICES[form]), next(fits, 0))
    return made.replace("\N{MINUS SIGN}", VOICES[form].minus)


def _number(value: float) -> str:
    """A number in a sentence, four significant places."""
    return true_minus(f"{value:.3g}" if abs(value) < 1e4 else f"{value:.4g}")


def _rounded_to(width: float) -> Callable[[float], str]:
    """Writes numbers with the decimals that show two places of half the width of their interval.

    Examples
    --------
    >>> write = _rounded_to(0.0125)
    >>> write(0.01386), write(0.0201)
    ('0.0139', '0.0201')
    """
    half = width / 2
    if not (math.isfinite(half) and 1e-9 < half < 1e4):
        return _number
    decimals = max(1 - math.floor(math.log10(half)), 0)
    return lambda value: fixed(value, decimals)


def _leaders(best: Sequence[Sequence[str]], total: str, voice: Voice) -> str:
    """Which embeddings have the best value, each with by how many measures; four are named, equal ones all count."""
    m, shared = len(best), any(len(names) > 1 for names in best)
    everywhere = [name for name in best[0] if all(name in names for names in best)]
    if everywhere and len(everywhere) == max(map(len, best)):
        by = "" if m == 1 else f" by {'both' if m == 2 else f'all {m}'} measures,"
        who = ordered(_some([voice.name(name) for name in everywhere], "others"))
        return f"{who} {'have' if len(everywhere) > 1 else 'has'} the best value{by} of {total}."
    count = Counter(name for names in best for name in names).most_common()
    by_each = [f"{voice.name(name)} by {n}{f' of {m} measures' * (not place)}" for place, (name, n) in enumerate(count)]
    if len(by_each) > 4:
        rest = {name for name, _ in count[3:]}
        by_each = [*by_each[:3], f"others by {sum(bool(rest.intersection(names)) for names in best)}"]
    equal = "; equal values count for each" if shared else ""
    return f"Of {total}, the best value is that of {ordered(by_each)}{equal}."


def _some(names: list[str], rest: str) -> list[str]:
    """Four names at most, the others counted."""
    return names if len(names) <= 4 else [*names[:3], f"{len(names) - 3} {rest}"]


def _findings(results: Results) -> Callable[[Voice, int], Iterator[str]]:
    """Sentences on a result: who is best and how clear that is, then each measure, the tests, and where pairs are."""
    reading = read_results(results)
    columns = [column for column in reading.columns if column.ranks and column.values]
    computed, n = len(reading.contenders or reading.computed), int(results.recipe.get("n") or 0)
    titles = _titles(results.table)
    intervals = any(cell.has_interval for column in columns for cell in column.cells.values())

    def top(column: Column) -> list[str]:
        """The embeddings with the best value; not those in one place and not the data, where there are others."""
        alive = [name for name in column.values if name not in reading.unranked] or list(column.values)
        best = (max if column.higher else min)(alive, key=column.values.__getitem__)
        return [name for name in alive if column.is_tie(column.values[name], column.values[best])]

    def value(column: Column, voice: Voice, named: bool) -> str:
        name, *equal = top(column)
        cell, inside = column.cells[name], []
        alike = len({column.ends(one) for one in (name, *equal)}) == 1
        inside += [f"{column.shown(cell.low)} to {column.shown(cell.high)}"] if cell.has_interval and alike else []
        about = "about " * column.drawn_chance
        inside += [f"chance {about}{column.shown(cell.chance)}"] if _known(cell.chance) else []
        behind = f" ({'; '.join(inside)})" if inside else ""
        whose = f"{ordered(_some([voice.name(one) for one in (name, *equal)], 'others'))} " if named else ""
        title = voice.title(titles[column.measure, column.parameters])
        return f"{title}: {whose}{column.shown(cell.value)}{behind}"

    def missing(voice: Voice) -> Iterator[str]:
        """Measures that have no value of some embeddings, or of any."""
        lost: dict[tuple[str, ...], list[Column]] = {}
        for column in reading.columns:
            without = tuple(name for name in reading.computed if name in column.cells and name not in column.values)
            if without:
                lost.setdefault(without, []).append(column)
        for without, measured in lost.items():
            named = [voice.title(titles[column.measure, column.parameters]) for column in measured]
            who = ordered(_some([voice.name(name) for name in without], "others"))
            whose = f" of {who}" if len(without) < len(reading.computed) or len(reading.computed) == 1 else ""
            yield f"No value{whose} by {ordered(_some(named, 'further measures'))}."

    def said(voice: Voice, listed: int) -> Iterator[str]:
        level = reading.level.replace(" %", voice.percent)
        total = f"{computed} embeddings of {n:,} points"
        if not computed:
            yield "No embedding could be computed."
            return
        if computed == 1:
            name = (reading.contenders or reading.computed)[0]
            who = f"{voice.name(name)}, an embedding of {n:,} points,"
            yield _above_chance(columns, who, level, reading.reference if name in reading.contenders else ())
        elif columns:
            yield _leaders([top(column) for column in columns], total, voice)
            tested = [one for column in columns if (one := contest(reading, column)) is not None and one.tested]
            clear = [one.clear and not is_tied(reading, one.column) for one in tested]
            yield from _clear([len(one.best) for one in tested], clear, len(columns))
        if reading.reference and reading.contenders:
            names = _some([voice.name(name) for name in reading.reference], "others")
            yield f"{ordered(names)} {'is' if len(names) == 1 else 'are'} the data, and not ranked."
        if reading.failed:
            names = _some([voice.name(name) for name in reading.failed], "others")
            yield f"{ordered(names)} could not be computed."
        yield from missing(voice)
        groups: dict[str, list[str]] = {}
        for column in columns[:listed]:
            lead = "" if computed == 1 else f"{voice.sentence(standing_words(reading, column))}, by "
            one = contest(reading, column)
            unnamed = one is not None and not is_tied(reading, column) and {*one.best} == {*top(column)}
            groups.setdefault(lead, []).append(value(column, voice, computed > 1 and not unnamed))
        if groups and intervals:
            yield f"In parentheses: {level} interval and chance level."
        yield from (f"{lead}{', '.join(values)}." for lead, values in groups.items())
        yield from _left_out(len(columns) - listed, listed)
        yield from _tested(results, voice)
        known = [row for row in reading.of_methods if row["embedding"] in results.embeddings]
        yield from (noise_said(row, results, voice.name(row["embedding"])) for row in known)
        if columns and comparable(results):
            yield f"Pairs: {voice.code.format('compare().tidy()')}."

    return said


def _above_chance(columns: Sequence[Column], lead: str, level: str, reference: Sequence[str]) -> str:
    """By how many measures one embedding is better than chance, where there is more than the value to tell it."""
    cells = [
        (column, cell)
        for column in columns
        for name, cell in column.cells.items()
        if not cell.missing and name not in reference
    ]
    judged = [(column, cell) for column, cell in cells if cell.has_interval and _known(cell.chance)]
    judged = [(column, cell) for column, cell in judged if not at_chance(column)]
    if not judged:
        return f"{lead} has values of {len(cells)} measure{'s' * (len(cells) != 1)}."
    above = sum(not in_chance(column, cell) for column, cell in judged)
    of = counted(len(judged), "measure")
    return f"{lead} is better than chance by {above} of {of} with intervals at {level}."


def _clear(
    sizes: Sequence[int], clear: Sequence[bool], m: int, what: str = "the best set holds", having: str = "tests"
) -> Iterator[str]:
    """By how many of the measures that have tests, of all m, the best is distinguishable from all others."""
    if sizes:
        largest = max((size for size, alone in zip(sizes, clear, strict=True) if not alone), default=1)
        most = f"; else {what} up to {largest} embeddings" if largest > 1 else ""
        tests = f" with {having}" if len(sizes) < m else ""
        of = counted(len(sizes), "measure")
        yield f"The best is distinguishable from all others by {sum(clear)} of {of}{tests}{most}."


def _left_out(left: int, listed: int) -> Iterator[str]:
    """How many measures are not listed."""
    if left > 0:
        yield f"{left} {'further ' if listed else ''}measure{'s are' if left > 1 else ' is'} left out here."


def _titles(table: pd.DataFrame) -> dict[tuple[str, str], str]:
    """Measures in words, with parameters where there are several settings of one."""
    names = setting_names(table if "test" in table else table.assign(test=""))
    several = {key for key, name in names.items() if name != key[0]}
    return {key: measure_title(key[0]) + f", {short_parameters(key[1])}" * (key in several) for key in names}


def _tested(results: Results, voice: Voice) -> Iterator[str]:
    """Of how many embeddings the tests reject independence; tests that find the same are one sentence.

    With the largest p by which one does; the smallest of all where none does.
    Where so few resamples can give no small p, that is said instead.
    """
    rows = independence_rows(results.table)
    adjust = str(results.recipe.get("adjust"))
    least = smallest_p(rows, adjust if adjust in ADJUSTMENTS else None)
    rows = rows.assign(p=rows["p_adjusted"].where(rows["p_adjusted"].notna(), rows["p_value"]))
    judged = [name for name in results.embeddings if name not in results.reference]
    rows = rows[rows["p"].notna() & rows["embedding"].isin(judged)]
    if least > ALPHA:
        few = rows[rows["family"] != ""]
        kind = f"{'adjusted ' * bool(few['p_adjusted'].notna().any())}p"
        of = f"{len(few)} tests of independence" if len(few) > 1 else "the test of independence"
        most = f"{int(few['n_resamples'].max()):,} permutations"
        yield f"{most[:1].upper()}{most[1:]} are too few for {of}: no {kind} can be below {p_words(least)[4:]}."
        rows = rows[rows["family"] == ""]
    found: dict[str, list[str]] = {}
    for (test, variable), part in rows.groupby(["test", "variable"], sort=False):
        below = part.loc[part["p"] <= ALPHA, "p"]
        rejected, shown = len(below), float(below.max() if len(below) else part["p"].min())
        against = f" of {voice.name(str(variable))}" if variable else ""
        many = f"{rejected} of {len(part)} embeddings" if len(part) > 1 else ("the embedding" if rejected else "none")
        adjusted = bool(part["p_adjusted"].notna().any())
        which = ("" if len(part) == 1 else "smallest " if not rejected else "largest ") + voice.p(shown, adjusted)
        said = f"independence{against} for {many} ({which}{' of these' * (0 < rejected < len(part))})"
        found.setdefault(said, []).append(str(test).upper() if test in TESTS else voice.name(str(test)))
    for said, tests in list(found.items())[:2]:
        yield f"{ordered(tests)} reject{'s' * (len(tests) == 1)} {said}."
    if len(found) > 2:
        yield f"{len(found) - 2} further findings of tests are left out here."
    least_words = smallest_words(read_results(results), rows.to_dict("records"))
    if found and least_words:
        yield f"{voice.sentence(least_words)}."


def _compared(comparison: Comparison) -> Callable[[Voice, int], Iterator[str]]:
    """Sentences on several measures of a comparison: who is best, how many pairs differ, then a clause for each."""
    recipe, alpha = comparison.recipe, comparison.recipe["alpha"]
    tables = {name: comparison.of(comparison.standing, name).to_dict("records") for name in comparison.measures}
    tests = {name: _deciding(comparison, name) for name in comparison.measures}
    untested = sum(int(pairs["p"].isna().sum()) for pairs in tests.values())
    tests = {name: pairs[pairs["p"].notna()] for name, pairs in tests.items()}
    names = comparison.standing["embedding"].nunique()
    over = {name for family in comparison.families.values() for name in family.cells.index}
    total = f"{names} embeddings " + (f"on {len(over)} data sets" if over else f"of {recipe['n']:,} points")
    adjusted, titles = recipe["adjust"] != "nothing", _titles(comparison.standing)
    sizes = {name: 0.0 if over else column_of(comparison, name).size for name in comparison.measures}
    alike = equal_maps(comparison)

    def clause(name: str, voice: Voice) -> str:
        rows, pairs, inside = tables[name], tests[name], []
        if over:
            found = comparison.of(comparison.overall, name)
            made = {row["test"]: row for row in found[found["p_value"].notna()].to_dict("records")}
            test = next((one for one in DECIDES if one in made), "")
            kind = f"{made[test]['p_kind']} " if test in ("friedman_exact", "skillings_mack") else ""
            inside += [f"{DECIDES[test]} {kind}{voice.p(made[test]['p_value'], alpha=alpha)}"] if test else []
            if _known(rows[0]["mean_rank"]) and _known(rows[-1]["mean_rank"]):
                ends = [f"{voice.name(row['embedding'])} {row['mean_rank']:.2f}" for row in (rows[0], rows[-1])]
                cells, level = comparison.families[name].cells, critical_level(comparison)
                whole = int(cells.notna().all(axis=1).sum())
                apart = critical_difference(whole, len(rows), level) if math.isfinite(level) else math.nan
                behind = f" (critical difference {apart:.2f})" if _known(apart) else ""
                inside.append(f"mean ranks {ends[0]} to {ends[1]}{behind}")
        differ = pairs[pairs["p"] <= alpha]
        if len(differ):
            largest = _pair(
                differ.loc[differ["advantage"].abs().idxmax()].to_dict(), voice, adjusted, alpha, brief=True
            )
            verb = "differs," if len(differ) == 1 else "differ, most"
            count = f"{len(differ):,} of {len(pairs):,} pairs {verb} " if len(pairs) > 1 else ""
            inside.append(count + largest)
        elif len(pairs):
            among, least = (f" in {len(pairs):,} pairs", "smallest ") if len(pairs) > 1 else ("", "")
            inside.append(
                f"no significant difference{among} ({least}{voice.p(float(pairs['p'].min()), adjusted, alpha)})"
            )
        title = voice.title(titles[rows[0]["measure"], rows[0]["parameters"]])
        return f"{title}: {'; '.join(inside) or 'not tested'}."

    def said(voice: Voice, listed: int) -> Iterator[str]:
        silent = sum(bool(over) and bool(cannot_tell(comparison, name)) for name in comparison.measures)
        if silent:
            yield f"No difference could have been significant by {silent} of {len(tables)} measures."
        best = {name: rows for name, rows in tables.items() if _known(rows[0]["mean_rank" if over else "value"])}
        if best:
            key = "mean_rank" if over else "value"
            equal = [
                [row for row in rows if is_tie(row[key], rows[0][key], sizes[place])] for place, rows in best.items()
            ]
            yield _leaders([[str(row["embedding"]) for row in rows] for rows in equal], total, voice)
            lettered = [rows for rows in best.values() if rows[0]["letters"]]
            sharing = [
                {str(row["embedding"]) for row in rows if {*row["letters"]} & {*rows[0]["letters"]}}
                for rows in lettered
            ]
            alone = [
                len(names) == 1 or (len(names) < len(rows) and any(names <= group for group in alike))
                for names, rows in zip(sharing, lettered, strict=True)
            ]
            yield from _clear([*map(len, sharing)], alone, len(best), "its letters are those of", "all pairs tested")
        tested, differ = sum(map(len, tests.values())), sum(int((one["p"] <= alpha).sum()) for one in tests.values())
        level = f"{100 * alpha:g}{voice.percent}"
        if tested:
            how = {"holm": "Holm's adjustment", "benjamini_hochberg": "Benjamini and Hochberg's adjustment"}
            behind = f" after {how[recipe['adjust']]}" if recipe["adjust"] in how else ""
            verb = "is" if differ == 1 else "are"
            yield f"{differ:,} of {counted(tested, 'difference')} {verb} significant at {level}{behind}."
        if untested:
            yield f"{counted(untested, 'difference')} could not be tested."
        yield from equivalences(comparison, comparison.measures, voice.name)
        yield from (clause(name, voice) for name in comparison.measures[:listed])
        yield from _left_out(len(comparison.measures) - listed, listed)

    return said


def _known(value: Any) -> bool:
    return bool(value == value)


def _deciding(comparison: Comparison, name: str) -> pd.DataFrame:
    """The pairs of one measure by the test that words go by, with ``p``, which is adjusted where it can be."""
    rows = comparison.of(comparison.pairs, name)
    rows = rows[rows["test"] == str(comparison.recipe.get("decided_by", ""))] if comparison.families else rows
    return rows.assign(p=rows["p_adjusted"].where(rows["p_adjusted"].notna(), rows["p_value"]))


def _across(comparison: Comparison, name: str, voice: Voice, listed: int) -> Iterator[str]:
    """Sentences on one measure over many data sets."""
    family = comparison.families[name]
    n, k = family.cells.shape
    silent = cannot_tell(comparison, name)
    yield f"{voice.title(heading(comparison, name))}: {k} embeddings were compared on {n} data sets."
    if silent:
        yield silent
    alpha, level = comparison.recipe["alpha"], critical_level(comparison)
    yield from _overall(comparison.of(comparison.overall, name), voice, alpha)
    standing, pairs = comparison.of(comparison.standing, name), comparison.of(comparison.pairs, name)
    if standing["mean_rank"].notna().all():
        ranks = [f"{voice.name(r['embedding'])} {r['mean_rank']:.2f}" for r in standing.to_dict("records")]
        left = len(ranks) - max(listed, 1) - 1
        ranks = [*ranks[: max(listed, 1)], f"{left} others", ranks[-1]] if left > 1 else ranks
        said = f"Mean ranks, 1 being the best: {', '.join(ranks)}"
        whole = int(family.cells.notna().all(axis=1).sum())
        if math.isfinite(level):
            percent = f"{100 * level:.3g}{voice.percent}"
            said += f"; critical difference {critical_difference(whole, k, level):.2f} (Nemenyi, {percent})"
        yield said + (f"; over the {whole} data sets with all embeddings." if whole < n else ".")
    by = str(comparison.recipe.get("decided_by", ""))
    if by:
        how = {"holm": " with Holm's adjustment", "benjamini_hochberg": " with Benjamini and Hochberg's adjustment"}
        lead = f"By {SHORT[by]}{how.get(comparison.recipe['adjust'], '')}"
        yield from _differing(pairs[pairs["test"] == by], voice, comparison.recipe, lead, listed)
    yield from _bayes(pairs[pairs["test"] == "bayes"], voice, comparison.recipe["rope"], listed)


def _overall(rows: pd.DataFrame, voice: Voice, alpha: float) -> Iterator[str]:
    """Whether there is any difference."""
    known = rows[rows["p_value"].notna()].to_dict("records")
    found: dict[str, dict[str, Any]] = {row["test"]: {str(key): row[key] for key in row} for row in known}
    level = f"{100 * alpha:g}{voice.percent}"
    for test in ("friedman", "skillings_mack", "mixed"):
        if test not in found:
            continue
        title, row = OVERALL[test], found[test]
        value = f"({row['df']:g}) = {fixed(row['statistic'], 2)}"
        said = [f"{voice.math(voice.chi, value)}, {voice.p(row['p_value'], alpha=alpha)}"]
        if test == "skillings_mack":
            said = [f"{row['p_kind']} {voice.p(row['p_value'], alpha=alpha)}", voice.math(voice.chi, value)]
        if test == "friedman":
            title, row, said = _friedman(found, voice, said, alpha)
        verb = "rejects" if row["p_value"] <= alpha else "does not reject"
        yield f"The {title} {verb} equality of the embeddings at the {level} level ({'; '.join(said)})."


def _friedman(
    found: dict[str, dict[str, Any]], voice: Voice, said: list[str], alpha: float
) -> tuple[str, dict[str, Any], list[str]]:
    """Which test decides on equal ranks, its row, and what all of them say: by arrangements, else F."""
    more = found["iman_davenport"]
    value = f"{fixed(more['statistic'], 2)}" if math.isfinite(more["statistic"]) else "∞"
    value = value if voice.open_math != "$" else value.replace("∞", r"\infty")
    degrees = f"({more['df']:g}, {more['df_denominator']:g}) = {value}"
    exact = found.get("friedman_exact")
    if exact is None:
        said = [f"{voice.math('F', degrees)}, {voice.p(more['p_value'], alpha=alpha)}", f"Friedman {said[0]}"]
        return OVERALL["iman_davenport"], more, said
    kind = exact["p_kind"]
    said = [f"{kind} {voice.p(exact['p_value'], alpha=alpha)}", f"by approximation {said[0]}"]
    said.append(f"Iman-Davenport {voice.math('F', degrees)}, {voice.p(more['p_value'], alpha=alpha)}")
    return OVERALL["friedman"], exact, said


def _differing(rows: pd.DataFrame, voice: Voice, recipe: Any, lead: str, listed: int) -> Iterator[str]:
    """The pairs that differ, each with its size and p, the largest first, and how many more do or do not."""
    rows = rows.assign(p=rows["p_adjusted"].where(rows["p_adjusted"].notna(), rows["p_value"]))
    tested = rows[rows["p"].notna()]
    differ = tested[tested["p"] <= recipe["alpha"]]
    largest = differ.loc[(-differ["advantage"].abs()).sort_values(kind="stable").index]
    adjusted, alpha = recipe["adjust"] != "nothing", recipe["alpha"]
    said = [_pair(row, voice, adjusted, alpha) for row in largest.head(listed).to_dict("records")]
    others, more = len(tested) - len(differ), len(differ) - len(said)
    if more:
        said.append(f"{more} {'more ' if said else ''}pair{'s differ' if more > 1 else ' differs'}")
    if said:
        rest = f"; no significant difference in {counted(others, 'other pair')}" if others else ""
        yield f"{lead}, {'; '.join(said)}{rest}."
    elif len(tested):
        p = voice.p(float(tested["p"].min()), recipe["adjust"] != "nothing", recipe["alpha"])
        among, least = (f" in {len(tested):,} pairs", "smallest ") if len(tested) > 1 else ("", "")
        yield f"{lead}, no significant difference{among} ({least}{p})."
    if len(tested) < len(rows):
        untested = len(rows) - len(tested)
        yield f"{counted(untested, 'pair')} could not be tested."


def _pair(row: dict[str, Any], voice: Voice, adjusted: bool, alpha: float, brief: bool = False) -> str:
    """One pair that differs: the better one first, with the size of the difference; ``brief`` without other sizes."""
    ranked, ranks = row["test"] == "wilcoxon", row["test"] == "nemenyi"
    sign = -1.0 if row["better"] == row["second"] else 1.0
    names = (row["first"], row["second"]) if sign > 0 else (row["second"], row["first"])
    words = f"{voice.name(names[0])} is better than {voice.name(names[1])}"
    if brief:
        words = f"{voice.name(names[0])} over {voice.name(names[1])}"
    inside = [f"Hodges-Lehmann difference {_number(sign * row['advantage'])}", f"n = {row['n']}"] if ranked else []
    write: Callable[[float], str] = _number
    if row["conf_low"] == row["conf_low"] and not (ranked or ranks):
        ends = sorted((sign * row["conf_low"], sign * row["conf_high"]))
        write = _rounded_to(ends[1] - ends[0])
        inside.append(f"{'' if brief else 'interval '}{write(ends[0])} to {write(ends[1])}")
    inside.append(voice.p(row["p"], adjusted, alpha))
    if row["effect_size"] == row["effect_size"] and not brief:
        inside.append(
            f"{'rank-biserial correlation' if ranked else 'effect size'} {fixed(sign * row['effect_size'], 2)}"
        )
    if row["superiority"] == row["superiority"] and not (ranked or brief):
        share = row["superiority"] if sign > 0 else 1 - row["superiority"]
        inside.append(f"probability of superiority {share:.2f}")
    by = "" if ranked else f" by {write(sign * row['advantage'])}" + " mean ranks" * ranks
    return f"{words}{by} ({', '.join(inside)})"


def _bayes(rows: pd.DataFrame, voice: Voice, rope: float | None, listed: int) -> Iterator[str]:
    """Posterior probabilities of each pair, the larger of the two sides first."""
    if not len(rows):
        return
    said = []
    for row in rows.head(max(listed, 1)).to_dict("records"):
        first, second = row["first"], row["second"]
        better, equal, worse = row["p_first"], row["p_rope"], row["p_second"]
        if worse > better:
            first, second, better, worse = second, first, worse, better
        said.append(
            f"{voice.name(first)} over {voice.name(second)} {better:.3f} (equivalent {equal:.3f}, worse {worse:.3f})"
        )
    left = len(rows) - len(said)
    said += [f"{left} more pair{'s' * (left > 1)}"] if left else []
    lead = f"Counting differences below {rope:g} as none, the Bayesian signed-rank test gives the probabilities"
    yield f"{lead} {'; '.join(said)}."


ERRORS = {
    "jackknife": "paired differences with jackknife standard errors",
    "classes": "paired differences with jackknife standard errors over the classes",
    "anchors": "paired differences with anchor standard errors",
    "subsampling": "paired differences with standard errors from random halves of the points",
    "seeds": "differences of means over runs with other seeds, with Welch's standard errors",
    "subsamples": "paired differences with standard errors from runs on random halves of the points",
}


def _within(comparison: Comparison, name: str, voice: Voice, listed: int) -> Iterator[str]:
    """Sentences on one measure of one data set."""
    pairs, recipe = comparison.of(comparison.pairs, name), comparison.recipe
    names = comparison.of(comparison.standing, name)["embedding"].nunique()
    title = voice.title(heading(comparison, name))
    yield f"{title}: {names} embeddings of {recipe['n']:,} points were compared in pairs."
    how = {"holm": ", with Holm's adjustment", "benjamini_hochberg": ", with Benjamini and Hochberg's adjustment"}
    level = f"{100 * (1 - recipe['alpha']):g}{voice.percent}"
    for test, part in pairs.groupby("test", sort=False):
        lead = f"By {ERRORS[str(test)]} (intervals at {level}){how.get(recipe['adjust'], '')}" if test else ""
        yield from _differing(part, voice, recipe, lead, listed)
    yield from equivalences(comparison, [name], voice.name)
