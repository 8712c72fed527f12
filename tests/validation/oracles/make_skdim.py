"""Makes ``skdim.json``: python make_skdim.py, with scikit-dimension 0.5.0.

Intrinsic dimensions by TwoNN and by Levina-Bickel's estimator with the harmonic mean, of RNG-free points
(``points``) of a torus, a helix and a cloud in four columns; and the local values of the latter estimator.
"""

from __future__ import annotations

from importlib.metadata import version

import skdim
from intrinsic_points import POINTS, points
from two_clouds import write

numbers = {}
for name in POINTS:
    X = points(name)
    by_line = skdim.id.TwoNN(discard_fraction=0.1).fit(X)
    dimensions = {"twonn": float(by_line.dimension_)}
    for k in (5, 20):
        local = skdim.id.MLE().fit(X, n_neighbors=k, comb="mle")
        dimensions[f"mle {k}"] = float(local.dimension_)
        dimensions[f"mle {k} of point 7"] = float(local.dimension_pw_[7])
    numbers[name] = dimensions
write("skdim", [f"{tool} {version(tool)}" for tool in ("scikit-dimension", "numpy")], numbers)
