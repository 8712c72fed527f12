"""Makes ``sliced.json``: directions of SIR and SAVE by the Python package sliced, which follows R's dr.

python make_sliced.py, with sliced, numpy < 2 and scipy of the versions that are written into the file. sliced 0.7
uses ``np.int``, which the script defines in numpy. Three samples: a linear model, a product, and three classes.
"""

from __future__ import annotations

import json
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np

vars(np)["int"] = int
from sliced import SlicedAverageVarianceEstimation, SlicedInverseRegression  # noqa: E402

warnings.simplefilter("ignore")
rng = np.random.default_rng(5)
X = np.round(rng.normal(size=(200, 5)) * [1, 2, 3, 1, 1] + 1, 6)
e = rng.normal(size=200)
classes = rng.integers(0, 3, size=200)
shifted = X + np.outer(classes == 1, [1, 0, 0, 2, 0]) + np.outer(classes == 2, [0, 2, 1, 0, 0])
SAMPLES = {
    "linear": (X, X @ [1, 0.5, 0, 0, 0] + 0.5 * e),
    "product": (X, X[:, 0] * (X[:, 0] + X[:, 1] + 1) + 0.2 * e),
    "classes": (shifted, classes),
}
cases = []
for name, (data, y) in SAMPLES.items():
    slices = 3 if name == "classes" else 10
    for method, cls in (("sir", SlicedInverseRegression), ("save", SlicedAverageVarianceEstimation)):
        fitted = cls(n_directions=2, n_slices=slices).fit(data, y)
        case = {"sample": name, "method": method, "n_slices": slices, "X": data.tolist(), "y": y.tolist()}
        cases.append(case | {"directions": fitted.directions_.T.tolist()})
versions = [f"{tool} {version(tool)}" for tool in ("sliced", "numpy", "scipy")]
Path(__file__).with_name("sliced.json").write_text(json.dumps({"versions": versions, "cases": cases}) + "\n")
