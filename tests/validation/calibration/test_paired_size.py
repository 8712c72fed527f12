"""Size and power of the paired test of two embeddings, by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import dreval
from dreval.geometry.blocks import neighbor_pass, random_groups
from dreval.geometry.view import view_without_group
from dreval.inference.intervals import jackknife_interval
from dreval.measures.core import answer
from dreval.measures.ranks import trustworthiness

MEASURES = [
    "trustworthiness", "continuity", "neighborhood_overlap", "r_nx_auc", "procrustes_rc", "procrustes_rn_opt",
    "procrustes_disparity", "spearman_distance", "triplet_accuracy", "knn_accuracy",
]  # fmt: skip
AVERAGED = ["mrre_false", "mrre_missing"]  # measures without delete-one values


def folded(rng, n):
    """Return the plane that both embeddings show, and the data, in which it is folded."""
    U = rng.uniform(-1, 1, size=(n, 2))
    return U, np.c_[U, 0.7 * np.sin(3 * U[:, 0])]


def roll(rng, n):
    """Return the latents of a Swiss roll, and the roll."""
    t, height = 1.5 * np.pi * (1 + 2 * rng.uniform(size=n)), 21 * rng.uniform(size=n)
    return np.c_[(t - 9.4) / 4.7, height / 10 - 1], np.c_[t * np.cos(t), height, t * np.sin(t)] / 10


def blobs(rng, n):
    """Return two of five dimensions of four groups, and the data."""
    centers = 1.5 * np.random.default_rng(11).normal(size=(4, 5))
    X = centers[rng.integers(0, 4, n)] + rng.normal(size=(n, 5)) * [1.2, 1.0, 0.8, 0.6, 0.5]
    return X[:, :2] / 2, X / 2


def rounded(rng, n):
    """Return the folded plane on a grid, with many equal distances."""
    U, X = folded(rng, n)
    return U, np.round(X, 1)


NULLS = [folded, roll, blobs, rounded]


def pair(rng, n, degrade, draw=folded):
    """Return data, two exchangeable embeddings with independent noise, and classes.

    ``degrade`` adds noise to the second one in a quarter of the plane.
    """
    U, X = draw(rng, n)
    first, second = (U + 0.15 * rng.normal(size=U.shape) for _ in range(2))
    place = (U > 0).all(axis=1)
    second[place] += degrade * rng.normal(size=(int(place.sum()), 2))
    return X, {"first": first, "second": second}, (X[:, 0] + 0.3 * rng.normal(size=n) > np.median(X[:, 0])).astype(int)


def simulate(rng, size, n=150, degrade=0.0, draw=folded, names=MEASURES):
    """Return p-values, |t| and naive |t| of the paired test, each (size, measures).

    The naive statistic treats the differences of points as independent; it is missing where there are none.
    """
    outcomes = []
    for seed in range(size):
        X, embeddings, labels = pair(rng, n, degrade, draw)
        ev = dreval.Evaluation(X, embeddings, labels=labels, n_neighbors=10, random_state=seed, n_jobs=1)
        pairs = ev.run(names, None).compare(adjust=None).pairs.set_index("measure").loc[names]
        naive = (pairs["effect_size"].abs() * np.sqrt(n)).to_numpy()
        outcomes.append((pairs["p_value"].to_numpy(), pairs["statistic"].abs().to_numpy(), naive))
    return np.moveaxis(np.array(outcomes), 1, 0)


@pytest.mark.calibration
@pytest.mark.parametrize("draw", NULLS)
def test_exchangeable_embeddings_rarely_differ_significantly(draw, n_simulations):
    """n = 100, k = 10, four nulls, all default measures: rejections at 5 % and 1 % up to the level + 3 standard errors.

    The naive test rejects at 5 % in more than 12 % of the pairs of the first null by the measures of neighbors.
    """
    p, _, naive = simulate(np.random.default_rng([7, NULLS.index(draw)]), n_simulations(1000), 100, 0.0, draw)
    for level in (0.05, 0.01):
        share = np.mean(p <= level, axis=0)
        assert (share <= level + 3 * np.sqrt(level * (1 - level) / len(p))).all(), (level, share)
    if draw is folded:
        assert (np.mean(naive[:, :3] > stats.t.ppf(0.975, 99), axis=0) > 0.12).all()


@pytest.mark.calibration
def test_averaged_partitions_hold_their_size(n_simulations):
    """Tests by averaged partitions have the nominal size, too, at n = 100."""
    size = n_simulations(500)
    p = simulate(np.random.default_rng(17), size, 100, names=AVERAGED)[0]

    for level in (0.05, 0.01):
        assert (np.mean(p <= level, axis=0) <= level + 3 * np.sqrt(level * (1 - level) / size)).all()


@pytest.mark.calibration
def test_the_power_is_not_below_that_of_one_partition(n_simulations):
    """Noise .5 in a quarter of the second embedding, n = 100: the delete-one test rejects at least as often as
    the test on 20 random groups, less three standard errors of the paired difference of the two rates.
    """
    rng, size = np.random.default_rng(18), n_simulations(200)
    rejections = []
    for seed in range(size):
        X, embeddings, _ = pair(rng, 100, 0.5)
        views = neighbor_pass(X, embeddings, k=10, groups=random_groups(100, 20, np.random.default_rng(seed)))
        values = {name: answer(trustworthiness, view, {"n_neighbors": 10}).value for name, view in views.items()}
        gaps = [
            answer(trustworthiness, view_without_group(views["first"], g, 10), {"n_neighbors": 10}).value
            - answer(trustworthiness, view_without_group(views["second"], g, 10), {"n_neighbors": 10}).value
            for g in range(20)
        ]
        t = (values["first"] - values["second"]) / jackknife_interval(0.0, np.array(gaps), (-9, 9)).se
        ev = dreval.Evaluation(X, embeddings, n_neighbors=10, random_state=seed, n_jobs=1)
        p = ev.run("trustworthiness", None).compare(adjust=None).pairs["p_value"][0]
        rejections.append((p <= 0.05, 2 * stats.t.sf(abs(t), 19) <= 0.05))
    delete_one, one_partition = np.array(rejections, dtype=float).T
    gap = delete_one - one_partition

    assert delete_one.mean() >= 0.5
    assert gap.mean() >= -3 * gap.std(ddof=1) / np.sqrt(size)


@pytest.mark.calibration
def test_p_of_other_seeds_is_within_its_stated_range():
    """Delete-one p-values are equal to the last bit with another seed; p-values by averaged partitions of twenty seeds
    are within each other's bounds in at least 8 of 10 data sets (the nominal share is 95 %).
    """
    rng, inside = np.random.default_rng(19), 0
    for _ in range(10):
        X, embeddings, labels = pair(rng, 100, 0.2)

        def pairs(names, seed, ci="points", X=X, embeddings=embeddings, labels=labels):
            ev = dreval.Evaluation(X, embeddings, labels=labels, n_neighbors=10, random_state=seed, n_jobs=1)
            return ev.run(names, None, ci=ci).compare(adjust=None).pairs.set_index("measure").loc[names]

        first, second = (pairs(MEASURES[:-1], seed, "jackknife")["p_value"] for seed in range(2))
        assert first.equals(second)
        tables = [pairs(AVERAGED, seed) for seed in range(20)]
        p, low, high = (np.array([table[column] for table in tables]) for column in ("p_value", "p_low", "p_high"))
        inside += bool((low.max(axis=0) <= p.min(axis=0)).all() and (high.min(axis=0) >= p.max(axis=0)).all())
    assert inside >= 8


@pytest.mark.calibration
def test_a_degraded_region_is_detected(n_simulations):
    """Noise in a quarter of the second embedding: at least half of the tests detect strong noise at 5 %.

    They detect weak noise as often as the naive test, less three standard errors, if both are calibrated to the same
    size on exchangeable pairs.
    """
    size = n_simulations(200)
    strong = simulate(np.random.default_rng(8), size, 100, degrade=0.5, names=MEASURES[:3])[0]
    _, paired, naive = simulate(np.random.default_rng(10), size, 100, degrade=0.2, names=MEASURES[:3])
    alike = simulate(np.random.default_rng(11), n_simulations(1000), 100, names=MEASURES[:3])[1:]
    power, naive_power = (
        np.mean(statistics > np.quantile(null_statistics, 0.95, axis=0), axis=0)
        for statistics, null_statistics in zip((paired, naive), alike, strict=True)
    )

    assert (np.mean(strong <= 0.05, axis=0) >= 0.5).all()
    assert (power >= naive_power - 3 * np.sqrt(0.5 / size)).all()


@pytest.mark.slow
def test_the_size_quickly():
    """The fast subset: of 25 exchangeable pairs at most 5 differ at 5 % (more than 5 has probability .001)."""
    p = simulate(np.random.default_rng(9), 25, n=80, names=MEASURES[:3])[0]

    assert (np.sum(p <= 0.05, axis=0) <= 5).all()


@pytest.mark.calibration
def test_a_test_of_the_values_of_points_rejects_too_often(n_simulations):
    """Two pairs of six independent normal columns, n = 120: t and Wilcoxon tests of points' values are invalid."""
    rejections = []
    for seed in range(n_simulations(200)):
        X = np.random.default_rng(seed).normal(size=(120, 6))
        ev = dreval.Evaluation(X, {"a": X[:, :2], "b": X[:, 2:4]}, random_state=seed, n_jobs=1)
        results = ev.run("trustworthiness", None)
        points = results.augment().set_index("embedding")["value"]
        gaps = points["a"].to_numpy() - points["b"].to_numpy()
        p = results.compare(adjust=None).pairs["p_value"][0]
        rejections.append([stats.ttest_1samp(gaps, 0).pvalue, stats.wilcoxon(gaps).pvalue, p])
    t, wilcoxon, paired = np.mean(np.array(rejections) <= 0.05, axis=0)

    assert min(t, wilcoxon) > 0.15
    assert paired <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / len(rejections))
