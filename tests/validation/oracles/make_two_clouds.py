"""Makes ``two_clouds_a.csv`` and ``two_clouds_b.csv``, on which other programs are run: python make_two_clouds.py.

Columns x* are the data, y* their embedding, ``label`` the class. In (a) the embedding is two columns with noise, in (b)
a bent one of other scale. No two distances from a point are equal, in either space. Made with numpy 2.4.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd


def write(name: str, X: np.ndarray, Y: np.ndarray, label: np.ndarray) -> None:
    """Write one file, with rounded numbers."""
    columns = {f"x{j + 1}": X[:, j] for j in range(X.shape[1])} | {f"y{j + 1}": Y[:, j] for j in range(Y.shape[1])}
    frame = pd.DataFrame(columns).round(4).assign(label=label)
    frame.to_csv(Path(__file__).parent / f"two_clouds_{name}.csv", index=False)


rng = np.random.default_rng(20250101)
X = rng.normal(size=(60, 5)) * np.linspace(2, 0.5, 5)
label = np.digitize(X[:, 0] + 0.5 * rng.normal(size=60), [-1, 1])
write("a", X, X[:, :2] + 0.4 * rng.normal(size=(60, 2)), label)
X = rng.normal(size=(45, 8)) + 2 * rng.integers(0, 2, size=(45, 1))
label = (X.mean(axis=1) > 1).astype(int)
write("b", X, 10 * np.c_[np.tanh(X[:, :3].mean(axis=1)), X[:, 3] ** 2 / 4], label)
