"""Silhouette of the classes."""

from __future__ import annotations

import numpy as np

from dreval._parallel import run_blocks
from dreval.geometry.blocks import View
from dreval.geometry.distances import Space, block_rows
from dreval.measures._classes import Members, members
from dreval.measures._measure import FloatArray, measure


@measure(
    symbol="SIL",
    title="Silhouette of the classes",
    question="Are the classes compact and separated in the embedding?",
    level="point",
    needs=("coordinates", "labels"),
    direction="higher",
    bounds=(-1.0, 1.0),
    chance="permutation",
    quadratic=True,
    invariances=frozenset({"translation", "rotation", "scale"}),
    cost="O(n^2 d) time; O(n) memory beside one block of rows.",
    reference="Rousseeuw (1987), Silhouettes, J. Computational and Applied Mathematics 20, 53-65.",
)
def silhouette(view: View) -> FloatArray:
    r"""Mean silhouette width of the points in the embedding, with the classes as clusters.

    .. math:: s_i = \frac{b_i - a_i}{\max(a_i, b_i)},

    with :math:`a_i` the mean distance of point i to the others of its class and :math:`b_i` the smallest mean distance
    to the points of another class. The only point of a class, and a point with :math:`a_i = b_i = 0`, contribute 0. The
    data are not used. At least two classes are required.

    See Also
    --------
    distance_consistency : nearest class centroid.
    neighborhood_hit : classes of the nearest neighbors.
    label_trustworthiness, label_continuity : compare the separation of classes with that in the data.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Y = np.array([[0.0], [1.0], [10.0], [11.0]])
    >>> round(dreval.silhouette(Y, Y, labels=list("aabb")), 3)
    0.9
    """
    classes = members(view, least=2)
    order = np.argsort(classes.codes, kind="stable")
    space, n = Space.of(view.Y[view.population][order]), len(order)
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    own, at = classes.codes[classes.rows], place[classes.rows]
    widths = np.empty(len(at))

    def one(part: slice) -> None:
        widths[part] = _widths(np.sqrt(space.direct_block(at[part])), own[part], classes)

    size = block_rows(n)
    run_blocks(one, [slice(a, min(a + size, len(at))) for a in range(0, len(at), size)], view.n_jobs)
    return widths


def _widths(D: FloatArray, own: np.ndarray, classes: Members) -> FloatArray:
    """Silhouette widths of rows of distances to all points, which are sorted by class."""
    ends = np.cumsum(classes.sizes)
    sums = np.stack([D[:, end - size : end].sum(axis=1) for end, size in zip(ends, classes.sizes, strict=True)], axis=1)
    i = np.arange(len(own))
    alone = classes.sizes[own] == 1
    a = sums[i, own] / np.maximum(classes.sizes[own] - 1, 1)
    others = sums / classes.sizes
    others[i, own] = np.inf
    b = others.min(axis=1)
    larger = np.maximum(a, b)
    return np.where(alone | (larger == 0), 0.0, (b - a) / np.where(larger == 0, 1.0, larger))
