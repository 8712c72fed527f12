"""Retrieval of the points of a class, as an area under the ROC curve."""

from __future__ import annotations

import numpy as np

from dreval._parallel import run_blocks
from dreval.geometry.blocks import View
from dreval.geometry.distances import Space, block_rows
from dreval.measures._classes import members
from dreval.measures._measure import FloatArray, measure


@measure(
    symbol="AUC_L",
    title="Label retrieval",
    question="Seen from a point of the embedding, are the points of its class nearer than the others, at every scale?",
    level="point",
    needs=("coordinates", "labels"),
    direction="higher",
    bounds=(0.0, 1.0),
    chance=0.5,
    invariances=frozenset({"translation", "rotation", "scale"}),
    cost="O(n^2 (d + log n)) time; O(n) memory beside one block of rows.",
    reference=(
        "Hanley & McNeil (1982), The meaning and use of the area under a ROC curve, Radiology 143; with each point as\n"
        "a query, averaged over points, as in the R package quadra (roc_auc)."
    ),
)
def label_retrieval_auc(view: View) -> tuple[FloatArray, str]:
    """Mean over the points of the area under the ROC curve of retrieving their class by distance in the embedding.

    The contribution of a point i is the share of pairs (j, l), with j another point of its class and l a point of
    another class, in which j is nearer to i than l; equally far counts one half. Unlike the neighborhood hit it has no
    k: it asks for all points of the class. The data are not read. The only point of its class contributes one half. At
    least two classes are needed. Where the embedding has nothing to do with the classes a point is as likely nearer as
    farther: one half is expected.

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

    classes = members(view, least=2)
    space, n = Space.of(view.Y[view.population]), view.n
    own, at = classes.codes[classes.rows], classes.rows
    areas = np.empty(len(at))

    def one(part: slice) -> None:
        block = space.direct_block(at[part])
        loops.retrieval_areas(block, block.view(np.int64), at[part], classes.codes, areas[part])

    size = block_rows(n)
    run_blocks(one, [slice(a, min(a + size, len(at))) for a in range(0, len(at), size)], view.n_jobs)
    alone = int(np.count_nonzero(classes.sizes[own] == 1))
    return areas, f"points that are alone in their class count 0.5: {alone}" if alone else ""
