"""Makes ``class_angles.json``: python make_class_angles.py, with ZADU 0.5.4.

The class angular distortion index of the two clouds, with their labels, and with one point of each of two classes alone
in further classes ("uneven"): by the cosines of ZADU over all its triplets, each weighted by the probability that ZADU
draws it; and by ZADU itself from 20 seeds of 100,000 triplets, mean and standard error.
"""

from __future__ import annotations

from importlib.metadata import version
from itertools import combinations

import numpy as np
from two_clouds import CLOUDS, cloud, write
from zadu.measures import class_angular_distortion_index as cadi


def over_all(X: np.ndarray, Y: np.ndarray, labels: np.ndarray) -> float:
    """Return the mean over all triplets: x in a class A, y and z in another class B of two or more points."""
    classes = {c: np.flatnonzero(labels == c) for c in np.unique(labels)}
    inner = [c for c in classes if len(classes[c]) > 1]
    means = []
    for b in inner:
        for a in classes.keys() - {b}:
            gaps = [
                (cadi._get_cosine(X, x, y, z) - cadi._get_cosine(Y, x, y, z)) ** 2 / 4
                for x in classes[a]
                for y, z in combinations(classes[b], 2)
            ]
            means.append(np.mean(gaps))
    return float(np.mean(means))


def uneven(labels: np.ndarray) -> np.ndarray:
    """Return the classes with two further classes of one point."""
    codes = np.unique(labels, return_inverse=True)[1]
    codes[[0, np.flatnonzero(codes != codes[0])[0]]] = codes.max() + 1, codes.max() + 2
    return codes


numbers = {}
for name in CLOUDS:
    X, Y, class_labels = cloud(name)
    numbers[name] = {}
    for suffix, labels in (("", class_labels), (" uneven", uneven(class_labels))):
        answers = [cadi.measure(X, Y, labels, n_triplets=100_000, random_seed=seed) for seed in range(20)]
        values = [answer["class_angular_distortion_index"] for answer in answers]
        numbers[name] |= {f"all{suffix}": over_all(X, Y, labels), f"mean{suffix}": float(np.mean(values))}
        numbers[name][f"se{suffix}"] = float(np.std(values, ddof=1) / np.sqrt(20))
write("class_angles", [f"{tool} {version(tool)}" for tool in ("zadu", "numba", "numpy")], numbers)
