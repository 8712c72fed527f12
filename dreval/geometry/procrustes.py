"""Local and global Procrustes: norms, nuclear norms and spectra of neighborhoods (Goldberg & Ritov 2009)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dreval.errors import UndefinedIndex
from dreval.geometry.blocks import View
from dreval.geometry.metrics import compact, gather, group_width, power_of_two, spread
from dreval.geometry.workers import run_blocks
from dreval.inputs.sparse import is_sparse

__all__ = [
    "LocalParts",
    "LocalSpectra",
    "disparity",
    "in_data_units",
    "local_parts",
    "local_spectra",
    "relative",
    "residual",
]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
CHUNK_BYTES = 8_000_000


class LocalParts(NamedTuple):
    """Of each neighborhood: |HX_i|^2, |HY_i|^2 and the nuclear norm s_i of X_i' H Y_i.

    Data and embedding are each scaled by a power of two to size 1, so that no square overflows or vanishes: ``unit``
    brings the embedding to the scaled data's unit (y2 by its square, s by itself), ``scale`` the data to theirs.
    """

    x2: FloatArray
    y2: FloatArray
    nuclear: FloatArray
    unit: float
    scale: float


class LocalSpectra(NamedTuple):
    """Of each neighborhood: squared norm beyond its d leading directions, and s_i after projection on those."""

    beyond: FloatArray
    within: FloatArray
    nuclear: FloatArray


def local_parts(view: View, k: int) -> LocalParts:
    """Parts of the local Procrustes measures on each point and its k neighbors in the data (k + 1 points)."""
    return view.once(("local_parts", k), lambda: _local_parts(view, k))


def _local_parts(view: View, k: int) -> LocalParts:
    from dreval.geometry._loops import local as loops

    m = len(view.rows)
    (X, scale), (Y, other) = _unit_size(view, "X"), _unit_size(view, "Y")
    parts = np.empty(m), np.empty(m), np.empty(m)

    def places(place: slice) -> list[FloatArray]:
        return [part[place] for part in parts]

    def one(place: slice) -> None:
        loops.local_parts(*_neighborhoods(view, X, Y, place, k), k, *places(place))

    size = _chunk_size(view, k) if is_sparse(X) else 2048
    run_blocks(one, [slice(at, at + size) for at in range(0, m, size)], view.n_jobs)
    return LocalParts(*parts, unit=scale / other, scale=scale)


def _neighborhoods(
    view: View, X: Any, Y: FloatArray, place: slice, k: int
) -> tuple[FloatArray, FloatArray, IntArray, IntArray]:
    """Points of both spaces, the rows among them and their neighbors; of sparse data the neighborhoods alone."""
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


def _unit_size(view: View, which: str) -> tuple[Any, float]:
    """Data or embedding at size 1, and the power of two that did it; a copy only where it is far from there."""

    def make() -> tuple[Any, float]:
        points = getattr(view, which)
        scale = power_of_two(points)
        return (points, 1.0) if 1e-30 < scale < 1e30 else (points * scale, scale)

    return view.once(("unit size", which), make)


def residual(parts: LocalParts) -> FloatArray:
    """Procrustes statistic G(X_i, Y_i) = |HX_i|^2 + |HY_i|^2 - 2 s_i at the scaled data's size, clipped at 0."""
    return np.maximum(parts.x2 + parts.unit * (parts.unit * parts.y2 - 2 * parts.nuclear), 0.0)


def in_data_units(squares: FloatArray, parts: LocalParts) -> FloatArray:
    """Squares at the scaled data's size, in squares of the data's own unit; refused where no float holds their sum."""
    with np.errstate(over="ignore"):
        found = squares / parts.scale / parts.scale
        if not np.isfinite(found.sum()):
            cure = "Divide data and embedding by one number, or use a normalized index (procrustes_rn)."
            raise UndefinedIndex("data", "must have squared distances that a float holds", "larger ones", cure)
    return np.asarray(found)


def relative(numerator: FloatArray, x2: FloatArray) -> FloatArray:
    """Numerator over |HX_i|^2; a neighborhood of coinciding points contributes 0."""
    return np.divide(numerator, x2, out=np.zeros_like(numerator), where=x2 > 0)


def local_spectra(view: View, k: int) -> LocalSpectra:
    """Spectra of the data's neighborhoods against the embedding's dimension d, by chunks of small Gram matrices.

    O(n k^2 (k + p)) time; the chunks keep memory at a few megabytes.
    """
    return view.once(("local_spectra", k), lambda: _local_spectra(view, k))


def _local_spectra(view: View, k: int) -> LocalSpectra:
    d = view.Y.shape[1]
    data, embedding = _unit_size(view, "X")[0], _unit_size(view, "Y")[0]
    out = []
    for members in _chunks(view, k):
        X, Y = _centred(gather(data, members)), _centred(embedding[members])
        left, sizes, _ = np.linalg.svd(X, full_matrices=False)
        beyond = (sizes[:, d:] ** 2).sum(axis=1)
        within = (sizes[:, :d] ** 2).sum(axis=1)
        scores = left[:, :, :d] * sizes[:, None, :d]
        nuclear = np.linalg.svd(scores.transpose(0, 2, 1) @ Y, compute_uv=False).sum(axis=1)
        out.append((beyond, within, nuclear))
    return LocalSpectra(*(np.concatenate(part) for part in zip(*out, strict=True)))


def _chunk_size(view: View, k: int) -> int:
    """How many neighborhoods are held at a time."""
    width = group_width(view.X, k + 1) + view.Y.shape[1]
    return max(1, CHUNK_BYTES // (8 * (k + 1) * width))


def _chunks(view: View, k: int) -> Iterator[npt.NDArray[np.int64]]:
    """Members (self first) of some neighborhoods at a time."""
    size = _chunk_size(view, k)
    for at in range(0, len(view.rows), size):
        own = view.rows[at : at + size, None]
        yield np.concatenate([own, view.nearest_data[at : at + size, :k]], axis=1)


def _centred(blocks: FloatArray) -> FloatArray:
    """Blocks minus their means; minus their first rows before, so that points far from the origin keep their digits."""
    moved = blocks - blocks[:, :1]
    return moved - moved.mean(axis=1, keepdims=True)


def disparity(X: Any, Y: FloatArray) -> float:
    """Share of the data's variance left by the best translation, rotation and scaling of Y: 1 - s^2 / (|HX|^2 |HY|^2).

    In [0, 1]; 1 for a constant Y. The narrower of the two counts as padded with zero columns, which changes nothing.
    Sparse data are not centred as a whole: O(entries x d) time, O(entries + columns with an entry x d) memory.
    """
    A, B = (points * power_of_two(points) for points in (X, Y))
    B = B - B[0]
    B = B - B.mean(axis=0)
    size_b = float(np.linalg.norm(B))
    cross, size_a = _sparse_cross(A, B) if is_sparse(A) else _dense_cross(A, B)
    if size_a == 0.0 or size_b == 0.0:
        return 1.0
    share = np.linalg.svd(cross / size_a / size_b, compute_uv=False).sum()
    return float(np.clip(1.0 - share**2, 0.0, 1.0))


def _dense_cross(A: FloatArray, B: FloatArray) -> tuple[FloatArray, float]:
    """A' B of the centred A and its norm."""
    A = A - A[0]  # first, so that coinciding points stay so after centring, to the last bit
    A = A - A.mean(axis=0)
    return A.T @ B, float(np.linalg.norm(A))


def _sparse_cross(A: Any, B: FloatArray) -> tuple[FloatArray, float]:
    """As ``_dense_cross``; in a column, cells that are not stored lie at minus its mean."""
    moved, means, squared = spread(compact(A))
    stored = moved.copy()
    stored.data = np.ones_like(moved.data)
    unstored = B.sum(axis=0) - stored.T @ B
    return moved.T @ B - means[:, None] * unstored, math.sqrt(squared)


def conformal(parts: LocalParts) -> FloatArray:
    """Residual of each neighborhood at its own best scale, relative to its size: 1 - s^2 / (|HX|^2 |HY|^2)."""
    kept = np.divide(parts.nuclear, parts.y2, out=np.zeros_like(parts.y2), where=parts.y2 > 0) * parts.nuclear
    return relative(np.maximum(parts.x2 - kept, 0.0), parts.x2)


def best_scale(parts: LocalParts) -> FloatArray:
    """Residual of each neighborhood, relative to its size, at the one scale that minimises their mean."""
    sizes = relative(parts.y2, parts.x2)
    total = sizes.sum()
    scale = relative(parts.nuclear, parts.x2).sum() / total if total > 0 else 0.0
    left = parts.x2 + scale**2 * parts.y2 - 2 * scale * parts.nuclear
    return relative(np.maximum(left, 0.0), parts.x2)


def coincident(x2: FloatArray) -> str:
    """A note that counts neighborhoods of coinciding points; empty where there are none."""
    count = int((x2 == 0).sum())
    return f"{count} neighborhoods of coinciding points contribute 0" if count else ""
