"""Agreement of replicates: equal maps, unrelated maps, plain twins, and the score of dynamicviz."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import hypergeom
from sklearn.neighbors import NearestNeighbors

from dreval.geometry.distances import nearest
from dreval.geometry.procrustes import (
    Replicate,
    align,
    count_coincident,
    jaccard_chance,
    log_variation,
    neighbor_agreement,
    variance_score,
)


def similar(Y, rng):
    """The map turned, reflected, scaled and moved."""
    turn, _ = np.linalg.qr(rng.normal(size=(Y.shape[1], Y.shape[1])))
    return rng.uniform(0.2, 5.0) * Y @ turn + rng.normal(size=Y.shape[1])


def parts(n, R, share, rng):
    """Rows of R replicates."""
    return [np.sort(rng.choice(n, int(share * n), replace=False)) for _ in range(R)]


def all_pairs(replicates):
    return list(combinations(range(len(replicates)), 2))


@given(st.integers(0, 2**31), st.sampled_from([0.5, 1.0]), st.integers(1, 3), st.booleans())
def test_one_map_is_reproduced(seed, share, d, doubled):
    """Copies up to similarity, also of halves and with duplicates, agree in full and do not vary."""
    rng = np.random.default_rng(seed)
    Y = rng.normal(size=(60, d))
    if doubled:
        Y[30:40] = Y[:10]
    replicates = [Replicate(rows, similar(Y[rows], rng)) for rows in parts(60, 6, share, rng)]
    lists = nearest(rng.normal(size=(60, 3)), 7)[0]
    agreement = neighbor_agreement(replicates, all_pairs(replicates), 60, 5)
    finite = np.isfinite(agreement.points)
    if not doubled:  # rounding breaks the ties of duplicates in either order
        assert_allclose(agreement.points[finite], 1.0)
    assert np.nanmax(log_variation(replicates, lists, 60)) <= 1e-20
    assert np.nanmax(align(replicates, 60).radius()) < 1e-6


def test_unrelated_maps_agree_at_chance_level_only():
    rng = np.random.default_rng(0)
    values = []
    for _ in range(20):
        replicates = [Replicate(rows, rng.normal(size=(len(rows), 2))) for rows in parts(120, 4, 0.5, rng)]
        values.append(np.nanmean(neighbor_agreement(replicates, all_pairs(replicates), 120, 6).points))
    assert abs(np.mean(values)) < 3 * np.std(values, ddof=1) / np.sqrt(len(values))


@pytest.mark.parametrize(("n", "k"), [(100, 15), (12, 5), (8, 3)])
def test_chance_of_the_jaccard_index(n, k):
    sample = hypergeom(n - 1, k, k).rvs(200_000, random_state=0)
    assert jaccard_chance(n, k) == pytest.approx((sample / (2 * k - sample)).mean(), abs=2e-3)


def test_agreement_is_that_of_plain_sets():
    rng = np.random.default_rng(3)
    n, k = 40, 6
    replicates = [Replicate(rows, rng.normal(size=(len(rows), 2))) for rows in parts(n, 5, 0.6, rng)]
    agreement = neighbor_agreement(replicates, all_pairs(replicates), n, k)
    values: list[list[float]] = [[] for _ in range(n)]
    for (r, s), of_pair in zip(all_pairs(replicates), agreement.pairs, strict=True):
        common = np.intersect1d(replicates[r].rows, replicates[s].rows)
        k_compared, sets = min(k, (len(common) - 1) // 2), []
        for replicate in (replicates[r], replicates[s]):
            Y = replicate.Y[np.isin(replicate.rows, common)]
            sets.append(NearestNeighbors(n_neighbors=k_compared).fit(Y).kneighbors(return_distance=False))
        chance = jaccard_chance(len(common), k_compared)
        scores = []
        for position, i in enumerate(common):
            a, b = set(sets[0][position]), set(sets[1][position])
            scores.append((len(a & b) / len(a | b) - chance) / (1 - chance))
            values[i].append(scores[-1])
        assert of_pair == pytest.approx(np.mean(scores))
    expected = [np.mean(scores) if scores else np.nan for scores in values]
    assert_allclose(agreement.points, expected, atol=1e-12)


def test_log_variation_is_the_residual_of_least_squares():
    """One dense regression on all pairs and replicates gives the same values."""
    rng = np.random.default_rng(1)
    n, R, m = 25, 5, 4
    replicates = [
        Replicate(rows, np.exp(rng.normal()) * rng.normal(size=(len(rows), 2))) for rows in parts(n, R, 0.7, rng)
    ]
    lists = nearest(rng.normal(size=(n, 3)), m)[0]
    rows, y, owner = [], [], []
    n_pairs = 0
    for i in range(n):
        for j in lists[i]:
            present = [
                (r, replicate) for r, replicate in enumerate(replicates) if i in replicate.rows and j in replicate.rows
            ]
            if len(present) < 3:
                continue
            for r, replicate in present:
                gap = replicate.Y[np.searchsorted(replicate.rows, i)] - replicate.Y[np.searchsorted(replicate.rows, j)]
                y.append(np.log(np.linalg.norm(gap)))
                rows.append((n_pairs, r))
                owner.append(i)
            n_pairs += 1
    design = np.zeros((len(y), n_pairs + R))
    for at, (pair, r) in enumerate(rows):
        design[at, pair] = design[at, n_pairs + r] = 1.0
    residual = np.array(y) - design @ np.linalg.lstsq(design, np.array(y), rcond=None)[0]
    pairs = np.array([pair for pair, _ in rows])
    sums, count = np.bincount(pairs, residual**2), np.bincount(pairs)
    freedom = (count - 1).sum()
    variance = sums / (count - 1) * freedom / (freedom - (R - 1))
    owner_of = {pair: i for (pair, _), i in zip(rows, owner, strict=True)}
    expected = np.full(n, np.nan)
    for i in set(owner):
        expected[i] = np.mean([variance[pair] for pair, of in owner_of.items() if of == i])
    assert_allclose(log_variation(replicates, lists, n), expected, rtol=1e-9)


def test_the_scale_of_a_replicate_is_not_variation():
    rng = np.random.default_rng(5)
    Y = rng.normal(size=(50, 2))
    noisy = [Y + 0.05 * rng.normal(size=Y.shape) for _ in range(6)]
    lists, all_rows = nearest(Y, 5)[0], np.arange(50)
    expected = log_variation([Replicate(all_rows, map_of_noise) for map_of_noise in noisy], lists, 50)
    scaled = log_variation([Replicate(all_rows, similar(map_of_noise, rng)) for map_of_noise in noisy], lists, 50)
    assert_allclose(expected, scaled, rtol=1e-8)


def test_coincident_images_are_floored_and_counted():
    Y = np.array([[0.0, 0], [0, 0], [1, 0], [0, 1], [3, 1], [2, 2]])
    replicates = [Replicate(np.arange(6), Y * s) for s in (1.0, 2.0, 3.0)]
    lists = np.array([[1, 2], [0, 2], [3, 4], [2, 4], [5, 2], [4, 2]])
    assert count_coincident(replicates, lists, 6) == 2
    assert np.nanmax(log_variation(replicates, lists, 6)) < 1e-20


def test_a_constant_map_agrees_with_none():
    rng = np.random.default_rng(0)
    replicates = [Replicate(np.arange(30), np.zeros((30, 2))) for _ in range(3)]
    agreement = neighbor_agreement(replicates, all_pairs(replicates), 30, 5)
    assert (agreement.points == 0.0).all()
    mixed = [*replicates[:1], *(Replicate(np.arange(30), rng.normal(size=(30, 2))) for _ in range(2))]
    assert np.isfinite(log_variation(mixed, nearest(rng.normal(size=(30, 2)), 4)[0], 30)).all()
    assert np.isfinite(align(mixed, 30).radius()).all()


def test_variance_score_is_that_of_dynamicviz():
    """Values of the authors' code, stored with script and version."""
    oracle = json.loads((Path(__file__).parents[1] / "validation" / "oracles" / "dynamicviz_score.json").read_text())
    maps = [np.array(coordinates) for coordinates in oracle["maps"]]
    n = len(maps[0])
    replicates = [Replicate(np.arange(n), Y) for Y in maps]
    lists = nearest(np.array(oracle["data"]), oracle["k"])[0]
    assert_allclose(variance_score(replicates, lists, n), oracle["local"], rtol=1e-12)
    all_points = np.broadcast_to(np.arange(n), (n, n))
    assert_allclose(variance_score(replicates, all_points, n), oracle["global"], rtol=1e-12)


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_the_value_without_each_replicate_is_that_of_the_others(share):
    rng = np.random.default_rng(3)
    Y = rng.normal(size=(60, 2))
    replicates = [Replicate(rows, Y[rows] + 0.3 * rng.normal(size=(len(rows), 2))) for rows in parts(60, 5, share, rng)]
    agreement = neighbor_agreement(replicates, all_pairs(replicates), 60, 4)
    for r in range(5):
        remaining = replicates[:r] + replicates[r + 1 :]
        expected = np.nanmean(neighbor_agreement(remaining, all_pairs(remaining), 60, 4).points)
        assert_allclose(agreement.without[r], expected, rtol=1e-12)


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_a_point_in_its_list_is_not_a_pair(share):
    rng = np.random.default_rng(4)
    Y = rng.normal(size=(40, 2))
    replicates = [Replicate(rows, Y[rows] + 0.3 * rng.normal(size=(len(rows), 2))) for rows in parts(40, 6, share, rng)]
    lists = nearest(Y, 7)[0]
    with_self = np.column_stack([np.arange(40), lists])
    assert_allclose(log_variation(replicates, with_self, 40), log_variation(replicates, lists, 40), rtol=1e-12)
