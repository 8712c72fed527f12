"""Coverage of the intervals of 500 anchors among 20,000 points, of every default measure.

If a measure is a mean of contributions, these are computed once for all points, and draws of anchors are samples of
them; a test shows that an evaluation gives the same. Correlations of pairs, and the area under R_NX from sampled
points, come from real evaluations.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

import dreval
from dreval.evaluation import rows as evaluation_rows
from dreval.geometry import blocks
from dreval.geometry.blocks import neighbor_pass
from dreval.geometry.procrustes import LocalParts, best_scale, local_parts
from dreval.inference.intervals import METHODS, Interval, bounded_interval
from dreval.measures import coranking
from dreval.registry import MEASURES

N, M, SEEDS, BINS = 20_000, 500, 4, 1 << 16
MEANS = ["trustworthiness", "continuity", "neighborhood_overlap", "r_nx_auc", "procrustes_rc", "knn_accuracy"]
MEANS += ["triplet_accuracy"]
OF_SCALE = "procrustes_rn_opt"  # a mean of contributions whose common scale is that of the anchors
CLOSE = 1e-12


@cache
def _clusters() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return ten clusters in twenty dimensions and their two principal components, which merge some of them."""
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 10, size=N)
    X = 3 * rng.normal(size=(10, 20))[labels] + rng.normal(size=(N, 20))
    return X, np.asarray(dreval.embed(X, "pca")), labels


@cache
def _roll() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a Swiss roll, its side view with noise, and eight sections of it as classes."""
    rng = np.random.default_rng(0)
    t, height = 1.5 * np.pi * (1 + 2 * rng.uniform(size=N)), 21 * rng.uniform(size=N)
    X = np.c_[t * np.cos(t), height, t * np.sin(t)] + 0.1 * rng.normal(size=(N, 3))
    return X, X[:, [0, 2]] + 0.1 * rng.normal(size=(N, 2)), np.digitize(t, np.linspace(5.0, 14.0, 7))


DATA = {"clusters": _clusters, "roll": _roll}
CLUSTERS_OR_ROLL = pytest.mark.parametrize("name", DATA)


class Contributions(NamedTuple):
    """The contributions of all points by measure and seed, and the parts of the local measures."""

    points: dict[str, list[np.ndarray]]
    parts: LocalParts


@cache
def _exact_contributions(name: str) -> Contributions:
    """Return the contributions of a map; measures that draw folds or triplets have those of four seeds."""
    X, Y, labels = DATA[name]()
    points: dict[str, list[np.ndarray]] = {}
    for seed in range(SEEDS):
        measures = MEANS if seed == 0 else ["knn_accuracy", "triplet_accuracy"]
        ev = dreval.Evaluation(X, {"Y": Y}, labels=labels, random_state=seed, anchors=None)
        table = ev.run(measures, None, None).augment("Y")
        for column in table.columns:
            if (measure := column.split("(")[0]) in measures:
                points.setdefault(measure, []).append(table[column].to_numpy(np.float64))
    return Contributions(points, local_parts(neighbor_pass(X, {"Y": Y}, k=15, ranks=False)["Y"], 15))


def _anchor_contributions(parts: LocalParts, rows: np.ndarray) -> np.ndarray:
    """Return the contributions of anchors to R_N,opt, at the scale of the anchors."""
    return best_scale(parts._replace(x2=parts.x2[rows], y2=parts.y2[rows], nuclear=parts.nuclear[rows]))


def _interval(measure: str, sample: np.ndarray, seed: int) -> Interval | None:
    """Return the interval that an evaluation computes from the contributions of anchors."""
    card = MEASURES.card(measure)
    return bounded_interval(sample, N, card.bounds, card.limits(N), card.worst(N), seed)


def _correlation(X: np.ndarray, Y: np.ndarray) -> float:
    """Return the Spearman correlation of all distances, from their ranks among 65,536 steps of equal width."""
    blocks_of = [slice(at, at + 500) for at in range(0, N, 500)]
    ranks = []
    for table in (X, Y):
        counts = np.zeros(BINS)
        for part in blocks_of:
            counts += np.bincount(_steps(table, part).ravel(), minlength=BINS)
        counts[0] -= N  # the points themselves
        below = np.cumsum(counts) - counts / 2
        ranks.append(below / counts.sum() - 0.5)
    sums = np.zeros(3)
    for part in blocks_of:
        x, y = (rank[_steps(table, part)] for rank, table in zip(ranks, (X, Y), strict=True))
        rows = np.arange(part.start, part.stop)
        x[rows - part.start, rows], y[rows - part.start, rows] = 0.0, 0.0
        sums += (np.vdot(x, x), np.vdot(y, y), np.vdot(x, y))
    return float(sums[2] / math.sqrt(sums[0] * sums[1]))


def _steps(table: np.ndarray, part: slice) -> np.ndarray:
    """Return the distances of a block of points from all points, in steps."""
    squared = (table[part] ** 2).sum(axis=1)[:, None] + (table**2).sum(axis=1) - 2 * (table[part] @ table.T)
    widest = 2 * np.sqrt(((table - table.mean(axis=0)) ** 2).sum(axis=1).max())
    return np.minimum(np.sqrt(np.maximum(squared, 0.0)) * (BINS / widest), BINS - 1).astype(np.int64)


def _report(
    name: str, measure: str, exact: float, intervals: list[Interval | None], truths: np.ndarray
) -> tuple[float, float]:
    """Return the coverage of the draws that have an interval, and its standard error at 95 %; print both."""
    pairs = [(interval, truth) for interval, truth in zip(intervals, truths, strict=True) if interval is not None]
    inside = np.mean([interval.low - CLOSE <= truth <= interval.high + CLOSE for interval, truth in pairs])
    half = np.mean([(interval.high - interval.low) / 2 for interval, _ in pairs])
    kinds = {
        kind: np.mean([interval.kind == kind for interval, _ in pairs])
        for kind in sorted({interval.kind for interval, _ in pairs})
    }
    text = " ".join(f"{kind} {share:.3f}" for kind, share in kinds.items())
    draws = f"{len(pairs)} of {len(intervals)}"
    print(f"{name:9}{measure:22} exact {exact:.4f} draws {draws:13} covered {inside:.4f} half-width {half:.5f}  {text}")
    return float(inside), math.sqrt(0.95 * 0.05 / len(pairs))


@pytest.mark.calibration
@CLUSTERS_OR_ROLL
def test_intervals_of_contributions_cover_the_value_of_all_points(name: str, n_simulations: Any) -> None:
    """2000 draws, seeds 0 to 1999: at least 95 % of intervals, less three standard errors, hold the exact value."""
    contributions, size = _exact_contributions(name), n_simulations(2000)
    exact_rn_opt = best_scale(contributions.parts).mean()
    intervals_of: dict[str, list[Interval | None]] = {measure: [] for measure in [*MEANS, OF_SCALE]}
    truths: dict[str, list[float]] = {measure: [] for measure in intervals_of}
    triplets = float(np.mean(contributions.points["triplet_accuracy"]))  # triplets are random: the mean over all draws
    for seed in range(size):
        rows = np.sort(np.random.default_rng([seed, M]).choice(N, M, replace=False))
        for measure in MEANS:
            values = contributions.points[measure][seed % len(contributions.points[measure])]
            intervals_of[measure].append(_interval(measure, values[rows], seed))
            truths[measure].append(triplets if measure == "triplet_accuracy" else values.mean())
        intervals_of[OF_SCALE].append(_interval(OF_SCALE, _anchor_contributions(contributions.parts, rows), seed))
        truths[OF_SCALE].append(exact_rn_opt)
    short = []
    for measure, intervals in intervals_of.items():
        covered, error = _report(name, measure, float(np.mean(truths[measure])), intervals, np.array(truths[measure]))
        short += [measure] if covered < 0.95 - 3 * error else []
    assert not short


def _evaluation_intervals(name: str, measures: list[str], seed: int) -> list[Interval | None]:
    """Return the intervals of a real evaluation."""
    X, Y, labels = DATA[name]()
    ev = dreval.Evaluation(X, {"Y": Y}, labels=labels, anchors=M, random_state=seed)
    table = ev.run(measures, None).table.set_index("measure").loc[measures]
    kinds = table["conf_method"].map({text: kind for kind, text in METHODS.items()})
    return [
        None if math.isnan(row["conf_low"]) else Interval(row["se"], row["conf_low"], row["conf_high"], kind, M, M - 1)
        for kind, (_, row) in zip(kinds, table.iterrows(), strict=True)
    ]


@pytest.mark.calibration
@CLUSTERS_OR_ROLL
def test_intervals_of_pairs_cover_the_value_of_all_points(name: str, n_simulations: Any) -> None:
    """100 real evaluations: intervals of Spearman's correlation cover; Procrustes disparity is exact."""
    X, Y, _ = DATA[name]()
    size = n_simulations(2000) // 20
    measures = ["spearman_distance", "procrustes_disparity"]
    disparity = float(dreval.procrustes_disparity(X, Y))
    truths = [_correlation(X, Y), disparity]
    intervals_by_seed = [_evaluation_intervals(name, measures, seed) for seed in range(size)]
    for place, measure in enumerate(measures):
        covered, error = _report(
            name,
            measure,
            truths[place],
            [intervals[place] for intervals in intervals_by_seed],
            np.full(size, truths[place]),
        )
        assert covered >= (1.0 if measure == "procrustes_disparity" else 0.95 - 3 * error)


@pytest.mark.calibration
@CLUSTERS_OR_ROLL
def test_intervals_of_the_drawn_area_cover_that_of_all_ranks(name: str, n_simulations: Any, monkeypatch: Any) -> None:
    """By the procedure above 50,000 points, 100 evaluations: intervals cover the area although ranks are sampled."""
    contributions, size = _exact_contributions(name), n_simulations(2000) // 20
    truth = float(contributions.points["r_nx_auc"][0].mean())
    for place in (blocks, evaluation_rows, coranking):
        monkeypatch.setattr(place, "ALL_RANKS", 1000, raising=False)
    intervals = [_evaluation_intervals(name, ["r_nx_auc"], seed)[0] for seed in range(size)]
    covered, error = _report(name, "r_nx_auc, drawn", truth, intervals, np.full(size, truth))
    assert covered >= 0.95 - 3 * error


@pytest.mark.calibration
def test_draws_are_evaluations() -> None:
    """The shortcut of the simulation gives the values and intervals of one evaluation with anchors."""
    contributions, names = _exact_contributions("roll"), [*MEANS, OF_SCALE]
    X, Y, labels = DATA["roll"]()
    ev = dreval.Evaluation(X, {"Y": Y}, labels=labels, anchors=M, random_state=1)
    res = ev.run(names, None)
    table, points = res.table.set_index("measure"), res.augment("Y")
    rows = np.flatnonzero(points[next(c for c in points.columns if c.startswith("trust"))].notna())
    for measure in names:
        seed_values = contributions.points.get(measure, [])
        sample = (
            _anchor_contributions(contributions.parts, rows)
            if measure == OF_SCALE
            else seed_values[1 % len(seed_values)][rows]
        )
        interval = _interval(measure, sample, 1)
        assert interval is not None
        assert table.loc[measure, "value"] == pytest.approx(sample.mean(), abs=1e-12)
        ends = [table.loc[measure, "conf_low"], table.loc[measure, "conf_high"]]
        assert ends == pytest.approx([interval.low, interval.high], abs=1e-6)
