"""What the scores of the t-SNE loss share: data and map, affinities, and the refusal of maps that are no minimum."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, csr_matrix, issparse

from dreval._check import FloatArray, check_finite, check_one_of, describe
from dreval.errors import InputError, UndefinedMeasure
from dreval.geometry.affinities import allowed_perplexity
from dreval.geometry.graphs import connected_parts
from dreval.geometry.tsne_loss import (
    ALLOWED,
    STEPS,
    WIDENED,
    Affinities,
    Ended,
    ListedAffinities,
    LossParts,
    NeighborAffinities,
    PairAffinities,
)
from dreval.glossary import METRICS
from dreval.inputs.data import Data, as_data
from dreval.inputs.features import densify, is_sparse
from dreval.inputs.source import as_source, warn_of_columns
from dreval.inputs.variables import warn_of_guesses

SYMMETRY = 1e-5  # difference of p_ij and p_ji, relative to the largest: tools compute them in single precision


ENDED: dict[Ended, tuple[str, str]] = {  # why polishing ended without a minimum, and what helps
    "wide": (
        f"the map had grown to {WIDENED:g} times its width",
        (
            "Use `local_distortion`, which needs no minimum: between clusters far apart, or at a small perplexity, the "
            "loss may fall for as long as the map expands."
        ),
    ),
    "steps": (
        f"no more than {STEPS} are made",
        "Run the program that made the map longer, so that it ends nearer to a minimum.",
    ),
    "flat": (
        "no shorter step decreased the loss either",
        (
            "Run the program that made the map longer, or from another start: this one ends at a saddle, or where the "
            "loss has no digits left."
        ),
    ),
}


def check_minimum(parts: LossParts, near: float, ended: Ended | None = None, steps: int = 0) -> None:
    """Refuse a map that is no local minimum of the loss in the place of each point; ``ended`` is that of polishing."""
    saddle = int((parts.spectra[0][:, 0] <= 0).sum())
    farthest = float(parts.own_steps[np.isfinite(parts.own_steps)].max(initial=0.0)) / near
    if not saddle and farthest <= ALLOWED:
        return
    n = len(parts.own_steps)
    got = f"Newton steps of up to {farthest:.2g} of the distance to the nearest point, where {ALLOWED:g} is allowed"
    got = f"{saddle} of {n} points at which the loss has no minimum, and {got}" if saddle else got
    if ended in ENDED:
        why, cure = ENDED[ended]
        got = f"{got}, after {steps} Newton steps of all points: {why}"
    else:
        cure = (
            "Pass the perplexity and the {affinities} that the map was made with, in the unit in which it was made, or "
            "the coordinates of `singularity_score(..., polish=True)`, which moves the map to a minimum."
        )
    raise UndefinedMeasure(
        "Y", "must be a local minimum of the loss of t-SNE for each point", got, cure, affinities="affinities"
    )


def data_and_map(X: Any, Y: Any, metric: str) -> tuple[Data, FloatArray]:
    """Data and map in normal form."""
    data = as_data(X, metric=check_one_of(metric, METRICS, "metric", aliases=True))
    source = as_source(Y, "Y", data)
    warn_of_columns(source.notes, {source.argument: "Y"})
    warn_of_guesses((*data.notes, *source.notes), {source.argument: "Y", "data": "X"})
    return data, np.ascontiguousarray(source.coordinates(data), np.float64)


def joint_affinities(
    data: Data, perplexity: float, affinities: Any, metric: str, n_jobs: int | None
) -> tuple[Affinities, dict[str, Any]]:
    """The affinities, and the parameters that they stand for in the recipe."""
    if affinities is None or isinstance(affinities, str):
        if affinities is not None:
            check_one_of(affinities, ("neighbors",), "affinities", aliases=True)
        perplexity = allowed_perplexity(perplexity, data.n)
        words: dict[str, Any] = {"perplexity": perplexity, "affinities": affinities, "metric": metric}
        if affinities is None:
            return PairAffinities(data.X, perplexity, metric, n_jobs), words
        if metric != "euclidean":
            cure = "Leave affinities out, or pass the matrix of the program."
            raise InputError("metric", "must be 'euclidean' with {a}", repr(metric), cure, a="affinities")
        points = densify(data.X, "X")[0] if is_sparse(data.X) else data.X
        return _connected(NeighborAffinities(points, perplexity, n_jobs)), words
    shape = getattr(affinities, "shape", None)
    if not (issparse(affinities) or isinstance(affinities, np.ndarray)) or shape != (data.n, data.n):
        cure = f"Pass None, 'neighbors' or a sparse matrix of shape ({data.n}, {data.n})."
        raise InputError("affinities", "must be a square matrix with a row per point", describe(affinities), cure)
    P = csr_array(affinities, dtype=np.float64, copy=True)
    P.sum_duplicates()
    check_finite(P, "affinities")
    largest = float(P.data.max(initial=0.0))
    if P.data.min(initial=0.0) < 0 or largest == 0 or P.diagonal().any():
        got = (
            "a negative entry" if P.data.min(initial=0.0) < 0 else "zeros only" if largest == 0 else "another diagonal"
        )
        raise InputError(
            "affinities", "must have entries >= 0, some above 0, and a diagonal of zeros", got, "Pass the joint P."
        )
    apart = float(np.abs((P - P.T).data).max(initial=0.0)) / largest
    if apart > SYMMETRY:
        got = f"a matrix whose entries differ from their mirror images by up to {apart:.2g} of the largest"
        raise InputError("affinities", "must be symmetric", got, "For conditional probabilities pass P + P.T.")
    P = csr_array((P + P.T) / (2.0 * P.sum()))
    P.sort_indices()
    return _connected(ListedAffinities(P, n_jobs)), {"affinities": f"matrix with {P.nnz} entries"}


def _connected(P: ListedAffinities) -> ListedAffinities:
    """The affinities, if they join all points: parts that none joins repel each other at any distance."""
    edges = csr_matrix(P.matrix, copy=True)
    edges.eliminate_zeros()
    count, parts = connected_parts(edges)
    if count == 1:
        return P
    sizes = np.sort(np.bincount(parts))[::-1]
    shown = ", ".join(f"{size:,}" for size in sizes[:5]) + (", ..." if count > 5 else "")
    cure = "Choose a larger perplexity, or score the map with the affinities of all pairs, which join the parts."
    rule = "must join all points, else the loss falls for as long as parts move apart, and no map is its minimum"
    raise UndefinedMeasure("affinities", rule, f"{count} parts of {shown} points", cure)
