"""Silhouette of the labels that occur in the fewest batches."""

from __future__ import annotations

import numpy as np

from dreval.geometry.blocks import View
from dreval.measures._classes import SEPARATION, members, silhouette_widths
from dreval.measures._measure import measure
from dreval.records.notes import ASSUMPTION, Notes, define

WHICH = define(
    "isolated_labels.which",
    ASSUMPTION,
    "{count} of {labels} labels are in {least} of {batches} batches, and none in fewer",
)


@measure(
    symbol="IL",
    title="Isolated labels",
    question="Are the labels that occur in the fewest batches separate from the others?",
    says=("Labels of few batches are apart from the others", "Labels of few batches are mixed with others"),
    goals=("classes", "batches"),
    level="global",
    needs=("coordinates", "labels", "batch"),
    direction="higher",
    bounds=(0.0, 1.0),
    chance="permutation",
    quadratic=True,
    invariances=frozenset({"translation", "rotation", "scale"}),
    caution=SEPARATION,
    cost="O(n^2 d) time; O(n) memory beside one block of rows.",
    reference="@luecken2022. In its form with silhouettes, as in scib-metrics.",
)
def isolated_labels(view: View) -> tuple[float, Notes]:
    r"""Mean over the isolated labels of (1 + s) / 2, with s the mean silhouette width of the label.

    .. math:: \mathrm{IL} = \frac{1}{|I|} \sum_{c \in I} \frac{1}{n_c} \sum_{i: c_i = c} \frac{1 + s_i}{2},

    with I the labels that occur in the fewest batches, and :math:`s_i` the silhouette width of point i in the
    embedding, with the labels as clusters. A method that removes differences between batches may also remove a kind of
    point that few batches have. The data are not used. Where all labels are in the same number of batches all of them
    count. At least two labels and two batches are required, and fewer than points.

    See Also
    --------
    silhouette : of all labels.
    clisi : neighbors in place of mean distances.
    silhouette_batch, ilisi : whether batches are mixed.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Y = np.array([[0.0], [1.0], [2.0], [3.0], [9.0], [10.0]])
    >>> round(dreval.isolated_labels(Y, Y, labels=list("aaaabb"), batch=[0, 1, 0, 1, 1, 1]), 3)
    0.937
    """
    classes, batches = members(view), members(view, of="batch")
    pairs = np.unique(np.c_[classes.codes, batches.codes], axis=0)
    present = np.bincount(pairs[:, 0])
    isolated = np.flatnonzero(present == present.min())
    widths = silhouette_widths(view.Y[view.population], classes._replace(rows=np.arange(view.n)), view.n_jobs)
    means = np.bincount(classes.codes, (1.0 + widths) / 2.0) / classes.sizes
    which = {"labels": len(present), "least": int(present.min()), "batches": len(batches.sizes)}
    return float(np.mean(means[isolated])), (WHICH(count=len(isolated), **which),)
