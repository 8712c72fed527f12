"""The score of EMBEDR, for the page that compares it: the divergence of each point over its neighbors in the data."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist

from dreval.geometry.tsne import conditional_affinities


def divergence(X: npt.ArrayLike, Y: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the divergence of the affinities in the map from those in the data, for each point."""
    P = conditional_affinities(X, perplexity=15).toarray()
    Q = (P > 0) / (1 + cdist(Y, Y, "sqeuclidean"))
    ratio = np.divide(P, Q / Q.sum(axis=1, keepdims=True), out=np.ones_like(P), where=P > 0)
    return (P * np.log(ratio)).sum(axis=1)
