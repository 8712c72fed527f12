"""Six embeddings of one bent sheet, from a perfect copy to one without relation: the gallery and pages use them."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
N = 180
TURN = 1.5 * np.pi  # of a whole turn that the sheet is bent by
SEED = 0

EMBEDDINGS = {
    "copy": "the data themselves, in all three dimensions",
    "unrolled": "the sheet laid flat",
    "PCA": "a projection: two principal components",
    "torn": "laid flat, cut in the middle, the halves swapped",
    "crushed": "laid flat, one side compressed to a twentieth",
    "random": "laid flat, the rows permuted",
}


@cache
def sheet() -> tuple[FloatArray, FloatArray, npt.NDArray[np.str_]]:
    """Return the data (n, 3), their latent variables (n, 2), and three classes along the bend."""
    rng = np.random.default_rng(SEED)
    latent = np.column_stack([rng.uniform(0, TURN, N), rng.uniform(0, 3, N)])
    data = np.column_stack([np.cos(latent[:, 0]), np.sin(latent[:, 0]), latent[:, 1]])
    return data, latent, np.array(["a", "b", "c"])[np.digitize(latent[:, 0], [TURN / 3, 2 * TURN / 3])]


@cache
def embeddings() -> dict[str, FloatArray]:
    """Return the six embeddings by name, from a perfect copy to one without any relation to the data."""
    data, latent, _ = sheet()
    along, across = latent.T
    cut = np.where(along < TURN / 2, along + TURN / 2 + 3.5, along - TURN / 2)
    coordinates = {
        "copy": data,
        "unrolled": latent,
        "PCA": principal(data, 2),
        "torn": np.column_stack([cut, across]),
        "crushed": latent * [1.0, 0.05],
        "random": latent[np.random.default_rng(SEED).permutation(N)],
    }
    return {name: coordinates[name] for name in EMBEDDINGS}


def principal(X: FloatArray, n_components: int) -> FloatArray:
    """Return the leading principal components of points."""
    centered = X - X.mean(axis=0)
    return centered @ np.linalg.svd(centered, full_matrices=False)[2][:n_components].T
