"""Which embeddings are best by one measure, and how clear the differences are: the facts behind the sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from dreval.registry import MEASURES
from dreval.report.result_view import Column, MeasuredValue, ResultView

POOR = 0.5  # of the way from chance level to perfect: below it a value is closer to chance


def normalized_score(column: Column, value: float, chance: float) -> float:
    """Return the position of a value from chance level (0) to perfect (1); NaN without a chance level or a bound.

    If the chance level is the value of a good embedding, return the position from the worst value (0) to chance (1).
    """
    first, last = column.scale_ends(chance)
    span = last - first
    return (value - first) / span if math.isfinite(span) and not column.is_tie(last, first) else math.nan


def reaches_chance(column: Column, cell: MeasuredValue) -> bool:
    """Return whether the value is not better than the chance level, or its interval reaches chance."""
    if math.isnan(cell.chance):
        return False
    edge = (cell.low if column.higher else cell.high) if cell.has_interval else cell.value
    return not column.better(edge, cell.chance) or not column.better(cell.value, cell.chance)


def is_poor(column: Column, cell: MeasuredValue) -> bool:
    """Return whether a value is closer to chance than to perfect; not where this depends on how ties are broken.

    A measure whose best value no embedding can have, since it reads noisy data, has no poor values.
    """
    if column.measure in MEASURES and not MEASURES.card(column.measure).best_is_attainable:
        return False
    ends = (cell.value, cell.worst, cell.best) if cell.has_ties else (cell.value,)
    return all(normalized_score(column, end, cell.chance) < POOR for end in ends)


def is_at_chance(column: Column, cell: MeasuredValue) -> bool:
    """Return whether a value is not better than chance, however ties are broken, and chance is not good."""
    if column.aims_at_chance or column.is_tie(column.perfect, cell.chance):
        return False
    ends = (cell.value, cell.worst, cell.best) if cell.has_ties else (cell.value,)
    return all(reaches_chance(column, cell.with_value(end)) for end in ends)


def is_noise(column: Column) -> bool:
    """Return whether no embedding is better than chance by one measure."""
    return all(is_at_chance(column, column.cells[name]) for name in column.compared_values)


def leading_column(columns: Sequence[Column]) -> Column:
    """Return the measure, of several, whose values are quoted: the one that stands for its question before others."""
    return next((column for column in columns if column.bar), columns[0])


def question_columns(view: ResultView) -> list[Column]:
    """Return one measure of each question: that which stands for it, else the first with a better direction."""
    chosen = []
    for _, part in groupby(view.by_goal, key=lambda column: column.topic):
        columns = list(part)
        chosen.append(leading_column([column for column in columns if column.ranks and column.values] or columns))
    return chosen


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
    """Return the columns that rank the embeddings, except those that depend on ties."""
    rankings = (measure_ranking(view, column) for column in view.by_goal if not is_tied(view, column))
    return [ranking for ranking in rankings if ranking is not None]


def measure_ranking(view: ResultView, column: Column) -> MeasureRanking | None:
    """Return the ranking of the embeddings by one column; None where it compares none."""
    best, unjudged, tested, _ = view.best_set(column)
    if not best or len(column.compared_values) < 2:
        return None
    outside = tuple(name for name in column.compared_values if name not in best)
    return MeasureRanking(column, best, outside, tested, unjudged, _are_same_map(view, best))


def _are_same_map(view: ResultView, names: Sequence[str]) -> bool:
    """Return whether several embeddings are all the same map."""
    return len(names) > 1 and any({*names} <= {*group} for group in view.same_maps)


def is_tied(view: ResultView, column: Column) -> bool:
    """Return whether another order of ties may rank another embedding above the best one."""
    best = view.best_set(column).best
    single = len(best) == 1 or _are_same_map(view, best)
    if not single or len(column.compared_values) < 2:
        return False
    return any(column.ties_overlap(name, (*view.unranked, *best)) for name in best)


class Borderline(NamedTuple):
    """A difference that is significant by ``ranking`` and not by ``compare``, with the p-values of both."""

    column: Column
    best: str
    other: str
    p_ranking: float
    p_compare: float

    @property
    def rows(self) -> tuple[tuple[str, str, str], ...]:
        """The keys of the two rows that differ: measure, parameters, embedding."""
        return tuple((self.column.measure, self.column.parameters, name) for name in (self.best, self.other))


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
