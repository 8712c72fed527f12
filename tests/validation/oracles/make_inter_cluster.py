"""Makes ``inter_cluster.json``: python make_inter_cluster.py, with ZADU 0.5.4 and hdbscan 0.8.44.

Steadiness and cohesiveness of the two clouds, k = 7, by ZADU's own class, from ``numpy.random.default_rng(seed)``:

same draws    ZADU with two changes that make it independent of the machine: the members of a random cluster are put in
              ascending order (ZADU: in that of a Python set), and hdbscan sorts edges of equal length stably (hdbscan:
              by a sort that is not stable, and differs between processors)
as it is      ZADU without changes, mean and standard error over 40 seeds
"""

from __future__ import annotations

from functools import partial
from importlib.metadata import version

import numpy as np
from two_clouds import CLOUDS, N_NEIGHBORS, cloud, write
from zadu.measures.utils.snc_cpu import SNCCPU

SEEDS, UNSTABLE = 40, np.argsort


class Sorted(SNCCPU):
    """ZADU's measures, with the members of random clusters in ascending order."""

    def _extract_cluster(self, *arguments, **options):
        return np.sort(super()._extract_cluster(*arguments, **options))


def value(kind: type, name: str, measure: str, seed: int) -> float:
    """Return one of the two measures, from a new generator."""
    X, Y, _ = cloud(name)
    model = kind(X, Y, k=N_NEIGHBORS, random_state=np.random.default_rng(seed))
    model.fit()
    return float(getattr(model, measure)())


numbers = {}
for name in CLOUDS:
    numbers[name] = {}
    for measure in ("steadiness", "cohesiveness"):
        np.argsort = partial(UNSTABLE, kind="stable")
        numbers[name] |= {
            f"{measure}, same draws, seed {seed}": value(Sorted, name, measure, seed) for seed in range(3)
        }
        np.argsort = UNSTABLE
        values = [value(SNCCPU, name, measure, seed) for seed in range(SEEDS)]
        numbers[name] |= {f"{measure}, as it is": float(np.mean(values))}
        numbers[name] |= {f"{measure}, as it is, se": float(np.std(values, ddof=1) / np.sqrt(SEEDS))}
write("inter_cluster", [f"{tool} {version(tool)}" for tool in ("zadu", "hdbscan", "numpy", "scipy")], numbers)
