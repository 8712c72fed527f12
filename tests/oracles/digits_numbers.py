"""The 300 digits and their three pictures, and what other programs said of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

import dreval

HERE = Path(__file__).parent
N_NEIGHBORS = 15  # the k of every number


def digits() -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Data and classes."""
    found = dreval.load_dataset("digits")
    return found.data[:300], np.asarray(found.labels[:300])


def pictures() -> dict[str, npt.NDArray[np.float64]]:
    """The stored coordinates, by the name of the method."""
    frame = pd.read_csv(HERE / "digits_pictures.csv")
    return {name: frame[[f"{name} 1", f"{name} 2"]].to_numpy() for name in ("PCA", "t-SNE", "UMAP")}


def stored() -> dict[str, Any]:
    """Program, picture, name of the number there, number; and all ``versions``."""
    python, r = (json.loads((HERE / f"digits_{of}.json").read_text("utf-8")) for of in ("python", "r"))
    return python | r | {"versions": python["versions"] + r["versions"]}
