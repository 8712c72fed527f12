"""Methods for tests of what runs a method many times."""

from __future__ import annotations

import time

import numpy as np


def counting(X, n_components, log="", stop=0):
    """The first columns; each run is counted in a file, and one of them is stopped by the user."""
    with open(log, "a+") as file:
        file.write("x")
        file.seek(0)
        if len(file.read()) == stop:
            raise KeyboardInterrupt
    return X[:, :2]


def printing(X, n_components, random_state, size=0.1):
    """The first columns with noise; each run is printed as soon as it begins, and takes a moment."""
    print("run", flush=True)
    time.sleep(0.03)
    return X[:, :n_components] + size * np.random.default_rng(random_state).normal(size=(len(X), n_components))
