"""Makes ``minisom.json``: 60 steps of Kohonen's rule on the two clouds, by MiniSom, on a 5 x 4 lattice.

Run: python make_minisom.py, with MiniSom 2.3. Rate and radius fall linearly, as ours do; they are set before
every step, and the decay of MiniSom is turned off.
"""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
from minisom import MiniSom
from two_clouds import CLOUDS, cloud, write

STEPS, RATES, RADII = 60, (0.5, 0.01), (2.5, 0.5)


def train(name: str) -> dict[str, list]:
    """Return the prototypes before and after training, and the order of the rows."""
    X, rng = cloud(name).X, np.random.default_rng(0)
    order, start = (
        rng.integers(len(X), size=STEPS),
        X[rng.integers(len(X), size=20)] + rng.normal(size=(20, X.shape[1])),
    )
    som = MiniSom(5, 4, X.shape[1], neighborhood_function="gaussian", random_seed=0)
    som._weights[:] = start.reshape(5, 4, -1)
    for decay in ("_decay_function", "_sigma_decay_function", "_learning_rate_decay_function"):
        if hasattr(som, decay):
            setattr(som, decay, lambda value, *_: value)
    for t, i in enumerate(order):
        share = t / (STEPS - 1)
        som._learning_rate = RATES[0] + share * (RATES[1] - RATES[0])
        som._sigma = RADII[0] + share * (RADII[1] - RADII[0])
        som.update(X[i], som.winner(X[i]), t, STEPS)
    return {"start": start.tolist(), "order": order.tolist(), "end": som._weights.reshape(20, -1).tolist()}


write("minisom", [f"minisom {version('minisom')}", f"numpy {np.__version__}"], {name: train(name) for name in CLOUDS})
