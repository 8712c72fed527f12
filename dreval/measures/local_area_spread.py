"""Spread of local areas: whether all neighborhoods are enlarged by the same factor."""

from __future__ import annotations

import math

import numpy as np

from dreval.geometry.blocks import View
from dreval.geometry.local_stretch import local_stretch, log_areas, spanned, usual_stretch
from dreval.geometry.pairs import Estimate, left_out_anchors
from dreval.measures._measure import AUTO, FloatArray, measure


def _spread(values: FloatArray) -> float:
    known = values[np.isfinite(values)]
    return float(known.std(ddof=1)) if len(known) > 1 else 0.0


@measure(
    symbol="s_A",
    title="Spread of local areas",
    question="Are all neighborhoods enlarged by the same factor, so that sizes can be compared across the embedding?",
    says=("Sizes can be compared across the embedding", "Do not compare sizes across the embedding"),
    goals=("density",),
    level="pair",
    needs=("neighbors", "features"),
    direction="lower",
    bounds=(0.0, math.inf),
    chance="permutation",
    invariances=frozenset({"translation", "rotation", "scale"}),
    cost="O(n^2 p) time for the neighbors and O(n k^2 (k + p)) for the measure; O(n k) memory.",
    reference="@perraultjoncas2013, with local regression in place of the graph Laplacian.",
)
def local_area_spread(view: View, n_neighbors: int = AUTO) -> Estimate:
    r"""Standard deviation over the points of the logarithm of the local factor of area.

    .. math:: s_A = \mathrm{sd}_i \sum_{j=1}^d \log \sigma_{ij},

    with :math:`\sigma_{i1}, \dots, \sigma_{id}` the singular values of the linear map that best takes the tangent of a
    neighborhood (its d leading principal directions in the data) to its image. A value of 0 says that areas (lengths
    for d = 1, volumes for d = 3) are those of the data up to one factor, of log 2 that factors of two are usual. A
    direction that collapses counts as 1e-8 of the usual stretch. A constant embedding has 0: ``local_anisotropy`` tells
    it from a good one. Directions that a neighborhood does not have, as with repeated or collinear points, are left
    out; neighborhoods of coinciding points too, which is noted.

    See Also
    --------
    local_anisotropy : whether each neighborhood is stretched alike in all directions.
    local_distortion : both for each point, with standard errors and the ellipses.
    local_radius_correlation : whether dense regions are shown dense.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).uniform(size=(200, 2))
    >>> round(dreval.local_area_spread(X, X * [2.0, 0.5]), 12)
    0.0
    >>> bool(dreval.local_area_spread(X, np.exp(2 * X)) > 0.5)
    True
    """
    sizes = local_stretch(view, n_neighbors).sizes
    values, notes = log_areas(sizes, usual_stretch(sizes)), spanned(sizes)
    value = _spread(values)
    if len(view.rows) == view.n:
        return Estimate(value, notes)
    return Estimate(value, notes, lambda: left_out_anchors(view, value, lambda stay: _spread(values[stay])))
