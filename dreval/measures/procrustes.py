"""Measure how much of each neighborhood a rotation and a scale explain, and how neighborhoods are stretched."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from dreval._check import DEFAULT_NEIGHBORS
from dreval.geometry._loops import ROUNDING
from dreval.geometry.blocks import View, per_view
from dreval.geometry.pairs import Estimate, left_out_anchors, rank_correlation
from dreval.geometry.procrustes import (
    LocalParts,
    best_scale,
    best_scale_without,
    coincident_note,
    conformal,
    disparity_without,
    local_parts,
    local_spectra,
    local_stretch,
    local_sum_without,
    log_anisotropies,
    log_areas,
    relative,
    residual,
    spanned_note,
    usual_stretch,
    view_disparity,
)
from dreval.measures.core import FloatArray, measure
from dreval.records.notes import Notes, note

SINGULAR_VALUES_COST = "O(n^2 p) time for the neighbors and O(n k^2 (k + p)) for the measure; O(n k) memory."


def _row_statistic(
    view: View, value: float, notes: Notes, statistic: Callable[[npt.NDArray[np.bool_]], float]
) -> Estimate:
    """Return a statistic of the rows; where the rows are anchors, with its values without each group of them.

    ``statistic`` computes it from the rows of a mask.
    """
    if len(view.rows) == view.n:
        return Estimate(value, notes)
    return Estimate(value, notes, lambda: left_out_anchors(view, value, statistic))


# Local stretch: the singular values of the linear map from the tangent of each neighborhood to its image.

LOCAL_STRETCH: dict[str, Any] = {
    "level": "pair",
    "needs": ("neighbors", "features"),
    "direction": "lower",
    "bounds": (0.0, math.inf),
    "chance": "permutation",
    "invariances": frozenset({"translation", "rotation", "scale"}),
    "cost": SINGULAR_VALUES_COST,
    "reference": "@perraultjoncas2013, with local regression in place of the graph Laplacian.",
}


def _median_anisotropy(values: FloatArray) -> float:
    finite = values[np.isfinite(values)]
    return float(np.median(finite)) if len(finite) else 0.0


@measure(
    **LOCAL_STRETCH,
    symbol="a_J",
    title="Local anisotropy",
    question="Is each neighborhood stretched alike in all its directions, so that circles stay circles?",
    warning="Neighborhoods are squeezed in some directions",
    goals=("neighborhoods",),
    exponent=1.0,
)
def local_anisotropy(view: View, n_neighbors: int = DEFAULT_NEIGHBORS) -> Estimate:
    r"""Compute the median over the points of the logarithm of the largest over the smallest local stretch.

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
    values = log_anisotropies(sizes)
    value = _median_anisotropy(values)
    return _row_statistic(view, value, spanned_note(sizes), lambda rows: _median_anisotropy(values[rows]))


def _area_spread(values: FloatArray) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.std(ddof=1)) if len(finite) > 1 else 0.0


@measure(
    **LOCAL_STRETCH,
    symbol="s_A",
    title="Spread of local areas",
    question="Are all neighborhoods enlarged by the same factor, so that sizes can be compared across the embedding?",
    warning="Do not compare sizes across the embedding",
    goals=("density",),
    exponent=1.0,
)
def local_area_spread(view: View, n_neighbors: int = DEFAULT_NEIGHBORS) -> Estimate:
    r"""Compute the standard deviation over the points of the logarithm of the local factor of area.

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
    local_radius_correlation : whether dense regions are dense in the embedding.

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
    values = log_areas(sizes, usual_stretch(sizes))
    return _row_statistic(view, _area_spread(values), spanned_note(sizes), lambda rows: _area_spread(values[rows]))


def _radius_correlation_chance(view: View, k: int) -> float:
    """Return 0, since radii have mid ranks; 1 where all are equal in both spaces, which counts as 1."""
    x, y = _radii(view, k)
    equal = all(np.ptp(radii) <= ROUNDING * radii.max() for radii in (x, y))
    return 1.0 if equal and (x[0] > 0) == (y[0] > 0) else 0.0


@measure(
    symbol="rho_r",
    title="Correlation of local radii",
    question="Are dense regions of the data dense in the embedding?",
    warning="Do not read densities",
    goals=("neighborhoods", "density"),
    level="pair",
    needs=("ranks",),
    direction="higher",
    bounds=(-1.0, 1.0),
    chance=0.0,
    expected=_radius_correlation_chance,
    invariances=frozenset({"translation", "rotation", "scale", "monotone"}),
    cost="O(n^2 (p + d)) time for the neighbors, O(n k) memory.",
    exponent=1.0,
    reference="@narayan2021 (densMAP), with ranks in place of logarithms.",
)
def local_radius_correlation(view: View, n_neighbors: int = DEFAULT_NEIGHBORS) -> Estimate:
    r"""Correlate the distances from the points to their k-th neighbor in the data and in the embedding (Spearman).

    .. math:: \rho_r = \mathrm{corr}(\mathrm{rank}\, x_{i(k)}, \mathrm{rank}\, y_{i(k)}),

    with :math:`x_{i(k)}` and :math:`y_{i(k)}` the distances from point i to its k-th neighbor, which each space
    determines for itself. Ranks need no logarithm, so a radius of 0 (duplicates) is valid; equal radii have the mean of
    their ranks. Where all radii of one space are equal the value is 0, where all radii of both are equal it is 1.

    See Also
    --------
    density_kl, density_l1 : compare kernel densities.
    spearman_distance : the same correlation of all distances.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> round(dreval.local_radius_correlation(X, X), 12)
    1.0
    >>> dreval.local_radius_correlation(X, np.zeros((200, 2)))
    0.0
    """
    x, y = _radii(view, n_neighbors)
    value, notes = rank_correlation(x, y)
    return _row_statistic(view, value, notes, lambda rows: rank_correlation(x[rows], y[rows])[0])


@per_view
def _radii(view: View, k: int) -> tuple[FloatArray, FloatArray]:
    """Return the distance from each row to its k-th neighbor in the data and in the embedding."""
    spaces = (view.data_space(), view.nearest_data), (view.embedding_space(), view.nearest_embedding)
    x, y = (space.listed(view.rows, nearest[:, k - 1], view.n_jobs) for space, nearest in spaces)
    return x, y


@measure(
    symbol="u",
    title="Global shape",
    term="Procrustes disparity",
    question="Does the embedding as a whole have the shape of the data, up to its unit?",
    warning="Global shape is closer to chance than to perfect",
    goals=("distances", "arrangement"),
    level="global",
    needs=("coordinates", "features"),
    direction="lower",
    bounds=(0.0, 1.0),
    chance="permutation",
    invariances=frozenset({"translation", "rotation", "scale"}),
    default=7,
    without=lambda view: disparity_without(view.X[view.population], view.Y[view.population]),
    min_carriers=5.0,
    cost="O(n p d) time, O(n p) memory.",
    exponent=1.0,
    reference="@roy2021, Definition 3, divided by tr S_YY; equal to scipy.spatial.procrustes.",
)
def procrustes_disparity(view: View) -> tuple[float, Notes]:
    r"""Return the share of variance left after the best translation, rotation, reflection and scaling of the embedding.

    .. math:: u = 1 - \frac{s^2}{|H X|^2 |H Y|^2},

    with s the nuclear norm of :math:`X' H Y` over all points, and H the centering; the narrower of X and Y is padded
    with zero columns. A constant embedding has 1. At d < p it is not the trustability measure of Definition 3, which
    re-runs the method at d = p.

    Under heavy tails a few points far from the others decide the value, and its interval is too short (coverage .79 to
    .85 of 95 % for t with 2 degrees of freedom); a note says so where fewer than 5 points carry the standard error. A
    sample that happens to have none of them has no note.

    See Also
    --------
    procrustes_rc : the same within neighborhoods.
    trustability : the method re-run at d = p.
    stress_scale_normalized : distances in place of coordinates.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> dreval.procrustes_disparity(X, 5 * X[:, ::-1]) < 1e-12
    True
    """
    notes = (note("procrustes_disparity.narrow"),) if view.Y.shape[1] < view.X.shape[1] else ()
    return view_disparity(view), notes


# Local Procrustes measures (Goldberg & Ritov): one contribution for each neighborhood, which includes its own point.

NEIGHBORHOODS: dict[str, Any] = {"level": "point", "needs": ("neighbors", "features"), "direction": "lower"}
RESIDUAL: dict[str, Any] = {  # of neighborhoods in the unit of the embedding
    **NEIGHBORHOODS,
    "bounds": (0.0, math.inf),
    "chance": "permutation",
    "invariances": frozenset({"translation", "rotation"}),
}
SCALED_RESIDUAL: dict[str, Any] = {  # at the best scale, of the embedding or of each neighborhood
    **NEIGHBORHOODS,
    "bounds": (0.0, 1.0),
    "chance": "permutation",
    "invariances": frozenset({"translation", "rotation", "scale"}),
}
SHAPE_AND_SIZE = "Neighborhoods lose shape or size"
ROTATIONS_COST = "O(n^2 p) time for the neighbors and O(n k p d) for the measure; O(n k) memory."


def _mean_without(view: View, n_neighbors: int, *, contributions: Callable[[LocalParts], FloatArray]) -> FloatArray:
    """Return the means of the contributions without each point, (n,)."""
    return local_sum_without(view, n_neighbors, contributions) / (view.n - 1)


def _relative_residual(parts: LocalParts) -> FloatArray:
    """Return the Procrustes statistic of each neighborhood over its size in the data."""
    return relative(residual(parts), parts.x2)


@measure(
    **RESIDUAL,
    symbol="R",
    title="Local Procrustes R",
    question="Does each neighborhood have its true size and shape in the embedding? In squared units of the data.",
    warning=SHAPE_AND_SIZE,
    goals=("neighborhoods",),
    without=partial(_mean_without, contributions=residual),
    crossed=True,
    cost=ROTATIONS_COST,
    exponent=1.0,
    reference="@goldberg2009, Eqs. 1 and 3.",
)
def procrustes_r(view: View, n_neighbors: int = DEFAULT_NEIGHBORS) -> FloatArray:
    r"""Average the Procrustes statistic of the neighborhoods, in squared units of the data.

    .. math:: R = \frac{1}{n} \sum_{i=1}^n G(X_i, Y_i),

    with :math:`G(X_i, Y_i) = |H X_i|^2 + |H Y_i|^2 - 2 s_i`, where the rows of :math:`X_i` are a point and its k
    nearest neighbors in the data, those of :math:`Y_i` the same points in the embedding, H centers, and :math:`s_i` is
    the nuclear norm of :math:`X_i' H Y_i`. Rotating, reflecting and translating a neighborhood has no effect; its scale
    has. G is clipped at 0.

    See Also
    --------
    procrustes_rn : relative to the size of each neighborhood.
    procrustes_rc : independent of the scale of each neighborhood.
    procrustes_rpca : after projection on the leading principal directions.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).uniform(size=(200, 2))
    >>> dreval.procrustes_r(X, X @ [[0, 1], [-1, 0]]) < 1e-12
    True
    """
    return residual(local_parts(view, n_neighbors))


@measure(
    **RESIDUAL,
    symbol="R_PCA",
    title="Local Procrustes R_PCA",
    question="Does the leading plane of each neighborhood have its true size and shape? In squared units of the data.",
    warning="Planes of neighborhoods lose shape or size",
    goals=("neighborhoods",),
    cost=SINGULAR_VALUES_COST,
    exponent=1.0,
    reference="@goldberg2009, Eq. 6.",
)
def procrustes_rpca(view: View, n_neighbors: int = DEFAULT_NEIGHBORS) -> FloatArray:
    r"""Average the Procrustes statistic after projecting each neighborhood on its d leading principal directions.

    .. math:: R_{PCA} = \frac{1}{n} \sum_{i=1}^n G(X_i P_i, Y_i),

    with :math:`G(X_i, Y_i) = |H X_i|^2 + |H Y_i|^2 - 2 s_i`, where the rows of :math:`X_i` are a point and its k
    nearest neighbors in the data, those of :math:`Y_i` the same points in the embedding, H centers, and :math:`s_i` is
    the nuclear norm of :math:`X_i' H Y_i`, and the columns of :math:`P_i` are the d leading principal directions of
    :math:`X_i`. Only what an embedding of this dimension can hold is compared. It is neither above nor below
    ``procrustes_r`` in general.

    See Also
    --------
    procrustes_r : without the projection.
    procrustes_lower_bound : what the projection removes.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).uniform(size=(200, 2))
    >>> dreval.procrustes_rpca(np.c_[X, np.zeros(200)], X) < 1e-12
    True
    """
    spectra, parts = local_spectra(view, n_neighbors), local_parts(view, n_neighbors)
    within = parts._replace(x2=spectra.within, nuclear=spectra.nuclear)
    return residual(within)


@measure(
    **RESIDUAL,
    symbol="R_N",
    title="Local Procrustes R_N",
    question="Does each neighborhood have its true size and shape in the embedding? Relative to its size.",
    warning=SHAPE_AND_SIZE,
    goals=("neighborhoods", "density"),
    without=partial(_mean_without, contributions=_relative_residual),
    crossed=True,
    cost=ROTATIONS_COST,
    exponent=1.0,
    reference="@goldberg2009, Eq. 4; neighborhoods contain their own point.",
)
def procrustes_rn(view: View, n_neighbors: int = DEFAULT_NEIGHBORS) -> tuple[FloatArray, Notes]:
    r"""Average the Procrustes statistic of the neighborhoods, each relative to its own size.

    .. math:: R_N = \frac{1}{n} \sum_{i=1}^n \frac{G(X_i, Y_i)}{|H X_i|^2},

    with :math:`G(X_i, Y_i) = |H X_i|^2 + |H Y_i|^2 - 2 s_i`, where the rows of :math:`X_i` are a point and its k
    nearest neighbors in the data, those of :math:`Y_i` the same points in the embedding, H centers, and :math:`s_i` is
    the nuclear norm of :math:`X_i' H Y_i`. It depends on the unit of the embedding: an embedding that is exact up to a
    scale c has :math:`R_N = (1 - c)^2`, and one in arbitrary units can have any value. Use ``procrustes_rc`` or
    ``procrustes_rn_opt`` where the unit has no meaning. Neighborhoods of coinciding points contribute 0.

    See Also
    --------
    procrustes_rn_opt : at the best global scale.
    procrustes_rc : at the best scale of each neighborhood.
    procrustes_lower_bound : no embedding of dimension d has less.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).uniform(size=(200, 2))
    >>> round(dreval.procrustes_rn(X, 0.7 * X), 12)
    0.09
    """
    parts = local_parts(view, n_neighbors)
    points = _relative_residual(parts)
    notes = coincident_note(parts.x2)
    if points.mean() > 10 * best_scale(parts).mean() + 1e-12:
        notes = (*notes, note("procrustes_rn.unit"))
    return points, notes


@measure(
    **SCALED_RESIDUAL,
    symbol="R_N,opt",
    title="Local shape, one scale",
    variant="one scale",
    term="local Procrustes R_N,opt",
    question="Does each neighborhood have its true size and shape, once the whole embedding is scaled optimally?",
    warning="Do not compare sizes across the map",
    goals=("neighborhoods", "density"),
    contributions=(0.0, math.inf),  # one scale serves all, so that a neighborhood can be far too large
    default=6,
    without=lambda view, n_neighbors: best_scale_without(view, n_neighbors),
    crossed=True,
    log_interval=True,
    cost=ROTATIONS_COST,
    exponent=1.0,
    reference="@goldberg2009, Eq. 4, minimized over one global scale of the embedding.",
)
def procrustes_rn_opt(view: View, n_neighbors: int = DEFAULT_NEIGHBORS) -> tuple[FloatArray, Notes]:
    r"""Compute R_N of the embedding at the scale that minimizes it.

    .. math:: R_{N,\mathrm{opt}} = \min_c R_N(X, c Y), \qquad
              c = \frac{\sum_i s_i / |H X_i|^2}{\sum_i |H Y_i|^2 / |H X_i|^2},

    with the notation of ``procrustes_rn``. One scale serves the whole embedding, so neighborhoods that are too large
    relative to others count, which ``procrustes_rc`` ignores: :math:`R_C \le R_{N,\mathrm{opt}} \le R_N`, and
    :math:`R_{N,\mathrm{opt}} \le 1`.

    See Also
    --------
    procrustes_rn : in the unit of the embedding.
    procrustes_rc : at the best scale of each neighborhood.
    procrustes_lower_bound : no embedding of dimension d has less.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).uniform(size=(200, 2))
    >>> dreval.procrustes_rn_opt(X, 0.7 * X) < 1e-12
    True
    """
    parts = local_parts(view, n_neighbors)
    return best_scale(parts), coincident_note(parts.x2)


@measure(
    **SCALED_RESIDUAL,
    symbol="R_C",
    title="Local shape, free scale",
    variant="free scale",
    term="local Procrustes R_C",
    bar=True,
    question="Does each neighborhood have its true shape in the embedding, at any scale?",
    warning="Neighborhoods lose their shape",
    default=5,
    goals=("neighborhoods",),
    without=partial(_mean_without, contributions=conformal),
    crossed=True,
    log_interval=True,
    cost=ROTATIONS_COST,
    exponent=1.0,
    reference="@goldberg2009, Eq. 7, with the scale c = tr L / tr(Y'HY) (printed without the centering H).",
)
def procrustes_rc(view: View, n_neighbors: int = DEFAULT_NEIGHBORS) -> tuple[FloatArray, Notes]:
    r"""Average the conformal Procrustes statistic: each neighborhood may be rotated, reflected, translated and scaled.

    .. math:: R_C = \frac{1}{n} \sum_{i=1}^n \frac{|H X_i|^2 - s_i^2 / |H Y_i|^2}{|H X_i|^2},

    where the rows of :math:`X_i` are a point and its k nearest neighbors in the data, those of :math:`Y_i` the same
    points in the embedding, H centers, and :math:`s_i` is the nuclear norm of :math:`X_i' H Y_i`. A neighborhood whose
    image is a single point contributes 1, one of coinciding points in the data 0.

    See Also
    --------
    procrustes_rn_opt : one scale for the whole embedding.
    procrustes_rn : in the unit of the embedding.
    procrustes_disparity : the embedding as a whole.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).uniform(size=(200, 2))
    >>> dreval.procrustes_rc(X, 0.7 * X) < 1e-12
    True
    >>> dreval.procrustes_rc(X, np.zeros((200, 2)))
    1.0
    """
    parts = local_parts(view, n_neighbors)
    return conformal(parts), coincident_note(parts.x2)


@measure(
    **NEIGHBORHOODS,
    symbol="L",
    title="Lower bound of local Procrustes",
    question="How much of each neighborhood can no embedding of this dimension preserve?",
    goals=("neighborhoods",),
    bounds=(0.0, 1.0),
    chance=None,
    invariances=frozenset({"translation", "rotation", "scale"}),
    cost=SINGULAR_VALUES_COST,
    exponent=1.0,
    reference="@goldberg2009, Lemma 1, normalized as R_N.",
)
def procrustes_lower_bound(view: View, n_neighbors: int = DEFAULT_NEIGHBORS) -> tuple[FloatArray, Notes]:
    r"""Average the share of a neighborhood's squared norm outside its d leading principal directions.

    .. math:: L = \frac{1}{n} \sum_{i=1}^n \frac{\sum_{j > d} \sigma_j(H X_i)^2}{|H X_i|^2},

    where the rows of :math:`X_i` are a point and its k nearest neighbors in the data, H centers, and :math:`\sigma_j`
    are singular values. No embedding of dimension d has :math:`R_N`, :math:`R_{N,\mathrm{opt}}` or :math:`R_C` below
    it. Of the embedding only the number of columns is used.

    See Also
    --------
    procrustes_rn, procrustes_rn_opt, procrustes_rc : the measures that it bounds.
    energy_ratio : the same for the data as a whole.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).uniform(size=(200, 3))
    >>> dreval.procrustes_lower_bound(X, X)
    0.0
    >>> round(dreval.procrustes_lower_bound(X, X[:, :2]), 2)
    0.17
    """
    spectra, parts = local_spectra(view, n_neighbors), local_parts(view, n_neighbors)
    return relative(spectra.beyond, parts.x2), coincident_note(parts.x2)
