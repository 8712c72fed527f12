"""Makes ``umap_learn.json``: curves, fuzzy graphs of the two clouds, starts in parts, and trustworthiness of digits.

Run: python make_umap_learn.py, with umap-learn 0.5.12, scikit-learn 1.9, numba 0.68. umap-learn counts the point
itself among its neighbors: 8 are our 7, 15 are our 14.
"""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
import umap
from sklearn.datasets import load_digits
from sklearn.manifold import trustworthiness
from two_clouds import CLOUDS, N_NEIGHBORS, cloud, parts_of_a_graph, write
from umap.spectral import component_layout, multi_component_layout
from umap.umap_ import find_ab_params, fuzzy_simplicial_set

CURVES = ((0.1, 1.0), (0.0, 1.0), (0.5, 1.0), (0.99, 1.0), (0.1, 2.0))
SEEDS = range(5)
PARTS = (3, 4, 8)  # numbers of clusters in the plane: the places of up to 4 do not depend on the data


def graph(name: str) -> list[list[float]]:
    """Return row, column and weight of every edge of one cloud, above the diagonal."""
    edges = fuzzy_simplicial_set(cloud(name).X, N_NEIGHBORS + 1, np.random.RandomState(0), "euclidean")[0].tocoo()
    return [[int(i), int(j), float(w)] for i, j, w in zip(*edges.coords, edges.data, strict=True) if i < j]


def digits() -> list[float]:
    """Return the trustworthiness (k = 15) of the digits by seed."""
    X = load_digits().data
    embeddings = (umap.UMAP(n_neighbors=15, random_state=seed).fit_transform(X) for seed in SEEDS)
    return [float(trustworthiness(X, Y, n_neighbors=15)) for Y in embeddings]


def start(count: int) -> dict[str, list[list[float]]]:
    """Return the places of the parts if they depend on the data, and the largest distance from them along an axis."""
    data = parts_of_a_graph(count)
    graph = fuzzy_simplicial_set(data.X, N_NEIGHBORS + 1, np.random.RandomState(0), "euclidean")[0]
    states = [np.random.RandomState(0) for _ in range(2)]
    Y = multi_component_layout(data.X, graph, count, data.labels, 2, states[0])
    places = component_layout(data.X, count, data.labels, 2, states[1]) if count > 4 else np.empty((0, 2))
    base = places if count > 4 else np.vstack([np.eye(2), -np.eye(2)])[:count]
    reach = [np.abs(Y[data.labels == c] - base[c]).max() for c in range(count)]
    return {"places": places.tolist(), "reach": [float(r) for r in reach]}


versions = [f"{tool} {version(tool)}" for tool in ("umap-learn", "scikit-learn", "numba", "numpy")]
curves = [[*pair, *map(float, find_ab_params(pair[1], pair[0]))] for pair in CURVES]
values = {name: {"graph": graph(name)} for name in CLOUDS}
write("umap_learn", versions, {**values, "curves": curves, "digits": digits(), "starts": {c: start(c) for c in PARTS}})
