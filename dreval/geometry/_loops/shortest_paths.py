"""Shortest paths between all points of a dense graph."""

from __future__ import annotations

from dreval.geometry._loops._jit import loop


@loop()
def _shorten(row, step, onward):
    """Shorten path lengths of a row where a step and the path onward from its end are shorter."""
    for j in range(row.shape[0]):
        through = step + onward[j]
        row[j] = through if through < row[j] else row[j]


@loop()
def close_among(paths, first, last):
    """Shorten the rows ``first`` to ``last`` - 1 of path lengths with each other as stops."""
    for k in range(first, last):
        for i in range(first, last):
            if i != k:
                _shorten(paths[i], paths[i, k], paths[k])


@loop()
def stop_among(paths, first, last, low, high):
    """Shorten the rows ``low`` to ``high`` - 1 of path lengths with the rows ``first`` to ``last`` - 1 as stops."""
    for i in range(low, high):
        if i < first or i >= last:
            for k in range(first, last):
                _shorten(paths[i], paths[i, k], paths[k])
