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
    compact,
    gather,
    group_width,
    nearest,
    pairwise_squared,
)
from dreval.geometry.kernels import RADIAL_KERNELS, KernelPoints, kernel_points, radial_values, reconstruction_map
from dreval.geometry.ranks import with_extra_neighbor
from dreval.inputs.features import is_sparse, rows_of
from dreval.inputs.stored import blockwise
from dreval.records.base import read_only_array
from dreval.records.notes import Notes, note

# Local and global Procrustes: norms, nuclear norms and spectra of neighborhoods (Goldberg & Ritov 2009).

CHUNK_BYTES = 8_000_000
SAME_MAP = 1e-12  # disparity below which two tables are the same up to a similarity transformation


class LocalParts(NamedTuple):
    """For each neighborhood: |HX_i|^2, |HY_i|^2 and the nuclear norm s_i of X_i' H Y_i."""

    x2: FloatArray
    y2: FloatArray
    nuclear: FloatArray


class LocalSpectra(NamedTuple):
    """For each neighborhood: squared norms beyond and within its d leading directions, and s_i within them."""

    beyond: FloatArray
    within: FloatArray
    nuclear: FloatArray


@per_view
def local_parts(view: View, k: int) -> LocalParts:
    """Return the parts of the local Procrustes measures on each point and its k neighbors in the data."""
    view = near_rows(view, k)
    return LocalParts(*_parts(view, k, np.array([-1]), 2048)[:, 0])


def _parts(view: View, k: int, drops: IntArray, size: int) -> FloatArray:
    """Return the parts of all neighborhoods of k neighbors, without each member of ``drops``, (3, len(drops), m)."""
    from dreval.geometry._loops import local as loops

    m = len(view.rows)
    parts = np.empty((3, len(drops), m))

    def run_block(block: slice) -> None:
        loops.local_parts(*_neighborhoods(view, block, k), drops, block.start, parts)

    size = chunk_size(view, k) if is_sparse(view.X) else size
    run_blocks(run_block, [slice(start, min(start + size, m)) for start in range(0, m, size)], view.n_jobs)
    return parts


@per_view
def parts_without(view: View, k: int) -> tuple[LocalParts, LocalParts, npt.NDArray[np.int32]]:
    """Return parts of all neighborhoods (n,), of each without one of its neighbors (n, k), and these neighbors.

    The (k + 1)-th neighbor replaces the neighbor that is left out. Costs k times ``local_parts``.
    """
    extended = with_extra_neighbor(view, k, ranks=False)
    whole = replace(
        view, X=view.X[view.population], Y=view.Y[view.population], rows=np.arange(view.n), _cache={}, _data_cache={}
    )
    whole = replace(whole, nearest_data=extended.nearest_data)
    # without the (k + 1)-th neighbor: the whole neighborhoods
    parts = _parts(whole, k + 1, np.arange(1, k + 2), 512)
    return LocalParts(*parts[:, k]), LocalParts(*(part[:k].T for part in parts)), extended.nearest_data[:, :k]


def local_sum_without(view: View, k: int, function: Callable[[LocalParts], FloatArray]) -> FloatArray:
    """Return the sum over all other neighborhoods of a function of their parts, without each point; (n,).

    The sum without a point that contributes nearly all of it is recomputed from its terms, so that no digits cancel.
    """
    full, reduced, nearest = parts_without(view, k)
    terms, changed_terms = function(full), function(reduced)
    sums = terms.sum() - terms + np.bincount(nearest.ravel(), (changed_terms - terms[:, None]).ravel(), len(terms))
    for h in np.flatnonzero(sums < 1e-3 * terms.sum()):
        other_terms, (row, column) = terms.copy(), np.nonzero(nearest == h)
        other_terms[row], other_terms[h] = changed_terms[row, column], 0.0
        sums[h] = other_terms.sum()
    return np.asarray(sums)


def best_scale_without(view: View, k: int) -> FloatArray:
    """Return the mean residual of all other neighborhoods at the one scale that minimizes it, without each point; (n,).

    In closed form: for relative sizes 1, b_i and products s_i the least sum is #{i} - (sum s_i)^2 / sum b_i.
    """
    counts = local_sum_without(view, k, lambda parts: (parts.x2 > 0).astype(np.float64))
    sizes = local_sum_without(view, k, lambda parts: relative(parts.y2, parts.x2))
    products = local_sum_without(view, k, lambda parts: relative(parts.nuclear, parts.x2))
    residuals = counts - np.divide(products, sizes, out=np.zeros_like(products), where=sizes > 0) * products
    return np.asarray(np.maximum(residuals, 0.0) / (view.n - 1))


def _neighborhoods(view: View, block: slice, k: int) -> tuple[FloatArray, FloatArray, IntArray, IntArray]:
    """Return the points of both spaces, their rows and neighbors; of sparse data only the neighborhoods."""
    rows, nearest = view.rows[block], np.ascontiguousarray(view.nearest_data[block, :k])
    if not is_sparse(view.X):
        return read_only_array(view.X), read_only_array(view.Y), rows, nearest
    members = np.concatenate([rows[:, None], nearest], axis=1)
    gathered = gather(view.X, members)
    rows = np.arange(len(members)) * (k + 1)
    return (
        read_only_array(gathered.reshape(-1, gathered.shape[2])),
        read_only_array(view.Y[members.reshape(-1)]),
        rows,
        (rows[:, None] + np.arange(1, k + 1)).astype("i4"),
    )


def residual(parts: LocalParts) -> FloatArray:
    """Return the Procrustes statistic |HX_i|^2 + |HY_i|^2 - 2 s_i of each neighborhood, clipped at 0."""
    return np.maximum(parts.x2 + (parts.y2 - 2 * parts.nuclear), 0.0)


def relative(numerator: FloatArray, x2: FloatArray) -> FloatArray:
    """Return the numerator over |HX_i|^2; 0 for a neighborhood of coinciding points."""
    return np.divide(numerator, x2, out=np.zeros_like(numerator), where=x2 > 0)


@per_view
def local_spectra(view: View, k: int) -> LocalSpectra:
    """Return spectra of the data's neighborhoods for the embedding's dimension d, in chunks of small matrices.

    O(n k^2 (k + p)) time; the chunks keep memory at a few megabytes.
    """
    d, view = view.Y.shape[1], near_rows(view, k)
    chunks = []
    size = chunk_size(view, k)
    for start in range(0, len(view.rows), size):
        members = np.concatenate(
            [view.rows[start : start + size, None], view.nearest_data[start : start + size, :k]], axis=1
        )
        X, Y = centered_blocks(gather(view.X, members)), centered_blocks(view.Y[members])
        left, sizes, _ = np.linalg.svd(X, full_matrices=False)
        beyond = (sizes[:, d:] ** 2).sum(axis=1)
        within = (sizes[:, :d] ** 2).sum(axis=1)
        scores = left[:, :, :d] * sizes[:, None, :d]
        nuclear = np.linalg.svd(scores.transpose(0, 2, 1) @ Y, compute_uv=False).sum(axis=1)
        chunks.append((beyond, within, nuclear))
    return LocalSpectra(*(np.concatenate(part) for part in zip(*chunks, strict=True)))


def chunk_size(view: View, k: int) -> int:
    """Return the number of neighborhoods per chunk."""
    width = group_width(view.X, k + 1) + view.Y.shape[1]
    return max(1, CHUNK_BYTES // (8 * (k + 1) * width))


def centered_blocks(blocks: FloatArray) -> FloatArray:
    """Return blocks minus their means; first rows are subtracted before, to keep the digits of points far from 0."""
    moved = blocks - blocks[:, :1]
    return moved - moved.mean(axis=1, keepdims=True)


def disparity(X: Any, Y: Any) -> float:
    """Return the share of the data's variance that remains after the best translation, rotation and scaling of Y.

    It is 1 - s^2 / (|HX|^2 |HY|^2), in [0, 1]; 1 for a constant Y. The narrower of the two counts as padded with zero
    columns, which changes nothing. Tables are read by row blocks: twice to center them, and once more. Sparse data are
    not centered in memory: O(entries x d) time.
    """
    return _disparity(X, Centered.of(X), Y, Centered.of(Y))


def view_disparity(view: View) -> float:
    """Return the disparity of a view.

    Data and coordinates of all points are centered once for all embeddings and permutations.
    """
    if view.n < len(view.Y):
        return disparity(view.X[view.population], view.Y[view.population])
    data = view.cached_per_data("centered", lambda: Centered.of(view.X))
    return _disparity(view.X, data, view.Y, view.cached_per_embedding("centered", lambda: Centered.of(view.Y)))


class Centered(NamedTuple):
    """The mean of the rows of a table.

    The first row of dense tables is subtracted before, so that coinciding points stay equal, to the last bit.
    """

    first: FloatArray
    mean: FloatArray

    @classmethod
    def of(cls, table: Any) -> Centered:
        """Return the mean of a table, which is read once."""
        (n, p), first = table.shape, rows_of(table, slice(1))
        without_mean = cls(np.zeros(p) if is_sparse(first) else first[0], np.zeros(p))
        return without_mean._replace(mean=sum(blockwise(table, _row_sum, without_mean)) / n)

    def rows(self, table: Any, part: slice) -> FloatArray:
        """Return some dense rows."""
        moved: FloatArray = (rows_of(table, part) - self.first) - self.mean
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
    squares = np.asarray(rows.multiply(rows).sum(axis=1)).ravel() - 2 * np.asarray(rows @ centered.mean).ravel()
    return np.sqrt(np.maximum(squares + centered.mean @ centered.mean, 0.0))


def squared_differences(table: Any, part: slice, Y: Any, centered: Centered) -> tuple[float, float]:
    """Return the sums over some rows of their squared differences from those of Y, and of their squares, centered."""
    rows = rows_of(table, part)
    rows = (rows.toarray() if is_sparse(rows) else rows) - centered.first
    embedding_rows = rows_of(Y, part) - centered.first
    return float(np.square(rows - embedding_rows).sum()), float(np.square(rows - centered.mean).sum())


def _row_sum(table: Any, part: slice, centered: Centered) -> FloatArray:
    """Return the sum of some rows."""
    rows = rows_of(table, part)
    if is_sparse(rows):
        return np.bincount(rows.indices, rows.data, rows.shape[1])
    total: FloatArray = centered.rows(table, part).sum(axis=0)
    return total


def _disparity(X: Any, data: Centered, Y: Any, embedding: Centered) -> float:
    """Return the disparity from the product of the centered spaces and their squared sizes."""
    block_products = blockwise(X, _cross_product, data, Y, embedding)
    cross, squared_a, squared_b = (sum(parts) for parts in zip(*block_products, strict=True))
    if squared_a == 0.0 or squared_b == 0.0:
        return 1.0
    share = np.linalg.svd(cross / math.sqrt(squared_a) / math.sqrt(squared_b), compute_uv=False).sum()
    return float(np.clip(1.0 - share**2, 0.0, 1.0))


def _cross_product(X: Any, part: slice, data: Centered, Y: Any, embedding: Centered) -> tuple[FloatArray, float, float]:
    """Return the product and squared sizes of some rows; sparse cells that are not stored are minus the mean."""
    b, a = embedding.rows(Y, part), rows_of(X, part)
    if not is_sparse(a):
        a = data.rows(X, part)
        return a.T @ b, float(np.vdot(a, a)), float(np.vdot(b, b))
    moved, stored = a.copy(), a.copy()
    moved.data, stored.data = a.data - data.mean[a.indices], np.ones(len(a.data))
    cross = moved.T @ b - data.mean[:, None] * (b.sum(axis=0) - stored.T @ b)
    unstored = len(b) - np.bincount(a.indices, minlength=a.shape[1])
    return cross, float(moved.data @ moved.data + unstored @ data.mean**2), float(np.vdot(b, b))


def disparity_without(X: Any, Y: FloatArray) -> FloatArray:
    """Return the disparity of all points but one, for each of them, (n,).

    Without point h the product of the centered spaces is S - n/(n-1) x_h y_h'. With S = QR and x_h = Q a + a remainder
    of norm r its singular values are those of R - n/(n-1) a y_h' above the row -n/(n-1) r y_h', whose squares are never
    computed. For a point with most of a space's variance the disparity is recomputed. O(n p d + n d^3) time.
    """
    A, B = compact(X) if is_sparse(X) else X, Y
    long, short = (A, B) if A.shape[1] >= B.shape[1] else (B, A)
    short = np.concatenate(list(_dense_rows(short)))
    n = len(short)
    cross = np.zeros((long.shape[1], short.shape[1]))
    start, squares, size_b = 0, np.empty(n), float(np.linalg.norm(short))
    for rows in _dense_rows(long):
        cross += rows.T @ short[start : start + len(rows)]
        squares[start : start + len(rows)] = np.einsum("ij,ij->i", rows, rows)
        start += len(rows)
    size_a = math.sqrt(squares.sum())
    if size_a == 0.0 or size_b == 0.0:
        return np.ones(n)
    factor, short = n / (n - 1), short / size_b
    Q, R = np.linalg.qr(cross / size_a / size_b)
    shares, start = np.empty(n), 0
    for rows in _dense_rows(long):
        rows /= size_a
        inside, y = rows @ Q, short[start : start + len(rows)]
        remainders = np.linalg.norm(rows - inside @ Q.T, axis=1)
        stacked = np.concatenate([inside, remainders[:, None]], axis=1)
        blocks = np.concatenate([R, np.zeros((1, R.shape[1]))]) - factor * stacked[:, :, None] * y[:, None, :]
        shares[start : start + len(rows)] = np.linalg.svd(blocks, compute_uv=False).sum(axis=1)
        start += len(rows)
    remaining_a, remaining_b = 1.0 - factor * squares / size_a**2, 1.0 - factor * np.einsum("ij,ij->i", short, short)
    doubtful = np.minimum(remaining_a, remaining_b) < 0.1
    with np.errstate(invalid="ignore", divide="ignore"):
        disparities = np.clip(1.0 - shares**2 / remaining_a / remaining_b, 0.0, 1.0)
    for h in np.flatnonzero(doubtful):
        stay = np.arange(n) != h
        disparities[h] = disparity(X[stay], Y[stay])
    return disparities


def _dense_rows(points: Any) -> Iterator[FloatArray]:
    """Yield centered rows in chunks."""
    n, p = points.shape
    size = max(1, CHUNK_BYTES // (8 * p))

    def moved(start: int) -> FloatArray:
        rows = points[start : start + size]
        rows = rows.toarray() if is_sparse(points) else rows
        return np.asarray(rows - first)

    first = points[:1].toarray()[0] if is_sparse(points) else points[0]
    mean = sum(moved(start).sum(axis=0) for start in range(0, n, size)) / n
    for start in range(0, n, size):
        yield moved(start) - mean


def conformal(parts: LocalParts) -> FloatArray:
    """Return the residual of each neighborhood at its own best scale, over its size: 1 - s^2 / (|HX|^2 |HY|^2)."""
    explained = np.divide(parts.nuclear, parts.y2, out=np.zeros_like(parts.y2), where=parts.y2 > 0) * parts.nuclear
    return relative(np.maximum(parts.x2 - explained, 0.0), parts.x2)


def best_scale(parts: LocalParts) -> FloatArray:
    """Return the residual of each neighborhood, over its size, at the one scale that minimizes their mean."""
    sizes = relative(parts.y2, parts.x2)
    total = sizes.sum()
    scale = relative(parts.nuclear, parts.x2).sum() / total if total > 0 else 0.0
    residuals = parts.x2 + scale**2 * parts.y2 - 2 * scale * parts.nuclear
    return relative(np.maximum(residuals, 0.0), parts.x2)


def coincident_note(x2: FloatArray) -> Notes:
    """Return a note that counts neighborhoods of coinciding points; empty without such neighborhoods."""
    count = int((x2 == 0).sum())
    return (note("procrustes.coincident", count=count),) if count else ()


# The stretch of each neighborhood by an embedding: the linear map of its tangent space, by local regression.

MIN_RELATIVE_SIZE = 1e-8  # singular values of a neighborhood below this share of the largest count as 0
MIN_RELATIVE_STRETCH = 1e-8  # lower bound of stretches, relative to the largest and to the usual stretch
MAD_TO_SD = 1.482602218505602  # standard deviation of a normal distribution over its median absolute deviation
MAX_ROBUST_DEVIATIONS = 3.0  # of the log stretch of edges, beyond which an edge is broken
MIN_LOG_EXCESS = math.log(2.0)  # of a broken edge, since tiny stretches are unusual where most edges keep their length


class Stretch(NamedTuple):
    """The stretch of each neighborhood.

    ``sizes`` (m, d) are the singular values of the map of the tangent space, largest first, and NaN beyond the
    dimensions of the neighborhood; ``maps`` (m, q, d) are these maps J; ``outside`` (m,) is the share of the data's
    variance outside the tangent space, and ``r2`` (m,) the share of the embedding's variance that the map explains.
    """

    sizes: FloatArray
    maps: FloatArray
    outside: FloatArray
    r2: FloatArray


@per_view
def local_stretch(view: View, k: int) -> Stretch:
    """Return the stretch of each point with its k neighbors; O(m k^2 (k + p)) time, in chunks of a few megabytes."""
    view = near_rows(view, k)
    parts = [_stretch(A, B) for A, B in _tangent_neighborhoods(view, k)]
    return Stretch(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _tangent_neighborhoods(view: View, k: int):  # type: ignore[no-untyped-def]
    """Yield chunks of the centered neighborhoods of both spaces."""
    size = chunk_size(view, k)
    for start in range(0, len(view.rows), size):
        members = np.concatenate(
            [view.rows[start : start + size, None], view.nearest_data[start : start + size, :k]], axis=1
        )
        yield centered_blocks(gather(view.X, members)), centered_blocks(view.Y[members])


def _stretch(A: FloatArray, B: FloatArray) -> Stretch:
    """Return the stretch of centered neighborhoods (m, k + 1, p) with images (m, k + 1, d)."""
    left, values, _ = np.linalg.svd(A, full_matrices=False)
    q = min(B.shape[2], values.shape[1])
    has_dimension = (values[:, :q] > MIN_RELATIVE_SIZE * values[:, :1])[:, :, None]
    scores = left[:, :, :q].transpose(0, 2, 1) @ B
    maps = np.divide(scores, values[:, :q, None], out=np.zeros_like(scores), where=has_dimension)
    sizes = np.full((len(A), B.shape[2]), np.nan)
    sizes[:, :q] = np.linalg.svd(maps, compute_uv=False)
    sizes[:, :q][np.arange(q) >= has_dimension.sum(axis=1)] = np.nan
    total, spread = (values**2).sum(axis=1), (B**2).sum(axis=(1, 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        outside = (values[:, q:] ** 2).sum(axis=1) / total
        r2 = (np.where(has_dimension, scores, 0.0) ** 2).sum(axis=(1, 2)) / spread
    return Stretch(sizes, maps, outside, r2)


def usual_stretch(sizes: FloatArray) -> float:
    """Return the power of two nearest to the median of the largest stretches; 1 where all stretches are 0."""
    largest = sizes[np.isfinite(sizes[:, 0]), 0]
    usual = float(np.median(largest)) if len(largest) else 0.0
    return 2.0 ** round(math.log2(usual or float(largest.max(initial=0.0)) or 1.0))


def log_areas(sizes: FloatArray, unit: float) -> FloatArray:
    """Return the logarithm of the factor of area of each map, (m,), in a unit of the stretch; NaN if it has none.

    Directions that collapse count as ``MIN_RELATIVE_STRETCH`` of the unit, so that an area of 0 has a logarithm.
    """
    logs = np.nansum(np.log(np.maximum(sizes / unit, MIN_RELATIVE_STRETCH)), axis=1)
    return np.asarray(np.where(np.isnan(sizes[:, 0]), np.nan, logs))


def log_anisotropies(sizes: FloatArray) -> FloatArray:
    """Return the logarithm of the largest over the smallest stretch of each map, (m,); NaN without any dimension.

    It is at most -log ``MIN_RELATIVE_STRETCH``.
    """
    last = np.fmin.reduce(sizes, axis=1)
    flat = np.where(np.isfinite(sizes).sum(axis=1) > 1, 0.0, 1.0)  # where all images coincide
    ratio = np.divide(last, sizes[:, 0], out=flat, where=sizes[:, 0] > 0)
    return np.asarray(np.where(np.isnan(sizes[:, 0]), np.nan, -np.log(np.maximum(ratio, MIN_RELATIVE_STRETCH))))


def spanned_note(sizes: FloatArray) -> Notes:
    """Return the note on neighborhoods with fewer dimensions than the embedding."""
    count = int(np.isnan(sizes[:, -1]).sum())
    return (note("stretch.flat", count=count, n=len(sizes)),) if count else ()


def jackknife_errors(view: View, k: int) -> tuple[FloatArray, FloatArray]:
    """Return jackknife standard errors of log area and log anisotropy of each point over its k neighbors.

    Each neighbor is left out in turn. NaN where the remaining neighbors span fewer dimensions. Costs k times
    ``local_stretch``.
    """
    view = near_rows(view, k)
    reduced_sizes: list[FloatArray] = []
    for A, B in _tangent_neighborhoods(view, k):
        U, values, _ = np.linalg.svd(A, full_matrices=False)
        A = U * values[:, None, :]  # in at most k dimensions
        stay = [np.delete(np.arange(k + 1), t) for t in range(1, k + 1)]
        reduced_sizes.append(
            np.array([_stretch(centered_blocks(A[:, s]), centered_blocks(B[:, s])).sizes for s in stay])
        )
    sizes = np.concatenate(reduced_sizes, axis=1)  # (k, m, d)
    full = local_stretch(view, k).sizes
    unit, flat_sizes, errors_of_both = usual_stretch(full), sizes.reshape(-1, sizes.shape[2]), []
    for logs in (log_areas(flat_sizes, unit), log_anisotropies(flat_sizes)):
        values = logs.reshape(sizes.shape[:2])
        gaps = values - values.mean(axis=0)
        errors = np.sqrt((k - 1) / k * (gaps**2).sum(axis=0))
        errors[(np.isfinite(sizes) != np.isfinite(full)).any(axis=(0, 2))] = np.nan
        errors_of_both.append(errors)
    return errors_of_both[0], errors_of_both[1]


def broken_edges(view: View, k: int) -> IntArray:
    """Return edges i < j of the neighbor graph, (b, 2), stretched beyond 3 robust deviations, and at least doubled.

    The stretch of an edge is the logarithm of its length in the embedding over that in the data. It is infinite for
    equal points that the embedding separates.
    """
    left = np.repeat(view.rows, k)
    right = view.nearest_data[:, :k].reshape(-1).astype(np.int64)
    pairs = np.unique(np.sort(np.column_stack([left, right]), axis=1), axis=0)
    data, embedding = (space.listed(*pairs.T, view.n_jobs) for space in (view.data_space(), view.embedding_space()))
    with np.errstate(divide="ignore", invalid="ignore"):
        stretch = np.log(embedding) - np.log(data)
    finite = stretch[np.isfinite(stretch)]
    if not len(finite):
        return pairs[stretch == np.inf]
    median = float(np.median(finite))
    spread = MAD_TO_SD * float(np.median(np.abs(finite - median)))
    return np.asarray(pairs[stretch - median > max(MAX_ROBUST_DEVIATIONS * spread, MIN_LOG_EXCESS)])


# Agreement of several embeddings of the same points, or of parts of them, point by point, in any pose.
#
# A replicate is an embedding (n_r, d) of the points ``rows``, ascending. No statistic depends on its translation,
# rotation or reflection, nor, but for ``variance_score``, on its scale.

CHUNK = 2_000_000  # pairs of a point and a neighbor, times replicates, in memory at once
MIN_RELATIVE_DISTANCE = 1e-6  # lower bound of distances, relative to the radius of a replicate
MIN_REPLICATES = 3  # replicates of a pair of points for the spread of its distance
MAX_ALIGNMENT_STEPS = 50
ALIGNMENT_TOLERANCE = 1e-12


class Replicate(NamedTuple):
    """An embedding of some points, whose numbers ascend."""

    rows: IntArray
    Y: FloatArray


class Agreement(NamedTuple):
    """Neighbor agreement of each point over pairs of replicates (NaN where no pair has it), and of each pair.

    ``without`` (R,) is the mean over points without each replicate.
    """

    points: FloatArray
    pairs: FloatArray
    without: FloatArray


@cache
def jaccard_chance(n: int, k: int) -> float:
    """Return the expected Jaccard index of two random sets of k of n - 1 points: E[a / (2k - a)], hypergeometric.

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
    """Return the mean adjusted Jaccard index of the k nearest neighbors in two replicates, among common points.

    The chance level (``jaccard_chance``) is 0; equal neighborhoods have 1. For a pair of replicates with n_c common
    points at most (n_c - 1) // 2 neighbors are compared. A replicate whose points all coincide has no neighborhoods and
    no agreement. O(n log n) time for each pair with different points, else for each replicate.
    """
    lists: dict[tuple[int, bytes], IntArray] = {}
    total, count, of_pairs = np.zeros(n), np.zeros(n), np.full(len(pairs), np.nan)
    replicate_total, replicate_count = np.zeros((2, len(replicates), n))
    for pair, (r, s) in enumerate(pairs):
        left, right = replicates[r], replicates[s]
        same_points = np.array_equal(left.rows, right.rows)
        common = left.rows if same_points else np.intersect1d(left.rows, right.rows, assume_unique=True)
        k_compared = min(k, (len(common) - 1) // 2)
        if k_compared < 1:
            continue
        near = []
        for index, replicate in ((r, left), (s, right)):
            key = index, b"" if same_points else common.tobytes()
            if key not in lists:
                Y = replicate.Y if same_points else replicate.Y[np.searchsorted(replicate.rows, common)]
                lists[key] = np.sort(nearest(Y, k_compared, n_jobs=n_jobs)[0], axis=1)
            near.append(lists[key] if same_points else lists.pop(key))
        if (left.Y == left.Y[0]).all() or (right.Y == right.Y[0]).all():
            values = np.zeros(len(common))
        else:
            merged = np.sort(np.concatenate(near, axis=1), axis=1)
            n_common = (merged[:, 1:] == merged[:, :-1]).sum(axis=1).astype(np.float64)
            chance = jaccard_chance(len(common), k_compared)
            values = (n_common / (2 * k_compared - n_common) - chance) / (1.0 - chance)
        total[common] += values
        count[common] += 1
        for index in (r, s):
            replicate_total[index, common] += values
            replicate_count[index, common] += 1
        of_pairs[pair] = values.mean()
    points = np.divide(total, count, out=np.full(n, np.nan), where=count > 0)
    other_total, other_count = total - replicate_total, count - replicate_count
    means = np.divide(other_total, other_count, out=np.zeros_like(other_total), where=other_count > 0).sum(axis=1)
    n_points = (other_count > 0).sum(axis=1)
    without = np.divide(means, n_points, out=np.full(len(n_points), np.nan), where=n_points > 0)
    return Agreement(points, of_pairs, without)


def _distances(
    replicates: Sequence[Replicate], lists: IntArray, n: int, itself: bool = True
) -> Iterator[tuple[slice, FloatArray]]:
    """Yield distances of points to those in their lists in every replicate, (points, m, R), by blocks.

    NaN where a replicate lacks a point. Without ``itself`` also for a point in its own list, since its distance of 0 is
    not the distance of a pair.
    """
    R, m = len(replicates), lists.shape[1]
    positions = np.full((R, n), -1)
    for r, replicate in enumerate(replicates):
        positions[r, replicate.rows] = np.arange(len(replicate.rows))
    step = max(1, CHUNK // (R * m))
    for start in range(0, n, step):
        part = slice(start, min(start + step, n))
        distances = np.full((part.stop - start, m, R), np.nan)
        for r, replicate in enumerate(replicates):
            point_positions, list_positions = positions[r, part], positions[r, lists[part]]
            i, j = np.nonzero(
                (point_positions[:, None] >= 0)
                & (list_positions >= 0)
                & (itself | (point_positions[:, None] != list_positions))
            )
            distances[i, j, r] = np.sqrt(
                np.square(replicate.Y[point_positions[i]] - replicate.Y[list_positions[i, j]]).sum(axis=1)
            )
        yield part, distances


def _floors(replicates: Sequence[Replicate]) -> FloatArray:
    """Return the distance up to which points count as coincident, for each replicate."""
    radii = [np.sqrt(np.square(replicate.Y - replicate.Y.mean(axis=0)).sum(axis=1).mean()) for replicate in replicates]
    return MIN_RELATIVE_DISTANCE * np.array(radii)


def log_variation(replicates: Sequence[Replicate], lists: IntArray, n: int) -> FloatArray:
    """Return the variance over replicates of the log distances from each point to those in its list, (n,).

    ``log d_ijr = a_ij + b_r`` is fitted by least squares to all pairs of a point and a member of its list, and all
    replicates that separate both, so that neither the scale of a replicate nor the points that it lacks matter.
    Distances of coincident images are then floored, at the scale of the replicate. The value of a point is the mean
    over its list of the residual variance, corrected for degrees of freedom; pairs in fewer than three replicates are
    left out, and a point without any pair has NaN. O(n m R) time for lists of m.
    """
    R, floors = len(replicates), _floors(replicates)
    normal, moment, freedom = np.zeros((R, R)), np.zeros(R), 0.0
    for _, gaps in _distances(replicates, lists, n, itself=False):
        y = gaps.reshape(-1, R)
        n_replicates = np.isfinite(y).sum(axis=1)
        y, n_replicates = y[n_replicates >= MIN_REPLICATES], n_replicates[n_replicates >= MIN_REPLICATES]
        freedom += float((n_replicates - 1).sum())
        y = y[(y > floors).sum(axis=1) > 1]
        present = y > floors
        n_present = present.sum(axis=1)
        if len(y):
            y = np.log(np.where(present, y, 1.0))
            y = np.where(present, y - (y.sum(axis=1) / n_present)[:, None], 0.0)
            inside = present.astype(np.float64)
            normal += np.diag(inside.sum(axis=0)) - (inside / n_present[:, None]).T @ inside
            moment += y.sum(axis=0)
    variation = np.full(n, np.nan)
    if freedom <= R - 1:
        return variation
    shift = np.linalg.lstsq(normal, moment, rcond=None)[0]
    has_extent = floors > 0
    common = np.mean(np.log(floors[has_extent]) - shift[has_extent]) if has_extent.any() else 0.0
    for part, gaps in _distances(replicates, lists, n, itself=False):
        present = np.isfinite(gaps)
        residual = np.log(np.maximum(np.where(present, gaps, 1.0), np.exp(common + shift))) - shift
        n_present = present.sum(axis=2)
        enough = n_present >= MIN_REPLICATES
        mean = np.where(present, residual, 0.0).sum(axis=2) / np.maximum(n_present, 1)
        square = np.where(present, np.square(residual - mean[:, :, None]), 0.0).sum(axis=2)
        variance = np.where(enough, square / np.maximum(n_present - 1, 1), 0.0)
        count = enough.sum(axis=1)
        variation[part] = np.divide(variance.sum(axis=1), count, out=np.full(len(count), np.nan), where=count > 0)
    return variation * freedom / (freedom - (R - 1))


def count_coincident(replicates: Sequence[Replicate], lists: IntArray, n: int) -> int:
    """Return the number of pairs of a point and a member of its list that coincide in some replicate."""
    floors = _floors(replicates)
    return sum(int((gaps <= floors).any(axis=2).sum()) for _, gaps in _distances(replicates, lists, n))


def variance_score(replicates: Sequence[Replicate], lists: IntArray, n: int) -> FloatArray:
    """Return the variance score of Sun et al. (2023), (n,): variance of distances over their mean squared.

    The variance is over replicates, of the distances from a point to the points of its list. The mean is over all pairs
    of their mean distances; variances divide by the number of replicates. It depends on the scale of each replicate.
    NaN for a point that no replicate has with another point of its list.
    """
    total, pairs = 0.0, 0
    scores = np.full(n, np.nan)
    for part, gaps in _distances(replicates, lists, n):
        present = np.isfinite(gaps)
        n_present = present.sum(axis=2)
        values = np.where(present, gaps, 0.0)
        mean = values.sum(axis=2) / np.maximum(n_present, 1)
        square = np.where(present, np.square(values - mean[:, :, None]), 0.0).sum(axis=2) / np.maximum(n_present, 1)
        count = (n_present > 0).sum(axis=1)
        scores[part] = np.divide(square.sum(axis=1), count, out=np.full(len(count), np.nan), where=count > 0)
        total, pairs = total + float(mean[n_present > 0].sum()), pairs + int((n_present > 0).sum())
    mean_distance = total / max(pairs, 1)
    return scores / mean_distance**2 if mean_distance > 0 else scores


class Aligned(NamedTuple):
    """Replicates in one pose, (R, n, d) with NaN for points that a replicate lacks, and their mean (n, d)."""

    maps: FloatArray
    mean: FloatArray

    def radius(self) -> FloatArray:
        """Return each point's root mean squared distance of its images from their mean, over the map's radius, (n,)."""
        gaps = np.square(self.maps - self.mean).sum(axis=2)
        present = np.isfinite(gaps)
        count = present.sum(axis=0)
        spread = np.where(present, gaps, 0.0).sum(axis=0)
        size = np.square(self.mean[count > 0]).sum(axis=1).mean()
        return np.sqrt(np.divide(spread, count * size, out=np.full(len(count), np.nan), where=(count > 0) & (size > 0)))


def align(replicates: Sequence[Replicate], n: int) -> Aligned:
    """Align replicates by generalized Procrustes: centered, scaled to radius 1, and rotated onto their common mean.

    Each is aligned on its points. O(R n d^2) time a step.
    """
    from scipy.linalg import orthogonal_procrustes

    d = max(replicate.Y.shape[1] for replicate in replicates)
    maps = np.full((len(replicates), n, d), np.nan)
    for r, replicate in enumerate(replicates):
        Y = replicate.Y - replicate.Y.mean(axis=0)
        size = np.sqrt(np.square(Y).sum(axis=1).mean())
        maps[r, replicate.rows] = 0.0
        maps[r, replicate.rows, : Y.shape[1]] = Y / size if size > 0 else Y
    mean = maps[0].copy()  # of the replicates aligned so far
    count = np.isfinite(mean[:, 0]).astype(np.float64)
    for step in range(MAX_ALIGNMENT_STEPS):
        previous = mean.copy()
        for r, replicate in enumerate(replicates):
            rows = replicate.rows[count[replicate.rows] > 0]
            source, target = maps[r, rows], mean[rows]
            if len(rows) > 1:
                center, target_center = source.mean(axis=0), target.mean(axis=0)
                rotation, _ = orthogonal_procrustes(source - center, target - target_center)
                size = np.square(source - center).sum()
                across = np.vdot((source - center) @ rotation, target - target_center)
                factor = across / size if size > 0 and step else 1.0
                maps[r, replicate.rows] = factor * (maps[r, replicate.rows] - center) @ rotation + target_center
            if not step and r:  # points that only later replicates have join the mean in turn
                has_mean = count[replicate.rows, None] > 0
                mean[replicate.rows] = np.where(has_mean, mean[replicate.rows], maps[r, replicate.rows])
                count[replicate.rows] += 1
        present = np.isfinite(maps[:, :, 0])
        count = present.sum(axis=0).astype(np.float64)
        sums = np.where(present[:, :, None], maps, 0.0).sum(axis=0)
        mean = np.divide(sums, count[:, None], out=np.full((n, d), np.nan), where=count[:, None] > 0)
        defined = count > 0
        mean -= mean[defined].mean(axis=0)
        size = np.sqrt(np.square(mean[defined]).sum(axis=1).mean())
        mean = mean / size if size > 0 else mean
        moved = np.abs(mean - previous)[defined & np.isfinite(previous[:, 0])]
        if step and moved.max(initial=0.0) < ALIGNMENT_TOLERANCE:
            break
    return Aligned(maps, mean)


# Transformations of the data for tractable consistency (Roy 2021, Definitions 4 and 5).

TRANSFORMATIONS = ("perturbation", "definition")
# Steepest slope of each kernel against the distance, for a bandwidth of 1.
_SLOPES = {"gaussian": np.exp(-0.5), "laplace": 1.0, "rational_quadratic": 3 * np.sqrt(6) / 16}
_REDUCED_SLOPE = 0.9  # replaces a slope of 1 or more, which would fold the data


@dataclass(frozen=True, eq=False)
class Transformations:
    """The n p transformed data sets X~ = base + size k(X_A, x_i) e_j, computed one at a time.

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
        The factor a that is used: smaller than the argument if the argument gives a transformation without inverse.
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
    centers: KernelPoints = field(repr=False)

    @property
    def base(self) -> FloatArray:
        """The data before the bump is added: X, or by the printed definition X - X_A."""
        return self.X if self.kind == "perturbation" else self.X - self.reconstruction

    def bump(self, i: int) -> FloatArray:
        """Return size k(X_A, x_i), (n,)."""
        squared = pairwise_squared(self.reconstruction - self.X[0], self.centers.points[[i]])[:, 0]
        return self.size * radial_values(squared, self.kernel, self.bandwidth)

    def data(self, i: int, j: int) -> FloatArray:
        """Return the transformed data (n, p) of center i and column j as a new array."""
        transformed = np.array(self.base)
        transformed[:, j] += self.bump(i)
        return transformed

    def choose(self, count: int | str, root: int) -> IntArray:
        """Return centers and columns (m, 2), spread evenly over columns; a longer choice begins with a shorter one."""
        n, p = self.X.shape
        count = transform_count(count, n, p)
        columns = stream(root, "columns").permutation(p)[:count]
        rounds = -(-count // p)
        orders = {j: stream(root, "centres", int(j)).permutation(n)[:rounds] for j in columns}
        pairs = [(orders[j][r], j) for r in range(rounds) for j in columns]
        return np.array(pairs[:count], dtype=np.int64)


def transform_count(count: int | str, n: int, p: int) -> int:
    """Return the number of transformations: at most n p, which is also "all"."""
    if isinstance(count, str):
        if count != "all":
            hint = f'Pass their number, or "all" for {n * p:,}.'
            raise InputError("n_transformations", 'must be an integer or "all"', repr(count), hint)
        return n * p
    return min(check_int(count, "n_transformations", low=1), n * p)


def check_amplitude(value: Any) -> float:
    """Return the factor a of the transformations after checking that it is positive."""
    amplitude = check_float(value, "amplitude")
    if amplitude <= 0:
        raise InputError("amplitude", "must be positive", repr(amplitude), "Leave it out for 0.5.")
    return amplitude


def make_transformations(
    X: FloatArray, Y: FloatArray, kind: str = "perturbation", amplitude: float = 0.5, kernel: str = "gaussian"
) -> Transformations:
    """Return the n p transformations of the data for tractable consistency.

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
    fit, centers = reconstruction_map(Y, X, rule="theorem3"), kernel_points(X, "X")
    reconstruction, notes = fit(Y), (*fit.notes, *centers.notes)
    bandwidth = centers.bandwidth
    steepest = float(_SLOPES[kernel]) / bandwidth
    if kind == "definition":
        return Transformations(X, reconstruction, kind, kernel, bandwidth, amplitude, 1.0, steepest, notes, centers)
    spread = float(np.sqrt(np.mean((centers.points - centers.points.mean(axis=0)) ** 2)))
    if amplitude * spread * steepest >= 1.0:
        requested, amplitude = amplitude, _REDUCED_SLOPE / (spread * steepest)
        outliers = spread * steepest >= 1.0  # without them the bandwidth is above the spread
        notes += (note("amplitude.smaller", asked=requested, used=amplitude, outliers=outliers),)
    size = amplitude * spread
    return Transformations(X, reconstruction, kind, kernel, bandwidth, amplitude, size, size * steepest, notes, centers)
