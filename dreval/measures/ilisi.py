"""iLISI: the effective number of batches among neighbors."""

from __future__ import annotations

from dreval.geometry.blocks import View
from dreval.measures._batches import LISI, MIXED, NOISE, lisi, lisi_without
from dreval.measures._classes import members
from dreval.measures._measure import FloatArray, measure
from dreval.records.notes import Notes


def _without(view: View, perplexity: int) -> FloatArray:
    """The next neighbor steps in where a point was one; a batch of one point goes with it."""
    values, left = lisi_without(view, members(view, of="batch"), perplexity)
    return (values - 1.0) / (left - 1.0)


@measure(
    symbol="iLISI",
    title="iLISI, mixing of batches",
    question="Are the batches mixed among the neighbors of a point?",
    says=("Batches are mixed", "Batches are not mixed"),
    goals=("batches",),
    needs=("coordinates", "batch"),
    chance_formula=MIXED,
    without=_without,
    caution=NOISE,
    **LISI,
)
def ilisi(view: View, perplexity: int = 30) -> tuple[FloatArray, Notes]:
    r"""Effective number of batches among the neighbors of a point in the embedding, scaled to [0, 1]; mean over points.

    .. math:: \mathrm{iLISI} = \frac{1}{n} \sum_{i=1}^n \frac{L_i - 1}{B - 1}, \qquad
              L_i = \Big(\sum_b \big(\sum_{j: b_j = b} p_{j|i}\big)^2\Big)^{-1},

    with B batches, :math:`b_j` the batch of point j, and weights :math:`p_{j|i} \propto \exp(-\beta_i |y_i - y_j|)`
    over the 3 p - 1 nearest neighbors, where :math:`\beta_i` makes the perplexity (the exponential of the entropy) p.
    :math:`L_i` is the local inverse Simpson index. The data are not used.

    Points as far as the last neighbor share its weight, so that no order of ties matters. Batches of different sizes do
    not reach 1: compare with chance, which holds for batches with the same kinds of points; with different kinds less
    is complete. The value depends on n, since neighbors are nearer in more points. scib-metrics
    reports the median of the points (here of :math:`L_i`), dreval the mean, which has an interval; the values of points
    are equal. At least two batches are required, and fewer than points.

    See Also
    --------
    clisi : the same of labels, which should not be mixed.
    kbet : tests the shares of the batches in each neighborhood.
    silhouette_batch : mean distances within labels.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> Y = np.random.default_rng(0).normal(size=(200, 2))
    >>> round(dreval.ilisi(Y, Y, batch=np.arange(200) % 2), 3)
    0.919
    >>> round(dreval.ilisi(Y, Y, batch=Y[:, 0] > 0), 3)
    0.224
    """
    batches = members(view, of="batch")
    values, notes = lisi(view, batches, perplexity)
    return (values - 1.0) / (len(batches.sizes) - 1.0), notes
