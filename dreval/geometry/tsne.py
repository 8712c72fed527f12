"""Compute the affinities of t-SNE, its loss, and the derivatives of the loss at a map."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, csr_matrix, triu

from dreval._check import FloatArray, IntArray, check_float, check_int
from dreval._parallel import open_progress, run_blocks
from dreval.errors import ApproximationWarning, InputError, warn
from dreval.geometry.distances import Space, block_rows, nearest
from dreval.records.notes import note

# Affinities of neighbors with a specified perplexity, and sums of Student weights over all pairs.

MIN_PERPLEXITY = 1.5  # below it one neighbor would have nearly all of the affinity


class PairList(NamedTuple):
    """Pairs i < j by row, with their affinities."""

    indptr: Any
    indices: Any
    values: FloatArray

    @classmethod
    def of(cls, affinities: csr_matrix) -> PairList:
        """Return the sum of both directions of each pair."""
        upper = triu(affinities + affinities.T, k=1, format="csr")
        return cls(upper.indptr.astype(np.int64), upper.indices.astype(np.int64), upper.data)

    def attract(self, Y: FloatArray, dof: float, gradient: FloatArray) -> float:
        """Return the sum of p s (``dof`` 0), or of p (dof + 1) / 2 log(1 + s / dof).

        Its gradient is added to ``gradient``.
        """
        from dreval.geometry._loops import layouts as loops

        return float(loops.attraction(*self, np.ascontiguousarray(Y), dof, gradient))


def allowed_perplexity(perplexity: Any, n: int) -> float:
    """Return the perplexity, or, with a warning, a third of the number of other points if that is less."""
    requested = check_float(perplexity, "perplexity", low=1.0)
    largest = max((n - 1) / 3.0, MIN_PERPLEXITY)
    if requested <= largest:
        return requested
    warn(ApproximationWarning(note("perplexity.smaller", wanted=requested, n=n, used=largest)))
    return largest


def conditional_affinities(X: FloatArray, perplexity: float, n_neighbors: int | None = None) -> csr_matrix:
    r"""Return rows :math:`p_{j|i} \propto \exp(-\beta_i |x_i - x_j|^2)` of one perplexity over nearest neighbors.

    The perplexity is the exponential of the entropy; :math:`\beta_i` comes from bisection. Only the ``n_neighbors``
    nearest neighbors have affinities, by default three times the perplexity.
    """
    from dreval.geometry._loops import layouts as loops

    n = len(X)
    k = math.ceil(3 * perplexity) if n_neighbors is None else check_int(n_neighbors, "n_affinities", low=1)
    if k < perplexity:
        received, hint = f"{k} with a perplexity of {perplexity:g}", "Three times the perplexity is usual."
        raise InputError("n_affinities", "must be at least the perplexity", received, hint)
    if k >= n and n_neighbors is not None:
        warn(ApproximationWarning(note("affinities.fewer", wanted=k, n=n, used=n - 1)))
    k = min(k, n - 1)
    members, squared = nearest(X, k)
    rows = np.empty_like(squared)
    loops.conditional(squared, math.log(min(perplexity, k)), rows)
    places = np.arange(n + 1, dtype=np.int64) * k
    return csr_matrix((rows.ravel(), members.ravel(), places), shape=(n, n))


MOST_COLUMNS = 2
STEP = 0.35  # between nodes of the coarsest lattice; the kernel falls to half at 1
MIN_NODES = 48  # across an embedding; with fewer the lattice is finer
MARGIN = 16  # nodes between the kernel and its periodic copy
MAX_NODES = 4096  # along an axis of the padded lattice
SPLINE_AT_NODES = (66 / 120, 26 / 120, 1 / 120)  # the quintic spline at 0, 1, 2
SIZE_STEP = 32  # sizes of lattices are multiples of it, so that the kernel's transform can be cached


def lattice_sum(Y: FloatArray, dof: float, max_nodes: float = math.inf) -> tuple[float, FloatArray] | None:
    """Return the sum over pairs i < j of (1 + s / dof)^(-(dof + 1) / 2), and its gradient (n, d).

    None if Y is too wide, or the lattice would have more than ``max_nodes`` nodes. The relative error is about 1e-4 in
    the sum and 4e-3 in the norm of the gradient, compared with all pairs of 2000 points.
    """
    from scipy.fft import irfft2, rfft2

    from dreval.geometry._loops import layouts as loops

    width, step = float(np.ptp(Y, axis=0).max()), STEP
    if 0.0 < width < MIN_NODES * STEP:
        step = float(STEP * 2.0 ** np.floor(np.log2(max(width, 1e-12) / (MIN_NODES * STEP))))
    nodes = np.zeros((len(Y), 2))
    nodes[:, : Y.shape[1]] = Y / step - np.floor(Y.min(axis=0) / step)
    counts = [int(-(-(2 * (np.floor(largest) + 6) + MARGIN) // SIZE_STEP) * SIZE_STEP) for largest in nodes.max(axis=0)]
    if max(counts) > MAX_NODES or counts[0] * counts[1] > max_nodes:
        return None
    transform = _kernel(*counts, step, dof)
    charges = np.zeros(counts)
    loops.spread(nodes, charges)
    potential = irfft2(rfft2(charges) * transform, s=counts)
    gradient = np.empty_like(nodes)
    total = loops.read(nodes, potential, gradient)
    return 0.5 * (total - len(Y)), gradient[:, : Y.shape[1]] / step


@lru_cache(maxsize=4)
def _kernel(rows: int, columns: int, step: float, dof: float) -> Any:
    """Return the transform of the kernel at the nodes, divided twice by that of the spline along each axis."""
    from scipy.fft import rfft2

    steps = [np.minimum(np.arange(m), m - np.arange(m)) * step for m in (rows, columns)]
    squared = steps[0][:, None] ** 2 + steps[1] ** 2
    waves = [2.0 * np.pi * np.arange(m) / m for m in (rows, columns)]
    spectra = [
        SPLINE_AT_NODES[0] + 2 * SPLINE_AT_NODES[1] * np.cos(w) + 2 * SPLINE_AT_NODES[2] * np.cos(2 * w) for w in waves
    ]
    values = rfft2((1.0 + squared / dof) ** (-0.5 * (dof + 1.0)))
    return values / spectra[0][:, None] ** 2 / spectra[1][: columns // 2 + 1] ** 2


# The loss of t-SNE at a map: affinities, gradient, second derivatives of each point, and Newton steps.
#
# With affinities P of sum 1, d_ij = y_i - y_j, w_ij = 1 / (1 + |d_ij|^2) and Z the sum of w over all ordered pairs, the
# loss is L = - sum P log w + log Z, the divergence up to a constant. No (n, n) array of many points is stored:
# affinities of all pairs are computed by row blocks from the bandwidths, whenever they are needed.

BoolArray = npt.NDArray[np.bool_]

MAX_STORED_POINTS = 1500  # up to which the affinities of all pairs are stored, since Newton steps read them often
INITIAL_NEIGHBORS = 3  # times the perplexity, for the start of the search of a bandwidth
MIN_PRODUCT_DISTANCE = 1e-6  # smaller squared distances, relative to the points, are computed by differences
PERTURBED_PER_BLOCK = 8  # points
MIN_BLOCK_ROWS = 64  # where no affinities are computed
MAX_RELATIVE_STEP = 1e-3  # Newton step of a point at a local minimum, over the nearest-neighbor distance
STEPS = 100  # of Newton's method
MAX_PRODUCTS = 300  # with the Hessian in a step
HALVINGS = 30  # of the length of a step
MAX_STEP = 10.0  # of a point, in units of the nearest-neighbor distance
MAX_RELATIVE_WIDTH = 2.0  # largest width of the map, relative to its width at the start
SETTLED_SHARE = 0.5  # of the allowed step, where Newton's method ends


class Bandwidths(NamedTuple):
    """Conditional affinities p_{j|i} = exp(-beta_i (s_ij - least_i)) / total_i of squared distances s."""

    beta: FloatArray
    least: FloatArray
    total: FloatArray


def _squared(space: Space, metric: str, rows: IntArray) -> FloatArray:
    """Return squared distances (b, n) of some rows to all points."""
    from dreval.geometry._loops import rows as loops

    centered, _ = space.doubled if space.plain else (np.empty((0, 0)), 0.0)
    if len(centered):
        block = np.matmul(centered[rows], centered.T)
        loops.finish_products(block, rows, space.norms, space.norms, block)
        row_index, point = np.nonzero(block < MIN_PRODUCT_DISTANCE * (space.norms[rows, None] + space.norms))
        block[row_index, point] = (
            space.listed(rows[row_index], point, 1) ** 2
        )  # of these pairs products have few digits
        return block
    block = space.direct_block(rows)
    if metric != "euclidean":
        space.to_distances(block)
        block **= 2
    return block


class PairAffinities:
    """Affinities of all pairs of points, with a specified perplexity; O(n) memory."""

    def __init__(self, X: Any, perplexity: float, metric: str = "euclidean", n_jobs: int | None = None) -> None:
        """Compute the bandwidths."""
        from dreval.geometry._loops import tsne_loss as loops

        self.space, self.metric, self.perplexity, self.n_jobs = Space.of(X, metric), metric, perplexity, n_jobs
        self.n = n = self.space.n
        self.n_neighbors, self.limits = n - 1, np.full((2, n), np.inf)
        self.bandwidths = Bandwidths(*np.empty((3, n)))
        n_initial = math.ceil(INITIAL_NEIGHBORS * perplexity)

        def run_block(rows: IntArray) -> None:
            loops.bandwidths(self.squared(rows), rows, math.log(perplexity), n_initial, *self.bandwidths)

        run_blocks(run_block, self.parts(), n_jobs)

    def parts(self) -> list[IntArray]:
        """Return the rows of each block."""
        size = block_rows(self.n)
        return [np.arange(start, min(start + size, self.n)) for start in range(0, self.n, size)]

    def squared(self, rows: IntArray) -> FloatArray:
        """Return squared distances (b, n) of some rows to all points."""
        return _squared(self.space, self.metric, rows)

    def inside(self, rows: IntArray) -> BoolArray:
        """Return whether each of some points (b,) is a neighbor of each point (n,): all are."""
        return np.ones((len(rows), self.n), dtype=bool)

    def rows(self, rows: IntArray) -> FloatArray:
        """Return affinities (b, n) of some rows."""
        from dreval.geometry._loops import tsne_loss as loops

        block = self.squared(rows)
        loops.joint_rows(block, rows, *self.bandwidths)
        return block

    @cached_property
    def _all_rows(self) -> FloatArray:
        """The affinities of all pairs, stored."""
        return np.concatenate([self.rows(rows) for rows in self.parts()])

    @cached_property
    def _block_indices(self) -> IntArray:
        """The column indices of a block with all points."""
        return np.tile(np.arange(self.n), len(self.parts()[0]))

    def listed(self, rows: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Return affinities of some rows as the parts of a sparse matrix: row starts, points, values."""
        block = self._all_rows[rows[0] : rows[-1] + 1] if self.n <= MAX_STORED_POINTS else self.rows(rows)
        return np.arange(len(rows) + 1) * self.n, self._block_indices[: block.size], block.reshape(-1)


class ListedAffinities:
    """Affinities of listed pairs, 0 for all other pairs: a symmetric sparse matrix of sum 1."""

    def __init__(self, matrix: csr_array, n_jobs: int | None = None) -> None:
        self.matrix, self.n, self.n_jobs = matrix, matrix.shape[0], n_jobs
        self._indptr, self._indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)

    def parts(self) -> list[IntArray]:
        """Return the rows of each block."""
        size = max(MIN_BLOCK_ROWS, block_rows(self.n))
        return [np.arange(start, min(start + size, self.n)) for start in range(0, self.n, size)]

    def listed(self, rows: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Return affinities of some rows as the parts of a sparse matrix: row starts, points, values."""
        starts = self._indptr[rows[0] : rows[-1] + 2]
        entries = slice(starts[0], starts[-1])
        return starts - starts[0], self._indices[entries], self.matrix.data[entries]


class NeighborAffinities(ListedAffinities):
    """Affinities of the nearest neighbors, three times the perplexity, as in the bundled t-SNE; O(n k) memory."""

    def __init__(self, X: FloatArray, perplexity: float, n_jobs: int | None = None) -> None:
        """Compute the bandwidths and the joint affinities."""
        from dreval.geometry._loops import tsne_loss as loops

        n = len(X)
        self.space, self.perplexity = Space.of(X, "euclidean"), perplexity
        self.n_neighbors = k = min(n - 1, math.ceil(INITIAL_NEIGHBORS * perplexity))
        members, squared = nearest(X, min(n - 1, k + 1), n_jobs=n_jobs)
        self.limits = np.stack([squared[:, k - 1], squared[:, k] if k < n - 1 else np.full(n, np.inf)])
        self.bandwidths = Bandwidths(*np.empty((3, n)))
        listed = np.ascontiguousarray(squared[:, :k])
        loops.neighbor_bandwidths(listed, math.log(min(perplexity, k)), *self.bandwidths)
        beta, least, total = (values[:, None] for values in self.bandwidths)
        values = np.exp(-beta * (listed - least)) / total
        starts = np.arange(n + 1) * k
        P = csr_array((values.ravel(), members[:, :k].ravel(), starts), shape=(n, n))
        self._is_neighbor = csr_array(
            (np.ones(n * k, dtype=bool), members[:, :k].ravel(), starts), shape=(n, n)
        ).tocsc()
        super().__init__(csr_array((P + P.T) / (2.0 * n)), n_jobs)

    def squared(self, rows: IntArray) -> FloatArray:
        """Return squared distances (b, n) of some rows to all points."""
        return _squared(self.space, "euclidean", rows)

    def inside(self, rows: IntArray) -> BoolArray:
        """Return whether each of some points (b,) is a neighbor of each point (n,)."""
        return np.ascontiguousarray(self._is_neighbor[:, rows].toarray().T)


Affinities = PairAffinities | ListedAffinities


@dataclass(frozen=True)
class LossParts:
    """The loss of a map, and for each point its gradient (n, d) and its block of the Hessian (n, d, d).

    ``total`` is the sum of w over all ordered pairs, ``pull`` (n, d) the sum of w^2 d over the other points.
    """

    value: float
    gradient: FloatArray
    blocks: FloatArray
    total: float
    pull: FloatArray

    @cached_property
    def spectra(self) -> tuple[FloatArray, FloatArray]:
        """Eigenvalues (n, d), ascending, and eigenvectors (n, d, d) of the blocks."""
        values, vectors = np.linalg.eigh(self.blocks)
        return values, vectors

    @cached_property
    def own_steps(self) -> FloatArray:
        """Length |H_ii^-1 G_i| of each point's own Newton step; infinite where H_ii is not positive definite."""
        values, vectors = self.spectra
        steps, definite = np.full(len(values), np.inf), values[:, 0] > 0
        along = np.einsum("nij,ni->nj", vectors[definite], self.gradient[definite])
        steps[definite] = np.linalg.norm(along / values[definite], axis=1)
        return steps


def loss_parts(affinities: Affinities, Y: FloatArray) -> LossParts:
    """Return the loss with its derivatives at a map (n, d); O(n^2 d^2) time, O(n d^2) memory."""
    from dreval.geometry._loops import tsne_loss as loops

    (n, d), columns = Y.shape, np.ascontiguousarray(Y.T)
    weight, square, loss, near = np.empty((4, n))
    (pull, attraction), (tensor, stretch) = np.empty((2, n, d)), np.empty((2, n, d, d))

    def run_block(rows: IntArray) -> None:
        start, stop = rows[0], rows[-1] + 1
        loops.repulsion(columns, start, stop, weight, square, pull, tensor)
        loops.attraction(columns, start, *affinities.listed(rows), loss, near, attraction, stretch)

    run_blocks(run_block, affinities.parts(), affinities.n_jobs)
    Z = float(weight.sum())
    gradient = 4.0 * attraction - (4.0 / Z) * pull
    blocks = (4.0 * near - (4.0 / Z) * square)[:, None, None] * np.eye(d)
    blocks -= 8.0 * stretch - (16.0 / Z) * tensor + (16.0 / Z / Z) * pull[:, :, None] * pull[:, None, :]
    return LossParts(float(loss.sum()) + math.log(Z), gradient, blocks, Z, pull)


def hessian_times(affinities: Affinities, Y: FloatArray, parts: LossParts, V: FloatArray) -> FloatArray:
    """Return the product of the whole Hessian at a map with a direction (n, d)."""
    from dreval.geometry._loops import tsne_loss as loops

    attraction, repulsion = np.empty((2, *Y.shape))
    columns, direction = np.ascontiguousarray(Y.T), np.ascontiguousarray(V.T)

    def run_block(rows: IntArray) -> None:
        loops.repulsion_times(columns, direction, rows[0], rows[-1] + 1, repulsion)
        loops.attraction_times(columns, direction, rows[0], *affinities.listed(rows), attraction)

    run_blocks(run_block, affinities.parts(), affinities.n_jobs)
    common = 16.0 / parts.total**2 * float(np.vdot(parts.pull, V))
    return 4.0 * attraction - (4.0 / parts.total) * repulsion - common * parts.pull


def nearest_image(Y: FloatArray) -> float:
    """Return the median distance of a point of a map to its nearest other point.

    Coincident points are left out if the median is 0.
    """
    distances = np.sqrt(nearest(Y, 1)[1][:, 0])
    median = float(np.median(distances))
    return median if median > 0 or not distances.any() else float(np.median(distances[distances > 0]))


EndReason = Literal["minimum", "wide", "flat", "steps"]


def move_to_minimum(
    affinities: Affinities, Y: FloatArray, advance: Callable[[int], Any] | None = None
) -> tuple[FloatArray, LossParts, int, EndReason]:
    """Improve a map by Newton steps of all points together.

    Returns the map, its loss, the number of steps, and the reason for the end. No point moves farther in a step than
    ``MAX_STEP`` times the distance to the nearest point, and every step decreases the loss. The reason is "minimum"
    where the own step of each point is below ``MAX_RELATIVE_STEP`` times that distance; "wide" where the map is
    ``MAX_RELATIVE_WIDTH`` times as wide as at the start, since the loss falls for as long as the map expands where no
    affinity joins parts of the data; "flat" where no length of the step decreases the loss; "steps" after ``STEPS``
    steps. ``advance`` is called with the number of steps since its last call.
    """
    parts, width, near = loss_parts(affinities, Y), float(Y.std(axis=0).max()), nearest_image(Y)
    for count in range(STEPS):
        if parts.own_steps.max() <= SETTLED_SHARE * MAX_RELATIVE_STEP * nearest_image(Y):
            return Y, parts, count, "minimum"
        if Y.std(axis=0).max() > MAX_RELATIVE_WIDTH * width:
            return Y, parts, count, "wide"
        direction = _newton_direction(affinities, Y, parts)
        size = min(1.0, MAX_STEP * near / float(np.linalg.norm(direction, axis=1).max()))
        slope = float(np.vdot(parts.gradient, direction))
        for _ in range(HALVINGS):
            trial = loss_parts(affinities, Y + size * direction)
            if trial.value < parts.value + 1e-4 * size * slope:
                break
            size *= 0.5
        else:
            return Y, parts, count, "flat"
        Y, parts = Y + size * direction, trial
        if advance:
            advance(1)
    return Y, parts, STEPS, "steps"


def _newton_direction(affinities: Affinities, Y: FloatArray, parts: LossParts) -> FloatArray:
    """Return a direction of descent: an approximate solution of H v = -G by conjugate gradients.

    They are preconditioned by the blocks, with absolute eigenvalues, and end at the first direction of negative
    curvature.
    """
    values, vectors = parts.spectra
    sizes = np.maximum(np.abs(values), 1e-3 * np.median(np.abs(values)))
    v, remaining = np.zeros_like(Y), -parts.gradient

    def precondition(R: FloatArray) -> FloatArray:
        return np.asarray(np.einsum("nij,nj->ni", vectors, np.einsum("nij,ni->nj", vectors, R) / sizes))

    preconditioned = precondition(remaining)
    search, product = preconditioned, float(np.vdot(remaining, preconditioned))
    goal = product * min(0.25, math.sqrt(product)) ** 2
    for step in range(MAX_PRODUCTS):
        image = hessian_times(affinities, Y, parts, search)
        curvature = float(np.vdot(search, image))
        if curvature <= 0.0:
            return search if step == 0 else v
        v = v + product / curvature * search
        remaining = remaining - product / curvature * image
        preconditioned = precondition(remaining)
        last, product = product, float(np.vdot(remaining, preconditioned))
        if product <= goal:
            break
        search = preconditioned + product / last * search
    return v


def perturbed_distances(
    affinities: PairAffinities | NeighborAffinities,
    Y: FloatArray,
    parts: LossParts,
    scores: FloatArray,
    length: float,
    points: IntArray,
    progress: bool | None = None,
) -> FloatArray:
    """Return how far points of a map move, (m, 2q), when each is moved alone in the data.

    ``scores`` (n, q) are the scores of the data along orthonormal directions (see ``_loops.tsne_loss.perturbed``).
    O(m n q) time with a large factor.
    """
    from dreval.geometry._loops import tsne_loss as loops

    distances, columns = np.empty((len(points), 2 * scores.shape[1])), np.ascontiguousarray(Y.T)
    size, scores = float(np.ptp(Y, axis=0).max()), np.ascontiguousarray(scores)
    k, perplexity = affinities.n_neighbors, min(affinities.perplexity, affinities.n_neighbors)
    n_initial = math.ceil(INITIAL_NEIGHBORS * perplexity)
    calibration = k, math.log(perplexity), n_initial, *affinities.bandwidths, affinities.limits
    blocks = [slice(start, start + PERTURBED_PER_BLOCK) for start in range(0, len(points), PERTURBED_PER_BLOCK)]

    def run_block(block: slice) -> None:
        rows = points[block]
        moved = affinities.squared(rows), affinities.inside(rows), rows, scores, length, calibration
        loops.perturbed(*moved, columns, parts.total, size, distances[block])

    with open_progress(progress, counts=False) as bar:
        bar.set_description("Perturbed points")
        bar.reset(total=len(blocks))
        run_blocks(run_block, blocks, affinities.n_jobs, bar.update)
    return distances
