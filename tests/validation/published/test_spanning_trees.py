"""Roy (2021), Trustworthy Dimensionality Reduction, Theorem 6: spanning trees between classes, at reduced size.

``spanning_trees.py`` of this folder prints the full table.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist
from spanning_trees import APART, DESIGNS, between, sample, trees, verdict


@pytest.mark.parametrize("design", DESIGNS)
def test_edges_between_classes_are_those_of_scipy(design):
    """The counts are those of SciPy's tree on the distance matrix; at least one edge leaves each class."""
    X, labels = sample(design, 15, np.random.default_rng(0))
    tree = minimum_spanning_tree(cdist(X, X)).tocoo()
    counts = dict.fromkeys(between(X, labels), 0)
    for i, j in zip(tree.row, tree.col, strict=True):
        if labels[i] != labels[j]:
            counts[tuple(sorted((int(labels[i]), int(labels[j]))))] += 1
    assert between(X, labels) == counts
    assert sum(counts.values()) >= labels.max()


def test_designs_are_as_stated():
    """4000 points a class have the stated distances of centers, largest errors and second moments."""
    for design, (classes, columns, distance, errors) in DESIGNS.items():
        X, labels = sample(design, 4000, np.random.default_rng(1))
        means = np.array([X[labels == c].mean(axis=0) for c in range(classes)])
        steps = cdist(means, means)[np.triu_indices(classes, 1)]
        assert steps == pytest.approx(np.full(len(steps), distance), abs=0.1)
        sizes = np.linalg.norm(X - means[labels], axis=1)
        second = columns / (columns + 2) if errors == "ball" else columns
        assert np.mean(sizes**2) == pytest.approx(second, rel=0.05)
        assert (sizes.max() < 1.05) == (errors == "ball")


def test_one_distribution_has_the_mean_of_friedman_and_rafsky():
    """Labels at random: 2 m n / (m + n) edges between classes on average, whatever the points; 300 draws, 4 errors."""
    rng = np.random.default_rng(2)
    X, labels = rng.normal(size=(60, 3)), np.repeat([0, 1], [20, 40])
    counts = [between(X, rng.permutation(labels))[0, 1] for _ in range(300)]
    assert np.mean(counts) == pytest.approx(2 * 20 * 40 / 60, abs=4 * np.std(counts) / np.sqrt(300))


def test_classes_apart_have_one_edge_and_overlapping_ones_more_and_more():
    """The theorem holds where supports are apart, and fails for normal errors two standard deviations apart."""
    few, many = trees("discs, .1 apart", 20, 40), trees("discs, .1 apart", 600, 20)
    assert few["share"] > 0.05
    assert many["share"] <= 0.05
    assert trees("discs, .5 apart", 200, 20) == {"share": 0.0, "edges": 1.0}
    overlapping = [trees("normal, 2 standard deviations apart", n, 10) for n in (30, 200)]
    assert overlapping[1]["share"] == 1
    assert overlapping[1]["edges"] > 3 * overlapping[0]["edges"]


@pytest.mark.parametrize(
    ("shares", "expected"),
    [([0.4, 0.0], "yes"), ([0.0, 0.05], "in part"), ([0.05, 0.05], "yes"), ([0.9, 0.3], "in part"), ([0.2, 0.5], "no")],
)
def test_the_rule_by_hand(shares, expected):
    """Yes if the last share is small and not larger than the first, no if it is a half or more, else in part."""
    assert verdict(pd.Series(shares)) == expected


def test_four_designs_have_supports_apart():
    """The designs with supports apart have balls of radius 1 and centers more than 2 apart."""
    assert [name for name, (_, _, apart, errors) in DESIGNS.items() if errors == "ball" and apart > 2] == APART
