"""Label-trustworthiness (Jeon et al.)."""

from __future__ import annotations

from dreval.geometry.blocks import View
from dreval.measures._classes import PAIRS_OF_CLASSES, compressions
from dreval.measures._measure import measure


@measure(
    symbol="LT",
    title="Label-trustworthiness",
    question="Are classes that are separated in the data separated in the embedding?",
    says=("Classes apart in the data are shown apart", "Classes apart in the data may be shown mixed"),
    goals=("classes", "arrangement"),
    **PAIRS_OF_CLASSES,
)
def label_trustworthiness(view: View) -> float:
    r"""How little the embedding compresses pairs of classes, compared with the data.

    .. math:: \mathrm{LT} = 1 - \frac{2}{C (C - 1)} \sum_{a < b} \max(M_X(a, b) - M_Y(a, b), 0),

    where :math:`M(a, b) = 2 s - 1` and s is the share of the points of classes a and b that are nearer to the centroid
    of their own class, in the data for :math:`M_X` and in the embedding for :math:`M_Y`; a point at the same distance
    from both centroids counts one half, and C is the number of classes. M is 1 for classes that centroids separate, 0
    for mixed ones, and negative only where most points are nearer to the wrong centroid; without such pairs of classes
    the value is at least 0. At least two classes are required. An embedding that separates classes which overlap in the
    data does not gain by it.

    See Also
    --------
    label_continuity : the same for classes that the embedding pulls apart.
    class_aware_trustworthiness : neighborhoods of points.
    distance_consistency : the embedding alone.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> apart = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> mixed = np.array([[0.0], [10.0], [2.0], [1.0], [11.0], [12.0]])
    >>> round(dreval.label_trustworthiness(apart, mixed, labels=list("aaabbb")), 3)
    0.333
    """
    return 1.0 - compressions(view)[0]
