"""Makes ``information_imbalance.npz``: values of DADApy. Run: python make_information_imbalance.py.

Made with DADApy 0.3.4 (stored in the file), ``MetricComparisons.return_inf_imb_two_selected_coords``, which returns
both directions, with ``maxk = n - 1``, so that no rank is drawn at random. Coordinates are rounded to six digits; no
two distances from a point are equal.
"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import numpy as np
from dadapy import MetricComparisons

rng = np.random.default_rng(7)
X = np.round(rng.normal(size=(150, 6)) * np.linspace(2, 0.5, 6), 6)
embeddings = {"projection": X[:, :2], "square": X[:, :3] ** 2, "noise": np.round(rng.normal(size=(150, 2)), 6)}
values = {}
for key, Y in embeddings.items():
    columns = list(range(X.shape[1])), list(range(X.shape[1], X.shape[1] + Y.shape[1]))
    comparison = MetricComparisons(np.c_[X, Y], maxk=len(X) - 1)
    values[key] = comparison.return_inf_imb_two_selected_coords(*columns)
path = Path(__file__).parent / "information_imbalance.npz"
np.savez(path, **values, versions=[f"dadapy {version('dadapy')}"])
