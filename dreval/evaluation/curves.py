"""Curves over the number of neighbors K: their rows, intervals at each K alone, and bands for all K at once."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray, IntArray
from dreval._random import stream
from dreval.evaluation.plan import MeasureTask
from dreval.geometry.blocks import View
from dreval.geometry.coranking import curve_numbers
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
from dreval.measures._chance import chance_curve
from dreval.measures._measure import curve_values
from dreval.registry import MEASURES

MOST_PAIRED = 8  # embeddings of which all pairs of curves are compared


@dataclass(frozen=True)
class Spread:
    """The values behind the band of a curve at some numbers K.

    ``numbers`` are what each anchor contributes (m, G), or the curves without each point (1, n, G), or without each
    group of several partitions (P, g, G). ``n`` is the number of points.
    """

    ks: IntArray
    numbers: FloatArray
    n: int

    def band(self, values: FloatArray, bounds: tuple[float, float], level: float, rng: np.random.Generator) -> Band:
        """The simultaneous band of the curve, or of a difference of two."""
        if self.numbers.ndim == 2:
            return anchor_band(self.numbers, self.ks, self.n, rng, bounds, level)
        covariance = np.mean([jackknife_covariance(part) for part in self.numbers], axis=0)
        return max_t_band(values, covariance, self.numbers.shape[1] - 1, rng, bounds, level)

    def minus(self, other: Spread) -> Spread:
        """The spread of the difference of two curves, of the same points, groups or anchors."""
        return Spread(self.ks, self.numbers - other.numbers, self.n)


def curve_rows(
    name: str, view: View, task: MeasureTask, ci: str | None, root: int, level: float
) -> tuple[list[dict[str, Any]], Spread | None]:
    """A curve at about 60 numbers of neighbors, evenly spaced on a log scale, or at all of them; and its spread."""
    bands = band_numbers(view.n)
    spread = None
    if ci == "points" and task.card.without is not None and len(bands):
        spread = Spread(bands, np.asarray(task.card.without(view, bands))[None], view.n)
    elif ci == "anchors" and task.card.by_row is not None and len(view.rows) < view.n:
        ks = anchor_numbers(view.n)
        spread = Spread(ks, task.card.by_row(view, ks), view.n)
    values, _ = curve_values(task.thing, view)
    chance = chance_curve(task.thing, view, root)
    few, places = curve_numbers(view.n), np.arange(len(values))
    ks = few[places] if view.streamed else places + 1
    if not (task.all_k or view.streamed):
        places = np.r_[few[few < len(values)], len(values)] - 1
    rows: list[dict[str, Any]] = [
        {"embedding": name, "measure": task.name, "K": int(ks[at]), "value": float(values[at]), "chance": chance[at]}
        for at in places
    ]
    if spread is not None and spread.numbers.ndim == 3:
        se = np.sqrt(jackknife_variance(spread.numbers[0]))
        set_band(rows, spread.ks, se, view.n - 1, task.card.bounds, level)
    elif spread is not None:
        limits = FREE if view.streamed else task.card.bounds
        _set_anchored(rows, spread, task.card.bounds, limits, view.seed, level)
    if spread is not None:
        set_simultaneous(rows, spread, task.card.bounds, level, stream(root, "band", name, task.name))
    return rows, spread


def band_numbers(n: int) -> npt.NDArray[np.int64]:
    """Those of them at which a curve has an interval: beyond half of the points leaving some out changes the scale."""
    ks = curve_numbers(n)
    return ks[ks <= min(n // 2, n - 3)]


def anchor_numbers(n: int) -> npt.NDArray[np.int64]:
    """Those of them at which every curve has a value."""
    ks = curve_numbers(n)
    return ks[ks <= n - 2]


def set_band(
    rows: list[dict[str, Any]],
    ks: npt.NDArray[np.int64],
    se: npt.NDArray[np.float64],
    freedom: float,
    bounds: Any,
    level: float,
) -> None:
    """Ends of the interval of a curve at each K alone, up to the largest of ``ks``; no spread is no certainty.

    Between the ``ks`` at which it is known the standard error is interpolated on the scale of log K.
    """
    for row in rows:
        if ks[0] <= row["K"] <= ks[-1]:
            error = beyond_rounding(float(np.interp(np.log(row["K"]), np.log(ks), se)), row["value"], bounds=bounds)
            if error > 0:
                row["conf_low"], row["conf_high"] = student_interval(row["value"], error, freedom, bounds, level)


def _set_anchored(
    rows: list[dict[str, Any]],
    spread: Spread,
    bounds: tuple[float, float],
    limits: tuple[float, float],
    seed: int,
    level: float,
) -> None:
    """Ends of the interval at each K alone for all points, from what the anchors contribute.

    Student's where the band has ends, so that it is never wider than that; else also valid where few anchors differ.
    """
    below, above = np.full((2, len(spread.ks)), np.nan)
    banded = covered_by_anchors(spread.numbers, spread.ks, spread.n)
    for at, column in enumerate(np.ascontiguousarray(spread.numbers.T)):
        if banded[at]:
            found: Interval | None = anchor_interval(column, spread.n, bounds, level=level)
        else:
            found = bounded_interval(column, spread.n, bounds, limits, bounds[0], seed, level)
        if found is not None:
            mean = float(column.mean())
            below[at], above[at] = mean - found.low, found.high - mean
    _set_ends(rows, spread.ks, ("conf_low", "conf_high"), below, above, bounds)


def set_simultaneous(
    rows: list[dict[str, Any]],
    spread: Spread,
    bounds: tuple[float, float],
    level: float,
    rng: np.random.Generator,
) -> None:
    """Ends of the band that holds the whole curve."""
    known = {row["K"]: row["value"] for row in rows}
    values = np.array([known.get(int(k), np.nan) for k in spread.ks])
    band = spread.band(values, FREE, level, rng)
    middle = spread.numbers.mean(axis=0) if spread.numbers.ndim == 2 else values
    _set_ends(rows, spread.ks, ("band_low", "band_high"), middle - band.low, band.high - middle, bounds)


def _set_ends(
    rows: list[dict[str, Any]],
    ks: IntArray,
    columns: tuple[str, str],
    below: FloatArray,
    above: FloatArray,
    bounds: tuple[float, float],
) -> None:
    """Two ends at given distances from the values, between the ``ks`` interpolated on the scale of log K."""
    logs = np.log(ks)
    for row in rows:
        if ks[0] <= row["K"] <= ks[-1]:
            down, up = (float(np.interp(np.log(row["K"]), logs, gaps)) for gaps in (below, above))
            if not np.isnan(down + up):
                row[columns[0]] = max(row["value"] - down, bounds[0])
                row[columns[1]] = min(row["value"] + up, bounds[1])


def curve_differences(
    curves: Mapping[str, Sequence[Mapping[str, Any]]],
    spreads: Mapping[str, Mapping[str, Spread]],
    level: float,
    root: int,
) -> list[dict[str, Any]]:
    """A row for each pair of up to eight embeddings, curve and K: the difference and its simultaneous band.

    ``curves`` are the rows and ``spreads`` the spreads by measure, of each embedding.
    """
    rows: list[dict[str, Any]] = []
    for first, second in itertools.combinations(spreads, 2) if len(spreads) <= MOST_PAIRED else ():
        for measure, one in spreads[first].items():
            other = spreads[second].get(measure)
            if other is None or other.numbers.shape != one.numbers.shape:
                continue
            values = [
                {row["K"]: row["value"] for row in curves[name] if row["measure"] == measure}
                for name in (first, second)
            ]
            ks = [int(k) for k in one.ks if all(int(k) in known for known in values)]
            places = np.isin(one.ks, ks)
            gaps = np.array([values[0].get(int(k), np.nan) - values[1].get(int(k), np.nan) for k in one.ks])
            low, high = MEASURES.card(measure).bounds
            rng = stream(root, "band of a difference", first, second, measure)
            band = one.minus(other).band(gaps, (low - high, high - low), level, rng)
            shared = {"measure": measure, "first": first, "second": second}
            rows += [
                {**shared, "K": int(k), "difference": gap, "band_low": down, "band_high": up}
                for k, gap, down, up in zip(
                    one.ks[places], gaps[places], band.low[places], band.high[places], strict=True
                )
            ]
    return rows
