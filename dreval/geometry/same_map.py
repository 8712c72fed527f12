"""Find embeddings that are the data, and embeddings that are the same map.

Two tables are the same map if their values are equal, or equal up to a similarity transformation: a rotation or
reflection, a translation and one scale for all columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dreval._check import FloatArray
from dreval.geometry.procrustes import SAME_MAP, Centered, disparity, distances_from_center, squared_differences
from dreval.inputs.data import Data
from dreval.inputs.stored import blockwise

PROFILE_TOLERANCE = 1e-5  # of distances from the center, at size 1: ten times the difference that SAME_MAP allows
MAX_ROTATED_COLUMNS = 2000  # with more columns no rotation is computed, since it takes O(p^3) time


def same_values(X: Any, Y: Any) -> bool:
    """Return whether two tables have the same shape and values: squared differences below 1e-12 of the spread of X.

    Rounding to float32 leaves them the same. O(n p) time.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(9, 2))
    >>> same_values(X, X.astype(np.float32)), same_values(X, 2 * X), same_values(X, X[:, :1])
    (True, False, False)
    """
    if X.shape != Y.shape:
        return False
    with np.errstate(over="ignore", invalid="ignore"):  # of sizes that are far apart, which are not the same
        distance, spread = map(sum, zip(*blockwise(X, squared_differences, Y, Centered.of(X)), strict=True))
    return bool(distance == 0.0 or distance < SAME_MAP * spread)


def same_map(X: Any, Y: Any) -> bool:
    """Return whether two tables with the same number of columns are equal up to a similarity transformation.

    Their Procrustes disparity must be below 1e-12. It is computed only if the distances from the center, at the same
    total size, agree: O(n p) time for these, O(n p^2 + p^3) for the disparity. Of more than 2000 columns only equal
    values count.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(9, 2))
    >>> same_map(X, 3 - 2 * X[:, ::-1]), same_map(X, X**2), same_map(np.c_[X, X], X)
    (True, False, False)
    """
    if X.shape != Y.shape:
        return False
    if X.shape[1] > MAX_ROTATED_COLUMNS:
        return same_values(X, Y)
    profiles = distances_from_center(X), distances_from_center(Y)
    return _similar_profiles(*profiles) and disparity(X, Y) < SAME_MAP


def _similar_profiles(left: FloatArray, right: FloatArray) -> bool:
    """Return whether two profiles of distances from the center differ by rounding only."""
    return bool(np.linalg.norm(left - right) < PROFILE_TOLERANCE)


def data_among(data: Data, embedded: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the embeddings that are the data: their values are those of a perfect embedding.

    An embedding is the data if it has their number of columns, and their values or, where distances in the data are
    Euclidean, a Procrustes disparity from them below 1e-12. Other distances change under the transformations that
    do not change the disparity. An equal number of columns alone does not make an embedding the data.
    """
    same = same_map if data.metric == data.embedding_metric == "euclidean" else same_values
    return tuple(name for name, Y in embedded.items() if same_values(data.table, Y) or same(data.table, Y))


def equal_maps(embedded: Mapping[str, Any], metric: str = "euclidean") -> tuple[tuple[str, ...], ...]:
    """Return groups of embeddings with the same coordinates, or equal up to a similarity transformation.

    Under another metric of the embeddings than the Euclidean one only the same values count.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(9, 2))
    >>> equal_maps({"a": X, "b": X**2, "c": 2 * X[:, ::-1]})
    (('a', 'c'),)
    """
    shapes = [Y.shape for Y in embedded.values()]
    candidates = {name: Y for name, Y in embedded.items() if shapes.count(Y.shape) > 1}
    profiles = {name: distances_from_center(Y) for name, Y in candidates.items()}
    groups: list[list[str]] = []
    for name, Y in candidates.items():
        for group in groups:
            reference = candidates[group[0]]
            similar = reference.shape == Y.shape and _similar_profiles(profiles[name], profiles[group[0]])
            if similar and (same_values(reference, Y) or (metric == "euclidean" and same_map(reference, Y))):
                group.append(name)
                break
        else:
            groups.append([name])
    return tuple(tuple(group) for group in groups if len(group) > 1)
