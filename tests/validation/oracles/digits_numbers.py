"""300 digits with three embeddings, 150 duplicated digits with one, and their values by other programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

import dreval

FOLDER = Path(__file__).parent
N_NEIGHBORS = 15  # the k of every number


class Oracle(NamedTuple):
    """Data, embedding, classes."""

    X: npt.NDArray[np.float64]
    Y: npt.NDArray[np.float64]
    labels: npt.NDArray[np.int64]


def oracle_cases() -> dict[str, Oracle]:
    """Return the stored embeddings by method, and ``copies``: 150 duplicated digits that are adjacent in PCA."""
    digits = dreval.load_dataset("digits")
    X, labels = digits.data[:300], np.asarray(digits.labels[:300])
    frame = pd.read_csv(FOLDER / "digits_embeddings.csv")
    cases = {name: Oracle(X, frame[[f"{name} 1", f"{name} 2"]].to_numpy(), labels) for name in ("PCA", "t-SNE", "UMAP")}
    twice = np.repeat(np.arange(150), 2)
    Y = cases["PCA"].Y[twice] + np.tile([[1.0, 0.0], [-1.0, 0.0]], (150, 1))
    return cases | {"copies": Oracle(X[twice], Y, labels[twice])}


def stored() -> dict[str, Any]:
    """Return numbers by program, embedding and their name in the program; and all ``versions``."""
    python, r = (json.loads((FOLDER / f"digits_{of}.json").read_text("utf-8")) for of in ("python", "r"))
    return python | r | {"versions": python["versions"] + r["versions"]}
