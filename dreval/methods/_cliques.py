"""Embeddings of cliques, laid one after the other by rigid motions: the blockwise solution of inverse kernel methods."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from dreval.errors import ApproximationWarning
from dreval.geometry.graphs import IntArray
from dreval.methods._method import FloatArray
from dreval.methods._procrustes import moved

__all__ = ["laid_by_cliques"]

BoolArray = npt.NDArray[np.bool_]
GAP = 1.0  # between parts that are set side by side, in length scales


def laid_by_cliques(
    joined: BoolArray, embedding: Callable[[IntArray], FloatArray], d: int
) -> tuple[FloatArray, list[IntArray]]:
    """Places (n, d) of all points, and the cliques in the order in which they were laid.

    ``joined`` (n, n) says which pairs belong together; ``embedding(members)`` gives the places of a clique. Of the
    points that have no place the one with the most neighbors that have one is next; its clique is begun with these.
    """
    n = len(joined)
    joined = joined & ~np.eye(n, dtype=bool)
    degree = joined.sum(axis=1)
    Y, placed, known = np.zeros((n, d)), np.zeros(n, bool), np.zeros(n, np.int64)
    cliques: list[IntArray] = []
    parts, loose = 0, 0
    while not placed.all():
        seed = int(np.lexsort((-degree, -known, placed))[0])
        clique = _maximal_clique(joined, seed, placed, 2 * (d + 1))
        places, shared = embedding(clique), placed[clique]
        if shared.any():
            loose += int(shared.sum() <= d)
            places = moved(places[shared], Y[clique[shared]], places)
        elif placed.any():
            parts += 1
            places = places - [places[:, 0].min() - Y[placed, 0].max() - GAP, *places[:, 1:].mean(axis=0)]
        new = clique[~shared]
        Y[new], placed[new] = places[~shared], True
        known += joined[:, new].sum(axis=1)
        cliques.append(clique)
    _say(parts, loose, len(cliques), d)
    return Y, cliques


def _maximal_clique(joined: BoolArray, seed: int, placed: BoolArray, first: int) -> IntArray:
    """A clique around the seed that no point can join: up to ``first`` placed points, then whatever keeps it widest.

    The next member is the one with the most neighbors among those that can still join.
    """
    members, open_ = [seed], joined[seed].copy()
    while open_.any():
        wanted = open_ & placed if len(members) <= first and (open_ & placed).any() else open_
        candidates = np.flatnonzero(wanted)
        best = int(candidates[np.argmax(joined[np.ix_(candidates, np.flatnonzero(open_))].sum(axis=1))])
        members.append(best)
        open_ &= joined[best]
    return np.sort(np.array(members, dtype=np.int64))


def _say(parts: int, loose: int, cliques: int, d: int) -> None:
    if parts:
        warnings.warn(
            f"The correlations above the threshold leave {parts + 1} parts that share no point. They were set side by "
            "side; their places beside one another say nothing.",
            ApproximationWarning,
            stacklevel=4,
        )
    if loose:
        warnings.warn(
            f"{loose} of {cliques} cliques share no more than {d} points with what lay before, which leaves their "
            "position open.",
            ApproximationWarning,
            stacklevel=4,
        )
