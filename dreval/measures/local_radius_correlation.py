"""Correlation of local radii."""

from __future__ import annotations

import numpy as np

from dreval.geometry._loops import ROUNDING
from dreval.geometry.blocks import View, per_view
from dreval.geometry.distances import Space
from dreval.geometry.pair_statistics import rank_correlation
from dreval.geometry.pairs import Estimate, left_out_anchors
from dreval.measures._measure import FloatArray, measure


def _chance_level(view: View, k: int) -> float:
    """0 with ties or without, since radii have mid ranks; 1 where all are equal in both spaces, which counts as 1."""
    x, y = _radii(view, k)
    equal = all(np.ptp(radii) <= ROUNDING * radii.max() for radii in (x, y))
    return 1.0 if equal and (x[0] > 0) == (y[0] > 0) else 0.0


@measure(
    symbol="rho_r",
    title="Correlation of local radii",
    question="Are dense regions of the data dense in the embedding?",
    says=("Dense regions are shown dense", "Do not read densities"),
    goals=("neighborhoods", "density"),
    level="pair",
    needs=("ranks",),
    direction="higher",
    bounds=(-1.0, 1.0),
    chance=0.0,
    expected=_chance_level,
    invariances=frozenset({"translation", "rotation", "scale", "monotone"}),
    cost="O(n^2 (p + d)) time for the neighbors, O(n k) memory.",
    reference="@narayan2021 (densMAP), with ranks in place of logarithms.",
)
def local_radius_correlation(view: View, n_neighbors: int = 15) -> Estimate:
    r"""Spearman correlation over the points of the distance to the k-th neighbor in the data and in the embedding.

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
    if len(view.rows) == view.n:
        return Estimate(value, notes)
    return Estimate(
        value, notes, lambda: left_out_anchors(view, value, lambda stay: rank_correlation(x[stay], y[stay])[0])
    )


@per_view
def _radii(view: View, k: int) -> tuple[FloatArray, FloatArray]:
    """Distance from each row to its k-th neighbor in the data and in the embedding."""
    spaces = (view.data_space(), view.nearest_data), (Space.of(view.Y), view.nearest_embedding)
    x, y = (space.listed(view.rows, nearest[:, k - 1], view.n_jobs) for space, nearest in spaces)
    return x, y
