"""Local anisotropy: how unequally neighborhoods are stretched along their directions."""

from __future__ import annotations

import math

import numpy as np

from dreval.geometry.blocks import View
from dreval.geometry.local_stretch import local_stretch, log_anisotropies, spanned
from dreval.geometry.pairs import Estimate, left_out_anchors
from dreval.measures._measure import AUTO, FloatArray, measure


def _median(values: FloatArray) -> float:
    known = values[np.isfinite(values)]
    return float(np.median(known)) if len(known) else 0.0


@measure(
    symbol="a_J",
    title="Local anisotropy",
    question="Is each neighborhood stretched alike in all its directions, so that circles stay circles?",
    says=("Shapes of neighborhoods are kept", "Neighborhoods are squeezed in some directions"),
    goals=("neighborhoods",),
    level="pair",
    needs=("neighbors", "features"),
    direction="lower",
    bounds=(0.0, math.inf),
    chance="permutation",
    invariances=frozenset({"translation", "rotation", "scale"}),
    cost="O(n^2 p) time for the neighbors and O(n k^2 (k + p)) for the measure; O(n k) memory.",
    reference="@perraultjoncas2013, with local regression in place of the graph Laplacian.",
)
def local_anisotropy(view: View, n_neighbors: int = AUTO) -> Estimate:
    r"""Median over the points of the logarithm of the largest over the smallest local stretch.

    .. math:: a_J = \mathrm{median}_i \log \frac{\sigma_{i1}}{\sigma_{id}},

    with :math:`\sigma_{i1} \ge \dots \ge \sigma_{id}` the singular values of the linear map that best takes the tangent
    of a neighborhood (its d leading principal directions in the data) to its image. A value of 0 says that every circle
    stays a circle, of log 2 that half of the neighborhoods become ellipses twice as long as wide or longer. A ratio
    beyond 1e8 counts as 1e8, as for a neighborhood that collapses to a line or a point. Directions that a neighborhood
    does not have, as with repeated or collinear points, are left out; neighborhoods of coinciding points too, which is
    noted.

    See Also
    --------
    local_area_spread : whether all neighborhoods are stretched by the same factor of area.
    local_distortion : both for each point, with standard errors and the ellipses.
    procrustes_rc : what each neighborhood loses of its shape, from the same neighborhoods.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> round(np.exp(dreval.local_anisotropy(X, X * [2.0, 0.5])), 12)
    np.float64(4.0)
    >>> round(abs(dreval.local_anisotropy(X, -3 * X)), 12)
    0.0
    """
    sizes = local_stretch(view, n_neighbors).sizes
    values, notes = log_anisotropies(sizes), spanned(sizes)
    value = _median(values)
    if len(view.rows) == view.n:
        return Estimate(value, notes)
    return Estimate(value, notes, lambda: left_out_anchors(view, value, lambda stay: _median(values[stay])))
