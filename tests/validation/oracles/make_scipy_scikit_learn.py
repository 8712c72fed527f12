"""Makes ``scipy_scikit_learn.json``: values of SciPy and scikit-learn for the two clouds, k = 7.

Run: python make_scipy_scikit_learn.py, with SciPy 1.17 and scikit-learn 1.9.
"""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
from scipy.spatial import procrustes
from scipy.spatial.distance import pdist
from scipy.stats import kendalltau, ks_2samp, pearsonr, spearmanr
from scipy.stats import wasserstein_distance as earth_mover
from sklearn.isotonic import IsotonicRegression
from sklearn.manifold import trustworthiness
from sklearn.metrics import calinski_harabasz_score, davies_bouldin_score, roc_auc_score, silhouette_score
from two_clouds import CLOUDS, N_NEIGHBORS, cloud, write


def retrieval(Y: np.ndarray, labels: np.ndarray) -> float:
    """Return the mean over the points of the area under the ROC curve of retrieving their class."""
    areas = []
    for i in range(len(Y)):
        is_other = np.arange(len(Y)) != i
        nearness = -np.linalg.norm(Y[is_other] - Y[i], axis=1)
        areas.append(roc_auc_score(labels[is_other] == labels[i], nearness))
    return float(np.mean(areas))


def values(name: str) -> dict[str, float]:
    """Return all values for one cloud."""
    X, Y, labels = cloud(name)
    x, y = pdist(X), pdist(Y)
    fitted = IsotonicRegression().fit(x, y).predict(x)
    padded = np.pad(Y, ((0, 0), (0, X.shape[1] - Y.shape[1])))
    over_mean = [z / z.mean() for z in (x, y)]
    return {
        "sklearn.manifold.trustworthiness": float(trustworthiness(X, Y, n_neighbors=N_NEIGHBORS)),
        "sklearn.manifold.trustworthiness, spaces exchanged": float(trustworthiness(Y, X, n_neighbors=N_NEIGHBORS)),
        "sklearn.metrics.silhouette_score": float(silhouette_score(Y, labels)),
        "sklearn.metrics.calinski_harabasz_score": float(calinski_harabasz_score(Y, labels)),
        "sklearn.metrics.davies_bouldin_score": float(davies_bouldin_score(Y, labels)),
        "sklearn.metrics.roc_auc_score, each point a query": retrieval(Y, labels),
        "sklearn.isotonic.IsotonicRegression, its stress": float(np.sqrt(((y - fitted) ** 2).sum() / (y**2).sum())),
        "scipy.stats.pearsonr": float(pearsonr(x, y).statistic),
        "scipy.stats.spearmanr": float(spearmanr(x, y).statistic),
        "scipy.stats.kendalltau": float(kendalltau(x, y).statistic),
        "scipy.stats.ks_2samp, distances over their mean": float(ks_2samp(*over_mean).statistic),
        "scipy.stats.wasserstein_distance, distances over their mean": float(earth_mover(*over_mean)),
        "scipy.spatial.procrustes": float(procrustes(X, padded)[2]),
    }


versions = [f"{tool} {version(tool)}" for tool in ("scipy", "scikit-learn", "numpy")]
write("scipy_scikit_learn", versions, {name: values(name) for name in CLOUDS})
