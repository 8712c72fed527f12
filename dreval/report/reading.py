"""A result as reports read it: one measure over all embeddings, and all of them together, without words."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from dreval.comparison.compare import comparable, compare_pairs, ranking
from dreval.errors import DrevalError
from dreval.glossary import DIRECTIONS, TARGETS
from dreval.inference.intervals import LEVEL
from dreval.inference.permutation import SCHEMES
from dreval.inference.ties import is_tie, order_by_mean_rank, scale_size, tied_ranks
from dreval.measures.core import GOALS
from dreval.records.comparison import Comparison
from dreval.records.frames import independence_rows, of_method, over_replicates
from dreval.records.results import Results
from dreval.registry import MEASURES
from dreval.report.format import decimals_for, fixed, half_width, in_words

# Names of persons that begin titles of measures: they keep their capital within a sentence.
PERSONS = (
    "Calinski",
    "Davies",
    "Jaccard",
    "Kendall",
    "Kolmogorov",
    "Kruskal",
    "Kullback",
    "Pearson",
    "Procrustes",
    "Sammon",
    "Shepard",
)
PERSONS += ("Smirnov", "Spearman", "Wasserstein")
# A range of chance levels is wide beyond this part of the scale of the measure, or of the largest of them.
WIDE = 0.1
DIFFERS = "differs"
BESIDE = 8  # embeddings that stand side by side; of more the first by their mean rank have panels and colors


@dataclass(frozen=True)
class Cell:
    """One value of one embedding; ``value`` is NaN where it is missing, and ``note`` then says why."""

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
        """Whether there are values over all orders of equal distances."""
        return not (math.isnan(self.worst) or math.isnan(self.best))

    def moved(self, value: float) -> Cell:
        """The same cell with another value, and its interval as far from it."""
        step = value - self.value
        return replace(self, value=value, low=self.low + step, high=self.high + step)


@dataclass(frozen=True)
class Column:
    """One measure at one set of parameters, with the cells of all embeddings."""

    measure: str
    parameters: str
    title: str
    symbol: str
    question: str
    direction: str
    bounds: tuple[float, float]
    cells: Mapping[str, Cell]
    goal: str = ""
    says: tuple[str, ...] = ()
    grades: tuple[float, float] = (0.5, 0.9)
    share: str = ""
    whole: bool = False
    reference: frozenset[str] = frozenset()  # embeddings that are the data, which are not compared
    drawn_chance: bool = False  # whether chance is a mean of random permutations, which has an error of its own

    @property
    def higher(self) -> bool:
        """Whether higher values are better."""
        return self.direction == "higher"

    @property
    def ranks(self) -> bool:
        """Whether one way is better; without that the measure describes, and nothing is best or last on it."""
        return self.direction in ("higher", "lower")

    @property
    def better_words(self) -> str:
        """Which way is better, in words."""
        return DIRECTIONS[self.direction]

    @cached_property
    def values(self) -> dict[str, float]:
        """Values that are there."""
        return {name: cell.value for name, cell in self.cells.items() if not cell.missing}

    @cached_property
    def compared(self) -> dict[str, float]:
        """The values without those of embeddings that are the data."""
        return {name: value for name, value in self.values.items() if name not in self.reference}

    @cached_property
    def places(self) -> int:
        """Places behind the point, the same for the whole column."""
        return 0 if self.whole else decimals_for(self.values.values(), self.bounds)

    def shown(self, value: float) -> str:
        """A value of this column as it is printed."""
        return fixed(value, self.places)

    def interval(self, name: str) -> str:
        """The interval of an embedding as it is printed; empty where there is none."""
        cell = self.cells[name]
        return half_width(cell.value, cell.low, cell.high, self.places) if cell.has_interval else ""

    def is_symmetric(self, name: str) -> bool:
        """Whether the interval of an embedding lies around its value, up to the last place; also without one."""
        cell = self.cells[name]
        lopsided = abs((cell.value - cell.low) - (cell.high - cell.value)) / 2
        return not cell.has_interval or lopsided < 10.0**-self.places

    def ends(self, name: str) -> str:
        """The interval of an embedding as its two ends; empty where there is none."""
        cell = self.cells[name]
        return f"[{self.shown(cell.low)}, {self.shown(cell.high)}]" if cell.has_interval else ""

    def ties(self, name: str) -> str:
        """Worst and best over all orders of equal distances; empty where they print the same."""
        cell = self.cells[name]
        worst, best = self.shown(cell.worst), self.shown(cell.best)
        return f"{worst} to {best}" if cell.has_ties and worst != best else ""

    def ties_matter(self, name: str) -> bool:
        """Whether the orders of equal distances leave more open than the interval does."""
        cell = self.cells[name]
        wide = abs(cell.best - cell.worst) > (cell.high - cell.low) / 2
        return bool(self.ties(name)) and (not cell.has_interval or wide)

    def better(self, a: float, b: float) -> bool:
        """Whether a is better than b."""
        return self.ranks and not self.is_tie(a, b) and (a > b if self.higher else a < b)

    @cached_property
    def size(self) -> float:
        """Size of the scale, beside which a difference of values near 0 may be rounding."""
        return scale_size(self.bounds, (cell.chance for cell in self.cells.values()))

    def is_tie(self, a: float, b: float) -> bool:
        """Return whether two values of this column are equal but for rounding."""
        return is_tie(a, b, self.size)

    @cached_property
    def ranks_of_values(self) -> dict[str, float]:
        """The ranks of the compared embeddings, 1 for the best; ties share their mean rank."""
        goodness = [value if self.higher else -value for value in self.compared.values()]
        return dict(zip(self.compared, map(float, tied_ranks(goodness, self.size)), strict=True))

    @cached_property
    def leaders(self) -> tuple[str, ...]:
        """Embeddings with the best value; none where fewer than two differ in print."""
        return self._extreme(best=True)

    @cached_property
    def last(self) -> tuple[str, ...]:
        """Embeddings with the worst value; none where fewer than two differ in print."""
        return self._extreme(best=False)

    def _extreme(self, best: bool) -> tuple[str, ...]:
        if not self.ranks or len(set(map(self.shown, self.compared.values()))) < 2:
            return ()
        top = max(self.compared.values()) if self.higher == best else min(self.compared.values())
        return tuple(name for name in self.compared if self.is_tie(self.compared[name], top))

    @property
    def has_some_intervals(self) -> bool:
        """Whether a value has an interval."""
        return any(cell.has_interval for cell in self.cells.values())

    @property
    def has_intervals(self) -> bool:
        """Whether all values have intervals."""
        return all(cell.has_interval for cell in self.cells.values() if not cell.missing)

    def intervals_overlap(self, name: str) -> bool:
        """Whether all have intervals, and that of an embedding overlaps another one."""
        if not self.has_intervals:
            return False
        cells = {other: cell for other, cell in self.cells.items() if not cell.missing}
        mine = cells[name]
        return any(mine.low <= c.high and c.low <= mine.high for other, c in cells.items() if other != name)

    def ties_overlap(self, name: str, ignored: Sequence[str] = ()) -> bool:
        """Whether another order of equal distances lets another embedding reach this one."""
        asked = {other: cell for other, cell in self.cells.items() if other == name or other not in ignored}
        spans = {other: _span(cell) for other, cell in asked.items() if not cell.missing}
        low, high = spans[name]
        tied = {other for other in spans if spans[other][0] < spans[other][1]}
        pairs = [span for other, span in spans.items() if other != name and (name in tied or other in tied)]
        return any(low <= span[1] and span[0] <= high for span in pairs)

    def shade(self, name: str) -> float:
        """0 for the worst to 1 for the best of the column; what differs little beside the whole scale looks alike."""
        if not self.ranks or len(self.compared) < 2 or name not in self.compared:
            return 0.0
        best, worst = (max, min) if self.higher else (min, max)
        top = best(self.compared.values())
        gap = abs(top - worst(self.compared.values()))
        chances = [c.chance for c in self.cells.values() if not math.isnan(c.chance)]
        perfect = self.bounds[1] if self.higher else self.bounds[0]
        scale = 0.2 * min(abs(perfect - c) for c in chances) if chances and math.isfinite(perfect) else 0.0
        span = max(gap, scale)
        return 1.0 - abs(top - self.values[name]) / span if span > 0 and math.isfinite(span) else 0.0

    def way(self, names: Iterable[str]) -> float:
        """How far it is from the mean chance level of some embeddings to a perfect value; NaN where it is not known."""
        perfect = self.bounds[1] if self.higher else self.bounds[0]
        chances = [self.cells[name].chance for name in names]
        way = abs(perfect - sum(chances) / len(chances))
        return way if math.isfinite(way) and way > 0 else math.nan

    @cached_property
    def chance(self) -> str:
        """Chance level in words: one, or the range over embeddings; empty where it has no meaning."""
        texts = [fixed(c, self._chance_places) for c in self.chances]
        return "" if not texts else texts[0] if texts[0] == texts[-1] else f"{texts[0]} to {texts[-1]}"

    @cached_property
    def short_chance(self) -> str:
        """Chance level in a table: a wide range over embeddings is only said to differ."""
        if " to " not in self.chance:
            return self.chance
        low, high = self.chances[0], self.chances[-1]
        span = self.bounds[1] - self.bounds[0]
        scale = span if math.isfinite(span) else max(abs(low), abs(high))
        return self.chance if high - low <= WIDE * scale else DIFFERS

    @cached_property
    def chances(self) -> list[float]:
        """Chance levels of all embeddings, ascending; without those of the data, where there are others."""
        cells = [self.cells[name] for name in self.compared] or self.cells.values()
        return sorted(c.chance for c in cells if not math.isnan(c.chance))

    @property
    def _chance_places(self) -> int:
        return min(self.places, 3) if self.chances and max(map(abs, self.chances)) >= 0.1 else self.places

    @property
    def named(self) -> str:
        """The title as it stands within a sentence."""
        return title_within(self.title)

    @property
    def called(self) -> str:
        """The symbol, or the title where there is none."""
        return self.symbol or self.named


def _span(cell: Cell) -> tuple[float, float]:
    """The smallest and the largest value over the orders of equal distances."""
    ends = (cell.value, cell.worst, cell.best) if cell.has_ties else (cell.value,)
    return min(ends), max(ends)


def title_within(title: str) -> str:
    """Return a title as it stands within a sentence: names of persons and abbreviations keep their capitals."""
    first = re.split(r"[\W\d_]", title, maxsplit=1)[0]
    lower = len(first) > 1 and first[1:].islower() and first not in PERSONS
    return title[0].lower() + title[1:] if lower else title


SCALE = "n_neighbors"


class Standing(NamedTuple):
    """Which embeddings are best by one measure.

    ``best`` is the best set of ``Results.ranking``, the best value first, and ``unjudged`` those that cannot be judged
    beside it. Where nothing is known to be in the set nothing was ``tested``: ``best`` are then the embeddings with
    the best value. It is empty where the measure compares nothing, and where all print the same without
    a test. ``p_values`` are those of ``Results.ranking``, where there are any. Embeddings that are the data are in none
    of them.
    """

    best: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()
    tested: bool = False
    p_values: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True)
class Reading:
    """A result, read: the embeddings in order, every column, and the ones that the first table shows."""

    names: tuple[str, ...]
    failed: Mapping[str, str]
    columns: tuple[Column, ...]
    tests: tuple[Mapping[str, Any], ...]
    recipe: Mapping[str, Any]
    rows: tuple[Mapping[str, Any], ...] = field(repr=False, default=())
    of_methods: tuple[Mapping[str, Any], ...] = field(repr=False, default=())
    results: Results | None = field(repr=False, default=None)
    collapsed: tuple[str, ...] = ()  # embeddings whose points all lie in one place
    equal: tuple[tuple[str, ...], ...] = ()  # embeddings that are the same map
    reference: tuple[str, ...] = ()  # embeddings that are the data
    chosen: tuple[str, ...] = ()  # embeddings that are asked for by name

    @cached_property
    def computed(self) -> tuple[str, ...]:
        """Embeddings that were computed."""
        return tuple(name for name in self.names if name not in self.failed)

    @property
    def unranked(self) -> tuple[str, ...]:
        """Embeddings that are best at nothing, whatever their values: those in one place and the data."""
        return (*self.collapsed, *self.reference)

    @cached_property
    def contenders(self) -> tuple[str, ...]:
        """The computed embeddings that are not the data."""
        return tuple(name for name in self.computed if name not in self.reference)

    @property
    def many(self) -> bool:
        """Whether there are more embeddings than stand side by side."""
        return len(self.names) > BESIDE

    @cached_property
    def ranked_by(self) -> tuple[Column, ...]:
        """The main measures that have a better end and several values: mean ranks are over these."""
        return tuple(column for column in self.main if column.ranks and len(column.compared) > 1)

    @property
    def mean_rank_words(self) -> str:
        """What the order by mean rank goes by, in words."""
        n, every = len(self.ranked_by), len(self.ranked_by) == len(self.main)
        some = "both" if n == 2 else f"all {in_words(n)}"
        over = f" over {some} measures" if every else f" over the {in_words(n)} measures that rank them"
        return f"embeddings by their mean rank{over}" if n > 1 else f"embeddings by {self.ranked_by[0].named}" * n

    @cached_property
    def ranked(self) -> tuple[str, ...]:
        """The computed embeddings by their mean rank over the main measures that rank them; the data come last."""
        columns = self.ranked_by
        ranks = {name: [column.ranks_of_values.get(name, math.nan) for column in columns] for name in self.computed}
        return tuple(order_by_mean_rank(ranks))

    @cached_property
    def featured(self) -> tuple[str, ...]:
        """The embeddings that have panels of their own: all, or of many the first by mean rank."""
        return self.ranked[:BESIDE] if self.many else self.computed

    @cached_property
    def named(self) -> tuple[str, ...]:
        """The embeddings with a color of their own: all, or of many those with panels and those asked for by name."""
        return named_embeddings(self.names, self.featured, self.chosen)

    @property
    def level(self) -> str:
        """The level of the intervals, as it is printed."""
        return f"{100 * self.recipe.get('conf_level', LEVEL):g} %"

    @cached_property
    def scales(self) -> tuple[int, ...]:
        """The numbers of neighbors of the evaluation, ascending; of an unknown one those of most measures."""
        ran = [k for column in self.columns if (k := scale_of(column)) is not None]
        given = self.recipe.get("n_neighbors")
        asked = {given} if isinstance(given, int) else set(given or ())
        known = sorted(asked & set(ran)) or sorted(k for k in set(ran) if ran.count(k) == max(map(ran.count, ran)))
        return tuple(known)

    @cached_property
    def k(self) -> int | None:
        """The number of neighbors of words and the first table: 15, or the middle one."""
        return None if not self.scales else 15 if 15 in self.scales else self.scales[len(self.scales) // 2]

    def curve(self, column: Column) -> list[Column]:
        """The columns that differ from this one in the number of neighbors only, by rising number."""
        family = [c for c in self.columns if c.measure == column.measure and scale_of(c) is not None]
        rest = without(column.parameters, SCALE)
        return sorted((c for c in family if without(c.parameters, SCALE) == rest), key=lambda c: scale_of(c) or 0)

    @cached_property
    def main(self) -> tuple[Column, ...]:
        """One column for each measure: at the scale k where it was run there, else at the scale nearest to it."""
        chosen: dict[str, Column] = {}
        for column in self.columns:
            k = scale_of(column)
            old = chosen.get(column.measure)
            if old is None or (k is not None and self._far(column) < self._far(old)):
                chosen[column.measure] = column
        return tuple(chosen.values())

    def _far(self, column: Column) -> float:
        k = scale_of(column)
        return math.inf if k is None or self.k is None else abs(math.log(k / self.k))

    def elsewhere(self, column: Column, name: str) -> Column | None:
        """Another column of the same measure that has a value of an embedding."""
        return next((one for one in self.columns if one.measure == column.measure and name in one.values), None)

    def find(self, measure: str) -> Column | None:
        """The main column of a measure, if it was run."""
        return next((column for column in self.main if column.measure == measure), None)

    @cached_property
    def by_goal(self) -> tuple[Column, ...]:
        """The main columns, those that serve one goal side by side."""
        order = [*GOALS, ""]
        return tuple(sorted(self.main, key=lambda column: order.index(column.goal)))

    def standing(self, column: Column) -> Standing:
        """Which embeddings are best by one column."""
        return self._standings[column.measure].get(column.parameters, Standing())

    @cached_property
    def _standings(self) -> Mapping[str, Mapping[str, Standing]]:
        """The best sets of all columns, by measure and parameters."""
        found: dict[str, dict[str, Standing]] = {}
        for column in self.columns:
            mine = found.setdefault(column.measure, {})
            if not column.ranks or len(column.compared) < 2:
                continue
            mine[column.parameters] = Standing(column.leaders)
        asked = [measure for measure, mine in found.items() if mine]
        if self.results is None or not asked:
            return found
        try:
            table = ranking(self.results, asked)
        except DrevalError:  # no intervals, or not what they were made of: nothing is tested
            return found
        for (measure, parameters), part in table.groupby(["measure", "parameters"], sort=False):
            part = part[~part["embedding"].isin(self.reference)]
            kept, p = part["in_best_set"], part.dropna(subset="p_adjusted").set_index("embedding")["p_adjusted"]
            best, unjudged = part.loc[kept.fillna(False), "embedding"], part.loc[kept.isna(), "embedding"]
            if len(best) and str(parameters) in found[str(measure)]:
                found[str(measure)][str(parameters)] = Standing(tuple(best), tuple(unjudged), True, p.to_dict())
        return found

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
        """The schemes of the tests whose permutations are restricted, which their notes say."""
        schemes = {f"permutation.{scheme}": scheme for scheme in SCHEMES}
        table = None if self.results is None else self.results.notes[["embedding", "test", "variable", "code"]]
        notes = [] if table is None else table.itertuples(index=False, name=None)
        return {(name, test, variable): schemes[code] for name, test, variable, code in notes if code in schemes}

    @cached_property
    def pair_p_values(self) -> Mapping[tuple[str, str, frozenset[str]], float]:
        """The p-value of each tested pair by measure, parameters and embeddings, adjusted where it was adjusted."""
        if self.comparison is None:
            return {}
        pairs = self.comparison.pairs
        pairs = pairs[pairs["p_value"].notna()]
        p = pairs["p_adjusted"].where(pairs["p_adjusted"].notna(), pairs["p_value"])
        rows = zip(pairs["measure"], pairs["parameters"], pairs["first"], pairs["second"], p, strict=True)
        return {(measure, words, frozenset(pair)): float(p) for measure, words, *pair, p in rows}

    @cached_property
    def curves(self) -> tuple[tuple[Column, ...], ...]:
        """The families of columns that were run at more than one number of neighbors."""
        families = {(c.measure, without(c.parameters, SCALE)): tuple(self.curve(c)) for c in self.main}
        return tuple(family for family in families.values() if len(family) > 1)


def targets_of(recipe: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """What the intervals of some rows are for, each once, in words."""
    kinds = recipe.get("intervals") or {}
    rows = [row for row in rows if row["target"] and row["conf_low"] == row["conf_low"]]
    found = [kinds.get(row["embedding"], "") if row["target"] == "replicates" else row["target"] for row in rows]
    known = [one if one in TARGETS else row["target"] for one, row in zip(found, rows, strict=True)]
    return [TARGETS.get(one, one) for one in dict.fromkeys(known)]


def named_embeddings(names: Sequence[str], first: Sequence[str], chosen: Sequence[str] = ()) -> tuple[str, ...]:
    """The embeddings with a color of their own, in the order of the colors: of few all.

    Of many they are the first of those in ``first``, and those chosen, which take the places of the last of them.

    Examples
    --------
    >>> named_embeddings("abcdefghij", "dcba", "j")
    ('d', 'c', 'b', 'a', 'j')
    """
    if len(names) <= BESIDE:
        return tuple(names)
    found = list(first[:BESIDE])
    for name in chosen if len(chosen) <= BESIDE else ():
        if name not in found and len(found) < BESIDE:
            found.append(name)
        elif name not in found:
            found[max(place for place, other in enumerate(found) if other not in chosen)] = name
    return tuple(found)


def parameter(parameters: str, name: str) -> str | None:
    """The value of one parameter in ``name=value, name=value``."""
    pairs = (part.strip().partition("=") for part in parameters.split(","))
    return next((value for key, _, value in pairs if key == name), None)


def without(parameters: str, name: str) -> str:
    """The parameters but one."""
    return ", ".join(p for part in parameters.split(",") if (p := part.strip()) and p.partition("=")[0] != name)


def parameter_words(parameters: str) -> str:
    """Parameters as they are printed."""
    return parameters.replace("n_neighbors=", "k = ").replace("n_folds=", "folds = ")


def scale_of(column: Column) -> int | None:
    """Number of neighbors of a column, None where the measure has none."""
    text = parameter(column.parameters, SCALE)
    return int(text) if text is not None and text.isdigit() else None


def read_results(results: Results) -> Reading:
    """Read a result: of replicates of an embedding the mean is read."""
    table = over_replicates(results.table)
    curves = {name for name in table["measure"].unique() if name in MEASURES and MEASURES.card(name).curve}
    kept = table[(table["test"] == "") & (table["measure"] != "") & ~table["measure"].isin(curves)]
    kept = kept.drop_duplicates(["embedding", "measure", "parameters"])
    columns: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in kept.to_dict("records"):
        columns.setdefault((row["measure"], row["parameters"]), []).append(row)
    return Reading(
        names=tuple(results.names),
        failed=results.failed,
        columns=tuple(make_column(*key, rows, results.reference) for key, rows in columns.items()),
        tests=tuple(independence_rows(table).to_dict("records")),
        of_methods=tuple(table[table["test"].map(of_method)].to_dict("records")),
        recipe=results.recipe,
        rows=tuple(kept.to_dict("records")),
        results=results,
        collapsed=collapsed(results),
        equal=same(results),
        reference=tuple(name for name in results.reference if name in results.embeddings),
    )


def collapsed(results: Results) -> tuple[str, ...]:
    """Embeddings whose points all lie in one place: they show nothing, and are best at nothing."""
    return tuple(name for name, Y in results.embeddings.items() if len(Y) > 1 and bool((Y == Y[:1]).all()))


def same(results: Results) -> tuple[tuple[str, ...], ...]:
    """Groups of embeddings that are the same map; of results that do not say, those with the same coordinates."""
    known = results.recipe.get("equal_maps")
    if known is not None:
        return tuple(tuple(names) for names in known)
    found: dict[tuple[Any, bytes], list[str]] = {}
    for name, Y in results.embeddings.items():
        found.setdefault((Y.shape, sha256(np.ascontiguousarray(Y)).digest()), []).append(name)
    return tuple(tuple(names) for names in found.values() if len(names) > 1)


def make_column(measure: str, parameters: str, rows: list[dict[str, Any]], reference: Iterable[str] = ()) -> Column:
    """One column of the rows of one measure; what no card says is read from the table."""
    card = MEASURES.card(measure) if measure in MEASURES else None
    said = [row for row in rows if row["direction"]]
    low, high = said[0]["lower"] if said else math.nan, said[0]["upper"] if said else math.nan
    bounds = card.bounds if card else (-math.inf if math.isnan(low) else low, math.inf if math.isnan(high) else high)
    direction = said[0]["direction"] if said else card.direction if card else "higher"
    return Column(
        measure=measure,
        parameters=parameters,
        title=card.title if card else measure,
        symbol=card.symbol if card else "",
        question=card.question if card else "",
        direction=direction if direction in DIRECTIONS else "higher",
        bounds=(float(bounds[0]), float(bounds[1])),
        cells={row["embedding"]: _cell(row) for row in rows},
        reference=frozenset(reference),
        drawn_chance=card is not None and card.chance is not None and not card.has_closed_chance,
        goal=card.goals[0] if card and card.goals and card.goals[0] in GOALS else "",
        **({key: getattr(card, key) for key in ("says", "grades", "share", "whole")} if card else {}),
    )


def _cell(row: Mapping[str, Any]) -> Cell:
    value = float(row["value"])
    if not math.isfinite(value):
        return Cell(math.nan, note=row["note"] or "not computed")
    keys = {"low": "conf_low", "high": "conf_high", "chance": "chance", "worst": "worst", "best": "best"}
    return Cell(value, note=row["note"], **{key: float(row[name]) for key, name in keys.items()})
