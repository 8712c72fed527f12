"""Label-trustworthiness (Jeon et al.)."""

from __future__ import annotations

import numpy as np

from dreval.geometry.blocks import View
from dreval.measures._classes import PAIRS_OF_CLASSES, matchings
from dreval.measures._measure import measure


@measure(
    symbol="LT",
    title="Label-trustworthiness",
    question="Are classes that are apart in the data kept apart in the embedding?",
    **PAIRS_OF_CLASSES,
)
def label_trustworthiness(view: View) -> float:
    """How little the embedding compresses pairs of classes, judged against the data.

    LT = 1 - (2 / (c (c - 1))) sum_{a < b} max(M_X(a, b) - M_Y(a, b), 0), where M(a, b) = 2 s - 1 and s is
    the share of the points of classes a and b that are nearer to the centroid of their own class, in the data for M_X
    and in the embedding for M_Y. Unlike a score of the embedding alone it does not praise embeddings that separate what
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
    data, embedding = matchings(view)
    return float(1.0 - np.mean(np.maximum(data - embedding, 0.0)))
