"""The six embeddings of one bent sheet on which every measure is shown: from a perfect copy to one without any relation."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

import dreval
from dreval.records.results import Results
from dreval.registry import MEASURES

FloatArray = npt.NDArray[np.float64]
N = 180
TURN = 1.5 * np.pi  # of a whole turn that the sheet is bent by
SEED = 0

WORDS = {
    "copy": "the data themselves, in all three dimensions",
    "unrolled": "the sheet laid flat",
    "PCA": "its shadow: two principal components",
    "torn": "laid flat, cut in the middle, the halves exchanged",
    "crushed": "laid flat, one side pressed to a twentieth",
    "random": "laid flat, the points exchanged at random",
}


@cache
def sheet() -> tuple[FloatArray, FloatArray, npt.NDArray[np.str_]]:
    """The data (n, 3), their latent variables (n, 2), and three classes along the bend."""
    rng = np.random.default_rng(SEED)
    latent = np.column_stack([rng.uniform(0, TURN, N), rng.uniform(0, 3, N)])
    data = np.column_stack([np.cos(latent[:, 0]), np.sin(latent[:, 0]), latent[:, 1]])
    return data, latent, np.array(["a", "b", "c"])[np.digitize(latent[:, 0], [TURN / 3, 2 * TURN / 3])]


@cache
def embeddings() -> dict[str, FloatArray]:
    """The six embeddings by name."""
    data, latent, _ = sheet()
    along, across = latent.T
    cut = np.where(along < TURN / 2, along + TURN / 2 + 3.5, along - TURN / 2)
    found = {
        "copy": data,
        "unrolled": latent,
        "PCA": _principal(data, 2),
        "torn": np.column_stack([cut, across]),
        "crushed": latent * [1.0, 0.05],
        "random": latent[np.random.default_rng(SEED).permutation(N)],
    }
    return {name: found[name] for name in WORDS}


def _principal(X: FloatArray, n_components: int) -> FloatArray:
    centered = X - X.mean(axis=0)
    return centered @ np.linalg.svd(centered, full_matrices=False)[2][:n_components].T


@cache
def evaluated() -> Results:
    """Every measure that judges an embedding, on all six."""
    data, latent, labels = sheet()
    names = [card.name for card in MEASURES.cards() if "method" not in card.needs]
    evaluation = dreval.Evaluation(data, dict(embeddings()), labels=labels, latent=latent, random_state=SEED)
    return evaluation.run(names, tests=None, ci=None)


def _crush(X: FloatArray, n_components: int) -> FloatArray:
    Y = _principal(X, n_components)
    return np.column_stack([Y[:, :1], 0.05 * Y[:, 1:]])


def _tear(X: FloatArray, n_components: int) -> FloatArray:
    Y = _principal(X, n_components)
    return Y + np.where(Y[:, :1] > 0, -2.0, 2.0) * np.ptp(Y[:, 0]) * np.eye(n_components)[0]


def _forget(X: FloatArray, n_components: int, random_state: Any = None) -> FloatArray:
    return np.random.default_rng(random_state).normal(size=(len(X), n_components))


# Methods that do to any data what the embeddings show, for the measures that are asked of a method.
METHODS: dict[str, tuple[Any, str]] = {
    "PCA": ("pca", "principal components"),
    "isomap": ("isomap", "lays the sheet flat"),
    "torn": (_tear, "principal components, cut in the middle, the halves exchanged"),
    "crushed": (_crush, "principal components, all but the first pressed to a twentieth"),
    "random": (_forget, "places drawn at random, whatever the data"),
}


@cache
def evaluated_methods() -> Results:
    """Every measure that runs a method again, on the five methods."""
    data, _, _ = sheet()
    names = [card.name for card in MEASURES.cards() if "method" in card.needs]
    sources = {name: source for name, (source, _) in METHODS.items()}
    return dreval.Evaluation(data, sources, random_state=SEED).run(names, tests=None, ci=None)
