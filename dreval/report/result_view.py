"""A result as reports use it: one column for each measure over all embeddings, and all columns together."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from hashlib import sha256
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from dreval._text import decimals_for, format_fixed, half_width, without_zero
from dreval.comparison.compare import comparable, compare_pairs
from dreval.comparison.ranking import ranking
from dreval.errors import DrevalError
from dreval.glossary import DIRECTIONS, TARGETS
from dreval.inference.intervals import LEVEL
from dreval.inference.ties import is_tie, scale_size, tied_ranks
from dreval.measures.core import GOALS
from dreval.records.comparison import Comparison
from dreval.records.frames import independence_rows, notes_of_table, of_method, parameters_of, parameters_text
from dreval.records.notes import Note
from dreval.records.results import Results, over_replicates
from dreval.registry import MEASURES
from dreval.report.format import count_noun, join_and
from dreval.significance.base import SCHEME_HYPOTHESES

# Names of persons that begin titles of measures: they keep their capital within a sentence.
PERSONS = (
    "Calinski",
    "Davies",
    "Jaccard",
    "Kendall",
    "Kolmogorov",
    "Kruskal",
    "Kullback",
    "Moran",
    "Pearson",
    "Procrustes",
    "Sammon",
    "Shepard",
)
PERSONS += ("Smirnov", "Spearman", "Wasserstein")
TARGET_PARAMETER = "target"
ANY_TARGET = "the target"  # in titles of measures, for which a column has the name of its target
# A range of chance levels is wide beyond this part of the scale of the measure, or of the largest of them.
WIDE_CHANCE_RANGE = 0.1
DIFFERS = "differs"
# Fields of a card that a column has too.
CARD_FACTS = ("term", "noun", "variant", "bar", "warning", "warns_first", "share", "whole")
MAX_METRIC_NAMES = 3  # embeddings that the entry of the metric names; further ones are counted
MAX_SIDE_BY_SIDE = 8  # embeddings; of more the first ones have panels and colors


CHANCE_TO_PERFECT = ("chance level", "perfect")  # the ends of the scale of quality
WORST_TO_MIXED = ("worst", "mixed at random")  # those of a measure of mixing, whose best value is its chance level
MIXING_SCALE = "Mixing of batches: from worst to mixed at random, the value under chance."


@dataclass(frozen=True)
class MeasuredValue:
    """One value of one embedding; ``value`` is NaN where it is missing, and ``note`` then gives the reason."""

    value: float
    low: float = math.nan
    high: float = math.nan
    chance: float = math.nan
    worst: float = math.nan
    best: float = math.nan
    note: str = ""

    @property
    def missing(self) -> bool:
        """Whether there is no value."""
        return math.isnan(self.value)

    @property
    def has_interval(self) -> bool:
        """Whether there is an interval."""
        return not (math.isnan(self.low) or math.isnan(self.high))

    @property
    def has_ties(self) -> bool:
        """Whether there are values over all orders of equal distances; of a missing value, bounds."""
        return not (math.isnan(self.worst) or math.isnan(self.best))

    def with_value(self, value: float) -> MeasuredValue:
        """Return the same value record with another value, and its interval shifted by the same difference."""
        step = value - self.value
        return replace(self, value=value, low=self.low + step, high=self.high + step)


@dataclass(frozen=True)
class Column:
    """One measure at one set of parameters, with the values of all embeddings."""

    measure: str
    parameters: str
    title: str
    symbol: str
    question: str
    direction: str
    bounds: tuple[float, float]
    cells: Mapping[str, MeasuredValue]
    goal: str = ""
    term: str = ""
    noun: str = ""
    variant: str = ""
    bar: bool = False
    warning: str = ""
    warns_first: bool = False
    share: str = ""
    whole: bool = False
    unranked: frozenset[str] = frozenset()  # embeddings that are not compared: the data, and those in one place
    chance_is_estimated: bool = False  # whether chance is a mean of random permutations, with a random error

    @cached_property
    def settings(self) -> dict[str, str]:
        """The parameters by name, as the table of the result has them."""
        return parameters_of(self.parameters)

    @property
    def target(self) -> str | None:
        """The number of the points that it predicts; None for other measures."""
        return self.settings.get(TARGET_PARAMETER)

    @property
    def setting_text(self) -> str:
        """The parameters as they are printed next to the title, which has the target."""
        return parameter_text({name: value for name, value in self.settings.items() if name != TARGET_PARAMETER})

    @property
    def higher(self) -> bool:
        """Whether higher values are better."""
        return self.direction == "higher"

    @property
    def ranks(self) -> bool:
        """Whether one direction is better; else the measure describes, and no embedding is best or worst by it."""
        return self.direction in ("higher", "lower")

    @property
    def direction_text(self) -> str:
        """The better direction, in words."""
        return DIRECTIONS[self.direction]

    @cached_property
    def values(self) -> dict[str, float]:
        """The values that are not missing."""
        return {name: cell.value for name, cell in self.cells.items() if not cell.missing}

    @cached_property
    def compared_values(self) -> dict[str, float]:
        """The values without those of embeddings that are not compared."""
        return {name: value for name, value in self.values.items() if name not in self.unranked}

    @cached_property
    def decimals(self) -> int:
        """Decimals, the same for the whole column."""
        return 0 if self.whole else decimals_for(self.values.values(), self.bounds)

    def format_value(self, value: float) -> str:
        """Return a value of this column as it is printed."""
        return format_fixed(value, self.decimals)

    def interval(self, name: str) -> str:
        """Return the interval of an embedding as it is printed; empty where there is none."""
        cell = self.cells[name]
        return half_width(cell.value, cell.low, cell.high, self.decimals) if cell.has_interval else ""

    def is_symmetric(self, name: str) -> bool:
        """Return whether the interval of an embedding is symmetric up to the last decimal; also without an interval."""
        cell = self.cells[name]
        lopsided = abs((cell.value - cell.low) - (cell.high - cell.value)) / 2
        return not cell.has_interval or lopsided < 10.0**-self.decimals

    def half_text(self, name: str) -> str:
        """Return ``±`` and half of the interval of an embedding; only half of no interval at all is 0."""
        cell, unit = self.cells[name], 10.0**-self.decimals
        half = (cell.high - cell.low) / 2
        is_visible = half >= unit / 2 or half == 0
        return f"±{'' if is_visible else '<'}{without_zero(format_fixed(half if is_visible else unit, self.decimals))}"

    def tie_range(self, name: str) -> str:
        """Return worst and best over all orders of ties; empty where they print the same."""
        cell = self.cells[name]
        worst, best = self.format_value(cell.worst), self.format_value(cell.best)
        return f"{worst} to {best}" if cell.has_ties and worst != best else ""

    def bounds_text(self, name: str) -> str:
        """Return the bounds of a missing value in brackets; empty where there are none."""
        cell = self.cells.get(name)
        if cell is None or not cell.missing or not cell.has_ties:
            return ""
        decimals = decimals_for((cell.worst, cell.best), self.bounds)
        low, high = (without_zero(format_fixed(end, decimals)) for end in sorted((cell.worst, cell.best)))
        return f"[{low}, {high}]"

    def ties_matter(self, name: str) -> bool:
        """Return whether the range over orders of ties is wider than the interval."""
        cell = self.cells[name]
        wide = abs(cell.best - cell.worst) > (cell.high - cell.low) / 2
        return bool(self.tie_range(name)) and (not cell.has_interval or wide)

    def better(self, a: float, b: float) -> bool:
        """Return whether a is better than b."""
        return self.ranks and not self.is_tie(a, b) and (a > b if self.higher else a < b)

    @cached_property
    def scale_size(self) -> float:
        """Size of the scale; relative to it a difference of values near 0 may be rounding."""
        return scale_size(self.bounds, (cell.chance for cell in self.cells.values()))

    def is_tie(self, a: float, b: float) -> bool:
        """Return whether two values of this column are equal but for rounding."""
        return is_tie(a, b, self.scale_size)

    @cached_property
    def ranks_of_values(self) -> dict[str, float]:
        """The ranks of the compared embeddings, 1 for the best; ties share their mean rank."""
        goodness = [value if self.higher else -value for value in self.compared_values.values()]
        return dict(zip(self.compared_values, map(float, tied_ranks(goodness, self.scale_size)), strict=True))

    @cached_property
    def leaders(self) -> tuple[str, ...]:
        """Embeddings with the best value; none where fewer than two differ in print."""
        return self._extreme(best=True)

    @cached_property
    def worst(self) -> tuple[str, ...]:
        """Embeddings with the worst value; none where fewer than two differ in print."""
        return self._extreme(best=False)

    def _extreme(self, best: bool) -> tuple[str, ...]:
        if not self.ranks or len(set(map(self.format_value, self.compared_values.values()))) < 2:
            return ()
        top = max(self.compared_values.values()) if self.higher == best else min(self.compared_values.values())
        return tuple(name for name in self.compared_values if self.is_tie(self.compared_values[name], top))

    @property
    def has_any_interval(self) -> bool:
        """Whether a value has an interval."""
        return any(cell.has_interval for cell in self.cells.values())

    @property
    def has_intervals(self) -> bool:
        """Whether all values have intervals."""
        return all(cell.has_interval for cell in self.cells.values() if not cell.missing)

    def ties_overlap(self, name: str, ignored: Sequence[str] = ()) -> bool:
        """Return whether another order of ties lets another embedding reach this one."""
        considered = {other: cell for other, cell in self.cells.items() if other == name or other not in ignored}
        spans = {other: _tie_range(cell) for other, cell in considered.items() if not cell.missing}
        low, high = spans[name]
        tied = {other for other in spans if spans[other][0] < spans[other][1]}
        pairs = [span for other, span in spans.items() if other != name and (name in tied or other in tied)]
        return any(low <= span[1] and span[0] <= high for span in pairs)

    def shade(self, name: str) -> float:
        """Return the shade from 0 for the worst to 1 for the best of the column; small differences look alike."""
        if not self.ranks or len(self.compared_values) < 2 or name not in self.compared_values:
            return 0.0
        best, worst = (max, min) if self.higher else (min, max)
        top = best(self.compared_values.values())
        gap = abs(top - worst(self.compared_values.values()))
        chances = [c.chance for c in self.cells.values() if not math.isnan(c.chance)]
        lengths = [abs(last - first) for first, last in map(self.scale_ends, chances)]
        scale = 0.2 * min(lengths) if chances and math.isfinite(max(lengths)) else 0.0
        span = max(gap, scale)
        return 1.0 - abs(top - self.values[name]) / span if span > 0 and math.isfinite(span) else 0.0

    def scale_ends(self, chance: float) -> tuple[float, float]:
        """Return the values at both ends of the scale of quality: chance level and perfect.

        If the chance level is the value of a good embedding, return the worst value and the chance level.
        """
        worst = self.bounds[0] if self.higher else self.bounds[1]
        return (worst, chance) if self.aims_at_chance else (chance, self.perfect)

    @property
    def scale_meanings(self) -> tuple[str, str]:
        """The ends of the scale of quality in words."""
        return WORST_TO_MIXED if self.aims_at_chance else CHANCE_TO_PERFECT

    def scale_length(self, names: Iterable[str]) -> float:
        """Return the length of the scale of quality at the mean chance level of some embeddings; NaN if unknown."""
        chances = [self.cells[name].chance for name in names]
        first, last = self.scale_ends(sum(chances) / len(chances))
        span = abs(last - first)
        return span if math.isfinite(span) and span > 0 else math.nan

    @cached_property
    def chance(self) -> str:
        """Chance level in words: one, or the range over embeddings; empty where it has no meaning."""
        texts = [format_fixed(c, self._chance_decimals) for c in self.chances]
        return "" if not texts else texts[0] if texts[0] == texts[-1] else f"{texts[0]} to {texts[-1]}"

    @cached_property
    def short_chance(self) -> str:
        """Chance level for a table: a wide range over embeddings is "differs"."""
        if " to " not in self.chance:
            return self.chance
        low, high = self.chances[0], self.chances[-1]
        span = self.bounds[1] - self.bounds[0]
        scale = span if math.isfinite(span) else max(abs(low), abs(high))
        return self.chance if high - low <= WIDE_CHANCE_RANGE * scale else DIFFERS

    @cached_property
    def chances(self) -> list[float]:
        """Chance levels of the compared embeddings, ascending; of all where none is compared."""
        cells = [self.cells[name] for name in self.compared_values] or self.cells.values()
        return sorted(c.chance for c in cells if not math.isnan(c.chance))

    @property
    def _chance_decimals(self) -> int:
        return min(self.decimals, 3) if self.chances and max(map(abs, self.chances)) >= 0.1 else self.decimals

    @property
    def title_in_sentence(self) -> str:
        """The title within a sentence."""
        return title_in_sentence(self.title)

    @property
    def topic(self) -> str:
        """The question that it answers, as reports name it; empty for a measure without a goal."""
        return GOALS[self.goal].title if self.goal else ""

    @property
    def noun_in_sentence(self) -> str:
        """The variant of its question, else the short title within a sentence."""
        return self.variant or title_in_sentence(self.noun or self.title)

    @property
    def preposition(self) -> str:
        """The word before the measure by which an embedding is best: "by" trustworthiness, "with" free scale."""
        return "with" if self.variant else "by"

    @property
    def by_text(self) -> str:
        """The measure by which an embedding is best: "by trustworthiness", "with free scale"."""
        return f"{self.preposition} {self.noun_in_sentence}"

    @property
    def aims_at_chance(self) -> bool:
        """Whether the chance level is the value of a good embedding."""
        return bool(self.goal) and GOALS[self.goal].at_chance

    @property
    def perfect(self) -> float:
        """The best possible value; infinite without a bound."""
        return self.bounds[1] if self.higher else self.bounds[0]

    @property
    def short_title(self) -> str:
        """The symbol, or the title where there is none."""
        return self.symbol or self.title_in_sentence


def _tie_range(cell: MeasuredValue) -> tuple[float, float]:
    """Return the smallest and the largest value over the orders of ties."""
    ends = (cell.value, cell.worst, cell.best) if cell.has_ties else (cell.value,)
    return min(ends), max(ends)


def title_in_sentence(title: str) -> str:
    """Return a title for use within a sentence: names of persons and abbreviations keep their capitals."""
    first_word = re.split(r"[\W\d_]", title, maxsplit=1)[0]
    lower = len(first_word) > 1 and first_word[1:].islower() and first_word not in PERSONS
    return title[0].lower() + title[1:] if lower else title


def measure_title(name: str) -> str:
    """Return a measure in words with its symbol, unless the title ends with it; a name without a card is unchanged."""
    card = MEASURES.card(name) if name in MEASURES else None
    if card is None or card.title.endswith(f" {card.symbol}"):
        return card.title if card else name
    return f"{card.title} ({card.symbol})"


def measure_phrase(name: str) -> str:
    """Return the title of a measure within a sentence; a name without a card is unchanged."""
    return title_in_sentence(MEASURES.card(name).title) if name in MEASURES else name


def measure_text(rows: Any) -> str:
    """Return the title of a measure with its parameters, and its direction where lower is better."""
    name, parameters = str(rows["measure"].iloc[0]), parameter_text(str(rows["parameters"].iloc[0]))
    direction = MEASURES.card(name).direction
    parts = [measure_phrase(name), parameters, "" if direction == "higher" else DIRECTIONS[direction]]
    return ", ".join(filter(None, parts))


NEIGHBORS_PARAMETER = "n_neighbors"
PARAMETER_NAMES = {NEIGHBORS_PARAMETER: "k = ", "n_splits": "splits = "}  # in print


class BestSet(NamedTuple):
    """The embeddings that are best by one measure.

    ``best`` is the best set of ``Results.ranking``, the best value first, and ``unjudged`` are the embeddings without a
    test. Without any test, ``tested`` is False and ``best`` are the embeddings with the best value. ``best`` is empty
    if the measure does not compare, or if all values print the same without a test. ``p_values`` are those of
    ``Results.ranking``, where there are any. Embeddings that are the data are in none of them.
    """

    best: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()
    tested: bool = False
    p_values: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True)
class ResultView:
    """A result as reports use it: the embeddings in order, every column, and those of the first table."""

    names: tuple[str, ...]
    failed: Mapping[str, str]
    columns: tuple[Column, ...]
    tests: tuple[Mapping[str, Any], ...]
    recipe: Mapping[str, Any]
    rows: tuple[Mapping[str, Any], ...] = field(repr=False, default=())
    method_tests: tuple[Mapping[str, Any], ...] = field(repr=False, default=())
    results: Results | None = field(repr=False, default=None)
    collapsed: tuple[str, ...] = ()  # embeddings whose points are all in one place
    same_maps: tuple[tuple[str, ...], ...] = ()  # embeddings that are the same map
    reference: tuple[str, ...] = ()  # embeddings that are the data
    requested: tuple[str, ...] = ()  # embeddings that the caller named

    @cached_property
    def computed(self) -> tuple[str, ...]:
        """Embeddings that were computed."""
        return tuple(name for name in self.names if name not in self.failed)

    @property
    def unranked(self) -> tuple[str, ...]:
        """Embeddings that are never best, whatever their values: those in one place and the data."""
        return (*self.collapsed, *self.reference)

    @cached_property
    def contenders(self) -> tuple[str, ...]:
        """The computed embeddings that are not the data."""
        return tuple(name for name in self.computed if name not in self.reference)

    @property
    def is_of_lists(self) -> bool:
        """Whether the data are lists of neighbors."""
        return self.recipe.get("metric") == "neighbors"

    @property
    def has_many(self) -> bool:
        """Whether there are more embeddings than fit side by side."""
        return len(self.names) > MAX_SIDE_BY_SIDE

    @cached_property
    def ranked(self) -> tuple[str, ...]:
        """The computed embeddings in the order of every report.

        They are ordered by the number of questions with a place in a best set, then of measures, then as they were
        passed. Embeddings in one place and the data come last.
        """
        places: dict[str, list[str]] = {name: [] for name in self.computed}
        for column in self.main_columns:
            for name in self.best_set(column).best:
                places[name].append(column.topic or column.measure)
        return tuple(
            sorted(
                self.computed,
                key=lambda name: (
                    name in self.reference,
                    name in self.collapsed,
                    -len({*places[name]}) * (name not in self.unranked),
                    -len(places[name]) * (name not in self.unranked),
                ),
            )
        )

    @cached_property
    def featured(self) -> tuple[str, ...]:
        """The embeddings with their own panels: all, or of many the first ones."""
        return self.ranked[:MAX_SIDE_BY_SIDE]

    @property
    def level(self) -> str:
        """The level of the intervals, as it is printed."""
        return f"{100 * self.recipe.get('conf_level', LEVEL):g} %"

    @cached_property
    def scales(self) -> tuple[int, ...]:
        """The numbers of neighbors of the evaluation, ascending; if unknown those of most measures."""
        run_scales = [k for column in self.columns if (k := neighbors_of(column)) is not None]
        setting = self.recipe.get("n_neighbors")
        requested = {setting} if isinstance(setting, int) else set(setting or ())
        scales = sorted(requested & set(run_scales)) or sorted(
            k for k in set(run_scales) if run_scales.count(k) == max(map(run_scales.count, run_scales))
        )
        return tuple(scales)

    @cached_property
    def k(self) -> int | None:
        """The number of neighbors of sentences and the first table: 15, or the middle one."""
        return None if not self.scales else 15 if 15 in self.scales else self.scales[len(self.scales) // 2]

    def curve(self, column: Column) -> list[Column]:
        """Return the columns that differ from this one in the number of neighbors only, by rising number."""
        family = [c for c in self.columns if c.measure == column.measure and neighbors_of(c) is not None]
        other_parameters = without_parameter(column.parameters, NEIGHBORS_PARAMETER)
        return sorted(
            (c for c in family if without_parameter(c.parameters, NEIGHBORS_PARAMETER) == other_parameters),
            key=lambda c: neighbors_of(c) or 0,
        )

    @cached_property
    def main_columns(self) -> tuple[Column, ...]:
        """One column for each measure and target: at the scale k where it was run there, else at the nearest scale."""
        chosen: dict[tuple[str, str | None], Column] = {}
        for column in self.columns:
            k = neighbors_of(column)
            old = chosen.get((column.measure, column.target))
            if old is None or (k is not None and self._far(column) < self._far(old)):
                chosen[column.measure, column.target] = column
        return tuple(chosen.values())

    def _far(self, column: Column) -> float:
        k = neighbors_of(column)
        return math.inf if k is None or self.k is None else abs(math.log(k / self.k))

    def column_with_value(self, column: Column, name: str) -> Column | None:
        """Return another column of the same measure that has a value of an embedding."""
        return next(
            (
                candidate
                for candidate in self.columns
                if candidate.measure == column.measure
                and candidate.target == column.target
                and name in candidate.values
            ),
            None,
        )

    def find_column(self, measure: str) -> Column | None:
        """Return the main column of a measure, if it was run."""
        return next((column for column in self.main_columns if column.measure == measure), None)

    @cached_property
    def by_goal(self) -> tuple[Column, ...]:
        """The main columns, those of one goal side by side."""
        order = [*GOALS, ""]
        return tuple(sorted(self.main_columns, key=lambda column: order.index(column.goal)))

    def best_set(self, column: Column) -> BestSet:
        """Return the embeddings that are best by one column."""
        return self._best_sets[column.measure].get(column.parameters, BestSet())

    @cached_property
    def _best_sets(self) -> Mapping[str, Mapping[str, BestSet]]:
        """The best sets of all columns, by measure and parameters."""
        best_sets: dict[str, dict[str, BestSet]] = {}
        for column in self.columns:
            by_parameters = best_sets.setdefault(column.measure, {})
            if not column.ranks or len(column.compared_values) < 2:
                continue
            by_parameters[column.parameters] = BestSet(column.leaders)
        ranked = [measure for measure, by_parameters in best_sets.items() if by_parameters]
        if self.results is None or not ranked:
            return best_sets
        try:
            table = ranking(self.results, ranked)
        except DrevalError:  # no intervals, or not what they were made of: nothing is tested
            return best_sets
        for (measure, parameters), part in table.groupby(["measure", "parameters"], sort=False):
            part = part[~part["embedding"].isin(self.unranked)]
            in_best_set, p = part["in_best_set"], part.dropna(subset="p_adjusted").set_index("embedding")["p_adjusted"]
            best, unjudged = part.loc[in_best_set.fillna(False), "embedding"], part.loc[in_best_set.isna(), "embedding"]
            if len(best) and str(parameters) in best_sets[str(measure)]:
                best_sets[str(measure)][str(parameters)] = BestSet(tuple(best), tuple(unjudged), True, p.to_dict())
        return best_sets

    @cached_property
    def comparison(self) -> Comparison | None:
        """The comparison of all pairs, as ``Results.compare`` has it; None where no pair can be tested."""
        if self.results is None or not comparable(self.results):
            return None
        try:
            return compare_pairs(self.results)
        except DrevalError:  # intervals of kinds that are not compared
            return None

    def scheme(self, row: Mapping[str, Any]) -> str:
        """Return which permutations of rows a test draws: "free", or one of the restricted schemes."""
        return self._schemes.get((row["embedding"], row["test"], row["variable"]), "free")

    @cached_property
    def _schemes(self) -> Mapping[tuple[str, str, str], str]:
        """The schemes of the tests whose permutations are restricted, from their notes; of two the later scheme."""
        schemes = {f"permutation.{scheme}": scheme for scheme in SCHEME_HYPOTHESES}
        table = None if self.results is None else self.results.notes[["embedding", "test", "variable", "code"]]
        notes = [] if table is None else list(table.itertuples(index=False, name=None))
        return {
            (name, test, variable): scheme
            for code, scheme in schemes.items()
            for name, test, variable, of_note in notes
            if of_note == code
        }

    @cached_property
    def pair_p_values(self) -> Mapping[tuple[str, str, frozenset[str]], float]:
        """The p-value of each tested pair by measure, parameters and embeddings, adjusted where it was adjusted."""
        if self.comparison is None:
            return {}
        pairs = self.comparison.pairs
        pairs = pairs[pairs["p_value"].notna()]
        p = pairs["p_adjusted"].where(pairs["p_adjusted"].notna(), pairs["p_value"])
        rows = zip(pairs["measure"], pairs["parameters"], pairs["first"], pairs["second"], p, strict=True)
        return {(measure, parameters, frozenset(pair)): float(p) for measure, parameters, *pair, p in rows}

    @cached_property
    def curves(self) -> tuple[tuple[Column, ...], ...]:
        """The families of columns that were run at more than one number of neighbors."""
        families = {
            (c.measure, without_parameter(c.parameters, NEIGHBORS_PARAMETER)): tuple(self.curve(c))
            for c in self.main_columns
        }
        return tuple(family for family in families.values() if len(family) > 1)


def interval_assumptions(unit: str, method: str) -> str:
    """Return what an interval takes as random, and what as fixed.

    Parameters
    ----------
    unit : what is independent, in the plural: "points", or what points belong to
    method : target of the interval, a key of ``glossary.TARGETS``

    Examples
    --------
    >>> interval_assumptions("points", "points")
    'independent points, coordinates treated as fixed'
    >>> interval_assumptions("donors", "seeds")
    'independent seeds, points treated as fixed'
    """
    if method == "anchors":
        return "anchors drawn at random, coordinates treated as fixed"
    if method in ("seeds", "replicates"):
        return f"independent {'seeds' if method == 'seeds' else 'runs of the method'}, points treated as fixed"
    if method == "subsamples":
        return f"independent {unit}, method re-run on halves of them"
    return f"independent {'classes' if method == 'classes' else unit}, coordinates treated as fixed"


def independent_unit(recipe: Mapping[str, Any]) -> str:
    """Return what the intervals and tests of a result take as independent, in the plural: points, or groups of them."""
    groups = recipe.get("groups")
    if not groups:
        return "points"
    return f"groups ({groups['name']})" if groups.get("name") else "groups"


MAX_STORED_NAMES = 4  # of coordinates that are named before they are counted


def assumptions_text(recipe: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]) -> str:
    """Return what the intervals of some rows assume, each kind once; empty without intervals."""
    unit, methods = independent_unit(recipe), _target_keys(recipe, rows)
    return "; ".join(dict.fromkeys(interval_assumptions(unit, method) for method in methods))


def stored_text(notes: Iterable[Note]) -> str:
    """Return which names mean coordinates stored in obsm, though bundled methods have them too; empty if none do."""
    keys = {note.scope: dict(note.values)["key"] for note in notes if note.code == "source.stored_too"}
    places = [f"{name} is obsm[{key!r}]" for name, key in keys.items()]
    n_further = len(places) - MAX_STORED_NAMES
    places = [*places[:MAX_STORED_NAMES], f"{n_further} more"] if n_further > 0 else places
    return f"Stored coordinates, no methods: {join_and(places)}" if places else ""


def target_text(target: str, unit: str = "points") -> str:
    """Return the target of an interval, and for a population what is independent and fixed."""
    is_population = target in ("points", "classes", "groups")
    return f"{TARGETS[target]} ({interval_assumptions(unit, target)})" if is_population else TARGETS[target]


def interval_targets(recipe: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the targets of the intervals of some rows, each once, in words."""
    unit = independent_unit(recipe)
    return [target_text(target, unit) if target in TARGETS else target for target in _target_keys(recipe, rows)]


def _target_keys(recipe: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the targets of the intervals of some rows, each once; of re-runs the kind of replicates."""
    kinds = recipe.get("intervals") or {}
    rows = [row for row in rows if row["target"] and row["conf_low"] == row["conf_low"]]
    targets = [kinds.get(row["embedding"], "") if row["target"] == "replicates" else row["target"] for row in rows]
    return [*dict.fromkeys(t if t in TARGETS else row["target"] for t, row in zip(targets, rows, strict=True))]


def is_metric_passed(source: Mapping[str, Any]) -> bool:
    """Return whether the metric of an evaluation reaches the method of an embedding, or there is no method."""
    return source.get("metric_passed") is not False


def data_text(recipe: Mapping[str, Any]) -> str:
    """Return the name of the data, with the matrix of an AnnData object that holds them, if it is not its ``X``."""
    matrix = "".join(f" ({name})" for name in (recipe.get("matrix") or {}).values())
    return f"{recipe.get('dataset') or ''}{matrix}"


def metric_text(recipe: Mapping[str, Any], *, short: bool = False) -> str:
    """Return the metric of an evaluation, and the embeddings whose methods did not get it, or (short) how many."""
    metric, sources = str(recipe.get("metric") or ""), recipe.get("sources") or {}
    if metric == "geodesic" and "graph_neighbors" in recipe:
        neighbors = recipe["graph_neighbors"]
        metric += " over the network" if neighbors is None else f" over the graph of {neighbors} neighbors"
    of_embeddings = recipe.get("embedding_metric")
    metric += f" (embeddings: {of_embeddings})" if of_embeddings else ""
    names = [name for name, source in sources.items() if not is_metric_passed(source)]
    if not names:
        return metric
    if short:
        return f"{metric} (not of {count_noun(len(names), 'method')})"
    remaining = [f"{len(names) - MAX_METRIC_NAMES} more"] if len(names) > MAX_METRIC_NAMES else []
    listed = join_and([*names[:MAX_METRIC_NAMES], *remaining])
    return f"{metric} (not passed to the method{'s' * (len(names) > 1)} of {listed})"


def evaluation_settings(recipe: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the metric and the number of neighbors of the compared values, which older files do not have."""
    ks = recipe.get("n_neighbors")
    return [
        ("Metric", metric_text(recipe) or "unknown"),
        ("Neighbors k", "unknown" if ks is None else ", ".join(map(str, ks)) or "none"),
    ]


def without_parameter(parameters: str, name: str) -> str:
    """Return the parameters except one."""
    return parameters_text({key: value for key, value in parameters_of(parameters).items() if key != name})


def parameter_text(parameters: str | Mapping[str, Any], *, full: bool = False) -> str:
    """Return parameters as they are printed: the number of neighbors, and those that are no defaults, or all of them.

    Examples
    --------
    >>> parameter_text("n_triplets=200"), parameter_text("n_neighbors=15, n_triplets=50")
    ('', 'k = 15, n_triplets=50')
    """
    settings, defaults = parameters_of(parameters) if isinstance(parameters, str) else parameters, _default_parameters()
    chosen = {name: value for name, value in settings.items() if full or (name, str(value)) not in defaults}
    return ", ".join(f"{PARAMETER_NAMES.get(name, f'{name}=')}{value}" for name, value in chosen.items())


@cache
def _default_parameters() -> frozenset[tuple[str, str]]:
    """Return the defaults of all measures, by name and value, except numbers of neighbors."""
    pairs = (pair for card in MEASURES.cards() for pair in card.parameters.items())
    return frozenset((name, str(value)) for name, value in pairs if name != NEIGHBORS_PARAMETER)


def neighbors_of(column: Column) -> int | None:
    """Return the number of neighbors of a column, None where the measure has none."""
    text = column.settings.get(NEIGHBORS_PARAMETER)
    return int(text) if text is not None and text.isdigit() else None


def read_results(results: Results) -> ResultView:
    """Return the view of a result; replicates of an embedding are replaced by their mean."""
    table = over_replicates(results.table)
    curves = {name for name in table["measure"].unique() if name in MEASURES and MEASURES.card(name).curve}
    measure_rows = table[(table["test"] == "") & (table["measure"] != "") & ~table["measure"].isin(curves)]
    measure_rows = measure_rows.drop_duplicates(["embedding", "measure", "parameters"])
    columns: dict[tuple[str, str], list[dict[str, Any]]] = {}
    collapsed = collapsed_embeddings(results)
    for row in measure_rows.to_dict("records"):
        columns.setdefault((row["measure"], row["parameters"]), []).append(row)
    unranked = (*results.reference, *collapsed)
    limited = notes_of_table(results.notes[results.notes["code"] == "lists.area"])
    lengths = {dict(note.values)["length"] for note in limited}
    return ResultView(
        names=tuple(results.names),
        failed=results.failed,
        columns=tuple(_up_to(make_column(*key, rows, unranked), lengths) for key, rows in columns.items()),
        tests=tuple(independence_rows(table).to_dict("records")),
        method_tests=tuple(table[table["test"].map(of_method)].to_dict("records")),
        recipe=results.recipe,
        rows=tuple(measure_rows.to_dict("records")),
        results=results,
        collapsed=collapsed,
        same_maps=same_maps(results),
        reference=tuple(name for name in results.reference if name in results.embeddings),
    )


def _up_to(column: Column, lengths: Collection[int]) -> Column:
    """Return the column; of an area that ends with the lists of neighbors, with its title, and without a warning."""
    card = MEASURES.card(column.measure) if column.measure in MEASURES else None
    if not lengths or card is None or not card.area_of:
        return column
    return replace(column, title=f"Overlap up to K = {min(lengths)}", warning="")


def collapsed_embeddings(results: Results) -> tuple[str, ...]:
    """Return embeddings whose points all are in one place: they show nothing, and are never best."""
    with_columns = ((name, Y) for name, Y in results.embeddings.items() if len(Y) > 1 and Y.shape[1])
    return tuple(name for name, Y in with_columns if bool((Y == Y[:1]).all()))


def same_maps(results: Results) -> tuple[tuple[str, ...], ...]:
    """Return groups of embeddings that are the same map; without a record of it, those with the same coordinates."""
    recorded = results.recipe.get("equal_maps")
    if recorded is not None:
        return tuple(tuple(names) for names in recorded)
    names_by_coordinates: dict[tuple[Any, bytes], list[str]] = {}
    for name, Y in results.embeddings.items():
        names_by_coordinates.setdefault((Y.shape, sha256(np.ascontiguousarray(Y)).digest()), []).append(name)
    return tuple(tuple(names) for names in names_by_coordinates.values() if len(names) > 1)


def make_column(measure: str, parameters: str, rows: list[dict[str, Any]], unranked: Collection[str] = ()) -> Column:
    """Return one column of the rows of one measure; without a card its properties are read from the rows."""
    card = MEASURES.card(measure) if measure in MEASURES else None
    with_direction = [row for row in rows if row["direction"]]
    low, high = (with_direction[0].get(end, math.nan) if with_direction else math.nan for end in ("lower", "upper"))
    bounds = card.bounds if card else (-math.inf if math.isnan(low) else low, math.inf if math.isnan(high) else high)
    compared = [row for row in with_direction if row["embedding"] not in unranked] or with_direction
    directions = [row["direction"] for row in compared] or [card.direction if card else "higher"]
    direction = "none" if "none" in directions else directions[0]
    target = parameters_of(parameters).get(TARGET_PARAMETER, ANY_TARGET)
    texts = {key: getattr(card, key) for key in ("term", "noun", "warning", "share")} if card else {}
    texts = {key: text.replace(ANY_TARGET, target) for key, text in texts.items()}
    return Column(
        measure=measure,
        parameters=parameters,
        title=card.title.replace(ANY_TARGET, target) if card else measure,
        symbol=card.symbol if card else "",
        question=card.question if card else "",
        direction=direction if direction in DIRECTIONS else "higher",
        bounds=(float(bounds[0]), float(bounds[1])),
        cells={row["embedding"]: _cell(row) for row in rows},
        unranked=frozenset(unranked),
        chance_is_estimated=card is not None and card.chance is not None and not card.has_closed_chance,
        goal=card.goals[0] if card and card.goals and card.goals[0] in GOALS else "",
        **({key: getattr(card, key) for key in CARD_FACTS} | texts if card else {}),
    )


def _cell(row: Mapping[str, Any]) -> MeasuredValue:
    value = float(row["value"])
    ends = {name: float(row.get(name, math.nan)) for name in ("worst", "best")}
    if not math.isfinite(value):
        return MeasuredValue(math.nan, note=row.get("note") or "not computed", **ends)
    keys = {"low": "conf_low", "high": "conf_high", "chance": "chance"}
    numbers = {key: float(row.get(name, math.nan)) for key, name in keys.items()}
    return MeasuredValue(value, note=row.get("note", ""), **numbers, **ends)
