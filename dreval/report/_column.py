"""One measure over all embeddings: its values, and what can be said of them without words."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from dreval.glossary import DIRECTIONS
from dreval.report._numbers import decimals_for, fixed, half_width

__all__ = ["DIFFERS", "Cell", "Column"]

# Names of persons that begin titles of measures: they keep their capital within a sentence.
PERSONS = ("Jaccard", "Kendall", "Kolmogorov", "Kruskal", "Kullback", "Pearson", "Procrustes", "Sammon", "Shepard")
PERSONS += ("Smirnov", "Spearman", "Wasserstein")
# A range of values by chance is wide beyond this part of the scale of the measure, or of the largest of them.
WIDE = 0.1
DIFFERS = "differs"


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
    subject: str = ""
    whole: bool = False

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

    def ends(self, name: str) -> str:
        """The interval of an embedding as its two ends; empty where there is none."""
        cell = self.cells[name]
        return f"[{self.shown(cell.low)}, {self.shown(cell.high)}]" if cell.has_interval else ""

    def ties(self, name: str) -> str:
        """Worst and best over all orders of equal distances; empty where they print the same."""
        cell = self.cells[name]
        worst, best = self.shown(cell.worst), self.shown(cell.best)
        return f"{worst} to {best}" if cell.has_ties and worst != best else ""

    def better(self, a: float, b: float) -> bool:
        """Whether a is better than b."""
        return self.ranks and (a > b if self.higher else a < b)

    @cached_property
    def leaders(self) -> tuple[str, ...]:
        """Embeddings whose value prints as the best one; none where fewer than two differ in print."""
        return self._extreme(best=True)

    @cached_property
    def last(self) -> tuple[str, ...]:
        """Embeddings whose value prints as the worst one; none where fewer than two differ in print."""
        return self._extreme(best=False)

    def _extreme(self, best: bool) -> tuple[str, ...]:
        printed = {name: self.shown(value) for name, value in self.values.items()}
        if not self.ranks or len(set(printed.values())) < 2:
            return ()
        top = max(self.values.values()) if self.higher == best else min(self.values.values())
        return tuple(name for name, text in printed.items() if text == self.shown(top))

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

    def ties_overlap(self, name: str) -> bool:
        """Whether another order of equal distances lets another embedding reach this one."""
        spans = {other: _span(cell) for other, cell in self.cells.items() if not cell.missing}
        low, high = spans[name]
        tied = {other for other in spans if spans[other][0] < spans[other][1]}
        pairs = [span for other, span in spans.items() if other != name and (name in tied or other in tied)]
        return any(low <= span[1] and span[0] <= high for span in pairs)

    def shade(self, name: str) -> float:
        """0 for the worst to 1 for the best of the column; what differs little beside the whole scale looks alike."""
        if not self.ranks or len(self.values) < 2 or name not in self.values:
            return 0.0
        best, worst = (max, min) if self.higher else (min, max)
        top = best(self.values.values())
        gap = abs(top - worst(self.values.values()))
        chances = [c.chance for c in self.cells.values() if not math.isnan(c.chance)]
        perfect = self.bounds[1] if self.higher else self.bounds[0]
        scale = 0.2 * min(abs(perfect - c) for c in chances) if chances and math.isfinite(perfect) else 0.0
        span = max(gap, scale)
        return 1.0 - abs(top - self.values[name]) / span if span > 0 and math.isfinite(span) else 0.0

    @cached_property
    def chance(self) -> str:
        """Value by chance in words: one, or the range over embeddings; empty where it has no meaning."""
        texts = [fixed(c, self._chance_places) for c in self.chances]
        return "" if not texts else texts[0] if texts[0] == texts[-1] else f"{texts[0]} to {texts[-1]}"

    @cached_property
    def short_chance(self) -> str:
        """Value by chance in a table: a wide range over embeddings is only said to differ."""
        if " to " not in self.chance:
            return self.chance
        low, high = self.chances[0], self.chances[-1]
        span = self.bounds[1] - self.bounds[0]
        scale = span if math.isfinite(span) else max(abs(low), abs(high))
        return self.chance if high - low <= WIDE * scale else DIFFERS

    @cached_property
    def chances(self) -> list[float]:
        """Values by chance of all embeddings, ascending."""
        return sorted(c.chance for c in self.cells.values() if not math.isnan(c.chance))

    @property
    def _chance_places(self) -> int:
        return min(self.places, 3) if self.chances and max(map(abs, self.chances)) >= 0.1 else self.places

    @property
    def named(self) -> str:
        """The title as it stands within a sentence."""
        first = re.split(r"[\W\d_]", self.title, maxsplit=1)[0]
        lower = len(first) > 1 and first[1:].islower() and first not in PERSONS
        return self.title[0].lower() + self.title[1:] if lower else self.title

    @property
    def called(self) -> str:
        """The symbol, or the title where there is none."""
        return self.symbol or self.named


def _span(cell: Cell) -> tuple[float, float]:
    """The smallest and the largest value over the orders of equal distances."""
    ends = (cell.value, cell.worst, cell.best) if cell.has_ties else (cell.value,)
    return min(ends), max(ends)
