"""Label-trustworthiness (Jeon et al.)."""

from __future__ import annotations

import numpy as np

from dreval.geometry.blocks import View
from dreval.indices._classes import members, pair_matching
from dreval.indices._index import index


@index(
    symbol="LT",
    title="Label-trustworthiness",
    question="Are classes that are apart in the data kept apart in the embedding?",
    level="global",
    needs=("coordinates", "features", "labels"),
    direction="higher",
    bounds=(-1.0, 1.0),
    chance="permutation",
    invariances=frozenset({"translation", "rotation", "scale"}),
    cost="O(n c (p + d)) time with c classes; O(n p + c^2) memory.",
    reference=(
        "Jeon, Kuo, Aupetit, Ma & Seo (2023), Classes are not clusters: improving label-based evaluation of\n"
        "dimensionality reduction, IEEE TVCG 30(1), 781-791, with distance consistency as the measure of class-label\n"
        "matching, rescaled to 2 s - 1 as in the authors' program (ZADU leaves the rescaling out)."
    ),
)
def label_trustworthiness(view: View) -> float:
    """How little the embedding compresses pairs of classes, judged against the data.

    LT = 1 - (2 / (c (c - 1))) sum_{a < b} max(M_X(a, b) - M_Y(a, b), 0), where M(a, b) = 2 s - 1 and s is
    the share of the points of classes a and b that are nearer to the centroid of their own class, in the data for M_X
    and in the embedding for M_Y. Unlike a score of the embedding alone it does not praise pictures that separate what
    the data mix.
    A point as near to both centroids counts one half. M is 1 for classes that centroids separate, 0 for mixed ones, and
    negative only where most points lie nearer to the wrong centroid; without such pairs the value is at least 0. At
    least two classes are needed.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> apart = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> mixed = np.array([[0.0], [10.0], [2.0], [1.0], [11.0], [12.0]])
    >>> round(dreval.label_trustworthiness(apart, mixed, labels=list("aaabbb")), 3)
    0.333
    """
    classes = members(view, least=2)
    data = pair_matching(view.features(), classes)
    embedding = pair_matching(view.Y[view.population], classes)
    return float(1.0 - np.mean(np.maximum(data - embedding, 0.0)))
