"""Makes ``spanning_trees.json``: python make_spanning_trees.py, with networkx 3.6.1 and ripser 0.6.15.

The distance of the spanning trees of the two clouds, and of clouds in which points coincide and distances are tied (all
coordinates rounded to whole numbers): by networkx's Kruskal on the complete graph, and from the deaths in ripser's
diagram of dimension 0, which are in single precision and leave out edges of length 0.
"""

from __future__ import annotations

from importlib.metadata import version

import networkx as nx
import numpy as np
from ripser import ripser
from scipy.spatial.distance import pdist, squareform
from two_clouds import CLOUDS, cloud, write


def by_networkx(points: np.ndarray) -> np.ndarray:
    """Return the lengths of the edges, ascending."""
    graph = nx.Graph()
    D = squareform(pdist(points))
    graph.add_weighted_edges_from((i, j, D[i, j]) for i in range(len(D)) for j in range(i))
    return np.sort([edge["weight"] for _, _, edge in nx.minimum_spanning_edges(graph)])


def by_ripser(points: np.ndarray) -> np.ndarray:
    """Return the finite deaths of components, ascending; those at birth are added as zeros."""
    deaths = ripser(points, maxdim=0)["dgms"][0][:, 1]
    deaths = np.sort(deaths[np.isfinite(deaths)]).astype(float)
    return np.r_[np.zeros(len(points) - 1 - len(deaths)), deaths]


def distance(x: np.ndarray, y: np.ndarray) -> float:
    """Return the mean absolute difference of lengths over their means."""
    return float(np.abs(x / x.mean() - y / y.mean()).mean())


numbers = {}
for name in CLOUDS:
    X, Y, _ = cloud(name)
    spaces = {"": (X, Y), " of whole numbers": (np.round(X), np.round(Y))}
    tools = {"networkx": by_networkx, "ripser": by_ripser}
    numbers[name] = {
        t + suffix: distance(*map(tool, pair)) for suffix, pair in spaces.items() for t, tool in tools.items()
    }
write("spanning_trees", [f"{tool} {version(tool)}" for tool in ("networkx", "ripser", "scipy", "numpy")], numbers)
