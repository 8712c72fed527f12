"""Estimate time and memory of a run: the plan is timed on two small samples of the points, and extrapolated.

The seconds of a step are a + b w, where w, the work, is a power of the number of points: the exponent on the card of
the measure. Both samples together determine a and b.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dreval._check import FloatArray, IntArray
from dreval._parallel import n_threads
from dreval.evaluation.plan import MeasureTask, Plan, TestTask
from dreval.evaluation.progress import CROSSED, METHOD, NESTED, PASS, Step
from dreval.evaluation.rows import step_of
from dreval.evaluation.tests import MAX_MATRIX_POINTS, MAX_TEST_POINTS, test_step
from dreval.geometry.blocks import is_streamed
from dreval.geometry.pairs import count_pairs
from dreval.inputs.data import Data
from dreval.inputs.features import rows_of
from dreval.inputs.stored import LazyTable
from dreval.inputs.variables import LabelVector
from dreval.records.estimates import CostEstimate
from dreval.registry import TESTS
from dreval.significance.base import is_pooled

MIB = 1 / 2**20  # mebibytes in a byte
MIN_SAMPLE = 150  # points of the first sample; the second one has twice as many
MAX_SAMPLE = 500  # points of the first sample
SAMPLED_SHARE = 8  # the first sample has one of so many points
POINTS_PER_NEIGHBOR = 4  # of the first sample, for the largest number of neighbors
MIN_GROWTH = 0.5  # of the seconds at the second sample that grow with the work, at least
PASS_EXPONENT = 2.0  # of the pass over all pairs of points
RESAMPLED_EXPONENT = 1.25  # of steps that compute measures again, of which most are linear
FACTOR_ENTRIES = 1200.0  # work of a test with low-rank factors for each point
MATRIX_EXPONENT = 2.5  # of tests of n x n matrices, which leave the cache as they grow


def sample_sizes(n: int, n_neighbors: int) -> tuple[int, int]:
    """Return the numbers of points of both samples; the second one may be all points."""
    small = min(max(n // SAMPLED_SHARE, MIN_SAMPLE), MAX_SAMPLE)
    small = max(small, POINTS_PER_NEIGHBOR * n_neighbors)
    return (small, 2 * small) if 2 * small < n else (min(max(n // 2, n_neighbors + 2), n), n)


class Sample(NamedTuple):
    """Some of the points, their coordinates, and the plan of a run on them; ``anchors`` is None for all points."""

    data: Data
    embedded: dict[str, FloatArray]
    plan: Plan
    anchors: int | None

    @property
    def size(self) -> tuple[int, int]:
        """Number of points, and number of rows."""
        return self.data.n, self.anchors or self.data.n

    @classmethod
    def of(cls, data: Data, embedded: Mapping[str, Any], plan: Plan, m: int, size: int) -> Sample:
        """Return a sample of about ``size`` points, with at most half of them as anchors if m < n."""
        if isinstance(data.table, LazyTable):  # the first rows are read at once
            places = np.arange(size)
        else:
            places = np.unique(np.linspace(0, data.n - 1, size).astype(np.int64))
        part = _part_of(data, places)
        coordinates = {name: np.array(rows_of(Y, places), np.float64) for name, Y in embedded.items()}
        return cls(part, coordinates, _plan_of(plan, part, places, data.n), min(m, size // 2) if m < data.n else None)


def _part_of(data: Data, places: IntArray) -> Data:
    """Return some of the points, in memory, with their variables."""

    def labels(vector: LabelVector | None) -> LabelVector | None:
        return None if vector is None else replace(vector, codes=vector.codes[places])

    is_lazy = isinstance(data.table, LazyTable) and data.geodesics is None
    part = replace(data, table=data.table[: len(places)]) if is_lazy else data.at(places)
    return replace(
        part,
        labels=labels(data.labels),
        batch=labels(data.batch),
        groups=labels(data.groups),
        latent=None if data.latent is None else data.latent[places],
        covariates={name: values[places] for name, values in data.covariates.items()},
        target={name: values[places] for name, values in data.target.items()},
        obsm={},
        ids=None,
        reserve=None,
        notes=(),
    )


def _plan_of(plan: Plan, part: Data, places: IntArray, n: int) -> Plan:
    """Return the plan for some of the points, without what re-runs a method."""

    def selected(value: Any) -> Any:
        return value[places] if isinstance(value, np.ndarray) and len(value) == n else value

    tests = [
        replace(
            task,
            variable=part if isinstance(task.variable, Data) else selected(task.variable),
            known_rows=selected(task.known_rows),
            options={name: selected(value) for name, value in task.options.items()},
        )
        for task in plan.tests
        if task.kind != "method"
    ]
    kinds = {name: kind for name, kind in plan.intervals.kinds.items() if kind not in ("seeds", "subsamples")}
    measures = [task for task in plan.measures if "method" not in task.card.needs]
    return Plan(measures, tests, replace(plan.intervals, kinds=kinds))


def works_of(plan: Plan, names: Sequence[str]) -> dict[Step, Callable[[int, int], float]]:
    """Return the work of the step of each measure and test, as a function of the numbers of points and rows."""
    works: dict[Step, Callable[[int, int], float]] = {}
    for name in names:
        works |= {step_of(name, task): _work_of_measure(task) for task in plan.measures}
        works |= {test_step(name, task): _work_of_test(task) for task in plan.tests}
    return works


def _work_of_measure(task: MeasureTask) -> Callable[[int, int], float]:
    """Return the work of a measure: a power of the number of points, or of the number whose pairs it uses."""
    card, power = task.card, task.card.exponent - 1.0
    if "pairs" in card.needs and card.level == "pair":
        return lambda n, m: math.sqrt(2 * count_pairs(n, m)) ** card.exponent
    if "full_ranks" in card.needs:  # those of anchors among many points are sampled
        return lambda n, m: float(m if is_streamed(n, m) else m * n**power)
    return lambda n, m: (n if card.level == "global" else m) * n**power


def _work_of_test(task: TestTask) -> Callable[[int, int], float]:
    """Return the work of a test: of its columns, or of matrices of at most some thousand points.

    The kernels of more points have factors where the test can use them; those of pooled bandwidths have none.
    """
    if TESTS.card(task.name).memory == "columns":
        return lambda n, _: float(min(n, MAX_TEST_POINTS))
    has_factors = TESTS.card(task.name).memory == "factors" and not is_pooled(task.options.get("bandwidth"))

    def work(n: int, _: int) -> float:
        if n > MAX_MATRIX_POINTS and has_factors:
            return FACTOR_ENTRIES * min(n, MAX_TEST_POINTS)
        return float(min(n, MAX_MATRIX_POINTS) ** MATRIX_EXPONENT)

    return work


def _work_of_step(step: Step) -> Callable[[int, int], float]:
    """Return the work of a step that belongs to no measure or test."""
    exponent = PASS_EXPONENT if step.name in (PASS, CROSSED, NESTED) else RESAMPLED_EXPONENT
    return lambda n, m: m * n ** (exponent - 1.0)


def extrapolated(seconds: tuple[float, float], works: tuple[float, float], work: float) -> float:
    """Return a + b times the work from the seconds at two smaller works.

    At least half of the seconds grow with the work, and a is at least 0.

    Examples
    --------
    >>> extrapolated((2.0, 5.0), (1.0, 4.0), 100.0)
    101.0
    """
    most = seconds[1] / works[1]
    slope = (seconds[1] - seconds[0]) / (works[1] - works[0]) if works[1] > works[0] else 0.0
    slope = min(max(slope, MIN_GROWTH * most), most)  # times of short steps are imprecise
    return seconds[1] + slope * (work - works[1])


def mebibytes_of(data: Data, m: int, plan: Plan, embeddings: int) -> float:
    """Return the MiB of the largest arrays of a run, in addition to data and embeddings."""
    n, k = data.n, max((task.k for task in plan.measures), default=1)
    columns = 2.0 if data.p is None else float(data.p)
    lists = 4.0 * m * (k + 2) * (1 + 3 * embeddings)
    points = 0.0 if isinstance(data.table, LazyTable) else 12.0 * n * columns
    pairs = 24.0 * count_pairs(n, m) * any(task.card.level == "pair" for task in plan.measures)
    matrices = 24.0 * min(n, MAX_MATRIX_POINTS) ** 2 * bool(plan.tests)
    return (lists + max(points, pairs, matrices)) * MIB


def estimate(
    data: Data,
    m: int,
    plan: Plan,
    missing: Sequence[str],
    names: Sequence[str],
    timed: Sequence[tuple[Sample, Mapping[Step, float]]],
    n_jobs: int | None,
) -> CostEstimate:
    """Return the record of all steps from the seconds of two samples; ``missing`` embeddings were not run.

    The seconds of steps that re-run a method are NaN.
    """
    works = works_of(plan, names)
    sizes, seconds = [sample.size for sample, _ in timed], [seconds for _, seconds in timed]
    rows = [(METHOD, name, "", math.nan) for name in missing]
    for step in dict.fromkeys([*(seconds[-1] if timed else ()), *works]):
        total = math.nan
        if timed and step in seconds[-1] and step.name != METHOD:
            work = works.get(step) or _work_of_step(step)
            both = seconds[0].get(step, seconds[1][step]), seconds[1][step]
            total = extrapolated(both, (work(*sizes[0]), work(*sizes[1])), work(data.n, m))
        if step.name != METHOD:
            rows.append((*step, total))
    table = pd.DataFrame(rows, columns=["step", "embedding", "item", "seconds"])
    memory = mebibytes_of(data, m, plan, len(names))
    return CostEstimate(table, memory, n=data.n, n_threads=n_threads(n_jobs), not_included=tuple(missing))
