"""Spread of local areas, and the table of local distortions of which it is one number."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dreval._check import check_k, keywords_checked
from dreval.errors import InputError
from dreval.geometry.blocks import View
from dreval.geometry.local_stretch import (
    broken_edges,
    jackknife_errors,
    local_stretch,
    log_anisotropies,
    log_areas,
    spanned,
    usual_stretch,
)
from dreval.geometry.pairs import Estimate, left_out_anchors
from dreval.measures._measure import AUTO, FloatArray, measure, named_view
from dreval.records.point_scores import LocalDistortion


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


@keywords_checked
def local_distortion(
    X: Any, Y: Any, *, n_neighbors: int | str = "auto", metric: str = "euclidean", n_jobs: int | None = None
) -> LocalDistortion:
    r"""How every neighborhood is stretched: area, anisotropy and ellipse of each point of an embedding.

    For each point the centered neighborhoods of k + 1 points are A in the data and B in the embedding. With
    :math:`A = U S V'` the tangent has the coordinates :math:`T = U_d S_d` of the d leading directions, and
    :math:`J = \arg\min |T J - B|` is the linear map of the tangent to the embedding. The matrix :math:`H = J'J`, with
    eigenvalues :math:`s_1 \ge \dots \ge s_d`, is that of the ellipse which becomes of the unit circle: its area is
    :math:`\sqrt{\det H}` and its anisotropy :math:`\sqrt{s_1 / s_d}`. Both are exact for affine maps.

    Parameters
    ----------
    X : (n, p) array, DataFrame, sparse matrix or path
        The data; rows are points.
    Y : (n, d) array, DataFrame or path
        The embedding of the same points.
    n_neighbors : int or "auto", default "auto"
        Number of neighbors, at least d; "auto" is 15, or fewer for few points.
    metric : str, default "euclidean"
        Distance by which neighbors are found in the data.
    n_jobs : int, optional
        Threads; all cores by default. The result does not depend on it.

    Returns
    -------
    LocalDistortion
        For each point area (over the median), anisotropy, their jackknife standard errors on the log scale, the share
        of variance outside the tangent, and R^2; the matrices of the ellipses, and the broken edges.

    Raises
    ------
    InputError
        If the rows do not match, values are missing or infinite, or there are fewer neighbors than dimensions.
    UndefinedMeasure
        If the data are distances only.

    See Also
    --------
    local_area_spread, local_anisotropy : one number each, with an interval and a chance level.
    singularity_score, perturbation_score : what the loss of t-SNE says of each point.

    Notes
    -----
    Standard errors leave out each neighbor in turn (the point itself stays). They are of the local regression, not of
    the embedding: where they are large, use more neighbors. Where R^2 is low the map of the neighborhood is not linear,
    as at a tear, and where much variance is outside the tangent d dimensions do not hold the data; ellipses say little
    there.

    An edge of the neighbor graph is broken if it is stretched more than twice as much as the median edge, and the
    logarithm of its stretch is more than three robust standard deviations (1.48 median absolute deviations) above the
    median. Directions that a neighborhood does not have are left out of area and anisotropy; both are NaN where its
    points coincide.

    Cost: :math:`O(n^2 p)` time for the neighbors and :math:`O(n k^3 \min(k, p))` for the rest, O(n k) memory.
    ``results.plot("ellipses")`` draws the ellipses.

    References
    ----------
    Perrault-Joncas, D., & Meila, M. (2013). Non-linear dimensionality reduction: Riemannian metric estimation and the
    problem of geometric discovery. *arXiv* 1305.7255.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> found = dreval.local_distortion(X, X * [2.0, 0.5])
    >>> np.linalg.eigvalsh(found.matrices[0]).round(12), found.anisotropy[0].round(12)
    (array([0.25, 4.  ]), np.float64(4.0))
    """
    given = {"X": X, "Y": Y, "n_neighbors": n_neighbors, "metric": metric, "n_jobs": n_jobs}
    if not isinstance(n_neighbors, int | str | np.integer):
        check_k(n_neighbors, 2**62)
        raise InputError("n_neighbors", "must be one number", repr(n_neighbors), "Call it for each number.")
    view = named_view(local_area_spread.card, given)
    (n, d), (k, *_) = view.Y.shape, check_k(n_neighbors, view.n)[0]
    if k < d:
        cure = f"Pass n_neighbors={d} or more, better {3 * d}."
        raise InputError("n_neighbors", "must be at least the number of dimensions", f"{k} for d = {d}", cure)
    found = local_stretch(view, k)
    maps = np.ldexp(found.maps, found.power)
    unit = usual_stretch(found.sizes)
    areas, ratios = log_areas(found.sizes, unit), log_anisotropies(found.sizes)
    middle = float(np.nanmedian(areas)) if np.isfinite(areas).any() else 0.0
    errors, broken = jackknife_errors(view, k), broken_edges(view, k)
    dimensions = np.isfinite(found.sizes).sum(axis=1)
    full = areas + dimensions * (math.log(unit) + found.power * math.log(2.0))
    return LocalDistortion(
        area=np.exp(areas - middle),
        anisotropy=np.exp(ratios),
        outside=found.outside,
        r2=found.r2,
        log_area_se=errors[0],
        log_anisotropy_se=errors[1],
        n_broken=np.bincount(broken.ravel(), minlength=n),
        coordinates=view.Y,
        matrices=maps.transpose(0, 2, 1) @ maps,
        broken=broken,
        median_area=math.exp(float(np.nanmedian(full))) if np.isfinite(full).any() else math.nan,
        recipe={"n": n, "p": view.X.shape[1], "parameters": {"n_neighbors": k, "metric": metric}},
        notes=spanned(found.sizes),
    )
