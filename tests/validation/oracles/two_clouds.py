"""Two small data sets, and their values by other programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

FOLDER = Path(__file__).parent
CLOUDS = ("a", "b")
N_NEIGHBORS = 7  # the k of every number below


class Cloud(NamedTuple):
    """Data, embedding, classes."""

    X: npt.NDArray[np.float64]
    Y: npt.NDArray[np.float64]
    labels: npt.NDArray[np.int64]


def cloud(name: str) -> Cloud:
    """Return one of the two data sets."""
    frame = pd.read_csv(FOLDER / f"two_clouds_{name}.csv")
    blocks = [frame[[c for c in frame if c.startswith(letter)]].to_numpy() for letter in "xy"]
    return Cloud(blocks[0], blocks[1], frame["label"].to_numpy())


def nine_classes(name: str) -> Cloud:
    """Return a data set with nine classes along the first column, for measures that compare many centroids."""
    data = cloud(name)
    order = np.argsort(np.argsort(data.X[:, 0], kind="stable"), kind="stable")
    return data._replace(labels=order * 9 // len(order))


def parts_of_a_graph(count: int) -> Cloud:
    """Return distant clusters of 20 points in three columns; the mean squared distance of their means is 1."""
    rng = np.random.default_rng(0)
    centers, labels = rng.normal(size=(count, 3)), np.repeat(np.arange(count), 20)
    X = centers[labels] + 0.01 * rng.normal(size=(20 * count, 3))
    means = np.array([X[labels == c].mean(axis=0) for c in range(count)])
    squares = ((means[:, None] - means) ** 2).sum(axis=2)
    X /= np.sqrt(squares.sum() / (count * (count - 1)))
    return Cloud(X, np.empty((20 * count, 0)), labels)


def write(tool: str, versions: list[str], values: dict[str, dict[str, float]]) -> None:
    """Store the output of a tool: versions, and for each cloud the tool's names and numbers."""
    text = json.dumps({"versions": versions, **values}, indent=1)
    (FOLDER / f"{tool}.json").write_text(text + "\n", "utf-8")


def read(tool: str) -> dict[str, Any]:
    """Return the stored output of a tool."""
    stored: dict[str, Any] = json.loads((FOLDER / f"{tool}.json").read_text("utf-8"))
    return stored
