"""Procrustes subspaces alignment: the tangent planes of all points are rotated to agree, then joined at once."""

from __future__ import annotations

from dataclasses import KW_ONLY

import numpy as np
from scipy.sparse import bsr_matrix, csgraph, csr_matrix, diags

from dreval._check import check_float, check_int, check_one_of
from dreval._random import root_seed, stream
from dreval.geometry.graphs import IntArray, neighborhoods
from dreval.methods._local import GraphMethod, check_neighbor_count, graph_landmarks
from dreval.methods._method import FloatArray, method
from dreval.methods._procrustes import FarPoints, Patches, greedy_embedding, polar, principal_axes
from dreval.methods._spectral import DENSE_ROWS, start_vector

ALGORITHMS = ("spectral", "annealing")


@method(
    title="Procrustes subspaces alignment",
    family="local Procrustes",
    deterministic=False,
    out_of_sample=False,
    inverse=False,
    supervised=False,
    cost="O(n k (p min(k, p) + d^3)) time and a sparse factorization of n rows with about n k^2 entries",
    scale="follows",
    max_components=lambda n, p, _: min(n - 1, p),
    reference="@goldberg2009, Sections 4.2 to 4.4.",
)
class ProcrustesSubspacesAlignment(GraphMethod):
    r"""Procrustes subspaces alignment: local PCA planes, rotated to agree, determine the place of each neighborhood.

    With :math:`P_i` (p x d) the leading principal axes of the neighborhood of point i, the orthogonal :math:`O_i` make

    .. math:: \sum_i \sum_{j \in N(i)} |P_i O_i - P_j O_j|^2

    small (Eq. 9). With :math:`A_i = P_i O_i` the embedding is the Y that minimizes
    :math:`\sum_i |H (X_i A_i - Y_i)|^2` (Eq. 11). Rounds of refinement, which lower R(X, Y), follow.

    Parameters
    ----------
    n_components : int
        Number d of coordinates, at most min(n - 1, p); with a radius every point needs d neighbors.
    %(rigid_neighborhoods)s
    %(radius)s
    algorithm : {"spectral", "annealing"}
        How the planes are rotated. "spectral": synchronization by the d leading eigenvectors of the blocks
        :math:`\mathrm{polar}(P_i' P_j)`, divided by the number of neighbors, their blocks brought to the nearest
        orthogonal matrices. "annealing": the paper's simulated annealing.
    n_landmarks : int, optional
        Number m of landmarks, at least 1; by default every point is one. Landmarks are far apart along the graph. The
        plane of every other point is rotated like the plane of the point before it on the shortest path from the
        nearest landmark, so that only the landmarks are aligned.
    n_sweeps : int
        Rotations that annealing tries per landmark, at least 1.
    %(disconnected)s
    %(rounds)s
    %(far_points)s
    random_state : int, Generator or None
        Seed of the annealing; not used by the spectral alignment.

    Attributes
    ----------
    %(rigid_embedding)s
    path_ : ndarray (rounds + 1,)
        R(X, Y) before and after each round; with ``far_penalty`` also after the search that follows.
    far_pairs_ : ndarray (q, 2)
        Pairs far along the data that are embedded close, i < j; without a fold none or few.
    penalty_ : float
        P of the embedding, 0 without such pairs.
    disagreement_ : float
        Mean of :math:`|P_i O_i - P_j O_j|^2` over the edges of the graph, in [0, 4 d].
    landmarks_ : ndarray (m,)
        Rows of the landmarks; all rows by default.

    Raises
    ------
    %(graph_raises)s

    Warns
    -----
    %(graph_warns)s

    See Also
    --------
    dreval.methods.GreedyProcrustes : places one neighborhood after the other.
    dreval.methods.ProcrustesRefinement : the refinement from any start.
    dreval.methods.LTSA : aligns tangent spaces up to affine maps.

    Notes
    -----
    %(cost)s

    The spectral alignment replaces hours of annealing by one eigenproblem of n d rows. Annealing starts from the
    rotations that fit the greedy embedding, draws a point and a random rotation (any at first, smaller as the
    temperature falls), and accepts by Metropolis' rule while the temperature falls geometrically from d / 10 to d / 10
    000. The paper's outer search for clusters of aligned planes is omitted, so that a fold of the greedy embedding
    remains; the spectral alignment has no start and cannot inherit a fold.

    Landmarks are the remedy for large samples that the Discussion (Section 6) names without details. Here
    :math:`O_i = T_i O_a` for a point i whose nearest landmark is a, with :math:`T_a = I` and :math:`T_i =
    \mathrm{polar}(P_i' P_h)\, T_h` for the point h before i on the path; the sum of Eq. 9 over all edges is then one of
    the m landmark rotations, with :math:`\sum T_i' P_i' P_j T_j` over the edges between the points of a and b in place
    of :math:`P_a' P_b`. With all points as landmarks it is the method without. The penalty on far points is the other
    proposal of the Discussion: distant geodesic points are "at least s-distant on the neighborhood graph, with s > 1",
    here by the number of edges; its form is left open there, and ``far_penalty`` has the choice.

    References
    ----------
    %(reference)s
    Singer, A., Wu, H.-T. (2012). Vector diffusion maps and the connection Laplacian. *Communications on Pure and
    Applied Mathematics* 65, 1067-1144 (the eigenvectors).

    Examples
    --------
    >>> import dreval
    >>> roll = dreval.simulate("swiss_roll", n=600, random_state=0)
    >>> psa = dreval.methods.ProcrustesSubspacesAlignment(n_components=2, n_neighbors=8)
    >>> bool(dreval.procrustes_rn(roll.data, psa.fit_transform(roll.data), n_neighbors=8) < 0.02)
    True
    """

    n_components: int = 2
    _: KW_ONLY
    n_neighbors: int | None = 7
    radius: float | None = None
    algorithm: str = "spectral"
    n_landmarks: int | None = None
    n_sweeps: int = 100
    disconnected: str = "connect"
    max_iter: int = 100
    tol: float = 1e-5
    far_penalty: float = 0.0
    far_steps: int = 2
    random_state: int | np.random.Generator | None = None

    def _fit_connected(self, X: FloatArray, graph: csr_matrix, links: IntArray) -> None:
        algorithm = check_one_of(self.algorithm, ALGORITHMS, "algorithm", aliases=True)
        check_int(self.n_sweeps, "n_sweeps", low=1)
        check_int(self.max_iter, "max_iter", low=0)
        check_float(self.tol, "tol", low=0.0)
        weight = check_float(self.far_penalty, "far_penalty", low=0.0)
        far_steps = check_int(self.far_steps, "far_steps", low=2)
        d = self.n_components
        groups = neighborhoods(X, self._near, graph, links)
        check_neighbor_count(X, groups, self._near, d, f"a plane of {d} dimensions")
        patches = Patches(X, groups, d)
        frames = patches.tangent_frames(X.shape[1], d)
        overlaps = frames[_edge_rows(graph)].transpose(0, 2, 1) @ frames[graph.indices]  # P_i' P_j of each edge
        count = min(len(X), check_int(len(X) if self.n_landmarks is None else self.n_landmarks, "n_landmarks", low=1))
        self.landmarks_ = np.arange(len(X)) if count == len(X) else graph_landmarks(X, graph, count)[0]
        regions, carried = _transport_rotations(graph, frames, self.landmarks_)
        links, pulls = _region_graph(graph, overlaps, regions, carried, count)
        if algorithm == "spectral":
            turns = _synchronize_rotations(pulls, links, d)
        else:
            start = patches.fitted_turns(greedy_embedding(X, patches, d), d)[self.landmarks_]
            turns = _anneal_rotations(start, pulls, links, self.n_sweeps, root_seed(self.random_state))
        turns = carried @ turns[regions]
        agreement = np.einsum("eab,eac,ebc->e", overlaps, turns[_edge_rows(graph)], turns[graph.indices], optimize=True)
        self.disagreement_ = float(2 * d - 2 * agreement.mean())
        Y, self.path_ = patches.refine(patches.solve(X, frames @ turns), self.max_iter, self.tol)
        far = FarPoints(graph, patches.extents(), far_steps)
        if weight > 0:
            Y = far.lower(patches, Y, weight, self.max_iter, self.tol)
            self.path_ = np.r_[self.path_, patches.slope(Y)[0]]
        i, j, gaps = far.pairs(Y)
        self.far_pairs_, self.penalty_ = np.column_stack([i, j]), float(gaps @ gaps) / len(X)
        self.embedding_ = principal_axes(Y)


def _edge_rows(graph: csr_matrix) -> IntArray:
    """Return the first end of each stored edge; the second ends are ``graph.indices``."""
    return np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))


def _transport_rotations(graph: csr_matrix, frames: FloatArray, landmarks: IntArray) -> tuple[IntArray, FloatArray]:
    """Return the nearest landmark (n,) of each point, by its position, and the rotation T (n, d, d) from there."""
    n, d = len(frames), frames.shape[2]
    carried, place = np.empty((n, d, d)), np.full(n, -1)
    carried[landmarks], place[landmarks] = np.eye(d), np.arange(len(landmarks))
    if len(landmarks) == n:
        return place, carried
    _, before, _ = csgraph.dijkstra(graph, directed=True, indices=landmarks, min_only=True, return_predecessors=True)
    while (place < 0).any():
        next_ = np.flatnonzero((place < 0) & (place[np.maximum(before, 0)] >= 0))
        h = before[next_]
        carried[next_] = polar(frames[next_].transpose(0, 2, 1) @ frames[h]) @ carried[h]
        place[next_] = place[h]
    return place, carried


def _region_graph(
    graph: csr_matrix, overlaps: FloatArray, regions: IntArray, carried: FloatArray, count: int
) -> tuple[csr_matrix, FloatArray]:
    """Return the graph of landmarks with touching regions, and the sums of T_i' P_i' P_j T_j over their edges."""
    i, j = _edge_rows(graph), graph.indices
    keys = regions[i] * count + regions[j]
    outer = regions[i] != regions[j]
    pairs, pair_of_edge = np.unique(keys[outer], return_inverse=True)
    pulls = np.zeros((len(pairs), *overlaps.shape[1:]))
    parts = carried[i[outer]].transpose(0, 2, 1) @ overlaps[outer] @ carried[j[outer]]
    np.add.at(pulls, pair_of_edge.ravel(), parts)
    links = csr_matrix((np.ones(len(pairs)), (pairs // count, pairs % count)), shape=(count, count))
    return links, pulls


def _synchronize_rotations(overlaps: FloatArray, graph: csr_matrix, d: int) -> FloatArray:
    """Return rotations (n, d, d) from the leading eigenvectors of the normalized matrix of blocks."""
    from scipy.linalg import eigh
    from scipy.sparse.linalg import eigsh

    n = graph.shape[0]
    if n == 1:
        return np.eye(d)[None]
    roots = np.repeat(1 / np.sqrt(np.diff(graph.indptr)), d)
    blocks = bsr_matrix((polar(overlaps), graph.indices, graph.indptr), shape=(n * d, n * d)).tocsr()
    matrix = diags(roots) @ blocks @ diags(roots)
    if n * d > DENSE_ROWS and 10 * (2 * d + 2) < n:
        # Leading eigenvalues nearly coincide; with k = d Lanczos can miss one and return a later one.
        values, vectors = eigsh(matrix, k=2 * d + 2, which="LA", v0=start_vector(n * d))
        vectors = vectors[:, np.argsort(-values, kind="stable")[:d]]
    else:
        dense = matrix.toarray()
        vectors = eigh((dense + dense.T) / 2, subset_by_index=(n * d - d, n * d - 1))[1]
    return polar((vectors * roots[:, None]).reshape(n, d, d))


def _anneal_rotations(
    turns: FloatArray, overlaps: FloatArray, graph: csr_matrix, n_sweeps: int, seed: int
) -> FloatArray:
    """Return rotations (n, d, d) by simulated annealing from a start, which is overwritten."""
    n, d = graph.shape[0], overlaps.shape[1]
    rng = stream(seed, "annealing")
    for sweep in range(n_sweeps):
        cooling = sweep / max(n_sweeps - 1, 1)
        temperature = 0.1 * d * 10.0 ** (-3 * cooling)
        points, thresholds = rng.integers(n, size=n), rng.uniform(size=n)
        wide = rng.standard_normal((n, d, d))
        signs = np.where(rng.uniform(size=(n, 1, d)) < 0.25, -1.0, 1.0)  # small rotations, or near a reflection
        small = (np.eye(d) + temperature * rng.standard_normal((n, d, d))) * signs
        proposals = polar((1 - cooling) * wide + cooling * small)
        for i, turn, threshold in zip(points, proposals, thresholds, strict=True):
            edges = slice(graph.indptr[i], graph.indptr[i + 1])
            pull = np.einsum("eab,ebc->ac", overlaps[edges], turns[graph.indices[edges]])
            gain = 4 * float(((turns[i] @ turn - turns[i]) * pull).sum())
            if gain >= 0 or threshold < np.exp(gain / temperature):
                turns[i] = turns[i] @ turn
    return turns
