"""One index over all embeddings: its values, and what can be said of them without words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from dreval.report._numbers import decimals_for, fixed, half_width

__all__ = ["Cell", "Column"]

PERSONS = ("Kendall", "Kruskal", "Pearson", "Procrustes", "Sammon", "Shepard", "Spearman")


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


@dataclass(frozen=True)
class Column:
    """One index at one set of parameters, with the cells of all embeddings."""

    index: str
    parameters: str
    title: str
    symbol: str
    question: str
    higher: bool
    bounds: tuple[float, float]
    cells: Mapping[str, Cell]

    @cached_property
    def values(self) -> dict[str, float]:
        """Values that are there."""
        return {name: cell.value for name, cell in self.cells.items() if not cell.missing}

    @cached_property
    def places(self) -> int:
        """Places behind the point, the same for the whole column."""
        return decimals_for(self.values.values(), self.bounds)

    def shown(self, value: float) -> str:
        """A value of this column as it is printed."""
        return fixed(value, self.places)

    def interval(self, name: str) -> str:
        """The interval of an embedding as it is printed; empty where there is none."""
        cell = self.cells[name]
        return half_width(cell.value, cell.low, cell.high, self.places) if cell.has_interval else ""

    def better(self, a: float, b: float) -> bool:
        """Whether a is better than b."""
        return a > b if self.higher else a < b

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
        if len(set(printed.values())) < 2:
            return ()
        top = max(self.values.values()) if self.higher == best else min(self.values.values())
        return tuple(name for name, text in printed.items() if text == self.shown(top))

    def apart(self, name: str) -> bool | None:
        """Whether the interval of an embedding overlaps that of no other one; None where one has no interval."""
        cells = {other: cell for other, cell in self.cells.items() if not cell.missing}
        if not all(cell.has_interval for cell in cells.values()):
            return None
        mine = cells[name]
        return all(mine.low > c.high or mine.high < c.low for other, c in cells.items() if other != name)

    def shade(self, name: str) -> float:
        """0 for the worst to 1 for the best of the column; what differs little beside the whole scale looks alike."""
        if len(self.values) < 2 or name not in self.values:
            return 0.0
        best, worst = (max, min) if self.higher else (min, max)
        top = best(self.values.values())
        gap = abs(top - worst(self.values.values()))
        chances = [c.chance for c in self.cells.values() if not math.isnan(c.chance)]
        perfect = self.bounds[1] if self.higher else self.bounds[0]
        scale = 0.2 * abs(perfect - chances[0]) if chances and math.isfinite(perfect) else 0.0
        span = max(gap, scale)
        return 1.0 - abs(top - self.values[name]) / span if span > 0 and math.isfinite(span) else 0.0

    @cached_property
    def chance(self) -> str:
        """Value by chance in words: one, or the range over embeddings; empty where it has no meaning."""
        texts = [fixed(c, self._chance_places) for c in self._chances]
        return "" if not texts else texts[0] if texts[0] == texts[-1] else f"{texts[0]} to {texts[-1]}"

    @cached_property
    def short_chance(self) -> str:
        """Value by chance in a table: the mean, marked as such, where embeddings have their own."""
        if " to " not in self.chance:
            return self.chance
        return f"≈ {fixed(sum(self._chances) / len(self._chances), self._chance_places)}"

    @cached_property
    def _chances(self) -> list[float]:
        return sorted(c.chance for c in self.cells.values() if not math.isnan(c.chance))

    @property
    def _chance_places(self) -> int:
        return min(self.places, 3) if self._chances and max(map(abs, self._chances)) >= 0.1 else self.places

    @property
    def named(self) -> str:
        """The title as it stands within a sentence."""
        lower = len(self.title) > 1 and self.title[1].islower() and self.title.split()[0] not in PERSONS
        return self.title[0].lower() + self.title[1:] if lower else self.title

    @property
    def called(self) -> str:
        """The symbol, or the title where there is none."""
        return self.symbol or self.named

    @property
    def direction(self) -> str:
        """Which way is better."""
        return "higher" if self.higher else "lower"
