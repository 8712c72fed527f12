"""Makes ``zadu.json``: every measure of ZADU on the two clouds, k = 7: python make_zadu.py, with ZADU 0.5.4.

Names are those of its registry and of its answers, "alias: key". Steadiness and cohesiveness and the class angular
distortion measure draw at random (seed 0), the clustering measure runs k-means (ZADU's seed 0).
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from two_clouds import CLOUDS, N_NEIGHBORS, cloud, write
from zadu import ZADU
from zadu.registry import METRICS

OPTIONS: dict[str, list[dict[str, Any]]] = {
    "ivm": [{"measure": name} for name in ("silhouette", "calinski_harabasz", "davies_bouldin")],
    "c_evm": [{"measure": name} for name in ("arand", "ami", "nmi", "vmeasure")],
    "snc": [{"random_state": 0}],
    "cadi": [{"random_seed": 0}],
    "gi": [{}],
}


def values(name: str) -> dict[str, float]:
    """Return all measures on one cloud."""
    X, Y, labels = cloud(name)
    numbers = {}
    for metric in METRICS:
        shared = {"k": N_NEIGHBORS} if "k" in metric.user_params else {}
        for options in OPTIONS.get(metric.alias, [{}]):
            answer = ZADU([{"id": metric.alias, "params": shared | options}], X).measure(Y, labels)[0]
            numbers |= {f"{metric.alias}: {key}": float(value) for key, value in answer.items()}
    return numbers


versions = [f"{tool} {version(tool)}" for tool in ("zadu", "scikit-learn", "scipy", "numpy")]
write("zadu", versions, {name: values(name) for name in CLOUDS})
