"""Methods for tests of what runs a method many times."""

from __future__ import annotations


def counting(X, n_components, log="", stop=0):
    """The first columns; each run is counted in a file, and one of them is stopped by the user."""
    with open(log, "a+") as file:
        file.write("x")
        file.seek(0)
        if len(file.read()) == stop:
            raise KeyboardInterrupt
    return X[:, :2]
