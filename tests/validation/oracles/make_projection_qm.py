"""Makes ``projection_qm.json``: every metric of tensorflow-projection-qm on the two clouds.

Run: python make_projection_qm.py, with tensorflow-projection-qm 0.3.1 and tensorflow-cpu 2.21.0. k = 7,
and 8 for ``procrustes``, whose k counts the point itself.
"""

from __future__ import annotations

from importlib.metadata import version

from tensorflow_projection_qm import metrics
from two_clouds import CLOUDS, N_NEIGHBORS, cloud, write


def values(name: str) -> dict[str, float]:
    """Return all metrics on one cloud."""
    X, Y, labels = cloud(name)
    results = metrics.run_all_metrics(X, Y, labels, N_NEIGHBORS, n_classes=int(labels.max()) + 1, as_numpy=True)
    results = {key: float(value) for key, value in results.items()}
    results["procrustes"] = float(metrics.procrustes.procrustes(X, Y, N_NEIGHBORS + 1))
    return results


versions = [f"{tool} {version(tool)}" for tool in ("tensorflow-projection-qm", "tensorflow-cpu", "numpy")]
write("projection_qm", versions, {name: values(name) for name in CLOUDS})
