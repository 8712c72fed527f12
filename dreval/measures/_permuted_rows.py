"""An embedding whose points are exchanged at random: what a measure gives by chance is what it gives for this one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from dreval._random import stream
from dreval.geometry.blocks import View, sweep
from dreval.geometry.distances import Space
from dreval.geometry.metrics import take
from dreval.geometry.pairs import remember_data
from dreval.geometry.ties import tied_ranks

__all__ = ["exchanged", "ties_of"]

TIE_ROWS = 200  # rows from which equal distances are looked for; what so many do not meet cannot move a mean over rows


def exchanged(view: View, root: int, b: int, k: int = 0, rows: int | None = None) -> View:
    """The b-th view with exchanged points, the same for all measures of an embedding; with ranks up to k if k > 0.

    Seen from as many rows, drawn anew for every b, so that draws are independent; from all of them by default.
    """
    made: View = view.once(("exchanged", root, b), lambda: view.shuffled(stream(root, "chance", b)))
    remember_data(made, view)
    if rows is not None and rows < len(view.rows):
        made = made.once(("seen from", rows), lambda: _seen_from(made, rows, b))
    if not k:
        return made
    ranked: View = made.once(("ranked", k), lambda: _with_ranks(made, k))
    return ranked


def ties_of(view: View) -> npt.NDArray[np.bool_]:
    """Whether the r-th and the next nearest point of the embedding are ever equally far, for r = 1, ..., n - 2.

    Seen from up to 200 random points. Where they never are, the ranks of exchanged points are a uniform draw however
    the data are tied, and the closed form of a chance value is exact. It is a fact of the embedding alone, not of how
    its points are paired.
    """

    def look() -> npt.NDArray[np.bool_]:
        rows = np.arange(view.n)
        if view.n > TIE_ROWS:
            rows = np.sort(stream(view.seed, "rows for ties").choice(view.n, TIE_ROWS, replace=False))
        return tied_ranks(Space.of(view.Y[view.population]), rows)

    found: npt.NDArray[np.bool_] = view.once("equal distances in the embedding", look)
    return found


def _seen_from(view: View, count: int, b: int) -> View:
    """The view from some random rows of it."""
    chosen = np.sort(stream(view.seed, "rows for chance", b).choice(len(view.rows), count, replace=False))
    near = view.nearest_data[chosen] if len(view.nearest_data) else view.nearest_data  # there may have been no pass
    return replace(view, rows=view.rows[chosen], nearest_data=near, ambiguous=view.ambiguous[chosen], _kept={})


def _with_ranks(view: View, k: int) -> View:
    """A pass over the points that count, from the rows of the view; O(m n (p + d)) time for m rows."""
    stay = view.population
    places = np.searchsorted(stay, view.rows)
    X = take(view.X, stay, view.metric)
    again = sweep(X, {"": view.Y[stay]}, k=k, rows=places, metric=view.metric, n_jobs=view.n_jobs)[""]
    labels, latent = (None if known is None else known[stay] for known in (view.labels, view.latent))
    return replace(again, labels=labels, latent=latent, seed=view.seed)
