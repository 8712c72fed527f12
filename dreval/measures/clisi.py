"""cLISI: the effective number of labels among neighbors."""

from __future__ import annotations

from dreval.geometry.blocks import View
from dreval.measures._batches import LISI, lisi, lisi_without
from dreval.measures._classes import SEPARATION, members
from dreval.measures._measure import FloatArray, measure
from dreval.records.notes import Notes


def _without(view: View, perplexity: int) -> FloatArray:
    """The next neighbor steps in where a point was one; a label of one point goes with it."""
    values, left = lisi_without(view, members(view), perplexity)
    return (left - values) / (left - 1.0)


@measure(
    symbol="cLISI",
    title="cLISI, purity of the labels",
    question="Do the neighbors of a point have one label?",
    says=("Most neighbors have the same label", "Neighbors have several labels"),
    goals=("classes", "batches"),
    needs=("coordinates", "labels"),
    without=_without,
    caution=SEPARATION,
    **LISI,
)
def clisi(view: View, perplexity: int = 30) -> tuple[FloatArray, Notes]:
    r"""How few labels there are among the neighbors of a point in the embedding, scaled to [0, 1]; mean over points.

    .. math:: \mathrm{cLISI} = \frac{1}{n} \sum_{i=1}^n \frac{C - L_i}{C - 1}, \qquad
              L_i = \Big(\sum_c \big(\sum_{j: c_j = c} p_{j|i}\big)^2\Big)^{-1},

    with C labels, :math:`c_j` the label of point j, and the weights :math:`p_{j|i}` of ``ilisi``: :math:`L_i` is the
    effective number of labels around point i. The data are not used. With many labels values are near 1 even where
    neighbors are mixed (four labels around each point of 100 give 0.97): compare with chance. The value depends on n,
    since the neighbors are nearer in more points. scib-metrics reports the
    median of the points (here of :math:`L_i`), dreval the mean, which has an interval; the values of points are equal.
    At least two labels are required, and fewer than points.

    See Also
    --------
    ilisi : the same of batches, which should be mixed.
    neighborhood_hit : the share of neighbors with the label of the point.
    isolated_labels : labels that few batches have.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Y = np.random.default_rng(0).normal(size=(200, 2))
    >>> round(dreval.clisi(Y, Y, labels=Y[:, 0] > 0), 3)
    0.776
    >>> round(dreval.clisi(Y, Y, labels=np.arange(200) % 2), 3)
    0.081
    """
    classes = members(view)
    values, notes = lisi(view, classes, perplexity)
    c = float(len(classes.sizes))
    return (c - values) / (c - 1.0), notes
