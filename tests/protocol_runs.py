"""Shared by the tests of the protocol: tools that read only the files of a folder, and data for them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import dreval

X = np.random.default_rng(5).normal(size=(36, 3)) * [3.0, 2.0, 1.0] + [10.0, 0.0, 1e-3]
SETTINGS: dict[str, Any] = {"n_transformations": 7, "n_replicates": 2, "random_state": 4}
Tool = Callable[[Any, int, int], Any]


def pca(X: Any, d: int, seed: int) -> Any:
    """Embed deterministically by PCA, for which the measure has an exact path."""
    return np.asarray(dreval.embed(X, "pca", d))


def isomap(X: Any, d: int, seed: int) -> Any:
    """Embed deterministically by Isomap."""
    return np.asarray(dreval.embed(X, "isomap", d, n_neighbors=8))


def projection(X: Any, n_components: int, random_state: int) -> Any:
    """Embed randomly by the seed; return fewer columns than requested at full dimension."""
    R = np.random.default_rng(random_state).normal(size=(X.shape[1], min(n_components, 2)))
    return np.tanh(X / 10) @ R


def read(path: Path) -> pd.DataFrame:
    """Read a table of the folder: ids as text in the first column, numbers exactly as Python reads them."""
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    return pd.concat([frame.iloc[:, :1], frame.iloc[:, 1:].map(float)], axis=1)


def write(path: Path, frame: pd.DataFrame) -> None:
    """Write a table for the folder."""
    if path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    else:
        frame.to_csv(path, index=False)


def play(folder: Path, tool: Tool, *, only: Callable[[str], bool] = bool, ids: bool = True) -> int:
    """Run the tool on every task that is not returned yet, as a driver does; return the number of runs."""
    count = 0
    for task in pd.read_csv(folder / "tasks.csv").itertuples():
        if (folder / task.output).exists() or not only(task.task):
            continue
        table = read(folder / task.input)
        Y = tool(table.iloc[:, 1:].to_numpy(), task.n_components, task.seed)
        frame = pd.DataFrame(Y, columns=[f"y{j}" for j in range(Y.shape[1])])
        if ids:
            frame.insert(0, table.columns[0], table.iloc[:, 0])
        write(folder / task.output, frame)
        count += 1
    return count


def both_rounds(folder: Path, tool: Tool, data: Any = X, **options: Any) -> dreval.Protocol:
    """Export both rounds into a folder and return all files."""
    form = options.pop("format", None)
    protocol = dreval.Protocol(data, **{**SETTINGS, **options})
    for _ in range(2):
        protocol.export(folder, format=form)
        play(folder, tool)
    return protocol
