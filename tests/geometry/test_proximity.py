"""Proximity graphs against naive twins, against each other, and against Qhull's convex hull."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.spatial import ConvexHull
from strategies import clouds, tie_free_clouds

from dreval.geometry.distances import Space
from dreval.geometry.graphs import (
    beta_skeleton,
    chunks_of,
    connected_parts,
    delaunay,
    simplex_edges,
    span_coordinates,
    spanning_tree,
)
from dreval.methods.lsdr import symmetric


def _set(edges):
    return set(map(tuple, edges.tolist()))


def _naive_skeleton(X, beta):
    """Both balls, by their centers, for every pair and every third point."""
    n, edges = len(X), set()
    for i in range(n):
        for j in range(i + 1, n):
            radius = beta / 2 * np.linalg.norm(X[i] - X[j])
            center_i, center_j = (1 - beta / 2) * X[i] + beta / 2 * X[j], (1 - beta / 2) * X[j] + beta / 2 * X[i]
            inside = np.maximum(np.linalg.norm(X - center_i, axis=1), np.linalg.norm(X - center_j, axis=1)) < radius
            inside[[i, j]] = False
            if not inside.any():
                edges.add((i, j))
    return edges


@given(tie_free_clouds(min_n=4, max_n=25, max_p=5), st.floats(1, 2))
def test_beta_skeletons_equal_a_naive_twin(X, beta):
    """No point in the lune, for any beta."""
    assert _set(beta_skeleton(X, beta)) == _naive_skeleton(X, beta)


@given(tie_free_clouds(min_n=8, max_n=40, min_p=2, max_p=4))
def test_each_graph_holds_the_next(X):
    """Delaunay, Gabriel, relative neighborhood graph, spanning tree: a chain of inclusions (Toussaint, 1980)."""
    chain = [simplex_edges(delaunay(X)), beta_skeleton(X, 1.0), beta_skeleton(X, 2.0), spanning_tree(Space.of(X))[0]]
    for larger, smaller in pairwise(chain):
        assert _set(smaller) <= _set(larger)


@given(tie_free_clouds(min_n=6, max_n=30, min_p=2, max_p=3))
def test_facets_of_one_simplex_are_the_convex_hull(X):
    """The corners of the facets that only one simplex has."""
    simplices = delaunay(X)
    facets = np.concatenate([np.delete(simplices, c, axis=1) for c in range(simplices.shape[1])])
    facets, count = np.unique(facets, axis=0, return_counts=True)
    assert count.max() == 2
    assert_array_equal(np.unique(facets[count == 1]), np.sort(ConvexHull(X).vertices))


@given(clouds(min_n=4, max_n=30, max_p=4, scales=False))
def test_the_tree_spans(X):
    """n - 1 edges that connect distinct points of any cloud; the flat coordinates keep all distances."""
    X = np.unique(X, axis=0)
    assume(len(X) > 1)
    tree = spanning_tree(Space.of(X))[0]
    assert len(tree) == len(X) - 1
    assert connected_parts(symmetric(tree, np.ones(len(tree)), len(X)))[0] == 1


def test_points_in_a_plane_of_space_are_tessellated_in_it():
    """A plane in five dimensions gives triangles, a line gives segments, r + 1 points one simplex."""
    rng = np.random.default_rng(0)
    flat = rng.normal(size=(30, 2))
    turned = flat @ np.linalg.qr(rng.normal(size=(5, 2)))[0].T + 3.0
    assert span_coordinates(turned).shape == (30, 2)
    assert_array_equal(delaunay(turned), delaunay(flat))
    assert_array_equal(delaunay(np.array([[0.0, 0.0], [2.0, 2.0], [1.0, 1.0]])), [[0, 2], [1, 2]])
    assert_array_equal(delaunay(rng.normal(size=(4, 7))), [[0, 1, 2, 3]])


@pytest.mark.parametrize("size", [1, 7, 50])
def test_chunks_are_a_partition(size):
    """Every row once, no group too large."""
    chunks = chunks_of(np.random.default_rng(0).normal(size=(50, 3)), size)
    assert max(map(len, chunks)) <= size
    assert_array_equal(np.sort(np.concatenate(chunks)), np.arange(50))
