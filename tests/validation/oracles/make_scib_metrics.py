"""Makes ``scib_metrics.json`` (two clouds) and ``scib_metrics_cells.json`` (simulated cells) with scib-metrics 0.6.1.

Run in double precision: JAX_PLATFORMS=cpu JAX_ENABLE_X64=1 python make_scib_metrics.py. 0.6.1 asks for Python 3.12,
which none of these functions needs: pip install --no-deps --ignore-requires-python scib-metrics==0.6.1, and chex,
igraph, jax, numba, pandas, pynndescent, scanpy, scikit-learn and umap-learn. 0.5.10 gives the same numbers, to the last
digit, of the functions that it has.

The neighbors are sorted here, ties by row number; scib-metrics computes everything else. Its bisection for LISI ends
at a tolerance of 1e-5 of the entropy, so values of points are taken at 1e-12 besides.
"""

from importlib.metadata import version
from types import SimpleNamespace

import numpy as np
import scib_metrics
from scib_metrics.metrics._nmi_ari import _compute_clustering_leiden
from scib_metrics.nearest_neighbors import NeighborsResults
from scib_metrics.utils import compute_simpson_index, principal_component_regression
from two_clouds import CLOUDS, N_NEIGHBORS, cloud, write

SIZE = 20  # points in a neighborhood of kBET: with 50 of so few points no test could reject


def cells(seed, n=240, shift=1.5, tied=False):
    """Return three labels in three batches, with the last label in the last two batches only."""
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1, 2], [n // 2, n // 3, n // 6])
    batch = rng.integers(0, 3, n)
    batch[labels == 2] = 1 + rng.integers(0, 2, (labels == 2).sum())
    Y = rng.normal(size=(n, 2)) + 3.0 * np.c_[labels == 1, labels == 2] + shift * np.c_[batch == 0, batch == 1]
    return (np.round(5.0 * Y) if tied else Y), labels, batch


def neighbors(Y, k):
    """Return the k nearest points of each point, itself first; ties by row number."""
    D = np.sqrt(((Y[:, None] - Y[None]) ** 2).sum(axis=2))
    np.fill_diagonal(D, -1.0)
    order = np.argsort(D, axis=1, kind="stable")[:, :k]
    np.fill_diagonal(D, 0.0)
    return NeighborsResults(indices=order, distances=np.take_along_axis(D, order, axis=1))


def undirected(Y, k):
    """Return a graph of neighbors with edges in both directions."""
    edges = neighbors(Y, k).knn_graph_distances
    edges.data[:] = 1.0
    return SimpleNamespace(knn_graph_distances=edges + edges.T)


def added(X, Y, labels, batch):
    """Return the numbers of the functions that 0.6.1 added, and of the variance that batches explain."""
    return {
        "bras": float(scib_metrics.bras(Y, labels, batch)),
        "bras_euclidean": float(scib_metrics.bras(Y, labels, batch, metric="euclidean")),
        "utils.principal_component_regression": principal_component_regression(Y, batch, categorical=True),
        "pcr_comparison": float(scib_metrics.pcr_comparison(X, Y, batch, categorical=True)),
    }


def leiden(Y, labels, k):
    """Return NMI and ARI of clusters of the graph of k neighbors; its k counts the point itself."""
    return list(map(float, scib_metrics.nmi_ari_cluster_labels_leiden(neighbors(Y, k + 1), labels).values()))


def igraph_modularity(Y, k, runs=50):
    """Return the largest modularity that igraph finds at each of the ten resolutions, as scib-metrics calls it."""
    graph, best = neighbors(Y, k + 1).knn_graph_connectivities.tocsr(), []
    edges, weight = graph.tocoo(), graph.sum()
    strength = np.asarray(graph.sum(axis=1)).ravel()
    for resolution in np.arange(1, 11) / 5:
        values = []
        for seed in range(runs):
            codes = _compute_clustering_leiden(graph, resolution, seed)
            inside = edges.data[codes[edges.row] == codes[edges.col]].sum() / weight
            values.append(inside - resolution * np.square(np.bincount(codes, strength) / weight).sum())
        best.append(float(max(values)))
    return best


def wide(Y, batch):
    """Return data of which these points are an embedding."""
    return np.c_[Y + 6.0 * np.c_[batch == 0, batch == 1], np.sin(Y)]


def values(Y, labels, batch):
    near, few, graph = neighbors(Y, 60), neighbors(Y, 50), neighbors(Y, 16)
    rows = np.arange(len(Y))[:, None]
    tight = {}
    for name, codes in (("ilisi", batch), ("clisi", labels)):
        simpson = compute_simpson_index(near.distances, near.indices, rows, codes, len(set(codes)), 20, 1e-12)
        tight[name] = (1.0 / np.asarray(simpson)).tolist()
    return {
        "lisi": tight,
        "ilisi": float(scib_metrics.ilisi_knn(near, batch)),
        "clisi": float(scib_metrics.clisi_knn(near, labels)),
        "kbet": float(scib_metrics.kbet(few, batch)[0]),
        "graph_connectivity": float(scib_metrics.graph_connectivity(undirected(Y, 16), labels)),
        "graph_connectivity_directed": float(scib_metrics.graph_connectivity(graph, labels)),
        "silhouette_batch": float(scib_metrics.silhouette_batch(Y, labels, batch)),
        "isolated_labels": float(scib_metrics.isolated_labels(Y, labels, batch)),
        "leiden": {"nmi_ari": leiden(Y, labels, 15), "modularity": igraph_modularity(Y, 15)},
    }


def of_clouds():
    """Return the numbers with 90 neighbors for LISI as in its Benchmarker, 20 for kBET, k + 1 for the graph."""
    numbers = {}
    for name in CLOUDS:
        X, Y, labels = cloud(name)
        batch = np.arange(len(Y)) // 3 % 2
        near = neighbors(Y, min(90, len(Y)))
        numbers[name] = {
            "ilisi_knn": float(scib_metrics.ilisi_knn(near, batch)),
            "clisi_knn": float(scib_metrics.clisi_knn(near, labels)),
            "kbet": float(scib_metrics.kbet(neighbors(Y, SIZE), batch)[0]),
            "graph_connectivity": float(scib_metrics.graph_connectivity(undirected(Y, N_NEIGHBORS + 1), labels)),
            "silhouette_label": float(scib_metrics.silhouette_label(Y, labels)),
            "silhouette_batch": float(scib_metrics.silhouette_batch(Y, labels, batch)),
            "isolated_labels": float(scib_metrics.isolated_labels(Y, labels, batch)),
            "nmi_ari_cluster_labels_leiden": leiden(Y, labels, N_NEIGHBORS)[0],
        }
        numbers[name] |= {key: value for key, value in added(X, Y, labels, batch).items() if key != "bras_euclidean"}
    return numbers


if __name__ == "__main__":
    versions, cases = [f"{name} {version(name)}" for name in ("scib-metrics", "igraph")], []
    for seed, tied in ((0, False), (1, False), (2, True)):
        Y, labels, batch = cells(seed, tied=tied)
        points = {"Y": Y.tolist(), "labels": labels.tolist(), "batch": batch.tolist()}
        cases.append({**points, **values(Y, labels, batch), **added(wide(Y, batch), Y, labels, batch)})
    write("scib_metrics", versions, of_clouds())
    write("scib_metrics_cells", versions, {"cases": cases})
