"""Silhouette of the batches within each label."""

from __future__ import annotations

import numpy as np

from dreval.errors import UndefinedMeasure
from dreval.geometry.blocks import View
from dreval.measures._batches import MIXED, NOISE
from dreval.measures._classes import Members, members, silhouette_widths
from dreval.measures._measure import measure
from dreval.records.notes import ASSUMPTION, Notes, define

LEFT = define(
    "silhouette_batch.left", ASSUMPTION, "labels of one batch, or with one point of each, are left out: {count}"
)


@measure(
    symbol="ASW_B",
    title="Silhouette of the batches",
    question="Within each label, do the batches overlap?",
    says=("Within labels, batches overlap", "Within labels, batches are separate"),
    goals=("batches",),
    level="global",
    needs=("coordinates", "labels", "batch"),
    direction="higher",
    bounds=(0.0, 1.0),
    chance="permutation",
    chance_formula=MIXED,
    quadratic=True,
    invariances=frozenset({"translation", "rotation", "scale"}),
    caution=NOISE,
    cost="O(sum of n_c^2 d) time for labels of n_c points; O(n) memory beside one block of rows.",
    reference="@luecken2022.",
)
def silhouette_batch(view: View) -> tuple[float, Notes]:
    r"""Mean over the labels of 1 - |s|, with s the silhouette widths of its points with the batches as clusters.

    .. math:: \mathrm{ASW}_B = \frac{1}{C} \sum_{c=1}^C \frac{1}{n_c} \sum_{i: c_i = c} (1 - |s_i|),

    with :math:`s_i` the silhouette width (``silhouette``) of point i among the points of its label, with their batches
    as clusters. 1: the batches of each label overlap; 0: they are separate. Labels that have one batch, or as
    many batches as points, are left out, with a note. The data are not used.

    A silhouette compares with the nearest other batch: where two of several batches overlap and the others lie apart,
    the value is high (Rautenstrauch & Ohler 2025). Read it beside ``ilisi``.

    See Also
    --------
    silhouette : of the labels.
    ilisi, kbet : the batches among neighbors.
    isolated_labels : labels that few batches have.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Y = np.random.default_rng(0).normal(size=(200, 2))
    >>> labels, batch = np.repeat(list("ab"), 100), np.arange(200) % 2
    >>> round(dreval.silhouette_batch(Y, Y, labels=labels, batch=batch), 3)
    0.912
    >>> round(dreval.silhouette_batch(Y, Y + 9.0 * batch[:, None], labels=labels, batch=batch), 3)
    0.139
    """
    classes, batches = (members(view, least=1, of=of, alone=True) for of in ("labels", "batch"))
    points = view.Y[view.population]
    means = []
    for own in np.split(np.argsort(classes.codes, kind="stable"), np.cumsum(classes.sizes)[:-1]):
        codes, sizes = np.unique(batches.codes[own], return_inverse=True, return_counts=True)[1:]
        if 1 < len(sizes) < len(own):
            widths = silhouette_widths(points[own], Members(codes, sizes, np.arange(len(own))), view.n_jobs)
            means.append(float(np.mean(1.0 - np.abs(widths))))
    if not means:
        cure = "Pass batches that share labels; ilisi needs no labels."
        raise UndefinedMeasure("batch", "must have a label of several batches and more points", "none", cure)
    left = len(classes.sizes) - len(means)
    return float(np.mean(means)), (LEFT(count=left),) if left else ()
