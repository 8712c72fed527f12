"""Whether who is best is told from the others: by paired tests where there are any, else by intervals and ties."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dreval.report._column import Column

__all__ = ["Decided"]

BY_TIES = "equal distances leave the order open"
BY_TESTS = "paired tests leave the order open"
BY_INTERVALS = "intervals overlap and no paired test was run"


@dataclass(frozen=True)
class Decided:
    """What paired tests found.

    ``clear`` holds for each embedding, by index, whether it is better than all others; a measure is missing where this
    is not known, and ``clear`` is None where nothing was tested. ``beaten`` counts the measures by which an embedding
    is better than the baseline, and those by which the two were tested.
    """

    clear: Mapping[str, Mapping[str, bool]] | None = None
    baseline: str = ""
    beaten: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def lead(self, column: Column, name: str) -> tuple[bool | None, str]:
        """Whether an embedding that is best is clearly so, None where nothing tells; and what speaks against it."""
        if column.ties_overlap(name):
            return False, BY_TIES
        if self.clear is not None:
            found = self.clear.get(name, {}).get(column.measure)
            return found, BY_TESTS if found is False else ""
        if column.intervals_overlap(name):
            return False, BY_INTERVALS
        return (True if column.has_intervals else None), ""
