"""Davies-Bouldin index of the classes."""

from __future__ import annotations

import numpy as np

from dreval.errors import UndefinedMeasure
from dreval.geometry.blocks import View
from dreval.geometry.distances import pairwise_squared
from dreval.measures._classes import centroids, fewer_than_points, members, unit
from dreval.measures._measure import measure

TINY = 1e-28  # squared distances of centroids that are smaller, of points of size 1, are 0


@measure(
    symbol="DB",
    title="Davies-Bouldin index of the classes",
    question="Is each class separated in the embedding from the class that is most like it?",
    goals=("classes",),
    level="global",
    needs=("coordinates", "labels"),
    direction="lower",
    bounds=(0.0, float("inf")),
    chance="permutation",
    chance_formula=(
        "mean over 20 random permutations of the rows of the embedding that have a value; a rough one, since centroids "
        "of classes in random order can lie as near each other as they like"
    ),
    invariances=frozenset({"translation", "rotation", "scale"}),
    cost="O(n d + c^2 d) time with c classes, O(n d + c^2) memory.",
    reference="Davies & Bouldin (1979), A cluster separation measure, IEEE TPAMI 1, 224-227.",
)
def davies_bouldin(view: View) -> float:
    r"""Mean over the classes of the largest ratio of spread to separation with another class.

    .. math:: \mathrm{DB} = \frac{1}{c} \sum_a \max_{b \ne a} \frac{s_a + s_b}{|m_a - m_b|},

    with the centroids :math:`m_a` of the classes in the embedding and the mean distance :math:`s_a` of their points to
    them. The data are not used. At least two classes are required, and fewer than points.

    It has no upper bound, and is not defined where two classes have the same centroid: the ratio is infinite
    (scikit-learn leaves such pairs out, and returns 0, the best value, where there are no others). A class of one point
    has no spread, which makes it look separated.

    See Also
    --------
    calinski_harabasz : all classes at once.
    silhouette : bounded, and by distances of points.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Y = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> round(dreval.davies_bouldin(Y, Y, labels=list("aaabbb")), 3)
    0.133
    >>> round(dreval.davies_bouldin(Y, Y, labels=list("ababab")), 3)
    2.667
    """
    classes, points = fewer_than_points(members(view, least=2)), unit(view.Y[view.population])
    centers = centroids(points, classes)
    own = np.sqrt(np.square(points - centers[classes.codes]).sum(axis=1))
    spread = np.bincount(classes.codes, own) / classes.sizes
    apart = pairwise_squared(centers, centers)
    np.fill_diagonal(apart, np.inf)
    if apart.min() <= TINY:
        rule, cure = "must not have two classes with the same centroid", "Use silhouette, which is defined there too."
        raise UndefinedMeasure("embedding", rule, f"{int((apart <= TINY).sum()) // 2} such pairs of classes", cure)
    ratio = (spread[:, None] + spread) / np.sqrt(apart)
    return float(ratio.max(axis=1).mean())
