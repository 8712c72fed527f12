"""The designs on which pooled bandwidths are compared with the median rule and with hyppo; it needs numpy alone."""

from __future__ import annotations

import numpy as np

N, PERMUTATIONS = 120, 199
PERIODS = {"sine of two periods": 2, "sine of three periods": 3}
DESIGNS = ("linear", *PERIODS, "ring", "null")


def sample(design: str, b: int) -> tuple[np.ndarray, np.ndarray]:
    """Return sample b of a design: two columns of N rows."""
    rng = np.random.default_rng([15, DESIGNS.index(design), b])
    x, noise = rng.uniform(-1, 1, N), rng.normal(size=N)
    if design == "linear":
        return x, 0.4 * x + noise
    if design == "ring":
        angle = np.pi * x
        return np.cos(angle) + 0.3 * noise, np.sin(angle) + 0.3 * rng.normal(size=N)
    if design == "null":
        return x, noise
    return x, np.sin(PERIODS[design] * np.pi * x) + 1.6 * noise
