"""Compute how every neighborhood of an embedding is stretched."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dreval._check import check_k
from dreval.analyses._analysis import analysis
from dreval.errors import InputError
from dreval.geometry.procrustes import (
    broken_edges,
    jackknife_errors,
    local_stretch,
    log_anisotropies,
    log_areas,
    spanned_note,
    usual_stretch,
)
from dreval.measures.core import named_view
from dreval.measures.procrustes import local_area_spread
from dreval.records.points import LocalDistortion
from dreval.records.provenance import provenance


@analysis(
    title="Local distortion",
    question="How is the neighborhood of each point stretched: its area, its shape, and which of its edges are broken?",
    direction="none: area and anisotropy 1 are those of the data up to one factor, smaller and larger areas are wrong "
    "alike",
    caution="Ellipses say little where R^2 is low (no linear map fits the neighborhood) or much variance is outside "
    "the tangent; standard errors are those of the local regression, not of the embedding.",
    cost="O(n^2 p) time for the neighbors and O(n k^3 min(k, p)) for the rest, O(n k) memory; without a re-run.",
    reference="@perraultjoncas2013, with local regression in place of the graph Laplacian.",
)
def local_distortion(
    X: Any, Y: Any, *, n_neighbors: int | str = "auto", metric: str = "euclidean", n_jobs: int | None = None
) -> LocalDistortion:
    r"""Compute how every neighborhood is stretched: area, anisotropy and ellipse of each point of an embedding.

    For each point the centered neighborhoods of k + 1 points are A in the data and B in the embedding. With
    :math:`A = U S V'` the tangent has the coordinates :math:`T = U_d S_d` of the d leading directions, and
    :math:`J = \arg\min |T J - B|` is the linear map of the tangent to the embedding. The matrix :math:`H = J'J`, with
    eigenvalues :math:`s_1 \ge \dots \ge s_d`, describes the ellipse onto which J maps the unit circle: its area is
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
        Distance in the data, by which neighbors are chosen.
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

    Warnings
    --------
    Ellipses say little where R^2 is low (no linear map fits the neighborhood) or much variance is outside the tangent;
    standard errors are those of the local regression, not of the embedding.

    See Also
    --------
    local_area_spread, local_anisotropy : one number each, with an interval and a chance level.
    singularity_score, perturbation_score : scores of each point from the loss of t-SNE.

    Notes
    -----
    Standard errors leave out each neighbor in turn (the point itself stays). They are of the local regression, not of
    the embedding: where they are large, use more neighbors. Where R^2 is low the map of the neighborhood is not linear,
    as at a tear, and where much variance is outside the tangent d dimensions do not hold the data.

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
    >>> result = dreval.local_distortion(X, X * [2.0, 0.5])
    >>> np.linalg.eigvalsh(result.matrices[0]).round(12), result.anisotropy[0].round(12)
    (array([0.25, 4.  ]), np.float64(4.0))
    """
    arguments = {"X": X, "Y": Y, "n_neighbors": n_neighbors, "metric": metric, "n_jobs": n_jobs}
    if not isinstance(n_neighbors, int | str | np.integer):
        check_k(n_neighbors, 2**62)
        raise InputError("n_neighbors", "must be one number", repr(n_neighbors), "Call it for each number.")
    view = named_view(local_area_spread.card, arguments)
    (n, d), (k, *_) = view.Y.shape, check_k(n_neighbors, view.n)[0]
    if k < d:
        hint = f"Pass n_neighbors={d} or more, better {3 * d}."
        raise InputError("n_neighbors", "must be at least the number of dimensions", f"{k} for d = {d}", hint)
    stretch = local_stretch(view, k)
    unit = usual_stretch(stretch.sizes)
    areas, ratios = log_areas(stretch.sizes, unit), log_anisotropies(stretch.sizes)
    median_area = float(np.nanmedian(areas)) if np.isfinite(areas).any() else 0.0
    errors, broken = jackknife_errors(view, k), broken_edges(view, k)
    dimensions = np.isfinite(stretch.sizes).sum(axis=1)
    absolute_areas = areas + dimensions * math.log(unit)
    return LocalDistortion(
        area=np.exp(areas - median_area),
        anisotropy=np.exp(ratios),
        outside=stretch.outside,
        r2=stretch.r2,
        log_area_se=errors[0],
        log_anisotropy_se=errors[1],
        n_broken=np.bincount(broken.ravel(), minlength=n),
        coordinates=view.Y,
        matrices=stretch.maps.transpose(0, 2, 1) @ stretch.maps,
        broken=broken,
        median_area=math.exp(float(np.nanmedian(absolute_areas))) if np.isfinite(absolute_areas).any() else math.nan,
        recipe=provenance({"n_neighbors": k, "metric": metric}, n=n, p=view.X.shape[1]),
        notes=spanned_note(stretch.sizes),
    )
