"""Numbers become words: what each value says of its embedding, what all share, and which embedding is best at what.

Sentences come from the cards of the measures; which embedding is best, from the best set of ``Results.ranking`` alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from dreval.measures.core import GOALS
from dreval.records.frames import of_method
from dreval.records.results import Results
from dreval.records.tests import LEVEL
from dreval.report.format import count_noun, format_fixed, join_and, number_word, p_text, percent, without_zero
from dreval.report.render.markup import isolate_name
from dreval.report.result_view import (
    NEIGHBORS_PARAMETER,
    PERSONS,
    Column,
    MeasuredValue,
    ResultView,
    parameter_text,
    parameter_value,
)

EXACT = 1e-9  # values nearer than that to a bound are the bound, up to rounding
MAX_LISTED_NAMES = 3  # names in a sentence; further ones are counted
MAX_EXTRA_DECIMALS = 4  # decimals in addition to those of the table, by which two values of a sentence differ
# Grades: by the distance from chance to perfect; or not better than chance, worse, or dependent on the order of ties.
HOLDS = "holds"  # at or above the upper limit of the card
MOSTLY = "mostly"  # between the limits
FAILS = "fails"  # below the lower limit
CHANCE = "chance"  # not better than chance
WORSE = "worse"  # worse than chance
OPEN = "open"  # dependent on the order of ties
GRADES_BEFORE_COLON = (CHANCE, WORSE, OPEN)  # grades whose sentence has its measures after a colon
POOR_GRADES = {FAILS, CHANCE, WORSE}
# Kinds of findings.
BEST = "best"  # which embeddings are best at a goal
NONE = "none"  # none is distinguishable as the best
SPLIT = "split"  # measures disagree
TIED = "tied"  # the best depends on the order of ties
STANDS = "stands"  # the rank of one embedding
MISSING = "missing"  # measures without a value
FAILED = "failed"  # embeddings that failed
EQUAL = "equal"  # embeddings that are the same map
RESIDUAL = "residual"  # the variable of tests of the residual of the data given the embedding
REFERENCE = "reference"  # which embeddings are the data
UNCLEAR = "No embedding is distinguishable as the best"

Row = tuple[str, str, str]  # measure, parameters, embedding


MAX_METRIC_NAMES = 3  # embeddings that the entry of the metric names; further ones are counted


def is_metric_passed(source: Mapping[str, Any]) -> bool:
    """Return whether the metric of an evaluation reaches the method of an embedding, or there is no method."""
    return source.get("metric_passed") is not False


def metric_text(recipe: Mapping[str, Any], *, short: bool = False) -> str:
    """Return the metric of an evaluation, and the embeddings whose methods did not get it, or (short) how many."""
    metric, sources = str(recipe.get("metric") or ""), recipe.get("sources") or {}
    names = [name for name, source in sources.items() if not is_metric_passed(source)]
    if not names:
        return metric
    if short:
        return f"{metric} (not of {count_noun(len(names), 'method')})"
    remaining = [f"{len(names) - MAX_METRIC_NAMES} more"] if len(names) > MAX_METRIC_NAMES else []
    listed = join_and([*names[:MAX_METRIC_NAMES], *remaining])
    return f"{metric} (not passed to the method{'s' * (len(names) > 1)} of {listed})"


@dataclass(frozen=True)
class Finding:
    """A sentence with what it rests on.

    Attributes
    ----------
    text : str
        The sentence; names of embeddings are between direction marks (``render.markup.sentence``).
    kind : str
        The kind of finding, one of the constants above.
    rows : tuple of (measure, parameters, embedding)
        The rows of ``results.table`` or, for the best, of ``results.ranking()``, from which it can be recomputed.
    """

    text: str
    kind: str
    rows: tuple[Row, ...] = ()


class GradedMeasures(NamedTuple):
    """The values of several measures of one embedding with the same sentence: the text, the grade, and the columns."""

    text: str
    kind: str
    columns: tuple[Column, ...]


def normalized_score(column: Column, value: float, chance: float) -> float:
    """Return the position of a value from chance level (0) to perfect (1); NaN without a chance level or a bound.

    If the chance level is the value of a good embedding, return the position from the worst value (0) to chance (1).
    """
    perfect = column.bounds[1] if column.higher else column.bounds[0]
    if aims_at_chance(column):
        perfect, chance = chance, column.bounds[0] if column.higher else column.bounds[1]
    span = perfect - chance
    return (value - chance) / span if math.isfinite(span) and span != 0 else math.nan


def reaches_chance(column: Column, cell: MeasuredValue) -> bool:
    """Return whether the value is not better than the chance level, or its interval reaches chance."""
    if math.isnan(cell.chance):
        return False
    edge = (cell.low if column.higher else cell.high) if cell.has_interval else cell.value
    return not column.better(edge, cell.chance) or not column.better(cell.value, cell.chance)


def aims_at_chance(column: Column) -> bool:
    """Return whether the chance level is the value of a good embedding."""
    return bool(column.goal) and GOALS[column.goal].at_chance


def is_worse(column: Column, cell: MeasuredValue) -> bool:
    """Return whether the whole interval is worse than the chance level."""
    return cell.has_interval and column.better(cell.chance, cell.high if column.higher else cell.low)


def grade(column: Column, cell: MeasuredValue) -> str:
    """Return the grade of a value; empty between the grades, or where chance is perfect as well."""
    if not column.ranks or cell.missing:
        return ""
    perfect = column.bounds[1] if column.higher else column.bounds[0]
    orders = (cell.worst, cell.best) if cell.has_ties else ()
    if all(math.isclose(end, perfect, rel_tol=EXACT, abs_tol=EXACT) for end in (cell.value, cell.chance, *orders)):
        return ""
    grade_of_value = _grade_without_ties(column, cell)
    return (
        OPEN
        if any(_grade_without_ties(column, cell.with_value(end)) != grade_of_value for end in orders)
        else grade_of_value
    )


def _grade_without_ties(column: Column, cell: MeasuredValue) -> str:
    """Return the grade of a value, whatever the order of ties."""
    if not aims_at_chance(column) and reaches_chance(column, cell):
        return WORSE if is_worse(column, cell) else CHANCE
    share, (fails, holds) = normalized_score(column, cell.value, cell.chance), column.grades
    if math.isnan(share):
        return ""
    return FAILS if share < fails else HOLDS if share >= holds else MOSTLY if len(column.says) != 2 else ""


def grade_text(column: Column, kind: str) -> str:
    """Return the sentence of a grade, without its full stop, from the card."""
    if kind == CHANCE:
        return "Not told from chance"
    if kind == WORSE:
        return "Worse than chance"
    if kind == OPEN:
        return "Left open by equal distances"
    if column.says:
        return column.says[{HOLDS: 0, MOSTLY: 1, FAILS: -1}[kind]]
    where = {HOLDS: "near its best", MOSTLY: "nearer to its best than to chance", FAILS: "nearer to chance"}[kind]
    return f"{column.title} is {where}"


def graded_measures(view: ResultView, name: str) -> list[GradedMeasures]:
    """Return the graded measures of one embedding, the best first; measures with the same sentence are a group."""
    columns_by_text: dict[tuple[str, str], list[Column]] = {}
    for column in view.by_goal if name not in view.unranked else ():
        kind = grade(column, column.cells[name]) if name in column.values else ""
        if kind:
            columns_by_text.setdefault((grade_text(column, kind), kind), []).append(column)
    order = [HOLDS, MOSTLY, FAILS, CHANCE, WORSE, OPEN]
    groups = [GradedMeasures(text, kind, tuple(columns)) for (text, kind), columns in columns_by_text.items()]
    return sorted(groups, key=lambda group: order.index(group.kind))


def embedding_findings(view: ResultView, name: str, *, without: Iterable[Finding] = ()) -> list[Finding]:
    """Return the findings on one embedding, except those ``without`` states already."""
    if name in view.failed:
        return [Finding(f"Could not be computed: {isolate_name(view.failed[name])}", FAILED)]
    if name in view.collapsed:
        return [Finding("All points lie in one place: this embedding shows nothing of the data.", FAILED)]
    if name in view.reference:
        return [Finding("These are the data, shown for reference.", REFERENCE)]
    stated, findings = {row for finding in without for row in finding.rows}, []
    for group in graded_measures(view, name):
        left = tuple(column for column in group.columns if not stated.intersection(_rows([column], [name])))
        if left:
            text = _sentence_with_values(view, group._replace(columns=left), [name])
            findings.append(Finding(f"{text}.", group.kind, _rows(left, [name])))
    return findings


def shared_findings(view: ResultView) -> list[Finding]:
    """Return the findings by which the same measures grade every embedding alike; none for fewer than two."""
    names = [name for name in view.computed if name not in view.unranked]
    columns_by_embedding = [
        {(group.text, group.kind): group.columns for group in graded_measures(view, name)} for name in names
    ]
    findings = []
    for (text_start, kind), columns in columns_by_embedding[0].items() if len(names) > 1 else ():
        keys_by_embedding = [
            {(c.measure, c.parameters) for c in keys.get((text_start, kind), ())} for keys in columns_by_embedding
        ]
        common = [c for c in columns if all((c.measure, c.parameters) in keys for keys in keys_by_embedding)]
        if common:
            by = join_and([column.short_title for column in common])
            text_start += _scale_suffix(view, common)
            text = f"{text_start}: {by}." if kind in GRADES_BEFORE_COLON else f"{text_start} ({by})."
            findings.append(Finding(text, kind, _rows(common, names)))
    return findings


def _rows(columns: Iterable[Column], names: Sequence[str]) -> tuple[Row, ...]:
    return tuple((c.measure, c.parameters, name) for c in columns for name in names if name in c.values)


def _scale_suffix(view: ResultView, columns: Sequence[Column]) -> str:
    """Return the k that some measures refer to, where there are several k."""
    scaled = any(parameter_value(column.parameters, NEIGHBORS_PARAMETER) == str(view.k) for column in columns)
    return f" at k = {view.k}" * (scaled and len(view.scales) > 1)


def _sentence_with_values(view: ResultView, group: GradedMeasures, names: Sequence[str]) -> str:
    """Return a sentence with its values: of one share in words, else symbols with numbers in parentheses."""
    column = group.columns[0]
    if len(group.columns) == 1 and column.share and group.kind not in GRADES_BEFORE_COLON:
        return f"{group.text}: {_percent_range(_values(column, names))} {share_text(column)}"
    ends = _tie_values if group.kind == OPEN else _values
    values = [f"{column.short_title}\u00a0{_value_range(ends(column, names), column)}" for column in group.columns]
    at = _scale_suffix(view, group.columns)
    return (
        f"{group.text}{at}: {join_and(values)}"
        if group.kind in GRADES_BEFORE_COLON
        else f"{group.text}{at} ({', '.join(values)})"
    )


def _values(column: Column, names: Sequence[str]) -> list[float]:
    return [column.values[name] for name in names if name in column.values]


def _tie_values(column: Column, names: Sequence[str]) -> list[float]:
    cells = [column.cells[name] for name in names if name in column.values]
    return [end for cell in cells for end in ((cell.value, cell.worst, cell.best) if cell.has_ties else (cell.value,))]


def _value_range(values: Sequence[float], column: Column) -> str:
    """Return one value as it is printed, or the smallest and the largest."""
    ends = [column.format_value(end) for end in (min(values), max(values))]
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


def _percent_range(values: Sequence[float]) -> str:
    """Return shares in percent: one, or the smallest and the largest."""
    ends = [percent(end) for end in (min(values), max(values))]
    return f"{ends[0] if ends[0] == ends[1] else f'{ends[0]} to {ends[1]}'} %"


def share_text(column: Column) -> str:
    """Return the whole that a share refers to, with its parameters."""
    return column.share.format(n_neighbors=parameter_value(column.parameters, "n_neighbors"))


# Which embedding is best ----------------------------------------------------------------------------------------------


def leading_column(columns: Sequence[Column]) -> Column:
    """Return the measure, of several, whose values are quoted: a share before others."""
    return next((column for column in columns if column.share), columns[0])


class MeasureRanking(NamedTuple):
    """One column that ranks the embeddings, with its best set and all others, some of which cannot be judged."""

    column: Column
    best: tuple[str, ...]
    others: tuple[str, ...]
    tested: bool
    unjudged: tuple[str, ...] = ()
    same_map: bool = False

    @property
    def clear(self) -> bool:
        """Whether one embedding, or several that are the same map, is significantly better than all others."""
        alone = len(self.best) == 1 or (self.same_map and bool(self.others))
        return self.tested and alone and not self.unjudged


def measure_rankings(view: ResultView) -> list[MeasureRanking]:
    """Return the columns that rank the embeddings, except those that depend on ties or lack tests."""
    rankings = (measure_ranking(view, column) for column in view.by_goal if not is_tied(view, column))
    return [ranking for ranking in rankings if ranking is not None]


def measure_ranking(view: ResultView, column: Column) -> MeasureRanking | None:
    """Return the ranking of the embeddings by one column; None where it compares none.

    An embedding whose points are all in one place is never best, whatever its values.
    """
    best_set = view.best_set(column)
    best, unjudged = (
        tuple(n for n in members if n not in view.unranked) for members in (best_set.best, best_set.unjudged)
    )
    if not best or len(column.compared_values) < 2:
        return None
    outside = tuple(name for name in column.compared_values if name not in (*best, *view.unranked))
    return MeasureRanking(column, best, outside, best_set.tested, unjudged, _are_same_map(view, best))


def _are_same_map(view: ResultView, names: Sequence[str]) -> bool:
    """Return whether several embeddings are all the same map."""
    return len(names) > 1 and any({*names} <= {*group} for group in view.same_maps)


def is_tied(view: ResultView, column: Column) -> bool:
    """Return whether another order of ties may rank another embedding above the best one."""
    best = view.best_set(column).best
    single = len(best) == 1 or _are_same_map(view, best)
    if not single or len(column.compared_values) < 2 or best[0] in view.collapsed:
        return False
    return any(column.ties_overlap(name, (*view.unranked, *best)) for name in best)


class Borderline(NamedTuple):
    """A difference that is significant by ``ranking`` and not by ``compare``, with the p-values of both."""

    column: Column
    best: str
    other: str
    p_ranking: float
    p_compare: float


def borderlines(view: ResultView, ranking: MeasureRanking) -> list[Borderline]:
    """Return the borderline differences by which embeddings are outside the best set of a column, least clear first.

    ``Results.ranking`` tests, one-sided and for each measure by itself, whether an embedding is worse than the best.
    ``Results.compare`` tests every pair, two-sided and adjusted over all pairs and measures. The difference of an
    embedding outside the best set is borderline if ``compare`` has tests of it against embeddings in the set and none
    of their p-values is at most its level.
    """
    if not ranking.tested or view.comparison is None:
        return []
    alpha, p_values = view.comparison.recipe["alpha"], view.best_set(ranking.column).p_values
    key = ranking.column.measure, ranking.column.parameters
    differences = []
    for other in ranking.others:
        pairs = {best: view.pair_p_values.get((*key, frozenset((best, other)))) for best in ranking.best}
        p_by_best = {best: p for best, p in pairs.items() if p is not None}
        best = min(p_by_best, key=p_by_best.__getitem__, default="")
        if other not in ranking.unjudged and other in p_values and best and p_by_best[best] > alpha:
            differences.append(Borderline(ranking.column, best, other, p_values[other], p_by_best[best]))
    return sorted(differences, key=lambda difference: -difference.p_compare)


def borderline_text(view: ResultView, part: Sequence[MeasureRanking]) -> str:
    """Return by which of some measures the best set is borderline, and which pairs, of the least clear with both p.

    The text is empty without borderline differences; else it is a sentence that follows another one.
    """
    by_ranking = [borderlines(view, ranking) for ranking in part]
    lines = sorted(
        (difference for differences in by_ranking for difference in differences),
        key=lambda difference: -difference.p_compare,
    )
    if not lines:
        return ""
    worst, *remaining = lines
    columns = [ranking.column.short_title for ranking, differences in zip(part, by_ranking, strict=True) if differences]
    by = f" by {join_and(columns)}" * (len(part) > 1)
    measure_prefix = f"by {worst.column.short_title}, " * (len(columns) > 1)
    measures: dict[tuple[str, str], list[str]] = {}
    for difference in remaining:
        measures.setdefault((difference.best, difference.other), []).append(difference.column.short_title)
    same_pair = measures.pop((worst.best, worst.other), [])
    further = [f"by {join_and(same_pair)}"] if same_pair else []
    for (best, other), titles in measures.items():
        prefix = "" if best == worst.best else f"{isolate_name(best)} "
        further.append(f"{prefix}against {isolate_name(other)}{f' by {join_and(titles)}' * (len(columns) > 1)}")
    further = (
        further
        if len(further) <= MAX_LISTED_NAMES
        else [*further[: MAX_LISTED_NAMES - 1], f"{len(further) - MAX_LISTED_NAMES + 1} more pairs"]
    )
    others_text = f"; also {join_and(further)}" if further else ""
    pair = f"{isolate_name(worst.best)} against {isolate_name(worst.other)}"
    return f" Borderline{by} ({measure_prefix}{pair}: {both_p_values(view, worst)}{others_text})."


def both_p_values(view: ResultView, difference: Borderline) -> str:
    """Return the p-values of ``ranking`` and ``compare`` for one difference, in words."""
    tests = len(view.pair_p_values)
    adjusted = f" and adjusted for all {tests:,} tests" * (tests > 1)
    one_sided = f"{p_text(difference.p_ranking)} one-sided against the best of this measure"
    return f"{one_sided}; not significant two-sided{adjusted}, {p_text(difference.p_compare)}"


def best_text(best: Sequence[str], tested: bool, values: str = "the best value") -> str:
    """Return which embeddings are best, where several are or no test applies."""
    several = len(best) > 1
    predicate = f"{'are' if several else 'is'} among the best" if tested else f"{'have' if several else 'has'} {values}"
    return f"{list_names(best)} {predicate}"


def best_set_text(view: ResultView, column: Column) -> str:
    """Return which embeddings are best by one column, and which could not be tested, without the full stop."""
    ranking = measure_ranking(view, column)
    if ranking is None:
        all_same = (
            len(column.compared_values) > 1 and len(set(map(column.format_value, column.compared_values.values()))) == 1
        )
        reason = "No embedding is judged"
        reason = (
            f"Only {list_names(list(column.compared_values))} has a value"
            if len(column.compared_values) == 1
            else reason
        )
        return "All embeddings have the same value" if all_same else reason
    if is_tied(view, column):
        return "Equal distances leave open which embedding is best"
    if not ranking.tested:
        return f"{best_text(ranking.best, tested=False)}, not tested"
    if not ranking.others and len(ranking.best) > 1:
        return UNCLEAR
    untested = f" ({list_names(ranking.unjudged)} not tested)" if ranking.unjudged else ""
    if ranking.clear:
        lines = borderlines(view, ranking)
        scope = f" against {list_names([difference.other for difference in lines])}" * (
            len(lines) < len(ranking.others)
        )
        least = "the least clear " * (len(lines) > 1)
        borderline = f" (borderline{scope}: {least}{both_p_values(view, lines[0])})" if lines else ""
        return f"{list_names(ranking.best)} {'are' if len(ranking.best) > 1 else 'is'} best{borderline}"
    return best_text(ranking.best, tested=True) + untested


def best_mark_text(view: ResultView, columns: Iterable[Column], symbols: bool = False) -> str:
    """Return the meaning of the mark of the best in a table of some columns; empty where none has it."""
    with_best = [column for column in columns if view.best_set(column).best]
    untested = list(
        dict.fromkeys(
            c.short_title if symbols else c.title_in_sentence for c in with_best if not view.best_set(c).tested
        )
    )
    if not any(view.best_set(column).tested for column in with_best):
        return "best value, not tested" if with_best else ""
    titles = join_and(untested) if len(untested) <= MAX_LISTED_NAMES + 1 else f"{number_word(len(untested))} measures"
    text = f"best or not distinguishable from it{f' (by {titles} the best value, not tested)' if untested else ''}"
    return f"{text}, not adjusted over measures" if len(with_best) > 1 else text


def main_findings(view: ResultView) -> list[Finding]:
    """Return the first findings of a report: ``findings``, and those that all embeddings share."""
    return [*findings(view), *shared_sentences(view)]


def findings(view: ResultView) -> list[Finding]:
    """Return which embedding is best at each goal, in a sentence each; for a single embedding its own findings.

    An embedding is best if it alone is in the best set. Of several in the best set none is called better than another,
    whatever their values: they are not distinguishable from the best. If measures of a goal have different best sets,
    each set is named with its measures. Embeddings that are the data are in no set.
    """
    if not view.computed and len(view.names) != 1:
        return [Finding("No embedding could be computed.", FAILED)]
    failures = [Finding(f"{list_names(list(view.failed))} could not be computed.", FAILED)] if view.failed else []
    predicate = f"{'are' if len(view.reference) > 1 else 'is'} the data: shown for reference, and not ranked."
    reference_findings = [Finding(f"{list_names(view.reference)} {predicate}", REFERENCE)] if view.reference else []
    if len(view.contenders) <= 1:
        name = (view.contenders or view.computed or view.names)[0]
        lone_findings = embedding_findings(view, name)
        lead = f"{isolate_name(name)}: " if len(view.names) > 1 else ""
        return [
            *(
                replace(finding, text=lead + _lower_first(finding.text)) if lead else finding
                for finding in lone_findings
            ),
            *(reference_findings if name in view.contenders else []),
            *(failures if lead else []),
        ]
    rankings = measure_rankings(view)
    tested = any(ranking.tested for ranking in rankings)
    relevant = [ranking for ranking in rankings if ranking.tested or not tested]
    noise = [ranking.column for ranking in relevant if _is_noise(view, ranking)]
    clear = (ranking for ranking in relevant if ranking.column not in noise)
    parts = groupby(clear, key=lambda ranking: ranking.column.goal)
    sentences = [_goal_finding(view, goal, list(part)) for goal, part in parts]
    if noise:
        by = (
            "any measure" if len(noise) == len(view.by_goal) > 1 else join_and([column.short_title for column in noise])
        )
        noise_sentence = f"No embedding is told from chance by {by}{_scale_suffix(view, noise)}."
        sentences.append(Finding(noise_sentence, CHANCE, _rows(noise, view.contenders)))
    tied: dict[str, list[Column]] = {}
    for column in view.by_goal:
        if is_tied(view, column):
            tied.setdefault(GOALS[column.goal].keeps if column.goal else "", []).append(column)
    for keeps, columns in tied.items():
        aim = f" at {_goal_gerund(keeps)}" if keeps else ""
        by = join_and([column.short_title for column in columns])
        rows = _rows(columns, view.contenders)
        sentences.append(Finding(f"Equal distances leave open which embedding is best{aim} by {by}.", TIED, rows))
    place = "shows nothing of the data: all its points lie in one place."
    sentences += [Finding(f"{isolate_name(name)} {place}", FAILED) for name in view.collapsed]
    sentences += [*_same_map_findings(view), *reference_findings, *failures]
    if rankings and not tested:
        no_intervals = not any(column.has_any_interval for column in view.columns)
        reason = (
            "These are values without intervals" if no_intervals else "No difference of these values could be tested"
        )
        sentences.append(Finding(f"{reason}: nothing tells how clear the differences are.", NONE))
    return sentences


def _same_map_findings(view: ResultView) -> Iterator[Finding]:
    """Yield which embeddings are the same map, once for each group; groups of the data only are left out."""
    for names in view.same_maps:
        if {*names} <= {*view.reference}:
            continue
        first_coordinates, *other_coordinates = (
            (view.results.embeddings[name] for name in names) if view.results else ()
        )
        same = all(np.array_equal(first_coordinates, Y) for Y in other_coordinates)
        predicate = "have the same coordinates" if same else "are the same map, up to rotation, shift and scale"
        yield Finding(f"{list_names(names)} {predicate}.", EQUAL)


def _is_noise(view: ResultView, ranking: MeasureRanking) -> bool:
    """Return whether no embedding beats chance by one measure; points in one place and the data do not count."""
    names = [name for name in ranking.column.values if name not in view.unranked]
    return all(grade(ranking.column, ranking.column.cells[name]) == CHANCE for name in names)


def shared_sentences(view: ResultView) -> list[Finding]:
    """Return what holds for all embeddings, and what fails for all, a sentence each, except the ``findings``."""
    stated = {row for finding in findings(view) if finding.kind == CHANCE for row in finding.rows}
    common, sentences = [finding for finding in shared_findings(view) if not stated.issuperset(finding.rows)], []
    count = len([name for name in view.computed if name not in view.unranked])
    subject = (
        f"The other {number_word(count)}" if view.unranked else "Both" if count == 2 else f"All {number_word(count)}"
    )
    lead = f"{subject} embeddings: "
    for kinds in ((HOLDS, MOSTLY), (FAILS, *GRADES_BEFORE_COLON)):
        group = [finding for finding in common if finding.kind in kinds]
        if group:
            text = "; ".join(_lower_first(finding.text.rstrip(".")) for finding in group)
            sentences.append(
                Finding(f"{lead}{text}.", group[0].kind, tuple(row for finding in group for row in finding.rows))
            )
    return sentences


def _lower_first(text: str) -> str:
    """Return a sentence for use within another one."""
    starts_so = text[1:2].islower() and not text.startswith(PERSONS)
    return text[:1].lower() + text[1:] if starts_so else text


def _goal_finding(view: ResultView, goal: str, rankings: list[MeasureRanking]) -> Finding:
    """Return which embeddings are in the best set of every measure of one goal, at the k of the first table.

    Measures with different best sets are named one by one: the intersection of the sets is the best set of no measure.
    """
    keeps, columns = GOALS[goal].keeps if goal else "do", [ranking.column for ranking in rankings]
    (verb, _, verb_object), keeping = keeps.partition(" "), _goal_gerund(keeps)
    order = view.ranked if view.has_many else view.names
    rows, at, borderline = (
        _rows(columns, view.contenders),
        _scale_suffix(view, columns),
        borderline_text(view, rankings),
    )
    several = (f" by all {number_word(len(rankings))} measures", f" by any of {number_word(len(rankings))} measures")
    by, either = {1: ("", ""), 2: (" by both measures", " by either measure")}.get(len(rankings), several)
    if not any(ranking.others or len(ranking.best) < 2 for ranking in rankings):
        return Finding(
            f"{UNCLEAR} at {keeping}{either}{at} ({_values_in_parentheses(rankings, rankings[0].best)}).", NONE, rows
        )
    if len({frozenset(ranking.best) for ranking in rankings}) > 1:
        text = f"Measures disagree on which is best at {keeping}{at}: {_disagreement_text(rankings, order)}."
        return Finding(text + borderline, SPLIT, rows)
    best = [name for name in order if name in rankings[0].best]
    values_text = f"{by}{at} ({_values_in_parentheses(rankings, best)})"
    kinds = [grade(column, column.cells[name]) for column in columns for name in best]
    quoted = [grade(column, column.cells[name]) for column in [_quoted_measure(rankings, best)[0]] for name in best]
    is_poor = {*quoted} <= POOR_GRADES and not {HOLDS, MOSTLY} & {*kinds}
    poor = f" Even the best {'is' if len(best) == 1 else 'are'} poor." * is_poor
    if all(ranking.clear for ranking in rankings):
        verb = verb if len(best) > 1 else f"{verb}s"
        return Finding(f"{list_names(best)} {verb} {verb_object} best{values_text}.{borderline}{poor}", BEST, rows)
    tested, unjudged_sets = rankings[0].tested, [set(ranking.unjudged) for ranking in rankings]
    best_names_text = best_text(best, tested, "the best values" if len(rankings) > 1 else "the best value")
    unjudged_text = list_names([name for name in order if any(name in ranking for ranking in unjudged_sets)])
    measures_suffix = "" if all(ranking == unjudged_sets[0] for ranking in unjudged_sets) else " by every measure"
    untested = f"; {unjudged_text} could not be tested{measures_suffix}" * bool(unjudged_text)
    return Finding(f"{best_names_text} at {keeping}{values_text}{untested}.{borderline}{poor}", BEST, rows)


def _goal_gerund(keeps: str) -> str:
    """Return the goal of an embedding as a noun: "keeping neighbors"."""
    verb, _, verb_object = keeps.partition(" ")
    return f"{verb}ing {verb_object}".strip()


def _quoted_measure(rankings: Sequence[MeasureRanking], names: Sequence[str]) -> tuple[Column, MeasureRanking | None]:
    """Return the measure whose values are quoted for some embeddings, and its ranking if it separates them."""
    main = leading_column([ranking.column for ranking in rankings])
    in_order = sorted(rankings, key=lambda ranking: ranking.column is not main)
    separating = next(
        (ranking for ranking in in_order if {*ranking.best} == {*names} and not _has_better_outsider(ranking)), None
    )
    return (main if separating is None else separating.column), separating


def _has_better_outsider(ranking: MeasureRanking) -> bool:
    """Return whether an embedding outside the best set has a better value than one in the set."""
    values = ranking.column.values
    return any(ranking.column.better(values[other], values[name]) for other in ranking.others for name in ranking.best)


def _values_in_parentheses(part: Sequence[MeasureRanking], names: Sequence[str]) -> str:
    """Return the values of some embeddings and chance, by a measure with this best set, where there is one.

    By such a measure the best of the other embeddings is named as well; by another it may have the better value.
    """
    column, ranking = _quoted_measure(part, names)
    others = [name for name in ranking.others if name not in ranking.unjudged] if ranking else []
    next_best = (max if column.higher else min)(others, key=lambda name: column.values[name], default="")
    next_names = [name for name in others if column.is_tie(column.values[name], column.values[next_best])]
    values = _values(column, names)
    low, high, other = _distinct_numbers(
        column, min(values), max(values), column.values[next_best] if next_best else math.nan
    )
    next_text = f"{list_names(next_names)} " if len(names) == 1 else ""
    unit = " %" if column.share else ""
    span = low if low == high else f"{low} to {high}"
    parts = [f"{span} % {share_text(column)}" if column.share else f"{column.short_title}\u00a0{span}"]
    parts += [f"next {next_text}{other}{unit}"] if other not in ("", low, high) else []
    chance = f"{_percent_range(column.chances)}" if column.share and column.chances else column.chance
    parts += [f"chance level {'about ' * column.chance_is_estimated}{chance}"] if chance else []
    return "; ".join(parts)


def _distinct_numbers(column: Column, *values: float) -> list[str]:
    """Return numbers for a sentence, with enough decimals that the last one differs from the others."""
    for extra in range(MAX_EXTRA_DECIMALS):
        if column.share:
            texts = [percent(value, extra) for value in values if value == value]
        else:
            texts = [format_fixed(value, column.decimals + extra) for value in values if value == value]
        if len(texts) < len(values) or texts[-1] not in texts[:-1]:
            break
    return [*texts, *[""] * (len(values) - len(texts))]


def _disagreement_text(rankings: Sequence[MeasureRanking], order: Sequence[str]) -> str:
    """Return which embeddings are best, or that none is, by which measures, where these disagree."""
    titles_by_text: dict[str, list[str]] = {}
    for ranking in (ranking._replace(best=tuple(sorted(ranking.best, key=order.index))) for ranking in rankings):
        title = ranking.column.title_in_sentence if len(rankings) < MAX_LISTED_NAMES else ranking.column.short_title
        titles_by_text.setdefault(_disagreement_part(ranking), []).append(title)
    return "; ".join(f"{text} by {join_and(title)}" for text, title in titles_by_text.items())


def _disagreement_part(ranking: MeasureRanking) -> str:
    """Return which embeddings are best by one measure, within a sentence."""
    if ranking.clear:
        return f"{list_names(ranking.best)} {'are' if len(ranking.best) > 1 else 'is'} best"
    if ranking.tested and not ranking.others and len(ranking.best) > 1:
        return "none is distinguishable as the best"
    untested = f" ({list_names(ranking.unjudged)} not tested)" if ranking.unjudged else ""
    return f"{best_text(ranking.best, ranking.tested)}{untested}"


def list_names(names: Sequence[str]) -> str:
    """Return names within a sentence; more than a few are counted."""
    listed = [
        isolate_name(name) for name in (names if len(names) <= MAX_LISTED_NAMES + 1 else names[:MAX_LISTED_NAMES])
    ]
    return join_and(
        [*listed, *([f"{len(names) - MAX_LISTED_NAMES} more"] if len(names) > MAX_LISTED_NAMES + 1 else [])]
    )


def standing_finding(view: ResultView, name: str) -> Finding:
    """Return by how many measures an embedding is best, not distinguishable from the best, and worse."""
    if name in view.reference:
        return Finding("The data, shown for reference.", STANDS)
    compared = [ranking for ranking in measure_rankings(view) if name in ranking.column.values]
    if not compared or name in (*view.failed, *view.collapsed):
        return Finding("", STANDS)
    tested = any(ranking.tested for ranking in compared)
    compared = [ranking for ranking in compared if ranking.tested or not tested]
    tested_rankings = [ranking for ranking in compared if name not in ranking.unjudged]
    best_alone = [
        ranking
        for ranking in tested_rankings
        if name in ranking.best and (ranking.clear or ranking.best == (name,)) and not ranking.unjudged
    ]
    best_shared = [ranking for ranking in tested_rankings if name in ranking.best and ranking not in best_alone]
    worse = [ranking for ranking in tested_rankings if name not in ranking.best]
    borderline = [
        ranking for ranking in worse if any(difference.other == name for difference in borderlines(view, ranking))
    ]
    n_judged, count_text = len(tested_rankings), f"{number_word(len(tested_rankings))} measures"
    all_measures = "both measures" if n_judged == 2 else f"all {count_text}"
    if not n_judged:
        text = "not judged beside the others"
    elif not tested:
        text = f"best value by {number_word(len(best_alone)) if best_alone else 'none'} of {count_text}"
        text = (
            f"best value by {all_measures}"
            if len(best_alone) == n_judged
            else text
            if best_alone or best_shared
            else "best value by no measure"
        )
        text += f", shared by {number_word(len(best_shared))}" if best_shared else ""
        text = ("best value" if best_alone else "not the best value") if n_judged == 1 and not best_shared else text
    elif n_judged == 1:
        text = (
            "best"
            if best_alone
            else "not distinguishable from the best"
            if best_shared
            else "significantly behind the best"
        )
        text = "behind the best, borderline by its p-values" if borderline else text
    elif len(worse) == n_judged:
        text = f"significantly behind the best by {all_measures}"
        if borderline:
            clear = n_judged - len(borderline)
            text = f"behind the best by {all_measures}, borderline by each"
            if clear:
                text = f"behind the best by {all_measures}: significantly by {number_word(clear)}, "
                text += f"borderline by {number_word(len(borderline))}"
    else:
        parts = [f"best by {number_word(len(best_alone))}"] if best_alone else []
        parts += [f"not distinguishable from the best by {number_word(len(best_shared))}"] if best_shared else []
        text = f"{' and '.join(parts)} of {count_text}"
        if n_judged in (len(best_alone), len(best_shared)):
            text = f"{'best' if best_alone else 'not distinguishable from the best'} by {all_measures}"
    borderline_best = [ranking for ranking in best_alone if borderlines(view, ranking)]
    if n_judged == 1:
        text += ", borderline by its p-values" * bool(borderline_best)
    elif len(worse) < n_judged:
        text += f", borderline by {number_word(len(borderline_best))}" if borderline_best else ""
        text += f", and behind it only borderline by {number_word(len(borderline))}" if borderline else ""
    rows = _rows([ranking.column for ranking in tested_rankings], view.contenders)
    return Finding(f"{text[0].upper()}{text[1:]}.", STANDS, rows)


def missing_findings(view: ResultView, name: str) -> Iterator[Finding]:
    """Yield the measures without a value of an embedding, by reason."""
    reasons: dict[str, list[Column]] = {}
    for column in view.main_columns if name not in view.failed else ():
        cell = column.cells.get(name)
        if cell is None or cell.missing:
            reasons.setdefault(missing_reason(view, column, name), []).append(column)
    for reason, columns in reasons.items():
        rows = tuple((c.measure, c.parameters, name) for c in columns)
        yield Finding(f"No value of {join_and([c.title_in_sentence for c in columns])}: {reason}.", MISSING, rows)


def missing_reason(view: ResultView, column: Column, name: str) -> str:
    """Return why a column has no value of an embedding: its reason, or the settings with which it has one."""
    cell, other = column.cells.get(name), view.column_with_value(column, name)
    if cell is not None:
        return cell.note
    if other is None:
        return "not asked for"
    return f"run {_settings_text(other, f': {other.format_value(other.values[name])}')}"


def other_settings(view: ResultView) -> Iterator[str]:
    """Yield values of a measure with other settings than its column of the table, which are not compared with it."""
    for main in view.main_columns:
        family = view.curve(main)
        for column in view.columns:
            if column.measure == main.measure and column != main and column not in family and column.values:
                values = join_and(
                    [f"{without_zero(column.format_value(value))} ({name})" for name, value in column.values.items()]
                )
                yield f"{main.title} {_settings_text(column)}: {values}; not compared with the column."


def _settings_text(column: Column, value: str = "") -> str:
    """Return the settings of a column that is not in the table."""
    return f"with other settings ({parameter_text(column.parameters)}{value})"


def grade_definitions(view: ResultView) -> list[tuple[str, str]]:
    """Return the definitions of the grades for the glossary: the limits of each measure."""
    titles_by_grades: dict[tuple[float, float], list[str]] = {}
    for column in view.by_goal:
        if column.ranks and any(
            not math.isnan(normalized_score(column, c.value, c.chance)) for c in column.cells.values()
        ):
            titles_by_grades.setdefault(column.grades, []).append(column.short_title)
    rules = [
        f"from {100 * holds:.0f} % on for the good sentence, and below {100 * fails:.0f} % for the poor one "
        f"({', '.join(titles)})"
        for (fails, holds), titles in titles_by_grades.items()
    ]
    definitions = []
    if rules:
        start = "Sentences on an embedding go by the way of a value from chance (0 %) to perfect (100 %): "
        mixed = " Of batches it is the way from the worst value to the chance level." * any(
            map(aims_at_chance, view.by_goal)
        )
        end = f". Between them nothing, or “mostly”, is said.{mixed}"
        definitions.append(("sentences", f"{start}{'; '.join(rules)}{end}"))
    definitions.append(("not told from chance", "The value is no better than chance, or its interval reaches chance."))
    if len(view.contenders) > 1:
        level = format_fixed(95.0, 0)
        best = f"In the {level} % best set alone: significantly better than every other embedding, over all of them."
        shared_text = "In the best set with others: none of the others is significantly better."
        shared_text += " Each measure is judged alone."
        borderline_text = (
            "Outside the best set by the one-sided test of its measure, and not significantly different from"
        )
        borderline_text += " those in it by the two-sided tests of all pairs and measures: see the differences."
        definitions += [
            ("best", best),
            ("not distinguishable from the best", shared_text),
            ("borderline", borderline_text),
        ]
    return definitions


def resample_noun(row: Mapping[str, Any], scheme: str = "free") -> str:
    """Return the noun for the resamples of the null distribution of a test."""
    if of_method(row["test"]):
        return "null data set"
    if row["variable"] == RESIDUAL:
        return "bootstrap resample"
    return "cyclic shift" if scheme == "cyclic" else "permutation"


def is_smallest(row: Mapping[str, Any]) -> bool:
    """Return whether p is the smallest possible: no statistic of the resamples reaches the observed one."""
    return bool(row["n_resamples"] and row["p_value"] * (row["n_resamples"] + 1) < 1.5)


def limit_text(row: Mapping[str, Any], scheme: str = "free") -> str:
    """Return that the p of a test is the smallest that its resamples can give, in words."""
    resamples_text = count_noun(int(row["n_resamples"]), resample_noun(row, scheme))
    return f"{p_text(float(row['p_value']))} is the smallest that {resamples_text} can give"


def smallest_p_text(view: ResultView, tests: Iterable[Mapping[str, Any]]) -> str:
    """Return the limit that the number of resamples sets to p, where a p is at it, in words; else an empty text."""
    return "; ".join(dict.fromkeys(limit_text(row, view.scheme(row)) for row in tests if is_smallest(row)))


NULL_DATA_NAMES = {"columns": "independent columns", "gaussian": "one Gaussian cloud"}


def noise_finding(null: str, p: float, alpha: float, kind: str = "") -> str:
    """Return the conclusion from the p of a noise test, after a name: never that an embedding is reliable."""
    if p > alpha:
        return f"is not distinguished from noise ({NULL_DATA_NAMES.get(null, null)}, {kind}{p_text(p)})"
    claims = {"columns": "shows that the columns are not independent", "gaussian": "shows more than one Gaussian cloud"}
    return f"{claims.get(null, f'shows more than {null}')} ({kind}{p_text(p)})"


def noise_text(row: Mapping[str, Any], results: Results, display_name: str | None = None) -> str:
    """Return the result of a noise test of an embedding, and for how many points, with an optional display name."""
    name, null, p = display_name or row["embedding"], row["variable"], float(row["p_value"])
    adjusted = float(row["p_adjusted"])
    limit = f"; {limit_text(row)}" if is_smallest(row) else ""
    p, kind = (adjusted, "adjusted ") if adjusted == adjusted and adjusted != p else (p, "")
    if p != p:
        return f"{name}: no noise test."
    if p > LEVEL:
        return f"{name} {noise_finding(null, p, LEVEL, kind)}{limit}."
    flags = results.reliability.get(row["embedding"], {}).get("like_noise")
    flags_of_scored = None if flags is None else flags[flags.notna()]
    points = ""
    if flags_of_scored is not None:
        count_text = (
            f"{int(flags_of_scored.sum()):,} of {len(flags_of_scored):,} points are not distinguished from noise"
        )
        points = (
            f"; {count_text}"
            if flags_of_scored.any()
            else f"; none of the {len(flags_of_scored):,} points is like noise"
        )
    return f"{name} {noise_finding(null, p, LEVEL, kind)}{points}{limit}."
