"""Retrieval of the points of a class, as an area under the ROC curve."""

from __future__ import annotations

import numpy as np

from dreval._parallel import run_blocks
from dreval.geometry.blocks import View
from dreval.geometry.distances import Space, block_rows
from dreval.measures._classes import SEPARATION, members
from dreval.measures._measure import FloatArray, measure
from dreval.records.notes import ASSUMPTION, Notes, define

ALONE = define("label_retrieval_auc.alone", ASSUMPTION, "points that are alone in their class count 0.5: {count}")


@measure(
    symbol="AUC_L",
    title="Label retrieval",
    question="Are the points of the same class nearer to a point of the embedding than the others, at every scale?",
    says=("Classes lie together", "Classes are mixed"),
    goals=("classes", "prediction"),
    level="point",
    needs=("coordinates", "labels"),
    direction="higher",
    bounds=(0.0, 1.0),
    chance=0.5,
    invariances=frozenset({"translation", "rotation", "scale", "monotone"}),
    caution=SEPARATION,
    cost="O(n^2 (d + log n)) time; O(n) memory beside one block of rows.",
    operations=lambda s: 9 * s.m * s.n,
    reference="@hanley1982; with each point as a query, averaged over points, as in the R package quadra (roc_auc).",
)
def label_retrieval_auc(view: View) -> tuple[FloatArray, Notes]:
    r"""Mean over the points of the area under the ROC curve of retrieving their class by distance in the embedding.

    .. math:: \mathrm{AUC}_L = \frac{1}{n} \sum_{i=1}^n \frac{1}{|P_i|} \sum_{(j, l) \in P_i}
              \left([y_{ij} < y_{il}] + \tfrac{1}{2} [y_{ij} = y_{il}]\right),

    where :math:`P_i` are the pairs of another point j of the class of i and a point l of another class. There is no k:
    all points of the class are used. The data are not used. The only point of a class contributes one half. At least
    two classes are required, and fewer than points.

    See Also
    --------
    neighborhood_hit, knn_accuracy : the k nearest neighbors only.
    silhouette : mean distances.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Y = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> dreval.label_retrieval_auc(Y, Y, labels=list("aaabbb"))
    1.0
    >>> round(dreval.label_retrieval_auc(Y, Y, labels=list("aababb")), 3)
    0.528
    """
    from dreval.geometry._loops import orders as loops

    classes = members(view)
    space, n = Space.of(view.Y[view.population]), view.n
    own, at = classes.codes[classes.rows], classes.rows
    areas = np.empty(len(at))

    def one(part: slice) -> None:
        block = space.direct_block(at[part])
        loops.retrieval_areas(block, block.view(np.int64), at[part], classes.codes, areas[part])

    size = block_rows(n)
    run_blocks(one, [slice(a, min(a + size, len(at))) for a in range(0, len(at), size)], view.n_jobs)
    alone = int(np.count_nonzero(classes.sizes[own] == 1))
    return areas, (ALONE(count=alone),) if alone else ()
