"""What the measures of single-cell integration share: the neighborhoods of LISI, chance, silhouettes by label."""

from __future__ import annotations

from typing import Any

import numpy as np

from dreval._check import FloatArray, IntArray
from dreval.geometry._loops import ROUNDING
from dreval.geometry.blocks import View, per_view
from dreval.geometry.distances import power_of_two
from dreval.measures._classes import Members, neighbors_of
from dreval.records.notes import ASSUMPTION, Notes, define

MIXED = (
    "mean over 20 random permutations of the rows of the embedding; of a measure of mixing it is the level of batches "
    "that are mixed completely, which an embedding of noise has as well"
)
INTEGRATION = (
    "Luecken et al. (2022), Benchmarking atlas-level data integration in\n"
    "single-cell genomics, Nature Methods 19, 41-50."
)
REDUCED = define("lisi.perplexity", ASSUMPTION, "perplexity {used}, which is as much as {n} points allow")


@per_view
def _weights(view: View, perplexity: int) -> tuple[IntArray, FloatArray]:
    """The neighbors of the rows in the embedding, and weights of this perplexity, (m, 3 perplexity - 1) each."""
    from dreval.geometry._loops import layouts as loops

    points, places = view.Y[view.population], np.searchsorted(view.population, view.rows)
    points = points * power_of_two(points)  # so that no square overflows or vanishes
    found, squared = neighbors_of(points, places, 3 * perplexity - 1, view.n_jobs)
    near = squared[:, :1]
    squared = np.where(squared <= near * (1.0 + 2.0 * ROUNDING), near, squared)  # ties at the least distance are equal
    weights = np.empty_like(squared)
    loops.conditional(np.sqrt(squared), float(np.log(perplexity)), weights)
    return found, weights


def lisi(view: View, classes: Members, perplexity: int) -> tuple[FloatArray, Notes]:
    """The effective number of classes among the neighbors of each row, between 1 and their number."""
    used = max(min(perplexity, view.n // 3), 1)
    found, weights = _weights(view, used)
    m, c = len(found), len(classes.sizes)
    cells = classes.codes[found] + c * np.arange(m)[:, None]
    shares = np.bincount(cells.ravel(), weights.ravel(), m * c).reshape(m, c)
    return 1.0 / (shares**2).sum(axis=1), () if used == perplexity else (REDUCED(used=used, n=view.n),)


LISI: dict[str, Any] = {  # what the cards of iLISI and cLISI share
    "level": "point",
    "direction": "higher",
    "bounds": (0.0, 1.0),
    "chance": "permutation",
    "invariances": frozenset({"translation", "rotation", "scale"}),
    "cost": "O(n log n) time for d <= 8, O(n^2 d) beyond; O(n p) memory for the perplexity p.",
    "reference": (
        "Korsunsky et al. (2019), Fast, sensitive and accurate integration of single-cell data with Harmony,\n"
        f"Nature Methods 16, 1289-1296; scaled as in {INTEGRATION}"
    ),
}
