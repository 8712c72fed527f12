"""Makes ``scikit_learn_ranks.npz``: rank measures of scikit-learn. Run: python make_scikit_learn_ranks.py.

Made with scikit-learn 1.9.1, numpy 2.4.6, scipy 1.17.1 (the versions are stored in the file). Trustworthiness is
``sklearn.manifold.trustworthiness``, continuity the same with the spaces exchanged, the overlap the share of common
entries of two neighbor graphs. Coordinates are rounded to six digits; no two distances from a point are equal.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import scipy
import sklearn
from sklearn.manifold import trustworthiness
from sklearn.neighbors import kneighbors_graph

rng = np.random.default_rng(20240101)
X = np.round(rng.normal(size=(200, 15)) * np.linspace(3, 0.3, 15), 6)
Y = np.round(X[:, :2] + 0.3 * rng.normal(size=(200, 2)), 6)
ks = np.array([1, 5, 15, 50, 99])
graphs = [(kneighbors_graph(X, k), kneighbors_graph(Y, k)) for k in ks]
np.savez(
    Path(__file__).parent / "scikit_learn_ranks.npz",
    X=X,
    Y=Y,
    k=ks,
    trustworthiness=[trustworthiness(X, Y, n_neighbors=k) for k in ks],
    continuity=[trustworthiness(Y, X, n_neighbors=k) for k in ks],
    neighborhood_overlap=[a.multiply(b).sum() / (len(X) * k) for (a, b), k in zip(graphs, ks, strict=True)],
    versions=[f"scikit-learn {sklearn.__version__}", f"numpy {np.__version__}", f"scipy {scipy.__version__}"],
)
