"""Compute curves over the number of neighbors K: their points, intervals at each K, and bands for all K together."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray, IntArray
from dreval._random import stream
from dreval.evaluation.plan import MeasureTask
from dreval.geometry.blocks import View
from dreval.geometry.ranks import curve_numbers
from dreval.inference.bands import Band, anchor_band, covered_by_anchors, max_t_band
from dreval.inference.intervals import (
    FREE,
    Interval,
    anchor_interval,
    beyond_rounding,
    bounded_interval,
    jackknife_covariance,
    jackknife_variance,
    student_interval,
)
from dreval.measures.core import chance_curve, curve_values
from dreval.registry import MEASURES

MAX_PAIRED_EMBEDDINGS = 8  # with more embeddings no pairs of curves are compared


@dataclass(frozen=True)
class Spread:
    """Values from which the band of a curve is computed, at some numbers K.

    ``numbers`` are the contributions of the anchors (m, G), or the curves without each point (1, n, G), or without each
    group of several partitions (P, g, G). ``n`` is the number of points, ``freedom`` the degrees of freedom if they are
    not those of the groups.
    """

    ks: IntArray
    numbers: FloatArray
    n: int
    freedom: float | None = None

    def band(self, values: FloatArray, bounds: tuple[float, float], level: float, rng: np.random.Generator) -> Band:
        """Return the simultaneous band of the curve, or of a difference of two."""
        if self.numbers.ndim == 2:
            return anchor_band(self.numbers, self.ks, self.n, rng, bounds, level)
        covariance = np.mean([jackknife_covariance(partition) for partition in self.numbers], axis=0)
        freedom = self.numbers.shape[1] - 1 if self.freedom is None else self.freedom
        return max_t_band(values, covariance, freedom, rng, bounds, level)

    def minus(self, other: Spread) -> Spread:
        """Return the spread of the difference of two curves, of the same points, groups or anchors."""
        return Spread(self.ks, self.numbers - other.numbers, self.n, self.freedom)


@dataclass(frozen=True)
class CurvePoint:
    """The value of a curve at one K, its chance level, its interval at this K alone, and the ends of its band."""

    K: int
    value: float
    chance: float
    conf_low: float = np.nan
    conf_high: float = np.nan
    band_low: float = np.nan
    band_high: float = np.nan


Points = tuple[CurvePoint, ...]


@dataclass(frozen=True)
class Curve:
    """A measure of one embedding at many numbers of neighbors, and the spread behind its band if it has one."""

    embedding: str
    measure: str
    points: Points
    spread: Spread | None = None

    @property
    def values(self) -> dict[int, float]:
        """The value at each K."""
        return {point.K: point.value for point in self.points}

    def with_band(self, bounds: tuple[float, float], level: float, rng: np.random.Generator) -> Curve:
        """Return the curve with the ends of the band that covers all of it."""
        spread = self.spread
        if spread is None:
            return self
        values = np.array([self.values.get(int(k), np.nan) for k in spread.ks])
        band = spread.band(values, FREE, level, rng)
        middle = spread.numbers.mean(axis=0) if spread.numbers.ndim == 2 else values
        ends = ("band_low", "band_high")
        return replace(
            self, points=_with_ends(self.points, spread.ks, ends, middle - band.low, band.high - middle, bounds)
        )

    def cells(self) -> list[dict[str, Any]]:
        """Return the points as rows of the table of curves."""
        return [{"embedding": self.embedding, "measure": self.measure, **vars(point)} for point in self.points]


def curve_of(name: str, view: View, task: MeasureTask, ci: str | None, root: int, level: float) -> Curve:
    """Return the curve of a measure of one embedding, with intervals if ``ci`` is a kind that needs no second pass.

    The points are at about 60 numbers of neighbors, evenly spaced on a log scale, or at all of them (``all_k``).
    """
    band_ks, bounds = band_numbers(view), task.card.bounds
    spread = None
    if ci == "points" and task.card.without is not None and len(band_ks):
        spread = Spread(band_ks, np.asarray(task.card.without(view, band_ks))[None], view.n)
    elif ci == "anchors" and task.card.by_row is not None and len(view.rows) < view.n:
        anchor_ks = anchor_numbers(view)
        spread = Spread(anchor_ks, task.card.by_row(view, anchor_ks), view.n)
    values, _ = curve_values(task.function, view)
    chance = chance_curve(task.function, view, root)
    spaced, places = curve_numbers(view.n), np.arange(len(values))
    ks = spaced[places] if view.has_sample else places + 1
    if not (task.all_k or view.has_sample):
        places = np.r_[spaced[spaced < len(values)], len(values)] - 1
    points = tuple(CurvePoint(int(ks[at]), float(values[at]), float(chance[at])) for at in places)
    if spread is None:
        return Curve(name, task.name, points)
    if spread.numbers.ndim == 3:
        se = np.sqrt(jackknife_variance(spread.numbers[0]))
        points = with_intervals(points, spread.ks, se, view.n - 1, bounds, level)
    else:
        points = _with_anchor_intervals(points, spread, bounds, FREE if view.streamed else bounds, view.seed, level)
    rng = stream(root, "band", name, task.name)
    return Curve(name, task.name, points, spread).with_band(bounds, level, rng)


def band_numbers(view: View) -> npt.NDArray[np.int64]:
    """Return the K at which a curve has an interval, at most n / 2: beyond, leaving points out changes the scale.

    From lists of neighbors they are below the length of the shortest one.
    """
    n, ks = view.n, curve_numbers(view.n)
    return ks[ks <= min(n // 2, n - 3, (view.list_length or n) - 1)]


def anchor_numbers(view: View) -> npt.NDArray[np.int64]:
    """Return the K at which the curves of all anchors have a value."""
    ks = curve_numbers(view.n)
    return ks[ks <= (view.list_length or view.n - 2)]


def with_intervals(
    points: Points, ks: IntArray, se: FloatArray, freedom: float, bounds: tuple[float, float], level: float
) -> Points:
    """Return the points with an interval at each K up to the largest of ``ks``; none where the error is 0.

    Between the ``ks`` the standard error is interpolated on the scale of log K.
    """

    def with_interval(point: CurvePoint) -> CurvePoint:
        if not ks[0] <= point.K <= ks[-1]:
            return point
        error = beyond_rounding(float(np.interp(np.log(point.K), np.log(ks), se)), point.value, bounds=bounds)
        if not error > 0:
            return point
        low, high = student_interval(point.value, error, freedom, bounds, level)
        return replace(point, conf_low=low, conf_high=high)

    return tuple(map(with_interval, points))


def with_bands_of_groups(
    curves: Sequence[Curve],
    lines: Mapping[str, FloatArray],
    n: int,
    level: float,
    seed: int,
    freedom: float | None = None,
) -> tuple[Curve, ...]:
    """Return the curves with pointwise intervals and bands, from their lines (P, g, K) without each group by measure.

    They end where the lines do, at half of the points that remain without the largest group. ``freedom`` are the
    degrees of freedom if they are not g - 1.
    """

    def with_band(curve: Curve) -> Curve:
        numbers = lines.get(curve.measure)
        if numbers is None or not numbers.shape[2]:
            return curve
        groups, top = numbers.shape[1:]
        bounds = MEASURES.card(curve.measure).bounds
        se = np.sqrt(jackknife_variance(numbers.swapaxes(0, 1)).mean(axis=0))
        degrees = groups - 1 if freedom is None else freedom
        points = with_intervals(curve.points, np.arange(1, top + 1), se, degrees, bounds, level)
        ks = curve_numbers(n)
        ks = ks[ks <= top]
        spread = Spread(ks, numbers[:, :, ks - 1], n, freedom)
        rng = stream(seed, "band", curve.embedding, curve.measure)
        return replace(curve, points=points, spread=spread).with_band(bounds, level, rng)

    return tuple(map(with_band, curves))


def _with_anchor_intervals(
    points: Points,
    spread: Spread,
    bounds: tuple[float, float],
    limits: tuple[float, float],
    seed: int,
    level: float,
) -> Points:
    """Return the points with an interval at each K for all points, from the contributions of the anchors.

    It is Student's interval where the band has ends, so that it is never wider than the band. Elsewhere it is the
    interval for bounded numbers, which also holds where few anchors differ.
    """
    below, above = np.full((2, len(spread.ks)), np.nan)
    has_band = covered_by_anchors(spread.numbers, spread.ks, spread.n)
    for at, contributions in enumerate(np.ascontiguousarray(spread.numbers.T)):
        if has_band[at]:
            interval: Interval | None = anchor_interval(contributions, spread.n, bounds, level=level)
        else:
            interval = bounded_interval(contributions, spread.n, bounds, limits, bounds[0], seed, level)
        if interval is not None:
            mean = float(contributions.mean())
            below[at], above[at] = mean - interval.low, interval.high - mean
    return _with_ends(points, spread.ks, ("conf_low", "conf_high"), below, above, bounds)


def _with_ends(
    points: Points,
    ks: IntArray,
    names: tuple[str, str],
    below: FloatArray,
    above: FloatArray,
    bounds: tuple[float, float],
) -> Points:
    """Return the points with two ends from distances below and above, interpolated between ``ks`` on a log scale."""
    logs, (low, high) = np.log(ks), names

    def with_ends(point: CurvePoint) -> CurvePoint:
        if not ks[0] <= point.K <= ks[-1]:
            return point
        down, up = (float(np.interp(np.log(point.K), logs, gaps)) for gaps in (below, above))
        if np.isnan(down + up):
            return point
        ends: dict[str, Any] = {low: max(point.value - down, bounds[0]), high: min(point.value + up, bounds[1])}
        return replace(point, **ends)

    return tuple(map(with_ends, points))


def curve_differences(curves: Mapping[str, Sequence[Curve]], level: float, root: int) -> list[dict[str, Any]]:
    """Return a row for each pair of up to eight embeddings, curve and K: the difference and its simultaneous band.

    ``curves`` are those of each embedding.
    """
    rows: list[dict[str, Any]] = []
    pairs = itertools.combinations(curves, 2) if len(curves) <= MAX_PAIRED_EMBEDDINGS else ()
    for first, second in pairs:
        second_curves = {curve.measure: curve for curve in curves[second]}
        for left in curves[first]:
            right = second_curves.get(left.measure)
            if right is not None:
                rows += _difference_rows(left, right, level, root)
    return rows


def _difference_rows(left: Curve, right: Curve, level: float, root: int) -> list[dict[str, Any]]:
    """Return a row for each K at which two curves and the band of their difference have a value."""
    if left.spread is None or right.spread is None or left.spread.numbers.shape != right.spread.numbers.shape:
        return []
    ks, left_values, right_values = left.spread.ks, left.values, right.values
    in_both = np.array([int(k) in left_values and int(k) in right_values for k in ks], np.bool_)
    gaps = np.array([left_values.get(int(k), np.nan) - right_values.get(int(k), np.nan) for k in ks])
    low, high = MEASURES.card(left.measure).bounds
    rng = stream(root, "band of a difference", left.embedding, right.embedding, left.measure)
    band = left.spread.minus(right.spread).band(gaps, (low - high, high - low), level, rng)
    shared = {"measure": left.measure, "first": left.embedding, "second": right.embedding}
    ends = zip(ks[in_both], gaps[in_both], band.low[in_both], band.high[in_both], strict=True)
    return [
        {**shared, "K": int(k), "difference": gap, "band_low": band_low, "band_high": band_high}
        for k, gap, band_low, band_high in ends
    ]
