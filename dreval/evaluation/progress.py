"""Follow a run step by step: a progress bar of its steps, and the seconds of each one."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable
from typing import Any, NamedTuple

from dreval.evaluation.plan import MAX_GROUPS, MeasureTask, Plan
from dreval.inference.cross_jackknife import THIRDS

# Names of the steps of a run, as the table of an estimate shows them.
METHOD = "run of the method"
PASS = "neighbors and ranks"
MEASURE = "measure"
TEST = "test"
GROUPED = "groups left out"
NESTED = "data without a group"
CROSSED = "thirds of the points"
HALVES = "halves of the points"
RUNS = "further runs"
NEW = "new points"

clock = time.perf_counter


class Step(NamedTuple):
    """One step of a run. A step of all embeddings has no ``embedding``; ``item`` is the measure or test.

    Examples
    --------
    >>> Step("measure", "umap", "trustworthiness").text
    'measure trustworthiness of umap'
    """

    name: str
    embedding: str = ""
    item: str = ""

    @property
    def text(self) -> str:
        """The step in words, for the progress bar."""
        words = f"{self.name} {self.item}".rstrip()
        return f"{words} of {self.embedding}" if self.embedding else words


Advance = Callable[[Step], Any]  # called with each step that begins; the one before is finished


class Progress:
    """The steps of a run: how many are finished, the current one, and the seconds of each.

    Without a bar only the seconds are kept.
    """

    def __init__(self, bar: Any = None) -> None:
        self.seconds: dict[Step, float] = {}
        self._bar, self._step, self._began = bar, Step(""), clock()

    def start(self, total: int) -> None:
        """Start the bar with the number of steps."""
        if self._bar is not None:
            self._bar.reset(total=total)

    def advance(self, step: Step) -> None:
        """Begin a step, and finish the one before."""
        self._finish()
        self._step, self._began = step, clock()
        if self._bar is not None:
            self._bar.set_description(step.text)

    def close(self) -> None:
        """Finish the last step; steps that were skipped, as of an embedding that failed, count as finished."""
        self._finish()
        if self._bar is not None:
            self._bar.update(max(self._bar.total - self._bar.n, 0))

    def _finish(self) -> None:
        """Add the seconds of the current step, and count it."""
        if self._step.name:
            self.seconds[self._step] = self.seconds.get(self._step, 0.0) + clock() - self._began
            if self._bar is not None:
                self._bar.update(1)
        self._step = Step("")


def count_steps(
    plan: Plan, names: Collection[str], n: int, resampled: Iterable[MeasureTask], *, new: bool = False
) -> int:
    """Return the number of steps of a run of these embeddings of n points; ``resampled`` measures have intervals.

    ``new`` says that there are new points, which are one more step.
    """
    intervals, of_points = plan.intervals, plan.intervals.names_of_kind("points")
    curves: int = sum(task.card.curve and task.card.without is not None for task in plan.measures)
    possible = [*resampled, *(task for task in plan.measures if task.card.curve)]
    grouped = any(task.interval_obstacle(n) is None and task.needs_groups for task in possible)
    strata = len({"labels" in task.card.needs for task in plan.measures if task.crosses})
    partitions: int = intervals.counts.get("partitions", 0) if n > MAX_GROUPS else 1
    halves: dict[str, int] = {kind: 2 * intervals.counts.get(kind, 0) for kind in ("subsampling", "subsamples")}
    nested = intervals.counts.get("groups", 0) if intervals.names_of_kind("groups") and possible else 0
    return (
        nested
        + len(names) * (1 + len(plan.measures) + len(plan.tests))
        + 1
        + new
        + len(of_points) * curves
        + (partitions if of_points and grouped else 0)
        + (THIRDS * strata * intervals.counts.get("crossed", 0) if of_points else 0)
        + len(intervals.names_of_kind("seeds")) * intervals.counts.get("seeds", 0)
        + bool(intervals.names_of_kind("subsampling")) * halves["subsampling"]
        + len(intervals.names_of_kind("subsamples")) * (halves["subsamples"] + 1)
    )
