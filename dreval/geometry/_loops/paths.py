"""Shortest paths between all points of a dense graph."""

from __future__ import annotations

from dreval.geometry._loops._jit import loop


@loop()
def _shorten(row, step, onward):
    """The row of path lengths where it is longer than a step and a path onward from there."""
    for j in range(row.shape[0]):
        through = step + onward[j]
        row[j] = through if through < row[j] else row[j]


@loop()
def close_among(paths, first, last):
    """Rows ``first`` to ``last`` - 1 of path lengths, with each other as stops."""
    for k in range(first, last):
        for i in range(first, last):
            if i != k:
                _shorten(paths[i], paths[i, k], paths[k])


@loop()
def stop_among(paths, first, last, low, high):
    """Rows ``low`` to ``high`` - 1 of path lengths with the closed rows ``first`` to ``last`` - 1 as stops."""
    for i in range(low, high):
        if i < first or i >= last:
            for k in range(first, last):
                _shorten(paths[i], paths[i, k], paths[k])
