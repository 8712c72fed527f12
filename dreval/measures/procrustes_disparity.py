"""Procrustes disparity."""

from __future__ import annotations

from dreval.geometry.blocks import View
from dreval.geometry.procrustes import disparity, disparity_without
from dreval.measures._measure import measure


@measure(
    symbol="u",
    title="Procrustes disparity",
    question="Does the embedding as a whole have the shape of the data, up to its unit?",
    level="global",
    needs=("coordinates", "features"),
    direction="lower",
    bounds=(0.0, 1.0),
    chance="permutation",
    invariances=frozenset({"translation", "rotation", "scale"}),
    default=7,
    without=lambda view: disparity_without(view.X[view.population], view.Y[view.population]),
    cost="O(n p d) time, O(n p) memory.",
    reference=(
        "Roy (2021), Trustworthy Dimensionality Reduction, Definition 3, divided by tr S_YY; equal to\n"
        "scipy.spatial.procrustes."
    ),
)
def procrustes_disparity(view: View) -> tuple[float, str]:
    """Share of the data's variance that the best translated, rotated, reflected and scaled embedding leaves.

    u = 1 - s^2 / (|HX|^2 |HY|^2), with s the nuclear norm of X' H Y over all points; the narrower of the two counts
    as padded with zero columns. A constant embedding has u = 1. At d < p it is not the trustability measure of
    Definition 3, which re-runs the method at d = p.

    Examples
    --------
    >>> import numpy as np, dreval
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> dreval.procrustes_disparity(X, 5 * X[:, ::-1]) < 1e-12
    True
    """
    note = "fewer columns than the data: judges the embedding, not its method as trustability does"
    note = note if view.Y.shape[1] < view.X.shape[1] else ""
    return disparity(view.X[view.population], view.Y[view.population]), note
