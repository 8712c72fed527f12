"""Makes ``pydrmetrics.json``: the criteria of pyDRMetrics on the two clouds, its curves at k = 7.

Run: python make_pydrmetrics.py, with pyDRMetrics 0.0.8. Place k - 1 of its curves is read, which is
k = 7 for QNN and LCMC; its T and C have 6 there.
"""

from __future__ import annotations

from importlib.metadata import version

import matplotlib as mpl
from pyDRMetrics.pyDRMetrics import DRMetrics
from two_clouds import CLOUDS, N_NEIGHBORS, cloud, write

mpl.use("Agg")


def values(name: str) -> dict[str, float]:
    """Return all criteria on one cloud."""
    X, Y, _ = cloud(name)
    criteria = DRMetrics(X, Y)
    curves = {key: float(getattr(criteria, key)[N_NEIGHBORS - 1]) for key in ("T", "C", "QNN", "LCMC")}
    names = ("Vr", "Vrs", "AUC", "AUC_T", "AUC_C", "kmax", "Qlocal", "Qglobal")
    return curves | {key: float(getattr(criteria, key)) for key in names}


versions = [f"{tool} {version(tool)}" for tool in ("pyDRMetrics", "scikit-learn", "numpy")]
write("pydrmetrics", versions, {name: values(name) for name in CLOUDS})
