"""Shared by the tests of the protocol: tools that read a folder's files only, and data to send to them."""

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
    """Deterministic; the measure has an exact path for it."""
    return np.asarray(dreval.embed(X, "pca", d))


def isomap(X: Any, d: int, seed: int) -> Any:
    """Deterministic."""
    return np.asarray(dreval.embed(X, "isomap", d, n_neighbors=8))


def projection(X: Any, n_components: int, random_state: int) -> Any:
    """Return a different embedding for every seed; at full dimension fewer columns than requested."""
    R = np.random.default_rng(random_state).normal(size=(X.shape[1], min(n_components, 2)))
    return np.tanh(X / 10) @ R


def read_frame(path: Path) -> pd.DataFrame:
    """A table of the folder, ids in front as text; numbers to the last bit, as Python reads them."""
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    return pd.concat([frame.iloc[:, :1], frame.iloc[:, 1:].map(float)], axis=1)


def write(path: Path, frame: pd.DataFrame) -> None:
    """A table for the folder."""
    if path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    else:
        frame.to_csv(path, index=False)


def play(folder: Path, tool: Tool, *, only: Callable[[str], bool] = bool, ids: bool = True) -> int:
    """Run the tool on every task that has not returned, as a driver does; return the number of runs."""
    done = 0
    for task in pd.read_csv(folder / "tasks.csv").itertuples():
        if (folder / task.output).exists() or not only(task.task):
            continue
        table = read_frame(folder / task.input)
        Y = tool(table.iloc[:, 1:].to_numpy(), task.n_components, task.seed)
        frame = pd.DataFrame(Y, columns=[f"y{j}" for j in range(Y.shape[1])])
        if ids:
            frame.insert(0, table.columns[0], table.iloc[:, 0])
        write(folder / task.output, frame)
        done += 1
    return done


def both_rounds(folder: Path, tool: Tool, data: Any = X, **options: Any) -> dreval.Protocol:
    """Return a folder with the results of both rounds."""
    form = options.pop("format", None)
    protocol = dreval.Protocol(data, **{**SETTINGS, **options})
    for _ in range(2):
        protocol.export(folder, format=form)
        play(folder, tool)
    return protocol
