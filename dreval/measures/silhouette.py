"""Silhouette of the classes."""

from __future__ import annotations

from dreval.geometry.blocks import View
from dreval.measures._classes import SEPARATION, members, silhouette_widths
from dreval.measures._measure import FloatArray, measure


@measure(
    symbol="SIL",
    title="Silhouette of the classes",
    question="Are the classes compact and separated in the embedding?",
    says=("Classes are compact and apart", "Classes overlap"),
    grades=(0.25, 0.5),
    goals=("classes",),
    level="point",
    needs=("coordinates", "labels"),
    direction="higher",
    bounds=(-1.0, 1.0),
    chance="permutation",
    quadratic=True,
    invariances=frozenset({"translation", "rotation", "scale"}),
    caution=SEPARATION,
    cost="O(n^2 d) time; O(n) memory beside one block of rows.",
    operations=lambda s: 3 * s.m * s.n,
    reference="@rousseeuw1987.",
)
def silhouette(view: View) -> FloatArray:
    r"""Mean silhouette width of the points in the embedding, with the classes as clusters.

    .. math:: s_i = \frac{b_i - a_i}{\max(a_i, b_i)},

    with :math:`a_i` the mean distance of point i to the others of its class and :math:`b_i` the smallest mean distance
    to the points of another class. The only point of a class, and a point with :math:`a_i = b_i = 0`, contribute 0. The
    data are not used. At least two classes are required, and fewer than points.

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
    return silhouette_widths(view.Y[view.population], members(view), view.n_jobs)
