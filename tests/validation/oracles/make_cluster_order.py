"""Makes ``cluster_order.json``: the order of three clusters on a line in UMAP of umap-learn and of R uwot.

Run: python make_cluster_order.py, with umap-learn 0.5.12 and, for ``make_cluster_order.R``, R 4.2.2 and uwot 0.1.14.
The data are ``dreval.simulate("three_clusters", n=150, random_state=seed)``, seeds 0 to 19, and the seed of the program
is that of the data. The file has the centers of the clusters 0, 1 and 2 in the embedding, by start and seed. All other
settings are the defaults of each program. Both call the start by eigenvectors "spectral"; a graph in parts is handled
by the default of each program.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
import umap

import dreval

FOLDER = Path(__file__).resolve().parent
SEEDS = range(20)
STARTS = ("spectral", "pca", "random")


def draws() -> list[dreval.datasets.Dataset]:
    """Return the data, seed by seed."""
    return [dreval.simulate("three_clusters", n=150, random_state=seed) for seed in SEEDS]


def of_umap_learn(start: str) -> list[list[list[float]]]:
    """Return centers (seeds, 3, 2)."""
    centers = []
    for seed, draw in zip(SEEDS, draws(), strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            Y = umap.UMAP(init=start, random_state=seed).fit_transform(draw.data)
        centers.append([[round(float(c), 4) for c in Y[draw.labels == label].mean(axis=0)] for label in (0, 1, 2)])
    return centers


def of_uwot() -> tuple[dict[str, list[list[list[float]]]], list[str]]:
    """Return centers by start, and versions."""
    with tempfile.TemporaryDirectory() as folder:
        data_path, centers_path = Path(folder) / "data.csv", Path(folder) / "centers.csv"
        parts = [
            pd.DataFrame(draw.data, columns=["x1", "x2"]).assign(seed=seed, label=draw.labels)
            for seed, draw in zip(SEEDS, draws(), strict=True)
        ]
        pd.concat(parts).to_csv(data_path, index=False)
        command = ["Rscript", str(FOLDER / "make_cluster_order.R"), str(data_path), str(centers_path)]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        table = pd.read_csv(centers_path)
    centers = {
        {"rand": "random"}.get(start, start): rows[["y1", "y2"]].to_numpy().round(4).reshape(len(SEEDS), 3, 2).tolist()
        for start, rows in table.groupby("start", sort=False)
    }
    return centers, output.split("\n")[:2]


if __name__ == "__main__":
    uwot, versions = of_uwot()
    learned = {start: of_umap_learn(start) for start in STARTS}
    record = {
        "versions": [f"umap-learn {version('umap-learn')}", f"numpy {np.__version__}", *versions],
        "centers": {"umap-learn": learned, "uwot": uwot},
    }
    (FOLDER / "cluster_order.json").write_text(json.dumps(record) + "\n", "utf-8")
