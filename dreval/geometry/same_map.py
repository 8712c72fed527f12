"""Which embeddings are the data, and which are the same map: equal values, or equal up to a similarity transformation.

A similarity transformation is a rotation or reflection, a translation and one scale for all columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dreval._check import FloatArray
from dreval.geometry.procrustes import SAME_MAP, Centered, disparity, distances_from_center, squared_differences
from dreval.inputs.data import Data
from dreval.inputs.stored import blockwise

PROFILE_TOLERANCE = 1e-5  # of distances from the center, at size 1: ten times what SAME_MAP allows them to differ
MAX_ROTATED_COLUMNS = 2000  # columns beyond which a rotation is not looked for, since it takes O(p^3) time


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
    """Return whether two tables of as many columns are equal up to a similarity transformation.

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
    return _near(*profiles) and disparity(X, Y) < SAME_MAP


def _near(first: FloatArray, second: FloatArray) -> bool:
    """Return whether two profiles of distances from the center differ by rounding only."""
    return bool(np.linalg.norm(first - second) < PROFILE_TOLERANCE)


def data_among(data: Data, embedded: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the embeddings that are the data: they show how values look where nothing is lost.

    An embedding is the data if it has their number of columns, and their values or, where distances in the data are
    Euclidean, a Procrustes disparity from them below 1e-12. Other distances change under the transformations that
    leave the disparity as it is. The number of columns alone makes no embedding the data.
    """
    same = same_map if data.metric == "euclidean" else same_values
    return tuple(name for name, Y in embedded.items() if same_values(data.table, Y) or same(data.table, Y))


def equal_maps(embedded: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
    """Return groups of embeddings with the same coordinates, or equal up to a similarity transformation.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(9, 2))
    >>> equal_maps({"a": X, "b": X**2, "c": 2 * X[:, ::-1]})
    (('a', 'c'),)
    """
    shapes = [Y.shape for Y in embedded.values()]
    asked = {name: Y for name, Y in embedded.items() if shapes.count(Y.shape) > 1}
    profiles = {name: distances_from_center(Y) for name, Y in asked.items()}
    groups: list[list[str]] = []
    for name, Y in asked.items():
        for group in groups:
            first = asked[group[0]]
            near = first.shape == Y.shape and _near(profiles[name], profiles[group[0]])
            if near and (same_values(first, Y) or same_map(first, Y)):
                group.append(name)
                break
        else:
            groups.append([name])
    return tuple(tuple(group) for group in groups if len(group) > 1)
