"""Local and global Procrustes: norms, nuclear norms and spectra of neighborhoods (Goldberg & Ritov 2009)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dreval._check import FloatArray, IntArray
from dreval._parallel import run_blocks
from dreval.geometry.blocks import View, near_rows, per_view
from dreval.geometry.distances import (
    compact,
    gather,
    group_width,
    largest_of,
    power_of_two,
    rescaled,
)
from dreval.geometry.leave_one import with_extra_neighbor
from dreval.inputs.features import is_sparse
from dreval.inputs.stored import blockwise
from dreval.inputs.survey import rows_of
from dreval.records.notes import Notes, note

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


def coincident(x2: FloatArray) -> Notes:
    """A note that counts neighborhoods of coinciding points; empty where there are none."""
    count = int((x2 == 0).sum())
    return (note("procrustes.coincident", count=count),) if count else ()
