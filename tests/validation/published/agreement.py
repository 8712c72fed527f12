"""How far the reference methods are from outside implementations: ``python tests/validation/published/agreement.py``.

The numbers of the table it prints are sines of the largest angle between the planes of both embeddings (subspace), or
largest differences after signs or a rotation, relative to the largest coordinate. Each is also bounded by a test.
"""

from __future__ import annotations

import json
import sys
import warnings
from io import StringIO
from pathlib import Path

import numpy as np
from sklearn import decomposition, manifold

import dreval
from dreval import methods
from dreval.geometry.graphs import knn_graph

ORACLES = Path(__file__).resolve().parent.parent / "oracles"
DATA = {
    "swiss_roll": dreval.simulate("swiss_roll", n=800, random_state=2, noise=0.05).data,
    "s4": dreval.simulate("s4", n=300, random_state=0).data,
    "hemisphere": dreval.simulate("hemisphere", n=500, random_state=0).data,
}
K = 12


def subspace(Y, Z):
    """Return the sine of the largest angle between the columns."""
    Y, Z = np.linalg.qr(Y - Y.mean(axis=0))[0], np.linalg.qr(Z - Z.mean(axis=0))[0]
    return np.linalg.norm(Y - Z @ (Z.T @ Y), 2)


def signs(Y, Z):
    """Return the largest difference after the best signs."""
    return np.abs(Y * np.sign(np.einsum("ij,ij->j", Y, Z)) - Z).max() / np.abs(Z).max()


def rotated(Y, Z):
    """Return the largest difference after the best rotation or reflection."""
    left, _, right = np.linalg.svd(Y.T @ Z)
    return np.abs(Y @ left @ right - Z).max() / np.abs(Z).max()


def lle(kind, k=K):
    return lambda X: manifold.LocallyLinearEmbedding(
        n_neighbors=k, n_components=2, method=kind, eigen_solver="dense"
    ).fit_transform(X)


def spectral(X):
    """Return scikit-learn's spectral embedding on the graph of nearest neighbors, with columns of length 1."""
    Y = manifold.SpectralEmbedding(2, affinity="precomputed", random_state=0).fit_transform(1.0 * (knn_graph(X, K) > 0))
    return Y / np.linalg.norm(Y, axis=0)


def kpca(X):
    gamma = 0.5 / methods.KernelPCA(2).fit(X).bandwidth_ ** 2
    return decomposition.KernelPCA(2, kernel="rbf", gamma=gamma, eigen_solver="dense").fit_transform(X)


ROWS = (
    ("PCA", methods.PCA(2), lambda X: decomposition.PCA(2, svd_solver="full").fit_transform(X), signs),
    ("kernel PCA", methods.KernelPCA(2), kpca, signs),
    ("classical MDS", methods.ClassicalMDS(2), lambda X: manifold.ClassicalMDS(2).fit_transform(X), signs),
    (
        "Isomap",
        methods.Isomap(2, n_neighbors=K),
        lambda X: manifold.Isomap(n_neighbors=K, eigen_solver="dense").fit_transform(X),
        signs,
    ),
    ("Laplacian eigenmaps", methods.LaplacianEigenmaps(2, n_neighbors=K, weights="connectivity"), spectral, signs),
    ("LLE", methods.LLE(2, n_neighbors=K), lle("standard"), subspace),
    ("modified LLE", methods.ModifiedLLE(2, n_neighbors=K), lle("modified"), subspace),
    ("Hessian LLE, k=6", methods.HessianLLE(2, n_neighbors=6, include_self=False), lle("hessian", 6), subspace),
    ("LTSA", methods.LTSA(2, n_neighbors=K, include_self=False), lle("ltsa"), subspace),
)


def rows():
    """Yield method, outside implementation, data, measure and difference."""
    for name, method, peer, measure in ROWS:
        for data, X in DATA.items():
            yield name, "scikit-learn", data, measure.__name__, measure(method.fit_transform(X), peer(X))
    for case in json.loads((ORACLES / "mvu.json").read_text())["cases"]:
        Z = np.array(case["Y"])
        method = methods.MVU(Z.shape[1], n_neighbors=case["n_neighbors"], distances=case["distances"]).fit(case["X"])
        name = f"MVU, {case['distances']}, n=60"
        yield name, "cvxpy, Clarabel", case["cloud"], "variance", abs(method.variance_ / case["variance"] - 1)
        yield name, "cvxpy, Clarabel", case["cloud"], "rotated", rotated(method.embedding_, Z)
    for case in json.loads((ORACLES / "conformal_rolls.json").read_text())["cases"]:
        Y = methods.ConformalEigenmaps(2, n_neighbors=8).fit_transform(case["X"])
        expected = np.array(case["Y"])
        yield "conformal eigenmaps", "numpy, Clarabel", f"roll, n={len(Y)}", "signs", signs(Y, expected)
    for case in json.loads((ORACLES / "sliced.json").read_text())["cases"]:
        cls = methods.SIR if case["method"] == "sir" else methods.SAVE
        method = cls(2, n_slices=case["n_slices"]).fit(np.array(case["X"]), np.array(case["y"]))
        expected = np.array(case["directions"])
        yield (
            case["method"].upper(),
            "sliced (after R dr)",
            case["sample"],
            "subspace",
            span(method.directions_, expected),
        )
    table = np.loadtxt(StringIO((ORACLES / "kernlab_kpca.csv").read_text()), delimiter=",", skiprows=2)
    Y = methods.KernelPCA(3, bandwidth=np.sqrt(2.0)).fit_transform(table[:, :3]) * np.sqrt(len(table))
    yield "kernel PCA", "R kernlab", "curve, n=40", "signs", signs(Y, table[:, 3:])


def span(A, B):
    """Return the sine of the largest angle between spaces of directions, without centering."""
    A, B = np.linalg.qr(A)[0], np.linalg.qr(B)[0]
    return np.linalg.norm(A - B @ (B.T @ A), 2)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.stdout.write(f"{'method':24s} {'outside':20s} {'data':14s} {'measure':10s} difference\n")
    for method, outside, data, measure, value in rows():
        sys.stdout.write(f"{method:24s} {outside:20s} {data:14s} {measure:10s} {value:.1e}\n")
