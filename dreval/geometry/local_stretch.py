"""How an embedding stretches each neighborhood: the linear map of its tangent, by local regression."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dreval._check import FloatArray, IntArray
from dreval.geometry.blocks import View, near_rows, per_view
from dreval.geometry.distances import Space, gather
from dreval.geometry.procrustes import centered_blocks, chunk_size, unit_size
from dreval.records.notes import Notes, note

FLAT = 1e-8  # singular values of a neighborhood below this share of the largest are none
LEAST = 1e-8  # stretches below this share of the largest, and of the usual one, count as so much
ROBUST = 1.482602218505602  # standard deviations of a normal distribution in its median absolute deviation
BROKEN = 3.0  # robust standard deviations of the log stretch of edges
TWICE = math.log(2.0)  # and at least this excess: where most edges keep their length, tiny stretches are unusual


class Stretch(NamedTuple):
    """Of each neighborhood, with the data and the embedding at size 1.

    ``sizes`` (m, d) are the singular values of the map of the tangent, largest first, and NaN beyond the dimensions
    that the neighborhood has; ``maps`` (m, q, d) these maps J; ``outside`` and ``r2`` (m,) the share of the data's
    variance outside the tangent, and that of the embedding's variance that the map explains. ``power`` is that of two
    by which sizes are multiplied for the units of data and embedding.
    """

    sizes: FloatArray
    maps: FloatArray
    outside: FloatArray
    r2: FloatArray
    power: int


@per_view
def local_stretch(view: View, k: int) -> Stretch:
    """The stretch of each point with its k neighbors; O(m k^2 (k + p)) time, in chunks of a few megabytes."""
    view = near_rows(view, k)
    (X, scale), (Y, other) = unit_size(view, "X"), unit_size(view, "Y")
    power = round(math.log2(scale)) - round(math.log2(other))
    parts = [_stretch(A, B, power) for A, B in _neighborhoods(view, X, Y, k)]
    return Stretch(*(np.concatenate(part) for part in list(zip(*parts, strict=True))[:4]), power)


def _neighborhoods(view: View, X: FloatArray, Y: FloatArray, k: int):  # type: ignore[no-untyped-def]
    """Chunks of the centered neighborhoods of both spaces."""
    size = chunk_size(view, k)
    for at in range(0, len(view.rows), size):
        members = np.concatenate([view.rows[at : at + size, None], view.nearest_data[at : at + size, :k]], axis=1)
        yield centered_blocks(gather(X, members)), centered_blocks(Y[members])


def _stretch(A: FloatArray, B: FloatArray, power: int) -> Stretch:
    """That of centered neighborhoods (m, k + 1, p) and their images (m, k + 1, d)."""
    left, values, _ = np.linalg.svd(A, full_matrices=False)
    q = min(B.shape[2], values.shape[1])
    there = (values[:, :q] > FLAT * values[:, :1])[:, :, None]
    scores = left[:, :, :q].transpose(0, 2, 1) @ B
    maps = np.divide(scores, values[:, :q, None], out=np.zeros_like(scores), where=there)
    sizes = np.full((len(A), B.shape[2]), np.nan)
    sizes[:, :q] = np.linalg.svd(maps, compute_uv=False)
    sizes[:, :q][np.arange(q) >= there.sum(axis=1)] = np.nan
    total, spread = (values**2).sum(axis=1), (B**2).sum(axis=(1, 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        outside = (values[:, q:] ** 2).sum(axis=1) / total
        r2 = (np.where(there, scores, 0.0) ** 2).sum(axis=(1, 2)) / spread
    return Stretch(sizes, maps, outside, r2, power)


def usual_stretch(sizes: FloatArray) -> float:
    """The power of two next to the median of the largest stretches; 1 where nothing is stretched at all."""
    first = sizes[np.isfinite(sizes[:, 0]), 0]
    usual = float(np.median(first)) if len(first) else 0.0
    return 2.0 ** round(math.log2(usual or float(first.max(initial=0.0)) or 1.0))


def log_areas(sizes: FloatArray, unit: float) -> FloatArray:
    """Logarithm of the factor of area of each map, (m,), in a unit of the stretch; NaN without any dimension.

    Directions that collapse count as ``LEAST`` of the unit, so that an area of 0 has a logarithm.
    """
    logs = np.nansum(np.log(np.maximum(sizes / unit, LEAST)), axis=1)
    return np.asarray(np.where(np.isnan(sizes[:, 0]), np.nan, logs))


def log_anisotropies(sizes: FloatArray) -> FloatArray:
    """Logarithm of the largest over the smallest stretch of each map, (m,), at most -log ``LEAST``; NaN as above."""
    last = np.fmin.reduce(sizes, axis=1)
    flat = np.where(
        np.isfinite(sizes).sum(axis=1) > 1, 0.0, 1.0
    )  # the ratio where all is at one place: of several directions 0, of one 1
    ratio = np.divide(last, sizes[:, 0], out=flat, where=sizes[:, 0] > 0)
    return np.asarray(np.where(np.isnan(sizes[:, 0]), np.nan, -np.log(np.maximum(ratio, LEAST))))


def spanned(sizes: FloatArray) -> Notes:
    """The note on neighborhoods with fewer dimensions than the embedding."""
    count = int(np.isnan(sizes[:, -1]).sum())
    return (note("stretch.flat", count=count, n=len(sizes)),) if count else ()


def jackknife_errors(view: View, k: int) -> tuple[FloatArray, FloatArray]:
    """Standard errors of log area and log anisotropy of each point, without each of its k neighbors in turn.

    NaN where so few neighbors have no map in all its dimensions. Costs k times ``local_stretch``.
    """
    view = near_rows(view, k)
    (X, _), (Y, _) = unit_size(view, "X"), unit_size(view, "Y")
    left: list[FloatArray] = []
    for A, B in _neighborhoods(view, X, Y, k):
        U, values, _ = np.linalg.svd(A, full_matrices=False)
        A = U * values[:, None, :]  # in at most k dimensions
        stay = [np.delete(np.arange(k + 1), t) for t in range(1, k + 1)]
        left.append(np.array([_stretch(centered_blocks(A[:, s]), centered_blocks(B[:, s]), 0).sizes for s in stay]))
    sizes = np.concatenate(left, axis=1)  # (k, m, d)
    full = local_stretch(view, k).sizes
    unit, every, found = usual_stretch(full), sizes.reshape(-1, sizes.shape[2]), []
    for logs in (log_areas(every, unit), log_anisotropies(every)):
        values = logs.reshape(sizes.shape[:2])
        gaps = values - values.mean(axis=0)
        errors = np.sqrt((k - 1) / k * (gaps**2).sum(axis=0))
        errors[(np.isfinite(sizes) != np.isfinite(full)).any(axis=(0, 2))] = np.nan
        found.append(errors)
    return found[0], found[1]


def broken_edges(view: View, k: int) -> IntArray:
    """Edges i < j of the neighbor graph, (b, 2), that are stretched beyond ``BROKEN`` robust deviations, and twice.

    The stretch of an edge is the logarithm of its length in the embedding over that in the data; equal points are apart
    at a stretch without bound where the embedding parts them.
    """
    first = np.repeat(view.rows, k)
    second = view.nearest_data[:, :k].reshape(-1).astype(np.int64)
    pairs = np.unique(np.sort(np.column_stack([first, second]), axis=1), axis=0)
    data, embedding = (space.listed(*pairs.T, view.n_jobs) for space in (view.data_space(), Space.of(view.Y)))
    with np.errstate(divide="ignore", invalid="ignore"):
        stretch = np.log(embedding) - np.log(data)
    usual = stretch[np.isfinite(stretch)]
    if not len(usual):
        return pairs[stretch == np.inf]
    middle = float(np.median(usual))
    spread = ROBUST * float(np.median(np.abs(usual - middle)))
    return np.asarray(pairs[stretch - middle > max(BROKEN * spread, TWICE)])
