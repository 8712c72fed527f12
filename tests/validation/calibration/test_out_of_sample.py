"""New points on a map: coverage of intervals and bounds, and errors of p-values and flags, by simulation.

A map is fitted once (principal components of n = 100 reference points); its new points, groups and calibrations are
drawn again in each simulation. The mean that an interval should cover is that of 20,000 further new points.

In 1000 simulations of 50 new points 95 % intervals of trustworthiness, continuity, overlap and both rank errors missed
in .071, .068, .062, .081 and .048 on the Gaussian design (in 5000: .058, .054, .048, .063, .057), and in .035 to .070
on the others; in 500 of 200 new points in .034 to .074, mean .051; over ten unequal groups in .049 to .059. Bounds of
level 90 % failed in .094 to .102 (of the overlap, which has ties, in .051 to .061), and p <= .1 in .096 to .104 of
20,000 new points, over 1000 calibrations of 49. Flags at .1 had a false discovery rate of .067 in 500 simulations.
"""

from __future__ import annotations

import numpy as np
import pytest

import dreval
from dreval.evaluation.out_of_sample import point_scores
from dreval.geometry.view import query_views

N, K = 100, 10
MEASURES = ("trustworthiness", "continuity", "neighborhood_overlap", "mrre_false", "mrre_missing")
N_TRUE = 20_000  # points whose mean is the target of an interval
ALPHA = 0.1


def gaussian(rng, m):
    """Normal columns of falling spread."""
    return rng.normal(size=(m, 8)) * np.geomspace(2, 0.5, 8)


def heavy(rng, m):
    """Student's t with two degrees of freedom."""
    return rng.standard_t(2, size=(m, 5))


def clusters(rng, m):
    """Six clusters of unequal size in five columns."""
    centers = 4 * np.random.default_rng(7).normal(size=(6, 5))
    return centers[rng.choice(6, m, p=np.arange(1, 7) / 21)] + rng.normal(size=(m, 5))


DESIGNS = {"gaussian": gaussian, "heavy": heavy, "clusters": clusters}


class FixedMap:
    """Reference points of a design with their first two principal components, and further points of the design."""

    def __init__(self, design, number):
        self.draw, self.rng = DESIGNS[design], np.random.default_rng([number, 1])
        self.X = self.draw(self.rng, N)
        self.center, self.axes = self.X.mean(axis=0), np.linalg.svd(self.X - self.X.mean(axis=0))[2][:2]
        self.Y = self.transform(self.X)

    def transform(self, X):
        return (X - self.center) @ self.axes.T

    def pair(self, X):
        return X, self.transform(X)

    def new(self, m):
        return self.pair(self.draw(self.rng, m))

    def true_means(self, X):
        """Means of the scores of some points, taken for those of the population."""
        view = query_views(self.X, {"": self.Y}, X, {"": self.transform(X)}, K)[""]
        return {name: float(values.mean()) for name, values in point_scores(view, K).items()}

    def record(self, new, **options):
        return dreval.out_of_sample(self.X, self.Y, *new, n_neighbors=K, **options)


def most(share, count):
    """Return a share plus three standard errors of its estimate."""
    return share + 3 * np.sqrt(share * (1 - share) / count)


def misses(means, record):
    """Whether each interval misses its target."""
    rows = record.tidy().set_index("measure").loc[list(MEASURES)]
    targets = np.array([means[name] for name in MEASURES])
    return (targets < rows["conf_low"]) | (targets > rows["conf_high"])


def interval_misses(design, samples, m=50, maps=5):
    """Share of simulations in which each interval misses the mean of the population, over several fixed maps."""
    rows = []
    for number in range(maps):
        fixed = FixedMap(design, number)
        means = fixed.true_means(fixed.draw(fixed.rng, N_TRUE))
        rows += [misses(means, fixed.record(fixed.new(m))) for _ in range(samples // maps)]
    return np.mean(rows, axis=0)


def group_misses(design, sizes, samples, maps=5):
    """The same with groups whose points share a shift, of which the population is one of groups."""
    rows = []
    groups = np.repeat(np.arange(len(sizes)), sizes)
    for number in range(maps):
        fixed = FixedMap(design, number)

        def shifted(groups, fixed=fixed):
            shifts = fixed.rng.normal(size=(groups.max() + 1, fixed.X.shape[1]))
            return fixed.draw(fixed.rng, len(groups)) + shifts[groups]

        means = fixed.true_means(shifted(np.arange(N_TRUE)))
        new = (fixed.pair(shifted(groups)) for _ in range(samples // maps))
        rows += [misses(means, fixed.record(pair, groups=groups)) for pair in new]
    return np.mean(rows, axis=0)


def conformal_rates(design, samples, c=49, m=20):
    """Shares of new points beyond the bounds and with p <= alpha, and of simulations with a flag, without outliers."""
    beyond, small, any_flag = [], [], []
    for number in range(samples):
        fixed = FixedMap(design, number)
        record = fixed.record(fixed.new(m), calibration=fixed.new(c), alpha=ALPHA, random_state=number)
        points = record.augment()
        for name in MEASURES:
            row, values = record.of(name), points[name]
            beyond.append((values > row["bound"] if row["direction"] == "lower" else values < row["bound"]).mean())
        small.append((points["p_value"] <= ALPHA).mean())
        any_flag.append(record.flagged.any())
    return np.reshape(beyond, (samples, -1)).mean(axis=0), np.mean(small), np.mean(any_flag)


def false_discovery_rate(design, samples, c=199, m=40, moved=8):
    """Mean share of ordinary points among the flagged, and of misplaced points that are flagged."""
    shares, power = [], []
    for number in range(samples):
        fixed = FixedMap(design, number)
        X, Y = fixed.new(m)
        Y[:moved] = -2 * Y[:moved]
        record = fixed.record((X, Y), calibration=fixed.new(c), alpha=ALPHA, random_state=number)
        flagged = record.flagged
        shares.append(flagged[moved:].sum() / max(flagged.sum(), 1))
        power.append(flagged[:moved].mean())
    return np.mean(shares), np.mean(power)


def listed_rate(samples, m=40, outside=8):
    """Mean share of ordinary points among the new ones that ``misplaced_points`` lists, and of those outside it.

    ``outside`` of the new points are far from the plane of the map, which places them among points of the data.
    """
    shares, power = [], []
    for number in range(samples):
        rng = np.random.default_rng([number, 2])
        spread = np.r_[4.0, 3.0, np.full(4, 0.5)]
        X, new = rng.normal(size=(2 * N, 6)) * spread, rng.normal(size=(m, 6)) * spread
        new[:outside, 2:] *= 12
        ev = dreval.Evaluation(X, {"pca": "pca"}, new_data=new, new=0.5, n_neighbors=K, random_state=number, n_jobs=1)
        table = ev.run("trustworthiness", None, None).misplaced_points("pca").table
        listed = np.isin(np.arange(m), table.loc[table["kind"] == "new", "id"].astype(int))
        shares.append(listed[outside:].sum() / max(listed.sum(), 1))
        power.append(listed[:outside].mean() if outside else 0.0)
    return np.mean(shares), np.mean(power)


@pytest.mark.calibration
@pytest.mark.parametrize(("m", "nominal"), [(200, 0.05), (50, 0.07)])
@pytest.mark.parametrize("design", DESIGNS)
def test_intervals_cover_the_mean_of_the_population(design, m, nominal, n_simulations):
    """In .95 of the simulations with 200 new points; skewed scores of 50 points cost up to .02."""
    samples = n_simulations(1000)
    assert (interval_misses(design, samples, m) <= most(nominal, samples)).all()


@pytest.mark.calibration
def test_intervals_over_groups_cover_the_mean_of_groups(n_simulations):
    """Ten groups of unequal size."""
    samples = n_simulations(1000)
    assert (group_misses("gaussian", [2, 3, 4, 5, 5, 6, 7, 8, 10, 12], samples) <= most(0.05, samples)).all()


@pytest.mark.calibration
@pytest.mark.parametrize("design", DESIGNS)
def test_bounds_and_p_values_hold_their_level(design, n_simulations):
    """One in ten new points is beyond a bound, has p <= .1; one simulation in ten flags a point where all are alike."""
    samples = n_simulations(1000)
    beyond, small, any_flag = conformal_rates(design, samples)
    assert (beyond <= most(ALPHA, samples)).all()
    assert abs(small - ALPHA) <= most(ALPHA, samples) - ALPHA
    assert any_flag <= most(ALPHA, samples)


@pytest.mark.calibration
def test_flags_have_few_false_discoveries(n_simulations):
    """The false discovery rate is at most .1, and misplaced points are found."""
    samples = n_simulations(500)
    rate, power = false_discovery_rate("clusters", samples)
    assert rate <= most(ALPHA, samples)
    assert power > 0.3


@pytest.mark.calibration
@pytest.mark.parametrize("outside", [0, 8])
def test_listed_new_points_have_few_false_discoveries(outside, n_simulations):
    """Of the new points in ``misplaced_points`` at most .1 are ordinary; without others none is listed in .9."""
    samples = n_simulations(300)
    rate, power = listed_rate(samples, outside=outside)
    print(f"{outside} points outside the plane: false discovery rate {rate:.3f}, power {power:.2f}")
    assert rate <= most(ALPHA, samples)
    assert power > 0.5 or not outside
