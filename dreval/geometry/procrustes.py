"""Fit one configuration to another: Procrustes transformations, local stretch, and agreement of replicates."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray, IntArray, check_float, check_int, check_one_of
from dreval._parallel import run_blocks
from dreval._random import stream
from dreval.errors import InputError
from dreval.geometry.blocks import View, near_rows, per_view
from dreval.geometry.distances import (
    Space,
    compact,
    gather,
    group_width,
    largest_of,
    nearest,
    pairwise_squared,
    power_of_two,
    rescaled,
)
from dreval.geometry.kernels import RADIAL_KERNELS, Scaled, radial_values, reconstruction_map, scaled_points
from dreval.geometry.ranks import with_extra_neighbor
from dreval.inputs.features import is_sparse, rows_of
from dreval.inputs.stored import blockwise
from dreval.records.notes import Notes, note

# Local and global Procrustes: norms, nuclear norms and spectra of neighborhoods (Goldberg & Ritov 2009).

FAR_LARGER = 200  # powers of two, beyond which the unit of the embedding is used
CHUNK_BYTES = 8_000_000
SAME_MAP = 1e-12  # disparity below which two tables are the same up to a similarity transformation


class LocalParts(NamedTuple):
    """Of each neighborhood: |HX_i|^2, |HY_i|^2 and the nuclear norm s_i of X_i' H Y_i.

    Data and embedding are each scaled by a power of two to size 1, so that no square overflows or vanishes: the data by
    2 ** ``power``. Times 2 ** ``shift`` the scaled embedding has the unit of the scaled data (y2: times its square).
    """

    x2: FloatArray
    y2: FloatArray
    nuclear: FloatArray
    power: int
    shift: int


class LocalSpectra(NamedTuple):
    """Of each neighborhood: squared norms beyond and within its d leading directions, and s_i within them."""

    beyond: FloatArray
    within: FloatArray
    nuclear: FloatArray


@per_view
def local_parts(view: View, k: int) -> LocalParts:
    """Parts of the local Procrustes measures on each point and its k neighbors in the data (k + 1 points)."""
    view = near_rows(view, k)
    (X, scale), (Y, other) = unit_size(view, "X"), unit_size(view, "Y")
    parts = _parts(view, X, Y, k, np.array([-1]), 2048)
    return LocalParts(*parts[:, 0], *_powers(scale, other))


def _parts(view: View, X: Any, Y: FloatArray, k: int, drops: IntArray, size: int) -> FloatArray:
    """The three parts of all neighborhoods of k neighbors, without each member of ``drops``, (3, len(drops), m)."""
    from dreval.geometry._loops import local as loops

    m = len(view.rows)
    parts = np.empty((3, len(drops), m))

    def one(place: slice) -> None:
        loops.local_parts(*_neighborhoods(view, X, Y, place, k), drops, *parts[:, :, place])

    size = chunk_size(view, k) if is_sparse(X) else size
    run_blocks(one, [slice(at, min(at + size, m)) for at in range(0, m, size)], view.n_jobs)
    return parts


def _powers(scale: float, other: float) -> tuple[int, int]:
    """The exponent of the power of two of the data, and by how much it exceeds that of the embedding."""
    power = round(math.log2(scale))
    return power, power - round(math.log2(other))


@per_view
def parts_without(view: View, k: int) -> tuple[LocalParts, LocalParts, npt.NDArray[np.int32]]:
    """Parts of all neighborhoods (n,), of each without one of its k neighbors (n, k), and these neighbors (n, k).

    The (k + 1)-th neighbor takes the place of the one left out. Costs k times ``local_parts``.
    """
    spared = with_extra_neighbor(view, k, ranks=False)
    whole = replace(
        view, X=view.X[view.population], Y=view.Y[view.population], rows=np.arange(view.n), _kept={}, _of_data={}
    )
    whole = replace(whole, nearest_data=spared.nearest_data)
    (X, scale), (Y, other) = unit_size(whole, "X"), unit_size(whole, "Y")
    parts = _parts(whole, X, Y, k + 1, np.arange(1, k + 2), 512)  # without the last one all are as they were
    powers = _powers(scale, other)
    left = LocalParts(*(part[:k].T for part in parts), *powers)
    return LocalParts(*parts[:, k], *powers), left, spared.nearest_data[:, :k]


def local_sum_without(view: View, k: int, of: Callable[[LocalParts], FloatArray]) -> FloatArray:
    """Sum over all other neighborhoods of a function ``of`` their parts, when a point is left out; (n,).

    The sum without a point that contributes nearly all of it is recomputed from its terms, so that nothing cancels.
    """
    full, left, nearest = parts_without(view, k)
    own, changed = of(full), of(left)
    found = own.sum() - own + np.bincount(nearest.ravel(), (changed - own[:, None]).ravel(), len(own))
    for h in np.flatnonzero(found < 1e-3 * own.sum()):
        others, (row, at) = own.copy(), np.nonzero(nearest == h)
        others[row], others[h] = changed[row, at], 0.0
        found[h] = others.sum()
    return np.asarray(found)


def best_scale_without(view: View, k: int) -> FloatArray:
    """Mean residual of all other neighborhoods at the one scale that minimizes it, when a point is left out; (n,).

    In closed form: of relative sizes 1, b_i and products s_i the least sum is #{i} - (sum s_i)^2 / sum b_i.
    """
    there = local_sum_without(view, k, lambda parts: (parts.x2 > 0).astype(np.float64))
    sizes = local_sum_without(view, k, lambda parts: relative(parts.y2, parts.x2))
    kept = local_sum_without(view, k, lambda parts: relative(parts.nuclear, parts.x2))
    left = there - np.divide(kept, sizes, out=np.zeros_like(kept), where=sizes > 0) * kept
    return np.asarray(np.maximum(left, 0.0) / (view.n - 1))


def _neighborhoods(
    view: View, X: Any, Y: FloatArray, place: slice, k: int
) -> tuple[FloatArray, FloatArray, IntArray, IntArray]:
    """Points of both spaces, the rows among them and their neighbors; of sparse data only the neighborhoods."""
    rows, nearest = view.rows[place], np.ascontiguousarray(view.nearest_data[place, :k])
    if not is_sparse(X):
        return X, Y, rows, nearest
    members = np.concatenate([rows[:, None], nearest], axis=1)
    few = gather(X, members)
    rows = np.arange(len(members)) * (k + 1)
    return (
        few.reshape(-1, few.shape[2]),
        Y[members.reshape(-1)],
        rows,
        (rows[:, None] + np.arange(1, k + 1)).astype("i4"),
    )


@per_view
def unit_size(view: View, which: str) -> tuple[Any, float]:
    """Data or embedding at size 1, and the power of two of the scaling; a copy only if the size is far from 1."""
    points = getattr(view, which)
    scale = power_of_two(points)
    return (points, 1.0) if 1e-30 < scale < 1e30 else (points * scale, scale)


def residual(parts: LocalParts) -> tuple[FloatArray, int]:
    """Procrustes statistic G(X_i, Y_i) = |HX_i|^2 + |HY_i|^2 - 2 s_i at the scaled data's size, clipped at 0.

    Multiply it by 2 to the exponent that is returned with it, 0 unless the embedding is far larger than the data.
    """
    if parts.shift > FAR_LARGER:
        unit = math.ldexp(1.0, -parts.shift)
        return np.maximum(parts.y2 + unit * (unit * parts.x2 - 2 * parts.nuclear), 0.0), 2 * parts.shift
    unit = math.ldexp(1.0, parts.shift)
    return np.maximum(parts.x2 + unit * (unit * parts.y2 - 2 * parts.nuclear), 0.0), 0


def relative_residual(parts: LocalParts) -> FloatArray:
    """Procrustes statistic of each neighborhood relative to its size in the data; an error if it is not finite."""
    squares, power = residual(parts)
    return np.asarray(rescaled(relative(squares, parts.x2), power))


def in_data_units(squares: tuple[FloatArray, int], parts: LocalParts) -> FloatArray:
    """Squares at the scaled data's size, in squares of the data's unit; an error if their sum is not finite."""
    return np.asarray(rescaled(squares[0], squares[1] - 2 * parts.power))


def relative(numerator: FloatArray, x2: FloatArray) -> FloatArray:
    """Numerator over |HX_i|^2; 0 for a neighborhood of coinciding points."""
    return np.divide(numerator, x2, out=np.zeros_like(numerator), where=x2 > 0)


@per_view
def local_spectra(view: View, k: int) -> LocalSpectra:
    """Spectra of the data's neighborhoods for the embedding's dimension d, in chunks of small matrices.

    O(n k^2 (k + p)) time; the chunks keep memory at a few megabytes.
    """
    d, view = view.Y.shape[1], near_rows(view, k)
    data, embedding = unit_size(view, "X")[0], unit_size(view, "Y")[0]
    out = []
    size = chunk_size(view, k)
    for at in range(0, len(view.rows), size):
        members = np.concatenate([view.rows[at : at + size, None], view.nearest_data[at : at + size, :k]], axis=1)
        X, Y = centered_blocks(gather(data, members)), centered_blocks(embedding[members])
        left, sizes, _ = np.linalg.svd(X, full_matrices=False)
        beyond = (sizes[:, d:] ** 2).sum(axis=1)
        within = (sizes[:, :d] ** 2).sum(axis=1)
        scores = left[:, :, :d] * sizes[:, None, :d]
        nuclear = np.linalg.svd(scores.transpose(0, 2, 1) @ Y, compute_uv=False).sum(axis=1)
        out.append((beyond, within, nuclear))
    return LocalSpectra(*(np.concatenate(part) for part in zip(*out, strict=True)))


def chunk_size(view: View, k: int) -> int:
    """How many neighborhoods are rescaled at a time."""
    width = group_width(view.X, k + 1) + view.Y.shape[1]
    return max(1, CHUNK_BYTES // (8 * (k + 1) * width))


def centered_blocks(blocks: FloatArray) -> FloatArray:
    """Blocks minus their means, after their first rows are subtracted so that points far from 0 keep their digits."""
    moved = blocks - blocks[:, :1]
    return moved - moved.mean(axis=1, keepdims=True)


def disparity(X: Any, Y: Any) -> float:
    """Share of the data's variance left by the best translation, rotation and scaling of Y: 1 - s^2 / (|HX|^2 |HY|^2).

    In [0, 1]; 1 for a constant Y. The narrower of the two counts as padded with zero columns, which changes nothing.
    Tables are read by blocks of rows: twice to center them, and once more. Sparse data are not centered in memory:
    O(entries x d) time.
    """
    return _disparity(X, Centered.of(X), Y, Centered.of(Y))


def view_disparity(view: View) -> float:
    """The disparity of a view; data and coordinates of all points are centered once for all embeddings and draws."""
    if view.n < len(view.Y):
        return disparity(view.X[view.population], view.Y[view.population])
    data = view.once_for_data("centered", lambda: Centered.of(view.X))
    return _disparity(view.X, data, view.Y, view.once_for_embedding("centered", lambda: Centered.of(view.Y)))


class Centered(NamedTuple):
    """How the rows of a table are scaled to size 1 and moved by the mean of all.

    Of dense rows the first one is subtracted before, so that coinciding points stay so, to the last bit.
    """

    scale: float
    first: FloatArray
    mean: FloatArray

    @classmethod
    def of(cls, table: Any) -> Centered:
        """The scale and mean of a table, which is read twice."""
        (n, p), first = table.shape, rows_of(table, slice(1))
        scale = power_of_two(np.array(blockwise(table, largest_of)))
        first = np.zeros(p) if is_sparse(first) else first[0] * scale
        made = cls(scale, first, np.zeros(p))
        return made._replace(mean=sum(blockwise(table, _sum_of, made)) / n)

    def rows(self, table: Any, part: slice) -> FloatArray:
        """Some dense rows."""
        moved: FloatArray = (rows_of(table, part) * self.scale - self.first) - self.mean
        return moved


def distances_from_center(table: Any) -> FloatArray:
    """Return the distance of each point from the mean of all, over the root of the sum of their squares, (n,).

    No rotation, reflection, translation or scaling changes it. 0 where all points coincide. O(n p) time.
    """
    centered = Centered.of(table)
    distances = np.concatenate(blockwise(table, _distances_of, centered))
    size = float(np.linalg.norm(distances))
    return np.asarray(distances / size if size > 0 else distances)


def _distances_of(table: Any, part: slice, centered: Centered) -> FloatArray:
    """Return the distances of some rows from the mean of all."""
    rows = rows_of(table, part)
    if not is_sparse(rows):
        return np.asarray(np.linalg.norm(centered.rows(table, part), axis=1))
    scaled = rows * centered.scale
    squares = np.asarray(scaled.multiply(scaled).sum(axis=1)).ravel() - 2 * np.asarray(scaled @ centered.mean).ravel()
    return np.sqrt(np.maximum(squares + centered.mean @ centered.mean, 0.0))


def squared_differences(table: Any, part: slice, Y: Any, centered: Centered) -> tuple[float, float]:
    """Return the sums over some rows of their squared differences from those of Y, and of their squares, centered."""
    rows = rows_of(table, part)
    rows = (rows.toarray() if is_sparse(rows) else rows) * centered.scale - centered.first
    others = rows_of(Y, part) * centered.scale - centered.first
    return float(np.square(rows - others).sum()), float(np.square(rows - centered.mean).sum())


def _sum_of(table: Any, part: slice, centered: Centered) -> FloatArray:
    """The sum of some rows."""
    rows = rows_of(table, part)
    if is_sparse(rows):
        return np.bincount(rows.indices, rows.data * centered.scale, rows.shape[1])
    found: FloatArray = centered.rows(table, part).sum(axis=0)
    return found


def _disparity(X: Any, data: Centered, Y: Any, embedding: Centered) -> float:
    """The disparity, from the product of the centered spaces and their squared sizes."""
    found = blockwise(X, _cross_product, data, Y, embedding)
    cross, squared_a, squared_b = (sum(parts) for parts in zip(*found, strict=True))
    if squared_a == 0.0 or squared_b == 0.0:
        return 1.0
    share = np.linalg.svd(cross / math.sqrt(squared_a) / math.sqrt(squared_b), compute_uv=False).sum()
    return float(np.clip(1.0 - share**2, 0.0, 1.0))


def _cross_product(X: Any, part: slice, data: Centered, Y: Any, embedding: Centered) -> tuple[FloatArray, float, float]:
    """The product and the squared sizes of some rows; cells of sparse rows that are not stored are minus the mean."""
    b, a = embedding.rows(Y, part), rows_of(X, part)
    if not is_sparse(a):
        a = data.rows(X, part)
        return a.T @ b, float(np.vdot(a, a)), float(np.vdot(b, b))
    moved, stored = a.copy(), a.copy()
    moved.data, stored.data = a.data * data.scale - data.mean[a.indices], np.ones(len(a.data))
    cross = moved.T @ b - data.mean[:, None] * (b.sum(axis=0) - stored.T @ b)
    unstored = len(b) - np.bincount(a.indices, minlength=a.shape[1])
    return cross, float(moved.data @ moved.data + unstored @ data.mean**2), float(np.vdot(b, b))


def disparity_without(X: Any, Y: FloatArray) -> FloatArray:
    """The disparity of all points but one, for each of them, (n,).

    Without point h the product of the centered spaces is S - n/(n-1) x_h y_h'. With S = QR and x_h = Q a + a rest of
    norm r its singular values are those of R - n/(n-1) a y_h' above the row -n/(n-1) r y_h', whose squares are never
    computed. For a point with most of a space's variance the disparity is recomputed. O(n p d + n d^3) time.
    """
    A, B = (points * power_of_two(points) for points in (compact(X) if is_sparse(X) else X, Y))
    long, short = (A, B) if A.shape[1] >= B.shape[1] else (B, A)
    short = np.concatenate(list(_dense_rows(short)))
    n = len(short)
    cross = np.zeros((long.shape[1], short.shape[1]))
    at, squares, size_b = 0, np.empty(n), float(np.linalg.norm(short))
    for rows in _dense_rows(long):
        cross += rows.T @ short[at : at + len(rows)]
        squares[at : at + len(rows)] = np.einsum("ij,ij->i", rows, rows)
        at += len(rows)
    size_a = math.sqrt(squares.sum())
    if size_a == 0.0 or size_b == 0.0:
        return np.ones(n)
    factor, short = n / (n - 1), short / size_b
    Q, R = np.linalg.qr(cross / size_a / size_b)
    shares, at = np.empty(n), 0
    for rows in _dense_rows(long):
        rows /= size_a
        inside, y = rows @ Q, short[at : at + len(rows)]
        rest = np.linalg.norm(rows - inside @ Q.T, axis=1)
        stacked = np.concatenate([inside, rest[:, None]], axis=1)
        blocks = np.concatenate([R, np.zeros((1, R.shape[1]))]) - factor * stacked[:, :, None] * y[:, None, :]
        shares[at : at + len(rows)] = np.linalg.svd(blocks, compute_uv=False).sum(axis=1)
        at += len(rows)
    left_a, left_b = 1.0 - factor * squares / size_a**2, 1.0 - factor * np.einsum("ij,ij->i", short, short)
    doubtful = np.minimum(left_a, left_b) < 0.1
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.clip(1.0 - shares**2 / left_a / left_b, 0.0, 1.0)
    for h in np.flatnonzero(doubtful):
        stay = np.arange(n) != h
        found[h] = disparity(X[stay], Y[stay])
    return found


def _dense_rows(points: Any) -> Iterator[FloatArray]:
    """Centered rows in chunks."""
    n, p = points.shape
    size = max(1, CHUNK_BYTES // (8 * p))

    def moved(at: int) -> FloatArray:
        rows = points[at : at + size]
        rows = rows.toarray() if is_sparse(points) else rows
        return np.asarray(rows - first)

    first = points[:1].toarray()[0] if is_sparse(points) else points[0]
    mean = sum(moved(at).sum(axis=0) for at in range(0, n, size)) / n
    for at in range(0, n, size):
        yield moved(at) - mean


def conformal(parts: LocalParts) -> FloatArray:
    """Residual of each neighborhood at its own best scale, relative to its size: 1 - s^2 / (|HX|^2 |HY|^2)."""
    kept = np.divide(parts.nuclear, parts.y2, out=np.zeros_like(parts.y2), where=parts.y2 > 0) * parts.nuclear
    return relative(np.maximum(parts.x2 - kept, 0.0), parts.x2)


def best_scale(parts: LocalParts) -> FloatArray:
    """Residual of each neighborhood, relative to its size, at the one scale that minimizes their mean."""
    sizes = relative(parts.y2, parts.x2)
    total = sizes.sum()
    scale = relative(parts.nuclear, parts.x2).sum() / total if total > 0 else 0.0
    left = parts.x2 + scale**2 * parts.y2 - 2 * scale * parts.nuclear
    return relative(np.maximum(left, 0.0), parts.x2)


def coincident_note(x2: FloatArray) -> Notes:
    """A note that counts neighborhoods of coinciding points; empty where there are none."""
    count = int((x2 == 0).sum())
    return (note("procrustes.coincident", count=count),) if count else ()


# How an embedding stretches each neighborhood: the linear map of its tangent, by local regression.

FLAT = 1e-8  # singular values of a neighborhood below this share of the largest are none
LOWEST = 1e-8  # stretches below this share of the largest, and of the usual one, count as so much
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
    parts = [_stretch(A, B, power) for A, B in _tangent_neighborhoods(view, X, Y, k)]
    return Stretch(*(np.concatenate(part) for part in list(zip(*parts, strict=True))[:4]), power)


def _tangent_neighborhoods(view: View, X: FloatArray, Y: FloatArray, k: int):  # type: ignore[no-untyped-def]
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

    Directions that collapse count as ``LOWEST`` of the unit, so that an area of 0 has a logarithm.
    """
    logs = np.nansum(np.log(np.maximum(sizes / unit, LOWEST)), axis=1)
    return np.asarray(np.where(np.isnan(sizes[:, 0]), np.nan, logs))


def log_anisotropies(sizes: FloatArray) -> FloatArray:
    """Logarithm of the largest over the smallest stretch of each map, (m,), at most -log ``LOWEST``; NaN as above."""
    last = np.fmin.reduce(sizes, axis=1)
    flat = np.where(
        np.isfinite(sizes).sum(axis=1) > 1, 0.0, 1.0
    )  # the ratio where all is at one place: of several directions 0, of one 1
    ratio = np.divide(last, sizes[:, 0], out=flat, where=sizes[:, 0] > 0)
    return np.asarray(np.where(np.isnan(sizes[:, 0]), np.nan, -np.log(np.maximum(ratio, LOWEST))))


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
    for A, B in _tangent_neighborhoods(view, X, Y, k):
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


# Several embeddings of the same points, or of parts of them: how far they agree, point by point, in any pose.
#
# A replicate is an embedding (n_r, d) of the points ``rows``, ascending. Nothing here depends on its translation,
# rotation or reflection, nor, but for ``variance_score``, on its scale.

CHUNK = 2_000_000  # pairs of a point and a neighbor, times replicates, in memory at once
FLOOR = 1e-6  # of the radius of a replicate: points nearer to each other count as so far apart
MIN_REPLICATES = 3  # replicates of a pair of points, from which the spread of its distance is told
STEPS = 50  # of the alignment, at most
STILL = 1e-12


class Replicate(NamedTuple):
    """An embedding of some points, whose numbers ascend."""

    rows: IntArray
    Y: FloatArray


class Agreement(NamedTuple):
    """Neighbor agreement of each point over pairs of replicates (NaN where no pair has it), and of each pair.

    ``without`` (R,) is the mean over points where each replicate is left out.
    """

    points: FloatArray
    pairs: FloatArray
    without: FloatArray


@cache
def jaccard_chance(n: int, k: int) -> float:
    """Expected Jaccard index of two random sets of k of n - 1 points: E[a / (2k - a)], a hypergeometric.

    Examples
    --------
    >>> round(jaccard_chance(100, 15), 4)
    0.0844
    """
    from scipy.stats import hypergeom

    common = np.arange(k + 1)
    return float(hypergeom.pmf(common, n - 1, k, k) @ (common / (2 * k - common)))


def neighbor_agreement(
    replicates: Sequence[Replicate], pairs: Sequence[tuple[int, int]], n: int, k: int, n_jobs: int | None = None
) -> Agreement:
    """Mean adjusted Jaccard index of the k nearest neighbors in two replicates, among the points that both have.

    Chance (``jaccard_chance``) is 0, equal neighborhoods are 1. Of a pair of replicates with n_c common points at most
    (n_c - 1) // 2 neighbors are compared. A replicate whose points all coincide has no neighborhoods: it agrees with
    none. O(n log n) time for each pair with different points, else for each replicate.
    """
    lists: dict[tuple[int, bytes], IntArray] = {}
    total, count, of_pairs = np.zeros(n), np.zeros(n), np.full(len(pairs), np.nan)
    own_total, own_count = np.zeros((2, len(replicates), n))
    for place, (r, s) in enumerate(pairs):
        one, other = replicates[r], replicates[s]
        alike = np.array_equal(one.rows, other.rows)
        common = one.rows if alike else np.intersect1d(one.rows, other.rows, assume_unique=True)
        few = min(k, (len(common) - 1) // 2)
        if few < 1:
            continue
        near = []
        for at, mine in ((r, one), (s, other)):
            key = at, b"" if alike else common.tobytes()
            if key not in lists:
                Y = mine.Y if alike else mine.Y[np.searchsorted(mine.rows, common)]
                lists[key] = np.sort(nearest(Y, few, n_jobs=n_jobs)[0], axis=1)
            near.append(lists[key] if alike else lists.pop(key))
        if (one.Y == one.Y[0]).all() or (other.Y == other.Y[0]).all():
            values = np.zeros(len(common))
        else:
            both = _common(*near)
            chance = jaccard_chance(len(common), few)
            values = (both / (2 * few - both) - chance) / (1.0 - chance)
        total[common] += values
        count[common] += 1
        for at in (r, s):
            own_total[at, common] += values
            own_count[at, common] += 1
        of_pairs[place] = values.mean()
    points = np.divide(total, count, out=np.full(n, np.nan), where=count > 0)
    left, there = total - own_total, count - own_count
    means = np.divide(left, there, out=np.zeros_like(left), where=there > 0).sum(axis=1)
    known = (there > 0).sum(axis=1)
    without = np.divide(means, known, out=np.full(len(known), np.nan), where=known > 0)
    return Agreement(points, of_pairs, without)


def _common(first: IntArray, second: IntArray) -> FloatArray:
    """Numbers of common members of the rows of two tables, each row sorted and without repeats."""
    together = np.sort(np.concatenate([first, second], axis=1), axis=1)
    return np.asarray((together[:, 1:] == together[:, :-1]).sum(axis=1), dtype=np.float64)


def _distances(
    replicates: Sequence[Replicate], lists: IntArray, n: int, itself: bool = True
) -> Iterator[tuple[slice, FloatArray]]:
    """Distances of points to those in their lists in every replicate, (points, m, R), by blocks; NaN: one lacks.

    Without ``itself`` so is a point in its own list, whose distance of 0 is no pair's.
    """
    R, m = len(replicates), lists.shape[1]
    places = np.full((R, n), -1)
    for r, one in enumerate(replicates):
        places[r, one.rows] = np.arange(len(one.rows))
    step = max(1, CHUNK // (R * m))
    for start in range(0, n, step):
        part = slice(start, min(start + step, n))
        found = np.full((part.stop - start, m, R), np.nan)
        for r, one in enumerate(replicates):
            own, others = places[r, part], places[r, lists[part]]
            i, j = np.nonzero((own[:, None] >= 0) & (others >= 0) & (itself | (own[:, None] != others)))
            found[i, j, r] = np.sqrt(np.square(one.Y[own[i]] - one.Y[others[i, j]]).sum(axis=1))
        yield part, found


def _floors(replicates: Sequence[Replicate]) -> FloatArray:
    """Of each replicate the distance up to which points count as coincident."""
    radii = [np.sqrt(np.square(one.Y - one.Y.mean(axis=0)).sum(axis=1).mean()) for one in replicates]
    return FLOOR * np.array(radii)


def log_variation(replicates: Sequence[Replicate], lists: IntArray, n: int) -> FloatArray:
    """Variance over replicates of the log distances from each point to those in its list, (n,).

    ``log d_ijr = a_ij + b_r`` is fitted by least squares to all pairs of a point and a member of its list, and all
    replicates that have both apart, so that neither the scale of a replicate nor the points it lacks matter. Distances
    of coincident images are then floored, at the scale of the replicate. The value of a point is the mean over its list
    of the residual variance, corrected for degrees of freedom; pairs in fewer than three replicates are left out, and a
    point without any has NaN. O(n m R) time for lists of m.
    """
    R, floors = len(replicates), _floors(replicates)
    normal, moment, freedom = np.zeros((R, R)), np.zeros(R), 0.0
    for _, gaps in _distances(replicates, lists, n, itself=False):
        y = gaps.reshape(-1, R)
        counted = np.isfinite(y).sum(axis=1)
        y, counted = y[counted >= MIN_REPLICATES], counted[counted >= MIN_REPLICATES]
        freedom += float((counted - 1).sum())
        y = y[(y > floors).sum(axis=1) > 1]
        there = y > floors
        seen = there.sum(axis=1)
        if len(y):
            y = np.log(np.where(there, y, 1.0))
            y = np.where(there, y - (y.sum(axis=1) / seen)[:, None], 0.0)
            inside = there.astype(np.float64)
            normal += np.diag(inside.sum(axis=0)) - (inside / seen[:, None]).T @ inside
            moment += y.sum(axis=0)
    found = np.full(n, np.nan)
    if freedom <= R - 1:
        return found
    shift = np.linalg.lstsq(normal, moment, rcond=None)[0]
    spread = floors > 0
    common = np.mean(np.log(floors[spread]) - shift[spread]) if spread.any() else 0.0
    for part, gaps in _distances(replicates, lists, n, itself=False):
        there = np.isfinite(gaps)
        residual = np.log(np.maximum(np.where(there, gaps, 1.0), np.exp(common + shift))) - shift
        seen = there.sum(axis=2)
        enough = seen >= MIN_REPLICATES
        mean = np.where(there, residual, 0.0).sum(axis=2) / np.maximum(seen, 1)
        square = np.where(there, np.square(residual - mean[:, :, None]), 0.0).sum(axis=2)
        variance = np.where(enough, square / np.maximum(seen - 1, 1), 0.0)
        count = enough.sum(axis=1)
        found[part] = np.divide(variance.sum(axis=1), count, out=np.full(len(count), np.nan), where=count > 0)
    return found * freedom / (freedom - (R - 1))


def count_coincident(replicates: Sequence[Replicate], lists: IntArray, n: int) -> int:
    """How many pairs of a point and a member of its list coincide in some replicate."""
    floors = _floors(replicates)
    return sum(int((gaps <= floors).any(axis=2).sum()) for _, gaps in _distances(replicates, lists, n))


def variance_score(replicates: Sequence[Replicate], lists: IntArray, n: int) -> FloatArray:
    """Variance score of Sun et al. (2023): variance of the distances to the points of a list, over their mean squared.

    The mean is that over all pairs of their mean distances; variances divide by the number of replicates. It depends on
    the scale of each replicate. NaN for a point that no replicate has with another of its list.
    """
    total, pairs = 0.0, 0
    found = np.full(n, np.nan)
    for part, gaps in _distances(replicates, lists, n):
        there = np.isfinite(gaps)
        seen = there.sum(axis=2)
        values = np.where(there, gaps, 0.0)
        mean = values.sum(axis=2) / np.maximum(seen, 1)
        square = np.where(there, np.square(values - mean[:, :, None]), 0.0).sum(axis=2) / np.maximum(seen, 1)
        count = (seen > 0).sum(axis=1)
        found[part] = np.divide(square.sum(axis=1), count, out=np.full(len(count), np.nan), where=count > 0)
        total, pairs = total + float(mean[seen > 0].sum()), pairs + int((seen > 0).sum())
    mean_distance = total / max(pairs, 1)
    return found / mean_distance**2 if mean_distance > 0 else found


class Aligned(NamedTuple):
    """Replicates in one pose, (R, n, d) with NaN for the points one lacks, and their mean (n, d)."""

    maps: FloatArray
    mean: FloatArray

    def radius(self) -> FloatArray:
        """Root mean squared distance of each point's images from their mean, over the radius of the mean map, (n,)."""
        gaps = np.square(self.maps - self.mean).sum(axis=2)
        there = np.isfinite(gaps)
        count = there.sum(axis=0)
        spread = np.where(there, gaps, 0.0).sum(axis=0)
        size = np.square(self.mean[count > 0]).sum(axis=1).mean()
        return np.sqrt(np.divide(spread, count * size, out=np.full(len(count), np.nan), where=(count > 0) & (size > 0)))


def aligned(replicates: Sequence[Replicate], n: int) -> Aligned:
    """Generalized Procrustes: all replicates centered, scaled to radius 1, and turned onto their common mean.

    Each is aligned on the points that it has. O(R n d^2) time a step.
    """
    from scipy.linalg import orthogonal_procrustes

    d = max(one.Y.shape[1] for one in replicates)
    maps = np.full((len(replicates), n, d), np.nan)
    for r, one in enumerate(replicates):
        Y = one.Y - one.Y.mean(axis=0)
        size = np.sqrt(np.square(Y).sum(axis=1).mean())
        maps[r, one.rows] = 0.0
        maps[r, one.rows, : Y.shape[1]] = Y / size if size > 0 else Y
    mean = maps[0].copy()  # that of the replicates aligned so far
    count = np.isfinite(mean[:, 0]).astype(np.float64)
    for step in range(STEPS):
        before = mean.copy()
        for r, one in enumerate(replicates):
            rows = one.rows[count[one.rows] > 0]
            own, target = maps[r, rows], mean[rows]
            if len(rows) > 1:
                center, at = own.mean(axis=0), target.mean(axis=0)
                turn, _ = orthogonal_procrustes(own - center, target - at)
                size, across = np.square(own - center).sum(), np.vdot((own - center) @ turn, target - at)
                factor = across / size if size > 0 and step else 1.0
                maps[r, one.rows] = factor * (maps[r, one.rows] - center) @ turn + at
            if not step and r:  # the points that only later replicates have join the mean as they come
                mean[one.rows] = np.where(count[one.rows, None] > 0, mean[one.rows], maps[r, one.rows])
                count[one.rows] += 1
        there = np.isfinite(maps[:, :, 0])
        count = there.sum(axis=0).astype(np.float64)
        sums = np.where(there[:, :, None], maps, 0.0).sum(axis=0)
        mean = np.divide(sums, count[:, None], out=np.full((n, d), np.nan), where=count[:, None] > 0)
        known = count > 0
        mean -= mean[known].mean(axis=0)
        size = np.sqrt(np.square(mean[known]).sum(axis=1).mean())
        mean = mean / size if size > 0 else mean
        moved = np.abs(mean - before)[known & np.isfinite(before[:, 0])]
        if step and moved.max(initial=0.0) < STILL:
            break
    return Aligned(maps, mean)


# The transformations of the data on which tractable consistency is measured (Roy 2021, Definitions 4 and 5).

TRANSFORMATIONS = ("perturbation", "definition")
# Steepest slope of each kernel against the distance, for a bandwidth of 1.
_SLOPES = {"gaussian": np.exp(-0.5), "laplace": 1.0, "rational_quadratic": 3 * np.sqrt(6) / 16}
_SHRUNK = 0.9  # slope that replaces one of 1 or more, which would fold the data


@dataclass(frozen=True, eq=False)
class Transformations:
    """The n p transformed data sets X~ = base + size k(X_A, x_i) e_j, made one at a time.

    Attributes
    ----------
    X : ndarray (n, p)
        The data.
    reconstruction : ndarray (n, p)
        X_A, their reconstruction from the embedding.
    kind, kernel : str
        Kind of transformation; the kernel.
    bandwidth : float
        Its length-scale, in the unit of the data.
    amplitude : float
        The factor a that is used: smaller than the argument if that would not give an invertible transformation.
    size : float
        Factor of the kernel: a s, or 1 by the printed definition.
    slope : float
        Steepest slope of the added term; below 1 the transformation is invertible, as Definition 4 requires.
    notes : tuple of Note
        Assumptions.
    """

    X: FloatArray
    reconstruction: FloatArray
    kind: str
    kernel: str
    bandwidth: float
    amplitude: float
    size: float
    slope: float
    notes: Notes
    scaled: Scaled = field(repr=False)

    @property
    def base(self) -> FloatArray:
        """The data before the bump is added: X, or by the printed definition X - X_A."""
        return self.X if self.kind == "perturbation" else self.X - self.reconstruction

    def bump(self, i: int) -> FloatArray:
        """Size k(X_A, x_i), (n,)."""
        moved = (self.reconstruction - self.X[0]) * self.scaled.scale
        squared = pairwise_squared(moved, self.scaled.points[[i]])[:, 0]
        return self.size * radial_values(squared, self.kernel, self.scaled.bandwidth)

    def data(self, i: int, j: int) -> FloatArray:
        """The transformed data (n, p) of center i and column j; a new array."""
        made = np.array(self.base)
        made[:, j] += self.bump(i)
        return made

    def choose(self, count: int | str, root: int) -> IntArray:
        """Centers and columns (m, 2), spread evenly over the columns; a longer choice begins with a shorter one."""
        n, p = self.X.shape
        count = transform_count(count, n, p)
        columns = stream(root, "columns").permutation(p)[:count]
        rounds = -(-count // p)
        orders = {j: stream(root, "centres", int(j)).permutation(n)[:rounds] for j in columns}
        pairs = [(orders[j][r], j) for r in range(rounds) for j in columns]
        return np.array(pairs[:count], dtype=np.int64)


def transform_count(count: int | str, n: int, p: int) -> int:
    """Number of transformations: "all" is n p, and there are no more."""
    if isinstance(count, str):
        if count != "all":
            cure = f'Pass their number, or "all" for {n * p:,}.'
            raise InputError("n_transformations", 'must be an integer or "all"', repr(count), cure)
        return n * p
    return min(check_int(count, "n_transformations", low=1), n * p)


def check_amplitude(value: Any) -> float:
    """The factor a of the transformations: positive."""
    amplitude = check_float(value, "amplitude")
    if amplitude <= 0:
        raise InputError("amplitude", "must be positive", repr(amplitude), "Leave it out for 0.5.")
    return amplitude


def make_transformations(
    X: FloatArray, Y: FloatArray, kind: str = "perturbation", amplitude: float = 0.5, kernel: str = "gaussian"
) -> Transformations:
    """The n p transformations of the data on which tractable consistency is measured.

    Parameters
    ----------
    X : (n, p) array
        The data.
    Y : (n, d) array
        The embedding of the data by the method.
    kind : {"perturbation", "definition"}
        "perturbation": X~ = X + a s k(X_A, x_i) e_j, with s^2 = tr S_XX / (n p). "definition": X~ = k(X_A, x_i) e_j +
        (X - X_A). X_A is the reconstruction of the data from Y by Theorem 3 (corrected).
    amplitude : float
        The factor a > 0, for "perturbation".
    kernel : {"gaussian", "laplace", "rational_quadratic"}
        k on the data at distance r and length-scale sigma: exp(-r^2 / (2 sigma^2)), exp(-r / sigma) and
        1 / (1 + r^2 / (2 sigma^2)); sigma by the median rule, sqrt(median of the squared distances of all pairs).

    Returns
    -------
    Transformations
        ``data(i, j)`` is one transformed data set, ``choose(count, root)`` a sample stratified over columns.

    References
    ----------
    Roy (2021), Trustworthy Dimensionality Reduction, Definitions 4 and 5, Theorem 5.
    """
    kind = check_one_of(kind, TRANSFORMATIONS, "transformation", aliases=True)
    kernel = check_one_of(kernel, RADIAL_KERNELS, "kernel", aliases=True)
    amplitude = check_amplitude(amplitude)
    fit, scaled = reconstruction_map(Y, X, rule="theorem3"), scaled_points(X, "X")
    reconstruction, notes = fit(Y), (*fit.notes, *scaled.notes)
    bandwidth = scaled.bandwidth / scaled.scale
    steepest = float(_SLOPES[kernel]) / bandwidth
    if kind == "definition":
        return Transformations(X, reconstruction, kind, kernel, bandwidth, amplitude, 1.0, steepest, notes, scaled)
    spread = float(np.sqrt(np.mean((scaled.points - scaled.points.mean(axis=0)) ** 2))) / scaled.scale
    if amplitude * spread * steepest >= 1.0:
        requested, amplitude = amplitude, _SHRUNK / (spread * steepest)
        outliers = spread * steepest >= 1.0  # without them the bandwidth is above the spread
        notes += (note("amplitude.smaller", asked=requested, used=amplitude, outliers=outliers),)
    size = amplitude * spread
    return Transformations(X, reconstruction, kind, kernel, bandwidth, amplitude, size, size * steepest, notes, scaled)
