"""Procrustes disparity."""

from __future__ import annotations

from dreval.geometry.blocks import View
from dreval.geometry.procrustes import disparity_without, view_disparity
from dreval.measures._measure import measure
from dreval.records.notes import ASSUMPTION, Notes, define

NARROW = define(
    "procrustes_disparity.narrow",
    ASSUMPTION,
    "fewer columns than the data: judges the embedding, not its method as trustability does",
    "Use trustability for the method.",
)


@measure(
    symbol="u",
    title="Procrustes disparity",
    question="Does the embedding as a whole have the shape of the data, up to its unit?",
    says=("The whole has the shape of the data", "Do not read the shape of the whole"),
    goals=("distances", "arrangement"),
    level="global",
    needs=("coordinates", "features"),
    direction="lower",
    bounds=(0.0, 1.0),
    chance="permutation",
    invariances=frozenset({"translation", "rotation", "scale"}),
    default=7,
    without=lambda view: disparity_without(view.X[view.population], view.Y[view.population]),
    cost="O(n p d) time, O(n p) memory.",
    operations=lambda s: (5 * s.n * s.p, (20 if s.streamed else 6) * s.n * s.p),
    reference="@roy2021, Definition 3, divided by tr S_YY; equal to scipy.spatial.procrustes.",
)
def procrustes_disparity(view: View) -> tuple[float, Notes]:
    r"""Share of variance left after the best translation, rotation, reflection and scaling of the embedding.

    .. math:: u = 1 - \frac{s^2}{|H X|^2 |H Y|^2},

    with s the nuclear norm of :math:`X' H Y` over all points, and H the centering; the narrower of X and Y is padded
    with zero columns. A constant embedding has 1. At d < p it is not the trustability measure of Definition 3, which
    re-runs the method at d = p.

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
    notes = (NARROW(),) if view.Y.shape[1] < view.X.shape[1] else ()
    return view_disparity(view), notes
